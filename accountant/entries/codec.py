"""Entries and their records: the one place that knows how a ledger writes JSON, and reads it.

The ledger, `verify`, the statement, the report and the second opinion all read entries through `decode`; `encode` is
its inverse, byte for byte what the ledger writes. An entry whose line is not the one written here says something
twice, otherwise than it should, or beside the point. The format is `FORMAT`, in the first entry; see LEDGER.md.

Nearly all entries are charges and releases, and most of them repeat what an earlier one said but for their numbers
and their time. What they repeat is a `ChargeLine` and a `ReleaseLine`, which is rendered once.
"""

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, cast

import attrs

from accountant.canonical_json import canonical
from accountant.composition import (
    Amount,
    Plan,
    RuleNotInstalled,
    Step,
    amount_from_record,
    amount_record,
    amount_text,
    composition_from_record,
)
from accountant.costs import (
    Adjacency,
    ApproxDP,
    BoundedRange,
    Description,
    LaplaceDP,
    SubsampledGaussian,
    adjacency_from_record,
    adjacency_record,
    cost_from_dict,
)
from accountant.entries.about import NOTHING_SAID, About
from accountant.entries.chain import Entry, Kind
from accountant.entries.entry_kinds import (
    FORMAT,
    NEWEST_FORMAT,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    DamagedEntry,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    Upgraded,
    hexadecimal,
    whole,
)

OLDER: Final = f"this version reads {FORMAT} to {NEWEST_FORMAT}: install a newer one"

# --- to JSON ----------------------------------------------------------------------------------------------


@attrs.frozen
class ChargeLine:
    """The line of a charge without its total, its number and its time.

    head: up to the total's δ.  middle: from behind the total up to the number.  tail: from there up to the time.
    """

    head: str
    middle: str
    tail: str

    @staticmethod
    def of(
        account: str,
        adjacency: Adjacency,
        plan: Plan,
        *,
        announced: str = "null",
        price: ApproxDP | None = None,
        route: str | None = None,
        about: About = NOTHING_SAID,
        amount: Amount | None = None,
    ) -> "ChargeLine":
        """announced: `Description.canonical`.  price, route: of a plan that is charged as one thing.

        about, amount: what it is about and its exact amount; both or neither.
        Raises ValueError for a number that JSON does not have.
        """
        steps = [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps]
        priced = None if price is None else {"cost": price.as_dict(), "route": route}
        said = "" if not about else f'"about":{canonical(about.as_dict())},'
        drawn = "" if amount is None else f'"amount":{canonical(amount_record(amount))},'
        return ChargeLine(
            f'{{{said}"account":{canonical(account)},"adjacency":{_adjacency_text(adjacency)},"after":{{"delta":"',
            f'"}},{drawn}"kind":"charged","mechanism":{announced},"number":',
            f',"priced":{canonical(priced)},"steps":{canonical(steps)},"time":',
        )

    @staticmethod
    def from_record(record: Charged) -> "ChargeLine":
        """What a charge shares with others like it."""
        announced = "null" if record.mechanism is None else record.mechanism.canonical
        return ChargeLine.of(
            record.account,
            record.adjacency,
            record.plan,
            announced=announced,
            price=record.price,
            route=record.route,
            about=record.about,
            amount=record.drawn,
        )

    def at(self, number: int, time: int, after: Amount) -> str:
        """The line of charge `number`. after: the total with it."""
        loss, delta = after
        return self.written(str(number), str(time), amount_text(loss), amount_text(delta))

    def written(self, number: str, time: str, loss: str, delta: str) -> str:
        """The line, of texts."""
        return f'{self.head}{delta}","loss":"{loss}{self.middle}{number}{self.tail}{time}}}'


@attrs.frozen
class ReleaseLine:
    """The line of a release without its charge, its number and its time. tail: from behind the time on."""

    tail: str

    @staticmethod
    def of(used: Iterable[tuple[str, int]]) -> "ReleaseLine":
        """used: `Description.canonical` of what a reservation released, and how often."""
        listed = ",".join(f'{{"mechanism":{each},"rounds":{rounds}}}' for each, rounds in used)
        return ReleaseLine(f',"used":[{listed}]}}')

    @staticmethod
    def from_record(record: Released) -> "ReleaseLine":
        """What a release shares with others like it."""
        return ReleaseLine.of((each.canonical, rounds) for each, rounds in record.used)

    def at(self, number: int, time: int, charge: int) -> str:
        """The line of release `number`, of the value that `charge` paid for."""
        return self.written(str(number), str(time), str(charge))

    def written(self, number: str, time: str, charge: str) -> str:
        """The line, of texts."""
        return f'{{"charge":{charge},"kind":"released","number":{number},"time":{time}{self.tail}'


