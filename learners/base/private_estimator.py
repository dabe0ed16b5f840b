"""What every private estimator shares, whatever it learns from: a ledger that pays, receipts, and JSON files."""

import abc
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from accountant import (
    Adjacency,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Composition,
    Ledger,
    LedgerCopyRefused,
    NoBound,
    PureDP,
    Statement,
    Unbounded,
)
from accountant.audit import content_digest
from accountant.costs import positive, probability_below_one
from accountant.entries import Receipt, whole_file
from accountant.ledger import noted
from learners.base.budget import FitBudget
from learners.base.fit_plan import Chosen, Dataset, FitPlan, FitResult, Progress
from learners.base.learner_kinds import learner_named
from learners.base.old_parameters import RenamedParameters
from learners.base.round_lines import with_lines
from learners.base.searches import warn_of_stratified_splits
from learners.base.separate_ledgers import Family, Member
from learners.tables import BLOCK_READERS, Table, class_array, distinct_classes
from mechanisms.randomness import NoiseSource, noise_source

RandomState: TypeAlias = int | np.random.Generator | NoiseSource | None
Check: TypeAlias = Callable[[Any], object]
"""Takes a parameter as the user gave it and returns the plain value that is saved; raises TypeError or ValueError."""


S = TypeVar("S")
K = TypeVar("K", bound=FitResult)


