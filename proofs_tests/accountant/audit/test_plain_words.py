"""What a report says about a promise follows from the promise: checked on laws that attain it, and on random ones."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    ZCDP,
    AddRemoveOne,
    ApproxDP,
    FeatureValue,
    FeatureValues,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from accountant.audit.displayed_numbers import rounded_down, rounded_up
from accountant.audit.plain_language import (
    READ_AT,
    Reading,
    as_approx,
    best_guess,
    factor,
    for_group,
    percent,
    power,
    readings,
    times,
    unit,
)

EPSILONS = st.floats(0.0, 5.0)
DELTAS = st.floats(0.0, 0.2)


def extremal(epsilon: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """Two laws on four outcomes that every (ε, δ) mechanism is a function of (Kairouz, Oh & Viswanath 2015)."""
    high = (1.0 - delta) * math.exp(epsilon) / (1.0 + math.exp(epsilon))
    low = (1.0 - delta) / (1.0 + math.exp(epsilon))
    return np.array([delta, high, low, 0.0]), np.array([0.0, low, high, delta])


def hockey_stick(p: FloatArray, q: FloatArray, epsilon: float) -> float:
    """The smallest δ with p ≤ e^ε q + δ for every event."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def neyman_pearson(p: FloatArray, q: FloatArray, alarms: float) -> float:
    """The best power under p of a randomized test whose false alarms under q have this share."""
    ratio = np.divide(p, q, out=np.full(p.size, np.inf), where=q > 0.0)
    found, left = 0.0, alarms
    for outcome in np.argsort(-ratio):
        share = 1.0 if q[outcome] <= left else left / q[outcome]
        found += share * p[outcome]
        left = max(left - q[outcome], 0.0)
        if share < 1.0:
            break
    return float(found)


def random_laws(seed: int) -> Iterator[tuple[FloatArray, FloatArray, ApproxDP]]:
    """Pairs of laws, each with an ε and the smallest δ that holds for it in both directions."""
    draw = np.random.default_rng(seed)
    for _ in range(100):
        p, q = draw.dirichlet(np.full(6, 0.5), size=2)
        epsilon = float(draw.uniform(0.0, 3.0))
        delta = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        if delta < 1.0:
            yield p, q, ApproxDP(epsilon, delta)


@given(EPSILONS, DELTAS)
def test_guess_and_power_are_attained_and_never_below(epsilon: float, delta: float) -> None:
    p, q = extremal(epsilon, delta)
    promise = ApproxDP(epsilon, delta)
    chance = 0.5 + 0.25 * np.abs(p - q).sum()
    assert chance <= best_guess(promise) * (1.0 + 1e-15)
    assert best_guess(promise) <= chance * (1.0 + 1e-9)
    for alarms in (0.01, 0.05, 0.3):
        best = neyman_pearson(p, q, alarms)
        assert best <= power(promise, alarms) * (1.0 + 1e-15)
        assert power(promise, alarms) <= best * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_every_reading_holds_for_random_laws(seed: int) -> None:
    for p, q, promise in random_laws(seed):
        assert 0.5 + 0.25 * np.abs(p - q).sum() <= best_guess(promise) + 1e-12
        assert neyman_pearson(p, q, 0.05) <= power(promise) + 1e-12
        # Odds: by Bayes' rule they rise by p/q, and do so by more than 2e^ε with probability at most 2δ.
        rises = p > 2.0 * factor(promise.epsilon) * q
        assert p[rises].sum() <= 2.0 * promise.delta + 1e-12


def test_the_odds_reading_could_not_promise_just_one_delta() -> None:
    """P[loss > ε] ≤ δ, which is often said of (ε, δ), is false: the report says neither that nor 2e^ε with δ."""
    p, q = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    epsilon = 0.9
    delta = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
    assert p[p > math.exp(epsilon) * q].sum() > delta


@pytest.mark.parametrize("seed", range(5))
def test_what_holds_for_several_records_holds_along_a_chain(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(50):
        chain = [draw.dirichlet(np.full(4, 2.0)) for _ in range(4)]
        epsilon = float(draw.uniform(0.1, 1.0))
        delta = max(hockey_stick(p, q, epsilon) for p, q in itertools.pairwise(chain))
        group = for_group(ApproxDP(epsilon, delta), 3)
        if group is not None:
            assert hockey_stick(chain[0], chain[3], group.epsilon) <= group.delta


@pytest.mark.parametrize("records", [2, 5, 10])
def test_what_holds_for_several_records_is_attained(records: int) -> None:
    """A chain of laws on two outcomes, the first of which gains all that (ε, δ) allows at every step."""
    epsilon, delta = 0.5, 1e-4
    mass = [0.0]
    for _ in range(records):
        mass.append(math.exp(epsilon) * mass[-1] + delta)
    chain = [np.array([part, 1.0 - part]) for part in mass]
    for p, q in itertools.pairwise(chain):
        assert max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) <= delta * (1.0 + 1e-9)
    group = for_group(ApproxDP(epsilon, delta), records)
    assert group is not None
    reached = hockey_stick(chain[-1], chain[0], group.epsilon)
    assert reached <= group.delta <= reached * (1.0 + 1e-9)


