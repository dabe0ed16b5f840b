"""`exchequer ledger import`, run for real: what it says, what it refuses, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from accountant import ApproxDP, Ledger
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import refused, said

SPEND: dict[str, Any] = {
    "cost": {"kind": "pure-dp", "epsilon": 0.25},
    "adjacency": "add-remove-one",
    "library": "somebody's",
    "version": "1.2",
    "name": "a sum",
    "times": 2,
}


@pytest.fixture
def books(folder: Path) -> Path:
    """A folder with a ledger and a file of spends."""
    said("open", "sqlite:///study.db", "--epsilon", "2", "--delta", "1e-5")
    (folder / "spends.json").write_text(json.dumps({"format": "exchequer-spends-1", "spends": [SPEND]}))
    (folder / "history.json").write_text(json.dumps({"history": [[1.0, 0.01, 100]], "mechanism": "rdp"}))
    return folder


def test_spends_are_charged_and_shown_as_somebodys_word(books: Path) -> None:
    assert "not checked" in said("import", "study.db", "spends.json", "--declared-by", "Data team")
    found = json.loads(said("import", "study.db", "history.json", "--declared-by", "ML", "--delta", "1e-6", "--json"))
    assert (found["entry"], found["spends"], found["format"], found["declared_by"]) == (3, 1, "Opacus", "ML")
    assert found["spent"]["delta"] == 1e-6
    with Ledger.open("sqlite:///study.db") as ledger:
        assert found["spent"] == ledger.spent.as_dict()
        assert found["head"] == ledger.head
        assert '"source","spends.json"' in ledger.entries[1].line or '"source":"spends.json"' in ledger.entries[1].line
    for command in ("verify", "show"):
        text = " ".join(said(command, "study.db").split())
        assert "declared by Data team, not checked" in text
    said("report", "study.db", "--out", "report.html")
    assert "declared by Data team, not checked" in (books / "report.html").read_text()


def test_an_import_says_what_it_is_about(books: Path) -> None:
    about = ("--about", "dataset=hospital", "--about", "user=ada")
    said("import", "study.db", "spends.json", "--declared-by", "Data team", *about)
    (found,) = json.loads(said("spent", "study.db", "--by", "user", "--where", "dataset=hospital", "--json"))["groups"]
    assert (found["said"], found["charges"]) == ("ada", 1)
    assert "--about: expected NAME=TEXT" in refused(
        "import", "study.db", "history.json", "--declared-by", "ML", "--delta", "1e-6", "--about", "data=x"
    )


def test_what_is_refused_charges_nothing(books: Path) -> None:
    (books / "bad.json").write_text(json.dumps({"format": "exchequer-spends-1", "spends": [SPEND, {}]}))
    (books / "large.json").write_text(
        json.dumps({"format": "exchequer-spends-1", "spends": [SPEND, {**SPEND, "times": 9}]})
    )
    (books / "model.pt").write_bytes(b"no checkpoint")
    assert "spends[1]: missing: cost" in refused("import", "study.db", "bad.json", "--declared-by", "A")
    assert "name a delta" in refused("import", "study.db", "history.json", "--declared-by", "A")
    large = refused("import", "study.db", "large.json", "--declared-by", "A")
    assert "open one whose budget covers both" in large
    refused("import", "study.db", "model.pt", "--declared-by", "A")
    refused("import", "study.db", "spends.json")
    with Ledger.open("sqlite:///study.db") as ledger:
        assert len(ledger.entries) == 1


def test_the_same_content_is_charged_once_unless_it_happened_twice(books: Path) -> None:
    said("import", "study.db", "spends.json", "--declared-by", "A")
    (books / "again.json").write_text(json.dumps(json.loads((books / "spends.json").read_text()), indent=2))
    assert "imported before, with entry 1" in refused("import", "study.db", "again.json", "--declared-by", "B")
    said("import", "study.db", "again.json", "--declared-by", "A", "--again")
    with Ledger.open("sqlite:///study.db") as ledger:
        assert ledger.spent == ApproxDP(1.0, 0.0)
    said("verify", "study.db")
