"""`exchequer ledger serve`: its options and its help."""

from pathlib import Path

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import FILE, LEDGER


@ledger.command()
@LEDGER
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; others need a token.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--token-file",
    type=FILE,
    help="File with the token that readers must give, of at least 128 random bits; else the environment variable "
    "EXCHEQUER_SERVE_TOKEN. It is required wherever others could reach the page.",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name under which the page is asked for, as desk.example.org behind a reverse proxy; several times. Without "
    "it the server answers to localhost, 127.0.0.1 and [::1] only, which stops DNS rebinding.",
)
@click.option("--title", help="Title of the page. Default: with the name of the file or of the database.")
def serve(
    ledger: str, host: str, port: int, token_file: Path | None, names: tuple[str, ...], title: str | None
) -> None:
    """Show the report as a page that stays up to date, with what was spent by data set, user and time. Writes nothing.

    Reads and verifies every entry once, and from then on what is new, each second. A ledger that is cut off, rewritten
    or replaced meanwhile turns the page red for good. The page holds no scripts, and shows the whole ledger to whoever
    may open it. There is no TLS: for anybody but yourself put a reverse proxy in front that has it. In PostgreSQL give
    it a role that may do nothing but SELECT. Ends with Ctrl-C.

    \b
    Pages: / is the report; /spent, /entries, /verify.json and /healthz. Filters are part of the address:
      /spent?by=dataset&where.user=ada&from=2026-03-01
      /entries?where.dataset=hospital&to=2026-04-01&refresh=60

    \b
    Examples:
      exchequer ledger serve study.db
      exchequer ledger serve study.db --allow-host desk.example.org --token-file token
    """
    from exchequer.commands.auditing import serve_ledger as work

    work.serve_ledger(ledger, host, port, token_file, names, title)
