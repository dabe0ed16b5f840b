"""Files that are there whole, or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[str]]:
    """A text file, UTF-8, that appears under this name when the block ends well, and not before.

    A file that was there until then is replaced; where the block raises, it stays as it was. What is no regular file,
    such as a pipe or a terminal, is written to as it goes.
    """
    place = Path(os.path.realpath(path))  # a link is followed, not replaced
    if place.exists() and not place.is_file():
        with place.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        return
    partial = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def whole_binary_file(path: str | Path) -> Iterator[IO[bytes]]:
    """The same for bytes, which can be sought in; for regular files alone. Raises ValueError for anything else."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        raise ValueError(f"{path} is no regular file")
    partial = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}")
    try:
        with partial.open("x+b") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
