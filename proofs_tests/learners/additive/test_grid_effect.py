"""The posterior over a pair's cells against the rules of conditional Gaussians."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.additive.posteriors.grid_effect import GridEffect, axis_kernel

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


@given(sizes, st.booleans())
def test_an_axis_has_a_level_and_effects_that_add_up_to_nothing(cells: int, ordered: bool) -> None:
    kernel = axis_kernel(cells, ordered)
    assert np.all(np.linalg.eigvalsh(kernel) > -1e-12)
    assert np.mean(np.diag(kernel)) == pytest.approx(1.0 if cells == 1 else 2.0)
    assert np.allclose(kernel.sum(axis=0), cells)
    if ordered and cells > 3:
        assert kernel[0, 1] > kernel[0, 2] > kernel[0, 3]
    if not ordered and cells > 1:
        assert np.ptp(kernel[~np.eye(cells, dtype=bool)]) < 1e-12


@given(sizes, sizes, st.booleans(), st.booleans(), st.floats(0.01, 3.0), st.floats(0.01, 1.0))
def test_the_prior_variance_is_the_share_of_a_columns(
    one: int, other: int, first: bool, second: bool, prior: float, share: float
) -> None:
    effect = GridEffect.start((one, other), (first, second), prior, share)
    levels = 0.25 * (1.0 if one == 1 else 2.0) * (1.0 if other == 1 else 2.0)
    assert np.mean(np.diag(effect.covariance)) == pytest.approx(prior * share * levels)
    before = effect.covariance.copy()
    effect.drift(0.5 * prior)
    assert np.allclose(effect.covariance, 1.5 * before)
    effect.drift(0.0)
    assert np.allclose(effect.covariance, 1.5 * before)


@given(sizes, sizes, st.booleans(), seeds)
def test_updates_are_those_of_conditional_gaussians(one: int, other: int, ordered: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    effect = GridEffect.start((one, other), (ordered, False), 1.5, 0.4)
    cells = one * other
    precision = np.linalg.inv(effect.covariance + 1e-9 * np.eye(cells))
    seen, mean = np.zeros(cells), np.zeros(cells)
    for _ in range(3):
        noise, step = rng.exponential(size=cells) + 0.05, rng.normal(size=cells)
        seen += (step + effect.mean) / noise
        moved, unsure = effect.update(np.arange(cells), step, noise)
        gain = np.linalg.solve(precision + np.diag(1.0 / noise), np.diag(1.0 / noise))
        precision = precision + np.diag(1.0 / noise)
        mean = np.linalg.solve(precision, seen)
        assert np.allclose(effect.mean, mean, atol=1e-5)
        assert np.allclose(moved, gain @ step, atol=1e-5)
        assert np.allclose(unsure, gain**2 @ noise, atol=1e-5)
        assert np.allclose(effect.covariance, np.linalg.inv(precision), atol=1e-5)
    weight = rng.dirichlet(np.ones(cells))
    centred = effect.mean - weight @ effect.mean
    assert effect.spread(np.arange(cells), weight) == pytest.approx(weight @ (centred**2 - np.diag(effect.covariance)))


@pytest.mark.parametrize("variance", [0.0, 1e-300, 1e-10, 1e300])
def test_no_noise_breaks_an_update(variance: float) -> None:
    for shape, ordered in itertools.product([(1, 1), (6, 6), (16, 16)], [(True, True), (False, False)]):
        effect = GridEffect.start(shape, ordered, 3.0, 1.0)
        cells = effect.mean.size
        for _ in range(20):
            effect.drift(5.0)
            effect.update(np.arange(cells), np.ones(cells), np.full(cells, variance))
        assert np.all(np.isfinite(effect.mean))
        assert np.all(np.isfinite(effect.covariance))
