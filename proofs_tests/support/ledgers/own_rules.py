"""A rule of composition of one's own, as another package would have it, and wrong ones."""

import math
from typing import ClassVar

import attrs

from accountant import (
    GDP,
    ZCDP,
    Amount,
    ApproxDP,
    Budget,
    Cost,
    GDPComposition,
    LaplaceDP,
    OwnRule,
    PureDP,
    UnsupportedBudget,
    UnsupportedCost,
)
from accountant.audit import epsilon_at
from accountant.costs import down, exact, float_up, up


@attrs.frozen
class RenyiOfOneOrder(OwnRule):
    """Σ of Rényi divergences of one order: a filter (Feldman & Zrnic 2021), read out as [zcdp-tight] does.

    order: above 1.
    """

    name = "renyi-of-one-order"
    version: ClassVar[str] = "1.0"
    unit = "Σ Rényi divergence"
    order: float = 8.0

    def counted(self, cost: Cost) -> Amount:
        match cost:
            case PureDP() | LaplaceDP() | GDP():
                rho = cost.to_zcdp().rho
            case ZCDP(rho=rho):
                pass
            case _:
                raise UnsupportedCost(f"{cost!r} has no Rényi divergence")
        return Amount.of(up(self.order * rho) if rho else 0.0)

    def epsilon(self, amount: Amount, delta: float) -> float:
        if not amount.loss_units:
            return 0.0
        return max(0.0, up(float_up(amount.loss) + self.rest(delta))) if delta else math.inf

    def rest(self, delta: float) -> float:
        """What ε is above the divergence."""
        return math.log1p(-1 / self.order) - (math.log(delta) + math.log(self.order)) / (self.order - 1)

    def ceiling(self, budget: Budget) -> Amount:
        if not isinstance(budget, ApproxDP) or not budget.delta:
            raise UnsupportedBudget(f"{self.name} keeps ApproxDP with delta > 0 only, not {budget!r}")
        return Amount.of(max(0.0, down(budget.epsilon - self.rest(budget.delta))))


@attrs.frozen
class LittleOfDelta(RenyiOfOneOrder):
    """Nine tenths of what δ adds are left out."""

    def rest(self, delta: float) -> float:
        return 0.1 * RenyiOfOneOrder.rest(self, delta)


@attrs.frozen
class WideCeiling(RenyiOfOneOrder):
    """Lets through what it would not read as within the budget."""

    def ceiling(self, budget: Budget) -> Amount:
        return RenyiOfOneOrder.ceiling(self, budget).times(20)


@attrs.frozen
class FallingReadOut(RenyiOfOneOrder):
    """More is read as less."""

    def epsilon(self, amount: Amount, delta: float) -> float:
        return 50.0 / (1.0 + float(amount.loss)) if amount.loss_units else 0.0


@attrs.frozen
class ChargesForNothing(RenyiOfOneOrder):
    """A release that costs nothing adds something."""

    def counted(self, cost: Cost) -> Amount:
        return RenyiOfOneOrder.counted(self, cost).plus(Amount.of(0.5))


@attrs.frozen
class TakesAway(RenyiOfOneOrder):
    """A charge makes the sum smaller."""

    def counted(self, cost: Cost) -> Amount:
        return Amount(-1)


WRONG = (LittleOfDelta, WideCeiling, FallingReadOut, ChargesForNothing)


@attrs.frozen
class NineTenthsOfGaussians(OwnRule):
    """Sums of μ², each a tenth too small, read out exactly."""

    name = "nine-tenths"
    version: ClassVar[str] = "1"
    unit = "Σμ²"

    def counted(self, cost: Cost) -> Amount:
        return GDPComposition().amount(cost).scaled(exact(0.9))

    def epsilon(self, amount: Amount, delta: float) -> float:
        return epsilon_at(GDPComposition(), amount, delta)

    def ceiling(self, budget: Budget) -> Amount:
        return GDPComposition().ceiling(budget)
