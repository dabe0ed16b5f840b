"""`exchequer ledger writers`: the keys of those who charge a ledger, enrolled, replaced, revoked and listed."""

import json
from pathlib import Path

import click

from accountant.entries import PublicKey, SigningKey, why_no_name
from accountant.witnesses import KeyRequest, key_change
from exchequer.commands.ledgers.open_ledger import reading, replayed, spending, without_password
from exchequer.console import output


def private_key(option: str, path: Path) -> SigningKey:
    """A writer's key. Raises ValueError naming the option, OSError."""
    try:
        return SigningKey.load(path)
    except ImportError as error:
        raise ValueError(f"{option}: {error}") from error


def enrol(location: str, key: Path, name: str, by: Path | None, *, administrator: bool) -> None:
    """Enrol a key; the first one by itself. Raises KeyRefused, and ValueError for a name that is none."""
    if (reason := why_no_name(name)) is not None:
        raise ValueError(f"--name: {reason}")
    new = private_key("--key", key)
    if by is None:
        request = key_change("enrol", new, by=new, name=name, administrator=True)
    else:
        allowing = private_key("--by", by)
        request = key_change("enrol", new, by=allowing, name=name, administrator=administrator)
    _change(location, request, f"{name!r} is enrolled")


def rotate(location: str, key: Path, new: Path) -> None:
    """Put a new key in the place of an old one. Raises KeyRefused."""
    request = key_change("rotate", private_key("--new", new), by=private_key("--key", key))
    _change(location, request, "the key is replaced")


def revoke(location: str, key: Path, by: Path) -> None:
    """Revoke a key for good. Raises KeyRefused."""
    try:
        gone = PublicKey.load(key).hex
    except ImportError as error:
        raise ValueError(f"--key: {error}") from error
    _change(location, key_change("revoke", gone, by=private_key("--by", by)), "the key is revoked")


def _change(location: str, request: KeyRequest, what: str) -> None:
    with spending(location) as ledger:
        number = ledger.change_key(request)
        head = ledger.head
    output.title(f"{without_password(location)}: {what}")
    public = request.key if isinstance(request.key, str) else request.key.public.hex
    output.facts([("entry", str(number)), ("public key", public), ("head", head)])


def print_keys(location: str, *, as_json: bool) -> None:
    """The keys that were ever enrolled, oldest first. Raises LedgerBroken."""
    with reading(location) as entries, output.entries_bar("reading", len(entries)) as progress:
        keys = replayed(entries, progress=progress).state.writers.keys.values()
    if as_json:
        click.echo(json.dumps({"ledger": entries.name, "keys": [key.as_dict() for key in keys]}))
        return
    output.title(f"{entries.name}: {len(keys)} keys of writers")
    rows = [
        (
            key.name,
            "administrator" if key.administrator else "writer",
            str(key.since),
            "in use" if key.until is None else f"until entry {key.until}",
            key.key,
        )
        for key in keys
    ]
    output.table(["name", "may", "since entry", "state", "public key"], rows, numbers=["since entry"])
