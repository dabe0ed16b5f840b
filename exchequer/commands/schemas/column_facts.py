"""What is known of a column before a schema is written: its type, and its domain where something public says it."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import attrs

from exchequer.console.input_errors import checked

Type: TypeAlias = Literal["number", "integer", "date", "boolean", "text", "ordered", "ignored"]

MOST_CATEGORIES: Final = 100
"""Values of a column of text up to which they are listed; with more it is likely to be free text."""

MOST_CELLS: Final = 64
"""Whole numbers between two bounds up to which each gets a cell of its own."""


@attrs.frozen
class ColumnFacts:
    """type: None where nothing says it.  form: how dates are written, None for ISO 8601.

    lower, upper: public bounds as a schema file says them, texts for dates.  categories: all of them, in order.
    unit, said: for people.  source: where bounds and categories are from.  typed: where the type is from.
    label: whether it is said to be the label.  commas: whether most values are text, and numbers with a decimal comma.
    """

    name: str
    type: Type | None = None
    form: str | None = None
    lower: float | str | None = None
    upper: float | str | None = None
    categories: tuple[str, ...] = ()
    unit: str = ""
    said: str = ""
    source: str = ""
    typed: str = ""
    label: bool = False
    commas: bool = False

    def over(self, other: "ColumnFacts | None") -> "ColumnFacts":
        """These facts, with what they lack from another source."""
        if other is None:
            return self
        own_domain = self.lower is not None or self.upper is not None or bool(self.categories)
        same = self.type in (None, other.type)
        found = attrs.evolve(
            self,
            type=self.type or other.type,
            typed=self.typed if self.type else other.typed,
            form=self.form or (other.form if same else None),
            unit=self.unit or other.unit,
            said=self.said or other.said,
            label=self.label or other.label,
        )
        if own_domain:
            return found
        return attrs.evolve(
            found, lower=other.lower, upper=other.upper, categories=other.categories, source=other.source
        )


@attrs.frozen
class Price:
    """What all releases of a draft may cost together. epsilon: above 0.  delta: from 0; categories need more."""

    epsilon: float
    delta: float

    @staticmethod
    def checked(epsilon: float, delta: float) -> "Price":
        """As options say it. Raises ValueError naming the one that is wrong."""
        from accountant.costs import positive, probability_below_one  # here at last, as most drafts pay for nothing

        checked("--epsilon", positive, epsilon)
        checked("--delta", probability_below_one, delta)
        if not delta < 0.5:
            raise ValueError(f"--delta: {delta!r} promises nothing; use far less than 1/n, such as 1e-6")
        return Price(epsilon, delta)


def by_name(facts: Sequence[ColumnFacts]) -> dict[str, ColumnFacts]:
    """They by their columns' names."""
    return {each.name: each for each in facts}
