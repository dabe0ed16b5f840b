"""Plans of Gaussians on Poisson samples, against dp-accounting's distributions rounded up and rounded down."""

import functools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from accountant import (
    GDP,
    LaplaceDP,
    Plan,
    PureDP,
    Step,
    SubsampledGaussian,
    UnsupportedCost,
)
from accountant.composition import dominating_pairs
from accountant.composition.loss_distribution import TooFine
from accountant.composition.plans import ROUTES
from accountant.costs import gaussian, subsampling
from accountant.costs.subsampling import DIRECTIONS, Direction

DELTA = 1e-5


@functools.cache
def theirs(noise: float, rate: float, steps: int, *, below: bool) -> float:
    """ε at DELTA; below: of a pair that loses less, so that no sound price is smaller."""
    distribution = peer.from_gaussian_mechanism(
        noise,
        sampling_prob=rate,
        value_discretization_interval=min(1e-4, 0.02 * rate / noise),
        pessimistic_estimate=not below,
        use_connect_dots=not below,
    )
    return float(distribution.self_compose(steps, 1e-13).get_epsilon_for_delta(DELTA))


@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [(0.8, 0.01, 100), (1.0, 0.001, 100), (2.0, 0.1, 100), (1.0, 0.01, 10_000), (2.0, 0.01, 10_000)],
)
def test_plans_are_priced_within_a_percent_of_the_peer_and_never_below_the_truth(
    noise: float, rate: float, steps: int
) -> None:
    plan = Plan.of(SubsampledGaussian.of_noise(noise, rate), steps)
    price = plan.price(DELTA)
    assert price.route == "pld"
    assert theirs(noise, rate, steps, below=True) <= price.best.epsilon * (1 + 1e-9)
    assert price.best.epsilon <= 1.01 * theirs(noise, rate, steps, below=False)
    # Their lower bound is loose over many steps; where it is not, it refutes nine tenths of the price.
    if steps <= 100:
        assert 0.9 * price.best.epsilon < theirs(noise, rate, steps, below=True)
    cheaper = SubsampledGaussian(0.9 / noise, rate)
    assert Plan.of(cheaper, steps).price(DELTA).best.epsilon < theirs(noise, rate, steps, below=False)


def test_the_direction_that_adds_a_record_counts_too() -> None:
    """The worse of the two is what is charged: at a large δ over many rounds it may be either."""
    costs = [(SubsampledGaussian(2.0, 0.2), 30)]
    both = [found.epsilon(DELTA) for way in DIRECTIONS if (found := dominating_pairs.composition(costs, DELTA, way))]
    assert len(both) == 2
    assert both[0] != pytest.approx(both[1], rel=1e-3)
    assert dominating_pairs.epsilon(costs, DELTA) == max(both)


@pytest.mark.parametrize("route", ROUTES)
def test_at_rate_1_every_route_prices_the_gaussian(route: str) -> None:
    for rounds in (1, 40):
        sampled, plain = Plan.of(SubsampledGaussian(0.3, 1.0), rounds), Plan.of(GDP(0.3), rounds)
        assert sampled.route(route, DELTA) == plain.route(route, DELTA)


def test_at_rate_0_a_plan_costs_nothing_at_any_delta() -> None:
    nothing = Plan.of(SubsampledGaussian(5.0, 0.0), 1000)
    assert nothing.price(0.0).best.epsilon == 0.0 == nothing.price(DELTA).best.epsilon
    mixed = Plan((Step(SubsampledGaussian(5.0, 0.0), 7), Step(PureDP(0.25), 2)))
    assert mixed.price(0.0).best.epsilon == 0.5


def test_one_round_is_priced_on_its_own_curve_and_delta_0_has_no_price() -> None:
    cost = SubsampledGaussian(1.0, 0.01)
    assert Plan.of(cost).route("pld", DELTA) == cost.to_approx(delta=DELTA).epsilon
    with pytest.raises(UnsupportedCost):
        Plan.of(cost).price(0.0)


