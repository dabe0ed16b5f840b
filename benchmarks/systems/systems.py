"""Any learner as one row of a table: ours, a peer's or one without privacy; measured alike, and kept as CSV."""

import csv
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
from sklearn.metrics import roc_auc_score

from accountant.arrays import FloatArray
from benchmarks.data import Part, Plan, Split
from benchmarks.runner import Cell, Grid, Measured
from learners.base import PrivateClassifier

Scorer: TypeAlias = Callable[[Part], FloatArray]
"""Scores, shape (n,); above 0 exactly where the system itself predicts the second class."""

Fit: TypeAlias = Callable[[Split, float, float, int], Scorer]
"""Learn from a split's training part: (split, epsilon, delta, seed). Must not look at its test part."""

NO_PRIVACY = float("inf")
"""The ε under which systems without privacy are filed."""


@attrs.frozen
class System:
    """A learner under a name.

    private: False for systems that ignore ε and δ.  deterministic: same model for every seed.
    needs_delta: it cannot do δ = 0, so tables of pure differential privacy leave it out.
    kept: whether old measurements in the CSV file still count; for systems whose code is not ours.
    """

    name: str
    fit: Fit
    private: bool = True
    deterministic: bool = False
    needs_delta: bool = False
    kept: bool = False


Make: TypeAlias = Callable[[str, float, float, int], PrivateClassifier[Any]]
"""Our estimator for (data set's name, epsilon, delta, seed)."""


def ours(name: str, make: Make, *, bins: int | None = None, needs_delta: bool = False) -> System:
    """One of our estimators as a row. bins: equal-width bins per numeric column, where not the schema's."""

    def seen(part: Part) -> Part:
        return part if bins is None else part.finer(bins)

    def fit(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
        model = make(split.name, epsilon, delta, seed).fit_encoded(seen(split.train).sample).model_
        return lambda part: np.asarray(model.scores(seen(part).codes), dtype=np.float64)

    return System(name, fit, needs_delta=needs_delta)


@attrs.frozen
class Measurement:
    """One system on one data set, one seed; a mean over folds where it is cross-validated."""

    system: str
    dataset: str
    protocol: str
    epsilon: float
    delta: float
    seed: int
    accuracy: float
    auc: float
    seconds: float

    @property
    def key(self) -> tuple[object, ...]:
        """What it is a measurement of."""
        return (self.system, self.dataset, self.protocol, self.epsilon, self.delta, self.seed)


FIELDS = [field.name for field in attrs.fields(Measurement)]


class Results:
    """Measurements by key, in a CSV file that a later run goes on with."""

    def __init__(self, path: Path | None, kept: Iterable[str] = ()) -> None:
        """path: None keeps nothing.  kept: systems whose old measurements still count."""
        self._path, self._begun = path, False
        self._by_key: dict[tuple[object, ...], Measurement] = {}
        names = set(kept)
        if path is not None and path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                old = [_measurement(row) for row in csv.DictReader(file)]
            self._by_key = {found.key: found for found in old if found.system in names}

    def get(self, key: tuple[object, ...]) -> Measurement | None:
        """What was measured before."""
        return self._by_key.get(key)

    def add(self, measurement: Measurement) -> None:
        """Keep one, at once. The first one replaces a file of old measurements by those that still count."""
        self._by_key[measurement.key] = measurement
        if self._path is not None:
            self._write(self._path, [measurement] if self._begun else self._by_key.values())

    def _write(self, path: Path, found: Iterable[Measurement]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if self._begun else "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS)
            if not self._begun:
                writer.writeheader()
            writer.writerows(map(attrs.asdict, found))
        self._begun = True


def _measurement(row: dict[str, str]) -> Measurement:
    epsilon, delta, accuracy, auc, seconds = (float(row[name]) for name in _NUMBERS)
    seed, what = int(row["seed"]), (row["system"], row["dataset"], row["protocol"])
    return Measurement(*what, epsilon, delta, seed, accuracy, auc, seconds)


_NUMBERS = ("epsilon", "delta", "accuracy", "auc", "seconds")


def quality(scores: FloatArray, part: Part) -> tuple[float, float]:
    """Accuracy of the system's own predictions, and area under the curve."""
    return float(np.mean((scores > 0.0) == part.positive)), float(roc_auc_score(part.positive, scores))


def measure_one(system: System, splits: Sequence[Split], epsilon: float, delta: float, seed: int) -> FloatArray:
    """Accuracy, AUC and seconds of the fit, means over the splits, shape (3,)."""
    found = []
    for split in splits:
        start = time.perf_counter()
        scorer = system.fit(split, epsilon, delta, seed)
        took = time.perf_counter() - start
        found.append([*quality(scorer(split.test), split.test), took])
    return np.asarray(np.mean(found, axis=0))


def measure(
    system: System, plan: Plan, results: Results, epsilons: Sequence[float], delta: float, seeds: int
) -> dict[float, list[Measurement]]:
    """One measurement per ε and seed; what `results` has is not measured again."""
    grid = epsilons if system.private else (NO_PRIVACY,)
    once = system.deterministic and not plan.reseeded
    spent = delta if system.private else 0.0
    return {
        epsilon: [_measured(system, plan, results, epsilon, spent, seed) for seed in range(1 if once else seeds)]
        for epsilon in grid
    }


def _measured(system: System, plan: Plan, results: Results, epsilon: float, delta: float, seed: int) -> Measurement:
    found = results.get((system.name, plan.name, plan.protocol, epsilon, delta, seed))
    if found is None:
        accuracy, auc, seconds = measure_one(system, plan(seed), epsilon, delta, seed).tolist()
        what = (system.name, plan.name, plan.protocol)
        found = Measurement(*what, epsilon, delta, seed, accuracy, auc, seconds)
        results.add(found)
    return found


Tables: TypeAlias = Mapping[System, Mapping[float, Sequence[Measurement]]]
"""What `measure` found for each system."""


Printed: TypeAlias = Mapping[str, Mapping[float, float]]
"""What is printed for "accuracy" and for "auc", by ε."""

QUALITIES = {"accuracy": "accuracy", "AUC": "auc"}
"""What a table of it is called, and the field of `Measurement`."""


def grids(tables: Tables, title: str, printed: Printed | None = None) -> list[Grid]:
    """Two tables, of accuracy and of AUC: a row per system, a column per ε, mean ± standard deviation over seeds.

    A system without privacy has the same number in every column: a level line in the picture.
    printed: beside every private system's numbers.
    """
    epsilons = sorted({epsilon for table in tables.values() for epsilon in table} - {NO_PRIVACY}) or [NO_PRIVACY]
    head = ("system", *("no privacy" if epsilon == NO_PRIVACY else f"ε={epsilon:g}" for epsilon in epsilons))

    def row(system: System, which: str) -> tuple[Cell, ...]:
        if not system.private:
            level = average(tables[system][NO_PRIVACY], which)
            return (f"{system.name}, no privacy", *(level for _ in epsilons))
        asked, table = (printed or {}).get(which, {}), tables[system]
        return (system.name, *(average(table[e], which, asked.get(e)) if e in table else "" for e in epsilons))

    return [
        Grid(f"{what}: {title}", head, tuple(row(system, which) for system in tables))
        for what, which in QUALITIES.items()
    ]


def average(found: Iterable[Measurement], which: str = "accuracy", printed: float | None = None) -> Measured:
    """Mean and standard deviation over seeds, to three digits. which: one of "accuracy", "auc" and "seconds"."""
    return Measured.mean((getattr(one, which) for one in found), printed)
