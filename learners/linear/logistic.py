"""Private logistic regression by objective perturbation, as a scikit-learn classifier that pays through a ledger."""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import ClassVar, Final, cast

import attrs
import numpy as np
from scipy.special import expit

from accountant import Ledger, PureDP
from accountant.arrays import CodeArray, FloatArray, IntArray
from accountant.costs import positive, up
from learners.base import Check, Domain, FitBudget, FitPlan, PrivateClassifier, RandomState, TablePlan
from learners.encoding import EncodedSample, Layout
from learners.tables import Classes, Schema, Table
from mechanisms.additive import GammaNormNoise, GaussianNoise, LaplaceNoise
from mechanisms.gradients import (
    RECORDS_PER_SUM,
    ROUND_OFF,
    LogisticLosses,
    ObjectivePerturbation,
    Reach,
    TooLittleRegularization,
    calibrated,
)
from mechanisms.randomness import NoiseSource


@attrs.frozen(slots=False)
class LinearLayout:
    """The vector that a record becomes. Public: follows from the schema alone.

    A one-hot feature is 0 or 1; a threshold or Boolean one is −1/2 or 1/2, which halves its reach. There is an
    intercept, always 1, where no column is one-hot: where one is, its coefficients contain it.
    """

    layout: Layout

    @cached_property
    def offsets(self) -> FloatArray:
        """What is taken off each feature's 0 or 1, shape (d,)."""
        columns = self.layout.schema.columns
        return np.array([0.5 if columns[self.layout.feature(j)[0]].cumulative else 0.0 for j in range(self.layout.d)])

    @property
    def intercept(self) -> bool:
        """Whether there is one."""
        return all(column.cumulative for column in self.layout.schema.columns)

    @property
    def d(self) -> int:
        """The number of weights, the intercept last where there is one."""
        return self.layout.d + self.intercept

    @cached_property
    def reach(self) -> Reach:
        """Bounds on every vector: a one-hot column adds 1 to ‖x‖₁ and ‖x‖₂², T thresholds T/2 and T/4."""
        halves = int(np.count_nonzero(self.offsets))
        ones = self.intercept + sum(not column.cumulative for column in self.layout.schema.columns)
        return Reach(ones + 0.5 * halves, up(np.sqrt(ones + 0.25 * halves)))

    @property
    def terms(self) -> int:
        """Products in one score, at most."""
        return self.layout.d - sum(max(0, c.cells - 1) for c in self.layout.schema.columns if not c.cumulative) + 1


