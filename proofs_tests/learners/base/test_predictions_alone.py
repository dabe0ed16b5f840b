"""Every learner's predictions have the same bits for a record alone, in any batch, at any place. [records-alone]

And what depends on that: where one record comes or goes, no other's class moves, and what fairness releases moves by no
more than is charged.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

import learners
from accountant import AddRemoveOne, ApproxDP, BasicComposition, Ledger
from accountant.arrays import FloatArray
from learners import (
    Boolean,
    Bounds,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    Numeric,
    PrivateBoostClassifier,
    PrivateBoostRegressor,
    RadoBoostClassifier,
    RandomFeatureClassifier,
    RandomFeatureRegressor,
    Schema,
    private_group_risks,
)
from learners.fairness.private_groups import NoisyValues, ReleaseBudget
from learners.random_features.estimators import SOLVERS
from learners.random_features.feature_maps import DISTRIBUTIONS, FEATURE_MAPS
from learners.regression.regression_losses import LOSSES
from mechanisms import Query

RECORDS: Final = 100_003
INPUTS: Final = 13
FITTED: Final = 60
"""Records that the models are fitted to: what they learn does not matter, that their numbers are no round ones does."""

FEW_FITTED: Final = 20

BOX: Final = Bounds(-1.0, 1.0, bins=7)
SPELT_OUT: Final = BOX.over([f"x{number}" for number in range(INPUTS)])
MIXED: Final = Schema((*(Numeric(f"x{n}", -1.0, 1.0, outside="clip") for n in range(INPUTS - 1)), Boolean("x12")))
X: Final = np.random.default_rng(0).uniform(-1.1, 1.1, (RECORDS, INPUTS))
X[:, -1] = X[:, -1] > 0.0  # so that it may be taken for a column of two values
Y: Final = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.0, 1, 0)
THREE: Final = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.4, 0.4])
TARGETS: Final = np.sin(3.0 * X[:, 0]) * X[:, 1]

Model = Any
"""An estimator; they share no type that says what it predicts."""


def fitted(model: Model, y: npt.NDArray[Any] = Y, records: int = FITTED) -> Model:
    """With much budget, so that noise does not make all scores alike."""
    return model.set_params(epsilon=50.0, delta=1e-6, random_state=0).fit(X[:records], y[:records])


def _forests() -> dict[str, Callable[[], Model]]:
    return {
        f"forest, {leaves}": functools.partial(
            lambda leaves: fitted(DPRandomForestClassifier(n_estimators=5, depth=4, leaves=leaves, schema=BOX)), leaves
        )
        for leaves in ("counts", "labels")
    }


def _boosted_trees() -> dict[str, Callable[[], Model]]:
    return {
        f"boosted trees, {loss}": functools.partial(
            lambda loss: fitted(DPGradientBoostingClassifier(n_estimators=3, depth=3, loss=loss, schema=BOX)), loss
        )
        for loss in ("logistic", "square")
    }


def _rados() -> dict[str, Callable[[], Model]]:
    given: dict[str, dict[str, Any]] = {
        "None": {"protection": None},
        "None, no schema": {"protection": None, "schema": None},
        "examples": {"protection": "examples"},
        "examples, edges": {"protection": "examples", "route": "edges"},
        "feature": {"protection": "feature", "sensitive": 2},
        "feature, own supports": {
            "protection": "feature",
            "sensitive": INPUTS - 1,
            "route": "own-supports",
            "schema": MIXED,
        },
    }

    def build(settings: dict[str, Any]) -> Model:
        return fitted(RadoBoostClassifier(**{"schema": BOX, "rounds": 40, "number": 20, **settings}))

    return {f"rados, {name}": functools.partial(build, settings) for name, settings in given.items()}


def _random_features() -> dict[str, Callable[[], Model]]:
    """All solvers; of the recommended one all ways from a record to features."""
    pairs = [
        (distribution, feature_map)
        for distribution in DISTRIBUTIONS
        for feature_map in FEATURE_MAPS
        if feature_map != "complex" and (distribution != "linear" or feature_map != "cosine")
    ]

    def regressor(**settings: Any) -> Model:
        # Some need a feature for each record.
        given = {"label_bounds": (-2.0, 3.0), "schema": BOX, "n_components": FEW_FITTED + 1, **settings}
        return fitted(RandomFeatureRegressor(**given), TARGETS, FEW_FITTED)

    def classifier(**settings: Any) -> Model:
        return fitted(RandomFeatureClassifier(**{"schema": BOX, "n_components": 9, **settings}))

    found: dict[str, Callable[[], Model]] = {}
    for distribution, feature_map in pairs:
        for build in (regressor, classifier):
            name = f"random features, {build.__name__}, {distribution}, {feature_map}"
            found[name] = functools.partial(build, distribution=distribution, feature_map=feature_map)
    for solver in (*SOLVERS, "gamma"):
        found[f"random features, {solver}"] = functools.partial(regressor, solver=solver)
    complex_model = functools.partial(regressor, solver="min-norm", feature_map="complex")
    plain = functools.partial(regressor, solver="adassp", schema=None)
    return {**found, "random features, complex": complex_model, "random features, no schema": plain}


MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "private boost": lambda: fitted(PrivateBoostClassifier(rounds_per_column=2, schema=BOX)),
    "private boost, pairs": lambda: fitted(
        PrivateBoostClassifier(rounds_per_column=2, schema=BOX, interactions=[("x0", "x1")])
    ),
    "private boost, calibrated": lambda: fitted(
        PrivateBoostClassifier(rounds_per_column=2, schema=BOX, calibration=0.2)
    ),
    "private boost, three classes": lambda: fitted(
        PrivateBoostClassifier(rounds_per_column=2, schema=BOX, classes=(0, 1, 2)), THREE
    ),
    "private boost, nine classes": lambda: fitted(
        PrivateBoostClassifier(rounds_per_column=1, schema=BOX, classes=tuple(range(9))), np.arange(RECORDS) % 9
    ),
    **{
        f"private boost, regression, {loss}": functools.partial(
            lambda loss: fitted(PrivateBoostRegressor(loss=loss, label_bounds=(0.0, 5.0), schema=MIXED), TARGETS + 2.0),
            loss,
        )
        for loss in LOSSES
    },
    "lazy boost": lambda: fitted(LazyBoostClassifier(rounds=9, schema=SPELT_OUT)),
    "lazy boost, calibrated": lambda: fitted(LazyBoostClassifier(rounds=60, schema=SPELT_OUT, calibration=0.2)),
    "lazy boost, trees": lambda: fitted(LazyBoostClassifier(rounds=5, schema=SPELT_OUT, weak_learner="top-down")),
    "logistic": lambda: fitted(DPLogisticRegression(schema=BOX)),
    "bagging": lambda: fitted(DPBaggingClassifier(teachers=3, queries=20, schema=BOX)),
    **_forests(),
    **_boosted_trees(),
    "halfspace": lambda: fitted(HalfspaceBoostClassifier(radius=4.0, rounds=9, classes=(0, 1))),
    "halfspace, intercept": lambda: fitted(
        HalfspaceBoostClassifier(radius=4.0, rounds=9, classes=(0, 1), fit_intercept=True)
    ),
    **_rados(),
    **_random_features(),
}


@functools.cache
def model(name: str) -> Model:
    return MODELS[name]()


SAYS: Final = ("decision_function", "predict", "predict_proba")


def said(found: Model, table: FloatArray) -> list[npt.NDArray[Any]]:
    """All that it says of a table's records."""
    return [np.ascontiguousarray(getattr(found, name)(table)) for name in SAYS if hasattr(found, name)]


