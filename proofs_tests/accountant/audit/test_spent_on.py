"""What charges say that they are about, added up in the pass of `verify`: the same as a pass of its own would find."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne
from accountant.audit import Reading, verify
from accountant.audit.breakdowns import Question, breakdown
from accountant.audit.report import Evidence, spent_on
from accountant.audit.report.about_chapters import WORDS
from accountant.entries import About, Entry
from proofs_tests.support.ledgers.reports import Secure, page
from proofs_tests.support.programs.markup import section, table

ABOUTS = (
    About(),
    About(dataset="hospital", user="ada", purpose="pilot"),
    About(dataset="hospital", user="grace"),
    About(dataset="(not said)"),
    About(user="ada"),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["release", "open", "give back", "give back some", "many"]), st.sampled_from(ABOUTS)),
    max_size=8,
)


def ledger_of(steps: list[tuple[str, About]]) -> list[Entry]:
    ledger = Ledger(ApproxDP(50.0, 1e-3), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for what, about in steps:
        handle = ledger.concerning(about)
        match what:
            case "open":
                handle.reserve(Plan.of(PureDP(0.25), 2), adjacency=ReplaceOne())
            case "give back":
                handle.reserve(Plan.of(PureDP(0.25), 2), adjacency=ReplaceOne()).give_back()
            case "give back some":
                with handle.reserve(Plan.of(PureDP(0.125), 4), adjacency=ReplaceOne()) as rounds:
                    rounds.release(Secure(0.125), data)
                    rounds.give_back()
            case _:
                for _ in range(5 if what == "many" else 1):
                    handle.release(Secure(0.5), data)
    return list(ledger.entries)


@settings(max_examples=60)
@given(STEPS)
def test_it_is_what_breakdowns_find(steps: list[tuple[str, About]]) -> None:
    entries = ledger_of(steps)
    evidence = Evidence()
    assert verify(entries, evidence).sound
    for name in WORDS:
        found = breakdown(entries, Question(by=name))
        expected = {group.said: (group.charges, group.amount, group.open) for group in found.groups}
        assert {each.said: (each.charges, each.amount, each.open) for each in evidence.abouts.by(name)} == expected
        assert [each.amount for each in evidence.abouts.by(name)] == [group.amount for group in found.groups]


def test_a_data_set_called_not_said_is_not_one_that_is_not_said() -> None:
    rows = table(page(ledger_of([("release", About(dataset="(not said)")), ("release", About())])), "By data set")[1:]
    assert sorted(row[0] for row in rows) == ["(not said)", "not said"]


def test_tables_are_for_what_is_said_alone() -> None:
    said = section(page(ledger_of([("release", About(dataset="hospital", user="ada"))] * 3)), "Which data")
    assert [each.find("caption")[0].text for each in said.find("table")] == ["By data set", "By user"]
    assert table(said, "By user")[1][:4] == ["ada", "3", "0", "Σε = 1.5"]
    nothing = section(page(ledger_of([("release", About())])), "Which data")
    assert "No charge says which data it is about" in nothing.text


def test_models_are_listed_with_the_data_sets_of_their_charges() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    numbers = []
    for name in ("clinic", "hospital", "clinic", ""):
        ledger.concerning(About(dataset=name)).release(Secure(0.0625), data)
        numbers.append(next(entry.number for entry in reversed(ledger.entries) if entry.kind == "charged"))
    ledger.note_model("a" * 64, numbers[:3])
    ledger.note_model("b" * 64, numbers[3:])
    first, second = table(page(ledger.entries), "Models that came of it")[1:]
    assert first[0] == "a" * 64
    assert first[3:] == [", ".join(map(str, numbers[:3])), "clinic, hospital"]
    assert second[3:] == [str(numbers[3]), "not said"]


def test_a_ledger_in_which_every_charge_is_about_something_else_takes_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spent_on, "MOST_ABOUTS", 3)
    entries = ledger_of([("release", About(dataset=f"table {number}")) for number in range(9)])
    evidence = Evidence()
    Reading(evidence).take(entries)
    found = {each.said: each.charges for each in evidence.abouts.by("dataset")}
    assert sum(found.values()) == 9
    assert len(found) <= 5
    assert found[spent_on.OTHERS] >= 5
