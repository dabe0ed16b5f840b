"""Whole numbers, dates, ordered categories, words for truth: each value is read by itself, in every container."""

import datetime
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners import (
    Boolean,
    Date,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    Integer,
    LazyBoostClassifier,
    Ordered,
    OutsideSchema,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    RandomFeatureClassifier,
    Schema,
    SchemaError,
    schema_from_dtypes,
    scorecard,
)
from learners.base import PrivateClassifier, PrivateEstimator
from learners.encoding import Coding
from learners.inspection.plots import curves
from learners.inspection.scorecards import PointsCard
from learners.kinds import KINDS, Column, column_of, column_record
from learners.tables import Label, Values, encode

COLUMNS: Final[list[Column]] = [
    Integer("c", 0, 9, missing="own", other="missing", outside="clip"),
    Integer("c", 0, 300, bins=4, missing=7, other="missing", outside="clip"),
    Date("c", "2020-01-01", "2025-01-01", missing="own", other="missing", outside="clip"),
    Date("c", "2020-01-01", "2025-01-01", missing="2021-05-01", other="missing", outside="clip", form="%d.%m.%Y"),
    Ordered("c", ["low", "mid", "high"], missing="own", other="missing"),
    Ordered("c", ["1", "2", "3"], missing="2", other="3", encoding="thresholds"),
    Boolean("c", missing=True, other=False),
]
VALUES: Final[list[object]] = [
    *("", "nan", None, math.nan, "x", "?", "3", "3.0", 3, 3.0, True, "1e9", -5, "yes", "FALSE", "low", " high ", "2"),
    *("2021-05-01", "01.05.2021", "2021-05-01T10:00:00+02:00", "20210501", 20210501, "2030-01-01"),
    *(
        datetime.date(2021, 5, 1),
        datetime.datetime(2021, 5, 1, 8),
        np.datetime64("2021-05-01"),
        pd.Timestamp(2021, 5, 1),
    ),
    *(pd.NA, pd.NaT, np.datetime64("NaT"), b"3", np.float32(2.0), np.int8(2)),
]


def said(make: Callable[[], object]) -> object:
    try:
        return make()
    except OutsideSchema as error:
        return str(error).rpartition("row 0: ")[2]


def codes(column: Column, values: Sequence[object] | Values) -> list[int]:
    found: list[int] = encode({"c": values}, Schema((column,)))[0].tolist()
    return found


@given(st.sampled_from(COLUMNS), st.lists(st.sampled_from(VALUES), min_size=1, max_size=8))
def test_a_value_is_read_as_it_is_alone(column: Column, values: list[object]) -> None:
    alone = [said(lambda value=value: codes(column, [value])) for value in values]  # type: ignore[misc]  # mypy 1.19
    if all(isinstance(each, list) for each in alone):
        assert [[code] for code in codes(column, values)] == alone
        assert [[code] for code in codes(column, np.array([*values, None], dtype=object)[:-1])] == alone
    else:
        with pytest.raises(OutsideSchema):
            codes(column, values)


@given(st.sampled_from(COLUMNS), st.lists(st.sampled_from([v for v in VALUES if isinstance(v, str)]), min_size=1))
def test_text_reads_alike_in_every_container(column: Column, texts: list[str]) -> None:
    expected = codes(column, texts)
    for table in (
        pd.DataFrame({"c": texts}),
        pd.DataFrame({"c": pd.Categorical(texts)}),
        pl.DataFrame({"c": texts}),
        pa.table({"c": pa.array(texts).dictionary_encode()}),
        {"c": np.array(texts, dtype=np.str_)},
    ):
        assert encode(table, Schema((column,)))[0].tolist() == expected


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_a_column_is_written_and_read_again(column: Column, tmp_path: Path) -> None:
    record = column_record(column)
    assert column_of(record) == column
    assert column_of(json.loads(json.dumps(record))) == column
    assert Schema.from_dict(Schema((column,)).as_dict()) == Schema((column,))


