"""Halfspaces from records in blocks: every sum is exact, so the blocks do not show, and a record stands for itself."""

import math
import pickle
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import cast

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from boosting import LazyBregman, capped_scaling
from boosting.theory.sample_sizes import HalfspaceTask, by_margins
from learners import HalfspaceBoostClassifier
from learners.blocks.block_tables import TableBlock
from learners.encoding.row_chunks import MOST_ROWS
from learners.halfspaces import stepped_weights
from learners.halfspaces.centred_means import PER_UNIT, Centring, Halfspace, mean_rounding
from learners.halfspaces.exact_sums import (
    DIRECTION,
    HIGH,
    LIMB,
    MarginGrid,
    as_floats,
    counted,
    limbs,
    margin_levels,
    pulled,
)
from learners.halfspaces.guaranteed_settings import NARROWER, narrowed, promised, room
from learners.halfspaces.point_sample import PLACES, PointRows, SignedPoints, lengths
from learners.halfspaces.stepped_weights import SOLVED, capped_levels
from learners.tables.readers import Table
from mechanisms.core.rows import (
    Block,
    MemoryRows,
    Rows,
    Sums,
    T,
    U,
    added,
)
from proofs_tests.support.ledgers.separate import separate

SEEDS = st.integers(0, 2**32 - 1)


def sent(what: U) -> U:
    """As another process gets it."""
    return cast("U", pickle.loads(pickle.dumps(what)))  # noqa: S301  # of our own


@attrs.frozen(eq=False)
class Sent(Rows[T]):
    """Rows whose work and blocks are sent to another process, as it were, and forget what they remembered."""

    rows: MemoryRows[T]

    @property
    def n(self) -> int:
        return self.rows.n

    def map(self, transform: Callable[[T], U]) -> "Sent[U]":
        return Sent(self.rows.map(sent(transform)))

    def kept(self) -> "Sent[T]":
        return self

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        return added(sent(work)(sent(each)) for each in self.rows.blocks)


@attrs.frozen(eq=False)
class Cut:
    """A table in blocks of these sizes."""

    points: FloatArray
    labels: npt.NDArray[np.int8]
    sizes: list[int]
    sent: bool = False

    def block_header(self, y: object) -> Table:
        return np.empty((0, self.points.shape[1]))

    def block_rows(self, y: object) -> Rows[TableBlock]:
        ends = np.cumsum(self.sizes)[:-1]
        parts = [
            TableBlock(*each) for each in zip(np.split(self.points, ends), np.split(self.labels, ends), strict=True)
        ]
        rows = MemoryRows.parts(parts, self.sizes)
        return Sent(rows) if self.sent else rows


def sizes_of(n: int, cuts: list[int]) -> list[int]:
    return [int(size) for size in np.diff([0, *sorted({1 + cut % (n - 1) for cut in cuts}), n])]


def drawn(seed: int, n: int, dimension: int) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Points of all lengths, some far outside the ball, with labels of both kinds."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dimension)) * 10.0 ** rng.integers(-3, 2, (n, 1))
    labels = np.where(points @ rng.normal(size=dimension) > 0.0, 1, -1).astype(np.int8)
    labels[:2] = [1, -1][:n]
    return points, labels


@separate
@settings(max_examples=25)
@given(
    SEEDS,
    st.integers(2, 60),
    st.sampled_from([1, 2, 3, 17]),
    st.lists(st.integers(0, 2**16), max_size=8),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 2.0**-500, 2.0**500]),
)
def test_blocks_do_not_show(
    seed: int, n: int, dimension: int, cuts: list[int], pure: bool, intercept: bool, radius: float
) -> None:
    """[exact-points] The same seed and records give the same model, bit by bit; also of blocks of one record."""
    points, labels = drawn(seed, n, dimension)
    points *= radius
    learner = HalfspaceBoostClassifier(
        2.0, 0.0 if pure else 1e-5, radius=radius, rounds=4, density=0.4, learning_rate=1.5, fit_intercept=intercept,
        count_outside=50.0, random_state=seed,
    )  # fmt: skip
    whole = learner.fit(points, labels)
    expected = (whole.coef_.tolist(), whole.intercept_.tolist(), whole.outside_, whole.scale_)
    for sizes in (sizes_of(n, cuts), [1] * n):
        found = learner.fit(Cut(points, labels, sizes, sent=True), None)
        assert (found.coef_.tolist(), found.intercept_.tolist(), found.outside_, found.scale_) == expected


