"""What a run keeps of each part, as soon as it is measured: so that an interrupted one goes on where it was."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import attrs

from benchmarks.report import Table, as_record, from_record
from benchmarks.suite import Setting

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests")


def slug(text: str) -> str:
    """A file name for it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("ε", "epsilon").replace("δ", "delta")).strip("-")[:80]


def code_digest() -> str:
    """Of the product's sources and of the benchmark modules that are loaded: what measurements are made by."""
    loaded = {
        Path(file).resolve()
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] == "benchmarks" and (file := getattr(module, "__file__", None))
    }
    files = sorted({*loaded, *(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))})
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
    def of(setting: Setting) -> "Shelf":
        """For a run of the modules that are loaded now."""
        where = "" if setting.data is None else str(Path(setting.data).resolve())
        return Shelf(setting.out / "parts", (code_digest(), "quick" if setting.quick else "full", where))

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
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")
        unfinished.replace(path)
