"""Tables in databases: `SqlTable`, in DuckDB and PostgreSQL."""

from learners.databases.addresses import is_address
from learners.databases.engines import DatabaseFailed
from learners.databases.sql_table import SqlTable

__all__ = ["DatabaseFailed", "SqlTable", "is_address"]
