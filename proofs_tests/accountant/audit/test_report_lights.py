"""No light of a report is greener than the truth, whatever was found: all combinations of findings are tried."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accountant.audit.report import LightFacts, Tone, headline, lights
from accountant.audit.report.lights import left_percent, used_percent

FINE: Final = LightFacts(
    verdict="sound",
    errors=0,
    unreadable=0,
    promises=True,
    guess=0.6,
    used=0.2,
    fullest=0.5,
    fullest_name="team",
    charges=3,
    waiting=0,
    drawn=True,
    simulated=False,
    silent=0,
    foreign=(),
    second="agrees",
    head="found",
    claims="all known",
)

Change = Mapping[str, Any]

CASES: Final[dict[str, tuple[Change, ...]]] = {
    "entries": (
        {},
        {"verdict": "with caveats"},
        {"verdict": "not sound", "errors": 2},
        {"verdict": "cannot be checked"},
        {"unreadable": 1},
    ),
    "promise": ({}, {"guess": 0.999}, {"promises": False}),
    "budget": ({}, {"used": 0.95}, {"used": 1.0}, {"used": 1.5}, {"fullest": 0.95}, {"fullest": 1.5}),
    "charges": ({}, {"charges": 0}, {"waiting": 1}),
    "noise": ({}, {"drawn": False}, {"silent": 1}, {"foreign": ("a device",)}, {"simulated": True}),
    "second": ({}, {"second": "not asked"}, {"second": "agrees in part"}, {"second": "disagrees"}),
    "outside": (
        {},
        {"head": "not given"},
        {"head": "not found"},
        {"head": "not given", "witness": "A witness has seen this head.", "witness_agrees": True},
        {"witness": "A witness has seen another head.", "witness_agrees": False},
    ),
    "proofs": ({}, {"claims": "no registry"}, {"claims": "some unknown"}, {"on_trust": ("a rule",)}),
}

TRUTHS: Final[tuple[tuple[Tone, Callable[[LightFacts], bool]], ...]] = (
    (Tone.BAD, lambda known: known.verdict in ("not sound", "cannot be checked")),
    (Tone.BAD, lambda known: bool(known.errors or known.unreadable)),
    (Tone.BAD, lambda known: not known.promises),
    (Tone.BAD, lambda known: known.promises and (known.used >= 1.0 or known.fullest > 1.0)),
    (Tone.BAD, lambda known: known.simulated),
    (Tone.BAD, lambda known: known.second == "disagrees"),
    (Tone.BAD, lambda known: known.head == "not found" or (known.witness != "" and not known.witness_agrees)),
    (Tone.BAD, lambda known: known.claims == "some unknown"),
    (Tone.WARN, lambda known: known.verdict == "with caveats"),
    (Tone.WARN, lambda known: known.waiting > 0 or known.silent > 0),
    (Tone.WARN, lambda known: bool(known.foreign or known.on_trust)),
    (Tone.WARN, lambda known: known.guess >= 0.99),
    (Tone.WARN, lambda known: known.used >= 0.9 or known.fullest >= 0.9),
    (Tone.WARN, lambda known: known.second == "agrees in part"),
    (Tone.UNCHECKED, lambda known: known.second == "not asked" or known.claims == "no registry"),
    (Tone.UNCHECKED, lambda known: known.head == "not given" and not known.witness),
    (Tone.UNCHECKED, lambda known: not known.charges or not known.drawn),
)
"""The least that a reader has to be told, for each thing that may be found."""

GREEN_ONLY_IF: Final[dict[str, Callable[[LightFacts], bool]]] = {
    "Entries": lambda known: known.verdict == "sound",
    "Promise": lambda known: (
        known.promises
        and known.sound
        and not known.simulated
        and not known.silent
        and not known.foreign
        and known.second != "disagrees"
        and known.head != "not found"
        and known.claims != "some unknown"
        and known.guess < 0.99
    ),
    "Budget": lambda known: known.promises and known.used < 0.9 and known.fullest < 0.9,
    "Noise": lambda known: known.drawn and not known.simulated and not known.silent and not known.foreign,
    "Open charges": lambda known: known.charges > 0 and known.waiting == 0,
    "Kept head or witness": lambda known: (
        known.head != "not found" and (known.witness_agrees if known.witness else known.head == "found")
    ),
    "Second opinion": lambda known: known.second == "agrees",
    "Proofs behind the costs": lambda known: known.claims == "all known" and not known.on_trust,
}


def combinations() -> Iterator[LightFacts]:
    """Every combination of one case of each sort."""
    base = {name: getattr(FINE, name) for name in LightFacts.__annotations__}
    for chosen in itertools.product(*CASES.values()):
        changed = dict(base)
        for change in chosen:
            changed.update(change)
        yield LightFacts(**changed)


def test_no_combination_of_findings_is_greener_than_the_worst_of_them() -> None:
    tried = 0
    for known in combinations():
        tried += 1
        shown = lights(known)
        truth = max((tone for tone, holds in TRUTHS if holds(known)), default=Tone.GOOD)
        assert headline(shown).tone == truth, known
        for light in shown:
            if light.tone is Tone.GOOD:
                assert known.sound, (known, light)
                assert known.second != "disagrees", (known, light)
                assert known.head != "not found", (known, light)
                assert known.claims != "some unknown", (known, light)
                assert known.witness_agrees or not known.witness, (known, light)
                assert GREEN_ONLY_IF[light.name](known), (known, light)
    assert tried == 5 * 3 * 6 * 3 * 5 * 4 * 5 * 4


def test_only_where_everything_was_checked_is_everything_green() -> None:
    shown = lights(FINE)
    assert {light.name for light in shown} == set(GREEN_ONLY_IF)
    assert {light.tone for light in shown} == {Tone.GOOD}
    assert headline(shown).counts == ((Tone.GOOD, "8 in order"),)


@pytest.mark.parametrize("sort", CASES)
def test_every_light_says_in_words_what_its_colour_says(sort: str) -> None:
    for change in CASES[sort]:
        known = LightFacts(**{**{name: getattr(FINE, name) for name in LightFacts.__annotations__}, **change})
        for light in lights(known):
            assert light.word
            assert light.text.endswith(".")
            assert light.tone.symbol
            if light.tone is Tone.UNCHECKED:
                assert light.word in ("not checked", "not known", "no charges")
    assert len({tone.symbol for tone in Tone}) == len({tone.style for tone in Tone}) == len(Tone)


def test_nothing_at_all_is_not_green() -> None:
    assert headline(()).tone is Tone.UNCHECKED


@given(st.floats(0.0, 2.0))
@example(0.0)
@example(0.1 + 0.2)
@example(0.9999)
@example(1.0)
@example(5e-324)
def test_what_is_used_is_rounded_up_and_what_is_left_is_the_rest(share: float) -> None:
    used, left = float(used_percent(share)[:-2]), float(left_percent(share)[:-2])
    assert used >= 100.0 * share - 1e-8
    assert used <= 100.0 * share + 0.1 + 1e-9
    assert left == pytest.approx(max(100.0 - used, 0.0), abs=1e-9)
    assert used > 0.0 or share == 0.0
