"""An upper bound on the optimal price of adaptively chosen bounded-range releases, by dynamic programming. [L5]

Let δ_r(x) be the best that an adversary who picks r releases of width w can do, each after seeing the outputs
before it. Given a release's loss in [t − w, t] under P, the next δ is convex in e^x, so the worst release puts
all its mass on the two ends, and

    δ_0(x) = (1 − e^x)⁺,    δ_r(x) = max over t in [0, w] of  p·δ_{r−1}(x − t) + (1 − p)·δ_{r−1}(x − t + w),
    p = (e^{w−t} − 1)/(e^{w−t} − e^{−t}).

No bound for this class can be smaller. The recursion runs on a grid whose step is a fraction of w, halved or doubled
where the widths change. Between grid points δ is replaced by the chord in e^x, which is above it, also where x − t + w
is between them; with chords the maximum over a cell of t has a closed form, so that what comes out is an upper bound
for all t, not only for those on the grid.
"""

import functools
import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from accountant.costs import ABSOLUTE, ORDERS, bounded_range_divergence, open_probability, up

MAX_ROUNDS: Final = 8192
"""Plans longer than this are left to other theorems."""

MOST_WORK: Final = 1e8
"""So are those that would take more than about a second."""

NARROWEST, WIDEST = 1e-140, 700.0
"""And those whose largest width has a square or an exponential that no float holds."""

MOST_POINTS: Final = 3000
"""A grid is not refined beyond as many points in its window, for widths that are narrow beside the widest."""

LEAST: Final = 2.0**-10
"""Less than this share of a step beyond a grid point is rounded up to it, where differences would lose their digits."""

ROUND, LEG = 3e3, 8e3
"""Work that takes as long as it takes to begin a round, and to begin another width."""

FINER, FINEST = 2.5e7, 48
"""Unequal widths get a finer grid, up to FINEST steps for the widest, while that takes about a quarter of a second."""

FEW_ROUNDS: Final = 32
"""Up to this many rounds the worst t may be far from the middle, so all of [0, w] gets fine cells. Of unequal rounds
those count that would have the variance of all."""

MODERATE: Final = 0.5
"""Widths above get fine cells everywhere, for the same reason."""

MANY: Final = 300
"""Beyond this many rounds the cells are made coarser, to keep within the time."""


def _resolution(rounds: int, widest: float) -> int:
    """Grid steps per width, even: as fine as about a tenth of a second allows."""
    cells_apart = 3e5 / rounds**1.5  # few cells, a grid point per step: work ~ rounds^1.5 · steps
    cells_each = math.sqrt(3e6 / rounds**1.5)  # a cell per step: work ~ rounds^1.5 · steps²
    affordable = cells_each if widest > MODERATE or rounds <= FEW_ROUNDS else cells_apart
    wanted = max(128.0 if rounds <= 8 else 64.0 if rounds <= FEW_ROUNDS else 24.0, widest / 0.04)
    return 2 * round(0.5 * min(256.0, max(8.0, min(affordable, wanted))))


