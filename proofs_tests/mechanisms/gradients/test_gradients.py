"""Clipped gradients on public cells: exact sums, exhaustive sensitivities, and what the clipped loss learns."""

import itertools
import math

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import expit, softmax

from accountant import AddRemoveOne, ApproxDP, BasicComposition, Ledger, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from mechanisms import GaussianNoise, PlainMechanism, SeededNoise
from mechanisms.gradients.gradient_sums import (
    CLIP,
    CURVATURE_SCALE,
    MOST_GRADIENT_RECORDS,
    MOST_SCORE,
    ONE,
    SCORE_UNIT,
    TRUNCATED,
    WEIGHT_ONE,
    binary_sums,
    binary_terms,
    gradient_query,
    gradient_sensitivity,
    softmax_sums,
    softmax_terms,
)
from mechanisms.queries.histograms import Neighbours, histogram_query

BOTH: list[Neighbours] = [AddRemoveOne(), ReplaceOne()]


@attrs.frozen(eq=False)
class Sample:
    """Records in cells, as the queries see them."""

    cells: IntArray
    number: int
    labels: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int32] | None = None

    def rows(self, rows: IntArray | slice) -> "Sample":
        """Some of the records."""
        weights = None if self.weights is None else self.weights[rows]
        return Sample(self.cells[rows], self.number, self.labels[rows], self.scores[rows], weights)


def binary(n: int, seed: int, *, weighted: bool = False) -> Sample:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, WEIGHT_ONE + 1, n).astype(np.int32) if weighted else None
    return Sample(
        rng.integers(0, 7, n),
        7,
        rng.choice(np.array([-1, 1], dtype=np.int8), n),
        rng.integers(-(2**15), 2**15, n).astype(np.int32),
        weights,
    )


def many(n: int, classes: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2.0**12, (n, classes)).astype(np.int32)
    return Sample(rng.integers(0, 7, n), 7, rng.integers(0, classes, n).astype(np.int8), scores)


