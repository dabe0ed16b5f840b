"""One-run audits by the doors of the other checks: `exchequer audit` and the fixture `privacy`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from exchequer.cli import main
from proofs_tests.exchequer.test_pytest_plugin import run
from proofs_tests.harness.checks import CONFIDENCE

MODULE = """
from functools import partial
import numpy as np
from accountant import GDP
from exchequer.testing import EstimatorAudit, check_one_run, company, corner_canaries
from learners import Bounds, Categorical, PrivateBoostClassifier, RandomFeatureClassifier, Schema
from mechanisms import SeededNoise

M = 512
RARE = Schema((Categorical("code", tuple(f"c{i}" for i in range(M))),))
HIDDEN = corner_canaries(RARE, M, (0, 1), replaced=False)
OTHERS = company(HIDDEN, (0, 1), 15)

class LittleNoise(SeededNoise):
    def gaussian(self, values, sigma, grid):
        return super().gaussian(values, 0.2 * sigma, grid)

def boosted(noise=0):
    return PrivateBoostClassifier(4.0, 1e-5, schema=RARE, adjacency="add-remove-one", random_state=noise)

estimator = boosted()
right = partial(check_one_run, boosted(), *OTHERS, canaries=HIDDEN, random_state=1)
wrong = partial(check_one_run, boosted(LittleNoise(0)), *OTHERS, canaries=HIDDEN, random_state=1)
both = [right, wrong]
audit = EstimatorAudit(boosted(), HIDDEN, name="boosted codes")
number = 3
bare = RandomFeatureClassifier(4.0, 1e-5, schema=Bounds(-1, 1))

def breaks():
    raise KeyError("x")
"""

FIXTURE = (
    MODULE
    + """

def test_right(privacy):
    found = privacy.one_run(boosted(), *OTHERS, canaries=HIDDEN, random_state=1)
    print("confidence", found.report.confidence, found.ratio)

def test_own_confidence(privacy):
    assert privacy.one_run(boosted(), canaries=64, confidence=0.9).report.confidence == 0.9
    assert 0.0 < privacy.run(right).ratio < 1.0
    assert len(privacy.reports) == 2

def test_wrong(privacy):
    privacy.one_run(boosted(LittleNoise(0)), *OTHERS, canaries=HIDDEN, random_state=1)
"""
)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "in_one_run.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "in_one_run"


def test_one_run_audits_are_checks_as_others_are(module: str) -> None:
    found = CliRunner().invoke(main, ["audit", f"{module}:both", "--json"])
    assert found.exit_code == 1, found.output
    told = json.loads(found.output[: found.output.rindex("]") + 1])
    assert [each["verdict"] for each in told] == ["not refuted", "refuted"]
    named = CliRunner().invoke(main, ["audit", f"{module}:audit", "--confidence", "0.9"])
    assert named.exit_code == 0, named.output
    assert "boosted codes" in named.output


@pytest.mark.parametrize("name", ["estimator", "boosted"])
def test_an_estimator_is_audited_in_one_run(module: str, name: str) -> None:
    found = CliRunner().invoke(main, ["audit", f"{module}:{name}", "--one-run", "64", "--json"])
    assert found.exit_code == 0, found.output
    (told,) = json.loads(found.output)
    assert told["subject"] == f"{module}:{name}"
    assert told["confidence"] == pytest.approx(CONFIDENCE)  # the option's, of statistical verdicts
    assert "64 canaries" in told["witness"]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["number", "--one-run", "64"], "expected an estimator"),
        (["breaks", "--one-run", "64"], "KeyError"),
        (["bare", "--one-run", "64"], "no schema to make them from"),
        (["estimator", "--one-run", "64", "--records", "[0, 1]"], "leave it out"),
        (["estimator", "--one-run", "64", "--recorded"], "take one"),
        (["estimator", "--one-run", "64", "--adjacency", "replace-one"], "two steps apart"),
    ],
)
def test_what_no_one_run_audit_is(module: str, arguments: list[str], culprit: str) -> None:
    found = CliRunner().invoke(main, ["audit", f"{module}:{arguments[0]}", *arguments[1:]])
    assert found.exit_code == 2
    assert culprit in found.output


def test_the_fixture_shares_its_budget_with_one_run_audits(tmp_path: Path) -> None:
    found = run(tmp_path, FIXTURE, "-s", "--privacy-false-alarms=3e-3")
    assert "1 failed, 2 passed" in found.stdout, found.stdout
    assert "confidence 0.99955" in found.stdout  # 1 − .9·3e-3/3/2
    assert "PrivateBoostClassifier, one run" in found.stdout
    assert "def check_one_run" not in found.stdout, "the traceback ends in the test"
