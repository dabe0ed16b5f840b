"""Fixed sensitivities of the library's own queries beside two neighbours that reach them: charged, and moved.

For the table of prices in the benchmarks, and for the test that none is above the largest known move by more than a
fiftieth. Quantiles, re-weighted queries and objective perturbation have adversaries of their own, which reach them, in
`mechanisms/selection/test_quantiles.py`, `test_queries.py` and `test_objective.py`.
"""

import math
from collections.abc import Iterator

import attrs
import numpy as np

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import EdgeVectors, column_moments, paired_rados
from mechanisms.core.rows import MemoryRows
from mechanisms.gradients.feature_fits import one_pass_sgd, ridge_coefficients
from mechanisms.gradients.feature_queries import clipped_pull, joint_l2, joint_moments
from mechanisms.gradients.gradient_sums import CURVATURE_SCALE, ONE, binary_terms, gradient_sensitivity, softmax_terms
from mechanisms.gradients.tree_gradients import (
    GRADIENT_UNIT,
    gain_range,
    gains,
    leaf_values,
    leaf_values_l1,
    leaf_values_l2,
)
from mechanisms.queries.group_queries import SHARE_ONE, GroupedCells, GroupedShares, prefixes_query, shares_query
from mechanisms.queries.histograms import Neighbours
from mechanisms.rados.edge_vectors import edge_vectors
from proofs_tests.support.learners.unit_rows import Rows

RELATIONS: tuple[Neighbours, ...] = (AddRemoveOne(), ReplaceOne())
CERTAIN = 2**14


@attrs.frozen
class Charged:
    """name: of the query and its setting.  charged: the sensitivity.  moved: by a pair of neighbours."""

    name: str
    charged: float
    moved: float

    @property
    def ratio(self) -> float:
        """At least 1, or the sensitivity is too small."""
        return self.charged / self.moved


def length(change: FloatArray) -> float:
    return float(np.linalg.norm(change.ravel()))


def all_sensitivities() -> Iterator[Charged]:
    """Each with its largest known move."""
    yield from _gradients()
    yield from _gains()
    yield from _groups()
    yield from _moments()
    yield from _features()


def _softmax(scores: list[int], label: int) -> FloatArray:
    gradient, curvature = softmax_terms(np.array([scores], dtype=np.int32), np.array([label], dtype=np.int8))
    return np.concatenate([gradient, CURVATURE_SCALE * curvature], axis=1) / ONE


def _gradients() -> Iterator[Charged]:
    score = np.zeros(1, dtype=np.int32)
    ends = [
        np.stack(binary_terms(score + certain, np.array([label], dtype=np.int8)))[:, 0] * [1.0, CURVATURE_SCALE] / ONE
        for label, certain in ((1, 0), (-1, CERTAIN))
    ]
    three = _softmax([0, 0, 0], 0)
    turned = _softmax([0, 0, -2 * CERTAIN], 0) - _softmax([0, -2 * CERTAIN, -2 * CERTAIN], 1)
    for relation in RELATIONS:
        added = relation == AddRemoveOne()
        moves = (length(ends[0]), length(three)) if added else (length(ends[0] - ends[1]), length(turned))
        for classes, moved in zip((2, 3), moves, strict=True):
            charged = gradient_sensitivity(relation, classes).value
            yield Charged(f"gradients, {classes} classes, {relation.name}", charged, moved)


def _children(counts: FloatArray, regularization: float) -> FloatArray:
    """Gains of two candidates, from numbers of records and sums in both children, shape (2, 2, 2)."""
    return gains(
        counts[0].sum(axis=0)[None] / [1.0, GRADIENT_UNIT], counts[:, 0][None] / [1.0, GRADIENT_UNIT], regularization
    ).ravel()


