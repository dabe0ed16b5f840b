"""How costs add up: rules, each a privacy filter that is valid when every cost may depend on
everything released before; and one that promises nothing, and counts.

Each rule turns a cost into an `Amount` (two exact sums), adds amounts, and compares the sum with a
ceiling that is fixed when the ledger is opened. So a charge costs O(1), and reading never changes anything.
"""

import abc
import decimal
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

import attrs

from accountant.costs import (
    GDP,
    KINDS,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Budget,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    curves,
    float_down,
    float_up,
)
from accountant.explained import Explained


class UnsupportedCost(Explained, TypeError):
    """A rule was given a kind of cost that it has no theorem for."""


class UnsupportedBudget(Explained, TypeError):
    """A rule was given a kind of budget that it cannot keep."""


_UNIT_BITS: Final = 1074
"""Every float is a whole multiple of 2^-1074, so sums of floats are exact as whole numbers of that unit."""


def _units(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator << (_UNIT_BITS - denominator.bit_length() + 1)


_BEYOND_FLOATS: Final = _UNIT_BITS + 1025
"""No float has as many bits, in units."""

_PAIR: Final = tuple.__new__
"""Makes an Amount of a pair, without the checks of a call: every charge adds several."""


class Amount(NamedTuple):
    """What a rule adds up, exactly, as whole numbers of 2^-1074.

    `loss` is Σε, Σρ, Σμ² or Σεᵢ², by the rule; `delta` is Σδ. Both read as exact rationals.
    """

    loss_units: int
    delta_units: int = 0

    @staticmethod
    def of(loss: float, delta: float = 0.0) -> "Amount":
        """The amount that two floats are, without rounding."""
        return Amount(_units(loss), _units(delta) if delta else 0)

    @property
    def loss(self) -> Fraction:
        """The first part."""
        return Fraction(self.loss_units, 1 << _UNIT_BITS)

    @property
    def delta(self) -> Fraction:
        """The second part."""
        return Fraction(self.delta_units, 1 << _UNIT_BITS)

    @property
    def endless(self) -> bool:
        """Whether it is beyond any float: what a ledger without a limit may still charge."""
        return self.loss_units >> _BEYOND_FLOATS > 0

    def __repr__(self) -> str:
        loss = math.inf if self.endless else float_down(self.loss)
        return f"Amount(loss={loss!r}, delta={float_down(self.delta)!r})"

    def plus(self, other: "Amount") -> "Amount":
        """The exact sum."""
        return _PAIR(Amount, (self[0] + other[0], self[1] + other[1]))

    def minus(self, other: "Amount") -> "Amount":
        """The exact difference, each part at least zero."""
        return Amount(max(self.loss_units - other.loss_units, 0), max(self.delta_units - other.delta_units, 0))

    def times(self, count: int) -> "Amount":
        """The exact sum of `count` equal amounts."""
        return Amount(self.loss_units * count, self.delta_units * count)

    def scaled(self, share: Fraction) -> "Amount":
        """A part of it, at least 0, each number rounded down to a whole unit."""
        return Amount(*(units * share.numerator // share.denominator for units in self))

    def within(self, ceiling: "Amount") -> bool:
        """Both parts at or below the ceiling."""
        return self.loss_units <= ceiling.loss_units and self.delta_units <= ceiling.delta_units


NOTHING: Final = Amount(0)

ENDLESS: Final = Amount(2 << _BEYOND_FLOATS)
"""The ceiling of a rule without one: no number of releases takes it below what is `endless`."""


class Composition(abc.ABC):
    """A rule of composition. Frozen: a ledger keeps the one it was opened with.

    name: in the ledger and in messages.  unit: what it adds up.  claims: ids of the theorems it depends on.
    """

    name: str
    unit: str
    claims: tuple[str, ...]

    @abc.abstractmethod
    def amount(self, cost: Cost) -> Amount:
        """What one release of this cost adds. Raises UnsupportedCost."""

    @abc.abstractmethod
    def ceiling(self, budget: Budget) -> Amount:
        """The largest sum that still keeps the budget. Raises UnsupportedBudget."""

    @abc.abstractmethod
    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        """The cost, in the budget's kind, that a sum stands for; rounded up."""

    def describe(self) -> dict[str, str | float]:
        """The rule as it stands in the ledger: its name, and what it was made with."""
        return {"name": self.name}

    def _kept(self, epsilon: float, amount: Amount, budget: Budget) -> float:
        """A ceiling was rounded down, so a sum below it keeps the budget even where its `epsilon` was rounded above."""
        if isinstance(budget, ApproxDP) and amount.within(self.ceiling(budget)):
            return min(epsilon, budget.epsilon)
        return epsilon

    def _cannot_take(self, cost: object, advice: str) -> UnsupportedCost:
        if isinstance(cost, Unbounded):
            advice = "no finite budget pays for it; Ledger(Unbounded(), composition=NoBound()) records it"
        return UnsupportedCost(f"{self.name} composition cannot take {cost!r}: {advice}")

    def _cannot_keep(self, budget: object, advice: str) -> UnsupportedBudget:
        if isinstance(budget, Unbounded):
            advice = "it promises nothing, and only NoBound() keeps that"
        return UnsupportedBudget(f"{self.name} composition cannot keep {budget!r}: {advice}")


@attrs.frozen
class BasicComposition(Composition):
    """Adds up ε and δ, of all costs in (ε, δ). [basic]

    A privacy filter by Rogers, Roth, Ullman & Vadhan 2016, Theorem 3.1.
    """

    name, unit, claims = "basic", "Σε", ("basic",)

    def amount(self, cost: Cost) -> Amount:
        match cost:
            case PureDP(epsilon=epsilon) | LaplaceDP(epsilon=epsilon) | BoundedRange(epsilon=epsilon):
                return Amount.of(epsilon)
            case ApproxDP(epsilon=epsilon, delta=delta):
                return Amount.of(epsilon, delta)
            case SubsampledGaussian():
                if cost.reduced == PureDP(0.0):
                    return NOTHING
                raise self._cannot_take(cost, "reserve a Plan of all its rounds at a delta: reserve(plan, delta=...)")
            case _:
                raise self._cannot_take(cost, "price it first, by at_delta(mechanism, delta) or as a plan")

    def ceiling(self, budget: Budget) -> Amount:
        match budget:
            case PureDP(epsilon=epsilon):
                return Amount.of(epsilon)
            case ApproxDP(epsilon=epsilon, delta=delta):
                return Amount.of(epsilon, delta)
            case _:
                raise self._cannot_keep(budget, "open the ledger with PureDP, ApproxDP, or another rule")

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        epsilon = float_up(amount.loss)
        return PureDP(epsilon) if isinstance(budget, PureDP) else ApproxDP(epsilon, float_up(amount.delta))


@attrs.frozen
class ZCDPComposition(Composition):
    """Adds up ρ, of costs that imply one; an (ε, δ) budget is turned into its largest ρ when the ledger is opened.

    Proof: [zcdp-filter] (Feldman & Zrnic 2021; Whitehouse et al. 2023), read out by [zcdp-tight].
    """

    name, unit, claims = "zcdp", "Σρ", ("zcdp-filter", "zcdp-tight")

    def amount(self, cost: Cost) -> Amount:
        match cost:
            case ZCDP(rho=rho):
                return Amount.of(rho)
            case PureDP() | LaplaceDP() | BoundedRange() | GDP() | SubsampledGaussian():
                return Amount.of(cost.to_zcdp().rho)
            case ApproxDP() if cost.delta == 0.0:
                return self.amount(PureDP(cost.epsilon))
            case _:
                raise self._cannot_take(cost, "(ε, δ) with δ > 0 implies no ρ; use basic or advanced")

    def ceiling(self, budget: Budget) -> Amount:
        match budget:
            case ZCDP(rho=rho):
                return Amount.of(rho)
            case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0.0:
                return Amount.of(curves.zcdp_rho(epsilon, delta))
            case _:
                raise self._cannot_keep(budget, "it needs ZCDP(rho), or ApproxDP with delta > 0")

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        rho = float_up(amount.loss)
        if not isinstance(budget, ApproxDP):
            return ZCDP(rho)
        return ApproxDP(self._kept(curves.zcdp_epsilon(rho, budget.delta), amount, budget), budget.delta)


@attrs.frozen
class NoBound(Composition):
    """Counts releases of any cost, and promises nothing: for what no finite budget pays for.

    A plan that was priced as one thing counts as one release.
    """

    name, unit, claims = "no-bound", "releases", ()

    def amount(self, cost: Cost) -> Amount:
        if type(cost) not in KINDS.values():
            raise self._cannot_take(cost, "it is no plain cost")
        return _ONE_RELEASE

    def ceiling(self, budget: Budget) -> Amount:
        if not isinstance(budget, Unbounded):
            advice = "it promises nothing: ask for Unbounded(), or use another rule, on a ledger with a finite budget"
            raise self._cannot_keep(budget, advice)
        return ENDLESS

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        return Unbounded()


_ONE_RELEASE: Final = Amount.of(1.0)


def parallel(epsilons: list[float], *, replace_one: bool, public_membership: bool = False) -> PureDP:
    """Pure releases on the cells of a declared partition, as one cost. [001-Thm2]

    epsilons: what each cell's release costs, under add-remove-one; with `public_membership` under the
    ledger's own relation. Under add-remove-one a record touches one cell: the maximum. Under replace-one
    it may leave one cell and enter another: twice the maximum, unless which cell a record is in is public.
    """
    worst = max((PureDP(epsilon).epsilon for epsilon in epsilons), default=0.0)
    return PureDP(worst if public_membership or not replace_one else 2.0 * worst)


def readable(amount: Amount, rule: Composition) -> str:
    """An amount for messages, to the nearest of so many digits; for people only."""
    text = f"{rule.unit} {digits_of(amount.loss_units, 12)}"
    return text if not amount.delta_units else f"{text}, Σδ {digits_of(amount.delta_units, 6)}"


def distinct_texts(more: Amount, less: Amount, rule: Composition, sign: str = " ") -> tuple[str, str]:
    """Two amounts for one message: parts that differ are written with as many digits as it takes to see that.

    more: what was asked for.  less: what is left.  sign: between the unit and the number.
    """
    parts = [(rule.unit, *_distinct(more.loss_units, less.loss_units, 12))]
    if more.delta_units or less.delta_units:
        parts.append(("Σδ", *_distinct(more.delta_units, less.delta_units, 6)))
    first, second = (", ".join(f"{part[0]}{sign}{part[place]}" for part in parts) for place in (1, 2))
    return first, second


_MOST_DIGITS: Final = 40
"""Two numbers that these do not tell apart are written as one of them and the difference."""


def _distinct(more: int, less: int, digits: int) -> tuple[str, str]:
    while more != less and digits_of(more, digits) == digits_of(less, digits):
        digits += 1
        if digits > _MOST_DIGITS:
            whole = digits_of(less, 12)
            return f"{whole} {'+' if more > less else '-'} {digits_of(abs(more - less), 3)}", whole
    return digits_of(more, digits), digits_of(less, digits)


def digits_of(units: int, digits: int) -> str:
    """One part of an amount, correctly rounded to so many significant digits, however large or small it is."""
    context = decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    value = context.divide(decimal.Decimal(units), decimal.Decimal(1 << _UNIT_BITS)).normalize(context)
    if -5 < value.adjusted() < digits or not value:
        return f"{value:f}"
    return f"{value.scaleb(-value.adjusted(), context):f}e{value.adjusted():+03d}"


def amount_text(units: int, scale: int = 0) -> str:
    """One part of an amount as it stands in the ledger: exact; "3p-5" is 3·2^-5, its digits hexadecimal.

    scale: given so many bits, the units are of 2^scale times the usual.
    """
    if not units:
        return "0p0"
    zeros = (units & -units).bit_length() - 1
    return f"{units >> zeros:x}p{zeros + scale - _UNIT_BITS}"


def amount_record(amount: Amount) -> dict[str, str]:
    """An amount as it stands in the ledger."""
    return {"delta": amount_text(amount.delta_units), "loss": amount_text(amount.loss_units)}


_LARGEST_BITS: Final = 2 * _UNIT_BITS
"""More than `ENDLESS` has, in units; other ceilings are floats, so no amount in the ledger is larger."""


def _units_from_text(text: str) -> int:
    digits, _, exponent = text.partition("p")
    shift = int(exponent[:8]) + _UNIT_BITS
    if 4 * len(digits) + shift > _LARGEST_BITS:  # before anything that large is made
        raise ValueError("an amount beyond any float")
    units = int(digits, 16) << max(shift, 0)
    if units < 0 or amount_text(units) != text:
        raise ValueError(f"{text[:40]!r} is not how an amount is written")
    return units


def amount_from_record(record: Mapping[str, str]) -> Amount:
    """The amount that two `amount_text`s stand for. Raises ValueError for any other text."""
    if record.keys() != {"delta", "loss"}:
        raise ValueError(f"an amount has a loss and a delta, not {sorted(record)}")
    return Amount(_units_from_text(record["loss"]), _units_from_text(record["delta"]))
