"""Books whose sums are right are called sound only where that protects somebody: in words, colours and exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import pytest
from click.testing import CliRunner
from rich.console import Console

from accountant import (
    BasicComposition,
    Description,
    Entry,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    ReplaceOne,
    Unbounded,
)
from accountant.audit.report import report
from accountant.audit.verification import MOST_SOURCES, Verifier, verify
from accountant.costs.spendable import SECURE, SEEDED, SOURCES, own_sources
from exchequer.commands.auditing.audit_ledger import CODES
from exchequer.console import output
from mechanisms import SecureNoise, SeededNoise
from proofs_tests.support.ledgers.doubles import Breaks, RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import ended, record
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.reports import MADE, Secure, notices, page
from proofs_tests.support.programs.markup import parsed, section, table

URL: Final = "sqlite:///study.db"


@attrs.frozen(slots=False)
class FromElsewhere(Secure):
    """Its noise comes from a source that is not this library's, and that says it is secure."""

    source: str = "a device"

    @property
    def description(self) -> Description:
        return attrs.evolve(super().description, noise=self.source)


def plain(ledger: Ledger) -> None:
    ledger.release(Secure(0.1), ledger.protect(True))


def simulated(ledger: Ledger) -> None:
    plain(ledger)
    ledger.release(RandomizedResponse(0.1), ledger.protect(True))


def simulated_at_last(ledger: Ledger) -> None:
    """A plan that announced nothing, and drew simulated noise for its last round."""
    bit = ledger.protect(True)
    with ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne()) as rounds:
        rounds.release(Secure(0.1), bit)
        rounds.release(RandomizedResponse(0.1), bit)


def unreleased(ledger: Ledger) -> None:
    plain(ledger)
    with pytest.raises(RuntimeError):
        ledger.release(Breaks(0.1), ledger.protect(True))


def reserved(ledger: Ledger) -> None:
    ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne(), mechanism=Secure(0.1).description)


def given_back(ledger: Ledger) -> None:
    ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne()).give_back()


def from_elsewhere(ledger: Ledger) -> None:
    ledger.release(FromElsewhere(0.1), ledger.protect(True))


def books(work: Callable[[Ledger], None], url: str | None = None, bounded: bool = True) -> tuple[Entry, ...]:
    budget, rule = (PureDP(2.0), BasicComposition()) if bounded else (Unbounded(), NoBound())
    relation = ReplaceOne()
    ledger = (
        Ledger(budget, composition=rule, adjacency=relation)
        if url is None
        else Ledger.open(url, budget, composition=rule, adjacency=relation)
    )
    with ledger:
        work(ledger)
        return tuple(ledger.entries)


CAVEATS: Final[dict[str, tuple[Callable[[Ledger], None], bool, str]]] = {
    "simulated": (simulated, True, "1 of 2 charges drew simulated noise"),
    "simulated in a plan": (simulated_at_last, True, "1 of 1 charges drew simulated noise"),
    "unreleased": (unreleased, True, "1 of 2 charges without a release"),
    "reserved": (reserved, True, "1 of 1 charges without a release"),
    "unbounded": (plain, False, "not private: this ledger promises nothing"),
    "unbounded and empty": (lambda ledger: None, False, "not private: this ledger promises nothing"),
}
PLAIN: Final[dict[str, Callable[[Ledger], None]]] = {
    "nothing": lambda ledger: None,
    "released": plain,
    "given back": given_back,
    "of a source from elsewhere": from_elsewhere,
}


@pytest.mark.parametrize("case", CAVEATS)
def test_what_verify_says_of_books_with_a_caveat(case: str) -> None:
    work, bounded, sentence = CAVEATS[case]
    found = verify(books(work, bounded=bounded))
    assert found.sound
    assert found.verdict == "with caveats"
    assert any(sentence in each for each in found.caveats)
    assert ("caveat", found.caveats[0]) == found.findings[0]
    assert str(found).startswith("the ledger adds up, WITH CAVEATS: ")
    assert "sound" not in str(found)
    assert len({text for _, text in found.findings}) == len(found.findings)


