"""Numbers that are missing: a cell of their own, or the number that they count as; the same in every container."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import dask
import dask.dataframe
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from learners import EncodedSample, Numeric, OutsideSchema, Schema, SchemaError
from learners.blocks.block_tables import AnyTable, Source
from learners.blocks.parquet_table import ParquetTable
from learners.encoding import Coding, Layout, QuantileCuts, finely_cut, literal_signs
from learners.encoding.encoded_rows import encoded_rows
from learners.kinds.numeric_column import Missing
from learners.tables.csv_files import read_csv
from learners.tables.readers import Table, encode
from mechanisms import SeededNoise
from mechanisms.core.rows import Block

OWN: Final = Numeric("c", 0.0, 10.0, bins=5, outside="clip", missing="own")
FILLED: Final = Numeric("c", 0.0, 10.0, bins=5, outside="clip", missing=3)
NOTHING: Final = 5
"""The code of the own cell."""

VALUES: Final = [0.0, 1.5, None, 10.0, 5.0, None]
CODES: Final = [0, 0, NOTHING, 4, 2, NOTHING]
NAN: Final = float("nan")


def codes(column: Numeric, table: Table) -> list[int]:
    return cast("list[int]", encode(table, Schema((column,)))[0].tolist())


GAPS: Final[list[object]] = [
    *(None, NAN, np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT")),
    *("", "  ", "nan", "NaN", "None", "<NA>", "NaT", b"", np.str_("")),
]


@pytest.mark.parametrize("gap", GAPS, ids=repr)
def test_whatever_is_missing_has_the_own_cell(gap: object) -> None:
    assert codes(OWN, {"c": [1.5, gap, "5", 11]}) == [0, NOTHING, 2, 4]
    assert codes(FILLED, {"c": [1.5, gap, "5", 11]}) == [0, 1, 2, 4]
    with pytest.raises(OutsideSchema, match="column 'c', row 1"):
        codes(Numeric("c", 0.0, 10.0), {"c": [1.5, gap]})


@pytest.mark.parametrize(
    "value",
    ["x", "?", "none", math.inf, 1j, np.datetime64("2020"), object()],
    ids=["letter", "question mark", "none", "infinity", "complex", "date", "object"],
)
def test_whatever_else_is_no_number_is_refused_by_its_row(value: object) -> None:
    for column in (OWN, FILLED):
        with pytest.raises(OutsideSchema, match="column 'c', row 2"):
            codes(column, {"c": [1.5, "", value]})


CONTAINERS: Final[dict[str, Callable[[], Any]]] = {
    "rows of an array": lambda: np.array(VALUES, dtype=float)[:, np.newaxis],
    "rows of lists": lambda: [[value] for value in VALUES],
    "mapping of lists": lambda: {"c": VALUES},
    "text": lambda: {"c": ["" if value is None else str(value) for value in VALUES]},
    "array of text": lambda: {"c": np.array(["" if value is None else str(value) for value in VALUES])},
    "pandas": lambda: pd.DataFrame({"c": VALUES}),
    "pandas, objects": lambda: pd.DataFrame({"c": pd.Series(VALUES, dtype=object)}),
    "pandas, Float64": lambda: pd.DataFrame({"c": pd.Series(VALUES, dtype="Float64")}),
    "pandas, text": lambda: pd.DataFrame(
        {"c": pd.Series([v if v is None else str(v) for v in VALUES], dtype="string")}
    ),
    "pandas, categories": lambda: pd.DataFrame({"c": pd.Categorical(VALUES)}),
    "pandas, Arrow": lambda: pd.DataFrame({"c": pd.Series(VALUES, dtype="float64[pyarrow]")}),
    "pandas, sparse": lambda: pd.DataFrame({"c": pd.arrays.SparseArray(np.array(VALUES, dtype=float))}),
    "polars": lambda: pl.DataFrame({"c": VALUES}),
    "polars, text": lambda: pl.DataFrame({"c": [None if value is None else str(value) for value in VALUES]}),
    "Arrow": lambda: pa.table({"c": pa.array(VALUES)}),
    "Arrow, text": lambda: pa.table({"c": pa.array([None if value is None else str(value) for value in VALUES])}),
    "Arrow, dictionary": lambda: pa.table({"c": pa.array(VALUES).dictionary_encode()}),
}


@pytest.mark.parametrize("way", CONTAINERS)
def test_all_containers_agree(way: str) -> None:
    assert codes(OWN, CONTAINERS[way]()) == CODES
    assert codes(FILLED, CONTAINERS[way]()) == [1 if code == NOTHING else code for code in CODES]


@pytest.mark.parametrize("kind", ["Int64", "UInt8", "int64[pyarrow]"])
def test_whole_numbers_beside_missing_ones_stay_what_they_are(kind: str) -> None:
    column = Numeric("c", 0.0, 2.0**60, cuts=(1.0, 2.0**53 + 2), missing="own")
    large = 7 if kind == "UInt8" else 2**53 + 2
    series = pd.Series([0, None, large], dtype=kind)
    assert codes(column, pd.DataFrame({"c": series})) == [0, 3, 1 if kind == "UInt8" else 2]
    if kind != "UInt8":
        assert codes(column, pl.DataFrame({"c": [0, None, large]})) == [0, 3, 2]


def test_a_column_of_time_stamps_holds_nothing_or_is_refused() -> None:
    nothing = np.array(["NaT", "NaT"], dtype="M8[s]")
    assert codes(OWN, {"c": nothing}) == [NOTHING] * 2
    with pytest.raises(OutsideSchema, match="data is not supported"):
        codes(OWN, {"c": np.append(nothing, np.datetime64("2020-01-01T00:00:00"))})


def test_csv_files_have_empty_fields(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("c,d\n0,1\n ,1\n10.0,1\n,2\n")
    assert codes(OWN, read_csv(file)) == [0, NOTHING, 4, NOTHING]


def in_parquet(frame: pd.DataFrame, size: int, folder: Path) -> AnyTable:
    path = folder / f"{size}.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pandas(frame), path, row_group_size=size)
    return ParquetTable(path, "y", block=size)


def in_partitions(frame: pd.DataFrame, size: int, folder: Path) -> AnyTable:
    found: AnyTable = dask.dataframe.from_pandas(frame, chunksize=size, sort=False)  # type: ignore[no-untyped-call]  # Dask
    return found


@pytest.mark.parametrize("put", [in_parquet, in_partitions], ids=["Parquet", "Dask"])
@pytest.mark.parametrize("kind", ["float64", "Int64", "object", "float64[pyarrow]"])
@pytest.mark.parametrize("size", [1, 4])
def test_blocks_are_encoded_as_in_memory(
    kind: str, put: Callable[[pd.DataFrame, int, Path], AnyTable], size: int, tmp_path: Path
) -> None:
    """A block may hold nothing but missing values, or none."""
    series = pd.Series([None, 1, 2, 3, 4, None, None, 7, 10], dtype=kind)
    frame = pd.DataFrame({"c": series, "y": np.arange(len(series)) % 2})
    rows = encoded_rows(Source.of(put(frame, size, tmp_path), "y").rows, Schema((OWN,)), (0, 1), "the test").rows

    def placed(block: Block[EncodedSample]) -> npt.NDArray[np.int64]:
        whole = np.zeros(rows.n, dtype=np.int64)
        whole[block.first : block.first + block.size] = block.data.codes[0]
        return whole

    with dask.config.set(scheduler="synchronous"):
        assert rows.total(placed).tolist() == [NOTHING, 0, 1, 1, 2, NOTHING, NOTHING, 3, 4]


# --- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, "own", 2.5, 0, 10])
def test_schemas_go_through_records_and_files(missing: Missing, tmp_path: Path) -> None:
    schema = Schema((Numeric("c", 0.0, 10.0, missing=missing),))
    assert Schema.from_dict(schema.as_dict()) == schema
    said = "" if missing is None else f"missing = {missing!r}".replace("'", '"')
    file = tmp_path / "schema.toml"
    file.write_text(f'[[columns]]\nkind = "numeric"\nname = "c"\nlower = 0\nupper = 10\n{said}\n')
    assert Schema.from_toml(file) == schema


def test_a_schema_that_says_nothing_of_missing_numbers_is_written_as_before() -> None:
    (column,) = cast("list[dict[str, object]]", Schema((Numeric("c", 0.0, 1.0),)).as_dict()["columns"])
    assert list(column) == ["kind", "name", "lower", "upper", "bins", "cuts", "encoding", "outside"]


@pytest.mark.parametrize("missing", [True, "other", "missing", NAN, math.inf, 10.5, -1])
def test_other_words_for_missing_ones_are_refused(missing: Any) -> None:
    with pytest.raises(SchemaError):
        Numeric("c", 0.0, 10.0, missing=missing)


# --- features of other learners ---------------------------------------------------------------------------------------


def test_the_own_cell_is_a_feature_and_above_no_threshold() -> None:
    for encoding, expected in (
        ("one-hot", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("thresholds", [[0, 0], [1, 0], [0, 1]]),
    ):
        column = Numeric("c", 0.0, 2.0, bins=2, encoding=cast("Any", encoding), missing="own")
        layout = Layout(Schema((column,)))
        assert column.values()[-1] == "missing"
        assert layout.d == len(column.values()) == len(expected[0])
        signs = [literal_signs(layout, np.arange(3)[np.newaxis], feature) for feature in range(layout.d)]
        assert ((np.stack(signs, axis=1) + 1) // 2).tolist() == expected


def test_a_missing_number_is_the_middle_with_an_indicator() -> None:
    coding = Coding(Schema((OWN, Numeric("d", 0.0, 1.0))), ("c", "d"), constant=True)
    assert coding.feature_names == ("c", "d", "c=missing", "(constant)")
    assert coding.one_hot == ()  # 0 beside 1 is no group of ones and minus ones
    found = coding.encode({"c": [None, 10.0, 0.0], "d": [1, 1, 1]}, "the test")
    assert found.tolist() == [[0, 1, 1, 1], [1, 1, -1, 1], [-1, 1, -1, 1]]
    filled = Coding(Schema((FILLED,)), ("c",), constant=False)
    assert filled.encode({"c": [None, 3.0]}, "the test").tolist() == [[-0.4], [-0.4]]


def test_quantiles_of_a_column_with_missing_numbers_are_refused() -> None:
    for column, refused in ((OWN, True), (FILLED, False)):
        schema = finely_cut(Schema((column,)))
        if refused:
            with pytest.raises(ValueError, match="at no quantile"):
                QuantileCuts(schema, 4, 10, 0.1, False, SeededNoise(0))
        else:
            assert QuantileCuts(schema, 4, 10, 0.1, False, SeededNoise(0)).columns == [0]
