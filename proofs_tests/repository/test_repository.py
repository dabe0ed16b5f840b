"""The repository checks itself: layers, the seal, sizes, exports."""

import ast
import importlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ["accountant", "mechanisms", "boosting", "learners", "exchequer"]
MAY_IMPORT = {name: set(LAYERS[: place + 1]) for place, name in enumerate(LAYERS)} | {
    "proofs_tests": {*LAYERS, "proofs_tests", "benchmarks"},
    "benchmarks": {*LAYERS, "proofs_tests", "benchmarks"},
}


def sources(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "typing_programs" not in path.parts]


ALL = [path for folder in MAY_IMPORT for path in sources(folder)]


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


SHOWS_THE_KIT = ROOT / "exchequer/testing.py"
"""Which looks it up by its name; only types are imported from above."""


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_go_downwards_only(folder: str) -> None:
    assert sources(folder)
    for path in (each for each in sources(folder) if each != SHOWS_THE_KIT):
        ours = imported(ast.parse(path.read_text(encoding="utf-8"))) & set(MAY_IMPORT)
        assert ours <= MAY_IMPORT[folder], f"{path.relative_to(ROOT)} imports upwards: {ours - MAY_IMPORT[folder]}"


def test_only_the_ledger_opens_protected_data() -> None:
    """`unseal` and the mangled name appear in the module that defines them and in the ledger, nowhere else."""
    allowed = {"accountant/ledger/protected_data.py", "accountant/ledger/ledger.py"}
    opener = re.compile(r"\bunseal\b|_Protected__|__content\b")
    found = {str(p.relative_to(ROOT)) for p in ALL if opener.search(p.read_text(encoding="utf-8"))}
    assert found - {"proofs_tests/repository/test_repository.py"} == allowed


@pytest.mark.parametrize("folder", LAYERS)
def test_a_folder_opens_with_what_may_live_there(folder: str) -> None:
    document = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8")))
    assert document
    assert re.search(r"\b(may not|no |nothing|not )", document, re.IGNORECASE)


def function_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = [b for b in node.body if not (isinstance(b, ast.Expr) and isinstance(b.value, ast.Constant))]
    return (node.end_lineno or 0) - (body[0].lineno if body else node.lineno) + 1


def test_files_and_functions_stay_short() -> None:
    for path in ALL:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 500, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert function_length(node) <= 60, f"{path}:{node.lineno} {node.name}"


@pytest.mark.parametrize("folder", LAYERS[:-1])
def test_public_names_exist_and_are_documented(folder: str) -> None:
    module = importlib.import_module(folder)
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, type) or callable(thing):
            assert thing.__doc__, f"{folder}.{name} has no docstring"


def test_every_ignore_has_a_reason() -> None:
    ignore = re.compile(r"# type: ignore(?!\[[a-z-]+(, [a-z-]+)*\]  # \w)")
    for path in ALL:
        if path != Path(__file__):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                assert not ignore.search(line), f"{path}:{number}: say why"


def test_nothing_of_this_machine_is_committed() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    for name in tracked.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ""} and path.is_file() and "test_repository" not in name:
            text = path.read_text(encoding="utf-8")
            assert "/work/" not in text, name
            assert "/root/" not in text, name
