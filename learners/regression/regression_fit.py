"""Additive regression by gradients with noise: each round releases what all columns' smooth functions have to do with
the clipped residuals, and descends with momentum.

The first stage learns columns; what it released tells where residuals are clipped in the second, which columns are
learnt more readily there, and which pairs are worth it. Everything kept is post-processing of releases.
"""

from typing import Final

import numpy as np

from accountant import Protected
from accountant.arrays import FloatArray
from boosting import Spender
from learners.base import Progress
from learners.regression.descent import Descent, Stage
from learners.regression.label_place import LabelPlace, label_place, weight_of
from learners.regression.label_scale import deviation
from learners.regression.record_views import (
    ColumnCodes,
    InCells,
    Placing,
    Records,
    ResidualDistance,
    histograms,
    placed,
)
from learners.regression.regression_design import ROUNDS, RegressionDesign, noise_of
from learners.regression.regression_model import RegressionModel, ResidualHistogram, model_of
from learners.regression.score_correction import ScoreLine
from learners.regression.smooth_basis import Basis, bases, most_likely_pairs, pair_basis

MOST_PAIRS: Final = 16

WIDE_CLIP: Final = 4.0
"""Of the last mean, in deviations of the residuals."""

LARGEST_RESIDUAL: Final = 4.0
"""Beyond it, in deviations of the labels, distances are told apart no more."""

LEAST_DEVIATION, MOST_DEVIATION = 0.02, 1.2
"""Of residuals, in those of the labels: others count as that."""


def fit_additively(
    sample: Protected[Records], design: RegressionDesign, mu: float, spender: Spender, on_round: Progress
) -> RegressionModel:
    """Release what the design says, and put it together. mu: of all releases together."""
    weight = weight_of(sample, design, mu, spender)
    columns = _columns(sample, design, mu, spender)
    place = label_place(sample, design, mu, weight, spender)
    loss, descent = design.rule, Descent.start(columns)
    data = _placed(sample, descent.seen, place)
    first = Stage(design.gradients(mu, 0), ROUNDS[0], loss.clips[0] * place.deviation, weight, 1)
    first.run(data, descent, loss, spender, on_round)
    spread = _spread(data, descent, design, mu, place, spender)
    strength = descent.strengths(first.reached)
    pairs = _pairs(design, columns, strength)
    descent.second([pair for pair, _ in pairs], strength, [both for _, both in pairs])
    data = _placed(sample, descent.seen, place)
    second = Stage(design.gradients(mu, 1), ROUNDS[1], loss.clips[1] * spread, weight, 1 + ROUNDS[0])
    second.run(data, descent, loss, spender, on_round)
    if loss.mean:
        line = ScoreLine.of(loss, WIDE_CLIP * spread, weight)
        correction = line.released(data, descent.tables(), design, mu, spender)
        descent.correct(correction.shift, correction.slope, log=loss.log)
    residuals = _residuals(data, descent, design, mu, spread, spender) if design.intervals else None
    return model_of(design, descent, place, residuals)


def _columns(sample: Protected[Records], design: RegressionDesign, mu: float, spender: Spender) -> list[Basis]:
    counter = design.columns(mu)
    codes = histograms(sample, ColumnCodes(design.cells), len(design.schema.columns))
    return bases(design.schema, spender.release(counter, codes), noise_of(counter))


def _placed(sample: Protected[Records], seen: list[Basis], place: LabelPlace) -> Protected[InCells]:
    return placed(sample, Placing(tuple(seen), place.centre, place.scale))


def _spread(
    data: Protected[InCells],
    descent: Descent,
    design: RegressionDesign,
    mu: float,
    place: LabelPlace,
    spender: Spender,
) -> float:
    """Deviation of the residuals, in units of the labels' scale."""
    counter, largest = design.scales(mu), LARGEST_RESIDUAL * place.deviation
    apart = histograms(data, ResidualDistance(tuple(descent.tables()), design.rule, largest))
    found = deviation(spender.release(counter, apart)[0], noise_of(counter), largest)
    return float(np.clip(found, LEAST_DEVIATION * place.deviation, MOST_DEVIATION * place.deviation))


def _pairs(design: RegressionDesign, columns: list[Basis], strength: FloatArray) -> list[tuple[Basis, tuple[int, int]]]:
    """Those whose columns have the largest effects, where they have not too many cells."""
    found: list[tuple[Basis, tuple[int, int]]] = []
    for first, second in most_likely_pairs(strength, design.pairs, len(design.pairs)):
        basis = pair_basis(columns[first], columns[second], design.schema)
        if basis is not None and len(found) < MOST_PAIRS:
            found.append((basis, (first, second)))
    return found


def _residuals(
    data: Protected[InCells], descent: Descent, design: RegressionDesign, mu: float, spread: float, spender: Spender
) -> ResidualHistogram:
    counter, largest = design.residuals(mu), 2.0 * WIDE_CLIP * spread
    apart = histograms(data, ResidualDistance(tuple(descent.tables()), design.rule, largest, signed=True))
    counts = spender.release(counter, apart)[0]
    return ResidualHistogram(largest, tuple(counts.tolist()), noise_of(counter))
