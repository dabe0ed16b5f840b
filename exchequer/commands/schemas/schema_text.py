"""The text of a drafted schema: TOML with comments, and a TODO wherever somebody must think of a public bound."""

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from exchequer.commands.schemas.column_facts import MOST_CELLS, ColumnFacts
from learners.kinds import reads_as_truth
from learners.tables import TODO, FileFormat

LEGEND: Final = """\
# A schema holds what is public, and nothing that was learnt from the protected records: bounds and categories come from
# the questionnaire, the units, the law, the machine. Numbers beyond their bounds count as the nearest one (outside =
# "clip"); "error" refuses them. Missing values have a cell of their own (missing = "own"), wherever they can be.
# What is no number or no date counts as missing (other = "missing"); values that no list names have a category of their
# own (other = "own"). Kinds: numeric, integer, date, boolean, categorical, ordered (categories in order), and ignored:
# kind = "ignored" leaves a column out, such as free text or a number for each record; its other lines may stay.
"""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""What TOML forbids in a comment, and nobody sees."""


@attrs.frozen
class Draft:
    """file: what is drafted for.  columns: in the file's order, the label among them.  label: its name, "" for none.

    numbers: whether the label is a number, as in a regression.  format: how the file is written.
    taken: what the draft takes from the data, a line each; [] where that is nothing.  paid: what of it was paid for.
    commas: columns of numbers with a decimal comma, which the format does not read so.
    """

    file: str
    columns: Sequence[ColumnFacts]
    label: str
    numbers: bool
    format: FileFormat
    taken: Sequence[str]
    paid: str = ""
    commas: Sequence[str] = ()

    def text(self) -> str:
        """Of the schema file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"# Schema of {_comment(self.file)}, drafted by `exchequer schema draft`."
        for line in self.taken:
            yield from _wrapped(f"UNPAID RELEASE from the data: {line}")
        if self.paid:
            yield from _wrapped(f"PAID RELEASE from the data: {self.paid}")
        yield LEGEND.rstrip()
        if self.format != FileFormat():
            yield from ("", "[file]", *(f"{name} = {_toml(value)}" for name, value in self.format.as_dict().items()))
        if self.format.decimal == ",":
            yield "# The file's numbers have a decimal comma; the bounds below are TOML's, with a point, as in 12.5."
        for column in self.columns:
            yield ""
            yield from self._label(column) if column.name == self.label else _column(column)

    def _label(self, column: ColumnFacts) -> Iterator[str]:
        yield from _about(column)
        yield "[label]"
        yield f"name = {_toml(column.name)}"
        if self.numbers:
            yield from _bounds(column, "label")
        elif len(column.categories) > 1:
            yield f"classes = {_toml(column.categories)}  # of two, the second is the positive one"
        else:
            asked = f"all classes that {column.name} can have, as a list; of two the positive one last"
            if column.categories:
                asked += f"; one is {column.categories[0]}"
            yield f'classes = ["{TODO}: {_asked(asked)}"]'


def _column(column: ColumnFacts) -> Iterator[str]:
    yield from _about(column)
    yield "[[columns]]"
    yield f"name = {_toml(column.name)}"
    match column.type:
        case "number" | "integer":
            yield f'kind = "{"numeric" if column.type == "number" else "integer"}"'
            yield from _bounds(column, "value")
            yield f"bins = {_bins(column)}"
            yield from ('outside = "clip"', 'missing = "own"', 'other = "missing"')
        case "date":
            yield 'kind = "date"'
            yield from _bounds(column, "date")
            if column.form is not None:
                yield f"form = {_toml(column.form)}"
            yield from ('outside = "clip"', 'missing = "own"', 'other = "missing"')
        case "boolean" if all(map(reads_as_truth, column.categories)):
            yield 'kind = "boolean"'
        case "ignored":
            yield 'kind = "ignored"'
        case None:
            yield f'kind = "{TODO}: {_asked(f"what {column.name} is: numeric, integer, date, boolean, categorical")}"'
        case _:
            yield f'kind = "{"ordered" if column.type == "ordered" else "categorical"}"'
            yield from _categories(column)


def _categories(column: ColumnFacts) -> Iterator[str]:
    if column.categories:
        yield f"categories = {_toml(column.categories)}"
    else:
        order = ", from the least to the greatest" if column.type == "ordered" else ""
        asked = f"all values that {column.name} can have, as a list{order}; or say kind = 'ignored', if it is free text"
        yield f'categories = ["{TODO}: {_asked(asked)}"]'
    ordered = column.type == "ordered"
    yield from ('missing = "own"', f'other = "{"missing" if ordered else "own"}"')


def _bounds(column: ColumnFacts, what: str) -> Iterator[str]:
    """Lower and upper, or the questions."""
    ends = {"lower": "the least", "upper": "the greatest"}
    unit = f"in {column.unit}" if column.unit else "in which unit?"
    if what == "date":
        ends, unit = {"lower": "the earliest", "upper": "the latest"}, "as a date such as 2024-12-31"
    for key, value in (("lower", column.lower), ("upper", column.upper)):
        asked = f"{ends[key]} {column.name} that is possible, by public knowledge; {unit}"
        yield f"{key} = {_toml(value)}" if value is not None else f'{key} = "{TODO}: {_asked(asked)}"'


def _bins(column: ColumnFacts) -> int:
    if column.type == "integer" and isinstance(column.lower, int) and isinstance(column.upper, int):
        values = column.upper - column.lower + 1
        return max(2, values) if values <= MOST_CELLS else 10
    return 10


def _about(column: ColumnFacts) -> Iterator[str]:
    said = ". ".join(part for part in (column.said.rstrip("."), f"Unit: {column.unit}" if column.unit else "") if part)
    if said:
        yield f"# {_comment(said)}."
    what = "categories" if column.categories else "bounds"
    if column.source and column.source == column.typed:
        yield f"# type and {what}: {_comment(column.source)}"
        return
    where = [("type", column.typed), (what, column.source)]
    if any(source for _, source in where):
        yield f"# {_comment('; '.join(f'{part}: {source}' for part, source in where if source))}"


def _wrapped(text: str) -> list[str]:
    """A comment of as many lines as it takes."""
    return textwrap.wrap(_comment(text), 120, initial_indent="# ", subsequent_indent="#   ")


def _comment(text: str) -> str:
    """On one line, with a sign in the place of what is none."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


def _asked(text: str) -> str:
    """Inside a TOML string, in which nothing may end it."""
    return _comment(text).replace("\\", "/").replace('"', "'")


def _toml(value: object) -> str:
    """As JSON, which TOML reads alike for texts, numbers, and lists of them, but for controls that JSON leaves."""
    said = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", said)
