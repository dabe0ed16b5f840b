"""The measure that a producer puts on records whose margins are given."""

import numpy as np

from boosting.measures import BoundedMeasure, WholeArray
from boosting.reweighted_sample import Margins, MarginWeighting, weighting_of


def weighed(producer: MarginWeighting, margins: WholeArray, hypotheses: int) -> BoundedMeasure:
    """margins: after so many hypotheses of ±1, shape (n,)."""
    found = Margins(margins, 1, hypotheses)
    return weighting_of(producer, np.bincount(found.levels, minlength=found.size), hypotheses).of(found)
