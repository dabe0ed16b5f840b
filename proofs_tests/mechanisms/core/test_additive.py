"""Additive noise: declared costs by formula, quadrature and other people's code; samplers; edges; the ledger."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given
from hypothesis import strategies as st
from opendp import prelude as dp
from scipy import integrate, stats

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    LaplaceDP,
    Ledger,
    Plan,
    ReplaceOne,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from mechanisms import (
    ExponentialChoice,
    FiniteMechanism,
    GammaNorm,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    NoiseSource,
    PlainMechanism,
    PlainSelection,
    Query,
    RangeSensitivity,
    RobustGaussian,
    RobustLaplace,
    SecureNoise,
    SeededNoise,
    SlicknessTooWeak,
    additive,
    at_delta,
)
from mechanisms.randomness.sources import GRID, grid_exponent
from proofs_tests.support.ledgers.settled import settled
from proofs_tests.support.mechanisms.weighted import Values, certificate, l1_vector, l2_vector

scales = st.floats(1e-3, 1e3)
sensitivities = st.floats(1e-3, 10.0)


# --- declared costs --------------------------------------------------------------------------------------------


@given(scales, sensitivities, st.integers(1, 6), st.randoms(use_true_random=False))
def test_laplace_loses_exactly_its_declaration_in_the_worst_direction(
    scale: float, delta: float, d: int, random: object
) -> None:
    """[laplace] Σ(|z + v| − |z|)/b is at most ‖v‖₁/b, reached beyond the shift."""
    v = np.random.default_rng(d).dirichlet(np.ones(d)) * delta
    declared = LaplaceNoise(scale).cost(L1Sensitivity(delta)).epsilon
    losses = [np.sum(np.abs(z + v) - np.abs(z)) / scale for z in np.random.default_rng(1).normal(size=(50, d)) * delta]
    assert max(losses) <= declared
    attained = np.sum(np.abs(10.0 * delta + v) - np.abs(10.0 * delta)) / scale
    assert 0.95 * declared - GRID <= attained <= declared


@given(scales, sensitivities, st.integers(1, 6))
def test_gamma_norm_loses_exactly_its_declaration_along_the_shift(scale: float, delta: float, d: int) -> None:
    """[gamma-norm] (‖z + v‖ − ‖z‖)/b is at most ‖v‖₂/b by the triangle inequality, reached for z along v."""
    v = np.full(d, delta / math.sqrt(d))
    declared = GammaNormNoise(scale).cost(L2Sensitivity(delta)).epsilon
    rng = np.random.default_rng(2)
    for z in rng.normal(size=(50, d)) * delta:
        assert (np.linalg.norm(z + v) - np.linalg.norm(z)) / scale <= declared
    attained = (np.linalg.norm(2.0 * v) - np.linalg.norm(v)) / scale
    assert 0.95 * declared - GRID <= attained <= declared


@pytest.mark.parametrize("sigma", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_the_gaussian_curve_by_quadrature(sigma: float, epsilon: float) -> None:
    """[gdp] ∫ (φ_σ(z − Δ) − e^ε φ_σ(z))⁺ dz for Δ = 1.3; the other two randomizers' δ at ε vanishes at their cost."""
    declared = GaussianNoise(sigma).cost(L2Sensitivity(1.3))
    found, _ = integrate.quad(
        lambda z: max(0.0, stats.norm.pdf(z, 1.3, sigma) - math.exp(epsilon) * stats.norm.pdf(z, 0.0, sigma)),
        -12.0 * sigma,
        12.0 * sigma + 1.3,
        limit=500,
        points=[0.65 + epsilon * sigma**2 / 1.3],
    )
    assert gaussian.delta(declared.mu, epsilon) == pytest.approx(found, rel=1e-6, abs=1e-10)
    assert gaussian.delta(0.9 * declared.mu, epsilon) < found * (1 - 1e-3) or found < 1e-9


