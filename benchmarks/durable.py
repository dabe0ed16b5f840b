"""What a durable charge costs beside a bare row in the same database, and 20 races for the last of a budget.

Charge, bare row, release, bare row, in turns: a disk's moods cancel out. The bare rows are as long as the entries and
go through an engine with the same settings, to a table of the same kind in another database of the same store; each is
one INSERT and one commit on a connection that is kept open.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import attrs
import sqlalchemy as sa

from accountant import Ledger, Plan, PureDP, ReplaceOne
from accountant.sql_store import SqlStore
from accountant.trail import Entry
from benchmarks.postgres import NoServer, Server
from benchmarks.races import PARTS, PROCESSES, THREADS, Part, Racers, opened, race_of_threads
from benchmarks.report import Line, Report

LIMIT = 2.0
RUNS = 20

CHEAP = PureDP(1e-9)

BARE = sa.Table(
    "bare",
    sa.MetaData(),
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("line", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)

Places = Callable[[], AbstractContextManager[str]]


@attrs.define
class Times:
    """Seconds that each operation took, in order."""

    charge: list[float] = attrs.field(factory=list)
    release: list[float] = attrs.field(factory=list)
    bare: list[float] = attrs.field(factory=list)


class BareRows:
    """Rows that nobody checks, numbers, links or reads."""

    def __init__(self, connection: sa.Connection, like: Entry) -> None:
        self._connection, self._like, self._number = connection, like, 0

    def add(self) -> None:
        """One row, on the disk."""
        self._number += 1
        row = {"number": self._number, "kind": self._like.kind, "line": self._like.line, "digest": self._like.digest}
        with self._connection.begin():
            self._connection.execute(BARE.insert(), row)


@contextlib.contextmanager
def bare_rows(url: str, like: Entry) -> Iterator[BareRows]:
    """In a database of their own, through an engine as the ledger's store makes it."""
    with contextlib.closing(SqlStore(url, "create")) as store, store._engine.connect() as connection:
        with connection.begin():
            BARE.create(connection)
        yield BareRows(connection, like)


def timed(do: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def measured(places: Places, repeats: int) -> Times:
    """Charges, releases and bare rows in turns."""
    times, plan, part = Times(), Plan.of(CHEAP), Part(cost=CHEAP)
    with places() as url, places() as other, opened(url) as ledger:
        data = ledger.protect(1)
        ledger.release(part, data)
        with bare_rows(other, ledger.entries[1]) as rows:
            for _ in range(repeats):
                times.charge.append(timed(lambda: ledger.reserve(plan, adjacency=ReplaceOne())))
                times.bare.append(timed(rows.add))
                times.release.append(timed(lambda: ledger.release(part, data)))
                times.bare.append(timed(rows.add))
        assert ledger.verify().sound
    return times


def costs(name: str, places: Places, repeats: int) -> list[Line]:
    """The two ratios of one store."""
    times = measured(places, repeats)
    charge, release, bare = (statistics.median(each) * 1e6 for each in (times.charge, times.release, times.bare))
    return [
        Line(
            f"{name}: a charge / a bare row",
            f"{charge / bare:.2f} ({charge:.0f} µs / {bare:.0f} µs)",
            f"≤ {LIMIT:.0f}",
            charge <= LIMIT * bare,
        ),
        Line(
            f"{name}: a release, which writes two entries / two bare rows",
            f"{release / (2 * bare):.2f} ({release:.0f} µs / {2 * bare:.0f} µs)",
            f"≤ {LIMIT:.0f}",
            release <= LIMIT * 2 * bare,
        ),
    ]


def raced(what: str, places: Places, race: Callable[[str], int], runs: int) -> Line:
    """So many races, each on new books; how many were exact, and how long they took."""
    won: list[int] = []
    started = time.perf_counter()
    for _ in range(runs):
        with places() as url:
            won.append(race(url))
            with Ledger.open(url) as ledger:
                sound = ledger.verify().sound
                kinds = [entry.kind for entry in ledger.entries]
        if not sound or kinds.count("charged") != won[-1]:
            won[-1] = -1
    exact = won.count(PARTS)
    others = "" if exact == runs else f", else {sorted(set(won) - {PARTS})}"
    found = f"exactly {PARTS} in {exact} of {runs} runs{others} ({time.perf_counter() - started:.0f} s)"
    return Line(what, found, f"{runs} of {runs}", exact == runs)


def with_ledgers(number: int) -> Callable[[str], int]:
    """A race of threads that share so many ledgers on the same books."""

    def race(url: str) -> int:
        with contextlib.ExitStack() as stack:
            return race_of_threads([stack.enter_context(opened(url)) for _ in range(number)])

    return race


def races(name: str, places: Places, racers: Racers, runs: int) -> list[Line]:
    """Processes, threads with one ledger, threads with one ledger each."""
    return [
        raced(f"{name}: {PROCESSES} processes", places, racers.race, runs),
        raced(f"{name}: {THREADS} threads, one ledger", places, with_ledgers(1), runs),
        raced(f"{name}: {THREADS} threads, a ledger each", places, with_ledgers(THREADS), runs),
    ]


def files_in(folder: str) -> Places:
    """New SQLite files."""
    numbers = iter(range(10**6))
    return lambda: contextlib.nullcontext(f"sqlite:///{Path(folder) / f'books{next(numbers)}.db'}")


def run(folder: str | None, quick: bool = False) -> Report:
    """The table. On PostgreSQL a server is started for it; where there is none, the table says so."""
    repeats, runs = (100, 2) if quick else (1_000, RUNS)
    lines: list[Line] = []
    with contextlib.ExitStack() as stack:
        stores: list[tuple[str, Places]] = [
            ("SQLite", files_in(stack.enter_context(tempfile.TemporaryDirectory(prefix="xq"))))
        ]
        try:
            stores.append(("PostgreSQL", stack.enter_context(Server()).database))
        except NoServer as error:
            lines.append(Line("PostgreSQL", f"not measured: {error}"))
        for name, places in stores:
            lines += costs(name, places, repeats)
        racers = stack.enter_context(Racers())
        for name, places in stores:
            lines += races(name, places, racers, runs)
    return Report(f"A durable charge beside a bare row, and races for {PARTS} parts of a budget", tuple(lines))
