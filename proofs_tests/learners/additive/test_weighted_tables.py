"""A record of weight 0 is as if it were not there: nothing of it is read, summed, counted or refused."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from learners import Boolean, Categorical, LazyBoostClassifier, MappedTable, ParquetTable, PrivateBoostClassifier
from learners.additive.weighted_tables import whole_weights
from learners.encoding import EncodedSample, Layout, finely_cut
from learners.encoding.encoded_rows import EncodedRows
from learners.tables.schema import Label, Numeric, Schema
from mechanisms.core.rows import MemoryRows

LABELS = ("no", "yes")
SCHEMA = Schema(
    (Categorical("colour", ("red", "green", "blue")), Numeric("age", 0.0, 100.0), Boolean("member")),
    Label("kind", LABELS),
)
JUNK: dict[str, list[object]] = {
    "colour": ["mauve", None, "red"], "age": [float("nan"), -1e300, 50.0], "member": [7, 1, 0],
    "kind": ["yes", None, "perhaps"],
}  # fmt: skip
"""What no fit would take, in one column or another of each record."""


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.uniform(0.0, 100.0, n)
    return pd.DataFrame({
        "colour": rng.choice(["red", "green", "blue"], n), "age": age, "member": rng.integers(0, 2, n),
        "kind": np.where(age + rng.normal(0.0, 20.0, n) > 50.0, "yes", "no"), "w": rng.choice([0.5, 1.0, 2.0], n),
    }).astype({"colour": object, "member": object, "kind": object})  # fmt: skip


def with_junk(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same records in the same order, among others of weight 0, or of so little that it rounds to 0."""
    rng = np.random.default_rng(seed)
    junk = pd.DataFrame({**JUNK, "w": [0.0, 1e-5, 0.0]}).astype({"member": object})
    places = np.sort(rng.integers(0, len(frame) + 1, 3))
    parts = [frame.iloc[start:end] for start, end in zip([0, *places], [*places, len(frame)], strict=True)]
    rows = [each for k, part in enumerate(parts) for each in (part, junk.iloc[k : k + 1])]
    return pd.concat(rows, ignore_index=True)


def learner(**changed: Any) -> PrivateBoostClassifier:
    settings: dict[str, Any] = {
        "rounds_per_column": 2, "calibration": 0.2, "weight_cap": 2.0, "schema": SCHEMA, "random_state": 1, **changed,
    }  # fmt: skip
    return PrivateBoostClassifier(1.0, 1e-6, **settings)


def model(found: PrivateBoostClassifier) -> str:
    return json.dumps([found.model_.as_record(), found.statement_.as_dict()["spent"]], sort_keys=True, default=str)


def as_mapping(frame: pd.DataFrame) -> object:
    return {name: frame[name].to_numpy() for name in SCHEMA.names}


def as_lists(frame: pd.DataFrame) -> object:
    return frame[SCHEMA.names].to_numpy(dtype=object).tolist()


@pytest.mark.parametrize("table", [lambda frame: frame[SCHEMA.names], as_mapping, as_lists])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"adjacency": "replace-one"},
        {"calibration": 0.0, "classes": ("no", "yes", "unsure")},
        {"classes": "observed"},
        {"tune": [{"rounds_per_column": 1}, {"rounds_per_column": 2}]},
        {"interactions": [("colour", "age")]},
    ],
)
def test_nothing_shows_that_they_are_there(table: Callable[[pd.DataFrame], Any], changed: dict[str, Any]) -> None:
    clean = people(60, 0)
    expected = model(learner(**changed).fit(table(clean), clean["kind"].tolist(), clean["w"]))
    mixed = with_junk(clean, 1)
    assert model(learner(**changed).fit(table(mixed), mixed["kind"].tolist(), mixed["w"])) == expected


@settings(max_examples=15)
@given(st.integers(0, 30), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 33), max_size=2))
def test_encoded_records_of_weight_nothing_are_not_there_in_memory_or_in_blocks(
    n: int, seed: int, cuts: list[int]
) -> None:
    rng, layout = np.random.default_rng(seed), Layout(finely_cut(SCHEMA))
    codes = np.array([rng.integers(0, column.cells, n + 1) for column in layout.schema.columns], dtype=np.uint8)
    labels, weights = rng.choice([-1, 1], n + 1).astype(np.int8), rng.integers(0, 3, n + 1).astype(np.int32)
    weights[0] = 5
    there = np.flatnonzero(weights)
    alone = EncodedSample(layout, codes[:, there], labels[there], weights[there])
    expected = model(learner().fit_encoded(alone))
    assert model(learner().fit_encoded(EncodedSample(layout, codes, labels, weights))) == expected
    ends = sorted({0, n + 1, *(min(cut, n + 1) for cut in cuts)})
    parts = [EncodedSample(layout, codes[:, a:b], labels[a:b], weights[a:b]) for a, b in itertools.pairwise(ends)]
    rows = EncodedRows(layout, MemoryRows.parts(parts, [part.n for part in parts]), weighted=True)
    assert model(learner().fit_encoded(rows)) == expected


