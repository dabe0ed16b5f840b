"""The papers' robust queries: what they compute, and how far they move while two weightings stay ζ-close.

Throughout, ν = μ̂′ − μ̂ is the change of the weighting as a signed measure over *labelled points*. A joint distance
of at most ζ says that ν adds at most ζ in some places and takes away as much in others, whoever is reweighted.
"""

import math
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

import numpy as np
from scipy.special import entr

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import non_negative, positive, up
from mechanisms.core import Certified, L1Sensitivity, L2Sensitivity, RangeSensitivity, RobustQuery

LN2: Final = math.log(2.0)

Impurity: TypeAlias = Callable[[FloatArray], FloatArray]
"""A node's weight times a splitting criterion, from label weights of shape (..., 2) to shape (...)."""

WEIGHT_ROUNDING: Final = 2.0**-36
"""How far rounding may put a producer's weights from the exact ones, summed over records or cells.

In units of the total weight. What `boosting.LazyBregman` gives, summed in whole units, is below 2^-36.8 (see
`learners.votes.one_rules.SCORE_ROUNDING`); summing n weights one after another stays inside for n <= 2^16. The n
distinct weights of real-valued hypotheses are normalised by a pairwise sum, which stays inside.
"""

IMPROVEMENT_ROUNDING: Final = 2.0**-29
"""Bound on how far floating point can widen the range of a change of improvements (absolute, improvements in [0, 1]).

w·G moves by at most 4 per unit of weight, and an improvement reads off four pairs of weights (the children that
are subtractions inherit two errors), so it is off by 16·2^-36 and, evaluated, by less than 2^-48 more. Two samples
and two candidates make that 4 times as much: 2^-30 + 2^-46.
"""

ERROR_ROUNDING: Final = 2.0**-31
"""A quarter of it for errors, which move by at most 1 where Gini moves by 4: 4·4·2^-36, and evaluated 2^-48 more."""

ENTROPY_ROUNDING: Final = 2.0**-26
"""The same for entropy, which moves by at most H(e) bits where e of the weight is off: 2·H(2^-36) + H(2^-35) each."""

LEAF_ROUNDING: Final = 2.0**-34
"""The same for the ℓ1 norm of a change of leaf weights: 2^-36 per sample, and 2^-53 where gaps are subtracted."""

MEAN_ROUNDING: Final = 2.0**-33
"""The same for the ℓ2 norm of a change of the centred mean, in units of the radius.

Per sample: 2^-36 for the weights, 2^-36 for clipping at most 2^18 coordinates, and 2^-36 for sums of at most 2^16
blocks of 2^16 records, in whatever order BLAS takes them. Two samples: below 2^-33.4.
"""

RECORDS_PER_SUM: Final = 2**16
MOST_BLOCKS: Final = 2**16
MOST_COORDINATES: Final = 2**18

LARGEST_RADIUS: Final = 2.0**500
"""Radii stay where their squares and those of their reciprocals are ordinary floats."""


class WeightedLeaves(Certified, Protocol):
    """The weight of each label in each leaf of a tree that is public."""

    @property
    def leaf(self) -> FloatArray:
        """Σ μ̂(i) per leaf and label, shape (leaves, 2), label −1 first; sums to 1 within WEIGHT_ROUNDING."""


class WeightedCells(WeightedLeaves, Protocol):
    """The same with every leaf cut by every candidate split.

    Which leaves and splits there are may depend on released splits only. Leaving out empty leaves, say, would tell
    that they are empty.
    """

    @property
    def inside(self) -> FloatArray:
        """The part of `leaf` where a split holds, shape (leaves, splits, 2); per split within WEIGHT_ROUNDING."""


class WeightedEdges(Certified, Protocol):
    """Edge vectors under a distribution."""

    @property
    def edges(self) -> FloatArray:
        """yᵢ·xᵢ, shape (n, d), finite."""

    @property
    def distribution(self) -> FloatArray:
        """μ̂(i), shape (n,); sums to 1 within WEIGHT_ROUNDING."""


def gini(weights: FloatArray) -> FloatArray:
    """4·m·p/(m + p), 0 where both are 0: a node's weight w times G(q) = 4q(1 − q), in [0, w].

    weights: shape (..., 2), non-negative, m of label −1 and p of label +1.  Returns shape (...).
    """
    negative, positive = weights[..., 0], weights[..., 1]
    total = negative + positive
    share = np.divide(positive, total, out=np.zeros_like(total), where=total > 0.0)
    return np.asarray(4.0 * negative * share)


