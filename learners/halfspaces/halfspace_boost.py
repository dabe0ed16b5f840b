"""One private halfspace by boosting centred means, as a scikit-learn classifier that pays through a ledger."""

from collections.abc import Mapping
from typing import ClassVar, Self

import attrs
import numpy as np

from accountant import Ledger, Protected, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, fraction, non_negative, open_probability, positive
from boosting import Spender, boost
from boosting.theory import HalfspaceTask, SampleSize
from learners.base import (
    BoostingSettings,
    Check,
    Dataset,
    FitBudget,
    FitPlan,
    PrivateEstimator,
    Progress,
    RandomState,
    halfspace_settings,
    optional,
)
from learners.blocks import AnyTable, Source, TableBlock
from learners.halfspaces.guaranteed_settings import promised
from learners.halfspaces.halfspace_model import HalfspaceModel, HalfspaceRun
from learners.halfspaces.halfspace_plan import HalfspacePlan
from learners.halfspaces.noisy_centred_mean import unit
from learners.halfspaces.point_sample import PointRows, SignedPoints, checked_points
from learners.public_classifier import PublicClassifier
from learners.tables import (
    Classes,
    Table,
    input_names,
    number_table,
    public_classes,
    refuse_no_records,
    refuse_other_names,
    refuse_other_number,
    signs,
)
from mechanisms import NoiseSource
from mechanisms.core import scale as noise_scale
from mechanisms.queries import public_radius


@attrs.frozen
class PointReader:
    """What becomes of a block of records. radius, constant: see `SignedPoints.of`."""

    classes: tuple[object, ...]
    radius: float
    constant: float

    not_in_sql: ClassVar[str] = (
        "it learns from points, and not from codes: coordinates of 24 binary places, after division by a length whose "
        "squares are added up in a fixed order. Sums of them would be exact in SQL too, but no statements are written "
        "for them"
    )

    def __call__(self, part: TableBlock) -> SignedPoints:
        """Raises ValueError."""
        points, labels = number_table(part.table), signs(part.labels, self.classes)
        refuse_other_number(points.shape[0], labels.size)
        return SignedPoints.of(points, labels, self.radius, self.constant)


