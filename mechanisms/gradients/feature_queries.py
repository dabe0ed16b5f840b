"""Queries of feature vectors of length at most 1: sums that come out the same in any order, and vectors in a ball.

Features and factors are cut to so few binary places that all products and their sums fit in a double: then BLAS is
exact, whatever it adds first, and the sensitivity of a sum is that of its terms, with nothing for rounding. So are the
products that a term is made of, and the rest is elementwise: a term is what its record gives alone, whatever its
neighbours are, and however the records are cut into blocks.
"""

import math
from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeAlias

import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, positive, up
from mechanisms.core import L2Sensitivity, Query
from mechanisms.queries import MOST_COORDINATES, public_radius, refuse_sizes

MANTISSA: Final = 53
"""Binary places of a double."""

SLACK: Final = 1.0 + 2.0**-30
"""On computed lengths of rows of at most 2^18 coordinates, which are off by 2^-34 at most, relatively."""

SHORT_ROW: Final = 8
"""Columns from which on they are added one after the other in memory, where loops over rows would be short."""

LARGEST_WEIGHT: Final = math.sqrt(2.0)
"""Of labels beside features, up to which `joint_l2` is proved with a gain over two releases."""


Summand: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""Of feature vectors, shape (k, D), and targets, shape (k,): what some records add to a sum, of the same shape for all.
A pure function that can be sent to another process."""


class UnitRows(Protocol):
    """Records as feature vectors, wherever they are: `unit_rows` of anything."""

    @property
    def records(self) -> int:
        """m, public."""

    @property
    def width(self) -> int:
        """D, public."""

    def sums(self, summand: Summand) -> FloatArray:
        """Σ of what all records add, taken some at a time."""

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Feature vectors, shape (k, D), and targets, shape (k,), of one part of the records after the other.

        For what needs them in order, and therefore all in one place.
        """


def places(records: int) -> int:
    """b such that sums of `records` products of two numbers in [−1, 1] with b binary places are exact. [exact-sums]

    Each product is a multiple of 2^-2b, each partial sum too and at most m <= 2^(53 − 2b) in size, so it is a double.
    """
    return (MANTISSA - math.ceil(math.log2(count(records)))) // 2


def cut(values: FloatArray, binary: int) -> FloatArray:
    """Values in [−1, 1] cut, towards 0, to so many binary places; in place."""
    values *= 2.0**binary
    np.trunc(values, out=values)
    values *= 2.0**-binary
    return values


def folded_lengths(rows: FloatArray) -> FloatArray:
    """|xᵢ|, shape (k,); infinite where it overflows. The same bits for a row wherever it is. [exact-rows]

    Columns are added in halves, elementwise, in an order that their number alone decides, where numpy's own sums over
    an axis go by the array's layout.
    """
    with np.errstate(over="ignore"):
        squares = np.multiply(rows, rows, order="C")
        while squares.shape[1] > SHORT_ROW:
            squares = _halved(squares)
        squares = np.asfortranarray(squares)
        while squares.shape[1] > 1:
            squares = _halved(squares)
    return np.asarray(np.sqrt(squares[:, 0]))


def _halved(columns: FloatArray) -> FloatArray:
    """The later half added to the first, and what is in the middle to the very first."""
    half, odd = divmod(columns.shape[1], 2)
    sums = columns[:, :half] + columns[:, half + odd :]  # not in place: numpy would copy, as both are of one array
    if odd:
        sums[:, 0] += columns[:, half]
    return sums


def unit_rows(features: FloatArray, records: int, least: float = 1.0) -> FloatArray:
    """Rows divided by their length, or by `least` where that is more, and cut to `places(records)`. [exact-sums]

    features: shape (k, D), changed in place; a row becomes what it would become alone, one that is not finite 0.
    """
    lengths = folded_lengths(features)
    if not np.all(np.isfinite(lengths)):  # whatever the data are, a sum must come out: rows too long to measure are 0
        features[~np.isfinite(lengths)] = 0.0
        lengths = np.where(np.isfinite(lengths), lengths, 0.0)
    features *= (1.0 / np.maximum(least, lengths * SLACK))[:, None]
    return cut(features, places(records))


