"""Costs recomputed from the parameters in the entries: of every shipped mechanism, and of forged entries."""

import ast
import functools
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    Description,
    Entry,
    LaplaceDP,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
)
from accountant.arrays import FloatArray
from accountant.audit.second_opinion import extreme_pairs, peer_totals, recomputed, second_opinion
from learners import DPGradientBoostingClassifier
from mechanisms import (
    Candidates,
    ExponentialChoice,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    LeafLabelChoice,
    Mechanism,
    NoisyMaxChoice,
    ObjectivePerturbation,
    PermuteAndFlipChoice,
    PlainMechanism,
    PrivateQuantile,
    Query,
    Randomizer,
    RandomRados,
    RangeSensitivity,
    SeededNoise,
    at_delta,
)
from mechanisms.core.sensitivity import Sensitivity
from mechanisms.gradients.linear_losses import Reach
from proofs_tests.support.ledgers.second_books import BASIC, DELTA, ROOMY, ZCDP_RULE, forged, open_ledger

S = TypeVar("S", bound=Sensitivity)
R = TypeVar("R")


class Declared(Protocol):
    """A mechanism as far as these tests go: nothing is drawn."""

    @property
    def cost(self) -> Cost: ...

    @property
    def description(self) -> Description: ...


def plain(randomizer: Randomizer[FloatArray, S, R], sensitivity: S) -> Mechanism[FloatArray, R]:
    query: Query[FloatArray, FloatArray, S] = Query("q", lambda data: data, sensitivity, ReplaceOne())
    return PlainMechanism(query, randomizer, SeededNoise(0))


GAUSSIAN = plain(GaussianNoise(7.0), L2Sensitivity(1.5))

MECHANISMS: dict[str, Declared] = {
    "Laplace": plain(LaplaceNoise(4.0), L1Sensitivity(1.5)),
    "Gaussian": GAUSSIAN,
    "GammaNorm": plain(GammaNormNoise(4.0), L2Sensitivity(1.5)),
    "Exponential": plain(ExponentialChoice(0.3), RangeSensitivity(2.0)),
    "NoisyMax": plain(NoisyMaxChoice(0.3), RangeSensitivity(2.0)),
    "NoisyMax of two": plain(NoisyMaxChoice(0.3, 2), RangeSensitivity(2.0)),
    "PermuteAndFlip": plain(PermuteAndFlipChoice(0.3), RangeSensitivity(2.0)),
    "LeafLabels": plain(LeafLabelChoice(0.3), L1Sensitivity(2.0)),
    "PrivateQuantile": PrivateQuantile(0.5, Candidates.between(0.0, 1.0), 100, 0.2, SeededNoise(0)),
    "Gaussian at δ": at_delta(GAUSSIAN, 1e-7),
    "Exponential at δ": at_delta(plain(ExponentialChoice(0.3), RangeSensitivity(2.0)), 1e-7),
    "Laplace at δ": at_delta(plain(LaplaceNoise(4.0), L1Sensitivity(1.5)), 1e-7),
    "objective, Laplace": ObjectivePerturbation(LaplaceNoise(5.0), 8.0, Reach(1.0, 1.0), 3, 1e-9),
    "objective, Gaussian": ObjectivePerturbation(GaussianNoise(9.0), 90.0, Reach(1.0, 1.0), 3, 1e-9),
    "objective, at δ": ObjectivePerturbation(GaussianNoise(9.0), 90.0, Reach(1.0, 1.0), 3, 1e-9, 1e-7),
}


def charged(mechanism: Declared) -> Sequence[Entry]:
    """The entries of a charge for it, which was never released; it counts."""
    ledger = open_ledger(ROOMY)
    ledger.reserve(Plan.of(mechanism.cost), adjacency=ReplaceOne(), mechanism=mechanism.description)
    return ledger.entries


def number(mechanism: Declared) -> str:
    return "mu" if isinstance(mechanism.cost, GDP) else "epsilon"


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_each_mechanism_declares_follows_from_its_parameters(name: str) -> None:
    opinion = second_opinion(charged(MECHANISMS[name]))
    assert opinion.agrees, opinion
    assert (opinion.checked, dict(opinion.unknown)) == (1, {})


@pytest.mark.parametrize("name", MECHANISMS)
def test_ten_per_cent_less_than_its_parameters_say_is_found_out(name: str) -> None:
    mechanism = MECHANISMS[name]
    entries = forged(charged(mechanism), 0.9, "steps", 0, "cost", number(mechanism))
    opinion = second_opinion(entries)
    assert len(opinion.mismatches) == opinion.wrong == 1, opinion
    assert "its parameters say" in opinion.disagreements[-1]
    # A millionth is already too little, but for objective perturbation, where only the noise itself is recomputed.
    almost = forged(charged(mechanism), 1.0 - 3e-6, "steps", 0, "cost", number(mechanism))
    assert second_opinion(almost).agrees == name.startswith("objective")


