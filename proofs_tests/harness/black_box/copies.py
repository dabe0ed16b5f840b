"""Whether processes draw the same, as they do where they share the state of a generator made before they were."""

import itertools
from collections.abc import Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.explained import Explained
from proofs_tests.harness.outcomes import as_rows

TELLING: Final = 40.0
"""Two runs of draws that are the same by a chance of 2^-40 are copies."""

Place: TypeAlias = tuple[int, int, int]
"""Two processes, and a place in their outputs."""


class NotIndependent(Explained, ValueError):
    """Two processes drew the same: they share the state of a generator that was made before they were."""


@attrs.define(eq=False)
class Copies:
    """Compares what processes draw, place by place in their outputs, from the first piece to the last."""

    _bits: dict[Place, float] = attrs.field(factory=dict, init=False)
    """Of places that never differed: k where the chance of that is 2^-k. Of others: -∞."""

    def look(self, parts: Sequence[Sequence[object]]) -> None:
        """parts: what each process drew in this piece, as many each. Raises NotIndependent."""
        rows = as_rows([output for part in parts for output in part])
        split = rows.reshape(len(parts), -1, rows.shape[1])
        for column in range(rows.shape[1]):
            chance = _bits(rows[:, column])
            for one, other in itertools.combinations(range(len(parts)), 2):
                self._count((one, other, column), split[one, :, column], split[other, :, column], chance)
        if any(bits > TELLING for bits in self._bits.values()):
            raise NotIndependent(
                "processes: two of them drew the same, as they share a generator that was made before they were: make "
                "it inside the function, without a seed, or draw in one process"
            )

    def _count(self, place: Place, first: FloatArray, second: FloatArray, each: float) -> None:
        same = np.array_equal(first, second, equal_nan=True)
        self._bits[place] = self._bits.get(place, 0.0) + first.size * each if same else -np.inf


def _bits(numbers: FloatArray) -> float:
    """How unlikely it is that two draws are the same: k where the chance is 2^-k, from how often draws repeat.

    Pieces may be small: so a draw is not compared with itself, and half a repeat is added to those that were seen.
    """
    counts = np.unique(numbers, return_counts=True)[1].astype(np.float64)
    pairs = numbers.size * (numbers.size - 1) / 2
    alike = float(np.sum(counts * (counts - 1))) / 2
    return float(-np.log2(min(1.0, (alike + 0.5) / max(pairs, 0.5))))
