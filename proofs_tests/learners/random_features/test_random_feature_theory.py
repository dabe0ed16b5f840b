"""004's error bounds, printed and mended: against exact laws and simulation, and 10 % less where they are tight."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from accountant.arrays import FloatArray
from learners.random_features.error_bounds import (
    PublishedNoise,
    _generalisation,
    gamma_norm_bound,
    gamma_norm_quantile,
    interpolation_error,
    mean_interpolation_error,
    noise_error,
    noise_norm2_bound,
    noise_norm2_quantile,
    printed_theorem_11,
    private_error,
)
from learners.random_features.gram_matrix import gaussian_operator_norm

PAPER = PublishedNoise(1000, 1.0, 1e-5, 3 / 8)
FAILURES = st.floats(1e-9, 0.9)
A = math.log(1.25e5) / 0.25

# --- Algorithm 1 and its lemmas ---------------------------------------------------------------------------------------


def test_the_numbers_of_algorithm_1() -> None:
    """[004-Lem13] A = ln(1.25/δ_p)/((1 − 2η)ε²), Nσ² = 8A."""
    assert PAPER.number * PAPER.sigma**2 == pytest.approx(8 * A)
    assert PAPER.sigma == pytest.approx(math.sqrt(2 * math.log(1.25e5)) * 2 * PAPER.radius)
    assert PAPER.printed_lemma_13(0.05) == pytest.approx(96.4, abs=0.05)
    assert PAPER.printed_gamma_bound(0.05) == pytest.approx(107.3, abs=0.05)
    assert noise_norm2_bound(PAPER.sigma, 1000, 0.05) == pytest.approx(418.9, abs=0.05)
    level = math.log(20)
    assert noise_norm2_bound(PAPER.sigma, 1000, 0.05) == pytest.approx(
        8 * A * (1 + 2 * math.sqrt(level / 1000) + 2 * level / 1000)
    )


@given(st.integers(1, 10**5), st.floats(0.01, 100.0), FAILURES)
def test_noise_quantiles_and_their_closed_forms(n: int, size: float, failure: float) -> None:
    """[004-Lem13], [004-gamma-bound] Quantiles are exact; closed forms are above, not by much for many features."""
    for quantile, bound, tail in (
        (noise_norm2_quantile(size, n, failure), noise_norm2_bound(size, n, failure), stats.chi2(n, scale=size**2).sf),
        (gamma_norm_quantile(size, n, failure), gamma_norm_bound(size, n, failure), stats.gamma(n, scale=size).sf),
    ):
        assert tail(quantile) == pytest.approx(failure, rel=1e-6)
        assert tail(0.9 * quantile) > failure
        assert tail(bound) <= failure
        assert bound <= quantile * 1.05 or n * failure < 2000


@pytest.mark.parametrize(("n", "failure"), [(1, 0.05), (7, 1e-6), (1000, 0.05)])
def test_quantiles_by_mpmath(n: int, failure: float) -> None:
    """[004-Lem13] Incomplete gamma functions, to 30 digits."""
    with mpmath.workdps(30):
        tails = (
            mpmath.gammainc(mpmath.mpf(n) / 2, noise_norm2_quantile(1.5, n, failure) / 4.5, regularized=True),
            mpmath.gammainc(n, gamma_norm_quantile(1.5, n, failure) / 1.5, regularized=True),
        )
    assert [float(tail) for tail in tails] == pytest.approx([failure, failure], rel=1e-9)


# --- Theorem 12 -------------------------------------------------------------------------------------------------------


def phi(points: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Cosines and sines, shape (m, 2N)."""
    angles = points @ frequencies.T
    return np.hstack([np.cos(angles), np.sin(angles)])


