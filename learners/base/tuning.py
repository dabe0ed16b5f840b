"""Hyper-parameters chosen privately: run whole fits a hidden random number of times and release the best one.

The candidates are settings of one learner. What counts is the noisy number of training records that a fit gets right;
only the winner is released, at two to three times the cost of one run, however many settings there are.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

import attrs
import numpy as np
from sklearn.base import clone

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    ApproxDP,
    Cost,
    Description,
    Ledger,
    PureDP,
    ReplaceOne,
    UnsupportedCost,
)
from accountant.arrays import CodeArray, ExactArray, FloatArray, IntArray
from accountant.composition import Target, own_rule
from accountant.costs import largest_below
from accountant.renamed_parameters import current_names
from learners.base.budget import FitBudget
from learners.base.fit_plan import Chosen, FitPlan
from learners.base.old_parameters import RenamedParameters
from learners.encoding import EncodedRows, EncodedSample
from mechanisms.additive import GaussianNoise, LaplaceNoise
from mechanisms.core import Block, L1Sensitivity, L2Sensitivity, Mechanism, PlainMechanism, Query, Rows
from mechanisms.randomness import NoiseSource
from mechanisms.selection import NegativeBinomialStopping, PrivateSelection, selection_cost

Setting = dict[str, object]

JUDGING_SHARE: Final = 0.1
"""Share of a run's budget for the noisy count of what it gets right."""

ONE_RECORD: Final = 1.0
"""How far the number of right records moves, under either adjacency. [records-right]"""

RUNS_PER_SETTING: Final = 2.0
"""Expected runs for each setting."""


Spent: TypeAlias = PureDP | ZCDP | GDP
"""What one run may cost."""


class Scores(Protocol):
    """A model, as a judge sees it."""

    def scores(self, codes: CodeArray) -> FloatArray:
        """See `learners.base.table_classifier.Model`."""


M = TypeVar("M", bound=Scores)


class TunableClassifier(Protocol[M]):
    """A classifier, as its tuning sees it."""

    def set_params(self, **parameters: object) -> "TunableClassifier[M]":
        """See scikit-learn."""

    def _parameters(self) -> dict[str, object]: ...

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> FitPlan[EncodedSample, M]: ...

    def _as_in_files(self, parameters: Mapping[str, object]) -> dict[str, object]: ...


@attrs.frozen(eq=False)
class Judged:
    """Records with a model's scores."""

    labels: IntArray
    scores: FloatArray

    def right(self) -> FloatArray:
        """How many are classified as labelled, shape (1,)."""
        if self.scores.ndim == 2:
            return np.array([float(np.sum(np.argmax(self.scores, axis=1) == self.labels))])
        return np.array([float(np.sum((self.scores > 0.0) == (self.labels > 0)))])


@attrs.frozen(eq=False)
class JudgedRows:
    """The same of records in blocks, in which those of weight 0 are as if they were not there."""

    rows: Rows[EncodedSample]
    model: Scores

    def right(self) -> FloatArray:
        """See `Judged`."""
        return self.rows.total(RightIn(self.model)).astype(np.float64)


@attrs.frozen(eq=False)
class RightIn:
    """How many records of a block, those of weight 0 left out, a model classifies as labelled; shape (1,)."""

    model: Scores

    def __call__(self, block: Block[EncodedSample]) -> ExactArray:
        """See above."""
        there = block.data.weighted()
        return Judged(there.labels.astype(np.intp), self.model.scores(there.codes)).right().astype(np.int64)


class Counted(Protocol):
    """What a judge counts."""

    def right(self) -> FloatArray:
        """How many records are classified as labelled, shape (1,)."""


def judged(records: EncodedSample | EncodedRows, model: Scores) -> Counted:
    """Records with a model's scores, wherever they are."""
    if isinstance(records, EncodedRows):
        return JudgedRows(records.rows, model)
    return Judged(records.labels.astype(np.intp), model.scores(records.codes))


