"""`exchequer ledger forecast` and `advise`: their options and their help."""

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import ACCOUNT, AS_JSON, LEDGER
from exchequer.console.times import PACE

PLAN = click.option(
    "--plan",
    "plans",
    multiple=True,
    metavar="KIND:NUMBERS[@ROUNDS]",
    help="Say whether this plan fits, and for how long; written as --mechanism of `exchequer ledger price`. Several "
    "times for a mixed plan.",
)


@ledger.command()
@LEDGER
@click.option("--account", default="", help=f"Of this sub-budget only, and those below it. {ACCOUNT}")
@PACE
@PLAN
@click.option(
    "--delta",
    type=float,
    default=0.0,
    show_default=True,
    help="With --plan, above 0: charge it as one thing at this delta, as `exchequer ledger price` does.",
)
@AS_JSON
def forecast(ledger: str, account: str, pace: str, plans: tuple[str, ...], delta: float, as_json: bool) -> None:
    """Say how long what remains lasts at the recent pace, and what still fits. Writes nothing.

    The pace is what was charged in the last --pace, in the unit that the ledger's rule adds up; a straight line, and an
    estimate. What remains is rounded down. A ledger that is younger than that, or that has fewer than two charges in
    that time, gets no number. Ends with 0, and with 1 where --plan does not fit.

    \b
    Examples:
      exchequer ledger forecast study.db
      exchequer ledger forecast study.db --account team-a --pace 30d
      exchequer ledger forecast study.db --plan pure-dp:0.1@5
    """
    from exchequer.commands.outlook import forecast_ledger as work

    click.get_current_context().exit(work.print_forecast(ledger, account, pace, plans, delta, as_json=as_json))


@ledger.command()
@LEDGER
@click.option(
    "--delta",
    type=float,
    help="Of a ledger whose budget has no delta: compare all rules as epsilon at this delta, above 0.",
)
@AS_JSON
def advise(ledger: str, delta: float | None, as_json: bool) -> None:
    """Say what other rules of composition would have charged for the same entries. Writes nothing.

    Each total is one that the rule could have promised, had the ledger been opened under it; the last line, by a
    privacy loss distribution, is for reading only. A rule is fixed when a ledger is opened: this is advice for the next
    one. Reads the whole ledger.

    \b
    Examples:
      exchequer ledger advise study.db
      exchequer ledger advise pure.db --delta 1e-6
    """
    from exchequer.commands.outlook import advise_ledger as work

    work.print_advice(ledger, delta, as_json=as_json)
