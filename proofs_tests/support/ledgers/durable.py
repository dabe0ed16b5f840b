"""Durable ledgers for tests: where they live, how they are opened, and what is asked of their books."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import pytest
import sqlalchemy as sa

from accountant import (
    BasicComposition,
    Cost,
    Description,
    Entry,
    Ledger,
    PureDP,
    ReplaceOne,
)
from accountant.audit.verification import verify
from accountant.storage.sql_store import SqlStore
from benchmarks.ledgers.postgres import Server

BUDGET: Final = PureDP(1.0)

CHEAP: Final = PureDP(2.0**-40)
PLAIN: Final = Description("Telling", "constant", (), "none", 0.0, None, "none", False, ())

SIXTEENTH: Final = PureDP(1 / 16)

Places: TypeAlias = Callable[[], AbstractContextManager[str]]
"""Gives the URL of a new place for a ledger, as often as it is called."""


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in the machine's memory where there is one, else on its disk.

    Locks are the same there, and what a killed process had written stays as well. Only a power failure would tell
    the difference, and no test makes one; while on a slow disk a thousand commits take half a minute.
    """
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK | os.X_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="xq", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, quick_folder: Path) -> Places:
    """New places, in SQLite files or in databases of a real PostgreSQL server."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgresql_server")
        return server.database
    return files_in(quick_folder)


def files_in(folder: Path) -> Places:
    """New SQLite files."""
    numbers = iter(range(10**6))
    return lambda: contextlib.nullcontext(f"sqlite:///{folder}/books{next(numbers)}.db")


@pytest.fixture
def url(places: Places) -> Iterator[str]:
    """One new place."""
    with places() as place:
        yield place


@pytest.fixture
def spent(url: str) -> str:
    """Books with three releases in them."""
    with opened(url) as ledger:
        spend(ledger, 3)
    return url


@pytest.fixture(scope="session")
def nursery() -> Iterator[ProcessPoolExecutor]:
    """A process with one thread, for work that forks."""
    with ProcessPoolExecutor(1, get_context("spawn"), _warm) as pool:
        yield pool


def _warm() -> None:
    """Have imported what a first ledger would import: each fork saves as long."""
    for backend in ("sqlite://", "postgresql+psycopg://"):
        with contextlib.suppress(ModuleNotFoundError):
            sa.create_engine(backend)


@attrs.frozen
class Telling:
    """Releases a constant. sampling: what to do while it is drawn.  checking: what to do before the charge."""

    cost: Cost = CHEAP
    adjacency: ReplaceOne = attrs.field(factory=ReplaceOne)
    description: Description = PLAIN
    sampling: Callable[[], object] = int
    checking: Callable[[], object] = int

    def check(self, data: int) -> None:
        """Before the charge."""
        self.checking()

    def sample(self, data: int) -> int:
        """After the charge."""
        self.sampling()
        return data


def opened(url: str) -> Ledger:
    """The ledger at this place, made if there is none: pure DP, basic composition, replace-one."""
    return Ledger.open(url, BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())


def written(url: str, start: int = 0) -> list[Entry]:
    """The entries as they stand in the store, from number `start` on."""
    with contextlib.closing(SqlStore(url)) as store:
        return list(store.read(start))


def sound(url: str) -> list[Entry]:
    """The entries of books that hold together and can be reopened as they are.

    Of more than `CHECKPOINT_EVERY` entries the next who opens them writes a checkpoint, and nothing else.
    """
    entries = written(url)
    assert [entry.number for entry in entries] == list(range(len(entries)))
    assert verify(entries).errors == ()
    with opened(url) as ledger:
        after = written(url, len(entries))
        assert [entry.record["kind"] for entry in after] in ([], ["checkpoint"])
        assert ledger.head == [*entries, *after][-1].digest
    return entries


def spend(ledger: Ledger, times: int = 1) -> None:
    """A release, so often: each costs a sixteenth of the budget of `opened`."""
    for _ in range(times):
        assert ledger.release(Telling(cost=SIXTEENTH), ledger.protect(7)) == 7


@contextlib.contextmanager
def behind_its_back(url: str, *, disarmed: bool = False) -> Iterator[sa.Connection]:
    """A connection that knows nothing of ledgers; what it does is committed.

    disarmed: by somebody who owns the tables, and drops what guards them first.
    """
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        if disarmed:
            disarm(connection)
        yield connection


def disarm(connection: sa.Connection) -> None:
    """Take away what makes the tables append-only."""
    if connection.dialect.name == "postgresql":
        for table in ("exchequer_entries", "exchequer_schema"):
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        return
    for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").all():
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
