"""`python -m benchmarks.leaderboard MY_ADAPTER.py` puts a system of yours on the tables, beside ours and others.

It measures the systems that are named, where they are not measured yet, with `--out` as its memory, and prints every
table of the leaderboard with them. The others' scores are those that are published, where the records are the same.
What an adapter is: the docstring of `benchmarks.leaderboard.adapters`; benchmarks/adapters/ceilings/constant.py is one
to start from.
"""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.leaderboard import LARGE, all_tables, measure, shown_set
from benchmarks.leaderboard.pages import MARKS, places
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import beside
from benchmarks.leaderboard.running import Busy
from benchmarks.leaderboard.study import EPSILONS, FEW, OTHER_EPSILONS, SEEDS, Study
from benchmarks.leaderboard.variations import beside_ours
from benchmarks.runner import Table
from benchmarks.tables import SETS
from exchequer.datasets import DataNotFound

OUT: Final = Path("benchmark-results") / "leaderboard"


def parser() -> argparse.ArgumentParser:
    """Of the command line."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__, allow_abbrev=False)
    found.add_argument(
        "adapters", nargs="*", metavar="ADAPTER", help="files that end in .py, or names of files in benchmarks/adapters"
    )
    found.add_argument(
        "--tables",
        nargs="+",
        default=[name for name in SETS if name != LARGE],
        metavar="NAME",
        help=f"default: all but {LARGE}; there are {', '.join(SETS)}",
    )
    found.add_argument("--epsilons", nargs="+", type=positive, default=list(EPSILONS), metavar="EPS")
    found.add_argument("--neighbours", choices=("add-remove-one", "replace-one"), default="add-remove-one")
    found.add_argument("--rule", choices=("1e-5", "n^-1.1"), default="1e-5", help="delta; n: training records")
    found.add_argument("--width", type=at_least_one, default=1.0, help="bounds so many times as wide")
    found.add_argument("--seeds", type=whole_number, default=SEEDS, help=f"default: {SEEDS}, as published")
    found.add_argument("--records", type=whole_number, help="so many of each table at most, at random")
    found.add_argument("--jobs", type=whole_number, default=os.cpu_count() or 1, help="processes at once")
    found.add_argument("--again", action="store_true", help="try once more what failed in an earlier run")
    found.add_argument("--data", help="folder with the data sets; default: EXCHEQUER_DATA")
    found.add_argument("--out", type=Path, default=OUT, help=f"folder of what is measured; default: {OUT}")
    return found


def with_all(named: Sequence[adapters.Adapter]) -> list[adapters.Adapter]:
    """They, and all that stand in ranks."""
    paths = {each.path for each in named}
    return [*named, *(each for each in adapters.every() if each.path not in paths and not each.heavy)]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command. Exit code 1 for tables and adapters that there are not, where data are missing or in use, and where
    a system that is named gave no predictions for something; 130 where it is stopped.
    """
    options = parser().parse_args(arguments)
    unknown = [name for name in options.tables if name not in SETS]
    if unknown:
        sys.exit(f"no table {', '.join(unknown)}: there are {', '.join(SETS)}")
    try:
        text, failed = compared(options)
    except KeyboardInterrupt:
        print("stopped: the same command goes on where it was", file=sys.stderr)
        sys.exit(130)
    except (adapters.BadAdapter, Busy, DataNotFound) as error:
        sys.exit(str(error))
    print(text)
    if failed:
        sys.exit("\n".join([*failed, "what failed is tried once more with --again, or after a change of the file"]))


def compared(options: argparse.Namespace) -> tuple[str, list[str]]:
    """Measure what is asked for; the tables, and what failed, in words. Raises BadAdapter, Busy, DataNotFound."""
    study = Study(options.epsilons, (options.rule,), (options.neighbours,), (options.width,), options.seeds)
    named = adapters.chosen(options.adapters, adapters.every()) if options.adapters else adapters.every()
    everything = Plan(options.tables, with_all(named), (study,), options.data, options.records, options.again)
    plan, store = attrs.evolve(everything, adapters=named), beside(everything, options.out / "cells")
    new = [line for name in options.tables for line in measure(plan, store, name, options.jobs)]
    failed = list(dict.fromkeys([*new, *board(plan, study, store, options.tables).failed]))  # in earlier runs, too
    tables: list[Table] = [table for name in options.tables for table in shown_set(everything, store, name)]
    tables += all_tables(everything, store, judged=False)
    found = board(everything, study, store, options.tables)
    mine = [system for system in plan.systems if options.adapters]
    notes = [MARKS, *skipped(found, mine), *unmeasured(found, failed)]
    private = [system for system in mine if system.adapter.private and system.name != adapters.RECOMMENDED]
    own = [
        *beside_ours(found, private, "what is named"),
        *(table for system in private for table in places(found, system)),
    ]
    return "\n\n".join([*(table.table for table in [*tables, *own]), *notes]), failed


def skipped(found: Board, systems: Sequence[adapters.System]) -> list[str]:
    """What is not asked of whom, in words."""
    return [
        f"{system.name} is not asked for {table}, which is {kind}: it is for {', '.join(system.adapter.tasks)}"
        for system in systems
        for table, kind in found.kinds.items()
        if kind not in system.adapter.tasks
    ]


def unmeasured(found: Board, failed: Sequence[str]) -> list[str]:
    """A line about those of whom nothing is shown, for want of scores. failed: in words, which say why themselves."""
    shown = {name for _, name in found.found} | {name for _, name, _ in found.broken}
    kinds = set(found.kinds.values())
    absent = tuple(line.partition(": ")[0] for line in failed)
    names = [
        system.name
        for system in found.systems
        if system.name not in shown and kinds & set(system.adapter.tasks) and system.adapter.name not in absent
    ]
    if not names:
        return []
    return [
        f"Not shown, for want of scores: {'; '.join(names)}. Published are add-remove-one, δ = 1e-5, ε of "
        f"{', '.join(f'{epsilon:g}' for epsilon in EPSILONS)}, the bounds as they are, all records, {SEEDS} seeds; "
        f"with {FEW}: δ = n^-1.1, replace-one, bounds ten times as wide, each by itself, ε of "
        f"{', '.join(f'{epsilon:g}' for epsilon in OTHER_EPSILONS)}; and with 1 to {SEEDS} what is marked heavy. "
        "To measure others name their files in benchmarks/adapters."
    ]


def positive(text: str) -> float:
    """A finite number above 0. Raises ArgumentTypeError."""
    number = float(text)
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: expected a finite number above 0")
    return number


def at_least_one(text: str) -> float:
    """A finite number from 1 on. Raises ArgumentTypeError."""
    if positive(text) < 1.0:
        raise argparse.ArgumentTypeError(f"{text}: expected at least 1")
    return float(text)


def whole_number(text: str) -> int:
    """A whole number from 1 on. Raises ArgumentTypeError."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected at least 1")
    return int(text)


if __name__ == "__main__":
    main()
