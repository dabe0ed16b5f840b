"""The table of all costs under all rules: what stands beside a price is reached, and a price below it shows."""

import math

import attrs
import mpmath as mp
import numpy as np
import pytest

from accountant import GDP, ZCDP, ApproxDP, LaplaceDP, PureDP
from benchmarks.prices import exact_prices, tightness, tightness_learners
from benchmarks.prices.exact_prices import DELTA, Known, known
from benchmarks.prices.tightness import KINDS, PRICE, Row, flag
from benchmarks.runner.report import Grid, Report


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.1, 2), (0.1, 50), (1.0, 3), (0.01, 1000)])
def test_laplace_noise_in_cells_is_below_dp_accounting_and_near_it(epsilon: float, rounds: int) -> None:
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution

    one = privacy_loss_distribution.from_laplace_mechanism(1.0 / epsilon, value_discretization_interval=epsilon / 512)
    theirs = one.self_compose(rounds).get_epsilon_for_delta(DELTA)
    assert 0.999 * theirs < exact_prices.laplace_epsilon(rounds, epsilon) <= theirs


@pytest.mark.parametrize("rho", [5e-5, 5e-3, 0.5])
@pytest.mark.parametrize("share", [0.6, 1.0])
def test_the_two_losses_beside_zcdp_are_of_that_rho(rho: float, share: float) -> None:
    high = share * (rho + 2.0 * math.sqrt(-rho * math.log(DELTA)))
    low = exact_prices._lowest_loss(high, rho)
    with mp.workdps(40):
        p = mp.expm1(low) / (mp.exp(low) - mp.exp(-high))
        most = 0.0
        for order in 1.0 + np.geomspace(1e-3, 1e5, 150):
            a = mp.mpf(float(order))
            ours = mp.log(p * mp.exp((a - 1) * high) + (1 - p) * mp.exp(-(a - 1) * low)) / (a - 1)
            theirs = mp.log(p * mp.exp(-a * high) + (1 - p) * mp.exp(a * low)) / (a - 1)
            most = max(most, float(max(ours, theirs) / (rho * a)))
    assert 0.98 < most <= 1.0


def test_costs_with_a_delta_of_their_own_are_their_binomial_law() -> None:
    """One (ε, δ₀): all with chance δ₀, else randomized response, by the definition of δ."""
    found = known(ApproxDP(0.5, 1e-6), 1).epsilon
    truth = 1.0 / (1.0 + math.exp(-0.5))
    assert 1e-6 + (1.0 - 1e-6) * truth * -math.expm1(found - 0.5) == pytest.approx(DELTA, rel=1e-6)


def test_the_best_of_gaussians_with_one_run_is_one_gaussian() -> None:
    one = exact_prices.best_of_gaussians(0.3, 1.0 - 1e-9)
    assert one == pytest.approx(exact_prices.gaussian_epsilon(0.3), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_no_price_is_below_what_is_reached_and_every_flag_has_its_reason(kind: str) -> None:
    found = tightness.rows(kind, (1, 10))
    assert {row.rule for row in found} >= {PRICE, "ledger, advanced", "ledger, zcdp"} - (
        {"ledger, zcdp"} if kind == "ApproxDP" else set()
    )
    for row in found:
        assert row.ratio >= 1.0 - tightness.ROUNDING, row
        assert bool(row.flag) == bool(row.why) == (row.ratio > tightness.NOTICED), row
    grid, report = tightness.table(kind, (1,))
    assert isinstance(grid, Grid)
    assert isinstance(report, Report)
    assert report.met, report.table
    assert all(len(row) == len(grid.head) for row in grid.rows)


@pytest.mark.parametrize("factor", [0.9999, 1.03])
def test_a_price_below_the_truth_or_far_above_is_missed(factor: float) -> None:
    row = Row(PureDP(0.1), 10, PRICE, factor * 0.5, Known(0.5, True, "as said"))
    assert tightness._within("it", row, 1.02).met is False
    assert tightness._within("it", row, None).met == (factor > 1.0)
    assert flag(1.051) == "> 1.05"
    assert flag(1.03) == "> 1.02"
    assert not flag(1.02)


@pytest.mark.parametrize("name", ["boosted 1-Rules", "PrivateBoost", "DPBoost", "bagging"])
def test_a_learner_is_charged_what_its_releases_lose(name: str) -> None:
    pytest.importorskip("dp_accounting")
    for delta in (DELTA, 0.0):
        if delta or name in tightness_learners.PURE:
            _, line = tightness_learners.learner_line(name, delta)
            assert line.met, line


def test_the_releases_of_a_ledger_are_those_that_were_charged() -> None:
    ledger = tightness_learners.fitted("PrivateBoost", DELTA)
    rounds = tightness_learners.releases(ledger)
    assert all(isinstance(cost, GDP) for cost in rounds)
    squares = sum(number * attrs.astuple(cost)[0] ** 2 for cost, number in rounds.items())
    assert exact_prices.gaussian_epsilon(math.sqrt(squares)) == pytest.approx(tightness_learners.EPSILON, rel=1e-5)


def test_what_is_taken_at_its_word_is_not_judged_and_choices_are() -> None:
    pytest.importorskip("dp_accounting")
    grid, report = tightness_learners.learners(["logistic regression"], [2])
    assert isinstance(grid, Grid)
    assert isinstance(report, Report)
    assert [line.met for line in report.lines] == [None, True, True]
    assert [bool(row[-1]) for row in grid.rows] == [True, False, False]


def test_kinds_of_cost_that_are_no_worse_are_found_no_worse() -> None:
    """Laplace noise loses less than what is ε-DP, and a Gaussian no more than some mechanism of its ρ."""
    for rounds in (2, 30):
        assert known(LaplaceDP(0.3), rounds).epsilon < known(PureDP(0.3), rounds).epsilon
        assert known(GDP(0.3), rounds).epsilon <= known(ZCDP(0.045), rounds).epsilon
