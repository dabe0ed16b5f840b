"""Every route by which a plan is priced, against its own theorem in sixty digits; and which routes apply."""

import math
from fractions import Fraction

import attrs
import mpmath as mp
import pytest

from accountant.composition import fixed_plans, plans
from accountant.composition.plans import (
    EXACT,
    MOST_COUNTED,
    MOST_REMEMBERED,
    MOST_ROUNDS,
    ORDERED,
    QUICK,
    ROUTE_CLAIMS,
    ROUTES,
    Plan,
    Step,
    forget_prices,
    worth_trying,
)
from accountant.composition.rules import Amount, BasicComposition, UnsupportedCost, ZCDPComposition
from accountant.costs import curves, gaussian
from accountant.costs.cost_kinds import GDP, ZCDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP, Unbounded
from accountant.costs.curves import ORDERS
from accountant.costs.rounding import finite_up, float_up
from proofs_tests.support.mechanisms.closed_forms import binomial_delta, gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

ROOM = 1.5 * 2.0**-46
MIXED = Plan((Step(PureDP(0.1), 3), Step(LaplaceDP(0.2), 2), Step(BoundedRange(0.3), 4)))
ALL_BUT_GDP = (PureDP(0.1), ApproxDP(0.1, 1e-9), LaplaceDP(0.1), BoundedRange(0.1))


def _route(plan: Plan, name: str, delta: float) -> float:
    found = plan.route(name, delta)
    assert found is not None
    return found


def test_the_basic_route_is_the_sum() -> None:
    for delta in (0.0, 1e-6):
        exactly = 3 * Fraction(0.1) + 2 * Fraction(0.2) + 4 * Fraction(0.3)
        found = _route(MIXED, "basic", delta)
        assert Fraction(math.nextafter(found, 0.0)) < exactly <= Fraction(found)
    for cost in (ZCDP(0.1), GDP(0.1), Unbounded()):
        assert Plan((Step(PureDP(0.1), 1), Step(cost, 1))).route("basic", 1e-6) is None


def test_the_basic_route_counts_every_delta() -> None:
    plan = Plan((Step(ApproxDP(0.1, 2.0**-20), 3), Step(ApproxDP(0.2, 2.0**-22), 1)))
    spent = 3 * 2.0**-20 + 2.0**-22
    just_above(_route(plan, "basic", spent), 3 * Fraction(0.1) + Fraction(0.2), within=1e-15)
    assert plan.route("basic", math.nextafter(spent, 0.0)) is None


@pytest.mark.parametrize("cost", ALL_BUT_GDP)
@pytest.mark.parametrize("rounds", [2, 9, 40])
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_the_optimal_route_is_randomized_response_repeated(cost: Cost, rounds: int, delta: float) -> None:
    """At the δ that the releases' own leave: 1 − (1 − δ)/(1 − δ₀)^k."""
    found = _route(Plan.of(cost, rounds), "kov", delta)
    own = mp.mpf(cost.delta if isinstance(cost, ApproxDP) else 0)
    slack = 1 - (1 - mp.mpf(delta)) / (1 - own) ** rounds
    assert binomial_delta(0.1, rounds, found) <= slack
    assert binomial_delta(0.1, rounds, found * (1 - 1e-7) - 1e-9) > slack


def test_equal_costs_of_two_kinds_are_equal() -> None:
    plan = Plan((Step(PureDP(0.1), 3), Step(LaplaceDP(0.1), 2), Step(ApproxDP(0.1, 0.0), 4)))
    assert _route(plan, "kov", 1e-6) == _route(Plan.of(PureDP(0.1), 9), "kov", 1e-6)


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_unequal_costs_have_the_least_of_three_closed_forms(delta: float) -> None:
    """δ₀ too: here the price falls where δ₀ is forgotten, and the slack is what 1 − Π(1 − δᵢ) leaves."""
    for steps in (
        [(0.02, 0.0, 50), (0.01, 0.0, 200)],
        [(0.02, 1e-8, 50), (0.01, 2e-10, 200)],
        [(0.02, 1e-8, 90), (0.02, 0.0, 2)],
    ):
        plan = Plan(tuple(Step(ApproxDP(e, d), rounds) for e, d, rounds in steps))
        kept = mp.fprod((1 - mp.mpf(d)) ** rounds for _, d, rounds in steps)
        slack = 1 - (1 - mp.mpf(delta)) / kept
        each = [mp.mpf(e) for e, _, rounds in steps for _ in range(rounds)]
        squares, drift = mp.fsum(e * e for e in each), mp.fsum(e * mp.tanh(e / 2) for e in each)
        logs = (mp.log(mp.e + mp.sqrt(squares) / slack), mp.log(1 / slack))
        truth = min(mp.fsum(each), *(drift + mp.sqrt(2 * squares * log) for log in logs))
        just_above(_route(plan, "kov", delta), truth, within=1e-9)


