"""CSV files as columns of text, whole or a block of records at a time; `.gz` is decompressed."""

import gzip
import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from learners.tables.file_format import FileFormat, Rows, distinct_names, separator_in

Strings: TypeAlias = npt.NDArray[np.object_]
"""Of Python's str."""

GZIP: Final = b"\x1f\x8b"
"""How a file that gzip compressed begins."""

_AT_ONCE: Final = 2**16
"""Records that are taken apart together, so that what is made of them on the way stays small."""


@attrs.frozen
class CsvFile:
    """A file, and how it is to be read.

    names: of the columns where the file has no header line.  comment: lines that start so are skipped.
    """

    path: Path = attrs.field(converter=Path)
    format: FileFormat = attrs.field(factory=FileFormat)
    comment: str | None = None

    def names(self) -> list[str]:
        """Of its columns. Raises ValueError for one that stands twice, OSError."""
        with self._lines(None) as lines:
            return self._opened(lines)[0]

    def separator(self) -> str:
        """What separates its fields, as the format or the header line says. Raises OSError."""
        with self._lines(None) as lines:
            header = "" if self.format.columns else next((line for line in lines if line.strip()), "")
        return self.format.separator or separator_in(header, self.format.quote)

    def width(self) -> int:
        """How many fields the first row has, be it of names or a record; 0 where there is none. Raises OSError."""
        with self._lines(None) as lines:
            return len(next(filter(None, self.format.reader(lines)), []))

    def records(self, opened: BinaryIO | None = None) -> int:
        """How many there are. opened, and what is raised: as for `blocks`."""
        with self._lines(opened) as lines:
            names, rows = self._opened(lines)
            found = 0
            while some := list(itertools.islice(rows, _AT_ONCE)):
                self._check_widths(some, len(names), found)
                found += len(some)
        return found

    def blocks(self, size: int, opened: BinaryIO | None = None) -> Iterator[dict[str, Strings]]:
        """So many records at a time, in order, as columns of stripped text; blank lines are skipped.

        opened: the file, where it is open already.  Of no record, one block of none.
        Raises ValueError naming the line where a row has too few or too many fields, and bytes that are no text.
        """
        with self._lines(opened) as lines:
            names, rows = self._opened(lines)
            before = 0
            while True:
                columns = self._columns(rows, size, len(names), before)
                found = len(columns[0]) if columns else 0
                if found or not before:
                    yield dict(zip(names, columns, strict=True))
                if found < size:
                    return
                before += found

    def _opened(self, lines: Iterator[str]) -> tuple[list[str], Iterator[list[str]]]:
        """The names, and the rows that are not empty."""
        if self.format.columns:
            return distinct_names(self.format.columns, self.path), filter(None, self.format.reader(lines))
        rows = filter(None, self._with_header(lines))
        return distinct_names(next(rows, []), self.path), rows

    def _with_header(self, lines: Iterator[str]) -> Rows:
        """The separator is that of the first line that is not blank; see `FileFormat`."""
        start = list[str]()
        for line in lines:
            start.append(line)
            if line.strip():
                break
        return self.format.reader(itertools.chain(start, lines), start[-1] if start else "")

    def _columns(self, rows: Iterator[list[str]], size: int, width: int, before: int) -> list[Strings]:
        """Of at most so many rows. before: how many records there were."""
        parts = list[list[Strings]]()
        while size > 0:
            some = list(itertools.islice(rows, min(size, _AT_ONCE)))
            self._check_widths(some, width, before)
            fields = zip(*some, strict=True) if some else itertools.repeat((), width)
            parts.append([self._texts(column) for column in fields])
            before, size = before + len(some), 0 if len(some) < _AT_ONCE else size - len(some)
        return parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _check_widths(self, rows: Sequence[list[str]], width: int, before: int) -> None:
        """Raise ValueError for a row of another width. Then the file is read once more, to tell which line that is."""
        if not set(map(len, rows)) - {width}:
            return
        record = before + next(place for place, row in enumerate(rows) if len(row) != width)
        with self._lines(None) as lines:
            reader = self.format.reader(lines) if self.format.columns else self._with_header(lines)
            row = next(itertools.islice(filter(None, reader), record + (not self.format.columns), None))
            found, line = len(row), reader.line_num
        said = "; where fields are separated by something else, say so (--separator)" if 1 in (found, width) else ""
        raise ValueError(f"{self.path}, line {line}: {found} fields, expected {width}{said}")

    def _texts(self, column: tuple[str, ...]) -> Strings:
        """Of objects: an array of text would be as wide everywhere as its longest field."""
        said = map(self.format.text if self.format.decimal == "," else str.strip, column)
        return np.fromiter(said, dtype=object, count=len(column))

    @contextmanager
    def _lines(self, opened: BinaryIO | None) -> Iterator[Iterator[str]]:
        with opened or self.path.open("rb") as raw:
            packed = raw.read(2) == GZIP
            raw.seek(0)
            plain = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            start = plain.read(4)
            plain.seek(0)
            encoding = self.format.encoding_of(start)
            text = io.TextIOWrapper(cast("Any", plain), encoding=encoding, newline="")
            try:
                yield (line for line in text if self.comment is None or not line.startswith(self.comment))
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{self.path}: byte {error.object[error.start]:#04x} is no {error.encoding}; say how the file is "
                    "encoded (--encoding), as in latin-1 or cp1252"
                ) from None
            finally:
                text.detach()


def read_csv(
    path: str | Path,
    *,
    names: Sequence[str] | None = None,
    comment: str | None = None,
    format: FileFormat | None = None,
) -> dict[str, Strings]:
    """A CSV file as columns of stripped text; what gzip compressed is decompressed. Blank lines are skipped.

    names: column names where the file has no header line.  comment: lines that start so are skipped.
    format: how the file is written; None takes commas, quotes and UTF-8, and the separator as its header line has it.
    Raises ValueError naming the line where a row has too few or too many fields.
    """
    how = format or FileFormat()
    if names is not None:
        how = attrs.evolve(how, columns=tuple(names))
    parts = list(CsvFile(Path(path), how, comment).blocks(2**20))
    return parts[0] if len(parts) == 1 else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
