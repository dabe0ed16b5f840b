"""Complete binary trees over a public schema: splits as sets of codes, records routed all at once.

Nodes stand in heap order: node v has the children 2v + 1 and 2v + 2, and the leaves are numbered from left to right.
Where a tree comes from is its learner's business; here nothing reads a label.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, IntArray
from accountant.costs import count
from learners.tables import Categorical, Schema

Codes: TypeAlias = tuple[int, ...]

DEEPEST = 16
"""Leaves stay below 2^16 a tree."""


def tree_depth(value: int) -> int:
    """From 1 to 16. Raises ValueError."""
    if count(value) > DEEPEST:
        raise ValueError(f"expected a depth of at most {DEEPEST}, got {value!r}")
    return count(value)


@attrs.frozen
class CodeSplit:
    """Records whose code in `column` is among `right` go right, all others left; nobody does where it is empty."""

    column: int
    right: Codes = attrs.field(converter=tuple[int, ...])


@attrs.frozen(slots=False)
class CompleteTree:
    """A tree whose leaves all lie at the same depth.

    splits: one per inner node in heap order, 2^depth − 1 of them.  Raises ValueError for any other number.
    """

    splits: tuple[CodeSplit, ...] = attrs.field(converter=tuple[CodeSplit, ...])

    def __attrs_post_init__(self) -> None:
        if not self.splits or len(self.splits) + 1 != self.leaves or self.depth > DEEPEST:
            raise ValueError(f"expected 2^depth − 1 splits, depth from 1 to {DEEPEST}, got {len(self.splits)}")

    @property
    def depth(self) -> int:
        """The number of splits on every path."""
        return (len(self.splits) + 1).bit_length() - 1

    @property
    def leaves(self) -> int:
        """2^depth."""
        return int(2**self.depth)

    @cached_property
    def _columns(self) -> IntArray:
        return np.array([split.column for split in self.splits], dtype=np.intp)

    @cached_property
    def _right(self) -> npt.NDArray[np.bool_]:
        """Which codes go right, shape (nodes, widest)."""
        widest = 1 + max((max(split.right, default=0) for split in self.splits), default=0)
        table = np.zeros((len(self.splits), widest + 1), dtype=np.bool_)
        for number, split in enumerate(self.splits):
            table[number, list(split.right)] = True
        return table

    def leaf(self, codes: CodeArray) -> IntArray:
        """The leaf of every record, shape (n,), in [0, leaves). codes: shape (columns, n)."""
        records, node = np.arange(codes.shape[1]), np.zeros(codes.shape[1], dtype=np.intp)
        for _ in range(self.depth):
            # Codes beyond the table go left, as no split names them.
            code = np.minimum(codes[self._columns[node], records], self._right.shape[1] - 1)
            node = 2 * node + 1 + self._right[node, code]
        return node - len(self.splits)

    def as_record(self) -> list[list[object]]:
        """For JSON: [column, codes that go right] per inner node."""
        return [[split.column, list(split.right)] for split in self.splits]

    @staticmethod
    def from_record(record: Sequence[Sequence[object]], schema: Schema) -> "CompleteTree":
        """The inverse of `as_record`. Raises ValueError for a split that the schema has no column or code for."""
        splits = []
        for column, right in record:
            split = CodeSplit(int(cast("int", column)), tuple(int(code) for code in cast("Sequence[int]", right)))
            if not 0 <= split.column < len(schema.columns):
                raise ValueError(f"{split} does not fit a schema of {len(schema.columns)} columns")
            if any(not 0 <= code < schema.columns[split.column].cells for code in split.right):
                raise ValueError(f"{split} does not fit column {schema.columns[split.column].name!r}")
            splits.append(split)
        return CompleteTree(tuple(splits))


def random_tree(schema: Schema, depth: int, generator: np.random.Generator) -> CompleteTree:
    """A tree drawn without data, like an extremely randomised one: every split cuts what can still reach its node.

    The column is uniform among those of which at least two codes reach the node; numbers are cut at a uniform edge,
    categories parted by fair coins that do not all agree. A node where nothing is left to cut sends everybody left.
    generator: of public randomness; the tree is public.
    """
    reach = {0: [np.arange(column.cells) for column in schema.columns]}
    splits: list[CodeSplit] = []
    for node in range(2**depth - 1):
        codes = reach.pop(node)
        split = _random_split(schema, codes, generator)
        splits.append(split)
        gone = np.isin(codes[split.column], split.right)
        reach[2 * node + 1] = _with(codes, split.column, codes[split.column][~gone])
        reach[2 * node + 2] = _with(codes, split.column, codes[split.column][gone])
    return CompleteTree(tuple(splits))


def _with(codes: list[IntArray], column: int, kept: IntArray) -> list[IntArray]:
    return [kept if number == column else old for number, old in enumerate(codes)]


def _random_split(schema: Schema, codes: list[IntArray], generator: np.random.Generator) -> CodeSplit:
    # Nothing reaches a node where some column has no code left.
    open_columns = [number for number, left in enumerate(codes) if left.size >= 2]
    if not open_columns or min(left.size for left in codes) == 0:
        return CodeSplit(0, ())
    column = int(generator.choice(open_columns))
    left = codes[column]
    if not isinstance(schema.columns[column], Categorical):
        return CodeSplit(column, tuple(left[int(generator.integers(1, left.size)) :].tolist()))
    coins = generator.integers(0, 2, size=left.size)
    while coins.min() == coins.max():
        coins = generator.integers(0, 2, size=left.size)
    return CodeSplit(column, tuple(left[coins == 1].tolist()))
