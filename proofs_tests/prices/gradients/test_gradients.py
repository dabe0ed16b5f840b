"""Clipped gradients and curvatures: exact terms, their largest moves over all records, and what is refused."""

import itertools
import math

import attrs
import mpmath as mp
import numpy as np
import numpy.typing as npt
import pytest

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.gradients import gradient_sums
from mechanisms.gradients.gradient_sums import (
    binary_sums,
    binary_terms,
    check_cells,
    check_scored,
    gradient_query,
    gradient_sensitivity,
    softmax_sums,
    softmax_terms,
)
from mechanisms.queries.histograms import Neighbours
from proofs_tests.support.mechanisms.just_above import just_above

ONE, CLIP, MOST = 65536, 26624, 16384
C, BEND = mp.mpf(13) / 32, mp.mpf(1) / 2
"""The clip, and the unit of curvatures."""


@attrs.frozen(eq=False)
class Records:
    """Scored records in cells."""

    cells: npt.NDArray[np.intp]
    number: int
    labels: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int32] | None = None


def _records(
    cells: list[int],
    labels: list[int],
    scores: list[int] | list[list[int]],
    number: int = 2,
    weights: list[int] | None = None,
) -> Records:
    return Records(
        np.array(cells, dtype=np.intp),
        number,
        np.array(labels, dtype=np.int8),
        np.array(scores, dtype=np.int32),
        None if weights is None else np.array(weights, dtype=np.int32),
    )


def test_units_are_what_the_claim_says() -> None:
    assert (gradient_sums.ONE, gradient_sums.CLIP, gradient_sums.MOST_SCORE, gradient_sums.SCORE_UNIT) == (
        ONE,
        CLIP,
        MOST,
        2.0**-10,
    )
    assert (gradient_sums.ROUNDED, gradient_sums.TRUNCATED) == (2.0**-40, 2.0**-12)
    levels, table = gradient_sums._LEVELS, gradient_sums._EXPONENTIAL
    assert (levels.size, levels[0], levels[-1]) == (2 * MOST + 1, -MOST, MOST)
    assert (table.size, table[0], table[-1]) == (2 * MOST + 1, 2**24, 0)
    assert (gradient_sums.CURVATURE_SCALE, gradient_sums.WEIGHT_ONE) == (0.5, 1024)
    assert (gradient_sums.MOST_GRADIENT_RECORDS, gradient_sums.MOST_CELLS) == (2**27, 2**20)
    assert gradient_sums.MOST_UNWEIGHTED_RECORDS == 2**37


def _logistic(level: int) -> tuple[int, int, int]:
    """Of a score: ONE·clip(1 − p), ONE·clip(−p) and ONE·p(1 − p), with sixty digits and whole numbers."""
    cut = max(-MOST, min(MOST, level))
    p = int(mp.nint(ONE / (1 + mp.exp(-mp.mpf(cut) / 1024))))
    return min(ONE - p, CLIP), max(-p, -CLIP), p * (ONE - p) // ONE


def test_binary_terms_are_exact() -> None:
    levels = [*range(-17000, 17001, 61), -MOST - 1, -MOST, 1 - MOST, -1, 0, 1, MOST - 1, MOST, MOST + 1, 2**30]
    scores = np.array(levels, dtype=np.int32)
    wanted = [_logistic(level) for level in levels]
    up, bend = binary_terms(scores, np.ones(scores.size, dtype=np.int8))
    down, same = binary_terms(scores, -np.ones(scores.size, dtype=np.int8))
    assert up.tolist() == [float(each[0]) for each in wanted]
    assert down.tolist() == [float(each[1]) for each in wanted]
    assert bend.tolist() == same.tolist() == [float(each[2]) for each in wanted]


def test_the_bound_for_two_classes_is_attained_and_not_exceeded() -> None:
    scores = np.arange(-MOST - 3, MOST + 4, dtype=np.int32)
    ends = [np.stack(binary_terms(scores, np.full(scores.size, y, dtype=np.int8))) for y in (1, -1)]
    points = np.concatenate(ends, axis=1) / ONE * [[1.0], [0.5]]
    added = float(np.max(np.sum(points**2, axis=0)))
    # Between two records: a record only matters as a point, and there are few of largest and least gradient.
    hull = [points[:, points[0] == end] for end in (points[0].max(), points[0].min())]
    extremes = np.concatenate([part[:, [np.argmax(part[1]), np.argmin(part[1])]] for part in hull], axis=1)
    replaced = max(float(np.sum((extremes[:, [a]] - points) ** 2, axis=0).max()) for a in range(extremes.shape[1]))
    one, two = gradient_sensitivity(AddRemoveOne(), 2).value, gradient_sensitivity(ReplaceOne(), 2).value
    just_above(one, mp.sqrt(C**2 + BEND**2 / 16))
    just_above(two, mp.sqrt(4 * C**2 + BEND**2 / 16))
    assert 0.9999 * one**2 < added <= one**2
    assert 0.9999 * two**2 < replaced <= two**2
    # In two cells a record adds its point to one and takes it from the other.
    assert 2.0 * added <= two**2


