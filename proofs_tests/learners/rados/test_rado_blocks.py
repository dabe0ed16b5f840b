"""Rados of tables in blocks: the same, bit by bit, as of the same records in memory; and what is refused."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import attrs
import cloudpickle  # type: ignore[import-untyped]  # it has no types
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import ApproxDP, BasicComposition, FeatureValue, Ledger, ReplaceOne
from accountant.arrays import FloatArray
from learners import Categorical, Numeric, RadoBoostClassifier, RadoRelease, Schema
from learners.base.budget import FitBudget
from learners.blocks.block_tables import AnyTable, TableBlock
from learners.blocks.parquet_table import ParquetTable
from learners.rados.protected_columns import FeatureDesign
from learners.rados.public_sums import LOWEST, sizes, spread
from learners.rados.rado_designs import ExamplesDesign, NoProtection
from learners.rados.rado_records import RadoSample
from learners.tables.readers import Table
from mechanisms import EdgeVectors, SeededNoise, Vectors
from mechanisms.core.rows import Block, MemoryRows, Rows, Sums, added
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface

T = TypeVar("T")
U = TypeVar("U")
M = 300
RNG = np.random.default_rng(0)
COLUMNS: dict[str, Any] = {
    "age": RNG.uniform(0.0, 100.0, M),
    "sort": RNG.choice(["a", "b", "c"], M),
    "sex": RNG.choice(["f", "m"], M),
}
Y = np.where(COLUMNS["age"] + 30.0 * (COLUMNS["sex"] == "f") > 60.0, 1, 0)
SCHEMA = Schema((Numeric("age", 0.0, 100.0), Categorical("sort", ("a", "b", "c")), Categorical("sex", ("f", "m"))))
NUMBERS = {"age": COLUMNS["age"], "far": 1e6 + RNG.standard_normal(M), "odd": np.exp(RNG.uniform(-9.0, 9.0, M))}


@attrs.frozen(eq=False, repr=False)
class SentRows(Rows[T]):
    """Blocks of which nothing comes back but sums, and whose work is sent as to another process, last block first."""

    blocks: tuple[bytes, ...]
    transforms: tuple[Callable[[Any], Any], ...] = ()

    @property
    def n(self) -> int:
        return sum(cloudpickle.loads(block).size for block in self.blocks)

    def map(self, transform: Callable[[T], U]) -> "SentRows[U]":
        return SentRows(self.blocks, (*self.transforms, transform))

    def kept(self) -> "SentRows[T]":
        made = (attrs.evolve(block, data=self._seen(block.data)) for block in map(cloudpickle.loads, self.blocks))
        return SentRows(tuple(cloudpickle.dumps(block) for block in made))

    def _seen(self, data: object) -> Any:
        for transform in cast(
            "list[Callable[[Any], Any]]", cloudpickle.loads(cloudpickle.dumps(list(self.transforms)))
        ):
            data = transform(data)
        return data

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        sent = cloudpickle.dumps(work)
        found = (
            cloudpickle.loads(sent)(Block(self._seen(block.data), block.first, block.size))
            for block in map(cloudpickle.loads, reversed(self.blocks))
        )
        return added(found)


@attrs.frozen(eq=False, repr=False)
class Split:
    """A table in blocks that begin at these records. sent: as if to another process."""

    table: dict[str, Any]
    labels: Any
    cuts: list[int]
    sent: bool = False

    def block_header(self, y: object) -> Table:
        return dict.fromkeys(self.table, ())

    def block_rows(self, y: object) -> Rows[TableBlock]:
        ends = [*sorted({cut for cut in self.cuts if 0 < cut < M}), M]
        ranges = [slice(*each) for each in zip([0, *ends], ends, strict=False)]
        tables = [{name: column[rows] for name, column in self.table.items()} for rows in ranges]
        parts = [TableBlock(table, self.labels[rows]) for table, rows in zip(tables, ranges, strict=True)]
        rows = MemoryRows.parts(parts, [rows.stop - rows.start for rows in ranges])
        return SentRows(tuple(cloudpickle.dumps(block) for block in rows.blocks)) if self.sent else rows


WAYS: dict[str, dict[str, Any]] = {
    "whole records": {},
    "whole records, raw": {"standardise": False, "radius": 0.7},
    "one column": {"protection": "feature", "sensitive": "age"},
    "two columns": {"protection": "feature", "sensitive": ["sort", "sex"], "standardise": False},
    "nothing": {"protection": None},
    "nothing, raw": {"protection": None, "standardise": False},
}
CUTS = st.lists(st.integers(1, M - 1), max_size=6)


def released(X: AnyTable, y: object, **given: Any) -> RadoRelease:
    return RadoRelease(**{"schema": SCHEMA, "random_state": 0, "number": 20, "classes": (0, 1), **given}).fit(X, y)


def same(one: RadoRelease, other: RadoRelease) -> bool:
    return (
        np.array_equal(one.rados_.vectors, other.rados_.vectors)
        and np.array_equal(one.rados_.scaling.centre, other.rados_.scaling.centre)
        and np.array_equal(one.rados_.scaling.scale, other.rados_.scaling.scale)
    )


# --- the same releases ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_blocks_give_the_rados_that_memory_gives(way: str) -> None:
    """[exact-rows] Of any blocks, one record among them, and where all that is done is sent to another process."""
    whole = released(COLUMNS, Y, **WAYS[way])
    assert same(released(Split(COLUMNS, Y, [1, 64, 130], sent=True), None, **WAYS[way]), whole)

    @settings(max_examples=10)
    @given(CUTS)
    def law(cuts: list[int]) -> None:
        assert same(released(Split(COLUMNS, Y, cuts), None, **WAYS[way]), whole)

    law()


@pytest.mark.parametrize("way", ["whole records", "one column", "nothing"])
def test_files_and_dask_give_the_rados_that_memory_gives(way: str, tmp_path: Path) -> None:
    """[exact-rows]"""
    pytest.importorskip("pyarrow")
    dask = pytest.importorskip("dask")
    frame = pd.DataFrame({**COLUMNS, "rich": Y})
    for start, part in enumerate(np.array_split(np.arange(M), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"{start}.parquet")
    whole = released(COLUMNS, Y, **WAYS[way])
    assert same(released(ParquetTable(tmp_path, block=70), "rich", **WAYS[way]), whole)
    with dask.config.set(scheduler="synchronous"):
        table = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=7)
        assert same(released(table, "rich", **WAYS[way]), whole)


@pytest.mark.parametrize("standardise", [True, False])
def test_numbers_without_bounds_are_summed_alike(standardise: bool) -> None:
    """protection=None: their sizes are found by counts."""
    ask = partial(released, protection=None, schema=None, standardise=standardise)
    whole = ask(NUMBERS, Y)
    for cuts in ([1], [3, 64, 65], list(range(1, M))):
        assert same(ask(Split(NUMBERS, Y, cuts), None), whole)


@pytest.mark.parametrize("given", [{}, {"protection": None, "keep": "examples"}], ids=str)
def test_a_classifier_of_blocks_is_that_of_memory(given: dict[str, Any]) -> None:
    def fitted(X: AnyTable, y: object) -> RadoBoostClassifier:
        return RadoBoostClassifier(schema=SCHEMA, random_state=0, rounds=50, classes=(0, 1), **given).fit(X, y)

    whole = fitted(COLUMNS, Y)
    for cuts in ([1], [100, 200], list(range(1, M, 7))):
        found = fitted(Split(COLUMNS, Y, cuts, sent=True), None)
        assert np.array_equal(found.coef_, whole.coef_)
        assert (found.rounds_, found.feature_names_in_.tolist()) == (whole.rounds_, whole.feature_names_in_.tolist())
    assert whole.score(COLUMNS, Y) > 0.75


def test_nothing_that_was_not_paid_for_shows_of_blocks() -> None:
    """One record replaced; releases pinned, so all that is kept must be the same."""
    other = {name: column.copy() for name, column in COLUMNS.items()}
    other["age"][150], other["sort"][150] = 100.0 - other["age"][150], "b"
    labels = Y.copy()
    labels[150] = 1 - labels[150]

    def fit(data: tuple[dict[str, Any], Any], noise: PinnedNoise) -> RadoRelease:
        return released(Split(*data, [7, 140, 160]), None, random_state=noise)

    check_fitted_surface(fit, [Pair((COLUMNS, Y), (other, labels))])


# --- the data's own sizes ---------------------------------------------------------------------------------------------


def in_parts(values: FloatArray, cuts: list[int]) -> MemoryRows[Vectors]:
    parts = np.split(values, sorted({cut for cut in cuts if 0 < cut < len(values)}))
    return MemoryRows.parts([EdgeVectors(part) for part in parts], [len(part) for part in parts])


ANY = st.one_of(st.floats(-1e300, 1e300), st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 2.0**1023, 1.0, -0.5]))


@given(st.lists(st.lists(ANY, min_size=2, max_size=2), min_size=1, max_size=6), CUTS)
def test_sizes_are_those_of_the_largest(rows: list[list[float]], cuts: list[int]) -> None:
    values = np.array(rows)
    for found, column in zip(sizes(in_parts(values, cuts)).tolist(), values.T, strict=True):
        largest = float(np.max(np.abs(column)))
        assert found == (math.frexp(largest)[1] if largest else LOWEST)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e-3, 1.0, 1e6])
def test_means_and_deviations_are_right_to_the_last_digits(scale: float, offset: float) -> None:
    """Of numbers of any size, and far from 0: as good as numpy's."""
    normal = np.random.default_rng(1).standard_normal((5000, 3))
    values = (normal + offset) * scale
    found = spread(in_parts(values, [1, 2000]))
    unit = values / scale
    assert found.centre / scale == pytest.approx(unit.mean(axis=0), rel=1e-12, abs=1e-15)
    if scale > 1e-6:
        assert found.scale / scale == pytest.approx(unit.std(axis=0), rel=1e-9)
    else:
        assert found.scale.tolist() == [1.0] * 3


