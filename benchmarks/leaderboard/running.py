"""Measures the cells of studies that are not measured yet: a process for each adapter and table, several at once."""

import fcntl
import hashlib
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from benchmarks.leaderboard.adapters import OWN, Adapter, System
from benchmarks.leaderboard.cells import Cell, Measured, Store, delta_of
from benchmarks.leaderboard.promises import asked
from benchmarks.leaderboard.scores import scored
from benchmarks.leaderboard.study import Study
from benchmarks.leaderboard.task_files import TaskFiles, records_digest
from benchmarks.peer_workers import fits_adapter, serve
from benchmarks.peers import Worker, folder
from benchmarks.runner import Missing, code_digest, imported_by, machine
from benchmarks.tables import TableSet, table_sets

LIMIT: Final = 600.0
"""Seconds that a fit with its predictions may take."""

Say: TypeAlias = Callable[[str], None]
Wanted: TypeAlias = tuple[System, Cell, int]
"""A system, its cell, and a seed."""


@attrs.frozen(eq=False)
class Unit:
    """What one process measures.

    table: with its bounds as wide as `width` says.  key: as `measured_by` has it.  wanted: cells with their seeds.
    """

    adapter: Adapter
    table: TableSet
    width: float
    key: str
    wanted: tuple[Wanted, ...]


JUDGES: Final = ("scores", "promises", "task_files")
"""Modules beside this one that a cell's numbers depend on."""


@lru_cache(maxsize=256)
def adapter_digest(adapter: Adapter) -> str:
    """Of its file and what that imports of ours, its packages, and what serves and judges it."""
    digest = hashlib.sha256(json.dumps([list(adapter.requirements), sys.version_info[:2]]).encode())
    served = {Path(str(module.__file__)) for module in (fits_adapter, serve, table_sets)}
    judged = {Path(__file__).with_name(f"{name}.py") for name in JUDGES}
    for path in (adapter.path, *sorted({*imported_by(adapter.path), *served, *judged} - {adapter.path})):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


LEARNERS: Final = ("accountant", "mechanisms", "boosting", "learners")
"""Our packages that learners are made of: the command line, which may serve pages meanwhile, changes no score."""


@cache
def learners_digest() -> str:
    """Of our own learners' code, and the packages that they compute with."""
    own = code_digest("benchmarks.adapters.protocol", LEARNERS)
    return hashlib.sha256(f"{own} numpy {np.__version__} scipy {scipy.__version__}".encode()).hexdigest()[:16]


def measured_by(adapter: Adapter, table: TableSet) -> str:
    """A digest of all that a cell's numbers depend on but its promise and its seeds."""
    own = [learners_digest()] * (OWN in adapter.requirements)
    return hashlib.sha256(json.dumps([adapter_digest(adapter), records_digest(table), *own]).encode()).hexdigest()[:16]


def noise_seed(seed: int) -> int:
    """For a system's noise: not the seed of the split, whose random numbers it would otherwise share."""
    return int(np.random.SeedSequence([seed, 1]).generate_state(1)[0])


def unit(
    studies: Sequence[Study], adapter: Adapter, table: TableSet, width: float, store: Store, *, again: bool = False
) -> Unit:
    """What is not measured yet of an adapter on a table, seed by seed: what comes early tells something of everything.

    table: with its bounds that wide.  again: whether cells that failed are tried once more.
    """
    key = measured_by(adapter, table)
    cells: dict[Cell, tuple[System, int]] = {}
    for study in studies:
        for system in adapter.systems:
            for cell in study.cells(table.name, table.kind, system):
                if cell.width == width:  # several studies may ask for a cell
                    cells[cell] = (system, max(study.seeds, cells.get(cell, (system, 0))[1]))
    known = {cell: found for cell in cells if (found := store.get(cell, key)) is not None}
    most = max((seeds for _, seeds in cells.values()), default=0)
    left = [
        (system, cell, seed)
        for seed in range(most)
        for cell, (system, seeds) in cells.items()
        if seed < seeds and _waits(known.get(cell), seed, again=again)
    ]
    return Unit(adapter, table, width, key, tuple(left))


def _waits(found: Measured | None, seed: int, *, again: bool) -> bool:
    return found is None or (seed not in found.seeds and (again or not found.failed))


def fill(units: Sequence[Unit], store: Store, jobs: int, say: Say) -> list[str]:
    """Measure it all, and say what could not be. jobs: processes at once. Raises Busy where another run measures."""
    if not units:
        return []
    pythons, absent = _pythons(units)
    here = [unit for unit in units if unit.adapter.path in pythons]
    with alone(store.folder), tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        run = _Run(TaskFiles(Path(place)), store, pythons, say)
        failed = [line for lines in pool.map(run.unit, here) for line in lines]
    return [*absent, *failed]


