"""From names to what is measured: tables, adapters and studies as units."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import attrs
import numpy as np

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import Adapter, System, told_apart
from benchmarks.leaderboard.cells import Measured, Store
from benchmarks.leaderboard.running import Unit, adapter_digest, failure, measured_by, unit
from benchmarks.leaderboard.study import Study
from benchmarks.tables import TableSet, load, widened


@attrs.frozen
class Plan:
    """What is compared. tables: names.  folder: of the data sets; None: EXCHEQUER_DATA.  studies: the first one ranks.

    most: so many records of each table at most, drawn at random, always the same; None: all.
    again: whether what failed is tried once more. Raises BadAdapter where two systems would share a name.
    """

    tables: Sequence[str]
    adapters: Sequence[Adapter] = attrs.field(converter=told_apart)
    studies: Sequence[Study]
    folder: str | None
    most: int | None = None
    again: bool = False

    def table(self, name: str) -> TableSet:
        """By name. Raises DataNotFound."""
        return few(load(name, self.folder), self.most)

    def units(self, name: str, store: Store) -> Iterator[Unit]:
        """Of a table: those where something is left to measure."""
        table = self.table(name)
        for width in dict.fromkeys(width for study in self.studies for width in study.widths):
            seen = self.seen(table, width)
            for adapter in self.adapters:
                found = unit(self.studies, adapter, seen, width, store, again=self.again)
                if found.wanted:
                    yield found

    def seen(self, table: TableSet, width: float) -> TableSet:
        """A table with its bounds so many times as wide."""
        return table if width == 1.0 else _widened(table, width)

    @property
    def systems(self) -> list[System]:
        """All of them, ours first, those without privacy last."""
        found = [system for adapter in self.adapters for system in adapter.systems]
        return sorted(found, key=lambda each: (not each.adapter.ours, not each.adapter.private))


@lru_cache(maxsize=4)  # so that its digest is computed once
def _widened(table: TableSet, width: float) -> TableSet:
    return widened(table, width)


@lru_cache(maxsize=4)
def few(table: TableSet, most: int | None) -> TableSet:
    """So many of its records at most; then its splits are at random."""
    if most is None or table.records <= most:
        return table
    rows = np.sort(np.random.default_rng(0).permutation(table.records)[:most])
    columns, labels = table.part(rows)
    return attrs.evolve(table, table=columns, labels=labels, test_rows=None)


@attrs.frozen(eq=False)
class Board:
    """What a study found. kinds: of each table.  found: by table and system, then ε; only what was predicted.

    failed: what was not, or not by all seeds, in words.  broken: table, system and ε of those that gave an error.
    older: systems with published scores of older learners.
    """

    study: Study
    kinds: dict[str, Kind]
    systems: Sequence[System]
    found: dict[tuple[str, str], dict[float, Measured]]
    failed: Sequence[str] = ()
    broken: frozenset[tuple[str, str, float]] = frozenset()
    older: frozenset[str] = frozenset()

    def of(self, table: str, system: System, epsilon: float) -> Measured | None:
        """A cell; of systems without privacy the same for every ε."""
        cells = self.found.get((table, system.name), {})
        return cells.get(epsilon) if system.adapter.private else next(iter(cells.values()), None)

    def tables(self, *kinds: Kind) -> list[str]:
        """Those of these kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]


def board(plan: Plan, study: Study, store: Store, names: Sequence[str], *, apart: bool = False) -> Board:
    """Read a study back, its seeds and no others. names: of the tables that were measured.

    apart: whether those of its seeds that there are will do for systems that are measured apart.
    """
    found: dict[tuple[str, str], dict[float, Measured]] = {}
    short = dict[str, dict[str, None]]()
    kinds, failed, older, broken = dict[str, Kind](), list[str](), set[str](), set[tuple[str, str, float]]()
    for name in names:
        table = plan.table(name)
        kinds[name] = table.kind
        for system in plan.systems:
            for cell in study.cells(name, table.kind, system):
                key = measured_by(system.adapter, plan.seen(table, cell.width))
                measured = store.shown(cell, key, adapter_digest(system.adapter))
                if measured is None:
                    continue
                some = apart and system.adapter.heavy
                most = _there(measured, study.seeds) if some else study.seeds
                why = _incomplete(measured, max(1, most))
                if measured.failed and most < study.seeds:
                    broken.add((name, system.name, cell.epsilon))
                if why and measured.failed:  # what failed by a seed that is not asked for here is no matter
                    failed.append(failure(cell, measured.failed))
                    broken.add((name, system.name, cell.epsilon))
                    continue
                if why:
                    short.setdefault(f"{system.name}: {why}", {})[name] = None
                    continue
                seeds = {seed: measured.seeds[seed] for seed in range(most)}
                found.setdefault((name, system.name), {})[cell.epsilon] = attrs.evolve(measured, seeds=seeds)
                older |= {system.name} if measured.key != key else set()
    failed += [f"{why}, on {', '.join(tables)}" for why, tables in short.items()]
    return Board(study, kinds, plan.systems, found, failed, frozenset(broken), frozenset(older))


def _there(measured: Measured, most: int) -> int:
    """How many seeds are there, from 0 on."""
    return next((seed for seed in range(most) if seed not in measured.seeds), most)


def _incomplete(measured: Measured, seeds: int) -> str:
    """Why it cannot be compared with those that have all seeds, "" where it can."""
    there = len(set(range(seeds)) & set(measured.seeds))
    return "" if there == seeds else f"{there} of {seeds} seeds are measured"
