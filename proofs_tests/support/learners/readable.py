"""Small models to read: additive ones with known effects."""

import math

import numpy as np

from accountant.arrays import FloatArray
from learners import Boolean, Categorical, Label, Numeric, Schema
from learners.additive.additive_model import AdditiveModel, Term

SCHEMA = Schema(
    (
        Numeric("age", 0.0, 100.0, cuts=(20.0, 33.34, 60.0)),
        Numeric("gain", 0.0, 10000.0, cuts=(10.0, 100.0, 1000.0), outside="clip"),
        Categorical("job", ("clerk", "smith", "?", "rest"), missing="?", other="rest"),
        Boolean("member"),
    ),
    Label("rich", ("no", "yes")),
)
POINT = math.log(2.0) / 20.0
"""A point, in nats."""


def points(*values: float) -> FloatArray:
    """Effects that are worth so many points."""
    return np.asarray(POINT * np.array(values))


def single(column: int, *values: float) -> Term:
    """A column's term, a cell per code."""
    return Term((column,), (np.arange(SCHEMA.columns[column].cells),), points(*values))


def additive() -> AdditiveModel:
    """Two classes; base 5; age in three model cells, a pair of gain and member."""
    age = Term((0,), (np.array([0, 1, 1, 2]),), points(-30, 4, 31))
    pair = Term((1, 3), (np.array([0, 0, 1, 1]), np.array([0, 1])), points(0, 7, -9, 0).reshape(2, 2))
    return AdditiveModel(
        SCHEMA, np.array(5 * POINT), [single(2, 12, -3, 12, -40), single(1, -1, 1, 9, 20), age, single(3, 1, 1), pair]
    )


def three_classes(seed: int = 0) -> AdditiveModel:
    """Random effects for the classes a, b and c."""
    rng = np.random.default_rng(seed)
    schema = Schema(SCHEMA.columns, Label("kind", ("a", "b", "c")))
    terms = [
        Term((number,), (np.arange(column.cells),), rng.normal(size=(column.cells, 3)))
        for number, column in enumerate(schema.columns)
    ]
    return AdditiveModel(schema, rng.normal(size=3), terms)
