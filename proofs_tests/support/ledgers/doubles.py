"""Small real mechanisms for testing the ledger: they have true costs and true laws."""

import math

import attrs
import numpy as np
from scipy.special import ndtri

from accountant import (
    GDP,
    Adjacency,
    BoundedRange,
    Cost,
    Description,
    PureDP,
    ReplaceOne,
)
from accountant.costs.rounding import up
from accountant.costs.spendable import SEEDED
from mechanisms import Mechanism


@attrs.frozen(slots=False)
class RandomizedResponse(Mechanism[bool, bool]):
    """The truth with odds e^ε : 1; exactly ε-DP, and ε-bounded range as well; and μ-GDP where its chance is Φ(μ/2)."""

    epsilon: float
    seed: int = 0
    kind: type[PureDP] | type[BoundedRange] | type[GDP] = PureDP
    relation: Adjacency = attrs.field(factory=ReplaceOne)

    @property
    def cost(self) -> Cost:
        if self.kind is GDP:
            return GDP(up(2.0 * float(ndtri(1.0 / (1.0 + math.exp(-self.epsilon))))))
        return self.kind(self.epsilon)

    @property
    def adjacency(self) -> Adjacency:
        return self.relation

    @property
    def description(self) -> Description:
        return Description(
            "RandomizedResponse", "bit", (("epsilon", self.epsilon),), "linf", 1.0, None, SEEDED, False, ("basic",)
        )

    def sample(self, data: bool) -> bool:
        keep = np.random.default_rng(self.seed).random() < 1.0 / (1.0 + np.exp(-self.epsilon))
        return data if keep else not data


class Breaks(RandomizedResponse):
    """Fails while sampling, after the charge."""

    def sample(self, data: bool) -> bool:
        raise RuntimeError("the sampler died")


class Picky(RandomizedResponse):
    """Refuses its data, before the charge."""

    def check(self, data: bool) -> None:
        raise ValueError("this data does not fit")
