"""The range of a quantile's utilities over every pair of small neighbouring samples, and what is charged for it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from accountant import BoundedRange, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.quantiles import Candidates, PrivateQuantile, PrivateQuantiles, Tally, target_rank, utility_range
from mechanisms.randomness.sources import SeededNoise
from proofs_tests.support.mechanisms.just_above import just_above

LEVELS = (0.0, 0.05, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0)


def _utilities(level: float, counts: tuple[int, ...]) -> FloatArray:
    return Tally(Candidates(tuple(range(len(counts)))), np.array(counts, dtype=np.int64)).utilities(level)


def _counts(n: int, candidates: int) -> list[tuple[int, ...]]:
    return [counts for counts in itertools.product(range(n + 1), repeat=candidates) if sum(counts) == n]


def _neighbours(counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    moves = itertools.permutations(range(len(counts)), 2)
    pairs = [(down, above) for down, above in moves if counts[down]]
    return [tuple(c - (i == down) + (i == above) for i, c in enumerate(counts)) for down, above in pairs]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n", "candidates"), [(1, 1), (1, 2), (1, 3), (2, 3), (3, 2), (3, 4), (4, 3)])
def test_the_range_is_attained_and_not_exceeded(level: float, n: int, candidates: int) -> None:
    most = 0.0
    for counts in _counts(n, candidates):
        before = _utilities(level, counts)
        for other in _neighbours(counts):
            change = _utilities(level, other) - before
            most = max(most, float(np.max(change) - np.min(change)))
    assert utility_range(level, n, candidates) == most


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("counts", [(3,), (1, 0, 2), (0, 4, 0, 1), (2, 2, 2, 2)])
def test_utilities_are_ranks_from_the_target(level: float, counts: tuple[int, ...]) -> None:
    n = sum(counts)
    target = Fraction(round(Fraction(level) * n * 1024), 1024)
    assert Fraction(target_rank(level, n)) == target
    for place, utility in enumerate(_utilities(level, counts).tolist()):
        below, at_most = sum(counts[:place]), sum(counts[: place + 1])
        away = max(Fraction(below) - target, target - Fraction(at_most), Fraction(0))
        assert Fraction(utility) == -away


def test_ranks_are_whole_multiples_of_a_thousandth() -> None:
    for level, n in ((1.0 / 3.0, 10), (0.123456, 1001), (0.77, 10**6)):
        assert float(target_rank(level, n) * 1024).is_integer()
        assert abs(target_rank(level, n) - level * n) <= 1.0 / 2048.0
    for wrong in (-1e-9, 1.0 + 1e-9, math.nan, True):
        with pytest.raises(ValueError, match="level in"):
            target_rank(wrong, 10)
    for wrong_n in (0, -1, 2.0):
        with pytest.raises(ValueError, match="whole number"):
            target_rank(0.5, wrong_n)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="whole number"):
        utility_range(0.5, 10, 0)


@pytest.mark.parametrize("eta", [0.03, 1.7])
def test_the_cost_is_eta_times_the_range(eta: float) -> None:
    for points, level, wanted in (
        ((1.0,), 0.5, 0),
        ((1.0, 2.0), 0.5, 1),
        ((1.0, 2.0, 5.0), 0.5, 2),
        ((1.0, 2.0, 5.0), 0.0, 1),
    ):
        mechanism = PrivateQuantile(level, Candidates(points), 100, eta)
        assert mechanism.sensitivity.value == wanted
        assert isinstance(mechanism.cost, BoundedRange)
        just_above(mechanism.cost.epsilon, wanted * Fraction(eta))
        assert mechanism.adjacency == ReplaceOne()


def test_several_levels_are_one_plan_of_all_of_them() -> None:
    noise = SeededNoise(1)
    several = PrivateQuantiles((0.0, 0.25, 0.5), Candidates((1.0, 2.0, 5.0)), 100, 0.2, noise)
    assert all(mechanism.noise is noise for mechanism in several.mechanisms)
    costs = [mechanism.cost for mechanism in several.mechanisms]
    assert [cost.epsilon for cost in costs] == pytest.approx([0.2, 0.4, 0.4], rel=1e-11)
    assert [mechanism.level for mechanism in several.mechanisms] == [0.0, 0.25, 0.5]
    assert [each.n for each in several.mechanisms] == [100] * 3
    assert list(several.plan()) == costs
    for wrong in ((), (0.5, 0.5), (0.5, 0.2), (0.2, 0.5, 0.3), (0.5, 1.1)):
        with pytest.raises(ValueError, match="level"):
            PrivateQuantiles(wrong, Candidates((1.0, 2.0)), 100, 0.2)


def test_values_count_as_their_nearest_candidate() -> None:
    candidates = Candidates((0.0, 1.0, 3.0))
    assert len(candidates) == 3
    assert candidates.tally(np.array([-9.0, 0.5, 0.51, 1.9, 2.0, 2.1, 99.0])).counts.tolist() == [2, 3, 2]
    assert candidates.tally(np.array([])).counts.tolist() == [0, 0, 0]
    assert Candidates((-1.7e308, 1.7e308)).tally(np.array([-1.0, 1.0])).counts.tolist() == [1, 1]
    for values in (np.array([math.nan]), np.array([math.inf]), np.zeros((1, 1)), np.array(1.0)):
        with pytest.raises(ValueError, match="finite values of shape"):
            candidates.tally(values)
    for points in ((), (1.0, math.inf), (math.nan,), (1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(ValueError, match="candidates: expected"):
            Candidates(points)


def test_counts_may_be_found_when_they_are_asked_for() -> None:
    counts = np.array([1, 2], dtype=np.int64)
    assert Tally(Candidates((0.0, 1.0)), lambda: counts).counts is counts
    assert Tally(Candidates((0.0, 1.0)), counts).counts is counts


def test_data_that_the_price_is_not_for_are_refused() -> None:
    mechanism = PrivateQuantile(0.5, Candidates((0.0, 1.0)), 3, 1.0)
    mechanism.check(mechanism.candidates.tally(np.array([0.0, 0.0, 1.0])))
    with pytest.raises(ValueError, match="expected n = 3 records, got 2"):
        mechanism.check(mechanism.candidates.tally(np.array([0.0, 1.0])))
    with pytest.raises(ValueError, match="expected n = 3 records, got 4"):
        mechanism.check(mechanism.candidates.tally(np.array([0.0, 1.0, 1.0, 1.0])))
    with pytest.raises(ValueError, match="other candidates"):
        mechanism.check(Candidates((0.0, 2.0)).tally(np.array([0.0, 0.0, 1.0])))
