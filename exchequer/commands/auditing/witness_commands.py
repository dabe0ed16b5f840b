"""`exchequer ledger anchor`: its options and its help, and those of `verify` that are about witnesses."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON, FILE, LEDGER, OUT

F = TypeVar("F", bound=Callable[..., object])


def witness_options(command: F) -> F:
    """Decorate `verify` with what an auditor holds against a ledger from outside of it."""
    for option in reversed(
        (
            click.option("--anchors", type=FILE, multiple=True, help="A file that `exchequer ledger anchor` wrote."),
            click.option(
                "--witness-key", type=FILE, multiple=True, help="With --anchors: the public key of a witness, in PEM."
            ),
            click.option(
                "--authority-root",
                type=FILE,
                multiple=True,
                help="With --anchors: the root certificate of a time stamping authority, in PEM.",
            ),
            click.option(
                "--clock-tolerance",
                type=click.FloatRange(min=0),
                default=300.0,
                show_default=True,
                metavar="SECONDS",
                help="With --anchors: by how much the clocks of writers and witnesses may differ.",
            ),
            click.option(
                "--require-signed",
                is_flag=True,
                help="A charge that no writer signed is an error; those before the first key are noted.",
            ),
            click.option("--first-key", type=FILE, help="The public key, in PEM, that must have been enrolled first."),
        )
    ):
        command = option(command)
    return command


@ledger.command()
@LEDGER
@click.option(
    "--out",
    type=OUT,
    help="The file of evidence that a line is added to; better kept by an auditor. Default: LEDGER.anchors.jsonl, "
    "beside the ledger's file.",
)
@click.option("--authority", metavar="URL", help="Have the head time-stamped by this authority (RFC 3161).")
@click.option(
    "--authority-root", type=FILE, help="With --authority or --reply: check at once against this root, in PEM."
)
@click.option(
    "--request", type=OUT, help="Write a request for a time stamp to this file instead, to be sent by other means."
)
@click.option("--reply", type=FILE, help="With --request, now the file of the request: the authority's reply to it.")
@click.option("--witness", type=FILE, help="Co-sign the head with this private key, if the ledger has only grown.")
@click.option(
    "--memory", type=OUT, help="With --witness: what it signed before. Default: the key's file name with .memory."
)
@AS_JSON
def anchor(
    ledger: str,
    out: Path | None,
    authority: str | None,
    authority_root: Path | None,
    request: Path | None,
    reply: Path | None,
    witness: Path | None,
    memory: Path | None,
    as_json: bool,
) -> None:
    """Anchor the head outside of the ledger: kept, time-stamped, or co-signed by a witness. Writes nothing to LEDGER.

    Without further options the head is kept: whoever has the file sees later if the ledger was cut off or rewritten.
    An authority's time stamp proves that its entries existed by then. A witness is somebody else, with a key of its own
    (`exchequer ledger key`) and a memory: it signs only if the ledger extends what it signed before, and so proves that
    later entries were written later. It refuses a ledger that was cut off, rewritten or forked, keeps what it was shown
    in its memory, and ends with 1.

    \b
    Examples:
      exchequer ledger anchor study.db --out auditor.jsonl
      exchequer ledger anchor study.db --authority https://tsa.example/tsr --out auditor.jsonl
      exchequer ledger anchor study.db --witness witness.key --out auditor.jsonl
      exchequer ledger anchor study.db --request head.tsq
      exchequer ledger anchor study.db --request head.tsq --reply head.tsr --out auditor.jsonl
      exchequer ledger verify study.db --anchors auditor.jsonl --witness-key witness.key.pub --authority-root tsa.pem
    """
    if sum(each is not None for each in (authority, request, witness)) > 1:
        raise click.UsageError("--authority, --request and --witness: give one of them at a time")
    if reply is not None and request is None:
        raise click.UsageError("--reply goes with --request, the request that it answers")
    if memory is not None and witness is None:
        raise click.UsageError("--memory goes with --witness")
    if authority_root is not None and authority is None and reply is None:
        raise click.UsageError("--authority-root goes with --authority or --reply")
    from exchequer.commands.auditing import anchor_head as work

    order = work.AnchorRequest(ledger, out, authority, authority_root, request, reply, witness, memory)
    click.get_current_context().exit(work.anchor(order, as_json=as_json))
