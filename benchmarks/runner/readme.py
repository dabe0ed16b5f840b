"""The figures in README.md and docs, made of the files of full runs: between markers that name who writes them.

<!-- figures: NAME -->
whatever the maker of that name in `benchmarks.runner.readme_figures` makes of the runs
<!-- end of figures -->
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from benchmarks.runner.report import CellRecord, Measured, Table
from benchmarks.runner.run import Outcome

Runs: TypeAlias = Mapping[str, Outcome]
Maker: TypeAlias = Callable[[Runs], str]

MARKED: Final = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


class NotThere(LookupError):
    """A run has no such table, row or column: the message names it."""


def filled(text: str, runs: Runs, makers: Mapping[str, Maker]) -> str:
    """A page with the figures of these runs. Raises NotThere for a figure that they lack, or an unknown name."""

    def made(found: re.Match[str]) -> str:
        if found[2] not in makers:
            raise NotThere(f"a page asks for the figures {found[2]!r}; known: {', '.join(makers)}")
        return f"{found[1]}{makers[found[2]](runs)}\n{found[3]}"

    return MARKED.sub(made, text)


def table(runs: Runs, benchmark: str, beginning: str) -> Table:
    """The one table of a run whose title begins so."""
    if benchmark not in runs:
        raise NotThere(f"no run of {benchmark}")
    found = [each for each in runs[benchmark].tables if each.title.startswith(beginning)]
    if len(found) != 1:
        raise NotThere(f"{benchmark}: {len(found)} tables begin with {beginning!r}")
    return found[0]


def number(runs: Runs, benchmark: str, title: str, row: str, column: str = "") -> Measured:
    """The one number of a table whose row and column begin so; a report has no columns."""
    there = table(runs, benchmark, title)

    def fits(each: CellRecord) -> bool:
        return each.row.startswith(row) and each.column.startswith(column)

    found = [each for each in there.cells() if fits(each) and isinstance(each.cell, Measured)]
    # "ε=1" also begins "ε=10": the one that is just so wins.
    exact = [each for each in found if each.column == column] if len(found) > 1 else found
    if len(exact) != 1 or not isinstance(exact[0].cell, Measured):
        raise NotThere(f"{benchmark}: {there.title!r} has {len(exact)} numbers at {row!r}, {column!r}")
    return exact[0].cell


def markdown_rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without a title."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def short(value: float, digits: int) -> str:
    """As pages have shares: .839 for 0.839."""
    return f"{value:.{digits}f}".removeprefix("0")
