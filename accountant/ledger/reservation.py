"""Rounds that are paid for before the first of them is drawn."""

import itertools
import threading
from types import TracebackType
from typing import Never, Protocol, Self, TypeVar

from accountant.composition import Amount, Plan
from accountant.costs import KINDS, Cost, Description, Spendable, count
from accountant.entries import ReleaseLine
from accountant.exceptions import LedgerCopyRefused, NotSpendable, ReservationClosed
from accountant.ledger.protected_data import Protected
from accountant.ledger.writer import LedgerWriter

D = TypeVar("D")
R = TypeVar("R")


class Admits(Protocol):
    """The ledger's check of a mechanism and its data: what is sealed in it, if they fit."""

    def __call__(self, mechanism: Spendable[D, R], data: Protected[D], cost: Cost, /) -> D: ...


class Reservation:
    """Rounds that are paid for. Use it as a context manager; leaving marks what was released.

    Each release must cost no more than the plan's next round, in the same kind of cost.
    """

    def __init__(
        self,
        writer: LedgerWriter,
        plan: Plan,
        number: int,
        admit: Admits,
        *,
        amount: Amount,
        priced: bool,
        private: bool,
    ) -> None:
        self._writer, self._plan, self.number, self._admit = writer, plan, number, admit
        self._amount, self._priced, self._private = amount, priced, private
        self._costs = iter(plan)
        self._used: dict[str, int] = {}
        self._round, self._closed = 0, False
        self._lock = threading.RLock()  # leaving the block must not wait for what an interrupt left locked

    def release(self, mechanism: Spendable[D, R], data: Protected[D]) -> R:
        """Sample the next round; what it costs is in the ledger already.

        Raises ReservationClosed when no round is left, NotSpendable when the mechanism costs more than its
        round, and what `Ledger.release` raises before its charge.
        """
        cost = declared_cost(mechanism)
        content = self._admit(mechanism, data, cost)
        if self._private and not mechanism.description.private:
            raise NotSpendable("secure noise was announced for this reservation, the mechanism draws simulated noise")
        name = mechanism.description.canonical
        if name not in self._used:
            self._writer.refuse_unsayable(name)  # or it could not be said at the end what was released
        with self._lock:
            self._take_round(cost)
            self._used[name] = self._used.get(name, 0) + 1
        return mechanism.sample(content)

    def note_drawn_elsewhere(self, description: Description, rounds: int) -> None:
        """Note that the next rounds were drawn by somebody else, as described; nothing is drawn here.

        rounds: at least 1.  Raises ReservationClosed where fewer are left, NotSpendable for what no entry can hold.
        """
        name = description.canonical
        self._writer.refuse_unsayable(name)
        with self._lock:
            if self._closed or self._plan.rounds - self._round < count(rounds):
                raise ReservationClosed(f"this reservation is closed, or has no {rounds} rounds left")
            self._round += sum(1 for _ in itertools.islice(self._costs, rounds))
            self._used[name] = self._used.get(name, 0) + rounds

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

    def give_back(self) -> int:
        """Close it and give its unused rounds back, with an entry of their own; how many they were.

        Only while it is open: a plan that was charged as the sum of its rounds gives back those that nothing was
        drawn for. One that was charged at a price, (ε, δ) for all of it, gives back all rounds or none. [give-back]
        Raises ReservationClosed where nothing can be given back.
        """
        with self._lock:
            if self._closed:
                raise ReservationClosed("this reservation is closed: what it did not use stays spent")
            unused = self._plan.rounds - self._round
            if self._priced and self._round:
                raise ReservationClosed(
                    "this plan was charged at one price for all rounds, and some are used: none can be given back"
                )
            self._closed = True
            if unused:
                rest = self._amount if self._priced else self._plan.last(unused).amount(self._writer.state.rule)
                self._writer.give_back(self.number, unused, rest)
        return unused

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            used, self._used = self._used, {}
            if used:
                self._writer.mark_released(self.number, ReleaseLine.of(used.items()))

    def __copy__(self) -> Never:
        raise LedgerCopyRefused("a reservation cannot be copied: its rounds would be released twice")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> Never:
        self.__copy__()


_PLAIN = tuple(KINDS.values())  # a union in isinstance would be built anew on every release


def declared_cost(mechanism: Spendable[D, R]) -> Cost:
    """The declared cost. Raises NotSpendable for something that has no plain one."""
    cost = getattr(mechanism, "cost", None)
    if isinstance(cost, _PLAIN):
        return cost
    remedy = ": give it a certificate first, robust.under(slickness)" if hasattr(mechanism, "under") else ""
    if type(mechanism).__module__.partition(".")[0] == "opendp":
        remedy = ": make it a mechanism first, from_opendp(measurement, adjacency=...)"
    raise NotSpendable(f"{type(mechanism).__name__} has no plain cost{remedy}")


def _covers(planned: Cost, cost: Cost) -> bool:
    """Whether a cost of the same kind is at most the planned one."""
    return type(planned) is type(cost) and bool(cost <= planned)  # type: ignore[operator]  # of one kind here
