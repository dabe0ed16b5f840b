"""Conversions between norms, each against the vectors that attain it."""

from fractions import Fraction

import pytest

from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity
from proofs_tests.support.mechanisms.just_above import just_above

KINDS = (RangeSensitivity, LInfSensitivity, L2Sensitivity, L1Sensitivity)


@pytest.mark.parametrize("value", [0.3, 1.0, 1e-9, 7e12])
def test_one_score_rises_and_another_falls(value: float) -> None:
    just_above(LInfSensitivity(value).to_range().value, 2 * Fraction(value))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, 7e12])
def test_a_change_of_one_coordinate_has_all_norms_alike(value: float) -> None:
    assert L2Sensitivity(value).to_linf() == LInfSensitivity(value)
    assert L1Sensitivity(value).to_l2() == L2Sensitivity(value)
    assert L1Sensitivity(value).to_linf() == LInfSensitivity(value)


def test_norms_are_not_mixed_up_and_not_negative() -> None:
    assert [kind.norm for kind in KINDS] == ["range", "linf", "l2", "l1"]
    for kind in KINDS:
        with pytest.raises(ValueError, match="non-negative"):
            kind(-1e-300)
        with pytest.raises(ValueError, match="non-negative"):
            kind(float("inf"))
