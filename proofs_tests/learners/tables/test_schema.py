"""Schemas and encoding: public domains, clear refusals, and codes that equal a dense reference."""

from pathlib import Path
from typing import cast

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boosting import BoundedMeasure
from learners import (
    Boolean,
    Bounds,
    Categorical,
    EncodedSample,
    Label,
    Layout,
    Numeric,
    OutsideSchema,
    Schema,
    SchemaError,
    read_csv,
    schema_from_dtypes,
)
from learners.encoding.encoder import literal_signs
from learners.encoding.packing import NARROW, WIDE
from learners.encoding.weighted_sums import as_shares
from learners.tables.readers import Table, encode

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
        pd.DataFrame(TABLE).astype({"age": "Float64", "colour": "string", "gain": "Int64"}),
        pd.DataFrame(TABLE).astype(object),
        pd.DataFrame({"extra": [1, 2, 3, 4], **TABLE}),
        {name: np.array([str(value) for value in values]) for name, values in TABLE.items()},
        np.array([TABLE["age"], TABLE["colour"], TABLE["gain"]], dtype=object).T,
    ],
    ids=["mapping", "frame", "categorical dtype", "nullable dtypes", "objects", "extra column", "text", "object array"],
)
def test_every_kind_of_table_gives_the_same_codes(table: Table) -> None:
    assert encode(table, SCHEMA).tolist() == CODES


def test_polars_frames_are_read_like_all_others() -> None:
    polars = pytest.importorskip("polars")
    columns = {
        name: [value.strip() if isinstance(value, str) else value for value in values] for name, values in TABLE.items()
    }
    frame = polars.DataFrame(columns, strict=False)
    assert encode(frame, SCHEMA).tolist() == CODES
    assert encode(frame.with_columns(polars.col("colour").cast(polars.Categorical)), SCHEMA).tolist() == CODES
    enum = polars.DataFrame({"c": ["b", "a"]}, schema={"c": polars.Enum(["a", "b"])})
    assert schema_from_dtypes(enum).columns == (Categorical("c", ("a", "b")),)
    with pytest.raises(SchemaError, match="column 'c'"):
        schema_from_dtypes(polars.DataFrame({"c": ["b", "a"]}, schema={"c": polars.Categorical}))


@pytest.mark.parametrize("dtype", [bool, object, "boolean", "Int64", float])
def test_a_boolean_column_means_the_same_in_every_type(dtype: object) -> None:
    column = pd.DataFrame({"b": pd.Series([True, False, True]).astype(dtype)})
    for kind in (Boolean("b"), Categorical("b", ("0", "1")), Numeric("b", 0, 1, bins=2)):
        assert encode(column, Schema((kind,))).tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("values", [[1, 2, None], [1.0, 2.0, np.nan], ["1", "2", None]])
@pytest.mark.parametrize("dtype", [None, object, "category"])
def test_numbers_as_categories_lose_their_point(values: list[object], dtype: object) -> None:
    """pandas makes floats of whole numbers as soon as one is missing."""
    schema = Schema((Categorical("n", ("1", "2", "?"), missing="?"),))
    assert encode({"n": pd.Series(values).astype(dtype) if dtype else pd.Series(values)}, schema).tolist() == [
        [0, 1, 2]
    ]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(2, 20))
def test_bounds_clip_every_column(values: list[float], bins: int) -> None:
    schema = Bounds(-1, 2, bins=bins).over(["a", "b"])
    assert schema == Schema.from_dict(schema.as_dict())
    codes = encode({"a": values, "b": [-1.0] * len(values)}, schema)
    inside = encode({"a": np.clip(values, -1, 2), "b": [-1.0] * len(values)}, schema)
    assert np.array_equal(codes, inside)
    assert codes[1].max() == 0
    assert 0 <= codes.min() <= codes.max() < bins


def test_bounds_refuse_what_is_no_range_and_no_number() -> None:
    with pytest.raises(SchemaError, match=r"lower 1\.0 must be below upper 1\.0"):
        Bounds(1, 1)
    with pytest.raises(SchemaError, match="finite"):
        Bounds(0, np.inf)
    with pytest.raises(SchemaError, match="at least 2 bins"):
        Bounds(0, 1, bins=1)
    schema = Bounds(0, 1).over(["a"])
    for value, message in ((np.inf, "contains infinity"), (np.nan, "Input X contains NaN"), ("x", "is not a number")):
        with pytest.raises(OutsideSchema, match=f"column 'a', row 1: .*{message}"):
            encode({"a": np.array([0, value], dtype=object)}, schema)