@attrs.frozen(eq=False)
class _Cells:
    """The intervals of t over which the maximum is taken, for a width of `steps` − `short` grid steps.

    ends: shape (c + 1,), their ends as grid numbers; the last, `steps`, stands for the width itself.
    high: shape (c + 1, 1), p at each end.
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
    def of(steps: int, short: float, step: float, factor: int | None) -> "_Cells":
        """short: in [0, 1).  factor: how fast cells widen away from the middle, where no maximum is; None for cells of
        one step."""
        ends = np.arange(steps + 1) if factor is None else _widening(steps, factor)
        t, width = ends * step, (steps - short) * step
        t[-1] = width
        after, before, cells = np.exp(width - t), np.exp(-t), np.diff(ends).astype(np.float64)
        cells[-1] -= short
        apart = before * math.expm1(width)  # after − before, without cancellation
        shrink, spread = -np.expm1(-cells * step), apart[:-1]
        columns = (
            np.expm1(width - t) / apart,
            after[:-1] / (spread * shrink),
            before[:-1] / (spread * shrink),
            1.0 / spread,
            1.0 / (spread * shrink),
            np.exp(-2.0 * cells * step),
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
    """0, …, steps with gaps that widen away from the middle, where the maximum is: 0 3 4 5 6 7 10, say.

    The variance of the loss falls with the square of the distance to the middle; a chord from d to 3d adds less.
    """
    middle, core = steps // 2, max(1, steps // 24)
    widening = (2 * core * factor**power for power in range(64))
    reach = [*range(core + 1), *(far for far in widening if far < middle)]
    ends = {0, steps, *(middle - far for far in reach), *(middle + far for far in reach)}
    return np.array(sorted(end for end in ends if 0 <= end <= steps), dtype=np.intp)


@attrs.frozen
class _Grid:
    """Points first … first + size − 1 on multiples of the step."""

    first: int
    size: int
    step: float

    def points(self) -> FloatArray:
        return (self.first + np.arange(self.size, dtype=np.float64)) * self.step


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


def _extended(deltas: FloatArray, grid: _Grid, low: int, high: int, tail: _Tail) -> FloatArray:
    """δ on grid numbers low … high: outside the grid the tail, or the chord to δ = 1 at e^x = 0, or the last value."""
    inside = deltas[max(0, low - grid.first) : max(0, high - grid.first + 1)]
    missing = np.arange(low - grid.first, min(0, high - grid.first + 1))
    chord = 1.0 - (1.0 - deltas[0]) * np.exp(missing * grid.step)
    left = np.minimum(chord, tail.at(low, missing.size, grid.step))
    beyond = max(low, grid.first + grid.size)
    right = np.minimum(deltas[-1], tail.at(beyond, max(0, high - beyond + 1), grid.step))
    return np.concatenate([left, inside, right])


def _on_step(deltas: FloatArray, grid: _Grid, low: int, high: int, step: float, tail: _Tail) -> FloatArray:
    """δ on numbers low … high of another step: every k-th value, or chords in e^x between the values."""
    if step == grid.step:
        return _extended(deltas, grid, low, high, tail)
    if step > grid.step:
        times = round(step / grid.step)
        skip = -grid.first % times
        kept = deltas[skip::times]
        return _extended(kept, _Grid((grid.first + skip) // times, kept.size, step), low, high, tail)
    times = round(grid.step / step)
    first = low // times
    coarse = _extended(deltas, grid, first, high // times + 1, tail)
    number = np.arange(low, high + 1)
    place = number // times - first
    share = np.expm1(np.arange(times) * step) / math.expm1(grid.step)
    return np.asarray(coarse[place] + share[number % times] * (coarse[place + 1] - coarse[place]))


def epsilon(widths: Sequence[tuple[float, int]], delta: float, above: float) -> float | None:
    """An upper bound on the optimal ε at δ of bounded-range releases in this order, chosen adaptively.

    For equal rounds and δ from 1e-9 to 1e-2 it is within 1 % of the optimum, at extreme δ within 2 %. Plans of unequal
    widths were seen to be within half a per cent of an adversary on a lattice, or of what a much finer grid proves,
    where no width is so narrow beside the others that its grid is held to MOST_POINTS.

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
    for below in (0.9 * above, 0.0):
        way = _Way.of(paid, below, above)
        legs = _affordable(paid, way)
        if below and _work(legs) > MOST_WORK:
            return None
        grid, deltas = _iterate(legs, way, _order(paid, delta))
        deltas = deltas * (1.0 + 1e-13 * (rounds_in_all + 16))
        fits = deltas <= delta
        place = int(np.argmax(fits))
        if not fits[-1]:
            return None
        if place > 0 or not below:
            break
    x = grid.points()
    if place == 0:
        return max(0.0, up(float(x[0]))) + ABSOLUTE
    share = (deltas[place - 1] - delta) / (deltas[place - 1] - deltas[place])
    return max(0.0, up(float(x[place - 1]) + math.log1p(share * math.expm1(grid.step)))) + ABSOLUTE


def forget() -> None:
    """Price everything anew, as a first fit must: for those who take the time of it."""
    _epsilon.cache_clear()


def _order(paid: Sequence[tuple[float, int]], delta: float) -> float:
    """The Rényi order that says most about the whole at δ."""
    total = sum((rounds * bounded_range_divergence(width, ORDERS) for width, rounds in paid), np.zeros_like(ORDERS))
    excess = ORDERS - 1.0
    bounds = total + np.log(excess / ORDERS) - (math.log(delta) + np.log(ORDERS)) / excess
    return float(ORDERS[np.argmin(bounds)])


@attrs.frozen
class _Way:
    """Which x matter once part of the variance has been added: those around the way from 0 to the answer.

    reach: half-width of the window, in standard deviations of the loss on its way there. What is outside is replaced
    by something larger, so a narrow window is loose, never wrong.
    """

    below: float
    above: float
    total: float
    reach: float

    @staticmethod
    def of(paid: Sequence[tuple[float, int]], below: float, above: float) -> "_Way":
        total = sum(rounds * 0.25 * width**2 for width, rounds in paid)
        return _Way(below, above, total, 5.5 if _as_many(total, max(paid)[0]) <= FEW_ROUNDS else 4.25)

    def ends(self, done: float, margin: float) -> tuple[float, float]:
        """The window around share·[below, above] for a share done/total of the way."""
        share = min(1.0, done / self.total)
        reach = self.reach * math.sqrt(self.total * share * (1.0 - share)) + margin
        return self.below * share - reach, self.above * share + reach

    def window(self, done: float, margin: float, step: float) -> _Grid:
        low, high = self.ends(done, margin)
        first = math.floor(low / step)
        return _Grid(first, math.ceil(high / step) - first + 1, step)


