"""`exchequer ledger show` accounts for all that was drawn; `ledger label` lets a name draw beside sub-budgets."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne
from accountant.entries.state import State
from exchequer.commands.auditing import show_ledger as work
from exchequer.commands.ledgers.open_ledger import reading
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import ended, record, refused, said, spend
from proofs_tests.support.ledgers.ledger_runs import folder as folder

URL = "sqlite:///study.db"


@pytest.fixture
def drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A ledger that was drawn on in every way there is, and by a name that was never announced, long ago."""
    with Ledger.open(URL, PureDP(4.0), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        data = ledger.protect(True)
        ledger.release(RandomizedResponse(0.25), data, account="first look")
        team = ledger.allocate("team-a", 0.25)
        team.release(RandomizedResponse(0.125), data, account="boost")
        team.allocate("inner", 0.25).release(RandomizedResponse(0.0625), data)
        ledger.announce("pilot").release(RandomizedResponse(0.5), data)
        ledger.release(RandomizedResponse(0.03125), data)
        ledger.allocate("team-b", 0.125)
        ledger.close_account("team-b")
        with monkeypatch.context() as before:
            before.setattr(State, "lists", lambda *_: True)
            ledger.release(RandomizedResponse(0.015625), data, account="tema-a")
        return ledger.head


def parts(*arguments: str) -> dict[tuple[str, str], float]:
    found = cast("Iterable[dict[str, object]]", record("show", "study.db", *arguments)["drawn"])
    return {
        (str(part["account"]), str(part["what"])): cast("dict[str, float]", part["drawn"])["loss"] for part in found
    }


def test_show_accounts_for_everything_that_was_drawn(drawn: str) -> None:
    assert parts() == {
        ("team-a", "sub-budget"): 0.1875,
        ("team-b", "sub-budget"): 0.0,
        ("first look", "label, not announced"): 0.25,
        ("pilot", "label"): 0.5,
        ("tema-a", "label, not announced"): 0.015625,
        ("", "no label"): 0.03125,
    }
    assert parts("--account", "team-a") == {
        ("team-a/inner", "sub-budget"): 0.0625,
        ("team-a/boost", "label, not announced"): 0.125,
    }
    with Ledger.open(URL) as ledger:
        assert math.fsum(parts().values()) == ledger.spent.epsilon  # type: ignore[union-attr]  # a pure one
        assert math.fsum(parts("--account", "team-a").values()) == 0.1875
    with reading("study.db") as books:
        for path in ("", "team-a", "team-a/inner", "team-b"):
            found = work.overview(books, path)
            assert sum(part.amount.loss for part in found.drawn()) == found.account.drawn.loss, path


def test_people_see_it_too(drawn: str) -> None:
    result = ended(0, "show", "study.db").stdout
    lines = [line.split() for line in result.split("Drawn from the whole budget, in Σε")[1].splitlines()]
    shown = {line[0]: line[1] for line in lines if len(line) > 1}
    assert shown["team-a"] == "0.1875"
    assert shown["pilot"] == "0.5"
    assert shown["together"] == "0.984375"
    assert ["-", "0.03125", "no", "label"] in lines
    assert ["tema-a", "0.015625", "label,", "not", "announced"] in lines
    assert "not announced" in said("show", "study.db", "--account", "team-a")
    assert "pilot: a label" in said("show", "study.db", "--entries", "30")
    verified = " ".join(ended(3, "verify", "study.db").stdout.split())  # 3: the noise was simulated
    assert "3 of 7 charges" not in verified, "charges that came before the sub-budgets are no finding"
    assert "1 of 6 charges, the first to 'tema-a'" in verified


def test_many_labels_are_added_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_ACCOUNTS", 3)
    Ledger.open(URL, PureDP(4.0), composition=BasicComposition(), adjacency=ReplaceOne()).close()
    for number in range(5):
        spend(URL, 0.125, f"label-{number}")
    lines = [line.split() for line in ended(0, "show", "study.db").stdout.splitlines()]
    assert ["2", "more", "0.25"] in lines
    assert ["together", "0.625"] in lines


def test_label_announces(folder: Path) -> None:
    Ledger.open(URL, PureDP(4.0), composition=BasicComposition(), adjacency=ReplaceOne()).close()
    ended(0, "allocate", "study.db", "team-a", "--share", "0.5")
    assert "'plot'" in refused("price", "study.db", "--mechanism", "pure-dp:0.1", "--account", "plot")
    assert "Announced the label 'pilot'" in said("label", "study.db", "pilot")
    message = refused("price", "study.db", "--mechanism", "pure-dp:0.1", "--account", "plot")
    assert "nearest there are: pilot" in message
    for name in ("main", "team-a", "a//b", "pilot"):
        assert "nothing was announced" in refused("label", "study.db", name)
    for name in ("pilot", "pilot/x", "main", "main/x", "team-a/x"):
        ended(0, "price", "study.db", "--mechanism", "pure-dp:0.1", "--account", name)
    spend(URL, 0.125, "pilot")
    assert "adds up, WITH CAVEATS, 5 entries" in ended(3, "verify", "study.db").stdout
