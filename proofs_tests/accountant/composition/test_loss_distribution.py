"""Composition by convolution: against closed forms, against dp-accounting, and always on the safe side. [pld]"""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ApproxDP,
    BoundedRange,
    Plan,
    PureDP,
    Step,
    UnsupportedCost,
)
from accountant.composition.dominating_pairs import bounded_range_profile, composition
from accountant.composition.fixed_plans import kov_homogeneous, randomized_response_delta
from accountant.composition.loss_distribution import ComposedLosses, TooFine, from_atoms, from_profile
from accountant.costs import gaussian


@given(st.floats(0.01, 3.0), st.integers(1, 2000), st.floats(1e-14, 0.1))
def test_gaussians_compose_to_a_gaussian(mu: float, rounds: int, delta: float) -> None:
    pairs = composition([(GDP(mu), rounds)], delta)
    assert pairs is not None
    exact = gaussian.epsilon(mu * math.sqrt(rounds), delta)
    found = pairs.epsilon(delta)
    assert exact * (1 - 1e-9) <= found <= exact * 1.003 + 1e-6


@given(st.floats(0.005, 2.0), st.integers(1, 1000), st.floats(0.05, 0.95))
def test_randomized_response_composes_to_its_binomial(epsilon: float, rounds: int, share: float) -> None:
    """δ at an ε with room below Σε, where the binomial sum is the exact answer."""
    target = share * min(rounds * epsilon, 6.0 * epsilon * math.sqrt(rounds) + rounds * epsilon**2 / 2)
    exact = randomized_response_delta(epsilon, rounds, target)
    pairs = composition([(PureDP(epsilon), rounds)], max(exact, 1e-250))
    assert pairs is not None
    if exact > 1e-200:
        assert pairs.delta(target) >= exact * (1 - 1e-8)
        assert pairs.epsilon(min(0.9, exact)) >= target * (1 - 1e-8) - 1e-12
    if 1e-12 < exact < 0.5:
        assert pairs.epsilon(exact) <= target * 1.005 + 0.01 * epsilon


@pytest.mark.parametrize("kind", [PureDP, GDP])
@pytest.mark.parametrize("rounds", [1, 10, 100, 1000])
def test_within_a_per_cent_of_the_exact_value(kind: type[PureDP] | type[GDP], rounds: int) -> None:
    """The price against exact values; a tenth off would show. Bounded range: test_adaptive_range."""
    price = Plan.of(kind(0.05), rounds).price(1e-6).best.epsilon
    if kind is PureDP:
        assert randomized_response_delta(0.05, rounds, price) <= 1e-6
        assert randomized_response_delta(0.05, rounds, price / 1.01) > 1e-6
    else:
        assert price == pytest.approx(gaussian.epsilon(0.05 * math.sqrt(rounds), 1e-6), rel=1e-9)


def test_a_discrete_pair_agrees_with_dp_accounting() -> None:
    """An exponential mechanism over three candidates, forty times: their pessimistic PLD against ours."""
    p = np.array([0.5, 0.3, 0.2])
    q = p * np.exp([0.15, 0.0, -0.1])
    q /= q.sum()
    theirs = privacy_loss_distribution.from_two_probability_mass_functions(
        {i: float(np.log(v)) for i, v in enumerate(p)},
        {i: float(np.log(v)) for i, v in enumerate(q)},
        value_discretization_interval=1e-5,
        symmetric=False,
    ).self_compose(40)
    for first, second, name in ((p, q, "add"), (q, p, "remove")):
        ours = ComposedLosses(((from_atoms(np.log(first / second), first, 0.0, 1e-4), 40),))
        for delta in (1e-3, 1e-6, 1e-9):
            assert ours.epsilon(delta) == pytest.approx(_one_way(theirs, name, delta), rel=2e-3)


def _one_way(both: privacy_loss_distribution.PrivacyLossDistribution, name: str, delta: float) -> float:
    part = both._pmf_remove if name == "remove" else both._pmf_add
    return float(part.get_epsilon_for_delta(delta))


@given(st.floats(0.01, 4.0), st.floats(1e-3, 0.3))
def test_a_profile_on_the_grid_is_never_below_the_true_one(width: float, step: float) -> None:
    law = from_profile(lambda losses: bounded_range_profile(width, losses), -width, width, step * width)
    assert law.masses.sum() + law.infinity == pytest.approx(1.0, rel=1e-9)
    for x in np.linspace(-1.2 * width, width, 37):
        on_grid = float(np.sum(law.masses * np.maximum(0.0, -np.expm1(x - law.losses)))) + law.infinity
        assert on_grid >= float(bounded_range_profile(width, np.array([x]))[0]) - 1e-13


def test_atoms_keep_their_masses_under_both_laws() -> None:
    losses, masses = np.array([0.123, -0.456, 1.7]), np.array([0.5, 0.3, 0.15])
    law = from_atoms(losses, masses, 0.05, 0.01)
    assert law.masses.sum() == pytest.approx(0.95, rel=1e-12)
    assert np.sum(law.masses * np.exp(-law.losses)) == pytest.approx(np.sum(masses * np.exp(-losses)), rel=1e-12)


