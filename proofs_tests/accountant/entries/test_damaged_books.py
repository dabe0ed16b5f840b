"""Books that hold nonsense: a finding, at once, and never a crash; and nothing of it reaches a terminal as it is."""

import json
import re
import time
import tracemalloc
from collections.abc import Callable
from typing import cast

import pytest

from accountant import BasicComposition, Entry, PureDP
from accountant.audit import verification
from accountant.audit.verification import verify
from accountant.composition.rules import amount_from_record, amount_record
from accountant.entries.chain import digest_of
from accountant.entries.entry_kinds import LONGEST_LINE, DamagedEntry, Record
from proofs_tests.support.ledgers.books import appended, first, rechained, relabelled, rewritten, sound_books

BOOKS = sound_books(120)
CHARGE = first(BOOKS, "charged", '"priced":null')
PRICED = first(BOOKS, "charged", '"priced":{')
ALLOCATED = first(BOOKS, "allocated", '"account":"team-1"')


def errors(entries: list[Entry]) -> tuple[str, ...]:
    return verify(entries).errors


def json_time(entry: Entry) -> str:
    return f'"time":{json.loads(entry.line)["time"]}'


LINE = BOOKS[CHARGE].line


def instead(pattern: str, new: str, line: str = LINE) -> str:
    """The line with what the pattern finds first replaced."""
    changed, count = re.subn(pattern, lambda _: new, line, count=1)
    assert count == 1
    return changed


AMOUNT, ROUNDS, WHEN = r'(?<="loss":")[^"]*', r'(?<="rounds":)\d+', r'(?<="time":)\d+'
NONSENSE: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "no object": lambda: "[]",
    "a number": lambda: "1",
    "null": lambda: "null",
    "an empty object": lambda: "{}",
    "a kind that is a list": lambda: instead('"charged"', '["charged"]'),
    "half a line": lambda: LINE[:200],
    "a line feed": lambda: LINE + "\n",
    "deep lists": lambda: "[" * 10**6,
    "deep objects": lambda: '{"a":' * 10**5 + "1" + "}" * 10**5,
    "a deep part": lambda: instead('"zeta":null', '"zeta":' + "[" * 900 + "]" * 900),
    "a time of 4300 digits": lambda: instead(WHEN, "9" * 4300),
    "a time of 5000 digits": lambda: instead(WHEN, "9" * 5000),
    "rounds of 400 digits": lambda: instead(ROUNDS, "9" * 400),
    "rounds of 4300 digits": lambda: instead(ROUNDS, "9" * 4300),
    "an amount of 2^999999999": lambda: instead(AMOUNT, "1p999999999"),
    "an amount of 2^-999999999": lambda: instead(AMOUNT, "1p-999999999"),
    "an exponent of many digits": lambda: instead(AMOUNT, "1p" + "9" * 5000),
    "an amount of many digits": lambda: instead(AMOUNT, "f" * 10**6 + "p-5"),
    "an amount of very many digits, very small": lambda: instead(AMOUNT, "f" * 10**6 + "p-9999999"),
    "no exponent": lambda: instead(AMOUNT, "1p"),
    "no digits": lambda: instead(AMOUNT, "p-5"),
    "an infinite cost": lambda: instead(r'(?<="epsilon":)[^,]+(?=,"kind")', "1e999"),
    "the largest cost": lambda: instead(r'(?<="epsilon":)[^,]+(?=,"kind")', "1.7976931348623157e+308"),
    "the smallest cost": lambda: instead(r'(?<="epsilon":)[^,]+(?=,"kind")', "5e-324"),
    "a path of a million parts": lambda: instead('"main"', '"' + "a/" * 10**6 + '"'),
    "a priced plan of 400 digits of rounds": lambda: instead(ROUNDS, "9" * 400, BOOKS[PRICED].line),
    "a priced plan of 10^9 rounds": lambda: instead(ROUNDS, "1000000000", BOOKS[PRICED].line),
    "a priced plan of tiny costs": lambda: instead(r'(?<="epsilon":)[^,]+(?=,"kind":"b)', "1e-300", BOOKS[PRICED].line),
    "a priced plan of huge costs": lambda: instead(r'(?<="epsilon":)[^,]+(?=,"kind":"b)', "1e+300", BOOKS[PRICED].line),
}  # fmt: skip


