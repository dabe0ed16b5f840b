"""What a ledger refuses, and how it says so. Each is raised before anything is charged, unless it says otherwise."""

from fractions import Fraction
from typing import Final

from accountant.composition import Amount, Composition, distinct_texts
from accountant.costs import Adjacency
from accountant.explained import Explained

ROUNDED_OFF: Final = Fraction(1, 1 << 38)
"""A charge that is above what is left by no more than this part of it was meant to use it up."""

ONLY_ROUNDED: Final = (
    "It was meant to fit, no doubt: a written number such as 0.1 is kept as the nearest binary one, which may be a "
    "little more, sums are exact, and secure noise costs 2^-40 more than sensitivity over scale, for its grid. A hair "
    "less will do, or a hair more noise; in Python, accountant.composition.largest_eta finds it, and budget.split(k) "
    "gives the largest k equal parts of an ε, or of a ρ under zCDP, that fit"
)
TOO_MUCH: Final = "Lower the cost or the number of rounds, or open a ledger with a larger budget"


def how_to_fit(requested: Amount, remaining: Amount) -> str:
    """What to do about a charge that exceeds what remains."""
    short = requested.minus(remaining)
    rounded = short.loss <= remaining.loss * ROUNDED_OFF and short.delta <= remaining.delta * ROUNDED_OFF
    return ONLY_ROUNDED if rounded else TOO_MUCH


class BudgetExceeded(Explained, ValueError):
    """A charge would take the total above the budget. Nothing was charged, nothing was sampled.

    requested, remaining: exact amounts in the rule's own unit (Σε, Σε² or Σρ, and Σδ).  rule: whose.
    account: the sub-budget that would have paid, "" for the whole budget.
    """

    def __init__(self, requested: Amount, remaining: Amount, rule: Composition, account: str = "") -> None:
        whose = f" in the sub-budget {account!r}" if account else ""
        asked, left = distinct_texts(requested, remaining, rule)
        super().__init__(
            f"requested {asked}, only {left} remains{whose} under {rule.name} composition; nothing was charged. "
            f"{how_to_fit(requested, remaining)}"
        )
        self.requested, self.remaining, self.rule, self.account = requested, remaining, rule, account

    def __reduce__(self) -> tuple[type["BudgetExceeded"], tuple[Amount, Amount, Composition, str]]:
        """As it was made, so that it survives the way back from a worker process."""
        return type(self), (self.requested, self.remaining, self.rule, self.account)


class PolicyRefused(Explained, ValueError):
    """A policy does not allow this. Nothing was opened, or charged.

    source: the policy's file.  rule: what it says there.  found: what breaks it.  remedy: what helps.
    """

    def __init__(self, source: str, rule: str, found: str, remedy: str) -> None:
        super().__init__(f"policy {source}, {rule}: {found}; nothing was charged. {remedy}")
        self.source, self.rule, self.found, self.remedy = source, rule, found, remedy

    def __reduce__(self) -> tuple[type["PolicyRefused"], tuple[str, str, str, str]]:
        """As it was made, so that it survives the way back from a worker process."""
        return type(self), (self.source, self.rule, self.found, self.remedy)


class AdjacencyMismatch(Explained, ValueError):
    """A mechanism's cost was proved for another relation than the one this ledger promises.

    proved_for: that relation, where it is known.
    """

    def __init__(self, message: str, proved_for: Adjacency | None = None) -> None:
        super().__init__(message)
        self.proved_for = proved_for

    def __reduce__(self) -> tuple[type["AdjacencyMismatch"], tuple[str, Adjacency | None]]:
        """As it was made, so that it survives the way back from a worker process."""
        return type(self), (str(self), self.proved_for)


class NotSpendable(Explained, TypeError):
    """Something without a plain declared cost was handed to the ledger."""


class LedgerCopyRefused(Explained, TypeError):
    """A copied ledger would let the same budget be spent twice."""


class LedgerMismatch(Explained, ValueError):
    """There is a ledger at this place, and it promises something else than was asked for."""


class LedgerBroken(Explained, RuntimeError):
    """The entries do not hold together, or were changed behind this ledger's back: nothing more is spent."""


class LedgerUnavailable(Explained, RuntimeError):
    """The store of the ledger did not answer, or its disk is full. Nothing was released.

    A charge that was on its way when the store failed may be in the ledger all the same; then it counts.
    """


class ReservationClosed(Explained, RuntimeError):
    """A reservation was used outside its `with` block, or for more rounds than it holds."""


class KeyRefused(Explained, ValueError):
    """A writer's key may not sign here, or its change is not allowed: not enrolled, replaced or revoked."""


class SubBudgetRefused(Explained, ValueError):
    """A sub-budget, or a label beside them, that cannot be made, found or closed."""


class UnknownLabel(SubBudgetRefused):
    """A charge to a label that is no sub-budget, where there are sub-budgets, and nobody announced it.

    It may be a name that was misspelt, and would be paid by others. Nothing was charged.
    """
