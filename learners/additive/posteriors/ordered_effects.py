"""The effect of an ordered column: a Gaussian process over its cells, known by what releases said of means of bins.

Exact; what is kept is of the size of what was released, and an update takes time linear in cells.
"""

import contextlib
from typing import Final

import attrs
import numpy as np
from scipy.linalg import solve_triangular

from accountant.arrays import FloatArray, IntArray
from learners.additive.posteriors.effects import LEAST_NOISE
from learners.additive.posteriors.grid_effect import about_mean
from learners.additive.posteriors.walks import Bins, Walk, WalkWithOwn

MOST_KNOWN: Final = 512
"""Means of bins that are kept; of more, those of the older half of the rounds are forgotten."""

CHOOSING: Final = (2, 3, 4)
"""Releases after which the prior is chosen anew."""

USUAL: Final = (1.0, 0.0)

PRIORS: Final = (USUAL, (0.25, 0.0), (4.0, 0.0), (16.0, 0.0), (1.0, 0.5), (4.0, 2.0), (16.0, 8.0), (64.0, 32.0))
"""Variances of the walk, and of each cell's own deviation, in units of the common level's."""

RELUCTANCE: Final = 4.0
"""How much more evidence, in nats, any other prior than the usual one needs."""

BLAS_ALONE: Final = 2**17
"""Products of matrices with fewer multiplications than twice this are not worth threads, OpenBLAS finds."""


FEWEST_ROWS: Final = 64
"""Of a product in one piece: where matrices are large, threads are worth it."""


