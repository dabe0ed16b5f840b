"""The additive booster: what it releases, what that costs, that nothing else depends on the data, what it learns."""

import itertools
import math
from collections import Counter
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.metrics import roc_auc_score

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Cost,
    Ledger,
    Protected,
    ReplaceOne,
    Spendable,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from boosting import Spender
from learners.additive import additive_boost, curvatures, grids
from learners.additive.additive_boost import (
    EVEN_SHARE,
    EVEN_TURNS,
    HISTOGRAM_SHARE,
    MOST_EFFECT,
    AdditiveDesign,
    Column,
    Schedule,
    boost_additively,
)
from learners.additive.additive_model import AdditiveModel
from learners.additive.grids import STAGES
from learners.additive.private_boost import PrivateBoostClassifier, Promise
from learners.additive.views import View
from learners.base.fit_plan import Progress
from learners.encoding.encoder import EncodedSample, Layout
from learners.encoding.partitions import refined
from learners.tables.schema import Boolean, Categorical, Label, Numeric, Schema
from mechanisms import NoiseSource, SecureNoise, SeededNoise
from mechanisms.gradients.gradient_sums import SCORE_UNIT, WEIGHT_ONE
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface
from proofs_tests.support.ledgers.settled import settled

BOTH: list[Neighbours] = [AddRemoveOne(), ReplaceOne()]
COLOURS = ("red", "green", "blue")
SCHEMA = Schema(
    (
        Categorical("colour", COLOURS),
        refined(Numeric("age", 0.0, 100.0)),
        Boolean("member"),
        Numeric("score", 0.0, 1.0, bins=6),
    )
)
PAIRS = (("colour", "score"),)
seeds = st.integers(0, 2**32 - 1)


def sample_of(n: int, seed: int, *, classes: int = 2, weighted: bool = False, schema: Schema = SCHEMA) -> EncodedSample:
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, column.cells, n) for column in schema.columns], dtype=np.intp)
    labels = rng.choice([-1, 1], n) if classes == 2 else rng.integers(0, classes, n)
    weights = rng.integers(0, WEIGHT_ONE + 1, n).astype(np.int32) if weighted else None
    return EncodedSample(Layout(schema), codes, labels.astype(np.int8), weights)


def rows(sample: EncodedSample, keep: npt.NDArray[np.intp]) -> EncodedSample:
    weights = None if sample.weights is None else sample.weights[keep]
    return EncodedSample(sample.layout, sample.codes[:, keep], sample.labels[keep], weights)


D = TypeVar("D")
R = TypeVar("R")


@attrs.define
class Spy:
    """Passes releases on, and notes what they were and what they cost."""

    spender: Spender
    seen: list[tuple[str, Cost]] = attrs.Factory(list)

    def release(self, mechanism: Spendable[D, R], data: Protected[D]) -> R:
        self.seen.append((mechanism.description.query, mechanism.cost))
        return self.spender.release(mechanism, data)


def run(
    sample: EncodedSample, design: AdditiveDesign, eta: float, on_round: Progress | None = None
) -> tuple[AdditiveModel, Spy, Ledger]:
    """On a ledger that can pay anything, which refuses what the plan does not cover."""
    ledger = Ledger(ZCDP(1e300), composition=ZCDPComposition(), adjacency=design.adjacency)
    with ledger.reserve(design.plan(eta), adjacency=design.adjacency) as charge:
        spy = Spy(charge)
        return boost_additively(ledger.protect(sample), design, eta, spy, on_round), spy, ledger


# --- what it costs -----------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.sampled_from(BOTH), st.integers(2, 4), st.integers(1, 5), st.booleans(), st.floats(1e-3, 10.0))
def test_what_is_released_is_what_was_planned_and_nothing_more(
    adjacency: Neighbours, classes: int, rounds_per_column: int, paired: bool, eta: float
) -> None:
    pairs = PAIRS if paired else ()
    design = AdditiveDesign(SCHEMA, adjacency, classes, SeededNoise(0), rounds_per_column, pairs)
    _, spy, ledger = run(sample_of(30, 1, classes=classes), design, eta)
    assert design.rounds == rounds_per_column * (4 + len(pairs))
    assert [cost for _, cost in spy.seen] == list(design.plan(eta))
    gradients = "logistic-gradients" if classes == 2 else "softmax-gradients"
    assert [name for name, _ in spy.seen] == ["histograms(1)"] * STAGES + [gradients] * design.rounds
    assert settled(ledger)


