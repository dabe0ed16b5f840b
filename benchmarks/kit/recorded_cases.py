"""What a recording is made of: a program, a pair, a claim; and what came of it, as a row of a table."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import metadata
from typing import Any, Final, TypeVar

import attrs
import numpy as np

from accountant import Cost
from benchmarks.runner import Cell, Grid, Measured
from proofs_tests.harness import ClaimViolated, Pair, Report, check_recorded

D = TypeVar("D")

HEAD: Final = ("program", "pair", "claim", "verdict", "found", "why")
SECONDS: Final = 8.0
"""To look for a proof, on a pair."""

Records = tuple[np.ndarray, np.ndarray]
"""Columns, shape (n, d), and classes 0 and 1, shape (n,)."""

X: Final = np.random.default_rng(0).uniform(0.0, 1.0, (12, 2))
Y: Final = (X[:, 0] > 0.5).astype(np.int64)


def _records(changed: bool) -> Records:
    features, labels = X.copy(), Y.copy()
    labels[:2] = [0, 1]
    if changed:
        features[3], labels[3] = [1.0, 0.0], 1 - labels[3]
    return features, labels


def _short(records: Records) -> Records:
    return records[0][:-1], records[1][:-1]


WHOLE: Final = _records(False)
TABLES: Final[Mapping[str, Pair[Records]]] = {
    "one replaced": Pair(WHOLE, _records(True)),
    "one removed": Pair(WHOLE, _short(WHOLE)),
}
"""Twelve records with two columns in [0, 1]; neighbours under replace-one, and under add-remove-one."""


@attrs.frozen(eq=False)
class Case:
    """One program on one pair. look: makes the recording."""

    program: str
    pair: str
    look: Callable[[], Report]


def cases(
    program: str,
    function: Callable[[D], object],
    claimed: Cost,
    pairs: Mapping[str, Pair[D]],
    *,
    sensitivities: float | None = None,
    public_draws: bool = False,
    secret_seeds: bool = False,
) -> list[Case]:
    """One for each pair, by its name; the others are as of `check_recorded`."""

    def look(pair: Pair[D]) -> Report:
        try:
            return check_recorded(
                function,
                [pair],
                claimed=claimed,
                sensitivities=sensitivities,
                public_draws=public_draws,
                secret_seeds=secret_seeds,
                seconds=SECONDS,
                subject=program,
            )
        except ClaimViolated as violated:
            return violated.report

    return [Case(program, name, partial(look, pair)) for name, pair in pairs.items()]


@attrs.frozen
class Row:
    """What came of a case: a verdict, the numbers, and why."""

    case: Case
    report: Report

    @property
    def verdict(self) -> str:
        """refuted; understood: all was, and costs no more than is claimed; not understood: nothing is refuted."""
        if self.report.refuted:
            return "refuted"
        return "not understood" if self.report.verdict == "not understood" else "not refuted"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """A row under `HEAD`."""
        _, _, why = self.report.witness.partition("; ")
        found: Cell = Measured(self.report.found, form=".3g")
        if self.verdict == "not understood":
            found = "—"
            why = f"not understood: {self.report.not_understood}"
        claim = f"{self.report.quantity} ≤ {self.report.bound:.3g}"
        return self.case.program, self.case.pair, claim, self.verdict, found, _without_data(why)


def _without_data(why: str) -> str:
    """As much as fits a cell; arrays are told over several lines, and are left out."""
    text = " ".join(why.split())
    return text if len(text) <= 260 else f"{text[:257]}…"


def table(library: str, rows: list[Row]) -> Grid:
    """All rows of a library, with its version."""
    return Grid(f"{library} {version(library)}".strip(), HEAD, tuple(row.cells for row in rows))


def version(library: str) -> str:
    """Of an installed library; "" where it is not, or is ours."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def fitted(model: Any, names: tuple[str, ...] = ()) -> dict[str, object]:
    """What a fitted model shows: all attributes that end in _, or those named."""
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: found[name] for name in names} if names else found