@functools.lru_cache(maxsize=64)
def _adjacency_text(adjacency: Adjacency) -> str:
    return canonical(dict(adjacency_record(adjacency)))


def encode(number: int, record: Record) -> str:
    """The line of entry `number`. Raises ValueError where the record holds a number that JSON does not have."""
    match record:
        case Charged():
            return ChargeLine.from_record(record).at(number, record.time, record.after)
        case Released():
            return ReleaseLine.from_record(record).at(number, record.time, record.charge)
        case _:
            return canonical({"kind": kind_of(record), "number": number, "time": record.time, **_rest(record)})


def kind_of(record: Record) -> Kind:
    """The kind of its entry."""
    return _KINDS[type(record)]


_KINDS: Final[Mapping[type, Kind]] = {
    Opened: "opened",
    Charged: "charged",
    Released: "released",
    Returned: "returned",
    Allocated: "allocated",
    Announced: "announced",
    Closed: "closed",
    Checkpoint: "checkpoint",
    Upgraded: "upgraded",
    Produced: "produced",
}


def _rest(
    record: Opened | Returned | Allocated | Announced | Closed | Checkpoint | Upgraded | Produced,
) -> dict[str, object]:
    match record:
        case Opened():
            return {
                "adjacency": adjacency_record(record.adjacency),
                "budget": record.budget.as_dict(),
                "composition": record.composition.describe(),
                "format": FORMAT,
                "id": record.id,
            }
        case Returned():
            return {
                "after": amount_record(record.after),
                "amount": amount_record(record.amount),
                "charge": record.charge,
                "rounds": record.rounds,
            }
        case Allocated():
            return {"account": record.account, "ceiling": amount_record(record.ceiling)}
        case Announced():
            return {"account": record.account}
        case Closed():
            return {"account": record.account, "returned": amount_record(record.returned)}
        case Checkpoint():
            return {"state": dict(record.state)}
        case Upgraded():
            return {"format": record.format}
        case Produced():
            return {"charges": list(record.charges), "model": record.model}


# --- from JSON --------------------------------------------------------------------------------------------


def decode(entry: Entry) -> Record:
    """What an entry says. Raises DamagedEntry, which names what is wrong, and RuleNotInstalled."""
    try:
        record = json.loads(entry.line)
        return _READERS[record["kind"]](record)
    except RuleNotInstalled:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise DamagedEntry(f"{type(error).__name__}: {error}") from error


def _opened(record: Mapping[str, object]) -> Opened:
    if record["format"] != FORMAT:
        raise ValueError(f"this ledger is written in format {record['format']!r}, {OLDER}")
    budget = cost_from_dict(_flat(record["budget"]))
    if isinstance(budget, LaplaceDP | BoundedRange | SubsampledGaussian):
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
    about = About.from_dict(_object(record["about"])) if "about" in record else NOTHING_SAID
    if "about" in record and not about:
        raise ValueError("a charge that is about nothing does not say so")
    if ("amount" in record) is not bool(about):
        raise ValueError("what a charge is about and its amount come together")
    return Charged(
        time=whole(record["time"]),
        account=_text(record["account"]),
        adjacency=adjacency_from_record(_object(record["adjacency"])),
        after=_amount(record["after"]),
        mechanism=None if mechanism is None else Description.from_dict(_object(mechanism)),
        plan=Plan(tuple(_step(step) for step in _list(record["steps"]))),
        price=price,
        route=route,
        about=about,
        drawn=_amount(record["amount"]) if about else None,
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


def _upgraded(record: Mapping[str, object]) -> Upgraded:
    if record["format"] != NEWEST_FORMAT:
        raise ValueError(f"from here on this ledger is written in format {record['format']!r}, {OLDER}")
    return Upgraded(whole(record["time"]), whole(record["format"]))


def _produced(record: Mapping[str, object]) -> Produced:
    charges = record["charges"]
    if not isinstance(charges, list) or sorted(set(map(whole, charges))) != charges or not charges:
        raise ValueError("a model comes of at least one charge, each said once, in their order")
    return Produced(whole(record["time"]), hexadecimal("model", record["model"], 64), tuple(charges))


def _checkpoint(record: Mapping[str, object]) -> Checkpoint:
    return Checkpoint(whole(record["time"]), _object(record["state"]))


_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], Record]]] = {
    "opened": _opened,
    "charged": _charged,
    "released": _released,
    "returned": _returned,
    "allocated": _allocated,
    "announced": _announced,
    "closed": _closed,
    "checkpoint": _checkpoint,
    "upgraded": _upgraded,
    "produced": _produced,
}


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
