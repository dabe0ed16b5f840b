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

Answer: TypeAlias = dict[str, npt.NDArray[Any]]

TABLE: Final = 'ta"ble; of people'
KEY: Final = "row number"


def _typed(columns: Columns, names: Mapping[str, str]) -> str:
    kinds = ", ".join(f"{_quoted(name)} {names[values.dtype.kind]}" for name, values in columns.items())
    return f"CREATE TABLE {_quoted(TABLE)} ({_quoted(KEY)} integer, {kinds})"


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
    arrays |= {name: pa.array(values, from_pandas=False) for name, values in columns.items()}
    with duckdb.connect() as connection:
        given = pa.table(arrays)
        connection.register("given", given)
        connection.execute(f"CREATE TABLE {_quoted(TABLE)} AS SELECT * FROM given")
        found = connection.execute(query)
        return _in_order([each[0] for each in found.description], found.fetchall())


def in_sqlite(query: str, columns: Columns) -> Answer:
    """Whose tables have no NaN: it becomes NULL."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(_typed(columns, {"f": "REAL", "i": "INTEGER", "b": "INTEGER", "O": "TEXT"}))
        places = ", ".join("?" * (len(columns) + 1))
        connection.executemany(f"INSERT INTO {_quoted(TABLE)} VALUES ({places})", _records(columns))
        found = connection.execute(query)
        return _in_order([each[0] for each in found.description], found.fetchall())
    finally:
        connection.close()


def in_postgresql(server: Server) -> Callable[[str, Columns], Answer]:
    """On a server that runs; nothing stays there."""

    def run(query: str, columns: Columns) -> Answer:
        kinds = {"f": "double precision", "i": "bigint", "b": "boolean", "O": "text"}
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


def in_onnxruntime(model: bytes, text: Sequence[str]) -> Callable[[Columns], Answer]:
    """text: columns of categories, whose values a runtime takes as text, NULL as "" and stripped."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    def run(columns: Columns) -> Answer:
        given = {
            name: _tensor(values) if name in text else values.astype(np.float64)[:, None]
            for name, values in columns.items()
        }
        names = [each.name for each in session.get_outputs()]
        return dict(zip(names, session.run(names, given), strict=True))

    return run


def _tensor(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    listed = ["" if value is None else str(value).strip() for value in values.tolist()]
    return _objects(listed)[:, None]
