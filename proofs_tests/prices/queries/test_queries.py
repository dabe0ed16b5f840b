"""Robust queries over every pair of small weightings that are ζ-close, and their bounds in sixty digits."""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import attrs
import mpmath as mp
import numpy as np
import pytest

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.core.robust import RobustQuery, Slickness
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, RangeSensitivity
from mechanisms.queries import weighted_queries
from mechanisms.queries.weighted_queries import (
    ENTROPY_IMPROVEMENT,
    ENTROPY_ROUNDING,
    ERROR_IMPROVEMENT,
    ERROR_ROUNDING,
    GINI_IMPROVEMENT,
    IMPROVEMENT_ROUNDING,
    LEAF_GAPS,
    LEAF_GAPS_L2,
    LEAF_LABEL_WEIGHTS,
    LEAF_LABEL_WEIGHTS_L2,
    LEAF_ROUNDING,
    MEAN_ROUNDING,
    WEIGHT_ROUNDING,
    WeightedCells,
    centred_mean,
    clipped_mean,
    entropy,
    error,
    error_sensitivity,
    gini,
    improvements,
    public_radius,
    refuse_sizes,
    row_lengths,
    unit_ball_mean,
)
from proofs_tests.support.mechanisms.just_above import just_above, spread

ZETAS = (1e-6, 0.013, 0.25, 0.4999, 0.5, 0.6, 1.0)


def _bits(share: mp.mpf) -> mp.mpf:
    return -(share * mp.log(share, 2) + (1 - share) * mp.log(1 - share, 2))


