"""A model's claim that agrees with books that protect nobody, or less than they seem, is not plainly confirmed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from accountant import Ledger, Plan, PureDP
from exchequer.cli import main
from mechanisms import SeededNoise
from proofs_tests.support.learners.paid_models import X, Y, books, build


def confirmed(folder: Path, seed: int | None, crash: bool) -> tuple[int, dict[str, object], str]:
    """The exit code, the JSON and the text of `exchequer verify-model` for a model on a durable ledger."""
    terms = books("lazy boost")
    url = f"sqlite:///{folder}/study.db"
    with Ledger.open(url, terms.budget, composition=terms.composition, adjacency=terms.adjacency) as ledger:
        noise = None if seed is None else SeededNoise(seed)
        build("lazy boost", ledger=ledger, random_state=noise).fit(X, Y).save(folder / "model.json")
        if crash:
            ledger.reserve(Plan.of(PureDP(0.01)), adjacency=ledger.adjacency)
    command = ["verify-model", str(folder / "model.json"), "--ledger", url]
    told, plain = (CliRunner().invoke(main, [*command, *more], env={"COLUMNS": "200"}) for more in (["--json"], []))
    assert told.exit_code == plain.exit_code
    return told.exit_code, json.loads(told.stdout), plain.stdout


@pytest.mark.parametrize(
    ("seed", "crash", "code", "caveat"),
    [
        (None, False, 0, ""),
        (0, False, 3, "some noise in this ledger was simulated"),
        (None, True, 3, "without a release"),
    ],
)
def test_a_claim_is_confirmed_with_the_caveats_of_its_books(
    tmp_path: Path, seed: int | None, crash: bool, code: int, caveat: str
) -> None:
    ended, found, printed = confirmed(tmp_path, seed, crash)
    assert ended == code
    assert found["sound"] is True
    assert found["verdict"] == ("with caveats" if caveat else "sound")
    assert caveat in json.dumps(found["caveats"])
    assert bool(found["caveats"]) is bool(caveat) is ("WITH CAVEATS" in printed)
