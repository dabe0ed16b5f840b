"""`exchequer ledger pack` and `check-pack`: evidence on a ledger in one zip file, and whether it still holds."""

import datetime
import filecmp
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import click

from accountant import LedgerBroken
from accountant.entries import PublicKey, write_export
from exchequer.commands.auditing import audit_ledger
from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.commands.exports.pack_parts import KEY, NotPacked, Parts, Source, as_json, made_parts, tools_here
from exchequer.commands.exports.zip_files import ENTRIES, BadPack, sha256, unpack, write_zip
from exchequer.commands.ledgers.open_ledger import reading
from exchequer.console import output
from exchequer.console.input_errors import refuse_overwriting, refuse_replacing

EPOCH: Final = "SOURCE_DATE_EPOCH"
"""The environment variable by which a build that can be repeated says what time it bears."""

MANIFEST: Final = "manifest.json"
SUMS: Final = "SHA256SUMS"

STRICT: Final = re.compile(r"statement\.json|receipts/.*|public-key\.pem")
"""What is compared even where the pack was made by other versions."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


# --- making ----------------------------------------------------------------------------------------------------


def write_pack(location: str, out: Path, models: Sequence[Path], key: Path | None, *, second: bool, force: bool) -> int:
    """Write the pack; the exit code is that of `ledger verify`. Nothing is written where that, or a model's, is 1."""
    refuse_overwriting(out, force)
    refuse_replacing(out, *models, *([] if key is None else [key]))
    made, claims = _now(), known_claims()
    with tempfile.TemporaryDirectory(prefix="exchequer-pack-") as name:
        folder = Path(name)
        with reading(location) as entries, (folder / ENTRIES).open("w", encoding="ascii", newline="\n") as file:
            write_export(entries, file)
        given = copied(models, key, folder)
        source = Source(folder / ENTRIES, given, _key(folder), second, made, tools_here(claims))
        try:
            parts = made_parts(source, claims)
        except NotPacked as error:
            _say(error, "No pack was written.")
            return error.code
        for each, content in parts.files.items():
            _write(folder / each, content)
        names = sorted([*parts.files, *given, ENTRIES])
        manifest = as_json(_manifest(parts, source, {each: folder / each for each in names}))
        _write(folder / MANIFEST, manifest)
        _write(folder / SUMS, _sums({each: folder / each for each in (MANIFEST, *names)}))
        write_zip(out, {each: folder / each for each in (SUMS, MANIFEST, *names)})
    output.paragraph(f"The pack is in {out}: {len(names) + 2} files on {parts.entries} entries, head {parts.head}.")
    return parts.code


def _now() -> datetime.datetime:
    """The time that the pack bears, to the second."""
    if not (given := os.environ.get(EPOCH)):
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    if not re.fullmatch(r"[0-9]{1,11}", given):
        raise ValueError(f"{EPOCH}: expected seconds since 1970, got {given!r:.60}")
    return datetime.datetime.fromtimestamp(int(given), tz=datetime.UTC)


def copied(models: Sequence[Path], key: Path | None, folder: Path) -> dict[str, Path]:
    """The models and the key in the folder of the pack, by names that every system takes."""
    given = dict[str, Path]()
    for number, path in enumerate(models, 1):
        name = f"models/{number:04d}-{_UNSAFE.sub('_', path.stem)[:60] or 'model'}.json"
        _write(folder / name, path.read_bytes())
        given[name] = folder / name
    if key is not None:
        PublicKey.load(key).save(folder / KEY)  # a private one is refused here, before it is copied
    return given


def _key(folder: Path) -> Path | None:
    return folder / KEY if (folder / KEY).exists() else None


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def _manifest(parts: Parts, source: Source, files: Mapping[str, Path]) -> dict[str, object]:
    return {
        "exchequer": "pack",
        "schema": 1,
        "made": source.made.isoformat(),
        "ledger": parts.ledger,
        "entries": parts.entries,
        "head": parts.head,
        "second_opinion": source.second,
        "files": {name: {"bytes": path.stat().st_size, "sha256": sha256(path)} for name, path in files.items()},
    }


