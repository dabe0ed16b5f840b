"""What lanes cost together: the sums of one lane's steps for each partition, exactly, and what a lane refuses."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Cost,
    Description,
    GDPComposition,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ReservationClosed,
    Step,
    ZCDPComposition,
)
from accountant.costs.adjacency import Adjacency
from mechanisms.core.mechanism import Mechanism
from mechanisms.core.parallel import Lane, Parallel, Partition, one_cost, whole_plan
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above, spread

Records = tuple[int, ...]
ABOUT = Description("Lanes", "bits", (), "range", 2.0, None, "scripted", True, ("own",))
LANES = np.array([0, 1, 0, 1, 2])


class Asked(Mechanism[Records, Records]):
    """A mechanism that shows what it was given: good for one test only."""

    def __init__(self, cost: Cost, adjacency: Adjacency | None = None, *, private: bool = True) -> None:
        self._cost, self._adjacency, self._private = cost, adjacency or ReplaceOne(), private
        self.checked: list[Records] = []

    @property
    def cost(self) -> Cost:
        return self._cost

    @property
    def adjacency(self) -> Adjacency:
        return self._adjacency

    @property
    def description(self) -> Description:
        return Description("Asked", "all", (), "range", 1.0, None, "scripted", self._private, ())

    def check(self, data: Records) -> None:
        self.checked.append(data)

    def sample(self, data: Records) -> Records:
        return data


def lane(plan: Plan, partition: int = 0, turn: list[int] | None = None, *, private: bool = False) -> Lane[Records]:
    return Lane((1, 2), plan, partition, [0] if turn is None else turn, private=private)


def test_a_lane_takes_its_steps_in_order_and_then_ends() -> None:
    one = lane(Plan((Step(PureDP(0.5), 1), Step(PureDP(0.25), 2))))
    mechanism = Asked(PureDP(0.5))
    assert one.release(mechanism) == (1, 2)
    assert mechanism.checked == [(1, 2)]
    for _ in range(2):
        one.release(Asked(PureDP(0.25)))
    with pytest.raises(ReservationClosed, match="all steps"):
        one.release(Asked(PureDP(0.0)))


@pytest.mark.parametrize("cost", [PureDP(0.5000001), BoundedRange(0.1), ZCDP(0.1), GDP(0.1), ApproxDP(0.1, 0.0)])
def test_a_lane_refuses_what_was_not_planned(cost: Cost) -> None:
    with pytest.raises(NotSpendable, match="this step was planned at"):
        lane(Plan.of(PureDP(0.5))).release(Asked(cost))


def test_a_lane_takes_less_than_was_planned() -> None:
    for cost in (PureDP(0.0), PureDP(0.5)):
        assert lane(Plan.of(PureDP(0.5))).release(Asked(cost)) == (1, 2)


def test_a_lane_promises_replace_one_and_the_noise_that_was_announced() -> None:
    with pytest.raises(NotSpendable, match="lanes promise"):
        lane(Plan.of(PureDP(0.5))).release(Asked(PureDP(0.5), AddRemoveOne()))
    with pytest.raises(NotSpendable, match="secure noise was announced"):
        lane(Plan.of(PureDP(0.5)), private=True).release(Asked(PureDP(0.5), private=False))
    assert lane(Plan.of(PureDP(0.5)), private=True).release(Asked(PureDP(0.5))) == (1, 2)
    assert lane(Plan.of(PureDP(0.5))).release(Asked(PureDP(0.5), private=False)) == (1, 2)


def test_a_lane_ends_when_a_later_partition_begins() -> None:
    turn, plan = [0], Plan.of(PureDP(0.5), rounds=3)
    first, second = lane(plan, 0, turn), lane(plan, 1, turn)
    first.release(Asked(PureDP(0.5)))
    second.release(Asked(PureDP(0.5)))
    assert turn == [1]
    second.release(Asked(PureDP(0.5)))
    with pytest.raises(ReservationClosed, match="later partition"):
        first.release(Asked(PureDP(0.5)))


def test_a_partition_has_only_lanes_that_exist() -> None:
    Partition(3, LANES)
    Partition(1, np.zeros(0, np.intp))
    for number, lanes in ((2, LANES), (3, LANES - 1), (0, LANES)):
        with pytest.raises(ValueError, match="outside 0 to"):
            Partition(number, lanes)


def parallel(
    partitions: int, plan: Plan, rule: object = None, delta: float = 0.0
) -> Parallel[Records, list[list[Records]]]:
    def program(lanes: Sequence[Sequence[Lane[Records]]]) -> list[list[Records]]:
        return [[each.release(Asked(next(iter(plan)))) for each in members] for members in lanes]

    def select(records: Records, places: npt.NDArray[np.intp]) -> Records:
        return tuple(records[place] for place in places.tolist())

    both = [Partition(3, LANES), Partition(2, np.array([1, 1, 0, 0, 0])), Partition(3, LANES)][:partitions]
    kept = rule if isinstance(rule, BasicComposition | ZCDPComposition) else BasicComposition()
    return Parallel(tuple(both), plan, select, len, program, ABOUT, kept, delta)


def test_every_record_is_in_one_lane_of_each_partition() -> None:
    mechanism = parallel(2, Plan.of(PureDP(0.5)))
    assert mechanism.sample((10, 11, 12, 13, 14)) == [[(10, 12), (11, 13), (14,)], [(12, 13, 14), (10, 11)]]
    mechanism.check((1, 2, 3, 4, 5))
    for wrong in ((1, 2, 3, 4), (1, 2, 3, 4, 5, 6)):
        with pytest.raises(ValueError, match="these lanes are for n = 5"):
            mechanism.check(wrong)
    assert mechanism.adjacency == ReplaceOne()


def test_a_program_runs_its_partitions_in_order() -> None:
    kept: list[Sequence[Sequence[Lane[Records]]]] = []
    mechanism = Parallel(
        (Partition(1, np.zeros(2, np.intp)),) * 2, Plan.of(PureDP(0.5), rounds=3),
        lambda records, places: records, len, kept.append, ABOUT,
    )  # fmt: skip
    mechanism.sample((1, 2))
    (first,), (second,) = kept[0]
    first.release(Asked(PureDP(0.5)))
    second.release(Asked(PureDP(0.5)))
    with pytest.raises(ReservationClosed):
        first.release(Asked(PureDP(0.5)))
    with pytest.raises(NotSpendable, match="secure noise"):
        second.release(Asked(PureDP(0.5), private=False))


STEPS = Plan((Step(PureDP(0.1), 3), Step(BoundedRange(0.7), 2)))


def test_sums_are_exact_and_rounded_up() -> None:
    for epsilon in spread(0.11, 0.93, 9):
        cost, _ = one_cost(Plan.of(PureDP(epsilon), 3), BasicComposition(), 0.0)
        assert isinstance(cost, PureDP)
        just_above(cost.epsilon, 3 * Fraction(epsilon), within=3e-16)
        cost, _ = one_cost(Plan.of(ZCDP(epsilon), 3), ZCDPComposition(), 0.0)
        assert isinstance(cost, ZCDP)
        just_above(cost.rho, 3 * Fraction(epsilon), within=3e-16)


def test_without_a_delta_a_plan_is_pure() -> None:
    lanes = (Partition(3, LANES),)
    mechanism = Parallel(lanes, Plan.of(PureDP(0.5)), lambda data, places: data, len, lambda lanes: None, ABOUT)
    assert mechanism.cost == PureDP(0.5)


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_pure_costs_are_the_sum_of_one_lane_for_each_partition(partitions: int) -> None:
    exact = partitions * (3 * Fraction(0.1) + 2 * Fraction(0.7))
    cost = parallel(partitions, STEPS).cost
    assert isinstance(cost, PureDP)
    just_above(cost.epsilon, exact, within=3e-16)
    assert whole_plan(STEPS, partitions).rounds == 5 * partitions
    assert one_cost(whole_plan(STEPS, partitions), BasicComposition(), 0.0) == (cost, "basic")


def test_other_ledgers_are_charged_in_their_kind() -> None:
    gaussian = Plan((Step(GDP(0.3), 2), Step(ZCDP(0.01), 1)))
    for rule in (ZCDPComposition(), AdvancedComposition(1e-6)):
        cost, claim = one_cost(gaussian, rule, 0.0)
        assert isinstance(cost, ZCDP)
        twice = ZCDP(2.0 * cost.rho)
        just_above(cost.rho, 2 * Fraction(0.3) ** 2 / 2 + Fraction(0.01), within=3e-12)
        assert claim == "zcdp-tight"
    assert parallel(2, gaussian, ZCDPComposition()).cost == twice


def test_at_a_delta_the_best_price_is_charged() -> None:
    plan = whole_plan(Plan.of(GDP(0.3)), 4)
    cost, claim = one_cost(plan, BasicComposition(), 1e-6)
    assert isinstance(cost, ApproxDP)
    assert (cost.delta, claim) == (1e-6, "gdp")
    assert gaussian_delta(0.6, cost.epsilon) <= 1e-6 < gaussian_delta(0.6, cost.epsilon * 0.999)
    assert parallel(2, Plan.of(GDP(0.3), rounds=2), None, 1e-6).cost == cost


def test_the_entry_names_what_was_charged() -> None:
    entry = parallel(2, STEPS).description
    assert entry.claims == ("parallel-lanes", "basic", "own")
    assert dict(entry.parameters) == {
        "partitions": 2,
        "lanes": 3,
        "steps of a lane": "3 x PureDP(epsilon=0.1), 2 x BoundedRange(epsilon=0.7)",
    }


def test_a_gaussian_plan_is_one_gaussian_release_on_a_gaussian_ledger() -> None:
    """Four of μ = 1/2 are one of 1, exactly."""
    assert one_cost(Plan.of(GDP(0.5), 4), GDPComposition(), 0.0) == (GDP(1.0), "gdp-filter")
