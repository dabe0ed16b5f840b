"""The tables of a durable ledger, how they came about, and the triggers that keep them append-only.

A migration is the step from one version to the next; the versions that were applied stand in `exchequer_schema`.
Entries are never rewritten by one: what an auditor has hashed stays as it is.
"""

from collections.abc import Callable, Sequence
from typing import Final

import sqlalchemy as sa

from accountant.exceptions import LedgerMismatch

METADATA: Final = sa.MetaData()

ENTRIES: Final = sa.Table(
    "exchequer_entries",
    METADATA,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("line", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)

VERSIONS: Final = sa.Table(
    "exchequer_schema",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)

Migration = Callable[[sa.Connection], None]

_SQLITE_TRIGGERS: Final = (
    "CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'the books are append-only'); END",
    "CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'the books are append-only'); END",
)

# INSERT OR REPLACE deletes a row without any DELETE trigger, so a number that is taken is refused before that.
_SQLITE_ORDER: Final = (
    "CREATE TRIGGER exchequer_entries_in_order BEFORE INSERT ON exchequer_entries "
    "WHEN NEW.number <> (SELECT coalesce(max(number), -1) + 1 FROM exchequer_entries) "
    "BEGIN SELECT RAISE(ABORT, 'the books are append-only: entries are added at the end'); END"
)

# In a function each statement sees what was committed before it began. So one round trip waits for the turn and then
# reads what others wrote while it waited; and one waits for it and appends, if nobody wrote anything meanwhile.
_POSTGRESQL_LOCK: Final = (
    "PERFORM pg_advisory_xact_lock(hashtext('exchequer'), 'exchequer_entries'::regclass::oid::int);"
)
_POSTGRESQL_FUNCTIONS: Final = (
    "CREATE FUNCTION exchequer_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the books are append-only'; END $$",
    "CREATE FUNCTION exchequer_turn(start bigint, most int) RETURNS SETOF exchequer_entries LANGUAGE plpgsql VOLATILE "
    f"AS $$ BEGIN {_POSTGRESQL_LOCK} "
    "RETURN QUERY SELECT * FROM exchequer_entries WHERE number >= start ORDER BY number LIMIT most; END $$",
    "CREATE FUNCTION exchequer_append(next bigint, before text, kind text, line text, digest text) RETURNS boolean "
    f"LANGUAGE plpgsql VOLATILE AS $$ DECLARE newest exchequer_entries; BEGIN {_POSTGRESQL_LOCK} "
    "SELECT * INTO newest FROM exchequer_entries AS entry ORDER BY entry.number DESC LIMIT 1; "
    "IF newest.number IS DISTINCT FROM next - 1 OR newest.digest IS DISTINCT FROM before THEN RETURN false; END IF; "
    "INSERT INTO exchequer_entries VALUES (next, kind, line, digest); RETURN true; END $$",
)

_POSTGRESQL_TRIGGERS: Final = (
    "CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
    "FOR EACH ROW EXECUTE FUNCTION exchequer_refuse()",
    "CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
    "FOR EACH STATEMENT EXECUTE FUNCTION exchequer_refuse()",
)


def first_tables(connection: sa.Connection) -> None:
    """Version 1: the entries, the versions, append-only."""
    METADATA.create_all(connection, checkfirst=False)
    tables = (ENTRIES.name, VERSIONS.name)
    if connection.dialect.name == "postgresql":
        statements = [*_POSTGRESQL_FUNCTIONS]
        statements += [form.format(table=table) for table in tables for form in _POSTGRESQL_TRIGGERS]
    else:
        statements = [form.format(table=table) for table in tables for form in _SQLITE_TRIGGERS]
        statements.append(_SQLITE_ORDER)
    # Opening looks for the newest checkpoint; without an index that would read all of the ledger.
    statements.append("CREATE INDEX exchequer_checkpoints ON exchequer_entries (number) WHERE kind = 'checkpoint'")
    for statement in statements:
        connection.exec_driver_sql(statement)


MIGRATIONS: tuple[Migration, ...] = (first_tables,)
"""The step to version 1, to version 2, and so on."""


def version_of(connection: sa.Connection) -> int:
    """The version of the tables, 0 where there are none."""
    if not sa.inspect(connection).has_table(VERSIONS.name):
        return 0
    return int(connection.scalar(sa.select(sa.func.coalesce(sa.func.max(VERSIONS.c.version), 0))) or 0)


def check_version(found: int, migrations: Sequence[Migration]) -> None:
    """Raise LedgerMismatch where the tables are newer than this program."""
    if found > len(migrations):
        raise LedgerMismatch(
            f"the tables are of version {found}, this program knows {len(migrations)}: install a newer exchequer"
        )


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest version, inside the caller's transaction."""
    found = version_of(connection)
    check_version(found, MIGRATIONS)
    for version, step in enumerate(MIGRATIONS[found:], start=found + 1):
        step(connection)
        connection.execute(VERSIONS.insert().values(version=version))
