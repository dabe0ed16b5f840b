"""A part of a ledger: it is verified as strictly as the whole from there on, and never called plainly sound."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import Entry, LedgerBroken
from accountant.audit import Verification, verify
from accountant.audit.outlook import Window, time_of
from accountant.audit.parts import is_part, open_part, verify_part, write_part
from accountant.audit.parts.part_file import PartHeader
from accountant.canonical_json import canonical
from accountant.entries import open_export
from proofs_tests.support.ledgers.books import rewritten, sound_books


@attrs.frozen
class Held:
    """Entries in memory, that can be read from any of them on."""

    entries: Sequence[Entry]

    def __len__(self) -> int:
        return len(self.entries)

    def since(self, start: int) -> Iterator[Entry]:
        """From that number on."""
        return iter(self.entries[start:])


BOOKS = sound_books(120)
TIMES = [time_of(entry) for entry in BOOKS]


def written(entries: Sequence[Entry], first: int, last: int) -> tuple[PartHeader | None, str]:
    out = io.StringIO()
    end = time_of(entries[last]) + 1
    return write_part(Held(entries), Window(time_of(entries[first]), end), out), out.getvalue()


def found(path: Path, **asked: str) -> Verification:
    with open_part(path) as (header, entries):
        return verify_part(header, entries, **asked)  # type: ignore[arg-type]  # texts


@pytest.fixture
def part(tmp_path: Path) -> Path:
    path = tmp_path / "part.jsonl"
    path.write_text(written(BOOKS, 40, 90)[1], encoding="ascii")
    return path


@settings(max_examples=30)
@given(st.integers(1, 118), st.integers(0, 119))
def test_every_part_of_sound_books_adds_up_with_caveats(first: int, more: int) -> None:
    last = min(first + more, len(BOOKS) - 1)
    header, text = written(BOOKS, first, last)
    assert header is not None
    lines = text.splitlines()
    assert len(lines) == header.entries + 1
    assert (header.first, header.before) == (first, BOOKS[first - 1].digest)
    entries = [Entry(**json.loads(line)) for line in lines[1:]]
    result = verify_part(header, entries, expect_head=BOOKS[last].digest)
    assert (result.errors, result.verdict, result.head) == ((), "with caveats", header.head)
    assert result.entries == len(entries)
    assert any(
        f"part of a ledger, entries {first} to {first + len(entries) - 1} of 120" in each for each in result.caveats
    )
    assert any(header.before in note for note in result.notes)


def test_a_part_from_the_first_entry_on_is_a_whole_export(tmp_path: Path) -> None:
    out = io.StringIO()
    assert write_part(Held(BOOKS), Window(None, TIMES[60]), out) is None
    path = tmp_path / "whole.jsonl"
    path.write_text(out.getvalue(), encoding="ascii")
    assert not is_part(path)
    with open_export(path) as (header, entries):
        assert (header.entries, header.head) == (60, BOOKS[59].digest)
        assert verify(entries).sound


@settings(max_examples=150)
@given(st.data())
def test_no_character_of_its_entries_can_be_changed(data: st.DataObject) -> None:
    header, text = written(BOOKS, 40, 60)
    assert header is not None
    lines = text.splitlines()
    number = data.draw(st.integers(1, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[number]) - 1))
    letter = data.draw(st.sampled_from('0123456789abcdefp"{},:-x '))
    changed = lines[number][:place] + letter + lines[number][place + 1 :]
    if changed == lines[number]:
        return
    lines[number] = changed
    try:
        entries = [Entry(**json.loads(line)) for line in lines[1:]]
    except (TypeError, ValueError):
        return  # no entry any more
    assert verify_part(header, entries).verdict == "not sound"


def changed(path: Path, change: Callable[[list[str]], None]) -> Path:
    lines = path.read_text(encoding="ascii").splitlines()
    change(lines)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines.pop(), "is cut off here: it holds 50 of 51"),
        (lambda lines: lines.append(lines[-1]), "more follows"),
        (lambda lines: lines.__setitem__(3, lines[3].replace(":", ": ", 1)), "line 4: expected an object"),
        (lambda lines: lines.__setitem__(0, lines[0].replace('"of":120', '"of":"120"')), "whole numbers"),
        (lambda lines: lines.__setitem__(0, lines[0].replace('"schema":1', '"schema":2')), "schema 1"),
        (lambda lines: lines.__setitem__(0, lines[0].replace('"accounts":[', '"accounts":[1,')), "nobody can start"),
    ],
)
def test_a_damaged_file_is_refused(part: Path, change: Callable[[list[str]], None], reason: str) -> None:
    changed(part, change)
    with pytest.raises(ValueError, match=reason):
        found(part)


def header_with(**parts: object) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[0] = canonical({**json.loads(lines[0]), **parts})

    return change


def test_what_its_first_line_claims_is_compared_where_it_can_be(part: Path) -> None:
    text = part.read_text(encoding="ascii")
    header = json.loads(text.splitlines()[0])
    assert is_part(part)
    assert found(part, expect_head=header["before"]).errors == ()
    assert "that was expected" in found(part, expect_head="0" * 64).errors[0]
    state = json.loads(json.dumps(header["state"]).replace(header["state"]["accounts"][0]["drawn"]["loss"], "0p0"))
    for parts in (
        {"before": "0" * 64},
        {"id": "0" * 32},
        {"of": 50},
        {"first": header["first"] + 1},
        {"state": state},
        {"opened": header["opened"].replace("replace-one", "add-remove-one")},
    ):
        part.write_text(text, encoding="ascii")
        assert found(changed(part, header_with(**parts))).verdict == "not sound", parts


def test_more_before_it_than_the_budget_is_an_error(part: Path) -> None:
    header = json.loads(part.read_text(encoding="ascii").splitlines()[0])
    root = header["state"]["accounts"][0]
    state = {**header["state"], "accounts": [{**root, "drawn": {**root["drawn"], "loss": "1p20"}}]}
    state["open"] = []
    assert "comes to more than 'the budget' has" in found(changed(part, header_with(state=state))).errors[0]


def test_nothing_is_exported_of_books_that_do_not_hold_or_of_no_entry() -> None:
    forged = [*rewritten(BOOKS, 5, '"used":[]', '"used":[[]]')[:6], *BOOKS[6:]]
    with pytest.raises(LedgerBroken, match="does not hold together"):
        written(forged, 40, 60)
    with pytest.raises(ValueError, match="no entry was written in that time"):
        write_part(Held(BOOKS), Window(TIMES[-1] + 1, None), io.StringIO())


def test_an_error_inside_a_part_is_found_though_the_digests_are_made_anew() -> None:
    place = next(entry.number for entry in BOOKS if entry.kind == "charged" and entry.number > 50)
    forged = rewritten(BOOKS, place, '"rounds":1', '"rounds":2')
    header, text = written(forged, 40, 90)
    assert header is not None
    entries = [Entry(**json.loads(line)) for line in text.splitlines()[1:]]
    result = verify_part(header, entries)
    assert result.verdict == "not sound"
    assert f"entry {place}: " in result.errors[0]
