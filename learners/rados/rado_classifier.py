"""RadoBoost: a linear classifier that is learnt from rados alone, as a scikit-learn classifier that pays for them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, Self, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant import Ledger
from accountant.arrays import FloatArray
from accountant.costs import count, fraction, probability_below_one
from boosting.rados import (
    CappedOracle,
    CoordinateRun,
    Oracle,
    enough_smoothing,
    median,
    rado_boost,
    shrinkage_factor,
    smoothed,
    strong,
)
from learners.base import Check, Domain, FitBudget, FitPlan, RandomState, one_of, optional
from learners.encoding import Coding, Scaling, row_products
from learners.public_classifier import PublicClassifier
from learners.rados.rado_records import RadoTable
from learners.rados.rado_releases import Protection, RadoHolder, RadoRelease, Rados, Route, protection_name
from learners.tables import Classes, Table
from mechanisms import NoiseSource, Vectors, pieces
from mechanisms.core import Block, Rows

OracleName: TypeAlias = Literal["strong", "median"] | float


def oracle_name(value: OracleName) -> OracleName:
    """ "strong", "median", or a λ_p in (0, 1]. Raises ValueError or TypeError."""
    return value if value in ("strong", "median") else fraction(cast("float", value))


def oracle_of(name: OracleName) -> Oracle:
    """The weak feature index oracle of that name; a number is that of `CappedOracle`."""
    if isinstance(name, str):
        return strong if name == "strong" else median
    return CappedOracle(name)


@attrs.frozen(eq=False)
class RadoModel:
    """A linear classifier θ of coded, scaled features, and how it was found. All of it follows from the rados.

    theta: shape (d,).  log_loss: ln F_exp on the smoothed rados, at most 0.  rounds: that led to it.
    smoothing: s in [0, 1), see `boosting.rados.smoothing`.
    protection, scope: of the rados.  rados: the digest of the release that they came in, None where they came with the
      records.
    """

    theta: FloatArray
    coding: Coding
    scaling: Scaling
    log_loss: float
    rounds: int
    smoothing: float
    protection: Protection
    scope: str
    rados: str | None = None

    def __attrs_post_init__(self) -> None:
        width = self.coding.features
        if self.theta.shape != (width,) or self.scaling.centre.size != width or not np.all(np.isfinite(self.theta)):
            raise ValueError(f"expected {width} finite weights, centres and scales, got {self.theta.shape}")

    @property
    def schema(self) -> object:
        """The public domain, None where columns were taken as they are."""
        return self.coding.schema

    def scores(self, features: FloatArray) -> FloatArray:
        """θ·x of coded, scaled features, shape (n,), each of its own record alone. [records-alone]

        features: before they are scaled, shape (n, d).
        """
        return row_products(features, self.theta, self.scaling.apply)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "theta": self.theta.tolist(),
            "coding": self.coding.as_record(),
            "centre": self.scaling.centre.tolist(),
            "scale": self.scaling.scale.tolist(),
            "log_loss": self.log_loss,
            "rounds": self.rounds,
            "smoothing": self.smoothing,
            "protection": self.protection,
            "scope": self.scope,
            "rados": self.rados,
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "RadoModel":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        centre, scale = cast("Sequence[float]", record["centre"]), cast("Sequence[float]", record["scale"])
        rados = record["rados"]
        return RadoModel(
            np.array(record["theta"], dtype=np.float64),
            Coding.from_record(cast("Mapping[str, object]", record["coding"])),
            Scaling(centre, scale),
            float(cast("float", record["log_loss"])),
            int(cast("int", record["rounds"])),
            probability_below_one(cast("float", record["smoothing"])),
            protection_name(cast("Protection", record["protection"])),
            str(record["scope"]),
            None if rados is None else str(rados),
        )


def fewest_errors(run: CoordinateRun, data: Rows[Vectors]) -> int:
    """The number of rounds after which fewest examples are on the wrong side, the paper's choice. It looks at them.

    data: yᵢ·xᵢ, of d features. A margin of 0 is an error. The first of equals. One visit.
    """
    moves = list(zip(run.features.tolist(), run.steps.tolist(), strict=True))

    def counted(block: Block[Vectors]) -> npt.NDArray[np.int64]:
        errors = np.zeros(len(moves) + 1, dtype=np.int64)
        for _, rows in pieces(block.data):
            columns, margins = np.ascontiguousarray(rows.T, dtype=np.float64), np.zeros(len(rows))
            errors[0] += len(rows)
            for number, (feature, step) in enumerate(moves, start=1):
                margins += step * columns[feature]
                errors[number] += np.count_nonzero(margins <= 0.0)
        return errors

    return int(np.argmin(data.total(counted)))


LEARNING: Final = ("rounds", "oracle", "shrinkage", "least", "smoothing", "keep")
"""Parameters of learning, which are not those of the release."""


class RadoBoostClassifier(PublicClassifier, RadoHolder[RadoModel]):
    """RadoBoost of Nock, Patrini & Friedman (2015), corrected, on rados that are paid for. [000-Lem4] [000-eq17]

    Guarantee: that of the rados, see `RadoRelease`, whose parameters are taken as they are there; learning from them is
    post-processing, and free. `fit` releases them and forgets them; `fit_rados` learns from those of a file.

    rounds: T >= 1.
    oracle: which feature a round moves: "strong", the one that correlates most; "median", the prudential one of 000,
      section 6; a number λ_p in (0, 1], the one that correlates most of those that do so by at most λ_p.
    shrinkage: κ >= 1; steps are divided by it, with the factor that makes eq. 17 true.
    least: boosting ends where no feature correlates by more, in [0, 1).
    smoothing: s in [0, 1): labels count as flipped with probability s/2, without which few rados of many records lead
      astray. None takes what the rados call for; 0 is as published. [000-smoothing]
    keep: "rados" keeps the classifier with the least loss on the rados. "examples" keeps the one that errs least on the
      training examples, as the paper's experiments do: it looks at the records, and is for protection=None only.

    Fitted: `coef_`, shape (1, d), and `intercept_`, shape (1,), for coded features, whose names are `features_`;
    `log_loss_`, ln F_exp on the smoothed rados; `rounds_`; `smoothing_`; `scope_`; `statement_`. All of it is released
    or public.

    >>> import numpy as np
    >>> from learners import Bounds, RadoBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(5000, 3))
    >>> y = np.where(X[:, 0] > X[:, 1], 1, 0)
    >>> model = RadoBoostClassifier("examples", 1.0, 1e-6, schema=Bounds(-1.0, 1.0), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _keeps = RadoModel
    _checks: ClassVar[Mapping[str, Check]] = {
        **RadoHolder._checks,
        "rounds": count,
        "oracle": oracle_name,
        "shrinkage": shrinkage_factor,
        "least": probability_below_one,
        "smoothing": optional(probability_below_one),
        "keep": one_of("rados", "examples"),
    }

    def __init__(
        self,
        protection: Protection = "examples",
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        number: int | None = None,
        sensitive: Sequence[int | str] | int | str = (),
        route: Route = None,
        truncation: float | None = None,
        support: int | None = None,
        radius: float | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        rounds: int = 1000,
        oracle: OracleName = "strong",
        shrinkage: float = 1.0,
        least: float = 0.0,
        smoothing: float | None = None,
        keep: Literal["rados", "examples"] = "rados",
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            protection,
            epsilon,
            delta,
            number=number,
            sensitive=sensitive,
            route=route,
            truncation=truncation,
            support=support,
            radius=radius,
            standardise=standardise,
            fit_intercept=fit_intercept,
            schema=schema,
            classes=classes,
            ledger=ledger,
            random_state=random_state,
        )
        self.rounds = rounds
        self.oracle = oracle
        self.shrinkage = shrinkage
        self.least = least
        self.smoothing = smoothing
        self.keep = keep

    def fit_rados(self, release: RadoRelease) -> Self:
        """Learn from rados that somebody released; costs nothing, and looks at nothing else.

        The parameters of the release are taken over; of this estimator's own, those of learning count.
        Raises ValueError where keep is not "rados", and NotFittedError where nothing was released.
        """
        learning = {name: self._parameters()[name] for name in LEARNING}
        if self.keep != "rados":
            raise ValueError("keep: only the rados are here, so only the best on rados can be kept; keep='rados'")
        rados, classes = release.rados_, tuple(release.classes_.tolist())
        digest = release._bought(rados, classes, release.parameters_, None)
        self._remember(attrs.evolve(self._learnt(rados, None), rados=digest), classes)
        self.parameters_ = {**release.parameters_, **learning}
        self.statement_, self.receipts_ = release.statement_, ()
        return self

    def _plan(self, records: RadoTable, budget: FitBudget, noise: NoiseSource) -> FitPlan[RadoTable, RadoModel]:
        if self.keep == "examples":
            raise ValueError(
                f"keep: 'examples' looks at records that protection={self.protection!r} protects, and nobody pays for "
                "it; use keep='rados'"
            )
        return super()._plan(records, budget, noise)

    def _learnt(self, rados: Rados, table: RadoTable | None) -> RadoModel:
        if not rados.vectors.any():  # nothing to learn from, and what was paid for must not be lost
            return RadoModel(
                np.zeros(rados.coding.features), rados.coding, rados.scaling, 0.0, 0, 0.0, rados.protection, rados.scope
            )
        share = enough_smoothing(rados.vectors) if self.smoothing is None else float(self.smoothing)
        settings = (self.rounds, oracle_of(self.oracle), float(self.shrinkage), float(self.least))
        run = rado_boost(smoothed(rados.vectors, share), *settings)
        kept = run.best_round
        if self.keep == "examples" and table is not None:
            kept = fewest_errors(run, table.edges(rados.scaling))
        return RadoModel(
            run.theta(kept),
            rados.coding,
            rados.scaling,
            float(run.log_losses[kept]),
            kept,
            share,
            rados.protection,
            rados.scope,
        )

    def _show(self, model: RadoModel) -> None:
        weights = model.theta / model.scaling.scale
        offset = -float(weights @ model.scaling.centre)
        if model.coding.constant:
            weights, offset = weights[:-1], offset + float(weights[-1])
        self.coef_, self.intercept_ = weights[None, :], np.array([offset])
        self.features_ = np.array(model.coding.feature_names[: weights.size], dtype=object)
        self.log_loss_, self.rounds_, self.smoothing_ = model.log_loss, model.rounds, model.smoothing
        self.scope_ = model.scope

    def decision_function(self, X: Table) -> FloatArray:
        """θ·x of the coded, scaled features, shape (n,); positive for the second class. X: as in `fit`."""
        model = self._fitted()
        return model.scores(self._coded(X, model.coding))
