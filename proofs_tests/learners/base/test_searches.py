"""What a user of scikit-learn's searches hears by default: of fits that were refused, and of stratified folds."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    cross_val_predict,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from accountant import AddRemoveOne, BasicComposition, Ledger, PureDP, ReplaceOne
from learners import Bounds, LazyBoostClassifier, PrivateBoostClassifier, PrivateBoostRegressor, StratifiedSplitWarning
from learners.base.searches import raise_refused_fits
from proofs_tests.support.learners.paid_models import X, Y
from proofs_tests.support.ledgers.separate import separate

ROOT: Final = Path(__file__).parents[3]

DEFAULTS = """
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from accountant import BasicComposition, Ledger, PureDP, ReplaceOne
from learners import LazyBoostClassifier
import numpy as np
X = np.random.default_rng(0).integers(0, 2, (60, 3))
def fitted(epsilon):
    ledger = Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())
    return LazyBoostClassifier(0.5, rounds=2, ledger=ledger)
for run in (
    lambda: GridSearchCV(fitted(1.25), {"epsilon": [0.5, 0.25]}, cv=KFold(2)).fit(X, X[:, 0]),
    lambda: cross_validate(fitted(1.25), X, X[:, 0], cv=KFold(4)),
):
    try:
        run()
    except Exception as error:
        print(type(error).__name__, "BudgetExceeded" in str(error), "split(k)" in str(error))
    else:
        print("went through")
"""


def test_a_ledger_that_runs_out_raises_by_default() -> None:
    """In a process without pytest, whose filters make errors of all warnings."""
    told = subprocess.run([sys.executable, "-c", DEFAULTS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["FitFailedWarning True True"] * 2


def ledger(epsilon: float, relation: AddRemoveOne | ReplaceOne) -> Ledger:
    return Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=relation)


def rules(epsilon: float = 10.0) -> LazyBoostClassifier:
    return LazyBoostClassifier(0.5, rounds=2, random_state=0, ledger=ledger(epsilon, ReplaceOne()))


def test_scores_of_nan_are_there_for_who_asks() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.resetwarnings()
        raise_refused_fits()
        with pytest.raises(FitFailedWarning, match="BudgetExceeded"):
            cross_validate(rules(1.25), X, Y, cv=KFold(4))
        warnings.filterwarnings("always", category=FitFailedWarning)
        scores = cross_validate(rules(1.25), X, Y, cv=KFold(4))["test_score"]
    assert np.isnan(scores).tolist() == [False, False, True, True]
    assert [each.category for each in said] == [FitFailedWarning]


def test_fits_that_fail_for_other_reasons_are_scikit_learns_business() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.resetwarnings()
        raise_refused_fits()
        search = GridSearchCV(rules(), {"rounds": [2, -1]}, cv=KFold(2))
        search.fit(X, Y)
    assert FitFailedWarning in {each.category for each in said}


STRATIFIED: Final = {
    "a search": lambda learner: GridSearchCV(learner, {"rounds": [2]}, cv=2, error_score="raise").fit(X, Y),
    "a cross-validation": lambda learner: cross_validate(learner, X, Y, cv=2, error_score="raise"),
    "in a pipeline": lambda learner: cross_validate(
        make_pipeline(FunctionTransformer(), learner), X, Y, cv=RepeatedStratifiedKFold(n_splits=2), error_score="raise"
    ),
    "predictions": lambda learner: cross_val_predict(learner, X, Y, cv=2),
    "a learning curve": lambda learner: learning_curve(learner, X, Y, cv=2, train_sizes=[0.5], error_score="raise"),
    "a calibration": lambda learner: CalibratedClassifierCV(learner, cv=2).fit(X, Y),
}


@pytest.mark.parametrize("how", STRATIFIED)
def test_stratified_folds_are_warned_of(how: str) -> None:
    with pytest.warns(StratifiedSplitWarning, match=r"Stratified\w+ splits by the labels of all records.*KFold\(k"):
        STRATIFIED[how](rules())


def test_other_folds_are_not() -> None:
    GridSearchCV(rules(), {"rounds": [2]}, cv=KFold(2), error_score="raise").fit(X, Y)
    rules().fit(X, Y)


# --- metadata routing ------------------------------------------------------------------------------------------------


@pytest.fixture
def _routed() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@separate
@pytest.mark.usefixtures("_routed")
@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_weights_are_routed_to_fits_that_ask_for_them(kind: str) -> None:
    given: dict[str, Any] = {"weight_cap": 2.0, "schema": Bounds(0, 1, bins=2), "random_state": 0}
    learner = (
        PrivateBoostClassifier(20.0, 1e-6, rounds_per_column=1, **given)
        if kind == "classifier"
        else PrivateBoostRegressor(20.0, 1e-6, label_bounds=(0, 1), interactions=(), **given)
    )
    weights = np.where(np.arange(len(Y)) % 2, 2.0, 0.0)
    learner.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(make_pipeline(FunctionTransformer(), learner), {}, cv=KFold(2), error_score="raise")
    search.fit(X, Y, sample_weight=weights)
    twin = sklearn.base.clone(learner).fit(X, Y, sample_weight=weights)
    assert np.array_equal(search.best_estimator_.predict(X), twin.predict(X))


@separate
def test_predictions_and_features_keep_their_names_in_frames() -> None:
    """`set_output` is for transformers, and no learner of ours is one; in a pipeline it reaches those before."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    pipeline = make_pipeline(FunctionTransformer(), PrivateBoostClassifier(5.0, rounds_per_column=1, random_state=0))
    pipeline.set_output(transform="pandas").fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
