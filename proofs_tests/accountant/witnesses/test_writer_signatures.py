"""Entries signed by writers with keys of their own: who may, what is covered, and what a forger or a thief can do."""

import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from accountant import (
    BasicComposition,
    Entry,
    KeyRefused,
    Ledger,
    PureDP,
    ReplaceOne,
)
from accountant.audit.verification import Verification, Verifier, verify
from accountant.entries.chain import Kind, MemoryStore
from accountant.entries.codec import decode, encode
from accountant.entries.entry_kinds import KeyAction, KeyChange, Signed
from accountant.entries.receipts import SigningKey
from accountant.witnesses.writer_signatures import WriterSignatures, key_change
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.durable import places as places
from proofs_tests.support.ledgers.durable import quick_folder as quick_folder
from proofs_tests.support.ledgers.durable import url as url
from proofs_tests.support.ledgers.forged_chains import changed_by, new_key, rechained, said, signed_by

ADA, BOB, EVE, NEW = (new_key() for _ in range(4))
CHEAP = RandomizedResponse(2.0**-20)


def begun(place: str | None = None) -> Ledger:
    """A ledger whose first key is Ada's, who is so its administrator, and which knows Bob's."""
    if place is None:
        ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    else:
        ledger = Ledger.open(place, PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.change_key(key_change("enrol", ADA, by=ADA, name="ada", administrator=True))
    ledger.change_key(key_change("enrol", BOB, by=ADA, name="bob"))
    return ledger


def charge(ledger: Ledger, times: int = 1) -> list[int]:
    data = ledger.protect(True)
    first = len(ledger.entries)
    for _ in range(times):
        ledger.release(CHEAP, data)
    return [entry.number for entry in ledger.entries[first:] if entry.kind == "charged"]


def first_key(entries: Sequence[Entry]) -> int:
    """The number of the entry that enrols the first key."""
    return next(entry.number for entry in entries if entry.kind == "key")


def errors(entries: tuple[Entry, ...], **expected: object) -> tuple[str, ...]:
    return checked(entries, **expected)[0].errors


def checked(entries: tuple[Entry, ...], **expected: object) -> tuple[Verification, WriterSignatures]:
    writers = WriterSignatures(**expected)  # type: ignore[arg-type]  # named as they are
    return verify(entries, writers=writers), writers


# --- keys ------------------------------------------------------------------------------------------------------


def test_the_first_key_enrols_itself_and_a_note_says_so() -> None:
    ledger = begun()
    number = first_key(ledger.entries)
    note = f"the first key, {ADA.public.hex}, enrolled itself in entry {number}: compare it with the one that you know"
    assert note in ledger.verify().notes
    assert errors(tuple(ledger.entries), first_key=ADA.public) == ()
    assert errors(tuple(ledger.entries), first_key=BOB.public) == (
        f"the first key is {ADA.public.hex}, and not {BOB.public.hex}, which was expected",
    )
    assert errors(tuple(ledger.entries)[:1], first_key=ADA.public) == (
        f"no key was ever enrolled, and {ADA.public.hex} was expected to be the first",
    )


def test_only_an_administrator_enrols() -> None:
    ledger = begun()
    cases: list[tuple[KeyAction, SigningKey, SigningKey, str]] = [
        ("enrol", EVE, EVE, "is not enrolled in this ledger"),
        ("enrol", EVE, BOB, "is no administrator"),
        ("enrol", BOB, ADA, "is, or was, enrolled already"),
        ("rotate", ADA, BOB, "is, or was, enrolled already"),
        ("rotate", NEW, EVE, "is not enrolled in this ledger"),
    ]
    for action, key, by, reason in cases:
        before = ledger.head
        with pytest.raises(KeyRefused, match=reason):
            ledger.change_key(key_change(action, key, by=by, name="x" if action == "enrol" else ""))
        assert ledger.head == before
    with pytest.raises(KeyRefused, match="is no administrator"):
        ledger.change_key(key_change("revoke", ADA.public.hex, by=BOB))


def test_the_first_key_is_an_administrator() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(KeyRefused, match="enrols itself, as an administrator"):
        ledger.change_key(key_change("enrol", ADA, by=ADA, name="ada"))
    assert len(ledger.entries) == 1


def test_a_chain_of_rotations_holds_and_old_keys_sign_nothing() -> None:
    ledger, keys = begun(), [BOB, *(new_key() for _ in range(4))]
    for old, new in itertools.pairwise(keys):
        ledger.sign_with(old)
        charge(ledger)
        ledger.sign()
        ledger.change_key(key_change("rotate", new, by=old))
        with pytest.raises(KeyRefused, match="of 'bob' was replaced or revoked"):
            ledger.sign_with(old)
    found, writers = checked(tuple(ledger.entries), required=True)
    assert found.sound
    assert list(writers.signed.values()) == [1] * 4
    stolen = signed_by(tuple(ledger.entries), keys[0], [])
    assert any("was replaced or revoked by entry" in error for error in errors(stolen))


def test_a_key_revokes_itself_and_never_comes_back() -> None:
    ledger = begun()
    ledger.change_key(key_change("revoke", BOB.public.hex, by=BOB))
    with pytest.raises(KeyRefused, match="is, or was, enrolled already"):
        ledger.change_key(key_change("enrol", BOB, by=ADA, name="bob"))
    assert ledger.verify().sound


def test_public_keys_alone_enrol_nobody() -> None:
    with pytest.raises(TypeError, match="give the private key"):
        key_change("enrol", EVE.public.hex, by=ADA, name="eve")


@pytest.mark.parametrize("name", ["", " ada", "a\x1b[31m", "x" * 201])
def test_a_name_is_a_short_visible_text(name: str) -> None:
    with pytest.raises(ValueError, match="name: "):
        begun().change_key(key_change("enrol", EVE, by=ADA, name=name))


# --- signing ---------------------------------------------------------------------------------------------------


def test_a_durable_ledger_is_signed_every_so_often_and_on_closing(url: str) -> None:
    begun(url).close()
    with Ledger.open(url, writer_key=BOB) as ledger:
        ledger.sign_with(BOB, every=3)
        charge(ledger, 7)
    with Ledger.open(url) as ledger:
        signatures = [record for entry in ledger.entries if isinstance(record := decode(entry), Signed)]
        assert [len(each.charges) for each in signatures] == [3, 3, 1]
        found, writers = checked(tuple(ledger.entries), required=True, first_key=ADA.public)
    assert found.sound
    assert writers.signed == {BOB.public.hex: 7}


def test_what_nobody_signed_is_noted_and_an_error_where_it_is_asked_for() -> None:
    ledger = begun()
    (number,) = charge(ledger)
    ledger.sign_with(BOB)
    charge(ledger, 2)
    ledger.sign()
    said_ = f"charges signed by nobody, since the first key was enrolled: 1, the first is entry {number}"
    assert said_ in ledger.verify().notes
    assert errors(tuple(ledger.entries), required=True) == (said_,)


def test_a_signature_of_later_charges_does_not_hide_an_unsigned_one() -> None:
    """It covers the whole chain before it; but which charges are the writer's own, the writer says."""
    ledger = begun()
    charge(ledger)  # a thief's, without any key
    ledger.sign_with(BOB)
    charge(ledger)
    ledger.sign()
    assert len(errors(tuple(ledger.entries), required=True)) == 1


def test_without_any_key_no_charge_is_signed() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    charge(ledger, 2)
    assert errors(tuple(ledger.entries), required=True) == (
        "none of 2 charges is signed: no writer's key was ever enrolled",
    )


def test_a_writer_whose_key_was_revoked_charges_nothing(url: str) -> None:
    begun(url).close()
    with Ledger.open(url, writer_key=BOB) as writer, Ledger.open(url) as administrator:
        administrator.change_key(key_change("revoke", BOB.public.hex, by=ADA))
        before = administrator.head
        with pytest.raises(KeyRefused, match="nothing was charged"):
            charge(writer)
        assert administrator.head == before


def test_a_handle_whose_key_was_revoked_goes_on_with_another(url: str) -> None:
    """What it charged with the old key and had not signed stays unsigned: the new key never charged it."""
    begun(url).close()
    with Ledger.open(url, writer_key=BOB) as writer, Ledger.open(url) as administrator:
        (unsigned,) = charge(writer)
        administrator.change_key(key_change("revoke", BOB.public.hex, by=ADA))
        writer.sign_with(ADA)
        (signed,) = charge(writer)
        writer.sign()
        found, writers = checked(tuple(writer.entries))
    assert found.sound
    assert writers.signed == {ADA.public.hex: 1}
    assert list(writers.unsigned) == [unsigned] != [signed]


def test_a_key_that_is_not_enrolled_opens_nothing_for_writing(url: str) -> None:
    begun(url).close()
    with pytest.raises(KeyRefused, match="is not enrolled in this ledger"):
        Ledger.open(url, writer_key=EVE)


def test_two_writers_sign_their_own(url: str) -> None:
    begun(url).close()
    with Ledger.open(url, writer_key=ADA) as ada, Ledger.open(url, writer_key=BOB) as bob:
        for _ in range(3):
            charge(ada)
            charge(bob, 2)
        ada.sign()
    with Ledger.open(url) as ledger:
        found, writers = checked(tuple(ledger.entries), required=True)
    assert found.sound
    assert writers.signed == {ADA.public.hex: 3, BOB.public.hex: 6}


def test_an_interrupt_after_a_signature_was_written_signs_nothing_twice() -> None:
    """The entry is in the store, and the writer heard nothing of it."""

    class Interrupted(MemoryStore):
        interrupt = False

        def append_next(self, number: int, kind: Kind, line: str) -> bool:
            done = super().append_next(number, kind, line)
            if self.interrupt and kind == "signed":
                self.interrupt = False
                raise KeyboardInterrupt
            return done

    store = Interrupted()
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne(), store=store)
    ledger.change_key(key_change("enrol", ADA, by=ADA, name="ada", administrator=True))
    ledger.sign_with(ADA)
    charge(ledger, 2)
    store.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        ledger.sign()
    assert ledger.sign() is None
    charge(ledger)
    ledger.sign()
    found, writers = checked(tuple(ledger.entries), required=True)
    assert found.sound
    assert writers.signed == {ADA.public.hex: 3}


