"""The ledger against a model in plain rationals: any doings in any order, for all rules of composition and stores."""

import contextlib
import functools
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Composition,
    Cost,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    ReservationClosed,
    SubBudgetRefused,
    UnknownLabel,
    ZCDPComposition,
)
from accountant.audit.verification import verify
from accountant.ledger import writer
from benchmarks.ledgers.postgres import Server
from proofs_tests.support.ledgers.durable import Telling, files_in
from proofs_tests.support.ledgers.exact_model import (
    ZERO,
    Model,
    Pair,
    Pot,
    minus,
    times,
    within,
)

UNIT = Fraction(1, 1 << 1074)

PATHS = ("a", "a/x", "a/x/deep", "b")
OTHERS = ("main", "boost", "a", "a/boost", "a/x/deep/1", "main/boost", "boost/1", "a/main")
LABELS = ("boost", "a/boost", "a/x", "b/1", "main")
EVERY = 6
"""Entries after which whoever opens the ledger writes a checkpoint, here."""

some = st.integers(0, 13)
SHARES: tuple[Fraction | float, ...] = (Fraction(1, 2), Fraction(1, 3), 0.3, 1)


@attrs.frozen
class Promise:
    """A rule, a budget that it keeps, and costs of which some few fill it."""

    rule: Composition
    budget: Budget
    costs: tuple[Cost, ...]


PROMISES = {
    "basic": Promise(
        BasicComposition(),
        ApproxDP(1.0, 1e-5),
        (PureDP(0.3), PureDP(0.1), PureDP(2.0**-7), ApproxDP(0.05, 1e-6), ApproxDP(0.01, 6e-6)),
    ),
    "advanced": Promise(
        AdvancedComposition(1e-6),
        ApproxDP(1.0, 1e-5),
        (PureDP(0.1), PureDP(0.03), ApproxDP(0.05, 4e-6), ZCDP(0.002), BoundedRange(0.1)),
    ),
    "zcdp": Promise(
        ZCDPComposition(), ApproxDP(1.0, 1e-5), (ZCDP(0.006), PureDP(0.1), BoundedRange(0.2), ZCDP(0.0003))
    ),
    "gdp": Promise(GDPComposition(), ApproxDP(1.0, 1e-5), (GDP(0.1), GDP(0.03), GDP(0.2), GDP(2.0**-7))),
    "gdp of its own": Promise(GDPComposition(), GDP(1.0), (GDP(0.5), GDP(0.3), GDP(0.1))),
}


def pair(amount: Amount) -> Pair:
    return amount.loss, amount.delta


def whole_units(value: Fraction) -> Fraction:
    return value // UNIT * UNIT


