"""What ledgers over one data set come to together, by basic composition; and what that is true of.

**Budgets.** Each ledger keeps (εᵢ, δᵢ) against whoever asks it, however the questions to it and to the others are
interleaved, and whatever the answers were: its rule is a filter, and its budget was fixed when it was opened.
Concurrent composition of such interactive mechanisms has the guarantee of their composition one after the other (Vadhan
& Wang 2021; Vadhan & Zhang 2023), also where they are begun adaptively (Haney et al. 2023). So all of them keep
(Σεᵢ, Σδᵢ). It is the sum over the ledgers that are registered by now. Another one adds to it.

**Spent.** The sum of what was spent is what all charges so far come to. It bounds the loss as it stands where nobody
chose what to charge by what was released; else it is a reading, as `ledger.spent` is for one ledger, and only the sum
of budgets is a promise.

**Relations.** Guarantees are added under one relation. One under add-remove-one holds under replace-one as
(2ε, (1 + e^ε) δ): a replaced record is one that leaves and one that comes. One under replace-one holds where only
features change, as it is. None of these holds the other way round: under replace-one n is public, so nothing is said of
two tables of different sizes. Where no relation is common to all, nothing is added.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

import attrs

from accountant.costs import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    Budget,
    FeatureValue,
    FeatureValues,
    NoConversion,
    PureDP,
    ReplaceOne,
    exact,
    float_up,
)
from accountant.entries import Entry
from accountant.exceptions import LedgerBroken, LedgerMismatch, LedgerUnavailable
from accountant.registry.quick_reading import quick_reading
from accountant.registry.registration import Registration
from accountant.storage import SqlStore

READ_AT: Final = 1e-6
"""The δ at which ρ and μ are read, which have none of their own."""

LARGEST: Final = 700.0
"""e^ε beyond this ε is hardly a float, and no promise."""


@attrs.frozen
class LedgerOver:
    """A ledger over a data set. spent: read now; its whole budget where it could not be, and `why_unread` says why.

    lost: whether entries are gone that the registry knows of: what they spent counts with one whole budget more.
    """

    registration: Registration
    spent: Budget
    why_unread: str = ""
    lost: bool = False


@attrs.frozen
class Together:
    """Ledgers over one data set.

    adjacency: the relation under which they are added; None where there is none for all of them.
    spent, budget: their sums, rounded up; None where there is none, and `why_not` says why.
    factors: whose guarantees were converted, in words.
    """

    dataset: str
    parts: tuple[LedgerOver, ...]
    adjacency: Adjacency | None
    spent: ApproxDP | None
    budget: ApproxDP | None
    why_not: str = ""
    factors: tuple[str, ...] = ()


def under(cost: ApproxDP, proved: Adjacency, wanted: Adjacency) -> ApproxDP | None:
    """What a guarantee under the relation `proved` comes to under `wanted`; None where it says nothing there."""
    if proved == wanted:
        return cost
    match proved:
        case AddRemoveOne():
            return _twice(cost)
        case ReplaceOne():
            return None if isinstance(wanted, AddRemoveOne) else cost
        case FeatureValues(columns=columns):
            inner = {wanted.column} if isinstance(wanted, FeatureValue) else set(getattr(wanted, "columns", {-1}))
            return cost if inner <= set(columns) else None
        case _:
            return None


def _twice(cost: ApproxDP) -> ApproxDP | None:
    """For two records: (2ε, (1 + e^ε) δ)."""
    epsilon = float_up(2 * exact(cost.epsilon))
    if not cost.delta:
        return ApproxDP(epsilon, 0.0)
    if cost.epsilon > LARGEST:
        return None
    above = Fraction(math.exp(cost.epsilon)) * (1 + Fraction(1, 1 << 50))  # exp is right to one unit of 2^-52
    delta = float_up((1 + above) * exact(cost.delta))
    return ApproxDP(epsilon, delta) if delta < 1.0 else None


def as_approx(cost: Budget) -> ApproxDP | None:
    """The cost as (ε, δ); None where it is unbounded."""
    match cost:
        case ApproxDP():
            return cost
        case PureDP(epsilon=epsilon):
            return ApproxDP(epsilon, 0.0)
        case ZCDP() | GDP():
            try:
                return cost.to_approx(delta=READ_AT)
            except (NoConversion, ArithmeticError):
                return None
        case _:
            return None


def summed(costs: Sequence[ApproxDP]) -> ApproxDP | None:
    """By basic composition, rounded up; None where δ comes to 1."""
    epsilon, delta = sum((exact(each.epsilon) for each in costs), Fraction(0)), Fraction(0)
    delta = sum((exact(each.delta) for each in costs), delta)
    return ApproxDP(float_up(epsilon), float_up(delta)) if float_up(delta) < 1.0 else None


def together(dataset: str, parts: Sequence[LedgerOver]) -> Together:
    """What the ledgers come to, under the strongest relation that all their guarantees hold under."""
    made = Together(dataset, tuple(parts), None, None, None)
    for part in parts:
        if as_approx(part.registration.budget) is None:
            return attrs.evolve(made, why_not=f"the ledger at {_place(part)} promises nothing, or no (ε, δ)")
    counted = [*parts, *(part for part in parts if part.lost)]
    why = "no relation is common to all of these ledgers, so their guarantees cannot be added"
    for relation in sorted({part.registration.adjacency for part in parts}, key=_strength):
        budget, spent = (_under_all(counted, costs, relation) for costs in _columns(counted))
        if budget is not None and spent is not None:
            budgets, spents = summed(budget), summed(spent)
            if budgets is None or spents is None:
                why = "the sum of their δ is 1 or more, which promises nothing"
                continue
            return attrs.evolve(
                made, adjacency=relation, spent=spents, budget=budgets, factors=_factors(parts, relation)
            )
    return attrs.evolve(made, why_not=why)


def _columns(parts: Sequence[LedgerOver]) -> tuple[list[Budget], list[Budget]]:
    return [part.registration.budget for part in parts], [part.spent for part in parts]


def _under_all(parts: Sequence[LedgerOver], costs: Sequence[Budget], wanted: Adjacency) -> list[ApproxDP] | None:
    found = []
    for part, cost in zip(parts, costs, strict=True):
        plain = as_approx(cost)
        converted = None if plain is None else under(plain, part.registration.adjacency, wanted)
        if converted is None:
            return None
        found.append(converted)
    return found


def _strength(relation: Adjacency) -> tuple[int, str]:
    return (AddRemoveOne, ReplaceOne, FeatureValues, FeatureValue).index(type(relation)), str(relation)


def _factors(parts: Sequence[LedgerOver], wanted: Adjacency) -> tuple[str, ...]:
    return tuple(
        f"{_place(part)} promises {AddRemoveOne.name}: under {wanted.name} its ε counts twice, its δ (1 + e^ε) times"
        for part in parts
        if isinstance(part.registration.adjacency, AddRemoveOne) and not isinstance(wanted, AddRemoveOne)
    )


def has(read: Callable[[int], Iterator[Entry]], entries: int, head: str) -> bool:
    """Whether the entry with that number less 1 has this digest. read: the entries from a number on."""
    found = next(iter(read(entries - 1)), None) if entries > 0 else None
    return found is not None and found.digest == head


def _place(part: LedgerOver) -> str:
    return part.registration.location or part.registration.ledger


LOST: Final = (
    "it was cut off or rolled back since it was entered, or a copy of it goes on elsewhere; what is not here counts "
    "with a whole budget more"
)


def over(registration: Registration, heads: Iterable[tuple[int, str, str]] = ()) -> LedgerOver:
    """The ledger as it is now; where it cannot be read, or was rolled back, it counts with its whole budget.

    heads: `Registry.heads` of it.
    """
    try:
        store = SqlStore(registration.location, "read")
        try:
            found = quick_reading(store)
            known = [(registration.entries, registration.head), *((entries, head) for entries, head, _ in heads)]
            lost = not all(has(store.read, entries, head) for entries, head in known)
        finally:
            store.close()
    except (LedgerBroken, LedgerMismatch, LedgerUnavailable, ValueError, OSError) as error:
        return LedgerOver(registration, registration.budget, f"it cannot be read: {' '.join(str(error).split())}")
    if found.id != registration.ledger:
        return LedgerOver(registration, registration.budget, "another ledger is in its place")
    if lost:
        return LedgerOver(registration, registration.budget, LOST, lost=True)
    return LedgerOver(registration, found.spent)
