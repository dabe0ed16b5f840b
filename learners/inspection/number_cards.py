"""An additive regression as a person reads it: what to add up, in the label's own unit. From the model alone: free."""

import math
from typing import Final, Literal

import attrs
import numpy as np

from learners.inspection.card_sections import CardSection, Scorecard
from learners.inspection.merged_cells import merged
from learners.inspection.point_tables import PointsTable, PointUnit, tables
from learners.regression import RegressionModel
from learners.tables import Schema

FINENESS: Final = 500.0
"""Steps between the bounds of labels that a card tells apart, at least."""


@attrs.frozen
class NumberCard(Scorecard):
    """Numbers to add up by hand.

    label: what they come to.  step: what effects are whole multiples of, in the label's unit, or of its logarithm.
    base: what everybody starts with, in steps.  tables: the most influential first, in steps.  unused: columns without.
    log: whether the sum is the label's logarithm.  off: how far a line is off at most, in the same unit as the step.
    """

    schema: Schema
    label: str
    bounds: tuple[float, float]
    step: float
    base: int
    tables: tuple[PointsTable, ...]
    unused: tuple[str, ...]
    log: bool
    off: float

    def _number(self, steps: int, sign: str = "+") -> str:
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{steps * self.step:{sign},.{digits}f}" if steps or not sign else "0"

    def sections(self) -> list[CardSection]:
        what = f"the logarithm of {self.label}" if self.log else self.label
        lower, upper = self.bounds
        advice = (
            f"Base: {self._number(self.base, '')}. Start with the base. In every table find the line that the record "
            f"is on, and add its number; a pair without such a line adds none. The total is {what}, which then counts "
            f"as no less than {lower:g} and no more than {upper:g}.",
            f"Cells that are most alike are on one line: none is more than {self.off:.3g} off what the model has. What "
            "noise leaves unsure of effects is not known of regressions; intervals of predictions are, where they were "
            "paid for.",
        )
        shown = [self._section(table) for table in self.tables]
        unused = [CardSection("No effect", (", ".join(self.unused),))] if self.unused else []
        return [CardSection("How to read it", advice), *shown, *unused]

    def _names(self, table: PointsTable) -> tuple[str, ...]:
        return tuple(self.schema.columns[column].name for column in table.columns)

    def _section(self, table: PointsTable) -> CardSection:
        names, head = self._names(table), "adds"
        rows = tuple((*map(str, line.where), self._number(line.points[0])) for line in table.lines)
        return CardSection(" × ".join(names), headers=(*names, head), rows=rows, numbers=(head,))

    def as_dict(self) -> dict[str, object]:
        columns = [
            {"columns": list(self._names(table)), "lines": [line.as_dict() for line in table.lines]}
            for table in self.tables
        ]
        return {
            "kind": "numbers",
            "label": self.label,
            "bounds": list(self.bounds),
            "step": self.step,
            "logarithm": self.log,
            "base": self.base,
            "tables": columns,
            "unused": list(self.unused),
            "off": self.off,
        }


def number_card(model: RegressionModel, lines: int | Literal["all"] | None) -> NumberCard:
    """The card; see `scorecard` for `lines`."""
    log = model.loss == "poisson"
    step = 0.01 if log else _round_step((model.bounds[1] - model.bounds[0]) / FINENESS)
    unit = PointUnit(math.log(2.0) / step)
    additive, off = model.additive, 0.0
    if lines != "all":
        short = merged(model.additive, lines)
        additive, off = short.model, max(short.off, default=0.0)
    found = tables(additive, unit)
    base = round(float(unit.points(additive.intercept))) + sum(table.base[0] for table in found)
    used = {column for table in found if table.lines for column in table.columns}
    unused = tuple(name for number, name in enumerate(model.schema.names) if number not in used)
    label = "the label" if model.schema.number_label is None else model.schema.number_label.name
    kept = tuple(table for table in found if table.lines)
    widest = off + unit.tolerance * step
    return NumberCard(model.schema, label, model.bounds, step, int(base), kept, unused, log, float(np.float64(widest)))


def _round_step(width: float) -> float:
    """The largest of 1, 2, 5, 10, … and their like that is no more than this."""
    power = 10.0 ** math.floor(math.log10(width))
    return max(each * power for each in (1.0, 2.0, 5.0) if each * power <= width * (1.0 + 1e-9))