@attrs.frozen(slots=False, eq=False)
class Run(Mechanism[EncodedSample, tuple[float, M]]):
    """One whole fit with one setting, and the noisy number of records that it gets right, as one mechanism.

    It runs on a ledger of its own with just `cost` in it, so that it cannot spend more.
    """

    learner: str
    spent: Spent
    budget: FitBudget
    plan: FitPlan[EncodedSample, M]
    noise: NoiseSource
    setting: Setting = attrs.field(factory=dict)

    @staticmethod
    def of(
        learner: TunableClassifier[M],
        spent: Spent,
        classes: tuple[object, ...],
        records: EncodedSample,
        noise: NoiseSource,
        setting: Setting | None = None,
    ) -> "Run[M]":
        """With its fit planned, so that it cannot fail by chance after the choice is paid for. Raises as `_plan`."""
        budget = FitBudget(scaled(spent, 1.0 - JUDGING_SHARE), own_rule(spent), "candidate", classes)
        plan = learner._plan(records, budget, noise)
        # By the names that entries have had from the first version on.
        return Run(type(learner).__name__, spent, budget, plan, noise, learner._as_in_files(setting or {}))

    @property
    def cost(self) -> Cost:
        return self.spent

    @property
    def adjacency(self) -> ReplaceOne | AddRemoveOne:
        return cast("ReplaceOne | AddRemoveOne", self.plan.adjacency)  # a classifier's promise is about whole records

    @cached_property
    def description(self) -> Description:
        return Description(
            mechanism=self.learner,
            query="fit, and records that it gets right",
            parameters=(("each run", repr(self.spent)), ("setting", repr(self.setting))),
            norm=L1Sensitivity.norm,
            sensitivity=ONE_RECORD,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("records-right", *self.plan.claims, *self.budget.composition.claims),
        )

    def sample(self, data: EncodedSample) -> tuple[float, M]:
        ledger = Ledger(self.spent, composition=self.budget.composition, adjacency=self.adjacency)
        model = self.plan.carried_out(ledger, self.budget, data)
        seen = ledger.protect(judged(data, model))
        # A thousandth is left for what randomizers add for the sampler's grid.
        verdict = judge(scaled(self.spent, 0.999 * JUDGING_SHARE), self.adjacency, self.noise)
        return float(ledger.release(verdict, seen)[0]), model


def _right(data: Counted) -> FloatArray:
    return data.right()


def judge(
    share: Spent, adjacency: ReplaceOne | AddRemoveOne, noise: NoiseSource
) -> (
    PlainMechanism[Counted, FloatArray, L1Sensitivity, FloatArray]
    | PlainMechanism[Counted, FloatArray, L2Sensitivity, FloatArray]
):
    """The noisy number of right records, for that share of a run's budget. [records-right]"""
    name, claims = "records-right", ("records-right",)
    if isinstance(share, PureDP):
        counted = Query(name, _right, L1Sensitivity(ONE_RECORD), adjacency, claims)
        return PlainMechanism(counted, LaplaceNoise(ONE_RECORD / share.epsilon), noise)
    squared = Query(name, _right, L2Sensitivity(ONE_RECORD), adjacency, claims)
    mu = share.mu if isinstance(share, GDP) else math.sqrt(2.0 * share.rho)
    return PlainMechanism(squared, GaussianNoise(ONE_RECORD / mu), noise)


def scaled(budget: Spent, share: float) -> Spent:
    """A share of a budget, rounded as floats are: what a ledger adds up decides."""
    match budget:
        case PureDP(epsilon=epsilon):
            return PureDP(share * epsilon)
        case ZCDP(rho=rho):
            return ZCDP(share * rho)
        case GDP(mu=mu):
            return GDP(math.sqrt(share) * mu)


def _old_names(learner: object) -> Mapping[str, str]:
    return learner._old_names() if isinstance(learner, RenamedParameters) else {}


def checked_settings(learner: object) -> list[Setting]:
    """What `tune` says, by names of now, each setting tried on a copy. Raises TypeError or ValueError naming it."""
    tune = getattr(learner, "tune", None)
    if tune is None:
        return []
    if isinstance(tune, Mapping | str) or not isinstance(tune, Sequence) or not tune:
        raise TypeError("tune: expected a list of settings, each a mapping of parameters to values")
    found = []
    for setting in tune:
        if not isinstance(setting, Mapping) or set(setting) & FIXED:
            raise ValueError(f"tune: expected mappings without {sorted(FIXED)}, got {setting!r}")
        try:
            found.append(current_names(type(learner), _old_names(learner), setting))
            candidate(learner, found[-1])._parameters()
        except (TypeError, ValueError) as error:
            raise type(error)(f"tune: {setting!r}: {error}") from None
    return found


