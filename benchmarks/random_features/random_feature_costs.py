"""What the noise of 004 costs on its own data: exact lower bounds.

004 releases N(c, σ²I), c the min-norm coefficients. For neighbours D, D' the release is Gaussian around c(D) or c(D'),
so at δ the ε of this pair is exactly that of μ = |c(D) − c(D')|/σ, and no smaller ε is true of the release [004-Lem9].
D: the training records of a split, scaled as in 004, scales taken as public, which favours it. D': one record replaced,
by a real one of the held-out records, or by any in the domain [0, 1]^d x [0, 1]: a copy of a training record, a number
moved by h, with the opposite extreme label. Both are fitted by `learners.random_features.interpolation.min_norm`, equal
points as one with their mean label, as least squares has them; as printed, each data set's labels are divided by their
own norm.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, IntArray
from accountant.costs import gaussian
from benchmarks.data import MEDICAL, RED, Regression, medical, red_wine
from benchmarks.random_features.random_feature_fits import (
    CODE_SCALE,
    DELTA,
    PRINTED_SCALE,
    code_sigma,
    count,
    distinct,
    grouped,
    interpolated,
    mapped,
    printed_sigma,
    row,
)
from benchmarks.runner import Grid, Line, Measured, Part, Report, Setting, Table
from learners.random_features import RandomFeatureMap

EPSILONS: Final = (0.5, 1.0)
STEPS: Final = (1.0, 0.1, 0.01)
"""By how much a number is moved, in units of its range."""

SWAPS: Final = 20
COPIED: Final = 40
"""Points whose neighbourhood is searched."""

LEAST: Final = 1e-9
"""Squared distance of a row from the others' span, below which a search takes it to lie there."""


@attrs.frozen(eq=False)
class Swap:
    """Record `place` of D is replaced by this point, shape (d,), with these features, shape (N,), and this label."""

    place: int
    point: FloatArray
    row: FloatArray
    label: float


@attrs.frozen
class Distance:
    """|c(D) − c(D')|, and the same where the labels of either are divided by their norm, as printed."""

    plain: float
    normalised: float


