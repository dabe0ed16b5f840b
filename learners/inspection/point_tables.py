"""Log-odds as whole points, and a column's cells as the few lines of a table that a reader looks them up in."""

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from types import EllipsisType
from typing import Final, TypeAlias, cast

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from accountant.costs import positive
from learners.additive import AdditiveModel, Term, trimmed
from learners.linear import LogisticModel
from learners.tables import MISSING_CELL, Categorical, Column, Date, Numeric, Ordered, Schema
from learners.trees import StudentModel

DOUBLING: Final = 20.0
"""Points for which the odds double: what credit scorecards use."""

TOLERANCE: Final = 1.0
"""How many points a line of numbers may be off. Larger gives fewer lines, and more records whose answer differs.

At 1 the answers agree with `predict` on more than 99.5 % of Adult, Cod-RNA and Mushroom, at 2 on more than 99 %.
"""

LEAST_TOLERANCE: Final = 0.5
"""Whole numbers are that far from some log-odds."""

EDGE: Final = 0.1
"""Limits of intervals are rounded by less than this share of the cell that they cut."""


def tolerated(value: float) -> float:
    """A tolerance. Raises ValueError for one below 0.5 points."""
    if not positive(value) >= LEAST_TOLERANCE:
        raise ValueError(f"tolerance: points are whole, so it is at least {LEAST_TOLERANCE}, got {value!r}")
    return float(value)


@attrs.frozen
class PointUnit:
    """How log-odds become points.

    doubling: points for which the odds double.  tolerance: how many points a line of numbers may be off, at least 0.5.
    Categories are off by half a point at most, as a single one may hold nearly all records.
    """

    doubling: float = attrs.field(default=DOUBLING, converter=positive)
    tolerance: float = attrs.field(default=TOLERANCE, converter=tolerated)

    def points(self, nats: FloatArray) -> FloatArray:
        """Not rounded."""
        return np.asarray(nats * (self.doubling / math.log(2.0)))

    def nats(self, points: FloatArray) -> FloatArray:
        """The inverse of `points`."""
        return np.asarray(points * (math.log(2.0) / self.doubling))


@attrs.frozen
class Interval:
    """low <= value < high, None where nothing bounds it. closed: high belongs to it as well.

    texts: what low and high are called, of dates and of categories in order; "" of plain numbers.
    """

    low: float | None
    high: float | None
    closed: bool = False
    texts: tuple[str, str] = ("", "")

    def holds(self, value: object) -> bool:
        """Whether a number is inside; NaN is in none."""
        number = float(cast("float", value))  # text of a number will do; float says what is none
        if math.isnan(number):
            return False
        above = self.low is None or number >= self.low
        return above and (self.high is None or number < self.high or (self.closed and number == self.high))

    def as_dict(self) -> dict[str, object]:
        """For JSON: `from` belongs to it, `below` does not, `to` does."""
        low, high = self.texts
        limits = {"from": low or self.low, "to" if self.closed else "below": high or self.high}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def __str__(self) -> str:
        low, high = self._texts()
        if self.low is None:
            return "any" if self.high is None else f"< {high}"
        return f">= {low}" if self.high is None else f"[{low}, {high}{']' if self.closed else ')'}"

    def _texts(self) -> tuple[str, ...]:
        ends = zip((self.low, self.high), self.texts, strict=True)
        return tuple(text or ("" if number is None else _plain(number)) for number, text in ends)


@attrs.frozen
class Among:
    """One of some values. notes: what else counts as one of them, for a reader."""

    values: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def holds(self, value: object) -> bool:
        """Whether it is one of them, in the schema's spelling."""
        return value in self.values

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"values": list(self.values)}

    def __str__(self) -> str:
        return ", ".join([*self.values, *self.notes])


@attrs.frozen
class Gap:
    """No number."""

    def holds(self, value: object) -> bool:
        """Whether it is missing: NaN."""
        return isinstance(value, float) and math.isnan(value)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"missing": True}

    def __str__(self) -> str:
        return f"({MISSING_CELL})"


Cell: TypeAlias = Interval | Among | Gap
Linear: TypeAlias = LogisticModel | StudentModel
"""Linear in the Boolean features, with the logistic function of the score as `predict_proba`; two classes."""


@attrs.frozen
class PointLine:
    """One line of a table: what it says of each column, and the points; one number for two classes, else one each.

    unsure: how many points noise may have moved them, 9 times in 10; None where the model does not say.
    """

    where: tuple[Cell, ...]
    points: tuple[int, ...]
    unsure: int | None = None

    def holds(self, values: Sequence[object]) -> bool:
        """Whether a record with these values is on it."""
        return all(cell.holds(value) for cell, value in zip(self.where, values, strict=True))

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        unsure = {} if self.unsure is None else {"unsure": self.unsure}
        return {"where": [cell.as_dict() for cell in self.where], "points": _single(self.points), **unsure}