def test_every_kind_is_tried_here() -> None:
    assert {type(column) for column in COLUMNS} | {KINDS["numeric"], KINDS["categorical"]} == set(KINDS.values())


# --- what each of them says and refuses -----------------------------------------------------------------------


def test_whole_numbers_have_cells_of_their_own_where_they_are_few() -> None:
    column = Integer("c", 1, 5)
    assert (column.cells, column.values()) == (5, ["1", "2", "3", "4", "5"])
    assert codes(column, [1, "2", 3.0, "4.0", 5]) == [0, 1, 2, 3, 4]
    wide = Integer("c", 0, 99, bins=10)
    assert wide.values()[:2] == ["0 to 9", "10 to 19"]
    assert [codes(wide, [k]) for k in (9, 10, 99)] == [[0], [1], [9]]
    with pytest.raises(OutsideSchema, match=r"row 1: 2.5 is no whole number"):
        codes(column, [1, "2.5"])
    with pytest.raises(SchemaError, match="must be whole numbers"):
        Integer("c", 0, 1.5)


def test_dates_are_seconds_with_bounds_that_are_dates() -> None:
    column = Date("c", "2024-01-01", datetime.date(2024, 1, 5), bins=4, missing="own")
    assert column.values() == [
        "[2024-01-01, 2024-01-02)",
        "[2024-01-02, 2024-01-03)",
        "[2024-01-03, 2024-01-04)",
        "[2024-01-04, 2024-01-05]",
        "missing",
    ]
    assert codes(column, ["2024-01-01", "2024-01-02T23:59:59", "2024-01-03T01:00+02:00", ""]) == [0, 1, 1, 4]
    assert codes(column, np.array(["2024-01-04", "NaT"], dtype="M8[D]")) == [3, 4]
    assert codes(attrs.evolve(column, form="%d.%m.%Y"), ["03.01.2024"]) == [2]
    assert codes(attrs.evolve(column, form="%Y%m%d"), [20240103]) == [2]
    for wrong, why in (("2024", "is no date"), (7, "is no date"), ("2023-12-31", r"is outside")):
        with pytest.raises(OutsideSchema, match=why):
            codes(column, [wrong])
    for bounds in (("2024-01-05", "2024-01-01"), ("soon", "2024-01-01"), (True, "2024-01-01")):
        with pytest.raises(SchemaError):
            Date("c", *bounds)
    assert column_record(column)["lower"] == "2024-01-01"
    assert column_record(attrs.evolve(column, missing="2024-01-02 12:00"))["missing"] == "2024-01-02 12:00:00"
    thirds = attrs.evolve(column, bins=3)  # which are no whole days: said is the first day that is in the cell
    assert thirds.values()[1] == "[2024-01-03, 2024-01-04)"
    assert codes(thirds, ["2024-01-02", "2024-01-03", "2024-01-04"]) == [0, 1, 2]
    hours = Date("c", "2024-01-01 06:00", "2024-01-01 18:00", bins=2)
    assert hours.values() == [
        "[2024-01-01 06:00:00, 2024-01-01 12:00:00)",
        "[2024-01-01 12:00:00, 2024-01-01 18:00:00]",
    ]


def test_a_frame_of_dates_needs_their_bounds() -> None:
    bounds = {"c": ("2024-01-01", "2024-01-05")}
    for frame in (
        pd.DataFrame({"c": pd.to_datetime(["2024-01-02"])}),
        pl.DataFrame({"c": [datetime.date(2024, 1, 2)]}),
        pl.DataFrame({"c": [datetime.datetime(2024, 1, 2)]}),
    ):
        schema = schema_from_dtypes(frame, bounds, bins=4)
        assert schema == Schema((Date("c", *bounds["c"], bins=4),))
        assert encode(frame, schema).tolist() == [[1]]
        with pytest.raises(SchemaError, match="give bounds"):
            schema_from_dtypes(frame)


