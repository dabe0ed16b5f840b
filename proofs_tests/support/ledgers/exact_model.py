"""A ledger as plain rationals: slow, obvious, and with nothing of `accountant.entries.state` in it.

Nothing is kept but what was charged where; every figure is added up from that when it is asked for.
"""

from fractions import Fraction

import attrs

Pair = tuple[Fraction, Fraction]
"""Σε, Σε² or Σρ, and Σδ."""

ZERO: Pair = (Fraction(0), Fraction(0))


def plus(first: Pair, second: Pair) -> Pair:
    """The sum, part by part."""
    return first[0] + second[0], first[1] + second[1]


def minus(first: Pair, second: Pair) -> Pair:
    """The difference, part by part."""
    return first[0] - second[0], first[1] - second[1]


def times(pair: Pair, count: int) -> Pair:
    """The sum of so many equal ones."""
    return pair[0] * count, pair[1] * count


def within(pair: Pair, ceiling: Pair) -> bool:
    """Both parts at or below the ceiling."""
    return pair[0] <= ceiling[0] and pair[1] <= ceiling[1]


@attrs.define(eq=False)
class Pot:
    """A budget or a sub-budget. charges: what was charged to it directly, by the number of the entry."""

    ceiling: Pair
    parent: "Pot | None" = None
    closed: bool = False
    charges: dict[int, Pair] = attrs.field(factory=dict)
    children: "list[Pot]" = attrs.field(factory=list)

    @property
    def direct(self) -> Pair:
        """What was charged to it directly."""
        return _sum(list(self.charges.values()))

    @property
    def drawn(self) -> Pair:
        """What was charged to it and to all below it."""
        return plus(self.direct, _sum([child.drawn for child in self.children]))

    @property
    def taken(self) -> Pair:
        """What it cannot give any more: open sub-budgets hold all of theirs, closed ones what they spent."""
        return plus(self.direct, _sum([child.drawn if child.closed else child.ceiling for child in self.children]))

    @property
    def left(self) -> Pair:
        """What may still be charged to it."""
        return ZERO if self.closed else minus(self.ceiling, self.taken)

    def affords(self, amount: Pair) -> bool:
        """Whether a charge must go through."""
        return not self.closed and within(amount, self.left)


def _sum(pairs: list[Pair]) -> Pair:
    total = ZERO
    for pair in pairs:
        total = plus(total, pair)
    return total


@attrs.define(eq=False)
class Model:
    """All accounts by their paths; "" is the whole budget."""

    pots: dict[str, Pot]
    labels: set[str] = attrs.field(factory=set)
    unreleased: set[int] = attrs.field(factory=set)

    @staticmethod
    def of(ceiling: Pair) -> "Model":
        """Nothing is spent."""
        return Model({"": Pot(ceiling)})

    def payer(self, account: str) -> Pot:
        """The pot of the longest beginning of this path that was ever allocated."""
        parts = account.split("/")
        for length in range(len(parts), 0, -1):
            if (path := "/".join(parts[:length])) in self.pots:
                return self.pots[path]
        return self.pots[""]

    def lists(self, account: str) -> bool:
        """Whether a charge to this path says who pays: by a pot's name, "main" or a label, or as there is no choice."""
        pot = self.payer(account)
        own = next(path for path, other in self.pots.items() if other is pot)
        names = {name for name in self.labels if name.startswith(f"{own}/" if own else "")}
        names.add(f"{own}/main" if own else "main")
        return not pot.children or account == own or any(f"{account}/".startswith(f"{name}/") for name in names)

    def allocate(self, path: str, ceiling: Pair) -> None:
        """A new sub-budget of the path above."""
        parent = self.pots[path.rpartition("/")[0]]
        pot = Pot(ceiling, parent)
        parent.children.append(pot)
        self.pots[path] = pot