def test_constant_columns_keep_their_scale_wherever_they_are() -> None:
    for value in (0.0, 0.1, 1e6 + 0.1, -3e9):
        assert spread(in_parts(np.full((777, 1), value), [5])).scale[0] == 1.0


# --- what is refused --------------------------------------------------------------------------------------------------

ONE_PLACE: dict[str, tuple[dict[str, Any], str]] = {
    "edges": ({"route": "edges"}, r"route: 'edges' draws noise for each record.*Use route='rados'"),
    "edges of a size": ({"route": "edges", "support": 9}, "route: 'edges'"),
    "own supports": (
        {"protection": "feature", "sensitive": "sex", "route": "own-supports"},
        r"route: 'own-supports' draws in secret.*Use route='sums'",
    ),
    "support": ({"protection": None, "support": 9}, "support: of some size.*Leave it out"),
    "observed classes": ({"classes": "observed"}, "classes: 'observed' looks at all labels"),
}


@pytest.mark.parametrize("fault", ONE_PLACE)
def test_what_takes_all_records_in_one_place_refuses_blocks_before_the_charge(fault: str) -> None:
    given, message = ONE_PLACE[fault]
    adjacency = FeatureValue(2) if given.get("protection") == "feature" else ReplaceOne()
    ledger = Ledger(ApproxDP(50.0, 1e-6), composition=BasicComposition(), adjacency=adjacency)
    payer = {} if given.get("protection", "") is None else {"ledger": ledger}
    with pytest.raises(ValueError, match=message):
        released(Split(COLUMNS, Y, [100]), None, epsilon=50.0, **payer, **given)
    assert len(ledger.entries) == 1
    assert released(COLUMNS, Y, epsilon=50.0, **payer, **given).rados_.vectors.size