BOUNDS: dict[
    str, tuple[RobustQuery[WeightedCells, FloatArray, RangeSensitivity], Callable[[mp.mpf], mp.mpf], float]
] = {
    "gini": (GINI_IMPROVEMENT, lambda share: 8 * share * (1 - share), 2.0**-29),
    "entropy": (ENTROPY_IMPROVEMENT, lambda share: 2 * _bits(share), 2.0**-26),
    "error": (ERROR_IMPROVEMENT, lambda share: 2 * share, 2.0**-31),
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("zeta", ZETAS)
def test_ranges_are_twice_the_criterion_of_the_distance(name: str, zeta: float) -> None:
    query, bound, rounding = BOUNDS[name]
    just_above(query.sensitivity(zeta).value, bound(min(mp.mpf(zeta), mp.mpf(1) / 2)) + mp.mpf(rounding), within=5e-12)


SLICK = Slickness(0.1, 4, ReplaceOne(), "Measure()", ())


@attrs.frozen(eq=False)
class Leaves:
    """Weights of labels in leaves, and inside of splits."""

    leaf: FloatArray
    inside: FloatArray
    slickness: Slickness = SLICK


UNITS = 4
KINDS = list(itertools.product((0, 1), (0, 1), (0, 1)))
"""Two splits of one leaf and the label, or one leaf of two, its split and the label."""


def _distributions() -> list[tuple[int, ...]]:
    """All ways to share out four units of weight over eight kinds of points."""
    bars = itertools.combinations(range(UNITS + 7), 7)
    return [tuple(b - a - 1 for a, b in itertools.pairwise((-1, *each, UNITS + 7))) for each in bars]


def _leaves(units: tuple[int, ...], *, two_leaves: bool) -> Leaves:
    leaf, inside = np.zeros((2 if two_leaves else 1, 2)), np.zeros((2, 1, 2) if two_leaves else (1, 2, 2))
    for (first, second, label), weight in zip(KINDS, units, strict=True):
        share = weight / UNITS
        if two_leaves:
            leaf[first, label] += share
            inside[first, 0, label] += share * second
        else:
            leaf[0, label] += share
            inside[0, :, label] += share * np.array([first, second])
    return Leaves(leaf, inside)


@pytest.mark.parametrize("two_leaves", [False, True])
@pytest.mark.parametrize("moved", [1, 2])
def test_bounds_hold_for_all_weightings_and_are_attained(two_leaves: bool, moved: int) -> None:
    units = np.array(_distributions())
    close = np.abs(units[:, None, :] - units[None, :, :]).sum(axis=2) <= 2 * moved
    all_leaves = [_leaves(tuple(each), two_leaves=two_leaves) for each in units.tolist()]
    zeta = moved / UNITS
    for query, _, rounding in BOUNDS.values():
        values = np.array([query.evaluate(each) for each in all_leaves])
        changes = (values[:, None, :] - values[None, :, :])[close]
        most = float(np.max(changes.max(axis=1) - changes.min(axis=1)))
        charged = query.sensitivity(zeta).value
        assert most <= charged
        if not two_leaves:
            assert most >= charged - 1.1 * rounding - 1e-11
    for bound, values in _leaf_values(all_leaves, zeta):
        changes = (values[:, None, :] - values[None, :, :])[close]
        lengths = np.abs(changes).sum(axis=1) if isinstance(bound, L1Sensitivity) else np.sqrt((changes**2).sum(axis=1))
        assert bound.value - 1.1 * LEAF_ROUNDING - 1e-11 <= float(np.max(lengths)) <= bound.value


def _leaf_values(all_leaves: list[Leaves], zeta: float) -> Iterator[tuple[L1Sensitivity | L2Sensitivity, FloatArray]]:
    """The bound of each query, and its values."""
    for query in (LEAF_GAPS, LEAF_LABEL_WEIGHTS):
        yield query.sensitivity(zeta), np.array([query.evaluate(each).ravel() for each in all_leaves])
    for other in (LEAF_GAPS_L2, LEAF_LABEL_WEIGHTS_L2):
        yield other.sensitivity(zeta), np.array([other.evaluate(each).ravel() for each in all_leaves])


@pytest.mark.parametrize("zeta", ZETAS)
def test_bounds_on_leaves_and_means(zeta: float) -> None:
    z = mp.mpf(zeta)
    for bound in (LEAF_GAPS.sensitivity, LEAF_GAPS_L2.sensitivity, LEAF_LABEL_WEIGHTS.sensitivity):
        just_above(bound(zeta).value, 2 * z + mp.mpf(2) ** -34)
    just_above(LEAF_LABEL_WEIGHTS_L2.sensitivity(zeta).value, mp.sqrt(2) * z + mp.mpf(2) ** -34)
    for radius in (0.3, 1.0, 1e9):
        just_above(centred_mean(radius).sensitivity(zeta).value, mp.mpf(radius) * (2 * z + mp.mpf(2) ** -33))
    for rounding in (0.0, 1e-5, 0.3):
        just_above(unit_ball_mean(rounding).sensitivity(zeta).value, 2 * z + mp.mpf(rounding))


def test_bounds_on_leaves_are_rounded_up() -> None:
    for zeta in spread(0.001, 0.9, 100):
        z, share = mp.mpf(zeta), mp.mpf(2) ** -34
        for bound in (LEAF_GAPS.sensitivity, LEAF_GAPS_L2.sensitivity, LEAF_LABEL_WEIGHTS.sensitivity):
            just_above(bound(zeta).value, 2 * z + share)
        just_above(LEAF_LABEL_WEIGHTS_L2.sensitivity(zeta).value, mp.sqrt(2) * z + share)
        just_above(error_sensitivity(zeta).value, 2 * min(z, mp.mpf(1) / 2) + mp.mpf(2) ** -31)


def test_means_of_single_precision_are_taken_in_double() -> None:
    rows = np.random.default_rng(0).standard_normal((500, 3)).astype(np.float32)
    weights = np.full(500, 1.0 / 500.0)
    found = clipped_mean(rows, weights, 1.5)  # type: ignore[arg-type]  # as it comes
    assert found == pytest.approx(clipped_mean(rows.astype(np.float64), weights, 1.5), abs=1e-13)


def test_norms_are_those_of_their_noise() -> None:
    assert type(LEAF_LABEL_WEIGHTS.sensitivity(0.1)) is type(LEAF_GAPS.sensitivity(0.1)) is L1Sensitivity
    assert type(LEAF_LABEL_WEIGHTS_L2.sensitivity(0.1)) is type(LEAF_GAPS_L2.sensitivity(0.1)) is L2Sensitivity
    for query in (
        GINI_IMPROVEMENT,
        ENTROPY_IMPROVEMENT,
        ERROR_IMPROVEMENT,
        LEAF_GAPS,
        centred_mean(1.0),
        unit_ball_mean(0.0),
    ):
        assert query.adjacency == ReplaceOne()


def test_roundings_are_as_derived() -> None:
    """Each a power of two above what its derivation comes to, and less than twice that."""
    weight = mp.mpf(2) ** -36
    derived = {
        WEIGHT_ROUNDING: weight,
        IMPROVEMENT_ROUNDING: 4 * (16 * weight + mp.mpf(2) ** -48),
        ERROR_ROUNDING: 4 * (4 * weight + mp.mpf(2) ** -48),
        ENTROPY_ROUNDING: 4 * (2 * _bits(weight) + _bits(2 * weight) + mp.mpf(2) ** -48),
        LEAF_ROUNDING: 2 * (weight + mp.mpf(2) ** -53),
        MEAN_ROUNDING: 6 * weight,
    }
    for rounding, needed in derived.items():
        assert needed <= rounding < 2 * needed
    assert (weighted_queries.RECORDS_PER_SUM, weighted_queries.MOST_BLOCKS, weighted_queries.MOST_COORDINATES) == (
        2**16,
        2**16,
        2**18,
    )
    assert weighted_queries.LARGEST_RADIUS == 2.0**500


PAIRS = [(0.0, 0.0), (0.25, 0.25), (0.5, 0.0), (0.0, 0.5), (0.1, 0.3), (0.3, 0.1)]


@pytest.mark.parametrize(("minus", "plus"), PAIRS)
def test_criteria_are_their_definitions(minus: float, plus: float) -> None:
    weights = np.array([[minus, plus]])
    total = Fraction(minus) + Fraction(plus)
    share = Fraction(plus) / total if total else Fraction(0)
    assert gini(weights)[0] == pytest.approx(float(4 * total * share * (1 - share)), abs=1e-16)
    assert error(weights)[0] == min(minus, plus)
    bits = float(total) * float(_bits(mp.mpf(share.numerator) / share.denominator)) if 0 < share < 1 else 0.0
    assert entropy(weights)[0] == pytest.approx(bits, abs=1e-15)


def test_improvements_are_parents_less_children() -> None:
    leaf = np.array([[0.3, 0.4], [0.2, 0.1]])
    inside = np.array([[[0.3, 0.1], [0.0, 0.4], [0.1, 0.1]], [[0.0, 0.0], [0.2, 0.0], [0.1, 0.1]]])
    found = improvements(error, leaf, inside)
    wanted = [
        min(*parent) - min(*child) - min(*(parent - child))
        for parent, children in zip(leaf, inside, strict=True)
        for child in children
    ]
    assert found.tolist() == pytest.approx(wanted, abs=1e-15)
    assert improvements(error, leaf, inside + 1e-9)[1] == pytest.approx(0.3, abs=1e-8)
    over = np.array([[[0.31, 0.4]]])
    assert improvements(gini, leaf[:1], over)[0] == pytest.approx(float(gini(leaf[0]) - gini(over[0, 0])), abs=1e-15)
    # A child that rounding makes heavier than its parent leaves nothing to the other.
    less = np.array([[[0.31, 0.35]]])
    assert improvements(gini, leaf[:1], less)[0] == pytest.approx(float(gini(leaf[0]) - gini(less[0, 0])), abs=1e-15)
    for parents, children in (
        (leaf, inside[:1]), (leaf, inside[..., :1]), (leaf[:, :1], inside), (leaf[0], inside), (leaf, inside[0]),
        (np.zeros((2, 3)), inside), (leaf, inside[..., None]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="expected shapes"):
            improvements(gini, parents, children)


@attrs.frozen(eq=False)
class Edges:
    """Edge vectors under a distribution."""

    edges: FloatArray
    distribution: FloatArray


def test_means_of_clipped_rows() -> None:
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [-6.0, 0.0]])
    weights = np.array([0.5, 0.25, 0.25])
    assert row_lengths(rows).tolist() == pytest.approx([5.0, 0.5, 6.0])
    assert row_lengths(np.array([[1e200, 0.0]])).tolist() == [math.inf]
    assert clipped_mean(rows, weights, 2.0).tolist() == pytest.approx([0.6 + 0.075 - 0.5, 0.8 + 0.1])
    assert centred_mean(2.0).evaluate(Edges(rows, weights)).tolist() == clipped_mean(rows, weights, 2.0).tolist()  # type: ignore[arg-type]  # all that is asked
    many = np.ones((2**16 + 3, 1))
    assert clipped_mean(many, np.full(2**16 + 3, 2.0**-17), 1.0)[0] == (2**16 + 3) * 2.0**-17
    # Opposite points, all weight moved: the change is 2·radius.
    ends = np.array([[9.0], [-9.0]])
    moved = clipped_mean(ends, np.array([1.0, 0.0]), 0.7) - clipped_mean(ends, np.array([0.0, 1.0]), 0.7)
    assert float(moved[0]) == pytest.approx(1.4, abs=1e-15)


