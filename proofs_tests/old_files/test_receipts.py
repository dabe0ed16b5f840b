"""Receipts, and models that a durable ledger paid for: read, verified against the ledger, written again."""

import contextlib
from pathlib import Path
from typing import Final

import pytest

from proofs_tests.old_files import readouts, write
from proofs_tests.old_files.cases import CHARGED, PURSES
from proofs_tests.old_files.doors import Ledger, PublicKey, Receipt
from proofs_tests.old_files.frozen import (
    LATER,
    REFUSED,
    assert_same,
    kept,
    kept_json,
    names_in,
    newest_json,
)
from proofs_tests.support.ledgers.durable import quick_folder

__all__ = ["quick_folder"]

MODELS: Final = [
    (purse, name)
    for first in PURSES
    for purse in (first, *(f"{each}/{first}" for each in LATER))
    for name in names_in(purse, ".json")
]


@pytest.fixture
def books(quick_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledgers that paid, and the public key of who signed, in an empty folder that is the current one."""
    monkeypatch.chdir(quick_folder)
    for purse in {purse for purse, _ in MODELS}:
        folder = Path(purse).parent
        folder.mkdir(exist_ok=True)
        Path(f"{purse}.db").write_bytes(kept(f"{purse}/{Path(purse).name}.db"))
        (folder / "key.pub").write_bytes(kept("paid/key.pub"))


# --- receipts ------------------------------------------------------------------------------------------------------


def test_receipts_say_what_they_said_and_their_signatures_hold() -> None:
    for text, record in kept_json("receipts")["receipts"]:
        receipt = Receipt.from_dict(record)
        assert [str(receipt), receipt.as_dict()] == [text, record]
        receipt.verify(readouts.public_key())


def test_the_same_entries_get_the_same_receipts_and_signatures(books: None) -> None:
    Path("basic.db").write_bytes(kept("ledgers/basic.db"))
    with Ledger.open("sqlite:///basic.db", signing_key=readouts.signing_key()) as ledger:
        assert readouts.of_receipts(ledger) == kept_json("receipts")["receipts"]


def test_the_public_key_is_read_as_it_was(books: None) -> None:
    assert PublicKey.load("key.pub") == readouts.public_key() == readouts.signing_key().public
    readouts.public_key().save("again.pub")
    assert Path("again.pub").read_bytes() == kept("paid/key.pub")


# --- models that were paid for -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("purse", "name"), MODELS)
def test_a_model_is_verified_against_the_ledger_as_it_was(purse: str, name: str, books: None) -> None:
    with contextlib.chdir(Path(purse).parent):
        Path(f"{name}.json").write_bytes(kept(f"{purse}/{name}.json"))
        found = write.verified(f"{name}.json", Path(purse).name)
    assert_same(found, kept_json(f"{purse}.said")[name])
    assert found["signed"] != {"code": REFUSED}


@pytest.mark.parametrize(("purse", "name"), MODELS)
def test_a_model_keeps_its_receipts(purse: str, name: str, books: None) -> None:
    Path("model.json").write_bytes(kept(f"{purse}/{name}.json"))
    model = readouts.loaded(Path("model.json"))
    assert model.receipts_
    for each in model.receipts_:
        each.verify(readouts.public_key())
    model.save("again.json")
    assert Path("again.json").read_bytes() == kept(f"{purse}/{name}.json")


@pytest.mark.parametrize("purse", PURSES)
def test_the_same_fits_write_the_same_models_receipts_and_ledger(purse: str, books: None) -> None:
    assert readouts.exported(f"{purse}.db") == kept_json(f"{purse}.said")["export"]
    export = newest_json(f"{purse}.said")["export"]
    Path("new").mkdir()
    write.paid_models(purse, Path("new"))
    assert_same(readouts.exported(f"new/{purse}.db"), export, 1e-9, digests=False)


def test_what_is_learnt_from_old_rados_is_what_it_was(books: None) -> None:
    write.people_files()
    Path("rados.json").write_bytes(kept("paid/rados.json"))
    assert_same(write.learnt_from_rados(), kept_json("paid.said")["from rados"], 1e-9)


@pytest.mark.parametrize("rule", write.RULES)
def test_the_same_fits_charge_the_same_under_every_rule(rule: str) -> None:
    found = {name: write.charged(name, rule) for name in CHARGED}
    assert_same(found, {**kept_json("charges")[rule], **newest_json("charges")[rule]}, 1e-9)


def test_every_paid_model_is_there() -> None:
    assert {(purse, name) for purse, what in PURSES.items() for name in what.cases} <= set(MODELS)
    for rule, paid_for in kept_json("charges").items():
        assert sum(map(bool, paid_for.values())) >= 10, rule
