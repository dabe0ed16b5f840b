"""Gaussian releases alone, added up exactly: the rule for ledgers that nothing but Gaussian noise draws on."""

import math
from fractions import Fraction
from typing import Final

import attrs

from accountant.composition.rules import NOTHING, Amount, Composition
from accountant.costs import (
    GDP,
    LARGEST_BUDGET,
    ZCDP,
    ApproxDP,
    BeyondFloats,
    BoundedRange,
    Budget,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    exact,
    float_up,
    gaussian,
    non_negative,
)

LARGEST_MU: Final = 2.0**500
"""Squares of larger numbers leave the floats. As a budget they are taken for this one; as a cost they are refused."""

_ONE: Final = Amount.of(1.0).loss_units


@attrs.frozen
class GDPComposition(Composition):
    """Adds up μ², of Gaussian noise only. [gdp-filter]

    Gaussian releases, each μ chosen after everything released before, are together √Σμ²-GDP.

    Takes GDP costs, Gaussians on samples as if there were no sampling, and other kinds of 0. Keeps GDP(mu), and
    ApproxDP with delta > 0, which is turned into its largest μ when the ledger is opened. Sums are read out on the
    exact Gaussian curve [gdp]: of Gaussians, nothing is lost.
    """

    name, unit, claims = "gdp", "Σμ²", ("gdp-filter", "gdp")

    def amount(self, cost: Cost) -> Amount:
        """μ², exact where μ is at least 2^-484, else rounded up to a unit. Raises BeyondFloats above LARGEST_MU."""
        if isinstance(cost, SubsampledGaussian):
            cost = cost.to_gdp()
        if isinstance(cost, PureDP | LaplaceDP | BoundedRange | ZCDP) and not any(attrs.astuple(cost)):
            return NOTHING  # of a release that looks at nothing protected
        if not isinstance(cost, GDP):
            raise self._cannot_take(cost, "it adds up GDP costs only; other rules take other kinds beside them")
        if cost.mu > LARGEST_MU:
            raise BeyondFloats(f"the square of {cost!r} is beyond any float; use less")
        return Amount(-(-_square(cost.mu) // _ONE))

    def ceiling(self, budget: Budget) -> Amount:
        match budget:
            case GDP(mu=mu):
                largest = mu
            case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0.0:
                largest = gaussian.mu(min(epsilon, LARGEST_BUDGET), delta)
            case _:
                raise self._cannot_keep(budget, "it needs GDP(mu), or ApproxDP with delta > 0")
        return Amount(_square(min(largest, LARGEST_MU)) // _ONE)

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        mu = least_mu(amount.loss)
        if not isinstance(budget, ApproxDP):
            return GDP(mu)
        return ApproxDP(self._kept(gaussian.epsilon(mu, budget.delta), amount, budget), budget.delta)


def _square(value: float) -> int:
    """Exactly, in units of 2^-2148."""
    units = Amount.of(non_negative(value)).loss_units
    return units * units


def least_mu(squares: Fraction) -> float:
    """The smallest float whose square is at least that; exact, so that four μ = 1/2 are one μ = 1.

    Raises BeyondFloats for what no float is as large as.
    """
    float_up(squares)
    # To 64 digits or more however small it is, so that a step or two are left.
    places = max(0, 64 + (squares.denominator.bit_length() - squares.numerator.bit_length() + 1) // 2)
    mu = float(Fraction(math.isqrt((squares.numerator << 2 * places) // squares.denominator), 1 << places))
    while exact(mu) ** 2 < squares:
        mu = math.nextafter(mu, math.inf)
    while mu and exact(below := math.nextafter(mu, 0.0)) ** 2 >= squares:
        mu = below
    return mu
