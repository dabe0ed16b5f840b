"""The ledger: the only place where protected data is opened, and only after the charge is in the books."""

import functools
import json
import os
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Never, Self, TypeVar

from accountant.adjacency import Adjacency, adjacency_record
from accountant.composition import (
    NOTHING,
    Amount,
    Composition,
    UnsupportedBudget,
    amount_text,
    composition_from_record,
    readable,
)
from accountant.costs import KINDS, Budget, Cost
from accountant.plans import Plan, Price
from accountant.protected import Protected, unseal
from accountant.spendable import Description, Spendable
from accountant.statement import Statement, state
from accountant.trail import Entry, EntryStore, Kind, MemoryStore, canonical, verify

D = TypeVar("D")
R = TypeVar("R")


class BudgetExceeded(ValueError):
    """A charge would take the total above the budget. Nothing was charged, nothing was sampled.

    requested, remaining: exact amounts in the rule's own unit (Σε, Σε² or Σρ, and Σδ).  rule: whose.
    """

    def __init__(self, requested: Amount, remaining: Amount, rule: Composition) -> None:
        super().__init__(
            f"requested {readable(requested, rule)}, only {readable(remaining, rule)} remains under {rule.name} "
            "composition; nothing was charged. Lower the cost or the number of rounds, or open a ledger with a "
            "larger budget"
        )
        self.requested, self.remaining, self.rule = requested, remaining, rule


class AdjacencyMismatch(ValueError):
    """A mechanism's cost was proved for another relation than the one this ledger promises."""


class NotSpendable(TypeError):
    """Something without a plain declared cost was handed to the ledger."""


class LedgerCopyRefused(TypeError):
    """A copied ledger would let the same budget be spent twice."""


class LedgerBroken(RuntimeError):
    """A charge was interrupted half-way (a failed store, a signal): what was spent counts, no more is spent."""


class ReservationClosed(RuntimeError):
    """A reservation was used outside its `with` block, or for more rounds than it holds."""


