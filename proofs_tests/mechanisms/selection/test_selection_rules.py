"""The three selection rules: their laws by a second road, their costs by search, their edges, their utility."""

import functools
import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opendp import prelude as dp
from scipy import stats

from accountant import BoundedRange, LaplaceDP
from accountant.arrays import FloatArray
from mechanisms import (
    ExponentialChoice,
    FiniteRandomizer,
    NoiseSource,
    NoisyMaxChoice,
    PermuteAndFlip,
    PermuteAndFlipChoice,
    RangeSensitivity,
    RobustSelection,
    SecureNoise,
    SeededNoise,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.sources import GRID
from mechanisms.selection import noisy_choice, utility
from proofs_tests.harness import loss_width, max_loss, output_distribution, renyi_divergence
from proofs_tests.support.mechanisms.weighted import Values, certificate, scores

RANDOMIZERS: list[type[ExponentialChoice] | type[NoisyMaxChoice] | type[PermuteAndFlipChoice]] = [
    ExponentialChoice,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
]
vectors = st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=6).map(np.array)


def law(randomizer: FiniteRandomizer, values: FloatArray) -> dict[int, float]:
    return dict(enumerate(randomizer.log_probabilities(values).tolist()))


# --- laws ------------------------------------------------------------------------------------------------------


def flip_by_recursion(weights: list[Fraction]) -> list[Fraction]:
    """Permute-and-flip as it is defined: a random order, the first whose coin of bias w comes up heads."""
    orders = list(itertools.permutations(range(len(weights))))
    chances = [Fraction(0)] * len(weights)
    for order in orders:
        left = Fraction(1, len(orders))
        for candidate in order:
            chances[candidate] += left * weights[candidate]
            left *= 1 - weights[candidate]
    return chances


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=5))
def test_permute_and_flip_is_its_definition_in_fractions(numbers: list[int]) -> None:
    weights = [Fraction(number, 1000) for number in numbers]
    weights[0] = Fraction(1)
    exact = flip_by_recursion(weights)
    values = np.array([math.log(weight) if weight else -2000.0 for weight in weights])
    found = np.exp(choice_probabilities.permute_and_flip(values, 1.0))
    assert found == pytest.approx([float(chance) for chance in exact], rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [1.0, 0.3, -0.7], [5.0, 0.0, -5.0], [-9.0, 0.1], [0.0]])
def test_noisy_max_is_its_integral(values: list[float]) -> None:
    def integral(i: int) -> float:
        def density(x: mpmath.mpf) -> mpmath.mpf:
            product = mpmath.exp(-abs(x - values[i])) / 2
            for j, other in enumerate(values):
                if j != i:
                    y = x - other
                    product *= mpmath.exp(y) / 2 if y < 0 else 1 - mpmath.exp(-y) / 2
            return product

        return float(mpmath.quad(density, [-60.0, *sorted(values), 60.0]))

    found = np.exp(choice_probabilities.noisy_max(np.array(values) / 3.0, 3.0))
    assert found == pytest.approx([integral(i) for i in range(len(values))], rel=1e-9)


@given(st.floats(0.0, 600.0))
def test_noisy_max_of_two_is_its_closed_form_even_in_the_far_tail(gap: float) -> None:
    """P(the worse one wins) = (1/2 + d/4)·e^{−d}."""
    found = choice_probabilities.noisy_max(np.array([0.0, -gap]), 1.0)
    assert found[1] == pytest.approx(math.log(0.5 + 0.25 * gap) - gap, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "rule", [choice_probabilities.exponential, choice_probabilities.noisy_max, choice_probabilities.permute_and_flip]
)
@pytest.mark.parametrize("size", [1, 3, 300, 1100])
def test_a_law_sums_to_one_and_ties_share_it(rule: Callable[[FloatArray, float], FloatArray], size: int) -> None:
    values = np.linspace(0.0, 1.0, size)
    assert np.exp(rule(values, 7.0)).sum() == pytest.approx(1.0, rel=1e-9)
    assert np.exp(rule(np.zeros(size), 7.0)) == pytest.approx(np.full(size, 1.0 / size), rel=1e-9)


@given(vectors, st.floats(0.05, 40.0))
def test_permute_and_flip_is_never_worse_than_the_exponential(values: FloatArray, eta: float) -> None:
    """McKenna & Sheldon 2020: its expected score is at least as high at the same eta·range; here with 2·eta."""
    flip, exponential = (
        np.exp(choice_probabilities.permute_and_flip(values, eta)),
        np.exp(choice_probabilities.exponential(values, eta)),
    )
    assert flip @ values >= exponential @ values - 1e-12


