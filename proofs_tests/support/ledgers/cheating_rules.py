"""Rules of composition that are wrong where nobody looks first: off the usual strengths, in mixtures, as shown."""

from typing import ClassVar

import attrs

from accountant import (
    Amount,
    ApproxDP,
    BasicComposition,
    Budget,
    Cost,
    GDPComposition,
    OwnRule,
    PureDP,
    SubsampledGaussian,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.audit import epsilon_at
from accountant.costs import exact


@attrs.frozen
class _Rho(OwnRule):
    """Σρ, as the rule of this library has it."""

    name = "own-rho"
    version: ClassVar[str] = "1"
    unit = "Σρ"

    def counted(self, cost: Cost) -> Amount:
        return ZCDPComposition().amount(cost)

    def epsilon(self, amount: Amount, delta: float) -> float:
        return epsilon_at(ZCDPComposition(), amount, delta)

    def ceiling(self, budget: Budget) -> Amount:
        return ZCDPComposition().ceiling(budget)


@attrs.frozen
class SamplesForLittle(_Rho):
    """A Gaussian on a sample adds q²μ²/2, which holds at small orders only."""

    name = "samples-for-little"

    def counted(self, cost: Cost) -> Amount:
        found = _Rho.counted(self, cost)
        if isinstance(cost, SubsampledGaussian):
            return found.scaled(exact(cost.sampling_rate) ** 2)
        return found


@attrs.frozen
class HonestWhereItIsLookedAt(_Rho):
    """A tenth of everything but of the strengths that are usually tried."""

    name = "honest-where-it-is-looked-at"

    def counted(self, cost: Cost) -> Amount:
        found = _Rho.counted(self, cost)
        usual = {0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 0.25}
        numbers = {value for key, value in cost.as_dict().items() if key not in ("kind", "delta")}
        return found if numbers <= usual else found.scaled(exact(0.1))


@attrs.frozen
class LargerOfTwo(OwnRule):
    """Σε of pure costs and Σμ² of others, read as the larger of the two instead of their sum."""

    name = "larger-of-two"
    version: ClassVar[str] = "1"
    unit = "Σε and Σμ²"

    def counted(self, cost: Cost) -> Amount:
        if isinstance(cost, PureDP):
            return Amount(0, BasicComposition().amount(cost).loss_units)
        return GDPComposition().amount(cost)

    def epsilon(self, amount: Amount, delta: float) -> float:
        pure, gaussian = Amount(amount.delta_units), Amount(amount.loss_units)
        return max(epsilon_at(BasicComposition(), pure, delta), epsilon_at(GDPComposition(), gaussian, delta))

    def ceiling(self, budget: Budget) -> Amount:
        if not isinstance(budget, ApproxDP) or not budget.delta:
            raise UnsupportedBudget(f"{self.name} keeps ApproxDP with delta > 0 only, not {budget!r}")
        loss = GDPComposition().ceiling(budget).loss_units
        return Amount(loss, BasicComposition().ceiling(budget).loss_units)


@attrs.frozen
class ShowsLess(_Rho):
    """What it shows as spent is half of what it reads."""

    name = "shows-less"

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        found = _Rho.guarantee(self, amount, budget)
        return ApproxDP(0.5 * found.epsilon, found.delta) if isinstance(found, ApproxDP) else found


@attrs.frozen
class StopsTheLedger(_Rho):
    """Fails on sums that come up later."""

    name = "stops-the-ledger"

    def epsilon(self, amount: Amount, delta: float) -> float:
        return _Rho.epsilon(self, amount, delta) if amount.loss < 20 else float("never")


@attrs.frozen
class ReadsNothing(_Rho):
    """Gives what is no ε."""

    name = "reads-nothing"

    def epsilon(self, amount: Amount, delta: float) -> float:
        return float("nan")


CHEATING = (SamplesForLittle, HonestWhereItIsLookedAt, LargerOfTwo, ShowsLess, StopsTheLedger, ReadsNothing)


@attrs.frozen
class Fails(_Rho):
    """Its code is broken for one kind of cost."""

    name = "fails"

    def counted(self, cost: Cost) -> Amount:
        if isinstance(cost, ApproxDP):
            raise UnsupportedCost("it takes no (ε, δ)")
        return Amount.of(1.0 / len("" if isinstance(cost, PureDP) else "x"))
