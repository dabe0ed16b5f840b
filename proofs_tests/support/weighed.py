"""The measure that a producer puts on records whose margins are given."""

import numpy as np

from boosting.measures import BoundedMeasure, WholeArray
from boosting.reweighted import MarginWeighting, levels, weighting_of


def weighed(producer: MarginWeighting, margins: WholeArray, hypotheses: int) -> BoundedMeasure:
    """margins: after so many hypotheses of ±1, shape (n,)."""
    counts = np.bincount(levels(margins, hypotheses + 1), minlength=hypotheses + 1)
    return weighting_of(producer, counts, hypotheses).of(margins)
