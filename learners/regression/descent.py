"""Descent of an additive regression on gradients with noise, with momentum, in two stages."""

from typing import Final

import attrs
import numpy as np

from accountant import Protected
from accountant.arrays import FloatArray, IntArray
from boosting import Spender
from learners.base import Progress
from learners.regression.record_views import InCells, Pull, moments
from learners.regression.regression_design import Moments
from learners.regression.regression_losses import TARGET_ONE, Loss
from learners.regression.smooth_basis import CONSTANT, Basis
from mechanisms.additive import GaussianNoise
from mechanisms.gradients import whole_features

HORIZON: Final = 0.8
"""How long to descend, over the noise of a mean gradient: longer fits closer, and lets in more noise."""

LONGEST: Final = 50.0
"""Over the number of rounds, the longest descent: momentum of .98."""

CONSTANT_SHARE: Final = 0.05
"""Of the squared length of a record's features, what is the intercept's."""

PAIRS_SHARE: Final = 0.3
"""Of the rest, what is the pairs', where there are any."""

PREFERRED: Final = 0.7
"""How much of the second stage's features goes by how large effects were in the first; the rest is even."""

MOST_EFFECT: Final = 2**24
"""Entries of tables beyond it count as that, so that no score leaves the integers that are told apart."""


@attrs.define(eq=False)
class Descent:
    """Coefficients of every basis's unweighted functions, and the whole tables that follow. shares: of each basis."""

    seen: list[Basis]
    shares: FloatArray
    coefficients: list[FloatArray]

    @staticmethod
    def start(columns: list[Basis]) -> "Descent":
        """The constant and the columns, all alike, from 0."""
        even = np.full(len(columns), (1.0 - CONSTANT_SHARE) / len(columns))
        seen = [CONSTANT, *columns]
        return Descent(seen, np.append(CONSTANT_SHARE, even), [np.zeros(each.weights.size) for each in seen])

    def strengths(self, reached: float) -> FloatArray:
        """How large the columns' effects are, less what noise makes of them; shape (columns,), summing to 1 or 0.

        reached: deviation that noise gives a coefficient of a function of length 1.
        """
        found = [
            float(np.sum(coefficient**2) - np.sum((reached * scaled) ** 2))
            for coefficient, scaled in zip(self.coefficients[1:], self.scaled()[1:], strict=True)
        ]
        sizes = np.sqrt(np.maximum(found, 0.0))
        return np.asarray(sizes / sizes.sum() if sizes.sum() > 0.0 else sizes)

    def scaled(self) -> list[FloatArray]:
        """Of each basis, its functions' weights, such that all functions together have length 1 at most."""
        return [
            each.weights * np.sqrt(share * (1.0 - 1e-9) / each.longest)
            for each, share in zip(self.seen, self.shares, strict=True)
        ]

    def tables(self) -> list[IntArray]:
        """Whole effects of all cells."""
        found = [each.values @ theta for each, theta in zip(self.seen, self.coefficients, strict=True)]
        return [np.rint(np.clip(TARGET_ONE * each, -MOST_EFFECT, MOST_EFFECT)).astype(np.int64) for each in found]

    def correct(self, shift: float, slope: float, *, log: bool) -> None:
        """Stretch all scores, and add to them. log: a shift of rates over their mean."""
        self.coefficients = [each * (1.0 + slope) for each in self.coefficients]
        added = float(np.log1p(np.clip(shift, -0.5, 1.0))) if log else shift
        self.coefficients[0] = self.coefficients[0] + added

    def second(self, pairs: list[Basis], strength: FloatArray, chosen: list[tuple[int, int]]) -> None:
        """Turn to the columns that matter, and to pairs. chosen: the columns of the pairs."""
        columns, share = len(self.seen) - 1, PAIRS_SHARE if pairs else 0.0
        even = np.full(columns, 1.0 / columns)
        lean = PREFERRED * (strength if strength.sum() > 0.0 else even) + (1.0 - PREFERRED) * even
        joint = np.sqrt(np.array([strength[a] * strength[b] for a, b in chosen]))
        even_pairs = np.full(len(pairs), 1.0 / max(1, len(pairs)))
        both = PREFERRED * joint / joint.sum() + (1.0 - PREFERRED) * even_pairs if joint.sum() > 0.0 else even_pairs
        rest = 1.0 - CONSTANT_SHARE
        self.shares = np.concatenate([[CONSTANT_SHARE], rest * (1.0 - share) * lean, rest * share * both])
        self.seen = [*self.seen, *pairs]
        self.coefficients = [*self.coefficients, *(np.zeros(each.weights.size) for each in pairs)]


@attrs.frozen(eq=False)
class Stage:
    """Rounds of one kind. clip: in units of the labels' scale.  weight: of all records.  first: number of its first."""

    mechanism: Moments
    rounds: int
    clip: float
    weight: float
    first: int

    @property
    def least(self) -> float:
        """Noise of the mean of all rounds' gradients, for functions of length 1."""
        assert isinstance(self.mechanism.randomizer, GaussianNoise)
        return self.clip * self.mechanism.randomizer.sigma / float(np.sqrt(self.rounds)) / self.weight

    @property
    def time(self) -> float:
        """The sum of all steps, as momentum multiplies them."""
        return min(HORIZON / self.least, LONGEST * self.rounds)

    @property
    def reached(self) -> float:
        """Deviation of a coefficient that is noise, for a function of length 1."""
        return 0.5 * self.time * self.least

    def run(self, data: Protected[InCells], descent: Descent, loss: Loss, spender: Spender, on_round: Progress) -> None:
        """Descend, and take the mean of the later half: new noise in each round averages out."""
        clip = self.clip
        momentum, rate = max(0.0, 1.0 - self.rounds / self.time), min(1.0, self.time / self.rounds)
        scaled = np.concatenate(descent.scaled())
        pairs = zip(descent.seen, descent.scaled(), strict=True)
        features = tuple(whole_features(each.values * own) for each, own in pairs)
        ends = np.cumsum([each.weights.size for each in descent.seen])[:-1]
        theta = np.concatenate(descent.coefficients)
        velocity, total, later = np.zeros(theta.size), np.zeros(theta.size), self.rounds // 2
        for number in range(self.rounds):
            seen = moments(data, Pull(tuple(descent.tables()), loss, clip, features))
            released = spender.release(self.mechanism, seen)
            velocity = momentum * velocity + scaled * released * (clip / self.weight)
            theta = theta + rate * velocity
            total += theta if number >= later else 0.0
            descent.coefficients = np.split(theta, ends)
            on_round(self.first + number, released)
        descent.coefficients = np.split(total / (self.rounds - later), ends)
