"""Columns of dates and times, as seconds since 1970: numbers, for every learner."""

import datetime
import math
from collections.abc import Sequence
from typing import Final, Literal, cast

import attrs
import numpy as np
import numpy.typing as npt

from learners.kinds.category_names import LARGEST_WHOLE, MISSING_TEXTS, elements
from learners.kinds.column_checks import SchemaError, bins_of, finite, named
from learners.kinds.distinct_values import distinct
from learners.kinds.numeric_column import OWN, Missing, Numeric
from learners.kinds.single_values import OutsideSchema, RowOf, Values, is_missing, same_row

ORIGIN: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

DAY: Final = 86400.0
"""Seconds."""

FAR: Final = 2.0**42
"""Seconds from 1970, some 139,000 years, beyond which microseconds soon do not fit into 64 bits, and wrap around."""

_YEAR: Final = 365.2425 * DAY

_CALENDAR: Final = {"Y": _YEAR, "M": _YEAR / 12, "W": 7 * DAY, "D": DAY}

_CLOCK: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}

_SECONDS: Final = _CALENDAR | _CLOCK | {"as": 1e-18}
"""Of numpy's units; of years and months on average."""


def _bound(value: object) -> float:
    """Seconds of a date or a time, or of text that says one. Raises SchemaError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return finite(value)
    try:
        return seconds_of(value)
    except (TypeError, ValueError):
        raise SchemaError(f"expected a date such as 2024-12-31, or a date and time, got {value!r}") from None


def _cuts(values: Sequence[object]) -> tuple[float, ...]:
    return tuple(map(_bound, values))


def _missing(value: object) -> Missing:
    return cast("Missing", value) if value is None or value == OWN else _bound(value)


def seconds_of(value: object, form: str | None = None) -> float:
    """Since 1970, in UTC; what names no zone is taken as UTC. form: of text, see `Date`. Raises ValueError, TypeError.

    Parts of a second are kept, to the microsecond.
    """
    if isinstance(value, np.datetime64):
        return float(_seconds_since(np.array([value]))[0])
    if form is not None and isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE:
        value = int(value)  # whole numbers become floats where a library has one missing
    if isinstance(value, int) and not isinstance(value, bool) and form is not None:
        value = str(value)  # as 20241231 is, where a library read it as a number
    if isinstance(value, str):
        text = value.strip()
        value = datetime.datetime.fromisoformat(text) if form is None else datetime.datetime.strptime(text, form)
    if not isinstance(value, datetime.date):
        raise TypeError(f"{value!r} is no date")
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    moment = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
    since = moment - ORIGIN
    return since.days * DAY + since.seconds + since.microseconds / 1e6


def _seconds_since(values: Values) -> npt.NDArray[np.float64]:
    """Of numpy's time stamps of any unit, shape (n,); what stands for NaT is far before all others."""
    unit, step = np.datetime_data(cast("np.dtype[np.datetime64]", values.dtype))
    counts = values.astype(np.int64)
    about = counts.astype(np.float64) * (step * _SECONDS.get(unit, 1.0))
    far = np.abs(about) > FAR
    near = np.where(far, 0, counts).view(np.dtype(values.dtype.newbyteorder("=")))
    return np.where(far, about, near.astype("M8[us]").astype(np.int64) / 1e6)


def date_text(seconds: float) -> str:
    """What `seconds_of` makes that number of, to the second: a date where it is midnight, else a date and time."""
    try:
        moment = ORIGIN.replace(tzinfo=None) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds:.6g} s"
    return moment.date().isoformat() if seconds % DAY == 0.0 else moment.isoformat(sep=" ", timespec="seconds")


@attrs.frozen
class Date(Numeric):
    """A column of dates, or of dates with times, within public bounds; learners get seconds since 1970 in UTC.

    lower, upper, cuts: dates such as "2024-12-31" or "2024-12-31 18:00", or Python's.  bins, encoding, outside: see
    `Numeric`.
    missing: "own", or the date that missing values count as; None refuses them.
    other: "missing" takes what is no date for missing; None refuses it.
    form: how text is written, in the letters of `strptime`, such as "%d.%m.%Y"; None takes ISO 8601.
    """

    name: str = attrs.field(converter=named)
    lower: float = attrs.field(converter=_bound)
    upper: float = attrs.field(converter=_bound)
    bins: int = attrs.field(default=10, converter=bins_of)
    cuts: tuple[float, ...] = attrs.field(default=(), converter=_cuts)
    encoding: Literal["one-hot", "thresholds"] = "one-hot"
    outside: Literal["error", "clip"] = "error"
    missing: Missing = attrs.field(default=None, converter=_missing)
    other: Literal["missing"] | None = None
    form: str | None = None

    def said(self, number: float) -> str:
        """The date, or the date and time; where the bounds are whole days, the first day that is as late."""
        days = self.lower % DAY == self.upper % DAY == 0.0
        return date_text(math.ceil(number / DAY) * DAY if days else number)

    def numbers(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """Seconds since 1970, shape (n,), NaN where one is missing. Raises OutsideSchema for what is no date."""
        if values.dtype.kind == "M":
            missing = np.isnat(values)
            return np.where(missing, np.nan, _seconds_since(values))
        found = distinct(values)
        seconds = np.fromiter(map(self._seconds, elements(found.values)), dtype=np.float64, count=found.values.size)
        numbers = seconds[found.spread(np.arange(seconds.size))]
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            place = int(wrong[0])
            value = values[place : place + 1].tolist()[0]
            how = f"as {self.form!r} has it" if self.form else "as in 2024-12-31; other ways to write one need `form`"
            raise OutsideSchema(
                f"column {self.name!r}, row {row_of(place)}: {value!r} is no date, {how}; other = 'missing' takes it "
                "for a missing one"
            )
        return numbers

    def _seconds(self, value: object) -> float:
        """NaN for a missing one; infinity for what is none."""
        if is_missing(value) or (isinstance(value, str) and value.strip() in MISSING_TEXTS):
            return np.nan
        try:
            return seconds_of(value, self.form)
        except (TypeError, ValueError, OverflowError):
            return np.inf if self.other is None else np.nan
