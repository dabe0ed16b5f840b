"""Amounts of a ledger as JSON, for programs."""

from fractions import Fraction

from accountant import Amount
from accountant.costs import BeyondFloats, float_down, float_up


def amount_record(amount: Amount, *, up: bool = False) -> dict[str, float | None]:
    """Both parts of an amount as floats; None has no limit, or is above any float.

    up: never below it, as for what was spent; else never above.
    """
    return {"loss": None if amount.endless else _float(amount.loss, up), "delta": _float(amount.delta, up)}


def _float(part: Fraction, up: bool) -> float | None:
    """None for what is above any float."""
    try:
        return float_up(part) if up else float_down(part)
    except BeyondFloats:
        return None
