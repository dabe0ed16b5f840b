"""Composition theorems for a list of costs that was fixed in advance.

They price a plan; none may serve as a stop rule for costs that were chosen on the way. All take and
return ε in nats and round up.
"""

import math

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import (
    ApproxDP,
    BeyondFloats,
    count,
    finite_up,
    largest,
    non_negative,
    open_probability,
    probability_below_one,
)
from accountant.slow_imports import gammaln


def _few_enough(rounds: int) -> int:
    if count(rounds) > 2**53:
        raise BeyondFloats("expected at most 2^53 rounds: no float counts more")
    return int(rounds)


def _promise(epsilon: float, delta: float) -> ApproxDP:
    """Raises ValueError where δ is 1, or above."""
    if not delta < 1.0:
        raise ValueError(f"these rounds come to δ = {delta!r} in all, and promise nothing: it must stay below 1")
    return ApproxDP(epsilon, delta)


def drv(epsilon: float, delta: float, rounds: int, delta_prime: float) -> ApproxDP:
    """k-fold advanced composition as the papers print it. [001-Thm1]

    ε = √(2k ln(1/δ′))·ε₀ + k ε₀ (e^{ε₀} - 1), δ = k δ₀ + δ′ (Dwork, Rothblum & Vadhan 2010).
    """
    epsilon, rounds = non_negative(epsilon), _few_enough(rounds)
    delta, delta_prime = probability_below_one(delta), open_probability(delta_prime)
    growth = math.expm1(epsilon) if epsilon < 709.0 else math.inf
    total = math.sqrt(-2.0 * rounds * math.log(delta_prime)) * epsilon + rounds * epsilon * growth
    return _promise(finite_up(total), finite_up(rounds * delta + delta_prime))


def drv_tight(epsilon: float, delta: float, rounds: int, delta_prime: float) -> ApproxDP:
    """The same with its second term tightened to k ε₀ tanh(ε₀/2). [001-Thm1]"""
    epsilon, rounds = non_negative(epsilon), _few_enough(rounds)
    delta, delta_prime = probability_below_one(delta), open_probability(delta_prime)
    drift = rounds * epsilon * math.tanh(0.5 * epsilon)
    total = math.sqrt(-2.0 * rounds * math.log(delta_prime)) * epsilon + drift
    return _promise(finite_up(total), finite_up(rounds * delta + delta_prime))


def _randomized_response_losses(epsilon: float, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Log-probabilities and losses of k-fold ε-randomized response: k + 1 outcomes by number of truths."""
    truths = np.arange(rounds + 1, dtype=np.float64)
    choose = gammaln(rounds + 1.0) - gammaln(truths + 1.0) - gammaln(rounds - truths + 1.0)
    log_probability = choose + truths * epsilon - rounds * np.logaddexp(0.0, epsilon)
    return log_probability, (2.0 * truths - rounds) * epsilon


def randomized_response_delta(epsilon: float, rounds: int, target: float) -> float:
    """δ(target) of k-fold ε-randomized response, the worst k-fold ε-DP mechanism. [kov]"""
    log_probability, losses = _randomized_response_losses(epsilon, rounds)
    over = losses > target
    terms = np.exp(log_probability[over]) * -np.expm1(target - losses[over])
    return min(1.0, float(np.sum(np.sort(terms))) * (1.0 + 1e-9 + 1e-15 * rounds * math.log(rounds + 1.0)))


def kov_homogeneous(epsilon: float, delta: float, rounds: int, slack: float) -> ApproxDP:
    """The optimal ε for k releases of (ε₀, δ₀) at δ = 1 - (1 - δ₀)^k (1 - slack). [kov]

    Kairouz, Oh & Viswanath 2015, Thm 3.3, solved for a real ε rather than on their grid.
    slack: in [0, 1); 0 gives basic composition.
    """
    epsilon, rounds = non_negative(epsilon), count(rounds)
    delta, slack = probability_below_one(delta), probability_below_one(slack)
    total_delta = finite_up(-math.expm1(rounds * math.log1p(-delta) + math.log1p(-slack))) if delta or slack else 0.0
    basic = finite_up(rounds * epsilon)
    if slack < 1e-290 or epsilon == 0.0:  # below that the binomial sum loses its digits
        return ApproxDP(basic if epsilon else 0.0, total_delta)
    if randomized_response_delta(epsilon, rounds, 0.0) <= slack:
        return ApproxDP(0.0, total_delta)
    room = largest(lambda gap: randomized_response_delta(epsilon, rounds, max(0.0, basic - gap)) <= slack, start=basic)
    return ApproxDP(finite_up(max(0.0, basic - room)), total_delta)


def kov_heterogeneous(epsilons: list[float], deltas: list[float], slack: float) -> ApproxDP:
    """Kairouz, Oh & Viswanath 2015, Thm 3.5: the smallest of its three closed forms. [kov]

    epsilons, deltas: shape (k,) each, fixed before the first release.  slack: in (0, 1).
    """
    slack = open_probability(slack)
    values = np.array([non_negative(epsilon) for epsilon in epsilons])
    with np.errstate(over="ignore"):  # what is infinite here is not the smallest
        squares = float(np.sum(values**2))
        drift = float(np.sum(values * np.tanh(0.5 * values)))
        basic = float(np.sum(values))
    spread = math.log(math.e + math.sqrt(squares) / slack)
    total = min(
        basic,
        drift + math.sqrt(2.0 * squares * spread),
        drift + math.sqrt(-2.0 * squares * math.log(slack)),
    )
    kept = sum(math.log1p(-probability_below_one(delta)) for delta in deltas)
    return ApproxDP(finite_up(total), finite_up(-math.expm1(kept + math.log1p(-slack))))
