"""Long ledgers on the command line: `show` believes a checkpoint and says so, `verify --since` reads what is new."""

import sqlite3

import pytest

from accountant import Ledger
from accountant.entries.chain import Entry, digest_of
from exchequer.commands.auditing import show_ledger
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import record, refused, said, tampered
from proofs_tests.support.ledgers.ledger_runs import study as study

URL = "sqlite:///study.db"


@pytest.fixture
def long(study: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A ledger whose checkpoint counts as one of a long ledger, and three more releases; the head before them."""
    monkeypatch.setattr(show_ledger, "BELIEVED_FROM", 0)
    with Ledger.open(URL) as ledger:
        ledger.release(RandomizedResponse(0.01), ledger.protect(True), account="main")
        ledger._writer.write_checkpoint()
        ledger.release(RandomizedResponse(0.01), ledger.protect(True), account="main")
        head = ledger.head
        for _ in range(3):
            ledger.release(RandomizedResponse(0.01), ledger.protect(True), account="main")
    return head


def test_show_says_that_it_believes_a_checkpoint(long: str) -> None:
    with Ledger.open(URL) as ledger:
        head, spent, statement = ledger.head, ledger.spent, ledger.statement()
    found, whole = record("show", "study.db"), record("show", "study.db", "--whole")
    for name in ("accounts", "spent", "newest", "head", "entries", "budget", "id"):
        assert found[name] == whole[name]
    assert (found["head"], found["spent"]) == (head, spent.as_dict())
    assert (found["statement"], found["drawn"]) == (None, None)
    assert whole["statement"]["guarantee"] == statement.guarantee  # type: ignore[index]  # JSON
    assert "checkpoint" not in whole
    text = said("show", "study.db")
    assert f"Entries before number {found['checkpoint']} were not read: the checkpoint there is believed" in text
    assert "`exchequer ledger verify`" in text
    assert statement.guarantee not in text
    assert "differential" not in text  # it promises nothing of noise that it has not looked at
    part = record("show", "study.db", "--account", "team-a")
    assert part["accounts"] == record("show", "study.db", "--account", "team-a", "--whole")["accounts"]


def rewrite(number: int, old: str, new: str) -> None:
    """Change one entry, and the digests from there on, as who owns the database can."""
    with sqlite3.connect("study.db") as connection:
        connection.execute("DROP TRIGGER exchequer_entries_no_update")
        rows = connection.execute("SELECT number, kind, line, digest FROM exchequer_entries ORDER BY number").fetchall()
        entries = [Entry(*row) for row in rows]
        assert old in entries[number].line
        before = entries[number - 1].digest
        for entry in entries[number:]:
            line = entry.line.replace(old, new) if entry.number == number else entry.line
            before = digest_of(before, line)
            connection.execute(
                "UPDATE exchequer_entries SET line = ?, digest = ? WHERE number = ?", (line, before, entry.number)
            )
    connection.close()


def test_verify_since_a_kept_head(long: str) -> None:
    found = record("verify", "study.db", "--since", long, code=3)
    assert found["since"] == {"head": long, "new": 6, "checkpoint": 10}
    assert (found["verdict"], found["errors"]) == ("with caveats", [])
    text = said("verify", "study.db", "--since", long.upper(), code=3)
    assert "WITH CAVEATS since the kept head, 6 new of 19 entries" in text
    assert "the kept head vouches for the checkpoint there" in text
    assert "the first entry promises ε = 2 by 'basic' under replace-one: compare that with what you know" in text
    said("export", "study.db", "--out", "ledger.jsonl")
    assert record("verify", "ledger.jsonl", "--since", long, code=3)["since"]["new"] == 6  # type: ignore[index]  # JSON


def test_what_was_written_since_is_not_believed(long: str) -> None:
    rewrite(15, '"epsilon":0.01,"kind"', '"epsilon":0.001,"kind"')
    text = said("verify", "study.db", "--since", long, code=1)
    assert "NOT SOUND since the kept head" in text
    assert "its running total is not the sum" in text


def test_a_ledger_that_never_had_the_kept_head(long: str) -> None:
    rewrite(3, '"kind":', ' "kind":')
    assert "the kept head is unknown" in said("verify", "study.db", "--since", long, code=1)
    found = record("verify", "study.db", "--since", "f" * 64, code=1)
    assert found["since"] == {"head": "f" * 64, "new": None, "checkpoint": None}


def test_what_since_cannot_do_is_refused(long: str) -> None:
    assert "expected 64 hexadecimal digits" in refused("verify", "study.db", "--since", "abc")
    for option in (["--second-opinion"], ["--expect-head", long]):
        assert "--since: it reads the new part alone" in refused("verify", "study.db", "--since", long, *option)


def test_diff_with_a_head_finds_what_was_changed_under_it(long: str) -> None:
    """The ledger is compared with itself, so digests must be computed: stored ones may stay as they were."""
    assert "nothing before was changed" in said("diff", long, "study.db")
    copy = tampered("""UPDATE exchequer_entries SET line = replace(line, '"time":1', '"time":2') WHERE number = 1""")
    assert "entry 1 is not the one that stood there" in refused("diff", long, copy)
