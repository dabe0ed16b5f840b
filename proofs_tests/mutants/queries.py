"""The papers' robust queries with sensitivities that are too small, and certificates that are."""

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from boosting import LazyBregman
from boosting.projection import capped_scaling
from boosting.reweighted_sample import Reweighted
from learners import EncodedSample, Layout, Schema
from learners.votes.one_rules import ONE_RULE_ERRORS, OneRule
from mechanisms import (
    ENTROPY_IMPROVEMENT,
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    LEAF_LABEL_WEIGHTS_L2,
    L1Sensitivity,
    L2Sensitivity,
    RangeSensitivity,
    RobustQuery,
    Slickness,
    centred_mean,
)
from mechanisms.queries.weighted_queries import WeightedCells, WeightedEdges, WeightedLeaves
from proofs_tests.harness import Pair, Report, check_robust_sensitivity
from proofs_tests.mutants.mutant import Mutant, both_ways
from proofs_tests.support.mechanisms.weighted import Cells, Edges

Bits = tuple[int, int, int]
"""Two features and a label, each 0 or 1."""

LAYOUT = Layout(Schema.boolean(["a", "b"]))


def certificate(zeta: float) -> Slickness:
    return Slickness(zeta, 10, ReplaceOne(), "mutants", ("L0",))


def cells(counts: Sequence[Sequence[int]]) -> Cells:
    """One leaf: the records per cell of two crossed splits, (negative, positive) each; uniform weights, ζ = 1/n."""
    weights = np.array(counts, dtype=np.float64).reshape(2, 2, 2)
    n = float(weights.sum())
    inside = np.stack([weights[1].sum(axis=0), weights[:, 1].sum(axis=0)])[None]
    return Cells(weights.sum(axis=(0, 1))[None] / n, inside / n, certificate(1.0 / n))


def leaves(counts: Sequence[Sequence[int]]) -> Cells:
    weights = np.array(counts, dtype=np.float64)
    n = float(weights.sum())
    return Cells(weights / n, np.zeros((len(counts), 1, 2)), certificate(1.0 / n))


def encoded(records: Sequence[Bits]) -> EncodedSample:
    table = np.array(records, dtype=np.intp)
    return EncodedSample(LAYOUT, np.ascontiguousarray(table[:, :2].T), np.where(table[:, 2], 1, -1).astype(np.int8))


# --- the papers' queries --------------------------------------------------------------------------------------------

ONE_FLIP: list[Pair[tuple[Bits, ...]]] = both_ways([Pair(((0, 0, 0), (1, 0, 0)), ((0, 0, 1), (1, 0, 0)))])


def one_rule_at(factor: float) -> Report:
    def sensitivity(zeta: float) -> RangeSensitivity:
        return RangeSensitivity(ONE_RULE_ERRORS.sensitivity(zeta).value / factor)

    start = LazyBregman(1.0, 0.5).start
    return check_robust_sensitivity(
        attrs.evolve(ONE_RULE_ERRORS, sensitivity=sensitivity),
        [pair.map(encoded).map(start) for pair in ONE_FLIP],
    )


FOUR_THOUSANDTHS = both_ways(
    [
        Pair(cells([[9929, 0], [9929, 0], [0, 70], [0, 71]]), cells([[9929, 0], [9929, 0], [0, 71], [0, 70]])),
        Pair(cells([[0, 9929], [0, 0], [1, 0], [70, 0]]), cells([[0, 9929], [0, 0], [0, 1], [70, 0]])),
        Pair(cells([[0, 9929], [70, 0], [1, 0], [0, 0]]), cells([[0, 9929], [70, 1], [0, 0], [0, 0]])),
        Pair(cells([[0, 1], [0, 9929], [70, 0], [0, 0]]), cells([[0, 0], [0, 9929], [70, 0], [1, 0]])),
        Pair(cells([[0, 0], [50, 1], [1, 50], [0, 0]]), cells([[0, 0], [50, 0], [2, 50], [0, 0]])),
        Pair(cells([[5000, 0], [0, 0], [1, 0], [0, 5000]]), cells([[5000, 0], [0, 0], [0, 1], [0, 5000]])),
        Pair(cells([[0, 5000], [1, 0], [0, 0], [5000, 0]]), cells([[0, 5000], [0, 0], [0, 1], [5000, 0]])),
    ]
)


