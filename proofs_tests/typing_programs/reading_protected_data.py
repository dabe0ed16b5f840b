"""Protected data is transformed, never read; a ledger does not open plain data."""

from accountant import Ledger, Protected


def read(data: Protected[list[int]], ledger: Ledger) -> None:
    data.content  # E: attr-defined
    len(data)  # E: arg-type
    data[0]  # E: index
    for row in data:  # E: attr-defined
        print(row)
    5 in data  # E: operator
    first: int = data.map(lambda rows: rows[0])  # E: assignment
    sealed: Protected[int] = data.map(lambda rows: rows[0])
    ledger.protect(5).map(lambda number: number.upper())  # E: attr-defined


def adjacency_has_no_default(ledger: Ledger) -> None:
    from accountant import BasicComposition, Plan, PureDP

    Ledger(PureDP(1.0), composition=BasicComposition())  # E: call-arg
    ledger.reserve(Plan.of(PureDP(1.0)))  # E: call-arg
