"""`exchequer ledger`: begun, shared out, priced, and how it is called; run for real on small ledgers."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    FeatureValue,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.entries.chain import Entry
from accountant.entries.receipts import PublicKey, SigningKey
from benchmarks.ledgers.postgres import Server
from exchequer.commands.auditing.auditing_commands import ledger as group
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading
from exchequer.console import output
from proofs_tests.support.ledgers.ledger_runs import (
    CAVEATS,
    ended,
    record,
    refused,
    run,
    said,
    spend,
    tampered,
)
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study
from proofs_tests.support.ledgers.registries import registries as registries

ROOT = Path(__file__).parents[2]

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
        (["--mu", "0.5"], GDP(0.5), GDPComposition(), AddRemoveOne()),
        (
            ["--epsilon", "1", "--delta", "1e-6", "--composition", "gdp"],
            ApproxDP(1.0, 1e-6),
            GDPComposition(),
            AddRemoveOne(),
        ),
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


@pytest.mark.parametrize("name", ["study.db", "study.SQLite", "a b%20?c#d.sqlite3"])
def test_open_begins_a_ledger_at_a_path(folder: Path, name: str) -> None:
    assert "there is no ledger yet" in refused("open", name)
    said("open", name, "--epsilon", "2")
    assert (folder / name).is_file()
    assert "epsilon 2" in said("show", name)
    assert "never changes" in refused("open", name, "--epsilon", "3")


@pytest.mark.parametrize("name", ["study", "study.jsonl", "study.bd", ".db"])
def test_a_path_that_does_not_say_sqlite_begins_nothing(folder: Path, name: str) -> None:
    assert "does not exist" in refused("open", name, "--epsilon", "2")
    assert not list(folder.iterdir())


def test_a_path_begins_no_folder(folder: Path) -> None:
    assert "no folder" in refused("open", "studies/a.db", "--epsilon", "2")


@pytest.mark.parametrize(
    "arguments",
    [["show"], ["verify"], ["spent"], ["allocate", "a", "--share", "1"], ["label", "a"], ["close", "a"]],
)
def test_a_misspelt_path_is_refused_everywhere_else(study: str, folder: Path, arguments: list[str]) -> None:
    command, *rest = arguments
    assert "stduy.db does not exist" in refused(command, "stduy.db", *rest)
    assert not (folder / "stduy.db").exists()


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


def test_what_an_interrupted_writer_left_is_put_back(study: str) -> None:
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
    assert "CAVEATS, 8 entries" in said("verify", "crashed.db", "--expect-head", study, code=CAVEATS)


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


def test_a_name_that_no_encoding_has_is_refused(study: str) -> None:
    """As a shell in another encoding hands it over."""
    said = refused("allocate", "study.db", "a\udcffb", "--share", "0.1")
    assert "half of a surrogate pair" in said
    assert said.encode("utf-8")
    assert record("show", "study.db")["head"] == study


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


def test_price_says_by_how_much_it_is_short(folder: Path) -> None:
    """A hundred times 0.01, which is a little more than a hundredth, is a little more than 1."""
    said("open", "sqlite:///one.db", "--epsilon", "1")
    hair = ended(1, "price", "one.db", "--mechanism", "pure-dp:0.01", "--rounds", "100").stdout
    assert "short by" in hair
    assert "budget.split(k)" in hair
    assert "it costs Σε = 1.00000000000000002 left now Σε = 1 short by Σε = 2.08" in " ".join(hair.split())
    assert "2.08" in hair
    more = ended(1, "price", "one.db", "--mechanism", "pure-dp:0.01", "--rounds", "150").stdout
    assert "0.5" in more
    assert "budget.split" not in more


def test_price_of_a_plan_as_one_thing(folder: Path) -> None:
    ended(0, "open", "sqlite:///study.db", "--epsilon", "1", "--delta", "1e-6", "--adjacency", "replace-one")
    rounds = ("--mechanism", "bounded-range:0.01", "--rounds", "200")
    ended(1, "price", "study.db", *rounds)
    quoted = record("price", "study.db", *rounds, "--delta", "1e-7")
    with Ledger.open("sqlite:///study.db") as ledger:
        ledger.reserve(Plan.of(BoundedRange(0.01), 200), adjacency=ReplaceOne(), delta=1e-7)
        assert quoted["spent_after"] == ledger.spent.as_dict()
    assert quoted["route"] == "bounded-range"
    assert "by bounded-range" in said("price", "study.db", *rounds, "--delta", "1e-8")


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
        assert result.exit_code == (CAVEATS if command == ["verify"] else 0), result.output
    assert "LEDGER" in refused("show")


def test_the_group_alone_prints_its_help() -> None:
    result = CliRunner().invoke(group, [])
    assert result.output.startswith("Usage: ")
    assert "Error" not in result.output


def test_every_command_is_explained() -> None:
    for name, command in group.commands.items():
        text = ended(0, name, "--help").output
        assert f"exchequer ledger {name}" in text.split("Options:")[0].split("\n", 1)[1], "an example"
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{name}: {option.name}"
    text = said("--help")
    for code in ("0 all is well", "1 the answer is no", "2 there is no answer", "3 with caveats"):
        assert code in text


def test_a_bar_for_many_entries_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich believe that this is a terminal
    for entries, told in ((output.MANY_ENTRIES, False), (output.MANY_ENTRIES + 1, True)):
        with CliRunner().isolation() as (_, errors, _):
            with output.entries_bar("verifying", entries) as progress:
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
    books = StoredEntries("some", 5, lambda start: iter(entries[start:]))
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
    ended(0, "open", "sqlite:///new.db", "--epsilon", "1")
    places = ("new.db", bad, "gone.db", "study.db")
    assert [exchequer("ledger", "verify", place) for place in places] == [0, 1, 2, CAVEATS]


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
        assert "CAVEATS, 4 entries" in said("verify", url, "--expect-head", head, code=CAVEATS)
        ended(CAVEATS, "report", url, "--out", "report.html")
        ended(0, "export", url, "--out", "books.jsonl")
        assert "CAVEATS, 4 entries" in said("verify", "books.jsonl", "--expect-head", head, code=CAVEATS)
