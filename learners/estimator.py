"""What every private classifier shares: public domain, paying ledger, predictions for free, JSON files."""

import abc
import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from accountant import (
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Composition,
    Ledger,
    LedgerCopyRefused,
    PureDP,
    ReplaceOne,
    Statement,
    ZCDPComposition,
)
from accountant._numbers import positive, probability_below_one
from accountant.charges import noted
from accountant.files import whole_file
from accountant.receipts import Receipt
from boosting.measures import FloatArray
from boosting.schema import SignArray
from learners.allowance import Allowance
from learners.contents import content_digest
from learners.encoding import EncodedSample, Layout, check_encoded
from learners.labels import MOST_CLASSES, coded_labels, observed_classes
from learners.schema import Bounds, IntArray, Schema
from learners.tables import Frame, Table, encode, input_names, table_names
from learners.tuning import best_setting, checked_settings
from mechanisms.noise import NoiseSource, noise_source

Rule: TypeAlias = Literal["auto", "basic", "advanced", "zcdp"]
Progress: TypeAlias = Callable[[int, object], None]
Domain: TypeAlias = Schema | Bounds | str | Path | None
Classes: TypeAlias = tuple[object, ...] | Literal["observed"] | None
RandomState: TypeAlias = int | np.random.Generator | NoiseSource | None
Check: TypeAlias = Callable[[Any], object]
"""Takes a parameter as the user gave it and returns the plain value that is saved; raises TypeError or ValueError."""


class Model(Protocol):
    """What a fit keeps: releases and public parameters, nothing else."""

    @property
    def schema(self) -> Schema:
        """The public domain."""

    def scores(self, codes: IntArray) -> FloatArray:
        """One score per record, shape (n,), positive for the second class. codes: shape (columns, n).

        Of a learner of three classes or more: one per record and class, shape (n, classes), the highest wins.
        """

    def as_record(self) -> dict[str, object]:
        """For JSON, schema included."""


M = TypeVar("M", bound=Model)


