"""CSV files as columns of text, whole or a block of records at a time; `.gz` is decompressed."""

import gzip
import io
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from learners.tables.file_format import FileFormat, UnclosedQuote, distinct_names, separator_in
from learners.tables.plain_text import PlainText, plain

Strings: TypeAlias = npt.NDArray[np.object_]
"""Of Python's str."""

GZIP: Final = b"\x1f\x8b"
"""How a file that gzip compressed begins."""

_AT_ONCE: Final = 2**16
"""Records that `csv.reader` takes apart together, so that what is made of them on the way stays small."""

_CHARACTERS: Final = 2**22
"""That are taken apart together where they are plain."""


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
        with self._text(None) as text:
            return self._names(text)[0]

    def separator(self) -> str:
        """What separates its fields, as the format or the header line says. Raises OSError."""
        with self._text(None) as text:
            return self._names(text)[1]

    def width(self) -> int:
        """How many fields the first row has, be it of names or a record; 0 where there is none. Raises OSError."""
        with self._text(None) as text:
            return len(next(filter(None, self.format.reader(text)), []))

    def records(self, opened: BinaryIO | None = None) -> int:
        """How many there are. opened, and what is raised: as for `blocks`."""
        with self._text(opened) as text:
            return sum(piece.lines for piece in self._pieces(text, *self._names(text)))

    def blocks(self, size: int, opened: BinaryIO | None = None) -> Iterator[dict[str, Strings]]:
        """So many records at a time, in order, as columns of stripped text; blank lines are skipped.

        opened: the file, where it is open already.  Of no record, one block of none.
        Raises ValueError naming the line where a row has too few or too many fields, and bytes that are no text.
        """
        with self._text(opened) as text:
            names, separator = self._names(text)
            kept, empty = [[np.empty(0, dtype=object)] for _ in names], True
            records = 0
            for piece in self._pieces(text, names, separator):
                for parts, fields in zip(kept, piece.fields(), strict=True):
                    parts.append(self._texts(fields, blank=piece.blank))
                records += piece.lines
                while records >= size:
                    block = [np.concatenate(parts) for parts in kept]
                    yield {name: values[:size] for name, values in zip(names, block, strict=True)}
                    kept, records, empty = [[values[size:]] for values in block], records - size, False
            if records or empty:
                yield {name: np.concatenate(parts) for name, parts in zip(names, kept, strict=True)}

    def _names(self, text: io.TextIOWrapper) -> tuple[list[str], str]:
        """Of the columns, and what separates fields, as the first line that is not blank has it."""
        if self.format.columns:
            return distinct_names(self.format.columns, self.path), self.format.separator or ","
        start = list[str]()
        for line in self._uncommented(text):
            start.append(line)
            if line.strip():
                break
        header = start[-1] if start else ""
        rows = filter(None, self.format.reader(itertools.chain(start, self._uncommented(text)), header))
        separator = self.format.separator or separator_in(header, self.format.quote)
        return distinct_names(next(rows, []), self.path), separator

    def _pieces(self, text: io.TextIOWrapper, names: Sequence[str], separator: str) -> "Iterator[PlainText | _Rows]":
        """All records, some at a time: at once where the text is plain, and from where it is not by `csv.reader`."""
        carried, found, before, quote = "", "", 0, self.format.quote
        while self.comment is None:
            found = text.read(_CHARACTERS)
            carried += found
            if not found and carried and not carried.endswith("\n"):
                carried += "\n"
            end = carried.rfind("\n") + 1
            whole = plain(carried[:end], len(names), separator, quote)
            if whole is None:
                break
            before += whole.lines
            yield whole
            carried = carried[end:]
            if not found:
                return
        lines = itertools.chain(_lines(carried, text), self._uncommented(text))
        rows = filter(None, attrs.evolve(self.format, separator=separator).reader(lines))
        while some := self._some(rows):
            self._check_widths(some, len(names), before)
            before += len(some)
            yield _Rows(some)

    def _some(self, rows: Iterator[list[str]]) -> list[list[str]]:
        """Rows, which may not be counted from the first line. Then the file is read once more, to tell which it is."""
        try:
            return list(itertools.islice(rows, _AT_ONCE))
        except UnclosedQuote:
            with self._text(None) as text:
                separator = self._names(text)[1]
            with self._text(None) as text:
                deque(attrs.evolve(self.format, separator=separator).reader(self._uncommented(text)), maxlen=0)
            raise

    def _uncommented(self, text: io.TextIOWrapper) -> Iterator[str]:
        if self.comment is None:
            return text
        comment = self.comment
        return (line for line in text if not line.startswith(comment))

    def _check_widths(self, rows: Sequence[list[str]], width: int, before: int) -> None:
        """Raise ValueError for a row of another width. Then the file is read once more, to tell which line that is."""
        if not set(map(len, rows)) - {width}:
            return
        record = before + next(place for place, row in enumerate(rows) if len(row) != width)
        with self._text(None) as text:
            separator = self._names(text)[1]
        with self._text(None) as text:
            reader = attrs.evolve(self.format, separator=separator).reader(self._uncommented(text))
            row = next(itertools.islice(filter(None, reader), record + (not self.format.columns), None))
            found, line = len(row), reader.line_num
        said = "; where fields are separated by something else, say so (--separator)" if 1 in (found, width) else ""
        raise ValueError(f"{self.path}, line {line}: {found} fields, expected {width}{said}")

    def _texts(self, column: Sequence[str], *, blank: bool) -> Strings:
        """Of objects: an array of text would be as wide everywhere as its longest field. blank: whether to strip."""
        if self.format.decimal == "," or blank:
            column = list(map(self.format.text if self.format.decimal == "," else str.strip, column))
        return np.fromiter(column, dtype=object, count=len(column))

    @contextmanager
    def _text(self, opened: BinaryIO | None) -> Iterator[io.TextIOWrapper]:
        with opened or self.path.open("rb") as raw:
            packed = raw.read(2) == GZIP
            raw.seek(0)
            unpacked = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            start = unpacked.read(4)
            unpacked.seek(0)
            encoding = self.format.encoding_of(start)
            text = io.TextIOWrapper(cast("Any", unpacked), encoding=encoding, newline="")
            try:
                yield text
            except UnclosedQuote as error:
                raise ValueError(f"{self.path}, {error}") from None
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{self.path}: byte {error.object[error.start]:#04x} is no {error.encoding}; say how the file is "
                    "encoded (--encoding), as in latin-1 or cp1252"
                ) from None
            finally:
                text.detach()