def entropy(weights: FloatArray) -> FloatArray:
    """A node's weight times the entropy of its labels in bits, in [0, weight]; 0 for an empty node.

    weights: shape (..., 2), non-negative.  Returns shape (...).
    """
    total = weights.sum(axis=-1)
    shares = np.divide(weights, total[..., None], out=np.zeros_like(weights), where=total[..., None] > 0.0)
    return np.asarray(total * entr(shares).sum(axis=-1) / LN2)


def error(weights: FloatArray) -> FloatArray:
    """min(m, p): the weight on which a node's heavier label errs, in [0, half the weight].

    weights: shape (..., 2), non-negative.  Returns shape (...).
    """
    return np.asarray(weights.min(axis=-1))


def improvements(impurity: Impurity, leaf: FloatArray, inside: FloatArray) -> FloatArray:
    """g(leaf) − g(child) − g(other child) for every leaf and split, g = impurity. Source: 001, section 4.2.

    impurity: `gini`, `entropy` or `error`.
    leaf: shape (leaves, 2).  inside: shape (leaves, splits, 2), see `WeightedCells`.
    Returns shape (leaves·splits,), in [0, 1]; candidate (l, s) is number l·splits + s.
    Raises ValueError for other shapes.
    """
    if leaf.ndim != 2 or inside.ndim != 3 or leaf.shape != (inside.shape[0], 2) or inside.shape[2] != 2:
        raise ValueError(f"expected shapes (leaves, 2) and (leaves, splits, 2), got {leaf.shape} and {inside.shape}")
    outside = np.maximum(leaf[:, None, :] - inside, 0.0)
    return np.asarray((impurity(leaf)[:, None] - impurity(inside) - impurity(outside)).ravel())


def gini_sensitivity(zeta: float) -> RangeSensitivity:
    """Range 2·G(min(ζ, ½)): 8ζ(1 − ζ) up to ζ = ½, then 2; attained. [001-Lem15], [001-Thm9], [001-criterion-range]

    8ζ follows from gradients: ∂g/∂p = 4(1 − q)² and ∂g/∂m = 4q² lie in [0, 4], and at any labelled point those of two
    improvements differ by at most 4, as in one leaf the parents cancel and in two leaves only one is not 0; ν adds ζ
    and takes away ζ. The factor 1 − ζ comes from the proof at `entropy_sensitivity`, which holds for Gini as well.
    """
    small = min(zeta, 0.5)
    return RangeSensitivity(up(8.0 * small * (1.0 - small) + IMPROVEMENT_ROUNDING))


def entropy_sensitivity(zeta: float) -> RangeSensitivity:
    """Range 2·H(min(ζ, ½)), H the binary entropy in bits; attained. [001-criterion-range]

    For every concave G, symmetric about ½ with G(0) = 0 and G(½) = 1, and g = w·G: adding mass d to mass w in a node
    changes g by at least 0 and at most f(w, d) = (w + d)·G(min(d/(w + d), ½)), the change when a pure node gets d of
    the other label: g is superadditive, and in a less pure node the slope of G at the share after is at most the one
    before. f is concave and homogeneous, so over disjoint nodes it adds up to at most f of the totals. Both
    weightings are a common part of mass 1 − ζ plus mass ζ; adding either moves the difference of two improvements by
    at most f(1 − ζ, ζ) = G(min(ζ, ½)) each way, as in one leaf the parents cancel and two leaves are disjoint.
    """
    small = min(zeta, 0.5)
    bits = -(small * math.log(small) + (1.0 - small) * math.log1p(-small)) / LN2
    return RangeSensitivity(up(2.0 * bits + ENTROPY_ROUNDING))


def error_sensitivity(zeta: float) -> RangeSensitivity:
    """Range 2·min(ζ, ½), a quarter of Gini's for small ζ; attained. [error-improvement]

    g = min(m, p) never falls when mass d is added to a node, and rises by at most d, over disjoint nodes by at most
    what each gets. For two splits of one leaf the parents cancel and each pair of children rises by [0, d], so their
    difference moves by at most d each way; in two leaves each improvement, g(leaf) less its children's, moves by at
    most the leaf's own d. Both weightings are a common part of mass 1 − ζ plus mass ζ: 2ζ. Improvements lie in
    [0, ½], so differences in [−½, ½], which is the bound from ζ = ½ on.
    """
    return RangeSensitivity(up(2.0 * min(zeta, 0.5) + ERROR_ROUNDING))


