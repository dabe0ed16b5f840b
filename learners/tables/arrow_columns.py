"""Columns of Arrow as arrays: a missing value changes nothing about the others. [records-alone]"""

import sys
from typing import Any, cast

import numpy as np

from learners.kinds import Values
from learners.tables.dictionary_columns import DictionaryColumn, together


def of_arrow(column: Any) -> Values | DictionaryColumn:
    """An Array or a ChunkedArray, shape (n,), with NaN, NaT or None where a value is missing.

    Dictionaries stay, and integers become one where one of them is missing: as floats, large ones would change.
    """
    arrow = sys.modules["pyarrow"]  # whoever made the column has it
    if not isinstance(column, arrow.ChunkedArray):
        column = arrow.chunked_array([column])
    if arrow.types.is_integer(column.type) and column.null_count:
        column = column.dictionary_encode()
    if not arrow.types.is_dictionary(column.type):
        return cast("Values", column.to_numpy())
    if any(chunk.dictionary.null_count for chunk in column.chunks):
        return together([_of_dictionary(arrow, chunk) for chunk in column.chunks])
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, arrow.ChunkedArray):  # as it is where there was none, or too much for one
        whole = arrow.concat_arrays(whole.chunks) if whole.num_chunks else arrow.array([], whole.type)
    return _of_dictionary(arrow, whole)


def _of_dictionary(arrow: Any, array: Any) -> DictionaryColumn:
    """Numbers below 0 where a value is missing, or is a null among the dictionary's values: one like any other."""
    indices = array.indices if arrow.types.is_signed_integer(array.indices.type) else array.indices.cast(arrow.int64())
    numbers = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    there = array.dictionary.is_valid().to_numpy(zero_copy_only=False)
    if not there.all():
        places = np.where(there, np.cumsum(there) - 1, -1)
        numbers = np.append(places, -1)[numbers]  # which number -1 stands for
    return DictionaryColumn(numbers, array.dictionary.drop_null().to_numpy(zero_copy_only=False))


def column_names(table: object) -> list[str] | None:
    """Of a table or a batch of Arrow; None for anything else."""
    if type(table).__module__.partition(".")[0] != "pyarrow" or not hasattr(table, "column_names"):
        return None
    return [str(name) for name in cast("Any", table).column_names]
