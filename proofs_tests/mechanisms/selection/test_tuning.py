"""Private choice of a model: its exact law, and its cost against the worst neighbours we can build."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, Cost, PureDP
from accountant.arrays import FloatArray
from accountant.costs.curves import ORDERS
from mechanisms import NoiseSource, SecureNoise, SeededNoise
from mechanisms.selection.private_selection import PrivateSelection, selection_cost, selection_divergences
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping, Stopping
from proofs_tests.harness import ScriptedNoise, approx_delta, max_loss, output_distribution, renyi_divergence
from proofs_tests.support.mechanisms.tables import ROWS, Fixed, Table

ETAS = (-0.9, -0.5, 0.0, 0.5, 1.0, 3.0)
LAWS: list[Stopping] = [
    *(NegativeBinomialStopping(eta, gamma) for eta in ETAS for gamma in (0.9, 0.3, 0.01)),
    PoissonStopping(0.3),
    PoissonStopping(8.0),
]


def best_law(chances: FloatArray, stopping: Stopping) -> dict[int, float]:
    """Log-probabilities of the best of K: outcome i of one run, the higher the better, and -1 for none."""
    cumulative = np.minimum(np.cumsum(chances), 1.0)
    values = stopping.generating_function(np.array([0.0, *cumulative[:-1], 1.0]))
    with np.errstate(divide="ignore"):
        return {-1: float(np.log(values[0])), **dict(enumerate(np.log(np.diff(values)).tolist()))}


def shown(law: dict[int, float]) -> dict[int, float]:
    """Without what cannot happen."""
    return {output: value for output, value in law.items() if value > -math.inf}


def distance(one: FloatArray, other: FloatArray, stopping: Stopping) -> float:
    return max_loss(shown(best_law(one, stopping)), shown(best_law(other, stopping)))


# --- the law ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stopping", LAWS, ids=str)
def test_the_generating_function_is_the_one_of_the_terms(stopping: Stopping) -> None:
    terms = list(itertools.islice(stopping.terms(), 6000))
    for x in (0.0, 0.2, 0.9, 0.99, 1.0):
        summed = sum(chance * x**k for k, chance in terms)
        assert float(stopping.generating_function(np.array([x]))[0]) == pytest.approx(summed, rel=1e-9)
    assert stopping.mean == pytest.approx(sum(chance * k for k, chance in terms), rel=1e-9)


def test_named_laws_are_what_their_names_say() -> None:
    def chances(stopping: Stopping) -> list[float]:
        return [chance for _, chance in itertools.islice(stopping.terms(), 20)]

    k = np.arange(1, 21)
    assert chances(NegativeBinomialStopping(1.0, 0.2)) == pytest.approx(stats.geom.pmf(k, 0.2))
    assert chances(NegativeBinomialStopping(0.0, 0.2)) == pytest.approx(stats.logser.pmf(k, 0.8))
    counts = stats.nbinom.pmf(k, 2.5, 0.2)
    assert chances(NegativeBinomialStopping(2.5, 0.2)) == pytest.approx(counts / (1 - 0.2**2.5))
    assert chances(PoissonStopping(3.0)) == pytest.approx(stats.poisson.pmf(k - 1, 3.0))


@given(st.floats(-0.6, 5.0), st.floats(1.001, 200.0))
def test_the_mean_can_be_asked_for(eta: float, mean: float) -> None:
    assert NegativeBinomialStopping.with_mean(eta, mean).mean == pytest.approx(mean, rel=1e-9)


def test_the_geometric_law_of_a_mean() -> None:
    assert NegativeBinomialStopping.with_mean(1.0, 50.0).gamma == pytest.approx(1 / 50)


KEYS = {0: 1.0, 1: 0.0, 2: 1.0}
"""Outcomes 0 and 2 are ties."""


@pytest.mark.parametrize("runs", [0, 1, 2, 3, 4])
def test_the_best_of_k_has_the_law_the_proof_gives_it_ties_included(runs: int) -> None:
    """By enumeration: P(output) = q(output)/q(its rank)·(P(rank <= r)^k − P(rank < r)^k)."""

    def program(noise: ScriptedNoise) -> tuple[int, int] | None:
        candidates = tuple(Table((row,), PureDP(1.0), noise) for row in ROWS)
        return PrivateSelection(candidates, KEYS.__getitem__, Fixed(1.0, runs), noise=noise).sample(0)

    found = output_distribution(program)
    one = {(number, outcome): 0.5 * ROWS[number][outcome] for number in (0, 1) for outcome in (0, 1, 2)}
    low = sum(chance for (_, outcome), chance in one.items() if KEYS[outcome] == 0.0)
    for output, chance in one.items():
        rank = KEYS[output[1]]
        power = 1.0 - low**runs if rank else low**runs - (0.0 if runs else 1.0)
        expected = chance / ((1.0 - low) if rank else low) * power
        assert math.exp(found.get(output, -math.inf)) == pytest.approx(expected)
    assert (None in found) == (runs == 0)


def draws_of(stopping: Stopping, noise: NoiseSource, draws: int) -> list[int]:
    return [stopping.draw(noise) for _ in range(draws)]


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)], ids=["secure", "seeded"])
@pytest.mark.parametrize("eta", [-0.5, 0.0, 1.0])
def test_the_number_of_runs_follows_its_law(noise: NoiseSource, eta: float) -> None:
    """Statistical: 20,000 draws. Power: an E[K] of 6 in place of 4 gives p < 1e-9 with probability > 0.999.

    (Non-centrality at least 280 against the 1e-9 quantile of χ²(12), 67.)
    """
    claimed = NegativeBinomialStopping.with_mean(eta, 4.0)
    expected = np.array([chance for _, chance in itertools.islice(claimed.terms(), 12)])
    expected = np.append(expected, 1.0 - expected.sum())

    def p_value(stopping: Stopping) -> float:
        seen = np.bincount(np.minimum(draws_of(stopping, noise, 20_000), 13), minlength=14)[1:]
        return float(stats.chisquare(seen, 20_000 * expected).pvalue)

    assert p_value(claimed) > 1e-9
    assert p_value(NegativeBinomialStopping.with_mean(eta, 6.0)) < 1e-9


@pytest.mark.parametrize(("noise", "draws"), [(SecureNoise(), 3_500), (SeededNoise(0), 8_000)], ids=["sec", "seed"])
def test_samples_follow_the_exact_law(noise: NoiseSource, draws: int) -> None:
    """Statistical. Power: with the candidates' chances swapped, p < 1e-9 with probability > 0.999."""
    stopping = NegativeBinomialStopping.with_mean(0.0, 3.0)

    def p_value(rows: tuple[tuple[float, ...], ...]) -> float:
        candidates = tuple(Table((row,), PureDP(1.0), noise) for row in rows)
        choice = PrivateSelection(candidates, float, stopping, noise=noise)
        outputs = [output for output in (choice.sample(0) for _ in range(draws)) if output is not None]
        seen = np.bincount([outcome for _, outcome in outputs], minlength=3)
        law = best_law(0.5 * np.array(ROWS[0]) + 0.5 * np.array(ROWS[1]), stopping)
        return float(stats.chisquare(seen, draws * np.exp([law[i] for i in range(3)])).pvalue)

    assert p_value(ROWS) > 1e-9
    assert p_value((ROWS[0][::-1], ROWS[1][::-1])) < 1e-9


