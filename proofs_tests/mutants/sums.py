"""Sums, means and histograms of plain data that move further than they say."""

from collections.abc import Callable
from functools import partial

import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import L1Sensitivity, L2Sensitivity, LInfSensitivity, Query
from proofs_tests.harness import Pair, Report, check_sensitivity, neighbours
from proofs_tests.mutants.mutant import Mutant, Numbers

Evaluate = Callable[[Numbers], FloatArray]


def l1(evaluate: Evaluate, bound: float, records: Numbers = (0.0, 1.0), n: int = 3) -> Report:
    query = Query("mutant", evaluate, L1Sensitivity(bound), ReplaceOne())
    return check_sensitivity(query, neighbours(ReplaceOne(), records, n))


def l2(evaluate: Evaluate, bound: float, records: Numbers = (0.0, 1.0), n: int = 3) -> Report:
    query = Query("mutant", evaluate, L2Sensitivity(bound), ReplaceOne())
    return check_sensitivity(query, neighbours(ReplaceOne(), records, n))


def features(records: Numbers) -> FloatArray:
    """Mean of eight random features: each record moves all of them."""
    frequencies = np.random.default_rng(0).normal(size=8)
    return np.asarray(np.cos(np.outer(records, frequencies)).mean(axis=0) / np.sqrt(8.0))


def histogram(records: Numbers) -> FloatArray:
    return np.array([float(records.count(0.0)), float(records.count(1.0))])


def clipped_sum(low: float, high: float) -> Evaluate:
    return lambda records: np.array([np.sum(np.clip(records, low, high))])


def gram(records: Numbers) -> FloatArray:
    return np.array([np.sum(np.square(records))])


def by_own_maximum(records: Numbers) -> FloatArray:
    return np.array([np.mean(records) / max(max(records), 1e-9)])


def by_public_maximum(records: Numbers) -> FloatArray:
    return np.array([np.mean(records) / 10.0])


def cross_moment(clip_both: bool) -> Evaluate:
    """Records as x with y = 3x: x is clipped to [0, 1], y only where both are."""

    def moment(records: Numbers) -> FloatArray:
        x, y = np.clip(records, 0.0, 1.0), 3.0 * np.array(records)
        return np.array([np.sum(x * (np.clip(y, 0.0, 1.0) if clip_both else y))])

    return moment


def half_precision_sum(kind: type[np.float16] | type[np.float64]) -> Report:
    """Records in [−2, 2]. From 2050 on, steps of −0.6 are rounded away; from 2046 on each counts as −1."""

    def total(records: Numbers) -> FloatArray:
        values = np.array(records, dtype=kind)
        running = values[0]
        for value in values[1:]:
            running = running + value
        return np.array([float(running)])

    rest = (2.0,) * 1024 + (-0.6,) * 500
    query = Query[Numbers, FloatArray, LInfSensitivity]("sum", total, LInfSensitivity(4.0), ReplaceOne())
    pairs: list[Pair[Numbers]] = [Pair((2.0, *rest), (-2.0, *rest))]
    return check_sensitivity(query, pairs)


def normalised(records: Numbers) -> FloatArray:
    """A sum of clipped records, divided by the batch size it was expected to have: 1/2."""
    return np.array([np.sum(np.clip(records, 0.0, 1.0)) / 0.5])


MUTANTS = (
    Mutant("ℓ2 sensitivity for Laplace noise", "up to √N too little noise", "peers.md §6 #25, DPRFM",
           partial(l1, features, 2.0 / 3.0, (0.0, 3.0)), partial(l2, features, 2.0 / 3.0, (0.0, 3.0)),
           "sensitivity"),
    Mutant("largest coordinate for Gaussian noise", "ℓ∞ in place of ℓ2", "issue 4", partial(l2, histogram, 1.0),
           partial(l2, histogram, 2.0**0.5), "sensitivity"),
    Mutant("histogram, one cell charged", "a replaced record changes two cells", "issue 4", partial(l1, histogram, 1.0),
           partial(l1, histogram, 2.0), "sensitivity"),
    Mutant("sum with max(|low|, |high|)", "right under add-remove-one, half of the width under replace-one",
           "peers.md §8: asymmetric bounds", partial(l1, clipped_sum(-5.0, 5.0), 5.0, (-5.0, 5.0)),
           partial(l1, clipped_sum(-5.0, 5.0), 10.0, (-5.0, 5.0)), "sensitivity"),
    Mutant("sensitivity from the lower bound only", "max(|lo|, |lo|)² is 0 for bounds (0, 100)",
           "peers.md §6 #2, diffprivlib LinearRegression", partial(l1, gram, 0.0, (0.0, 100.0)),
           partial(l1, gram, 10_000.0, (0.0, 100.0)), "sensitivity"),
    Mutant("scaled by the data's own maximum", "one record rescales all others", "issue 4",
           partial(l1, by_own_maximum, 1.0 / 3.0, (1.0, 10.0)), partial(l1, by_public_maximum, 0.3, (1.0, 10.0)),
           "sensitivity"),
    Mutant("only one factor of a moment clipped", "y is unbounded in Σxy", "peers.md §6 #7, smartnoise-sdk#622",
           partial(l1, cross_moment(False), 1.0), partial(l1, cross_moment(True), 1.0), "sensitivity"),
    Mutant("sum in half precision", "rounding depends on the running sum", "Casacuberta et al. 2022; peers.md §6 #10",
           partial(half_precision_sum, np.float16), partial(half_precision_sum, np.float64), "sensitivity"),
    Mutant("normalised sum with sensitivity 1", "clipping to 1 and then dividing by 1/2 gives 2",
           "peers.md §6 #24, JAX-Privacy", partial(l1, normalised, 1.0), partial(l1, normalised, 2.0), "sensitivity"),
)  # fmt: skip
