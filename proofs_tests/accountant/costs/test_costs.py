"""Costs: bad numbers, the order within a kind, missing conversions, and every conversion against mpmath."""

import math
import operator
from fractions import Fraction

import attrs
import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import ZCDP, ApproxDP, BoundedRange, Cost, NoConversion, PureDP
from accountant.costs.cost_kinds import cost_from_dict
from accountant.costs.curves import (
    ORDERS,
    advanced_epsilon,
    advanced_square_sum,
    bounded_range_divergence,
    bounded_range_epsilon,
    bounded_range_rho,
    pure_rho,
    zcdp_epsilon,
    zcdp_rho,
)
from proofs_tests.support.mechanisms.strategies import any_cost, deltas, epsilons

BAD = [math.nan, math.inf, -math.inf, -1e-300, -1.0]
TIGHT = 1e-9  # relative; a constant off by 10 % misses it by eight digits


@pytest.mark.parametrize("bad", [*BAD, True, "1", None])
@pytest.mark.parametrize("kind", [PureDP, ZCDP, BoundedRange])
def test_bad_numbers_are_refused_even_with_validators_disabled(kind: type[PureDP], bad: float) -> None:
    attrs.validators.set_disabled(True)
    try:
        with pytest.raises((ValueError, TypeError)):
            kind(bad)
    finally:
        attrs.validators.set_disabled(False)


@pytest.mark.parametrize(("epsilon", "delta"), [*((bad, 0.0) for bad in BAD), *((1.0, bad) for bad in BAD), (1.0, 1.0)])
def test_bad_pairs_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        ApproxDP(epsilon, delta)


def test_negative_zero_is_zero() -> None:
    assert str(PureDP(-0.0)) == "PureDP(epsilon=0.0)"


@given(any_cost, any_cost)
def test_order_exists_within_a_kind_only(first: Cost, second: Cost) -> None:
    below = operator.le  # typed as taking anything, where `<=` rightly does not type-check across kinds
    if type(first) is type(second):
        assert below(first, first)
        assert not (below(first, second) and below(second, first)) or first == second
    else:
        with pytest.raises(TypeError):
            below(first, second)


def test_order_of_pairs_is_partial() -> None:
    one, other = ApproxDP(1.0, 0.0), ApproxDP(0.5, 0.1)
    assert not one <= other
    assert not other <= one


def test_missing_conversions_say_so() -> None:
    with pytest.raises(NoConversion, match="ZCDP has no to_pure"):
        ZCDP(0.1).to_pure()  # type: ignore[attr-defined]  # that it does not exist is the test
    with pytest.raises(NoConversion, match="ApproxDP has no to_zcdp"):
        ApproxDP(0.1, 1e-6).to_zcdp()  # type: ignore[attr-defined]  # as above
    with pytest.raises(AttributeError, match="no attribute 'epsilom'"):
        PureDP(1.0).epsilom  # type: ignore[attr-defined]  # noqa: B018 -- as above


@given(any_cost)
def test_books_round_trip(cost: Cost) -> None:
    assert cost_from_dict(cost.as_dict()) == cost


@pytest.mark.parametrize("whole", [1.0, 0.1, 1 / 3, 5e-324, 1e300])
def test_split_fits_for_every_k_and_leaves_no_room_for_one_more(whole: float) -> None:
    for k in range(1, 1001):
        part = Fraction(PureDP(whole).split(k).epsilon)
        assert k * part <= Fraction(whole)
        if whole > 1e-300:  # down there the parts of the smallest float are zero
            assert (k + 1) * part > Fraction(whole)


def rounds_up(ours: float, exact: mp.mpf) -> bool:
    """At or above the exact value, and not above it by more than TIGHT."""
    return bool(exact <= mp.mpf(ours) <= exact * (1 + TIGHT) + mp.mpf(10) ** -300)


@given(epsilons)
def test_pure_rho_is_epsilon_tanh_half_epsilon(epsilon: float) -> None:
    with mp.workdps(60):
        assert rounds_up(pure_rho(epsilon), mp.mpf(epsilon) * mp.tanh(mp.mpf(epsilon) / 2))


@given(epsilons)
def test_bounded_range_rho_is_the_exact_supremum(epsilon: float) -> None:
    with mp.workdps(60):
        e = mp.mpf(epsilon)
        u = e / (1 - mp.exp(-e))
        exact = u - 1 - mp.log(u)
        ours = mp.mpf(bounded_range_rho(epsilon))
        assert exact <= ours <= min(exact * (1 + mp.mpf(10) ** -6), e * e / 8 * (1 + TIGHT))


@pytest.mark.parametrize(("epsilon", "printed"), [(1.0, 0.12330), (2.0, 0.47448), (8.0, 4.923)])
def test_bounded_range_rho_matches_the_printed_table(epsilon: float, printed: float) -> None:
    assert bounded_range_rho(epsilon) == pytest.approx(printed, rel=2e-4)


@given(st.floats(-15.0, 2.0), st.floats(1e-6, 1.0, exclude_max=True))
def test_bounded_range_profile_is_never_below_the_exact_one(log_width: float, share: float) -> None:
    """Widths from 1e-15 to 100, δ up to where ε is zero and near 1: the differences are tiny there."""
    width = 10.0**log_width
    for delta in (share, share * math.tanh(width / 4), 1.0 - share * 1e-6):
        with mp.workdps(60):
            w = mp.mpf(width)
            inner = mp.exp(w / 2) - mp.sqrt(mp.mpf(delta) * mp.expm1(w))
            exact = 2 * mp.log(inner) if inner > 1 else mp.mpf(0)
            assert exact <= mp.mpf(bounded_range_epsilon(width, delta)) + w * mp.mpf(2) ** -70
            assert mp.mpf(bounded_range_epsilon(width, delta)) <= exact * (1 + TIGHT) + mp.mpf(10) ** -13


