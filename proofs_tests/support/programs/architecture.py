"""The table of rooms in ARCHITECTURE.md, made of the code: `python -m proofs_tests.support.programs.architecture`.

A room is a folder with an `__init__`. Its line in the table is the first sentence of that `__init__`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "ARCHITECTURE.md"
LAYERS: Final = ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests", "benchmarks")
BEGIN: Final = "<!-- rooms: made by python -m proofs_tests.support.programs.architecture -->"
END: Final = "<!-- end of rooms -->"

_SENTENCE: Final = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)
_BETWEEN: Final = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)


@attrs.frozen
class Room:
    """A sub-package: its dotted name, and what it says of itself."""

    name: str
    sentence: str


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line. Raises ValueError where there is none."""
    found = _SENTENCE.match(text)
    if found is None:
        raise ValueError(f"expected a sentence, got {text!r}")
    return " ".join(found[0].split())


def rooms() -> Iterator[Room]:
    """Every room of every layer, in the order of the layers."""
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("__init__.py")):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            yield Room(".".join(path.parent.relative_to(ROOT).parts), first_sentence(said))


def table() -> str:
    """The rooms as a table in Markdown, each with a link to its folder."""
    lines = ["| room | what lives there |", "| --- | --- |"]
    lines += [f"| [`{room.name}`]({room.name.replace('.', '/')}) | {room.sentence} |" for room in rooms()]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """ARCHITECTURE.md with the table as it is now. Raises ValueError where the marks are missing."""
    filled, number = _BETWEEN.subn(lambda _: table(), text)
    if number != 1:
        raise ValueError(f"expected {BEGIN!r} and {END!r} once, found them {number} times")
    return filled


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
