"""Schemas and encoding: public domains, clear refusals, and codes that equal a dense reference."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boosting import BoundedMeasure
from learners import Categorical, EncodedSample, Label, Layout, Numeric, OutsideSchema, Schema, SchemaError, read_csv
from learners.encoding import PACK_CELLS, literal_signs
from learners.tables import Table, encode

SCHEMA = Schema(
    (
        Numeric("age", 0, 100, bins=4),
        Categorical("colour", ("red", "green", "?"), missing="?"),
        Numeric("gain", 0, 10, cuts=(1.0, 5.0), encoding="thresholds", outside="clip"),
    ),
    Label("y", ("no", "yes")),
)
TOML = """
[label]
name = "y"
classes = ["no", "yes"]

[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
bins = 4

[[columns]]
name = "colour"
kind = "categorical"
categories = ["red", "green", "?"]
missing = "?"

[[columns]]
name = "gain"
kind = "numeric"
lower = 0
upper = 10
cuts = [1.0, 5.0]
encoding = "thresholds"
outside = "clip"
"""


def test_a_toml_file_and_a_record_give_the_same_schema(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(TOML)
    assert Schema.from_toml(path) == SCHEMA == Schema.from_dict(SCHEMA.as_dict())


def test_features_say_what_they_mean() -> None:
    assert SCHEMA.features == [
        ("age", "[0, 25)"),
        ("age", "[25, 50)"),
        ("age", "[50, 75)"),
        ("age", "[75, 100]"),
        ("colour", "red"),
        ("colour", "green"),
        ("colour", "?"),
        ("gain", ">= 1"),
        ("gain", ">= 5"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TOML.replace('kind = "numeric"', 'kind = "number"', 1), "kind 'number' is not one of"),
        (TOML.replace("upper = 100", "upper = 0"), "lower 0.0 must be below upper 0.0"),
        (TOML.replace("upper = 100", ""), "column 'age'.*upper"),
        (TOML.replace('"?"]', '"red"]'), "distinct"),
        (TOML.replace('missing = "?"', 'missing = "none"'), "'none' is not one of its categories"),
        (TOML.replace("cuts = [1.0, 5.0]", "cuts = [5.0, 1.0]"), "must rise"),
        (TOML.replace("bins = 4", "bins = 1"), "at least 2 bins"),
        (TOML.replace('"thresholds"', '"threshold"'), "unknown encoding 'threshold'"),
        (TOML.replace('name = "gain"', 'name = "age"'), "no name twice"),
        (TOML.replace('["no", "yes"]', '["no"]'), "two classes"),
        ("this is not toml", "schema.toml"),
    ],
)
def test_a_faulty_schema_file_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(path)


TABLE: dict[str, list[object]] = {
    "age": [0, 24.9, 25, 100],
    "colour": ["red", None, " green ", "?"],
    "gain": [-3, 1, 7, 99],
}
CODES = [[0, 0, 1, 3], [0, 2, 1, 2], [0, 1, 2, 2]]


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE).astype({"colour": "category"}),
        pd.DataFrame({"extra": [1, 2, 3, 4], **TABLE}),
        {name: np.array([str(value) for value in values]) for name, values in TABLE.items()},
        np.array([TABLE["age"], TABLE["colour"], TABLE["gain"]], dtype=object).T,
    ],
    ids=["mapping", "frame", "categorical dtype", "extra column", "text", "object array"],
)
def test_every_kind_of_table_gives_the_same_codes(table: Table) -> None:
    assert encode(table, SCHEMA).tolist() == CODES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": [0, 101, 0, 0]}, r"column 'age', row 1: .*101.* is outside \[0.0, 100.0\]"),
        ({"age": [0, 0, np.nan, 0]}, "column 'age', row 2: .*nan.* is not a number"),
        ({"age": ["0", "old", "1", "2"]}, "column 'age', row 1: 'old' is not a number"),
        ({"colour": ["red", "blue", "red", "red"]}, "column 'colour', row 1: 'blue' is not one of its 3 categories"),
        ({"age": [1, 2, 3]}, "unequal lengths"),
        ({"age": [[1], [2], [3], [4]]}, "one value per record"),
    ],
)
def test_values_outside_the_schema_are_refused_by_column_and_row(change: dict[str, list[object]], message: str) -> None:
    table = {name: change.get(name, values) for name, values in TABLE.items()}
    with pytest.raises((OutsideSchema, ValueError), match=message):
        encode(table, SCHEMA)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lacks the columns \['gain'\]"):
        encode({name: TABLE[name] for name in ("age", "colour")}, SCHEMA)
    with pytest.raises(ValueError, match="has 2 columns, the schema 3"):
        encode(np.zeros((4, 2)), SCHEMA)
    with pytest.raises(ValueError, match="expected an array of shape"):
        encode(np.zeros(4), SCHEMA)
    with pytest.raises(ValueError, match="at least one record"):
        encode({name: np.array([]) for name in TABLE}, SCHEMA)


def test_unlisted_values_may_stand_for_a_named_category() -> None:
    column = Categorical("c", ("a", "b", "rest"), other="rest")
    assert column.codes(np.array(["b", "zzz", "a"])).tolist() == [1, 2, 0]
    with pytest.raises(OutsideSchema, match="'zzz' is not one of"):
        Categorical("c", ("", "a")).codes(np.array(["zzz", "a"]))
    assert Categorical("c", (" a", "b"), other="b").codes(np.array(["a", "x"])).tolist() == [0, 1]
    assert Categorical("n", ("0", "1")).codes(np.array([1.0, 0.0])).tolist() == [1, 0]
    assert Categorical("n", ("0", "1")).codes(np.array([True, False])).tolist() == [1, 0]


# --- weighted sums against a dense reference -------------------------------------------------------------------


@st.composite
def samples(draw: st.DrawFn) -> tuple[EncodedSample, BoundedMeasure]:
    kinds = st.sampled_from(["category", "one-hot", "thresholds"])
    columns = draw(st.lists(st.tuples(st.integers(2, 200), kinds), min_size=1, max_size=6))
    made = tuple(build(f"c{i}", cells, kind) for i, (cells, kind) in enumerate(columns))
    n, seed = draw(st.integers(1, 80)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, column.cells, n) for column in made])
    labels = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    values = rng.random(draw(st.integers(1, 9)))
    measure = BoundedMeasure(values, rng.integers(0, values.size, n), 1.0)
    return EncodedSample(Layout(Schema(made)), codes, labels), measure


def build(name: str, cells: int, kind: str) -> Categorical | Numeric:
    if kind == "category":
        return Categorical(name, tuple(map(str, range(cells))))
    return Numeric(name, 0, cells, bins=cells, encoding="thresholds" if kind == "thresholds" else "one-hot")


@given(samples())
def test_label_sums_equal_the_dense_product(case: tuple[EncodedSample, BoundedMeasure]) -> None:
    sample, measure = case
    dense = np.stack([literal_signs(sample.layout, sample.codes, f) > 0 for f in range(sample.layout.d)])
    signed = measure.weights * sample.labels
    sums = sample.label_sums(measure)
    assert sums[:-1] == pytest.approx(dense @ signed, abs=1e-12)
    assert sums[-1] == pytest.approx(signed.sum(), abs=1e-12)


@given(samples())
def test_label_sums_do_not_depend_on_the_order_of_rows(case: tuple[EncodedSample, BoundedMeasure]) -> None:
    """Bit for bit: counts are integers, and the floating-point part never sees a row."""
    sample, measure = case
    order = np.random.default_rng(0).permutation(sample.n)
    shuffled = EncodedSample(sample.layout, sample.codes[:, order], sample.labels[order])
    moved = BoundedMeasure(measure.values, measure.index[order], measure.mass)
    assert np.array_equal(sample.label_sums(measure), shuffled.label_sums(moved))


def test_columns_are_packed_within_the_cell_limit() -> None:
    layout = Layout(Schema(tuple(build(f"c{i}", cells, "category") for i, cells in enumerate((41, 16, 10, 10, 3, 2)))))
    assert sorted(column for group in layout.groups for column in group) == list(range(6))
    for group in layout.groups:
        cells = np.prod([layout.schema.columns[column].cells for column in group])
        assert cells <= PACK_CELLS
    assert len(layout.groups) < 6


def test_csv_files_are_read_with_their_faults_named(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('a, b\n1, "x, y"\n\n2,z \n')
    columns = read_csv(path)
    assert {name: list(values) for name, values in columns.items()} == {"a": ["1", "2"], "b": ["x, y", "z"]}
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"data\.csv, line 3: 1 fields, expected 2"):
        read_csv(path)
    path.write_text("")
    assert read_csv(path) == {}
