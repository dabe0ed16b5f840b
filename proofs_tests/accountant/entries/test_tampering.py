"""A ledger of 1,000 entries of every kind: whatever is changed in it, verification tells.

Most checks go on from a kept audit of the entries before the change, which is `verify` stopped half-way: errors are
only ever added, so what is found by then is found by `verify`; a test below shows both to be one.
"""

import functools
import pickle
import random
import re
from collections.abc import Iterator, Sequence
from typing import cast

import attrs
import pytest

from accountant import Entry
from accountant.audit.verification import Verifier, verify
from accountant.entries.chain import GENESIS, Kind, follows
from proofs_tests.support.ledgers.books import first, rechained, rewritten, sound_books

LENGTH = 1000
CHAIN = "its digest does not match its content and the entry before it"


@functools.cache
def books() -> tuple[Entry, ...]:
    return sound_books(LENGTH)


@functools.cache
def kept() -> tuple[bytes, ...]:
    """For each entry, an audit of those before it; bytes, as each is used many times."""
    audit, audits = Verifier(), []
    for entry in books():
        audits.append(pickle.dumps(audit))
        audit.take([entry])
    assert audit.verification().sound
    return tuple(audits)


def audit_at(place: int) -> Verifier:
    """`verify` just before entry `place`."""
    return cast("Verifier", pickle.loads(kept()[place]))  # noqa: S301  # our own bytes, from a line above


def found(place: int, entries: Sequence[Entry]) -> bool:
    """Whether one of these, in the place of the entries from `place` on, is found to be wrong."""
    audit = audit_at(place)
    for entry in entries:
        audit.take([entry])
        if audit.errors:
            return True
    return False


def before(place: int) -> str:
    return books()[place - 1].digest if place else GENESIS


def other(character: str, generator: random.Random) -> str:
    """Another byte than this one."""
    return chr((ord(character) + generator.randrange(1, 256)) % 256)


# --- the ledger itself, and that a kept audit is the same code ------------------------------------------------


def test_the_books_hold_every_kind_of_entry_and_are_sound() -> None:
    assert len(books()) == LENGTH
    assert {entry.kind for entry in books()} == {
        "opened", "charged", "released", "returned", "allocated", "announced", "closed", "checkpoint",
    }  # fmt: skip
    assert verify(books(), expect_head=books()[-1].digest).sound


def test_going_on_from_a_kept_audit_is_verify() -> None:
    generator = random.Random(1)
    for place in [0, 1, LENGTH - 1, *generator.sample(range(LENGTH), 25)]:
        entry = books()[place]
        line = entry.line[:-3] + other(entry.line[-3], generator) + entry.line[-2:]
        changed = [attrs.evolve(entry, line=line), *books()[place + 1 :]]
        audit = audit_at(place)
        audit.take(changed[:1])
        so_far = audit.errors
        audit.take(changed[1:])
        whole = verify([*books()[:place], *changed])
        assert audit.verification() == whole
        assert so_far == whole.errors[: len(so_far)] != ()
        assert f"entry {place}: {CHAIN}" in so_far


# --- single bytes ------------------------------------------------------------------------------------------------


def single_changes() -> Iterator[tuple[int, str, str]]:
    """Every position of every line and every digest, with one other byte each."""
    generator = random.Random(2)
    for place, entry in enumerate(books()):
        for position in range(len(entry.line)):
            new = other(entry.line[position], generator)
            yield place, entry.line[:position] + new + entry.line[position + 1 :], entry.digest
        for position in range(len(entry.digest)):
            new = other(entry.digest[position], generator)
            yield place, entry.line, entry.digest[:position] + new + entry.digest[position + 1 :]


