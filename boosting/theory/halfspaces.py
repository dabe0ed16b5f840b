"""What the centred mean promises as a weak learner for halfspaces, and what learning them takes (003, section 5).

Setting: records in the unit ball of ℝ^d, u a unit vector, and yᵢ·(u·xᵢ) >= τ but for a share η of corrupted records;
a weighting μ̂ is κ-smooth, μ̂(i) <= 1/(κn). The weak learner returns z = Σᵢ μ̂(i)·yᵢ·xᵢ, or ẑ = z + N(0, σ²I_d).
margin is τ in (0, 1], density κ in (0, 1], corrupted η in [0, 1), dimension d >= 1.
"""

import math

import attrs
from scipy.special import chdtri, ndtri

from accountant.costs import count, fraction, gaussian, non_negative, open_probability, positive
from boosting.theory.generalisation import label_noise_sample_size, transfer_budget, transfer_sample_size
from boosting.theory.guarantees import rounds_for_margin


def centred_mean_length(margin: float, density: float, corrupted: float = 0.0) -> float:
    """τ − (1 + τ)·η/κ: a lower bound for |z|, in (0, 1]; at least τ/2 for η <= κτ/4. [003-Thm26]

    Corrupted records have weight η/κ at most, and each may pull z·u down to −1 instead of up to τ. Attained.
    Raises ValueError outside the ranges, and where corruption leaves nothing.
    """
    tau, share = fraction(margin), non_negative(corrupted) / fraction(density)
    length = tau - (1.0 + tau) * share
    if not length > 0.0:
        raise ValueError(f"corrupted: a share of {corrupted!r} at density {density!r} leaves no margin of {margin!r}")
    return length


def centred_mean_advantage(margin: float, density: float, corrupted: float = 0.0) -> float:
    """|z|/2 at least: the advantage of h(x) = (z/|z|)·x. At least τ/4 for η <= κτ/4. [003-Thm26]

    003, Theorem 26 claims τ/4 for h(x) = z·x, which is false. Ranges and refusals as for `centred_mean_length`.
    """
    return 0.5 * centred_mean_length(margin, density, corrupted)


def raw_centred_mean_advantage(margin: float, density: float, corrupted: float = 0.0) -> float:
    """|z|²/2 at least: the advantage of h(x) = z·x as printed. At least τ²/8 for η <= κτ/4. [003-Thm26]"""
    return 0.5 * centred_mean_length(margin, density, corrupted) ** 2


def noisy_centred_mean_advantage(length: float, sigma: float, dimension: int, failure: float) -> float:
    """A lower bound for the advantage z·ẑ/(2|ẑ|) of h(x) = (ẑ/|ẑ|)·x, but for probability `failure`. [003-Thm27-2]

    length: a lower bound for |z|, in (0, 1].  sigma: σ > 0, per coordinate.  failure: ξ in (0, 1).
    Along z the noise is N(0, σ²), across it σ²·χ² with d − 1 degrees, independently: with a = |z| − σ·q and R = σ·c
    for their quantiles, the advantage is at least (|z|/2)·a/√(a² + R²). So it falls with the dimension, which
    003, Theorem 27.2 leaves out. Raises ValueError outside the ranges, and where the noise may turn z around.
    """
    each = -0.5 * math.log1p(-open_probability(failure))  # two independent tails of 1 − √(1 − ξ)
    tail = -math.expm1(-each)
    along = fraction(length) + positive(sigma) * float(ndtri(tail))
    if not along > 0.0:
        raise ValueError(f"sigma: {sigma!r} is too much noise for a mean of length {length!r} at failure {failure!r}")
    degrees = count(dimension) - 1
    across = sigma * math.sqrt(float(chdtri(degrees, tail))) if degrees else 0.0
    return 0.5 * length * along / math.hypot(along, across)


def averaged_length_bound(sigma: float, dimension: int, rounds: int, failure: float) -> float:
    """1 + σ(√d + √(2 ln(1/ξ)))/√T: the length of the average of T vectors ẑ, but for probability ξ. [003-Lem29]

    sigma: > 0.  failure: ξ in (0, 1). 003, Lemma 29 says 2 whatever d is, which is false for large d.
    """
    spread = math.sqrt(count(dimension)) + math.sqrt(-2.0 * math.log(open_probability(failure)))
    return 1.0 + positive(sigma) * spread / math.sqrt(count(rounds))


def fat_shattering_bound(margin: float, length: float = 1.0) -> float:
    """length²/γ²: fat-shattering dimension at γ > 0 of x ↦ w·x with |w| <= length on the unit ball. [003-Lem29]

    length: 1 for averages of ẑ/|ẑ|, `averaged_length_bound` for averages of ẑ. Source: 003, Lemmas 31 and 32.
    """
    return (positive(length) / positive(margin)) ** 2


@attrs.frozen
class HalfspaceSample:
    """What learning a halfspace takes. rounds, advantage: of the boosting. The rest: records for each purpose."""

    rounds: int
    advantage: float
    privacy: int
    label_noise: int
    transfer: int

    @property
    def records(self) -> int:
        """n: enough for all three."""
        return max(self.privacy, self.label_noise, self.transfer)


