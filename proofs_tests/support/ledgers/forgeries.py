"""Forgeries of ledgers by somebody who may rewrite everything, digests included: verifiers must agree on them."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from accountant import Entry
from accountant.canonical_json import canonical
from accountant.composition import Amount, amount_from_record, amount_record
from accountant.entries import GENESIS, digest_of
from proofs_tests.support.ledgers.forged_signatures import SIGNED_FORGERIES

_CEILING: Final = re.compile('"ceiling":{"delta":"[^"]*","loss":"[^"]*"}')
"""Of the whole budget in a checkpoint, or of what was set aside, which may be all of it."""

Forgery: TypeAlias = Callable[[Sequence[Entry], random.Random], list[Entry] | None]
"""Made of a sound ledger; None where that has nothing that it could change."""


def rechained(records: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """Entries that say this, numbered as they stand, whose digests hold."""
    found, head = list[Entry](), GENESIS
    for number, record in enumerate(records):
        line = canonical({**record, "number": number})
        head = digest_of(head, line)
        found.append(Entry(number, record["kind"], line, head))
    return found


def records_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What they say."""
    return [entry.record for entry in entries]


def one_character(entries: Sequence[Entry], draw: random.Random) -> list[Entry]:
    """Another character somewhere in a line or a digest; digests stay."""
    place, column = draw.randrange(len(entries)), draw.choice(("line", "line", "line", "digest", "kind"))
    text = getattr(entries[place], column)
    at = draw.randrange(len(text))
    other = draw.choice([c for c in '0123456789abcdefpE+-.,:[]{}"\\ xT' if c != text[at]])
    changed = attrs.evolve(entries[place], **{column: text[:at] + other + text[at + 1 :]})
    return [*entries[:place], changed, *entries[place + 1 :]]


