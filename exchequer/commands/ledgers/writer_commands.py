"""`exchequer ledger writers`: their options and their help."""

from pathlib import Path

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON, FILE, LEDGER


@ledger.group()
def writers() -> None:
    """Enrol, replace and revoke the keys of those who charge a ledger.

    A writer with a key of its own (`exchequer ledger key`) signs what it charges: `exchequer train --writer-key FILE`.
    Then `exchequer ledger verify` says whose charges there are, and which are nobody's.

    The first key enrols itself and is believed; compare it with the one that you know. It is an administrator, and
    administrators enrol further keys.

    \b
    Examples:
      exchequer ledger writers enrol study.db --key ada.key --name ada
      exchequer ledger writers list study.db
    """


@writers.command()
@click.argument("ledger")
@click.option("--key", type=FILE, required=True, help="The private key of the writer, which signs that it agrees.")
@click.option("--name", required=True, help="Whose key it is, for people; it stays in the ledger.")
@click.option("--by", type=FILE, help="The private key of an administrator. Left out for the first key of a ledger.")
@click.option("--administrator", is_flag=True, help="It may enrol and revoke other keys; the first one always may.")
def enrol(ledger: str, key: Path, name: str, by: Path | None, administrator: bool) -> None:
    """Enrol a writer's key under a name.

    \b
    Examples:
      exchequer ledger writers enrol study.db --key ada.key --name ada
      exchequer ledger writers enrol study.db --key bob.key --name bob --by ada.key
    """
    from exchequer.commands.ledgers import change_writers as work

    work.enrol(ledger, key, name, by, administrator=administrator)


@writers.command()
@click.argument("ledger")
@click.option("--key", type=FILE, required=True, help="The private key until now.")
@click.option("--new", type=FILE, required=True, help="The private key from now on.")
def rotate(ledger: str, key: Path, new: Path) -> None:
    """Replace a key by a new one, which has its name and its rights. The old one signs nothing any more.

    \b
    Example:
      exchequer ledger writers rotate study.db --key ada.key --new ada-2027.key
    """
    from exchequer.commands.ledgers import change_writers as work

    work.rotate(ledger, key, new)


@writers.command()
@click.argument("ledger")
@click.option("--key", type=FILE, required=True, help="The public key that is revoked.")
@click.option("--by", type=FILE, required=True, help="The private key of an administrator, or of the key itself.")
def revoke(ledger: str, key: Path, by: Path) -> None:
    """Revoke a key, for good. What it signed until now stays signed; what it signs later is an error.

    Anchor the head at once (`exchequer ledger anchor`): then nobody who has the key can add entries before this one.

    \b
    Example:
      exchequer ledger writers revoke study.db --key bob.key.pub --by ada.key
    """
    from exchequer.commands.ledgers import change_writers as work

    work.revoke(ledger, key, by)


@writers.command("list")
@LEDGER
@AS_JSON
def list_(ledger: str, as_json: bool) -> None:
    """List the keys of writers, in use or not. Writes nothing; `exchequer ledger verify` checks what they signed."""
    from exchequer.commands.ledgers import change_writers as work

    work.print_keys(ledger, as_json=as_json)
