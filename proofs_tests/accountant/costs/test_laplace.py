"""What Laplace noise costs: its profile, its Rényi curve, and what it stands for. [laplace-dp]"""

import math

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import LaplaceDpEvent, NeighboringRelation
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    ApproxDP,
    BasicComposition,
    LaplaceDP,
    NoConversion,
    Plan,
    PureDP,
    Step,
)
from accountant.costs.cost_kinds import cost_from_dict
from accountant.costs.curves import laplace_divergence, laplace_epsilon, laplace_profile, laplace_rho
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness.divergence import laplace_shift
from proofs_tests.harness.neighbours import Pair

EPSILONS = [1e-9, 1e-4, 0.01, 0.3, 0.999, 1.0, 1.001, 3.0, 20.0, 600.0]


def _density(x: mp.mpf, shift: mp.mpf) -> mp.mpf:
    return mp.exp(-abs(x - shift)) / 2


def _delta(shift: float, loss: float) -> mp.mpf:
    """∫ (p − e^x q)⁺ by quadrature, p around the shift and q around 0."""
    s, x = mp.mpf(shift), mp.mpf(loss)

    def excess(z: mp.mpf) -> mp.mpf:
        return max(mp.mpf(0), _density(z, s) - mp.exp(x) * _density(z, mp.mpf(0)))

    crossing = sorted({mp.mpf(0), s, min(max((s + x) / 2, mp.mpf(0)), s)})
    return mp.quad(excess, [-40, *crossing, s + 40])


@pytest.mark.parametrize("shift", [0.05, 0.7, 2.0])
@pytest.mark.parametrize("part", [-1.5, -1.0, -0.4, 0.0, 0.3, 0.9, 1.0, 1.2])
def test_the_profile_is_the_integral(shift: float, part: float) -> None:
    found = float(laplace_profile(shift, np.array([part * shift]))[0])
    assert found == pytest.approx(float(_delta(shift, part * shift)), rel=1e-9, abs=1e-12)


@given(st.floats(1e-6, 30.0), st.floats(1e-12, 0.9))
def test_epsilon_is_the_inverse_of_the_profile_rounded_up(shift: float, delta: float) -> None:
    with mp.workdps(40):
        exact = max(mp.mpf(0), mp.mpf(shift) + 2 * mp.log(1 - mp.mpf(delta)))
    found = laplace_epsilon(shift, delta)
    assert exact <= found <= exact + 1e-11 * (1 + shift)
    assert float(laplace_profile(shift, np.array([found]))[0]) <= delta * (1 + 1e-9)


def test_at_delta_0_it_is_pure() -> None:
    assert LaplaceDP(0.7).to_approx() == ApproxDP(0.7, 0.0)
    assert LaplaceDP(0.7).to_pure() == PureDP(0.7)
    assert LaplaceDP(0.7).to_approx(delta=0.6).epsilon == 0.0
    with pytest.raises(ValueError, match="delta"):
        laplace_epsilon(1.0, 1.0)


def test_it_is_written_and_read_as_a_kind_of_its_own() -> None:
    assert cost_from_dict(LaplaceDP(0.7).as_dict()) == LaplaceDP(0.7)
    assert LaplaceDP(0.7).as_dict() == {"kind": "laplace-dp", "epsilon": 0.7}
    assert LaplaceDP(0.7).split(3).epsilon * 3 <= 0.7
    with pytest.raises(NoConversion):
        PureDP(0.7).to_laplace()  # type: ignore[attr-defined]  # there is no such conversion, which is the point


# --- the Rényi curve ----------------------------------------------------------------------------------------------


