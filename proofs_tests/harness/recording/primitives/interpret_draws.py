"""interpret's compiled generator, where a program has imported it: its Gaussian noise is tracked as numpy's is."""

import sys
from collections.abc import Callable

import numpy as np

from proofs_tests.harness.recording.calls import Call
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing, Method, noise

MODULE = "interpret.utils._native"


def _gaussian(original: Method, hearing: Hearing) -> Method:
    """Draws in a replay too, and throws that away: the generator's state is to be what it was."""

    def drawn(self: object, rng: object, stddev: float, count: int) -> object:
        recorder = hearing()
        drawn_now = original(self, rng, stddev, count)
        if recorder is None:
            return drawn_now
        scale = np.asarray(float(stddev))
        return noise(recorder, "interpret gaussian", "gaussian", np.zeros(()), scale, (int(count),), lambda: drawn_now)

    return drawn


def _seed(original: Method, hearing: Hearing) -> Method:
    """Of a generator without a state, a seed is a draw."""

    def drawn(self: object, rng: object) -> object:
        recorder = hearing()
        if recorder is None or rng is not None:
            return original(self, rng)
        return recorder.take(Call(0, "interpret seed", "other", "", ""), lambda: original(self, rng))

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there; nothing where interpret was not imported."""
    module = sys.modules.get(MODULE)
    cls = getattr(module, "Native", None)
    if cls is None:
        return []
    return [
        (cls, "generate_gaussian_random", _gaussian(cls.generate_gaussian_random, hearing)),
        (cls, "generate_seed", _seed(cls.generate_seed, hearing)),
    ]
