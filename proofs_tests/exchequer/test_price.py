"""`exchequer price`: its numbers are the accountant's."""

import json
import math
from collections.abc import Mapping
from typing import cast

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from accountant import (
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Cost,
    GDPComposition,
    LaplaceDP,
    Plan,
    PureDP,
    Step,
    TextbookComposition,
    ZCDPComposition,
)
from accountant.composition import fixed_plans
from accountant.composition.calibration import GRAINY, Target, largest_eta
from accountant.costs.curves import advanced_epsilon, zcdp_epsilon
from accountant.costs.rounding import SLACK
from exchequer.cli import main
from exchequer.prices.price import Boosting
from exchequer.prices.pricing_rules import RULES
from learners import LazyBoostClassifier

Rules = Mapping[str, Mapping[str, object]]
LEARNER = ("--learner", "lazy-boost", "--n", "500", "--rounds", "30", "--density", "0.5", "--learning-rate", "0.2")
RUN = Boosting(n=500, rounds=30, density=0.5, learning_rate=0.2)


def price(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["price", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def price_json(*arguments: str) -> tuple[dict[str, object], Rules]:
    record: dict[str, object] = json.loads(price(*arguments, "--json"))
    rules = cast("list[Mapping[str, object]]", record["rules"])
    return record, {str(rule["rule"]): rule for rule in rules}


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["price", *arguments])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


def mechanism(cost: Cost) -> str:
    return f"{cost.kind}:{','.join(repr(number) for number in attrs.astuple(cost))}"


def test_the_table_of_claims() -> None:
    """The first row of section 0 of the claims: ε 0.1, 10 rounds, δ 1e-5."""
    record, rules = price_json("--mechanism", "bounded-range:0.1@10", "--delta", "1e-5")
    expected = {
        "basic": 1.0,
        "printed": 1.623,
        "advanced-textbook": 0.7712,
        "advanced": 0.6157,
        "zcdp": 0.6157,
        "renyi": 0.5824,
    }
    for name, epsilon in expected.items():
        assert rules[name]["epsilon"] == pytest.approx(epsilon, rel=1e-3), name
    assert (record["best"], record["best_filter"]) == ("bounded-range", "zcdp")


@pytest.mark.parametrize("cost", [PureDP(0.05), BoundedRange(0.3), PureDP(1.0), BoundedRange(2.0), LaplaceDP(0.5)])
@pytest.mark.parametrize("rounds", [1, 40])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_numbers_are_the_accountants(cost: PureDP | LaplaceDP | BoundedRange, rounds: int, delta: float) -> None:
    record, rules = price_json("--mechanism", mechanism(cost), "--rounds", str(rounds), "--delta", repr(delta))
    plan = Plan.of(cost, rounds)
    rho = rounds * cost.to_zcdp().rho
    squares = rounds * cost.epsilon**2 if isinstance(cost, PureDP) else 2 * rho
    expected = {
        **plan.price(delta).routes,
        "advanced": zcdp_epsilon(rho, delta),
        "advanced-textbook": advanced_epsilon(squares, delta),
        "printed": fixed_plans.drv(cost.epsilon, 0.0, rounds, delta).epsilon,
    }
    assert set(expected) == {name for name, rule in rules.items() if rule["epsilon"] is not None}
    for name, epsilon in expected.items():
        assert rules[name]["epsilon"] == pytest.approx(epsilon, rel=1e-9), name
    assert rules[str(record["best"])]["epsilon"] == min(float(value) for value in expected.values())


def test_filters_and_fixed_plans_are_told_apart() -> None:
    _, rules = price_json("--mechanism", "pure-dp:0.1@10")
    kinds = {name: rule["valid_for"] for name, rule in rules.items()}
    filters = {"basic", "advanced", "advanced-textbook", "zcdp", "gdp"}
    assert kinds == {rule.name: "filter" if rule.name in filters else "fixed plan" for rule in RULES}
    # What is called a filter is a rule that a ledger can be opened with.
    openable = (BasicComposition, AdvancedComposition, TextbookComposition, ZCDPComposition, GDPComposition)
    assert filters == {rule.name for rule in openable}


def test_rounds_with_a_delta_of_their_own_stay_within_delta() -> None:
    _, rules = price_json("--mechanism", "approx-dp:0.1,1e-7@50", "--delta", "1e-5")
    # KOV's own δ is a product, which leaves a little more for the theorem than the sum does.
    slack = -math.expm1(math.log1p(-1e-5) - 50 * math.log1p(-1e-7))
    for theorem, name, room in ((fixed_plans.drv, "printed", 5e-6), (fixed_plans.kov_homogeneous, "kov", slack)):
        told = theorem(0.1, 1e-7, 50, room)
        assert told.delta <= 1e-5 * (1.0 + 2.0 * SLACK)  # the theorems round what they report up
        assert rules[name]["epsilon"] == pytest.approx(told.epsilon, rel=1e-8)
    assert rules["advanced-textbook"]["epsilon"] == pytest.approx(advanced_epsilon(50 * 0.1**2, 5e-6), rel=1e-9)
    assert rules["advanced"]["epsilon"] == pytest.approx(zcdp_epsilon(5 * math.tanh(0.05), 5e-6), rel=1e-9)
    assert rules["basic"]["epsilon"] == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("arguments", "reasons"),
    [
        (("zcdp:0.01",), dict.fromkeys(["basic", "printed", "kov"], "no epsilon of its own")),
        (("approx-dp:0.1,1e-7",), {"zcdp": "no rho", "renyi": "no Renyi curve"}),
        (("pure-dp:0.1", "pure-dp:0.2"), {"printed": "equal rounds only"}),
        (("approx-dp:0.1,1e-5@2",), {"basic": "add up to 2e-05", "advanced": "leave nothing", "kov": "leave nothing"}),
    ],
)
def test_a_rule_that_does_not_apply_says_why(arguments: tuple[str, ...], reasons: dict[str, str]) -> None:
    options = [part for text in arguments for part in ("--mechanism", text)]
    _, rules = price_json(*options)
    for name, reason in reasons.items():
        assert rules[name]["epsilon"] is None
        assert reason in str(rules[name]["does_not_apply"])
    assert price(*options).count("does not apply") >= len(reasons)


