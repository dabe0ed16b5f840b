"""The exact distribution of one Boolean column of random rados, and what releasing it costs.

Let a column have edge values y_i·x_ij in {−1, +1}, m_pos of them +1. A random rado sums the edges of a uniform
subset of the m records, so its column is K − (m − m_pos) with K ~ Bin(m, 1/2), *whatever the data*: changing
one bit of the column only moves this distribution by 1. DP-FEAT (000, Algorithm 2, eq. 16) keeps a rado where K lies in
[β(m + 1), m − β(m + 1)], a window of K that does not depend on the data either. [000-rado-column] [000-DP-FEAT]
"""

import math
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.composition import RELATIVE, ComposedLosses, from_atoms, grid_step
from accountant.costs import count, non_negative, open_probability, positive, up
from accountant.explained import Explained

MAX_RECORDS: Final = 10**8
"""Largest m: up to here the probabilities are good to far more digits than `loss_distribution.RELATIVE`."""

MAX_RADOS: Final = 10**6
"""Largest number of rados in one release: what the transform has room for."""

_CUT: Final = -690.0
"""Values of K less likely than e^−690 times the likeliest are counted as if they told the neighbours apart."""


class EmptyWindow(Explained, ValueError):
    """No rado can ever lie in this window: the rejection sampler would never return."""


def rados_count(value: int) -> int:
    """A number of rados, 1 … MAX_RADOS."""
    if count(value) > MAX_RADOS:
        raise ValueError(f"expected at most {MAX_RADOS} rados, got {value!r}")
    return int(value)


def records_count(value: int) -> int:
    """A number of records, 1 … MAX_RECORDS."""
    if count(value) > MAX_RECORDS:
        raise ValueError(f"expected at most {MAX_RECORDS} records, got {value!r}")
    return int(value)


def truncation_beta(value: float) -> float:
    """A β of DP-FEAT: in (0, 1/2)."""
    if not open_probability(value) < 0.5:
        raise ValueError(f"expected a truncation beta in (0, 1/2), got {value!r}")
    return float(value)


def beta_at(epsilon: float) -> float:
    """β = 1/(1 + e^{ε/2}), Step 1 of DP-FEAT. [000-DP-FEAT]

    epsilon: in nats, positive and finite. Raises ValueError otherwise.
    """
    return 1.0 / (1.0 + math.exp(min(0.5 * positive(epsilon), 709.0)))