@pytest.mark.parametrize("name", ["Laplace", "Gaussian", "Exponential at δ"])
def test_noise_or_sensitivity_rewritten_alone_is_found_out(name: str) -> None:
    """Books whose mechanism was given more noise than paid for, or a query that moves further."""
    mechanism = MECHANISMS[name]
    assert second_opinion(forged(charged(mechanism), 1.2, "mechanism", "sensitivity")).wrong == 1
    parameter = mechanism.description.parameters[0][0]
    factor = 1.2 if parameter == "eta" else 0.8
    assert second_opinion(forged(charged(mechanism), factor, "mechanism", "parameters", parameter)).wrong == 1
    assert second_opinion(forged(charged(mechanism), 1.0 / factor, "mechanism", "parameters", parameter)).agrees


def rewritten(entries: Sequence[Entry], change: Callable[[dict[str, object]], object]) -> list[Entry]:
    """The same entries, the description in every charge changed."""
    found = []
    for entry in entries:
        record = json.loads(entry.line)
        if entry.kind == "charged":
            change(record["mechanism"])
        found.append(attrs.evolve(entry, line=json.dumps(record)))
    return found


def test_noise_of_the_wrong_norm_and_parameters_without_sense_are_found_out() -> None:
    entries = charged(MECHANISMS["Gaussian"])
    (text,) = second_opinion(rewritten(entries, functools.partial(dict.update, norm="l1"))).disagreements
    assert "needs a bound in l2, this one is in l1" in text
    senseless: list[dict[str, object]] = [{}, {"sigma": "much"}, {"sigma": 0.0}, {"sigma": [7.0]}]
    for parameters in senseless:
        opinion = second_opinion(rewritten(entries, functools.partial(dict.update, parameters=parameters)))
        assert opinion.wrong == 1
        assert "nothing that makes sense" in opinion.disagreements[-1]


def test_a_kind_of_cost_that_the_mechanism_does_not_have_is_found_out() -> None:
    """Permute-and-flip declared as bounded range of the same size, at half of what that class needs."""
    said = MECHANISMS["PermuteAndFlip"].description
    for cost, right in ((BoundedRange(0.6), False), (BoundedRange(1.2001), True), (GDP(5.0), False), (ZCDP(0.2), True)):
        ledger = open_ledger(ROOMY)
        ledger.reserve(Plan.of(cost), adjacency=ReplaceOne(), mechanism=said)
        assert second_opinion(ledger.entries).agrees == right, cost


@pytest.mark.parametrize("name", ["Laplace", "GammaNorm", "NoisyMax", "PermuteAndFlip"])
def test_books_from_before_there_was_laplace_dp_go_on_agreeing(name: str) -> None:
    """They declared the pure cost of the same ε, which is more; a tenth less is found out as before."""
    mechanism = MECHANISMS[name]
    assert isinstance(mechanism.cost, LaplaceDP)
    for factor in (1.0, 0.9):
        ledger = open_ledger(ROOMY)
        plan = Plan.of(PureDP(factor * mechanism.cost.epsilon))
        ledger.reserve(plan, adjacency=ReplaceOne(), mechanism=mechanism.description)
        opinion = second_opinion(ledger.entries)
        assert opinion.agrees == (factor == 1.0), opinion
        assert opinion.checked == 1


def test_mechanisms_that_nothing_is_known_about_are_named() -> None:
    rados = RandomRados(2, 0, 1000, 1e-7)
    opinion = second_opinion(charged(rados))
    assert opinion.agrees
    assert dict(opinion.unknown) == {"RandomRados": 1}
    assert "nothing is known of RandomRados (1)" in opinion.explanations[-1]


def two_queries() -> tuple[Ledger, Description, Description]:
    """A plan of two different queries, both drawn; the ledger says which at its end."""
    ledger = open_ledger(ZCDP_RULE)
    data = ledger.protect(np.zeros(1))
    first, second = GAUSSIAN, plain(GaussianNoise(3.0), L2Sensitivity(1.5))
    steps = (Step(second.cost, 1), Step(first.cost, 3))
    with ledger.reserve(Plan(steps), adjacency=ReplaceOne(), mechanism=first.description) as charge:
        charge.release(second, data)
        charge.release(first, data)
        charge.release(first, data)
    return ledger, first.description, second.description


