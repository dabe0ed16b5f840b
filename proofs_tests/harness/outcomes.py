"""Outputs of any kind as rows of numbers: equal outputs get equal rows, and different ones different rows.

Numbers, arrays, texts, and whatever is made of them: lists, dictionaries, sets, tuples, attrs classes, dataclasses and
pandas' tables. Numbers that are written in texts, as in JSON, are looked at as numbers too.
"""

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import numpy as np

from accountant.arrays import FloatArray

R = TypeVar("R")
Leaf: TypeAlias = float | str
"""A number that floats hold exactly, or the text of anything else."""

NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""A number as JSON, CSV and most programs write it."""

NUMBERS: Final = 64
"""At most so many of them are read in a text."""

LOOKED: Final = 200
"""Outputs that say whether texts repeat."""


def as_rows(outputs: Sequence[R]) -> FloatArray:
    """One row for each output, shape (k, d). Raises TypeError for a type that cannot be read.

    What a number in a row is depends on that output alone, not on the others: only so are events that were chosen on
    some outputs the same events on others. The first column is of the structure; then each place in it has a column for
    a number and one for a text; what an output lacks is 0. Outputs that are numbers in one shape have these alone.
    """
    plain = _table(outputs)
    if plain is not None:
        return plain
    taken = [_Taken(output) for output in outputs]
    rows = np.zeros((len(taken), 1 + 2 * max(len(each.leaves) for each in taken)))
    for row, each in zip(rows, taken, strict=True):
        row[0] = _code(each.structure)
        for place, leaf in enumerate(each.leaves):
            text = isinstance(leaf, str)
            row[1 + 2 * place + text] = _code(leaf) if isinstance(leaf, str) else leaf
    return rows


@functools.lru_cache(maxsize=2**16)
def _code(text: str) -> float:
    """A number in (0, 1] for a text, from 52 bits of its digest."""
    return (1 + (int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") >> 4)) * 2.0**-52


def _table(outputs: Sequence[R]) -> FloatArray | None:
    """Numbers, or arrays of them in one shape, row by row; None where that is not what they are."""
    if not all(_numeric(output) for output in outputs):
        return None
    arrays = [np.asarray(output) for output in outputs]
    if len({array.shape for array in arrays}) != 1:
        return None
    rows = np.array([array.ravel() for array in arrays])
    if not rows.shape[1]:
        return np.zeros((len(rows), 1))
    wide = np.hstack([rows.real, rows.imag]) if np.iscomplexobj(rows) else rows
    return np.asarray(wide, dtype=np.float64)


def _numeric(output: object) -> bool:
    """Whether an output is made of numbers that floats hold exactly; complex ones count as two."""
    if isinstance(output, tuple | list):
        return all(isinstance(item, bool | int | float | np.number) and _numeric(item) for item in output)
    if isinstance(output, np.longdouble | np.clongdouble):
        return False
    if isinstance(output, bool | float | np.floating | np.complexfloating | complex):
        return True
    if isinstance(output, int | np.integer):
        return abs(int(output)) <= 2**53
    if type(output) is np.ndarray:  # others may hold more, as masks
        if output.dtype.kind in "iu":
            return output.size == 0 or int(np.max(np.abs(output.astype(object)))) <= 2**53
        return output.dtype.kind in "bfc" and output.dtype.itemsize <= (16 if output.dtype.kind == "c" else 8)
    return False


class _Taken:
    """An output taken apart.

    structure: a text that says all but the leaves.  leaves: numbers and texts, in order, and then what was read in
    texts.  wordings: the texts without the numbers in them.
    """

    def __init__(self, output: object) -> None:
        self.leaves: list[Leaf] = []
        self.wordings: list[str] = []
        self._inside: list[Leaf] = []
        self.structure = self._read(output)
        self.leaves += self._inside  # last, so that other leaves have their places whatever a text holds

    def _read(self, output: object) -> str:
        if isinstance(output, np.ndarray) and not output.ndim:
            output = output[()]
        inside = _items(output)
        if inside is not None:
            name, items = inside
            return f"{name}({','.join(f'{key}{self._read(item)}' for key, item in items)})"
        leaf = _leaf(output)
        self.leaves.append(leaf)
        if isinstance(output, str | bytes):
            self._read_text(output if isinstance(output, str) else output.decode("latin-1"))
        elif isinstance(leaf, str):
            self.wordings.append(leaf)
        # No type's name: a float is another type where it was kept in an array, which says nothing about the data.
        return "<text>" if isinstance(leaf, str) else "<number>"

    def _read_text(self, text: str) -> None:
        wording = NUMBER.sub("#", text, count=NUMBERS)
        self.wordings.append(wording)
        if wording != text:
            found = NUMBER.findall(text)[:NUMBERS]
            self._inside += [wording, *map(float, found)]


def texts_never_repeat(outputs: Sequence[object]) -> bool:
    """Whether some text in them is nearly always another, numbers in it aside, so that what it says is not seen.

    So it is with keys, and with what is no exact float: complex numbers in lists, dates, very large whole numbers.

    Such texts are told from others by whether they are equal, which says nothing where none are.
    """
    taken = [_Taken(output) for output in outputs[:LOOKED] if not _numeric(output)]
    wordings = [[each.structure, *each.wordings] for each in taken]
    places = range(max((len(each) for each in wordings), default=0))
    return any(_vary([each[place] for each in wordings if place < len(each)]) for place in places)


def _vary(texts: list[str]) -> bool:
    return len(texts) > 8 and len(set(texts)) > len(texts) // 2


def _items(output: object) -> tuple[str, Iterator[tuple[str, object]]] | None:
    """What an output is made of, with texts that tell the places apart; None for a leaf."""
    name = type(output).__name__
    if isinstance(output, Mapping):
        # Keys may be part of what is released: they are in the structure, sorted, and their own order is an item.
        keys = [(f"{text_of(key)}:", item) for key, item in output.items()]
        order = [("order=", " ".join(key for key, _ in keys))] if len(keys) > 1 else []
        return name, iter([*order, *sorted(keys, key=lambda item: item[0])])
    if isinstance(output, set | frozenset):
        return name, (("", text) for text in sorted(map(text_of, output)))
    if isinstance(output, list | tuple):
        return name, (("", item) for item in output)
    fields = _fields(output)
    if fields is not None:
        return name, ((f"{field}=", getattr(output, field)) for field in fields)
    if type(output).__module__.partition(".")[0] == "pandas":
        return _of_pandas(output)
    if isinstance(output, np.ma.MaskedArray):
        return name, iter([("mask=", np.ma.getmaskarray(output)), ("data=", np.asarray(output.data))])
    if isinstance(output, np.ndarray) and output.ndim:
        return f"{name}{output.dtype}{output.shape}", (("", item) for item in np.asarray(output).ravel())
    return None


def _of_pandas(output: object) -> tuple[str, Iterator[tuple[str, object]]] | None:
    """Values, and the labels of rows and columns, which are released with them; None for its scalars."""
    name, to_numpy = type(output).__name__, getattr(output, "to_numpy", None)
    if to_numpy is None:
        return None
    labels = [(f"{each}=", getattr(output, each)) for each in ("index", "columns", "name") if hasattr(output, each)]
    return name, iter([*labels, ("values=", to_numpy())])


def _fields(output: object) -> list[str] | None:
    attributes = getattr(type(output), "__attrs_attrs__", None)
    if attributes is not None:
        return [attribute.name for attribute in attributes]
    if dataclasses.is_dataclass(output):
        return [field.name for field in dataclasses.fields(output)]
    return None


def _leaf(output: object) -> Leaf:
    if isinstance(output, bool | int | float | np.bool_ | np.integer | np.floating) and _numeric(output):
        return float(output)
    return text_of(output)


def text_of(output: object) -> str:
    """A text that differs wherever leaves differ. Raises TypeError for a type that cannot be read."""
    if isinstance(output, np.ndarray) and not output.ndim:
        output = output[()]
    if isinstance(output, str | bytes | int | float | complex | bool | np.generic | type(None)):
        return f"{type(output).__name__} {output!r}"
    inside = _items(output)
    if inside is not None:
        name, items = inside
        return f"{name}({','.join(f'{key}{text_of(item)}' for key, item in items)})"
    if isinstance(output, np.ndarray):
        return f"{output.dtype} {output[()]!r}"
    if type(output).__module__.partition(".")[0] == "pandas":  # a missing value
        return repr(output)
    raise TypeError(
        f"outputs of type {type(output).__name__} cannot be compared: return numbers, texts, numpy's arrays, pandas' "
        "tables, or lists, dictionaries, dataclasses or attrs classes of them"
    )
