"""The commands that print a model's statement say that it is one of several fits with ledgers of their own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from exchequer.cli import main
from learners import PrivateBoostClassifier, Schema
from proofs_tests.support.learners.paid_models import X, Y
from proofs_tests.support.ledgers.separate import separate

ONE_OF_TWO = (
    "Everything released by this fit is together (1, 1e-06)-differentially private under add-remove-one. This is fit 2 "
    "of 2 that this estimator, its clones and its copies made, each on a ledger of its own. If they saw the same "
    "records, they are together (2, 2e-06)-differentially private under add-remove-one."
)


def run(*arguments: str, code: int = 0) -> str:
    """What a command printed, on one line."""
    result = CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def refitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """model.json, of a second fit; records.csv; study.db."""
    monkeypatch.chdir(tmp_path)
    model = PrivateBoostClassifier(rounds_per_column=1, schema=Schema.boolean(["a", "b", "c"]))
    model.fit(X, Y).fit(X, Y).save("model.json")
    Path("records.csv").write_text("a,b,c\n1,0,1\n", encoding="utf-8")
    run("ledger", "open", "sqlite:///study.db", "--epsilon", "2", "--delta", "1e-5")


@separate
@pytest.mark.usefixtures("refitted")
def test_whoever_reads_the_statement_is_told() -> None:
    assert ONE_OF_TWO in run("explain", "model.json")
    assert ONE_OF_TWO in run("explain", "model.json", "--format", "markdown")
    statement = json.loads(run("explain", "model.json", "--format", "json"))["statement"]
    assert statement["guarantee"] == ONE_OF_TWO
    assert (statement["fits"]["number"], statement["fits"]["known"]) == (2, 2)
    assert ONE_OF_TWO in run("predict", "records.csv", "--model", "model.json")
    alone = run("verify-model", "model.json", "--ledger", "study.db", code=1)
    assert "its statement says: This is fit 2 of 2 that this estimator" in alone


@separate
@pytest.mark.usefixtures("refitted")
def test_a_model_with_receipts_cannot_claim_it() -> None:
    """Books know of no such fits, so that a statement that speaks of them is not theirs."""
    Path("schema.toml").write_text(
        '[label]\nname = "y"\nclasses = ["0", "1"]\n[[columns]]\nname = "a"\nkind = "boolean"\n', encoding="utf-8"
    )
    rows = "\n".join(f"{row[0]},{label}" for row, label in zip(X.tolist(), Y.tolist(), strict=True))
    Path("train.csv").write_text(f"a,y\n{rows}\n", encoding="utf-8")
    run("train", "train.csv", "--schema", "schema.toml", "--epsilon", "1", "--ledger", "study.db", "--out", "paid.json")
    assert "its claim is what the ledger says" in run("verify-model", "paid.json", "--ledger", "study.db")
    paid, other = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("paid.json", "model.json"))
    paid["statement"]["fits"] = other["statement"]["fits"]
    Path("forged.json").write_text(json.dumps(paid), encoding="utf-8")
    assert "its statement: fits: the file says" in run("verify-model", "forged.json", "--ledger", "study.db", code=1)
