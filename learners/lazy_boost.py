"""LazyBB with private 1-Rules, as a scikit-learn classifier that pays through a ledger."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Composition,
    Ledger,
    LedgerCopyRefused,
    Plan,
    PureDP,
    ReplaceOne,
    Statement,
    ZCDPComposition,
)
from accountant._numbers import count, fraction, positive, probability_below_one
from accountant.calibration import largest_eta
from boosting import LazyBregman, boost, boosting_plan, certificates
from boosting.measures import FloatArray
from learners.encoding import EncodedSample, Layout
from learners.labels import signs
from learners.one_rule import OneRule, PrivateOneRule
from learners.schema import IntArray, Schema
from learners.tables import Table, encode, input_names
from learners.votes import Vote, VoteModel
from mechanisms.noise import NoiseSource, noise_source

Rule: TypeAlias = Literal["auto", "basic", "advanced", "zcdp"]
Progress: TypeAlias = Callable[[int, OneRule], None]


class LazyBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Boosted private 1-Rules: LazyBB of Asadi et al. with the tight cost of DP-1R. [001-Thm7]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger in one entry before the first round. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    rounds: number of 1-Rules, T, at most 4,096.  learning_rate: λ > 0.
    density: κ in (0, 1], the smoothness of the weighting.
    schema: a `Schema`, or the path of a schema file; None takes columns of zeros and ones.
    classes: the two public classes, the second positive; None takes the schema's label, else (0, 1).
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta).
    composition: the rule of that own ledger. "auto" prices the whole plan of rounds at delta by the best
      theorem; "basic" does the same; "advanced" and "zcdp" add up round by round and need delta > 0.
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private. A noise
      source of your own is used as it is, and named in the books.

    >>> import numpy as np
    >>> from accountant import PureDP
    >>> from learners import LazyBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 5))
    >>> model = LazyBoostClassifier(epsilon=1.0, rounds=5, random_state=0).fit(X, X[:, 2])
    >>> model.explain()[0].feature
    'x2'
    >>> model.ledger_.spent <= PureDP(1.0)
    True
    """

    classes_: npt.NDArray[np.generic]

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        rounds: int = 25,
        learning_rate: float = 0.45,
        density: float = 0.35,
        schema: Schema | str | Path | None = None,
        classes: tuple[object, object] | None = None,
        ledger: Ledger | None = None,
        composition: Rule = "auto",
        random_state: int | np.random.Generator | NoiseSource | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.density = density
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.composition = composition
        self.random_state = random_state

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # --- learning --------------------------------------------------------------------------------------

    def fit(self, X: Table, y: npt.ArrayLike, *, on_round: Progress | None = None) -> Self:
        """Spend (epsilon, delta) on `rounds` 1-Rules.

        X: n records, a DataFrame, a mapping of columns or an array (n, columns).  y: labels, shape (n,).
        on_round: called after each round with its number and its (public) rule.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all
        before anything is charged.
        """
        self._checked()
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
        target, booster = self._checked()
        classes = self._public_classes(sample.layout.schema)
        ledger = self._paying_ledger(target)
        rules, self.eta_ = self._boost(sample, booster, ledger, target, on_round)
        self.parameters_ = self._parameters()
        self._keep(sample.layout.schema, classes, rules, ledger)
        return self

    def _parameters(self) -> dict[str, float]:
        """Parameters as plain numbers, refused here because scikit-learn's set_params may change them until fit."""
        checked: dict[str, float] = {}
        for name, check in _CHECKS.items():
            try:
                checked[name] = check(getattr(self, name))
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from None
        return checked

    def _checked(self) -> tuple[PureDP | ApproxDP, LazyBregman]:
        given = self._parameters()
        epsilon, delta = given["epsilon"], given["delta"]
        target = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
        return target, LazyBregman(given["density"], given["learning_rate"])

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
        if self.ledger is not None:
            if self.composition != "auto":
                raise ValueError("composition: the ledger brings its own rule; leave composition='auto'")
            if not isinstance(self.ledger, Ledger):
                raise TypeError(f"ledger: expected a Ledger, got {type(self.ledger).__name__}")
            return self.ledger
        return Ledger(target, composition=_rule(self.composition, self.delta), adjacency=ReplaceOne())

    def _boost(
        self,
        sample: EncodedSample,
        booster: LazyBregman,
        ledger: Ledger,
        target: PureDP | ApproxDP,
        on_round: Progress | None,
    ) -> tuple[list[OneRule], float]:
        noise = noise_source(self.random_state)
        runs = certificates(booster, self.rounds, sample.n)

        def plan(eta: float) -> Plan:
            return boosting_plan(PrivateOneRule(sample.layout, eta, noise), runs)

        eta = largest_eta(plan, target, ledger.composition)
        learner = PrivateOneRule(sample.layout, eta, noise)
        # Only a ledger that adds up (ε, δ) buys a plan at a price; the others add the rounds up themselves.
        delta = self.delta if isinstance(ledger.composition, BasicComposition) else 0.0
        announced = learner.mechanism(runs[-1][0].zeta).under(runs[-1][0]).description
        data = ledger.protect(sample)
        with ledger.reserve(
            plan(eta), adjacency=ReplaceOne(), delta=delta, account=type(self).__name__, mechanism=announced
        ) as charge:
            rules = boost(data, sample.n, booster, learner, self.rounds, charge, on_round)
        return rules, eta

    def _keep(self, schema: Schema, classes: tuple[object, object], rules: list[OneRule], ledger: Ledger) -> None:
        """Fitted state: releases, public parameters, and nothing else."""
        self.model_ = VoteModel(schema, rules)
        self.classes_ = np.array(classes)
        self.ledger_, self.statement_ = ledger, ledger.statement()
        self.n_features_in_ = len(schema.columns)
        self.__dict__.pop("feature_names_in_", None)

    # --- using what was learnt: post-processing, free of charge ------------------------------------------

    def _fitted(self) -> VoteModel:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.model_

    def _codes(self, table: Table) -> IntArray:
        return encode(table, self._fitted().schema)

    def decision_function(self, X: Table) -> FloatArray:
        """Mean vote, shape (n,), in [−1, 1]; positive for the second class."""
        return self._fitted().margins(self._codes(X))

    def predict(self, X: Table) -> npt.NDArray[np.generic]:
        """Classes, shape (n,); a tied vote goes to the first class."""
        self._fitted()
        return self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)]

    def predict_proba(self, X: Table) -> FloatArray:
        """Shares of the vote, shape (n, 2). They rank records; they are not calibrated."""
        share = 0.5 * (1.0 + self.decision_function(X))
        return np.column_stack([1.0 - share, share])

    def explain(self) -> list[Vote]:
        """The vote table of the paper's Table 4: net votes, feature, value; most votes first."""
        return self._fitted().table()

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

    @staticmethod
    def load(path: str | Path) -> "LazyBoostClassifier":
        """Read what `save` wrote, ready to predict. Raises ValueError naming what is wrong with the file."""
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(record, dict) or record.get("format") != "exchequer-model" or record.get("version") != 1:
                raise ValueError("not an exchequer model of version 1")
            schema = Schema.from_dict(record["model"]["schema"])
            model = LazyBoostClassifier(schema=schema, classes=tuple(record["classes"]), **record["parameters"])
            model.model_ = VoteModel.from_record(schema, record["model"]["rules"])
            model.classes_, model.parameters_ = np.array(record["classes"]), dict(record["parameters"])
            model.n_features_in_ = len(schema.columns)
            model.statement_ = Statement.from_dict(record["statement"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: {error}") from error
        return model

    def __getstate__(self) -> dict[str, object]:
        """A fitted model pickles without its ledger; one that still has to pay does not pickle."""
        if self.ledger is not None:
            raise LedgerCopyRefused(
                "this estimator holds a ledger, which exists once; use n_jobs=1, or save(path) a fitted model"
            )
        state = cast("dict[str, object]", super().__getstate__())
        return {name: value for name, value in state.items() if name != "ledger_"}


_CHECKS: dict[str, Callable[[float], float] | Callable[[int], int]] = {
    "epsilon": positive,
    "delta": probability_below_one,
    "rounds": count,
    "learning_rate": positive,
    "density": fraction,
}


def _rule(name: Rule, delta: float) -> Composition:
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
