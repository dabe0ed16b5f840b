"""The auditor's report: it says what the ledger says, rounded the safe way, and obeys nobody who wrote into them."""

import re

import attrs
import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    FeatureValue,
    FeatureValues,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.displayed_numbers import rounded_up
from accountant.audit.report import report
from accountant.audit.report.questions import LedgerFacts, questions
from accountant.audit.second_opinion import second_opinion
from accountant.audit.verification import Verification, verify
from accountant.costs.spendable import SECURE
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.reports import (
    KNOWN,
    MADE,
    Secure,
    notices,
    open_ledger,
    page,
    rewritten,
    sentence,
    team_ledger,
    zcdp_ledger,
)
from proofs_tests.support.programs.markup import parsed, section, table

PROMISES: list[tuple[Composition, Budget, Adjacency]] = [
    (BasicComposition(), PureDP(1.0), AddRemoveOne()),
    (BasicComposition(), ApproxDP(1.0, 1e-6), FeatureValue(2)),
    (BasicComposition(), ApproxDP(1.0, 1e-6), FeatureValues((0, 2))),
    (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5), ReplaceOne()),
    (ZCDPComposition(), ApproxDP(1.0, 1e-5), ReplaceOne()),
    (ZCDPComposition(), ZCDP(0.1), ReplaceOne()),
    (GDPComposition(), ApproxDP(1.0, 1e-5), ReplaceOne()),
    (GDPComposition(), GDP(0.5), AddRemoveOne()),
]


# --- the guarantee ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "budget", "adjacency"), PROMISES, ids=str)
def test_the_guarantee_is_that_of_the_statement(rule: Composition, budget: Budget, adjacency: Adjacency) -> None:
    ledger = open_ledger(rule, budget, adjacency)
    tree = page(ledger.entries)
    said = ledger.statement().guarantee
    told = re.search(r"is together (.*) under ", said)
    assert told is not None
    assert f"is together {told[1]}" in sentence(tree)
    assert f"({adjacency.name})" in sentence(tree)
    assert rule.name in sentence(tree).lower()
    for name, number in ledger.spent.as_dict().items():
        if name != "kind":
            assert rounded_up(float(number)) in sentence(tree)


def test_no_number_of_the_guarantee_is_below_what_was_spent() -> None:
    ledger = zcdp_ledger(6)
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    found = re.search(r"ε = ([\d.e-]+) at δ = ([\d.e-]+\d)", sentence(page(ledger.entries)))
    assert found is not None
    assert spent.epsilon <= float(found[1]) <= spent.epsilon * (1.0 + 1e-5)
    assert float(found[2]) >= spent.delta


@pytest.mark.parametrize(
    ("adjacency", "words"),
    [
        (ReplaceOne(), "replacing a single record"),
        (AddRemoveOne(), "adding or removing a single record"),
        (FeatureValue(2), "one entry of one column, number 2 counted from 0"),
        (FeatureValues((0, 2)), "the entries of a single record in the columns 0, 2"),
    ],
)
def test_the_unit_of_privacy_is_told_in_plain_words(adjacency: Adjacency, words: str) -> None:
    ledger = open_ledger(BasicComposition(), PureDP(1.0), adjacency)
    assert words in section(page(ledger.entries), "The guarantee").text


def test_the_readings_are_those_of_what_was_spent() -> None:
    ledger = open_ledger(BasicComposition(), PureDP(1.0), ReplaceOne(), 3)
    rows = {row[0]: row[1:] for row in table(page(ledger.entries), "The promise in plain words")}
    assert "factor 1.35" in rows["Any event"][0]
    assert "57.45 %" in rows["A guess"][0]
    assert "6.75 %" in rows["A test"][0]
    several = table(page(ledger.entries), "If one person")
    assert several[1][:2] == ["2 records", "ε = 0.6 at δ = 0"]


# --- what stands at the top ---------------------------------------------------------------------------------


