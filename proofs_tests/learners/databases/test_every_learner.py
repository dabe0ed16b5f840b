"""Every learner that takes tables in blocks trains inside a database as it does in memory, or says why it cannot."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from sklearn.base import is_regressor

import learners
from accountant import ApproxDP, Ledger, ReplaceOne, ZCDPComposition
from learners import Boolean, Numeric, Schema, SqlTable
from learners.base import PrivateEstimator
from learners.databases import NotInSql
from proofs_tests.support.learners.databases import Columns, in_duckdb, in_sqlite
from proofs_tests.support.learners.in_blocks import released

KINDS: Final[dict[str, type[Any]]] = {
    name: kind
    for name in learners.__all__
    if isinstance(kind := getattr(learners, name), type) and issubclass(kind, PrivateEstimator) and kind.takes_blocks
}
SCHEMA: Final = Schema((Numeric("a", -1.0, 1.0, bins=6), Numeric("b", -1.0, 1.0, bins=4), Boolean("c")))
BOUNDS: Final = (0.0, 3.0)
SETTINGS: Final[Mapping[str, dict[str, Any]]] = {
    "HalfspaceBoostClassifier": {"classes": (0, 1)},
    "RandomFeatureRegressor": {"schema": SCHEMA, "label_bounds": BOUNDS},
    "PrivateBoostRegressor": {"schema": SCHEMA, "label_bounds": BOUNDS},
}
"""Of learners that take others than a schema and the classes beside it."""

REASONS: Final[Mapping[str, str]] = {
    "HalfspaceBoostClassifier": "from points, and not from codes",
    "RadoBoostClassifier": "a coin drawn for the record's number",
    "RadoRelease": "a coin drawn for the record's number",
    "RandomFeatureClassifier": "cosines of products",
    "RandomFeatureRegressor": "cosines of products",
}
"""Of those that are refused; what each says."""


def learner(name: str, **other: Any) -> Any:
    plain = {"schema": SCHEMA, "classes": (0, 1)}
    return KINDS[name](epsilon=2.0, delta=1e-5, random_state=1, **SETTINGS.get(name, plain), **other)


def columns(name: str) -> Columns:
    draw = np.random.default_rng(2)
    a, b, c = draw.uniform(-1, 1, 80), draw.uniform(-1, 1, 80), draw.random(80) < 0.5
    high = a + b > 0
    return {"a": a, "b": b, "c": c, "y": high + 2.0 * c if is_regressor(learner(name)) else high.astype(np.int64)}


@pytest.mark.parametrize("name", sorted(KINDS.keys() - REASONS.keys()))
def test_it_trains_inside_as_in_memory(name: str, tmp_path: Path) -> None:
    table = columns(name)
    alone = learner(name).fit({each: table[each] for each in SCHEMA.names}, table["y"])
    with in_duckdb(table, "people") as connection:
        assert released(learner(name).fit(SqlTable(connection, "people", "y"))) == released(alone)
    url = in_sqlite(tmp_path / "people.db", table, "people")
    assert released(learner(name).fit(SqlTable(url, "people", "y"))) == released(alone)


@pytest.mark.parametrize("name", sorted(REASONS))
def test_or_it_says_why_not_before_anything_is_charged(name: str) -> None:
    ledger = Ledger(ApproxDP(100.0, 0.5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    with in_duckdb(columns(name), "people") as connection:
        table = SqlTable(connection, "people", "y")
        with pytest.raises(NotInSql, match=f"{re.escape(REASONS[name])}.*records='fetched'.*Nothing was charged"):
            learner(name, ledger=ledger).fit(table)
    assert not ledger.entries[1:]


def test_what_all_of_them_take_is_fetched() -> None:
    for name in REASONS:
        with in_duckdb(columns(name), "people") as connection:
            learner(name).fit(SqlTable(connection, "people", "y", records="fetched"))
