"""The tables of the leaderboard are what their notes say, within bounds that nobody computed from them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.adapters.protocol import KINDS, Column, codes, unit_features
from benchmarks.data.rado_domains import Source
from benchmarks.tables.reading import Layout, classified, columns_of, within_bounds
from benchmarks.tables.sets import READERS, SETS, load
from benchmarks.tables.table_sets import TableSet, split, widened
from exchequer.datasets import DataNotFound
from learners import Boolean, Categorical, Numeric, Schema

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs real data: set EXCHEQUER_DATA to the folder with it"
)

CLASSES: Final[Mapping[str, Mapping[str, int]]] = {
    "adult": {"<=50K": 24_720 + 12_435, ">50K": 7_841 + 3_846},
    "cod-rna": {"-1": 39_690 + 181_078, "1": 19_845 + 90_539},
    "mushroom": {"e": 4_208, "p": 3_916},
    "magic": {"h": 6_688, "g": 12_332},
    "eeg": {"0": 8_257, "1": 6_723},
    "transfusion": {"0": 570, "1": 178},
    "ionosphere": {"b": 126, "g": 225},
    "sonar": {"R": 97, "M": 111},
    "breast-cancer-wisconsin": {"2": 458, "4": 241},
    "wdbc": {"B": 357, "M": 212},
    "banknote": {"0": 762, "1": 610},
    "fertility": {"N": 88, "O": 12},
    "haberman": {"1": 225, "2": 81},
    "pima-diabetes": {"0": 500, "1": 268},
    "german-credit": {"1": 700, "2": 300},
    "australian-credit": {"0": 383, "1": 307},
    "tic-tac-toe": {"negative": 332, "positive": 626},
    "house-votes-84": {"democrat": 267, "republican": 168},
    "mammographic-mass": {"0": 516, "1": 445},
    "parkinsons": {"0": 48, "1": 147},
    "skin": {"2": 194_198, "1": 50_859},
    "medical-smoker": {"no": 1_064, "yes": 274},
    "clave-firm-teacher": {"0100": 4_300, "0001": 1_783, "0010": 4_306, "1000": 407},
    "wine-quality": {"5 or less": 744 + 1_640, "6": 638 + 2_198, "7 or more": 217 + 1_060},
    "abalone-age": {"1 to 8 rings": 1_407, "9 or 10 rings": 1_323, "11 to 29 rings": 1_447},
}
"""Records of each class, from the data folder's notes; of groups of wines and shells, from their published counts."""

NUMBERS: Final[Mapping[str, int]] = {
    "medical-charges": 1_338,
    "wine-red": 1_599,
    "wine-white": 4_898,
    "abalone-rings": 4_177,
    "adult-hours": 32_561 + 16_281,
    "friedman-1": 20_000,
}
"""Records of each regression."""

FEATURES: Final[Mapping[str, int]] = {
    "adult": 14,
    "cod-rna": 8,
    "mushroom": 22,
    "magic": 10,
    "eeg": 14,
    "transfusion": 4,
    "ionosphere": 34,
    "sonar": 60,
    "breast-cancer-wisconsin": 9,
    "wdbc": 30,
    "banknote": 4,
    "fertility": 9,
    "haberman": 3,
    "pima-diabetes": 8,
    "german-credit": 20,
    "australian-credit": 14,
    "tic-tac-toe": 9,
    "house-votes-84": 16,
    "mammographic-mass": 4,
    "parkinsons": 22,
    "skin": 3,
    "medical-smoker": 6,
    "clave-firm-teacher": 16,
    "wine-quality": 12,
    "abalone-age": 8,
    "medical-charges": 6,
    "wine-red": 11,
    "wine-white": 11,
    "abalone-rings": 8,
    "adult-hours": 14,
    "friedman-1": 10,
}

TEST_ROWS: Final = {
    "adult": slice(32_561, 48_842),
    "adult-hours": slice(32_561, 48_842),
    "cod-rna": slice(59_535, 331_152),
}

ALL: Final = "*"
CODES: Final[Mapping[str, set[str]]] = {
    # Ages and hours that the survey's form has room for, a top code, and degrees that are numbered.
    "adult": {"age", "education-num", "capital-gain", "hours-per-week"},
    "adult-hours": {"age", "education-num", "capital-gain"},
    "magic": {"fAlpha"},  # an angle
    "ionosphere": {ALL},  # normalised
    "breast-cancer-wisconsin": {ALL},  # graded from 1 to 10
    "fertility": {"fevers", "smoking"},  # -1, 0, 1
    "german-credit": {"instalment rate", "residence", "credits", "dependants"},  # classes by number
    "mammographic-mass": {"density"},  # graded from 1 to 4
    "skin": {ALL},  # bytes
}
"""Columns whose scale ends where the values do."""


