"""What commands import before they answer: help nothing that computes, a refusal nothing that learns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_tests.support.learners.people import SCHEMA

HEAVY = ["numpy", "scipy", "sklearn", "opendp", "pandas", "accountant", "learners"]
LEARNING = ["sklearn", "pandas", "scipy.optimize", "scipy.stats", "scipy.signal", "learners.base"]

PROGRAM = """
import json, sys
from exchequer.cli import main
try:
    main({arguments!r}, prog_name="exchequer")
except SystemExit as end:
    print(json.dumps([end.code, [name for name in {names!r} if name in sys.modules]]))
"""


def imported(arguments: list[str], names: list[str], folder: Path) -> tuple[int, list[str]]:
    """The exit code of a command in a process of its own, and which of these modules it imported."""
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = PROGRAM.format(arguments=arguments, names=names)
    run = subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, env=path, capture_output=True, text=True)
    ended, found = json.loads(run.stdout.splitlines()[-1])
    return ended or 0, found


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["ledger", "--help"], ["--version"]])
def test_help_imports_nothing_that_computes(tmp_path: Path, arguments: list[str]) -> None:
    assert imported(arguments, HEAVY, tmp_path) == (0, [])


@pytest.mark.parametrize(
    ("schema", "row"),
    [
        (SCHEMA.replace("upper = 100", ""), "20,male,low"),
        (SCHEMA, "200,male,low"),
        (SCHEMA.replace("income", "wage"), "20,male,low"),
    ],
    ids=["schema", "record", "header"],
)
def test_a_refused_training_imports_nothing_that_learns(tmp_path: Path, schema: str, row: str) -> None:
    (tmp_path / "people.toml").write_text(schema, encoding="utf-8")
    (tmp_path / "people.csv").write_text(f"age,sex,income\n{row}\n", encoding="utf-8")
    arguments = ["train", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--out", "model.json"]
    assert imported(arguments, LEARNING, tmp_path) == (2, [])
