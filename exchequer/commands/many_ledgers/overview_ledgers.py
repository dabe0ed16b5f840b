"""`exchequer ledger overview`: many ledgers, each read once, and what they come to by data set."""

import csv
import glob
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs
import click

from accountant import LedgerBroken, LedgerUnavailable
from accountant.audit import Accumulator, Run, in_symbols, left_text, verify
from accountant.audit.report import moment
from accountant.entries import FORMAT, Charged, Record, visible
from accountant.registry import (
    LOST,
    KnownHead,
    LedgerOver,
    QuickReading,
    Registration,
    Registry,
    Together,
    has,
    read_quickly,
    together,
)
from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, without_password, without_passwords
from exchequer.commands.ledgers.registry_listing import print_together, together_record
from exchequer.console import output

FINE, NOT_FINE = 0, 1
"""Exit codes."""

NOT_SAID: Final = "(not said)"

COLUMNS: Final = ("ledger", "reading", "data sets", "spent", "budget", "left", "last entry", "entries")


class Datasets(Accumulator):
    """Which data sets the charges name; "" for those that do not say."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        if isinstance(record, Charged):
            self.names[record.about.dataset] = None

    def take_run(self, run: Run) -> None:
        """The next entries."""
        for sort in run.uses:
            self.names[sort.record.about.dataset] = None


Heads: TypeAlias = Mapping[str, tuple[KnownHead, ...]]
"""What a registry knows of ledgers, by their ids."""


@attrs.frozen
class Row:
    """A ledger in the overview. found: None where it cannot be read, and `problem` says why.

    datasets: that its charges name, or that it is registered for.  complete: whether these are surely all.
    how: how it was read.  location: where it is; `name` may be printed.
    lost: whether entries are gone that a registry knows of.
    """

    name: str
    location: str
    found: QuickReading | None
    how: str
    datasets: tuple[str, ...] = ()
    complete: bool = True
    problem: str = ""
    lost: bool = False

    def over(self, dataset: str) -> LedgerOver:
        """This ledger among those over a data set."""
        found = self.found
        assert found is not None  # the registry stands in for others
        made = Registration(
            ledger=found.id,
            location=self.name,
            dataset=dataset,
            budget=found.budget,
            rule=found.rule.describe(),
            adjacency=found.adjacency,
            time=found.state.time,
            head=found.head,
            entries=found.state.length,
            drawn=found.state.total,
        )
        if self.lost:
            return LedgerOver(made, found.budget, self.problem, lost=True)
        return LedgerOver(made, found.spent)


def print_overview(
    patterns: Sequence[str], registry: str | None, *, whole: bool, verified: bool, as_csv: bool, as_json: bool
) -> int:
    """Print the overview, and return the exit code."""
    if as_csv and as_json:
        raise click.UsageError("--csv or --json, not both")
    registered, heads = _registered(registry)
    locations = list(dict.fromkeys([*expanded(patterns), *(each.location for each in registered)]))
    if not locations:
        raise ValueError("no ledger is named: give paths, URLs, patterns, or --registry")
    rows = [read_row(each, registered, whole=whole or verified, verified=verified) for each in locations]
    for place in _earlier_places(heads, locations):
        row = read_row(place, registered, whole=whole or verified, verified=verified)
        if row.found is not None and row.found.id in heads:  # else it was moved from there, and is not missed
            rows.append(row)
    rows = _held_against(_one_of_each(rows), heads)
    sets = by_dataset(rows, registered)
    if as_json:
        record = {"ledgers": [_record(row) for row in rows], "datasets": [_set_record(each, rows) for each in sets]}
        click.echo(json.dumps(record, indent=1, allow_nan=False))
    elif as_csv:
        out = csv.writer(sys.stdout)
        out.writerow(COLUMNS)
        out.writerows([_cell(text) for text in _texts(row)] for row in rows)
    else:
        _print(rows, sets)
    return NOT_FINE if any(row.problem for row in rows) else FINE


def _registered(registry: str | None) -> tuple[tuple[Registration, ...], Heads]:
    if not registry:
        return (), {}
    with without_passwords(registry), Registry.open(registry, "read") as opened:
        ledgers = opened.ledgers()
        return ledgers, {each.ledger: opened.heads(each.ledger) for each in ledgers}


def _earlier_places(heads: Heads, locations: Sequence[str]) -> list[str]:
    """Where ledgers once were: a copy may go on there."""
    places = dict.fromkeys(head.location for known in heads.values() for head in known)
    return [place for place in places if place not in locations]


def _held_against(rows: list[Row], heads: Heads) -> list[Row]:
    """The rows; those whose entries the registry knows otherwise say so, and count with a whole budget more."""
    return [attrs.evolve(row, problem=LOST, lost=True) if _is_lost(row, rows, heads) else row for row in rows]


def _is_lost(row: Row, rows: Sequence[Row], heads: Heads) -> bool:
    """Whether the registry knows of entries that neither this ledger has, nor a copy of it that is counted, too."""
    if row.found is None or row.found.id not in heads:
        return False
    same = [each.location for each in rows if each.found is not None and each.found.id == row.found.id]
    missing = set(heads[row.found.id])
    for location in same:
        with reading(location) as entries:
            missing = {each for each in missing if not has(entries.since, each.entries, each.head)}
    return bool(missing)


def expanded(patterns: Iterable[str]) -> list[str]:
    """Locations, with patterns of paths replaced by what they match. Raises ValueError for one that matches nothing."""
    found: list[str] = []
    for pattern in patterns:
        if "://" in pattern or not glob.has_magic(pattern):
            found.append(pattern)
            continue
        matches = sorted(glob.glob(pattern, recursive=True))
        if not matches:
            raise ValueError(f"{pattern}: no file matches")
        found += matches
    return found


def read_row(location: str, registered: Sequence[Registration], *, whole: bool, verified: bool) -> Row:
    """Read one ledger. What is wrong with it is in the row."""
    known = [each for each in registered if each.location == location]
    name, names = without_password(location), [each.dataset for each in known]
    try:
        with reading(location) as entries:
            name = entries.name
            datasets = Datasets()
            found = read_quickly(entries, datasets, whole=whole)
            how, problem = _verdict(entries) if verified else (_how(found), "")
    except (LedgerBroken, LedgerUnavailable, ValueError, OSError) as error:
        text = " ".join(str(error).split())
        return Row(name, location, None, "CANNOT BE READ", tuple(dict.fromkeys(names)), False, text)
    names += [each.dataset for each in registered if each.ledger == found.id]
    if known and found.id not in {each.ledger for each in known}:
        problem = "another ledger is in the place of the one that the registry knows"
    complete = found.believed is None or found.state.format == FORMAT
    if found.believed is not None and found.state.format == FORMAT:
        names.append("")  # what was charged before the checkpoint does not say
    return Row(name, location, found, how, tuple(dict.fromkeys([*datasets.names, *names])), complete, problem)


def _how(found: QuickReading) -> str:
    return "read, adds up" if found.believed is None else f"read quickly, from entry {found.believed} on"


def _verdict(entries: StoredEntries) -> tuple[str, str]:
    found = verify(entries, claims=known_claims())
    return found.verdict, "" if found.sound else f"not sound: {next(iter(found.errors), found.unchecked)}"


def _one_of_each(rows: list[Row]) -> list[Row]:
    """Copies of a ledger count once, by the longest; where two go on differently, both count and both say so."""
    kept: list[Row] = []
    for row in sorted(rows, key=lambda row: -(row.found.state.length if row.found else 0)):
        same = next((each for each in kept if each.found and row.found and each.found.id == row.found.id), None)
        if same is not None and row.found is not None:
            if _is_beginning(row.found, same):
                continue
            forked = f"the same ledger goes on in two places, here and in {same.name}: both were spent"
            row = attrs.evolve(row, problem=forked)
        kept.append(row)
    order = {row.location: place for place, row in enumerate(rows)}
    return sorted(kept, key=lambda row: order[row.location])


def _is_beginning(shorter: QuickReading, longer: Row) -> bool:
    with reading(longer.location) as entries:
        return entries[shorter.state.length - 1].digest == shorter.head


def by_dataset(rows: Sequence[Row], registered: Sequence[Registration]) -> list[Together]:
    """What the ledgers over each data set come to; one that cannot be read counts with its whole budget."""
    unread = {row.location: row.problem for row in rows if row.found is None}
    datasets = dict.fromkeys(name for row in rows for name in row.datasets if name)
    found = []
    for dataset in sorted(datasets):
        parts = [row.over(dataset) for row in rows if row.found and dataset in row.datasets]
        there = {part.registration.ledger for part in parts}
        parts += [
            LedgerOver(each, each.budget, unread.get(each.location) or "another ledger is in its place")
            for each in registered
            if each.dataset == dataset and each.ledger not in there
        ]
        found.append(together(dataset, parts))
    return found


# --- printing --------------------------------------------------------------------------------------------------


def _names(row: Row) -> str:
    listed = ", ".join(name or NOT_SAID for name in row.datasets)
    if row.complete:
        return listed or "none named"
    return f"{listed}; perhaps others" if listed else "unknown"


def _texts(row: Row) -> list[str]:
    found = row.found
    if found is None:
        return [row.name, f"{row.how}: {row.problem}", _names(row), "", "", "", "", ""]
    left = left_text(found.state.root.left, found.rule)
    numbers = [in_symbols(found.spent), in_symbols(found.budget), left, moment(found.state.time)]
    how = f"{row.how}; {row.problem}" if row.problem else row.how
    return [row.name, how, _names(row), *numbers, str(found.state.length)]


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown


def _record(row: Row) -> dict[str, object]:
    found = row.found
    said: dict[str, object] = {
        "ledger": row.name,
        "reading": row.how,
        "problem": row.problem,
        "datasets": list(row.datasets),
        "all_datasets": row.complete,
    }
    if found is None:
        return said
    return {
        **said,
        "id": found.id,
        "spent": found.spent.as_dict(),
        "budget": found.budget.as_dict(),
        "unit": found.rule.unit,
        "left": amount_record(found.state.root.left),
        "last": found.state.time,
        "entries": found.state.length,
        "head": found.head,
        "checkpoint": found.believed,
    }


def _set_record(found: Together, rows: Sequence[Row]) -> dict[str, object]:
    return {**together_record(found), "perhaps_also": _perhaps(found, rows)}


def _perhaps(found: Together, rows: Sequence[Row]) -> list[str]:
    """Ledgers that may concern this data set as well: not all that they name is known, or charges do not say."""
    return [row.name for row in rows if found.dataset not in row.datasets and (not row.complete or "" in row.datasets)]


def _print(rows: Sequence[Row], sets: Sequence[Together]) -> None:
    output.title(f"{len(rows)} ledger(s)")
    for row in rows:
        output.heading(row.name, "red" if row.problem else "")
        output.facts([fact for fact in zip(COLUMNS[1:], _texts(row)[1:], strict=True) if fact[1]])
    print_together(sets)
    for each in sets:
        if others := _perhaps(each, rows):
            output.paragraph(f"Perhaps also over data set {visible(each.dataset)}: {', '.join(map(visible, others))}.")
