"""The exact price of adaptive bounded-range releases: against its recursion, and against fixed adversaries. [L5]"""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import gammaln

from accountant import BoundedRange, Plan, Step
from accountant.arrays import FloatArray
from accountant.composition import adaptive_range
from accountant.composition.dominating_pairs import bounded_range_profile


def high_probability(width: float, t: FloatArray) -> FloatArray:
    """P(loss = t) where the loss is t or t − width and E e^{−loss} = 1."""
    return np.asarray(np.expm1(width - t) / (np.exp(width - t) - np.exp(-t)))


def one_more(width: float, before: FloatArray, x: float, points: int) -> float:
    """max over a fine grid of t of one more release; `before` is δ on [x − width, x + width] as a function."""
    t = np.linspace(0.0, width, points)
    p = high_probability(width, t)
    return float(np.max(p * before[:points][::-1] + (1.0 - p) * before[points - 1 :][::-1]))


def two_rounds(width: float, x: float, points: int = 4001) -> float:
    """δ of two adaptive releases at x, from the closed profile of one, on a fine grid of t (a lower bound)."""
    grid = np.linspace(x - width, x + width, 2 * points - 1)
    return one_more(width, bounded_range_profile(width, grid), x, points)


def repeated(width: float, rounds: int, t: float, x: float) -> float:
    """δ at x of the two-candidate mechanism whose loss is t or t − width, repeated: exact."""
    truths = np.arange(rounds + 1, dtype=np.float64)
    choose = gammaln(rounds + 1.0) - gammaln(truths + 1.0) - gammaln(rounds - truths + 1.0)
    p = float(high_probability(width, np.array([t]))[0])
    law = choose + truths * math.log(p) + (rounds - truths) * math.log1p(-p)
    losses = truths * t - (rounds - truths) * (width - t)
    over = losses > x
    return float(np.sum(np.exp(law[over]) * -np.expm1(x - losses[over])))


def fixed_adversary(width: float, rounds: int, delta: float) -> float:
    """ε at δ of the worst two-candidate exponential mechanism repeated: a lower bound for any valid price."""

    def worst(x: float) -> float:
        return max(repeated(width, rounds, t, x) for t in np.linspace(0.0, width, 802)[1:-1])

    return float(brentq(lambda x: worst(x) - delta, 0.0, rounds * width, xtol=1e-9 * rounds * width))


@settings(max_examples=25)
@given(st.floats(0.01, 3.0), st.floats(0.05, 0.9))
def test_two_rounds_are_the_recursion(width: float, share: float) -> None:
    """δ of the returned ε is the target, to the resolution of the grid and never above it."""
    delta = two_rounds(width, 2.0 * width * share)
    found = adaptive_range.epsilon([(width, 2)], delta, 2.0 * width)
    assert found is not None
    assert two_rounds(width, found) <= delta * (1 + 1e-12)
    assert found <= 2.0 * width * share * 1.01 + 1e-9


@pytest.mark.parametrize("rounds", [1, 10, 100, 1000])
@pytest.mark.parametrize(("width", "delta"), [(0.02, 1e-6), (0.2, 1e-5), (0.05, 1e-9)])
def test_the_price_is_within_a_per_cent_of_the_two_candidate_mechanism(width: float, rounds: int, delta: float) -> None:
    """Never below what that mechanism really loses, and at most 1 % above. A tenth less would be below."""
    real = fixed_adversary(width, rounds, delta)
    price = Plan.of(BoundedRange(width), rounds).price(delta).best.epsilon
    assert real * (1 - 1e-7) <= price <= 1.01 * real
    assert 0.9 * price < real


def test_it_beats_every_other_theorem_by_several_per_cent_over_many_rounds() -> None:
    price = Plan.of(BoundedRange(0.02), 99).price(1e-5)
    others = [epsilon for name, epsilon in price.routes.items() if name != "bounded-range"]
    assert price.best.epsilon < 0.92 * min(others)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.floats(0.01, 0.3), st.integers(1, 20)), min_size=1, max_size=4), st.floats(1e-9, 1e-2))
def test_unequal_rounds_cost_between_their_narrowest_and_their_widest(
    runs: list[tuple[float, int]], delta: float
) -> None:
    plan = Plan(tuple(Step(BoundedRange(width), rounds) for width, rounds in runs))
    rounds = plan.rounds
    price = plan.price(delta).best.epsilon
    assert price <= Plan.of(BoundedRange(max(width for width, _ in runs)), rounds).price(delta).best.epsilon * 1.01
    low = Plan.of(BoundedRange(min(width for width, _ in runs)), rounds).price(delta).best.epsilon
    assert price >= 0.99 * low


def test_more_rounds_and_wider_rounds_cost_more() -> None:
    prices = [Plan.of(BoundedRange(0.05), rounds).price(1e-6).best.epsilon for rounds in (1, 2, 5, 20, 33, 100, 301)]
    assert prices == sorted(prices)
    wider = [Plan.of(BoundedRange(width), 40).price(1e-6).best.epsilon for width in (0.01, 0.1, 0.4, 0.6, 2.0)]
    assert wider == sorted(wider)


