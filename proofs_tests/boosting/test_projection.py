"""Exact capped scaling, against its definition and against another road to the same measure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from accountant.arrays import FloatArray
from boosting import BoundedMeasure, capped_scaling, joint_distance, kl_divergence, statistical_distance

levels = st.integers(1, 30)


@st.composite
def problems(draw: st.DrawFn) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.intp]], float]:
    size = draw(levels)
    logs = np.array(draw(st.lists(st.floats(-200.0, 200.0), min_size=size, max_size=size, unique=True)))
    counts = np.array(draw(st.lists(st.integers(0, 50), min_size=size, max_size=size)), dtype=np.intp)
    counts[draw(st.integers(0, size - 1))] += 1
    return logs, counts, draw(st.floats(0.01, 1.0))


@given(problems())
def test_density_is_exact_and_weights_are_a_capped_scaling(
    problem: tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.intp]], float],
) -> None:
    logs, counts, density = problem
    values = capped_scaling(logs, counts, density)
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert counts @ values == pytest.approx(density * counts.sum(), rel=1e-12)
    free = (values < 1.0) & (values > 1e-300) & (counts > 0)
    if np.count_nonzero(free) > 1:  # below the cap, weights keep their ratios
        scale = np.log(values[free]) - logs[free]
        assert np.ptp(scale) < 1e-9
    capped = (values == 1.0) & (counts > 0)
    if capped.any() and free.any():  # and whatever is capped is at least as heavy
        assert logs[capped].min() >= logs[free].max()


@given(st.lists(st.integers(-12, 12), min_size=2, max_size=40), st.floats(0.05, 0.99), st.floats(0.05, 0.6))
def test_agrees_with_root_finding_on_the_scale(margins: list[int], density: float, rate: float) -> None:
    kinds, counts = np.unique(margins, return_counts=True)
    weights = np.exp(-rate * kinds)

    def excess(log_scale: float) -> float:
        return float(counts @ np.minimum(1.0, np.exp(log_scale) * weights) - density * counts.sum())

    scale = np.exp(brentq(excess, -60.0, 60.0, xtol=1e-14))
    ours = capped_scaling(-rate * kinds, counts, density)
    assert ours == pytest.approx(np.minimum(1.0, scale * weights), rel=1e-9)


def test_weights_that_span_e_to_the_200_keep_their_projection() -> None:
    """Prefix-sum subtraction loses this one: 2 heavy records, 6 that weigh e^-200 of them, density 1/2."""
    values = capped_scaling(np.array([0.0, -200.0, -200.5]), np.array([2, 3, 3]), 0.5)
    assert values[0] == 1.0
    assert 3 * values[1] + 3 * values[2] == pytest.approx(2.0, rel=1e-12)
    assert values[2] / values[1] == pytest.approx(np.exp(-0.5), rel=1e-12)


@given(problems())
def test_it_is_the_kl_projection(
    problem: tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.intp]], float],
) -> None:
    """No other measure of the same density is closer in KL: checked along random feasible directions."""
    logs, counts, density = problem
    logs = logs / 40.0
    index = np.repeat(np.arange(logs.size), counts)
    projected = capped_scaling(logs, counts, density)[index]
    start = np.exp(logs)[index]
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = capped_scaling(np.log(rng.random(index.size) + 1e-9), np.ones(index.size, dtype=np.intp), density)
        mixed = 0.9 * projected + 0.1 * other
        assert kl_divergence(mixed, start) >= kl_divergence(projected, start) - 1e-9 * index.size


def test_measures_report_their_density_and_distances() -> None:
    measure = BoundedMeasure(np.array([0.5, 1.0]), np.array([0, 0, 1, 1]), 3.0)
    assert (measure.n, measure.density) == (4, 0.75)
    assert measure.distribution.tolist() == [1 / 6, 1 / 6, 1 / 3, 1 / 3]
    assert statistical_distance(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == 0.5
    assert kl_divergence(np.array([0.5]), np.array([0.5])) == 0.0
    assert kl_divergence(np.array([0.0, 1.0]), np.array([0.5, 0.5])) == pytest.approx(np.log(2.0))


def test_index_distance_is_blind_to_a_changed_record() -> None:
    """[001-Obs8] Equal distributions on [2], one record replaced: index distance 0, the error moves by 1/2."""
    half = np.array([0.5, 0.5])
    assert statistical_distance(half, half) == 0.0
    assert joint_distance(["a", "b"], half, ["a", "c"], half) == 0.5
    assert joint_distance(["a", "a"], half, ["a", "a"], half) == 0.0
