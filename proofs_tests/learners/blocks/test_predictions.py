"""Predictions over blocks are those of the table in memory, of every learner that predicts."""

from functools import cache
from pathlib import Path
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from learners import HalfspaceBoostClassifier, MappedTable, PrivateBoostClassifier, predict_in_blocks
from learners.blocks.parquet_table import ParquetTable
from proofs_tests.support.learners.in_blocks import LABEL, LEARNERS, in_parquet, people

PREDICTING = [name for name, make in LEARNERS.items() if hasattr(make(), "predict")]
every_predictor = pytest.mark.parametrize("name", PREDICTING)


def asked() -> pd.DataFrame:
    return people().drop(columns=[LABEL])


@cache
def fitted(name: str) -> Any:
    return LEARNERS[name]().fit(asked(), people()[LABEL])


def methods(model: Any) -> list[str]:
    return [each for each in ("predict", "predict_proba", "decision_function") if hasattr(model, each)]


def check(model: Any, table: Any, blocks: int, within: Any = None) -> None:
    for method in methods(model):
        parts = list(predict_in_blocks(model, table, method))
        assert len(parts) == blocks
        assert np.array_equal(np.concatenate(parts), getattr(model, method)(asked() if within is None else within))


@every_predictor
def test_files_are_answered_as_frames_are_with_labels_or_without(name: str, tmp_path: Path) -> None:
    table = in_parquet(people(), tmp_path, (100, 1, 200), block=50)
    blocks = 3 + 1 + 5 + 3
    check(fitted(name), table, blocks)
    if not isinstance(fitted(name), HalfspaceBoostClassifier):  # which has no schema to leave the label aside by
        check(fitted(name), ParquetTable(tmp_path, block=50), blocks)


@every_predictor
def test_arrays_are_answered_as_in_memory(name: str) -> None:
    X, y = asked().to_numpy(), people()[LABEL].to_numpy(dtype=str)
    learner = LEARNERS[name]()
    if getattr(learner, "sensitive", ()):
        learner.sensitive = [3]
    check(learner.fit(X, y), MappedTable(X, block=100), 5, X)


@every_predictor
def test_collections_are_answered_as_in_memory(name: str) -> None:
    frame = dask.dataframe.from_pandas(asked(), npartitions=3)  # type: ignore[no-untyped-call]  # Dask's
    check(fitted(name), frame, 3)
    empty = frame[frame["mean area"] > 1e9]
    assert list(predict_in_blocks(fitted(name), empty)) == []


def test_more_partitions_than_are_asked_at_once_keep_their_order() -> None:
    X = np.random.default_rng(0).integers(0, 2, (400, 3))
    model = PrivateBoostClassifier(1.0, 1e-5, random_state=0).fit(X, X[:, 0])
    collection = dask.array.from_array(X, chunks=(10, 3))  # type: ignore[no-untyped-call]  # Dask's
    parts = list(predict_in_blocks(model, collection, "decision_function"))
    assert np.array_equal(np.concatenate(parts), model.decision_function(X))


def test_a_table_in_memory_is_one_block() -> None:
    model = fitted("boosted 1-Rules")
    assert [part.shape for part in predict_in_blocks(model, asked())] == [(427,)]


def test_blocks_are_looked_at_when_they_are_asked_for_and_mistakes_say_where() -> None:
    X = np.zeros((30, 3))
    X[25] = 7.0
    model = PrivateBoostClassifier(1.0, 1e-5, random_state=0).fit(X[:20].astype(int), np.zeros(20, dtype=int))
    answers = predict_in_blocks(model, MappedTable(X, block=10))
    assert next(answers).shape == next(answers).shape == (10,)
    with pytest.raises(ValueError, match="row 5") as caught:
        next(answers)
    assert "record 20" in caught.value.__notes__[-1]


def test_what_a_model_lacks_is_said() -> None:
    with pytest.raises(AttributeError):
        predict_in_blocks(object(), np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        list(predict_in_blocks(PrivateBoostClassifier(), MappedTable(np.zeros((2, 2)))))
