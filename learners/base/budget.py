"""What a fit may spend."""

from collections.abc import Callable

import attrs

from accountant import ApproxDP, BasicComposition, Composition, Cost, Plan, PureDP
from accountant.composition import Target, largest_eta


@attrs.frozen
class FitBudget:
    """What one fit may spend, and by which rule that adds up; enough to plan it. Nothing can be charged with it.

    target: the (ε, δ) that the fit was given, or a ρ or μ for a fit inside a private choice.
    composition: of the ledger that is to pay.  account: who spends.
    classes: the public classes, of which a learner of many needs the number: labels tell only who occurs.
    """

    target: Target
    composition: Composition
    account: str
    classes: tuple[object, ...] = (0, 1)

    @property
    def delta(self) -> float:
        """δ of the target, 0 where it has none."""
        return self.target.delta if isinstance(self.target, ApproxDP) else 0.0

    @property
    def plan_delta(self) -> float:
        """δ that a whole plan is priced at: only a ledger that adds up (ε, δ) does, others add the rounds up."""
        return self.delta if isinstance(self.composition, BasicComposition) else 0.0

    def fits(self) -> Callable[[Cost], bool]:
        """Whether one release of a cost does: into ε itself where the target is pure, else by the ledger's rule."""
        rule = BasicComposition() if isinstance(self.target, PureDP) else self.composition
        ceiling = rule.ceiling(self.target)
        return lambda cost: rule.amount(cost).within(ceiling)

    def largest_eta(self, plan: Callable[[float], Plan]) -> float:
        """The largest inverse noise scale whose plan the target pays for, by the ledger's rule."""
        return largest_eta(plan, self.target, self.composition)
