"""The line of a record: the inverse of `accountant.entries.entry_kinds.read`, byte for byte what the ledger writes.

An entry whose line is not the one written here says something twice, otherwise than it should, or beside the point.
"""

import json

from accountant.composition import Amount, amount_record, amount_text
from accountant.costs import adjacency_record
from accountant.entries.chain import Kind, canonical
from accountant.entries.entry_kinds import (
    FORMAT,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    Opened,
    Record,
    Released,
    Returned,
)


def kind_of(record: Record) -> Kind:
    """The kind of its entry."""
    match record:
        case Opened():
            return "opened"
        case Charged():
            return "charged"
        case Released():
            return "released"
        case Returned():
            return "returned"
        case Allocated():
            return "allocated"
        case Announced():
            return "announced"
        case Closed():
            return "closed"
        case Checkpoint():
            return "checkpoint"


def line_of(number: int, record: Record) -> str:
    """The line of entry `number`. Raises ValueError where the record holds a number that JSON does not have."""
    match record:
        case Charged():
            head, middle, tail = parts_of(record)
            return charged_line(head, record.after, middle, number, tail, record.time)
        case Released():
            return (
                f'{{"charge":{record.charge},"kind":"released","number":{number},"time":{record.time}{used_of(record)}'
            )
        case _:
            return canonical({"kind": kind_of(record), "number": number, "time": record.time, **_rest(record)})


def _rest(record: Opened | Returned | Allocated | Announced | Closed | Checkpoint) -> dict[str, object]:
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


def parts_of(record: Charged) -> tuple[str, str, str]:
    """What stands before the total of a charge, between it and the number, and between that and the time."""
    mechanism = "null" if record.mechanism is None else record.mechanism.canonical
    steps = [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in record.plan.steps]
    priced = None if record.price is None else {"cost": record.price.as_dict(), "route": record.route}
    return (
        f'{{"account":{json.dumps(record.account)},"adjacency":{canonical(dict(adjacency_record(record.adjacency)))},'
        '"after":{"delta":"',
        f'"}},"kind":"charged","mechanism":{mechanism},"number":',
        f',"priced":{_compact(priced)},"steps":{_compact(steps)},"time":',
    )


def charged_line(head: str, after: Amount, middle: str, number: int, tail: str, time: int) -> str:
    """The line of a charge from its parts."""
    delta, loss = amount_text(after.delta_units), amount_text(after.loss_units)
    return f'{head}{delta}","loss":"{loss}{middle}{number}{tail}{time}}}'


def used_of(record: Released) -> str:
    """The end of a release's line, from behind its time on."""
    used = ",".join(f'{{"mechanism":{each.canonical},"rounds":{rounds}}}' for each, rounds in record.used)
    return f',"used":[{used}]}}'


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
