"""LightGBM on a table taken out of a database: `python fit_extracted.py DATABASE THREADS` prints seconds and GiB.

DATABASE: a file of DuckDB's, or the URL of a PostgreSQL; the table is called people, its last column label. As it
ships but for the threads.
"""

import io
import json
import resource
import sys
import time
from typing import Any

import lightgbm
import pyarrow as pa
import pyarrow.csv


def extracted(database: str, threads: int) -> pa.Table:
    """The whole table, by each engine's fastest way out."""
    if not database.startswith("postgresql:"):
        import duckdb

        with duckdb.connect(database, read_only=True, config={"threads": threads}) as connection:
            return connection.sql("SELECT * FROM people").to_arrow_table()
    import psycopg

    text = io.BytesIO()
    copied = "COPY people TO STDOUT (FORMAT csv, HEADER)"
    with psycopg.connect(database) as server, server.cursor() as cursor, cursor.copy(copied) as copy:
        for part in copy:
            text.write(part)
    text.seek(0)
    return pyarrow.csv.read_csv(text)


def measured(database: str, threads: int) -> dict[str, float]:
    """Seconds of taking it out and of fitting, GiB at most."""
    start = time.perf_counter()
    table = extracted(database, threads)
    out = time.perf_counter()
    options: dict[str, Any] = {"objective": "binary", "num_threads": threads, "verbose": -1}
    lightgbm.train(options, lightgbm.Dataset(table.drop_columns(["label"]), table["label"]))
    end, most = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"extract": out - start, "fit": end - start, "peak": most / 2**20}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
