"""Checks of estimators' parameters that several of them share. Each returns a plain value or raises ValueError."""

from collections.abc import Callable, Collection, Sequence
from numbers import Integral

import numpy as np

from accountant.costs import positive
from learners.base.private_estimator import Check
from learners.encoding import EncodedSample


def one_of(*choices: str) -> Callable[[str], str]:
    """One of some names."""

    def check(value: str) -> str:
        if value not in choices:
            raise ValueError(f"expected one of {choices}, got {value!r}")
        return value

    return check


def moderate(value: float) -> float:
    """A positive number whose powers up to the tenth are ordinary floats: from 2^-100 to 2^100."""
    number = positive(value)
    if not 2.0**-100 <= number <= 2.0**100:
        raise ValueError(f"expected a number between 2^-100 and 2^100, got {value!r}")
    return number


def public_interval(value: Sequence[float]) -> tuple[float, float]:
    """A lower and an upper bound, finite and not too far apart for a float. Raises ValueError or TypeError."""
    # Without types somebody may leave them out, or give one number.
    if isinstance(value, str) or not isinstance(value, Collection) or len(value) != 2:
        raise ValueError(f"expected public (lower, upper), got {value!r}")
    lower, upper = float(value[0]), float(value[1])
    if not lower < upper or not np.isfinite(upper - lower):
        raise ValueError(f"expected finite lower < upper, and a finite width, got {value!r}")
    return lower, upper


def required_bounds(value: Sequence[float] | None) -> tuple[float, float]:
    """Public bounds of labels. Raises ValueError where there are none."""
    if value is None:
        raise ValueError(
            "label_bounds: regression needs public bounds of the labels, such as label_bounds=(0.0, 10.0): noise is "
            "measured by them, and bounds taken from the data would be a release that nobody paid for"
        )
    return public_interval(value)


def flag(value: bool) -> bool:
    """True or False, and nothing that only passes for them. Raises TypeError."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"expected True or False, got {value!r}")
    return bool(value)


def optional(check: Check) -> Check:
    """The same check, with None for a default."""
    return lambda value: None if value is None else check(value)


def public_seed(value: int) -> int:
    """A whole number of at least 0, for draws that no privacy depends on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return int(value)


def unweighted(sample: EncodedSample) -> EncodedSample:
    """The sample, if all its records weigh alike. Raises ValueError."""
    if sample.weights is not None:
        raise ValueError("sample weights: this learner counts records and takes none")
    return sample
