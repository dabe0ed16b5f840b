"""How benchmarks run: parts, timing, memory, reports, plots, and the figures of documents."""

from benchmarks.runner import suite
from benchmarks.runner.catalogue import (
    CATALOGUE,
)
from benchmarks.runner.machine import (
    machine,
)
from benchmarks.runner.memory import (
    elsewhere,
    peak,
)
from benchmarks.runner.partial_results import (
    ROOT,
    code_digest,
    imported_by,
    slug,
)
from benchmarks.runner.report import (
    Cell,
    Grid,
    Line,
    Measured,
    Report,
    Table,
    at_least,
    at_most,
)
from benchmarks.runner.run import (
    ABSENT,
    FAILED,
    Missing,
    Outcome,
    run,
    said,
)
from benchmarks.runner.suite import (
    Benchmark,
    Part,
    Setting,
)
from benchmarks.runner.timing import (
    Work,
    in_turns,
    limited,
    seconds,
    thread_counts,
)

__all__ = [
    "ABSENT",
    "CATALOGUE",
    "FAILED",
    "ROOT",
    "Benchmark",
    "Cell",
    "Grid",
    "Line",
    "Measured",
    "Missing",
    "Outcome",
    "Part",
    "Report",
    "Setting",
    "Table",
    "Work",
    "at_least",
    "at_most",
    "code_digest",
    "elsewhere",
    "imported_by",
    "in_turns",
    "limited",
    "machine",
    "peak",
    "run",
    "said",
    "seconds",
    "slug",
    "suite",
    "thread_counts",
]