@attrs.frozen(slots=False, eq=False)
class Training:
    """D, record by record, some with equal points. points: shape (m, d).  rows: their features, shape (m, N).

    labels: shape (m,).
    """

    points: FloatArray
    rows: FloatArray
    labels: FloatArray

    @cached_property
    def _search(self) -> "_Search":
        return _Search.of(self)

    @cached_property
    def coefficients(self) -> FloatArray:
        """c(D): equal points share the mean of their labels."""
        return interpolated(self.rows, self.labels, self.points)

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Whether no other record has the point, shape (m,)."""
        return np.asarray(self._search.count == 1)

    @property
    def length(self) -> float:
        """Of the labels of all records, which those of Algorithm 1 are divided by."""
        return float(np.linalg.norm(self.labels))

    def squares(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """About |c(D) − c(D')|² for every new record, shape (t, N) and (t,), and every place, shape (t, m).

        0 where the new point is one that others have.
        """
        return self._search.squares(rows, labels)

    def swapped(self, swap: Swap) -> "Training":
        """D': one record is another."""
        points, rows, labels = self.points.copy(), self.rows.copy(), self.labels.copy()
        points[swap.place], rows[swap.place], labels[swap.place] = swap.point, swap.row, swap.label
        return Training(points, rows, labels)

    def distance(self, swap: Swap) -> Distance:
        """Of c(D) and c(D'), both fitted."""
        other = self.swapped(swap)
        over = self.coefficients / self.length - other.coefficients / other.length
        return Distance(float(np.linalg.norm(self.coefficients - other.coefficients)), float(np.linalg.norm(over)))


@attrs.frozen(eq=False)
class _Search:
    """All distances at once, by H, the inverse of the Gram matrix of the k different points; inexact where H is.

    rows, means: of different points, shape (k, N) and (k,).  group: the point of each record, shape (m,).  count: how
    many records have it, and shift: by how much its mean label moves once this record is gone, shape (m,).
    """

    rows: FloatArray
    means: FloatArray
    inverse: FloatArray
    group: IntArray
    count: IntArray
    shift: FloatArray

    @staticmethod
    def of(data: Training) -> "_Search":
        _, group = grouped(data.points)
        rows, means = distinct(data.rows, data.labels, data.points)
        count = np.bincount(group)[group]
        shift = (means[group] - data.labels) / np.maximum(count - 1, 1)
        inverse = np.asarray(np.linalg.pinv(rows @ rows.T, hermitian=True), dtype=np.float64)
        return _Search(rows, means, inverse, group, count, shift)

    def squares(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """With α = Hy, k the new record's kernel, u = Hk: what it has beyond all points, and what they err by on it."""
        kernel = rows @ self.rows.T
        u = kernel @ self.inverse
        beyond = np.sum(rows**2, axis=1) - np.sum(u * kernel, axis=1)
        residual = labels - kernel @ (self.inverse @ self.means)
        single, shared = self._single(u, beyond, residual), self._shared(u, beyond, residual)
        return np.where(self.count == 1, single[:, self.group], shared)

    def _single(self, u: FloatArray, beyond: FloatArray, residual: FloatArray) -> FloatArray:
        """A point goes with its record, shape (t, k).

        c(D) and c(D') are both the interpolant of the others and a multiple of what a row has beyond their span, whose
        squares are α²/H_ii and r²/s, and their inner product (α/H_ii)·(r/s)·u.
        """
        diagonal, alpha = np.diag(self.inverse), self.inverse @ self.means
        more, missed = beyond[:, None] + u**2 / diagonal, residual[:, None] + u * (alpha / diagonal)
        known = more < LEAST
        weight = np.where(known, 0.0, missed / np.where(known, 1.0, more))
        found = alpha**2 / diagonal + weight**2 * more - 2.0 * alpha * weight * u / diagonal
        return np.where(known, 0.0, found)

    def _shared(self, u: FloatArray, beyond: FloatArray, residual: FloatArray) -> FloatArray:
        """Others have the point too, shape (t, m): its label moves within their span, the new row adds beyond it."""
        missed = residual[:, None] - self.shift * u[:, self.group]
        known = beyond[:, None] < LEAST
        moved = self.shift**2 * np.diag(self.inverse)[self.group]
        return np.where(known, 0.0, moved + missed**2 / np.where(known, 1.0, beyond[:, None]))


@attrs.frozen(eq=False)
class Pairs:
    """Pairs to look at, by what they are."""

    real: Sequence[Swap]
    worst: Mapping[str, Swap]


def _chosen(training: Training, points: FloatArray, features: RandomFeatureMap, labels: FloatArray) -> Swap:
    """The new record and the place that matter most, of records alone at their point and of others, by fitting both.

    An inexact inverse makes more of the others than is true.
    """
    rows, found = features.features(points), []
    squares = training.squares(rows, labels)
    for kind in (training.alone, ~training.alone):
        if np.any(kind):
            record, place = np.unravel_index(int(np.argmax(np.where(kind, squares, -1.0))), squares.shape)
            found.append(Swap(int(place), points[record], rows[record], float(labels[record])))
    return max(found, key=lambda swap: training.distance(swap).plain)


def _moved(points: FloatArray, columns: int, step: float) -> FloatArray:
    """Copies with one of the first `columns` numbers moved by `step` within [0, 1], shape (records·columns, d)."""
    copies = np.repeat(points, columns, axis=0)
    places = np.tile(np.arange(columns), len(points))
    values = copies[np.arange(len(copies)), places]
    copies[np.arange(len(copies)), places] = np.where(
        values + step <= 1.0, values + step, np.maximum(values - step, 0.0)
    )
    return copies


REAL: Final = "worst real"


def searched(data: Regression, number: int, scale: float, seed: int = 0) -> tuple[Training, Pairs]:
    """One draw of features, and the pairs that were found with it."""
    points, labels = data.printed()
    kept, held = data.split(seed)
    features = mapped("cosine", number, points.shape[1], scale, seed)
    training = Training(points[kept], features.features(points[kept]), labels[kept])
    places, means = distinct(training.points, training.labels, training.points)
    first, _ = grouped(training.points)
    rng, others = np.random.default_rng(seed), features.features(points[held])
    real = [
        Swap(int(first[place]), points[held[record]], others[record], float(labels[held[record]]))
        for place, record in zip(rng.permutation(first.size)[:SWAPS], rng.permutation(held.size), strict=False)
    ]
    worst = {REAL: _chosen(training, points[held], features, labels[held])}
    chosen = rng.permutation(means.size)[:COPIED]
    numbers = len(data.numeric)
    for step in STEPS:
        opposite = np.repeat(np.where(means[chosen] < 0.5, 1.0, 0.0), numbers)
        worst[f"h = {step:g}"] = _chosen(training, _moved(places[chosen], numbers, step), features, opposite)
    return training, Pairs(real, worst)


def least_epsilon(distance: float, sigma: float) -> float:
    """The ε of a pair at DELTA: none smaller is true of the release."""
    return gaussian.epsilon(distance / sigma, DELTA)


@attrs.frozen
class Noise:
    """sigma: of so many features of length 1, at an ε that is given.  moved: what it has to hide."""

    name: str
    sigma: Callable[[int, float], float]
    moved: Callable[[Distance], float]


NOISES: Final = (
    Noise("the code's", code_sigma, lambda each: each.plain),
    Noise("printed", printed_sigma, lambda each: each.normalised),
)
MEDIAN: Final = f"median of {SWAPS} real swaps"


@attrs.frozen(eq=False)
class Drawn:
    """Distances with one draw of features: of real swaps, and of the worst pairs, by what they are."""

    real: Sequence[Distance]
    worst: Mapping[str, Distance]

    @staticmethod
    def of(data: Regression, number: int, scale: float, seed: int) -> "Drawn":
        """Searched."""
        training, pairs = searched(data, number, scale, seed)
        worst = {name: training.distance(swap) for name, swap in pairs.worst.items()}
        return Drawn([training.distance(swap) for swap in pairs.real], worst)

    def least(self, noise: Noise, number: int, epsilon: float) -> dict[str, list[float]]:
        """Least ε by pair."""
        sigma = noise.sigma(number, epsilon)
        real = [least_epsilon(noise.moved(each), sigma) for each in self.real]
        worst = {name: least_epsilon(noise.moved(each), sigma) for name, each in self.worst.items()}
        worst[REAL] = max(*real, worst[REAL])  # a search by an inexact inverse may miss what was drawn
        return {MEDIAN: real, **{name: [each] for name, each in worst.items()}}


def bounds(data: Regression, number: int, scale: float, draws: int) -> Grid:
    """ε that the published noise has at least: medians over draws of features and splits; printed: the ε given."""
    found = [Drawn.of(data, number, scale, seed) for seed in range(draws)]
    given = [(noise, epsilon) for noise in NOISES for epsilon in EPSILONS]
    rows: dict[str, list[Measured]] = {}
    for noise, epsilon in given:
        for pair in (MEDIAN, *found[0].worst):
            values = [value for each in found for value in each.least(noise, number, epsilon)[pair]]
            rows.setdefault(pair, []).append(Measured.median(values, epsilon))
    what = f"Least ε of 004's noise, {data.name}, frequencies of variance {scale**2:.0f}"
    title = f"{what}: δ = {DELTA:g}, N = {number:,}, {count(draws, 'draw')}"
    head = ("pair of neighbours", *(f"{noise.name} noise, ε = {epsilon:g} given" for noise, epsilon in given))
    return Grid(title, head, tuple(row(_pair(name), cells) for name, cells in rows.items()))


def _pair(place: str) -> str:
    return f"copy, opposite label, {place}" if place.startswith("h") else place


def sigmas(number: int) -> Report:
    """The σ that 004 has, and what no σ of real noise can help."""
    lines = [
        Line(f"{noise.name} noise for ε = {epsilon:g}: σ", Measured(noise.sigma(number, epsilon)))
        for noise in NOISES
        for epsilon in EPSILONS
    ]
    lines.append(Line("least ε of Algorithm 1 as printed: real noise on complex coefficients", "∞, for any pair"))
    return Report(f"Noise of 004 for N = {number:,} features of length 1, δ = {DELTA:g}", lines)


def parts(setting: Setting) -> list[Part]:
    """ε that the published noise has at least, by data set and frequencies. quick: on 400 records."""
    number, draws = (800, 1) if setting.quick else (4000, 3)
    sets = {MEDICAL: medical} if setting.quick else {MEDICAL: medical, RED: red_wine}
    scales = (CODE_SCALE,) if setting.quick else (CODE_SCALE, PRINTED_SCALE)

    def made(name: str, scale: float) -> list[Table]:
        data = sets[name](setting.data)
        return [bounds(data.few(400) if setting.quick else data, number, scale, draws)]

    found = [Part("004's noise", lambda: [sigmas(number)], 0.1)]
    for name in sets:
        for scale in scales:
            what = f"least ε of 004's noise, {name}, frequencies of deviation {scale:.1f}"
            seconds = 12.0 if scale == CODE_SCALE else 30.0  # near-duplicates take a more careful fit
            found.append(Part(what, partial(made, name, scale), 0.3 if setting.quick else seconds))
    return found