# --- the pure cost ----------------------------------------------------------------------------------------------


def corner(epsilon: float, rare: float = 1e-6) -> tuple[FloatArray, FloatArray]:
    """Rest < rare < better, an ε-DP pair: "rare" and "better" move by e^ε in opposite directions."""
    better = (1.0 - 4.0 * rare) / (1.0 + math.exp(epsilon))
    one = np.array([1.0 - better - rare, rare, better])
    other = np.array([0.0, rare * math.exp(-epsilon), better * math.exp(epsilon)])
    other[0] = 1.0 - other[1] - other[2]
    assert float(np.max(np.abs(np.log(one / other)))) <= epsilon + 1e-12
    return one, other


@pytest.mark.parametrize("stopping", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_pure_cost_is_attained_and_a_tenth_less_would_be_caught(stopping: Stopping, epsilon: float) -> None:
    """[random-stopping] The exact loss of the best of K uses ≥ 0.999 of the declared cost, for every law of K."""
    declared = selection_cost([PureDP(epsilon)] * 3, stopping).epsilon
    lost = distance(*corner(epsilon), stopping)
    assert 0.999 * declared <= lost <= declared
    assert lost > 0.9 * declared


@pytest.mark.parametrize("eta", ETAS)
def test_the_printed_constant_is_the_limit_of_many_runs(eta: float) -> None:
    """Papernot & Steinke 2022, Cor. 3: (2 + η)·ε. Never exceeded, and lost to 95 % where E[K] is large."""
    for gamma in (0.9, 1e-2, 1e-5):
        stopping = NegativeBinomialStopping(eta, gamma)
        declared = selection_cost([PureDP(1.0)] * 2, stopping).epsilon
        assert declared <= (2.0 + eta) * 1.0 * (1.0 + 1e-11)
    lost = distance(*corner(1.0), NegativeBinomialStopping(eta, 1e-5))
    assert 0.95 * (2.0 + eta) <= lost <= 2.0 + eta
    assert lost > 0.9 * (2.0 + eta)


def test_the_closed_form_in_the_docstring() -> None:
    for epsilon, eta, gamma in itertools.product([0.01, 1.0, 5.0], ETAS, [0.9, 1e-3, 1e-9]):
        printed = epsilon + (1 + eta) * math.log((math.exp(epsilon) + gamma) / (1 + gamma * math.exp(epsilon)))
        declared = selection_cost([PureDP(epsilon)] * 2, NegativeBinomialStopping(eta, gamma)).epsilon
        assert declared == pytest.approx(printed, rel=1e-9)
        assert declared >= printed * (1.0 - 1e-15)
    poisson = selection_cost([PureDP(0.5)] * 2, PoissonStopping(9.0)).epsilon
    assert poisson == pytest.approx(0.5 + 9.0 * math.tanh(0.25))


probabilities = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=7).map(lambda p: np.array(p) / np.sum(p))
laws = st.one_of(
    st.builds(NegativeBinomialStopping, st.floats(-0.99, 4.0), st.floats(1e-6, 0.99)),
    st.builds(PoissonStopping, st.floats(0.01, 50.0)),
)


