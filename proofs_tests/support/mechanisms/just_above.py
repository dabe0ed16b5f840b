"""How close a price must be to the truth that somebody else has computed: never below it, and hardly above."""

from collections.abc import Iterable

import mpmath as mp

DIGITS = 60


def just_above(price: float, truth: object, within: float = 3e-12, absolute: float = 0.0) -> None:
    """Assert that truth <= price <= truth·(1 + within) + absolute, compared with sixty digits.

    truth: what mpmath takes for a number; not below 0.
    """
    with mp.workdps(DIGITS):
        exact = mp.mpf(truth)
        assert exact <= price, f"{price!r} is below {mp.nstr(exact, 20)} by {mp.nstr(exact - price, 5)}"
        above = price - exact
        assert above <= exact * within + absolute, f"{price!r} is above {mp.nstr(exact, 20)} by {mp.nstr(above, 5)}"


def just_below(price: float, truth: object, within: float = 3e-12, absolute: float = 0.0) -> None:
    """The same for what is rounded down, a budget's worth."""
    with mp.workdps(DIGITS):
        exact = mp.mpf(truth)
        assert price <= exact, f"{price!r} is above {mp.nstr(exact, 20)} by {mp.nstr(price - exact, 5)}"
        below = exact - price
        assert below <= exact * within + absolute, f"{price!r} is below {mp.nstr(exact, 20)} by {mp.nstr(below, 5)}"


def spread(low: float, high: float, number: int) -> Iterable[float]:
    """Numbers from low to high, each the same multiple of the one before: without pattern in their last digits."""
    return [low * (high / low) ** (place / (number - 1)) for place in range(number)]
