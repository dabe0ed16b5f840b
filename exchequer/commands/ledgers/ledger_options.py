"""Options that several commands have: which ledger, which account, which file, how it is printed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from click.core import ParameterSource

from exchequer.console.table_databases import File

F = TypeVar("F", bound=Callable[..., object])

ENVIRONMENT = "EXCHEQUER_LEDGER"
"""The environment variable that stands in for LEDGER where it is the only argument."""

FILE = File()
OUT = click.Path(dir_okay=False, path_type=Path)

LEDGER = click.argument("ledger", envvar=ENVIRONMENT)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
FORCE = click.option("--force", is_flag=True, help="Replace --out if it exists.")
SECOND_OPINION = click.option(
    "--second-opinion",
    is_flag=True,
    help="Have an independent accountant add up the same entries: Google's dp-accounting, from "
    "pip install 'exchequer[pld]'.",
)


WRITER_KEY = click.option(
    "--writer-key",
    type=FILE,
    envvar="EXCHEQUER_WRITER_KEY",
    show_envvar=True,
    help="With a durable ledger: key to sign the charges with; see `exchequer ledger writers`.",
)


def about_option(what: str) -> Callable[[F], F]:
    """The option of what charges are about. what: how its help begins."""
    return click.option(
        "--about",
        multiple=True,
        metavar="NAME=TEXT",
        help=f"{what} the charges are about, for auditors: dataset, purpose, user, host, program; several times. It "
        "stays in the ledger. Default: what EXCHEQUER_DATASET, EXCHEQUER_PURPOSE and EXCHEQUER_RECORD say.",
    )


def payer_options(command: F) -> F:
    """Decorate a command with the ledger that pays, an account of it, and the key that signs."""
    payer = click.option(
        "--ledger",
        envvar=ENVIRONMENT,
        show_envvar=True,
        help="Durable ledger that pays: a URL, or the path of its SQLite file; see `exchequer ledger open`. Without "
        "it, a ledger of its own is opened for this run. Not with --seed: it would pay for a simulation.",
    )
    account = click.option(
        "--account",
        help="With --ledger: the sub-budget that pays, or a label; where there are sub-budgets, main or one that "
        "`exchequer ledger label` announced.",
    )
    said = "With --ledger: key to sign the receipts; see `exchequer ledger key`."
    about = about_option("With --ledger: what")
    return payer(account(click.option("--signing-key", type=FILE, help=said)(about(WRITER_KEY(command)))))


def refuse_unpaid(
    ledger: str | None, account: str | None, signing_key: Path | None, about: tuple[str, ...] = ()
) -> None:
    """Raise UsageError for options of a ledger without one."""
    writer = click.get_current_context().get_parameter_source("writer_key") is ParameterSource.COMMANDLINE
    if ledger is None and (account is not None or signing_key is not None or about or writer):
        raise click.UsageError("--account, --signing-key, --about and --writer-key go with --ledger")


def refuse_simulated(ledger: str | None, seed: int | None) -> None:
    """Raise UsageError for a simulation that a ledger would be charged for."""
    if ledger is not None and seed is not None:
        raise click.UsageError(
            "--seed simulates, which is not private, and --ledger would be charged for it for good; nothing was "
            f"charged. Leave out --seed for a private model, or simulate without --ledger and without {ENVIRONMENT}"
        )


SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Simulate with this seed, a whole number from 0: repeatable, but NOT private, and the statement says so. "
    "Without it the noise is secure and differs in every run.",
)
NO_HEADER = click.option(
    "--no-header",
    is_flag=True,
    help="The file has no line with column names: its columns are the schema's in order, then the label.",
)
ACCOUNT = "Path of a sub-budget, as team-a or team-a/first."