@settings(max_examples=8)
@given(st.sampled_from([0.4, 0.8, 1.5]), st.sampled_from([1e-4, 0.01, 0.3, 0.97]), st.sampled_from([2, 30, 500]))
def test_plans_are_monotone_in_noise_rate_and_rounds(mu: float, rate: float, rounds: int) -> None:
    whole = Plan.of(SubsampledGaussian(mu, rate), rounds).price(DELTA).best.epsilon
    slack = 1e-4 * whole + 1e-9
    for less in (
        Plan.of(SubsampledGaussian(0.8 * mu, rate), rounds),
        Plan.of(SubsampledGaussian(mu, 0.8 * rate), rounds),
        Plan.of(SubsampledGaussian(mu, rate), rounds // 2),
    ):
        assert less.price(DELTA).best.epsilon <= whole + slack
    assert whole <= Plan.of(GDP(mu), rounds).price(DELTA).best.epsilon + slack


def test_beside_other_kinds_it_costs_more_than_either_and_less_than_both() -> None:
    sampled, noise = Step(SubsampledGaussian(1.0, 0.01), 300), Step(LaplaceDP(0.05), 20)
    parts = [Plan((step,)).price(0.5 * DELTA).best.epsilon for step in (sampled, noise)]
    assert max(parts) * 0.9 < Plan((sampled, noise)).price(DELTA).best.epsilon < sum(parts)


def test_without_distributions_the_sampling_is_left_out() -> None:
    """As GDP, and as ρ: sound for any rate, and no smaller number would be."""
    sampled, plain = Plan.of(SubsampledGaussian(0.2, 0.5), 9), Plan.of(GDP(0.2), 9)
    for route in ("gdp", "zcdp", "renyi"):
        assert sampled.route(route, DELTA) == plain.route(route, DELTA)
    assert sampled.route("kov", DELTA) is None


def test_heavy_tails_are_priced_on_coarser_grids() -> None:
    """Little noise on few records: one round's loss may be a thousand times its spread."""
    epsilon = Plan.of(SubsampledGaussian(2.5, 1e-3), 10).route("pld", DELTA)
    assert epsilon is not None
    assert theirs(0.4, 1e-3, 10, below=True) <= epsilon <= 1.01 * theirs(0.4, 1e-3, 10, below=False)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.1), (0.5, 0.4), (2.0, 0.01)])
def test_two_rounds_are_the_integral_of_one_over_the_other(mu: float, rate: float, direction: Direction) -> None:
    """δ₂(x) = E δ₁(x − loss), the loss under P, by quadrature over the noise: never above what is convolved."""
    pairs = dominating_pairs.composition([(SubsampledGaussian(mu, rate), 2)], DELTA, direction)
    assert pairs is not None

    def loss(z: float) -> float:
        ratio = float(np.logaddexp(math.log1p(-rate), math.log(rate) + mu * z - 0.5 * mu * mu))
        return ratio if direction == "remove" else -ratio

    def density(z: float) -> float:
        plain, moved = norm.pdf(z), norm.pdf(z - mu)
        return float((1 - rate) * plain + rate * moved) if direction == "remove" else float(plain)

    for epsilon in (0.0, 0.05, 0.3, 1.0):

        def under_p(z: float, x: float = epsilon) -> float:
            return density(z) * float(subsampling.profile(mu, rate, np.array([x - loss(z)]), direction)[0])

        true = sum(quad(under_p, at, at + 1.0, epsabs=1e-16, epsrel=1e-10)[0] for at in range(-10, 13))
        found = pairs.delta(epsilon)
        assert true * (1 - 1e-9) - 1e-15 <= found <= 1.002 * true + 1e-9


