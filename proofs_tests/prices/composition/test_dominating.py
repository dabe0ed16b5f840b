"""Dominating pairs of each kind against their definition, and their compositions against enumeration."""

import math

import mpmath as mp
import numpy as np
import pytest

from accountant.composition import dominating_pairs
from accountant.composition.dominating_pairs import (
    FINEST,
    MOST_DISTINCT,
    bounded_range_profile,
    composition,
    grid_step,
)
from accountant.composition.loss_distribution import LossDistribution
from accountant.costs.cost_kinds import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    Unbounded,
)
from proofs_tests.support.mechanisms.closed_forms import binomial_delta, gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

Pair = list[tuple[mp.mpf, mp.mpf]]


def _range_delta(width: float, loss: float) -> float:
    """The largest over the offsets of a two-candidate mechanism, which has the class's profile at each loss."""
    t = np.linspace(0.0, width, 4001)[1:-1]
    p = np.expm1(width - t) / (np.exp(width - t) - np.exp(-t))
    high, low = -np.expm1(np.minimum(loss - t, 0.0)), -np.expm1(np.minimum(loss - t + width, 0.0))
    return float(np.max(p * high + (1.0 - p) * low))


@pytest.mark.parametrize("width", [0.05, 0.7, 3.0, 50.0])
@pytest.mark.parametrize("share", [-1.4, -1.0, -0.7, 0.0, 0.4, 0.9, 1.0, 1.3])
def test_the_profile_of_bounded_range_is_that_of_its_worst_mechanism(width: float, share: float) -> None:
    found = float(bounded_range_profile(width, np.array([share * width]))[0])
    truth = _range_delta(width, share * width)
    assert truth * (1.0 - 1e-11) <= found <= truth * (1.0 + 1e-2 * max(1.0, width / 10.0)) + 1e-6 * width


@pytest.mark.parametrize("width", [1e-6, 0.05, 0.7, 3.0, 50.0, 650.0])
def test_the_profile_of_bounded_range_is_its_closed_form(width: float) -> None:
    w = mp.mpf(width)
    for share in (-1.0, -0.7, 0.0, 0.4, 0.9, 0.999):
        x = mp.mpf(share * width)
        with mp.workdps(400):
            truth = (mp.exp(w / 2) - mp.exp(x / 2)) ** 2 / mp.expm1(w)
        found = float(bounded_range_profile(width, np.array([share * width]))[0])
        assert found == pytest.approx(float(truth), rel=1e-11)
    ends = bounded_range_profile(width, np.array([width, width + 9.0, -width - 9.0]))
    assert ends.tolist() == pytest.approx([0.0, 0.0, -math.expm1(-width - 9.0)], rel=1e-13)


@pytest.mark.parametrize("epsilon", [0.05, 0.6, 2.0])
@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_pure_rounds_are_randomized_response(epsilon: float, rounds: int) -> None:
    whole = composition([(PureDP(epsilon), rounds)], 1e-6)
    assert whole is not None
    for share in (0.0, 0.3, 0.8):
        target = share * rounds * epsilon
        truth = binomial_delta(epsilon, rounds, target)
        if truth > 1e-12:
            just_above(whole.delta(target), truth, within=6e-3)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_delta_of_its_own_is_lost_for_sure(rounds: int) -> None:
    """1 − (1 − δ₀)^k of it, and randomized response otherwise."""
    epsilon, delta = 0.6, 0.01
    whole = composition([(ApproxDP(epsilon, delta), rounds)], 1e-6)
    assert whole is not None
    kept = (1 - mp.mpf(delta)) ** rounds
    for share in (0.0, 0.5, 1.0, 1.1):
        target = share * rounds * epsilon
        truth = 1 - kept + kept * binomial_delta(epsilon, rounds, target)
        # On the grid's last point the FFT's rounding of what is nearly 0 is not relative to anything.
        just_above(whole.delta(target), truth, within=6e-3)


def test_a_delta_alone_is_a_price_too() -> None:
    both = composition([(ApproxDP(0.0, 0.01), 2), (PureDP(0.5), 1)], 1e-6)
    assert both is not None
    truth = 1 - mp.mpf("0.99") ** 2 * (1 - binomial_delta(0.5, 1, 0.2))
    just_above(both.delta(0.2), truth, within=6e-3)
    assert both.epsilon(1e-3) == math.inf


@pytest.mark.parametrize(("mu", "rounds"), [(0.05, 1), (0.7, 1), (1.0, 4), (0.1, 100), (3.0, 2)])
def test_gaussian_rounds_are_one_of_the_root_of_their_squares(mu: float, rounds: int) -> None:
    whole = composition([(GDP(mu), rounds)], 1e-6)
    assert whole is not None
    total = mu * math.sqrt(rounds)
    for share in (0.0, 1.0, 2.5):
        target = 0.5 * total**2 + share * total
        just_above(whole.delta(target), gaussian_delta(total, target), within=8e-3)


