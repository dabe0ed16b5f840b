"""Times and spans of time as people type them: 2026, 2026-03, 2026-03-01, 2026-03-01T09:30, 30d."""

import datetime
import re
import time
from typing import Final

import click

HOUR: Final = 3_600_000_000_000
"""In nanoseconds."""

DAY: Final = 24 * HOUR

QUARTER: Final = 90 * DAY
"""What a forecast depends on unless told."""

UNITS: Final = {"h": HOUR, "d": DAY, "w": 7 * DAY}

FORMS: Final = "2026-03-01, 2026-03-01T09:30, 2026-03 or 2026, in UTC, or how long ago, as 12h, 30d or 8w"

SINCE = click.option("--from", "since", metavar="TIME", help=f"From this time on: {FORMS}.")
UNTIL = click.option(
    "--to", "until", metavar="TIME", help="Up to this time, which is not included; 2026-03 is where March begins."
)

PACE: Final = click.option(
    "--pace",
    metavar="SPAN",
    default=f"{QUARTER // DAY}d",
    show_default=True,
    help="How much of the past a forecast depends on: 12h, 30d or 8w.",
)

_SPAN: Final = re.compile(r"([0-9]{1,6})([hdw])")
_PERIOD: Final = re.compile(r"[0-9]{4}(-[0-9]{2})?")
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def nanoseconds(option: str, text: str | None, now: int | None = None) -> int | None:
    """A time in UTC, in nanoseconds since 1970; None where none is given. A year or a month is where it begins.

    now: what a span such as 30d is counted back from; the clock's time unless given. Raises ValueError.
    """
    if text is None:
        return None
    if _SPAN.fullmatch(given := text.strip()):
        return max((time.time_ns() if now is None else now) - span(option, given), 0)
    if _PERIOD.fullmatch(given):
        given += "-01" if "-" in given else "-01-01"
    try:
        when = datetime.datetime.fromisoformat(given)
    except ValueError:
        raise ValueError(f"{option}: expected a time as {FORMS}, got {text!r:.60}") from None
    aware = when if when.tzinfo is not None else when.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) // datetime.timedelta(microseconds=1) * 1000


def window(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """What `--from` and `--to` stand for. Raises ValueError where nothing lies between them."""
    now = time.time_ns()
    first, end = nanoseconds("--from", since, now), nanoseconds("--to", until, now)
    if first is not None and end is not None and first >= end:
        raise ValueError(
            f"--from {since} is not before --to {until}: a year, a month or a day stands for where it begins, and the "
            "time of --to is not included"
        )
    return first, end


def span(option: str, text: str) -> int:
    """How long 12h, 30d or 8w is, in nanoseconds; above 0. Raises ValueError."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"{option}: expected hours, days or weeks above 0, as 12h, 30d or 8w, got {text!r:.60}")
    return int(found[1]) * UNITS[found[2]]


def span_text(length: int) -> str:
    """A span for people, rounded down: whole days, or hours below two days. length: in nanoseconds."""
    if length >= 36_525 * DAY:
        return "more than 100 years"
    if length >= 2 * DAY:
        return f"{length // DAY} days"
    hours = length // HOUR
    return f"{hours} hour{'' if hours == 1 else 's'}" if hours else "less than an hour"


def day_text(moment: int) -> str:
    """The day in UTC; "" where no calendar goes so far. moment: in nanoseconds since 1970."""
    try:
        return (_EPOCH + datetime.timedelta(microseconds=moment // 1000)).strftime("%Y-%m-%d")
    except OverflowError:
        return ""