def test_the_optimal_route_at_the_ends() -> None:
    plan = Plan.of(ApproxDP(0.1, 1e-4), 3)
    assert plan.route("kov", 2.9e-4) is None
    assert plan.route("kov", 3.01e-4) is not None
    assert plan.route("kov", 0.0) is None
    for cost in (ZCDP(0.1), GDP(0.1)):
        assert Plan((Step(PureDP(0.1), 2), Step(cost, 1))).route("kov", 1e-6) is None
    assert MOST_ROUNDS == 10**6
    assert Plan.of(PureDP(1e-4), MOST_ROUNDS + 1).route("kov", 1e-6) is None


def _rho(cost: Cost) -> mp.mpf:
    match cost:
        case PureDP(epsilon=epsilon):
            return mp.mpf(epsilon) * mp.tanh(mp.mpf(epsilon) / 2)
        case LaplaceDP(epsilon=epsilon):
            return mp.mpf(epsilon) + mp.expm1(-mp.mpf(epsilon))
        case BoundedRange(epsilon=epsilon):
            u = mp.mpf(epsilon) / -mp.expm1(-mp.mpf(epsilon))
            return u - 1 - mp.log(u)
        case GDP(mu=mu):
            return mp.mpf(mu) ** 2 / 2
        case ZCDP(rho=rho):
            return mp.mpf(rho)
    raise AssertionError(cost)


def _at(divergence: mp.mpf, order: float, delta: float) -> mp.mpf:
    a = mp.mpf(order)
    return divergence + mp.log((a - 1) / a) - (mp.log(mp.mpf(delta)) + mp.log(a)) / (a - 1)


WITH_RHO = Plan(
    (Step(PureDP(0.3), 3), Step(LaplaceDP(0.4), 2), Step(BoundedRange(0.5), 4), Step(GDP(0.2), 5), Step(ZCDP(0.05), 2))
)


@pytest.mark.parametrize("delta", [1e-9, 1e-4])
def test_the_zcdp_route_reads_the_sum_of_rho_at_the_best_order(delta: float) -> None:
    total = mp.fsum(step.rounds * _rho(step.cost) for step in WITH_RHO.steps)
    middle = float(mp.sqrt(-mp.log(delta) / total))
    near = min(_at(total * (1 + e), 1 + e, delta) for e in (middle * 1.002**place for place in range(-400, 400)))
    assert near * (1 - 1e-5) <= _route(WITH_RHO, "zcdp", delta) <= near * (1 + 1e-9)
    assert Plan((Step(ZCDP(0.1), 1), Step(ApproxDP(0.1, 1e-9), 1))).route("zcdp", 1e-6) is None


def _curve(cost: Cost, order: float) -> mp.mpf:
    a = mp.mpf(order)
    match cost:
        case LaplaceDP(epsilon=epsilon):
            e = mp.mpf(epsilon)
            return mp.log(a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)) / (a - 1)
        case BoundedRange(epsilon=width):
            big = mp.expm1(a * mp.mpf(width)) / mp.expm1(mp.mpf(width))
            return (mp.log((big - 1) / (a - 1)) + a * mp.log((a - 1) * big / (a * (big - 1)))) / (a - 1)
    return _rho(cost) * a


