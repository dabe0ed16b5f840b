"""What is seen of noise that is added to something: the value, its multiple, and which numbers it went to."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.harness import recorded
from proofs_tests.harness.recording.calls import Call

RNG = np.random.default_rng(1)
Made = Callable[[object, object], object]


def seen(program: Callable[[], object]) -> list[Call]:
    """The sums that a program makes."""
    with recorded() as tape:
        program()
    return [call for call in tape.calls if call.kind == "release"]


@given(st.floats(-1e6, 1e6), st.floats(0.1, 100.0), st.floats(0.1, 10.0))
@pytest.mark.parametrize(
    ("made", "sign"),
    [
        (lambda value, noise: value + noise, 1.0),
        (lambda value, noise: noise + value, 1.0),
        (lambda value, noise: value - noise, -1.0),
        (lambda value, noise: value + -noise, -1.0),
        (lambda value, noise: np.add(value, noise), 1.0),
        (lambda value, noise: sum([value, noise]), 1.0),
    ],
)
def test_a_sum_has_the_value_and_the_multiple(
    made: Made, sign: float, value: float, scale: float, factor: float
) -> None:
    (call,) = seen(lambda: made(value, factor * RNG.laplace(scale=scale)))
    assert float(np.asarray(call.value)) == value
    assert float(call.scale) == pytest.approx(sign * factor * scale)
    assert call.source == 1


@pytest.mark.parametrize(
    "made",
    [
        lambda values: values + RNG.normal(scale=2.0, size=(2, 3)),
        lambda values: values + RNG.standard_normal((2, 3)) * 2.0,
        lambda values: values + RNG.normal(scale=4.0, size=6).reshape(2, 3) / 2.0,
        lambda values: np.add(values, RNG.normal(scale=2.0, size=(2, 3)), out=values),
        lambda values: values - RNG.normal(scale=2.0, size=6).reshape((2, 3)).copy(),
    ],
)
def test_arrays_are_followed_by_their_elements(made: Callable[[np.ndarray], object]) -> None:
    (call,) = seen(lambda: made(np.arange(6.0).reshape(2, 3)))
    assert np.asarray(call.value).tolist() == np.arange(6.0).reshape(2, 3).tolist()
    assert np.abs(call.scale).tolist() == np.full((2, 3), 2.0).tolist()
    assert call.spots is not None
    assert call.spots.ravel().tolist() == list(range(6))


def test_elements_are_picked_and_listed() -> None:
    def program() -> None:
        noise = RNG.laplace(size=4)
        _ = 1.0 + noise[2]
        _ = [2.0 + each for each in noise.tolist()][:1]
        _ = np.ones(2) + noise[1:3]

    calls = seen(program)
    spots = [call.spots.ravel().tolist() for call in calls if call.spots is not None]
    assert spots == [[2], [0], [1], [2], [3], [1, 2]]


def test_one_number_that_goes_to_a_slice_is_one_noise() -> None:
    (call,) = seen(lambda: np.arange(3.0) + RNG.laplace())
    assert call.spots is not None
    assert call.spots.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "made",
    [
        lambda noise: np.exp(noise),
        lambda noise: noise * noise,
        lambda noise: noise.sum(),
        lambda noise: np.concatenate([noise, noise]),
        lambda noise: "text" if noise[0] > 0.0 else "",
    ],
)
def test_other_arithmetic_gives_plain_numbers(made: Callable[[np.ndarray], object]) -> None:
    with recorded() as tape:
        assert getattr(made(RNG.laplace(size=3)), "drawn", None) is None
    assert [call.kind for call in tape.calls] == ["noise"]


def _written(noise: np.ndarray) -> np.ndarray:
    noise[0] = 7.0
    return noise


def _shuffled(noise: np.ndarray) -> np.ndarray:
    RNG.shuffle(noise)
    return noise


@pytest.mark.parametrize("changed", [np.sort, _written, _shuffled, lambda noise: np.minimum(noise, 0.0)])
def test_noise_that_was_changed_in_its_place_is_not_followed(changed: Callable[[np.ndarray], np.ndarray]) -> None:
    """Ten numbers are in another order, or not the same, for all practical purposes."""
    assert seen(lambda: np.zeros(10) + changed(RNG.laplace(size=10))) == []


def test_noise_that_outlives_its_recording_is_a_plain_number() -> None:
    with recorded() as tape:
        kept = RNG.laplace()
    assert kept + 1.0 == float(kept) + 1.0
    assert len(tape.calls) == 1


def test_the_place_of_the_largest_is_a_choice() -> None:
    with recorded() as tape:
        np.argmax(np.array([1.0, 2.0]) + RNG.gumbel(size=2))
        (np.array([1.0, 2.0]) + RNG.exponential(size=2)).argmax()
    assert [call.law for call in tape.calls if call.kind == "choice"] == ["exponential choice", "permute and flip"]
