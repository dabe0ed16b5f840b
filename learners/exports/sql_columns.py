"""The columns of a table in SQL: what is read of each, its place, and when a record is refused."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

import attrs
import numpy as np

from learners.exports.columns import GAPS
from learners.exports.portable_model import Input, Moments, Names, Numbers, Truths
from learners.exports.sql_dates import digits_of, seconds_of_digits
from learners.exports.sql_dialects import Dialect
from learners.kinds import WORDS

LARGEST_FRACTION: Final = 2.0**53
"""Doubles from there on are whole."""


def _truths() -> dict[str, int]:
    """Whatever text is taken for a truth value, in capitals or not."""
    found = {text: int(float(text)) for text in ("0", "0.0", "-0", "-0.0", "1", "1.0")}
    for word, number in WORDS.items():
        cases = itertools.product(*({letter, letter.upper()} for letter in word))
        found |= {"".join(letters): int(number) for letters in cases}
    return dict(sorted(found.items()))


TRUTHS: Final[Mapping[str, int]] = _truths()


@attrs.frozen
class ReadColumn:
    """A column of the model. number: its place among them.  own: makes names that no column of the user's has."""

    number: int
    input: Input
    dialect: Dialect
    own: Callable[[object], str]

    @property
    def value(self) -> str:
        """Its name once it is read."""
        return self.own(f"value_{self.number}")

    @property
    def place(self) -> str:
        """The name of its place."""
        return self.own(f"place_{self.number}")

    def read(self, column: str, known: str | None = None) -> Iterator[str]:
        """SQL for what is made of it, stage by stage. column: how the table calls it.  known: its type, where that is
        known.  Raises NotPortable."""
        dialect, reading = self.dialect, self.input.reading
        kind = dialect.type_known(column, known)
        match reading:
            case Numbers():
                yield dialect.as_number(column, reading.others, kind)
            case Moments():
                yield dialect.as_date(column, kind)
                yield digits_of(dialect, reading, self.input.name, self.value)
                yield seconds_of_digits(dialect, reading, self.value)
            case Names() | Truths():
                yield dialect.as_name(column, ", ".join(map(dialect.text, self._names(reading).codes)), kind)

    def placed(self) -> tuple[str, str]:
        """SQL for its place, and for when it is refused; "" for never."""
        match self.input.reading:
            case Numbers() as numbers:
                return self._number(numbers)
            case Moments(seconds):
                return self._number(seconds)
            case Names() | Truths() as named:
                return self._category(self._names(named))

    def _names(self, reading: Names | Truths) -> Names:
        if isinstance(reading, Names):
            return reading
        gaps = {} if reading.missing is None else dict.fromkeys(GAPS, reading.missing)
        return Names(gaps | dict(TRUTHS), 2, reading.missing, None)

    def _number(self, reading: Numbers) -> tuple[str, str]:
        value, literal, nan = self.value, self.dialect.number, self.dialect.nan
        gap = f"({value} IS NULL OR {nan(value)})" if nan else f"{value} IS NULL"
        if reading.clip:
            bad = f"abs({value}) > {literal(float(np.finfo(np.float64).max))}"
        else:
            bad = f"{value} < {literal(reading.lower)} OR {value} > {literal(reading.upper)}"
        if reading.whole:
            bad += f" OR (abs({value}) < {literal(LARGEST_FRACTION)} AND {value} <> {self.dialect.floor(value)})"
        if self.dialect.strange:
            bad += f" OR {self.dialect.strange(value)}"
        if reading.missing is None and not reading.own:
            return value, f"({gap} OR {bad})"
        fill = "NULL" if reading.own else literal(cast("float", reading.missing))
        return f"CASE WHEN {gap} THEN {fill} ELSE {value} END", f"(NOT {gap} AND ({bad}))"

    def _category(self, reading: Names) -> tuple[str, str]:
        value, text = self.value, self.dialect.text
        cases = " ".join(f"WHEN {text(name)} THEN {code}" for name, code in reading.codes.items())
        other = "NULL" if reading.other is None else str(reading.other)
        place = f"CASE {value} {cases} ELSE {other} END"
        if reading.missing != reading.other:
            missing = "NULL" if reading.missing is None else str(reading.missing)
            place = f"CASE WHEN {value} IS NULL THEN {missing} ELSE {place} END"
        refused = []
        if reading.other is None:
            known = ", ".join(map(text, reading.codes))
            refused.append(f"({value} IS NOT NULL AND {value} NOT IN ({known}))")
        if reading.missing is None:
            refused.append(f"{value} IS NULL")
        if self.dialect.strange_name:
            refused.append(self.dialect.strange_name(value))
        return place, f"({' OR '.join(refused)})" if refused else ""
