"""A budget accountant for diffprivlib that charges a ledger of ours, before the mechanism runs."""

import importlib.metadata
import sys
import threading
from numbers import Integral
from typing import Any, Final, NamedTuple, Never, Self

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

HALVINGS: Final = 60
"""Of the interval in which `remaining` looks for an ε: to a double's last digit or so."""


class Spend(NamedTuple):
    """(ε, δ), as diffprivlib's `Budget` is."""

    epsilon: float
    delta: float


def _draws_nothing(data: None) -> None:
    """diffprivlib has drawn by then; the release is only noted."""


class LedgerAccountant:
    """Takes the place of diffprivlib's `BudgetAccountant`: as accountant=…, by `set_default()`, or by `with`.

    ledger: what is charged; of a PureDP or ApproxDP budget. Its rule adds up, so there is no slack to choose.
    adjacency: the relation that the ledger promises, which whoever makes this object vouches that the functions of
    diffprivlib that are called with it keep: its documentation does not say. Means and variances there rest on a fixed
    number of records (replace-one), counts and histograms on one that comes or goes (add-remove-one).

    diffprivlib asks `check` before a mechanism runs and `spend` after, and this object charges at `check`: an entry is
    durable before anything is drawn, stays if drawing fails, and is marked as released by the `spend` that follows. A
    `spend` without its `check` charges, too. [declared-elsewhere]
    Raises UnsupportedBudget for another kind of budget, AdjacencyMismatch at the first charge.
    """

    def __init__(self, ledger: Ledger, *, adjacency: Adjacency) -> None:
        if not isinstance(ledger.budget, PureDP | ApproxDP):
            raise UnsupportedBudget(
                f"diffprivlib spends ε and δ, and this ledger's budget is {ledger.budget!r}: open one with PureDP or "
                "ApproxDP"
            )
        self.ledger, self.adjacency = ledger, adjacency
        self._open: list[tuple[Spend, Reservation]] = []
        self._spends: list[Spend] = []
        self._lock = threading.RLock()
        self._replaced: list[object] = []

    # --- charging -----------------------------------------------------------------------------------------------

    def check(self, epsilon: float, delta: float) -> bool:
        """Charge (epsilon, delta) now; True, as diffprivlib expects.

        Raises BudgetExceeded, and ValueError for what is no (ε, δ), before anything is charged or drawn.
        """
        self._charge(epsilon, delta)
        return True

    def spend(self, epsilon: float, delta: float) -> Self:
        """Mark the oldest charge of this (epsilon, delta) that `check` made as released; charge it where there is none.

        Raises as `check` does.
        """
        with self._lock:
            asked = Spend(float(epsilon), float(delta))
            place = next((place for place, (spend, _) in enumerate(self._open) if spend == asked), None)
            if place is None:
                self._charge(epsilon, delta)
                place = len(self._open) - 1
            spend, reservation = self._open.pop(place)
            with reservation:
                reservation.release(self._mechanism(spend), self.ledger.protect(None))
        return self

    def _charge(self, epsilon: float, delta: float) -> None:
        spend = Spend(float(epsilon), float(delta))
        mechanism = self._mechanism(spend)
        with self._lock:
            plan = Plan.of(mechanism.cost)
            reservation = self.ledger.reserve(plan, adjacency=self.adjacency, mechanism=mechanism.description)
            self._open.append((spend, reservation))
            self._spends.append(spend)

    def _mechanism(self, spend: Spend) -> DeclaredMechanism[None, None]:
        cost = ApproxDP(*spend) if spend.delta else PureDP(spend.epsilon)
        return DeclaredMechanism(_draws_nothing, cost, self.adjacency, _library(), "a function")

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

        Raises ImportError where diffprivlib is not installed.
        """
        _theirs()._default = self
        return self

    @staticmethod
    def pop_default() -> Any:  # diffprivlib's own, which has no types
        """diffprivlib's default accountant, which is none from then on."""
        return _theirs().pop_default()

    def __enter__(self) -> Self:
        self._replaced.append(self.pop_default())
        return self.set_default()

    def __exit__(self, *error: object) -> None:
        _theirs()._default = self._replaced.pop()

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
