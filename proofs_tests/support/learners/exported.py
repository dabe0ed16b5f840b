"""Fitted models of every kind that is exported, and what an engine's answer must be."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from learners import (
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    SeparateLedgersWarning,
)
from learners.exports.conversions import portable
from learners.exports.portable_model import Amount, ManyClasses, PortableModel, TwoClasses
from learners.exports.sql import as_sql
from learners.exports.sql_dialects import DialectName
from proofs_tests.support.learners.engines import KEY, TABLE, Answer
from proofs_tests.support.learners.hostile_tables import SCHEMA, Hostile, hostile, labels

Model: TypeAlias = Any
"""An estimator; they share no type that says what it predicts."""

THREE: Final = ("a'", "b", "c;")
PAIRS: Final = ((SCHEMA.names[0], SCHEMA.names[4]), (SCHEMA.names[1], SCHEMA.names[2]))
SMALL: Final = hostile(2000)
Y: Final = labels(SMALL)

KINDS: Final[Mapping[str, Callable[..., Model]]] = {
    "additive": lambda **given: PrivateBoostClassifier(interactions=PAIRS, **given),
    "additive, calibrated": lambda **given: PrivateBoostClassifier(calibration=0.2, **given),
    "additive, three classes": lambda **given: PrivateBoostClassifier(classes=THREE, interactions=PAIRS[:1], **given),
    "regression": lambda **given: PrivateBoostRegressor(label_bounds=(-2.0, 2.0), **given),
    "regression of counts": lambda **given: PrivateBoostRegressor(label_bounds=(0.0, 9.0), loss="poisson", **given),
    "1-rules": lambda **given: LazyBoostClassifier(rounds=30, **given),
    "boosted trees": lambda **given: LazyBoostClassifier(rounds=7, weak_learner="top-down", splits=3, **given),
    "logistic": lambda **given: DPLogisticRegression(**given),
    "forest": lambda **given: DPRandomForestClassifier(n_estimators=5, depth=4, **given),
    "gradient boosting": lambda **given: DPGradientBoostingClassifier(n_estimators=3, depth=3, **given),
    "bagging": lambda **given: DPBaggingClassifier(**given),
}


@functools.cache
def fitted(name: str) -> Model:
    """One of KINDS, fitted; or "halfspace", which takes the columns of numbers alone."""
    score = SMALL.allowed()[SCHEMA.names[1]]
    numbers = np.nan_to_num(score) / 1e6
    y: npt.NDArray[Any] = {
        "regression": numbers,
        "regression of counts": np.floor(9 * numbers),
        "additive, three classes": np.array(THREE, dtype=object)[np.digitize(numbers, [0.3, 0.6])],
    }.get(name, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparateLedgersWarning)
        if name == "halfspace":
            points = np.random.default_rng(0).normal(0.0, 0.3, (500, 7))
            learner = HalfspaceBoostClassifier(
                20.0, 1e-6, radius=2.0, rounds=9, density=0.5, classes=(False, True), random_state=0
            )
            return learner.fit(points, points[:, 0] > points[:, 3])
        return KINDS[name](epsilon=20.0, delta=1e-6, schema=SCHEMA, random_state=0).fit(SMALL.allowed(), y)


def table_for(name: str, n: int) -> Hostile:
    """Records to predict, some of which are refused."""
    if name != "halfspace":
        model = fitted(name).model_
        return hostile(n, 1, model.schema)
    draw = np.random.default_rng(1)
    points = draw.normal(0.0, 1.0, (n, 7)) * 10.0 ** draw.integers(-5, 6, (n, 7))
    points[draw.random((n, 7)) < 0.1] = -0.0
    wrong = draw.random((n, 7)) < 0.002
    points[wrong] = draw.choice([np.nan, np.inf, -np.inf], int(wrong.sum()))
    return Hostile({f"x{place}": points[:, place] for place in range(7)}, np.asarray(wrong.any(axis=1)))


def query(model: PortableModel, dialect: DialectName) -> str:
    """Over the table that engines have, with its key."""
    return as_sql(model, dialect, TABLE, keep=[KEY])


@attrs.frozen(eq=False)
class Apart:
    """How far an engine's answer is from the learner's own. Refused records and predictions must be the same.

    scores, shares: the largest difference, 0 where there is none.  same: share of the scores with the same bits.
    """

    scores: float
    shares: float
    same: float


def apart(name: str, table: Hostile, given: Answer) -> Apart:
    """given: as an engine answered."""
    learner = fitted(name)
    model = portable(learner)
    refused = np.array([each not in (None, False) for each in given["refused"].tolist()])
    assert np.array_equal(refused, table.refused)
    records: Any = table.allowed()
    if name == "halfspace":
        records = np.column_stack(list(records.values()))
    expected, predicted = learner.predict(records), given["prediction"][~refused]
    scores, shares = _numbers(model, given, refused)
    if isinstance(model.link, Amount):
        gaps = np.abs(predicted.astype(np.float64) - expected)
        return Apart(float(gaps.max()), 0.0, float(np.mean(gaps == 0.0)))
    assert np.array_equal(predicted, expected)
    wanted = learner.decision_function(records).reshape(len(predicted), -1)
    if isinstance(model.link, TwoClasses) and model.link.share is None:
        assert shares is None
        off = 0.0
    else:
        assert shares is not None
        off = float(np.abs(shares - learner.predict_proba(records)).max())
    return Apart(float(np.abs(scores - wanted).max()), off, float(np.mean(scores == wanted)))


def _numbers(
    model: PortableModel, given: Answer, refused: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """Scores and shares of the records that are not refused, whatever the engine calls them."""
    classes = () if isinstance(model.link, Amount) else model.link.classes
    several = isinstance(model.link, ManyClasses)
    kept = {key: values[~refused] for key, values in given.items()}
    if "scores" in kept:  # of Python
        shares = kept["shares"].tolist()
        return np.array(kept["scores"].tolist(), dtype=np.float64), (None if shares[0] is None else np.array(shares))
    if isinstance(kept.get("score"), np.ndarray) and kept["score"].ndim == 2:  # of ONNX
        return kept["score"], kept.get("share")
    scores = [kept[f"score {each}"] for each in classes] if several else [kept.get("score", kept["prediction"])]
    shared = [kept[f"share {each}"] for each in classes if f"share {each}" in kept]
    return _stacked(scores), (_stacked(shared) if shared else None)


def _stacked(columns: list[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
    return np.column_stack([each.astype(np.float64) for each in columns])
