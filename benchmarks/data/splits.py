"""Data sets as training and test parts, each in every form that a system may ask for, made once and kept."""

from functools import cached_property, lru_cache
from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, IntArray, SignArray
from exchequer.datasets import (
    DataNotFound,
    DataSplit,
    adult,
    cod_rna,
    data_folder,
    folds,
    mushroom,
)
from learners import Categorical, EncodedSample, Layout, Numeric, Schema
from learners.encoding import refined
from learners.tables import Values, encode, signs

PAPER = ("adult", "cod_rna", "mushroom")
"""The data sets of "Private Boosted Decision Trees via Smooth Re-Weighting"."""

TITLES = {"adult": "Adult", "cod_rna": "Cod-RNA", "mushroom": "Mushroom"}
"""What they are called in a title."""

FOLDS = 5
"""Of a cross-validation."""


@attrs.frozen(slots=False, eq=False)
class Part:
    """Some records and their labels. table: column name to values, shape (n,).  labels: shape (n,)."""

    schema: Schema
    table: dict[str, Values]
    labels: Values

    @cached_property
    def codes(self) -> IntArray:
        """Shape (columns, n)."""
        return encode(self.table, self.schema)

    @cached_property
    def signs(self) -> SignArray:
        """Labels, each −1 or +1, shape (n,)."""
        assert self.schema.label is not None
        return signs(self.labels, self.schema.label.classes)

    @property
    def positive(self) -> npt.NDArray[np.bool_]:
        """Which labels are the second class, shape (n,)."""
        return np.asarray(self.signs > 0)

    @cached_property
    def sample(self) -> EncodedSample:
        """What `fit_encoded` takes."""
        return EncodedSample(Layout(self.schema), self.codes, self.signs)

    @cached_property
    def one_hot(self) -> npt.NDArray[np.uint8]:
        """The Boolean features that our learners see, shape (n, d)."""
        layout = Layout(self.schema)
        features = (layout.feature(number) for number in range(layout.d))
        return np.column_stack([members[self.codes[column]].astype(np.uint8) for column, members in features])

    @cached_property
    def raw(self) -> FloatArray:
        """Numbers as they are and category codes, shape (n, columns)."""
        columns = [
            column.numbers(self.table[column.name]) if isinstance(column, Numeric) else codes
            for column, codes in zip(self.schema.columns, self.codes, strict=True)
        ]
        return np.column_stack(columns).astype(np.float64)

    def finer(self, bins: int) -> "Part":
        """The same records with so many equal-width bins per numeric column, made once."""
        if bins not in self._finer:
            columns = (attrs.evolve(c, bins=bins) if isinstance(c, Numeric) else c for c in self.schema.columns)
            self._finer[bins] = Part(Schema(tuple(columns), self.schema.label), self.table, self.labels)
        return self._finer[bins]

    @cached_property
    def refined(self) -> "Part":
        """The same records as `PrivateBoostClassifier` cuts their numbers."""
        columns = (refined(column) if isinstance(column, Numeric) else column for column in self.schema.columns)
        return Part(Schema(tuple(columns), self.schema.label), self.table, self.labels)

    @cached_property
    def _finer(self) -> "dict[int, Part]":
        return {}


@attrs.frozen(slots=False, eq=False)
class Split:
    """One data set's training and test part."""

    name: str
    train: Part
    test: Part

    @staticmethod
    def of(data: DataSplit) -> "Split":
        """A data set's own split."""
        return Split(data.name, Part(data.schema, data.train, data.y_train), Part(data.schema, data.test, data.y_test))


def whole(split: Split) -> Part:
    """Training and test part together."""
    table = {name: np.concatenate([values, split.test.table[name]]) for name, values in split.train.table.items()}
    return Part(split.train.schema, table, np.concatenate([split.train.labels, split.test.labels]))


def found(folder: str | None, name: str, seed: int = 0) -> DataSplit:
    """A data set by name; only Mushroom, which has no canonical test set, is split by `seed`.

    Raises DataNotFound with the remedy.
    """
    place = data_folder(folder)
    if place is None:
        raise DataNotFound(f"this benchmark needs {name}: pass --data DIR or set EXCHEQUER_DATA")
    return _loaded(str(place), name, seed)


@lru_cache(maxsize=16)  # Adult and Cod-RNA take a second, and every part of a benchmark asks for them
def _loaded(place: str, name: str, seed: int) -> DataSplit:
    match name:
        case "adult":
            return adult(place)
        case "cod_rna":
            return cod_rna(place)
        case "mushroom":
            return mushroom(place, seed)
        case _:
            raise ValueError(f"no data set {name!r}")


class Plan(Protocol):
    """How a data set is measured. reseeded: whether splits depend on the seed."""

    name: str
    protocol: str
    reseeded: bool

    def __call__(self, seed: int) -> list[Split]:
        """The splits that a seed is measured on."""


class Holdouts:
    """One test set per seed: the canonical one, the same for all seeds, or for Mushroom a fifth at random."""

    protocol = "test set"

    def __init__(self, folder: str | None, name: str) -> None:
        self._folder, self.name = folder, name
        self.reseeded = name == "mushroom"
        self._kept: dict[int, Split] = {}

    def __call__(self, seed: int) -> list[Split]:
        """The splits that a seed is measured on: one."""
        key = seed if self.reseeded else 0
        if key not in self._kept:
            self._kept[key] = Split.of(found(self._folder, self.name, key))
        return [self._kept[key]]


class Folds:
    """Five folds, the same for all seeds: of Mushroom, or of the training file where there is a test file."""

    reseeded = False

    def __init__(self, folder: str | None, name: str, most: int = FOLDS) -> None:
        """most: so many of the five are measured on, the first ones."""
        data = found(folder, name)
        self.name = name
        self.protocol = f"{FOLDS}-fold" if most == FOLDS else f"{most} of {FOLDS} folds"
        parts = folds(data, FOLDS, rows="all" if name == "mushroom" else "train")
        self._splits = [Split.of(part) for part in parts[:most]]

    def __call__(self, seed: int) -> list[Split]:
        """The splits that a seed is measured on: five, or so many as were asked for."""
        return self._splits


def paper_protocol(folder: str | None, name: str, most: int = FOLDS) -> Plan:
    """Adult by its canonical test set, the others cross-validated, as the paper has it. most: as for `Folds`."""
    return Holdouts(folder, name) if name == "adult" else Folds(folder, name, most)


def categorical(schema: Schema) -> list[bool]:
    """Which columns hold categories."""
    return [isinstance(column, Categorical) for column in schema.columns]