def whole_number(value: int) -> int:
    """A whole number, zero allowed: a column, a count."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not int(value) >= 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return int(value)


def _losses(records: int, counts: FloatArray) -> FloatArray:
    """ln P(K = k)/P(K = k − 1) = ln((m + 1 − k)/k), shape of counts; no cancellation where k is near m/2."""
    return np.log1p((records + 1.0 - 2.0 * counts) / counts)


@attrs.frozen(slots=False)
class RadoColumnLaw:
    """K ~ Bin(records, 1/2), conditioned on low <= K <= records − low; the pair (K, K + 1) is what a bit changes.

    records: m, in 1 … MAX_RECORDS.  low: 0 for plain random rados, at most m/2.
    Raises EmptyWindow above that. The pair is symmetric (k → m + 1 − k), so one direction is both.
    Proof: [000-rado-column]; with low > 0: [000-DP-FEAT], tightening 000, Theorem 6.

    >>> distribution = RadoColumnLaw(1000)
    >>> round(distribution.epsilon(1e-6, number=100), 2)
    2.92
    """

    records: int = attrs.field(converter=records_count)
    low: int = attrs.field(default=0, converter=whole_number)

    def __attrs_post_init__(self) -> None:
        if 2 * self.low > self.records:
            raise EmptyWindow(f"no count lies in [{self.low}, {self.records - self.low}] of {self.records} records")

    @staticmethod
    def truncated(records: int, beta: float) -> "RadoColumnLaw":
        """The distribution that DP-FEAT samples from: low = ⌈β(m + 1)⌉, decided exactly for the float that β is.

        records: m.  beta: in (0, 1/2). Raises EmptyWindow, naming the nearest β and ε that have a window.
        """
        records, beta = records_count(records), truncation_beta(beta)
        low = math.ceil(Fraction(beta) * (records + 1))
        if 2 * low > records:
            raise EmptyWindow(
                f"beta={beta!r} leaves no rado of {records} records in the window, so sampling would never end; "
                + window_advice(records, (records - 1) // 2)
            )
        return RadoColumnLaw(records, low)

    @cached_property
    def _upper(self) -> FloatArray:
        """ln of the weights of K = ⌊m/2⌋ + 1 …, relative to K = ⌊m/2⌋, while in the window and above e^−690."""
        centre = self.records // 2
        # Hoeffding: 20·√m away the mass is e^−800, so the cut is decided by the weights alone.
        last = min(self.records - self.low, centre + math.ceil(20.0 * math.sqrt(self.records)))
        logs = np.cumsum(_losses(self.records, np.arange(centre + 1, last + 1, dtype=np.float64)))
        return logs[logs > _CUT]

    @cached_property
    def _weights(self) -> FloatArray:
        """Weights of all values of K that are kept, symmetric about m/2; the likeliest weighs 1."""
        middle = np.zeros(1 - self.records % 2)
        return np.exp(np.concatenate((self._upper[::-1], middle, self._upper)))

    @property
    def _first(self) -> int:
        """The smallest value of K that is kept."""
        return self.records - self.records // 2 - self._upper.size

    @cached_property
    def _probabilities(self) -> FloatArray:
        return self._weights / float(np.sum(self._weights))

    @cached_property
    def boundary(self) -> float:
        """δ that no ε removes: the mass at K = low, which the neighbour's K cannot be. Rounded up, in (0, 1].

        [000-DP-FEAT]: this is exactly the δ of Theorem 6 for one rado.
        """
        cut = 0.0 if self._first == self.low else (self.records + 1.0) * math.exp(_CUT)
        return min(1.0, up(float(self._probabilities[0]) + cut))

    @property
    def worst_loss(self) -> float:
        """The largest finite loss, ln((m − low)/(low + 1)), rounded up: one rado is (worst_loss, boundary)-DP.

        At most ε/2 for β = 1/(1 + e^{ε/2}), half of what is printed. [000-DP-FEAT] 0 where the window is one value.
        """
        return max(0.0, up(math.log((self.records - self.low) / (self.low + 1))))

    @cached_property
    def _atoms(self) -> tuple[FloatArray, FloatArray]:
        """Finite losses and their probabilities, shape (k,) each."""
        counts = np.arange(self._first + 1, self._first + self._weights.size, dtype=np.float64)
        return _losses(self.records, counts), self._probabilities[1:]

    def composed(self, number: int) -> ComposedLosses:
        """The loss of `number` independent rados, exact but for a grid that errs towards more loss. [pld]

        Raises ValueError where the window is one value: there is no finite loss to compose.
        """
        losses, probabilities = self._atoms
        if losses.size == 0:
            raise ValueError("a window of one value tells neighbours apart for sure: nothing to compose")
        spread = math.sqrt(float(probabilities @ losses**2))
        step = grid_step([(spread or 1.0, rados_count(number))])
        return ComposedLosses(((from_atoms(losses, probabilities, self.boundary, step), int(number)),))

    def delta(self, epsilon: float, number: int = 1) -> float:
        """The exact δ(ε) of `number` rados, rounded up. [000-rado-column]

        epsilon: in nats, >= 0.  One rado: boundary + Σ_k P(k)·(1 − e^{ε − loss_k})⁺, which is the closed form
        Bin(k0) − (e^ε − 1)·Σ_{k < k0} Bin(k) without its cancellation. Several: by FFT, see `composed`.
        """
        epsilon, losses = non_negative(epsilon), self._atoms[0]
        if losses.size == 0:
            return 1.0
        if rados_count(number) > 1:
            return self.composed(number).delta(epsilon)
        seen = -np.expm1(np.minimum(epsilon - losses, 0.0))
        return min(1.0, up((self.boundary + float(self._atoms[1] @ seen)) * (1.0 + RELATIVE)))

    def epsilon(self, delta: float, number: int = 1) -> float:
        """The smallest ε at which `number` rados are (ε, delta)-DP, rounded up; ∞ where `boundary` is too large.

        delta: in (0, 1). About the curve of a Gaussian with μ = 2·√(number/m). [000-rado-column]
        """
        delta = open_probability(delta)
        return self.composed(number).epsilon(delta) if self.certain(number) < delta else math.inf

    def certain(self, number: int) -> float:
        """The chance that one of `number` rados tells neighbours apart for sure: 1 − (1 − boundary)^number."""
        if self.boundary == 1.0:
            return 1.0
        return min(1.0, up(-math.expm1(rados_count(number) * math.log1p(-self.boundary))))

    @property
    def acceptance(self) -> float:
        """P(Bin(m, 1/2) in the window): how often the rejection sampler keeps a rado. In (0, 1]."""
        everything = self if self.low == 0 else RadoColumnLaw(self.records)
        return min(1.0, float(np.sum(self._weights) / np.sum(everything._weights)))

    def expected_draws(self, number: int) -> float:
        """The mean of n_R, the rados sampled until `number` are kept: number/acceptance. [000-Thm7]"""
        return rados_count(number) / self.acceptance


def window_advice(records: int, low: int) -> str:
    """Which β, and which ε of DP-FEAT, have a window that starts at `low`, for error messages."""
    if low < 1:
        return f"no beta has a window of two values for {records} records"
    beta = (low - 0.5) / (records + 1)  # well inside the betas of this window, so that its digits can be typed in
    return f"use beta <= {beta:.10g} (epsilon >= {2.0 * math.log((1.0 - beta) / beta):.10g})"


def largest_low(records: int, number: int, delta: float) -> int:
    """The `low` of the narrowest window that `number` rados can have at this δ; −1 where no window is wide enough."""
    below, above = -1, records_count(records) // 2 + 1
    # The mass at the boundary of the window grows with low.
    while above - below > 1:
        middle = (below + above) // 2
        fits = RadoColumnLaw(records, middle).certain(number) < delta
        below, above = (middle, above) if fits else (below, middle)
    return below


def theorem6_printed(records: int, number: int, epsilon: float) -> tuple[float, float]:
    """(n·ε, n·δ) as 000, Theorem 6 prints it, with its δ made explicit; for comparison only, may exceed 1.

    [000-DP-FEAT]: true but loose; `RadoColumnLaw.truncated(...).epsilon(delta, number)` is what is charged.
    Raises EmptyWindow for an ε whose window is empty.
    """
    distribution = RadoColumnLaw.truncated(records, beta_at(epsilon))
    return rados_count(number) * epsilon, number * distribution.boundary


def theorem7_bound(records: int, epsilon: float, number: int, eta: float) -> int:
    """How many rados DP-FEAT samples at most, with probability at least 1 − eta. 000, Theorem 7. [000-Thm7]

    epsilon: in (0, 4], with a window that is not empty; the theorem is false outside.  eta: in (0, 1).
    Raises ValueError outside (EmptyWindow for an empty window).
    """
    number, eta = rados_count(number), open_probability(eta)
    if not positive(epsilon) <= 4.0:
        raise ValueError(f"Theorem 7 is false for large epsilon: expected at most 4, got {epsilon!r}")
    beta = beta_at(epsilon)
    RadoColumnLaw.truncated(records, beta)
    tilt = math.tanh(0.25 * epsilon)  # 1 − 2β
    enough = eta * -math.expm1(-tilt) / (4.0 * beta)
    if number <= enough:
        return number
    # D(1 − β ‖ 1/2), written so that a small ε cancels nothing.
    divergence = 0.5 * (math.log1p(-tilt * tilt) + 0.5 * tilt * epsilon)
    return number * math.ceil(math.log(number / enough) / (records * divergence))
