"""Accuracy and AUC of all systems at equal (ε, δ), on the same splits; and how far ahead ours is."""

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from benchmarks.data import TITLES, Plan
from benchmarks.peers.peer_data import Files
from benchmarks.peers.peer_environments import OURS, present
from benchmarks.peers.peer_processes import Worker
from benchmarks.peers.peer_systems import ENTRANTS, MODULES, RECOMMENDED, Entrant
from benchmarks.runner import Line, Report, Table
from benchmarks.systems import QUALITIES, Tables, average, grids, measure

DELTA: Final = 1e-5


@attrs.frozen
class Size:
    """How much is measured. entrants: `RECOMMENDED` among them.  epsilons: at each of them.  seeds: so many.

    judged: whether ours must be ahead.
    """

    entrants: tuple[Entrant, ...]
    epsilons: tuple[float, ...]
    seeds: int
    judged: bool


def quality(plan: Plan, size: Size, kept: Path) -> list[Table]:
    """The tables of a data set. kept: folder for what is measured of peers, which a later run does not measure again.

    Each package is measured by a process of its own, as many at once as there are cores.
    """
    entrants = [each for each in size.entrants if not each.timed_only]
    pythons, absent = present(each.peer for each in entrants)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        files = Files(Path(name))
        for seed in range(size.seeds):
            files.of(plan(seed)[0])  # all are written here, as the threads only read
        packages = [([each for each in entrants if each.peer == peer], python) for peer, python in pythons.items()]
        found = list(pool.map(partial(_measured, plan, size, files, kept), packages))
    order = [each.name for each in entrants]
    tables = dict(sorted((row for rows in found for row in rows.items()), key=lambda row: order.index(row[0].name)))
    title = f"{TITLES.get(plan.name, plan.name)}, δ={DELTA:g}, {plan.protocol}, seeds: {size.seeds}"
    missing = [Report(f"absent: {title}", absent)] if absent else []
    return [*missing, *lead(tables, title, judged=size.judged), *grids(tables, title)]


def _measured(plan: Plan, size: Size, files: Files, kept: Path, package: tuple[Sequence[Entrant], Path]) -> Tables:
    """All systems of one package. package: them, and an interpreter that has it."""
    entrants, python = package
    with tempfile.TemporaryDirectory() as folder, Worker(MODULES[entrants[0].peer], python) as worker:
        systems = {each.system(worker, files, Path(folder) / "scores.npy"): each.results(kept) for each in entrants}
        return {
            system: measure(system, plan, results, size.epsilons, DELTA, size.seeds)
            for system, results in systems.items()
        }


def lead(tables: Tables, title: str, *, judged: bool) -> list[Report]:
    """Ours, means over seeds, beside the best of the peers at each ε; nothing where no peer is here.

    judged: whether ours must be the better one.
    """
    own = {each.name for each in ENTRANTS if each.peer == OURS}
    ours = next(table for system, table in tables.items() if system.name == RECOMMENDED.name)
    peers = {system.name: table for system, table in tables.items() if system.name not in own}
    lines = []
    for epsilon, found in ours.items():
        for quality, field in QUALITIES.items():
            means = {name: average(table[epsilon], field).value for name, table in peers.items()}
            if means:
                best = max(means, key=lambda name: means[name])
                mean = attrs.evolve(average(found, field), form=".4f")
                met = mean.value > means[best] if judged else None
                lines.append(Line(f"ε={epsilon:g}, {quality}", mean, f"> {means[best]:.4f}, {best}", met))
    return [Report(f"{RECOMMENDED.name}, above the best of the peers: {title}", lines)] if lines else []
