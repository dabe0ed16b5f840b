"""The section of a report on a window of time: what was spent before, in and after it, which add up exactly."""

from typing import Final

from accountant.audit import in_symbols, spent_text
from accountant.audit.outlook import IN, Part, WindowSpending
from accountant.audit.report.burn_down import moment
from accountant.audit.report.chapters import and_more
from accountant.audit.report.page import MOST_ROWS, Cell, ReportSection, Table, TableRow, Text, columns, row, shown

PLACES: Final = ("Before", "In it", "After")


def window_text(found: WindowSpending) -> str:
    """Which time is looked at, for the head of a report; the rest of it is about the whole ledger."""
    return f"With a look at {_span(found)}; all other numbers are of the whole ledger"


def window_section(found: WindowSpending) -> ReportSection:
    """What was spent in the window, of a ledger that was read whole. Raises ValueError where it was never opened."""
    if found.missed:
        lost = f"{found.missed} entries could not be counted, so what was spent in {_span(found)} is not known."
        return ReportSection("window", "A window of time", (Text(lost),))
    parts = found.parts()
    alone = in_symbols(found.alone(parts[IN]))
    labels = found.by_account()
    whole = [*zip(PLACES, parts, strict=True), ("Together", parts[0].plus(parts[1]).plus(parts[2]))]
    return ReportSection(
        "window",
        "A window of time",
        (
            Text(f"In {_span(found)}, {parts[IN].charges:,} charges were made, which lose {alone} by themselves."),
            _table("Before, in and after that time", "When", found, whole),
            _table(
                "Charged in that time, by account", "Account", found, [(shown(name), labels[name]) for name in labels]
            ),
        ),
    )


def _span(found: WindowSpending) -> str:
    since, until = found.window.since, found.window.until
    begin = "the beginning" if since is None else moment(since)
    return f"the time from {begin} to {'the newest entry' if until is None else f'{moment(until)}, not included'}"


def _table(caption: str, what: str, found: WindowSpending, rows: list[tuple[str, Part]]) -> Table:
    return Table(
        caption,
        columns(what, "Charges", "Charged", "By itself", "Simulated"),
        tuple(_row(found, name, part) for name, part in rows[:MOST_ROWS]),
        "A charge counts at its own time, less what was given back of it. By itself: what these charges lose without "
        "the others; all of them together lose what the whole ledger spent.",
        and_more(len(rows), "accounts"),
    )


def _row(found: WindowSpending, name: str, part: Part) -> TableRow:
    simulated = Cell(f"{part.simulated:,}: not private", tag="bad") if part.simulated else Cell("0")
    spent = spent_text(part.amount, found.rule)
    return row(Cell(name), f"{part.charges:,}", spent, in_symbols(found.alone(part)), simulated)
