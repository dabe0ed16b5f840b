"""Naive Bayes on one histogram per column and label, released by one measurement of OpenDP.

What one builds from a library of measurements: a record is one number that holds its label and its codes; for each
column a transformation gives (code, label), OpenDP counts them, adds Gaussian noise, composes the columns under
ρ-zCDP and converts to (ε, δ) by its own rule. Its map of the whole, at one record more or less, is held against (ε, δ)
before anything is released. Everything after that is arithmetic on what was released.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peer_workers.serve import Arrays, Floats, Job, serve_fits

LEAST = 0.5
"""Noisy counts below it are taken as it."""


def imports() -> None:
    """The package. `honest-but-curious` is for the choice of a column, whose stability we vouch for."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")


def load(arrays: Arrays) -> dict[str, Any]:
    """Records as numbers in mixed radix, lowest digit the label, and the codes to predict from."""
    cells = [int(number) for number in arrays["cells"]]
    places = [2 * math.prod(cells[:column]) for column in range(len(cells))]
    if 2 * math.prod(cells) >= 2**63:
        raise OverflowError("a record of this schema does not fit 63 bits")
    labels = (arrays["signs"] > 0).astype(np.int64)
    records = labels + sum(place * codes.astype(np.int64) for place, codes in zip(places, arrays["codes"], strict=True))
    return {"cells": cells, "places": places, "records": records, "codes": arrays["codes"]}


def histogram(place: int, cells: int, scale: float) -> Any:
    """A measurement: noisy counts of (code, label) of one column, code by code."""
    import opendp.prelude as dp

    records, pairs = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.vector_domain(dp.atom_domain(T=dp.i32))
    metric = dp.symmetric_distance()

    def pair(whole: npt.ArrayLike) -> npt.NDArray[np.int32]:
        numbers = np.asarray(whole, dtype=np.int64)
        return np.asarray(numbers // place % cells * 2 + numbers % 2, dtype=np.int32)

    chosen = dp.t.make_user_transformation(records, metric, pairs, metric, pair, lambda distance: distance)
    counts = dp.t.then_count_by_categories(
        list(range(2 * cells)), null_category=False, MO=dp.L2Distance[dp.i32], TOA=dp.i32
    )
    return chosen >> counts >> dp.m.then_gaussian(scale)


def together(measurements: list[Any], delta: float) -> Any:
    """All of them as one measurement, whose map gives (ε, δ) at this δ."""
    import opendp.prelude as dp

    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.c.make_composition(measurements)), delta)


def smallest_scale(columns: int, epsilon: float, delta: float) -> float:
    """The smallest noise at which so many histograms keep to (ε, δ), by OpenDP's map and search."""
    import opendp.prelude as dp

    counts = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.l2_distance(T=dp.i32)

    def keeps(scale: float) -> bool:
        each = dp.m.make_gaussian(*counts, scale=scale)
        return bool(together([each] * columns, delta).map(1)[0] <= epsilon)

    return float(dp.binary_search(keeps, bounds=(0.1 * math.sqrt(columns), 1e6)))


def fit(fed: dict[str, Any], job: Job) -> Callable[[dict[str, Any]], Floats]:
    """Release, then log-odds by column and code."""
    epsilon, delta = job["epsilon"], job["delta"]
    scale = smallest_scale(len(fed["cells"]), epsilon, delta)
    columns = zip(fed["places"], fed["cells"], strict=True)
    measurement = together([histogram(place, cells, scale) for place, cells in columns], delta)
    promised = measurement.map(1)
    if not (promised[0] <= epsilon * (1.0 + 1e-9) and promised[1] <= delta):
        raise ValueError(f"it promises {promised}, above {(epsilon, delta)}")
    released = [np.maximum(np.reshape(counts, (-1, 2)), LEAST) for counts in measurement(fed["records"])]
    classes = np.mean([counts.sum(axis=0) for counts in released], axis=0)
    shares = [counts / counts.sum(axis=0) for counts in released]
    odds = [np.log(share[:, 1]) - np.log(share[:, 0]) for share in shares]
    start = math.log(classes[1]) - math.log(classes[0])

    def scores(other: dict[str, Any]) -> Floats:
        found = [each[codes] for each, codes in zip(odds, other["codes"], strict=True)]
        return np.asarray(start + np.sum(found, axis=0), dtype=np.float64)

    return scores


if __name__ == "__main__":
    serve_fits(load, fit, imports)