def test_what_is_pending_is_signed_before_the_key_is_replaced() -> None:
    ledger = begun()
    ledger.sign_with(BOB)
    charge(ledger)
    ledger.change_key(key_change("rotate", NEW, by=BOB))
    assert [entry.kind for entry in ledger.entries][-2:] == ["signed", "key"]
    assert errors(tuple(ledger.entries), required=True) == ()


def test_a_writer_that_died_leaves_charges_that_count_and_that_nobody_signed(quick_folder: Path) -> None:
    place = f"sqlite:///{quick_folder}/killed.db"
    key = SigningKey.create(quick_folder / "key")
    with begun(place) as ledger:
        ledger.change_key(key_change("enrol", key, by=ADA, name="eve"))
    program = (
        "import os, sys\nfrom accountant import Ledger\nfrom accountant.entries import SigningKey\n"
        "from proofs_tests.support.ledgers.doubles import RandomizedResponse\n"
        "ledger = Ledger.open(sys.argv[1], writer_key=SigningKey.load(sys.argv[2])).sign_with(\n"
        "    SigningKey.load(sys.argv[2]), every=2)\n"
        "for _ in range(3):\n    ledger.release(RandomizedResponse(0.125), ledger.protect(True))\n"
        "os.kill(os.getpid(), 9)"
    )
    command: list[str | Path] = [sys.executable, "-c", program, place, quick_folder / "key"]
    assert subprocess.run(command, check=False).returncode == -9
    with Ledger.open(place) as again:
        found, writers = checked(tuple(again.entries))
        assert again.spent == PureDP(0.375)
    assert found.sound
    assert writers.signed == {key.public.hex: 2}
    assert len(writers.unsigned) == 1


