"""Whole learners by enumeration against their ledgers, under every rule of composition."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Composition,
    Cost,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from boosting import (
    Hypothesis,
    LazyBregman,
    Reweighted,
    Spender,
    WeakLearner,
    boost,
    boosting_plan,
    certificates,
)
from learners import EncodedSample, Layout, LazyBoostClassifier, PrivateOneRule, Schema
from mechanisms import NoiseSource
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    ScriptedNoise,
    check_fitted_surface,
    check_learner,
    neighbours,
    table,
)
from proofs_tests.support.stumps import PrivateStump

Record = tuple[int, int, int]
Output = tuple[object, ...]
RECORDS: list[Record] = list(itertools.product((0, 1), (0, 1), (0, 1)))
LAYOUT = Layout(Schema.boolean(["a", "b"]))
HUGE = ApproxDP(1e6, 1e-5)
RULES: list[tuple[Composition, float]] = [
    (BasicComposition(), 0.0),
    (BasicComposition(), 1e-5),
    (AdvancedComposition(1e-5), 0.0),
    (ZCDPComposition(), 0.0),
]


def encoded(records: tuple[Record, ...]) -> EncodedSample:
    table = np.array(records, dtype=np.intp)
    return EncodedSample(LAYOUT, np.ascontiguousarray(table[:, :2].T), np.where(table[:, 2], 1, -1).astype(np.int8))


BOOSTER = LazyBregman(0.75, 0.4)
ROUNDS = 2
Learner = WeakLearner[Reweighted[EncodedSample], Hypothesis[EncodedSample]]


def rules_of(learner: Learner, records: tuple[Record, ...], spender: Spender, ledger: Ledger) -> Output:
    """What two rounds of the booster release."""
    sample = encoded(records)
    return tuple(boost(ledger.protect(sample), sample.n, BOOSTER, learner, ROUNDS, spender))


def output(learner: Learner, records: tuple[Record, ...]) -> Output:
    """The same on a ledger of its own that can pay anything."""
    ledger = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
    return rules_of(learner, records, ledger, ledger)


def charge(learner: Learner, rule: Composition, delta: float) -> Cost:
    """What a ledger with that rule charges for the run, as one plan where delta > 0; the run really happens."""
    ledger = Ledger(HUGE, composition=rule, adjacency=ReplaceOne())
    records = tuple(RECORDS[:N])
    runs = certificates(BOOSTER, ROUNDS, N)
    plan = boosting_plan(learner, runs)
    with ledger.reserve(plan, adjacency=ReplaceOne(), delta=delta) as reserved:
        rules_of(learner, records, reserved, ledger)
    return ledger.spent


N = 2
SOME = [pair for number, pair in enumerate(neighbours(ReplaceOne(), RECORDS, N)) if number % 9 == 0]


def one_rule(noise: NoiseSource) -> PrivateOneRule:
    return PrivateOneRule(LAYOUT, 2.0, noise)


def stump(noise: NoiseSource) -> PrivateStump:
    """Several releases a round: a split, then its two labels."""
    return PrivateStump(0.7, 2.0, noise)


@pytest.mark.parametrize("learner", [one_rule, stump], ids=["boosted 1-Rules", "boosted depth-1 trees"])
def test_a_boosted_learner_costs_what_its_ledger_says_under_every_rule(
    learner: Callable[[NoiseSource], Learner],
) -> None:
    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
        return output(learner(noise), records)

    charged = {
        f"{learner.__name__}, {rule.name}{', as a plan' * bool(delta)}": charge(learner(ScriptedNoise(())), rule, delta)
        for rule, delta in RULES
    }
    reports = check_learner(run, charged, SOME)
    assert all(0.1 < report.ratio <= 1.0 for report in reports), table(reports)


def test_a_learner_that_draws_more_sharply_than_it_pays_for_is_found() -> None:
    """Its η is a quarter above the one its ledger was told."""
    charged = charge(one_rule(ScriptedNoise(())), BasicComposition(), 0.0)

    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
        return output(PrivateOneRule(LAYOUT, 4.0, noise), records)

    with pytest.raises(ClaimViolated, match=r"sharper: ApproxDP.*VIOLATED"):
        check_learner(run, {"sharper": charged}, SOME)


# --- what a fitted estimator shows -----------------------------------------------------------------------------


def fitted(records: tuple[Record, ...], noise: PinnedNoise) -> LazyBoostClassifier:
    model = LazyBoostClassifier(1.0, 1e-6, rounds=4, random_state=noise)
    table = np.array(records * 5)
    return model.fit(table[:, :2], table[:, 2])


DISTANT = [Pair(((0, 1, 1), (1, 0, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 0), (0, 0, 1)))]


def test_everything_public_on_a_fitted_estimator_was_released_or_is_public() -> None:
    compared = check_fitted_surface(fitted, DISTANT)
    assert {"model_", "ledger_", "statement_", "eta_", "classes_", "n_features_in_"} <= set(compared)


def test_an_attribute_that_nobody_paid_for_is_found() -> None:
    """LazyBB's `err_`, say: the exact weighted error of what was chosen."""

    def leaky(records: tuple[Record, ...], noise: PinnedNoise) -> LazyBoostClassifier:
        model = fitted(records, noise)
        model.err_ = float(np.mean([record[2] for record in records]))
        return model

    with pytest.raises(ClaimViolated, match=r"unpaid: err_"):
        check_fitted_surface(leaky, DISTANT)
