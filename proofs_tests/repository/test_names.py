"""Public names: all of them under one roof, old ones for one version more, and nobody else's in their place."""

import ast
import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import exchequer
from accountant.renamed import MOVED, MovedModule
from accountant.renamed_names import RENAMED
from exchequer.own_packages import PACKAGES
from proofs_tests import harness

ROOT = Path(__file__).parents[2]


def _names_of_0_1() -> dict[str, list[str]]:
    """The public names of 0.1, by module.

    But for steps of how a line was written or a fit paid, which are one now, and a constant that no fit asks for.
    """
    text = Path(__file__).with_name("names_of_0_1.txt").read_text(encoding="utf-8").replace("\n  ", " ")
    return {module: names.split() for module, _, names in (line.partition(":") for line in text.splitlines())}


NAMES_OF_0_1 = _names_of_0_1()


def test_every_public_name_is_under_one_roof() -> None:
    seen: set[str] = set()
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            assert getattr(exchequer, name) is getattr(package, name)
            assert name not in seen, f"{name} is public in two packages"
            seen.add(name)
    assert seen <= set(dir(exchequer))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        exchequer.Nothing  # type: ignore[attr-defined]  # noqa: B018  # the point of it


def test_no_public_name_is_also_a_module_of_the_command_line() -> None:
    modules = {path.stem for path in (ROOT / "exchequer").iterdir()}
    assert not modules & {name for package in PACKAGES for name in importlib.import_module(package).__all__}


def test_the_kit_is_there_as_testing() -> None:
    for name in harness.__all__:
        assert getattr(exchequer.testing, name) is getattr(harness, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        exchequer.testing.nothing  # type: ignore[attr-defined]  # noqa: B018  # the point of it


def test_importing_it_takes_nothing_along() -> None:
    code = "import sys, exchequer; sys.exit(bool({'numpy', 'scipy', 'sklearn', 'accountant'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_anothers_package_of_our_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "learners").mkdir()
    (tmp_path / "learners/__init__.py").write_text("")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import exchequer"
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1
    assert f"needs its own package 'learners', which was found in {tmp_path}" in run.stderr


# --- modules that moved -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", sorted(MOVED))
def test_a_module_that_moved_is_where_it_is_said_to_be(old: str) -> None:
    assert (ROOT / f"{MOVED[old].replace('.', '/')}.py").exists() or (ROOT / MOVED[old].replace(".", "/")).is_dir()


@pytest.mark.parametrize("old", sorted(name for name in MOVED if not (ROOT / name.replace(".", "/")).is_dir()))
def test_a_module_goes_on_by_its_old_name(old: str) -> None:
    with warnings.catch_warnings():  # of what it was in, if that has moved, too, and nobody asked for it yet
        warnings.simplefilter("ignore", MovedModule)
        importlib.import_module(old.rpartition(".")[0])
    sys.modules.pop(old, None)
    with pytest.warns(MovedModule, match=f"{old} has moved: import it from {MOVED[old]}"):
        module = importlib.import_module(old)
    new = importlib.import_module(MOVED[old])
    assert dir(module) == dir(new)
    assert all(getattr(module, name) is getattr(new, name) for name in dir(new) if not name.startswith("__"))


@pytest.mark.parametrize("old", sorted(name for name in MOVED if (ROOT / name.replace(".", "/")).is_dir()))
def test_names_of_a_module_go_on_where_a_package_has_its_name(old: str) -> None:
    package, module = importlib.import_module(old), importlib.import_module(MOVED[old])
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    own = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    for name in own:
        if name in vars(package):
            assert vars(package)[name] is getattr(module, name)
            continue
        with pytest.warns(MovedModule, match=f"{old}.{name} has moved: import it from {MOVED[old]}"):
            assert getattr(package, name) is getattr(module, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_this_name'"):
        package.nothing_of_this_name  # noqa: B018  # the point of it


# --- names that changed -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::accountant.renamed.MovedModule")
@pytest.mark.parametrize("module", NAMES_OF_0_1)
def test_every_public_name_of_the_first_version_goes_on(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES_OF_0_1[module] if not hasattr(found, name)] == []


@pytest.mark.parametrize("old", sorted(set(RENAMED) - set(MOVED)))
def test_a_name_that_changed_says_what_it_is_now(old: str) -> None:
    module, _, name = old.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MovedModule)
        found = importlib.import_module(module)
    with pytest.warns(MovedModule, match=re.escape(f"{old} is {RENAMED[old]} now")):
        getattr(found, name)