def enough_rounds(
    length: float, density: float, sigma: float, dimension: int, failure: float, share: float = 0.0
) -> tuple[int, float]:
    """The first T at which all T rounds have the advantage γ that T rounds need, but for `failure`; and that γ.

    What they need it for: a margin of share·γ on all but κn records, see `rounds_for_margin`; share in [0, 2).
    length, sigma, dimension, failure: as in `noisy_centred_mean_advantage`, here for all rounds together.
    """
    rounds, enough = 0, 1
    # More rounds leave each a smaller failure, hence a smaller advantage, so T only grows until it suffices.
    while enough > rounds:
        rounds = enough
        advantage = noisy_centred_mean_advantage(length, sigma, dimension, failure / rounds)
        enough = rounds_for_margin(advantage, density, share * advantage)
    return rounds, advantage


def flips_planned_for(noise_rate: float, failure: float) -> tuple[float, int]:
    """2η and the records for which no larger share is flipped but for `failure`; 0 and 0 at η = 0. [003-Claim2]

    noise_rate: η in [0, 1/2).  failure: in (0, 1). Raises ValueError outside.
    """
    if noise_rate == 0.0:
        return 0.0, 0
    return 2.0 * noise_rate, label_noise_sample_size(noise_rate, failure)


def density_for(error: float) -> float:
    """κ = α/4: what a run for an error of α in (0, 1] weights records with. Source: 003, Algorithm 5."""
    return 0.25 * fraction(error)


def tolerated_noise_rate(error: float, margin: float) -> float:
    """ατ/32: the rate of flips at which the run for error α at density α/4 keeps its promise. [003-Claim2]

    error: α in (0, 1].  margin: τ in (0, 1]. Twice as many flips are a share of κτ/4,
    `boosting.theory.label_noise.tolerated_corruption`. Raises ValueError outside.
    """
    return fraction(error) * fraction(margin) / 32.0


def private_sample_size(rounds: int, density: float, sigma: float, mu: float) -> int:
    """2√T/(κσμ): records at which T rounds of ẑ are μ-Gaussian differentially private. [003-Thm27-gdp]"""
    return math.ceil(2.0 * math.sqrt(rounds) / (density * sigma * mu))


def halfspace_sample_size(
    margin: float,
    error: float,
    failure: float,
    epsilon: float,
    delta: float,
    sigma: float,
    dimension: int,
    noise_rate: float | None = None,
) -> HalfspaceSample:
    """003, Theorem 33 with every constant written out, for the learner that is corrected. [003-Thm33]

    LazyBregman at κ = α/4 and λ = √(2L/T) over ẑ/|ẑ|, labels flipped independently at rate η at most: with n
    records the run is (epsilon, delta)-DP, and its error is at most α but for probability β.
    error: α in (0, 1].  failure: β in (0, 1).  epsilon: > 0.  delta: in (0, 1).  sigma: σ > 0, of the noise in ẑ.
    noise_rate: η in [0, ατ/(8(1 + τ))); None is the paper's ατ/32. At 0 nothing is kept back for flips.

    Failures: β/4 too many flips [003-Claim2], β/2 a bad round, β/4 the transfer (Theorem 19). Errors: the margin
    bound leaves κ, flips add 2η < κτ/(1 + τ), together at most α/2; the transfer adds α/2. Privacy: T rounds of ẑ
    are GDP(2√T/(κnσ)). Raises ValueError outside the ranges, and for more noise than the margin bears.
    """
    density = density_for(error)
    budget = transfer_budget(epsilon, delta, error, failure)
    rate = tolerated_noise_rate(error, margin) if noise_rate is None else noise_rate
    corrupted, label_noise = flips_planned_for(rate, 0.25 * failure)
    length = centred_mean_length(margin, density, corrupted)
    rounds, advantage = enough_rounds(length, density, sigma, dimension, 0.5 * failure)
    mu = gaussian.mu(budget.epsilon, budget.delta)
    return HalfspaceSample(
        rounds=rounds,
        advantage=advantage,
        privacy=private_sample_size(rounds, density, sigma, mu),
        label_noise=label_noise,
        transfer=transfer_sample_size(budget.epsilon, budget.delta),
    )


@attrs.frozen
class HalfspaceRate:
    """The three terms of 003, Theorem 30; each up to a constant that the paper does not state."""

    privacy: float
    accuracy: float
    label_noise: float


def halfspace_rate(margin: float, error: float, failure: float, epsilon: float, delta: float) -> HalfspaceRate:
    """How the sample size of 003, Theorem 30 grows: for comparing scales, no promise at any n. [003-Thm30]

    privacy √(ln(1/α)·ln(1/δ)·ln(ln(1/α)/(βτ²)))/(εατ²), accuracy ln(1/(ατ))·ln(1/α)/(α²τ²), label noise
    ln(1/β)/(ατ). The informal Theorem 1 leaves out the second, which is the largest wherever ε is well above α.
    margin: τ in (0, 1].  error: α in (0, 1/e], so that every logarithm is at least 0.  failure, delta: in (0, 1).
    """
    tau, alpha = fraction(margin), fraction(error)
    if not alpha <= math.exp(-1.0):
        raise ValueError(f"expected an error of at most 1/e, got {error!r}")
    log_error, log_failure, log_delta = (-math.log(open_probability(p)) for p in (alpha, failure, delta))
    rounds = math.log(log_error) + log_failure - 2.0 * math.log(tau)
    return HalfspaceRate(
        privacy=math.sqrt(log_error * log_delta * rounds) / (positive(epsilon) * alpha * tau**2),
        accuracy=(log_error - math.log(tau)) * log_error / (alpha * tau) ** 2,
        label_noise=log_failure / (alpha * tau),
    )