def moved(law: FloatArray, up: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """The extreme pair of the pure class: outcomes in `up` gain e^ε, all others lose it."""
    if not 0 < np.sum(up) < len(up):
        return law, law
    share = 1.0 / (1.0 + math.exp(epsilon))
    inside, outside = np.where(up, law, 0.0), np.where(up, 0.0, law)
    inside, outside = inside / inside.sum(), outside / outside.sum()
    return share * inside + (1 - share) * outside, (1 - share) * inside + share * outside


@given(probabilities, laws, st.floats(0.01, 4.0), st.integers(0, 127))
def test_no_pure_pair_loses_more_than_declared(law: FloatArray, stopping: Stopping, eps: float, subset: int) -> None:
    up = np.array([bool(subset >> i & 1) for i in range(len(law))])
    assert distance(*moved(law, up, eps), stopping) <= selection_cost([PureDP(eps)] * 2, stopping).epsilon + 1e-7


@given(probabilities, laws, st.floats(0.01, 4.0), st.data())
def test_no_bounded_range_pair_loses_more_than_declared(
    law: FloatArray, stopping: Stopping, width: float, data: st.DataObject
) -> None:
    """One candidate, so that the smaller constant is the one that is declared."""
    moves = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=len(law), max_size=len(law))))
    other = law * np.exp(width * moves)
    declared = selection_cost([BoundedRange(width)], stopping).epsilon
    assert distance(law, other / other.sum(), stopping) <= declared + 1e-7


@pytest.mark.parametrize("eta", [-0.5, 0.0, 1.0, 2.0])
def test_one_bounded_range_mechanism_repeated_costs_a_run_less(eta: float) -> None:
    """[random-stopping] (1 + max(η, 0))·w, and 0.95 of it is lost; with two candidates it would be too little."""
    stopping, width = NegativeBinomialStopping(eta, 1e-9), 1.0
    declared = selection_cost([BoundedRange(width)], stopping).epsilon
    assert declared == pytest.approx((1.0 + max(eta, 0.0)) * width, rel=1e-9)
    factor = math.exp(0.99 * width)  # the share of all others moves a little, too
    lost = max(
        distance(*shifted([1.0, 1.0, factor]), stopping),  # "better" gains while "rare" hardly moves
        distance(*shifted([1.0, 1.0 / factor, 1.0]), stopping),  # "rare" alone loses
    )
    assert 0.95 * declared <= lost <= declared
    # Two candidates: one has "rare", the other "better", and each may move on its own.
    two = distance(*shifted([1.0, 1.0 / factor, factor]), stopping)
    assert declared < 0.9 * two
    assert 0.95 * (2.0 + eta) * width <= two <= selection_cost([BoundedRange(width)] * 2, stopping).epsilon


