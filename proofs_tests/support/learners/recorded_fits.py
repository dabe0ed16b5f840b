"""Learners that can be followed along a transcript, on the neighbours of `mixed_tables`; for tests and benchmarks."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from accountant.costs import gaussian
from learners import (
    AdaSSP,
    Descent,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPRandomForestClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Ridge,
)
from proofs_tests.harness import Pair
from proofs_tests.support.learners.mixed_tables import LABELS, Case
from proofs_tests.support.learners.recorded import Moved, Recorder, moved

EPSILON, DELTA = 1.0, 1e-6
MU: Final = gaussian.mu(EPSILON, DELTA)
Make = Callable[[Case, Recorder], Any]

GAUSSIAN: Final[Mapping[str, Make]] = {
    "boosted effects": lambda case, noise: PrivateBoostClassifier(
        EPSILON, DELTA, adjacency="replace-one", rounds_per_column=3, schema=case.schema, random_state=noise
    ),
    "boosted effects, calibrated": lambda case, noise: PrivateBoostClassifier(
        EPSILON,
        DELTA,
        adjacency="replace-one",
        rounds_per_column=2,
        calibration=0.2,
        schema=case.schema,
        random_state=noise,
    ),
    "rados": lambda case, noise: RadoRelease(
        "examples", EPSILON, DELTA, number=30, schema=case.schema, random_state=noise
    ),
    "random features, descent": lambda case, noise: RandomFeatureClassifier(
        EPSILON, DELTA, solver=Descent(rounds=4), n_components=20, schema=case.schema, random_state=noise
    ),
    "random features, adassp": lambda case, noise: RandomFeatureClassifier(
        EPSILON, DELTA, solver=AdaSSP(), n_components=10, schema=case.schema, random_state=noise
    ),
    "random features, ridge": lambda case, noise: RandomFeatureClassifier(
        EPSILON, DELTA, solver=Ridge(), n_components=10, schema=case.schema, random_state=noise
    ),
}
PURE: Final[Mapping[str, Make]] = {
    "boosted 1-Rules": lambda case, noise: LazyBoostClassifier(
        EPSILON, rounds=5, schema=case.schema, random_state=noise
    ),
    "boosted trees": lambda case, noise: LazyBoostClassifier(
        EPSILON, weak_learner="top-down", rounds=3, schema=case.schema, random_state=noise
    ),
    "boosted gradients": lambda case, noise: DPGradientBoostingClassifier(
        EPSILON, schema=case.schema, random_state=noise
    ),
    "forest": lambda case, noise: DPRandomForestClassifier(EPSILON, schema=case.schema, random_state=noise),
    "bagging": lambda case, noise: DPBaggingClassifier(EPSILON, queries=10, schema=case.schema, random_state=noise),
}


def measured(make: Make, case: Case) -> Moved:
    def learn(table: Any, noise: Recorder) -> None:
        make(case, noise).fit(table, [*LABELS, 1])

    return moved(learn, Pair(*case.tables()))


def coming_or_going(case: Case, classes: tuple[int, ...]) -> list[Moved]:
    """The recommended learner with either record, against none of them."""

    def learn(records: tuple[Any, list[int]], noise: Recorder) -> None:
        model = PrivateBoostClassifier(
            EPSILON, DELTA, rounds_per_column=3, schema=case.schema, classes=classes, random_state=noise
        )
        model.fit(*records)

    without = (case.fewer(), list(LABELS))
    return [moved(learn, Pair((table, [*LABELS, 1]), without)) for table in case.tables()]
