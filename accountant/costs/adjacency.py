"""Which pairs of data sets are neighbours. A guarantee means nothing without one."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

import attrs


@attrs.frozen
class ReplaceOne:
    """One record is replaced by another; the number of records n is public. The papers' relation."""

    name: ClassVar[str] = "replace-one"

    def __str__(self) -> str:
        return "replace-one (one record replaced, n public)"


@attrs.frozen
class AddRemoveOne:
    """One record is added or removed; the number of records is protected."""

    name: ClassVar[str] = "add-remove-one"

    def __str__(self) -> str:
        return "add-remove-one (one record added or removed)"


def _column(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"expected a column number of at least 0, got {value!r}")
    return value


@attrs.frozen
class FeatureValue:
    """One entry of one column is changed; everything else is public to the adversary.

    column: the zero-based number of the sensitive column.
    """

    name: ClassVar[str] = "feature-value"
    column: int = attrs.field(converter=_column)

    def __str__(self) -> str:
        return f"feature-value (one entry of column {self.column} changed)"


def _columns(value: Sequence[int]) -> tuple[int, ...]:
    columns = tuple(sorted({_column(each) for each in value}))
    if len(columns) < 2 or len(columns) != len(value):
        raise ValueError(f"expected two different columns or more, got {value!r}; FeatureValue is for one")
    return columns


@attrs.frozen
class FeatureValues:
    """The entries of one record in several columns are changed, all at once; all else is public to the adversary.

    columns: the zero-based numbers of the sensitive columns, two or more; kept in rising order.
    """

    name: ClassVar[str] = "feature-values"
    columns: tuple[int, ...] = attrs.field(converter=_columns)

    def __str__(self) -> str:
        return f"feature-values (one record's entries of columns {', '.join(map(str, self.columns))} changed)"


Adjacency: TypeAlias = ReplaceOne | AddRemoveOne | FeatureValue | FeatureValues


def feature_adjacency(columns: Sequence[int]) -> FeatureValue | FeatureValues:
    """The relation that protects these columns of a record, all at once. Raises ValueError for none, or one twice."""
    return FeatureValue(columns[0]) if len(columns) == 1 else FeatureValues(tuple(columns))


def adjacency_record(adjacency: Adjacency) -> dict[str, object]:
    """The adjacency as it stands in the ledger."""
    return {"name": adjacency.name, **{name: _plain(value) for name, value in attrs.asdict(adjacency).items()}}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value  # as it comes back from JSON


def adjacency_from_record(record: Mapping[str, object]) -> Adjacency:
    """The adjacency that `adjacency_record` wrote down. Raises ValueError for an unknown one."""
    match dict(record):
        case {"name": ReplaceOne.name, **rest} if not rest:
            return ReplaceOne()
        case {"name": AddRemoveOne.name, **rest} if not rest:
            return AddRemoveOne()
        case {"name": FeatureValue.name, "column": int(column), **rest} if not rest:
            return FeatureValue(column)
        case {"name": FeatureValues.name, "columns": list(columns), **rest} if not rest:
            return FeatureValues(columns)
        case _:
            raise ValueError(f"unknown adjacency {dict(record)!r}")
