"""What reports say that sampling would have found, it finds: in as many runs, for the worst alternative."""

import math
import re
from collections.abc import Callable

import attrs
import numpy as np
import pytest
from scipy import stats

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, Cost, PureDP
from accountant.arrays import FloatArray
from proofs_tests.harness import ClaimViolated, Pair, Report, check_mechanism, power, smallest_detectable
from proofs_tests.harness.power import LIKELY, POWER, smallest_detectable_draw
from proofs_tests.harness.statistical import bound_between, lowest, one_way, share
from proofs_tests.mutants.mutant import drawn

RUNS = 200
FEWER_RUNS = 60


def enough(runs: int) -> int:
    """A check whose power is POWER refutes in fewer runs with a chance of 1e-4."""
    return int(stats.binom.ppf(1e-4, runs, POWER))


SAMPLES = 20_000
CONFIDENCE = 1.0 - 1e-6


def law(cost: Cost, loss: float) -> tuple[FloatArray, FloatArray]:
    """Outcomes on two data sets: the rarest event that power is stated for, one that just loses the claim, the rest.

    The second looks worse than the first in many a small sample, so whoever tests one event only may take that.
    """
    claimed = float(attrs.astuple(cost)[0])
    if isinstance(cost, BoundedRange):
        ways = LIKELY * math.exp(-0.5 * loss)
        return np.array([LIKELY, ways, 1.0 - LIKELY - ways]), np.array([ways, LIKELY, 1.0 - LIKELY - ways])
    rare = float(power._other(cost, loss)[0])
    decoy = 0.4
    other = float(np.interp(decoy, power.PROBABILITIES, power._other(cost, 0.5 * claimed)))
    return np.array([LIKELY, decoy, 1.0 - LIKELY - decoy]), np.array([rare, other, 1.0 - rare - other])


def refuted(cost: Cost, loss: float, runs: int) -> int:
    """In how many runs."""
    rng, laws = np.random.default_rng(0), law(cost, loss)
    claimed, found = float(attrs.astuple(cost)[0]), 0
    for _ in range(runs):
        first, second = (rng.choice(3, size=(SAMPLES, 1), p=each).astype(np.float64) for each in laws)
        found += bound_between(cost, first, second, 1.0 - CONFIDENCE).bound > claimed
    return found


@pytest.mark.parametrize(
    "cost",
    [PureDP(0.7), PureDP(2.0), ApproxDP(0.7, 1e-3), GDP(0.7), ZCDP(0.1), BoundedRange(1.5)],
    ids=repr,
)
def test_the_power_that_is_stated_is_had(cost: Cost) -> None:
    """At the stated factor at least 0.9 of the runs refute, but for a chance of 1e-4; at 0.7 of it (ρ: 0.5) fewer."""
    factor = smallest_detectable(cost, SAMPLES)
    assert factor is not None
    claimed = float(attrs.astuple(cost)[0])
    assert refuted(cost, factor * claimed, RUNS) >= enough(RUNS)
    less = 0.5 if isinstance(cost, ZCDP) else 0.7
    assert refuted(cost, less * factor * claimed, FEWER_RUNS) < enough(FEWER_RUNS)