@attrs.frozen
class PointsTable:
    """The points of a column or of a pair.

    columns: numbers in the schema.  base: what all records get, whatever their line.  In a table of a pair,
    combinations without a line get nothing.  span: largest less smallest effect, in points.
    """

    columns: tuple[int, ...]
    lines: tuple[PointLine, ...]
    base: tuple[int, ...]
    span: float


def tables(model: AdditiveModel, unit: PointUnit) -> list[PointsTable]:
    """One per column and pair, the most influential first; the same of a model and of its file."""
    model = trimmed(model)
    found = [_table(model.schema, term, unit, max(1, model.intercept.size)) for term in model.terms]
    return sorted(found, key=lambda table: -table.span)


def _table(schema: Schema, term: Term, unit: PointUnit, heads: int) -> PointsTable:
    points = unit.points(term.values).reshape(*term.values.shape[: len(term.columns)], heads)
    if heads > 1:
        # What all classes get alike decides nothing.
        points = points - points.mean(axis=-1, keepdims=True)
    columns = [schema.columns[column] for column in term.columns]
    codes = points[np.ix_(*term.maps)]
    unsure = None
    if term.deviations is not None:
        found = unit.points(term.deviations).reshape(points.shape)
        unsure = np.max(found, axis=-1)[np.ix_(*term.maps)]
    span = float(np.max(np.ptp(points.reshape(-1, heads), axis=0)))
    lines = [
        PointLine((*before, cell), line, None if unsure is None else _noise(unsure[start][held]))
        for before, start in _rows(columns, term.maps)
        for cell, line, held in _lines(columns[-1], term.maps[-1], codes[start], unit.tolerance)
    ]
    nothing = (0,) * heads
    if len(columns) == 1 and len({line.points for line in lines}) == 1:
        return PointsTable(term.columns, (), lines[0].points, span)
    kept = lines if len(columns) == 1 else [line for line in lines if line.points != nothing]
    return PointsTable(term.columns, tuple(kept), nothing, span)


NINE_IN_TEN: Final = 1.645
"""Deviations of a Gaussian on either side."""


def _noise(deviations: FloatArray) -> int:
    """How far noise may have moved the points of cells together: neighbours are known together, so not less."""
    return math.ceil(NINE_IN_TEN * float(np.mean(deviations)))


def _rows(columns: Sequence[Column], maps: Sequence[IntArray]) -> Iterator[tuple[tuple[Cell, ...], int | EllipsisType]]:
    """What is said of the first column of a pair, and a code of it; all codes where there is one column."""
    if len(columns) == 1:
        yield (), ...
        return
    first, cells = columns[0], maps[0]
    if isinstance(first, Numeric):
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        said = _intervals(first, cells, starts)
    else:
        starts, said = np.arange(first.cells), [_among(first, [code]) for code in range(first.cells)]
    yield from (((cell,), int(start)) for cell, start in zip(said, starts, strict=True))


def _lines(
    column: Column, cells: IntArray, codes: FloatArray, tolerance: float
) -> list[tuple[Cell, tuple[int, ...], IntArray]]:
    """What lines say of a column, their points, and the codes that are on them.

    cells: the model's, per code.  codes: their points, shape (codes, heads).
    """
    order = np.arange(codes.shape[0])
    if isinstance(column, Numeric):
        runs = segments(codes[: column.bin_number], tolerance)
        if column.own_cell:  # no neighbour of the bin before it
            runs.append((column.bin_number, segments(codes[column.bin_number :], tolerance)[0][1]))
    else:
        widest = int(np.argmax(np.ptp(codes, axis=0)))
        order = np.argsort(-codes[:, widest], kind="stable")
        runs = segments(codes[order], LEAST_TOLERANCE)
    starts = [start for start, _ in runs]
    held = [np.sort(order[start:end]) for start, end in zip(starts, [*starts[1:], order.size], strict=True)]
    if isinstance(column, Numeric):
        said = _intervals(column, cells, np.array(starts))
    else:
        said = [_among(column, codes_on.tolist()) for codes_on in held]
    return [(cell, points, codes_on) for cell, (_, points), codes_on in zip(said, runs, held, strict=True)]


