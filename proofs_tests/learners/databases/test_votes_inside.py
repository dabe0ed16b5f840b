"""Boosted 1-Rules and trees inside DuckDB, PostgreSQL and SQLite: models and entries are those of a fit in memory."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from accountant import ApproxDP, Ledger, ReplaceOne, ZCDPComposition
from benchmarks.ledgers.postgres import Server
from learners import LazyBoostClassifier, Numeric, Schema, SqlTable
from learners.databases import NotInSql, moved_scores
from learners.encoding import Layout
from learners.votes import PrivateOneRule, RoundLearner
from mechanisms import NoiseSource
from proofs_tests.support.learners.databases import TABLE, Columns, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.hostile_tables import SCHEMA as ALL
from proofs_tests.support.learners.hostile_tables import hostile, labels
from proofs_tests.support.learners.in_blocks import released

SCHEMA = Schema(ALL.columns[:8], ALL.label)
"""What is read inside a database; some columns have a cell for missing numbers."""
WITHOUT_MISSING = Schema(
    tuple(column for column in SCHEMA.columns if not (isinstance(column, Numeric) and column.own_cell)), SCHEMA.label
)
KINDS = {SCHEMA.names[0]: "double precision"}

SETTINGS: Mapping[str, dict[str, Any]] = {
    "rules of few columns": {"rounds": 3, "delta": 0.0},
    "rules, calibrated": {"rounds": 30, "calibration": 0.2},
    "trees, calibrated": {"rounds": 7, "weak_learner": "top-down", "calibration": 0.2},
    "deep trees by Gini": {"rounds": 4, "weak_learner": "top-down", "splits": 6, "criterion": "gini"},
    "cuts at quantiles": {"rounds": 5, "quantile_bins": 4, "calibration": 0.1, "schema": WITHOUT_MISSING},
}


def learner(name: str, **other: Any) -> LazyBoostClassifier:
    settings = {"epsilon": 8.0, "delta": 1e-5, "random_state": 3, "schema": SCHEMA, **SETTINGS[name], **other}
    return LazyBoostClassifier(**settings)


@pytest.fixture(scope="module")
def columns() -> Columns:
    table = hostile(300, 3)
    return {**{name: table.allowed()[name] for name in SCHEMA.names}, "y": labels(table).astype(object)}


@pytest.fixture(scope="module")
def databases(
    postgresql_server: Server, columns: Columns, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Any]]:
    with postgresql_server.database() as url, in_duckdb(columns, kinds=KINDS) as connection:
        in_postgresql(url, columns, kinds=KINDS)
        yield [connection, url, in_sqlite(tmp_path_factory.mktemp("votes") / "people.db", columns)]


@pytest.mark.postgres
@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_releases_as_in_memory(name: str, columns: Columns, databases: list[Any]) -> None:
    model = learner(name)
    schema = model.schema
    assert isinstance(schema, Schema)
    alone = model.fit({each: columns[each] for each in schema.names}, columns["y"])
    for database in databases:
        assert released(learner(name).fit(SqlTable(database, [TABLE], "y"))) == released(alone)


def test_terms_that_are_too_many_for_one_statement(columns: Columns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moved_scores, "TOGETHER", 2)
    alone = learner("trees, calibrated").fit({each: columns[each] for each in SCHEMA.names}, columns["y"])
    with in_duckdb(columns, kinds=KINDS) as connection:
        found = learner("trees, calibrated").fit(SqlTable(connection, [TABLE], "y"))
    assert released(found) == released(alone)


def of_ones_own(layout: Layout, eta: float, noise: NoiseSource) -> RoundLearner[Any]:
    return PrivateOneRule(layout, eta, noise)


def test_a_weak_learner_of_ones_own_is_refused_before_anything_is_charged(columns: Columns) -> None:
    ledger = Ledger(ApproxDP(100.0, 0.5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    model = learner("rules of few columns", weak_learner=of_ones_own, ledger=ledger)
    with (
        in_duckdb(columns, kinds=KINDS) as connection,
        pytest.raises(NotInSql, match=re.escape("a weak learner of your own")),
    ):
        model.fit(SqlTable(connection, [TABLE], "y"))
    assert not ledger.entries[1:]


def test_margins_go_on_from_what_was_written_and_another_fit_begins_anew(columns: Columns) -> None:
    """Rules of more columns than a statement looks up at once, so scores are written between rounds."""

    def made() -> LazyBoostClassifier:
        return learner("rules, calibrated", rounds=40, calibration=0.0, epsilon=0.5)

    alone = made().fit({each: columns[each] for each in SCHEMA.names}, columns["y"])
    layout = Layout(SCHEMA)
    assert len({layout.feature(rule.feature)[0] for rule in alone.model_.rules if rule.feature >= 0}) > 4
    with in_duckdb(columns, kinds=KINDS) as connection:
        table = SqlTable(connection, [TABLE], "y")
        assert [released(made().fit(table)) for _ in range(2)] == [released(alone)] * 2
