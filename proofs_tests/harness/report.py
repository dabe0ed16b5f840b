"""What a check found: claimed against found, the verdict in a word or two, and the witness."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import attrs

from accountant.explained import Explained

Verdict = Literal["exact", "refuted", "not refuted", "not understood"]
"""exact: the loss was computed exactly over all the pairs given, and the claim is not below it. refuted: there is a
witness. not refuted: neither; what the check would have found, and with which probability, is said beside it. not
understood: neither, and a part of what is released was not looked at, so that nothing is concluded."""

Method = Literal["exact", "statistical", "search"]
"""exact: nothing that the check is about was left out. statistical: by draws. search: some pairs, or transcripts, of
many were looked at, each exactly."""


def _method(report: "Report", attribute: object, value: str) -> None:
    if value not in get_args(Method):
        raise ValueError(f"method: expected one of {', '.join(get_args(Method))}, got {value!r}")


@attrs.frozen
class Report:
    """The outcome of one check.

    subject: what was checked.  claimed: the declared cost or bound, as text.  quantity: what the numbers are.
    bound: the declared number.  found: the largest seen (exact, search), or proved with `confidence` (statistical).
    witness: the worst pair, printable.  pairs: how many were looked at, a pair along another transcript being another.
    factor, power: had the bound been too small by `factor`, this check would have refuted it with at least the
    probability `power`; both None where no such number can be stated.  alternatives: how what is too small would show.
    not_understood: what of the subject the check could not follow, "" where there is nothing.
    """

    subject: str
    claimed: str
    quantity: str
    bound: float
    found: float
    method: Method = attrs.field(validator=_method)
    witness: str
    pairs: int
    seconds: float
    factor: float | None = None
    power: float | None = None
    confidence: float = 1.0
    alternatives: str = ""
    not_understood: str = ""

    @property
    def ratio(self) -> float:
        """found/bound: 1 is tight, above 1 refutes; 0 where nothing was claimed and nothing found."""
        if self.bound == 0.0:
            return 0.0 if self.found <= _tolerance(0.0) else float("inf")
        return self.found / self.bound

    @property
    def refuted(self) -> bool:
        """Whether more than the bound was found, beyond rounding: 1e-9 of the bound and 1e-13. NaN counts as ∞."""
        return not self.found <= self.bound + _tolerance(self.bound)

    @property
    def verdict(self) -> Verdict:
        """One word for it."""
        if self.refuted:
            return "refuted"
        if self.not_understood:
            return "not understood"
        return "exact" if self.method == "exact" else "not refuted"

    @property
    def statement(self) -> str:
        """The verdict, and where it is "not refuted", what that is worth."""
        if self.verdict == "not understood":
            return "not understood (nothing is concluded)"
        if self.verdict != "not refuted":
            return self.verdict
        if self.factor is None or self.power is None:
            return f"not refuted ({self.pairs} pairs tried; no probability can be stated)"
        return (
            f"not refuted (would have found a factor of {_rounded_up(self.factor):.3g} with probability {self.power:g})"
        )

    def as_dict(self) -> dict[str, str | int | float | None]:
        """The same for programs, all of it JSON: infinite numbers, which JSON lacks, are "inf"."""
        fields = {"verdict": self.verdict, **attrs.asdict(self), "ratio": self.ratio}
        return {name: _json(value) for name, value in fields.items()}

    @staticmethod
    def of(record: Mapping[str, object]) -> "Report":
        """The inverse of `as_dict`."""
        known = {"not_understood": "", **record}  # records of earlier versions lack it
        found: dict[str, Any] = {field.name: known[field.name] for field in attrs.fields(Report)}
        numbers = {name: float(each) for name, each in found.items() if each in ("inf", "-inf", "nan")}
        return Report(**{**found, **numbers})

    def __str__(self) -> str:
        about = [f"confidence {self.confidence:.9g}"] if self.method == "statistical" else []
        about += [f"power where {self.alternatives}"] if self.factor is not None and not self.refuted else []
        power = f" ({'; '.join(about)})" if about else ""
        return (
            f"{self.subject}: {self.claimed}: {self.statement}; {self.quantity} {self.found:.6g} of {self.bound:.6g}, "
            f"ratio {self.ratio:.4f}, {self.method}{power}, {self.pairs} pairs, {self.seconds:.2f} s; "
            f"worst: {self.witness}"
        )


def _rounded_up(number: float) -> float:
    """To three digits: no factor is stated that is smaller than the true one."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return math.ceil(number / step) * step


def _json(value: str | int | float | None) -> str | int | float | None:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _tolerance(bound: float) -> float:
    return 1e-13 + 1e-9 * bound


class ClaimViolated(Explained, AssertionError):
    """A claim is refuted: it is below what was found. `report` has the numbers and the witness."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def judged(report: Report) -> Report:
    """The report, if its claim is not refuted. Raises ClaimViolated otherwise."""
    if report.refuted:
        raise ClaimViolated(report)
    return report


def table(reports: Iterable[Report]) -> str:
    """Reports as a Markdown table, worst ratio first."""
    rows: Sequence[Report] = sorted(reports, key=lambda report: -report.ratio)
    head = [
        "| subject | claimed | verdict | found | ratio | pairs | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join(
        head
        + [
            f"| {_cell(row.subject)} | {_cell(row.claimed)} | {row.statement} | {_found(row)} | {row.pairs} | "
            f"{row.seconds:.2f} |"
            for row in rows
        ]
    )


def _found(row: Report) -> str:
    """Two cells; no number where it is about a part only."""
    if row.verdict == "not understood":
        return "– | –"
    return f"{row.quantity} {row.found:.6g} | {row.ratio:.4f}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