def test_sound_books_say_so_first() -> None:
    ledger = zcdp_ledger()
    found = notices(page(ledger.entries))
    assert len(found) == 1
    assert found[0].startswith("✔ The ledger is sound")
    assert ledger.head in found[0]
    assert "7 entries" in found[0]


def test_unsound_books_are_reported_with_all_that_is_wrong() -> None:
    entries = list(zcdp_ledger().entries)
    entries[3] = attrs.evolve(entries[3], line=entries[3].line.replace("0.1", "0.05"))
    checked = verify(entries)
    tree = page(entries, checked)
    assert notices(tree)[0].startswith("✘ The ledger is NOT SOUND")
    assert all(error in notices(tree)[0] for error in checked.errors)
    assert "no guarantee follows" in section(tree, "The guarantee").text
    assert "The budget was fixed when" not in section(tree, "The guarantee").text


def test_many_findings_are_counted() -> None:
    entries = zcdp_ledger().entries
    checked = Verification(tuple(f"finding number {n}" for n in range(90)), (), len(entries), entries[-1].digest)
    assert "finding number 19 and 70 more" in notices(page(entries, checked))[0]


def test_a_simulation_cannot_be_missed() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    tree = page(ledger.entries)
    loud = [each for each in tree.find("div") if "loud" in each.attributes.get("class", "").split()]
    assert [each.text.lower().startswith("simulation: not private") for each in loud] == [True]
    assert sentence(tree).startswith("With secure noise, everything released so far would together be 0.1-")
    assert "simulation: not private" in table(tree, "Sources of noise")[1]
    assert "a simulation, so nothing here is private" in section(tree, "The questions").text


def test_a_single_simulated_release_among_secure_ones_is_enough() -> None:
    ledger = zcdp_ledger(2)
    ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    tree = page(ledger.entries)
    assert any("simulation" in each.lower() for each in notices(tree))
    assert {row[0]: row[1] for row in table(tree, "Sources of noise")[1:]} == {
        "secure (exact)": "secure",
        "seeded (numpy)": "simulation: not private",
    }


def test_an_open_reservation_that_said_nothing_leaves_the_noise_unknown() -> None:
    ledger = zcdp_ledger()
    ledger.reserve(Plan.of(PureDP(0.01), 5), adjacency=ReplaceOne())
    tree = page(ledger.entries)
    assert any("Noise source not known yet" in each for each in notices(tree))
    assert sentence(tree).startswith("With secure noise")


# --- who spent it, and on what ------------------------------------------------------------------------------


def test_sub_budgets_are_listed_as_the_ledger_has_them() -> None:
    ledger = team_ledger()
    rows = {row[0]: row[1:] for row in table(page(ledger.entries), "Budgets and sub-budgets")[1:]}
    assert list(rows) == ["the whole budget", "other", "team", "part"]
    assert rows["part"][0] == "Σε = 1, Σδ = 2.5e-06"
    assert rows["part"][1] == "Σε = 0.31 31.00 %"
    assert rows["part"][2] == "Σε = 0.69, Σδ = 2.5e-06"
    assert rows["other"] == ["Σε = 1, Σδ = 2.5e-06", "Σε = 0.1 10.00 %", "Σε = 0", "ε = 0.1 at δ = 0", "closed"]
    price = ledger.odometer().by_account
    assert {each.name for each in price} == {
        "team/work",
        "team/part/work",
        "other/work",
        "work",
        "team/plan",
        "team/part/trial",
    }


def test_spend_by_account_and_mechanism_is_that_of_the_odometer() -> None:
    ledger = team_ledger()
    tree, read = page(ledger.entries), ledger.odometer()
    accounts = table(tree, "By account")[1:]
    assert [row[0] for row in accounts] == [each.name for each in read.by_account]
    mechanisms = table(tree, "By mechanism, as it was charged")[1:]
    assert len(mechanisms) == len(read.by_mechanism)
    by_name = {row[0].split(" ")[0]: row for row in mechanisms}
    assert by_name["Response(bit)"][0].endswith("and 1 other cost")
    assert "100 × bounded-range ε = 0.01" in by_name["plan"][0]
    assert "1 × pure-dp ε = 0.01" in by_name["plan"][0]  # nine of ten rounds were given back


