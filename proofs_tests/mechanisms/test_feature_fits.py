"""One pass of gradient descent, and ridge: how far their coefficients move when a record is replaced."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from mechanisms.feature_fits import one_pass_sgd, ridge_coefficients, ridge_l2
from proofs_tests.support.unit_rows import Rows, random_rows

SEEDS = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(SEEDS, st.floats(0.01, 2.0), st.integers(1, 7), st.integers(0, 19))
def test_one_pass_moves_within_its_sensitivity(seed: int, rate: float, batch: int, place: int) -> None:
    """[004-one-pass] Wherever the record is in the pass, up to rate 2."""
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, 20, 3), rng.uniform(-1.0, 1.0, 20))
    row = data.rows[place] if seed % 2 else random_rows(rng, 1, 3)[0]
    other = data.replaced(place, row, float(rng.choice([-1.0, 1.0])))
    query = one_pass_sgd(20, 3, rate, batch, 0.7)
    assert np.linalg.norm(query.evaluate(data) - query.evaluate(other)) <= query.sensitivity.value


def test_one_pass_reaches_its_sensitivity() -> None:
    """[004-one-pass] The last record, opposite labels: 2·rate·clip/batch, so 10 % less would be false."""
    rows = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    data = Rows(rows, np.array([0.0, 0.0, 0.0, 1.0]))
    query = one_pass_sgd(4, 2, 0.5, 2, 0.25)
    moved = query.evaluate(data) - query.evaluate(data.replaced(3, rows[3], -1.0))
    assert np.linalg.norm(moved) == pytest.approx(2.0 * 0.5 * 0.25 / 2)
    assert np.linalg.norm(moved) >= 0.999 * query.sensitivity.value


@given(SEEDS, st.integers(1, 9), st.integers(1, 23))
def test_steps_do_not_depend_on_the_blocks(seed: int, batch: int, records: int) -> None:
    """[004-one-pass] Two blocks, against the steps written out; the last may have fewer records."""
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, records, 3), rng.uniform(-1.0, 1.0, records))
    found, size = np.zeros(3), min(batch, records)
    for at in range(0, records, size):
        rows, targets = data.rows[at : at + size], data.targets[at : at + size]
        found += 0.5 / size * (np.clip(targets - rows @ found, -0.3, 0.3) @ rows)
    assert one_pass_sgd(records, 3, 0.5, batch, 0.3).evaluate(data) == pytest.approx(found)


def test_a_rate_above_two_drives_runs_apart() -> None:
    """[004-one-pass] And is refused: at 3 two runs are 2⁹ times further apart after nine steps in one direction."""
    with pytest.raises(ValueError, match="at most 2"):
        one_pass_sgd(10, 1, 3.0, 1, 1e9)
    one, two = 0.0, 1.0
    for _ in range(9):
        one, two = one - 3.0 * one, two - 3.0 * two
    assert abs(one - two) == 512.0


def worst_ridge(records: int, penalty: float, seed: int, tries: int = 60) -> float:
    """The largest move found, over the declared one: searched over symmetric data in the plane and replaced pairs."""
    whole = penalty * records

    def move(values: "np.typing.NDArray[np.float64]") -> float:
        share, first, second, one, two = values
        length = min(1.0, math.sqrt(abs(share) * whole / (records - 1)))
        others = np.array([[length, 0.0]] * (records - 1))
        found = []
        for angle, label in ((first, math.tanh(3 * one)), (second, math.tanh(3 * two))):
            rows = np.vstack([others, [math.cos(angle), math.sin(angle)]])
            targets = np.append(np.ones(records - 1), label)
            found.append(np.linalg.solve(rows.T @ rows + whole * np.eye(2), rows.T @ targets))
        return -float(np.linalg.norm(found[0] - found[1]))

    rng = np.random.default_rng(seed)
    starts = [rng.uniform([0.1, -3, -3, -1, -1], [2, 3, 3, 1, 1]) for _ in range(tries)]
    best = min(optimize.minimize(move, start, method="Nelder-Mead").fun for start in starts)
    return -best / ridge_l2(records, penalty, 1.0)


@pytest.mark.parametrize(("penalty", "least"), [(1e-3, 0.4), (1e-2, 0.6), (0.1, 0.6), (1.0, 0.6)])
def test_ridge_moves_within_its_sensitivity_and_not_by_much_less(penalty: float, least: float) -> None:
    """[004-ridge] The search comes to .6 of the bound, and to .4 where Λ is as small as 1."""
    assert least <= worst_ridge(1000, penalty, 0, tries=12) <= 1.0


def test_the_constant_of_ridge_is_the_largest_that_its_proof_can_need() -> None:
    """[004-ridge] 2(a + K·a√(a − a²))/Λ is below it for every a in [0, 1], and reaches it for a large K."""
    shares = np.linspace(0.0, 1.0, 10_001)
    for records, penalty in ((10, 1.0), (1000, 1e-3), (10**6, 1e-6)):
        whole = records * penalty
        pull = math.sqrt((records - 1) / whole)
        needed = 2.0 * np.max(shares + pull * shares * np.sqrt(shares - shares**2)) / whole
        assert needed <= ridge_l2(records, penalty, 1.0)
    assert needed >= 0.99 * ridge_l2(records, penalty, 1.0)


def test_the_printed_sensitivity_of_ridge_is_false_for_squares() -> None:
    """[004-ridge] 2/(mλ) is exceeded, at m = 1000 and λ = 1e-3 sixteen times, by two records that lie across."""
    records, penalty = 1000, 1e-3
    others = np.full((records - 1, 2), 0.0)
    others[:, 0] = math.sqrt(penalty * records / (records - 1))
    found = []
    for side in (1.0, -1.0):
        rows = np.vstack([others, np.array([-1.0, side]) / math.sqrt(2.0)])
        targets = np.ones(records)
        data = Rows(rows, targets)
        found.append(ridge_coefficients(records, 2, penalty, 1.0).evaluate(data))
    moved = float(np.linalg.norm(found[0] - found[1]))
    assert 4.0 < moved / (2.0 / (records * penalty)) < 40.0
    assert moved <= ridge_coefficients(records, 2, penalty, 1.0).sensitivity.value


@settings(deadline=None)
@given(SEEDS, st.floats(1e-6, 1.0))
def test_ridge_is_ridge(seed: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, 30, 4), rng.uniform(-1.0, 1.0, 30))
    found = ridge_coefficients(30, 4, penalty, 1.0).evaluate(data)
    residual = data.targets - data.rows @ found
    assert np.allclose(data.rows.T @ residual, penalty * 30 * found, atol=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 1e-7, 1.5, math.nan, math.inf])
def test_penalties_that_rounding_would_show_with_are_refused(penalty: float) -> None:
    with pytest.raises(ValueError, match="penalty"):
        ridge_coefficients(10, 2, penalty, 1.0)
