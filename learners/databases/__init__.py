"""Tables in databases: `SqlTable`, in DuckDB, PostgreSQL and SQLite."""

import learners.databases.compiled_operations  # noqa: F401  # registers them
from learners.databases.addresses import shown_address
from learners.databases.coded_table import FETCH, NotInSql
from learners.databases.engines import ChangedTable, DatabaseFailed, Part
from learners.databases.predictions import predict_in_database, write_predictions
from learners.databases.sql_table import SqlTable
from learners.databases.stored_columns import PredictedColumn, SqlColumn

__all__ = [
    "FETCH",
    "ChangedTable",
    "DatabaseFailed",
    "NotInSql",
    "Part",
    "PredictedColumn",
    "SqlColumn",
    "SqlTable",
    "predict_in_database",
    "shown_address",
    "write_predictions",
]
