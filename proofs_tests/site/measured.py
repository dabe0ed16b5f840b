"""The pages of results: one for each benchmark, of the file of its last full run, with a picture of one table."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from benchmarks.runner.catalogue import CATALOGUE
from benchmarks.runner.plots import draw
from benchmarks.runner.report import Grid, Table
from benchmarks.runner.results import outcomes

PICTURES: Final = "results/pictures"


@attrs.frozen
class Results:
    """texts: Markdown by page of the site. pictures: PNG files by place on the site."""

    texts: dict[str, str]
    pictures: dict[str, bytes]


def pages() -> Results:
    """All pages of results."""
    texts, pictures = dict[str, str](), dict[str, bytes]()
    about = {each.name: each for each in CATALOGUE}
    for name, outcome in outcomes().items():
        with tempfile.TemporaryDirectory() as folder:
            names = _pictures(outcome.tables, Path(folder), most=len(outcome.tables) if name in PICTURED else 1)
            placed = tuple(each and f"pictures/{name}-{each}" for each in names)
            pictures |= {
                f"results/{to}": (Path(folder) / each).read_bytes()
                for to, each in zip(placed, names, strict=True)
                if each
            }
        said = f"{about[name].reproduces} Data: {about[name].data} Run it again: `python -m benchmarks {name}`."
        page = attrs.evolve(outcome, pictures=placed).page
        texts[f"results/{name}.md"] = f"# {name}\n\n{said}\n\n{_without_markup(page)}\n"
    return Results(texts, pictures)


def _pictures(tables: Sequence[Table], folder: Path, most: int) -> tuple[str, ...]:
    """For each table the name of its picture; so many are drawn at most, of the first tables that are worth it."""
    names = list[str]()
    for place, table in enumerate(tables):
        name = f"picture-{place}.png"
        drawn = sum(map(bool, names)) < most and _worth_it(table) and draw(table, folder / name)
        names.append(name if drawn else "")
    return tuple(names)


PICTURED: Final = ("leaderboard",)
"""Benchmarks of which every table is drawn that is worth it."""

MANY: Final = 4
"""More columns than that are worth a picture."""


def _worth_it(table: Table) -> bool:
    return isinstance(table, Grid) and (len(table.head) > MANY or table.title.startswith("mean ranks"))


def _without_markup(page: str) -> str:
    """Titles of tables hold brackets and bars, which a picture's description may not."""
    return re.sub(
        r"!\[(.*)\]\((pictures/[^)]*)\)$",
        lambda m: f"![{re.sub(r'[][|`]', ' ', m[1])}]({m[2]})",
        page,
        flags=re.MULTILINE,
    )


def overview(text: str, results: Results) -> str:
    """RESULTS.md up to its first benchmark: the tables after it have pages of their own."""
    first = min(text.index(f"\n# {Path(page).stem}\n") for page in results.texts)
    listed = "\n".join(Path(page).stem for page in results.texts)
    front = re.sub(r"\]\(#([\w-]+)\)", r"](\1.md)", text[:first])
    return f"{front}\n\n```{{toctree}}\n:hidden:\nother-libraries\n{listed}\n```\n"
