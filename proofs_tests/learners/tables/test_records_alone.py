"""The law: what becomes of a record depends on that record alone, whatever table it comes in. [records-alone]"""

import contextlib
import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import dask
import dask.dataframe
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from learners import Boolean, Categorical, EncodedSample, Numeric, OutsideSchema, Schema
from learners.additive.weighted_tables import whole_weights
from learners.blocks.block_tables import AnyTable, Source
from learners.blocks.parquet_table import ParquetTable
from learners.encoding.encoded_rows import encoded_rows
from learners.encoding.numeric_features import Coding
from learners.fairness.group_measures import column_of, group_values
from learners.tables.csv_files import read_csv
from learners.tables.labels import bounded_labels, class_numbers
from learners.tables.readers import Table, encode, narrow_codes, number_table
from learners.tables.schema import Column
from mechanisms.core.rows import Block
from proofs_tests.harness import check_records_alone
from proofs_tests.harness.containers import Columns, Kind, Put, containers

SIZES: Final = (3, 12)

NOON: Final = datetime.datetime(2020, 1, 1, 12, 30)
DOMAINS: Final[Mapping[Kind, tuple[object, ...]]] = {
    "truth": (True, False, None),
    "whole": (0, 1, 7, 2**53 + 1, -(2**60), None),
    "number": (0.0, 1.0, 2.5, -0.0, 1e-300, 0.1, None),
    "text": ("a", " b ", "1", "True", "", "nan", "1.0", None),
    "time": (datetime.datetime(2020, 1, 1), NOON, datetime.datetime(2021, 2, 3, 4, 5, 6, 7), None),
    "mixed": (
        *(
            True,
            False,
            1,
            0,
            2.5,
            1.0,
            0.1,
            np.float32(0.1),
            np.float64(1.0),
            np.int8(1),
            2**53 + 1,
            2**70,
            float("nan"),
        ),
        *("unknown", "True", "1", " a ", "", "2.5", None, np.str_("a"), b"a", NOON, NOON.date()),
        *(np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:00"), np.datetime64("NaT")),
    ),
}
NAMES: Final = [
    *("?", "rest", "1", "0", "a", "b", "2.5", "0.1", "7", "9007199254740993", "1180591620717411303424"),
    *("2020-01-01", "2020-01-01 12:30:00", "2020-01-01T12:30:00.000000000", "2020-01-01T00:00", "2020-01-01 00:00:00"),
    "0.10000000149011612",
]
COLUMNS: Final[Mapping[str, Callable[[str], Column]]] = {
    "categories, all taken": lambda name: Categorical(name, NAMES, missing="?", other="rest"),
    "categories, truth as words": lambda name: Categorical(name, ("True", "False", "?"), missing="?", other="?"),
    "categories, missing ones refused": lambda name: Categorical(name, NAMES, other="rest"),
    "categories, others refused": lambda name: Categorical(name, NAMES, missing="?"),
    "numbers, clipped": lambda name: Numeric(name, 0.0, 2.0, bins=4, outside="clip"),
    "numbers within bounds": lambda name: Numeric(name, -1.0, 3.0, bins=5),
    "numbers, none in a cell of its own": lambda name: Numeric(name, 0.0, 2.0, bins=4, outside="clip", missing="own"),
    "numbers, none as thresholds": lambda name: Numeric(name, 0.0, 9.0, bins=3, encoding="thresholds", missing="own"),
    "numbers, none counts as one": lambda name: Numeric(name, 0.0, 2.0, bins=4, outside="clip", missing=1),
    "truth": Boolean,
}
KINDS: Final = tuple(DOMAINS)


def codes(column: Column) -> Callable[[Table], Iterable[object]]:
    return lambda table: encode(table, Schema((column,))).T


def features(column: Column) -> Callable[[Table], Iterable[object]]:
    coding = Coding(Schema((column,)), (column.name,), constant=True)
    return lambda table: coding.encode(table, "the test")


def ways(kind: Kind, domain: Sequence[object]) -> Mapping[str, Put]:
    return containers(Columns(("c",), (kind,), (tuple(domain),)))


WAYS: Final = [(kind, way) for kind in KINDS for way in ways(kind, DOMAINS[kind])]


READ: Final = [
    (*each, column)
    for each in WAYS
    for column in COLUMNS
    if each[0] != "time" or column.startswith("categories") or "none" in column
]
"""Time stamps are no numbers: columns of those refuse all of them, but for the missing one where it has a place."""


@pytest.mark.parametrize(("kind", "way", "column"), READ)
def test_a_record_is_encoded_alone(kind: Kind, way: str, column: str) -> None:
    put, records = ways(kind, DOMAINS[kind])[way], [(value,) for value in DOMAINS[kind]]
    for become in (codes(COLUMNS[column]("c")), features(COLUMNS[column]("c"))):
        check_records_alone(f"{column}, {way}", become, put, records, numbers=SIZES)


def takes_one(schema: Schema, records: list[tuple[object, object]]) -> bool:
    """Whether one of them at least is not refused: else there is nothing to look at."""
    for first, second in records:
        with contextlib.suppress(ValueError):
            encode({"first": [first], "second": [second]}, schema)
            return True
    return False


@settings(max_examples=40)
@given(st.sampled_from(WAYS), st.sampled_from(list(COLUMNS)), st.data())
def test_records_of_several_columns_are_encoded_alone(way: tuple[Kind, str], column: str, data: st.DataObject) -> None:
    kind, name = way
    record = st.tuples(st.sampled_from(DOMAINS[kind]), st.sampled_from(DOMAINS[kind]))
    records = data.draw(st.lists(record, min_size=2, max_size=5))
    schema = Schema((COLUMNS[column]("first"), COLUMNS["categories, all taken"]("second")))
    assume(takes_one(schema, records))
    put = containers(Columns(("first", "second"), (kind, kind), (DOMAINS[kind], DOMAINS[kind])))[name]
    check_records_alone(name, lambda table: narrow_codes(table, schema).T, put, records, numbers=(3,))


NUMBERS: Final = (
    1,
    True,
    2.5,
    "2.5",
    np.float32(0.1),
    2**70,
    None,
    "x",
    10**400,
    float("inf"),
    NOON,
    1e300,
    np.int8(-1),
)


@pytest.mark.parametrize("way", [way for kind, way in WAYS if kind == "mixed"])
def test_a_record_of_bare_numbers_is_read_alone(way: str) -> None:
    records = [(value, 1.0) for value in NUMBERS] + [(np.float32(0.1), "7")]
    columns = Columns(("a", "b"), ("mixed", "mixed"), (NUMBERS, (1.0, "7")))
    check_records_alone(way, number_table, containers(columns)[way], records, numbers=SIZES)


def test_numbers_are_read_as_they_are() -> None:
    table = {"a": [np.float32(0.1), "0.1", True], "b": [2**53 + 1, 1, "-0.0"]}
    expected = [[float(np.float32(0.1)), 2.0**53], [0.1, 1.0], [1.0, -0.0]]
    assert number_table(table).tobytes() == np.array(expected).tobytes()
    rows = list(zip(table["a"], table["b"], strict=True))
    assert number_table(rows).tobytes() == np.array(expected).tobytes()


# --- blocks -----------------------------------------------------------------------------------------------------------


def in_parquet(frame: pd.DataFrame, size: int, folder: Path) -> AnyTable:
    path = folder / f"{len(frame)}-{size}.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pandas(frame), path, row_group_size=size)
    return ParquetTable(path, "y", block=size)


def in_partitions(frame: pd.DataFrame, size: int, folder: Path) -> AnyTable:
    found: AnyTable = dask.dataframe.from_pandas(frame, chunksize=size, sort=False)  # type: ignore[no-untyped-call]  # Dask
    return found


def blockwise(table: AnyTable, schema: Schema) -> list[list[int]]:
    """Codes record by record, from encoded blocks."""
    rows = encoded_rows(Source.of(table, "y").rows, schema, (0, 1), "the test").rows

    def placed(block: Block[EncodedSample]) -> npt.NDArray[np.int64]:
        whole = np.zeros((rows.n, len(schema.columns)), dtype=np.int64)
        whole[block.first : block.first + block.size] = block.data.codes.T
        return whole

    with dask.config.set(scheduler="synchronous"):
        return [list(map(int, row)) for row in rows.total(placed)]


SERIES: Final[Mapping[str, Callable[[], pd.Series]]] = {
    "categories of time stamps and none": lambda: pd.Series(
        pd.Categorical(pd.Series([datetime.datetime(2020, 1, 1), NOON] * 20 + [None], dtype="datetime64[ns]"))
    ),
    "truth values among objects, and none": lambda: pd.Series([True, False] * 20 + [None], dtype=object),
    "whole floats among objects, and none": lambda: pd.Series([1.0, 0.0] * 20 + [None], dtype=object),
    "whole numbers and none": lambda: pd.Series([2**53 + 1, 7] * 20 + [None], dtype="Int64"),
    "categories of text and none": lambda: pd.Series(["a", "b"] * 20 + [None], dtype=object).astype("category"),
    "truth values of pandas and none": lambda: pd.Series([True, False] * 20 + [None], dtype="boolean"),
}


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("put", [in_parquet, in_partitions], ids=["Parquet", "Dask"])
@pytest.mark.parametrize("series", SERIES)
def test_blocks_of_any_size_are_encoded_as_in_memory(
    series: str, put: Callable[[pd.DataFrame, int, Path], AnyTable], size: int, tmp_path: Path
) -> None:
    """[exact-rows] One record without a value used to put all others of its block, or of the table, into "?"."""
    schema = Schema((Categorical("c", [*NAMES, "2020-01-01T00:00:00.000000000"], missing="?", other="rest"),))
    values = SERIES[series]()
    frame = pd.DataFrame({"c": values, "y": np.arange(len(values)) % 2})
    found = blockwise(put(frame, size, tmp_path), schema)
    assert found == encode(frame, schema).T.tolist()
    assert [row[0] for row in found].count(NAMES.index("?")) == 1
    assert len({row[0] for row in found}) == 3


# --- labels, weights, groups ----------------------------------------------------------------------------------------

CLASSES: Final = [(0, 1), ("0", "1"), (False, True), (1, "1"), ("no", "yes", 2), (2.5, 0)]


@pytest.mark.parametrize("classes", CLASSES, ids=str)
@pytest.mark.parametrize(
    "put", [list, tuple, lambda values: np.array(values, dtype=object)], ids=["list", "tuple", "array"]
)
def test_a_label_is_read_alone(classes: tuple[object, ...], put: Callable[[Sequence[object]], Any]) -> None:
    labels = [
        0,
        1,
        True,
        False,
        "0",
        "1",
        "no",
        "yes",
        2,
        2.5,
        0.0,
        np.int8(1),
        None,
        float("nan"),
        "x",
        np.float64(1.0),
    ]
    check_records_alone(f"{classes}", lambda y: class_numbers(y, classes), put, labels, numbers=SIZES)


def test_a_label_of_a_regression_is_read_alone() -> None:
    labels = [0, 1.5, True, "0.25", "x", None, np.float32(0.1), 2**70, -3]
    check_records_alone("labels", lambda y: bounded_labels(y, (0.0, 1.0)), list, labels, numbers=SIZES)


def test_a_weight_is_rounded_alone() -> None:
    weights: list[Any] = [0, 1, 0.5, True, np.float32(0.1), 1e-9, 2.0, -1.0, float("nan")]
    check_records_alone("weights", lambda each: whole_weights(each, 1.0, len(each)), list, weights, numbers=SIZES)


def test_a_group_is_read_alone() -> None:
    groups: list[Any] = ["a", 1, True, "1", np.str_("a"), 2.5, None, np.int64(1)]
    check_records_alone(
        "groups", lambda given: [repr(each) for each in group_values(given, len(given))], list, groups, numbers=SIZES
    )


# --- what the review found --------------------------------------------------------------------------------------------

TRUTH: Final = Schema((Categorical("c", ("1", "0", "?"), missing="?", other="?"),))


def test_truth_values_stay_what_they_are_beside_a_word() -> None:
    column: list[object] = [True, False] * 10
    for table in ({"c": [*column, "unknown"]}, [[value] for value in [*column, "unknown"]]):
        assert encode(table, TRUTH)[0].tolist() == [0, 1] * 10 + [2]


def test_numbers_stay_what_they_are_beside_a_word() -> None:
    schema = Schema((Categorical("c", ("1", "2.5", "?"), other="?"),))
    assert encode({"c": [1.0, 2.5, "x"]}, schema)[0].tolist() == [0, 1, 2]
    assert encode({"c": [np.float32(2.5), 1, "x"]}, schema)[0].tolist() == [1, 0, 2]


def test_time_stamps_keep_their_own_unit_in_a_list() -> None:
    schema = Schema((Categorical("c", ("2020-01-01", "2020-01-01T12", "?"), other="?"),))
    days = [np.datetime64("2020-01-01"), np.datetime64("2020-01-01T12"), np.datetime64("2020-01-01T12:00:01")]
    assert encode({"c": days}, schema)[0].tolist() == [0, 1, 2]


def test_a_large_float_is_refused_beside_the_integer_that_it_equals() -> None:
    """They are one key of a dictionary: the float used to pass for the integer where that came first."""
    schema = Schema((Categorical("c", (str(2**60), "1", "?"), other="?"),))
    records: list[object] = [2**60, 2.0**60, 1, 1.0, True]
    check_records_alone("large", lambda values: encode({"c": values}, schema)[0], list, records, numbers=SIZES)


def test_what_is_no_single_value_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="column 'c': expected one value per record, got a list at place 1"):
        encode({"c": ["1", ["0"]]}, TRUTH)
    with pytest.raises(OutsideSchema, match="column 'c', row 2: 'x' is not one of its"):
        encode({"c": ["1", None, "x", "y"]}, Schema((Categorical("c", ("1", "0"), missing="0"),)))
    with pytest.raises(OutsideSchema, match="bytes must be ASCII"):
        encode({"c": [b"\xff", "1"]}, TRUTH)


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(1, "s"), np.complex128(1)], ids=repr)
def test_numpys_scalars_that_are_no_numbers_are_refused_among_objects(value: object) -> None:
    with pytest.raises(OutsideSchema, match=r"column 'c', row 1: a .* is not a number"):
        encode({"c": [1.0, value]}, Schema((Numeric("c", 0.0, 1e9),)))


