"""`exchequer ledger advise`: what other rules of composition would have charged for the same entries."""

import json

import click

from accountant import ApproxDP
from accountant.audit import Spending
from accountant.audit.outlook import Advice, Releases, RuleTotal, advise
from accountant.costs import open_probability
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import reading, replayed
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from exchequer.console.rule_totals import headline, print_totals


def print_advice(location: str, delta: float | None, *, as_json: bool) -> None:
    """Print the totals of all rules. Raises ValueError for a delta that does not fit, and as `reading` does."""
    at = None if delta is None else checked("--delta", open_probability, delta)
    spending = Spending()
    with reading(location) as entries, output.entries_bar("reading", len(entries)) as progress:
        replayed(entries, spending, progress=progress)
    with about("--delta"):
        found = advise(Releases.of(spending), spending.rule, spending.promise.budget, spent=spending.total, delta=at)
    if as_json:
        record = {"ledger": entries.name, "charges": spending.charges, **as_dict(found)}
        click.echo(json.dumps(record, indent=1, allow_nan=False))
        return
    output.title(f"{entries.name}: {headline(found)}")
    print_totals(found)
    output.paragraph(
        "\nA rule is fixed when a ledger is opened: this is advice for the next one. Every total but that for reading "
        "only holds although each release was chosen after seeing those before."
    )
    if not isinstance(found.budget, ApproxDP) or not found.budget.delta:
        output.paragraph("Other rules need a budget with a δ: --delta 1e-6 compares them all at that δ.")


def as_dict(found: Advice) -> dict[str, object]:
    """For JSON; totals are rounded up, what is left down."""
    reading, best = found.reading, found.best
    return {
        "budget": found.budget.as_dict(),
        "rules": [_record(line) for line in found.lines],
        "best": None if best is None else best.name,
        "most_left": None if found.most_left is None else found.most_left.name,
        "for_reading_only": None
        if reading is None
        else {
            "name": reading.name,
            "epsilon": reading.epsilon,
            "delta": reading.delta,
            "note": reading.note,
            "claims": list(reading.claims),
        },
    }


def _record(line: RuleTotal) -> dict[str, object]:
    return {
        "rule": line.name,
        "composition": None if line.rule is None else line.rule.describe(),
        "own": line.own,
        "unit": None if line.rule is None else line.rule.unit,
        "amount": None if line.amount is None else amount_record(line.amount, up=True),
        "total": None if line.total is None else line.total.as_dict(),
        "left": None if line.left is None else amount_record(line.left),
        "share_left": line.share,
        "fits": line.fits,
        "claims": list(line.claims),
        "why": line.why or None,
    }