@given(scales, sensitivities)
def test_costs_agree_with_dp_accounting_and_with_opendps_maps(scale: float, delta: float) -> None:
    laplace = LaplaceNoise(scale).cost(L1Sensitivity(delta)).epsilon
    theirs = privacy_loss_mechanism.LaplacePrivacyLoss(scale, sensitivity=delta)
    assert theirs.get_delta_for_epsilon(laplace) == pytest.approx(0.0, abs=1e-12)
    if laplace > 1e-3:
        assert theirs.get_delta_for_epsilon(0.9 * laplace) > 0.0
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=1)
    grid = grid_exponent(scale, 1)
    of_opendp: float = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=scale, k=grid).map(delta)  # type: ignore[no-untyped-call]  # opendp leaves `map` untyped
    assert of_opendp * (1 - 1e-12) <= laplace <= of_opendp * (1 + 1e-9) + 2 * GRID
    rho: float = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale, k=grid).map(delta)  # type: ignore[no-untyped-call]  # the same
    ours = GaussianNoise(scale).cost(L2Sensitivity(delta)).to_zcdp().rho
    assert rho * (1 - 1e-12) <= ours <= rho * (1 + 1e-9) + 4 * GRID * (1 + delta / scale)


@given(scales, st.integers(1, 10**6))
def test_rounding_to_the_grid_stays_within_what_is_declared_for_it(scale: float, size: int) -> None:
    """Each change moves by at most a step; `size` of them by at most GRID·scale in ℓ1, hence in ℓ2."""
    assert size * math.ldexp(1.0, grid_exponent(scale, size)) <= GRID * scale
    assert 2 * size * math.ldexp(1.0, grid_exponent(scale, size)) > GRID * scale


# --- samplers --------------------------------------------------------------------------------------------------

DRAWS = 6_000
FALSE_ALARM = 1e-7
SOURCES: list[NoiseSource] = [SecureNoise(), SeededNoise(3)]


def ks(randomizer: LaplaceNoise | GaussianNoise, noise: NoiseSource, law: str, scale: float) -> float:
    """p-value of DRAWS coordinates around 0.7 against a law of that scale."""
    drawn = randomizer.draw(np.full(DRAWS, 0.7), noise) - 0.7
    return float(stats.kstest(drawn, law, args=(0.0, scale)).pvalue)


@pytest.mark.parametrize("noise", SOURCES, ids=["secure", "seeded"])
def test_samplers_have_their_scale_and_a_tenth_off_would_show(noise: NoiseSource) -> None:
    """Kolmogorov–Smirnov, 6,000 draws. A tenth off is told by the mean of |z| and of z², each within 1.3 % by CLT.

    Power: the means are off by 10 % and 19 %, at a standard error of 1.3 % (Laplace) and 1.8 % (Gaussian).
    """
    assert ks(LaplaceNoise(2.5), noise, "laplace", 2.5) > FALSE_ALARM
    assert ks(GaussianNoise(2.5), noise, "norm", 2.5) > FALSE_ALARM
    laplace = np.abs(LaplaceNoise(2.5).draw(np.zeros(DRAWS), noise)).mean() / 2.5
    assert abs(laplace - 1.0) < 5.5 / math.sqrt(DRAWS) < 0.1 - 2.0 / math.sqrt(DRAWS)
    normal = (GaussianNoise(2.5).draw(np.zeros(DRAWS), noise) ** 2).mean() / 2.5**2
    assert abs(normal - 1.0) < 5.5 * math.sqrt(2.0 / DRAWS) < 0.19 - 2.0 * math.sqrt(2.0 / DRAWS)


@pytest.mark.parametrize("noise", SOURCES, ids=["secure", "seeded"])
def test_gamma_norm_has_a_gamma_radius_and_no_direction(noise: NoiseSource) -> None:
    """‖z‖/b is Gamma(d): KS on 1,500 draws in 5 dimensions, and the mean to 5.5 standard errors.

    Power: a scale that is 10 % off moves the mean by 10 %, at a standard error of 1.2 %.
    """
    d, draws = 5, 1500
    vectors = np.array([GammaNormNoise(0.4).draw(np.zeros(d), noise) for _ in range(draws)])
    radius = np.linalg.norm(vectors, axis=1) / 0.4
    assert stats.kstest(radius, "gamma", args=(d,)).pvalue > FALSE_ALARM
    assert abs(radius.mean() / d - 1.0) < 5.5 / math.sqrt(d * draws) < 0.1
    direction = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    assert np.max(np.abs(direction.mean(axis=0))) < 5.5 / math.sqrt(d * draws)


