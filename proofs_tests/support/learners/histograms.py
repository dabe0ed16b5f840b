"""A learner of any number of classes, small enough to be read at a glance: noisy histograms, taken as independent."""

from collections.abc import Mapping
from typing import ClassVar, cast

import attrs
import numpy as np

from accountant import Ledger, Plan, ReplaceOne
from accountant.arrays import CodeArray, FloatArray
from learners import EncodedSample, Schema
from learners.base.budget import FitBudget
from learners.base.fit_plan import FitPlan
from learners.base.private_estimator import RandomState
from learners.base.table_classifier import Domain, PrivateClassifier
from learners.tables.public_classes import Classes
from mechanisms import LaplaceNoise, PlainMechanism, Query
from mechanisms.core.sensitivity import L1Sensitivity
from mechanisms.randomness.sources import NoiseSource


@attrs.frozen(eq=False)
class Histograms:
    """counts: noisy, per class a histogram of each column, one after the other; shape (classes, cells)."""

    schema: Schema
    counts: FloatArray

    def scores(self, codes: CodeArray) -> FloatArray:
        """Log-likelihoods, shape (n, classes); of two classes their difference, shape (n,)."""
        starts = np.cumsum([0, *(column.cells for column in self.schema.columns)])
        logs = np.log(np.maximum(self.counts, 0.0) + 1.0)
        totals = np.log(np.maximum(self.counts, 0.0)[:, : starts[1]].sum(axis=1) + starts[1])
        scores = (1 - len(codes)) * totals + sum(
            logs[:, code + start].T for code, start in zip(codes, starts, strict=False)
        )
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores, dtype=np.float64)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"schema": self.schema.as_dict(), "counts": self.counts.tolist()}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "Histograms":
        """The inverse."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        return Histograms(schema, np.array(record["counts"], dtype=np.float64))


class HistogramClassifier(PrivateClassifier[Histograms]):
    """Naive Bayes on Laplace histograms: a record is in one cell of every column, so it moves 2 per column."""

    _keeps = Histograms
    _multi_class: ClassVar[bool] = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _plan(
        self, records: EncodedSample, budget: FitBudget, noise: NoiseSource
    ) -> FitPlan[EncodedSample, Histograms]:
        classes, schema = len(budget.classes), records.layout.schema
        columns = schema.columns

        def counted(data: EncodedSample) -> FloatArray:
            numbers = (data.labels > 0).astype(np.intp) if classes == 2 else data.labels.astype(np.intp)
            tables = [
                np.bincount(numbers * column.cells + codes, minlength=classes * column.cells).reshape(classes, -1)
                for column, codes in zip(columns, data.codes, strict=True)
            ]
            return np.concatenate(tables, axis=1).astype(np.float64)

        query = Query("histograms", counted, L1Sensitivity(2.0 * len(columns)), ReplaceOne())

        def mechanism(eta: float) -> PlainMechanism[EncodedSample, FloatArray, L1Sensitivity, FloatArray]:
            return PlainMechanism(query, LaplaceNoise(1.0 / eta), noise)

        chosen = mechanism(budget.largest_eta(lambda eta: Plan.of(mechanism(eta).cost)))
        return FitPlan.released(chosen).as_round().then(lambda counts: Histograms(schema, counts))
