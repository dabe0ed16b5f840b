"""Views: which cell a record is in, what is public about it, and which pairs are refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray, IntArray
from learners.additive.grids import (
    FEWEST_RECORDS,
    GRID,
    MANY,
    MOST,
    STAGES,
    Followed,
    believed,
    cell_shares,
    followed_grids,
    measured,
    parted,
    worth_finer,
)
from learners.additive.grids import MOST_CELLS as MOST_OF_A_COLUMN
from learners.additive.posteriors.effects import NominalEffect
from learners.additive.posteriors.ordered_effects import OrderedEffect
from learners.additive.round_bins import ALONE, FEWEST_BINS, MOST_BINS, MOST_OF_ALL, round_bins
from learners.additive.views import PAIR_CELLS, View, check_pairs, pair_columns, views
from learners.encoding.partitions import FINEST, refined
from learners.tables import Integer
from learners.tables.schema import Boolean, Categorical, Column, Numeric, Schema
from mechanisms.gradients.gradient_sums import MOST_CELLS
from mechanisms.queries.histograms import check_histograms, histograms

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue")),
        refined(Numeric("age", 17.0, 90.0), FINEST),
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


def some_grids(seed: int, sigma: float = 5.0, schema: Schema = SCHEMA, whole: float = 1e-6) -> list[Followed]:
    """Of random counts. whole: tiny, so that grids are finer; or huge."""
    rng, asked = np.random.default_rng(seed), list[list[IntArray]]()

    def count(parts: list[IntArray]) -> FloatArray:
        asked.append(parts)
        return rng.exponential(30.0, size=(len(parts), 1 + max(int(part[-1]) for part in parts))) ** 2

    found = followed_grids(schema, count, sigma, sigma, whole)
    assert len(asked) == STAGES
    for part, number in [
        (part, number) for parts in asked for part, number in zip(parts, measured(schema), strict=True)
    ]:
        assert part.shape == (schema.columns[number].cells,)
        assert part[0] == 0
        assert set(np.diff(part)) <= {0, 1}
        assert part[-1] < MOST
    return found


HUGE = 1e12


def slow_cell(view: View, codes: IntArray, record: int) -> int:
    """Row-major, one record and one column at a time."""
    place = 0
    for column, cells in zip(view.columns, view.maps, strict=True):
        place = place * len(set(cells.tolist())) + int(cells[codes[column, record]])
    return place


@given(pairs, st.booleans(), st.integers(0, 2**32 - 1))
def test_cells_are_those_of_a_slow_reference(chosen: list[tuple[str, str]], counted: bool, seed: int) -> None:
    codes = some_codes(SCHEMA, 40, seed)
    for view in views(SCHEMA, some_grids(seed) if counted else None, chosen):
        cells = view.cells(codes)
        assert cells.tolist() == [slow_cell(view, codes, record) for record in range(40)]
        assert view.number == np.prod(view.shape)
        assert cells.max() < view.number
        table = np.random.default_rng(seed).normal(size=(view.number, 3))
        assert np.array_equal(view.looked_up(table, codes), table[cells])
        assert view.looked_up(table[:, 0].astype(np.int32), codes).dtype == np.int32


@given(pairs, st.integers(0, 2**32 - 1))
def test_every_column_has_a_view_then_every_pair(chosen: list[tuple[str, str]], seed: int) -> None:
    found = views(SCHEMA, some_grids(seed), chosen)
    assert [view.columns for view in found[: len(NAMES)]] == [(number,) for number in range(len(NAMES))]
    assert [tuple(NAMES[column] for column in view.columns) for view in found[len(NAMES) :]] == chosen
    assert [view.ordered for view in found[: len(NAMES)]] == [False, True, False, True, False, True]
    assert not any(view.ordered for view in found[len(NAMES) :])
    for view in found:
        assert all(set(cells.tolist()) == set(range(size)) for cells, size in zip(view.maps, view.shape, strict=True))
        assert isinstance(view.effect(1.0), OrderedEffect if view.ordered else NominalEffect)
        assert view.effect(1.0).mean.shape == (view.number,)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e4), st.booleans())
def test_a_measured_column_gets_a_grid_and_a_mass_in_every_cell(seed: int, sigma: float, finer: bool) -> None:
    assert [NAMES[column] for column in measured(SCHEMA)] == ["age", "wide"]
    for view in views(SCHEMA, some_grids(seed, sigma, whole=1e-6 if finer else HUGE), ()):
        if view.columns[0] not in measured(SCHEMA):
            assert view.mass is None
            assert not view.finer
            continue
        assert view.mass is not None
        assert view.width is not None
        assert view.finer == finer
        assert view.number <= (MOST_OF_A_COLUMN if finer else GRID)
        for shares in (view.mass, view.width):
            assert shares.shape == (view.number,)
            assert np.all(shares > 0.0)
            assert np.isclose(shares.sum(), 1.0)


def test_columns_of_a_pair_are_coarse_and_keep_their_order() -> None:
    found = views(SCHEMA, some_grids(0), [("age", "colour"), ("wide", "half")])[-2:]
    assert [view.shape for view in found] == [(PAIR_CELLS, 3), (PAIR_CELLS, 2)]
    assert set(np.diff(found[0].maps[0])) == {0, 1}


@pytest.mark.parametrize(
    "pair", [("age", "unknown"), ("unknown", "age"), ("age", "age"), ("age",), ("age", "wide", "half"), ()]
)
def test_a_pair_that_is_none_is_refused_by_name(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"interactions: expected pairs of two different columns"):
        views(SCHEMA, None, [pair])
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


def test_histograms_are_of_the_measured_columns() -> None:
    codes, columns = some_codes(SCHEMA, 50, 0), measured(SCHEMA)
    parts = [np.arange(SCHEMA.columns[column].cells) // 16 for column in columns]
    seen = parted(codes, columns, parts)
    assert seen.number == FINEST // 16
    check_histograms(seen)
    counts = histograms(seen)
    assert counts.sum(axis=1).tolist() == [50.0, 50.0]
    for row, column, part in zip(counts, columns, parts, strict=True):
        assert row.tolist() == [np.count_nonzero(part[codes[column]] == cell) for cell in range(seen.number)]


def test_where_records_are_few_for_the_noise_one_histogram_is_released_twice() -> None:
    """The mean of both, of 256 cells, is what the grid of 128 cells follows."""
    rng, asked = np.random.default_rng(0), list[list[IntArray]]()
    released = [rng.normal(4.0, 9.0, size=(2, 256)) for _ in range(STAGES)]

    def count(parts: list[IntArray]) -> FloatArray:
        asked.append(parts)
        return released[len(asked) - 1]

    found = followed_grids(SCHEMA, count, 9.0, 3.0, HUGE)
    assert all(np.array_equal(one, other) for one, other in zip(*asked, strict=True))
    for place, each in enumerate(found):
        fine = asked[0][place]
        assert fine[-1] == 255
        mean = np.mean([release[place] for release in released], axis=0)
        shares = cell_shares(mean, 9.0 / np.sqrt(STAGES), False)
        first = np.flatnonzero(np.diff(fine, prepend=-1))
        assert np.array_equal(each.cells, each.cells[first][fine]), "a cell of the histogram stays together"
        assert np.allclose(np.bincount(each.cells[first], shares), each.mass, rtol=0.02, atol=1e-4)
        assert np.allclose(each.width, 1.0 / each.mass.size)


@pytest.mark.parametrize("noise", [1e-3, 1.0, 50.0])
def test_how_many_records_finer_grids_take(noise: float) -> None:
    assert (FEWEST_RECORDS, MANY) == (8192.0, 1500.0)
    least = max(FEWEST_RECORDS, MANY * noise)
    assert worth_finer(least, noise)
    assert not worth_finer(0.999 * least, noise)


def test_what_noise_adds_is_no_record() -> None:
    """A count of all records in every column: believed is what is there but for a deviation of noise."""
    counts = np.full((4, 100), 3.0)
    assert believed(counts, 0.0) == 300.0
    assert np.isclose(believed(counts, 2.0), 300.0 - 2.0 * np.sqrt(100 / 4))


@pytest.mark.parametrize(("carried", "bins"), [(100.0, 40), (480.0, 80), (1e9, MOST_OF_ALL)])
def test_bins_of_finer_grids_grow_with_the_root_of_what_they_carry(carried: float, bins: int) -> None:
    width = np.full(1000, 1e-3)
    view = View((0,), (np.arange(1000),), True, width, width, finer=True)
    found = round_bins(view, carried, np.random.default_rng(0))[-1] + 1
    assert 0.95 * bins <= found <= bins, "boundaries at random may leave one empty"


@pytest.mark.parametrize("most", [4, 16, 100, 3000])
def test_no_cell_of_whole_numbers_is_without_one(most: int) -> None:
    column = refined(Integer("x", 0, most), FINEST)
    assert all(np.ceil(low) < high or high == most for low, high in itertools.pairwise(column.edges))
    assert column.bin_number == most + 1 if most <= 100 else column.bin_number > 1000


def exact(values: FloatArray, lower: float, upper: float) -> View:
    """The view of a column whose histograms have no noise to speak of."""
    schema = Schema((refined(Numeric("x", lower, upper), FINEST),))
    codes = schema.columns[0].codes(values)[np.newaxis]
    grids = followed_grids(schema, lambda parts: histograms(parted(codes, (0,), parts)), 1e-3, 1e-3, 1e-3)
    return views(schema, grids, ())[0]


@pytest.mark.parametrize("factor", [1.0, 10.0, 100.0])
def test_wide_bounds_leave_a_column_its_cells(factor: float) -> None:
    """Records that lie in one hundredth of the bounds are told apart all the same."""
    values = np.random.default_rng(0).normal(30.0, 5.0, 20_000)
    view = exact(values, 30.0 - 30.0 * factor, 30.0 + 30.0 * factor)
    cells = view.maps[0][refined(Numeric("x", 30.0 - 30.0 * factor, 30.0 + 30.0 * factor), FINEST).codes(values)]
    assert np.unique(cells).size >= 0.3 * view.number if factor < 100.0 else np.unique(cells).size >= 20
    assert np.bincount(cells).max() <= 0.1 * values.size


def test_a_value_that_many_records_share_has_a_cell_and_in_every_round_a_bin_of_its_own() -> None:
    rng = np.random.default_rng(0)
    view = exact(np.where(rng.random(20_000) < 0.8, 0.0, rng.uniform(0.0, 100.0, 20_000)), 0.0, 100.0)
    assert view.mass is not None
    assert view.mass[0] > 0.6
    for carried in (4.0, 16.0, 100.0, 1e6):
        part = round_bins(view, carried, rng)
        assert np.count_nonzero(part == part[0]) == 1
        assert set(np.diff(part)) <= {0, 1}


@given(st.integers(0, 2**32 - 1), st.floats(-1e6, 1e9), st.booleans())
def test_there_are_few_bins_where_noise_dominates_and_never_too_many(seed: int, carried: float, finer: bool) -> None:
    rng = np.random.default_rng(seed)
    for view in views(SCHEMA, some_grids(seed, whole=1e-6 if finer else HUGE), ()):
        part = round_bins(view, carried, rng)
        assert part.shape == (view.number,)
        assert part[0] == 0
        assert set(np.diff(part)) <= {0, 1}
        if view.mass is not None and view.finer:
            alone = np.count_nonzero(view.mass >= ALONE / max(1.0, carried))
            assert part[-1] + 1 <= max(FEWEST_BINS, min(MOST_OF_ALL, carried)) + 2 * alone
        elif view.mass is not None:
            assert part[-1] + 1 <= max(FEWEST_BINS, min(MOST_BINS, carried))


@pytest.mark.parametrize("bins", [129, 256, 257, 4096])
@pytest.mark.parametrize("whole", [1e-6, HUGE])
def test_columns_with_cuts_of_their_own_are_followed_too(bins: int, whole: float) -> None:
    schema = Schema((Numeric("x", 0.0, 1.0, bins=bins), Boolean("y")))
    view = views(schema, some_grids(0, schema=schema, whole=whole), ())[0]
    assert view.maps[0].shape == (bins,)
    assert view.number <= MOST_OF_A_COLUMN if view.finer else view.number <= GRID
