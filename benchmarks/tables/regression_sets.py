"""Tables of the leaderboard with numbers for labels, as the files have them: 6.

The other files have no number that would be learnt from the rest in earnest: several are many forms of one measurement
(spectra, voices, cells), of which one tells another, and the rest are codes, or inputs such as ages.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from benchmarks.adapters.protocol import Column
from benchmarks.data import Regression, abalone, friedman, medical, wine_of
from benchmarks.tables.classification_sets import Reader, adult_income, medical_columns
from benchmarks.tables.reading import columns_of
from benchmarks.tables.table_sets import TableSet


def _numbered(name: str, data: Regression, columns: tuple[Column, ...] | None = None) -> TableSet:
    chosen = columns_of(data.schema) if columns is None else columns
    return TableSet(name, "regression", chosen, (), data.bounds, data.table, data.labels)


def medical_charges(folder: str | None) -> TableSet:
    """1,338 persons; charges in dollars, $0 to $65,000."""
    return _numbered("medical-charges", medical(folder), medical_columns())


def wine_red(folder: str | None) -> TableSet:
    """1,599 wines; quality as tasters grade it, 0 to 10."""
    return _numbered("wine-red", wine_of("red", folder))


def wine_white(folder: str | None) -> TableSet:
    """4,898 wines; quality as tasters grade it, 0 to 10."""
    return _numbered("wine-white", wine_of("white", folder))


def abalone_rings(folder: str | None) -> TableSet:
    """4,177 shells; rings, which are years of age less one and a half, 0 to 30."""
    return _numbered("abalone-rings", abalone(folder))


def adult_hours(folder: str | None) -> TableSet:
    """48,842 persons of Adult, its test part the test part; hours of work a week, 0 to 100, from all else."""
    data = adult_income(folder)
    table = dict(data.table)
    hours = table.pop("hours-per-week")
    table["income"] = np.asarray(data.classes)[data.labels]
    columns = tuple(column for column in data.columns if column.name != "hours-per-week")
    income = Column("income", categories=data.classes)
    return TableSet("adult-hours", "regression", (*columns, income), (), (0.0, 100.0), table, hours, data.test_rows)


def friedman_1(folder: str | None) -> TableSet:
    """20,000 made-up records, of which no file is needed."""
    del folder  # it has the shape of a Reader
    return _numbered("friedman-1", friedman())


REGRESSIONS: Final[Mapping[str, Reader]] = {
    "medical-charges": medical_charges,
    "wine-red": wine_red,
    "wine-white": wine_white,
    "abalone-rings": abalone_rings,
    "adult-hours": adult_hours,
    "friedman-1": friedman_1,
}