@pytest.mark.parametrize(
    ("value", "known", "place"),
    [
        *((True, ("0", "1"), 1), (True, ("False", "True"), 1), ("True", ("0", "1"), 1), (1, ("False", "True"), 1)),
        *(("1.0", ("0", "1"), 1), (1.0, ("0", "1.0"), 1), (0.0, ("0.0", "1"), 0), ("-0.0", ("0", "1"), 0)),
        *(("True", ("1", "True"), 1), (True, ("1", "True"), 0), ("1e+20", ("1", "?"), None), ("01", ("1", "?"), None)),
    ],
    ids=str,
)
def test_a_value_is_found_however_it_is_written(value: object, known: tuple[str, str], place: int | None) -> None:
    column = Categorical("c", known)
    if place is None:
        with pytest.raises(OutsideSchema):
            encode({"c": [value]}, Schema((column,)))
    else:
        assert encode({"c": [value]}, Schema((column,)))[0].tolist() == [place]


def test_rows_of_lists_are_read_alone() -> None:
    records: list[Any] = [
        [1, "0"],
        (1, 0),
        np.array([1, 0]),
        [[1], [0]],
        [1, [0]],
        [1],
        "10",
        1,
        {1: 0},
        np.array(["1", "0"]),
    ]
    schema = Schema((Categorical("a", ("1", "0"), other="0"), Categorical("b", ("1", "0"), other="0")))
    check_records_alone("rows", lambda table: encode(table, schema).T, list, records, numbers=SIZES)


