"""What readers of a long ledger take: opening, showing, the report, statements, and verifying all of it or what is new.

The ledger is of 20 mechanisms and 5 accounts in a random order, two entries to a release, in SQLite. Opening it the
first time leaves a checkpoint; 100 entries later a head is kept, and 1,000 more follow. The commands are timed as a
shell sees them, from the start of Python on, all else within a process. Beside it: ledgers where no charge is like
another, in seconds of the processor.
"""

import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from accountant import ApproxDP, Description, Ledger, MemoryStore, PureDP, ReplaceOne, ZCDPComposition
from accountant.audit import verify
from accountant.storage import SqlStore
from benchmarks.ledgers.ledger_verification import microseconds
from benchmarks.runner import (
    ROOT,
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Table,
    at_most,
    seconds,
)
from mechanisms import Mechanism

ACCOUNTS: Final = 5
MECHANISMS: Final = 20
KEPT, NEW = 50, 500
"""Releases after the checkpoint until a head is kept, and after that."""

REPEATS: Final = 5
CAVEATS: Final = (0, 3)
"""Exit codes of a ledger that adds up."""

LIMITS: Final = {
    "open, from a checkpoint": 0.2,
    "ledger show": 1.0,
    "ledger report": 20.0,
    "statement after one more charge": 0.005,
    "verify what is new, 1,000 entries": 0.2,
}
"""Seconds that are asked for."""

ALIKE: Final = 25.0
"""Microseconds an entry that are asked for where no two charges are alike."""


@attrs.frozen(slots=False)
class Query(Mechanism[int, int]):
    """Samples nothing, at a price, and says as much about it as a learner's mechanism does."""

    number: int
    epsilon: float = 1e-9
    adjacency = ReplaceOne()

    @property
    def cost(self) -> PureDP:
        return PureDP(self.epsilon)

    @property
    def description(self) -> Description:
        scale = (("eta", 0.125 + self.number), ("features", 14))
        return Description(
            "WeightedExponential", "one-rule errors", scale, "linf", 0.01, 0.005, "secure (exact)", True, ("basic",)
        )

    def sample(self, data: int) -> int:
        return data


def books(entries: int, mechanism: Callable[[random.Random, int], Query]) -> MemoryStore:
    """About so many entries. mechanism: of release number i."""
    store, generator = MemoryStore(), random.Random(0)
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne(), store=store)
    data = ledger.protect(0)
    for number in range(entries // 2):
        ledger.release(mechanism(generator, number), data, account=f"team-{generator.randrange(ACCOUNTS)}/boost")
    return store


def _usual(generator: random.Random, _: int) -> Query:
    return Query(generator.randrange(MECHANISMS))


def _all_different(_: random.Random, number: int) -> Query:
    return Query(number)


def _all_of_other_costs(_: random.Random, number: int) -> Query:
    return Query(number, 1e-9 + 1e-15 * number)


def stored(store: MemoryStore, path: Path) -> str:
    """The same entries in a file, and its URL. Through a ledger it would take a commit each."""
    url = f"sqlite:///{path}"
    SqlStore(url, "create").close()
    rows = ((entry.number, entry.kind, entry.line, entry.digest) for entry in store.read())
    connection = sqlite3.connect(path)
    with connection:
        connection.executemany("INSERT INTO exchequer_entries (number, kind, line, digest) VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return url


def _repeated(work: Callable[[], object], repeats: int) -> list[float]:
    return [seconds(work) for _ in range(repeats)]


def _opened(url: str) -> None:
    Ledger.open(url).close()


def _command(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "exchequer", *words], cwd=ROOT, capture_output=True, check=False)
    if done.returncode not in CAVEATS:
        raise RuntimeError(done.stderr.decode()[-500:] or done.stdout.decode()[-500:])


def _verified(url: str) -> None:
    store = SqlStore(url, "read")
    assert verify(store.read()).sound
    store.close()


def _spend(ledger: Ledger, releases: int) -> None:
    generator, data = random.Random(1), ledger.protect(0)
    for _ in range(releases):
        ledger.release(Query(generator.randrange(MECHANISMS)), data, account="team-0/boost")


def measure(entries: int, folder: Path, repeats: int) -> dict[str, list[float]]:
    """Seconds that each reader takes."""
    # Within the function, as nothing but this benchmark needs the command line's modules.
    from accountant.audit import verify_since
    from exchequer.commands.ledgers.open_ledger import reading

    path = folder / f"{entries}.db"
    url = stored(books(entries, _usual), path)
    found = {"first open": [seconds(partial(_opened, url))]}
    with Ledger.open(url) as ledger:
        _spend(ledger, KEPT)
        kept = ledger.head
        found["first statement"] = [seconds(ledger.statement)]
        found["statement after one more charge"] = []
        for _ in range(NEW):
            _spend(ledger, 1)
            found["statement after one more charge"].append(seconds(ledger.statement))

    def new_part() -> None:
        with reading(str(path)) as there:
            part = verify_since(there, kept)
        assert part.verification.sound
        assert part.new == 2 * NEW

    found["open, from a checkpoint"] = _repeated(partial(_opened, url), repeats)
    found["ledger show"] = _repeated(partial(_command, "ledger", "show", str(path)), repeats)
    found["ledger show --whole"] = _repeated(partial(_command, "ledger", "show", str(path), "--whole"), 1)
    out = str(folder / "report.html")
    found["ledger report"] = _repeated(partial(_command, "ledger", "report", str(path), "--out", out, "--force"), 1)
    found["verify"] = _repeated(partial(_verified, url), 1)
    found["verify what is new, 1,000 entries"] = _repeated(new_part, repeats)
    path.unlink()
    return found


def different(entries: int, mechanism: Callable[[random.Random, int], Query], repeats: int) -> Measured:
    """Microseconds of the processor an entry of verification where no charge is like another."""
    found = list(books(entries, mechanism).read())
    times = [microseconds(partial(verify, found), len(found)) for _ in range(repeats)]
    return Measured.median(times, unit="µs", form=".1f")


def readers(sizes: tuple[int, int], judged: bool) -> list[Table]:
    """Ledgers of two sizes."""
    repeats = REPEATS if judged else 1
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(size, Path(folder), repeats) for size in sizes]
    largest = {name: Measured.median(times, unit="s", form=".3g") for name, times in measured[-1].items()}
    lines: list[Line] = [
        at_most(f"{sizes[-1]:,} entries: {name}", largest[name], limit, judged=judged) for name, limit in LIMITS.items()
    ]
    alone = different(sizes[0], _all_different, repeats)
    lines.append(at_most("verify, an entry, where no charge is like another", alone, ALIKE, judged=judged))
    lines.append(Line("verify, an entry, where no cost is, either", different(sizes[0], _all_of_other_costs, repeats)))
    rows: list[tuple[Cell, ...]] = [
        (name, *(Measured.median(times[name], unit="s", form=".3g") for times in measured)) for name in measured[0]
    ]
    head = ("", *(f"entries={size:,}" for size in sizes))
    return [
        Report("Readers of a long ledger", lines),
        Grid("Seconds of each reader, against the number of entries", head, tuple(rows)),
    ]


def parts(setting: Setting) -> list[Part]:
    """One: it compares two sizes."""
    sizes = (2_000, 6_000) if setting.quick else (100_000, 1_000_000)
    return [Part("readers", partial(readers, sizes, not setting.quick), 15.0 if setting.quick else 150.0)]
