"""The canaries and subjects of the benchmark of one-run audits."""

import numpy as np
import pytest

from benchmarks.kit.one_run import audited
from benchmarks.kit.one_run_subjects import GAUSSIAN, OTHER, Subject, all_corners, right_angles
from benchmarks.systems import OURS
from proofs_tests.harness import OneRunAudit


def test_canaries_at_right_angles_stay_so_with_the_constant() -> None:
    X = np.asarray(right_angles(32, 1.0, 64).canaries.X)
    rows = np.column_stack([X, np.ones(64)])
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert np.array_equal(rows[:32] @ rows[:32].T, 32.0 * np.eye(32))
    assert np.array_equal(rows[32:] @ rows[32:].T, 32.0 * np.eye(32))


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
