"""What every private classifier shares: public domain, paying ledger, predictions for free, JSON files."""

import abc
import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from accountant import (
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Composition,
    Description,
    Ledger,
    LedgerCopyRefused,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    Statement,
    ZCDPComposition,
)
from accountant._numbers import positive, probability_below_one
from accountant.calibration import largest_eta
from boosting.measures import FloatArray
from learners.encoding import EncodedSample, Layout
from learners.labels import signs
from learners.schema import IntArray, Schema
from learners.tables import Table, encode, input_names
from mechanisms.noise import NoiseSource, noise_source

Rule: TypeAlias = Literal["auto", "basic", "advanced", "zcdp"]
Progress: TypeAlias = Callable[[int, object], None]
RandomState: TypeAlias = int | np.random.Generator | NoiseSource | None
Check: TypeAlias = Callable[[float], float] | Callable[[int], int] | Callable[[str], str]


class Model(Protocol):
    """What a fit keeps: releases and public parameters, nothing else."""

    @property
    def schema(self) -> Schema:
        """The public domain."""

    def scores(self, codes: IntArray) -> FloatArray:
        """One score per record, shape (n,), positive for the second class. codes: shape (columns, n)."""

    def as_record(self) -> dict[str, object]:
        """For JSON, schema included."""


M = TypeVar("M", bound=Model)


@attrs.frozen
class Allowance:
    """What one fit may spend, and the ledger that pays.

    ledger: where it is charged.  target: the (ε, δ) that the fit was given.  account: who spends.
    """

    ledger: Ledger
    target: PureDP | ApproxDP
    account: str

    @property
    def delta(self) -> float:
        """δ of the target, 0 for pure differential privacy."""
        return self.target.delta if isinstance(self.target, ApproxDP) else 0.0

    def largest_eta(self, plan: Callable[[float], Plan]) -> float:
        """The largest inverse noise scale whose plan the target pays for, by the ledger's rule."""
        return largest_eta(plan, self.target, self.ledger.composition)

    def reserve(self, plan: Plan, adjacency: ReplaceOne | AddRemoveOne, announced: Description) -> Reservation:
        """Charge the whole plan in one entry. announced: what the books say about it. Raises BudgetExceeded."""
        # Only a ledger that adds up (ε, δ) buys a plan at a price; the others add the rounds up themselves.
        delta = self.delta if isinstance(self.ledger.composition, BasicComposition) else 0.0
        return self.ledger.reserve(plan, adjacency=adjacency, delta=delta, account=self.account, mechanism=announced)


