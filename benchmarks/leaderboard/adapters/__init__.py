"""Adapters: one file a system, which says in its header what it needs and what it promises.

The header is that of a script with its requirements inside (PEP 723), with a table of ours:

    # /// script
    # requires-python = ">=3.11"
    # dependencies = ["some-package==1.2.3", "numpy==2.4.6"]
    #
    # [tool.leaderboard]
    # name = "a learner (some-package)"
    # tasks = ["binary"]
    # neighbours = ["add-remove-one"]
    # released = "its own package"
    # reads = "the number of records"
    # ///

and the file has `fit(task, promise, **options) -> predict`, see `benchmarks.adapters.protocol`. The file itself is
only run in an environment that has its requirements; what it says here is read without running it. Code that is in no
package registry comes from a repository, which a table [tool.leaderboard.source] names as `Source` has it.
"""

from benchmarks.leaderboard.adapters.headers import (
    OWN,
    RECOMMENDED,
    Adapter,
    BadAdapter,
    System,
    chosen,
    every,
    read,
    told_apart,
)
from benchmarks.leaderboard.adapters.sources import (
    PATH_FILE,
    Source,
    installed,
)

__all__ = [
    "OWN",
    "PATH_FILE",
    "RECOMMENDED",
    "Adapter",
    "BadAdapter",
    "Source",
    "System",
    "chosen",
    "every",
    "installed",
    "read",
    "told_apart",
]
