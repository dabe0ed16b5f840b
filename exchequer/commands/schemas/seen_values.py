"""What the values of a table say of its columns: types, and for values that are public their bounds and categories.

Types are what most values are: a few marks such as "?" do not make text of a column of numbers.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, Final

import attrs

from exchequer.commands.schemas.column_facts import MOST_CATEGORIES, ColumnFacts, Type
from exchequer.console.table_databases import Source, TableAddress
from learners.kinds import reads_as_truth
from learners.tables import DictionaryColumn, FileFormat, Values, label_texts

MOSTLY: Final = 0.9
"""Share of a column's values that must be of a type, for the column to be."""

FORMS: Final = (None, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%d.%m.%Y %H:%M:%S")
"""Ways to write a date that are tried, in this order where two serve as many values."""

MISSING: Final = frozenset({"", "nan", "none", "<na>", "nat", "na", "n/a", "?", "null", "-"})
"""Texts that say nothing about the type of a column."""

KEPT: Final = 100_000
"""Distinct values of a column that are looked at; more say nothing new about its type."""


@attrs.define
class SeenColumn:
    """The distinct values of a column so far, as text, with how often each came.  least, most: of the numbers."""

    name: str
    counts: Counter[str] = attrs.field(factory=Counter)
    least: float = math.inf
    most: float = -math.inf

    def add(self, column: "Values | DictionaryColumn") -> None:
        """Some records more."""
        texts = label_texts(column)
        if len(self.counts) < KEPT:
            self.counts.update(texts.tolist())
        numbers = [number for number in map(_number, set(texts.tolist())) if number is not None]
        self.least = min(self.least, *numbers, math.inf)
        self.most = max(self.most, *numbers, -math.inf)

    def facts(self, *, source: str, typed: str, domain: bool) -> ColumnFacts:
        """domain: whether the values themselves are public, so that bounds and categories may be taken from them."""
        counts = {text: number for text, number in self.counts.items() if text.lower() not in MISSING}
        kind, form = _type(counts)
        if kind == "boolean" and not all(map(reads_as_truth, self.counts)):
            kind = "text"  # which has a place for what is missing
        commas = kind == "text" and _decimal_commas(counts)
        facts = ColumnFacts(self.name, kind, form, typed=typed if kind else "", commas=commas)
        if not domain or not counts:
            return facts
        if kind in ("number", "integer"):
            return attrs.evolve(facts, lower=_plain(self.least), upper=_plain(self.most), source=source)
        if kind == "date":
            moments = sorted(moment for text in counts if (moment := _moment(text, form)) is not None)
            return attrs.evolve(facts, lower=_date_text(moments[0]), upper=_date_text(moments[-1]), source=source)
        if kind == "boolean":
            return attrs.evolve(facts, categories=tuple(sorted(self.counts)), source=source)
        # Marks of missing values stay: each may be a category of its own, as "?" is in a survey.
        categories = sorted(text for text in self.counts if text)
        if len(categories) > MOST_CATEGORIES:
            return attrs.evolve(facts, type="ignored", source=source, said=f"{len(categories)} distinct values")
        return attrs.evolve(facts, categories=tuple(categories), source=source)


def seen(blocks: "Iterable[Mapping[str, Values | DictionaryColumn]]", first_only: bool = False) -> list[SeenColumn]:
    """Of all columns of a table in blocks. first_only: of the first block."""
    found = dict[str, SeenColumn]()
    for block in blocks:
        for name in block:
            found.setdefault(name, SeenColumn(name)).add(block[name])
        if first_only:
            break
    return list(found.values())


def _type(counts: Mapping[str, int]) -> tuple[Type | None, str | None]:
    """What most values are, and how dates are written."""
    if not counts:
        return None, None
    enough = MOSTLY * sum(counts.values())
    if all(map(reads_as_truth, counts)):
        return "boolean", None
    form = max(FORMS, key=lambda form: _served(counts, form))
    dates = _served(counts, form) >= enough
    numbers = {text: number for text in counts if (number := _number(text)) is not None}
    if sum(counts[text] for text in numbers) >= enough:
        whole = all(number.is_integer() for number in numbers.values())
        if dates and form is not None and whole and all(len(text) == 8 for text in numbers):  # as 20241231 is
            return "date", form
        return ("integer" if whole else "number"), None
    return ("date", form) if dates else ("text", None)


def _decimal_commas(counts: Mapping[str, int]) -> bool:
    """Whether most values are numbers once a comma is a decimal point, of a column that was text without."""
    return sum(number for text, number in counts.items() if reads_as_number(text)) >= MOSTLY * sum(counts.values()) > 0


def _served(counts: Mapping[str, int], form: str | None) -> int:
    return sum(number for text, number in counts.items() if _moment(text, form) is not None)


def _moment(text: str, form: str | None) -> datetime.datetime | None:
    if len(text) < 8:  # ISO 8601 has shorter ones, which are numbers to everybody else
        return None
    try:
        found = datetime.datetime.fromisoformat(text) if form is None else datetime.datetime.strptime(text, form)
    except ValueError:
        return None
    return None if form is None and text.isdigit() else found.replace(tzinfo=None)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def reads_as_number(text: str) -> bool:
    """With a decimal point or a decimal comma."""
    return _number(text) is not None or _number(FileFormat(decimal=",").text(text)) is not None


def _plain(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _date_text(moment: datetime.datetime) -> str:
    return moment.date().isoformat() if moment.time() == datetime.time() else moment.isoformat(sep=" ")


KINDS: Final[Mapping[str, Type]] = {
    "number": "number",
    "decimal": "number",
    "whole": "integer",
    "truth": "boolean",
    "text": "text",
    "moment": "date",
    "zoned": "date",
}
"""Types of columns in databases."""


def declared_types(path: Source) -> dict[str, Type | None]:
    """What a Parquet file or a database declares of each column, None where that is no type of ours; no record is read.

    Raises ValueError, OSError, ImportError.
    """
    if isinstance(path, TableAddress):
        return {each.name: KINDS.get(each.kind) for each in path.opened().columns}
    from learners import ParquetTable

    names = ParquetTable(path).names  # first, as it says what is missing or wrong
    import pyarrow.parquet

    fields = pyarrow.parquet.read_schema(path)
    return {name: _declared(pyarrow.types, fields.field(name).type) for name in names}


def _declared(types: ModuleType, kind: Any) -> Type | None:  # pyarrow.DataType
    if types.is_dictionary(kind):
        return _declared(types, kind.value_type)
    asked: Mapping[Type, tuple[str, ...]] = {
        "boolean": ("is_boolean",),
        "integer": ("is_integer",),
        "number": ("is_floating", "is_decimal"),
        "date": ("is_date", "is_timestamp"),
        "text": ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary"),
    }
    return next((found for found, tests in asked.items() if any(getattr(types, test)(kind) for test in tests)), None)
