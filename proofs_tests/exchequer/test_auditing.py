"""What an auditor asks of a ledger by the command line, run for real on small ledgers, sound and not."""

import hashlib
import os
import re
import shutil
import sqlite3
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from accountant import Ledger, Plan, PureDP, ReplaceOne
from accountant.entries.chain import digest_of
from accountant.storage.access import Access
from accountant.storage.sql_store import SqlStore
from exchequer.commands.auditing import installed_claims
from exchequer.commands.ledgers.open_ledger import without_password
from exchequer.console import output
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import (
    CAVEATS,
    ended,
    record,
    refused,
    said,
    spend,
    tampered,
    words,
)
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study
from proofs_tests.support.ledgers.registries import registries as registries

EVIL = "\x1b[31m[bold]team[/bold]\n\u202eb"
"""An account that would colour the terminal, be read as markup, add a line and turn the direction of writing."""

ROOT = Path(__file__).parents[2]


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
    assert "from the sub-budget 'team-a' would, with secure noise, add at most ε" in result
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
    monkeypatch.setattr("exchequer.commands.auditing.show_ledger.MOST_LINES", 8)
    short = ended(0, "show", "study.db").stdout.split("Accounts")[0]
    assert short.count("charged") == 1
    assert f"... 3 more lines head {study}" in " ".join(short.split())


# --- verify ----------------------------------------------------------------------------------------------------


def test_sound_books(study: str) -> None:
    result = ended(CAVEATS, "verify", "study.db", "--expect-head", study)
    assert "sqlite:///study.db: adds up, WITH CAVEATS, 8 entries" in result.stdout
    assert study in result.stdout
    assert "caveat 3 of 3 charges drew simulated noise" in " ".join(result.stdout.split())
    assert "claim" not in result.stdout
    assert ended(1, "verify", "study.db", "--strict").stdout.count("--strict: caveats and notes count") == 1
    found = record("verify", "study.db", code=CAVEATS)
    assert found["sound"] is True
    assert found["verdict"] == "with caveats"
    assert found["exit_code"] == CAVEATS
    assert found["caveats"] == ["3 of 3 charges drew simulated noise: their releases are not private"]
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
    assert "does not hold together" in refused("show", bad) + refused("price", bad, "--mechanism", "pure-dp:0.1")
    ended(1, "report", bad, "--out", "bad.html")
    assert finding in Path("bad.html").read_text(encoding="utf-8")


def test_books_that_were_forged_well_do_not_add_up(study: str) -> None:
    """A charge beyond the budget, with a digest that fits: whoever can write to the file can do that much."""
    with Ledger.open("sqlite:///study.db") as ledger:
        charge, newest = ledger.entries[1], ledger.entries[-1]
    line = charge.line.replace('"number":1', '"number":8').replace('"epsilon":0.25', '"epsilon":1.75')
    line = line.replace(str(charge.record["time"]), str(newest.record["time"]))
    bad = tampered(
        f"INSERT INTO exchequer_entries VALUES (8, 'charged', '{line}', '{digest_of(study, line)}')", "forged.db"
    )
    finding = "entry 8: it takes the total above the budget"
    assert finding in " ".join(ended(1, "verify", bad).stdout.split())
    assert finding in refused("show", bad)
    assert finding in refused("price", bad, "--mechanism", "pure-dp:0.1")


def test_a_rolled_back_copy_shows_against_the_head_that_was_kept(study: str) -> None:
    shutil.copy("study.db", "old.db")
    newer = spend("sqlite:///study.db", 0.125)
    ended(CAVEATS, "verify", "old.db")
    assert "entries were cut off, or the ledger was rolled back" in " ".join(
        ended(1, "verify", "old.db", "--expect-head", newer).stdout.split()
    )
    assert "2 entries were written since the expected head" in said(
        "verify", "study.db", "--expect-head", study, code=CAVEATS
    )
    ended(CAVEATS, "verify", "study.db", "--expect-head", f" {newer.upper()}\n")
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
    registries["another"] = "proofs_tests.support.ledgers.registries:nothing"
    ended(CAVEATS, "verify", "study.db")
    del registries["exchequer"]
    unknown = ended(1, "verify", "study.db").stdout
    assert "depends on the claim 'basic', which is not known" in " ".join(unknown.split())
    registries.clear()
    assert "claim ids were not checked" in said("verify", "study.db", code=CAVEATS)
    assert "no registry of claims" in words(record("verify", "study.db", code=CAVEATS)["notes"])
    registries["broken"] = "proofs_tests.claims:missing"
    assert "registry of claims 'broken'" in refused("verify", "study.db")
    registries["broken"] = "proofs_tests.claims.registry:page"
    assert "registry of claims 'broken'" in refused("verify", "study.db")
    registries["broken"] = "proofs_tests.support.ledgers.registries:mistaken"
    assert "the claim 'basic' is listed as 'zcdp-filter'" in refused("verify", "study.db")


