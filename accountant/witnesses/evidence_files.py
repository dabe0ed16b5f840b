"""Files of evidence: JSON Lines that are only ever appended to, beside a ledger or, better, in an auditor's hands."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from accountant.witnesses.head_evidence import (
    LONGEST_LINE,
    BadEvidence,
    Evidence,
    evidence_from_line,
    evidence_line,
)

SUFFIX: Final = ".anchors.jsonl"
"""What follows a ledger's file name where its evidence lies beside it."""


@attrs.frozen
class EvidenceLine:
    """A line that was read. place: file and line, for people.  found: what it says, or why it says nothing."""

    place: str
    found: Evidence | BadEvidence


def append_evidence(path: str | Path, evidence: Evidence) -> None:
    """Add a line, durably: when this returns, a power failure does not take it back.

    Raises ValueError where the file's last line is torn, as what is added would become part of it, and where its first
    line is no evidence; OSError.
    """
    place = Path(path)
    new = not place.exists()
    with place.open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                raise ValueError(
                    f"{place}: its last line is not whole, so nothing was added; look at it, and repair it"
                )
            file.seek(0)
            if isinstance(_read(file.readline(LONGEST_LINE + 2)), BadEvidence):  # a key, say, or an export
                raise ValueError(f"{place}: it holds something else than evidence, so nothing was added; name another")
        file.write(f"{evidence_line(evidence)}\n".encode("ascii"))
        file.flush()
        os.fsync(file.fileno())
    if new:
        sync_folder(place)


def sync_folder(path: Path) -> None:
    """Make a file's name in its folder durable, where the system can."""
    if os.name != "posix":
        return
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_evidence(path: str | Path) -> Iterator[EvidenceLine]:
    """Its lines, oldest first; those that say nothing, too. Raises OSError."""
    with Path(path).open("rb") as file:
        number = 0
        while content := file.readline(LONGEST_LINE + 2):
            number += 1
            yield EvidenceLine(f"{path}, line {number}", _read(content))
            if len(content) > LONGEST_LINE and not content.endswith(b"\n"):
                return  # what follows is in the middle of a line


def _read(content: bytes) -> Evidence | BadEvidence:
    if not content.endswith(b"\n"):
        return BadEvidence("no evidence: it is not a whole line")
    try:
        return evidence_from_line(content[:-1].decode("ascii"))
    except UnicodeDecodeError:
        return BadEvidence("no evidence: it is not ASCII")
    except BadEvidence as error:
        return error
