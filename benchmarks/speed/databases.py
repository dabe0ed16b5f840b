"""Training inside DuckDB and PostgreSQL: a record and round beside Parquet, and that nobody can tell the models.

Records are made up: 14 categorical codes as small whole numbers and a label. Wall-clock time.
"""

import io
import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import duckdb
import numpy as np
import psycopg
import pyarrow.csv
import pyarrow.parquet
from psycopg import sql

from benchmarks.ledgers import NoServer, Server
from benchmarks.peers import folder, python_with
from benchmarks.runner import (
    Cell,
    Grid,
    Measured,
    Missing,
    Part,
    Report,
    Setting,
    Table,
    at_least,
    at_most,
    elsewhere,
    peak,
)
from benchmarks.speed.speed_many import COLUMNS, made_up, written
from learners import ParquetTable, PrivateBoostClassifier, SqlTable
from proofs_tests.support.learners.in_blocks import released

TIMES: Final = 2.0
"""A record and round inside DuckDB over that from Parquet, at most."""

GIBIBYTES: Final = 3
"""What DuckDB is told that it may take."""

OURS: Final = 0.75
"""What Python, its packages, and what DuckDB does not count take beside, in GiB."""

LIGHTGBM: Final = (
    "lightgbm==4.7.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "pyarrow==26.0.1",
    "duckdb==2.0.1",
    "psycopg==3.3.9",
    "psycopg-binary==3.3.9",
)
WORKER: Final = Path(__file__).parents[1] / "peer_workers" / "fit_extracted.py"

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
    first, each = per * (ends[0] - start), per * float(np.mean(np.diff(ends)))
    return {"fit": whole, "first": first, "round": each, "peak": peak()}


def _parquet(records: int, folder: Path) -> list[Path]:
    file = min(records, 10**6)
    return [written(file, folder, 4)] * (records // file)


def _in_duckdb(paths: list[Path], folder: Path, **settings: str) -> Path:
    """The file that has them."""
    path = folder / "people.db"
    with duckdb.connect(str(path), config=dict(settings)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet($1)", [[str(path) for path in paths]])
    return path


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


def _lightgbm(database: str, threads: int) -> dict[str, float]:
    command = [str(python_with("lightgbm-extracted", LIGHTGBM, folder())), str(WORKER), database, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"LightGBM failed in a process of its own:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def fits(way: str, records: int, threads: int = 1) -> dict[str, float]:
    """One fit; call it in a fresh process. Seconds of it, ns per record of what comes first and of a round, on average,
    and GiB of this process at most. Of LightGBM: seconds of taking the table out and of all, and GiB of its process.

    way: "Parquet", or an engine, DuckDB or PostgreSQL, alone, with ", fetched" or with ", LightGBM".
    Raises NoServer, Missing.
    """
    stays: Any = "fetched" if way.endswith("fetched") else "stay"
    with tempfile.TemporaryDirectory() as place:
        paths = _parquet(records, Path(place))
        if way == "Parquet":
            return _timed(ParquetTable(paths), records)
        if way.startswith("DuckDB"):
            settings = {"threads": str(threads), "memory_limit": f"{GIBIBYTES}GiB"}
            path = _in_duckdb(paths, Path(place), **settings)
            if way.endswith("LightGBM"):
                return _lightgbm(str(path), threads)
            return _timed(SqlTable(f"duckdb:///{path}?{urlencode(settings)}#people", records=stays), records)
        with Server() as server, server.database() as url:
            plain = url.replace("+psycopg", "")
            _in_postgresql(paths, plain)
            if way.endswith("LightGBM"):
                return _lightgbm(plain, threads)
            return _timed(SqlTable(plain, "people", records=stays), records)


def _compared(ways: Sequence[str], records: int, threads: int, quick: bool) -> tuple[Grid, dict[str, dict[str, float]]]:
    """Each way in a process of its own."""
    found, absent = dict[str, dict[str, float]](), list[tuple[Cell, ...]]()
    for way in ways:
        try:
            found[way] = fits(way, records, threads) if quick else elsewhere(__name__, "fits", way, records, threads)
        except (NoServer, Missing) as error:
            absent.append((way, f"not measured: {error}", "", "", "", ""))
    units = {"fit": ("s", ".3g"), "extract": ("s", ".3g"), "round": ("ns", ".1f"), "first": ("ns", ".1f")}
    units["peak"] = ("GiB", ".2f")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            way,
            *(
                Measured(each[name], unit=unit, form=form) if name in each else ""
                for name, (unit, form) in units.items()
            ),
        )
        for way, each in found.items()
    )
    head = ("", "fit", "taking it out", "a record and round", "before the first round ends, per record", "memory")
    rounds = f"{ROUNDS_PER_COLUMN * COLUMNS} rounds"
    cores = "one thread" if threads == 1 else f"{threads} threads"
    title = f"{records:,} records × {COLUMNS} codes, {rounds} of additive boosting, {cores}, secure noise"
    return Grid(title, head, (*rows, *absent)), found


def _beside_parquet(found: Mapping[str, Mapping[str, float]], records: int, judged: bool) -> Report:
    ratios = {way: found[way]["round"] / found["Parquet"]["round"] for way in ("DuckDB", "DuckDB, fetched")}
    lines = [
        at_most(f"{way}, {records:,} records", Measured(ratio, unit="×", form=".2f"), TIMES, judged=judged)
        for way, ratio in ratios.items()
    ]
    return Report("A record and round over that from Parquet", tuple(lines))


def speed(setting: Setting) -> list[Table]:
    """All ways, at a size that they finish at in a minute or two."""
    ways = ["Parquet", "DuckDB", "DuckDB, fetched"]
    if not setting.quick:
        ways += ["PostgreSQL", "PostgreSQL, fetched"]
    records = 10**4 if setting.quick else 10**6
    grid, found = _compared(ways, records, 1, setting.quick)
    return [grid, _beside_parquet(found, records, not setting.quick)]


def many_records(setting: Setting) -> list[Table]:
    """As many records as somebody would leave in a database for, beside LightGBM on the table taken out."""
    tables, threads = list[Table](), 2
    sizes = {"DuckDB": 10**5 if setting.quick else 10**8, "PostgreSQL": 10**4 if setting.quick else 10**7}
    for engine, records in sizes.items():
        ways = [f"{engine}", f"{engine}, fetched", f"{engine}, LightGBM"]
        grid, found = _compared(["Parquet", *ways] if engine == "DuckDB" else ways, records, threads, False)
        tables.append(grid)
        if engine == "DuckDB":
            tables.append(_beside_parquet(found, records, not setting.quick))
            inside = Measured(found["DuckDB"]["peak"], unit="GiB", form=".2f")
            line = at_most(f"told {GIBIBYTES} GiB", inside, GIBIBYTES + OURS, judged=not setting.quick)
            tables.append(Report("Memory of the process that DuckDB is in", (line,)))
    return tables


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
        address = f"duckdb:///{_in_duckdb(paths, Path(place))}#people"
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
        Part("a record and round", partial(speed, setting), 2.0 if quick else 90.0),
        *([] if quick else [Part("many records", partial(many_records, setting), 1500.0)]),
        Part("the same models", partial(same_models, setting), 2.0 if quick else 30.0),
    ]
