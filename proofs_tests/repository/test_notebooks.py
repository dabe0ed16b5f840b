"""Notebooks that are made of the tutorials are notebooks, and run from their first cell to their last."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from proofs_tests.site.blocks import blocks
from proofs_tests.site.notebooks import notebook
from proofs_tests.site.pages import ROOT

TUTORIALS = sorted(path for path in (ROOT / "docs/tutorials").glob("*.md") if path.stem != "index")
RUN = [path for path in TUTORIALS if path.stem in ("a-private-model-from-a-csv", "add-a-mechanism")]
"""One with commands of a shell and one with files. Each command starts a program anew, so that all five would take
minutes; their blocks run in `test_pages`."""


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


@pytest.mark.parametrize("path", RUN, ids=lambda path: str(path.stem))
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "exchequer"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m exchequer "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = read(path.read_text(encoding="utf-8"))
    NotebookClient(made, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
