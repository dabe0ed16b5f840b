"""Trees grown on gradients: what they are, and what is asked of records to grow the next.

Scores, leaf values and gradients are integers in units of 2^-20, so a record's gradient depends on nothing but the
record and the trees, and sums of them on no order.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import expit

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.encoding import EncodedSample, Layout
from learners.tables import Schema
from learners.trees.complete_trees import CodeSplit, CompleteTree
from mechanisms.gradients import GRADIENT_UNIT, LARGEST, gains, leaf_values

Loss: TypeAlias = Literal["square", "logistic"]
Large: TypeAlias = Literal["filter", "clip"]
Units: TypeAlias = npt.NDArray[np.int64]

LARGEST_VALUE: Final = 2**40
"""Leaf values are kept within this, in units, so that scores of a million trees are exact."""

STEP: Final = 2**10
"""Scores are rounded to this many units before the logistic function is looked up."""

TABLE_END: Final = 2**14
"""Scores beyond ±16 count as ±16 there, in steps."""


@attrs.frozen(slots=False)
class GradientTree:
    """A tree with a value in every leaf: noisy, scaled by the learning rate, in units of 2^-20.

    Integers, so that a record's score is exact, whatever the order of trees.
    """

    tree: CompleteTree
    values: tuple[int, ...] = attrs.field(converter=tuple[int, ...])

    def __attrs_post_init__(self) -> None:
        if len(self.values) != self.tree.leaves or max(map(abs, self.values)) > LARGEST_VALUE:
            raise ValueError(f"expected {self.tree.leaves} leaf values of at most 2^40 units, got {len(self.values)}")

    def scores(self, codes: CodeArray) -> Units:
        """The value of each record's leaf, in units, shape (n,)."""
        return np.asarray(np.array(self.values, dtype=np.int64)[self.tree.leaf(codes)])


@lru_cache(maxsize=1)
def _logistic_table() -> Units:
    """2·σ(score) in units, for scores from −16 to 16 by steps."""
    scores = np.arange(-TABLE_END, TABLE_END + 1) * (STEP * GRADIENT_UNIT)
    return np.rint(2.0 * expit(scores) / GRADIENT_UNIT).astype(np.int64)


def gradients(loss: Loss, scores: Units, labels: npt.NDArray[np.int8]) -> Units:
    """The loss's derivative by the score, in units, shape (n,); ±1 at score 0, in the direction away from the label.

    Square loss: score − label.  Logistic loss, twice: 2σ(score) − 1 − label. Each is looked up or subtracted in
    integers, so a record's gradient depends on nothing but itself and the trees.
    """
    if loss == "square":
        return scores - labels.astype(np.int64) * LARGEST
    steps = np.clip((scores + STEP // 2) // STEP, -TABLE_END, TABLE_END) + TABLE_END
    return _logistic_table()[steps] - (1 + labels.astype(np.int64)) * LARGEST


class BoostedRecords:
    """The records of one lane, with their scores under the trees so far, which are public."""

    def __init__(self, sample: EncodedSample) -> None:
        self.sample = sample
        self._scores, self._scored = np.zeros(sample.n, dtype=np.int64), 0

    def subset(self, places: IntArray) -> "BoostedRecords":
        """The records at some places, without scores."""
        sample = self.sample
        return BoostedRecords(EncodedSample(sample.layout, sample.codes[:, places], sample.labels[places]))

    def gradients(self, trees: Sequence[GradientTree], loss: Loss, large: Large) -> tuple[IntArray, Units]:
        """Which records take part, and their gradients in units, each within ±1. trees: those before, and no other."""
        for tree in trees[self._scored :]:
            self._scores += tree.scores(self.sample.codes)
        self._scored = len(trees)
        found = gradients(loss, self._scores, self.sample.labels)
        if large == "clip":
            return np.arange(found.size), np.clip(found, -LARGEST, LARGEST)
        kept = np.flatnonzero(np.abs(found) <= LARGEST)
        return kept, found[kept]


@attrs.frozen(slots=False, eq=False)
class Growth:
    """What one tree is grown for: public parameters and the trees before it.

    regularization: λ.  bound: the largest leaf value.
    """

    layout: Layout
    trees: tuple[GradientTree, ...]
    loss: Loss
    large: Large
    regularization: float
    bound: float

    def level_gains(self, records: BoostedRecords, splits: tuple[CodeSplit, ...]) -> FloatArray:
        """Gains of every feature in every node of the next level, shape (nodes, d). splits: those above it."""
        nodes, stride = len(splits) + 1, self.layout.narrow.stride
        kept, found = records.gradients(self.trees, self.loss, self.large)
        place = self._places(records, splits)[kept] * stride
        packed = records.sample.packed[:, kept]
        # Sums of integers below 2^53: exact, in whatever order.
        shape = (len(self.layout.narrow.groups), nodes, stride)
        cells = np.empty((2, *shape))
        for group, codes in enumerate(packed):
            cells[0, group] = np.bincount(place + codes, minlength=nodes * stride).reshape(nodes, stride)
            cells[1, group] = np.bincount(place + codes, found, minlength=nodes * stride).reshape(nodes, stride)
        sums = np.stack(
            [self.layout.narrow.incidence @ part.transpose(0, 2, 1).reshape(-1, nodes) for part in cells], axis=-1
        ).transpose(1, 0, 2)
        return gains(sums[:, -1], sums[:, :-1], self.regularization)

    def leaf_values(self, records: BoostedRecords, tree: CompleteTree) -> FloatArray:
        """Clipped values of all leaves, shape (leaves,)."""
        kept, found = records.gradients(self.trees, self.loss, self.large)
        leaf = tree.leaf(records.sample.codes[:, kept])
        parts = [np.bincount(leaf, weights, minlength=tree.leaves) for weights in (None, found)]
        cells = np.stack(parts, axis=1).astype(np.float64)
        return leaf_values(cells, self.regularization, self.bound)

    @staticmethod
    def _places(records: BoostedRecords, splits: tuple[CodeSplit, ...]) -> IntArray:
        return CompleteTree(splits).leaf(records.sample.codes) if splits else np.zeros(records.sample.n, dtype=np.intp)


@attrs.frozen(slots=False)
class BoostedTreesModel:
    """The sum of trees over a public schema. Everything here is post-processing of releases."""

    schema: Schema
    trees: tuple[GradientTree, ...] = attrs.field(converter=tuple[GradientTree, ...])
    loss: Loss

    def scores(self, codes: CodeArray) -> FloatArray:
        """Σ leaf values per record, shape (n,): an estimate of the label, or of its log-odds. codes: (columns, n)."""
        total = np.zeros(codes.shape[1], dtype=np.int64)
        for tree in self.trees:
            total += tree.scores(codes)
        return np.asarray(total * GRADIENT_UNIT)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        trees = [[tree.tree.as_record(), list(tree.values)] for tree in self.trees]
        return {"schema": self.schema.as_dict(), "loss": self.loss, "trees": trees}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "BoostedTreesModel":
        """The inverse of `as_record`. Raises ValueError for trees that the schema has no columns for."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        loss = str(record["loss"])
        if loss not in ("square", "logistic"):
            raise ValueError(f"loss: {loss!r} is not one of 'square', 'logistic'")
        pairs = cast("Sequence[tuple[Sequence[Sequence[object]], Sequence[int]]]", record["trees"])
        trees = [
            GradientTree(CompleteTree.from_record(tree, schema), tuple(map(int, values))) for tree, values in pairs
        ]
        return BoostedTreesModel(schema, tuple(trees), cast("Loss", loss))
