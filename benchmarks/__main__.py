"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME` runs one, `all` every one of them.

A run that was interrupted goes on where it was when it is started again. Exit code: 0 where everything that is asked
was reached, 1 where something was missed, 2 where something needed was not there, 3 where a part failed, 130 where it
was interrupted. Little is asked of a quick run: its sizes say nothing about times.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.data import gathered
from benchmarks.runner import ABSENT, CATALOGUE, FAILED, Benchmark, Outcome, Setting, run, said
from exchequer.datasets import data_folder

ALL = "all"


def listing() -> str:
    """Every benchmark: what it reproduces, its data, its time."""
    lines = [
        f"{each.name:<16} {each.reproduces}\n{'':<16} data: {each.data} (about {each.minutes:g} minutes)"
        for each in CATALOGUE
    ]
    return "\n".join([*lines, f"{ALL:<16} all of these, one after the other"])


def one(benchmark: Benchmark, options: argparse.Namespace) -> Outcome:
    """Run it, print its page, say what it took."""
    place = data_folder(options.data) or (gathered(benchmark.sets) if benchmark.sets else None)
    out = options.out or Path("benchmark-results") / ("quick" if options.quick else "full")
    setting = Setting(None if place is None else str(place), options.quick, out / benchmark.name)
    try:
        outcome = run(benchmark, setting)
    except KeyboardInterrupt:
        print(f"\ninterrupted; what was measured is in {setting.out}: the same command goes on", file=sys.stderr)
        sys.exit(130)
    print((setting.out / f"{benchmark.name}.md").read_text(encoding="utf-8"))
    again = f", {outcome.reused} parts of an earlier run used again" if outcome.reused else ""
    print(f"{benchmark.name}: {outcome.seconds:.0f} s{again}; files in {setting.out}", file=sys.stderr)
    return outcome


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = {benchmark.name: benchmark for benchmark in CATALOGUE}
    parser.add_argument("name", nargs="?", choices=[*names, ALL], metavar="NAME")
    parser.add_argument("--data", help="folder with the real data sets; default: EXCHEQUER_DATA")
    parser.add_argument("--out", type=Path, help="where the results go; default: benchmark-results/full, or quick")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repeats, for a first look")
    options = parser.parse_args(arguments)
    if options.name is None:
        print(listing())
        return
    chosen = CATALOGUE if options.name == ALL else (names[options.name],)
    outcomes = [one(benchmark, options) for benchmark in chosen]
    if any(said(FAILED, outcome.tables) for outcome in outcomes):
        sys.exit(3)
    if any(said(ABSENT, outcome.tables) for outcome in outcomes):
        sys.exit(2)
    sys.exit(0 if all(outcome.met for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
