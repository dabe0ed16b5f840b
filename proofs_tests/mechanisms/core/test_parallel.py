"""Releases on lanes of a public partition: what they cost together, and what a program may not do."""

from collections.abc import Callable, Sequence

import attrs
import numpy as np
import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Description,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ReservationClosed,
    Step,
    ZCDPComposition,
)
from mechanisms import (
    ExponentialChoice,
    Mechanism,
    NoiseSource,
    PlainMechanism,
    Query,
    RangeSensitivity,
    SeededNoise,
)
from mechanisms.core.parallel import Lane, Parallel, Partition, one_cost, whole_plan
from proofs_tests.harness import ClaimViolated, ScriptedNoise, check_learner, neighbours

Bits = tuple[int, ...]
Lanes = Sequence[Sequence[Lane[Bits]]]
ABOUT = Description("Lanes", "bits", (), "range", 2.0, None, "scripted", False, ())
PARTITIONS = (Partition(2, np.array([0, 1, 0, 1])), Partition(2, np.array([0, 0, 1, 1])))


def votes(bits: Bits) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([float(len(bits) - sum(bits)), float(sum(bits))])


def majority(eta: float, noise: NoiseSource) -> Mechanism[Bits, int]:
    """The majority bit: BoundedRange(2·eta)."""
    return PlainMechanism(Query("majority", votes, RangeSensitivity(2.0), ReplaceOne()), ExponentialChoice(eta), noise)


def chosen(bits: Bits, places: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Bits:
    return tuple(bits[place] for place in places.tolist())


def parallel(
    program: Callable[[Lanes], Bits], plan: Plan, partitions: tuple[Partition, ...] = PARTITIONS
) -> Parallel[Bits, Bits]:
    return Parallel(partitions, plan, chosen, len, program, ABOUT)


ETA = 0.4
PLAN = Plan.of(BoundedRange(2.0 * ETA * (1.0 + 1e-9)))


def run(bits: Bits, noise: ScriptedNoise) -> Bits:
    """Two partitions, two lanes each: the second lane asks only when the first said 1, and later ones look back."""

    def program(lanes: Lanes) -> Bits:
        found: list[int] = []
        for members in lanes:
            for lane in members:
                if len(found) % 2 == 0 or found[-1]:
                    found.append(lane.release(majority(ETA, noise)))
                else:
                    found.append(0)
        return tuple(found)

    mechanism = parallel(program, PLAN)
    mechanism.check(bits)
    return mechanism.sample(bits)


def test_lanes_cost_what_one_lane_costs_whatever_is_asked_when() -> None:
    """[parallel-lanes] Exactly: all pairs of four bits; four adaptive releases cost two, and a tenth less is caught."""
    pairs = list(neighbours(ReplaceOne(), (0, 1), 4))
    cost = parallel(lambda lanes: (), PLAN).cost
    assert isinstance(cost, PureDP)
    assert cost.epsilon == pytest.approx(4.0 * ETA)
    width = BoundedRange(4.0 * ETA * (1.0 + 1e-9))
    reports = check_learner(run, {"ledger": cost, "width": width}, pairs)
    assert reports[1].ratio > 0.95
    with pytest.raises(ClaimViolated):
        check_learner(run, {"a tenth less": BoundedRange(0.9 * 4.0 * ETA)}, pairs)


def program_of(*orders: tuple[int, int]) -> Callable[[Lanes], Bits]:
    return lambda lanes: tuple(lanes[p][k].release(majority(ETA, ScriptedNoise(()))) for p, k in orders)


def test_a_lane_ends_with_its_plan_and_with_its_partition() -> None:
    bits = (0, 1, 1, 0)
    assert len(parallel(program_of((0, 0), (0, 1), (1, 1)), PLAN).sample(bits)) == 3
    for orders in (((0, 0), (0, 0)), ((0, 0), (1, 0), (0, 1))):
        with pytest.raises(ReservationClosed):
            parallel(program_of(*orders), PLAN).sample(bits)


def test_a_step_dearer_than_planned_of_another_kind_or_relation_is_refused() -> None:
    bits = (0, 1, 1, 0)
    for plan in (Plan.of(BoundedRange(ETA)), Plan.of(PureDP(4.0 * ETA))):
        with pytest.raises(NotSpendable, match="this step was planned"):
            parallel(program_of((0, 0)), plan).sample(bits)
    other = PlainMechanism(
        Query("majority", votes, RangeSensitivity(2.0), AddRemoveOne()), ExponentialChoice(ETA), ScriptedNoise(())
    )
    with pytest.raises(NotSpendable, match="lanes promise"):
        parallel(lambda lanes: (lanes[0][0].release(other),), PLAN).sample(bits)


def test_lanes_for_another_n_are_refused_before_the_charge() -> None:
    with pytest.raises(ValueError, match="for n = 4, the data has 3"):
        parallel(program_of((0, 0)), PLAN).check((0, 1, 1))


def test_a_lane_shows_nothing_of_its_records() -> None:
    lane = Lane((3, 1, 4), PLAN, 0, [0], private=False)
    assert [name for name in vars(lane) if not name.startswith("_Lane__")] == []
    assert "3, 1, 4" not in repr(lane)


def test_a_plan_as_one_cost_is_what_its_ledger_would_add_up() -> None:
    plan = Plan((Step(BoundedRange(0.3), 4), Step(GDP(0.2), 1)))
    zcdp, claim = one_cost(plan, ZCDPComposition(), 1e-5)
    assert (zcdp, claim) == (ZCDP(float(plan.amount(ZCDPComposition()).loss)), "zcdp-tight")
    assert one_cost(plan, AdvancedComposition(1e-5), 1e-5)[0] == zcdp
    best, _ = one_cost(plan, BasicComposition(), 1e-5)
    assert best == plan.price(1e-5).best
    assert isinstance(best, ApproxDP)
    assert one_cost(Plan.of(PureDP(0.25), 4), BasicComposition(), 0.0)[0] == PureDP(1.0)
    assert whole_plan(plan, 3).rounds == 15


def test_lanes_that_announced_secure_noise_refuse_simulated_noise() -> None:
    """A statement would be headed private over draws that anyone can repeat."""

    def program(lanes: Lanes) -> Bits:
        return (lanes[0][0].release(majority(ETA, SeededNoise(0))),)

    secure = attrs.evolve(ABOUT, private=True)
    with pytest.raises(NotSpendable, match="simulated"):
        Parallel(PARTITIONS, PLAN, chosen, len, program, secure).sample((0, 1, 1, 0))


def test_no_record_is_left_out_of_the_lanes() -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Partition(2, np.array([0, 2]))
