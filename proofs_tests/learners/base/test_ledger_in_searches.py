"""Cross-validation and searches on one ledger: k fits are charged k times, or refused with words that help.

On books in memory and in SQLite; in one thread, in two, and in two processes, which only a URL reaches.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from accountant import (
    BasicComposition,
    BudgetExceeded,
    Ledger,
    LedgerCopyRefused,
    LedgerMismatch,
    PureDP,
    ReplaceOne,
)
from accountant.entries.codec import decode
from accountant.entries.entry_kinds import Charged
from learners import LazyBoostClassifier
from mechanisms import SeededNoise
from proofs_tests.support.learners.paid_models import X, Y, charged
from proofs_tests.support.ledgers.separate import separate

Opens: TypeAlias = Callable[[float], Ledger]

FOLDS = KFold(4)


def in_memory(epsilon: float) -> Ledger:
    return Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())


def in_sqlite(url: str, epsilon: float) -> Ledger:
    return Ledger.open(url, PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())


@pytest.fixture(params=["in memory", "in sqlite"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    """Opens ledgers of a given ε."""
    made: list[Ledger] = []

    def durable(epsilon: float) -> Ledger:
        made.append(in_sqlite(f"sqlite:///{tmp_path}/{len(made)}.db", epsilon))
        return made[-1]

    yield durable if request.param == "in sqlite" else in_memory
    for ledger in made:
        ledger.close()


def model(ledger: Ledger | str | None, epsilon: float = 0.5) -> LazyBoostClassifier:
    learner = LazyBoostClassifier(epsilon, rounds=2, random_state=SeededNoise(0))  # on durable books, too
    learner.set_params(ledger=ledger)
    return learner


def costs(ledger: Ledger) -> list[float]:
    """What each charge added up to, in order."""
    records = (decode(entry) for entry in ledger.entries)
    return [float(record.amount(ledger.composition).loss) for record in records if isinstance(record, Charged)]


# --- every fit is charged ------------------------------------------------------------------------------------------


def test_a_cross_validation_is_charged_for_each_fold(opens: Opens) -> None:
    ledger = opens(10.0)
    scores = cross_val_score(model(ledger), X, Y, cv=FOLDS)
    assert np.isfinite(scores).all()
    assert costs(ledger) == pytest.approx([0.5] * 4, rel=1e-9)
    assert ledger.verify().errors == ()
    assert ledger.statement().unreleased == 0


def test_a_grid_search_in_a_pipeline_is_charged_for_each_fold_and_setting_and_for_the_refit(opens: Opens) -> None:
    ledger = opens(10.0)
    pipeline = make_pipeline(FunctionTransformer(), model(ledger))
    search = GridSearchCV(pipeline, {"lazyboostclassifier__epsilon": [0.25, 0.5]}, cv=KFold(2)).fit(X, Y)
    best = search.best_estimator_[-1]
    assert costs(ledger) == pytest.approx([0.25, 0.25, 0.5, 0.5, best.epsilon], rel=1e-9)
    assert [receipt.number for receipt in best.receipts_] == charged(ledger)[-1:]
    assert best.ledger is ledger
    assert ledger.verify().errors == ()


def test_the_kth_part_of_a_budget_pays_for_k_fits_and_no_more(opens: Opens) -> None:
    """What the advice says."""
    ledger = opens(1.0)
    part = PureDP(1.0).split(5)
    grid = {"selection": ["exponential", "permute-and-flip"]}
    GridSearchCV(model(ledger, part.epsilon), grid, cv=KFold(2), error_score="raise").fit(X, Y)
    assert len(charged(ledger)) == 5
    with pytest.raises(BudgetExceeded):
        model(ledger, part.epsilon).fit(X, Y)
    assert len(charged(ledger)) == 5


def test_threads_are_charged_for_each_fit_once(opens: Opens) -> None:
    ledger = opens(10.0)
    with joblib.parallel_backend("threading", n_jobs=2):
        found = cross_validate(model(ledger), X, Y, cv=KFold(6), return_estimator=True)
    assert len(charged(ledger)) == 6
    assert sorted(each.number for fitted in found["estimator"] for each in fitted.receipts_) == charged(ledger)
    GridSearchCV(model(ledger), {"epsilon": [0.25, 0.5]}, cv=KFold(2), n_jobs=1).fit(X, Y)
    assert len(charged(ledger)) == 11
    assert ledger.verify().errors == ()


def test_joblib_alone_charges_threads_too(opens: Opens) -> None:
    ledger = opens(10.0)
    jobs = (joblib.delayed(clone(model(ledger)).fit)(X, Y) for _ in range(6))
    fitted = joblib.Parallel(n_jobs=2, backend="threading")(jobs)
    assert sorted(each.number for one in fitted for each in one.receipts_) == charged(ledger)
    assert len(charged(ledger)) == 6


# --- what the budget does not pay for ------------------------------------------------------------------------------


def helps(text: str) -> bool:
    """Whether a refusal has the numbers in it, and says what to do."""
    return "requested Σε 0.5, only Σε" in text and "Each fit on a ledger is charged" in text and "split(k)" in text


def test_where_some_fits_are_refused_scikit_learn_warns_with_our_words(opens: Opens) -> None:
    ledger = opens(1.25)
    with pytest.warns(FitFailedWarning) as warned:
        scores = cross_val_score(model(ledger), X, Y, cv=FOLDS)
    assert helps(str(warned[0].message))
    assert np.isnan(scores).tolist() == [False, False, True, True]
    assert costs(ledger) == pytest.approx([0.5, 0.5], rel=1e-9)


def test_error_score_raise_stops_at_the_first_fit_that_is_refused(opens: Opens) -> None:
    ledger = opens(1.25)
    with pytest.raises(BudgetExceeded) as refused:
        cross_val_score(model(ledger), X, Y, cv=FOLDS, error_score="raise")
    assert helps("\n".join([str(refused.value), *refused.value.__notes__]))
    assert len(charged(ledger)) == 2


def test_where_every_fit_is_refused_nothing_is_charged(opens: Opens) -> None:
    ledger = opens(0.25)
    with pytest.raises(ValueError, match="All the 4 fits failed") as refused:
        cross_val_score(model(ledger), X, Y, cv=FOLDS)
    assert helps(str(refused.value))
    assert [entry.kind for entry in ledger.entries] == ["opened"]


def test_a_search_that_leaves_nothing_for_its_refit_says_that_the_refit_counts(opens: Opens) -> None:
    ledger = opens(2.25)
    with pytest.raises(BudgetExceeded) as refused:
        GridSearchCV(model(ledger), {"selection": ["exponential", "permute-and-flip"]}, cv=KFold(2)).fit(X, Y)
    assert "one for the refit" in "".join(refused.value.__notes__)
    assert len(charged(ledger)) == 4


@separate
def test_a_ledger_of_its_own_never_runs_out_and_gets_no_advice() -> None:
    assert np.isfinite(cross_val_score(model(None, 0.01), X, Y, cv=FOLDS)).all()


# --- processes -----------------------------------------------------------------------------------------------------

REMEDIES = r"Nothing was charged\. Use n_jobs=1 or joblib\.parallel_backend\('threading'\), or give the URL"


def test_processes_are_refused_with_a_message_that_reaches_the_user(tmp_path: Path) -> None:
    """As the last line of the traceback, and not behind a PicklingError that says nothing."""
    with in_sqlite(f"sqlite:///{tmp_path}/study.db", 10.0) as durable:
        for ledger in (in_memory(10.0), durable):
            with pytest.raises(ValueError, match=REMEDIES):
                cross_val_score(model(ledger), X, Y, cv=FOLDS, n_jobs=2)
            with pytest.raises(ValueError, match=REMEDIES):
                GridSearchCV(model(ledger), {"epsilon": [0.25, 0.5]}, cv=KFold(2), n_jobs=2).fit(X, Y)
            assert [entry.kind for entry in ledger.entries] == ["opened"]


def test_processes_that_open_the_books_by_their_url_are_charged_for_each_fit(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with in_sqlite(url, 10.0) as ledger:
        found = cross_validate(model(url), X, Y, cv=KFold(6), n_jobs=2, return_estimator=True)
        assert len(charged(ledger)) == 6
        assert sorted(each.number for fitted in found["estimator"] for each in fitted.receipts_) == charged(ledger)
        search = GridSearchCV(model(url), {"epsilon": [0.25, 0.5]}, cv=KFold(2), n_jobs=2).fit(X, Y)
        assert len(charged(ledger)) == 11
        assert [receipt.number for receipt in search.best_estimator_.receipts_] == charged(ledger)[-1:]
        assert ledger.verify().errors == ()


def test_processes_share_what_is_left_and_no_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with in_sqlite(url, 1.25) as ledger:
        with pytest.warns(FitFailedWarning) as warned:
            scores = cross_val_score(model(url), X, Y, cv=KFold(6), n_jobs=2)
        assert helps(str(warned[0].message))
        assert np.isnan(scores).sum() == 4
        assert costs(ledger) == pytest.approx([0.5, 0.5], rel=1e-9)


def test_processes_are_refused_by_type_where_errors_are_raised() -> None:
    """The last of these: joblib ends its processes at an error, and new ones take seconds to start."""
    ledger = in_memory(10.0)
    with pytest.raises(LedgerCopyRefused, match=REMEDIES):
        cross_val_score(model(ledger), X, Y, cv=FOLDS, n_jobs=2, error_score="raise")
    assert [entry.kind for entry in ledger.entries] == ["opened"]


# --- books by their URL --------------------------------------------------------------------------------------------


def test_a_fit_by_url_leaves_a_ledger_that_can_be_read(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    in_sqlite(url, 1.25).close()
    fitted = model(url).fit(X, Y)
    assert costs(fitted.ledger_) == pytest.approx([0.5], rel=1e-9)
    assert fitted.statement_ == fitted.ledger_.statement()
    assert [receipt.number for receipt in fitted.receipts_] == charged(fitted.ledger_)
    assert clone(fitted).ledger == url
    fitted.ledger_.close()


def test_a_fit_by_url_lets_go_of_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was paid for or refused."""
    url, closed = f"sqlite:///{tmp_path}/study.db", list[Ledger]()
    in_sqlite(url, 0.75).close()
    close = Ledger.close

    def counted(ledger: Ledger) -> None:
        closed.append(ledger)
        close(ledger)

    monkeypatch.setattr(Ledger, "close", counted)
    fitted = model(url).fit(X, Y)
    assert closed == [fitted.ledger_]
    with pytest.raises(BudgetExceeded):
        model(url).fit(X, Y)
    assert len(closed) == 2
    with in_sqlite(url, 0.75) as shared:
        model(shared).set_params(epsilon=0.25).fit(X, Y)
        assert len(closed) == 2, "a ledger that somebody else opened stays open"


