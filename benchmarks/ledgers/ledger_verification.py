"""What `verify` costs per entry, on small books and on large ones, over hashing the same bytes.

The books are of 20 mechanisms and 5 accounts in a random order, two entries to a release. Verification, hashing entry
by entry (as the chain is made) and hashing all bytes as one stream take turns, 5,000 entries each, so that a
machine's moods cancel out; ratios are medians over these turns. Reading entries from a store is not counted.
"""

import hashlib
import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import attrs

from accountant import (
    ApproxDP,
    Description,
    Entry,
    Ledger,
    MemoryStore,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit import Verifier
from accountant.entries import digest_of
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
)
from mechanisms import Mechanism

TURN: Final = 5_000
LIMIT: Final = 10.0
GROWTH: Final = 1.2


@attrs.frozen(slots=False)
class Split(Mechanism[int, int]):
    """Samples nothing, at a price, and says as much about it as a learner's mechanism does."""

    number: int
    adjacency = ReplaceOne()
    cost = PureDP(1e-9)

    @property
    def description(self) -> Description:
        scale = (("eta", 0.125 + self.number), ("features", 14))
        return Description(
            "WeightedExponential", "one-rule errors", scale, "linf", 0.01, 0.005, "secure", True, ("L2", "wem")
        )

    def sample(self, data: int) -> int:
        return data


@attrs.frozen
class Times:
    """Microseconds per entry, a figure a turn; `entries` in all."""

    verifying: tuple[float, ...]
    hashing: tuple[float, ...]
    streaming: tuple[float, ...]
    entries: int

    def over(self, other: Sequence[float]) -> Measured:
        """Verification over something else of the same turn."""
        return Measured.median((a / b for a, b in zip(self.verifying, other, strict=True)), unit="×", form=".1f")


def books(entries: int, mechanisms: int) -> MemoryStore:
    """Sound books with so many mechanisms. A release writes two entries, and one opens them."""
    store, generator = MemoryStore(), random.Random(0)
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne(), store=store)
    data, splits = ledger.protect(0), [Split(number) for number in range(mechanisms)]
    for _ in range(entries // 2):
        ledger.release(generator.choice(splits), data, account=f"team-{generator.randrange(5)}/boost")
    return store


def hash_each(entries: Sequence[Entry], before: str) -> str:
    """As the chain is made: one digest per entry, over its line and the digest before it."""
    for entry in entries:
        before = digest_of(before, entry.line)
    return before


def hash_all(entries: Sequence[bytes]) -> str:
    """The same bytes as one stream."""
    stream = hashlib.sha256()
    for entry in entries:
        stream.update(entry)
    return stream.hexdigest()


def microseconds(work: Callable[[], object], entries: int) -> float:
    """Of the processor, per entry: what else the machine does at the time is not counted."""
    start = time.process_time()
    work()
    return (time.process_time() - start) / entries * 1e6


def measure(store: MemoryStore) -> Times:
    """One pass over the books, in turns."""
    audit, verifying, hashing, streaming = Verifier(), list[float](), list[float](), list[float]()
    for some in turns(store.read()):
        before, data = audit.head, [(entry.digest + entry.line).encode() for entry in some]
        verifying.append(microseconds(partial(audit.take, some), len(some)))
        hashing.append(microseconds(partial(hash_each, some, before), len(some)))
        streaming.append(microseconds(partial(hash_all, data), len(some)))
    assert audit.verification().sound
    return Times(tuple(verifying), tuple(hashing), tuple(streaming), len(store))


def turns(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """TURN entries at a time; a rest of less than half a turn, whose times would say little, goes with the last."""
    waiting: list[Entry] = []
    while some := list(itertools.islice(entries, TURN)):
        if len(some) < TURN // 2:
            waiting += some
            break
        if waiting:
            yield waiting
        waiting = some
    if waiting:
        yield waiting


def verification(sizes: tuple[int, int], judged: bool) -> list[Table]:
    """Books of two sizes; and of the smaller one, half of it, with no charge like another."""
    measured = [measure(books(size, 20)) for size in sizes]
    other = measure(books(sizes[0] // 2, sizes[0]))
    lines = [
        at_most(f"{size:,} entries: over hashing each", times.over(times.hashing), LIMIT, judged=judged)
        for size, times in zip(sizes, measured, strict=True)
    ]
    small, large = (times.over(times.hashing).value for times in measured)
    growth = Measured(large / small, unit="×", form=".2f")
    lines += [
        at_most("the larger over the smaller, each over its hashing", growth, GROWTH, judged=judged),
        Line(f"{sizes[0] // 2:,} entries, no charge like another: over hashing each", other.over(other.hashing)),
        Line(f"{sizes[0] // 2:,} entries, no charge like another", _per_entry(other.verifying)),
    ]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("verification", *(_per_entry(times.verifying) for times in measured)),
        ("SHA-256, entry by entry", *(_per_entry(times.hashing) for times in measured)),
        ("SHA-256, one stream", *(_per_entry(times.streaming) for times in measured)),
    )
    head = ("", *(f"entries={size:,}" for size in sizes))
    return [
        Report("Verification of the books over hashing them", lines),
        Grid("Verification and hashing per entry, against the number of entries", head, rows),
    ]


def _per_entry(times: Sequence[float]) -> Measured:
    return Measured.median(times, unit="µs", form=".2f")


def parts(setting: Setting) -> list[Part]:
    """One: its growth compares two sizes."""
    sizes = (10_000, 30_000) if setting.quick else (100_000, 1_000_000)
    return [Part("verification", partial(verification, sizes, not setting.quick), 2.0 if setting.quick else 50.0)]