class PrivateClassifier(ClassifierMixin, BaseEstimator, abc.ABC, Generic[M]):  # type: ignore[misc]  # untyped base
    """Base of the private classifiers. A subclass writes `__init__`, `_learn`, `_restored` and lists its `_checks`.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    schema: a `Schema`, or the path of a schema file; None takes columns of zeros and ones.
    classes: the public classes, the second positive; None takes the schema's label, else (0, 1).
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta).
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private. A noise source of
      your own is used as it is, and named in the books.
    """

    epsilon: float
    delta: float
    schema: Schema | str | Path | None
    classes: tuple[object, object] | None
    ledger: Ledger | None
    random_state: RandomState
    classes_: npt.NDArray[np.generic]

    _checks: ClassVar[Mapping[str, Check]] = {"epsilon": positive, "delta": probability_below_one}

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # --- what a subclass says ----------------------------------------------------------------------------

    @abc.abstractmethod
    def _learn(self, sample: EncodedSample, allowance: Allowance, noise: NoiseSource, on_round: Progress | None) -> M:
        """Spend on a model. Everything it keeps must be a release or public."""

    @staticmethod
    @abc.abstractmethod
    def _restored(record: Mapping[str, object]) -> M:
        """The inverse of the model's `as_record`. Raises ValueError, KeyError or TypeError for a malformed one."""

    def _adjacency(self) -> ReplaceOne | AddRemoveOne:
        """The relation of the guarantee."""
        return ReplaceOne()

    def _own_rule(self) -> Composition:
        """The rule of a ledger opened for one fit. Adding up (ε, δ) prices the whole plan at δ by the best theorem."""
        return BasicComposition()

    # --- learning ----------------------------------------------------------------------------------------

    def fit(self, X: Table, y: npt.ArrayLike, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns).  y: labels, shape (n,).
        on_round: called after each round with its number and what it released, which is public by then.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        self._parameters()
        if y is None:
            raise ValueError("y: this estimator requires y to be passed, but the target y is None")
        schema = self._resolved_schema(X)
        codes, labels = encode(X, schema), signs(y, self._public_classes(schema))
        if codes.shape[1] != labels.size:
            raise ValueError(f"X has {codes.shape[1]} records, y has {labels.size}")
        names = input_names(X)
        self.fit_encoded(EncodedSample(Layout(schema), codes, labels), on_round=on_round)
        if names is not None:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        return self

    def fit_encoded(self, sample: EncodedSample, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded and checked already; its layout's schema takes precedence."""
        parameters = self._parameters()
        classes = self._public_classes(sample.layout.schema)
        delta = float(self.delta)
        target = ApproxDP(float(self.epsilon), delta) if delta else PureDP(float(self.epsilon))
        ledger = self._paying_ledger(target)
        allowance = Allowance(ledger, target, type(self).__name__)
        model = self._learn(sample, allowance, noise_source(self.random_state), on_round)
        self.parameters_ = parameters
        self._keep(model, classes, ledger)
        return self

    def _parameters(self) -> dict[str, object]:
        """Parameters as plain values, refused here because scikit-learn's set_params may change them until fit."""
        checked: dict[str, object] = {}
        for name, check in self._checks.items():
            try:
                checked[name] = check(getattr(self, name))
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from None
        return checked

    def _resolved_schema(self, table: Table) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if self.schema is not None:
            return Schema.from_toml(self.schema)
        names = input_names(table)
        if names is None:
            array = np.asarray(table)
            if array.ndim != 2:
                raise ValueError(f"expected an array of shape (n, columns), got shape {array.shape}")
            names = [f"x{number}" for number in range(array.shape[1])]
        return Schema.boolean(names)

    def _public_classes(self, schema: Schema) -> tuple[object, object]:
        if self.classes is not None:
            if isinstance(self.classes, str) or len(self.classes) != 2 or self.classes[0] == self.classes[1]:
                raise ValueError(f"classes: expected two distinct classes, got {self.classes!r}")
            return self.classes
        return schema.label.classes if schema.label is not None else (0, 1)

    def _paying_ledger(self, target: PureDP | ApproxDP) -> Ledger:
        if self.ledger is None:
            return Ledger(target, composition=self._own_rule(), adjacency=self._adjacency())
        if not isinstance(self.ledger, Ledger):
            raise TypeError(f"ledger: expected a Ledger, got {type(self.ledger).__name__}")
        return self.ledger

    def _keep(self, model: M, classes: tuple[object, object], ledger: Ledger) -> None:
        """Fitted state: releases, public parameters, and nothing else."""
        self.model_ = model
        self.classes_ = np.array(classes)
        self.ledger_, self.statement_ = ledger, ledger.statement()
        self.n_features_in_ = len(model.schema.columns)
        self.__dict__.pop("feature_names_in_", None)

    # --- using what was learnt: post-processing, free of charge ------------------------------------------

    def _fitted(self) -> M:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.model_

    def decision_function(self, X: Table) -> FloatArray:
        """The model's score, shape (n,); positive for the second class."""
        model = self._fitted()
        return model.scores(encode(X, model.schema))

    def predict(self, X: Table) -> npt.NDArray[np.generic]:
        """Classes, shape (n,); a score of 0 goes to the first class."""
        self._fitted()
        return self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)]

    # --- keeping it ----------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its privacy statement inside; no pickle needed."""
        model = self._fitted().as_record()
        record: dict[str, object] = {
            "format": "exchequer-model",
            "version": 1,
            "learner": type(self).__name__,
            "parameters": self.parameters_,
            "classes": self.classes_.tolist(),
            "model": model,
            "statement": self.statement_.as_dict(),
        }
        Path(path).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote, ready to predict; of the base class, whatever learner wrote it.

        Raises ValueError naming what is wrong with the file.
        """
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(record, dict) or record.get("format") != "exchequer-model" or record.get("version") != 1:
                raise ValueError("not an exchequer model of version 1")
            return cast("Self", _learner(cls, str(record["learner"]))._from_record(record))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def _from_record(cls, record: Mapping[str, object]) -> Self:
        kept, parameters = cls._restored(cast("Mapping[str, object]", record["model"])), record["parameters"]
        classes = cast("list[object]", record["classes"])
        arguments = dict(cast("Mapping[str, object]", parameters))
        model = cls(**arguments, schema=kept.schema, classes=tuple(classes))
        model.model_, model.parameters_ = kept, arguments
        model.classes_ = np.array(classes)
        model.n_features_in_ = len(kept.schema.columns)
        model.statement_ = Statement.from_dict(cast("Mapping[str, object]", record["statement"]))
        return model

    def __getstate__(self) -> dict[str, object]:
        """Pickling leaves the ledger behind: books exist once. An estimator that still has to pay does not pickle."""
        if self.ledger is not None:
            raise LedgerCopyRefused(
                "this estimator holds a ledger, which exists once; use n_jobs=1, or save(path) a fitted model"
            )
        state = cast("dict[str, object]", super().__getstate__())
        return {name: value for name, value in state.items() if name != "ledger_"}


def _learner(base: type[PrivateClassifier[M]], name: str) -> type[PrivateClassifier[M]]:
    """The learner of that name among `base` and what is derived from it."""
    if base.__name__ == name:
        return base
    for kind in base.__subclasses__():
        with contextlib.suppress(ValueError):
            return _learner(kind, name)
    raise ValueError(f"the model is of {name!r}, which is not {base.__name__} nor derived from it")


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
