"""What rados cost: what 000, Theorem 6 prints for DP-FEAT, beside the exact cost of the column that it protects.

Everything here is about that one column. Whole rado vectors have δ >= 1/2 at every ε, as the other columns show which
records were summed. Printed: (ε, δ) for a rado with δ = o(1/m), (n·ε, n·δ) for n of them, for ε from about 1/m on; the
window is β = 1/(1 + e^{ε/2}). Exact: `mechanisms.rado_law`, whose figures are rounded up. "none": the window's ends
alone tell neighbours apart with a probability of δ or more, so no ε will do.
"""

import math
from collections.abc import Mapping
from typing import Final

import attrs

from benchmarks.rado_table import MOST_RADOS, rados_number
from benchmarks.report import Grid
from mechanisms.rado_law import MAX_RADOS, EmptyWindow, RadoColumnLaw, beta_at, theorem6_printed

DELTA: Final = 1e-6
RECORDS: Final[Mapping[str, int]] = {"magic": 17_118, "abalone": 3_759, "banknote": 1_235, "transfusion": 673}
"""Records of a training fold, nine tenths of a domain's."""

EPSILONS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)

EMPTY: Final = "empty window: the sampler never returns"
VANISHING: Final = 1e-30


def epsilons(records: int) -> dict[str, float]:
    """EPSILONS, and before them two that shrink with m, by how they are written."""
    shrinking = {"1/m": 1.0 / records, "1/√m": 1.0 / math.sqrt(records)}
    return {**shrinking, **{f"{value:g}": value for value in EPSILONS}}


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


def delta_text(value: float) -> str:
    """To two digits, where it is neither vanishing nor above 1."""
    # Values below consist in part of what rounding up has added.
    return "above 1" if value > 1.0 else f"{value:.1e}" if value >= VANISHING else f"< {VANISHING:.0e}"


def number_text(value: float) -> str:
    """To three digits or to a whole number; "none" for ∞."""
    return "none" if math.isinf(value) else f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def times_text(value: float) -> str:
    """As `number_text`, small ones as a bound."""
    return number_text(value) if value >= 0.01 else "< 0.01"


HEAD: Final = (
    "ε",
    "printed, one rado",
    "printed, n rados",
    "δ of one at ε and at ε/2, window",
    "the same times m",
    "δ of one at ε, no window",
    "δ of one at ε/2, no window",
    f"ε of n at δ = {DELTA:g}, window",
    "the same, no window",
    "δ of n at ε, window",
    "δ of n at ε, no window",
)


def costs(name: str, records: int) -> Grid:
    """One domain: a row for each ε. No ratio in the window is above e^{ε/2}, so there δ is the same at ε and at ε/2."""
    number = rados_number(records)
    rows = tuple(_row(records, number, written, epsilon) for written, epsilon in epsilons(records).items())
    title = (
        f"{name}: what n = {number:,} rados of m = {records:,} records cost, one column alone (whole vectors: δ ≥ 1/2 "
        "at every ε)"
    )
    return Grid(title, HEAD, rows)


def _row(records: int, number: int, written: str, epsilon: float) -> tuple[str, ...]:
    plain, law = cost(RadoColumnLaw(records), number, epsilon), windowed(records, epsilon)
    one, share, total, spent = EMPTY, "-", "-", "-"
    printed = f"({number_text(number * epsilon)}, n·δ)"
    if law is not None:
        found, (sum_epsilon, sum_delta) = cost(law, number, epsilon), theorem6_printed(records, number, epsilon)
        printed = f"({number_text(sum_epsilon)}, {delta_text(sum_delta)})"
        one, share = delta_text(found.one_half), times_text(records * found.one_half)
        total, spent = number_text(found.epsilon), delta_text(found.delta)
    return (
        *(written, f"({epsilon:.3g}, o(1/m))", printed, one, share, delta_text(plain.one), delta_text(plain.one_half)),
        *(total, number_text(plain.epsilon), spent, delta_text(plain.delta)),
    )


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


def buys() -> Grid:
    """A row for each domain: how many rados an ε buys, beside the number that is used."""
    rows = [
        (name, f"{m:,}", f"{rados_number(m):,}", *(f"{affordable(m, epsilon):,}" for epsilon in EPSILONS))
        for name, m in RECORDS.items()
    ]
    head = ("domain", "m", f"n = min({MOST_RADOS:,}, m/2)", *(f"ε = {epsilon:g}" for epsilon in EPSILONS))
    return Grid(f"What ε really buys: the most rados whose one column costs at most (ε, {DELTA:g})", head, tuple(rows))


def tables() -> list[Grid]:
    """All of them."""
    return [*(costs(name, records) for name, records in RECORDS.items()), buys()]
