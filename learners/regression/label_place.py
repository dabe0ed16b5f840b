"""How many records there are, and where their labels lie: the first releases of an additive regression."""

from typing import Final

import attrs
import numpy as np

from accountant import Protected
from boosting import Spender
from learners.regression.label_scale import deviation
from learners.regression.record_views import Everywhere, LabelDistance, LabelPull, Records, histograms, moments
from learners.regression.regression_design import RegressionDesign, noise_of

LEAST_RECORDS: Final = 20.0
"""Noisy numbers of records below it count as that."""


@attrs.frozen
class LabelPlace:
    """Where labels are, in units of their bounds: they are centre + scale·target. deviation: in units of the scale."""

    centre: float
    scale: float
    deviation: float


def weight_of(sample: Protected[Records], design: RegressionDesign, mu: float, spender: Spender) -> float:
    """The noisy number of records, or sum of their weights."""
    found = spender.release(design.total(mu), moments(sample, Everywhere()))
    return max(float(found[0]), LEAST_RECORDS)


def label_place(
    sample: Protected[Records], design: RegressionDesign, mu: float, weight: float, spender: Spender
) -> LabelPlace:
    """Twice the mean within a clip, and from there the distances, which narrow the clip."""
    centre, clip, spread = 0.0, 1.0, 1.0
    for _ in range(2):
        pulls = moments(sample, LabelPull(centre, clip))
        mean = clip * float(spender.release(design.middle(mu), pulls)[0]) / weight
        centre = float(np.clip(centre + mean, -1.0, 1.0))
        counter = design.distances(mu)
        counts = spender.release(counter, histograms(sample, LabelDistance(centre, 2.0 * clip)))
        spread = deviation(counts[0], noise_of(counter), 2.0 * clip)
        clip = min(clip, 3.0 * spread)
    if not design.rule.log:
        return LabelPlace(centre, spread, 1.0)
    origin = design.origin
    mean_label = max(centre - origin, 0.1 * spread, 2.0**-20)
    return LabelPlace(origin, mean_label, spread / mean_label)
