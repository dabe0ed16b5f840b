"""Scales and distances ζ that no mechanism takes."""

import math
from collections.abc import Callable, Sequence

import pytest


def refuses_scales(makers: Sequence[Callable[[float, float], object]], *, certified: int) -> None:
    """Each maker takes a scale, or its inverse, and a ζ; the first `certified` of them look at ζ."""
    for make in makers:
        for scale in (0.0, -1.0, math.inf, math.nan, 2.0**1001, 2.0**-1001):
            with pytest.raises(ValueError, match="expected a"):
                make(scale, 0.5)
    for make in makers[:certified]:
        for zeta in (0.0, 1.5, math.nan):
            with pytest.raises(ValueError, match="expected a"):
                make(1.0, zeta)
