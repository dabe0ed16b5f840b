"""Training inside DuckDB and PostgreSQL: a record and round beside Parquet, and that nobody can tell the models.

Records are made up: 14 categorical codes as small whole numbers and a label. One thread, wall-clock time.
"""

import io
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import psycopg
import pyarrow.csv
import pyarrow.parquet
from psycopg import sql

from benchmarks.ledgers import NoServer, Server
from benchmarks.runner import Cell, Grid, Line, Measured, Part, Report, Setting, Table, at_least, at_most, elsewhere
from benchmarks.speed.speed_many import COLUMNS, made_up, written
from learners import ParquetTable, PrivateBoostClassifier, SqlTable
from proofs_tests.support.learners.in_blocks import released

TIMES: Final = 2.0
"""A record and round inside DuckDB over that from Parquet, at most."""

ROUNDS_PER_COLUMN: Final = 2


def _learner(seed: int | None) -> PrivateBoostClassifier:
    schema = made_up(1).layout.schema
    return PrivateBoostClassifier(
        1.0, 1e-8, schema=schema, interactions=(), rounds_per_column=ROUNDS_PER_COLUMN, random_state=seed
    )


def _timed(table: object, records: int) -> dict[str, float]:
    ends, start = list[float](), time.perf_counter()
    _learner(None).fit(table, "label", on_round=lambda number, released: ends.append(time.perf_counter()))  # type: ignore[arg-type]  # one of ours
    whole = time.perf_counter() - start
    per = 1e9 / records
    return {"fit": whole, "first": per * (ends[0] - start), "round": per * float(np.mean(np.diff(ends)))}


def _parquet(records: int, folder: Path) -> list[Path]:
    file = min(records, 10**6)
    return [written(file, folder, 4)] * (records // file)


def _in_duckdb(paths: list[Path], folder: Path) -> str:
    with duckdb.connect(str(folder / "people.db"), config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet($1)", [[str(path) for path in paths]])
    return f"duckdb:///{folder}/people.db?threads=1#people"


def _in_postgresql(paths: list[Path], url: str) -> None:
    names = [f"c{number}" for number in range(COLUMNS)] + ["label"]
    with psycopg.connect(url, autocommit=True) as connection:
        columns = sql.SQL(", ").join(sql.SQL("{} smallint").format(sql.Identifier(name)) for name in names)
        connection.execute(sql.SQL("CREATE TABLE people ({})").format(columns))
        with connection.cursor().copy("COPY people FROM STDIN (FORMAT csv)") as copy:
            for path in paths:
                text = io.BytesIO()
                options = pyarrow.csv.WriteOptions(include_header=False)
                pyarrow.csv.write_csv(pyarrow.parquet.read_table(path), text, options)
                copy.write(text.getvalue())
        connection.execute("ANALYZE people")


def fits(way: str, records: int) -> dict[str, float]:
    """One fit; call it in a fresh process. Seconds of it; ns per record of what comes first and of a round, on average.

    way: "Parquet", "DuckDB", "DuckDB, fetched", "PostgreSQL" or "PostgreSQL, fetched".  Raises NoServer.
    """
    stays = "fetched" if way.endswith("fetched") else "stay"
    with tempfile.TemporaryDirectory() as place:
        paths = _parquet(records, Path(place))
        if way == "Parquet":
            return _timed(ParquetTable(paths), records)
        if way.startswith("DuckDB"):
            return _timed(SqlTable(_in_duckdb(paths, Path(place)), records=stays), records)  # type: ignore[arg-type]  # one of two
        with Server() as server, server.database() as url:
            plain = url.replace("+psycopg", "")
            _in_postgresql(paths, plain)
            return _timed(SqlTable(plain, "people", records=stays), records)  # type: ignore[arg-type]  # one of two


def speed(setting: Setting) -> list[Table]:
    """All ways, at a size that they finish at in minutes."""
    size = 10**4 if setting.quick else 10**6
    ways = ["Parquet", "DuckDB"]
    if not setting.quick:
        ways += ["DuckDB, fetched", "PostgreSQL", "PostgreSQL, fetched"]
    found, lines = dict[str, dict[str, float]](), list[Line]()
    for way in ways:
        try:
            found[way] = fits(way, size) if setting.quick else elsewhere(__name__, "fits", way, size)
        except NoServer as error:
            lines.append(Line(way, f"not measured: {error}"))
    nanoseconds: Callable[[float], Measured] = partial(Measured, unit="ns", form=".1f")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{way}, {size:,} records",
            Measured(each["fit"], unit="s"),
            nanoseconds(each["round"]),
            nanoseconds(each["first"]),
        )
        for way, each in found.items()
    )
    ratio = Measured(found["DuckDB"]["round"] / found["Parquet"]["round"], unit="×", form=".2f")
    lines.append(
        at_most(
            f"a record and round inside DuckDB over that from Parquet, {size:,}", ratio, TIMES, judged=not setting.quick
        )
    )
    head = ("", "seconds of a fit", "a record and round", "before the first round ends, per record")
    title = f"{ROUNDS_PER_COLUMN * COLUMNS} rounds of additive boosting on {COLUMNS} codes, one thread, secure noise"
    return [Grid(title, head, rows), Report("Beside Parquet", tuple(lines))]


def same_models(setting: Setting) -> list[Table]:
    """Models and entries beside those of the same records in memory."""
    records = 2000 if setting.quick else 10**5
    sample = made_up(records)
    X, y = np.ascontiguousarray(sample.codes.T), (sample.labels > 0).astype(np.int8)
    names = sample.layout.schema.names
    alone = released(_learner(3).fit(dict(zip(names, X.T, strict=True)), y))
    same: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as place:
        paths = _parquet(records, Path(place))
        address = _in_duckdb(paths, Path(place))
        tables: dict[str, Any] = {"DuckDB": SqlTable(address), "DuckDB, fetched": SqlTable(address, records="fetched")}
        same = {way: released(_learner(3).fit(table, "label")) == alone for way, table in tables.items()}
        if not setting.quick:
            with Server() as server, server.database() as url:
                _in_postgresql(paths, url.replace("+psycopg", ""))
                same["PostgreSQL"] = released(_learner(3).fit(SqlTable(url, "people"), "label")) == alone
    lines = [at_least(way, Measured(float(each), form=".0f"), 1.0) for way, each in same.items()]
    return [Report(f"Whether model, statement and entries are those of {records:,} records in memory", tuple(lines))]


def parts(setting: Setting) -> list[Part]:
    """Speed, then models."""
    quick = setting.quick
    return [
        Part("a record and round", partial(speed, setting), 2.0 if quick else 300.0),
        Part("the same models", partial(same_models, setting), 2.0 if quick else 30.0),
    ]