@separate
@pytest.mark.parametrize(("n", "dimension"), [(140_000, 8), (3000, 500)])
def test_large_blocks_in_threads_do_not_show_either(n: int, dimension: int) -> None:
    """More than 2^20 numbers, and once more than 2^17 records, whose weights have two parts."""
    points, labels = drawn(5, n, dimension)
    learner = HalfspaceBoostClassifier(1.0, 1e-6, radius=3.0, rounds=4, density=0.3, random_state=0)
    whole = learner.fit(points, labels).coef_.tolist()
    for sizes in ([n // 3, n - n // 3], [7, n // 2, n - n // 2 - 7]):
        assert learner.fit(Cut(points, labels, sizes), None).coef_.tolist() == whole


def test_what_blocks_may_not_be() -> None:
    points, labels = drawn(0, 10, 3)
    for one in (np.ones(10, dtype=np.int8), np.sort(labels)):  # one class, in all of them or in a block, is no fault
        HalfspaceBoostClassifier(1.0, 1e-6).fit(Cut(points, one, [4, 6]), None)
    blocks = [SignedPoints.of(np.ones((2, width)), np.ones(2, dtype=np.int8), 1.0) for width in (2, 3)]
    with pytest.raises(ValueError, match="differ in their number of columns"):
        PointRows.of(*blocks)
    with pytest.raises(ValueError, match="2\\^18 coordinates"):
        PointRows(MemoryRows.of(blocks[0], 2), 2**18 + 1)
    with pytest.raises(ValueError, match="'observed' needs y"):
        HalfspaceBoostClassifier(1.0, 1e-6, classes="observed").fit(Cut(points, labels, [4, 6]), None)


# --- points ----------------------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 40), st.integers(1, 70), st.sampled_from([0.0, 0.3, 1.0]))
def test_a_point_is_what_it_would_be_alone(seed: int, n: int, dimension: int, constant: float) -> None:
    """In 24 places, and in the unit ball, exactly."""
    points, labels = drawn(seed, n + 1, dimension)
    points[0, 0] *= 1e200
    whole = SignedPoints.of(points, labels, 1.0, constant)
    for place in range(n + 1):
        alone = SignedPoints.of(points[place : place + 1], labels[place : place + 1], 1.0, constant)
        assert alone.edges[0].tolist() == whole.edges[place].tolist()
        exact = [Fraction(float(x)) for x in alone.edges[0]]
        assert all((x * 2**PLACES).denominator == 1 for x in exact)
        assert sum(x * x for x in exact) <= 1
    far = np.linalg.norm(points[1:], axis=1)
    assert lengths(points[1:]) == pytest.approx(far, rel=1e-14)
    ball = points[1:] / np.maximum(far, 1.0)[:, None] * labels[1:, None] / math.hypot(1.0, constant)
    assert np.abs(whole.edges[1:, :dimension] - ball).max() <= 2.0**-PLACES + 2.0**-29


def test_points_are_scaled_into_the_ball_and_no_further() -> None:
    points = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [1.7e308, 1.7e308]])
    found = SignedPoints.of(points, np.array([1, -1, 1, 1], dtype=np.int8), 1.0)
    expected = np.array([[0.6, 0.8], [-0.3, -0.4], [0.0, 0.0], [0.0, 0.0]])
    assert found.edges == pytest.approx(expected, abs=2.0**-23)
    assert found.outside == 2


# --- sums ------------------------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 200), st.integers(1, 40), st.integers(1, 300), st.booleans())
def test_levels_are_those_of_exact_margins(seed: int, n: int, dimension: int, hypotheses: int, aligned: bool) -> None:
    """[exact-points] A product that is off by one bit of 2^52 would show where it is compared bit by bit."""
    points, labels = drawn(seed, n, dimension)
    edges = SignedPoints.of(points, labels, 1.0).edges
    total = np.random.default_rng(seed).normal(size=dimension)
    total *= (hypotheses if aligned else math.sqrt(hypotheses)) / np.linalg.norm(total)
    grid = MarginGrid.of(total, hypotheses, PER_UNIT)
    assert float(np.linalg.norm(grid.direction * grid.length - total)) <= grid.length * math.sqrt(dimension) * 2.0**-29
    assert grid.margins[-1] <= hypotheses
    found = margin_levels(edges, grid)
    direction = [int(x * 2**DIRECTION) for x in grid.direction]
    for edge, level in zip(edges, found.tolist(), strict=True):
        exact = sum(int(float(x) * 2**PLACES) * y for x, y in zip(edge, direction, strict=True))
        product = float(Fraction(exact, 2 ** (PLACES + DIRECTION)))
        assert Fraction(product) == Fraction(exact, 2 ** (PLACES + DIRECTION))
        place = round(min(max(product * (grid.length * PER_UNIT), -grid.most), grid.most))
        assert level - grid.most == place
    assert counted(found, grid.levels).tolist() == np.bincount(found, minlength=grid.levels).tolist()
    assert margin_levels(edges[1:], grid).tolist() == found[1:].tolist()


