"""Edge vectors, and rados built from them as blocked matrix products over secret supports, kept as bits.

A rado ½·Σ(σ_i + y_i)·x_i is the sum of the edge vectors y_i·x_i over its support, the records with σ_i = y_i
(000, Definition 1); for uniform signs the support is a uniform subset of the records, whatever the labels.
Supports are secret here: they come from a noise source, rado by rado, for all records at once, which must be in one
place. Those of a public seed, for records anywhere, are in `mechanisms.rados.public_supports`.
Nothing here is a privacy guarantee: that is `mechanisms.rados.edge_vectors`, or post-processing of noised edges.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from accountant.costs import count
from accountant.explained import Explained
from mechanisms.core import MemoryRows
from mechanisms.rados.column_distribution import RadoColumnLaw, rados_count
from mechanisms.randomness import NoiseSource

T = TypeVar("T")

HELD: Final = 2**27
"""Bits of the supports that are held at once (16 MiB)."""

ROWS: Final = 1024
"""Of supports, multiplied at once at most."""

STEP: Final = 4096
"""Records multiplied at once, a multiple of 64: with ROWS of them 32 MiB in double precision."""

DRAWN: Final = 2**22
"""Bits that are asked for at once, for sources give one in a byte; one row at least."""

PRECISION: Final = 8
"""Bits of the chance with which a support of a fixed size is first guessed."""

Edges: TypeAlias = FloatArray | npt.NDArray[np.float32]
Packed: TypeAlias = npt.NDArray[np.uint8]
"""Supports, shape (k, ⌈m/8⌉): eight records in a byte, in the order of `numpy.packbits`, zeros at the end."""


class Vectors(Protocol):
    """Records as vectors, that are read, and may be made, a piece at a time, so that there is no second copy of all."""

    @property
    def records(self) -> int:
        """m, or as many as there are here."""

    @property
    def features(self) -> int:
        """d, public."""

    def piece(self, start: int, stop: int) -> Edges:
        """Those of some of the records, shape (stop − start, d), each by its own record alone. To read only."""


def pieces(data: Vectors, first: int = 0) -> Iterator[tuple[int, Edges]]:
    """The vectors in pieces of STEP records: for each piece the number of its first record, and its array.

    first: the number of the first record among all. Pieces end where that number is a multiple of STEP.
    """
    start = 0
    while start < data.records:
        stop = min(data.records, start + STEP - (first + start) % STEP)
        yield start, data.piece(start, stop)
        start = stop


class NotBoolean(Explained, ValueError):
    """The sensitive column has edge values other than −1 and +1."""


@attrs.frozen(eq=False)
class _Given:
    """An array that nobody else holds: copies of large tables are what memory goes into."""

    values: FloatArray = attrs.field(repr=False)


def _edges(value: "npt.ArrayLike | _Given") -> Edges:
    if isinstance(value, _Given):
        edges: Edges = value.values
    elif getattr(value, "dtype", None) == np.float32:
        edges = np.array(value, dtype=np.float32)
    else:
        edges = np.array(value, dtype=np.float64)
    if edges.ndim != 2 or 0 in edges.shape:
        raise ValueError(f"expected edges of shape (records, features), at least (1, 1), got {edges.shape}")
    # A sum that is finite has finite terms; only where it is not does it take another pass to tell why.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.sum(edges, dtype=np.float64)) or np.all(np.isfinite(edges))
    if not finite:
        raise ValueError("edges must be finite: a sum with NaN or ±inf is no rado")
    edges.setflags(write=False)
    return edges


@attrs.frozen(eq=False)
class EdgeVectors:
    """The protected data of rado mechanisms: y_i·x_i for every record; m and d are public.

    edges: shape (m, d), finite, m and d at least 1; copied and made read-only. Kept in single precision where it comes
      so: rados are then sums in single precision, STEP records at a time. Raises ValueError otherwise.
    """

    edges: Edges = attrs.field(converter=_edges, repr=False)

    @staticmethod
    def given(edges: FloatArray) -> "EdgeVectors":
        """Without a copy, of an array that nobody else holds or will write to."""
        return EdgeVectors(_Given(edges))

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

    @property
    def rows(self) -> MemoryRows[Vectors]:
        """All of them as one block."""
        return MemoryRows.of(self, self.records)

    def piece(self, start: int, stop: int) -> Edges:
        """See `Vectors`."""
        return self.edges[start:stop]

    def boolean_column(self, feature: int) -> Edges:
        """One column, shape (m,), all −1 and +1. Raises IndexError out of range, NotBoolean for other values."""
        if not 0 <= feature < self.features:
            raise IndexError(f"feature {feature} is out of range: these edge vectors have {self.features} columns")
        column = self.edges[:, feature]
        if not np.all(np.abs(column) == 1.0):
            raise NotBoolean(
                f"column {feature} must hold edge values -1 and +1 only, that is a Boolean feature coded -1/+1 times "
                "a label -1/+1: recode it, or noise the edge vectors instead (mechanisms.noised_edges)"
            )
        return column


def rados_of(edges: EdgeVectors, supports: FloatArray) -> FloatArray:
    """The rados with these supports, shape (k, d). supports: shape (k, m), 0 or 1. 000, Definition 1."""
    return np.asarray(supports @ edges.edges + 0.0)  # a sum of nothing must not tell the sign of its zero


def sample_truncated_rados(
    edges: EdgeVectors, number: int, feature: int, law: RadoColumnLaw, noise: NoiseSource
) -> FloatArray:
    """Rados of DP-FEAT, uniform in Σ_m^{β,j}: shape (number, d). No privacy claim: all columns are there. 000, eq. 16.

    feature: the Boolean column that is truncated.  law: of this m, its window.
    Raises ValueError where law and edges disagree about m, and what `boolean_column` raises.
    """
    if law.records != edges.records:
        raise ValueError(f"the distribution is of {law.records} records, the edges have {edges.records}")
    column = edges.boolean_column(feature)
    return _summed(edges, _supports_in_window(column, rados_count(number), law, noise))


def sample_fixed_support_rados(edges: EdgeVectors, number: int, support: int, noise: NoiseSource) -> FloatArray:
    """Rados of exactly `support` records each, uniform in Σ_m^{m*}: shape (number, d). 000, eq. 18. [000-edges]

    support: m* in 1 … m; the supports do not depend on the data, so from noised edges this is post-processing.
    """
    if count(support) > edges.records:
        raise ValueError(f"a support of {support} records needs that many, the edges have {edges.records}")
    return _summed(edges, _fixed_supports(rados_count(number), edges.records, int(support), noise))


def _summed(edges: EdgeVectors, supports: Iterable[Packed]) -> FloatArray:
    return np.concatenate([_products(edges, block) for block in supports])


def _products(edges: EdgeVectors, supports: Packed) -> FloatArray:
    """The rados with these supports, shape (k, d): products of STEP records, added up in double precision."""
    total = np.zeros((supports.shape[0], edges.features))
    for start in range(0, edges.records, STEP):
        rows = edges.edges[start : start + STEP]
        bits = np.unpackbits(supports[:, start // 8 : (start + STEP) // 8], axis=1, count=len(rows))
        total += np.matmul(bits.astype(rows.dtype), rows)
    return total + 0.0  # a sum of nothing must not tell the sign of its zero


def _blocks(number: int, records: int) -> Iterator[int]:
    """Sizes of blocks of supports."""
    at_once = _at_once(records)
    yield from (min(at_once, number - start) for start in range(0, number, at_once))


def _at_once(records: int) -> int:
    return max(1, min(ROWS, HELD // records))


def _fair(rows: int, records: int, noise: NoiseSource) -> Packed:
    """Every record by a fair coin."""
    at_once = max(1, DRAWN // records)
    sizes = (min(at_once, rows - start) for start in range(0, rows, at_once))
    return np.concatenate([np.packbits(noise.bits(size * records).reshape(size, records), axis=1) for size in sizes])


def _sizes(supports: Packed) -> npt.NDArray[np.intp]:
    """The number of records in each, shape (k,)."""
    return np.asarray(np.sum(_ONES[supports], axis=1, dtype=np.intp))


_ONES: Final = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def _supports_in_window(column: Edges, number: int, law: RadoColumnLaw, noise: NoiseSource) -> Iterator[Packed]:
    """Uniform supports with K in the window, by rejection, a block at a time.

    The number of blocks tells nothing about the data: K has the same distribution for every column.
    """
    at_once, expected = _at_once(law.records), 1.0 / law.acceptance
    negatives = np.packbits(column < 0.0)
    while number > 0:
        block = _fair(min(at_once, math.ceil(number * expected)), law.records, noise)
        counts = _sizes(block ^ negatives)  # K: edges of +1 inside, and of -1 outside
        kept = block[(counts >= law.low) & (counts <= law.records - law.low)][:number]
        number -= len(kept)
        yield kept


def _fixed_supports(number: int, records: int, support: int, noise: NoiseSource) -> Iterator[Packed]:
    """Supports of equal size: every record by a coin of about that chance, then the excess back, at random.

    Given its size the first guess is uniform, and so is what is left after a uniform choice among its records.
    """
    smaller = min(support, records - support)
    everything = np.packbits(np.ones(records, dtype=np.uint8))
    for rows in _blocks(number, records):
        block = _likely(rows, records, round(2**PRECISION * smaller / records), noise)
        for row, size in zip(block, _sizes(block).tolist(), strict=True):
            if size != smaller:
                row[:] = _resized(np.unpackbits(row, count=records), size, smaller, noise)
        yield block if smaller == support else block ^ everything


def _likely(rows: int, records: int, chance: int, noise: NoiseSource) -> Packed:
    """Every record with probability chance/2^PRECISION, in 0 … 1/2: one fair coin for each bit from the last 1 on."""
    block = np.zeros((rows, -(-records // 8)), dtype=np.uint8)
    for place in range(PRECISION):
        if chance % 2 ** (place + 1):  # before the last 1 there is nothing to take away from
            fair = _fair(rows, records, noise)
            block = block | fair if chance >> place & 1 else block & fair
    return block


def _resized(bits: Packed, size: int, wanted: int, noise: NoiseSource) -> Packed:
    """A support of the wanted size: uniform records of one kind turned into the other. bits: shape (m,), changed."""
    surplus, left = int(size > wanted), abs(size - wanted)
    of_kind = size if surplus else bits.size - size
    while left:
        drawn = _indices(math.ceil(left * bits.size / of_kind) + PRECISION, bits.size, noise)
        _, first = np.unique(drawn, return_index=True)
        fresh = drawn[np.sort(first)]  # in the order in which they were drawn
        chosen = fresh[bits[fresh] == surplus][:left]
        bits[chosen] = 1 - surplus
        left, of_kind = left - chosen.size, of_kind - chosen.size
    return np.packbits(bits)


def _indices(number: int, below: int, noise: NoiseSource) -> npt.NDArray[np.intp]:
    """Uniform whole numbers from 0 to below - 1, shape (at most number,)."""
    width = (below - 1).bit_length()
    places: npt.NDArray[np.intp] = 1 << np.arange(width, dtype=np.intp)
    found = np.asarray(noise.bits(number * width).reshape(number, width) @ places)
    return found[found < below]
