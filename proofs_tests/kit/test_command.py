"""`exchequer audit`, as a third party uses it, and the check of draws that it makes."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from exchequer.cli import main
from mechanisms import ExponentialChoice, NoiseSource, PermuteAndFlipChoice, PlainSelection, Query, RangeSensitivity
from proofs_tests.harness import ClaimViolated, check_draws

MODULE = """
import numpy as np
from functools import partial
from accountant import PureDP, ReplaceOne
from exchequer.testing import FunctionAudit, check_sensitivity, neighbours
from mechanisms import ExponentialChoice, PermuteAndFlipChoice, PlainSelection, Query, RangeSensitivity, SeededNoise
from mechanisms import L1Sensitivity, LaplaceNoise, PlainMechanism, SecureNoise
from proofs_tests.harness.command import Audit

def counts(sensitivity):
    count = lambda column: np.bincount(column, minlength=3).astype(float)
    return Query("counts", count, RangeSensitivity(sensitivity), ReplaceOne())

def audit(randomizer, sensitivity):
    return Audit.over(PlainSelection(counts(sensitivity), randomizer, SeededNoise(0)), range(3), 3)

good = [audit(ExponentialChoice(0.3), 2.0), audit(PermuteAndFlipChoice(0.3), 2.0)]

def bad():
    return audit(ExponentialChoice(0.3), 1.6)

def breaks():
    raise KeyError("x")

def count_of(data):
    return float(sum(data))

pairs = list(neighbours(ReplaceOne(), range(3), 2))
kit = [partial(check_sensitivity, counts(s), pairs, complete=True) for s in (2.0, 1.0)]
own = lambda: check_sensitivity(counts(1.0), pairs, complete=True)
mechanism = PlainSelection(counts(1.0), ExponentialChoice(0.3), SeededNoise(0))
laplace = PlainMechanism(Query("count", count_of, L1Sensitivity(1.0), ReplaceOne()), LaplaceNoise(2.0), SecureNoise())
mixed = [audit(ExponentialChoice(0.3), 1.6), FunctionAudit(lambda data: object(), [((0,), (1,))], PureDP(1.0)), *good]
def leaves(data):
    raise SystemExit(0)

exits = FunctionAudit(leaves, [((0,), (1,))], PureDP(1.0))
nothing = []
number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"audited_{request.node.name}".replace("[", "_").replace("]", "_").replace(":", "_")
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_an_audit_prints_a_table_and_the_worst_pair(module: str) -> None:
    good = CliRunner().invoke(main, ["audit", f"{module}:good"])
    assert good.exit_code == 0, good.output
    assert good.output.count("| Exponential(counts)") == good.output.count("| PermuteAndFlip(counts)") == 2
    bad = CliRunner().invoke(main, ["audit", f"{module}:bad"])
    assert bad.exit_code == 1
    assert "ratio 1.2500" in bad.output
    assert "against" in bad.output


@pytest.mark.parametrize(
    ("name", "culprit"),
    [
        ("nothing", "nothing to check"),
        ("number", "expected an Audit"),
        ("missing", "has no attribute 'missing'"),
        ("breaks", "KeyError"),
    ],
)
def test_what_cannot_be_audited_is_named(module: str, name: str, culprit: str) -> None:
    result = CliRunner().invoke(main, ["audit", f"{module}:{name}"])
    assert result.exit_code == 2
    assert culprit in result.output
    for wrong in ("no.such.module:x", "no-colon"):
        assert CliRunner().invoke(main, ["audit", wrong]).exit_code == 2


def test_audit_is_listed_beside_the_other_commands() -> None:
    assert "audit" in CliRunner().invoke(main, ["--help"]).output


class Disguised(ExponentialChoice):
    """Says that it is the exponential mechanism, and draws by permute-and-flip."""

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.permute_and_flip_choice(value, self.eta)


