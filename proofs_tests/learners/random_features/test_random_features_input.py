"""Random feature estimators on bad settings and bad data: refused by name, before anything is charged."""

import math
from collections.abc import Mapping
from typing import ClassVar

import attrs
import numpy as np
import pytest

from accountant import ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne
from learners import (
    SGD,
    AdaSSP,
    Descent,
    MinNorm,
    Objective,
    Published,
    Ridge,
)
from learners.base.budget import FitBudget
from learners.base.fit_plan import FitPlan
from learners.random_features.feature_model import FittedCoefficients
from learners.random_features.feature_rows import FeatureRows
from learners.random_features.solvers import Task
from mechanisms import NoiseSource
from proofs_tests.support.learners.waves import EPSILON, PURE, regressor, waves


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label_bounds": None}, "label_bounds: regression needs public bounds"),
        ({"label_bounds": (1.0, 1.0)}, "label_bounds"),
        ({"label_bounds": (0.0, math.inf)}, "label_bounds"),
        ({"label_bounds": (math.nan, 1.0)}, "label_bounds"),
        ({"label_bounds": 3.0}, "label_bounds"),
        ({"label_bounds": (-1e308, 1e308)}, "label_bounds"),
        ({"solver": "svm"}, "solver: expected one of"),
        ({"solver": {"name": "sgd", "speed": 1}}, "no settings speed"),
        ({"solver": 3}, "solver"),
        ({"solver": "min-norm", "n_components": 10}, "at least as many features as records, got 20 for 30"),
        ({"solver": "published", "n_components": 10}, "at least as many"),
        ({"solver": "gamma", "distribution": "linear"}, "distribution: min-norm interpolation is for random features"),
        ({"solver": "adassp", "n_components": 2000}, "take at most 2048"),
        ({"solver": "descent", "schema": None}, "public bounds; give a schema"),
        ({"solver": "descent", "feature_map": "complex"}, "complex model is for min-norm"),
        ({"solver": Published(code=True)}, "feature_map='cosine'"),
        ({"delta": 0.0}, "delta: solver 'descent' takes Gaussian noise"),
        ({"solver": "published", "delta": 0.0}, "delta"),
        ({"distribution": "poisson"}, "distribution"),
        ({"feature_map": "real"}, "feature_map"),
        ({"n_components": 0}, "n_components"),
        ({"scale": -1.0}, "scale"),
        ({"scale": 1e300}, "scale: expected a number between"),
        ({"distribution": "linear", "scale": 1.0}, "scale: linear features"),
        ({"n_components": 2**18}, "n_components: expected at most"),
        ({"solver": Descent}, "solver: expected a name, or a solver"),
        ({"solver": Objective(), "delta": 0.0, "epsilon": 1e9}, "epsilon: .* too little noise"),
        ({"solver": "gamma", "delta": 0.0, "epsilon": 1e-30}, "epsilon: no noise"),
        ({"feature_seed": -1}, "feature_seed"),
        ({"solver": Objective(penalty=1e-6), "epsilon": 10.0}, "penalty: .* take at least"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_before_anything_is_charged(changes: Mapping[str, object], said: str) -> None:
    ledger = Ledger(ApproxDP(9.0, 0.1), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises((ValueError, TypeError), match=said):
        regressor(**{"ledger": ledger, **changes}).fit(*waves(30))  # type: ignore[arg-type]  # a table of settings
    assert ledger.spent == ApproxDP(0.0, 0.0)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: SGD(rate=3.0), "rate"),
        (lambda: SGD(rate=math.nan), "rate"),
        (lambda: Ridge(penalty=1e-9), "penalty"),
        (lambda: MinNorm(eta=0.5), "eta"),
        (lambda: MinNorm(eta=math.nan), "eta"),
        (lambda: MinNorm(route="qr"), "route"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Descent(rounds=0), "whole number"),
        (lambda: Descent(clip=0.0), "positive"),
        (lambda: Descent(clip=5e-324), "between 2.-100"),
        (lambda: Descent(standardise="no"), "True or False"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: AdaSSP(weight=-1.0), "positive"),
        (lambda: AdaSSP(weight=1e300), "between"),
        (lambda: SGD(rate=True), "rate"),
    ],
)
def test_bad_solvers_are_refused_at_birth(build: object, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        build()  # type: ignore[operator]  # a function


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[0.1, math.nan]] * 30, [0.0] * 30, "not a number"),
        ([[0.1, 0.2]] * 30, [0.0] * 29, "X has 30 records, y has 29"),
        ([[0.1, 0.2]] * 30, [0.0] * 29 + [math.nan], "NaN"),
        ([[0.1, 0.2]] * 30, ["a"] * 30, "y, row 0: 'a' is not a number; Unknown label type"),
        ([[0.1, 0.2]] * 30, None, "requires y"),
        ([], [], "shape|0 feature"),
    ],
)
def test_bad_data_are_refused_before_anything_is_charged(X: object, y: object, said: str) -> None:
    ledger = Ledger(ApproxDP(9.0, 0.1), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises((ValueError, TypeError), match=said):
        regressor(ledger=ledger).fit(X, y)  # type: ignore[arg-type]  # wrong on purpose
    assert ledger.spent == ApproxDP(0.0, 0.0)


@attrs.frozen
class Constant:
    """A solver of somebody's own: predicts one public number."""

    name: ClassVar[str] = "constant"
    level: float = 0.25

    @property
    def pure(self) -> bool:
        return True

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        found = FittedCoefficients(task.plain, np.zeros(task.plain.map.width), self.level)
        return FitPlan(Plan.of(PureDP(0.0)), ReplaceOne(), None, lambda charge, data, on_round: found)


def test_a_solver_of_your_own_fits() -> None:
    model = regressor(Constant(), delta=0.0).fit(*waves(30))
    assert model.predict([[0.0, 0.0]]).tolist() == [0.25]
    assert model.parameters_["solver"] == {"name": "constant", "level": 0.25}


@pytest.mark.parametrize("penalty", [1e-5, 1e-4, 1e-3, None])
def test_objective_perturbation_is_certified_or_refused_before_the_charge(penalty: float | None) -> None:
    """Never in between, where whether it fails would depend on the data."""
    for epsilon in (0.1, 10.0, 1000.0):
        for seed in range(4):
            ledger = Ledger(PureDP(1e4), composition=BasicComposition(), adjacency=ReplaceOne())
            model = regressor(
                Objective(penalty=penalty),
                epsilon=epsilon,
                delta=0.0,
                n_components=30,
                random_state=seed,
                ledger=ledger,
            )
            refusal = ""
            try:
                model.fit(*waves(60, seed))
            except ValueError as error:
                refusal = str(error)
            assert not refusal or "penalty" in refusal or "regularization" in refusal
            assert (ledger.spent == PureDP(0.0)) == bool(refusal)


def test_gamma_noise_is_charged_as_pure_privacy_with_any_delta() -> None:
    for solver in PURE:
        ledger = Ledger(PureDP(2.0), composition=BasicComposition(), adjacency=ReplaceOne())
        regressor(solver, ledger=ledger).fit(*waves(30))
        assert isinstance(ledger.spent, PureDP)
        assert 0.999 * EPSILON <= ledger.spent.epsilon <= EPSILON


def test_numbers_without_bounds_are_taken_where_nothing_needs_them() -> None:
    """Features are bounded whatever the inputs are."""
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((40, 2)) * 1e200
    model = regressor("adassp", schema=None, n_components=5).fit(X, rng.uniform(-1, 1, 40))
    assert np.all(np.isfinite(model.predict(X)))


def test_columns_of_another_table_are_refused() -> None:
    model = regressor(schema=None, solver="adassp").fit({"a": [0.1] * 30, "b": [0.2] * 30}, [0.1] * 30)
    with pytest.raises(ValueError, match="feature names"):
        model.predict({"a": [0.1], "c": [0.2]})
