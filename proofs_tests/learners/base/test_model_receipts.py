"""A model carries receipts for the charges of its own fit, and for no others."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accountant import BudgetExceeded, Ledger
from accountant.entries.receipts import SigningKey
from learners.base.table_classifier import PrivateClassifier
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.surface import PinnedNoise, check_fitted_surface
from proofs_tests.support.learners.paid_models import (
    LEARNERS,
    Learner,
    X,
    Y,
    books,
    build,
    charged,
)


def numbers(model: Learner) -> list[int]:
    return [receipt.number for receipt in model.receipts_]


# --- which entries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_receipts_are_for_what_this_fit_was_charged(name: str) -> None:
    ledger = books(name)
    model = build(name, ledger=ledger)
    found: list[int] = []
    for _ in range(2):  # the second fit forgets the receipts of the first
        model.fit(X, Y)
        assert len(numbers(model)) >= 1
        assert not set(found) & set(numbers(model))
        found += numbers(model)
        for receipt in model.receipts_:
            assert receipt.differs(ledger.entries[receipt.number], ledger.id) == ()
            assert receipt.account == type(model).__name__
            assert not receipt.signed
    assert found == charged(ledger)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_on_books_of_its_own_has_none(name: str) -> None:
    assert build(name).fit(X, Y).receipts_ == ()


def test_a_fit_that_is_refused_leaves_the_receipts_of_the_last_one() -> None:
    ledger = books("lazy boost", 0.75)
    model = build("lazy boost", ledger=ledger).fit(X, Y)
    before = model.receipts_, model.statement_, model.parameters_
    with pytest.raises(BudgetExceeded):
        model.set_params(rounds=2).fit(X, Y)
    assert (model.receipts_, model.statement_, model.parameters_) == before


def test_books_that_fail_after_the_fit_leave_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model without its receipts, or with those of another, would claim what nobody can check."""
    ledger = books("lazy boost")
    model = build("lazy boost", ledger=ledger).fit(X, Y)
    before = model.model_, model.receipts_, model.statement_, model.parameters_

    def gone(*given: object, **named: object) -> None:
        raise OSError("the database went away")

    for name in ("receipt", "statement"):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, name, gone)
            with pytest.raises(OSError, match="went away"):
                model.set_params(rounds=2).fit(X, Y)
        assert (model.model_, model.receipts_, model.statement_, model.parameters_) == before
    assert len(charged(ledger)) == 3


def test_fits_in_threads_get_the_receipts_of_their_own_charges() -> None:
    ledger = books("lazy boost", 1000.0)
    epsilons = [0.1, 0.2, 0.3, 0.4] * 6

    def fit(epsilon: float) -> Learner:
        return build("lazy boost", epsilon=epsilon, delta=0.0, ledger=ledger).fit(X, Y)

    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(fit, epsilons))
    assert sorted(number for model in models for number in numbers(model)) == charged(ledger)
    for epsilon, model in zip(epsilons, models, strict=True):
        [receipt] = model.receipts_
        alone = build("lazy boost", epsilon=epsilon, delta=0.0, ledger=books("lazy boost")).fit(X, Y)
        assert receipt.cost == alone.receipts_[0].cost


def test_a_sub_budget_pays_and_its_path_is_in_the_receipt() -> None:
    ledger = books("lazy boost")
    team = ledger.allocate("team", 0.5)
    model = build("lazy boost", ledger=team).fit(X, Y)
    [receipt] = model.receipts_
    assert receipt.account == "team/LazyBoostClassifier"
    assert receipt.number in charged(ledger)


def test_a_ledger_with_a_key_signs() -> None:
    ledger, key = books("lazy boost"), SigningKey(Ed25519PrivateKey.generate())
    ledger.signing_key = key
    for receipt in build("lazy boost", ledger=ledger).fit(X, Y).receipts_:
        receipt.verify(key.public)


# --- in files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
def test_a_file_keeps_the_receipts(tmp_path: Path, signed: bool) -> None:
    ledger, place = books("lazy boost"), tmp_path / "model.json"
    ledger.signing_key = SigningKey(Ed25519PrivateKey.generate()) if signed else None
    model = build("lazy boost", ledger=ledger).fit(X, Y)
    model.save(place)
    loaded: Learner = PrivateClassifier.load(place)
    assert loaded.receipts_ == model.receipts_
    assert loaded.ledger is None
    assert [each["number"] for each in json.loads(place.read_text())["receipts"]] == charged(ledger)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == place.read_bytes()


def test_a_file_from_before_there_were_receipts_still_loads(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    model = build("lazy boost", ledger=books("lazy boost")).fit(X, Y)
    model.save(place)
    record = json.loads(place.read_text())
    del record["receipts"]
    place.write_text(json.dumps(record))
    old: Learner = PrivateClassifier.load(place)
    assert old.receipts_ == ()
    assert np.array_equal(old.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "receipts", [None, 7, "none", [7], [{}], [{"receipt": 1}], {"receipt": 1}], ids=lambda wrong: repr(wrong)
)
def test_a_file_with_something_else_for_receipts_is_refused(tmp_path: Path, receipts: object) -> None:
    place = tmp_path / "model.json"
    build("lazy boost").fit(X, Y).save(place)
    place.write_text(json.dumps({**json.loads(place.read_text()), "receipts": receipts}))
    with pytest.raises(ValueError, match=r"model\.json: "):
        PrivateClassifier.load(place)


def test_a_file_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    place.write_text("[" * 10**6)
    with pytest.raises(ValueError, match=r"model\.json: "):
        PrivateClassifier.load(place)


def test_saving_replaces_the_file_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "model.json"
    model = build("lazy boost").fit(X, Y)
    model.save(place)
    before = place.read_bytes()

    def full(*given: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        model.save(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


# --- what they give away -------------------------------------------------------------------------------------------


def test_receipts_say_nothing_about_the_records() -> None:
    """Fitted on distant samples of one size: only clocks, and the digests over them, may differ."""

    def fit(labels: tuple[int, ...], noise: PinnedNoise) -> Learner:
        return build("lazy boost", ledger=books("lazy boost"), random_state=noise).fit(X, np.array(labels))

    pair = Pair(tuple(Y.tolist()), tuple((1 - Y).tolist()))
    assert "receipts_" in check_fitted_surface(fit, [pair])
