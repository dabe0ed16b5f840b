"""Neighbouring tables in which one record's type, or its absence, used to change what became of all others."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd

from learners import Categorical, Schema

N: Final = 400
RNG: Final = np.random.default_rng(21)
LABELS: Final = tuple(RNG.integers(0, 2, N).tolist())
TRUTH: Final = tuple(bool(each) != (RNG.random() < 0.2) for each in LABELS)


@attrs.frozen
class Case:
    """One column's values, two records that may stand last, and how a table is made of the column.

    schema: public, of two columns; the second is a plain one.
    """

    values: tuple[object, ...]
    usual: object
    odd: object
    schema: Schema
    table: Callable[[list[object]], Any]

    def tables(self) -> tuple[Any, Any]:
        """n records each, of which the last differs."""
        return self.table([*self.values, self.usual]), self.table([*self.values, self.odd])

    def fewer(self) -> Any:
        """Without that record."""
        return self.table(list(self.values))


def _schema(*names: str) -> Schema:
    return Schema((Categorical("c", (*names, "?"), missing="?", other="?"), Categorical("d", ("0", "1"))))


def _plain(size: int) -> list[int]:
    return [place % 2 for place in range(size)]


def _mapping(values: list[object]) -> Any:
    return {"c": values, "d": _plain(len(values))}


def _rows(values: list[object]) -> Any:
    return [list(each) for each in zip(values, _plain(len(values)), strict=True)]


def _categories(values: list[object]) -> Any:
    return pd.DataFrame({"c": pd.Categorical(pd.Series(values, dtype="datetime64[ns]")), "d": _plain(len(values))})


DAYS: Final = [np.datetime64("2020-01-01"), np.datetime64("2020-01-02")]
STAMPS: Final = [f"{day}T00:00:00.000000000" for day in DAYS]
FLOATS: Final = tuple(np.float32(0.1) if each else np.float32(0.7) for each in TRUTH)
FLOAT_NAMES: Final = ("0.10000000149011612", "0.699999988079071")

CASES: Final[Mapping[str, Case]] = {
    "truth values and a word": Case(TRUTH, True, "unknown", _schema("0", "1"), _mapping),
    "truth values and a word, in rows": Case(TRUTH, True, "unknown", _schema("0", "1"), _rows),
    "floats and a word": Case(FLOATS, FLOATS[0], "x", _schema(*FLOAT_NAMES), _mapping),
    "whole floats and a word": Case(
        tuple(1.0 if each else 0.0 for each in TRUTH), 1.0, "x", _schema("0", "1"), _mapping
    ),
    "days and a second": Case(
        tuple(DAYS[each] for each in TRUTH),
        DAYS[0],
        np.datetime64("2020-01-01T00:00:01"),
        _schema(*map(str, DAYS)),
        _mapping,
    ),
    "categories of time stamps and none": Case(
        tuple(DAYS[each] for each in TRUTH), DAYS[0], None, _schema(*STAMPS), _categories
    ),
}