class PrivateEstimator(RenamedParameters, abc.ABC, Generic[S, K]):
    """Base of the private estimators: learns a K from an S, and pays for it.

    A subclass lists its `_checks`, makes a `Dataset` in `fit` and states its `_plan`.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    ledger: the ledger that pays; None opens one in memory for each fit, with exactly (epsilon, delta), and from the
      second fit of an estimator, its clones and its copies on warns with what they are together
      (`SeparateLedgersWarning`). The URL of a durable ledger that exists is opened for each fit, in whatever process
      that runs; a password in it would show. One with sub-budgets must be told which pays: ledger.sub_budget(name),
      .labelled("main") or .announce(label).
    random_state: None draws secure noise. An integer or a numpy Generator simulates: not private, and refused with a
      durable ledger, unless given as `SeededNoise(seed)`. A noise source of your own is used as it is, and named in
      the ledger.
    """

    epsilon: float
    delta: float
    ledger: Ledger | str | None
    random_state: RandomState
    classes_: npt.NDArray[np.generic]
    feature_names_in_: npt.NDArray[np.object_]
    n_features_in_: int
    receipts_: tuple[Receipt, ...]
    """For each entry that the fit was charged with on the `ledger` it was given; none for a ledger of its own."""

    _checks: ClassVar[Mapping[str, Check]] = {"epsilon": positive, "delta": probability_below_one}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # --- what a subclass says ----------------------------------------------------------------------------

    _keeps: ClassVar[type[FitResult]]
    """What `_plan` gives and a file restores."""

    takes_blocks: ClassVar[bool] = False
    """Whether `fit` takes a table in blocks, see `learners.blocks.block_tables`."""

    trains_in_databases: ClassVar[bool] = False
    """Whether it takes a `SqlTable` whose records stay in the database."""

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        if "_learn" in vars(cls) and "_plan" not in vars(cls):  # it would be ignored
            raise TypeError(
                f"{cls.__name__}: a learner states _plan, which gives a FitPlan, for _learn; see CHANGELOG.md"
            )
        if cls.takes_blocks:
            BLOCK_READERS.append(cls)

    @abc.abstractmethod
    def fit(self, X: Table, y: npt.ArrayLike, *, on_round: Progress | None = None) -> Self:
        """Learn at a cost of at most (epsilon, delta), charged before the first release; see the subclass.

        A subclass makes its `Dataset` and returns `self._fit(...)`.
        """

    @abc.abstractmethod
    def _plan(self, records: S, budget: FitBudget, noise: NoiseSource) -> FitPlan[S, K]:
        """What a fit will release, what that costs, and how it is put together.

        Of the records it looks at what is public only, such as how many there are. Everything that its model keeps
        must be a release or public. Raises ValueError where these records and parameters cannot be fitted: nothing
        is charged then.
        """

    @staticmethod
    @abc.abstractmethod
    def _inputs(model: K) -> int:
        """The number of columns that it takes."""

    def _own_rule(self) -> Composition:
        """The rule of a ledger opened for one fit. Adding up (ε, δ) prices the whole plan at δ by the best theorem."""
        return BasicComposition()

    def _show(self, model: K) -> None:
        """Set the public attributes of a model that scikit-learn's users look for, fitted or loaded."""

    # --- learning ----------------------------------------------------------------------------------------

    def _fit(self, dataset: Callable[[], Dataset[S]], on_round: Progress | None) -> Self:
        """Check the parameters, make the dataset, plan, charge, run, keep. dataset: all that is wrong with the data."""
        parameters = self._parameters()
        on_round = with_lines(self, on_round)
        warn_of_stratified_splits(self)
        data = dataset()
        delta = float(self.delta)
        target = ApproxDP(float(self.epsilon), delta) if delta else PureDP(float(self.epsilon))
        noise = noise_source(self.random_state, self.ledger)
        with self._payer() as payer:
            rule = self._own_rule() if payer is None else payer.composition
            budget = FitBudget(target, rule, type(self).__name__, data.classes)
            plan = self._planned(data.records, budget, noise)
            ledger = _own_ledger(budget, plan.adjacency) if payer is None else payer
            with self._counted(ledger, noise) as fit, noted(ledger) as charged, _told_how_to_budget():
                found = plan.carried_out(ledger, budget, data.records, on_round)
            model, tuned = (found.model, found.setting) if isinstance(found, Chosen) else (found, None)
            plain = parameters | (tuned or {})
            receipts: tuple[Receipt, ...] = ()
            if payer is not None:
                bought = self._bought(model, data.classes, plain, tuned)
                receipts = tuple(ledger.receipt(number, bought=bought) for number in charged)
                if bought is not None and ledger.about and charged:
                    ledger.note_model(bought, charged)
                if charged:
                    ledger.sign()
            statement = ledger.statement()  # first: should the ledger not answer, the last fit stays as it was
            self._remember(model, data.classes, data.names, tuned, plan.shown)
            self.ledger_, self.statement_ = ledger, statement
            self._member = Member(self._kin.family, fit)
        self.parameters_, self.receipts_ = plain, receipts
        return self

    def _planned(self, records: S, budget: FitBudget, noise: NoiseSource) -> "FitPlan[S, K] | FitPlan[S, Chosen[K]]":
        """The plan, or that of a private choice among several."""
        return self._plan(records, budget, noise)

    def _parameters(self) -> dict[str, object]:
        """Parameters as plain values, refused here because scikit-learn's set_params may change them until fit."""
        checked: dict[str, object] = {}
        for name, check in self._checks.items():
            try:
                checked[name] = check(getattr(self, name))
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from None
        return checked

    def _payer(self) -> contextlib.AbstractContextManager[Ledger | None]:
        """The ledger that the user gave, opened for a block where it is a URL; None for one of the fit's own."""
        if isinstance(self.ledger, str) and "://" in self.ledger:
            return Ledger.open(self.ledger)
        if isinstance(self.ledger, LedgerLeftBehind):
            raise LedgerCopyRefused(LEFT_BEHIND)
        if not isinstance(self.ledger, Ledger | None):
            raise TypeError(f"ledger: expected a Ledger or the URL of one, got {type(self.ledger).__name__}")
        return contextlib.nullcontext(self.ledger)

    def _remember(
        self,
        model: K,
        classes: Sequence[object],
        names: Sequence[str] | None = None,
        tuned: dict[str, object] | None = None,
        shown: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Fitted state that needs no ledger: releases, public parameters, and nothing else."""
        for name in self.__dict__.pop("_of_last_fit", ()):
            self.__dict__.pop(name, None)
        before = set(vars(self))
        self.model_ = model
        if classes:  # a regression has none
            self.classes_ = class_array(classes)
        self.n_features_in_ = self._inputs(model)
        if tuned is not None:
            self.tuned_ = tuned
        self._show(model)
        if names is not None:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        self.__dict__.update(shown)
        self._of_last_fit = (*sorted(set(vars(self)) - before - {"model_"}), "ledger_", "statement_", "receipts_")

    # --- one of several fits -----------------------------------------------------------------------------

    @property
    def statement_(self) -> Statement:
        """What the fit cost; where others had ledgers of their own, too, which of those known by now it is."""
        if "statement_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'statement_' before a fit")
        return self._kin.told(cast("Statement", self.__dict__["statement_"]))

    @statement_.setter
    def statement_(self, statement: Statement) -> None:
        self.__dict__["statement_"], self._member = statement, Member(self._kin.family)

    @property
    def _kin(self) -> Member:
        """Its place among its clones and copies. Made when it is asked for, as `__init__` sets parameters only."""
        found = self.__dict__.get("_member")
        return cast("Member", found or self.__dict__.setdefault("_member", Member()))

    def _counted(self, ledger: Ledger, noise: NoiseSource) -> contextlib.AbstractContextManager[str | None]:
        """Count the fit, where nobody else's ledger does. Yields what it is known by."""
        if self.ledger is not None:
            return contextlib.nullcontext()
        return self._kin.family.counted(ledger, noise.private)

    def __sklearn_clone__(self) -> Self:
        """A clone knows of the fits of what it was cloned from, and the other way round."""
        twin = cast("Self", super().__sklearn_clone__())
        twin._member = Member(self._kin.family)
        return twin

    # --- using what was learnt: post-processing, free of charge ------------------------------------------

    def _fitted(self) -> K:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.model_

    # --- keeping it ----------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its privacy statement and its receipts inside; no pickle needed.

        The file is replaced as a whole, or stays as it was. Raises TypeError naming what JSON cannot hold: parameters
        or classes that are objects.
        """
        classes = self.classes_.tolist() if hasattr(self, "classes_") else []
        content = self._content(self._fitted(), classes, self.parameters_, getattr(self, "tuned_", None))
        record: dict[str, object] = {
            "format": "exchequer-model",
            "version": 1,
            **content,
            "statement": self.statement_.as_dict(),
            "receipts": [each.as_dict() for each in self.receipts_],
        }
        _refuse_objects({**self.parameters_, "classes": content["classes"], "the model": content["model"]})
        with whole_file(path) as out:
            text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
            out.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))  # what has no encoding, as JSON has it

    def _content(
        self, model: K, classes: Sequence[object], parameters: Mapping[str, object], tuned: Mapping[str, object] | None
    ) -> dict[str, object]:
        """What a file says that the model is; receipts vouch for its digest."""
        return {
            "learner": type(self).__name__,
            "parameters": self._as_in_files(parameters),
            "classes": class_array(classes).tolist(),
            "tuned": None if tuned is None else self._as_in_files(tuned),
            "model": model.as_record(),
        }

    def _bought(
        self, model: K, classes: Sequence[object], parameters: Mapping[str, object], tuned: Mapping[str, object] | None
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
            return learner_named(cls, str(record["learner"]))._from_record(record)
        except KeyError as error:
            raise ValueError(f"{path}: the file lacks {error}") from error
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def _domain(cls, model: K, classes: Sequence[object]) -> dict[str, object]:
        """The arguments of `__init__` that a saved model has among its content, checked. Raises ValueError."""
        takes, found = cls._get_param_names(), dict[str, object]()
        if "schema" in takes:
            found["schema"] = getattr(model, "domain", None) or cast("Any", model).schema
        if "classes" in takes:
            found["classes"] = distinct_classes(classes)
            if len(classes) > 2 and not getattr(cls, "_multi_class", False):
                raise ValueError(f"the model is binary and has {len(classes)} classes")
        return found

    @classmethod
    def _from_record(cls, record: Mapping[str, object]) -> Self:
        kept = cast("K", cls._keeps.from_record(cast("Mapping[str, object]", record["model"])))
        parameters = record["parameters"]
        classes = cast("Sequence[object]", record["classes"])
        saved = cast("Mapping[str, object]", parameters)
        # A file must not choose the noise or the ledger.
        if strange := sorted(set(saved) - set(cls._as_in_files(cls._checks))):
            raise ValueError(f"a model of {cls.__name__} has no parameters {', '.join(strange)}")
        arguments = {**cls._later, **cls._out_of_file(saved)}
        model = cls(**arguments, **cls._domain(kept, classes))
        tuned = cast("Mapping[str, object] | None", record.get("tuned"))
        model._remember(kept, classes, tuned=None if tuned is None else cls._out_of_file(tuned))
        model.parameters_ = arguments
        model.statement_ = Statement.from_dict(cast("Mapping[str, object]", record["statement"]))
        receipts = cast("Sequence[Mapping[str, object]]", record.get("receipts", ()))  # models of 0.1 have none
        model.receipts_ = tuple(Receipt.from_dict(each) for each in receipts)
        model._member = Member(Family(arrived=True))
        return model

    def __getstate__(self) -> dict[str, object]:
        """Pickling, and copying, leaves the ledger behind, which exists once. What arrives predicts, and cannot fit."""
        # Not refused here: on the way to a worker process nobody would see why. A fit there says it.
        kept = {**cast("dict[str, object]", super().__getstate__()), "_member": self._kin}
        kept.pop("ledger_", None)
        return {**kept, "ledger": LedgerLeftBehind()} if isinstance(self.ledger, Ledger) else kept


class LedgerLeftBehind:
    """In the place of a ledger, in an estimator that was pickled or copied: a fit must not be free of charge."""

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return "<a ledger that was left behind>"


LEFT_BEHIND: Final = (
    "this estimator was copied, or sent to another process, without its ledger, which exists once: two copies of "
    "one budget would both be spent. Nothing was charged. Use n_jobs=1 or joblib.parallel_backend('threading'), or "
    "give the URL of a durable ledger, ledger='sqlite:///study.db', which every process opens for itself"
)
HOW_TO_BUDGET: Final = (
    "Each fit on a ledger is charged for itself: one for each fold and setting of a cross-validation or a search, and "
    "one for the refit. For k of them the budget must be k times what one costs; Budget.split(k) gives equal parts. "
    "error_score='raise' stops at the first fit that is refused, instead of going through all of them before it fails."
)


def _own_ledger(budget: FitBudget, adjacency: Adjacency) -> Ledger:
    """For one fit, with just its budget; one without a bound promises nothing."""
    most = Unbounded() if isinstance(budget.composition, NoBound) else budget.target
    return Ledger(most, composition=budget.composition, adjacency=adjacency)


@contextlib.contextmanager
def _told_how_to_budget() -> Iterator[None]:
    """Add advice to a refusal; it is printed below the message, also where scikit-learn reports failed fits."""
    try:
        yield
    except BudgetExceeded as error:
        error.add_note(HOW_TO_BUDGET)
        raise


def _refuse_objects(parts: Mapping[str, object]) -> None:
    for name, value in parts.items():
        try:
            json.dumps(value, allow_nan=False)  # a file with Infinity in it is no JSON, and nobody verifies it
        except (TypeError, ValueError) as error:
            what = f"{name}: {value!r}" if len(repr(value)) < 200 else f"{name}: {type(value).__name__}"
            raise TypeError(f"{what} cannot be saved, because JSON has nothing for it: {error}") from error
