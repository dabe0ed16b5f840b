"""The ten questions of AUDITING.md, each asked by the commands that the page prints."""

import json
import re
import shlex
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from click.testing import CliRunner, Result

from accountant import About, AddRemoveOne, ApproxDP, BasicComposition, Ledger
from accountant.arrays import FloatArray
from accountant.registry import Registry
from exchequer.cli import main
from learners import Bounds, PrivateBoostClassifier
from mechanisms import L1Sensitivity, LaplaceNoise, PlainMechanism, Query, SecureNoise

PAGE: Final = (Path(__file__).parents[2] / "AUDITING.md").read_text(encoding="utf-8")
QUESTIONS: Final = re.findall(r"\*\*(\d+)\. (.+?)\*\*.*?\n```sh\n(.*?)```", PAGE, re.DOTALL)
REGISTRY: Final = "sqlite:///registry.db"

ANSWERS: Final = {
    1: ["hospital", "school", "(not said)"],
    2: ["ada", "66.67 %"],
    3: ["before", "it has grown, and nothing before was changed"],
    4: ["pilot study"],
    5: ["team-a", "no number"],
    6: ["zcdp", "for reading only"],
    7: ["sound"],
    8: ["its claim is what the ledger says"],
    9: ["sound", "kept heads that the ledger has: 1"],
    10: ["Data set hospital: 2 ledgers"],
}
"""What must be among the words of each answer."""


def _records(table: int) -> FloatArray:
    return np.array([float(table)])


RECORDS: Final = Query("records", _records, L1Sensitivity(1.0), AddRemoveOne())


def counted(epsilon: float) -> PlainMechanism[int, FloatArray, L1Sensitivity, FloatArray]:
    """A noisy number of records, by secure noise."""
    return PlainMechanism(RECORDS, LaplaceNoise(1.0 / epsilon), SecureNoise())


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), terminal_width=200)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """study.db over two data sets, a model, an export of March, a kept head, and another ledger in one registry."""
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Registry.create(REGISTRY).close()
        promise = {"composition": BasicComposition(), "adjacency": AddRemoveOne(), "registry": REGISTRY}
        hospital = About(dataset="hospital", user="ada", purpose="pilot study")
        with Ledger.open("sqlite:///study.db", ApproxDP(3.0, 1e-5), about=hospital, **promise) as ledger:  # type: ignore[arg-type]  # keywords from a dict
            people, team = ledger.protect(80), ledger.allocate("team-a", 0.5)
            team.release(counted(0.1), people)
            assert run("ledger", "export", "study.db", "--out", "march.jsonl").exit_code == 0
            bob = ledger.labelled("main").concerning(About(dataset="school", user="bob"))
            bob.release(counted(0.2), people)
            model = PrivateBoostClassifier(0.5, 1e-6, rounds_per_column=1, schema=Bounds(0, 1, bins=2), ledger=team)
            model.fit(np.array([[0], [1]] * 40), np.array([0, 1] * 40)).save("model.json")
        with Ledger.open("sqlite:///study.db", about=About(purpose="a poll")) as ledger:
            ledger.release(counted(0.1), ledger.protect(80), account="main")
        with Ledger.open("sqlite:///other.db", ApproxDP(1.0, 1e-6), about=hospital, **promise):  # type: ignore[arg-type]  # the same
            pass
        assert run("ledger", "anchor", "study.db", "--out", "kept.jsonl").exit_code == 0
        shown = run("ledger", "show", "study.db", "--json")
    return folder, str(json.loads(shown.stdout)["head"])


def test_the_page_asks_ten_questions() -> None:
    assert [int(number) for number, _, _ in QUESTIONS] == list(range(1, 11)) == list(ANSWERS)


@pytest.mark.parametrize(("number", "question", "block"), QUESTIONS, ids=[question for _, question, _ in QUESTIONS])
def test_each_is_answered_by_its_commands(
    desk: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, number: str, question: str, block: str
) -> None:
    folder, head = desk
    monkeypatch.chdir(folder)
    found = ""
    for line in block.strip().splitlines():
        program, *words = shlex.split(line.replace("HEAD", head))
        assert program == "exchequer"
        result = run(*words)
        assert result.exit_code == 0, (line, result.output)
        found += result.stdout
    said = " ".join(found.split())
    for answer in ANSWERS[int(number)]:
        assert answer in said, f"{question}: {answer!r} is not in {said}"