def test_laws_stay_exact_and_quick_over_wide_gaps_and_say_where_they_stop() -> None:
    far = choice_probabilities.noisy_max(np.array([0.0, -1e6]), 1.0)
    assert far[1] == pytest.approx(math.log(0.5 + 0.25e6) - 1e6, rel=1e-12)
    many = choice_probabilities.noisy_max(np.concatenate([[0.0], np.full(49, -1e6)]), 1.0)
    assert np.exp(many).sum() == pytest.approx(1.0)
    spread = choice_probabilities.noisy_max(np.array([0.0, -60.0, -130.0, -131.0]), 1.0)
    assert spread[1:] == pytest.approx([-57.259159976074799, -127.26725718630631, -128.26725718630631], rel=1e-12)
    for rule in (
        choice_probabilities.exponential,
        choice_probabilities.noisy_max,
        choice_probabilities.permute_and_flip,
    ):
        with pytest.raises(ValueError, match="eta times the range"):
            rule(np.array([1e300, 0.0]), 1e300)


def test_noisy_max_pays_for_two_steps_of_the_grid() -> None:
    for sensitivity in (1e-9, 0.2):
        cost = NoisyMaxChoice(1.0).cost(RangeSensitivity(sensitivity))
        assert isinstance(cost, LaplaceDP)
        assert cost.epsilon >= sensitivity + 2.0 * GRID


def test_enumeration_follows_the_same_laws() -> None:
    values = np.array([0.0, 0.4, 1.0])
    for kind in RANDOMIZERS:
        randomizer = kind(2.0)
        assert output_distribution(functools.partial(randomizer.draw, values)) == pytest.approx(law(randomizer, values))


# --- costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RANDOMIZERS)
@given(vectors, st.floats(0.1, 30.0), st.floats(0.01, 2.0), st.data())
def test_no_change_of_that_range_loses_more_than_declared(
    kind: type[ExponentialChoice], values: FloatArray, eta: float, width: float, data: st.DataObject
) -> None:
    randomizer = kind(eta)
    offset = data.draw(st.floats(-5.0, 5.0))
    moves = np.array(data.draw(st.lists(st.floats(0.0, width), min_size=len(values), max_size=len(values))))
    before, after = law(randomizer, values), law(randomizer, values + moves + offset)
    assert max_loss(before, after) <= randomizer.cost(RangeSensitivity(width)).epsilon + 1e-9


WITNESSES = [
    (ExponentialChoice(5.0), np.zeros(1001), 0),
    (NoisyMaxChoice(5.0), np.array([-60.0, 0.0]), 0),
    (PermuteAndFlipChoice(5.0), np.array([-3.0, 0.0]), 0),
]


@pytest.mark.parametrize(("randomizer", "values", "raised"), WITNESSES)
def test_the_declared_cost_is_attained_so_a_tenth_less_would_be_caught(
    randomizer: FiniteRandomizer, values: FloatArray, raised: int
) -> None:
    """[L2] [noisy-max] [permute-flip]: ≥ 0.95 of the declaration is really lost."""
    moved = values.copy()
    moved[raised] += 0.2
    declared = randomizer.cost(RangeSensitivity(0.2))
    assert isinstance(declared, LaplaceDP | BoundedRange)
    found = max_loss(law(randomizer, values), law(randomizer, moved))
    assert 0.95 * declared.epsilon <= found <= declared.epsilon
    assert found > 0.9 * declared.epsilon


@given(st.floats(-8.0, 8.0), st.floats(0.01, 4.0))
def test_noisy_max_of_two_is_bounded_range(gap: float, width: float) -> None:
    """[noisy-max]: the slope of the logit of S(d) = (1/2 + d/4)·e^{−d} is at most 1."""
    randomizer = NoisyMaxChoice(1.0, candidates=2)
    declared = randomizer.cost(RangeSensitivity(width))
    assert isinstance(declared, BoundedRange)
    before, after = law(randomizer, np.array([gap, 0.0])), law(randomizer, np.array([gap + width, 0.0]))
    assert loss_width(before, after) <= declared.epsilon + 1e-9


