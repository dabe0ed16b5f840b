"""Our ledger in memory, and the price of plans."""

from collections.abc import Callable
from typing import Final

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from benchmarks.ledgers import Nothing
from benchmarks.peer_workers.serve import Answer, Job, seconds_each, serve, timed


class GaussianNothing(Nothing):
    """At the price of Gaussian noise."""

    cost = GDP(1e-3)


RULES: Final[dict[str, tuple[Composition, Budget, Nothing]]] = {
    "zcdp": (ZCDPComposition(), ApproxDP(100.0, 1e-5), GaussianNothing()),
    "basic": (BasicComposition(), PureDP(1.0), Nothing()),
}

KINDS: Final[dict[str, Callable[[float], Cost]]] = {"gaussian": GDP, "pure": PureDP, "range": BoundedRange}


def charge(job: Job) -> Answer:
    """Seconds per release, digests included, on books of so many releases."""
    rule, budget, mechanism = RULES[job["rule"]]
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    data = ledger.protect(0)
    for _ in range(job["charges"]):
        ledger.release(mechanism, data)
    assert ledger.head  # the digests of what is there are not of the charges that follow
    each = seconds_each(lambda: ledger.release(mechanism, data), job["times"])
    return {"seconds": each + seconds_each(lambda: ledger.head, 1) / job["times"]}


def price(job: Job) -> Answer:
    """The price of so many rounds that cost `loss` each. It is computed anew, as every plan is another one."""
    plan = Plan.of(KINDS[job["kind"]](job["loss"]), job["rounds"])
    return timed(lambda: plan.price(job["delta"]).best.epsilon)


if __name__ == "__main__":
    serve({"charge": charge, "price": price}, lambda: None)
