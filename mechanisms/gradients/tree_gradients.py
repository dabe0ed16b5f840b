"""What gradient boosting asks of its records: gains of candidate splits, and values of leaves.

Gradients are integers, multiples of `GRADIENT_UNIT` with |g| <= 1, so sums are exact and independent of the order of
records. A sensitivity is for one record replaced, n public. The record may leave one node and enter another, hence
bounds are for all nodes of a level together, and for all leaves of a tree.
"""

import math
from typing import Final

import attrs
import numpy as np

from accountant import BoundedRange
from accountant.arrays import FloatArray, IntArray
from accountant.costs import up
from mechanisms.core import L1Sensitivity, L2Sensitivity, Randomizer, RangeSensitivity, loss, scale
from mechanisms.randomness import NoiseSource

GRADIENT_UNIT: Final = 2.0**-20
"""The grid of gradients."""

LARGEST: Final = 2**20
"""The largest gradient, 1, in units."""

MOST_TREE_RECORDS: Final = 2**32
"""Records whose gradients sum exactly in double precision."""

GAIN_ROUNDING: Final = 2.0**-46
"""How far floating point can widen the range of a change of gains, per record.

A gain is at most n and off by less than 4·2^-53 of itself. Nodes that no replaced record touches have the very same
gains; two nodes, two candidates and two samples make 8·4·2^-53 = 2^-48 per record.
"""

STEPS: Final = 100
"""Halvings of an interval of fewer than 2^33 records: the best place in it is then known to the last digit."""

VALUE_ROUNDING: Final = 2.0**-50
"""The same for the norm of a change of leaf values: two leaves in two samples, each off by less than 2^-52."""


def gains(totals: FloatArray, inside: FloatArray, regularization: float) -> FloatArray:
    """S²/(m + λ) of both children of every candidate split, shape (nodes, splits). Source: Li et al. 2020, (2).

    totals: number of records and Σ gradient in units, shape (nodes, 2).  inside: the same of those for which a split
    holds, shape (nodes, splits, 2).  regularization: λ > 0.
    """
    return np.asarray(_purity(inside, regularization) + _purity(totals[:, None, :] - inside, regularization))


def _purity(cells: FloatArray, regularization: float) -> FloatArray:
    return np.asarray((cells[..., 1] * GRADIENT_UNIT) ** 2 / (cells[..., 0] + regularization))


def _rise(others: float, regularization: float) -> float:
    """The most that one more record changes S²/(m + λ) of a child with m others: 1 − λ²/(w(w + 1)), w = m + λ."""
    w = others + regularization
    return 1.0 - (regularization / w) * (regularization / (w + 1.0))


def _fall(others: float, regularization: float) -> float:
    """The most that it takes from it, where there are others: 3 − (4 + 4λ − λ²/w)/(w + 1)."""
    w = others + regularization
    return 3.0 - (4.0 + 4.0 * regularization - regularization * (regularization / w)) / (w + 1.0)


def _best_part(others: int, regularization: float) -> float:
    """p in [0, N − 1] where rise(p) + fall(N − p), which is concave there, is largest: by halving, on its slope.

    The best whole number is the one below it or the one above.
    """

    def rising(p: float) -> bool:
        w, v = p + regularization, others - p + regularization
        gained, lost = ((regularization / each) * (regularization / (each + 1.0)) for each in (w, v))
        falls = 4.0 * ((1.0 + regularization) / (v + 1.0)) / (v + 1.0) - lost * (1.0 / v + 1.0 / (v + 1.0))
        return gained * (1.0 / w + 1.0 / (w + 1.0)) > falls

    low, high = 0.0, float(others - 1)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) else (low, middle)
    return low


def gain_range(n: int, regularization: float) -> RangeSensitivity:
    """2·max over p of rise(p) + fall(n − 1 − p) over all choices of one split per node of a level. [dpboost-gain]

    p: whole, 0 … n − 2. Attained. One more record of gradient a in a child with m others, S the sum of theirs, changes
    S²/w, w = m + λ, by (a² + 2aS − S²/w)/(w + 1). With |a| <= 1 and |S| <= m that is at most `_rise` and, for m >= 1,
    at least −`_fall`. To rise in a child of one candidate and to fall in one of another takes others of opposite sign,
    and those that are in both children help neither: p for the rise and n − 1 − p for the fall is all there are. At
    most 8; where λ is large beside n, half of 2·(rise + fall)(n − 1). A record touches one child of every candidate of
    its node, and nothing elsewhere. Replacing is taking one away and adding another, in whatever nodes: twice as much.
    """
    if n <= 1:
        return RangeSensitivity(GAIN_ROUNDING * n)
    below = math.floor(_best_part(n - 1, regularization))
    parts = range(max(0, below - 1), min(n - 1, below + 3))
    widest = max(_rise(part, regularization) + _fall(n - 1 - part, regularization) for part in parts)
    return RangeSensitivity(up(2.0 * widest + GAIN_ROUNDING * n))


def leaf_values(cells: FloatArray, regularization: float, bound: float) -> FloatArray:
    """−S/(m + λ) clipped to [−bound, bound], shape (leaves,). cells: shape (leaves, 2), as for `gains`."""
    return np.asarray(np.clip(-(cells[:, 1] * GRADIENT_UNIT) / (cells[:, 0] + regularization), -bound, bound))


def _one_more(regularization: float, bound: float) -> float:
    """How far one more record moves the value of its leaf: min(2c, (1 + min(c, 1/(1 + λ)))/(2 + λ)). [dpboost-leaf]

    In a leaf of m others, (1 + min(c, m/(m + λ)))/(m + 1 + λ), which falls with m >= 1; in an empty one
    min(c, 1/(1 + λ)), which is no more.
    """
    return min(2.0 * bound, (1.0 + min(bound, 1.0 / (1.0 + regularization))) / (2.0 + regularization))


def leaf_values_l1(regularization: float, bound: float) -> L1Sensitivity:
    """All leaves of a tree: twice what one more record does, as one leaf loses it and another gains it. [dpboost-leaf]

    Inside one leaf a value moves by at most min(2c, 2/(1 + λ)), which is no more.
    """
    return L1Sensitivity(up(2.0 * _one_more(regularization, bound) + VALUE_ROUNDING))


def leaf_values_l2(regularization: float, bound: float) -> L2Sensitivity:
    """The same in ℓ2: √2 times it in two leaves, or min(2c, 2/(1 + λ)) in one. [dpboost-leaf]"""
    inside = min(2.0 * bound, 2.0 / (1.0 + regularization))
    return L2Sensitivity(up(max(math.sqrt(2.0) * _one_more(regularization, bound), inside) + VALUE_ROUNDING))


@attrs.frozen
class LevelChoice(Randomizer[FloatArray, RangeSensitivity, IntArray]):
    """One candidate per node with probability ∝ exp(eta·score), node by node. Cost: BoundedRange(eta·Δ), jointly. [L2]

    The nodes' choices together are one draw of the exponential mechanism over all ways to choose, scored by the sum
    over nodes; Δ is the range of the change of *that*: the sum, over the nodes, of the range of a node's change.
    """

    name = "LevelExponential"
    claims = ("L2",)
    eta: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta),)

    def cost(self, sensitivity: RangeSensitivity) -> BoundedRange:
        return BoundedRange(loss(self.eta, sensitivity))

    def draw(self, value: FloatArray, noise: NoiseSource) -> IntArray:
        return np.array([noise.exponential_choice(scores, self.eta) for scores in value], dtype=np.intp)
