"""Private random feature models as scikit-learn estimators that pay through a ledger."""

import abc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, Self, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from accountant import Composition, Ledger, NoBound
from accountant.arrays import FloatArray
from accountant.costs import count
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
    domain_schema,
    moderate,
    optional,
    public_interval,
    public_seed,
    required_bounds,
)
from learners.blocks import AnyTable, Source
from learners.encoding import Coding
from learners.public_classifier import PublicClassifier
from learners.random_features.baselines import SGD, Objective, Ridge
from learners.random_features.descent import AdaSSP, Descent
from learners.random_features.feature_maps import (
    IN_FILES,
    FeatureMap,
    FrequencyDistribution,
    distribution_name,
    feature_map_name,
)
from learners.random_features.feature_model import RandomFeatureModel
from learners.random_features.feature_rows import FeatureRows, feature_rows
from learners.random_features.solvers import MinNorm, Published, Solver, Task
from learners.tables import (
    Classes,
    Table,
    bounded_labels,
    refuse_no_records,
    signs,
)
from mechanisms.randomness import NoiseSource

SOLVERS: Final[Mapping[str, type[Descent | AdaSSP | MinNorm | Published | SGD | Ridge | Objective]]] = {
    kind.name: kind for kind in (Descent, AdaSSP, MinNorm, Published, SGD, Ridge, Objective)
}
"""By name; "gamma" is "min-norm" with that noise."""

SolverName: TypeAlias = Solver | str | Mapping[str, object]
"""A solver with its settings, its name for the usual ones, or what a saved model says of it."""


def solver_of(value: SolverName) -> Solver:
    """The solver. Raises ValueError or TypeError for anything else."""
    if hasattr(value, "plan") and not isinstance(value, type):
        return cast("Solver", value)  # one of yours, too; a file with it is read by whoever has it
    if not isinstance(value, str | Mapping):
        raise TypeError(f"expected a name, or a solver such as Descent(), got {value!r}")
    settings: dict[str, object] = {"name": value} if isinstance(value, str) else dict(value)
    name = settings.pop("name", None)
    if name == "gamma":
        return MinNorm(gamma=True)
    if name not in SOLVERS:
        raise ValueError(f"expected one of {[*SOLVERS, 'gamma']}, or a solver with settings, got {value!r}")
    kind = SOLVERS[cast("str", name)]
    if strange := sorted(set(settings) - {field.name for field in attrs.fields(kind)}):
        raise ValueError(f"solver {name!r} has no settings {', '.join(strange)}")
    return cast("Solver", kind(**settings))  # type: ignore[arg-type]  # each field checks its own


def solver_record(value: SolverName) -> dict[str, object]:
    """Its name and settings, for JSON."""
    solver = solver_of(value)
    settings = attrs.asdict(cast("attrs.AttrsInstance", solver)) if attrs.has(type(solver)) else {}
    return {"name": solver.name, **settings}


@attrs.frozen
class Labels:
    """targets: of labels, shape (k,), a pure function.  bounds, classes: public; a regression has no classes."""

    targets: Callable[[npt.ArrayLike], FloatArray]
    bounds: tuple[float, float]
    classes: tuple[object, ...] = ()


def _sign_targets(y: npt.ArrayLike, classes: tuple[object, ...]) -> FloatArray:
    return signs(y, classes).astype(np.float64)


