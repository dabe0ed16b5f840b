"""A run played again on unsealed data: what its hypotheses knew, and what its margins became.

For tests, simulations and benchmarks: nothing here is private, and nothing is charged.
"""

from collections.abc import Sequence
from typing import TypeVar

import attrs
import numpy as np

from accountant.arrays import FloatArray
from boosting.booster import Hypothesis, Labelled
from boosting.lazy_bregman import LazyBregman
from boosting.theory.guarantees import (
    MarginCertificate,
    margin_bound,
    measured_advantage,
    quantile_margin,
    worst_mean_margin,
)

S = TypeVar("S", bound=Labelled)


@attrs.frozen(eq=False)
class Replay:
    """A run of T rounds. Not private.

    advantages: of each hypothesis under the weighting that it was learnt for, shape (T,), each in [−1/2, 1/2].
    margins: yᵢ·Σ h(xᵢ)/T, normalised, shape (n,), each in [−1, 1]; 0 where there were no rounds.
    """

    booster: LazyBregman
    advantages: FloatArray
    margins: FloatArray

    @property
    def certificate(self) -> MarginCertificate:
        """The margins beside what the advantages promise; every run can evaluate it. [003-Thm24]

        Raises ValueError where there were no rounds.
        """
        rounds = int(self.advantages.size)
        if not rounds:
            raise ValueError("a run of no rounds has no certificate: expected at least one hypothesis")
        booster, mean = self.booster, float(np.mean(self.advantages))
        return MarginCertificate(
            quantile_margin(self.margins, booster.density),
            worst_mean_margin(self.margins, booster.density),
            margin_bound(mean, booster.density, booster.learning_rate, rounds),
        )


def replay(sample: S, hypotheses: Sequence[Hypothesis[S]], booster: LazyBregman) -> Replay:
    """Run hypotheses again on a sample: their advantages, and the margins of its records.

    sample: unsealed records.  hypotheses: of the run, in order.  booster: how it weighted.
    Not private: on training records the result is a release that nobody paid for.
    """
    state, advantages = booster.start(sample), []
    for hypothesis in hypotheses:
        advantages.append(measured_advantage(state, hypothesis))
        state = booster.step(state, hypothesis)
    return Replay(booster, np.array(advantages), state.margins / max(1, len(hypotheses)))
