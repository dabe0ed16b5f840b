"""Memory of a work in a process of its own: what a process had never falls, and its child's figure may start there.

Linux only.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

from benchmarks.runner.partial_results import ROOT

Argument: TypeAlias = str | int | float


def peak() -> float:
    """The most memory that this program had since it began, in GiB."""
    # getrusage would tell of the process that started this one as well, which may have been larger.
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20


def elsewhere(module: str, function: str, *arguments: Argument) -> dict[str, float]:
    """What `module.function(*arguments)`, a mapping from names to numbers, gives in a fresh process of this Python.

    Raises RuntimeError with what the process wrote where it fails.
    """
    program = (
        "import importlib, json, sys; module, function, *arguments = json.loads(sys.argv[1]); "
        "print(json.dumps(getattr(importlib.import_module(module), function)(*arguments)))"
    )
    command = [sys.executable, "-c", program, json.dumps([module, function, *arguments])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{module}.{function} failed in a process of its own:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))
