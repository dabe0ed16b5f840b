"""What the private classifiers of tables share: a public domain, encoding, tuning, predictions for free."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne, AdvancedComposition, BasicComposition, Composition, ReplaceOne, ZCDPComposition
from accountant.arrays import CodeArray, FloatArray, SignArray
from learners.base.private_estimator import Learning, PayingEstimator, Progress
from learners.base.tuning import best_setting, checked_settings
from learners.encoding import EncodedSample, Layout, check_encoded
from learners.tables import (
    MOST_CLASSES,
    Bounds,
    Classes,
    Frame,
    PublicClassifier,
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


class Model(Protocol):
    """What a fit keeps: releases and public parameters, nothing else."""

    @property
    def schema(self) -> Schema:
        """The public domain."""

    def scores(self, codes: CodeArray) -> FloatArray:
        """One score per record, shape (n,), positive for the second class. codes: shape (columns, n).

        Of a learner of three classes or more: one per record and class, shape (n, classes), the highest wins.
        """

    def as_record(self) -> dict[str, object]:
        """For JSON, schema included."""


M = TypeVar("M", bound=Model)


class NamedColumns:
    """What learners of tables with a domain remember about the names of a frame's columns."""

    schema: Domain
    feature_names_in_: npt.NDArray[np.object_]
    n_features_in_: int

    def _remember_names(self, X: Table) -> None:
        names = input_names(X)
        if names is not None:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)

    def _refuse_other_names(self, X: Table) -> None:
        """Where the columns were those of the frame in `fit`, the same are asked for. A schema finds them by name."""
        if not isinstance(X, Frame) or not hasattr(self, "feature_names_in_"):
            return
        if self.schema is not None and not isinstance(self.schema, Bounds):
            return
        refuse_other_names(list(self.feature_names_in_), X)


class PrivateClassifier(NamedColumns, PublicClassifier, PayingEstimator[EncodedSample, M]):
    """Base of the private classifiers of tables with a public domain.

    A subclass writes `__init__`, `_learn`, `_restored` and lists its `_checks`.

    epsilon, delta, ledger, random_state: see `PayingEstimator`.
    schema: a `Schema`, or the path of a schema file; `Bounds(lower, upper)` takes columns of numbers within these
      public bounds, as many as there are; None takes columns of zeros and ones.
    classes: the public classes, of two the second positive; None takes the schema's label, else (0, 1). "observed"
      declares that which classes occur in y is public, and takes them in rising order.
    """

    classes: Classes

    def _adjacency(self) -> ReplaceOne | AddRemoveOne:
        """The relation of the guarantee: about whole records."""
        return ReplaceOne()

    def _rests_on(self) -> tuple[str, ...]:
        """Claims that a fit's cost rests on, for the entry of a private choice among fits."""
        return ()

    def _gaussian_alone(self) -> bool:
        """Whether a fit at δ > 0 spends nothing but Gaussian noise, for the price of a choice among fits."""
        return False

    @staticmethod
    def _inputs(model: M) -> int:
        return len(model.schema.columns)

    @classmethod
    def _domain(cls, model: M, classes: Sequence[object]) -> dict[str, object]:
        return {"schema": model.schema, "classes": cls._saved_classes(classes)}

    # --- learning ----------------------------------------------------------------------------------------

    def fit(self, X: Table, y: npt.ArrayLike, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns).  y: labels, shape (n,).
        on_round: called after each round with its number and what it released, which is public by then. Not called
          where settings are tuned: how many runs there are must stay hidden.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        self._parameters()
        return self._fit_table(X, *self._checked(X, y), on_round)

    def _fit_table(
        self, X: Table, sample: EncodedSample, classes: tuple[object, ...], on_round: Progress | None
    ) -> Self:
        self._fit_sample(sample, classes, on_round)
        self._remember_names(X)
        return self

    def encoded(self, X: Table, y: npt.ArrayLike) -> EncodedSample:
        """The sample that `fit(X, y)` would learn from, checked; as private as the table. Raises as `fit` does."""
        return self._checked(X, y)[0]

    def _checked(self, X: Table, y: npt.ArrayLike) -> tuple[EncodedSample, tuple[object, ...]]:
        """The sample and its classes. All that can be wrong with the data is found here."""
        refuse_no_labels(y)
        schema = self._resolved_schema(X)
        codes = encode(X, schema, reader=type(self).__name__)
        classes = self._public_classes(schema, y)
        labels = self._labels(y, classes)
        refuse_other_number(codes.shape[1], labels.size)
        return EncodedSample(Layout(schema), codes, labels), classes

    def fit_encoded(self, sample: EncodedSample, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already; its layout's schema takes precedence.

        Raises ValueError where codes, labels or weights are not what the sample says, before anything is charged.
        """
        return self._fit_sample(sample, self._public_classes(sample.layout.schema), on_round)

    def _prepared(
        self, sample: EncodedSample, classes: tuple[object, ...], noise: NoiseSource, on_round: Progress | None
    ) -> Learning[M]:
        check_encoded(sample, len(classes))
        counted = self._learnt_from(sample)
        plain = super()._prepared(counted, classes, noise, on_round)
        settings = checked_settings(self)
        return (lambda allowance: best_setting(self, settings, counted, allowance, noise)) if settings else plain

    def _learnt_from(self, sample: EncodedSample) -> EncodedSample:
        """The records that count; all, as far as this class knows. Which ones do may hang on each record alone."""
        return sample

    def _resolved_schema(self, table: Table) -> Schema:
        return domain_schema(self.schema, table)

    def _public_classes(self, schema: Schema, y: npt.ArrayLike | None = None) -> tuple[object, ...]:
        """The classes, checked. y: where they are taken from, if the user said so."""
        default: tuple[object, ...] = schema.label.classes if schema.label is not None else (0, 1)
        most = MOST_CLASSES if self._multi_class else 2
        return public_classes(self.classes, default, y, most, type(self).__name__)

    def _labels(self, y: npt.ArrayLike, classes: tuple[object, ...]) -> SignArray:
        """−1 and +1 for two classes, class numbers for more; shape (n,). Raises ValueError."""
        return coded_labels(y, classes)

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
