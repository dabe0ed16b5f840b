"""Pairs that are chosen from what was released: which, when, what that costs, and what they learn."""

import itertools
import math
from typing import Any, TypeVar
from unittest.mock import patch

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import GDP, ZCDP, AddRemoveOne, Ledger, Protected, ReplaceOne, Spendable, ZCDPComposition
from accountant.arrays import FloatArray
from boosting import Spender
from learners.additive import additive_boost, interactions
from learners.additive.additive_boost import AdditiveDesign, boost_additively
from learners.additive.additive_model import AdditiveModel
from learners.additive.averages import Averages
from learners.additive.grids import STAGES, followed_grids
from learners.additive.interactions import (
    COARSE,
    FINER,
    LEAST_CARRIED,
    MOST_CATEGORIES,
    PAIRS_VARIANCE,
    STRONGEST,
    PairView,
    as_pairs,
    cells_per_column,
    chosen_pairs,
    coarse_cells,
    most_pairs,
    pair_rounds,
    pair_views,
    pairable,
    pays,
    with_pure_pairs,
)
from learners.additive.private_boost import PrivateBoostClassifier
from learners.additive.views import View, views
from learners.base.fit_plan import Progress
from learners.encoding.encoder import EncodedSample, Layout
from learners.encoding.partitions import refined
from learners.tables import encode
from learners.tables.schema import Boolean, Categorical, Column, Numeric, Schema
from mechanisms import NoiseSource, SeededNoise
from mechanisms.gradients.gradient_sums import SCORE_UNIT
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import PinnedNoise

D = TypeVar("D")
R = TypeVar("R")
BOTH: list[Neighbours] = [AddRemoveOne(), ReplaceOne()]
SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue")),
        refined(Numeric("age", 0.0, 100.0)),
        Boolean("member"),
        Numeric("score", 0.0, 1.0, bins=6),
        Categorical("town", tuple(str(k) for k in range(MOST_CATEGORIES + 1))),
    )
)
seeds = st.integers(0, 2**32 - 1)


def sample_of(n: int, seed: int, classes: int = 2, schema: Schema = SCHEMA) -> EncodedSample:
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, column.cells, n) for column in schema.columns], dtype=np.intp)
    labels = rng.choice([-1, 1], n) if classes == 2 else rng.integers(0, classes, n)
    return EncodedSample(Layout(schema), codes, labels.astype(np.int8), None)


@attrs.define
class Spy:
    """Passes releases on, and notes what they cost."""

    spender: Spender
    seen: list[tuple[str, object]] = attrs.Factory(list)

    def release(self, mechanism: Spendable[D, R], data: Protected[D]) -> R:
        self.seen.append((mechanism.description.query, mechanism.cost))
        return self.spender.release(mechanism, data)


def run(
    sample: EncodedSample, design: AdditiveDesign, eta: float, least: float, on_round: Progress | None = None
) -> tuple[AdditiveModel, Spy]:
    """least: what stands in for LEAST_CARRIED."""
    ledger = Ledger(ZCDP(1e300), composition=ZCDPComposition(), adjacency=design.adjacency)
    with (
        patch.object(interactions, "LEAST_CARRIED", least),
        ledger.reserve(design.plan(eta), adjacency=design.adjacency) as charge,
    ):
        spy = Spy(charge)
        return boost_additively(ledger.protect(sample), design, eta, spy, on_round), spy


def paired(adjacency: Neighbours, classes: int, noise: NoiseSource, rounds_per_column: int = 8) -> AdditiveDesign:
    return AdditiveDesign(SCHEMA, adjacency, classes, noise, rounds_per_column, paired=True)


# --- what they cost ----------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.sampled_from(BOTH), st.integers(2, 3), st.integers(1, 9), st.booleans(), st.floats(1e-3, 10.0))
def test_whether_there_are_pairs_or_none_the_releases_are_those_of_the_plan(
    adjacency: Neighbours, classes: int, rounds_per_column: int, wanted: bool, eta: float
) -> None:
    design = paired(adjacency, classes, SeededNoise(0), rounds_per_column)
    model, spy = run(sample_of(30, 1, classes), design, eta, -math.inf if wanted else math.inf)
    assert [cost for _, cost in spy.seen] == list(design.plan(eta))
    found = [term.columns for term in model.terms if len(term.columns) == 2]
    assert found == (list(itertools.combinations(range(4), 2)) if wanted else [])