def test_noisy_max_of_three_and_permute_and_flip_are_not_bounded_range() -> None:
    """The table of the claims: width 1.13·ηR at three candidates; 2·ln(2e^{ηR/2} − 1) for permute-and-flip."""
    width = 1.0
    wide = max(
        loss_width(law(NoisyMaxChoice(1.0), values), law(NoisyMaxChoice(1.0), values + np.array([width, 0.0, 0.0])))
        for a in np.linspace(-6.0, 6.0, 25)
        for b in np.linspace(-6.0, 6.0, 25)
        for values in [np.array([0.0, a, b])]
    )
    assert 1.1 * width < wide < 1.2 * width
    assert isinstance(NoisyMaxChoice(1.0, candidates=3).cost(RangeSensitivity(width)), LaplaceDP)
    flip = PermuteAndFlipChoice(1.0)
    before, after = law(flip, np.array([-0.5, 0.0])), law(flip, np.array([0.5, 0.0]))
    assert loss_width(before, after) == pytest.approx(2.0 * math.log(2.0 * math.exp(0.5) - 1.0), rel=1e-9)


def test_each_rule_has_its_own_rho_and_the_smaller_one_would_be_wrong_for_permute_and_flip() -> None:
    """opendp#2911: permute-and-flip was once given the exponential mechanism's ρ, a quarter of its own."""
    eta, width = 1.0, 0.05
    flip = PermuteAndFlipChoice(eta)
    rho = {kind: kind(eta).cost(RangeSensitivity(width)).to_zcdp().rho for kind in RANDOMIZERS}
    # Nearly equal scores, one moving past the other: the pair of the claims, 0.488 (ηR)² at 0.05.
    before, after = law(flip, np.array([-0.5 * width, 0.0])), law(flip, np.array([0.5 * width, 0.0]))
    real = max(renyi_divergence(before, after, order) / order for order in np.geomspace(1.001, 100.0, 60))
    assert 0.97 * rho[PermuteAndFlipChoice] <= real <= rho[PermuteAndFlipChoice]
    assert real == pytest.approx(0.488 * width**2, rel=2e-3)
    assert real > 3.8 * rho[ExponentialChoice]
    assert rho[PermuteAndFlipChoice] == pytest.approx(rho[NoisyMaxChoice], rel=1e-9)
    assert rho[PermuteAndFlipChoice] > 3.9 * rho[ExponentialChoice]


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 10.0))
def test_declared_costs_agree_with_opendps_maps(eta: float, width: float) -> None:
    """Their maps take the linf bound of one-sided changes; for a range of R that is R itself, monotonic."""
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    metric = dp.linf_distance(T=float, monotonic=True)
    scale = float(np.nextafter(1.0 / eta, np.inf))
    pure: float = dp.m.make_noisy_max(domain, metric, dp.max_divergence(), scale=scale).map(width)  # type: ignore[no-untyped-call]  # opendp leaves `map` untyped
    ours = PermuteAndFlipChoice(eta).cost(RangeSensitivity(width)).epsilon
    assert ours == pytest.approx(pure, rel=1e-9)
    rho: float = dp.m.make_noisy_max(domain, metric, dp.zero_concentrated_divergence(), scale=scale).map(width)  # type: ignore[no-untyped-call]  # the same
    assert ExponentialChoice(eta).cost(RangeSensitivity(width)).to_zcdp().rho <= rho * (1 + 1e-9)


# --- utility ---------------------------------------------------------------------------------------------------


@given(vectors, st.floats(0.1, 50.0), st.floats(0.01, 0.9))
def test_utility_bounds_hold_exactly(values: FloatArray, eta: float, beta: float) -> None:
    """[001-Thm8] The probability of a score below best − gap, summed over the law."""
    for rule, gap in (
        (choice_probabilities.exponential, utility.exponential_gap),
        (choice_probabilities.permute_and_flip, utility.exponential_gap),
        (choice_probabilities.noisy_max, utility.noisy_max_gap),
    ):
        bad = values < values.max() - gap(eta, values.size, beta)
        assert np.exp(rule(values, eta))[bad].sum() <= beta


def test_utility_bounds_are_worth_having_and_mind_their_ranges() -> None:
    """999 candidates a little below the best: a tenth less would be missed by the exponential mechanism's bound."""
    eta, beta, k = 5.0, 0.05, 1000
    gap = utility.exponential_gap(eta, k, beta)
    values = np.array([0.0] + [-0.9 * gap] * (k - 1))
    assert np.exp(choice_probabilities.exponential(values, eta))[1:].sum() > beta
    assert utility.noisy_max_gap(eta, 1, beta) == 0.0
    assert utility.noisy_max_gap(eta, 100, beta) < 2.0 * math.log(100 / beta) / eta
    assert utility.weak_learner_advantage(0.5, eta, 2, beta) == 0.5 - utility.exponential_gap(eta, 2, beta)
    for bad in (0.0, 0.6, math.nan):
        with pytest.raises(ValueError, match="advantage"):
            utility.weak_learner_advantage(bad, eta, 2, beta)


