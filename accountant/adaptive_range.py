"""An upper bound on the optimal price of adaptively chosen bounded-range releases, by dynamic programming. [L5]

Let δ_r(x) be the best that an adversary who picks r releases of width w can do, each after seeing the outputs
before it. Given a release's loss in [t − w, t] under P, the next δ is convex in e^x, so the worst release puts
all its mass on the two ends, and

    δ_0(x) = (1 − e^x)⁺,    δ_r(x) = max over t in [0, w] of  p·δ_{r−1}(x − t) + (1 − p)·δ_{r−1}(x − t + w),
    p = (e^{w−t} − 1)/(e^{w−t} − e^{−t}).

No bound for this class can be smaller. The recursion runs on a grid that divides w. Between grid points δ is
replaced by the chord in e^x, which is above it; with chords the maximum over a cell of t has a closed form, so
that what comes out is an upper bound for all t, not only for those on the grid.
"""

import functools
import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant._numbers import open_probability
from accountant.curves import ABSOLUTE, ORDERS, FloatArray, bounded_range_divergence
from accountant.rounding import up

MAX_ROUNDS: Final = 8192
"""Plans longer than this are left to other theorems."""

MOST_WORK: Final = 1e8
"""So are those that would take more than about a second."""

NARROWEST, WIDEST = 1e-150, 700.0
"""And those whose largest width has a square or an exponential that no float holds."""

FEW: Final = 32
"""Up to this many rounds the worst t may be far from the middle, so all of [0, w] gets fine cells."""

MODERATE: Final = 0.5
"""Widths above get fine cells everywhere, for the same reason."""

MANY: Final = 300
"""Beyond this many rounds the cells are made coarser, to keep within the time."""


def _resolution(rounds: int, widest: float) -> int:
    """Grid steps per width, even: as fine as about a tenth of a second allows."""
    cells_apart = 3e5 / rounds**1.5  # few cells, a grid point per step: work ~ rounds^1.5 · steps
    cells_each = math.sqrt(3e6 / rounds**1.5)  # a cell per step: work ~ rounds^1.5 · steps²
    affordable = cells_each if widest > MODERATE or rounds <= FEW else cells_apart
    wanted = max(128.0 if rounds <= 8 else 64.0 if rounds <= FEW else 24.0, widest / 0.04)
    return 2 * round(0.5 * min(256.0, max(8.0, min(affordable, wanted))))


@attrs.frozen(eq=False)
class _Cells:
    """The intervals of t over which the maximum is taken, for a width of `steps` grid steps.

    ends: shape (c + 1,), their ends as grid numbers.  high: shape (c + 1, 1), p at each end.
    The rest, each of shape (c, 1), are the coefficients of the closed form in between.
    """

    ends: npt.NDArray[np.intp]
    high: FloatArray
    above: FloatArray
    below: FloatArray
    level: FloatArray
    slope: FloatArray
    last: FloatArray

    @staticmethod
    def of(steps: int, step: float, factor: int | None) -> "_Cells":
        """factor: how fast cells widen away from the middle, where no maximum is; None for cells of one step."""
        ends = np.arange(steps + 1) if factor is None else _widening(steps, factor)
        t, width = ends * step, steps * step
        after, before = np.exp(width - t), np.exp(-t)
        apart = before * math.expm1(width)  # after − before, without cancellation
        shrink, spread = -np.expm1(-np.diff(ends) * step), apart[:-1]
        columns = (
            np.expm1(width - t) / apart,
            after[:-1] / (spread * shrink),
            before[:-1] / (spread * shrink),
            1.0 / spread,
            1.0 / (spread * shrink),
            np.exp(-2.0 * np.diff(ends) * step),
        )
        return _Cells(ends, *(column[:, None] for column in columns))

    def maximum(self, ahead: FloatArray, behind: FloatArray) -> FloatArray:
        """An upper bound on the maximum over all t, shape (n,).

        ahead, behind: δ(x − t) and δ(x − t + w) at every end, shape (c + 1, n).
        In a cell that starts at t₀, with s = e^{t₀ − t} and chords for δ, the value is c₁ − first·s − second/s. Where
        both are positive and √(second/first) lies in the cell, it peaks there, (√first − √second)² above its start;
        otherwise at an end.
        """
        gap = ahead - behind
        values = behind + self.high * gap
        first = self.above * (ahead[1:] - ahead[:-1])
        first -= self.below * (behind[1:] - behind[:-1])
        second = self.slope * (gap[1:] - gap[:-1])
        second += self.level * gap[:-1]
        inside = second > self.last * first
        np.maximum(second, 0.0, out=second)
        # A negative `first` has its peak at the start, as has one below `second`.
        np.maximum(first, second, out=first)
        peak = np.sqrt(first, out=first)
        peak -= np.sqrt(second, out=second)
        peak *= peak
        peak *= inside
        peak += values[:-1]
        return np.asarray(np.maximum(peak.max(axis=0), values[-1]))