def test_a_loose_hint_only_costs_time_and_a_plan_that_is_too_long_is_left() -> None:
    tight = adaptive_range.epsilon([(0.1, 10)], 1e-5, 0.59)
    loose = adaptive_range.epsilon([(0.1, 10)], 1e-5, 1.0)
    assert tight is not None
    assert loose == pytest.approx(tight, rel=2e-3)
    assert adaptive_range.epsilon([(0.001, adaptive_range.MAX_ROUNDS + 1)], 1e-5, 1.0) is None
    assert adaptive_range.epsilon([(0.0, 10)], 1e-5, 1.0) is None


def restricted_adversary(widths: list[tuple[float, int]], x: float, fineness: int) -> float:
    """δ at x of an adversary who may only pick t on a grid: real releases, so a lower bound for any valid price.

    widths: (width, rounds) in the order of release, all multiples of the narrowest over `fineness`. No interpolation:
    every x that the recursion from the last release back to the first can reach is computed.
    """
    step = min(width for width, _ in widths) / fineness
    order = [round(width / step) for width, rounds in widths for _ in range(rounds)][::-1]
    left = sum(order)
    points = x + step * np.arange(-left, left + 1)
    deltas = np.maximum(0.0, -np.expm1(np.minimum(points, 0.0)))
    for steps in order:
        left -= steps
        size, t = 2 * left + 1, np.arange(steps + 1)
        high = high_probability(steps * step, np.asarray(t * step, dtype=np.float64))
        ahead = np.lib.stride_tricks.sliding_window_view(deltas, size)
        values = high[:, None] * ahead[steps - t] + (1.0 - high)[:, None] * ahead[2 * steps - t]
        deltas = values.max(axis=0)
    return float(deltas[0])


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10, 1e-14])
@pytest.mark.parametrize(
    ("widths", "fineness"),
    [
        ([(0.05, 3)], 64),
        ([(0.5, 8)], 32),
        ([(2.0, 6)], 24),
        ([(0.1, 40)], 10),
        ([(0.3, 60)], 8),
        ([(1.0, 2), (0.25, 8)], 12),
        ([(0.25, 8), (1.0, 2)], 12),
        ([(0.2, 10), (0.1, 20), (0.3, 5)], 8),
        ([(0.1, 3), (0.07, 5), (0.13, 4)], 28),
        ([(0.11, 10), (0.017, 60), (0.05, 10)], 17),
        ([(0.013, 60), (0.17, 4)], 13),
        ([(0.17, 4), (0.013, 60)], 13),
        ([(0.5, 2), (0.004, 40), (0.3, 3)], 4),
        ([(0.07, 1), (0.011, 1)] * 12, 11),
    ],
)
def test_no_adversary_gets_more_than_the_price(widths: list[tuple[float, int]], fineness: int, delta: float) -> None:
    """[L5] The window, its tails, the coarse cells, unequal widths and their order, all at once."""
    plan = Plan(tuple(Step(BoundedRange(width), rounds) for width, rounds in widths))
    found = plan.route("bounded-range", delta)
    assert found is not None
    assert restricted_adversary(widths, found, fineness) <= delta * (1 + 1e-12)
    assert plan.price(delta).best.epsilon <= found * (1 + 1e-12)
    # A price that is 10 % lower would be beaten, unless the adversary is far from its best on so coarse a grid.
    if found < 0.95 * sum(width * rounds for width, rounds in widths):
        assert restricted_adversary(widths, 0.9 * found, fineness) > delta


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    ("widths", "fineness"),
    [
        ([(0.2, 10), (0.02, 100)], 16),
        ([(0.02, 100), (0.2, 10)], 16),
        ([(0.11, 10), (0.017, 60), (0.05, 10)], 17),
        ([(0.1, 3), (0.07, 5), (0.13, 4)], 28),
        ([(0.17, 4), (0.013, 60)], 13),
        ([(0.013, 60), (0.17, 4)], 13),
        ([(0.07, 12), (0.011, 40), (0.07, 12)], 11),
        ([(0.07, 1), (0.011, 1)] * 20, 11),
        ([(1.3, 3), (0.7, 5), (0.2, 10)], 20),
        ([(0.02 * (12 - step), 4) for step in range(10)], 20),
    ],
)
def test_unequal_widths_cost_within_half_a_per_cent_of_an_adversary(
    widths: list[tuple[float, int]], fineness: int, delta: float
) -> None:
    """None of these widths is a multiple of another's grid; rounding them up to one cost up to 6 %."""
    found = Plan(tuple(Step(BoundedRange(width), rounds) for width, rounds in widths)).price(delta).best.epsilon
    assert restricted_adversary(widths, found, fineness) <= delta * (1 + 1e-12)
    assert restricted_adversary(widths, 0.995 * found, fineness) > delta


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 4)), min_size=1, max_size=6),
    st.floats(0.001, 0.03),
    st.floats(1e-12, 0.1),
)
def test_no_adversary_on_a_lattice_gets_more_whatever_the_widths(
    runs: list[tuple[int, int]], unit: float, delta: float
) -> None:
    widths = [(unit * steps, rounds) for steps, rounds in runs]
    found = Plan(tuple(Step(BoundedRange(width), rounds) for width, rounds in widths)).price(delta).best.epsilon
    assert restricted_adversary(widths, found, min(steps for steps, _ in runs)) <= delta * (1 + 1e-12)


