"""Scales at the ends of their range, and η·Δ, never below and hardly above."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.core.kernels import LARGEST_SCALE, Kernel, finite, loss, scale
from mechanisms.core.sensitivity import L1Sensitivity, LInfSensitivity, RangeSensitivity
from mechanisms.selection.noisy_choice import ExponentialKernel
from proofs_tests.support.mechanisms.just_above import just_above, spread


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


def test_a_law_is_asked_of_kernels_that_have_one() -> None:
    kernel = ExponentialKernel(1.0)
    assert finite(kernel) is kernel
    with pytest.raises(TypeError, match="gives no log_probabilities"):
        finite(object())  # type: ignore[arg-type]  # the point of the test
    assert issubclass(ExponentialKernel, Kernel)
