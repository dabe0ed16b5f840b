"""Gains and leaves of boosting: their largest moves, from what one record more does, over all places where it is."""

import itertools
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant import BoundedRange
from accountant.arrays import FloatArray
from mechanisms.core.sensitivity import RangeSensitivity
from mechanisms.gradients import tree_gradients
from mechanisms.gradients.tree_gradients import (
    LevelChoice,
    gain_range,
    gains,
    leaf_values,
    leaf_values_l1,
    leaf_values_l2,
)
from mechanisms.randomness.sources import SeededNoise
from proofs_tests.support.mechanisms.just_above import just_above

PENALTIES = [0.01, 0.1, 1.0, 3.7, 40.0, 5000.0]


def test_units_are_what_the_claim_says() -> None:
    assert (tree_gradients.GRADIENT_UNIT, tree_gradients.LARGEST, tree_gradients.MOST_TREE_RECORDS) == (
        2.0**-20,
        2**20,
        2**32,
    )
    assert (tree_gradients.GAIN_ROUNDING, tree_gradients.VALUE_ROUNDING) == (2.0**-46, 2.0**-50)


def _purity(records: int, total: Fraction, penalty: Fraction) -> Fraction:
    return total**2 / (records + penalty)


def test_gains_are_those_of_both_children() -> None:
    totals = np.array([[7.0, 3.0 * 2**20], [2.0, -(2.0**19)]])
    inside = np.array([[[3.0, 2.5 * 2**20], [0.0, 0.0]], [[1.0, 2.0**20], [2.0, -(2.0**19)]]])
    found = gains(totals, inside, 0.5)
    half = Fraction(1, 2)
    wanted = [
        [
            _purity(3, Fraction(5, 2), half) + _purity(4, half, half),
            _purity(7, Fraction(3), half),
        ],
        [_purity(1, Fraction(1), half) + _purity(1, Fraction(-3, 2), half), _purity(2, -half, half)],
    ]
    assert found.tolist() == [pytest.approx([float(each) for each in row], rel=1e-14) for row in wanted]


def _both(part: float | mp.mpf, others: int, penalty: float) -> mp.mpf:
    """What S²/w gains where a record comes to as many of its own sign, and loses where all are of the other."""
    exact = mp.mpf(penalty)

    def moved(size: float | mp.mpf, total: float | mp.mpf) -> mp.mpf:
        return mp.mpf(total + 1) ** 2 / (size + 1 + exact) - mp.mpf(total) ** 2 / (size + exact)

    return moved(part, part) - moved(others - part, part - others)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 21, 150, 700])
def test_the_range_of_gains_is_the_most_over_all_parts(penalty: float, n: int) -> None:
    most = max(_both(part, n - 1, penalty) for part in range(n - 1))
    just_above(gain_range(n, penalty).value, 2 * most + mp.mpf(n) * mp.mpf(2) ** -46)


@pytest.mark.parametrize("penalty", [0.1, 30.0, 1e5, 1e8])
@pytest.mark.parametrize("n", [10**6, 2**32])
def test_the_range_of_gains_is_found_among_many(penalty: float, n: int) -> None:
    """By thirds, as it is concave in the part."""
    low, high = 0, n - 2
    while high - low > 4:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if _both(left, n - 1, penalty) < _both(right, n - 1, penalty):
            low = left
        else:
            high = right
    most = max(_both(part, n - 1, penalty) for part in range(low, high + 1))
    just_above(gain_range(n, penalty).value, 2 * most + mp.mpf(n) * mp.mpf(2) ** -46)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("others", [40, 149, 10**6])
def test_the_best_part_is_where_the_slope_is_0(penalty: float, others: int) -> None:
    """Between whole numbers too, by the derivatives of a definition in fifty digits."""
    with mp.workdps(50):
        low, high = mp.mpf(0), mp.mpf(others - 1)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if mp.diff(lambda p: _both(p, others, penalty), middle) > 0 else (low, middle)
    assert 0.5 < low < others - 1.5
    assert tree_gradients._best_part(others, penalty) == pytest.approx(float(low), rel=1e-7)


def test_the_best_part_may_be_at_an_end() -> None:
    """A record beside itself, or all others on its side."""
    found = [tree_gradients._best_part(others, penalty) for others, penalty in ((20, 1e-6), (3, 1e6), (1, 1.0))]
    ends = [max(range(others), key=lambda p: _both(p, others, penalty)) for others, penalty in ((20, 1e-6), (3, 1e6))]
    assert found == pytest.approx([*ends, 0.0], abs=1.0)
    assert found[0] < 0.1


