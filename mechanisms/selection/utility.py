"""How good a privately selected candidate is: the papers' utility bounds, as functions.

eta: inverse noise scale per unit of score, positive.  candidates: k >= 1.  beta: failure probability in (0, 1).
"""

import math

from accountant.costs import count, open_probability, positive


def exponential_gap(eta: float, candidates: int, beta: float) -> float:
    """With probability 1 − β the chosen score is at least the best minus ln(k/β)/η. [001-Thm8]

    For the exponential randomizer and for permute-and-flip, which is never worse. Source: 001, Theorem 12.
    """
    return math.log(count(candidates) / open_probability(beta)) / positive(eta)


def noisy_max_gap(eta: float, candidates: int, beta: float) -> float:
    """The same for Laplace noisy max: [ln((k − 1)/β) + ln(1/β)]/η, 0 for one candidate. [001-Thm8]

    The best one's noise falls below −ln(1/β)/η with probability β/2 at most, one of the others' exceeds
    ln((k − 1)/β)/η with as much: two one-sided tails in place of the usual 2·ln(k/β)/η.
    """
    others, log_beta = count(candidates) - 1, math.log(open_probability(beta))
    return max(0.0, math.log(others) - 2.0 * log_beta) / positive(eta) if others else 0.0


def weak_learner_advantage(advantage: float, eta: float, candidates: int, beta: float) -> float:
    """γ − ln(k/β)/η: what is left of an advantage γ in (0, 1/2] after a private choice. [001-Thm8]

    Negative where the noise is too large to promise anything. Source: 001, Theorems 8 and 13.
    """
    if not 0.0 < advantage <= 0.5:
        raise ValueError(f"expected an advantage in (0, 1/2], got {advantage!r}")
    return advantage - exponential_gap(eta, candidates, beta)
