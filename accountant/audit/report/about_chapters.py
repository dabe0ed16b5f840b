"""The section of a report on what charges say: which data, who, what for, and which models came of it."""

from collections.abc import Iterator
from typing import Final

from accountant.audit import percent, spent_text
from accountant.audit.report.burn_down import moment
from accountant.audit.report.chapters import Findings, and_more
from accountant.audit.report.evidence import part_of
from accountant.audit.report.page import (
    MOST_ROWS,
    Cell,
    Part,
    ReportSection,
    Table,
    TableRow,
    Text,
    columns,
    row,
    shown,
)
from accountant.audit.report.spent_on import ProducedModel, SpentOn

WORDS: Final = {"dataset": "data set", "user": "user", "purpose": "purpose", "program": "program", "host": "host"}
"""What is shown of what charges say, in this order."""

MOST_CHARGES: Final = 5
"""Charges of a model that a table names."""


def about(found: Findings) -> ReportSection:
    """What was spent on which data, by whom, for what; a table for each thing that any charge says."""
    return ReportSection("about", "Which data, who, what for", tuple(_about(found)))


def _about(found: Findings) -> Iterator[Part]:
    abouts = found.evidence.abouts
    if not abouts.said:
        yield Text(
            "No charge says which data it is about, nor who charged or what for. A ledger that is opened with "
            "about=About(dataset=...) writes it into every charge."
        )
    else:
        yield Text(
            "As whoever charged said it: nobody checks these words, but they stand in the entries and are covered by "
            "their digests. Rounds that were given back are left out; charges that were never released are not."
        )
        yield from (_table(found, name) for name in WORDS if abouts.says(name))
    if abouts.models:
        yield _models(found)


def _table(found: Findings, name: str) -> Table:
    groups, word = found.evidence.abouts.by(name), WORDS[name]
    return Table(
        f"By {word}",
        columns(word.capitalize(), "Charges", "Of them open", "Charged", "Part of the whole budget"),
        tuple(_row(found, group) for group in groups[:MOST_ROWS]),
        more=and_more(len(groups), f"{word}s"),
    )


def _row(found: Findings, group: SpentOn) -> TableRow:
    name = Cell(shown(group.said), code=True) if group.is_said else Cell("not said")
    ceiling = found.evidence.state.root.ceiling
    part = part_of(group.amount, ceiling)
    share = Cell("no limit") if ceiling.endless else Cell(percent(part), share=min(part, 1.0))
    return row(name, f"{group.charges:,}", f"{group.open:,}", spent_text(group.amount, found.rule), share)


def _models(found: Findings) -> Table:
    abouts = found.evidence.abouts
    return Table(
        "Models that came of it",
        columns("Model, by the digest of its content", "Entry", "At", "Of the charges in entries", "Data sets"),
        tuple(map(_model, abouts.models[:MOST_ROWS])),
        "A model file that has this digest, as `exchequer verify-model` computes it, was made of these charges.",
        and_more(abouts.produced, "models"),
    )


def _model(model: ProducedModel) -> TableRow:
    charges = model.record.charges
    named = ", ".join(f"{number:,}" for number in charges[:MOST_CHARGES])
    rest = len(charges) - MOST_CHARGES
    return row(
        Cell(shown(model.record.model), code=True),
        f"{model.number:,}",
        moment(model.record.time),
        f"{named} and {rest:,} more" if rest > 0 else named,
        ", ".join(shown(name, 60) for name in model.datasets[:MOST_CHARGES]) or "not said",
    )