def _sums(files: Mapping[str, Path]) -> bytes:
    return "".join(f"{sha256(path)}  {name}\n" for name, path in files.items()).encode("ascii")


def _say(error: NotPacked, outcome: str) -> None:
    output.title(str(error), "red")
    output.facts(error.findings)
    output.paragraph(f"\n{outcome}")


# --- checking --------------------------------------------------------------------------------------------------


@attrs.frozen
class Checked:
    """What was found. errors: what is not as it was made.  notes: what could not be compared, or nobody vouched for."""

    errors: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: Parts | None = None
    unchecked: bool = False

    @property
    def code(self) -> int:
        """The exit code: 1 for errors, 3 where something could not be compared, else that of the ledger."""
        if self.errors or self.parts is None:
            return audit_ledger.NOT_SOUND
        return max(self.parts.code, audit_ledger.WITH_CAVEATS if self.unchecked else audit_ledger.SOUND)


def print_check(pack: Path, expect_head: str | None, key: Path | None, *, as_json: bool) -> int:
    """Print whether a pack is as it was made; the exit code."""
    head = None if expect_head is None else audit_ledger.digest("--expect-head", expect_head)
    found = check_pack(pack, head, key)
    parts = found.parts
    if as_json:
        record = {
            "pack": str(pack),
            "intact": not found.errors,
            "errors": list(found.errors),
            "notes": list(found.notes),
            "ledger": None if parts is None else parts.ledger,
            "entries": None if parts is None else parts.entries,
            "head": None if parts is None else parts.head,
            "exit_code": found.code,
        }
        click.echo(json.dumps(record, indent=1, allow_nan=False))
        return found.code
    said = {0: "as it was made, and its ledger is sound", 3: "as it was made, WITH CAVEATS"}
    colour = {0: "green", 3: "yellow"}.get(found.code, "red")
    output.title(f"{pack}: {said.get(found.code, 'NOT AS IT WAS MADE')}", colour)
    lines = [*(("error", each) for each in found.errors), *(("note", each) for each in found.notes)]
    output.facts([*lines, *([] if parts is None else [("head", parts.head)])])
    return found.code


