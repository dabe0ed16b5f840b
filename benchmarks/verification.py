"""What `verify` costs per entry, at 100,000 entries and at a million, over hashing the same bytes.

The books are of 20 mechanisms and 5 accounts in a random order, two entries to a release. Verification, hashing entry
by entry (as the chain is made) and hashing all bytes as one stream take turns, 5,000 entries each, so that a
machine's moods cancel out; ratios are medians over these turns. Reading entries from a store is not counted.
"""

import hashlib
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs

from accountant import ApproxDP, Description, Entry, Ledger, MemoryStore, PureDP, ReplaceOne, ZCDPComposition
from accountant.audit import Audit
from accountant.trail import digest_of
from benchmarks.report import Line, Report
from mechanisms import Mechanism

TURN = 5_000
LIMIT = 10.0
GROWTH = 1.2


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
    """Seconds per turn."""

    verifying: tuple[float, ...]
    hashing: tuple[float, ...]
    streaming: tuple[float, ...]
    entries: int

    @property
    def each(self) -> float:
        """Microseconds per entry for verification."""
        return sum(self.verifying) / self.entries * 1e6

    def over(self, other: Sequence[float]) -> float:
        """Verification over something else."""
        return statistics.median(ours / theirs for ours, theirs in zip(self.verifying, other, strict=True))


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


def seconds(work: Callable[[], object]) -> float:
    """Of the processor: what else the machine does at the time is not counted."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(store: MemoryStore) -> Times:
    """One pass over the books, in turns."""
    audit, verifying, hashing, streaming = Audit(), list[float](), list[float](), list[float]()
    for some in turns(store.read()):
        before, data = audit.head, [(entry.digest + entry.line).encode() for entry in some]
        verifying.append(seconds(partial(audit.take, some)))
        hashing.append(seconds(partial(hash_each, some, before)))
        streaming.append(seconds(partial(hash_all, data)))
    assert audit.verification().sound
    return Times(tuple(verifying), tuple(hashing), tuple(streaming), len(store))


def turns(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """TURN entries at a time."""
    while some := list(itertools.islice(entries, TURN)):
        yield some


def lines(times: Times) -> Iterator[Line]:
    """What was measured at one size."""
    what, ratio = f"{times.entries} entries", times.over(times.hashing)
    yield Line(f"{what}, verification", f"{times.each:.2f} µs per entry")
    yield Line(f"{what}, over hashing each entry", f"{ratio:.1f}", f"≤ {LIMIT:.0f}", ratio <= LIMIT)
    yield Line(f"{what}, over hashing one stream", f"{times.over(times.streaming):.1f}")


def run(folder: str | None, quick: bool = False) -> Report:
    """The table."""
    sizes = (50_000, 200_000) if quick else (100_000, 1_000_000)
    small, large = (measure(books(size, 20)) for size in sizes)
    growth = large.over(large.hashing) / small.over(small.hashing)
    other = measure(books(sizes[0] // 2, sizes[0]))
    met = growth <= GROWTH
    slow = f"{other.each:.1f} µs per entry, {other.over(other.hashing):.0f} times hashing"
    return Report(
        "Verification of the books",
        (
            *lines(small),
            *lines(large),
            Line("the larger over the smaller, each over its hashing", f"{growth:.2f}", f"≤ {GROWTH} (linear)", met),
            Line(f"{other.entries} entries, no charge like another", slow),
        ),
    )
