"""Scores against scikit-learn's and by hand; forms of tables that use no data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.adapters.protocol import (
    Column,
    cells,
    codes,
    logistic,
    norm_bound,
    two_columns,
    unit_features,
)
from benchmarks.leaderboard.scores import BadPredictions, scored

COLUMNS = (Column("x", -1.0, 3.0), Column("c", categories=("b", "a", "?")))


def test_they_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    likely = rng.dirichlet(np.ones(3), 200)
    found = scored("multi-class", 3, likely, labels)
    assert found["auc"] == pytest.approx(roc_auc_score(labels, likely, multi_class="ovr"))
    assert found["log_loss"] == pytest.approx(log_loss(labels, likely))
    two = scored("binary", 2, two_columns(likely[:, 1]), labels % 2)
    assert two["auc"] == pytest.approx(roc_auc_score(labels % 2, likely[:, 1]))


def test_scores_without_probabilities_have_no_log_loss() -> None:
    labels, scores = np.array([0, 1, 1, 0]), np.array([-1.0, 2.0, -0.5, -3.0])
    found = scored("binary", 2, scores, labels)
    assert found == {"auc": 1.0, "accuracy": 0.75}


def test_calibration_is_the_gap_between_said_and_seen() -> None:
    labels = np.array([1, 1, 1, 0] * 25)
    assert scored("binary", 2, two_columns(np.full(100, 0.75)), labels)["calibration"] == pytest.approx(0.0)
    assert scored("binary", 2, two_columns(np.full(100, 0.95)), labels)["calibration"] == pytest.approx(0.2)


def test_the_mean_explains_nothing() -> None:
    labels = np.array([1.0, 2.0, 3.0])
    assert scored("regression", 0, np.full(3, 2.0), labels)["r2"] == pytest.approx(0.0)
    assert scored("regression", 0, labels, labels)["r2"] == 1.0


@pytest.mark.parametrize(
    ("predictions", "said"),
    [
        (np.full((2, 2), np.nan), "4 predictions are not finite"),
        (np.full((2, 2), 0.4), "add up to 1"),
        (np.full((3, 2), 0.5), "shape"),
        (np.array([[1.5, -0.5], [0.5, 0.5]]), "at least 0"),
    ],
)
def test_what_is_no_prediction_is_refused(predictions: np.ndarray, said: str) -> None:
    with pytest.raises(BadPredictions, match=said):
        scored("binary", 2, predictions, np.array([0, 1]))


@given(st.lists(st.tuples(st.floats(-1.0, 3.0), st.sampled_from(("a", "b", "?"))), min_size=1, max_size=20))
def test_features_are_within_their_public_norm_and_codes_within_their_cells(rows: list[tuple[float, str]]) -> None:
    records = {"x": np.array([x for x, _ in rows]), "c": np.array([c for _, c in rows])}
    features = unit_features(COLUMNS, records)
    assert features.shape == (len(rows), 4)
    assert np.all((features >= 0.0) & (features <= 1.0))
    assert np.max(np.linalg.norm(features, axis=1)) <= norm_bound(COLUMNS) + 1e-12
    places = codes(COLUMNS, records, 8)
    assert np.all((places >= 0) & (places < np.array(cells(COLUMNS, 8))[:, None]))
    assert [COLUMNS[1].categories[place] for place in places[1]] == records["c"].tolist()


def test_bins_are_of_equal_width_and_hold_both_ends() -> None:
    column = (Column("x", 0.0, 8.0),)
    found = codes(column, {"x": np.array([0.0, 0.99, 1.0, 7.5, 8.0, 9.0, -1.0])}, 8)
    assert found.tolist() == [[0, 0, 1, 7, 7, 7, 0]]


def test_log_odds_become_probabilities() -> None:
    assert logistic(np.array([0.0, 1_000.0, -1_000.0])).tolist() == [0.5, 1.0, 0.0]
