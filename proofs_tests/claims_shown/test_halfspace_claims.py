"""Paper 003, halfspaces: the noisy centring learner, its strong learner, and the arithmetic around them.

The learner is not in the library yet; z = Σ μ̂(i)·yᵢ·xᵢ + ν stands here in a line of numpy.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.curves import bun_steinke_epsilon, zcdp_epsilon
from boosting import LazyBregman
from boosting.measures import joint_distance
from boosting.projection import capped_scaling

ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0, 100.0)


def capped(weights: FloatArray, density: float) -> FloatArray:
    """μ̂: min(1, c·w) with sum κn, over κn."""
    counts = np.ones(len(weights), dtype=np.intp)
    return capped_scaling(np.log(weights), counts, density) / (density * len(weights))


# --- Lemma 25 and Definition 20 --------------------------------------------------------------------------------------


def closest_pair(density: float, n: int, first: float, second: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """μ̂, μ̂′ and μ̂₀ (record 0 without weight) for all other weights 1, and record 0 of weight `first` or `second`."""
    others = np.ones(n - 1)
    both = [capped(np.append(w, others), density) for w in (first, second)]
    return both[0], both[1], np.append(0.0, np.full(n - 1, 1.0 / (n - 1)))


def test_lemma_25_holds_and_its_proof_gives_twice_as_much() -> None:
    """[003-Lem25] One capped record each way: the path through μ₀ is 2/(κn) long, the way itself at most 1/(κn)."""
    density, n = 0.2, 50
    cap = 1.0 / (density * n)
    one, other, without = closest_pair(density, n, 1e3, 1e2)
    detour = sum(0.5 * float(np.sum(np.abs(law - without))) for law in (one, other))
    assert detour == pytest.approx(2.0 * cap, rel=1e-9)
    assert 0.5 * np.sum(np.abs(one - other)) <= cap
    # Attained, in index distance too: a weight that vanishes against one that is capped; 10 % less would fail.
    one, other, _ = closest_pair(density, n, 1e3, 1e-9)
    assert 0.5 * np.sum(np.abs(one - other)) == pytest.approx(cap, rel=1e-6)


def test_definition_20_must_say_at_most() -> None:
    """[003-Def20] [001-Def-learner] Definition 21 promises <= ζ and "< ζ" asks for less; 1/(κn) is reached jointly.

    A record that is capped before and after it is replaced: joint distance 1/(κn), index distance 0.
    """
    density, n = 0.25, 16
    one, other, _ = closest_pair(density, n, 1e3, 1e3)
    assert np.array_equal(one, other)
    joint = joint_distance([*range(n)], one, [-1, *range(1, n)], other)
    assert joint == 0.25 == pytest.approx(LazyBregman(density, 0.5).global_zeta(n), rel=1e-11)
    assert not joint < 1 / (density * n)


def test_index_and_joint_distance_of_arbitrary_smooth_pairs() -> None:
    """[003-Thm27-1] Joint <= s + min(μ̂ᵢ, μ̂′ᵢ) <= s + 1/(κn), attained; so is the printed 2(1/(κn) + s) for |z − z′|."""
    rng, n, density = np.random.default_rng(0), 8, 0.5
    cap, unit, worst = 1.0 / (density * n), np.array([1.0, 0.0]), 0.0
    for _ in range(3000):
        one, other = (capped(np.exp(rng.normal(0.0, rng.choice([0.1, 1, 5]), n)), density) for _ in range(2))
        index = 0.5 * float(np.sum(np.abs(one - other)))
        joint = 0.5 * (one[0] + other[0] + float(np.sum(np.abs(one[1:] - other[1:]))))  # record 0 is replaced
        assert joint <= index + min(one[0], other[0]) + 1e-12 <= index + cap + 1e-9
        signs = np.sign(one - other)
        edges = signs[:, None] * unit
        changed = edges.copy()
        edges[0], changed[0] = unit, -unit
        moved = float(np.linalg.norm(one @ edges - other @ changed))
        assert moved <= 2.0 * (cap + index) + 1e-12
        worst = max(worst, moved / (2.0 * (cap + index)))
    assert worst > 0.98
    # Exactly attained: record 0 at its cap in both, the others' mass moved from one half to the other.
    one, other = np.array([2, 2, 2, 2, 0, 0, 0, 0]) / 8, np.array([2, 0, 0, 0, 2, 2, 2, 0]) / 8
    edges, changed = np.array([1, 1, 1, 1, -1, -1, -1, 0.0]), np.array([-1, 1, 1, 1, -1, -1, -1, 0.0])
    assert abs(one @ edges - other @ changed) == 2.0 * (0.25 + 0.75)


def test_the_lazy_measure_moves_z_by_at_most_two_over_kappa_n() -> None:
    """[003-Thm27-gdp] |z − z′|·κn <= 2, reached: Δ = 2/(κn), half of what Theorem 30 and Claim 1 charge."""
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(3000):
        n, density = int(rng.integers(3, 12)), float(rng.choice([0.4, 0.7, 1.0]))
        weights = np.exp(rng.normal(0.0, rng.choice([0.0, 1.0, 4.0]), n))
        changed = weights.copy()
        changed[0] = np.exp(rng.normal(0.0, 4.0))
        unit = rng.normal(size=3)
        unit /= np.linalg.norm(unit)
        edges = np.tile(unit, (n, 1))
        edges[0] = unit if changed[0] < weights[0] else -unit
        others = edges.copy()
        others[0] = -edges[0]
        moved = np.linalg.norm(capped(weights, density) @ edges - capped(changed, density) @ others)
        worst = max(worst, float(moved) * density * n)
    assert 1.999 < worst <= 2.0 + 1e-9


def test_rounds_of_noisy_centring_are_gaussian_exactly() -> None:
    """[003-Thm27-gdp] μ = √Σ(2ζ_t/σ)²; at μ = .5, δ = 1e-6: 2.254 (GDP), 2.419 (ρ, tight), 2.753 (Lemma 15), 5.757."""
    mu, delta = 0.5, 1e-6
    assert math.sqrt(25 * (2 * 0.05 / 1.0) ** 2) == pytest.approx(mu)
    rho = mu**2 / 2
    assert gaussian.epsilon(mu, delta) == pytest.approx(2.254, abs=5e-4)
    assert zcdp_epsilon(rho, delta) == pytest.approx(2.419, abs=1e-3)
    assert bun_steinke_epsilon(rho, delta) == pytest.approx(2.753, abs=5e-4)
    # 8/(κnσ)² a round is four times 2/(κnσ)².
    assert bun_steinke_epsilon(4 * rho, delta) == pytest.approx(5.757, abs=5e-4)
    # Exactly: the losses of 25 rounds along the shift add up to the loss of one with √25 times the shift.
    losses = sum(np.random.default_rng(2).normal(0.1**2 / 2, 0.1, (25, 200_000)))
    assert np.mean(np.maximum(0.0, 1.0 - np.exp(0.5 - losses))) == pytest.approx(gaussian.delta(mu, 0.5), rel=0.03)


# --- Theorem 27.2: advantage -----------------------------------------------------------------------------------------


def centre(edges: FloatArray, law: FloatArray) -> FloatArray:
    return np.asarray(law @ edges)


def advantage(edges: FloatArray, law: FloatArray, halfspace: FloatArray) -> float:
    """½·E y·h(x), for h(x) = halfspace·x; edges are y·x."""
    return 0.5 * float(law @ (edges @ halfspace))


def test_two_points_have_advantage_a_fifth_of_what_is_printed() -> None:
    """[003-Thm27-2] x = τe₁ ± √(1 − τ²)e₂, τ = .1: z·x has advantage z·z/2 = .005 < τ/4 = .025, without noise."""
    tau, law = 0.1, np.array([0.5, 0.5])
    side = math.sqrt(1 - tau**2)
    edges = np.array([[tau, side], [tau, -side]])
    z = centre(edges, law)
    assert advantage(edges, law, z) == pytest.approx(0.005) == pytest.approx(float(z @ z) / 2)
    assert advantage(edges, law, z) < tau / 4
    assert float(z @ np.array([1.0, 0.0])) / 2 == pytest.approx(0.05)  # z·u/2, which is not the advantage
    assert advantage(edges, law, z / np.linalg.norm(z)) >= tau / 4
    # No c saves it with little noise: z·ẑ/2 is .005 + O(σ), and c·σ·√ln(1/ξ) vanishes.


def corrupted(rng: np.random.Generator, tau: float, n: int, density: float) -> tuple[FloatArray, FloatArray]:
    """Points of margin τ for e₁ under a smooth law that puts all it may on at most κτn/4 corrupted ones."""
    sides = np.zeros((n, 3))
    sides[:, 1:] = rng.normal(size=(n, 2))
    edges = tau * np.eye(3)[0] + sides * np.sqrt(1 - tau**2) / np.linalg.norm(sides, axis=1, keepdims=True)
    bad = math.floor(density * tau * n / 4)
    edges[:bad] = rng.choice([-1.0, -tau]) * np.eye(3)[0]
    return edges, capped(np.append(np.full(bad, 1e9), np.exp(rng.normal(size=n - bad))), density)


def test_a_normalised_centre_has_advantage_a_quarter_of_the_margin() -> None:
    """[003-Thm27-2] >= τ/4 for z/|z|, >= τ²/8 for z, with up to κτn/4 corrupted points; both attained at τ = 1."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        tau, density = float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.2, 1.0))
        edges, law = corrupted(rng, tau, 200, density)
        z = centre(edges, law)
        assert advantage(edges, law, z / np.linalg.norm(z)) >= tau / 4
        assert advantage(edges, law, z) >= tau**2 / 8
    edges, law = np.repeat([[-1.0], [1.0]], [1, 3], axis=0), np.full(4, 0.25)
    z = centre(edges, law)
    assert advantage(edges, law, z) == 1 / 8
    assert advantage(edges, law, z / np.linalg.norm(z)) == 1 / 4


