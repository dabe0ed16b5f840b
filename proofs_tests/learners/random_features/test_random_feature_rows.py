"""Random features over records in blocks: one model, bit by bit, whatever the blocks are and wherever they lie."""

import itertools
import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import attrs
import cloudpickle  # type: ignore[import-untyped]  # ships no types
import dask
import dask.array
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import ApproxDP, BasicComposition, Ledger, ReplaceOne
from accountant.arrays import FloatArray
from learners import AdaSSP, Bounds, Descent, RandomFeatureClassifier, RandomFeatureRegressor, Ridge
from learners.blocks.block_tables import TableBlock
from learners.blocks.mapped_table import MappedTable
from learners.encoding.numeric_features import Scaling
from learners.random_features.estimators import SolverName
from learners.random_features.feature_maps import FeatureMap, FrequencyDistribution, RandomFeatureMap, Reference
from learners.random_features.feature_model import PublicFeatures
from learners.random_features.feature_rows import FeatureSample, FeatureTable
from learners.tables.readers import Table, input_names
from mechanisms.core.rows import Block, MemoryRows, Rows, Sums
from mechanisms.gradients.feature_queries import clipped_pull
from proofs_tests.support.learners.waves import BOX, regressor, waves

T = TypeVar("T")
U = TypeVar("U")
SEEDS = st.integers(0, 2**32 - 1)
SOLVERS: tuple[SolverName, ...] = (Descent(rounds=5), Descent(rounds=4, standardise=False), "adassp", "ridge")
DISTRIBUTIONS: tuple[FrequencyDistribution, ...] = ("gaussian", "cauchy", "orthogonal", "linear")


@attrs.frozen(eq=False, repr=False)
class SentRows(Rows[T]):
    """Blocks that are elsewhere: what is called is sent there, in any order, and nothing is remembered."""

    inner: MemoryRows[T]
    visits: list[int] = attrs.field(factory=list)

    @property
    def n(self) -> int:
        """See `Rows`."""
        return self.inner.n

    def map(self, transform: Callable[[T], U]) -> "SentRows[U]":
        """See `Rows`."""
        return SentRows(self.inner.map(cloudpickle.loads(cloudpickle.dumps(transform))), self.visits)

    def kept(self) -> "SentRows[T]":
        """These."""
        return self

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """See `Rows`."""
        self.visits.append(1)
        blocks = [Block(each.data, each.first, each.size) for each in self.inner.blocks]
        random.Random(len(self.visits)).shuffle(blocks)
        sent: Callable[[Block[T]], Sums] = pickle.loads(cloudpickle.dumps(work))  # noqa: S301  # what was just written
        return MemoryRows(tuple(blocks)).total(sent)


