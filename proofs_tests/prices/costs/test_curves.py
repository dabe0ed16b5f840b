"""Formulas behind the conversions against their definitions in sixty digits, by enumeration and by quadrature."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from accountant.costs.curves import (
    ABSOLUTE,
    LARGEST_BUDGET,
    ORDERS,
    advanced_epsilon,
    advanced_square_sum,
    bounded_range_divergence,
    bounded_range_epsilon,
    bounded_range_rho,
    bun_steinke_epsilon,
    laplace_divergence,
    laplace_epsilon,
    laplace_profile,
    laplace_rho,
    pure_rho,
    renyi_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from accountant.costs.rounding import SLACK, BeyondFloats
from proofs_tests.support.mechanisms.just_above import just_above, just_below

WIDTHS = (1e-150, 1e-9, 3.3e-4, 0.0078, 0.0079, 0.05, 0.31, 0.97, 1.0, 1.03, 1.9, 2.7, 11.0, 90.0, 650.0, 1e5, 1e150)
DELTAS = (1e-300, 1e-15, 3.3e-7, 1e-3, 0.2, 0.7, 1.0 - 1e-9)
ORDERS_SEEN = (1.001, 1.03, 1.5, 2.0, 7.0, 40.0, 1e3, 1e6)


def test_the_constants() -> None:
    assert ABSOLUTE == 2.0**-46
    assert LARGEST_BUDGET == 2.0**900
    assert ORDERS.shape == (400,)
    assert np.all(np.diff(ORDERS) > 0.0)
    assert (ORDERS[0] - 1.0, ORDERS[-1]) == pytest.approx((1e-3, 1e6 + 1.0), rel=1e-9)


# --- ρ of one release ---------------------------------------------------------------------------------------------


def _pure(epsilon: mp.mpf) -> mp.mpf:
    """Of randomized response its Kullback–Leibler divergence."""
    truth = 1 / (1 + mp.exp(-epsilon))
    return (2 * truth - 1) * epsilon


def _bounded_range(width: mp.mpf) -> mp.mpf:
    u = width / -mp.expm1(-width)
    return u - 1 - mp.log(u)


def _laplace(epsilon: mp.mpf) -> mp.mpf:
    return epsilon + mp.expm1(-epsilon)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("rho", "truth", "within"),
    [(pure_rho, _pure, 3e-12), (bounded_range_rho, _bounded_range, 2e-6), (laplace_rho, _laplace, 3e-12)],
)
def test_rho_is_its_formula(
    width: float, rho: Callable[[float], float], truth: Callable[[mp.mpf], mp.mpf], within: float
) -> None:
    with mp.workdps(400):
        just_above(rho(width), truth(mp.mpf(width)), within if width < 0.0078125 else 3e-12)
    assert rho(0.0) == 0.0


def test_a_small_width_has_an_eighth_of_its_square() -> None:
    """The switch is where cancellation is below the slack, and the eighth above the truth by a millionth."""
    border = 2.0**-7
    just_above(bounded_range_rho(border), _bounded_range(mp.mpf(border)), within=3e-12)
    below = math.nextafter(border, 0.0)
    just_above(bounded_range_rho(below), mp.mpf(below) ** 2 / 8)


def test_no_order_of_two_point_laws_exceeds_the_rho_of_their_class() -> None:
    """D_α/α of every offset t of a release of bounded range, and of randomized response, α as near 1 as one likes."""
    for width in (0.05, 0.31, 1.0, 2.7, 11.0):
        w, largest, pure = mp.mpf(width), mp.mpf(0), mp.mpf(0)
        for order in (mp.mpf(1) + mp.mpf(10) ** -12, mp.mpf("1.5"), mp.mpf(7)):
            for place in range(1, 200):
                t = w * place / 200
                p = mp.expm1(w - t) / (mp.exp(w - t) - mp.exp(-t))
                moment = p * mp.exp((order - 1) * t) + (1 - p) * mp.exp((order - 1) * (t - w))
                largest = max(largest, mp.log(moment) / (order - 1) / order)
            truth = 1 / (1 + mp.exp(-w))
            moment = truth * mp.exp((order - 1) * w) + (1 - truth) * mp.exp(-(order - 1) * w)
            pure = max(pure, mp.log(moment) / (order - 1) / order)
        just_above(bounded_range_rho(width), largest, within=1e-3)
        just_above(pure_rho(width), pure, within=1e-9)


# --- the ε of one release at δ ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delta", DELTAS)
def test_one_release_of_bounded_range_has_its_exact_epsilon(width: float, delta: float) -> None:
    with mp.workdps(450 if width < 1e5 else 60):
        w, d = mp.mpf(width), mp.mpf(delta)
        # √(δ(e^w − 1)) e^{−w/2}, so that nothing is larger than a float's exponent allows.
        truth = max(mp.mpf(0), w + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-w))))
        just_above(bounded_range_epsilon(width, delta), min(truth, w), absolute=1.5 * ABSOLUTE)
    assert bounded_range_epsilon(width, delta) <= width


def test_the_head_room_of_one_release_is_what_is_said() -> None:
    """ABSOLUTE, and 2^-50 of the width, beside the slack, twice, of what is left."""
    for width, delta in ((1.0, 0.03), (3.0, 0.01), (0.2, 0.001)):
        w, d = mp.mpf(width), mp.mpf(delta)
        truth = w + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-w)))
        room = truth * mp.mpf(2) ** -39 + mp.mpf(ABSOLUTE) + w * mp.mpf(2) ** -50
        assert room * mp.mpf("0.95") <= bounded_range_epsilon(width, delta) - truth <= room * mp.mpf("1.05")


def _delta_at(width: float, epsilon: float) -> float:
    """(e^{w/2} − e^{x/2})²/(e^w − 1), the profile of the class."""
    with mp.workdps(120):
        w, x = mp.mpf(width), mp.mpf(epsilon)
        return float((mp.exp(w / 2) - mp.exp(x / 2)) ** 2 / mp.expm1(w))


@pytest.mark.parametrize("width", [17.0, 25.0, 33.3, 41.7, 50.0, 58.1, 66.6, 70.0])
def test_an_epsilon_near_nothing_of_a_wide_release_stays_above_by_what_is_said(width: float) -> None:
    """There width + 2 ln … cancels, and what covers it is 2^-50 of the width beside ABSOLUTE."""
    for target in (1e-3, 1e-2, 3e-2, 1e-1, 0.3):
        delta = _delta_at(width, target)
        with mp.workdps(120):
            w, d = mp.mpf(width), mp.mpf(delta)
            truth = w + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-w)))
        room = ABSOLUTE + width * 2.0**-50
        if 0.0 < truth < 0.5:
            extra = bounded_range_epsilon(width, delta) - truth - truth * mp.mpf(2) ** -39
            assert 0.7 * room <= extra <= 1.3 * room


def test_the_absolute_head_room_of_one_release_is_what_is_said() -> None:
    delta = _delta_at(0.2, 1e-4)
    truth = mp.mpf(0.2) + 2 * mp.log(1 - mp.sqrt(mp.mpf(delta) * -mp.expm1(-mp.mpf(0.2))))
    assert 0.9 * ABSOLUTE <= bounded_range_epsilon(0.2, delta) - truth <= 1.2 * ABSOLUTE


def test_where_an_epsilon_is_the_small_difference_of_large_numbers_it_stays_above() -> None:
    for width in (40.0, 200.0, 600.0, 5000.0):
        for gap in (1e-3, 1e-6, 1e-9, 1e-11):
            delta = 1.0 - gap
            if delta < 1.0:
                w, d = mp.mpf(width), mp.mpf(delta)
                truth = max(mp.mpf(0), w + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-w))))
                just_above(bounded_range_epsilon(width, delta), truth, absolute=width * 2.0**-49 + 2 * ABSOLUTE)


@pytest.mark.parametrize("epsilon_of", [bounded_range_epsilon, laplace_epsilon])
def test_one_release_at_the_ends(epsilon_of: Callable[[float, float], float]) -> None:
    for width in (0.0, 0.3, 50.0, 1e300):
        assert epsilon_of(width, 0.0) == width
    assert epsilon_of(0.0, 0.3) == 0.0
    assert epsilon_of(0.1, 0.9) <= ABSOLUTE
    assert epsilon_of(1e-5, 1e-3) <= ABSOLUTE
    assert epsilon_of(1e300, math.nextafter(1.0, 0.0)) <= 1e300
    for wrong in (-1e-9, 1.0, 1.5, math.nan):
        with pytest.raises(ValueError, match="delta must be"):
            epsilon_of(1.0, wrong)
        with pytest.raises(ValueError, match="delta must be"):
            epsilon_of(0.0, wrong)


@pytest.mark.parametrize("epsilon", WIDTHS)
@pytest.mark.parametrize("delta", DELTAS)
def test_one_release_of_laplace_noise_has_its_exact_epsilon(epsilon: float, delta: float) -> None:
    with mp.workdps(450 if epsilon < 1e5 else 60):
        truth = max(mp.mpf(0), mp.mpf(epsilon) + 2 * mp.log(1 - mp.mpf(delta)))
        just_above(laplace_epsilon(epsilon, delta), truth, absolute=1.5 * ABSOLUTE)
    assert laplace_epsilon(epsilon, delta) <= epsilon


def test_the_head_room_of_laplace_noise_is_what_is_said() -> None:
    for epsilon, delta in ((1.0, 0.3), (3.0, 0.01), (0.2, 0.001)):
        truth = mp.mpf(epsilon) + 2 * mp.log(1 - mp.mpf(delta))
        room = truth * mp.mpf(2) ** -40 + mp.mpf(ABSOLUTE)
        assert room * mp.mpf("0.95") <= laplace_epsilon(epsilon, delta) - truth <= room * mp.mpf("1.05")


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2.0, 9.0])
def test_the_profile_of_laplace_noise_is_that_of_its_densities(epsilon: float) -> None:
    """P(p > e^x q) − e^x Q(p > e^x q), in closed form: the loss is ε − 2z between the centres, and flat outside."""
    losses = [share * epsilon for share in (-1.7, -1.0, -0.6, 0.0, 0.3, 0.9, 0.999, 1.0, 1.2)]
    for loss, value in zip(losses, laplace_profile(epsilon, np.array(losses)).tolist(), strict=True):
        e, x = mp.mpf(epsilon), mp.mpf(loss)
        if x >= e:
            truth = mp.mpf(0)
        elif x < -e:
            truth = -mp.expm1(x)
        else:  # outcomes beyond z = (ε − x)/2 on p's side, p around 0 and q around ε
            z = (e - x) / 2
            truth = (1 - mp.exp(-z) / 2) - mp.exp(x) * mp.exp(z - e) / 2
        assert value == pytest.approx(float(truth), rel=1e-12, abs=1e-300)


# --- Rényi curves -------------------------------------------------------------------------------------------------


def _renyi_of_range(width: float, order: float) -> mp.mpf:
    """The largest over all offsets t, by golden section."""
    w, a = mp.mpf(width), mp.mpf(order)

    def moment(t: mp.mpf) -> mp.mpf:
        p = mp.expm1(w - t) / (mp.exp(w - t) - mp.exp(-t))
        return p * mp.exp((a - 1) * t) + (1 - p) * mp.exp((a - 1) * (t - w))

    low, high, ratio = mp.mpf(0), w, (mp.sqrt(5) - 1) / 2
    for _ in range(75):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (first, high) if moment(first) < moment(second) else (low, second)
    return mp.log(moment((low + high) / 2)) / (a - 1)


def _renyi_of_laplace(epsilon: float, order: float) -> mp.mpf:
    e, a = mp.mpf(epsilon), mp.mpf(order)
    return mp.log(a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)) / (a - 1)


@pytest.mark.parametrize("width", [1e-3, 0.0099, 0.05, 0.31, 1.0, 2.7, 11.0, 60.0])
def test_the_curve_of_bounded_range_is_that_of_its_worst_mechanism(width: float) -> None:
    found = bounded_range_divergence(width, np.array(ORDERS_SEEN))
    for order, value in zip(ORDERS_SEEN, found.tolist(), strict=True):
        with mp.workdps(40):
            truth = _renyi_of_range(width, order)
            # Of the two the smaller is taken, so the cap holds the price where the curve's own room is larger.
            room = (1e-15 * (abs(math.log(order - 1.0)) + 1.0 + width * order) * order / (order - 1.0)) / float(truth)
            just_above(value * (1.0 + 1e-15), truth, within=1.5 * room + 1e-12 if width >= 0.05 else 4e-3)
        assert value <= min(width, bounded_range_rho(width) * order)


@pytest.mark.parametrize("width", [1.0, 4.0])
def test_the_head_room_of_the_curve_of_bounded_range_is_what_is_said(width: float) -> None:
    """1e-15·(|ln A| + |ln(α − 1)| + 1)·α/(α − 1), read where rounding itself is a small part of it on average."""
    orders = np.array([1.03, 1.07, 1.2, 1.5, 1.9, 2.0, 2.1, 2.7, 3.6, 5.0, 8.0])
    shares = []
    for order, value in zip(orders.tolist(), bounded_range_divergence(width, orders).tolist(), strict=True):
        if value < min(width, bounded_range_rho(width) * order):
            log_a = width * (order - 1) + math.log(-math.expm1(-width * order)) - math.log(-math.expm1(-width))
            room = 1e-15 * (abs(log_a) + abs(math.log(order - 1.0)) + 1.0) * order / (order - 1.0)
            with mp.workdps(60):
                shares.append(float((mp.mpf(value) - _renyi_of_range(width, order)) / room))
    assert len(shares) >= 6
    assert min(shares) > 0.5
    assert np.mean(shares) == pytest.approx(1.0, abs=0.15)


def test_the_curve_of_bounded_range_is_capped() -> None:
    for width in (0.0, 1e-9, 0.99e-3, 0.3, 50.0, 1e6, 2.0**901):
        curve = bounded_range_divergence(width, ORDERS)
        cap = np.minimum(bounded_range_rho(width) * ORDERS, width)
        assert curve.shape == ORDERS.shape
        assert np.all(curve <= cap)
        assert np.all(np.isfinite(curve))
        if not 1e-3 <= width < LARGEST_BUDGET:
            assert curve.tolist() == cap.tolist()
    assert np.any(bounded_range_divergence(1e-3, ORDERS) < 0.99999 * np.minimum(bounded_range_rho(1e-3) * ORDERS, 1e-3))
    assert bounded_range_divergence(3e4, np.array([2.0]))[0] < 3e4


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.0099, 0.05, 0.31, 1.0, 2.7, 11.0, 60.0, 1e4])
def test_the_curve_of_laplace_noise_is_that_of_its_densities(epsilon: float) -> None:
    found = laplace_divergence(epsilon, np.array(ORDERS_SEEN))
    for order, value in zip(ORDERS_SEEN, found.tolist(), strict=True):
        with mp.workdps(80):
            truth = _renyi_of_laplace(epsilon, order)
            room = 2e-15 * epsilon / float(truth)
            just_above(value * (1.0 + 1e-15), truth, within=room + 3e-12)
        assert value <= min(epsilon, laplace_rho(epsilon) * order)
    assert np.all(laplace_divergence(0.0, ORDERS) == 0.0)


# --- ρ and ε ------------------------------------------------------------------------------------------------------

RHOS = (1e-250, 1e-30, 1e-9, 1e-4, 0.013, 0.4, 3.0, 70.0, 1e4, 1e9, 0.99e100, 1.01e100, 1e200)


def _tight(rho: float, delta: float) -> mp.mpf:
    """The least over orders 1 + e^s, by golden section on a function that has one minimum in s."""
    r, d = mp.mpf(rho), mp.mpf(delta)

    def at(s: mp.mpf) -> mp.mpf:
        excess = mp.exp(s)
        order = 1 + excess
        return r * order + mp.log(excess / order) - (mp.log(d) + mp.log(order)) / excess

    low, high, ratio = mp.mpf(-12), mp.mpf(40), (mp.sqrt(5) - 1) / 2
    for _ in range(75):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, second) if at(first) < at(second) else (first, high)
    return max(mp.mpf(0), at((low + high) / 2))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", [1e-300, 1e-15, 3.3e-7, 1e-3, 0.2, 0.9])
def test_zcdp_is_read_at_the_best_order(rho: float, delta: float) -> None:
    truth = min(_tight(rho, delta), mp.mpf(rho) + 2 * mp.sqrt(mp.mpf(rho) * -mp.log(mp.mpf(delta))))
    just_above(zcdp_epsilon(rho, delta), truth, within=1e-10, absolute=1.5 * ABSOLUTE)
    just_above(bun_steinke_epsilon(rho, delta), mp.mpf(rho) + 2 * mp.sqrt(mp.mpf(rho) * -mp.log(mp.mpf(delta))))
    assert zcdp_epsilon(rho, delta) <= bun_steinke_epsilon(rho, delta)


def test_the_head_room_of_the_tight_conversion_is_what_is_said() -> None:
    for rho, delta in ((0.013, 1e-6), (0.4, 1e-3), (70.0, 1e-9), (1e5, 1e-6)):
        truth = _tight(rho, delta)
        room = truth * mp.mpf(2) ** -40 + mp.mpf(ABSOLUTE) + mp.mpf(rho) * mp.mpf(10) ** -12
        assert room * mp.mpf("0.9") <= zcdp_epsilon(rho, delta) - truth <= room * mp.mpf("1.3")


def test_the_conversion_at_the_ends() -> None:
    assert zcdp_epsilon(0.0, 0.5) == 0.0
    assert bun_steinke_epsilon(0.0, 0.5) <= 1e-300
    assert zcdp_epsilon(1e-9, 0.999) <= ABSOLUTE
    for wrong in (0.0, 1.0, -0.1, math.nan):
        for call in (zcdp_epsilon, bun_steinke_epsilon, zcdp_rho, advanced_epsilon, advanced_square_sum):
            with pytest.raises(ValueError, match=r"\(0, 1\)"):
                call(0.5, wrong)
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            renyi_epsilon(ORDERS, ORDERS, wrong)
    for wrong in (-1.0, math.inf, math.nan):
        for call in (zcdp_epsilon, bun_steinke_epsilon, zcdp_rho):
            with pytest.raises(ValueError, match="non-negative"):
                call(wrong, 0.5)
    with pytest.raises(BeyondFloats):
        bun_steinke_epsilon(1.79e308, 1e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.3, 1.0, 8.0, 700.0, 1e9, 1e120])
@pytest.mark.parametrize("delta", [1e-300, 1e-15, 3.3e-7, 1e-3, 0.2])
def test_the_largest_rho_keeps_its_budget_and_hardly_more_would(epsilon: float, delta: float) -> None:
    rho = zcdp_rho(epsilon, delta)
    truth = min(_tight(rho, delta), mp.mpf(rho) + 2 * mp.sqrt(mp.mpf(rho) * -mp.log(mp.mpf(delta))))
    assert truth <= epsilon
    more = rho * (1.0 + 1e-9)
    assert zcdp_epsilon(more, delta) > epsilon


def test_the_largest_rho_at_the_ends() -> None:
    assert zcdp_rho(0.0, 1e-6) == 0.0
    assert zcdp_rho(1e-300, 1e-6) == 0.0
    assert 0.0 < zcdp_rho(1e-12, 1e-6) < 2e-12
    assert zcdp_rho(1.7e308, 1e-6) == zcdp_rho(LARGEST_BUDGET, 1e-6) <= LARGEST_BUDGET
    assert zcdp_rho(1.7e308, 1e-6) > 0.99 * LARGEST_BUDGET


def test_curves_are_read_at_the_best_of_their_orders() -> None:
    orders = np.array([1.5, 3.0, 20.0, 300.0])
    for rho, delta in ((0.01, 1e-6), (1.0, 1e-6), (0.3, 0.2), (20.0, 1e-300)):
        divergences = rho * orders
        with mp.workdps(60):
            truth = min(
                mp.mpf(float(each))
                + mp.log((mp.mpf(order) - 1) / order)
                - (mp.log(mp.mpf(delta)) + mp.log(mp.mpf(order))) / (mp.mpf(order) - 1)
                for order, each in zip(orders.tolist(), divergences, strict=True)
            )
            just_above(renyi_epsilon(divergences, orders, delta), max(truth, mp.mpf(0)), absolute=1.5 * ABSOLUTE)
    assert renyi_epsilon(np.zeros(4), orders, 0.9) == ABSOLUTE
    just_above(renyi_epsilon(0.3 * orders, orders, 0.1) - ABSOLUTE * 0.9, 0.0, absolute=3.0)


def test_the_head_room_of_curves_is_what_is_said() -> None:
    order, delta = 3.0, 0.05
    truth = mp.mpf("1e-3") + mp.log(mp.mpf(2) / 3) - (mp.log(mp.mpf(delta)) + mp.log(mp.mpf(3))) / 2
    room = truth * mp.mpf(2) ** -40 + mp.mpf(ABSOLUTE)
    found = renyi_epsilon(np.array([1e-3]), np.array([order]), delta)
    assert room * mp.mpf("0.9") <= found - truth <= room * mp.mpf("1.1")


# --- the formula of the textbooks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("square_sum", [1e-300, 1e-9, 0.02, 1.0, 50.0, 1e200])
@pytest.mark.parametrize("delta", [1e-300, 1e-9, 1e-3, 0.6])
def test_advanced_composition_is_its_formula_and_its_inverse(square_sum: float, delta: float) -> None:
    v, d = mp.mpf(square_sum), mp.mpf(delta)
    just_above(advanced_epsilon(square_sum, delta), mp.sqrt(-2 * mp.log(d) * v) + v / 2)
    epsilon = math.sqrt(square_sum) if square_sum < 1e100 else square_sum
    e, log_term = mp.mpf(epsilon), -2 * mp.log(d)
    with mp.workdps(400):
        root = mp.sqrt(log_term + 2 * e) - mp.sqrt(log_term)
        just_below(advanced_square_sum(epsilon, delta), root**2, within=5e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 5.0])
def test_a_sum_of_squares_is_rounded_down_twice(epsilon: float) -> None:
    with mp.workdps(60):
        log_term = -2 * mp.log(mp.mpf(1e-5))
        exact = (mp.sqrt(log_term + 2 * mp.mpf(epsilon)) - mp.sqrt(log_term)) ** 2
        assert float(1 - advanced_square_sum(epsilon, 1e-5) / exact) == pytest.approx(2.0 * SLACK, rel=0.01, abs=0.0)


def test_advanced_composition_at_the_ends() -> None:
    assert advanced_square_sum(0.0, 1e-5) == 0.0
    assert advanced_square_sum(1e-200, 1e-5) == 0.0
    assert advanced_square_sum(1.7e308, 1e-5) == advanced_square_sum(LARGEST_BUDGET, 1e-5)
    assert advanced_square_sum(1.7e308, 1e-5) == pytest.approx(2.0 * LARGEST_BUDGET, rel=1e-11)
    assert 0.0 <= advanced_epsilon(0.0, 1e-5) < 1e-300
