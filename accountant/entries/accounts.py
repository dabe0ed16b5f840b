"""Accounts: the whole budget and the sub-budgets set aside from it, and the charges that wait for their release.

Each of them has a form in JSON, which checkpoints keep.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, Self, cast

import attrs

from accountant.composition import NOTHING, Amount, amount_from_record, amount_record
from accountant.entries.entry_kinds import whole

ROOT: Final = ""
"""The path of the account that everything draws on."""

MAIN: Final = "main"
"""The label that says: this account itself, and none of its sub-budgets."""

LONGEST_LABEL: Final = 1000
"""Characters of a label that is announced, as of any account that is charged."""


class OpenCharge(NamedTuple):
    """A charge without its release. account: as in its entry.  payer: the path of the sub-budget that paid."""

    account: str
    payer: str
    rounds: int
    amount: Amount

    def as_dict(self, number: int) -> dict[str, object]:
        """For JSON. number: of its entry."""
        return {
            "account": self.account,
            "amount": amount_record(self.amount),
            "number": number,
            "payer": self.payer,
            "rounds": self.rounds,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, object], accounts: "Mapping[str, Account]") -> Self:
        """The inverse, paid by one of these accounts. Raises KeyError, TypeError or ValueError."""
        return cls(
            account=str(record["account"]),
            payer=accounts[str(record["payer"])].path,
            rounds=whole(record["rounds"]),
            amount=_amount(record["amount"]),
        )


@attrs.define
class Account:
    """A sub-budget, or the whole budget.

    ceiling: what it may draw.  drawn: what was charged to it and to accounts below it.
    committed: what was charged to it directly, and what is set aside for accounts below; never above the ceiling.
    parted: whether a part of it was ever set aside as a sub-budget.
    """

    path: str
    parent: "Account | None"
    ceiling: Amount
    drawn: Amount = NOTHING
    committed: Amount = NOTHING
    closed: bool = False
    parted: bool = False

    @property
    def left(self) -> Amount:
        """What may still be charged to it, or set aside."""
        return NOTHING if self.closed else self.ceiling.minus(self.committed)

    def affords(self, amount: Amount) -> bool:
        """Whether that much is left."""
        (loss, delta), ceiling = self.committed, self.ceiling
        return not self.closed and loss + amount[0] <= ceiling[0] and delta + amount[1] <= ceiling[1]

    def draw(self, amount: Amount) -> None:
        """Charge it here, and count it in every account above."""
        self.committed = self.committed.plus(amount)
        account: Account | None = self
        while account is not None:
            account.drawn = account.drawn.plus(amount)
            account = account.parent

    def put_back(self, amount: Amount) -> None:
        """Undo a part of a charge. What a closed account gets back is its parent's."""
        account: Account | None = self
        ours = True
        while account is not None:
            account.drawn = account.drawn.minus(amount)
            if ours:
                account.committed = account.committed.minus(amount)
            ours = ours and account.closed
            account = account.parent

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "account": self.path,
            "ceiling": amount_record(self.ceiling),
            "closed": self.closed,
            "committed": amount_record(self.committed),
            "drawn": amount_record(self.drawn),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, object], parent: "Account | None") -> Self:
        """The inverse, below an account that was read before. Raises KeyError, TypeError or ValueError."""
        return cls(
            str(record["account"]),
            parent,
            _amount(record["ceiling"]),
            _amount(record["drawn"]),
            _amount(record["committed"]),
            record["closed"] is True,
        )


def _amount(value: object) -> Amount:
    return amount_from_record(cast("Mapping[str, str]", value))
