"""A PostgreSQL ledger that an earlier version wrote, as statements and rows; and its entries written anew."""

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from benchmarks.ledgers.postgres import Server
from proofs_tests.old_files import readouts, write
from proofs_tests.old_files.doors import Ledger
from proofs_tests.old_files.frozen import assert_same, differing, kept_json
from proofs_tests.old_files.scripts import Telling, step
from proofs_tests.support.ledgers.durable import behind_its_back


@pytest.fixture
def url(postgresql_server: Server) -> Iterator[str]:
    """An empty database."""
    with postgresql_server.database() as url:
        yield url


@pytest.fixture
def old(url: str) -> dict[str, Any]:
    """The tables as they were made then, and filled."""
    content: dict[str, Any] = kept_json("postgresql")
    with behind_its_back(url) as connection:
        for statement in content["statements"]:
            connection.exec_driver_sql(statement)
        for (version,) in content["versions"]:
            connection.execute(sa.text("INSERT INTO exchequer_schema VALUES (:version)"), {"version": version})
        names = ("number", "kind", "line", "digest")
        rows = [dict(zip(names, row, strict=True)) for row in content["rows"]]
        connection.execute(sa.text("INSERT INTO exchequer_entries VALUES (:number, :kind, :line, :digest)"), rows)
    return content


def test_it_says_what_it_said_and_goes_on(url: str, old: dict[str, Any]) -> None:
    told = kept_json("ledgers.said")[old["script"]]
    with Ledger.open(url, expect_head=old["head"]) as ledger:
        assert_same(readouts.of_ledger(ledger), told["python"])
        assert readouts.exported(url) == told["export"]
        ledger.labelled("main").release(Telling(step(ledger), ledger.adjacency), ledger.protect(7))
        found = ledger.verify(expect_head=old["head"])
        assert not found.errors
        assert found.entries == len(old["rows"]) + 2
        assert [[e.number, e.kind, e.line, e.digest] for e in ledger.entries][:-2] == old["rows"]
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), behind_its_back(url) as connection:
        connection.exec_driver_sql("DELETE FROM exchequer_entries")


def test_the_same_charges_write_the_same_bytes(url: str) -> None:
    content = kept_json("postgresql")
    with write.play(content["script"], write.opens_at(url)) as ledger:
        found = [entry.line for entry in ledger.entries]
        for line, row in zip(found, content["rows"], strict=True):
            assert differing(line, row[2]) is None, row[0]
        assert_same(ledger.head, content["head"], digests=False)
