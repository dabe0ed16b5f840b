"""Random schemas and tables: DuckDB, PostgreSQL and SQLite release what memory does, and refuse where it does."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.ledgers.postgres import Server
from learners import Boolean, Categorical, Integer, Numeric, OutsideSchema, PrivateBoostClassifier, Schema, SqlTable
from learners.tables import Column
from proofs_tests.support.learners.databases import connected, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.in_blocks import released

NAMES = ['a"b', "'; DROP TABLE t; --", "select", "ä%s", "ａ", "$1", "y y", "tab\tbed", "w?", "{0}", "/*", "c0"]
WORDS = ["a", "A", "b;'", 'c"', "é", "e\u0301", "1", "?", "NULL", "back\\slash", "--", "a b"]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 0.1 + 0.2, 5e-324, 1e-300, 3.0]

Values: TypeAlias = list[Any]
Drawn: TypeAlias = tuple[Column, str, st.SearchStrategy[Any]]
"""A column, its type in a database, and what may be in it."""


@st.composite
def numeric(draw: Callable[..., Any], name: str) -> Drawn:
    missing, outside = draw(st.sampled_from([None, "own", 0.1])), draw(st.sampled_from(["error", "clip"]))
    cuts = draw(st.sampled_from([(), (0.0, 5e-324, 0.1, 0.1 + 0.2), (-0.5,)]))
    column = Numeric(name, -1.0, 3.0, draw(st.integers(2, 20)), cuts, outside=outside, missing=missing)
    values = [st.sampled_from(NUMBERS), st.floats(-1.0, 3.0)]
    if missing is not None:
        values.append(st.sampled_from([None, np.nan]))
    if outside == "clip":
        values.append(st.sampled_from([1e308, -1e308, 3.5]))
    return column, "double precision", st.one_of(values)


@st.composite
def integer(draw: Callable[..., Any], name: str) -> Drawn:
    missing = draw(st.sampled_from([None, "own", 3]))
    values = st.integers(0, 9) if missing is None else st.one_of(st.none(), st.integers(0, 9))
    return Integer(name, 0, 9, bins=draw(st.integers(2, 10)), missing=missing), "bigint", values


@st.composite
def boolean(draw: Callable[..., Any], name: str) -> Drawn:
    if draw(st.booleans()):
        return Boolean(name), "boolean", st.booleans()
    return Boolean(name, missing=True), "double precision", st.sampled_from([0.0, -0.0, 1.0, np.nan, None])


@st.composite
def categorical(draw: Callable[..., Any], name: str) -> Drawn:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5, unique=True))
    missing = draw(st.sampled_from([None, words[0]]))
    other = draw(st.sampled_from([None, words[-1]]))
    values = [st.sampled_from(words), st.sampled_from([f" {words[0]}\t"])]
    if missing is not None:
        values.append(st.sampled_from([None, ""]))
    if other is not None:
        values.append(st.sampled_from(["something else", "nothing'); --"]))
    return Categorical(name, words, missing, other), "text", st.one_of(values)


@attrs.frozen(eq=False)
class Case:
    """columns: with the labels in "y" and weights in "w".  kinds: types of columns."""

    schema: Schema
    classes: tuple[object, ...]
    columns: dict[str, npt.NDArray[Any]]
    kinds: dict[str, str]
    weighted: bool
    seed: int

    def fitted(self, *data: Any) -> str:
        """What is released, or "refused"."""
        model = PrivateBoostClassifier(
            2.0,
            1e-4,
            rounds_per_column=2,
            schema=self.schema,
            classes=self.classes,
            weight_cap=2.0 if self.weighted else None,
            random_state=self.seed,
        )
        try:
            return released(model.fit(*data))
        except OutsideSchema:
            return "refused"

    def alone(self) -> str:
        features = {name: self.columns[name] for name in self.schema.names}
        return self.fitted(features, self.columns["y"], *([self.columns["w"]] if self.weighted else []))

    def inside(self, database: Any) -> str:
        return self.fitted(SqlTable(database, "t", "y"), None, *(["w"] if self.weighted else []))


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    drawn = [draw(st.one_of(numeric(each), integer(each), boolean(each), categorical(each))) for each in names]
    classes = draw(st.sampled_from([("no", "yes'; --"), ("a", "b", "A"), (0, 1), (False, True), (2, 5, -1)]))
    n = draw(st.integers(1, 12))
    table: dict[str, Values] = {
        column.name: draw(st.lists(values, min_size=n, max_size=n)) for column, _, values in drawn
    }
    table["y"] = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    table["w"] = draw(st.lists(st.sampled_from([0.0, -0.0, 2.0, 0.1, 1.0, 1.999, 5e-324]), min_size=n, max_size=n))
    kinds = {column.name: kind for column, kind, _ in drawn}
    kinds["y"] = {str: "text", int: "bigint", bool: "boolean"}[type(classes[0])]
    weighted = draw(st.booleans())
    if weighted and not any(table["w"]):
        table["w"][0] = 1.0
    if draw(st.integers(0, 9)) == 0:
        table[drawn[0][0].name][0] = 7.0 if kinds[names[0]] == "double precision" else table[names[0]][0]
    columns = {name: _boxed(values) for name, values in table.items()}
    return Case(
        Schema(tuple(column for column, _, _ in drawn)), classes, columns, kinds, weighted, draw(st.integers(0, 99))
    )


def _boxed(values: Values) -> npt.NDArray[np.object_]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


@pytest.fixture(scope="module")
def server(postgresql_server: Server) -> Iterator[str]:
    with postgresql_server.database() as url:
        yield url


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sqlite") / "people.db"


@pytest.mark.postgres
@given(case=cases())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_releases_inside_databases(server: str, file: Path, case: Case) -> None:
    kinds = case.kinds | {"w": "double precision"}
    with connected(server) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
    in_postgresql(server, case.columns, "t", kinds)
    with in_duckdb(case.columns, "t", kinds=kinds) as connection:
        found = {"DuckDB": case.inside(connection), "PostgreSQL": case.inside(server)}
    found["SQLite"] = case.inside(in_sqlite(file, case.columns, "t", kinds))
    alone = case.alone()
    assert [place for place, each in found.items() if each != alone] == []
