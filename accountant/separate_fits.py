"""What several fits come to that were each charged to a ledger of their own, which knows nothing of the others."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, cast

import attrs

from accountant._numbers import count
from accountant.costs import ApproxDP, Budget, PureDP, Unbounded
from accountant.digits import as_property
from accountant.rounding import exact, float_up

LARGEST: Final = Fraction(2**1000)
"""Sums of ε above this promise nothing that a float could hold."""


def added_up(costs: Iterable[Budget]) -> PureDP | ApproxDP | Unbounded:
    """What fits of these costs are together by basic composition: Σε and Σδ, exact, then rounded up. [basic]

    Unbounded where one of them is, or is none that adds up as (ε, δ), or where the sums promise nothing any more.
    """
    epsilon, delta = Fraction(0), Fraction(0)
    for cost in costs:
        if not isinstance(cost, PureDP | ApproxDP):
            return Unbounded()
        epsilon += exact(cost.epsilon)
        delta += exact(cost.delta) if isinstance(cost, ApproxDP) else 0
    if epsilon > LARGEST or float_up(delta) >= 1.0:
        return Unbounded()
    return ApproxDP(float_up(epsilon), float_up(delta)) if delta else PureDP(float_up(epsilon))


def in_words(totals: Mapping[str, Budget]) -> str:
    """Totals as a sentence names them. totals: by the name of the adjacency that they hold under."""
    return " and ".join(f"{as_property(total)} under {relation}" for relation, total in totals.items())


@attrs.frozen
class SeparateFits:
    """That a fit is one of several, each on a ledger of its own.

    number: which one, from 1.  known: how many are known of.
    elsewhere: whether there may be others that nobody here knows of.
    together: what those known come to, in words, one for each adjacency among them.
    simulated: whether any of these drew its noise from a source that is not private.
    """

    number: int = attrs.field(converter=count)
    known: int = attrs.field(converter=count)
    elsewhere: bool
    together: str
    simulated: bool

    def __str__(self) -> str:
        """What a statement says of it."""
        least = "at least " if self.elsewhere else ""
        which = f"This is fit {self.number} of {least}{self.known} that this estimator, its clones and its copies made"
        more = "; others, made in other processes or before it was saved, are not counted" if self.elsewhere else ""
        would = "would, with secure noise, together be" if self.simulated else "are together"
        who = "those that are known" if self.elsewhere else "they"
        together = f"If they saw the same records, {who} {would} {self.together}."
        return f"{which}, each on a ledger of its own{more}. {together}"

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "SeparateFits":
        """As a statement writes it. Raises KeyError, TypeError or ValueError for anything else."""
        known = SeparateFits(
            cast("int", record["number"]),
            cast("int", record["known"]),
            bool(record["elsewhere"]),
            str(record["together"]),
            bool(record["simulated"]),
        )
        if known.number > known.known:
            raise ValueError(f"fit {known.number} of {known.known}: there are not so many")
        return known
