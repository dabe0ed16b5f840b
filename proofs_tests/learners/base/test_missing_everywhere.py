"""Every learner that takes columns of numbers takes missing ones where the schema has a place for them."""

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pytest

from learners import (
    Boolean,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    LazyBoostClassifier,
    Numeric,
    OutsideSchema,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    RadoBoostClassifier,
    RandomFeatureClassifier,
    Schema,
)
from learners.kinds.numeric_column import Missing

RNG: Final = np.random.default_rng(0)
Y: Final = RNG.integers(0, 2, 1500)
AGE: Final = np.where(RNG.random(Y.size) < np.where(Y == 1, 0.8, 0.05), np.nan, RNG.uniform(0.0, 100.0, Y.size))
X: Final = {"age": AGE, "truth": RNG.integers(0, 2, Y.size)}
GAP: Final = np.isnan(AGE)

LEARNERS: Final[dict[str, tuple[type[Any], dict[str, Any]]]] = {
    "additive": (PrivateBoostClassifier, {}),
    "lazy": (LazyBoostClassifier, {"rounds": 5}),
    "lazy, top-down": (LazyBoostClassifier, {"rounds": 3, "weak_learner": "top-down"}),
    "logistic": (DPLogisticRegression, {}),
    "bagging": (DPBaggingClassifier, {}),
    "forest": (DPRandomForestClassifier, {}),
    "trees": (DPGradientBoostingClassifier, {}),
    "rados": (RadoBoostClassifier, {"protection": "examples"}),
    "random features": (RandomFeatureClassifier, {}),
}


def fitted(learner: str, missing: Missing, encoding: str = "one-hot") -> Any:
    kind, settings = LEARNERS[learner]
    column = Numeric("age", 0.0, 100.0, bins=8, encoding=encoding, missing=missing)  # type: ignore[arg-type]  # one of two
    schema = Schema((column, Boolean("truth")))
    return kind(epsilon=20.0, delta=1e-5, schema=schema, random_state=0, **settings).fit(X, Y)


@pytest.mark.parametrize("encoding", ["one-hot", "thresholds"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_numbers_tell_as_much_as_they_do(learner: str, encoding: str, tmp_path: Path) -> None:
    model = fitted(learner, "own", encoding)
    assert model.score(X, Y) > 0.8  # .875 is what the gap alone says; no number says anything
    first = {name: values[:50].tolist() for name, values in X.items()}
    first["age"] = ["" if np.isnan(age) else str(age) for age in first["age"]]
    assert np.array_equal(model.predict(first), model.predict(X)[:50])
    model.save(tmp_path / "model.json")
    assert np.array_equal(type(model).load(tmp_path / "model.json").predict(X), model.predict(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_numbers_count_as_what_the_schema_says_or_are_refused(learner: str) -> None:
    model = fitted(learner, 100.0)
    filled = {**X, "age": np.where(GAP, 100.0, AGE)}
    assert np.array_equal(model.predict(X), model.predict(filled))
    with pytest.raises(OutsideSchema, match="missing='own'"):
        fitted(learner, None)


@pytest.mark.parametrize("encoding", ["one-hot", "thresholds"])
@pytest.mark.parametrize("interactions", ["auto", ()])
def test_a_regression_gives_missing_numbers_an_effect_of_their_own(
    encoding: Literal["one-hot", "thresholds"], interactions: Literal["auto"] | tuple[tuple[str, str], ...]
) -> None:
    column = Numeric("age", 0.0, 100.0, encoding=encoding, missing="own")
    settings = {"label_bounds": (-1.0, 2.0), "schema": Schema((column, Boolean("truth"))), "random_state": 0}
    model = PrivateBoostRegressor(20.0, 1e-5, interactions=interactions, **settings).fit(X, Y)  # type: ignore[arg-type]  # mixed on purpose
    assert model.score(X, Y) > 0.45  # .575 is what the gap alone says
    effect = next(curve for curve in model.explain() if curve.columns == ("age",))
    assert effect.cells[-1] == ("missing",)
    assert effect.effects[-1] > np.max(effect.effects[:-1]) + 0.5