class Ledger:
    """One budget, one rule of composition, one adjacency; all fixed when it is opened.

    budget: PureDP, ApproxDP or ZCDP.  composition: a rule that can keep it.  adjacency: the promise.
    store: where entries go; in memory unless given.
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
    ) -> None:
        self._budget, self._rule, self._adjacency = budget, composition, adjacency
        self._ceiling = composition.ceiling(budget)
        self._store: EntryStore = MemoryStore() if store is None else store
        self._lock = threading.RLock()
        self._forks = _FORKS.count
        self._one_release = functools.lru_cache(maxsize=4096)(self._price_one)
        self._total, self._length, self._busy = NOTHING, 0, False
        if composition_from_record(composition.describe()) != composition:
            raise UnsupportedBudget(f"{composition!r} is not a rule that the books can name, so nobody could verify it")
        self._adjacency_json = canonical(dict(adjacency_record(adjacency)))
        self._open_books()

    def _open_books(self) -> None:
        if self._store.entries():
            raise ValueError("this store already holds entries; reopening a ledger is not supported by this store")
        record: dict[str, object] = {
            "adjacency": adjacency_record(self._adjacency),
            "budget": self._budget.as_dict(),
            "composition": self._rule.describe(),
            "kind": "opened",
            "number": 0,
            "time": time.time_ns(),
        }
        self._append("opened", canonical(record))

    # --- what an auditor reads; reading never changes anything -------------------------------------

    @property
    def budget(self) -> Budget:
        """The budget it was opened with."""
        return self._budget

    @property
    def composition(self) -> Composition:
        """The rule it was opened with."""
        return self._rule

    @property
    def adjacency(self) -> Adjacency:
        """The relation it promises."""
        return self._adjacency

    @property
    def spent(self) -> Budget:
        """What has been charged so far, in the budget's kind, rounded up; δ′ and δ of the rule included."""
        return self._rule.guarantee(self._total, self._budget)

    @property
    def remaining(self) -> Amount:
        """What is left, exactly, in the rule's own unit: Σε, Σε² or Σρ, and Σδ."""
        return self._ceiling.minus(self._total)

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first."""
        with self._lock:
            return self._store.entries()

    @property
    def head(self) -> str:
        """The digest of the newest entry: what an auditor keeps elsewhere."""
        with self._lock:
            return self._store.head

    def verify(self, *, expect_head: str | None = None) -> list[str]:
        """What is wrong with these books; an empty list for sound ones. See `accountant.trail.verify`."""
        return verify(self.entries, expect_head=expect_head)

    def statement(self) -> Statement:
        """What was spent, on what, by whom, under which assumptions; prints as text."""
        return state(self.entries, self.spent)

    def affords(self, plan: Plan, *, delta: float = 0.0) -> bool:
        """Whether `reserve(plan, delta=delta)` would go through now."""
        return self._total.plus(self._price(plan, delta)[0]).within(self._ceiling)

    # --- protecting and releasing ----------------------------------------------------------------------

    def protect(self, content: D) -> Protected[D]:
        """Seal data so that only this ledger can release anything from it."""
        if isinstance(content, Protected):
            raise TypeError("this data is protected already")
        return Protected(content, self)

    def release(self, mechanism: Spendable[D, R], data: Protected[D], *, account: str = "main") -> R:
        """Check, charge, sample, mark as released; in this order.

        mechanism: anything with a plain declared cost.  data: from this ledger's `protect`.
        account: who or what the charge is for.
        Raises BudgetExceeded, AdjacencyMismatch, NotSpendable, UnsupportedCost or what the mechanism's own
        check raises, all before anything is charged. If sampling itself fails, the charge stays.
        """
        cost = _declared_cost(mechanism)
        content = self._admit(mechanism, data)
        amount, steps = self._one_release(cost)
        charge = self._charge(amount, account, mechanism.description.canonical, steps, "null")
        value = mechanism.sample(content)
        self._mark_released(charge, "[]")
        return value

    def reserve(
        self,
        plan: Plan,
        *,
        adjacency: Adjacency,
        delta: float = 0.0,
        account: str = "main",
        mechanism: Description | None = None,
    ) -> "Reservation":
        """Charge a whole plan with one entry, and release its rounds one after another.

        adjacency: the relation under which the plan's costs were proved.
        mechanism: what the rounds will release, for the entry; what they really were is noted at the end.

        delta: 0 charges the sum of the plan's costs under the ledger's rule. Above 0, on a ledger that adds
        up (ε, δ), it charges `plan.price(delta)` as one release: any composition theorem may be used inside
        a plan, whose costs are fixed, and other charges may interleave with it (Haney et al. 2023).
        Raises BudgetExceeded, AdjacencyMismatch or UnsupportedCost, before anything is charged.
        """
        self._same_process()
        self._promises(adjacency, "this plan")
        amount, price = self._price(plan, delta)
        steps = _compact([{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps])
        announced = "null" if mechanism is None else mechanism.canonical
        priced = "null" if price is None else _compact({"cost": price.best.as_dict(), "route": price.route})
        number = self._charge(amount, account, announced, steps, priced)
        return Reservation(self, plan, number, private=mechanism is not None and mechanism.private)

    def _price(self, plan: Plan, delta: float) -> tuple[Amount, Price | None]:
        if not isinstance(plan, Plan):
            raise NotSpendable(f"reserve takes a Plan, got {type(plan).__name__}: try Plan.of(cost, rounds=...)")
        if delta == 0.0:
            return plan.amount(self._rule), None
        price = plan.price(delta)
        return self._rule.amount(price.best), price

    def _admit(self, mechanism: Spendable[D, R], data: Protected[D]) -> D:
        self._same_process()
        content = unseal(data, self)
        self._promises(mechanism.adjacency, type(mechanism).__name__)
        mechanism.check(content)
        return content

    def _promises(self, adjacency: Adjacency, what: str) -> None:
        if adjacency is not self._adjacency and adjacency != self._adjacency:
            raise AdjacencyMismatch(f"{what} was proved for {adjacency}, but this ledger promises {self._adjacency}")

    # --- the books ------------------------------------------------------------------------------------

    def _price_one(self, cost: Cost) -> tuple[Amount, str]:
        """What one release adds up to, and its step as the books write it."""
        return self._rule.amount(cost), _compact([{"cost": cost.as_dict(), "rounds": 1}])

    def _charge(self, amount: Amount, account: str, mechanism: str, steps: str, priced: str) -> int:
        who = _quoted(account)
        with self._lock:
            if self._busy:
                raise LedgerBroken("a charge was interrupted; nobody can say what this ledger's books are worth now")
            # Set before the total is read, so that a signal handler that spends in between cannot be overwritten;
            # and left set if anything below fails.
            self._busy = True
            after = self._total.plus(amount)
            if not after.within(self._ceiling):
                self._busy = False
                raise BudgetExceeded(amount, self.remaining, self._rule)
            number = self._length
            line = (
                f'{{"account":{who},"adjacency":{self._adjacency_json},'
                f'"after":{{"delta":"{amount_text(after.delta_units)}","loss":"{amount_text(after.loss_units)}"}},'
                f'"kind":"charged","mechanism":{mechanism},"number":{number},'
                f'"priced":{priced},"steps":{steps},"time":{time.time_ns()}}}'
            )
            # The total rises first: should the store fail half-way, the charge counts all the same.
            self._total = after
            self._append("charged", line)
            self._busy = False
            return number

    def _same_process(self) -> None:
        if _FORKS.count != self._forks:
            raise LedgerCopyRefused(
                "a fork copied this in-memory ledger into another process; its budget would be spent twice"
            )

    def _mark_released(self, charge: int, used: str) -> None:
        with self._lock:
            line = (
                f'{{"charge":{charge},"kind":"released","number":{self._length},"time":{time.time_ns()},"used":{used}}}'
            )
            self._append("released", line)

    def _append(self, kind: Kind, line: str) -> None:
        self._store.append(kind, line)
        self._length += 1

    # --- a ledger exists once -------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Self:
        """`sklearn.clone` keeps the same ledger, so that every fit of a cross-validation pays."""
        return self

    def _refuse(self, what: str) -> Never:
        raise LedgerCopyRefused(f"a ledger cannot be {what}: its budget would be spent twice")

    def __copy__(self) -> Never:
        self._refuse("copied")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self._refuse("deep-copied")

    def __reduce_ex__(self, protocol: object) -> Never:
        self._refuse("pickled, nor sent to another process")

    def __repr__(self) -> str:
        return f"<Ledger {self._rule.name}, {self._adjacency.name}: spent {self.spent} of {self._budget}>"


class Reservation:
    """Rounds that are paid for. Use it as a context manager; leaving marks what was released.

    Each release must cost no more than the plan's next round, in the same kind of cost.
    """

    def __init__(self, ledger: Ledger, plan: Plan, number: int, *, private: bool) -> None:
        self._ledger, self._number, self._private = ledger, number, private
        self._costs = iter(plan)
        self._used: dict[str, int] = {}
        self._round, self._closed = 0, False
        self._lock = threading.Lock()

    def release(self, mechanism: Spendable[D, R], data: Protected[D]) -> R:
        """Sample the next round; what it costs is in the books already.

        Raises ReservationClosed when no round is left, NotSpendable when the mechanism costs more than its
        round, and what `Ledger.release` raises before its charge.
        """
        cost = _declared_cost(mechanism)
        content = self._ledger._admit(mechanism, data)
        if self._private and not mechanism.description.private:
            raise NotSpendable("secure noise was announced for this reservation, the mechanism draws simulated noise")
        with self._lock:
            self._take_round(cost)
            name = mechanism.description.canonical
            self._used[name] = self._used.get(name, 0) + 1
        return mechanism.sample(content)

    def _take_round(self, cost: Cost) -> None:
        if self._closed:
            raise ReservationClosed("this reservation is closed")
        planned = next(self._costs, None)
        if planned is None:
            raise ReservationClosed(f"all {self._round} rounds of this reservation are used")
        self._round += 1
        if not _covers(planned, cost):
            self._closed = True
            raise NotSpendable(f"round {self._round} was reserved at {planned}, the mechanism costs {cost}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        if self._used:
            used = ",".join(f'{{"mechanism":{name},"rounds":{n}}}' for name, n in self._used.items())
            self._ledger._mark_released(self._number, f"[{used}]")

    def __copy__(self) -> Never:
        raise LedgerCopyRefused("a reservation cannot be copied: its rounds would be released twice")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> Never:
        self.__copy__()


_PLAIN = tuple(KINDS.values())  # a union in isinstance would be built anew on every release


def _declared_cost(mechanism: Spendable[D, R]) -> Cost:
    """The declared cost. Raises NotSpendable for something that has no plain one."""
    cost = getattr(mechanism, "cost", None)
    if isinstance(cost, _PLAIN):
        return cost
    remedy = ": give it a certificate first, robust.under(slickness)" if hasattr(mechanism, "under") else ""
    raise NotSpendable(f"{type(mechanism).__name__} has no plain cost{remedy}")


def _covers(planned: Cost, cost: Cost) -> bool:
    """Whether a cost of the same kind is at most the planned one."""
    return type(planned) is type(cost) and bool(cost <= planned)  # type: ignore[operator]  # of one kind here


@functools.lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return json.dumps(text)


class _Forks:
    """How often this process is the child of a fork: a ledger made before one belongs to the parent."""

    def __init__(self) -> None:
        self.count = 0
        if hasattr(os, "register_at_fork"):  # where there is no fork, nothing can be copied by one
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.count += 1


_FORKS = _Forks()


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
