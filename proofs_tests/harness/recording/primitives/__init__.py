"""What draws, library by library: each module says which functions are noise, and puts in place what takes it down."""

from collections.abc import Callable, Iterator

import numpy as np

from proofs_tests.harness.recording.primitives import (
    diffprivlib_draws,
    interpret_draws,
    numpy_draws,
    opendp_draws,
    own_draws,
    python_draws,
)
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing

__all__ = ["Hearing", "hooks"]


def hooks(hearing: Hearing) -> Iterator[tuple[object, str, Callable[..., object]]]:
    """All of them: where, under which name, and what to put there."""
    for cls in (np.random.Generator, np.random.RandomState):
        title = f"numpy.random.{cls.__name__}"
        for name in numpy_draws.methods(cls):
            yield cls, name, numpy_draws.hooked(title, name, getattr(cls, name), hearing)
    for name in numpy_draws.methods(np.random.RandomState):
        bound = getattr(np.random, name, None)
        if bound is not None and hasattr(bound, "__self__"):
            original = getattr(np.random.RandomState, name)
            hook = numpy_draws.hooked("numpy.random", name, original, hearing)
            yield np.random, name, hook.__get__(bound.__self__)
    for module in (python_draws, own_draws, opendp_draws, diffprivlib_draws, interpret_draws):
        yield from module.hooks(hearing)