@pytest.mark.parametrize("case", PLAIN)
def test_plainly_sound_books(case: str) -> None:
    found = verify(books(PLAIN[case]))
    assert (found.verdict, found.caveats) == ("sound", ())
    assert str(found).startswith("the ledger is sound: ")


def test_errors_come_before_caveats() -> None:
    entries = books(simulated)
    found = verify(entries[1:])
    assert found.verdict == "not sound"
    assert found.findings[0][0] == "error"


def test_the_quick_reader_counts_caveats_too() -> None:
    def work(ledger: Ledger) -> None:
        bit = ledger.protect(True)
        for _ in range(40):
            ledger.release(RandomizedResponse(0.001), bit)
            ledger.release(FromElsewhere(0.001), bit)
        for _ in range(40):
            ledger.reserve(
                Plan.of(PureDP(0.001)), adjacency=ReplaceOne(), mechanism=FromElsewhere(0.001, source="b").description
            )

    entries = books(work)
    quick, slow = Verifier(), Verifier(fast=False)
    for audit in (quick, slow):
        audit.take(entries)
    found = quick.verification()
    assert found == slow.verification()
    assert found.caveats == (
        "40 of 120 charges drew simulated noise: their releases are not private",
        "40 of 120 charges without a release: they count as spent",
    )
    assert any("noise came from 'a device', 'b', no source of this library" in note for note in found.notes)


# --- the report -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CAVEATS)
def test_a_report_of_books_with_a_caveat_has_no_tick(case: str) -> None:
    work, bounded, sentence = CAVEATS[case]
    tree = page(books(work, bounded=bounded))
    assert not any("✔" in each or "sound" in each.split(".")[0] for each in notices(tree))
    assert notices(tree)[0].startswith("The ledger adds up, with caveats")
    assert sentence in notices(tree)[0]
    assert not [
        each for each in tree.find("div") if {"notice", "good"} <= set(each.attributes.get("class", "").split())
    ]


@pytest.mark.parametrize("case", PLAIN)
def test_a_report_of_plainly_sound_books_has_one(case: str) -> None:
    tree = page(books(PLAIN[case]))
    assert notices(tree)[0].startswith("✔ The ledger is sound")
    assert len([each for each in tree.find("div") if each.attributes.get("class") == "notice good"]) == 1


# --- the command line -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["simulated", "unreleased", "unbounded", "released", "of a source from elsewhere"])
@pytest.mark.usefixtures("folder")
def test_a_job_can_tell(case: str) -> None:
    work, bounded, sentence = CAVEATS.get(case) or (PLAIN[case], True, "")
    books(work, URL, bounded)
    code, verdict = (3, "with caveats") if sentence else (0, "sound")
    said = ended(code, "verify", "study.db").stdout
    assert ("WITH CAVEATS" in said) is ("study.db: sound" not in said) is bool(sentence)
    found = record("verify", "study.db", code=code)
    assert (found["verdict"], found["exit_code"], found["sound"]) == (verdict, code, True)
    assert (sentence in json.dumps(found["caveats"])) if sentence else found["caveats"] == []
    assert ("WITH CAVEATS" in ended(code, "report", "study.db", "--out", "report.html").stdout) is bool(sentence)
    strict = 1 if found["notes"] or found["caveats"] else 0
    ended(strict, "verify", "study.db", "--strict")


