"""Cells put together: few, in order, and no further off than is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.additive.additive_model import AdditiveModel, Term
from learners.inspection.merged_cells import merged, neighbours
from learners.inspection.scorecards import PointsCard, scorecard
from learners.tables.schema import Categorical, Numeric, Schema

VALUES = st.lists(st.floats(-8.0, 8.0), min_size=1, max_size=24)


@given(VALUES, st.floats(0.0, 3.0), st.integers(2, 12))
def test_runs_are_neighbours_few_and_different_beyond_their_noise(values: list[float], noise: float, most: int) -> None:
    array = np.array(values)[:, None]
    runs = neighbours(array, np.full(array.shape, noise), most)
    assert runs[0] == 0
    assert set(np.diff(runs)) <= {0, 1}
    assert runs[-1] < most
    means = np.bincount(runs, array[:, 0]) / np.bincount(runs)
    assert np.all(np.abs(np.diff(means)) > noise * np.sqrt(2.0) - 1e-9)


@given(VALUES)
def test_without_noise_and_with_lines_enough_only_equal_cells_are_put_together(values: list[float]) -> None:
    array = np.array(values)[:, None]
    runs = neighbours(array, np.zeros(array.shape), len(values) + 1)
    assert np.array_equal(np.diff(runs) == 0, np.diff(array[:, 0]) == 0.0)


@given(VALUES, st.integers(2, 9))
def test_an_effect_that_rises_goes_on_rising(values: list[float], most: int) -> None:
    array = np.sort(np.array(values))[:, None]
    runs = neighbours(array, np.zeros(array.shape), most)
    means = np.bincount(runs, array[:, 0]) / np.bincount(runs)
    assert np.all(np.diff(means) >= -1e-12)


def model(unsure: float | None) -> AdditiveModel:
    """Numbers with a cell for what is missing, categories, and both together."""
    schema = Schema((Numeric("age", 0.0, 40.0, bins=40, missing="own"), Categorical("job", tuple("abcdefgh"))))
    rng = np.random.default_rng(0)
    shapes, maps = [(41,), (8,), (41, 8)], (np.arange(41), np.arange(8))
    terms = []
    for columns, shape in zip(((0,), (1,), (0, 1)), shapes, strict=True):
        values = rng.normal(size=shape)
        noise = None if unsure is None else np.full(shape, unsure)
        terms.append(Term(columns, tuple(maps[column] for column in columns), values, noise))
    return AdditiveModel(schema, np.array(0.1), terms)


@pytest.mark.parametrize("lines", [None, 3])
def test_tables_have_so_many_values_and_are_off_by_no_more_than_is_said(lines: int | None) -> None:
    found, before = merged(model(0.3), lines), model(0.3)
    most = 12 if lines is None else lines
    for term, old, off in zip(found.model.terms, before.terms, found.off, strict=True):
        now, then = term.values[np.ix_(*term.maps)], old.values[np.ix_(*old.maps)]
        assert np.max(np.abs(now - then)) == pytest.approx(off)
    age, job, both = found.model.terms
    assert len(set(age.values[:40].tolist())) <= most
    assert age.values[40] == before.terms[0].values[40], "what is missing has no neighbour"
    assert len(set(job.values.tolist())) <= most
    assert np.count_nonzero(both.values) <= most


def test_bins_of_the_schema_are_the_most_unless_somebody_asks_for_more() -> None:
    few = AdditiveModel(
        Schema((Numeric("x", 0.0, 1.0, bins=3, cuts=tuple(np.arange(1, 30) / 30.0)),)),
        np.array(0.0),
        [Term((0,), (np.arange(30),), np.arange(30.0))],
    )
    assert len(set(merged(few).model.terms[0].values.tolist())) == 3
    assert len(set(merged(few, 8).model.terms[0].values.tolist())) == 8
    with pytest.raises(ValueError, match="expected at least 2"):
        merged(few, 1)


def test_a_card_says_how_far_off_it_is_and_what_the_model_was_saved_without() -> None:
    known, unknown = scorecard(model(0.1), lines=None), scorecard(model(None), lines=None)
    assert isinstance(known, PointsCard)
    assert isinstance(unknown, PointsCard)
    assert known.tables[0].lines[0].unsure == 5, "1.645 deviations of .1 in points of ln(2)/20, rounded up"
    assert "After ± is how far noise may have moved" in str(known)
    assert "saved without what noise leaves unsure" in str(unknown)
    assert known.off is not None
    record = {"age": 3.5, "job": "b"}
    codes = np.array([[3], [1]])
    score = float(model(0.1).scores(codes)[0]) * 20.0 / np.log(2.0)
    assert abs(known.total(record)[0] - score) <= 3.0 * known.off + 0.5
    everything = scorecard(model(0.1))
    assert isinstance(everything, PointsCard)
    assert everything.off is None
    assert "±" not in str(everything)


def test_a_model_with_what_is_unsure_is_written_and_read() -> None:
    again = AdditiveModel.from_record(model(0.3).as_record())
    for term, old in zip(again.terms, model(0.3).terms, strict=True):
        np.testing.assert_array_equal(term.deviations, old.deviations)
    wrong = model(0.3).as_record()
    wrong["terms"][0]["deviations"] = [-1.0] * 41  # type: ignore[index]  # a record of plain values
    with pytest.raises(ValueError, match="deviations: expected a number"):
        AdditiveModel.from_record(wrong)
