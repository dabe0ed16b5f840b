"""Tables in files: they are encoded as frames of the same data are, block by block, or refused with the same words."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from accountant.arrays import ExactArray
from learners import Boolean, Categorical, Numeric, Schema
from learners.blocks.block_tables import Source, TableBlock, in_blocks
from learners.blocks.files import FileRows
from learners.blocks.mapped_table import MappedTable
from learners.blocks.parquet_table import ParquetTable
from learners.blocks.unchanged_files import ChangedFile
from learners.kinds.category_names import MISSING_TEXTS, category_name, elements
from learners.kinds.single_values import OutsideSchema
from learners.tables.dictionary_columns import DictionaryColumn
from learners.tables.labels import label_values
from learners.tables.readers import encode, input_names, narrow_codes, number_table
from learners.tables.schema import Column
from mechanisms.core.rows import Block

# --- categories: as they were looked up before there were quick ways ----------------------------------------


def slow_codes(column: Categorical, values: npt.NDArray[Any]) -> ExactArray:
    """Every value as text, one after another."""
    return np.array([slow_code(column, row, value) for row, value in enumerate(elements(values))], dtype=np.intp)


def slow_code(column: Categorical, row: int, value: object) -> int:
    try:
        name = category_name(value)
    except OutsideSchema as error:
        raise OutsideSchema(f"column {column.name!r}, row {row}: {error}") from None
    if name is None:
        for each in (column.missing, *MISSING_TEXTS):
            if each in column.categories:
                return column.categories.index(each)
    text = str(name)
    same = {text}
    for group in ({"1", "1.0", "True"}, {"0", "0.0", "-0.0", "False"}, {"200", "200.0"}, {"-1", "-1.0"}):
        same |= group - {"-0.0"} if text in group else set()
    names = [text, *sorted(same)]  # digits first
    names += [column.missing or "\0"] if text in MISSING_TEXTS else [column.other or "\0"]
    for each in names if name is not None else ():
        if each in column.categories:
            return column.categories.index(each)
    raise OutsideSchema(
        f"column {column.name!r}, row {row}: {name!r} is not one of its {column.cells} categories; "
        "add it to the schema, or name a category in `other` (or `missing`) to stand for it"
    )


def outcome(codes: Callable[[], npt.NDArray[Any]]) -> object:
    try:
        return codes().tolist()
    except ValueError as error:
        return type(error), str(error)


NAMES = ["0", "1", "1.0", "-1", "200", "a", "b c", "nan", "None", "1.5", "inf", "True", "65536", "70000", "-70000", "x"]
COLUMNS = st.builds(
    lambda names, missing, other: Categorical("c", names, names[0] if missing else None, names[1] if other else None),
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=8, unique=True),
    st.booleans(),
    st.booleans(),
)
INTEGERS = st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">i8", ">u4"]).flatmap(
    lambda kind: st.lists(
        st.one_of(
            st.integers(0, 3),
            st.integers(int(np.iinfo(kind).min), int(np.iinfo(kind).max)),
            st.sampled_from(
                [
                    number
                    for number in (-1, 200, 65535, 65536, 70000, -70000)
                    if np.iinfo(kind).min <= number <= np.iinfo(kind).max
                ]
            ),
        ),
        min_size=1,
        max_size=9,
    ).map(lambda values: np.array(values, dtype=kind))
)
FLOATS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.5, float("nan"), float("inf"), 200.0, 1e300, 0.1])
TEXTS = st.sampled_from(["a", " a ", "b c", "1", "x", "", "nan", "1.0"])
OBJECTS = st.one_of(
    FLOATS, TEXTS, st.sampled_from([None, True, False, 1, 0, np.int8(1), np.float32(0.1), np.str_("a")])
)
VALUES = st.one_of(
    INTEGERS,
    st.lists(FLOATS, min_size=1, max_size=9).map(lambda values: np.array(values, dtype=np.float64)),
    st.lists(FLOATS.filter(lambda value: value != 1e300), min_size=1).map(lambda v: np.array(v, dtype=np.float32)),
    st.lists(st.booleans(), min_size=1, max_size=9).map(np.array),
    st.lists(TEXTS, min_size=1, max_size=9).map(lambda values: np.array(values, dtype=np.str_)),
    st.lists(TEXTS, min_size=1, max_size=9).map(lambda values: np.array(values, dtype=np.bytes_)),
    st.lists(OBJECTS, min_size=1, max_size=9).map(lambda values: np.array([*values, "a"], dtype=object)),
    st.just(np.array(["2020-01-01", "NaT"], dtype="M8[D]")),
)


@given(COLUMNS, VALUES)
def test_categories_are_looked_up_as_ever_and_refused_in_the_same_words(
    column: Categorical, values: npt.NDArray[Any]
) -> None:
    assert outcome(lambda: column.codes(values)) == outcome(lambda: slow_codes(column, values))


def test_whole_numbers_close_to_the_ends_of_their_type() -> None:
    for low, high, kind in (
        (-128, 127, "i1"),
        (-32768, 32767, "i2"),
        (2**63, 2**63 + 9, "u8"),
        (-(2**63), 5 - 2**63, "i8"),
    ):
        values = np.array([high, low, high], dtype=kind)
        assert Categorical("c", [str(low), str(high)]).codes(values).tolist() == [1, 0, 1]


# --- columns of a dictionary --------------------------------------------------------------------------------

ANY_COLUMNS: list[Column] = [
    Categorical("c", ["a", "b", "1"], missing="b"),
    Categorical("c", ["a", "b", "1"], other="b"),
    Categorical("c", ["a", "1"]),
    Numeric("c", 0.0, 2.0, bins=4),
    Numeric("c", 0.0, 2.0, bins=4, outside="clip"),
    Boolean("c"),
]


@given(
    st.sampled_from(ANY_COLUMNS),
    st.sampled_from([["a", "b", "1"], ["1", "0", "2"], [1, 0, 2], [0.5, 1.0, 7.0], [True, False], ["0", "x"]]),
    st.lists(st.integers(-1, 2), min_size=1, max_size=6),
    st.sampled_from(["i1", "i4", "i8"]),
)
def test_a_column_of_a_dictionary_is_encoded_as_its_values_are(
    column: Column, values: list[object], numbers: list[int], kind: str
) -> None:
    """Values of the dictionary that do not occur make no difference; what is refused is refused in the same words."""
    coded = DictionaryColumn(np.minimum(np.array(numbers, dtype=kind), len(values) - 1), np.array(values))
    listed = [None if number < 0 else values[number] for number in coded.numbers.tolist()]
    expected = outcome(lambda: encode({"c": listed}, Schema((column,)))[0])
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(coded.numbers.tolist(), categories=values)})
    for table in ({"c": coded}, frame):
        found = outcome(lambda table=table: encode(table, Schema((column,)))[0])  # type: ignore[misc]  # mypy 1.19
        assert found == expected or (None in listed and isinstance(found, tuple) and isinstance(expected, tuple))


def test_a_column_of_a_dictionary_shows_nothing() -> None:
    assert repr(DictionaryColumn(np.zeros(3, dtype=np.int8), np.array(["secret"]))) == "<DictionaryColumn: sealed>"


def test_narrow_codes_are_the_same_codes() -> None:
    for cells, kind in ((2, "u1"), (256, "u1"), (257, "u2")):
        schema = Schema((Categorical("c", [str(number) for number in range(cells)]), Boolean("d")))
        table = {"c": np.arange(cells), "d": np.arange(cells) % 2}
        narrow = narrow_codes(table, schema)
        assert narrow.dtype == kind
        assert narrow.tolist() == encode(table, schema).tolist()


# --- Parquet ------------------------------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Categorical("text", ["a", "b", "c"], missing="c"),
        Categorical("whole", ["0", "1", "2", "3"]),
        Categorical("gaps", ["0", "1", "2"], missing="2"),
        Boolean("flag"),
        Numeric("number", 0.0, 1.0, bins=5),
        Categorical("coded", ["x", "y"], missing="y"),
    )
)


def people(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    texts = np.array(["a", "b", None], dtype=object)
    return pd.DataFrame(
        {
            "text": texts[random.integers(0, 3, n)],
            "whole": random.integers(0, 4, n).astype(np.int16),
            "gaps": pd.arrays.IntegerArray(random.integers(0, 2, n), random.random(n) < 0.5),
            "flag": random.random(n) < 0.5,
            "number": random.random(n),
            "coded": pd.Categorical.from_codes(random.integers(-1, 2, n), categories=["x", "y"]),
            "unused": np.full(n, "secret"),
            "y": np.array(["no", "yes"])[random.integers(0, 2, n)],
        }
    )


def write(folder: Path, sizes: list[int], groups: int = 7) -> tuple[pd.DataFrame, list[Path]]:
    """Files of so many records, in row groups of so many."""
    whole = people(sum(sizes))
    starts = np.cumsum([0, *sizes]).tolist()
    paths = [folder / f"part-{number}.parquet" for number in range(len(sizes))]
    for path, start, size in zip(paths, starts[:-1], sizes, strict=True):
        parquet.write_table(pyarrow.Table.from_pandas(whole[start : start + size]), path, row_group_size=groups)
    return whole, paths


def gathered(rows: FileRows[TableBlock], n: int) -> tuple[ExactArray, list[object]]:
    """All codes and labels, as a test may do."""
    codes, labels = np.full((len(SCHEMA.columns), n), -1), [object()] * n

    def put(block: Block[TableBlock]) -> ExactArray:
        codes[:, block.first : block.first + block.size] = encode(block.data.table, SCHEMA)
        labels[block.first : block.first + block.size] = label_values(block.data.labels).tolist()
        return np.array([block.size])

    assert rows.total(put).tolist() == [n]
    return codes, labels


@pytest.mark.parametrize("block", [1, 5, 7, 20, 10**6])
@pytest.mark.parametrize("sizes", [[40], [13, 0, 22], [1, 1]])
def test_files_are_read_as_a_frame_of_the_same_data(tmp_path: Path, sizes: list[int], block: int) -> None:
    whole, _ = write(tmp_path, sizes)
    expected = encode(whole, SCHEMA).tolist(), whole["y"].tolist()
    for paths in (tmp_path, tmp_path / "*.parquet", str(tmp_path / "part-?.parquet"), sorted(tmp_path.iterdir())):
        table = ParquetTable(paths, block=block)
        rows = Source.of(table, "y").rows
        assert isinstance(rows, FileRows)
        assert table.n == rows.n == len(whole)
        assert max(each.size for each in rows.blocks) <= block
        codes, labels = gathered(rows, rows.n)
        assert (codes.tolist(), labels) == expected


def test_blocks_are_whole_row_groups_where_these_are_no_larger(tmp_path: Path) -> None:
    write(tmp_path, [40, 5])
    for block, sizes in ((14, [14, 14, 12, 5]), (20, [14, 14, 12, 5]), (21, [21, 19, 5]), (5, [5, 2] * 5 + [5, 5])):
        rows = Source.of(ParquetTable(tmp_path, "y", block=block), None).rows
        assert isinstance(rows, FileRows)
        assert [each.size for each in rows.blocks] == sizes


def test_only_columns_that_are_asked_for_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, [10])
    rows = Source.of(ParquetTable(tmp_path), "y").rows
    read = list[str]()
    real = parquet.ParquetFile.read_row_groups

    def noted(self: object, groups: list[int], columns: list[str]) -> object:
        read.extend(columns)
        return real(self, groups, columns=columns)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_groups", noted)
    assert rows.n == 10
    assert Source.of(ParquetTable(tmp_path), "y").names == tuple(people(1).columns[:-1])
    assert read == []
    rows.total(lambda block: np.array([narrow_codes(block.data.table, SCHEMA).shape[1]]))
    assert read == ["y", *SCHEMA.names]


def test_labels_that_are_missing_are_still_missing(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"x": [1, 2], "y": ["no", None], "z": [0, None]}), tmp_path / "a.parquet")
    for label in "yz":
        with pytest.raises(ValueError, match="y: row 1 is NaN or missing"):
            Source.of(ParquetTable(tmp_path), label).rows.map(lambda part: label_values(part.labels)).kept()


def test_columns_of_numbers_come_without_the_label(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "y": [0, 1], "z": [3, 4]}), tmp_path / "a.parquet")
    rows = Source.of(ParquetTable(tmp_path), "y").rows
    assert rows.total(lambda block: number_table(block.data.table)).tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    _, (path,) = write(tmp_path, [10])
    np.save(tmp_path / "x.npy", np.zeros((10, 2)))
    tables = [Source.of(ParquetTable(path), "y").rows, Source.of(MappedTable(tmp_path / "x.npy"), np.zeros(10)).rows]
    for rows in tables:
        assert rows.total(lambda block: np.array([block.size])).tolist() == [10]
    os.utime(path, ns=(1, 1))
    np.save(tmp_path / "x.npy", np.zeros((11, 2)))
    for rows in tables:
        with pytest.raises(ChangedFile, match="was changed while it was in use"):
            rows.total(lambda block: np.array([block.size]))


def test_what_cannot_be_a_table_says_why(tmp_path: Path) -> None:
    _, (path,) = write(tmp_path, [10])
    (tmp_path / "other").mkdir()
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "other" / "a.parquet")
    parquet.write_table(pyarrow.table({"x": pyarrow.array([], pyarrow.int8())}), tmp_path / "other" / "none.parquet")
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: ParquetTable(tmp_path / "*.parq"), ValueError, "no Parquet files"),
        (lambda: ParquetTable([]), ValueError, "no Parquet files"),
        (lambda: ParquetTable(tmp_path / "nowhere.parquet"), FileNotFoundError, "nowhere"),
        (lambda: ParquetTable([path, tmp_path / "other" / "a.parquet"]), ValueError, r"its columns are \['x'\]"),
        (lambda: ParquetTable(tmp_path / "other" / "none.parquet"), ValueError, "at least one record"),
        (lambda: ParquetTable(path, block=0), ValueError, "0"),
        (lambda: ParquetTable(path).block_rows("z"), ValueError, "one of .*'text'.*, got 'z'"),
        (lambda: ParquetTable(path).block_rows(np.zeros(3)), ValueError, "got 'ndarray'"),
        (lambda: ParquetTable(path).block_rows(None), ValueError, "column of labels is not known"),
        (lambda: ParquetTable(path, "y").block_rows("text"), ValueError, "labels of its own"),
    ]
    for make, kind, said in refused:
        with pytest.raises(kind, match=said):
            make()
    assert repr(ParquetTable(path)) == "<ParquetTable: 1 files, 10 records>"
    assert repr(Source.of(ParquetTable(path), "y").rows.map(lambda part: part)) == "<FileRows: sealed>"


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"exchequer\[parquet\]"):
        ParquetTable(tmp_path / "a.parquet")


# --- arrays -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 3, 100])
def test_arrays_on_disk_are_read_as_arrays(tmp_path: Path, block: int) -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    paths = tmp_path / "x.npy", str(tmp_path / "y.npy")
    for rows in (
        Source.of(MappedTable(paths[0], block=block), paths[1]).rows,
        Source.of(MappedTable(*paths, block=block), None).rows,
        Source.of(MappedTable(np.load(paths[0], mmap_mode="r"), block=block), y).rows,
    ):
        assert isinstance(rows, FileRows)
        assert [each.size for each in rows.blocks][:-1] == [block] * ((10 - 1) // block)
        found = rows.map(lambda part: (number_table(part.table), np.asarray(part.labels))).kept()
        total = found.total(lambda block: (block.data[0] + block.first).T @ block.data[1])
        firsts = np.arange(10) // block * block
        assert total.tolist() == ((X + firsts[:, None]).T @ y).tolist()
    assert Source.of(MappedTable(X), y).names is None
    assert repr(MappedTable(X)) == "<MappedTable: 10 records>"


def test_arrays_that_cannot_be_a_table_say_why(tmp_path: Path) -> None:
    X: Any = np.zeros((3, 2))
    np.save(tmp_path / "objects.npy", np.array([None]))
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: MappedTable(np.zeros(3)), ValueError, r"shape \(n, columns\)"),
        (lambda: MappedTable(np.zeros((0, 3))), ValueError, "a record and a column"),
        (lambda: MappedTable([[1]]), TypeError, "path of a .npy file, got list"),  # type: ignore[arg-type]  # that is the point
        (lambda: MappedTable(np.ma.zeros((3, 2))), TypeError, "got MaskedArray"),
        (lambda: MappedTable(tmp_path / "objects.npy"), ValueError, "Python objects"),
        (lambda: MappedTable(X).block_rows(None), ValueError, "there are no labels"),
        (lambda: MappedTable(X).block_rows(np.zeros(4)), ValueError, r"y: expected shape \(3,\), got shape \(4,\)"),
        (lambda: MappedTable(X, np.zeros(3)).block_rows(np.ones(3)), ValueError, "labels of its own"),
    ]
    for make, kind, said in refused:
        with pytest.raises(kind, match=said):
            make()


# --- whoever wants all of it --------------------------------------------------------------------------------


def test_what_is_in_blocks_is_not_gathered_by_accident(tmp_path: Path) -> None:
    dask_array = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe").from_pandas(people(10), npartitions=2)
    numbers = dask_array.ones((10, 2), chunks=(5, 2))
    tables: list[Any] = [frames, numbers, MappedTable(np.zeros((3, 2)))]
    for table in tables:
        assert in_blocks(table) is not None
        for read in (input_names, number_table, lambda table: encode(table, SCHEMA)):
            with pytest.raises(TypeError, match=r"X: a \w+ is in blocks.*LazyBoostClassifier.* fit tables in blocks"):
                read(table)
    with pytest.raises(TypeError, match="y: a Series is in blocks"):
        label_values(frames["y"])
    with pytest.raises(TypeError, match="column 'flag': a Series is in blocks"):
        encode({"flag": frames["flag"]}, Schema((Boolean("flag"),)))
    assert in_blocks(people(3).assign(block_rows=1, block_names=2)) is None


@pytest.mark.parametrize("block", [1, 3, 8])
def test_large_whole_numbers_keep_their_text_where_another_record_has_none(block: int, tmp_path: Path) -> None:
    """As floats 2^53 + 1 would be 2^53: a code would depend on the other records of its block."""
    large, column = 2**53 + 1, Categorical("id", (str(2**53), str(2**53 + 1), "none"), missing="none")
    values = [large, None, large, large, 7, large, large, large]
    table = pyarrow.table({"id": pyarrow.array(values, pyarrow.int64()), "y": [0, 1] * 4})
    pyarrow.parquet.write_table(
        table.filter(pyarrow.compute.not_equal(table["id"], 7).fill_null(True)), tmp_path / "a.parquet"
    )
    rows = Source.of(ParquetTable(tmp_path, "y", block=block), None).rows
    counts = rows.total(
        lambda part: np.bincount(encode(part.data.table, Schema((column,)))[0], minlength=3).astype(np.int64)
    )
    assert counts.tolist() == [0, 6, 1]
    with pytest.raises(OutsideSchema, match=r"beyond 2\^53"):
        column.codes(np.array([2.0**53, np.nan]))


def test_numbers_of_rows_that_pandas_stored_are_no_column(tmp_path: Path) -> None:
    kept = people(30).sample(frac=0.5, random_state=0)
    kept.to_parquet(tmp_path / "a.parquet")
    assert Source.of(ParquetTable(tmp_path), "y").names == tuple(people(1).columns[:-1])


def test_the_folder_for_encoded_records_is_the_users(tmp_path: Path) -> None:
    people(30).to_parquet(tmp_path / "a.parquet")
    rows = Source.of(ParquetTable(tmp_path, scratch=tmp_path / "nowhere"), "y").rows
    with pytest.raises(OSError, match="nowhere"):
        rows.map(lambda part: np.asarray(part.labels)).kept()


def test_labels_are_said_once(tmp_path: Path) -> None:
    people(30).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="labels of its own"):
        ParquetTable(tmp_path, "y").block_rows(people(30)["y"])
