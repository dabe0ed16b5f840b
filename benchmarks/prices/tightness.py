"""Every kind of cost under every rule and theorem that takes it, over an exact value or the best known lower bound.

Everything is computed here, nothing is quoted; ratios above NOTICED and FLAGGED carry their reason.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Composition,
    GDPComposition,
    LaplaceDP,
    Plan,
    PureDP,
    TextbookComposition,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.composition import ROUTES
from accountant.costs import exact, float_down
from benchmarks.prices.exact_prices import DELTA, Cost, Known, known
from benchmarks.runner import Cell, Grid, Line, Measured, Report, Table

Rule: TypeAlias = Callable[[Cost, int], float | None]
"""ε at DELTA of so many rounds; None where there is no theorem for them."""

NOTICED, FLAGGED = 1.02, 1.05
ROUNDING: Final = 1e-8
"""How far a price may be below an exact value that was computed in floating point."""

ROUNDS: Final = (1, 10, 1_000)

SIZES: Final = (0.01, 0.1, 1.0)
"""Of an ε, a width or a μ: what a learner of hundreds of rounds, of some, and of one round spends on each."""

OWN_DELTA: Final = 1e-9
"""Of an (ε, δ) cost: a thousand of them leave most of DELTA."""

KINDS: Final[dict[str, Callable[[float], Cost]]] = {
    "PureDP": PureDP,
    "LaplaceDP": LaplaceDP,
    "BoundedRange": BoundedRange,
    "GDP": GDP,
    "ZCDP": lambda size: ZCDP(0.5 * size * size),
    "ApproxDP": lambda size: ApproxDP(size, OWN_DELTA),
}

PRICE: Final = "Plan.price"

ASKED: Final = ("PureDP", "LaplaceDP", "BoundedRange", "GDP", "ApproxDP")
"""Kinds whose best price is asked to be within NOTICED; of ρ-zCDP only lower bounds are known."""


# --- what is charged --------------------------------------------------------------------------------------------------


def _by_ledger(rule: Composition, cost: Cost, rounds: int) -> float | None:
    """What a ledger with that rule says was spent."""
    try:
        spent = rule.guarantee(Plan.of(cost, rounds).amount(rule), ApproxDP(1e9, DELTA))
    except UnsupportedCost:
        return None
    assert isinstance(spent, ApproxDP)
    return spent.epsilon if spent.delta <= DELTA else None


def _advanced(kind: type[AdvancedComposition], cost: Cost, rounds: int) -> float | None:
    own = exact(cost.delta) * rounds if isinstance(cost, ApproxDP) else exact(0.0)
    return _by_ledger(kind(float_down(exact(DELTA) - own)), cost, rounds)


def _by_route(name: str, cost: Cost, rounds: int) -> float | None:
    return Plan.of(cost, rounds).route(name, DELTA)


def _price(cost: Cost, rounds: int) -> float | None:
    return Plan.of(cost, rounds).price(DELTA).best.epsilon


CHARGED: Final[dict[str, Rule]] = {
    "ledger, basic": partial(_by_ledger, BasicComposition()),
    "ledger, advanced": partial(_advanced, AdvancedComposition),
    "ledger, advanced by the textbook": partial(_advanced, TextbookComposition),
    "ledger, zcdp": partial(_by_ledger, ZCDPComposition()),
    "ledger, gdp": partial(_by_ledger, GDPComposition()),
    **{f"plan, {name}": partial(_by_route, name) for name in ROUTES},
    PRICE: _price,
}

_FILTER: Final = (
    "filter: costs may be chosen on the way, of all kinds; ρ is all it keeps of a curve. No smaller is known"
)

WHY: Final[dict[str, str]] = {
    "ledger, basic": "filter at δ = 0, where the sum is reached; it makes no use of δ",
    "ledger, advanced": _FILTER,
    "ledger, advanced by the textbook": "kept for ledgers that were opened with it",
    "ledger, zcdp": _FILTER,
    "plan, basic": "for δ = 0, where the sum is reached",
    "plan, kov": "optimal for equal ε-DP; it takes other kinds for that",
    "plan, zcdp": "ρ is all it keeps of a curve; Plan.price takes a better one where there is",
    "plan, renyi": "no conversion of a Rényi curve keeps all it says; Plan.price takes a better one where there is",
    "plan, laplace": "one release of the summed ε, which is exact for one; Plan.price takes a better one",
    "plan, pld": "one pair for a whole kind loses more than each mechanism of it; Plan.price takes a better one",
}
"""Of a ratio above NOTICED."""

WHY_PRICE: Final[dict[str, str]] = {
    "ZCDP": "beside it stands what was found: one round of the whole ρ reaches the price within 2 %, for many small "
    "ones nothing better than their sum is proved",
    "BoundedRange": "rounds may be chosen adaptively; the adversary beside it is not",
}


def flag(ratio: float) -> str:
    """Which limit a ratio is above, in words."""
    return next((f"> {limit:g}" for limit in (FLAGGED, NOTICED) if ratio > limit), "")


@attrs.frozen
class Row:
    """One cost, under one rule."""

    cost: Cost
    rounds: int
    rule: str
    charged: float
    beside: Known

    @property
    def ratio(self) -> float:
        """Charged over reached; both are 0 for costs within δ."""
        return self.charged / self.beside.epsilon if self.beside.epsilon else (1.0 if self.charged < 1e-9 else np.inf)

    @property
    def flag(self) -> str:
        """Which limit the ratio is above."""
        return flag(self.ratio)

    @property
    def why(self) -> str:
        """The reason of a flag."""
        if not self.flag:
            return ""
        return WHY.get(self.rule) or WHY_PRICE.get(type(self.cost).__name__, "")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """For a table."""
        bound = "exact" if self.beside.exact else "at least"
        numbers = ", ".join(f"{number:g}" for number in attrs.astuple(self.cost))
        return (
            f"{type(self.cost).__name__}({numbers})",
            f"{self.rounds:,}",
            self.rule,
            Measured(self.charged, form=".5g"),
            Measured(self.beside.epsilon, form=".5g"),
            bound,
            Measured(self.ratio, form=".4f"),
            self.flag,
            self.why,
        )


def rows(kind: str, rounds: Sequence[int] = ROUNDS) -> list[Row]:
    """All sizes of one kind of cost, under all that takes it."""
    found = []
    for size in SIZES:
        cost = KINDS[kind](size)
        for number in rounds:
            beside = known(cost, number)
            for rule, charged in CHARGED.items():
                epsilon = charged(cost, number)
                if epsilon is not None:
                    found.append(Row(cost, number, rule, epsilon, beside))
    return found


HEAD: Final = ("cost", "rounds", "rule or theorem", "charged ε", "reached ε", "which is", "ratio", "flag", "why")


def table(kind: str, rounds: Sequence[int] = ROUNDS) -> list[Table]:
    """One kind of cost: everything, and what is asked of it."""
    found = rows(kind, rounds)
    how = "; ".join(dict.fromkeys(row.beside.how for row in found))
    lines = [
        _within("the least ratio of all rules and theorems", min(found, key=lambda row: row.ratio), None),
        _within("the largest ratio of Plan.price", _largest(found, PRICE), NOTICED if kind in ASKED else None),
    ]
    return [
        Grid(f"{kind}, δ = {DELTA:g}: charged over reached ({how})", HEAD, tuple(row.cells for row in found)),
        Report(f"{kind}, δ = {DELTA:g}: no price below the truth, and the best one near it", lines),
    ]


def _largest(found: Sequence[Row], rule: str) -> Row:
    return max((row for row in found if row.rule == rule), key=lambda row: row.ratio)


def _within(what: str, row: Row, most: float | None) -> Line:
    ratio = Measured(row.ratio, form=".6f")
    what = f"{what}: {row.rounds:,} x {row.cost!r}, {row.rule}"
    if most is None:
        return Line(what, ratio, "≥ 1", ratio.value >= 1.0 - ROUNDING)
    return Line(what, ratio, f"1 to {most:g}", 1.0 - ROUNDING <= ratio.value <= most)