def _laplace_twice(epsilon: float, target: float) -> mp.mpf:
    """δ of two rounds: over the first one's loss, half at ε, e^{−ε}/2 at −ε, e^{(l − ε)/2}/4 in between."""
    e = mp.mpf(epsilon)

    def delta(x: mp.mpf) -> mp.mpf:
        return 1 - min(mp.mpf(1), mp.exp((x - e) / 2), mp.exp(x))

    corners = sorted({-e, e, min(e, max(-e, target - e)), min(e, max(-e, target + e))})
    inside = mp.quad(lambda loss: mp.exp((loss - e) / 2) / 4 * delta(target - loss), corners)
    return delta(target - e) / 2 + mp.exp(-e) / 2 * delta(target + e) + inside


@pytest.mark.parametrize("epsilon", [0.05, 0.6, 2.0])
def test_laplace_rounds_are_their_densities(epsilon: float) -> None:
    once, twice = composition([(LaplaceDP(epsilon), 1)], 1e-6), composition([(LaplaceDP(epsilon), 2)], 1e-6)
    assert once is not None
    assert twice is not None
    for share in (0.0, 0.3, 0.8):
        with mp.workdps(20):
            one = 1 - mp.exp(mp.mpf((share - 1.0) * epsilon) / 2)
            two = _laplace_twice(epsilon, 2.0 * share * epsilon)
        just_above(once.delta(share * epsilon), one * (1 - mp.mpf(10) ** -12), within=6e-3)
        just_above(twice.delta(2.0 * share * epsilon), two * (1 - mp.mpf(10) ** -12), within=6e-3)


@pytest.mark.parametrize("width", [0.05, 0.6, 2.0])
def test_one_bounded_range_round_is_its_profile(width: float) -> None:
    once = composition([(BoundedRange(width), 1)], 1e-6)
    assert once is not None
    for share in (0.0, 0.3, 0.8):
        x = mp.mpf(share * width)
        truth = (mp.exp(mp.mpf(width) / 2) - mp.exp(x / 2)) ** 2 / mp.expm1(mp.mpf(width))
        just_above(once.delta(share * width), truth, within=8e-3)


def _two_point(width: mp.mpf, t: mp.mpf) -> Pair:
    p = mp.expm1(width - t) / (mp.exp(width - t) - mp.exp(-t))
    return [(p, p * mp.exp(-t)), (1 - p, (1 - p) * mp.exp(width - t))]


def test_unlike_rounds_are_composed_and_are_above_what_mechanisms_lose() -> None:
    """Randomized response of .5 and of .3, a Gaussian release, a bounded range: δ by enumeration and quadrature."""
    whole = composition([(PureDP(0.5), 1), (BoundedRange(0.4), 1), (GDP(0.3), 1), (PureDP(0.3), 1)], 1e-6)
    assert whole is not None
    for target in (0.1, 0.5):
        truth, worst = mp.mpf(target), mp.mpf(0)
        for place in range(1, 8):
            found = mp.mpf(0)
            for first, first_q in _two_point(mp.mpf(1), mp.mpf("0.5")):
                for second, second_q in _two_point(mp.mpf("0.6"), mp.mpf("0.3")):
                    for third, third_q in _two_point(mp.mpf("0.4"), mp.mpf("0.4") * place / 8):
                        loss = mp.log(first / first_q * second / second_q * third / third_q)
                        found += first * second * third * gaussian_delta(0.3, float(truth - loss))
            worst = max(worst, found)
        just_above(whole.delta(target), worst, within=0.05)


def test_the_grid_is_a_share_of_the_typical_spread() -> None:
    """Between a five-hundredth and a twentieth of it, so that joining dots adds less than 1 % to a few rounds' δ."""
    assert grid_step([(0.5, 1)]) == pytest.approx(0.5 * 0.002, rel=1e-12)
    assert grid_step([(0.5, 25)]) == pytest.approx(0.5 * 0.004, rel=1e-12)
    assert grid_step([(0.5, 10**6)]) == pytest.approx(0.5 * 0.05, rel=1e-12)
    assert grid_step([(0.5, 10), (1.0, 15)]) == pytest.approx(0.004 * math.sqrt((2.5 + 15.0) / 25.0), rel=1e-12)
    assert grid_step([(0.5, 1), (1.0, 1)]) == pytest.approx(0.002 * math.sqrt(1.25 / 2.0), rel=1e-12)


