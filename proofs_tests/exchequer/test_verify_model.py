"""Whether a saved model's claim is what the ledger says: sound ones pass, and every way to claim less is found."""

import io
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    AdvancedComposition,
    BasicComposition,
    BudgetExceeded,
    Composition,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant import ZCDPComposition as ZCDP
from accountant.audit.model_claims import ALONE, content_digest, read_model_claim
from accountant.audit.saved_models import ModelComparison, compare_model
from accountant.canonical_json import canonical
from accountant.entries.chain import GENESIS, digest_of
from accountant.entries.export import read_export, write_export
from accountant.entries.receipts import Receipt, SigningKey
from learners.base.private_estimator import PrivateEstimator
from mechanisms import SeededNoise
from proofs_tests.support.learners.paid_models import LEARNERS, X, Y, books, build
from proofs_tests.support.ledgers.doubles import RandomizedResponse

File = dict[str, Any]
KEY, OTHER = SigningKey(Ed25519PrivateKey.generate()), SigningKey(Ed25519PrivateKey.generate())


def saved(ledger: Ledger, folder: Path, name: str = "lazy boost", **given: object) -> File:
    """The file of a model that was fitted on this ledger."""
    build(name, ledger=ledger, **given).fit(X, Y).save(folder / "model.json")
    record: File = json.loads((folder / "model.json").read_text())
    return record


