"""Whether a fitted object shows anything that was not released.

The object is fitted twice, on neighbouring data, with noise that hands out the same results whatever it is asked. All
releases are then equal, so everything that an onlooker may read must be equal too: what differs was never paid for.
"""

import hashlib
import pickle
from collections import deque
from collections.abc import Callable
from functools import cached_property, partial
from types import FunctionType, MethodType
from typing import Final, TypeVar

import attrs
import numpy as np

from accountant import Ledger, Statement
from accountant.arrays import FloatArray
from accountant.entries.receipts import Receipt
from mechanisms.randomness.sources import BitArray
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.report import ClaimViolated, Report

D = TypeVar("D")

DEEPEST: Final = 12
"""Objects nested more deeply are not read."""

OPAQUE: Final = frozenset({"pandas", "polars", "pyarrow", "scipy", "numpy", "collections", "builtins", "random"})
"""Packages whose objects are compared as a whole: their properties are views of what they hold."""


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
    if not pairs:
        raise ValueError("pairs: expected at least one pair of data sets")
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
    """All public attributes of an object as text, properties and nested objects included; no leading underscores.

    Raises TypeError for something inside that can neither be read attribute by attribute nor pickled.
    """
    return {name: _text(value, set()) for name, value in _fields(fitted).items()}


def _text(value: object, above: set[int]) -> str:
    """A text that is equal exactly when what can be read off is equal; clocks and digests left out."""
    if isinstance(value, Ledger):
        return f"ledger that spent {value.spent}"
    if isinstance(value, Statement):
        return repr(attrs.evolve(value, opened="", head=""))
    if isinstance(value, Receipt):
        return repr(attrs.evolve(value, ledger="", digest="", time=0, public_key=None, signature=None))
    if isinstance(value, str | int | float | complex | bool | bytes | np.generic | type | type(None)):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return f"{value.dtype}{value.shape}{np.ma.getmaskarray(value).tobytes().hex()}{value.tobytes().hex()}"
    if id(value) in above or len(above) > DEEPEST:
        return "…"
    return _compound(value, above | {id(value)})


def _compound(value: object, deeper: set[int]) -> str:
    if isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        code = [value.__code__.co_code, value.__code__.co_names, value.__defaults__, value.__kwdefaults__]
        return f"{value.__qualname__}{_text([held, code, vars(value)], deeper)}"
    if isinstance(value, MethodType):
        return _text([value.__func__, value.__self__], deeper)
    if isinstance(value, partial):
        return _text([value.func, value.args, value.keywords], deeper)
    own = "" if type(value).__module__.split(".")[0] in OPAQUE else _text_of_fields(value, deeper)
    if isinstance(value, dict):
        return str([(_text(key, deeper), _text(item, deeper)) for key, item in value.items()]) + own
    if isinstance(value, list | tuple | set | frozenset | deque | np.ndarray):
        parts = [_text(item, deeper) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
        return str(sorted(parts) if isinstance(value, set | frozenset) else parts) + own
    return own or _pickled(value)


def _text_of_fields(value: object, deeper: set[int]) -> str:
    fields = {name: _text(item, deeper) for name, item in _fields(value).items()}
    return f"{type(value).__name__}{fields}" if fields else ""


def _pickled(value: object) -> str:
    """For objects that show nothing attribute by attribute: data frames, compiled trees."""
    if isinstance(value, np.random.Generator):
        return "a numpy Generator"  # what it will draw is not what it was fitted on
    try:
        return f"{type(value).__name__} {hashlib.sha256(pickle.dumps(value)).hexdigest()}"
    except Exception as error:
        raise TypeError(f"cannot read a {type(value).__name__}: {error}") from error


def _fields(value: object) -> dict[str, object]:
    """Public attributes: of the instance, of its slots, and properties of its classes."""
    names: set[str] = set(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names |= {slots} if isinstance(slots, str) else set(slots)
        names |= {name for name, held in vars(cls).items() if isinstance(held, property | cached_property)}
    public = sorted(name for name in names if not name.startswith("_"))
    return {name: _got(value, name) for name in public}


def _got(value: object, name: str) -> object:
    try:
        return getattr(value, name)
    except Exception as error:  # a property may refuse; that it does is what can be read
        return f"absent: {type(error).__name__}"
