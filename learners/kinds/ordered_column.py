"""Columns of categories in order: grades, answers from never to always."""

from collections.abc import Mapping
from typing import Literal, cast

import attrs
import numpy as np
import numpy.typing as npt

from learners.kinds.categorical_column import distinct_texts
from learners.kinds.category_names import MISSING_TEXTS, category_name, elements, other_names
from learners.kinds.column_checks import SchemaError, named
from learners.kinds.distinct_values import distinct
from learners.kinds.numeric_column import OWN, Missing, Numeric
from learners.kinds.single_values import OutsideSchema, RowOf, Values, same_row


def _missing(value: str | float | None) -> Missing:
    """As it is: which categories there are is known later."""
    return cast("Missing", value)


@attrs.frozen
class Ordered(Numeric):
    """A column of categories from the least to the greatest; learners get their places, 0 for the first.

    categories: all of them, in order.  encoding: "one-hot" gives a feature per category, "thresholds" one per category
      but the first (at least that).
    missing: "own" gives records without a value a cell of their own; a category is what they count as; None refuses.
    other: the category that unlisted values count as, or "missing"; None refuses them.
    """

    name: str = attrs.field(converter=named)
    categories: tuple[str, ...] = attrs.field(converter=distinct_texts)
    encoding: Literal["one-hot", "thresholds"] = "one-hot"
    missing: Missing = attrs.field(default=None, converter=_missing)
    other: str | None = None  # type: ignore[assignment]  # any category stands for others here
    lower: float = attrs.field(default=0.0, init=False)
    upper: float = attrs.field(default=0.0, init=False)
    bins: int = attrs.field(default=2, init=False)
    cuts: tuple[float, ...] = attrs.field(default=(), init=False)
    outside: Literal["error", "clip"] = attrs.field(default="error", init=False)

    def __attrs_post_init__(self) -> None:
        places = {category: place for place, category in enumerate(self.categories)}
        if isinstance(self.missing, str) and self.missing != OWN:
            if self.missing not in places:
                raise SchemaError(f"column {self.name!r}: {self.missing!r} is not one of its categories, nor 'own'")
            object.__setattr__(self, "missing", float(places[self.missing]))
        last = len(places) - 1
        object.__setattr__(self, "upper", float(last))
        object.__setattr__(self, "cuts", tuple(np.arange(last) + 0.5))
        super().__attrs_post_init__()

    def _check_other(self) -> None:
        if self.other not in (None, "missing", *self.categories):
            raise SchemaError(f"column {self.name!r}: {self.other!r} is not one of its categories, nor 'missing'")
        if self.other == "missing" and self.missing is None:
            raise SchemaError(f"column {self.name!r}: other = 'missing' needs `missing`, which says what becomes of it")

    def interval(self, first: int, last: int) -> str:
        """The categories in cells from `first` to before `last`."""
        ends = self.categories[first], self.categories[last - 1]
        return ends[0] if first == last - 1 else f"{ends[0]} to {ends[1]}"

    def said(self, number: float) -> str:
        """The least category that is as great."""
        return self.categories[int(np.clip(np.ceil(number), 0, len(self.categories) - 1))]

    def numbers(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """The places of the values' categories, shape (n,), NaN where one is missing. Raises OutsideSchema."""
        places: dict[str, float] = {category: float(place) for place, category in enumerate(self.categories)}
        found = distinct(values)
        each = (self._place(category_name(value), places) for value in elements(found.values))
        numbers = np.fromiter(each, dtype=np.float64, count=found.values.size)[
            found.spread(np.arange(found.slots.size))
        ]
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            place = int(wrong[0])
            raise OutsideSchema(
                f"column {self.name!r}, row {row_of(place)}: {values[place : place + 1].tolist()[0]!r} is not one of "
                f"its {len(places)} categories; add it to the schema, or name a category in `other` to stand for it"
            )
        return numbers

    def _place(self, name: str | None, places: Mapping[str, float]) -> float:
        """NaN for a missing one; infinity for an unlisted one."""
        if name is None:
            return np.nan
        found = next((places[each] for each in (name, *other_names(name)) if each in places), None)
        if found is not None:
            return found
        if name in MISSING_TEXTS or self.other == "missing":
            return np.nan
        return np.inf if self.other is None else places[self.other]
