"""`exchequer ledger show`: what was spent, what each account has left, and the newest entries."""

import collections
import functools
import json
import time
from collections.abc import Iterable, Sequence
from typing import Final

import attrs
import click

from accountant import Amount, Budget, Composition, Cost, Entry, Statement
from accountant.audit import (
    Spending,
    StatementDetails,
    in_symbols,
    left_text,
    rounded_down,
    rounded_up,
    stated,
)
from accountant.audit.outlook import Forecast, PaceReader
from accountant.audit.report import moment, shown
from accountant.costs import adjacency_record, float_down, float_up
from accountant.entries import (
    BELIEVED_FROM,
    MAIN,
    Account,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    KeyChange,
    OpenCharge,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    Signed,
    State,
    Upgraded,
    decode,
)
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, replayed
from exchequer.commands.ledgers.registry_listing import print_together, registered_with, together_record
from exchequer.commands.outlook.forecast_words import headline, summary
from exchequer.commands.outlook.readings import MOST_ACCOUNTS, WHOLE, from_checkpoint, older, sub_budget
from exchequer.console import output
from exchequer.console.times import DAY, QUARTER, span

MOST_LINES: Final = 60
"""Of the statement; JSON has them all."""


@attrs.frozen
class AccountSpending:
    """A part of what was drawn from an account. name: of a sub-budget or a label.  what: which of them it is."""

    name: str
    what: str
    amount: Amount


@attrs.frozen
class Overview:
    """A ledger as its entries have it.

    path: of the sub-budget that it is about, "" for the whole.  head: the digest of the newest entry.
    details, spending: what was charged for; None where the entries up to a checkpoint were not read.
    believed: the number of that checkpoint, else None.
    forecast: how long what remains lasts; None where it depends on entries that were not read.
    """

    entries: StoredEntries
    state: State
    path: str
    head: str
    details: StatementDetails | None = None
    spending: Spending | None = None
    believed: int | None = None
    forecast: Forecast | None = None

    @property
    def opened(self) -> Opened:
        """The first entry."""
        assert self.state.opened is not None  # or it would not have been replayed
        return self.state.opened

    @property
    def rule(self) -> Composition:
        """The rule of composition."""
        return self.state.rule

    @property
    def account(self) -> Account:
        """What it is about."""
        return self.state.accounts[self.path]

    @property
    def accounts(self) -> list[Account]:
        """That one and those below it, by their paths."""
        below = f"{self.path}/" if self.path else ""
        paths = sorted(path for path in self.state.accounts if path == self.path or path.startswith(below))
        return [self.state.accounts[path] for path in paths]

    def read_out(self, amount: Amount) -> Budget:
        """What an amount stands for, in the budget's kind."""
        return self.rule.guarantee(amount, self.state.budget)

    def drawn(self) -> list[AccountSpending]:
        """All that was drawn from it: by the sub-budgets in it, under each label beside them, and under none.

        Each charge is in one of them, so that they add up to what was drawn, exactly. Nothing where that is not known.
        """
        if self.spending is None:
            return []
        below = [account for account in self.accounts if account.parent is self.account]
        parts = [AccountSpending(account.path, "sub-budget", account.drawn) for account in below]
        places = sorted(self.spending.by_place.items())
        beside = [(label, amount) for (payer, label), amount in places if payer == self.path]
        own = (self.path or MAIN,)
        parts += [AccountSpending(label, self._sort_of(label), amount) for label, amount in beside if label not in own]
        return parts + [AccountSpending("", "no label", amount) for label, amount in beside if label in own]

    def _sort_of(self, label: str) -> str:
        return "label" if self.state.lists(label, self.account) else "label, not announced"

    @property
    def budget(self) -> Budget:
        """Of the ledger; of a sub-budget, what its ceiling stands for."""
        return self.read_out(self.account.ceiling) if self.path else self.state.budget

    def statement(self) -> Statement | None:
        """What was spent, on what, by whom; None where that is not known."""
        if self.details is None:
            return None
        return stated(self.details, self.head, self.read_out(self.account.drawn), self.budget, self.path)

    def newest(self, number: int) -> list[Entry]:
        """The newest entries, oldest first; of a sub-budget, those that name it, of the entries that were read."""
        start = (self.believed or 0) if self.path else max(len(self.entries) - number, 0)
        ours = (entry for entry in self.entries.since(start) if not self.path or self._concerns(entry))
        return list(collections.deque(ours, number))

    def _concerns(self, entry: Entry) -> bool:
        account = str(entry.record.get("account", ""))
        return f"{account}/".startswith(f"{self.path}/")


def overview(entries: StoredEntries, path: str, whole: bool = False, pace: int = QUARTER) -> Overview:
    """Replay the ledger, a long one from its newest checkpoint on unless the whole of it is wanted.

    pace: how much of the past the forecast depends on, in nanoseconds.
    Raises LedgerBroken where it does not add up, ValueError where there is no such sub-budget.
    """
    newest, late = None if whole else entries.checkpoint(), PaceReader(time.time_ns(), pace)
    if newest is not None and newest.number >= BELIEVED_FROM:
        return _from_checkpoint(entries, newest, path, late)
    details, spending = StatementDetails(), Spending()
    with output.entries_bar("reading", len(entries)) as progress:
        reading = replayed(entries, details, spending, late, progress=progress)
    path = sub_budget(reading.state, path)
    forecast = late.forecast(reading.state, path)
    return Overview(entries, reading.state, path, reading.head, details, spending, forecast=forecast)


