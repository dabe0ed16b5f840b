"""A budget accountant for diffprivlib that charges a ledger of ours, before the mechanism runs."""

import importlib.metadata
import sys
import threading
from numbers import Integral
from types import FrameType
from typing import Any, Final, NamedTuple, Never, Self

import attrs

from accountant import (
    Adjacency,
    ApproxDP,
    BasicComposition,
    Budget,
    Ledger,
    Plan,
    PureDP,
    Reservation,
    UnsupportedBudget,
)
from accountant.costs import count, float_down
from mechanisms.foreign.declared import DeclaredMechanism
from mechanisms.foreign.diffprivlib_functions import (
    Caller,
    builds_a_tree_of_a_forest,
    caller,
    frame_of_caller,
    times_charged,
)

HALVINGS: Final = 60
"""Of the interval in which `remaining` looks for an ε: to a double's last digit or so."""


FOREST: Final = "RandomForestClassifier.fit"
"""Fits trees of its own, each with an accountant of its own."""

_BASIC: Final = BasicComposition()

_LIVE: Final[list[tuple[int, object]]] = []
"""Of every `with` that is open in this process: its thread, and the default accountant that it took the place of."""

_LIVE_LOCK: Final = threading.Lock()


class Spend(NamedTuple):
    """(ε, δ), as diffprivlib's `Budget` is."""

    epsilon: float
    delta: float


def _draws_nothing(data: None) -> None:
    """diffprivlib has drawn by then; the release is only noted."""


class _Where(NamedTuple):
    """A line of a function in a thread."""

    thread: int
    caller: Caller


@attrs.frozen(eq=False)
class _Open:
    """A charge whose `spend` has not come yet.

    asked: what the function declares.  done: set by its `spend`.
    """

    where: _Where
    asked: Spend
    mechanism: DeclaredMechanism[None, None]
    reservation: Reservation
    done: threading.Event = attrs.field(factory=threading.Event)


