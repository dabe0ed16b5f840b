"""Privacy-loss distributions on a grid, composed by FFT, always on the side of more loss.

A dominating pair (P, Q) is described by the distribution of its loss ln P/Q under P. On the grid its profile δ(x) keeps
its values and is linear in e^x in between, which is above the true, convex one ("connecting the dots",
Doroshenko et al. 2022); compositions of dominating pairs dominate adaptive compositions (Zhu, Dong & Wang
2022). [pld] The distribution is tilted before the FFT, so that rounding errors are relative to the δ that is asked for.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import ABSOLUTE, open_probability, up
from accountant.slow_imports import irfft, lfilter, minimize_scalar, next_fast_len, rfft

MAX_POINTS: Final = 2**21
"""Longest transform; a composition that needs more is left to other theorems."""

LARGEST_LOSS: Final = 700.0
"""In nats, of one round."""

RELATIVE: Final = 1e-9
"""Head-room on δ for the roundings of masses and sums; each mass is good to about 1e-13."""


SMALLEST_SLOPE: Final = 1e-290
"""A slope of a curve, and the differences of such slopes, have all their digits down to here."""


_LEANS: Final = (0.125, 0.25, 0.5, 1.0, 2.0)
"""How far the tilt is moved to bound a tail by Chernoff, in units that suit a Gaussian."""

_FURTHER: Final = (1 / 64, 1 / 32, 1 / 16, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""The same where tails are heavier than a Gaussian's."""


class TooFine(ArithmeticError):
    """The composition needs more grid points than `MAX_POINTS`."""


@attrs.frozen(eq=False, slots=False)
class LossDistribution:
    """The distribution of a loss under P: mass `masses[i]` at (first + i)·step, and `infinity` where Q has no mass.

    masses: shape (m,), >= 0.  step: > 0, in nats.
    """

    masses: FloatArray
    first: int
    step: float
    infinity: float

    @cached_property
    def losses(self) -> FloatArray:
        """Grid points, shape (m,)."""
        return (self.first + np.arange(self.masses.size, dtype=np.float64)) * self.step

    @cached_property
    def _logs(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.masses))

    def log_moment(self, tilt: float) -> float:
        """ln Σ masses·exp(tilt·loss), infinity left out."""
        exponents = self._logs + tilt * self.losses
        top = float(np.max(exponents))
        return top + math.log(float(np.sum(np.exp(exponents - top))))

    def tilted(self, tilt: float) -> FloatArray:
        """masses·exp(tilt·loss), scaled to sum to 1."""
        return np.asarray(np.exp(self._logs + tilt * self.losses - self.log_moment(tilt)))


def _fits(low: float, high: float, step: float) -> None:
    """Refuse a grid that is too long, before it is made, and losses whose exponentials are no ordinary floats."""
    if not (high - low) / step < MAX_POINTS or max(-low, high) > LARGEST_LOSS:
        raise TooFine(f"losses from {low:.3g} to {high:.3g} in steps of {step:.3g}")


def from_atoms(losses: FloatArray, probabilities: FloatArray, infinity: float, step: float) -> LossDistribution:
    """A discrete distribution; each atom is shared by its two grid neighbours so that its masses under P and Q stay.

    losses, probabilities: shape (k,), k >= 1, finite; probabilities under P.
    """
    if losses.size == 0 or losses.shape != probabilities.shape:
        raise ValueError(f"expected as many losses as probabilities, got {losses.shape} and {probabilities.shape}")
    _fits(float(np.min(losses)), float(np.max(losses)), step)
    lower = np.floor(losses / step).astype(np.intp)
    # Mass under Q is p·e^{−loss}; keeping it fixes the share of the upper neighbour.
    share = np.clip(-np.expm1(lower * step - losses) / -math.expm1(-step), 0.0, 1.0)
    first = int(lower.min())
    masses = np.zeros(int(lower.max()) - first + 2)
    np.add.at(masses, lower - first, probabilities * (1.0 - share))
    np.add.at(masses, lower - first + 1, probabilities * share)
    return LossDistribution(masses, first, step, infinity)


def from_profile(profile: Callable[[FloatArray], FloatArray], low: float, high: float, step: float) -> LossDistribution:
    """The distribution with a given profile δ(x), that of a pair; the mass beyond `high` counts as infinity.

    profile: losses, shape (m,), to δ at each, with relative accuracy.  low <= 0 <= high.
    """
    _fits(low, high, step)
    first, last = math.floor(low / step), math.ceil(high / step)
    losses = np.arange(first, last + 1, dtype=np.float64) * step
    deltas = profile(losses)
    masses = np.maximum(0.0, _masses_of_curve(losses, deltas, step))
    return LossDistribution(masses, first, step, float(deltas[-1]))


