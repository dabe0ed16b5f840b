"""Rados with part of their mean taken away: label smoothing, which few rados can learn under.

π ↦ π − s·π̄ turns the logistic loss that all rados stand for into that of labels which are flipped with probability
s/2. [000-smoothing] The best classifier keeps its direction, up to how far the model is wrong, and becomes small. That
is what few rados need: n of them show F_exp only where θ·π spreads by less than about √(2·ln n); a minimum further out
they do not have, and boosting then follows the rado that is worst by chance. Without smoothing it lies
at about √m times the correlation of the features with the label.

Nothing but rados is looked at, so all of this is post-processing.
"""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import probability_below_one
from boosting.rados.losses import logistic_loss

SIGNAL: Final = 0.25
"""The largest mean of a coordinate, in its deviations, that smoothing leaves. Of 0.1, 0.25, 0.5 and 1 on five data sets
and four ε the first three hardly differed, and the last was worse."""


def smoothed(rados: FloatArray, share: float) -> FloatArray:
    """π − s·π̄, shape (n, d). rados: shape (n, d).  share: s in [0, 1); 0 leaves them as they are. [000-smoothing]"""
    return np.asarray(rados - probability_below_one(share) * np.mean(rados, axis=0))


def enough_smoothing(rados: FloatArray, signal: float = SIGNAL) -> float:
    """The least s at which no coordinate's mean is more than `signal` of its deviations; in [0, 1).

    rados: shape (n, d). A coordinate that is the same in all rados has no deviation, and is left aside.
    """
    means, deviations = np.abs(np.mean(rados, axis=0)), np.std(rados, axis=0)
    varies = deviations > 2.0**-40 * means
    largest = float(np.max(means[varies] / deviations[varies], initial=0.0))
    return 1.0 - signal / largest if largest > signal else 0.0


def smoothed_logistic_loss(edges: FloatArray, theta: FloatArray, share: float) -> float:
    """(1 − s/2)·F_log(θ) + (s/2)·F_log(−θ): labels flipped with probability s/2. [000-smoothing]

    edges: yᵢ·xᵢ, shape (m, d).  theta: shape (d,). Raises ValueError for other shapes.
    """
    flipped = 0.5 * probability_below_one(share)
    return (1.0 - flipped) * logistic_loss(edges, theta) + flipped * logistic_loss(edges, -theta)