def gini_at(factor: float) -> Report:
    def sensitivity(zeta: float) -> RangeSensitivity:
        return RangeSensitivity(GINI_IMPROVEMENT.sensitivity(zeta).value / factor)

    query: RobustQuery[WeightedCells, FloatArray, RangeSensitivity] = attrs.evolve(
        GINI_IMPROVEMENT, sensitivity=sensitivity
    )
    return check_robust_sensitivity(query, FOUR_THOUSANDTHS)


def entropy_with(sensitivity: Callable[[float], RangeSensitivity]) -> Report:
    query: RobustQuery[WeightedCells, FloatArray, RangeSensitivity] = attrs.evolve(
        ENTROPY_IMPROVEMENT, sensitivity=sensitivity
    )
    return check_robust_sensitivity(query, FOUR_THOUSANDTHS)


LEAF_PAIRS = both_ways(
    [Pair(leaves([[2, 1], [1, 1]]), leaves([[1, 1], [1, 2]])), Pair(leaves([[2, 1], [1, 1]]), leaves([[1, 2], [1, 1]]))]
)


def leaf_gaps_at(factor: float) -> Report:
    def sensitivity(zeta: float) -> L1Sensitivity:
        return L1Sensitivity(LEAF_GAPS.sensitivity(zeta).value / factor)

    query: RobustQuery[WeightedLeaves, FloatArray, L1Sensitivity] = attrs.evolve(LEAF_GAPS, sensitivity=sensitivity)
    return check_robust_sensitivity(query, LEAF_PAIRS)


def leaf_weights_at(factor: float) -> Report:
    def sensitivity(zeta: float) -> L2Sensitivity:
        return L2Sensitivity(LEAF_LABEL_WEIGHTS_L2.sensitivity(zeta).value / factor)

    query: RobustQuery[WeightedLeaves, FloatArray, L2Sensitivity] = attrs.evolve(
        LEAF_LABEL_WEIGHTS_L2, sensitivity=sensitivity
    )
    return check_robust_sensitivity(query, LEAF_PAIRS)


def centred_mean_at(factor: float) -> Report:
    true = centred_mean(1.0)

    def sensitivity(zeta: float) -> L2Sensitivity:
        return L2Sensitivity(true.sensitivity(zeta).value / factor)

    def edges(first: float) -> Edges:
        return Edges(np.array([[first, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5]), certificate(0.5))

    query: RobustQuery[WeightedEdges, FloatArray, L2Sensitivity] = attrs.evolve(true, sensitivity=sensitivity)
    return check_robust_sensitivity(query, both_ways([Pair(edges(1.0), edges(-1.0))]))


# --- certificates ---------------------------------------------------------------------------------------------------


def reweighted_as_uniform(forget: bool) -> Report:
    """κ = 1/2: a record can weigh 2/n. Counted as if every record weighed 1/n."""

    def sensitivity(zeta: float) -> RangeSensitivity:
        return ONE_RULE_ERRORS.sensitivity(0.25 if forget else zeta)

    booster = LazyBregman(0.5, 2.0)

    def weighted(records: Sequence[Bits]) -> Reweighted[EncodedSample]:
        return booster.step(booster.start(encoded(records)), OneRule(0, 1))

    pair = Pair(((0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 1)), ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)))
    query = attrs.evolve(ONE_RULE_ERRORS, sensitivity=sensitivity)
    return check_robust_sensitivity(query, both_ways([pair.map(weighted)]))


@attrs.frozen(eq=False)
class Weights:
    """Whether each record is misclassified, with its weight and a certificate."""

    wrong: FloatArray
    distribution: FloatArray
    slickness: Slickness


WEIGHTED_ERROR = RobustQuery[Weights, FloatArray, RangeSensitivity](
    "weighted-error",
    lambda data: np.array([0.0, float(data.wrong @ data.distribution)]),
    lambda zeta: RangeSensitivity(zeta + 1e-12),
    ReplaceOne(),
    (),
)