def _from_checkpoint(entries: StoredEntries, newest: Entry, path: str, pace: PaceReader) -> Overview:
    """What is known without reading all."""
    reading = from_checkpoint(entries, newest, pace)
    path = sub_budget(reading.state, path)
    forecast = pace.forecast(reading.state, path) if pace.window.since and older(newest, pace.window.since) else None
    return Overview(entries, reading.state, path, reading.head, believed=newest.number, forecast=forecast)


def show_ledger(location: str, path: str, entries: int, pace: str | None, *, whole: bool, as_json: bool) -> None:
    """Print statement, accounts and the newest entries. whole: read all entries, however many there are.

    pace: how much of the past the forecast depends on, as 30d; None shows one of the last 90 days, if there is any.
    """
    length = QUARTER if pace is None else span("--pace", pace)
    with reading(location) as stored:
        found = overview(stored, path, whole, length)
        if pace is None and (found.forecast is None or found.forecast.first is None):
            found = attrs.evolve(found, forecast=None)
        newest = found.newest(entries)
    others = registered_with(found.opened.id)
    if as_json:
        said = {"registered": [together_record(each) for each in others]} if others else {}
        click.echo(json.dumps({**as_dict(found, newest), **said}, indent=1, allow_nan=False))
        return
    if (statement := found.statement()) is not None:
        output.statement(statement, MOST_LINES)
    else:
        _summary(found)
    _accounts(found)
    if found.forecast is not None:
        late = pace or f"{QUARTER // DAY}d"
        output.paragraph(f"Forecast: {headline(found.forecast, late)}; see `exchequer ledger forecast`.")
    elif pace is not None:
        output.paragraph("A forecast depends on entries that were not read; `exchequer ledger forecast` reads them.")
    if drawn := found.drawn():
        _drawn(found, drawn)
    print_together(others)
    if newest:
        _entries(found, newest)


def as_dict(found: Overview, newest: Sequence[Entry]) -> dict[str, object]:
    """For JSON. checkpoint: the entry that was believed; then nobody asked for the statement, nor who drew what."""
    statement = found.statement()
    return {
        "ledger": found.entries.name,
        "id": found.opened.id,
        "adjacency": adjacency_record(found.state.adjacency),
        "composition": found.rule.describe(),
        "budget": found.state.budget.as_dict(),
        "account": found.path,
        "spent": found.read_out(found.account.drawn).as_dict(),
        "statement": None if statement is None else statement.as_dict(),
        "unit": found.rule.unit,
        "accounts": [account_record(account) for account in found.accounts],
        "drawn": None if found.spending is None else [_drawn_record(part) for part in found.drawn()],
        "entries": len(found.entries),
        "newest": [{"digest": entry.digest, "entry": entry.record} for entry in newest],
        "head": found.head,
        **({} if found.forecast is None else {"forecast": summary(found.forecast)}),
        **({} if found.believed is None else {"checkpoint": found.believed}),
    }


def _drawn_record(part: AccountSpending) -> dict[str, object]:
    return {"account": part.name, "what": part.what, "drawn": amount_record(part.amount, up=True)}


def account_record(account: Account) -> dict[str, object]:
    """An account for JSON; what it drew is rounded up, what it may draw down."""
    return {
        "account": account.path,
        "ceiling": amount_record(account.ceiling),
        "drawn": amount_record(account.drawn, up=True),
        "left": amount_record(account.left),
        "closed": account.closed,
    }


# --- for people ------------------------------------------------------------------------------------------------


def _summary(found: Overview) -> None:
    """In the place of the statement, which nobody can make without reading all entries."""
    believed = found.believed or 0
    output.title(f"{found.entries.name}: spent {in_symbols(found.read_out(found.account.drawn))}")
    waiting = sum(f"{charge.payer}/".startswith(f"{found.path}/") or not found.path for charge in _open(found))
    output.facts(
        [
            ("budget", in_symbols(found.budget)),
            ("adjacency", found.state.adjacency.name),
            ("rule", found.rule.name),
            ("unreleased", f"{waiting} charges without a release; they count as spent"),
            ("head", found.head),
        ]
    )
    output.paragraph(
        f"\nEntries before number {believed:,} were not read: the checkpoint there is believed. Whether it is right, "
        "only `exchequer ledger verify` says, which replays them all. What was charged for, under which labels, and "
        "whether any noise was simulated is not known without them either: --whole reads them, and makes the statement."
    )


def _open(found: Overview) -> Iterable[OpenCharge]:
    return found.state.open.values()