def test_noise_leaves_the_unit_interval_and_costs_the_square_root_of_the_dimension() -> None:
    """[003-Thm27-2] |ẑ| is about √(1 + σ²d), so h(B) is not in [−1, 1]; normalised, the advantage depends on d."""
    rng, sigma, xi = np.random.default_rng(4), 0.1, 0.5
    promised = 1 / 4 - math.sqrt(2.0) * sigma * math.sqrt(math.log(1 / xi))  # τ = 1, and c = √2 is a Gaussian's tail
    found = []
    for dimension in (1, 100, 10_000):
        noisy = np.eye(1, dimension)[0] + sigma * rng.normal(size=(200, dimension))
        lengths = np.linalg.norm(noisy, axis=1)
        assert np.median(lengths) == pytest.approx(math.sqrt(1 + sigma**2 * dimension), rel=0.1)
        found.append(float(np.median(noisy[:, 0] / lengths / 2)))
    assert found[0] > promised > found[2] > 0.0  # .5, .13, .05: dimension-free it is not


# --- Algorithm 5, Lemma 29, Theorems 1, 30 and 33, Claims 1 to 5 ------------------------------------------------------


def margin(gamma: float, rate: float, rounds: float, log_density: float, regret: float) -> float:
    """θ >= 2γ − 2(regret·λ + L/(λT)) from Lemmas 35 and 37."""
    return 2 * gamma - 2 * (regret * rate + log_density / (rate * rounds))


