"""The ledger: the only place where protected data is opened, and only after the charge is among its entries."""

import functools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final, Self, TypeVar

from accountant.audit import Odometer, Statement, StatementDetails, Verification, odometer, stated, verify
from accountant.composition import Amount, Composition, Plan
from accountant.costs import OWN_KINDS, Adjacency, Budget, Cost, Description, Spendable
from accountant.entries import (
    MAIN,
    NOTHING_SAID,
    ROOT,
    About,
    Account,
    Entry,
    EntryStore,
    MemoryStore,
    Receipt,
    SigningKey,
    hexadecimal,
    receipt,
)
from accountant.exceptions import NotSpendable, SubBudgetRefused
from accountant.ledger.account_names import labelled, path_below, unknown_label
from accountant.ledger.amounts import amount_of_plan, amount_of_share
from accountant.ledger.new_charges import NewCharges, refuse_account
from accountant.ledger.opening import enter, opened_writer, overseen, refuse_other_types
from accountant.ledger.promises import refuse_other_adjacency, refuse_plan, refuse_unprovable
from accountant.ledger.protected_data import Protected, unseal
from accountant.ledger.reservation import Reservation, declared_cost
from accountant.ledger.signing import SignsCharges
from accountant.ledger.writer import AS_ANNOUNCED, LedgerWriter

D = TypeVar("D")
R = TypeVar("R")

MEMBERS: Final = ("adjacency", "description", "check", "sample")
"""Of a mechanism, beside its cost: see `Spendable`."""

LONGEST_KEPT: Final = 4096
"""Characters of descriptions whose lines are kept for the next release like it."""