# --- what is missing, in every container ------------------------------------------------------------------------------

CALLED_SO: Final = ("x", "None", "nan", "NaT", "<NA>", "?", "1", "7", "0", "True", "2.5", "0.1", "a", "b")


@pytest.mark.parametrize("kind", ["truth", "whole", "number", "text"])
@pytest.mark.parametrize("missing", ["?", None])
def test_all_containers_agree_on_what_is_missing_even_where_a_category_is_called_so(
    kind: Kind, missing: str | None
) -> None:
    records = [(value,) for value in DOMAINS[kind] if missing or value != ""] * 2  # without it "" is no category
    schema = Schema((Categorical("c", CALLED_SO, missing=missing, other="x"),))
    found = {}
    for way, put in ways(kind, DOMAINS[kind]).items():
        if way != "mapping of typed arrays" or kind == "number":  # numpy has no truth value, integer or text for none
            found[way] = encode(put(records), schema)[0].tolist()
    assert len({tuple(each) for each in found.values()}) == 1, found
    assert found["mapping of lists"][-1] == CALLED_SO.index("?" if missing else "nan")


NULLS: Final = pa.array([0] + [None] * 8, pa.int32())


def test_a_null_among_the_values_of_a_dictionary_is_one_like_any_other() -> None:
    """It used to make text of another kind of every missing record: μ = 145.6 where 0.237 was charged."""
    schema = Schema((Categorical("c", ("None", "1", "?"), missing="?", other="?"),))
    for last, expected in ((1.0, 1), (None, 2)):
        chunks = [
            pa.DictionaryArray.from_arrays(NULLS, pa.array([1.0])),
            pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array([last, 7.0], pa.float64())),
        ]
        codes = encode(pa.table({"c": pa.chunked_array(chunks)}), schema)[0].tolist()
        assert codes == [1, *[2] * 8, expected, 2]


