"""`exchequer ledger forecast`: how long what remains lasts at the recent pace, and what still fits."""

import json
import time
from collections.abc import Sequence

import attrs
import click

from accountant import Composition, Plan
from accountant.audit import left_text, spent_text
from accountant.audit.outlook import Forecast, Outlook, PaceReader, UsualCharge, fits
from accountant.audit.report import shown
from accountant.costs import probability_below_one
from accountant.entries import BELIEVED_FROM, State
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, replayed
from exchequer.commands.ledgers.spend_plan import DOES_NOT_FIT, FITS, Quote, quote
from exchequer.commands.ledgers.spend_plan import as_dict as quote_record
from exchequer.commands.outlook.forecast_words import account_name, headline, lasts_text, summary, whole_days
from exchequer.commands.outlook.readings import MOST_ACCOUNTS, from_checkpoint, older, sub_budget
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from exchequer.console.times import span, span_text
from exchequer.prices.price import few_enough, parse_step


@attrs.frozen
class PlannedSpending:
    """A plan as somebody may make it now. times: how often it fits, None for no limit.

    lasts: for how long it still fits at the pace, in nanoseconds; None without a number.
    """

    quote: Quote
    delta: float
    times: int | None
    lasts: int | None


def print_forecast(location: str, path: str, pace: str, plans: Sequence[str], delta: float, *, as_json: bool) -> int:
    """Print the forecast, and whether the plan fits; the exit code. Raises ValueError, and as `reading` does."""
    length, now = span("--pace", pace), time.time_ns()
    plan = Plan(tuple(parse_step(text, 1, "--plan") for text in plans)) if plans else None
    if plan is not None:
        checked("--plan", few_enough, plan.rounds)
    delta = checked("--delta", probability_below_one, delta)
    with reading(location) as entries:
        reader = PaceReader(now, length)
        state, believed = _read(entries, reader, now - length)
        found = reader.forecast(state, sub_budget(state, path))
        planned = None if plan is None else _planned(found, state, plan, delta)
    if as_json:
        record = {"ledger": entries.name, **as_dict(found), "plan": None if planned is None else _plan_record(planned)}
        record |= {} if believed is None else {"checkpoint": believed}
        click.echo(json.dumps(record, indent=1, allow_nan=False))
    else:
        output.title(f"{entries.name}: {headline(found, pace)}")
        _print(found, pace)
        if believed is not None:
            output.paragraph(f"Entries before number {believed:,} were not read: the checkpoint there is believed.")
        if planned is not None:
            _print_plan(planned, pace)
    return FITS if planned is None or planned.quote.fits else DOES_NOT_FIT


def _read(entries: StoredEntries, reader: PaceReader, start: int) -> tuple[State, int | None]:
    """The state after all entries; of a long ledger from the newest checkpoint on that is older than the window."""
    newest = entries.checkpoint()
    while newest is not None and newest.number >= BELIEVED_FROM and not older(newest, start):
        newest = entries.checkpoint(newest.number - 1)
    if newest is not None and newest.number >= BELIEVED_FROM:
        return from_checkpoint(entries, newest, reader).state, newest.number
    with output.entries_bar("reading", len(entries)) as progress:
        return replayed(entries, reader, progress=progress).state, None


def _planned(found: Forecast, state: State, plan: Plan, delta: float) -> PlannedSpending:
    with about("--plan"):
        asked = quote(state, plan, delta, found.path)
    payer = state.accounts[asked.payer]
    lasts = None if payer.closed else found.account(asked.payer).lasts_after(asked.amount, found.pace)
    return PlannedSpending(asked, delta, fits(payer, asked.amount), lasts)


# --- for programs ----------------------------------------------------------------------------------------------


def as_dict(found: Forecast) -> dict[str, object]:
    """For JSON; what was spent is rounded up, what is left and spans down. Times in nanoseconds since 1970."""
    return {
        "account": found.path,
        "unit": found.rule.unit,
        "now": found.now,
        **summary(found),
        "accounts": [_outlook_record(account, found.now) for account in found.accounts],
    }


def _outlook_record(account: Outlook, now: int) -> dict[str, object]:
    return {
        "account": account.path,
        "left": amount_record(account.left),
        "spent": amount_record(account.spent.amount, up=True),
        "charges": account.spent.charges,
        "lasts_days": whole_days(account.lasts),
        "until": None if account.lasts is None else now + account.lasts,
        "why": account.why or None,
        "last": _usual_record(account.last),
        "usual": _usual_record(account.usual),
    }


def _usual_record(charge: UsualCharge | None) -> dict[str, object] | None:
    if charge is None:
        return None
    amount = amount_record(charge.amount, up=True)
    return {"name": charge.name, "amount": amount, "times": charge.times, "fits": charge.fits}


def _plan_record(planned: PlannedSpending) -> dict[str, object]:
    record = quote_record(planned.quote, planned.delta)
    return {**record, "times": planned.times, "fits_for_days": whole_days(planned.lasts)}


# --- for people ------------------------------------------------------------------------------------------------


def _print(found: Forecast, pace: str) -> None:
    rule, some = found.rule, found.accounts[:MOST_ACCOUNTS]
    rows = [
        (
            account_name(account.path),
            _short(left_text(account.left, rule), rule),
            _short(spent_text(account.spent.amount, rule), rule),
            str(account.spent.charges),
            lasts_text(account, found.now) if account.lasts is not None else f"no number: {account.why}",
        )
        for account in some
    ]
    output.table(["account", f"left, {rule.unit}", f"in {pace}", "charges", "lasts"], rows, numbers=["charges"])
    if len(found.accounts) > len(some):
        output.paragraph(f"{len(found.accounts) - len(some)} more accounts are not shown.")
    if charges := [row for account in some for row in _charges(account, rule)]:
        output.heading("What fits still")
        output.table(["account", "one more", "of", "costs", "fits"], charges, numbers=["fits"])
    output.paragraph(
        "The pace is a straight line through what was charged, less what was given back: an estimate, and no promise. "
        "What is left is rounded down; what is set aside for a sub-budget, only that can spend."
    )


def _short(text: str, rule: Composition) -> str:
    return text.removeprefix(f"{rule.unit} = ")


def _charges(account: Outlook, rule: Composition) -> list[tuple[str, str, str, str, str]]:
    which = (("the last", account.last), ("the most usual", account.usual))
    same = account.last is not None and account.usual is not None and account.last.amount == account.usual.amount
    return [
        (
            account_name(account.path),
            "as the last, the most usual" if same else f"as {name}",
            shown(charge.name),
            spent_text(charge.amount, rule),
            "any number" if charge.fits is None else f"{charge.fits:,}",
        )
        for name, charge in which[: 1 if same else 2]
        if charge is not None
    ]


def _print_plan(planned: PlannedSpending, pace: str) -> None:
    asked = planned.quote
    output.heading(f"The plan: it {'fits' if asked.fits else 'DOES NOT FIT'}", "green" if asked.fits else "red")
    output.facts(
        [
            ("it costs", spent_text(asked.amount, asked.rule) + (f", by {asked.route}" if asked.route else "")),
            ("left now", left_text(asked.left, asked.rule)),
            ("fits", "any number of times" if planned.times is None else f"{planned.times:,} times"),
            *([("fits for", f"{span_text(planned.lasts)} at the pace of the last {pace}")] if planned.lasts else []),
        ]
    )
