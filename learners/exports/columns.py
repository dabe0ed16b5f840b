"""Columns of a public schema as back ends read them, and tables by their codes as steps of their places."""

import contextlib
import math
from collections.abc import Iterator
from typing import Final, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, IntArray
from learners.exports.portable_model import (
    Branch,
    Input,
    Leaf,
    LookUp,
    Moments,
    Names,
    NotPortable,
    Numbers,
    Reading,
    Steps,
    Truths,
    of_outputs,
)
from learners.tables import Boolean, Categorical, Column, Date, Integer, Numeric, Ordered, OutsideSchema, Schema

NEVER: Final = "\x00no category is called so"
"""A text that stands for every other one."""

GAPS: Final = ("", "nan", "None", "<NA>", "NaT")
"""Texts that may stand for a missing value; a column is asked whether they do."""


def inputs_of(schema: Schema) -> tuple[Input, ...]:
    """All of its columns, in order. Raises NotPortable.

    An export says what `predict` says, or refuses: text that an engine does not read as Python does.
    """
    return tuple(Input(column.name, _reading(column)) for column in schema.columns)


def numbers_as_they_are(names: tuple[str, ...]) -> tuple[Input, ...]:
    """Columns of any finite numbers."""
    most = float(np.finfo(np.float64).max)
    return tuple(Input(name, Numbers(-most, most)) for name in names)


def _reading(column: Column) -> Reading:
    kind = type(column)  # and not what is derived from it, which may read otherwise
    if kind in (Numeric, Integer):
        return _numbers(cast("Numeric", column), whole=kind is Integer)
    if kind is Date:
        date = cast("Date", column)
        return Moments(_numbers(date), date.form)
    if kind is Boolean and cast("Boolean", column).other is None:
        missing = cast("Boolean", column).missing
        return Truths(None if missing is None else int(missing))
    if kind in (Categorical, Ordered):
        return _names(cast("Categorical | Ordered", column))
    why = "whose `other` takes anything for a truth value" if kind is Boolean else "which is no kind of ours"
    raise NotPortable(f"column {column.name!r} is a {kind.__name__} {why}, and is not exported")


def _numbers(column: Numeric, *, whole: bool = False) -> Numbers:
    fill = None if column.own_cell or column.missing is None else float(cast("float", column.missing))
    others = column.other is not None
    return Numbers(column.lower, column.upper, column.outside == "clip", fill, column.own_cell, others, whole)


def _names(column: Categorical | Ordered) -> Names:
    texts = dict.fromkeys(text for name in column.categories for text in _spellings(name))
    codes = {text: code for text in (*texts, *GAPS) if (code := _code(column, text)) is not None}
    return Names(codes, column.cells, _code(column, None), _code(column, NEVER))


def _code(column: Categorical | Ordered, value: object) -> int | None:
    with contextlib.suppress(OutsideSchema):
        return int(column.codes(np.array([value], dtype=object))[0])
    return None


def _spellings(name: str) -> Iterator[str]:
    """How the category may be written; which of them are it, the column says itself."""
    yield name
    number = {"True": 1.0, "False": 0.0}.get(name, math.nan)
    with contextlib.suppress(ValueError):
        number = float(name)
    if math.isfinite(number) and number.is_integer():
        yield from (str(int(number)), f"{int(number)}.0", repr(number))
        yield from {1.0: ("True",), 0.0: ("False", "-0.0")}.get(number, ())


def _has_bounds(column: Column) -> TypeGuard[Numeric]:
    """Whether its places are numbers; those of categories, in order or not, are their codes."""
    return isinstance(column, Numeric) and not isinstance(column, Ordered)


def steps_of(schema: Schema, number: int, cells: IntArray) -> Steps:
    """The steps between cells. cells: of each code of the column, each as the one before or the next; in order."""
    column = schema.columns[number]
    if not _has_bounds(column):
        return Steps(number, tuple(float(code) for code in np.flatnonzero(np.diff(cells)) + 1))
    bins = cells[: column.bin_number]
    cuts = column.edges[1:-1][np.flatnonzero(np.diff(bins))]
    return Steps(number, tuple(cuts.tolist()), column.own_cell)


def by_code(schema: Schema, number: int, values: FloatArray) -> LookUp:
    """A table with a value for each code of a column, shape (codes,); neighbours that are alike are one cell."""
    steps, firsts = _merged(schema, number, values)
    return LookUp((steps,), of_outputs(values[firsts]))


def branch(
    schema: Schema, number: int, members: npt.NDArray[np.bool_], no: Leaf | Branch, yes: Leaf | Branch
) -> Branch:
    """To `yes` where a record's code is a member. members: shape (codes,)."""
    steps, firsts = _merged(schema, number, members.astype(np.float64))
    return Branch(steps, tuple(members[firsts].tolist()), no, yes)


def _merged(schema: Schema, number: int, values: FloatArray) -> tuple[Steps, IntArray]:
    """Cells of codes in a row with equal values, and the first code of each."""
    changes = np.diff(values) != 0.0
    column = schema.columns[number]
    if _has_bounds(column) and column.own_cell:
        changes[-1] = True  # missing values share no cell with numbers
    cells = np.concatenate([[0], np.cumsum(changes)]).astype(np.intp)
    return steps_of(schema, number, cells), np.concatenate([[0], np.flatnonzero(changes) + 1]).astype(np.intp)
