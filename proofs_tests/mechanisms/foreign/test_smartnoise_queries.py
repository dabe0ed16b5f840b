"""Queries of SmartNoise SQL on a ledger; where it is not installed, its reader's calls by hand."""

from typing import Any

import pytest

from accountant import AddRemoveOne, ApproxDP, BasicComposition, BudgetExceeded, Ledger, PureDP
from mechanisms.foreign import from_smartnoise


class Reader:
    """States a cost and counts what it ran, as SmartNoise's reader does."""

    def __init__(self, *cost: float) -> None:
        self.cost, self.ran = cost, 0

    def get_privacy_cost(self, query_strings: str) -> Any:
        return self.cost

    def execute(self, query_string: str) -> Any:
        self.ran += 1
        return [["c"], [7]]


def opened() -> Ledger:
    return Ledger(ApproxDP(1.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())


def test_a_query_is_charged_as_its_reader_states_before_it_runs() -> None:
    ledger, reader = opened(), Reader(0.6, 1e-6)
    mechanism, data = from_smartnoise(reader, "SELECT COUNT(*) FROM T.T"), ledger.protect(None)
    assert ledger.release(mechanism, data) == [["c"], [7]]
    assert ledger.spent == ApproxDP(0.6, 1e-6)
    assert "SELECT COUNT(*) FROM T.T" in ledger.entries[1].line
    with pytest.raises(BudgetExceeded):
        ledger.release(mechanism, data)
    assert reader.ran == 1
    assert from_smartnoise(Reader(0.5, 0.0), "").cost == PureDP(0.5)
    assert ledger.verify().verdict == "sound"


def test_what_states_no_cost_or_another_one_is_refused() -> None:
    for wrong in ((0.0, 0.0), (0.0, 1e-6), (float("nan"), 0.0)):
        with pytest.raises(ValueError, match="costs nothing"):
            from_smartnoise(Reader(*wrong), "")
    with pytest.raises(TypeError, match="expected a PrivateReader"):
        from_smartnoise(object(), "")  # type: ignore[arg-type]  # the point of the test
    ledger, reader = opened(), Reader(0.1, 0.0)
    mechanism = from_smartnoise(reader, "")
    reader.cost = (0.2, 0.0)
    with pytest.raises(ValueError, match="make the mechanism anew"):
        ledger.release(mechanism, ledger.protect(None))
    assert len(ledger.entries) == 1
    assert not reader.ran


@pytest.mark.filterwarnings("ignore")  # of what it calls
def test_smartnoise_itself() -> None:
    snsql = pytest.importorskip("snsql", reason="SmartNoise SQL is a peer, and not needed by the tests otherwise")
    pandas = pytest.importorskip("pandas")
    columns = {"age": {"type": "int", "lower": 0, "upper": 100}}
    table = {"row_privacy": True, "rows": 200, **columns}
    reader = snsql.from_df(
        pandas.DataFrame({"age": [20, 30, 40, 50] * 50}),
        privacy=snsql.Privacy(epsilon=0.25, delta=1e-6),
        metadata={"": {"T": {"T": table}}},
    )
    query = "SELECT COUNT(*) AS c, SUM(age) AS s FROM T.T"
    ledger = opened()
    rows = ledger.release(from_smartnoise(reader, query), ledger.protect(None))
    assert rows[0] == ["c", "s"]
    assert ledger.spent == ApproxDP(*map(float, reader.odometer.spent))
    assert "SmartNoise SQL 1." in ledger.entries[1].line
