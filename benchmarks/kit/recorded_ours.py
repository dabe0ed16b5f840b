"""Our own learners, each at what its ledger was charged for a fit, on its own neighbours."""

from functools import partial
from typing import Any

import numpy as np

from accountant import ApproxDP
from benchmarks.kit.recorded_cases import TABLES, WHOLE, Case, Records, cases, fitted
from learners import (
    AdaSSP,
    Bounds,
    Descent,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Ridge,
)

BOUNDED = Bounds(0.0, 1.0, bins=2)
LEARNERS: dict[str, Any] = {
    "PrivateBoostClassifier": partial(PrivateBoostClassifier, rounds_per_column=2, schema=BOUNDED),
    "PrivateBoostClassifier, replace-one": partial(
        PrivateBoostClassifier, rounds_per_column=2, adjacency="replace-one", schema=BOUNDED
    ),
    "PrivateBoostClassifier, tuned": partial(
        PrivateBoostClassifier, tune=[{"rounds_per_column": 1}, {"rounds_per_column": 2}], schema=BOUNDED
    ),
    "LazyBoostClassifier, 1-Rules": partial(LazyBoostClassifier, rounds=3),
    "LazyBoostClassifier, trees": partial(LazyBoostClassifier, weak_learner="top-down", rounds=2),
    "DPLogisticRegression": partial(DPLogisticRegression, schema=BOUNDED),
    "DPGradientBoostingClassifier": partial(DPGradientBoostingClassifier, n_estimators=2, depth=2, schema=BOUNDED),
    "DPRandomForestClassifier": partial(DPRandomForestClassifier, n_estimators=2, depth=2, schema=BOUNDED),
    "DPBaggingClassifier": partial(DPBaggingClassifier, schema=BOUNDED),
    "HalfspaceBoostClassifier": partial(
        HalfspaceBoostClassifier, radius=2.0, rounds=3, density=0.5, classes=(0, 1), count_outside=500.0
    ),
    "RadoBoostClassifier": partial(RadoBoostClassifier, number=20, rounds=5, schema=BOUNDED),
    "RadoRelease": partial(RadoRelease, number=20, route="edges", schema=BOUNDED),
    "RandomFeatureClassifier, descent": partial(
        RandomFeatureClassifier, solver=Descent(rounds=3), n_components=6, schema=BOUNDED
    ),
    "RandomFeatureClassifier, adassp": partial(
        RandomFeatureClassifier, solver=AdaSSP(), n_components=6, schema=BOUNDED
    ),
    "RandomFeatureClassifier, ridge": partial(RandomFeatureClassifier, solver=Ridge(), n_components=6, schema=BOUNDED),
}


SECRET = ("PrivateBoostClassifier, tuned", "RadoBoostClassifier", "RadoRelease")
"""Learners that draw something beside noise that stays secret: which model is shown, which records a rado sums. What
others draw, as trees and random features, is in the model."""


def _model(name: str, data: Records) -> Any:
    """1-Rules and trees of votes read codes."""
    table = (data[0] > 0.5).astype(np.int64) if name.startswith("Lazy") else data[0]
    return LEARNERS[name](epsilon=1.0, delta=1e-6).fit(table, data[1])


def _fit(name: str, data: Records) -> object:
    found = fitted(_model(name, data))
    return {key: value for key, value in found.items() if key not in ("ledger_", "statement_", "receipts_")}


def found() -> list[Case]:
    """All of them."""
    made = list[Case]()
    for name in LEARNERS:
        books = _model(name, WHOLE).ledger_
        spent: ApproxDP = books.spent
        kind = "one removed" if books.adjacency.name == "add-remove-one" else "one replaced"
        public = name not in SECRET
        made += cases(name, partial(_fit, name), spent, {kind: TABLES[kind]}, public_draws=public)
    return made
