"""The learner that we recommend: an additive model, boosted on public partitions with Gaussian noise."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne, Ledger, Protected, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, open_probability, positive, probability_below_one
from boosting import Spender
from learners.additive.additive_boost import ROUNDS_PER_COLUMN, AdditiveDesign, boost_additively
from learners.additive.additive_model import AdditiveModel, Curve, softmax
from learners.additive.monotone import Constraints, check_constraints, directions
from learners.additive.views import check_pairs
from learners.base import (
    Check,
    Dataset,
    Domain,
    FitBudget,
    FitPlan,
    PrivateClassifier,
    Progress,
    RandomState,
    TablePlan,
)
from learners.encoding import EncodedSample, finely_cut
from learners.tables import Classes, Schema, Table, as_numbers, column_values, each_value
from mechanisms.gradients import MOST_GRADIENT_RECORDS, WEIGHT_ONE
from mechanisms.randomness import NoiseSource

Promise: TypeAlias = Literal["add-remove-one", "replace-one"]

RELATIONS: Final[dict[str, AddRemoveOne | ReplaceOne]] = {
    "add-remove-one": AddRemoveOne(),
    "replace-one": ReplaceOne(),
}


def _relation(name: str) -> str:
    if name not in RELATIONS:
        raise ValueError(f"expected one of {list(RELATIONS)}, got {name!r}")
    return name


def _delta(value: float) -> float:
    if value == 0:
        raise ValueError("its noise is Gaussian and needs a delta above 0; LazyBoostClassifier is private at delta=0")
    return open_probability(value)


def _cap(value: float | None) -> float | None:
    return None if value is None else positive(value)


def whole_weights(weights: npt.ArrayLike, cap: float | None, n: int) -> npt.NDArray[np.int32]:
    """Weights in whole 1/WEIGHT_ONE of the cap, rounded down; shape (n,).

    Raises ValueError for another shape, or naming the row of a weight that is not within [0, cap].
    """
    if cap is None:
        raise ValueError("sample_weight needs weight_cap: a public bound of the weights, as it sets the noise")
    given = column_values(weights, "sample_weight")
    values = each_value(given, lambda each, row_of: as_numbers(each, "sample_weight", row_of))
    if values.shape != (n,):
        raise ValueError(f"sample_weight: expected shape ({n},), got {values.shape}")
    outside = np.flatnonzero(~((values >= 0.0) & (values <= cap)))
    if outside.size:
        row = int(outside[0])
        raise ValueError(f"sample_weight, row {row}: {float(values[row])!r} is not within [0, weight_cap={cap!r}]")
    return np.floor(values / cap * WEIGHT_ONE).astype(np.int32)


class PrivateBoostClassifier(PrivateClassifier[AdditiveModel]):
    """An additive model on the log-odds scale, learnt without ever choosing a split.

    Columns take turns; in each round one column is cut into public bins, the clipped gradients and curvatures of *all*
    bins are released with Gaussian noise, and the column's effect moves by what they say. Numeric columns without
    `cuts` of their own are cut finely by their bounds, and where their records lie is estimated privately first.
    Nothing needs tuning: rounds are 8 per column, bins and steps follow from the noise and from what was released.

    Guarantee: everything that `fit` keeps costs at most (epsilon, delta), charged in one entry before the first
    release; all releases are Gaussian, so the price is exact. Predictions cost nothing. Proofs: [clipped-gradients],
    [histograms].

    epsilon: what one fit may cost, in nats, > 0.  delta: in (0, 1); choose it far below 1/n.
    adjacency: "add-remove-one" hides whether a record is there, and so how many there are; "replace-one" hides what it
      says while n is public, and takes almost twice the noise. A ledger of your own must promise the same.
    rounds_per_column: on average.
    interactions: pairs of columns that get an effect of their own; public, and each costs as much as a column.
    calibration: share of the budget, in [0, 1), for a last histogram of scores by label, from which probabilities and
      the threshold are estimated; for two classes. It helps where the fit stays far from the optimum (Cod-RNA at small
      ε: 1 % more right), and hurts where noise hides the histogram.
    monotonic_cst: columns of numbers with which the score must not fall (1), or not rise (−1): a mapping of names, or
      one of −1, 0 and 1 for each column, as in scikit-learn; for two classes. Predictions then obey exactly, whatever
      the noise; missing numbers in a cell of their own are free. It costs nothing. Such a column is in no interaction.
    weight_cap: the public bound of `sample_weight`, > 0; a record of weight w counts as w/weight_cap of one.
    tune: settings to choose from privately, see `learners.base.tuning`; None takes this one.
    schema, classes, ledger, random_state: see `PrivateClassifier`. Two classes or more, under one budget.

    >>> import numpy as np
    >>> from learners import PrivateBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 5))
    >>> model = PrivateBoostClassifier(epsilon=1.0, delta=1e-6, random_state=0).fit(X, X[:, 2])
    >>> model.explain()[0].columns
    ('x2',)
    """

    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateClassifier._checks,
        "delta": _delta,
        "adjacency": _relation,
        "rounds_per_column": count,
        "interactions": check_pairs,
        "calibration": probability_below_one,
        "monotonic_cst": check_constraints,
        "weight_cap": _cap,
    }
    _keeps = AdditiveModel
    _renamed: ClassVar[Mapping[str, str]] = {"sweeps": "rounds_per_column"}
    _multi_class: ClassVar[bool] = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        adjacency: Promise = "add-remove-one",
        rounds_per_column: int = ROUNDS_PER_COLUMN,
        interactions: Sequence[tuple[str, str]] = (),
        calibration: float = 0.0,
        monotonic_cst: Constraints = None,
        weight_cap: float | None = None,
        tune: Sequence[Mapping[str, object]] | None = None,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.rounds_per_column = rounds_per_column
        self.interactions = interactions
        self.calibration = calibration
        self.monotonic_cst = monotonic_cst
        self.weight_cap = weight_cap
        self.tune = tune
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def fit(
        self,
        X: Table,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        on_round: Progress | None = None,
    ) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release; see `PrivateClassifier.fit`.

        sample_weight: shape (n,), each from 0 to `weight_cap`, rounded down to a 1,024th of that. A record of weight 0
          is as if it were not there.
        """

        def dataset() -> Dataset[EncodedSample]:
            data = self._dataset(X, y)
            if sample_weight is None:
                return data
            weights = whole_weights(sample_weight, self.weight_cap, data.records.n)
            return attrs.evolve(data, records=attrs.evolve(data.records, weights=weights).weighted())

        return self._fit(dataset, on_round)

    def _resolved_schema(self, table: Table) -> Schema:
        return finely_cut(super()._resolved_schema(table))

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> TablePlan[AdditiveModel]:
        if records.n > MOST_GRADIENT_RECORDS:
            raise ValueError(f"expected at most {MOST_GRADIENT_RECORDS} records, got {records.n}")
        schema, classes, pairs = records.layout.schema, len(budget.classes), check_pairs(self.interactions)
        design = AdditiveDesign(
            schema,
            RELATIONS[self.adjacency],
            classes,
            noise,
            self.rounds_per_column,
            pairs,
            float(self.calibration),
            directions(self.monotonic_cst, schema, classes, pairs),
        )
        eta = budget.largest_eta(design.plan)

        def run(charge: Spender, data: Protected[EncodedSample], on_round: Progress) -> AdditiveModel:
            return boost_additively(data, design, eta, charge, on_round)

        return FitPlan(
            design.plan(eta),
            design.adjacency,
            design.announced(eta),
            run,
            shown={"eta_": eta},
            claims=("clipped-gradients", "histograms", "gdp", *(("score-histogram",) if self.calibration else ())),
            gaussian=True,
        )

    def decision_function(self, X: Table) -> FloatArray:
        """Scores on the scale of log-odds, shape (n,), positive for the second class; (n, K) for K > 2 classes.

        Their order and sign are those of the log-odds, their size is a little more: see `predict_proba`.
        """
        return super().decision_function(X)

    def predict_proba(self, X: Table) -> FloatArray:
        """Probabilities, shape (n, K): of two classes what the score and the clipped loss say, or the calibration.

        For more classes the softmax of the scores, which ranks classes and is less exact. [clipped-link]
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return softmax(scores)
        share = self._fitted().probabilities(scores)
        return np.column_stack([1.0 - share, share])

    def explain(self) -> list[Curve]:
        """The effect of every column on the score, the most influential first."""
        return self._fitted().curves()
