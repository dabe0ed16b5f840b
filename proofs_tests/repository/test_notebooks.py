"""Notebooks that are made of the tutorials are notebooks, and run from their first cell to their last."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from proofs_tests.site.blocks import blocks
from proofs_tests.site.notebook_shell import run
from proofs_tests.site.notebooks import notebook
from proofs_tests.site.pages import ROOT

TUTORIALS = sorted(path for path in (ROOT / "docs/tutorials").glob("*.md") if path.stem != "index")

SHELL = "from proofs_tests.site import notebook_shell; notebook_shell.install(get_ipython())"
"""The first cell, so that five notebooks take a minute; `test_pages` compares what commands print and end with."""


def read(markdown: str) -> nbformat.NotebookNode:
    made: nbformat.NotebookNode = nbformat.reads(notebook(markdown), 4)  # type: ignore[no-untyped-call]  # has no types
    return made


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: str(path.stem))
def test_a_tutorial_is_a_valid_notebook_with_all_of_its_blocks(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    made = read(text)
    nbformat.validate(made)
    cells = [cell.source for cell in made.cells if cell.cell_type == "code"]
    for block in blocks(text):
        if block.kind == "python":
            assert any(block.text.rstrip("\n") in cell for cell in cells)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: str(path.stem))
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    made = read(path.read_text(encoding="utf-8"))
    made.cells.insert(0, nbformat.v4.new_code_cell(SHELL))  # type: ignore[no-untyped-call]  # has no types
    NotebookClient(made, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_a_command_that_is_not_there_stops_a_notebook() -> None:
    """So that the test above can fail."""
    with pytest.raises(FileNotFoundError):
        run("exchecker --version")
