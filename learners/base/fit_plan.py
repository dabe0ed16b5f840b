"""What a fit learns from, and what it will do: fixed and priced before anything is charged."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

import attrs

from accountant import GDP, Adjacency, Description, Ledger, Plan, Protected, Reservation, Spendable
from boosting import Spender
from learners.base.budget import FitBudget
from mechanisms.core import SealedRepr

S = TypeVar("S")
R = TypeVar("R")
D = TypeVar("D")
K = TypeVar("K")

Progress: TypeAlias = Callable[[int, object], None]
"""Called after each round with its number and what it released."""

Running: TypeAlias = Callable[[Spender, Protected[S], Progress], K]
"""Releases what was planned, from sealed records, and puts it together."""

Charging: TypeAlias = Callable[[Ledger, FitBudget], AbstractContextManager[Spender]]
"""Charges a ledger for a fit, and gives what pays for its releases inside the block."""


class FitResult(Protocol):
    """What a fit keeps: releases and public parameters, nothing else."""

    def as_record(self) -> dict[str, object]:
        """For JSON."""

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "FitResult":
        """The inverse. Raises ValueError, KeyError or TypeError for a malformed record."""


@attrs.frozen(eq=False, repr=False)
class Dataset(SealedRepr, Generic[S]):
    """What a fit learns from: checked records, and what is public about them.

    records: as the learner needs them: codes, points, numbers, wherever they are.
    classes: the public classes, none for a regression.
    names: of the columns in `fit`, where a frame had them, for `feature_names_in_`.
    """

    records: S
    classes: tuple[object, ...] = ()
    names: tuple[str, ...] | None = None


@attrs.frozen
class Chosen(Generic[K]):
    """What a private choice among fits gives: a model and the setting that won."""

    model: K
    setting: dict[str, object]


@attrs.frozen
class FitPlan(Generic[S, K]):
    """What a fit on an S does to give a K. A function of public numbers, so all of it is public.

    cost: of all releases, in order.  adjacency: the relation that it was proved for.
    description: what the entry says of it.
    run: the releases; the charge has been made, and refuses what was not planned.
    charge: how a ledger is charged; None reserves all of `cost` in one entry before the first release.
    view: how `run` sees the records; made before the charge.
    shown: public attributes of the fitted estimator, such as eta_.
    claims: that the cost depends on, for the entry of a private choice among fits.
    gaussian: whether the learner's noise is Gaussian at any δ > 0, for the price of such a choice.
    """

    cost: Plan
    adjacency: Adjacency
    description: Description | None
    run: Running[S, K]
    charge: Charging | None = None
    view: Callable[[Any], object] | None = None  # the S of `run` is what it makes, see `of`
    shown: Mapping[str, object] = attrs.field(factory=dict)
    claims: tuple[str, ...] = ()
    gaussian: bool = False

    @staticmethod
    def released(mechanism: Spendable[D, R], *, at_once: bool = False) -> "FitPlan[D, R]":
        """One release of a mechanism, and nothing else: a plan of one round, or charged at once when it is made."""

        def run(charge: Spender, data: Protected[D], on_round: Progress) -> R:
            return charge.release(mechanism, data)

        charge = _by_release if at_once else None
        return FitPlan(Plan.of(mechanism.cost), mechanism.adjacency, mechanism.description, run, charge)

    def of(self, view: Callable[[D], S]) -> "FitPlan[D, K]":
        """The same on other data, seen through `view`, which must be a pure function."""
        before = self.view
        seen = view if before is None else lambda data: before(view(data))
        return cast("FitPlan[D, K]", attrs.evolve(self, view=seen))

    def then(self, work: Callable[[K], R], **shown: object) -> "FitPlan[S, R]":
        """The same with post-processing. shown: further attributes of the fitted estimator."""
        run = self.run

        def further(charge: Spender, data: Protected[S], on_round: Progress) -> R:
            return work(run(charge, data, on_round))

        said: Any = {"run": further, "shown": {**self.shown, **shown}}
        return cast("FitPlan[S, R]", attrs.evolve(self, **said))

    def as_round(self) -> "FitPlan[S, K]":
        """The same, and `on_round` is told of the result, as the only round."""
        run = self.run

        def told(charge: Spender, data: Protected[S], on_round: Progress) -> K:
            found = run(charge, data, on_round)
            on_round(1, found)
            return found

        return attrs.evolve(self, run=told)

    @property
    def gaussian_alone(self) -> bool:
        """Whether it spends nothing but Gaussian noise, which a subclass that plans otherwise may not."""
        return self.gaussian and all(isinstance(step.cost, GDP) for step in self.cost.steps)

    def carried_out(self, ledger: Ledger, budget: FitBudget, data: S, on_round: Progress | None = None) -> K:
        """Seal, charge, run. Raises BudgetExceeded, UnknownLabel or AdjacencyMismatch before anything is charged."""
        sealed: Protected[Any] = ledger.protect(data)
        if self.view is not None:
            sealed = sealed.map(self.view)
        charge = self.reserved if self.charge is None else self.charge
        with charge(ledger, budget) as spender:
            return self.run(spender, sealed, on_round if on_round is not None else lambda number, released: None)

    def reserved(self, ledger: Ledger, budget: FitBudget) -> Reservation:
        """Charge the whole plan in one entry. Raises BudgetExceeded."""
        return ledger.reserve(
            self.cost,
            adjacency=self.adjacency,
            delta=budget.plan_delta,
            account=budget.account,
            mechanism=self.description,
        )


def refuse_no_progress(on_round: object) -> None:
    """Raise TypeError for what cannot be called, while nothing is charged."""
    if not (on_round is None or callable(on_round)):
        raise TypeError(f"on_round: expected a function of a round's number and its release, got {on_round!r:.99}")


def _by_release(ledger: Ledger, budget: FitBudget) -> AbstractContextManager[Spender]:
    """Each release is charged when it is made."""
    return nullcontext(cast("Spender", SimpleNamespace(release=partial(ledger.release, account=budget.account))))
