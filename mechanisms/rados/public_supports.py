"""Rados over supports that anybody can draw again: coins of a public seed, that have an address.

A coin belongs to a rado and a record, whatever block the record lies in: rados come by HEAP, each HEAP with a generator
of their own, whose words stand in order of the records, GROUP of them in a word, and among these in order of the rados.
So a block goes straight to its first word, and what it draws for nothing are coins of less than 2·GROUP records.

Supports of a seed tell who is summed to anyone who knows it. That does no harm where what is charged holds for every
support, or is for nothing that is summed; where they must be secret, see `mechanisms.rados.sampling`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from accountant.costs import count
from mechanisms.core import Block, Rows
from mechanisms.rados.column_distribution import rados_count, whole_number
from mechanisms.rados.sampling import Edges, EdgeVectors, Vectors, pieces
from mechanisms.randomness import NoiseSource

SUPPORTS: Final = 0x0E5C_4AD0
"""Sets the public stream of supports apart from all others of the same seed."""

HEAP: Final = 128
"""Rados with one generator, and multiplied at once: with STEP records their coins stay in the processor's memory."""

GROUP: Final = 64
"""Records whose coins are in one word of the generator; `rado_sampling.STEP` is a multiple of it."""

SIZES: Final = 0x0E5C_4AD1
"""The same for the stream of sizes of supports."""

SEED_BITS: Final = 32

Prepared: TypeAlias = Callable[[Edges], Edges]
"""What is summed of a piece, shape kept; a record's depends on that record alone."""


def drawn_seed(noise: NoiseSource) -> int:
    """A public seed, drawn from `noise`, for supports that need not be secret."""
    return int.from_bytes(np.packbits(noise.bits(SEED_BITS)).tobytes(), "big")


def support_sizes(number: int, records: int, noise: NoiseSource) -> FloatArray:
    """Draws of Bin(records, 1/2), shape (number,), whole numbers: how many records random rados sum.

    From a seed of `noise`, at once and not coin by coin, so for any number of records. They need not be secret.
    """
    sequence = np.random.SeedSequence(drawn_seed(noise), spawn_key=(SIZES,))
    generator = np.random.Generator(np.random.PCG64DXSM(sequence))
    return generator.binomial(count(records), 0.5, size=count(number)).astype(np.float64)


def sample_rados(edges: EdgeVectors, number: int, noise: NoiseSource) -> FloatArray:
    """Plain random rados, σ uniform: shape (number, d), over the supports of a seed from `noise`. No privacy claim."""
    return rados_over(edges.rows, number, drawn_seed(noise))


def rados_over(data: Rows[Vectors], number: int, seed: int) -> FloatArray:
    """Random rados of records in blocks, over the supports of this seed: shape (number, d). No privacy claim."""
    return support_sums(data, number, seed)[:-1]


def support_sums(data: Rows[Vectors], number: int, seed: int, prepared: Prepared = np.asarray) -> FloatArray:
    """Sums over the supports of random rados and, last, over all records: shape (number + 1, d). One visit.

    The same supports whatever the blocks; the same sums, bit by bit, where what is prepared is what
    `mechanisms.rados.noised_rados.exact_steps` gives, in double precision, for the number of all records. [exact-rows]
    """
    return data.total(partial(_of_block, rados_count(number), whole_number(seed), prepared))


def _of_block(number: int, seed: int, prepared: Prepared, block: Block[Vectors]) -> FloatArray:
    total = np.zeros((number + 1, block.data.features))
    heaps = [_Coins(seed, start, min(HEAP, number - start), block.first) for start in range(0, number, HEAP)]
    for start, read in pieces(block.data, block.first):
        rows = prepared(read)
        for coins in heaps:
            supports = coins.drawn(block.first + start, len(rows))
            total[coins.start : coins.start + coins.rows] += np.matmul(supports.astype(rows.dtype), rows)
        total[-1] += np.matmul(np.ones(len(rows), dtype=rows.dtype), rows)
    return total  # it began at +0, so the sum of nothing does not tell the sign of its zero


class _Coins:
    """Of some of the rados, for one record after the other, from a record on. start, rows: which rados."""

    def __init__(self, seed: int, start: int, rows: int, first: int) -> None:
        sequence = np.random.SeedSequence(seed, spawn_key=(SUPPORTS, start // HEAP))
        self.start, self.rows = start, rows
        self._words = np.random.PCG64DXSM(sequence)
        self._words.advance(first // GROUP * rows)

    def drawn(self, first: int, size: int) -> npt.NDArray[np.uint8]:
        """The coins of the next records, shape (rows, size), 0 or 1. What came before ended with a GROUP."""
        begin = first % GROUP
        groups = -(-(begin + size) // GROUP)
        words = self._words.random_raw(groups * self.rows).astype("<u8", copy=False).reshape(groups, self.rows)
        coins = np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1, bitorder="little")
        return coins[:, begin : begin + size]