def test_draws_are_compared_with_the_stated_law() -> None:
    scores: Query[FloatArray, FloatArray, RangeSensitivity] = Query(
        "scores", lambda x: x, RangeSensitivity(1.0), ReplaceOne()
    )
    data = np.array([0.0, 0.5, 2.0])
    for randomizer in (ExponentialChoice(1.0), PermuteAndFlipChoice(1.0)):
        assert check_draws(PlainSelection(scores, randomizer), data, samples=2000).verdict == "not refuted"
    with pytest.raises(ClaimViolated, match="outcome 2 came"):
        check_draws(PlainSelection(scores, Disguised(1.0)), data, samples=20_000)


def test_any_check_of_the_kit_goes_by_this_door(module: str) -> None:
    kit = CliRunner().invoke(main, ["audit", f"{module}:kit"])
    assert kit.exit_code == 1, kit.output
    assert kit.output.count("| counts |") == 2
    assert kit.output.count("| refuted |") == kit.output.count("| exact |") == 1
    own = CliRunner().invoke(main, ["audit", f"{module}:own"])
    assert own.exit_code == 1, own.output
    assert "refuted" in own.output


def test_a_mechanism_alone_needs_records(module: str) -> None:
    bare = CliRunner().invoke(main, ["audit", f"{module}:mechanism"])
    assert bare.exit_code == 2
    assert "say where to look, by --records" in bare.output
    given = CliRunner().invoke(main, ["audit", f"{module}:mechanism", "--records", "[0, 1, 2]", "-n", "2"])
    assert given.exit_code == 1, given.output
    assert "ratio 2.0000" in given.output
    again = CliRunner().invoke(main, ["audit", f"{module}:mechanism", "--records", "[0, 1]", "--claimed", "pure-dp:1"])
    assert "declares its own cost" in again.output
    options = ["--records", "[0, 1]", "-n", "1", "--samples", "2000", "--processes", "2", "--time-limit", "30"]
    drawn = CliRunner().invoke(main, ["audit", f"{module}:laplace", *options])
    assert drawn.exit_code == 0, drawn.output
    assert "| not refuted" in drawn.output


def test_what_cannot_be_checked_does_not_hide_what_is_refuted(module: str, tmp_path: Path) -> None:
    files = tmp_path / "new" / "j.xml", tmp_path / "new" / "s.json"
    options = ["--junit", str(files[0]), "--sarif", str(files[1])]
    mixed = CliRunner().invoke(main, ["audit", f"{module}:mixed", *options])
    assert mixed.exit_code == 1, mixed.output
    assert mixed.output.count("| Exponential(counts)") == 4, "draws too"
    said = f"not checked: {module}:mixed: lambda at {module}.py:"
    assert said in mixed.output, mixed.output
    assert ": TypeError: outputs of type object cannot be compared" in mixed.output
    (suite,) = ET.parse(files[0]).iter("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    (run,) = json.loads(files[1].read_text())["runs"]
    assert "outputs of type object" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert "outputs of type object" in CliRunner().invoke(main, ["audit", f"{module}:mixed", "--json"]).output


def test_files_tell_where_nothing_could_be_checked_and_an_exit_is_no_verdict(module: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["audit", f"{module}:exits", "--sarif", str(tmp_path / "s.json")])
    assert result.exit_code == 2
    assert "SystemExit: 0" in result.output
    (run,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False


@pytest.mark.parametrize("records", ["[0, 1", "", "zero"])
def test_records_that_are_no_json_are_named(module: str, records: str) -> None:
    result = CliRunner().invoke(main, ["audit", f"{module}:count_of", "--claimed", "pure-dp:1", "--records", records])
    assert result.exit_code == 2
    assert f"--records: expected JSON, as '[0, 1]', got {records!r}" in result.output


def test_the_kit_is_imported_whole() -> None:
    names: dict[str, object] = {}
    exec("from exchequer.testing import *", names)  # what a user writes
    assert names["check_draws"] is check_draws