class RandomFeatureEstimator(NamedColumns, PrivateEstimator[FeatureRows, RandomFeatureModel]):
    """What the regressor and the classifier share: see `RandomFeatureRegressor`, whose parameters these are."""

    distribution: FrequencyDistribution
    feature_map: FeatureMap
    n_components: int
    scale: float | None
    feature_seed: int
    solver: SolverName

    _keeps = RandomFeatureModel
    takes_blocks = True
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateEstimator._checks,
        "solver": solver_record,
        "distribution": distribution_name,
        "feature_map": feature_map_name,
        "n_components": count,
        "scale": optional(moderate),
        "feature_seed": public_seed,
    }
    _renamed: ClassVar[Mapping[str, str]] = {**IN_FILES, "map_seed": "feature_seed"}

    @abc.abstractmethod
    def _labels(self, y: npt.ArrayLike | None, coding: Coding) -> "Labels":
        """How labels become targets. y: labels, None for a table in blocks. Raises ValueError for bad parameters."""

    def fit(self, X: AnyTable, y: object = None, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: m records, a DataFrame, a mapping of columns or an array; or a table in blocks, which "descent", "adassp" and
          "ridge" take. The same records give the same model, bit by bit, whatever the blocks are. [exact-rows]
        y: labels, shape (m,); of a table in blocks, what it says, such as the name of their column.
        on_round: never called: what a round releases means nothing by itself.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        return self._fit(lambda: self._dataset(Source.of(X, y)), None)

    def _dataset(self, source: Source) -> Dataset[FeatureRows]:
        schema = None if self.schema is None else domain_schema(self.schema, source.header)
        coding = Coding.of(schema, source.header, constant=False)
        refuse_no_records(source.rows.n)
        labels = self._labels(source.labels, coding)
        rows = feature_rows(source.rows, coding, labels.targets, labels.bounds, type(self).__name__)
        return Dataset(rows, labels.classes, source.names)

    def _plan(
        self, records: FeatureRows, budget: FitBudget, noise: NoiseSource
    ) -> FitPlan[FeatureRows, RandomFeatureModel]:
        solver = solver_of(self.solver)
        if self.distribution == "linear" and self.scale is not None:
            raise ValueError("scale: linear features are the inputs themselves; leave scale=None")
        if not self.delta and not solver.pure:
            raise ValueError(
                f"delta: solver {solver.name!r} takes Gaussian noise, which needs delta > 0; 1e-6 is usual"
            )
        coding, bounds, said = records.coding, records.bounds, solver_record(self.solver)
        scale = None if self.scale is None else float(self.scale)
        task = Task(records, self.distribution, self.feature_map, int(self.n_components), scale, int(self.feature_seed))
        plan = solver.plan(task, budget, noise)
        return plan.then(lambda fit: RandomFeatureModel(fit, coding, bounds, said))

    @classmethod
    def _from_record(cls, record: Mapping[str, object]) -> Self:
        found = super()._from_record(record)
        if found.parameters_.get("solver") != found.model_.solver:
            raise ValueError("what the file says of its solver contradicts itself")
        if found.model_.solver.get("name") == Published.name and found.statement_.promises:
            raise ValueError("the file promises what solver 'published' does not keep")
        return found

    def _own_rule(self) -> Composition:
        return NoBound() if isinstance(solver_of(self.solver), Published) else super()._own_rule()

    def _show(self, model: RandomFeatureModel) -> None:
        self.coef_ = model.fit.coefficients.copy()

    @staticmethod
    def _inputs(model: RandomFeatureModel) -> int:
        return len(model.coding.names)


class RandomFeatureRegressor(RegressorMixin, RandomFeatureEstimator):  # type: ignore[misc]  # untyped base
    """Regression on random features with its true cost on the ledger. 004, corrected.

    Guarantee: under replace-one adjacency (m public) everything that `fit` keeps costs at most (epsilon, delta),
    charged to the ledger before anything is released, whatever the records are: duplicates, constant columns, outliers.
    The one exception is solver="published", whose cost has no bound, and is recorded as such. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1), far below 1/m; 0 for "gamma" and "objective" only.
    solver: a name, or an object with settings.
      "descent" (`Descent`): full gradients with noise on centred features; recommended.
      "adassp" (`AdaSSP`): ridge on noisy second moments, Wang 2018.
      "min-norm" (`MinNorm`): interpolation, moved into a ball, with Gaussian noise for its diameter: 004, Algorithm 1,
        made private; "gamma" the same with ℓ2-Laplace noise, pure. Both need n_components >= m, and learn nothing
        useful.
      "sgd" (`SGD`), "ridge" (`Ridge`), "objective" (`Objective`): baselines.
      "published" (`Published`): 004 as printed. *Not private*; a ledger with a finite budget refuses it.
    label_bounds: *public* lower and upper bound of the labels; labels beyond are moved to the nearest. There is no
      default: bounds taken from the data would be a release that nobody paid for.
    distribution: of the frequencies, "gaussian", "cauchy" (for the Laplacian kernel), "orthogonal"; or "linear": no
      random features, so that feature_map, n_components, scale and feature_seed mean nothing.
    feature_map: "fourier" (cosines and sines, length 1), "cosine", or "complex" for min-norm interpolation.
    n_components: N, the number of random frequencies.
    scale: s, of frequencies per unit of the inputs, in [2^-100, 2^100]; None takes .6/√d per deviation of an input.
    feature_seed: of the random frequencies; public, so not a secret and no source of privacy.
    schema: a `Schema`, or the path of a schema file; `Bounds(lower, upper)` takes columns of numbers within these
      public bounds. Inputs then lie in [−1, 1]. None takes numbers as they are, which "descent" cannot standardise.
    ledger, random_state: as for the other estimators.

    Fitted: `coef_`, shape (D,); `model_`; `statement_`; `receipts_`; all released or public.

    >>> import numpy as np
    >>> from learners import Bounds, RandomFeatureRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(4000, 2))
    >>> y = np.sin(3.0 * X[:, 0]) * X[:, 1]
    >>> model = RandomFeatureRegressor(
    ...     1.0, 1e-6, label_bounds=(-1.0, 1.0), schema=Bounds(-1.0, 1.0), random_state=0
    ... ).fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    """

    _checks: ClassVar[Mapping[str, Check]] = {
        **RandomFeatureEstimator._checks,
        "label_bounds": optional(lambda value: list(public_interval(value))),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        label_bounds: Sequence[float] | None = None,
        solver: SolverName = "descent",
        distribution: FrequencyDistribution = "gaussian",
        feature_map: FeatureMap = "fourier",
        n_components: int = 200,
        scale: float | None = None,
        feature_seed: int = 0,
        schema: Domain = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.label_bounds = label_bounds
        self.solver = solver
        self.distribution = distribution
        self.feature_map = feature_map
        self.n_components = n_components
        self.scale = scale
        self.feature_seed = feature_seed
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def _labels(self, y: npt.ArrayLike | None, coding: Coding) -> Labels:
        bounds = required_bounds(self.label_bounds)
        return Labels(partial(bounded_labels, bounds=bounds), bounds)

    def predict(self, X: Table) -> FloatArray:
        """Predicted labels, within their bounds, shape (n,). X: as in `fit`."""
        return self._fitted().labels(self._coded(X, self._fitted().coding))


class RandomFeatureClassifier(PublicClassifier, RandomFeatureEstimator):
    """Two classes by regression of their signs on random features: see `RandomFeatureRegressor`.

    classes: the public classes, the second positive; None takes the schema's label, else (0, 1). "observed" declares
      that which classes occur in y is public.
    Other parameters, guarantee and fitted attributes as there, and `classes_`.

    >>> import numpy as np
    >>> from learners import Bounds, RandomFeatureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(4000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6, 1, 0)
    >>> model = RandomFeatureClassifier(1.0, 1e-6, schema=Bounds(-1.0, 1.0), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        solver: SolverName = "descent",
        distribution: FrequencyDistribution = "gaussian",
        feature_map: FeatureMap = "fourier",
        n_components: int = 200,
        scale: float | None = None,
        feature_seed: int = 0,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.solver = solver
        self.distribution = distribution
        self.feature_map = feature_map
        self.n_components = n_components
        self.scale = scale
        self.feature_seed = feature_seed
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _labels(self, y: npt.ArrayLike | None, coding: Coding) -> Labels:
        if y is None and self.classes == "observed":
            raise ValueError("classes: 'observed' looks at all labels; of a table in blocks name the classes, in order")
        classes = self._public_classes(coding.schema, y)
        return Labels(partial(_sign_targets, classes=classes), (-1.0, 1.0), classes)

    def decision_function(self, X: Table) -> FloatArray:
        """Predicted sign, in [−1, 1], shape (n,); positive for the second class. X: as in `fit`."""
        return self._fitted().targets(self._coded(X, self._fitted().coding))
