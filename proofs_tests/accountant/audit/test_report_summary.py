"""The first page of a report: what it says is true in every state of a ledger, and each number says whose it is."""

import itertools
import math
import re
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Entry,
    FeatureValue,
    GDPComposition,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    ReplaceOne,
    Unbounded,
    ZCDPComposition,
)
from accountant.audit import Verifier, as_approx, verify
from accountant.audit.report import Evidence, Witness, report_of, style_sheet, summary_html
from accountant.audit.report.summary import Summary, summary_of
from accountant.costs.spendable import SECURE
from accountant.entries import About
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.reports import (
    KNOWN,
    MADE,
    Secure,
    html,
    open_ledger,
    page,
    rewritten,
    team_ledger,
    zcdp_ledger,
)
from proofs_tests.support.programs.markup import Element, parsed


def summary(entries: Sequence[Entry], expect: str | None = None, witness: Witness | None = None) -> Summary:
    evidence = Evidence()
    audit = Verifier(evidence, claims=KNOWN, expect_head=expect)
    audit.take(entries)
    return summary_of(evidence, audit.verification(), KNOWN, None, witness)


def tone_of(found: Summary, name: str) -> str:
    return next(light.tone.style for light in found.lights if light.name == name)


# --- the sentence ---------------------------------------------------------------------------------------------


@given(st.floats(0.001, 12.0), st.sampled_from([0.0, 1e-9, 1e-5, 0.01, 0.2]))
def test_the_chance_in_the_sentence_is_that_of_the_worst_pair(epsilon: float, delta: float) -> None:
    """Of all (ε, δ)-private pairs the worst one says all with probability δ, else tells the truth e^ε to 1."""
    ledger = Ledger(ApproxDP(20.0, 0.5), composition=BasicComposition(), adjacency=ReplaceOne())
    cost = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    ledger.reserve(Plan.of(cost), adjacency=ReplaceOne(), mechanism=Secure(0.1).description)
    said = summary(ledger.entries).sentence
    told = re.search(r"at most ([\d.]+) %", said)
    assert told is not None
    worst = delta + (1.0 - delta) / (1.0 + math.exp(-epsilon))
    assert float(told[1]) >= 100.0 * worst - 1e-7
    assert float(told[1]) <= 100.0 * worst + 0.0101
    assert ("δ = " in said) is bool(delta)
    assert "where blind guessing has 50 %" in said


@pytest.mark.parametrize(
    ("rule", "budget", "adjacency", "words"),
    [
        (BasicComposition(), PureDP(1.0), ReplaceOne(), "the true record of a person from a certain other one"),
        (BasicComposition(), PureDP(1.0), AddRemoveOne(), "whether the record of a person is in the data"),
        (BasicComposition(), PureDP(1.0), FeatureValue(2), "the true entry of a person in column 2"),
        (ZCDPComposition(), ZCDP(0.1), ReplaceOne(), "(δ = 1e-06 included)"),
        (GDPComposition(), GDP(0.5), ReplaceOne(), "(δ = 1e-06 included)"),
    ],
    ids=str,
)
def test_the_sentence_is_about_what_the_ledger_protects(
    rule: Composition, budget: Budget, adjacency: Adjacency, words: str
) -> None:
    ledger = open_ledger(rule, budget, adjacency)
    found = summary(ledger.entries)
    assert words in found.sentence
    assert found.number.what == "spent so far, of the whole privacy budget"
    value = float(found.number.value.removeprefix("ε = "))
    assert as_approx(ledger.spent).epsilon * (1.0 - 1e-12) <= value <= as_approx(ledger.spent).epsilon * 1.001
    assert as_approx(budget).epsilon <= float(found.number.of.removeprefix("of ")) <= 1.001 * as_approx(budget).epsilon
    assert found.number.at.startswith("at δ = ")


def test_the_budget_is_what_the_fine_print_is_about() -> None:
    found = summary(zcdp_ledger().entries)
    worst = math.ceil(1e4 * (1e-5 + (1.0 - 1e-5) / (1.0 + math.exp(-1.0)))) / 100
    assert f"at most {worst:.2f} % (ε = 1 at δ = 1e-05)" in found.rest


# --- states in which nothing may be promised ---------------------------------------------------------------------


def broken() -> list[Entry]:
    entries = list(zcdp_ledger().entries)
    entries[3] = attrs.evolve(entries[3], digest="0" * 64)
    return entries


def simulated() -> Sequence[Entry]:
    ledger = zcdp_ledger()
    ledger.release(RandomizedResponse(0.01), ledger.protect(True))
    return ledger.entries


