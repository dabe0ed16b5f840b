"""Our own noise sources: the value is an argument, so that each call is a release."""

from collections.abc import Callable

import numpy as np

from accountant.arrays import FloatArray
from mechanisms import SecureNoise, SeededNoise
from proofs_tests.harness.recording.calls import Call, Law
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing, Method


def _additive(cls: type, name: str, law: Law, hearing: Hearing) -> Method:
    original: Method = getattr(cls, name)

    def drawn(self: object, values: FloatArray, scale: float, grid: int) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, values, scale, grid)
        known = np.array(values)
        call = Call(
            0, f"{cls.__name__}.{name}", "release", law, "", value=known, scale=np.asarray(scale), fixed=(known.shape,)
        )
        return recorder.take(call, lambda: original(self, values, scale, grid))

    return drawn


def _choice(cls: type, name: str, law: Law, hearing: Hearing) -> Method:
    original: Method = getattr(cls, name)

    def drawn(self: object, scores: FloatArray, eta: float) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, scores, eta)
        known = np.array(scores)
        call = Call(
            0, f"{cls.__name__}.{name}", "choice", law, "", value=known, scale=np.asarray(1.0 / eta), fixed=known.shape
        )
        return recorder.take(call, lambda: original(self, scores, eta))

    return drawn


def _bits(cls: type, hearing: Hearing) -> Method:
    original: Method = getattr(cls, "bits")  # noqa: B009  # of a class that mypy does not know

    def drawn(self: object, number: int) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, number)
        call = Call(0, f"{cls.__name__}.bits", "other", "", "", fixed=(number,))
        return recorder.take(call, lambda: original(self, number))

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there."""
    found: list[tuple[object, str, Callable[..., object]]] = []
    for cls in (SecureNoise, SeededNoise):
        found += [
            (cls, "laplace", _additive(cls, "laplace", "laplace", hearing)),
            (cls, "gaussian", _additive(cls, "gaussian", "gaussian", hearing)),
            (cls, "exponential_choice", _choice(cls, "exponential_choice", "exponential choice", hearing)),
            (cls, "noisy_max_choice", _choice(cls, "noisy_max_choice", "noisy max", hearing)),
            (cls, "permute_and_flip_choice", _choice(cls, "permute_and_flip_choice", "permute and flip", hearing)),
            (cls, "bits", _bits(cls, hearing)),
        ]
    return found