def test_ordered_categories_keep_their_order() -> None:
    column = Ordered("c", ["never", "seldom", "often"], encoding="thresholds")
    assert column.values() == [">= seldom", ">= often"]
    assert codes(column, ["often", " never ", "seldom"]) == [2, 0, 1]
    with pytest.raises(OutsideSchema, match="'always' is not one of its 3 categories"):
        codes(column, ["always"])
    refused: list[dict[str, Any]] = [{"missing": "x"}, {"other": "x"}, {"other": "missing"}]
    for wrong in refused:
        with pytest.raises(SchemaError):
            Ordered("c", ["a", "b"], **wrong)


def test_truth_is_said_in_words() -> None:
    assert codes(Boolean("c"), ["yes", "No", "T", "false", 1, 0.0, True, b"n"]) == [1, 0, 1, 0, 1, 0, 1, 0]
    with pytest.raises(OutsideSchema, match=r"'\?' is not a number"):
        codes(Boolean("c"), ["yes", "?"])
    with pytest.raises(SchemaError, match="make it categorical"):
        Boolean("c", missing="own")  # type: ignore[arg-type]  # what is tested


def test_own_categories_are_added_to_those_that_are_listed() -> None:
    record = {"kind": "categorical", "name": "c", "categories": ["a", "b"], "missing": "own", "other": "own"}
    column = column_of(record)
    assert column.values() == ["a", "b", "(missing)", "(other)"]
    assert codes(column, ["a", None, "", "z"]) == [0, 2, 2, 3]
    assert column_of(column_record(column)) == column


# --- every learner --------------------------------------------------------------------------------------------

SCHEMA: Final = Schema(
    (
        Integer("age", 18, 99, outside="clip", missing="own"),
        Date("since", "2000-01-01", "2025-01-01", missing="2010-01-01"),
        Ordered("grade", ["low", "mid", "high"], missing="own", other="missing"),
        Boolean("member", missing=False),
    ),
    Label("y", ("no", "yes")),
)
LEARNERS: Final[list[type[PrivateClassifier[Any]]]] = [
    PrivateBoostClassifier,
    LazyBoostClassifier,
    DPLogisticRegression,
    DPGradientBoostingClassifier,
    DPRandomForestClassifier,
    DPBaggingClassifier,
]
OTHERS: Final[list[type[PrivateEstimator[Any, Any]]]] = [RandomFeatureClassifier, PrivateBoostRegressor]


def people(n: int) -> tuple[dict[str, list[object]], list[str]]:
    random = np.random.default_rng(0)
    pick: list[list[object]] = [
        ["", "30", 50, 70.0],
        ["2001-02-03", None, "2024-05-06"],
        ["low", "high", "?", ""],
        ["yes", "no", ""],
    ]
    columns = [[values[k] for k in random.integers(0, len(values), n)] for values in pick]
    return dict(zip(SCHEMA.names, columns, strict=True)), np.array(["no", "yes"])[random.integers(0, 2, n)].tolist()


@pytest.mark.parametrize("learner", [*LEARNERS, *OTHERS], ids=lambda learner: learner.__name__)
def test_every_learner_takes_them_and_its_model_is_read_again(
    learner: type[PrivateEstimator[Any, Any]], tmp_path: Path
) -> None:
    table, y = people(400)
    given = {"epsilon": 1.0, "delta": 1e-6, "schema": SCHEMA, "random_state": 0}
    numbers = learner is PrivateBoostRegressor
    model: Any = learner(**given, label_bounds=(0.0, 1.0)) if numbers else learner(**given)
    model.fit(table, np.arange(400) / 400 if numbers else y)
    model.save(tmp_path / "model.json")
    again: Any = learner.load(tmp_path / "model.json")
    assert again.predict(table).tolist() == model.predict(table).tolist()


def test_they_are_numbers_within_bounds_to_whoever_takes_numbers() -> None:
    table, _ = people(50)
    points = Coding.of(SCHEMA, table, constant=False).encode(table, "a test")
    assert np.all(np.abs(points) <= 1.0)


