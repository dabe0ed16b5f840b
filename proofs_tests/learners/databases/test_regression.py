"""The additive regression inside databases: models and entries are those of a fit in memory, bit by bit."""

from collections.abc import Callable
from typing import Any, cast

import dask
import dask.dataframe
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant import AddRemoveOne, ApproxDP, Ledger, ZCDPComposition
from benchmarks.ledgers.postgres import Server
from exchequer.datasets import data_folder
from learners import Boolean, Categorical, Numeric, OutsideSchema, ParquetTable, PrivateBoostRegressor, Schema, SqlTable
from learners.regression import LossName, regression_design, regression_fit
from learners.tables import NumberLabel
from proofs_tests.support.learners.databases import TABLE, as_columns, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.in_blocks import released

FEW = (3, 3)
"""Rounds of the stages: each is a statement like the others."""

SCHEMA = Schema(
    (
        Numeric("a'; --", -1.0, 3.0, cuts=(0.0, 5e-324, 0.1, 0.1 + 0.2, 2.0), outside="clip", missing="own"),
        Boolean('m"'),
        Categorical("k", ("x", "y;", "z"), missing="z"),
    )
)
NUMBERS = [0.0, -0.0, 5e-324, -5e-324, 0.1, 0.1 + 0.2, 1e-300, 1e300, -1e300, 7.0, -3.0, 1.0]
KINDS = {SCHEMA.names[0]: "double precision", SCHEMA.names[1]: "boolean", "k": "text", "y": "double precision"}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (regression_design, regression_fit):
        monkeypatch.setattr(module, "ROUNDS", FEW)


def model(**changes: Any) -> PrivateBoostRegressor:
    given = {"label_bounds": (-3.0, 7.0), "schema": SCHEMA, "random_state": 5, "intervals": 0.1, **changes}
    return PrivateBoostRegressor(2.0, 1e-5, **given)


@st.composite
def tables(draw: Callable[..., Any]) -> dict[str, npt.NDArray[np.object_]]:
    n = draw(st.integers(1, 30))
    numbers = st.one_of(st.sampled_from(NUMBERS), st.floats(-5.0, 9.0))
    drawn = (
        st.one_of(st.none(), st.just(np.nan), numbers),
        st.booleans(),
        st.sampled_from(["x", " y;", None]),
        numbers,
    )
    found = {}
    for name, values in zip(KINDS, drawn, strict=True):
        found[name] = np.empty(n, dtype=object)
        found[name][:] = draw(st.lists(values, min_size=n, max_size=n))
    return found


@pytest.mark.postgres
@given(columns=tables(), loss=st.sampled_from(["squared", "absolute", "huber", "poisson"]), seed=st.integers(0, 99))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_tables(
    postgresql_server: Server,
    tmp_path_factory: pytest.TempPathFactory,
    columns: dict[str, npt.NDArray[np.object_]],
    loss: LossName,
    seed: int,
) -> None:
    bounds = (0.0, 7.0) if loss == "poisson" else (-3.0, 7.0)

    def fitted(*data: Any) -> str:
        return released(model(loss=loss, label_bounds=bounds, random_state=seed).fit(*data))

    alone = fitted({name: columns[name] for name in SCHEMA.names}, columns["y"].astype(np.float64))
    with postgresql_server.database() as url, in_duckdb(columns, kinds=KINDS) as connection:
        in_postgresql(url, columns, kinds=KINDS)
        file = in_sqlite(tmp_path_factory.mktemp("sqlite") / "people.db", columns, kinds=KINDS)
        places = (connection, url, file)
        found = [fitted(SqlTable(place, [TABLE], "y"), None) == alone for place in places]
    assert found == [True, True, True]


@pytest.mark.data
@pytest.mark.postgres
def test_medical_costs(postgresql_server: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Wherever the records are."""
    folder = data_folder()
    if folder is None:
        pytest.skip("needs EXCHEQUER_DATA")
    frame = pd.read_csv(folder / "medical-cost" / "insurance.csv")
    schema = Schema(
        (
            Numeric("age", 18.0, 100.0),
            Categorical("sex", ("female", "male")),
            Numeric("bmi", 10.0, 60.0, outside="clip"),
            Numeric("children", 0.0, 10.0),
            Categorical("smoker", ("no", "yes")),
            Categorical("region", ("northeast", "northwest", "southeast", "southwest")),
        )
    )

    def fitted(*data: Any) -> str:
        return released(model(schema=schema, label_bounds=(0.0, 50_000.0)).fit(*data))

    alone = fitted(frame.drop(columns=["charges"]), frame["charges"])
    columns = as_columns(frame)
    with postgresql_server.database() as url, in_duckdb(columns) as connection:
        in_postgresql(url, columns)
        for database in (connection, url):
            assert fitted(SqlTable(database, [TABLE]), "charges") == alone
        assert fitted(SqlTable(connection, [TABLE], "charges", records="fetched", block=400), None) == alone
    file = tmp_path_factory.mktemp("costs") / "costs.parquet"
    frame.to_parquet(file, index=False, row_group_size=300)
    assert fitted(ParquetTable(file, block=400), "charges") == alone
    parts = dask.dataframe.from_pandas(frame, npartitions=3)  # type: ignore[no-untyped-call]  # Dask's
    with dask.config.set(scheduler="synchronous"):
        assert fitted(parts, "charges") == alone


@pytest.mark.parametrize("label", [None, np.nan, np.inf], ids=str)
def test_a_label_that_is_no_number_is_refused(label: float | None) -> None:
    ledger = Ledger(ApproxDP(100.0, 0.5), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    columns = {
        name: np.array([value, value], dtype=object) for name, value in zip(KINDS, (0.5, True, "x", 1.0), strict=True)
    }
    columns["y"][1] = label
    with (
        in_duckdb(columns, kinds=KINDS) as connection,
        pytest.raises(OutsideSchema, match=r"the label .*: 1 of the records"),
    ):
        model(ledger=ledger).fit(SqlTable(connection, [TABLE]), "y")
    assert not ledger.entries[1:]


def test_weights_are_refused_in_blocks() -> None:
    columns = {name: np.array([value], dtype=object) for name, value in zip(KINDS, (0.5, True, "x", 1.0), strict=True)}
    with in_duckdb(columns, kinds=KINDS) as connection, pytest.raises(ValueError, match="no weights of a table in"):
        model(weight_cap=1.0).fit(SqlTable(connection, [TABLE]), "y", cast("Any", "k"))


def test_bounds_are_those_of_the_schema() -> None:
    draw = np.random.default_rng(0)
    X, y = {"a": draw.random(60)}, draw.random(60) * 4.0
    columns = (Numeric("a", 0.0, 1.0),)
    said = model(schema=Schema(columns, number_label=NumberLabel("y", 0.0, 4.0)), label_bounds=None).fit(X, y)
    given = model(schema=Schema(columns), label_bounds=(0.0, 4.0)).fit(X, y)
    assert said.predict(X).tolist() == given.predict(X).tolist()
    with pytest.raises(ValueError, match="label_bounds"):
        model(schema=Schema(columns), label_bounds=None).fit(X, y)
