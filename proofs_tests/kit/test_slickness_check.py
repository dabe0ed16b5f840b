"""`check_slickness`: sharp to a tenth in every round, and loud where a certificate is invented."""

import json
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from accountant import AddRemoveOne, ReplaceOne
from boosting import ExponentialWeights, LazyBregman, Reweighted
from exchequer.cli import main
from mechanisms import Slickness
from proofs_tests.harness import ClaimViolated, check_slickness
from proofs_tests.harness.slickness import LabelledPoints, Lookup
from proofs_tests.mutants.measures import Measure

TIGHT: list[LazyBregman | ExponentialWeights] = [
    LazyBregman(0.5, 1.0),  # 1/(κn) from round 2 on
    LazyBregman(0.1, 0.2),  # r/(r + n − 1) in every round
    ExponentialWeights(0.3),
    ExponentialWeights(0.3, capped=True),
]


@pytest.mark.parametrize("measure", TIGHT, ids=repr)
def test_what_the_library_certifies_is_exact_and_attained(measure: LazyBregman | ExponentialWeights) -> None:
    report = check_slickness(measure, sizes=(2, 3))
    assert report.verdict == "exact"
    assert report.ratio == pytest.approx(1.0, abs=1e-9)
    assert measure.name in str(report)


@pytest.mark.parametrize("factor", [1.0, 0.9])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("measure", TIGHT, ids=repr)
def test_a_tenth_less_in_one_round_is_refuted_there(
    measure: LazyBregman | ExponentialWeights, number: int, factor: float
) -> None:
    def promise(n: int, round_: int) -> float:
        return measure.slickness(n, round_).zeta * (factor if round_ == number else 1.0)

    cheaper = Measure(measure.weights, promise)
    if factor == 1.0:
        assert check_slickness(cheaper, sizes=(3,)).verdict == "exact"
        return
    with pytest.raises(ClaimViolated, match=rf"round {number}, ") as violated:
        check_slickness(cheaper, sizes=(3,))
    assert violated.value.report.ratio == pytest.approx(1.0 / 0.9, rel=1e-9)
    assert violated.value.report.verdict == "refuted"


def test_real_hypotheses_are_looked_at_too() -> None:
    assert check_slickness(LazyBregman(0.4, 0.7), sizes=(2,), predictions=(-1.0, 0.25, 1.0)).ratio > 0.999
    # With these only, margins are apart by half as much, and what is certified is never reached in the last round.
    half = check_slickness(ExponentialWeights(0.5), sizes=(3,), rounds=2, predictions=(-0.5, 0.5))
    assert half.witness.startswith("round 1")
    assert half.verdict == "exact"


def test_all_neighbours_and_histories_are_looked_at() -> None:
    """Samples of 2 of 4 labelled points differ in one record in 48 ways; hypotheses on two points are 4."""
    assert check_slickness(LazyBregman(0.5, 1.0), sizes=(2,), rounds=1).pairs == 48
    assert check_slickness(LazyBregman(0.5, 1.0), sizes=(2,), rounds=3).pairs == 48 * (1 + 4 + 16)


@attrs.frozen
class Carried:
    """LazyBregman's weighting with a certificate of its own; it is what a release is compared with."""

    state: Reweighted[LabelledPoints]
    slickness: Slickness

    @property
    def distribution(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray(self.state.measure.distribution)


@attrs.frozen
class Smuggler:
    """Announces what is true; what goes with its weightings is `zeta`, or for other neighbours."""

    inner: LazyBregman
    zeta: float
    relation: ReplaceOne | AddRemoveOne

    def slickness(self, n: int, number: int) -> Slickness:
        return self.inner.slickness(n, number)

    def start(self, sample: LabelledPoints) -> Carried:
        return Carried(self.inner.start(sample), Slickness(self.zeta, sample.n, self.relation, "smuggler", ()))

    def step(self, state: Carried, hypothesis: Lookup) -> Carried:
        return Carried(self.inner.step(state.state, hypothesis), state.slickness)


def test_the_certificate_that_goes_with_a_weighting_is_checked_as_well() -> None:
    assert check_slickness(Smuggler(LazyBregman(0.5, 1.0), 1.0, ReplaceOne())).verdict == "exact"
    with pytest.raises(ClaimViolated, match=r"ζ = 0.01"):
        check_slickness(Smuggler(LazyBregman(0.5, 1.0), 0.01, ReplaceOne()))
    with pytest.raises(ValueError, match="under replace-one"):
        check_slickness(Smuggler(LazyBregman(0.5, 1.0), 1.0, AddRemoveOne()))


def test_weights_that_cannot_be_read_are_refused_with_the_remedy() -> None:
    @attrs.frozen
    class Bare:
        slickness: Slickness

    class Hidden:
        def slickness(self, n: int, number: int) -> Slickness:
            return Slickness(1.0, n, ReplaceOne(), "hidden", ())

        def start(self, sample: LabelledPoints) -> Bare:
            return Bare(self.slickness(sample.n, 1))

        def step(self, state: Bare, hypothesis: Lookup) -> Bare:
            return state

    with pytest.raises(TypeError, match="distribution=…"):
        check_slickness(Hidden())
    uniform = check_slickness(Hidden(), distribution=lambda state: np.full(state.slickness.n, 1.0 / state.slickness.n))
    assert uniform.verdict == "exact"
    with pytest.raises(ValueError, match=r"no distribution.*sums to 2"):
        check_slickness(Hidden(), distribution=lambda state: np.full(state.slickness.n, 2.0 / state.slickness.n))
    with pytest.raises(ValueError, match="sizes: expected"):
        check_slickness(Hidden(), sizes=())


MODULE = """
from boosting import LazyBregman
from proofs_tests.harness.command import MeasureAudit
from proofs_tests.mutants.measures import Measure

lazy = LazyBregman(0.5, 1.0)
good = MeasureAudit(lazy, sizes=(2, 3))
invented = [good, MeasureAudit(Measure(lazy.weights, lambda n, number: 0.1))]
"""


def test_measures_are_audited_from_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_measures.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    good = CliRunner().invoke(main, ["audit", "audited_measures:good"])
    assert good.exit_code == 0, good.output
    assert "| exact |" in good.output
    bad = CliRunner().invoke(main, ["audit", "audited_measures:invented", "--json"])
    assert bad.exit_code == 1
    assert [each["verdict"] for each in json.loads(bad.stdout)] == ["exact", "refuted"]
    assert "hypotheses so far" in bad.stderr
