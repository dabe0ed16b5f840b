"""diffprivlib's mechanisms, where a program has imported them: `randomise(value)` shows the value and the scale."""

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np

from accountant import ApproxDP, Cost, PureDP, Unbounded
from proofs_tests.harness.recording.calls import Call, Law, numbers_of
from proofs_tests.harness.recording.numpy_draws import Hearing, Method
from proofs_tests.harness.recording.opendp_draws import NotPriced


def _laplace(self: object) -> tuple[Law, float]:
    epsilon, delta, sensitivity = (float(getattr(self, name)) for name in ("epsilon", "delta", "sensitivity"))
    return "laplace", sensitivity / (epsilon - np.log(1.0 - delta))


def _gaussian(self: object) -> tuple[Law, float]:
    return "gaussian", float(getattr(self, "_scale"))  # noqa: B009  # of a class that mypy does not know


def _geometric(self: object) -> tuple[Law, float]:
    return "discrete laplace", float(getattr(self, "sensitivity")) / float(getattr(self, "epsilon"))  # noqa: B009


ADDITIVE: dict[str, Callable[[object], tuple[Law, float]]] = {
    "Laplace": _laplace,
    "Gaussian": _gaussian,
    "GaussianDiscrete": _gaussian,
    "Geometric": _geometric,
}
"""Truncated and folded ones call these, and what they do to the output is post-processing."""

DECLARED = ("LaplaceBoundedDomain", "LaplaceBoundedNoise", "Snapping", "Staircase", "Uniform")
"""For these the library's own ε at its own sensitivity is all that is taken."""


def _declared_cost(epsilon: float, delta: float, sensitivity: float, value: object, other: object) -> Cost:
    """What the library says if the value moved by its sensitivity at most; nothing is promised beyond."""
    first, second = numbers_of(value), numbers_of(other)
    if first is None or second is None:
        raise NotPriced("a value that is no number")
    moved = float(np.sum(np.abs(second.astype(np.float64) - first.astype(np.float64))))
    if moved == 0.0:
        return PureDP(0.0)
    if not moved <= sensitivity:
        return Unbounded()
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def _additive(name: str, original: Method, hearing: Hearing) -> Method:
    law_of = ADDITIVE[name]

    def drawn(self: object, value: object) -> object:
        recorder, known = hearing(), numbers_of(value)
        if recorder is None or known is None:
            return original(self, value)
        law, scale = law_of(self)
        call = Call(
            0,
            f"diffprivlib {type(self).__name__}",
            "release",
            law,
            "",
            value=known,
            scale=np.asarray(scale),
            fixed=(known.shape,),
            declared=float(getattr(self, "sensitivity")),  # noqa: B009
        )
        return recorder.take(call, lambda: original(self, value))

    return drawn


def _declared(original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, value: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, value)
        terms = [float(getattr(self, name)) for name in ("epsilon", "delta", "sensitivity")]
        call = Call(
            0,
            f"diffprivlib {type(self).__name__}",
            "mapped",
            "",
            "",
            value=numbers_of(value),
            price=partial(_declared_cost, *terms),
        )
        return recorder.take(call, lambda: original(self, value))

    return drawn


def _exponential(original: Method, hearing: Hearing) -> Method:
    """Its running sums of probabilities give the chances; the place is recorded, and its own candidate given."""

    def drawn(self: object, value: object = None) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, value)
        sums = np.asarray(getattr(self, "_probabilities"), dtype=np.float64)  # noqa: B009
        candidates: object = getattr(self, "candidates")  # noqa: B009
        with np.errstate(divide="ignore"):
            chances = np.log(np.diff(sums, prepend=0.0))

        def place() -> object:
            found = original(self, value)
            return list(candidates).index(found) if candidates else found  # type: ignore[call-overload]  # a list

        title = f"diffprivlib {type(self).__name__}"
        call = Call(0, title, "choice", "probabilities", "", value=chances, fixed=(sums.size,))
        chosen = recorder.take(call, place)
        return candidates[chosen] if candidates else chosen  # type: ignore[index]  # a list

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there; nothing where diffprivlib was not imported."""
    module: ModuleType | None = sys.modules.get("diffprivlib.mechanisms")
    if module is None:
        return []
    found: list[tuple[object, str, Callable[..., object]]] = []
    for name in ADDITIVE:
        cls = getattr(module, name)
        found.append((cls, "randomise", _additive(name, cls.randomise, hearing)))
    for name in DECLARED:
        cls = getattr(module, name)
        if "randomise" in vars(cls):
            found.append((cls, "randomise", _declared(cls.randomise, hearing)))
    cls = getattr(module, "Exponential")  # noqa: B009
    return [*found, (cls, "randomise", _exponential(cls.randomise, hearing))]