@attrs.frozen
class _Rows:
    """Records as `csv.reader` gives them."""

    rows: list[list[str]]
    blank = True

    @property
    def lines(self) -> int:
        """How many there are."""
        return len(self.rows)

    def fields(self) -> list[tuple[str, ...]]:
        """By column."""
        return list(zip(*self.rows, strict=True))


def _lines(start: str, text: io.TextIOWrapper) -> Iterator[str]:
    """Those of a text, the last of which may go on in the other."""
    for line in io.StringIO(start, newline=""):
        yield line if line.endswith(("\n", "\r")) else line + next(text, "")


def read_csv(
    path: str | Path,
    *,
    names: Sequence[str] | None = None,
    comment: str | None = None,
    format: FileFormat | None = None,
) -> dict[str, Strings]:
    """A CSV file as columns of stripped text; what gzip compressed is decompressed. Blank lines are skipped.

    path: of the file.  names: column names where it has no header line.  comment: lines that start so are skipped.
    format: how the file is written; None takes commas, quotes and UTF-8, and the separator as its header line has it.
    Raises ValueError naming the line where a row has too few or too many fields.
    """
    how = format or FileFormat()
    if names is not None:
        how = attrs.evolve(how, columns=tuple(names))
    parts = list(CsvFile(Path(path), how, comment).blocks(2**20))
    return parts[0] if len(parts) == 1 else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
