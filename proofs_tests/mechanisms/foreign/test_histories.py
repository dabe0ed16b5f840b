"""Events of dp-accounting and histories of Opacus as plans: the same costs, and the same ε as their own accountants."""

import json
import math

import dp_accounting as theirs
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    LaplaceDP,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    SubsampledGaussian,
)
from mechanisms.foreign import declared_elsewhere, plan_of_events, plan_of_opacus

DELTA = 1e-5


def test_each_event_has_its_cost() -> None:
    sampled = theirs.PoissonSampledDpEvent(0.01, theirs.GaussianDpEvent(1.25))
    event = theirs.ComposedDpEvent(
        [
            theirs.GaussianDpEvent(2.0),
            theirs.NoOpDpEvent(),
            theirs.SelfComposedDpEvent(theirs.ComposedDpEvent([sampled, theirs.LaplaceDpEvent(4.0)]), 3),
            theirs.LaplaceDpEvent(4.0),
        ]
    )
    assert plan_of_events(event) == Plan(
        [
            Step(GDP(0.5), 1),
            Step(SubsampledGaussian(0.8, 0.01), 3),
            Step(LaplaceDP(0.25), 4),
        ],
        adjacency=AddRemoveOne(),
    )
    assert plan_of_events(theirs.NoOpDpEvent()) == Plan([Step(PureDP(0.0), 1)], adjacency=AddRemoveOne())


def test_gaussians_of_one_sample_are_one() -> None:
    both = theirs.ComposedDpEvent([theirs.GaussianDpEvent(1 / 3), theirs.GaussianDpEvent(0.25)])
    plan = plan_of_events(theirs.PoissonSampledDpEvent(0.1, both))
    (step,) = plan.steps
    assert isinstance(step.cost, SubsampledGaussian)
    assert step.cost.mu == pytest.approx(5.0)
    assert step.cost.mu >= math.hypot(3.0, 4.0)