def test_types_spell_out_a_schema_and_values_do_not() -> None:
    colours = pd.CategoricalDtype(["red", "green"])
    frame = pd.DataFrame({"age": [17, 90], "colour": pd.Series(["red", "red"], dtype=colours), "on": [True, True]})
    label = Label("y", ("no", "yes"))
    expected = Schema((Numeric("age", 0, 99, bins=3), Categorical("colour", ("red", "green")), Boolean("on")), label)
    assert schema_from_dtypes(frame.assign(y="no"), {"age": (0, 99)}, bins=3, label=label) == expected
    assert schema_from_dtypes(frame[:0], {"age": (0, 99)}, bins=3, label=label) == expected
    nullable = frame.astype({"on": "boolean", "age": "Int64"})
    assert schema_from_dtypes(nullable, {"age": (0, 99)}, bins=3, label=label) == expected
    numbers = pd.DataFrame({"n": pd.Series([2.0, 1.0], dtype=pd.CategoricalDtype([1.0, 2.0])), "b": [True, False]})
    spelt = schema_from_dtypes(numbers.astype({"b": "category"}))
    assert spelt.columns == (Categorical("n", ("1", "2")), Categorical("b", ("0", "1")))
    assert encode(numbers, spelt).tolist() == [[1, 0], [1, 0]]
    with pytest.raises(
        SchemaError, match=r"column 'age' is int64, .*bounds=\{'age': \(lower, upper\)\} from public knowledge"
    ):
        schema_from_dtypes(frame)
    with pytest.raises(SchemaError, match=r"the frame has no columns \['weight'\]"):
        schema_from_dtypes(frame, {"age": (0, 99), "weight": (0, 9)})
    with pytest.raises(SchemaError, match=r"column 's' is (str|object)"):
        schema_from_dtypes(pd.DataFrame({"s": ["a", "b"]}))


def test_masked_arrays_are_refused_whatever_they_mask() -> None:
    """numpy would drop the mask, and the values beneath would be learnt from."""
    column = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    for table in (np.ma.masked_array(np.zeros((3, 1))), {"a": column}):
        with pytest.raises(TypeError, match="masked arrays are not supported"):
            encode(table, Bounds(0, 9).over(["a"]))


def test_a_label_may_have_more_than_two_classes() -> None:
    schema = attrs.evolve(SCHEMA, label=Label("y", ("a", "b", "c")))
    assert Schema.from_dict(schema.as_dict()) == schema
    for classes in (("a",), ("a", "b", "a"), "ab"):
        with pytest.raises(SchemaError, match="classes"):
            Label("y", cast("tuple[str, ...]", classes))


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
    index = rng.integers(0, values.size, n)
    measure = BoundedMeasure(values, index, float(values[index].sum()))
    return EncodedSample(Layout(Schema(made)), codes, labels), measure


def build(name: str, cells: int, kind: str) -> Categorical | Numeric:
    if kind == "category":
        return Categorical(name, tuple(map(str, range(cells))))
    return Numeric(name, 0, cells, bins=cells, encoding="thresholds" if kind == "thresholds" else "one-hot")


@given(samples())
def test_label_sums_equal_the_dense_product(case: tuple[EncodedSample, BoundedMeasure]) -> None:
    sample, measure = case
    dense = np.stack([literal_signs(sample.layout, sample.codes, f) > 0 for f in range(sample.layout.d)])
    signed = measure.distribution * sample.labels
    sums = as_shares(sample.label_sums(measure), sample.n)
    assert sums[:-1] == pytest.approx(dense @ signed, abs=2.0**-37)
    assert sums[-1] == pytest.approx(signed.sum(), abs=2.0**-37)


@given(samples())
def test_label_sums_do_not_depend_on_the_order_of_rows(case: tuple[EncodedSample, BoundedMeasure]) -> None:
    """Bit for bit: whole numbers are added up, and the floating-point part never sees a row."""
    sample, measure = case
    order = np.random.default_rng(0).permutation(sample.n)
    shuffled = EncodedSample(sample.layout, sample.codes[:, order], sample.labels[order])
    moved = BoundedMeasure(measure.values, measure.index[order], measure.mass)
    assert np.array_equal(sample.label_sums(measure), shuffled.label_sums(moved))


def test_columns_are_packed_within_the_cell_limit() -> None:
    layout = Layout(Schema(tuple(build(f"c{i}", cells, "category") for i, cells in enumerate((41, 16, 10, 10, 3, 2)))))
    for packing, most in ((layout.narrow, NARROW), (layout.wide, WIDE)):
        assert sorted(column for group in packing.groups for column in group) == list(range(6))
        for group in packing.groups:
            cells = np.prod([layout.schema.columns[column].cells for column in group])
            assert cells <= most
        assert len(packing.groups) < 6
    assert len(layout.wide.groups) < len(layout.narrow.groups)


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
