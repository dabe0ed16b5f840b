"""Code that its authors published in a repository and in no package registry: checked out at a commit, and built.

It is taken by git itself, so whoever has copies of repositories elsewhere says so to git, by `url.….insteadOf`.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.peers import one_at_a_time
from benchmarks.runner import Missing

FIELDS: Final = frozenset(("repository", "commit", "paths", "imports", "build"))
COMMIT: Final = re.compile(r"[0-9a-f]{40}")

CHECKOUT: Final = "source"
"""The checkout's name within an environment."""

PATH_FILE: Final = "source.pth"
"""Puts the checkout on the path of an environment. Written last: an environment without it was interrupted."""

PYTHON: Final = "python"
"""In a command: the environment's interpreter."""


@attrs.frozen
class Source:
    """Where an adapter's code comes from. commit: 40 hexadecimal digits.

    paths: folders and files to check out, all of them where there are none.  imports: the folder of the checkout that
    its modules are imported from.  build: commands, run in the checkout one after the other.
    """

    repository: str
    commit: str
    paths: tuple[str, ...] = ()
    imports: str = "."
    build: tuple[tuple[str, ...], ...] = ()


def source_of(said: Mapping[str, Any]) -> Source:
    """From a header's table. Raises ValueError with what is wrong."""
    if unknown := sorted(set(said) - FIELDS):
        raise ValueError(f"unknown: {', '.join(unknown)}")
    repository, commit, imports = (said.get(name, default) for name, default in _TEXTS.items())
    if not isinstance(repository, str) or not repository:
        raise ValueError(f"repository = {repository!r}: expected an address that git can clone")
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit):
        raise ValueError(f"commit = {commit!r}: expected 40 hexadecimal digits")
    if not isinstance(imports, str) or not imports:
        raise ValueError(f"imports = {imports!r}: expected a folder of the repository")
    build = said.get("build", [])
    if not isinstance(build, list) or not all(_words(command) and command for command in build):
        raise ValueError(f"build = {build!r}: expected a list of commands, each a list of words")
    if not _words(paths := said.get("paths", [])):
        raise ValueError(f"paths = {paths!r}: expected a list of folders and files")
    return Source(repository, commit, tuple(paths), imports, tuple(map(tuple, build)))


_TEXTS: Final = {"repository": None, "commit": None, "imports": "."}


def _words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def installed(source: Source, python: Path) -> None:
    """Have it in an environment; nothing where it is there. python: the environment's. Raises Missing with why not."""
    place = python.parent.parent
    with one_at_a_time(place.with_name(f"{place.name}.lock")):
        ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        file = Path(_run(source, ask, place).strip()) / PATH_FILE
        if not file.exists():
            _build(source, python, place / CHECKOUT)
            unfinished = file.with_suffix(".unfinished")
            unfinished.write_text(f"{place / CHECKOUT / source.imports}\n", encoding="utf-8")
            unfinished.replace(file)


def _build(source: Source, python: Path, checkout: Path) -> None:
    shutil.rmtree(checkout, ignore_errors=True)
    _run(source, ["git", "clone", "--quiet", "--no-checkout", source.repository, str(checkout)], checkout.parent)
    _run(source, ["git", "checkout", "--quiet", source.commit, "--", *(source.paths or ["."])], checkout)
    for program, *words in source.build:
        _run(source, [str(python) if program == PYTHON else program, *words], checkout)


LIMIT: Final = 1800.0
"""Seconds that a command may take."""


def _run(source: Source, command: Sequence[str], place: Path) -> str:
    """What it prints. Raises Missing where it fails."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}  # git would ask for a name and a password, and wait
    how = {"cwd": place, "env": quiet, "stdin": subprocess.DEVNULL, "timeout": LIMIT, "errors": "replace"}
    try:
        done = subprocess.run(command, capture_output=True, **how)  # type: ignore[call-overload]  # a table of options
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(source, command, str(error)) from error
    if done.returncode:
        raise _missing(source, command, done.stderr or done.stdout)
    return str(done.stdout)


def _missing(source: Source, command: Sequence[str], said: str) -> Missing:
    last = (said.strip() or "it did not say why").splitlines()[-1]
    return Missing(
        f"{source.repository} at {source.commit[:8]}: {' '.join(command)} failed ({last}). "
        "Run this again where the repository is reachable and what it is built with is installed"
    )
