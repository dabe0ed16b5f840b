"""Privacy curves in sixty digits, each from its definition: what prices are compared with."""

import math
from collections.abc import Iterable, Sequence

import mpmath as mp


def gaussian_delta(mu: float, epsilon: float) -> mp.mpf:
    """Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), of N(μ, 1) against N(0, 1)."""
    with mp.workdps(80):
        mu_, epsilon_ = mp.mpf(mu), mp.mpf(epsilon)
        return mp.ncdf(mu_ / 2 - epsilon_ / mu_) - mp.exp(epsilon_) * mp.ncdf(-mu_ / 2 - epsilon_ / mu_)


def binomial_delta(epsilon: float, rounds: int, target: float) -> mp.mpf:
    """δ(target) of k-fold randomized response, outcome by outcome: the sum of max(0, P − e^target·Q)."""
    with mp.workdps(60):
        truth = 1 / (1 + mp.exp(-mp.mpf(epsilon)))
        lie, factor = 1 - truth, mp.exp(mp.mpf(target))
        total = mp.mpf(0)
        for truths in range(rounds + 1):
            ways = mp.mpf(math.comb(rounds, truths))
            under_p = ways * truth**truths * lie ** (rounds - truths)
            under_q = ways * lie**truths * truth ** (rounds - truths)
            total += max(mp.mpf(0), under_p - factor * under_q)
        return total


def delta_of(atoms: Iterable[tuple[mp.mpf, mp.mpf]], epsilon: float) -> mp.mpf:
    """δ(ε) of a pair, from the masses of each outcome under the one and the other."""
    with mp.workdps(60):
        factor = mp.exp(mp.mpf(epsilon))
        return mp.fsum(max(mp.mpf(0), p - factor * q) for p, q in atoms)


def product(*pairs: Sequence[tuple[mp.mpf, mp.mpf]]) -> list[tuple[mp.mpf, mp.mpf]]:
    """The pair of all outcomes together, for independent rounds."""
    with mp.workdps(60):
        whole: list[tuple[mp.mpf, mp.mpf]] = [(mp.mpf(1), mp.mpf(1))]
        for pair in pairs:
            whole = [(p * first, q * second) for p, q in whole for first, second in pair]
        return whole