def test_a_checkpoint_holds_the_keys_and_is_compared(quick_folder: Path) -> None:
    ledger = begun(f"sqlite:///{quick_folder}/checked.db")
    ledger._writer.write_checkpoint()
    ledger.sign_with(BOB)
    charge(ledger)
    ledger.close()
    with Ledger.open(f"sqlite:///{quick_folder}/checked.db") as again:
        entries = tuple(again.entries)
        place = next(entry for entry in entries if entry.kind == "checkpoint")
        from accountant.entries.checkpoints import read_start

        start = read_start(again._writer.store.read, place)
    part = Verifier(start=(start, place.digest), writers=WriterSignatures(required=True))
    part.take(entries[place.number + 1 :])
    assert part.verification().sound
    forged = place.line.replace(BOB.public.hex, EVE.public.hex)
    changed = rechained([*entries[: place.number], attrs.evolve(place, line=forged), *entries[place.number + 1 :]])
    assert any("its state is not what the entries before it add up to" in each for each in errors(changed))


# --- forgers and thieves ---------------------------------------------------------------------------------------


def signed_ledger() -> tuple[Entry, ...]:
    ledger = begun()
    ledger.sign_with(BOB)
    charge(ledger, 2)
    ledger.sign()
    ledger.change_key(key_change("rotate", NEW, by=BOB))
    ledger.sign_with(NEW)
    charge(ledger)
    ledger.sign()
    ledger.change_key(key_change("revoke", NEW.public.hex, by=ADA))
    return tuple(ledger.entries)


WHOLE = signed_ledger()


def test_each_digit_of_each_key_and_signature_is_held_to_it() -> None:
    """The whole chain is made anew behind the change, so that no digest tells."""
    for entry in WHOLE:
        if entry.kind not in ("key", "signed"):
            continue
        for name in ("key", "by", "head", "proof", "signature"):
            value = entry.record.get(name)
            if not isinstance(value, str) or not value:
                continue
            other = f"{value[:-1]}{'0' if value[-1] != '0' else '1'}"
            line = entry.line.replace(f'"{name}":"{value}"', f'"{name}":"{other}"')
            chain = rechained([attrs.evolve(each, line=line) if each is entry else each for each in WHOLE])
            found = errors(chain)
            assert any(error.startswith(f"entry {entry.number}: ") for error in found), name


