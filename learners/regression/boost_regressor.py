"""Additive regression on public partitions with Gaussian noise, as a scikit-learn estimator that pays through a
ledger."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self, TypeAlias, cast

import attrs
import numpy.typing as npt
from sklearn.base import RegressorMixin

from accountant import Ledger, Protected
from accountant.arrays import CodeArray, FloatArray
from accountant.costs import open_probability, probability_below_one
from boosting import Spender
from learners.additive import (
    RELATIONS,
    Curve,
    PrivateBoostClassifier,
    Promise,
    check_pairs,
    pair_columns,
    whole_weights,
)
from learners.base import (
    Check,
    Dataset,
    Domain,
    FitBudget,
    FitPlan,
    NamedColumns,
    PrivateEstimator,
    Progress,
    RandomState,
    affordable_mu,
    domain_schema,
    optional,
    public_interval,
    required_bounds,
)
from learners.blocks import AnyTable, Source, in_blocks
from learners.encoding import Layout, finely_cut
from learners.regression.block_reader import NumberLabels, RegressionReader
from learners.regression.record_views import Records
from learners.regression.regression_design import RegressionDesign
from learners.regression.regression_fit import fit_additively
from learners.regression.regression_losses import LOSSES, LossName, loss_name
from learners.regression.regression_model import RegressionModel
from learners.regression.regression_records import RegressionRows, RegressionSample
from learners.regression.smooth_basis import all_pairs
from learners.tables import (
    Schema,
    Table,
    bounded_labels,
    encode,
    input_names,
    refuse_no_labels,
    refuse_no_records,
    refuse_other_number,
)
from mechanisms.gradients import MOST_RESIDUAL_RECORDS
from mechanisms.randomness import NoiseSource

Interactions: TypeAlias = Literal["auto"] | Sequence[tuple[str, str]]


def check_interactions(value: Interactions) -> object:
    """ "auto", or pairs of names. Raises ValueError."""
    return "auto" if isinstance(value, str) and value == "auto" else check_pairs(value)


def check_delta(value: float) -> float:
    """In (0, 1). Raises ValueError."""
    if value == 0:
        raise ValueError("its noise is Gaussian and needs a delta above 0; 1e-6 is usual")
    return open_probability(value)


class PrivateBoostRegressor(NamedColumns, RegressorMixin, PrivateEstimator[RegressionSample, RegressionModel]):  # type: ignore[misc]  # untyped base
    """An additive model of numbers: a curve for every column and a table for some pairs, that add up.

    Noisy histograms say where records lie, so bounds need not be tight; then 280 rounds release what smooth functions
    of all columns have to do with the residuals, clipped where most of them end, and descend with momentum. After a
    third of the budget, pairs of the columns with the largest effects join. Nothing needs tuning.

    Guarantee: everything that `fit` keeps costs at most (epsilon, delta), charged in one entry before the first
    release; all releases are Gaussian, so the price is exact. Predictions cost nothing. Proofs: [residual-moments],
    [histograms].

    epsilon: what one fit may cost, in nats, > 0.  delta: in (0, 1); choose it far below 1/n.
    label_bounds: *public* lower and upper bound of the labels, by default of the schema's label of numbers; labels
      beyond are moved to the nearest. Bounds taken from the data would be a release that nobody paid for. They need
      not be tight.
    loss: "squared" for means; "absolute" for medians; "huber" for what is typical, outliers aside; "poisson" for
      means of counts and amounts from 0 on, of which effects multiply.
    adjacency: "add-remove-one" hides whether a record is there, and so how many there are; "replace-one" hides what it
      says while n is public, and takes twice the noise. A ledger of your own must promise the same.
    interactions: pairs of columns that may get an effect of their own; "auto" takes those of the largest effects.
    intervals: share of the budget, in [0, 1), for a last histogram of residuals, which `predict_interval` needs.
    weight_cap: the public bound of `sample_weight`, > 0; a record of weight w counts as w/weight_cap of one.
    schema, ledger, random_state: see `PrivateClassifier`.
    verbose: 0, or after how many rounds there is a line on standard error.

    >>> import numpy as np
    >>> from learners import Bounds, PrivateBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(4000, 2))
    >>> y = np.sin(3.0 * X[:, 0]) * X[:, 1]
    >>> model = PrivateBoostRegressor(
    ...     1.0, 1e-6, label_bounds=(-1.0, 1.0), schema=Bounds(-1.0, 1.0), random_state=0
    ... ).fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    """

    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateEstimator._checks,
        "delta": check_delta,
        "label_bounds": optional(lambda value: list(public_interval(value))),
        "loss": loss_name,
        "adjacency": PrivateBoostClassifier._checks["adjacency"],
        "interactions": check_interactions,
        "intervals": probability_below_one,
        "weight_cap": PrivateBoostClassifier._checks["weight_cap"],
    }
    _keeps = RegressionModel
    takes_blocks = trains_in_databases = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        label_bounds: Sequence[float] | None = None,
        loss: LossName = "squared",
        adjacency: Promise = "add-remove-one",
        interactions: Interactions = "auto",
        intervals: float = 0.0,
        weight_cap: float | None = None,
        schema: Domain = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.label_bounds = label_bounds
        self.loss = loss
        self.adjacency = adjacency
        self.interactions = interactions
        self.intervals = intervals
        self.weight_cap = weight_cap
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: AnyTable,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        on_round: Progress | None = None,
    ) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns), or a table in blocks.
        y: numbers, shape (n,); of a table in blocks, the name of their column.
        sample_weight: shape (n,), each from 0 to `weight_cap`, rounded down to a 1,024th of that. A record of weight 0
          is as if it were not there.
        on_round: called after each round with its number and what it released, which is public by then.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """

        def dataset() -> Dataset[RegressionSample]:
            if in_blocks(X) is not None:
                return self._block_dataset(X, y, sample_weight)
            data = self._dataset(cast("Table", X), cast("npt.ArrayLike", y))
            if sample_weight is None:
                return data
            weights = whole_weights(sample_weight, self.weight_cap, data.records.n)
            return attrs.evolve(data, records=attrs.evolve(data.records, weights=weights).weighted())

        return self._fit(dataset, on_round)

    def _bounds(self) -> tuple[float, float]:
        """Of the labels: as given, else as the schema says. Raises ValueError where neither does."""
        said = self.schema.number_label if isinstance(self.schema, Schema) else None
        known = self.label_bounds if self.label_bounds is not None or said is None else (said.lower, said.upper)
        return required_bounds(known)

    def _dataset(self, X: Table, y: npt.ArrayLike) -> Dataset[RegressionSample]:
        """A table, encoded. All that can be wrong with the data is found here."""
        refuse_no_labels(y)
        schema = finely_cut(domain_schema(self.schema, X))
        codes = encode(X, schema, reader=type(self).__name__)
        labels = bounded_labels(y, self._bounds())
        refuse_other_number(codes.shape[1], labels.size)
        refuse_no_records(labels.size)
        names = input_names(X)
        return Dataset(RegressionSample(schema, codes, labels), (), None if names is None else tuple(names))

    def _block_dataset(self, X: AnyTable, y: object, sample_weight: object) -> Dataset[RegressionSample]:
        if sample_weight is not None:
            raise ValueError("sample_weight: this regression takes no weights of a table in blocks; pass a DataFrame")
        bounds, source = self._bounds(), Source.of(X, y)
        schema = finely_cut(domain_schema(self.schema, source.header))
        read = RegressionReader(Layout(schema), NumberLabels(bounds), type(self).__name__)
        rows = RegressionRows(source.rows.map(read).kept(), schema)
        refuse_no_records(rows.n)
        return Dataset(cast("RegressionSample", rows), (), source.names)  # which `_plan` takes as well

    def _plan(
        self, records: RegressionSample, budget: FitBudget, noise: NoiseSource
    ) -> FitPlan[RegressionSample, RegressionModel]:
        if records.n > MOST_RESIDUAL_RECORDS:
            raise ValueError(f"expected at most {MOST_RESIDUAL_RECORDS} records, got {records.n}")
        bounds = self._bounds()
        if LOSSES[self.loss].log and bounds[0] < 0.0:
            raise ValueError(f"label_bounds: loss='poisson' is for labels from 0 on, got {bounds}")
        design = RegressionDesign(
            records.schema,
            bounds,
            RELATIONS[self.adjacency],
            self.loss,
            noise,
            self._candidates(records.schema),
            float(self.intervals),
        )
        mu = affordable_mu(budget, design.plan)

        def run(charge: Spender, data: Protected[RegressionSample], on_round: Progress) -> RegressionModel:
            return fit_additively(cast("Protected[Records]", data), design, mu, charge, on_round)

        claims = ("residual-moments", "histograms", "gdp")
        return FitPlan(design.plan(mu), design.adjacency, design.announced(mu), run, claims=claims, gaussian=True)

    def _candidates(self, schema: Schema) -> tuple[tuple[int, int], ...]:
        if isinstance(self.interactions, str):
            return tuple(all_pairs(len(schema.columns)))
        return tuple(pair_columns(schema, pair) for pair in check_pairs(self.interactions))

    @staticmethod
    def _inputs(model: RegressionModel) -> int:
        return len(model.schema.columns)

    def _codes(self, X: Table) -> tuple[RegressionModel, CodeArray]:
        model = self._fitted()
        self._refuse_other_names(X)
        return model, encode(X, model.schema, reader=type(self).__name__)

    def predict(self, X: Table) -> FloatArray:
        """Predicted labels, within their bounds, shape (n,). X: as in `fit`."""
        model, codes = self._codes(X)
        return model.labels(codes)

    def predict_interval(self, X: Table, coverage: float = 0.9) -> FloatArray:
        """Lower and upper ends that hold so large a share of labels, shape (n, 2); needs `intervals` > 0 in the fit.

        coverage: in (0, 1), over all records, not for each. Noise makes intervals rather too wide.
        Raises ValueError where no histogram was paid for.
        """
        model, codes = self._codes(X)
        return model.intervals(codes, open_probability(coverage))

    def explain(self) -> list[Curve]:
        """The effect of every column and pair on the label, or on its logarithm, the most influential first."""
        return self._fitted().curves()
