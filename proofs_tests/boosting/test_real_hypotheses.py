"""LazyBregman with real-valued hypotheses, rounded to a grid: the same certificate as with those of ±1."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray, SignArray
from boosting import LazyBregman, Reweighted, joint_distance

REALS = st.floats(-1.0, 1.0)


@attrs.frozen(eq=False)
class Table:
    """A sample on which hypothesis t says what stands in row t."""

    said: FloatArray
    labels: SignArray

    @property
    def n(self) -> int:
        return int(self.labels.size)


@attrs.frozen
class Row:
    number: int

    def predictions(self, sample: Table) -> FloatArray:
        return np.asarray(sample.said[self.number])


def after_all(booster: LazyBregman, sample: Table) -> Reweighted[Table]:
    state = booster.start(sample)
    for number in range(sample.said.shape[0]):
        state = booster.step(state, Row(number))
    return state


# --- real hypotheses -------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5), st.floats(0.05, 1.0), st.floats(0.01, 4.0))
def test_signs_given_as_floats_make_the_same_measure(
    seed: int, n: int, rounds: int, density: float, rate: float
) -> None:
    rng = np.random.default_rng(seed)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), (rounds, n))
    labels, booster = rng.choice(np.array([-1, 1], dtype=np.int8), n), LazyBregman(density, rate)
    whole = after_all(booster, Table(signs, labels))
    real = after_all(booster, Table(signs.astype(np.float64), labels))
    assert whole.margins.dtype.kind == "i"
    assert real.margins.dtype.kind == "f"
    assert real.measure.weights == pytest.approx(whole.measure.weights, rel=1e-10)
    assert real.slickness == whole.slickness


@given(st.data(), st.integers(2, 6), st.integers(1, 4), st.floats(0.05, 1.0), st.floats(0.01, 4.0))
def test_neighbours_keep_the_certificate(data: st.DataObject, n: int, rounds: int, density: float, rate: float) -> None:
    """One record replaced, its label and what every hypothesis says of it: as far as the certificate, no further."""
    rows = st.lists(st.lists(REALS, min_size=n + 1, max_size=n + 1), min_size=rounds, max_size=rounds)
    said = np.array(data.draw(rows))
    labels = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n + 1, max_size=n + 1)), dtype=np.int8)
    first, second = np.arange(n), np.append(np.arange(1, n), n)[np.argsort(np.append(np.arange(1, n), 0))]
    booster = LazyBregman(density, rate)
    states = [after_all(booster, Table(said[:, who], labels[who])) for who in (first, second)]
    # Records are told apart by their number: the largest joint distance that any points can have.
    distance = joint_distance(
        first.tolist(), states[0].measure.distribution, second.tolist(), states[1].measure.distribution
    )
    assert distance <= states[0].slickness.zeta * (1.0 + 1e-9)


def test_the_certificate_is_attained_and_a_tenth_less_fails() -> None:
    """The replaced record goes from right to wrong by every hypothesis, and is capped in the end."""
    n, booster = 50, LazyBregman(0.1, 1.0)
    right, wrong = np.full((6, n), 0.5), np.full((6, n), 0.5)
    right[:, 0], wrong[:, 0] = 1.0, -1.0
    labels = np.ones(n, dtype=np.int8)
    measures = [after_all(booster, Table(said, labels)).measure for said in (right, wrong)]
    points = list(range(n))
    distance = joint_distance(points, measures[0].distribution, ["other", *points[1:]], measures[1].distribution)
    zeta = booster.slickness(n, 7).zeta
    assert zeta == pytest.approx(0.2)
    assert 0.9 * zeta < distance <= zeta


def test_predictions_beyond_one_are_brought_back_and_nan_counts_as_nothing() -> None:
    """Else one record could outweigh what the certificate allows; refusing it would tell about the record."""
    said = np.array([[7.0, -math.inf, math.nan, 0.25]])
    state = after_all(LazyBregman(0.5, 1.0), Table(said, np.ones(4, dtype=np.int8)))
    assert state.margins.tolist() == [1.0, -1.0, 0.0, 0.25]