def _softmax(scores: list[int], label: int) -> tuple[list[float], list[int]]:
    """The same for several classes: whole numbers but for the length."""
    top = max(scores)
    shares = [int(mp.nint(mp.exp(-mp.mpf(min(top - each, 2 * MOST)) / 1024) * 2**24)) for each in scores]
    whole = sum(shares)
    p = [share * ONE // whole for share in shares]
    g = [(ONE if k == label else 0) - each for k, each in enumerate(p)]
    length = mp.sqrt(sum(each**2 for each in g))
    factor = min(mp.mpf(1), mp.sqrt(2) * CLIP / length) if length else mp.mpf(1)
    return [float(mp.sign(each) * mp.floor(abs(each) * factor)) for each in g], [
        each * (ONE - each) // ONE for each in p
    ]


TRIPLES = [list(each) for each in itertools.product((-40000, -17000, -2500, -700, 0, 333, 1100, 30000), repeat=3)]


def _terms(classes: int, label: int, table: list[list[int]]) -> tuple[FloatArray, FloatArray]:
    rows = np.array(table, dtype=np.int32)[:, :classes]
    return softmax_terms(rows, np.full(len(table), label, dtype=np.int8))


@pytest.mark.parametrize("label", [0, 1, 2])
def test_softmax_terms_are_exact(label: int) -> None:
    table = TRIPLES[::7]
    gradient, bend = _terms(3, label, table)
    for row, scores in enumerate(table):
        wanted, curvature = _softmax(scores, label)
        assert gradient[row].tolist() == pytest.approx(wanted, abs=1.0)
        assert np.mean(gradient[row] == wanted) > 0.6
        assert bend[row].tolist() == [float(each) for each in curvature]


@pytest.mark.parametrize("classes", [3, 5])
def test_the_bound_for_many_classes_is_attained_and_not_exceeded(classes: int) -> None:
    rng = np.random.default_rng(0)
    table = [[*row, *[-2 * MOST] * (classes - 3)] for row in TRIPLES]
    table += rng.integers(-5000, 5000, (300, classes)).tolist()
    table += [[*(-each for each in row[:2]), *row[2:]] for row in table[:50]]
    table += [[0] * classes, [0, -2 * MOST, *[-2 * MOST] * (classes - 2)], [0, 0, *[-4 * MOST] * (classes - 2)]]
    points = np.concatenate(
        [np.concatenate([g, 0.5 * h], axis=1) / ONE for g, h in (_terms(classes, y, table) for y in (0, 1))]
    )
    # The largest Σh² and the longest gradient at once: three classes alike, the others impossible.
    alike = np.concatenate(
        [
            np.concatenate([g, 0.5 * h], axis=1) / ONE
            for g, h in (
                softmax_terms(
                    np.array([[0, 0, 0, *[-4 * MOST] * (classes - 3)]], dtype=np.int32), np.zeros(1, dtype=np.int8)
                ),
            )
        ]
    )
    lengths = np.sum(points**2, axis=1)
    distances = lengths[:, None] + lengths[None, :] - 2.0 * points @ points.T
    one, more = (gradient_sensitivity(relation, classes).value for relation in (AddRemoveOne(), ReplaceOne()))
    just_above(one, mp.sqrt(2 * C**2 + 4 * BEND**2 / 27 + mp.mpf(2) ** -40))
    just_above(more, mp.sqrt(8 * C**2 + BEND**2 / 8 + 4 * mp.mpf(2) ** -40 + 16 / mp.mpf(ONE)))
    assert lengths.max() <= one**2
    assert float(np.sum(alike**2)) > 0.999 * one**2
    assert 0.999 * more**2 < distances.max() <= more**2
    clipped = np.sum(points[:, :classes] ** 2, axis=1)
    assert clipped.max() <= float(2 * C**2)


def test_relations_are_told_apart() -> None:
    for classes in (2, 3):
        assert (
            gradient_sensitivity(ReplaceOne(), classes).value
            > 1.5 * gradient_sensitivity(AddRemoveOne(), classes).value
        )


@pytest.mark.parametrize("weights", [None, [1024, 512, 0, 1024]])
def test_sums_are_of_weighted_terms(weights: list[int] | None) -> None:
    cells, labels, scores = [0, 1, 0, 2], [1, -1, 1, -1], [0, 300, -200, 900]
    sums = binary_sums(_records(cells, labels, scores, 4, weights))
    wanted = np.zeros((4, 2))
    for cell, label, score, weight in zip(cells, labels, scores, weights or [1024] * 4, strict=True):
        rise, fall, bend = _logistic(score)
        wanted[cell] += np.array([rise if label > 0 else fall, 0.5 * bend]) / ONE * (weight / 1024)
    assert sums.tolist() == wanted.tolist()
    table = [[0, 0, 0], [300, 0, -5], [-200, 5, 9], [900, 0, 900]]
    many = softmax_sums(_records(cells, [0, 1, 2, 0], table, 4, weights))
    gradient, bends = softmax_terms(np.array(table, dtype=np.int32), np.array([0, 1, 2, 0], dtype=np.int8))
    expected = np.zeros((4, 3, 2))
    for row, (cell, weight) in enumerate(zip(cells, weights or [1024] * 4, strict=True)):
        expected[cell] += np.stack([gradient[row], 0.5 * bends[row]], axis=-1) / ONE * (weight / 1024)
    assert many.tolist() == expected.tolist()


RELATIONS: tuple[Neighbours, ...] = (AddRemoveOne(), ReplaceOne())


def test_queries_carry_the_bound() -> None:
    for relation, classes in itertools.product(RELATIONS, (2, 3, 7)):
        query = gradient_query(relation, classes)
        assert query.sensitivity == gradient_sensitivity(relation, classes)
        assert query.adjacency == relation
        assert query.claims == ("clipped-gradients",)
    two, three = gradient_query(ReplaceOne(), 2), gradient_query(ReplaceOne(), 3)
    records = _records([0, 1], [1, -1], [5, 6])
    assert two.evaluate(records).tolist() == binary_sums(records).tolist()
    many = _records([0, 1], [1, 2], [[5, 6, 7], [0, 0, 0]])
    assert three.evaluate(many).tolist() == softmax_sums(many).tolist()
    with pytest.raises(ValueError, match="a record is outside"):
        two.check(_records([0, 2], [1, -1], [5, 6]))
    for wrong in (0, 1, -1, 2.5):
        with pytest.raises(ValueError, match=r"two classes|whole number"):
            gradient_query(ReplaceOne(), wrong)  # type: ignore[arg-type]  # the point of the test


def test_records_outside_what_the_bound_holds_for_are_refused() -> None:
    check_scored(_records([0, 1], [1, -1], [5, 6], weights=[0, 1024]))
    check_scored(_records([], [], []))
    check_scored(_records([0, 1], [0, 2], [[5, 6, 7], [0, 0, 0]]))
    for cells in ([0, 2], [-1, 0], [2, 0], [0, -1]):
        with pytest.raises(ValueError, match="a record is outside"):
            check_scored(_records(cells, [1, -1], [5, 6]))
    for labels in ([1, 0], [0, 1], [2, 1], [1], [1, 1, 1], [1, -2]):
        with pytest.raises(ValueError, match="labels among -1 and 1"):
            check_scored(_records([0, 1], labels, [5, 6]))
    for labels in ([0, 3], [-1, 0], [0], [0, 1, 2]):
        with pytest.raises(ValueError, match="labels among 0 to 2"):
            check_scored(_records([0, 1], labels, [[5, 6, 7], [0, 0, 0]]))
    for scores in ([5], [5, 6, 7]):
        with pytest.raises(ValueError, match="expected 2 scores"):
            check_scored(_records([0, 1], [1, -1], scores))
    for weights in ([0, 1025], [-1, 0], [0], [1, 1, 1]):
        with pytest.raises(ValueError, match="weights from 0 to 1024"):
            check_scored(_records([0, 1], [1, -1], [5, 6], weights=weights))
    with pytest.raises(ValueError, match="expected 2 scores and 2 labels"):
        check_scored(Records(np.zeros(2, np.intp), 1, np.ones((2, 1), np.int8), np.zeros(2, np.int32)))


def test_more_records_or_cells_than_sums_are_exact_for_are_refused() -> None:
    many = np.broadcast_to(np.zeros(1, np.intp), (2**27 + 1,))
    small = np.zeros(1, np.intp)
    for cells, number in ((many, 2), (small, 2**20 + 1)):
        with pytest.raises(ValueError, match="expected at most"):
            check_cells(Records(cells, number, np.zeros(0, np.int8), np.zeros(0, np.int32)))
    check_cells(Records(many[1:], 2**20, np.zeros(0, np.int8), np.zeros(0, np.int32)))
    assert math.log2(gradient_sums.MOST_GRADIENT_RECORDS * gradient_sums.ONE * gradient_sums.WEIGHT_ONE) <= 53
    assert math.log2(gradient_sums.MOST_UNWEIGHTED_RECORDS * gradient_sums.ONE) <= 53
