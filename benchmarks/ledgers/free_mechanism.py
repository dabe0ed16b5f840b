"""A mechanism that does nothing at a price: what a release through the books takes is then all the ledger's."""

from accountant import Cost, Description, PureDP, ReplaceOne
from mechanisms import Mechanism


class Nothing(Mechanism[int, int]):
    """Samples the constant that it is given."""

    description = Description("Nothing", "constant", (), "none", 0.0, None, "none", False, ())
    adjacency = ReplaceOne()
    cost: Cost = PureDP(1e-9)

    def sample(self, data: int) -> int:
        return data
