"""The tables of the pages: what was spent, by what charges say; and entries, the newest first."""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from accountant import Amount, Budget, Composition, Entry
from accountant.audit import in_symbols, percent, spent_text
from accountant.audit.breakdowns import Breakdown, ChargeRow, ChargeTable, Group
from accountant.audit.report import moment, shown
from accountant.entries import decode
from exchequer.commands.auditing.show_ledger import entry_text
from exchequer.live.queries import WHERE, Query

MOST_GROUPS: Final = 500
"""Rows of the table of groups; the rest stands in one sentence."""

PER_PAGE: Final = 50
"""Entries of one page."""

MOST_KNOWN: Final = 200
"""Texts that a field of a form offers."""

LONGEST_LINE: Final = 1 << 20
"""Characters of an entry that is read for a page."""

FIELDS: Final = {"dataset": "data set", "user": "user", "purpose": "purpose", "account": "account"}
"""What the forms ask for; the other filters work by the address alone."""

Read = Callable[[int], Iterator[Entry]]
"""Gives the entries from a number on."""


@attrs.frozen
class Field:
    """A text of a form. known: what charges say."""

    name: str
    label: str
    value: str
    known: tuple[str, ...]


@attrs.frozen
class Row:
    """A line of the table of groups. link: to the charges behind it."""

    name: str
    cells: tuple[str, ...]
    link: str = ""
    together: bool = False


def fields(table: ChargeTable, query: Query) -> tuple[Field, ...]:
    """What a form asks for, with what charges say."""
    return tuple(
        Field(name, label, query.given.get(WHERE + name, ""), tuple(table.texts(name, MOST_KNOWN)))
        for name, label in FIELDS.items()
    )


def others(query: Query) -> list[str]:
    """Filters that the form does not show."""
    where = query.question.where.items()
    return [
        f"{name.replace('_', ' ')} {shown(text) if text else 'not said'}"
        for name, text in where
        if name not in FIELDS or not text
    ]


# --- groups ----------------------------------------------------------------------------------------------------


def group_rows(found: Breakdown, budget: Budget, query: Query) -> tuple[list[Row], str]:
    """The rows, the largest first, the last for all of them; and a sentence on those that are not shown."""
    kept, rest = found.groups[:MOST_GROUPS], found.groups[MOST_GROUPS:]
    rows = [Row(shown(group.name), _cells(found, group, budget), _charges_of(group, query)) for group in kept]
    if len(found.groups) != 1:
        rows.append(Row("together", _cells(found, found.together, budget), together=True))
    if not rest:
        return rows, ""
    amount = functools.reduce(Amount.plus, (group.amount for group in rest))
    return rows, f"{len(rest):,} more, the smallest, come to {spent_text(amount, found.rule)}."


def _cells(found: Breakdown, group: Group, budget: Budget) -> tuple[str, ...]:
    remarks = [f"{group.open:,} not released"] if group.open else []
    remarks += [f"{group.simulated:,} SIMULATED"] if group.simulated else []
    return (
        f"{group.charges:,}",
        spent_text(group.amount, found.rule).removeprefix(f"{found.rule.unit} = "),
        in_symbols(found.rule.guarantee(group.amount, budget)),
        percent(found.share(group)),
        moment(group.last) if group.charges else "-",
        ", ".join(remarks) or "-",
    )


def group_columns(found: Breakdown) -> list[str]:
    """The head of that table."""
    return [
        found.question.by.replace("_", " "),
        "charges",
        found.rule.unit,
        "alone",
        "of all that was spent",
        "newest",
        "remarks",
    ]


def _charges_of(group: Group, query: Query) -> str:
    by = query.question.by
    if "," in group.said and by == "model":
        return ""
    if group.said:
        return query.link("/entries", **{f"where__{by}": group.said})
    unsaid = dict.fromkeys([*filter(None, query.given.get("unsaid", "").split(",")), by])
    return query.link("/entries", unsaid=",".join(unsaid), **{f"where__{by}": None})


# --- entries ---------------------------------------------------------------------------------------------------


def charge_rows(table: ChargeTable, query: Query, rule: Composition) -> list[tuple[str, ...]]:
    """The charges that a query asks for: one page of them."""
    listed = table.listed(query.question, (query.page - 1) * PER_PAGE, PER_PAGE)
    return [_charge(row, rule) for row in listed]


def _charge(row: ChargeRow, rule: Composition) -> tuple[str, ...]:
    state = [*(["not released"] if row.open else []), *(["SIMULATED"] if row.simulated else [])]
    return (
        str(row.number),
        moment(row.time),
        shown(row.account) or "-",
        shown(row.mechanism) or "a plan",
        shown(row.about, 600) or "-",
        spent_text(row.amount, rule),
        ", ".join(state) or "-",
    )


CHARGE_COLUMNS: Final = ("number", "time", "account", "mechanism", "about", "cost", "remarks")
ENTRY_COLUMNS: Final = ("number", "time", "entry", "what")


def entry_rows(read: Read, start: int, end: int, query: Query, rule: Composition | None) -> list[tuple[str, ...]]:
    """One page of the entries from number `start` up to `end`, which is not included; the newest first."""
    last = end - (query.page - 1) * PER_PAGE
    first = max(last - PER_PAGE, start)
    found = itertools.takewhile(lambda entry: entry.number < last, read(first)) if last > first else ()
    return [_entry(entry, rule) for entry in itertools.islice(found, PER_PAGE)][::-1]


def _entry(entry: Entry, rule: Composition | None) -> tuple[str, ...]:
    number, kind = shown(entry.number, 30), shown(entry.kind, 30)
    try:
        if rule is None or len(entry.line) > LONGEST_LINE:
            raise ValueError("it is not read here")
        record = decode(entry)
        return number, moment(record.time), kind, shown(entry_text(record, rule), 600)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        return number, "-", kind, "it cannot be read"


def place_in_time(read: Read, time: int | None, entries: int, otherwise: int) -> int:
    """The number of the first entry at this time or later, of so many; where no time is asked for, `otherwise`.

    Their times are in order wherever the ledger is sound. It looks at one of some, at the middle of those left.
    """
    if time is None:
        return otherwise
    low, high = 0, entries
    while low < high:
        middle = (low + high) // 2
        found = next(read(middle), None)
        if found is None or found.number >= high or _time(found) >= time:
            high = middle
        else:
            low = middle + 1
    return low


def _time(entry: Entry) -> int:
    try:
        return decode(entry).time
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        return 0
