"""Public cuts, denoised histograms, grids and bins: laws that hold for every bound and every count."""

import itertools

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from learners.encoding.partitions import (
    FINE,
    NEAREST,
    SPARED,
    denoised,
    grid,
    middles,
    public_cuts,
    random_bins,
    refined,
)
from learners.tables.schema import Numeric, SchemaError

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e6, 1e6)


# --- public cuts -------------------------------------------------------------------------------------------------


@given(finite, finite)
def test_cuts_rise_inside_their_bounds_for_any_bounds_at_all(one: float, other: float) -> None:
    """No overflow, no NaN, no warning: from subnormal widths to the whole of floating point."""
    lower, upper = sorted((one, other))
    assume(lower < upper)
    cuts = np.array([lower, *public_cuts(lower, upper), upper])
    assert np.all(np.diff(cuts) > 0.0)
    assert cuts.size <= FINE + 1


@pytest.mark.parametrize(
    ("lower", "upper", "least"),
    [
        (0.0, 1e-300, 255),
        (0.0, 1e-323, 1),
        (-1e300, 1e300, 255),
        (-8e307, 8e307, 255),
        (1e15, 1e15 + 1.0, 7),
        (1.0, 1.0 + 2.0**-50, 3),
        (-1e-300, 1e300, 254),
        (-1e300, 1e-300, 254),
    ],
)
def test_extreme_bounds_are_cut_as_finely_as_floating_point_can_tell(lower: float, upper: float, least: int) -> None:
    cuts = public_cuts(lower, upper)
    assert least <= len(cuts) <= FINE - 1
    assert len(public_cuts(-1.7e308, 1.7e308)) == FINE - 1, "wider than floating point, which `Numeric` refuses"
    column = refined(Numeric("x", lower, upper, bins=2))
    assert column.cuts == cuts
    assert column.codes(np.array([lower, upper])).tolist() == [0, len(cuts)]


def test_a_column_without_room_for_two_cells_is_refused_at_birth() -> None:
    with pytest.raises(SchemaError, match="rise strictly"):
        Numeric("x", 1.0, np.nextafter(1.0, 2.0), bins=2)


@given(moderate, st.floats(1e-3, 1e6), moderate, st.floats(1e-3, 1e3))
def test_cuts_move_and_stretch_with_the_bounds(lower: float, width: float, shift: float, scale: float) -> None:
    """Where 0 is not inside: it is the only number that a column has a memory of."""
    upper = lower + width
    assume(not lower < 0.0 < upper)
    assume(min(width / (1.0 + abs(lower)), scale * width / (1.0 + abs(scale * lower) + abs(shift))) > 1e-9)
    assume(not scale * lower + shift < 0.0 < scale * upper + shift)
    cuts, moved = public_cuts(lower, upper), public_cuts(scale * lower + shift, scale * upper + shift)
    assert len(cuts) == len(moved) == FINE - 1
    rounding = 1e-14 * (abs(lower) + abs(shift / scale) + width)
    assert np.allclose((np.array(moved) - shift) / scale, cuts, rtol=0.0, atol=16.0 * rounding)


@given(moderate, st.floats(1e-3, 1e6), st.integers(-40, 40))
def test_the_unit_of_measurement_does_not_matter_even_around_zero(lower: float, width: float, power: int) -> None:
    assume(lower == 0.0 or abs(lower) > 1e-200)
    unit = 2.0**power
    assert public_cuts(unit * lower, unit * (lower + width)) == tuple(
        unit * cut for cut in public_cuts(lower, lower + width)
    )


@given(st.floats(1e-3, 1e6))
def test_symmetric_bounds_are_cut_symmetrically(bound: float) -> None:
    cuts = np.array(public_cuts(-bound, bound))
    assert np.allclose(cuts, -cuts[::-1], rtol=0.0, atol=1e-12 * bound)


@given(moderate, st.floats(1e-3, 1e6))
def test_cells_are_fine_at_the_anchors_and_never_wide(lower: float, width: float) -> None:
    upper = lower + width
    anchors = [lower, upper, *([0.0] if lower < 0.0 < upper else [])]
    edges = np.array([lower, *public_cuts(lower, upper), upper])
    for anchor in anchors:
        near = np.abs(edges[1:-1] - anchor) <= 0.01 * width
        assert np.count_nonzero(near) >= 12, f"{np.count_nonzero(near)} cuts within 1 % of {anchor}"
        assert np.min(np.abs(edges[1:-1] - anchor)) <= NEAREST * width
    # Half of the law is spread evenly.
    assert np.max(np.diff(edges)) <= 2.0 * width / FINE * (1.0 + 1e-9)


@given(st.integers(2, 500), st.booleans())
def test_refining_forgets_the_bins_and_nothing_else(number: int, clip: bool) -> None:
    column = Numeric("x", -3.0, 8.0, bins=number, outside="clip" if clip else "error")
    assert refined(column) == attrs.evolve(column, cuts=public_cuts(-3.0, 8.0))


def test_a_column_that_names_its_cuts_keeps_them() -> None:
    column = Numeric("x", 0.0, 10.0, cuts=(2.0, 3.0))
    assert refined(column) is column


# --- denoised ----------------------------------------------------------------------------------------------------

lengths = st.integers(1, 300)


def even(cells: int) -> FloatArray:
    return np.full(cells, 1.0 / cells)


def some_shares(cells: int, seed: int) -> FloatArray:
    found = np.random.default_rng(seed).exponential(size=cells) + 1e-6
    return np.asarray(found / found.sum())


