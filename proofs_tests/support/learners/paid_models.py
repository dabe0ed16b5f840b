"""Small models of every learner, to be fitted on a ledger that several of them share."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from accountant import AddRemoveOne, ApproxDP, BasicComposition, Composition, Ledger, ReplaceOne
from learners import (
    Bounds,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    RadoBoostClassifier,
    RadoRelease,
)
from learners.base.private_estimator import PrivateEstimator

Learner: TypeAlias = PrivateEstimator[Any, Any]

X: Final = np.random.default_rng(3).integers(0, 2, (60, 3))
Y: Final = X[:, 0]
DOMAIN: Final = Bounds(0, 1, bins=2)

LEARNERS: Final[dict[str, Callable[..., Learner]]] = {
    "lazy boost": lambda **given: LazyBoostClassifier(rounds=3, **given),
    "logistic": lambda **given: DPLogisticRegression(schema=DOMAIN, **given),
    "forest": lambda **given: DPRandomForestClassifier(n_estimators=3, depth=2, schema=DOMAIN, **given),
    "gradient boosting": lambda **given: DPGradientBoostingClassifier(n_estimators=2, depth=2, schema=DOMAIN, **given),
    "bagging": lambda **given: DPBaggingClassifier(schema=DOMAIN, **given),
    "halfspace": lambda **given: HalfspaceBoostClassifier(
        radius=3.0**0.5, rounds=3, density=0.5, classes=(0, 1), count_outside=500.0, **given
    ),
    "rado boost": lambda **given: RadoBoostClassifier(number=20, rounds=5, schema=DOMAIN, **given),
    "rado release": lambda **given: RadoRelease(number=20, route="edges", schema=DOMAIN, **given),
    "private boost": lambda **given: PrivateBoostClassifier(rounds_per_column=1, schema=DOMAIN, **given),
    "private boost, regression": lambda **given: PrivateBoostRegressor(label_bounds=(0, 1), schema=DOMAIN, **given),
    "private boost, tuned": lambda **given: PrivateBoostClassifier(
        schema=DOMAIN, tune=[{"rounds_per_column": 1}, {"rounds_per_column": 2}], **given
    ),
}


def build(name: str, **given: object) -> Learner:
    """One of LEARNERS, not fitted; at (0.5, 1e-6), simulated, unless told otherwise."""
    return LEARNERS[name](**{"epsilon": 0.5, "delta": 1e-6, "random_state": 0, **given})


def adjacency(name: str) -> AddRemoveOne | ReplaceOne:
    """What that learner promises."""
    return AddRemoveOne() if name.startswith("private boost") else ReplaceOne()


def books(name: str, epsilon: float = 100.0, rule: Composition | None = None) -> Ledger:
    """A ledger in memory for that learner."""
    return Ledger(
        ApproxDP(epsilon, 1e-3),
        composition=BasicComposition() if rule is None else rule,
        adjacency=adjacency(name),
    )


def charged(ledger: Ledger) -> list[int]:
    """The numbers of the charged entries."""
    return [entry.number for entry in ledger.entries if entry.kind == "charged"]
