"""`exchequer ledger registry` and `policy`: their options and their help."""

from pathlib import Path

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON, FILE


@ledger.command()
@click.argument("url", envvar="EXCHEQUER_REGISTRY")
@click.option("--create", is_flag=True, help="Make the registry, where there is none.")
@AS_JSON
def registry(url: str, create: bool, as_json: bool) -> None:
    """List which ledgers exist over which data set, as a registry has them; or make one.

    URL is that of a database of its own, or of a schema of PostgreSQL. Ledgers enter themselves when they are opened
    for a data set with EXCHEQUER_REGISTRY set, or by Ledger.open(..., registry=URL). A registry is never made by the
    way: one that is missing would hide every ledger in the one that was meant.

    \b
    Examples:
      exchequer ledger registry sqlite:///registry.db --create
      exchequer ledger registry sqlite:///registry.db --json
    """
    from exchequer.commands.ledgers import registry_listing as work

    work.print_registry(url, create=create, as_json=as_json)


@ledger.command()
@click.argument("file", type=FILE, required=False)
def policy(file: Path | None) -> None:
    """Read a policy in TOML, and say what it asks for, or all that is wrong with it. Without FILE: print an example.

    Ledgers are held against the policy that EXCHEQUER_POLICY names, or Ledger.open(..., policy=FILE); and later, by
    `exchequer ledger verify --policy FILE`.

    \b
    Examples:
      exchequer ledger policy > policy.toml
      exchequer ledger policy policy.toml
    """
    from exchequer.commands.ledgers import registry_listing as work

    work.print_policy(file)
