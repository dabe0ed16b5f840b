"""Training inside DuckDB, PostgreSQL and SQLite: models and entries are those of a fit in memory, bit by bit."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from accountant import AddRemoveOne, ApproxDP, Ledger, ZCDPComposition
from benchmarks.ledgers.postgres import Server
from learners import (
    OutsideSchema,
    PrivateBoostClassifier,
    Schema,
    SqlTable,
)
from learners.databases import NotInSql
from proofs_tests.support.learners.databases import (
    TABLE,
    Columns,
    in_duckdb,
    in_postgresql,
    in_sqlite,
    quoted,
)
from proofs_tests.support.learners.hostile_tables import CLASSES, hostile, labels
from proofs_tests.support.learners.hostile_tables import SCHEMA as ALL
from proofs_tests.support.learners.in_blocks import released

N = 400
SCHEMA = Schema(ALL.columns[:8], ALL.label)
"""What is read inside a database, without dates and order, and no text for numbers or truth."""
AGE, INCOME, SIZE = SCHEMA.names[:3]
KINDS = {AGE: "double precision"}
"""Of columns that hold None, which is NULL, beside NaN."""

SETTINGS: Mapping[str, dict[str, Any]] = {
    "calibrated": {"calibration": 0.2, "rounds_per_column": 2},
    "pairs, settings chosen privately": {
        "interactions": [(AGE, "code"), ("job\nor none", SIZE)],
        "tune": [{"rounds_per_column": 1}, {"rounds_per_column": 2}],
    },
    "pairs of its own, a direction": {"monotonic_cst": {INCOME: 1}, "rounds_per_column": 4, "epsilon": 20.0},
    "weights, records replaced": {
        "adjacency": "replace-one",
        "weight_cap": 3.0,
        "calibration": 0.1,
        "rounds_per_column": 2,
    },
    "three classes, settings chosen privately": {"tune": [{"rounds_per_column": 1}, {"rounds_per_column": 2}]},
    "classes that are numbers": {"rounds_per_column": 1},
}


@attrs.frozen(eq=False)
class Case:
    """columns: with weights and three labels."""

    columns: Columns

    def features(self) -> dict[str, npt.NDArray[Any]]:
        return {name: self.columns[name] for name in SCHEMA.names}


@pytest.fixture(scope="module")
def case() -> Case:
    table = hostile(N, 3)
    columns = {name: values for name, values in table.allowed().items() if name in SCHEMA.names}
    n, draw = len(columns[AGE]), np.random.default_rng(1)
    age = columns[AGE].astype(object)
    age[np.isnan(columns[AGE]) & (draw.random(n) < 0.5)] = None
    three = np.array([*CLASSES, "thi;rd "], dtype=object)[draw.integers(0, 3, n)]
    weights = np.where(draw.random(n) < 0.2, 0.0, draw.uniform(0.0, 3.0, n))
    return Case(
        {
            **columns,
            AGE: age,
            "y": labels(table).astype(object),
            "three": three,
            "bit": draw.integers(0, 2, n),
            "w'": weights,
        }
    )


@pytest.fixture(scope="module")
def databases(
    postgresql_server: Server, case: Case, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    with postgresql_server.database() as url, in_duckdb(case.columns, kinds=KINDS) as connection:
        in_postgresql(url, case.columns, kinds=KINDS)
        file = in_sqlite(tmp_path_factory.mktemp("sqlite") / "people.db", case.columns, kinds=KINDS)
        yield {"duckdb": connection, "postgresql": url, "sqlite": file}


def learner(name: str, **other: Any) -> Any:
    settings = {"epsilon": 1.0, "delta": 1e-5, "random_state": 3, **SETTINGS[name], **other}
    if label_of(name) != "y":
        return PrivateBoostClassifier(schema=Schema(SCHEMA.columns), classes=classes_of(name), **settings)
    return PrivateBoostClassifier(schema=SCHEMA, **settings)


def label_of(name: str) -> str:
    return "three" if name.startswith("three") else "bit" if name.startswith("classes") else "y"


def classes_of(name: str) -> tuple[object, ...]:
    return (*CLASSES, "thi;rd ") if name.startswith("three") else (0, 1)


def weight_of(name: str) -> str | None:
    return "w'" if name.startswith("weights") else None


@pytest.mark.postgres
@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_releases_as_in_memory(name: str, case: Case, databases: dict[str, Any]) -> None:
    label, weight = label_of(name), weight_of(name)
    given = None if weight is None else case.columns[weight]
    alone = released(learner(name).fit(case.features(), case.columns[label], given))
    for database in databases.values():
        found = learner(name).fit(SqlTable(database, [TABLE], label), None, weight)
        assert released(found) == alone


def test_codes_that_are_cut_finely_and_scores_that_are_written_on_the_way(case: Case) -> None:
    """More rounds than tables are looked up at once; and a second fit on the same rows begins anew."""
    schema = Schema(tuple(attrs.evolve(c, name=f"{c.name}{k}") for k in range(3) for c in SCHEMA.columns), SCHEMA.label)
    columns = {f"{name}{k}": case.columns[name] for k in range(3) for name in SCHEMA.names}
    with in_duckdb({**columns, "y": case.columns["y"]}, kinds={f"{AGE}{k}": "double" for k in range(3)}) as connection:
        made = [
            PrivateBoostClassifier(1.0, 1e-5, rounds_per_column=2, schema=schema, random_state=5).fit(table, *y)
            for table, y in ((columns, [case.columns["y"]]), (SqlTable(connection, [TABLE], "y"), []))
        ]
    assert released(made[1]) == released(made[0])


@pytest.mark.postgres
def test_dates_and_categories_in_order(postgresql_server: Server) -> None:
    table, schema = hostile(N, 3), Schema(ALL.columns[9:12], ALL.label)
    columns, y = {name: each for name, each in table.allowed().items() if name in schema.names}, labels(table)

    def model() -> PrivateBoostClassifier:
        return PrivateBoostClassifier(1.0, 1e-5, rounds_per_column=2, schema=schema, random_state=3)

    alone = released(model().fit(columns, y))
    stored = {**columns, "y": y.astype(object)}
    with postgresql_server.database() as url, in_duckdb(stored) as connection:
        in_postgresql(url, stored)
        for database in (connection, url):
            for records in ("stay", "fetched"):
                found = SqlTable(database, [TABLE], "y", records=records)
                assert released(model().fit(found, None)) == alone


def own_ledger() -> Ledger:
    return Ledger(ApproxDP(100.0, 0.5), composition=ZCDPComposition(), adjacency=AddRemoveOne())


# --- what is refused, before anything is charged ------------------------------------------------------------


def refused(
    columns: Columns, words: str, kind: type[Exception] = OutsideSchema, kinds: Mapping[str, str] = KINDS, **other: Any
) -> None:
    ledger, weight = own_ledger(), other.pop("weight", None)
    model = learner("calibrated", ledger=ledger, **other)
    with in_duckdb(columns, kinds=kinds) as connection:
        table = SqlTable(connection, [TABLE], "y")
        with pytest.raises(kind, match=words):
            model.fit(table, None, weight)
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    assert not ledger.entries[1:]


def changed(case: Case, **values: object) -> dict[str, npt.NDArray[Any]]:
    """The table with another value in its fifth record."""
    found = {name: each.copy() for name, each in case.columns.items()}
    for name, value in values.items():
        found[name][5] = value
    return found


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (AGE, np.inf),
        (INCOME, -1e-9),
        (INCOME, 1e7),
        (SIZE, np.nan),
        (SIZE, 0.4),
        ("code", 3),
        ("flag, as numbers", 0.5),
        ("flag, as numbers", np.nan),
    ],
    ids=str,
)
def test_a_value_outside_the_schema_is_refused_with_its_column(case: Case, column: str, value: float) -> None:
    refused(changed(case, **{column: value}), re.escape(f"column {column!r}: 1 of the records"))


@pytest.mark.parametrize("value", ["maybe", None, CLASSES[0].upper(), f"{CLASSES[0]} "], ids=str)
def test_a_label_outside_the_classes_is_refused(case: Case, value: object) -> None:
    refused(changed(case, y=value), "the label .*: 1 of the records")


@pytest.mark.parametrize("value", [-0.1, 3.1, np.nan], ids=str)
def test_a_weight_outside_its_bounds_is_refused(case: Case, value: float) -> None:
    refused(changed(case, **{"w'": value}), "sample_weight: 1 of the records", weight="w'", weight_cap=3.0)


def test_a_record_of_weight_0_may_hold_anything(case: Case) -> None:
    columns = changed(case, **{"w'": 0.0, AGE: np.inf, "code": 3, "y": "maybe"})
    model = learner("weights, records replaced")
    alone = released(
        learner("weights, records replaced").fit(
            {name: columns[name] for name in SCHEMA.names}, columns["y"], columns["w'"]
        )
    )
    with in_duckdb(columns, kinds=KINDS) as connection:
        assert released(model.fit(SqlTable(connection, [TABLE], "y"), None, "w'")) == alone


def test_types_that_are_not_read_inside_a_database(case: Case) -> None:
    text = {**case.columns, AGE: case.columns[AGE].astype(str).astype(object)}
    refused(text, "is VARCHAR in the database.*records='fetched'", NotInSql, {})
    refused({**case.columns, "y": case.columns["bit"]}, "the label 'y' is BIGINT.*records='fetched'", NotInSql)
    far = {**case.columns, "y": case.columns["bit"] + 2**53}
    model = PrivateBoostClassifier(1.0, 1e-5, schema=Schema(SCHEMA.columns), classes=(1, 2**53))
    with in_duckdb(far, kinds=KINDS) as connection, pytest.raises(NotInSql, match=r"beyond 2\^53"):
        model.fit(SqlTable(connection, [TABLE]), "y")
    without = {name: each for name, each in case.columns.items() if name != SIZE}
    refused(without, "lacks the columns", ValueError)
    refused({name: each[:0] for name, each in case.columns.items()}, "at least one record", ValueError)


def test_a_query_whose_records_stay(case: Case) -> None:
    with in_duckdb(case.columns, kinds=KINDS) as connection:
        table = SqlTable(connection, query=f"SELECT * FROM {quoted(TABLE)} -- all of them;", label="y")
        found = released(learner("calibrated").fit(table, None))
    assert found == released(learner("calibrated").fit(case.features(), case.columns["y"]))
