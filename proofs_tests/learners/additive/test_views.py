"""Views: which cell a record is in, what is public about it, and which pairs are refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray, IntArray
from learners.additive.effects import NominalEffect, OrderedEffect
from learners.additive.views import (
    GRID,
    PAIR_CELLS,
    Partitioned,
    View,
    check_pairs,
    measured,
    pair_columns,
    views,
)
from learners.encoding.partitions import FINE, refined
from learners.tables.schema import Boolean, Categorical, Column, Numeric, Schema
from mechanisms.gradients.gradient_sums import MOST_CELLS
from mechanisms.queries.histograms import check_histograms, histograms

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue")),
        refined(Numeric("age", 17.0, 90.0)),
        Boolean("member"),
        Numeric("score", 0.0, 1.0, bins=20),
        Numeric("half", 0.0, 1.0, bins=2),
        Numeric("wide", 0.0, 1.0, bins=1000),
    )
)
NAMES = SCHEMA.names
pairs = st.lists(st.sampled_from(list(itertools.combinations(NAMES, 2))), unique=True, max_size=4)


def some_codes(schema: Schema, n: int, seed: int) -> IntArray:
    rng = np.random.default_rng(seed)
    return np.array([rng.integers(0, column.cells, n) for column in schema.columns])


def some_counts(seed: int) -> FloatArray:
    return np.random.default_rng(seed).exponential(30.0, size=(2, 1024)) ** 2


def slow_cell(view: View, codes: IntArray, record: int) -> int:
    """Row-major, one record and one column at a time."""
    place = 0
    for column, cells in zip(view.columns, view.maps, strict=True):
        place = place * len(set(cells.tolist())) + int(cells[codes[column, record]])
    return place


@given(pairs, st.booleans(), st.integers(0, 2**32 - 1))
def test_cells_are_those_of_a_slow_reference(chosen: list[tuple[str, str]], counted: bool, seed: int) -> None:
    codes = some_codes(SCHEMA, 40, seed)
    for view in views(SCHEMA, some_counts(seed) if counted else None, 5.0, chosen):
        cells = view.cells(codes)
        assert cells.tolist() == [slow_cell(view, codes, record) for record in range(40)]
        assert view.number == np.prod(view.shape)
        assert cells.max() < view.number
        table = np.random.default_rng(seed).normal(size=(view.number, 3))
        assert np.array_equal(view.looked_up(table, codes), table[cells])
        assert view.looked_up(table[:, 0].astype(np.int32), codes).dtype == np.int32


@given(pairs, st.integers(0, 2**32 - 1))
def test_every_column_has_a_view_then_every_pair(chosen: list[tuple[str, str]], seed: int) -> None:
    found = views(SCHEMA, some_counts(seed), 5.0, chosen)
    assert [view.columns for view in found[: len(NAMES)]] == [(number,) for number in range(len(NAMES))]
    assert [tuple(NAMES[column] for column in view.columns) for view in found[len(NAMES) :]] == chosen
    assert [view.ordered for view in found[: len(NAMES)]] == [False, True, False, True, False, True]
    assert not any(view.ordered for view in found[len(NAMES) :])
    for view in found:
        assert all(set(cells.tolist()) == set(range(size)) for cells, size in zip(view.maps, view.shape, strict=True))
        assert isinstance(view.effect(1.0), OrderedEffect if view.ordered else NominalEffect)
        assert view.effect(1.0).mean.shape == (view.number,)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1e4))
def test_a_measured_column_gets_a_grid_and_a_mass_in_every_cell(seed: int, sigma: float) -> None:
    assert [NAMES[column] for column in measured(SCHEMA)] == ["age", "wide"]
    for view in views(SCHEMA, some_counts(seed), sigma, ()):
        if view.columns[0] not in measured(SCHEMA):
            assert view.mass is None
            continue
        assert view.mass is not None
        assert GRID // 2 - 1 <= view.number <= GRID
        assert view.mass.shape == (view.number,)
        assert np.all(view.mass > 0.0)
        assert np.isclose(view.mass.sum(), 1.0)


def test_columns_of_a_pair_are_coarse_and_keep_their_order() -> None:
    found = views(SCHEMA, some_counts(0), 5.0, [("age", "colour"), ("wide", "half")])[-2:]
    assert [view.shape for view in found] == [(PAIR_CELLS, 3), (PAIR_CELLS, 2)]
    assert set(np.diff(found[0].maps[0])) == {0, 1}


@pytest.mark.parametrize(
    "pair", [("age", "unknown"), ("unknown", "age"), ("age", "age"), ("age",), ("age", "wide", "half"), ()]
)
def test_a_pair_that_is_none_is_refused_by_name(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"interactions: expected pairs of two different columns"):
        views(SCHEMA, None, 0.0, [pair])
    with pytest.raises(ValueError, match=r"interactions: expected pairs of two different columns"):
        pair_columns(SCHEMA, pair)


def test_a_pair_with_more_cells_than_can_be_released_is_refused() -> None:
    columns: list[Column] = [Categorical(name, tuple(f"{name}{k}" for k in range(2000))) for name in "ab"]
    schema = Schema((*columns, refined(Numeric("c", 0.0, 1.0))))
    with pytest.raises(
        ValueError, match=rf"interactions: \('a', 'b'\) have 4000000 cells together, more than {MOST_CELLS}"
    ):
        pair_columns(schema, ("a", "b"))
    assert pair_columns(schema, ("c", "a")) == (2, 0)


@pytest.mark.parametrize("wrong", ["ab", ["ab"], [("a",)], [("a", "b", "c")], [("a", "b"), ("b", "a")]])
def test_lists_of_pairs_are_checked(wrong: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="pair"):
        check_pairs(wrong)


def test_lists_of_pairs_may_come_as_json_gave_them() -> None:
    assert check_pairs([["a", "b"], ["a", "c"]]) == (("a", "b"), ("a", "c"))  # type: ignore[list-item]  # as JSON has them
    assert check_pairs(()) == ()


# --- what the histograms are taken of ----------------------------------------------------------------------------


def test_histograms_are_of_the_measured_columns_in_a_power_of_two_of_cells() -> None:
    codes = some_codes(SCHEMA, 50, 0)
    seen = Partitioned.of(codes, SCHEMA)
    assert seen.number == 1024
    check_histograms(seen)
    counts = histograms(seen)
    assert counts.shape == (2, 1024)
    assert counts.sum(axis=1).tolist() == [50.0, 50.0]
    for row, column in zip(counts, measured(SCHEMA), strict=True):
        assert row.tolist() == [np.count_nonzero(codes[column] == cell) for cell in range(1024)]


@pytest.mark.parametrize(("bins", "number"), [(129, FINE), (256, FINE), (257, 512), (4096, 4096)])
def test_how_many_cells_follows_from_the_schema_alone(bins: int, number: int) -> None:
    schema = Schema((Numeric("x", 0.0, 1.0, bins=bins), Boolean("y")))
    sizes = {Partitioned.of(some_codes(schema, n, n), schema).number for n in (0, 1, 7)}
    assert sizes == {number}
    counts = np.zeros((1, number))
    view = views(schema, counts, 1.0, ())[0]
    assert view.maps[0].shape == (bins,)
    assert view.number <= GRID
