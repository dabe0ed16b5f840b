"""How far apart two exact laws are, in each currency a cost can be declared in."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from mechanisms.core import FloatArray

H = TypeVar("H", bound=Hashable)


def _aligned(first: Mapping[H, float], second: Mapping[H, float]) -> tuple[FloatArray, FloatArray]:
    outputs = list(first.keys() | second.keys())
    both = [[law.get(output, -np.inf) for output in outputs] for law in (first, second)]
    return np.array(both[0]), np.array(both[1])


def max_loss(first: Mapping[H, float], second: Mapping[H, float]) -> float:
    """The largest |ln P/Q| over outputs; ∞ where one law has an output that the other lacks."""
    p, q = _aligned(first, second)
    return float(np.max(np.abs(p - q)))


def loss_width(first: Mapping[H, float], second: Mapping[H, float]) -> float:
    """max − min of ln P/Q over outputs: what bounded range bounds."""
    p, q = _aligned(first, second)
    return float(np.max(p - q) - np.min(p - q))


def approx_delta(first: Mapping[H, float], second: Mapping[H, float], epsilon: float) -> float:
    """The smallest δ with (ε, δ) in both directions: Σ max(0, P − e^ε Q)."""
    p, q = _aligned(first, second)

    def one_way(a: FloatArray, b: FloatArray) -> float:
        return float(np.sum(np.maximum(0.0, np.exp(a) - np.exp(epsilon + b))))

    return max(one_way(p, q), one_way(q, p))


def renyi_divergence(first: Mapping[H, float], second: Mapping[H, float], order: float) -> float:
    """D_α in the worse direction, order α > 1."""
    p, q = _aligned(first, second)

    def one_way(a: FloatArray, b: FloatArray) -> float:
        return float(np.logaddexp.reduce(order * a + (1.0 - order) * b)) / (order - 1.0)

    return max(one_way(p, q), one_way(q, p))