@pytest.mark.parametrize(("tau", "alpha"), [(0.1, 0.2), (0.5, 0.04), (0.9, 0.9)])
def test_algorithm_5_has_a_margin_only_by_the_corrected_regret(tau: float, alpha: float) -> None:
    """[003-Alg5] λ = γ = τ/8, T = 1024L/τ²: θ >= −γ/8 by the printed regret, 13γ/8 by λ/8."""
    gamma, log_density = tau / 8, math.log(4 / alpha)
    rounds = 1024 * log_density / tau**2
    assert rounds == pytest.approx(16 * log_density / gamma**2)
    assert margin(gamma, tau / 8, rounds, log_density, 1.0) == pytest.approx(-gamma / 8)
    assert margin(gamma, tau / 8, rounds, log_density, 1 / 8) == pytest.approx(13 * gamma / 8)
    assert margin(gamma, gamma / 4, rounds, log_density, 1.0) == pytest.approx(gamma)  # what Theorem 24 asks for


def adversary(law: FloatArray, gamma: float, rng: np.random.Generator) -> FloatArray:
    """y·h(x) in [−1, 1] per record with advantage exactly γ under `law`: a random shape, shifted until it fits."""
    shape = rng.choice([-1.0, 1.0], len(law)) if rng.random() < 0.7 else np.sign(rng.normal() - law * len(law))
    low, high = -2.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if law @ np.clip(shape + middle, -1, 1) < 2 * gamma else (low, middle)
    return np.asarray(np.clip(shape + high, -1, 1))


