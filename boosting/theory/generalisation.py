"""From privacy, margins and few flipped labels to errors on new data: 003's calculators that have constants.

Left out on purpose: 001's Rademacher estimate of the test error, for which the paper gives a table and no formula.
Theorem 19 is taken from Bassily et al. (2016) and Theorem 28 from Bartlett (1998) as cited; everything here that
depends on them says so. Logarithms are natural but for one.
"""

import math

import attrs

from accountant.costs import count, down, fraction, non_negative, open_probability, positive


@attrs.frozen
class ErrorBound:
    """An error on new data that is exceeded with probability at most `failure`; both in [0, 1]."""

    error: float
    failure: float


@attrs.frozen
class TransferBudget:
    """(ε, δ) for a whole run that serves both its privacy and its generalisation."""

    epsilon: float
    delta: float


def _transfers(epsilon: float, delta: float) -> None:
    if not (0.0 < epsilon < 1.0 / 3.0 and 0.0 < delta < epsilon / 4.0):
        raise ValueError(f"expected epsilon in (0, 1/3) and delta in (0, epsilon/4), got {epsilon!r} and {delta!r}")


def transfer_sample_size(epsilon: float, delta: float) -> int:
    """n >= ln(4ε/δ)/ε²: what the transfer theorem asks for. 003, Theorem 19, cited. [003-Thm23]

    epsilon: in (0, 1/3), in nats.  delta: in (0, ε/4). Raises ValueError outside.
    """
    _transfers(epsilon, delta)
    size = math.log(4.0 * epsilon / delta) / epsilon**2
    if not size < 2.0**52:
        raise ValueError(f"epsilon: {epsilon!r} would need {size:.3g} records")
    return math.ceil(size)


def private_error_bound(training_error: float, failure: float, epsilon: float, delta: float, n: int) -> ErrorBound:
    """Error at most α + 18ε but for probability β + δ/ε, of an (ε, δ)-DP learner on n i.i.d. records. [003-Thm23]

    training_error: α in [0, 1], met with probability at least 1 − β.  failure: β in [0, 1].
    epsilon, delta: of everything that the learner releases, ε < 1/3, δ < ε/4.  n: at least `transfer_sample_size`.
    003, Theorem 23 prints α, which is false; its proof gives this. Depends on Theorem 19. Capped at 1.
    Raises ValueError outside these ranges.
    """
    if not (0.0 <= training_error <= 1.0 and 0.0 <= failure <= 1.0):
        raise ValueError(f"expected a training error and a failure in [0, 1], got {training_error!r} and {failure!r}")
    least = transfer_sample_size(epsilon, delta)
    if count(n) < least:
        raise ValueError(f"n: the transfer theorem needs at least {least} records at this epsilon and delta, got {n}")
    return ErrorBound(min(1.0, training_error + 18.0 * epsilon), min(1.0, failure + delta / epsilon))


def transfer_budget(epsilon: float, delta: float, error: float, failure: float) -> TransferBudget:
    """The (ε_T, δ_T) with which a learner of training error α/2 also has error at most α on new data. [003-Thm33]

    epsilon, delta: what privacy asks for, positive, δ < 1.  error: α in (0, 1].  failure: β in (0, 1).
    ε_T = min(ε, α/36), so that 18·ε_T <= α/2; δ_T <= ε_T·β/4, so that the transfer fails with probability β/4 at most
    (003 prints min(ε, α/36)·β/4, which is too much for a smaller ε_T). Depends on Theorem 19.
    """
    epsilon_t = min(positive(epsilon), fraction(error) / 36.0)
    return TransferBudget(epsilon_t, min(open_probability(delta), down(0.25 * epsilon_t * open_probability(failure))))


def sufficient_rho(epsilon: float, delta: float) -> float:
    """ρ = min(ε²/(9 ln(1/δ)), ln(1/δ)): ρ-zCDP is then (ε, δ)-DP. [003-Claim1]

    003, Theorem 30 and Claim 1 use ε against 3√(ρ ln(1/δ)); Claim 1 prints the inequality the wrong way round, and
    both leave out ρ <= ln(1/δ). Simple rather than tight: `ZCDP.to_approx` converts exactly.
    epsilon: in nats, positive.  delta: in (0, 1). Raises ValueError outside.
    """
    log_delta = -math.log(open_probability(delta))
    # Lemma 15 asks for ρ + 2√(ρ ln(1/δ)) <= ε; where ρ <= ln(1/δ) its left side is at most 3√(ρ ln(1/δ)).
    return down(min(positive(epsilon) ** 2 / (9.0 * log_delta), log_delta))


