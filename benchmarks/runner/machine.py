"""What a run was made on: the day, the commit, the processor, the versions."""

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Final

from benchmarks.runner.partial_results import ROOT

PACKAGES: Final = (
    *("numpy", "scipy", "scikit-learn", "opendp", "matplotlib"),
    *("diffprivlib", "interpret-core", "smartnoise-sql", "smartnoise-synth"),
)


def today() -> str:
    """The day, as in 2026-11-22."""
    return str(datetime.date.today())


def versions() -> dict[str, str]:
    """Of Python and of what our speed depends on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Processor and cores, as far as this system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def commit() -> str:
    """Of the checkout; with a "+" where files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
