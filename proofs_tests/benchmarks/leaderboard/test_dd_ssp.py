"""DD-SSP: with marginals that are exact its sums are those of the records, and its logistic loss is the one it says."""

import math

import numpy as np
import pytest

from benchmarks.adapters.peers._dpmm_models import BINS, label_codes, middles, names, sizes
from benchmarks.adapters.peers.dd_ssp import HALF_WIDTH, _features, _gram, logistic_scale
from benchmarks.adapters.protocol import Column, Task, codes

N = 200


class Counts:
    """Stands for dpmm's model, and knows all pairs exactly."""

    def __init__(self, task: Task) -> None:
        self.total = float(task.records)
        self._codes = dict(zip(names(task), [*codes(task.columns, task.train, BINS), label_codes(task)], strict=True))
        self._sizes = dict(zip(names(task), sizes(task), strict=True))

    def project(self, columns: tuple[str, ...]) -> "Counted":
        """Their counts."""
        shape = [self._sizes[name] for name in columns]
        found = np.zeros(shape)
        np.add.at(found, tuple(self._codes[name] for name in columns), 1.0)
        return Counted(found)


class Counted:
    """Counts of one projection."""

    def __init__(self, counts: np.typing.NDArray[np.float64]) -> None:
        self._counts = counts

    def datavector(self, flatten: bool = True) -> np.typing.NDArray[np.float64]:
        """In one row, or shaped as the columns are."""
        return self._counts.ravel() if flatten else self._counts


@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_sums_are_those_of_the_binned_records(kind: str) -> None:
    rng = np.random.default_rng(1)
    columns = (Column("x", -2.0, 3.0), Column("c", categories=("a", "b", "d")), Column("z", 0.0, 1.0))
    middle = {"x": -2.0 + 2.5 * (1.0 + middles()), "z": 0.5 * (1.0 + middles())}  # of bins, so that binning loses none
    train = {"x": rng.choice(middle["x"], N), "c": rng.choice(["a", "b", "d"], N), "z": rng.choice(middle["z"], N)}
    labels = rng.integers(2, size=N) if kind == "binary" else rng.choice(5.0 * middles(), N)
    bounds = (0.0, 1.0) if kind == "binary" else (-5.0, 5.0)
    task = Task(kind, columns, 2 if kind == "binary" else 0, bounds, train, labels, "add-remove-one")  # type: ignore[arg-type]  # one of the kinds
    y = 2.0 * labels - 1.0 if kind == "binary" else labels / 5.0
    full = np.column_stack([_features(task, train), y])
    assert _gram(task, Counts(task)) == pytest.approx(full.T @ full)


def test_the_loss_is_interpolated_where_chebyshev_says() -> None:
    """Its odd part is s/2; its even part is met at 0 and at 6 cos(π/6)."""

    def even(s: float) -> float:
        return -math.log(2.0 * math.cosh(0.5 * s))

    node = HALF_WIDTH * math.cos(math.pi / 6.0)
    assert logistic_scale() == pytest.approx(-0.5 / (2.0 * (even(node) - even(0.0)) / node**2))
