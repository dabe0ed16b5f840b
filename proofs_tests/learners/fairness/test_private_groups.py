"""Intervals from noisy sums: by hand, at known values, so that a tenth less shows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from accountant.arrays import FloatArray
from learners.fairness.private_groups import NoisyValues, mean_shares, quantile, share_interval, whole_shares
from learners.fairness.private_measures import Estimate, _risks, _share_bounds, _table
from mechanisms.queries.group_queries import SHARE_ONE


def off(confidence: float, events: int) -> float:
    """The two-sided normal quantile by another route than the code's."""
    return float(norm.isf((1.0 - confidence) / (2 * events)))


@given(st.floats(0.01, 0.999), st.integers(1, 10_000))
def test_no_more_than_the_rest_is_outside_the_quantiles(confidence: float, events: int) -> None:
    """Both tails, of all events together."""
    assert events * 2.0 * norm.sf(quantile(confidence, events)) == pytest.approx(1.0 - confidence, rel=1e-9)


def test_one_interval_is_the_one_everybody_knows() -> None:
    assert quantile(0.95, 1) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize(
    ("given_sums", "low", "high"),
    [
        ((6.0, 4.0, 2.0, 1.0), 4.0 / 9.0, 8.0 / 11.0),
        ((6.0, 4.0, 7.0, 5.0), 0.0, 1.0),
        ((6.0, 4.0, 1.0, 5.0), 5.0 / 14.0, 1.0),
        ((-6.0, 4.0, 1.0, 2.0), 0.0, 0.0),
        ((-6.0, -4.0, 1.0, 2.0), 0.0, 1.0),
    ],
)
def test_a_share_is_between_the_extremes_of_both_numbers(
    given_sums: tuple[float, float, float, float], low: float, high: float
) -> None:
    part, rest, *slacks = given_sums
    found = share_interval(np.array([part]), np.array([rest]), *slacks)
    assert [each.item() for each in found] == pytest.approx([low, high])


# --- parity ----------------------------------------------------------------------------------------------------


def test_bounds_of_shares_by_hand() -> None:
    """Two groups, three cells: twelve numbers. Decoded by 1, ½, ⅜; ends are σ times the lengths of sums of these."""
    below, sigma = np.array([[100.0, 250.0, 400.0], [50.0, 300.0, 500.0]]), 3.0
    low, high = _share_bounds(below, sigma, 0.9)
    slack = sigma * off(0.9, 12)
    inside = slack * np.sqrt([1.0, 1.0 + 1 / 4])
    beyond = slack * np.sqrt([(3 / 8 - 1) ** 2 + 1 / 4 + 1, (3 / 8 - 1 / 2) ** 2 + (1 / 2 - 1) ** 2 + 1])
    part, rest = below[:, :2], below[:, 2:] - below[:, :2]
    np.testing.assert_allclose(low[:, :2], (part - inside) / (part - inside + rest + beyond), rtol=1e-6)
    np.testing.assert_allclose(high[:, :2], (part + inside) / (part + inside + rest - beyond), rtol=1e-6)
    assert low[:, 2].tolist() == high[:, 2].tolist() == [1.0, 1.0]


def test_shares_do_not_fall() -> None:
    """Where the noise falls, the neighbour's bound is the better one."""
    low, high = _share_bounds(np.array([[300.0, 200.0, 400.0]]), 1e-9, 0.9)
    np.testing.assert_allclose(low[0], [0.75, 0.75, 1.0])
    np.testing.assert_allclose(high[0], [0.5, 0.5, 1.0])


# --- risks -----------------------------------------------------------------------------------------------------


def test_intervals_of_risks_by_hand() -> None:
    """Three groups and everybody: eight numbers. Everybody's are sums of three."""
    values = np.array([[[300.0, 700.0]], [[800.0, 200.0]], [[250.0, 250.0]]])
    found = _risks(NoisyValues(values, 2.0, private=False), "abc", -1.0, 4.0, 0.9)
    slack = 2.0 * off(0.9, 8)
    low = [-1.0 + 4.0 * (part - slack) / whole for part, whole in ((300, 1000), (800, 1000), (250, 500))]
    high = [-1.0 + 4.0 * (part + slack) / whole for part, whole in ((300, 1000), (800, 1000), (250, 500))]
    all_low, all_high = (-1.0 + 4.0 * (1350.0 + sign * slack * math.sqrt(3)) / 2500.0 for sign in (-1, 1))
    assert [row.low for row in found.rows] == pytest.approx(low)
    assert [row.high for row in found.rows] == pytest.approx(high)
    assert [row.risk for row in found.rows] == pytest.approx([0.2, 2.2, 1.0])
    assert [row.n for row in found.rows] == [1000.0, 1000.0, 500.0]
    assert (found.risk, found.low, found.high) == pytest.approx((1.16, all_low, all_high))
    assert [row.gap for row in found.rows] == pytest.approx([0.96, 1.04, 0.16])
    assert [row.gap_low for row in found.rows] == pytest.approx(
        [all_low - high[0], low[1] - all_high, max(all_low - high[2], 0.0)]
    )
    assert [row.gap_high for row in found.rows] == pytest.approx(
        [all_high - low[0], high[1] - all_low, all_high - low[2]]
    )
    assert (found.deviation, found.confidence, found.private) == (2.0, 0.9, False)


