"""What of a column a schema would refuse, and what it takes for something else; every value, not the first only."""

import heapq
from collections import Counter
from collections.abc import Iterable, Set
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from learners.kinds import (
    MISSING_TEXTS,
    Boolean,
    Categorical,
    Column,
    Date,
    Integer,
    Numeric,
    Ordered,
    category_name,
    distinct,
    elements,
    gaps,
    other_names,
)
from learners.kinds import OutsideSchema as Refused
from learners.tables import DictionaryColumn, Label, NumberLabel, Values, label_texts

SHOWN: Final = 5
"""Values of a kind that are named."""

KEPT: Final = 10_000
"""Distinct values of a finding that are counted apart."""


@attrs.frozen
class Seen:
    """Some values of a column that have the same fault. values: which, shape (k,), for people.  first: its place."""

    column: str
    what: str
    refused: bool
    remedy: str
    values: npt.NDArray[np.object_]
    first: int


@attrs.frozen
class Finding:
    """A fault of a column, in all records. which: values, the most frequent first, with how often.  first: a record."""

    column: str
    what: str
    refused: bool
    remedy: str
    records: int
    which: str
    first: int

    @property
    def unread(self) -> bool:
        """Whether these values say nothing that the column has a place for."""
        return self.what in UNREAD


UNREAD: Final = ("no date", "no number", "not among its categories")


