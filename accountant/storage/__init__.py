"""Where a durable ledger keeps its entries: SQLite and PostgreSQL, append-only. Takes SQLAlchemy along."""

from accountant.storage.sql_store import (
    SqlStore,
)

__all__ = [
    "SqlStore",
]