@pytest.mark.parametrize("fill", [float("nan"), 0.0, 2.5])
def test_a_sparse_column_is_read_alone(fill: float) -> None:
    dtype = pd.SparseDtype("float64", fill)
    records = [(value,) for value in (0.0, 1.0, 2.5, float("nan"))]
    for column in COLUMNS.values():
        check_records_alone(
            "sparse",
            codes(column("c")),
            lambda each: pd.DataFrame({"c": pd.arrays.SparseArray([value for (value,) in each], dtype=dtype)}),
            records,
            numbers=SIZES,
        )


def test_one_long_text_takes_no_more_than_its_own_room(tmp_path: Path) -> None:
    """In an array of text all values are as wide as the longest: here 80 GB, and no model because of one record."""
    long = "x" * 10**5
    schema = Schema((Categorical("c", ("a", "b", "?"), missing="?", other="?"),))
    for values in ([f"id{number}" for number in range(200_000)], ["a", np.str_("b"), None] * 70_000):
        found = encode({"c": [*values, long]}, schema)[0]
        assert found[: len(values)].tolist() == encode({"c": values}, schema)[0].tolist()
        assert found[-1] == 2
    file = tmp_path / "people.csv"
    file.write_text("c\n" + "a\n" * 200_000 + long + "\n")
    assert encode(read_csv(file), schema)[0].tolist() == [0] * 200_000 + [2]


