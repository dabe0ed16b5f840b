"""Fits on a ledger that has sub-budgets: none of them draws on the rest of it unless somebody said so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.base import clone

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne, UnknownLabel
from learners import LazyBoostClassifier
from proofs_tests.support.learners.paid_models import LEARNERS, X, Y, books, build


def accounts(ledger: Ledger) -> set[str]:
    return {str(entry.record["account"]).partition("/")[0] for entry in ledger.entries if entry.kind == "charged"}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_must_be_told_who_pays(name: str) -> None:
    ledger = books(name)
    ledger.allocate("team-a", 0.25)
    learner = build(name, ledger=ledger)
    before = len(ledger.entries)
    with pytest.raises(UnknownLabel, match=rf"'{type(learner).__name__}': this ledger has sub-budgets.* team-a\."):
        learner.fit(X, Y)
    assert len(ledger.entries) == before
    assert not hasattr(learner, "model_")
    ways: dict[str, Callable[[], Ledger]] = {
        "team-a": lambda: ledger.sub_budget("team-a"),
        "main": lambda: ledger.labelled("main"),
        "pilot": lambda: ledger.announce("pilot"),
    }
    for paid, way in ways.items():
        mark = len(ledger.entries)
        clone(learner).set_params(ledger=way()).fit(X, Y)
        new = [entry.record for entry in ledger.entries[mark:] if entry.kind == "charged"]
        assert new
        assert {str(record["account"]).partition("/")[0] for record in new} == {paid}
    assert ledger.verify().sound
    assert not any("named neither" in note for note in ledger.verify().notes)


def test_without_sub_budgets_a_fit_says_its_class_as_before() -> None:
    ledger = books("lazy boost")
    build("lazy boost", ledger=ledger).fit(X, Y)
    assert accounts(ledger) == {"LazyBoostClassifier"}


def test_by_url_a_label_that_was_announced_pays(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Ledger.open(url, PureDP(2.0), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        ledger.allocate("team-a", 0.25)
        learner = LazyBoostClassifier(0.5, rounds=2, ledger=url)
        with pytest.raises(UnknownLabel, match="exchequer ledger label"):
            learner.fit(X, Y)
        assert accounts(ledger) == set()
        ledger.announce("LazyBoostClassifier")
        learner.fit(X, Y)
        assert accounts(ledger) == {"LazyBoostClassifier"}
