"""Numbers as they are shown to people: a cost never below what it is, what is left never above."""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

from accountant.composition import Amount, Composition
from accountant.costs import GDP, ZCDP, ApproxDP, Budget, PureDP, Unbounded, float_down, float_up


def rounded_up(value: float, digits: int = 6) -> str:
    """At most `digits` digits, never below the value."""
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 6) -> str:
    """At most `digits` digits, never above the value."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, way: str) -> str:
    if not value:
        return "0"
    nearest = Decimal(f"{value:.{digits + 9}g}")  # a sum that stands for 1 up to the last bits reads as 1
    step = Decimal(1).scaleb(nearest.adjusted() - digits + 1)
    return f"{float(nearest.quantize(step, rounding=way)):.{digits}g}"


def spent_text(amount: Amount, rule: Composition) -> str:
    """An amount that was spent, in the rule's own unit, rounded up."""
    return _amount(amount, rule, lambda part: rounded_up(float_up(part)))


def left_text(amount: Amount, rule: Composition) -> str:
    """An amount that may be spent, in the rule's own unit, rounded down."""
    if amount.endless:
        return "no limit"
    return _amount(amount, rule, lambda part: rounded_down(float_down(part)))


def _amount(amount: Amount, rule: Composition, say: Callable[[Fraction], str]) -> str:
    text = f"{rule.unit} = {say(amount.loss)}"
    return f"{text}, Σδ = {say(amount.delta)}" if amount.delta_units else text


def in_symbols(cost: Budget) -> str:
    """The cost as the field writes it."""
    match cost:
        case PureDP(epsilon=epsilon):
            return f"ε = {rounded_up(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"ε = {rounded_up(epsilon)} at δ = {rounded_up(delta)}"
        case ZCDP(rho=rho):
            return f"ρ = {rounded_up(rho)}"
        case GDP(mu=mu):
            return f"μ = {rounded_up(mu)}"
        case Unbounded():
            return "unbounded (not private)"


def as_property(cost: Budget) -> str:
    """What something of this cost is: "(ε, δ)-differentially private"."""
    match cost:
        case PureDP(epsilon=epsilon):
            return f"{rounded_up(epsilon)}-differentially private"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"({rounded_up(epsilon)}, {rounded_up(delta)})-differentially private"
        case ZCDP(rho=rho):
            return f"{rounded_up(rho)}-zCDP"
        case GDP(mu=mu):
            return f"{rounded_up(mu)}-Gaussian differentially private"
        case Unbounded():
            return "not private"