def test_a_charge_put_in_or_left_out_breaks_the_signature_behind_it() -> None:
    charged = next(entry for entry in WHOLE if entry.kind == "charged")
    cheaper = charged.line.replace('"account":"main"', '"account":"mine"')
    changed = rechained([attrs.evolve(each, line=cheaper) if each is charged else each for each in WHOLE])
    assert [error.split(": ")[1] for error in errors(changed)].count("it signs another head than that before") == 4


def test_a_signature_of_another_ledger_is_forged_here() -> None:
    chain = rechained([begun().entries[0], *WHOLE[1:]])
    assert f"entry {first_key(WHOLE)}: its signature is forged" in errors(chain)


@pytest.mark.parametrize("action", ["enrol", "rotate", "revoke"])
def test_nobody_who_is_not_entitled_changes_keys(action: KeyAction) -> None:
    """Eve writes into the database what she likes, and signs it with her own key, or says that Ada did."""
    entries = tuple(begun().entries)
    key, name = (BOB.public.hex, "") if action == "revoke" else (EVE.public.hex, "eve" if action == "enrol" else "")
    time, head, proof = decode(entries[-1]).time, entries[-1].digest, "" if action == "revoke" else "00" * 64
    plain = KeyChange(time, action, key, name, False, EVE.public.hex, head, proof)
    own = errors(changed_by(entries, plain, EVE))
    assert any("it changes the keys of writers, but the key" in error for error in own)
    as_ada = errors(changed_by(entries, attrs.evolve(plain, by=ADA.public.hex), EVE))
    assert f"entry {len(entries)}: its signature is forged" in as_ada


def test_another_s_public_key_is_not_enrolled_without_its_owner() -> None:
    entries = tuple(begun().entries)
    time, head = decode(entries[-1]).time, entries[-1].digest
    taken = KeyChange(time, "enrol", EVE.public.hex, "mine", False, ADA.public.hex, head, "11" * 64)
    assert errors(changed_by(entries, taken, ADA)) == (f"entry {len(entries)}: its proof is forged",)


def test_a_stolen_key_before_it_is_revoked_is_as_good_as_its_owner_s() -> None:
    """As documented: until the key is revoked nobody can tell."""
    ledger = begun()
    charged = charge(ledger)
    assert errors(signed_by(tuple(ledger.entries), BOB, charged), required=True) == ()


def test_a_stolen_key_after_it_was_revoked_signs_nothing() -> None:
    ledger = begun()
    number = ledger.change_key(key_change("revoke", BOB.public.hex, by=ADA))
    charged = charge(ledger)
    found = errors(signed_by(tuple(ledger.entries), BOB, charged))
    assert any(f"was replaced or revoked by entry {number}" in error for error in found)


def test_a_charge_is_signed_once_and_is_a_charge() -> None:
    ledger = begun()
    (number,) = charge(ledger)
    once = signed_by(tuple(ledger.entries), BOB, [number])
    twice = signed_by(once, ADA, [number])
    for entries in (twice, signed_by(once, ADA, [0]), signed_by(once, ADA, [number + 1])):
        assert any("as a charge of its own, which is none, or was signed before" in each for each in errors(entries))
    assert any("which come later" in each for each in errors(signed_by(once, ADA, [99])))


def test_before_format_2_there_are_no_keys() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    line = re.sub('"format":[0-9]+', '"format":1', ledger.entries[0].line)
    entries, time = rechained([attrs.evolve(ledger.entries[0], line=line)]), decode(ledger.entries[0]).time
    plain = KeyChange(time, "enrol", ADA.public.hex, "ada", True, ADA.public.hex, entries[-1].digest)
    request = key_change("enrol", ADA, by=ADA, name="ada", administrator=True)
    early = said(entries, request.at(1, plain.time, plain.head, ledger.id))
    assert errors(early) == ("entry 1: it says what format 2 has, and no entry before it upgrades the ledger to that",)


def test_entries_about_keys_are_read_back_as_they_were_written() -> None:
    for entry in WHOLE:
        assert encode(entry.number, decode(entry)) == entry.line


def test_signing_keys_are_those_of_receipts(tmp_path: Path) -> None:
    key = SigningKey.create(tmp_path / "ada.key")
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.change_key(key_change("enrol", key, by=key, name="ada", administrator=True))
    ledger.sign_with(SigningKey.load(tmp_path / "ada.key"))
    (number,) = charge(ledger)
    assert ledger.sign() == number + 2


def test_how_often_is_a_whole_number() -> None:
    for every in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="sign_every"):
            begun().sign_with(BOB, every=every)  # type: ignore[arg-type]  # the point of it
