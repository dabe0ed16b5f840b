"""Which pairs of data sets are neighbours. A guarantee means nothing without one."""

from collections.abc import Mapping
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


Adjacency: TypeAlias = ReplaceOne | AddRemoveOne | FeatureValue


def adjacency_record(adjacency: Adjacency) -> dict[str, str | int]:
    """The adjacency as it stands in the books."""
    return {"name": adjacency.name, **attrs.asdict(adjacency)}


def adjacency_from_record(record: Mapping[str, object]) -> Adjacency:
    """The adjacency that `adjacency_record` wrote down. Raises ValueError for an unknown one."""
    match dict(record):
        case {"name": ReplaceOne.name, **rest} if not rest:
            return ReplaceOne()
        case {"name": AddRemoveOne.name, **rest} if not rest:
            return AddRemoveOne()
        case {"name": FeatureValue.name, "column": int(column), **rest} if not rest:
            return FeatureValue(column)
        case _:
            raise ValueError(f"unknown adjacency {dict(record)!r}")
