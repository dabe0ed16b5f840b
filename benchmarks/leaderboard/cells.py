"""What is measured: cells, and a file for each, so that an interrupted run goes on where it was."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import attrs

from benchmarks.adapters.protocol import Neighbours
from benchmarks.runner import slug

DeltaRule: TypeAlias = Literal["1e-5", "n^-1.1"]
"""δ as a number, or from the number of training records, which is then public."""

NO_PRIVACY: Final = float("inf")
"""The ε of systems that heed none."""


def delta_of(rule: DeltaRule, records: int) -> float:
    """δ, in (0, 1). records: of the training part."""
    return 1e-5 if rule == "1e-5" else float(records**-1.1)


@attrs.frozen
class Cell:
    """A system on a table at a promise. width: the bounds are so many times as wide as the table's public ones."""

    table: str
    system: str
    epsilon: float
    rule: DeltaRule = "1e-5"
    neighbours: Neighbours = "add-remove-one"
    width: float = 1.0

    @property
    def place(self) -> Path:
        """Its file, below the folder of all."""
        wide = "" if self.width == 1.0 else f"-bounds-{self.width:g}x"
        kind = (
            "no-privacy" if self.epsilon == NO_PRIVACY else f"{self.neighbours}-delta-{self.rule}-eps-{self.epsilon!r}"
        )
        return Path(f"{self.table}{wide}") / slug(self.system) / f"{kind}.json"


@attrs.define
class Measured:
    """What was found for a cell. key: of what it was measured by.  seeds: scores and costs by seed.

    failed: why its system gave no predictions, "" where it did.  versions: of the packages, and the machine.
    """

    cell: Cell
    key: str
    seeds: dict[int, dict[str, float]] = attrs.field(factory=dict)
    failed: str = ""
    versions: Mapping[str, str] = attrs.field(factory=dict)

    def of(self, score: str) -> list[float]:
        """A score by seed, in their order; of those seeds that have it."""
        return [self.seeds[seed][score] for seed in sorted(self.seeds) if score in self.seeds[seed]]


@attrs.frozen
class Store:
    """A folder with a file for each cell. Whoever writes a cell is alone with it."""

    folder: Path

    def get(self, cell: Cell, key: str) -> Measured | None:
        """What was found by this key; what was measured by something else is none."""
        try:
            record = json.loads((self.folder / cell.place).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if record["key"] != key or record["cell"] != _cell(cell):
            return None
        seeds = {int(seed): scores for seed, scores in record["seeds"].items()}
        return Measured(cell, record["key"], seeds, record["failed"], record["versions"])

    def shown(self, cell: Cell, key: str, adapter: str) -> Measured | None:
        """What tables show of it: what was measured here by what is there now. adapter: digest of its system's file."""
        del adapter
        return self.get(cell, key)

    def put(self, found: Measured) -> None:
        """Keep it: all of the file or nothing."""
        path = self.folder / found.cell.place
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(_record(found), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)


def _cell(cell: Cell) -> dict[str, Any]:
    return {**attrs.asdict(cell), "epsilon": repr(cell.epsilon)}


def _record(found: Measured) -> dict[str, Any]:
    return {
        "cell": _cell(found.cell),
        "key": found.key,
        "failed": found.failed,
        "versions": dict(found.versions),
        "seeds": {str(seed): scores for seed, scores in sorted(found.seeds.items())},
    }
