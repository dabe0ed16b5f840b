"""A ledger read from a checkpoint on, and the sub-budget that a command is about."""

from typing import Final

from accountant import Entry
from accountant.audit import Reading
from accountant.audit.outlook import WindowSpending
from accountant.audit.report import shown
from accountant.entries import ROOT, State, read_start
from exchequer.commands.ledgers.open_ledger import StoredEntries

WHOLE: Final = "(all of it)"
"""In the place of a path: the account that everything draws on."""

MOST_ACCOUNTS: Final = 200
"""Rows of the table of accounts; JSON has them all."""


def from_checkpoint(entries: StoredEntries, newest: Entry, *windows: WindowSpending) -> Reading:
    """What a checkpoint says, which is believed, and what followed it. windows: are told what followed."""
    state = State()
    start = read_start(entries.since, newest)
    state.resume(*start)
    for window in windows:
        window.resume(start.opened, state.accounts)
    reading = Reading(*windows, state=state, head=newest.digest)
    reading.take(entries.since(newest.number + 1))
    return reading


def older(checkpoint: Entry, start: int) -> bool:
    """Whether nothing before a checkpoint is in the window that begins at `start`, in nanoseconds since 1970."""
    written = checkpoint.record.get("time")
    return isinstance(written, int) and written < start


def sub_budget(state: State, path: str) -> str:
    """The path, if it is that of a sub-budget. Raises ValueError."""
    if path not in state.accounts:
        there = ", ".join(sorted(state.accounts.keys() - {ROOT})) or "none at all"
        raise ValueError(f"--account: there is no sub-budget {path!r}; there are: {shown(there, 300)}")
    return path
