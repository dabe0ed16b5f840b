"""`exchequer rados`: two parties and a file, on ledgers of three relations, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from accountant import Ledger
from exchequer.cli import main
from learners import RadoBoostClassifier, RadoRelease
from proofs_tests.support.learners.people import SCHEMA

HOURS = """
[[columns]]
name = "hours"
kind = "numeric"
lower = 0
upper = 100
outside = "clip"
"""


def said(*arguments: str, code: int = 0) -> str:
    """What a command printed, on one line."""
    result = CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """800 people, and where they are."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    age, hours, male = rng.integers(18, 91, 800), rng.integers(0, 81, 800), rng.integers(0, 2, 800)
    high = 0.5 * age + hours + 10 * male + rng.normal(0, 8, 800) > 72
    rows = [
        f"{a},{'male' if m else 'female'},{h},{'high' if y else 'low'}"
        for a, m, h, y in zip(age, male, hours, high, strict=True)
    ]
    Path("people.csv").write_text("\n".join(["age,sex,hours,income", *rows]) + "\n", encoding="utf-8")
    Path("people.toml").write_text(SCHEMA + HOURS, encoding="utf-8")


def release(*options: str, out: str = "rados.json") -> tuple[str, ...]:
    return ("rados", "release", "people.csv", "--schema", "people.toml", "--out", out, *options)


def test_two_parties_and_a_file() -> None:
    printed = said(*release("--epsilon", "1"))
    assert "400 rados of 800 records, 4 features" in printed
    assert "whole records: all columns and the label" in printed
    assert "together (1, 1e-06)-differentially private under replace-one" in printed
    assert "simulation" not in printed
    assert said("rados", "show", "rados.json") in printed
    learnt = said("rados", "fit", "rados.json", "--out", "model.json")
    assert "hours" in learnt
    assert "(1, 1e-06)-differentially private" in learnt
    model = RadoBoostClassifier.load("model.json")
    assert model.model_.rados is not None
    assert model.model_.rados in learnt
    scored = said("predict", "people.csv", "--model", "model.json", "--score", "--out", "said.csv")
    assert float(scored.split("accuracy ")[1].split()[0]) > 0.85
    said("rados", "fit", "rados.json", "--out", "again.json")
    assert Path("again.json").read_bytes() == Path("model.json").read_bytes()
    refused = said("predict", "people.csv", "--model", "rados.json", code=2)
    assert "these are rados, and no model" in refused


def test_a_release_is_charged_to_a_ledger_and_verified_there() -> None:
    said("ledger", "open", "sqlite:///s.db", "--epsilon", "1.5", "--delta", "1e-5", "--adjacency", "replace-one")
    said(*release("--epsilon", "1", "--ledger", "s.db", "--account", "team", "--number", "50"))
    assert "its claim is what the ledger says" in said("verify-model", "rados.json", "--ledger", "s.db")
    assert "only" in said(*release("--epsilon", "1", "--ledger", "s.db", out="more.json"), code=2)
    assert not Path("more.json").exists()
    record = json.loads(Path("rados.json").read_text(encoding="utf-8"))
    record["model"]["vectors"][0][0] += 1.0
    Path("changed.json").write_text(json.dumps(record), encoding="utf-8")
    assert "given for another model" in said("verify-model", "changed.json", "--ledger", "s.db", code=1)
    said("rados", "fit", "rados.json", "--out", "model.json")
    alone = said("verify-model", "model.json", "--ledger", "s.db", code=1)
    assert "learnt from rados" in alone
    assert str(RadoBoostClassifier.load("model.json").model_.rados) in alone


def test_a_column_is_protected_on_a_ledger_for_that_column_only() -> None:
    feature = ("--protection", "feature", "--sensitive", "sex", "--epsilon", "0.1")
    said("ledger", "open", "sqlite:///s.db", "--epsilon", "1", "--delta", "1e-5", "--adjacency", "replace-one")
    assert "--adjacency feature-value:1" in said(*release(*feature, "--ledger", "s.db"), code=2)
    said("ledger", "open", "sqlite:///f.db", "--epsilon", "1", "--delta", "1e-5", "--adjacency", "feature-value:1")
    printed = said(*release(*feature, "--ledger", "f.db"))
    assert "of a record its sex (number 1) only" in printed
    said("verify-model", "rados.json", "--ledger", "f.db")
    said("ledger", "verify", "f.db")
    both = (*feature, "--sensitive", "age")
    assert "--adjacency feature-values:0,1" in said(*release(*both, "--ledger", "f.db", out="two.json"), code=2)
    said("ledger", "open", "sqlite:///g.db", "--epsilon", "1", "--delta", "1e-5", "--adjacency", "feature-values:0,1")
    said(*release(*both, "--ledger", "g.db", out="two.json"))
    said("verify-model", "two.json", "--ledger", "g.db")
    said("ledger", "verify", "g.db")
    said("ledger", "report", "g.db", "--out", "g.html")
    assert "entries of columns 0, 1 (feature-values)" in Path("g.html").read_text(encoding="utf-8")
    with Ledger.open("sqlite:///g.db") as ledger:
        assert str(ledger.adjacency).startswith("feature-values")
    wanted = "at most 11 do not. Or use route='sums'"
    own = (*feature[:4], "--epsilon", "1", "--route", "own-supports")
    assert wanted in said(*release(*own, "--number", "50", out="o.json"), code=2)
    said(*release(*own, out="o.json"))
    assert RadoRelease.load("o.json").rados_.vectors.shape == (11, 4)


