"""Linear models of unit-length features whose coefficients move by a proved amount: one pass of SGD, and ridge."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy import linalg

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, positive, up
from mechanisms.core import L2Sensitivity, Query
from mechanisms.gradients.feature_queries import UnitRows, moment_sums, places, sizes_check

MACHINE_EPSILON: Final = 2.0**-52

LEAST_PENALTY: Final = 1e-6
"""Of ridge, per record: below, rounding would show."""

LARGEST_RATE: Final = 2.0
"""Up to which a step on a 1-smooth loss brings no two vectors further apart."""


def one_pass_sgd(
    records: int, width: int, rate: float, batch: int, clip: float
) -> Query[UnitRows, FloatArray, L2Sensitivity]:
    """Coefficients after one pass of stochastic gradient descent from 0, in the records' order, shape (D,).

    Each step takes the mean gradient of `batch` records, of the squared loss with residuals cut at `clip` (Huber's) and
    labels at ±1, times `rate`, in (0, 2].  records: m.  width: D.
    Sensitivity: 2·rate·clip/batch in ℓ2, and rounding: a record is in one step, whose gradients differ by 2·clip/batch,
    and the steps after it bring two runs no further apart, as the loss is convex and 1-smooth. [004-one-pass]
    """
    most, step, size, unit = count(records), positive(rate), min(count(batch), records), positive(clip)
    if step > LARGEST_RATE:
        raise ValueError(f"rate: expected at most {LARGEST_RATE}, beyond which steps can drive two runs apart")

    def descended(data: UnitRows) -> FloatArray:
        found = np.zeros(width)
        for features, targets in _batches(data, size):
            residuals = np.clip(np.clip(targets, -1.0, 1.0) - features @ found, -unit, unit)
            found += (step / size) * (residuals @ features)
        return found

    steps = -(-most // size)
    # Of the coefficients: labels are in [−1, 1] and the rate is at most 2, so a step adds 2ηr(c·φ) + η²r²|φ|² to |c|²:
    # at most 2ητ + η²τ² where r and c·φ have one sign, as |c·φ| <= 1 then, and at most 2ητ where they have not.
    longest = 1.1 * math.sqrt(steps * (2.0 * step * unit + (step * unit) ** 2))
    # A step rounds a dot product of D terms, a clipped residual and an addition, in each of the two runs.
    rounding = 2.0 * steps * MACHINE_EPSILON * (step * (width + size + 4) * (longest + unit) + longest)
    return Query(
        f"one pass of gradient descent at rate {step!r}, {size} records a step, residuals cut at {unit!r}",
        descended,
        L2Sensitivity(up(up(2.0 * step * unit / size) + rounding)),
        ReplaceOne(),
        ("004-one-pass",),
        sizes_check(records, width),
    )


def _batches(data: UnitRows, size: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """`size` records each, the last fewer, whatever the blocks are."""
    rows, values = np.empty((0, data.width)), np.empty(0)
    for features, targets in data.blocks():
        rows, values = np.concatenate([rows, features]), np.append(values, targets)
        whole = values.size - values.size % size
        for at in range(0, whole, size):
            yield rows[at : at + size], values[at : at + size]
        rows, values = rows[whole:], values[whole:]
    if values.size:
        yield rows, values


def ridge_l2(records: int, penalty: float, bound: float) -> float:
    """ℓ2 of how far argmin Σ(c·φ − y)² + Λ|c|² moves when a record is replaced, |φ| <= 1, |y| <= bound. [004-ridge]

    penalty: Λ/m.  (2·bound/Λ)·max over θ of cos θ·(1 + (K/2)·sin θ), K = √((m − 1)/Λ); reached but for a factor
    of 1 + 1/Λ where Λ <= m − 1.
    By Sherman and Morrison a record beside m − 1 others, H = Σφφᵀ of those, moves their c by Gφ·(y − c·φ)/(1 + φᵀGφ),
    G = (H + Λ)⁻¹. Let S = ΛG. As (Σyφ·g)² <= (m − 1)·bound²·gᵀHg, there is a p with ppᵀ <= H/Λ, hence |Sp| <=
    max √h/(1 + h) = ½, and c·φ = bound·K·Sp·φ. Along a unit vector n two records' moves differ, in units of bound/Λ,
    by at most |a·φ| − K(a·φ)(b·φ) + |a·φ'| + K(a·φ')(b·φ'), a = Sn, |a| <= 1, b = Sp. At given a·φ that is most for
    |φ| = 1 in the plane of a and b. Let ω be the angle between these, and t, −t' those of φ', φ from a, within ±90°:
    |a| times cos t + cos t' + K|b|·[cos ω·(cos² t − cos² t') + sin ω·(sin t·cos t + sin t'·cos t')], where […] is at
    most |sin(t + t')|, the length of the two brackets; with θ = (t + t')/2, at most 2cos θ·(1 + K|b|·|sin θ|).
    004 has 2/(mλ), which is for losses of slope 1 and not for squares.
    """
    whole = positive(penalty) * count(records)
    pull = 0.5 * math.sqrt((records - 1) / whole)
    sine = 2.0 * pull / (1.0 + math.sqrt(1.0 + 8.0 * pull**2))  # where −sin θ + pull·cos 2θ = 0
    return up(2.0 * positive(bound) * math.sqrt(1.0 - sine**2) * (1.0 + pull * sine) / whole)


def ridge_coefficients(
    records: int, width: int, penalty: float, bound: float
) -> Query[UnitRows, FloatArray, L2Sensitivity]:
    """argmin Σ(c·φᵢ − yᵢ)² + mλ|c|², shape (D,), labels cut at ±bound. Sensitivity: `ridge_l2`. [004-ridge]

    penalty: λ, in [1e-6, 1]. Raises ValueError outside.
    """
    if not LEAST_PENALTY <= penalty <= 1.0:
        raise ValueError(f"penalty: expected a number between {LEAST_PENALTY} and 1, got {penalty!r}")
    largest = positive(bound)
    add = moment_sums(places(records), largest)
    # Solving is backward stable: (A + E)c = b with |E| <= 4D²u|A|, so c is off by 4D²u·|A|·|A⁻¹|·|c|, where the last
    # three are at most 2.2m times the sensitivity; in each of two runs. A tenth is added where m·D² is 3e13.
    slack = 1.0 + 2.0**-48 * records * width**2

    def fitted(data: UnitRows) -> FloatArray:
        whole = data.sums(add)
        gram, pull = whole[:-1] + penalty * records * np.eye(width), whole[-1]
        return np.asarray(linalg.solve(gram, largest * pull, assume_a="pos"), dtype=np.float64)

    return Query(
        f"ridge regression, penalty {penalty!r} per record, labels cut at {largest!r}",
        fitted,
        L2Sensitivity(up(ridge_l2(records, penalty, largest) * slack)),
        ReplaceOne(),
        ("004-ridge",),
        sizes_check(records, width),
    )
