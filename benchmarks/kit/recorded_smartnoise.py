"""SmartNoise's SQL at ε = 1 a column, against what its own `get_privacy_cost` says of each query."""

from functools import partial
from typing import Any

from accountant import ApproxDP
from benchmarks.kit.recorded_cases import Case, cases
from proofs_tests.harness import Pair

QUERIES = {
    "COUNT(*)": "SELECT COUNT(*) AS n FROM S.T",
    "SUM of whole numbers": "SELECT SUM(age) AS n FROM S.T",
    "SUM of floats": "SELECT SUM(pay) AS n FROM S.T",
    "AVG": "SELECT AVG(age) AS n FROM S.T",
    "VAR": "SELECT VAR(age) AS n FROM S.T",
    "COUNT by group": "SELECT sex, COUNT(*) AS n FROM S.T GROUP BY sex",
    "SUM by group": "SELECT sex, SUM(pay) AS n FROM S.T GROUP BY sex",
}

COLUMNS = {
    "row_privacy": True,
    "rows": 12,
    "age": {"type": "int", "lower": 0, "upper": 100},
    "pay": {"type": "float", "lower": 0.0, "upper": 10.0},
    "sex": {"type": "string", "cardinality": 2},
}


def _tables() -> dict[str, Pair[Any]]:
    import pandas as pd

    table = pd.DataFrame({"age": range(10, 90, 10), "pay": [float(n) for n in range(1, 9)], "sex": list("mfmfmfmf")})
    more = {name: pd.DataFrame({"age": [100], "pay": [10.0], "sex": [sex]}) for name, sex in (("m", "m"), ("x", "x"))}
    other = table.copy()
    other.loc[7] = [0, 0.0, "f"]
    return {
        "one added": Pair(table, pd.concat([table, more["m"]], ignore_index=True)),
        "one replaced": Pair(table, other),
        "one added, of a new group": Pair(table, pd.concat([table, more["x"]], ignore_index=True)),
    }


def _reader(table: Any) -> Any:
    import snsql

    metadata = {"": {"S": {"T": dict(COLUMNS)}}}
    return snsql.from_df(table, privacy=snsql.Privacy(epsilon=1.0, delta=1e-5), metadata=metadata)


def _asked(query: str, table: Any) -> object:
    return _reader(table).execute(query)


def found() -> list[Case]:
    """All of them; names that it draws for columns count as known. Raises ImportError where it is not installed."""
    tables = _tables()
    reader, made = _reader(tables["one added"].before), list[Case]()
    for name, query in QUERIES.items():
        epsilon, delta = reader.get_privacy_cost(query)
        claimed = ApproxDP(epsilon, delta if "group" in name else 0.0)
        pairs = {pair: both for pair, both in tables.items() if "group" in name or "group" not in pair}
        made += cases(name, partial(_asked, query), claimed, pairs, public_draws=True)
    return made
