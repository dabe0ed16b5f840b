"""What a run keeps of each part, as soon as it is measured: so that an interrupted one goes on where it was."""

import ast
import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.runner.report import Table, as_record, from_record
from benchmarks.runner.suite import Setting

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("accountant", "mechanisms", "boosting", "learners", "exchequer")
SHOWING = ("audit_figures", "catalogue", "machine", "openml", "plots", "readme", "readme_figures", "results", "run")


def slug(text: str) -> str:
    """A file name for it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("ε", "epsilon").replace("δ", "delta")).strip("-")[:80]


def code_digest(module: str, packages: Sequence[str] = PRODUCT) -> str:
    """Of what measurements of a benchmark are made by: packages of ours, and what its module imports of the benchmarks
    and tests, but for what only shows them."""
    product = (path for folder in packages for path in (ROOT / folder).rglob("*.py"))
    digest = hashlib.sha256()
    for path in sorted({*_imported(module), *product}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def imported_by(path: Path) -> set[Path]:
    """The files of the benchmarks and the tests that a file imports, and so on; itself not, unless they import it."""
    return {each for name in _names(path) for each in _imported(name)}


def _names(path: Path) -> list[str]:
    """Modules of the benchmarks or the tests that a file imports, and what it imports of them."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("benchmarks", "proofs_tests"):
            found += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def _imported(module: str) -> set[Path]:
    """The files of a module of the benchmarks or the tests, and of those that it imports, and so on."""
    found, waiting = set[Path](), [module]
    while waiting:
        name = waiting.pop()
        places = (ROOT / f"{name.replace('.', '/')}.py", ROOT / name.replace(".", "/") / "__init__.py")
        path = next((place for place in places if place.is_file()), None)
        if path is None or path in found or name.split(".")[-1] in SHOWING:
            continue
        found.add(path)
        waiting += _names(path)
    return found


@attrs.frozen
class Kept:
    """A part's tables, and how long they took."""

    tables: tuple[Table, ...] = attrs.field(converter=tuple[Table, ...])
    seconds: float


@attrs.frozen
class Shelf:
    """Files of finished parts. They count as long as code, data and size of the run stay the same."""

    folder: Path
    key: tuple[str, ...]

    @staticmethod
    def of(setting: Setting, module: str) -> "Shelf":
        """For a run of that module."""
        where = "" if setting.data is None else str(Path(setting.data).resolve())
        size = "quick" if setting.quick else "full"
        return Shelf(setting.out / "parts" / size, (code_digest(module), where))

    def _path(self, part: str) -> Path:
        return self.folder / f"{slug(part)}.json"

    def get(self, part: str) -> Kept | None:
        """What an earlier run found; None where it did not come so far, or ran something else."""
        try:
            record: dict[str, Any] = json.loads(self._path(part).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if record["key"] != list(self.key):
            return None
        return Kept(map(from_record, record["tables"]), record["seconds"])

    def put(self, part: str, kept: Kept) -> None:
        """Keep it: all of the file or nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        record = {"key": list(self.key), "seconds": kept.seconds, "tables": [as_record(t) for t in kept.tables]}
        path = self._path(part)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")
        unfinished.replace(path)
