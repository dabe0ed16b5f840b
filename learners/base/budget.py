"""What a fit may spend."""

from collections.abc import Callable

import attrs

from accountant import (
    Adjacency,
    ApproxDP,
    BasicComposition,
    Cost,
    Description,
    Ledger,
    Plan,
    PureDP,
    Reservation,
)
from accountant.composition import Target, largest_eta


@attrs.frozen
class Allowance:
    """What one fit may spend, and the ledger that pays.

    ledger: where it is charged.  account: who spends.
    target: the (ε, δ) that the fit was given, or a ρ or μ for a fit inside a private choice.
    classes: the public classes, of which a learner of many needs the number: labels tell only who occurs.
    """

    ledger: Ledger
    target: Target
    account: str
    classes: tuple[object, ...] = (0, 1)

    @property
    def delta(self) -> float:
        """δ of the target, 0 where it has none."""
        return self.target.delta if isinstance(self.target, ApproxDP) else 0.0

    def fits(self) -> Callable[[Cost], bool]:
        """Whether one release of a cost does: into ε itself where the target is pure, else by the ledger's rule."""
        rule = BasicComposition() if isinstance(self.target, PureDP) else self.ledger.composition
        ceiling = rule.ceiling(self.target)
        return lambda cost: rule.amount(cost).within(ceiling)

    def largest_eta(self, plan: Callable[[float], Plan]) -> float:
        """The largest inverse noise scale whose plan the target pays for, by the ledger's rule."""
        return largest_eta(plan, self.target, self.ledger.composition)

    def reserve(self, plan: Plan, adjacency: Adjacency, announced: Description) -> Reservation:
        """Charge the whole plan in one entry. announced: what the books say about it. Raises BudgetExceeded."""
        # Only a ledger that adds up (ε, δ) buys a plan at a price; the others add the rounds up themselves.
        delta = self.delta if isinstance(self.ledger.composition, BasicComposition) else 0.0
        return self.ledger.reserve(plan, adjacency=adjacency, delta=delta, account=self.account, mechanism=announced)