def test_algorithm_5_reaches_that_margin() -> None:
    """[003-Alg5] Against weak learners of advantage exactly γ: margin above 13γ/8 on all but κn."""
    rng, n, density, gamma = np.random.default_rng(5), 24, 0.25, 0.125
    log_density, found = math.log(1 / density), []
    rounds = math.ceil(16 * log_density / gamma**2)
    for _ in range(1):
        totals = np.zeros(n)
        for _ in range(rounds):
            law = capped(np.exp(-gamma * (totals - totals.min()) / 2), density)  # Σ ℓ = Σ (1 + y·h)/2
            totals += adversary(law, gamma, rng)
        worst = np.sort(totals / rounds)[: round(density * n)]
        found.append(float(worst.mean()))
    assert all(theta >= 13 * gamma / 8 for theta in found)
    assert min(found) < 1.02 * 2 * gamma  # these learners are as weak as allowed: 2γ is the most they leave


def noise_scale(tau: float, beta: float, log_density: float) -> tuple[float, float]:
    """σ of Algorithm 5 with c = √2, a Gaussian's, and 3T/β, the number inside its logarithm."""
    inside = 3072 * log_density / (beta * tau**2)
    return tau / (8 * math.sqrt(2.0) * math.sqrt(math.log(inside))), inside


def test_lemma_29_is_false_beyond_a_dimension_of_two_log_3t_over_beta() -> None:
    """[003-Lem29] "|ν_t| <= τ/8 with probability 1 − β/(3T)": the law of |ν|²/σ² is χ²_d."""
    tau, beta, log_density = 0.5, 0.1, math.log(16)
    scale, inside = noise_scale(tau, beta, log_density)
    ratio = (tau / 8 / scale) ** 2
    assert ratio == pytest.approx(2 * math.log(inside))  # c² ln(3T/β), about 25 here
    assert stats.chi2.sf(ratio, 1) <= 1 / inside  # along u, which is all that Theorem 27 bounded
    assert stats.chi2.sf(ratio, math.ceil(ratio)) > 0.4
    assert stats.chi2.sf(ratio, 4 * math.ceil(ratio)) > 1 - 1e-6
    # And the class of |z| <= 2 is left for certain once the mean of T vectors is longer than 3: d > 9T/σ².
    rounds = 1024 * log_density / tau**2
    assert stats.chi2.sf(9 * rounds / scale**2, 10 * rounds / scale**2) > 1 - 1e-12