def shifted(factors: list[float]) -> tuple[FloatArray, FloatArray]:
    """Rest < rare < better, and the same with the chances of the last two multiplied by their factors."""
    one = np.array([0.0, 1e-7, 1e-3])
    other = one * np.array(factors)
    one[0], other[0] = 1.0 - one.sum(), 1.0 - other.sum()
    return one, other


# --- the cost at a δ --------------------------------------------------------------------------------------------


def gaussian_pairs(mu: float) -> Iterator[tuple[FloatArray, FloatArray]]:
    """N(0, 1) and N(μ, 1) in cells, ranked so that "better" and the rest lose privacy in opposite directions."""
    edges = np.linspace(-9.0, 9.0 + mu, 400)
    one, other = np.diff(stats.norm.cdf(edges)), np.diff(stats.norm.cdf(edges - mu))
    keep = (one > 1e-13) & (other > 1e-13)
    one, other = one[keep] / one[keep].sum(), other[keep] / other[keep].sum()
    for cut in (0.5, 0.8, 0.95, 0.99):
        better = int(np.searchsorted(np.cumsum(one), cut))
        order = [*range(better)[::-1], *range(better, len(one))]
        yield one[order], other[order]
    yield one, other


CASES = [
    (mu, stopping)
    for mu in (0.05, 0.3, 1.0)
    for stopping in (
        NegativeBinomialStopping.with_mean(-0.5, 20.0),
        NegativeBinomialStopping.with_mean(0.0, 20.0),
        NegativeBinomialStopping.with_mean(1.0, 20.0),
        PoissonStopping(2.0),
        PoissonStopping(20.0),
    )
]


@pytest.mark.parametrize(("mu", "stopping"), CASES, ids=str)
@pytest.mark.parametrize("kind", [GDP, ZCDP])
def test_gaussian_candidates_stay_within_the_declared_curve_and_epsilon(
    mu: float, stopping: Stopping, kind: type[GDP] | type[ZCDP]
) -> None:
    """[random-stopping-renyi] Exact Rényi divergences at several orders, and exact δ at the declared ε."""
    cost = GDP(mu) if kind is GDP else ZCDP(0.5 * mu * mu)
    curve = selection_divergences([cost] * 4, stopping)
    for delta in (1e-3, 1e-6):
        declared = selection_cost([cost] * 4, stopping, delta)
        assert isinstance(declared, ApproxDP)
        for one, other in gaussian_pairs(mu):
            laws_ = shown(best_law(one, stopping)), shown(best_law(other, stopping))
            assert approx_delta(*laws_, declared.epsilon) <= delta
            for place in (100, 180, 220, 260):
                assert renyi_divergence(*laws_, float(ORDERS[place])) <= curve[place] + 1e-9


@pytest.mark.parametrize(
    ("mu", "stopping"),
    [
        (0.3, NegativeBinomialStopping.with_mean(0.0, 20.0)),
        (1.0, NegativeBinomialStopping.with_mean(0.0, 20.0)),
        (0.3, NegativeBinomialStopping.with_mean(1.0, 20.0)),
        (1.0, NegativeBinomialStopping.with_mean(1.0, 20.0)),
        (0.3, PoissonStopping(2.0)),
        (1.0, PoissonStopping(2.0)),
    ],
    ids=str,
)
def test_gaussian_candidates_need_nine_tenths_of_what_is_declared(mu: float, stopping: Stopping) -> None:
    """[random-stopping-renyi] So a tenth less would be caught, and the cost of the winner's own run all the more."""
    declared = selection_cost([GDP(mu)] * 4, stopping, 1e-3).epsilon
    needed = max(epsilon_at(one, other, stopping, 1e-3) for one, other in gaussian_pairs(mu))
    assert 0.9 * declared < needed <= declared
    assert needed > 1.2 * GDP(mu).to_approx(delta=1e-3).epsilon


