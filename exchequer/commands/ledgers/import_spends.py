"""`exchequer ledger import`: what other libraries spent, as somebody declares it."""

import json
from pathlib import Path

import click

from accountant import BudgetExceeded, Ledger
from accountant.audit import in_symbols
from accountant.entries import MAIN
from exchequer.commands.ledgers.change_writers import private_key
from exchequer.commands.ledgers.open_ledger import about_of, spending
from exchequer.console import output
from exchequer.console.input_errors import about
from mechanisms.foreign import Recorded, SpendFile, read_spends, record_spends


def import_spends(
    location: str,
    file: Path,
    declared_by: str,
    source: str,
    delta: float | None,
    account: str | None,
    writer_key: Path | None = None,
    said: tuple[str, ...] = (),
    *,
    again: bool,
    as_json: bool,
) -> None:
    """Read all of the file, price all of it, charge it with one entry. Raises ValueError, and BudgetExceeded.

    said: what it is about, as NAME=TEXT.
    """
    writer = None if writer_key is None else private_key("--writer-key", writer_key)
    with spending(location, writer, about_of(said)) as ledger:
        with about(str(file)):
            found = _read(file, ledger, delta)
        try:
            recorded = record_spends(
                ledger,
                found.spends,
                declared_by=declared_by,
                digest=found.digest,
                source=source or file.name,
                delta=delta,
                account=account or MAIN,
                again=again,
            )
        except BudgetExceeded as error:
            raise ValueError(
                f"{error}. These spends have happened, and this ledger promises less than they come to with its own: "
                "open one whose budget covers both, and import there; keep this one as it is"
            ) from error
        ledger.sign()
        head = ledger.head
    _say(found, recorded, declared_by, head, as_json=as_json)


def _read(file: Path, ledger: Ledger, delta: float | None) -> SpendFile:
    try:
        return read_spends(file, adjacency=ledger.adjacency, delta=delta)
    except ImportError as error:  # of torch, for a checkpoint
        raise ValueError(str(error)) from error


def _say(found: SpendFile, recorded: Recorded, declared_by: str, head: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps(
                {
                    "entry": recorded.entry,
                    "spends": recorded.spends,
                    "format": found.kind,
                    "digest": found.digest,
                    "declared_by": declared_by,
                    "spent": recorded.spent.as_dict(),
                    "head": head,
                },
                sort_keys=True,
            )
        )
        return
    output.title("Charged as declared, not checked")
    output.facts(
        [
            ("entry", str(recorded.entry)),
            ("spends", f"{recorded.spends}, as {found.kind} has them"),
            ("declared by", declared_by),
            ("spent now", in_symbols(recorded.spent)),
            ("head", head),
        ]
    )