class RecordingNoise(PinnedNoise):
    """Pinned, and keeps what it was asked to hide. loud: how far releases are from 0, in sigmas."""

    def __init__(self, seed: int, loud: float) -> None:
        super().__init__(seed)
        self.loud = loud
        self.asked: list[tuple[FloatArray, float, int]] = []

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        self.asked.append((values, sigma, grid))
        return super().gaussian(values, (1.0 + self.loud) * sigma, grid)


@settings(max_examples=15)
@given(st.sampled_from(BOTH), st.integers(2, 3), st.integers(1, 12), st.floats(0.0, 40.0), st.booleans(), seeds)
def test_which_pairs_are_chosen_follows_from_the_releases_alone(
    adjacency: Neighbours, classes: int, n: int, loud: float, gated: bool, seed: int
) -> None:
    """Two neighbours with releases forced to be equal: then pairs, cells and models are, and every query's true values
    are no further apart than what was paid for.
    """
    rng = np.random.default_rng(seed)
    whole = sample_of(n + 1, seed, classes)
    kept = rng.permutation(n + 1) if adjacency == AddRemoveOne() else np.array([*range(n - 1), n])
    first, second = (
        EncodedSample(whole.layout, whole.codes[:, rows], whole.labels[rows], None) for rows in (np.arange(n), kept)
    )
    noises = [RecordingNoise(seed, loud), RecordingNoise(seed, loud)]
    designs = [paired(adjacency, classes, noise, 2) for noise in noises]
    least = 40.0 if gated else -math.inf  # of the size that noise alone gives
    models = [run(each, design, 0.5, least)[0] for each, design in zip((first, second), designs, strict=True)]
    assert models[0].as_record() == models[1].as_record()
    costs = [cost.mu for cost in designs[0].plan(0.5) if isinstance(cost, GDP)]
    assert len(costs) == len(noises[0].asked) == len(noises[1].asked)
    for paid, (value, *public), (other, *public_too) in zip(costs, noises[0].asked, noises[1].asked, strict=True):
        assert public == public_too
        assert np.linalg.norm(value - other) / float(public[0]) <= paid


# --- which they are ----------------------------------------------------------------------------------------------


def test_columns_of_many_categories_are_not_paired() -> None:
    assert pairable(SCHEMA) == [0, 1, 2, 3]
    assert most_pairs(SCHEMA) == 6
    alone: list[Column] = [SCHEMA.columns[4], Boolean("x")]
    assert most_pairs(Schema(tuple(alone))) == 0
    assert pair_rounds(Schema(tuple(alone)), 8) == 0
    design = AdditiveDesign(Schema(tuple(alone)), AddRemoveOne(), 2, SeededNoise(0), paired=True)
    assert (design.repeats, design.rounds) == (1, 16)


