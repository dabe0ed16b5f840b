"""What `Ledger.release` costs over the sampling itself, from the 1st to the 100,000th entry, in memory.

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


def per_release(rule: Composition, budget: Budget, entries: int) -> list[float]:
    """Microseconds per release, one figure per batch."""
    ledger, mechanism = Ledger(budget, composition=rule, adjacency=ReplaceOne()), Nothing()
    data, batches = ledger.protect(0), []
    for _ in range(entries // (2 * BATCH)):
        start = time.perf_counter()
        for _ in range(BATCH):
            ledger.release(mechanism, data)
        assert ledger.head
        batches.append((time.perf_counter() - start) / BATCH * 1e6)
    return batches


def run(folder: str | None, quick: bool = False) -> Report:
    """The table. A release writes two entries, so 50,000 releases make 100,000."""
    entries = 20_000 if quick else 100_000
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
        worst, growth = max(medians), medians[-1] / medians[0]
        found = f"first tenth {medians[0]:.1f} µs, last {medians[-1]:.1f} µs, worst {worst:.1f} µs"
        lines.append(Line(f"{rule.name}, {entries} entries", found, f"≤ {LIMIT:.0f} µs", worst <= LIMIT))
        lines.append(Line(f"{rule.name}, last tenth / first tenth", f"{growth:.2f}", "≤ 1.5 (flat)", growth <= 1.5))
    return Report("A release through the in-memory ledger, over its sampling", tuple(lines))
