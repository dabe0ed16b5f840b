"""How the budget burnt down, drawn: the share spent over entries and over time, as plain geometry.

The template draws what is computed here; nothing in it comes from the entries but numbers.
"""

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import attrs

WIDTH: Final = 440.0
HEIGHT: Final = 264.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 24.0, 14.0, 44.0
AFTER: Final = 8.0
"""Room behind the newest entry, so that its step is seen."""

_SECOND: Final = 10**9

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_STEPS: Final = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * hours for hours in (1, 2, 3, 6, 12)),
    *(_DAY * days for days in (1, 2, 4, 7, 14, 30, 60, 91, 182, 365)),
)
"""Distances between ticks of a time axis, in seconds."""


class BurnDownPoint(NamedTuple):
    """After entry `number`, at `time` (nanoseconds since 1970), this share of the budget was spent; 1 is all of it."""

    number: int
    time: int
    share: float


@attrs.frozen
class Tick:
    """A mark on an axis: where it is in the drawing, and what it says."""

    at: float
    label: str


@attrs.frozen
class Panel:
    """One drawing.

    path, area: the curve and what is below it, as SVG path data.  ceiling: the height of the whole budget.
    text: what it shows, for those who do not see it.
    """

    name: str
    axis: str
    text: str
    path: str
    area: str
    ceiling: float
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


def panels(points: Sequence[BurnDownPoint]) -> tuple[Panel, ...]:
    """The share spent over the entries, and over time where that is more than two seconds. At least one point."""
    by_entry = _panel("By entry", "number of the entry", points, lambda point: point.number, _number_ticks, "entry {}")
    if points[-1].time - points[0].time < 2 * _SECOND:
        return (by_entry,)  # nothing to be seen on a clock
    axis = f"time (UTC), {_span(points[0].time, points[-1].time)}"
    return by_entry, _panel("By time", axis, points, lambda point: point.time, _time_ticks, "{}", moment)


def _panel(
    name: str,
    axis: str,
    points: Sequence[BurnDownPoint],
    place: Callable[[BurnDownPoint], int],
    ticks: Callable[[int, int], list[tuple[int, str]]],
    where: str,
    say: Callable[[int], str] = str,
) -> Panel:
    first, last = place(points[0]), place(points[-1])
    most = max(point.share for point in points)
    high = 1.08 * max(1.0, most)
    x = _scale(first, last, LEFT, WIDTH - RIGHT - AFTER)
    y = _scale(0.0, high, HEIGHT - BOTTOM, TOP)
    path = f"{_steps([(x(place(point)), y(point.share)) for point in points])}H{WIDTH - RIGHT:.1f}"
    foot = f"{HEIGHT - BOTTOM:.1f}"
    end = points[-1].share
    return Panel(
        name=name,
        axis=axis,
        text=f"A step curve of the share of the whole budget that was spent. From {where.format(say(first))} to "
        f"{where.format(say(last))} it goes from {_percent(points[0].share)} to {_percent(end)}; the most it ever was "
        f"is {_percent(most)}. The ceiling is drawn at 100 %.",
        path=path,
        area=f"{path} V{foot} H{x(first):.1f} Z",
        ceiling=y(1.0),
        across=tuple(Tick(x(at), label) for at, label in ticks(first, last)),
        up=tuple(Tick(y(share), f"{share:.0%}") for share in _shares(high)),
    )


def _percent(share: float) -> str:
    return f"{math.ceil(share * 1e3 - 1e-9) / 10:.1f} %"


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = high - low
    return lambda value: start + (end - start) * ((value - low) / span) if span else start


def _steps(corners: Sequence[tuple[float, float]]) -> str:
    """SVG path data of a step curve: it keeps its height until the next point, and jumps there."""
    x, y = corners[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    for x, y in corners[1:]:
        parts.append(f"H{x:.1f}V{y:.1f}")
    return "".join(parts)


def _shares(high: float) -> list[float]:
    step = next((step for step in (0.25, 0.5, 1.0, 2.0, 5.0) if high / step <= 6.0), high / 4.0)
    return [step * number for number in range(math.floor(high / step) + 1)]


def _number_ticks(first: int, last: int) -> list[tuple[int, str]]:
    step = 1
    while (last - first) // step > 5:
        step = step * 2 if not str(step).startswith("2") else step * 5 // 2
    start = -(-first // step) * step
    return [(number, f"{number:,}") for number in range(start, last + 1, step)]


def _time_ticks(first: int, last: int) -> list[tuple[int, str]]:
    seconds = (last - first) / _SECOND
    step = next((step for step in _STEPS if seconds / step <= 4.5), _STEPS[-1] * math.ceil(seconds / _STEPS[-1] / 4.0))
    whole = step * _SECOND if step < _DAY else 1  # days are counted from the first one on
    start = -(-first // whole) * whole
    return [(at, _tick_label(at, step)) for at in range(start, last + 1, step * _SECOND)]


def _tick_label(time: int, step: int) -> str:
    shape = "%H:%M:%S" if step < _MINUTE else "%H:%M" if step < _DAY else "%d %b %y"
    return _utc(time).strftime(shape)


def _span(first: int, last: int) -> str:
    days = [_utc(time).strftime("%d %b %Y") for time in (first, last)]
    return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"


def _utc(time: int) -> datetime.datetime:
    """The moment in UTC; a time beyond the calendar is shown as the calendar's end."""
    try:
        return datetime.datetime.fromtimestamp(time / _SECOND, tz=datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.datetime.max.replace(tzinfo=datetime.UTC)


def day(time: int) -> str:
    """The day of an entry, in UTC."""
    return _utc(time).strftime("%Y-%m-%d")


def moment(time: int) -> str:
    """A time of an entry, to the second, in UTC."""
    return _utc(time).strftime("%Y-%m-%d %H:%M:%S UTC")
