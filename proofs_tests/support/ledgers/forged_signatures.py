"""Forgeries of signed ledgers by somebody who may rewrite everything, and has stolen all keys: the rules must tell."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from accountant import Entry
from accountant.canonical_json import canonical
from accountant.entries import GENESIS, digest_of, signed_message
from proofs_tests.support.ledgers.random_writers import ACTIONS, BY_HEX, KEYS

ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""Of the group that Ed25519 signs in: added to the second half of a signature, it changes nothing of its equation."""

Record = dict[str, Any]


def _said(entries: Sequence[Entry]) -> list[Record]:
    return [entry.record for entry in entries]


def of_writers(records: Sequence[Record]) -> list[Record]:
    """Those that are signed."""
    return [record for record in records if record["kind"] in ("key", "signed")]


def signed_again(records: Sequence[Record], spoil: Callable[[Record], object] | None = None) -> list[Entry]:
    """Entries that say this, chained anew, each signature made anew. spoil: changes the last one that is signed."""
    last = of_writers(records)[-1:]
    found, head = list[Entry](), GENESIS
    for number, record in enumerate(records):
        said = {**record, "number": number}
        if record["kind"] in ("key", "signed"):
            _sign(said, head, str(records[0]["id"]))
            if spoil is not None and record is last[0]:
                spoil(said)
        line = canonical(said)
        head = digest_of(head, line)
        found.append(Entry(number, record["kind"], line, head))
    return found


def _sign(record: Record, head: str, ledger: str) -> None:
    record["head"] = head
    blank = {"proof": "", "signature": ""} if record["kind"] == "key" else {"signature": ""}
    message = signed_message(ledger, canonical({**record, **blank}))
    for part, key in (("signature", record.get("by", record["key"])), ("proof", record["key"])):
        if record.get(part) and key in BY_HEX:
            record[part] = BY_HEX[key].sign(message).hex()


def spoilt(value: str, draw: random.Random) -> str:
    """A signature with one bit changed, its other half the same modulo the order, or another's."""
    what, number = draw.randrange(4), int.from_bytes(bytes.fromhex(value), "little")
    if what == 0:
        return draw.choice(KEYS).sign(b"something else").hex()
    number = number + (ORDER << 256) if what == 1 else number ^ (1 << draw.randrange(512))
    return (number % (1 << 512)).to_bytes(64, "little").hex()


def a_signature_spoilt(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """The last signature is none."""
    records = _said(entries)
    if not of_writers(records):
        return None
    return signed_again(records, lambda record: record.update(signature=spoilt(record["signature"], draw)))


def a_proof_spoilt(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Nobody showed that the last new key is there."""
    records = _said(entries)
    while records and not records[-1].get("proof"):
        records.pop()
    if not records:
        return None
    return signed_again(records, lambda record: record.update(proof=spoilt(record["proof"], draw)))


def signed_by_anybody(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """One more signature by some key, of some charges; it may be in order."""
    records = _said(entries)
    if not of_writers(records):
        return None
    numbers = [record["number"] for record in records if record["kind"] == "charged" or draw.random() < 0.05]
    charges = sorted(draw.sample(numbers, min(len(numbers), draw.randrange(3))))
    return signed_again([*records, signature(records, draw.choice(KEYS).public.hex, charges)])


def signature(records: Sequence[Record], key: str, charges: Sequence[int]) -> Record:
    """An entry that is to be signed."""
    said = {"charges": [*charges], "head": "", "key": key, "kind": "signed", "signature": "0" * 128}
    return {**said, "time": records[-1]["time"]}


def listed_twice(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """A charge that was listed before, by the same key, if that still may."""
    records = _said(entries)
    listed = [record for record in records if record["kind"] == "signed" and record["charges"]]
    if not listed:
        return None
    record = draw.choice(listed)
    return signed_again([*records, signature(records, record["key"], [draw.choice(record["charges"])])])


def keys_changed_by_anybody(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """One more change of keys, by some key; it may be in order."""
    records = _said(entries)
    if not of_writers(records):
        return None
    action, one, other = draw.choice(ACTIONS), *(draw.choice(KEYS).public.hex for _ in range(2))
    return signed_again([*records, change(records, action, one, other, draw)])


def change(records: Sequence[Record], action: str, key: str, by: str, draw: random.Random) -> Record:
    """An entry that is to be signed."""
    enrols, proof = action == "enrol", "" if action == "revoke" else "0" * 128
    said: Record = {"action": action, "key": key, "by": by, "head": "", "kind": "key", "time": records[-1]["time"]}
    said |= {"name": "eve" if enrols else "", "administrator": enrols and draw.random() < 0.5}
    return {**said, "proof": proof, "signature": "0" * 128}


def left_out_and_signed_again(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Without one entry about keys or signatures; the others keep the numbers of charges that they say."""
    records = _said(entries)
    if not of_writers(records):
        return None
    out = draw.choice(of_writers(records))
    if draw.random() < 0.3:  # moved to the end
        records.append({**out, "time": records[-1]["time"]})
    return signed_again([record for record in records if record is not out])


def changed_and_signed_again(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Another key, name, right, action or list of charges in one of them."""
    records = _said(entries)
    if not of_writers(records):
        return None
    record = draw.choice(of_writers(records))
    other = draw.choice(KEYS).public.hex
    weak = draw.choice(("01" + "00" * 31, "ec" + "ff" * 30 + "7f", "00" * 32))
    changes: list[Record] = [{"key": other}, {"key": weak}, {"key": other[:-1]}]
    if record["kind"] == "signed":
        charges = record["charges"]
        changes += [{"charges": each} for each in (charges[::-1], charges * 2, [*charges, len(records)], [0], None)]
    else:
        changes += [{"by": other}, {"by": weak}, {"administrator": not record["administrator"]}, {"administrator": 1}]
        changes += [{"name": each} for each in ("", " x", "x" * 201, "a\tb", 1)]
        changes += [{"action": each} for each in (*ACTIONS, "leave")]
        changes += [{"proof": "0" * 128}, {"proof": ""}]
    record |= draw.choice(changes)
    return signed_again(records)


def of_another_ledger(entries: Sequence[Entry], draw: random.Random) -> list[Entry] | None:
    """Signatures that were made in a ledger of another id."""
    records = _said(entries)
    if not of_writers(records):
        return None
    message = signed_message("f" * 32, "")
    return signed_again(records, lambda record: record.update(signature=KEYS[0].sign(message).hex()))


SIGNED_FORGERIES: Final = (
    a_signature_spoilt,
    a_proof_spoilt,
    signed_by_anybody,
    listed_twice,
    keys_changed_by_anybody,
    left_out_and_signed_again,
    changed_and_signed_again,
    of_another_ledger,
)
