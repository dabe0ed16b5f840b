"""Curvatures of bins: what was released where noise lets it be seen, what earlier rounds said where it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray, IntArray
from learners.additive.curvatures import LEAST, LEAST_SHARE, Shares, Total, binned

seeds = st.integers(0, 2**32 - 1)


def made_up(seed: int) -> tuple[Shares, IntArray, FloatArray, FloatArray]:
    """Shares of some cells for some classes, bins, noisy curvatures of those, and a total."""
    rng = np.random.default_rng(seed)
    cells, heads = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    bins = int(rng.integers(1, cells + 1))
    part = np.sort(np.append(np.arange(bins), rng.integers(0, bins, size=cells - bins)))
    total = rng.uniform(1.0, 1000.0, size=heads)
    told = bool(rng.integers(2))
    return (
        Shares.start(rng.dirichlet(np.ones(cells)) + 1e-3, heads, told=told),
        part,
        rng.normal(50.0, 50.0, (bins, heads)),
        total,
    )


@given(seeds, st.floats(-300.0, 300.0))
def test_it_lies_between_what_was_seen_and_what_was_expected(seed: int, power: float) -> None:
    """And is positive, whatever the noise; shares stay shares."""
    shares, part, seen, total = made_up(seed)
    expected = binned(part, shares.mean, len(seen)) * total
    found = shares.learn(part, seen, total, 10.0**power)
    least = np.minimum(seen, expected)
    assert np.all(found > 0.0)
    assert np.all(found >= np.maximum(least, LEAST * expected) * (1.0 - 1e-9))
    assert np.all(found <= np.maximum(seen, expected) * (1.0 + 1e-9))
    assert shares.mean.sum(axis=0) == pytest.approx(np.ones(total.size), rel=1e-3)
    assert np.all(shares.mean >= LEAST_SHARE / len(shares.mean))
    assert np.all(np.isfinite(shares.unsure))


@given(seeds)
def test_without_noise_it_is_what_was_seen_and_under_much_what_was_expected(seed: int) -> None:
    shares, part, seen, total = made_up(seed)
    expected = binned(part, shares.mean, len(seen)) * total
    hidden = Shares(shares.mean, shares.unsure, shares.told).learn(part, seen, total, 1e30)
    assert hidden == pytest.approx(expected)
    clear = shares.learn(part, np.abs(seen) + expected, total, 1e-30)
    assert clear == pytest.approx(np.abs(seen) + expected)


@given(seeds)
def test_what_no_round_hides_is_shared_out_as_seen(seed: int) -> None:
    """Cells that are bins by themselves."""
    shares, _, _, total = made_up(seed)
    cells = len(shares.mean)
    seen = np.random.default_rng(seed).uniform(1e3, 2e3, (cells, total.size))
    shares.learn(np.arange(cells), seen, total, 1e-30)
    assert shares.mean == pytest.approx(seen / seen.sum(axis=0))


def test_it_is_nearer_than_a_release_by_itself() -> None:
    """Eight rounds of 300 records in bins of 6, under noise of three times what a bin has."""
    rng, errors = np.random.default_rng(0), list[tuple[float, float]]()
    for _ in range(200):
        true, sigma = rng.dirichlet(np.full(6, 5.0))[:, np.newaxis] * 75.0, 40.0
        shares, total = Shares.start(np.full(6, 1.0 / 6.0), 1, told=True), Total()
        for _ in range(8):
            seen = true + rng.normal(scale=sigma, size=true.shape)
            total.observe(seen.sum(axis=0), 6.0 * sigma**2)
            found = shares.learn(np.arange(6), seen, total.known(), sigma**2)
        errors.append((float(np.mean((found - true) ** 2)), float(np.mean((np.maximum(seen, 0.0) - true) ** 2))))
    ours, alone = np.mean(errors, axis=0)
    assert ours < 0.3 * alone


@pytest.mark.parametrize(
    ("cells", "sigma", "least"), [(200, 10.0, 0.95), (200, 60.0, 0.8), (42, 100.0, 0.85), (2, 30.0, 0.9)]
)
def test_a_cell_that_has_nearly_all_is_seen_at_once(cells: int, sigma: float, least: float) -> None:
    """900 of 1,000 in one of many cells that were taken to be alike: no earlier word outweighs what is plain."""
    rng, found = np.random.default_rng(0), list[float]()
    for _ in range(100):
        seen = rng.normal(scale=sigma, size=(cells, 1))
        seen[0] += 900.0
        shares = Shares.start(np.full(cells, 1.0 / cells), 1, told=False)
        found.append(float(shares.learn(np.arange(cells), seen, np.array([1000.0]), sigma**2)[0, 0]))
    assert np.mean(found) > least * 900.0


def test_noise_alone_is_hardly_ever_taken_for_more_than_was_expected() -> None:
    """Of 200 cells alike, all noise: a few in a thousand differ by more than three deviations."""
    rng, sigma = np.random.default_rng(0), 50.0
    shares = Shares.start(np.full(200, 1.0 / 200.0), 1, told=True)
    found = shares.learn(np.arange(200), 5.0 + rng.normal(scale=sigma, size=(200, 1)), np.array([1000.0]), sigma**2)
    assert np.mean(np.abs(found - 5.0) > 5.0) < 0.02


@given(seeds, st.floats(0.1, 100.0))
def test_the_total_is_known_better_with_every_round(seed: int, sigma: float) -> None:
    """Its variance falls to where as much drifts in as a round tells, and it is never less than its own noise."""
    rng, total = np.random.default_rng(seed), Total()
    before = np.inf
    for _ in range(200):
        total.observe(100.0 + rng.normal(scale=sigma, size=1), sigma**2)
        assert total.variance <= max(before, sigma**2) * (1.0 + 1e-9)
        assert np.all(total.known() >= np.sqrt(total.variance))
        before = total.variance
    assert total.variance < sigma**2
    assert abs(float(total.mean[0]) - 100.0) < 8.0 * np.sqrt(total.variance)