@attrs.frozen(eq=False)
class Loaded:
    """A table as its file has it, and as it is given to learners."""

    raw: TableSet
    data: TableSet


@pytest.fixture(scope="module", params=sorted(READERS))
def loaded(request: pytest.FixtureRequest) -> Loaded:
    """Each table once."""
    raw = READERS[str(request.param)](None)
    return Loaded(raw, within_bounds(raw))


def test_there_are_enough_tables_of_every_kind() -> None:
    assert set(SETS) == set(CLASSES) | set(NUMBERS) == set(FEATURES)
    assert len(SETS) == 31


@NEEDS_DATA
@pytest.mark.data
def test_records_and_classes_are_those_of_the_notes(loaded: Loaded) -> None:
    data = loaded.data
    assert data.name in SETS
    assert data.kind in KINDS
    assert data.test_rows == TEST_ROWS.get(data.name)
    assert len(data.columns) == FEATURES[data.name] == len({column.name for column in data.columns})
    if data.kind == "regression":
        assert data.classes == ()
        assert data.records == NUMBERS[data.name]
        assert data.labels.dtype == np.float64
    else:
        assert (data.kind == "binary") == (len(data.classes) == 2)
        assert data.labels.dtype == np.int64
        assert dict(zip(data.classes, np.bincount(data.labels).tolist(), strict=True)) == CLASSES[data.name]


@NEEDS_DATA
@pytest.mark.data
def test_values_are_within_the_public_bounds_and_categories(loaded: Loaded) -> None:
    data = loaded.data
    assert set(data.table) == {column.name for column in data.columns}
    for column in data.columns:
        values = data.table[column.name]
        assert values.shape == (data.records,)
        assert not values.flags.writeable
        if column.numeric:
            assert values.dtype == np.float64
            assert column.lower < column.upper
            assert np.all((values >= column.lower) & (values <= column.upper))  # which no NaN is
        else:
            assert values.dtype.kind == "U"
            assert np.all(np.isin(values, column.categories))
            assert len(set(column.categories)) == len(column.categories) >= 2
    assert np.all((data.labels >= data.label_bounds[0]) & (data.labels <= data.label_bounds[1]))


@NEEDS_DATA
@pytest.mark.data
def test_bounds_cut_off_little_and_are_not_the_extremes(loaded: Loaded) -> None:
    raw = loaded.raw
    scales = CODES.get(raw.name, set())
    for column in (column for column in raw.columns if column.numeric):
        values = raw.table[column.name]
        assert np.mean((values < column.lower) | (values > column.upper)) <= 0.02, column.name
        extremes = float(np.nanmin(values)), float(np.nanmax(values))
        assert extremes != (column.lower, column.upper) or column.name in scales or ALL in scales, column.name
    if raw.kind == "regression":
        outside = (raw.labels < raw.label_bounds[0]) | (raw.labels > raw.label_bounds[1])
        assert np.mean(outside) <= 0.02
        assert (float(raw.labels.min()), float(raw.labels.max())) != raw.label_bounds


@NEEDS_DATA
@pytest.mark.data
def test_each_record_is_trained_on_or_tested_on(loaded: Loaded) -> None:
    data = loaded.data
    train, test = split(data, 3)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(data.records))
    again, held = split(data, 3)
    assert np.array_equal(again, train)
    assert np.array_equal(held, test)
    other = split(data, 4)
    assert not np.array_equal(other[0], train)
    if data.test_rows is not None:
        assert np.array_equal(test, np.arange(data.records)[data.test_rows])
        return
    assert not np.array_equal(other[1], test)
    for place in range(len(data.classes)):
        assert abs(np.sum(data.labels[test] == place) - 0.2 * np.sum(data.labels == place)) <= 0.5
    assert test.size == pytest.approx(0.2 * data.records, abs=2.0)


@NEEDS_DATA
@pytest.mark.data
def test_wider_bounds_hold_the_old_ones(loaded: Loaded) -> None:
    data = loaded.data
    wide = widened(data, 10.0)
    for old, new in zip(data.columns, wide.columns, strict=True):
        assert new.categories == old.categories
        if old.numeric:
            assert new.lower < old.lower < old.upper < new.upper
            assert new.upper - new.lower == pytest.approx(10.0 * (old.upper - old.lower))
            assert new.upper + new.lower == pytest.approx(old.upper + old.lower, abs=1e-9 * (new.upper - new.lower))
    if data.kind == "regression":
        assert wide.label_bounds[0] < data.label_bounds[0] < data.label_bounds[1] < wide.label_bounds[1]
    else:
        assert wide.label_bounds == data.label_bounds