def on_grid(coefficients: FloatArray, records: int) -> FloatArray:
    """Coefficients cut, towards 0, so that products with rows of `unit_rows` are exact in any order. [exact-sums]

    coefficients: c, shape (D,), public, finite.  Each falls by less than 2^(b−52)·|c|, b = `places(records)`.
    They become multiples of 2^(e+b−53), 2^e >= |c| >= 2^(e−1) but for rounding: all partial sums of φ·c are multiples
    of 2^(e−53) of size |φ||c| at most, so at most 2^53 of them.
    """
    largest = float(np.max(np.abs(coefficients), initial=0.0))
    if largest < 2.0**-900:  # where steps would vanish
        return np.zeros(coefficients.shape)
    length = largest * float(folded_lengths((coefficients / largest)[None])[0]) * SLACK
    step = 2.0 ** (math.frexp(length)[1] + places(records) - MANTISSA)
    return np.asarray(np.trunc(coefficients / step) * step)


def sizes_check(records: int, width: int) -> Callable[[UnitRows], None]:
    """A query's check: data of another m or D are refused. Raises ValueError beyond 2^32 records or 2^18 features."""
    refuse_sizes(records, width)

    def check(data: UnitRows) -> None:
        if (data.records, data.width) != (records, width):
            raise ValueError(
                f"this was built for {records} records of {width} features, the data has {data.records} of {data.width}"
            )

    return check


def clipped_pull(records: int, coefficients: FloatArray, clip: float) -> Query[UnitRows, FloatArray, L2Sensitivity]:
    """Σ ψ(yᵢ − c·φᵢ)·φᵢ, shape (D,), ψ = residuals cut to [−1, 1] in units of `clip`: what descent goes along.

    records: m, public.  coefficients: c, shape (D,), released before or public.  clip: τ > 0, public.
    Sensitivity: 2 in ℓ2, exactly, as terms lie in the unit ball and sums are exact. c is cut first, see `on_grid`: a
    term is then what its record gives alone. [004-descent]
    """
    unit, binary, grid = positive(clip), places(records), on_grid(coefficients, records)

    def pulled(features: FloatArray, targets: FloatArray) -> FloatArray:
        residuals = np.clip((targets - features @ grid) / unit, -1.0, 1.0)
        return cut(residuals, binary) @ features

    def pull(data: UnitRows) -> FloatArray:
        return data.sums(pulled)

    return Query(
        f"features times residuals cut at {unit!r}",
        pull,
        L2Sensitivity(2.0),
        ReplaceOne(),
        ("004-descent", "exact-sums"),
        sizes_check(records, coefficients.size),
    )


def joint_l2(weight: float) -> float:
    """ℓ2 of how far Σφφᵀ and w·Σyφ move together, |φ|, |y| <= 1: √(2 + 2w² + w⁴/2) up to w = √2. [004-joint-moments]

    With q = ⟨φ, φ'⟩ the square of the change is |φ|⁴ + |φ'|⁴ − 2q² + w²|yφ − y'φ'|², at most, at given q, what it is
    for |φ| = |φ'| = 1 and y = −y' = ±1: 2 − 2q² + 2w²(1 + |q|), which is largest at |q| = w²/2. From √2 on it is 2w.
    Two releases, each by its own worst case, √2 and 2w, would take √(2 + 4w²): features that are far apart move the
    first most, and features that are close the second.
    """
    square = positive(weight) ** 2
    return math.sqrt(2.0 + 2.0 * square + 0.5 * square**2) if weight <= LARGEST_WEIGHT else 2.0 * weight


