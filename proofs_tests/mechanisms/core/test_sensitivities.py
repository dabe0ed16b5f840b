"""Every fixed sensitivity is reached: what is charged is at most a fiftieth above what a pair of neighbours moves."""

import pytest

from proofs_tests.support.mechanisms.sensitivities import Charged, all_sensitivities

ALL = tuple(all_sensitivities())


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_no_sensitivity_is_below_a_known_move_or_a_fiftieth_above_it(each: Charged) -> None:
    assert 1.0 - 1e-12 <= each.ratio <= 1.02
    assert 0.9 * each.charged < each.moved  # a tenth less would be refuted
