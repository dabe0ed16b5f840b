"""What an entry of the books says, read into types: one frozen class per kind of entry.

The ledger, `verify`, the statement, the report and the second opinion all read entries through `read`, so there
is one place that knows the format. It is `FORMAT`, written into the first entry; see LEDGER.md.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

import attrs

from accountant.composition import Amount, Composition, Plan, Step, amount_from_record, composition_from_record
from accountant.costs import (
    Adjacency,
    ApproxDP,
    BoundedRange,
    Budget,
    Description,
    LaplaceDP,
    adjacency_from_record,
    cost_from_dict,
)
from accountant.entries.chain import Entry

FORMAT: Final = 1
"""The version of the entries' format."""

LONGEST_LINE: Final = 1 << 25
"""Characters of a line that is read: parsing what is much longer could take all memory."""

LATEST: Final = 10**19
"""Nanoseconds since 1970, in the year 2286: a time that is later is none."""


class DamagedEntry(ValueError):
    """An entry does not say what an entry of its kind says."""


@attrs.frozen
class Opened:
    """The first entry: the budget, the rule and the relation that these books promise.

    time: nanoseconds since 1970, as in every entry.  id: random, so that no two ledgers have the same books.
    """

    time: int
    budget: Budget
    composition: Composition
    adjacency: Adjacency
    id: str


@attrs.frozen
class Charged:
    """A release, or a whole plan of them, was paid for.

    account: who or what for; a path, whose longest allocated beginning is the sub-budget that pays.
    after: the total of these books from here on.  mechanism: None for a plan that did not announce one.
    price, route: for a plan that was charged as one thing, else None.
    """

    time: int
    account: str
    adjacency: Adjacency
    after: Amount
    mechanism: Description | None
    plan: Plan
    price: ApproxDP | None
    route: str | None

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
    """Unused rounds of an open reservation were given back. after: the total of these books from here on."""

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
class Checkpoint:
    """Everything before this entry was verified by the process that wrote it, and adds up to this state.

    state: as `accountant.entries.state.State.as_dict` writes it. `verify` replays everything all the same, and
    compares.
    """

    time: int
    state: Mapping[str, object]


Record: TypeAlias = Opened | Charged | Released | Returned | Allocated | Announced | Closed | Checkpoint


def read(entry: Entry) -> Record:
    """The entry, read. Raises DamagedEntry, which names what is wrong, and nothing else."""
    try:
        record = json.loads(entry.line)
        return READERS[record["kind"]](record)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise DamagedEntry(f"{type(error).__name__}: {error}") from error


def _opened(record: Mapping[str, object]) -> Opened:
    if record["format"] != FORMAT:
        raise ValueError(f"these books are written in format {record['format']!r}, this version reads {FORMAT}")
    budget = cost_from_dict(_flat(record["budget"]))
    if isinstance(budget, LaplaceDP | BoundedRange):
        raise ValueError(f"a {budget.kind} cost is not a budget")
    return Opened(
        time=whole(record["time"]),
        budget=budget,
        composition=composition_from_record(_flat(record["composition"])),
        adjacency=adjacency_from_record(_object(record["adjacency"])),
        id=_text(record["id"]),
    )


def _charged(record: Mapping[str, object]) -> Charged:
    mechanism, priced = record["mechanism"], record["priced"]
    price, route = (None, None) if priced is None else _priced(_object(priced))
    return Charged(
        time=whole(record["time"]),
        account=_text(record["account"]),
        adjacency=adjacency_from_record(_object(record["adjacency"])),
        after=_amount(record["after"]),
        mechanism=None if mechanism is None else Description.from_dict(_object(mechanism)),
        plan=Plan(tuple(_step(step) for step in _list(record["steps"]))),
        price=price,
        route=route,
    )


def _priced(record: Mapping[str, object]) -> tuple[ApproxDP, str]:
    price = cost_from_dict(_flat(record["cost"]))
    if not isinstance(price, ApproxDP):
        raise TypeError(f"a plan is priced in (ε, δ), not in {price!r}")
    return price, _text(record["route"])


def _step(record: Mapping[str, object]) -> Step:
    return Step(cost_from_dict(_flat(record["cost"])), whole(record["rounds"]))


def _released(record: Mapping[str, object]) -> Released:
    used = tuple(
        (Description.from_dict(_object(part["mechanism"])), _some(part["rounds"])) for part in _list(record["used"])
    )
    return Released(whole(record["time"]), whole(record["charge"]), used)


def _returned(record: Mapping[str, object]) -> Returned:
    return Returned(
        time=whole(record["time"]),
        charge=whole(record["charge"]),
        rounds=_some(record["rounds"]),
        amount=_amount(record["amount"]),
        after=_amount(record["after"]),
    )


def _allocated(record: Mapping[str, object]) -> Allocated:
    return Allocated(whole(record["time"]), _text(record["account"]), _amount(record["ceiling"]))


def _announced(record: Mapping[str, object]) -> Announced:
    return Announced(whole(record["time"]), _text(record["account"]))


def _closed(record: Mapping[str, object]) -> Closed:
    return Closed(whole(record["time"]), _text(record["account"]), _amount(record["returned"]))


def _checkpoint(record: Mapping[str, object]) -> Checkpoint:
    return Checkpoint(whole(record["time"]), _object(record["state"]))


READERS: Final[Mapping[str, Callable[[Mapping[str, object]], Record]]] = {
    "opened": _opened,
    "charged": _charged,
    "released": _released,
    "returned": _returned,
    "allocated": _allocated,
    "announced": _announced,
    "closed": _closed,
    "checkpoint": _checkpoint,
}


def whole(value: object) -> int:
    """A whole number of at least 0. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {value!r}")
    if value < 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return value


def _some(value: object) -> int:
    if not (rounds := whole(value)):
        raise ValueError("expected at least one round, got 0")
    return rounds


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return value


def _flat(value: object) -> Mapping[str, float | str]:
    return cast("Mapping[str, float | str]", _object(value))  # each number is checked where it is used


def _list(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return [_object(part) for part in value]


def _amount(value: object) -> Amount:
    return amount_from_record({name: _text(part) for name, part in _object(value).items()})
