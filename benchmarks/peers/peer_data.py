"""A data set's parts as files, in every form that a worker may feed its system: workers know nothing of our code."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import Part, Plan, Split
from learners import Numeric, Schema


def norm(schema: Schema) -> float:
    """The largest norm of a record's Boolean features: public. One-hot columns hold exactly once."""
    return float(np.sqrt(sum(column.cells - 1 if column.cumulative else 1 for column in schema.columns)))


def arrays(dataset: str, part: Part) -> dict[str, npt.NDArray[Any]]:
    """What is saved of a part of n records, all of it public but `signs`, `codes`, `one_hot`, `unit` and `column:…`.

    dataset: its name.  names, numeric, cells, lower, upper: by column; a category's bounds are those of its code.
    norm: of a record's Boolean features.  signs: labels, each −1 or +1, shape (n,).  codes: shape (columns, n).
    one_hot: Boolean features, shape (n, d).  unit: columns within [0, 1] by their bounds, shape (n, columns).
    column:NAME: numbers within their bounds, or categories as text, shape (n,).
    """
    columns = part.schema.columns
    bounds = [(c.lower, c.upper) if isinstance(c, Numeric) else (0.0, c.cells - 1.0) for c in columns]
    lower, upper = (np.array(ends, dtype=np.float64) for ends in zip(*bounds, strict=True))
    raw = np.clip(part.raw, lower, upper)
    return {
        "dataset": np.array(dataset),
        "names": np.array([column.name for column in columns]),
        "numeric": np.array([isinstance(column, Numeric) for column in columns]),
        "cells": np.array([column.cells for column in columns]),
        "lower": lower,
        "upper": upper,
        "norm": np.array(norm(part.schema)),
        "signs": part.signs,
        "codes": part.codes.astype(np.int16),
        "one_hot": part.one_hot,
        "unit": (raw - lower) / (upper - lower),
        **{
            f"column:{c.name}": raw[:, place] if isinstance(c, Numeric) else np.asarray(part.table[c.name], np.str_)
            for place, c in enumerate(columns)
        },
    }


class Files:
    """Parts as files in a folder, each written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[Split, dict[str, str]] = {}

    def of(self, split: Split) -> dict[str, str]:
        """Paths of its training and of its test part, by "train" and "test"."""
        if split not in self._paths:
            place = self._folder / str(len(self._paths))
            place.mkdir()
            parts = {"train": split.train, "test": split.test}
            self._paths[split] = {name: _written(place / f"{name}.npz", split.name, p) for name, p in parts.items()}
        return self._paths[split]


def _written(path: Path, dataset: str, part: Part) -> str:
    np.savez(path, **arrays(dataset, part))  # type: ignore[arg-type]  # numpy's stub takes any keyword for its flag
    return str(path)


class Few:
    """A plan's splits cut down to so many records in each part, drawn at random, the same for all seeds."""

    def __init__(self, plan: Plan, records: int) -> None:
        self._plan, self._records = plan, records
        self.name, self.reseeded = plan.name, plan.reseeded
        self.protocol = f"{plan.protocol}, {records:,} records"
        self._kept: dict[Split, Split] = {}

    def __call__(self, seed: int) -> list[Split]:
        """The splits that a seed is measured on."""
        return [self._cut(split) for split in self._plan(seed)]

    def _cut(self, split: Split) -> Split:
        if split not in self._kept:
            self._kept[split] = Split(split.name, self._drawn(split.train), self._drawn(split.test))
        return self._kept[split]

    def _drawn(self, part: Part) -> Part:
        rows = np.random.default_rng(0).permutation(part.labels.size)[: self._records]
        table = {name: values[rows] for name, values in part.table.items()}
        return Part(part.schema, table, part.labels[rows])
