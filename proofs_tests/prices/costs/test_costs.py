"""What kinds of cost convert to, split into and compare with: independent values, exact shares, refusals."""

import math
import operator
from fractions import Fraction

import mpmath as mp
import pytest

from accountant.costs.cost_kinds import (
    GDP,
    KINDS,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    NoConversion,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    cost_from_dict,
)
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

ONE_NUMBER = (PureDP, ZCDP, LaplaceDP, BoundedRange, GDP)
NUMBERS = (1e-9, 0.03, 0.31, 1.0, 2.7)
DELTAS = (1e-9, 1e-3, 0.1)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("delta", DELTAS)
def test_each_kind_converts_by_its_own_curve(number: float, delta: float) -> None:
    n, d = mp.mpf(number), mp.mpf(delta)
    room = 1e-13
    just_above(LaplaceDP(number).to_approx(delta=delta).epsilon, max(mp.mpf(0), n + 2 * mp.log(1 - d)), absolute=room)
    release = max(mp.mpf(0), n + 2 * mp.log(1 - mp.sqrt(d * -mp.expm1(-n))))
    just_above(BoundedRange(number).to_approx(delta=delta).epsilon, release, absolute=room)
    noise = GDP(number).to_approx(delta=delta).epsilon
    assert gaussian_delta(number, noise) <= delta
    assert noise <= room or gaussian_delta(number, noise * (1 - 1e-9) - 1e-12) > delta
    loose = ZCDP(number).to_approx_bun_steinke(delta=delta)
    just_above(loose.epsilon, n + 2 * mp.sqrt(n * -mp.log(d)))
    at_best = min(n * a + mp.log((a - 1) / a) - (mp.log(d) + mp.log(a)) / (a - 1) for a in _orders(n, d))
    best_of_orders = float(min(loose.epsilon, max(mp.mpf(0), at_best)))
    assert ZCDP(number).to_approx(delta=delta).epsilon == pytest.approx(best_of_orders, rel=1e-4, abs=room)
    for cost in (LaplaceDP(number), BoundedRange(number), GDP(number), ZCDP(number), PureDP(number)):
        assert cost.to_approx(delta=delta).delta == delta
    assert loose.delta == delta
    assert PureDP(number).to_approx(delta=delta).epsilon == number


def _orders(rho: mp.mpf, delta: mp.mpf) -> list[mp.mpf]:
    middle = mp.sqrt(-mp.log(delta) / rho)
    return [1 + middle * mp.mpf(10) ** (mp.mpf(place) / 200) for place in range(-300, 301)]


@pytest.mark.parametrize("number", NUMBERS)
def test_each_kind_has_its_own_rho(number: float) -> None:
    n = mp.mpf(number)
    u = n / -mp.expm1(-n)
    just_above(PureDP(number).to_zcdp().rho, n * mp.tanh(n / 2))
    just_above(LaplaceDP(number).to_zcdp().rho, n + mp.expm1(-n))
    just_above(BoundedRange(number).to_zcdp().rho, u - 1 - mp.log(u), within=2e-6)
    just_above(GDP(number).to_zcdp().rho, n * n / 2)


def test_nothing_costs_nothing() -> None:
    assert PureDP(0.0).to_zcdp() == LaplaceDP(0.0).to_zcdp() == BoundedRange(0.0).to_zcdp() == GDP(0.0).to_zcdp()
    assert GDP(0.0).to_zcdp() == ZCDP(0.0)
    assert GDP(0.0).to_approx(delta=0.1) == ZCDP(0.0).to_approx(delta=0.1) == ApproxDP(0.0, 0.1)
    assert 0.0 < GDP(1e-200).to_zcdp().rho < 1e-300


@pytest.mark.parametrize("number", NUMBERS)
def test_without_a_delta_conversions_are_pure(number: float) -> None:
    for cost in (PureDP(number), LaplaceDP(number), BoundedRange(number)):
        assert cost.to_approx() == ApproxDP(number, 0.0)
    assert LaplaceDP(number).to_pure() == BoundedRange(number).to_pure() == PureDP(number)
    for rho in (ZCDP(number), GDP(number)):
        for delta in (0.0, 1.0):
            with pytest.raises(ValueError, match=r"\(0, 1\)"):
                rho.to_approx(delta=delta)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 10, 49, 1000])
