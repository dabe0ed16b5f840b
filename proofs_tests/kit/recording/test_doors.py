"""`check_recorded` by the command, as `check_function` is reached; by the fixture: see the tests of the plugin."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from exchequer.cli import main

MODULE = """
import numpy as np
from accountant import PureDP
from exchequer.testing import RecordedAudit

def noisy(scale):
    def program(data):
        return sum(data) + np.random.default_rng().laplace(scale=scale)
    return program

right, wrong = noisy(1.0), noisy(0.999)
audits = [RecordedAudit(right, [((0.0, 0.0), (0.0, 1.0))], PureDP(1.0), name="of a list")]
"""

ASKED = ("--claimed", "pure-dp:1", "--records", "[0, 1]", "--recorded", "--json")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"recorded_{request.node.name}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_the_command_records_a_function(module: str) -> None:
    right = CliRunner().invoke(main, ["audit", f"{module}:right", *ASKED])
    assert right.exit_code == 0, right.output
    (found,) = json.loads(right.stdout)
    assert (found["verdict"], found["found"], found["pairs"]) == ("not refuted", 1.0, 12)
    wrong = CliRunner().invoke(main, ["audit", f"{module}:wrong", *ASKED])
    assert wrong.exit_code == 1, wrong.output
    (found,) = json.loads(wrong.stdout)
    assert found["found"] == pytest.approx(1.0 / 0.999)
    assert f"{module}.py" in found["witness"]


def test_the_command_finds_audits_of_recordings(module: str) -> None:
    listed = CliRunner().invoke(main, ["audit", f"{module}:audits"])
    assert listed.exit_code == 0, listed.output
    assert "| of a list | PureDP(epsilon=1.0) |" in listed.output


def test_the_command_asks_for_a_claim(module: str) -> None:
    alone = CliRunner().invoke(main, ["audit", f"{module}:right", "--recorded"])
    assert alone.exit_code == 2
    assert "--recorded needs both" in alone.output
