"""An additive model on the log-odds scale: one effect per column (or pair), all that the booster ever releases."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, cast

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import exp2, expit

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.base import Calibration
from learners.encoding import FINE, FINEST, folded, refined
from learners.tables import MISSING_CELL, Categorical, Column, Numeric, Ordered, Schema
from mechanisms.gradients import CLIP, ONE


@attrs.frozen
class Curve:
    """The effect of one column or pair on the log-odds, cell by cell, as a reader sees it.

    columns: their names.  cells: what each cell says of the columns.  effects: in nats, shape (cells,) for two
    classes, (cells, K) for more; they add up over the columns.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    effects: FloatArray = attrs.field(eq=False)

    @property
    def span(self) -> float:
        """Largest less smallest effect, in nats: how much this column can matter."""
        return float(np.max(np.ptp(self.effects, axis=0)))


@attrs.frozen(eq=False)
class Term:
    """One column's or pair's table.

    columns: numbers in the schema.  maps: cell of each code, per column.  values: nats per cell, shape
    (*cells per column) with K > 2 classes as a last axis.  deviations: what noise leaves unsure of each value, of the
    same shape, where it was kept; for readers, as no score asks for it.
    """

    columns: tuple[int, ...]
    maps: tuple[IntArray, ...]
    values: FloatArray
    deviations: FloatArray | None = None

    def scores(self, codes: CodeArray) -> FloatArray:
        """Per record, shape (n,) or (n, K)."""
        place = tuple(cells[codes[column]] for column, cells in zip(self.columns, self.maps, strict=True))
        return np.asarray(self.values[place])


@attrs.frozen(eq=False)
class AdditiveModel:
    """Log-odds = intercept + Σ effects. Everything here is post-processing of releases.

    Scores are of the second class against the first where there are two, else one per class, to be compared.
    calibration: for two classes, if it was paid for; the intercept then puts its threshold at 0.
    slope: log-odds per unit of score, at least, where there is no calibration; 0 in models that were saved without one.
    recut: columns of which only the public cuts that matter are kept, see `trimmed`.
    """

    schema: Schema
    intercept: FloatArray
    terms: tuple[Term, ...] = attrs.field(converter=tuple[Term, ...])
    calibration: Calibration | None = None
    slope: float = 0.0
    recut: tuple[str, ...] = ()

    @property
    def domain(self) -> Schema:
        """The schema for another fit, whose columns are cut anew where they had no cuts of their own."""
        columns = (
            attrs.evolve(c, cuts=()) if isinstance(c, Numeric) and c.name in self.recut else c
            for c in self.schema.columns
        )
        return attrs.evolve(self.schema, columns=tuple(columns)) if self.recut else self.schema

    def calibrated(self, calibration: Calibration) -> "AdditiveModel":
        """The same with the threshold and the probabilities of a released histogram of its scores; two classes."""
        moved = self.intercept - _threshold(calibration)
        return attrs.evolve(self, intercept=np.asarray(moved), calibration=calibration)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Of the second of two classes at each score, shape (n,); above ½ exactly where the score is above 0."""
        if self.calibration is None:
            return linked(scores, self.slope)
        share = self.calibration.probabilities(scores + self.threshold)
        return np.asarray(np.where(scores > 0.0, np.maximum(share, EVEN), np.minimum(share, 0.5)))

    @property
    def threshold(self) -> float:
        """What the intercept has taken off the score that the calibration speaks of; 0 without one."""
        return 0.0 if self.calibration is None else _threshold(self.calibration)

    @property
    def classes(self) -> int:
        """How many classes it tells apart."""
        return max(2, self.intercept.size)

    def scores(self, codes: CodeArray) -> FloatArray:
        """Log-odds, shape (n,), or (n, K). codes: shape (columns, n)."""
        total = np.zeros((codes.shape[1], *self.intercept.shape)) + self.intercept
        for term in self.terms:
            total += term.scores(codes)
        return total

    def curves(self) -> list[Curve]:
        """Columns and pairs, the most influential first."""
        found = [self._curve(term) for term in self.terms]
        return sorted(found, key=lambda curve: -curve.span)

    def _curve(self, term: Term) -> Curve:
        names = [_cell_names(self.schema, column, cells) for column, cells in zip(term.columns, term.maps, strict=True)]
        columns = tuple(self.schema.columns[column].name for column in term.columns)
        joint = [(name,) for name in names[0]] if len(names) == 1 else [(a, b) for a in names[0] for b in names[1]]
        return Curve(columns, tuple(joint), term.values.reshape(len(joint), *self.intercept.shape))

    def as_record(self) -> dict[str, object]:
        """For JSON. Of columns that were cut very finely, the cuts between cells that the model tells apart."""
        return trimmed(self)._record()

    def _record(self) -> dict[str, object]:
        terms = [
            {
                "columns": list(term.columns),
                "maps": [m.tolist() for m in term.maps],
                "values": term.values.tolist(),
                **({} if term.deviations is None else {"deviations": term.deviations.tolist()}),
            }
            for term in self.terms
        ]
        calibration = None if self.calibration is None else self.calibration.as_record()
        found = {"intercept": self.intercept.tolist(), "terms": terms, "calibration": calibration}
        slope = {"slope": self.slope} if self.slope else {}  # files of before they had one are written as they were
        recut = {"recut": list(self.recut)} if self.recut else {}
        return {"schema": self.schema.as_dict(), **found, **slope, **recut}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "AdditiveModel":
        """The inverse of `as_record`. Raises ValueError where tables do not fit the schema."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        intercept = np.asarray(record["intercept"], dtype=np.float64)
        if not np.all(np.isfinite(intercept)) or intercept.ndim > 1 or (intercept.ndim and intercept.size < 3):
            raise ValueError(f"expected one finite intercept, or one per class of three or more, got {intercept}")
        terms = [_term(schema, intercept, term) for term in cast("Sequence[Mapping[str, object]]", record["terms"])]
        kept = cast("Mapping[str, object] | None", record.get("calibration"))
        if kept is not None and intercept.ndim:
            raise ValueError("calibration: for two classes only")
        calibration = None if kept is None else Calibration.from_record(kept)
        recut = tuple(cast("Sequence[str]", record.get("recut", ())))
        if unknown := [name for name in recut if name not in schema.names]:
            raise ValueError(f"recut: the schema has no columns {unknown}")
        return AdditiveModel(schema, intercept, terms, calibration, _slope(record.get("slope", 0.0)), recut)