@pytest.mark.parametrize("kind", [PureDP, LaplaceDP, BoundedRange, GDP])
def test_many_distinct_costs_rise_to_the_next_power_of_two_to_the_sixty_fourth(kind: type[PureDP]) -> None:
    assert MOST_DISTINCT == 32
    few: list[tuple[Cost, int]] = [(kind(0.1 * 1.01**place), 2) for place in range(32)]
    assert dominating_pairs._bucketed(few) == few
    assert dominating_pairs._bucketed([*few, few[0]]) == [(few[0][0], 4), *few[1:]]
    assert (kind(0.2), 1) not in dominating_pairs._bucketed([*few, (kind(0.2), 1)])
    many = [*few, (kind(0.1 * 1.01**32), 3), (ApproxDP(0.1, 1e-3), 5), (kind(0.0), 1)]
    found = dominating_pairs._bucketed(many)
    assert sum(times for _, times in found) == sum(times for _, times in many)
    assert len(found) < 34
    assert (ApproxDP(0.1, 1e-3), 5) in found
    assert (kind(0.0), 1) in found
    for cost, _ in many:
        number = next(iter(value for value in cost.as_dict().values() if isinstance(value, float)))
        if isinstance(cost, ApproxDP):
            continue
        raised = {type(each): each for each, _ in found if isinstance(each, type(cost))}
        assert raised
        values = [
            value
            for each, _ in found
            if type(each) is type(cost)
            for value in each.as_dict().values()
            if isinstance(value, float) and number <= value <= number * 2.0 ** (1.0 / 64.0) * (1.0 + 1e-12)
        ]
        assert values
        assert all(
            value == 0.0 or abs(64.0 * math.log2(value) - round(64.0 * math.log2(value))) < 1e-9 for value in values
        )


def test_a_cost_on_the_grid_of_powers_does_not_fall() -> None:
    for place in range(-200, 200):
        value = 2.0 ** (place / 64.0)
        for near in (math.nextafter(value, 0.0), value, math.nextafter(value, math.inf)):
            assert near <= dominating_pairs._next(near) <= near * 1.011
    assert dominating_pairs._next(0.0) == 0.0


def test_many_distinct_rounds_cost_hardly_more_than_their_own() -> None:
    mus = [0.1 * 1.003**place for place in range(60)]
    whole = composition([(GDP(mu), 1) for mu in mus], 1e-6)
    assert whole is not None
    total = math.sqrt(math.fsum(mu * mu for mu in mus))
    found = whole.epsilon(1e-6)
    assert gaussian_delta(total, found) <= 1e-6
    assert gaussian_delta(total, found / 1.016) > 1e-6


def test_costs_without_a_pair_have_none() -> None:
    for cost in (ZCDP(0.1), Unbounded()):
        assert composition([(cost, 1)], 1e-6) is None
        assert composition([(PureDP(0.1), 2), (cost, 1)], 1e-6) is None
        with pytest.raises(TypeError, match="no dominating pair"):
            dominating_pairs._distribution(cost, 0.1, 1e-9)
    for nothing in (PureDP(0.0), GDP(0.0), LaplaceDP(0.0), BoundedRange(0.0), ApproxDP(0.0, 0.0)):
        assert composition([(nothing, 3)], 1e-6) is None
    assert composition([], 1e-6) is None


def test_rounds_that_cost_nothing_are_left_out() -> None:
    with_nothing = composition([(PureDP(0.0), 1000), (PureDP(0.5), 2), (GDP(0.0), 4)], 1e-6)
    assert with_nothing is not None
    assert [rounds for _, rounds in with_nothing.parts] == [2]


def test_grids_that_no_float_holds_are_left_to_others() -> None:
    assert FINEST == 1e-150
    assert composition([(PureDP(1e-150), 1)], 1e-6) is None
    assert composition([(PureDP(1e-140), 1)], 1e-6) is not None
    assert composition([(PureDP(0.5), 1)], 1e-290) is not None
    assert composition([(PureDP(0.5), 1)], 1e-295) is None
    # A cost that is too small for the others' grid: a thousandth of a step.
    assert composition([(PureDP(1e-9), 1), (PureDP(0.5), 1)], 1e-6) is None
    assert composition([(PureDP(1e-5), 1), (PureDP(0.5), 1)], 1e-6) is not None


def _last(part: LossDistribution) -> float:
    return float(part.losses[-1])


def test_what_is_cut_off_a_gaussian_release_is_a_millionth_of_delta_shared_by_the_rounds() -> None:
    whole = composition([(GDP(0.5), 10)], 1e-3)
    assert whole is not None
    ((part, _),) = whole.parts
    cut = 1e-3 * 1e-6 / 10
    assert 0.0 < part.infinity <= cut
    assert part.infinity >= gaussian_delta(0.5, _last(part)) * (1 - mp.mpf(10) ** -9)
    assert _last(part) == pytest.approx(0.125 + 0.5 * math.sqrt(-2.0 * math.log(cut)), abs=part.step)
    assert float(part.losses[0]) == pytest.approx(-_last(part), abs=2 * part.step)


def test_all_rounds_share_what_is_cut_off() -> None:
    whole = composition([(GDP(0.5), 10), (GDP(0.25), 10)], 1e-3)
    assert whole is not None
    part, _ = whole.parts[0]
    assert _last(part) == pytest.approx(0.125 + 0.5 * math.sqrt(-2.0 * math.log(1e-9 / 20)), abs=part.step)


def test_costs_beyond_one_nat_have_a_grid_for_one() -> None:
    for cost in (PureDP(9.0), ApproxDP(9.0, 0.0), GDP(9.0), LaplaceDP(9.0), BoundedRange(9.0)):
        whole = composition([(cost, 1)], 1e-6)
        assert whole is not None
        assert whole.parts[0][0].step == pytest.approx(0.002, rel=1e-12)