def test_secure_sums_lie_on_the_grid_whatever_the_value() -> None:
    """No low-order digits of the value survive: what Mironov's attack reads is not there."""
    value = np.array([0.1, math.pi, -1e-9])
    for randomizer, size in ((LaplaceNoise(2.0), 4), (GaussianNoise(2.0), 3), (GammaNormNoise(2.0), 7)):
        step = math.ldexp(1.0, grid_exponent(2.0, size))
        out = randomizer.draw(value, SecureNoise()) / step
        assert np.array_equal(out, np.round(out))
        assert np.any(value / step != np.round(value / step))


def test_any_shape_goes_in_and_comes_out() -> None:
    for noise in SOURCES:
        for randomizer in (LaplaceNoise(1.0), GaussianNoise(1.0), GammaNormNoise(1.0)):
            assert randomizer.draw(np.zeros((3, 2)), noise).shape == (3, 2)
            assert randomizer.draw(np.zeros(()), noise).shape == ()


# --- edges -----------------------------------------------------------------------------------------------------

KINDS = [
    (RobustLaplace, l1_vector),
    (RobustGaussian, l2_vector),
    (GammaNorm, l2_vector),
]
Make = Callable[[float, float, NoiseSource], object]


def make(kind: Callable[..., object], query: Callable[[float], object]) -> Make:
    return lambda scale, per_zeta, noise: kind(query(per_zeta), scale, 0.1, noise)


def refused(build: Make, scale: float) -> None:
    with pytest.raises(ValueError, match=r"positive finite|2\^-1000"):
        build(scale, 2.0, SeededNoise(0))


def free(build: Make) -> None:
    mechanism = build(1.0, 0.0, SeededNoise(0))
    assert isinstance(mechanism, RobustLaplace | RobustGaussian | GammaNorm)
    assert mechanism.robust_cost.cost in (LaplaceDP(0.0), GDP(0.0))


def empty(build: Make) -> None:
    for noise in SOURCES:
        mechanism = build(1.0, 2.0, noise)
        assert isinstance(mechanism, RobustLaplace | RobustGaussian | GammaNorm)
        assert mechanism.under(certificate()).sample(Values(np.empty(0), certificate())).size == 0


def not_finite(build: Make) -> None:
    for noise in SOURCES:
        mechanism = build(1.0, 2.0, noise)
        assert isinstance(mechanism, RobustLaplace | RobustGaussian | GammaNorm)
        for bad in (math.nan, math.inf, -math.inf):
            with pytest.raises(ValueError, match="no noise hides an infinity"):
                mechanism.under(certificate()).sample(Values(np.array([0.0, bad]), certificate()))


def not_exact(build: Make) -> None:
    for noise in SOURCES:
        mechanism = build(1.0, 2.0, noise)
        assert isinstance(mechanism, RobustLaplace | RobustGaussian | GammaNorm)
        bad: Any  # what the type forbids, as a query of somebody else may give it
        for bad in (np.array([2**53 + 1, 0]), np.array([0.5, 1.0], dtype=np.longdouble)):
            with pytest.raises(ValueError, match=r"beyond 2\^53|at most 64 bits"):
                mechanism.under(certificate()).sample(Values(bad, certificate()))


EDGES: dict[str, Callable[[Make], None]] = {
    "scale 0": lambda build: refused(build, 0.0),
    "infinite scale": lambda build: refused(build, math.inf),
    "sensitivity 0": free,
    "no coordinates": empty,
    "a coordinate of NaN or ±inf": not_finite,
    "whole numbers beyond 2^53, floats of more than 64 bits": not_exact,
}


@pytest.mark.parametrize(("kind", "query"), KINDS)
def test_the_edge_table_is_what_happens(kind: Callable[..., object], query: Callable[[float], object]) -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", additive.__doc__ or "", re.MULTILINE)
    assert set(rows) - {"edge", "---"} == set(EDGES)
    for edge in EDGES.values():
        edge(make(kind, query))


