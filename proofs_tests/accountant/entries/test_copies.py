"""What a copy of a ledger's SQLite file holds, and what it lacks where a writer was killed in a charge."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from accountant import BasicComposition, Ledger, LedgerBroken, PureDP, ReplaceOne
from exchequer.commands.ledgers.open_ledger import reading
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import folder as folder

ROOT = Path(__file__).parents[3]
URL = "sqlite:///study.db"


def spend_until_killed() -> None:
    """Release, and tell the head, until a charge needs the file to grow: the system then kills the writer.

    SQLite writes the pages of a commit in order, those that are new at the end. So the process dies with the old pages
    rewritten, the new one missing, and the journal in place.
    """
    with Ledger.open(URL) as ledger:
        data = ledger.protect(True)
        size = os.path.getsize("study.db")
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        for _ in range(1000):
            ledger.release(RandomizedResponse(2.0**-20), data)
            sys.stdout.write(f"{ledger.head}\n")
            sys.stdout.flush()


@pytest.fixture
def kept(folder: Path) -> str:
    """The head that was kept of study.db, in which a writer was killed after it."""
    with Ledger.open(URL, PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        for _ in range(20):
            ledger.release(RandomizedResponse(2.0**-20), ledger.protect(True))
        head = ledger.head
    program = "from proofs_tests.accountant.entries.test_copies import spend_until_killed as work; work()"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    killed = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        env=env,
    )
    assert killed.returncode == -signal.SIGXFSZ, killed.stderr
    assert os.path.getsize("study.db-journal") > 512, "no hot journal: this test tests nothing"
    return (killed.stdout.split() or [head])[-1]


def is_whole(name: str, head: str) -> bool:
    """Whether a copy can be opened, and holds together up to the head that was kept."""
    with Ledger.open(f"sqlite:///{name}", expect_head=head) as ledger:
        return ledger.verify(expect_head=head).sound


def test_a_bare_copy_beside_a_hot_journal_is_no_ledger(kept: str) -> None:
    shutil.copy("study.db", "bare.db")
    with pytest.raises(LedgerBroken, match=r"malformed.*its -journal may have been left behind"):
        Ledger.open("sqlite:///bare.db")
    for part in ("", "-journal"):
        shutil.copy(f"study.db{part}", f"both.db{part}")
    assert is_whole("both.db", kept)
    assert is_whole("study.db", kept)


def test_copies_made_as_the_documents_say_are_whole(kept: str) -> None:
    """The first to read puts the journal back, whichever it is; so each begins with a hot one."""
    parts = ("", "-journal")
    for part in parts:
        shutil.copy(f"study.db{part}", f"second.db{part}")
        shutil.copy(f"study.db{part}", f"third.db{part}")
    with sqlite3.connect("study.db") as connection, sqlite3.connect("backup.db") as copy:
        connection.backup(copy)
    with sqlite3.connect("second.db") as connection:
        connection.execute("VACUUM INTO 'vacuumed.db'")
    assert is_whole("backup.db", kept)
    assert is_whole("vacuumed.db", kept)
    with reading("third.db") as books:
        assert kept in {entry.digest for entry in books}


def test_between_two_turns_the_file_is_the_whole_ledger(kept: str) -> None:
    Ledger.open(URL).close()  # puts the journal back
    shutil.copy("study.db", "bare.db")
    assert is_whole("bare.db", kept)


def test_the_documents_say_so() -> None:
    for path in ("accountant/storage/sql_store.py", "LEDGER.md"):
        text = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert "lacks nothing" not in text
        assert "so the one file is the whole ledger" not in text
        assert "VACUUM INTO" in text
        assert ".backup copy.db" in text
