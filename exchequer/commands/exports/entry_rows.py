"""`exchequer ledger entries --csv`: one row for each charge, in two passes that hold no more than one entry.

What became of a charge stands in later entries. The first pass notes that in a temporary database on disk; the second
writes the rows. So the longest ledger takes no more memory than a short one.
"""

import contextlib
import csv
import datetime
import functools
import math
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO, Final

import attrs

from accountant.composition import NOTHING, Amount, Composition, Plan, amount_from_record, amount_record, amount_text
from accountant.costs import BeyondFloats, Cost, float_down, float_up
from accountant.entries import (
    Charged,
    Entry,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    decode,
    decode_charge,
    whole_file,
)
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading
from exchequer.console import output
from exchequer.console.csv_cells import cell
from exchequer.console.input_errors import refuse_overwriting

KEPT: Final = 1024
"""Texts and costs that are kept, as most of them occur again and again."""

COLUMNS: Final = (
    "number",
    "time",
    "account",
    "mechanism",
    "query",
    "dataset",
    "dataset digest",
    "purpose",
    "user",
    "host",
    "program",
    "cost kind",
    "cost parameters",
    "price of the plan",
    "rounds",
    "rounds released",
    "rounds given back",
    "unit",
    "exact amount",
    "exact delta",
    "amount",
    "delta",
    "exact amount given back",
    "exact delta given back",
    "amount given back",
    "delta given back",
    "exact total after",
    "exact total delta after",
    "total after",
    "total delta after",
    "simulated",
    "model",
)
"""Of the file. Amounts are in `unit`; a delta is Σδ beside it."""

_TABLES: Final = """
CREATE TABLE outcome (charge INTEGER PRIMARY KEY, released INTEGER, simulated INTEGER);
CREATE TABLE returned (charge INTEGER PRIMARY KEY, rounds INTEGER, loss TEXT, delta TEXT);
CREATE TABLE model (charge INTEGER, place INTEGER, model TEXT, PRIMARY KEY (charge, place)) WITHOUT ROWID;
"""


def write_rows(location: str, out: str, *, force: bool) -> None:
    """Write the rows. out: a path, or "-" for standard output. Raises ValueError for entries that cannot be read."""
    if out != "-":
        refuse_overwriting(Path(out), force)
    with reading(location) as entries, _target(out) as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        number = 0
        for row in entry_rows(entries):
            rows.writerow(row)
            number += 1
    output.note(f"{number} charges of {entries.name}")


@contextlib.contextmanager
def _target(out: str) -> Iterator[IO[str]]:
    if out == "-":
        yield sys.stdout
        return
    with whole_file(out) as file:
        yield file


def entry_rows(entries: StoredEntries) -> Iterator[tuple[str | int | float, ...]]:
    """A row for each charge, oldest first, with texts that are safe in a spreadsheet; the entries are read twice.

    Raises ValueError for an entry that cannot be read, and where the ledger was never opened.
    """
    with contextlib.closing(sqlite3.connect("")) as later:  # a file that has no name, and goes with the connection
        later.executescript(_TABLES)
        with output.entries_bar("reading", len(entries)) as progress:
            _note_outcomes(entries, later, progress)
        opened: Opened | None = None
        with output.entries_bar("writing", len(entries)) as progress:
            for place, entry in enumerate(entries, 1):
                progress(place)
                record = _read(entry) if entry.kind in ("opened", "charged") else None
                if isinstance(record, Opened):
                    opened = opened or record
                elif isinstance(record, Charged) and opened is not None:
                    yield _row(entry.number, record, opened.composition, _outcome(later, entry.number))
    if opened is None:
        raise ValueError("the ledger was never opened")


def _read(entry: Entry) -> Record:
    charge = decode_charge(entry.number, entry.line) if entry.kind == "charged" else None
    return charge or decode(entry)


def _note_outcomes(entries: Iterable[Entry], later: sqlite3.Connection, progress: Callable[[int], None]) -> None:
    for place, entry in enumerate(entries, 1):
        progress(place)
        if entry.kind not in ("released", "returned", "produced"):
            continue
        match decode(entry):
            case Released(charge=charge, used=used):
                drawn = any(not mechanism.private for mechanism, _ in used)
                values = (charge, sum(rounds for _, rounds in used) or 1, drawn)
                later.execute("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?)", values)
            case Returned(charge=charge, rounds=rounds, amount=amount):
                exact = amount_record(amount)
                back = (charge, rounds, exact["loss"], exact["delta"])
                later.execute("INSERT OR REPLACE INTO returned VALUES (?, ?, ?, ?)", back)
            case Produced(model=model, charges=charges):
                rows = [(charge, entry.number, model) for charge in charges]
                later.executemany("INSERT OR REPLACE INTO model VALUES (?, ?, ?)", rows)
            case _:
                pass