@given(st.integers(0, 20), st.integers(0, 3), seeds)
def test_pairs_are_all_those_of_the_columns_with_the_largest_effects(some: int, wide: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns: list[Column] = [Boolean(f"b{k}") for k in range(some)]
    columns += [Categorical(f"w{k}", tuple(str(c) for c in range(99))) for k in range(wide)]
    columns = [columns[k] for k in rng.permutation(len(columns))] or [Boolean("b")]
    schema = Schema(tuple(columns))
    energies = rng.integers(-2, 5, len(columns)).astype(float).tolist()
    found = chosen_pairs(schema, energies)
    assert len(found) == len(set(found)) == most_pairs(schema)
    chosen = {column for pair in found for column in pair}
    left = set(pairable(schema)) - chosen
    assert len(chosen) in (0, min(STRONGEST, len(pairable(schema))))
    assert found == list(itertools.combinations(sorted(chosen), 2))
    if chosen and left:
        assert min(energies[column] for column in chosen) >= max(energies[column] for column in left)


def test_records_must_be_many_for_the_noise_and_then_cells_are() -> None:
    assert [pays(carried) for carried in (-1e9, math.nan, 899.0, 900.0, math.inf)] == [False, False, False, True, True]
    assert [cells_per_column(carried) for carried in (-1e9, 0.0, 600.0, 3200.0, 4096.0, 1e9)] == [6, 6, 6, 7, 8, 8]
    assert (COARSE, FINER) == (6, 8)


@pytest.mark.parametrize(("columns", "often"), [(1, 1), (2, 3), (8, 4), (10, 3), (14, 2), (60, 2)])
def test_rounds_are_as_many_times_more_as_columns_and_pairs_need(columns: int, often: int) -> None:
    schema = Schema.boolean([f"x{k}" for k in range(columns)])
    design = AdditiveDesign(schema, AddRemoveOne(), 2, SeededNoise(0), paired=True)
    assert design.repeats == often
    assert design.rounds == often * 8 * columns
    further = pair_rounds(schema, 8)
    assert further == 3 * math.comb(min(columns, 8), 2)
    if further:
        needed = further + 8 * min(2 * columns, max(columns, 16))
        assert design.rounds >= needed > design.rounds - 8 * columns
        assert columns <= design.unpaired == int(0.75 * (design.rounds - often - further))
    assert AdditiveDesign(schema, AddRemoveOne(), 2, SeededNoise(0)).rounds == 8 * columns


@given(st.integers(1, 12), st.integers(1, 12))
def test_pairs_are_chosen_while_there_is_a_round_for_each_column_before_and_some_after(
    columns: int, rounds_per_column: int
) -> None:
    schema = Schema.boolean([f"x{k}" for k in range(columns)])
    design = AdditiveDesign(schema, AddRemoveOne(), 2, SeededNoise(0), rounds_per_column, paired=True)
    if design.repeats > 1:
        assert columns <= design.unpaired <= design.rounds - design.repeats - most_pairs(schema) // 2


@pytest.mark.parametrize("asked", ["all", [("a",)], [("a", "b"), ("b", "a")]])
def test_what_is_neither_auto_nor_a_list_of_pairs_is_refused(asked: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="pair"):
        as_pairs(asked)
    assert as_pairs("auto") == "auto"
    assert as_pairs([("a", "b")]) == (("a", "b"),)


# --- cells -------------------------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.floats(0.1, 5.0), seeds)
def test_coarse_cells_hold_about_as_many_records_each_and_keep_the_order(cells: int, uneven: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=cells) ** uneven + 1e-12
    weight /= weight.sum()
    codes = np.sort(np.concatenate([np.arange(cells), rng.integers(0, cells, 40)]))
    view = View((0,), (codes,), ordered=True)
    found = coarse_cells(view, weight, COARSE)
    assert found.shape == codes.shape
    assert set(np.diff(found)) <= {0, 1}
    assert found[0] == 0
    assert found[-1] < min(COARSE, cells) if cells > COARSE else found[-1] == cells - 1
    for cell in set(found) if cells > COARSE else ():
        held = np.unique(codes[found == cell])
        assert weight[held].sum() <= 1.0 / COARSE + weight[held].max() + 1e-9
    assert np.array_equal(coarse_cells(View((0,), (codes,), ordered=False), weight, COARSE), codes)


def small_views(seed: int) -> tuple[list[View], list[FloatArray], list[PairView]]:
    counts = np.random.default_rng(seed).exponential(30.0, size=(1, 256)) ** 2
    single = views(SCHEMA, followed_grids(SCHEMA, lambda parts: counts, 5.0, 5.0, 5.0), ())
    weights = [np.full(view.number, 1.0 / view.number) if view.mass is None else view.mass for view in single]
    return single, weights, pair_views(single, weights, [(0, 1), (1, 2), (1, 3)], 1.4, COARSE)


@given(seeds)
def test_pairs_are_seen_in_the_cells_of_both_columns(seed: int) -> None:
    codes = sample_of(50, seed).codes
    found = small_views(seed)[2]
    assert [view.columns for view in found] == [(0, 1), (1, 2), (1, 3)]
    assert [view.shape for view in found] == [(3, COARSE), (COARSE, 2), (COARSE, 6)]
    for view in found:
        assert view.share == pytest.approx(PAIRS_VARIANCE / 3 / 1.4)
        one, other = (cells[codes[column]] for column, cells in zip(view.columns, view.maps, strict=True))
        assert np.array_equal(view.cells(codes), one * view.shape[1] + other)
        assert view.effect(1.4).mean.shape == (view.number,)


def test_a_pair_is_given_no_more_room_than_a_column() -> None:
    single, weights, _ = small_views(0)
    assert pair_views(single, weights, [(0, 1)], 0.1, COARSE)[0].share == 1.0


# --- what is kept ------------------------------------------------------------------------------------------------


@given(st.sampled_from([(), (3,)]), seeds)
def test_what_a_pair_says_of_one_column_alone_is_moved_there(heads: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    single, _, pairs = small_views(seed)
    seen = [*single, *pairs]
    tables = [rng.normal(size=(view.number, *heads)) for view in seen]
    weights = [rng.exponential(size=view.number) * (rng.random(view.number) < 0.8) for view in seen]
    pure = with_pure_pairs(seen, tables, weights)
    codes = sample_of(60, seed).codes
    before, after = (
        sum(view.looked_up(t, codes) for view, t in zip(seen, each, strict=True)) for each in (tables, pure)
    )
    assert np.allclose(before, after, rtol=0.0, atol=1e-9)
    even = [np.ones(view.number) for view in seen]
    for view, table in list(zip(seen, with_pure_pairs(seen, tables, even), strict=True))[len(single) :]:
        grid = table.reshape(*view.shape, *heads)
        assert np.allclose(grid.mean(axis=0), 0.0, atol=1e-9)
        assert np.allclose(grid.mean(axis=1), 0.0, atol=1e-9)


@attrs.define
class Kept:
    """A table alone."""

    table: npt.NDArray[np.int32]


@pytest.mark.parametrize(("earliest", "first"), [(0, 7), (4, 7), (8, 8)])
def test_means_are_of_the_last_rounds(earliest: int, first: int) -> None:
    columns = [Kept(np.zeros(2, dtype=np.int32)) for _ in range(3)]
    averages = Averages.of(10, columns, earliest)
    for number in range(10):
        columns[1].table = np.full(2, number**2, dtype=np.int32)
        averages.add(number)
    expected = np.mean([number**2 for number in range(first, 10)]) * SCORE_UNIT
    assert [mean.tolist() for mean in averages.means()] == [[0.0, 0.0], pytest.approx([expected] * 2), [0.0, 0.0]]


# --- what they learn ---------------------------------------------------------------------------------------------


def crossed(n: int, seed: int) -> tuple[dict[str, npt.NDArray[np.generic]], npt.NDArray[np.bool_]]:
    """Labels that follow the product of two numbers, and little else."""
    rng = np.random.default_rng(seed)
    table = {name: rng.uniform(-1.0, 1.0, n) for name in "abcd"}
    score = 8.0 * table["a"] * table["b"] + table["c"]
    return dict(table), score + rng.logistic(size=n) > 0.0


CROSSED = Schema(tuple(Numeric(name, -1.0, 1.0) for name in "abcd"))


def test_a_product_is_learnt_without_being_asked_for() -> None:
    table, labels = crossed(8000, 0)
    fresh, truth = crossed(8000, 1)
    alone, found = (
        PrivateBoostClassifier(2.0, 1e-6, schema=CROSSED, interactions=asked, random_state=0).fit(table, labels)
        for asked in ((), "auto")
    )
    assert alone.score(fresh, truth) < 0.62
    assert found.score(fresh, truth) > 0.75
    spans = {curve.columns: curve.span for curve in found.explain() if len(curve.columns) == 2}
    assert max(spans, key=lambda columns: spans[columns]) == ("a", "b")
    again = AdditiveModel.from_record(found.model_.as_record())
    codes = np.asarray(encode(fresh, again.schema))
    assert np.array_equal(again.scores(codes), found.decision_function(fresh))


def test_what_noise_alone_may_be_pays_for_no_pairs() -> None:
    assert pays(LEAST_CARRIED, 0.0)
    assert not pays(2.9 * LEAST_CARRIED, LEAST_CARRIED)
    assert pays(3.0 * LEAST_CARRIED, LEAST_CARRIED)


def test_few_records_are_not_looked_at_in_pairs() -> None:
    table, labels = crossed(60, 0)
    model = PrivateBoostClassifier(0.2, 1e-6, schema=CROSSED, random_state=0).fit(table, labels)
    assert all(len(curve.columns) == 1 for curve in model.explain())


def test_columns_that_must_rise_are_not_paired_and_the_model_keeps_the_order() -> None:
    assert pairable(SCHEMA, (0, 1, 0, 0, 0)) == [0, 2, 3]
    assert most_pairs(SCHEMA, (0, 1, 0, 0, 0)) == 3
    table, labels = crossed(8000, 0)
    model = PrivateBoostClassifier(
        2.0, 1e-6, schema=CROSSED, interactions="auto", monotonic_cst={"a": 1}, random_state=0
    ).fit(table, labels)
    pairs = [curve.columns for curve in model.explain() if len(curve.columns) == 2]
    assert pairs
    assert not any("a" in pair for pair in pairs)
    effect = next(curve.effects for curve in model.explain() if curve.columns == ("a",))
    assert np.all(np.diff(effect) >= 0.0)


def test_missing_numbers_keep_a_cell_of_their_own_in_a_pair() -> None:
    gaps = Numeric("age", 0.0, 100.0, bins=40, missing="own")
    (view,) = views(Schema((gaps,)), None, ())
    weight = np.full(view.number, 1.0 / view.number)
    coarse = coarse_cells(view, weight, COARSE)
    assert coarse[-1] == COARSE
    assert coarse[-2] == COARSE - 1
    assert np.bincount(coarse)[-1] == 1
    (pair,) = pair_views([view, view], [weight, weight], [(0, 1)], 1.0, COARSE)
    assert pair.axes == (False, False)


@pytest.mark.parametrize("classes", [2, 3])
def test_where_pairs_do_not_pay_a_fit_is_what_it_is_without(classes: int) -> None:
    """Releases k times over with √k times the noise, and nothing else: without noise the same model, bit by bit."""
    sample, told = sample_of(400, 0, classes), list[int]()
    design, plain = (
        AdditiveDesign(SCHEMA, AddRemoveOne(), classes, SeededNoise(3), 4, paired=asked) for asked in (True, False)
    )
    eta, often = 1e9, design.repeats
    assert often == 3
    model, spy = run(sample, design, eta / math.sqrt(often), math.inf, lambda number, _: told.append(number))
    other, _ = run(sample, plain, eta, math.inf)
    assert told == list(range(1, design.rounds + 1))
    assert len(spy.seen) == STAGES + design.rounds
    codes = sample_of(50, 1, classes).codes
    assert np.allclose(model.scores(codes), other.scores(codes), rtol=0.0, atol=20 * SCORE_UNIT)


def test_repeated_releases_have_the_budget_of_those_without_pairs() -> None:
    """Σμ² is the same: k rounds at η/√k are as dear as one at η, and the histograms have the same share."""
    design, plain = (AdditiveDesign(SCHEMA, AddRemoveOne(), 2, SeededNoise(0), paired=asked) for asked in (True, False))
    squares = [
        [cost.mu**2 for cost in each.plan(eta) if isinstance(cost, GDP)]
        for each, eta in ((design, 0.5 / math.sqrt(design.repeats)), (plain, 0.5))
    ]
    assert math.fsum(squares[0]) == pytest.approx(math.fsum(squares[1]), rel=1e-9)
    assert squares[0][0] == pytest.approx(squares[1][0], rel=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_noise_is_believed_to_be_what_was_drawn(paired: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mean of k releases σ/√k, and a count with all the budget has that of all rounds together."""
    design = AdditiveDesign(SCHEMA, AddRemoveOne(), 2, SeededNoise(0), 2, paired=paired)
    eta, told, whole = 0.01, list[float](), list[float]()
    learn = additive_boost.Column.learn

    def watched_learn(column: Any, part: Any, sums: Any, sigma: float, *rest: Any) -> Any:
        told.append(sigma)
        return learn(column, part, sums, sigma, *rest)

    def watched_grids(schema: Any, count: Any, sigma: float, noise: float, all_of_it: float) -> Any:
        whole.append(all_of_it)
        return followed_grids(schema, count, sigma, noise, all_of_it)

    monkeypatch.setattr(additive_boost.Column, "learn", watched_learn)
    monkeypatch.setattr(additive_boost, "followed_grids", watched_grids)
    run(sample_of(60, 0), design, eta, math.inf)
    assert (design.repeats > 1) == paired
    assert told == pytest.approx([1.0 / (eta * math.sqrt(design.repeats))] * (design.rounds // design.repeats))
    gradient = design.gradients(eta).query.sensitivity.value
    assert whole == pytest.approx([1.0 / (eta * gradient * math.sqrt(design.rounds))])
