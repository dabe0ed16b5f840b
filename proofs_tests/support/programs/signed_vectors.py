"""A ledger whose writers sign, and what forgers make of it: for `verifier/vectors.json`."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from accountant import AddRemoveOne, BasicComposition, Entry, Ledger, PureDP
from accountant.canonical_json import canonical
from accountant.entries import signed_message
from accountant.witnesses import key_change
from proofs_tests.support.ledgers.forged_signatures import ORDER, change, signature, signed_again
from proofs_tests.support.ledgers.forgeries import records_of
from proofs_tests.support.ledgers.random_writers import BY_HEX, KEYS, begin_to_sign
from proofs_tests.support.programs.vector_entries import entries_of, spend

Forged: TypeAlias = tuple[str, list[Entry], int, str]
"""What was done, the entries that came of it, where it must be found, and how the finding begins."""

WEAK: Final = f"01{'00' * 31}"
"""The neutral point as a key: with R the same and S = 0 it signs everything."""


def signed() -> Ledger:
    """Keys that are enrolled, replaced and revoked, and what they sign."""
    ada, bob, new, eve, _ = KEYS
    ledger = Ledger(PureDP(4.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    spend(ledger, PureDP(0.125))
    begin_to_sign(ledger)
    ledger.change_key(key_change("enrol", bob, by=ada, name="Zoë"))
    ledger.change_key(key_change("enrol", eve, by=ada, name="eve"))
    spend(ledger, PureDP(0.125))
    ledger.sign_with(bob)
    spend(ledger, PureDP(0.125))
    spend(ledger, PureDP(0.125))
    ledger.change_key(key_change("rotate", new, by=bob))
    ledger.change_key(key_change("revoke", eve.public.hex, by=ada))
    ledger._writer.write_checkpoint()
    ledger.sign_with(new)
    spend(ledger, PureDP(0.25))
    ledger.sign()
    ledger.sign_with(ada)
    spend(ledger, PureDP(0.25))  # which nobody signs
    return ledger


def signed_entries() -> list[Entry]:
    """Those of `signed`, with times, an id and signatures that are the same whenever they are written."""
    return signed_again(records_of(entries_of(signed())))


def forged() -> list[Forged]:
    """The same, doctored by whoever has all keys: the chain is computed anew, and each other signature is genuine."""
    return [*_signatures(), *_signers(), *_listed(), *_changes(), *_beginnings()]


def _records() -> list[dict[str, Any]]:
    return records_of(signed_entries())


def _numbers(kind: str) -> list[int]:
    return [record["number"] for record in _records() if record["kind"] == kind]


def _signatures() -> Iterator[Forged]:
    """That are none."""
    records, place = _records(), _numbers("signed")[-1]
    enrolled, forged = _numbers("key")[1], "its signature is forged"

    def other(part: str, by: Callable[[int], int], records: list[dict[str, Any]]) -> list[Entry]:
        def spoil(said: dict[str, Any]) -> None:
            number = by(int.from_bytes(bytes.fromhex(said[part]), "little"))
            said[part] = number.to_bytes(64, "little").hex()

        return signed_again(records, spoil)

    def elsewhere(said: dict[str, Any]) -> None:
        message = signed_message("1" * 32, canonical({**said, "signature": ""}))
        said["signature"] = BY_HEX[said["key"]].sign(message).hex()

    yield "one bit of R of a signature", other("signature", lambda x: x ^ 1, records), place, forged
    yield "one bit of S of a signature", other("signature", lambda x: x ^ 1 << 300, records), place, forged
    yield "a signature with the order added to its S", other("signature", _malleable, records), place, forged
    yield "a signature made for another ledger", signed_again(records, elsewhere), place, forged
    proof = other("proof", lambda x: x ^ 1 << 300, records[: enrolled + 1])
    yield "one bit of S of a proof", proof, enrolled, "its proof is forged"
    change = other("signature", lambda x: x ^ 1 << 300, records[: enrolled + 1])
    yield "one bit of S of what changes a key", change, enrolled, forged
    yield "another head, and a signature of it", signed_again(records, _of_another_head), place, "it signs another head"


def _of_another_head(said: dict[str, Any]) -> None:
    said["head"] = "0" * 64
    message = signed_message("0" * 32, canonical({**said, "signature": ""}))
    said["signature"] = BY_HEX[said["key"]].sign(message).hex()


def _malleable(number: int) -> int:
    return number + (ORDER << 256)


def _appended(record: Mapping[str, Any], spoil: Callable[[dict[str, Any]], object] | None = None) -> list[Entry]:
    return signed_again([*_records(), {**record}], spoil)


def _signers() -> Iterator[Forged]:
    """Who may not."""
    records, (_, bob, _, eve, mallory) = _records(), (key.public.hex for key in KEYS)
    for what, key in (("was replaced", bob), ("was revoked", eve), ("nobody enrolled", mallory)):
        entries = _appended(signature(records, key, []))
        yield f"signed by a key that {what}", entries, len(records), f"it is signed, but the key {key}"


def _listed() -> Iterator[Forged]:
    """What `signed` entries may not list."""
    records, new, charges = _records(), KEYS[2].public.hex, _numbers("charged")
    cases = (
        ("a charge twice", charges[2]),
        ("a charge from before any key", charges[0]),
        ("no charge", charges[2] + 1),
    )
    for what, number in cases:
        entries = _appended(signature(records, new, [number]))
        yield f"a signature of {what}", entries, len(records), f"it signs entry {number} as a charge of its own, which"
    later = _appended(signature(records, new, [len(records)]))
    place = _numbers("signed")[1]
    assert len(records[place]["charges"]) == 2
    records[place]["charges"].reverse()
    yield "a signature of charges in no order", signed_again(records), place, "it cannot be read"
    yield "a signature of what comes later", later, len(records), "it is signed, but it says that charges are its own"


def _changes() -> Iterator[Forged]:
    """Of keys, that may not be."""
    records, (ada, bob, new, eve, mallory), draw = _records(), (key.public.hex for key in KEYS), random.Random(0)
    but, proof = "it changes the keys of writers, but the key", {"proof": WEAK + "00" * 32}
    cases = (
        ("enrolled by no administrator", change(records, "enrol", mallory, new, draw), f"{but} {new} of 'Zoë' is no"),
        ("a revoked key enrolled again", change(records, "enrol", eve, ada, draw), f"{but} {eve} is, or was, enrolled"),
        ("revoked by no administrator", change(records, "revoke", ada, new, draw), f"{but} {new} of 'Zoë' is no"),
        ("rotated to a key that is there", change(records, "rotate", ada, new, draw), f"{but} {ada} is, or was"),
        (
            "rotated by a key that was replaced",
            change(records, "rotate", mallory, bob, draw),
            f"{but} {bob} of 'Zoë' was",
        ),
        ("revoked a second time", change(records, "revoke", eve, ada, draw), f"{but} {eve} of 'eve' was replaced or"),
    )
    for what, record, finding in cases:
        yield what, _appended(record), len(records), finding
    weak = _appended(change(records, "enrol", WEAK, ada, draw), lambda said: said.update(proof))
    yield "enrolled a key by which anybody signs", weak, len(records), "its proof is forged"


def _beginnings() -> Iterator[Forged]:
    """First keys, that may not be."""
    first, (ada, bob, *_) = _numbers("key")[0], (key.public.hex for key in KEYS)
    start, finding = (
        _records()[: first + 1],
        "it changes the keys of writers, but the first key of a ledger enrols itself",
    )
    for what, other in (("is no administrator", {"administrator": False}), ("another enrols", {"by": bob})):
        entries = signed_again([*start[:-1], {**start[-1], **other}])
        yield f"a first key that {what}", entries, first, finding
    early = [{**start[0], "format": 1}, {**start[-1], "time": start[0]["time"]}]
    yield "a key before format 2", signed_again(early), 1, "it says what format 2 has, and no entry before it upgrades"
    alone = [start[0], {**signature(start[:1], ada, [])}]
    yield "a signature before any key", signed_again(alone), 1, f"it is signed, but the key {ada} is not enrolled"
