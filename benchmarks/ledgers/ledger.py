"""What a release costs over its sampling, by the rule of composition and the number of entries, and on a database.

In memory: the sampler does nothing, so all of the time is the ledger's: checks, exact addition, two entries, and their
digests, which are asked for at the end of each batch. Beside it stands what writing those entries takes at the least:
canonical JSON of the two records and SHA-256 of the lines, by an encoder that is made once.
"""

import contextlib
import gc
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.entries import GENESIS, Entry
from benchmarks.ledgers import ledger_durable, ledger_verification
from benchmarks.ledgers.free_mechanism import Nothing
from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Table,
    at_most,
    in_turns,
)

BATCH: Final = 1_000
RELEASES_PER_TURN: Final = 50
"""Releases of a turn."""

LIMIT: Final = 20.0  # µs
FLAT: Final = 1.2

RULES: Final[tuple[tuple[Composition, Budget], ...]] = (
    (BasicComposition(), PureDP(1.0)),
    (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(1.0, 1e-5)),
)


def batch(ledger: Ledger, releases: int = BATCH) -> list[float]:
    """Seconds of each of so many releases, and at the end of asking for their digests."""
    mechanism, data, clock = Nothing(), ledger.protect(0), time.perf_counter
    found = []
    for _ in range(releases):
        start = clock()
        ledger.release(mechanism, data)
        found.append(clock() - start)
    start = clock()
    assert ledger.head
    return [*found, clock() - start]


def opened(rule: Composition, budget: Budget) -> Ledger:
    """A ledger without charges."""
    return Ledger(budget, composition=rule, adjacency=ReplaceOne())


def entries_of_a_turn(rule: Composition, budget: Budget) -> list[Entry]:
    """What RELEASES_PER_TURN releases write."""
    ledger = opened(rule, budget)
    batch(ledger, RELEASES_PER_TURN)
    return list(ledger.entries)[1:]


def encode_and_hash(records: Sequence[dict[str, object]]) -> str:
    """The least that writing them takes: canonical JSON, and digests that form a chain."""
    encode, before = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode, GENESIS
    for record in records:
        before = hashlib.sha256((before + encode(record)).encode("ascii")).hexdigest()
    return before


def hash_lines(lines: Sequence[str]) -> str:
    """The chain alone, over lines that are there."""
    before = GENESIS
    for line in lines:
        before = hashlib.sha256((before + line).encode("ascii")).hexdigest()
    return before


@attrs.frozen
class Turns:
    """Microseconds per release at one number of entries, in turns; a figure a turn.

    ours: on books of that size.  empty: on new ones.  bound: encoding and hashing the same entries.  hashing: alone.
    """

    ours: list[float]
    empty: list[float]
    bound: list[float]
    hashing: list[float]

    def over(self, other: Sequence[float]) -> Measured:
        """Ours over something else of the same turn."""
        return Measured.median((a / b for a, b in zip(self.ours, other, strict=True)), unit="×", form=".2f")


def turns(ledger: Ledger, rule: Composition, budget: Budget, repeats: int) -> Turns:
    """On this ledger, which so grows by 2·RELEASES_PER_TURN entries a turn, and on new ones with one release each."""
    entries = entries_of_a_turn(rule, budget)
    records, lines = [entry.record for entry in entries], [entry.line for entry in entries]
    fresh = [opened(rule, budget) for _ in range(repeats + 1)]
    for new in fresh:
        batch(new, 1)
    waiting = iter(fresh)
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: batch(ledger, RELEASES_PER_TURN),
        "empty": lambda: batch(next(waiting), RELEASES_PER_TURN),
        "bound": lambda: encode_and_hash(records),
        "hashing": lambda: hash_lines(lines),
    }
    times = in_turns(works, repeats)
    return Turns(**{name: [each / RELEASES_PER_TURN * 1e6 for each in taken] for name, taken in times.items()})


@attrs.frozen
class Filled:
    """A ledger on its way to many entries.

    releases: microseconds of each release, digests apart.  batches: per release, digests included, a figure a batch.
    at: turns at each size.
    """

    releases: list[float]
    batches: list[float]
    at: dict[int, Turns]