def test_rounds_of_a_plan_are_compared_with_what_was_drawn() -> None:
    ledger, _, _ = two_queries()
    opinion = second_opinion(ledger.entries)
    assert opinion.agrees
    assert opinion.checked == 3
    for step in (0, 1):
        low = second_opinion(forged(ledger.entries, 0.9, "steps", step, "cost", "mu"))
        assert [mismatch.entry for mismatch in low.mismatches] == [1]
    released = json.loads(ledger.entries[2].line)
    dear = max(range(2), key=lambda place: -released["used"][place]["mechanism"]["parameters"]["sigma"])
    released["used"][dear]["rounds"] = 2  # one more of the dear query than was paid for
    entries = [*ledger.entries[:2], attrs.evolve(ledger.entries[2], line=json.dumps(released))]
    assert [mismatch.rounds for mismatch in second_opinion(entries).mismatches] == [1]


def test_what_was_announced_for_several_rounds_is_not_compared_with_those_that_were_kept() -> None:
    """A process that died after it gave the dear round back: what it drew was the cheap one."""
    ledger = open_ledger(ZCDP_RULE)
    dear = plain(GaussianNoise(3.0), L2Sensitivity(1.5))
    plan = Plan((Step(GAUSSIAN.cost, 1), Step(dear.cost, 1)))
    charge = ledger.reserve(plan, adjacency=ReplaceOne(), mechanism=dear.description)
    charge.release(GAUSSIAN, ledger.protect(np.zeros(1)))
    charge.give_back()
    opinion = second_opinion(ledger.entries)
    assert opinion.agrees
    assert opinion.checked == 0


def test_a_program_over_lanes_is_recomputed_from_the_steps_of_one_lane() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 3))
    for rule, budget in ((BASIC, PureDP(1.0)), (ZCDP_RULE, ApproxDP(1.0, DELTA)), (BASIC, ApproxDP(1.0, DELTA))):
        ledger = open_ledger(rule, budget)
        delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
        model = DPGradientBoostingClassifier(
            epsilon=1.0, delta=delta, n_estimators=4, ensemble=2, ledger=ledger, random_state=0
        )
        model.fit(X, X[:, 0])
        opinion = second_opinion(ledger.entries)
        assert opinion.agrees, opinion
        assert opinion.checked == 1
        (kind,) = (json.loads(ledger.entries[1].line)["steps"][0]["cost"].keys()) - {"kind", "delta"}
        assert second_opinion(forged(ledger.entries, 0.8, "steps", 0, "cost", kind)).wrong == 1


@settings(max_examples=25)
@given(st.lists(st.sampled_from(sorted(MECHANISMS)), min_size=1, max_size=8), st.data())
def test_one_understated_entry_among_many_is_named(names: list[str], data: st.DataObject) -> None:
    ledger = open_ledger(ROOMY)
    for name in names:
        mechanism = MECHANISMS[name]
        ledger.reserve(Plan.of(mechanism.cost), adjacency=ReplaceOne(), mechanism=mechanism.description)
    entries = list(ledger.entries)
    place = data.draw(st.integers(1, len(names)))
    parameter = number(MECHANISMS[names[place - 1]])
    entries[place] = forged([entries[place]], 0.9, "steps", 0, "cost", parameter)[0]
    assert [mismatch.entry for mismatch in second_opinion(entries).mismatches] == [place]


def test_nothing_of_our_own_formulas_is_used() -> None:
    ours = {
        "curves",
        "gaussian",
        "adaptive_range",
        "ranges_as_gaussian",
        "dominating",
        "fixed_plans",
        "loss_distribution",
        "to_zcdp",
    }
    for module in (extreme_pairs, peer_totals, recomputed):
        tree = ast.parse(inspect.getsource(module))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert not ours & (names | imported)


def test_the_disagreement_reads_as_text_and_as_json() -> None:
    bad = second_opinion(forged(charged(MECHANISMS["Laplace"]), 0.5, "steps", 0, "cost", "epsilon"))
    assert "DISAGREES" in str(bad)
    assert "declared Laplace ε 0.1875, its parameters say Laplace ε 0.375" in str(bad)
    assert json.loads(json.dumps(bad.as_dict()))["mismatches"][0]["entry"] == 1


def test_only_some_mismatches_are_listed_and_all_are_counted() -> None:
    ledger = open_ledger(ROOMY)
    for _ in range(120):
        ledger.reserve(Plan.of(PureDP(0.01)), adjacency=ReplaceOne(), mechanism=MECHANISMS["Laplace"].description)
    opinion = second_opinion(ledger.entries)
    assert (len(opinion.mismatches), opinion.wrong) == (100, 120)
    assert opinion.disagreements[-1] == "20 more entries declare too little"
