"""The report that an auditor gets: one HTML file that needs nothing else, made from the ledger in one pass.

It is a reading, never a check: `verify` checks, and its verdict stands at the top; only a ledger that is sound without
a caveat gets a tick. One that is not sound gets its report too, as somebody will have to look at it.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Final

import attrs

from accountant.audit import verify
from accountant.audit.report import about_chapters, chapters, spend_chapters
from accountant.audit.report.chapters import ClaimText, Findings
from accountant.audit.report.evidence import Evidence
from accountant.audit.report.light_facts import Checked, Witness
from accountant.audit.report.page import (
    Cell,
    Page,
    ReportSection,
    Table,
    TableRow,
    Text,
    Tone,
    columns,
    counted,
    listing,
    render,
    render_summary,
    row,
    shown,
)
from accountant.audit.report.questions import LedgerFacts, questions
from accountant.audit.report.summary import summary_of
from accountant.costs import Unbounded, own_sources
from accountant.entries import Entry, Opened

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion

MOST_AT_THE_TOP: Final = 20
"""Findings that stand before everything else; `verify` lists them all."""

UNBOUNDED: Final = (
    "This ledger promises nothing. It lists what was released, some of it perhaps at a cost without any bound, so that "
    "nobody takes it for private."
)


def report(
    entries: Iterable[Entry],
    *,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second_opinion: "SecondOpinion | None",
    title: str,
    made: datetime.datetime,
) -> str:
    """The report as HTML.

    entries: read once.  verification: what `verify` said about the same entries.
    claims: the registry by id; None if there is none at hand.  second_opinion: what another accountant said, if asked.
    made: the time that the report bears.
    """
    evidence = Evidence()
    verify(entries, evidence)
    return report_of(
        evidence, verification=verification, claims=claims, second_opinion=second_opinion, title=title, made=made
    )


def report_of(
    evidence: Evidence,
    *,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second_opinion: "SecondOpinion | None",
    title: str,
    made: datetime.datetime,
    witness: Witness | None = None,
    window: str = "",
    further: tuple[ReportSection, ...] = (),
) -> str:
    """The same of evidence that a `Verifier` gathered in the pass that found `verification`.

    witness: what somebody outside says of the head.  window: which time the report is about, if not all of it.
    further: sections that stand behind the guarantee, as `window_section` makes one.
    """
    page = _page(evidence, verification, claims, second_opinion, title, made)
    page = attrs.evolve(page, sections=(*page.sections[:1], *further, *page.sections[1:]))
    summary = summary_of(evidence, verification, claims, second_opinion, witness)
    return render(attrs.evolve(page, summary=summary, window=shown(window) if window else ""))


def summary_html(
    evidence: Evidence,
    *,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second_opinion: "SecondOpinion | None" = None,
    witness: Witness | None = None,
) -> str:
    """The first page alone, a `section` to be set under some `h1` beside `style_sheet()`."""
    return render_summary(summary_of(evidence, verification, claims, second_opinion, witness))


def _page(
    evidence: Evidence,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second: "SecondOpinion | None",
    title: str,
    made: datetime.datetime,
) -> Page:
    opened = evidence.opened
    nothing = opened is not None and isinstance(opened.budget, Unbounded)
    version = _version()
    return Page(
        summary=None,
        window="",
        title=shown(title),
        made=made.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sound=verification.sound,
        verified=_verified(verification),
        errors=listing(verification.errors, MOST_AT_THE_TOP),
        caveats=listing(verification.caveats),
        notes=listing((note for note in verification.notes if note not in verification.caveats), MOST_AT_THE_TOP),
        unbounded=UNBOUNDED if nothing else "",
        simulated="" if nothing else _simulated(evidence),
        unknown="" if nothing else _unknown(evidence),
        contradicted=_contradicted(second),
        sections=tuple(_sections(evidence, opened, verification, claims, second, version)) if opened else (_nothing(),),
        foot=f"Made by {version}. This file needs no network and holds no scripts. It shows what the ledger says; "
        "costs are rounded up, what is left is rounded down.",
    )


def _verified(verification: Checked) -> str:
    entries = counted(verification.entries, "entry", "entries")
    if verification.sound:
        return (
            f"{entries} read again: every digest fits the entry before it, every sum was recomputed exactly, and none "
            f"exceeds its budget. Head digest: {shown(verification.head)}"
        )
    found = counted(len(verification.errors), "finding")
    return f"{found} in {entries}. Nothing below is a guarantee; it is what the entries say."


def _simulated(evidence: Evidence) -> str:
    if evidence.private:
        return ""
    names = ", ".join(shown(name, 40) for name, source in evidence.sources.items() if not source.private)
    return (
        f"At least one release, or open charge, drew its noise from a simulation ({names}), which whoever knows its "
        "seed can undo. The figures below are what they would be with secure noise. They protect nobody."
    )


def _contradicted(second: "SecondOpinion | None") -> str:
    if second is None or second.agrees:
        return ""
    points = counted(len(second.disagreements), "point")
    return (
        f"An independent accountant disagrees with this ledger in {points}; see the section on the second opinion. "
        "Until that is explained the guarantee below should not be relied on."
    )


def _unknown(evidence: Evidence) -> str:
    if not evidence.unknown:
        return ""
    return (
        f"{counted(evidence.unknown, 'open charge')} did not announce what to release. Until that is closed nobody can "
        "say whether its noise is real, so the guarantee below is worded with that condition."
    )


def _nothing() -> ReportSection:
    text = "This ledger has no readable first entry, so it promises nothing, and there is nothing to report."
    return ReportSection("guarantee", "The guarantee", (Text(text),))


def _sections(
    evidence: Evidence,
    opened: Opened,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second: "SecondOpinion | None",
    version: str,
) -> Iterator[ReportSection]:
    spent = opened.composition.guarantee(evidence.state.total, opened.budget)
    found = Findings(evidence, opened, spent, verification.sound)
    yield chapters.guarantee(found)
    if found.promises:
        yield chapters.burn_down(found)
    yield spend_chapters.spend(found)
    yield about_chapters.about(found)
    if found.promises:
        yield spend_chapters.other_rules(found)
    if second is not None:
        yield spend_chapters.opinion(second)
    yield chapters.assumptions(found, claims)
    yield chapters.noise(found)
    yield spend_chapters.loose_ends(found)
    yield chapters.facts_of_ledger(found, verification.entries, verification.head, version)
    if found.promises:
        yield _questions(found, claims)


def _questions(found: Findings, claims: Mapping[str, ClaimText] | None) -> ReportSection:
    evidence = found.evidence
    ids = set(evidence.claims) | set(found.rule.claims)
    known = LedgerFacts(
        opened=found.opened,
        spent=found.spent,
        sound=found.sound,
        private=found.private,
        sources=tuple(shown(name, 40) for name in sorted(evidence.sources)),
        own_sources=tuple(shown(name, 40) for name in own_sources(evidence.sources)),
        charges=evidence.kinds["charged"],
        claims=len(ids),
        unknown_claims=None if claims is None else len(ids - set(claims)),
    )
    rows: list[TableRow] = []
    level = ""
    for asked in questions(known):
        tone: Tone = "good" if asked.who == "the ledger" else "warn"
        rows.append(
            row(
                asked.name,
                asked.question,
                asked.answer or "The ledger cannot say.",
                asked.left or "-",
                Cell(asked.who, tag=tone),
                group=asked.level if asked.level != level else "",
            )
        )
        level = asked.level
    return ReportSection(
        "questions",
        "The questions of NIST SP 800-226",
        (
            Text(
                "Guidelines for Evaluating Differential Privacy Guarantees (NIST, 2025) sets what a promise depends on "
                "as a pyramid: the numbers at its top are worth no more than what lies below. The ledger answers for "
                "the top. What happened outside of it, people have to answer for: who could see the data, how long it "
                "is kept, what leaks besides the results."
            ),
            Table(
                "From the top of the pyramid to its base",
                columns("Topic", "Question", "What the ledger says", "What people must answer", "Answered by"),
                tuple(rows),
            ),
        ),
    )


def _version() -> str:
    try:
        return f"Exchequer {metadata.version('exchequer')}"
    except metadata.PackageNotFoundError:
        return "Exchequer, from a checkout"
