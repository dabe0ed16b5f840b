"""What tables in files have in common: files that must not change, and labels that are said once."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import attrs

from accountant.explained import Explained

RECORDS_PER_BLOCK: Final = 2**20
"""Records that are looked at together, unless the user says otherwise."""

Place: TypeAlias = str | Path


class ChangedFile(Explained, RuntimeError):
    """A file is not what it was when the table was made, so that two visits might see different records."""


@attrs.frozen
class SourceFile:
    """A file as it was. size: bytes.  changed: when last, in nanoseconds."""

    path: Path
    size: int
    changed: int

    @staticmethod
    def of(path: Place) -> "SourceFile":
        """As it is now. Raises OSError."""
        state = os.stat(path)
        return SourceFile(Path(path), state.st_size, state.st_mtime_ns)

    def opened(self) -> BinaryIO:
        """For reading. Raises ChangedFile, OSError."""
        file = self.path.open("rb")
        state = os.fstat(file.fileno())
        if (state.st_size, state.st_mtime_ns) != (self.size, self.changed):
            file.close()
            raise ChangedFile(f"{self.path} was changed while it was in use; make the table anew from what it is now")
        return file


def chosen_labels(own: object, given: object, neither: str) -> object:
    """What the table was made with, or `fit` was called with. Raises ValueError where that is none, or two things."""
    if own is None and given is None:
        raise ValueError(f"y: {neither}")
    same = own is given or (isinstance(own, str) and isinstance(given, str) and own == given)
    if own is not None and given is not None and not same:
        raise ValueError("y: the table was made with labels of its own; leave them out there, or pass them on as y")
    return own if given is None else given


def label_column(own: object, given: object, names: Sequence[str]) -> str:
    """The same where labels are a column of the table's. names: of its columns.  Raises ValueError."""
    label = chosen_labels(own, given, 'the column of labels is not known: fit(table, "its name")')
    if not isinstance(label, str) or label not in names:
        said = label if isinstance(label, str) else type(label).__name__
        raise ValueError(f"y: expected the name of a column of labels, one of {list(names)}, got {said!r}")
    return label
