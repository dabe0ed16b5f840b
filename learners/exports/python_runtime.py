"""What a model exported to Python runs on; `python_code` copies this module's text, so it imports nothing of ours."""

from __future__ import annotations

import bisect
import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

MODEL: dict[str, Any] = {}


class Refused(ValueError):
    """A record with a value that the model has no place for. Names the column."""


def predict(record: Mapping[str, object]) -> Any:
    """The class or the number of a record: a mapping of column names to values. Raises Refused and KeyError."""
    return _said(MODEL["link"], scores(record))


def scores(record: Mapping[str, object]) -> list[float]:
    """What is added up, one number for each output; of two classes it is positive for the second."""
    places = [_place(each, record[each["name"]]) for each in MODEL["inputs"]]
    found = list(MODEL["start"])
    for term in MODEL["terms"]:
        for output, value in enumerate(_term(term, places)):
            found[output] += value
    return [score / MODEL["divisor"] for score in found]


def shares(record: Mapping[str, object]) -> list[float] | None:
    """The share of each class, as `predict_proba` gives it; None where the model estimates none."""
    link, found = MODEL["link"], scores(record)
    if link["kind"] == "many" and link["softmax"]:
        powers = [math.exp(score - max(found)) for score in found]
        return [power / sum(powers) for power in powers]
    if link["kind"] != "two" or link["share"] is None:
        return None
    share = _share(link["share"], found[0])
    return [1.0 - share, share]


def _said(link: dict[str, Any], found: list[float]) -> Any:
    if link["kind"] == "two":
        return link["classes"][found[0] > 0.0]
    if link["kind"] == "many":
        return link["classes"][found.index(max(found))]
    value = math.exp(min(found[0], link["most"])) if link["log"] else found[0]
    return max(min(value, link["upper"]), link["lower"])


def _share(share: dict[str, Any], score: float) -> float:
    if share["kind"] == "logistic":
        return _logistic(score)
    if share["kind"] == "vote":
        return max(min(0.5 * (1.0 + score), 1.0), 0.0)
    if share["kind"] == "lines":
        found = _line(share["at"], share["shares"], score + share["shift"])
        return float(max(found, share["least"])) if score > 0.0 else min(found, 0.5)
    size, clip = abs(score), share["clip"]
    told = max(clip / (clip + _logistic(-size)), _logistic(share["slope"] * size))
    likelier: float = max(told, 0.5 + 2.0**-12 * min(size, 1.0))
    return likelier if score > 0.0 else 1.0 - likelier


def _line(at: Sequence[float], values: Sequence[float], score: float) -> float:
    place = bisect.bisect_right(at, score) - 1
    if place < 0:
        return values[0]
    if place == len(at) - 1:
        return values[-1]
    slope = (values[place + 1] - values[place]) / (at[place + 1] - at[place])
    return slope * (score - at[place]) + values[place]


def _logistic(score: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-score, 700.0)))


def _term(term: dict[str, Any], places: list[Any]) -> Sequence[float]:
    if term["kind"] == "look-up":
        values: Sequence[Any] = term["values"]
        for steps in term["steps"]:
            values = values[_cell(steps, places)]
        return values
    if term["kind"] == "linear":
        return [_folded([place * weight for place, weight in zip(places, term["weights"], strict=True)])]
    while term["kind"] == "branch":
        term = term["yes"] if term["members"][_cell(term["steps"], places)] else term["no"]
    leaf: Sequence[float] = term["values"]
    return leaf


def _cell(steps: dict[str, Any], places: list[Any]) -> int:
    place = places[steps["input"]]
    return len(steps["cuts"]) + 1 if place is None else bisect.bisect_right(steps["cuts"], place)


def _folded(sums: list[float]) -> float:
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [a + b for a, b in zip(sums[:half], sums[-half:], strict=True)] + sums[half : len(sums) - half]
    return sums[0]


def _place(column: dict[str, Any], value: object) -> float | None:
    if column["kind"] == "names":
        return _category(column, value)
    if column["kind"] == "truths":
        return _truth(column, value)
    number = _seconds(column, value) if column["kind"] == "moments" else _number(column, value)
    if math.isnan(number):
        if column["own"]:
            return None
        if column["missing"] is None:
            raise Refused(f"column {column['name']!r}: {value!r} is not a number")
        return float(column["missing"])
    if math.isinf(number) or not (column["clip"] or column["lower"] <= number <= column["upper"]):
        raise Refused(f"column {column['name']!r}: {value!r} is outside [{column['lower']}, {column['upper']}]")
    if column["whole"] and number != math.floor(number):
        raise Refused(f"column {column['name']!r}: {value!r} is no whole number")
    return number


GAPS = ("", "nan", "None", "<NA>", "NaT")
"""Texts for what is missing."""

WORDS = {"true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0}


def _number(column: dict[str, Any], value: Any) -> float:
    gaps = column.get("own") or column.get("missing") is not None
    if value is None or type(value).__name__ in ("NAType", *(("NaTType",) if gaps else ())):
        return math.nan
    if gaps and isinstance(value, str) and value.strip() in GAPS:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        if column.get("others"):
            return math.nan
        raise Refused(f"column {column['name']!r}: {value!r} is not a number") from None


def _truth(column: dict[str, Any], value: Any) -> float:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str) and text.strip().lower() in WORDS:
        return WORDS[text.strip().lower()]
    number = _number(column, value)
    if math.isnan(number) and column["missing"] is not None:
        return float(column["missing"])
    if number not in (0.0, 1.0):
        raise Refused(f"column {column['name']!r}: {value!r} is neither 0 nor 1")
    return number


def _seconds(column: dict[str, Any], value: Any) -> float:
    """Since 1970, in UTC; NaN where it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return math.nan
    if isinstance(value, str) and value.strip() in GAPS:
        return math.nan
    try:
        return _since(value, column["form"])
    except (TypeError, ValueError, OverflowError):
        if column["others"]:
            return math.nan
        raise Refused(f"column {column['name']!r}: {value!r} is no date") from None


def _since(value: Any, form: str | None) -> float:
    if form is not None and isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        value = int(value)
    if form is not None and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        text = value.strip()
        value = datetime.datetime.fromisoformat(text) if form is None else datetime.datetime.strptime(text, form)
    if not isinstance(value, datetime.date):
        raise TypeError
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    moment = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
    since: datetime.timedelta = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return since.days * 86400.0 + since.seconds + since.microseconds / 1e6


def _category(column: dict[str, Any], value: object) -> int:
    name = _name(column, value)
    code = column["missing"] if name is None else column["codes"].get(name, column["other"])
    if code is None:
        raise Refused(f"column {column['name']!r}: {value!r} is not one of its categories")
    return int(code)


def _name(column: dict[str, Any], value: object) -> str | None:
    """What a value is called: 1 for 1.0 and for True, None where it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if value.is_integer() and abs(value) >= 2.0**53:
            raise Refused(f"column {column['name']!r}: floats do not tell numbers as large as {value!r} apart")
        return str(int(value)) if value.is_integer() else str(float(value))
    if isinstance(value, bytes):
        try:
            return value.decode("ascii").strip()
        except UnicodeDecodeError:
            raise Refused(f"column {column['name']!r}: {value!r} is no ASCII") from None
    if isinstance(value, datetime.datetime):
        raise Refused(f"column {column['name']!r}: {value!r} is a time stamp; give the category's text")
    return str(value).strip()
