"""Rounding against rational arithmetic: always towards more loss, and by no more than is said."""

import math
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest

from accountant.costs.rounding import (
    FINE,
    SLACK,
    BeyondFloats,
    down,
    exact,
    finite_up,
    float_down,
    float_up,
    largest,
    largest_below,
    up,
)
from accountant.costs.rounding import _next_guess as next_guess
from proofs_tests.support.mechanisms.just_above import spread

NUMBERS = (0.0, 5e-324, 1e-300, 0.1, 1.0, math.pi, 1e17, 1e300, *spread(0.37, 2.9, 7))


def test_the_head_room_is_what_the_claims_say() -> None:
    assert Fraction(SLACK) == Fraction(1, 2**40)
    assert Fraction(1, 10**6) == Fraction(str(FINE))


@pytest.mark.parametrize("value", [*NUMBERS, *(-number for number in NUMBERS)])
def test_up_is_above_by_the_head_room_and_two_floats_at_most(value: float) -> None:
    for rounded in (up(value), finite_up(value)):
        wanted = Fraction(value) + abs(Fraction(value)) / 2**40
        assert wanted < Fraction(rounded)
        assert Fraction(rounded) <= Fraction(math.nextafter(math.nextafter(float(wanted), math.inf), math.inf))


@pytest.mark.parametrize("value", [*NUMBERS, *(-number for number in NUMBERS)])
def test_down_is_below_by_the_same(value: float) -> None:
    wanted = Fraction(value) - abs(Fraction(value)) / 2**40
    assert Fraction(down(value)) < wanted
    assert Fraction(down(value)) >= Fraction(math.nextafter(math.nextafter(float(wanted), -math.inf), -math.inf))


def test_beyond_floats_there_is_infinity_or_a_refusal() -> None:
    assert up(sys.float_info.max) == math.inf
    for value in (sys.float_info.max, math.inf, math.nan):
        with pytest.raises(BeyondFloats):
            finite_up(value)
    with pytest.raises(BeyondFloats):
        float_up(Fraction(2) ** 1024)
    assert float_down(Fraction(2) ** 1024) == sys.float_info.max


def test_exact_is_the_rational_number() -> None:
    assert exact(0.1) == Fraction(3602879701896397, 36028797018963968)


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(1, 7), Fraction(5, 7), Fraction(10**20 + 1, 3)]
)
def test_a_fraction_lies_between_two_neighbouring_floats(value: Fraction) -> None:
    below, above = float_down(value), float_up(value)
    assert Fraction(below) < value < Fraction(above)
    assert math.nextafter(below, math.inf) == above


@pytest.mark.parametrize("value", NUMBERS)
def test_a_fraction_that_is_a_float_stays(value: float) -> None:
    assert float_down(Fraction(value)) == float_up(Fraction(value)) == value


@pytest.mark.parametrize("start", [1e-9, 1.0, 2.9, 1e9])
@pytest.mark.parametrize("edge", [1e-200, 1e-30, 0.3, 3.0, 7e250])
def test_largest_is_below_the_edge_by_a_millionth_of_a_millionth(edge: float, start: float) -> None:
    found = largest(lambda x: x <= edge, start)
    assert edge * (1.0 - 1.0000001e-12) <= found <= edge


def test_largest_returns_only_what_fits() -> None:
    assert largest(lambda x: x < 1.0) == pytest.approx(1.0, rel=2e-12)
    assert largest(lambda x: x < 1.0) < 1.0
    assert largest(lambda x: x <= 1.0) == 1.0


def test_largest_starts_at_one_and_ends_after_few_questions() -> None:
    asked: list[float] = []
    largest(lambda x: not asked.append(x) and x <= math.pi)  # type: ignore[func-returns-value]  # appending is the point
    assert asked[:3] == [1.0, 2.0, 4.0]
    assert len(asked) < 48


@pytest.mark.parametrize("start", [0.0, -1.0, math.inf, math.nan])
def test_a_search_starts_at_a_positive_number(start: float) -> None:
    with pytest.raises(ValueError, match="must start at a positive number"):
        largest(lambda x: x <= 1.0, start)


def test_a_search_gives_up_where_nothing_or_everything_fits() -> None:
    with pytest.raises(ArithmeticError, match="no number above 1e-300"):
        largest(lambda x: False)
    with pytest.raises(ArithmeticError, match="no number above 1e-300"):
        largest(lambda x: x <= 9e-301)
    with pytest.raises(ArithmeticError, match="every number up to 1e300"):
        largest(lambda x: True)
    with pytest.raises(ArithmeticError, match="every number up to 1e300"):
        largest(lambda x: x <= 2e300)
    assert largest(lambda x: x <= 4e-300) == pytest.approx(4e-300, rel=2e-12)
    assert largest(lambda x: x <= 4e299) == pytest.approx(4e299, rel=2e-12)


