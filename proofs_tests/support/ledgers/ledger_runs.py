"""`exchequer ledger` in tests: run for real, on a ledger that has been spent from."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from accountant import BasicComposition, Ledger, Plan, PureDP, ReplaceOne
from exchequer.cli import main
from proofs_tests.support.ledgers.doubles import RandomizedResponse

CAVEATS = 3
"""The exit code for books that add up and hold, as those of `study` do, simulated noise."""


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    """What became of `exchequer ...`, called with no ledger in the environment."""
    return CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100", **(env or {})})


def ended(code: int, *arguments: str) -> Result:
    """The result of `exchequer ledger ...`, which ended with this code, and without a traceback."""
    result = run("ledger", *arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def said(*arguments: str, code: int = 0) -> str:
    """What a command printed that ended with this code, on one line."""
    return " ".join(ended(code, *arguments).stdout.split())


def refused(*arguments: str) -> str:
    """The one line on standard error of a command that did nothing."""
    result = ended(2, *arguments)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def record(*arguments: str, code: int = 0) -> dict[str, object]:
    """The JSON that a command printed."""
    parsed: dict[str, object] = json.loads(ended(code, *arguments, "--json").stdout)
    return parsed


def words(value: object) -> str:
    """A list from JSON as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def spend(url: str, epsilon: float, account: str = "main", times: int = 1) -> str:
    """Releases on a ledger; its head afterwards."""
    with Ledger.open(url) as ledger:
        data = ledger.protect(True)
        for _ in range(times):
            ledger.release(RandomizedResponse(epsilon), data, account=account)
        return ledger.head


def tampered(statement: str, copy: str = "bad.db") -> str:
    """A copy of study.db whose triggers are gone, and that was changed."""
    shutil.copy("study.db", copy)
    with sqlite3.connect(copy) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
    connection.close()
    return copy


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def study(folder: Path) -> str:
    """The head of study.db, which has spent 0.5 of its epsilon 2: on the whole, on team-a and below it."""
    with Ledger.open(
        "sqlite:///study.db", PureDP(2.0), composition=BasicComposition(), adjacency=ReplaceOne()
    ) as ledger:
        data = ledger.protect(True)
        ledger.release(RandomizedResponse(0.25), data, account="first look")
        team = ledger.allocate("team-a", 0.5)
        team.release(RandomizedResponse(0.125), data, account="boost")
        with team.reserve(Plan.of(PureDP(0.0625), 2), adjacency=ReplaceOne()) as charge:
            for _ in range(2):
                charge.release(RandomizedResponse(0.0625), data)
        return ledger.head
