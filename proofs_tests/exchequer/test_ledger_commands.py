"""The auditor's command line, run for real on small ledgers."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from accountant import (
    ZCDP,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    FeatureValue,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.receipts import PublicKey, SigningKey
from accountant.sql_store import Access, SqlStore
from accountant.trail import Entry
from benchmarks.postgres import Server
from exchequer import claims, show
from exchequer.books import Books, reading, without_password
from exchequer.cli import main
from exchequer.ledger_commands import ledger as group
from proofs_tests.support.doubles import RandomizedResponse
from proofs_tests.support.registries import registries as registries

EVIL = "\x1b[31m[bold]team[/bold]\n\u202eb"
"""An account that would colour the terminal, be read as markup, add a line and turn the direction of writing."""

ROOT = Path(__file__).parents[2]


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100", **(env or {})})


def ended(code: int, *arguments: str) -> Result:
    """The result of `exchequer ledger ...`, which ended with this code, and without a traceback."""
    result = run("ledger", *arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def said(*arguments: str) -> str:
    """What a command that went well printed, on one line."""
    return " ".join(ended(0, *arguments).stdout.split())


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


# --- open ------------------------------------------------------------------------------------------------------


def test_open_begins_a_ledger_and_says_what_to_keep(folder: Path) -> None:
    result = said("open", "sqlite:///study.db", "--epsilon", "2", "--delta", "1e-6")
    with Ledger.open("sqlite:///study.db") as ledger:
        assert ledger.budget == ApproxDP(2.0, 1e-6)
        assert ledger.composition == BasicComposition()
        assert ledger.adjacency == AddRemoveOne()
        assert ledger.id in result
        assert ledger.head in result
    assert "A new ledger" in result
    assert "Keep the head" in result


@pytest.mark.parametrize(
    ("options", "budget", "rule", "adjacency"),
    [
        (["--rho", "0.5"], ZCDP(0.5), ZCDPComposition(), AddRemoveOne()),
        (["--epsilon", "1", "--adjacency", "replace-one"], PureDP(1.0), BasicComposition(), ReplaceOne()),
        (
            ["--epsilon", "1", "--delta", "1e-6", "--composition", "advanced", "--delta-prime", "5e-7"],
            ApproxDP(1.0, 1e-6),
            AdvancedComposition(5e-7),
            AddRemoveOne(),
        ),
        (
            ["--epsilon", "1", "--delta", "1e-6", "--composition", "zcdp", "--adjacency", "feature-value:3"],
            ApproxDP(1.0, 1e-6),
            ZCDPComposition(),
            FeatureValue(3),
        ),
    ],
)
def test_open_takes_every_promise(
    folder: Path, options: list[str], budget: object, rule: object, adjacency: object
) -> None:
    ended(0, "open", "sqlite:///study.db", *options)
    with Ledger.open("sqlite:///study.db") as ledger:
        assert (ledger.budget, ledger.composition, ledger.adjacency) == (budget, rule, adjacency)


def test_open_leaves_a_ledger_as_it_is(study: str) -> None:
    before = Path("study.db").read_bytes()
    for options in ([], ["--epsilon", "2"], ["--epsilon", "2", "--adjacency", "replace-one"]):
        result = said("open", "study.db", *options)
        assert "There is a ledger already" in result
        assert study in result
    assert "opened with PureDP(epsilon=2.0)" in refused("open", "study.db", "--epsilon", "3")
    assert "opened with ReplaceOne()" in refused("open", "study.db", "--epsilon", "2", "--adjacency", "add-remove-one")
    assert "opened with BasicComposition()" in refused("open", "study.db", "--composition", "zcdp")
    assert Path("study.db").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ([], "give its budget"),
        (["--epsilon", "0"], "--epsilon: "),
        (["--epsilon", "nan"], "--epsilon: "),
        (["--epsilon", "1", "--delta", "1"], "--delta: "),
        (["--delta", "0.1"], "--delta goes with --epsilon"),
        (["--rho", "1", "--epsilon", "1"], "--rho is a budget of its own"),
        (["--rho", "-1"], "--rho: "),
        (["--rho", "1", "--composition", "basic"], "basic composition cannot keep"),
        (["--epsilon", "1", "--composition", "advanced"], "needs --delta-prime"),
        (["--epsilon", "1", "--delta-prime", "1e-7"], "--delta-prime goes with"),
        (["--epsilon", "1", "--composition", "best"], "--composition"),
        (["--epsilon", "1", "--adjacency", "feature-value"], "--adjacency: "),
        (["--epsilon", "1", "--adjacency", "feature-value:-1"], "--adjacency: "),
        (["--epsilon", "1", "--adjacency", "neighbours"], "--adjacency: "),
    ],
)
def test_open_refuses_what_is_no_promise(folder: Path, options: list[str], culprit: str) -> None:
    assert culprit in refused("open", "sqlite:///study.db", *options)
    if Path("study.db").exists():  # the tables, perhaps, but no books
        assert "give its budget" in refused("open", "sqlite:///study.db")


def test_open_clears_up_after_a_writer_that_was_interrupted(study: str) -> None:
    tampered("SELECT 1", "half.db")
    connection = sqlite3.connect("half.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA cache_size = 2")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(100, 200):
        connection.execute(f"INSERT INTO exchequer_entries VALUES ({number}, 'charged', '{'x' * 3000}', 'y')")
    for name in ("half.db", "half.db-journal"):
        shutil.copy(name, name.replace("half", "crashed"))
    connection.close()
    assert "was interrupted" in refused("verify", "crashed.db")
    assert study in said("open", "crashed.db")
    assert "sound, 8 entries" in said("verify", "crashed.db", "--expect-head", study)


# --- sub-budgets and prices ------------------------------------------------------------------------------------


def test_allocate_and_close(folder: Path) -> None:
    ended(0, "open", "sqlite:///study.db", "--epsilon", "1", "--delta", "1e-6")
    assert "may spend Σε = 0.25, Σδ = 2.5e-07" in said("allocate", "study.db", "team-a", "--share", "0.25")
    assert "left in 'team-a' Σε = 0.15" in said("allocate", "study.db", "x", "--epsilon", "0.1", "--account", "team-a")
    assert "may spend Σε = 0.1, Σδ = 1e-08" in said("allocate", "study.db", "b", "--epsilon", "0.1", "--delta", "1e-8")
    assert "Σε = 0.216666" in said("allocate", "study.db", "third", "--share", "13/60")
    assert "close them first" in refused("close", "study.db", "team-a")
    assert "not spent Σε = 0.1 goes back to 'team-a'" in said("close", "study.db", "team-a/x")
    assert "not spent Σε = 0.25, Σδ = 2.5e-07 goes back to the whole budget" in said("close", "study.db", "team-a")
    assert "there is, or was" in refused("allocate", "study.db", "team-a", "--share", "0.1")
    for options in (["--share", "2"], ["--share", "x"], ["--share", "1/0"], [], ["--share", "0.1", "--rho", "1"]):
        assert "share" in refused("allocate", "study.db", "c", *options)
    assert "no sub-budget 'nobody'" in refused("allocate", "study.db", "c", "--share", "0.1", "--account", "nobody")
    assert "cannot keep ZCDP" in refused("allocate", "study.db", "c", "--rho", "0.1")
    assert "no sub-budget 'c'" in refused("close", "study.db", "c")
    assert "sound, 7 entries" in said("verify", "study.db")


def test_price_agrees_with_what_is_charged(study: str) -> None:
    before = Path("study.db").read_bytes()
    fits = record("price", "study.db", "--mechanism", "pure-dp:0.1@7", "--account", "team-a/next")
    assert fits["fits"] is True
    assert fits["account"] == "team-a"
    assert fits["left_before"] == {"loss": 0.75, "delta": 0.0}
    assert fits["left_after"] == {"loss": pytest.approx(0.05), "delta": 0.0}
    assert fits["spent_after"] == {"kind": "pure-dp", "epsilon": pytest.approx(1.2)}
    too_much = record("price", "study.db", "--mechanism", "pure-dp:0.1", "--rounds", "8", "--account", "team-a", code=1)
    assert too_much["fits"] is False
    assert too_much["left_after"] is too_much["spent_after"] is None
    assert "It fits. Nothing was spent." in said("price", "study.db", "--mechanism", "pure-dp:0.75")
    assert "it would be refused" in ended(1, "price", "study.db", "--mechanism", "pure-dp:0.7500001").stdout
    assert Path("study.db").read_bytes() == before
    spend("sqlite:///study.db", 0.75)


def test_price_of_a_plan_as_one_thing(folder: Path) -> None:
    ended(0, "open", "sqlite:///study.db", "--epsilon", "1", "--delta", "1e-6", "--adjacency", "replace-one")
    rounds = ("--mechanism", "bounded-range:0.01", "--rounds", "200")
    ended(1, "price", "study.db", *rounds)
    quoted = record("price", "study.db", *rounds, "--delta", "1e-7")
    with Ledger.open("sqlite:///study.db") as ledger:
        plan = Plan.of(RandomizedResponse(0.01, kind=_bounded_range()).cost, 200)
        with ledger.reserve(plan, adjacency=ReplaceOne(), delta=1e-7):
            pass
        assert quoted["spent_after"] == ledger.spent.as_dict()
    assert quoted["route"] == "bounded-range"
    assert "by bounded-range" in said("price", "study.db", *rounds, "--delta", "1e-8")


def _bounded_range() -> type:
    from accountant import BoundedRange

    return BoundedRange


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--mechanism", "magic:1"], "--mechanism 'magic:1': unknown kind"),
        (["--mechanism", "pure-dp:x"], "--mechanism 'pure-dp:x': "),
        (["--mechanism", "pure-dp:1@0"], "--mechanism 'pure-dp:1@0': "),
        (["--mechanism", "pure-dp:1@1000000"], "--rounds: "),
        (["--mechanism", "zcdp:1"], "--mechanism: basic composition cannot take"),
        (["--mechanism", "pure-dp:1", "--delta", "2"], "--delta: "),
        ([], "--mechanism"),
    ],
)
def test_price_refuses_what_is_no_plan(study: str, options: list[str], culprit: str) -> None:
    assert culprit in refused("price", "study.db", *options)


def test_a_closed_account_affords_nothing(study: str) -> None:
    ended(0, "close", "study.db", "team-a")
    result = ended(1, "price", "study.db", "--mechanism", "pure-dp:0.1", "--account", "team-a")
    assert "this sub-budget is closed" in result.stdout
    assert "closed" in said("show", "study.db").split("Accounts")[1]


# --- show ------------------------------------------------------------------------------------------------------


def test_show(study: str) -> None:
    result = said("show", "study.db")
    with Ledger.open("sqlite:///study.db") as ledger:
        assert ledger.statement().guarantee in result
        assert ledger.head in result
    assert "Accounts, in Σε" in result
    assert "(all of it) 2 0.5 0.75" in result
    assert "team-a 1 0.25 0.75" in result
    assert "All entries" in result
    assert "team-a/boost: RandomizedResponse(bit), 1 x pure-dp 0.125" in result
    last = said("show", "study.db", "--entries", "1")
    assert "The newest 1 of 8 entries" in last
    assert "charge 6" in last
    assert "first look:" not in last.split("Accounts")[1]
    assert "entries" not in said("show", "study.db", "--entries", "0").split("Accounts")[1]


def test_show_one_account(study: str) -> None:
    result = said("show", "study.db", "--account", "team-a")
    assert "from the sub-budget 'team-a' is" in result.replace("would together be", "is")
    assert "first look" not in result
    assert "team-a/boost: RandomizedResponse(bit), 1 x pure-dp 0.125" in result
    found = record("show", "study.db", "--account", "team-a", "--entries", "2")
    assert found["spent"] == {"kind": "pure-dp", "epsilon": 0.25}
    assert [account["account"] for account in found["accounts"]] == ["team-a"]  # type: ignore[attr-defined]  # JSON
    assert "there is no sub-budget 'team-b'; there are: team-a" in refused("show", "study.db", "--account", "team-b")


def test_show_as_json(study: str) -> None:
    found = record("show", "study.db", "--entries", "3")
    assert found["head"] == study
    assert found["entries"] == 8
    assert found["budget"] == {"kind": "pure-dp", "epsilon": 2.0}
    assert found["accounts"] == [
        {"account": name, "ceiling": {"loss": c, "delta": 0.0}, "drawn": {"loss": d, "delta": 0.0}, **rest}
        for name, c, d, rest in (
            ("", 2.0, 0.5, {"left": {"loss": 0.75, "delta": 0.0}, "closed": False}),
            ("team-a", 1.0, 0.25, {"left": {"loss": 0.75, "delta": 0.0}, "closed": False}),
        )
    ]
    newest = found["newest"]
    assert isinstance(newest, list)
    assert [each["entry"]["number"] for each in newest] == [5, 6, 7]
    assert newest[-1]["digest"] == study


def test_a_long_statement_is_cut_short_and_keeps_its_head(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchequer.overview.MOST_LINES", 8)
    short = ended(0, "show", "study.db").stdout.split("Accounts")[0]
    assert short.count("charged") == 1
    assert f"... 3 more lines head {study}" in " ".join(short.split())


# --- verify ----------------------------------------------------------------------------------------------------


def test_sound_books(study: str) -> None:
    result = ended(0, "verify", "study.db", "--expect-head", study)
    assert "sqlite:///study.db: sound, 8 entries" in result.stdout
    assert study in result.stdout
    assert "drew simulated noise" in result.stdout
    assert "claim" not in result.stdout
    assert ended(1, "verify", "study.db", "--strict").stdout.count("--strict: the notes count") == 1
    found = record("verify", "study.db")
    assert found["sound"] is True
    assert found["head"] == study
    assert found["errors"] == []
    assert record("verify", "study.db", "--strict", code=1)["sound"] is True


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        (
            "UPDATE exchequer_entries SET line = replace(line, '0.125', '0.120') WHERE number = 4",
            "entry 4: its digest does not match",
        ),
        ("DELETE FROM exchequer_entries WHERE number = 5", "entry 5: "),
        ("DELETE FROM exchequer_entries", "never opened"),
        ("UPDATE exchequer_entries SET kind = 'closed' WHERE number = 1", "entry 1: "),
        ("INSERT INTO exchequer_entries VALUES (8, 'charged', 'x', 'y')", "entry 8: "),
    ],
)
def test_tampered_books(study: str, statement: str, finding: str) -> None:
    bad = tampered(statement)
    result = ended(1, "verify", bad)
    assert "NOT SOUND" in result.stdout
    assert finding in result.stdout
    found = record("verify", bad, code=1)
    assert found["sound"] is False
    assert finding in words(found["errors"])
    assert "do not hold together" in refused("show", bad) + refused("price", bad, "--mechanism", "pure-dp:0.1")
    ended(1, "report", bad, "--out", "bad.html")
    assert finding in Path("bad.html").read_text(encoding="utf-8")


def test_a_rolled_back_copy_shows_against_the_head_that_was_kept(study: str) -> None:
    shutil.copy("study.db", "old.db")
    newer = spend("sqlite:///study.db", 0.125)
    ended(0, "verify", "old.db")
    assert "entries were cut off, or the books were rolled back" in " ".join(
        ended(1, "verify", "old.db", "--expect-head", newer).stdout.split()
    )
    assert "2 entries were written since the expected head" in said("verify", "study.db", "--expect-head", study)
    ended(0, "verify", "study.db", "--expect-head", f" {newer.upper()}\n")
    for text in (newer[:-1], "study.db", ""):
        assert "--expect-head: expected 64" in refused("verify", "study.db", "--expect-head", text)


def test_there_must_be_something_to_verify(study: str) -> None:
    Path("empty.db").touch()
    Path("people.csv").write_text("age\n3\n", encoding="utf-8")
    Path("other.jsonl").write_text('{"a":1}\n', encoding="utf-8")
    Path("cut.db").write_bytes(Path("study.db").read_bytes()[:5000])
    sqlite3.connect("none.db").execute("CREATE TABLE a (b)").connection.close()
    for place in ("gone.db", "sqlite:///gone.db", "empty.db", "people.csv", "other.jsonl", "cut.db", "none.db", "."):
        refused("verify", place)
    for command in (["show"], ["export", "--out", "x.jsonl"], ["report", "--out", "x.html"]):
        assert "gone.db does not exist" in refused(command[0], "gone.db", *command[1:])
    assert not Path("gone.db").exists()
    assert not Path("x.jsonl").exists()
    assert not Path("x.html").exists()


def test_claims_are_looked_up_in_every_registry(study: str, registries: dict[str, str]) -> None:
    registries["another"] = "proofs_tests.support.registries:nothing"
    ended(0, "verify", "study.db")
    del registries["exchequer"]
    unknown = ended(1, "verify", "study.db").stdout
    assert "rests on the claim 'basic', which is not known" in " ".join(unknown.split())
    registries.clear()
    assert "claim ids were not checked" in said("verify", "study.db")
    assert "no registry of claims" in words(record("verify", "study.db")["notes"])
    registries["broken"] = "proofs_tests.claims:missing"
    assert "registry of claims 'broken'" in refused("verify", "study.db")
    registries["broken"] = "proofs_tests.claims.registry:page"
    assert "registry of claims 'broken'" in refused("verify", "study.db")


def test_our_own_registry_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    point = metadata.EntryPoint("exchequer", declared[claims.GROUP]["exchequer"], claims.GROUP)
    known = point.load()()
    assert known["basic"].verdict == "holds"
    assert claims.known_claims() is not None
    assert set(claims.known_claims() or ()) == set(known)


def test_a_second_opinion(study: str) -> None:
    result = said("verify", "study.db", "--second-opinion")
    assert "it agrees" in result
    assert "dp-accounting" in result
    found = record("verify", "study.db", "--second-opinion")["second_opinion"]
    assert isinstance(found, dict)
    assert found["agrees"] is True
    bad = tampered("DELETE FROM exchequer_entries WHERE number = 5")
    assert "no second opinion" in ended(1, "verify", bad, "--second-opinion").stdout


# --- report and export -----------------------------------------------------------------------------------------


def test_report(study: str) -> None:
    assert "The report is in report.html." in said("report", "study.db", "--out", "report.html", "--title", "Q<3")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Q&lt;3" in page
    assert study in page
    assert "report.html exists already" in refused("report", "study.db", "--out", "report.html")
    ended(0, "report", "study.db", "--out", "report.html", "--force", "--second-opinion")
    assert "Privacy report on sqlite:///study.db" in Path("report.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path().iterdir() if not path.name.startswith("study")) == ["report.html"]


def test_an_export_is_verified_like_the_books(study: str) -> None:
    ended(0, "export", "study.db", "--out", "books.jsonl")
    assert ended(0, "export", "study.db", "--out", "-").stdout == Path("books.jsonl").read_text(encoding="ascii")
    assert "books.jsonl: sound, 8 entries" in said("verify", "books.jsonl", "--expect-head", study)
    both = [record("show", place) for place in ("study.db", "books.jsonl")]
    assert both[0].pop("ledger") != both[1].pop("ledger")
    assert both[0] == both[1]
    assert "It fits" in said("price", "books.jsonl", "--mechanism", "pure-dp:0.1")
    ended(0, "report", "books.jsonl", "--out", "report.html")
    ended(0, "export", "books.jsonl", "--out", "again.jsonl")
    assert Path("again.jsonl").read_bytes() == Path("books.jsonl").read_bytes()
    assert "books.jsonl exists already" in refused("export", "study.db", "--out", "books.jsonl")
    ended(0, "export", "study.db", "--out", "books.jsonl", "--force")
    for command in (["open"], ["open", "--epsilon", "2"], ["close", "x"], ["allocate", "x", "--share", "0.1"]):
        assert "is an export, for reading only" in refused(command[0], "books.jsonl", *command[1:])


def test_a_tampered_export(study: str) -> None:
    ended(0, "export", "study.db", "--out", "books.jsonl")
    lines = Path("books.jsonl").read_text(encoding="ascii").splitlines(keepends=True)
    changes = {
        "changed": [*lines[:5], lines[5].replace("0.125", "0.120"), *lines[6:]],
        "renumbered": [*lines[:3], re.sub(r'"number":2}$', '"number":999}', lines[3]), *lines[4:]],
        "lost": [*lines[:5], *lines[6:]],
        "cut": lines[:-1],
        "more": [*lines, lines[-1]],
        "not json": [*lines[:4], "]\n", *lines[5:]],
    }
    for name, content in changes.items():
        assert content != lines
        Path("bad.jsonl").write_text("".join(content), encoding="ascii")
        result = ended(1, "verify", "bad.jsonl")
        assert "NOT SOUND" in result.stdout, name
        assert re.search(r"entry 4: |entry 2: |line \d", result.stdout), name
    Path("bad.jsonl").write_text(lines[0].replace('"schema":1', '"schema":2'), encoding="ascii")
    assert "use a newer exchequer" in refused("verify", "bad.jsonl")


def test_reading_leaves_every_byte_as_it_is(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    accesses = []

    def store(url: str, access: Access = "write") -> SqlStore:
        accesses.append(access)
        return SqlStore(url, access)

    monkeypatch.setattr("exchequer.books.SqlStore", store)
    ended(0, "export", "study.db", "--out", "books.jsonl")
    before = {path.name: hashlib.sha256(path.read_bytes()).digest() for path in Path().iterdir()}
    os.chmod("study.db", 0o444)
    for place in ("study.db", "sqlite:///study.db", "books.jsonl"):
        for command in (["show"], ["verify", "--second-opinion"], ["price", "--mechanism", "pure-dp:0.1"]):
            ended(0, command[0], place, *command[1:])
        ended(0, "report", place, "--out", "report.html", "--force")
        ended(0, "export", place, "--out", "-")
    Path("report.html").unlink()
    assert {path.name: hashlib.sha256(path.read_bytes()).digest() for path in Path().iterdir()} == before
    assert set(accesses) == {"read"}


# --- what others wrote -----------------------------------------------------------------------------------------


def test_names_from_the_books_reach_no_terminal(study: str) -> None:
    with Ledger.open("sqlite:///study.db") as ledger:
        evil = ledger.allocate(EVIL.replace("/", "|"), 0.125)
        evil.release(RandomizedResponse(0.0625), evil.protect(True))
    spend("sqlite:///study.db", 0.125, EVIL)
    with (
        Ledger.open("sqlite:///study.db") as ledger,
        ledger.reserve(Plan.of(PureDP(0.125)), adjacency=ReplaceOne(), account=EVIL),
    ):
        pass  # a charge without a release, which verify names
    ended(1, "report", tampered("DELETE FROM exchequer_entries WHERE number = 1"), "--out", "report.html")
    for command in (
        ["show"],
        ["show", "--json"],
        ["show", "--account", EVIL.replace("/", "|")],
        ["verify"],
        ["verify", "--json"],
        ["export", "--out", "-"],
        ["price", "--mechanism", "pure-dp:0.01", "--account", EVIL.replace("/", "|")],
        ["price", "--mechanism", "pure-dp:0.01", "--account", EVIL.replace("/", "|"), "--json"],
    ):
        output = ended(0, command[0], "study.db", *command[1:]).output
        assert not {"\x1b", "\u202e", "\r"} & set(output), command
        assert "[bold]team[" in output, command
        # No line begins with what stood behind the line feed.
        assert not any(line.strip().startswith("b/") or line.strip() == "b" for line in output.splitlines()), command
    for message in (
        refused("show", "study.db", "--account", EVIL),
        refused("close", "study.db", "nobody\x1b[2J"),
        refused("show", "gone\x1b[2J.db"),
    ):
        assert "\x1b" not in message
        assert "\\x1b" in message


def test_passwords_are_never_printed(folder: Path) -> None:
    for place in (
        "postgresql+psycopg://reader:geheim@127.0.0.1:1/study",
        "postgresql+psycopg://reader:ge%68eim@127.0.0.1:1/study",
        "postgresql+psycopg://127.0.0.1:1/study?user=reader&password=geheim",
        "postgresql+psycopg://reader:geheim@127.0.0.1:port/study",
        "mysql://reader:geheim@127.0.0.1/study",
        "postgresql:/reader:geheim@127.0.0.1/study",
        "reader:geheim@127.0.0.1/study",
    ):
        for command in (["verify"], ["show"], ["open", "--epsilon", "1"], ["close", "x"]):
            message = refused(command[0], place, *command[1:])
            assert "geheim" not in message, place
            assert "ge%68eim" not in message, place
    for word in ("p@ss", "p@ss/word", "p@ss:w/ord", "p:a:ss"):
        url = f"postgresql://reader:{word}@127.0.0.1:1/study"
        assert "postgresql://reader:***@127.0.0.1:1/study" in without_password(url)
        assert "ss" not in refused("show", url).replace("password", ""), word
    assert "an @ in a password is spelt %40" in refused("show", "postgresql://reader:p@ss@127.0.0.1:1/study")


# --- keys, the environment, help -------------------------------------------------------------------------------


def test_a_key_to_sign_with(folder: Path) -> None:
    result = said("key", "study.key")
    public = PublicKey.load("study.key.pub")
    assert SigningKey.load("study.key").public == public
    assert public.hex in result
    assert os.stat("study.key").st_mode & 0o777 == 0o600
    assert "study.key.pub exists already" in refused("key", "study.key")
    Path("study.key.pub").unlink()
    refused("key", "study.key")
    assert SigningKey.load("study.key").public == public


def test_the_environment_names_the_ledger(study: str) -> None:
    env: dict[str, str | None] = {"EXCHEQUER_LEDGER": "study.db"}
    for command in (["show"], ["verify"], ["price", "--mechanism", "pure-dp:0.1"], ["export", "--out", "-"], ["open"]):
        result = run("ledger", *command, env=env)
        assert result.exit_code == 0, result.output
    assert "LEDGER" in refused("show")


def test_every_command_is_explained() -> None:
    for name, command in group.commands.items():
        text = ended(0, name, "--help").output
        assert f"exchequer ledger {name}" in text.split("Options:")[0].split("\n", 1)[1], "an example"
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{name}: {option.name}"
    text = said("--help")
    for code in ("0 all is well", "1 the answer is no", "2 there is no answer"):
        assert code in text


def test_a_bar_for_many_entries_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich believe that this is a terminal
    for entries, told in ((show.MANY_ENTRIES, False), (show.MANY_ENTRIES + 1, True)):
        with CliRunner().isolation() as (_, errors, _):
            with show.entries_bar("verifying", entries) as progress:
                progress(entries)
            assert (b"verifying" in errors.getvalue()) is told


def test_each_pass_ends_where_the_first_one_did(study: str) -> None:
    with reading("study.db") as books:
        before = list(books)
        spend("sqlite:///study.db", 0.125)
        assert list(books) == before
        assert books[-1].digest == study
    with reading("study.db") as books:
        assert len(list(books)) == len(books) == len(before) + 2


def test_books_are_a_sequence_that_is_read_anew() -> None:
    entries = [Entry(number, "charged", "", str(number)) for number in range(5)]
    books = Books("some", 5, lambda start: iter(entries[start:]))
    assert list(books) == list(books) == entries
    assert (books[0], books[-1], books[1:3]) == (entries[0], entries[4], entries[1:3])
    for place in (5, -6):
        with pytest.raises(IndexError):
            books[place]


# --- for real --------------------------------------------------------------------------------------------------


def exchequer(*arguments: str) -> int:
    """The exit code of the program itself."""
    return subprocess.run(
        [sys.executable, "-m", "exchequer", *arguments],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    ).returncode


def test_exit_codes_of_the_program(study: str) -> None:
    bad = tampered("DELETE FROM exchequer_entries WHERE number = 1")
    assert [exchequer("ledger", "verify", place) for place in ("study.db", bad, "gone.db")] == [0, 1, 2]


def test_postgresql(folder: Path, postgresql_server: Server) -> None:
    with postgresql_server.database() as url:
        assert "there is no ledger" in refused("verify", url)
        opened = said("open", url, "--epsilon", "1", "--adjacency", "replace-one")
        ended(0, "allocate", url, "team-a", "--share", "0.5")
        head = spend(url, 0.25, "team-a")
        assert "It fits" in said("price", url, "--mechanism", "pure-dp:0.25", "--account", "team-a")
        ended(1, "price", url, "--mechanism", "pure-dp:0.26", "--account", "team-a")
        found = record("show", url)
        assert found["head"] == head
        assert str(found["id"]) in opened
        assert "sound, 4 entries" in said("verify", url, "--expect-head", head)
        ended(0, "report", url, "--out", "report.html")
        ended(0, "export", url, "--out", "books.jsonl")
        assert "sound, 4 entries" in said("verify", "books.jsonl", "--expect-head", head)
