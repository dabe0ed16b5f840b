"""Tables as numbers: features within public bounds, centred and scaled by public or released numbers."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Final, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from learners.tables import (
    MISSING_CELL,
    Categorical,
    Column,
    Numeric,
    RowOf,
    Schema,
    Table,
    Values,
    each_value,
    number_table,
    schema_columns,
    table_names,
)

CONSTANT = "(constant)"

LEAST_SCALE: Final = 2.0**-500
"""Scales stay where their reciprocals are ordinary floats."""


@attrs.frozen(slots=False)
class Coding:
    """Which numbers a table becomes. Public.

    schema: with one, features lie in [−1, 1]: columns of numbers by their bounds, two values as −1 and 1, and of more
      categories one feature each. A column of numbers with a cell of its own for missing ones has a second feature, 1
      where the number is missing and −1 where not; the first is then 0, the middle of the bounds. Without a schema
      columns are numbers, and taken as they are.
    names: of the columns.  constant: whether a further feature is 1 for all.
    """

    schema: Schema | None
    names: tuple[str, ...]
    constant: bool

    @staticmethod
    def of(schema: Schema | None, table: Table, constant: bool) -> "Coding":
        """For tables like this one, of which only the names are looked at."""
        return Coding(schema, tuple(schema.names if schema is not None else table_names(table)), constant)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of each column's features. A column's first has the column's own number, as adjacency counts them."""
        groups, free = [], len(self.names)
        for number, column in enumerate(self.schema.columns if self.schema is not None else ()):
            extra = _width(column) - 1
            groups.append((number, *range(free, free + extra)))
            free += extra
        return tuple(groups) or tuple((number,) for number in range(len(self.names)))

    @property
    def one_hot(self) -> tuple[tuple[int, ...], ...]:
        """Those of columns of several categories: 1 in one of them, and −1 in the others."""
        columns = self.schema.columns if self.schema is not None else ()
        return tuple(group for group, column in zip(self.groups, columns, strict=False) if _several(column))

    @property
    def features(self) -> int:
        """d, the constant included."""
        return sum(map(len, self.groups)) + self.constant

    @property
    def variable(self) -> list[int]:
        """The features but for the constant."""
        return list(range(self.features - self.constant))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each feature is, in order."""
        names = [""] * (self.features - self.constant)
        for number, group in enumerate(self.groups):
            column = None if self.schema is None else self.schema.columns[number]
            several = column.categories if isinstance(column, Categorical) and len(group) > 1 else ["", MISSING_CELL]
            for feature, value in zip(group, several, strict=False):
                names[feature] = f"{self.names[number]}={value}" if value else self.names[number]
        return (*names, CONSTANT) if self.constant else tuple(names)

    def columns(self, wanted: Sequence[int | str], named: bool) -> tuple[int, ...]:
        """Numbers of columns given by name or, where the table has none (`named` is False), by number, in rising order.

        Raises ValueError for one that is not there, and for a number where there are names: it may mean a label, or a
        place in the table or in the schema, and then another column would be protected than was meant.
        """
        found = set()
        for each in wanted:
            if named and not isinstance(each, str):
                raise ValueError(f"the table names its columns, so name {each!r} too; they are {list(self.names)}")
            number = self.names.index(each) if isinstance(each, str) and each in self.names else each
            if isinstance(number, str | bool) or not 0 <= number < len(self.names):
                raise ValueError(f"there is no column {each!r}; the columns are {list(self.names)}")
            found.add(int(number))
        if len(found) != len(wanted):
            raise ValueError(f"a column is named twice in {list(wanted)}")
        return tuple(sorted(found))

    def encode(self, table: Table, reader: str) -> FloatArray:
        """Features, shape (n, d). reader: who asks, for messages. Raises as `learners.tables.readers.encode` does."""
        if self.schema is None:
            points = self._numbers(table, reader)
            return np.column_stack([points, np.ones(len(points))]) if self.constant else points.copy()  # the user's
        columns = schema_columns(table, self.schema, reader)
        features = np.ones((len(columns[0]), self.features))
        for column, group, values in zip(self.schema.columns, self.groups, columns, strict=True):
            features[:, group] = each_value(values, partial(_coded, column))
        return features

    def _numbers(self, table: Table, reader: str) -> FloatArray:
        points = number_table(table)
        if points.shape[1] != len(self.names):
            raise ValueError(
                f"X has {points.shape[1]} features, but {reader} is expecting {len(self.names)} features as input"
            )
        return points

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        schema = None if self.schema is None else self.schema.as_dict()
        return {"schema": schema, "names": list(self.names), "constant": self.constant}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "Coding":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        given, names = record["schema"], record["names"]
        schema = None if given is None else Schema.from_dict(cast("Mapping[str, object]", given))
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"names: expected a list of column names, got {names!r}")
        if schema is not None and schema.names != names:
            raise ValueError(f"the schema has the columns {schema.names}, the names are {names}")
        if not isinstance(record["constant"], bool):
            raise ValueError("constant: expected true or false")
        return Coding(schema, tuple(names), record["constant"])


def _several(column: Column) -> bool:
    return isinstance(column, Categorical) and len(column.categories) > 2


def _width(column: Column) -> int:
    if isinstance(column, Numeric):
        return 1 + column.own_cell
    return column.cells if _several(column) else 1


def _coded(column: Column, values: Values, row_of: RowOf) -> npt.NDArray[np.float64]:
    """One column's features, shape (n, width), in [−1, 1]. Raises OutsideSchema. [records-alone]"""
    if isinstance(column, Numeric):
        numbers = column.inside(values, row_of)
        middle, half = 0.5 * column.lower + 0.5 * column.upper, 0.5 * column.upper - 0.5 * column.lower
        scaled = np.clip((numbers - middle) / half, -1.0, 1.0)
        if not column.own_cell:
            return scaled[:, None]
        gaps = np.isnan(scaled)
        return np.column_stack([np.where(gaps, 0.0, scaled), np.where(gaps, 1.0, -1.0)])
    codes = column.codes(values, row_of)
    if _width(column) == 1:
        return np.asarray(2.0 * codes[:, None] - 1.0, dtype=np.float64)
    signs = np.full((codes.size, _width(column)), -1.0)
    signs[np.arange(codes.size), codes] = 1.0
    return signs


def _vector(value: npt.ArrayLike) -> FloatArray:
    vector = np.array(value, dtype=np.float64)
    if vector.ndim != 1 or not np.all(np.isfinite(vector)):
        raise ValueError(f"expected finite numbers, one for each feature, got shape {vector.shape}")
    return vector


@attrs.frozen(eq=False)
class Scaling:
    """(feature − centre)/scale, shape (d,) each; the scale is positive. Public or released."""

    centre: FloatArray = attrs.field(converter=_vector)
    scale: FloatArray = attrs.field(converter=_vector)

    def __attrs_post_init__(self) -> None:
        if self.centre.shape != self.scale.shape or not np.all(self.scale >= LEAST_SCALE):
            raise ValueError("expected as many centres as scales, and scales above 0, from 2^-500 on")

    @staticmethod
    def none(features: int) -> "Scaling":
        """Leaves them as they are."""
        return Scaling(np.zeros(features), np.ones(features))

    def within(self, features: int, places: Sequence[int]) -> "Scaling":
        """This one for some of the features, shape (features,); the others stay as they are."""
        whole = Scaling.none(features)
        whole.centre[list(places)], whole.scale[list(places)] = self.centre, self.scale
        return whole

    def apply(self, values: FloatArray) -> FloatArray:
        """values: shape (n, d)."""
        scaled = values - self.centre
        scaled /= self.scale
        return scaled