def test_one_record_moves_no_gain_but_by_rounding() -> None:
    assert gain_range(1, 0.1).value == pytest.approx(2.0**-46)
    assert gain_range(0, 0.1).value == 0.0


@pytest.mark.parametrize("penalty", [0.1, 2.0])
def test_no_neighbours_move_gains_further(penalty: float) -> None:
    """All data of four records in two candidates' children: the range of what replacing one changes."""
    bits = list(itertools.product((0, 1), (0, 1), (-1, 1)))
    charged, most = gain_range(4, penalty).value, 0.0
    for others in itertools.combinations_with_replacement(bits, 3):
        scores = [_scores([*others, each], penalty) for each in bits]
        most = max(most, *(float(np.ptp(a - b)) for a, b in itertools.combinations(scores, 2)))
    assert 0.95 * charged < most <= charged


def _scores(records: list[tuple[int, int, int]], penalty: float) -> FloatArray:
    table = np.array(records, dtype=np.float64)
    inside = [[float(side.sum()), float(side @ table[:, 2]) * 2**20] for side in (table[:, 0], table[:, 1])]
    totals = np.array([[float(len(records)), float(table[:, 2].sum()) * 2**20]])
    return np.asarray(gains(totals, np.array([inside]), penalty)[0])


LEAVES = [(0.1, 1.0), (0.1, 0.3), (5.0, 0.2), (5.0, 0.05), (1.0, 0.5), (1.0, 2.0), (0.3, 0.01), (20.0, 1.0),
          (1.0, 0.3), (1.0, 1e-14)]  # fmt: skip


def _value(records: int, total: mp.mpf, penalty: float, bound: float) -> mp.mpf:
    return max(-mp.mpf(bound), min(mp.mpf(bound), -total / (records + mp.mpf(penalty))))


def _most_by_one_more(penalty: float, bound: float) -> mp.mpf:
    most = mp.mpf(0)
    for others in (0, 1, 2, 5):
        ends = [mp.mpf(others) * step / 32 for step in range(33)]
        ends.append(min(mp.mpf(others), mp.mpf(bound) * (others + mp.mpf(penalty))))
        values = (_value(others, end, penalty, bound) - _value(others + 1, end - 1, penalty, bound) for end in ends)
        most = max(most, *map(abs, values))
    return most


@pytest.mark.parametrize(("penalty", "bound"), LEAVES)
def test_the_bounds_on_leaves_are_attained_and_not_exceeded(penalty: float, bound: float) -> None:
    one = _most_by_one_more(penalty, bound)
    # In one leaf a gradient turns round, others or none beside it.
    inside = max(
        abs(_value(size, total + 1, penalty, bound) - _value(size, total - 1, penalty, bound))
        for size in (1, 2, 3)
        for total in (mp.mpf(step) * (size - 1) / 16 for step in range(-16, 17))
    )
    share = mp.mpf(2) ** -50
    just_above(leaf_values_l1(penalty, bound).value, max(2 * one, inside) + share)
    just_above(leaf_values_l2(penalty, bound).value, max(mp.sqrt(2) * one, inside) + share)


def test_leaves_are_clipped_means() -> None:
    cells = np.array([[3.0, 2.0 * 2**20], [0.0, 0.0], [1.0, -(2.0**20)], [9.0, 9.0 * 2**20]])
    assert leaf_values(cells, 1.0, 0.45).tolist() == [-0.45, 0.0, 0.45, -0.45]
    assert leaf_values(cells, 1.0, 5.0).tolist() == [-0.5, 0.0, 0.5, -0.9]


def test_a_level_costs_as_one_choice() -> None:
    randomizer = LevelChoice(0.7)
    cost = randomizer.cost(RangeSensitivity(3.0))
    assert isinstance(cost, BoundedRange)
    just_above(cost.epsilon, mp.mpf(0.7) * 3)
    assert randomizer.cost(RangeSensitivity(0.0)).epsilon == 0.0
    assert randomizer.parameters == (("eta", 0.7),)
    assert randomizer.claims == ("L2",)
    for wrong in (0.0, -1.0, 2.0**1001, float("nan")):
        with pytest.raises(ValueError, match="expected a"):
            LevelChoice(wrong)


def test_each_node_draws_from_its_own_scores() -> None:
    randomizer, noise = LevelChoice(0.7), SeededNoise(0)
    scores = np.array([[0.0, 1.0], [2.0, 0.0]])
    drawn = np.stack([randomizer.draw(scores, noise) for _ in range(4000)])
    assert drawn.dtype == np.intp
    chances = [float(np.exp(0.7) / (1.0 + np.exp(0.7))), float(1.0 / (1.0 + np.exp(1.4)))]
    assert drawn.mean(axis=0).tolist() == pytest.approx(chances, abs=0.03)
