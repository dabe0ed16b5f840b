"""Adult, Cod-RNA and Mushroom, where they lie and how: the same model, statement and entries, bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from benchmarks.ledgers.postgres import Server
from exchequer.datasets import DataSplit, adult, cod_rna, data_folder, mushroom
from learners import LazyBoostClassifier, Numeric, ParquetTable, PrivateBoostClassifier, Schema, SqlTable
from proofs_tests.support.learners.databases import as_columns, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.in_blocks import released

LABEL, N = "the label", 1000

SETTINGS: dict[str, dict[str, Any]] = {
    "adult": {"interactions": [("age", "education-num")], "calibration": 0.1},
    "cod_rna": {},
    "mushroom": {"adjacency": "replace-one"},
}

VOTES: dict[str, dict[str, Any]] = {
    "adult": {"weak_learner": "top-down", "splits": 2, "calibration": 0.1},
    "cod_rna": {"quantile_bins": 4},
    "mushroom": {},
}


def fitted(name: str, schema: Schema, *data: Any) -> list[str]:
    boost = PrivateBoostClassifier(1.0, 1e-5, rounds_per_column=1, schema=schema, random_state=7, **SETTINGS[name])
    votes = LazyBoostClassifier(1.0, 1e-5, rounds=3, schema=schema, random_state=7, **VOTES[name])
    return [released(model.fit(*data)) for model in (boost, votes)]


@pytest.mark.data
@pytest.mark.postgres
@pytest.mark.parametrize("load", [adult, cod_rna, mushroom], ids=lambda load: load.__name__)
def test_the_same_releases_wherever_the_records_are(
    load: Callable[[Path], DataSplit], postgresql_server: Server, tmp_path: Path
) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("needs EXCHEQUER_DATA")
    data = load(folder)
    some = np.random.default_rng(29).choice(data.y_train.size, N, replace=False)
    numbers = {column.name for column in data.schema.columns if isinstance(column, Numeric)}
    frame = pd.DataFrame(
        {
            name: values[some].astype(np.float64) if name in numbers else values[some]
            for name, values in data.train.items()
        }
    )
    labels = data.y_train[some]
    alone = fitted(data.name, data.schema, frame, labels)
    frame[LABEL] = labels
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame, preserve_index=False), tmp_path / "people.parquet")
    columns = as_columns(frame)
    with postgresql_server.database() as url, in_duckdb(columns, "people") as connection:
        in_postgresql(url, columns, "people")
        file = in_sqlite(tmp_path / "people.db", columns, "people")
        tables = {
            "Parquet": ParquetTable(tmp_path, LABEL, block=400),
            "DuckDB": SqlTable(connection, "people", LABEL),
            "DuckDB, fetched": SqlTable(connection, "people", LABEL, records="fetched"),
            "PostgreSQL": SqlTable(url, "people", LABEL),
            "PostgreSQL, fetched": SqlTable(url, "people", LABEL, records="fetched", block=400),
            "SQLite": SqlTable(file, "people", LABEL),
            "SQLite, fetched": SqlTable(file, "people", LABEL, records="fetched", block=400),
        }
        found = {place: fitted(data.name, data.schema, table, None) for place, table in tables.items()}
    assert [place for place, each in found.items() if each != alone] == []
