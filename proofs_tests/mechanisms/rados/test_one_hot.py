"""Moments of columns some of which code a category together: what one record moves, over all pairs of records."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from accountant import FeatureValue, FeatureValues
from accountant.arrays import FloatArray
from learners import Categorical, Numeric, Schema
from learners.encoding.numeric_features import Coding
from learners.rados.protected_columns import class_moments
from learners.rados.rado_records import RadoTable
from mechanisms import EdgeVectors, column_moments
from mechanisms.core.rows import MemoryRows
from mechanisms.rados.one_hot import Groups, made_one_hot, moments_l2, one_hot_groups

LATTICES: list[tuple[int, Groups, tuple[float, ...]]] = [
    (4, ((1, 2, 3),), (-1.0, -0.5, 0.0, 0.5, 1.0)),
    (5, ((0, 2), (4, 1, 3)), (-1.0, 0.25, 1.0)),
    (5, ((4, 0, 1, 2, 3),), (-7.0, 0.0, 1.0)),
    (6, ((0, 1, 2), (3, 4, 5)), (-1.0, 1.0)),
    (3, (), (-1.0, -0.5, 0.0, 0.5, 1.0)),
]


def moments_of_one(row: FloatArray, groups: Groups) -> FloatArray:
    """Of two records, the other all 0; as the query sums them."""
    values = np.vstack([row, np.zeros(row.size)])
    return column_moments(row.size, 2, groups).evaluate(MemoryRows.of(EdgeVectors(values), 2)).ravel()


@pytest.mark.parametrize(("width", "groups", "values"), LATTICES)
def test_over_all_pairs_of_records_the_sensitivity_is_the_largest_move(
    width: int, groups: Groups, values: tuple[float, ...]
) -> None:
    """[000-moments] Records that are one-hot, and all sorts that are not: these are made one-hot, each by itself."""
    added = np.array([moments_of_one(np.array(row), groups) for row in itertools.product(values, repeat=width)])
    farthest, charged = float(np.max(cdist(added, added))), column_moments(width, 2, groups).sensitivity.value
    assert farthest <= charged <= farthest * (1.0 + 1e-11)
    assert charged == pytest.approx(math.sqrt(4 * (width - sum(map(len, groups))) + 8 * len(groups)))


FINITE = st.floats(-1e200, 1e200)
ROWS = st.lists(st.lists(FINITE, min_size=5, max_size=5), min_size=6, max_size=6).map(np.array)


@given(ROWS, st.lists(FINITE, min_size=5, max_size=5))
def test_any_record_replaced_by_any_moves_no_more_than_is_charged(rows: FloatArray, row: list[float]) -> None:
    """[000-moments] With no allowance for rounding: sums are exact."""
    query, other = column_moments(5, 6, ((0, 3, 4),)), rows.copy()
    other[2] = row
    before, after = (query.evaluate(MemoryRows.of(EdgeVectors(each), 6)) for each in (rows, other))
    moved = float(np.linalg.norm(after - before))
    target(moved)
    assert moved <= query.sensitivity.value
    assert np.array_equal(before[1, [0, 3, 4]], [6.0, 6.0, 6.0])
    assert np.sum(before[0, [0, 3, 4]]) == -6.0


@given(ROWS, st.permutations(range(6)))
def test_a_record_is_made_one_hot_by_itself_and_stays_one(rows: FloatArray, order: list[int]) -> None:
    """[exact-rows]"""
    groups = ((1, 2, 4),)
    made = made_one_hot(rows.copy(), groups)
    assert np.array_equal(made_one_hot(rows[order], groups), made[order])
    assert np.array_equal(made_one_hot(made.copy(), groups), made)
    assert np.array_equal(made[:, [0, 3]], rows[:, [0, 3]])
    assert np.all(np.sort(made[:, [1, 2, 4]], axis=1) == [-1.0, -1.0, 1.0])


def test_blocks_do_not_show() -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, size=(9000, 4))
    query = column_moments(4, 9000, ((0, 1, 2),))
    whole = query.evaluate(MemoryRows.of(EdgeVectors(values), 9000))
    parts = [EdgeVectors(values[:5]), EdgeVectors(values[5:7000]), EdgeVectors(values[7000:])]
    assert np.array_equal(query.evaluate(MemoryRows.parts(parts, (5, 6995, 2000))), whole)
    assert query.name.endswith("3 of them one-hot in 1 group")


@pytest.mark.parametrize("groups", [((0,),), ((0, 1), (1, 2)), ((0, 3),), ((-1, 0),), ((),), ((1, 1),)])
def test_groups_that_are_none_are_refused(groups: Groups) -> None:
    with pytest.raises(ValueError, match="one_hot"):
        one_hot_groups(groups, 3)
    with pytest.raises(ValueError, match="one_hot"):
        column_moments(3, 5, groups)


# --- as tables are coded ----------------------------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Numeric("age", 0.0, 100.0),
        Categorical("sort", ("a", "b", "c")),
        Categorical("sex", ("f", "m")),
        Categorical("town", ("k", "l", "m", "n")),
    )
)
PEOPLE = [
    {"age": np.array([age]), "sort": np.array([sort]), "sex": np.array([sex]), "town": np.array([town])}
    for age, sort, sex, town in itertools.product((0.0, 30.0, 100.0), "abc", "fm", "klmn")
]


def coded_people() -> tuple[Coding, FloatArray]:
    coding = Coding.of(SCHEMA, PEOPLE[0], constant=True)
    return coding, np.concatenate([coding.encode(person, "a test") for person in PEOPLE])


def test_a_schema_says_which_columns_are_one_hot_and_coding_makes_them_so() -> None:
    """What the query would make of coded records is what they are."""
    coding, rows = coded_people()
    assert coding.one_hot == ((1, 4, 5), (3, 6, 7, 8))
    assert np.array_equal(made_one_hot(rows.copy(), coding.one_hot), rows)
    added = np.array([moments_of_one(row[:-1], coding.one_hot) for row in rows])
    assert float(np.max(cdist(added, added))) == pytest.approx(math.sqrt(4 + 4 + 8 + 8), rel=1e-12)
    assert moments_l2(9, coding.one_hot) == pytest.approx(math.sqrt(24), rel=1e-11)


@pytest.mark.parametrize(
    ("columns", "squared"), [((0,), 4), ((1,), 8), ((2,), 4), ((3,), 8), ((0, 1), 12), ((1, 3), 16), ((0, 1, 2, 3), 24)]
)
@pytest.mark.parametrize("label", [-1, 1])
def test_over_all_pairs_of_people_sums_by_label_move_by_what_is_charged(
    columns: tuple[int, ...], squared: int, label: int
) -> None:
    """[000-moments] Exactly √(Σ over the protected columns of 4, or of 8 where there are several categories)."""
    coding, rows = coded_people()
    relation = FeatureValue(columns[0]) if len(columns) == 1 else FeatureValues(columns)
    query, labels = class_moments(coding, 2, relation), np.array([label, 1], dtype=np.int8)

    def evaluated(row: FloatArray) -> FloatArray:
        return query.evaluate(RadoTable.of(np.vstack([row, rows[0]]), labels, coding)).ravel()

    added = np.array([evaluated(row) for row in rows])
    farthest = float(np.max(cdist(added, added)))
    assert farthest <= query.sensitivity.value <= farthest * (1.0 + 1e-11)
    assert query.sensitivity.value == pytest.approx(math.sqrt(squared), rel=1e-11)
    junk = np.random.default_rng(0).normal(0.0, 2.0, (40, coding.features))
    strange = np.array([evaluated(row) for row in junk])
    assert float(np.max(cdist(strange, strange))) <= query.sensitivity.value


def supports(records: int) -> FloatArray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=records)))


@pytest.mark.parametrize("records", [3, 5])
def test_over_common_supports_a_category_shows_in_every_second_rado(records: int) -> None:
    """[000-decoupled] One record in a category of its own, or in that of all others: δ >= 1/2 at every ε."""
    edges = np.tile([1.0, -1.0, -1.0], (records, 1))
    other = edges.copy()
    other[0] = -1.0, 1.0, -1.0
    one = set(map(tuple, (supports(records) @ edges).tolist()))
    alone = [tuple(value) not in one for value in (supports(records) @ other).tolist()]
    assert np.mean(alone) >= 0.5
