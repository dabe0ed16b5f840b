"""Neighbouring samples and ζ-close weightings as Hypothesis strategies. Needs the extra `verify`."""

from typing import TypeVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from accountant import AddRemoveOne, Adjacency, FeatureValue, FeatureValues
from accountant.arrays import FloatArray
from proofs_tests.harness.neighbours import Pair, sensitive_columns

R = TypeVar("R")


@st.composite
def neighbouring(
    draw: st.DrawFn, adjacency: Adjacency, records: st.SearchStrategy[R], n: st.SearchStrategy[int]
) -> Pair[tuple[R, ...]]:
    """A strategy of neighbouring samples. records: of single records; for those of a feature, tuples."""
    size = draw(n)
    sample = tuple(draw(st.lists(records, min_size=size, max_size=size)))
    place, new = draw(st.integers(0, size - 1)), draw(records)
    match adjacency:
        case AddRemoveOne():
            pair = Pair(sample, (*sample, new))
            return pair if draw(st.booleans()) else Pair(pair.after, pair.before)
        case FeatureValue() | FeatureValues():
            old, columns = sample[place], sensitive_columns(adjacency)
            assert isinstance(old, tuple)
            assert isinstance(new, tuple)
            kept = (new[at] if at in columns else value for at, value in enumerate(old))
            new = tuple(kept)  # type: ignore[assignment]  # a record is a tuple here
    return Pair(sample, (*sample[:place], new, *sample[place + 1 :]))


def _distributions(size: int) -> st.SearchStrategy[FloatArray]:
    weights = hnp.arrays(np.float64, size, elements=st.floats(0.0, 1.0))
    return weights.filter(lambda w: w.sum() > 0.0).map(lambda w: np.asarray(w / w.sum()))


@st.composite
def zeta_close(draw: st.DrawFn, points: int, zeta: float) -> Pair[FloatArray]:
    """Two distributions over the same labelled points, at joint distance at most ζ; every such pair has this form.

    points: how many labelled points, >= 1.  zeta: in (0, 1]. Each shape (points,), summing to 1.
    """
    common, old, new = (draw(_distributions(points)) for _ in range(3))
    return Pair((1.0 - zeta) * common + zeta * old, (1.0 - zeta) * common + zeta * new)
