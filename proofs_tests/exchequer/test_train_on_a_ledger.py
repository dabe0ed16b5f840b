"""Models that a durable ledger pays for, as a curator trains them and an auditor looks at them afterwards."""

import ast
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from accountant import AddRemoveOne, AdvancedComposition, BasicComposition, Composition, Ledger, ZCDPComposition
from accountant.audit.verification import verify
from accountant.composition.plans import ROUTE_CLAIMS
from accountant.entries.receipts import PublicKey
from benchmarks.ledgers.postgres import Server
from exchequer.cli import main
from exchequer.commands.ledgers.paying_ledger import PayingLedger
from exchequer.trainable import LEARNERS
from learners import PrivateBoostClassifier, PrivateClassifier
from proofs_tests.claims import known
from proofs_tests.support.learners import paid_models
from proofs_tests.support.learners.people import SCHEMA
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.registries import registries as registries

ROOT = Path(__file__).parents[2]


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100", **(env or {})})


def said(*arguments: str, code: int = 0) -> str:
    """What a command printed before it ended with that code, on one line."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return " ".join(result.output.split())


def refused(*arguments: str) -> str:
    """The one line on standard error of a command that did nothing."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def trained(*options: str, epsilon: str = "0.5", out: str = "model.json") -> tuple[str, ...]:
    """The arguments of a training with the recommended learner."""
    return ("train", "people.csv", "--schema", "people.toml", "--epsilon", epsilon, "--out", out, *options)