def _masses_of_curve(losses: FloatArray, deltas: FloatArray, step: float) -> FloatArray:
    """What −dδ/d(e^x) changes by at each point, times e^x; left of the grid δ reaches 1 at e^x = 0. shape: of both.

    −dδ/d(e^x) between grid points is the mass that Q has to the right. Where δ is so small that this is no ordinary
    float the masses are written without e^x; elsewhere as they always were, so that old prices keep their last digits.
    """
    falls = deltas[:-1] - deltas[1:]
    right = falls / (np.exp(losses[:-1]) * math.expm1(step))
    if not np.any((falls > 0.0) & (right < SMALLEST_SLOPE)):
        slopes = np.concatenate(([(1.0 - deltas[0]) / math.exp(losses[0])], right, [0.0]))
        return np.asarray((slopes[:-1] - slopes[1:]) * np.exp(losses))
    before, after = np.append((1.0 - deltas[0]) * -math.expm1(-step), falls), np.append(falls, 0.0)
    return np.asarray(before + (before - after) / math.expm1(step))


@attrs.frozen(eq=False)
class ComposedLosses:
    """Independent losses added up: `parts` are distributions on one grid, each with its number of rounds.

    heavy_tails: whether a round's loss may be far beyond its spread, so that windows and tilts are searched further.
    """

    parts: Sequence[tuple[LossDistribution, int]]
    heavy_tails: bool = False

    def __attrs_post_init__(self) -> None:
        steps = {part.step for part, _ in self.parts}
        if len(steps) != 1:
            raise ValueError(f"expected at least one distribution, all on one grid, got steps {sorted(steps)}")

    @property
    def certain(self) -> bool:
        """Whether some round tells P from Q whatever comes out."""
        return any(part.infinity >= 1.0 or not np.any(part.masses) for part, _ in self.parts)

    @property
    def infinity(self) -> float:
        """The chance that some round tells P from Q for sure."""
        if self.certain:
            return 1.0
        kept = sum(rounds * math.log1p(-part.infinity) for part, rounds in self.parts)
        return up(-math.expm1(kept)) if kept else 0.0

    def log_moment(self, tilt: float) -> float:
        """ln E exp(tilt·total loss)."""
        return sum(rounds * part.log_moment(tilt) for part, rounds in self.parts)

    def epsilon(self, delta: float) -> float:
        """The smallest ε with δ(ε) at most `delta`, rounded up; ∞ where no ε is enough. Raises TooFine."""
        room = open_probability(delta) - self.infinity
        if room <= 0.0:
            return math.inf
        best = self._lowest(lambda tilt: (self.log_moment(tilt) - math.log(room)) / tilt)
        return min(self._where_it_fits(lambda tilt: self._epsilon(room, tilt), _tilts(best, room)))

    def _where_it_fits(self, value: Callable[[float], float], tilts: Sequence[float]) -> list[float]:
        """The value at each tilt; under heavy tails without those whose window is too long. Raises TooFine."""
        found: list[float] = []
        for tilt in tilts:
            try:
                found.append(value(tilt))
            except TooFine:
                if not self.heavy_tails or (not found and tilt == tilts[-1]):
                    raise
        return found

    def _epsilon(self, room: float, tilt: float) -> float:
        losses, tails = self._profile(tilt)
        fits = tails <= room
        if not np.any(fits):
            return math.inf
        place = int(np.argmax(fits))
        if place == 0:
            return max(0.0, up(float(losses[0]))) + ABSOLUTE
        return (
            max(0.0, up(_crossing(losses[place - 1], losses[place], tails[place - 1], tails[place], room))) + ABSOLUTE
        )

    def delta(self, epsilon: float) -> float:
        """δ(ε), rounded up. Raises TooFine."""
        if self.certain:
            return 1.0
        best = self._lowest(lambda tilt: self.log_moment(tilt) - tilt * epsilon)
        chernoff = math.exp(min(0.0, self.log_moment(best) - best * epsilon))
        finite = min(self._where_it_fits(lambda tilt: self._delta(epsilon, tilt), _tilts(best, chernoff)))
        return min(1.0, up(self.infinity + finite))

    def _delta(self, epsilon: float, tilt: float) -> float:
        losses, tails = self._profile(tilt)
        if epsilon < losses[0]:
            return 1.0
        upper = int(np.searchsorted(losses, epsilon))
        if upper >= losses.size:
            return float(tails[-1])
        lower = max(upper - 1, 0)
        share = math.expm1(max(0.0, epsilon - losses[lower])) / math.expm1(losses[upper] - losses[lower] or 1.0)
        return float(tails[lower] + min(1.0, share) * (tails[upper] - tails[lower]))

    def _lowest(self, bound: Callable[[float], float]) -> float:
        """The tilt at which Chernoff's bound is lowest, so that the tilted distribution sits where the answer is."""
        top = math.log(60.0 / self.parts[0][0].step)
        found = minimize_scalar(
            lambda log_tilt: bound(math.exp(log_tilt)), bounds=(-12.0, top), method="bounded", options={"xatol": 1e-3}
        )
        return math.exp(found.x)

    def _profile(self, tilt: float) -> tuple[FloatArray, FloatArray]:
        """Grid losses around the tilted mean, and an upper bound on E(1 − e^{x − loss})⁺ at each, without infinity."""
        step = self.parts[0][0].step
        low, high = self._window(tilt)
        first = math.floor(low / step)
        points = math.ceil(high / step) - first + 2
        size = next_fast_len(min(points, MAX_POINTS + 1), real=True)  # which takes no number beyond 2^63
        if size > MAX_POINTS:
            raise TooFine(f"{points} grid points")
        total, rounds = self._convolved(tilt, first, size)
        losses = (first + np.arange(size, dtype=np.float64)) * step
        moment = self.log_moment(tilt)
        # Untilted, relative to the factor exp(moment − tilt·x) that is put back below.
        tails = _excess(total, math.exp(-tilt * step), step)
        # ‖error‖₁ <= √size·‖error‖₂; a transform loses about log₂(size) ulps in ‖·‖₂, a power `rounds` times as much.
        # No weight e^{−tilt·d}·(1 − e^{−d}) exceeds 1/(1 + tilt).
        error = 2.0**-50 * math.log2(size) * math.sqrt(size) * rounds / (1.0 + tilt)
        bound = np.exp(np.minimum(moment - tilt * losses, 700.0)) * (tails + error)
        return losses, (bound + self._beyond(float(losses[-1]))) * (1.0 + RELATIVE + 1e-12 * rounds)

    def _convolved(self, tilt: float, first: int, size: int) -> tuple[FloatArray, int]:
        """The tilted distribution of the total on grid points first … first + size − 1, wrapped around."""
        spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
        shift = rounds_in_all = 0
        for part, rounds in self.parts:
            wrapped = np.bincount(np.arange(part.masses.size) % size, weights=part.tilted(tilt), minlength=size)
            spectrum *= rfft(wrapped) ** rounds
            shift += part.first * rounds
            rounds_in_all += rounds
        return np.maximum(np.roll(irfft(spectrum, size), shift - first), 0.0), rounds_in_all

    def _window(self, tilt: float) -> tuple[float, float]:
        """Where the tilted total is but for 1e-18 of its mass on either side, by Chernoff."""
        moment, width = self.log_moment(tilt), 1e-2 * max(tilt, 1e-2)
        spread = max(self.log_moment(tilt + width) - 2.0 * moment + self.log_moment(tilt - width), 0.0) / width**2
        lean = math.sqrt(2.0 * 41.0 / max(spread, 1e-300))
        ends = []
        for sign in (-1.0, 1.0):
            reach = [
                (self.log_moment(tilt + sign * lean * factor) - moment + 41.0) / (lean * factor)
                for factor in (*_LEANS, *(_FURTHER if self.heavy_tails else ()))
            ]
            ends.append(sign * min(reach))
        support = self._support()
        return max(ends[0], support[0]), min(ends[1], support[1])

    def _support(self) -> tuple[float, float]:
        low = sum(rounds * float(part.losses[0]) for part, rounds in self.parts)
        high = sum(rounds * float(part.losses[-1]) for part, rounds in self.parts)
        return low, high

    def _beyond(self, edge: float) -> float:
        """Chernoff's bound on the mass above the window, which the wrapped transform puts somewhere else."""
        if edge >= self._support()[1]:
            return 0.0
        tilt = self._lowest(lambda tilt: self.log_moment(tilt) - tilt * edge)
        return math.exp(min(0.0, self.log_moment(tilt) - tilt * edge))