def leaf_weights_l1(zeta: float) -> L1Sensitivity:
    """ℓ1 2ζ for all leaves together, as |ν| is 2ζ; gaps add up cells with signs, so no more. [001-leaf-labels]"""
    return L1Sensitivity(up(2.0 * zeta + LEAF_ROUNDING))


def leaf_weights_l2(zeta: float) -> L2Sensitivity:
    """ℓ2 √2·ζ: what is added has length at most ζ, what is taken away too, in different cells. [001-leaf-labels]"""
    return L2Sensitivity(up(math.sqrt(2.0) * zeta + LEAF_ROUNDING))


def leaf_gaps_l2(zeta: float) -> L2Sensitivity:
    """ℓ2 2ζ, the ℓ1 bound; a flipped label puts all of it on one leaf. [001-leaf-labels]"""
    return L2Sensitivity(up(2.0 * zeta + LEAF_ROUNDING))


def leaf_label_weights(data: WeightedLeaves) -> FloatArray:
    """The weight of each label in each leaf, shape (leaves, 2), label −1 first."""
    return data.leaf


def leaf_gaps(data: WeightedLeaves) -> FloatArray:
    """Weight of label +1 minus weight of label −1, shape (leaves,), each in [−1, 1]."""
    return np.asarray(data.leaf[:, 1] - data.leaf[:, 0])


def gini_improvements(data: WeightedCells) -> FloatArray:
    """`improvements` in Gini impurity, shape (leaves·splits,)."""
    return improvements(gini, data.leaf, data.inside)


def entropy_improvements(data: WeightedCells) -> FloatArray:
    """`improvements` in entropy, in bits, shape (leaves·splits,)."""
    return improvements(entropy, data.leaf, data.inside)


def error_improvements(data: WeightedCells) -> FloatArray:
    """`improvements` in weighted error, shape (leaves·splits,): ½(Σ |gaps of children| − |gap of leaf|)."""
    return improvements(error, data.leaf, data.inside)


GINI_IMPROVEMENT: Final[RobustQuery[WeightedCells, FloatArray, RangeSensitivity]] = RobustQuery(
    "gini-improvement", gini_improvements, gini_sensitivity, ReplaceOne(), ("001-Thm9", "001-criterion-range")
)
"""Scores of TopDown's candidates (leaf, split), for the selection rules."""

ENTROPY_IMPROVEMENT: Final[RobustQuery[WeightedCells, FloatArray, RangeSensitivity]] = RobustQuery(
    "entropy-improvement", entropy_improvements, entropy_sensitivity, ReplaceOne(), ("001-criterion-range",)
)
"""The same by entropy, which moves by about ¼·log₂(e/ζ) times as much as Gini."""

ERROR_IMPROVEMENT: Final[RobustQuery[WeightedCells, FloatArray, RangeSensitivity]] = RobustQuery(
    "error-improvement", error_improvements, error_sensitivity, ReplaceOne(), ("error-improvement",)
)
"""The same by what a split adds to the accuracy of leaves that get their heavier label."""

LEAF_LABEL_WEIGHTS: Final[RobustQuery[WeightedLeaves, FloatArray, L1Sensitivity]] = RobustQuery(
    "leaf-label-weights", leaf_label_weights, leaf_weights_l1, ReplaceOne(), ("L1", "001-leaf-labels")
)
"""All leaves' label weights, for Laplace noise."""

LEAF_LABEL_WEIGHTS_L2: Final[RobustQuery[WeightedLeaves, FloatArray, L2Sensitivity]] = RobustQuery(
    "leaf-label-weights", leaf_label_weights, leaf_weights_l2, ReplaceOne(), ("L1", "001-leaf-labels")
)
"""The same for Gaussian noise."""

LEAF_GAPS: Final[RobustQuery[WeightedLeaves, FloatArray, L1Sensitivity]] = RobustQuery(
    "leaf-gaps", leaf_gaps, leaf_weights_l1, ReplaceOne(), ("L1", "001-leaf-labels")
)
"""All leaves' gaps: all that labels need, at half the variance of two noisy weights. For Laplace and `LeafLabels`."""

LEAF_GAPS_L2: Final[RobustQuery[WeightedLeaves, FloatArray, L2Sensitivity]] = RobustQuery(
    "leaf-gaps", leaf_gaps, leaf_gaps_l2, ReplaceOne(), ("L1", "001-leaf-labels")
)
"""The same for Gaussian noise."""


