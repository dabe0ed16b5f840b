"""Halfspaces with a margin, made up: points of the unit ball and the side of a hyperplane that they are on.

For experiments and tests. No point is drawn and thrown away: the component along the direction comes first, so that a
large margin in many dimensions takes no longer than any other.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

import attrs
import numpy as np
from scipy.special import betainc, betaincinv

from accountant.arrays import FloatArray, SignArray
from accountant.costs import count, fraction

_ROOM: Final = 2.0**-40
"""How far inside the unit sphere points end, relatively: more than the norm of 10^4 numbers is off in any order."""

MINORITY: Final = 0.2
"""The share of records of "minority" that are unlike the others."""

Drawn = tuple[FloatArray, FloatArray]
"""Margins, shape (n,), and y times what is orthogonal to the direction, shape (n, d − 1), in any orthonormal basis."""


@attrs.frozen(eq=False)
class MarginData:
    """points: float64, shape (n, d), |x| <= 1.  labels: sign(u·x), int8, shape (n,).  direction: u, shape (d,).

    yᵢ·(u·xᵢ) is at least τ but for rounding, 1e-11 at most up to d = 10^4.
    """

    points: FloatArray
    labels: SignArray
    direction: FloatArray


def _on_spheres(radii: FloatArray, dimension: int, generator: np.random.Generator) -> FloatArray:
    """A uniform point of the sphere of each radius in ℝ^dimension, shape (n, dimension); 0 columns for 0."""
    normal = generator.standard_normal((radii.size, dimension))
    norms = np.linalg.norm(normal, axis=1)
    return np.asarray(normal * np.divide(radii, norms, out=np.zeros_like(radii), where=norms > 0.0)[:, None])


def _sphere(n: int, dimension: int, margin: float, generator: np.random.Generator) -> Drawn:
    if dimension == 1:
        return np.ones(n), np.zeros((n, 0))
    # 1 − m² of a uniform point is Beta distributed; of its values below 1 − τ² one is drawn by its rank among them.
    half = 0.5 * (dimension - 1)
    most = betainc(half, 0.5, (1.0 - margin) * (1.0 + margin))
    squares = betaincinv(half, 0.5, most * generator.random(n))
    margins = np.maximum(np.sqrt(np.maximum(1.0 - squares, 0.0)), margin)
    return margins, _on_spheres(_rest(margins), dimension - 1, generator)


def _tight(n: int, dimension: int, margin: float, generator: np.random.Generator) -> Drawn:
    margins = np.full(n, margin)
    return margins, _on_spheres(_rest(margins), dimension - 1, generator)


def _mixed(n: int, dimension: int, margin: float, generator: np.random.Generator) -> Drawn:
    margins = generator.uniform(margin, 1.0, n)
    shrunk = generator.random(n) ** (1.0 / max(1, dimension - 1))  # uniform in the ball, not near its centre
    return margins, _on_spheres(_rest(margins) * shrunk, dimension - 1, generator)


def _plane(n: int, dimension: int, margin: float, generator: np.random.Generator) -> Drawn:
    across = np.zeros((n, dimension - 1))
    across[:, :1] = (generator.choice([-1.0, 1.0], n) * math.sqrt((1.0 - margin) * (1.0 + margin)))[:, None]
    return np.full(n, margin), across


def _minority(n: int, dimension: int, margin: float, generator: np.random.Generator) -> Drawn:
    margins, across = np.full(n, margin), generator.standard_normal((n, dimension - 1))
    across *= 0.3 / math.sqrt(max(1, dimension - 1))
    across[:, :1] += np.where(generator.random(n) < MINORITY, -1.0, 1.0)[:, None]
    norms = np.linalg.norm(across, axis=1)
    radii = np.divide(_rest(margins), norms, out=np.zeros(n), where=norms > 0.0)
    return margins, np.asarray(across * radii[:, None])


def _rest(margins: FloatArray) -> FloatArray:
    """√(1 − m²): how far from the axis a point of the unit sphere is."""
    return np.asarray(np.sqrt(np.maximum((1.0 - margins) * (1.0 + margins), 0.0)))


SHAPES: Final[Mapping[str, Callable[[int, int, float, np.random.Generator], Drawn]]] = {
    "sphere": _sphere,
    "tight": _tight,
    "mixed": _mixed,
    "plane": _plane,
    "minority": _minority,
}
"""What `margin_data` knows, by name."""


def _unit(direction: FloatArray, dimension: int) -> FloatArray:
    vector = np.asarray(direction, dtype=np.float64)
    if vector.shape != (dimension,) or not np.all(np.isfinite(vector)) or not np.any(vector):
        raise ValueError(f"direction: expected {dimension} finite numbers, not all 0, got shape {vector.shape}")
    vector = vector / np.abs(vector).max()  # so that no square overflows or vanishes
    return np.asarray(vector / np.linalg.norm(vector))


def _turned(points: FloatArray, direction: FloatArray) -> FloatArray:
    """The points turned or reflected so that the first axis becomes the direction: a Householder reflection."""
    sign = 1.0 if direction[0] >= 0.0 else -1.0
    mirror = direction.copy()
    mirror[0] += sign  # this sign cancels no digits; e₁ then goes to −sign·u
    reflected = points - np.outer(points @ mirror, mirror * (2.0 / (mirror @ mirror)))
    return np.asarray(-sign * reflected)


def margin_data(
    shape: str,
    n: int,
    dimension: int,
    margin: float,
    generator: np.random.Generator,
    direction: FloatArray | None = None,
) -> MarginData:
    """n independent records of the unit ball with y·(u·x) >= τ, either label with probability 1/2.

    shape: which distribution, one of SHAPES.
      sphere: uniform on the sphere |x| = 1, given that y·(u·x) >= τ.
      tight: |x| = 1, margin exactly τ, uniform across; in one dimension x = ±τu.
      mixed: margins uniform in [τ, 1], uniform in the ball across.
      plane: ±τu ± √(1 − τ²)·v for one v, the four points that show 003, Theorem 26 to be false.
      minority: |x| = 1, margin exactly τ; y·x is near √(1 − τ²)·v for most records and near −√(1 − τ²)·v for a fifth of
        them, so that, for τ up to 1/2 and d > 1, the mean is wrong on these: what boosting is for.
    n, dimension: >= 1.  margin: τ in (0, 1].  direction: u, shape (d,), of any length but 0; None draws one.
    Raises ValueError outside, and for an unknown shape.

    >>> data = margin_data("tight", 5, 3, 0.25, np.random.default_rng(0))
    >>> (data.points @ data.direction * data.labels).round(9).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.25]
    """
    if shape not in SHAPES:
        raise ValueError(f"shape: expected one of {', '.join(SHAPES)}, got {shape!r}")
    records, axes, tau = count(n), count(dimension), fraction(margin)
    unit = _unit(generator.standard_normal(axes) if direction is None else direction, axes)
    labels = generator.choice(np.array([-1, 1], dtype=np.int8), records)
    margins, across = SHAPES[shape](records, axes, tau, generator)
    points = _turned(labels[:, None] * np.column_stack([margins, across]), unit)
    points /= np.maximum(np.linalg.norm(points, axis=1) * (1.0 + _ROOM), 1.0)[:, None]
    return MarginData(points, labels, unit)