def index_distance(joint: bool) -> Report:
    """κ = 1: both weightings are 1/n for everyone, so that their distance *by index* is 0."""
    slickness = certificate(0.5 if joint else 1e-9)
    uniform = np.array([0.5, 0.5])
    wrong, right = (Weights(np.array([first, 0.0]), uniform, slickness) for first in (1.0, 0.0))
    return check_robust_sensitivity(WEIGHTED_ERROR, both_ways([Pair(wrong, right)]))


def projection(always: bool) -> Report:
    """κ·exp(−λ·margin), projected only where that is too sparse, or always. ζ = 1/(κn) is declared."""
    density, n = 0.1, 60

    def weighted(margins: FloatArray) -> Weights:
        measure: FloatArray = density * np.exp(-margins)
        if always or measure.sum() < density * n:
            counts = np.ones(n, dtype=np.intp)
            measure = capped_scaling(-margins, counts, density)
        wrong: FloatArray = np.where(margins < 0.0, 1.0, 0.0)
        return Weights(wrong, measure / measure.sum(), certificate(1.0 / (density * n)))

    others = [0.0] * (n - 1)
    return check_robust_sensitivity(
        WEIGHTED_ERROR, both_ways([Pair(np.array([-6.0, *others]), np.array([6.0, *others])).map(weighted)])
    )


PAPER = "claims.md §1, "

MUTANTS = (
    Mutant("1-Rules, range ζ", "an error moves by ζ, but its negation moves the other way", PAPER + "001 Thm 6",
           partial(one_rule_at, 2.0), partial(one_rule_at, 1.0), "sensitivity"),
    Mutant("1-Rules, range 1.6ζ", "a constant too small by 1.25", "issue 4", partial(one_rule_at, 1.25), None,
           "sensitivity"),
    Mutant("Gini, range 4ζ", "Lemma 15's 4ζ per candidate is false; and as a range it is half", PAPER + "001 Lemma 15",
           partial(gini_at, 2.0), partial(gini_at, 1.0), "sensitivity"),
    Mutant("Gini, range 6.4ζ", "a constant too small by 1.25", "issue 4", partial(gini_at, 1.25), None, "sensitivity"),
    Mutant("entropy priced as Gini", "entropy's slope is unbounded at pure leaves", "001-criterion-range",
           partial(entropy_with, GINI_IMPROVEMENT.sensitivity), partial(entropy_with, ENTROPY_IMPROVEMENT.sensitivity),
           "sensitivity"),
    Mutant("leaf labels charged for one leaf", "a replaced record leaves one leaf and enters another",
           PAPER + "001 Thm 2 and leaf labels", partial(leaf_gaps_at, 2.0), partial(leaf_gaps_at, 1.0), "sensitivity"),
    Mutant("leaf gaps, ℓ1 1.6ζ", "a constant too small by 1.25", "issue 4", partial(leaf_gaps_at, 1.25), None,
           "sensitivity"),
    Mutant("leaf weights in ℓ2, ζ", "the weight that leaves one cell enters another: √2·ζ", "001-leaf-labels",
           partial(leaf_weights_at, 2.0**0.5), partial(leaf_weights_at, 1.0), "sensitivity"),
    Mutant("centred mean, ℓ2 ζ", "a record may point the other way: 2ζ", "003-Thm27", partial(centred_mean_at, 2.0),
           partial(centred_mean_at, 1.0), "sensitivity"),
    Mutant("centred mean, ℓ2 1.6ζ", "a constant too small by 1.25", "issue 4", partial(centred_mean_at, 1.25), None,
           "sensitivity"),
    Mutant("forgotten ζ", "a κ-dense weighting can give one record 1/(κn), not 1/n", "001 §3, density",
           partial(reweighted_as_uniform, True), partial(reweighted_as_uniform, False), "sensitivity"),
    Mutant("index distance for ζ", "two records at the same place of the list count as the same", PAPER + "001 Obs. 8",
           partial(index_distance, False), partial(index_distance, True), "sensitivity"),
    Mutant("projection skipped where the measure is dense", "smoothness holds only at density exactly κ",
           PAPER + "001 Alg. 1", partial(projection, False), partial(projection, True), "sensitivity"),
)  # fmt: skip
