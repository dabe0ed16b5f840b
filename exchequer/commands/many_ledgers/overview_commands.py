"""`exchequer ledger overview`: its options and its help."""

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON


@ledger.command()
@click.argument("ledgers", nargs=-1)
@click.option(
    "--registry",
    envvar="EXCHEQUER_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="Also all ledgers in this registry, and which data sets they were opened for.",
)
@click.option("--whole", is_flag=True, help="Read all entries of long ledgers, too: all data sets that they name.")
@click.option("--verify", "verified", is_flag=True, help="Verify each ledger, and give its verdict.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the ledgers as CSV for spreadsheets instead of text.")
@AS_JSON
def overview(
    ledgers: tuple[str, ...], registry: str | None, whole: bool, verified: bool, as_csv: bool, as_json: bool
) -> None:
    """Many ledgers in one table, and what those over the same data set come to together.

    LEDGERS are URLs, paths of SQLite files or exports, or patterns of paths, as 'studies/*.db'. A ledger of more than
    50,000 entries is read from its newest checkpoint on, which is believed; the table says so.

    Guarantees are added by basic composition. The sum of the budgets is what all of them promise together, whatever is
    charged next; the sum of what was spent is what all charges so far come to. A ledger counts with all of it for each
    data set that it names, and with its whole budget where it cannot be read. Writes nothing.

    Ends with 1 where a ledger cannot be read or is not sound, or the same ledger goes on in two places.

    \b
    Examples:
      exchequer ledger overview 'studies/*.db'
      exchequer ledger overview --registry sqlite:///registry.db --json
      exchequer ledger overview a.db b.db --verify
    """
    from exchequer.commands.many_ledgers import overview_ledgers as work

    code = work.print_overview(ledgers, registry, whole=whole, verified=verified, as_csv=as_csv, as_json=as_json)
    click.get_current_context().exit(code)
