"""What charges say that they are about: in the entry, its digest, receipts; checked by `verify`, private by choice."""

import json
import platform
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    About,
    Amount,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Entry,
    Ledger,
    LedgerBroken,
    Plan,
    PureDP,
    ReplaceOne,
    Statement,
    verify,
)
from accountant.audit import Verifier
from accountant.entries import (
    GENESIS,
    Charged,
    MemoryStore,
    Receipt,
    decode,
    digest_of,
    encode,
    keyed_digest,
    open_export,
    receipt,
    write_export,
)
from accountant.entries.printable import is_visible
from accountant.ledger.writer import LedgerWriter
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.first_format import begin_in_first_format

HOSPITAL = About(dataset="hospital", purpose="a pilot study", user="ada")
HOSPITAL_SAID = '"about":{"dataset":"hospital","purpose":"a pilot study","user":"ada"},'
BUDGET = ApproxDP(1.0, 1e-6)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12).filter(lambda a: a == a.strip() and is_visible(a))


def opened(url: str | None = None, about: About | None = None) -> Ledger:
    options = {"composition": BasicComposition(), "adjacency": ReplaceOne()}
    if url is None:
        return Ledger(BUDGET, **options, about=about or About())  # type: ignore[arg-type]  # of these types
    return Ledger.open(url, BUDGET, **options, about=about)  # type: ignore[arg-type]  # of these types


def opened_before(folder: Path, about: About | None = None) -> Ledger:
    """A ledger that an earlier version opened."""
    url = f"sqlite:///{folder / 'old.db'}"
    begin_in_first_format(url, BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())
    return Ledger.open(url, about=about)


def charge(ledger: Ledger, epsilon: float = 0.125) -> None:
    with ledger.reserve(Plan.of(PureDP(epsilon), 1), adjacency=ReplaceOne()) as charged:
        charged.note_drawn_elsewhere(RandomizedResponse(epsilon).description, 1)


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries]


def test_a_ledger_that_says_nothing_stays_in_the_first_format(tmp_path: Path) -> None:
    with opened_before(tmp_path) as ledger:
        charge(ledger)
        assert kinds(ledger) == ["opened", "charged", "released"]
        assert not {"about", "amount"} & json.loads(ledger.entries[1].line).keys()
        assert ledger.verify().sound


def test_the_first_charge_that_says_something_upgrades_a_ledger_of_the_first_format(tmp_path: Path) -> None:
    with opened_before(tmp_path) as ledger:
        charge(ledger)
        charge(ledger.concerning(HOSPITAL))
        charge(ledger)
        assert kinds(ledger) == ["opened", "charged", "released", "upgraded", *["charged", "released"] * 2]
        said = [{"about", "amount"} & json.loads(ledger.entries[number].line).keys() for number in (1, 4, 6)]
        assert said == [set(), {"about", "amount"}, {"amount"}]
        assert ledger.verify().sound


def test_every_charge_of_a_new_ledger_has_its_amount() -> None:
    ledger = opened()
    charge(ledger)
    ledger.release(RandomizedResponse(0.25), ledger.protect(True))
    assert kinds(ledger) == ["opened", *["charged", "released"] * 2]
    assert ledger.entries[0].record["format"] == 2
    assert [ledger.entries[number].record["amount"] for number in (1, 3)] == [
        {"delta": "0p0", "loss": "1p-3"},
        {"delta": "0p0", "loss": "1p-2"},
    ]
    assert "about" not in ledger.entries[1].record


