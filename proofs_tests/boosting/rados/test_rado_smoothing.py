"""Smoothed rados: the logistic loss that they stand for, and that few of them then lead to a good classifier."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from boosting.rados.losses import all_rados, logistic_loss, logistic_rado_loss
from boosting.rados.rado_boost import rado_boost
from boosting.rados.smoothing import SIGNAL, enough_smoothing, smoothed, smoothed_logistic_loss

SHARES = st.floats(0.0, 0.999)


@given(st.integers(1, 10), st.integers(1, 3), SHARES, st.integers(0, 2**20))
def test_smoothed_rados_stand_for_flipped_labels_exactly(records: int, features: int, share: float, seed: int) -> None:
    """[000-smoothing] Over all rados, to 1e-12; a tenth more or less smoothing is another loss."""
    rng = np.random.default_rng(seed)
    edges, theta = rng.normal(size=(records, features)), rng.normal(size=features)
    found = logistic_rado_loss(smoothed(all_rados(edges), share), theta, records)
    assert found == pytest.approx(smoothed_logistic_loss(edges, theta, share), rel=1e-12, abs=1e-13)
    mean = abs(float(np.mean(edges @ theta)))
    for other in (0.9 * share, 1.1 * share):
        if other < 1.0 and share * mean > 1e-6:
            assert abs(found - smoothed_logistic_loss(edges, theta, other)) > 1e-8


@given(st.integers(1, 8), st.integers(0, 2**20))
def test_without_smoothing_it_is_lemma_2(records: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges, theta = rng.normal(size=(records, 2)), rng.normal(size=2)
    assert smoothed_logistic_loss(edges, theta, 0.0) == logistic_loss(edges, theta)
    assert np.array_equal(smoothed(edges, 0.0), edges)


@given(st.integers(2, 30), st.floats(0.0, 50.0), st.integers(0, 2**20))
def test_enough_smoothing_leaves_the_signal_asked_for(number: int, signal: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rados = rng.normal(size=(number, 3)) + signal * np.array([1.0, -1.0, 0.0])
    share = enough_smoothing(rados)
    left = smoothed(rados, share)
    strongest = float(np.max(np.abs(left.mean(axis=0)) / left.std(axis=0)))
    if share > 0.0:
        assert strongest == pytest.approx(SIGNAL, rel=1e-6)
    else:
        assert strongest <= SIGNAL * (1.0 + 1e-12)


def test_coordinates_that_never_vary_are_left_aside() -> None:
    rados = np.array([[1.0, 5.0], [-1.0, 5.0]])
    assert enough_smoothing(rados) == 0.0
    assert enough_smoothing(np.ones((3, 2))) == 0.0
    for bad in (-0.1, 1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="expected"):
            smoothed(rados, bad)


def errors(theta: FloatArray, edges: FloatArray) -> float:
    return float(np.mean(edges @ theta <= 0.0))


def test_few_rados_of_many_records_lead_astray_unless_they_are_smoothed() -> None:
    """500 rados of 5,000 records, a plane with margin nowhere near 0 for the mean: 11 % errors, and 2 % smoothed."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.0, 1.0, size=(5000, 3))
    edges = points * np.where(points[:, 0] > points[:, 1], 1.0, -1.0)[:, None]
    rados = rng.integers(0, 2, size=(500, 5000)) @ edges
    plain = rado_boost(rados, 1000)
    share = enough_smoothing(rados)
    better = rado_boost(smoothed(rados, share), 1000)
    assert share > 0.99
    assert errors(better.theta(better.best_round), edges) < 0.04
    assert errors(plain.theta(plain.best_round), edges) > 0.08