def _accounts(found: Overview) -> None:
    deltas = any(account.ceiling.delta_units for account in found.accounts)
    output.heading(f"Accounts, in {_unit(found, deltas)}")
    rows = [
        (
            shown(account.path) if account.path else WHOLE,
            _number(account.ceiling, deltas),
            _number(account.drawn, deltas, up=True),
            _number(account.left, deltas),
            "closed" if account.closed else "",
        )
        for account in found.accounts[:MOST_ACCOUNTS]
    ]
    output.table(["account", "ceiling", "drawn", "left", ""], rows, numbers=["ceiling", "drawn", "left"])
    if len(found.accounts) > MOST_ACCOUNTS:
        output.paragraph(f"{len(found.accounts) - MOST_ACCOUNTS} more accounts are not shown.")
    if len(found.accounts) > 1:
        output.paragraph(
            "What an account draws counts for those above it too; what is set aside for it, they have not."
        )


def _drawn(found: Overview, drawn: Sequence[AccountSpending]) -> None:
    """One line for each part, and one for them all."""
    deltas = any(part.amount.delta_units for part in drawn)
    output.heading(f"Drawn from {shown(found.path) if found.path else 'the whole budget'}, in {_unit(found, deltas)}")
    shown_ones, rest = drawn[:MOST_ACCOUNTS], drawn[MOST_ACCOUNTS:]
    rows = [
        (shown(part.name) if part.name else "-", _number(part.amount, deltas, up=True), part.what)
        for part in shown_ones
    ]
    if rest:
        others = functools.reduce(Amount.plus, (part.amount for part in rest))
        rows.append((f"{len(rest)} more", _number(others, deltas, up=True), ""))
    rows.append(("together", _number(found.account.drawn, deltas, up=True), ""))
    output.table(["account", "drawn", ""], rows, numbers=["drawn"])


def _unit(found: Overview, deltas: bool) -> str:
    return f"{found.rule.unit} and Σδ" if deltas else found.rule.unit


def _number(amount: Amount, deltas: bool, *, up: bool = False) -> str:
    """One part, or two of them."""
    if amount.endless:
        return "no limit"
    exact, rounded = (float_up, rounded_up) if up else (float_down, rounded_down)
    parts = (amount.loss, amount.delta) if deltas else (amount.loss,)
    return ", ".join(rounded(exact(part)) for part in parts)


def _entries(found: Overview, newest: Sequence[Entry]) -> None:
    all_of_them = len(newest) == len(found.entries)
    output.heading("All entries" if all_of_them else f"The newest {len(newest)} of {len(found.entries)} entries")
    entries_table(newest, found.rule)


def entries_table(entries: Sequence[Entry], rule: Composition) -> None:
    """A line for each entry."""
    rows = [_row(entry, decode(entry), rule) for entry in entries]
    output.table(["", "time (UTC)", "entry", "what"], rows, numbers=[""], whole=["time (UTC)", "entry"])


def _row(entry: Entry, record: Record, rule: Composition) -> tuple[str, str, str, str]:
    return str(entry.number), moment(record.time).removesuffix(" UTC"), entry.kind, shown(entry_text(record, rule), 300)


def entry_text(record: Record, rule: Composition) -> str:
    """The entry in words; costs rounded up."""
    match record:
        case Opened(budget=budget, adjacency=adjacency):
            return f"{in_symbols(budget)}, {rule.name} composition, {adjacency.name}"
        case Charged():
            announced = record.mechanism
            name = "a plan" if announced is None else f"{announced.mechanism}({announced.query})"
            about = "".join(f", {name}: {shown(text)}" for name, text in record.about.as_dict().items())
            return f"{shown(record.account)}: {shown(name)}, {_cost(record)}{about}"
        case Released(charge=charge):
            return f"charge {charge}"
        case Returned(charge=charge, rounds=rounds, amount=amount):
            return f"{rounds} rounds of charge {charge}: {left_text(amount, rule)}"
        case Allocated(account=account, ceiling=ceiling):
            return f"{shown(account)}: {left_text(ceiling, rule)}"
        case Announced(account=account):
            return f"{shown(account)}: a label; what its budget has not set aside pays"
        case Closed(account=account, returned=returned):
            return f"{shown(account)}: {left_text(returned, rule)} not spent"
        case Checkpoint():
            return "what the entries before it add up to"
        case Upgraded(format=newer):
            return f"entries may be of format {newer} from here on"
        case Produced(model=model, charges=charges):
            plural = "" if len(charges) == 1 else "s"
            return f"the model {model[:16]}… came of charge{plural} {', '.join(map(str, charges[:9]))}"
        case KeyChange(action=action, key=key, name=name, by=by):
            return f"{action} {shown(name)} {key[:16]}…, signed by {by[:16]}…"
        case Signed(key=key, charges=charges):
            return f"{len(charges)} {'charge' if len(charges) == 1 else 'charges'}, by the key {key[:16]}…"


def _cost(record: Charged) -> str:
    if record.price is not None:
        return f"{record.plan.rounds} rounds as one plan: {in_symbols(record.price)}, by {record.route}"
    return " + ".join(f"{step.rounds} x {cost_text(step.cost)}" for step in record.plan.steps)


def cost_text(cost: Cost) -> str:
    """Its kind and its numbers, rounded up."""
    return f"{cost.kind} {', '.join(rounded_up(number) for number in attrs.astuple(cost))}".rstrip()
