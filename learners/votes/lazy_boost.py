"""LazyBB with private weak learners, as a scikit-learn classifier that pays through a ledger."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from scipy.special import expit

from accountant import ApproxDP, Composition, Ledger, PureDP
from accountant.arrays import FloatArray
from accountant.costs import count, fraction, positive, probability_below_one
from boosting import LazyBregman
from learners.base import (
    Allowance,
    BoostingSettings,
    Calibrator,
    Check,
    Learning,
    PrivateClassifier,
    Progress,
    RandomState,
    Rule,
    Selection,
    lazy_boost_settings,
    named_rule,
    optional,
    selection,
    vote_edges,
)
from learners.blocks import AnyTable, in_blocks, source_header
from learners.encoding import (
    MOST_WEIGHED_RECORDS,
    QUANTILE_SHARE,
    EncodedRows,
    EncodedSample,
    Layout,
    QuantileCuts,
    bin_count,
    check_rows,
    encoded_rows,
    finely_cut,
)
from learners.tables import Schema, Table
from learners.votes.lazy_plan import LazyPlan
from learners.votes.majority_vote import Vote, VoteModel
from learners.votes.one_rules import PrivateOneRule
from learners.votes.top_down import Criterion, PrivateTopDown, check_criterion, check_depth
from learners.votes.weak_learners import CodeHypothesis, LearnerFactory, RoundLearner
from mechanisms.randomness import NoiseSource

WeakLearnerName: TypeAlias = Literal["one-rule", "top-down"]


def _weak_learner(value: WeakLearnerName | LearnerFactory) -> WeakLearnerName | LearnerFactory:
    if not callable(value) and value not in ("one-rule", "top-down"):
        raise ValueError(f"expected 'one-rule', 'top-down', or (layout, eta, noise) -> weak learner, got {value!r}")
    return value


class LazyBoostClassifier(PrivateClassifier[VoteModel]):
    """Boosted private 1-Rules, trees or hypotheses of your own: LazyBB of Asadi et al. [001-Thm7]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger in one entry before the first round. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    weak_learner: "one-rule", a vote for or against a feature; "top-down", a small decision tree; or whatever is called
      as (layout, eta, noise) and returns a weak learner, see `learners.votes.weak_learners.RobustLearner`.
    rounds: number of hypotheses, T, at most 4,096.  learning_rate: λ > 0.
    density: κ in (0, 1], the smoothness of the weighting.
      None takes what `learners.base.defaults.lazy_boost_settings` says for this n, epsilon, delta and number of
      features.
    selection: how "one-rule" and "top-down" choose, see `learners.base.selection_rules.choosing`.
    splits, depth, criterion: of "top-down", see `learners.votes.top_down.PrivateTopDown`. By errors trees were better
      than by Gini on Adult and Cod-RNA at ε of 1 and 3; on Mushroom, neither.
    calibration: share of the budget, in [0, 1), for a noisy histogram of scores and labels; `predict_proba` then gives
      probabilities, and `predict` what they say is more likely. [score-histogram]
    quantile_bins: cut numeric columns without cuts of their own into that many bins of about equal numbers of records,
      for a tenth of the budget, with a feature per cut (value >= cut); None takes the schema's bins. At δ = 0 and small
      ε, thresholds at equal distances are better. [private-quantile]
    schema: a `Schema`, or the path of a schema file; None takes columns of zeros and ones.
    classes: the two public classes, the second positive; None takes the schema's label, else (0, 1).
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta).
    composition: the rule of that own ledger. "auto" prices the whole plan of rounds at delta by the best
      theorem; "basic" does the same; "advanced" and "zcdp" add up round by round and need delta > 0.
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private. A noise
      source of your own is used as it is, and named in the books.

    Fitted: settings_, the rounds, learning rate and density that were used; eta_, the inverse noise scale.

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
        "weak_learner": _weak_learner,
        "rounds": optional(count),
        "learning_rate": optional(positive),
        "density": optional(fraction),
        "selection": selection,
        "splits": count,
        "depth": check_depth,
        "criterion": check_criterion,
        "calibration": probability_below_one,
        "quantile_bins": optional(bin_count),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        weak_learner: WeakLearnerName | LearnerFactory = "one-rule",
        rounds: int | None = None,
        learning_rate: float | None = None,
        density: float | None = None,
        selection: Selection = "exponential",
        splits: int = 3,
        depth: int | None = None,
        criterion: Criterion = "error",
        calibration: float = 0.0,
        quantile_bins: int | None = None,
        schema: Schema | str | Path | None = None,
        classes: tuple[object, object] | None = None,
        ledger: Ledger | str | None = None,
        composition: Rule = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.weak_learner = weak_learner
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.density = density
        self.selection = selection
        self.splits = splits
        self.depth = depth
        self.criterion = criterion
        self.calibration = calibration
        self.quantile_bins = quantile_bins
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.composition = composition
        self.random_state = random_state

    def _parameters(self) -> dict[str, object]:
        checked = super()._parameters()
        density, rate = self.density, self.learning_rate
        LazyBregman(1.0 if density is None else float(density), 1.0 if rate is None else float(rate))
        return checked

    def _own_rule(self) -> Composition:
        return named_rule(self.composition, self.delta)

    def _paying_ledger(self, target: PureDP | ApproxDP) -> Ledger:
        if self.ledger is not None and self.composition != "auto":
            raise ValueError("composition: the ledger brings its own rule; leave composition='auto'")
        return super()._paying_ledger(target)

    def _resolved_schema(self, table: Table) -> Schema:
        schema = super()._resolved_schema(table)
        return schema if self.quantile_bins is None else finely_cut(schema)

    def fit(self, X: AnyTable, y: object = None, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns); or a table in blocks, as
          `ParquetTable`, `MappedTable`, or a DataFrame or array of Dask, which is encoded once and stays where it is.
        y: labels, shape (n,); of a table in blocks, see there.
        on_round: called after each round with its number and its hypothesis, which is public by then.
        The same records and random_state give the same model, however they are stored. [exact-rows]
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        if in_blocks(X) is None:
            return super().fit(X, y, on_round=on_round)  # type: ignore[arg-type]  # both say what else is wrong
        self._parameters()
        header = source_header(X, y)
        schema = self._resolved_schema(header)
        classes = self._public_classes(schema)
        self._fit_any(encoded_rows(X, y, schema, classes, type(self).__name__), classes, on_round)
        self._remember_names(header)
        return self

    def fit_encoded(self, sample: EncodedSample | EncodedRows, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already, in memory or in blocks; its layout's schema takes precedence.

        Raises ValueError where codes or labels are not what the sample says, before anything is charged.
        """
        return self._fit_any(sample, self._public_classes(sample.layout.schema), on_round)

    def _fit_any(
        self, sample: EncodedSample | EncodedRows, classes: tuple[object, ...], on_round: Progress | None
    ) -> Self:
        return self._fit_sample(sample, classes, on_round)  # type: ignore[arg-type]  # the two below take both

    def _prepared(
        self,
        sample: EncodedSample | EncodedRows,
        classes: tuple[object, ...],
        noise: NoiseSource,
        on_round: Progress | None,
    ) -> Learning[VoteModel]:
        if isinstance(sample, EncodedSample):
            if sample.weights is not None:
                raise ValueError("sample weights: this learner weighs the records itself and takes none")
            sample = EncodedRows.of(sample)
        check_rows(sample, len(classes))
        rows = sample
        return lambda allowance: (self._learn(rows, allowance, noise, on_round), None)

    def _plan(self, sample: EncodedRows, allowance: Allowance, noise: NoiseSource) -> LazyPlan:
        """What this fit will release, from public numbers."""
        if sample.n > MOST_WEIGHED_RECORDS:
            raise ValueError(f"{sample.n:,} records: weights are added up exactly for at most {MOST_WEIGHED_RECORDS:,}")
        layout, rho = sample.layout, not isinstance(allowance.target, PureDP)
        cuts = None
        if self.quantile_bins is not None:
            cuts = QuantileCuts(layout.schema, self.quantile_bins, sample.n, QUANTILE_SHARE, rho, noise)
        settings = self._settings(sample.n, cuts.features if cuts is not None and cuts.releases else layout.d)
        calibrator = None
        if self.calibration:
            unit = 2.0 * settings.learning_rate * settings.rounds
            edges = vote_edges(settings.rounds, unit)
            calibrator = Calibrator(float(self.calibration), edges, unit, self._adjacency(), rho, noise)
        if cuts is not None and not cuts.releases:
            cuts = None
        return LazyPlan(layout, sample.n, settings, self._learner, noise, calibrator, cuts)

    def _settings(self, n: int, features: int) -> BoostingSettings:
        """What was given, and for the rest the defaults."""
        splits = self.splits if self.weak_learner == "top-down" else 0
        rounds = None if self.rounds is None else count(self.rounds)
        default = lazy_boost_settings(n, float(self.epsilon), float(self.delta), features, splits=splits, rounds=rounds)
        return default.unless(None, self.learning_rate, self.density)

    def _learner(self, layout: Layout, eta: float, noise: NoiseSource) -> RoundLearner[CodeHypothesis]:
        match self.weak_learner:
            case "one-rule":
                return PrivateOneRule(layout, eta, noise, self.selection)
            case "top-down":
                return PrivateTopDown(layout, eta, self.splits, self.depth, self.criterion, self.selection, noise=noise)
            case factory:
                return factory(layout, eta, noise)

    def _learn(
        self,
        sample: EncodedSample | EncodedRows,
        allowance: Allowance,
        noise: NoiseSource,
        on_round: Progress | None,
    ) -> VoteModel:
        records = EncodedRows.of(sample) if isinstance(sample, EncodedSample) else sample
        plan = self._plan(records, allowance, noise)
        eta = allowance.largest_eta(plan.whole)
        data = allowance.ledger.protect(records.rows)
        with allowance.reserve(plan.whole(eta), self._adjacency(), plan.announced(eta)) as charge:
            model = plan.run(eta, charge, data, on_round)
        self.eta_, self.settings_ = eta, plan.settings
        return model

    def _keep(
        self, model: VoteModel, classes: tuple[object, ...], ledger: Ledger, tuned: dict[str, object] | None = None
    ) -> None:
        super()._keep(model, classes, ledger, tuned)
        if tuned is not None:  # the fit that won was another object's; what is left here is of an earlier fit
            self.__dict__.pop("eta_", None)
            self.__dict__.pop("settings_", None)

    @staticmethod
    def _restored(record: Mapping[str, object]) -> VoteModel:
        return VoteModel.from_record(record)

    def predict_proba(self, X: Table) -> FloatArray:
        """Probabilities, shape (n, 2), if calibrated; else shares of the vote, which rank records and no more."""
        scores = self.decision_function(X)
        share = 0.5 * (1.0 + scores) if self._fitted().calibration is None else expit(scores)
        return np.column_stack([1.0 - share, share])

    def explain(self) -> list[Vote]:
        """The vote table of the paper's Table 4: net votes, feature, value; most votes first."""
        return self._fitted().table()
