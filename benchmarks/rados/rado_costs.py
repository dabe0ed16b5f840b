"""What rados cost: what 000, Theorem 6 prints for DP-FEAT, beside the exact cost of the column that it protects.

Everything here is about that one column. Whole rado vectors have δ >= 1/2 at every ε, as the other columns show which
records were summed. Printed: (ε, δ) for a rado with δ = o(1/m), (n·ε, n·δ) for n of them, for ε from about 1/m on; the
window is β = 1/(1 + e^{ε/2}). Exact: `mechanisms.rados.column_distribution`, whose figures are rounded up. An ε of
"inf": the window's ends alone tell neighbours apart with a probability of δ or more, so no ε will do.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from benchmarks.rados.rado_table import rados_number
from benchmarks.runner import Cell, Grid, Measured, Part, Setting
from mechanisms.rados import MAX_RADOS, EmptyWindow, RadoColumnLaw, beta_at, theorem6_printed

DELTA: Final = 1e-6
RECORDS: Final[Mapping[str, int]] = {"magic": 17_118, "abalone": 3_759, "banknote": 1_235, "transfusion": 673}
"""Records of a training fold, nine tenths of a domain's."""

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)

EMPTY: Final = "empty window: the sampler never returns"
VANISHING: Final = 1e-30


def epsilons(records: int) -> tuple[float, ...]:
    """1/m and 1/√m, which shrink with the records, and EPSILONS."""
    return (1.0 / records, 1.0 / math.sqrt(records), *EPSILONS)


@attrs.frozen
class Cost:
    """The exact cost of n rados from one law, at the ε that is printed for one of them.

    one, one_half: δ of one rado at ε and at ε/2, in [0, 1].  epsilon: of all at DELTA, ∞ where no ε will do.
    delta: of all at ε, in [0, 1].
    """

    one: float
    one_half: float
    epsilon: float
    delta: float


def cost(law: RadoColumnLaw, number: int, epsilon: float) -> Cost:
    """Of `number` rados, at an ε > 0 printed for one of them."""
    # A window of one value has no loss to compose: the only rado there is tells neighbours apart.
    delta = 1.0 if law.boundary == 1.0 else law.delta(epsilon, number)
    return Cost(law.delta(epsilon), law.delta(0.5 * epsilon), law.epsilon(DELTA, number), delta)


def windowed(records: int, epsilon: float) -> RadoColumnLaw | None:
    """The law in DP-FEAT's window; None where the window is empty."""
    try:
        return RadoColumnLaw.truncated(records, beta_at(epsilon))
    except EmptyWindow:
        return None


def mass(value: float, printed: float | None = None) -> Cell:
    """A δ, as a bound where it is vanishing: such values consist in part of what rounding up has added."""
    return Measured(value, None, printed, form=".1e") if value >= VANISHING else f"< {VANISHING:.0e}"


def total(value: float, printed: float | None = None, unit: str = "") -> Measured:
    """An ε of many rados; ∞ where none will do."""
    return Measured(value, None, printed, unit, form=".4g")


def told(boundary: float, number: int) -> float:
    """The probability that one of `number` rados tells neighbours apart for certain, each with this one.

    That is δ of all at n·ε: no other rado has a ratio above e^{ε/2}.
    """
    return 1.0 if boundary == 1.0 else -math.expm1(number * math.log1p(-boundary))


@attrs.frozen
class Windowed:
    """Rados from DP-FEAT's window at an ε that is printed for one of them; words where there is no rado.

    epsilon: of all at DELTA, beside n·ε where that is printed for so small a δ.  at_sum: δ of all at n·ε, beside the
    printed one.  delta: of all at ε.  one: δ of one at ε/2, and so at ε, as no ratio in the window is above e^{ε/2}.
    shrinking: that times the records.
    """

    epsilon: Cell
    at_sum: Cell
    delta: Cell
    one: Cell
    shrinking: Cell

    @staticmethod
    def at(records: int, number: int, epsilon: float) -> "Windowed":
        """Of `number` rados of so many records."""
        law = windowed(records, epsilon)
        if law is None:
            return Windowed(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)
        found, (sum_epsilon, sum_delta) = cost(law, number, epsilon), theorem6_printed(records, number, epsilon)
        return Windowed(
            total(found.epsilon, sum_epsilon if sum_delta <= DELTA else None),
            mass(told(law.boundary, number), sum_delta),
            mass(found.delta),
            mass(found.one_half),
            mass(records * found.one_half),
        )