def verdict(
    record: Mapping[str, object], entries: tuple[Entry, ...], folder: Path, key: SigningKey | None = None
) -> ModelComparison:
    (folder / "claim.json").write_text(json.dumps(record))
    return compare_model(
        read_model_claim(folder / "claim.json"), iter(entries), public_key=None if key is None else key.public
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[File, tuple[Entry, ...], Ledger, Path]:
    """A model's file, the ledger that it was fitted on, with others before and after it, and a folder."""
    folder = tmp_path_factory.mktemp("study")
    ledger = books("lazy boost")
    ledger.signing_key = KEY
    saved(ledger, folder, "logistic")
    record = saved(ledger, folder)
    saved(ledger, folder, "forest")
    return record, tuple(ledger.entries), ledger, folder


Study = tuple[File, tuple[Entry, ...], Ledger, Path]

# --- what is sound -------------------------------------------------------------------------------------------------


RULES = (BasicComposition(), ZCDP(), AdvancedComposition(1e-7))
FITTED = [
    pytest.param(name, rule, id=f"{name}, {rule.name}")
    for name in LEARNERS
    for rule in RULES
    if "tuned" not in name or not isinstance(rule, ZCDP)  # which does not add up the (ε, δ) of a private choice
]


@pytest.mark.parametrize(("name", "rule"), FITTED)
def test_an_honest_model_is_sound(name: str, rule: Composition, tmp_path: Path) -> None:
    ledger = books(name, rule=rule)
    team = ledger.allocate("team", 0.25).allocate("night shift", 0.5)
    records = [saved(paying, tmp_path, name) for paying in (ledger.labelled("main"), team)]
    ledger.close_account("team/night shift")
    for record in records:
        result = verdict(record, tuple(ledger.entries), tmp_path)
        assert result.errors == ()
        assert result.sound
        assert result.compared
        assert (result.entries, result.head) == (len(ledger.entries), ledger.head)
        assert (result.spent, result.budget) == (ledger.spent, ledger.budget)


def test_what_it_cost_and_what_the_books_have_spent_by_now(study: Study) -> None:
    record, entries, ledger, folder = study
    result = verdict(record, entries, folder)
    alone = build("lazy boost", ledger=books("lazy boost")).fit(X, Y)
    assert result.fit == alone.ledger_.spent
    assert result.spent == ledger.spent
    assert result.budget == ledger.budget


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_pure_promise_is_compared_on_every_ledger(rule: Composition, tmp_path: Path) -> None:
    for name in ("lazy boost", "gradient boosting", "bagging", "forest", "logistic"):
        ledger = books(name, rule=rule)
        record = saved(ledger, tmp_path, name, delta=0.0)
        assert verdict(record, tuple(ledger.entries), tmp_path).errors == ()


def test_the_books_may_come_from_an_export(study: Study) -> None:
    record, entries, _, folder = study
    out = io.StringIO()
    write_export(entries, out)
    assert verdict(record, tuple(read_export(out.getvalue().splitlines())), folder).sound


@pytest.mark.parametrize("durable", [False, True], ids=["in memory", "in sqlite"])
def test_models_that_were_fitted_at_the_same_time_are_sound(durable: bool, tmp_path: Path) -> None:
    """A statement must be of the entries up to its head, whoever else is charged meanwhile."""
    terms = books("lazy boost", 1000.0)
    ledger = terms
    if durable:
        url, rule = f"sqlite:///{tmp_path}/study.db", terms.composition
        ledger = Ledger.open(url, terms.budget, composition=rule, adjacency=terms.adjacency)

    def fit(number: int) -> Path:
        place = tmp_path / f"{number}.json"
        build("lazy boost", ledger=ledger, random_state=SeededNoise(0)).fit(X, Y).save(place)
        return place

    with ledger, ThreadPoolExecutor(4) as pool:
        places = list(pool.map(fit, range(24)))
        entries = tuple(ledger.entries)
    assert [compare_model(read_model_claim(place), entries).errors for place in places] == [()] * 24


def test_progress_is_told(study: Study) -> None:
    record, entries, _, folder = study
    (folder / "claim.json").write_text(json.dumps(record))
    told: list[int] = []
    compare_model(read_model_claim(folder / "claim.json"), entries, progress=told.append)
    assert told == [len(entries)]


# --- which model it was --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_signed_receipts_are_for_the_model_that_was_fitted(name: str, tmp_path: Path) -> None:
    """Also after it was loaded and saved again."""
    ledger = books(name)
    ledger.signing_key = KEY
    record = saved(ledger, tmp_path, name)
    PrivateEstimator.load(tmp_path / "model.json").save(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text())
    assert again == record
    result = verdict(again, tuple(ledger.entries), tmp_path, KEY)
    assert result.sound
    assert result.bound


def test_receipts_of_a_cheap_fit_confirm_no_dear_model(tmp_path: Path) -> None:
    """The target is a part of the model, so neither the votes nor the promise may come from elsewhere."""
    ledger = books("lazy boost")
    ledger.signing_key = KEY
    dear, cheap = saved(ledger, tmp_path, epsilon=5.0), saved(ledger, tmp_path, epsilon=0.1)
    entries = tuple(ledger.entries)
    for part in ("model", "classes"):
        posed = {**cheap, part: dear[part] if part == "model" else [1, 0]}
        result = verdict(posed, entries, tmp_path, KEY)
        assert not result.bound
        [error] = result.errors
        assert "it was given for another model, or this one was changed since" in error


def test_nothing_is_bound_by_a_key_that_nobody_named(tmp_path: Path) -> None:
    """Whoever swaps the models can sign new receipts with a key of his own."""
    ledger = books("lazy boost")
    dear, cheap = saved(ledger, tmp_path, epsilon=5.0), saved(ledger, tmp_path, epsilon=0.1)
    posed = {**cheap, "model": dear["model"]}
    ledger.signing_key = OTHER
    [number], digest = [each["number"] for each in cheap["receipts"]], content_digest(posed)
    posed["receipts"] = [ledger.receipt(number, bought=digest).as_dict()]
    entries = tuple(ledger.entries)
    result = verdict(posed, entries, tmp_path)
    assert result.sound
    assert not result.bound
    assert any("nobody said whose it is" in note for note in result.notes)
    assert not verdict(posed, entries, tmp_path, KEY).sound


@pytest.mark.parametrize(
    "tune", [[{"rounds_per_column": 1}, {"rounds_per_column": 2}], [{}, {}]], ids=["rounds", "nothing"]
)
def test_a_refused_refit_leaves_the_tuned_model_as_it_was(tune: list[dict[str, object]], tmp_path: Path) -> None:
    ledger = books("private boost", 2.0)
    ledger.signing_key = KEY
    model = build("private boost", ledger=ledger, tune=tune).fit(X, Y)
    with pytest.raises(BudgetExceeded):
        model.set_params(epsilon=1.9).fit(X, Y)
    model.save(tmp_path / "model.json")
    result = verdict(json.loads((tmp_path / "model.json").read_text()), tuple(ledger.entries), tmp_path, KEY)
    assert result.errors == ()
    assert result.bound


def test_a_receipt_that_names_no_model_binds_none(study: Study) -> None:
    record, entries, ledger, folder = study
    [number] = (each["number"] for each in record["receipts"])
    for receipt, bound in ((ledger.receipt(number), False), (Receipt.from_dict(record["receipts"][0]), True)):
        result = verdict({**record, "receipts": [receipt.as_dict()]}, entries, folder, KEY)
        assert result.sound
        assert result.bound is bound


# --- who signed ----------------------------------------------------------------------------------------------------


def test_signatures_are_checked_with_the_key_that_is_given(study: Study) -> None:
    record, entries, _, folder = study
    assert verdict(record, entries, folder, KEY).errors == ()
    [error] = verdict(record, entries, folder, OTHER).errors
    assert "signed with another key" in error
    notes = verdict(record, entries, folder).notes
    assert any(KEY.public.hex in note and "--public-key" in note for note in notes)
    assert not any("signed with" in note for note in verdict(record, entries, folder, KEY).notes)


def test_unsigned_receipts_pass_only_where_no_key_is_asked_for(tmp_path: Path) -> None:
    ledger = books("lazy boost")
    record = saved(ledger, tmp_path)
    result = verdict(record, tuple(ledger.entries), tmp_path)
    assert result.sound
    assert not result.bound
    assert any("unsigned receipts" in note for note in result.notes)
    [error] = verdict(record, tuple(ledger.entries), tmp_path, KEY).errors
    assert "unsigned" in error


def test_a_signature_that_does_not_match_is_an_error_also_without_a_key(study: Study) -> None:
    record, entries, _, folder = study
    [receipt] = record["receipts"]
    swapped = {**receipt, "public_key": OTHER.public.hex}
    [error] = verdict({**record, "receipts": [swapped]}, entries, folder).errors
    assert "does not match" in error


def test_simulated_noise_is_noted(study: Study) -> None:
    record, entries, _, folder = study
    notes = verdict(record, entries, folder).notes
    assert "some noise in this ledger was simulated, and the statement says so: it promises nothing" in notes
    assert any(note.startswith("the ledger: ") for note in notes)


# --- claims that are not what the ledger says ------------------------------------------------------------------------


def changed(part: str, **values: object) -> Callable[[File], File]:
    return lambda record: {**record, part: {**record[part], **values}}


def receipt_changed(**values: object) -> Callable[[File], File]:
    return lambda record: {**record, "receipts": [{**record["receipts"][0], **values}]}


LIES: dict[str, tuple[Callable[[File], File], str]] = {
    "a smaller guarantee": (changed("statement", guarantee="It is 0.1-differentially private."), "guarantee: the file"),
    "less spent": (changed("statement", spent="approx-dp epsilon 0.1, delta 0"), "spent: the file says"),
    "a larger budget": (changed("statement", budget="approx-dp epsilon 1e9, delta 0"), "budget: the file says"),
    "another adjacency": (changed("statement", adjacency="add-remove-one"), "adjacency: the file says"),
    "private": (changed("statement", private=True), "private: the file says True, the ledger at that time False"),
    "a private heading": (changed("statement", heading="privacy statement"), "heading: the file says 'privacy"),
    "fewer charges": (changed("statement", rows=[]), "rows: the file says"),
    "other theorems": (changed("statement", claims=["basic"]), "claims: the file says"),
    "no heading": (
        lambda record: {**record, "statement": {k: v for k, v in record["statement"].items() if k != "heading"}},
        "heading: the file says None, the ledger at that time 'simulation: not private'",
    ),
    "a line too many": (changed("statement", audited="yes"), "audited: the file says 'yes'"),
    "a head of nowhere": (changed("statement", head="0" * 64), "which this ledger never had"),
    "a head that is none": (changed("statement", head=7), "'7', which this ledger never had"),
    "a smaller epsilon": (changed("parameters", epsilon=0.25), "it says that its fit costs at most"),
    "no delta": (changed("parameters", delta=0.0), "it says that its fit costs at most PureDP"),
    "another digest": (receipt_changed(digest="0" * 64), "its digest differs from the entry"),
    "other books": (receipt_changed(ledger="0" * 32), "its ledger differs from the entry"),
    "a smaller cost": (receipt_changed(cost="1 x pure-dp epsilon=0.01"), "its cost differs from the entry"),
    "an earlier time": (receipt_changed(time=1), "its time differs from the entry"),
    "no such entry": (receipt_changed(number=99), "the receipt for entry 99: this ledger has no such entry"),
    "another entry": (receipt_changed(number=1), "its digest and account and cost and time differ from the entry"),
    "another account": (receipt_changed(account="main"), "it was charged to 'main', not to"),
    "another learner": (lambda record: {**record, "learner": "Other"}, "it was charged to 'LazyBoostClassifier', not"),
    "the same twice": (lambda record: {**record, "receipts": record["receipts"] * 2}, "two of its receipts are for"),
    "no receipts": (lambda record: {**record, "receipts": []}, "its claim stands alone"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_claim_that_is_not_what_the_books_say_is_found(study: Study, lie: str) -> None:
    record, entries, _, folder = study
    change, message = LIES[lie]
    result = verdict(change(record), entries, folder)
    assert not result.sound
    assert any(message in error for error in result.errors), result.errors


def test_an_older_and_smaller_statement_is_found(tmp_path: Path) -> None:
    """A true statement of the same books, from before the fit."""
    ledger = books("lazy boost")
    saved(ledger, tmp_path)
    before = ledger.statement().as_dict()
    record = {**saved(ledger, tmp_path), "statement": before}
    [error] = verdict(record, tuple(ledger.entries), tmp_path).errors
    assert "it came after the statement, which does not count it" in error


def test_another_fits_receipt_is_found(study: Study) -> None:
    """A true receipt of the same books, for a cheaper fit of another learner, or for no charge at all."""
    record, entries, ledger, folder = study
    for number, message in ((1, "charged to 'DPLogisticRegression'"), (2, "the entry is no charge")):
        borrowed = {**record, "receipts": [ledger.receipt(number).as_dict()]}
        errors = verdict(borrowed, entries, folder).errors
        assert any(message in error for error in errors)


def test_a_charge_that_nothing_was_released_for_carries_no_model(study: Study) -> None:
    record, _, _, folder = study
    for give_back, message in ((False, "the charge was never released"), (True, "the charge was given back")):
        ledger = books("lazy boost")
        plan = Plan.of(PureDP(0.25), 2)
        with ledger.reserve(plan, adjacency=ReplaceOne(), account="LazyBoostClassifier") as reserved:
            if give_back:
                reserved.give_back()
        posed = {
            **record,
            "receipts": [ledger.receipt(reserved.number).as_dict()],
            "statement": ledger.statement().as_dict(),
        }
        result = verdict(posed, tuple(ledger.entries), folder)
        [error] = result.errors
        assert message in error
        assert result.spent == ledger.spent


def test_a_model_of_books_of_its_own_stands_alone(study: Study, tmp_path: Path) -> None:
    _, entries, _, _ = study
    build("lazy boost").fit(X, Y).save(tmp_path / "model.json")
    result = compare_model(read_model_claim(tmp_path / "model.json"), entries)
    assert result.errors[0] == ALONE
    assert not result.compared
    assert result.fit is None
    assert "which this ledger never had" in result.errors[1]


@given(st.data())
def test_any_changed_character_of_statement_or_receipts_is_found(study: Study, data: st.DataObject) -> None:
    record, entries, _, folder = study
    text = canonical({"statement": record["statement"], "receipts": record["receipts"]})
    place = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.characters(max_codepoint=126, min_codepoint=32))
    try:
        parts = json.loads(text[:place] + new + text[place + 1 :])
        others = {name: part for name, part in record.items() if name not in ("statement", "receipts")}
        sound = verdict({**others, **parts}, entries, folder).sound
    except ValueError:
        sound = False
    assert sound == (new == text[place])


# --- books that are not those, or do not hold together -------------------------------------------------------------


def test_other_books_are_not_these(study: Study) -> None:
    record, _, _, folder = study
    ledger = books("lazy boost")
    for _ in range(3):
        saved(ledger, folder)
    errors = verdict(record, tuple(ledger.entries), folder).errors
    assert any("ledger" in error and "digest" in error for error in errors)
    assert any("which this ledger never had" in error for error in errors)


def test_books_that_were_rolled_back_lack_the_entry(study: Study) -> None:
    record, entries, _, folder = study
    for length in range(len(entries)):
        until = record["receipts"][0]["number"]
        errors = verdict(record, entries[:length], folder).errors
        assert any("no such entry" in error for error in errors) == (length <= until)
        assert errors or length >= until + 2


def test_a_single_changed_entry_is_found_and_so_are_books_written_anew(study: Study) -> None:
    record, entries, _, folder = study
    number = record["receipts"][0]["number"]
    line = entries[number].line.replace('"claims":["', '"claims":["x')
    torn = (*entries[:number], Entry(number, "charged", line, entries[number].digest), *entries[number + 1 :])
    errors = verdict(record, torn, folder).errors
    assert any(error.startswith("the ledger does not hold together: entry ") for error in errors)
    anew, before = [], GENESIS
    for entry in torn:
        before = digest_of(before, entry.line)
        anew.append(Entry(entry.number, entry.kind, entry.line, before))
    errors = verdict(record, tuple(anew), folder).errors
    assert any("its digest differs from the entry" in error for error in errors)
    assert any("which this ledger never had" in error for error in errors)


nonsense = st.builds(
    Entry,
    number=st.integers(0, 5),
    kind=st.sampled_from(["opened", "charged", "released", "returned"]),
    line=st.text(max_size=20)
    | st.sampled_from(["{}", '{"kind":"charged"}', "[" * 99999, '{"kind":"opened","format":1}', '{"kind":"x"}']),
    digest=st.text(),
)


@given(st.lists(nonsense, max_size=5))
def test_nonsense_for_books_is_only_not_sound(study: Study, entries: list[Entry]) -> None:
    record, _, _, folder = study
    result = verdict(record, tuple(entries), folder)
    assert not result.sound
    assert result.spent is None or not entries or result.budget is not None


def test_true_entries_in_a_wrong_order_are_only_not_sound(study: Study) -> None:
    record, entries, _, folder = study
    for first in range(len(entries)):
        moved = (*entries[first:], *entries[:first])
        assert verdict(record, moved, folder).sound == (first == 0)


# --- files that are no models --------------------------------------------------------------------------------------

NO_MODELS: dict[str, Callable[[File], object]] = {
    "a list": lambda record: [],
    "another format": lambda record: {**record, "format": "other"},
    "another version": lambda record: {**record, "version": 2},
    "no statement": lambda record: {name: record[name] for name in record if name != "statement"},
    "a list for a statement": lambda record: {**record, "statement": []},
    "half a statement": lambda record: {**record, "statement": {"head": ""}},
    "a number for a learner": lambda record: {**record, "learner": 7},
    "no epsilon": lambda record: {**record, "parameters": {}},
    "a text for epsilon": lambda record: changed("parameters", epsilon="1")(record),
    "NaN": lambda record: changed("parameters", epsilon=float("nan"))(record),
    "a list for parameters": lambda record: {**record, "parameters": []},
    "null for receipts": lambda record: {**record, "receipts": None},
    "a number for a receipt": lambda record: {**record, "receipts": [7]},
    "a receipt with a part too many": receipt_changed(note="x"),
}


@pytest.mark.parametrize("fault", NO_MODELS)
def test_a_file_that_is_no_model_is_refused_by_name(study: Study, fault: str, tmp_path: Path) -> None:
    (tmp_path / "claim.json").write_text(json.dumps(NO_MODELS[fault](study[0])))
    with pytest.raises(ValueError, match=r"claim\.json: "):
        read_model_claim(tmp_path / "claim.json")


@given(content=st.binary(max_size=60) | st.just(b"[" * 10**5) | st.just(b"9" * 10**5))
def test_no_content_is_more_than_a_clear_refusal(content: bytes, study: Study) -> None:
    place = study[3] / "hostile.json"
    place.write_bytes(content)
    with pytest.raises(ValueError, match=r"hostile\.json: "):
        read_model_claim(place)


def test_receipts_of_the_file_are_those_of_the_model(study: Study) -> None:
    record, entries, ledger, folder = study
    (folder / "claim.json").write_text(json.dumps(record))
    claim = read_model_claim(folder / "claim.json")
    assert claim.receipts == tuple(Receipt.from_dict(each) for each in record["receipts"])
    assert (claim.learner, claim.path, claim.account) == ("LazyBoostClassifier", "", "LazyBoostClassifier")
    bit = RandomizedResponse(0.5)
    ledger.release(bit, ledger.protect(True))
    assert verdict(record, tuple(ledger.entries), folder).spent != verdict(record, entries, folder).spent