def unbounded() -> Sequence[Entry]:
    ledger = Ledger(Unbounded(), composition=NoBound(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1), ledger.protect(True))
    return ledger.entries


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (broken, "do not hold together"),
        (simulated, "nobody in the data is protected"),
        (unbounded, "Nothing is promised"),
        (list, "cannot be read"),
        (lambda: zcdp_ledger().entries[1:], "cannot be read"),
    ],
)
def test_no_chance_is_named_where_nothing_is_promised(entries: object, words: str) -> None:
    assert callable(entries)
    found = summary(entries())
    assert words in found.sentence
    assert "%" not in found.sentence
    assert found.rest == ""
    assert found.headline.tone.style == "bad"
    assert tone_of(found, "Promise") == "bad" or tone_of(found, "Entries") == "bad"
    assert found.number.what != "spent so far, of the whole privacy budget"


def test_the_picture_of_a_ledger_in_doubt_says_so() -> None:
    for caption, name, text in drawn(page(broken())):
        assert name.startswith("In doubt: ")
        assert caption.startswith("By these entries: ")
        assert text.startswith("By these entries: ")


def test_a_witness_that_contradicts_takes_the_promise_away() -> None:
    found = summary(zcdp_ledger().entries, witness=Witness(False, "A witness has seen another head."))
    assert "contradicted" in found.sentence
    assert tone_of(found, "Kept head or witness") == tone_of(found, "Promise") == "bad"
    assert tone_of(summary(zcdp_ledger().entries, witness=Witness(True, "Seen.")), "Kept head or witness") == "good"


def test_a_kept_head_is_green_where_it_was_found_and_red_where_not() -> None:
    entries = zcdp_ledger().entries
    assert tone_of(summary(entries), "Kept head or witness") == "unchecked"
    assert tone_of(summary(entries, expect=entries[2].digest), "Kept head or witness") == "good"
    lost = summary(entries[:5], expect=entries[6].digest)
    assert tone_of(lost, "Kept head or witness") == "bad"
    assert not [light for light in lost.lights if light.tone.style == "good"]


def test_what_is_not_known_yet_is_a_condition_in_the_sentence() -> None:
    ledger = zcdp_ledger()
    ledger.reserve(Plan.of(PureDP(0.01), 5), adjacency=ReplaceOne())
    found = summary(ledger.entries)
    assert found.sentence.startswith("If the open charges draw secure noise: shown everything that was released")
    assert tone_of(found, "Promise") == tone_of(found, "Noise") == tone_of(found, "Open charges") == "warn"
    foreign = summary(rewritten(zcdp_ledger().entries, {SECURE: "a device"}))
    assert foreign.sentence.startswith("If noise from outside of this library is secure: ")


def test_a_claim_that_nobody_knows_is_not_green() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1, claims=("made-up",)), ledger.protect(True))
    evidence = Evidence()
    found = summary_of(evidence, verify(ledger.entries, evidence), KNOWN, None, None)  # that looked up no claims
    assert tone_of(found, "Proofs behind the costs") == tone_of(found, "Promise") == "bad"
    unchecked = summary_of(evidence, verify(ledger.entries), None, None, None)
    assert tone_of(unchecked, "Proofs behind the costs") == "unchecked"


# --- the picture ------------------------------------------------------------------------------------------------


def drawn(tree: Element) -> list[tuple[str, str, str]]:
    """Caption, alternative name and alternative text of each bar."""
    (figure,) = [each for each in tree.find("figure") if each.attributes.get("class") == "budgets"]
    texts = []
    for item in figure.find("li"):
        (svg,) = item.find("svg")
        assert svg.attributes["role"] == "img"
        ids = svg.attributes["aria-labelledby"].split()
        inside = {
            each.attributes["id"]: "".join(map(str, each.children)) for each in svg.below() if "id" in each.attributes
        }
        texts.append((item.text, inside[ids[0]], inside[ids[1]]))
    return texts


def test_every_caption_names_the_budget_that_it_is_about() -> None:
    found = drawn(page(team_ledger().entries))
    names = ["the whole budget", "the budget of other", "the budget of team", "the budget of team/part"]
    for (caption, name, text), whom in zip(found, names, strict=True):
        assert whom in caption
        assert whom in text
        assert name.endswith(whom.removeprefix("the budget of "))
    assert found[3][0] == "69.0 % of the budget of team/part is left."
    assert found[3][2] == "31.0 % of the budget of team/part is used."
    assert found[1][0] == "10.0 % of the budget of other is used, and it is closed."