@pytest.mark.parametrize("delta", [1e-9, 1e-4])
@pytest.mark.parametrize("kinds", [(0, 1, 2, 3, 4), (1,), (2,), (1, 2), (0, 3)])
def test_the_renyi_route_adds_exact_curves_order_by_order(kinds: tuple[int, ...], delta: float) -> None:
    plan = Plan(tuple(WITH_RHO.steps[kind] for kind in kinds))
    with mp.workdps(30):
        truth = min(
            _at(mp.fsum(step.rounds * _curve(step.cost, order) for step in plan.steps), order, delta)
            for order in ORDERS.tolist()
        )
    just_above(_route(plan, "renyi", delta), truth * (1 - mp.mpf(10) ** -12), within=1e-9)
    assert Plan((Step(ApproxDP(0.1, 1e-9), 1), plan.steps[0])).route("renyi", delta) is None


@pytest.mark.parametrize("delta", [1e-9, 1e-4])
def test_the_gaussian_route_is_one_release(delta: float) -> None:
    plan = Plan((Step(GDP(0.3), 3), Step(GDP(0.1), 7), Step(GDP(0.0), 2)))
    mu = math.sqrt(3 * 0.09 + 7 * 0.01)
    found = _route(plan, "gdp", delta)
    assert gaussian_delta(mu * (1 - 1e-15), found) <= delta
    assert gaussian_delta(mu, found * (1 - 1e-9)) > delta
    assert plan.route("gdp", 0.0) is None
    assert Plan((Step(GDP(0.3), 3), Step(ZCDP(0.1), 1))).route("gdp", delta) is None
    assert Plan.of(GDP(0.0), 5).route("gdp", delta) == 0.0


def test_the_gaussian_route_rounds_the_root_up() -> None:
    """By the slack: the root of a sum of squares is no float."""
    one, many = _route(Plan.of(GDP(1.0), 1), "gdp", 1e-6), _route(Plan.of(GDP(0.5), 4), "gdp", 1e-6)
    assert one == many
    for mu, rounds in ((0.1, 3), (0.3, 7)):
        root = mp.sqrt(rounds * mp.mpf(mu) ** 2)
        found = _route(Plan.of(GDP(mu), rounds), "gdp", 1e-6)
        with mp.workdps(60):
            tail = mp.ncdf(root / 2 - found / root) - mp.exp(mp.mpf(found)) * mp.ncdf(-root / 2 - found / root)
        assert tail <= 1e-6


@pytest.mark.parametrize("delta", [1e-9, 1e-2])
def test_the_laplace_route_is_one_release(delta: float) -> None:
    plan = Plan((Step(LaplaceDP(0.3), 3), Step(LaplaceDP(0.1), 7)))
    truth = 3 * mp.mpf(0.3) + 7 * mp.mpf(0.1) + 2 * mp.log(1 - mp.mpf(delta))
    just_above(_route(plan, "laplace", delta), truth, absolute=ROOM)
    assert Plan((Step(LaplaceDP(0.3), 3), Step(PureDP(0.1), 1))).route("laplace", delta) is None
    assert plan.route("laplace", 0.0) is None


ODD = ((0.1, 3), (0.3, 7), (1.0 / 3.0, 2), (0.7, 11))


def test_sums_of_a_plan_are_exact_and_read_at_the_float_above() -> None:
    """To the last digit: by rational sums, and the curves of one release."""
    for chosen in (ODD, ODD[:2], ODD[1:], ODD[2:]):
        epsilons = sum((rounds * Fraction(each) for each, rounds in chosen), Fraction(0))
        laplace = Plan(tuple(Step(LaplaceDP(each), rounds) for each, rounds in chosen))
        assert laplace.route("laplace", 1e-6) == curves.laplace_epsilon(float_up(epsilons), 1e-6)
        squares = sum((rounds * Fraction(each) ** 2 for each, rounds in chosen), Fraction(0))
        normal = Plan(tuple(Step(GDP(each), rounds) for each, rounds in chosen))
        above = finite_up(math.sqrt(float_up(squares)))
        assert normal.route("gdp", 1e-6) == gaussian.epsilon(above, 1e-6)
        rho = Plan(tuple(Step(ZCDP(each), rounds) for each, rounds in chosen))
        assert rho.route("zcdp", 1e-6) == curves.zcdp_epsilon(float_up(epsilons), 1e-6)


