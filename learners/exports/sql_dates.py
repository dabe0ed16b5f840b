"""Dates as text in SQL: which layouts are read, and how seconds are counted, in arithmetic that all engines have.

An engine's own casts take other texts for dates than Python does, and raise where one is none. So text is compared with
layouts that Python reads in the same way, brought into digits at fixed places, and counted from there.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from learners.exports.columns import GAPS
from learners.exports.portable_model import Moments, NotPortable
from learners.exports.sql_dialects import TYPED, Dialect

UNREAD: Final = "?"
"""In the place of digits: a text that is refused."""

PARTS: Final = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6}
"""How many digits a part has, in the order in which they are brought."""

USUAL: Final = {"Y": "1900", "m": "01", "d": "01", "H": "00", "M": "00", "S": "00", "f": "000000"}
"""Of a part that is not named, as Python has it."""

LITERALS: Final = frozenset("-./:, ")
"""Characters between the parts."""

EPOCH: Final = 719468
"""Days from the first of March of the year 0 to that of 1970, the first two months of which it lacks."""


@attrs.frozen
class Layout:
    """pattern: of a text, where 0 is a digit and ~ a T or a blank.  places: of each part, from 1, with its length."""

    pattern: str
    places: Mapping[str, tuple[int, int]]

    def digits(self, value: str) -> str:
        """SQL for the digits of all parts, in order."""
        found = []
        for part, size in PARTS.items():
            if part not in self.places:
                found.append(f"'{USUAL[part]}'")
                continue
            place, length = self.places[part]
            zeros, digits = "0" * (size - length), f"substr({value}, {place}, {min(length, size)})"
            pads = [f"'{zeros}'"] if zeros else []
            found += [digits, *pads] if part == "f" else [*pads, digits]
        return " || ".join(found)


def digits_of(dialect: Dialect, moments: Moments, name: str, value: str) -> str:
    """SQL for a date's digits: NULL where it is missing, UNREAD where it is refused. value: of `dialect.as_date`.

    Raises NotPortable for a form that has no layout, naming the column.
    """
    layouts = [*_iso()] if moments.form is None else [*_of_form(moments.form, name)]
    gaps = ", ".join(map(dialect.text, GAPS))
    cases = [f"WHEN {value} IS NULL OR {value} IN ({gaps}) THEN NULL"]
    cases += [f"WHEN {dialect.matches(value, each.pattern)} THEN {each.digits(value)} || 'S'" for each in layouts]
    if dialect.has_dates:
        typed = (_moved(each, TYPED) for each in _iso())
        cases += [f"WHEN {dialect.matches(value, each.pattern)} THEN {each.digits(value)} || 'T'" for each in typed]
    if moments.seconds.others:
        cases.append(f"WHEN {dialect.wordy(value)} THEN NULL")
    return f"CASE {' '.join(cases)} ELSE '{UNREAD}' END"


def seconds_of_digits(dialect: Dialect, moments: Moments, digits: str) -> str:
    """SQL for seconds since 1970 of what `digits_of` gives: NULL where missing, infinity where refused."""
    year, month, day, hour, minute, second, part = (dialect.whole(each) for each in _cut(digits))
    over = dialect.over
    shifted = f"(CASE WHEN {month} > 2 THEN {year} ELSE {year} - 1 END)"
    from_march = f"(CASE WHEN {month} > 2 THEN {month} - 3 ELSE {month} + 9 END)"
    leaps = f"{shifted} {over} 4 - {shifted} {over} 100 + {shifted} {over} 400"
    days = f"(365 * {shifted} + {leaps} + (153 * {from_march} + 2) {over} 5 + {day} - 1 - {EPOCH})"
    whole = f"({days} * 86400 + {hour} * 3600 + {minute} * 60 + {second})"
    leap = f"{year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0)"
    last = f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
    there = f"{year} > 0 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND ({last})"
    there += f" AND {hour} < 24 AND {minute} < 60 AND {second} < 60"
    million = dialect.number(1e6)
    # A time stamp is a whole number of microseconds, text is read by its parts: last bits may differ, as in Python.
    stamped = f"CAST({whole} * 1000000 + {part} AS FLOAT8) / {million}"
    read = f"CAST({whole} AS FLOAT8) + CAST({part} AS FLOAT8) / {million}"
    return (
        f"CASE WHEN {digits} IS NULL THEN NULL WHEN {digits} = '{UNREAD}' THEN {dialect.infinity} "
        f"WHEN NOT ({there}) THEN {'NULL' if moments.seconds.others else dialect.infinity} "
        f"WHEN {digits} LIKE '%T' THEN {stamped} ELSE {read} END"
    )


def _cut(digits: str) -> Iterator[str]:
    start = 1
    for size in PARTS.values():
        yield f"substr({digits}, {start}, {size})"
        start += size


def _iso() -> Iterator[Layout]:
    """ISO 8601, as engines write it and people do: a date; with a time, to the minute, the second, or parts of it."""
    day = {"Y": (1, 4), "m": (6, 2), "d": (9, 2)}
    yield Layout("0000-00-00", day)
    minute = day | {"H": (12, 2), "M": (15, 2)}
    yield Layout("0000-00-00~00:00", minute)
    second = minute | {"S": (18, 2)}
    yield Layout("0000-00-00~00:00:00", second)
    for digits in range(1, 10):
        yield Layout("0000-00-00~00:00:00." + "0" * digits, second | {"f": (21, min(digits, 6))})


def _moved(layout: Layout, before: str) -> Layout:
    """Behind a text."""
    places = {part: (place + len(before), length) for part, (place, length) in layout.places.items()}
    return Layout(before + layout.pattern, places)


def _of_form(form: str, name: str) -> Iterator[Layout]:
    """Days and months may have one digit where something stands between them, as for `strptime`."""
    tokens = re.findall(r"%.|[^%]|%$", form.strip(), re.DOTALL)
    parts = [token[1:] for token in tokens if token.startswith("%")]
    strange = [each for each in tokens if each[1:] not in (set(PARTS) - {"f"} if each[0] == "%" else {""})]
    strange += [each for each in tokens if len(each) == 1 and each not in LITERALS]
    if strange or "Y" not in parts or len(set(parts)) != len(parts):
        raise NotPortable(
            f"column {name!r}: its dates are written as {form!r}; SQL reads forms of %Y and of %m, %d, %H, %M and %S, "
            "each once, with - . / : , or a blank between them; --python reads any"
        )
    short = [place for place, token in enumerate(tokens) if token in ("%d", "%m") and _alone(tokens, place)]
    for lengths in itertools.product((2, 1), repeat=len(short)):
        pattern, places, sizes = "", dict[str, tuple[int, int]](), dict(zip(short, lengths, strict=True))
        for place, token in enumerate(tokens):
            if len(token) == 1:
                pattern += token
                continue
            length = sizes.get(place, PARTS[token[1:]])
            places[token[1:]] = (len(pattern) + 1, length)
            pattern += "0" * length
        yield Layout(pattern, places)


def _alone(tokens: list[str], place: int) -> bool:
    beside = [tokens[each] for each in (place - 1, place + 1) if 0 <= each < len(tokens)]
    return not any(each.startswith("%") for each in beside)
