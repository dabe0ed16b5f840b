"""Fits of random features that cost too little: moments, gradients and coefficients a tenth cheaper, and as printed."""

import math
from functools import partial

import attrs
import numpy as np

from accountant.arrays import FloatArray
from mechanisms import L2Sensitivity, Query
from mechanisms.gradients.feature_fits import one_pass_sgd, ridge_coefficients
from mechanisms.gradients.feature_queries import (
    Fittable,
    UnitRows,
    clipped_pull,
    joint_l2,
    joint_moments,
    projected_coefficients,
)
from proofs_tests.harness import Pair, Report, check_sensitivity
from proofs_tests.mutants.mutant import Mutant
from proofs_tests.support.learners.unit_rows import Found, Rows

RECORDS, PENALTY = 1000, 1e-3


def moved(query: Query[UnitRows, FloatArray, L2Sensitivity], one: Rows, other: Rows) -> Report:
    pair: Pair[UnitRows] = Pair(one, other)
    return check_sensitivity(query, [pair])


def pull_at(factor: float) -> Report:
    query = clipped_pull(2, np.zeros(2), 1.0)
    data = Rows(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([5.0, 0.0]))
    claimed = attrs.evolve(query, sensitivity=L2Sensitivity(query.sensitivity.value / factor))
    return moved(claimed, data, data.replaced(0, np.array([1.0, 0.0]), -5.0))


def moments_at(claimed: float) -> Report:
    """Rows at the angle where both moments move: ⟨φ, φ'⟩ = 1/2, opposite labels."""
    query = attrs.evolve(joint_moments(2, 2, 1.0), sensitivity=L2Sensitivity(claimed))
    data = Rows(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, 0.0]))
    other = data.replaced(0, np.array([0.5, math.sqrt(0.75)]), -1.0)
    return moved(query, data, other)


def ball_at(factor: float) -> Report:
    query = projected_coefficients(1.0, 2)
    claimed = attrs.evolve(query, sensitivity=L2Sensitivity(query.sensitivity.value / factor))
    ends: Pair[Fittable] = Pair(Found(np.array([9.0, 0.0])), Found(np.array([-9.0, 0.0])))
    return check_sensitivity(claimed, [ends])


def one_pass_at(factor: float) -> Report:
    query = one_pass_sgd(2, 2, 1.0, 1, 0.5)
    data = Rows(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 1.0]))
    claimed = attrs.evolve(query, sensitivity=L2Sensitivity(query.sensitivity.value / factor))
    return moved(claimed, data, data.replaced(1, np.array([1.0, 0.0]), -1.0))


def ridge_at(claimed: float | None, penalty: float = PENALTY) -> Report:
    """Two records across the direction of all others. claimed: in units of what the query says; None is 1."""
    query = ridge_coefficients(RECORDS, 2, penalty, 1.0)
    if claimed is not None:
        query = attrs.evolve(query, sensitivity=L2Sensitivity(claimed * query.sensitivity.value))
    pull = 0.5 * math.sqrt((RECORDS - 1) / (penalty * RECORDS))
    sine = 2.0 * pull / (1.0 + math.sqrt(1.0 + 8.0 * pull**2))
    rows = np.zeros((RECORDS, 2))
    rows[:-1, 0] = math.sqrt(penalty * RECORDS / (RECORDS - 1))
    rows[-1] = -sine, math.sqrt(1.0 - sine**2)
    data = Rows(rows, np.ones(RECORDS))
    return moved(query, data, data.replaced(RECORDS - 1, rows[-1] * np.array([1.0, -1.0]), 1.0))


def printed_ridge() -> Report:
    """2/(mλ), at a small penalty."""
    printed = 2.0 / (RECORDS * PENALTY)
    return ridge_at(printed / ridge_coefficients(RECORDS, 2, PENALTY, 1.0).sensitivity.value)


MUTANTS = (
    Mutant("gradient of cut residuals, a tenth less", "opposite residuals in one direction", "004-descent",
           partial(pull_at, 1.0 / 0.9), partial(pull_at, 1.0), "sensitivity"),
    Mutant("gradient at the price of one record added", "the replaced record pulled too", "004-descent",
           partial(pull_at, 2.0), None, "sensitivity"),
    Mutant("joint moments, a tenth less", "rows at 60° with opposite labels", "004-joint-moments",
           partial(moments_at, 0.9 * joint_l2(1.0)), partial(moments_at, joint_l2(1.0) + 1e-9), "sensitivity"),
    Mutant("second moments with labels for nothing", "labels move beside features", "004-joint-moments",
           partial(moments_at, math.sqrt(2.0)), None, "sensitivity"),
    Mutant("coefficients in a ball, a tenth less than its diameter", "opposite ends", "004-projection",
           partial(ball_at, 1.0 / 0.9), partial(ball_at, 1.0), "sensitivity"),
    Mutant("coefficients in a ball, for its radius", "opposite ends", "004-projection",
           partial(ball_at, 2.0), None, "sensitivity"),
    Mutant("one pass of SGD, a tenth less", "the last record, opposite labels", "004-one-pass",
           partial(one_pass_at, 1.0 / 0.9), partial(one_pass_at, 1.0), "sensitivity"),
    Mutant("ridge at 2/(mλ)", "squares have slopes above 1", "004, section 4.2",
           printed_ridge, partial(ridge_at, None), "sensitivity"),
    Mutant("ridge, a tenth less", "two records across the others that pull back", "004-ridge",
           partial(ridge_at, 0.9, 0.1), partial(ridge_at, None, 0.1), "sensitivity"),
)  # fmt: skip
