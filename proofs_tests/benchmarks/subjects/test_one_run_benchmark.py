"""The canaries and subjects of the benchmark of one-run audits."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import entropy

from accountant.costs import gaussian
from benchmarks.kit.one_run import Moving, audited, ideal, most_often_refuted, tight
from benchmarks.kit.one_run_subjects import GAUSSIAN, OTHER, Subject, all_corners, held_up, on_the_ball, right_angles
from benchmarks.systems import OURS
from proofs_tests.harness import OneRunAudit


def test_canaries_at_right_angles_stay_so_with_the_constant() -> None:
    X = np.asarray(right_angles(32, 1.0, 64).canaries.X)
    rows = np.column_stack([X, np.ones(64)])
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert np.array_equal(rows[:32] @ rows[:32].T, 32.0 * np.eye(32))
    assert np.array_equal(rows[32:] @ rows[32:].T, 32.0 * np.eye(32))


def test_sets_on_the_ball_are_orthonormal() -> None:
    X = np.asarray(on_the_ball(32, 1.0, 64).canaries.X)
    for own in (X[:32], X[32:]):
        assert np.allclose(own @ own.T, np.eye(32))


def test_canaries_that_are_held_up_differ_in_their_direction_and_label_alone() -> None:
    drawn = held_up(10, 4, 4.0, 16)
    X, (other, labels) = np.asarray(drawn.canaries.X), drawn.canaries.others
    assert np.array_equal((X - np.asarray(other))[:, 4:], np.zeros((16, 16)))
    assert np.array_equal((X + np.asarray(other))[:, :4], np.zeros((16, 4)))
    assert not np.any(drawn.canaries.y == labels)
    assert np.asarray(drawn.X).shape == (10, 20)


MOVED = {"linear features, SGD": 1.0, "linear features, AdaSSP": 2.0 / 4.5**0.5, "rado release": 1.0, "halfspaces": 1.0}


@pytest.mark.parametrize("name", MOVED)
def test_canaries_move_what_their_sensitivity_says(name: str) -> None:
    """One pass of SGD, rados and means lose all of their charge by a label, AdaSSP 2w of √(2 + 2w² + w⁴/2) at w = 1."""
    (subject,) = [each for each in GAUSSIAN if each.name == name]
    assert subject.score is not None
    look = Moving(subject.score)
    found = audited(subject, 4.0, 64, look, 1)
    assert look.mu / gaussian.mu(4.0, found.delta) == pytest.approx(MOVED[name], rel=0.02)
    assert ideal(found, look.mu) < 1.0
    assert ideal(found, 0.0) == 0.0


def test_a_release_within_a_ball_refutes_nothing_more_often_than_its_information_says() -> None:
    """Telling a point of the sphere from the centre is a test of that kind: of N(μ/2, 1) against N(0, 1)."""
    for epsilon in (1.0, 4.0):
        mu = gaussian.mu(epsilon, 1e-5)
        most = most_often_refuted(mu)
        assert float(ndtr(ndtri(0.05) + 0.5 * mu)) < most < 0.2
        assert entropy([most, 1.0 - most], [0.05, 0.95]) == pytest.approx(0.5 * (0.5 * mu) ** 2)


def test_runs_that_lose_all_would_tell_bounds_that_are_a_tenth_too_large() -> None:
    ratios = np.array([tight(1.0, run, 1500) for run in range(40)])
    assert int(np.sum(ratios > 1.0)) <= 8  # more come with a chance of 1e-4 at one in twenty
    assert int(np.sum(1.1 * ratios > 1.0)) > 8


def test_all_corners_are_different() -> None:
    assert np.unique(np.asarray(all_corners(1.0, 16).canaries.X), axis=0).shape == (16, 4)


def test_each_kind_of_system_of_ours_is_a_subject() -> None:
    names = " ".join(subject.name for subject in (*GAUSSIAN, *OTHER))
    for system in OURS:
        assert any(word in names for word in system.name.replace(",", "").split()), system.name


@pytest.mark.parametrize("subject", [*GAUSSIAN, *OTHER], ids=lambda subject: str(subject.name))
def test_a_small_audit_of_each_proves_no_more_than_it_was_charged(subject: Subject) -> None:
    if subject.score is None:
        found = audited(subject, 4.0, 64, "black-box", 1)
    else:
        found = audited(subject, 4.0, 64, subject.score, 1)
    assert isinstance(found, OneRunAudit)
    assert found.canaries == 64
    assert found.charged_epsilon == pytest.approx(4.0, rel=1e-3)
    assert found.ratio <= 1.0