class Ledger(SignsCharges):
    """One budget, one rule of composition, one adjacency; all fixed when it is opened.

    budget: PureDP, ApproxDP, ZCDP or GDP; Unbounded for a ledger that promises nothing, with NoBound.
    composition: a rule that can keep it.  adjacency: the promise.
    store: where entries go, which must be empty; in memory unless given.  See `Ledger.open` for durable ledgers.
    Raises UnsupportedBudget where the rule cannot keep the budget.

    >>> from accountant import ApproxDP, Ledger, ReplaceOne, ZCDPComposition
    >>> ledger = Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    >>> ledger.spent
    ApproxDP(epsilon=0.0, delta=1e-06)
    """

    def __init__(
        self,
        budget: Budget,
        *,
        composition: Composition,
        adjacency: Adjacency,
        store: EntryStore | None = None,
        about: About = NOTHING_SAID,
    ) -> None:
        refuse_other_types(budget, composition, adjacency)
        writer = LedgerWriter(MemoryStore() if store is None else store)
        if len(writer.store):
            raise ValueError("this store already holds entries; Ledger.open(url) continues a ledger that exists")
        writer.open_new(budget, composition, adjacency)
        self._set_up(writer, ROOT, None, about)

    def _set_up(self, writer: LedgerWriter, path: str, signing_key: SigningKey | None, about: About) -> None:
        self._writer, self._path, self.signing_key, self._about = writer, path, signing_key, about
        self._charged_to = path
        # Fixed when the ledger is opened, so that a release need not ask for them.
        self._rule, self._adjacency = writer.state.rule, writer.state.adjacency
        self._new = NewCharges.to(writer.store, self._rule, self._adjacency, about)
        self._one_release = functools.lru_cache(maxsize=512)(self._new.of_release)

    @classmethod
    def open(
        cls,
        url: str,
        budget: Budget | None = None,
        *,
        composition: Composition | None = None,
        adjacency: Adjacency | None = None,
        expect_head: str | None = None,
        signing_key: SigningKey | None = None,
        about: About | None = None,
        writer_key: SigningKey | None = None,
        registry: str | None = None,
        policy: Path | str | None = None,
    ) -> Self:
        """A durable ledger: begin one, or go on with the one that is there.

        url: "sqlite:///study.db", or "postgresql+psycopg://user@host/database" for a team.
        budget, composition, adjacency: needed to begin; where there is a ledger they may be left out, and must agree.
        expect_head: a digest that an auditor kept; it must occur among the entries.
        signing_key: what receipts are signed with.
        about: what charges are about, see `concerning`; unless given, what `About.from_environment` finds.
        writer_key: what charges are signed with, see `sign_with`.
        registry: URL of a `Registry`, which this ledger enters for each data set; unless given, EXCHEQUER_REGISTRY.
        policy: a file in TOML that opening and each charge are held against; unless given, EXCHEQUER_POLICY.
        Raises PolicyRefused and PolicyMistakes; ValueError for a URL that names no ledger, LedgerMismatch where there
        is none, or one that promises something else, KeyRefused, LedgerBroken where the entries do not hold together
        since their last checkpoint, and LedgerUnavailable where a database does not answer; the registry likewise.
        """
        said = About.from_environment() if about is None else about
        overseer = overseen(said, registry, policy)
        writer = opened_writer(url, budget, composition, adjacency, expect_head, writer_key, overseer)
        ledger = cls.__new__(cls)
        ledger._set_up(writer, ROOT, signing_key, said)
        return ledger

    # --- what an auditor reads; reading never changes anything -------------------------------------

    @property
    def budget(self) -> Budget:
        """The budget it was opened with; of a sub-budget, what its ceiling amounts to, rounded up."""
        whole = self._writer.state.budget
        return self._rule.guarantee(self._account.ceiling, whole) if self._path else whole

    @property
    def composition(self) -> Composition:
        """The rule it was opened with."""
        return self._rule

    @property
    def adjacency(self) -> Adjacency:
        """The relation it promises."""
        return self._adjacency

    @property
    def id(self) -> str:
        """The random name of this ledger."""
        opened = self._writer.state.opened
        assert opened is not None  # a ledger is opened when it is made
        return opened.id

    @property
    def account(self) -> str:
        """The path of the sub-budget that this ledger draws on, "" for the whole budget."""
        return self._path

    @property
    def about(self) -> About:
        """What charges through this handle say that they are about."""
        return self._about

    @property
    def spent(self) -> Budget:
        """What has been charged so far, in the budget's kind, rounded up; δ′ and δ of the rule included."""
        return self._rule.guarantee(self._fresh_account.drawn, self._writer.state.budget)

    @property
    def remaining(self) -> Amount:
        """What may still be charged, exactly, in the rule's own unit: Σε, Σε² or Σρ, and Σδ.

        What is set aside for sub-budgets is not in it.
        """
        return self._fresh_account.left

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries of this ledger, oldest first."""
        return self._writer.replica.entries()

    @property
    def head(self) -> str:
        """The digest of the newest entry: what an auditor keeps elsewhere."""
        return self._writer.store.head

    def verify(self, *, expect_head: str | None = None) -> Verification:
        """What is wrong with this ledger, and what an auditor should know, as `accountant.audit.verify` says it."""
        return verify(self._writer.store.read(), expect_head=expect_head)

    def statement(self) -> Statement:
        """What was spent, on what, by whom, under which assumptions; prints as text. Of a sub-budget: its part."""
        return self._writer.replica.stated(self._stated)

    def _stated(self, details: StatementDetails, head: str) -> Statement:
        spent = self._rule.guarantee(self._account.drawn, self._writer.state.budget)
        return stated(details, head, spent, self.budget, self._path)

    def odometer(self) -> Odometer:
        """What this ledger comes to at any δ, and by every other rule: for reading only, never to stop by."""
        return odometer(self._writer.store.read())

    def receipt(self, number: int, *, bought: str | None = None) -> Receipt:
        """A receipt for one entry, signed if this ledger has a key. Raises ValueError where there is no such entry.

        bought: SHA-256, in hexadecimal, of what the charge was for; the signature then vouches for that, too.
        """
        entry = next(iter(self._writer.store.read(number)), None) if isinstance(number, int) and number >= 0 else None
        if entry is None or entry.number != number:
            raise ValueError(f"this ledger has no entry {number}")
        return receipt(entry, self.id, bought=bought, key=self.signing_key)

    def affords(self, plan: Plan, *, delta: float = 0.0) -> bool:
        """Whether `reserve(plan, delta=delta)` would go through now.

        Raises AdjacencyMismatch, NotSpendable or UnsupportedCost for a plan that no budget of this ledger pays for.
        """
        if isinstance(plan, Plan):
            refuse_plan(plan, self._adjacency)
        return self._fresh_account.affords(amount_of_plan(self._rule, plan, delta)[0])

    @property
    def _account(self) -> Account:
        return self._writer.state.accounts[self._path]

    @property
    def _fresh_account(self) -> Account:
        """With what other processes have charged."""
        return self._writer.replica.account(self._path)

    # --- sub-budgets ----------------------------------------------------------------------------------------

    def allocate(self, name: str, share: Fraction | float | Budget) -> Self:
        """Set a part of this budget aside; the ledger that draws on it, and on nothing else.

        From then on, what is charged beside it must say so: by `labelled("main")`, or a label that was announced.
        name: without "/"; what it is charged for is called "name/...".
        share: of this budget, in (0, 1]; or a budget that its releases must keep by themselves.
        Raises SubBudgetRefused where the name is taken or less is left, and UnsupportedBudget.
        """
        path = path_below(self._path, name)
        if "/" in name or name == MAIN:
            raise SubBudgetRefused(f"a sub-budget's name is a text without '/', and not {MAIN!r}, got {name!r}")
        self._writer.allocate(path, amount_of_share(self._rule, share, self._account.ceiling))
        return self._view(path)

    def sub_budget(self, name: str) -> Self:
        """A sub-budget that was allocated before. Raises SubBudgetRefused where there is none."""
        path = path_below(self._path, name)
        if path not in self._writer.replica.refresh().accounts:
            raise SubBudgetRefused(f"there is no sub-budget {path!r}; allocate it first")
        return self._view(path)

    def close_account(self, name: str) -> Amount:
        """Close a sub-budget for good; what it did not spend is this ledger's again, and returned.

        Raises SubBudgetRefused where there is none, or where sub-budgets of its own are open.
        """
        return self._writer.close_account(path_below(self._path, name))

    def announce(self, label: str) -> Self:
        """Announce a label, for good: where this budget has sub-budgets, charges under it may draw on the rest of it.

        label: a path, as "pilot" or "pilot/first"; "pilot" covers all below it.  Returns `labelled(label)`.
        Raises SubBudgetRefused where it is no path, or there is a sub-budget or a label of that name.
        """
        self._writer.announce(path_below(self._path, label))
        return self.labelled(label)

    def labelled(self, label: str) -> Self:
        """This ledger, its charges under a label: who they are for, where nobody allocated a sub-budget.

        label: any path where this budget has no sub-budgets; else one that was announced, or "main", which says that
        the rest of this budget itself pays.
        Raises UnknownLabel.
        """
        path = path_below(self._path, label)
        state = self._writer.replica.refresh()
        if not state.lists(path, payer := state.payer(path)):
            raise unknown_label(state, path, payer)
        view = self._view(self._path)
        view._charged_to = path
        return view

    def concerning(self, about: About) -> Self:
        """This ledger, its charges saying what they are about; what is not said here is as this ledger has it.

        In a ledger of format 1 the first such charge upgrades it to format 2, which earlier versions do not read.
        """
        view = self._view(self._path, about.over(self._about))
        view._charged_to = self._charged_to
        enter(self._writer, view._about)
        return view

    def note_model(self, model: str, charges: Sequence[int]) -> int:
        """Write that a model came of charges, for auditors; the number of that entry. Upgrades it to format 2.

        model: SHA-256 of its content, in hexadecimal, as receipts have it.  charges: numbers of entries.
        Raises ValueError.
        """
        return self._writer.note_model(hexadecimal("model", model, 64), charges)

    def _view(self, path: str, about: About | None = None) -> Self:
        view = type(self).__new__(type(self))
        view._set_up(self._writer, path, self.signing_key, self._about if about is None else about)
        return view

    # --- protecting and releasing ----------------------------------------------------------------------

    def protect(self, content: D) -> Protected[D]:
        """Seal data so that only this ledger, and its sub-budgets, can release anything from it."""
        if isinstance(content, Protected):
            raise TypeError("this data is protected already")
        return Protected(content, self._writer)

    def release(self, mechanism: Spendable[D, R], data: Protected[D], *, account: str = MAIN) -> R:
        """Check, charge, sample, mark as released; in this order.

        mechanism: anything with a plain declared cost.  data: from this ledger's `protect`.
        account: who or what the charge is for; "main" says no more than that this ledger pays.
        Raises BudgetExceeded, UnknownLabel, AdjacencyMismatch, NotSpendable, UnsupportedCost or what the mechanism's
        own check raises, all before anything is charged. If sampling itself fails, the charge stays.
        """
        cost = declared_cost(mechanism)
        content = self._admit(mechanism, data, cost)
        writer = self._writer
        announced = mechanism.description.canonical
        alike = type(cost) in OWN_KINDS and len(announced) <= LONGEST_KEPT
        prepared = self._one_release if alike else self._new.of_release
        charge = writer.charge(prepared(cost, announced, self._label(account)))
        value = mechanism.sample(content)
        writer.mark_released(charge, AS_ANNOUNCED)
        return value

    def reserve(
        self,
        plan: Plan,
        *,
        adjacency: Adjacency,
        delta: float = 0.0,
        account: str = MAIN,
        mechanism: Description | None = None,
    ) -> Reservation:
        """Charge a whole plan with one entry, and release its rounds one after another.

        adjacency: the relation under which the plan's costs were proved.
        mechanism: what the rounds will release, for the entry; what they really were is noted at the end.

        delta: 0 charges the sum of the plan's costs under the ledger's rule. Above 0, on a ledger that adds
        up (ε, δ), it charges `plan.cheapest(delta)` as one release: any composition theorem may be used inside
        a plan, whose costs are fixed, and other charges may interleave with it (Haney et al. 2023).
        Raises BudgetExceeded, UnknownLabel, AdjacencyMismatch or UnsupportedCost, before anything is charged.
        """
        self._writer.replica.same_process()
        refuse_other_adjacency(adjacency, self._adjacency, "this plan")
        if isinstance(plan, Plan):  # else it is refused below, with all that may be wrong with it
            refuse_plan(plan, adjacency)
        if not isinstance(mechanism, Description | None):
            raise NotSpendable("mechanism: expected what its entry is to say of it, as in mechanism=m.description")
        amount, price = amount_of_plan(self._rule, plan, delta)
        announced = "null" if mechanism is None else mechanism.canonical
        number = self._writer.charge(self._new.of_plan(plan, amount, price, announced, self._label(account)))
        return Reservation(
            self._writer,
            plan,
            number,
            self._admit,
            amount=amount,
            priced=price is not None,
            private=mechanism is not None and mechanism.private,
        )

    def _label(self, account: str) -> str:
        """The account of an entry: a path that begins with this ledger's own."""
        if not isinstance(account, str):
            refuse_account(account)
        return labelled(self._charged_to, account) if self._charged_to else account

    def _admit(self, mechanism: Spendable[D, R], data: Protected[D], cost: Cost) -> D:
        self._writer.replica.same_process()
        content = unseal(data, self._writer)
        kind = type(mechanism)  # which answers without working a description out
        if missing := [name for name in MEMBERS if not (hasattr(kind, name) or hasattr(mechanism, name))]:
            raise NotSpendable(f"{type(mechanism).__name__} has no {', '.join(missing)}; nothing was charged")
        refuse_other_adjacency(mechanism.adjacency, self._adjacency, type(mechanism).__name__)
        refuse_unprovable(cost, self._adjacency)
        mechanism.check(content)
        if not callable(mechanism.sample):
            raise NotSpendable(f"{type(mechanism).__name__}.sample is nothing that could be called")
        return content

    def __repr__(self) -> str:
        whose = f" {self._path!r}" if self._path else ""
        drawn = self._account.drawn  # as last read: a repr asks no database
        spent = self._rule.guarantee(drawn, self._writer.state.budget)
        return f"<Ledger{whose} {self._rule.name}, {self._adjacency.name}: spent {spent} of {self.budget}>"