def test_a_basic_sum_is_a_float_and_no_delta_is_lost_beside_another() -> None:
    plan = Plan((Step(ApproxDP(0.1, 0.1), 1), Step(ApproxDP(0.1, 2.0**-60), 1)))
    assert plan.route("basic", 0.1) is None
    assert type(plan.route("basic", 0.11)) is float


@pytest.mark.parametrize("share", [1e-13, 1e-12, 1e-10, 3e-8, 1e-4])
@pytest.mark.parametrize(("own", "rounds"), [(1e-7, 12), (3e-5, 7), (1e-3, 50), (1e-12, 3)])
def test_what_the_releases_own_delta_leaves_is_rounded_down(own: float, rounds: int, share: float) -> None:
    """Also where that is a small part of the whole δ, and a difference of floats would have lost its digits."""
    with mp.workdps(60):
        kept = (1 - mp.mpf(own)) ** rounds
        delta = float((1 - kept) * (1 + mp.mpf(share)))
        slack = float(1 - (1 - mp.mpf(delta)) / kept)
    found = Plan.of(ApproxDP(0.1, own), rounds).route("kov", delta)
    if found is not None:
        assert found >= fixed_plans.kov_homogeneous(0.1, 0.0, rounds, slack * (1.0 + 2e-9)).epsilon
        if share > 1e-9:
            assert found <= fixed_plans.kov_homogeneous(0.1, 0.0, rounds, slack * (1.0 - 1e-15 / share)).epsilon
    elif share > 1e-9:
        raise AssertionError("no price")


def test_the_largest_number_of_rounds_is_within_reach_of_optimal_composition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_ROUNDS", 5)
    assert Plan.of(PureDP(0.1), 5).route("kov", 1e-6) is not None
    assert Plan.of(PureDP(0.1), 6).route("kov", 1e-6) is None


def test_a_route_beyond_floats_is_none() -> None:
    assert Plan.of(PureDP(1e308), 3).route("basic", 1e-6) is None
    assert Plan.of(GDP(1e308), 3).route("gdp", 1e-6) is None


def test_the_convolution_is_that_of_the_rounds() -> None:
    plan = Plan((Step(PureDP(0.3), 5), Step(PureDP(0.3), 4)))
    found = _route(plan, "pld", 1e-5)
    assert binomial_delta(0.3, 9, found) <= 1e-5
    assert binomial_delta(0.3, 9, 0.99 * found) > 1e-5
    assert Plan((Step(PureDP(0.3), 5), Step(ZCDP(0.1), 1))).route("pld", 1e-5) is None
    assert Plan.of(ApproxDP(0.1, 1e-3), 5).route("pld", 1e-5) is None
    assert Plan.of(PureDP(800.0), 5).route("pld", 1e-5) is None


def test_the_range_route_is_exact_for_one_release() -> None:
    w, d = mp.mpf(0.7), mp.mpf(1e-3)
    truth = w + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-w)))
    for plan in (Plan.of(BoundedRange(0.7)), Plan((Step(BoundedRange(0.7), 1),))):
        just_above(_route(plan, "bounded-range", 1e-3), truth, absolute=ROOM)
    assert Plan((Step(BoundedRange(0.7), 1), Step(PureDP(0.1), 1))).route("bounded-range", 1e-3) is None


def _two_candidates(width: float, rounds: int, share: float, target: float) -> mp.mpf:
    w = mp.mpf(width)
    t = w * mp.mpf(share)
    p = mp.expm1(w - t) / (mp.exp(w - t) - mp.exp(-t))
    losses = ((truths, truths * t - (rounds - truths) * (w - t)) for truths in range(rounds + 1))
    return mp.fsum(
        mp.binomial(rounds, truths) * p**truths * (1 - p) ** (rounds - truths) * -mp.expm1(target - loss)
        for truths, loss in losses
        if loss > target
    )