def test_what_was_released_is_told_with_its_bounds() -> None:
    rows = table(page(team_ledger().entries), "By mechanism, as it was released")
    name, rounds, sensitivity, zeta, noise = rows[1]
    assert name == "Response(bit) epsilon = 0.01 to 0.4, rule = <i>odds</i>"
    assert (rounds, sensitivity, zeta, noise) == ("5", "1 in linf", "0.25", SECURE)


def test_open_charges_given_back_rounds_and_plans_are_listed() -> None:
    ledger = team_ledger()
    tree = page(ledger.entries)
    (_, opened) = table(tree, "Charges without a release")
    assert opened[2:5] == ["team/plan", "plan", "100"]
    (_, given) = table(tree, "Rounds that were given back")
    assert given[3] == "9"
    assert given[4] == "Σε = 0.09"
    (_, plan) = table(tree, "Plans that were charged as one thing")
    price = next(record for entry in ledger.entries if (record := entry.record).get("priced"))["priced"]
    assert isinstance(price, dict)
    assert plan[3] == f"ε = {rounded_up(price['cost']['epsilon'])} at δ = 1e-06"
    assert plan[4] == price["route"]
    assert plan[0] == opened[0]


def test_the_rules_that_might_have_been_are_those_of_the_odometer() -> None:
    ledger = zcdp_ledger()
    rows = {row[0].split(" ")[0]: row[1] for row in table(page(ledger.entries), "ε at δ = 1e-05 by rule")[1:]}
    assert next(iter(rows)) == "zcdp"
    expected = {each.name: each.epsilon for each in ledger.odometer().other_rules(1e-5)}
    assert rows == {name: rounded_up(epsilon) for name, epsilon in expected.items() if epsilon is not None}
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    assert float(rows["zcdp"]) >= spent.epsilon


def test_a_second_opinion_stands_beside_the_books() -> None:
    pytest.importorskip("dp_accounting", reason="the second accountant is not installed")
    entries = zcdp_ledger().entries
    second = second_opinion(entries)
    made = report(entries, verification=verify(entries), claims=KNOWN, second_opinion=second, title="x", made=MADE)
    tree = parsed(made)
    rows = table(tree, "Totals side by side")[1:]
    assert [row[0] for row in rows] == [name for name, *_ in second.rows()]
    assert float(rows[0][1]) >= second.ours.epsilon  # type: ignore[operator]  # the ledger has a total
    assert "It agrees with this ledger" in section(tree, "A second opinion").text


def test_a_second_opinion_that_disagrees_is_told_at_the_top() -> None:
    pytest.importorskip("dp_accounting", reason="the second accountant is not installed")
    entries = zcdp_ledger().entries
    second = attrs.evolve(second_opinion(entries), understated="the newest running total is below the sum")
    made = report(entries, verification=verify(entries), claims=KNOWN, second_opinion=second, title="x", made=MADE)
    assert any("Contradicted by a second accountant" in each for each in notices(parsed(made)))
    assert "DISAGREES" in section(parsed(made), "A second opinion").text
    assert "the newest running total is below the sum" in section(parsed(made), "A second opinion").text


# --- what it depends on ---------------------------------------------------------------------------------------


def test_claims_are_shown_with_their_verdicts_and_unknown_ones_as_such() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1, claims=("L2", "made-up")), ledger.protect(True))
    tree = page(ledger.entries)
    rows = {row[0]: row[1:] for row in table(tree, "Results that costs")[1:]}
    assert set(rows) == {"L2", "basic", "made-up"}
    assert rows["L2"] == [KNOWN["L2"].verdict, KNOWN["L2"].statement, KNOWN["L2"].source]
    assert rows["made-up"][0] == "unknown"
    assert "1 of them are not in this version's registry" in section(tree, "The questions").text


