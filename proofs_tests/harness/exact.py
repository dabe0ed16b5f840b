"""How far apart a finite mechanism's distributions on two data sets are."""

from typing import TypeVar

import numpy as np

from mechanisms.core.mechanism import FiniteMechanism
from proofs_tests.harness.divergence import LogProbabilities, hockey_stick, losses
from proofs_tests.harness.neighbours import Pair

D = TypeVar("D")


def distributions(mechanism: FiniteMechanism[D], pair: Pair[D]) -> Pair[LogProbabilities]:
    """The mechanism's distributions on both data sets. Raises ValueError where their outcomes differ in number."""
    found = pair.map(mechanism.log_probabilities)
    for distribution in found:
        total = float(np.sum(np.exp(distribution)))
        if not abs(total - 1.0) <= 1e-9:
            raise ValueError(f"not a distribution: its probabilities sum to {total!r}")
    if found.before.shape != found.after.shape:
        raise ValueError(f"the outcomes depend on the data: {found.before.shape} and {found.after.shape}")
    return found


def exact_loss(mechanism: FiniteMechanism[D], pair: Pair[D]) -> float:
    """The largest |ln P/Q| over all outcomes, in nats, from exact probabilities; ∞ where one of them is 0.

    mechanism: with finitely many outcomes.  pair: two neighbouring data sets.
    """
    return float(np.max(np.abs(losses(distributions(mechanism, pair)))))


def exact_delta(mechanism: FiniteMechanism[D], pair: Pair[D], epsilon: float) -> float:
    """The smallest δ at which a pair is (ε, δ)-indistinguishable, in both directions, from exact probabilities.

    mechanism: with finitely many outcomes.  pair: two neighbouring data sets.  epsilon: in nats, >= 0.
    """
    both = distributions(mechanism, pair)
    return max(hockey_stick(both, epsilon), hockey_stick(Pair(both.after, both.before), epsilon))