@attrs.frozen
class Outcome:
    """What later entries say of a charge. simulated: whether it drew simulated noise; None before anything was drawn.

    rounds, returned: those that were given back, and their amount.  models: digests of what came of it.
    """

    released: int
    simulated: bool | None
    rounds: int
    returned: Amount
    models: tuple[str, ...]


def _outcome(later: sqlite3.Connection, charge: int) -> Outcome:
    drawn = later.execute("SELECT released, simulated FROM outcome WHERE charge = ?", (charge,)).fetchone()
    back = later.execute("SELECT rounds, loss, delta FROM returned WHERE charge = ?", (charge,)).fetchone()
    models = later.execute("SELECT model FROM model WHERE charge = ? ORDER BY place", (charge,)).fetchall()
    return Outcome(
        0 if drawn is None else drawn[0],
        None if drawn is None else bool(drawn[1]),
        0 if back is None else back[0],
        NOTHING if back is None else amount_from_record({"loss": back[1], "delta": back[2]}),
        tuple(dict.fromkeys(model for (model,) in models)),
    )


_cell = functools.lru_cache(maxsize=KEPT)(cell)


def _row(number: int, record: Charged, rule: Composition, outcome: Outcome) -> tuple[str | int | float, ...]:
    said, about, amount = record.mechanism, record.about, record.amount(rule)
    texts = (
        record.account,
        "" if said is None else said.mechanism,
        "" if said is None else said.query,
        *(about.dataset, about.dataset_digest, about.purpose, about.user, about.host, about.program),
        *_costs(record.plan),
        "" if record.price is None else f"{record.price.kind} {_parameters(record.price, 1)} (by {record.route})",
    )
    return (
        number,
        _utc(record.time),
        *map(_cell, texts),
        *(record.plan.rounds, outcome.released, outcome.rounds),
        _cell(rule.unit),
        *_spent(amount),
        *_returned(outcome.returned),
        *_exactly(record.after),
        *map(_up, (record.after.loss, record.after.delta)),
        _simulated(record, outcome),
        " ".join(outcome.models),
    )


def _utc(time: int) -> str:
    """ISO 8601, to the microsecond; a clock of the year 1970 is a clock all the same."""
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=time // 1000)
    return f"{when.isoformat(timespec='microseconds')}Z"


@functools.lru_cache(maxsize=KEPT)
def _costs(plan: Plan) -> tuple[str, str]:
    """The kinds of its costs, and their numbers."""
    kinds = " | ".join(step.cost.kind for step in plan.steps)
    return kinds, " | ".join(_parameters(step.cost, step.rounds) for step in plan.steps)


def _parameters(cost: Cost, rounds: int) -> str:
    """The numbers of a cost, as they stand in the entry."""
    numbers = " ".join(f"{name}={value!r}" for name, value in cost.as_dict().items() if name != "kind")
    return f"{rounds} x {numbers}" if rounds > 1 else numbers


@functools.lru_cache(maxsize=KEPT)
def _spent(amount: Amount) -> tuple[str | float, ...]:
    return (*_exactly(amount), _up(amount.loss), _up(amount.delta))


@functools.lru_cache(maxsize=KEPT)
def _returned(amount: Amount) -> tuple[str | float, ...]:
    return (*_exactly(amount), float_down(amount.loss), float_down(amount.delta))


def _exactly(amount: Amount) -> tuple[str, str]:
    return amount_text(amount.loss_units), amount_text(amount.delta_units)


def _up(part: Fraction) -> float:
    """At least the part; infinite above any float."""
    try:
        return float_up(part)
    except BeyondFloats:
        return math.inf


def _simulated(record: Charged, outcome: Outcome) -> str:
    """Whether its noise was, or is to be, simulated; what nobody has said yet is not known."""
    announced = record.mechanism is not None and not record.mechanism.private
    if announced or outcome.simulated:
        return "yes"
    may_still = record.mechanism is None and outcome.simulated is None and outcome.rounds < record.plan.rounds
    return "unknown" if may_still else "no"
