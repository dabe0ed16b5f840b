"""`python -m benchmarks.leaderboard MY_ADAPTER.py` puts a system of yours on the tables, beside ours and others.

It measures what is not measured yet, with `--out` as its memory, and prints every table of the leaderboard. Without
names, all adapters of benchmarks/adapters take part. What an adapter is: the docstring of
`benchmarks.leaderboard.adapters`, and benchmarks/adapters/constant.py to start from.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.leaderboard import all_tables, of_set
from benchmarks.leaderboard.plan import Plan
from benchmarks.leaderboard.sets import SETS
from benchmarks.leaderboard.study import EPSILONS, Study
from exchequer.datasets import DataNotFound

BESIDE = ("private_boost", "interpret_ebm", "ceilings")
"""What a system of one's own is put beside, unless other names are given."""


def parser() -> argparse.ArgumentParser:
    """Of the command line."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__)
    found.add_argument(
        "adapters", nargs="*", metavar="ADAPTER", help="files that end in .py, or names of files in benchmarks/adapters"
    )
    found.add_argument("--tables", nargs="+", default=list(SETS), metavar="NAME", help="default: all")
    found.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS), metavar="EPS")
    found.add_argument("--neighbours", choices=("add-remove-one", "replace-one"), default="add-remove-one")
    found.add_argument("--rule", choices=("1e-5", "n^-1.1"), default="1e-5", help="delta; n: training records")
    found.add_argument("--width", type=float, default=1.0, help="bounds so many times as wide")
    found.add_argument("--seeds", type=int, default=10)
    found.add_argument("--records", type=int, help="so many of each table at most, at random")
    found.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    found.add_argument("--data", help="folder with the data sets; default: EXCHEQUER_DATA")
    found.add_argument("--out", type=Path, default=Path("benchmark-results") / "leaderboard")
    return found


def entrants(words: Sequence[str]) -> list[adapters.Adapter]:
    """The adapters that are named; with a user's own, those of BESIDE, too. Raises BadAdapter."""
    everybody = adapters.every()
    if not words:
        return everybody
    own = all(word.endswith(".py") for word in words)
    return adapters.chosen([*(BESIDE if own else ()), *words], everybody)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command. Exit code 2 for words that name nothing, and where the data are not there."""
    options = parser().parse_args(arguments)
    unknown = [name for name in options.tables if name not in SETS]
    if unknown:
        sys.exit(f"no table {', '.join(unknown)}: there are {', '.join(SETS)}")
    try:
        study = Study(options.epsilons, (options.rule,), (options.neighbours,), (options.width,), options.seeds)
        plan = Plan(options.tables, entrants(options.adapters), (study,), options.data, options.records)
        store = Store(options.out / "cells")
        for name in options.tables:
            for table in of_set(plan, store, name, options.jobs):
                print(table.table, end="\n\n", flush=True)
        print("\n\n".join(table.table for table in all_tables(plan, store, judged=False)))
    except (adapters.BadAdapter, DataNotFound) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
