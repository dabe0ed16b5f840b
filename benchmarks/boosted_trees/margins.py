"""What large margins promise about the test error, and how the advantage falls: Table 11 and Figure 1 of 001.

Nothing here is private: it reads the training data of a finished run.
"""

import math

import attrs
import numpy as np

from accountant.arrays import FloatArray
from boosting import LazyBregman
from learners import EncodedSample
from learners.votes import one_rule_scores


def rademacher(sample: EncodedSample, draws: int, seed: int = 0) -> float:
    """R_n of the 1-Rules: the mean over random signs of the largest correlation that a 1-Rule reaches with them."""
    rng = np.random.default_rng(seed)
    uniform = LazyBregman(1.0, 1.0)

    def largest() -> float:
        noise = attrs.evolve(sample, labels=rng.choice(np.array([-1, 1], dtype=np.int8), size=sample.n))
        return 1.0 + 2.0 * float(np.max(one_rule_scores(uniform.start(noise))))

    return float(np.mean([largest() for _ in range(draws)]))


def guaranteed_accuracy(margins: FloatArray, complexity: float, failure: float = 0.05) -> float:
    """The largest lower bound on the accuracy of a vote over all margins θ in (0, 1].

    1 − P[margin < θ] − 2·R_n/θ − √(ln(1/failure)/2n). Schapire & Freund (2012), section 5.2, for one θ fixed in
    advance: a bound for all θ at once has one more small term, which is left out to favour the theory.
    margins: normalised, of the n training records.  complexity: R_n.  failure: probability that it does not hold.
    """
    levels = np.unique(margins[margins > 0.0])
    below = np.searchsorted(np.sort(margins), levels, side="left") / margins.size
    slack = math.sqrt(-math.log(failure) / (2.0 * margins.size))
    bounds = 1.0 - below - 2.0 * complexity / levels - slack
    return max(0.0, float(np.max(bounds, initial=0.0)))


def last_round_above(advantages: FloatArray, threshold: float) -> int:
    """The last round before the advantage, smoothed over 25 rounds, falls below the threshold; 0 if at once."""
    width = min(25, advantages.size)
    smooth = np.convolve(advantages, np.full(width, 1.0 / width), mode="valid")
    below = np.flatnonzero(smooth < threshold)
    return int(below[0]) if below.size else int(advantages.size)