def test_our_own_registry_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    point = metadata.EntryPoint("exchequer", declared[installed_claims.GROUP]["exchequer"], installed_claims.GROUP)
    known = point.load()()
    assert known["basic"].verdict == "holds"
    assert installed_claims.known_claims() is not None
    assert set(installed_claims.known_claims() or ()) == set(known)


def test_a_second_opinion(study: str) -> None:
    result = said("verify", "study.db", "--second-opinion", code=CAVEATS)
    assert "it agrees" in result
    assert "dp-accounting" in result
    found = record("verify", "study.db", "--second-opinion", code=CAVEATS)["second_opinion"]
    assert isinstance(found, dict)
    assert found["agrees"] is True
    bad = tampered("DELETE FROM exchequer_entries WHERE number = 5")
    assert "no second opinion" in ended(1, "verify", bad, "--second-opinion").stdout


# --- report and export -----------------------------------------------------------------------------------------


def test_report(study: str) -> None:
    made = said("report", "study.db", "--out", "report.html", "--title", "Q<3", code=CAVEATS)
    assert "adds up, WITH CAVEATS" in made
    assert "The report is in report.html." in made
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Q&lt;3" in page
    assert study in page
    assert "report.html exists already" in refused("report", "study.db", "--out", "report.html")
    ended(CAVEATS, "report", "study.db", "--out", "report.html", "--force", "--second-opinion")
    assert "Privacy report on sqlite:///study.db" in Path("report.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path().iterdir() if not path.name.startswith("study")) == ["report.html"]


def test_an_export_is_verified_like_the_books(study: str) -> None:
    ended(0, "export", "study.db", "--out", "books.jsonl")
    assert ended(0, "export", "study.db", "--out", "-").stdout == Path("books.jsonl").read_text(encoding="ascii")
    result = said("verify", "books.jsonl", "--expect-head", study, code=CAVEATS)
    assert "books.jsonl: adds up, WITH CAVEATS, 8 entries" in result
    both = [record("show", place) for place in ("study.db", "books.jsonl")]
    assert both[0].pop("ledger") != both[1].pop("ledger")
    assert both[0] == both[1]
    assert "It fits" in said("price", "books.jsonl", "--mechanism", "pure-dp:0.1")
    ended(CAVEATS, "report", "books.jsonl", "--out", "report.html")
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

    monkeypatch.setattr("exchequer.commands.ledgers.open_ledger.SqlStore", store)
    ended(0, "export", "study.db", "--out", "books.jsonl")
    before = {path.name: hashlib.sha256(path.read_bytes()).digest() for path in Path().iterdir()}
    os.chmod("study.db", 0o444)
    for place in ("study.db", "sqlite:///study.db", "books.jsonl"):
        for command in (["show"], ["verify", "--second-opinion"], ["price", "--mechanism", "pure-dp:0.1"]):
            ended(CAVEATS if command[0] == "verify" else 0, command[0], place, *command[1:])
        ended(CAVEATS, "report", place, "--out", "report.html", "--force")
        ended(0, "export", place, "--out", "-")
    Path("report.html").unlink()
    assert {path.name: hashlib.sha256(path.read_bytes()).digest() for path in Path().iterdir()} == before
    assert set(accesses) == {"read"}


# --- what others wrote -----------------------------------------------------------------------------------------


def test_names_from_the_books_reach_no_terminal(study: str) -> None:
    with Ledger.open("sqlite:///study.db") as ledger:
        evil = ledger.allocate(EVIL.replace("/", "|"), 0.125)
        evil.release(RandomizedResponse(0.0625), evil.protect(True))
        ledger.announce(EVIL)
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
        text = ended(CAVEATS if command[0] == "verify" else 0, command[0], "study.db", *command[1:]).output
        assert not {"\x1b", "\u202e", "\r"} & set(text), command
        assert "[bold]team[" in text, command
        # No line begins with what stood behind the line feed.
        assert not any(line.strip().startswith("b/") or line.strip() == "b" for line in text.splitlines()), command
    with CliRunner().isolation() as (printed, *_):
        output.table([""], [(EVIL,)])
        output.facts([(EVIL, EVIL)])
        output.paragraph(EVIL)
        output.title(EVIL)
    text = printed.getvalue().decode("utf-8")
    assert not {"\x1b", "\u202e"} & set(text)
    assert text.count("[bold]team[/bold]") == 5
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
    assert without_password("postgresql://h/db?sslmode=require&password=a&x=1") == (
        "postgresql://h/db?sslmode=require&password=***&x=1"
    )
    for word in ("p@ss", "p@ss/word", "p@ss:w/ord", "p:a:ss"):
        url = f"postgresql://reader:{word}@127.0.0.1:1/study"
        assert "postgresql://reader:***@127.0.0.1:1/study" in without_password(url)
        assert "ss" not in refused("show", url).replace("password", ""), word
    assert "an @ in a password is spelt %40" in refused("show", "postgresql://reader:p@ss@127.0.0.1:1/study")