def test_only_the_sum_prices_a_pure_plan() -> None:
    record, rules = price_json("--mechanism", "pure-dp:0.1@3", "--delta", "0")
    assert record["best"] == "basic"
    assert rules["basic"]["epsilon"] == pytest.approx(0.3)
    assert [rule["epsilon"] for name, rule in rules.items() if name != "basic"] == [None] * 10


def test_a_mixed_plan_is_priced_as_one() -> None:
    _, rules = price_json("--mechanism", "zcdp:0.01@5", "--mechanism", "pure-dp:0.1", "--rounds", "3")
    routes = Plan((Step(ZCDP(0.01), 5), Step(PureDP(0.1), 3))).price(1e-5).routes
    assert {name: rules[name]["epsilon"] for name in routes} == pytest.approx(routes)


def test_the_table_shows_the_same_within_80_columns() -> None:
    for arguments in (
        ("--mechanism", "bounded-range:0.1@10"),
        ("--mechanism", "zcdp:0.01"),
        (*LEARNER, "--epsilon", "1"),
    ):
        assert max(len(line) for line in price(*arguments).splitlines()) <= 80
    assert "0.5575   best" in price("--mechanism", "bounded-range:0.1@10")


# --- the learner ------------------------------------------------------------------------------------------------


def test_etas_are_the_calibrations() -> None:
    record, rules = price_json(*LEARNER, "--epsilon", "1", "--delta", "1e-5")
    target: Target = ApproxDP(1.0, 1e-5)
    for name, rule, of in (
        ("zcdp", ZCDPComposition(), target),
        ("advanced", AdvancedComposition(1e-5), target),
        ("basic", BasicComposition(), PureDP(1.0)),
    ):
        assert rules[name]["eta"] == largest_eta(RUN.plan(), of, rule), name
    etas = {name: float(cast("float", rule["eta"])) for name, rule in rules.items() if rule["eta"] is not None}
    assert record["best"] == max(etas, key=lambda name: etas[name]) == "bounded-range"
    assert record["train_uses_eta"] == pytest.approx(max(etas.values()), rel=GRAINY)


@pytest.mark.parametrize("name", ["kov", "renyi", "pld", "bounded-range", "printed"])
def test_a_fixed_plans_eta_keeps_the_budget_and_hardly_more_would(name: str) -> None:
    _, rules = price_json(*LEARNER, "--epsilon", "1", "--delta", "1e-5")
    eta = float(cast("float", rules[name]["eta"]))

    def epsilon(eta: float) -> float:
        plan = RUN.plan()(eta)
        dearest = Plan.of(plan.steps[-1].cost, plan.rounds)
        rule = next(rule for rule in RULES if rule.name == name)
        return rule.epsilon(dearest if name == "printed" else plan, 1e-5)

    assert epsilon(eta) <= 1.0 < epsilon(eta * (1.0 + 4e-6))


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_train_really_uses_that_eta(delta: float) -> None:
    record, _ = price_json(*LEARNER, "--epsilon", "1", "--delta", repr(delta))
    X = np.arange(1000).reshape(500, 2) % 7 % 2
    model = LazyBoostClassifier(1.0, delta, rounds=30, learning_rate=0.2, density=0.5, random_state=0)
    assert record["train_uses_eta"] == model.fit(X, X[:, 0]).eta_


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ((), "--mechanism or --learner"),
        (("--mechanism", "pure-dp:1", *LEARNER), "--mechanism or --learner"),
        (("--mechanism", "gaussian:1"), "unknown kind 'gaussian'"),
        (("--mechanism", "pure-dp"), "'pure-dp'"),
        (("--mechanism", "pure-dp:1,2"), "takes 1 number, got 2"),
        (("--mechanism", "approx-dp:1"), "takes 2 numbers, got 1"),
        (("--mechanism", "pure-dp:-1"), "'pure-dp:-1'"),
        (("--mechanism", "zcdp:nan"), "'zcdp:nan'"),
        (("--mechanism", "approx-dp:1,1"), "'approx-dp:1,1'"),
        (("--mechanism", "pure-dp:1@0"), "'pure-dp:1@0'"),
        (("--mechanism", "pure-dp:1@x"), "'pure-dp:1@x'"),
        (("--mechanism", "pure-dp:1@100001"), "--rounds"),
        (("--mechanism", "pure-dp:1", "--delta", "1"), "--delta"),
        (("--mechanism", "pure-dp:1", "--delta", "nan"), "--delta"),
        (("--learner", "lazy-boost", "--n", "5"), "--n and --epsilon"),
        (("--learner", "lazy-boost", "--n", "0", "--epsilon", "1"), "--n"),
        ((*LEARNER, "--epsilon", "0"), "--epsilon"),
        ((*LEARNER, "--epsilon", "1e300"), "--epsilon"),
        ((*LEARNER, "--epsilon", "1", "--density", "0"), "--density"),
        ((*LEARNER, "--epsilon", "1", "--learning-rate", "nan"), "--learning-rate"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], culprit: str) -> None:
    assert culprit in refused(*arguments)
