"""Measures the cells of studies that are not measured yet: a process for each adapter and table, several at once."""

import hashlib
import json
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from benchmarks.adapters import protocol
from benchmarks.leaderboard.adapters import OWN, Adapter, System
from benchmarks.leaderboard.cells import Cell, Measured, Store, delta_of
from benchmarks.leaderboard.promises import asked
from benchmarks.leaderboard.scores import BadPredictions, scored
from benchmarks.leaderboard.study import Study
from benchmarks.leaderboard.task_files import TaskFiles, facts
from benchmarks.peer_workers import fits_adapter, serve
from benchmarks.peers import Worker, folder
from benchmarks.runner import Missing, code_digest, machine
from benchmarks.tables import TableSet

LIMIT: Final = 600.0
"""Seconds that a fit with its predictions may take."""

Say = Callable[[str], None]


@attrs.frozen(eq=False)
class Unit:
    """What one process measures.

    table: with its bounds as wide as `width` says.  key: as `measured_by` has it.  wanted: cells with their seeds.
    """

    adapter: Adapter
    table: TableSet
    width: float
    key: str
    wanted: tuple[tuple[System, Cell, int], ...]


@lru_cache(maxsize=256)
def adapter_digest(adapter: Adapter) -> str:
    """Of its file, its packages, and what serves it: whoever changes one of them has another system."""
    digest = hashlib.sha256(json.dumps(list(adapter.requirements)).encode())
    for path in (adapter.path, *(Path(str(module.__file__)) for module in (protocol, fits_adapter, serve))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def learners_digest() -> str:
    """Of our own learners' code."""
    return code_digest("benchmarks.adapters.protocol")


def measured_by(adapter: Adapter, table: TableSet) -> str:
    """A digest of all that a cell's numbers depend on but its promise and its seeds."""
    parts = [adapter_digest(adapter), facts(table), str(table.labels.size)]
    own = [learners_digest()] * (OWN in adapter.requirements)
    return hashlib.sha256(json.dumps([*parts, *own]).encode()).hexdigest()[:16]


def unit(studies: Sequence[Study], adapter: Adapter, table: TableSet, width: float, store: Store) -> Unit:
    """What is not measured yet of an adapter on a table, seed by seed: what comes early tells something of everything.

    table: with its bounds that wide.
    """
    key = measured_by(adapter, table)
    cells = {
        cell: (system, study.seeds)
        for study in studies
        for system in adapter.systems
        for cell in study.cells(table.name, table.kind, system)
        if cell.width == width
    }
    known = {cell: found.seeds for cell in cells if (found := store.get(cell, key)) is not None}
    most = max((seeds for _, seeds in cells.values()), default=0)
    left = [
        (system, cell, seed)
        for seed in range(most)
        for cell, (system, seeds) in cells.items()
        if seed < seeds and seed not in known.get(cell, {})
    ]
    return Unit(adapter, table, width, key, tuple(left))


def fill(units: Sequence[Unit], store: Store, jobs: int, say: Say) -> list[str]:
    """Measure it all, and say what could not be. jobs: processes at once."""
    pythons, absent = _pythons(units)
    here = [unit for unit in units if unit.adapter.path in pythons]
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        run = _Run(TaskFiles(Path(place)), store, pythons, say)
        failed = [line for lines in pool.map(run.unit, here) for line in lines]
    return [*absent, *failed]


def _pythons(units: Sequence[Unit]) -> tuple[dict[Path, Path], list[str]]:
    found, absent = dict[Path, Path](), []
    for adapter in {unit.adapter.path: unit.adapter for unit in units}.values():
        try:
            found[adapter.path] = adapter.python(folder())
        except Missing as error:
            absent.append(str(error))
    return found, absent


@attrs.frozen(eq=False)
class _Run:
    files: TaskFiles
    store: Store
    pythons: dict[Path, Path]
    say: Say

    def unit(self, unit: Unit) -> list[str]:
        """Measure it; what failed, in words."""
        failed: dict[str, str] = {}
        with tempfile.TemporaryDirectory() as place:
            scores = Path(place) / "scores.npy"
            waiting = list(unit.wanted)
            while waiting:
                waiting = self._process(unit, waiting, scores, failed)
        self.say(f"{unit.table.name}{'' if unit.width == 1.0 else ' (wide)'}: {unit.adapter.name}")
        return [f"{name} on {unit.table.name}: {why}" for name, why in failed.items()]

    def _process(
        self, unit: Unit, waiting: list[tuple[System, Cell, int]], scores: Path, failed: dict[str, str]
    ) -> list[tuple[System, Cell, int]]:
        """Ask one process until it fails; what is left then, without the system that failed."""
        with Worker(fits_adapter, self.pythons[unit.adapter.path], str(unit.adapter.path)) as worker:
            for place, (system, cell, seed) in enumerate(waiting):
                try:
                    self._one(unit, worker, (system, cell, seed), scores)
                except (RuntimeError, BadPredictions) as error:
                    failed[system.name] = reason(error)
                    self._keep(unit, cell, None, seed, failed[system.name])
                    return [each for each in waiting[place + 1 :] if each[0].name != system.name]
        return []

    def _one(self, unit: Unit, worker: Worker, what: tuple[System, Cell, int], scores: Path) -> None:
        system, cell, seed = what
        files = self.files.of(unit.table, unit.width, seed)
        near, epsilon, delta = asked(unit.adapter, cell.neighbours, cell.epsilon, delta_of(cell.rule, files.records))
        job = {
            "do": "fit",
            "train": str(files.train),
            "test": str(files.test),
            "scores": str(scores),
            "epsilon": epsilon,
            "delta": delta,
            "neighbours": near,
            "seed": seed,
            "options": system.options,
        }
        answer = in_time(worker, job)
        found = scored(unit.table.kind, len(unit.table.classes), np.load(scores), files.labels)
        costs = {"fit": answer["fit"], "predict": answer["predict"]}
        if answer["peak"] is not None and answer["loaded"] is not None:
            costs["memory"] = max(0.0, answer["peak"] - answer["loaded"])
        self._keep(unit, cell, {**found, **costs}, seed, "")

    def _keep(self, unit: Unit, cell: Cell, scores: dict[str, float] | None, seed: int, failed: str) -> None:
        found = self.store.get(cell, unit.key) or Measured(cell, unit.key)
        if scores is not None:
            found.seeds[seed] = scores
        found.failed = failed
        found.versions = {"packages": ", ".join(unit.adapter.requirements), "machine": machine()}
        self.store.put(found)


def in_time(worker: Worker, job: dict[str, Any]) -> dict[str, Any]:
    """Its answer. Raises RuntimeError where it fails, or ends it, where it takes longer than LIMIT."""
    late = threading.Event()

    def end() -> None:
        late.set()
        worker.kill()

    watch = threading.Timer(LIMIT, end)
    watch.start()
    try:
        return worker.ask(**job)
    except RuntimeError as error:
        raise RuntimeError(f"took longer than {LIMIT:g} s") if late.is_set() else error from None
    finally:
        watch.cancel()


def reason(error: Exception) -> str:
    """The last line of what went wrong."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