@pytest.mark.parametrize("times", [2, 8])
def test_a_coarser_grid_keeps_values_and_a_finer_one_has_chords(times: int) -> None:
    """δ on another step: the same numbers, or chords in e^x, which are above a function that is convex in e^x."""
    tail, step = adaptive_range._Tail.of(30.0), 0.01
    grid = adaptive_range._Grid(-37, 90, step)
    profile = bounded_range_profile(0.3, grid.points())
    coarse = adaptive_range._on_step(profile, grid, -37 // times + 1, 50 // times, step * times, tail)
    assert np.array_equal(coarse, profile[(-37 // times + 1) * times + 37 : (50 // times) * times + 38 : times])
    low, high = -36 * times, 51 * times
    fine = adaptive_range._on_step(profile, grid, low, high, step / times, tail)
    points = np.arange(low, high + 1) * step / times
    assert np.all(fine >= bounded_range_profile(0.3, points) - 1e-15)
    assert np.allclose(fine[::times], profile[1:89], rtol=1e-13, atol=0.0)
    assert np.allclose(fine, np.interp(np.exp(points), np.exp(grid.points()), profile), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("short", [0.0, 0.25, 0.9])
def test_between_two_points_stands_their_chord(short: float) -> None:
    points = np.linspace(-0.5, 0.5, 101)
    profile = bounded_range_profile(0.3, points)
    found = adaptive_range._before(profile, short, 0.01)[1:]
    where = points[1:] - 0.01 * short
    assert np.all(found >= bounded_range_profile(0.3, where) - 1e-15)
    assert np.allclose(found, np.interp(np.exp(where), np.exp(points), profile), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("widths", [[0.1, 0.073, 0.0031], [1.0, 1.0 - 1e-12, 0.5 + 1e-13, 0.25], [0.3, 1e-9, 1e-300]])
def test_no_width_is_rounded_down(widths: list[float]) -> None:
    """What a leg is computed for is its width or more, and more by a thousandth of its step at most."""
    paid = [(width, 3) for width in widths]
    way = adaptive_range._Way.of(paid, 0.9, 1.0)
    for leg in adaptive_range._legs(paid, max(widths) / 48.0 * (1.0 + 1e-12), way):
        length = leg.steps - leg.short
        assert 0.0 <= leg.short < 1.0
        assert leg.width <= length * leg.step <= leg.width + 2.0**-9 * leg.step


def test_the_order_of_unequal_rounds_matters_and_is_kept() -> None:
    first = adaptive_range.epsilon([(1.0, 2), (0.25, 8)], 1e-2, 4.0)
    second = adaptive_range.epsilon([(0.25, 8), (1.0, 2)], 1e-2, 4.0)
    assert first is not None
    assert second is not None
    assert abs(first - second) > 0.02 * first
    # Each is above what its own adversary gets, and the dearer order is not covered by the cheaper price.
    dearer, cheaper = max(first, second), min(first, second)
    dear_widths = [(1.0, 2), (0.25, 8)] if first > second else [(0.25, 8), (1.0, 2)]
    assert restricted_adversary(dear_widths, cheaper, 24) > 1e-2 > restricted_adversary(dear_widths, dearer, 24)


@pytest.mark.parametrize(("width", "rounds", "order"), [(1.0, 100, 3.0), (0.2, 500, 4.0), (3.0, 20, 2.0)])
def test_what_stands_outside_the_window_is_above_what_a_mechanism_loses(
    width: float, rounds: int, order: float
) -> None:
    """δ of the two-candidate mechanism repeated, where that order is best; a divergence 10 % less would be below."""
    tail = adaptive_range._Tail.of(order)
    for _ in range(rounds):
        tail = tail.plus(width)
    losses, choices = np.linspace(0.0, rounds * width, 120), np.linspace(0.0, width, 42)[1:-1]
    real = np.array([max(repeated(width, rounds, t, x) for t in choices) for x in losses])
    assert np.all(real <= tail.at(0, losses.size, float(losses[1])))
    gained = tail.level - adaptive_range._Tail.of(order).level
    less = attrs.evolve(tail, level=tail.level - 0.1 * gained)
    assert np.any(real > less.at(0, losses.size, float(losses[1])))


def test_plans_that_would_take_seconds_are_left_to_others() -> None:
    assert adaptive_range.epsilon([(2.0, 8192)], 1e-5, 9000.0) is None
    assert Plan.of(BoundedRange(20.0), 1000).price(1e-15).best.epsilon <= 20_000.0