def test_no_share_stands_anywhere_without_its_budget() -> None:
    ledger = team_ledger()
    data = ledger.protect(True)
    ledger.concerning(About(dataset="hospital")).release(Secure(0.1), data, account="work")
    for tree in (page(ledger.entries), page(zcdp_ledger().entries)):
        said = " ".join(each.text for each in tree.find("section")) + " ".join(text for _, _, text in drawn(tree))
        for share in re.finditer(r"[\d.]+ % (?:of [a-z ]*)?(?:is )?(?:left|used)", said):
            assert "of the budget of" in share[0] or "of the whole budget" in share[0], share[0]
        assert not re.search(r"% (?:left|used|spent)", said)


def test_without_sub_budgets_the_picture_is_of_data_sets() -> None:
    ledger = zcdp_ledger(0)
    data = ledger.protect(True)
    for name in "abcdef":
        ledger.concerning(About(dataset=name)).release(Secure(0.1), data)
    found = drawn(page(ledger.entries))
    assert [text for _, _, text in found][1].endswith("of the whole budget was spent on a.")
    assert len(found) == 4
    assert "3 data sets with less are not shown" in html(ledger.entries)


def test_many_sub_budgets_are_counted_and_the_fullest_are_shown() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    for number in range(9):
        below = ledger.allocate(f"team-{number}", 0.0625)
        below.release(Secure(0.005 * number + 0.001), below.protect(True))
    found = summary(ledger.entries)
    assert found.picture is not None
    assert [bar.name for bar in found.picture.bars] == [
        "the whole budget",
        *(f"team-{number}" for number in range(5, 9)),
    ]
    assert "the 4 of 9 sub-budgets" in found.picture.note


# --- alone, and for everybody -----------------------------------------------------------------------------------


def test_the_summary_can_stand_alone() -> None:
    entries = team_ledger().entries
    evidence = Evidence()
    checked = verify(entries, evidence)
    alone = parsed(summary_html(evidence, verification=checked, claims=KNOWN))
    whole = parsed(
        report_of(
            evidence,
            verification=checked,
            claims=KNOWN,
            second_opinion=None,
            title="x",
            made=MADE,
            window="Since March",
        )
    )
    (block,) = [each for each in whole.find("section") if each.attributes.get("class") == "summary"]
    assert alone.text == block.text
    assert "Since March" in whole.find("header")[0].text
    assert style_sheet().startswith("<style>")
    assert style_sheet() in html(entries)


def test_headings_are_in_order_and_the_skip_link_comes_first() -> None:
    for entries in (team_ledger().entries, broken(), unbounded(), []):
        tree = page(entries)
        levels = [int(each.name[1]) for each in tree.below() if re.fullmatch("h[1-6]", each.name)]
        assert levels[:2] == [1, 2]
        assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
        first = tree.find("a")[0]
        assert first.attributes["class"] == "skip"
        ids = [each.attributes["id"] for each in tree.below() if "id" in each.attributes]
        assert first.attributes["href"].removeprefix("#") in ids
        assert [len(tree.find(name)) for name in ("header", "main", "footer", "nav")] == [1, 1, 1, 1]


def colours() -> dict[str, tuple[float, ...]]:
    found = re.findall(r"--([a-z-]+): #([0-9a-f]{6})", style_sheet())
    return {name: tuple(int(code[place : place + 2], 16) / 255 for place in (0, 2, 4)) for name, code in found}


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("ink", "paper", "least"),
    [
        *((ink, paper, 4.5) for ink in ("ink", "soft", "accent") for paper in ("paper", "tint", "accent-tint")),
        *((tone, paper, 4.5) for tone in ("good", "warn", "bad") for paper in ("paper", f"{tone}-tint")),
        *((ink, f"{tone}-tint", 4.5) for tone in ("good", "warn", "bad") for ink in ("ink", "soft")),
        ("accent", "accent-tint", 3.0),  # a bar and what is not filled of it
    ],
)
def test_colours_stand_out(ink: str, paper: str, least: float) -> None:
    dim, bright = sorted(luminance(colours()[name]) for name in (ink, paper))
    assert (bright + 0.05) / (dim + 0.05) >= least


def test_long_names_keep_what_tells_them_apart() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    for number in range(3):
        below = ledger.allocate("x" * 100 + f"-{number}", 0.25)
        below.release(Secure(0.01), below.protect(True))
    found = drawn(page(ledger.entries))
    assert len({caption for caption, _, _ in found}) == 4
    assert all(len(caption) < 100 for caption, _, _ in found)
