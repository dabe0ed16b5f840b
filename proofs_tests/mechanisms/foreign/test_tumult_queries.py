"""Queries of Tumult Analytics on a ledger, where it is installed; what is no session is refused anywhere."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from accountant import ZCDP, AddRemoveOne, ApproxDP, BasicComposition, Ledger, PureDP, ZCDPComposition
from mechanisms.foreign import from_tumult


def test_what_is_no_session_and_no_budget_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a Session of Tumult"):
        from_tumult(object(), None, None)  # type: ignore[arg-type]  # the point of the test

    class Another:
        remaining_privacy_budget = None

        def evaluate(self, query_expr: Any, privacy_budget: Any) -> Any:
            raise AssertionError

    with pytest.raises(ValueError, match="does not say what it protects"):
        from_tumult(Another(), None, None)


@pytest.fixture(scope="module")
def tumult(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    found = pytest.importorskip("tmlt.analytics", reason="Tumult is a peer, and not needed by the tests otherwise")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("tables")),
    }
    builder = sql.SparkSession.builder.master("local[1]")
    for name, value in quiet.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    found.table = spark.createDataFrame([(each % 3,) for each in range(300)], ["a"])
    yield found
    spark.stop()


def session(tumult: Any, budget: Any, change: Any = None) -> Any:
    return tumult.Session.from_dataframe(
        privacy_budget=budget,
        source_id="t",
        dataframe=tumult.table,
        protected_change=change or tumult.AddOneRow(),
    )


@pytest.mark.filterwarnings("ignore")  # of what it calls
def test_a_query_is_charged_its_budget_before_it_runs(tumult: Any) -> None:
    ledger = Ledger(ApproxDP(9.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    count, data = tumult.QueryBuilder("t").count(), ledger.protect(None)
    asked = session(tumult, tumult.PureDPBudget(1.0))
    mechanism = from_tumult(asked, count, tumult.PureDPBudget(0.75))
    (row,) = ledger.release(mechanism, data).collect()
    assert abs(row["count"] - 300) < 60
    assert ledger.spent == ApproxDP(0.75, 0.0)
    assert asked.remaining_privacy_budget == tumult.PureDPBudget(0.25)
    with pytest.raises(ValueError, match=r"has PureDP\(epsilon=0.25\) left.*nothing was charged"):
        ledger.release(mechanism, data)
    approx = session(tumult, tumult.ApproxDPBudget(1.0, 1e-6), tumult.AddMaxRows(2))
    ledger.release(from_tumult(approx, count, tumult.ApproxDPBudget(0.5, 0.0)), data)
    assert ledger.spent == ApproxDP(1.25, 0.0)
    assert [str(entry.kind) for entry in ledger.entries][1:] == ["charged", "released"] * 2
    assert "GroupByCount" in ledger.entries[1].line
    assert any("cost declared by Tumult Analytics" in note for note in ledger.verify().notes)
    rho = Ledger(ZCDP(1.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    mine = session(tumult, tumult.RhoZCDPBudget(1.0))
    rho.release(from_tumult(mine, count, tumult.RhoZCDPBudget(0.1)), rho.protect(None))
    assert rho.spent == ZCDP(0.1)


@pytest.mark.filterwarnings("ignore")
def test_what_a_ledger_of_one_row_does_not_promise_is_refused(tumult: Any) -> None:
    count, pure = tumult.QueryBuilder("t").count(), tumult.PureDPBudget
    rows = session(tumult, pure(1.0))
    for budget, named in (
        (pure(0.0), "costs nothing"),
        (pure(float("inf")), "budget: "),
        (1.0, "expected one of Tumult's"),
        (PureDP(1.0), "expected one of Tumult's"),
    ):
        with pytest.raises(ValueError, match=named):
            from_tumult(rows, count, budget)
    with pytest.raises(ValueError, match="AddRemoveKeys"):
        from_tumult(session(tumult, pure(1.0), tumult.AddRowsWithID("a")), count, pure(0.5))
    for endless, budget, named in (
        (session(tumult, pure(float("inf"))), pure(0.5), "infinite"),
        (rows, tumult.RhoZCDPBudget(0.1), "counts PureDP, and this query ZCDP"),
    ):
        mechanism = from_tumult(endless, count, budget)
        other = Ledger(ZCDP(9.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
        with pytest.raises(ValueError, match=named):
            other.release(mechanism, other.protect(None))
        assert len(other.entries) == 1
    assert from_tumult(rows, count, pure(0.1)).adjacency == AddRemoveOne()
