"""What the private classifiers of tables share: a public domain, encoding, tuning, predictions for free."""

from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from accountant import AdvancedComposition, BasicComposition, Composition, ZCDPComposition
from accountant.arrays import CodeArray, FloatArray
from learners.base.budget import FitBudget
from learners.base.fit_plan import Chosen, Dataset, FitPlan, FitResult, Progress
from learners.base.private_estimator import PrivateEstimator
from learners.base.tuning import checked_settings, choice_among
from learners.encoding import Coding, EncodedSample, Layout, check_encoded
from learners.public_classifier import PublicClassifier
from learners.tables import (
    MOST_CLASSES,
    Bounds,
    Classes,
    Frame,
    Schema,
    Table,
    coded_labels,
    encode,
    input_names,
    public_classes,
    refuse_no_labels,
    refuse_other_names,
    refuse_other_number,
    table_names,
)
from mechanisms.randomness import NoiseSource

Rule: TypeAlias = Literal["auto", "basic", "advanced", "zcdp"]
Domain: TypeAlias = Schema | Bounds | str | Path | None


def domain_schema(domain: Domain, table: Table) -> Schema:
    """The public domain of tables like this one, of which only the names are looked at. None: zeros and ones."""
    if isinstance(domain, Schema):
        return domain
    if isinstance(domain, Bounds):
        return domain.over(table_names(table))
    if domain is None:
        return Schema.boolean(table_names(table))
    if not isinstance(domain, str | Path):
        raise TypeError(
            f"schema: expected a Schema, Bounds(lower, upper) or the path of a TOML file, got {domain!r:.99}"
        )
    return Schema.from_toml(domain)


class Model(FitResult, Protocol):
    """What a fit on a table keeps."""

    @property
    def schema(self) -> Schema:
        """The public domain."""

    def scores(self, codes: CodeArray) -> FloatArray:
        """One score per record, shape (n,), positive for the second class. codes: shape (columns, n).

        Of a learner of three classes or more: one per record and class, shape (n, classes), the highest wins.
        """


M = TypeVar("M", bound=Model)
TablePlan: TypeAlias = FitPlan[EncodedSample, M]
"""The plan of a fit on a table with a public domain."""


class NamedColumns:
    """What learners of tables with a domain ask of the names of a frame's columns."""

    schema: Domain
    classes: Classes
    feature_names_in_: npt.NDArray[np.object_]

    def _refuse_other_names(self, X: Table) -> None:
        """Where the columns were those of the frame in `fit`, the same are asked for. A schema finds them by name."""
        if not isinstance(X, Frame) or not hasattr(self, "feature_names_in_"):
            return
        if self.schema is not None and not isinstance(self.schema, Bounds):
            return
        refuse_other_names(list(self.feature_names_in_), X)

    def _coded(self, X: Table, coding: Coding) -> FloatArray:
        """What a model that takes tables as numbers is asked about, shape (n, d)."""
        self._refuse_other_names(X)
        if coding.schema is None and input_names(X) is not None:
            refuse_other_names(coding.names, X)  # also where it comes from a file
        return coding.encode(X, type(self).__name__)

    def _public_classes(self, schema: Schema | None, y: npt.ArrayLike | None = None) -> tuple[object, ...]:
        """The classes, checked. y: where they are taken from, if the user said so."""
        default: tuple[object, ...] = (0, 1) if schema is None or schema.label is None else schema.label.classes
        most = MOST_CLASSES if getattr(self, "_multi_class", False) else 2
        return public_classes(self.classes, default, y, most, type(self).__name__)


class PrivateClassifier(NamedColumns, PublicClassifier, PrivateEstimator[EncodedSample, M]):
    """Base of the private classifiers of tables with a public domain.

    A subclass writes `__init__` and `_plan`, says what it `_keeps`, and lists its `_checks`.

    epsilon, delta, ledger, random_state: see `PrivateEstimator`.
    schema: a `Schema`, or the path of a schema file; `Bounds(lower, upper)` takes columns of numbers within these
      public bounds, as many as there are; None takes columns of zeros and ones.
    classes: the public classes, of two the second positive; None takes the schema's label, else (0, 1). "observed"
      declares that which classes occur in y is public, and takes them in rising order.
    """

    @staticmethod
    def _inputs(model: M) -> int:
        return len(model.schema.columns)

    # --- learning ----------------------------------------------------------------------------------------

    def fit(self, X: Table, y: npt.ArrayLike, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns).  y: labels, shape (n,).
        on_round: called after each round with its number and what it released, which is public by then. Not called
          where settings are tuned: how many runs there are must stay hidden.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        return self._fit(lambda: self._dataset(X, y), on_round)

    def fit_encoded(self, sample: EncodedSample, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already; its layout's schema takes precedence.

        Raises ValueError where codes, labels or weights are not what the sample says, before anything is charged.
        """
        return self._fit(lambda: self._encoded_dataset(sample), on_round)

    def encoded(self, X: Table, y: npt.ArrayLike) -> EncodedSample:
        """The sample that `fit(X, y)` would learn from, checked; as private as the table. Raises as `fit` does."""
        return self._dataset(X, y).records

    def _dataset(self, X: Table, y: npt.ArrayLike) -> Dataset[EncodedSample]:
        """A table, encoded. All that can be wrong with the data is found here."""
        refuse_no_labels(y)
        schema = self._resolved_schema(X)
        codes = encode(X, schema, reader=type(self).__name__)
        classes = self._public_classes(schema, y)
        labels = coded_labels(y, classes)
        refuse_other_number(codes.shape[1], labels.size)
        names = input_names(X)
        return Dataset(EncodedSample(Layout(schema), codes, labels), classes, None if names is None else tuple(names))

    def _encoded_dataset(self, sample: EncodedSample) -> Dataset[EncodedSample]:
        """Codes as they are, checked; without the records of weight 0, which are as if they were not there."""
        classes = self._public_classes(sample.layout.schema)
        check_encoded(sample, len(classes))
        return Dataset(sample.weighted(), classes)

    def _planned(
        self, records: EncodedSample, budget: FitBudget, noise: NoiseSource
    ) -> FitPlan[EncodedSample, M] | FitPlan[EncodedSample, Chosen[M]]:
        if settings := checked_settings(self):
            return choice_among(self, settings, records, budget, noise)
        return self._plan(records, budget, noise)

    def _resolved_schema(self, table: Table) -> Schema:
        return domain_schema(self.schema, table)

    # --- using what was learnt: post-processing, free of charge ------------------------------------------

    def decision_function(self, X: Table) -> FloatArray:
        """The model's score, shape (n,); positive for the second class. For three classes or more, shape (n, classes).

        X: as in `fit`. With a `Schema`, named columns may come in any order, and further ones are left aside.
        """
        model = self._fitted()
        self._refuse_other_names(X)
        return model.scores(encode(X, model.schema, reader=type(self).__name__))


def named_rule(name: Rule, delta: float) -> Composition:
    """A rule of composition for a ledger opened for one fit. Raises ValueError."""
    if name in ("advanced", "zcdp") and not delta > 0.0:
        raise ValueError(f"delta: {name} composition needs delta > 0; give one, or use composition='basic'")
    match name:
        case "auto" | "basic":
            return BasicComposition()
        case "advanced":
            # δ′ is the whole δ, as 1-Rules have none of their own.
            return AdvancedComposition(delta)
        case "zcdp":
            return ZCDPComposition()
        case _:
            raise ValueError(f"composition: {name!r} is not one of 'auto', 'basic', 'advanced', 'zcdp'")
