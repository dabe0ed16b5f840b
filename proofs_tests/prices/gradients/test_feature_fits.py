"""One pass of descent, and ridge: their moves by formulas of their own, by adversaries, and the shares for rounding."""

import math
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.gradients import feature_fits
from mechanisms.gradients.feature_fits import one_pass_sgd, ridge_coefficients, ridge_l2
from proofs_tests.support.learners.unit_rows import Rows, random_rows
from proofs_tests.support.mechanisms.just_above import just_above

UNIT = mp.mpf(2) ** -52


def test_limits_are_what_the_claims_say() -> None:
    assert (feature_fits.MACHINE_EPSILON, feature_fits.LEAST_PENALTY, feature_fits.LARGEST_RATE) == (
        2.0**-52,
        1e-6,
        2.0,
    )


def _descended(data: Rows, rate: float, batch: int, clip: float) -> FloatArray:
    found = np.zeros(data.width)
    for start in range(0, data.records, batch):
        change = np.zeros(data.width)
        for row, target in zip(data.rows[start : start + batch], data.targets[start : start + batch], strict=True):
            residual = max(-1.0, min(1.0, float(target))) - float(row @ found)
            change += max(-clip, min(clip, residual)) * row
        found = found + rate / batch * change
    return found


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 50])
@pytest.mark.parametrize(("rate", "clip"), [(1.0, 0.5), (0.1, 2.0), (2.0, 0.05)])
def test_a_pass_takes_every_record_once(batch: int, rate: float, clip: float) -> None:
    rng = np.random.default_rng(0)
    data = Rows(random_rows(rng, 23, 3), rng.uniform(-1.5, 1.5, 23))
    found = one_pass_sgd(23, 3, rate, batch, clip).evaluate(data)
    assert found == pytest.approx(_descended(data, rate, min(batch, 23), clip), abs=1e-12)


def _rounding(records: int, width: int, rate: float, batch: int, clip: float) -> mp.mpf:
    """Two runs of ⌈m/b⌉ steps, each off by a dot product of D terms, a residual and a sum, of what is |c| + τ."""
    step, unit = mp.mpf(rate), mp.mpf(clip)
    steps = math.ceil(records / batch)
    longest = mp.mpf("1.1") * mp.sqrt(steps * (2 * step * unit + step**2 * unit**2))
    return 2 * steps * UNIT * (step * (width + batch + 4) * (longest + unit) + longest)


@pytest.mark.parametrize("rate", [0.01, 0.5, 2.0])
@pytest.mark.parametrize(("batch", "clip"), [(1, 0.5), (7, 2.0), (64, 0.1), (10**6, 3.0)])
@pytest.mark.parametrize("records", [1, 1000, 10**8, 2**32])
def test_a_pass_moves_by_one_step_and_rounding(rate: float, batch: int, clip: float, records: int) -> None:
    query = one_pass_sgd(records, 50, rate, batch, clip)
    size = min(batch, records)
    truth = 2 * mp.mpf(rate) * mp.mpf(clip) / size
    rounding = _rounding(records, 50, rate, size, clip)
    just_above(query.sensitivity.value, truth + rounding, within=1e-11)
    # Of the share itself, where it can be told from the rounding of the rest.
    if rounding > truth * 1e-6:
        assert float(query.sensitivity.value - truth) == pytest.approx(float(rounding), rel=1e-5)


def test_a_pass_of_the_same_records_is_never_longer_than_what_is_rounded() -> None:
    """All pull one way: |c|² stays below the sum that the share for rounding takes."""
    for rate, clip in ((2.0, 0.3), (0.5, 0.05), (1.0, 1.0)):
        rows = Rows(np.tile([[1.0, 0.0]], (400, 1)), np.ones(400))
        found = one_pass_sgd(400, 2, rate, 1, clip).evaluate(rows)
        assert float(found @ found) <= 400 * (2.0 * rate * clip + (rate * clip) ** 2)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_a_pass_is_moved_by_no_more_and_by_as_much(batch: int, rate: float) -> None:
    rng = np.random.default_rng(1)
    query, most = one_pass_sgd(6, 2, rate, batch, 0.5), 0.0
    ends = [(np.array(row), label) for row in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)) for label in (-9.0, 1.0)]
    for _ in range(20):
        data = Rows(random_rows(rng, 6, 2), rng.uniform(-1.0, 1.0, 6))
        for place in range(6):
            found = [query.evaluate(data.replaced(place, row, label)) for row, label in ends]
            most = max(most, *(float(np.linalg.norm(a - b)) for a in found for b in found))
    assert most <= query.sensitivity.value
    first = Rows(np.eye(2)[::-1].copy(), np.array([0.0, 1.0]))
    one = one_pass_sgd(2, 2, rate, 1, 0.5)
    moved = np.linalg.norm(
        one.evaluate(first.replaced(1, np.eye(2)[0], 1.0)) - one.evaluate(first.replaced(1, np.eye(2)[0], -1.0))
    )
    assert float(moved) > 0.999 * one.sensitivity.value


def test_passes_outside_what_is_proved_are_refused() -> None:
    for rate, batch, clip in ((2.001, 1, 1.0), (0.0, 1, 1.0), (1.0, 0, 1.0), (1.0, 1, 0.0), (math.nan, 1, 1.0)):
        with pytest.raises(ValueError, match=r"rate|expected a|whole number"):
            one_pass_sgd(5, 2, rate, batch, clip)
    with pytest.raises(ValueError, match="whole number"):
        one_pass_sgd(0, 2, 1.0, 1, 1.0)
    query = one_pass_sgd(5, 2, 2.0, 1, 1.0)
    assert query.claims == ("004-one-pass",)
    assert query.adjacency == ReplaceOne()
    query.check(Rows(np.zeros((5, 2)), np.zeros(5)))
    for records, width in ((4, 2), (5, 3)):
        with pytest.raises(ValueError, match="this was built for 5 records of 2 features"):
            query.check(Rows(np.zeros((records, width)), np.zeros(records)))