@pytest.mark.parametrize(("width", "rounds"), [(0.3, 2), (0.2, 12), (0.1, 60)])
def test_the_range_route_is_just_above_a_mechanism(width: float, rounds: int) -> None:
    for enough in (None, width * rounds):
        found = Plan.of(BoundedRange(width), rounds).route("bounded-range", 1e-4, enough=enough)
        assert found is not None
        shares = [place / 40.0 for place in range(10, 40)]
        assert max(_two_candidates(width, rounds, share, found) for share in shares) <= 1e-4
        assert max(_two_candidates(width, rounds, share, 0.9 * found) for share in shares) > 1e-4
    two = Plan((Step(BoundedRange(width), rounds), Step(BoundedRange(width), rounds)))
    assert two.route("bounded-range", 1e-4) == pytest.approx(
        _route(Plan.of(BoundedRange(width), 2 * rounds), "bounded-range", 1e-4), rel=5e-3
    )


def test_the_price_is_the_least_of_its_routes() -> None:
    for plan in (MIXED, WITH_RHO, Plan.of(GDP(0.1), 7), Plan.of(BoundedRange(0.2), 12)):
        price = plan.price(1e-6)
        assert price.best == ApproxDP(min(price.routes.values()), 1e-6)
        assert price.routes[price.route] == price.best.epsilon
        for name, epsilon in price.routes.items():
            if name != "bounded-range":
                assert plan.route(name, 1e-6) == epsilon
        assert set(price.routes) == {name for name in ROUTES if plan.route(name, 1e-6) is not None}
        assert plan.cheapest(1e-6).best == price.best
        some = plan.price(1e-6, routes=("zcdp", "renyi"))
        assert set(some.routes) == {"zcdp", "renyi"}


def test_the_price_at_delta_0_is_basic() -> None:
    price = MIXED.price(0.0)
    assert (price.route, set(price.routes)) == ("basic", {"basic"})
    assert MIXED.cheapest(0.0) == price
    assert Plan.of(BoundedRange(0.2), 12).cheapest(0.0).best == ApproxDP(price_of(12 * Fraction(0.2)), 0.0)
    for name in ROUTES[1:]:
        assert MIXED.route(name, 0.0) is None


def price_of(exactly: Fraction) -> float:
    """The least float at or above."""
    found = float(exactly)
    return found if Fraction(found) >= exactly else math.nextafter(found, math.inf)


def test_what_has_no_price_is_refused() -> None:
    with pytest.raises(UnsupportedCost, match="no finite price"):
        Plan((Step(PureDP(0.1), 1), Step(Unbounded(), 1))).price(1e-6)
    with pytest.raises(UnsupportedCost, match="no composition theorem"):
        Plan.of(ZCDP(0.1)).price(0.0)
    with pytest.raises(UnsupportedCost, match="no composition theorem"):
        MIXED.price(1e-6, routes=("gdp",))
    with pytest.raises(ValueError, match="unknown route"):
        MIXED.route("no such route", 1e-6)
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            MIXED.price(wrong)


def test_plans_of_more_rounds_than_floats_count() -> None:
    assert MOST_COUNTED == 2**53
    assert set(EXACT) == {"basic", "zcdp", "gdp", "laplace"}
    long = Plan.of(LaplaceDP(1e-20), MOST_COUNTED + 1)
    assert {name for name in ROUTES if long.route(name, 1e-6) is not None} == {"basic", "zcdp", "laplace"}
    assert Plan.of(LaplaceDP(1e-20), MOST_COUNTED).route("renyi", 1e-6) is not None


def test_the_cheapest_price_leaves_out_only_what_cannot_win() -> None:
    assert worth_trying(Plan.of(BoundedRange(0.1), 10)) == tuple(name for name in ROUTES if name != "pld")
    assert worth_trying(MIXED) == ROUTES
    assert worth_trying(Plan.of(BoundedRange(6.0), 8192)) == tuple(name for name in ROUTES if name != "pld")
    assert worth_trying(Plan.of(BoundedRange(6.0), 8193)) == ROUTES
    assert worth_trying(Plan.of(BoundedRange(4.8), 8193)) == tuple(name for name in ROUTES if name != "pld")
    # Where the exact route gives up, the convolution is tried after all.
    for plan in (
        Plan.of(BoundedRange(6.0), 3000),
        Plan((Step(BoundedRange(6.0), 800), Step(BoundedRange(1e-3), 7000))),
    ):
        assert plan.cheapest(1e-6).best == plan.price(1e-6).best