def entries(place: str = "sqlite:///study.db") -> int:
    with Ledger.open(place) as ledger:
        return len(ledger.entries)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with people.csv and people.toml."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        ages = [draw.randint(18, 90) for _ in range(300)]
        rows = [(age, draw.choice(["female", "male"]), "high" if age > 50 else "low") for age in ages]
        csv.writer(file).writerows([("age", "sex", "income"), *rows])
    (tmp_path / "people.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.fixture
def study(folder: Path) -> str:
    """A ledger for the recommended learner; its first head."""
    opened = said("ledger", "open", "sqlite:///study.db", "--epsilon", "2", "--delta", "1e-5")
    return opened.split("head ")[1][:64]


# --- the whole story -------------------------------------------------------------------------------------------


def test_from_the_opening_to_the_audit(study: str) -> None:
    said("ledger", "allocate", "study.db", "team-a", "--epsilon", "1", "--delta", "1e-5")
    said("ledger", "key", "study.key")
    team = ("--ledger", "study.db", "--account", "team-a", "--signing-key", "study.key")
    first = said(*trained(*team))
    assert "Charged to study.db" in first
    assert "charged to 'team-a/PrivateBoostClassifier'" in first
    assert PublicKey.load("study.key.pub").hex in first
    said(*trained(*team, out="second.json"))
    third = refused(*trained(*team, out="third.json"))
    assert "remains in the sub-budget 'team-a'" in third
    assert "nothing was charged" in third
    assert not Path("third.json").exists()

    shown = said("ledger", "show", "study.db", "--account", "team-a")
    assert "from the sub-budget 'team-a' adds at most ε = 1 at δ = 2e-06" in shown
    assert "sound, 6 entries" in said("ledger", "verify", "study.db", "--expect-head", study, "--second-opinion")
    said("ledger", "report", "study.db", "--out", "report.html", "--second-opinion")
    report = Path("report.html").read_text(encoding="utf-8")
    assert "team-a" in report
    said("ledger", "export", "study.db", "--out", "books.jsonl")
    assert "sound, 6 entries" in said("ledger", "verify", "books.jsonl", "--expect-head", study)

    for model in ("model.json", "second.json"):
        for place in ("study.db", "books.jsonl"):
            checked = said("verify-model", model, "--ledger", place, "--public-key", "study.key.pub")
            assert "its claim is what the ledger says" in checked
            assert "its charges cost ε = 0.5 at δ = 1e-06" in checked
            assert "the ledger spent ε = 1 at δ = 2e-06" in checked


def test_a_simulation_is_not_charged_to_a_ledger(study: str) -> None:
    """Neither to one that is named, nor to the one of the environment; without, it runs."""
    before = entries()
    named = refused(*trained("--ledger", "study.db", "--account", "team-a", "--seed", "7"))
    assert "Leave out --seed for a private model, or simulate without --ledger and without EXCHEQUER_LEDGER" in named
    around = run(*trained("--seed", "0"), env={"EXCHEQUER_LEDGER": "study.db"})
    assert (around.exit_code, around.stderr) == (2, named)
    assert entries() == before
    assert not Path("model.json").exists()
    assert "simulation: not private" in said(*trained("--seed", "7"))


def test_a_claim_that_the_books_do_not_know(study: str) -> None:
    said(*trained("--ledger", "study.db"))
    record = json.loads(Path("model.json").read_text(encoding="utf-8"))
    Path("bad.json").write_text(json.dumps({**record, "parameters": {**record["parameters"], "epsilon": 0.01}}))
    assert "NOT CONFIRMED" in said("verify-model", "bad.json", "--ledger", "study.db", code=1)
    said(*trained(out="alone.json"))
    alone = run("verify-model", "alone.json", "--ledger", "study.db", "--json")
    assert alone.exit_code == 1
    assert json.loads(alone.stdout)["compared"] is False
    said("ledger", "open", "sqlite:///other.db", "--epsilon", "2", "--delta", "1e-5")
    said("verify-model", "model.json", "--ledger", "other.db", code=1)
    said("ledger", "key", "other.key")
    unsigned = said("verify-model", "model.json", "--ledger", "study.db", "--public-key", "other.key.pub", code=1)
    assert "signed" in unsigned
    sound = json.loads(run("verify-model", "model.json", "--ledger", "study.db", "--json").stdout)
    assert sound["sound"] is True
    assert sound["fit"]["kind"] == "approx-dp"
    assert sound["fit"]["epsilon"] == pytest.approx(0.5, rel=1e-4)
    assert sound["fit"]["delta"] == 1e-6
    said("ledger", "export", "study.db", "--out", "books.jsonl")
    with Path("books.jsonl").open("a", encoding="ascii") as file:
        file.write("{}\n")
    assert "more follows after" in said("verify-model", "model.json", "--ledger", "books.jsonl", code=1)
    for arguments in (
        ["people.csv", "--ledger", "study.db"],
        ["model.json", "--ledger", "gone.db"],
        ["gone.json", "--ledger", "study.db"],
        ["model.json", "--ledger", "study.db", "--public-key", "people.csv"],
        ["model.json", "--ledger", "study.db", "--public-key", "other.key"],
        ["model.json"],
    ):
        refused("verify-model", *arguments)


# --- who pays --------------------------------------------------------------------------------------------------


def test_an_account_without_a_budget_of_its_own_is_a_label(study: str) -> None:
    said("ledger", "allocate", "study.db", "team-a", "--share", "0.5")
    said("ledger", "label", "study.db", "ann")
    for account in ("ann", "team-a/ann", "team-a/ann/again"):
        result = said(*trained("--ledger", "study.db", "--account", account, "--force", epsilon="0.1"))
        assert f"charged to '{account}/PrivateBoostClassifier'" in result
        assert "its claim is what the ledger says" in said("verify-model", "model.json", "--ledger", "study.db")
    with Ledger.open("sqlite:///study.db") as ledger:
        paid = [entry.record["account"] for entry in ledger.entries if entry.kind == "charged"]
        team = ledger.sub_budget("team-a").spent
    assert paid == [f"{name}/PrivateBoostClassifier" for name in ("ann", "team-a/ann", "team-a/ann/again")]
    assert getattr(team, "epsilon", 0.0) == pytest.approx(0.2, rel=1e-3)
    for account in ("team-a/", "/", " ann", "a//b"):
        assert "--account: " in refused(*trained("--ledger", "study.db", "--account", account, "--force"))
    said("ledger", "close", "study.db", "team-a")
    assert "is closed" in refused(*trained("--ledger", "study.db", "--account", "team-a", "--force"))


def test_a_sub_budget_that_was_misspelt_is_not_paid_by_the_others(study: str) -> None:
    said("ledger", "allocate", "study.db", "team-a", "--share", "0.5")
    count = entries()
    message = refused(*trained("--ledger", "study.db", "--account", "tema-a"))
    assert "'tema-a'" in message
    assert "nearest there are: team-a" in message
    assert "exchequer ledger label" in message
    assert "'PrivateBoostClassifier'" in refused(*trained("--ledger", "study.db"))
    assert "tema-a" in refused("ledger", "price", "study.db", "--mechanism", "pure-dp:0.1", "--account", "tema-a")
    assert entries() == count
    assert not Path("model.json").exists()
    for account in ("main", "team-a", "team-a/first"):
        said(*trained("--ledger", "study.db", "--account", account, "--force", epsilon="0.1"))
    said("ledger", "label", "study.db", "pilot")
    assert "announced already" in refused("ledger", "label", "study.db", "pilot")
    said(*trained("--ledger", "study.db", "--account", "pilot", "--force", epsilon="0.1"))
    assert "sound" in said("ledger", "verify", "study.db", "--strict")


def test_a_relation_that_the_learner_cannot_keep(study: str) -> None:
    said("ledger", "open", "sqlite:///one.db", "--epsilon", "2", "--delta", "1e-5", "--adjacency", "replace-one")
    count = entries()
    message = refused(*trained("--ledger", "study.db", "--learner", "lazy-boost"))
    assert "exchequer ledger open LEDGER --adjacency replace-one" in message
    message = refused(*trained("--ledger", "one.db"))
    assert "exchequer ledger open LEDGER --adjacency add-remove-one" in message
    assert "or train with another --adjacency" in message
    assert entries() == count
    assert not Path("model.json").exists()
    said(*trained("--ledger", "one.db", "--adjacency", "replace-one"))
    said(*trained("--ledger", "one.db", "--learner", "lazy-boost", "--force"))


def test_what_is_refused_before_anything_is_charged(study: str) -> None:
    count = entries()
    assert "gone.db does not exist" in refused(*trained("--ledger", "gone.db"))
    assert "there is no ledger" in refused(*trained("--ledger", "sqlite:///gone.db"))
    said("ledger", "export", "study.db", "--out", "books.jsonl")
    assert "is an export, for reading only" in refused(*trained("--ledger", "books.jsonl"))
    dear = refused(*trained("--ledger", "study.db", epsilon="2.1"))
    assert "remains under basic composition; nothing was charged" in dear
    assert "; --epsilon 2 would fit" in dear
    assert "go with --ledger" in refused(*trained("--account", "team-a"))
    assert "go with --ledger" in refused(*trained("--signing-key", "people.csv"))
    assert "people.csv: " in refused(*trained("--ledger", "study.db", "--signing-key", "people.csv"))
    Path("model.json").write_text("precious", encoding="utf-8")
    assert "exists already" in refused(*trained("--ledger", "study.db"))
    assert entries() == count
    assert not Path("gone.db").exists()


def test_a_model_that_cannot_be_saved_is_charged_all_the_same(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, path: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(PrivateClassifier, "save", full)
    assert "charged all the same" in refused(*trained("--ledger", "study.db"))
    assert entries() == 3
    assert "charged all the same" not in refused(*trained())


def test_without_a_ledger_each_run_opens_its_own(study: str) -> None:
    result = said(*trained())
    assert "Charged to" not in result
    assert PrivateBoostClassifier.load("model.json").receipts_ == ()
    assert entries() == 1
    assert "opens a new ledger" in said("train", "--help")


def test_the_environment_names_the_ledger(study: str) -> None:
    env: dict[str, str | None] = {"EXCHEQUER_LEDGER": "study.db"}
    assert run(*trained(), env=env).exit_code == 0
    assert entries() == 3
    assert run("verify-model", "model.json", env=env).exit_code == 0


@pytest.mark.usefixtures("study")
def test_charges_say_what_they_are_about() -> None:
    about = ("--about", "dataset=people", "--about", "user=ada")
    result = run(*trained("--ledger", "study.db", *about), env={"EXCHEQUER_PURPOSE": "a pilot"})
    assert result.exit_code == 0, result.output
    found = json.loads(said("ledger", "spent", "study.db", "--by", "purpose", "--where", "dataset=people", "--json"))
    assert [group["said"] for group in found["groups"]] == ["a pilot"]
    model = json.loads(said("ledger", "spent", "study.db", "--by", "model", "--where", "user=ada", "--json"))
    assert model["groups"][0]["said"] == json.loads(Path("model.json").read_text())["receipts"][0]["bought"]
    assert f" {model['groups'][0]['said'][:12]}… " in said("ledger", "spent", "study.db", "--by", "model")
    assert "--about: expected NAME=TEXT" in refused(
        *trained("--ledger", "study.db", "--about", "weather=fine", out="b.json")
    )
    assert "go with --ledger" in refused(*trained("--about", "dataset=people", out="b.json"))


@pytest.mark.parametrize(
    "learner",
    sorted(name for name, each in LEARNERS.items() if name not in ("private-boost", "lazy-boost") and not each.numbers),
)
def test_every_learner_is_charged(folder: Path, learner: str) -> None:
    said("ledger", "open", "sqlite:///study.db", "--epsilon", "2", "--delta", "1e-5", "--adjacency", "replace-one")
    said(*trained("--learner", learner, "--delta", "1e-6", "--ledger", "study.db"))
    assert "sound" in said("ledger", "verify", "study.db", "--strict")
    assert "its claim is what the ledger says" in said("verify-model", "model.json", "--ledger", "study.db")


def test_on_postgresql_and_in_a_process_of_its_own(folder: Path, postgresql_server: Server) -> None:
    with postgresql_server.database() as url:
        said("ledger", "open", url, "--epsilon", "1", "--delta", "1e-5")
        program = [sys.executable, "-m", "exchequer", *trained("--ledger", url, epsilon="0.75")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        first, second = (
            subprocess.run(command, check=False, capture_output=True, text=True, env=env)
            for command in (program, [*program, "--force"])
        )
        assert first.returncode == 0, first.stderr
        assert second.returncode == 2
        assert "nothing was charged" in second.stderr
        assert "its claim is what the ledger says" in said("verify-model", "model.json", "--ledger", url)


def test_single_releases_are_labelled_too(study: str) -> None:
    response = RandomizedResponse(0.25, relation=AddRemoveOne())
    with PayingLedger("study.db", "ann").ledger() as ledger:
        data = ledger.protect(True)
        ledger.release(response, data)
        ledger.release(response, data, account="first")
        assert [entry.record["account"] for entry in ledger.entries if entry.kind == "charged"] == ["ann", "ann/first"]
    with PayingLedger("study.db").ledger() as ledger:
        ledger.release(response, ledger.protect(True), account="first")
        assert [entry.record["account"] for entry in ledger.entries if entry.kind == "charged"][-1] == "first"


def test_a_label_is_a_path() -> None:
    for account in ("a/", "/a", " a", "a/ b"):
        with pytest.raises(ValueError, match="--account"):
            PayingLedger("study.db", account)


# --- the claims that books cite ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule", [BasicComposition(), ZCDPComposition(), AdvancedComposition(1e-7)], ids=lambda rule: rule.name
)
def test_all_claims_of_real_ledgers_are_known(rule: Composition) -> None:
    for name in paid_models.LEARNERS:
        if name.endswith("tuned") and isinstance(rule, ZCDPComposition):
            continue  # a private choice has no ρ
        ledger = paid_models.books(name, rule=rule)
        paid_models.build(name, ledger=ledger).fit(paid_models.X, paid_models.Y)
        assert verify(ledger.entries, claims=known()).errors == ()
        assert verify(ledger.entries, claims=()).errors != (), "the claims are looked at"


def test_all_claims_that_code_declares_are_known() -> None:
    """Those of mechanisms and rules that no learner above uses, too."""
    declared = {*ROUTE_CLAIMS.values()}
    for folder in ("accountant", "mechanisms", "boosting", "learners"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            declared.update(claims_in(ast.parse(path.read_text(encoding="utf-8"))))
    assert len(declared) >= 25
    assert declared <= known().keys()


def claims_in(tree: ast.AST) -> Iterator[str]:
    """Texts in what is given, or assigned, as `claims`, and in what `_rests_on` returns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "claims":
            yield from texts(node.value)
        elif isinstance(node, ast.Assign):
            yield from assigned(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from assigned(node.target, node.value)
        elif isinstance(node, ast.FunctionDef) and node.name == "_rests_on" and len(node.args.args) == 1:
            yield from (text for part in node.body if isinstance(part, ast.Return) for text in texts(part))


def assigned(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its in zip(target.elts, value.elts, strict=True):
            yield from assigned(one, its)
    elif isinstance(target, ast.Name) and target.id == "claims":
        yield from texts(value)


def texts(node: ast.AST) -> Iterator[str]:
    """The texts in it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
            yield part.value


def test_a_fit_is_signed_by_its_writer(study: str) -> None:
    said("ledger", "key", "ada.key")
    said("ledger", "writers", "enrol", "study.db", "--key", "ada.key", "--name", "ada")
    said(*trained("--ledger", "study.db", "--writer-key", "ada.key"))
    said(*trained("--ledger", "study.db", out="again.json"), code=0)
    with Ledger.open("sqlite:///study.db") as ledger:
        kinds = [entry.kind for entry in ledger.entries]
    assert kinds.count("signed") == 1
    assert "signed by nobody" in said("ledger", "verify", "study.db", "--require-signed", code=1)
    assert "its claim is what the ledger says" in said("verify-model", "model.json", "--ledger", "study.db")
    assert "--writer-key go with --ledger" in refused(*trained("--writer-key", "ada.key", out="no.json"))