def test_a_charge_says_what_it_is_about(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with opened(url, HOSPITAL) as ledger:
        charge(ledger)
        charge(ledger.concerning(About(purpose="another study", host="node 7")))
        assert kinds(ledger) == ["opened", "charged", "released", "charged", "released"]
        lines = [entry.record for entry in ledger.entries]
        assert lines[1]["about"] == {"dataset": "hospital", "purpose": "a pilot study", "user": "ada"}
        assert lines[1]["amount"] == {"delta": "0p0", "loss": "1p-3"}
        assert lines[3]["about"] == {"dataset": "hospital", "purpose": "another study", "user": "ada", "host": "node 7"}
        assert ledger.verify().sound
    with Ledger.open(url) as again:
        assert again.about == About()
        charge(again)
        assert again.verify().sound
        assert "about" not in again.entries[-2].record


def test_all_views_of_a_ledger_say_it() -> None:
    ledger = opened(about=HOSPITAL)
    ledger.release(RandomizedResponse(0.1), ledger.protect(True), account="a")
    part = ledger.allocate("team", 0.5)
    part.release(RandomizedResponse(0.1), part.protect(True))
    part.concerning(About(user="bo")).release(RandomizedResponse(0.1), part.protect(True))
    said = [record.about.user for entry in ledger.entries if isinstance(record := decode(entry), Charged)]
    assert said == ["ada", "ada", "bo"]
    assert ledger.verify().sound


def test_a_refused_charge_is_not_there() -> None:
    ledger = opened(about=HOSPITAL)
    with pytest.raises(BudgetExceeded):
        charge(ledger, 2.0)
    assert ledger.spent == PureDP(0.0) or ledger.spent.epsilon == 0.0  # type: ignore[union-attr]  # an ApproxDP
    charge(ledger)
    assert ledger.verify().sound


@given(st.builds(About, dataset=TEXTS, purpose=TEXTS, user=TEXTS, host=TEXTS, program=TEXTS))
def test_whatever_is_said_is_read_back(about: About) -> None:
    ledger = opened(about=about)
    charge(ledger)
    record = decode(ledger.entries[1])
    assert isinstance(record, Charged)
    assert (record.about, record.drawn) == (about, Amount.of(0.125))
    assert encode(1, record) == ledger.entries[1].line
    found = receipt(ledger.entries[1], ledger.id)
    assert Receipt.from_dict(json.loads(json.dumps(found.as_dict()))) == found
    assert found.about == about
    assert verify(ledger.entries).sound


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"dataset": "a\nb"}, "dataset: expected printable"),
        ({"user": " a"}, "user: expected printable"),
        ({"purpose": "x" * 201}, "purpose: expected a text of at most 200"),
        ({"host": "\ud800"}, "host: .*surrogate"),
        ({"dataset_digest": "abc"}, "dataset_digest: expected 64 digits"),
        ({"program": 3}, "program: expected a text"),
    ],
)
def test_what_cannot_be_said_is_refused(given: Mapping[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        About(**given)


def chained(entries: list[Entry]) -> list[Entry]:
    """Entries whose digests hold, whatever their lines say."""
    found, head = list[Entry](), GENESIS
    for entry in entries:
        head = digest_of(head, entry.line)
        found.append(attrs.evolve(entry, digest=head))
    return found


def forged(old: str, new: str, kept: slice = slice(None)) -> list[Entry]:
    ledger = opened(about=HOSPITAL)
    charge(ledger)
    ledger.note_model("ab" * 32, [1])
    assert verify(chained(list(ledger.entries))).sound
    lines = [attrs.evolve(entry, line=entry.line.replace(old, new)) for entry in ledger.entries]
    assert lines != list(ledger.entries) or kept != slice(None)
    return chained(lines[kept])


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ('"amount":{"delta":"0p0","loss":"1p-3"},', '"amount":{"delta":"0p0","loss":"1p-4"},', "amount is not what"),
        ('"amount":{"delta":"0p0","loss":"1p-3"},', "", "says its amount, too"),
        ('"format":2', '"format":1', "no entry before it upgrades"),
        ('"format":2', '"format":0', "install a newer one"),
        ('"user":"ada"', '"user":""', "left out"),
        ('"user":"ada"', '"weather":"fine"', "unexpected keyword"),
        ('"format":2', '"format":3', "install a newer one"),
        ('"charges":[1]', '"charges":[7]', "charges that come later"),
        ('"charges":[1]', '"charges":[1,1]', "each is listed once"),
        ('"charges":[1]', '"charges":[]', "at least one charge"),
        ('"model":"ab', '"model":"AB', "lower-case hexadecimal"),
    ],
)
def test_what_an_entry_should_not_say_is_found(old: str, new: str, finding: str) -> None:
    found = verify(forged(old, new))
    assert not found.sound
    assert finding in "; ".join(found.errors)


def test_what_no_format_has_is_found_by_either_reader(tmp_path: Path) -> None:
    with opened_before(tmp_path) as ledger:
        for number in range(8):
            charge(ledger if number < 6 else ledger.concerning(HOSPITAL))
        entries = list(ledger.entries)
    amount = '"amount":{"delta":"0p0","loss":"1p-3"},'
    without = attrs.evolve(entries[-2], line=entries[-2].line.replace(amount, "").replace(HOSPITAL_SAID, ""))
    early = attrs.evolve(entries[9], line=entries[9].line.replace('"kind"', f'{amount}"kind"', 1))
    for changed, finding in (
        ([*entries[:-2], without, entries[-1]], "does not say its amount"),
        ([*entries[:9], early, *entries[10:]], "no entry before it upgrades"),
    ):
        for fast in (True, False):
            verifier = Verifier(fast=fast)
            verifier.take(chained(changed))
            assert [finding in error for error in verifier.verification().errors] == [True]


