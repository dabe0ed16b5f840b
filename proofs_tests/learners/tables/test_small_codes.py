"""Codes may be of any integer type: bytes, which are passed over faster, give the very model that wide codes give."""

from typing import Any

import numpy as np
import pytest

from learners import (
    Categorical,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    EncodedSample,
    Layout,
    LazyBoostClassifier,
    Numeric,
    PrivateBoostClassifier,
    Schema,
)

CELLS = (200, 3, 40, 2)

LEARNERS: dict[str, Any] = {
    "boosted 1-Rules": lambda: LazyBoostClassifier(1.0, 1e-6, random_state=0),
    "boosted trees": lambda: LazyBoostClassifier(1.0, 1e-6, weak_learner="top-down", random_state=0),
    "PrivateBoost": lambda: PrivateBoostClassifier(1.0, 1e-6, adjacency="replace-one", random_state=0),
    "logistic regression": lambda: DPLogisticRegression(1.0, random_state=0),
    "DPBoost": lambda: DPGradientBoostingClassifier(1.0, n_estimators=3, ensemble=3, seed=0, random_state=0),
    "forest": lambda: DPRandomForestClassifier(1.0, seed=0, random_state=0),
    "bagging": lambda: DPBaggingClassifier(1.0, seed=0, random_state=0),
}


def sample(codes: type[np.integer[Any]]) -> EncodedSample:
    rng = np.random.default_rng(0)
    columns: tuple[Categorical | Numeric, ...] = (
        Numeric("wide", 0, 200, bins=200, outside="clip"),
        *(Categorical(f"c{cells}", tuple(map(str, range(cells)))) for cells in CELLS[1:]),
    )
    drawn = np.stack([rng.integers(0, cells, 3000) for cells in CELLS])
    labels = np.where(drawn[0] > 120, 1, -1).astype(np.int8)
    return EncodedSample(Layout(Schema(columns)), drawn.astype(codes), labels)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("codes", [np.uint8, np.int16])
def test_small_codes_give_the_same_model(name: str, codes: type[np.integer[Any]]) -> None:
    wide, small = sample(np.int64), sample(codes)
    first, second = (LEARNERS[name]().fit_encoded(given).model_ for given in (wide, small))
    assert np.array_equal(first.scores(wide.codes), second.scores(small.codes))
    assert np.array_equal(first.scores(wide.codes), first.scores(small.codes))
    assert len(set(first.scores(wide.codes).tolist())) > 1


def test_joint_codes_of_many_records_do_not_wrap() -> None:
    """The Gram matrix of logistic regression reckons with them: a pair of codes is above 255 soon."""
    few, times = sample(np.uint8), 60
    many = EncodedSample(few.layout, np.tile(few.codes, times), np.tile(few.labels, times))
    assert many.n > 2**17
    assert many.packed.dtype == np.dtype(np.intp)
    assert np.array_equal(many.packed[:, : few.n], few.packed)
