"""The learner that we recommend: an additive model, boosted on public partitions with Gaussian noise."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, Self, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne, Ledger, Protected, ReplaceOne
from accountant.arrays import FloatArray, SignArray
from accountant.costs import count, open_probability, positive, probability_below_one
from boosting import Spender
from learners.additive.additive_boost import ROUNDS_PER_COLUMN, AdditiveDesign, boost_additively
from learners.additive.additive_model import AdditiveModel, Curve, softmax
from learners.additive.interactions import AUTO, Pairs, as_pairs, own_pairs
from learners.additive.monotone import Constraints, check_constraints, directions
from learners.additive.scored_records import Records, has_weights
from learners.additive.weighted_tables import (
    BlockReader,
    block_records,
    heavy_labels,
    weighted_sample,
    whole_weights,
)
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
from learners.blocks import AnyTable, Source, in_blocks
from learners.encoding import FINEST, EncodedRows, EncodedSample, Layout, check_rows, finely_cut
from learners.tables import (
    Bounds,
    Classes,
    CodedLabels,
    Schema,
    Table,
    coded_labels,
    input_names,
    label_array,
    refuse_no_labels,
)
from mechanisms.gradients import most_records
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


def _as_they_are(records: Records) -> Records:
    return records


class PrivateBoostClassifier(PrivateClassifier[AdditiveModel]):
    """An additive model on the log-odds scale, learnt without ever choosing a split.

    Numeric columns without `cuts` of their own are cut into up to 4,096 cells by their public bounds. Two noisy
    histograms say where the records of columns with more than 128 cells lie. Then columns take turns: in each round one
    column is cut into bins, the clipped gradients and curvatures of *all* bins are released with Gaussian noise, and
    the column's effect moves by what they say. Bins and steps follow from the noise and from what was released.

    Nothing needs tuning. There are 8 rounds per column. Where pairs may be chosen, there are two to four times as many
    releases, each with as much less of the budget. Where pairs pay, they are further rounds; elsewhere, the releases of
    a round are averaged, which is the same as one with more budget. That costs time, and nothing else. Each release
    reads the records once, by compiled code where they are many and the extra `fast` is installed, with the same bits;
    EXCHEQUER_FAST=0 in the environment turns that off.

    Guarantee: everything that `fit` keeps costs at most (epsilon, delta), charged in one entry before the first
    release; all releases are Gaussian, so the price is exact. Predictions cost nothing. Proofs: [clipped-gradients],
    [histograms].

    epsilon: what one fit may cost, in nats, > 0.  delta: in (0, 1); choose it far below 1/n.
    adjacency: "add-remove-one" hides whether a record is there, and so how many there are; "replace-one" hides what it
      says while n is public, and takes almost twice the noise. A ledger of your own must promise the same.
    rounds_per_column: on average, where no pairs are chosen.
    interactions: "auto" also looks at pairs of the columns whose effects turn out to be largest, at most 28, once those
      have settled and where the records are many enough for the noise; nothing but released effects chooses them, and
      they cost no more. Or pairs of columns of your own that get an effect; public, each costs as much as a column.
      () for none.
    calibration: share of the budget, in [0, 1), for a last histogram of scores by label, from which probabilities and
      the threshold are estimated; for two classes. It helps where the fit stays far from the optimum (Cod-RNA at small
      ε: 1 % more right), and hurts where noise hides the histogram.
    monotonic_cst: columns of numbers with which the score must not fall (1), or not rise (−1): a mapping of names, or
      one of −1, 0 and 1 for each column, as in scikit-learn; for two classes. Predictions then obey exactly, whatever
      the noise; missing numbers in a cell of their own are free. It costs nothing. Such a column is in no interaction.
    weight_cap: the public bound of `sample_weight`, > 0; a record of weight w counts as w/weight_cap of one.
    tune: settings to choose from privately, see `learners.base.tuning`; None takes this one.
    schema, classes, ledger, random_state: see `PrivateClassifier`. Two classes or more, under one budget.
    verbose: 0, or after how many rounds there is a line on standard error.

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
        "interactions": as_pairs,
        "calibration": probability_below_one,
        "monotonic_cst": check_constraints,
        "weight_cap": _cap,
    }
    _keeps = AdditiveModel
    takes_blocks = trains_in_databases = True
    _renamed: ClassVar[Mapping[str, str]] = {"sweeps": "rounds_per_column"}
    _later: ClassVar[Mapping[str, object]] = {"monotonic_cst": None}
    _multi_class: ClassVar[bool] = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        adjacency: Promise = "add-remove-one",
        rounds_per_column: int = ROUNDS_PER_COLUMN,
        interactions: Pairs = AUTO,
        calibration: float = 0.0,
        monotonic_cst: Constraints = None,
        weight_cap: float | None = None,
        tune: Sequence[Mapping[str, object]] | None = None,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
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
        self.verbose = verbose

    def fit(
        self, X: AnyTable, y: object = None, sample_weight: object = None, *, on_round: Progress | None = None
    ) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns); or a table in blocks, as
          `ParquetTable`, `MappedTable`, or a DataFrame or array of Dask, which is encoded once and stays where it is.
        y: labels, shape (n,); of a table in blocks, see there.
        sample_weight: shape (n,), each from 0 to `weight_cap`, rounded down to a 1,024th of that; of a table in blocks
          with a `Schema`, the name of the column that has them. A record of weight 0 is as if it were not there.
        on_round: called after each release of gradients with its number and what was released, which is public by then.
          Not called where settings are tuned: how many runs there are must stay hidden.
        The same records and random_state give the same model, however they are stored. [exact-rows]
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        return self._fit(lambda: self._any_dataset(X, y, sample_weight), on_round)

    def fit_encoded(self, sample: Records, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already, in memory or in blocks; its layout's schema takes precedence.

        Raises ValueError where codes, labels or weights are not what the sample says, before anything is charged.
        """
        if isinstance(sample, EncodedSample):
            return super().fit_encoded(sample, on_round=on_round)
        return self._fit(lambda: self._rows_dataset(sample), on_round)

    def _any_dataset(self, X: AnyTable, y: object, sample_weight: object) -> Dataset[EncodedSample]:
        if in_blocks(X) is not None:
            return self._block_dataset(X, y, sample_weight)
        table = cast("Table", X)
        refuse_no_labels(cast("npt.ArrayLike", y))
        weights = None if sample_weight is None else whole_weights(sample_weight, self.weight_cap, label_array(y).size)
        schema = self._resolved_schema(table)
        layout, names = Layout(schema), input_names(table)

        def coded(given: object) -> SignArray:
            return coded_labels(given, self._public_classes(schema, cast("npt.ArrayLike", given)))

        sample = weighted_sample(table, y, weights, layout, coded, type(self).__name__)
        classes = self._public_classes(schema, cast("npt.ArrayLike", heavy_labels(y, weights)))
        return Dataset(sample, classes, None if names is None else tuple(names))

    def _block_dataset(self, X: AnyTable, y: object, sample_weight: object) -> Dataset[EncodedSample]:
        if not isinstance(sample_weight, str | None):
            raise TypeError("sample_weight: of a table in blocks, expected the name of the column of weights")
        if sample_weight is not None and isinstance(self.schema, Bounds | None):
            raise ValueError("sample_weight: a column of weights needs a Schema, which says which columns are features")
        if sample_weight is not None and self.weight_cap is None:
            raise ValueError("sample_weight needs weight_cap: a public bound of the weights, as it sets the noise")
        source = Source.of(X, y)
        schema = self._resolved_schema(source.header)
        classes = self._public_classes(schema)
        read = BlockReader(
            Layout(schema), CodedLabels(tuple(classes)), type(self).__name__, sample_weight, self.weight_cap
        )
        return attrs.evolve(self._rows_dataset(block_records(source.rows, read)), names=source.names)

    def _rows_dataset(self, rows: EncodedRows) -> Dataset[EncodedSample]:
        classes = self._public_classes(rows.layout.schema)
        check_rows(rows, len(classes))
        return Dataset(cast("EncodedSample", rows), classes)  # which `_plan` takes as well

    def _resolved_schema(self, table: Table) -> Schema:
        return finely_cut(super()._resolved_schema(table), FINEST)

    def _plan(self, records: Records, budget: FitBudget, noise: NoiseSource) -> TablePlan[AdditiveModel]:
        most = most_records(weighted=has_weights(records))
        if records.n > most:
            raise ValueError(f"expected at most {most} records, got {records.n}")
        schema, classes = records.layout.schema, len(budget.classes)
        pairs = own_pairs(self.interactions)
        design = AdditiveDesign(
            schema,
            RELATIONS[self.adjacency],
            classes,
            noise,
            self.rounds_per_column,
            pairs,
            float(self.calibration),
            directions(self.monotonic_cst, schema, classes, pairs),
            isinstance(self.interactions, str) and self.interactions == AUTO,
        )
        eta = budget.largest_eta(design.plan)

        def run(charge: Spender, data: Protected[Records], on_round: Progress) -> AdditiveModel:
            return boost_additively(data, design, eta, charge, on_round)

        return FitPlan(
            design.plan(eta),
            design.adjacency,
            design.announced(eta),
            run,
            shown={"eta_": eta},
            claims=("clipped-gradients", "histograms", "gdp", *(("score-histogram",) if self.calibration else ())),
            gaussian=True,
        ).of(_as_they_are)

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
