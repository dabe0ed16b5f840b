"""What each rule of composition comes to, for people: a line, and a table."""

import math

from accountant.audit import in_symbols, left_text, rounded_up
from accountant.audit.outlook import Advice, RuleTotal
from exchequer.console import output


def headline(found: Advice) -> str:
    """The advice in a line: only what a rule could have promised."""
    best, own, most = found.best, found.own, found.most_left
    if own.total is None:
        return f"no total by {own.name}, the ledger's rule: {own.why}"
    if own.loss is None:
        return f"{own.name}, its rule, promises nothing"
    said = f"{own.name}, its rule, charged {in_symbols(own.total)}"
    if best is not None and not best.own and best.total is not None:
        return f"{said}; {best.name} would have charged {in_symbols(best.total)}"
    if all(line.loss is None for line in found.lines[1:]):
        return f"{said}; no other rule takes both this budget and these costs"
    said += "; no other rule would have charged less"
    if most is None or most.own or most.share is None or own.share is None:
        return said
    return f"{said}, but {most.name} would have {left_percent(most.share)} left, it has {left_percent(own.share)}"


def print_totals(found: Advice) -> None:
    """A line for each rule, and the one for reading only; then what they depend on, and why there is none."""
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
