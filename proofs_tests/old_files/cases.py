"""Small fits of every learner there is, of every kind of model that they save."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from proofs_tests.old_files.doors import (
    SGD,
    AdaSSP,
    AddRemoveOne,
    Adjacency,
    Descent,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    FeatureValue,
    FeatureValues,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    MinNorm,
    Objective,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    Published,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    RandomFeatureRegressor,
    ReplaceOne,
    Ridge,
    SeparateLedgersWarning,
)
from proofs_tests.old_files.tables import (
    BOX,
    PEOPLE,
    SORTS,
    bits,
    ends,
    people,
    points,
    rich,
    signs,
    sorts,
    targets,
    weights,
)

Model: TypeAlias = Any
"""An estimator; they share no type that says what it predicts."""

SEED: Final = 20261123

TABLES: Final[Mapping[str, Callable[[], Any]]] = {"people": people, "points": points, "bits": bits, "ends": ends}
NEW: Final[Mapping[str, Callable[[], Any]]] = {
    "people": lambda: people(40, start=1000),
    "points": lambda: points(40, start=1000),
    "bits": lambda: bits(8),
    "ends": lambda: ends(8),
}
"""What the fitted models are asked about: mostly records that they have not seen."""

LABELS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "rich": rich,
    "sorts": sorts,
    "signs": signs,
    "targets": targets,
    "first": lambda table: table[:, 0],
}


@attrs.frozen
class Case:
    """One fit. table, labels: names in TABLES and LABELS.  given: to the fit.

    fits: how often; of several the last counts, whose statement tells of the others.
    """

    build: Callable[..., Model]
    settings: Mapping[str, Any]
    table: str
    labels: str
    given: Mapping[str, Any] = attrs.field(factory=dict)
    fits: int = 1

    def fitted(self, **given: Any) -> Model:
        """It, fitted. given: a ledger, or another noise; else it is a simulation with a ledger of its own."""
        table = TABLES[self.table]()
        model = self.build(**{"random_state": SEED, **self.settings, **given})
        with warnings.catch_warnings(action="ignore", category=SeparateLedgersWarning):
            for _ in range(self.fits):
                model.fit(table, LABELS[self.labels](table), **self.given)
        return model


def _people(build: Callable[..., Model], epsilon: float = 3.0, delta: float = 1e-6, **settings: Any) -> Case:
    return Case(build, {"epsilon": epsilon, "delta": delta, "schema": PEOPLE, **settings}, "people", "rich")


def _points(
    build: Callable[..., Model], labels: str = "signs", epsilon: float = 3.0, delta: float = 1e-6, **settings: Any
) -> Case:
    return Case(build, {"epsilon": epsilon, "delta": delta, **settings}, "points", labels)


def _boosted() -> dict[str, Case]:
    build = PrivateBoostClassifier
    weighted = _people(build, rounds_per_column=2, weight_cap=2.0)
    three = _people(build, rounds_per_column=2, schema=SORTS)
    tuned = [{"rounds_per_column": 1}, {"rounds_per_column": 2, "interactions": [["age", "job"]]}]
    return {
        "private-boost": _people(build),
        "private-boost-replace-one": _people(build, adjacency="replace-one", rounds_per_column=3),
        "private-boost-pairs-calibrated": _people(
            build, rounds_per_column=2, calibration=0.2, interactions=[("age", "job"), ("member", "gain")]
        ),
        "private-boost-weights": attrs.evolve(weighted, given={"sample_weight": weights()}),
        "private-boost-three-classes": attrs.evolve(three, labels="sorts"),
        "private-boost-three-classes-replace-one": attrs.evolve(
            three, labels="sorts", settings={**three.settings, "adjacency": "replace-one"}
        ),
        "private-boost-tuned": _people(build, tune=tuned),
        "private-boost-box": _points(build, rounds_per_column=1, schema=BOX, classes="observed"),
        "private-boost-no-pairs": _people(build, interactions=()),
        "private-boost-regression": _points(
            PrivateBoostRegressor, "targets", label_bounds=(-1.0, 2.0), schema=BOX, intervals=0.1
        ),
    }


def _lazy() -> dict[str, Case]:
    build = LazyBoostClassifier
    return {
        "lazy-boost": _people(build, 2.0, 0.0),
        "lazy-boost-zcdp": _people(build, composition="zcdp", rounds=9, learning_rate=0.25, density=0.5),
        "lazy-boost-advanced": _people(build, composition="advanced", rounds=9, selection="permute-and-flip"),
        "lazy-boost-calibrated": _people(build, 8.0, rounds=20, calibration=0.25),
        "lazy-boost-trees": _people(build, 8.0, weak_learner="top-down", rounds=4),
        "lazy-boost-trees-gini": _people(
            build, 8.0, weak_learner="top-down", rounds=3, criterion="gini", splits=2, depth=2
        ),
        "lazy-boost-quantiles": _people(build, 8.0, rounds=8, quantile_bins=3),
        "lazy-boost-third-fit": attrs.evolve(_people(build, 2.0, 0.0, rounds=3), fits=3),
        "lazy-boost-bits": Case(build, {"epsilon": 4.0, "rounds": 7, "classes": (1, 0)}, "bits", "first"),
    }


def _others() -> dict[str, Case]:
    trees, forest, bagging = DPGradientBoostingClassifier, DPRandomForestClassifier, DPBaggingClassifier
    plane = HalfspaceBoostClassifier
    public = people(40, start=500)
    return {
        "logistic": _people(DPLogisticRegression, 20.0, 0.0),
        "logistic-delta": _people(DPLogisticRegression, 20.0, regularization=0.5),
        "logistic-box": _points(DPLogisticRegression, epsilon=20.0, delta=0.0, schema=BOX),
        "gradient-boosting": _people(trees, delta=0.0, n_estimators=3, ensemble=2),
        "gradient-boosting-logistic": _people(trees, n_estimators=3, ensemble=2, loss="logistic", large="clip", seed=3),
        "forest": _people(forest, delta=0.0, n_estimators=4, depth=3),
        "forest-labels": _people(forest, delta=0.0, n_estimators=4, depth=3, leaves="labels", share="disjoint"),
        "forest-turned": _people(forest, delta=0.0, n_estimators=4, depth=2, classes=("yes", "no"), seed=5),
        "bagging": _people(bagging, delta=0.0, teachers=3, queries=12),
        "bagging-public": _people(bagging, teachers=4, partitions=2, public=public, teacher_depth=3, penalty=0.5),
        "halfspace": _points(plane, radius=2.0, rounds=5, density=0.5, classes=(0, 1)),
        "halfspace-intercept": _points(
            plane, radius=1.0, rounds=4, fit_intercept=True, classes="observed", count_outside=500.0
        ),
        "halfspace-promise": Case(
            plane,
            {"epsilon": 900.0, "delta": 1e-2, "margin": 1.0, "error": 0.99, "failure": 0.99, "classes": (-1, 1)},
            "ends",
            "first",
        ),
    }


def _rados() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name, build in (("rados", RadoRelease), ("rado-boost", RadoBoostClassifier)):
        more: dict[str, Any] = {"rounds": 30} if build is RadoBoostClassifier else {}
        found |= {
            name: _people(build, number=20, **more),
            f"{name}-edges": _points(build, number=20, route="edges", schema=BOX, support=30, **more),
            f"{name}-raw": _points(build, number=16, schema=BOX, standardise=False, radius=1.5, **more),
            f"{name}-feature": _people(build, number=16, protection="feature", sensitive="job", **more),
            f"{name}-two-features": _people(
                build, number=16, protection="feature", sensitive=("age", "member"), **more
            ),
            f"{name}-own-supports": _people(
                build, number=2, protection="feature", sensitive="member", route="own-supports", **more
            ),
            f"{name}-unprotected": Case(
                build, {"protection": None, "number": 12, "fit_intercept": False, **more}, "points", "signs"
            ),
        }
    weak = {"oracle": 0.75, "shrinkage": 1.5, "smoothing": 0.0, "least": 0.001, "keep": "examples"}
    found["rado-boost-median"] = _people(RadoBoostClassifier, number=20, rounds=9, oracle="median")
    found["rado-boost-examples-kept"] = Case(
        RadoBoostClassifier, {"protection": None, "number": 12, "rounds": 9, **weak}, "points", "signs"
    )
    return found


def _random_features() -> dict[str, Case]:
    def regressor(**settings: Any) -> Case:
        given = {"label_bounds": (-1.0, 2.0), "schema": BOX, "n_components": 12, **settings}
        return _points(RandomFeatureRegressor, "targets", **given)

    solvers: dict[str, Any] = {
        "descent": "descent",
        "descent-settings": Descent(rounds=4),
        "adassp": AdaSSP(),
        "sgd": SGD(),
        "ridge": Ridge(),
        "objective": Objective(),
    }
    enough = {"n_components": 80, "epsilon": 1e4}
    classifier = RandomFeatureClassifier
    return {
        **{f"random-features-{name}": regressor(solver=solver) for name, solver in solvers.items()},
        "random-features-min-norm": regressor(solver=MinNorm(), **enough),
        "random-features-gamma": regressor(solver="gamma", delta=0.0, **enough),
        "random-features-complex": regressor(solver="min-norm", feature_map="complex", **enough),
        "random-features-published": regressor(solver=Published(), **enough),
        "random-features-cauchy": regressor(distribution="cauchy", feature_map="cosine", scale=0.75, feature_seed=4),
        "random-features-orthogonal": regressor(distribution="orthogonal", solver=AdaSSP()),
        "random-features-linear": regressor(distribution="linear", solver=AdaSSP()),
        "random-features-people": _people(classifier, n_components=12),
        "random-features-classes": _points(classifier, schema=None, n_components=12, solver="objective"),
    }


CASES: Final[Mapping[str, Case]] = {**_boosted(), **_lazy(), **_others(), **_rados(), **_random_features()}


CHANGED: Final = tuple(name for name in CASES if name.startswith("private-boost"))
"""Those that release or learn otherwise since the first files were kept, or were not there then."""


@attrs.frozen
class Purse:
    """A durable ledger that pays for models, which carry its receipts. cases: which."""

    adjacency: Adjacency
    cases: tuple[str, ...]


PURSES: Final[Mapping[str, Purse]] = {
    "paid": Purse(
        ReplaceOne(),
        (
            "private-boost-replace-one",
            "lazy-boost",
            "logistic",
            "gradient-boosting",
            "forest",
            "bagging",
            "halfspace",
            "rado-boost",
            "rados",
            "random-features-descent",
        ),
    ),
    "paid-add": Purse(AddRemoveOne(), ("private-boost", "private-boost-tuned")),
    "paid-feature": Purse(FeatureValue(3), ("rados-own-supports", "rado-boost-own-supports")),
}
"""One of each learner, and of each relation."""

CHARGED: Final = (
    *PURSES["paid"].cases,
    "private-boost",
    "private-boost-tuned",
    "private-boost-pairs-calibrated",
    "lazy-boost-calibrated",
    "lazy-boost-trees",
    "lazy-boost-quantiles",
    "logistic-delta",
    "gradient-boosting-logistic",
    "halfspace-intercept",
    "rados-own-supports",
    "rados-two-features",
    "random-features-adassp",
    "random-features-objective",
    "random-features-people",
)
"""What is charged for these is kept under every rule of composition."""


def relation(name: str) -> Adjacency:
    """What one of CASES is proved under."""
    if name.endswith("own-supports"):
        return FeatureValue(3)
    if name.endswith("two-features"):
        return FeatureValues((0, 3))
    adds = name.startswith("private-boost") and not name.endswith("replace-one")
    return AddRemoveOne() if adds else ReplaceOne()