def _as_many(variance: float, width: float) -> float:
    """How many rounds of that width have the variance, rounded down a little."""
    return (1.0 - 1e-9) * (variance / (0.25 * width**2)) if width > NARROWEST else math.inf


@attrs.frozen
class _Leg:
    """Releases of one width, and the grid that they are computed on.

    cells: of one step each, or widening.  margin: what the window keeps on either side.
    work: about how many numbers are computed for it.
    """

    width: float
    rounds: int
    step: float
    steps: int
    short: float
    fine: bool
    margin: float
    work: float


def _affordable(paid: Sequence[tuple[float, int]], way: _Way) -> list[_Leg]:
    """On a grid as fine as the time allows."""
    widest = max(width for width, _ in paid)
    resolution = _resolution(sum(rounds for _, rounds in paid), widest)
    legs = _legs(paid, up(widest / resolution), way)
    while 2 * resolution <= FINEST and any(width != widest for width, _ in paid):
        resolution *= 2
        finer = _legs(paid, up(widest / resolution), way)
        if _work(finer) > FINER:
            break
        legs = finer
    return legs


def _work(legs: Sequence[_Leg]) -> float:
    return sum(leg.work for leg in legs)


def _legs(paid: Sequence[tuple[float, int]], base: float, way: _Way) -> list[_Leg]:
    """In the order of the recursion, the last release first; narrow widths have a step of their own.

    base: the step for the widest. Others have it halved, so that every grid holds the points of each coarser one.
    """
    few, widest = sum(rounds for _, rounds in paid) <= FEW_ROUNDS, max(width for width, _ in paid)
    legs, done = [], 0.0
    backwards = list(reversed(paid))
    for (width, rounds), (following, _) in zip(backwards, [*backwards[1:], backwards[-1]], strict=True):
        margin, more = 2.0 * max(width, following), 0.25 * width**2 * rounds
        low, high = way.ends(min(max(0.5 * way.total, done), done + more), margin)
        halvings = math.floor(min(math.log2(widest / width), math.log2(max(1.0, MOST_POINTS * base / (high - low)))))
        step = math.ldexp(base, -halvings)
        length = width / step * (1.0 + 2.0**-50)
        steps = math.ceil(length)
        short = 0.0 if steps - length < 1e-9 else min(steps - length, 1.0 - LEAST)
        fine = few or _as_many(way.total, width) <= FEW_ROUNDS or width > MODERATE or steps <= 8
        work = LEG + rounds * (ROUND + (high - low) / step * (steps if fine else 8.0))
        legs.append(_Leg(width, rounds, step, steps, short, fine, margin, work))
        done += more
    return legs


def _iterate(legs: Sequence[_Leg], way: _Way, order: float) -> tuple[_Grid, FloatArray]:
    """δ after all rounds, the last release first, on a window that moves along the way."""
    tail, done = _Tail.of(order), 0.0
    factor = 2 if sum(leg.rounds for leg in legs) <= MANY else 3
    grid = way.window(0.0, legs[0].margin, legs[0].step)
    deltas = -np.expm1(np.minimum(grid.points(), 0.0))
    for leg in legs:
        steps, step, short = leg.steps, leg.step, leg.short
        gain = tail.plus(leg.width).level - tail.level
        cells = _Cells.of(steps, short, step, None if leg.fine else factor)
        index = np.zeros((0, 0), dtype=np.intp)
        for _ in range(leg.rounds):
            done += 0.25 * leg.width**2
            after = way.window(done, leg.margin, step)
            low, high = after.first - steps, after.first + after.size - 1 + steps
            given = _on_step(deltas, grid, low, high, step, tail)
            tail = _Tail(tail.excess, tail.level + gain)
            if index.shape[1] != after.size:
                index = (steps - cells.ends)[:, None] + np.arange(after.size)
            ahead, behind = given.take(index), _before(given, short, step)[steps:].take(index)
            if short:  # t = w is no multiple of the step; there x − t + w is on the grid again, and x − t is not
                ahead[-1] = _before(given, 1.0 - short, step)[1 : after.size + 1]
                behind[-1] = given[steps : steps + after.size]
            deltas = cells.maximum(ahead, behind)
            grid = after
    return grid, np.minimum(deltas, 1.0)


def _before(given: FloatArray, short: float, step: float) -> FloatArray:
    """δ at `short` steps before each grid point, short in [0, 1), by the chord in e^x; not for the first."""
    if not short:
        return given
    share = math.expm1(-short * step) / math.expm1(-step)
    found = given.copy()
    found[1:] += share * (given[:-1] - given[1:])
    return found
