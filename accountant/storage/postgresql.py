"""What a store asks of PostgreSQL: its engine, and the state of psycopg's connection."""

import selectors
from typing import Protocol, cast

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection

from accountant.storage.access import READS, Access


class _Server(Protocol):
    """What is needed of psycopg's connection."""

    autocommit: bool
    closed: bool
    pgconn: "_Line"

    def fileno(self) -> int:
        """Of its socket."""


class _Line(Protocol):
    transaction_status: int


def engine(url: sa.URL, access: Access, patience: float) -> sa.Engine:
    """The engine of a database. patience: seconds to wait for a lock.  Raises ValueError without psycopg."""
    try:
        # READ COMMITTED, whatever the server prefers: what is read after the lock must be what was committed before it.
        made = sa.create_engine(url, isolation_level="READ COMMITTED", pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise ValueError("a ledger in PostgreSQL needs psycopg: pip install 'exchequer[postgresql]'") from error

    @sa.event.listens_for(made, "connect")
    def durable(connection: DBAPIConnection, record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {patience * 1000:.0f}")
        cursor.execute("SET default_transaction_isolation = 'read committed'")  # also of statements that stand alone
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        if access in READS:
            cursor.execute("SET default_transaction_read_only = on")
        cursor.close()
        connection.commit()

    return made


def commit_each(connection: sa.Connection, alone: bool) -> None:
    """Whether statements are transactions of their own. It is only set where it changes: in a transaction it cannot."""
    server = _server(connection)
    if server.autocommit is not alone:
        server.autocommit = alone


def in_transaction(connection: sa.Connection) -> bool:
    """Whether the server has one open on this connection, or may have."""
    return bool(_server(connection).pgconn.transaction_status)


def quiet(connection: sa.Connection) -> bool:
    """Whether no transaction is open and the server has nothing to say.

    It might say that it hangs up, and what is written to it then is in doubt: nobody knows whether it was done.
    """
    if connection.invalidated or _server(connection).closed or in_transaction(connection):
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(_server(connection).fileno(), selectors.EVENT_READ)
        return not selector.select(0)


def _server(connection: sa.Connection) -> _Server:
    return cast("_Server", connection.connection.driver_connection)
