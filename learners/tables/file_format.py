"""How a table is written down as text: what separates fields, what quotes them, how letters and numbers are written.

All of it is public, and none of it is guessed from records: one record would decide how the others are read. What is
looked at where nobody says it is the mark that some files begin with, and the line with the column names.
"""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

import attrs

from accountant.explained import Explained

SEPARATORS: Final = (",", ";", "\t", "|")
"""Looked for in a header line: a comma first, and of the others the most frequent."""

_NAMES: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_COMMA_NUMBER: Final = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]+,")


def _separator(text: str | None) -> str | None:
    if text is None:
        return None
    found = _NAMES.get(text.lower(), text)
    if len(found) != 1 or found in "\r\n":
        raise ValueError(f"separator: expected one character, or tab or space, got {text!r}")
    return found


def _quote(text: str) -> str:
    if len(text) > 1 or text in ("\r", "\n"):
        raise ValueError(f"quote: expected one character, or nothing where none quotes, got {text!r}")
    return text


def _encoding(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(f"encoding: {name!r} is unknown; try utf-8, latin-1, cp1252 or utf-16") from None
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=name)
    except LookupError:  # such as rot13, which makes text of text
        raise ValueError(f"encoding: {name!r} is none of files of text; try utf-8, latin-1, cp1252 or utf-16") from None
    return name


def _decimal(mark: str) -> str:
    if mark not in (".", ","):
        raise ValueError(f"decimal: expected '.' or ',', got {mark!r}")
    return mark


class Rows(Protocol):
    """What `csv.reader` gives."""

    @property
    def line_num(self) -> int:
        """Lines read so far."""

    def __iter__(self) -> Iterator[list[str]]:
        """The rows."""

    def __next__(self) -> list[str]:
        """The next one."""


class UnclosedQuote(Explained, ValueError):
    """Where the text ends within a quoted field. Names the line where that began."""


class _ClosedRows:
    """Rows of `csv.reader`, which takes all that follows a quote that is never closed for one field, silently.

    Its `strict` would also refuse what is after a closing quote, as in "a"b. A row that comes when there are no more
    lines is one that they left open.
    """

    def __init__(self, lines: Iterable[str], separator: str, quote: str) -> None:
        self._over = False
        followed = itertools.chain(lines, self._end())
        self._rows = csv.reader(followed, delimiter=separator, quotechar=quote, skipinitialspace=True)

    @property
    def line_num(self) -> int:
        return self._rows.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        try:
            row = next(self._rows)
        except csv.Error as error:
            if "field larger" not in str(error):
                raise
            raise UnclosedQuote(
                f"line {self._rows.line_num}: a field of more than {csv.field_size_limit():,} characters, as where a "
                'quote is not closed; where nothing is quoted, say so (--quote "")'
            ) from None
        if self._over:
            lines = sum(1 for _ in io.StringIO(row[-1], newline=""))
            first = self._rows.line_num - max(lines, 1) + 1
            raise UnclosedQuote(
                f"line {first}: a quoted field begins, and its quote is not closed until the end of the file; where "
                'nothing is quoted, say so (--quote "")'
            )
        return row

    def _end(self) -> Iterator[str]:
        """No more lines; apart from them, as a generator that goes on with a file closes it when it is thrown away."""
        self._over = True
        yield from ()


@attrs.frozen
class FileFormat:
    """How a CSV file is to be read. Raises ValueError for what no file can be.

    separator: one character, or "tab" or "space"; None takes a comma where the header line has one outside of quotes,
      else the most frequent of `; tab |` there, and a comma where there is none or no header line.
    quote: the character around fields that hold a separator; "" for none.
    encoding: as Python calls it; None takes what the file's byte order mark says, and UTF-8 where it has none.
    decimal: "," reads every field that is a number with a comma, such as 3,5, as one with a point.
    columns: the names of the columns of a file without a header line, in order; () where there is such a line.
    """

    separator: str | None = attrs.field(default=None, converter=_separator)
    quote: str = attrs.field(default='"', converter=_quote)
    encoding: str | None = attrs.field(default=None, converter=_encoding)
    decimal: str = attrs.field(default=".", converter=_decimal)
    columns: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])

    def encoding_of(self, start: bytes) -> str:
        """The encoding of a file that begins with these bytes."""
        marked = next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")
        if self.encoding is None:
            return marked
        return "utf-8-sig" if codecs.lookup(self.encoding).name == "utf-8" else self.encoding

    def reader(self, lines: Iterable[str], header: str = "") -> Rows:
        """Of rows of texts. header: the first line, where it has the column names.

        The rows raise UnclosedQuote.
        """
        separator = self.separator or (separator_in(header, self.quote) if header else ",")
        if not self.quote:
            return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE, skipinitialspace=True)
        return _ClosedRows(lines, separator, self.quote)

    def text(self, field: str) -> str:
        """What a field says: stripped, a number with a point."""
        said = field.strip()
        if self.decimal == "," and "," in said and _COMMA_NUMBER.fullmatch(said):
            return said.replace(",", ".")
        return said

    def as_dict(self) -> dict[str, object]:
        """What differs from the default: for TOML-like files and saved models."""
        kept = attrs.asdict(self, filter=lambda field, value: value != field.default)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def separator_in(header: str, quote: str = '"') -> str:
    """What separates a line of column names: a comma where one is outside of quotes, else the most frequent other.

    Names of a table with commas may hold other marks, as in a|b; in other tables, those with a comma are quoted.
    """
    outside = "".join(header.split(quote)[::2]) if quote else header
    comma, *others = SEPARATORS
    return comma if comma in outside else max(others, key=outside.count) if any(map(outside.count, others)) else comma


def distinct_names(names: Sequence[str], path: object) -> list[str]:
    """Column names, stripped. Raises ValueError for one that stands twice; they may be a record, and are not quoted."""
    found = [name.strip() for name in names]
    if len(set(found)) != len(found):
        raise ValueError(
            f"{path}: a column name stands twice; where the first line is a record, say that there are no names: "
            "--no-header (in Python: names=)"
        )
    return found