class Busy(RuntimeError):
    """Another run measures into the same folder."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this lasts nobody else measures into the folder. Raises Busy."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Busy(f"another run measures into {folder}: wait for it, or give another --out") from None
        yield


def _pythons(units: Sequence[Unit]) -> tuple[dict[Path, Path], list[str]]:
    found, absent = dict[Path, Path](), []
    for adapter in {unit.adapter.path: unit.adapter for unit in units}.values():
        try:
            found[adapter.path] = adapter.python(folder())
        except Missing as error:
            absent.append(f"{adapter.name}: {error}")
    return found, absent


LIKE_PROBABILITIES: Final = (
    "a number for each record, all of them from 0 to 1: they are read as scores, above 0 for the second class; "
    "probabilities have shape (n, 2)"
)


def like_probabilities(predictions: npt.NDArray[Any]) -> bool:
    """Whether scores look as if they were probabilities of the second class."""
    if predictions.ndim != 1 or not predictions.size:
        return False
    least, most = float(predictions.min()), float(predictions.max())
    return 0.0 <= least < most <= 1.0


@attrs.frozen(eq=False)
class _Run:
    files: TaskFiles
    store: Store
    pythons: dict[Path, Path]
    say: Say
    told: set[str] = attrs.field(factory=set)

    def unit(self, unit: Unit) -> list[str]:
        """Measure it; what failed, in words."""
        failed: dict[Cell, str] = {}
        with tempfile.TemporaryDirectory() as place:
            scores = Path(place) / "scores.npy"
            waiting = list(unit.wanted)
            while waiting:
                waiting = self._process(unit, waiting, scores, failed)
        self.say(f"{unit.table.name}{'' if unit.width == 1.0 else ' (wide)'}: {unit.adapter.name}")
        return [failure(cell, why) for cell, why in failed.items()]

    def _process(self, unit: Unit, waiting: list[Wanted], scores: Path, failed: dict[Cell, str]) -> list[Wanted]:
        """Ask one process until it fails; what is left then, without what would fail again."""
        with Worker(fits_adapter, self.pythons[unit.adapter.path], str(unit.adapter.path)) as worker:
            for place, wanted in enumerate(waiting):
                try:
                    self._one(unit, worker, wanted, scores)
                except (RuntimeError, ValueError) as error:  # BadPredictions among them
                    _, cell, _ = wanted
                    why = failed[cell] = reason(error, unit.adapter.path)
                    self._tell_all(unit.adapter.path, error)
                    self._keep(unit, wanted, None, why)
                    # One that took too long would at other ε, too, and all of that time is somebody's.
                    slow = isinstance(error, TooSlow)
                    return [
                        each
                        for each in waiting[place + 1 :]
                        if each[1] != cell and not (slow and each[1].system == cell.system)
                    ]
        return []

    def _tell_all(self, adapter: Path, error: Exception) -> None:
        """What its process said, once for each file: whoever writes it needs more than the last line."""
        if str(adapter) not in self.told and "Traceback" in str(error):
            self.told.add(str(adapter))
            self.say(f"{adapter.name} failed, the first time as follows\n{str(error).strip()}")

    def _one(self, unit: Unit, worker: Worker, wanted: Wanted, scores: Path) -> None:
        system, cell, seed = wanted
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
            "seed": noise_seed(seed),
            "options": system.options,
        }
        answer = in_time(worker, job)
        predictions = np.load(scores)
        if unit.table.kind == "binary" and like_probabilities(predictions) and system.name not in self.told:
            self.told.add(system.name)
            self.say(f"{system.name}: {LIKE_PROBABILITIES}")
        found = scored(unit.table.kind, len(unit.table.classes), predictions, files.labels)
        costs = {"fit": answer["fit"], "predict": answer["predict"]}
        if answer["peak"] is not None and answer["loaded"] is not None:
            costs["memory"] = max(0.0, answer["peak"] - answer["loaded"])
        self._keep(unit, wanted, {**found, **costs}, "")

    def _keep(self, unit: Unit, wanted: Wanted, scores: dict[str, float] | None, failed: str) -> None:
        _, cell, seed = wanted
        found = self.store.get(cell, unit.key) or Measured(cell, unit.key)
        if scores is not None:
            found.seeds[seed] = scores
        found.failed = failed
        found.versions = {"packages": ", ".join(unit.adapter.requirements), "machine": machine()}
        self.store.put(found)


def failure(cell: Cell, why: str) -> str:
    """What is said of a cell without predictions."""
    return f"{cell.system} on {cell.table}, ε={cell.epsilon:g}: {why}"


def _where(lines: Sequence[str], adapter: Path) -> str:
    """File and line of a traceback's last step that is in the adapter's own file; "" where none is."""
    steps = [line.strip() for line in lines if line.strip().startswith(f'File "{adapter}", line ')]
    return f"{adapter.name}, line {steps[-1].split('line ')[1].split(',')[0]}: " if steps else ""


class TooSlow(RuntimeError):
    """A fit took longer than LIMIT."""


def in_time(worker: Worker, job: dict[str, Any]) -> dict[str, Any]:
    """Its answer. Raises RuntimeError where it fails, TooSlow where it takes longer than LIMIT, which ends it."""
    late = threading.Event()

    def end() -> None:
        late.set()
        worker.kill()

    watch = threading.Timer(LIMIT, end)
    watch.start()
    try:
        return worker.ask(**job)
    except RuntimeError as error:
        raise TooSlow(f"took longer than {LIMIT:g} s") if late.is_set() else error from None
    finally:
        watch.cancel()


NOT_NAMED: Final = "; its package belongs in the header's dependencies"


def reason(error: Exception, adapter: Path) -> str:
    """The last line of what went wrong, and where in the adapter, if there."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()] or [type(error).__name__]
    where, ended = _where(lines, adapter), lines[0].endswith(" ended:")
    if where or not ended:
        return f"{where}{lines[-1]}{NOT_NAMED * lines[-1].startswith('ModuleNotFoundError')}"[:300]
    return (
        f"its process ended; its last line is {lines[-1]!r}"[:300] if lines[1:] else "its process ended without a word"
    )
