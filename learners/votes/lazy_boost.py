"""LazyBB with private weak learners, as a scikit-learn classifier that pays through a ledger."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Literal, Self, TypeAlias, cast

import attrs
import numpy as np
from scipy.special import expit

from accountant import Composition, Ledger, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, fraction, positive, probability_below_one
from boosting import LazyBregman
from learners.base import (
    BoostingSettings,
    Calibrator,
    Check,
    Dataset,
    FitBudget,
    FitPlan,
    PrivateClassifier,
    Progress,
    RandomState,
    Rule,
    Selection,
    TablePlan,
    lazy_boost_settings,
    named_rule,
    optional,
    selection,
    vote_edges,
)
from learners.blocks import AnyTable, Source, in_blocks
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
from mechanisms.core import Rows
from mechanisms.randomness import NoiseSource

WeakLearnerName: TypeAlias = Literal["one-rule", "top-down"]


def _weak_learner(value: WeakLearnerName | LearnerFactory) -> WeakLearnerName | LearnerFactory:
    if not callable(value) and value not in ("one-rule", "top-down"):
        raise ValueError(f"expected 'one-rule', 'top-down', or (layout, eta, noise) -> weak learner, got {value!r}")
    return value


OWN_IN_PYTHON: Final = (
    "what a weak learner of your own sums over records, and what its hypotheses say of each, are functions in Python"
)

Records: TypeAlias = EncodedSample | EncodedRows


def _in_rows(records: Records) -> Rows[EncodedSample]:
    return (EncodedRows.of(records) if isinstance(records, EncodedSample) else records).rows


class LazyBoostClassifier(PrivateClassifier[VoteModel]):
    """Boosted private 1-Rules, trees or hypotheses of your own: LazyBB of Asadi et al. [001-Thm7]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger in one entry before the first round. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    weak_learner: "one-rule", a vote for or against a feature; "top-down", a small decision tree; or whatever is called
      as (layout, eta, noise) and returns a weak learner, see `RobustLearner`.
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
    composition: the rule of a ledger that the fit opens for itself. "auto" prices the whole plan of rounds at delta by
      the best theorem; "basic" does the same; "advanced" and "zcdp" add up round by round and need delta > 0.
    ledger, random_state: see `PrivateEstimator`.
    verbose: 0, or after how many rounds there is a line on standard error.

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

    _keeps = VoteModel
    takes_blocks = trains_in_databases = True
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
        verbose: int = 0,
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
        self.verbose = verbose

    def _parameters(self) -> dict[str, object]:
        checked = super()._parameters()
        density, rate = self.density, self.learning_rate
        LazyBregman(1.0 if density is None else float(density), 1.0 if rate is None else float(rate))
        if self.ledger is not None and self.composition != "auto":
            raise ValueError("composition: the ledger brings its own rule; leave composition='auto'")
        return checked

    def _own_rule(self) -> Composition:
        return named_rule(self.composition, self.delta)

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
        return self._fit(lambda: self._any_dataset(X, y), on_round)

    def fit_encoded(self, sample: Records, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already, in memory or in blocks; its layout's schema takes precedence.

        Raises ValueError where codes or labels are not what the sample says, before anything is charged.
        """
        if isinstance(sample, EncodedSample):
            return super().fit_encoded(sample, on_round=on_round)
        return self._fit(lambda: self._rows_dataset(sample), on_round)

    def _any_dataset(self, X: AnyTable, y: object) -> Dataset[EncodedSample]:
        if in_blocks(X) is None:
            return self._dataset(X, y)  # type: ignore[arg-type]  # both say what else is wrong
        source = Source.of(X, y)
        schema = self._resolved_schema(source.header)
        reason = OWN_IN_PYTHON if callable(self.weak_learner) else ""
        rows = encoded_rows(source.rows, schema, self._public_classes(schema), type(self).__name__, reason)
        return attrs.evolve(self._rows_dataset(rows), names=source.names)

    def _rows_dataset(self, rows: EncodedRows) -> Dataset[EncodedSample]:
        classes = self._public_classes(rows.layout.schema)
        check_rows(rows, len(classes))
        return Dataset(cast("EncodedSample", rows), classes)  # which `_plan` takes as well

    def _plan(self, records: Records, budget: FitBudget, noise: NoiseSource) -> TablePlan[VoteModel]:
        if records.weighted if isinstance(records, EncodedRows) else records.weights is not None:
            raise ValueError("sample weights: this learner weighs the records itself and takes none")
        plan = self._priced(records.layout, records.n, not isinstance(budget.target, PureDP), noise)
        eta = budget.largest_eta(plan.whole)
        return FitPlan(
            plan.whole(eta),
            ReplaceOne(),
            plan.announced(eta),
            partial(plan.run, eta),
            shown={"eta_": eta, "settings_": plan.settings},
        ).of(_in_rows)

    def _priced(self, layout: Layout, n: int, rho: bool, noise: NoiseSource) -> LazyPlan:
        """What this fit will release. rho: whether there is a δ."""
        if n > MOST_WEIGHED_RECORDS:
            raise ValueError(f"{n:,} records: weights are added up exactly for at most {MOST_WEIGHED_RECORDS:,}")
        cuts = None
        if self.quantile_bins is not None:
            cuts = QuantileCuts(layout.schema, self.quantile_bins, n, QUANTILE_SHARE, rho, noise)
        settings = self._settings(n, cuts.features if cuts is not None and cuts.releases else layout.d)
        calibrator = None
        if self.calibration:
            unit = 2.0 * settings.learning_rate * settings.rounds
            edges = vote_edges(settings.rounds, unit)
            calibrator = Calibrator(float(self.calibration), edges, unit, ReplaceOne(), rho, noise)
        if cuts is not None and not cuts.releases:
            cuts = None
        return LazyPlan(layout, n, settings, self._learner, noise, calibrator, cuts)

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

    def predict_proba(self, X: Table) -> FloatArray:
        """Probabilities, shape (n, 2), if calibrated; else shares of the vote, which rank records and no more."""
        scores = self.decision_function(X)
        share = 0.5 * (1.0 + scores) if self._fitted().calibration is None else expit(scores)
        return np.column_stack([1.0 - share, share])

    def explain(self) -> list[Vote]:
        """The vote table of the paper's Table 4: net votes, feature, value; most votes first."""
        return self._fitted().table()
