"""Python's `random` and `secrets`: Gaussian and exponential numbers are noise, the rest are other draws."""

import random
import secrets
import sys
from collections.abc import Callable, Sequence
from typing import Final, cast

import numpy as np

from proofs_tests.harness.recording.calls import Call
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing, Method, noise

BY_PLACE: Final = ("choice", "sample", "shuffle", "choices")
"""What takes a sequence: the places are recorded, so that on a neighbour the same places are taken."""

SEQUENCES: Final = ("seq", "population", "x")
"""Names of what is drawn from."""

OTHERS: Final = (
    *("random", "uniform", "randint", "randrange", "getrandbits", "randbytes", "triangular", "betavariate"),
    *("gammavariate", "lognormvariate", "paretovariate", "vonmisesvariate", "weibullvariate", "binomialvariate"),
)

SECRET: Final = ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "randbits")


def hooked(name: str, original: Method, hearing: Hearing) -> Method:
    """The method of `random.Random` that records."""
    if name in ("gauss", "normalvariate"):
        return _gaussian(name, original, hearing)
    if name == "expovariate":
        return _exponential(original, hearing)
    return _by_place(name, original, hearing) if name in BY_PLACE else other(f"random.{name}", original, hearing)


def other(title: str, original: Method, hearing: Hearing) -> Method:
    """Any other draw: its arguments must not depend on the data."""

    def drawn(*inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(*inputs, **more)
        told = tuple(each for each in inputs if not isinstance(each, random.Random))
        call = Call(0, title, "other", "", "", fixed=(told, more))
        return recorder.take(call, lambda: original(*inputs, **more))

    return drawn


def _gaussian(name: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, mu: float = 0.0, sigma: float = 1.0) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, mu, sigma)
        loc, scale = np.asarray(mu, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
        return noise(recorder, f"random.{name}", "gaussian", loc, scale, (), lambda: original(self, mu, sigma))

    return drawn


def _exponential(original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, lambd: float = 1.0) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, lambd)
        scale = np.asarray(1.0 / lambd, dtype=np.float64)
        return noise(
            recorder, "random.expovariate", "exponential", np.zeros(()), scale, (), lambda: original(self, lambd)
        )

    return drawn


def _by_place(name: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, *inputs, **more)
        if sys._getframe(1).f_globals.get("__name__") == "tempfile":  # names of files are no draws of the program's
            return recorder.unheard(lambda: original(self, *inputs, **more))
        named = next((each for each in SEQUENCES if each in more), None)
        items = cast("Sequence[object]", more.pop(named) if named else inputs[0])
        inputs = inputs if named else inputs[1:]
        places = list(range(len(items))) if name == "shuffle" else range(len(items))

        def natural() -> object:
            found = original(self, places, *inputs, **more)
            return places if name == "shuffle" else found

        call = Call(0, f"random.{name}", "other", "", "", fixed=(len(items), inputs, more))
        found = recorder.take(call, natural)
        if not isinstance(found, list):
            return items[found]  # type: ignore[call-overload]  # the place of one
        taken = [items[place] for place in found]
        if name != "shuffle":
            return taken
        items[:] = taken  # type: ignore[index]  # it is shuffled in place, as the program asked
        return None

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there."""
    found: list[tuple[object, str, Callable[..., object]]] = []
    for name in ("gauss", "normalvariate", "expovariate", *BY_PLACE, *OTHERS):
        owners = [cls for cls in (random.Random, random.SystemRandom) if cls is random.Random or name in vars(cls)]
        found += [(cls, name, hooked(name, getattr(cls, name), hearing)) for cls in owners if hasattr(cls, name)]
        bound = getattr(random, name, None)
        if bound is not None:
            wrapper = hooked(name, getattr(random.Random, name), hearing)
            found.append((random, name, wrapper.__get__(bound.__self__)))
    found += [(secrets, name, other(f"secrets.{name}", getattr(secrets, name), hearing)) for name in SECRET]
    wrapper = hooked("choice", random.SystemRandom.choice, hearing)
    found.append((secrets, "choice", wrapper.__get__(secrets.choice.__self__)))  # type: ignore[attr-defined]  # bound
    return found
