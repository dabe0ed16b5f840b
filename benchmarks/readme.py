"""The figures in README.md, made of the files of full runs: between markers that name who writes them.

<!-- figures: NAME -->
whatever `FIGURES[NAME]` makes of the runs
<!-- end of figures -->
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from benchmarks.report import Grid, Measured, Report, Table
from benchmarks.run import Outcome

Runs: TypeAlias = Mapping[str, Outcome]
Maker: TypeAlias = Callable[[Runs], str]

MARKED: Final = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


class NotThere(LookupError):
    """A run has no such table, row or column: the message names it."""


def filled(text: str, runs: Runs) -> str:
    """README.md with the figures of these runs. Raises NotThere for a figure that they lack, or an unknown name."""

    def made(found: re.Match[str]) -> str:
        if found[2] not in FIGURES:
            raise NotThere(f"README.md asks for the figures {found[2]!r}; known: {', '.join(FIGURES)}")
        return f"{found[1]}{FIGURES[found[2]](runs)}\n{found[3]}"

    return MARKED.sub(made, text)


def table(runs: Runs, benchmark: str, beginning: str) -> Table:
    """The one table of a run whose title begins so."""
    if benchmark not in runs:
        raise NotThere(f"no run of {benchmark}")
    found = [each for each in runs[benchmark].tables if each.title.startswith(beginning)]
    if len(found) != 1:
        raise NotThere(f"{benchmark}: {len(found)} tables begin with {beginning!r}")
    return found[0]


def cell(runs: Runs, benchmark: str, beginning: str, row: str, column: str = "") -> Measured:
    """A number of a table. column: of a grid; a report has one."""
    there = table(runs, benchmark, beginning)
    for each in there.cells():
        if each.row == row and each.column == column and isinstance(each.cell, Measured):
            return each.cell
    raise NotThere(f"{benchmark}: {there.title!r} has no number at {row!r}, {column!r}")


def short(number: float, digits: int) -> str:
    """As tables here have shares: .839 for 0.839."""
    return f"{number:.{digits}f}".removeprefix("0")


FIGURES: Final[dict[str, Maker]] = {}
__all__ = ["FIGURES", "Grid", "NotThere", "Report", "cell", "filled", "short", "table"]
