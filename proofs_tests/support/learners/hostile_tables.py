"""Tables that are hard on engines: names and categories with quotes and semicolons, gaps, edges, infinities."""

from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from learners import Boolean, Categorical, Label, Numeric, Schema
from learners.tables import Date, Integer, Ordered

CLASSES: Final = ("no'; DROP TABLE x; --", 'yes "π" \\')

SCHEMA: Final = Schema(
    (
        Numeric("age'; --", -10.0, 90.0, outside="clip", missing="own"),
        Numeric('in"come', 0.0, 1e6, missing=0.1),
        Numeric("Grösse 身長 %s {0}", -0.3, 0.3, cuts=(-0.1, 0.0, 0.1, 0.2)),
        Categorical("job\nor none", ("cl'erk", 'sm"ith', "a;b", "naïve 🙂", "back\\slash", "?", "else"), "?", "else"),
        Categorical("code", ("0", "1", "2", "10")),
        Boolean("member"),
        Boolean("flag, as numbers"),
        Integer("rooms", 0, 30, outside="clip", missing="own"),
        Numeric("weight, or ?", 0.0, 100.0, outside="clip", missing="own", other="missing"),
        Ordered("grade", ("none", "1", "2'", "3"), missing="own", other="missing"),
        Date("day", "2000-01-01", "2029-12-31", outside="clip", missing="own", other="missing", form="%d.%m.%Y"),
        Date("moment", "2000-01-01", "2029-12-31", missing="2010-01-01 12:00"),
        Boolean("smoker", missing=False),
    ),
    Label("y", CLASSES),
)


@attrs.frozen(eq=False)
class Hostile:
    """columns: n values each.  refused: which records `predict` refuses, by construction."""

    columns: dict[str, npt.NDArray[Any]]
    refused: npt.NDArray[np.bool_]

    def allowed(self) -> dict[str, npt.NDArray[Any]]:
        """The others."""
        return {name: values[~self.refused] for name, values in self.columns.items()}


def hostile(n: int, seed: int = 0, schema: Schema = SCHEMA) -> Hostile:
    """schema: SCHEMA or one with the same columns, cut otherwise, whose edges then occur."""
    draw = np.random.default_rng(seed)
    age, income, size = (_numbers(column, n, draw) for column in schema.columns[:3] if isinstance(column, Numeric))
    age[draw.random(n) < 0.1] = np.nan
    age[draw.random(n) < 0.05] *= 1e300
    age[~np.isfinite(age) & ~np.isnan(age)] = 1e308
    income[draw.random(n) < 0.1] = np.nan
    jobs = [
        *SCHEMA.columns[3].values(),
        "unheard of",
        " cl'erk \t",
        "\u2003a;b\u3000",
        "",
        None,
        "nan",
        "NaN",
        "x" * 300,
    ]
    job = np.array(jobs, dtype=object)[draw.integers(0, len(jobs), n)]
    code = draw.choice([0, 1, 2, 10], n)
    member = draw.random(n) < 0.5
    flag = draw.choice([0.0, -0.0, 1.0], n)
    refused = np.zeros(n, dtype=np.bool_)
    for numbers, wrong in (
        (age, (np.inf, -np.inf)),
        (income, (-1e-9, 1e7, np.inf)),
        (size, (np.nan, 0.4, -np.inf)),
        (flag, (np.nan, 0.5, 2.0)),
    ):
        here = draw.random(n) < 0.01
        numbers[here] = draw.choice(wrong, int(here.sum()))
        refused |= here
    here = draw.random(n) < 0.01
    code[here] = 3
    refused |= here
    later, refused_later = _later(n, draw)
    values = (age, income, size, job, code, member, flag, *later)
    return Hostile(dict(zip(SCHEMA.names, values, strict=True)), refused | refused_later)


def _later(n: int, draw: np.random.Generator) -> tuple[list[npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    """Columns of whole numbers, of numbers and text, of order, of dates and of words; and whose records are refused."""
    rooms = draw.integers(-5, 40, n).astype(np.float64)
    rooms[draw.random(n) < 0.1] = np.nan
    weight = draw.uniform(-20.0, 120.0, n).astype(object)
    grade = _drawn(["none", "1", "2'", "3", " 3", "1.0", "True", None, "", "?", "4", "NaT"], n, draw)
    day = _drawn([None, "", "?", "unknown", "31.02.2020", "29.02.2024", "1.1.2000", "31.12.1999", "5.10.2031"], n, draw)
    word = _drawn(["yes", "NO", "True", " f", "1", "0.0", "", None, "nan"], n, draw)
    here, far = draw.random(n) < 0.8, (np.datetime64("2031-05-01") - np.datetime64("1999-01-01")).astype(int)
    dates = np.datetime64("1999-01-01") + draw.integers(0, far, n)
    day[here] = [f"{each:%d.%m.%Y}" for each in dates[here].tolist()]
    moment = np.datetime64("2000-01-01", "us") + draw.integers(0, 900_000_000_000_000, n)
    moment[draw.random(n) < 0.1] = np.datetime64("NaT")
    refused = np.zeros(n, dtype=np.bool_)
    wrongs: tuple[tuple[npt.NDArray[Any], list[object]], ...] = (
        (rooms, [0.5, np.inf, 31.25]),
        (weight, [np.inf, "infinity"]),
        (moment, [np.datetime64("1999-12-31T23:59:59.999999"), np.datetime64("2100-01-01")]),
        (word, ["maybe", "2", "yess"]),
    )
    gaps = draw.random(n) < 0.2
    weight[gaps] = _drawn(["?", "", "n/a", "<NA>", None], n, draw)[gaps]
    for values, wrong in wrongs:
        here = draw.random(n) < 0.01
        values[here] = _drawn(wrong, n, draw)[here]
        refused |= here
    return [rooms, weight, grade, day, moment, word], refused


def _drawn(listed: list[Any], n: int, draw: np.random.Generator) -> npt.NDArray[np.object_]:
    boxed = np.empty(len(listed), dtype=object)
    boxed[:] = listed
    return boxed[draw.integers(0, len(listed), n)]


def _numbers(column: Numeric, n: int, draw: np.random.Generator) -> npt.NDArray[np.float64]:
    """Within the bounds; a third on the edges, and next to them."""
    edges = column.edges
    found = draw.uniform(column.lower, column.upper, n)
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [0.0, -0.0, 5e-324]])
    near = near[(near >= column.lower) & (near <= column.upper)]
    here = draw.random(n) < 1 / 3
    found[here] = draw.choice(near, int(here.sum()))
    return found


def labels(table: Hostile, seed: int = 0) -> npt.NDArray[np.object_]:
    """Of the records that are allowed."""
    columns, draw = table.allowed(), np.random.default_rng(seed)
    score = columns['in"come'] / 1e6 + columns["Grösse 身長 %s {0}"] + (columns["code"] == 1) - 0.7
    return np.where(np.nan_to_num(score) + draw.normal(0, 0.3, score.size) > 0.0, *map(np.object_, CLASSES[::-1]))
