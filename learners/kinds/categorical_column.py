"""Columns of categories: a public list, and what stands for missing and for unlisted values."""

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from accountant.arrays import IntArray
from learners.kinds.category_names import MISSING_TEXTS, category_name, elements, other_names
from learners.kinds.column_checks import SchemaError, named
from learners.kinds.distinct_values import distinct
from learners.kinds.single_values import OutsideSchema, RowOf, Values, same_row


def distinct_texts(values: Sequence[str]) -> tuple[str, ...]:
    """Categories. Raises SchemaError."""
    names = tuple(str(value).strip() for value in values)
    if not isinstance(values, list | tuple) or len(set(names)) != len(names) or len(names) < 2:
        raise SchemaError(f"expected a list of at least two distinct values, got {values!r}")
    return names


@attrs.frozen
class Categorical:
    """A column with a closed list of categories; one one-hot feature each.

    missing: the category of records without a value (None, NaN, NaT, pandas' NA), and of text that says so and is no
      category itself; without it they are refused, unless a category is called so.
    other: the category that unlisted values stand for; without it they are refused.
    """

    name: str = attrs.field(converter=named)
    categories: tuple[str, ...] = attrs.field(converter=distinct_texts)
    missing: str | None = None
    other: str | None = None

    def __attrs_post_init__(self) -> None:
        for role in (self.missing, self.other):
            if role is not None and role not in self.categories:
                raise SchemaError(f"column {self.name!r}: {role!r} is not one of its categories")

    @property
    def cells(self) -> int:
        """The number of codes."""
        return len(self.categories)

    @property
    def cumulative(self) -> bool:
        """Categories have no order."""
        return False

    def values(self) -> list[str]:
        """What each feature says of the column."""
        return list(self.categories)

    def codes(self, values: Values, row_of: RowOf = same_row) -> IntArray:
        """Category numbers, shape (n,). row_of: for messages. Raises OutsideSchema. [records-alone]

        A value's code follows from what it is called, see `learners.kinds.category_names`, and from nothing else.
        """
        found = distinct(values)
        known = {category: code for code, category in enumerate(self.categories)}
        table, refused = np.zeros(found.values.size, dtype=np.intp), dict[int, str]()
        for number, value in enumerate(elements(found.values)):
            try:
                table[number] = self._code(category_name(value), known)
            except OutsideSchema as error:
                refused[number] = str(error)
        if refused:
            numbers = found.spread(np.arange(table.size))
            row = int(np.flatnonzero(np.isin(numbers, list(refused)))[0])
            raise OutsideSchema(f"column {self.name!r}, row {row_of(row)}: {refused[int(numbers[row])]}")
        return found.spread(table)

    def _code(self, name: str | None, known: Mapping[str, int]) -> int:
        """The category of a value that is called so; None is a missing one. Raises OutsideSchema."""
        if name is None:
            names, last = [], self.missing
        else:
            names, last = [name, *other_names(name)], self.missing if name in MISSING_TEXTS else self.other
        names += [last] if last is not None else []
        names += MISSING_TEXTS if name is None else ()  # whichever of these a library says
        code = next((known[each] for each in names if each in known), None)
        if code is None:
            raise OutsideSchema(
                f"{name!r} is not one of its {self.cells} categories; add it to the schema, or name a category in "
                "`other` (or `missing`) to stand for it"
            )
        return code