def test_many_distinct_samples_of_nearly_everybody_are_priced() -> None:
    """More than `MOST_DISTINCT` are rounded up, rates to 1 as well: no more than without the sampling, by 2 %."""
    costs = [SubsampledGaussian(0.1 * (1.0 + 0.001 * place), 0.995 + 0.0001 * place) for place in range(40)]
    found = dominating_pairs.epsilon([(cost, 1) for cost in costs], 1e-5)
    assert found is not None
    mu = math.sqrt(math.fsum(cost.mu**2 for cost in costs))
    assert gaussian.epsilon(mu, 1e-5) * 0.97 <= found <= gaussian.epsilon(mu, 1e-5) * 1.03


def test_a_reach_beyond_all_floats_is_too_fine_whatever_stands_beside_it() -> None:
    for first in (SubsampledGaussian(60.0, 0.5), SubsampledGaussian(1.0, 0.5)):
        with pytest.raises(TooFine, match="whose exponentials are beyond any float"):
            dominating_pairs.epsilon([(GDP(1.0), 1), (first, 1), (SubsampledGaussian(600.0, 0.5), 2)], 1e-5)


@pytest.mark.parametrize(
    ("first", "second", "delta"),
    [
        (SubsampledGaussian(16.92, 0.999), SubsampledGaussian(0.0365, 0.3), 1.43e-148),
        (SubsampledGaussian(4.0, 0.9), SubsampledGaussian(1e-3, 0.1), 1e-270),
        (SubsampledGaussian(8.0, 0.01), PureDP(0.5), 1e-200),
    ],
)
def test_a_further_release_never_lowers_a_price_at_tiny_deltas(
    first: SubsampledGaussian, second: SubsampledGaussian | PureDP, delta: float
) -> None:
    both = dominating_pairs.epsilon([(first, 1), (second, 1)], delta)
    assert both is not None
    assert both >= first.to_approx(delta=delta).epsilon * (1.0 - 1e-9)


@pytest.mark.parametrize("beside", [PureDP(0.1), GDP(1.0), LaplaceDP(1e-3), SubsampledGaussian(0.5, 0.3)], ids=repr)
@pytest.mark.parametrize(
    ("mu", "rate"), [(20.0, 0.1), (20.0, 1e-5), (30.0, 0.1), (38.0, 0.1), (50.0, 1e-5), (1e4, 0.5)]
)
def test_noise_that_hides_nobody_is_not_left_out(mu: float, rate: float, beside: PureDP | GDP) -> None:
    """Whoever is in such a sample is seen in it, though without the record the loss hardly spreads at all: no price of
    ten rounds of it beside anything is below that of one, and two rounds are priced though nothing else spreads."""
    sampled = SubsampledGaussian(mu, rate)
    alone = sampled.to_approx(delta=1e-6).epsilon
    assert alone > 100.0
    for plan in (Plan((Step(sampled, 10), Step(beside, 1))), Plan((Step(beside, 1), Step(sampled, 1)))):
        found = plan.route("pld", 1e-6)
        assert found is None or found >= alone * (1.0 - 1e-9)
        assert plan.price(1e-6).best.epsilon >= alone * (1.0 - 1e-9)
    both = Plan.of(sampled, 2).route("pld", 1e-6)
    assert both is None or alone <= both <= 2.001 * sampled.to_approx(delta=0.5e-6).epsilon


@given(st.floats(0.5, 30.0), st.floats(1e-6, 0.999), st.sampled_from([PureDP(0.1), LaplaceDP(1e-3)]))
@settings(max_examples=25)
def test_a_further_release_never_lowers_a_price(mu: float, rate: float, beside: PureDP | LaplaceDP) -> None:
    sampled = SubsampledGaussian(mu, rate)
    found = dominating_pairs.epsilon([(sampled, 1), (beside, 1)], 1e-6)
    assert found is None or found >= sampled.to_approx(delta=1e-6).epsilon * (1.0 - 1e-9)


def test_more_rounds_than_a_grid_has_points_are_left_to_other_theorems() -> None:
    plan = Plan.of(SubsampledGaussian(1e-9, 0.1), 10**15)
    assert plan.route("pld", 1e-6) is None
    assert plan.price(1e-6).best.epsilon > 0.0
