"""Six public tables, from the file to an evaluated model, by the commands that the page on them shows."""

import re
from pathlib import Path
from typing import Final

import pytest

from exchequer.datasets import data_folder
from proofs_tests.site.blocks import blocks, run_page
from proofs_tests.site.pages import ROOT

PAGE: Final = "how-to/six-tables.md"
TEXT: Final = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
BEGINS: Final = [match.start() for match in re.finditer("^## ", TEXT, re.MULTILINE)]
WALKS: Final = {
    TEXT[start + 3 : end].split()[0].strip(":").lower(): (start, end)
    for start, end in zip(BEGINS, [*BEGINS[1:], len(TEXT)], strict=True)
}
"""Where each table's part of the page begins and ends."""


def part_of(name: str) -> str:
    """What stands before all walks, and then the one; lines have their numbers on the page."""
    start, end = WALKS[name]
    between = "\n" * TEXT.count("\n", BEGINS[0], start)
    return TEXT[: BEGINS[0]] + between + TEXT[start:end]


def test_there_are_six_of_at_most_four_commands_and_nothing_is_edited_but_todos() -> None:
    assert list(WALKS) == ["abalone", "medical", "german", "orders", "skin", "votes"]
    for name in WALKS:
        found = blocks(part_of(name))
        assert sum(block.text.count("exchequer ") for block in found if block.kind == "sh") == 4
        assert (
            [block.text for block in found if block.kind == "sh"][-1].splitlines()[-1].startswith("exchequer predict")
        )
        assert all(block.title in (None, "codebook.csv") for block in found), "no schema is written by hand"


@pytest.mark.data
@pytest.mark.parametrize("name", WALKS)
def test_from_a_file_to_a_model_with_nothing_edited_but_the_todos(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it prints what the page says."""
    if data_folder(None) is None:
        pytest.skip("EXCHEQUER_DATA names no folder")
    monkeypatch.chdir(tmp_path)
    run_page(part_of(name), PAGE)
