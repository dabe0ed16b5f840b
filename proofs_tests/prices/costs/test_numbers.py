"""What the converters let through, and what they refuse: at the ends of the ranges, and beside them."""

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from accountant.costs.converters import (
    count,
    fraction,
    non_negative,
    open_probability,
    positive,
    probability,
    probability_below_one,
)

TINY, HUGE, BELOW_ONE = 5e-324, sys.float_info.max, math.nextafter(1.0, 0.0)
ABOVE_ONE = math.nextafter(1.0, 2.0)

RANGES: dict[Callable[[float], float], tuple[list[float], list[float]]] = {
    positive: ([TINY, 1.0, HUGE], [0.0, -0.0, -TINY, -1.0, math.inf]),
    non_negative: ([0.0, TINY, 1.0, HUGE], [-TINY, -1.0, math.inf]),
    probability_below_one: ([0.0, TINY, 0.5, BELOW_ONE], [-TINY, 1.0, ABOVE_ONE, math.inf]),
    probability: ([0.0, TINY, 0.5, 1.0], [-TINY, ABOVE_ONE, math.inf]),
    open_probability: ([TINY, 0.5, BELOW_ONE], [0.0, -TINY, 1.0, ABOVE_ONE, math.inf]),
    fraction: ([TINY, 0.5, 1.0], [0.0, -TINY, ABOVE_ONE, math.inf]),
}
REAL = list(RANGES)


@pytest.mark.parametrize("convert", REAL)
def test_a_range_ends_where_it_says(convert: Callable[[float], float]) -> None:
    inside, outside = RANGES[convert]
    for value in inside:
        assert convert(value) == value
        assert type(convert(value)) is float
        assert convert(np.float64(value)) == value
        assert type(convert(np.float64(value))) is float
    for value in [*outside, -math.inf, math.nan]:
        with pytest.raises(ValueError, match="expected"):
            convert(value)
        with pytest.raises(ValueError, match="expected"):
            convert(np.float64(value))


@pytest.mark.parametrize("convert", REAL)
def test_what_is_no_real_number_is_refused(convert: Callable[[float], float]) -> None:
    others: tuple[object, ...] = (True, False, "0.5", None, 0.5j, Decimal("0.5"), np.array(0.5))
    for value in others:
        with pytest.raises(TypeError, match=r"expected .*, got"):
            convert(value)  # type: ignore[arg-type]  # the point of the test


def test_other_real_numbers_become_floats() -> None:
    assert positive(3) == 3.0
    assert open_probability(Fraction(1, 4)) == 0.25  # type: ignore[arg-type]  # a Real all the same
    for value in (10**400, -(10**400)):
        with pytest.raises(ValueError, match="no float holds"):
            positive(value)


def test_there_is_one_zero() -> None:
    for convert in (non_negative, probability, probability_below_one):
        assert math.copysign(1.0, convert(-0.0)) == 1.0


def test_a_count_is_whole_and_at_least_one() -> None:
    seven: Any = np.int64(7)
    assert [count(1), count(seven), count(2**70)] == [1, 7, 2**70]
    assert type(count(seven)) is int
    others: tuple[object, ...] = (0, -1, True, False, 1.0, 2.5, "1", None, math.nan)
    for value in others:
        with pytest.raises(ValueError, match="whole number of at least 1"):
            count(value)  # type: ignore[arg-type]  # the point of the test
