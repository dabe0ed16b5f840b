"""Programs that must not type-check: mypy must report exactly the marked lines, with the marked codes."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "proofs_tests" / "typing_programs").glob("*.py"))


def expected(program: Path) -> set[tuple[int, str]]:
    lines = program.read_text(encoding="utf-8").splitlines()
    marks = ((number, re.search(r"# E: ([a-z-]+)$", line)) for number, line in enumerate(lines, 1))
    return {(number, mark[1]) for number, mark in marks if mark}


def reported(output: str, program: Path) -> set[tuple[int, str]]:
    pattern = re.compile(rf"^\S*{re.escape(program.name)}:(\d+)(?::\d+)?: error: .* \[([a-z-]+)\]$", re.MULTILINE)
    return {(int(number), code) for number, code in pattern.findall(output)}


@pytest.fixture(scope="module")
def mypy_output(tmp_path_factory: pytest.TempPathFactory) -> str:
    cache = tmp_path_factory.mktemp("mypy")
    options = ["--strict", "--no-error-summary", "--follow-imports=silent", f"--cache-dir={cache}"]
    output, errors, _ = api.run([*options, "--config-file", str(ROOT / "pyproject.toml"), *map(str, PROGRAMS)])
    assert not errors
    return output


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 4


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_mypy_refuses_what_it_must_and_nothing_else(program: Path, mypy_output: str) -> None:
    assert expected(program)
    assert reported(mypy_output, program) == expected(program)