def _widening(steps: int, factor: int) -> npt.NDArray[np.intp]:
    """0, …, steps with gaps that widen away from the middle: 0 3 4 5 6 7 10, say.

    The variance of the loss falls with the square of the distance to the middle; a chord from d to 3d adds less.
    """
    middle = steps // 2
    reach = [0, 1, *(2 * factor**power for power in range(64) if 2 * factor**power < middle)]
    ends = {0, steps, *(middle - far for far in reach), *(middle + far for far in reach)}
    return np.array(sorted(end for end in ends if 0 <= end <= steps), dtype=np.intp)


@attrs.frozen
class _Grid:
    """Points first … first + size − 1 on multiples of the step."""

    first: int
    size: int

    def points(self, step: float) -> FloatArray:
        return (self.first + np.arange(self.size, dtype=np.float64)) * step


@attrs.frozen
class _Tail:
    """δ_r(x) <= exp(level − excess·x), from the exact Rényi curve at one order: what stands outside the window.

    excess: α − 1.  level: (α − 1)·Σ D_α + ln[(1/α)·(1 − 1/α)^{α−1}]. [zcdp-tight]
    """

    excess: float
    level: float

    @staticmethod
    def of(order: float) -> "_Tail":
        """Before any release."""
        return _Tail(order - 1.0, (order - 1.0) * math.log((order - 1.0) / order) - math.log(order) + 1e-9)

    def plus(self, width: float) -> "_Tail":
        """After one more release of that width."""
        divergence = float(bounded_range_divergence(width, np.array([self.excess + 1.0]))[0])
        return attrs.evolve(self, level=self.level + self.excess * up(divergence))

    def at(self, first: int, size: int, step: float) -> FloatArray:
        points = (first + np.arange(size, dtype=np.float64)) * step
        return np.asarray(np.exp(np.minimum(0.0, self.level - self.excess * points)))


def _extended(deltas: FloatArray, grid: _Grid, low: int, high: int, step: float, tail: _Tail) -> FloatArray:
    """δ on grid numbers low … high: outside the grid the tail, or the chord to δ = 1 at e^x = 0, or the last value."""
    inside = deltas[max(0, low - grid.first) : max(0, high - grid.first + 1)]
    missing = np.arange(low - grid.first, 0)
    chord = 1.0 - (1.0 - deltas[0]) * np.exp(missing * step)
    left = np.minimum(chord, tail.at(low, missing.size, step))
    beyond = grid.first + grid.size
    right = np.minimum(deltas[-1], tail.at(beyond, max(0, high - beyond + 1), step))
    return np.concatenate([left, inside, right])


def epsilon(widths: Sequence[tuple[float, int]], delta: float, above: float) -> float | None:
    """An upper bound on the optimal ε at δ of bounded-range releases in this order, chosen adaptively.

    For equal rounds and δ from 1e-9 to 1e-2 it is within 1 % of the optimum, at extreme δ within 2 %. Of unequal widths
    nothing of the kind is claimed: those much narrower than the widest are rounded up to its grid.

    widths: (width, rounds), in the order of release.  above: an ε that is known to be enough.
    Returns None where the plan is too long for it, or where the search window does not contain the answer.
    Raises ValueError unless 0 < δ < 1.
    """
    return _epsilon(tuple(widths), open_probability(delta), above)


