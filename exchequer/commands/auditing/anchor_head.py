"""`exchequer ledger anchor`: a ledger's head, kept, time-stamped or co-signed outside of it."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import click
import sqlalchemy as sa

from accountant.canonical_json import canonical
from accountant.entries import SigningKey, whole_file
from accountant.witnesses import (
    SUFFIX,
    BadEvidence,
    CoSignature,
    Evidence,
    Head,
    KeptHead,
    StampRequest,
    TimeStamp,
    Witness,
    WitnessRefuses,
    append_evidence,
    ask,
    check_time_stamp,
    load_roots,
    newest_head,
    read_evidence,
)
from exchequer.commands.ledgers.open_ledger import reading, without_password
from exchequer.console import output

DONE, REFUSED = 0, 1
"""Exit codes."""

ADDED: Final[Mapping[type[Evidence], str]] = {
    KeptHead: "its head is kept in",
    TimeStamp: "a time stamp on its head was added to",
    CoSignature: "a co-signature on its head was added to",
}

REMEMBERED: Final = ".json"
"""What follows the name of a request's file where its head is remembered."""


@attrs.frozen
class AnchorRequest:
    """What is asked for; all as the command has it. location: of the ledger."""

    location: str
    out: Path | None
    authority: str | None
    root: Path | None
    request: Path | None
    reply: Path | None
    witness: Path | None
    memory: Path | None

    @property
    def file(self) -> Path:
        """The file of evidence. Raises ValueError where none is named and the ledger is no file."""
        if self.out is not None:
            return self.out
        place: str | None = self.location
        if "://" in self.location:
            url = sa.make_url(self.location)
            place = url.database if url.get_backend_name() == "sqlite" else None
        if not place:
            raise ValueError("--out is missing: this ledger is no file that evidence could lie beside")
        return Path(f"{place}{SUFFIX}")


def anchor(order: AnchorRequest, *, as_json: bool) -> int:
    """Add one piece of evidence, or write a request for one; the exit code."""
    try:
        with _plain_imports():
            if order.request is not None and order.reply is None:
                return _write_request(order, order.request, as_json=as_json)
            file = order.file
            evidence = _evidence(order, file)
            append_evidence(file, evidence)
    except WitnessRefuses as refusal:
        return _refused(order, refusal, as_json=as_json)
    if as_json:
        click.echo(json.dumps({"file": str(file), **evidence.as_dict()}))
        return DONE
    output.title(f"{without_password(order.location)}: {ADDED[type(evidence)]} {file}")
    output.facts([("entry", str(evidence.head.number)), ("head", evidence.head.digest)])
    return DONE


def _evidence(order: AnchorRequest, file: Path) -> Evidence:
    if order.witness is not None:
        return _co_signed(order, order.witness, file)
    if order.reply is not None and order.request is not None:
        request = _remembered(order.request)
        with reading(order.location) as entries:
            if entries.find(request.head.digest) != request.head.number:
                raise ValueError(f"{order.request} is a request for another ledger than {entries.name}, or for none")
        stamp = request.answered(order.reply.read_bytes())
    else:
        head = _head(order.location)
        if order.authority is None:
            return KeptHead(head)
        stamp = ask(order.authority, StampRequest.of(head))
    if order.root is not None:
        check_time_stamp(stamp, load_roots(order.root))
    return stamp


def _head(location: str) -> Head:
    with reading(location) as entries:
        try:
            return newest_head(entries.since)
        except WitnessRefuses as error:  # of nobody: it is no chain
            raise BadEvidence(f"{error}; `exchequer ledger verify` lists what is wrong") from None


def _co_signed(order: AnchorRequest, key: Path, file: Path) -> Evidence:
    memory = order.memory or key.with_name(f"{key.name}.memory")
    with Witness(SigningKey.load(key), memory) as witness:
        if file.exists():
            witness.recall(line.found for line in read_evidence(file) if not isinstance(line.found, BadEvidence))
        begun = time.time_ns()  # before the ledger is opened: what follows its end then is written later
        with reading(order.location) as entries:
            return witness.sign(entries.since, begun=begun)


def _refused(order: AnchorRequest, refusal: WitnessRefuses, *, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({"refused": str(refusal), "proof": dict(refusal.proof)}))
    else:
        output.title(f"{without_password(order.location)}: {refusal}", "red")
        output.paragraph("What was signed before and what was shown now is kept in the witness's memory, as proof.")
    return REFUSED


# --- requests that are sent by other means ---------------------------------------------------------------------


def _write_request(order: AnchorRequest, path: Path, *, as_json: bool) -> int:
    request = StampRequest.of(_head(order.location))
    beside = path.with_name(f"{path.name}{REMEMBERED}")
    for each in (path, beside):
        if each.exists():
            raise FileExistsError(f"{each} exists already; give another name, or --reply with the authority's answer")
    path.write_bytes(request.content)
    with whole_file(beside) as out:
        out.write(canonical({"nonce": f"{request.nonce:x}", **request.head.as_dict()}))
    if as_json:
        click.echo(json.dumps({"request": str(path), **request.head.as_dict()}))
        return DONE
    output.title(f"{without_password(order.location)}: a request for a time stamp is in {path}")
    output.paragraph(
        f"Send it to an authority, as application/timestamp-query, and keep {beside}. Then give the reply: "
        f"exchequer ledger anchor {without_password(order.location)} --request {path} --reply FILE"
    )
    return DONE


def _remembered(path: Path) -> StampRequest:
    beside = path.with_name(f"{path.name}{REMEMBERED}")
    try:
        record = json.loads(beside.read_text(encoding="ascii"))
        head = Head(str(record["ledger"]), int(record["number"]), str(record["head"]))
        return StampRequest(head, int(str(record["nonce"]), 16), path.read_bytes())
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{beside}: this does not say what the request was for: {error}") from None


@contextmanager
def _plain_imports() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ValueError(str(error)) from error
