"""The wheel and the source are built, are small, hold what users need, and work where nothing else of this is."""

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from proofs_tests.support.programs.packages import Package, built, tried


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    """By kind. Skips where setuptools cannot be fetched."""
    try:
        found = built(tmp_path_factory.mktemp("dist"))
    except subprocess.CalledProcessError as error:
        if "No matching distribution" in f"{error.stdout}{error.stderr}":
            pytest.skip("no package registry, which the build takes setuptools from")
        raise AssertionError(f"{error.stdout}\n{error.stderr}") from error
    return {"wheel" if each.path.suffix == ".whl" else "source": each for each in found}


def test_both_are_small(packages: dict[str, Package]) -> None:
    assert set(packages) == {"wheel", "source"}
    assert packages["wheel"].size <= 1.8e6
    assert packages["source"].size <= 1.8e6


def test_the_wheel_has_the_kit_the_schemas_and_the_templates_and_no_tests(packages: dict[str, Package]) -> None:
    with zipfile.ZipFile(packages["wheel"].path) as file:
        names = set(file.namelist())
    assert {"exchequer/schemas/adult.toml", "accountant/py.typed", "proofs_tests/harness/__init__.py"} <= names
    assert "exchequer/topics/topics.json" in names
    assert any(name.startswith("accountant/audit/report/templates/") for name in names)
    assert not [name for name in names if "/test_" in name or name.startswith(("benchmarks/", "docs/"))]


def test_the_source_has_what_the_wheel_is_built_of(packages: dict[str, Package]) -> None:
    with tarfile.open(packages["source"].path) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "exchequer/cli.py"} <= names
    assert {"setup.py", "GLOSSARY.md", "docs/reference/errors.md"} <= names


def test_the_wheel_works_in_a_fresh_environment(packages: dict[str, Package], tmp_path: Path) -> None:
    said = tried(packages["wheel"], tmp_path / "fresh")
    assert "exchequer, version" in said
    assert "zero-concentrated differential privacy" in said
    assert "approx-dp epsilon 1, delta 1e-06 True" in said
