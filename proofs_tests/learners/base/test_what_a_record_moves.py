"""Whole fits on neighbours whose one record used to change all others: what really moves, against what is charged.

Before, at n = 2,000: PrivateBoostClassifier moved by μ = 182 (replace-one) and 352 (add-remove-one) where 0.237 was
charged, LazyBoostClassifier by ε = 199 in one round where 1 was charged for all.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pytest

from learners import (
    Bounds,
    Categorical,
    DPLogisticRegression,
    HalfspaceBoostClassifier,
    PrivateBoostClassifier,
    RadoRelease,
    Schema,
)
from proofs_tests.harness import Pair
from proofs_tests.support.learners.mixed_tables import CASES, LABELS
from proofs_tests.support.learners.recorded import Recorder, moved
from proofs_tests.support.learners.recorded_fits import (
    DELTA,
    EPSILON,
    GAUSSIAN,
    MU,
    PURE,
    Make,
    coming_or_going,
    measured,
)

TIGHT: Final = 1.0 + 1e-9


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("learner", GAUSSIAN)
def test_gaussian_queries_move_by_no_more_than_is_charged(learner: str, case: str) -> None:
    found = measured(GAUSSIAN[learner], CASES[case])
    assert 0.0 < found.mu <= MU * TIGHT
    assert found.epsilon == 0.0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("learner", PURE)
def test_choices_move_by_no_more_than_is_charged(learner: str, case: str) -> None:
    found = measured(PURE[learner], CASES[case])
    assert found.epsilon <= EPSILON * TIGHT
    assert found.mu == 0.0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)], ids=["two classes", "three classes"])
def test_a_record_that_comes_or_goes_moves_no_more_than_is_charged(case: str, classes: tuple[int, ...]) -> None:
    for found in coming_or_going(CASES[case], classes):
        assert 0.0 < found.mu <= MU * TIGHT


@pytest.mark.parametrize("case", CASES)
def test_only_the_record_that_differs_is_encoded_otherwise(case: str) -> None:
    """Objective perturbation has no query vector: its Hessian is of the records themselves."""
    chosen = CASES[case]
    learner = DPLogisticRegression(schema=chosen.schema)
    first, second = (learner.encoded(table, [*LABELS, 1]) for table in chosen.tables())
    differ = np.any(first.codes != second.codes, axis=0)
    assert np.flatnonzero(differ).tolist() == [len(LABELS)]


def test_columns_that_are_released_as_they_are_do_not_follow_a_protected_one() -> None:
    """In a list of rows, one word in a protected column used to make text of the columns beside it."""
    schema = Schema(
        (Categorical("secret", ("a", "b", "?"), other="?"), Categorical("public", ("1", "0", "?"), other="?"))
    )
    holder = RadoRelease("feature", EPSILON, DELTA, sensitive=["secret"], number=10, schema=schema)
    rows: list[list[object]] = [[value % 2, bool(value % 3)] for value in range(40)]
    odd = [*rows[:-1], ["a", rows[-1][1]]]
    labels = [value % 2 for value in range(40)]
    first, second = (
        holder.encoded({"secret": [r[0] for r in t], "public": [r[1] for r in t]}, labels) for t in (rows, odd)
    )
    listed = [holder.encoded(np.array(table, dtype=object), labels) for table in (rows, odd)]
    for one, other in ((first, second), listed):
        features = [table.sample().features[:, 1] for table in (one, other)]  # type: ignore[union-attr]  # in memory
        assert features[0].tobytes() == features[1].tobytes()


def test_points_of_a_halfspace_are_read_alone() -> None:
    points: list[Any] = [[np.float32(0.1), True], [np.float32(0.7), False]] * 20
    labels = [-1, 1] * 20

    def learn(rows: list[Any], noise: Recorder) -> None:
        HalfspaceBoostClassifier(EPSILON, DELTA, radius=2.0, rounds=3, random_state=noise).fit(rows, labels)

    found = moved(learn, Pair(points, [*points[:-1], ["0.9", "1"]]))
    assert 0.0 < found.mu <= MU * TIGHT


# --- one class only ---------------------------------------------------------------------------------------------------

EVERY: Final[Mapping[str, Make]] = {
    **GAUSSIAN,
    **PURE,
    "rados of a protected column": lambda case, noise: RadoRelease(
        "feature", EPSILON, DELTA, sensitive=["c"], number=10, schema=case.schema, random_state=noise
    ),
    "logistic regression": lambda case, noise: DPLogisticRegression(EPSILON, schema=case.schema, random_state=0),
}


@pytest.mark.parametrize("learner", EVERY)
def test_one_class_among_the_records_is_no_reason_to_refuse(learner: str) -> None:
    """Whether a second one occurs may depend on one record: it must not decide whether there is a model."""
    case = CASES["truth values and a word"]
    table, _ = case.tables()
    for label in (0, 1):
        model = EVERY[learner](case, Recorder(0)).fit(table, [label] * (len(LABELS) + 1))
        if hasattr(model, "predict"):
            assert model.predict(table).shape == (len(LABELS) + 1,)


@pytest.mark.parametrize("learner", [*GAUSSIAN, *PURE])
def test_the_last_record_of_a_class_moves_no_more_than_is_charged(learner: str) -> None:
    case = CASES["truth values and a word"]
    make, (table, _) = EVERY[learner], case.tables()

    def learn(labels: list[int], noise: Recorder) -> None:
        make(case, noise).fit(table, labels)

    found = moved(learn, Pair([0] * (len(LABELS) + 1), [0] * len(LABELS) + [1]))
    assert found.mu <= MU * TIGHT
    assert found.epsilon <= EPSILON * TIGHT
    assert not math.isnan(found.mu)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_among_the_points_of_a_halfspace_will_do(label: int) -> None:
    points = np.random.default_rng(0).normal(size=(50, 3))
    model = HalfspaceBoostClassifier(EPSILON, DELTA, radius=3.0, rounds=2, classes=(0, 1), random_state=0)
    assert model.fit(points, [label] * 50).predict(points).shape == (50,)


def test_classes_that_are_taken_from_the_records_are_still_two() -> None:
    with pytest.raises(ValueError, match="y holds one class only, 1"):
        PrivateBoostClassifier(EPSILON, DELTA, classes="observed").fit(np.ones((4, 1)), [1, 1, 1, 1])


# --- records of weight 0 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize(
    "options", [{}, {"calibration": 0.3}, {"tune": [{"rounds_per_column": 1}, {"rounds_per_column": 2}]}], ids=str
)
@pytest.mark.parametrize("tiny", [0.0, 0.9 / 1024])
def test_a_record_of_weight_0_is_as_if_it_were_not_there(
    adjacency: Any, options: Mapping[str, Any], tiny: float
) -> None:
    """Also one whose weight is rounded down to 0; in histograms, rounds, calibration and the choice of settings."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 1.0, size=(300, 2))
    y = (X[:, 0] > 0.5).astype(int)
    weights = np.where(rng.random(300) < 0.3, tiny, rng.uniform(0.1, 1.0, 300))
    there = weights > tiny

    def model() -> PrivateBoostClassifier:
        return PrivateBoostClassifier(
            3.0,
            DELTA,
            adjacency=adjacency,
            rounds_per_column=2,
            weight_cap=1.0,
            schema=Bounds(0.0, 1.0),
            random_state=4,
            **options,
        )

    whole = model().fit(X, y, sample_weight=weights)
    part = model().fit(X[there], y[there], sample_weight=weights[there])
    assert whole.decision_function(X).tobytes() == part.decision_function(X).tobytes()


def test_no_record_with_a_weight_leaves_a_model_of_noise() -> None:
    model = PrivateBoostClassifier(EPSILON, DELTA, weight_cap=1.0, random_state=0)
    model.fit(np.ones((4, 2), dtype=int), [0, 1, 0, 1], sample_weight=np.zeros(4))
    assert np.all(np.isfinite(model.decision_function(np.ones((1, 2), dtype=int))))
