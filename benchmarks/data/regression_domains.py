"""Further regressions with public bounds: wines by colour, rings of abalone, Friedman #1, and the same in wide bounds.

Bounds are round numbers, chosen with the data in sight.
"""

from pathlib import Path
from typing import Final

import attrs
import numpy as np

from benchmarks.data.random_feature_domains import Regression, wine
from exchequer.datasets import SEARCHED, DataNotFound, data_folder, found_file
from learners import Categorical, Numeric, Schema
from learners.tables import Values

ABALONE: Final = "abalone"
FRIEDMAN: Final = "Friedman #1"
RINGS: Final = (0.0, 30.0)
ABALONE_BOUNDS: Final = {
    "length": 1.0,
    "diameter": 1.0,
    "height": 1.0,
    "whole weight": 3.0,
    "shucked weight": 1.5,
    "viscera weight": 1.0,
    "shell weight": 1.0,
}
"""From 0 on; in 200 mm and 200 g, as the file has them."""

FRIEDMAN_RECORDS: Final = 20_000
FRIEDMAN_BOUNDS: Final = (-5.0, 35.0)


def abalone(folder: str | Path | None = None) -> Regression:
    """4,177 shells, rings from 1 to 29. Raises DataNotFound."""
    place = data_folder(folder)
    if place is None:
        raise DataNotFound(f"this benchmark needs abalone: pass --data DIR or set {SEARCHED}")
    path = found_file(place, "abalone", "abalone.data")
    cells = np.loadtxt(path, dtype=np.str_, delimiter=",")
    table: dict[str, Values] = {"sex": cells[:, 0]}
    for number, name in enumerate(ABALONE_BOUNDS, start=1):
        table[name] = cells[:, number].astype(np.float64)
    numbers = (Numeric(name, 0.0, upper, outside="clip") for name, upper in ABALONE_BOUNDS.items())
    schema = Schema((Categorical("sex", ("F", "I", "M")), *numbers))
    return Regression(ABALONE, schema, table, cells[:, 8].astype(np.float64), RINGS)


def friedman(records: int = FRIEDMAN_RECORDS) -> Regression:
    """Ten uniform inputs, of which five matter, two of them together; noise of variance 1. Always the same."""
    rng = np.random.default_rng(1000)
    X = rng.uniform(size=(records, 10))
    waves = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    y = waves + 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=records)
    names = [f"x{number}" for number in range(10)]
    schema = Schema(tuple(Numeric(name, 0.0, 1.0) for name in names))
    table: dict[str, Values] = {name: X[:, number] for number, name in enumerate(names)}
    return Regression(FRIEDMAN, schema, table, y, FRIEDMAN_BOUNDS)


def wine_of(colour: str, folder: str | Path | None = None) -> Regression:
    """Wines of one colour, "red" or "white", without the colour. Raises DataNotFound."""
    whole = wine(folder)
    part = whole.part(np.flatnonzero(whole.table["colour"] == colour))
    table = {name: values for name, values in part.table.items() if name != "colour"}
    schema = Schema(tuple(column for column in part.schema.columns if column.name != "colour"))
    return attrs.evolve(part, name=f"{colour} wine", table=table, schema=schema)


def widened(data: Regression, factor: float, *, labels: bool) -> Regression:
    """All numeric bounds so many times as wide, about their middle. labels: those of the labels, too."""

    def wider(lower: float, upper: float) -> tuple[float, float]:
        middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower) * factor
        return middle - half, middle + half

    columns = (
        Numeric(column.name, *wider(column.lower, column.upper), outside="clip")
        if isinstance(column, Numeric)
        else column
        for column in data.schema.columns
    )
    return attrs.evolve(data, schema=Schema(tuple(columns)), bounds=wider(*data.bounds) if labels else data.bounds)