def test_no_entry_follows_once_any_byte_of_it_was_changed() -> None:
    """All of them, about half a million, against the very check of the chain that `verify` makes."""
    assert all(follows(before(place), entry.line, entry.digest) for place, entry in enumerate(books()))
    count = 0
    for place, line, digest in single_changes():
        assert not follows(before(place), line, digest), (place, line, digest)
        count += 1
    assert count == sum(len(entry.line) + len(entry.digest) for entry in books()) > 400_000


def one_change(entry: Entry, generator: random.Random) -> Entry:
    """One byte of the line, the digest or the kind, or the number."""
    part = generator.choice(["line"] * 7 + ["digest", "kind", "number"])
    if part == "number":
        return attrs.evolve(entry, number=entry.number ^ 1 << generator.randrange(10))
    text = str(getattr(entry, part))
    at = generator.randrange(len(text))
    new = text[:at] + other(text[at], generator) + text[at + 1 :]
    match part:
        case "line":
            return attrs.evolve(entry, line=new)
        case "digest":
            return attrs.evolve(entry, digest=new)
        case _:
            return attrs.evolve(entry, kind=cast("Kind", new))


def test_ten_thousand_random_changes_of_one_byte_are_found_at_once() -> None:
    generator = random.Random(3)
    for turn in range(10_000):
        place = turn % LENGTH
        changed = one_change(books()[place], generator)
        audit = audit_at(place)
        audit.take([changed])
        assert audit.errors, (books()[place], changed)
        broken = f"entry {place}: {CHAIN}" in audit.errors
        assert broken is not follows(before(place), changed.line, changed.digest)


# --- whole entries -----------------------------------------------------------------------------------------------


def test_every_lost_entry_is_found() -> None:
    for place in range(LENGTH - 1):
        assert found(place, [books()[place + 1]]), place
    whole = verify([*books()[:500], *books()[501:]])
    assert whole.errors[:2] == (
        f"entry 500: {CHAIN}",
        f"entry 500: it is numbered 501 and called {books()[501].kind!r}, and stands as number 501, "
        f"{books()[501].kind!r}, where number 500 is due",
    )


def test_every_repeated_entry_is_found() -> None:
    for place in range(LENGTH):
        audit = audit_at(place)
        audit.take([books()[place]])
        assert not audit.errors
        audit.take([books()[place]])
        assert audit.errors, place


def test_every_swap_of_neighbours_and_two_thousand_others_are_found() -> None:
    generator = random.Random(4)
    pairs = [(place, place + 1) for place in range(LENGTH - 1)]
    pairs += [cast("tuple[int, int]", tuple(sorted(generator.sample(range(LENGTH), 2)))) for _ in range(2000)]
    for early, late in pairs:
        assert found(early, [books()[late]]), (early, late)
    swapped = list(books())
    swapped[300], swapped[700] = swapped[700], swapped[300]
    assert f"entry 300: {CHAIN}" in verify(swapped).errors


def test_every_cut_shows_against_the_head() -> None:
    audit = Verifier(expect_head=books()[-1].digest)
    for entry in books():
        errors = audit.verification().errors
        assert any("cut off, or the ledger was rolled back or rewritten" in error for error in errors), entry.number
        audit.take([entry])
    assert audit.verification().sound


def test_a_cut_alone_does_not_show_without_the_head() -> None:
    """The reason why heads are kept: an older copy is as sound as the newest."""
    assert all(verify(books()[:length]).sound for length in (1, 500, LENGTH - 1))


def test_books_rolled_back_and_written_on_show_against_the_head() -> None:
    """An older copy is put back, and other entries follow: each prefix is sound, and the head is nowhere."""
    head = books()[-1].digest
    for place in (1, 33, 250, 999):
        forged = rechained([*books()[:place], *open_entries(place)], place)
        assert verify(forged).sound
        (error,) = verify(forged, expect_head=head).errors
        assert "rolled back or rewritten" in error
        assert verify(forged, expect_head=books()[place - 1].digest).sound


