"""Finite mechanisms whose laws are given, and a fixed number of runs, for testing the choice of a model."""

import attrs
import numpy as np

from accountant import Adjacency, Cost, Description, ReplaceOne
from mechanisms import Mechanism, NoiseSource
from mechanisms.selection.stopping import PoissonStopping

ROWS = ((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))


@attrs.frozen(slots=False)
class Table(Mechanism[int, int]):
    """A finite mechanism: data chooses a row of probabilities, the output is drawn from it."""

    rows: tuple[tuple[float, ...], ...]
    price: Cost
    noise: NoiseSource
    relation: Adjacency = attrs.field(factory=ReplaceOne)

    @property
    def cost(self) -> Cost:
        return self.price

    @property
    def adjacency(self) -> Adjacency:
        return self.relation

    @property
    def description(self) -> Description:
        return Description("Table", "row", (), "range", 1.0, None, self.noise.name, self.noise.private, ("L2",))

    def sample(self, data: int) -> int:
        return self.noise.exponential_choice(np.log(self.rows[data]), 1.0)


@attrs.frozen
class Fixed(PoissonStopping):
    """Exactly `runs` runs, so that the choice itself can be enumerated."""

    runs: int = 0

    def draw(self, noise: NoiseSource) -> int:
        return self.runs