@given(st.floats(1e-3, 15.0), deltas)
def test_bounded_range_profile_inverts_the_closed_form(width: float, delta: float) -> None:
    ours = bounded_range_epsilon(width, delta)
    with mp.workdps(60):
        w, x = mp.mpf(width), mp.mpf(ours)
        attained = (mp.exp(w / 2) - mp.exp(x / 2)) ** 2 / (mp.exp(w) - 1)
        assert attained <= mp.mpf(delta) * (1 + mp.mpf(10) ** -12) or ours == width
        if ours > 0:
            below = (mp.exp(w / 2) - mp.exp(x * (1 - mp.mpf(10) ** -7) / 2)) ** 2 / (mp.exp(w) - 1)
            assert below > mp.mpf(delta) * (1 - mp.mpf(10) ** -4) or ours == width


def exact_zcdp_epsilon(rho: float, delta: float) -> mp.mpf:
    """The tight conversion by a derivative-free search in 40 digits: another road to the same number."""
    r, log_delta = mp.mpf(rho), mp.log(mp.mpf(delta))

    def at(s: mp.mpf) -> mp.mpf:
        order = 1 + mp.exp(s)
        return r * order + mp.log((order - 1) / order) - (log_delta + mp.log(order)) / (order - 1)

    low, high = mp.mpf(-14), mp.mpf(80)
    golden = (mp.sqrt(5) - 1) / 2
    for _ in range(140):
        a, b = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, b) if at(a) < at(b) else (a, high)
    return at((low + high) / 2)


@given(st.floats(-30.0, 3.0).map(lambda e: 10.0**e), st.floats(-300.0, -0.05).map(lambda e: 10.0**e))
def test_zcdp_conversion_is_the_minimum_over_orders(rho: float, delta: float) -> None:
    with mp.workdps(40):
        exact = exact_zcdp_epsilon(rho, delta)
        ours = mp.mpf(zcdp_epsilon(rho, delta))
        assert max(exact, 0) <= ours
        assert ours <= max(exact, 0) * (1 + mp.mpf(10) ** -7) + mp.mpf(10) ** -9


@given(st.floats(1e-3, 20.0), st.floats(1e-12, 1e-2))
def test_zcdp_budget_is_the_largest_rho_and_never_above(epsilon: float, delta: float) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * (1 + 1e-6), delta) > epsilon * (1 - 1e-9)


@given(st.floats(1e-6, 50.0), st.floats(1e-12, 0.1))
def test_advanced_ceiling_inverts_its_bound(epsilon: float, delta_prime: float) -> None:
    squares = advanced_square_sum(epsilon, delta_prime)
    with mp.workdps(60):
        v = mp.mpf(squares)
        exact = mp.sqrt(2 * mp.log(1 / mp.mpf(delta_prime)) * v) + v / 2
        assert exact <= mp.mpf(epsilon)
        assert exact >= mp.mpf(epsilon) * (1 - TIGHT)
        assert rounds_up(advanced_epsilon(squares, delta_prime), exact)


@pytest.mark.parametrize("width", [0.01, 0.1, 0.5, 1.0, 3.0, 8.0])
def test_bounded_range_renyi_curve_dominates_the_two_point_law(width: float) -> None:
    """The extremal law by brute force over its offset; the closed form must not be below, nor 0.1 % above."""
    curve = bounded_range_divergence(width, ORDERS)
    with mp.workdps(50):
        for k in range(0, ORDERS.size, 57):
            order = mp.mpf(float(ORDERS[k]))
            worst = worst_offset(width, order)
            assert mp.mpf(float(curve[k])) >= worst * (1 - mp.mpf(10) ** -12)
            assert mp.mpf(float(curve[k])) <= worst * (1 + mp.mpf(10) ** -3) + mp.mpf(10) ** -9


def worst_offset(width: float, order: mp.mpf) -> mp.mpf:
    """The largest divergence over the offset: a coarse grid in the logit of the share, then golden section."""

    def at(logit: mp.mpf) -> mp.mpf:
        return two_point_divergence(width, order, 1 / (1 + mp.exp(-logit)))

    best = max(range(-40, 41), key=lambda i: at(mp.mpf(i) / 2))
    low, high = mp.mpf(best - 1) / 2, mp.mpf(best + 1) / 2
    golden = (mp.sqrt(5) - 1) / 2
    for _ in range(60):
        a, b = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, b) if at(a) > at(b) else (a, high)
    return at((low + high) / 2)


def two_point_divergence(width: float, order: mp.mpf, share: mp.mpf) -> mp.mpf:
    """D_α(P‖Q) for losses t and t − width where P puts what normalisation asks; `share` sets the offset."""
    w = mp.mpf(width)
    top = share * w
    # Q has mass q at the larger loss: q e^top + (1 - q) e^(top - w) = 1
    q = (1 - mp.exp(top - w)) / (mp.exp(top) - mp.exp(top - w))
    return mp.log(q * mp.exp(order * top) + (1 - q) * mp.exp(order * (top - w))) / (order - 1)