def test_the_quick_reader_forgets_charges_without_an_amount_at_the_upgrade(tmp_path: Path) -> None:
    """A charge that repeats one from before the upgrade, to the letter, is no charge of the newest format."""
    with opened_before(tmp_path) as ledger:
        for _ in range(6):
            charge(ledger)
        charge(ledger.concerning(HOSPITAL))
        charge(ledger)
        entries = list(ledger.entries)
    place = len(entries) - 2
    line = entries[place].line.replace('"amount":{"delta":"0p0","loss":"1p-3"},', "")
    changed = chained([*entries[:place], attrs.evolve(entries[place], line=line), entries[-1]])
    for fast in (True, False):
        verifier = Verifier(fast=fast)
        verifier.take(changed)
        assert [f"entry {place}: it does not say its amount" in each for each in verifier.errors] == [True]


def test_format_2_must_be_announced_once(tmp_path: Path) -> None:
    with opened_before(tmp_path, about=HOSPITAL) as ledger:
        charge(ledger)
        entries = list(ledger.entries)
    lines = [entries[0], *(attrs.evolve(each, number=each.number - 1) for each in entries[2:])]
    lines = [
        attrs.evolve(e, line=e.line.replace(f'"number":{e.number + 1}', f'"number":{e.number}')) for e in lines[:2]
    ]
    assert "no entry before it upgrades" in "; ".join(verify(chained(lines)).errors)
    again = attrs.evolve(entries[1], number=2, line=entries[1].line.replace('"number":1', '"number":2'))
    twice = [*entries[:2], again]
    assert "which it has" in "; ".join(verify(chained(twice)).errors)


def test_a_checkpoint_keeps_the_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accountant.ledger.writer.CHECKPOINT_EVERY", 1)
    monkeypatch.setattr("accountant.ledger.writer.BELIEVED_FROM", 1)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with opened_before(tmp_path) as before:
        charge(before)
    with opened(url, HOSPITAL) as ledger:
        charge(ledger)
    for opened_in, place in ((2, url), (1, f"sqlite:///{tmp_path / 'old.db'}")):
        for _ in range(2):
            with Ledger.open(place, about=HOSPITAL) as again:
                charge(again)
                assert again.verify().sound
        with Ledger.open(place) as again:
            charge(again)
            assert "amount" in again.entries[-2].record
            assert kinds(again).count("upgraded") == 2 - opened_in
            assert "checkpoint" in kinds(again)
            assert again.verify().sound


def test_the_environment_says_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EXCHEQUER_DATASET", "hospital")
    monkeypatch.setenv("EXCHEQUER_RECORD", "host, program")
    with opened(f"sqlite:///{tmp_path / 'study.db'}") as ledger:
        said = ledger.about
    assert (said.dataset, said.host, said.user) == ("hospital", platform.node(), "")
    assert "exchequer" in said.program
    monkeypatch.setenv("EXCHEQUER_RECORD", "password")
    with pytest.raises(ValueError, match="EXCHEQUER_RECORD: 'password' is none of user, host, program"):
        opened(f"sqlite:///{tmp_path / 'other.db'}")
    assert not (tmp_path / "other.db").exists()


def test_a_user_without_a_name_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in containers that run as a number."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 9)
    with pytest.raises(ValueError, match="EXCHEQUER_RECORD"):
        About.from_environment({"EXCHEQUER_RECORD": "user"})