class PrivateClassifier(ClassifierMixin, BaseEstimator, abc.ABC, Generic[M]):  # type: ignore[misc]  # untyped base
    """Base of the private classifiers. A subclass writes `__init__`, `_learn`, `_restored` and lists its `_checks`.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    schema: a `Schema`, or the path of a schema file; `Bounds(lower, upper)` takes columns of numbers within these
      public bounds, as many as there are; None takes columns of zeros and ones.
    classes: the public classes, of two the second positive; None takes the schema's label, else (0, 1). "observed"
      declares that which classes occur in y is public, and takes them in rising order.
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta). The URL of a
      durable ledger that exists is opened for each fit, in whatever process that runs; a password in it would show.
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private. A noise source of
      your own is used as it is, and named in the books.
    """

    epsilon: float
    delta: float
    schema: Domain
    classes: Classes
    ledger: Ledger | str | None
    random_state: RandomState
    classes_: npt.NDArray[np.generic]
    receipts_: tuple[Receipt, ...]
    """For each entry that the fit was charged with on the `ledger` it was given; none for a ledger of its own."""

    _checks: ClassVar[Mapping[str, Check]] = {"epsilon": positive, "delta": probability_below_one}
    _multi_class: ClassVar[bool] = False
    """Whether more than two classes are learnt. `EncodedSample.labels` then holds class numbers where there are."""

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        return tags

    def _more_tags(self) -> dict[str, bool]:  # what scikit-learn before 1.6 asks for instead
        return {"binary_only": not self._multi_class}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # --- what a subclass says ----------------------------------------------------------------------------

    @abc.abstractmethod
    def _learn(self, sample: EncodedSample, allowance: Allowance, noise: NoiseSource, on_round: Progress | None) -> M:
        """Spend on a model. Everything it keeps must be a release or public."""

    @staticmethod
    @abc.abstractmethod
    def _restored(record: Mapping[str, object]) -> M:
        """The inverse of the model's `as_record`. Raises ValueError, KeyError or TypeError for a malformed one."""

    def _refuse(self, sample: EncodedSample, classes: tuple[object, ...]) -> None:
        """Raise ValueError where this sample and these parameters cannot be fitted; before anything is charged."""

    def _rests_on(self) -> tuple[str, ...]:
        """Claims that a fit's cost rests on, for the entry of a private choice among fits."""
        return ()

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
        names = input_names(X)
        self._fit_sample(sample, classes, on_round)
        if names is not None:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        return self

    def encoded(self, X: Table, y: npt.ArrayLike) -> EncodedSample:
        """The sample that `fit(X, y)` would learn from, checked; as private as the table. Raises as `fit` does."""
        return self._checked(X, y)[0]

    def _checked(self, X: Table, y: npt.ArrayLike) -> tuple[EncodedSample, tuple[object, ...]]:
        """The sample and its classes. All that can be wrong with the data is found here."""
        if y is None:
            raise ValueError("y: this estimator requires y to be passed, but the target y is None")
        schema = self._resolved_schema(X)
        codes = encode(X, schema, reader=type(self).__name__)
        classes = self._public_classes(schema, y)
        labels = self._labels(y, classes)
        if codes.shape[1] != labels.size:
            raise ValueError(f"X has {codes.shape[1]} records, y has {labels.size}")
        return EncodedSample(Layout(schema), codes, labels), classes

    def fit_encoded(self, sample: EncodedSample, *, on_round: Progress | None = None) -> Self:
        """`fit` on a sample that is encoded already; its layout's schema takes precedence.

        Raises ValueError where codes, labels or weights are not what the sample says, before anything is charged.
        """
        return self._fit_sample(sample, self._public_classes(sample.layout.schema), on_round)

    def _fit_sample(self, sample: EncodedSample, classes: tuple[object, ...], on_round: Progress | None) -> Self:
        parameters = self._parameters()
        check_encoded(sample, len(classes))
        delta = float(self.delta)
        target = ApproxDP(float(self.epsilon), delta) if delta else PureDP(float(self.epsilon))
        self._refuse(sample, classes)
        noise, settings = noise_source(self.random_state), checked_settings(self)
        ledger = self._paying_ledger(target)
        try:
            with noted(ledger) as charged, _told_how_to_budget():
                allowance = Allowance(ledger, target, type(self).__name__, classes)
                model, tuned = self._learnt(sample, allowance, noise, settings, on_round)
            receipts: tuple[Receipt, ...] = ()
            plain = parameters | (tuned or {})
            if self.ledger is not None:
                bought = self._bought(model, classes, plain, tuned)
                receipts = tuple(ledger.receipt(number, bought=bought) for number in charged)
            self._keep(model, classes, ledger, tuned)
        finally:
            if isinstance(self.ledger, str):
                ledger.close()
        self.parameters_, self.receipts_ = plain, receipts
        return self

    def _learnt(
        self,
        sample: EncodedSample,
        allowance: Allowance,
        noise: NoiseSource,
        settings: Sequence[dict[str, object]],
        on_round: Progress | None,
    ) -> tuple[M, dict[str, object] | None]:
        """The model, and the setting that won where there are several."""
        if not settings:
            return self._learn(sample, allowance, noise, on_round), None
        return best_setting(self, settings, sample, allowance, noise)

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
        if isinstance(self.schema, Bounds):
            return self.schema.over(table_names(table))
        if self.schema is not None:
            return Schema.from_toml(self.schema)
        return Schema.boolean(table_names(table))

    def _public_classes(self, schema: Schema, y: npt.ArrayLike | None = None) -> tuple[object, ...]:
        """The classes, checked. y: where they are taken from, if the user said so."""
        classes: tuple[object, ...] = schema.label.classes if schema.label is not None else (0, 1)
        if isinstance(self.classes, str) and self.classes == "observed":
            if y is None:
                raise ValueError("classes: 'observed' needs y, and codes do not tell; use fit, or name the classes")
            classes = observed_classes(y)
            if len(classes) < 2:
                raise ValueError(f"y holds one class only, {classes[0]!r}: there is nothing to learn")
        elif self.classes is not None:
            classes = distinct_classes(self.classes)
        if len(classes) > MOST_CLASSES:
            raise ValueError(f"classes: expected at most {MOST_CLASSES}, got {len(classes)}")
        if len(classes) > 2 and not self._multi_class:
            raise ValueError(
                f"Only binary classification is supported. There are {len(classes)} classes, {classes!r}, and "
                f"{type(self).__name__} learns two distinct classes"
            )
        return classes

    def _labels(self, y: npt.ArrayLike, classes: tuple[object, ...]) -> SignArray:
        """−1 and +1 for two classes, class numbers for more; shape (n,). Raises ValueError."""
        return coded_labels(y, classes)

    def _paying_ledger(self, target: PureDP | ApproxDP) -> Ledger:
        if self.ledger is None:
            return Ledger(target, composition=self._own_rule(), adjacency=self._adjacency())
        if isinstance(self.ledger, str) and "://" in self.ledger:
            return Ledger.open(self.ledger)
        if isinstance(self.ledger, LedgerLeftBehind):
            raise LedgerCopyRefused(LEFT_BEHIND)
        if not isinstance(self.ledger, Ledger):
            raise TypeError(f"ledger: expected a Ledger or the URL of one, got {type(self.ledger).__name__}")
        return self.ledger

    def _keep(
        self, model: M, classes: tuple[object, ...], ledger: Ledger, tuned: dict[str, object] | None = None
    ) -> None:
        """Fitted state: releases, public parameters, and nothing else."""
        statement = ledger.statement()  # first: should the books not answer, the last fit stays as it was
        self.model_ = model
        self.classes_ = class_array(classes)
        self.ledger_, self.statement_ = ledger, statement
        self.n_features_in_ = len(model.schema.columns)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.pop("tuned_", None)
        if tuned is not None:
            self.tuned_ = tuned
            self.__dict__.pop("eta_", None)  # of an earlier fit; the runs of a private choice stay hidden

    # --- using what was learnt: post-processing, free of charge ------------------------------------------

    def _fitted(self) -> M:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.model_

    def _refuse_other_names(self, X: Table) -> None:
        """Where the columns were those of the frame in `fit`, the same are asked for. A schema finds them by name."""
        if not isinstance(X, Frame) or not hasattr(self, "feature_names_in_"):
            return
        if self.schema is not None and not isinstance(self.schema, Bounds):
            return
        seen, given = list(self.feature_names_in_), input_names(X) or []
        if given == seen:
            return
        said = ["The feature names should match those that were passed during fit."]
        for what, names in (
            ("Feature names unseen at fit time:", sorted(set(given) - set(seen))),
            ("Feature names seen at fit time, yet now missing:", sorted(set(seen) - set(given))),
        ):
            said += [what, *(f"- {name}" for name in names)] if names else []
        if len(said) == 1:
            said.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(said) + "\n")

    def decision_function(self, X: Table) -> FloatArray:
        """The model's score, shape (n,); positive for the second class. For three classes or more, shape (n, classes).

        X: as in `fit`. With a `Schema`, named columns may come in any order, and further ones are left aside.
        """
        model = self._fitted()
        self._refuse_other_names(X)
        return model.scores(encode(X, model.schema, reader=type(self).__name__))

    def predict(self, X: Table) -> npt.NDArray[np.generic]:
        """Classes, shape (n,); a score of 0, or the same score for several classes, goes to the first of them."""
        scores = self.decision_function(X)
        best = scores > 0.0 if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[best.astype(np.intp)]

    # --- keeping it ----------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its privacy statement and its receipts inside; no pickle needed.

        The file is replaced as a whole, or stays as it was. Raises TypeError naming what JSON cannot hold: parameters
        or classes that are objects.
        """
        tuned = getattr(self, "tuned_", None)
        content = self._content(self._fitted(), self.classes_.tolist(), self.parameters_, tuned)
        record: dict[str, object] = {
            "format": "exchequer-model",
            "version": 1,
            **content,
            "statement": self.statement_.as_dict(),
            "receipts": [each.as_dict() for each in self.receipts_],
        }
        _refuse_objects({**self.parameters_, "classes": content["classes"], "the model": content["model"]})
        with whole_file(path) as out:
            out.write(json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def _content(
        self, model: M, classes: Sequence[object], parameters: Mapping[str, object], tuned: object
    ) -> dict[str, object]:
        """What a file says that the model is; receipts vouch for its digest."""
        return {
            "learner": type(self).__name__,
            "parameters": dict(parameters),
            "classes": class_array(classes).tolist(),
            "tuned": tuned,
            "model": model.as_record(),
        }

    def _bought(
        self, model: M, classes: Sequence[object], parameters: Mapping[str, object], tuned: object
    ) -> str | None:
        """The digest of what a file will say that the model is; None where JSON has nothing for it."""
        try:
            return content_digest(self._content(model, classes, parameters, tuned))
        except (TypeError, ValueError, RecursionError):
            return None  # and `save` will say what it is

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
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def _from_record(cls, record: Mapping[str, object]) -> Self:
        kept, parameters = cls._restored(cast("Mapping[str, object]", record["model"])), record["parameters"]
        classes = distinct_classes(cast("Sequence[object]", record["classes"]))
        if len(classes) > 2 and not cls._multi_class:
            raise ValueError(f"the model is binary and has {len(classes)} classes")
        arguments = dict(cast("Mapping[str, object]", parameters))
        model = cls(**arguments, schema=kept.schema, classes=classes)
        model.model_, model.parameters_ = kept, arguments
        model.classes_ = class_array(classes)
        if (tuned := record.get("tuned")) is not None:
            model.tuned_ = dict(cast("Mapping[str, object]", tuned))
        model.n_features_in_ = len(kept.schema.columns)
        model.statement_ = Statement.from_dict(cast("Mapping[str, object]", record["statement"]))
        receipts = cast("Sequence[Mapping[str, object]]", record.get("receipts", ()))  # models of 0.1 have none
        model.receipts_ = tuple(Receipt.from_dict(each) for each in receipts)
        return model

    def __getstate__(self) -> dict[str, object]:
        """Pickling, and copying, leaves the ledger behind: books exist once. What arrives predicts, and cannot fit."""
        # Not refused here: on the way to a worker process nobody would see why. A fit there says it.
        state = cast("dict[str, object]", super().__getstate__())
        kept = {name: value for name, value in state.items() if name != "ledger_"}
        return {**kept, "ledger": LedgerLeftBehind()} if isinstance(self.ledger, Ledger) else kept


class LedgerLeftBehind:
    """In the place of a ledger, in an estimator that was pickled or copied: a fit must not be free of charge."""

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return "<a ledger that was left behind>"


LEFT_BEHIND: Final = (
    "this estimator was copied, or sent to another process, without its ledger: books exist once, and two copies of "
    "one budget would both be spent. Nothing was charged. Use n_jobs=1 or joblib.parallel_backend('threading'), or "
    "give the URL of a durable ledger, ledger='sqlite:///study.db', which every process opens for itself"
)
HOW_TO_BUDGET: Final = (
    "Each fit on a ledger is charged for itself: one for each fold and setting of a cross-validation or a search, and "
    "one for the refit. For k of them the budget must be k times what one costs; Budget.split(k) gives equal parts. "
    "error_score='raise' stops at the first fit that is refused, instead of going on with scores of nan."
)


@contextlib.contextmanager
def _told_how_to_budget() -> Iterator[None]:
    """Add advice to a refusal; it is printed below the message, also where scikit-learn reports failed fits."""
    try:
        yield
    except BudgetExceeded as error:
        error.add_note(HOW_TO_BUDGET)
        raise


def _learner(base: type[PrivateClassifier[M]], name: str) -> type[PrivateClassifier[M]]:
    """The learner of that name among `base` and what is derived from it."""
    if base.__name__ == name:
        return base
    for kind in base.__subclasses__():
        with contextlib.suppress(ValueError):
            return _learner(kind, name)
    raise ValueError(f"the model is of {name!r}, which is not {base.__name__} nor derived from it")


def distinct_classes(classes: Sequence[object]) -> tuple[object, ...]:
    """Declared classes, checked. Raises ValueError."""
    found = () if isinstance(classes, str) else tuple(classes)
    if len(found) > MOST_CLASSES:
        raise ValueError(f"classes: expected at most {MOST_CLASSES}, got {len(found)}")
    if len(found) < 2 or any(one == other for one, other in itertools.combinations(found, 2)):
        raise ValueError(f"classes: expected two distinct classes or more, got {classes!r}")
    return found


def class_array(classes: Sequence[object]) -> npt.NDArray[np.generic]:
    """Classes as an array, shape (classes,); of objects where numpy would make text of numbers."""
    plain = np.array(classes)
    if plain.shape == (len(classes),) and plain.tolist() == list(classes):
        return plain
    boxed = np.empty(len(classes), dtype=object)
    for number, name in enumerate(classes):
        boxed[number] = name
    return boxed


def _refuse_objects(parts: Mapping[str, object]) -> None:
    for name, value in parts.items():
        try:
            json.dumps(value, allow_nan=False)  # a file with Infinity in it is no JSON, and nobody verifies it
        except (TypeError, ValueError) as error:
            what = f"{name}: {value!r}" if len(repr(value)) < 200 else f"{name}: {type(value).__name__}"
            raise TypeError(f"{what} cannot be saved, because JSON has nothing for it: {error}") from error


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