# --- tables ----------------------------------------------------------------------------------------------------


def by_least_squares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(Σ s_1, …, Σ s_k, number) from k pairs of equal noise, and the covariance of that at σ = 1."""
    scores = len(sums)
    design = np.zeros((2 * scores, scores + 1))
    for score in range(scores):
        design[2 * score, score] = 1.0
        design[2 * score + 1, [score, -1]] = -1.0, 1.0
    solved = np.linalg.lstsq(design, sums.ravel(), rcond=None)[0]
    return np.asarray(solved), np.asarray(np.linalg.inv(design.T @ design))


@pytest.mark.parametrize("scores", [1, 2, 3, 5])
def test_means_are_those_of_least_squares_and_their_bounds_its_deviations(scores: int) -> None:
    """[group-risks] So no other reading of the release has less noise that is unbiased."""
    sums = np.random.default_rng(scores).uniform(400.0, 600.0, size=(scores, 2))
    solved, covariance = by_least_squares(sums)
    counts, shares, low, high = mean_shares(sums[np.newaxis], np.array([7.0]))
    assert counts.item() == pytest.approx(solved[-1])
    np.testing.assert_allclose(shares[0], solved[:-1] / solved[-1])
    slack = 7.0 * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(low[0], (solved[:-1] - slack[:-1]) / solved[-1])
    np.testing.assert_allclose(high[0], (solved[:-1] + slack[:-1]) / solved[-1])
    assert covariance[-1, -1] == pytest.approx(2.0 / scores)  # what `_table` takes it to be
    # The noise on what is not the sum of scores is as large: bounds are those of both.
    rest = np.append(-np.eye(scores)[0], 1.0)
    assert rest @ covariance @ rest == pytest.approx(covariance[0, 0])


def test_intervals_of_tables_by_hand() -> None:
    """Two groups with four intervals of two numbers each. Pairs that disagree about the number of records are moved."""
    values = np.array(
        [[[300.0, 700.0], [515.0, 515.0], [85.0, 885.0]], [[200.0, 300.0], [250.0, 250.0], [100.0, 400.0]]]
    )
    found = _table(NoisyValues(values, 3.0, private=False), "ab", -2.0, 10.0, 0.9)
    slack = 3.0 * off(0.9, 16) * math.sqrt(2 / 3)
    for row, n, parts in zip(found.rows, (1000.0, 500.0), ((300, 500, 100), (200, 250, 100)), strict=True):
        assert row.n == pytest.approx(n)
        for number, (each, unit, start) in enumerate(
            ((row.mean_label, 10.0, -2.0), (row.mean_prediction, 10.0, -2.0), (row.above, 1.0, 0.0))
        ):
            ends = [start + unit * (parts[number] + sign * slack) / n for sign in (0, -1, 1)]
            assert (each.value, each.low, each.high) == pytest.approx(tuple(ends))
        ends = [(n + sign * slack) / 1500.0 for sign in (0, -1, 1)]
        assert (row.share.value, row.share.low, row.share.high) == pytest.approx(tuple(ends))
    assert (found.deviation, found.confidence, found.private) == (3.0, 0.9, False)


def test_numbers_of_the_other_groups_are_off_by_all_their_noise() -> None:
    values = np.full((5, 3, 2), 500.0)
    found = _table(NoisyValues(values, 1.0, private=True), "abcde", 0.0, 1.0, 0.9)
    slack = off(0.9, 40) * math.sqrt(2 / 3)
    share = (1000.0 - slack) / (1000.0 - slack + 4000.0 + 2.0 * slack)
    assert found.rows[0].share.low == pytest.approx(share)
    assert found.private


def test_nobody_says_nothing() -> None:
    found = _table(NoisyValues(np.zeros((2, 3, 2)), 1.0, private=True), "ab", -1.0, 2.0, 0.9)
    assert found.rows[0].share == Estimate(0.0, 0.0, 1.0)
    assert found.rows[0].mean_label == Estimate(-1.0, -1.0, 1.0)


def test_places_between_bounds_are_whole() -> None:
    places = whole_shares(np.array([-9.0, -1.0, 0.0, 2.0, 3.0, 9.0]), -1.0, 3.0)
    assert places.tolist() == [0, 0, SHARE_ONE // 4, SHARE_ONE * 3 // 4, SHARE_ONE, SHARE_ONE]