FIXED: Final = frozenset(
    {"epsilon", "delta", "adjacency", "composition", "schema", "quantile_bins", "classes", "weight_cap", "ledger"}
    | {"random_state", "tune"}
)
"""Parameters that all candidates share: the promise, and what decides how the records are encoded."""


def candidate(learner: object, setting: Setting) -> TunableClassifier[Any]:
    """A copy of the learner with one setting, and without ledger and tuning of its own."""
    own = {name: None for name in ("tune", "ledger") if hasattr(learner, name)}
    return cast("TunableClassifier[Any]", clone(learner)).set_params(**setting, **own)


def choice_among(
    learner: TunableClassifier[M],
    settings: Sequence[Setting],
    records: EncodedSample,
    budget: FitBudget,
    noise: NoiseSource,
) -> FitPlan[EncodedSample, Chosen[M]]:
    """To choose the best model among a random number of runs, and its setting; one release. [random-stopping]

    Raises ValueError where the ledger cannot take the cost, which is an (ε, δ) where δ > 0.
    """
    stopping = NegativeBinomialStopping.with_mean(0.0, RUNS_PER_SETTING * len(settings))
    candidates: list[TunableClassifier[M]] = [candidate(learner, each) for each in settings]

    def runs(gaussian: bool) -> tuple[Run[M], ...]:
        spent = affordable(budget.target, len(settings), stopping, gaussian=gaussian)
        pairs = zip(candidates, settings, strict=True)
        return tuple(Run.of(each, spent, budget.classes, records, noise, setting) for each, setting in pairs)

    planned = runs(False)
    if budget.delta and all(run.plan.gaussian_alone for run in planned):
        planned = runs(True)
    choice: PrivateSelection[EncodedSample, tuple[float, M]] = PrivateSelection(
        planned, key=lambda output: output[0], stopping=stopping, delta=budget.delta or None, noise=noise
    )
    try:
        budget.composition.amount(choice.cost)
    except UnsupportedCost as error:
        raise ValueError(
            "tune: a private choice costs an (ε, δ), which only BasicComposition and AdvancedComposition add up; "
            f"nothing was charged: {error}"
        ) from None

    def chosen(found: tuple[int, tuple[float, M]] | None) -> Chosen[M]:
        assert found is not None  # this rule of stopping always runs once
        number, (_, model) = found
        plain = candidates[number]._parameters()
        return Chosen(model, {name: plain.get(name, value) for name, value in settings[number].items()})

    return FitPlan.released(choice, at_once=True).then(chosen)


def affordable(target: Target, candidates: int, stopping: NegativeBinomialStopping, *, gaussian: bool = False) -> Spent:
    """The most that one run may cost so that the choice stays within the target.

    gaussian: whether the runs spend nothing but Gaussian noise, whose exact curve is below that of its ρ. [gdp-filter]
    """
    match target:
        case PureDP(epsilon=epsilon):
            return PureDP(_most(lambda each: selection_cost([PureDP(each)] * candidates, stopping).epsilon, epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta) if gaussian:
            return GDP(_most(lambda mu: selection_cost([GDP(mu)] * candidates, stopping, delta).epsilon, epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):

            def price(rho: float) -> float:
                return selection_cost([ZCDP(rho)] * candidates, stopping, delta).epsilon

            return ZCDP(_most(price, epsilon, slope=0.5))
        case ZCDP() | GDP():
            raise ValueError("tune: a private choice inside a private choice is not supported")


def _most(price: Callable[[float], float], epsilon: float, slope: float = 1.0) -> float:
    """To a millionth of ε. slope: how the logarithm of the price rises with that of the cost."""
    start = min(0.1 * epsilon, 100.0)
    return largest_below(lambda each: price(each) if each < 400.0 else math.inf, epsilon, start, slope=slope)