class Asked:
    """A function, and what it was asked."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self._function = function
        self.at: list[float] = []

    def __call__(self, x: float) -> float:
        self.at.append(x)
        return self._function(x)


SHAPES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "line": (lambda x: 3.0 * x, lambda y: y / 3.0),
    "square": (lambda x: x * x, math.sqrt),
    "exponential": (lambda x: math.expm1(min(x, 700.0)), math.log1p),
    "flat, then steep": (lambda x: 0.0 if x <= 1.0 else (x - 1.0) ** 3, lambda y: 1.0 + y ** (1.0 / 3.0)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("target", [1e-6, 0.5, 40.0])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("within", [FINE, 1e-3])
def test_largest_below_fits_and_is_that_close(shape: str, target: float, start: float, within: float) -> None:
    function, inverse = SHAPES[shape]
    asked = Asked(function)
    found = largest_below(asked, target, start, within=within)
    assert found in asked.at
    assert function(found) <= target
    assert function(found) >= target * (1.0 - within) or found >= inverse(target) * (1.0 - 1e-11)
    assert len(asked.at) < 60


def test_largest_below_starts_where_it_is_told_and_guesses_by_proportion() -> None:
    asked = Asked(lambda x: x * x)
    largest_below(asked, 9.0, slope=2.0)
    assert asked.at[0] == 1.0
    assert asked.at[1] == pytest.approx(3.0, rel=1e-6)
    assert len(asked.at) == 2
    asked = Asked(lambda x: x * x)
    largest_below(asked, 9.0, 10.0, slope=2.0)
    assert asked.at[0] == 10.0
    assert asked.at[1] == pytest.approx(3.0, rel=1e-6)
    assert len(asked.at) == 2


def test_largest_below_is_content_with_the_target_itself() -> None:
    assert largest_below(lambda x: x, 1.0) == 1.0
    asked = Asked(lambda x: 3.0 * x)
    largest_below(asked, 9.0)
    assert len(asked.at) == 2


def test_largest_below_takes_a_small_jump() -> None:
    found = largest_below(lambda x: 1.0 if x <= math.pi * 1e-14 else math.inf, 2.0, 1e-14)
    assert math.pi * 1e-14 * (1.0 - 1.1e-12) <= found <= math.pi * 1e-14


def test_largest_below_takes_a_jump() -> None:
    found = largest_below(lambda x: 1.0 if x <= math.pi else math.inf, 2.0)
    assert math.pi * (1.0 - 1.1e-12) <= found <= math.pi
    found = largest_below(lambda x: 1.0 if x < 4.0 else 3.0, 2.0)
    assert 4.0 * (1.0 - 1.1e-12) <= found < 4.0


def test_largest_below_gives_up_where_nothing_or_everything_fits() -> None:
    for value in (1.0, math.inf):
        with pytest.raises(ArithmeticError, match="no noise scale that a float can hold"):
            largest_below(lambda x, value=value: value, 0.5)  # type: ignore[misc]  # a default to bind the loop's value
    with pytest.raises(ArithmeticError, match="no noise scale that a float can hold"):
        largest_below(lambda x: 0.0, 0.5)


def test_a_guess_outside_the_brackets_is_by_proportion_and_at_most_sixteen_fold() -> None:
    assert next_guess(2.0, 1.0, math.inf, math.inf, 3.0, 1.0) == pytest.approx(6.0)
    assert next_guess(2.0, 1.0, math.inf, math.inf, 9.0, 2.0) == pytest.approx(6.0)
    assert next_guess(2.0, 1.0, math.inf, math.inf, 99.0, 1.0) == 32.0
    assert next_guess(2.0, 0.0, math.inf, math.inf, 3.0, 1.0) == 32.0
    assert 2.0 < next_guess(2.0, 3.0, math.inf, math.inf, 3.0, 1.0) <= 2.0 * (1.0 + 2e-9)
    assert next_guess(0.0, 0.0, 8.0, 4.0, 1.0, 1.0) == pytest.approx(2.0)
    assert next_guess(0.0, 0.0, 8.0, 9.0, 1.0, 2.0) == pytest.approx(8.0 / 3.0)
    assert next_guess(0.0, 0.0, 8.0, 4.0, 0.01, 1.0) == 0.5
    assert 8.0 * (1.0 - 2e-9) <= next_guess(0.0, 0.0, 8.0, 4.0, 4.0, 1.0) < 8.0


def test_a_guess_between_the_brackets_is_a_secant_in_logarithms_held_off_the_ends() -> None:
    assert next_guess(1.0, 1.0, 100.0, 10_000.0, 100.0, 1.0) == pytest.approx(10.0)
    assert next_guess(2.0, 1.0, 32.0, 8.0, 2.0, 1.0) == pytest.approx(2.0 * 16.0 ** (1.0 / 3.0))
    assert next_guess(1.0, 1.0, 100.0, 10_000.0, 1.001, 1.0) == pytest.approx(100.0**0.02)
    assert next_guess(1.0, 1.0, 100.0, 10_000.0, 9999.0, 1.0) == pytest.approx(100.0**0.98)
    for below, above in ((0.0, 5.0), (1.0, math.inf), (3.0, 3.0)):
        assert next_guess(2.0, below, 32.0, above, 4.0, 1.0) == pytest.approx(8.0)
