"""What a rule guarantees at any δ for a total, and the least δ at which it guarantees anything."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from accountant.audit.odometer import epsilon_at, least_delta
from accountant.composition.advanced import AdvancedComposition, TextbookComposition
from accountant.composition.gaussian_sum import GDPComposition
from accountant.composition.rules import NOTHING, Amount, BasicComposition, Composition, NoBound, ZCDPComposition
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

ADVANCED: tuple[AdvancedComposition, ...] = (AdvancedComposition(1e-7), TextbookComposition(1e-7))
RULES: tuple[Composition, ...] = (BasicComposition(), ZCDPComposition(), GDPComposition(), *ADVANCED)


def test_basic_is_its_sum_at_the_delta_that_is_spent_and_beyond() -> None:
    for times in range(1, 30):
        total = Amount.of(0.1, 1e-8).times(times)
        least = least_delta(BasicComposition(), total)
        assert Fraction(math.nextafter(least, 0.0)) < times * Fraction(1e-8) <= Fraction(least)
        for delta in (least, 0.5):
            found = epsilon_at(BasicComposition(), total, delta)
            assert type(found) is float
            assert Fraction(math.nextafter(found, 0.0)) < times * Fraction(0.1) <= Fraction(found)
        assert epsilon_at(BasicComposition(), total, math.nextafter(least, 0.0)) == math.inf
        assert epsilon_at(BasicComposition(), total, 0.0) == math.inf
    assert epsilon_at(BasicComposition(), Amount.of(0.3), 0.0) == 0.3


def test_advanced_has_spent_delta_prime_too() -> None:
    for rule in ADVANCED:
        for times in range(1, 40):
            spent = least_delta(rule, Amount.of(0.02, 1e-8).times(times))
            assert type(spent) is float
            assert Fraction(math.nextafter(spent, 0.0)) < times * Fraction(1e-8) + Fraction(1e-7) <= Fraction(spent)
        total = Amount.of(0.02, 1e-8).times(3)
        least = least_delta(rule, total)
        real = 3 * Fraction(1e-8) + Fraction(1e-7)
        assert Fraction(math.nextafter(least, 0.0)) < real <= Fraction(least)
        assert epsilon_at(rule, total, math.nextafter(least, 0.0)) == math.inf
        assert epsilon_at(rule, total, 0.0) == math.inf
        assert epsilon_at(rule, total, least) == epsilon_at(rule, total, 0.5)
        d, v = mp.mpf(1e-7), 3 * mp.mpf(0.02)
        textbook = mp.sqrt(-2 * mp.log(d) * v) + v / 2
        tight = min(
            v * a + mp.log((a - 1) / a) - (mp.log(d) + mp.log(a)) / (a - 1)
            for a in (mp.mpf(1) + mp.mpf(place) / 50 for place in range(100, 2000))
        )
        found = epsilon_at(rule, total, least)
        if isinstance(rule, TextbookComposition):
            just_above(found, textbook)
        else:
            assert found == pytest.approx(float(tight), rel=1e-5)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_zcdp_and_gdp_are_tight_at_every_delta(delta: float) -> None:
    d, rho = mp.mpf(delta), 3 * mp.mpf(0.1)
    tight = min(
        rho * a + mp.log((a - 1) / a) - (mp.log(d) + mp.log(a)) / (a - 1)
        for a in (mp.mpf(1) + mp.mpf(place) / 50 for place in range(20, 1500))
    )
    assert epsilon_at(ZCDPComposition(), Amount.of(0.1).times(3), delta) == pytest.approx(float(tight), rel=1e-4)
    found = epsilon_at(GDPComposition(), Amount.of(0.25).times(9), delta)
    assert gaussian_delta(1.5, found) <= delta
    assert gaussian_delta(1.5, found * (1 - 1e-9)) > delta


def test_nothing_is_guaranteed_as_nothing() -> None:
    for rule in (BasicComposition(), ZCDPComposition(), GDPComposition()):
        assert least_delta(rule, NOTHING) == 0.0
        assert epsilon_at(rule, NOTHING, 0.0) == epsilon_at(rule, NOTHING, 0.3) == 0.0
    for advanced in ADVANCED:
        assert least_delta(advanced, NOTHING) == 1e-7
        assert epsilon_at(advanced, NOTHING, 1e-7) == 0.0
    for rule in (ZCDPComposition(), GDPComposition()):
        assert least_delta(rule, Amount.of(1.0)) == 0.0
        assert epsilon_at(rule, Amount.of(1.0), 0.0) == math.inf
        assert epsilon_at(rule, Amount(1), 0.0) == math.inf


def test_a_rule_that_promises_nothing_has_no_epsilon_at_any_delta() -> None:
    assert least_delta(NoBound(), NOTHING) == least_delta(NoBound(), Amount.of(3.0)) == 1.0
    for delta in (0.0, 0.5, math.nextafter(1.0, 0.0)):
        assert epsilon_at(NoBound(), Amount.of(3.0), delta) == math.inf


def test_deltas_are_below_one() -> None:
    for rule in RULES:
        for wrong in (-1e-9, 1.0, math.nan):
            with pytest.raises(ValueError, match=r"\[0, 1\)"):
                epsilon_at(rule, Amount.of(0.1), wrong)