def _renyi(epsilon: float, order: mp.mpf) -> mp.mpf:
    """Mironov 2017, Table II."""
    e, a = mp.mpf(epsilon), mp.mpf(order)
    inside = a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)
    return mp.log(inside) / (a - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_curve_is_the_closed_form_rounded_up(epsilon: float) -> None:
    orders = np.array([1.0 + 1e-3, 1.1, 2.0, 17.0, 1e3, 1e6])
    found = laplace_divergence(epsilon, orders)
    with mp.workdps(60):
        for order, value in zip(orders, found, strict=True):
            exact = _renyi(epsilon, mp.mpf(order))
            assert exact * (1 - mp.mpf(10) ** -15) <= value <= exact * (1 + mp.mpf(10) ** -3)
            if epsilon * order > 1e-3:
                assert value <= exact * (1 + mp.mpf(10) ** -8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_the_divergence_at_order_one_rounded_up_and_no_order_exceeds_it(epsilon: float) -> None:
    rho = laplace_rho(epsilon)
    with mp.workdps(60):
        exact = mp.mpf(epsilon) + mp.expm1(-mp.mpf(epsilon))
        assert exact <= rho <= exact * (1 + mp.mpf(10) ** -11)
        orders = [1 + mp.mpf(10) ** power for power in range(-9, 7)]
        ratios = [_renyi(epsilon, order) / order for order in orders]
        assert max(ratios) <= rho
        assert ratios == sorted(ratios, reverse=True)
        assert max(ratios) > 0.999 * rho  # so that a tenth less would be false


def test_rho_at_zero() -> None:
    assert laplace_rho(0.0) == 0.0 == LaplaceDP(0.0).to_zcdp().rho


def test_the_zeros_behind_the_proof_are_real_and_negative() -> None:
    """cosh(c√w) + sinh(c√w)/√w, c = ε/2: its zeros are −z², z·cos(cz) + sin(cz) = 0, one between poles of tan."""
    half = 0.5
    for number in range(1, 6):
        low, high = (number - 0.5) * math.pi / half, number * math.pi / half
        z = mp.findroot(lambda z: z * mp.cos(half * z) + mp.sin(half * z), (low + 1e-9, high - 1e-9), solver="anderson")
        root = mp.sqrt(mp.mpc(-(z**2)))
        assert abs(mp.cosh(half * root) + mp.sinh(half * root) / root) < 1e-9


# --- vectors and sums ---------------------------------------------------------------------------------------------


POINTS = np.polynomial.legendre.leggauss(400)  # for all examples: they take longer to find than to use


@settings(deadline=None)
@given(st.floats(0.01, 3.0), st.floats(0.01, 3.0), st.floats(-1.2, 1.2))
def test_two_coordinates_are_no_easier_to_tell_apart_than_one(a: float, b: float, part: float) -> None:
    """δ of the product, by the law of the second loss: half at b, e^{−b}/2 at −b, e^{(l−b)/2}/4 in between."""
    x = part * (a + b)
    grid, weights = POINTS
    losses = b * grid
    inside = float(np.sum(b * weights * 0.25 * np.exp(0.5 * (losses - b)) * laplace_profile(a, x - losses)))
    ends = laplace_profile(a, np.array([x - b, x + b]))
    together = 0.5 * float(ends[0]) + 0.5 * math.exp(-b) * float(ends[1]) + inside
    assert together <= float(laplace_profile(a + b, np.array([x]))[0]) + 1e-5


@pytest.mark.parametrize(
    ("epsilon", "rounds", "delta"), [(0.1, 1, 1e-3), (0.1, 10, 1e-5), (0.05, 1000, 1e-6), (1.0, 7, 1e-2)]
)
def test_plans_cost_what_an_independent_accountant_says(epsilon: float, rounds: int, delta: float) -> None:
    theirs = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE).compose(LaplaceDpEvent(1.0 / epsilon), rounds)
    price = Plan.of(LaplaceDP(epsilon), rounds).price(delta)
    assert price.best.epsilon == pytest.approx(theirs.get_epsilon(delta), rel=2e-3, abs=1e-4)
    # Theirs is rounded up, too; so a tenth less would be found out.
    assert price.best.epsilon > 0.99 * theirs.get_epsilon(delta) - 1e-4


def test_one_round_is_exact_and_many_are_never_above_pure_ones() -> None:
    one = Plan.of(LaplaceDP(1.0)).price(1e-2)
    assert one.route == "laplace"
    assert one.best.epsilon == pytest.approx(1.0 + 2.0 * math.log(0.99), abs=1e-12)
    for rounds in (2, 30, 1000):
        mine, pure = (Plan.of(cost, rounds).price(1e-5).best.epsilon for cost in (LaplaceDP(0.3), PureDP(0.3)))
        assert mine < pure
    assert Plan.of(LaplaceDP(0.3), 5).amount(BasicComposition()) == Plan.of(PureDP(0.3), 5).amount(BasicComposition())


def test_it_is_priced_beside_other_kinds() -> None:
    mixed = Plan((Step(LaplaceDP(0.2), 50), Step(PureDP(0.1), 3), Step(LaplaceDP(0.1), 1)))
    price = mixed.price(1e-5)
    assert {"basic", "kov", "zcdp", "renyi", "pld"} <= set(price.routes)
    assert "laplace" not in price.routes
    assert price.routes["pld"] < price.routes["renyi"] < price.routes["zcdp"] < price.routes["basic"]


# --- what it stands for -------------------------------------------------------------------------------------------

scores = st.lists(st.floats(-6.0, 6.0), min_size=2, max_size=6)


@settings(deadline=None, max_examples=60)
@given(scores, st.data())
def test_noisy_max_and_permute_and_flip_are_no_easier_to_tell_apart(before: list[float], data: st.DataObject) -> None:
    span = data.draw(st.floats(0.01, 3.0))
    moves = data.draw(st.lists(st.floats(0.0, span), min_size=len(before), max_size=len(before)))
    one, two = np.array(before), np.array(before) + np.array(moves)
    for law in (choice_probabilities.noisy_max, choice_probabilities.permute_and_flip):
        both = Pair(law(one, 1.0), law(two, 1.0))
        assert laplace_shift(both) <= span * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("gap", [-2.0, -0.5, 0.0, 1.0])
def test_permute_and_flip_attains_it_whatever_the_gap(gap: float) -> None:
    """With two candidates its choice is the sign of a gap with Laplace noise."""
    both = Pair(*(choice_probabilities.permute_and_flip(np.array([shift, 0.0]), 1.0) for shift in (gap, gap + 0.8)))
    assert laplace_shift(both) == pytest.approx(0.8, rel=1e-9)


def test_noisy_max_of_three_attains_it_where_one_is_far_behind() -> None:
    both = Pair(*(choice_probabilities.noisy_max(np.array([shift, 0.0, 0.0]), 1.0) for shift in (-12.0, -11.0)))
    assert laplace_shift(both) > 0.99


def _on_a_grid(start: int, step: float, reach: int = 400) -> np.ndarray:
    logs = -step * np.abs(np.arange(-reach, reach + 1) - start)
    return np.asarray(logs - np.log(np.sum(np.exp(logs))))


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_on_a_grid_one_step_more_is_needed_and_enough(steps: int) -> None:
    """So `LaplaceNoise` draws on a grid as fine as for one coordinate more."""
    step = 0.25
    both = Pair(_on_a_grid(0, step), _on_a_grid(steps, step))
    assert steps * step * 1.005 < laplace_shift(both) <= (steps + 1) * step


@pytest.mark.parametrize("dimension", [2, 3])
def test_noise_in_the_euclidean_norm_is_no_easier_to_tell_apart(dimension: int) -> None:
    """By the law along the shift, and the distance from that line, on a fine grid of both."""
    along, across = np.linspace(-25.0, 25.0, 1501), np.linspace(1e-3, 25.0, 400)
    volume = (dimension - 2) * np.log(across)
    laws_ = [(volume - np.hypot(along[:, None] - shift, across)).ravel() for shift in (0.0, 1.0)]
    both = Pair(*(law - np.log(np.sum(np.exp(law))) for law in laws_))
    assert 0.3 < laplace_shift(both) <= 1.0 + 1e-3


@given(st.integers(2, 40), st.floats(0.05, 4.0))
def test_randomized_response_among_enough_answers_is_no_easier_to_tell_apart(answers: int, epsilon: float) -> None:
    """δ(x) = (e^ε − e^x)/(e^ε + k − 1), at most ½(1 − e^{x−ε}) from k = e^ε + 1 on; with two answers it is easier."""
    logs = np.zeros((2, answers))
    logs[0, 0] = logs[1, 1] = epsilon
    both = Pair(*(row - np.log(np.sum(np.exp(row))) for row in logs))
    if answers >= math.exp(epsilon) + 1.0:
        assert laplace_shift(both) <= epsilon * (1 + 1e-9)
    else:
        assert laplace_shift(both) > epsilon