def public_radius(value: float) -> float:
    """A radius whose square is an ordinary float, as lengths are compared with it. Raises ValueError."""
    radius = positive(value)
    if not 1.0 / LARGEST_RADIUS <= radius <= LARGEST_RADIUS:
        raise ValueError(f"expected a radius between 2^-500 and 2^500, got {value!r}")
    return radius


def refuse_sizes(n: int, dimension: int) -> None:
    """Raise ValueError beyond 2^32 rows or 2^18 coordinates, where MEAN_ROUNDING is not proved."""
    if n > RECORDS_PER_SUM * MOST_BLOCKS or dimension > MOST_COORDINATES:
        raise ValueError(f"expected at most 2^32 rows and 2^18 coordinates, got {n} and {dimension}")


def row_lengths(rows: FloatArray) -> FloatArray:
    """|xᵢ|, shape (n,); infinite where it overflows, so that scaling takes such a row to 0, which is in the ball."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def clipped_mean(edges: FloatArray, distribution: FloatArray, radius: float) -> FloatArray:
    """Σ μ̂(i)·eᵢ over rows scaled into the ball ‖e‖₂ <= radius, shape (d,). Source: 003, section 5.2.

    edges: shape (n, d), finite.  distribution: shape (n,).  One BLAS call per 2^16 rows.
    Raises ValueError beyond 2^32 rows or 2^18 coordinates, where MEAN_ROUNDING is not proved.
    """
    refuse_sizes(*edges.shape)
    total = np.zeros(edges.shape[1])
    for start in range(0, edges.shape[0], RECORDS_PER_SUM):
        rows = np.asarray(edges[start : start + RECORDS_PER_SUM], dtype=np.float64)
        clipped = radius / np.maximum(row_lengths(rows), radius)
        total += (distribution[start : start + RECORDS_PER_SUM] * clipped) @ rows
    return total


def centred_mean(radius: float) -> RobustQuery[WeightedEdges, FloatArray, L2Sensitivity]:
    """Σ μ̂(i)·yᵢ·xᵢ with ‖x‖₂ clipped to `radius`: ℓ2 sensitivity 2·radius·ζ, half of what 003 charges. [003-Thm27]

    radius: *public*, in the unit of x, in [2^-500, 2^500]; never taken from the data. Raises ValueError outside.
    The change is ∫ y·x dν, at most radius·|ν|. Noise on it is `RobustGaussian` or `GammaNorm`; the halfspace learner
    must divide the noisy mean by its length, or its advantage is τ²/8 only.
    """
    ball = public_radius(radius)

    def mean(data: WeightedEdges) -> FloatArray:
        return clipped_mean(data.edges, data.distribution, ball)

    def sensitivity(zeta: float) -> L2Sensitivity:
        return L2Sensitivity(up(2.0 * ball * zeta + MEAN_ROUNDING * ball))

    return RobustQuery(f"centred-mean(radius={ball!r})", mean, sensitivity, ReplaceOne(), ("003-Thm27",))


class WeightedPoints(Certified, Protocol):
    """Labelled points of the unit ball under a distribution."""

    @property
    def mean(self) -> FloatArray:
        """Σ μ̂(i)·yᵢ·xᵢ, shape (d,), within rounding/2 of the true one of points that are in the ball, in ℓ2."""

    @property
    def rounding(self) -> float:
        """How far two computed means may be apart beyond what exact ones are."""


def unit_ball_mean(rounding: float) -> RobustQuery[WeightedPoints, FloatArray, L2Sensitivity]:
    """The centred mean of points that their holder keeps in the unit ball: what the halfspace learner releases.

    Sensitivity 2ζ + rounding: the change is ∫ y·x dν with |ν| <= 2ζ and |yx| <= 1. [003-Thm27]
    rounding: public, the largest that data may have; others are refused. Raises ValueError for a negative one.
    """
    most = non_negative(rounding)

    def mean(data: WeightedPoints) -> FloatArray:
        if not data.rounding <= most:
            raise ValueError(f"the sensitivity allows for rounding by {most!r}, the points for {data.rounding!r}")
        return data.mean

    def sensitivity(zeta: float) -> L2Sensitivity:
        return L2Sensitivity(up(2.0 * zeta + most))

    return RobustQuery(f"unit-ball-mean(rounding={most:.3g})", mean, sensitivity, ReplaceOne(), ("003-Thm27",))
