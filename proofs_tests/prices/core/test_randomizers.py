"""Scales at the ends of their range, and η·Δ, never below and hardly above."""

import math
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from accountant import PureDP
from accountant.arrays import FloatArray
from mechanisms.additive import GammaNormNoise, GaussianNoise, LaplaceNoise
from mechanisms.core.randomizers import LARGEST_SCALE, Randomizer, finite, loss, price_of, refuse_old_override, scale
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity, Sensitivity
from mechanisms.gradients.tree_gradients import LevelChoice
from mechanisms.randomness import NoiseSource
from mechanisms.selection.leaf_labels import LeafLabelChoice
from mechanisms.selection.noisy_choice import ExponentialChoice, NoisyMaxChoice, PermuteAndFlipChoice
from proofs_tests.support.mechanisms.just_above import just_above, spread

A = TypeVar("A")
B = TypeVar("B")


def test_scales_end_at_two_to_the_thousand() -> None:
    assert LARGEST_SCALE == 2.0**1000
    for inside in (2.0**-1000, 1e-9, 1.0, 2.0**1000, np.float64(3.0)):
        assert scale(inside) == inside
    outside = (math.nextafter(2.0**-1000, 0.0), math.nextafter(2.0**1000, math.inf), 0.0, -1.0, math.inf, math.nan)
    for value in outside:
        with pytest.raises(ValueError, match="expected a"):
            scale(value)
    with pytest.raises(TypeError):
        scale(True)


@pytest.mark.parametrize("eta", spread(1.1e-9, 7.3e8, 5))
@pytest.mark.parametrize("sensitivity", [2.0, 0.1, 1e-300, 3.7e17])
def test_a_loss_is_the_product(eta: float, sensitivity: float) -> None:
    for kind in (RangeSensitivity, L1Sensitivity, LInfSensitivity):
        just_above(loss(eta, kind(sensitivity)), Fraction(eta) * Fraction(sensitivity))


def test_what_does_not_depend_on_the_data_costs_nothing() -> None:
    assert loss(3.0, RangeSensitivity(0.0)) == 0.0
    assert loss(3.0, RangeSensitivity(5e-324)) > 0.0


def test_a_law_is_asked_of_randomizers_that_have_one() -> None:
    randomizer = ExponentialChoice(1.0)
    assert finite(randomizer) is randomizer
    with pytest.raises(TypeError, match="gives no log_probabilities"):
        finite(object())  # type: ignore[arg-type]  # the point of the test
    assert issubclass(ExponentialChoice, Randomizer)


TAKES = (
    (LaplaceNoise, L1Sensitivity),
    (GaussianNoise, L2Sensitivity),
    (GammaNormNoise, L2Sensitivity),
    (ExponentialChoice, RangeSensitivity),
    (NoisyMaxChoice, RangeSensitivity),
    (PermuteAndFlipChoice, RangeSensitivity),
    (LeafLabelChoice, L1Sensitivity),
    (LevelChoice, RangeSensitivity),
)
NORMS = (L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity)


@pytest.mark.parametrize(("randomizer", "takes"), TAKES)
def test_a_randomizer_is_priced_in_its_own_norm_alone(randomizer: Any, takes: type) -> None:
    """In d dimensions the bound of another may be √d, or d, times too small for it."""
    assert randomizer.takes is takes
    made: Any = (
        randomizer(1.0) if randomizer is not LevelChoice else object.__new__(randomizer)
    )  # which is of many parts
    for norm in NORMS:
        if norm is not takes:
            with pytest.raises(TypeError, match=f"query 'mine': .* noise needs its sensitivity in {takes.norm}, as "):
                price_of(made, norm(1.0), "mine")
        elif randomizer is not LevelChoice:
            assert price_of(made, norm(0.7), "mine") == made.cost(norm(0.7))
    with pytest.raises(TypeError, match="in float"):
        price_of(made, 1.0, "mine")


class _Anybodys(Randomizer[FloatArray, Sensitivity, FloatArray]):
    name, claims, parameters = "Anybody's", (), ()

    def cost(self, sensitivity: Sensitivity) -> PureDP:
        return PureDP(sensitivity.value)

    def draw(self, value: FloatArray, noise: NoiseSource) -> FloatArray:
        return value


class _Ours(LaplaceNoise):
    """A randomizer of another one's kind."""


class _Pair(Generic[A, B]):
    """Something else that has type arguments."""


class _Mixed(LaplaceNoise, _Pair[int, L2Sensitivity]):
    """What it inherits besides says nothing about its noise."""


def test_only_the_randomizers_own_arguments_say_what_it_takes() -> None:
    assert _Mixed.takes is L1Sensitivity


def test_a_randomizer_that_names_no_norm_is_its_authors_and_one_below_another_is_like_it() -> None:
    assert _Anybodys.takes is None
    assert price_of(_Anybodys(), L2Sensitivity(0.3), "mine") == PureDP(0.3)
    ours: Any = _Ours(1.0)
    assert ours.takes is L1Sensitivity
    with pytest.raises(TypeError, match="needs its sensitivity in l1"):
        price_of(ours, L2Sensitivity(0.3), "mine")


def test_what_overrides_the_kernel_is_refused_and_nothing_else() -> None:
    with pytest.raises(TypeError, match="Old: a mechanism's kernel is called its randomizer now"):
        refuse_old_override(type("Old", (), {"kernel": 1}))
    refuse_old_override(type("New", (), {"randomizer": 1}))
