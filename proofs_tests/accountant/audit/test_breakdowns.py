"""Who spent what on which data, and what changed between two readings; by the functions and by the commands."""

import csv
import datetime
import io
import json
import time
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from accountant import About, Amount, ApproxDP, BasicComposition, Entry, Ledger, LedgerBroken, Plan, PureDP, ReplaceOne
from accountant.audit.breakdowns import BY, Question, breakdown, difference
from accountant.composition import NOTHING
from exchequer.cli import main
from exchequer.console.times import nanoseconds
from proofs_tests.support.learners import paid_models
from proofs_tests.support.ledgers.books import rewritten
from proofs_tests.support.ledgers.doubles import RandomizedResponse

MODEL, OTHER = "ab" * 32, "cd" * 32


def written(url: str | None = None) -> Ledger:
    """Ada spends twice on the hospital, once with rounds given back; Bo once on the school; somebody says nothing."""
    budget, rule, adjacency = ApproxDP(4.0, 1e-5), BasicComposition(), ReplaceOne()
    if url is None:
        ledger = Ledger(budget, composition=rule, adjacency=adjacency)
    else:
        ledger = Ledger.open(url, budget, composition=rule, adjacency=adjacency)
    ada = ledger.concerning(About(dataset="hospital", purpose="pilot", user="ada"))
    bo = ledger.concerning(About(dataset="school", user="=bo"))
    ada.release(RandomizedResponse(0.5), ada.protect(True), account="team/a")
    with ada.reserve(Plan.of(PureDP(0.25), 4), adjacency=ReplaceOne(), account="team/b") as charge:
        charge.release(RandomizedResponse(0.25), ada.protect(True))
        charge.give_back()
    bo.release(RandomizedResponse(0.125), bo.protect(True), account="teams")
    ledger.reserve(Plan.of(PureDP(0.0625), 1), adjacency=ReplaceOne())
    ledger.note_model(MODEL, [1, 3])
    ledger.note_model(OTHER, [3])
    return ledger


LEDGER = written()
HALF, QUARTER, EIGHTH, SIXTEENTH = (BasicComposition().amount(PureDP(2.0**-k)) for k in (1, 2, 3, 4))


def groups(**asked: object) -> dict[str, Amount]:
    found = breakdown(LEDGER.entries, Question(**asked))  # type: ignore[arg-type]  # as each test gives them
    return {group.said: group.amount for group in found.groups}


def test_charges_are_added_up_by_what_they_say() -> None:
    both = HALF.plus(QUARTER)
    assert groups(by="dataset") == {"hospital": both, "school": EIGHTH, "": SIXTEENTH}
    assert groups(by="user", where={"dataset": "hospital"}) == {"ada": both}
    assert groups(by="account", where={"account": "team"}) == {"team/a": HALF, "team/b": QUARTER}
    assert groups(by="purpose", where={"dataset": ""}) == {"": SIXTEENTH}
    assert groups(by="model") == {MODEL: HALF, f"{MODEL},{OTHER}": QUARTER, "": EIGHTH.plus(SIXTEENTH)}
    assert groups(by="dataset", where={"model": "cd"}) == {"hospital": QUARTER}
    found = breakdown(LEDGER.entries, Question())
    assert (found.together.charges, found.together.open, found.together.simulated) == (4, 1, 3)


@pytest.mark.parametrize("by", BY)
def test_groups_add_up_to_what_the_ledger_spent(by: str) -> None:
    found = breakdown(LEDGER.entries, Question(by))
    total = NOTHING
    for group in found.groups:
        total = total.plus(group.amount)
    assert total == found.together.amount == found.whole
    assert found.rule.guarantee(found.whole, LEDGER.budget) == LEDGER.spent


@given(st.integers(0, 20), st.integers(0, 20))
def test_a_charge_is_in_one_period(one: int, other: int) -> None:
    times = sorted({int(json.loads(entry.line)["time"]) for entry in LEDGER.entries})
    cut = times[min(one, len(times) - 1)] + other % 2
    early = breakdown(LEDGER.entries, Question(until=cut)).together
    late = breakdown(LEDGER.entries, Question(since=cut)).together
    assert early.amount.plus(late.amount) == breakdown(LEDGER.entries, Question()).whole
    assert early.charges + late.charges == 4