@pytest.mark.parametrize("changed", [{}, {"tune": [{"rounds_per_column": 1}, {"rounds_per_column": 2}]}])
def test_a_column_of_weights_in_files_is_what_weights_in_memory_are(changed: dict[str, Any], tmp_path: Path) -> None:
    clean = people(60, 2)
    expected = model(learner(**changed).fit(clean[SCHEMA.names], clean["kind"], clean["w"]))
    mixed = with_junk(clean, 3).astype({"member": float})
    for number, part in enumerate((mixed.iloc[:20], mixed.iloc[20:21], mixed.iloc[21:])):
        table = pyarrow.Table.from_pandas(part, preserve_index=False)
        parquet.write_table(table, tmp_path / f"{number}.parquet", row_group_size=9)
    stored = ParquetTable(tmp_path, "kind", block=10)
    assert model(learner(**changed).fit(stored, sample_weight="w")) == expected


def test_all_records_may_weigh_nothing() -> None:
    """Under add-remove-one how many there are is private, so that no record at all is nothing to refuse."""
    frame = people(10, 0)
    found = learner().fit(frame, frame["kind"], np.zeros(10))
    assert np.all(np.isfinite(found.decision_function(frame)))


def test_what_is_wrong_with_others_is_said_of_their_own_rows() -> None:
    frame = with_junk(people(10, 0), 0)
    row = int(np.flatnonzero(frame["w"] >= 0.5)[7])
    frame.loc[row, "age"] = 101.0
    with pytest.raises(ValueError, match=f"column 'age', row {row}:"):
        learner().fit(frame, frame["kind"], frame["w"])
    frame.loc[row, "age"], frame.loc[row, "kind"] = 50.0, "perhaps"
    with pytest.raises(ValueError, match="perhaps") as caught:
        learner().fit(frame, frame["kind"], frame["w"])
    assert "weight 0" in caught.value.__notes__[0]


def test_numbers_that_differ_are_refused() -> None:
    frame = people(10, 0)
    with pytest.raises(ValueError, match="X has 9 records, y has 10"):
        learner().fit(frame.iloc[:9], frame["kind"], frame["w"])
    with pytest.raises(ValueError, match="sample_weight: expected shape"):
        learner().fit(frame, frame["kind"], frame["w"].iloc[:9])


@pytest.mark.parametrize(
    ("weight", "changed", "error", "said"),
    [
        ("v", {}, ValueError, "no column 'v'"),
        ("w", {"weight_cap": None}, ValueError, "weight_cap"),
        ("w", {"weight_cap": 1.0}, ValueError, "is not within"),
        ([1.0], {}, TypeError, "name of the column"),
        ("w", {"schema": None}, ValueError, "needs a Schema"),
    ],
)
def test_wrong_weights_of_blocks_are_refused(
    weight: object, changed: dict[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    frame = people(30, 0).astype({"member": int})
    parquet.write_table(pyarrow.Table.from_pandas(frame, preserve_index=False), tmp_path / "a.parquet")
    with pytest.raises(error, match=said):
        learner(**changed).fit(ParquetTable(tmp_path, "kind"), sample_weight=weight)


def test_blocks_with_weights_are_for_learners_that_take_them() -> None:
    layout, codes = Layout(SCHEMA), np.zeros((3, 4), dtype=np.uint8)
    signs = np.array([1, -1, 1, 1], dtype=np.int8)
    parts = [EncodedSample(layout, codes, signs, np.ones(4, dtype=np.int32))]
    rows = MemoryRows.parts(parts, [4])
    with pytest.raises(ValueError, match="takes none"):
        LazyBoostClassifier(1.0).fit_encoded(EncodedRows(layout, rows, weighted=True))
    with pytest.raises(ValueError, match="or none"):
        learner().fit_encoded(EncodedRows(layout, rows))


def test_arrays_on_disk_take_no_weights_yet() -> None:
    X = np.zeros((4, 3))
    with pytest.raises(TypeError, match="name of the column"):
        learner(schema=None).fit(MappedTable(X, np.zeros(4)), sample_weight=np.ones(4))


@given(st.lists(st.floats(0.0, 2.0), min_size=1, max_size=9))
def test_a_weight_below_a_thousandth_of_the_cap_is_none(weights: list[float]) -> None:
    found: npt.NDArray[np.int32] = whole_weights(weights, 2.0, len(weights))
    assert np.array_equal(found > 0, np.array(weights) >= 2.0 / 1024)