@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-3])
def test_lemma_29_corrected(beta: float) -> None:
    """[003-Lem29] The mean of T fresh ν_t has norm <= σ(√d + √(2 ln(3/β)))/√T with probability 1 − β/3."""
    for dimension in (1, 2, 5, 30, 1000, 10**6):
        length = math.sqrt(dimension) + math.sqrt(2 * math.log(3 / beta))
        assert stats.chi2.sf(length**2, dimension) <= beta / 3
        tighter = math.sqrt(dimension) + 0.4 * math.sqrt(2 * math.log(3 / beta))
        assert dimension < 1000 or beta > 0.1 or stats.chi2.sf(tighter**2, dimension) > beta / 3


def test_claim_1_prints_its_inequality_reversed() -> None:
    """[003-Claim1] "if ε < 3√(ρ ln(1/δ))": ρ = 100, δ = 1e-6, ε = 1 < 111 are allowed, the true δ is 1."""
    rho, delta, epsilon = 100.0, 1e-6, 1.0
    assert epsilon < 3 * math.sqrt(rho * math.log(1 / delta)) == pytest.approx(111.5, abs=0.1)
    assert gaussian.delta(math.sqrt(2 * rho), epsilon) > 1 - 1e-9


def test_three_roots_suffice_only_while_rho_is_small() -> None:
    """[003-Claim1] ρ + 2√(ρl) <= 3√(ρl) iff ρ <= l = ln(1/δ); at δ = .1, ρ = 50, ε = 32.2 the true δ is above .9."""
    for delta, share in itertools.product((0.1, 1e-3, 1e-9), (0.01, 0.3, 0.999, 1.001, 4.0)):
        level = math.log(1 / delta)
        rho = share * level
        assert (bun_steinke_epsilon(rho, delta) <= 3 * math.sqrt(rho * level)) == (share <= 1)
        if share <= 1:
            assert gaussian.delta(math.sqrt(2 * rho), 3 * math.sqrt(rho * level)) <= delta
    epsilon = 3 * math.sqrt(50.0 * math.log(10.0))
    assert epsilon == pytest.approx(32.2, abs=0.05)
    assert gaussian.delta(10.0, epsilon) > 0.9


def test_the_informal_theorem_1_drops_a_term() -> None:
    """[003-Thm1] 1/(εατ²) against Theorem 30's extra 1/(α²τ²): the ratio ε/α has no bound."""
    epsilon, tau = 1.0, 0.1
    ratios = [(1 / (alpha * tau) ** 2) / (1 / (epsilon * alpha * tau**2)) for alpha in (0.1, 0.01, 0.001)]
    assert ratios == pytest.approx([10.0, 100.0, 1000.0])


def union(epsilon_t: float, phi: float, beta: float, delta_t: Callable[[float], float]) -> float:
    """P(BN) + P(BG) + δ_T/ε_T of Theorem 33."""
    return beta / 4 + beta / 2 + delta_t(epsilon_t) / epsilon_t


def test_theorem_33_needs_delta_in_terms_of_epsilon_t() -> None:
    """[003-Thm33] ε_T = φ/2 and δ_T = φβ/4 are allowed; then the three terms are 5β/4, not β."""
    phi, beta = 0.02, 0.1
    assert union(phi / 2, phi, beta, lambda _: phi * beta / 4) == pytest.approx(5 * beta / 4)
    for share in (0.1, 0.5, 1.0):
        assert union(share * phi, phi, beta, lambda chosen: chosen * beta / 4) <= beta * (1 + 1e-12)