class Findings:
    """Adds up what is found in blocks."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, bool, str], tuple[Counter[str], int, int]] = {}

    def add(self, seen: Iterable[Seen], before: int) -> None:
        """Of some records more. before: how many there were."""
        for each in seen:
            key = (each.column, each.what, each.refused, each.remedy)
            counts, records, first = self._found.get(key, (Counter[str](), 0, before + each.first))
            if len(counts) < KEPT:
                counts.update(map(str, each.values.tolist()))
            self._found[key] = (counts, records + each.values.size, first)

    def all(self) -> tuple[Finding, ...]:
        """In the order in which they were found."""
        return tuple(
            Finding(*key, records, _which(counts), first) for key, (counts, records, first) in self._found.items()
        )


def _which(counts: Counter[str]) -> str:
    most = heapq.nlargest(SHOWN, counts.items(), key=lambda item: item[1])
    said = [f"{text!r}" + (f" ({number})" if number > 1 else "") for text, number in most]
    return ", ".join(said) + (f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else "")


def column_findings(column: Column, given: Values | DictionaryColumn) -> list[Seen]:
    """All of one block."""
    values = given.boxed() if isinstance(given, DictionaryColumn) else given
    found = _Found(column.name, values)
    if isinstance(column, Numeric):
        _of_numbers(column, found)
    elif isinstance(column, Categorical):
        _of_categories(column, found)
    else:
        _of_truth(column, found)
    return found.seen


@attrs.define
class _Found:
    """What is found in some values of a column."""

    column: str
    values: Values
    seen: list[Seen] = attrs.field(factory=list)

    def note(self, mask: npt.NDArray[np.bool_], what: str, remedy: str, *, refused: bool) -> None:
        """Where there is any. mask: which values, shape (n,)."""
        places = np.flatnonzero(mask)
        if places.size:
            which = np.array(self.values[places].tolist(), dtype=object)
            self.seen.append(Seen(self.column, what, refused, remedy, which, int(places[0])))


def _of_numbers(column: Numeric, found: _Found) -> None:
    missing = gaps(found.values)
    numbers = _loose_numbers(column, found.values)
    unread = np.isnan(numbers) & ~missing
    cell = "a cell of their own" if column.own_cell else f"{column.missing!r}"
    remedy = 'missing = "own" gives them a cell of their own; or a public number that they count as'
    found.note(missing, "missing", remedy if column.missing is None else cell, refused=column.missing is None)
    what = (
        "no date"
        if isinstance(column, Date)
        else "not among its categories"
        if isinstance(column, Ordered)
        else "no number"
    )
    if column.other is None:
        listed = isinstance(column, Ordered)
        remedy = "add them, or name a category in `other`" if listed else 'other = "missing", with `missing`'
        found.note(unread, what, remedy if not isinstance(column, Date) else f"{remedy}; or `form`", refused=True)
    else:
        found.note(unread, what, f"missing: {cell}" if column.other == "missing" else str(column.other), refused=False)
    if isinstance(column, Ordered):
        return
    with np.errstate(invalid="ignore"):
        fractions = np.isfinite(numbers) & (numbers != np.floor(numbers))
        if isinstance(column, Integer):
            found.note(fractions, "no whole number", 'kind = "numeric" takes fractions', refused=True)
        infinite = np.isinf(numbers)
        found.note(infinite, "infinite", "leave these records out, or make the value missing", refused=True)
        beyond = (
            ~infinite
            & ~(fractions & isinstance(column, Integer))
            & ((numbers < column.lower) | (numbers > column.upper))
        )
    clips, bounds = column.outside == "clip", f"{column.said(column.lower)} to {column.said(column.upper)}"
    remedy = (
        "the nearest bound" if clips else 'outside = "clip" takes them for the nearest bound; or wider public bounds'
    )
    found.note(beyond, f"outside {bounds}", remedy, refused=not clips)


def _loose_numbers(column: Numeric, values: Values) -> npt.NDArray[np.float64]:
    """With NaN for whatever is no number, or no date."""
    if values.dtype.kind in "mM" and not isinstance(column, Date):
        return np.full(values.size, np.nan)
    if isinstance(column, Ordered):
        loose: Numeric = Ordered(column.name, column.categories, missing="own", other="missing")
        return loose.numbers(values)
    if isinstance(column, Date):
        return attrs.evolve(column, missing="own", other="missing").numbers(values)
    return Numeric(column.name, column.lower, column.upper, missing="own", other="missing").numbers(values)


def _of_categories(column: Categorical, found: _Found) -> None:
    each = distinct(found.values)
    listed = set(column.categories)
    kinds = [_category(listed, value) for value in elements(each.values)]
    places = each.spread(np.arange(each.values.size))
    for what in ("missing", "unlisted"):
        mask = np.array([kind == what for kind in kinds], dtype=np.bool_)[places]
        role = column.missing if what == "missing" else column.other
        remedy = (
            'missing = "own", or a category'
            if what == "missing"
            else 'add them where they are public; other = "own" takes the rest'
        )
        found.note(
            mask,
            "missing" if what == "missing" else "not among its categories",
            remedy if role is None else role,
            refused=role is None,
        )


def _category(listed: Set[str], value: object) -> str:
    """listed, unlisted or missing; as `Categorical.codes` has it, which names one value only."""
    try:
        name = category_name(value)
    except Refused:
        return "unlisted"
    if name is None:
        return "missing" if listed.isdisjoint(MISSING_TEXTS) else "listed"
    if name in listed or not listed.isdisjoint(other_names(name)):
        return "listed"
    return "missing" if name in MISSING_TEXTS else "unlisted"


def _of_truth(column: Boolean, found: _Found) -> None:
    each = distinct(found.values)
    places = each.spread(np.arange(each.values.size))
    plain = attrs.evolve(column, missing=None, other=None)
    refused = np.array([_refuses(plain, value) for value in elements(each.values)], dtype=np.bool_)
    missing = gaps(found.values)
    wrong = refused[places] if refused.size else np.zeros(0, dtype=np.bool_)
    remedy = 'a categorical column has a place for them: missing = "own"; or missing = false counts them as false'
    said = remedy if column.missing is None else str(column.missing).lower()
    found.note(missing, "missing", said, refused=column.missing is None)
    remedy = "a categorical column lists them; or other = false counts them as false"
    said = remedy if column.other is None else str(column.other).lower()
    found.note(wrong & ~missing, "neither true nor false", said, refused=column.other is None)


def _refuses(column: Boolean, value: object) -> bool:
    try:
        column.codes(np.array([value], dtype=object))
    except Refused:
        return True
    return False


def label_findings(label: Label | NumberLabel, given: Values | DictionaryColumn) -> list[Seen]:
    """Of the label's column: what is no class, or no number; records without a label are refused."""
    texts = label_texts(given)
    found = _Found(label.name, texts)
    missing = gaps(texts)
    found.note(missing, "label missing", "leave these records out", refused=True)
    if isinstance(label, Label):
        unknown = ~missing & ~np.isin(texts.astype(np.str_), label.classes)
        found.note(unknown, "label of no class", f"the classes are {', '.join(label.classes)}", refused=True)
        return found.seen
    numbers = _loose_numbers(Numeric(label.name, label.lower, label.upper), texts)
    found.note(~missing & ~np.isfinite(numbers), "label no number", "leave these records out", refused=True)
    with np.errstate(invalid="ignore"):
        beyond = np.isfinite(numbers) & ((numbers < label.lower) | (numbers > label.upper))
    found.note(beyond, f"label outside {label.lower:g} to {label.upper:g}", "the nearest bound", refused=False)
    return found.seen
