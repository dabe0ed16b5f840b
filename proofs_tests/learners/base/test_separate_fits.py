"""Fits of one estimator, its clones and its copies, each on a ledger of its own, know of one another and say so."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from learners import (
    Bounds,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureRegressor,
    SeparateLedgersWarning,
)
from proofs_tests.support.learners.paid_models import LEARNERS, X, Y, books, build
from proofs_tests.support.ledgers.separate import ALONE, model, said, separate

# --- the case of the issue -----------------------------------------------------------------------------------------


def test_a_grid_search_warns_from_the_second_fit_on_and_its_best_estimator_is_one_of_seven() -> None:
    grid = {"weight_cap": [5.0, 10.0]}
    with pytest.warns(SeparateLedgersWarning) as warned:
        search = GridSearchCV(PrivateBoostClassifier(rounds_per_column=1), grid, cv=KFold(3)).fit(X, Y)
    texts = [str(each.message) for each in warned]
    assert len(texts) == 6
    for k, text in enumerate(texts, start=2):
        assert text.startswith(f"This is one of {k} fits of this estimator, its clones and its copies")
        assert f"are together ({k}, {k}e-06)-differentially private under add-remove-one" in text
        assert "share one ledger" in text
        assert "budget.split(k)" in text
    statement = search.best_estimator_.statement_
    assert said(statement) == (7, 7, False, "(7, 7e-06)-differentially private under add-remove-one")
    assert statement.guarantee.startswith("Everything released by this fit is together (1, 1e-06)-differentially")
    assert statement.private


def test_a_warning_is_raised_where_fit_was_called() -> None:
    fitted = model().fit(X, Y)
    with pytest.warns(SeparateLedgersWarning) as warned:
        fitted.fit(X, Y)
    assert [Path(each.filename).name for each in warned] == [Path(__file__).name]


# --- relatives -----------------------------------------------------------------------------------------------------


def test_one_fit_says_what_it_always_said() -> None:
    statement = model().fit(X, Y).statement_
    assert statement.guarantee == ALONE
    assert statement.fits is None
    assert list(statement.as_dict()) == [
        *("heading", "guarantee", "adjacency", "rule", "budget", "spent", "private", "opened", "rows", "plans"),
        *("claims", "unreleased", "head", "account"),
    ]


def test_a_refit_warns_and_counts() -> None:
    fitted = model().fit(X, Y)
    for k in (2, 3):
        with pytest.warns(SeparateLedgersWarning, match=f"one of {k} fits"):
            fitted.fit(X, Y)
        assert said(fitted.statement_) == (k, k, False, f"{k}-differentially private under replace-one")


Take = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("name", "take"), [*((name, clone) for name in LEARNERS), ("lazy boost", copy.copy), ("lazy boost", copy.deepcopy)]
)
def test_what_is_made_of_an_estimator_knows_of_its_fits_and_the_other_way_round(name: str, take: Take) -> None:
    first = build(name)
    before = take(first)
    first.fit(X, Y)
    with pytest.warns(SeparateLedgersWarning, match="one of 2 fits"):
        before.fit(X, Y)
    with pytest.warns(SeparateLedgersWarning, match="one of 3 fits"):
        take(take(first)).fit(X, Y)
    assert said(first.statement_)[:3] == (1, 3, False), "the first one's statement, read later, knows of the others"
    assert said(before.statement_)[:3] == (2, 3, False)


def test_estimators_that_were_made_anew_know_nothing_of_one_another() -> None:
    for _ in range(2):
        assert model().fit(X, Y).statement_.fits is None


@separate
def test_cross_validation_counts_also_within_pipelines() -> None:
    base = model()
    cross_val_score(make_pipeline(FunctionTransformer(), base), X, Y, cv=KFold(3))
    assert said(base.fit(X, Y).statement_) == (4, 4, False, "4-differentially private under replace-one")


@separate
def test_every_fit_counts_with_its_own_cost_and_sums_are_exact() -> None:
    base = model()
    for epsilon in (0.1, 0.2, 1.0, 0.25):
        fitted = clone(base).set_params(epsilon=epsilon).fit(X, Y)
    assert fitted.statement_.spent == "pure-dp epsilon 0.25"
    assert said(fitted.statement_)[3] == "1.55-differentially private under replace-one"


@separate
def test_epsilons_and_deltas_add_up() -> None:
    base = PrivateBoostClassifier(0.5, 1e-6, rounds_per_column=1, adjacency="replace-one").fit(X, Y)
    clone(base).set_params(epsilon=1.0, delta=1e-7).fit(X, Y)
    assert said(base.statement_)[3] == "(1.5, 1.1e-06)-differentially private under replace-one"


@separate
def test_fits_under_different_relations_are_not_added_up() -> None:
    base = PrivateBoostClassifier(rounds_per_column=1)
    for relation in ("add-remove-one", "add-remove-one", "replace-one"):
        fitted = clone(base).set_params(adjacency=relation).fit(X, Y)
    assert said(fitted.statement_)[3] == (
        "(5, 8.43657e-06)-differentially private under replace-one, where a fit under add-remove-one counts as two "
        "steps; under add-remove-one they promise nothing"
    )


@separate
def test_columns_of_a_relation_count() -> None:
    base = RadoRelease("feature", 1.0, number=4, sensitive=0, schema=Bounds(0, 1, bins=2))
    for column in (0, 1):
        fitted = clone(base).set_params(sensitive=column).fit(X, Y)
    together = said(fitted.statement_)[3]
    assert together.startswith("not private under any one relation")
    assert together.endswith("(feature-value (column 0); feature-value (column 1))")


def test_together_unbounded_is_not_private() -> None:
    base = RandomFeatureRegressor(1.0, 1e-6, label_bounds=(0, 1), schema=Bounds(0, 1), solver="published")
    base.fit(X, Y)
    with pytest.warns(SeparateLedgersWarning, match="together not private"):
        base.fit(X, Y)
    assert said(base.statement_) == (2, 2, False, "not private under replace-one")
    assert not base.statement_.promises


@separate
def test_deltas_that_add_up_to_one_promise_nothing() -> None:
    base = PrivateBoostClassifier(1.0, 0.4, rounds_per_column=1, adjacency="replace-one").fit(X, Y)
    base.fit(X, Y)
    assert said(base.statement_)[3] == "(2, 0.8)-differentially private under replace-one"
    base.fit(X, Y)
    assert said(base.statement_)[3] == "not private under replace-one"


@separate
def test_one_simulation_among_them_takes_the_promise_from_all_together() -> None:
    base = model().fit(X, Y)
    clone(base).set_params(random_state=0).fit(X, Y)
    assert base.statement_.private
    assert "they would, with secure noise, together be 2-differentially private" in base.statement_.guarantee


# --- what is not counted -------------------------------------------------------------------------------------------


def test_a_fit_that_is_refused_is_not_counted() -> None:
    base = model()
    for wrong in (lambda: base.fit(X, Y + 7), lambda: clone(base).set_params(epsilon=-1.0).fit(X, Y)):
        with pytest.raises(ValueError, match=r"label|epsilon"):
            wrong()
    assert base.fit(X, Y).statement_.guarantee == ALONE


def test_a_warning_that_is_an_error_refuses_the_fit_before_it_is_charged() -> None:
    """Then nothing was charged, and the statement of the first still says the truth."""
    base = model().fit(X, Y)
    for _ in range(2):
        with pytest.raises(SeparateLedgersWarning, match="one of 2 fits"):  # pytest is told to make errors of them
            base.fit(X, Y)
    assert base.statement_.guarantee == ALONE


def test_a_fit_that_fails_after_its_charge_counts() -> None:
    base = model()

    def stop(number: int, rule: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        base.fit(X, Y, on_round=stop)
    with pytest.warns(SeparateLedgersWarning, match="one of 2 fits"):
        base.fit(X, Y)
    assert said(base.statement_) == (2, 2, False, "2-differentially private under replace-one")


def test_fits_on_a_ledger_that_they_share_are_none_of_these() -> None:
    ledger = books("lazy boost")
    base = model(ledger=ledger)
    base.fit(X, Y)
    clone(base).fit(X, Y)
    assert base.statement_.fits is None
    assert base.fit(X, Y).statement_ == ledger.statement()


def test_a_model_on_a_shared_ledger_after_one_on_its_own_speaks_of_the_shared_one() -> None:
    ledger = books("lazy boost")
    base = model().fit(X, Y)
    assert base.set_params(ledger=ledger).fit(X, Y).statement_ == ledger.statement()
    base.set_params(ledger=None)
    with pytest.warns(SeparateLedgersWarning, match="one of 2 fits"):
        base.fit(X, Y)


def test_the_runs_of_a_private_choice_are_one_fit() -> None:
    tuned = build("private boost, tuned", random_state=None).fit(X, Y)
    assert tuned.statement_.fits is None
    assert tuned.statement_.guarantee.startswith("Everything released so far")


def test_what_protects_nothing_spends_nothing() -> None:
    holder = RadoRelease(None, number=4).fit(X, Y)
    assert holder.fit(X, Y).statement_.fits is None
    with_release = RadoBoostClassifier(rounds=2)
    assert with_release.fit_rados(holder).fit_rados(holder).statement_ == holder.statement_


@separate
def test_rados_that_were_released_twice_say_so_in_what_is_learnt_from_them() -> None:
    holder = RadoRelease("examples", number=4, schema=Bounds(0, 1)).fit(X, Y)
    holder.fit(X, Y)
    learnt = RadoBoostClassifier("examples", rounds=2).fit_rados(holder)
    assert learnt.statement_ == holder.statement_
    assert said(learnt.statement_)[:2] == (2, 2)


# --- threads -------------------------------------------------------------------------------------------------------


@separate
def test_threads_count_every_fit_once() -> None:
    base = model(0.1)
    with joblib.parallel_backend("threading", n_jobs=4):
        found = cross_validate(base, X, Y, cv=KFold(20), return_estimator=True)
    told = [said(each.statement_) for each in found["estimator"]]
    assert sorted(number for number, *_ in told) == list(range(1, 21))
    assert {each[1:] for each in told} == {(20, False, "2-differentially private under replace-one")}


def test_a_fit_warns_of_one_that_another_thread_has_not_ended() -> None:
    base = model()
    inner: list[str] = []

    def at_the_same_time(number: int, rule: object) -> None:
        if not inner:
            with pytest.warns(SeparateLedgersWarning) as warned:
                clone(base).fit(X, Y)
            inner.append(str(warned[0].message))

    base.fit(X, Y, on_round=at_the_same_time)
    assert inner[0].startswith("This is one of 2 fits")
    assert said(base.statement_)[1] == 2
