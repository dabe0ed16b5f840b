"""Small tables from formulas in whole numbers: no generator's stream is in them that could change."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from proofs_tests.old_files.doors import Boolean, Bounds, Categorical, Label, Numeric, Schema

RECORDS: Final = 72

Columns = dict[str, list[float] | list[int] | list[str]]

JOBS: Final = ("clerk", "smith", "?", "Bäckerin", "rest")

PEOPLE: Final = Schema(
    (
        Numeric("age", 17, 90, bins=6),
        Numeric("gain", 0.0, 1000.0, cuts=(10.0, 100.5, 600.0), encoding="thresholds", outside="clip"),
        Categorical("job", JOBS, missing="?", other="rest"),
        Boolean("member"),
    ),
    Label("rich", ("no", "yes")),
)
SORTS: Final = Schema(PEOPLE.columns, Label("sort", ("a", "b", "c")))
BOX: Final = Bounds(-1.0, 1.0, bins=4)

SCHEMA_FILE: Final = """[label]
name = "rich"
classes = ["no", "yes"]

[[columns]]
name = "age"
kind = "numeric"
lower = 17
upper = 90
bins = 6

[[columns]]
name = "gain"
kind = "numeric"
lower = 0
upper = 1000
cuts = [10.0, 100.5, 600.0]
encoding = "thresholds"
outside = "clip"

[[columns]]
name = "job"
kind = "categorical"
categories = ["clerk", "smith", "?", "Bäckerin", "rest"]
missing = "?"
other = "rest"

[[columns]]
name = "member"
kind = "boolean"
"""
"""`PEOPLE`, as a file."""


def people(records: int = RECORDS, start: int = 0) -> Columns:
    """Age, gain, job and membership; some gains are outside their bounds, some jobs unlisted or missing."""
    numbers = range(start, start + records)
    jobs = ("clerk", "smith", "", "Bäckerin", "juggler", "clerk", "smith")
    return {
        "age": [17 + (37 * n * n + 11 * n) % 73 for n in numbers],
        "gain": [((53 * n + 7 * n * n) % 1201) - 40.25 for n in numbers],
        "job": [jobs[(5 * n + n // 7) % 7] for n in numbers],
        "member": [int((n * n + n) % 5 < 2) for n in numbers],
    }


def _score(table: Mapping[str, Sequence[float | str]], n: int) -> float:
    job = {"clerk": 20, "smith": -15, "Bäckerin": 30}.get(str(table["job"][n]), 0)
    return float(table["age"][n]) + float(table["gain"][n]) / 20 + job + 12 * float(table["member"][n]) - 80


def rich(table: Mapping[str, Sequence[float | str]]) -> list[str]:
    """A label of two classes, one in nine turned round."""
    return ["yes" if (_score(table, n) > 0) is not (n % 9 == 4) else "no" for n in range(len(table["age"]))]


def sorts(table: Mapping[str, Sequence[float | str]]) -> list[str]:
    """A label of three classes."""
    return ["abc"[(_score(table, n) > -15) + (_score(table, n) > 20)] for n in range(len(table["age"]))]


def weights(records: int = RECORDS) -> list[float]:
    """From 0 to 2."""
    return [(7 * n % 9) / 4 for n in range(records)]


def points(records: int = RECORDS, columns: int = 4, start: int = 0) -> npt.NDArray[np.float64]:
    """Numbers within [-1, 1], multiples of 1/64, shape (records, columns)."""
    rows = [
        [((n * (29 + 12 * c) + n * n * (c + 3) + 17 * c) % 129 - 64) / 64 for c in range(columns)]
        for n in range(start, start + records)
    ]
    return np.array(rows)


def signs(table: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """0 and 1, by the first two columns."""
    return np.where(table[:, 0] > table[:, 1] + 0.125, 1, 0).astype(np.int64)


def targets(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers within [-1, 2], a polynomial of the columns."""
    return np.asarray(table[:, 0] * table[:, 1] + table[:, 2] ** 2 / 2)


def bits(records: int = RECORDS) -> npt.NDArray[np.int64]:
    """Zeros and ones, shape (records, 3)."""
    return np.array([[(n * n // 3 + n * c) % 2 for c in range(3)] for n in range(records)])


def ends(records: int = 960) -> npt.NDArray[np.float64]:
    """-1 and 1, shape (records, 1)."""
    return np.array([[1.0 if (n * n + n // 3) % 5 < 2 else -1.0] for n in range(records)])


def as_csv(columns: Mapping[str, Sequence[object]]) -> str:
    """With a line of names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