def same(one: list[npt.NDArray[Any]], other: list[npt.NDArray[Any]]) -> bool:
    """Bit by bit."""
    pairs = list(zip(one, other, strict=True))
    return all(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


def batches(records: int) -> Iterator[slice]:
    """Of many sizes, at several places; the last records of some stand where vectors and routines have rests."""
    for size in (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 1000):
        for start in (1, 4096, records - size):
            yield slice(start, start + size)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_said_of_a_record_has_the_same_bits_alone_and_in_any_batch(name: str) -> None:
    """[records-alone]"""
    found = model(name)
    whole = said(found, X)
    assert len(np.unique(whole[0])) > 1
    for part in batches(RECORDS):
        assert same(said(found, X[part].copy()), [each[part] for each in whole]), part


@pytest.mark.parametrize("name", MODELS)
def test_order_and_layout_in_memory_do_not_matter(name: str) -> None:
    """[records-alone] Reversed, every other row, columns one after another, and records of a wider table."""
    found, table = model(name), X[:10_007]
    whole = said(found, table)
    back = [np.ascontiguousarray(each[::-1]) for each in whole]
    assert same(said(found, table[::-1]), back)
    assert same(said(found, np.asfortranarray(table)), whole)
    assert same(said(found, table[::3]), [np.ascontiguousarray(each[::3]) for each in whole])
    wide = np.repeat(table, 2, axis=1)
    assert same(said(found, wide[:, ::2]), whole)
    shuffled = np.random.default_rng(1).permutation(len(table))
    assert same(said(found, table[shuffled]), [each[shuffled] for each in whole])


def test_no_learner_is_left_out() -> None:
    """Whoever exports one that predicts lists it in MODELS."""
    exported = {name: getattr(learners, name) for name in learners.__all__}
    wanted = {
        name
        for name, value in exported.items()
        if inspect.isclass(value) and not inspect.isabstract(value) and hasattr(value, "predict")
    }
    assert len(wanted) >= 10
    assert {type(model(name)).__name__ for name in MODELS} == wanted
    saying = {(name, what) for name in wanted for what in SAYS if hasattr(exported[name], what)}
    assert {name for name, what in saying if what == "predict_proba"} >= {
        "PrivateBoostClassifier",
        "DPRandomForestClassifier",
    }


# --- where one record comes or goes -----------------------------------------------------------------------------------

TIED: Final[Mapping[str, tuple[int, Callable[[], Model]]]] = {
    "halfspace": (20, lambda: HalfspaceBoostClassifier(radius=5.0, rounds=9, classes=(0, 1))),
    "halfspace, intercept": (
        21,
        lambda: HalfspaceBoostClassifier(radius=5.0, rounds=9, classes=(0, 1), fit_intercept=True),
    ),
    "rados": (20, lambda: RadoBoostClassifier(protection=None, number=30, rounds=60, schema=None)),
    "rados in a box": (17, lambda: RadoBoostClassifier("examples", number=30, rounds=60, schema=Bounds(-1.0, 1.0))),
}


@functools.cache
def tied(name: str, records: int) -> tuple[Model, FloatArray]:
    """A model, and records that lie on its plane but for roundings, which alone decide on their classes."""
    width, build = TIED[name]
    rng = np.random.default_rng(7)
    points = rng.uniform(-0.5, 0.5, (records, width))
    learnt = rng.uniform(-1.0, 1.0, (80, width))
    found: Model = build().set_params(epsilon=200.0, delta=1e-6, random_state=0)
    found.fit(learnt, np.where(learnt[:, 0] > learnt[:, 1], 1, 0))
    normal, intercept = found.coef_[0], float(found.intercept_[0])
    for _ in range(3):
        points -= np.outer((points @ normal + intercept) / float(normal @ normal), normal)
    assert np.max(np.abs(points)) < 1.0
    return found, points


def leaving(records: int) -> list[int]:
    """Who goes: of few records each, of many the first, the last, and some in between."""
    return sorted({*range(min(records, 8)), records // 2, records - 1})


@pytest.mark.parametrize("records", [8, 10_000])
@pytest.mark.parametrize("name", TIED)
def test_a_record_that_goes_flips_no_other(name: str, records: int) -> None:
    """[records-alone] On records that roundings alone decide on."""
    found, points = tied(name, records)
    scores = found.decision_function(points)
    assert np.max(np.abs(scores)) < 1e-13
    assert 0.1 < np.mean(scores > 0.0) < 0.9  # so that roundings do decide
    for gone in leaving(records):
        rest = np.delete(points, gone, axis=0)
        assert np.array_equal(found.predict(rest), np.delete(found.predict(points), gone))
        assert found.decision_function(rest).tobytes() == np.delete(scores, gone).tobytes()


Asked = list[tuple[FloatArray, float]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What is asked of the records before there is noise, with the sensitivity that is declared for it."""
    found: Asked = []
    release = ReleaseBudget.release

    def spy(
        payer: ReleaseBudget, query: Query[Any, FloatArray, Any], data: object, random_state: object
    ) -> NoisyValues:
        found.append((query.evaluate(data), query.sensitivity.value))
        return release(payer, query, data, random_state)  # type: ignore[arg-type]  # whatever it was given

    monkeypatch.setattr(ReleaseBudget, "release", spy)
    return found


@pytest.mark.parametrize("records", [8, 10_000])
@pytest.mark.parametrize("name", TIED)
def test_group_risks_move_by_no_more_than_is_declared(name: str, records: int, asked: Asked) -> None:
    """In ℓ2, where a record comes or goes: 1. A model that scores in batches flips others, and so moves by more."""
    found, points = tied(name, records)
    rng = np.random.default_rng(3)
    labels, groups = rng.integers(0, 2, records), rng.integers(0, 3, records)

    def risks(kept: npt.NDArray[np.intp]) -> None:
        private_group_risks(
            found.predict(points[kept]),
            labels[kept],
            groups[kept],
            public_groups=(0, 1, 2),
            bound=1.0,
            loss="classes",
            epsilon=1.0,
            delta=1e-6,
            ledger=Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=AddRemoveOne()),
            random_state=0,
        )

    everybody = np.arange(records)
    for gone in leaving(records):
        asked.clear()
        risks(everybody)
        risks(np.delete(everybody, gone))
        (one, declared), (other, also) = asked
        assert declared == also == pytest.approx(1.0, rel=1e-11)
        assert 0.5 < np.linalg.norm(one - other) <= declared