def label_noise_sample_size(noise_rate: float, failure: float) -> int:
    """n >= 3·ln(1/β)/η: at most 2ηn of n labels are then flipped, but for probability β. [003-Claim2]

    noise_rate: η in (0, 1/2), of independent flips.  failure: β in (0, 1). Raises ValueError outside.
    003, Claim 2 is η = ατ/32 with β/4; 003, Theorem 30 is η = κτ/8 with β/3.
    """
    if not 0.0 < noise_rate < 0.5:
        raise ValueError(f"expected a noise rate in (0, 1/2), got {noise_rate!r}")
    return math.ceil(-3.0 * math.log(open_probability(failure)) / noise_rate)


def _slack(n: int, d: float, failure: float) -> float:
    """√((2/n)·(d·ln(34en/d)·log₂(578n) + ln(4/δ))), at most 1: rises with d, and falls with n where it is below 1."""
    if d >= n:
        return 1.0  # the formula is above 1 from here on to d = 34n, and falls beyond
    complexity = d * (1.0 + math.log(34.0 * n / d)) * math.log2(578.0 * n) if d else 0.0
    return min(1.0, math.sqrt(2.0 / n * (complexity + math.log(4.0 / failure))))


def _margin_failure(value: float) -> float:
    if not 0.0 < value < 0.5:
        raise ValueError(f"expected a failure in (0, 1/2), got {value!r}")
    return float(value)


def margin_error_bound(low_margins: int, n: int, fat_shattering: float, failure: float) -> ErrorBound:
    """k/n + √((2/n)·(d·ln(34en/d)·log₂(578n) + ln(4/δ))): the error of every hypothesis of a class. [003-Thm28]

    But for probability δ over n i.i.d. records, every hypothesis of the class, whichever was chosen and how, has at
    most this error on new data, where k of the records have a margin y·H(x) below γ. Capped at 1.
    low_margins: k in [0, n].  failure: δ in (0, 1/2).  fat_shattering: d >= 0, at least the dimension of the class at
    γ/16, for one γ in (0, 1) that is fixed before the records are seen; from d = n on the bound is 1.

    003 prints ln(4/δ) outside the 2/n, and its bound then exceeds √ln 4 > 1: it says nothing. This is the theorem that
    it cites, Bartlett (1998), Theorem 2, taken over by Bartlett & Shawe-Taylor; not proved here. Raises ValueError
    outside these ranges.
    """
    size, delta = count(n), _margin_failure(failure)
    if isinstance(low_margins, bool) or not 0 <= low_margins <= size:
        raise ValueError(f"expected low margins of 0 to n = {size} records, got {low_margins!r}")
    slack = _slack(size, non_negative(fat_shattering), delta)
    return ErrorBound(min(1.0, low_margins / size + slack), delta)


def margin_sample_size(low_share: float, error: float, fat_shattering: float, failure: float) -> int:
    """The smallest n from which on `margin_error_bound` is at most α, if k/n is at most `low_share`. [003-Thm28]

    error: α in (0, 1].  low_share: in [0, α).  fat_shattering, failure: as there. Raises ValueError outside, and for
    2^52 records or more.
    """
    d, delta = non_negative(fat_shattering), _margin_failure(failure)
    if not 0.0 <= low_share < fraction(error):
        raise ValueError(f"expected a share of low margins in [0, error) = [0, {error!r}), got {low_share!r}")
    few, enough = 0, 1
    while low_share + _slack(enough, d, delta) > error:
        few, enough = enough, 2 * enough
        if enough > 2**52:
            raise ValueError(f"fat_shattering: {fat_shattering!r} would need {enough:.3g} records or more")
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if low_share + _slack(middle, d, delta) <= error else (middle, enough)
    return enough
