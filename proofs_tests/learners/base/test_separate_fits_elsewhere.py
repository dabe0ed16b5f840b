"""Fits with ledgers of their own in other processes, and of models that were saved: counted, or said not to be."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from accountant import Statement
from learners import LazyBoostClassifier, SeparateLedgersWarning
from proofs_tests.support.learners.paid_models import X, Y
from proofs_tests.support.ledgers.separate import ALONE, model, said, separate

# --- processes -----------------------------------------------------------------------------------------------------

ELSEWHERE = """
import pickle, sys, warnings
from proofs_tests.support.learners.paid_models import X, Y
came = pickle.load(sys.stdin.buffer)
before = came.statement_.guarantee if hasattr(came, "model_") else ""
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    came.fit(X, Y)
pickle.dump((before, [str(each.message) for each in warned], came), sys.stdout.buffer)
"""


def fitted_elsewhere(estimator: LazyBoostClassifier) -> tuple[str, list[str], LazyBoostClassifier]:
    """What it said before, the warnings of a fit in another process, and what comes back."""
    run = subprocess.run([sys.executable, "-c", ELSEWHERE], input=pickle.dumps(estimator), capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    found: tuple[str, list[str], LazyBoostClassifier] = pickle.loads(run.stdout)  # noqa: S301 -- our own bytes
    return found


def test_what_was_fitted_elsewhere_warns_from_the_first_fit_on_and_comes_home() -> None:
    base = model()
    _, warned, back = fitted_elsewhere(base)
    assert len(warned) == 1
    assert warned[0].startswith("This estimator was pickled or saved, so that there may be further fits")
    assert said(back.statement_) == (1, 1, True, "1-differentially private under replace-one")
    with pytest.warns(SeparateLedgersWarning, match=r"one of 2 fits .* This estimator was pickled or saved"):
        base.fit(X, Y)
    assert said(base.statement_) == (2, 2, True, "2-differentially private under replace-one")
    assert said(back.statement_)[:3] == (1, 2, True)


def test_a_fitted_estimator_takes_along_what_is_known() -> None:
    base = model().fit(X, Y)
    before, warned, back = fitted_elsewhere(base)
    assert before == ALONE, "a model that only predicts there is no further fit"
    assert "one of 2 fits" in warned[0]
    assert "This estimator was pickled or saved" in warned[0]
    assert said(back.statement_)[:2] == (2, 2)
    assert said(base.statement_)[:2] == (1, 2), "what came back has told"


def test_pickles_that_stay_here_are_of_the_family() -> None:
    base = model().fit(X, Y)
    other = pickle.loads(pickle.dumps(base))  # noqa: S301 -- our own bytes
    with pytest.warns(SeparateLedgersWarning, match="one of 2 fits"):
        other.fit(X, Y)
    assert said(base.statement_)[:3] == (1, 2, False)


@separate
def test_a_search_in_processes_does_not_know_them_all_and_says_so() -> None:
    search = GridSearchCV(model(), {"epsilon": [0.5, 1.0]}, cv=KFold(2), n_jobs=2).fit(X, Y)
    number, known, elsewhere, _ = said(search.best_estimator_.statement_)
    assert (number, known, elsewhere) == (1, 1, True)
    assert "at least 1 " in search.best_estimator_.statement_.guarantee
    assert (
        "others, made in other processes or before it was saved, are not counted"
        in search.best_estimator_.statement_.guarantee
    )


@separate
def test_estimators_that_come_back_from_processes_are_all_known() -> None:
    found = cross_validate(model(), X, Y, cv=KFold(4), n_jobs=2, return_estimator=True)
    assert {said(each.statement_)[1:] for each in found["estimator"]} == {
        (4, True, "4-differentially private under replace-one")
    }


def test_a_forked_process_does_not_count_what_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    base = model()
    base._kin  # noqa: B018 -- made before the fork
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    with pytest.warns(SeparateLedgersWarning, match="was pickled or saved"):
        base.fit(X, Y)
    assert said(base.statement_)[:3] == (1, 1, True)


# --- files ---------------------------------------------------------------------------------------------------------


@separate
def test_a_file_says_what_was_known_when_it_was_saved(tmp_path: Path) -> None:
    base = model().fit(X, Y)
    base.save(tmp_path / "first.json")
    twin = clone(base).fit(X, Y)
    twin.save(tmp_path / "second.json")
    base.fit(X, Y)
    first, second = (LazyBoostClassifier.load(tmp_path / f"{name}.json") for name in ("first", "second"))
    assert first.statement_.guarantee == ALONE
    assert "fits" not in json.loads((tmp_path / "first.json").read_text())["statement"]
    assert said(second.statement_) == (2, 2, False, "2-differentially private under replace-one")
    assert Statement.from_dict(second.statement_.as_dict()) == second.statement_
    assert said(twin.statement_)[:2] == (2, 3)
    second.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "second.json").read_text()


def test_a_fit_of_what_was_loaded_does_not_call_itself_the_only_one(tmp_path: Path) -> None:
    model().fit(X, Y).save(tmp_path / "model.json")
    loaded = LazyBoostClassifier.load(tmp_path / "model.json")
    with pytest.warns(SeparateLedgersWarning):
        loaded.fit(X, Y)
    assert said(loaded.statement_)[:3] == (1, 1, True)


@pytest.mark.parametrize(
    "wrong", [{"number": 0}, {"number": 3}, {"known": True}, {"number": "1"}, {"together": None, "known": None}]
)
@separate
def test_a_file_that_counts_wrongly_is_refused(wrong: dict[str, object]) -> None:
    base = model().fit(X, Y)
    record = base.fit(X, Y).statement_.as_dict()
    record["fits"] = {**json.loads(json.dumps(record["fits"])), **wrong}
    with pytest.raises((ValueError, TypeError), match=r"whole number|not so many"):
        Statement.from_dict(record)