def moment_sums(binary: int, unit: float = 1.0) -> Summand:
    """Σφφᵀ and, in the last row, Σyφ, shape (D + 1, D); y cut at ±1 in `unit`s and to so many places. [exact-sums]"""

    def added(features: FloatArray, targets: FloatArray) -> FloatArray:
        factors = cut(np.clip(targets / unit, -1.0, 1.0), binary)
        return np.vstack([features.T @ features, factors @ features])

    return added


def joint_moments(records: int, width: int, weight: float) -> Query[UnitRows, FloatArray, L2Sensitivity]:
    """The upper triangle of Σφφᵀ, off-diagonals times √2, then w·Σyφ: D(D+1)/2 + D numbers. [004-joint-moments]

    records: m.  width: D.  weight: w > 0, of targets against features.
    Sensitivity: `joint_l2`, and what multiplying exact sums by √2 and w rounds: 2^-50·m·(1 + w).
    """
    rows, columns = np.triu_indices(count(width))
    factors = np.where(rows == columns, 1.0, math.sqrt(2.0))
    binary, share = places(records), positive(weight)

    add = moment_sums(binary)

    def moments(data: UnitRows) -> FloatArray:
        whole = data.sums(add)
        return np.concatenate([whole[rows, columns] * factors, share * whole[-1]])

    return Query(
        f"second moments of {width} features and, {share!r} times, their moments with labels",
        moments,
        L2Sensitivity(up(joint_l2(share) + 2.0**-50 * records * (1.0 + share))),
        ReplaceOne(),
        ("004-joint-moments", "exact-sums"),
        sizes_check(records, width),
    )


def from_moments(moments: FloatArray, width: int, weight: float) -> tuple[FloatArray, FloatArray]:
    """Σφφᵀ, shape (D, D), and Σyφ, shape (D,), of what `joint_moments` gives, with noise or without."""
    rows, columns = np.triu_indices(width)
    gram = np.zeros((width, width))
    gram[rows, columns] = moments[: rows.size] / np.where(rows == columns, 1.0, math.sqrt(2.0))
    gram = gram + np.triu(gram, 1).T
    return gram, moments[rows.size :] / weight


def in_ball(vector: FloatArray, radius: float) -> FloatArray:
    """The nearest point of the ball, or a little inside; 0 for a vector that is not finite. shape (D,)."""
    if not np.all(np.isfinite(vector)):
        return np.zeros(vector.shape)
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest == 0.0:
        return vector
    unit = vector / largest  # or squares could overflow, or vanish
    length = float(np.linalg.norm(unit)) * SLACK
    return np.asarray(unit * (radius / length), dtype=np.float64) if length > radius / largest else vector


class Fittable(Protocol):
    """Data that coefficients can be fitted to."""

    @property
    def width(self) -> int:
        """How many; public."""

    def coefficients(self) -> FloatArray:
        """Shape (width,)."""


def projected_coefficients(radius: float, width: int) -> Query[Fittable, FloatArray, L2Sensitivity]:
    """Coefficients, moved into the ball of `radius`, shape (width,): whatever they come from. [004-projection]

    Sensitivity: 2·radius in ℓ2, the diameter: for duplicate rows, rows that almost coincide, and all labels.
    Raises ValueError for a radius outside [2^-500, 2^500].
    """
    ball, size = public_radius(radius), count(width)
    if size > MOST_COORDINATES:
        raise ValueError(f"expected at most {MOST_COORDINATES} coefficients, got {size}")

    def fitted(data: Fittable) -> FloatArray:
        return in_ball(data.coefficients(), ball)

    def check(data: Fittable) -> None:
        if data.width != size:
            raise ValueError(f"this was built for {size} coefficients, the data has {data.width}")

    return Query(
        f"coefficients within the ball of radius {ball!r}",
        fitted,
        L2Sensitivity(2.0 * ball),
        ReplaceOne(),
        ("004-projection",),
        check,
    )
