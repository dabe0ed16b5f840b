"""The process of an adapter: `python -m benchmarks.peer_workers.fits_adapter FILE` answers questions about fits.

Standard library and numpy only, as it runs in every adapter's environment.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Column, Columns, Promise, Task
from benchmarks.peer_workers.serve import Arrays, Floats, Job, serve_fits


@dataclass(frozen=True)
class Part:
    """Records of a file, and what is public about them: a JSON object with the fields of `Task`."""

    facts: dict[str, Any]
    columns: Columns
    labels: npt.NDArray[Any]


def loaded(path: Path) -> ModuleType:
    """The adapter as a module. Raises what it raises."""
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def part(arrays: Arrays) -> Part:
    """See `benchmarks.leaderboard.task_files`, which writes it. A training part only has labels."""
    facts: dict[str, Any] = json.loads(str(arrays["facts"]))
    records = {each["name"]: arrays[f"column:{place}"] for place, each in enumerate(facts["columns"])}
    return Part(facts, records, arrays["labels"] if "labels" in arrays else np.empty(0))


def task(part: Part, neighbours: Any) -> Task:
    """What the adapter is given."""
    columns = tuple(Column(**{**each, "categories": tuple(each["categories"])}) for each in part.facts["columns"])
    low, high = part.facts["label_bounds"]
    return Task(part.facts["kind"], columns, part.facts["classes"], (low, high), part.columns, part.labels, neighbours)


class Fitter:
    """An adapter, loaded with its imports, when what it prints comes between no answers any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._adapter: ModuleType | None = None

    def imports(self) -> None:
        """Load it; what it imports at once or in an `imports` of its own counts as its imports."""
        self._adapter = loaded(self._path)
        getattr(self._adapter, "imports", lambda: None)()

    def fit(self, train: Part, job: Job) -> Callable[[Part], Floats]:
        """Of `serve_fits`."""
        assert self._adapter is not None
        promise = Promise(job["epsilon"], job["delta"], job["neighbours"], job["seed"])
        predict = self._adapter.fit(task(train, job["neighbours"]), promise, **job["options"])
        return lambda other: np.asarray(predict(other.columns), dtype=np.float64)


def main(path: str) -> None:
    """Serve it, until the questions end."""
    fitter = Fitter(Path(path))
    serve_fits(part, fitter.fit, fitter.imports)


if __name__ == "__main__":
    main(sys.argv[1])
