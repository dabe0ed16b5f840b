"""What is in the ledger stays there: the database refuses changes, and who makes them all the same is found out."""

import pytest
import sqlalchemy as sa

from accountant import Ledger, LedgerBroken, LedgerMismatch
from accountant.audit.verification import verify
from proofs_tests.support.ledgers.durable import behind_its_back, opened, sound, spend, written

# --- append-only ------------------------------------------------------------------------------------------------

EVERYWHERE = [
    "UPDATE exchequer_entries SET line = '{}' WHERE number = 1",
    "UPDATE exchequer_entries SET number = 100 WHERE number = 6",
    "UPDATE exchequer_entries SET line = line",
    "DELETE FROM exchequer_entries WHERE number = 6",
    "DELETE FROM exchequer_entries",
    "INSERT INTO exchequer_entries VALUES (6, 'charged', '{}', 'd')",
    "UPDATE exchequer_schema SET version = 0",
    "DELETE FROM exchequer_schema",
]
SQLITE_ONLY = [
    "INSERT OR REPLACE INTO exchequer_entries VALUES (6, 'charged', '{}', 'd')",
    "REPLACE INTO exchequer_entries VALUES (1, 'charged', '{}', 'd')",
    "INSERT OR IGNORE INTO exchequer_entries VALUES (100, 'charged', '{}', 'd')",
    "INSERT OR ROLLBACK INTO exchequer_entries VALUES (-1, 'charged', '{}', 'd')",
    "INSERT INTO exchequer_entries VALUES (6, 'x', '{}', 'd') ON CONFLICT (number) DO UPDATE SET line = '{}'",
    "UPDATE OR REPLACE exchequer_entries SET number = 5 WHERE number = 6",
    "UPDATE OR IGNORE exchequer_entries SET number = 100 WHERE number = 6",
]
POSTGRESQL_ONLY = [
    "TRUNCATE exchequer_entries",
    "TRUNCATE exchequer_schema",
    "INSERT INTO exchequer_entries VALUES (6, 'x', '{}', 'd') ON CONFLICT (number) DO UPDATE SET line = '{}'",
    "MERGE INTO exchequer_entries e USING (SELECT 6 AS n) s ON e.number = s.n WHEN MATCHED THEN DELETE",
    "WITH gone AS (DELETE FROM exchequer_entries RETURNING *) SELECT * FROM gone",
]


def refused(url: str, statement: str) -> None:
    before = written(url)
    with (
        pytest.raises(sa.exc.DBAPIError, match=r"append-only|UNIQUE|duplicate key"),
        behind_its_back(url) as connection,
    ):
        connection.exec_driver_sql(statement)
    assert written(url) == before
    sound(url)


@pytest.mark.parametrize("statement", EVERYWHERE)
def test_the_database_refuses_changes(spent: str, statement: str) -> None:
    refused(spent, statement)


@pytest.mark.parametrize("places", ["sqlite"], indirect=True)
@pytest.mark.parametrize("statement", SQLITE_ONLY)
def test_sqlite_refuses_changes(spent: str, statement: str) -> None:
    refused(spent, statement)


@pytest.mark.parametrize("places", ["postgresql"], indirect=True)
@pytest.mark.parametrize("statement", POSTGRESQL_ONLY)
def test_postgresql_refuses_changes(spent: str, statement: str) -> None:
    refused(spent, statement)


# --- books that somebody touched -----------------------------------------------------------------------------

TAMPERING = {
    "a cost": "UPDATE exchequer_entries SET line = replace(line, '0.0625', '0.0375') WHERE number = 3",
    "a digest": "UPDATE exchequer_entries SET digest = substr(digest, 2) || substr(digest, 1, 1) WHERE number = 3",
    "a kind": "UPDATE exchequer_entries SET kind = 'released' WHERE number = 3",
    "a lost entry": "DELETE FROM exchequer_entries WHERE number = 3",
    "a lost beginning": "DELETE FROM exchequer_entries WHERE number = 0",
    "nonsense": "UPDATE exchequer_entries SET line = '{' WHERE number = 3",
    "a stray entry": "INSERT INTO exchequer_entries VALUES (9, 'charged', '{}', 'd')",
    "no ASCII": "UPDATE exchequer_entries SET line = 'é' WHERE number = 3",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_noticed_at_opening_and_by_verify(spent: str, what: str) -> None:
    with behind_its_back(spent, disarmed=True) as connection:
        connection.exec_driver_sql(TAMPERING[what])
    assert verify(written(spent)).errors
    if what == "a kind":
        return  # the line decides; that the column beside it says something else, verify tells
    with pytest.raises(LedgerBroken):
        opened(spent)


def test_a_ledger_that_is_open_notices_that_its_past_was_changed(spent: str) -> None:
    with opened(spent) as ledger:
        with behind_its_back(spent, disarmed=True) as connection:
            connection.exec_driver_sql("UPDATE exchequer_entries SET digest = 'd' WHERE number = 6")
        with pytest.raises(LedgerBroken, match="behind this ledger's back"):
            spend(ledger)


def test_a_ledger_that_is_open_notices_that_its_end_was_cut_off(spent: str) -> None:
    with opened(spent) as ledger:
        with behind_its_back(spent, disarmed=True) as connection:
            connection.exec_driver_sql("DELETE FROM exchequer_entries WHERE number > 2")
        with pytest.raises(LedgerBroken, match="cut off"):
            spend(ledger)
        with pytest.raises(LedgerBroken, match="cut off"):
            ledger.spent  # noqa: B018  # reading must not be fooled either
    kept = 6  # what is left holds together; only a head that was kept elsewhere tells
    assert verify(written(spent)).errors == ()
    assert len(written(spent)) == 3 < kept


def test_an_older_copy_is_told_by_the_head_that_was_kept(spent: str) -> None:
    head = written(spent)[-1].digest
    with behind_its_back(spent, disarmed=True) as connection:
        connection.exec_driver_sql("DELETE FROM exchequer_entries WHERE number > 4")
    with pytest.raises(LedgerMismatch, match="cut off, or rolled back"):
        Ledger.open(spent, expect_head=head)
    assert verify(written(spent), expect_head=head).errors