@pytest.mark.usefixtures("folder")
def test_a_report_is_held_against_a_head_that_was_kept() -> None:
    entries = books(plain, URL)
    ended(0, "report", "study.db", "--out", "found.html", "--expect-head", entries[1].digest)
    ended(0, "report", "study.db", "--out", "plain.html")
    ended(1, "report", "study.db", "--out", "lost.html", "--expect-head", "a" * 64)
    said = {name: parsed(Path(f"{name}.html").read_text(encoding="utf-8")).text for name in ("found", "plain", "lost")}
    assert "Kept head or witness: found" in said["found"]
    assert "Kept head or witness: not checked" in said["plain"]
    assert "Kept head or witness: not found" in said["lost"]
    assert "Do not rely on this ledger as it stands" in said["lost"]
    assert ended(2, "report", "study.db", "--out", "bad.html", "--expect-head", "abc").exit_code == 2
    assert not Path("bad.html").exists()


def test_every_verdict_has_a_code_of_its_own_and_no_other_command_ends_with_it() -> None:
    assert CODES == {"sound": 0, "with caveats": 3, "not sound": 1, "cannot be checked": 2}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("case", "colour"), [("released", "\x1b[1;32m"), ("simulated", "\x1b[1;33m")])
def test_only_a_plain_verdict_is_green(case: str, colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    books(PLAIN[case] if case in PLAIN else CAVEATS[case][0], URL)
    monkeypatch.setattr(
        output, "console", lambda: Console(highlight=False, force_terminal=True, color_system="standard")
    )
    lines = ended(CODES["sound" if case in PLAIN else "with caveats"], "verify", "study.db").stdout.splitlines()
    assert lines[0].startswith(colour)
    words = "privacy statement" if case in PLAIN else "simulation: not private"
    heading = next(line for line in ended(0, "show", "study.db").stdout.splitlines() if words in line)
    assert heading.startswith("\x1b[1m" if case in PLAIN else colour)


def test_the_help_says_so() -> None:
    from exchequer.cli import main

    for command in (["ledger", "--help"], ["ledger", "verify", "--help"], ["ledger", "report", "--help"], ["--help"]):
        said = " ".join(CliRunner().invoke(main, command).stdout.split())
        assert "caveat" in said, command
        assert "3" in said, command


# --- sources of noise that are nobody's here --------------------------------------------------------------------


def test_the_names_are_those_of_our_sources() -> None:
    assert (SecureNoise().name, SeededNoise(0).name) == (SECURE, SEEDED)
    assert {SECURE, SEEDED} <= SOURCES
    assert own_sources([SECURE, f"{SECURE}, {SEEDED}", "-", f"{SECURE}, mine"]) == ["mine"]


def test_a_source_from_elsewhere_is_named_and_not_called_secure() -> None:
    entries = books(from_elsewhere)
    found = verify(entries)
    assert found.notes == (
        "noise came from 'a device', no source of this library: that it is secure is its owner's word",
    )
    made = report(entries, verification=found, claims=None, second_opinion=None, title="A study", made=MADE)
    tree = parsed(made)
    assert table(tree, "Sources of noise")[1][:2] == ["a device", "not of this library"]
    assert "Nobody but their owners vouches for: a device." in section(tree, "The questions").text
    assert any("'a device'" in each for each in notices(tree))

    def many(ledger: Ledger) -> None:
        for number in range(MOST_SOURCES + 3):
            ledger.release(FromElsewhere(0.01, source=f"source {number}"), ledger.protect(True))

    assert "and 3 more, no source" in verify(books(many)).notes[0]


def test_statements_name_it_too() -> None:
    ledger = Ledger(PureDP(2.0), composition=BasicComposition(), adjacency=ReplaceOne())
    plain(ledger)
    assert "no source of this library" not in str(ledger.statement())
    from_elsewhere(ledger)
    assert "a device: no source of this library, taken at its owner's word" in str(ledger.statement())


def test_the_documents_name_every_exit_code() -> None:
    root = Path(__file__).parents[3]
    page = " ".join((root / "docs/how-to/audit-a-ledger.md").read_text(encoding="utf-8").split())
    assert "Exit code 0: sound, 1: not, 2: no answer, 3: the sums are right, with caveats" in page
    ledger = " ".join((root / "LEDGER.md").read_text(encoding="utf-8").split())
    assert "`with caveats` (3)" in ledger
