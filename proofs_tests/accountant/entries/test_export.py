"""A ledger as JSON Lines: it comes back byte for byte, and nothing about a file can be changed unnoticed."""

import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    ApproxDP,
    BasicComposition,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant.audit.verification import verify
from accountant.canonical_json import canonical
from accountant.entries import export
from accountant.entries.chain import GENESIS, Kind
from accountant.entries.export import Header, open_export, read_export, save_export, write_export
from proofs_tests.support.ledgers.doubles import RandomizedResponse


def books() -> tuple[Entry, ...]:
    """Sound books with an entry of most kinds."""
    ledger = Ledger(ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    ledger.release(RandomizedResponse(0.5), data, account='Zoë, "the auditor"')
    team = ledger.allocate("team", 0.5)
    with team.reserve(Plan.of(PureDP(0.25), 3), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.25), data)
        charge.give_back()
    ledger.close_account("team")
    return tuple(ledger.entries)


BOOKS = books()


def exported(entries: tuple[Entry, ...] = BOOKS) -> str:
    out = io.StringIO()
    write_export(iter(entries), out)
    return out.getvalue()


TEXT = exported()


def found(text: str) -> bool:
    """Whether somebody who reads an export and verifies it is told that something is wrong."""
    try:
        return not verify(read_export(text.splitlines(keepends=True))).sound
    except ValueError as error:
        return str(error).startswith("line ")


# --- there and back ------------------------------------------------------------------------------------------------


def test_books_come_back_as_they_were_and_still_verify() -> None:
    entries = tuple(read_export(TEXT.splitlines(keepends=True)))
    assert entries == BOOKS
    assert verify(entries).errors == ()
    assert not found(TEXT)
    assert {entry.kind for entry in entries} == {"opened", "charged", "released", "returned", "allocated", "closed"}


entries_of_any_kind = st.builds(
    Entry,
    number=st.integers(0, 10**30),
    kind=cast("st.SearchStrategy[Kind]", st.text()),
    line=st.text() | st.just('{"id":"abc"}'),
    digest=st.text(),
)


@given(st.lists(entries_of_any_kind, max_size=4))
def test_whatever_stands_in_a_damaged_store_is_kept_as_evidence(entries: list[Entry]) -> None:
    text = exported(tuple(entries))
    assert text.isascii()
    assert text.count("\n") == len(entries) + 1
    assert list(read_export(text.splitlines(keepends=True))) == entries
    assert list(read_export(text.split("\n")[:-1])) == entries


def test_the_recipe_of_the_docstring_verifies_the_chain_with_nothing_of_ours() -> None:
    first, *rest = TEXT.split("\n")[:-1]
    header, before = json.loads(first), "0" * 64
    for number, line in enumerate(rest):
        entry = json.loads(line)
        before = hashlib.sha256((before + entry["line"]).encode("ascii")).hexdigest()
        assert before == entry["digest"]
        inner = json.loads(entry["line"])
        assert (inner["number"], inner["kind"]) == (entry["number"], entry["kind"]) == (number, entry["kind"])
    assert (header["entries"], header["head"]) == (len(rest), before)
    assert header["id"] == json.loads(json.loads(rest[0])["line"])["id"]
    assert list(header) == sorted(header)


def test_the_first_line_is_what_the_docstring_shows() -> None:
    head, name = BOOKS[-1].digest, json.loads(BOOKS[0].line)["id"]
    assert TEXT.split("\n")[0] == (
        f'{{"entries":{len(BOOKS)},"exchequer":"ledger","head":"{head}","id":"{name}","schema":1}}'
    )
    assert exported(()) == f'{{"entries":0,"exchequer":"ledger","head":"{GENESIS}","id":"","schema":1}}\n'
    assert list(read_export([exported(())])) == []


def test_entries_are_read_one_by_one() -> None:
    """So that a large export never stands in memory."""
    lines, taken = TEXT.splitlines(keepends=True), 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    reader = read_export(counted())
    assert next(reader) == BOOKS[0]
    assert taken == 2


# --- every change is noticed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", range(4))
def test_every_changed_lost_or_doubled_character_is_noticed(step: int) -> None:
    """Everywhere; the line feed at the very end is the one character without which nothing is lost."""
    for place in range(step, len(TEXT), 4):
        old, before, after = TEXT[place], TEXT[:place], TEXT[place + 1 :]
        other = chr(32 + (ord(old) * 7 + place) % 95)
        for new in {other, "1" if old == "0" else "0", " ", "\n"} - {old}:
            assert found(before + new + after), (place, new)
        assert found(before + after) or place == len(TEXT) - 1, place
        assert found(before + old + old + after), place


@given(st.integers(0, len(TEXT) - 1), st.characters())
def test_any_other_character_is_noticed(place: int, new: str) -> None:
    text = TEXT[:place] + new + TEXT[place + 1 :]
    assert found(text) == (text != TEXT)


@given(st.data())
def test_lost_swapped_doubled_and_cut_off_lines_are_noticed(data: st.DataObject) -> None:
    lines = TEXT.splitlines(keepends=True)
    one, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in "ab")
    swapped = list(lines)
    swapped[one], swapped[other] = lines[other], lines[one]
    assert found("".join(swapped)) == (one != other)
    assert found("".join(lines[:one] + lines[one + 1 :]))
    assert found("".join(lines[: one + 1] + lines[one:]))
    assert found("".join(lines[:one]))


# --- what is wrong is said by line ---------------------------------------------------------------------------------

LINES = TEXT.splitlines(keepends=True)
SECOND = json.loads(LINES[1])


