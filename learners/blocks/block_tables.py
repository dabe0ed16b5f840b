"""Tables in blocks: what `fit` takes in the place of a table that one process could not hold."""

from typing import Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from learners.tables import DictionaryColumn, Table, Values, input_names, label_values, refuse_no_labels, with_dask
from mechanisms.core import MemoryRows, Rows, SealedRepr

T = TypeVar("T")


@attrs.frozen(eq=False, repr=False)
class TableBlock(SealedRepr):
    """Some records as they came. table: them, as `fit` takes them.  labels: shape (n,)."""

    table: Table
    labels: npt.ArrayLike


@runtime_checkable
class BlockTable(Protocol):
    """A table whose records are somewhere else, and are looked at block by block.

    y: what `fit` is given as labels: the name of one of the columns, or whatever else the table says.
    """

    def block_header(self, y: object) -> Table:
        """A table of no records with the same columns but for the label's; no record is looked at."""

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """Its records. Raises ValueError for labels that it does not have."""


AnyTable: TypeAlias = Table | BlockTable
"""What `fit` takes: a table in memory, or one in blocks."""


def in_blocks(table: AnyTable) -> BlockTable | None:
    """The table, where it is in blocks; collections of Dask are."""
    if isinstance(table, BlockTable) and hasattr(type(table), "block_rows"):  # and no DataFrame with such columns
        return table
    if not with_dask(table):
        return None
    try:
        from learners.blocks.dask import DaskTable
    except ImportError as error:  # of a part of Dask, as the table is from another
        raise ImportError("collections of Dask need the extra `dask`: pip install 'exchequer[dask]'") from error

    return DaskTable(table)


@attrs.frozen(eq=False, repr=False)
class Source(SealedRepr):
    """What `fit` was given, wherever the records are.

    header: a table with the same columns, of no records where it is in blocks: for whatever looks at columns alone.
    rows: the records, in memory in one block.  labels: of all of them, None where they are in blocks.
    """

    header: Table
    rows: Rows[TableBlock]
    labels: npt.ArrayLike | None

    @staticmethod
    def of(table: AnyTable, y: object) -> "Source":
        """y: see `BlockTable`. Raises ValueError for labels that cannot be read."""
        found = in_blocks(table)
        if found is not None:
            return Source(found.block_header(y), found.block_rows(y), None)
        plain, given = cast("Table", table), cast("npt.ArrayLike", y)
        refuse_no_labels(given)
        labels = label_values(given)
        return Source(plain, MemoryRows.of(TableBlock(plain, labels), labels.size), given)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of its columns, None where they have none; no record is looked at."""
        names = input_names(self.header)
        return None if names is None else tuple(names)


def plain_labels(labels: Values | DictionaryColumn) -> Values:
    """As an array, shape (n,); of strings of one length where none is missing: 10 times as fast as objects."""
    if not isinstance(labels, DictionaryColumn):
        return labels
    texts = labels.values.tolist()
    if np.any(labels.numbers < 0) or not all(type(text) is str and not text.endswith("\0") for text in texts):
        return labels.boxed()
    return np.asarray(texts, dtype=np.str_)[labels.numbers]