def test_sizes_and_radii_end() -> None:
    refuse_sizes(2**32, 2**18)
    for n, dimension in ((2**32 + 1, 1), (1, 2**18 + 1)):
        with pytest.raises(ValueError, match="at most 2"):
            refuse_sizes(n, dimension)
    with pytest.raises(ValueError, match="at most 2"):
        clipped_mean(np.zeros((1, 2**18 + 1)), np.ones(1), 1.0)
    for radius in (2.0**-500, 1.0, 2.0**500):
        assert public_radius(radius) == radius
    for wrong in (2.0**-501, 2.0**501, 0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="expected a"):
            public_radius(wrong)
        with pytest.raises(ValueError, match="expected a"):
            centred_mean(wrong)


@attrs.frozen(eq=False)
class Points:
    """A mean, and how far it may be off."""

    mean: FloatArray
    rounding: float


def test_points_with_more_rounding_than_was_priced_are_refused() -> None:
    query = unit_ball_mean(1e-5)
    mean = np.array([0.1, 0.2])
    for rounding in (0.0, 1e-5):
        assert query.evaluate(Points(mean, rounding)) is mean  # type: ignore[arg-type]  # all that is asked
    for rounding in (1.0001e-5, math.nan):
        with pytest.raises(ValueError, match="the sensitivity allows for rounding"):
            query.evaluate(Points(mean, rounding))  # type: ignore[arg-type]  # all that is asked
    for wrong in (-1e-9, math.inf):
        with pytest.raises(ValueError, match="non-negative"):
            unit_ball_mean(wrong)