class HalfspaceBoostClassifier(PublicClassifier, PrivateEstimator[PointRows, HalfspaceModel]):
    """A large-margin halfspace: HS-StL of Bun, Carmosino & Sorrell (2020), corrected. [003-Thm27] [003-Lem25]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger in one entry before the first round. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); at 0 the noise is ℓ2-Laplace, about √d times as
      large, and above 0 Gaussian, whose rounds are priced together, exactly.
    radius: *public* R in [2^-500, 2^500], in the unit of X: points outside the ball |x| <= R are scaled onto it, and
      no message says so. Predictions take points as they are.
    rounds: T.  density: κ in (0, 1].  learning_rate: λ > 0, half of 003's.
      None takes what `learners.base.defaults.halfspace_settings` says for this n, dimension, epsilon and delta.
    scale: σ of the noise per coordinate, in units of the radius; None takes the least that the budget allows. Less
      than that is refused.
    margin: *public* distance, in the unit of X, that all points keep from the plane to be found, in (0, radius]; and
      all of them must lie in the ball. It asks for a promise: rounds, density and learning_rate are then those of the
      corrected theorems, and of new data, from where the n records come from, independently, more than `error` are put
      on the wrong side with probability `failure` at most. Fewer records than that takes are refused. None promises
      nothing.
    error: α in (0, 1], and failure: β in (0, 1), of that promise.  noise_rate: at most this share of labels is flipped,
      see `HalfspaceTask`; None is ατ/32.  All three only matter with margin.
    count_outside: asks for the number of points outside the ball, with noise of that scale, in records: Gaussian, or
      Laplace at delta 0. It is paid out of (epsilon, delta). None asks for nothing.
    fit_intercept: False for halfspaces through the origin; else the points get a further coordinate, R.
    classes: the two public classes, the second positive; None takes (−1, 1). "observed" declares that which occur in y
      is public, and takes them in rising order.
    ledger, random_state: see `PrivateEstimator`.
    verbose: 0, or after how many rounds there is a line on standard error.

    Fitted: `coef_`, shape (1, d), and `intercept_`, shape (1,); `settings_`; `scale_`, σ; `outside_`, the noisy
    count or None; `promise_`, a `SampleSize` or None; all public.

    >>> import numpy as np
    >>> from learners import HalfspaceBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(2000, 3))
    >>> y = np.where(X[:, 0] > X[:, 1], 1, -1)
    >>> model = HalfspaceBoostClassifier(1.0, 1e-6, radius=3**0.5, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _keeps = HalfspaceModel
    takes_blocks = True
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateEstimator._checks,
        "radius": public_radius,
        "rounds": optional(count),
        "density": optional(fraction),
        "learning_rate": optional(positive),
        "scale": optional(noise_scale),
        "fit_intercept": bool,
        "margin": optional(positive),
        "error": fraction,
        "failure": open_probability,
        "noise_rate": optional(non_negative),
        "count_outside": optional(noise_scale),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        radius: float = 1.0,
        rounds: int | None = None,
        density: float | None = None,
        learning_rate: float | None = None,
        scale: float | None = None,
        fit_intercept: bool = False,
        margin: float | None = None,
        error: float = 0.1,
        failure: float = 0.05,
        noise_rate: float | None = None,
        count_outside: float | None = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.radius = radius
        self.rounds = rounds
        self.density = density
        self.learning_rate = learning_rate
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.margin = margin
        self.error = error
        self.failure = failure
        self.noise_rate = noise_rate
        self.count_outside = count_outside
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: AnyTable, y: object = None, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n points, an array (n, d) or a DataFrame of numbers; or a table in blocks, see
          `learners.blocks.block_tables`, whose points are read once and kept where they are, in half of the space that
          they take in double precision.
        y: labels, shape (n,); of a table in blocks, see there.
        on_round: called after each round with its number and its halfspace, which is public by then.
        The same records and random_state give the same halfspace, bit by bit, however they are stored. [exact-rows]
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        return self._fit(lambda: self._dataset(Source.of(X, y)), on_round)

    def _dataset(self, source: Source) -> Dataset[PointRows]:
        refuse_no_records(source.rows.n)
        radius = float(self.radius)
        classes = public_classes(self.classes, (-1, 1), source.labels, 2, type(self).__name__)
        read = PointReader(classes, radius, radius if self.fit_intercept else 0.0)
        points = checked_points(source.rows.map(read).kept(), source.names)
        return Dataset(points, classes, points.names)

    def _settings(self, sample: PointRows) -> tuple[BoostingSettings, SampleSize | None]:
        """What a promise takes; or what was given, and for the rest the defaults."""
        given = (self.rounds, self.learning_rate, self.density)
        if self.margin is None:
            default = halfspace_settings(sample.n, sample.dimension, float(self.epsilon), float(self.delta))
            return default.unless(*given), None
        if given != (None, None, None):
            raise ValueError("margin: it sets rounds, density and learning_rate; give it, or any of them")
        return promised(self._task(float(self.margin), sample.dimension), sample.n)

    def _task(self, margin: float, dimension: int) -> HalfspaceTask:
        """What is promised. With an intercept b, |b| <= R, points (x, R) of a ball R√2 keep m/√2 from their plane."""
        if not 0.0 < float(self.delta) < 1.0:
            raise ValueError("margin: a promise is for Gaussian noise; it needs delta > 0")
        if not margin <= float(self.radius):
            raise ValueError(f"margin: expected at most the radius, {self.radius!r}, got {margin!r}")
        relative = margin / float(self.radius) / (2.0 if self.fit_intercept else 1.0)
        if not relative > 0.0:
            raise ValueError(f"margin: {margin!r} is too small beside the radius, {self.radius!r}")
        task = HalfspaceTask(
            relative, float(self.error), float(self.failure), float(self.epsilon), float(self.delta), dimension, 0.0
        )
        rate = None if self.noise_rate is None else float(self.noise_rate)
        try:
            return attrs.evolve(task, noise_rate=rate)
        except ValueError as error:
            raise ValueError(f"noise_rate: {error}") from error

    def _scale(self, plan: HalfspacePlan, budget: FitBudget, promise: SampleSize | None) -> float:
        """σ: as given, or the least that the budget allows. Raises ValueError for too little or too much noise."""
        try:
            least = 1.0 / budget.largest_eta(lambda eta: plan.whole(1.0 / eta))
        except ArithmeticError as error:
            if plan.count is None:
                raise ValueError(
                    f"epsilon: {self.epsilon!r} at delta={self.delta!r} pays for no rounds: {error}"
                ) from error
            raise ValueError(
                f"count_outside: noise of {self.count_outside!r} on the count leaves nothing of epsilon="
                f"{self.epsilon!r}, delta={self.delta!r} for the rounds; give it more noise"
            ) from error
        scale = least if self.scale is None else float(self.scale)
        if not scale >= least:
            raise ValueError(
                f"scale: {self.scale!r} is too little noise for {plan.settings.rounds} rounds at epsilon="
                f"{self.epsilon!r}, delta={self.delta!r}; it takes {least!r} or more, or scale=None"
            )
        if promise is not None and not scale <= promise.sigma:
            raise ValueError(
                f"margin: the promise bears noise of {promise.sigma:.6g} at most, not {scale:.6g} as scale= says or "
                f"{plan.n} records take, with count_outside, by the rule of the ledger, "
                f"{type(budget.composition).__name__}; more records take less"
            )
        return scale

    def _plan(self, records: PointRows, budget: FitBudget, noise: NoiseSource) -> FitPlan[PointRows, HalfspaceModel]:
        settings, promise = self._settings(records)
        pure, radius, intercept = isinstance(budget.target, PureDP), float(self.radius), bool(self.fit_intercept)
        n, names = records.n, records.names
        plan = HalfspacePlan(n, settings, radius, pure, noise, self.count_outside)
        scale = self._scale(plan, budget, promise)

        def run(charge: Spender, data: Protected[PointRows], on_round: Progress) -> HalfspaceModel:
            outside = None if plan.count is None else float(charge.release(plan.count, data)[0])
            found = boost(data, n, plan.booster, plan.learner(scale), settings.rounds, charge, on_round)
            told = HalfspaceRun(settings, scale, outside, promise)
            normal = unit(np.sum([each.normal for each in found], axis=0))
            if not intercept:
                return HalfspaceModel(normal, 0.0, told, names)
            return HalfspaceModel(normal[:-1], float(normal[-1]) * radius, told, names)

        return FitPlan(plan.whole(scale), ReplaceOne(), plan.announced(scale), run)

    def _show(self, model: HalfspaceModel) -> None:
        self.coef_, self.intercept_ = model.normal[None, :].copy(), np.array([model.intercept])
        if model.names is not None:
            self.feature_names_in_ = np.array(model.names, dtype=object)
        run = model.run
        self.settings_, self.scale_, self.outside_, self.promise_ = run.settings, run.scale, run.outside, run.promise

    @staticmethod
    def _inputs(model: HalfspaceModel) -> int:
        return int(model.normal.size)

    def decision_function(self, X: Table) -> FloatArray:
        """coef·x + intercept, shape (n,); positive for the second class."""
        model = self._fitted()
        if model.names is not None and input_names(X) is not None:
            refuse_other_names(model.names, X)
        points = number_table(X)
        if points.shape[1] != model.normal.size:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(self).__name__} is expecting "
                f"{model.normal.size} features as input"
            )
        return model.scores(points)