@pytest.mark.parametrize("what", sorted(NONSENSE))
def test_nonsense_is_a_finding_at_once_and_never_a_crash(what: str) -> None:
    line = NONSENSE[what]()
    line = re.sub(f'"number":({CHARGE}|{PRICED}),', f'"number":{len(BOOKS)},', line)
    forged = appended(BOOKS, "charged", line.replace(json_time(BOOKS[CHARGE]), json_time(BOOKS[-1])))
    tracemalloc.start()
    start = time.process_time()
    found = errors(forged)
    taken, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found
    assert all(error.startswith(f"entry {len(BOOKS)}: ") and len(error) < 400 for error in found), found
    assert taken < 20.0
    assert peak < 100e6


def test_a_line_that_is_too_long_is_not_parsed() -> None:
    found = errors(appended(BOOKS, "charged", '"' + "x" * LONGEST_LINE + '"'))
    assert found == (f"entry 120: it cannot be read (its line is longer than {LONGEST_LINE} characters)",)


@pytest.mark.parametrize("line", [None, 7, b"{}", LINE.encode(), "é" + LINE, "\ud800"])
def test_what_is_no_text_in_ascii_is_a_finding(line: object) -> None:
    """As a file could hold that somebody wrote to without asking."""
    digest = digest_of(BOOKS[-1].digest, str(line)) if str(line).isascii() else BOOKS[-1].digest
    forged = Entry(120, "charged", cast("str", line), digest)
    found = errors([*BOOKS, forged, *rechained([*BOOKS, BOOKS[1]], 120)[120:]])
    assert "entry 120: its digest does not match its content and the entry before it" in found
    assert "entry 120: it cannot be read (its line is not a text in ASCII)" in found


@pytest.mark.parametrize("column", ["number", "kind", "digest"])
@pytest.mark.parametrize(
    "value",
    [None, 1.5, b"opened", "é", "\ud800", (), 10**4000],
    ids=["none", "float", "bytes", "letter", "surrogate", "tuple", "huge"],
)
def test_columns_of_another_type_are_findings(column: str, value: object) -> None:
    changed = relabelled(BOOKS[60], column, value)
    found = verify([*BOOKS[:60], changed, *BOOKS[61:]])
    assert not found.sound
    assert str(found)
    assert not verify([*BOOKS[:60], changed]).sound


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), DamagedEntry("\x1b[2J \ud800")])
def test_whatever_reading_raises_is_a_finding(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(entry: Entry) -> Record:
        raise error

    monkeypatch.setattr(verification, "decode", fails)
    (found, _) = errors(list(BOOKS[:1]))
    assert found.startswith("entry 0: it cannot be ")
    assert found.isprintable()


def test_findings_are_fit_for_a_terminal() -> None:
    """Whatever the ledger says: no control characters, no halves of characters, nothing endless."""
    for name in ("\\u001b[2J", "\\ud800", "x" * 10**5):
        forged = rewritten(BOOKS, ALLOCATED, '"account":"team-1"', f'"account":"{name}/y"')
        text = str(verify(forged))
        assert "for it to be in" in text or "…" in text
        assert text.replace("\n", "").isprintable()
        assert len(max(text.splitlines(), key=len)) < 400


# --- amounts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["1p-1075", "1p1075", "2p-5", "01p-5", "0x1p-5", "1_1p-5", "1P-5", "Fp-5", " 1p-5", "1p-05", "1p+5", "0p1",
             "-1p-5", "-1p-1074", "1p-5p", "1", "", "p", "1p", "p1", "1p1.0", "ｆp-5", "1p-5 "],
)  # fmt: skip
def test_an_amount_is_written_in_one_way_only(text: str) -> None:
    with pytest.raises(ValueError, match=r"amount|invalid literal"):
        amount_from_record({"delta": "0p0", "loss": text})


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-300, 0.1, 1.0, 3.0, 1e300, 1.7976931348623157e308])
def test_amounts_are_read_as_they_were_written(value: float) -> None:
    amount = BasicComposition().amount(PureDP(value))
    assert amount_from_record(amount_record(amount)) == amount
