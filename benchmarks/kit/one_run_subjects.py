"""Every estimator of ours with canaries that it shows as well as we know how, for one-run audits."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs
import numpy as np
from scipy.linalg import hadamard

from accountant.arrays import FloatArray
from learners import (
    SGD,
    AdaSSP,
    Bounds,
    Categorical,
    Descent,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    MinNorm,
    Objective,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Ridge,
    Schema,
)
from proofs_tests.harness import Canaries, along, company, corner_canaries
from proofs_tests.harness.one_run.audit import View
from proofs_tests.harness.one_run.canaries import Labels
from proofs_tests.harness.one_run.scores import CanaryScore, Seen, fixed_coins

DELTA: Final = 1e-5
CUBE: Final = Bounds(-1.0, 1.0)
LABELS: Final = (0, 1)


@attrs.frozen(eq=False)
class Drawn:
    """Canaries, and other records if any."""

    canaries: Canaries
    X: object = None
    y: object = None


@attrs.frozen(eq=False)
class Subject:
    """An estimator, how its canaries are made, and how its releases are scored; None where they are not all it draws.

    estimator: of ε, the seed of its noise and the number of canaries.  drawn: ε and that number to
    canaries.  guesses: a share of the canaries, where the usual number is not good; fixed in advance.
    predicts: whether it can be looked at from outside.
    """

    name: str
    estimator: Callable[[float, int, int], Any]
    drawn: Callable[[float, int], Drawn]
    score: View | CanaryScore | None
    sizes: dict[float, int]
    guesses: float | None = None
    predicts: bool = True


def rare(replaced: bool, epsilon: float, number: int) -> Drawn:
    """Records of a category of their own, among others of it that keep the model undecided."""
    canaries = corner_canaries(_rare_schema(number), number, LABELS, replaced=replaced)
    return Drawn(canaries, *company(canaries, LABELS, 40 if epsilon < 2.0 else 15))


def _rare_schema(number: int) -> Schema:
    return Schema((Categorical("code", tuple(f"c{i}" for i in range(number))),))


def _labelled(X: FloatArray) -> Drawn:
    y = np.random.default_rng(1).integers(0, 2, len(X))
    return Drawn(Canaries(X, y, other_y=1 - y))


def units(epsilon: float, number: int) -> Drawn:
    """One record along each axis."""
    return _labelled(np.eye(number))


def right_angles(columns: int, epsilon: float, number: int) -> Drawn:
    """Corners of the cube at right angles, with the constant; of more than `columns` a second such set, and so on."""
    width = min(columns, number)
    basis, rng = hadamard(width).astype(np.int8), np.random.default_rng(0)
    turned = [basis, *(basis * rng.choice(np.array([-1, 1], np.int8), width) for _ in range(number // width - 1))]
    rows = np.concatenate(turned)
    return _labelled((rows * rows[:, :1])[:, 1:].astype(np.float64))


def on_the_ball(columns: int, epsilon: float, number: int) -> Drawn:
    """The same at length 1."""
    width = min(columns, number)
    rows = np.asarray(right_angles(columns, epsilon, number).canaries.X)
    return _labelled(np.column_stack([np.ones(number), rows]) / math.sqrt(width))


def corners(columns: int, low: float, epsilon: float, number: int) -> Drawn:
    """Corners of a cube, drawn at random."""
    return Drawn(corner_canaries(Bounds(low, 1.0), number, LABELS, columns=columns, replaced=True))


def all_corners(epsilon: float, number: int) -> Drawn:
    """Every corner of a cube of zeros and ones. number: a power of 2."""
    bits = number.bit_length() - 1
    return _labelled((np.arange(number)[:, None] >> np.arange(bits) & 1).astype(np.float64))


def _features(seen: Seen) -> FloatArray:
    """Features times labels: of canaries, less those of what is in their place."""
    fitted, canaries = seen.fitted, seen.canaries

    def signed(X: object, y: Labels) -> FloatArray:
        rows = fitted.model_.fit.features.rows(fitted._coded(X, fitted.model_.coding))
        return np.asarray(rows * np.where(y == 1, 1.0, -1.0)[:, None])

    return np.asarray(signed(canaries.X, canaries.y) - signed(*canaries.others))


def held_up(others: int, columns: int, epsilon: float, number: int) -> Drawn:
    """What ridge regression is charged for: canaries beside so many equal records, all of label 1, that a direction of
    theirs alone predicts far more than a label can be.

    Canaries differ in this direction and in their label, and agree in the rest, in which they are at right angles.
    The residuals of both are longer than 1 by what the others predict of them, and so is what each moves. It takes far
    fewer canaries than others, which they pull down: too few to show much of ε = 1, where labels alone differ.
    columns: of that direction.  number: a power of 2.
    """
    if epsilon < 2.0:
        return right_angles(2048, epsilon, number)
    own, away = hadamard(number).astype(np.float64), np.ones((number, columns))
    X, other_X = np.column_stack([-away, own]), np.column_stack([away, own])
    canaries = Canaries(X, np.ones(number, int), other_X, np.zeros(number, int))
    company = np.zeros((others, columns + number))
    company[:, :columns] = 0.7  # about where what is predicted is largest
    return Drawn(canaries, company, np.ones(others, int))


def _signed(seen: Seen) -> FloatArray:
    """Records times their labels."""
    return np.asarray(np.asarray(seen.canaries.X) * np.where(seen.canaries.y == 1, 1.0, -1.0)[:, None])


def in_sets(seen: Seen) -> FloatArray:
    """Log-likelihood ratios of canaries of `on_the_ball`, in sets at right angles to each other, each with rows of its
    own: how much a canary moves each row of a release is seen where the coins of its set are turned over."""
    ways, coins = _signed(seen), fixed_coins(seen.canaries.number)
    number, width = ways.shape
    one, other = seen.turned()
    found = np.zeros(number)
    for own in (slice(start, start + width) for start in range(0, number, width)):
        turned = coins.copy()
        turned[own] = ~coins[own]
        for release, up, down, again in zip(seen.releases, one, other, seen.replay(turned), strict=True):
            if release.law == "gaussian" and not release.output.size % width:
                off = (release.output - 0.5 * (up + down)).reshape(-1, width) @ ways[own].T
                moved = (again - up).reshape(-1, width) @ ways[own].T
                found[own] += np.sum(off * moved, axis=0) / release.scale**2
    return np.where(coins, -found, found)


def _boost(adjacency: Any, epsilon: float, seed: int, size: int) -> PrivateBoostClassifier:
    schema = _rare_schema(size)
    return PrivateBoostClassifier(epsilon, DELTA, adjacency=adjacency, schema=schema, random_state=seed)


def _linear(solver: Any, delta: float, epsilon: float, seed: int, size: int) -> RandomFeatureClassifier:
    return RandomFeatureClassifier(epsilon, delta, solver=solver, distribution="linear", schema=CUBE, random_state=seed)


def _interpolated(epsilon: float, seed: int, size: int) -> RandomFeatureClassifier:
    return RandomFeatureClassifier(epsilon, DELTA, solver=MinNorm(), n_components=600, schema=CUBE, random_state=seed)


def _plane(delta: float, epsilon: float, seed: int, size: int) -> HalfspaceBoostClassifier:
    return HalfspaceBoostClassifier(epsilon, delta, radius=1.0, classes=LABELS, random_state=seed)


def _rados(kind: Any, epsilon: float, seed: int, size: int) -> Any:
    plain = {"standardise": False, "fit_intercept": False, "radius": 1.0, "number": 4}
    return kind("examples", epsilon, DELTA, schema=CUBE, random_state=seed, **plain)


def _logistic(delta: float, epsilon: float, seed: int, size: int) -> DPLogisticRegression:
    return DPLogisticRegression(epsilon, delta, schema=Bounds(0.0, 1.0, bins=2), random_state=seed)


def _on_bits(kind: Any, more: dict[str, object], epsilon: float, seed: int, size: int) -> Any:
    return kind(epsilon, schema=Bounds(0.0, 1.0, bins=2), random_state=seed, **more)


def _sizes(small: int, large: int) -> dict[float, int]:
    return {1.0: large, 4.0: small}


MANY: Final = _sizes(4096, 4096)
USUAL: Final = _sizes(2048, 8192)
"""At ε = 1 bounds from fewer vary by a tenth of ε and more, and are smaller. Four canaries a dimension blur each other
little there: their coins move a number by a quarter of what noise does."""

GAUSSIAN: Final = (
    Subject("PrivateBoost", partial(_boost, "add-remove-one"), partial(rare, False), "white-box", MANY),
    Subject("PrivateBoost, replace-one", partial(_boost, "replace-one"), partial(rare, True), "white-box", MANY),
    Subject(
        "linear features, descent in 20 rounds",
        partial(_linear, Descent(rounds=20), DELTA),
        partial(right_angles, 2048),
        along(_features),
        USUAL,
    ),
    Subject(
        "linear features, AdaSSP",
        partial(_linear, AdaSSP(), DELTA),
        partial(right_angles, 2048),
        along(_features, last=True),
        USUAL,
    ),
    Subject(
        "linear features, SGD", partial(_linear, SGD(), DELTA), partial(right_angles, 2048), along(_features), USUAL
    ),
    Subject(
        "linear features, ridge, penalty 1",
        partial(_linear, Ridge(penalty=1.0), DELTA),
        partial(right_angles, 2048),
        along(_features),
        USUAL,
    ),
    Subject(
        "linear features, ridge",
        partial(_linear, Ridge(), DELTA),
        partial(held_up, 15_360, 192),
        along(_features),
        _sizes(1024, 8192),
        0.15,
    ),
    Subject("random features, min-norm", _interpolated, partial(right_angles, 64), along(_features), _sizes(512, 512)),
    Subject("halfspaces", partial(_plane, DELTA), partial(on_the_ball, 2048), along(_signed), USUAL),
    Subject("rado release", partial(_rados, RadoRelease), partial(on_the_ball, 2048), in_sets, USUAL, predicts=False),
    Subject("rado boost", partial(_rados, RadoBoostClassifier), partial(on_the_ball, 2048), in_sets, USUAL),
)
"""Those all of whose releases have Gaussian noise."""

ON_BITS: Final[tuple[tuple[str, Any, dict[str, object], int], ...]] = (
    ("boosted 1-Rules", LazyBoostClassifier, {}, 64),
    ("boosted TopDown trees", LazyBoostClassifier, {"weak_learner": "top-down"}, 64),
    ("DPBoost", DPGradientBoostingClassifier, {}, 64),
    ("random forest", DPRandomForestClassifier, {"depth": 8}, 256),
    ("random forest, one tree of depth 10", DPRandomForestClassifier, {"n_estimators": 1, "depth": 10}, 1024),
    ("bagging", DPBaggingClassifier, {}, 64),
)
"""With the number of canaries."""

OTHER: Final = (
    *(
        Subject(name, partial(_on_bits, kind, more), all_corners, "white-box", _sizes(number, number))
        for name, kind, more, number in ON_BITS
    ),
    Subject("halfspaces, δ = 0", partial(_plane, 0.0), units, None, _sizes(256, 256), 0.25),
    Subject(
        "logistic regression", partial(_logistic, DELTA), partial(corners, 50, 0.0), None, _sizes(1024, 1024), 0.25
    ),
    Subject(
        "logistic regression, δ = 0", partial(_logistic, 0.0), partial(corners, 50, 0.0), None, _sizes(1024, 1024), 0.25
    ),
    Subject(
        "linear features, objective, δ = 0",
        partial(_linear, Objective(), 0.0),
        partial(right_angles, 256),
        None,
        _sizes(256, 256),
        0.25,
    ),
)
"""The others. Those without a score draw noise that they do not release."""
