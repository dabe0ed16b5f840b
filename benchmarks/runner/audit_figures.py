"""What stands between the markers of AUDITS.md: the table of the last full run of the hall of audits."""

from typing import Final

from benchmarks.runner.readme import Maker, NotThere, Runs, markdown_rows
from benchmarks.runner.report import Grid, escaped

COLUMNS: Final = ("library", "program", "claim", "neighbours", "verdict", "witness", "time")
VERDICTS: Final = ("proved", "refuted", "not refuted", "not understood")


def rows(runs: Runs) -> list[dict[str, str]]:
    """A program each, by column. Raises NotThere where the hall was not run."""
    if "hall" not in runs:
        raise NotThere("no run of hall")
    grids = [table for table in runs["hall"].tables if isinstance(table, Grid)]
    return [dict(zip(grid.head, map(str, row), strict=True)) for grid in grids for row in grid.rows]


def hall(runs: Runs) -> str:
    """How many came out how, and all of them."""
    found = rows(runs)
    libraries = {row["library"].partition(" ")[0] for row in found}
    counts = {word: sum(row["verdict"].startswith(word) for row in found) for word in VERDICTS}
    told = ", ".join(f"{number} {word}" for word, number in counts.items())
    lines = [[escaped(row[column]) for column in COLUMNS] for row in found]
    front = f"{len(found)} programs of {len(libraries)} libraries, {runs['hall'].date}: {told}."
    return f"{front}\n\n{markdown_rows(COLUMNS, lines)}"


AUDITS: Final[dict[str, Maker]] = {"hall": hall}
