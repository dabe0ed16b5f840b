"""Edge vectors, and rados built from them as blocked matrix products over random supports.

A rado ½·Σ(σ_i + y_i)·x_i is the sum of the edge vectors y_i·x_i over its support, the records with σ_i = y_i
(000, Definition 1); for uniform signs the support is a uniform subset of the records, whatever the labels.
Nothing here is a privacy guarantee: that is `mechanisms.rado`, or post-processing of noised edges.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant._numbers import count
from mechanisms.core import FloatArray
from mechanisms.noise import NoiseSource
from mechanisms.rado_law import RadoColumnLaw, rados_count

BLOCK: Final = 2**21
"""Entries of the largest block of supports held at once (16 MiB); one row at least."""


class NotBoolean(ValueError):
    """The sensitive column has edge values other than −1 and +1."""


def _edges(value: npt.ArrayLike) -> FloatArray:
    edges = np.array(value, dtype=np.float64)
    if edges.ndim != 2 or 0 in edges.shape:
        raise ValueError(f"expected edges of shape (records, features), at least (1, 1), got {edges.shape}")
    if not np.all(np.isfinite(edges)):
        raise ValueError("edges must be finite: a sum with NaN or ±inf is no rado")
    edges.setflags(write=False)
    return edges


@attrs.frozen(eq=False)
class EdgeVectors:
    """The protected data of rado mechanisms: y_i·x_i for every record; m and d are public.

    edges: shape (m, d), finite, m and d at least 1; copied and made read-only. Raises ValueError otherwise.
    """

    edges: FloatArray = attrs.field(converter=_edges, repr=False)

    @staticmethod
    def of(features: npt.ArrayLike, labels: npt.ArrayLike) -> "EdgeVectors":
        """From features, shape (m, d), and labels −1 or +1, shape (m,). Raises ValueError for anything else."""
        x, y = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
        if x.ndim != 2 or y.shape != x.shape[:1]:
            raise ValueError(f"expected features (m, d) and labels (m,), got {x.shape} and {y.shape}")
        if not np.all(np.abs(y) == 1.0):
            raise ValueError("labels must be -1 or +1")
        return EdgeVectors(y[:, None] * x)

    @property
    def records(self) -> int:
        """m, public."""
        return int(self.edges.shape[0])

    @property
    def features(self) -> int:
        """d, public."""
        return int(self.edges.shape[1])

    def boolean_column(self, feature: int) -> FloatArray:
        """One column, shape (m,), all −1 and +1. Raises IndexError out of range, NotBoolean for other values."""
        if not 0 <= feature < self.features:
            raise IndexError(f"feature {feature} is out of range: these edge vectors have {self.features} columns")
        column = self.edges[:, feature]
        if not np.all(np.abs(column) == 1.0):
            raise NotBoolean(
                f"column {feature} must hold edge values -1 and +1 only, that is a Boolean feature coded -1/+1 times "
                "a label -1/+1: recode it, or noise the edge vectors instead (mechanisms.rado.noised_edges)"
            )
        return column


def rados_of(edges: EdgeVectors, supports: FloatArray) -> FloatArray:
    """The rados with these supports, shape (k, d). supports: shape (k, m), 0 or 1. 000, Definition 1."""
    return np.asarray(supports @ edges.edges + 0.0)  # a sum of nothing must not tell the sign of its zero


def sample_rados(edges: EdgeVectors, number: int, noise: NoiseSource) -> FloatArray:
    """Plain random rados, σ uniform: shape (number, d). No privacy claim."""
    return _summed(edges, _supports(rados_count(number), edges.records, noise))


def sample_truncated_rados(
    edges: EdgeVectors, number: int, feature: int, law: RadoColumnLaw, noise: NoiseSource
) -> FloatArray:
    """Rados of DP-FEAT, uniform in Σ_m^{β,j}: shape (number, d). No privacy claim: all columns are there. 000, eq. 16.

    feature: the Boolean column that is truncated.  law: of this m, its window.
    Raises ValueError where law and edges disagree about m, and what `boolean_column` raises.
    """
    if law.records != edges.records:
        raise ValueError(f"the law is for {law.records} records, the edges have {edges.records}")
    column = edges.boolean_column(feature)
    return _summed(edges, _supports_in_window(column, rados_count(number), law, noise))


def sample_fixed_support_rados(edges: EdgeVectors, number: int, support: int, noise: NoiseSource) -> FloatArray:
    """Rados of exactly `support` records each, uniform in Σ_m^{m*}: shape (number, d). 000, eq. 18. [000-edges]

    support: m* in 1 … m; the supports do not depend on the data, so from noised edges this is post-processing.
    Uniform but for ties of 64-bit keys, a distance of at most m²/2^65.
    """
    if count(support) > edges.records:
        raise ValueError(f"a support of {support} records needs that many, the edges have {edges.records}")
    return _summed(edges, _fixed_supports(rados_count(number), edges.records, int(support), noise))


def _summed(edges: EdgeVectors, supports: Iterable[FloatArray]) -> FloatArray:
    return np.concatenate([rados_of(edges, block) for block in supports])


def _bits(rows: int, records: int, noise: NoiseSource) -> FloatArray:
    return noise.bits(rows * records).reshape(rows, records).astype(np.float64)


def _supports(number: int, records: int, noise: NoiseSource) -> Iterator[FloatArray]:
    """Uniform supports, in blocks of shape (rows, m)."""
    at_once = max(1, BLOCK // records)
    for start in range(0, number, at_once):
        yield _bits(min(at_once, number - start), records, noise)


def _supports_in_window(
    column: FloatArray, number: int, law: RadoColumnLaw, noise: NoiseSource
) -> Iterator[FloatArray]:
    """Uniform supports with K in the window, by rejection, a block at a time.

    The number of blocks tells nothing about the data: K has the same law for every column.
    """
    at_once, expected = max(1, BLOCK // law.records), 1.0 / law.acceptance
    negatives = float(np.sum(column < 0.0))
    while number > 0:
        block = _bits(min(at_once, math.ceil(number * expected)), law.records, noise)
        counts = block @ column + negatives
        kept = block[(counts >= law.low) & (counts <= law.records - law.low)][:number]
        number -= len(kept)
        yield kept


def _fixed_supports(number: int, records: int, support: int, noise: NoiseSource) -> Iterator[FloatArray]:
    """Supports of equal size: the records with the smallest of m random keys."""
    at_once = max(1, BLOCK // (16 * records))  # a key takes 64 entries of one byte
    for start in range(0, number, at_once):
        rows = min(at_once, number - start)
        keys = np.packbits(noise.bits(64 * rows * records)).view(np.uint64).reshape(rows, records)
        chosen = np.argpartition(keys, support - 1, axis=1)[:, :support]
        block = np.zeros((rows, records))
        np.put_along_axis(block, chosen, 1.0, axis=1)
        yield block
