"""What several fits come to that were each charged to a ledger of their own, which knows nothing of the others."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, cast

import attrs

from accountant.audit.displayed_numbers import as_property
from accountant.audit.plain_language import as_approx, for_group
from accountant.costs import AddRemoveOne, ApproxDP, Budget, PureDP, ReplaceOne, Unbounded, count, exact, float_up

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


def in_words(fits: Iterable[tuple[str, Budget]]) -> str:
    """What fits are together, as a sentence names it. fits: the adjacency that each holds under, and its cost.

    A replaced record is one that goes and one that comes: what promises add-remove-one promises replace-one at two
    steps, and not the other way round, as n is public there. Other relations have nothing in common.
    """
    by_relation: dict[str, list[Budget]] = {}
    for relation, cost in fits:
        by_relation.setdefault(relation, []).append(cost)
    if set(by_relation) == {ADD, REPLACE}:
        twice = [_two_steps(cost) for cost in by_relation[ADD]]
        said = as_property(added_up([*by_relation[REPLACE], *twice]))
        return f"{said} under {REPLACE}, where a fit under {ADD} counts as two steps; under {ADD} they promise nothing"
    if len(by_relation) == 1:
        return " and ".join(
            f"{as_property(added_up(costs))} under {relation}" for relation, costs in by_relation.items()
        )
    return f"not private under any one relation: each is under its own ({'; '.join(by_relation)})"


ADD, REPLACE = AddRemoveOne.name, ReplaceOne.name


def _two_steps(cost: Budget) -> Budget:
    """Of a cost as (ε, δ): 2ε and δ(1 + e^ε), or nothing."""
    if not isinstance(cost, PureDP | ApproxDP):
        return Unbounded()
    return for_group(as_approx(cost), 2) or Unbounded()


@attrs.frozen
class SeparateFits:
    """That a fit is one of several, each on a ledger of its own.

    number: which one, from 1.  known: how many are known of.
    elsewhere: whether there may be others that nobody here knows of.
    together: what those known come to, in words, see `in_words`.
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