def test_a_duration_is_called_the_same_alone_and_in_an_array() -> None:
    days = np.array([86_400_000_000, 1], dtype="m8[us]")
    schema = Schema((Categorical("c", ("86400000000 microseconds", "1 microseconds")),))
    assert encode({"c": days}, schema)[0].tolist() == encode({"c": list(days)}, schema)[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    "weights",
    [
        np.ma.masked_array([1.0, 1.0], [True, False]),
        [1.0, 10**400],
        np.array(["2020", "2021"], dtype="M8[D]"),
        [1j, 1.0],
    ],
)
def test_weights_that_are_no_numbers_are_refused(weights: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="sample_weight"):
        whole_weights(weights, 1.0, 2)


def test_integers_that_numpy_has_no_type_for_and_beyond_all_digits() -> None:
    schema = Schema((Categorical("c", ("1", "?"), missing="?", other="?"),))
    for values in ([1, 2], [1, None]):
        assert encode(pl.DataFrame({"c": pl.Series(values, dtype=pl.Int128)}), schema)[0].tolist() == [0, 1]
    assert encode({"c": [1, 10**5000]}, schema)[0].tolist() == [0, 1]


def test_groups_of_a_table_are_read_alone() -> None:
    assert column_of({"g": [1, 2, "unknown"]}, "g").tolist() == [1, 2, "unknown"]
    assert column_of(pa.table({"g": [2**60 + 1, None]}), "g").tolist() == [2**60 + 1, None]
