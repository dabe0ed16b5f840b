"""Private choice of a candidate by noisy scores: three randomizers and their robust mechanisms.

| rule | distribution | cost for a range Δ |
| --- | --- | --- |
| exponential | ∝ exp(η·score) | BoundedRange(ηΔ) |
| Laplace noisy max | argmax score + Lap(1/η) | LaplaceDP(ηΔ); BoundedRange(ηΔ) with two candidates |
| permute-and-flip | argmax score + Exp(1/η) | LaplaceDP(ηΔ) |

| edge | what happens |
| --- | --- |
| scale 0 | ValueError |
| infinite scale | ValueError |
| sensitivity 0 | cost 0: the scores do not depend on the data |
| one candidate | it is returned; the cost is still charged |
| ties | equal probabilities |
| a score of NaN or ±inf | ValueError |
"""

from typing import TypeVar

import attrs
import numpy as np

from accountant import BoundedRange, LaplaceDP
from accountant.arrays import FloatArray
from accountant.costs import count, up
from mechanisms.core import Certified, FiniteRandomizer, RangeSensitivity, RobustQuery, RobustSelection, loss, scale
from mechanisms.randomness import GRID, NoiseSource, choice_probabilities

W = TypeVar("W", bound=Certified)
Scores = RobustQuery[W, FloatArray, RangeSensitivity]


@attrs.frozen
class ExponentialChoice(FiniteRandomizer):
    """Candidate i with probability proportional to exp(eta·score_i). Cost: BoundedRange(eta·Δ). [L2]"""

    name, robust_name = "Exponential", "WeightedExponential"
    claims = ("L2",)
    eta: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta),)

    def cost(self, sensitivity: RangeSensitivity) -> BoundedRange:
        return BoundedRange(loss(self.eta, sensitivity))

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.exponential_choice(value, self.eta)

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        return choice_probabilities.exponential(scores, self.eta)


def _public_count(value: int | None) -> int | None:
    return None if value is None else count(value)


@attrs.frozen
class NoisyMaxChoice(FiniteRandomizer):
    """The largest score + Lap(1/eta). Cost: LaplaceDP(eta·Δ), BoundedRange of that size for two. [noisy-max]

    candidates: how many there are, where that is public; None makes no use of it.
    """

    name, robust_name = "NoisyMax", "WeightedNoisyMax"
    claims = ("noisy-max", "laplace-dp")
    eta: float = attrs.field(converter=scale)
    candidates: int | None = attrs.field(default=None, converter=_public_count)

    @property
    def parameters(self) -> tuple[tuple[str, float | int], ...]:
        return (("eta", self.eta), *([] if self.candidates is None else [("candidates", self.candidates)]))

    def cost(self, sensitivity: RangeSensitivity) -> LaplaceDP | BoundedRange:
        kind = BoundedRange if self.candidates in (1, 2) else LaplaceDP
        epsilon = loss(self.eta, sensitivity)
        # The secure source rounds scores to a grid, which widens the range of their change by two steps; a third is for
        # the halfway point of [laplace-dp]. Its steps are half of GRID at most.
        return kind(up(epsilon + 2.0 * GRID) if epsilon else 0.0)

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.noisy_max_choice(self._counted(value), self.eta)

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        return choice_probabilities.noisy_max(self._counted(scores), self.eta)

    def _counted(self, scores: FloatArray) -> FloatArray:
        if self.candidates is not None and np.size(scores) != self.candidates:
            raise ValueError(f"candidates: {self.candidates} were declared, the query gave {np.size(scores)} scores")
        return scores


@attrs.frozen
class PermuteAndFlipChoice(FiniteRandomizer):
    """The largest score + Exp(1/eta), never worse than the exponential randomizer. Cost: LaplaceDP(eta·Δ).

    [permute-flip]
    """

    name = robust_name = "PermuteAndFlip"
    claims = ("permute-flip", "laplace-dp")
    eta: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta),)

    def cost(self, sensitivity: RangeSensitivity) -> LaplaceDP:
        return LaplaceDP(loss(self.eta, sensitivity))

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.permute_and_flip_choice(value, self.eta)

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        return choice_probabilities.permute_and_flip(scores, self.eta)


class WeightedExponential(RobustSelection[W]):
    """WEM: candidate i with probability proportional to exp(eta·score_i).

    query: weighted data to scores, shape (k,), with its *range* sensitivity.
    eta: inverse noise scale, per unit of score, in [2^-1000, 2^1000].
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: BoundedRange(eta·Δ_range(zeta)), half of what the paper's 2·eta·Δ_linf declares.
    Proof: [L2], tightening [001-Thm3].
    """

    randomizer: ExponentialChoice

    def __init__(self, query: Scores[W], eta: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, ExponentialChoice(eta), zeta, noise)

    @property
    def width(self) -> float:
        """The ε of its bounded range: eta·Δ_range(zeta), rounded up. [L2]"""
        return self.randomizer.cost(self.sensitivity).epsilon


class WeightedNoisyMax(RobustSelection[W]):
    """WRNM: the candidate with the largest score + Lap(1/eta).

    query, eta, zeta: as for `WeightedExponential`.
    candidates: how many there are, where that is public. Two make the mechanism bounded range. A query that gives
    another number is found out when it draws, after the charge, which stays.
    Cost: LaplaceDP(eta·Δ_range(zeta)), half of what the paper's 2·eta·Δ_linf declares; with at most two candidates
    BoundedRange of that size. With three or more the width exceeds eta·Δ. Proof: [noisy-max], tightening 001, Thm 4.
    """

    randomizer: NoisyMaxChoice

    def __init__(
        self,
        query: Scores[W],
        eta: float,
        zeta: float,
        noise: NoiseSource | None = None,
        candidates: int | None = None,
    ) -> None:
        super().__init__(query, NoisyMaxChoice(eta, candidates), zeta, noise)


class PermuteAndFlip(RobustSelection[W]):
    """The candidate with the largest score + Exp(1/eta), which is permute-and-flip.

    query, eta, zeta: as for `WeightedExponential`. In utility never worse than it at the same pure ε.
    Cost: LaplaceDP(eta·Δ_range(zeta)), **not** bounded range. Proof: [permute-flip].
    """

    randomizer: PermuteAndFlipChoice

    def __init__(self, query: Scores[W], eta: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, PermuteAndFlipChoice(eta), zeta, noise)