class LedgerAccountant:
    """Takes the place of diffprivlib's `BudgetAccountant`: as accountant=…, by `set_default()`, or by `with`.

    ledger: what is charged; of a PureDP or ApproxDP budget. Its rule adds up, so there is no slack to choose.
    adjacency: the relation that the ledger promises, which whoever makes this object vouches that the functions of
    diffprivlib that are called with it keep: its documentation does not say. Means and variances there depend on a
    fixed number of records (replace-one), and so do `sum` and `count_nonzero`; histograms on one that comes or goes.

    diffprivlib asks `check` before a mechanism runs and `spend` after, and this object charges at `check`: an entry is
    durable before anything is drawn, stays if drawing fails, and is marked as released by the `spend` that follows. A
    `check` serves one `spend`, of the same (ε, δ), by the same function in the same thread; any other `spend` charges,
    also that of a second line at a prompt, where each is code of its own. [declared-elsewhere]

    Of some functions it is known what their ε is worth under an adjacency (`FACTORS`, `REFUSED`): histograms, trees and
    forests are charged 2ε under replace-one, say. The trees of a forest are paid for by the forest.
    Raises UnsupportedBudget for another kind of budget, AdjacencyMismatch at a charge.
    """

    def __init__(self, ledger: Ledger, *, adjacency: Adjacency) -> None:
        if not isinstance(ledger.budget, PureDP | ApproxDP):
            raise UnsupportedBudget(
                f"diffprivlib spends ε and δ, and this ledger's budget is {ledger.budget!r}: open one with PureDP or "
                "ApproxDP"
            )
        self.ledger, self.adjacency = ledger, adjacency
        self._open: list[_Open] = []
        self._spends: list[Spend] = []
        self._lock = threading.RLock()

    # --- charging -----------------------------------------------------------------------------------------------

    def check(self, epsilon: float, delta: float) -> bool:
        """Charge (epsilon, delta) now; True, as diffprivlib expects.

        Raises BudgetExceeded, AdjacencyMismatch, and ValueError for what is no (ε, δ), before anything is charged or
        drawn.
        """
        frame = frame_of_caller()
        if self._paid_by_a_forest(frame, epsilon):
            return True
        charge = self._charge(epsilon, delta, caller(frame))
        with self._lock:
            # Whoever is at this place again has not come to its `spend`, and never will.
            self._open[:] = [each for each in self._open if each.where != charge.where]
            self._open.append(charge)
        if charge.where.caller.function == FOREST:
            _pay_for_trees(frame.f_locals.get("self"), self, charge)
        return True

    def spend(self, epsilon: float, delta: float) -> Self:
        """Mark the charge that this function's `check` of (epsilon, delta) made as released; charge it where there is
        none.

        Raises as `check` does.
        """
        frame = frame_of_caller()
        if self._paid_by_a_forest(frame, epsilon):
            return self
        asking = caller(frame)
        charge = self._checked(epsilon, delta, asking) or self._charge(epsilon, delta, asking)
        charge.done.set()
        with charge.reservation as reservation:
            reservation.release(charge.mechanism, self.ledger.protect(None))
        return self

    def _checked(self, epsilon: float, delta: float, asking: Caller) -> "_Open | None":
        """The newest open charge of the same function in the same thread, at the same (ε, δ); taken out."""
        asked, thread = Spend(float(epsilon), float(delta)), threading.get_ident()
        with self._lock:
            for charge in reversed(self._open):
                if (charge.asked, charge.where.thread, charge.where.caller.code) == (asked, thread, asking.code):
                    self._open.remove(charge)
                    return charge
        return None

    def _charge(self, epsilon: float, delta: float, asking: Caller) -> "_Open":
        asked = Spend(float(epsilon), float(delta))
        cost = ApproxDP(*asked) if asked.delta else PureDP(asked.epsilon)
        rounds = Plan.of(cost, times_charged(asking.function, self.adjacency))
        owed = _BASIC.guarantee(rounds.amount(_BASIC), cost)
        mechanism = DeclaredMechanism(_draws_nothing, owed, self.adjacency, _library(), asking.shown)
        with self._lock:
            plan = Plan.of(owed)
            reservation = self.ledger.reserve(plan, adjacency=self.adjacency, mechanism=mechanism.description)
            self._spends.append(_pair(owed))
        return _Open(_Where(threading.get_ident(), asking), asked, mechanism, reservation)

    def _paid_by_a_forest(self, frame: FrameType, epsilon: float) -> bool:
        return False

    # --- reading ------------------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> float:
        """The ledger's ε."""
        return _pair(self.ledger.budget).epsilon

    @property
    def delta(self) -> float:
        """The ledger's δ, 0 of a pure one."""
        return _pair(self.ledger.budget).delta

    @property
    def slack(self) -> float:
        """0: the rule of the ledger decides."""
        return 0.0

    @property
    def spent_budget(self) -> list[tuple[float, float]]:
        """The (ε, δ) that were charged through this object, oldest first."""
        return list(self._spends)

    def __len__(self) -> int:
        return len(self._spends)

    def total(self, spent_budget: list[tuple[float, float]] | None = None, slack: float | None = None) -> Spend:
        """What the ledger has spent by its own rule, by whomever; of `spent_budget`, what that would come to by basic
        composition. slack: 0 or None."""
        if slack:
            raise ValueError("slack: the ledger's rule decides how spends add up; open it with AdvancedComposition")
        if spent_budget is None:
            return _pair(self.ledger.spent)
        rule, budget = BasicComposition(), ApproxDP(0.0, 0.0)
        costs = [ApproxDP(epsilon, delta) for epsilon, delta in spent_budget]
        return _pair(rule.guarantee(Plan.sequence(costs).amount(rule), budget)) if costs else Spend(0.0, 0.0)

    def remaining(self, k: int = 1) -> Spend:
        """(ε, δ) that each of k more spends may have: an equal part of the δ that is left, and the largest ε found with
        it that the ledger affords.

        Raises TypeError or ValueError unless k is a whole number of at least 1.
        """
        if not isinstance(k, Integral):
            raise TypeError(f"k must be a whole number, got {k!r}")
        rounds = count(int(k))
        delta = float_down(self.ledger.remaining.delta / rounds)
        fits = [0.0, self.epsilon]
        for _ in range(HALVINGS):
            middle = 0.5 * (fits[0] + fits[1])
            fits[0 if self._affords(middle, delta, rounds) else 1] = middle
        # What is left of a sum of ε is found exactly, so that it can be spent to the last bit.
        basic = isinstance(self.ledger.composition, BasicComposition)
        exactly = float_down(self.ledger.remaining.loss / rounds) if basic else fits[0]
        return Spend(exactly if self._affords(exactly, delta, rounds) else fits[0], delta)

    def _affords(self, epsilon: float, delta: float, rounds: int) -> bool:
        cost = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
        return self.ledger.affords(Plan.of(cost, rounds))

    def __repr__(self) -> str:
        return f"LedgerAccountant({self.ledger!r}, {len(self)} spends)"

    # --- in diffprivlib's place ------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # mypy takes __class__ for a plain attribute
    def __class__(self) -> type:
        """diffprivlib's own class where it is loaded: it asks isinstance(accountant, BudgetAccountant), and no more."""
        loaded = sys.modules.get("diffprivlib.accountant")
        return LedgerAccountant if loaded is None else loaded.BudgetAccountant

    @staticmethod
    def load_default(accountant: object) -> Any:  # diffprivlib's own, which has no types
        """As diffprivlib's: the accountant, the default one for None. Raises TypeError for anything else."""
        return _theirs().load_default(accountant)

    def set_default(self) -> Self:
        """Charge the ledger for all that diffprivlib runs without an accountant of its own, in this process.

        Raises ImportError where diffprivlib is not installed, and RuntimeError while another thread is in a `with`: its
        functions would be charged here, or nowhere.
        """
        with _LIVE_LOCK:
            self._refuse_other_thread()
            _theirs()._default = self
        return self

    @staticmethod
    def pop_default() -> Any:  # diffprivlib's own, which has no types
        """diffprivlib's default accountant, which is none from then on."""
        return _theirs().pop_default()

    def __enter__(self) -> Self:
        with _LIVE_LOCK:
            self._refuse_other_thread()
            _LIVE.append((threading.get_ident(), _theirs()._default))
            _theirs()._default = self
        return self

    def __exit__(self, *error: object) -> None:
        with _LIVE_LOCK:
            found = _theirs()._default
            _, _theirs()._default = _LIVE.pop()
        if found is not self:
            raise RuntimeError(
                f"diffprivlib's default accountant was set to {found!r:.99} inside of this block: what ran since was "
                "not charged to this ledger. Leave the default alone there, or pass accountant= to each function"
            )

    @staticmethod
    def _refuse_other_thread() -> None:
        if _LIVE and _LIVE[-1][0] != threading.get_ident():
            raise RuntimeError(
                "another thread is inside of a `with` of a LedgerAccountant, and diffprivlib has one default "
                "accountant for all threads: pass accountant= to each function instead. Nothing was charged"
            )

    # --- a ledger exists once --------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Self:
        """A clone of an estimator charges the same ledger, so that every fit of a cross-validation pays."""
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """As diffprivlib copies accountants with their estimators, the copy is the same one: the budget is not."""
        return self

    def __reduce_ex__(self, protocol: object) -> Never:
        raise TypeError("this accountant cannot be sent to another process: its ledger's budget would be spent twice")