def test_what_tells_the_two_apart_for_sure_counts_in_full() -> None:
    law = from_atoms(np.array([0.1, -0.1]), np.array([0.5, 0.4]), 0.1, 0.01)
    assert ComposedLosses(((law, 3),)).infinity == pytest.approx(1 - 0.9**3)
    assert ComposedLosses(((law, 3),)).epsilon(0.2) == math.inf
    assert ComposedLosses(((law, 1),)).delta(5.0) == pytest.approx(0.1, rel=1e-6)
    plan = Plan((Step(ApproxDP(0.1, 1e-3), 5), Step(GDP(0.1), 5)))
    assert plan.price(6e-3).route == "pld"
    with pytest.raises(Exception, match="no composition theorem"):
        plan.price(4e-3)


def test_mixtures_of_kinds_are_priced_below_their_renyi_curve() -> None:
    plan = Plan((Step(GDP(0.1), 10), Step(BoundedRange(0.05), 100), Step(PureDP(0.01), 20)))
    price = plan.price(1e-6)
    assert price.route == "pld"
    assert price.best.epsilon < price.routes["renyi"]
    # The same with every kind replaced by a Gaussian that it is dominated by stays above.
    mu = math.sqrt(10 * 0.1**2 + 100 * 0.6267**2 * 0.05**2 + 20 * (2 * 0.6267 * 0.01) ** 2)
    assert price.best.epsilon <= gaussian.epsilon(mu, 1e-6)


def test_parts_must_share_a_grid_and_have_something_in_it() -> None:
    first = from_atoms(np.array([0.1]), np.array([1.0]), 0.0, 0.01)
    second = from_atoms(np.array([0.1]), np.array([1.0]), 0.0, 0.02)
    with pytest.raises(ValueError, match="all on one grid"):
        ComposedLosses(((first, 1), (second, 1)))
    with pytest.raises(ValueError, match="as many losses"):
        from_atoms(np.empty(0), np.empty(0), 1.0, 0.01)
    sure = ComposedLosses(((from_atoms(np.array([0.0]), np.array([0.0]), 1.0, 0.01), 1),))
    assert (sure.delta(1.0), sure.epsilon(0.5)) == (1.0, math.inf)


def test_a_grid_that_would_be_too_long_is_refused() -> None:
    law = from_atoms(np.array([1.0, -1.0]), np.array([0.7, 0.3]), 0.0, 1e-6)
    with pytest.raises(TooFine):
        ComposedLosses(((law, 1000),)).epsilon(1e-6)


@pytest.mark.parametrize(
    "cost",
    [PureDP(1e6), PureDP(1e4), GDP(50.0), GDP(1000.0), BoundedRange(720.0), BoundedRange(1e6), ApproxDP(1e6, 1e-7)],
    ids=repr,
)
def test_costs_too_large_for_a_grid_are_priced_by_the_other_theorems(cost: PureDP) -> None:
    for plan in (Plan.of(cost), Plan((Step(cost, 1), Step(PureDP(0.1), 3)))):
        try:
            assert plan.price(1e-5).best.epsilon > 0.0
        except UnsupportedCost:
            assert isinstance(cost, GDP)  # nothing else can price a Gaussian of that size together with pure DP


def test_small_costs_keep_their_digits() -> None:
    """Head-room for the transform is in proportion: within 2 % of the exact value at ε = 1e-9."""
    for epsilon in (1e-3, 1e-6, 1e-9):
        pairs = composition([(PureDP(epsilon), 1000)], 1e-3 * epsilon)
        assert pairs is not None
        exact = kov_homogeneous(epsilon, 0.0, 1000, 1e-3 * epsilon).epsilon
        assert exact * (1 - 1e-6) <= pairs.epsilon(1e-3 * epsilon) <= 1.02 * exact + 1e-13


def test_what_the_window_leaves_out_is_added() -> None:
    """Rare atoms far to the right, beyond the tilted window: δ still counts all of them."""
    losses, masses = np.array([0.01, -0.01, 12.0]), np.array([0.5, 0.5 - 1e-9, 1e-9])
    law = from_atoms(losses, masses, 0.0, 0.001)
    for rounds in (1, 5):
        exact = 1.0 - (1.0 - 1e-9) ** rounds
        assert ComposedLosses(((law, rounds),)).delta(1.0) >= exact * (1.0 - 1e-4)
        assert ComposedLosses(((law, rounds),)).epsilon(0.5 * exact) > 11.0


def test_a_profile_that_is_cut_off_counts_what_is_beyond_as_certain() -> None:
    law = from_profile(lambda losses: gaussian.profile(1.0, losses), -4.0, 2.0, 0.01)
    assert law.infinity == pytest.approx(gaussian.delta(1.0, 2.0), rel=1e-9)
    assert ComposedLosses(((law, 1),)).delta(1.0) >= gaussian.delta(1.0, 1.0) * (1.0 - 1e-9)


def test_many_distinct_costs_are_rounded_up_together() -> None:
    widths = np.linspace(0.01, 0.02, 100)
    plan = Plan(tuple(Step(PureDP(float(width)), 1) for width in widths))
    coarse = plan.route("pld", 1e-6)
    low, high = (Plan.of(PureDP(width), 100).route("kov", 1e-6) for width in (0.015, 0.016))
    assert coarse is not None
    assert low is not None
    assert high is not None
    assert low <= coarse <= high