def _tilts(best: float, delta: float) -> list[float]:
    """Tilts to try, each a valid bound; Chernoff's own is too strong where the answer ends the support."""
    return [best, 0.25 * best, *([min(best, 0.05)] if delta > 1e-10 else [])]


def _geometric_tail(masses: FloatArray, decay: float) -> FloatArray:
    """Σ_{j >= i} masses_j·decay^{j − i}, shape of masses, without dividing by small powers."""
    return np.asarray(lfilter([1.0], [1.0, -decay], masses[::-1])[::-1])


def _excess(masses: FloatArray, decay: float, step: float) -> FloatArray:
    """Σ_{j > i} masses_j·decay^{j − i}·(1 − e^{−(j − i)·step}), shape of masses; sums of positive terms only.

    With W the plain tails, T_i = decay·[(1 − e^{−step})·W_{i+1} + e^{−step}·T_{i+1}].
    """
    plain = _geometric_tail(masses, decay)
    source = np.append(-math.expm1(-step) * decay * plain[1:], 0.0)
    return _geometric_tail(source, decay * math.exp(-step))


def _crossing(x0: float, x1: float, y0: float, y1: float, target: float) -> float:
    """Where a function that is linear in e^x between two grid points comes down to the target."""
    share = (y0 - target) / (y0 - y1)
    return x0 + math.log1p(share * math.expm1(x1 - x0))
