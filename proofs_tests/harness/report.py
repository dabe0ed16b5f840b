"""What a check found: claimed against found, by which method, and the witness."""

from collections.abc import Iterable, Sequence

import attrs


@attrs.frozen
class Report:
    """The outcome of one check.

    subject: what was checked.  claimed: the declared cost or bound, as text.  quantity: what the numbers are.
    bound: the declared number.  found: the largest seen (exact), or proved with `confidence` (statistical).
    method: "exact" or "statistical".  witness: the worst pair, printable.  pairs: how many were looked at.
    detectable: the smallest factor of miscalibration the method would have found; 1 for exact ones.
    """

    subject: str
    claimed: str
    quantity: str
    bound: float
    found: float
    method: str
    witness: str
    pairs: int
    seconds: float
    detectable: float = 1.0
    confidence: float = 1.0

    @property
    def ratio(self) -> float:
        """found/bound: 1 is tight, above 1 is a violation; 0 where nothing was claimed and nothing found."""
        if self.bound == 0.0:
            return 0.0 if self.found <= _tolerance(0.0) else float("inf")
        return self.found / self.bound

    @property
    def holds(self) -> bool:
        """Whether nothing above the bound was found, up to rounding: 1e-9 of the bound and 1e-13."""
        return self.found <= self.bound + _tolerance(self.bound)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "VIOLATED"
        power = "" if self.method == "exact" else f" (confidence {self.confidence:.9g}, detects x{self.detectable:.3g})"
        return (
            f"{self.subject}: {self.claimed} {verdict}; {self.quantity} {self.found:.6g} of {self.bound:.6g}, "
            f"ratio {self.ratio:.4f}, {self.method}{power}, {self.pairs} pairs, {self.seconds:.2f} s; "
            f"worst: {self.witness}"
        )


def _tolerance(bound: float) -> float:
    return 1e-13 + 1e-9 * bound


class ClaimViolated(AssertionError):
    """A declared cost is below what was found. `report` has the numbers and the witness."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def judged(report: Report) -> Report:
    """The report, if its claim holds. Raises ClaimViolated otherwise."""
    if not report.holds:
        raise ClaimViolated(report)
    return report


def table(reports: Iterable[Report]) -> str:
    """Reports as a Markdown table, worst ratio first."""
    rows: Sequence[Report] = sorted(reports, key=lambda report: -report.ratio)
    head = [
        "| subject | claimed | found | ratio | method | pairs | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join(
        head
        + [
            f"| {row.subject} | {row.claimed} | {row.quantity} {row.found:.6g} | {row.ratio:.4f} | {row.method} | "
            f"{row.pairs} | {row.seconds:.2f} |"
            for row in rows
        ]
    )