def costs(name: str, records: int) -> list[Grid]:
    """One domain, a column for each ε that is printed for one rado: ε of all rados, and δ of one and of all."""
    number, at = rados_number(records), epsilons(records)
    plain = [cost(RadoColumnLaw(records), number, epsilon) for epsilon in at]
    window = [Windowed.at(records, number, epsilon) for epsilon in at]
    head = ("one column alone", *(f"ε={epsilon:.3g}" for epsilon in at))
    what = f"m={records:,}, n={number:,}; first 1/m, 1/√m"
    totals: tuple[tuple[Cell, ...], ...] = (
        ("in the window", *(each.epsilon for each in window)),
        ("no window", *(total(each.epsilon) for each in plain)),
    )
    masses: tuple[tuple[Cell, ...], ...] = (
        ("one rado, window, at ε and at ε/2", *(each.one for each in window)),
        ("that times m, which is printed to vanish", *(each.shrinking for each in window)),
        ("one rado, no window, at ε", *(mass(each.one) for each in plain)),
        ("one rado, no window, at ε/2", *(mass(each.one_half) for each in plain)),
        ("n rados, window, at n·ε", *(each.at_sum for each in window)),
        ("n rados, window, at ε", *(each.delta for each in window)),
        ("n rados, no window, at ε", *(mass(each.delta) for each in plain)),
    )
    return [
        Grid(f"{name}: ε of n rados at δ={DELTA:g}, against the ε printed for one; {what}", head, totals),
        Grid(f"{name}: δ at the ε printed for one, whole rados have δ ≥ 1/2; {what}", head, masses),
    ]


def affordable(records: int, epsilon: float) -> int:
    """The most rados, at most MAX_RADOS, whose one column costs at most (ε, DELTA) without a window; 0 for none.

    A window never buys more: at equal ε its δ is larger. As δ is rounded up, a few more may in truth be affordable.
    """
    law = RadoColumnLaw(records)
    below, above = 0, 1
    while above <= MAX_RADOS and law.delta(epsilon, above) <= DELTA:
        below, above = above, 2 * above
    above = min(above, MAX_RADOS + 1)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if law.delta(epsilon, middle) <= DELTA else (below, middle)
    return below


def buys(domains: Sequence[str] = tuple(RECORDS), at: Sequence[float] = EPSILONS) -> Grid:
    """A row for each domain: how many rados an ε buys, beside the number that is used."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{name} (m={RECORDS[name]:,}, used: {rados_number(RECORDS[name]):,})",
            *(Measured(affordable(RECORDS[name], epsilon), unit="rados", form=",.0f") for epsilon in at),
        )
        for name in domains
    )
    head = ("domain", *(f"ε={epsilon:g}" for epsilon in at))
    return Grid(f"What ε really buys: the most rados whose one column costs at most (ε, {DELTA:g})", head, rows)


def parts(setting: Setting) -> list[Part]:
    """The cost of each domain's rados, and what ε buys. Needs no data. quick: one domain, few ε."""
    names = list(RECORDS)[-1:] if setting.quick else list(RECORDS)
    at = EPSILONS[::6] if setting.quick else EPSILONS
    return [
        *(Part(f"costs of {name}", partial(costs, name, RECORDS[name]), 0.5) for name in names),
        Part("what ε buys", lambda: [buys(names, at)], 1.0 if setting.quick else 12.0),
    ]