SETTINGS = [
    (2, 1.0),
    (2, 1e-6),
    (10, 0.3),
    (400, 400 ** (-1 / 3)),
    (10_000, 0.01),
    (10**8, 1e-6),
    (1, 0.5),
    (10**8, 1.0),
]


def _widest(records: int, penalty: float, bound: float) -> mp.mpf:
    """(2·bound/Λ)·max over θ of cos θ·(1 + (K/2)·sin θ): where the derivative is 0, by bisection with sixty digits."""
    whole = mp.mpf(penalty) * records
    half = mp.sqrt((records - 1) / whole) / 2
    low, high = mp.mpf(0), mp.pi / 4
    for _ in range(200):
        middle = (low + high) / 2
        if -mp.sin(middle) + half * mp.cos(2 * middle) > 0:
            low = middle
        else:
            high = middle
    return 2 * mp.mpf(bound) / whole * mp.cos(low) * (1 + half * mp.sin(low))


@pytest.mark.parametrize(("records", "penalty"), SETTINGS)
@pytest.mark.parametrize("bound", [1.0, 3.7])
def test_ridge_moves_by_the_most_over_all_angles(records: int, penalty: float, bound: float) -> None:
    just_above(ridge_l2(records, penalty, bound), _widest(records, penalty, bound))


@pytest.mark.parametrize(("records", "penalty"), SETTINGS)
@pytest.mark.parametrize("width", [1, 30, 1000])
def test_ridge_has_a_share_for_solving(records: int, penalty: float, width: int) -> None:
    """Two solutions, each off by 4D²·2^-53 of 2.2m times the sensitivity: at most 2^-48·m·D² of it."""
    query = ridge_coefficients(records, width, penalty, 1.0)
    share = 1 + mp.mpf(2) ** -48 * records * width**2
    just_above(query.sensitivity.value, _widest(records, penalty, 1.0) * share)
    assert 2 * 4 * width**2 * mp.mpf(2) ** -53 * mp.mpf("2.2") * records <= share - 1


@pytest.mark.parametrize("bound", [1.0, 0.4])
def test_ridge_is_the_least_of_its_sum(bound: float) -> None:
    rng = np.random.default_rng(2)
    data = Rows(random_rows(rng, 40, 3), rng.uniform(-1.5, 1.5, 40))
    found = ridge_coefficients(40, 3, 0.2, bound).evaluate(data)
    labels = np.clip(data.targets, -bound, bound)
    wanted, *_ = np.linalg.lstsq(
        np.vstack([data.rows, math.sqrt(8.0) * np.eye(3)]), np.concatenate([labels, np.zeros(3)]), rcond=None
    )
    assert found == pytest.approx(wanted, abs=1e-6)


def _neighbours(records: int, penalty: float, bound: float) -> Iterator[tuple[Rows, Rows]]:
    """All others along one axis, as long as hurts most; the one that is replaced turns across it."""
    length = min(1.0, math.sqrt(penalty * records / (records - 1)))
    for degrees in range(0, 90, 5):
        rows = np.zeros((records, 2))
        rows[:-1, 0] = length
        rows[-1] = -math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        far = Rows(rows, np.full(records, bound))
        for label in (bound, -bound):
            yield far, far.replaced(records - 1, rows[-1] * [1.0, -1.0], label)


@pytest.mark.parametrize(("records", "penalty"), [(400, 400 ** (-1 / 3)), (1000, 0.1), (1000, 0.01)])
@pytest.mark.parametrize("bound", [1.0, 0.5])
def test_ridge_is_moved_by_no_more_and_by_nearly_as_much(records: int, penalty: float, bound: float) -> None:
    query, most = ridge_coefficients(records, 2, penalty, bound), 0.0
    for one, other in _neighbours(records, penalty, bound):
        most = max(most, float(np.linalg.norm(query.evaluate(one) - query.evaluate(other))))
    assert 0.9 * query.sensitivity.value < most <= query.sensitivity.value


def test_ridge_outside_what_is_proved_is_refused() -> None:
    for penalty in (0.9e-6, 1.001, 0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="penalty: expected"):
            ridge_coefficients(5, 2, penalty, 1.0)
    for bound in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="expected a"):
            ridge_coefficients(5, 2, 0.1, bound)
        with pytest.raises(ValueError, match="expected a"):
            ridge_l2(5, 0.1, bound)
    for records, penalty in ((0, 0.1), (5, 0.0), (5, -1.0)):
        with pytest.raises(ValueError, match=r"expected a|whole number"):
            ridge_l2(records, penalty, 1.0)
    query = ridge_coefficients(5, 2, 1e-6, 1.0)
    assert ridge_coefficients(5, 2, 1.0, 1.0).adjacency == ReplaceOne()
    assert query.claims == ("004-ridge",)
    query.check(Rows(np.zeros((5, 2)), np.zeros(5)))
    for records, width in ((4, 2), (5, 3)):
        with pytest.raises(ValueError, match="this was built for 5 records of 2 features"):
            query.check(Rows(np.zeros((records, width)), np.zeros(records)))
