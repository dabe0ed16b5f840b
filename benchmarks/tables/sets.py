"""All tables of the leaderboard by name."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Final

from benchmarks.tables.classification_sets import CLASSIFICATIONS, Reader
from benchmarks.tables.reading import within_bounds
from benchmarks.tables.regression_sets import REGRESSIONS
from benchmarks.tables.table_sets import TableSet
from exchequer.datasets import data_folder

READERS: Final[Mapping[str, Reader]] = {**CLASSIFICATIONS, **REGRESSIONS}
"""From a data folder to the table as its file has it: out of bounds and with NaN where it is so."""


def load(name: str, folder: str | None = None) -> TableSet:
    """One of SETS, within its bounds. Raises DataNotFound, KeyError for another name.

    The last few stay in memory, so their arrays cannot be written to; `TableSet.part` copies.
    """
    place = data_folder(folder)
    return _loaded(name, None if place is None else str(place))


@lru_cache(maxsize=3)
def _loaded(name: str, folder: str | None) -> TableSet:
    return within_bounds(READERS[name](folder))


SETS: Final[Mapping[str, Callable[[str | None], TableSet]]] = {name: partial(load, name) for name in READERS}
"""From a data folder (None: EXCHEQUER_DATA) to the table, within its bounds."""
