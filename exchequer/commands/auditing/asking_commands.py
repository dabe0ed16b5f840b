"""`exchequer ledger spent` and `diff`: their options and their help."""

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON, LEDGER
from exchequer.console.times import SINCE, UNTIL


@ledger.command()
@LEDGER
@click.option(
    "--by",
    multiple=True,
    default=["account"],
    show_default=True,
    help="What tells charges apart: dataset, purpose, user, host, program, account, mechanism, model, year, month or "
    "day. One at a time; --where narrows by another.",
)
@click.option(
    "--where",
    "wanted",
    multiple=True,
    metavar="NAME=TEXT",
    help="Only charges that say so, as dataset=hospital; several must all hold. account=team-a holds for what is below "
    "it too; model= takes the first digits of its digest; an empty text is for charges that do not say.",
)
@SINCE
@UNTIL
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV for spreadsheets instead of text.")
@AS_JSON
def spent(
    ledger: str,
    by: tuple[str, ...],
    wanted: tuple[str, ...],
    since: str | None,
    until: str | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Say who spent how much, on which data, what for, when: the charges, added up by what they say of themselves.

    What is said is the word of whoever charged, kept in the entry and its digest; see LEDGER.md. Writes nothing.

    \b
    Examples:
      exchequer ledger spent study.db --by dataset
      exchequer ledger spent study.db --by user --where dataset=hospital --from 2026-03-01
      exchequer ledger spent study.db --by model --where purpose='pilot study' --json
    """
    from exchequer.commands.auditing import spent_ledger as work

    if len(by) > 1:
        raise click.UsageError(f"--by: one at a time, got {', '.join(by)}; narrow by the others with --where NAME=TEXT")
    work.print_spent(ledger, by[0], wanted, since, until, as_csv=as_csv, as_json=as_json)


@ledger.command()
@click.argument("earlier")
@click.argument("later")
@AS_JSON
def diff(earlier: str, later: str, as_json: bool) -> None:
    """Compare two readings of a ledger, as an export of March and the ledger of today.

    EARLIER may also be a head that was kept: then LATER is compared with itself as it was then. Ends with 0 where
    nothing of EARLIER was changed or lost, and with 1 where LATER was cut off, rewritten or is another ledger. Digests
    up to a head are computed; others are compared: `exchequer ledger verify` tells whether they hold.

    \b
    Examples:
      exchequer ledger diff march.jsonl study.db
      exchequer ledger diff 4be02dd5... study.db
    """
    from exchequer.commands.auditing import spent_ledger as work

    click.get_current_context().exit(work.print_difference(earlier, later, as_json=as_json))
