"""Zip files of a pack: written with the same bytes from the same files, and read from anybody without harm.

Somebody else made what is read. So names are those that a pack has, and nothing else; what unpacks is counted as it
comes, whatever a header says; and there is no place in the file for what is listed nowhere.
"""

import hashlib
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from accountant.entries import whole_binary_file
from accountant.explained import Explained

ENTRIES: Final = "entries.jsonl"

NAME: Final = re.compile(
    r"(README\.txt|SHA256SUMS|manifest\.json|statement\.(txt|json)|verification\.(txt|json)|versions\.json"
    r"|report\.html|disclosure\.json|public-key\.pem|entries\.jsonl"
    r"|(models|receipts)/[0-9]{2,4}-[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}\.json)"
)
"""What a file in a pack may be called: no folder but two, no way out of them."""

MOST_FILES: Final = 10_000
MOST_RATIO: Final = 200
"""How many times larger than the pack its content may be: a ledger's digests do not shrink, so it stays below 20."""

SMALL: Final = 1 << 28
"""Bytes that a pack may unpack to whatever its size, and each file but the entries at most."""

_CHUNK: Final = 1 << 20
_LOCAL: Final = struct.Struct("<4s22xHH")
_ZIP64: Final = 28
"""Bytes that a large file needs in the list."""

_END: Final = 22
"""Bytes of the record at the end of a zip file without a comment."""


class BadPack(Explained, ValueError):
    """A pack that is not as it was made."""


def write_zip(out: Path, files: Mapping[str, Path]) -> None:
    """Write these files in this order; the same bytes each time, as no time and no owner is kept."""
    with whole_binary_file(out) as target, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, path in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            with path.open("rb") as source, pack.open(info, "w", force_zip64=name == ENTRIES) as file:
                shutil.copyfileobj(source, file, _CHUNK)


def sha256(path: Path) -> str:
    """Of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _zip_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, struct.error) as error:
        raise BadPack(f"{path.name}: damaged: {error}") from error


def unpack(path: Path, folder: Path) -> list[str]:
    """Unpack into an empty folder; the names, in their order.

    Raises BadPack for whatever a pack has not, before anything of that file is written; ValueError for no zip file.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no zip file, or it was cut off")
    with _zip_errors(path), path.open("rb") as raw, zipfile.ZipFile(raw) as pack:
        infos = pack.infolist()
        _check_names(infos)
        _check_places(raw, infos, pack.start_dir, path.stat().st_size)
        if pack.comment:
            raise BadPack("the zip file has a comment, which no pack has")
        left = max(SMALL, MOST_RATIO * path.stat().st_size)
        for info in infos:
            place = folder / info.filename
            place.parent.mkdir(exist_ok=True)
            most = left if info.filename == ENTRIES else min(left, SMALL)
            with pack.open(info) as source, place.open("xb") as target:
                left -= _copied(info.filename, source, target, most)
        return [info.filename for info in infos]


def _check_names(infos: list[zipfile.ZipInfo]) -> None:
    if len(infos) > MOST_FILES:
        raise BadPack(f"it holds {len(infos)} files, more than any pack")
    seen = set[str]()
    for info in infos:
        name = info.filename
        if not NAME.fullmatch(name) or info.orig_filename != name:
            raise BadPack(f"it holds {info.orig_filename!r:.120}, which no pack has")
        if name.lower() in seen:
            raise BadPack(f"it holds {name!r} twice")
        seen.add(name.lower())
        if info.flag_bits & ~0x806 or info.compress_type != zipfile.ZIP_DEFLATED:
            raise BadPack(f"{name}: it is encrypted, or packed in another way than packs are")
        if info.external_attr >> 16 != 0o644:
            raise BadPack(f"{name}: it is no plain file")
        if info.comment or len(info.extra) > _ZIP64:
            raise BadPack(f"{name}: it has a comment, or more beside it than packs have")


def _check_places(raw: IO[bytes], infos: list[zipfile.ZipInfo], directory: int, size: int) -> None:
    """Each file begins where the one before ends, the list comes right after, and nothing comes after that."""
    place = 0
    for info in infos:
        raw.seek(place)
        mark, name, extra = _LOCAL.unpack(raw.read(_LOCAL.size))
        if info.header_offset != place or mark != b"PK\x03\x04":
            raise BadPack(f"something stands before {info.filename} that is listed nowhere")
        if extra != (20 if info.filename == ENTRIES else 0):
            raise BadPack(f"{info.filename}: something stands beside it that is listed nowhere")
        place += _LOCAL.size + name + extra + info.compress_size
    if place != directory:
        raise BadPack("something stands between the files and their list that is listed nowhere")
    listed = sum(46 + len(info.filename) + len(info.extra) + len(info.comment) for info in infos)
    if size - directory - listed != _END and not _has_zip64_end(raw, directory + listed, size):
        raise BadPack("something stands after the list of files")


def _has_zip64_end(raw: IO[bytes], place: int, size: int) -> bool:
    """Whether the record for large files, its locator, and the end follow, and nothing else."""
    raw.seek(place)
    return raw.read(4) == b"PK\x06\x06" and size - place == 56 + 20 + _END


def _copied(name: str, source: IO[bytes], target: IO[bytes], most: int) -> int:
    """How many bytes came; never more than `most`."""
    total = 0
    while chunk := source.read(_CHUNK):
        total += len(chunk)
        if total > most:
            raise BadPack(f"{name}: it unpacks to more than {most} bytes, as no pack of this size does")
        target.write(chunk)
    return total