@attrs.define(eq=False)
class OrderedEffect:
    """Ordered cells: a common level, a random walk, so that neighbours are alike, and what each cell has of its own.

    mean: of the posterior, shape (cells,).  mass: weight of the cells in a bin.  level: prior variance.
    choosing: whether the prior is chosen by what is released.  prior: one of PRIORS.  rounds: bins of each release.
    walk, own: prior covariances of the means of all bins so far, for a variance of 1, shape (N, N).
    value, noise: what was said of them, and its variance.  age: drift up to then.
    inverse: of the Cholesky factor of their covariance.
    """

    mean: FloatArray
    mass: FloatArray
    level: float
    path: Walk | WalkWithOwn
    choosing: bool = False
    drifted: float = 0.0
    prior: tuple[float, float] = USUAL
    rounds: list[Bins] = attrs.Factory(list)
    walk: FloatArray = attrs.Factory(lambda: np.zeros((0, 0)))
    own: FloatArray = attrs.Factory(lambda: np.zeros((0, 0)))
    value: FloatArray = attrs.Factory(lambda: np.zeros(0))
    noise: FloatArray = attrs.Factory(lambda: np.zeros(0))
    age: FloatArray = attrs.Factory(lambda: np.zeros(0))
    inverse: FloatArray = attrs.Factory(lambda: np.zeros((0, 0)))

    @staticmethod
    def start(
        mass: FloatArray, share: FloatArray, prior: float, own: bool = False, choosing: bool = False
    ) -> "OrderedEffect":
        """Before any release. share: how wide each cell is for the walk, positive, sums to 1.

        own: whether there is a last cell beside them, that of missing values.
        """
        walk = Walk.over(share)
        return OrderedEffect(np.zeros(mass.size), mass, prior, WalkWithOwn(walk) if own else walk, choosing)

    def drift(self, variance: float) -> None:
        """See `Effect`."""
        self.drifted += variance

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Effect`."""
        bins = Bins.of(part, self.mass)
        self._forget()
        self._add(bins, bins.averaged(self.mean) + step, np.maximum(variance, LEAST_NOISE))
        if self.choosing and len(self.rounds) in CHOOSING:
            self._choose()
        self._extend()
        before, self.mean = self.mean, self._posterior()
        return bins.averaged(self.mean - before), np.asarray(self._gain() ** 2 @ variance)

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """See `Effect`; over the bins of the last update."""
        bins = self.rounds[-1]
        binned = bins.averaged(self.mean)
        # Var(f | y) = R − R S⁻¹ R where y = f + noise of variance R, and S = Var(y).
        unsure = np.diag(self._gain()) * self.noise[-bins.number :]
        return float(weight @ ((binned - weight @ binned) ** 2 - unsure))

    def variances(self) -> FloatArray:
        """See `Effect`."""
        cells, ends = np.arange(self.mean.size), np.cumsum([bins.number for bins in self.rounds])
        alone = Bins(cells, cells, np.ones(cells.size))
        walk, own = self.prior
        prior = (self.level + self.drifted) * (walk * self.path.between(alone) + own * np.eye(cells.size))
        seen = np.zeros((self.value.size, cells.size))
        for bins, end in zip(self.rounds, ends.tolist(), strict=True):
            rows = walk * self.path.between(bins)
            rows[bins.part, cells] += own * bins.share
            seen[end - bins.number : end] = rows + 1.0
        known = _product(self.inverse, (self.level + self.age)[:, np.newaxis] * seen)
        return np.asarray(about_mean(prior) - np.sum((known - known.mean(axis=1, keepdims=True)) ** 2, axis=0))

    def _add(self, bins: Bins, value: FloatArray, noise: FloatArray) -> None:
        cells = self.path.between(bins)
        self.rounds.append(bins)
        self.walk = _bordered(self.walk, np.concatenate([each.averaged(cells) for each in self.rounds], axis=1))
        self.own = _bordered(self.own, np.concatenate([bins.common(each) for each in self.rounds], axis=1))
        self.value = np.append(self.value, value)
        self.noise = np.append(self.noise, noise)
        self.age = np.append(self.age, np.full(bins.number, self.drifted))

    def _covariance(self, prior: tuple[float, float], start: int = 0) -> FloatArray:
        """Of what was released, rows from `start` on, shape (N − start, N)."""
        walk, own = prior
        scale = self.level + np.minimum(self.age[start:, np.newaxis], self.age)
        found = scale * (1.0 + walk * self.walk[start:] + own * self.own[start:])
        found[:, start:][np.diag_indices(found.shape[0])] += self.noise[start:]
        return np.asarray(found)

    def _choose(self) -> None:
        """Take the prior that what was released speaks for, if it does so clearly."""
        evidence = [self._evidence(prior) - RELUCTANCE * (prior != USUAL) for prior in PRIORS]
        best = PRIORS[int(np.argmax(evidence))]
        if best != self.prior:
            self.prior, self.inverse = best, np.zeros((0, 0))

    def _evidence(self, prior: tuple[float, float]) -> float:
        """Logarithm of the density of what was released, up to a constant; -inf where rounding leaves none."""
        try:
            factor = np.linalg.cholesky(self._covariance(prior))
        except np.linalg.LinAlgError:
            return -np.inf
        seen = solve_triangular(factor, self.value, lower=True)
        return float(-np.sum(np.log(np.diag(factor))) - 0.5 * (seen @ seen))

    def _extend(self) -> None:
        """Bring `inverse` up to date with what was added."""
        old = self.inverse.shape[0]
        rows = self._covariance(self.prior, old)
        across = _product(rows[:, :old], self.inverse.T)
        whiten = _whitening(rows[:, old:] - _product(across, across.T))
        lower = -_product(whiten @ across, self.inverse)
        self.inverse = _grown(self.inverse, np.concatenate([lower, whiten], axis=1))

    def _posterior(self) -> FloatArray:
        """The mean given everything released, shape (cells,)."""
        weights = (self.level + self.age) * (self.inverse.T @ (self.inverse @ self.value))
        ends = np.cumsum([bins.number for bins in self.rounds])
        pulls = np.split(weights, ends[:-1])
        pull = np.sum([bins.share * each[bins.part] for bins, each in zip(self.rounds, pulls, strict=True)], axis=0)
        walk, own = self.prior
        return np.asarray(pull.sum() + walk * self.path.times(pull) + own * pull)

    def _gain(self) -> FloatArray:
        """How the means of the last bins answer to the last release, shape (bins, bins): 1 − R S⁻¹."""
        last = self.rounds[-1].number
        whiten = self.inverse[-last:, -last:]
        return np.asarray(np.eye(last) - self.noise[-last:, np.newaxis] * (whiten.T @ whiten))

    def _forget(self) -> None:
        if self.value.size <= MOST_KNOWN:
            return
        kept = self.rounds[len(self.rounds) // 2 :]
        last = sum(bins.number for bins in kept)
        self.rounds, self.inverse = kept, np.zeros((0, 0))
        self.walk, self.own = self.walk[-last:, -last:], self.own[-last:, -last:]
        self.value, self.noise, self.age = self.value[-last:], self.noise[-last:], self.age[-last:]


def _bordered(matrix: FloatArray, rows: FloatArray) -> FloatArray:
    """A symmetric matrix with further rows, and columns. rows: shape (new, old + new)."""
    old = matrix.shape[0]
    found = _grown(matrix, rows)
    found[:old, old:] = rows[:, :old].T
    found[old:, old:] = 0.5 * (rows[:, old:] + rows[:, old:].T)
    return found


def _grown(matrix: FloatArray, rows: FloatArray) -> FloatArray:
    """A square matrix with further rows, and columns of zeros. rows: shape (new, old + new)."""
    old, size = matrix.shape[0], rows.shape[1]
    found = np.zeros((size, size))
    found[:old, :old], found[old:] = matrix, rows
    return found


def _whitening(seen: FloatArray) -> FloatArray:
    """W with W·seen·Wᵀ = 1, nearly so where rounding has left `seen` not quite a covariance. Never raises."""
    largest = float(np.max(np.diag(seen)))
    for share in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.inv(np.linalg.cholesky(seen + np.diag(np.full(len(seen), share * largest)))))
    return np.zeros_like(seen)  # then nothing is learnt


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """left·right in products so small that BLAS starts no threads, which on a busy machine wait for each other."""
    rows = max(FEWEST_ROWS, BLAS_ALONE // max(1, right.size))
    if left.shape[0] <= rows:
        return np.asarray(left @ right)
    return np.concatenate([left[start : start + rows] @ right for start in range(0, left.shape[0], rows)])