@given(
    lengths.flatmap(lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)),
    st.floats(0.0, 1e6),
    st.floats(1.0, 1e9),
    st.integers(0, 2**32 - 1),
)
def test_shares_are_positive_and_sum_to_one(counts: list[float], sigma: float, total: float, seed: int) -> None:
    shares = denoised(np.array(counts), sigma, some_shares(len(counts), seed), total)
    assert shares.shape == (len(counts),)
    assert np.all(shares > 0.0)
    assert abs(shares.sum() - 1.0) < 1e-9


@pytest.mark.parametrize("sigma", [0.0, 1e-200, 1e-9, 1e9, 1e100])
@pytest.mark.parametrize("unit", [0.0, 1.0, 1e9])
def test_no_noise_level_overflows(sigma: float, unit: float) -> None:
    noise = np.random.default_rng(0).normal(size=256)
    shares = denoised(unit * np.arange(256.0) + sigma * noise, sigma, even(256), 1.0 + unit * 32640.0)
    assert np.all(shares > 0.0)
    assert np.all(np.isfinite(shares))


@given(lengths, st.integers(0, 2**32 - 1))
def test_without_noise_the_shares_are_the_true_ones_where_no_half_is_nearly_empty(cells: int, seed: int) -> None:
    counts = 100.0 * some_shares(cells, seed)
    counts += 0.2 * counts.max()  # so every half has more than SPARED of what is expected
    found = denoised(counts, 0.0, even(cells), counts.sum())
    assert np.allclose(found, counts / counts.sum(), rtol=1e-9)
    assert np.allclose(denoised(counts, 1e-9, even(cells), counts.sum()), found, rtol=1e-6)


@given(st.integers(0, 255))
def test_one_full_cell_keeps_all_but_what_is_spared_at_every_halving(place: int) -> None:
    counts = np.zeros(256)
    counts[place] = 1e5
    assert abs(denoised(counts, 0.0, even(256), 1e5)[place] - (1.0 - 0.5 * SPARED) ** 8) < 1e-9


@given(lengths, st.integers(0, 2**32 - 1))
def test_with_endless_noise_shares_are_those_expected(cells: int, seed: int) -> None:
    rng, expected = np.random.default_rng(seed), some_shares(cells, seed)
    assert np.allclose(denoised(1e15 * rng.normal(size=cells), 1e15, expected, 1.0), expected, rtol=1e-3)


@given(st.integers(0, 2**32 - 1), st.floats(1.0, 300.0))
def test_noise_is_taken_off_not_kept(seed: int, sigma: float) -> None:
    """Nearer to the truth than the noisy counts made positive and summing to one."""
    rng = np.random.default_rng(seed)
    truth = rng.multinomial(20000, np.full(256, 1.0 / 256.0)).astype(np.float64)
    noisy = truth + rng.normal(scale=sigma, size=256)
    naive = np.maximum(noisy, 0.0)
    error = np.abs(denoised(noisy, sigma, even(256), 20000.0) - truth / truth.sum()).sum()
    assert error < 1.05 * np.abs(naive / naive.sum() - truth / truth.sum()).sum()


# --- grid --------------------------------------------------------------------------------------------------------


@given(lengths, st.integers(1, 300), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_a_grid_maps_cells_onto_its_own_in_order(cells: int, size: int, public: float, seed: int) -> None:
    found = grid(some_shares(cells, seed), size, public)
    assert found[0] == 0
    assert set(np.diff(found)) <= {0, 1}
    assert found[-1] < size


@given(st.integers(0, 255), st.integers(2, 128), st.floats(0.1, 1.0))
def test_however_crowded_the_data_a_part_of_the_grid_is_public(place: int, size: int, public: float) -> None:
    shares = np.full(256, 1e-12)
    shares[place] = 1.0
    cells = grid(shares / shares.sum(), size, public)
    # A public cell of the grid has as many fine ones as 1/public times their even share.
    assert np.max(np.bincount(cells)) <= 256 / (public * size) + 2


@given(st.integers(1, 254), st.integers(8, 128))
def test_a_crowded_cell_is_a_cell_of_the_grid(place: int, size: int) -> None:
    """Whatever lies beside it: a value that many records share is not lumped together with others."""
    shares = np.full(256, 1e-12)
    shares[place] = 1.0
    assert (
        np.count_nonzero(grid(shares / shares.sum(), size, 0.3) == grid(shares / shares.sum(), size, 0.3)[place]) == 1
    )


def test_even_shares_give_an_even_grid() -> None:
    assert np.bincount(grid(even(256), 128, 0.5)).tolist() == [2] * 128


# --- bins --------------------------------------------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(1, 64), st.integers(0, 2**32 - 1))
def test_bins_rise_use_every_number_and_are_about_as_many_as_asked(cells: int, number: int, seed: int) -> None:
    part = random_bins(middles(even(cells)), number, np.random.default_rng(seed))
    assert part.shape == (cells,)
    assert part[0] == 0
    assert set(np.diff(part)) <= {0, 1}
    found = int(part[-1]) + 1
    assert found <= number
    if 2 * number <= cells:
        assert found >= (number + 1) // 2


@pytest.mark.parametrize(("cells", "number"), [(128, 16), (128, 40), (100, 4)])
def test_every_boundary_is_equally_likely_but_at_the_ends(cells: int, number: int) -> None:
    """So no place of a column is always lumped together with its neighbour."""
    rng = np.random.default_rng(0)
    parts = np.array([random_bins(middles(even(cells)), number, rng) for _ in range(4000)])
    share = np.mean(np.diff(parts, axis=1), axis=0)
    width = cells / number
    inner = share[int(width) + 1 : -int(width) - 1]
    assert np.allclose(inner, number / cells, atol=5.0 * np.sqrt(number / cells / 4000) + 1e-9)


def test_coins_alone_decide() -> None:
    draws = [random_bins(middles(even(128)), 16, np.random.default_rng(seed)).tobytes() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert len({draw for draw, _ in itertools.groupby(draws)}) == 2
