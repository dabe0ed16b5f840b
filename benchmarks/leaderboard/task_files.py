"""A table's parts as files, which adapters are given: written once, by whoever asks first."""

import hashlib
import json
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray
from benchmarks.tables import TableSet, split


def facts(table: TableSet) -> str:
    """What is public, as JSON."""
    return json.dumps(
        {
            "kind": table.kind,
            "columns": [
                {"name": c.name, "lower": c.lower, "upper": c.upper, "categories": list(c.categories)}
                for c in table.columns
            ],
            "classes": len(table.classes),
            "label_bounds": list(table.label_bounds),
        }
    )


def arrays(table: TableSet, rows: IntArray, *, labelled: bool) -> dict[str, npt.NDArray[Any]]:
    """A part's records, with labels for training only: what is predicted from has none."""
    columns = {f"column:{place}": table.table[c.name][rows] for place, c in enumerate(table.columns)}
    return {"facts": np.array(facts(table)), **columns, **({"labels": table.labels[rows]} if labelled else {})}


@lru_cache(maxsize=8)
def records_digest(table: TableSet) -> str:
    """Of everything that scores depend on but systems: what is public, the records, the test part."""
    digest = hashlib.sha256(f"{facts(table)} {table.test_rows}".encode())
    for values in (table.labels, *(table.table[column.name] for column in table.columns)):
        digest.update("\n".join(map(str, values.tolist())).encode())
    return digest.hexdigest()[:16]


@attrs.frozen
class Files:
    """The two parts of a seed. records: of the training part.  labels: of the test part."""

    train: Path
    test: Path
    records: int
    labels: npt.NDArray[Any]


class TaskFiles:
    """Files below a folder; threads may ask at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._kept: dict[tuple[str, float, int], Files] = {}

    def of(self, table: TableSet, width: float, seed: int) -> Files:
        """The parts of a table for a seed. width: a name for how wide its bounds are."""
        key = (table.name, width, 0 if table.test_rows is not None else seed)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._written(table, key)
            return self._kept[key]

    def _written(self, table: TableSet, key: tuple[str, float, int]) -> Files:
        train, test = split(table, key[2])
        place = self._folder / "-".join(map(str, key))
        place.mkdir(parents=True)
        for name, rows in (("train", train), ("test", test)):
            np.savez(place / f"{name}.npz", **arrays(table, rows, labelled=name == "train"))  # type: ignore[arg-type]  # numpy's stub takes any keyword for its flag
        return Files(place / "train.npz", place / "test.npz", int(train.size), table.labels[test])
