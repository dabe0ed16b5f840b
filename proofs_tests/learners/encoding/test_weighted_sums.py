"""Sums of weights in whole numbers: what they are, and that no order, block or limb shows. [whole-weights]"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne
from boosting import LazyBregman
from boosting.measures import BoundedMeasure
from learners.encoding import weighted_sums
from learners.encoding.weighted_sums import BITS, CellIndex, cell_sums, weight_units
from proofs_tests.support.mechanisms.weighed import weighed


def measured(rng: np.random.Generator, n: int, spread: float) -> BoundedMeasure:
    """Weights that span e^spread."""
    values = np.exp(-spread * rng.random(7))
    levels = rng.integers(0, 7, n).astype(np.int16)
    return BoundedMeasure(values, levels, float(values[levels].sum()))


def index_of(places: npt.NDArray[np.integer[Any]], cells: int) -> CellIndex:
    """places: the cell of each record in each group, shape (groups, n), from 0 in each."""
    apart = cells * np.arange(len(places))[:, None]
    return CellIndex(np.ascontiguousarray((places + apart).T, dtype=np.int32), cells * len(places))


def slow(measure: BoundedMeasure, index: CellIndex, rows: list[int]) -> list[int]:
    """Python's integers, record by record."""
    units = [int(unit) for unit in weight_units(measure)]
    found = [0] * index.cells
    for row in rows:
        for cell in index.places[row].tolist():
            found[cell] += units[int(measure.levels[row])]
    return found


@given(st.integers(1, 300), st.floats(0.0, 300.0), st.integers(0, 2**32))
def test_sums_are_those_of_pythons_integers(n: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    measure, index = measured(rng, n, spread), index_of(rng.integers(0, 5, (3, n)), 5)
    assert cell_sums(measure, index).tolist() == slow(measure, index, list(range(n)))
    rows = np.flatnonzero(rng.random(n) < 0.5)
    assert cell_sums(measure, index, rows).tolist() == slow(measure, index, rows.tolist())


@pytest.mark.parametrize(("most", "least"), [(64, 1), (2**16, 2**16 + 1)])
def test_blocks_and_limbs_do_not_show(monkeypatch: pytest.MonkeyPatch, most: int, least: int) -> None:
    """Tiny blocks, and weights in two parts, give the sums of one block: so other machines may hold the blocks."""
    rng = np.random.default_rng(3)
    n = 70_000
    places = rng.integers(0, 9, (2, n))
    measure, index = measured(rng, n, 30.0), index_of(places, 9)
    plain = cell_sums(measure, index)
    monkeypatch.setattr(weighted_sums, "MOST_BLOCK", most)
    monkeypatch.setattr(weighted_sums, "LEAST_BLOCK", least)
    assert np.array_equal(cell_sums(measure, index), plain)
    order = rng.permutation(n)
    moved = BoundedMeasure(measure.values, measure.levels[order], measure.mass)
    assert np.array_equal(cell_sums(moved, index_of(places[:, order], 9)), plain)


@given(st.integers(2, 400), st.floats(2.0**-30, 1.0), st.floats(0.01, 3.0), st.integers(0, 2**32))
def test_rounding_moves_all_weights_together_by_less_than_half_a_unit_each(
    n: int, density: float, rate: float, seed: int
) -> None:
    """2^-37 of the mass: what SCORE_ROUNDING allows for."""
    margins = (2 * np.random.default_rng(seed).integers(0, 9, n) - 8).astype(np.int16)
    measure = weighed(LazyBregman(density, rate), margins, 8)
    units = weight_units(measure)
    mass = Fraction(measure.mass)
    off = sum(
        abs(Fraction(int(units[level])) / (n * 2**BITS) - Fraction(float(measure.values[level])) / mass)
        for level in measure.levels.tolist()
    )
    assert off <= Fraction(1, 2**37) * (1 + Fraction(1, 2**10))


def test_more_records_than_64_bits_hold_are_refused_before_anything_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from learners import LazyBoostClassifier
    from learners.votes import lazy_boost

    monkeypatch.setattr(lazy_boost, "MOST_WEIGHED_RECORDS", 99)
    X = np.random.default_rng(0).integers(0, 2, (100, 3))
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match="100 records: weights are added up exactly for at most 99"):
        LazyBoostClassifier(0.5, ledger=ledger).fit(X, X[:, 0])
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("density", [2.0**-20, 2.0**-30])
def test_a_leaf_that_nobody_is_in_weighs_nothing_at_any_density(density: float) -> None:
    """Levels that nobody has weigh 1, 2^56 units and more at such a density: no block is that small."""
    n = 2**16 + 1
    measure = weighed(LazyBregman(density, 1.0), np.zeros(n, dtype=np.int16), 20)
    index = index_of(np.zeros((1, n), dtype=np.intp), 2)
    assert cell_sums(measure, index, np.zeros(0, dtype=np.intp)).tolist() == [0, 0]
    assert cell_sums(measure, index).tolist() == slow(measure, index, list(range(n)))


@pytest.mark.parametrize(
    ("heavy", "why"),
    [(8199, "more than a block's worth of units of 2^40"), (38, "units of 2^48, which go in two parts")],
)
def test_blocks_stay_where_doubles_add_exactly(heavy: int, why: str) -> None:
    """A few records hold all of the weight and follow each other: one block or limb too large, and digits are lost."""
    n = 2**17
    levels = (np.arange(n) < heavy).astype(np.int16)
    measure = BoundedMeasure(np.array([0.0, 1.0]), levels, float(heavy))
    unit = int(weight_units(measure)[1])
    assert unit % 2
    index = index_of(np.zeros((1, n), dtype=np.intp), 1)
    assert cell_sums(measure, index).tolist() == [heavy * unit]
    odd = np.flatnonzero(levels)[: heavy - 1]
    assert cell_sums(measure, index, odd).tolist() == [(heavy - 1) * unit]


def test_all_units_together_fit_into_64_bits_up_to_most_records() -> None:
    """n·2^36 and half a unit a record more: below 2^63 for the last n that is added up in 64 bits."""
    n = weighted_sums.MOST_WEIGHED_RECORDS
    assert n * 2**BITS + n < 2**63 <= (n + 1) * 2**BITS
    assert 2**16 * 2**BITS <= weighted_sums.EXACT == 2.0**53
    assert weighted_sums.MOST_BLOCK * weighted_sums.LIMB <= 2.0**53
    # The upper part of the largest weight that there can be, n·2^36 units, in a whole block.
    assert weighted_sums.MOST_BLOCK * (n * 2.0**BITS / weighted_sums.LIMB) <= 2.0**53