def most_rounds(left: Pair, amount: Pair) -> int:
    """How often an amount fits into what is left."""
    return min(int(have // each) for have, each in zip(left, amount, strict=True) if each)


@attrs.define(eq=False)
class Held:
    """An open reservation, and what the model knows of it."""

    ledger: Ledger
    reservation: Reservation
    pot: Pot
    each: Pair
    rounds: int
    used: int = 0
    over: bool = False


Place = Callable[[], AbstractContextManager[str | None]]


class Doings(RuleBasedStateMachine):
    """Anything that may be done to a ledger, in any order; by up to three handles, where it is durable."""

    def __init__(self, promise: Promise, place: Place) -> None:
        super().__init__()
        self.promise, self.stack = promise, contextlib.ExitStack()
        self.url = self.stack.enter_context(place())
        self.model = Model.of(pair(promise.rule.ceiling(promise.budget)))
        self.kinds = ["opened"]
        self.handles = [self.opened(again=False)]
        self.held: list[Held] = []
        self.digests: list[str] = []

    def opened(self, *, again: bool) -> Ledger:
        rule, budget = self.promise.rule, self.promise.budget
        if self.url is None:
            return Ledger(budget, composition=rule, adjacency=ReplaceOne())
        if again:
            ledger = Ledger.open(self.url)
        else:
            ledger = Ledger.open(self.url, budget, composition=rule, adjacency=ReplaceOne())
        self.stack.callback(ledger.close)
        newest = max((place for place, kind in enumerate(self.kinds) if kind == "checkpoint"), default=0)
        if len(self.kinds) - newest > EVERY:
            self.kinds.append("checkpoint")
        return ledger

    def teardown(self) -> None:
        with self.stack:
            self.the_books_are_sound()

    # --- charges ----------------------------------------------------------------------------------------------

    def charge(self, cost: Cost, rounds: int, account: str, do: Callable[[], object]) -> Pot | None:
        """Do what charges this cost so often; who paid, or None if it had to be refused."""
        pot = self.model.payer(account)
        amount = times(pair(self.promise.rule.amount(cost)), rounds)
        if pot.closed:
            with pytest.raises(SubBudgetRefused, match="closed; nothing was charged"):
                do()
            return None
        if not self.model.lists(account):
            with pytest.raises(UnknownLabel, match="nothing was charged"):
                do()
            return None
        if not pot.affords(amount):
            with pytest.raises(BudgetExceeded) as refused:
                do()
            assert (pair(refused.value.requested), pair(refused.value.remaining)) == (amount, pot.left)
            return None
        number = len(self.kinds)
        do()
        pot.charges[number] = amount
        self.kinds.append("charged")
        self.model.unreleased.add(number)
        return pot

    def handle(self, who: int) -> Ledger:
        return self.handles[who % len(self.handles)]

    def account(self, which: int) -> str:
        """A sub-budget that there is, or another account."""
        names = (*self.model.pots, *OTHERS)
        return names[which % len(names)] or "main"

    def path(self, which: int) -> str:
        """A sub-budget that there is, or one that there might be."""
        names = (*self.model.pots, *PATHS)[1:]
        return names[which % len(names)]

    def cost(self, which: int) -> Cost:
        return self.promise.costs[which % len(self.promise.costs)]

    @rule(who=st.integers(0, 2), which=st.integers(0, 4), account=some)
    def release(self, who: int, which: int, account: int) -> None:
        ledger, mechanism = self.handle(who), Telling(cost=self.cost(which))
        data = ledger.protect(1)
        name = self.account(account)
        if self.charge(mechanism.cost, 1, name, lambda: ledger.release(mechanism, data, account=name)):
            self.model.unreleased.remove(len(self.kinds) - 1)
            self.kinds.append("released")

    @rule(who=st.integers(0, 2), which=st.integers(0, 4), path=some)
    def release_from_a_sub_budget(self, who: int, which: int, path: int) -> None:
        ledger, mechanism, name = self.handle(who), Telling(cost=self.cost(which)), self.path(path)
        if name not in self.model.pots:
            with pytest.raises(SubBudgetRefused, match="allocate it first"):
                ledger.sub_budget(name)
            return
        team, data = ledger.sub_budget(name), ledger.protect(1)
        assert team.account == name
        if self.charge(mechanism.cost, 1, name, lambda: team.release(mechanism, data)):
            self.model.unreleased.remove(len(self.kinds) - 1)
            self.kinds.append("released")

    @rule(who=st.integers(0, 2), which=st.integers(0, 4), account=some, crash=st.booleans())
    def release_in_vain(self, who: int, which: int, account: int, crash: bool) -> None:
        """The sampler dies after the charge, and sometimes its process with it: nothing is closed."""

        def dies() -> None:
            raise RuntimeError("the sampler died")

        ledger, name = self.handle(who), self.account(account)
        mechanism = Telling(cost=self.cost(which), sampling=dies)

        def release() -> None:
            with pytest.raises(RuntimeError, match="the sampler died"):
                ledger.release(mechanism, ledger.protect(1), account=name)

        paid = self.charge(mechanism.cost, 1, name, release)
        if paid and crash and self.url is not None:
            self.let_go_of(ledger)

    @rule(who=st.integers(0, 2), which=st.integers(0, 4), account=some, fits=st.booleans())
    def spend_all_that_is_left(self, who: int, which: int, account: int, fits: bool) -> None:
        """As many rounds as fit, or one more."""
        pot, cost = self.model.payer(self.account(account)), self.cost(which)
        rounds = most_rounds(pot.left, pair(self.promise.rule.amount(cost))) + (not fits)
        if rounds:
            self.reserve(who, which, account, rounds)

    # --- reservations -------------------------------------------------------------------------------------------

    @rule(who=st.integers(0, 2), which=st.integers(0, 4), account=some, rounds=st.integers(1, 4))
    def reserve(self, who: int, which: int, account: int, rounds: int) -> None:
        ledger, cost, name = self.handle(who), self.cost(which), self.account(account)
        made: list[Reservation] = []

        def reserve() -> None:
            made.append(ledger.reserve(Plan.of(cost, rounds), adjacency=ReplaceOne(), account=name).__enter__())

        if (pot := self.charge(cost, rounds, name, reserve)) is not None:
            assert made[0].number == len(self.kinds) - 1
            self.held.append(Held(ledger, made[0], pot, pair(self.promise.rule.amount(cost)), rounds))
            self.costs_of_rounds[made[0].number] = cost

    @functools.cached_property
    def costs_of_rounds(self) -> dict[int, Cost]:
        return {}

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 5))
    def use_a_round(self, which: int) -> None:
        held = self.held[which % len(self.held)]
        mechanism = Telling(cost=self.costs_of_rounds[held.reservation.number])
        if held.over or held.used == held.rounds:
            with pytest.raises(ReservationClosed):
                held.reservation.release(mechanism, held.ledger.protect(1))
            return
        held.reservation.release(mechanism, held.ledger.protect(1))
        held.used += 1

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 5))
    def give_back(self, which: int) -> None:
        held = self.held[which % len(self.held)]
        if held.over:
            with pytest.raises(ReservationClosed):
                held.reservation.give_back()
            return
        unused, number = held.rounds - held.used, held.reservation.number
        assert held.reservation.give_back() == unused
        held.over = True
        if not unused:
            return
        self.kinds.append("returned")
        held.pot.charges[number] = minus(held.pot.charges[number], times(held.each, unused))
        if not held.used:
            self.model.unreleased.remove(number)

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 5))
    def finish(self, which: int) -> None:
        held = self.held.pop(which % len(self.held))
        held.reservation.__exit__(None, None, None)
        if held.used:
            self.kinds.append("released")
            self.model.unreleased.remove(held.reservation.number)
        with pytest.raises(ReservationClosed):
            held.reservation.give_back()

    # --- sub-budgets --------------------------------------------------------------------------------------------

    @initialize(names=st.sampled_from([(), ("a",), ("a", "a/x"), ("a", "a/x", "b")]))
    def begin_with_sub_budgets(self, names: tuple[str, ...]) -> None:
        """Else hardly any example has time for what may happen to them."""
        for name in names:
            self.allocate_there(0, name, Fraction(1, 2))

    @rule(who=st.integers(0, 2), path=some, share=st.sampled_from(SHARES))
    def allocate(self, who: int, path: int, share: Fraction | float) -> None:
        self.allocate_there(who, self.path(path), share)

    def allocate_there(self, who: int, whole: str, share: Fraction | float) -> None:
        above, _, name = whole.rpartition("/")
        if above not in self.model.pots:
            return
        parent = self.model.pots[above]
        ledger = self.handle(who).sub_budget(above) if above else self.handle(who)
        ceiling: Pair = (
            whole_units(parent.ceiling[0] * Fraction(share)),
            whole_units(parent.ceiling[1] * Fraction(share)),
        )
        labels = any(f"{label}/".startswith(f"{whole}/") for label in self.model.labels)
        if whole in self.model.pots or labels or not parent.affords(ceiling):
            with pytest.raises(SubBudgetRefused, match="nothing was allocated"):
                ledger.allocate(name, share)
            return
        assert ledger.allocate(name, share).account == whole
        self.model.allocate(whole, ceiling)
        self.kinds.append("allocated")

    @rule(who=st.integers(0, 2), which=some)
    def announce(self, who: int, which: int) -> None:
        ledger, label = self.handle(who), LABELS[which % len(LABELS)]
        if label == "main" or label in {*self.model.pots, *self.model.labels} or self.model.payer(label).closed:
            with pytest.raises(SubBudgetRefused, match="nothing was announced"):
                ledger.announce(label)
            return
        ledger.announce(label)
        self.model.labels.add(label)
        self.kinds.append("announced")

    @rule(who=st.integers(0, 2), path=some)
    def close_account(self, who: int, path: int) -> None:
        ledger, name = self.handle(who), self.path(path)
        pot = self.model.pots.get(name)
        if pot is None or pot.closed or not all(child.closed for child in pot.children):
            with pytest.raises(SubBudgetRefused):
                ledger.close_account(name)
            return
        assert pair(ledger.close_account(name)) == minus(pot.ceiling, pot.drawn)
        pot.closed = True
        self.kinds.append("closed")

    # --- handles ------------------------------------------------------------------------------------------------

    def let_go_of(self, ledger: Ledger) -> None:
        """This handle is not used any more; what it held open stays charged."""
        self.handles.remove(ledger)
        self.held = [held for held in self.held if held.ledger is not ledger]
        if not self.handles:
            self.handles.append(self.opened(again=True))

    @precondition(lambda self: self.url is not None)
    @rule(who=st.integers(0, 2))
    def close(self, who: int) -> None:
        ledger = self.handle(who)
        ledger.close()
        self.let_go_of(ledger)

    @precondition(lambda self: self.url is not None and len(self.handles) < 3)
    @rule(again=st.booleans())
    def open_once_more(self, again: bool) -> None:
        self.handles.append(self.opened(again=again))

    # --- what must be true all the time -------------------------------------------------------------------------

    @rule(who=st.integers(0, 2))
    def read_everything(self, who: int) -> None:
        """What takes longer to work out than to charge; the invariants see that reading changed nothing."""
        ledger, promise = self.handle(who), self.promise
        spent = Amount(*(int(part / UNIT) for part in self.model.pots[""].drawn))
        assert ledger.spent == promise.rule.guarantee(spent, promise.budget)
        statement = ledger.statement()
        assert (statement.unreleased, statement.head) == (len(self.model.unreleased), ledger.head)
        assert repr(ledger)
        assert ledger.affords(Plan.of(promise.costs[0])) == self.model.pots[""].affords(
            pair(promise.rule.amount(promise.costs[0]))
        )
        self.the_books_are_sound()

    @invariant()
    def every_handle_agrees_with_the_model(self) -> None:
        for ledger in self.handles:
            for path, pot in self.model.pots.items():
                assert within(ZERO, pot.left)
                assert pair((ledger.sub_budget(path) if path else ledger).remaining) == pot.left

    @invariant()
    def the_books_only_grow(self) -> None:
        entries = self.handles[-1].entries
        assert [entry.kind for entry in entries] == self.kinds
        digests = [entry.digest for entry in entries]
        assert digests[: len(self.digests)] == self.digests
        assert {ledger.head for ledger in self.handles} == {digests[-1]}
        self.digests = digests

    def the_books_are_sound(self) -> None:
        found = verify(self.handles[-1].entries)
        assert found.errors == ()
        unreleased = {int(n) for note in found.notes for n in re.findall(r"^entry (\d+): .*never released", note)}
        assert unreleased == set(sorted(self.model.unreleased)[:20])


EXAMPLES = {"memory": 40, "sqlite": 25, "postgresql": 8}


@pytest.mark.parametrize("store", EXAMPLES)
@pytest.mark.parametrize("name", PROMISES)
def test_a_ledger_agrees_with_an_exact_model(
    store: str, name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", EVERY)
    place: Place = lambda: contextlib.nullcontext(None)  # noqa: E731  # one of three places
    if store == "sqlite":
        place = files_in(request.getfixturevalue("quick_folder"))
    elif store == "postgresql":
        server: Server = request.getfixturevalue("postgresql_server")
        place = server.database

    class DoingsThere(Doings):
        def __init__(self) -> None:
            super().__init__(PROMISES[name], place)

    run_state_machine_as_test(DoingsThere, settings=settings(max_examples=EXAMPLES[store], stateful_step_count=30))
