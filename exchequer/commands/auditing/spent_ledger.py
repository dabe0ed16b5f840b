"""`exchequer ledger spent` and `diff`: charges added up by what they say of themselves, and two readings compared."""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import click

from accountant import Amount, Budget, Composition, Entry, LedgerBroken
from accountant.audit import in_symbols, percent, spent_text
from accountant.audit.breakdowns import Breakdown, Difference, Group, Question, breakdown, difference
from accountant.composition import NOTHING
from accountant.entries import GENESIS, Charged, Opened, decode, follows
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading
from exchequer.console import output
from exchequer.console.csv_cells import cell
from exchequer.console.times import window

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

MOST_CHARACTERS: Final = 20
"""Of a name in the table; CSV and JSON have all of it."""

OF_A_DIGEST: Final = 13
"""Of a model's: its first twelve digits, as the receipts in its file are printed."""

SAID: Final = {
    "the same": "nothing has changed",
    "grown": "it has grown, and nothing before was changed",
    "cut": "IT WAS CUT OFF",
    "rewritten": "IT WAS REWRITTEN",
    "another ledger": "THESE ARE TWO LEDGERS",
}


# --- spent -----------------------------------------------------------------------------------------------------


def print_spent(
    location: str,
    by: str,
    wanted: Sequence[str],
    since: str | None,
    until: str | None,
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print the answer. Raises ValueError for a question that no charge answers, and as `reading` does."""
    if as_csv and as_json:
        raise click.UsageError("--csv or --json, not both")
    question = Question(by, dict(map(condition, wanted)), *window(since, until))
    with reading(location) as entries:
        found = breakdown(entries, question)
        budget = _opened(entries).budget
    if as_json:
        click.echo(json.dumps(_as_record(found, budget), indent=1, allow_nan=False))
    elif as_csv:
        _write_csv(found, budget)
    else:
        _print(found, budget, entries.name)


def condition(text: str) -> tuple[str, str]:
    """What --where says: a name, and what it must say. Raises ValueError."""
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"--where: expected NAME=TEXT, as dataset=hospital, got {text!r:.60}")
    return name.strip(), value


def _opened(entries: StoredEntries) -> Opened:
    opened = decode(entries[0])
    if not isinstance(opened, Opened):
        raise ValueError("the ledger was never opened")
    return opened


def _alone(found: Breakdown, amount: Amount, budget: Budget) -> str:
    """What these charges lose by themselves."""
    return in_symbols(found.rule.guarantee(amount, budget))


def _print(found: Breakdown, budget: Budget, name: str) -> None:
    output.title(f"{name}: spent, by {found.question.by}")
    most = OF_A_DIGEST if found.question.by == "model" else MOST_CHARACTERS
    rows = [_row(found, group, _shortened(group.name, most), budget) for group in found.groups]
    if len(rows) != 1:
        rows.append(_row(found, found.together, "together", budget))
    columns = [found.question.by, "charges", found.rule.unit, "alone", "of all", ""]
    output.table(columns, rows, numbers=["charges", "of all"])
    output.paragraph("alone: what these charges lose by themselves. All of them together lose no more than their sum.")


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _row(found: Breakdown, group: Group, name: str, budget: Budget) -> list[str]:
    remarks = [f"{group.open} not released"] if group.open else []
    remarks += [f"{group.simulated} SIMULATED"] if group.simulated else []
    return [
        name,
        str(group.charges),
        spent_text(group.amount, found.rule).removeprefix(f"{found.rule.unit} = "),
        _alone(found, group.amount, budget),
        percent(found.share(group)),
        ", ".join(remarks),
    ]


def _as_record(found: Breakdown, budget: Budget) -> dict[str, object]:
    question = found.question
    return {
        "by": question.by,
        "where": dict(question.where),
        "from": question.since,
        "to": question.until,
        "groups": [_group(found, group, budget) for group in found.groups],
        "together": _group(found, found.together, budget),
    }


def _group(found: Breakdown, group: Group, budget: Budget) -> dict[str, object]:
    return {
        "said": group.said,
        "charges": group.charges,
        "amount": amount_record(group.amount, up=True),
        "alone": found.rule.guarantee(group.amount, budget).as_dict(),
        "share": found.share(group),
        "not_released": group.open,
        "simulated": group.simulated,
        "first": group.first if group.charges else None,
        "last": group.last if group.charges else None,
    }


def _write_csv(found: Breakdown, budget: Budget) -> None:
    """As RFC 4180; texts that a spreadsheet would compute are made texts."""
    out = csv.writer(sys.stdout)
    out.writerow([found.question.by, "charges", "loss", "delta", "alone", "share", "not released", "simulated"])
    for group in found.groups:
        amount = amount_record(group.amount, up=True)
        alone = _alone(found, group.amount, budget)
        numbers = [group.charges, amount["loss"], amount["delta"]]
        out.writerow(
            [cell(group.said), *numbers, alone, found.share(group), group.open, group.simulated],
        )


# --- diff ------------------------------------------------------------------------------------------------------


def print_difference(earlier: str, later: str, *, as_json: bool) -> int:
    """Print what changed, and return the exit code."""
    with reading(later) as entries:
        if _DIGEST.fullmatch(earlier.strip().lower()):
            found = difference(_until(entries, earlier.strip().lower()), entries)
        else:
            with reading(earlier) as before:
                found = difference(before, entries)
        added = [] if as_json or not found.new else _new_charges(found, _opened(entries).composition)
    if as_json:
        record = {
            "relation": found.relation,
            "shared": found.shared,
            "entries": [found.before, found.after],
            "head_of_shared": found.head,
            "new": found.kinds,
        }
        click.echo(json.dumps(record, indent=1, allow_nan=False))
    else:
        _print_difference(found, entries.name, added)
    return 0 if found.continues else 1


def _until(entries: StoredEntries, head: str) -> Iterator[Entry]:
    """The entries up to the one with this digest. Raises ValueError where there is none.

    LedgerBroken where a digest before does not fit: a head vouches for those lines alone that it was computed of.
    """
    before = GENESIS
    for entry in entries:
        if not follows(before, entry.line, entry.digest):
            raise LedgerBroken(
                f"entry {entry.number} is not the one that stood there when this head was kept, or the one before is "
                "not; `exchequer ledger verify` lists everything that is wrong"
            )
        yield entry
        if entry.digest == head:
            return
        before = entry.digest
    raise ValueError(f"{head} is the digest of no entry: the ledger was cut off, rewritten, or is another one")


def _print_difference(found: Difference, name: str, added: Sequence[Sequence[str]]) -> None:
    output.title(f"{name}: {SAID[found.relation]}", "green" if found.continues else "red")
    facts = [("entries", f"{found.before} before, {found.after} now, the first {found.shared} the same")]
    if found.kinds:
        listed = ", ".join(f"{number} {kind}" for kind, number in sorted(found.kinds.items()))
        facts.append(("new" if found.continues else "other", listed))
    facts.append(("head", f"{found.head} of the last that is the same"))
    output.facts(facts)
    if added:
        output.table(["account", "charges", "costs", "about"], added, numbers=["charges"])


def _new_charges(found: Difference, rule: Composition) -> list[list[str]]:
    """The new charges, by account and by what they say; what was given back of them since is not taken off."""
    counts, amounts = Counter[tuple[str, str]](), dict[tuple[str, str], Amount]()
    for entry in found.new:
        if isinstance(record := decode(entry), Charged):
            said = ", ".join(f"{name} {text}" for name, text in record.about.as_dict().items())
            key = record.account, said
            counts[key] += 1
            amounts[key] = amounts.get(key, NOTHING).plus(record.amount(rule))
    cost = {key: spent_text(amount, rule) for key, amount in amounts.items()}
    return [[key[0], str(number), cost[key], key[1]] for key, number in sorted(counts.items())]
