"""Two boosted learners on three Boolean columns, small enough that every run of them can be enumerated."""

import itertools
from collections.abc import Callable

import numpy as np

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
from learners import EncodedSample, Layout, PrivateOneRule, Schema
from mechanisms import NoiseSource
from proofs_tests.harness import ScriptedNoise
from proofs_tests.support.mechanisms.stumps import PrivateStump

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
    records = tuple(RECORDS[:2])
    runs = certificates(BOOSTER, ROUNDS, len(records))
    plan = boosting_plan(learner, runs)
    with ledger.reserve(plan, adjacency=ReplaceOne(), delta=delta) as reserved:
        rules_of(learner, records, reserved, ledger)
    return ledger.spent


def one_rule(noise: NoiseSource) -> PrivateOneRule:
    return PrivateOneRule(LAYOUT, 2.0, noise)


def stump(noise: NoiseSource) -> PrivateStump:
    """Several releases a round: a split, then its two labels."""
    return PrivateStump(0.7, 2.0, noise)


LEARNERS: tuple[Callable[[NoiseSource], Learner], ...] = (one_rule, stump)


def charges(learner: Callable[[NoiseSource], Learner]) -> dict[str, Cost]:
    """What ledgers with each of the rules charge, by a name for the report."""
    return {
        f"{learner.__name__}, {rule.name}{', as a plan' * bool(delta)}": charge(learner(ScriptedNoise(())), rule, delta)
        for rule, delta in RULES
    }
