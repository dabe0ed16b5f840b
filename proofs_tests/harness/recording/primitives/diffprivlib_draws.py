"""diffprivlib's mechanisms, where a program has imported them: `randomise(value)` shows the value and the scale."""

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np

from accountant import ApproxDP, Cost, PureDP
from proofs_tests.harness.recording.calls import Call, Law, NotPriced, numbers_of
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing, Method


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
    "Geometric": _geometric,
}
"""Truncated and folded ones call these, and what they do to the output is post-processing."""

DECLARED = ("GaussianDiscrete", "LaplaceBoundedNoise", "Snapping", "Staircase", "Uniform")
"""For these the library's own ε at its own sensitivity is all that is taken."""


def _declared_cost(epsilon: float, delta: float, sensitivity: float, value: object, other: object) -> Cost:
    """What the library says if the value moved by its sensitivity at most. Raises NotPriced beyond."""
    first, second = numbers_of(value), numbers_of(other)
    if first is None or second is None:
        raise NotPriced("a value that is no number")
    moved = float(np.sum(np.abs(second.astype(np.float64) - first.astype(np.float64))))
    if moved == 0.0:
        return PureDP(0.0)
    if not moved <= sensitivity:
        raise NotPriced(f"a value that moved by {moved:g}, of which {sensitivity:g} was declared")
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


def _bounded(original: Method, hearing: Hearing) -> Method:
    """Laplace noise that is drawn anew until it stays in an interval: another law for each value."""

    def drawn(self: object, value: object) -> object:
        recorder, known = hearing(), numbers_of(value)
        if recorder is None or known is None:
            return original(self, value)
        low, high = (float(getattr(self, name)) for name in ("lower", "upper"))
        scale = getattr(self, "_scale") or getattr(self, "_find_scale")()  # noqa: B009
        call = Call(
            0,
            f"diffprivlib {type(self).__name__}",
            "release",
            "bounded laplace",
            "",
            value=np.clip(known.astype(np.float64), low, high),
            scale=np.asarray(float(scale)),
            fixed=(known.shape,),
            declared=float(getattr(self, "sensitivity")),  # noqa: B009
            span=(low, high),
        )
        return recorder.take(call, lambda: original(self, value))

    return drawn


def _vector(original: Method, hearing: Hearing) -> Method:
    """Noise that is added to the gradient of what is minimised: what that costs is a theorem of its own.

    The noise is recorded as one vector, which is the gradient at 0 of the noise alone.
    """

    def drawn(self: object, value: Callable[..., object]) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, value)
        size = int(getattr(self, "dimension"))  # noqa: B009
        names = ("epsilon", "alpha", "n", "function_sensitivity", "data_sensitivity")

        def produced() -> object:
            noisy: Callable[..., tuple[object, np.ndarray]] = original(self, _flat)  # type: ignore[assignment]  # a function
            at_0, at_1 = noisy(np.zeros(size))[1], noisy(np.ones(size))[1]
            return np.stack([at_0, at_1 - at_0])

        title = "diffprivlib Vector, which perturbs an objective: its cost is a theorem of its own,"
        call = Call(0, title, "other", "", "", fixed=(size, *(getattr(self, name) for name in names)))
        slope, pull = np.asarray(recorder.take(call, produced))

        def noisy(x: np.ndarray, *more: object) -> object:
            plain = value(x, *more)
            extra = float(np.dot(slope, x) + 0.5 * np.dot(pull * x, x))
            if isinstance(plain, tuple):
                return plain[0] + extra, plain[1] + slope + pull * x
            return plain + extra  # type: ignore[operator]  # a number

        return noisy

    return drawn


def _flat(x: np.ndarray, *more: object) -> tuple[float, np.ndarray]:
    return 0.0, np.zeros_like(x, dtype=np.float64)


def _flips(original: Method, hearing: Hearing) -> Method:
    """Permute and flip: its scores, in units of its noise, give the chances; the place is recorded."""

    def drawn(self: object, value: object = None) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, value)
        scores = np.asarray(getattr(self, "_probabilities"), dtype=np.float64)  # noqa: B009
        candidates: object = getattr(self, "candidates")  # noqa: B009
        call = Call(
            0,
            f"diffprivlib {type(self).__name__}",
            "choice",
            "permute and flip",
            "",
            value=scores,
            scale=np.ones(()),
            fixed=(scores.size,),
        )
        chosen = recorder.take(call, lambda: _place(original(self, value), candidates))
        return candidates[chosen] if candidates else chosen  # type: ignore[index]  # a list

    return drawn


def _place(found: object, candidates: object) -> object:
    return list(candidates).index(found) if candidates else found  # type: ignore[call-overload]  # a list


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

        title = f"diffprivlib {type(self).__name__}"
        call = Call(0, title, "choice", "probabilities", "", value=chances, fixed=(sums.size,))
        chosen = recorder.take(call, lambda: _place(original(self, value), candidates))
        return candidates[chosen] if candidates else chosen  # type: ignore[index]  # a list

    return drawn


OTHERS: dict[str, Callable[[Method, Hearing], Method]] = {
    "Exponential": _exponential,
    "PermuteAndFlip": _flips,
    "LaplaceBoundedDomain": _bounded,
    "Vector": _vector,
}


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
    others = {
        "Exponential": _exponential,
        "PermuteAndFlip": _flips,
        "LaplaceBoundedDomain": _bounded,
        "Vector": _vector,
    }
    for name, hook in others.items():
        cls = getattr(module, name)
        found.append((cls, "randomise", hook(cls.randomise, hearing)))
    return found
