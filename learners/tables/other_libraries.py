"""Tables of libraries that are not known here by name: wrapped ones, and whatever speaks Arrow's PyCapsule protocol.

A query, such as a relation of DuckDB, is run once for a table: run once for each column, it might give its rows in
another order each time. Types are those that the library declares. [records-alone]
"""

from typing import Any, Final, cast

from learners.tables.columns import library

KNOWN: Final = ("numpy", "pandas", "polars", "pyarrow", "dask", "dask_expr", "scipy", "builtins")
"""Libraries whose tables are read as they are."""

_STREAM: Final = "__arrow_c_stream__"


def native(table: Any) -> Any:
    """A table or a column as of a library in KNOWN, where that is possible. Raises ImportError without pyarrow."""
    home = library(table)
    if home == "narwhals":
        return table.to_native()
    if home in KNOWN or not hasattr(type(table), _STREAM):
        return table
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"tables of {home} need pyarrow: pip install 'exchequer[parquet]'") from error
    return cast("Any", pyarrow).table(table)


def refuse_query(labels: object) -> None:
    """Raise TypeError for labels that are a query, which is run apart from that of the table."""
    if library(labels) not in KNOWN and hasattr(labels, "columns") and hasattr(type(labels), _STREAM):
        raise TypeError(
            f"y: a {type(labels).__name__} is run again for the labels, and may give its rows in another order; run it "
            "once: table = relation.to_arrow_table(), and fit(table, table['the label'])"
        )
