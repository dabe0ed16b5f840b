"""Where e^{−ε}·δ is below all floats: convolved prices keep the law that a further release never lowers a price."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accountant.composition.dominating_pairs import epsilon
from accountant.composition.loss_distribution import LARGEST_LOSS, TooFine, from_profile
from accountant.composition.plans import Plan, Step
from accountant.costs import gaussian
from accountant.costs.cost_kinds import GDP, BoundedRange, LaplaceDP, PureDP
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta

Curved = PureDP | LaplaceDP | BoundedRange | GDP
"""Costs with a dominating pair; all but the first convert at δ by that pair's exact curve."""


def _exponents(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


FIRST: st.SearchStrategy[Curved] = st.one_of(
    _exponents(-3.0, 1.5).map(GDP), _exponents(-2.0, 2.8).map(LaplaceDP), _exponents(-2.0, 2.8).map(BoundedRange)
)
SECOND: st.SearchStrategy[Curved] = st.one_of(
    st.sampled_from([PureDP, LaplaceDP, BoundedRange]).flatmap(_exponents(-3.0, 1.4).map),
    _exponents(-3.0, 1.0).map(GDP),
)


@given(FIRST, SECOND, _exponents(-285.0, -0.3))
@example(GDP(17.0), PureDP(1e-3), 1e-148)
@example(GDP(17.0), GDP(0.05), 1e-148)
@example(LaplaceDP(630.0), PureDP(0.1), 1e-50)
@example(BoundedRange(640.0), PureDP(0.1), 1e-250)
def test_a_further_release_never_lowers_a_price(first: Curved, second: Curved, delta: float) -> None:
    """Each alone is priced by its exact curve."""
    try:
        both = epsilon([(first, 1), (second, 1)], delta)
    except TooFine:
        return
    for cost in (first, second):
        if both is not None and not isinstance(cost, PureDP):
            assert both >= cost.to_approx(delta=delta).epsilon * (1.0 - 1e-9)


@pytest.mark.parametrize(
    ("mu", "pure", "delta"), [(17.0, 1e-3, 1e-148), (17.0, 2.0, 1e-148), (4.0, 0.01, 1e-270), (30.0, 0.5, 1e-3)]
)
def test_a_gaussian_and_a_pure_release_are_their_enumeration(mu: float, pure: float, delta: float) -> None:
    """δ(ε) = Σ p·δ_μ(ε − loss) over the two outcomes of randomized response; within 1 % of ε."""
    found = Plan([Step(GDP(mu), 1), Step(PureDP(pure), 1)]).route("pld", delta)
    assert found is not None

    def truth(target: float) -> mp.mpf:
        with mp.workdps(400):
            right = 1 / (1 + mp.exp(-mp.mpf(pure)))
            return right * gaussian_delta(mu, target - pure) + (1 - right) * gaussian_delta(mu, target + pure)

    assert truth(found) <= delta < truth(found / 1.01)


def test_masses_are_those_of_the_curve_however_small() -> None:
    """Σ mass·(1 − e^{x − loss})⁺ is δ(x) on the grid; at the right end of this one e^{−loss}·mass is no float."""
    mu, step = 17.0, 0.05
    found = from_profile(lambda losses: gaussian.profile(mu, losses), -650.0, 650.0, step)
    assert math.log(float(found.masses[-2])) - float(found.losses[-2]) < -800.0
    assert found.losses[-1] <= LARGEST_LOSS
    for place in range(0, found.masses.size - 1, 1301):
        further = found.losses[place:] - found.losses[place]
        kept = float(np.sum(found.masses[place:] * -np.expm1(-further))) + found.infinity
        assert kept == pytest.approx(float(gaussian.profile(mu, found.losses[place : place + 1])[0]), rel=1e-10)
