"""Adaptive bounded-range releases: the recursion's pieces by brute force, prices by adversaries on lattices."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant.arrays import FloatArray
from accountant.composition import adaptive_range
from accountant.composition.adaptive_range import (
    _before,
    _Cells,
    _extended,
    _Grid,
    _iterate,
    _Leg,
    _on_step,
    _Tail,
    _Way,
    _widening,
    epsilon,
)
from accountant.composition.dominating_pairs import bounded_range_profile
from accountant.costs.curves import ABSOLUTE
from proofs_tests.accountant.composition.test_adaptive_range import high_probability, restricted_adversary

LATTICES: tuple[tuple[list[tuple[float, int]], int], ...] = (
    ([(0.05, 3)], 64),
    ([(0.5, 8)], 32),
    ([(2.0, 6)], 24),
    ([(0.1, 40)], 10),
    ([(1.0, 2), (0.25, 8)], 12),
    ([(0.25, 8), (1.0, 2)], 12),
    ([(0.2, 10), (0.1, 20), (0.3, 5)], 8),
    ([(0.1, 3), (0.07, 5), (0.13, 4)], 28),
    ([(0.013, 40), (0.17, 4)], 13),
)


@pytest.mark.parametrize(("widths", "fineness"), LATTICES)
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_no_adversary_gets_more_and_a_tenth_less_would_be_beaten(
    widths: list[tuple[float, int]], fineness: int, delta: float
) -> None:
    most = sum(width * rounds for width, rounds in widths)
    found = epsilon(widths, delta, most)
    assert found is not None
    assert restricted_adversary(widths, found, fineness) <= delta * (1 + 1e-12)
    if found < 0.95 * most:
        assert restricted_adversary(widths, 0.95 * found, fineness) > delta


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9])
@pytest.mark.parametrize("width", [0.05, 0.7, 3.0])
def test_one_release_is_its_profile(width: float, delta: float) -> None:
    found = epsilon([(width, 1)], delta, width)
    exact = max(0.0, width + 2.0 * math.log1p(-math.sqrt(delta * -math.expm1(-width))))
    assert found is not None
    assert exact <= found <= exact * 1.003 + 2.0 * ABSOLUTE + 0.003 * width * (exact > 0.0)


def test_plans_that_are_left_to_others() -> None:
    for widths in ([], [(0.0, 3)], [(0.001, 8193)], [(700.0, 1)], [(700.0, 1), (0.1, 1)], [(1e-140, 2)], [(1e-170, 2)]):
        assert epsilon(widths, 1e-5, 1.0) is None
    assert epsilon([(0.1, 3)], 1e-5, 0.0) is None
    assert epsilon([(2.0, 8192)], 1e-5, 9000.0) is None
    assert epsilon([(0.1, 10)], 1e-5, 0.2) is None  # the window ends below the answer
    for wrong in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            epsilon([(0.1, 2)], wrong, 0.2)


def _brute(width: float, x: float, before_width: float) -> float:
    t = np.linspace(0.0, width, 4001)
    p = high_probability(width, t[:-1])
    ahead, behind = (
        bounded_range_profile(before_width, x - t[:-1]),
        bounded_range_profile(before_width, x - t[:-1] + width),
    )
    return float(np.max(p * ahead + (1.0 - p) * behind))


@pytest.mark.parametrize("factor", [None, 2, 3])
@pytest.mark.parametrize("steps", [8, 48])
@pytest.mark.parametrize("width", [0.1, 1.0])
def test_the_maximum_over_cells_is_above_all_t_and_hardly_above_the_chords(
    width: float, steps: int, factor: int | None
) -> None:
    """Against t by t, δ before being a profile that is convex in e^x; coarse cells add a few per cent."""
    step = width / steps
    cells = _Cells.of(steps, 0.0, step, factor)
    grid = np.arange(-3 * steps, 3 * steps + 1) * step
    before = 2.0 * width
    ahead = bounded_range_profile(before, grid[None, :] - cells.ends[:, None] * step)
    behind = bounded_range_profile(before, grid[None, :] - cells.ends[:, None] * step + width)
    found = cells.maximum(ahead, behind)
    real = np.array([_brute(width, float(x), before) for x in grid])
    assert np.all(found >= real - 1e-15)
    assert np.all(found <= 1.05 * real + 1e-3 * real.max())
    if factor is None and steps == 48:
        assert np.all(found <= 1.002 * real + 3e-5 * real.max())


@pytest.mark.parametrize("short", [0.0, 0.3, 0.95])
@pytest.mark.parametrize(("steps", "factor"), [(1, None), (2, None), (5, None), (12, 2), (30, 3)])
def test_the_maximum_over_cells_is_that_of_their_chords(steps: int, factor: int | None, short: float) -> None:
    """For any δ at the ends of cells: against t by t, with chords in e^x written down anew."""
    step = 0.13
    cells, width = _Cells.of(steps, short, step, factor), (steps - short) * step
    ends = np.minimum(cells.ends * step, width)
    rng = np.random.default_rng(steps)
    ahead, behind = (rng.uniform(0.0, 1.0, (ends.size, 400)) ** 3 for _ in range(2))
    ahead[-1, :200] = 1.0  # so that the last cell has the maximum often
    behind[-1, 100:200] = 1.0
    found = cells.maximum(ahead, behind)
    most = np.zeros(400)
    for low, high, cell in zip(ends[:-1], ends[1:], range(ends.size), strict=False):
        t = np.linspace(low, high, 2001)[:, None]
        share = np.expm1(low - t) / np.expm1(low - high)
        chords = (each[cell] + share * (each[cell + 1] - each[cell]) for each in (ahead, behind))
        p = np.expm1(width - t) / (np.exp(width - t) - np.exp(-t))
        most = np.maximum(most, np.max(p * next(chords) + (1.0 - p) * next(chords), axis=0))
    assert np.all(most * (1.0 - 1e-13) <= found)
    assert np.all(found <= most * (1.0 + 1e-5))


@pytest.mark.parametrize("short", [0.0, 0.25, 0.9])
def test_cells_are_for_the_width_itself(short: float) -> None:
    cells = _Cells.of(12, short, 0.01, None)
    width = (12.0 - short) * 0.01
    t = np.append(np.arange(12) * 0.01, width)
    assert cells.ends.tolist() == list(range(13))
    assert cells.high[:, 0] == pytest.approx(high_probability(width, t), rel=1e-12)


def test_cells_widen_away_from_the_middle() -> None:
    assert _widening(10, 2).tolist() == [0, 1, 3, 4, 5, 6, 7, 9, 10]
    assert _widening(48, 3).tolist() == [0, 12, 20, 22, 23, 24, 25, 26, 28, 36, 48]
    for steps in (2, 3, 8, 25, 256):
        for factor in (2, 3):
            ends = _widening(steps, factor)
            assert (ends[0], ends[-1]) == (0, steps)
            assert np.all(np.diff(ends) > 0)
            assert steps // 2 in ends


@pytest.mark.parametrize("order", [1.5, 3.0, 30.0])
def test_the_tail_is_the_conversion_at_one_order(order: float) -> None:
    """δ <= e^{(α−1)(D − x)}·(1/α)(1 − 1/α)^{α−1}: of one mechanism after another, and what is said of none."""
    tail = _Tail.of(order)
    start = (1.0 / order) * (1.0 - 1.0 / order) ** (order - 1.0)
    assert tail.excess == order - 1.0
    assert tail.at(0, 3, 0.5).tolist() == pytest.approx(
        [start * math.exp(-(order - 1.0) * x) for x in (0.0, 0.5, 1.0)], rel=2e-9
    )
    assert tail.at(0, 1, 0.5)[0] >= start
    assert tail.at(-40, 1, 0.5)[0] == 1.0
    width = 0.4
    big = math.expm1(order * width) / math.expm1(width)
    added = math.log((big - 1.0) / (order - 1.0)) + order * math.log((order - 1.0) * big / (order * (big - 1.0)))
    assert 0.0 <= tail.plus(width).level - tail.level - added <= 1e-9 * order
    assert np.all(np.maximum(0.0, -np.expm1(np.arange(-20, 20) * 0.1)) <= tail.at(-20, 40, 0.1))


def test_outside_the_grid_stands_what_is_above() -> None:
    """Left the chord to δ = 1 at e^x = 0, or the tail; right the last value, or the tail."""
    grid, tail, step = _Grid(-30, 61, 0.01), _Tail.of(20.0).plus(0.3), 0.01
    inside = bounded_range_profile(0.3, grid.points())
    found = _extended(inside, grid, -60, 60, tail)
    points = np.arange(-60, 61, dtype=np.float64) * step
    assert found.shape == points.shape
    assert np.all(found >= bounded_range_profile(0.3, points) - 1e-15)
    assert found[30:91].tolist() == inside.tolist()
    chord = 1.0 - (1.0 - inside[0]) * np.exp((np.arange(-60, -30) + 30) * step)
    assert found[:30] == pytest.approx(np.minimum(chord, tail.at(-60, 30, step)), rel=1e-12)
    assert found[91:] == pytest.approx(np.minimum(inside[-1], tail.at(31, 30, step)), rel=1e-12, abs=1e-300)
    for low, high in ((-20, 20), (-70, -40), (40, 50), (-30, 30)):
        assert _extended(inside, grid, low, high, tail).tolist() == pytest.approx(
            _extended(inside, grid, -80, 80, tail)[low + 80 : high + 81].tolist(), rel=1e-12
        )


@pytest.mark.parametrize("times", [2, 8])
def test_on_another_step_stand_the_same_values_or_chords(times: int) -> None:
    tail, step = _Tail.of(30.0), 0.01
    grid = _Grid(-37, 90, step)
    profile = bounded_range_profile(0.3, grid.points())
    coarse = _on_step(profile, grid, -37 // times + 1, 50 // times, step * times, tail)
    assert coarse.tolist() == profile[(-37 // times + 1) * times + 37 : (50 // times) * times + 38 : times].tolist()
    low, high = -36 * times, 51 * times
    fine = _on_step(profile, grid, low, high, step / times, tail)
    points = np.arange(low, high + 1, dtype=np.float64) * step / times
    assert fine == pytest.approx(np.interp(np.exp(points), np.exp(grid.points()), profile), rel=1e-11, abs=1e-14)
    assert _on_step(profile, grid, -37, 52, step, tail).tolist() == profile.tolist()


@pytest.mark.parametrize("short", [0.0, 0.25, 0.9])
def test_between_two_points_stands_their_chord(short: float) -> None:
    points = np.linspace(-0.5, 0.5, 101)
    profile = bounded_range_profile(0.3, points)
    found = _before(profile, short, 0.01)[1:]
    where = points[1:] - 0.01 * short
    assert found == pytest.approx(np.interp(np.exp(where), np.exp(points), profile), rel=1e-11, abs=1e-14)


def test_the_window_goes_along_the_way() -> None:
    way = _Way.of([(0.2, 10), (0.1, 4)], 0.5, 1.0)
    assert way.total == pytest.approx(0.25 * (10 * 0.04 + 4 * 0.01), rel=1e-12)
    assert way.ends(0.0, 0.3) == pytest.approx((-0.3, 0.3), rel=1e-12)
    assert way.ends(way.total, 0.3) == pytest.approx((0.2, 1.3), rel=1e-12)
    half = way.reach * 0.5 * math.sqrt(way.total)
    assert way.ends(0.5 * way.total, 0.0) == pytest.approx((0.25 - half, 0.5 + half), rel=1e-12)
    assert way.ends(3.0 * way.total, 0.3) == way.ends(way.total, 0.3)
    grid = way.window(0.0, 0.3, 0.07)
    assert (grid.first, grid.size, grid.step) == (-5, 11, 0.07)
    assert (_Way.of([(0.2, 32)], 0.0, 1.0).reach, _Way.of([(0.2, 34)], 0.0, 1.0).reach) == (5.5, 4.25)


@pytest.mark.parametrize("widths", [[0.1, 0.073, 0.0031], [1.0, 1.0 - 1e-12, 0.5 + 1e-13, 0.25], [0.3, 1e-9, 1e-300]])
def test_no_width_is_rounded_down(widths: list[float]) -> None:
    paid = [(width, 3) for width in widths]
    way = _Way.of(paid, 0.9, 1.0)
    for leg in adaptive_range._legs(paid, max(widths) / 48.0 * (1.0 + 1e-12), way):
        length = leg.steps - leg.short
        assert 0.0 <= leg.short < 1.0
        assert leg.width <= length * leg.step <= leg.width + 2.0**-9 * leg.step


@pytest.mark.parametrize("parts", [48, 50, 97, 192])
def test_no_width_is_rounded_down_by_an_ulp(parts: int) -> None:
    """Exactly, with fractions, for widths that the step divides almost."""
    rng = np.random.default_rng(parts)
    for widest in rng.uniform(0.01, 2.0, 200).tolist():
        paid = [(widest, 2), (widest * int(rng.integers(1, parts)) / parts, 2)]
        for leg in adaptive_range._legs(paid, widest / parts, _Way.of(paid, 0.9, 1.0)):
            assert Fraction(leg.width) <= (leg.steps - Fraction(leg.short)) * Fraction(leg.step)


@pytest.mark.parametrize("reach", [0.3, 1.0, 2.0])
@pytest.mark.parametrize(("widths", "fineness"), LATTICES[1:])
def test_outside_a_narrow_window_stands_what_is_above(
    widths: list[tuple[float, int]], fineness: int, reach: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tail counts all releases so far; a window too narrow is dear."""
    real = _Way.of

    def narrow(paid: list[tuple[float, int]], below: float, above: float) -> _Way:
        return _Way(below, above, real(paid, below, above).total, reach)

    delta, most = 1e-4, sum(width * rounds for width, rounds in widths)
    above = epsilon(widths, delta, most)
    assert above is not None
    monkeypatch.setattr(_Way, "of", staticmethod(narrow))
    adaptive_range.forget()
    try:
        for known in (above * 1.001, above * 1.2):
            found = epsilon(widths, delta, known)
            assert found is None or restricted_adversary(widths, found, fineness) <= delta * (1 + 1e-12)
    finally:
        adaptive_range.forget()


