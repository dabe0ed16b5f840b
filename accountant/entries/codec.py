"""Entries and their records: the one place that knows how a ledger writes JSON, and reads it.

The ledger, `verify`, the statement, the report and the second opinion all read entries through `decode`; `encode` is
its inverse, byte for byte what the ledger writes. An entry whose line is not the one written here says something
twice, otherwise than it should, or beside the point. Which format it is stands in the first entry; see LEDGER.md.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from accountant.canonical_json import canonical
from accountant.composition import (
    Plan,
    RuleNotInstalled,
    amount_record,
    composition_from_record,
)
from accountant.costs import (
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
from accountant.entries.charge_lines import ChargeLine as ChargeLine
from accountant.entries.charge_lines import ReleaseLine as ReleaseLine
from accountant.entries.entry_kinds import (
    FORMAT,
    NEWEST_FORMAT,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    DamagedEntry,
    KeyChange,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    Signed,
    Upgraded,
    hexadecimal,
    whole,
)
from accountant.entries.json_parts import (
    amount_of,
    flat_of,
    object_of,
    objects_of,
    priced_of,
    some_of,
    step_of,
    text_of,
)
from accountant.entries.writer_keys import key_change_from, signed_from

OLDER: Final = f"this version reads {FORMAT} to {NEWEST_FORMAT}: install a newer one"

# --- to JSON ----------------------------------------------------------------------------------------------


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
    KeyChange: "key",
    Signed: "signed",
}


def _rest(
    record: Opened | Returned | Allocated | Announced | Closed | Checkpoint | Upgraded | Produced | KeyChange | Signed,
) -> dict[str, object]:
    match record:
        case Opened():
            return {
                "adjacency": adjacency_record(record.adjacency),
                "budget": record.budget.as_dict(),
                "composition": record.composition.describe(),
                "format": record.format,
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
        case KeyChange():
            return attrs.asdict(record, filter=attrs.filters.exclude("time"))
        case Signed():
            charges, signature = list(record.charges), record.signature
            return {"charges": charges, "head": record.head, "key": record.key, "signature": signature}


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
    if not FORMAT <= whole(record["format"]) <= NEWEST_FORMAT:
        raise ValueError(f"this ledger is written in format {record['format']!r}, {OLDER}")
    budget = cost_from_dict(flat_of(record["budget"]))
    if isinstance(budget, LaplaceDP | BoundedRange | SubsampledGaussian):
        raise ValueError(f"a {budget.kind} cost is not a budget")
    return Opened(
        time=whole(record["time"]),
        budget=budget,
        composition=composition_from_record(flat_of(record["composition"])),
        adjacency=adjacency_from_record(object_of(record["adjacency"])),
        id=text_of(record["id"]),
        format=whole(record["format"]),
    )


def _charged(record: Mapping[str, object]) -> Charged:
    mechanism, priced = record["mechanism"], record["priced"]
    price, route = (None, None) if priced is None else priced_of(object_of(priced))
    about = About.from_dict(object_of(record["about"])) if "about" in record else NOTHING_SAID
    if "about" in record and not about:
        raise ValueError("a charge that is about nothing does not say so")
    if about and "amount" not in record:
        raise ValueError("a charge that says what it is about says its amount, too")
    return Charged(
        time=whole(record["time"]),
        account=text_of(record["account"]),
        adjacency=adjacency_from_record(object_of(record["adjacency"])),
        after=amount_of(record["after"]),
        mechanism=None if mechanism is None else Description.from_dict(object_of(mechanism)),
        plan=Plan(tuple(step_of(step) for step in objects_of(record["steps"]))),
        price=price,
        route=route,
        about=about,
        drawn=amount_of(record["amount"]) if "amount" in record else None,
    )


def _released(record: Mapping[str, object]) -> Released:
    used = tuple(
        (Description.from_dict(object_of(part["mechanism"])), some_of(part["rounds"]))
        for part in objects_of(record["used"])
    )
    return Released(whole(record["time"]), whole(record["charge"]), used)


def _returned(record: Mapping[str, object]) -> Returned:
    return Returned(
        time=whole(record["time"]),
        charge=whole(record["charge"]),
        rounds=some_of(record["rounds"]),
        amount=amount_of(record["amount"]),
        after=amount_of(record["after"]),
    )


def _allocated(record: Mapping[str, object]) -> Allocated:
    return Allocated(whole(record["time"]), text_of(record["account"]), amount_of(record["ceiling"]))


def _announced(record: Mapping[str, object]) -> Announced:
    return Announced(whole(record["time"]), text_of(record["account"]))


def _closed(record: Mapping[str, object]) -> Closed:
    return Closed(whole(record["time"]), text_of(record["account"]), amount_of(record["returned"]))


def _upgraded(record: Mapping[str, object]) -> Upgraded:
    if record["format"] != NEWEST_FORMAT:
        raise ValueError(f"from here on this ledger is written in format {record['format']!r}, {OLDER}")
    return Upgraded(whole(record["time"]), whole(record["format"]))


def _produced(record: Mapping[str, object]) -> Produced:
    charges = record["charges"]
    if not isinstance(charges, list) or sorted(set(map(whole, charges))) != charges or not charges:
        raise ValueError("a model needs at least one charge; each is listed once, in order")
    return Produced(whole(record["time"]), hexadecimal("model", record["model"], 64), tuple(charges))


def _key(record: Mapping[str, object]) -> KeyChange:
    return key_change_from(record, whole(record["time"]))


def _signed(record: Mapping[str, object]) -> Signed:
    return signed_from(record, whole(record["time"]))


def _checkpoint(record: Mapping[str, object]) -> Checkpoint:
    return Checkpoint(whole(record["time"]), object_of(record["state"]))


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
    "key": _key,
    "signed": _signed,
}