# --- edges -----------------------------------------------------------------------------------------------------

MECHANISMS: list[type[WeightedExponential[Values]]] = [WeightedExponential, WeightedNoisyMax, PermuteAndFlip]  # type: ignore[list-item]  # three classes with the same first four arguments


def refused(kind: type[WeightedExponential[Values]], eta: float) -> None:
    with pytest.raises(ValueError, match=r"positive finite|2\^-1000"):
        kind(scores(), eta, 0.1, SeededNoise(0))


def free(kind: type[WeightedExponential[Values]]) -> None:
    cost = kind(scores(0.0), 5.0, 0.1, SeededNoise(0)).robust_cost.cost
    assert isinstance(cost, LaplaceDP | BoundedRange)
    assert cost.epsilon == 0.0


def only_one(kind: type[WeightedExponential[Values]]) -> None:
    mechanism = kind(scores(), 5.0, 0.1, SeededNoise(0)).under(certificate())
    assert mechanism.sample(Values(np.array([0.3]), certificate())) == 0
    assert mechanism.cost != BoundedRange(0.0)


def tied(kind: type[WeightedExponential[Values]]) -> None:
    mechanism = kind(scores(), 5.0, 0.1, SeededNoise(0)).under(certificate())
    assert np.exp(mechanism.log_probabilities(Values(np.ones(4), certificate()))) == pytest.approx(np.full(4, 0.25))


def not_finite(kind: type[WeightedExponential[Values]]) -> None:
    for noise in (SecureNoise(), SeededNoise(0)):
        mechanism = kind(scores(), 5.0, 0.1, noise).under(certificate())
        for bad in (math.nan, math.inf, -math.inf):
            with pytest.raises(ValueError, match="finite"):
                mechanism.sample(Values(np.array([0.0, bad]), certificate()))
            with pytest.raises(ValueError, match="finite"):
                mechanism.log_probabilities(Values(np.array([0.0, bad]), certificate()))


EDGES: dict[str, Callable[[type[WeightedExponential[Values]]], None]] = {
    "scale 0": lambda kind: refused(kind, 0.0),
    "infinite scale": lambda kind: refused(kind, math.inf),
    "sensitivity 0": free,
    "one candidate": only_one,
    "ties": tied,
    "a score of NaN or ±inf": not_finite,
}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_edge_table_is_what_happens(kind: type[WeightedExponential[Values]]) -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", noisy_choice.__doc__ or "", re.MULTILINE)
    assert set(rows) - {"edge", "---"} == set(EDGES)
    for edge in EDGES.values():
        edge(kind)


def test_a_wrong_number_of_candidates_is_named() -> None:
    mechanism: RobustSelection[Values] = WeightedNoisyMax(scores(), 1.0, 0.1, SeededNoise(0), candidates=2)
    with pytest.raises(ValueError, match="candidates: 2 were declared, the query gave 3"):
        mechanism.under(certificate()).sample(Values(np.zeros(3), certificate()))
    assert mechanism.under(certificate()).description.parameters[1] == ("candidates", 2)


# --- samplers --------------------------------------------------------------------------------------------------

DRAWS = 15_000
FALSE_ALARM = 1e-6
SCORES = np.array([0.0, 0.5, 1.0, 1.7])


def p_value(randomizer: FiniteRandomizer, claimed: FiniteRandomizer, noise: NoiseSource, draws: int) -> float:
    seen = np.bincount([randomizer.draw(SCORES, noise) for _ in range(draws)], minlength=4)
    return float(stats.chisquare(seen, draws * np.exp(claimed.log_probabilities(SCORES))).pvalue)


@pytest.mark.parametrize("kind", [NoisyMaxChoice, PermuteAndFlipChoice])
@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)], ids=["secure", "seeded"])
def test_samplers_follow_their_laws_and_a_tenth_off_would_show(
    kind: type[NoisyMaxChoice] | type[PermuteAndFlipChoice], noise: NoiseSource
) -> None:
    """Statistical: 15,000 draws each. Power: an η that is 10 % larger gives p < 1e-6 with probability 0.998.

    (Non-centrality 15,000·χ²-distance(η, 1.1η) = 80 for both, against the 1e-6 quantile of χ²(3), 31.)
    """
    assert p_value(kind(2.0), kind(2.0), noise, DRAWS) > FALSE_ALARM
    assert p_value(kind(2.2), kind(2.0), noise, DRAWS) < FALSE_ALARM