# --- paying ----------------------------------------------------------------------------------------------------


def mean_query() -> Query[FloatArray, FloatArray, L2Sensitivity]:
    return Query("mean", lambda x: np.array([np.clip(x, 0.0, 1.0).mean()]), L2Sensitivity(0.01), ReplaceOne())


def test_a_gaussian_costs_its_rho_on_a_zcdp_ledger_and_its_exact_curve_in_a_plan() -> None:
    mechanism = PlainMechanism(mean_query(), GaussianNoise(0.1), SeededNoise(0))
    assert isinstance(mechanism.cost, GDP)
    assert 0.1 <= mechanism.cost.mu <= 0.1 * (1 + 1e-9)
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    out = ledger.release(mechanism, ledger.protect(np.full(100, 0.5)))
    assert abs(out[0] - 0.5) < 1.0
    assert (
        ledger.remaining.loss
        < Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne()).remaining.loss - 0.0049
    )
    assert "gdp mu 0.1" in str(ledger.statement())
    assert settled(ledger)
    assert Plan.of(mechanism.cost, 100).price(1e-6).route == "gdp"


def test_a_basic_ledger_takes_a_gaussian_at_a_delta() -> None:
    mechanism = PlainMechanism(mean_query(), GaussianNoise(0.1), SeededNoise(0))
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(np.full(100, 0.5))
    with pytest.raises(UnsupportedCost, match=r"at_delta\(mechanism, delta\)"):
        ledger.release(mechanism, data)
    assert len(ledger.entries) == 1
    ledger.release(at_delta(mechanism, 1e-6), data)
    assert isinstance(mechanism.cost, GDP)
    assert isinstance(ledger.spent, ApproxDP)
    assert ledger.spent.epsilon == pytest.approx(gaussian.epsilon(mechanism.cost.mu, 1e-6), rel=1e-9)
    described = at_delta(mechanism, 1e-6).description
    assert described.claims == ("gdp", "gdp")
    assert described.parameters[1:] == (("priced from", repr(mechanism.cost)), ("route", "gdp"))


def test_a_finite_mechanism_at_a_delta_keeps_its_law() -> None:
    scores: Query[FloatArray, FloatArray, RangeSensitivity] = Query(
        "scores", lambda x: np.array([0.0, x.sum()]), RangeSensitivity(1.0), ReplaceOne()
    )
    priced = at_delta(PlainSelection(scores, ExponentialChoice(1.0), SeededNoise(0)), 1e-6)
    assert isinstance(priced, FiniteMechanism)
    assert np.exp(priced.log_probabilities(np.zeros(3))) == pytest.approx([0.5, 0.5])
    assert priced.description.claims == ("L2", "L5")


def test_the_robust_gaussian_under_a_certificate() -> None:
    robust = RobustGaussian(l2_vector(2.0), 0.5, 0.1, SeededNoise(0))
    mechanism = robust.under(certificate(0.05))
    assert mechanism.cost == robust.robust_cost.cost == GaussianNoise(0.5).cost(L2Sensitivity(0.2))
    described = mechanism.description
    assert (described.mechanism, described.norm, described.zeta) == ("RobustGaussian", "l2", 0.1)
    assert described.claims == ("gdp", "L1", "L0")
    with pytest.raises(SlicknessTooWeak):
        robust.under(certificate(0.2))
    assert not isinstance(robust, PlainMechanism)
    assert BoundedRange(0.0) <= BoundedRange(0.1)


def test_mixing_secure_and_simulated_noise_shows_in_the_statement() -> None:
    ledger = Ledger(ApproxDP(5.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    data = ledger.protect(np.full(100, 0.5))
    ledger.release(PlainMechanism(mean_query(), GaussianNoise(0.1), SecureNoise()), data)
    assert str(ledger.statement()).startswith("privacy statement")
    assert "different sources" not in str(ledger.statement())
    ledger.release(PlainMechanism(mean_query(), GaussianNoise(0.1), SeededNoise(0)), data)
    assert str(ledger.statement()).startswith("simulation: not private")
    assert "of different sources: secure (exact) and seeded (numpy)" in str(ledger.statement())