def test_noise_at_a_point_is_exact() -> None:
    """[004-Thm12] 40,000 draws: the mean within 4 standard errors, the quantile by a binomial test at any point."""
    rng, number, sigma = np.random.default_rng(0), 5, 0.7
    errors = noise_error(sigma, number, 0.1)
    table = phi(rng.normal(size=(3, 2)), rng.normal(size=(number, 2)))
    added = (rng.normal(0.0, sigma, (40_000, 2 * number)) @ table.T) ** 2
    assert errors.mean == pytest.approx(number * sigma**2)
    assert np.max(np.abs(added.mean(axis=0) / errors.mean - 1)) < 4 * math.sqrt(2 / 40_000)
    for column in added.T:
        assert stats.binomtest(int(np.sum(column > errors.at_a_point)), 40_000, 0.1).pvalue > 1e-3
        assert stats.binomtest(int(np.sum(column > 0.9 * errors.at_a_point)), 40_000, 0.1).pvalue < 1e-9


@pytest.mark.parametrize("failure", [0.9, 0.5, 0.3, 0.2, 0.05, 1e-6])
def test_noise_over_points_is_attained(failure: float) -> None:
    """[004-Thm12] r equal eigenvalues: never above, and for some r exactly there, so 10 % less is too little."""
    over = noise_error(1.0, 20, failure).over_points / 20
    tails = [float(stats.chi2.sf(r * over, r)) for r in range(1, 41)]
    assert max(tails) == pytest.approx(failure, rel=1e-9)
    assert max(float(stats.chi2.sf(0.9 * r * over, r)) for r in range(1, 41)) > failure
    assert (tails[0] == max(tails)) == (failure <= 0.2)
    assert failure > 0.2 or over == pytest.approx(noise_error(1.0, 20, failure).at_a_point / 20)


@given(st.floats(0.01, 0.99), st.floats(1e-4, 0.9))
def test_noise_over_points_for_two_eigenvalues(weight: float, failure: float) -> None:
    """[004-Thm12] w·X + (1 − w)·Y by quadrature, with and without the largest eigenvalue known."""
    for share in (1.0, max(weight, 1 - weight)):
        over = noise_error(1.0, 1, failure, share).over_points

        def tail(z: float, limit: float = over) -> float:
            return float(2 * stats.norm.pdf(z) * stats.chi2.sf((limit - weight * z * z) / (1 - weight), 1))

        end = math.sqrt(over / weight)
        assert quad(tail, 0, end, limit=200)[0] + stats.chi2.sf(end**2, 1) <= failure * (1 + 1e-6)


def test_a_known_share_helps() -> None:
    """[004-Thm12] For N equal eigenvalues of 2N the mean is approached; the printed bound is far above."""
    errors = noise_error(PAPER.sigma, 1000, 0.01, 1 / 2000)
    assert errors.mean < errors.over_points < 1.11 * errors.mean
    assert stats.chi2.sf(errors.over_points / errors.mean * 2000, 2000) <= 0.01
    level = math.log(100) / 2000  # s·l
    assert errors.over_points / errors.mean == pytest.approx(1 + 2 * math.sqrt(level) + 2 * level)
    assert PAPER.printed_theorem_12(1000, 0.01 / 5) ** 2 > 5 * noise_error(PAPER.sigma, 1000, 0.01).over_points


# --- Theorem 11 -------------------------------------------------------------------------------------------------------


def test_the_approximation_error_is_exact_on_average() -> None:
    """[004-Thm11] E‖f − f*‖² = (F² − ‖f‖²)/N: 20,000 draws, 4 standard errors, so 10 % less would be found out."""
    rng, number, places = np.random.default_rng(1), 6, np.arange(16)
    waves = np.exp(2j * math.pi * np.outer(places, places) / 16)  # e_k(x), rows k
    law, alpha = rng.dirichlet(np.ones(16)), rng.normal(size=16) + 1j * rng.normal(size=16)
    target = (law * alpha) @ waves
    norm2, length2 = float(law @ np.abs(alpha) ** 2), float(np.mean(np.abs(target) ** 2))
    drawn = rng.choice(16, size=(20_000, number), p=law)
    errors = np.mean(np.abs(np.mean((alpha[:, None] * waves)[drawn], axis=1) - target) ** 2, axis=1)
    expected = (norm2 - length2) / number
    assert abs(errors.mean() - expected) < 4 * errors.std() / math.sqrt(20_000) < 0.09 * expected


