"""How often somebody guesses fair coins right who saw what a private program made of them: three theorems.

m canaries, each with a fair coin of its own: it is in the data or not, or one of two records is. Data sets that differ
in one coin are neighbours. Whoever sees the output guesses k of the coins, always as many; W guesses are right. What a
claim of privacy says of P[W >= c] is the same for every program and every way to guess.
"""

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
from scipy import stats
from scipy.special import ndtr, ndtri

from accountant.costs.converters import count

Needed: TypeAlias = Callable[[float], float]
"""Of the probability of an event on one data set, in [0, 1], the least that it then has on every neighbour."""

SLACK: Final = 1e-10
"""Relative; what rounding may add up to over some thousands of steps."""


@attrs.frozen
class Counts:
    """Of m canaries k were guessed, and c of these guesses are right. Raises ValueError unless 0 <= c <= k <= m."""

    canaries: int = attrs.field(converter=count)
    guesses: int = attrs.field(converter=count)
    correct: int

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.correct <= self.guesses <= self.canaries:
            raise ValueError(
                f"expected 0 <= correct <= guesses <= canaries, got {self.correct}, {self.guesses}, {self.canaries}"
            )


def pure_tail(counts: Counts, epsilon: float) -> float:
    """P[W >= c] at most, for ε-DP: that of Binomial(k, e^ε/(1 + e^ε)). [one-run]

    Source: Steinke, Nasr & Jagielski 2023, Proposition 5.1.

    Given the output and the coins before it, the odds of a coin are within e^±ε, whatever the coins after it are.
    """
    return float(stats.binom.sf(counts.correct - 1, counts.guesses, _accuracy(epsilon)))


def approximate_tail(counts: Counts, epsilon: float, delta: float) -> float:
    """P[W >= c] at most, for (ε, δ)-DP: B + mδ·B(1 − B)/(c·b), B as in `pure_tail`, b = P[Binomial = c].

    [one-run-delta] It is attained, in all cases that a linear program solved. Instead of the second term Steinke, Nasr
    & Jagielski 2023 (Theorem 5.2, as in Appendix D) have 2mδ times the largest (P[Binomial >= c − i] − B)/i, which is
    more where the sum is below 0.85, and less than can happen in places above 0.88, where nothing is refuted.

    With p_j = P[W = j], turning a coin over gives Σ_T j·p_j <= e^ε·Σ_T (k − j + 1)·p_{j−1} + mδ for every set T of
    counts. Let f solve j·f(j) − e^ε(k − j)·f(j + 1) = 1[j >= c] − B, Stein's equation. Its mean under p is P[W >= c] −
    B, and Σ f(j)·(j·p_j − e^ε(k − j + 1)·p_{j−1}) <= mδ·max f, as f >= 0. The largest f is f(c) = B(1 − B)/(c·b).
    """
    tail, c, accuracy = pure_tail(counts, epsilon), counts.correct, _accuracy(epsilon)
    if delta == 0.0 or c == 0:
        return tail
    law = stats.binom(counts.guesses, accuracy)
    steepest = math.exp(float(law.logsf(c - 1) + law.logcdf(c - 1) - law.logpmf(c)) - math.log(c))
    return min(1.0, tail + counts.canaries * delta * steepest)


def _accuracy(epsilon: float) -> float:
    return 1.0 / (1.0 + math.exp(-epsilon))


def possible(counts: Counts, needed: Needed, chance: float) -> bool:
    """Whether P[W >= c] >= chance can be, for f-DP. False is a proof that it cannot. [one-run-curve]

    needed: y to the least x with y <= 1 − f(x); increasing.  chance: in (0, 1].
    Source: Mahloujifar, Melis & Chaudhuri 2025; the recursion is theirs, the proof below is ours.

    With p_j = P[W = j], let r_i = Σ_{j>=i} j·p_j/m be the chance that a canary drawn at random is guessed right and
    W >= i, h_i = Σ_{j>=i} (k − j)·p_j/m that it is guessed wrong and W >= i. Turning its coin over makes one of the
    other, so h_{i−1} >= needed(r_i). The least total of probability is reached with all of `chance` at c and with no
    p_i larger than asked for: mass that is moved to a lower count makes h larger and r smaller from there on.
    """
    guesses, canaries = counts.guesses, counts.canaries
    right = chance * counts.correct / canaries
    wrong = chance * (guesses - counts.correct) / canaries
    most = guesses / canaries * (1.0 + SLACK)
    for i in range(counts.correct - 1, -1, -1):
        more = max(0.0, needed(min(right, 1.0)) - wrong)
        right += more * i / (guesses - i)
        wrong += more
        if right + wrong > most:
            return False
    return True


def gaussian_needed(mu: float) -> Needed:
    """For μ-GDP: Φ(Φ⁻¹(y) − μ)."""
    return lambda chance: float(ndtr(ndtri(chance) - mu))