def test_a_plan_knows_its_steps() -> None:
    plan = Plan.sequence([PureDP(0.1), PureDP(0.1), PureDP(0.2), PureDP(0.1)])
    assert plan.steps == (Step(PureDP(0.1), 2), Step(PureDP(0.2), 1), Step(PureDP(0.1), 1))
    assert plan.rounds == 4
    assert list(plan) == [PureDP(0.1), PureDP(0.1), PureDP(0.2), PureDP(0.1)]
    assert plan.last(4) == plan
    assert plan.last(3).steps == (Step(PureDP(0.1), 1), Step(PureDP(0.2), 1), Step(PureDP(0.1), 1))
    assert plan.last(2).steps == plan.steps[1:]
    assert plan.last(1) == Plan.of(PureDP(0.1))
    assert plan.last(9) == plan
    assert Plan((Step(PureDP(0.1), 5), Step(PureDP(0.2), 2), Step(PureDP(0.3), 1))).last(4).steps[0].rounds == 1
    with pytest.raises(ValueError, match="at least one Step"):
        plan.last(0)
    for wrong in ((), (PureDP(0.1),), (Step(PureDP(0.1), 1), PureDP(0.1))):
        with pytest.raises(ValueError, match="at least one Step"):
            Plan(wrong)  # type: ignore[arg-type]  # the point of the test
    for rounds in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number"):
            Step(PureDP(0.1), rounds)  # type: ignore[arg-type]  # the point of the test


def test_a_plan_adds_up_under_a_rule() -> None:
    assert MIXED.amount(BasicComposition()).loss == 3 * Fraction(0.1) + 2 * Fraction(0.2) + 4 * Fraction(0.3)
    both = Plan((Step(ApproxDP(0.1, 1e-3), 3), Step(ApproxDP(0.2, 1e-4), 2)))
    assert both.amount(BasicComposition()).delta == 3 * Fraction(1e-3) + 2 * Fraction(1e-4)
    assert Plan.of(ZCDP(0.25), 8).amount(ZCDPComposition()) == Amount.of(2.0)


def test_routes_have_claims() -> None:
    assert set(ROUTE_CLAIMS) == set(ROUTES)
    assert set(QUICK) | {"pld", "bounded-range"} == set(ROUTES)
    assert ORDERED == ("bounded-range",)


@attrs.frozen
class Foreign(PureDP):
    """An ε with a ρ of its own, which takes no part in comparisons."""

    rho: float = attrs.field(default=0.0, eq=False)

    def to_zcdp(self) -> ZCDP:
        return ZCDP(self.rho)


@pytest.mark.parametrize("beside", [(), (Step(PureDP(0.1), 1),)])
def test_costs_that_compare_equal_and_differ_have_each_their_price(beside: tuple[Step, ...]) -> None:
    for rho in (0.001, 0.4):
        total = float_up(Fraction(rho) * 10 + (Fraction(PureDP(0.1).to_zcdp().rho) if beside else 0))
        found = _route(Plan((*beside, Step(Foreign(1.0, rho), 10))), "zcdp", 1e-6)
        assert found == curves.zcdp_epsilon(total, 1e-6)


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((Step(PureDP(0.1), 2),) * MOST_REMEMBERED, 1),
        ((Step(PureDP(0.1), 2),) * (MOST_REMEMBERED + 1), 0),
        ((Step(PureDP(0.1), 2), Step(Foreign(0.1), 2)), 0),
    ],
)
def test_the_prices_of_short_plans_of_our_own_kinds_are_kept_until_somebody_forgets(
    steps: tuple[Step, ...], kept: int
) -> None:
    assert MOST_REMEMBERED == 8
    forget_prices()
    Plan(steps).route("zcdp", 1e-6)
    assert plans._remembered.cache_info().currsize == kept
    forget_prices()
    assert plans._remembered.cache_info().currsize == 0


def test_what_is_no_step_is_refused_even_where_it_has_some() -> None:
    with pytest.raises(ValueError, match="expected at least one Step"):
        Plan(Step(PureDP(0.1), 2))  # type: ignore[arg-type]  # the step itself, not in a sequence
