"""What the noise of 004 costs on its own data: exact lower bounds.

004 releases N(c, σ²I), c the min-norm coefficients. For neighbours D, D' the release is Gaussian around c(D) or c(D'),
so at δ the ε of this pair is exactly that of μ = |c(D) − c(D')|/σ, and no smaller ε is true of the release [004-Lem9].
D: the training records of a split, scaled as in 004, scales taken as public, which favours it. D': one record replaced,
by a real one of the held-out records, or by any in the domain [0, 1]^d x [0, 1]: a copy of a training record, a number
moved by h, with the opposite extreme label. Both coefficients are those of `learners.interpolation.min_norm`.
"""

import statistics
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from accountant import gaussian
from benchmarks.random_feature_domains import Regression, medical, red_wine
from benchmarks.random_feature_fits import (
    CODE_SCALE,
    DELTA,
    PRINTED_SCALE,
    code_sigma,
    distinct,
    mapped,
    printed_sigma,
)
from benchmarks.report import Grid
from boosting.measures import FloatArray
from learners.interpolation import min_norm

EPSILONS: Final = (0.5, 1.0)
STEPS: Final = (1.0, 0.1, 0.01)
"""By how much a number is moved, in units of its range."""

SWAPS: Final = 20
COPIED: Final = 40
"""Records whose neighbourhood is searched."""

LEAST: Final = 1e-9
"""Squared distance of a row from the others' span, below which a search takes it to lie there."""


@attrs.frozen(eq=False)
class Swap:
    """Record `place` of D is replaced by these features, with this label."""

    place: int
    row: FloatArray
    label: float


@attrs.frozen
class Distance:
    """|c(D) − c(D')|, and the same where labels are divided by their norm, as printed."""

    plain: float
    normalised: float


