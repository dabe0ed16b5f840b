"""Notebooks of the tutorials: the same text and blocks, so that a page is the one source of both."""

import json
import posixpath
import re
from typing import Final

from proofs_tests.site.blocks import Block, blocks

_FENCE: Final = re.compile(r"^```.*?^```$\n?", re.MULTILINE | re.DOTALL)
_COMMENT: Final = re.compile(r"\s+#.*$")


def notebook(markdown: str) -> str:
    """A notebook, as JSON. Python is a cell, each command of a shell a line after `!`, a titled block a file."""
    cells, end = list[dict[str, object]](), 0
    for match, block in zip(_FENCE.finditer(markdown), blocks(markdown), strict=True):
        _text(cells, markdown[end : match.start()])
        end = match.end()
        if (sources := _sources(block)) is None:
            _text(cells, match[0])
        else:
            cells += [_code(source) for source in sources]
    _text(cells, markdown[end:])
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _text(cells: list[dict[str, object]], text: str) -> None:
    """Text becomes a cell of its own, or joins the one before."""
    if not text.strip():
        return
    if cells and cells[-1]["cell_type"] == "markdown":
        cells[-1]["source"] = f"{cells[-1]['source']}\n{text.strip()}\n"
    else:
        cells.append({"cell_type": "markdown", "metadata": {}, "source": text.strip() + "\n"})


def _code(source: str) -> dict[str, object]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _sources(block: Block) -> list[str] | None:
    """The texts of its cells; None for what is shown only."""
    if block.title is not None:
        folder = posixpath.dirname(block.title)
        return [*([f"!mkdir -p {folder}"] if folder else []), f"%%writefile {block.title}\n{block.text}"]
    if block.kind == "python":
        return [block.text.rstrip("\n")]
    if block.kind == "sh":
        lines = (_COMMENT.sub("", line) for line in block.text.splitlines() if line.strip())
        return ["\n".join(f"!{line}" for line in lines)]
    return None
