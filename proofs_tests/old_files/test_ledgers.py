"""SQLite ledgers that an earlier version wrote: verified, read, exported, gone on with; and entries written anew."""

import hashlib
import html
import json
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from proofs_tests.old_files import readouts, write
from proofs_tests.old_files.doors import Ledger, LedgerMismatch, PureDP, open_export, save_export, verify
from proofs_tests.old_files.frozen import assert_same, differing, frozen, kept, kept_json, names_in, said
from proofs_tests.old_files.scripts import LEDGERS, Telling, step
from proofs_tests.support.ledgers.durable import quick_folder

__all__ = ["quick_folder"]

FILES: Final = names_in("ledgers", ".db")
IN_FILES: Final = ("basic", "zcdp", "gdp", "unbounded", "mechanisms")
"""Which are written again to SQLite, too; in memory all are."""


def told(name: str) -> Any:
    """What was read from it then."""
    return kept_json("ledgers.said")[name]


def lines(export: str) -> list[str]:
    """The entries' lines of an export."""
    return [json.loads(each)["line"] for each in export.splitlines()[1:]]


@pytest.fixture
def here(quick_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(quick_folder)
    return quick_folder


def put(name: str) -> str:
    """The file as it was, in the current folder; its URL."""
    Path(f"{name}.db").write_bytes(kept(f"ledgers/{name}.db"))
    return f"sqlite:///{name}.db"


# --- read ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_ledger_says_what_it_said(name: str, here: Path) -> None:
    old = told(name)
    with Ledger.open(put(name), expect_head=old["python"]["head"]) as ledger:
        assert_same(readouts.of_ledger(ledger), old["python"])
    assert Path(f"{name}.db").read_bytes() == kept(f"ledgers/{name}.db")


@pytest.mark.parametrize("name", FILES)
def test_the_command_line_says_what_it_said(name: str, here: Path) -> None:
    old = told(name)
    put(name)
    second = "second opinion" in old["shell"]
    found = readouts.of_ledger_file(f"{name}.db", write.cost_for(name), old["accounts"], second=second)
    assert_same(found, old["shell"], 1e-6 if second else 1e-12)
    assert Path(f"{name}.db").read_bytes() == kept(f"ledgers/{name}.db")


@pytest.mark.parametrize("name", FILES)
def test_it_is_exported_as_it_was_and_the_export_verifies(name: str, here: Path) -> None:
    put(name)
    export = told(name)["export"]
    assert readouts.exported(f"{name}.db") == export
    Path("books.jsonl").write_text(export, encoding="ascii")
    assert readouts.exported("books.jsonl") == export
    with open_export("books.jsonl") as (header, entries):
        read = list(entries)
    found = verify(read, expect_head=header.head)
    assert not found.errors
    save_export(read, "again.jsonl")
    assert Path("again.jsonl").read_text(encoding="ascii") == export
    kept_code = told(name)["shell"]["verify"]["code"]
    assert said("ledger", "verify", "books.jsonl", "--expect-head", header.head)["code"] == kept_code


@pytest.mark.parametrize("name", FILES)
def test_its_chain_holds_by_sha_256_and_a_json_parser_alone(name: str) -> None:
    header, *rest = map(json.loads, told(name)["export"].splitlines())
    before = "0" * 64
    for number, each in enumerate(rest):
        before = hashlib.sha256((before + each["line"]).encode("ascii")).hexdigest()
        assert (each["digest"], each["number"]) == (before, number)
        assert each["line"] == json.dumps(json.loads(each["line"]), sort_keys=True, separators=(",", ":"))
    assert (header["head"], header["entries"], header["schema"]) == (before, len(rest), 1)


BLOCKS: Final = "td|th|p|li|h\\d|caption|dt|dd|tr|section|div|b|strong|span|figcaption|summary|a|br"

REWORDED: Final = re.compile(
    r"Ledger [0-9a-f]{32}, \d+ entries"  # in its head, which names the ledger elsewhere now
    r"|Left"  # of the whole budget, as it says now
    r"|of the budget is spent\. The share is .*"  # the same, in the caption of the burn-down
)
"""What the report says in other words since it begins with a page for everybody."""


def report_texts(report: str) -> Counter[str]:
    """What stands in its cells, paragraphs and headings, without drawings; how often each."""
    body = re.sub(r"<svg.*?</svg>", " ", report.partition("<body")[2], flags=re.DOTALL)
    parts = (re.sub("<[^>]+>", "", part) for part in re.split(rf"</?(?:{BLOCKS})\b[^>]*>", body))
    return Counter(text for part in parts if (text := html.unescape(" ".join(part.split()))))


@pytest.mark.parametrize("name", write.REPORTED)
def test_the_report_says_all_that_it_said(name: str, here: Path) -> None:
    with Ledger.open(put(name)) as ledger:
        found = report_texts(readouts.of_report(ledger, name))
    old = report_texts(kept_json("reports")[name])
    assert old.total() > 200
    missing = [text for text in old - found if not REWORDED.fullmatch(text)]
    assert [text for text in missing if all(differing(each, text) for each in found)] == []


def test_prices_are_what_they_were() -> None:
    assert_same(write.priced(), kept_json("prices"))


# --- gone on with --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_an_old_ledger_goes_on(name: str, here: Path) -> None:
    old, export = told(name)["python"], told(name)["export"]
    with Ledger.open(put(name)) as ledger:
        ledger.labelled("main").release(Telling(step(ledger), ledger.adjacency), ledger.protect(7))
        assert not ledger.verify(expect_head=old["head"]).errors
        left, head, length = ledger.remaining, ledger.head, len(ledger.entries)
    assert lines(readouts.exported(f"{name}.db"))[:-2] == lines(export)
    promise = LEDGERS[name]
    with Ledger.open(
        f"sqlite:///{name}.db", promise.budget, composition=promise.composition, adjacency=promise.adjacency
    ) as ledger:
        assert (ledger.remaining, ledger.head, len(ledger.entries)) == (left, head, length)
        assert ledger.spent == ledger.odometer().rule.guarantee(ledger.odometer().total, promise.budget)
    with pytest.raises(LedgerMismatch, match="budget"):
        Ledger.open(f"sqlite:///{name}.db", PureDP(0.5))


def test_a_charge_goes_on_alike_on_old_entries_and_on_new_ones(here: Path) -> None:
    with frozen("on") as clock:
        clock.now += 10**15
        with Ledger.open(put("basic")) as old:
            old.release(Telling(step(old), old.adjacency), old.protect(7))
            added = [entry.line for entry in old.entries[-2:]]
    with frozen("basic") as clock:
        new = write.play("basic", write.in_memory)
    with frozen("on") as clock:
        clock.now += 10**15
        new.release(Telling(step(new), new.adjacency), new.protect(7))
    for entry, line in zip(new.entries[-2:], added, strict=True):
        assert differing(entry.line, line, digests=False) is None


# --- written again -------------------------------------------------------------------------------------------------


def assert_same_entries(ledger: Ledger, name: str) -> None:
    """Byte for byte: kinds, lines and digests. Priced plans have numbers that go through exp and log."""
    rows = [json.loads(each) for each in told(name)["export"].splitlines()[1:]]
    assert [entry.kind for entry in ledger.entries] == [row["kind"] for row in rows]
    for entry, row in zip(ledger.entries, rows, strict=True):
        assert differing(entry.line, row["line"]) is None, (name, entry.number)
    assert_same([entry.digest for entry in ledger.entries], [row["digest"] for row in rows], digests=False)


@pytest.mark.parametrize("name", LEDGERS)
def test_the_same_charges_write_the_same_bytes_in_memory(name: str) -> None:
    assert_same_entries(write.play(name, write.in_memory), name)


@pytest.mark.parametrize("name", IN_FILES)
def test_the_same_charges_write_the_same_bytes_in_sqlite(name: str, here: Path) -> None:
    with write.play(name, write.opens_at(f"sqlite:///{name}.new")) as ledger:
        assert_same_entries(ledger, name)
    put(name)
    new, old = dumped(f"{name}.new"), dumped(f"{name}.db")
    assert len(new) == len(old)
    assert all(differing(a, b, digests=False) is None for a, b in zip(new, old, strict=True))


def dumped(file: str) -> list[str]:
    """Tables, triggers and rows, as SQL."""
    connection = sqlite3.connect(file)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


# --- what they hold ------------------------------------------------------------------------------------------------


def test_entries_of_every_kind_cost_and_rule_are_there() -> None:
    records = [json.loads(line) for name in FILES for line in lines(told(name)["export"])]
    kinds = {"opened", "charged", "released", "returned", "allocated", "announced", "closed", "checkpoint"}
    assert {each["kind"] for each in records} == kinds
    steps = [part["cost"]["kind"] for each in records for part in each.get("steps", ())]
    assert set(steps) == {"pure-dp", "approx-dp", "laplace-dp", "zcdp", "gdp", "bounded-range"}
    opened = [each for each in records if each["kind"] == "opened"]
    rules = {"basic", "zcdp", "gdp", "advanced-tight", "advanced", "no-bound"}
    assert {each["composition"]["name"] for each in opened} == rules
    relations = {"replace-one", "add-remove-one", "feature-value", "feature-values"}
    assert {each["adjacency"]["name"] for each in opened} == relations
    assert {each["budget"]["kind"] for each in opened} == {"pure-dp", "approx-dp", "zcdp", "gdp", "unbounded"}
    charged = [each for each in records if each["kind"] == "charged"]
    assert any(each["priced"] for each in charged)
    assert any(each["mechanism"] is None for each in charged)
    assert any(each["mechanism"] and each["mechanism"]["zeta"] is not None for each in charged)
    assert set(LEDGERS) <= set(FILES)
