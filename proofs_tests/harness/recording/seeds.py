"""Noise that is the same in every run: whoever knows the seed takes it off, and a seed in a program is known."""

from collections.abc import Callable
from typing import Final, TypeVar

import numpy as np

from proofs_tests.harness.recording.calls import Call
from proofs_tests.harness.recording.runs import Run, natural

D = TypeVar("D")

RUNS: Final = 30
"""Noise of whole numbers that is not 0 has a chance of 1/2 at most, so that it is the same in so many runs by chance
less than once in 10^8."""

FARTHEST: Final = 100.0
"""Scales; noise of none of our laws comes so far."""

DISCRETE: Final = ("discrete laplace",)


def fixed_draws(program: Callable[[D], object], data: D, first: Run) -> frozenset[int]:
    """The numbers of the calls whose noise comes out the same in another run of its own, and so in every one.

    Floats of numpy, Python or a library are compared with one other run, numbers on a grid with `RUNS`; choices are
    not looked at.
    """
    found, again = {call.number for call in first.calls if _is_noise(call)}, 1
    grainy = {call.number for call in first.calls if call.number in found and _is_grainy(call)}
    while found and again < (RUNS if found & grainy else 2):
        calls = natural(program, data).calls
        found = {
            number for number in found if number <= len(calls) and _is_same(first.calls[number - 1], calls[number - 1])
        }
        again += 1
    return frozenset(found)


def _is_noise(call: Call) -> bool:
    """Whether it draws, and what came out is noise of that law: not a value that was rounded to some coarse grid."""
    if call.kind not in ("noise", "release") or call.source is not None:
        return False
    noise = np.abs(np.asarray(call.output, dtype=np.float64) - np.asarray(call.value, dtype=np.float64))
    return bool(np.any(noise != 0.0)) and bool(np.all(noise <= FARTHEST * np.abs(call.scale)))


def _is_grainy(call: Call) -> bool:
    """Whether its noise is a number on a grid that may be coarse: what is whole, and what our own sources draw."""
    return call.law in DISCRETE or call.primitive.startswith(("SecureNoise", "SeededNoise"))


def _is_same(one: Call, other: Call) -> bool:
    return (one.primitive, one.law) == (other.primitive, other.law) and np.array_equal(
        np.asarray(one.output), np.asarray(other.output)
    )
