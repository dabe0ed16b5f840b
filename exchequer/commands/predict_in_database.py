"""What `exchequer predict` does where records are in a database: a model's SQL answers there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from exchequer.console import output
from exchequer.console.table_databases import TableAddress, failing
from learners import predict_in_database, write_predictions
from learners.base import PrivateEstimator
from learners.databases import NotInSql
from learners.tables import DictionaryColumn, Values, is_missing

if TYPE_CHECKING:
    from learners import SqlTable

Estimator = PrivateEstimator[Any, Any]


def write(model: Estimator, data: TableAddress, into: str, keys: Sequence[str], *, keep_refused: bool) -> int:
    """To a new table of the database; how many records it has. Raises ValueError."""
    with failing():
        return write_predictions(model, _table(data, keys), into, keys, refused=_how(keep_refused))


def inside(
    model: Estimator, data: TableAddress, keys: Sequence[str], *, proba: bool, keep_refused: bool
) -> Iterator[dict[str, list[str]]] | None:
    """Columns of the CSV, block by block; None, and a note, where the database cannot say them. Raises ValueError."""
    try:
        blocks = predict_in_database(model, _table(data, keys), keys, refused=_how(keep_refused))
    except NotInSql as error:
        if keep_refused:
            raise
        output.note(f"records are fetched from the database, as {str(error).partition('. ')[0]}")
        return None
    return _texts_of(blocks, len(keys), proba)


def _texts_of(blocks: Iterator[dict[str, Values]], keys: int, proba: bool) -> Iterator[dict[str, list[str]]]:
    with failing():
        for block in blocks:
            kept = list(block)[:keys]
            yield {
                name: texts(values)
                for name, values in block.items()
                if proba or name in kept or not name.startswith("share ")
            }


def _table(data: TableAddress, keys: Sequence[str]) -> "SqlTable":
    table = data.opened("stay")
    if strange := [name for name in keys if name not in table.names]:
        raise ValueError(f"--key: no columns {strange}; its columns are {table.names}")
    return table


def _how(keep_refused: bool) -> Literal["raise", "keep"]:
    return "keep" if keep_refused else "raise"


def texts(values: "Values | DictionaryColumn") -> list[str]:
    """As a CSV has them: "" for a missing value, of a double the shortest text that is read as the same."""
    boxed = values.boxed() if isinstance(values, DictionaryColumn) else np.asarray(values)
    return ["" if is_missing(each) else str(each) for each in boxed.tolist()]


def beside(kept: Mapping[str, list[str]], answers: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Columns that are kept, and answers, with a _ where a name is taken."""
    found = dict(kept)
    for name, values in answers.items():
        while name in found:
            name += "_"
        found[name] = values
    return found