def _step_by_step(before: FloatArray, points: FloatArray, width: float) -> FloatArray:
    """One release, t by t, δ before it by chords in e^x between grid points."""
    low, high = (np.exp(points[0]), before[0]), (np.exp(points[-1]), before[-1])

    def chords(x: FloatArray) -> FloatArray:
        left = 1.0 - (1.0 - low[1]) * np.exp(x) / low[0]
        right = np.interp(np.exp(x), np.exp(points), before, right=high[1])
        return np.asarray(np.where(x < points[0], left, right))

    t = np.linspace(0.0, width, 3001)[:, None]
    p = np.expm1(width - t) / (np.exp(width - t) - np.exp(-t))
    return np.asarray(np.max(p * chords(points - t) + (1.0 - p) * chords(points - t + width), axis=0))


@pytest.mark.parametrize("short", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_a_few_rounds_on_a_coarse_grid_are_those_of_every_t(steps: int, short: float) -> None:
    """The window so wide that its ends do not matter; above, and hardly above, the same chords t by t."""
    step, rounds = 0.11, 3
    width = (steps - short) * step
    way = _Way(-4.0, 4.0, 0.25 * width**2 * rounds, 1.0)
    leg = _Leg(width, rounds, step, steps, short, True, 6.0, 0.0)
    grid, found = _iterate([leg], way, 1.001)  # an order at which the tail says nothing
    points = way.window(0.0, 6.0, step).points()
    wanted = np.maximum(0.0, -np.expm1(points))
    for _ in range(rounds):
        wanted = _step_by_step(wanted, points, width)
    inner = np.abs(points) < 1.5
    ours = found[np.searchsorted(grid.points(), points[inner] - 1e-9)]
    assert np.all(wanted[inner] * (1.0 - 1e-12) <= ours)
    assert np.all(ours <= wanted[inner] + 0.03 * rounds * step)


@pytest.mark.parametrize("rounds", [1, 40, 5000])
def test_the_answer_is_where_the_chord_of_what_was_computed_meets_delta(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all of it raised by 1e-13 for each round and for 16 more, which is for what rounding took."""
    grid = _Grid(-3, 12, 0.07)
    points = [mp.mpf(number) * mp.mpf(0.07) for number in range(-3, 9)]
    deltas = [mp.mpf(0.9) - mp.mpf(0.3) * mp.exp(x) for x in points]
    known = np.array([float(each) for each in deltas])
    monkeypatch.setattr(adaptive_range, "_iterate", lambda *_: (grid, known))
    for delta in (0.4, 0.45, 0.55):
        adaptive_range.forget()
        found = epsilon([(0.01, rounds)], delta, 0.5)
        adaptive_range.forget()
        least, most = (
            mp.log((mp.mpf(0.9) - mp.mpf(delta) / (1 + mp.mpf(10) ** -13 * (rounds + more))) / mp.mpf(0.3))
            for more in (10, 30)
        )
        assert found is not None
        assert least <= found - ABSOLUTE <= most + mp.mpf(10) ** -14


def test_a_width_of_nothing_costs_nothing() -> None:
    assert epsilon([(0.1, 3), (0.0, 2)], 1e-3, 0.3) == epsilon([(0.1, 3)], 1e-3, 0.3)


def test_the_order_of_widths_is_that_of_the_releases() -> None:
    def price(widths: list[tuple[float, int]]) -> float:
        found = epsilon(widths, 1e-2, 4.0)
        assert found is not None
        return found

    first, second = price([(1.0, 2), (0.25, 8)]), price([(0.25, 8), (1.0, 2)])
    dear = [(1.0, 2), (0.25, 8)] if first > second else [(0.25, 8), (1.0, 2)]
    assert (
        restricted_adversary(dear, min(first, second), 24) > 1e-2 > restricted_adversary(dear, max(first, second), 24)
    )
