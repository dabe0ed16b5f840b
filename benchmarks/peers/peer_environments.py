"""An interpreter for each peer, with exactly the packages that it is measured with.

The one that runs this where it has them; else an environment made by `venv` and pip on first use, kept for later runs
in the folder that EXCHEQUER_PEERS names, by default in the user's cache.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Final

from benchmarks.runner import ABSENT, Line, Missing

OURS: Final = "ours"
"""Stands where a peer's name is asked for: it is measured by the interpreter that runs this."""

SEARCHED: Final = "EXCHEQUER_PEERS"

PINS: Final[dict[str, tuple[str, ...]]] = {
    # diffprivlib 0.6.6 passes scikit-learn an argument that 1.8 has removed, and scipy one that 1.18 will remove.
    "diffprivlib": ("diffprivlib==0.6.6", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"),
    # What `interpret` adds to its core is plots and explainers of others.
    "interpret": ("interpret-core==0.7.8", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "pandas==3.1.1"),
    "opendp": ("opendp==0.16.0", "numpy==2.4.6"),
    "dp-accounting": ("dp-accounting==0.6.0", "numpy==2.4.6", "scipy==1.17.1"),
}
"""For Python 3.11 to 3.13."""

STAMP: Final = "installed.txt"
"""Written last, so an environment without it was interrupted."""


def folder() -> Path:
    """Where environments are kept."""
    chosen = os.environ.get(SEARCHED)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "exchequer" / "peers"


def python_of(peer: str, folder: Path) -> Path:
    """The interpreter that has a peer, a key of PINS, with its packages; made under `folder` where there is none.

    Raises Missing with the remedy where pip cannot install them.
    """
    return python_with(peer, PINS[peer], folder)


def python_with(name: str, pins: Sequence[str], folder: Path) -> Path:
    """The same for packages that are pinned elsewhere. name: what the environment is called."""
    return Path(sys.executable) if has(pins) else environment(name, pins, folder)


def environment(name: str, pins: Sequence[str], folder: Path, besides: object = ()) -> Path:
    """Always an environment of its own. besides: what else is put into it, so that it has another place."""
    place = _place(name, [*pins, *([repr(besides)] if besides else [])], folder)
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    folder.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(place.with_name(f"{place.name}.lock")):
        if not ((place / STAMP).exists() and python.exists()):
            _make(name, pins, place, python)
    return python


def place_of(peer: str, folder: Path) -> Path:
    """Where a peer's environment is: another place for other packages, or for another Python."""
    return _place(peer, PINS[peer], folder)


def _place(name: str, pins: Sequence[str], folder: Path) -> Path:
    digest = hashlib.sha256(" ".join(pins).encode()).hexdigest()[:8]
    return folder / "{}-{}.{}-{}".format(name, *sys.version_info[:2], digest)


def present(peers: Iterable[str]) -> tuple[dict[str, Path], list[Line]]:
    """The interpreters of those that are here or can be made, and a line for each that is absent.

    peers: keys of PINS, and OURS.
    """
    found, lines = dict[str, Path](), list[Line]()
    for peer in dict.fromkeys(peers):
        try:
            found[peer] = Path(sys.executable) if peer == OURS else python_of(peer, folder())
        except Missing as error:
            lines.append(Line(ABSENT, str(error)))
    return found, lines


def has(pins: Sequence[str]) -> bool:
    """Whether this interpreter has exactly these versions."""
    try:
        return all(metadata.version(name) == version for name, version in (pin.split("==") for pin in pins))
    except metadata.PackageNotFoundError:
        return False


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """One process at a time: what another is installing is not an interrupted installation."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(peer: str, pins: Sequence[str], place: Path, python: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", *pins]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it did not say why"]
        raise Missing(
            f"{peer}: pip could not install {', '.join(pins)} ({said[-1]}). Are all of these published, for this "
            "Python? Run this again where a package registry is reachable, or by an interpreter that has them; "
            f"{SEARCHED} names the folder of environments"
        )
    (place / STAMP).write_text("\n".join(pins) + "\n", encoding="utf-8")
