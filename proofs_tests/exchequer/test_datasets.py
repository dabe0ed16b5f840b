"""The loaders: every row is read, every row fits the public schema, and splits are what they say."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from exchequer.datasets import (
    SEARCHED,
    DataNotFound,
    DataSplit,
    adult,
    breast_cancer,
    cod_rna,
    folds,
    mushroom,
    packaged_schema,
    random_split,
)
from learners import Categorical, Layout, Numeric
from learners.tables.labels import signs
from learners.tables.readers import encode

FOLDER = os.environ.get(SEARCHED, "")
needs_data = pytest.mark.skipif(not FOLDER, reason=f"{SEARCHED} is not set")

FEATURES = {"adult": 162, "cod_rna": 80, "mushroom": 126, "breast_cancer": 210}


def classes(data: DataSplit) -> tuple[Counter[str], Counter[str]]:
    return Counter(data.y_train.astype(str).tolist()), Counter(data.y_test.astype(str).tolist())


def check_fits_schema(data: DataSplit) -> None:
    """Encoding raises for a row that the schema does not allow."""
    assert data.schema.label is not None
    for table, labels in ((data.train, data.y_train), (data.test, data.y_test)):
        assert list(table) == data.schema.names
        assert encode(table, data.schema).shape == (len(data.schema.columns), labels.size)
        signs(labels, data.schema.label.classes)


@pytest.mark.parametrize(("name", "features"), FEATURES.items())
def test_features_are_as_many_as_stated(name: str, features: int) -> None:
    assert Layout(packaged_schema(name)).d == features


@needs_data
@pytest.mark.data
def test_adult() -> None:
    data = adult(FOLDER)
    assert classes(data) == ({"<=50K": 24_720, ">50K": 7_841}, {"<=50K": 12_435, ">50K": 3_846})
    check_fits_schema(data)


@needs_data
@pytest.mark.data
def test_cod_rna() -> None:
    data = cod_rna(FOLDER)
    assert classes(data) == ({"-1": 39_690, "1": 19_845}, {"-1": 181_078, "1": 90_539})
    check_fits_schema(data)
    first = [-766, 128, 0.140625, 0.304688, 0.234375, 0.140625, 0.304688, 0.234375]
    assert [float(values[0]) for values in data.train.values()] == first
    for column in data.schema.columns:  # clipping is allowed, but no row needs it
        assert isinstance(column, Numeric)
        for table in (data.train, data.test):
            values = column.numbers(table[column.name])
            assert column.lower <= values.min() < values.max() <= column.upper


@needs_data
@pytest.mark.data
def test_mushroom() -> None:
    data = mushroom(FOLDER)
    train, test = classes(data)
    assert train + test == {"e": 4_208, "p": 3_916}
    assert test.total() == 1_624
    check_fits_schema(data)
    assert Counter(np.concatenate([data.train["stalk-root"], data.test["stalk-root"]]).tolist())["?"] == 2_480


@needs_data
@pytest.mark.data
def test_mushroom_has_the_papers_117_features_among_its_126() -> None:
    data = mushroom(FOLDER)
    seen = [set(data.train[name].tolist()) | set(data.test[name].tolist()) for name in data.schema.names]
    assert sum(map(len, seen)) == 117
    for values, column in zip(seen, data.schema.columns, strict=True):
        assert isinstance(column, Categorical)
        assert values <= set(column.categories)


@needs_data
@pytest.mark.data
def test_mushroom_is_split_by_its_seed() -> None:
    first, again, other = mushroom(FOLDER, 1), mushroom(FOLDER, 1), mushroom(FOLDER, 2)
    assert np.array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.train["odor"], other.train["odor"])


@pytest.mark.parametrize("load", [adult, cod_rna, mushroom])
def test_what_is_missing_is_named(load: object, tmp_path: Path) -> None:
    assert callable(load)
    with pytest.raises(DataNotFound, match=SEARCHED):
        load(tmp_path)


def small() -> DataSplit:
    """Breast cancer with its row number in place of one measurement, so that rows can be told apart."""
    data = breast_cancer()
    name = data.schema.names[0]
    n = data.y_train.size
    train = {**data.train, name: np.arange(n)}
    test = {**data.test, name: np.arange(n, n + data.y_test.size)}
    return DataSplit(data.name, data.schema, train, data.y_train, test, data.y_test)


def row_numbers(data: DataSplit) -> tuple[list[int], list[int]]:
    name = data.schema.names[0]
    return sorted(map(int, data.train[name].tolist())), sorted(map(int, data.test[name].tolist()))


@pytest.mark.parametrize(("rows", "n"), [("all", 569), ("train", 427)])
def test_folds_hold_every_row_out_once(rows: str, n: int) -> None:
    assert rows in ("all", "train")
    parts = folds(small(), 5, seed=3, rows="all" if rows == "all" else "train")
    held = [number for part in parts for number in row_numbers(part)[1]]
    assert sorted(held) == list(range(n))
    for part in parts:
        train, test = row_numbers(part)
        assert sorted(train + test) == list(range(n))


def test_a_random_split_keeps_rows_and_labels_together() -> None:
    data = small()
    name = data.schema.names[0]
    labels = np.concatenate([data.y_train, data.y_test])
    split = random_split(data, seed=7)
    assert split.y_test.size == 113
    assert sorted(row_numbers(split)[0] + row_numbers(split)[1]) == list(range(569))
    for table, y in ((split.train, split.y_train), (split.test, split.y_test)):
        assert np.array_equal(labels[table[name].astype(int)], y)
    assert not np.array_equal(split.y_test, random_split(data, seed=8).y_test)