def trimmed(model: AdditiveModel) -> AdditiveModel:
    """The same predictions, without the cuts that no term needs where a column has more than FINE cells."""
    columns, codes, recut = list(model.schema.columns), dict[int, IntArray](), list(model.recut)
    for number, column in enumerate(columns):
        if isinstance(column, Numeric) and not isinstance(column, Ordered) and len(column.cuts) >= FINE:
            maps = [m for term in model.terms for c, m in zip(term.columns, term.maps, strict=True) if c == number]
            columns[number], codes[number] = _fewer_cuts(column, maps)
            if refined(attrs.evolve(column, cuts=()), FINEST) == column:
                recut.append(column.name)
    if not codes:
        return model
    terms = [_with_codes(term, codes) for term in model.terms]
    schema = attrs.evolve(model.schema, columns=tuple(columns))
    return attrs.evolve(model, schema=schema, terms=tuple(terms), recut=tuple(recut))


def _fewer_cuts(column: Numeric, maps: Sequence[IntArray]) -> tuple[Numeric, IntArray]:
    """The column, and of its codes those that remain: the first ones of what the maps tell apart."""
    bins = column.bin_number
    steps = np.logical_or.reduce([np.diff(cells[:bins]) != 0 for cells in maps] or [np.zeros(bins - 1, dtype=bool)])
    if not steps.any():
        steps[0] = True  # none at all would be cuts by default
    first = np.flatnonzero(np.concatenate([[True], steps]))
    cuts = tuple(column.cuts[code - 1] for code in first[1:].tolist())
    kept = np.append(first, bins) if column.own_cell else first
    return attrs.evolve(column, cuts=cuts), kept


def _with_codes(term: Term, codes: Mapping[int, IntArray]) -> Term:
    maps = (
        cells[codes[column]] if column in codes else cells
        for column, cells in zip(term.columns, term.maps, strict=True)
    )
    return attrs.evolve(term, maps=tuple(maps))


SLOPE: Final = 0.7
"""Log-odds per unit of score of a fit, at least: see `linked`.

The slope that tells the classes of other records best is .72 on Adult, .77 on magic, .69 on red wine, .71 on abalone
and .64 on pima at ε = 1, and much the same at .1 and at 1,000.
"""

EVEN: Final = float(np.nextafter(0.5, 1.0))
"""The least probability that answers with the second class."""

FARTHEST: Final = 8.0
"""Thresholds beyond it, where one class is likelier for every record, count as that."""


