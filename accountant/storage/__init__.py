"""Where a durable ledger keeps its entries: append-only tables in SQLite or PostgreSQL.

Importing it imports SQLAlchemy, which a ledger in memory does without.
"""

from accountant.storage.access import Access
from accountant.storage.sql_store import SqlStore

__all__ = [
    "Access",
    "SqlStore",
]