def filled(rule: Composition, budget: Budget, sizes: Sequence[int], repeats: int) -> Filled:
    """Up to so many entries, with turns at each size. sizes: rising, even."""
    ledger, found, written = opened(rule, budget), Filled([], [], {}), 0
    for size in sizes:
        while written < size:
            releases = min(BATCH, (size - written) // 2)
            seconds = batch(ledger, releases)
            found.releases.extend(1e6 * each for each in seconds[:-1])
            found.batches.append(sum(seconds) / releases * 1e6)
            written += 2 * releases
        found.at[size] = turns(ledger, rule, budget, repeats)
        written += 2 * RELEASES_PER_TURN * (repeats + 1)
    return found


def release_lines(rule: Composition, found: Filled, judged: bool) -> list[Line]:
    """One rule's lines."""
    size, last = list(found.at.items())[-1]
    tenth = max(1, len(found.batches) // 10)
    tenths = [statistics.median(found.batches[i : i + tenth]) for i in range(0, len(found.batches), tenth)]
    rare = float(np.quantile(found.releases, 0.99))
    return [
        Line(f"{rule.name}: median", Measured.median(found.releases, unit="µs", form=".1f")),
        Line(f"{rule.name}: 99th percentile", Measured(rare, unit="µs", form=".1f")),
        Line(f"{rule.name}: digests included", Measured.median(found.batches, unit="µs", form=".1f")),
        at_most(
            f"{rule.name}: digests included, the slowest tenth of the way",
            Measured(max(tenths), unit="µs", form=".1f"),
            LIMIT,
            judged=judged,
        ),
        Line(
            f"{rule.name}: throughput, digests included",
            Measured(1e6 / statistics.fmean(found.batches), unit="releases/s", form=",.0f"),
        ),
        Line(f"{rule.name}: over encoding and hashing its two entries", last.over(last.bound)),
        Line(f"{rule.name}: over hashing its two lines alone", last.over(last.hashing)),
        at_most(f"{rule.name}: on {size:,} entries over on none", last.over(last.empty), FLAT, judged=judged),
    ]


@contextlib.contextmanager
def garbage_of_ours_only() -> Iterator[None]:
    """Inside the block the collector looks at what is made inside: a look at all imports takes 0.2 s, now and then."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def in_memory(sizes: Sequence[int], repeats: int, judged: bool) -> list[Table]:
    """All rules up to the largest size: what was asked, and the growth as a picture."""
    with garbage_of_ours_only():
        found = [(rule, filled(rule, budget, sizes, repeats)) for rule, budget in RULES]
    lines = [line for rule, ledger in found for line in release_lines(rule, ledger, judged)]
    rows: list[tuple[Cell, ...]] = [
        (f"a release, {rule.name}", *(_per_release(turn.ours) for turn in ledger.at.values())) for rule, ledger in found
    ]
    turns_at = [[ledger.at[size] for _, ledger in found] for size in sizes]
    bounds = [_per_release([each for turn in some for each in turn.bound]) for some in turns_at]
    hashing = [_per_release([each for turn in some for each in turn.hashing]) for some in turns_at]
    rows += [("JSON and SHA-256 of its entries", *bounds), ("SHA-256 of its lines alone", *hashing)]
    head = ("", *(f"entries={size:,}" for size in sizes))
    return [
        Report(f"A release through the ledger in memory, over its sampling, up to {sizes[-1]:,} entries", lines),
        Grid(f"A release in memory against the entries in the books, medians of {repeats} turns", head, tuple(rows)),
    ]


def _per_release(times: Sequence[float]) -> Measured:
    return Measured.median(times, unit="µs", form=".1f")


def parts(setting: Setting) -> list[Part]:
    """In memory, on databases, verification."""
    sizes = (1_000, 10_000) if setting.quick else (1_000, 10_000, 100_000, 1_000_000)
    repeats = 11 if setting.quick else 41
    return [
        Part(
            "releases in memory",
            partial(in_memory, sizes, repeats, not setting.quick),
            1.5 if setting.quick else 50.0,
        ),
        *ledger_durable.parts(setting),
        *ledger_verification.parts(setting),
    ]
