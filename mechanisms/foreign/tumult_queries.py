"""Queries of Tumult Analytics as mechanisms: at the privacy budget they are evaluated with, charged before they run.

Read off release 0.21, whose sessions do not say in public what they protect: that is read from their accountant.
"""

import importlib.metadata
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import attrs

from accountant import ZCDP, AddRemoveOne, ApproxDP, PureDP
from mechanisms.foreign.declared import DeclaredMechanism, trust

LONGEST_QUERY: Final = 200
"""Characters of a query that its entry keeps."""

ROWS: Final = "SymmetricDifference"
"""Tumult's metric in which tables with a row more are neighbours."""

TumultCost: TypeAlias = PureDP | ApproxDP | ZCDP


@runtime_checkable
class TumultSession(Protocol):
    """What is used of `tmlt.analytics.Session`, in public."""

    @property
    def remaining_privacy_budget(self) -> Any:  # one of Tumult's budgets, which have no types here
        """What the session may still spend."""

    def evaluate(self, query_expr: Any, privacy_budget: Any) -> Any:  # a table, or whatever the query gives
        """The noisy answer."""


def from_tumult(session: TumultSession, query: object, budget: object) -> DeclaredMechanism[None, Any]:  # any table
    """A query as a mechanism, for `Ledger.release(from_tumult(session, query, budget), ledger.protect(None))`.

    session: it has the data already, so nothing is protected here; whoever has it can also ask it without any ledger.
    It must protect rows that come or go, in each of its private tables (AddOneRow, AddMaxRows): that is add-remove-one.
    Identifiers (AddRowsWithID) are not: one more row of somebody known is two steps there.
    query, budget: what `session.evaluate` takes; a PureDPBudget, ApproxDPBudget or RhoZCDPBudget, finite and above 0.
    Cost: that budget, rounded up to floats. What the session has not left is refused before the charge, as is another
    kind than its own. [declared-elsewhere]
    Raises TypeError for what is no session, and ValueError for other budgets and for what else a session protects.
    """
    if not isinstance(session, TumultSession):
        raise TypeError(f"session: expected a Session of Tumult Analytics, got {type(session).__name__}")
    _refuse_other_changes(session)
    cost, library = _cost(budget), f"Tumult Analytics {_version()}"
    if cost in (PureDP(0.0), ApproxDP(0.0, 0.0), ZCDP(0.0)):
        raise ValueError("budget: a query that costs nothing would not be counted, whatever it shows")

    def affordable(data: None) -> None:
        left = _left(session, type(cost))
        if any(asked > rest for asked, rest in zip(attrs.astuple(cost), attrs.astuple(left), strict=True)):
            raise ValueError(f"the session has {left!r} left, and this query costs {cost!r}: nothing was charged")

    return DeclaredMechanism(
        run=lambda data: session.evaluate(query, budget),
        cost=cost,
        adjacency=AddRemoveOne(),
        library=library,
        name="query",
        norm="rows",
        parameters=(
            ("query", str(query)[:LONGEST_QUERY]),
            ("priced by", trust(f"a session of {library}")),
        ),
        check_data=affordable,
    )


def _refuse_other_changes(session: Any) -> None:  # its accountant has no types
    accountant = getattr(session, "_accountant", None)
    metrics = getattr(getattr(accountant, "input_metric", None), "key_to_metric", None)
    far = getattr(accountant, "d_in", None)
    if not isinstance(metrics, Mapping) or not isinstance(far, Mapping) or not metrics or metrics.keys() != far.keys():
        raise ValueError(
            "session: it does not say what it protects, as sessions of release 0.21 do: use declared_elsewhere, at a "
            "cost and an adjacency that you vouch for"
        )
    for table, metric in metrics.items():
        if type(metric).__name__ != ROWS or not far[table] >= 1:
            raise ValueError(
                f"session: {table} is protected in {type(metric).__name__} at distance {far[table]}, and "
                f"{AddRemoveOne.name} is about rows that come or go, as AddOneRow and AddMaxRows are"
            )


def _cost(budget: Any) -> TumultCost:  # of Tumult's budgets, which have no types
    """A budget as a cost, each number the smallest float that is no less. Raises ValueError."""
    kind = type(budget)
    if kind.__module__.partition(".")[0] != "tmlt":
        raise ValueError(f"budget: expected one of Tumult's, got {budget!r:.99}")
    try:
        match kind.__name__:
            case "PureDPBudget":
                return PureDP(_above(budget.value))
            case "ApproxDPBudget":
                epsilon, delta = budget.value
                return ApproxDP(_above(epsilon), _above(delta))
            case "RhoZCDPBudget":
                return ZCDP(_above(budget.value))
    except (TypeError, ValueError) as error:
        raise ValueError(f"budget: {error}, in {budget!r:.99}") from None
    raise ValueError(f"budget: {kind.__name__} is no cost here; PureDPBudget, ApproxDPBudget and RhoZCDPBudget are")


def _left(session: TumultSession, kind: type[TumultCost]) -> TumultCost:
    """What the session has left, of that kind. Raises ValueError where its budgets are of another."""
    budget = session.remaining_privacy_budget
    if getattr(budget, "is_infinite", False):
        raise ValueError(
            "session: its own budget is infinite, so nothing was promised of it; open one with a finite budget"
        )
    left = _cost(budget)
    if type(left) is not kind:
        raise ValueError(f"budget: the session counts {type(left).__name__}, and this query {kind.__name__}")
    return left


def _above(number: Any) -> float:  # Tumult's ExactNumber
    return float(number.to_float(round_up=True))


def _version() -> str:
    try:
        return importlib.metadata.version("tmlt.analytics")
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"
