"""Binary decision trees over Boolean features: what a private tree learner releases."""

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from accountant.arrays import CodeArray, SignArray
from learners.encoding import Layout, with_feature
from learners.tables import Schema
from learners.votes.weak_learners import CodeHypothesis, sequence, two_classes, whole


@attrs.frozen
class LeafSplit:
    """Leaf number `leaf` is cut by Boolean feature number `feature`.

    Records without the feature stay in a leaf of that number; those with it move to a new leaf, numbered by how many
    there were. The first leaf is number 0.
    """

    leaf: int
    feature: int


@attrs.frozen(slots=False)
class Tree(CodeHypothesis):
    """h(x) = labels[leaf of x]. Both fields are releases.

    splits: in the order in which they were chosen, any number.
    labels: each −1 or +1, shape (splits + 1,), by leaf number.
    Raises ValueError where they do not fit each other.
    """

    splits: tuple[LeafSplit, ...] = attrs.field(converter=tuple[LeafSplit, ...])
    labels: tuple[int, ...] = attrs.field(converter=tuple[int, ...])

    def __attrs_post_init__(self) -> None:
        if len(self.labels) != len(self.splits) + 1 or any(label not in (-1, 1) for label in self.labels):
            raise ValueError(f"expected a label of −1 or +1 for each of {len(self.splits) + 1} leaves: {self.labels}")
        for number, split in enumerate(self.splits):
            if not 0 <= split.leaf <= number or split.feature < 0:
                raise ValueError(f"split {number} does not fit a tree of {number + 1} leaves: {split}")

    @property
    def largest(self) -> int:
        """The largest feature number that it asks for; −1 for none."""
        return max((split.feature for split in self.splits), default=-1)

    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        """See `CodeHypothesis`."""
        return np.asarray(np.array(self.labels, dtype=np.int8)[self.leaves(layout, codes)])

    def leaves(self, layout: Layout, codes: CodeArray) -> CodeArray:
        """Leaf numbers, shape (n,), of the smallest integer type. codes: shape (columns, n)."""
        leaf = np.zeros(codes.shape[1], dtype=np.min_scalar_type(len(self.splits)))
        for number, split in enumerate(self.splits, 1):
            # All records are looked at: three passes over small arrays take less than picking the leaf's own.
            np.putmask(leaf, (leaf == split.leaf) & with_feature(layout, codes, split.feature), number)
        return leaf

    def text(self, schema: Schema) -> str:
        """Splits as questions, "no" first, and the label at each leaf. schema: the public domain it was learnt on.

        Raises ValueError for a schema with other than two classes.
        """
        names = [f"{column}: {value}" for column, value in schema.features]
        return "\n".join(_lines(self._root(), names, two_classes(schema)))

    def _root(self) -> "_Node":
        root = _Node()
        leaves = [root]
        for split in self.splits:
            node, no, yes = leaves[split.leaf], _Node(), _Node()
            node.feature, node.below = split.feature, (no, yes)
            leaves[split.leaf] = no
            leaves.append(yes)
        for leaf, label in zip(leaves, self.labels, strict=True):
            leaf.label = label
        return root

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"splits": [[split.leaf, split.feature] for split in self.splits], "labels": list(self.labels)}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "Tree":
        """The inverse of `as_record`. Raises ValueError for a malformed record."""
        if not isinstance(record, Mapping) or record.keys() != {"splits", "labels"}:
            raise ValueError(f"a tree needs splits and labels and nothing else, got {record!r}")
        splits = [LeafSplit(*whole(pair, 2)) for pair in sequence(record["splits"])]
        return Tree(tuple(splits), tuple(whole(record["labels"], len(splits) + 1)))


@attrs.define(eq=False)
class _Node:
    """A node as text needs it: a leaf until it is given children, "no" first."""

    label: int = 0
    feature: int = 0
    below: tuple["_Node", "_Node"] | None = None


def _lines(node: _Node, names: Sequence[str], classes: Sequence[str]) -> list[str]:
    if node.below is None:
        return [classes[node.label > 0]]
    lines = [f"{names[node.feature]}?"]
    for answer, child in zip(("no", "yes"), node.below, strict=True):
        first, *rest = _lines(child, names, classes)
        lines += [f"  {answer}: {first}", *(f"  {line}" for line in rest)]
    return lines