@attrs.frozen(slots=False, eq=False)
class LogisticDesign:
    """An encoded sample as a `LinearSample`, by code look-ups: no feature matrix is made."""

    sample: EncodedSample
    linear: LinearLayout

    @property
    def n(self) -> int:
        """The number of records."""
        return self.sample.n

    @property
    def d(self) -> int:
        """The number of weights."""
        return self.linear.d

    @property
    def reach(self) -> Reach:
        """See `LinearLayout`."""
        return self.linear.reach

    @cached_property
    def losses(self) -> LogisticLosses:
        """Of the labels."""
        return LogisticLosses(self.sample.labels.astype(np.float64))

    @property
    def score_rounding(self) -> float:
        """Sums over the features of a cell, then over groups; offsets at most triple each term."""
        return 8.0 * ROUND_OFF * (self.linear.terms + len(self.linear.layout.narrow.groups) + 4)

    @property
    def sum_rounding(self) -> float:
        """Sums over a block, over blocks, then over packed cells; offsets at most triple each term."""
        return 4.0 * ROUND_OFF * (RECORDS_PER_SUM + self.n / RECORDS_PER_SUM + self.linear.layout.narrow.stride + 4)

    def scores(self, weights: FloatArray) -> FloatArray:
        """w·x, shape (n,)."""
        layout, own = self.linear.layout, weights[: self.linear.layout.d]
        tables = np.asarray(layout.narrow.incidence[:-1].T @ own).reshape(-1, layout.narrow.stride)
        total = np.full(self.n, -float(self.linear.offsets @ own))
        if self.linear.intercept:
            total += weights[-1]
        for table, codes in zip(tables, self.sample.packed, strict=True):
            total += table[codes]
        return total

    @cached_property
    def _slots(self) -> IntArray:
        """Packed codes, set apart by block, shape (groups, n)."""
        blocks = np.arange(self.n) // RECORDS_PER_SUM
        return np.asarray(self.sample.packed + blocks * self.linear.layout.narrow.stride, dtype=np.intp)

    def feature_sum(self, residuals: FloatArray) -> FloatArray:
        """Σ rᵢxᵢ, shape (d,)."""
        layout = self.linear.layout
        length = -(-self.n // RECORDS_PER_SUM) * layout.narrow.stride
        cells = [
            np.bincount(slots, weights=residuals, minlength=length).reshape(-1, layout.narrow.stride).sum(axis=0)
            for slots in self._slots
        ]
        sums = np.asarray(layout.narrow.incidence @ np.concatenate(cells), dtype=np.float64)
        features = sums[:-1] - self.linear.offsets * sums[-1]
        return np.append(features, sums[-1]) if self.linear.intercept else features

    @cached_property
    def _tables(self) -> list[tuple[IntArray, FloatArray]]:
        """For each group its features' numbers, shape (f,), and their values on its cells, shape (cells, f)."""
        layout, tables = self.linear.layout, []
        for place, group in enumerate(layout.narrow.groups):
            cells = int(np.prod([layout.schema.columns[column].cells for column in group]))
            numbers = np.array([j for j in range(layout.d) if layout.feature(j)[0] in group], dtype=np.intp)
            start = place * layout.narrow.stride
            part = layout.narrow.incidence[numbers][:, start : start + cells]
            tables.append((numbers, np.asarray(part.toarray().T - self.linear.offsets[numbers], dtype=np.float64)))
        return tables

    def gram(self, curvatures: FloatArray) -> FloatArray:
        """Σ hᵢxᵢxᵢᵀ, shape (d, d), from a weighted contingency table of every two groups."""
        gram, packed = np.zeros((self.d, self.d)), self.sample.packed
        for i, (rows, left) in enumerate(self._tables):
            for j, (columns, right) in enumerate(self._tables[: i + 1]):
                cells = packed[i] * right.shape[0] + packed[j]
                counts = np.bincount(cells, weights=curvatures, minlength=left.shape[0] * right.shape[0])
                block = left.T @ counts.reshape(left.shape[0], right.shape[0]) @ right
                gram[np.ix_(rows, columns)] = block
                gram[np.ix_(columns, rows)] = block.T
        if self.linear.intercept:
            gram[-1] = gram[:, -1] = self.feature_sum(curvatures)
        return gram


@attrs.frozen
class Coefficient:
    """One line of the explanation: what the feature adds to the log-odds of the positive class where it holds.

    For a Boolean or threshold feature half of it is added where it holds, and half is taken off where it does not.
    """

    weight: float
    feature: str
    value: str


@attrs.frozen(slots=False)
class LogisticModel:
    """Released weights over a public schema, in feature order, the intercept last where there is one."""

    schema: Schema
    weights: tuple[float, ...] = attrs.field(converter=tuple[float, ...])

    def __attrs_post_init__(self) -> None:
        if len(self.weights) != self._linear.d or not np.all(np.isfinite(self.weights)):
            raise ValueError(f"expected {self._linear.d} finite weights, got {len(self.weights)}")

    @cached_property
    def _linear(self) -> LinearLayout:
        return LinearLayout(Layout(self.schema))

    @property
    def intercept(self) -> float:
        """The weight of the feature that always holds, 0 where there is none."""
        return self.weights[-1] if self._linear.intercept else 0.0

    @cached_property
    def tables(self) -> list[FloatArray]:
        """What each code of each column adds to the score."""
        layout, offsets = self._linear.layout, self._linear.offsets
        tables = [np.zeros(column.cells) for column in self.schema.columns]
        for number, weight in enumerate(self.weights[: layout.d]):
            column, members = layout.feature(number)
            tables[column] += weight * (members - offsets[number])
        return tables

    def scores(self, codes: CodeArray) -> FloatArray:
        """Log-odds of the second class, shape (n,). codes: shape (columns, n)."""
        total = np.full(codes.shape[1], self.intercept)
        for table, column in zip(self.tables, codes, strict=True):
            total += table[column]
        return total

    def table(self) -> list[Coefficient]:
        """Coefficients, largest first; the intercept, where there is one, is named so."""
        features = [*self.schema.features, ("(intercept)", "")]
        named = [Coefficient(weight, *feature) for weight, feature in zip(self.weights, features, strict=False)]
        return sorted(named, key=lambda line: (-abs(line.weight), line.feature, line.value))

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"schema": self.schema.as_dict(), "weights": list(self.weights)}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "LogisticModel":
        """The inverse of `as_record`. Raises ValueError for weights that do not fit the schema."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        return LogisticModel(schema, tuple(float(weight) for weight in cast("list[float]", record["weights"])))


def _regularization(value: float) -> float:
    """Positive, or None for the default."""
    return value if value is None else positive(value)


class DPLogisticRegression(PrivateClassifier[LogisticModel]):
    """Logistic regression by objective perturbation (Chaudhuri et al. 2011). [objective-perturbation]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger before the noise is drawn. Predictions cost nothing. The minimiser need
    not be exact: what is released carries noise for that as well. [approximate-minimum]

    Noise: for delta=0 Laplace or ℓ2-Laplace, whichever has the smaller deviation; with delta > 0 Gaussian noise
    competes too, priced at delta on a ledger that adds up (ε, δ) and as Gaussian differential privacy on others.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    regularization: Λ > 0, per record: the objective is the mean loss + (Λ/2)‖w‖², w in log-odds per unit of feature.
      None takes `mechanisms.gradients.objective_perturbation.default_regularization` divided by n; 2‖x‖₂²/(n·epsilon)
      is enough to be free.
    schema, classes: see `PrivateClassifier`; two classes only.
    ledger, random_state: see `PrivateEstimator`.

    Fitted: `regularization_`, the Λ that was used, and `deviation_`, the noise's on each coordinate of the gradient's
    sum, in records; both public.

    >>> import numpy as np
    >>> from learners.linear.logistic import DPLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 5))
    >>> model = DPLogisticRegression(epsilon=1.0, random_state=0).fit(X, X[:, 2])
    >>> model.explain()[0].feature
    'x2'
    """

    _keeps = LogisticModel
    _checks: ClassVar[Mapping[str, Check]] = {**PrivateClassifier._checks, "regularization": _regularization}

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        regularization: float | None = None,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.regularization = regularization
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> TablePlan[LogisticModel]:
        if records.weights is not None:
            raise ValueError("this learner takes no sample weights")
        linear, n = LinearLayout(records.layout), records.n
        mechanism = self._mechanism(linear, n, budget, noise)

        plan = FitPlan.released(mechanism, at_once=True).then(
            lambda weights: LogisticModel(linear.layout.schema, tuple(weights.tolist())),
            regularization_=mechanism.regularization / n,
            deviation_=mechanism.deviation,
        )
        return plan.as_round().of(lambda sample: LogisticDesign(sample, linear))

    def _mechanism(self, linear: LinearLayout, n: int, budget: FitBudget, noise: NoiseSource) -> ObjectivePerturbation:
        """The noise with the smallest deviation, among those that have an affordable scale."""
        kinds = (LaplaceNoise, GammaNormNoise) if isinstance(budget.target, PureDP) else _ALL
        given = None if self.regularization is None else n * self.regularization
        solved = partial(calibrated, fits=budget.fits(), reach=linear.reach, d=linear.d, n=n, regularization=given)
        found: list[ObjectivePerturbation] = []
        refused: TooLittleRegularization | None = None
        for kind in kinds:
            delta = budget.plan_delta if kind is GaussianNoise else 0.0
            try:
                found.append(solved(kind, delta=delta, noise=noise))
            except TooLittleRegularization as error:
                refused = error
        if not found:
            raise ValueError(
                f"regularization: {self.regularization!r} per record is too small for n={n}, epsilon={self.epsilon!r}; "
                f"{2.0 * linear.reach.l2**2 / (n * self.epsilon):.3g} would do, or None"
            ) from refused
        return min(found, key=lambda mechanism: mechanism.deviation)

    def predict_proba(self, X: Table) -> FloatArray:
        """Probabilities of the two classes, shape (n, 2): the logistic function of the score."""
        score = self.decision_function(X)
        return np.column_stack([expit(-score), expit(score)])

    def explain(self) -> list[Coefficient]:
        """Coefficients in log-odds of the positive class, largest first."""
        return self._fitted().table()


_ALL: Final = (LaplaceNoise, GammaNormNoise, GaussianNoise)
