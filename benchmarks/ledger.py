"""What `Ledger.release` costs over the sampling itself, from the 1st to the 1,000,000th entry, in memory.

The sampler does nothing, so all of the time is the ledger's: checks, exact addition, two entries, and their
digests, for which each batch of 1,000 releases asks at its end. The median batch of each tenth is shown.
"""

import statistics
import time

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Description,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from benchmarks.report import Line, Report
from mechanisms import Mechanism

BATCH = 1_000
LIMIT = 20.0  # µs


class Nothing(Mechanism[int, int]):
    """Samples a constant, at a price."""

    description = Description("Nothing", "constant", (), "range", 0.0, None, "none", False, ())
    adjacency = ReplaceOne()
    cost = PureDP(1e-9)

    def sample(self, data: int) -> int:
        return data


def batch(ledger: Ledger) -> float:
    """Microseconds per release over one batch, digests included."""
    mechanism, data = Nothing(), ledger.protect(0)
    start = time.perf_counter()
    for _ in range(BATCH):
        ledger.release(mechanism, data)
    assert ledger.head
    return (time.perf_counter() - start) / BATCH * 1e6


def opened(rule: Composition, budget: Budget) -> Ledger:
    """A ledger without charges."""
    return Ledger(budget, composition=rule, adjacency=ReplaceOne())


def per_release(rule: Composition, budget: Budget, entries: int) -> list[float]:
    """Microseconds per release, one figure per batch, while one ledger fills up."""
    ledger = opened(rule, budget)
    return [batch(ledger) for _ in range(entries // (2 * BATCH))]


def growth(rule: Composition, budget: Budget, entries: int) -> float:
    """A batch on a full ledger over one on an empty one, taken in turns: a machine's moods cancel out."""
    full = opened(rule, budget)
    for _ in range(entries // (2 * BATCH)):
        batch(full)
    return statistics.median(batch(full) / batch(opened(rule, budget)) for _ in range(15))


def run(folder: str | None, quick: bool = False) -> Report:
    """The table. A release writes two entries, so 500,000 releases make 1,000,000."""
    entries = 20_000 if quick else 1_000_000
    lines = []
    rules: list[tuple[Composition, Budget]] = [
        (BasicComposition(), PureDP(1.0)),
        (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5)),
        (ZCDPComposition(), ApproxDP(1.0, 1e-5)),
    ]
    for rule, budget in rules:
        batches = per_release(rule, budget, entries)
        tenth = max(1, len(batches) // 10)
        medians = [statistics.median(batches[i : i + tenth]) for i in range(0, len(batches), tenth)]
        worst, ratio = max(medians), growth(rule, budget, entries)
        found = f"first tenth {medians[0]:.1f} µs, last {medians[-1]:.1f} µs, worst {worst:.1f} µs"
        lines.append(Line(f"{rule.name}, {entries} entries", found, f"≤ {LIMIT:.0f} µs", worst <= LIMIT))
        lines.append(Line(f"{rule.name}, on {entries} entries / on none", f"{ratio:.2f}", "≤ 1.2 (flat)", ratio <= 1.2))
    return Report("A release through the in-memory ledger, over its sampling", tuple(lines))
