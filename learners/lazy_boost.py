"""LazyBB with private 1-Rules, as a scikit-learn classifier that pays through a ledger."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from accountant import ApproxDP, Composition, Ledger, Plan, PureDP, ReplaceOne
from accountant._numbers import count, fraction, positive
from boosting import LazyBregman, boost, boosting_plan, certificates
from boosting.measures import FloatArray
from learners.encoding import EncodedSample
from learners.estimator import Allowance, Check, PrivateClassifier, Progress, RandomState, Rule, named_rule
from learners.one_rule import PrivateOneRule
from learners.schema import Schema
from learners.tables import Table
from learners.votes import Vote, VoteModel
from mechanisms.noise import NoiseSource


class LazyBoostClassifier(PrivateClassifier[VoteModel]):
    """Boosted private 1-Rules: LazyBB of Asadi et al. with the tight cost of DP-1R. [001-Thm7]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger in one entry before the first round. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    rounds: number of 1-Rules, T, at most 4,096.  learning_rate: λ > 0.
    density: κ in (0, 1], the smoothness of the weighting.
    schema: a `Schema`, or the path of a schema file; None takes columns of zeros and ones.
    classes: the two public classes, the second positive; None takes the schema's label, else (0, 1).
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta).
    composition: the rule of that own ledger. "auto" prices the whole plan of rounds at delta by the best
      theorem; "basic" does the same; "advanced" and "zcdp" add up round by round and need delta > 0.
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private. A noise
      source of your own is used as it is, and named in the books.

    >>> import numpy as np
    >>> from accountant import PureDP
    >>> from learners import LazyBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 5))
    >>> model = LazyBoostClassifier(epsilon=1.0, rounds=5, random_state=0).fit(X, X[:, 2])
    >>> model.explain()[0].feature
    'x2'
    >>> model.ledger_.spent <= PureDP(1.0)
    True
    """

    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateClassifier._checks,
        "rounds": count,
        "learning_rate": positive,
        "density": fraction,
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        rounds: int = 25,
        learning_rate: float = 0.45,
        density: float = 0.35,
        schema: Schema | str | Path | None = None,
        classes: tuple[object, object] | None = None,
        ledger: Ledger | None = None,
        composition: Rule = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.density = density
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.composition = composition
        self.random_state = random_state

    def _parameters(self) -> dict[str, object]:
        checked = super()._parameters()
        LazyBregman(float(self.density), float(self.learning_rate))
        return checked

    def _own_rule(self) -> Composition:
        return named_rule(self.composition, self.delta)

    def _paying_ledger(self, target: PureDP | ApproxDP) -> Ledger:
        if self.ledger is not None and self.composition != "auto":
            raise ValueError("composition: the ledger brings its own rule; leave composition='auto'")
        return super()._paying_ledger(target)

    def _learn(
        self, sample: EncodedSample, allowance: Allowance, noise: NoiseSource, on_round: Progress | None
    ) -> VoteModel:
        booster = LazyBregman(self.density, self.learning_rate)
        runs = certificates(booster, self.rounds, sample.n)

        def plan(eta: float) -> Plan:
            return boosting_plan(PrivateOneRule(sample.layout, eta, noise), runs)

        self.eta_ = allowance.largest_eta(plan)
        learner = PrivateOneRule(sample.layout, self.eta_, noise)
        announced = learner.mechanism(runs[-1][0].zeta).under(runs[-1][0]).description
        data = allowance.ledger.protect(sample)
        with allowance.reserve(plan(self.eta_), ReplaceOne(), announced) as charge:
            rules = boost(data, sample.n, booster, learner, self.rounds, charge, on_round)
        return VoteModel(sample.layout.schema, rules)

    @staticmethod
    def _restored(record: Mapping[str, object]) -> VoteModel:
        return VoteModel.from_record(record)

    def predict_proba(self, X: Table) -> FloatArray:
        """Shares of the vote, shape (n, 2). They rank records; they are not calibrated."""
        share = 0.5 * (1.0 + self.decision_function(X))
        return np.column_stack([1.0 - share, share])

    def explain(self) -> list[Vote]:
        """The vote table of the paper's Table 4: net votes, feature, value; most votes first."""
        return self._fitted().table()
