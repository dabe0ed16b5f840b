"""`exchequer ledger entries --csv`: a row for each charge, which pandas reads and no spreadsheet computes."""

import csv
import datetime
import io
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant import About, ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne, Step
from accountant.composition import amount_from_record
from exchequer.commands.exports.entry_rows import COLUMNS, entry_rows
from exchequer.commands.ledgers.open_ledger import StoredEntries
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import ended, refused, run, tampered
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study

MODEL, OTHER = "ab" * 32, "cd" * 32


def entries_of(ledger: Ledger) -> StoredEntries:
    kept = tuple(ledger.entries)
    return StoredEntries("a ledger", len(kept), lambda start: iter(kept[start:]))


def rows(ledger: Ledger) -> list[dict[str, str | int | float]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in entry_rows(entries_of(ledger))]


def opened() -> Ledger:
    return Ledger(ApproxDP(8.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())


def test_a_row_says_what_became_of_its_charge() -> None:
    ledger = opened()
    ada = ledger.concerning(About(dataset="=hospital", purpose="pilot; @x", user="Åda", host="h", program="p 1"))
    ada.release(RandomizedResponse(0.5), ada.protect(True), account="team/a")
    with ada.reserve(Plan((Step(PureDP(0.25), 2), Step(PureDP(0.1), 2))), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.25), ada.protect(True))
        charge.give_back()
    waiting = ledger.reserve(Plan.of(PureDP(0.0625), 3), adjacency=ReplaceOne())
    ledger.note_model(MODEL, [1, 3])
    ledger.note_model(OTHER, [3])
    first, second, third = rows(ledger)
    assert first["account"] == "team/a"
    assert (first["mechanism"], first["query"]) == ("RandomizedResponse", "bit")
    assert (first["dataset"], first["purpose"], first["user"]) == ("'=hospital", "pilot; '@x", "Åda")
    assert (first["host"], first["program"], first["model"]) == ("h", "p 1", MODEL)
    assert (first["cost kind"], first["cost parameters"]) == ("pure-dp", "epsilon=0.5")
    assert (first["exact amount"], first["amount"], first["unit"], first["simulated"]) == ("1p-1", 0.5, "Σε", "yes")
    assert (first["rounds"], first["rounds released"], first["rounds given back"]) == (1, 1, 0)
    assert (second["rounds"], second["rounds released"], second["rounds given back"]) == (4, 1, 3)
    assert second["cost parameters"] == "2 x epsilon=0.25 | 2 x epsilon=0.1"
    assert second["model"] == f"{MODEL} {OTHER}"
    assert (third["rounds released"], third["simulated"], third["model"]) == (0, "unknown", "")
    waiting.give_back()
    assert rows(ledger)[2]["simulated"] == "no"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.floats(1e-3, 0.3), st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=5))
def test_amounts_less_what_was_given_back_are_what_was_spent(charges: list[tuple[float, int, int]]) -> None:
    ledger = opened()
    for epsilon, rounds, released in charges:
        with ledger.reserve(Plan.of(PureDP(epsilon), rounds), adjacency=ReplaceOne()) as charge:
            for _ in range(min(released, rounds)):
                charge.release(RandomizedResponse(epsilon), ledger.protect(True))
            charge.give_back()
    total = Fraction(0)
    for row in rows(ledger):
        exact = amount_from_record({"loss": str(row["exact amount"]), "delta": str(row["exact delta"])})
        back = amount_from_record({"loss": str(row["exact amount given back"]), "delta": "0p0"})
        total += exact.loss - back.loss
        assert Fraction(float(row["amount"])) >= exact.loss
        assert Fraction(float(row["amount given back"])) <= back.loss
    assert ledger.spent == BasicComposition().guarantee(ledger.odometer().total, ledger.budget)
    assert total == ledger.odometer().total.loss


def test_pandas_reads_the_file(study: str, folder: Path) -> None:
    result = ended(0, "entries", "study.db", "--csv", "--out", "rows.csv")
    assert result.stderr == "3 charges of sqlite:///study.db\n"
    table = pandas.read_csv("rows.csv", parse_dates=["time"])
    assert tuple(table.columns) == COLUMNS
    assert table["account"].tolist() == ["first look", "team-a/boost", "team-a"]
    assert table["amount"].sum() == 0.5 == table["total after"].iloc[-1]
    assert str(table["time"].dtype).startswith("datetime64")
    assert table["time"].max() <= pandas.Timestamp(datetime.datetime.now(datetime.UTC))
    content = (folder / "rows.csv").read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") == 4
    printed = run("ledger", "entries", "study.db", "--csv").stdout
    assert list(csv.reader(io.StringIO(printed))) == list(csv.reader(io.StringIO(content.decode("utf-8"))))


def test_what_cannot_be_written_is_refused(study: str, folder: Path) -> None:
    assert "give --csv" in refused("entries", "study.db")
    (folder / "rows.csv").write_text("mine")
    assert "exists already" in refused("entries", "study.db", "--csv", "--out", "rows.csv")
    bad = tampered("""UPDATE exchequer_entries SET line = '{"kind":"charged"}' WHERE kind = 'charged'""")
    ended(2, "entries", bad, "--csv", "--out", "other.csv")
    assert not (folder / "other.csv").exists()
    assert not [path for path in folder.iterdir() if "other.csv" in path.name]


@pytest.mark.parametrize("times", [5, 50])
def test_a_longer_ledger_takes_no_more_memory(times: int) -> None:
    ledger = opened()
    for _ in range(20):
        ledger.release(RandomizedResponse(1e-3), ledger.protect(True))
    kept = tuple(ledger.entries)
    repeated = StoredEntries("", times * 40, lambda start: (entry for _ in range(times) for entry in kept))
    tracemalloc.start()
    try:
        assert sum(1 for _ in entry_rows(repeated)) == 20 * times
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