@pytest.mark.parametrize("adjacency", BOTH)
def test_the_histograms_take_their_share_of_the_budget(adjacency: Neighbours) -> None:
    squares = [
        cost.mu**2 for cost in AdditiveDesign(SCHEMA, adjacency, 2, SeededNoise(0)).plan(0.1) if isinstance(cost, GDP)
    ]
    assert len(squares) == STAGES + 32
    assert np.isclose(sum(squares[:STAGES]) / sum(squares), HISTOGRAM_SHARE, rtol=1e-6)


def test_where_no_grid_needs_them_there_are_no_histograms() -> None:
    design = AdditiveDesign(Schema.boolean(["a", "b"]), AddRemoveOne(), 2, SeededNoise(0))
    assert design.histograms(1.0) is None
    _, spy, _ = run(sample_of(20, 0, schema=design.schema), design, 1.0)
    assert len(spy.seen) == design.rounds == 16


@settings(max_examples=25)
@given(
    st.sampled_from(BOTH),
    st.integers(2, 4),
    st.booleans(),
    st.integers(1, 12),
    st.floats(0.0, 40.0),
    st.booleans(),
    seeds,
)
def test_neighbours_are_never_further_apart_than_what_was_paid(
    adjacency: Neighbours, classes: int, weighted: bool, n: int, loud: float, finer: bool, seed: int
) -> None:
    """The whole learner twice, with releases forced to be equal: then every query must be of the same shape and noise,
    and the true values within the sensitivity, round by round. That is all that adaptive composition asks.

    finer: with grids as where records are many.
    """
    with pytest.MonkeyPatch.context() as patch:
        if finer:
            patch.setattr(grids, "MANY", 0.0)
            patch.setattr(grids, "FEWEST_RECORDS", 0.0)
        _neighbours_stay_close(adjacency, classes, weighted, n, loud, seed)