@given(FAILURES, st.integers(1, 1000), st.integers(1, 1000), st.floats(0.01, 1.0), st.floats(0.001, 1.0))
def test_the_constants_solve_bernsteins_equation(
    failure: float, m: int, ratio: int, least: float, share: float
) -> None:
    """[004-Thm11] In units of F = N = 1 with T² = 1/L: each deviation r has r²/(2(v + Hr)) = its exponent."""

    def deviation(variance: float, largest: float, level: float) -> float:
        r = mpmath.findroot(lambda r: r * r / (2 * (variance + largest * r / 3)) - level, 10 * (1 + level))
        return float(r)

    number = m * ratio
    length, ratios = math.log(8 / failure), math.log(4 / failure)
    b = math.sqrt(length) + deviation(1.0, 2 / math.sqrt(length), length)
    a = 1 + deviation(1 / length, 1 / length, ratios)
    variance = share * (1 - share) if share < 0.5 else 0.25
    e = deviation(variance / m, share / m, math.log(8 * number / failure))
    w = a + b * b * m / (number * least)
    expected = b / math.sqrt(number) + math.sqrt(min(share * w, b * b / number + e * w))
    assert interpolation_error(3.0, number, m, least, failure, share) == pytest.approx(3 * expected, rel=1e-6)
    assert a < 2.8


def run(seed: int, m: int, number: int, dimension: int, sigma: float) -> tuple[float, float, float, float]:
    """‖f − f#‖, λ_min, λ_max(Σ)/N and ‖f‖² of one draw with α = 1: f(x) = exp(−σ²|x|²/2), points N(0, I).

    Integrals over μ are exact: of characteristic functions and of products of Gaussians.
    """
    rng = np.random.default_rng(seed)
    points, frequencies = rng.normal(size=(m, dimension)), rng.normal(0.0, sigma, (number, dimension))
    table = np.exp(1j * (points @ frequencies.T))
    gram = table @ table.conj().T
    labels = np.exp(-0.5 * sigma**2 * np.sum(points**2, axis=1))
    c = table.conj().T @ np.linalg.solve(gram, labels)
    gaps = np.sum((frequencies[:, None] - frequencies) ** 2, axis=2)
    overlap = np.exp(-0.5 * gaps)  # E exp(i⟨ω_k − ω_l, x⟩)
    cross = (1 + sigma**2) ** (-dimension / 2) * np.exp(-0.5 * np.sum(frequencies**2, axis=1) / (1 + sigma**2))
    length2 = (1 + 2 * sigma**2) ** (-dimension / 2)
    error2 = float((c.conj() @ overlap @ c).real - 2 * (c @ cross).real + length2)
    least = float(np.linalg.eigvalsh(gram / number)[0])
    return math.sqrt(max(error2, 0.0)), least, float(np.linalg.eigvalsh(overlap / number)[-1]), length2


@pytest.mark.parametrize(("m", "number", "dimension", "sigma"), [(8, 50, 2, 2.0), (12, 80, 4, 1.0), (3, 60, 1, 0.7)])
def test_the_interpolation_error_is_below_its_bounds(m: int, number: int, dimension: int, sigma: float) -> None:
    """[004-Thm11], [004-zero] 100 draws at δ = .05: none outside; a true 10 % would leave one, but for 3e-5."""
    squares, leasts, shares = [], [], []
    for seed in range(100):
        error, least, share, length2 = run(seed, m, number, dimension, sigma)
        assert error <= interpolation_error(1.0, number, m, least, 0.05, share)
        assert error <= interpolation_error(1.0, number, m, least, 0.05)
        assert length2 <= gaussian_operator_norm(dimension, math.sqrt(dimension), sigma)
        squares.append(error**2)
        leasts.append(least)
        shares.append(share)
    least, share = float(np.median(leasts[:50])), float(np.quantile(shares[:50], 0.9))
    later = zip(squares[50:], leasts[50:], shares[50:], strict=True)
    kept = [square for square, at, part in later if at >= least and part <= share]
    by_hand = 3 / math.sqrt(number) + 3 * math.sqrt(share * (1 + m / (number * least)))
    assert mean_interpolation_error(3.0, number, m, least, share) == pytest.approx(by_hand)
    assert math.sqrt(sum(kept) / 50) <= mean_interpolation_error(1.0, number, m, least, share)


