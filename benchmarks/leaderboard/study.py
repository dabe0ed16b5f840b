"""Which cells there are: tables, systems, promises and seeds."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import attrs

from benchmarks.adapters.protocol import Kind, Neighbours
from benchmarks.leaderboard.adapters import System
from benchmarks.leaderboard.cells import NO_PRIVACY, Cell, DeltaRule

EPSILONS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)
"""Those of the other comparisons."""


def _rising(epsilons: Sequence[float]) -> tuple[float, ...]:
    return tuple(sorted(set(epsilons)))


@attrs.frozen
class Study:
    """The product of all these. seeds: so many, from 0 on.  widths: of bounds, 1 as they are."""

    epsilons: Sequence[float] = attrs.field(default=EPSILONS, converter=_rising)
    rules: Sequence[DeltaRule] = ("1e-5",)
    neighbours: Sequence[Neighbours] = ("add-remove-one",)
    widths: Sequence[float] = (1.0,)
    seeds: int = 10

    def cells(self, table: str, kind: Kind, system: System) -> Iterator[Cell]:
        """Of a system on a table; none where it does not take the kind."""
        if kind not in system.adapter.tasks:
            return
        if not system.adapter.private:
            yield from (Cell(table, system.name, NO_PRIVACY, width=width) for width in self.widths)
            return
        for epsilon, rule, near, width in product(self.epsilons, self.rules, self.neighbours, self.widths):
            yield Cell(table, system.name, epsilon, rule, near, width)


SEEDS: Final = 10

MAIN: Final = Study(seeds=SEEDS)
"""What ranks are about."""

FEW: Final = 3

OTHER_EPSILONS: Final = (0.1, 1.0)

OTHER_PROMISES: Final = (
    Study(OTHER_EPSILONS, rules=("n^-1.1",), seeds=FEW),
    Study(OTHER_EPSILONS, neighbours=("replace-one",), seeds=FEW),
    Study(OTHER_EPSILONS, widths=(10.0,), seeds=FEW),
)
"""One thing at a time is not as in MAIN: δ, which tables are neighbours, how wide bounds are."""

QUICK: Final = Study(epsilons=(0.2, 1.0), seeds=2)