# --- sums ------------------------------------------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(0, 9), st.booleans())
def test_sums_are_exact_additive_and_blind_to_order(n: int, seed: int, weighted: bool) -> None:
    data = binary(n, seed, weighted=weighted)
    order = np.random.default_rng(seed).permutation(n)
    whole, shuffled = binary_sums(data), binary_sums(data.rows(order))
    assert np.array_equal(whole, shuffled)
    assert np.array_equal(whole, binary_sums(data.rows(slice(0, n // 3))) + binary_sums(data.rows(slice(n // 3, n))))


@given(st.integers(1, 200), st.integers(3, 12), st.integers(0, 9))
def test_softmax_sums_are_exact_additive_and_blind_to_order(n: int, classes: int, seed: int) -> None:
    data = many(n, classes, seed)
    order = np.random.default_rng(seed).permutation(n)
    assert np.array_equal(softmax_sums(data), softmax_sums(data.rows(order)))
    parts = softmax_sums(data.rows(slice(0, n // 2))) + softmax_sums(data.rows(slice(n // 2, n)))
    assert np.array_equal(softmax_sums(data), parts)


def test_a_record_adds_its_clipped_gradient_and_its_curvature() -> None:
    scores = np.arange(-8192, 8193, 512, dtype=np.int32)
    for label in (-1, 1):
        labels = np.full(scores.size, label, dtype=np.int8)
        sums = binary_sums(Sample(np.arange(scores.size), scores.size, labels, scores))
        p = expit(scores * SCORE_UNIT)
        gradient = np.clip((label > 0) - p, -CLIP / ONE, CLIP / ONE)
        assert np.allclose(sums[:, 0], gradient, atol=1.0 / ONE)
        assert np.allclose(sums[:, 1], CURVATURE_SCALE * p * (1 - p), atol=1.5 / ONE)


def test_softmax_of_two_opposite_scores_is_the_logistic_function() -> None:
    scores = np.arange(-4000, 4001, 250)
    both = np.stack([-scores, scores], axis=1).astype(np.int32)
    _, curvature = softmax_terms(both, np.zeros(scores.size, dtype=np.int8))
    p = expit(2 * scores * SCORE_UNIT)
    assert np.allclose(curvature[:, 1] / ONE, p * (1 - p), atol=3.0 / ONE)


def test_weights_are_shares_of_the_cap() -> None:
    data = binary(50, 3)
    half = attrs.evolve(data, weights=np.full(50, WEIGHT_ONE // 2, dtype=np.int32))
    assert np.array_equal(binary_sums(half), 0.5 * binary_sums(data))


# --- sensitivity -----------------------------------------------------------------------------------------------


def every_binary_vector() -> FloatArray:
    """What one record can add to its cell, over every score that the tables tell apart; shape (vectors, 2)."""
    scores = np.arange(-MOST_SCORE, MOST_SCORE + 1, dtype=np.int32)
    parts = []
    for label in (-1, 1):
        gradient, curvature = binary_terms(scores, np.full(scores.size, label, dtype=np.int8))
        parts.append(np.stack([gradient, CURVATURE_SCALE * curvature], axis=1) / ONE)
    return np.concatenate(parts)


def farthest(vectors: FloatArray) -> float:
    """The largest distance between two of the vectors: their convex hull has few corners."""
    angles = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    corners = vectors[np.unique(np.argmax(vectors @ directions.T, axis=0))]
    return float(np.max(np.linalg.norm(corners[:, None] - corners[None], axis=2)))


def test_two_classes_every_vector_within_the_bound_which_is_attained() -> None:
    vectors = every_binary_vector()
    longest = float(np.max(np.linalg.norm(vectors, axis=1)))
    added = gradient_sensitivity(AddRemoveOne(), 2).value
    assert 0.9999 * added < longest <= added
    replaced = gradient_sensitivity(ReplaceOne(), 2).value
    assert 0.999 * replaced < max(farthest(vectors), math.sqrt(2.0) * longest) <= replaced
    # A tenth less would be exceeded.
    assert longest > 0.9 * added
    assert farthest(vectors) > 0.9 * replaced


@pytest.mark.parametrize("classes", [3, 4, 10, 127])
def test_more_classes_within_the_bound_and_most_of_it_reached(classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores = np.concatenate([rng.normal(0.0, scale, (4000, classes)) for scale in (100.0, 1e3, 4e3)])
    # Certain and wrong, and undecided between two or three.
    for tied in (1, 2, 3):
        row = np.full((1, classes), -16000.0)
        row[0, :tied] = 0.0
        scores = np.concatenate([scores, row])
    labels = np.append(rng.integers(0, classes, scores.shape[0] - 3), [classes - 1] * 3).astype(np.int8)
    gradient, curvature = softmax_terms(scores.astype(np.int32), labels)
    vectors = np.concatenate([gradient, CURVATURE_SCALE * curvature], axis=1) / ONE
    longest = float(np.max(np.linalg.norm(vectors, axis=1)))
    bound = gradient_sensitivity(AddRemoveOne(), classes).value
    assert 0.9999 * bound < longest <= bound


def vectors_of(shares: FloatArray, label: int) -> FloatArray:
    """What records of these probabilities, shape (k, K), add to their cell; shape (k, 2K). They go through the code."""
    with np.errstate(divide="ignore"):
        scores = np.maximum(np.log(shares) / SCORE_UNIT, -(2.0**20))
    labels = np.full(len(shares), label, dtype=np.int8)
    gradient, curvature = softmax_terms(np.rint(scores).astype(np.int32), labels)
    return np.concatenate([gradient, CURVATURE_SCALE * curvature], axis=1) / ONE


def simplex(classes: int, parts: int) -> FloatArray:
    """All probabilities that are multiples of 1/parts."""
    whole = [each for each in itertools.product(range(parts + 1), repeat=classes - 1) if sum(each) <= parts]
    return np.array([(*each, parts - sum(each)) for each in whole]) / parts


@pytest.mark.parametrize(("classes", "parts"), [(3, 40), (4, 14), (5, 9)])
def test_replaced_records_of_many_classes_move_within_the_bound_which_is_attained(classes: int, parts: int) -> None:
    """[clipped-gradients] All pairs of a grid, and one that reaches it: gradients turned round, ½ and ½ against 1."""
    shares = simplex(classes, parts)
    bound = gradient_sensitivity(ReplaceOne(), classes).value
    first = vectors_of(shares, 0)
    farthest_pair = max(float(np.max(cdist(first, vectors_of(shares, label)))) for label in (0, 1))
    one, other = np.zeros((1, classes)), np.zeros((1, classes))
    one[0, :2], other[0, 0] = 0.5, 1.0
    reached = float(np.linalg.norm(vectors_of(one, 0) - vectors_of(other, 1)))
    assert farthest_pair <= bound
    assert 0.9998 * bound < reached <= bound
    assert reached > 0.9 * bound  # a tenth less would be exceeded


@pytest.mark.parametrize("classes", [3, 4, 10, 127])
def test_no_search_finds_a_replaced_record_that_moves_further(classes: int) -> None:
    """[clipped-gradients] Ascent from random pairs and from next to the farthest one; before rounding."""
    rng = np.random.default_rng(classes)
    clip = math.sqrt(2.0) * CLIP / ONE

    def moved(logits: FloatArray) -> float:
        added = []
        for label, row in enumerate(logits.reshape(2, classes)):
            shares = softmax(row)
            gradient = np.eye(classes)[label] - shares
            gradient *= min(1.0, clip / max(float(np.linalg.norm(gradient)), 1e-300))
            added.append(np.append(gradient, CURVATURE_SCALE * shares * (1.0 - shares)))
        return -float(np.linalg.norm(added[0] - added[1]))

    best = np.full(2 * classes, -12.0)
    best[[0, 1, classes]] = 0.0
    starts = [best + rng.normal(0.0, scale, best.size) for scale in (0.0, 0.5, 2.0)]
    starts += [rng.normal(0.0, scale, best.size) for scale in (1.0, 4.0)]
    found = [-minimize(moved, start, method="L-BFGS-B", options={"maxiter": 200}).fun for start in starts]
    exact = math.sqrt(4.0 * clip**2 + CURVATURE_SCALE**2 / 8.0)
    assert 0.9999 * exact < max(found) <= exact * (1.0 + 1e-12)
    assert exact <= gradient_sensitivity(ReplaceOne(), classes).value <= 1.0001 * exact


def test_what_the_multi_class_proof_says_of_its_constants() -> None:
    """[clipped-gradients] Where a factor of clipping is below c/√1.5, some p_j is above .98, and that pays for it."""
    clip, bend = CLIP / ONE, CURVATURE_SCALE
    least = bend / math.sqrt(1.5)
    assert 2.0 * clip**2 / least**2 - 1.0 > 0.98
    assert 1.5 * (0.98 * clip) ** 2 - TRUNCATED > 8.0 * bend**2 / 27.0
    assert (0.5 - 0.02) * 0.98 > 0.02
    two_cells = 4.0 * clip**2 + 8.0 * bend**2 / 27.0
    assert two_cells < 8.0 * clip**2 + bend**2 / 8.0


@given(st.sampled_from(BOTH), st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_whole_queries_move_by_no_more_than_they_say(adjacency: Neighbours, n: int, seed: int, weighted: bool) -> None:
    data = binary(n + 1, seed, weighted=weighted)
    query = gradient_query(adjacency, 2)
    first = data.rows(slice(0, n))
    kept = np.arange(1, n + 1) if adjacency == ReplaceOne() else np.arange(n + 1)
    distance = np.linalg.norm(query.evaluate(first) - query.evaluate(data.rows(kept)))
    assert distance <= query.sensitivity.value


@given(st.sampled_from(BOTH), st.integers(1, 12), st.integers(3, 6), st.integers(0, 10**6))
def test_whole_softmax_queries_move_by_no_more_than_they_say(
    adjacency: Neighbours, n: int, classes: int, seed: int
) -> None:
    data = many(n + 1, classes, seed)
    query = gradient_query(adjacency, classes)
    kept = np.arange(1, n + 1) if adjacency == ReplaceOne() else np.arange(n + 1)
    distance = np.linalg.norm(query.evaluate(data.rows(slice(0, n))) - query.evaluate(data.rows(kept)))
    assert distance <= query.sensitivity.value


@attrs.frozen(eq=False)
class Partitions:
    """For the histogram query."""

    partitions: list[IntArray]
    number: int


@pytest.mark.parametrize("adjacency", BOTH)
def test_histograms_move_by_just_what_they_say(adjacency: Neighbours) -> None:
    query = histogram_query(adjacency, 3)
    before = Partitions([np.array([0, 1]) for _ in range(3)], 4)
    rows = [np.array([0, 3]) if adjacency == ReplaceOne() else np.array([0, 1, 3]) for _ in range(3)]
    moved = float(np.linalg.norm(query.evaluate(Partitions(rows, 4)) - query.evaluate(before)))
    assert 0.99999 * query.sensitivity.value < moved <= query.sensitivity.value


# --- what the clipped loss learns ------------------------------------------------------------------------------


def clipped_loss(score: float, share: float) -> float:
    """Expected loss whose derivative is the clipped gradient, for a share of positive labels, by integration."""
    steps = np.linspace(0.0, score, 4001)
    slope = share * -np.minimum(expit(-steps), CLIP / ONE) + (1.0 - share) * np.minimum(expit(steps), CLIP / ONE)
    return float(np.trapezoid(slope, steps))


@pytest.mark.parametrize("share", [0.02, 0.2, 0.45, 0.55, 0.7, 0.95])
def test_the_minimiser_has_the_sign_of_the_log_odds_and_tells_them(share: float) -> None:
    best = minimize_scalar(lambda score: clipped_loss(score, share), bounds=(-8.0, 8.0), method="bounded").x
    assert np.sign(best) == np.sign(share - 0.5)
    clip = CLIP / ONE
    q = expit(-abs(best))
    told = clip / (clip + q)
    assert max(share, 1.0 - share) == pytest.approx(told, abs=2e-3)


# --- bad input, before the charge ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cells": np.array([0, 7])}, "outside the cells"),
        ({"cells": np.array([0, -1])}, "outside the cells"),
        ({"labels": np.array([0, 1], dtype=np.int8)}, "labels among"),
        ({"scores": np.zeros(3, dtype=np.int32)}, "2 scores"),
        ({"weights": np.array([0, WEIGHT_ONE + 1], dtype=np.int32)}, "weights from 0"),
        ({"weights": np.array([-1, 0], dtype=np.int32)}, "weights from 0"),
    ],
)
def test_data_outside_the_proof_is_refused_and_nothing_is_charged(change: dict[str, object], said: str) -> None:
    fine = Sample(np.array([0, 6]), 7, np.array([-1, 1], dtype=np.int8), np.zeros(2, dtype=np.int32))
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=AddRemoveOne())
    mechanism = PlainMechanism(gradient_query(AddRemoveOne(), 2), GaussianNoise(5.0), SeededNoise(0))
    data = ledger.protect(attrs.evolve(fine, **change))  # type: ignore[arg-type]  # each change is a wrong field
    with pytest.raises(ValueError, match=said):
        ledger.release(mechanism, data)
    assert ledger.spent == ApproxDP(0.0, 0.0)


def test_fewer_than_two_classes_and_too_many_records_are_refused() -> None:
    with pytest.raises(ValueError, match="two classes"):
        gradient_query(AddRemoveOne(), 1)
    assert MOST_GRADIENT_RECORDS * ONE * WEIGHT_ONE <= 2**53