def test_all_given_back_is_no_charge() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.reserve(Plan.of(PureDP(0.25), 2), adjacency=ReplaceOne()).give_back()
    assert breakdown(ledger.entries, Question()).groups == ()


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"by": "weather"}, "'weather' is not something that charges say"),
        ({"where": {"weather": "fine"}}, "'weather' is not something"),
        ({"since": 2, "until": 2}, "not before"),
    ],
)
def test_what_nobody_says_cannot_be_asked(question: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Question(**question)  # type: ignore[arg-type]  # that is what is tried


# --- differences -----------------------------------------------------------------------------------------------


def test_a_reading_grows_is_cut_and_is_rewritten() -> None:
    entries = list(LEDGER.entries)
    assert difference(entries, entries).relation == "the same"
    grown = difference(entries[:5], entries)
    assert (grown.relation, grown.shared, grown.new, grown.continues) == ("grown", 5, tuple(entries[5:]), True)
    cut = difference(entries, entries[:5])
    assert (cut.relation, cut.shared, cut.continues) == ("cut", 5, False)
    forged = attrs.evolve(entries[3], digest="0" * 64)
    assert difference(entries, [*entries[:3], forged, *entries[4:]]).relation == "rewritten"
    assert difference(entries, list(written().entries)).relation == "another ledger"
    assert difference([], entries).relation == "grown"


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_readings_are_related_as_their_entries_are(one: list[int], other: list[int]) -> None:
    earlier, later = ([Entry(n, "charged", str(k), str(k)) for n, k in enumerate(each)] for each in (one, other))
    found = difference(earlier, later)
    assert found.continues == (other[: len(one)] == one)
    assert (found.relation == "cut") == (one != other and one[: len(other)] == other)


# --- the commands ----------------------------------------------------------------------------------------------


def said(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["ledger", *arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.output


@pytest.fixture
def study(tmp_path: Path) -> str:
    path = tmp_path / "study.db"
    written(f"sqlite:///{path}").close()
    return str(path)


def test_the_command_answers(study: str) -> None:
    code, text = said("spent", study, "--by", "dataset")
    assert code == 0
    assert all(each in text for each in ("hospital", "school", "(not said)", "together", "1 not released", "SIMULATED"))
    code, text = said("spent", study, "--by", "user", "--where", "dataset=hospital", "--json")
    [group] = json.loads(text)["groups"]
    assert (group["said"], group["charges"], group["amount"]["loss"]) == ("ada", 2, 0.75)
    code, text = said("spent", study, "--by", "user", "--csv")
    rows = list(csv.reader(io.StringIO(text)))
    assert [row[0] for row in rows] == ["user", "ada", "'=bo", ""]
    year = datetime.datetime.fromtimestamp(time.time(), tz=datetime.UTC).year
    assert "nothing" not in said("spent", study, "--by", "year", "--from", f"{year - 1}-01-01")[1]
    assert json.loads(said("spent", study, "--to", "2020-01-01", "--json")[1])["groups"] == []


def test_what_does_not_hold_is_not_added_up() -> None:
    """Or what nobody gave back would make the answer less than what was spent."""
    entries = list(LEDGER.entries)
    place = next(entry.number for entry in entries if entry.kind == "returned")
    with pytest.raises(LedgerBroken, match=f"entry {place}: "):
        breakdown(
            rewritten(
                entries, place, '"amount":{"delta":"0p0","loss":"3p-2"}', '"amount":{"delta":"0p0","loss":"1p0"}'
            ),
            Question(),
        )
    said = next(entry for entry in entries if '"user":"ada"' in entry.line)
    spoilt = attrs.evolve(said, line=said.line.replace('"user":"ada"', '"user":"bo"'))
    with pytest.raises(LedgerBroken, match=f"entry {said.number}: "):
        breakdown([*entries[: said.number], spoilt, *entries[said.number + 1 :]], Question("user"))


def test_charges_of_which_no_model_came_are_found() -> None:
    assert groups(by="user", where={"model": ""}) == {"=bo": EIGHTH, "": SIXTEENTH}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--by", "weather"), "expected one of dataset"),
        (("--where", "hospital"), "--where: expected NAME=TEXT"),
        (("--from", "March"), "--from: expected a time as 2026-03-01"),
        (("--csv", "--json"), "not both"),
    ],
)
def test_a_bad_question_is_one_line(study: str, options: tuple[str, ...], reason: str) -> None:
    code, text = said("spent", study, *options)
    assert code == 2
    assert reason in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T00:00:00.25", 1_772_323_200_250_000_000),
        ("1969-12-31T23:59:59.5", -500_000_000),
        ("2026-03-01T01:00+01:00", 1_772_323_200_000_000_000),
    ],
)
def test_times_are_exact(text: str, expected: int) -> None:
    assert nanoseconds("--to", text) == expected


def test_two_readings_are_compared(study: str, tmp_path: Path) -> None:
    march = str(tmp_path / "march.jsonl")
    said("export", study, "--out", march)
    assert said("diff", march, study)[0] == 0
    with Ledger.open(f"sqlite:///{study}") as ledger:
        head = ledger.head
        ledger.concerning(About(user="cy")).reserve(Plan.of(PureDP(0.1), 1), adjacency=ReplaceOne())
    for earlier in (march, head):
        code, text = said("diff", earlier, study)
        assert code == 0
        assert "it has grown" in text
        assert "user cy" in text
    code, text = said("diff", study, march)
    assert code == 1
    assert "IT WAS CUT OFF" in text
    assert said("diff", "0" * 64, study)[0] == 2
    assert json.loads(said("diff", march, study, "--json")[1])["new"] == {"charged": 1}


def test_a_fit_notes_its_model() -> None:
    ledger = paid_models.books("private boost").concerning(About(dataset="people"))
    model = paid_models.build("private boost", epsilon=1.0, delta=1e-6, ledger=ledger)
    model.fit(paid_models.X, paid_models.Y)
    found = breakdown(ledger.entries, Question(by="model", where={"dataset": "people"}))
    assert [group.said for group in found.groups] == [model.receipts_[0].bought]
    assert ledger.verify().sound
