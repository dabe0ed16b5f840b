"""Curves of additive models as small pictures of text: a line a column, as wide as a terminal."""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from accountant.arrays import FloatArray
    from learners.additive import AdditiveModel, Term

BLOCKS: Final = "▁▂▃▄▅▆▇█"
WIDTH: Final = 32
"""Characters of a picture."""

LONGEST: Final = 14
"""Letters of a category."""


def curve_rows(model: "AdditiveModel", most: int) -> list[tuple[str, str, str]]:
    """Name, picture and reach of the most influential columns; of two classes, or a regression.

    All pictures have one scale: a full block is the largest effect of all, the lowest the smallest.
    """
    single = sorted((each for each in model.terms if len(each.columns) == 1), key=lambda each: -np.ptp(each.values))
    shown = [(term, *_drawn(model, term)) for term in single[:most]]
    low = min((float(values.min()) for _, values, _ in shown), default=0.0)
    high = max((float(values.max()) for _, values, _ in shown), default=0.0)
    return [
        (model.schema.columns[term.columns[0]].name, picture(values, low, high), where) for term, values, where in shown
    ]


def picture(values: "FloatArray", low: float, high: float) -> str:
    """A block a value, from the lowest at `low` to the fullest at `high`."""
    heights = np.rint((values - low) / ((high - low) or 1.0) * (len(BLOCKS) - 1)).astype(np.intp)
    return "".join(BLOCKS[height] for height in np.clip(heights, 0, len(BLOCKS) - 1))


def _drawn(model: "AdditiveModel", term: "Term") -> "tuple[FloatArray, str]":
    """Values from left to right, and what is at either end."""
    from learners.tables import Numeric

    column, effects = model.schema.columns[term.columns[0]], term.values[term.maps[0]]
    if not isinstance(column, Numeric):
        names = [each[:LONGEST] for each in column.values()] if effects.size == len(column.values()) else ["0", "1"]
        return np.asarray(effects), ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    edges = column.edges
    places = edges[0] + (np.arange(WIDTH) + 0.5) / WIDTH * (edges[-1] - edges[0])
    codes = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, column.bin_number - 1)
    return np.asarray(effects[codes]), f"{column.interval(0, column.bin_number).strip('[]')}"