def test_predicting_0_is_worst_for_the_first_eigenfunction() -> None:
    """[004-zero] ‖f‖_{L²(μ)} <= √τ·‖f‖_ρ is attained: 10 % less is too little."""
    grid, sigma = np.linspace(-8, 8, 400), 1.5
    law = stats.norm.pdf(grid) / np.sum(stats.norm.pdf(grid))
    kernel = np.exp(-0.5 * sigma**2 * (grid[:, None] - grid) ** 2)
    values, vectors = np.linalg.eigh(kernel * np.sqrt(np.outer(law, law)))
    # The eigenfunction u of eigenvalue τ has L² norm 1 and norm 1/√τ in the kernel's space, which is F(ρ).
    norm = 1 / math.sqrt(values[-1])
    assert 1 / norm == pytest.approx(math.sqrt(gaussian_operator_norm(1, 1.0, sigma)), rel=1e-6)
    assert np.sum(vectors[:, -1] ** 2) == pytest.approx(1.0)


def test_training_points_stand_for_all_points() -> None:
    """[004-Thm11] λ_max(Σ − A*A/m)/N at δ = .1, 300 draws: none outside, where a true 10 % leaves one but for 2e-14.

    N waves on N places: p is one of N orthogonal projections, and the law is multinomial.
    """
    rng = np.random.default_rng(2)
    for number, m in ((2, 30), (10, 100)):
        counts = rng.multinomial(m, [1 / number] * number, size=300) / m
        assert np.max(1 / number - counts) <= _generalisation(1 / number, number, m, 0.1)
        assert np.max(1 / number - counts) <= _generalisation(1.0, number, m, 0.1)


# --- Theorem 10 -------------------------------------------------------------------------------------------------------


def test_the_sum_and_what_predicting_0_gives() -> None:
    """[004-Thm10] Halves of δ; noise alone is far above 1/√m."""
    found = private_error(PAPER.sigma, 2.0, 1000, 100, 0.25, 0.1, 0.5)
    assert found.interpolation == interpolation_error(2.0, 1000, 100, 0.25, 0.05, 0.5)
    assert found.noise == math.sqrt(noise_error(PAPER.sigma, 1000, 0.05, 0.5).over_points)
    assert found.total == found.interpolation + found.noise
    assert found.zero == 0.1
    assert found.noise > math.sqrt(8 * A) > 190 * found.zero


def test_printed_theorem_10_by_hand() -> None:
    """[004-Thm10] Theorem 11 and Theorem 12 with 1 − η."""
    interpolation = printed_theorem_11(2.0, 1000, 100, 3 / 8, 0.1)
    level, two = math.log(10), math.log(20)
    by_hand = (
        14 * two / math.sqrt(1000)
        + 28 * (200 * level) ** 0.25 * two / math.sqrt(250)
        + (0.32 * level) ** 0.25 * two**0.5
    )
    assert interpolation == pytest.approx(2 * by_hand)
    noise = PAPER.printed_theorem_10(2.0, 100, 0.1) - interpolation
    spread = math.sqrt(1000) * (math.sqrt(1.75 / 100) + (0.02 * level) ** 0.25)
    inner = 2 * math.log(1.25e5) / 0.625 + 8 * math.sqrt(2 * level) / (math.sqrt(1000) * 0.625)
    assert noise == pytest.approx(spread * math.sqrt(inner))
    assert noise / PAPER.printed_theorem_12(100, 0.1) == pytest.approx(math.sqrt(0.4))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="eta"):
        PublishedNoise(10, 1.0, 1e-5, 0.5)
    with pytest.raises(ValueError, match="eta"):
        printed_theorem_11(1.0, 10, 10, 0.6, 0.1)
    with pytest.raises(ValueError, match="positive"):
        interpolation_error(1.0, 10, 10, 0.0, 0.1)
    with pytest.raises(ValueError, match=r"\(0, 1\]"):
        noise_error(1.0, 10, 0.1, math.nan)
    with pytest.raises(ValueError, match="whole"):
        noise_norm2_bound(1.0, 0, 0.1)