@pytest.mark.parametrize(
    ("alpha", "tau", "beta"), [(0.1, 0.1, 0.1), (0.5, 0.9, 0.5), (0.01, 0.5, 1e-3), (0.9, 0.9, 0.01)]
)
def test_claim_2_holds_by_the_exact_binomial(alpha: float, tau: float, beta: float) -> None:
    """[003-Claim2] n > 96 ln(4/β)/(ατ), noise ατ/32: P(F >= ατn/16) <= β/4; κn is a larger number still."""
    n = math.floor(96 * math.log(4 / beta) / (alpha * tau)) + 1
    rate = alpha * tau / 32
    exact = float(stats.binom.sf(math.ceil(alpha * tau * n / 16) - 1, n, rate))
    assert exact <= beta / 4
    assert float(stats.binom.sf(math.floor(alpha / 4 * n), n, rate)) <= exact
    # Chernoff's bound is loose, by less than ten: with a tenth of the sample the claim would fail.
    assert float(stats.binom.sf(math.ceil(alpha * tau * (n // 10) / 16) - 1, n // 10, rate)) > beta / 4


def test_claim_3_holds_for_both_settings() -> None:
    """[003-Claim3] T = 512L/τ², ξ = βτ²/(1024L): β/2. Algorithm 5's 1024 and 3072: β/3. Tξ is exactly that."""
    for tau, beta, density in itertools.product((0.05, 0.5, 0.9), (0.01, 0.5), (0.01, 0.2)):
        log_density = math.log(1 / density)
        for rounds, inside, failure in ((512, 1024, beta / 2), (1024, 3072, beta / 3)):
            total, xi = rounds * log_density / tau**2, beta * tau**2 / (inside * log_density)
            assert total * xi == pytest.approx(failure)
            assert 0.75 * failure < -math.expm1(total * math.log1p(-xi)) <= failure


def test_claim_5_holds_as_a_fraction_and_not_as_the_printed_sum() -> None:
    """[003-Claim5] κ + ατ/16 <= α/2 with κ = α/4; the printed Σ err without 1/n exceeds α/2 at a single mistake."""
    for alpha, tau in itertools.product(np.linspace(0.01, 1, 25), np.linspace(0.01, 0.999, 25)):
        n = 1000
        mistakes = math.floor(alpha / 4 * n) + math.floor(alpha * tau / 16 * n)
        assert mistakes / n <= alpha / 4 + alpha * tau / 16 <= alpha / 2
        assert mistakes == 0 or mistakes > alpha / 2


# --- Section 3.2: the whole booster ----------------------------------------------------------------------------------


def selection(scores: FloatArray, eta: float) -> FloatArray:
    weights = np.exp(eta * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


TABLES = np.array(list(itertools.product((-1, 1), repeat=2)))
"""All hypotheses over two points."""


def law_of_two_rounds(sample: list[tuple[int, int]], eta: float, density: float) -> FloatArray:
    """P(h₁, h₂), shape (16,), of exponential mechanisms on the lazily re-weighted error."""
    points, labels = (np.array(column) for column in zip(*sample, strict=True))
    correct = labels * TABLES[:, points]
    uniform = np.full(len(sample), 1.0 / len(sample))
    first = selection(correct @ uniform / 2, eta)
    rounds = [selection(correct @ capped(np.exp(-0.5 * row), density) / 2, eta) for row in correct]
    return np.concatenate([chance * after for chance, after in zip(first, rounds, strict=True)])


@pytest.mark.parametrize(("density", "reached"), [(0.7, 0.5), (1.0, 0.98)])
def test_boost_costs_t_times_its_weak_learner(density: float, reached: float) -> None:
    """[003-Sec3-2] All neighbours of 3 records, two rounds: D_α <= α·Σρ_t, ρ_t = (ηζ)²/2; 2 % less would fail."""
    eta, records = 0.3, list(itertools.product((0, 1), (-1, 1)))
    charged = 2 * (eta / (density * 3)) ** 2 / 2
    worst, laws = 0.0, {}
    for sample in itertools.product(records, repeat=3):
        laws[sample] = law_of_two_rounds(list(sample), eta, density)
    for sample, new in itertools.product(laws, records):
        p, q = laws[sample], laws[(new, *sample[1:])]
        for order in ORDERS:
            divergence = math.log(float(np.sum(p**order * q ** (1 - order)))) / (order - 1)
            worst = max(worst, divergence / order)
    assert reached * charged < worst <= charged