def test_there_must_be_a_ledger_at_the_url(tmp_path: Path) -> None:
    with pytest.raises(LedgerMismatch, match="there is no ledger"):
        model(f"sqlite:///{tmp_path}/none.db").fit(X, Y)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="ledger: expected a Ledger or the URL of one, got str"):
        model("study.db").fit(X, Y)


# --- copies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "take",
    [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy],  # noqa: S301 -- our own bytes
    ids=["pickle", "copy", "deepcopy"],
)
def test_a_copy_predicts_but_cannot_fit_until_it_is_given_a_ledger(
    opens: Opens, take: Callable[[LazyBoostClassifier], LazyBoostClassifier]
) -> None:
    """It must not open a ledger of its own, which would make its fits free of charge."""
    ledger = opens(10.0)
    fitted = model(ledger).fit(X, Y)
    other = take(fitted)
    assert np.array_equal(other.predict(X), fitted.predict(X))
    assert other.receipts_ == fitted.receipts_
    assert not hasattr(other, "ledger_")
    for one in (other, clone(other), take(other)):
        with pytest.raises(LedgerCopyRefused, match=REMEDIES):
            one.fit(X, Y)
    assert len(charged(ledger)) == 1
    other.set_params(ledger=ledger).fit(X, Y)
    assert len(charged(ledger)) == 2
