"""What a plan costs under every rule, and what learning a halfspace takes."""

from exchequer.prices import price
from exchequer.prices.halfspace_price import (
    halfspace_options,
    price_halfspace,
    refuse_strangers,
)
from exchequer.prices.price import (
    few_enough,
    parse_step,
)

__all__ = [
    "few_enough",
    "halfspace_options",
    "parse_step",
    "price",
    "price_halfspace",
    "refuse_strangers",
]
