"""Random classification noise: 003's M_η (Algorithm 3, sections 3.4 and 5.1), and how much of it a run survives.

Labels are flipped independently of each other and of the sample, each with probability η, the noise rate. A share of
records that is corrupted is another thing: flips among n records have a share of about η, and with n it is less and
less likely that their share is much more.

`flipped` is for experiments, not a privacy mechanism: its generator is predictable and nothing is charged. Labels that
were flipped by secure noise at rate η in (0, 1/2) would be ln((1 − η)/η)-DP for a change of one label, which says
nothing about the points; at the rates that a run tolerates that is a weak promise, above 3.4 nats. The converse is
003's: M_η costs what M costs, as the flips do not depend on the sample and so keep neighbours neighbours.
"""

import math

import attrs
import numpy as np
from scipy.special import betainc

from accountant.arrays import SignArray
from accountant.costs import count, exact, fraction, non_negative
from boosting.theory.halfspaces import centred_mean_advantage


def _noise_rate(value: float) -> float:
    if not 0.0 <= value < 0.5:
        raise ValueError(f"expected a noise rate in [0, 1/2), got {value!r}")
    return float(value)


def flipped(labels: SignArray, noise_rate: float, generator: np.random.Generator) -> SignArray:
    """A copy of the labels, each flipped with probability η, independently. Not private. 003, Algorithm 3.

    labels: shape (n,), each −1 or +1.  noise_rate: η in [0, 1/2). Returns int8 of shape (n,).
    Which records are flipped depends on the generator, n and η only. Raises ValueError for anything else.
    """
    rate, signs = _noise_rate(noise_rate), np.asarray(labels)
    if signs.ndim != 1 or not np.all(np.abs(signs) == 1):
        raise ValueError("expected labels of shape (n,), each -1 or +1")
    flips = generator.random(signs.size) < rate
    return np.where(flips, -signs, signs).astype(np.int8)


def tolerated_corruption(margin: float, density: float) -> float:
    """κτ/4: the share of corrupted records at which the weak learner has an advantage of τ/4. [003-Thm26]

    margin: τ in (0, 1].  density: κ in (0, 1]. Raises ValueError outside.
    """
    return 0.25 * fraction(density) * fraction(margin)


@attrs.frozen
class FlipTail:
    """How likely too many flips are; both in [0, 1]. exact: for the binomial.  bound: Chernoff's, never below it."""

    exact: float
    bound: float


def too_many_flips(n: int, noise_rate: float, share: float) -> FlipTail:
    """P[more than share·n of n labels are flipped], exactly and by the Chernoff bound of Claim 2. [003-Claim2]

    noise_rate: η in [0, 1/2).  share: in [0, 1].  The bound, with g = share − η, is exp(−n·g/3) for a share of at
    least 2η, as in the claim, exp(−n·g²/(3η)) between η and 2η, and 1 below. Raises ValueError outside.
    """
    records, rate, gap = count(n), _noise_rate(noise_rate), non_negative(share) - noise_rate
    if share > 1.0:
        raise ValueError(f"expected a share in [0, 1], got {share!r}")
    most = math.floor(exact(share) * records)  # exactly, as the product in floating point may reach the next integer
    tail = float(betainc(most + 1, records - most, rate)) if most < records else 0.0
    if gap <= 0.0:
        return FlipTail(tail, 1.0)
    rise = gap if share >= 2.0 * rate else gap * gap / rate
    return FlipTail(tail, math.exp(-records * rise / 3.0))


def largest_corruption(margin: float, density: float) -> float:
    """κτ/(1 + τ): the centred mean has an advantage below this share of corrupted records; at it, need not. [003-Thm26]

    margin: τ in (0, 1].  density: κ in (0, 1]. It is 4/(1 + τ) times `tolerated_corruption`. Raises ValueError outside.
    """
    tau = fraction(margin)
    return fraction(density) * tau / (1.0 + tau)


def advantage_left(margin: float, density: float, corrupted: float) -> float:
    """max(0, τ − (1 + τ)·η/κ)/2: the advantage left of (z/|z|)·x at a share η of corrupted records. [003-Thm26]

    It falls in a line from τ/2 at η = 0 through at least τ/4 at κτ/4 to 0 at `largest_corruption`. No more can be
    promised: it is attained. Without noise in z; `noisy_centred_mean_advantage` takes that off.
    margin: τ in (0, 1].  density: κ in (0, 1].  corrupted: η in [0, 1]. Raises ValueError outside.
    """
    if not 0.0 <= corrupted <= 1.0:
        raise ValueError(f"expected a share of corrupted records in [0, 1], got {corrupted!r}")
    # Just below the largest corruption rounding may leave nothing, which `centred_mean_advantage` refuses.
    length = fraction(margin) - (1.0 + margin) * (corrupted / fraction(density))
    return centred_mean_advantage(margin, density, corrupted) if length > 0.0 else 0.0
