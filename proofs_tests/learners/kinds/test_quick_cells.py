"""The cells of numbers are those that a binary search finds, whatever the cuts and bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from learners.encoding.partitions import public_cuts
from learners.kinds import quick_cells
from learners.kinds.quick_cells import FEWEST, cells_among

BOUNDS = st.sampled_from(
    [(0.0, 1.0), (-3.0, 17.5), (1e15, 1e15 + 1.0), (0.0, 5e-324), (-1e308, 1e308), (-1e-300, 1e-300), (1e-310, 2e-310)]
)


def check(cuts: FloatArray, lower: float, upper: float, seed: int) -> None:
    """On numbers of all sizes, the cuts, their neighbours and the bounds."""
    rng = np.random.default_rng(seed)
    shares = np.concatenate([rng.random(FEWEST), rng.random(FEWEST) ** rng.integers(2, 40)])
    spread = 2.0 * (lower / 2.0 + shares * (upper / 2.0 - lower / 2.0))
    beside = [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), [lower, upper, 0.0, -0.0]]
    numbers = np.clip(np.concatenate([spread, *beside]), lower, upper)
    rng.shuffle(numbers)
    assert np.array_equal(cells_among(cuts, numbers, lower, upper), np.searchsorted(cuts, numbers, side="right"))


@given(BOUNDS, st.integers(0, 300), st.floats(0.1, 40.0), st.integers(0, 2**32 - 1))
def test_cells_are_those_of_a_binary_search(bounds: tuple[float, float], many: int, power: float, seed: int) -> None:
    lower, upper = bounds
    places = np.random.default_rng(seed).random(many) ** power
    cuts = np.unique(2.0 * (lower / 2 + places * (upper / 2 - lower / 2)))
    check(cuts[(cuts > lower) & (cuts < upper)], lower, upper, seed)


@pytest.mark.parametrize("bounds", [(0.0, 100.0), (-1.0, 1e6), (1e15, 1e15 + 1.0), (-1e308, 1e308)])
def test_public_cuts_are_found_without_searching(bounds: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    check(np.array(public_cuts(*bounds)), *bounds, seed=0)
    if bounds[1] - bounds[0] == np.inf:
        return
    numbers = np.random.default_rng(0).uniform(*bounds, FEWEST)
    expected = np.searchsorted(public_cuts(*bounds), numbers, side="right")
    cuts, steps = np.array(public_cuts(*bounds)), list[float]()
    search = np.searchsorted

    def noted(where: FloatArray, what: FloatArray, side: str = "left") -> object:
        steps.append(float(what.size))
        return search(where, what, side=side)  # type: ignore[call-overload]  # either side

    monkeypatch.setattr(np, "searchsorted", noted)
    assert np.array_equal(cells_among(cuts, numbers, *bounds), expected)
    assert steps == [quick_cells.BUCKETS + 2]  # of the table's alone
