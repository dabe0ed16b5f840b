"""`exchequer ledger advise`: what other rules of composition would have charged for the same entries."""

import json
import math

import click

from accountant.audit import Spending, in_symbols, left_text, rounded_up
from accountant.audit.outlook import Advice, Releases, RuleTotal, advise
from accountant.costs import open_probability
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import reading, replayed
from exchequer.console import output
from exchequer.console.input_errors import about, checked


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
    if found.best is None or (found.best.own and not any(line.loss is not None for line in found.lines[1:])):
        output.paragraph("Other rules need a budget with a δ: --delta 1e-6 compares them all at that δ.")


def headline(found: Advice) -> str:
    """The advice in a line: only what a rule could have promised."""
    best, own, most = found.best, found.own, found.most_left
    if own.total is None:
        return f"no total by {own.name}, the ledger's rule: {own.why}"
    said = f"{own.name}, its rule, charged {in_symbols(own.total)}"
    if best is not None and not best.own and best.total is not None:
        return f"{said}; {best.name} would have charged {in_symbols(best.total)}"
    said += "; no other rule would have charged less"
    if most is None or most.own or most.share is None or own.share is None:
        return said
    return f"{said}, but {most.name} would have {left_percent(most.share)} left, it has {left_percent(own.share)}"


def print_totals(found: Advice) -> None:
    """A line for each rule, and the one for reading only; then what they rest on, and why there is none."""
    rows = [
        (
            line.name,
            "-" if line.total is None else in_symbols(line.total),
            "-" if line.left is None or line.rule is None else f"{left_text(line.left, line.rule)}{_share(line)}",
            _remark(found, line),
        )
        for line in found.lines
    ]
    reading = found.reading
    if reading is not None:
        epsilon = "-" if reading.epsilon is None else f"ε = {rounded_up(reading.epsilon)} at δ = {reading.delta:g}"
        rows.append((reading.name, epsilon, "-", "for reading only"))
    output.table(["rule", "in all", "left", ""], rows, whole=["rule", "in all"])
    said = [(line.name, line.why or f"by {_claims(line.claims)}") for line in found.lines]
    said += [] if reading is None else [(reading.name, f"by {_claims(reading.claims)}; {reading.note}")]
    output.facts(said)


def _claims(claims: tuple[str, ...]) -> str:
    return ", ".join(f"[{claim}]" for claim in claims) or "no theorem"


def _share(line: RuleTotal) -> str:
    return "" if line.share is None or line.left is None or line.left.endless else f" ({left_percent(line.share)})"


def left_percent(share: float) -> str:
    """A share that is left, rounded down."""
    return f"{math.floor(share * 1000) / 10:g} %"


def _remark(found: Advice, line: RuleTotal) -> str:
    said = ["the ledger's own"] if line.own else []
    said += ["least"] if line is found.best else []
    said += ["most left"] if line is found.most_left else []
    said += ["MORE THAN THE BUDGET"] if line.fits is False else []
    return ", ".join(said)


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
