"""Randomizers: how a value becomes an output. A mechanism is a query followed by a randomizer.

A randomizer knows the noise and what it costs for a given sensitivity. It knows neither data nor certificates,
so the same randomizer serves plain queries (`mechanisms.core.plain`) and robust ones (`mechanisms.core.robust`).
"""

import abc
from typing import ClassVar, Final, Generic, TypeVar, get_args, get_origin

from accountant import Cost
from accountant.arrays import FloatArray
from accountant.costs import positive, up
from mechanisms.core.sensitivity import RangeSensitivity, Sensitivity
from mechanisms.randomness import NoiseSource

V = TypeVar("V")
S = TypeVar("S", bound=Sensitivity)
R = TypeVar("R")

LARGEST_SCALE: Final = 2.0**1000
"""Scales stay where their reciprocals are ordinary floats."""


def scale(value: float) -> float:
    """A noise scale or its inverse: positive, and neither 0 nor infinite for practical purposes."""
    number = positive(value)
    if not 1.0 / LARGEST_SCALE <= number <= LARGEST_SCALE:
        raise ValueError(f"expected a scale between 2^-1000 and 2^1000, got {value!r}")
    return number


def loss(eta: float, sensitivity: Sensitivity) -> float:
    """η·Δ, rounded up; exactly 0 where the value does not depend on the data."""
    return up(eta * sensitivity.value) if sensitivity.value else 0.0


class Randomizer(abc.ABC, Generic[V, S, R]):
    """Noise with its price. Frozen; `name` and `parameters` go into the ledger, `claims` are ids in CLAIMS.md.

    robust_name: what entries call it on weighted data; None where that is `Robust` followed by its name.
    takes: the type of sensitivity that it is priced for, read from `Randomizer[V, S, R]` in the class statement; None
      where that names none.
    """

    name: ClassVar[str]
    robust_name: ClassVar[str | None] = None
    claims: ClassVar[tuple[str, ...]]
    takes: ClassVar[type[Sensitivity] | None] = None

    def __init_subclass__(cls, **named: object) -> None:
        super().__init_subclass__(**named)
        for base in vars(cls).get("__orig_bases__", ()):
            if get_origin(base) is Randomizer and get_args(base)[1] in get_args(Sensitivity):
                cls.takes = get_args(base)[1]

    @property
    @abc.abstractmethod
    def parameters(self) -> tuple[tuple[str, float | int | str], ...]:
        """What the ledger's entry says about it."""

    @abc.abstractmethod
    def cost(self, sensitivity: S) -> Cost:
        """The cost of one draw for values that move by at most `sensitivity` between neighbours."""

    @abc.abstractmethod
    def draw(self, value: V, noise: NoiseSource) -> R:
        """One output. Raises ValueError for a value that it is not defined for."""


def refuse_old_override(kind: type) -> None:
    """Refuse a subclass that overrides the mechanism's `kernel`, which it would no longer draw from."""
    if "kernel" in vars(kind):
        raise TypeError(
            f"{kind.__name__}: a mechanism's kernel is called its randomizer now, and is no property to override: give "
            "it to super().__init__(query, randomizer, ...)"
        )


class FiniteRandomizer(Randomizer[FloatArray, RangeSensitivity, int]):
    """A randomizer from scores, shape (k,), to one of k candidates."""

    @abc.abstractmethod
    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        """Natural logarithms of the outcome probabilities, shape (k,), exact up to rounding."""


def price_of(randomizer: Randomizer[V, S, R], sensitivity: S, query: str) -> Cost:
    """The randomizer's cost for a query of that sensitivity; also where nobody runs mypy, which refuses the same.

    query: its name.  Raises TypeError for a sensitivity in another norm than the randomizer's.
    """
    takes = randomizer.takes
    if takes is not None and not isinstance(sensitivity, takes):
        norm = getattr(sensitivity, "norm", type(sensitivity).__name__)
        raise TypeError(
            f"query {query!r}: {randomizer.name} noise needs its sensitivity in {takes.norm}, as "
            f"{takes.__name__}(...); got {sensitivity!r}, in {norm}"
        )
    return randomizer.cost(sensitivity)


def finite(randomizer: Randomizer[FloatArray, RangeSensitivity, int]) -> FiniteRandomizer:
    """The randomizer, if its distribution is known. Raises TypeError otherwise."""
    if not isinstance(randomizer, FiniteRandomizer):
        raise TypeError(f"{randomizer!r} gives no log_probabilities: derive it from FiniteRandomizer")
    return randomizer
