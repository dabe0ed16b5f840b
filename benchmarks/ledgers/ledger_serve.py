"""The served page of a long ledger: how soon it is there, 50 requests at once, memory, and what one more charge takes.

The command runs in a process of its own and is asked over the loopback. The ledger is of 20 mechanisms, 5 accounts, 3
data sets and 4 users in a random order, two entries to a release, in SQLite. Half of the requests are for pages that
were asked for before, and half for filters of their own. Memory is what the server's process holds, before and after.
"""

import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from accountant import About, ApproxDP, Ledger, MemoryStore, ReplaceOne, ZCDPComposition
from benchmarks.ledgers.ledger_readers import ACCOUNTS, MECHANISMS, Query, stored
from benchmarks.runner import ROOT, Cell, Grid, Line, Measured, Part, Report, Setting, Table, at_most, seconds

AT_ONCE: Final = 50
PATIENCE: Final = 600.0
"""Seconds that the first page may take."""

UPDATES: Final = 10
"""Charges of which each must appear."""

MOST_GROWTH: Final = 8.0
"""MiB that are asked for: of the allocator's own, as what 2,000 pages would leave is a hundred times that."""

PAGES: Final = ("/", "/spent?by=dataset", "/spent?by=user&where.dataset=hospital", "/entries", "/verify.json")


@attrs.frozen
class Serving:
    """A server that runs. port: of the loopback.  process: its number."""

    port: int
    process: int

    def ask(self, target: str) -> tuple[int, str]:
        """The code and the text of one answer."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("GET", target)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    @property
    def memory(self) -> float:
        """What it holds now, in MiB. Linux only."""
        lines = Path(f"/proc/{self.process}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 2**10


def study(entries: int) -> MemoryStore:
    """About so many entries that say what they are about."""
    store, generator = MemoryStore(), random.Random(0)
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne(), store=store)
    data = ledger.protect(0)
    handles = [
        ledger.concerning(About(dataset=dataset, user=user, purpose="pilot"))
        for dataset in ("hospital", "school", "census")
        for user in ("ada", "bo", "cy", "di")
    ]
    for _ in range(entries // 2):
        account = f"team-{generator.randrange(ACCOUNTS)}/boost"
        generator.choice(handles).release(Query(generator.randrange(MECHANISMS)), data, account=account)
    return store


@contextmanager
def served(path: Path) -> Iterator[Serving]:
    """The command, as a shell starts it. Raises RuntimeError where it does not start."""
    command = [sys.executable, "-u", "-m", "exchequer", "ledger", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r":(\d+)/", said)
            if found is None:
                raise RuntimeError(said + process.stdout.read())
            yield Serving(int(found[1]), process.pid)
        finally:
            process.terminate()


def _until_there(server: Serving) -> None:
    """The first page that is no word on progress."""
    until = time.monotonic() + PATIENCE
    while server.ask("/")[0] != 200:
        if time.monotonic() > until:
            raise RuntimeError("no page came")
        time.sleep(0.05)


def _asked(server: Serving, targets: Sequence[str]) -> tuple[list[float], int]:
    """Seconds of each request, so many at once; and how many were not answered with a page."""

    def one(target: str) -> tuple[float, bool]:
        start = time.perf_counter()
        code, _ = server.ask(target)
        return time.perf_counter() - start, code != 200

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(one, targets))
    return [time_ for time_, _ in found], sum(failed for _, failed in found)


def _targets(requests: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    own = (
        f"/spent?by={by}&where.user={user}&from=2020-{month:02}-{day:02}"
        for by in ("dataset", "account", "mechanism", "day")
        for user in ("ada", "bo", "cy", "di")
        for month in range(1, 13)
        for day in range(1, 29)
    )
    ones = generator.sample(list(own), requests // 2)
    return [target for one in ones for target in (one, generator.choice(PAGES))]


def _updates(server: Serving, path: Path) -> list[float]:
    """Seconds from one more charge until the report has its head."""
    found = []
    with Ledger.open(f"sqlite:///{path}") as ledger:
        data = ledger.protect(0)
        for _ in range(UPDATES):
            ledger.release(Query(1), data, account="team-0/boost")
            head = ledger.head
            found.append(seconds(partial(_until_head, server, head)))
    return found


def _until_head(server: Serving, head: str) -> None:
    while json.loads(server.ask("/verify.json")[1])["head"] != head:
        time.sleep(0.01)
    assert head in server.ask("/")[1]


def measure(entries: int, requests: int, folder: Path) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds of what has some, and numbers."""
    path = folder / f"{entries}.db"
    stored(study(entries), path)
    start = time.perf_counter()
    with served(path) as server:
        _until_there(server)
        times = {"first page": [time.perf_counter() - start]}
        _asked(server, _targets(requests, 0))  # whatever is loaded once is loaded now
        before = server.memory
        latencies, failed = _asked(server, _targets(requests, 1))
        after = server.memory
        again, failed_again = _asked(server, [PAGES[number % len(PAGES)] for number in range(requests)])
        times["request, of filters of its own every second one"] = latencies
        times["request, of pages that are kept"] = again
        later = server.memory
        times["until one more charge is on the page"] = _updates(server, path)
        numbers = {
            "memory before": before,
            "memory after": after,
            "growth": after - before,
            "growth in twice as many": later - before,
            "not answered": float(failed + failed_again),
        }
    path.unlink()
    return times, numbers


def pages(entries: int, requests: int, judged: bool) -> list[Table]:
    """One ledger, served."""
    with tempfile.TemporaryDirectory() as folder:
        times, numbers = measure(entries, requests, Path(folder))
    lines: list[Line] = [
        at_most("requests that were not answered", Measured(numbers["not answered"], form=".0f"), 0.0),
        at_most(
            f"growth of memory over {requests:,} requests, {AT_ONCE} at once",
            Measured(numbers["growth"], unit="MiB", form=".1f"),
            MOST_GROWTH,
            judged=judged,
        ),
        Line("growth with as many more", Measured(numbers["growth in twice as many"], unit="MiB", form=".1f")),
        Line("memory of the server before", Measured(numbers["memory before"], unit="MiB", form=".0f")),
        Line("memory of the server after", Measured(numbers["memory after"], unit="MiB", form=".0f")),
    ]
    rows: list[tuple[Cell, ...]] = [(name, *_percentiles(found)) for name, found in times.items()]
    head = ("", "median", "95th percentile", "largest")
    return [
        Report(f"The served page of {entries:,} entries", lines),
        Grid("Seconds", head, tuple(rows)),
    ]


def _percentiles(found: Sequence[float]) -> tuple[Cell, ...]:
    ordered = sorted(found)
    places = (len(ordered) // 2, min(int(0.95 * len(ordered)), len(ordered) - 1), len(ordered) - 1)
    return tuple(Measured(ordered[place], unit="s", form=".3g") for place in places)


def parts(setting: Setting) -> list[Part]:
    """One server."""
    entries, requests = (2_000, 60) if setting.quick else (1_000_000, 2_000)
    work = partial(pages, entries, requests, not setting.quick)
    return [Part("pages", work, 15.0 if setting.quick else 150.0)]
