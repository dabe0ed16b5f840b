"""What queries give becomes floats exactly or is refused: two values never move apart on the way."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import ReplaceOne
from mechanisms import (
    ExponentialChoice,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
    PlainMechanism,
    Query,
    SecureNoise,
    SeededNoise,
)
from mechanisms.randomness import as_floats
from mechanisms.selection import LeafLabelChoice

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(2**53 - 3, 2**53 + 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)


@given(st.one_of(NUMBERS, st.lists(NUMBERS, max_size=4)))
def test_numbers_come_through_exactly_or_not_at_all(values: Any) -> None:
    try:
        found = as_floats(values)
    except ValueError:
        assert any(abs(value) > 2**53 for value in np.asarray(values, dtype=object).flat)
        return
    assert found.dtype == np.float64
    assert [Fraction(value) for value in found.ravel().tolist()] == [
        Fraction(value) for value in np.asarray(values, dtype=object).flat
    ]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "bool"])
def test_arrays_of_any_kind_keep_their_shape_and_their_numbers(kind: str) -> None:
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(kind)
    found = as_floats(values)
    assert found.dtype == np.float64
    assert np.array_equal(found, values)


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**53 + 1]),
        np.array([0, -(2**53) - 1]),
        np.array([2**64 - 1], dtype=np.uint64),
        2**53 + 1,
        2**80,
        [2**60 + 1, 0.5],
        np.longdouble(1.0),
        np.array([1j]),
        1j,
        np.array(["1"]),
        "1",
        None,
        np.array([Fraction(1, 3)]),
        np.array(["2020-01-01"], dtype="datetime64[ns]"),
        [np.datetime64("2020-01-01", "ns")],
        [[1.0], [2.0, 3.0]],
        [1.0, [2.0, 3.0]],
        np.ma.MaskedArray([1.0, 2.0], mask=[False, True]),
    ],
)
def test_what_floats_do_not_hold_is_refused(values: Any) -> None:
    """2^53 + 1 and 2^53 + 2 are 1 apart; as floats they are 2 apart."""
    with pytest.raises(ValueError, match=r"values: (floats do not tell|expected (real|rows of one|no masked))"):
        as_floats(values)


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3.0), [3.0], np.array([3])])
@pytest.mark.parametrize(
    ("randomizer", "sensitivity"),
    [
        (LaplaceNoise(0.01), L1Sensitivity(0.01)),
        (GaussianNoise(0.01), L2Sensitivity(0.01)),
        (GammaNormNoise(0.01), L2Sensitivity(0.01)),
    ],
)
@pytest.mark.parametrize("source", [None, SeededNoise(0)])
def test_a_query_may_give_a_number(randomizer: Any, sensitivity: Any, value: Any, source: Any) -> None:
    query: Any = Query("count", lambda data: value, sensitivity, ReplaceOne())
    plain = PlainMechanism(query, randomizer, SecureNoise() if source is None else source)
    found = plain.sample([1, 2, 3])
    assert found.shape == np.shape(value)
    assert abs(float(found.ravel()[0]) - 3.0) < 1.0


def test_scores_that_floats_do_not_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="scores: floats do not tell whole numbers"):
        ExponentialChoice(1.0).draw(np.array([2**53 + 1, 0]), SeededNoise(0))


def test_gaps_that_floats_do_not_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="gaps: floats do not tell whole numbers"):
        LeafLabelChoice(1.0).draw(np.array([2**53 + 1, 0]), SeededNoise(0))


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)])
@pytest.mark.parametrize("kind", [ExponentialChoice, NoisyMaxChoice, PermuteAndFlipChoice])
def test_choices_take_lists_of_scores_as_sums_take_lists_of_values(kind: Any, noise: Any) -> None:
    assert kind(100.0).draw([0, 1, 2**40], noise) == 2
    with pytest.raises(ValueError, match=r"expected scores of shape|expected rows of one length"):
        kind(1.0).draw([[1.0], [2.0, 3.0]], noise)
