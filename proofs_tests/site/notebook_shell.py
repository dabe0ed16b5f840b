"""What a notebook's lines after `!` do in a test: `exchequer` runs in the kernel, which has everything imported.

A kernel starts a program anew for each line, with seconds of imports. All other programs are started as they are.
"""

import shlex
import subprocess
import sys
from typing import Protocol

from click.testing import CliRunner


class Shell(Protocol):
    """What of IPython is needed here."""

    system: object


def run(line: str) -> None:
    """Print what a command prints, and raise what it does not report as an error of its user."""
    program, *words = shlex.split(line)
    if program != "exchequer":
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=300, check=False)
        sys.stdout.write(done.stdout + done.stderr)
        if done.returncode == 127:
            raise FileNotFoundError(done.stderr)
        return
    from exchequer.cli import main

    found = CliRunner().invoke(main, words, terminal_width=100)
    sys.stdout.write(found.output)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception


def install(shell: Shell) -> None:
    """Have this shell run its commands so."""
    shell.system = run
