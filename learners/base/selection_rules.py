"""Which rule a weak learner chooses its hypothesis by; its price depends on it."""

from typing import Final, Literal, TypeAlias, TypeVar, get_args

from accountant.arrays import FloatArray
from mechanisms import (
    NoiseSource,
    PermuteAndFlip,
    RangeSensitivity,
    RobustQuery,
    RobustSelection,
    WeightedExponential,
)
from mechanisms.core import Certified

W = TypeVar("W", bound=Certified)

Selection: TypeAlias = Literal["exponential", "permute-and-flip"]

SELECTIONS: Final[tuple[str, ...]] = get_args(Selection)


def selection(name: Selection) -> Selection:
    """The rule of that name. Raises ValueError for another one."""
    if name not in SELECTIONS:
        raise ValueError(f"selection: {name!r} is not one of {', '.join(map(repr, SELECTIONS))}")
    return name


def choosing(
    rule: Selection, query: RobustQuery[W, FloatArray, RangeSensitivity], eta: float, zeta: float, noise: NoiseSource
) -> RobustSelection[W]:
    """The robust mechanism that chooses a candidate by that rule; arguments as there.

    At the same width, permute-and-flip has the better choices and the exponential mechanism the smaller ρ, a quarter:
    choose the first for pure differential privacy, the second where rounds are composed at a δ.
    """
    if rule == "permute-and-flip":
        return PermuteAndFlip(query, eta, zeta, noise)
    return WeightedExponential(query, eta, zeta, noise)