def edited(**parts: object) -> str:
    return canonical({**SECOND, **parts}) + "\n"


def header(**parts: object) -> str:
    return canonical({**json.loads(LINES[0]), **parts}) + "\n"


WRONG: dict[str, tuple[list[str], str]] = {
    "nothing at all": ([], "line 1: not JSON"),
    "an empty line": (["\n"], "line 1: not JSON"),
    "another file": (['{"format":"exchequer-model"}'], "line 1: not an export of a ledger"),
    "a list": (["[]"], "line 1: expected an object, got a list"),
    "too new": ([header(schema=2, more=[]), *LINES[1:]], "line 1: an export of schema 2; this version reads 1"),
    "a strange schema": ([header(schema="1")], "line 1: schema: expected 1, got '1'"),
    "true for a schema": ([header(schema=True)], "line 1: schema: expected 1, got True"),
    "schema 0": ([header(schema=0)], "line 1: schema: expected 1, got 0"),
    "no number": ([header(entries="7")], "line 1: entries: expected a whole number"),
    "a negative number": ([header(entries=-1)], "line 1: entries: expected a whole number"),
    "a part too many": ([header(note="x")], r"line 1: missing \[\], unknown \['note'\]"),
    "another id": ([header(id="x"), *LINES[1:]], "line 2: this ledger has another id than line 1 says, 'x'"),
    "another head": ([header(head=GENESIS), *LINES[1:]], "line 1: its head and id are not those of the entries"),
    "an id of nothing": ([header(entries=0, head=GENESIS)], "line 1: its head and id are not those of the entries"),
    "a head of nothing": ([header(entries=0)], "line 1: its head and id are not those of the entries"),
    "cut off": (LINES[:3], f"line 4: the export is cut off here: it holds 2 of {len(BOOKS)} entries"),
    "too long": ([*LINES, LINES[-1]], f"line {len(LINES) + 1}: more follows after the {len(BOOKS)} entries"),
    "a blank line behind": ([*LINES, "\n"], f"line {len(LINES) + 1}: more follows"),
    "spaces": ([LINES[0], LINES[1].replace(":", ": ", 1)], "line 2: not as it was exported"),
    "a part said twice": ([LINES[0], LINES[1].replace("{", '{"digest":"0",', 1)], "line 2: not as it was exported"),
    "a part missing": ([LINES[0], '{"digest":"","kind":"","number":0}'], r"line 2: missing \['line'\]"),
    "a number for a text": ([LINES[0], edited(line=7)], "line 2: line: expected a text, got a int"),
    "true for a number": ([LINES[0], edited(number=True)], "line 2: number: expected a whole number"),
    "not a number": ([LINES[0], edited(number=0).replace('"number":0', '"number":NaN')], "line 2: not as it was"),
    "a huge number": ([LINES[0], edited(number=0).replace('"number":0', '"number":' + "9" * 9999)], "line 2: not JSON"),
    "deep nesting": (["[" * 10**6], "line 1: nested too deeply"),
    "deep nesting inside": (
        [LINES[0], edited(line="{" * 9).replace('"number":0', '"number":' + "[" * 10**6)],
        "deeply",
    ),
    "not ASCII": ([LINES[0], LINES[1].replace("opened", "öffnet", 1)], "line 2: not ASCII"),
    "a zero byte": (["\0" * 9], "line 1: not JSON"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_said_by_line(fault: str) -> None:
    lines, message = WRONG[fault]
    with pytest.raises(ValueError, match=message) as refused:
        list(read_export(lines))
    assert len(str(refused.value)) <= 300


def test_a_bad_first_line_is_refused_before_any_entry_is_asked_for() -> None:
    with pytest.raises(ValueError, match="line 1"):
        read_export(iter(["{}"]))


# --- files ---------------------------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = tmp_path / "books.jsonl"
    told = save_export(iter(BOOKS), place)
    assert place.read_bytes() == TEXT.encode("ascii")
    with open_export(place) as (header, entries):
        assert header == told == Header(len(BOOKS), BOOKS[-1].digest, json.loads(BOOKS[0].line)["id"])
        assert tuple(entries) == BOOKS


@given(content=st.binary(max_size=200) | st.binary(max_size=50).map(lambda tail: TEXT.encode() + tail))
def test_no_content_of_a_file_is_more_than_a_clear_refusal(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("hostile") / "books.jsonl"
    place.write_bytes(content)
    if content == TEXT.encode():
        return
    with pytest.raises(ValueError, match=r"books\.jsonl: line \d+: "), open_export(place) as (_, entries):
        list(entries)


def test_a_line_that_is_too_long_for_memory_is_not_read_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "LONGEST", 500)
    place = tmp_path / "books.jsonl"
    place.write_text(f"{LINES[0]}{'x' * 5000}\n")
    with pytest.raises(ValueError, match="line 2: longer than 500 characters"), open_export(place) as (_, entries):
        list(entries)


def broken_off(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    yield from entries
    raise OSError("the database went away")


def test_an_export_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "books.jsonl"
    place.write_text("the old one")
    with pytest.raises(OSError, match="went away"):
        save_export(broken_off(BOOKS), place)
    assert place.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [place]
    save_export(BOOKS, place)
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_is_followed_and_a_device_is_written_to(tmp_path: Path) -> None:
    place, link = tmp_path / "books.jsonl", tmp_path / "newest"
    link.symlink_to(place)
    save_export(BOOKS, link)
    assert link.is_symlink()
    assert place.read_text() == TEXT
    save_export(BOOKS, os.devnull)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_many_entries_pass_through_a_temporary_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "IN_MEMORY", 100)
    assert exported() == TEXT
