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

TOLD_APART: Final = 2.0
"""The same of numbers below so many σ of their noise: taken for fewer, records would pull too far."""

USUAL_CENTRE: Final = 0.35
"""Deviation, a priori, of the labels' mean from the middle of their bounds, in units of half of what these span."""

SURPRISING: Final = 3.0
"""Deviations of its noise, by which a mean must differ from the usual one to be believed whatever that is."""

USUAL_SPREAD: Final = 0.3
"""Deviation of the labels, a priori, in units of the clip."""

HIDDEN: Final = 5.0
"""Records for each σ of a count, by which both tell as much of the labels' deviation: what is known a priori, and what
was released."""


@attrs.frozen
class LabelPlace:
    """Where labels are, in units of their bounds: they are centre + scale·target. deviation: in units of the scale."""

    centre: float
    scale: float
    deviation: float


def weight_of(sample: Protected[Records], design: RegressionDesign, mu: float, spender: Spender) -> float:
    """The noisy number of records, or sum of their weights."""
    counter = design.total(mu)
    found = spender.release(counter, moments(sample, Everywhere()))
    return max(float(found[0]), TOLD_APART * noise_of(counter), LEAST_RECORDS)


def label_place(
    sample: Protected[Records], design: RegressionDesign, mu: float, weight: float, spender: Spender
) -> LabelPlace:
    """Twice the mean within a clip, and from there the distances, which narrow the clip.

    Both are weighed against what is usual, by their noise.
    """
    centre, clip, spread, unsure = 0.0, 1.0, 1.0, USUAL_CENTRE**2
    middle, counter = design.middle(mu), design.distances(mu)
    told = weight / (weight + HIDDEN * noise_of(counter))
    for _ in range(2):
        pulls = moments(sample, LabelPull(centre, clip))
        mean = clip * float(spender.release(middle, pulls)[0]) / weight
        noise = (clip * noise_of(middle) / weight) ** 2
        gain = max(unsure / (unsure + noise), 1.0 - SURPRISING**2 * noise / max(mean**2, noise))
        centre, unsure = float(np.clip(centre + gain * mean, -1.0, 1.0)), (1.0 - gain) * unsure
        counts = spender.release(counter, histograms(sample, LabelDistance(centre, 2.0 * clip)))
        spread = deviation(counts[0], noise_of(counter), 2.0 * clip) ** told * (USUAL_SPREAD * clip) ** (1.0 - told)
        clip = min(clip, 3.0 * spread)
    if not design.rule.log:
        return LabelPlace(centre, spread, 1.0)
    origin = design.origin
    mean_label = max(centre - origin, 0.1 * spread, 2.0**-20)
    return LabelPlace(origin, mean_label, spread / mean_label)
