"""Fairness tables and margin histograms inside databases: the same releases and entries as in memory, bit by bit."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ApproxDP, Ledger, ReplaceOne, ZCDPComposition
from benchmarks.ledgers.postgres import Server
from learners import (
    Boolean,
    LazyBoostClassifier,
    Numeric,
    PredictedColumn,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    Schema,
    SqlColumn,
    SqlTable,
    class_table,
    private_class_table,
    private_demographic_table,
    private_group_risks,
    private_margin_histogram,
    private_regression_table,
    private_statistical_parity,
)
from learners.databases import NotInSql
from learners.databases.stored_columns import KeptCells, nearest
from learners.tables import OutsideSchema
from mechanisms.core import MemoryRows
from mechanisms.queries import SHARE_ONE, BlockCounts, GroupedShares, ShareRows, ShareTotals, shares_query
from mechanisms.queries.group_queries import share_sums, shares_rows_query
from proofs_tests.support.learners.databases import connected, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.in_blocks import books

GROUPS: Final = ("ü'", "b;", "C")
CLASSES: Final = ("no'", "yes", "b;")
ASKED: Final[Mapping[str, Any]] = {"epsilon": 1.0, "delta": 1e-6, "public_groups": GROUPS, "random_state": 5}
N: Final = 400

Columns = dict[str, npt.NDArray[Any]]


def people() -> Columns:
    """Some numbers at bounds, far beyond them, and so small or far apart that PostgreSQL refuses to go on with them."""
    draw = np.random.default_rng(0)
    age = draw.random(N)
    amount = draw.normal(0.5, 0.5, N)
    amount[:8] = [0.0, -0.0, 1.0, 5e-324, 1e308, -1e308, np.nextafter(1.0, 2.0), 0.5]
    told = amount + draw.normal(0.0, 0.2, N) * (np.abs(amount) < 2.0)
    told[3:8] = [0.0, -1e308, 1e308, 1e-170, 0.25]
    return {
        "age": age,
        "member": draw.random(N) < 0.5,
        'gr"oup': np.array(GROUPS, dtype=object)[draw.integers(0, 3, N)],
        "income": np.where(age > 0.6, "yes", "no'").astype(object),
        "kind": np.array(CLASSES, dtype=object)[np.digitize(age, [0.4, 0.7])],
        "amount": amount,
        "told": told,
    }


SCHEMA: Final = Schema((Numeric("age", 0.0, 1.0), Boolean("member")))


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    found = people()
    X = {name: found[name] for name in SCHEMA.names}
    y = np.clip(found["amount"], 0.0, 1.0)
    two, three = ("no'", "yes"), CLASSES
    return {
        "two": PrivateBoostClassifier(5.0, 1e-5, schema=SCHEMA, classes=two, random_state=0).fit(X, found["income"]),
        "three": PrivateBoostClassifier(
            5.0, 1e-5, schema=SCHEMA, classes=three, rounds_per_column=2, random_state=0
        ).fit(X, found["kind"]),
        "votes": LazyBoostClassifier(5.0, 1e-5, schema=SCHEMA, classes=two, rounds=5, random_state=0).fit(
            X, found["income"]
        ),
        "amounts": PrivateBoostRegressor(5.0, 1e-5, schema=SCHEMA, label_bounds=(0.0, 1.0), random_state=0).fit(X, y),
    }


@pytest.fixture(scope="module", params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlTable]:
    if request.param == "sqlite":
        yield SqlTable(in_sqlite(tmp_path_factory.mktemp("sqlite") / "people.db", people(), "people"), "people")
        return
    if request.param == "duckdb":
        with in_duckdb(people(), "people") as connection:
            yield SqlTable(connection, "people")
        return
    server: Server = request.getfixturevalue("postgresql_server")
    with server.database() as url:
        in_postgresql(url, people(), "people")
        yield SqlTable(url, "people")


def ledger(relation: AddRemoveOne | ReplaceOne | None = None) -> Ledger:
    return Ledger(ApproxDP(9.0, 1e-3), composition=ZCDPComposition(), adjacency=relation or AddRemoveOne())


Release = Callable[[Ledger, Any, Any, Any], object]
"""From a ledger, predictions, labels and groups."""

RELEASES: Final[Mapping[str, tuple[str, str, Release]]] = {
    "classes": (
        "two",
        "income",
        lambda book, *columns: private_class_table(*columns, classes=("no'", "yes"), ledger=book, **ASKED),
    ),
    "three classes": (
        "three",
        "kind",
        lambda book, *columns: private_class_table(*columns, classes=CLASSES, ledger=book, **ASKED),
    ),
    "amounts": (
        "amounts",
        "amount",
        lambda book, *columns: private_regression_table(*columns, bounds=(0.0, 1.0), ledger=book, **ASKED),
    ),
    "means": (
        "amounts",
        "amount",
        lambda book, *columns: private_demographic_table(
            *columns, bounds=(-0.3, 0.9), threshold=0.45, ledger=book, **ASKED
        ),
    ),
    "wrong classes": (
        "three",
        "kind",
        lambda book, *columns: private_group_risks(*columns, bound=2.0, loss="classes", ledger=book, **ASKED),
    ),
    "squared errors": (
        "amounts",
        "amount",
        lambda book, *columns: private_group_risks(*columns, bound=0.3, ledger=book, **ASKED),
    ),
    "errors": (
        "amounts",
        "amount",
        lambda book, *columns: private_group_risks(*columns, bound=1e100, loss="absolute", ledger=book, **ASKED),
    ),
    "parity": (
        "amounts",
        "amount",
        lambda book, told, _, groups: private_statistical_parity(
            told, groups, bounds=(0.1, 0.8), grid=9, ledger=book, **ASKED
        ),
    ),
}


def plain(found: Any) -> str:
    """All numbers, whole."""
    return repr(attrs.asdict(found, value_serializer=_listed))


def _listed(_: object, __: object, value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_of_predictions_is_that_in_memory(name: str, table: SqlTable, models: Mapping[str, Any]) -> None:
    model, label, release = RELEASES[name]
    found, books_ = people(), (ledger(), ledger())
    told = models[model].predict({each: found[each] for each in SCHEMA.names})
    alone = release(books_[0], told, found[label], found['gr"oup'])
    columns = SqlColumn(table, label), SqlColumn(table, 'gr"oup')
    assert plain(release(books_[1], PredictedColumn(table, models[model]), *columns)) == plain(alone)
    assert books(books_[0]) == books(books_[1])


@pytest.mark.parametrize("name", ["amounts", "means", "squared errors", "errors", "parity"])
def test_a_release_of_a_column_of_numbers_is_that_in_memory(name: str, table: SqlTable) -> None:
    """Of numbers at bounds and far beyond them."""
    _, label, release = RELEASES[name]
    found = people()
    alone = release(ledger(ReplaceOne()), found["told"], found[label], found['gr"oup'])
    columns = (SqlColumn(table, each) for each in ("told", label, 'gr"oup'))
    assert plain(release(ledger(ReplaceOne()), *columns)) == plain(alone)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(("name", "label"), [("two", "income"), ("three", "kind"), ("votes", "income")])
def test_a_histogram_of_margins_is_that_in_memory(
    name: str, label: str, delta: float, table: SqlTable, models: Mapping[str, Any]
) -> None:
    found, first, second = people(), ledger(), ledger()
    X = {each: found[each] for each in SCHEMA.names}
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": delta, "bins": 7, "random_state": 3}
    alone = private_margin_histogram(first, models[name], X, found[label], **asked)
    there = private_margin_histogram(second, models[name], table, label, **asked)
    assert plain(there) == plain(alone)
    assert books(first) == books(second)


def test_shares_of_a_model_and_nothing_stays_in_the_database(table: SqlTable, models: Mapping[str, Any]) -> None:
    found = people()
    X = {each: found[each] for each in SCHEMA.names}
    asked: dict[str, Any] = {**ASKED, "bounds": (0.0, 1.0), "grid": 3}
    shares = models["two"].decision_function(X)
    alone = private_statistical_parity(shares, found['gr"oup'], ledger=ledger(), **asked)
    told = PredictedColumn(table, models["two"], "score")
    there = private_statistical_parity(told, SqlColumn(table, 'gr"oup'), ledger=ledger(), **asked)
    assert plain(there) == plain(alone)
    assert table.n == N


def test_what_is_refused_before_anything_is_charged(models: Mapping[str, Any]) -> None:
    odd = people()
    odd["amount"][3], odd["kind"][4], odd['gr"oup'][5] = np.nan, "other", None
    book = ledger()
    with in_duckdb(odd, "people") as connection:
        table = SqlTable(connection, "people")
        told = PredictedColumn(table, models["two"])
        label, group = SqlColumn(table, "income"), SqlColumn(table, 'gr"oup')
        classes: Any = {**ASKED, "classes": ("no'", "yes"), "ledger": book}
        amounts: Any = {**ASKED, "bounds": (0.0, 1.0), "ledger": book}
        with pytest.raises(OutsideSchema, match="groups: 1 of the records"):
            private_class_table(told, label, group, **classes)
        with pytest.raises(OutsideSchema, match=r"groups: 1 of the records; labels: 1 of"):
            private_regression_table(SqlColumn(table, "told"), SqlColumn(table, "amount"), group, **amounts)
        with pytest.raises(OutsideSchema, match="the label 'kind': 1 of the records"):
            private_margin_histogram(book, models["three"], table, "kind", epsilon=1.0)
        with pytest.raises(NotInSql, match="column of labels 'income' is VARCHAR"):
            private_regression_table(SqlColumn(table, "told"), label, group, **amounts)
        with pytest.raises(TypeError, match="groups: expected a column of the same table"):
            private_class_table(told, label, odd['gr"oup'], **classes)
        with pytest.raises(TypeError, match="labels: a column of a table in a database"):
            private_class_table(odd["income"], label, odd['gr"oup'], **classes)
        with pytest.raises(ValueError, match="of the same SqlTable"):
            private_class_table(told, SqlColumn(SqlTable(connection, "people"), "income"), group, **classes)
        risks: Any = {**ASKED, "bound": 1.0, "loss": "classes", "ledger": book}
        with pytest.raises(NotInSql, match="'member' is BOOLEAN in the database, the predictions are text"):
            private_group_risks(told, SqlColumn(table, "member"), group, **risks)
        with pytest.raises(TypeError, match="reference: the predictions are a column of a database"):
            private_group_risks(told, label, group, reference=odd["told"], **risks)
        with pytest.raises(TypeError, match="takes values in memory"):
            class_table(told, label, group)
        with pytest.raises(TypeError, match="expected an SqlTable"):
            SqlColumn(connection, "income")  # type: ignore[arg-type]  # that is the point
        with pytest.raises(ValueError, match="no column 'sex'"):
            SqlColumn(table, "sex")
        with pytest.raises(ValueError, match=r"answer: the model says \['prediction', 'score'"):
            private_class_table(PredictedColumn(table, models["two"], "shares"), label, group, **classes)
        with pytest.raises(NotInSql):
            KeptCells()(None)
    assert [entry.record["kind"] for entry in book.entries] == ["opened"]


halves = st.integers(0, 2**25).map(lambda number: number / 2.0)


@given(st.lists(st.floats(0.0, SHARE_ONE) | halves, min_size=1, max_size=50))
@example([0.5, 1.5, 2.5, np.nextafter(0.5, 0.0), np.nextafter(0.5, 1.0), float(SHARE_ONE), 5e-324])
def test_halves_are_rounded_as_numpy_does(values: list[float]) -> None:
    with in_duckdb({"v": np.array(values)}, "people") as connection:
        found = connection.execute(f"SELECT CAST({nearest('v')} AS BIGINT) FROM people").fetchall()
    assert [row[0] for row in found] == np.rint(values).tolist()


@pytest.mark.postgres
def test_halves_are_rounded_as_numpy_does_in_postgresql(postgresql_server: Server) -> None:
    values = [0.5, 1.5, 2.5, float(np.nextafter(0.5, 0.0)), float(np.nextafter(0.5, 1.0)), 5e-324, SHARE_ONE - 0.5]
    with postgresql_server.database() as url, connected(url) as connection:
        in_postgresql(url, {"v": np.array(values)}, "people")
        found = connection.execute(f"SELECT CAST({nearest('v')} AS BIGINT) FROM people".encode()).fetchall()
    assert [row[0] for row in found] == np.rint(values).tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, SHARE_ONE), st.integers(0, SHARE_ONE)), max_size=30))
def test_shares_in_blocks_are_summed_as_in_memory(records: list[tuple[int, int, int]]) -> None:
    given_ = np.array(records, dtype=np.intp).reshape(-1, 3)
    whole = GroupedShares(given_[:, 0], given_[:, 1:], 3)
    parts = [GroupedShares(part[:, 0], part[:, 1:], 3) for part in (given_[:7], given_[7:])]
    rows = ShareRows(MemoryRows.parts(parts, [len(part.groups) for part in parts]), ShareTotals(3, 2))
    query, plain_ = shares_rows_query(ReplaceOne(), 2), shares_query(ReplaceOne(), 2)
    query.check(rows)
    assert query.evaluate(rows).tolist() == share_sums(whole).tolist()
    assert (query.name, query.sensitivity, query.claims) == (plain_.name, plain_.sensitivity, plain_.claims)
    with pytest.raises(ValueError, match="expected 3 shares"):
        shares_rows_query(ReplaceOne(), 3).check(rows)


def test_an_operation_that_has_no_form_is_refused(table: SqlTable, models: Mapping[str, Any]) -> None:
    columns = SqlColumn(table, "income"), SqlColumn(table, 'gr"oup')
    found = PredictedColumn(table, models["two"]).confusions(*columns, ("no'", "yes"), GROUPS)
    assert (found.rows.n, found.rows.kept()) == (N, found.rows)
    assert "sealed" in repr(found.rows) + repr(columns)
    with pytest.raises(NotInSql, match="no form in SQL"):
        found.rows.total(lambda block: np.zeros(1, dtype=np.float64))
    with pytest.raises(NotInSql, match="no form in SQL"):
        found.rows.total(BlockCounts(lambda records: records, 1, 1))
    with pytest.raises(NotInSql, match="no form in SQL"):
        found.rows.map(lambda block: block)
