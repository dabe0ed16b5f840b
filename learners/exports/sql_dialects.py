"""What the SQL of DuckDB, PostgreSQL and SQLite do not have in common."""

import math
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

import attrs

from learners.exports.portable_model import NotPortable

DialectName: TypeAlias = Literal["duckdb", "postgresql", "sqlite"]

WHITE: Final = (*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
"""What Python's `str.strip` takes off."""

TYPED: Final = " "
"""Before the text of a date that is no text: stripped text begins with no blank."""

PLAIN: Final = "[+-]?([0-9]{1,150}[.]?[0-9]{0,150}|[.][0-9]{1,150})([eE][+-]?[0-9]{1,2})?"
"""Numbers that every engine reads, exactly and without an overflow."""

WORDY: Final = "[ -/:-~]*"
"""Text of ASCII without a digit."""

GAPS: Final = "'', 'nan', 'None', '<NA>', 'NaT'"
"""Texts for a missing number."""

INFINITIES: Final = "'inf', '+inf', '-inf', 'infinity', '+infinity', '-infinity', '+nan', '-nan'"
"""What Python reads as a number without a digit, in small letters; NaN is missing in any case."""

NAME_BYTES: Final = 63
"""PostgreSQL cuts longer names."""


@attrs.frozen
class Dialect:
    """number: a literal of exactly this double.  text: a literal.

    type_of: of a value, as text, which the three after it take last.  typed: whether it is the column's, so that where
    that is known a literal stands for it, which saves time with every record.
    as_number: of a column, NULL where it is missing, infinity where it is text that is refused; with True any other
    text is missing too.  as_date: a column's text, stripped, and after TYPED where it has a type of dates; has_dates:
    whether there is one.  as_name: of a column, stripped, NULL where missing. Texts that are known need no stripping,
    which takes longest.
    matches: whether text has a layout, see `sql_dates`.  wordy: whether it is of ASCII and without a digit, so that it
    is no number and no date to anybody.  whole: of text of digits.  floor: of a double below 2^53.  over: divides whole
    numbers.
    nan: whether a double is NaN, where there are any.  strange, strange_name: whether what was read is of another type
    than a number or text, where that does not fail by itself.  larger, smaller: of two doubles.  fence: after a SELECT
    whose columns are computed once.  folds: whether names that differ in their case alone are one.  most_bytes: of a
    name; 0 for any number.
    reads_files: whether a table may be a file by its name.
    """

    name: str
    number: Callable[[float], str]
    text: Callable[[str], str]
    type_of: Callable[[str], str]
    typed: bool
    as_number: Callable[[str, bool, str], str]
    as_date: Callable[[str, str], str]
    as_name: Callable[[str, str, str], str]
    matches: Callable[[str, str], str]
    wordy: Callable[[str], str]
    whole: Callable[[str], str]
    floor: Callable[[str], str]
    infinity: str
    over: str
    has_dates: bool
    nan: Callable[[str], str] | None
    strange: Callable[[str], str] | None
    strange_name: Callable[[str], str] | None
    larger: str
    smaller: str
    fence: str
    folds: bool
    most_bytes: int = 0
    reads_files: bool = False

    def type_known(self, column: str, known: str | None) -> str:
        """SQL for its type. known: the column's, None where it is not."""
        return self.type_of(column) if known is None or not self.typed else self.text(known)

    def identifier(self, name: str) -> str:
        """A quoted name. Raises NotPortable for one that there cannot be."""
        size = len(_encoded(name, "the name"))
        if not name or (self.most_bytes and size > self.most_bytes):
            raise NotPortable(
                f"the column or table {name!r}: {self.name} has no names of {size} bytes; from 1 to {self.most_bytes} "
                "are allowed"
                if name
                else f"a column or table without a name: {self.name} has none"
            )
        return '"' + name.replace('"', '""') + '"'


def _encoded(text: str, what: str) -> bytes:
    try:
        found = text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotPortable(f"{what} {text!r} holds half a character, which has no encoding") from None
    if b"\0" in found:
        raise NotPortable(f"{what} {text!r} holds the character NUL, which SQL has no literal for")
    return found


def _quoted(text: str) -> str:
    _encoded(text, "the text")
    return "'" + text.replace("'", "''") + "'"


def _postgres_text(text: str) -> str:
    """Whatever standard_conforming_strings says."""
    return "E" + _quoted(text).replace("\\", "\\\\") if "\\" in text else _quoted(text)


def _dyadic(value: float) -> str:
    """m/2^k or m·2^k: SQLite reads decimal fractions to some 15 digits, and whole numbers exactly."""
    if value.is_integer() and abs(value) < 2.0**53:
        return f"{int(value)}.0" if value >= 0.0 else f"({int(value)}.0)"
    mantissa, power = math.frexp(value)
    whole, power = int(mantissa * 2.0**53), power - 53
    while whole % 2 == 0:
        whole, power = whole // 2, power + 1
    sign, steps = ("*" if power > 0 else "/"), []
    while power:
        step = min(abs(power), 62)
        steps.append(f"{sign}{1 << step}")
        power -= step if power > 0 else -step
    return f"(1.0*{whole}{''.join(steps)})"


def _white(character: str, between: str) -> str:
    return between.join(character.format(code) for code in WHITE)


_DUCKDB_WHITE: Final = _white("chr({})", " || ")
_POSTGRES_WHITE: Final = "E'" + _white("\\u{:04x}", "") + "'"
_SQLITE_WHITE: Final = f"char({_white('{}', ', ')})"


def _duckdb_name(column: str, known: str, kind: str) -> str:
    text = f'(CAST({column} AS VARCHAR) COLLATE "binary")'  # whatever the column's own collation
    return (
        f"CASE WHEN {kind} = 'BOOLEAN' THEN CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' END "
        f"WHEN {kind} IN ('FLOAT', 'DOUBLE') AND {text} = 'nan' THEN NULL "
        f"WHEN {text} IN ({known}) THEN {text} ELSE trim({text}, {_DUCKDB_WHITE}) END"
    )


def _postgres_name(column: str, known: str, kind: str) -> str:
    text = f"CAST({column} AS text)"
    return (
        f"CASE WHEN {kind} = 'boolean' THEN CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' END "
        f"WHEN {kind} IN ('real', 'double precision', 'numeric') AND {text} = 'NaN' THEN NULL "
        f'WHEN {text} COLLATE "C" IN ({known}) THEN {text} ELSE btrim({text}, {_POSTGRES_WHITE}) END COLLATE "C"'
    )


def _sqlite_name(column: str, known: str, kind: str) -> str:
    """Bytes, and numbers that SQLite writes otherwise than Python does, stay what they are, which is refused."""
    text = f"CAST({column} AS TEXT)"
    fraction = f"CASE WHEN {text} GLOB '*[Ie]*' OR CAST({text} AS REAL) <> {column} THEN {column} ELSE {text} END"
    whole = f"CAST(CAST({column} AS INTEGER) AS TEXT)"
    return (
        f"CASE {kind} WHEN 'blob' THEN {column} WHEN 'real' THEN CASE WHEN abs({column}) < {2**53} AND "
        f"CAST({column} AS INTEGER) = {column} THEN {whole} ELSE {fraction} END ELSE CASE WHEN "
        f"{text} COLLATE BINARY IN ({known}) THEN {text} ELSE trim({text}, {_SQLITE_WHITE}) END END"
    )


def _typed(column: str, stripped: str, kind: str, kinds: str) -> str:
    return f"CASE WHEN {kind} IN ({kinds}) THEN '{TYPED}' || CAST({column} AS VARCHAR) ELSE {stripped} END"


def _number_in_text(text: str, plain: str, wordy: str, infinity: str, others: bool) -> str:
    """What text says as Python reads it, NULL where it is missing, infinity where it is refused."""
    missing = f" WHEN {wordy} AND lower({text}) NOT IN ({INFINITIES}) THEN NULL" if others else ""
    return (
        f"CASE WHEN {text} IS NULL OR {text} IN ({GAPS}) THEN NULL "
        f"WHEN {plain} THEN CAST({text} AS FLOAT8){missing} ELSE {infinity} END"
    )


def _duckdb_number(column: str, others: bool, kind: str) -> str:
    text = f"trim(CAST({column} AS VARCHAR), {_DUCKDB_WHITE})"
    plain = f"regexp_full_match({text}, '{PLAIN}')"
    said = _number_in_text(text, plain, DIALECTS["duckdb"].wordy(text), "CAST('infinity' AS FLOAT8)", others)
    worded = f"({kind} IN ('VARCHAR', 'JSON') OR {kind} LIKE 'ENUM%')"
    return f"CASE WHEN {worded} THEN {said} ELSE TRY_CAST({column} AS DOUBLE) END"


def _postgres_number(column: str, others: bool, kind: str) -> str:
    text = f"btrim(CAST({column} AS text), {_POSTGRES_WHITE})"
    plain = f"{text} ~ '^({PLAIN})$'"
    said = _number_in_text(text, plain, DIALECTS["postgresql"].wordy(text), "float8 'Infinity'", others)
    return f"CASE WHEN {kind} IN ({_POSTGRES_TEXT}) THEN {said} ELSE CAST({column} AS double precision) END"


def _sqlite_number(column: str, others: bool, kind: str) -> str:
    """Text with a number in it stays text, which is refused: SQLite reads it to some 15 digits."""
    text = f"trim({column}, {_SQLITE_WHITE})"
    missing = f"{text} IN ({GAPS})"
    if others:
        missing += f" OR ({DIALECTS['sqlite'].wordy(text)} AND lower({text}) NOT IN ({INFINITIES}))"
    return (
        f"CASE WHEN {kind} = 'text' AND ({missing}) THEN NULL WHEN {kind} = 'integer' THEN CAST({column} AS REAL) "
        f"ELSE {column} END"
    )


def _pattern(layout: str) -> str:
    marks = {"0": "[0-9]", "~": "[T ]", ".": "[.]"}
    return "".join(marks.get(character, character) for character in layout)


_POSTGRES_TEXT: Final = "'text', 'character varying', 'character'"

_DUCKDB_DATES: Final = "'DATE', 'TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS'"

DIALECTS: Final[Mapping[str, Dialect]] = {
    "duckdb": Dialect(
        name="duckdb",
        number=lambda value: repr(value) if "e" in repr(value) else f"{value!r}e0",
        text=_quoted,
        type_of=lambda column: f"typeof({column})",
        typed=True,
        as_number=_duckdb_number,
        as_date=lambda column, kind: _typed(
            column, f"trim(CAST({column} AS VARCHAR), {_DUCKDB_WHITE})", kind, _DUCKDB_DATES
        ),
        as_name=_duckdb_name,
        matches=lambda value, layout: f"regexp_full_match({value}, '{_pattern(layout)}')",
        wordy=lambda value: f"regexp_full_match({value}, '{WORDY}')",
        whole=lambda value: f"TRY_CAST({value} AS BIGINT)",
        floor=lambda value: f"floor({value})",
        infinity="CAST('infinity' AS FLOAT8)",
        over="//",
        has_dates=True,
        nan=lambda number: f"isnan({number})",
        strange=None,
        strange_name=None,
        larger="greatest",
        smaller="least",
        fence="",
        folds=True,
        reads_files=True,
    ),
    "postgresql": Dialect(
        name="postgresql",
        number=lambda value: f"float8 '{value!r}'",
        text=_postgres_text,
        type_of=lambda column: f"CAST(pg_typeof({column}) AS text)",
        typed=True,
        as_number=_postgres_number,
        as_date=lambda column, kind: _typed(
            column,
            f"btrim(CAST({column} AS text), {_POSTGRES_WHITE})",
            kind,
            "'date', 'timestamp without time zone'",
        ),
        as_name=_postgres_name,
        matches=lambda value, layout: f"{value} ~ '^{_pattern(layout)}$'",
        wordy=lambda value: f"{value} COLLATE \"C\" ~ '^{WORDY}$'",
        whole=lambda value: f"CAST({value} AS BIGINT)",
        floor=lambda value: f"floor({value})",
        infinity="float8 'Infinity'",
        over="/",
        has_dates=True,
        nan=lambda number: f"{number} = float8 'NaN'",
        strange=None,
        strange_name=None,
        larger="greatest",
        smaller="least",
        fence="\n  OFFSET 0",
        folds=False,
        most_bytes=NAME_BYTES,
    ),
    "sqlite": Dialect(
        name="sqlite",
        number=_dyadic,
        text=_quoted,
        type_of=lambda column: f"typeof({column})",
        typed=False,
        as_number=_sqlite_number,
        as_date=lambda column, kind: (
            f"CASE WHEN {kind} IN ('text', 'null') THEN trim({column}, {_SQLITE_WHITE}) ELSE '1!' END"
        ),
        as_name=_sqlite_name,
        matches=lambda value, layout: f"{value} GLOB '{_pattern(layout)}'",
        wordy=lambda value: f"{value} NOT GLOB '*[^ -/:-~]*'",
        whole=lambda value: f"CAST({value} AS BIGINT)",
        floor=lambda value: f"CAST({value} AS BIGINT)",
        infinity="9e999",
        over="/",
        has_dates=False,
        nan=None,
        strange=lambda value: f"(typeof({value}) NOT IN ('integer', 'real', 'null'))",
        strange_name=lambda value: f"(typeof({value}) NOT IN ('text', 'null'))",
        larger="max",
        smaller="min",
        fence="\n  LIMIT -1",
        folds=True,
    ),
}
"""By name. A further one needs an entry here, and no more."""
