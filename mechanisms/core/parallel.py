"""Releases on the cells of a public partition, as one mechanism: every record takes part in one lane's releases.

A program is handed the lanes, never the records. Each lane answers mechanisms on its own records, within the steps of
one plan; whoever is replaced stays in their lane, as lanes go by the record's place in the table. So the whole costs
what one lane costs, however the lanes' releases are interleaved and whatever they are chosen from.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

import attrs
import numpy as np

from accountant import (
    GDP,
    ZCDP,
    Adjacency,
    ApproxDP,
    BasicComposition,
    Composition,
    Cost,
    Description,
    GDPComposition,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ReservationClosed,
    ZCDPComposition,
)
from accountant.arrays import IntArray
from accountant.composition import ROUTE_CLAIMS, least_mu
from accountant.costs import float_up
from accountant.ledger import refuse_unprovable
from mechanisms.core.mechanism import Mechanism

D = TypeVar("D")
R = TypeVar("R")


class Lane(Generic[D]):
    """One cell's records, sealed, for as many releases as the plan has steps.

    turn: the number of the partition that is being used, shared by all lanes.
    """

    def __init__(self, records: D, plan: Plan, partition: int, turn: list[int], *, private: bool) -> None:
        self.__records, self.__steps = records, iter(plan)
        self.__partition, self.__turn, self.__private = partition, turn, private

    def release(self, mechanism: Mechanism[D, R]) -> R:
        """The next step of this lane. Raises NotSpendable for one that costs more, ReservationClosed after the last.

        A lane also ends when a lane of a later partition is used: costs then follow one another in a fixed order,
        which composition theorems for fixed plans ask for.
        """
        cost, planned = mechanism.cost, next(self.__steps, None)
        if planned is None or self.__partition < self.__turn[0]:
            raise ReservationClosed("all steps of this lane are used, or a later partition has begun")
        self.__turn[0] = self.__partition
        if mechanism.adjacency != ReplaceOne():
            raise NotSpendable(f"lanes promise {ReplaceOne()}, the mechanism {mechanism.adjacency}")
        if type(planned) is not type(cost) or not cost <= planned:  # type: ignore[operator]  # of one kind here
            raise NotSpendable(f"this step was planned at {planned}, the mechanism costs {cost}")
        if self.__private and not mechanism.description.private:
            raise NotSpendable("secure noise was announced for these lanes, the mechanism draws simulated noise")
        mechanism.check(self.__records)
        return mechanism.sample(self.__records)


@attrs.frozen
class Partition:
    """Which lane each record is in, by its place in the table. Public.

    lanes: shape (n,), each in [0, number). Raises ValueError for another.
    """

    number: int
    lanes: IntArray = attrs.field(eq=attrs.cmp_using(eq=np.array_equal))

    def __attrs_post_init__(self) -> None:
        if self.lanes.size and not 0 <= int(self.lanes.min()) <= int(self.lanes.max()) < self.number:
            raise ValueError(f"a record is in a lane outside 0 to {self.number - 1}")


@attrs.frozen(slots=False, eq=False)
class Parallel(Mechanism[D, R], Generic[D, R]):
    """A program over lanes, as one release. [parallel-lanes]

    partitions: one after another; each shares out all n records anew.
    plan: the steps that each lane of each partition may take.
    select: the records at some places, as data of their own.  size: the number of records; checked before the charge.
    program: draws through the lanes, a list for each partition, and through nothing else.
    announced: the entry in the ledger, but for lanes and the claim behind the price.
    rule, delta: those of the ledger that will pay; the cost is `one_cost` of one lane's steps for each partition.
    """

    partitions: tuple[Partition, ...]
    plan: Plan
    select: Callable[[D, IntArray], D]
    size: Callable[[D], int]
    program: Callable[[Sequence[Sequence[Lane[D]]]], R]
    announced: Description
    rule: Composition = attrs.field(factory=BasicComposition)
    delta: float = 0.0

    @cached_property
    def _owed(self) -> tuple[Cost, str]:
        return one_cost(whole_plan(self.plan, len(self.partitions)), self.rule, self.delta)

    @property
    def cost(self) -> Cost:
        return self._owed[0]

    @property
    def adjacency(self) -> Adjacency:
        """Places in the table mean nothing where the number of records may change."""
        return ReplaceOne()

    @cached_property
    def description(self) -> Description:
        lanes = [partition.number for partition in self.partitions]
        steps = ", ".join(f"{step.rounds} x {step.cost!r}" for step in self.plan.steps)
        own = (("partitions", len(lanes)), ("lanes", max(lanes)), ("steps of a lane", steps))
        claims = ("parallel-lanes", self._owed[1], *self.announced.claims)
        return attrs.evolve(self.announced, parameters=(*self.announced.parameters, *own), claims=claims)

    def check(self, data: D) -> None:
        n = self.size(data)
        for partition in self.partitions:
            if partition.lanes.shape != (n,):
                raise ValueError(f"these lanes are for n = {partition.lanes.size}, the data has {n} records")

    def sample(self, data: D) -> R:
        turn, private = [0], self.announced.private
        lanes = [
            [
                Lane(
                    self.select(data, np.flatnonzero(partition.lanes == lane)), self.plan, number, turn, private=private
                )
                for lane in range(partition.number)
            ]
            for number, partition in enumerate(self.partitions)
        ]
        return self.program(lanes)


def whole_plan(plan: Plan, partitions: int) -> Plan:
    """The steps that touch one record: those of one lane, for each partition."""
    return Plan(plan.steps * partitions)


def one_cost(plan: Plan, rule: Composition, delta: float) -> tuple[Cost, str]:
    """A whole plan as one cost that a ledger with that rule takes, and the claim behind it.

    delta: above 0 on a ledger that adds up (ε, δ) the plan's best price, else what the rule adds up: Σε, Σρ or Σμ².
    Raises AdjacencyMismatch for a cost that cannot hold under replace-one, as lanes promise.
    """
    for step in plan.steps:
        refuse_unprovable(step.cost, ReplaceOne())
    if isinstance(rule, GDPComposition):
        return GDP(least_mu(plan.amount(rule).loss)), "gdp-filter"
    if not isinstance(rule, BasicComposition):
        return ZCDP(float_up(plan.amount(ZCDPComposition()).loss)), "zcdp-tight"
    if delta == 0.0:
        return PureDP(float_up(plan.amount(rule).loss)), "basic"
    price = plan.cheapest(delta)
    return ApproxDP(price.best.epsilon, delta), ROUTE_CLAIMS[price.route]