def one_character_rechained(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Another character somewhere in a line, and all digests from there on computed anew.

    But for ceilings of a converted budget: nobody else finds their last digits.
    """
    place = draw.randrange(len(entries))
    line = entries[place].line
    at = draw.randrange(len(line))
    other = draw.choice([c for c in '0123456789abcdefpE+-.,:[]{}"\\ xT' if c != line[at]])
    lines = [entry.line for entry in entries]
    lines[place] = line[:at] + other + line[at + 1 :]
    if _is_converted(entries[0].record) and _CEILING.sub("", line) == _CEILING.sub("", lines[place]):
        return None
    found, head = list[Entry](), GENESIS
    for entry, each in zip(entries, lines, strict=True):
        head = digest_of(head, each)
        found.append(Entry(entry.number, entry.kind, each, head))
    return found


def _is_converted(opened: Mapping[str, Any]) -> bool:
    return bool(opened["budget"]["kind"] == "approx-dp" and opened["composition"]["name"] != "basic")


def one_left_out(entries: Sequence[Entry], draw: random.Random) -> list[Entry]:
    """Without one entry before the last."""
    place = draw.randrange(max(1, len(entries) - 1))
    return [*entries[:place], *entries[place + 1 :]]


def one_left_out_rechained(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """The same, numbered and chained anew."""
    records = records_of(entries)
    if len(records) < 3:
        return None
    del records[draw.randrange(1, len(records))]
    return rechained(records)


def two_swapped(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Two neighbours in each other's place."""
    if len(entries) < 2:
        return None
    place = draw.randrange(len(entries) - 1)
    return [*entries[:place], entries[place + 1], entries[place], *entries[place + 2 :]]


def two_swapped_rechained(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """The same, numbered and chained anew."""
    records = records_of(entries)
    if len(records) < 3:
        return None
    place = draw.randrange(1, len(records) - 1)
    records[place], records[place + 1] = records[place + 1], records[place]
    return rechained(records)


def replayed(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """An earlier entry a second time, at the end, at the time of the newest."""
    records = records_of(entries)
    return rechained([*records, {**draw.choice(records), "time": records[-1]["time"]}])


def back_dated(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """An entry a second earlier than the one before it."""
    records = records_of(entries)
    if len(records) < 2:
        return None
    place = draw.randrange(1, len(records))
    records[place]["time"] = records[place - 1]["time"] - 10**9
    return rechained(records)


def another_number(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Another amount, cost, ceiling, number of rounds, or format, somewhere."""
    records = records_of(entries)
    places = [found for record in records for found in _numbers(record)]
    if not places:
        return None
    inside, name = draw.choice(places)
    inside[name] = _another(inside[name], draw, last_digits=name != "ceiling")
    return rechained(records)


def _numbers(value: Any, within: str = "") -> list[tuple[Any, Any]]:
    """Where numbers and amounts stand, but for times, descriptions, and the ceiling of a converted budget."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            if name in ("time", "number", "mechanism", "id", "parameters", "priced"):
                continue
            if within == "state" and name == "accounts":
                found += [each for account in part for each in _numbers({**account, "ceiling": None})]
                found += [(account, "drawn") for account in part]
            elif type(part) in (int, float) or (isinstance(part, dict) and part.keys() == {"delta", "loss"}):
                found.append((value, name))
            else:
                found += _numbers(part, str(name))
    return found


def _another(value: Any, draw: random.Random, *, last_digits: bool) -> Any:
    """last_digits: whether to change these alone, too; those of a converted budget's ceiling nobody else finds.

    What was set aside is half of it, as often as not: twice that, and a unit more, is just above it.
    """
    if isinstance(value, int):
        return value + draw.choice((-1, 1))
    if isinstance(value, float):
        return draw.choice((value * 2.0, value / 2.0, value * 1.0001, 0.25))
    loss, delta = amount_from_record(value)
    others = [(loss * 2 + 1 if last_digits else loss * 5 // 2, delta), (loss // 2, delta), (loss, delta + 1)]
    return amount_record(Amount(*draw.choice([*others, (loss + 1, delta)] if last_digits else others)))


def more_than_the_ceiling(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """A charge, again and again, with amounts and totals that are right: until no ceiling can bear it.

    None that has a price, unless its noise is Gaussian: the independent verifier takes any other at its word.
    """
    records = records_of(entries)
    charges = [record for record in records if record["kind"] == "charged" and not _is_believed(record)]
    if not charges or records[0]["composition"]["name"] == "no-bound":
        return None
    again = draw.choice(charges)
    total, amount = _total(records), _amounts(records)[id(again)]
    for _ in range(12):  # each twice what there was before
        again = {**again, "steps": [{**step, "rounds": step["rounds"] * 2} for step in again["steps"]]}
        amount = amount if again["priced"] else amount.times(2)
        said = {"amount": amount_record(amount)} if "amount" in again else {}
        total = total.plus(amount)
        again |= {**said, "after": amount_record(total), "time": records[-1]["time"]}
        records.append(again)
    return rechained(records)


def _is_believed(record: Mapping[str, Any]) -> bool:
    return bool(record["priced"]) and any(step["cost"]["kind"] != "gdp" for step in record["steps"])


def _total(records: Sequence[Mapping[str, Any]]) -> Amount:
    """The newest total that an entry says."""
    said = [record["after"] for record in records if "after" in record]
    return amount_from_record(said[-1]) if said else Amount(0)


def _amounts(records: Sequence[Mapping[str, Any]]) -> dict[int, Amount]:
    """What each charge added, by the totals before it and with it."""
    found, before = dict[int, Amount](), Amount(0)
    for record in records:
        if "after" in record:
            after = amount_from_record(record["after"])
            found[id(record)] = after.minus(before)
            before = after
    return found


def released_without_a_charge(entries: Sequence[Entry], draw: random.Random) -> list[Entry]:
    """A release of a charge that is not there, or not open any more, or of too many rounds."""
    records = records_of(entries)
    charge = draw.randrange(len(records) + 1)
    description = {"claims": [], "mechanism": "m", "noise": "n", "norm": "l1", "parameters": {}, "private": True}
    description |= {"query": "q", "sensitivity": 1.0, "zeta": None}
    used = draw.choice(([], [{"mechanism": description, "rounds": draw.choice((1, 1000))}]))
    return rechained([*records, {"charge": charge, "kind": "released", "time": records[-1]["time"], "used": used}])


def another_part(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """A part left out, added, or of another kind."""
    records = records_of(entries)
    record = draw.choice(records)
    match draw.randrange(5):
        case 0:
            del record[draw.choice([name for name in record if name != "kind"])]
        case 1:
            record["more"] = 1
        case 2 if record["kind"] == "charged":
            record["amount"] = amount_record(Amount.of(0.25))
        case 3 if "adjacency" in record:
            record["adjacency"] = {"name": draw.choice(("replace-one", "add-remove-one"))}
        case _:
            record["account"] = draw.choice(("main", "a", "pilot", 3, ""))
    return rechained([{**each, "kind": each["kind"]} for each in records])


def a_lower_price(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """A Gaussian plan at half its price, with an amount and a total that are right."""
    records = records_of(entries)
    last = [record for record in records if "after" in record][-1:]
    if not last or not last[0].get("priced") or last[0]["steps"][0]["cost"]["kind"] != "gdp":
        return None
    record, price = last[0], last[0]["priced"]["cost"]
    before = amount_from_record(record["after"]).minus(Amount.of(price["epsilon"], price["delta"]))
    price["epsilon"] /= 2.0
    amount = Amount.of(price["epsilon"], price["delta"])
    record |= {"after": amount_record(before.plus(amount))} | (
        {"amount": amount_record(amount)} if "amount" in record else {}
    )
    return rechained(records)


def other_noise(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Noise that is called secure, or is not."""
    records = records_of(entries)
    found = [r["mechanism"] for r in records if r.get("mechanism")]
    found += [part["mechanism"] for r in records for part in r.get("used", ())]
    if not found:
        return None
    each = draw.choice(found)
    each["private"] = not each["private"]
    return rechained(records)


FORGERIES: Final[Mapping[str, Forgery]] = {
    each.__name__: each
    for each in (
        one_character,
        one_character_rechained,
        one_left_out,
        one_left_out_rechained,
        two_swapped,
        two_swapped_rechained,
        replayed,
        back_dated,
        another_number,
        more_than_the_ceiling,
        released_without_a_charge,
        another_part,
        a_lower_price,
        other_noise,
        *SIGNED_FORGERIES,
    )
}