def test_several_records_of_a_pure_promise_cost_exactly_that_many_times() -> None:
    assert for_group(PureDP(0.1).to_approx(), 3) == ApproxDP(math.nextafter(0.3, 1.0), 0.0)
    assert for_group(ApproxDP(0.5, 1e-5), 1) == ApproxDP(0.5, 1e-5)
    assert for_group(ApproxDP(20.0, 1e-5), 50) is None
    assert for_group(ApproxDP(2.0, 1e-2), 10) is None


def text(reading: Reading) -> str:
    return f"{reading.name} {reading.text} {reading.formula}"


def test_readings_name_the_numbers() -> None:
    found = {reading.name: text(reading) for reading in readings(ApproxDP(1.0, 1e-5))}
    assert "factor 2.719" in found["Any event"]
    assert "1e-05" in found["Any event"]
    assert "one in 100,000" in found["Proof"]
    assert "factor 5.437" in found["Odds"]
    assert "2e-05" in found["Odds"]
    assert "73.11 %" in found["A guess"]
    assert "13.60 %" in found["A test"]


def test_a_pure_promise_is_read_without_delta() -> None:
    found = {reading.name: text(reading) for reading in readings(PureDP(math.log(3.0)))}
    assert all("1e-" not in each and "δ is the allowance" not in each for each in found.values())
    assert "up or down" in found["Odds"]
    assert "75.00 %" in found["A guess"]


def test_a_rho_is_read_at_the_delta_that_the_report_names() -> None:
    assert as_approx(ZCDP(0.1)) == ZCDP(0.1).to_approx(delta=READ_AT)
    assert [text(each) for each in readings(ZCDP(0.1))] == [text(each) for each in readings(as_approx(ZCDP(0.1)))]


def test_an_absurd_epsilon_is_no_crash() -> None:
    assert times(5000.0) == "more than 10^300"
    assert factor(5000.0) == math.inf
    assert {reading.name for reading in readings(ApproxDP(5000.0, 0.5))} >= {"Odds"}
    assert power(ApproxDP(5000.0, 0.5)) == 1.0


def test_nothing_spent_is_read_as_nothing_learnt() -> None:
    assert best_guess(ApproxDP(0.0, 0.0)) == pytest.approx(0.5, abs=1e-9)
    assert percent(power(ApproxDP(0.0, 0.0))) == "5.00 %"
    assert times(0.0) == "1"


def test_units_say_what_is_hidden_and_what_is_not() -> None:
    assert "number of records is taken to be public" in unit(ReplaceOne()).leaves
    assert "whether any one record is there" in unit(AddRemoveOne()).hides
    assert "number 3 counted from 0" in unit(FeatureValue(3)).neighbours
    assert "not a promise about a whole record" in unit(FeatureValue(3)).leaves
    assert "in the columns 1, 3, counted from 0" in unit(FeatureValues((3, 1))).neighbours
    assert "not a promise about a whole record" in unit(FeatureValues((1, 3))).leaves


@given(st.floats(1e-300, 1e300), st.integers(3, 8))
def test_shown_numbers_lie_on_the_safe_side(value: float, digits: int) -> None:
    above, below = float(rounded_up(value, digits)), float(rounded_down(value, digits))
    assert value <= above * (1.0 + 1e-15)
    assert below * (1.0 - 1e-15) <= value
    assert above <= value * (1.0 + 1.1 * 10.0 ** (1 - digits))
    assert below >= value * (1.0 - 1.1 * 10.0 ** (1 - digits))


def test_shown_numbers_that_stand_for_round_ones_read_as_those() -> None:
    assert rounded_up(0.1 + 0.2) == "0.3"
    assert rounded_down(1.0 - 2.0**-53) == "1"
    assert rounded_up(0.0) == rounded_down(0.0) == "0"
    assert rounded_up(0.123456701) == "0.123457"
    assert rounded_down(0.123456999) == "0.123456"
