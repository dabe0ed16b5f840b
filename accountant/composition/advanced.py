"""Advanced composition, tight and as textbooks have it: for ledgers on which some costs have a δ of their own."""

from fractions import Fraction
from typing import Final

import attrs

from accountant.composition.rules import Amount, Composition
from accountant.costs import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Budget,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    curves,
    finite_up,
    float_up,
    open_probability,
)

_TIGHT: Final[tuple[str, ...]] = ("advanced-filter", "zcdp-tight")


@attrs.frozen
class AdvancedComposition(Composition):
    """Adds up ρ, and δ beside it, and reads ρ at a fixed δ′: for costs that have a δ of their own. [advanced-filter]

    What is promised is the ε of (Σρ)-zCDP at δ′, and δ = δ′ + Σδᵢ.

    (ε, δ)-DP is ρ-zCDP but for δ, with ρ = ε·tanh(ε/2) [L3]; what has no δ adds the ρ that is proved of it. Sums are
    read by the tight conversion [zcdp-tight].
    delta_prime: in (0, 1), spent once, when the ledger is opened.
    """

    name, unit, claims = "advanced", "Σρ", _TIGHT
    delta_prime: float = attrs.field(converter=open_probability)

    def amount(self, cost: Cost) -> Amount:
        match cost:
            case PureDP() | LaplaceDP() | BoundedRange() | GDP() | SubsampledGaussian():
                return Amount.of(cost.to_zcdp().rho)
            case ApproxDP(epsilon=epsilon, delta=delta):
                return Amount.of(PureDP(epsilon).to_zcdp().rho, delta)
            case ZCDP(rho=rho):
                return Amount.of(rho)
            case _:
                raise self._cannot_take(cost, "it has no proven ρ")

    def ceiling(self, budget: Budget) -> Amount:
        if not isinstance(budget, ApproxDP):
            raise self._cannot_keep(budget, "it needs ApproxDP(epsilon, delta)")
        if self.delta_prime > budget.delta:
            raise self._cannot_keep(
                budget, f"delta_prime={self.delta_prime!r} alone exceeds its delta; ask for at least as much"
            )
        return Amount.of(self._largest(budget.epsilon), budget.delta).minus(Amount.of(0.0, self.delta_prime))

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        epsilon = self._kept(self.epsilon(amount), amount, budget)
        return ApproxDP(epsilon, float_up(amount.delta + Fraction(self.delta_prime)))

    def epsilon(self, amount: Amount) -> float:
        """The ε that a sum stands for at δ′, rounded up."""
        return curves.zcdp_epsilon(float_up(amount.loss), self.delta_prime)

    def _largest(self, epsilon: float) -> float:
        """The largest sum that keeps ε at δ′, rounded down."""
        return curves.zcdp_rho(epsilon, self.delta_prime)

    def describe(self) -> dict[str, str | float]:
        # A name that older versions do not know, so that they refuse such a ledger instead of adding up squares of ε.
        return {"name": "advanced-tight", "delta_prime": self.delta_prime}


@attrs.frozen
class TextbookComposition(AdvancedComposition):
    """The same by the formula ε = √(2 ln(1/δ′) v) + v/2, with v = Σεᵢ²; any other kind with a proven ρ adds 2ρ to v.

    Looser, and kept for ledgers that were opened with it before there was the tight one. [advanced-filter]
    """

    name, unit, claims = "advanced-textbook", "Σε²", ("advanced-filter",)

    def amount(self, cost: Cost) -> Amount:
        match cost:
            case PureDP(epsilon=epsilon):
                return Amount.of(finite_up(epsilon * epsilon))
            case ApproxDP(epsilon=epsilon, delta=delta):
                return Amount.of(finite_up(epsilon * epsilon), delta)
            case _:
                return AdvancedComposition.amount(self, cost).times(2)

    def epsilon(self, amount: Amount) -> float:
        return curves.advanced_epsilon(float_up(amount.loss), self.delta_prime) if amount.loss_units else 0.0

    def _largest(self, epsilon: float) -> float:
        return curves.advanced_square_sum(epsilon, self.delta_prime)

    def describe(self) -> dict[str, str | float]:
        # As older versions wrote it: they knew one formula.
        return {"name": "advanced", "delta_prime": self.delta_prime}