@pytest.mark.parametrize("number", [*NUMBERS, 0.1, 1.0 / 3.0, 0.7, 5e-324, 1.7e308])
def test_shares_never_exceed_the_whole_and_the_next_float_would(number: float, parts: int) -> None:
    for kind in (PureDP, ZCDP, LaplaceDP):
        share = getattr(kind(number).split(parts), "rho" if kind is ZCDP else "epsilon")
        assert parts * Fraction(share) <= Fraction(number) < parts * Fraction(math.nextafter(share, math.inf))
    if number < 1.0:
        both = ApproxDP(0.3, number).split(parts)
        assert both.epsilon == PureDP(0.3).split(parts).epsilon
        assert both.delta == PureDP(number).split(parts).epsilon
    noise = GDP(number).split(parts).mu
    assert parts * Fraction(noise) ** 2 <= Fraction(number) ** 2
    assert noise == pytest.approx(number / math.sqrt(parts), rel=1e-15, abs=1e-323)


@pytest.mark.parametrize("kind", [PureDP, ZCDP, LaplaceDP, GDP])
def test_shares_are_counted_in_whole_numbers(kind: type[PureDP | ZCDP | LaplaceDP | GDP]) -> None:
    for parts in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number"):
            kind(1.0).split(parts)  # type: ignore[arg-type]  # the point of the test
        with pytest.raises(ValueError, match="whole number"):
            ApproxDP(1.0, 0.1).split(parts)  # type: ignore[arg-type]  # the point of the test
    assert kind(0.0).split(3) == kind(0.0)


@pytest.mark.parametrize("kind", ONE_NUMBER)
def test_costs_of_a_kind_are_ordered_and_those_of_two_are_not(kind: type[Cost]) -> None:
    assert kind(1.0) <= kind(1.0)  # type: ignore[call-arg, operator]  # one number each
    assert kind(1.0) <= kind(2.0)  # type: ignore[call-arg, operator]  # one number each
    assert not kind(2.0) <= kind(1.0)  # type: ignore[call-arg, operator]  # one number each
    for other in ONE_NUMBER:
        if other is not kind:
            with pytest.raises(TypeError):
                operator.le(kind(1.0), other(1.0))  # type: ignore[call-arg]  # all take one number first
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            kind(wrong)  # type: ignore[call-arg]  # all take one number first


def test_both_numbers_are_compared() -> None:
    assert ApproxDP(1.0, 0.1) <= ApproxDP(1.0, 0.1)
    assert ApproxDP(0.5, 0.1) <= ApproxDP(1.0, 0.2)
    assert not ApproxDP(1.0, 0.2) <= ApproxDP(1.0, 0.1)
    assert not ApproxDP(2.0, 0.1) <= ApproxDP(1.0, 0.1)
    assert not ApproxDP(2.0, 0.1) <= ApproxDP(1.0, 0.2)
    assert not ApproxDP(0.5, 0.3) <= ApproxDP(1.0, 0.2)
    assert Unbounded() <= Unbounded()
    for other in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(TypeError):
            operator.le(Unbounded(), other)
        with pytest.raises(TypeError):
            operator.le(ApproxDP(1.0, 0.0), Unbounded())
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            ApproxDP(1.0, wrong)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            ApproxDP(wrong, 0.1)


def test_conversions_that_no_theorem_gives_are_refused() -> None:
    for cost, name in (
        (ZCDP(1.0), "to_pure"),
        (ApproxDP(1.0, 0.1), "to_zcdp"),
        (GDP(1.0), "to_pure"),
        (Unbounded(), "to_approx"),
        (BoundedRange(1.0), "split"),
        (Unbounded(), "split"),
        (PureDP(1.0), "to_gdp"),
    ):
        with pytest.raises(NoConversion):
            getattr(cost, name)
        with pytest.raises(AttributeError) as caught:
            _ = cost.something  # type: ignore[union-attr]  # the point of the test
        assert caught.type is AttributeError


ALL: tuple[Cost, ...] = (
    PureDP(0.3),
    ApproxDP(0.3, 0.1),
    ZCDP(0.3),
    LaplaceDP(0.3),
    BoundedRange(0.3),
    GDP(0.3),
    SubsampledGaussian(0.3, 0.1),
    Unbounded(),
)


@pytest.mark.parametrize("cost", ALL)
def test_books_keep_a_cost(cost: Cost) -> None:
    record = cost.as_dict()
    assert cost_from_dict(record) == cost
    assert type(cost_from_dict(record)) is type(cost)
    assert KINDS[str(record["kind"])] is type(cost)
    assert cost_from_dict({**record, **{name: str(value) for name, value in record.items()}}) == cost
    for kind in ("no such kind", None):
        with pytest.raises(ValueError, match="unknown kind"):
            cost_from_dict({**record, "kind": kind})  # type: ignore[dict-item]  # the point of the test
    assert len(KINDS) == len(ALL)
