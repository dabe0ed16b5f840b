"""`exchequer ledger show --from/--to`: what was spent in a window of time, and before and after it."""

import json
from collections import deque

import click

from accountant import Entry
from accountant.audit import in_symbols, spent_text
from accountant.audit.outlook import IN, Part, Window, WindowSpending, time_of
from accountant.audit.report import moment, shown
from accountant.entries import State
from exchequer.commands.auditing.show_ledger import entries_table
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, replayed
from exchequer.commands.outlook.readings import MOST_ACCOUNTS, WHOLE, sub_budget
from exchequer.console import output
from exchequer.console.times import window

NAMES = ("before", "in it", "after")


def show_window(location: str, path: str, number: int, since: str | None, until: str | None, *, as_json: bool) -> None:
    """Print what was spent in the window, and its newest entries. Raises ValueError, and as `reading` does."""
    asked = Window(*window(since, until))
    found = WindowSpending(asked)
    with reading(location) as entries:
        with output.entries_bar("reading", len(entries)) as progress:
            read = replayed(entries, found, progress=progress)
        state = read.state
        sub_budget(state, path)
        newest = _newest(entries, asked, path, number)
    if as_json:
        newest_records = [_entry(each) for each in newest]
        record = {"ledger": entries.name, **as_dict(found, state, path), "newest": newest_records, "head": read.head}
        click.echo(json.dumps(record, indent=1, allow_nan=False))
        return
    _print(found, state, path, entries.name)
    if newest:
        output.heading(f"The newest {len(newest)} entries of that time")
        entries_table(newest, found.rule)


def _newest(entries: StoredEntries, asked: Window, path: str, number: int) -> list[Entry]:
    """The newest entries of the window, oldest first; of a sub-budget, those that name it."""
    kept: deque[Entry] = deque(maxlen=number)
    for entry in entries if number else ():
        place = asked.place(time_of(entry))
        if place > IN:  # times never go back
            break
        if place == IN and (not path or f"{entry.record.get('account', '')}/".startswith(f"{path}/")):
            kept.append(entry)
    return list(kept)


def _entry(entry: Entry) -> dict[str, object]:
    return {"digest": entry.digest, "entry": entry.record}


# --- for programs ----------------------------------------------------------------------------------------------


def as_dict(found: WindowSpending, state: State, path: str) -> dict[str, object]:
    """For JSON; what was spent is rounded up, times are in nanoseconds since 1970."""
    return {
        "id": found.promise.id,
        "composition": found.rule.describe(),
        "budget": found.promise.budget.as_dict(),
        "account": path,
        "from": found.window.since,
        "to": found.window.until,
        "unit": found.rule.unit,
        **_parts(found, path),
        "accounts": [{"account": each, **_parts(found, each)} for each in _paths(state, path)],
        "in_by_account": [{"account": name, **_record(found, part)} for name, part in found.by_account(path).items()],
    }


def _parts(found: WindowSpending, path: str) -> dict[str, object]:
    before, inside, after = found.parts(path)
    together = before.plus(inside).plus(after)
    named = (("before", before), ("in", inside), ("after", after), ("together", together))
    return {name: _record(found, part) for name, part in named}


def _record(found: WindowSpending, part: Part) -> dict[str, object]:
    amount = amount_record(part.amount, up=True)
    alone = found.alone(part).as_dict()
    return {"charges": part.charges, "amount": amount, "alone": alone, "simulated": part.simulated}


def _paths(state: State, path: str) -> list[str]:
    below = f"{path}/" if path else ""
    return sorted(each for each in state.accounts if each == path or each.startswith(below))


# --- for people ------------------------------------------------------------------------------------------------


def _print(found: WindowSpending, state: State, path: str, name: str) -> None:
    parts = found.parts(path)
    whose = f" by {shown(path)}" if path else ""
    title = f"{name}: spent{whose} in that time, by itself: {in_symbols(found.alone(parts[IN]))}"
    output.title(title, "yellow" if parts[IN].simulated else "")
    since, until = found.window.since, found.window.until
    output.facts(
        [
            ("from", "the beginning" if since is None else moment(since)),
            ("to", "the newest entry" if until is None else f"{moment(until)}, not included"),
        ]
    )
    rule = found.rule
    together = parts[0].plus(parts[1]).plus(parts[2])
    rows = [
        (label, str(part.charges), _spent(found, part), in_symbols(found.alone(part)), _remark(part))
        for label, part in zip((*NAMES, "together"), (*parts, together), strict=True)
    ]
    output.table(["", "charges", rule.unit, "by itself", " "], rows, numbers=["charges"], whole=[""])
    paths = _paths(state, path)
    if len(paths) > 1:
        output.heading(f"Accounts, in {rule.unit}")
        spent = [[_name(each), *(_spent(found, part) for part in found.parts(each))] for each in paths[:MOST_ACCOUNTS]]
        output.table(["account", *NAMES], spent)
    if labels := found.by_account(path):
        output.heading("Charged in that time to")
        shown_ones = list(labels.items())[:MOST_ACCOUNTS]
        listed = [(_name(each), str(part.charges), _spent(found, part), _remark(part)) for each, part in shown_ones]
        output.table(["account", "charges", rule.unit, ""], listed, numbers=["charges"])
    output.paragraph(
        "A charge counts at its own time, less what was given back of it, whenever that was. By itself: what these "
        "charges lose without the others; all of them together lose what stands under together."
    )


def _remark(part: Part) -> str:
    """Simulated noise protects nobody, whatever was charged for it."""
    return f"{part.simulated} SIMULATED" if part.simulated else ""


def _name(path: str) -> str:
    return shown(path) if path else WHOLE


def _spent(found: WindowSpending, part: Part) -> str:
    return spent_text(part.amount, found.rule).removeprefix(f"{found.rule.unit} = ")
