"""`exchequer audit`, as a third party uses it, and the check of draws that it makes."""

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
from accountant import ReplaceOne
from mechanisms import ExponentialChoice, PermuteAndFlipChoice, PlainSelection, Query, RangeSensitivity, SeededNoise
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