@pytest.mark.parametrize("stopping", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_zcdp_candidates_that_are_no_gaussians_are_covered(stopping: Stopping, epsilon: float) -> None:
    """Randomized response attains ρ = ε·tanh(ε/2) near order 1; its worst choice stays within what ρ declares."""
    cost = PureDP(epsilon).to_zcdp()
    one, other = corner(epsilon)
    laws_ = shown(best_law(one, stopping)), shown(best_law(other, stopping))
    for delta in (1e-2, 1e-5):
        assert approx_delta(*laws_, selection_cost([cost] * 2, stopping, delta).epsilon) <= delta
    curve = selection_divergences([cost] * 2, stopping)
    for place in (1, 60, 120, 160, 200):
        assert renyi_divergence(*laws_, float(ORDERS[place])) <= curve[place] * (1.0 + 1e-9) + 1e-9


def epsilon_at(one: FloatArray, other: FloatArray, stopping: Stopping, delta: float) -> float:
    """The exact ε of a pair at δ, by bisection from below."""
    laws_ = shown(best_law(one, stopping)), shown(best_law(other, stopping))
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if approx_delta(*laws_, middle) > delta else (low, middle)
    return low


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("gamma", [0.5, 0.02, 1e-4])
def test_the_curve_is_never_above_the_printed_one(eta: float, gamma: float) -> None:
    """Papernot & Steinke 2022, Thm 2, with λ̂ at its best: λ̂ = √(ln(1/γ)/ρ), where that is at least 1."""
    stopping, log = NegativeBinomialStopping(eta, gamma), -math.log(gamma)
    for rho in (1e-4, 0.01, 0.5, 5.0):
        extra = 2.0 * math.sqrt(rho * log) - rho if rho < log else log
        printed = rho * ORDERS + (1.0 + eta) * extra + math.log(stopping.mean) / (ORDERS - 1.0)
        for cost in (ZCDP(rho), GDP(math.sqrt(2.0 * rho))):
            assert np.all(selection_divergences([cost], stopping) <= printed * (1.0 + 2e-3))


@given(probabilities, laws, st.floats(0.05, 3.0), st.integers(0, 127), st.sampled_from([1e-2, 1e-4]))
def test_pure_pairs_stay_within_the_curve_and_the_epsilon_at_a_delta(
    law: FloatArray, stopping: Stopping, epsilon: float, subset: int, delta: float
) -> None:
    pair = moved(law, np.array([bool(subset >> i & 1) for i in range(len(law))]), epsilon)
    laws_ = shown(best_law(pair[0], stopping)), shown(best_law(pair[1], stopping))
    declared = selection_cost([PureDP(epsilon)] * 2, stopping, delta)
    assert approx_delta(*laws_, declared.epsilon) <= delta + 1e-9
    curve = selection_divergences([PureDP(epsilon)] * 2, stopping)
    for place in (120, 200, 240):
        assert renyi_divergence(*laws_, float(ORDERS[place])) <= curve[place] * (1.0 + 1e-9) + 1e-7


def test_a_delta_makes_bounded_range_candidates_cheaper_and_never_dearer() -> None:
    for stopping in LAWS:
        costs = [BoundedRange(0.5)] * 3
        pure, at_delta = selection_cost(costs, stopping), selection_cost(costs, stopping, 1e-6)
        assert at_delta.epsilon <= pure.epsilon
    assert selection_cost(costs, LAWS[0], 1e-2).epsilon < 0.95 * selection_cost(costs, LAWS[0]).epsilon


def test_the_worst_candidate_counts_in_the_strongest_kind_that_all_have() -> None:
    stopping = NegativeBinomialStopping(1.0, 0.1)

    def pays(*costs: Cost) -> float:
        return selection_cost(costs, stopping, 1e-5).epsilon

    assert pays(PureDP(0.1), PureDP(0.3)) == pays(PureDP(0.3), PureDP(0.3))
    assert pays(BoundedRange(0.3), PureDP(0.1)) == pays(PureDP(0.3), PureDP(0.3))
    assert pays(GDP(0.1), GDP(0.3)) == pays(GDP(0.3), GDP(0.3)) < pays(ZCDP(0.045), GDP(0.3))
    assert pays(PureDP(0.1), ZCDP(0.045)) == pays(ZCDP(0.045), ZCDP(0.045))
    assert pays(ApproxDP(0.3, 0.0), PureDP(0.0)) == pays(PureDP(0.3), PureDP(0.3))
    assert selection_cost([GDP(0.0), PureDP(0.0)], stopping) == PureDP(0.0)
    assert not np.any(selection_divergences([ZCDP(0.0)], stopping))