@NEEDS_DATA
@pytest.mark.data
def test_what_is_public_is_enough_to_code_every_record() -> None:
    data = load("german-credit")
    table, labels = data.part(np.arange(50))
    assert labels.shape == (50,)
    assert unit_features(data.columns, table).shape[0] == 50
    for column, places in zip(data.columns, codes(data.columns, table, 4), strict=True):
        if not column.numeric:
            assert np.array_equal(np.asarray(column.categories)[places], table[column.name])


@NEEDS_DATA
@pytest.mark.data
def test_a_table_is_read_once() -> None:
    assert load("haberman") is load("haberman", os.environ["EXCHEQUER_DATA"])
    assert SETS["haberman"](None) is load("haberman")


@NEEDS_DATA
@pytest.mark.data
def test_missing_values_are_a_category_or_the_middle_of_the_bounds() -> None:
    masses, cells = load("mammographic-mass"), load("breast-cancer-wisconsin")
    assert np.sum(masses.table["shape"] == "?") == 31
    assert np.sum(masses.table["density"] == 2.5) == 76
    assert np.sum(cells.table["bare nuclei"] == 5.5) == 16


def test_without_a_data_folder_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EXCHEQUER_DATA", raising=False)
    for name in ("sonar", "adult", "mushroom"):
        with pytest.raises(DataNotFound, match=name):
            load(name)
    with pytest.raises(DataNotFound, match=r"sonar\.all-data"):
        load("sonar", str(tmp_path))
    with pytest.raises(KeyError, match="iris"):
        load("iris")
    assert load("friedman-1").records == 20_000


COLUMNS: Final = (Column("size", 0.0, 10.0), Column("hue", categories=("red", "green", "?")))


def _made_up(sizes: list[float], hues: list[str], texts: list[str]) -> TableSet:
    table: dict[str, npt.NDArray[Any]] = {"size": np.array(sizes), "hue": np.array(hues)}
    return classified("made up", COLUMNS, ("no", "yes"), table, np.array(texts))


def test_numbers_are_moved_into_their_bounds_record_by_record() -> None:
    data = within_bounds(_made_up([-3.0, 4.0, np.nan, 99.0], ["red", "?", "green", "red"], ["no", "yes", "no", "no"]))
    assert data.table["size"].tolist() == [0.0, 4.0, 5.0, 10.0]
    assert data.table["hue"].tolist() == ["red", "?", "green", "red"]
    assert data.labels.tolist() == [0, 1, 0, 0]
    assert data.label_bounds == (0.0, 1.0)


def test_labels_of_a_regression_are_moved_into_their_bounds() -> None:
    columns = COLUMNS[:1]
    raw = TableSet("r", "regression", columns, (), (0.0, 1.0), {"size": np.ones(3)}, np.array([-1.0, 0.5, 7.0]))
    assert within_bounds(raw).labels.tolist() == [0.0, 0.5, 1.0]
    assert widened(raw, 3.0).label_bounds == (-1.0, 2.0)


def test_an_unknown_category_or_class_is_named() -> None:
    with pytest.raises(ValueError, match="made up, hue: 'blue' is none of 'red', 'green'"):
        within_bounds(_made_up([1.0, 2.0], ["red", "blue"], ["no", "yes"]))
    with pytest.raises(ValueError, match="'perhaps' is none of 'no', 'yes'"):
        _made_up([1.0], ["red"], ["perhaps"])


def test_facts_of_a_schema_are_taken_over() -> None:
    facts = columns_of(Schema((Numeric("size", 0.0, 10.0), Categorical("hue", ("red", "green", "?")))))
    assert facts == COLUMNS
    with pytest.raises(TypeError, match="wet holds neither"):
        columns_of(Schema((Boolean("wet"),)))


def test_fields_are_dropped_or_joined_to_a_label(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.data").write_text("7,?,red,0,1\n8,2.5,green,1,0\n9,1,red,1,1\n")
    source = Source("toy", "toy.data", ["01"], ["10"])
    layout = Layout(source, ("dropped", *COLUMNS, "label", "label"), odd=frozenset({"11"}))
    data = layout.read("toy", tmp_path)
    assert data.classes == ("01", "10")
    assert data.labels.tolist() == [0, 1]
    assert np.array_equal(data.table["size"], [np.nan, 2.5], equal_nan=True)
    assert data.table["hue"].tolist() == ["red", "green"]
    with pytest.raises(ValueError, match="'11' is none of"):
        attrs.evolve(layout, odd=frozenset()).read("toy", tmp_path)
    with pytest.raises(ValueError, match="has 4 fields, the file 5"):
        attrs.evolve(layout, fields=layout.fields[1:]).read("toy", tmp_path)


@pytest.mark.parametrize("factor", [0.5, -1.0, float("nan"), float("inf")])
def test_bounds_are_not_made_narrower(factor: float) -> None:
    with pytest.raises(ValueError, match="at least 1 times"):
        widened(_made_up([1.0], ["red"], ["no"]), factor)
