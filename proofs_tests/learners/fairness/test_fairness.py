"""Fairness metrics on records that no ledger guards: by hand, by law, and what is refused."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.fairness.group_measures import (
    column_of,
    demographic_table,
    excess_risk,
    excess_risk_gaps,
    gap_by_traces,
    statistical_parity,
)

LABELS = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
SIDES = np.array(["a", "a", "b", "b", "b"])

# --- excess risk -----------------------------------------------------------------------------------------------


def test_excess_risk_by_hand() -> None:
    optimum = LABELS + 0.1
    private = LABELS + np.array([1.0, 1.0, 2.0, 2.0, 2.0])
    assert excess_risk(private, optimum, LABELS) == pytest.approx((1 + 1 + 4 + 4 + 4) / 5 - 0.01)
    first, second = excess_risk_gaps(private, optimum, LABELS, SIDES)
    assert (first.group, first.n, second.group, second.n) == ("a", 2, "b", 3)
    assert first.excess == pytest.approx(1 - 0.01)
    assert second.excess == pytest.approx(4 - 0.01)
    assert first.signed == pytest.approx(1 - 2.8)
    assert second.signed == pytest.approx(4 - 2.8)
    assert first.gap == -first.signed
    assert second.gap == second.signed


def test_repetitions_average_errors_and_not_predictions() -> None:
    """Two opposite repetitions have a perfect mean, and an error of 1."""
    stacked = np.stack([LABELS + 1.0, LABELS - 1.0])
    assert excess_risk(stacked, LABELS, LABELS) == pytest.approx(1.0)
    assert [row.excess for row in excess_risk_gaps(stacked, LABELS, LABELS, SIDES)] == pytest.approx([1.0, 1.0])


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_gaps_weighted_by_size_cancel(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.repeat(np.arange(number), 2), rng.integers(0, number, 20)])
    table = rng.normal(size=(3, groups.size))
    rows = excess_risk_gaps(table[0], table[1], table[2], groups)
    assert sum(row.n for row in rows) == groups.size
    assert sum(row.n * row.signed for row in rows) == pytest.approx(0.0, abs=1e-9)
    assert excess_risk(table[0], table[1], table[2]) == pytest.approx(sum(r.n * r.excess for r in rows) / groups.size)


def test_gaps_of_gaussian_noise_are_those_of_the_traces() -> None:
    """[004-eq9] 4,000 repetitions: a gap off by a fifth would be seen 6 deviations off, measured here."""
    rng, sigma = np.random.default_rng(0), 0.5
    groups = np.repeat([0, 1], [40, 60])
    table = rng.normal(size=(100, 3)) * np.where(groups == 0, 1.0, 2.0)[:, None]
    labels = rng.normal(size=100)
    best = np.linalg.lstsq(table, labels, rcond=None)[0]
    noisy = (best + sigma * rng.normal(size=(4000, 3))) @ table.T
    found = excess_risk_gaps(noisy, table @ best, labels, groups)
    for row, told in zip(found, gap_by_traces(sigma, table, groups), strict=True):
        members = groups == row.group
        single = np.mean((noisy - labels)[:, members] ** 2, axis=1) - np.mean((noisy - labels) ** 2, axis=1)
        deviation = float(np.std(single)) / math.sqrt(4000)
        assert abs(row.signed - told.signed) < 4.0 * deviation
        assert 0.2 * told.gap > 6.0 * deviation


def test_unit_modulus_features_have_no_gap() -> None:
    """[004-fairness]"""
    rng = np.random.default_rng(1)
    phases = rng.normal(size=(30, 8)) * 5.0
    rows = gap_by_traces(2.0, np.exp(1j * phases), np.repeat([0, 1, 2], 10))
    assert [row.excess for row in rows] == pytest.approx([32.0] * 3)
    assert [row.gap for row in rows] == pytest.approx([0.0] * 3, abs=1e-12)
    assert max(row.gap for row in gap_by_traces(2.0, np.cos(phases), np.repeat([0, 1, 2], 10))) > 0.05


# --- statistical parity ----------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=15),
    st.lists(st.floats(-100, 100), min_size=2, max_size=15),
    st.integers(2, 500),
)
def test_the_exact_distance_is_a_supremum_and_the_grid_is_below(
    first: list[float], second: list[float], grid: int
) -> None:
    outputs, groups = np.array(first + second), np.repeat([0, 1], [len(first), len(second)])
    exact = statistical_parity(outputs, groups)
    # The supremum over reals is reached at an output, where one of the shares jumps.
    brute = max(abs(np.mean(np.array(first) <= t) - np.mean(np.array(second) <= t)) for t in outputs)
    assert exact == pytest.approx(brute, abs=1e-12)
    assert statistical_parity(outputs, groups, grid=grid) <= exact
    assert statistical_parity(2.0 * outputs, groups) == exact


def test_the_worst_pair_of_groups_counts() -> None:
    outputs = np.array([0.0, 1.0, 0.0, 1.0, 5.0, 6.0])
    assert statistical_parity(outputs[:4], ["x", "x", "y", "y"]) == 0.0
    assert statistical_parity(outputs, ["x", "x", "y", "y", "z", "z"]) == 1.0


def test_two_point_masses_between_grid_points_look_alike() -> None:
    """[004-grid-parity]"""
    outputs = [0.0, 0.001, 0.001, 1.0, *[0.0015] * 996, *[0.001] * 998, 0.0, 1.0]
    groups = [0] * 1000 + [1] * 1000
    assert statistical_parity(outputs, groups) > 0.99
    assert statistical_parity(outputs, groups, grid=500) < 0.01
    assert statistical_parity(outputs, groups, grid=2001) > 0.99


# --- tables ----------------------------------------------------------------------------------------------------


def test_a_table_by_hand() -> None:
    frame = pd.DataFrame({"side": SIDES, "age": [1, 2, 3, 4, 5]})
    first, second = demographic_table(LABELS + 1.0, LABELS, column_of(frame, "side"), threshold=3.5)
    assert (first.group, first.n, first.mean_label, first.mean_prediction) == ("a", 2, 0.5, 1.5)
    assert (first.error, first.above) == (1.0, 0.0)
    assert second.above == pytest.approx(2 / 3)
    classes = demographic_table([1, 0, 1, 1, 0], [1, 1, 1, 1, 1], SIDES, threshold=0.5, error="classes")
    assert [row.error for row in classes] == [0.5, pytest.approx(1 / 3)]
    assert column_of({"side": SIDES.tolist()}, "side").tolist() == SIDES.tolist()
    (alone,) = demographic_table([1.0, 2.0], [1.0, 2.0], [7, 7], threshold=0.0)
    assert (alone.group, alone.error) == (7, 0.0)
    with pytest.raises(AttributeError):
        first.n = 3  # type: ignore[misc]  # frozen, which is what is tested


def test_a_table_without_the_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no column 'sex'; it has"):
        column_of({"side": SIDES}, "sex")
    with pytest.raises(ValueError, match="no named columns"):
        column_of(np.zeros((3, 2)), "sex")


# --- refusals --------------------------------------------------------------------------------------------------


METRICS: list[Callable[[object, object], object]] = [
    lambda outputs, groups: statistical_parity(outputs, groups),  # type: ignore[arg-type]  # wrong on purpose
    lambda outputs, groups: excess_risk_gaps(outputs, LABELS, LABELS, groups),  # type: ignore[arg-type]  # the same
    lambda outputs, groups: demographic_table(outputs, LABELS, groups, threshold=0.0),  # type: ignore[arg-type]  # same
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("outputs", "groups", "said"),
    [
        (LABELS, SIDES[:4], "groups: expected one for each of 5"),
        (LABELS, ["a", "b", "b", "b", "b"], "'a' has 1 record; merge it"),
        (LABELS, ["a", None, "b", "b", "b"], "row 1 is missing"),
        (LABELS, [0.0, math.nan, 1.0, 1.0, 1.0], "row 1 is missing"),
        (LABELS, [0.5, 0.5, 1.0, 1.0, 1.0], "cut measurements into bins"),
        (LABELS, np.array(["a", "a", 1, 1, 1], dtype=object), "mixes kinds"),
        (LABELS, SIDES[:, None], r"groups: expected one value per record, got shape \(5, 1\)"),
        ([0.0, math.nan, 1.0, 2.0, 3.0], SIDES, "NaN or infinity; leave"),
        ([0.0, math.inf, 1.0, 2.0, 3.0], SIDES, "NaN or infinity; leave"),
        ([], [], "at least one record"),
        (["x"] * 5, SIDES, "expected real numbers"),
        (np.zeros((2, 2, 5)), SIDES, "dimension"),
    ],
)
def test_bad_input_is_refused_by_name(
    metric: Callable[[object, object], object], outputs: object, groups: object, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        metric(outputs, groups)


def test_more_is_refused() -> None:
    for metric in METRICS[:2]:
        with pytest.raises(ValueError, match="at least 2 different ones"):
            metric(LABELS, ["a"] * 5)
    with pytest.raises(ValueError, match="predictions_of_optimum: expected one for each of 5 records, got 4"):
        excess_risk(LABELS, LABELS[:4], LABELS)
    with pytest.raises(ValueError, match="predictions_of_private: expected one for each of 5 records, got 4"):
        excess_risk(np.zeros((3, 4)), LABELS, LABELS)
    with pytest.raises(ValueError, match="whole number of at least 1"):
        statistical_parity(LABELS, SIDES, grid=0)
    with pytest.raises(ValueError, match="non-negative"):
        gap_by_traces(math.nan, np.ones((5, 2)), SIDES)
    with pytest.raises(ValueError, match=r"features: expected shape \(n, features\)"):
        gap_by_traces(1.0, LABELS, SIDES)
    with pytest.raises(ValueError, match="threshold: expected a finite number"):
        demographic_table(LABELS, LABELS, SIDES, threshold=math.nan)
    with pytest.raises(ValueError, match="error: expected 'squared', 'absolute' or 'classes'"):
        demographic_table(LABELS, LABELS, SIDES, threshold=0.0, error="cubed")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="masked"):
        statistical_parity(np.ma.masked_array(LABELS), SIDES)