class _ForTrees(LedgerAccountant):
    """The same accountant for the trees of a forest whose charge is open: each record is in one of them, by its place.

    Trees that are fitted in any other way are charged.
    """

    def __init__(self, books: LedgerAccountant, charge: _Open) -> None:
        self.__dict__.update(books.__dict__)
        self.books, self.charge = books, charge

    def _paid_by_a_forest(self, frame: FrameType, epsilon: float) -> bool:
        paid = not self.charge.done.is_set() and epsilon <= self.charge.asked.epsilon
        return paid and builds_a_tree_of_a_forest(frame)


def _pay_for_trees(forest: Any, books: LedgerAccountant, charge: _Open) -> None:  # diffprivlib's, which has no types
    """Give its template, which took the default accountant when it was made, one that the forest's charge pays for."""
    template: Any = getattr(forest, "estimator", None)
    loaded = getattr(template, "accountant", None)
    if loaded is books or (type(loaded) is _ForTrees and loaded.books is books):
        template.accountant = _ForTrees(books, charge)


def _theirs() -> Any:  # diffprivlib.accountant.BudgetAccountant, which has no types
    from diffprivlib.accountant import BudgetAccountant

    return BudgetAccountant


def _library() -> str:
    try:
        return f"diffprivlib {importlib.metadata.version('diffprivlib')}"
    except importlib.metadata.PackageNotFoundError:
        return "diffprivlib"


def _pair(cost: Budget) -> Spend:
    match cost:
        case PureDP(epsilon=epsilon):
            return Spend(epsilon, 0.0)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return Spend(epsilon, delta)
        case _:
            raise UnsupportedBudget(f"{cost!r} is no (ε, δ)")