def check_pack(pack: Path, expect_head: str | None = None, key: Path | None = None) -> Checked:
    """Make everything in a pack again from its entries and models, and compare.

    expect_head: a head that was kept elsewhere.  key: the public key that all receipts must be signed with. What cannot
    be read is an error among others: a pack that was cut off looks like no zip file.
    """
    with tempfile.TemporaryDirectory(prefix="exchequer-pack-") as name:
        folder = Path(name)
        try:
            names = unpack(pack, folder)
            manifest = _read_manifest(folder, names)
            return _made_again(folder, names, manifest, expect_head, key)
        except BadPack as error:
            return Checked((str(error),))
        except NotPacked as error:
            return Checked((str(error), *(f"{kind}: {text}" for kind, text in error.findings)))
        except (ValueError, LedgerBroken, OSError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            return Checked((f"it cannot be read: {error}".replace(f"{folder}/", "")[:500],))


def _read_manifest(folder: Path, names: Sequence[str]) -> Mapping[str, object]:
    """The manifest, whose sums are those of the files. Raises BadPack."""
    missing = {SUMS, MANIFEST, ENTRIES, "versions.json"} - set(names)
    if missing:
        raise BadPack(f"{min(missing)} is missing")
    content = (folder / MANIFEST).read_bytes()
    manifest = json.loads(content)
    if not isinstance(manifest, dict) or manifest.get("exchequer") != "pack" or manifest.get("schema") != 1:
        raise BadPack(f"{MANIFEST}: no manifest of a pack of schema 1; a newer exchequer may read it")
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise BadPack(f"{MANIFEST}: it lists no files")
    listed, there = set(files), set(names) - {SUMS, MANIFEST}
    if listed != there:
        added = [f"{each!r} was added" for each in sorted(there - listed)]
        raise BadPack("; ".join([*added, *(f"{each!r} is missing" for each in sorted(listed - there))]))
    wrong = [each for each in sorted(there) if files[each] != _entry(folder / each)]
    if wrong:
        raise BadPack("; ".join(f"{each} was changed: its sum is not that of the manifest" for each in wrong))
    if (folder / SUMS).read_bytes() != _sums({each: folder / each for each in (MANIFEST, *sorted(there))}):
        raise BadPack(f"{SUMS} or {MANIFEST} was changed: they do not agree")
    return manifest


def _entry(path: Path) -> dict[str, object]:
    return {"bytes": path.stat().st_size, "sha256": sha256(path)}


def _made_again(
    folder: Path, names: Sequence[str], manifest: Mapping[str, object], head: str | None, key: Path | None
) -> Checked:
    claims = known_claims()
    packed = _key(folder)
    if key is not None and packed is not None and PublicKey.load(key) != PublicKey.load(packed):
        raise BadPack(f"{KEY}: it is another key than the one that you gave")
    tools = json.loads((folder / "versions.json").read_bytes())
    if not isinstance(tools, dict):
        raise BadPack("versions.json: it lists no versions")
    here = tools_here(claims)
    same = tools.keys() == here.keys() and all(tools[name] == here[name] for name in here if name != "platform")
    made = datetime.datetime.fromisoformat(str(manifest.get("made")))
    second = manifest.get("second_opinion") is True
    models = {name: folder / name for name in sorted(names) if name.startswith("models/")}
    source = Source(folder / ENTRIES, models, packed, second, made, tools)
    parts = made_parts(source, claims)
    if key is not None and packed is None and models:  # the receipts must be signed with it all the same
        made_parts(attrs.evolve(source, key=key), claims)
    errors = list(_differences(folder, names, parts, models, same=same))
    if not _as_exported(folder / ENTRIES):
        errors.append(f"{ENTRIES}: it is not written as an export is")
    if head is not None and not _had(folder / ENTRIES, head):
        errors.append(f"the ledger in it never had the head {head}: it was cut off, rewritten, or is another one")
    if (folder / MANIFEST).read_bytes() != as_json(_manifest(parts, source, {n: folder / n for n in _listed(names)})):
        errors.append(f"{MANIFEST}: it does not say what the files say")
    return Checked(tuple(errors), tuple(_notes(head, key, models, same)), parts, unchecked=not same)


def _as_exported(export: Path) -> bool:
    """Whether it is, byte for byte, what `ledger export` writes of its entries."""
    again = export.with_suffix(".again")
    with reading(str(export)) as entries, again.open("w", encoding="ascii", newline="\n") as file:
        write_export(entries, file)
    return filecmp.cmp(export, again, shallow=False)


def _had(export: Path, head: str) -> bool:
    with reading(str(export)) as entries:
        return entries.find(head) is not None


def _listed(names: Sequence[str]) -> list[str]:
    return sorted(set(names) - {SUMS, MANIFEST})


def _differences(
    folder: Path, names: Sequence[str], parts: Parts, models: Mapping[str, Path], *, same: bool
) -> Iterator[str]:
    expected = {*parts.files, *models, ENTRIES, SUMS, MANIFEST}
    for name in sorted(expected ^ set(names)):
        yield f"{name} {'is missing' if name in expected else 'belongs to nothing in it'}"
    for name, content in sorted(parts.files.items()):
        if name in names and (same or STRICT.fullmatch(name)) and (folder / name).read_bytes() != content:
            yield f"{name}: it is not what the entries and the models say"


def _notes(head: str | None, key: Path | None, models: Mapping[str, Path], same: bool) -> Iterator[str]:
    if head is None:
        yield "nobody vouches for the head: give --expect-head with one that was kept elsewhere"
    if models and key is None:
        yield "nobody vouches for the key that signed receipts: give --public-key"
    if not same:
        yield (
            "it was made by other versions than run here (versions.json): texts, the report and the disclosure record "
            "were not compared; entries, statement.json and receipts were"
        )