@functools.lru_cache(maxsize=256)  # a plan is priced when noise is calibrated to it, and again when it is charged
def _epsilon(widths: tuple[tuple[float, int], ...], delta: float, above: float) -> float | None:
    paid = [(width, rounds) for width, rounds in widths if width > 0.0]
    rounds_in_all = sum(rounds for _, rounds in paid)
    if not 1 <= rounds_in_all <= MAX_ROUNDS or not above > 0.0:
        return None
    widest = max(width for width, _ in paid)
    if not NARROWEST < widest < WIDEST:
        return None
    step = up(widest / _resolution(rounds_in_all, widest))
    if _work(paid, step, above) > MOST_WORK:
        return None
    for below in (0.9 * above, 0.0):
        grid, deltas = _iterate(paid, step, _Way.of(paid, step, below, above), _order(paid, delta))
        deltas = deltas * (1.0 + 1e-13 * (rounds_in_all + 16))
        fits = deltas <= delta
        place = int(np.argmax(fits))
        if not fits[-1]:
            return None
        if place > 0 or not below:
            break
    x = grid.points(step)
    if place == 0:
        return max(0.0, up(float(x[0]))) + ABSOLUTE
    share = (deltas[place - 1] - delta) / (deltas[place - 1] - deltas[place])
    return max(0.0, up(float(x[place - 1]) + math.log1p(share * math.expm1(step)))) + ABSOLUTE


def forget() -> None:
    """Price everything anew, as a first fit must: for those who take the time of it."""
    _epsilon.cache_clear()


def _work(paid: Sequence[tuple[float, int]], step: float, above: float) -> float:
    """About how many numbers the recursion computes."""
    rounds, variance = sum(times for _, times in paid), sum(0.25 * times * width**2 for width, times in paid)
    wide = max(width for width, _ in paid)
    points = (4.0 * math.sqrt(variance) + 0.1 * above + 4.0 * wide) / step
    return rounds * points * (wide / step if wide > MODERATE or rounds <= FEW else 8.0)


def _order(paid: Sequence[tuple[float, int]], delta: float) -> float:
    """The Rényi order that says most about the whole at δ."""
    total = sum((rounds * bounded_range_divergence(width, ORDERS) for width, rounds in paid), np.zeros_like(ORDERS))
    excess = ORDERS - 1.0
    bounds = total + np.log(excess / ORDERS) - (math.log(delta) + np.log(ORDERS)) / excess
    return float(ORDERS[np.argmin(bounds)])


def _iterate(paid: Sequence[tuple[float, int]], step: float, way: "_Way", order: float) -> tuple[_Grid, FloatArray]:
    """δ after all rounds, the last release first, on a window that moves along the way."""
    tail = _Tail.of(order)
    rounds_in_all = sum(rounds for _, rounds in paid)
    factor = 2 if rounds_in_all <= MANY else 3
    grid, done = way.window(0.0), 0.0
    deltas = np.maximum(0.0, -np.expm1(grid.points(step)))
    for width, rounds in reversed(paid):
        steps = math.ceil(width / step)
        steps += steps * step < width
        gain = tail.plus(width).level - tail.level
        fine = rounds_in_all <= FEW or width > MODERATE or steps <= 8
        cells = _Cells.of(steps, step, None if fine else factor)
        index = np.zeros((0, 0), dtype=np.intp)
        for _ in range(rounds):
            done += 0.25 * width**2
            after = way.window(done)
            low, high = after.first - steps, after.first + after.size - 1 + steps
            given = _extended(deltas, grid, low, high, step, tail)
            tail = _Tail(tail.excess, tail.level + gain)
            if index.shape[1] != after.size:
                index = (steps - cells.ends)[:, None] + np.arange(after.size)
            deltas = cells.maximum(given.take(index), given[steps:].take(index))
            grid = after
    return grid, np.minimum(deltas, 1.0)


@attrs.frozen
class _Way:
    """Which x matter once part of the variance has been added: those around the way from 0 to the answer.

    reach: half-width of the window, in standard deviations of the loss on its way there. What is outside is replaced
    by something larger, so a narrow window is loose, never wrong.
    """

    below: float
    above: float
    total: float
    margin: float
    reach: float
    step: float

    @staticmethod
    def of(paid: Sequence[tuple[float, int]], step: float, below: float, above: float) -> "_Way":
        total = sum(rounds * 0.25 * width**2 for width, rounds in paid)
        reach = 5.5 if sum(rounds for _, rounds in paid) <= FEW else 4.25
        return _Way(below, above, total, 2.0 * max(width for width, _ in paid), reach, step)

    def window(self, done: float) -> _Grid:
        """The grid around share·[below, above] for a share done/total of the way."""
        share = min(1.0, done / self.total)
        reach = self.reach * math.sqrt(self.total * share * (1.0 - share)) + self.margin
        first = math.floor((self.below * share - reach) / self.step)
        return _Grid(first, math.ceil((self.above * share + reach) / self.step) - first + 1)
