"""Every learner that takes tables in blocks, on breast cancer as each way of storing it; and what a fit leaves.

For tests and benchmarks. Simulated noise, so that the same records and seed must give the same releases.
"""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs
import cloudpickle  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from accountant import Ledger, Reservation
from exchequer.datasets import breast_cancer, packaged_schema
from learners import (
    AdaSSP,
    Descent,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Schema,
)
from learners.blocks.block_tables import TableBlock
from learners.blocks.parquet_table import ParquetTable
from mechanisms.core.rows import Block, MemoryRows, Rows, Sums

T = TypeVar("T")
U = TypeVar("U")

LABEL: Final = "diagnosis"


def people() -> pd.DataFrame:
    """The training part, with labels in a column, 427 records."""
    data = breast_cancer()
    return pd.DataFrame({**{name: np.asarray(values) for name, values in data.train.items()}, LABEL: data.y_train})


def schema() -> Schema:
    """Public bounds of its columns, and the classes."""
    return packaged_schema("breast_cancer")


def _classes() -> tuple[str, ...]:
    label = schema().label
    assert label is not None
    return label.classes


LEARNERS: Final[Mapping[str, Callable[[], Any]]] = {
    "additive boosting": lambda: PrivateBoostClassifier(
        1.0, 1e-5, rounds_per_column=2, calibration=0.2, schema=schema(), random_state=3
    ),
    "additive boosting with pairs, settings chosen privately": lambda: PrivateBoostClassifier(
        1.0,
        1e-5,
        interactions=[("mean area", "mean texture")],
        tune=[{"rounds_per_column": 1}, {"rounds_per_column": 2}],
        schema=schema(),
        random_state=3,
    ),
    "boosted 1-Rules": lambda: LazyBoostClassifier(1.0, 1e-5, rounds=8, schema=schema(), random_state=3),
    "boosted 1-Rules, calibrated, at private quantiles": lambda: LazyBoostClassifier(
        1.0, 1e-5, rounds=4, calibration=0.2, quantile_bins=4, schema=schema(), random_state=3
    ),
    "boosted trees": lambda: LazyBoostClassifier(
        1.0, 1e-5, weak_learner="top-down", rounds=3, schema=schema(), random_state=3
    ),
    "halfspace": lambda: HalfspaceBoostClassifier(
        1.0, 1e-5, radius=1000.0, rounds=5, count_outside=20.0, classes=_classes(), random_state=3
    ),
    "rados": lambda: RadoRelease("examples", 1.0, 1e-5, number=40, schema=schema(), random_state=3),
    "boosting on rados of a protected column": lambda: RadoBoostClassifier(
        "feature", 1.0, 1e-5, number=40, sensitive=["mean area"], rounds=20, schema=schema(), random_state=3
    ),
    "random features by descent": lambda: RandomFeatureClassifier(
        1.0, 1e-5, solver=Descent(rounds=6), n_components=30, schema=schema(), random_state=3
    ),
    "random features by adassp": lambda: RandomFeatureClassifier(
        1.0, 1e-5, solver=AdaSSP(), n_components=15, schema=schema(), random_state=3
    ),
}


def in_parquet(frame: pd.DataFrame, folder: Path, sizes: tuple[int, ...], *, block: int = 50) -> ParquetTable:
    """The records in files of so many each, and the rest in a last one, in row groups of 40."""
    ends = np.cumsum([0, *sizes, len(frame)]).clip(max=len(frame)).tolist()
    for number, (start, end) in enumerate(itertools.pairwise(ends)):
        table = pyarrow.Table.from_pandas(frame.iloc[start:end], preserve_index=False)
        pyarrow.parquet.write_table(table, folder / f"part{number:03}.parquet", row_group_size=40)
    return ParquetTable(folder, LABEL, block=block)


def released(learner: Any) -> str:
    """The model as its file would have it, and what it cost."""
    model, entries = learner.model_.as_record(), books(learner.ledger_)
    return json.dumps([model, entries, learner.statement_.as_dict()["spent"]], sort_keys=True, default=str)


def books(ledger: Ledger) -> list[object]:
    """What the entries say, but for when and under which random name of the ledger."""
    return [
        {name: value for name, value in entry.record.items() if name not in ("time", "id")} for entry in ledger.entries
    ]


@attrs.frozen(eq=False, repr=False)
class WatchedRows(Rows[T]):
    """Rows that note, for each visit, whether something was being released, and that work could be sent elsewhere."""

    rows: Rows[T]
    visits: list[bool]

    @property
    def n(self) -> int:
        """Of those below."""
        return self.rows.n

    def map(self, transform: Callable[[T], U]) -> "WatchedRows[U]":
        """Watched as well."""
        return WatchedRows(self.rows.map(transform), self.visits)

    def kept(self) -> "WatchedRows[T]":
        """Watched as well."""
        return WatchedRows(self.rows.kept(), self.visits)

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """Of those below; work goes through a pickle first."""
        self.visits.append(Releasing.now)
        return self.rows.total(cloudpickle.loads(cloudpickle.dumps(work)))


class Releasing:
    """Whether `Ledger.release`, or a reservation's, is under way: see `watched_releases`."""

    now = False


@contextlib.contextmanager
def watched_releases() -> Iterator[None]:
    """While it lasts, `Releasing.now` says so."""
    with pytest.MonkeyPatch.context() as patched:
        for kind in (Ledger, Reservation):
            patched.setattr(kind, "release", _watched(kind.release))
        yield


def _watched(release: Callable[..., Any]) -> Callable[..., Any]:
    def during(*arguments: Any, **named: Any) -> Any:
        before, Releasing.now = Releasing.now, True
        try:
            return release(*arguments, **named)
        finally:
            Releasing.now = before

    return during


@attrs.frozen(eq=False)
class WatchedTable:
    """A frame in blocks of these sizes. visits: to its records, see `WatchedRows`."""

    frame: pd.DataFrame
    sizes: tuple[int, ...]
    visits: list[bool] = attrs.field(factory=list)

    def block_header(self, y: object) -> Any:
        """See `BlockTable`."""
        return {str(name): () for name in self.frame.columns if name != y}

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`."""
        ends = np.cumsum([*self.sizes, len(self.frame) - sum(self.sizes)]).tolist()
        parts = [self.frame.iloc[start:end] for start, end in itertools.pairwise([0, *ends])]
        tables = [TableBlock(part.drop(columns=[y]), part[y]) for part in parts]
        return WatchedRows(MemoryRows.parts(tables, [len(part) for part in parts]), self.visits)
