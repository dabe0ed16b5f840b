"""`python -m benchmarks.leaderboard.published --out DIR`: scores seed by seed, for others to be put beside.

A file for each table in benchmarks/results/leaderboard, with a line for each cell: its promise, a digest of what it was
measured by, and every score by seed, to four digits. Who has the same records and the same code needs to measure nobody
again, on whatever machine; times are those of a machine, and are left out.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.cells import Cell, Measured, Store
from benchmarks.leaderboard.plan import Plan
from benchmarks.leaderboard.running import adapter_digest, learners_digest, measured_by
from benchmarks.leaderboard.study import MAIN, OTHER_PROMISES
from benchmarks.leaderboard.task_files import records_digest
from benchmarks.runner import ROOT
from benchmarks.tables import SETS

FOLDER: Final = ROOT / "benchmarks" / "results" / "leaderboard"
SCORES: Final = ("auc", "r2", "accuracy", "log_loss", "calibration")
DIGITS: Final = 4


def lines_of(name: str, store: Store, plan: Plan) -> Iterator[dict[str, Any]]:
    """Each cell that gave predictions, of the systems and studies of a plan; of our older learners what tables show."""
    table = plan.table(name)
    for system in plan.systems:
        cells = dict.fromkeys(cell for study in plan.studies for cell in study.cells(name, table.kind, system))
        for cell in cells:
            key = measured_by(system.adapter, plan.seen(table, cell.width))
            adapter = adapter_digest(system.adapter)
            found = store.shown(cell, key, adapter)
            if found is None or not found.seeds:
                continue
            scores = {score: _rounded(found, score) for score in SCORES if found.of(score)}
            promise = {**attrs.asdict(cell), "epsilon": repr(cell.epsilon), "seeds": sorted(found.seeds)}
            promise.pop("table")
            failed = {"failed": found.failed} if found.failed else {}
            yield {**promise, "key": found.key, "adapter": adapter, **failed, **scores}


def _rounded(found: Measured, score: str) -> list[float | None]:
    """By seed, in their order; None where a seed has no such score."""
    values = (found.seeds[seed].get(score) for seed in sorted(found.seeds))
    return [None if value is None else float(f"{value:.{DIGITS}g}") for value in values]


def publish(store: Store, plan: Plan, folder: Path = FOLDER) -> None:
    """Write the files of a plan's tables, but of those without scores. folder: made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in plan.tables:
        head = json.dumps({"table": name, "records": records_digest(plan.table(name)), "learners": learners_digest()})
        lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines_of(name, store, plan)]
        if lines:
            (folder / f"{name}.jsonl").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


@attrs.frozen
class Line:
    """A cell that is published. adapter: digest of its system's file, which ours keep while learners change."""

    found: Measured
    adapter: str


@lru_cache(maxsize=64)
def _read(path: Path) -> tuple[str, dict[Cell, Line]]:
    """The digest of the records, and its cells."""
    head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = {}
    for line in lines:
        fields = {name: line[name] for name in ("system", "rule", "neighbours", "width")}
        cell = Cell(head["table"], epsilon=float(line["epsilon"]), **fields)
        seeds: dict[int, dict[str, float]] = {
            seed: {name: line[name][place] for name in SCORES if line.get(name, {place: None})[place] is not None}
            for place, seed in enumerate(line["seeds"])
        }
        found[cell] = Line(Measured(cell, line["key"], seeds, line.get("failed", "")), line["adapter"])
    return head["records"], found


@attrs.frozen
class Published(Store):
    """What was measured here, else what is published for the same records. records: digests by table."""

    records: Mapping[str, str] = attrs.field(factory=dict)
    files: Path = FOLDER

    def get(self, cell: Cell, key: str) -> Measured | None:
        """What was measured by this, here and by whoever published it; seeds that are in both are those of here."""
        line, here = self._line(cell), Store.get(self, cell, key)
        if line is None or line.found.key != key:
            return here
        if here is None:
            return attrs.evolve(line.found, seeds=dict(line.found.seeds))
        here.seeds = {**line.found.seeds, **here.seeds}
        return here

    def shown(self, cell: Cell, key: str, adapter: str) -> Measured | None:
        """See `Store`; where our learners have changed since, what is published of them is shown, with its own key,
        until as many seeds are measured anew, or one of them fails.
        """
        line, here = self._line(cell), self.get(cell, key)
        if line is None or line.adapter != adapter or (here is not None and here.failed):
            return here
        return here if here is not None and len(here.seeds) >= len(line.found.seeds) else line.found

    def _line(self, cell: Cell) -> Line | None:
        path = self.files / f"{cell.table}.jsonl"
        if not path.is_file():
            return None
        records, lines = _read(path)
        return lines.get(cell) if records == self.records.get(cell.table) else None


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard.published", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of a run, with its cells")
    parser.add_argument("--data", help="folder with the data sets; default: EXCHEQUER_DATA")
    options = parser.parse_args(arguments)
    plan = Plan(tuple(SETS), adapters.every(), (MAIN, *OTHER_PROMISES), options.data)
    publish(beside(plan, options.out / "cells"), plan)


def beside(plan: Plan, folder: Path) -> Published:
    """What is published of a plan's tables, behind what is measured into a folder."""
    return Published(folder, {name: records_digest(plan.table(name)) for name in plan.tables})


if __name__ == "__main__":
    main()
