"""The paths that accounts are named by; why a charge to one was refused that nobody set aside or announced.

The refusal says what was meant, perhaps.
"""

import difflib
from typing import Final

from accountant.entries import MAIN, Account, State, visible
from accountant.exceptions import SubBudgetRefused, UnknownLabel

NEAREST: Final = 3
"""Names that a refusal suggests."""


def path_below(path: str, name: str) -> str:
    """The path of a sub-budget or a label of the account at `path`. Raises SubBudgetRefused where it is no text."""
    if not isinstance(name, str) or not name:
        raise SubBudgetRefused(f"a sub-budget or a label is named by a text, got {name!r}")
    return f"{path}/{name}" if path else name


def labelled(label: str, account: str) -> str:
    """The account of an entry that is charged under a label: "main" is the label itself."""
    return label if account == MAIN else f"{label}/{account}"


def unknown_label(state: State, account: str, payer: Account) -> UnknownLabel:
    """The refusal of a charge that `State.lists` does not list. payer: of that account."""
    whole = f"the sub-budget {payer.path!r}" if payer.path else "this ledger"
    itself = f"{payer.path}/{MAIN}" if payer.path else MAIN
    nearest = ", ".join(f"{visible(name):.99}" for name in _nearest(state, account, payer))
    return UnknownLabel(
        f"account {account!r:.200}: {whole} has sub-budgets, and this is neither one of them nor a label that was "
        f"announced; nothing was charged. The nearest there are: {nearest}. Name the one that pays (ledger.sub_budget "
        f"in Python, --account on the command line); or {itself!r}, ledger.labelled({MAIN!r}) in Python, to draw on "
        "what is not set aside; or announce a label that may, by ledger.announce or `exchequer ledger label`"
    )


def _nearest(state: State, account: str, payer: Account) -> list[str]:
    """The sub-budgets and labels of the payer that look most like the account, or like what it begins with."""
    below = f"{payer.path}/" if payer.path else ""
    known = [name for name in (*state.accounts, *state.labels) if name and name.startswith(below)]
    parts = account.split("/")
    beginnings = ["/".join(parts[:end]) for end in range(1, min(len(parts), 20) + 1)]

    def likeness(name: str) -> float:
        return max(difflib.SequenceMatcher(None, name, text).ratio() for text in beginnings)

    return sorted(known, key=likeness, reverse=True)[:NEAREST]
