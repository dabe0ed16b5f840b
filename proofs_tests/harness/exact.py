"""How far apart a finite mechanism's laws on two data sets are."""

from typing import TypeVar

import numpy as np

from mechanisms.core.mechanism import FiniteMechanism
from proofs_tests.harness.divergence import Law, hockey_stick, losses
from proofs_tests.harness.neighbours import Pair

D = TypeVar("D")


def laws(mechanism: FiniteMechanism[D], pair: Pair[D]) -> Pair[Law]:
    """The mechanism's laws on both data sets. Raises ValueError where their outcomes differ in number."""
    found = pair.map(mechanism.log_probabilities)
    for law in found:
        total = float(np.sum(np.exp(law)))
        if not abs(total - 1.0) <= 1e-9:
            raise ValueError(f"not a law: its probabilities sum to {total!r}")
    if found.before.shape != found.after.shape:
        raise ValueError(f"the outcomes depend on the data: {found.before.shape} and {found.after.shape}")
    return found


def exact_loss(mechanism: FiniteMechanism[D], pair: Pair[D]) -> float:
    """The largest |ln P/Q| over outcomes."""
    return float(np.max(np.abs(losses(laws(mechanism, pair)))))


def exact_delta(mechanism: FiniteMechanism[D], pair: Pair[D], epsilon: float) -> float:
    """The smallest δ with (ε, δ) in both directions."""
    both = laws(mechanism, pair)
    return max(hockey_stick(both, epsilon), hockey_stick(Pair(both.after, both.before), epsilon))