@given(SEEDS, st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2]), st.integers(0, 200))
def test_sums_are_exact(seed: int, n: int, dimension: int, number: int, cut: int) -> None:
    """[exact-points] Against whole numbers, in one block or in two."""
    points, labels = drawn(seed, n, dimension)
    edges, rng = SignedPoints.of(points, labels, 1.0).edges, np.random.default_rng(seed)
    weights, levels = rng.random(9), rng.integers(0, 9, n).astype(np.int16)
    parts = limbs(weights, number)
    units = [sum(int(x) << (LIMB * (number - 1 - place)) for place, x in enumerate(part)) for part in parts.T]
    assert [abs(Fraction(u, 2 ** (LIMB * number)) - Fraction(w)) * 2 for u, w in zip(units, weights, strict=True)] <= [
        Fraction(1, 2 ** (LIMB * number))
    ] * 9
    expected = [
        sum(units[level] * int(float(x) * 2**PLACES) for level, x in zip(levels, column, strict=True))
        for column in edges.T
    ]
    whole = pulled(edges, levels, parts)
    two = pulled(edges[:cut], levels[:cut], parts) + pulled(edges[cut:], levels[cut:], parts)
    assert as_floats(whole).tolist() == as_floats(two).tolist()
    assert as_floats(whole) == pytest.approx([float(each) for each in expected], rel=2.0**-50)


def test_the_largest_sums_fit() -> None:
    """All weights 1 and all points 1, in one coordinate: pieces of as many rows as there may be."""
    n = 3 * MOST_ROWS + 5
    edges = np.ones((n, 1), dtype=np.float32)
    for number in (1, 2):
        found = as_floats(pulled(edges, None, limbs(np.ones(1), number)))
        assert found.tolist() == [n * 2.0 ** (LIMB * number + PLACES)]
    assert as_floats(pulled(-edges, None, limbs(np.ones(1), 1))).tolist() == [-n * 2.0**48]


@given(SEEDS, st.integers(1, 200))
def test_groups_are_as_large_as_they_may_be(seed: int, n: int) -> None:
    """Products with all of their 48 bits: twice as many would be rounded."""
    less, lacking = np.random.default_rng(seed).integers(0, 2**10, (2, n))
    edges = ((2**PLACES - 1 - less) * 2.0**-PLACES).astype(np.float32)[:, None]
    parts = limbs((2**LIMB - 1 - lacking) * 2.0**-LIMB, 1)
    exact = sum((2**PLACES - 1 - a) * (2**LIMB - 1 - b) for a, b in zip(less.tolist(), lacking.tolist(), strict=True))
    high, low = pulled(edges, np.arange(n, dtype=np.int16), parts)[0, :, 0].tolist()
    assert (high << HIGH) + low == exact


def test_rounding_is_half_of_what_is_charged_for_two_means() -> None:
    """Weights of 1/2 and half a unit, all of points at the end of the ball: a tenth less would not cover it."""
    density, n = 0.5 + 2.0**-25, 64
    state = Centring(LazyBregman(density, 1.0)).start(PointRows.of(SignedPoints(np.ones((n, 1), dtype=np.float32), 0)))
    off = abs(float(state.mean[0]) - 1.0)
    assert 0.9 * mean_rounding(n, density) / 2 < off <= mean_rounding(n, density) / 2


# --- weights ---------------------------------------------------------------------------------------------------


