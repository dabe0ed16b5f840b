"""`make dist`: builds the wheel and the source, says their sizes, and installs each in a fresh environment.

What the packages need is taken from the environment that runs this, so that nothing but setuptools is fetched.
"""

import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path
from typing import Final

import attrs

ROOT: Final = Path(__file__).parents[3]

TRIED: Final = """
import numpy as np
from exchequer import Label, Numeric, PrivateBoostClassifier, Schema, testing
ages = np.random.default_rng(0).uniform(18, 90, 200)
schema = Schema((Numeric("age", 18, 90),), Label("old", ("no", "yes")))
model = PrivateBoostClassifier(1.0, 1e-6, schema=schema).fit({"age": ages}, np.where(ages > 50, "yes", "no"))
print(model.statement_.spent, callable(testing.check_mechanism))
"""
"""What must work in an environment where the package is installed: a fit, and the verification kit."""


@attrs.frozen
class Package:
    """A file that can be installed. size: in bytes."""

    path: Path

    @property
    def size(self) -> int:
        """Of the file."""
        return self.path.stat().st_size


def built(folder: Path) -> list[Package]:
    """The source and, from that, the wheel. Raises CalledProcessError, with what was printed, where that fails."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    _run(command)
    return [Package(path) for path in sorted(folder.iterdir())]


def tried(package: Package, folder: Path) -> str:
    """What a program prints that uses the package in a fresh environment in `folder`, far from this checkout."""
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    needed = sysconfig.get_paths()["purelib"]
    _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", str(package.path)])
    # Behind the environment's own packages, so that what is installed there is what is imported.
    inside = next((folder / "lib").glob("python*/site-packages"))
    (inside / "needed.pth").write_text(needed + "\n", encoding="utf-8")
    version = _run([str(folder / "bin" / "exchequer"), "--version"], folder)
    where = _run([str(python), "-c", "import exchequer; print(exchequer.__file__)"], folder)
    assert Path(where.strip()).is_relative_to(inside), where
    explained = _run([str(folder / "bin" / "exchequer"), "help", "zcdp"], folder)
    return version + explained + _run([str(python), "-c", TRIED], folder)


def _run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=_plain_environment())
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return done.stdout


def _plain_environment() -> dict[str, str]:
    """Without the paths that would find this checkout."""
    import os

    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def main() -> None:
    """Leave both in ./dist."""
    out = ROOT / "dist"
    out.mkdir(exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    for package in built(out):
        with tempfile.TemporaryDirectory() as folder:
            said = tried(package, Path(folder))
        sys.stdout.write(f"{package.path.name}: {package.size / 1024:.0f} KiB, installed and tried:\n{said}")


if __name__ == "__main__":
    main()