def _slope(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < math.inf:
        raise ValueError(f"slope: expected a number of at least 0, got {value!r}")
    return float(value)


def _threshold(calibration: Calibration) -> float:
    return float(np.clip(calibration.threshold, -FARTHEST, FARTHEST))


def linked(scores: FloatArray, slope: float = 0.0) -> FloatArray:
    """The share of the second class at each score, in (0, 1), above ½ exactly where the score is. [clipped-link]

    slope: log-odds per unit of score, at least; >= 0. A cell at its optimum on its own has the share that the clipped
    loss tells, which is about ½ up to some score. A sum over columns, smoothed and under noise, is not there: log-odds
    follow it from 0 on, until the loss tells more.
    """
    clip, size = CLIP / ONE, np.abs(scores)
    told = np.maximum(clip / (clip + expit(-size)), expit(slope * size))
    # Where neither tells more the share still rises with the score, so that classes and ranks are the same.
    likelier = np.maximum(told, 0.5 + 2.0**-12 * np.minimum(size, 1.0))
    return np.asarray(np.where(scores > 0.0, likelier, 1.0 - likelier))


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities of each record's classes, shape (n, K), K >= 3, each of its own scores alone. [records-alone]

    scores: finite, shape (n, K). scipy takes powers value by value, as it does `expit`; numpy's exponential is made for
    a processor's vectors, and rounds what is left over as it may.
    """
    powers = exp2((scores - np.max(scores, axis=1, keepdims=True)) / math.log(2.0))
    return np.asarray(powers / folded(powers.T.copy())[:, np.newaxis])


def _term(schema: Schema, intercept: FloatArray, record: Mapping[str, object]) -> Term:
    columns = tuple(cast("Sequence[int]", record["columns"]))
    known = all(type(column) is int and 0 <= column < len(schema.columns) for column in columns)
    if not known or len(columns) not in (1, 2) or len(set(columns)) != len(columns):
        raise ValueError(f"a table is about the columns {columns}, the schema has {len(schema.columns)}")
    maps = tuple(np.asarray(cells) for cells in cast("Sequence[Sequence[int]]", record["maps"]))
    values = np.asarray(record["values"], dtype=np.float64)
    sizes = values.shape[: len(columns)]
    fits = (
        len(maps) == len(sizes) == len(columns)
        and all(_maps(schema.columns[c], cells, size) for c, cells, size in zip(columns, maps, sizes, strict=True))
        and values.shape[len(columns) :] == intercept.shape
        and bool(np.all(np.isfinite(values)))
    )
    if not fits:
        raise ValueError(f"the table of {[schema.columns[column].name for column in columns]} does not fit the schema")
    return Term(columns, tuple(cells.astype(np.intp) for cells in maps), values, _unsure(record, values))


def _unsure(record: Mapping[str, object], values: FloatArray) -> FloatArray | None:
    """The deviations of a table's values, None in models that were saved without. Raises ValueError."""
    if record.get("deviations") is None:
        return None
    found = np.asarray(record["deviations"], dtype=np.float64)
    if found.shape != values.shape or not np.all(np.isfinite(found) & (found >= 0.0)):
        raise ValueError("deviations: expected a number of at least 0 for each value of the table")
    return found


def _maps(column: Column, cells: npt.NDArray[np.generic], size: int) -> bool:
    """Whether these are the cells, all of a table's `size`, of a column's codes; in order."""
    if cells.dtype.kind != "i" or cells.shape != (column.cells,):
        return False
    steps = np.diff(cells.astype(np.intp))
    rising = bool(np.all((steps == 0) | (steps == 1))) if isinstance(column, Numeric) else bool(np.all(steps == 1))
    if isinstance(column, Numeric) and column.own_cell and steps[-1] != 1:
        return False  # missing values share no cell with numbers
    return rising and int(cells[0]) == 0 and int(cells[-1]) == size - 1


def _cell_names(schema: Schema, column: int, cells: IntArray) -> list[str]:
    """What each cell says: a category, or an interval from the first to the last fine cell it holds."""
    what = schema.columns[column]
    if isinstance(what, Categorical):
        return what.values()
    if not isinstance(what, Numeric):
        return ["0", "1"]
    cells = cells[: what.bin_number]
    first = np.searchsorted(cells, np.arange(int(cells.max()) + 1))
    last = np.searchsorted(cells, np.arange(int(cells.max()) + 1), side="right")
    bins = [what.interval(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    return [*bins, MISSING_CELL] if what.own_cell else bins