@attrs.frozen
class Blocks:
    """A table in blocks. sizes: of them, in order.  sent: whether they are elsewhere."""

    X: FloatArray
    labels: npt.NDArray[np.generic]
    sizes: Sequence[int]
    sent: bool = False
    named: bool = True
    visits: list[int] = attrs.field(factory=list)

    def block_header(self, y: object) -> Table:
        """See `BlockTable`."""
        width = self.X.shape[1]
        return {f"c{number}": () for number in range(width)} if self.named else np.empty((0, width))

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`."""
        edges = np.cumsum(self.sizes)[:-1]
        tables = np.split(self.X, edges)
        names = input_names(self.block_header(y))
        parts = [
            TableBlock(table if names is None else dict(zip(names, table.T, strict=True)), labels)
            for table, labels in zip(tables, np.split(self.labels, edges), strict=True)
        ]
        rows = MemoryRows.parts(parts, self.sizes)
        return SentRows(rows, self.visits) if self.sent else rows


def sizes_of(rng: np.random.Generator, records: int, blocks: int) -> list[int]:
    """Blocks that begin anywhere, some of one record."""
    edges = sorted(rng.choice(np.arange(1, records), min(blocks, records) - 1, replace=False).tolist())
    return [after - before for before, after in itertools.pairwise([0, *edges, records])]


def nasty(rng: np.random.Generator, records: int) -> tuple[FloatArray, FloatArray]:
    """Duplicates, the corners of the box, what is outside, and numbers of all sizes."""
    X, y = waves(records, int(rng.integers(1000)))
    X[rng.random(records) < 0.2] = X[0]
    X[rng.random(records) < 0.2] *= 10.0 ** rng.uniform(-12, 12)
    X[rng.random(records) < 0.1] = rng.choice([-1.0, 0.0, 1.0])
    return X, np.where(rng.random(records) < 0.2, rng.choice([-1.0, 1.0, 9.0]), y)


# --- one model --------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(
    SEEDS,
    st.integers(2, 60),
    st.integers(2, 60),
    st.sampled_from(SOLVERS),
    st.sampled_from(DISTRIBUTIONS),
    st.booleans(),
)
def test_one_seed_gives_one_model_whatever_the_blocks(
    seed: int, records: int, blocks: int, solver: SolverName, distribution: FrequencyDistribution, sent: bool
) -> None:
    """[exact-rows] The same coefficients, centre and scale, bit by bit, and the same books."""
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, records)
    feature_map: FeatureMap = "cosine" if seed % 3 == 0 else "fourier"
    given_ = Blocks(X, y, sizes_of(rng, records, blocks), sent)
    whole = regressor(solver, distribution=distribution, feature_map=feature_map, n_components=7).fit(X, y)
    found = regressor(solver, distribution=distribution, feature_map=feature_map, n_components=7).fit(given_, "y")
    assert np.array_equal(found.coef_, whole.coef_)
    assert (found.model_.fit.centre, found.model_.fit.scale) == (whole.model_.fit.centre, whole.model_.fit.scale)
    assert found.statement_.rows == whole.statement_.rows


@pytest.mark.parametrize("solver", ["descent", AdaSSP(weight=0.5), Ridge()], ids=str)
def test_many_records_and_blocks_of_one(solver: SolverName) -> None:
    """[exact-rows] Also where a block is taken in several pieces, and features are made anew at each visit."""
    X, y = waves(9000)
    whole = regressor(solver, n_components=60).fit(X, y)
    sizes = [1, 4999, 1, 1, 257, 3741]
    assert np.array_equal(regressor(solver, n_components=60).fit(Blocks(X, y, sizes), "y").coef_, whole.coef_)
    assert np.array_equal(
        regressor(solver, n_components=60).fit(Blocks(X, y, sizes, sent=True), "y").coef_, whole.coef_
    )


def test_arrays_of_files_and_of_dask_give_the_same_model(tmp_path: Path) -> None:
    """[exact-rows] By the back ends themselves, whose sums arrive in arrays that lie anywhere in memory."""
    X, y = waves(700)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    files = MappedTable(tmp_path / "X.npy", tmp_path / "y.npy", block=300)
    lazy = dask.array.from_array
    dask_X, dask_y = lazy(X, chunks=(150, 2)), lazy(y, chunks=150)  # type: ignore[no-untyped-call]  # Dask's
    for solver in (Descent(rounds=3), AdaSSP(), Ridge()):
        whole = regressor(solver).fit(X, y).coef_
        assert np.array_equal(regressor(solver).fit(files, None).coef_, whole)
        with dask.config.set(scheduler="synchronous"):
            assert np.array_equal(regressor(solver).fit(dask_X, dask_y).coef_, whole)


def test_a_classifier_learns_from_blocks_that_hold_one_class_each() -> None:
    X, _ = waves(400)
    y = np.where(np.sum(X**2, axis=1) < 0.6, "in", "out")
    order = np.argsort(y, kind="stable")
    settings_ = {"schema": BOX, "classes": ("out", "in"), "n_components": 9, "random_state": 0}
    whole = RandomFeatureClassifier(1.0, 1e-5, **settings_).fit(X[order], y[order])  # type: ignore[arg-type]  # a table
    inside = int(np.sum(y == "in"))
    table = Blocks(X[order], y[order], [inside, 400 - inside])
    found = RandomFeatureClassifier(1.0, 1e-5, **settings_).fit(table, "y")  # type: ignore[arg-type]  # a table
    assert np.array_equal(found.coef_, whole.coef_)
    assert found.predict(X).tolist() == whole.predict(X).tolist()


def test_columns_without_names_are_counted() -> None:
    X, y = waves(50)
    found = regressor(Descent(rounds=2)).fit(Blocks(X, y, [20, 30], named=False), "y")
    assert np.array_equal(found.coef_, regressor(Descent(rounds=2)).fit(X, y).coef_)
    assert found.n_features_in_ == 2
    named = regressor(Descent(rounds=2)).fit(Blocks(X, y, [20, 30]), "y")
    assert named.feature_names_in_.tolist() == ["c0", "c1"]


def test_a_descent_visits_every_block_once_a_round() -> None:
    """One visit finds what is wrong with the records, one makes the moments, one each gradient; AdaSSP takes one."""
    X, y = waves(50)
    for solver, visits in ((Descent(rounds=9), 11), (Descent(rounds=9, standardise=False), 10), (AdaSSP(), 2)):
        table = Blocks(X, y, [20, 30], sent=True)
        regressor(solver).fit(table, "y")
        assert len(table.visits) == visits


# --- rows and sums ----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    SEEDS,
    st.integers(1, 40),
    st.integers(1, 6),
    st.sampled_from(DISTRIBUTIONS),
    st.sampled_from(["fourier", "cosine"]),
    st.sampled_from([None, "normal", "cube"]),
    st.sampled_from([1, 7, 300, 2500]),
)
def test_a_row_is_what_it_would_be_alone(
    seed: int,
    records: int,
    inputs: int,
    distribution: FrequencyDistribution,
    feature_map: FeatureMap,
    reference: Reference | None,
    number: int,
) -> None:
    """[exact-rows] Bit by bit: anywhere in a block of any size, beside far, equal and tiny points."""
    rng = np.random.default_rng(seed)
    scaling = Scaling(rng.uniform(-1, 1, inputs), rng.uniform(0.1, 2.0, inputs))
    features = PublicFeatures(
        RandomFeatureMap(distribution, feature_map, inputs, number, 0.8, seed % 5), scaling, reference
    )
    points = rng.standard_normal((records, inputs)) * 10.0 ** rng.integers(-9, 30, (records, 1))
    points[rng.random(records) < 0.3] = points[0]
    rows, order = features.rows(points, 1000), rng.permutation(records)
    assert np.array_equal(features.rows(points[order], 1000), rows[order])
    for row in rng.choice(records, min(records, 3)).tolist():
        assert np.array_equal(features.rows(points[row : row + 1], 1000), rows[row : row + 1])
        assert np.array_equal(features.rows(np.asfortranarray(points[row:]), 1000), rows[row:])


def test_features_are_kept_with_their_block_or_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above KEPT only blocks that there is room for keep theirs; others make them at every visit; sums are the same."""
    points = np.random.default_rng(0).uniform(-1, 1, (9000, 3))
    features = PublicFeatures(RandomFeatureMap("gaussian", "cosine", 3, 5, 1.0, 1), Scaling.none(3))
    parts = [FeatureSample(each, each[:, 0]) for each in np.split(points, [8998, 8999])]
    query = clipped_pull(9000, np.linspace(-1, 1, 5), 0.5)

    def kept() -> tuple[list[bool], FloatArray]:
        table = FeatureTable(features, MemoryRows.parts(parts, [8998, 1, 1]), again=True)
        found = query.evaluate(table)
        first, second = ([rows for rows, _ in table.blocks()] for _ in range(2))
        assert [len(rows) for rows in first] == [4096, 4096, 806, 1, 1]
        assert np.array_equal(query.evaluate(table), found)
        return [one is other for one, other in zip(first, second, strict=True)], found

    monkeypatch.setattr("learners.random_features.feature_rows.KEPT", 9000 * 5)
    which, found = kept()
    assert which == [True] * 5
    for most, expected in ((9000 * 5 - 1, [True] * 4 + [False]), (8998 * 5 - 1, [False] * 3 + [True] * 2), (9, [])):
        monkeypatch.setattr("learners.random_features.feature_rows.KEPT", most)
        which, again = kept()  # room that others took is free again
        assert which == (expected or [False] * 3 + [True, False])
        assert np.array_equal(again, found)


def test_other_features_are_not_taken_for_those_that_are_kept() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (10, 3))
    rows = MemoryRows.of(FeatureSample(points, points[:, 0]), 10)
    query = clipped_pull(10, np.linspace(-1, 1, 5), 0.5)
    for seed in (1, 2):
        for scale in (1.0, 2.0):
            for reference in (None, "cube"):
                features = PublicFeatures(
                    RandomFeatureMap("gaussian", "cosine", 3, 5, 1.0, seed),
                    Scaling(np.zeros(3), np.full(3, scale)),
                    reference,
                )
                anew = FeatureTable(features, MemoryRows.of(FeatureSample(points, points[:, 0]), 10))
                assert np.array_equal(query.evaluate(FeatureTable(features, rows, again=True)), query.evaluate(anew))


def test_what_is_drawn_goes_along() -> None:
    """Frequencies and the public mean, so that no other machine's LAPACK or exponential shows."""
    features = PublicFeatures(RandomFeatureMap("orthogonal", "fourier", 3, 5, 1.0, 1), Scaling.none(3), "normal")
    features.ready()
    sent = pickle.loads(pickle.dumps(features))  # noqa: S301  # what was just written
    assert {"_drawn", "_turns"} <= set(vars(sent.map))
    assert "_shift" in vars(sent)


def test_nothing_shows_data() -> None:
    rows = MemoryRows.of(FeatureSample(np.full((1, 1), 0.123), np.array([0.456])), 1)
    features = PublicFeatures(RandomFeatureMap("gaussian", "cosine", 1, 5, 1.0, 1), Scaling.none(1))
    for thing in (rows, rows.blocks[0], rows.blocks[0].data, FeatureTable(features, rows)):
        assert "sealed" in repr(thing)


# --- refused before the charge ----------------------------------------------------------------------------------------


def refused(model: RandomFeatureRegressor | RandomFeatureClassifier, table: Blocks, said: str) -> None:
    ledger = Ledger(ApproxDP(9.0, 0.1), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match=said):
        model.set_params(ledger=ledger).fit(table, "y")
    assert ledger.spent == ApproxDP(0.0, 0.0)


@pytest.mark.parametrize("solver", ["min-norm", "gamma", "published", "sgd", "objective"])
@pytest.mark.parametrize("sent", [False, True])
def test_solvers_that_need_all_records_in_one_place_refuse_blocks(solver: str, sent: bool) -> None:
    X, y = waves(15)
    refused(regressor(solver), Blocks(X, y, [7, 8], sent), "take 'descent', 'adassp' or 'ridge'")
    assert regressor(solver).fit(Blocks(X, y, [15]), "y").coef_.size == 40  # one block in memory is one place


def test_bad_records_of_a_late_block_are_found_before_the_charge() -> None:
    X, y = waves(30)
    for wrong, labels, said in (
        (np.where(np.arange(60).reshape(30, 2) == 57, np.nan, X), y, "not a number"),
        (X, np.where(np.arange(30) == 29, np.nan, y), "NaN"),
    ):
        for sent in (False, True):
            refused(regressor(), Blocks(wrong, labels, [10, 10, 10], sent), said)
    classifier = RandomFeatureClassifier(1.0, 1e-5, schema=BOX)
    refused(classifier, Blocks(X, np.full(30, 2), [10, 20]), "undeclared class")
    refused(RandomFeatureClassifier(1.0, 1e-5, schema=BOX, classes="observed"), Blocks(X, y, [10, 20]), "observed")
    refused(regressor(), Blocks(X, y[:29], [10, 20]), "X has 20 records, y has 19")
    refused(regressor(schema=None), Blocks(X, y, [10, 20]), "give a schema")
    refused(regressor(schema=Bounds(1.0, 2.0), solver="sgd"), Blocks(X, y, [10, 20]), "in one place")