def _neighbours_stay_close(adjacency: Neighbours, classes: int, weighted: bool, n: int, loud: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = sample_of(n + 1, seed, classes=classes, weighted=weighted)
    first = rows(whole, np.arange(n))
    if adjacency == AddRemoveOne():
        second = rows(whole, rng.permutation(n + 1))
    else:
        second = rows(whole, np.array([*range(n - 1), n]))
    noises = [RecordingNoise(seed, loud), RecordingNoise(seed, loud)]
    designs = [AdditiveDesign(SCHEMA, adjacency, classes, noise, 2, PAIRS) for noise in noises]
    models = [run(sample, design, 0.5)[0] for sample, design in zip((first, second), designs, strict=True)]
    assert models[0].as_record() == models[1].as_record()
    costs = [cost.mu for cost in designs[0].plan(0.5) if isinstance(cost, GDP)]
    assert len(costs) == len(noises[0].asked) == len(noises[1].asked)
    for paid, (value, *public), (other, *public_too) in zip(costs, noises[0].asked, noises[1].asked, strict=True):
        assert public == public_too
        assert value.shape == other.shape
        assert np.linalg.norm(value - other) / float(public[0]) <= paid


class RecordingNoise(PinnedNoise):
    """Pinned, and keeps what it was asked to hide. loud: how far releases are from 0, in sigmas."""

    def __init__(self, seed: int, loud: float) -> None:
        super().__init__(seed)
        self.loud = loud
        self.asked: list[tuple[FloatArray, float, int]] = []

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        self.asked.append((values, sigma, grid))
        return super().gaussian(values, (1.0 + self.loud) * sigma, grid)


# --- what a fitted classifier shows ------------------------------------------------------------------------------

Records = tuple[tuple[str, float, int, float, int], ...]
FIRST: Records = (("red", 3.0, 0, 0.1, 0), ("red", 4.0, 0, 0.1, 1))
LONGER: Records = (*FIRST, ("blue", 99.0, 1, 0.9, 2))
ELSEWHERE: Records = tuple(("blue", 100.0 - k, 1, 1.0, k % 2) for k in range(40))
SWAPPED: Records = (("blue", 100.0, 1, 1.0, 1), ("green", 51.0, 1, 0.4, 0))
DISTANT = {
    "add-remove-one": [Pair(FIRST, LONGER), Pair(LONGER, FIRST), Pair(FIRST, ELSEWHERE)],
    "replace-one": [Pair(FIRST, SWAPPED), Pair(LONGER, (*SWAPPED, FIRST[0]))],
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("promise", ["add-remove-one", "replace-one"])
def test_everything_public_on_a_fitted_classifier_was_released_or_is_public(promise: Promise, classes: int) -> None:
    schema = attrs.evolve(SCHEMA, label=Label("kind", ("0", "1", "2")[:classes]))

    def fitted(records: Records, noise: PinnedNoise) -> PrivateBoostClassifier:
        table = dict(zip(schema.names, zip(*(record[:4] for record in records), strict=True), strict=True))
        labels = [str(record[4] % classes) for record in records]
        model = PrivateBoostClassifier(
            1.0, 1e-6, adjacency=promise, rounds_per_column=2, interactions=PAIRS, schema=schema, random_state=noise
        )
        return model.fit({name: np.array(values) for name, values in table.items()}, labels)

    compared = check_fitted_surface(fitted, DISTANT[promise], seeds=2)
    assert {"model_", "ledger_", "statement_", "classes_", "n_features_in_"} <= set(compared)


@pytest.mark.parametrize("interactions", [[("colour", "unknown")], [("colour", "colour")]])
def test_a_pair_that_is_none_is_refused_before_anything_is_charged(interactions: list[tuple[str, str]]) -> None:
    ledger = Ledger(ZCDP(1.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    model = PrivateBoostClassifier(0.5, 1e-6, interactions=interactions, ledger=ledger, random_state=0)
    with pytest.raises(ValueError, match="interactions"):
        model.fit_encoded(sample_of(20, 0))
    assert [entry.kind for entry in ledger.entries] == ["opened"]


def test_the_books_name_both_queries_and_secure_noise() -> None:
    model = PrivateBoostClassifier(1.0, 1e-6, rounds_per_column=1).fit_encoded(sample_of(40, 0))
    charged, released = model.ledger_.entries[1:]
    assert (charged.kind, released.kind) == ("charged", "released")
    assert "secure (exact)" in str(charged)
    assert '"query":"histograms(1)"' in str(released).replace("\\", "")
    assert '"query":"logistic-gradients"' in str(released).replace("\\", "")


# --- whom it visits ----------------------------------------------------------------------------------------------


def schedule_of(views: int) -> Schedule:
    view = View((0,), (np.arange(3),), ordered=False)
    return Schedule.of([Column.start(view, 2, 1.0) for _ in range(views)])


@given(st.integers(1, 30), seeds)
def test_the_first_sweeps_visit_every_view_once_each(views: int, seed: int) -> None:
    rng, schedule = np.random.default_rng(seed), schedule_of(views)
    for sweep in range(EVEN_TURNS):
        visited = []
        for place in range(views):
            for column in schedule.columns:
                column.energy = rng.normal()
            visited.append(id(schedule.next(sweep * views + place)))
        assert len(set(visited)) == views


@given(st.integers(1, 12), st.sampled_from(["still", "one", "random", "chasing", "negative"]), seeds)
def test_later_no_view_is_neglected_whatever_the_energies(views: int, kind: str, seed: int) -> None:
    rng, schedule = np.random.default_rng(seed), schedule_of(views)
    visits: Counter[int] = Counter()
    rounds = 60 * views
    for number in range(EVEN_TURNS * views, EVEN_TURNS * views + rounds):
        for place, column in enumerate(schedule.columns):
            column.energy = {
                "still": float(place), "one": float(place == 0), "random": rng.exponential() ** 4,
                "chasing": float(place == number % views) * 1e9, "negative": -1.0,
            }[kind]  # fmt: skip
        visits[id(schedule.next(number))] += 1
    assert min(visits[id(column)] for column in schedule.columns) >= EVEN_SHARE * 60 - 2
    assert abs(schedule.credit.sum()) < 1e-6


def test_large_effects_get_the_rest_of_the_rounds() -> None:
    schedule = schedule_of(4)
    schedule.columns[2].energy = 1.0
    visits = Counter(id(schedule.next(number)) for number in range(12, 412))
    assert [visits[id(column)] for column in schedule.columns] == [70, 70, 190, 70]


def test_drift_counts_how_far_the_others_moved_since() -> None:
    schedule = schedule_of(3)
    schedule.moved = [0.5, 1.0, 2.0, 4.0]
    schedule.columns[1].last = 1
    assert schedule.drift(schedule.columns[1]) == additive_boost.DRIFT * 6.0
    assert schedule.drift(schedule.columns[0]) == additive_boost.DRIFT * 7.5


# --- how it steps -------------------------------------------------------------------------------------------------


@given(seeds, st.floats(0.02, 5.0), st.integers(1, 3))
def test_the_model_is_what_a_slow_reader_makes_of_the_releases(seed: int, eta: float, rounds_per_column: int) -> None:
    """Two Boolean columns in turn: curvatures, Newton steps, gains, drifts, the mean of the last tables."""
    schema, told = Schema.boolean(["a", "b"]), list[FloatArray]()
    design = AdditiveDesign(schema, AddRemoveOne(), 2, SeededNoise(seed), rounds_per_column)
    sample = sample_of(200, seed, schema=schema)
    model, _, _ = run(sample, design, eta, lambda _, released: told.append(np.asarray(released)))
    sigma, prior = 1.0 / eta, additive_boost.PRIOR_VARIANCE / 2
    mean, variance, weight = np.zeros((2, 2)), np.full((2, 2), prior), np.full((2, 2), 0.5)
    share, unsure, total = np.full((2, 2), 0.5), np.full((2, 2), curvatures.UNSURE), 0.0
    noise_of_sum, moved, last, tables = 8.0 * sigma**2, list[float](), [-1, -1], list[FloatArray]()
    for number, released in enumerate(told):
        place = number % 2
        drift = additive_boost.DRIFT * max(0.0, sum(moved[last[place] + 1 :]))
        last[place] = number
        summed = 2.0 * float(released[:, 1].sum())
        if number == 0:
            total, doubt = summed, noise_of_sum
        else:
            grown = doubt + (curvatures.TOTAL_DRIFT * max(0.0, total)) ** 2
            doubt = grown * noise_of_sum / (grown + noise_of_sum)
            total = (total / grown + summed / noise_of_sum) * doubt
        expected = share[place] * max(total, math.sqrt(doubt))
        before, squares, bends = mean[place].copy(), np.zeros(2), np.zeros(2)
        for cell, (gradient, half) in enumerate(released):
            prior_doubt, seen_doubt = (unsure[place, cell] * expected[cell]) ** 2, 4.0 * sigma**2
            differs = 2.0 * half - expected[cell]
            trust = prior_doubt / (prior_doubt + seen_doubt)
            trust = max(trust, 1.0 - curvatures.SURPRISING**2 * seen_doubt / max(differs**2, 1e-300))
            found = max(expected[cell] + trust * differs, curvatures.LEAST * expected[cell])
            rest = math.sqrt((1.0 - trust) * prior_doubt) / found
            unsure[place, cell] = math.hypot(rest, curvatures.SHARES_DRIFT)
            share[place, cell] *= found / expected[cell]
            bends[cell] = additive_boost.UNCLIPPED * found
            noise = (sigma**2 + bends[cell]) / bends[cell] ** 2
            known = min(variance[place, cell] + drift, prior)
            gain = known / (known + noise)
            mean[place, cell] += gain * gradient / bends[cell]
            variance[place, cell] = 1.0 / (1.0 / known + 1.0 / noise)
            squares[cell] = (mean[place, cell] - before[cell]) ** 2 - gain**2 * noise
        share[place] = np.maximum(share[place] / share[place].sum(), curvatures.LEAST_SHARE / 2)
        unlikely = np.sqrt(np.maximum(1.0 / share[place] - 1.0, 0.0) / 2.0)
        unsure[place] = np.minimum(unsure[place], np.maximum(unlikely, curvatures.MOST_UNSURE))
        weight[place] = bends / bends.sum()
        moved.append(float(weight[place] @ squares))
        tables.append(np.rint(mean / SCORE_UNIT) * SCORE_UNIT)
    final = (tables[-1] + tables[-2]) / 2.0
    expected = np.array([final[0, a] + final[1, b] for a, b in itertools.product((0, 1), repeat=2)])
    codes = np.array(list(itertools.product((0, 1), repeat=2))).T
    assert np.allclose(model.scores(codes), expected, rtol=0.0, atol=1.01 * SCORE_UNIT)
    assert np.isclose(model.intercept, sum(weight[place] @ final[place] for place in (0, 1)), atol=1.01 * SCORE_UNIT)


# --- edges -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 127])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_records(n: int, classes: int) -> None:
    """Under add-remove-one their number is private, so nothing may fail for it."""
    design = AdditiveDesign(SCHEMA, AddRemoveOne(), classes, SeededNoise(n), 2, PAIRS)
    model, _, _ = run(sample_of(n, 0, classes=classes), design, 0.3)
    assert np.all(np.isfinite(model.scores(sample_of(5, 1).codes)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("eta", [1e-140, 1e-9, 1e9, 1e140])
def test_no_noise_level_breaks_a_fit(eta: float, classes: int) -> None:
    design = AdditiveDesign(SCHEMA, AddRemoveOne(), classes, SeededNoise(0), 4, PAIRS)
    model, _, _ = run(sample_of(200, 0, classes=classes), design, eta)
    assert np.all(np.isfinite(model.scores(sample_of(5, 1).codes)))


def test_columns_of_one_sort_or_another_in_great_number() -> None:
    wide: list[Categorical | Numeric] = [Categorical("huge", tuple(str(k) for k in range(4096)))]
    wide += [Numeric("fine", 0.0, 1.0, bins=4096), refined(Numeric("narrow", 1e15, 1e15 + 1.0, bins=2))]
    for columns in (wide, [Numeric(f"x{k}", 0.0, 1.0, bins=8) for k in range(300)]):
        schema = Schema(tuple(columns))
        sample = sample_of(300, 0, schema=schema)
        model, spy, _ = run(sample, AdditiveDesign(schema, AddRemoveOne(), 2, SeededNoise(0), 2), 0.2)
        assert model.scores(sample.codes).shape == (300,)
        assert sum(name != "histograms(1)" for name, _ in spy.seen) == 2 * len(columns)


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3))
def test_scores_of_thousands_of_columns_fit_their_type(means: list[float]) -> None:
    column = schedule_of(1).columns[0]
    column.effects[0].mean = np.array(means)
    table = column.rounded()
    assert table.dtype == np.int32
    assert np.all(np.abs(table.astype(np.int64)) * 30_000 < 2**31)
    inside = np.abs(means) <= MOST_EFFECT
    assert np.allclose(table[inside] * SCORE_UNIT, np.array(means)[inside], rtol=0.0, atol=0.5 * SCORE_UNIT)


def test_a_release_is_told_as_it_happens() -> None:
    told: list[tuple[int, tuple[int, ...]]] = []
    design = AdditiveDesign(SCHEMA, AddRemoveOne(), 3, SeededNoise(0), 2)
    run(sample_of(50, 0, classes=3), design, 1.0, lambda number, sums: told.append((number, np.asarray(sums).shape)))
    assert [number for number, _ in told] == list(range(1, 9))
    assert [shape for _, shape in told[:4]] == [(3, 3, 2), (told[1][1][0], 3, 2), (2, 3, 2), (6, 3, 2)]


@pytest.mark.parametrize("noise", [SeededNoise, lambda seed: SecureNoise()], ids=["seeded", "secure"])
def test_only_a_seed_makes_a_fit_repeatable(noise: type[SeededNoise]) -> None:
    def model() -> dict[str, object]:
        source: NoiseSource = noise(3)
        return run(sample_of(60, 0), AdditiveDesign(SCHEMA, AddRemoveOne(), 2, source, 1), 1.0)[0].as_record()

    assert (model() == model()) == (noise is SeededNoise)


# --- what it learns ----------------------------------------------------------------------------------------------


def truth(table: dict[str, npt.NDArray[np.generic]]) -> FloatArray:
    """Log-odds of an additive model, smooth in one column and uneven in the others."""
    age = table["age"].astype(np.float64)
    colour = np.select([table["colour"] == name for name in COLOURS], [-1.0, 0.2, 1.0])
    member = 0.8 * table["member"].astype(np.float64)
    return np.asarray(1.5 * np.sin(age / 12.0) + colour + member - 0.4)


def people(n: int, seed: int) -> dict[str, npt.NDArray[np.generic]]:
    rng = np.random.default_rng(seed)
    return {
        "colour": rng.choice(COLOURS, n), "age": rng.uniform(0.0, 100.0, n),
        "member": rng.integers(0, 2, n), "score": rng.random(n),
    }  # fmt: skip


def test_without_noise_an_additive_model_is_recovered() -> None:
    table, fresh = people(30_000, 0), people(20_000, 1)
    rng = np.random.default_rng(2)
    labels, seen = (rng.random(truth(each).size) < expit(truth(each)) for each in (table, fresh))
    model = PrivateBoostClassifier(1e4, 1e-6, schema=SCHEMA, random_state=0).fit(table, labels.astype(int))
    found, best = roc_auc_score(seen, model.decision_function(fresh)), roc_auc_score(seen, truth(fresh))
    assert best - 0.005 < found < best + 0.005
    assert np.corrcoef(model.decision_function(fresh), truth(fresh))[0, 1] > 0.98
    spans = {curve.columns[0]: curve.span for curve in model.explain() if len(curve.columns) == 1}
    assert min(spans, key=lambda name: spans[name]) == "score"


def test_with_noise_most_of_it_still_is() -> None:
    table, fresh = people(30_000, 0), people(20_000, 1)
    labels = np.random.default_rng(2).random(30_000) < expit(truth(table))
    model = PrivateBoostClassifier(1.0, 1e-6, schema=SCHEMA, random_state=0).fit(table, labels.astype(int))
    assert np.corrcoef(model.decision_function(fresh), truth(fresh))[0, 1] > 0.95


def test_without_noise_three_classes_are_recovered() -> None:
    table, fresh = people(30_000, 0), people(20_000, 1)
    rng = np.random.default_rng(2)

    def heads(each: dict[str, npt.NDArray[np.generic]]) -> FloatArray:
        return np.stack(
            [truth(each), 2.0 * each["member"].astype(np.float64) - 1.0, np.zeros(truth(each).size)], axis=1
        )

    labels = [
        (softmax(heads(each), axis=1).cumsum(axis=1) < rng.random(truth(each).size)[:, None]).sum(axis=1)
        for each in (table, fresh)
    ]
    model = PrivateBoostClassifier(1e4, 1e-6, schema=SCHEMA, classes=(0, 1, 2), random_state=0).fit(table, labels[0])
    best = np.mean(np.argmax(heads(fresh), axis=1) == labels[1])
    assert np.mean(model.predict(fresh) == labels[1]) > best - 0.01
    assert np.mean(model.predict(fresh) == np.argmax(heads(fresh), axis=1)) > 0.9


def test_what_a_pair_knows_is_learnt_when_asked_for() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(5000, 4))
    y = X[:, 0] ^ X[:, 1]
    alone, paired = (
        PrivateBoostClassifier(2.0, 1e-6, interactions=pairs, random_state=0).fit(X, y).score(X, y)
        for pairs in ((), [("x0", "x1")])
    )
    assert alone < 0.6
    assert paired > 0.99


def test_sweeps_and_pairs_are_all_there_is_to_count() -> None:
    for rounds_per_column, pairs in itertools.product((1, 8), ((), PAIRS)):
        design = AdditiveDesign(SCHEMA, AddRemoveOne(), 2, SeededNoise(0), rounds_per_column, pairs)
        assert design.plan(1.0).rounds == STAGES + design.rounds == STAGES + rounds_per_column * (4 + len(pairs))
