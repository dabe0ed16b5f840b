"""What an entry of a ledger says, as types: one frozen class per kind of entry. `codec` reads and writes them."""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from accountant.composition import Amount, Composition, Plan
from accountant.costs import Adjacency, ApproxDP, Budget, Description
from accountant.entries.about import NOTHING_SAID, About
from accountant.explained import Explained

FORMAT: Final = 1
"""The first version of the entries' format, in which earlier versions of this library opened ledgers."""

NEWEST_FORMAT: Final = 2
"""The newest one, in which ledgers are opened: every charge has its exact amount and may say what it is about, models
may say which charges they came of, and writers may have keys and sign. A ledger of the first format is upgraded by the
first entry that needs it."""

LONGEST_LINE: Final = 1 << 25
"""Characters of a line that is read: parsing what is much longer could take all memory."""

_HEX: Final = re.compile(r"[0-9a-f]*")

LATEST: Final = 10**19
"""Nanoseconds since 1970, in the year 2286: a time that is later is none."""


class DamagedEntry(Explained, ValueError):
    """An entry does not say what an entry of its kind says."""


@attrs.frozen
class Opened:
    """The first entry: the budget, the rule and the relation that this ledger promises.

    time: nanoseconds since 1970, as in every entry.  id: random, so that no two ledgers have the same.
    format: the version in which entries are written from here on.
    """

    time: int
    budget: Budget
    composition: Composition
    adjacency: Adjacency
    id: str
    format: int = NEWEST_FORMAT


@attrs.frozen
class Charged:
    """A release, or a whole plan of them, was paid for.

    account: who or what for; a path, whose longest allocated beginning is the sub-budget that pays.
    after: the total of this ledger from here on.  mechanism: None for a plan that did not announce one.
    price, route: for a plan that was charged as one thing, else None.
    about: which data it was charged for, what for, by whom.  drawn: its exact amount, None in the first format.
    """

    time: int
    account: str
    adjacency: Adjacency
    after: Amount
    mechanism: Description | None
    plan: Plan
    price: ApproxDP | None
    route: str | None
    about: About = NOTHING_SAID
    drawn: Amount | None = None

    def amount(self, rule: Composition) -> Amount:
        """What it added to the total. The price of a plan is taken as it stands; `verify` computes it again."""
        return self.plan.amount(rule) if self.price is None else rule.amount(self.price)


@attrs.frozen
class Released:
    """The value of a charge has been drawn. used: what a reservation really released, and how often each."""

    time: int
    charge: int
    used: tuple[tuple[Description, int], ...]


@attrs.frozen
class Returned:
    """Unused rounds of an open reservation were given back. after: the total of this ledger from here on."""

    time: int
    charge: int
    rounds: int
    amount: Amount
    after: Amount


@attrs.frozen
class Allocated:
    """A sub-budget: from here on, charges to this account and below draw on this ceiling."""

    time: int
    account: str
    ceiling: Amount


@attrs.frozen
class Announced:
    """A label: charges to this account and below may draw on the account above, although that has sub-budgets."""

    time: int
    account: str


@attrs.frozen
class Closed:
    """A sub-budget was closed. returned: what it did not spend, which its parent has again."""

    time: int
    account: str
    returned: Amount


@attrs.frozen
class Upgraded:
    """From here on, entries may say what format `format` has and the one before has not."""

    time: int
    format: int


@attrs.frozen
class Produced:
    """A model came of charges. model: SHA-256 of its content, as in receipts.  charges: their numbers, ascending."""

    time: int
    model: str
    charges: tuple[int, ...]


KeyAction: TypeAlias = Literal["enrol", "rotate", "revoke"]


@attrs.frozen
class KeyChange:
    """A key was enrolled, replaced or revoked.

    key: the key in question, the new one of a rotation; 64 hexadecimal digits, as all keys.
    name, administrator: of a key that is enrolled; "" and False else, as a rotation keeps what the old one had.
    by: the key that allows it.  head: the digest of the entry before this one.
    proof: the signature of a new key, which shows that somebody has it; "" of a revocation.
    signature: that of `by`.
    """

    time: int
    action: KeyAction
    key: str
    name: str
    administrator: bool
    by: str
    head: str
    proof: str = ""
    signature: str = ""


@attrs.frozen
class Signed:
    """A writer signed this entry, which covers all before it, and says which charges are its own.

    head: the digest of the entry before this one.  charges: their numbers, ascending; none was said before.
    """

    time: int
    key: str
    charges: tuple[int, ...]
    head: str
    signature: str = ""


@attrs.frozen
class Checkpoint:
    """Everything before this entry was verified by the process that wrote it, and adds up to this state.

    state: as `accountant.entries.state.State.as_dict` writes it. `verify` replays everything all the same, and
    compares.
    """

    time: int
    state: Mapping[str, object]


Record: TypeAlias = (
    Opened
    | Charged
    | Released
    | Returned
    | Allocated
    | Announced
    | Closed
    | Checkpoint
    | Upgraded
    | Produced
    | KeyChange
    | Signed
)


def whole(value: object) -> int:
    """A whole number of at least 0. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {value!r}")
    if value < 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return value


def hexadecimal(name: str, value: object, digits: int) -> str:
    """A text of so many digits in lower-case hexadecimal. Raises ValueError, with the name of what it was given for."""
    if not isinstance(value, str) or len(value) != digits or not _HEX.fullmatch(value):
        raise ValueError(f"{name}: expected {digits} digits of lower-case hexadecimal, got {value!r}")
    return value