def test_a_keyed_digest_needs_its_key(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("1,2\n")
    one, other = (keyed_digest(tmp_path / "table.csv", key * 16) for key in (b"a", b"b"))
    assert one != other
    assert About(dataset_digest=one)
    with pytest.raises(ValueError, match="at least 16 secret bytes"):
        keyed_digest(tmp_path / "table.csv", b"short")


def test_a_newer_format_is_not_spent_from(tmp_path: Path) -> None:
    entries = forged('"format":2', '"format":3')
    store = MemoryStore()
    for entry in entries:
        store.append(entry.kind, entry.line)
    with pytest.raises(LedgerBroken, match="install a newer one"):
        LedgerWriter(store).resume()


def test_receipts_that_say_nothing_are_as_they_were() -> None:
    ledger = opened()
    charge(ledger)
    said = receipt(ledger.entries[1], ledger.id).as_dict()
    assert said["receipt"] == 1
    assert "about" not in said
    with pytest.raises(ValueError, match="about"):
        Receipt.from_dict({**said, "receipt": 2, "about": {}})


def test_the_quick_way_reads_what_the_slow_way_reads() -> None:
    ledger = opened(about=HOSPITAL)
    other = ledger.concerning(About(user="bo"))
    for number in range(40):
        charge((ledger, other)[number % 3 == 0], 2.0**-8 if number % 5 else 2.0**-9)
    entries = list(ledger.entries)
    found = []
    for fast in (True, False):
        verifier = Verifier(fast=fast)
        verifier.take(entries)
        found.append(verifier.verification())
    assert found[0] == found[1]
    assert found[0].sound
    for number in (2, 30, 41, 80):
        line = entries[number].line
        forged = line.replace('"loss":"', '"loss":"1', 1) if "loss" in line else line.replace("time", "tine")
        changed = chained([*entries[:number], attrs.evolve(entries[number], line=forged), *entries[number + 1 :]])
        assert not verify(changed).sound


def test_an_export_holds_it(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'study.db'}", HOSPITAL) as ledger:
        charge(ledger)
        ledger.note_model("ab" * 32, [1])
        with (tmp_path / "study.jsonl").open("w") as out:
            write_export(ledger.entries, out)
        with open_export(tmp_path / "study.jsonl") as (_, exported):
            read = list(exported)
        assert read == list(ledger.entries)
    assert verify(read).sound


def test_models_come_of_charges_that_are_there(tmp_path: Path) -> None:
    ledger = opened()
    charge(ledger)
    for charges, reason in (([], "at least one"), ([5], "entry 5 is no"), ([-1], "entry -1"), ([2], "entry 2 is no")):
        with pytest.raises(ValueError, match=reason):
            ledger.note_model("ab" * 32, charges)
    with pytest.raises(ValueError, match="model: expected 64 digits"):
        ledger.note_model("model.json", [1])
    assert kinds(ledger) == ["opened", "charged", "released"], "what is refused writes nothing"
    assert verify(ledger.entries).sound


def test_a_statement_says_what_charges_are_about() -> None:
    ledger = opened(about=HOSPITAL)
    part = ledger.allocate("team", 0.5)
    for each in (ledger.labelled("main"), part, part, part.concerning(About(user="bo"))):
        charge(each)
    statement = ledger.statement()
    said = "dataset hospital, purpose a pilot study, user ada"
    assert statement.about == ((said, 3), (said.replace("ada", "bo"), 1))
    assert part.statement().about == ((said, 2), (said.replace("ada", "bo"), 1))
    assert f"3 charges: {said}" in str(statement)
    assert Statement.from_dict(json.loads(json.dumps(statement.as_dict()))) == statement
    with pytest.raises(TypeError, match="about"):
        Statement.from_dict({**statement.as_dict(), "about": [["hospital", "3"]]})
    assert "about" not in opened().statement().as_dict()


def test_a_refused_charge_does_not_upgrade_the_ledger() -> None:
    """Earlier versions would read it no more, for nothing that it holds."""
    ledger = Ledger(PureDP(0.25), composition=BasicComposition(), adjacency=ReplaceOne())
    about, plan = ledger.concerning(HOSPITAL), Plan.of(PureDP(0.5), 1)
    if "upgraded" in kinds(ledger) or ledger._writer.state.format > 1:
        pytest.skip("it begins in the newest format")
    with pytest.raises(BudgetExceeded):
        about.reserve(plan, adjacency=ReplaceOne())
    assert kinds(ledger) == ["opened"]


@pytest.mark.parametrize("numbers", [[1.0], [True], ["1"], [None], [[1]]])
def test_what_is_no_number_of_an_entry_is_refused_before_anything_is_written(numbers: list[int]) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.reserve(Plan.of(PureDP(0.5), 1), adjacency=ReplaceOne())
    before = kinds(ledger)
    with pytest.raises(ValueError, match="charges: "):
        ledger.note_model("ab" * 32, numbers)
    assert kinds(ledger) == before


def test_the_numbers_of_charges_may_be_numpys() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.reserve(Plan.of(PureDP(0.5), 1), adjacency=ReplaceOne())
    number = next(entry.number for entry in ledger.entries if entry.kind == "charged")
    ledger.note_model("ab" * 32, np.array([number]))  # type: ignore[arg-type]  # a sequence to Python
    assert ledger.verify().errors == ()
