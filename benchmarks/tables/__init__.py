"""Tables with public bounds and categories, from public data sets, for comparisons of learners."""

from benchmarks.tables import table_sets
from benchmarks.tables.sets import (
    SETS,
    load,
)
from benchmarks.tables.table_sets import (
    TableSet,
    split,
    widened,
)

__all__ = [
    "SETS",
    "TableSet",
    "load",
    "split",
    "table_sets",
    "widened",
]