def test_nothing_protected_is_nothing_promised() -> None:
    printed = said(*release("--protection", "none", "--seed", "0"))
    assert "not private Nothing is promised" in printed
    assert "not private: Nothing is promised" in said("rados", "fit", "rados.json", "--out", "model.json") + said(
        "predict", "people.csv", "--model", "model.json"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--epsilon is missing"),
        (("--protection", "none", "--epsilon", "1"), "nothing is paid for"),
        (("--epsilon", "1", "--delta", "0.5"), "not below 1/n"),
        (("--epsilon", "1", "--number", "7"), "even number"),
        (("--epsilon", "1", "--account", "team"), "go with --ledger"),
        (("--epsilon", "1", "--sensitive", "sex"), "sensitive"),
        (("--epsilon", "1", "--protection", "feature", "--sensitive", "nobody"), "no column 'nobody'"),
    ],
)
def test_bad_orders_are_refused_in_one_line(options: tuple[str, ...], message: str) -> None:
    assert message in said(*release(*options), code=2)
    assert not Path("rados.json").exists()


def test_bad_files_are_refused_by_name() -> None:
    said(*release("--epsilon", "1", "--number", "4"))
    said("rados", "fit", "rados.json", "--out", "model.json")
    assert "model.json" in said("rados", "fit", "model.json", "--out", "x.json", code=2)
    assert "people.csv" in said("rados", "show", "people.csv", code=2)
    assert "--oracle" in said("rados", "fit", "rados.json", "--out", "x.json", "--oracle", "delphi", code=2)
    assert "exists already" in said("rados", "fit", "rados.json", "--out", "model.json", code=2)
    text = Path("people.csv").read_text(encoding="utf-8").replace("female", "unknown", 1)
    Path("people.csv").write_text(text, encoding="utf-8")
    assert "column 'sex', row" in said(*release("--epsilon", "1", out="x.json"), code=2)


def test_what_is_read_is_never_replaced() -> None:
    said(*release("--epsilon", "1", "--number", "4"))
    before = Path("rados.json").read_bytes()
    assert "is what this reads" in said("rados", "fit", "rados.json", "--out", "rados.json", "--force", code=2)
    assert Path("rados.json").read_bytes() == before
    for source in ("people.csv", "people.toml"):
        assert "is what this reads" in said(*release("--epsilon", "1", "--force", out=source), code=2)


def test_a_ledger_in_the_environment_is_for_what_is_paid_for() -> None:
    said("ledger", "open", "sqlite:///s.db", "--epsilon", "1", "--delta", "1e-5", "--adjacency", "replace-one")
    command = release("--protection", "none", "--number", "4")
    result = CliRunner().invoke(main, command, env={"EXCHEQUER_LEDGER": "s.db"})
    assert result.exit_code == 0, result.output
    with Ledger.open("sqlite:///s.db") as ledger:
        assert len(ledger.entries) == 1
    assert "nothing is paid for" in said(*command, "--ledger", "s.db", code=2)
    said("rados", "fit", "rados.json", "--out", "model.json")
    for file in ("rados.json", "model.json"):
        told = said("verify-model", file, "--ledger", "s.db", code=1)
        assert "it promises nothing" in told
        assert "paid for" not in told
        assert "simulated" not in told


def test_a_simulation_is_not_charged_to_a_ledger() -> None:
    said("ledger", "open", "sqlite:///s.db", "--epsilon", "1.5", "--delta", "1e-5", "--adjacency", "replace-one")
    refused = said(*release("--epsilon", "1", "--ledger", "s.db", "--seed", "7"), code=2)
    assert "--seed simulates" in refused
    assert "nothing was charged" in refused
    with Ledger.open("sqlite:///s.db") as ledger:
        assert [entry.kind for entry in ledger.entries] == ["opened"]
    assert "simulation: not private" in said(*release("--epsilon", "1", "--seed", "7"))