def segments(values: FloatArray, tolerance: float) -> list[tuple[int, tuple[int, ...]]]:
    """Neighbours put together: where each run starts, and whole points within `tolerance` of all its values.

    values: shape (cells, heads), in order. Greedy, which gives the fewest runs there are; of the whole points that
    serve a run, those nearest to its mean.
    """
    runs: list[tuple[int, tuple[int, ...]]] = []
    start, low, high = 0, values[0], values[0]
    for place in range(1, len(values) + 1):
        if place < len(values):
            lower, higher = np.minimum(low, values[place]), np.maximum(high, values[place])
            if np.all(np.ceil(higher - tolerance) <= np.floor(lower + tolerance)):
                low, high = lower, higher
                continue
        nearest = np.rint(_mean_of_distinct(values[start:place]))
        points = np.clip(nearest, np.ceil(high - tolerance), np.floor(low + tolerance)).astype(np.intp).tolist()
        if not runs or runs[-1][1] != tuple(points):
            runs.append((start, tuple(points)))
        if place < len(values):
            start, low, high = place, values[place], values[place]
    return runs


def _mean_of_distinct(values: FloatArray) -> FloatArray:
    """Each run of equal values counted once: the model's cells and not the finer ones of its schema."""
    new = np.append(True, np.any(np.diff(values, axis=0) != 0.0, axis=1))
    return np.asarray(values[new].mean(axis=0))


def _among(column: Column, codes: Sequence[int]) -> Among:
    if not isinstance(column, Categorical):
        return Among(tuple(str(code) for code in codes))
    values = tuple(column.categories[code] for code in codes)
    notes = [("(empty)", column.missing), ("(any other)", column.other)]
    return Among(values, tuple(note for note, role in notes if role in values))


def _intervals(column: Numeric, cells: IntArray, starts: IntArray) -> list[Cell]:
    """One from each start to the next, and the gap where a start is its code.

    cells: the model's, per code.  starts: the first codes, in order, 0 first.
    """
    gap: list[Cell] = [Gap()] if column.own_cell else []
    cells, starts = cells[: column.bin_number], starts[starts < column.bin_number]
    if isinstance(column, Ordered):  # a reader looks for the category, not for its place
        ends_of = [*starts[1:].tolist(), column.bin_number]
        return [Among(column.categories[a:b]) for a, b in zip(starts.tolist(), ends_of, strict=True)] + gap
    edges, inner = column.edges, starts[1:]
    ends = np.append(np.flatnonzero(np.diff(cells)) + 1, cells.size)
    widths = edges[ends[np.searchsorted(ends, inner, side="right")]] - edges[inner]
    named = isinstance(column, Date)
    cuts = edges[inner].tolist()
    if not named:
        cuts = [_readable(cut, width) for cut, width in zip(cuts, widths.tolist(), strict=True)]
    clipped = column.outside == "clip"
    limits = [None if clipped else column.lower, *cuts, None if clipped else column.upper]
    last = len(limits) - 2
    bins = [
        Interval(low, high, place == last and high is not None, (_named(column, low), _named(column, high)))
        for place, (low, high) in enumerate(itertools.pairwise(limits))
    ]
    return bins + gap


def _named(column: Numeric, limit: float | None) -> str:
    """What a limit is called, where numbers say nothing to a reader."""
    return column.said(limit) if isinstance(column, Date) and limit is not None else ""


def _readable(cut: float, width: float) -> float:
    """The cut with as few digits as move it by less than EDGE of the cell above it: upwards.

    Upwards, because values are `>= cut`: of numbers that are recorded with those digits none changes sides.
    """
    step = Decimal(1).scaleb(math.floor(math.log10(EDGE * width)))
    return float(Decimal(repr(cut)).quantize(step, rounding=ROUND_CEILING))


def _plain(number: float) -> str:
    """Without an exponent, and without a fraction where there is none."""
    return f"{Decimal(repr(number)).normalize():f}" if 1e-7 < abs(number) < 1e15 else f"{number:g}"


def _single(points: tuple[int, ...]) -> int | list[int]:
    """One number where there is one."""
    return points[0] if len(points) == 1 else list(points)


def as_additive(model: AdditiveModel | Linear) -> AdditiveModel:
    """The same model with a table per column; effects are centred over each column's codes."""
    if isinstance(model, AdditiveModel):
        return model
    # A linear model adds up over its columns, so one column at a time tells everything.
    cells = [column.cells for column in model.schema.columns]
    origin = np.zeros((len(cells), 1), dtype=np.intp)
    intercept, terms = float(model.scores(origin)[0]), []
    base = intercept
    for number, size in enumerate(cells):
        probe = np.repeat(origin, size, axis=1)
        probe[number] = np.arange(size)
        effects = model.scores(probe) - base
        intercept += float(effects.mean())
        terms.append(Term((number,), (np.arange(size),), effects - effects.mean()))
    return AdditiveModel(model.schema, np.array(intercept), terms)