def _gains() -> Iterator[Charged]:
    for n, regularization in ((1000, 0.1), (1000, 283.0), (100, 2828.0)):
        best = 0.0
        for positive in range(0, n, max(1, n // 200)):
            negative = n - 1 - positive
            base = np.array([[[positive, positive], [negative, -negative]]] * 2, dtype=np.float64)
            before, after = base.copy(), base.copy()
            before[0, 1] += 1.0
            before[1, 0] += 1.0
            after[0, 0] += 1.0
            after[1, 1] += 1.0
            best = max(best, float(np.ptp(_children(after, regularization) - _children(before, regularization))))
        yield Charged(f"gains, n = {n}, λ = {regularization:g}", gain_range(n, regularization).value, best)
    for regularization, bound in ((0.1, 1.0), (5.0, 0.2)):
        most = min(bound * (1.0 + regularization), 1.0)
        one, other = np.array([[2.0, 1.0 + most], [1.0, -most]]), np.array([[1.0, most], [2.0, -most - 1.0]])
        two = [leaf_values(cells / [1.0, GRADIENT_UNIT], regularization, bound) for cells in (one, other)]
        signs = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[1.0, -1.0], [0.0, 0.0]])
        inside = [leaf_values(cells / [1.0, GRADIENT_UNIT], regularization, bound) for cells in signs]
        name = f"leaves, λ = {regularization:g}, c = {bound:g}"
        changes = [pair[1] - pair[0] for pair in (two, inside)]
        l1 = leaf_values_l1(regularization, bound).value
        yield Charged(f"{name}, l1", l1, max(float(np.abs(each).sum()) for each in changes))
        yield Charged(f"{name}, l2", leaf_values_l2(regularization, bound).value, max(map(length, changes)))


def _groups() -> Iterator[Charged]:
    for relation in RELATIONS:
        added = relation == AddRemoveOne()
        zero, cells = np.zeros(1, dtype=np.intp), prefixes_query(relation, 500)
        one, other = (cells.evaluate(GroupedCells(zero + group, zero, 2, 500)) for group in (0, 1))
        yield Charged(
            f"prefixes of 500 cells, {relation.name}", cells.sensitivity.value, length(one if added else one - other)
        )
        shares = shares_query(relation, 3)
        some, none = (shares.evaluate(GroupedShares(zero, np.full((1, 3), end), 1)) for end in (SHARE_ONE, 0))
        yield Charged(
            f"shares of 3 scores, {relation.name}", shares.sensitivity.value, length(some if added else some - none)
        )


def _moments() -> Iterator[Charged]:
    ends = np.array([[-1.0, 1.0, -1.0, -1.0, 1.0], [1.0, -1.0, -1.0, 1.0, -1.0]])
    for groups, name in (((), "moments of columns"), (((1, 2, 3),), "moments, three columns one-hot")):
        query = column_moments(5, 1, groups)
        pair = ends if groups else np.array([[-1.0] * 5, [1.0] * 5])
        one, other = (query.evaluate(MemoryRows.of(EdgeVectors(end[None]), 1)) for end in pair)
        yield Charged(name, query.sensitivity.value, length(one - other))
    edge = EdgeVectors(np.array([[3.0, 4.0], [0.0, 0.0]]))
    for name, rados in (("edges", edge_vectors(5.0)), ("100 rados", paired_rados(100, 5.0, 2, 2, 0))):
        one, other = (rados.evaluate(EdgeVectors(sign * edge.edges).rows) for sign in (1.0, -1.0))
        yield Charged(name, rados.sensitivity.value, length(one - other))


def _features() -> Iterator[Charged]:
    e = np.eye(2)
    data = Rows(e[::-1].copy(), np.array([0.0, 1.0]))
    opposite = data.replaced(1, e[0], -1.0)
    for name, query in (
        ("gradient of cut residuals", clipped_pull(2, np.zeros(2), 0.5)),
        ("one pass of SGD", one_pass_sgd(2, 2, 1.0, 1, 0.5)),
    ):
        yield Charged(name, query.sensitivity.value, length(query.evaluate(data) - query.evaluate(opposite)))
    joint = joint_moments(2, 2, 1.0)
    across = data.replaced(1, np.array([0.5, math.sqrt(0.75)]), -1.0)
    yield Charged("joint moments, w = 1", joint_l2(1.0), length(joint.evaluate(data) - joint.evaluate(across)))
    for records in (400, 1000, 10_000):
        penalty = records ** (-1.0 / 3.0)
        ridge = ridge_coefficients(records, 2, penalty, 1.0)
        pull = 0.5 * math.sqrt((records - 1) / (penalty * records))
        sine = 2.0 * pull / (1.0 + math.sqrt(1.0 + 8.0 * pull**2))
        rows = np.zeros((records, 2))
        rows[:-1, 0] = math.sqrt(penalty * records / (records - 1))
        rows[-1] = -sine, math.sqrt(1.0 - sine**2)
        far = Rows(rows, np.ones(records))
        near = far.replaced(records - 1, rows[-1] * [1.0, -1.0], 1.0)
        moved = length(ridge.evaluate(far) - ridge.evaluate(near))
        yield Charged(f"ridge, m = {records}, default penalty", ridge.sensitivity.value, moved)
