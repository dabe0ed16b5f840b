"""Measure producers besides LazyBregman: those with a certificate of their own keep it, and AdaBoost is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from boosting import AdaBoost, ExponentialWeights, LazyBregman, NoCertificate, boost, joint_distance
from learners import PrivateOneRule
from mechanisms import SeededNoise
from proofs_tests.support.learners.tiny_learners import LAYOUT, encoded
from proofs_tests.support.mechanisms.agreements import Agreements, Row


def shares(producer: ExponentialWeights | LazyBregman, agreements: FloatArray) -> FloatArray:
    """μ̂ after all rounds."""
    state = producer.start(Agreements(agreements))
    for number in range(agreements.shape[0]):
        state = producer.step(state, Row(number))
    return state.measure.distribution


tables = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 5))


@given(tables, st.floats(0.01, 3.0), st.booleans(), st.booleans())
def test_neighbours_stay_within_the_certificate(
    size: tuple[int, int, int], rate: float, capped: bool, signs: bool
) -> None:
    seed, n, rounds = size
    rng, producer = np.random.default_rng(seed), ExponentialWeights(rate, capped)
    one = rng.uniform(-1.0, 1.0, (rounds, n))
    other = one.copy()
    other[:, 0] = rng.uniform(-1.0, 1.0, rounds)
    if signs:
        one, other = np.sign(one), np.sign(other)
    # The replaced record is another point, so what it had and what the new one has are far apart.
    moved = joint_distance(["old", *range(1, n)], shares(producer, one), ["new", *range(1, n)], shares(producer, other))
    assert moved <= producer.slickness(n, rounds + 1).zeta * (1.0 + 1e-12)


@pytest.mark.parametrize(("capped", "n", "rounds"), [*itertools.product([False, True], [2, 5, 50], [0, 1, 4])])
def test_the_certificate_is_attained(capped: bool, n: int, rounds: int) -> None:
    """All hypotheses are right on all records but one, on which all are wrong; and a tenth less would be too little."""
    agreements = np.ones((rounds, n))
    agreements[:, 0] = -1.0
    producer = ExponentialWeights(0.3, capped)
    worst = float(shares(producer, agreements)[0])
    assert worst == pytest.approx(producer.slickness(n, rounds + 1).zeta)
    exponent = 0.3 * rounds * (1.0 if capped else 2.0)
    assert worst == pytest.approx(math.exp(exponent) / (math.exp(exponent) + n - 1))


def test_where_nothing_is_capped_it_is_lazy_bregman() -> None:
    rng = np.random.default_rng(0)
    agreements = rng.choice([-1.0, 1.0], (3, 40))
    lazy, plain = LazyBregman(0.1, 0.2), ExponentialWeights(0.2)
    assert shares(lazy, agreements) == pytest.approx(shares(plain, agreements))
    assert lazy.slickness(40, 4).zeta == plain.slickness(40, 4).zeta


def test_signs_and_floats_weigh_alike() -> None:
    signs = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (6, 30))
    for capped in (False, True):
        producer = ExponentialWeights(0.7, capped)
        assert shares(producer, signs) == pytest.approx(shares(producer, signs.astype(float)))


def test_it_boosts_and_is_charged_by_its_own_certificate() -> None:
    records, producer = ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)) * 50, ExponentialWeights(0.2, capped=True)
    ledger = Ledger(PureDP(100.0), composition=BasicComposition(), adjacency=ReplaceOne())
    sample, learner = encoded(records), PrivateOneRule(LAYOUT, 50.0, SeededNoise(0))
    rules = boost(ledger.protect(sample), sample.n, producer, learner, 5, ledger)
    assert sum(rule.predictions(sample).astype(int) for rule in rules) @ sample.labels == 5 * sample.n
    assert "ExponentialWeights(learning_rate=0.2, capped=True)" in str(ledger.entries)


# --- AdaBoost --------------------------------------------------------------------------------------------------


def test_adaboost_is_refused_before_anything_is_charged() -> None:
    ledger = Ledger(PureDP(100.0), composition=BasicComposition(), adjacency=ReplaceOne())
    sample, learner = encoded(((0, 0, 0), (1, 1, 1))), PrivateOneRule(LAYOUT, 1.0, SeededNoise(0))
    with pytest.raises(NoCertificate, match="half of all the weight"):
        boost(ledger.protect(sample), sample.n, AdaBoost(), learner, 3, ledger)  # type: ignore[misc]  # mypy refuses it too: what AdaBoost makes is no Reweighted
    assert [entry.kind for entry in ledger.entries] == ["opened"]
    with pytest.raises(NoCertificate, match="LazyBregman"):
        _ = AdaBoost().start(sample).slickness


@pytest.mark.parametrize("n", [3, 1000])
def test_one_record_gets_half_of_adaboosts_weight(n: int) -> None:
    """Which is why there is no certificate: after one round, whatever n."""
    agreements = np.ones((1, n))
    agreements[0, 0] = -1.0
    state = AdaBoost().step(AdaBoost().start(Agreements(agreements)), Row(0))
    assert state.distribution[0] == pytest.approx(0.5)
    assert list(state.coefficients) == pytest.approx([0.5 * math.log(n - 1.0)])


def test_the_last_hypothesis_is_right_on_half_of_the_weight() -> None:
    rng = np.random.default_rng(1)
    agreements = rng.choice([-1.0, 1.0], (7, 60))
    state = AdaBoost().start(Agreements(agreements))
    for number in range(7):
        state = AdaBoost().step(state, Row(number))
        assert state.distribution @ agreements[number] == pytest.approx(0.0, abs=1e-12)
        assert state.distribution.sum() == pytest.approx(1.0)
    perfect = AdaBoost().step(AdaBoost().start(Agreements(np.ones((1, 4)))), Row(0))
    assert perfect.distribution == pytest.approx(np.full(4, 0.25))