@attrs.frozen(slots=False, eq=False)
class Training:
    """D: features of different points, shape (m, N), and their labels, shape (m,), and what they interpolate.

    inverse: of the Gram matrix, for searches only.
    """

    rows: FloatArray
    labels: FloatArray
    inverse: FloatArray

    @staticmethod
    def of(rows: FloatArray, labels: FloatArray) -> "Training":
        """The inverse is found here; where it is inexact, only searches suffer."""
        return Training(rows, labels, np.asarray(np.linalg.pinv(rows @ rows.T, hermitian=True), dtype=np.float64))

    def squares(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """About |c(D) − c(D')|² for every new record, shape (t, N) and (t,), and every place; shape (t, m).

        With H the inverse, α = Hy, u = Hk of the new record's kernel k: c(D) and c(D') are both the interpolant of the
        others and a multiple of what a row has beyond their span, α_i·|·|² = α_i²/H_ii and r²/s; x their inner product.
        """
        diagonal, alpha = np.diag(self.inverse), self.inverse @ self.labels
        kernel = rows @ self.rows.T
        u = kernel @ self.inverse
        beyond = np.sum(rows**2, axis=1)[:, None] - np.sum(u * kernel, axis=1)[:, None] + u**2 / diagonal
        residual = (labels - kernel @ alpha)[:, None] + u * (alpha / diagonal)
        known = beyond < LEAST
        weight = np.where(known, 0.0, residual / np.where(known, 1.0, beyond))
        found = alpha**2 / diagonal + weight**2 * beyond - 2.0 * alpha * weight * u / diagonal
        return np.where(known, 0.0, found)

    def swapped(self, swap: Swap) -> tuple[FloatArray, FloatArray]:
        """D'."""
        rows, labels = self.rows.copy(), self.labels.copy()
        rows[swap.place], labels[swap.place] = swap.row, swap.label
        return rows, labels

    @cached_property
    def _own(self) -> FloatArray:
        return min_norm(self.rows, self.labels)

    def distance(self, swap: Swap) -> Distance:
        """Of c(D) and c(D')."""
        rows, labels = self.swapped(swap)
        own, other = self._own, min_norm(rows, labels)
        over = own / np.linalg.norm(self.labels) - other / np.linalg.norm(labels)
        return Distance(float(np.linalg.norm(own - other)), float(np.linalg.norm(over)))


@attrs.frozen(eq=False)
class Pairs:
    """Pairs to look at, by what they are."""

    real: Sequence[Swap]
    worst: Mapping[str, Swap]


def _chosen(training: Training, rows: FloatArray, labels: FloatArray) -> Swap:
    """The new record and the place that matter most."""
    squares = training.squares(rows, labels)
    record, place = np.unravel_index(int(np.argmax(squares)), squares.shape)
    return Swap(int(place), rows[record], float(labels[record]))


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
    places, means = distinct(points[kept], labels[kept], points[kept])
    training = Training.of(features.features(places), means)
    rng, others = np.random.default_rng(seed), features.features(points[held])
    real = [
        Swap(int(place), others[record], float(labels[held][record]))
        for place, record in zip(rng.permutation(means.size)[:SWAPS], rng.permutation(held.size), strict=False)
    ]
    worst = {REAL: _chosen(training, others, labels[held])}
    chosen = rng.permutation(means.size)[:COPIED]
    numbers = len(data.numeric)
    for step in STEPS:
        copies = features.features(_moved(places[chosen], numbers, step))
        opposite = np.repeat(np.where(means[chosen] < 0.5, 1.0, 0.0), numbers)
        worst[f"h = {step:g}"] = _chosen(training, copies, opposite)
    return training, Pairs(real, worst)


def epsilon_text(distance: float, sigma: float) -> str:
    """The ε of a pair at DELTA."""
    return f"{gaussian.epsilon(distance / sigma, DELTA):.3g}"


def _rows(data: Regression, number: int, scale: float) -> list[tuple[str, ...]]:
    training, pairs = searched(data, number, scale)
    real = [training.distance(swap) for swap in pairs.real]
    worst = [training.distance(swap) for swap in pairs.worst.values()]
    # a search by an inexact inverse may miss what was drawn
    plain, normalised = (
        (statistics.median(drawn), max(*drawn, found[0]), *found[1:])
        for drawn, found in (
            ([each.plain for each in real], [each.plain for each in worst]),
            ([each.normalised for each in real], [each.normalised for each in worst]),
        )
    )
    found = []
    for distances, sigma_of, noise in (
        (plain, code_sigma, "code"),
        (normalised, printed_sigma, "printed, real features"),
    ):
        for epsilon in EPSILONS:
            sigma = sigma_of(number, epsilon)
            texts = (epsilon_text(distance, sigma) for distance in distances)
            found.append((data.name, f"{scale**2:.0f}", noise, f"{epsilon:g}", f"{sigma:.3g}", *texts))
    return found


def tables(folder: str | None, quick: bool) -> list[Grid]:
    """ε that the published noise has at least, on both sets. quick: on 400 records. Raises DataNotFound."""
    sets = [medical(folder).few(400)] if quick else [medical(folder), red_wine(folder)]
    number = 800 if quick else 4000
    scales = (CODE_SCALE,) if quick else (CODE_SCALE, PRINTED_SCALE)
    rows = [row for data in sets for scale in scales for row in _rows(data, number, scale)]
    columns = 5 + len(STEPS)
    rows.append(("any", "any", "printed, complex features with real noise", "any", "any", *["∞"] * (columns - 3)))
    head = (
        "data",
        "σ² of frequencies",
        "noise",
        "ε given",
        "σ (features of length 1)",
        f"median of {SWAPS} real swaps",
        "worst real swap",
        *(f"worst in the domain, {step:g} of a range from a copy" for step in STEPS),
    )
    title = f"What 004's noise really costs: ε >= this, exact for a pair of neighbours, δ = {DELTA:g}, N = {number:,}"
    return [Grid(title, head, tuple(rows))]