def test_without_a_registry_the_ids_are_listed() -> None:
    entries = zcdp_ledger().entries
    made = report(entries, verification=verify(entries), claims=None, second_opinion=None, title="x", made=MADE)
    text = section(parsed(made), "Assumptions").text
    assert "No registry of claims was given" in text
    assert "zcdp-filter" in text


def test_the_trust_model_is_told() -> None:
    text = section(page(zcdp_ledger().entries), "Assumptions").text
    assert "curator's process holds the data and is trusted; whoever sees releases is not" in text
    assert "checked, not sandboxed" in text
    assert "Running time" in text


def test_the_questions_of_nist_are_answered_or_handed_to_people() -> None:
    ledger = zcdp_ledger()
    asked = table(page(ledger.entries), "From the top of the pyramid")[1:]
    assert len(asked) == 14
    assert {row[4] for row in asked} == {"the ledger", "in part", "people"}
    by_people = {row[0] for row in asked if row[4] == "people"}
    assert by_people == {"Usefulness and bias", "Side channels", "Data collection"}
    assert all(row[2] == "The ledger cannot say." for row in asked if row[0] in by_people)
    text = section(page(ledger.entries), "The questions").text
    assert text.index("The promise") < text.index("The algorithms") < text.index("The deployment")


@pytest.mark.parametrize(("rule", "budget", "adjacency"), PROMISES, ids=str)
def test_every_question_has_an_answer_or_says_who_has_it(
    rule: Composition, budget: Budget, adjacency: Adjacency
) -> None:
    ledger = open_ledger(rule, budget, adjacency, 0)
    opened = ledger._writer.state.opened
    assert opened is not None
    known = LedgerFacts(opened, ledger.spent, True, True, (), 0, 1, None)
    for question in questions(known):
        assert question.answer or question.left, question.name
        assert question.question.endswith("?")


def test_the_books_are_named_so_that_others_find_them() -> None:
    entries = rewritten(zcdp_ledger().entries, {})
    facts = dict(table(page(entries), "The ledger")[1:])
    assert facts["Head digest"] == entries[-1].digest
    assert facts["Ledger"] == entries[0].record["id"]
    assert facts["Entries"] == "7 (3 charged, 1 opened, 3 released)"
    assert facts["Opened"] == "2024-10-04 00:00:00 UTC"
    assert facts["Last entry"] == "2024-10-10 00:00:00 UTC"
    assert facts["Format of the entries"] == "2"


# --- drawings -------------------------------------------------------------------------------------------------


def test_the_burn_down_ends_where_the_books_do() -> None:
    ledger = open_ledger(BasicComposition(), PureDP(1.0), ReplaceOne(), 6)
    tree = section(page(rewritten(ledger.entries, {})), "How the budget was spent")
    assert len(tree.find("svg")) == 2  # by entry, and by time
    for drawing in tree.find("svg"):
        curve = next(each for each in drawing.find("path") if each.attributes["class"] == "curve")
        heights = [float(height) for height in re.findall(r"V([\d.]+)", curve.attributes["d"])]
        ceiling = next(each for each in drawing.find("line") if each.attributes["class"] == "ceiling")
        floor = max(float(each.attributes["y1"]) for each in drawing.find("line"))
        top = float(ceiling.attributes["y1"])
        assert heights[-1] == pytest.approx(floor - 0.6 * (floor - top), abs=0.2)
        assert heights == sorted(heights, reverse=True)


def test_drawings_are_told_to_those_who_do_not_see_them() -> None:
    ledger = open_ledger(BasicComposition(), PureDP(1.0), ReplaceOne(), 6)
    ids = {each.attributes["id"]: each for each in page(ledger.entries).below() if "id" in each.attributes}
    (drawing,) = section(page(ledger.entries), "How the budget was spent").find("svg")
    assert drawing.attributes["role"] == "img"
    name, text = drawing.attributes["aria-labelledby"].split()
    assert "Share of the whole budget spent" in "".join(str(each) for each in ids[name].children)
    assert "from 0.0 % to 60.0 %" in "".join(str(each) for each in ids[text].children)