@pytest.mark.parametrize("cost", [PureDP(0.7), ApproxDP(1.0, 0.01), GDP(1.0), ZCDP(0.1), BoundedRange(1.0)], ids=repr)
def test_no_event_between_those_that_are_looked_at_is_worse(cost: Cost, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = smallest_detectable(cost, SAMPLES)
    monkeypatch.setattr(power, "PROBABILITIES", np.linspace(LIKELY, 1.0 - LIKELY, 181))
    fine = smallest_detectable.__wrapped__(cost, SAMPLES)
    assert fine is not None
    assert coarse is not None
    assert fine <= coarse * 1.005


def test_all_tested_events_share_one_chance_of_error() -> None:
    """Two bounds an event, and two directions: by addition. And by draws, which two-sided caution makes rarer still."""
    for confidence, events in ((0.9, 1), (0.5, 200), (1.0 - 1e-6, 7000)):
        way = one_way(1.0 - confidence)
        spent = 2.0 * (2.0 * events * share(way, events) + 2.0 * share(way, 1))  # the favourite is paid for twice
        assert spent == pytest.approx(2.0 * way) == pytest.approx(1.0 - confidence)
    rng, wrong, runs = np.random.default_rng(1), 0, 100
    for _ in range(runs):
        first, second = (rng.laplace(centre, size=(2_000, 1)) for centre in (1.0, 0.0))
        wrong += bound_between(PureDP(1.0), first, second, 0.5).bound > 1.0
    assert wrong <= stats.binom.isf(1e-4, runs, 0.5)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 draws"):
        check_mechanism(drawn("few", PureDP(1.0), response), [Pair(0.0, 1.0)], samples=15)
    assert check_mechanism(drawn("few", PureDP(1.0), response), [Pair(0.0, 1.0)], samples=16).factor is None


def test_more_samples_find_smaller_factors_and_too_few_none() -> None:
    found = [smallest_detectable(PureDP(1.0), samples) for samples in (20_000, 100_000, 1_000_000)]
    assert all(each is not None for each in found)
    assert found == sorted(found, key=lambda each: -(each or 0.0))
    assert smallest_detectable(PureDP(3.0), 2_000) is None
    assert smallest_detectable(PureDP(0.0), SAMPLES) is None
    # An event no likelier than δ shows nothing.
    assert smallest_detectable(ApproxDP(1.0, 2.0 * LIKELY), 1_000_000) is None


def test_a_draw_that_comes_so_much_too_often_is_outside_its_interval() -> None:
    """By the exact binomial law: at the stated factor with probability 0.9, a tenth below it with less."""
    stated, samples, failure = np.array([0.2, 0.7, 0.099, 0.001]), 5_000, 1e-7
    factor = smallest_detectable_draw(stated, samples, failure)
    assert factor is not None
    hits = np.arange(samples + 1, dtype=np.float64)
    outside = lowest(hits, samples, failure) > 0.099
    assert stats.binom.pmf(hits, samples, factor * 0.099)[outside].sum() >= POWER
    assert stats.binom.pmf(hits, samples, 0.9 * factor * 0.099)[outside].sum() < POWER
    assert smallest_detectable_draw(np.array([1.0, 0.0]), samples, failure) is None


# --- the example of issue 21: true ε = 1, declared 0.7, 20,000 samples ------------------------------------------------


def coin(chance: float) -> Callable[[float, np.random.Generator], FloatArray]:
    """1 with this chance at data 1, and with 1/e of it at data 0."""
    return lambda data, rng: np.array([float(rng.random() < chance * math.exp(data - 1.0))])


def response(data: float, rng: np.random.Generator) -> FloatArray:
    """Randomized response at ε = 1."""
    return np.array([float((rng.random() < 1.0 / (1.0 + math.exp(-1.0))) == (data == 1.0))])


def hidden(data: float, rng: np.random.Generator) -> FloatArray:
    """Loses 1 on an outcome of chance 0.02, and 0.65 on one of 0.4."""
    chances = np.array([0.02 * math.exp(data - 1.0), 0.4 * math.exp(0.65 * (data - 1.0))])
    return np.array([float(np.searchsorted(np.cumsum(chances), rng.random()))])


def many(data: float, rng: np.random.Generator) -> FloatArray:
    """Loses 1 by its parity, which no half-line shows, and has more outcomes than a table takes."""
    return np.array([2.0 * rng.integers(5000) + response(data, rng)[0]])


MECHANISMS: dict[str, Callable[[float, np.random.Generator], FloatArray]] = {
    "Laplace": lambda data, rng: np.array([rng.laplace(data)]),
    "randomized response": response,
    "a chance of 0.1": coin(0.1),
    "a chance of 0.05": coin(0.05),
    "a chance of 0.01": coin(0.01),
    "a chance of 0.001": coin(0.001),
    "hidden by another": hidden,
    "parity of many": many,
}


def looked(name: str) -> Report:
    mechanism = drawn(name, PureDP(0.7), MECHANISMS[name])
    try:
        return check_mechanism(mechanism, [Pair(0.0, 1.0)], samples=SAMPLES)
    except ClaimViolated as violated:
        return violated.report


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_declared_as_seven_tenths_is_refuted_or_said_to_be_out_of_reach(name: str) -> None:
    report = looked(name)
    if name in ("Laplace", "randomized response", "a chance of 0.1"):
        assert report.verdict == "refuted", report
    if report.verdict != "refuted":
        assert report.verdict == "not refuted"
        assert report.factor is not None
        assert report.factor > 1.0 / 0.7
        (printed,) = re.findall(r"would have found a factor of ([0-9.]+) with probability 0\.9\)", str(report))
        assert report.factor <= float(printed) <= 1.01 * report.factor  # rounded up