@given(st.floats(1e-3, 1e3), st.integers(1, 10**6))
def test_noise_multipliers_round_towards_more_loss(noise: float, times: int) -> None:
    (step,) = plan_of_events(theirs.SelfComposedDpEvent(theirs.GaussianDpEvent(noise), times)).steps
    assert isinstance(step.cost, GDP)
    assert step.rounds == times
    numerator, denominator = noise.as_integer_ratio()
    above, below = step.cost.mu.as_integer_ratio()
    assert above * numerator >= below * denominator


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (theirs.NonPrivateDpEvent(), "NonPrivateDpEvent has no cost here"),
        (theirs.UnsupportedDpEvent(), "UnsupportedDpEvent has no cost here"),
        (
            theirs.SampledWithoutReplacementDpEvent(10, 2, theirs.GaussianDpEvent(1.0)),
            "SampledWithoutReplacementDpEvent",
        ),
        (theirs.PoissonSampledDpEvent(0.1, theirs.LaplaceDpEvent(1.0)), "PoissonSampledDpEvent of LaplaceDpEvent"),
        (theirs.GaussianDpEvent(0.0), "GaussianDpEvent of noise multiplier 0.0 promises nothing"),
        (object(), r"builtins\.object has no cost here"),
    ],
)
def test_other_events_are_refused_by_name(event: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        plan_of_events(event)


@pytest.mark.parametrize(("noise", "rate", "steps"), [(0.8, 0.01, 100), (1.0, 0.01, 1000), (2.0, 0.1, 1000)])
def test_a_history_costs_what_their_own_accountants_say(noise: float, rate: float, steps: int) -> None:
    """Within 1 % of their distributions. Their Rényi accountant, which Opacus defaults to, is looser, never tighter."""
    event = theirs.SelfComposedDpEvent(theirs.PoissonSampledDpEvent(rate, theirs.GaussianDpEvent(noise)), steps)
    plan = plan_of_opacus([(noise, rate, steps)])
    assert plan == plan_of_events(event)
    ours = plan.price(DELTA).best.epsilon
    assert ours == pytest.approx(PLDAccountant().compose(event).get_epsilon(DELTA), rel=0.01)
    assert ours <= RdpAccountant(list(range(2, 64))).compose(event).get_epsilon(DELTA)


def test_histories_come_as_opacus_keeps_them() -> None:
    history = [(1.0, 0.01, 50), (1.0, 0.01, 50), (0.5, 0.02, 7)]
    steps = (Step(SubsampledGaussian(1.0, 0.01), 100), Step(SubsampledGaussian(2.0, 0.02), 7))
    expected = Plan(steps, adjacency=AddRemoveOne())
    assert plan_of_opacus(history) == expected
    assert plan_of_opacus({"history": history, "mechanism": "rdp"}) == expected
    assert plan_of_opacus(json.loads(json.dumps({"history": history}))) == expected


@pytest.mark.parametrize(
    ("history", "named"),
    [
        ([], "expected"),
        ("text", "expected"),
        ({"mechanism": "rdp"}, "expected"),
        ([(1.0, 0.1, 5), (1.0, 0.1)], r"history\[1\]: expected"),
        ([(0.0, 0.1, 5)], r"history\[0\]: expected a positive finite number, got 0.0"),
        ([(1.0, 1.1, 5)], r"history\[0\]: expected a number in \[0, 1\]"),
        ([(1.0, 0.1, 0)], r"history\[0\]: expected a whole number"),
        ([("1", 0.1, 5)], r"history\[0\]: expected a positive finite number"),
    ],
)
def test_what_is_no_history_is_refused_with_its_place(history: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        plan_of_opacus(history)


def test_a_plan_knows_under_which_adjacency_it_holds_and_others_refuse_it() -> None:
    """A Gaussian that is not on a sample could be priced under replace-one: at half of what it costs there."""
    event = theirs.GaussianDpEvent(2.0)
    replaced = Ledger(ApproxDP(9.0, 1e-4), composition=BasicComposition(), adjacency=ReplaceOne())
    for plan in (plan_of_events(event), plan_of_opacus([(2.0, 1.0, 1)]), plan_of_opacus([(2.0, 0.1, 1)]).last(1)):
        with pytest.raises(AdjacencyMismatch, match="add-remove-one"):
            replaced.reserve(plan, adjacency=ReplaceOne(), delta=DELTA)
        with pytest.raises(AdjacencyMismatch, match="add-remove-one"):
            replaced.affords(plan, delta=DELTA)
    assert len(replaced.entries) == 1
    with replaced.reserve(plan_of_events(event, adjacency=ReplaceOne()), adjacency=ReplaceOne(), delta=DELTA):
        assert replaced.spent == Plan.of(GDP(0.5)).price(DELTA).best
    with pytest.raises(ValueError, match="add-remove-one only"):
        plan_of_events(theirs.PoissonSampledDpEvent(0.1, event), adjacency=ReplaceOne())


def test_training_is_charged_before_it_runs_and_the_entry_says_whose_word_it_was() -> None:
    ledger = Ledger(ApproxDP(2.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    seen: list[object] = []

    def train(data: list[int]) -> str:
        seen.append(ledger.spent)
        return f"a model of {len(data)}"

    price = plan_of_opacus([(1.0, 0.01, 500)]).price(DELTA).best
    mechanism = declared_elsewhere(train, cost=price, adjacency=AddRemoveOne(), library="Opacus 1.5", name="DP-SGD")
    assert ledger.release(mechanism, ledger.protect([1, 2, 3])) == "a model of 3"
    assert seen == [price] == [ledger.spent]
    assert "DP-SGD of Opacus 1.5" in str(ledger.statement())
    assert "cost declared by Opacus 1.5: trusted, not proved here" in ledger.entries[1].line
    assert ledger.verify().verdict == "sound"
