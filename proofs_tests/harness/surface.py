"""Whether a fitted object shows anything that was not released.

The object is fitted twice, on neighbouring data, with noise that hands out the same results whatever it is asked. All
releases are then equal, so everything that an onlooker may read must be equal too: what differs was never paid for.
"""

from collections.abc import Callable
from functools import cached_property, partial
from types import FunctionType, MethodType
from typing import TypeVar

import attrs
import numpy as np

from accountant import Ledger, Statement
from mechanisms.core import FloatArray
from mechanisms.noise import BitArray
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.report import ClaimViolated, Report

D = TypeVar("D")


class PinnedNoise:
    """A noise source whose results do not depend on what it is given, shapes apart. For `check_fitted_surface`."""

    name = "pinned (surface check)"
    private = False

    def __init__(self, seed: int = 0) -> None:
        self._generator = np.random.default_rng(seed)

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._generator.integers(scores.size))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return self.exponential_choice(scores, eta)

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return self.exponential_choice(scores, eta)

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`; without the values."""
        return self._generator.laplace(scale=scale, size=values.shape)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`; without the values."""
        return self._generator.normal(scale=sigma, size=values.shape)

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`."""
        return self._generator.integers(0, 2, size=number, dtype=np.uint8)


def check_fitted_surface(fit: Callable[[D, PinnedNoise], object], pairs: list[Pair[D]], *, seeds: int = 3) -> list[str]:
    """The public attributes that were compared. Raises ClaimViolated naming those that differ without a release.

    fit: fits on a sample, drawing from the given noise only, and returns the fitted object.
    pairs: neighbouring samples, or any samples at all: nothing may differ even between distant ones of the same n.
    """
    names: set[str] = set()
    for pair in pairs:
        for seed in range(seeds):
            first, second = (public_surface(fit(data, PinnedNoise(seed))) for data in pair)
            names |= first.keys() | second.keys()
            leaks = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
            if leaks:
                what = ", ".join(f"{name} ({first.get(name)} against {second.get(name)})" for name in leaks)
                text = f"{pair.before!r} against {pair.after!r}"[:400]
                raise ClaimViolated(
                    Report("fitted surface", f"unpaid: {what}", "leaks", 0.0, float(len(leaks)), "exact", text, 1, 0.0)
                )
    return sorted(names)


def public_surface(fitted: object) -> dict[str, str]:
    """All public attributes of an object as text, properties and nested objects included; no leading underscores."""
    computed = {
        name
        for cls in type(fitted).__mro__
        for name, value in vars(cls).items()
        if isinstance(value, property | cached_property)
    }
    names = sorted(name for name in {*vars(fitted), *computed} if not name.startswith("_"))
    return {name: _text(getattr(fitted, name, "absent"), set()) for name in names}


def _text(value: object, above: set[int]) -> str:
    """A text that is equal exactly when what can be read off is equal; clocks and digests left out."""
    if isinstance(value, Ledger):
        return f"ledger that spent {value.spent}"
    if isinstance(value, Statement):
        return repr(attrs.evolve(value, opened="", head=""))
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tolist()}"
    if isinstance(value, str | int | float | bool | bytes | type(None)):
        return repr(value)
    if id(value) in above:
        return "…"
    deeper = above | {id(value)}
    if isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        return f"{value.__qualname__}{_text([held, value.__defaults__, value.__kwdefaults__], deeper)}"
    if isinstance(value, MethodType):
        return _text([value.__func__, value.__self__], deeper)
    if isinstance(value, partial):
        return _text([value.func, value.args, value.keywords], deeper)
    if isinstance(value, dict):
        return str([(_text(key, deeper), _text(item, deeper)) for key, item in value.items()])
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_text(item, deeper) for item in value]
        return str(sorted(parts) if isinstance(value, set | frozenset) else parts)
    if hasattr(type(value), "__attrs_attrs__") or hasattr(value, "__dict__"):
        return f"{type(value).__name__}{ {name: _text(item, deeper) for name, item in _fields(value).items()} }"
    return repr(value)


def _fields(value: object) -> dict[str, object]:
    frozen = getattr(type(value), "__attrs_attrs__", None)  # classes with slots have no __dict__
    names = list(vars(value)) if frozen is None else [field.name for field in frozen]
    return {name: getattr(value, name) for name in names if not name.startswith("_")}
