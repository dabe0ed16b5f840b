"""The real engines that exported models run in: each gets a table and a query, and gives rows in the table's order."""

import io
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import onnxruntime
import pyarrow as pa

from benchmarks.ledgers.postgres import Server

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Of floats, of whole numbers, of truth values, or of objects: text and None."""

SECONDS: TypeAlias = Mapping[str, Callable[[npt.NDArray[Any]], npt.NDArray[np.float64]]]
"""How columns of dates become numbers, for a runtime that reads no dates."""

Answer: TypeAlias = dict[str, npt.NDArray[Any]]

TABLE: Final = 'ta"ble; of people'
KEY: Final = "row number"


def _typed(columns: Columns, names: Mapping[str, str]) -> str:
    kinds = ", ".join(f"{_quoted(name)} {names[_kind(values)]}" for name, values in columns.items())
    return f"CREATE TABLE {_quoted(TABLE)} ({_quoted(KEY)} integer, {kinds})"


def _kind(values: npt.NDArray[Any]) -> str:
    """As numpy has it; "mixed" for objects with numbers among them."""
    mixed = values.dtype.kind == "O" and any(isinstance(each, float) for each in values.tolist())
    return "mixed" if mixed else values.dtype.kind


def _as_text(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers among texts are written as Python does."""
    if _kind(values) != "mixed":
        return values
    return _objects([repr(each) if isinstance(each, float) else each for each in values.tolist()])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_order(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Answer:
    ordered = sorted(rows, key=lambda row: row[0])  # type: ignore[arg-type, return-value]  # the key is an integer
    return {
        name: np.array(values, dtype=object)
        for name, values in zip(names, zip(*ordered, strict=True), strict=True)
        if name != KEY
    }


def _records(columns: Columns) -> list[tuple[object, ...]]:
    """NaN in columns of objects is NULL; in columns of floats it is NaN."""
    return list(
        zip(range(len(next(iter(columns.values())))), *(each.tolist() for each in columns.values()), strict=True)
    )


def in_duckdb(query: str, columns: Columns) -> Answer:
    """Through Arrow, which keeps NaN apart from NULL."""
    arrays = {KEY: pa.array(np.arange(len(next(iter(columns.values())))))}
    arrays |= {name: pa.array(_as_text(values), from_pandas=False) for name, values in columns.items()}
    with duckdb.connect() as connection:
        given = pa.table(arrays)
        connection.register("given", given)
        connection.execute(f"CREATE TABLE {_quoted(TABLE)} AS SELECT * FROM given")
        found = connection.execute(query)
        return _in_order([each[0] for each in found.description], found.fetchall())


def in_sqlite(query: str, columns: Columns) -> Answer:
    """Whose tables have no NaN, which becomes NULL, and no dates, which are text."""
    dates = {name: np.datetime_as_string(values) for name, values in columns.items() if values.dtype.kind == "M"}
    columns = dict(columns) | {
        name: _objects([None if each == "NaT" else each for each in said.tolist()]) for name, said in dates.items()
    }
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(_typed(columns, {"f": "REAL", "i": "INTEGER", "b": "INTEGER", "O": "TEXT", "mixed": ""}))
        places = ", ".join("?" * (len(columns) + 1))
        connection.executemany(f"INSERT INTO {_quoted(TABLE)} VALUES ({places})", _records(columns))
        found = connection.execute(query)
        return _in_order([each[0] for each in found.description], found.fetchall())
    finally:
        connection.close()


def in_postgresql(server: Server) -> Callable[[str, Columns], Answer]:
    """On a server that runs; nothing stays there."""

    def run(query: str, columns: Columns) -> Answer:
        kinds = {"f": "double precision", "i": "bigint", "b": "boolean", "O": "text", "M": "timestamp"}
        columns = {name: _as_text(values) for name, values in columns.items()}
        with server.connect() as connection, connection.transaction(force_rollback=True):
            cursor = connection.cursor()
            cursor.execute(_typed(columns, kinds).encode())
            with cursor.copy(f"COPY {_quoted(TABLE)} FROM STDIN".encode()) as copy:
                for record in _records(columns):
                    copy.write_row(record)
            cursor.execute(query.encode())
            assert cursor.description is not None
            return _in_order([each.name for each in cursor.description], cursor.fetchall())

    return run


def in_python(text: str) -> Callable[[Columns], Answer]:
    """The predictions, scores and shares of an exported module, run without anything of ours."""
    space: dict[str, Any] = {"__name__": "exported"}
    exec(compile(io.StringIO(text).read(), "exported.py", "exec"), space)

    def run(columns: Columns) -> Answer:
        names = list(columns)
        found: list[tuple[object, object, object, object]] = []
        for values in zip(*(each.tolist() for each in columns.values()), strict=True):
            record = dict(zip(names, values, strict=True))
            try:
                found.append((space["predict"](record), space["scores"](record), space["shares"](record), None))
            except space["Refused"] as error:
                found.append((None, None, None, str(error)))
        keys = ("prediction", "scores", "shares", "refused")
        return {key: _objects([row[place] for row in found]) for place, key in enumerate(keys)}

    return run


def _objects(values: Sequence[object]) -> npt.NDArray[Any]:
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return boxed


def in_onnxruntime(model: bytes, numbers: SECONDS) -> Callable[[Columns], Answer]:
    """numbers: what columns that are not of numbers become. Categories are given as text, NULL as "", stripped."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    texts = {each.name for each in session.get_inputs() if each.type == "tensor(string)"}

    def run(columns: Columns) -> Answer:
        given = {
            name: numbers[name](values)[:, None]
            if name in numbers
            else _tensor(values)
            if name in texts
            else values.astype(np.float64)[:, None]
            for name, values in columns.items()
        }
        names = [each.name for each in session.get_outputs()]
        return dict(zip(names, session.run(names, given), strict=True))

    return run


def _tensor(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    listed = ["" if value is None else str(value).strip() for value in values.tolist()]
    return _objects(listed)[:, None]
