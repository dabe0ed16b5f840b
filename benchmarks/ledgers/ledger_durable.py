"""What a durable charge costs beside a bare row in the same database, and races for the last of a budget.

Charge, bare row, release, bare row, in turns: a disk's moods cancel out. The bare rows are as long as the entries and
go through an engine with the same settings, to a table of the same kind in another database of the same store; each is
one INSERT and one commit on a connection that is kept open.
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import numpy as np
import sqlalchemy as sa

from accountant import Ledger, Plan, PureDP, ReplaceOne
from accountant.entries import Entry
from accountant.storage import SqlStore
from benchmarks.ledgers.postgres import NoServer, Server
from benchmarks.ledgers.races import (
    PARTS,
    PROCESSES,
    THREADS,
    Part,
    Racers,
    opened,
    race_of_threads,
)
from benchmarks.runner import Line, Measured, Missing, Report, at_least, at_most, seconds, suite

LIMIT: Final = 2.0

CHEAP: Final = PureDP(1e-9)

BARE: Final = sa.Table(
    "bare",
    sa.MetaData(),
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("line", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)

Places = Callable[[], AbstractContextManager[str]]
"""New empty books, by their URL."""


@attrs.define
class Times:
    """Seconds that each operation took, in order. beside: the bare row after the charge.  after: that after the
    release."""

    charge: list[float] = attrs.field(factory=list)
    beside: list[float] = attrs.field(factory=list)
    release: list[float] = attrs.field(factory=list)
    after: list[float] = attrs.field(factory=list)

    @property
    def over_a_row(self) -> Measured:
        """A charge over the bare row of its turn."""
        return _ratio(self.charge, self.beside)

    @property
    def over_two_rows(self) -> Measured:
        """A release, which writes two entries, over twice the bare row of its turn."""
        return _ratio(self.release, [2.0 * each for each in self.after])


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> Measured:
    return Measured.median((a / b for a, b in zip(ours, theirs, strict=True)), unit="×", form=".2f")


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


def measured(places: Places, repeats: int) -> Times:
    """Charges, releases and bare rows in turns."""
    times, plan, part = Times(), Plan.of(CHEAP), Part(cost=CHEAP)
    with places() as url, places() as other, opened(url) as ledger:
        data = ledger.protect(1)
        ledger.release(part, data)
        with bare_rows(other, ledger.entries[1]) as rows:
            for _ in range(repeats):
                times.charge.append(seconds(lambda: ledger.reserve(plan, adjacency=ReplaceOne())))
                times.beside.append(seconds(rows.add))
                times.release.append(seconds(lambda: ledger.release(part, data)))
                times.after.append(seconds(rows.add))
        assert ledger.verify().sound
    return times


def costs(name: str, places: Places, repeats: int, judged: bool) -> Report:
    """Medians, rare ones, and the two ratios of one store."""
    times = measured(places, repeats)
    lines = []
    for what, taken in (("a charge", times.charge), ("a release", times.release), ("a bare row", times.beside)):
        micro = [1e6 * each for each in taken]
        lines += [
            Line(f"{what}: median", Measured.median(micro, unit="µs", form=".0f")),
            Line(f"{what}: 99th percentile", Measured(float(np.quantile(micro, 0.99)), unit="µs", form=".0f")),
        ]
    lines += [
        at_most("a charge over a bare row", times.over_a_row, LIMIT, judged=judged),
        at_most("a release, which writes two entries, over two bare rows", times.over_two_rows, LIMIT, judged=judged),
    ]
    return Report(f"A durable charge beside a bare row on {name}, {repeats:,} of each in turns", lines)


def lines_of(places: Places, race: Callable[[str], int], runs: int) -> list[Line]:
    """So many races, each on new books; how many were exact, and how long one took."""
    won, taken = list[int](), list[float]()
    for _ in range(runs):
        with places() as url:
            taken.append(seconds(lambda url=url: won.append(race(url))))  # type: ignore[misc]  # mypy infers no default of a lambda
            with Ledger.open(url) as ledger:
                sound = ledger.verify().sound
                kinds = [entry.kind for entry in ledger.entries]
        if not sound or kinds.count("charged") != won[-1]:
            won[-1] = -1
    exact = Measured(won.count(PARTS), unit=f"of {runs} races", form=".0f")
    return [
        at_least(f"exactly {PARTS} charges, and sound books", exact, runs),
        Line("one race", Measured.median(taken, unit="s", form=".2f")),
    ]


def with_ledgers(number: int) -> Callable[[str], int]:
    """A race of threads that share so many ledgers on the same books."""

    def race(url: str) -> int:
        with contextlib.ExitStack() as stack:
            return race_of_threads([stack.enter_context(opened(url)) for _ in range(number)])

    return race


PROCESSES_RACE: Final = f"{PROCESSES} processes"
RACES: Final = {PROCESSES_RACE: 0, f"{THREADS} threads, one ledger": 1, f"{THREADS} threads, a ledger each": THREADS}
"""Who races, with how many ledgers of this process."""


def races(name: str, places: Places, who: str, runs: int) -> Report:
    """One of RACES on one store."""
    if who == PROCESSES_RACE:
        with Racers() as racers:
            lines = lines_of(places, racers.race, runs)
    else:
        lines = lines_of(places, with_ledgers(RACES[who]), runs)
    return Report(f"Races for {PARTS} parts of a budget on {name}: {who}", lines)


@contextlib.contextmanager
def sqlite() -> Iterator[Places]:
    """New SQLite files."""
    numbers = iter(range(10**6))
    with tempfile.TemporaryDirectory(prefix="xq") as folder:
        yield lambda: contextlib.nullcontext(f"sqlite:///{Path(folder) / f'books{next(numbers)}.db'}")


@contextlib.contextmanager
def postgresql() -> Iterator[Places]:
    """New databases of a server that is started for them. Raises Missing where there is none to start."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(Server())
        except NoServer as error:
            raise Missing(str(error)) from error
        yield server.database


STORES: Final = {"SQLite": sqlite, "PostgreSQL": postgresql}
QUICK: Final = ("SQLite", list(RACES)[-1])
"""The race of a quick run: each is some two thousand commits, and tests have the others."""


def with_store(name: str, measure: Callable[[str, Places], Report]) -> list[Report]:
    """A measurement on a store that is there for it alone."""
    with STORES[name]() as places:
        return [measure(name, places)]


def parts(setting: suite.Setting) -> list[suite.Part]:
    """Costs, then races, on each store."""
    quick = setting.quick
    repeats, runs = (20, 1) if quick else (1_000, 6)
    cost = partial(costs, repeats=repeats, judged=not quick)
    wanted = [QUICK] if quick else [(name, who) for name in STORES for who in RACES]
    return [
        *(suite.Part(f"a charge on {name}", partial(with_store, name, cost), 2.0 if quick else 8.0) for name in STORES),
        *(
            suite.Part(
                f"{name}: a race of {who}",
                partial(with_store, name, partial(races, who=who, runs=runs)),
                3.0 if quick else 60.0,
            )
            for name, who in wanted
        ),
    ]