# --- what people read -------------------------------------------------------------------------------------------


def test_cards_and_curves_name_dates_and_categories(tmp_path: Path) -> None:
    schema = Schema(
        (
            Date("since", "2000-01-01", "2025-01-01", outside="clip"),
            Ordered("grade", ["low", "mid", "high"], missing="own", other="missing"),
        ),
        Label("y", ("no", "yes")),
    )
    random = np.random.default_rng(0)
    days = np.datetime64("2000-01-01") + random.integers(0, 9000, 4000)
    grades = np.array(["low", "mid", "high"])[random.integers(0, 3, 4000)]
    y = np.where((days > np.datetime64("2015-01-01")) ^ (grades == "high"), "yes", "no")
    model = PrivateBoostClassifier(8.0, 1e-6, schema=schema, random_state=0, interactions=())
    model.fit({"since": days, "grade": grades}, y)
    card = scorecard(model)
    assert isinstance(card, PointsCard)
    lines = {table.columns: [str(line.where[0]) for line in table.lines] for table in card.tables}
    assert all(re.fullmatch(r"(< |>= )?[\[]?\d{4}-\d\d-\d\d.*", line) for line in lines[0,])
    assert set(re.findall(r"[^\W\d]+", " ".join(lines[1,]))) <= {"low", "mid", "high", "missing"}
    record = {"since": "2020-05-05", "grade": "low"}
    assert card.answer(record) == model.predict({name: [value] for name, value in record.items()})[0]
    names = {curve.columns[0]: curve.cells[0] for curve in model.explain()}
    assert names["grade"][0] == "low"
    assert names["since"][0].startswith("[2000-01-01, ")
    figure = curves(model)
    figure.savefig(tmp_path / "curves.png")
    ticks = [text.get_text() for axes in figure.axes for text in axes.get_xticklabels()]
    assert "2000-01-01" in ticks
    assert "high" in ticks


@pytest.mark.parametrize("box", [list, pd.Series, np.array, lambda values: np.array(values, dtype=object)])
def test_whole_numbers_are_dates_beside_a_missing_one(box: Callable[[list[object]], Values]) -> None:
    """Which a library makes floats of."""
    column = Date("c", "2020-01-01", "2025-01-01", missing="own", form="%Y%m%d")
    alone, beside = codes(column, box([20240131])), codes(column, box([20240131, None]))
    assert (alone, beside) == ([8], [8, 10])
    assert codes(column, box([20240131.0, math.nan])) == beside
    for wrong in (20240131.5, 2.0**60, math.inf):
        with pytest.raises(OutsideSchema, match="is no date, as"):
            codes(column, box([wrong, None]))


@pytest.mark.parametrize("dtype", [None, object])
def test_a_truth_value_is_no_date_whatever_stands_beside_it(dtype: type | None) -> None:
    column = Date("c", "1900-01-01", "1901-01-01", missing="own", other="missing", form="%d")
    assert codes(column, np.array([True], dtype=dtype)) == [10]
    for values in ([True, 1], [1, True], [1.0, True], [True, 1.0]):
        assert codes(column, values) == [10 if value is True else 0 for value in values]


@pytest.mark.parametrize("unit", ["Y", "M", "D", "h", "s", "ms"])
@pytest.mark.parametrize("year", [-500_000, 500_000, -(10**7), 10**7])
def test_dates_that_are_far_away_stay_on_their_side(year: int, unit: str) -> None:
    far = np.datetime64(year - 1970, "Y").astype(f"M8[{unit}]")
    column = Date("c", "2020-01-01", "2025-01-01", outside="clip")
    for values in (np.array([far]), [far], np.array([far]).astype(f">M8[{unit}]")):
        assert codes(column, values) == [9 if year > 0 else 0]
        with pytest.raises(OutsideSchema, match="outside"):
            codes(attrs.evolve(column, outside="error"), values)