def exact_weights(logs: FloatArray, counts: npt.NDArray[np.int64], density: float) -> list[Decimal]:
    """min(1, c·e^log) in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        weights, sizes = [Decimal(float(x)).exp() for x in logs], [Decimal(int(x)) for x in counts]
        left = Decimal(density) * sum(sizes)
        for first in range(len(weights)):
            scale = left / sum(w * s for w, s in zip(weights[first:], sizes[first:], strict=True))
            if scale * weights[first] <= 1:
                return [min(Decimal(1), scale * w) for w in weights]
            left -= sizes[first]
        return [Decimal(1)] * len(weights)


@given(
    st.lists(st.integers(0, 2**31), min_size=1, max_size=12),
    st.floats(2.0**-30, 1.0),
    st.sampled_from([1e-300, 1e-17, 1e-12, 0.01, 1.0, 30.0, 500.0]),
    st.sampled_from([None, 0.5, 1.0]),
)
def test_weights_are_as_exact_as_they_are_said_to_be(
    sizes: list[int], density: float, rate: float, misled: float | None
) -> None:
    """[level-weights] Also where many levels are as near to the cap as rounding, and where weights span e^6000.

    misled: what `capped_scaling` says of every level, as if its sums had been rounded that badly.
    """
    counts = np.array([*sizes, 1])
    logs: FloatArray = -rate * np.arange(counts.size, dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        if misled is not None:
            patch.setattr(stepped_weights, "capped_scaling", lambda logs, *_: np.full(logs.size, misled))
        found = capped_levels(logs, counts, density)
    filled = counts > 0
    exact = exact_weights(logs[filled], counts[filled], density)
    off = sum(abs(Decimal(float(w)) - x) * int(s) for w, x, s in zip(found[filled], exact, counts[filled], strict=True))
    assert off <= Decimal(SOLVED) * Decimal(density) * int(counts.sum())
    assert not np.any(found[~filled])


def test_weights_that_hardly_differ_are_capped_in_their_order() -> None:
    """`capped_scaling` takes another level for the first that is free, here; so it is searched for."""
    rng = np.random.default_rng(0)
    for rate in (1e-13, 1e-15, 1e-16):
        logs, counts = -rate * np.arange(4000.0), rng.integers(1, 2**20, 4000)
        for density in (1.0 - 1e-13, 0.999999, 0.5):
            found = capped_levels(logs, counts, density)
            assert math.fsum(found * counts) == pytest.approx(density * counts.sum(), rel=SOLVED)
            assert np.all(np.diff(found) <= 0.0)
            assert found == pytest.approx(capped_scaling(logs, counts, density), rel=1e-10)


# --- promises --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margin", "error", "failure", "dimension"),
    [(0.9, 0.5, 0.2, 2), (0.9, 0.1, 0.01, 5000), (0.5, 0.1, 0.05, 100), (0.2, 0.1, 0.05, 5000), (0.1, 0.5, 0.2, 2)],
)
def test_a_promise_has_room_for_rounding(margin: float, error: float, failure: float, dimension: int) -> None:
    """[halfspace-grid] By the theorems for a margin that is narrower by 2^-7; without that there is none."""
    task = HalfspaceTask(margin, error, failure, 1.0, 1e-6, dimension, 0.0)
    _, size = promised(task, 2**32)
    assert size.rounds == by_margins(narrowed(task), size.sigma).rounds
    assert 0.0 <= room(task, size) < 2.0 * size.advantage * (1.0 - NARROWER) * 4.0
    assert room(task, by_margins(task, size.sigma)) < 0.0


@given(SEEDS, st.integers(2, 12), st.floats(0.1, 1.0), st.floats(0.05, 20.0), st.floats(0.0, 0.2))
def test_weights_move_by_the_rate_times_what_margins_do(
    seed: int, n: int, density: float, rate: float, off: float
) -> None:
    """[halfspace-grid] Σ|μ̂′ − μ̂| <= λ·max|m′ − m|: what rounded margins add to a round's loss."""
    rng = np.random.default_rng(seed)
    margins = rng.uniform(-1.0, 1.0, n)
    moved = margins + rng.choice([-off, off], n)
    one, other = (capped_scaling(-rate * each, np.ones(n, dtype=np.intp), density) for each in (margins, moved))
    assert float(np.abs(one - other).sum()) / (density * n) <= rate * off + 1e-12


def test_that_bound_is_nearly_attained() -> None:
    """Half of the records have a little more and half a little less: a tenth less would not do."""
    off, moved = 0.01, np.array([-0.01, 0.01] * 50)
    one, other = (capped_scaling(-0.5 * each, np.ones(100, dtype=np.intp), 0.3) for each in (0.0 * moved, moved))
    assert float(np.abs(one - other).sum()) / 30.0 > 0.9 * 0.5 * off


def test_a_halfspace_is_told_what_its_margins_are() -> None:
    """Records at a distance of half a step either way are weighted alike, and those a step apart are not."""
    booster = Centring(LazyBregman(0.5, 4.0))
    edges = (np.array([[32.0], [32.3], [33.3], [-32.0]]) / 64.0).astype(np.float32)
    state = booster.step(booster.start(PointRows.of(SignedPoints(edges, 0))), Halfspace(np.ones(1)))
    grid = MarginGrid.of(state.total, 1, PER_UNIT)
    assert (margin_levels(edges, grid) - grid.most).tolist() == [32, 32, 33, -32]