def test_designs_refuse_blocks_themselves() -> None:
    """Whoever calls them by another way than `fit` is told before the charge too."""
    table = RadoRelease(schema=SCHEMA, classes=(0, 1)).encoded(Split(COLUMNS, Y, [9]), None)
    budget = FitBudget(ApproxDP(1.0, 1e-6), BasicComposition(), "test")
    releases: tuple[Callable[[], object], ...] = (
        lambda: NoProtection(4, 9, True).drawn(table, SeededNoise(0)),
        lambda: ExamplesDesign(4, 1.0, True, None, True).plan(table, budget, SeededNoise(0)),
        lambda: FeatureDesign(4, (2,), ("sex",), True, None, True).plan(table, budget, SeededNoise(0)),
    )
    for release in releases:
        with pytest.raises(ValueError, match="records in one place"):
            release()


def test_bad_records_are_refused_before_the_charge_wherever_they_are() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    holes, odd = COLUMNS["age"].copy(), Y.copy()
    holes[250], odd[250] = math.nan, 7
    for table, labels, message in (
        ({**COLUMNS, "age": holes}, Y, "NaN|missing"),
        ({**COLUMNS, "sex": np.where(np.arange(M) == 250, "x", COLUMNS["sex"])}, Y, "'x'"),
        (COLUMNS, odd, "y holds .* classes.*is 7"),
        ({"age": COLUMNS["age"]}, Y, "lacks the columns"),
    ):
        with pytest.raises(ValueError, match=message):
            released(Split(table, labels, [100, 200]), None, ledger=ledger)
    assert len(ledger.entries) == 1


@attrs.frozen(eq=False, repr=False)
class Lying(Split):
    """Its last block says that it holds one record more."""

    def block_rows(self, y: object) -> Rows[TableBlock]:
        blocks = cast("MemoryRows[TableBlock]", super().block_rows(y)).blocks
        sizes = [block.size + (block is blocks[-1]) for block in blocks]
        return MemoryRows.parts([block.data for block in blocks], sizes)


def test_blocks_that_hold_another_number_than_they_say_are_refused_before_the_charge() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match=r"a block of \d+ records holds"):
        released(Lying(COLUMNS, Y, [100, 200]), None, ledger=ledger)
    assert len(ledger.entries) == 1


def test_a_block_of_one_class_will_do() -> None:
    order = np.argsort(Y, kind="stable")
    sorted_columns = {name: column[order] for name, column in COLUMNS.items()}
    one = released(Split(sorted_columns, Y[order], [1, 50]), None)
    assert same(one, released(sorted_columns, Y[order]))


def test_records_stay_sealed() -> None:
    table = RadoRelease(schema=SCHEMA, classes=(0, 1)).encoded(COLUMNS, Y)
    assert repr(table) == "<RadoTable: sealed>"
    sample = table.sample()
    assert sample is not None
    assert "array" not in repr(sample)
    assert "array" not in repr(sample.points([0]))
    assert isinstance(sample, RadoSample)
