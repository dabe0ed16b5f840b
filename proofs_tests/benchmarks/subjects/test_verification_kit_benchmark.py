"""The benchmark of the kit says what the kit says, no more and no less."""

from pathlib import Path

import attrs
import pytest

from benchmarks.kit import verification_kit, verification_power
from benchmarks.kit.verification_power import PAIR, SUBJECTS, looked, refuted, sampled
from benchmarks.runner.report import Grid, Measured, Report
from benchmarks.runner.suite import Setting
from proofs_tests.harness import ClaimViolated, check_mechanism
from proofs_tests.harness import Report as Found
from proofs_tests.mutants import MUTANTS
from proofs_tests.mutants.mutant import cheaper

TRIED = (1.0, 1.1, 2.0)
FOUND = Found("s", "c", "ε", 1.0, 0.5, "exact", "w", 1, 0.1)


def refutes_from(factor: float) -> verification_kit.Check:
    def check(claimed: float) -> Found:
        if claimed > factor:
            raise ClaimViolated(attrs.evolve(FOUND, found=2.0))
        return FOUND

    return check


def test_the_smallest_refuted_factor_is_found() -> None:
    assert verification_kit.least_refuted(refutes_from(1.25), 20) == pytest.approx(1.25, rel=1e-5)
    assert verification_kit.least_refuted(refutes_from(3.0), 20) == float("inf")


def test_a_blind_check_is_missed() -> None:
    (report,) = verification_kit.detection("t", {"blind": refutes_from(1.1), "stern": refutes_from(0.9)}, 12)
    assert isinstance(report, Report)
    assert [line.met for line in report.lines] == [True, False, None, False, True, None]


@pytest.mark.parametrize("name", verification_kit.exact_checks())
def test_an_exact_check_accepts_what_is_true_and_refuses_a_hundredth_less(name: str) -> None:
    check = verification_kit.exact_checks()[name]
    check(1.0)
    with pytest.raises(ClaimViolated):
        check(1.01)


@pytest.mark.parametrize("name", SUBJECTS)
def test_one_draw_answers_every_factor_as_the_kit_would(name: str) -> None:
    """The same seed under a price that is really understated."""
    found = looked(name, 10_000, 3)
    tried = (*TRIED[:2], 4.0) if "probability 0.05" in name else TRIED  # the rare outcome is what takes most
    answers = [refuted(found, factor) for factor in tried]
    assert answers == [False, False, True]
    for factor, answer in zip(tried, answers, strict=True):
        try:
            again = check_mechanism(cheaper(sampled(name, 3), factor), [PAIR], samples=10_000)
        except ClaimViolated as violated:
            again = violated.report
        assert again.refuted is answer
        assert again.found == found.found


def test_power_is_shares_and_factors() -> None:
    shares, factors, report = verification_power.power("Laplace noise, ε = 1", ((400, 2), (800, 2)))
    assert isinstance(shares, Grid)
    assert all(isinstance(cell, Measured) and 0.0 <= cell.value <= 1.0 for row in shares.rows for cell in row[1:])
    assert isinstance(factors, Grid)
    assert all(isinstance(cell, Measured) and cell.printed for row in factors.rows for cell in row[1:])
    assert isinstance(report, Report)
    assert report.met


def test_from_too_few_samples_nothing_is_refused() -> None:
    assert verification_power.least_refuted(attrs.evolve(FOUND, found=0.0)) == verification_power.SOUGHT


def test_some_of_each_method_are_chosen() -> None:
    some = verification_kit.chosen(6)
    assert {mutant.method for mutant in some} == {mutant.method for mutant in MUTANTS}
    assert len(some) < len(MUTANTS) / 4
    assert verification_kit.chosen(1) == sorted(MUTANTS, key=lambda mutant: mutant.method)


def test_a_cost_above_its_charge_is_missed() -> None:
    line = verification_kit.within(attrs.evolve(FOUND, found=1.01))
    assert line.met is False
    assert isinstance(line.found, Measured)
    assert line.found.ratio == pytest.approx(1.01)


def test_parts_have_names_of_their_own(tmp_path: Path) -> None:
    names = [part.name for part in verification_kit.parts(Setting(None, True, tmp_path))]
    assert len(set(names)) == len(names)
