"""What a benchmark found: numbers with their spread and with what is printed for them, in tables."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs


@attrs.frozen
class Measured:
    """A number that was measured.

    value: the number, in `unit`.  spread: standard deviation, or half of the range, over repeats; None for one run.
    printed: what the paper, or whoever claims it, prints for the same thing.  form: how it is written, as `format`
    has it.
    """

    value: float
    spread: float | None = None
    printed: float | None = None
    unit: str = ""
    form: str = ".3g"

    @staticmethod
    def mean(
        numbers: Iterable[float], printed: float | None = None, *, unit: str = "", form: str = ".3f"
    ) -> "Measured":
        """Mean and standard deviation of repeats; without a spread where there is one only."""
        found = [float(number) for number in numbers]
        spread = statistics.pstdev(found) if len(found) > 1 else None
        return Measured(statistics.fmean(found), spread, printed, unit, form)

    @staticmethod
    def median(
        numbers: Iterable[float], printed: float | None = None, *, unit: str = "", form: str = ".3g"
    ) -> "Measured":
        """Median of repeats, and half of the distance between their quartiles."""
        found = [float(number) for number in numbers]
        if len(found) < 2:
            return Measured(found[0], None, printed, unit, form)
        low, _, high = statistics.quantiles(found, n=4, method="inclusive")
        return Measured(statistics.median(found), 0.5 * (high - low), printed, unit, form)

    @property
    def ratio(self) -> float | None:
        """Ours over the printed one."""
        return None if self.printed is None or not self.printed else self.value / self.printed

    def written(self, number: float | None) -> str:
        """Some number in this one's form; nothing for None."""
        return "" if number is None else format(number, self.form)

    @property
    def quantity(self) -> str:
        """The number and its unit."""
        return self.written(self.value) + (f" {self.unit}" if self.unit else "")

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {self.written(self.spread)}"
        ratio = "" if self.ratio is None else f": {self.ratio:.3g}×"
        printed = "" if self.printed is None else f" (printed {self.written(self.printed)}{ratio})"
        return f"{self.written(self.value)}{spread}{f' {self.unit}' if self.unit else ''}{printed}"


Cell: TypeAlias = str | Measured

VERDICTS = {True: "met", False: "MISSED", None: ""}


@attrs.frozen
class Line:
    """One measurement. `asked` is what the issue holds us to; `met` is None where nothing was asked."""

    what: str
    found: Cell
    asked: str = ""
    met: bool | None = None


def at_most(what: str, found: Measured, most: float, *, judged: bool = True) -> Line:
    """A line that asks for no more than so much. judged: whether this run is one that the demand is made of."""
    return Line(what, found, f"≤ {most:g}", found.value <= most if judged else None)


def at_least(what: str, found: Measured, least: float, *, judged: bool = True) -> Line:
    """A line that asks for no less than so much. judged: as for `at_most`."""
    return Line(what, found, f"≥ {least:g}", found.value >= least if judged else None)


@attrs.frozen
class Report:
    """A measurement a line, with what was asked of it."""

    title: str
    lines: tuple[Line, ...] = attrs.field(converter=tuple[Line, ...])

    @property
    def met(self) -> bool:
        """Whether everything that was asked was reached."""
        return all(line.met is not False for line in self.lines)

    @property
    def table(self) -> str:
        """Title and table; columns that no line fills are left out."""
        columns = {
            "what": [line.what for line in self.lines],
            "printed": [_of(line.found, lambda found: found.written(found.printed)) for line in self.lines],
            "ours": [_of(line.found, lambda found: found.quantity, line.found) for line in self.lines],
            "spread": [_of(line.found, lambda found: found.written(found.spread)) for line in self.lines],
            "ratio": [
                _of(line.found, lambda found: "" if found.ratio is None else f"{found.ratio:.3g}")
                for line in self.lines
            ],
            "asked": [line.asked for line in self.lines],
            "verdict": [VERDICTS[line.met] for line in self.lines],
        }
        kept = {name: cells for name, cells in columns.items() if name in ("what", "ours") or any(cells)}
        return markdown(self.title, tuple(kept), list(zip(*kept.values(), strict=True)))

    def cells(self) -> "list[CellRecord]":
        """All cells, for CSV."""
        return [CellRecord(self.title, line.what, "", line.found, line.asked, line.met) for line in self.lines]


def _of(cell: Cell, text: Any, otherwise: object = "") -> str:
    return str(text(cell)) if isinstance(cell, Measured) else str(otherwise)


@attrs.frozen
class Grid:
    """A table of figures of which nothing was asked. rows: the first cell of each is its name."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    met: bool = True

    @property
    def table(self) -> str:
        """Title and table."""
        return markdown(self.title, self.head, [tuple(str(cell) for cell in row) for row in self.rows])

    def cells(self) -> "list[CellRecord]":
        """All cells, for CSV."""
        return [
            CellRecord(self.title, str(row[0]), column, cell)
            for row in self.rows
            for column, cell in zip(self.head[1:], row[1:], strict=True)
        ]


Table: TypeAlias = Report | Grid


@attrs.frozen
class CellRecord:
    """A cell with where it stands."""

    table: str
    row: str
    column: str
    cell: Cell
    asked: str = ""
    met: bool | None = None

    def as_row(self) -> dict[str, object]:
        """For CSV."""
        found = self.cell if isinstance(self.cell, Measured) else None
        return {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "ours": "" if found is None else repr(found.value),
            "spread": "" if found is None or found.spread is None else repr(found.spread),
            "printed": "" if found is None or found.printed is None else repr(found.printed),
            "ratio": "" if found is None or found.ratio is None else repr(found.ratio),
            "unit": "" if found is None else found.unit,
            "text": str(self.cell),
            "asked": self.asked,
            "verdict": VERDICTS[self.met],
        }


CSV_HEAD = tuple(CellRecord("", "", "", "").as_row())


def markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown under its title."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join([f"## {title}", "", *(f"| {' | '.join(map(escaped, line))} |" for line in lines)])


def escaped(text: str) -> str:
    """So that a cell stays one cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def as_record(table: Table) -> dict[str, Any]:
    """For JSON, exactly. The inverse of `from_record`."""
    if isinstance(table, Grid):
        rows = [[_cell_record(cell) for cell in row] for row in table.rows]
        return {"title": table.title, "head": list(table.head), "rows": rows, "met": table.met}
    lines = [[line.what, _cell_record(line.found), line.asked, line.met] for line in table.lines]
    return {"title": table.title, "lines": lines}


def from_record(record: Mapping[str, Any]) -> Table:
    """The inverse of `as_record`."""
    if "lines" in record:
        return Report(record["title"], [Line(w, _cell(found), asked, met) for w, found, asked, met in record["lines"]])
    rows = tuple(tuple(_cell(cell) for cell in row) for row in record["rows"])
    return Grid(record["title"], tuple(record["head"]), rows, record["met"])


def _cell_record(cell: Cell) -> object:
    return cell if isinstance(cell, str) else [*map(_number, attrs.astuple(cell))]


def _number(value: object) -> object:
    """JSON has no infinities."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _cell(record: Any) -> Cell:
    if isinstance(record, str):
        return record
    value, spread, printed, unit, form = record
    numbers = [None if number is None else float(number) for number in (value, spread, printed)]
    assert numbers[0] is not None
    return Measured(numbers[0], numbers[1], numbers[2], unit, form)
