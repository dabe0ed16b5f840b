"""A picture of any table: curves where its columns are numbers, else bars. Needs matplotlib."""

import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.runner.report import Grid, Line, Measured, Report, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NUMBER: Final = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
WIDE: Final = 30.0
"""Numbers that differ by more than that factor are shown on a logarithmic scale."""

MOST_LABEL: Final = 70

COLOURS: Final = 10
STYLES: Final = ("-", "--", ":")
"""Of lines, as there are ten colours."""

MOST_TICKS: Final = 9


def draw(table: Table, path: Path) -> bool:
    """A picture of the table's numbers, as PNG. False, and none, where it has no numbers or there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    drawn = _grid(table, figure) if isinstance(table, Grid) else _report(table, figure)
    if drawn:
        figure.suptitle(table.title, fontsize=9, wrap=True)
        _save(figure, path)
    return drawn


def _save(figure: "Figure", path: Path) -> None:
    """In few colours, which is a third of the size; chosen by octree, which keeps those of lines apart."""
    from PIL import Image

    with io.BytesIO() as whole:
        figure.savefig(whole, format="png", dpi=80)
        whole.seek(0)
        with Image.open(whole) as image:
            image.convert("RGB").quantize(64, method=2).save(path, optimize=True)


def _grid(table: Grid, figure: "Figure") -> bool:
    at = [_number(column) for column in table.head[1:]]
    rows = [{cell.unit for cell in row if isinstance(cell, Measured)} for row in table.rows]
    alike = len(set().union(*rows)) <= 1  # no axis can show two units
    if alike and len(at) > 1 and all(x is not None for x in at) and len(set(at)) == len(at):
        return _curves(table, [x for x in at if x is not None], figure)
    labelled = [
        (f"{row[0]}: {column}" if len(table.head) > 2 else str(row[0]), cell)
        for row in table.rows
        for column, cell in zip(table.head[1:], row[1:], strict=True)
        if isinstance(cell, Measured) and math.isfinite(cell.value)
    ]
    return _bars(labelled, figure)


def _number(text: str) -> float | None:
    """The one number in a column's heading."""
    found = NUMBER.findall(text.replace("−", "-"))
    return float(found[0].replace(",", "")) if len(found) == 1 else None


def _curves(table: Grid, at: Sequence[float], figure: "Figure") -> bool:
    ax, values = figure.subplots(), list[float]()
    for place, row in enumerate(table.rows):
        points = [(x, c) for x, c in zip(at, row[1:], strict=True) if isinstance(c, Measured) and _finite(c)]
        if not points:
            continue
        xs, ys = [x for x, _ in points], [cell.value for _, cell in points]
        spreads = [cell.spread or 0.0 for _, cell in points]
        style = STYLES[place // COLOURS % len(STYLES)]
        line = ax.errorbar(
            xs, ys, yerr=spreads, marker=".", capsize=2, linewidth=1, linestyle=style, label=_short(str(row[0]))
        )
        printed = [(x, cell.printed) for x, cell in points if cell.printed is not None]
        if printed:
            ax.plot(*zip(*printed, strict=True), "x", color=line[0].get_color())
        values += [*ys, *(cell for _, cell in printed if cell is not None)]
    if not values:
        return False
    _scales(ax, at, values)
    note = "  (× printed)" if any(isinstance(c, Measured) and c.printed for row in table.rows for c in row) else ""
    ax.set_xlabel(NUMBER.sub("", table.head[1]).strip(" =:,") + note)
    units = {c.unit for row in table.rows for c in row if isinstance(c, Measured)}
    ax.set_ylabel(units.pop() if len(units) == 1 else "")
    ax.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return True


def _finite(cell: Measured) -> bool:
    return math.isfinite(cell.value)


def _scales(ax: "Axes", at: Sequence[float], values: Sequence[float]) -> None:
    if min(at) > 0 and max(at) > WIDE / 3 * min(at):
        ax.set_xscale("log")
        shown = at if len(at) <= MOST_TICKS else at[:: -(-len(at) // MOST_TICKS)]
        ax.set_xticks(shown, [f"{x:g}" for x in shown], fontsize=7)
        ax.minorticks_off()
    if _wide(values):
        _logarithmic(ax.set_yscale, values)
        if min(values) == 0.0:
            ax.set_ylim(bottom=0.0)
    ax.grid(alpha=0.3)


def _wide(values: Sequence[float]) -> bool:
    """Whether the positive ones are far apart, and none is negative."""
    positive = [value for value in values if value > 0.0]
    return bool(positive) and min(values) >= 0.0 and max(positive) > WIDE * min(positive)


def _logarithmic(scale: Callable[..., None], values: Sequence[float]) -> None:
    """Zeros stay on the axis, below the smallest that is not one."""
    least = min(value for value in values if value > 0.0)
    scale("log") if min(values) > 0.0 else scale("symlog", linthresh=least)


def _report(table: Report, figure: "Figure") -> bool:
    shown = [(line.what, line.found) for line in table.lines if _shows(line) and isinstance(line.found, Measured)]
    return _bars(shown, figure)


def _shows(line: Line) -> bool:
    return isinstance(line.found, Measured) and _finite(line.found)


def _bars(shown: Sequence[tuple[str, Measured]], figure: "Figure") -> bool:
    """A panel per unit, as no axis can show two; printed numbers as crosses."""
    units = list(dict.fromkeys(cell.unit for _, cell in shown))
    if not shown:
        return False
    groups = [[(label, cell) for label, cell in shown if cell.unit == unit] for unit in units]
    figure.set_size_inches(8.0, max(2.5, 1.0 + 0.9 * len(units) + 0.22 * len(shown)))
    axes = figure.subplots(len(units), 1, squeeze=False, gridspec_kw={"height_ratios": [len(g) + 1 for g in groups]})
    for ax, unit, group in zip(axes[:, 0], units, groups, strict=True):
        places = range(len(group))
        spreads = [cell.spread or 0.0 for _, cell in group]
        ax.barh(places, [cell.value for _, cell in group], xerr=spreads, height=0.6, alpha=0.7, capsize=2)
        printed = [(cell.printed, place) for place, (_, cell) in zip(places, group, strict=True) if cell.printed]
        if printed:
            ax.plot(*zip(*printed, strict=True), "kx", label="printed")
            ax.legend(fontsize=6)
        ax.set_yticks(places, [_short(label) for label, _ in group], fontsize=6)
        ax.invert_yaxis()
        ax.set_xlabel(unit, fontsize=7)
        numbers = [cell.value for _, cell in group] + [cell for cell, _ in printed if cell is not None]
        if _wide(numbers):
            _logarithmic(ax.set_xscale, numbers)
        ax.grid(alpha=0.3, axis="x")
    return True


def _short(text: str) -> str:
    return text if len(text) <= MOST_LABEL else text[: MOST_LABEL - 1] + "…"
