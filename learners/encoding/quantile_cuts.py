"""Cut points of numeric columns at private quantiles: chosen among public fine cuts, by `PrivateQuantile`s.

Everything is a function of codes: columns are first cut finely by their public bounds alone, quantiles are released as
numbers of fine cells, and cells between chosen cuts are merged.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant import BasicComposition, Plan, Protected, ZCDPComposition
from accountant.arrays import CodeArray, IntArray
from accountant.costs import count, float_up
from boosting import Spender
from learners.encoding.encoder import EncodedSample, Layout
from learners.encoding.partitions import refined
from learners.tables import Column, Numeric, Schema
from mechanisms import Candidates, NoiseSource, PrivateQuantile
from mechanisms.core import Block, Rows
from mechanisms.quantiles import Tally

QUANTILE_SHARE: Final = 0.1
"""Of the budget: of Σρ where there is a δ, else of Σε."""


def bin_count(value: int) -> int:
    """At least 2. Raises ValueError."""
    if count(value) < 2:
        raise ValueError(f"expected at least 2 bins, got {value!r}")
    return count(value)


def finely_cut(schema: Schema, cells: int | None = None) -> Schema:
    """The schema with public cuts into so many cells, FINE for None, for numeric columns that name none."""
    columns = [refined(column, cells) if isinstance(column, Numeric) else column for column in schema.columns]
    return attrs.evolve(schema, columns=columns)


def is_fine(column: Column) -> bool:
    """Whether its cuts are those of `finely_cut`, and there are enough to choose from."""
    return isinstance(column, Numeric) and column.bin_number > 2 and column == refined(attrs.evolve(column, cuts=()))


@attrs.frozen(eq=False)
class QuantileCuts:
    """What a fit releases to choose its cuts, fixed before it starts. Everything here is public.

    schema: see `finely_cut`.  bins: of about equal numbers of records, per column.  n: the number of records.
    share: of the budget, in (0, 1).  rho: whether that budget is Σρ rather than Σε.
    """

    schema: Schema
    bins: int
    n: int
    share: float
    rho: bool
    noise: NoiseSource

    def __attrs_post_init__(self) -> None:
        for column in (self.schema.columns[number] for number in self.columns):
            if isinstance(column, Numeric) and column.own_cell:
                raise ValueError(
                    f"quantile_bins: missing values of column {column.name!r} have a cell of their own, which is at no "
                    "quantile; give the column cuts of its own, or a number that missing values count as"
                )

    @cached_property
    def columns(self) -> list[int]:
        """Numbers of the columns that are cut at quantiles; kept, as the search for a noise scale asks often."""
        return [number for number, column in enumerate(self.schema.columns) if is_fine(column)]

    @property
    def releases(self) -> int:
        """How many quantiles that makes."""
        return len(self.columns) * (self.bins - 1)

    @property
    def features(self) -> int:
        """The most Boolean features that there can be."""
        cut = set(self.columns)
        others = sum(len(column.values()) for number, column in enumerate(self.schema.columns) if number not in cut)
        return others + self.releases

    def mechanisms(self, eta: float) -> dict[int, list[PrivateQuantile]]:
        """By column, in order. eta: inverse noise scale per rank."""
        levels = [level / self.bins for level in range(1, self.bins)]
        found = {}
        for number in self.columns:
            # Cells are candidates by their numbers: what lies between two cuts is all alike.
            candidates = Candidates(tuple(float(cell) for cell in range(self.schema.columns[number].cells)))
            found[number] = [PrivateQuantile(level, candidates, self.n, eta, self.noise) for level in levels]
        return found

    def eta(self, others: Plan) -> float:
        """The inverse noise scale at which they cost `share` of themselves and the other releases together."""
        rule = ZCDPComposition() if self.rho else BasicComposition()
        level = float_up(others.amount(rule).loss) * self.share / (1.0 - self.share)
        return math.sqrt(2.0 * level / self.releases) if self.rho else 0.5 * level / self.releases

    def plan(self, others: Plan) -> Plan:
        """What all quantiles cost beside a plan of other releases."""
        return Plan.sequence([each.cost for some in self.mechanisms(self.eta(others)).values() for each in some])

    def release(self, spender: Spender, others: Plan, data: Protected[Rows[EncodedSample]]) -> dict[int, IntArray]:
        """By column, numbers of the fine cells above which it is cut, rising. others: as given to `plan`."""
        chosen = {}
        for number, some in self.mechanisms(self.eta(others)).items():
            tally = data.map(_Tallied(number, some[0].candidates))
            cells = np.unique([spender.release(each, tally) for each in some])
            # Nothing lies above the last cell; a column that is crowded there is cut below it.
            chosen[number] = np.unique(np.minimum(cells, self.schema.columns[number].cells - 2))
        return chosen


@attrs.frozen
class ColumnCounts:
    """How many of a block's records have each code of one column, shape (cells,)."""

    column: int
    cells: int

    def __call__(self, block: Block[EncodedSample]) -> npt.NDArray[np.int64]:
        """See above."""
        return np.bincount(block.data.codes[self.column], minlength=self.cells).astype(np.int64)


@attrs.frozen
class _Tallied:
    """Counts of one column's cells, once they are asked for."""

    column: int
    candidates: Candidates

    def __call__(self, rows: Rows[EncodedSample]) -> Tally:
        work = ColumnCounts(self.column, len(self.candidates))
        return Tally(self.candidates, lambda: rows.total(work))


@attrs.frozen(slots=False, eq=False)
class Merged:
    """A sample by coarser cuts. chosen: see `QuantileCuts.release`; releases, hence public."""

    schema: Schema
    chosen: Mapping[int, IntArray]

    @cached_property
    def layout(self) -> Layout:
        """Thresholds at the chosen cuts."""
        columns = list(self.schema.columns)
        for number, cells in self.chosen.items():
            column = columns[number]
            assert isinstance(column, Numeric)
            cuts = tuple(column.cuts[cell] for cell in cells.tolist())
            columns[number] = attrs.evolve(column, cuts=cuts, encoding="thresholds")
        return Layout(attrs.evolve(self.schema, columns=tuple(columns)))

    def merged(self, number: int, codes: CodeArray) -> CodeArray:
        """What becomes of the codes of a column that is cut, shape (n,)."""
        return np.asarray(np.searchsorted(self.chosen[number], codes, side="left"))

    def __call__(self, sample: EncodedSample) -> EncodedSample:
        codes = sample.codes.copy()
        for number in self.chosen:
            codes[number] = self.merged(number, codes[number])
        return attrs.evolve(sample, layout=self.layout, codes=codes)