def open_entries(number: int) -> list[Entry]:
    """A sub-budget that costs nothing, as entry `number`."""
    line = (
        f'{{"account":"elsewhere","ceiling":{{"delta":"0p0","loss":"0p0"}},"kind":"allocated","number":{number},'
        '"time":9999999999999999999}'
    )
    return [Entry(number, "allocated", line, "")]


# --- forgers who recompute the chain -----------------------------------------------------------------------------


def test_a_recomputed_chain_never_has_the_old_head() -> None:
    """Whatever is changed, in whichever entry, and however little."""
    generator, head = random.Random(5), books()[-1].digest
    for place, entry in enumerate(books()):
        at = generator.randrange(len(entry.line))
        new = "1" if entry.line[at] == "0" else "0"
        changed = attrs.evolve(entry, line=entry.line[:at] + new + entry.line[at + 1 :])
        forged = rechained([*books()[:place], changed, *books()[place + 1 :]], place)
        assert all(old.digest != new.digest for old, new in zip(books()[place:], forged[place:], strict=True))
        if place % 50 == 0:
            assert any("rolled back or rewritten" in error for error in verify(forged, expect_head=head).errors)


ARITHMETIC = [
    ("charged", re.compile(r'(?<="priced":null,"steps":\[\{"cost":\{"epsilon":)[^,]+'), "9e-05"),
    ("charged", re.compile(r'(?<="steps":\[\{"cost":\{"epsilon":)[^,]+'), "0.011"),
    ("charged", re.compile(r'(?<="loss":")[0-9a-f](?=[0-9a-f]*p)'), "3"),
    ("charged", re.compile(r'(?<="rounds":)[0-9]+'), "7"),
    ("returned", re.compile(r'(?<="amount":\{"delta":"0p0","loss":")[^"]+'), "1p-30"),
    ("returned", re.compile(r'(?<="amount":\{"delta":"0p0","loss":")[^"]+'), "1p-9"),
    ("returned", re.compile(r'(?<="loss":")[0-9a-f](?=[0-9a-f]*p)'), "5"),
    ("returned", re.compile(r'(?<="rounds":)[0-9]+'), "1"),
    ("returned", re.compile(r'(?<="charge":)[0-9]+'), "1"),
    ("released", re.compile(r'(?<="rounds":)[0-9]+'), "8"),
    ("released", re.compile(r'(?<="charge":)[0-9]+'), "1"),
    ("closed", re.compile(r'(?<="loss":")[0-9a-f](?=[0-9a-f]*p)'), "9"),
    ("checkpoint", re.compile(r'(?<="drawn":\{"delta":"0p0","loss":")[0-9a-f](?=[0-9a-f]*p)'), "e"),
    ("checkpoint", re.compile(r'(?<="rounds":)[0-9]+'), "1"),
]


@pytest.mark.parametrize(("kind", "part", "new"), ARITHMETIC)
def test_changed_figures_are_found_without_any_head(kind: str, part: re.Pattern[str], new: str) -> None:
    """In every entry of the kind that has the figure, the chain recomputed: the sums tell."""
    count = 0
    for place, entry in enumerate(books()):
        line = part.sub(new, entry.line, count=1)
        if entry.kind != kind or line == entry.line:
            continue
        forged = rechained([*books()[:place], attrs.evolve(entry, line=line), *books()[place + 1 : place + 40]], place)
        assert found(place, forged[place:]), line
        count += 1
    assert count >= 10


def test_a_smaller_budget_is_found_and_a_larger_one_needs_the_head() -> None:
    smaller = rewritten(books(), 0, '"epsilon":100.0', '"epsilon":0.1')
    assert any("it takes the total above the budget" in error for error in verify(smaller).errors)
    larger = rewritten(books(), 0, '"epsilon":100.0', '"epsilon":200.0')
    assert not any("budget" in error for error in verify(larger[: first(books(), "checkpoint")]).errors)
    assert not verify(larger, expect_head=books()[-1].digest).sound
