"""`exchequer advise`: from public numbers to a learner, its noise, what to expect, and what epsilon means."""

import json
import math
import os

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from benchmarks.runner.packaged_figures import DATA, PACKAGED, packaged
from benchmarks.runner.results import outcomes
from exchequer.cli import main
from exchequer.datasets import SEARCHED, adult, cod_rna, mushroom
from exchequer.prices.advice import Plan, expected, public_figures

needs_data = pytest.mark.skipif(not os.environ.get(SEARCHED), reason=f"{SEARCHED} is not set")

ORDER = ("advise", "--n", "20000", "--columns", "12")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})


def said(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_the_packaged_figures_are_those_of_the_runs() -> None:
    """Else run python -m benchmarks.runner.results."""
    assert PACKAGED.read_text(encoding="utf-8") == packaged(outcomes())
    assert public_figures() == json.loads(packaged(outcomes()))


@needs_data
@pytest.mark.data
def test_the_public_data_have_so_many_records_and_columns() -> None:
    folder = os.environ[SEARCHED]
    for facts, data in zip(DATA, (adult(folder), cod_rna(folder), mushroom(folder)), strict=True):
        assert (facts.records, facts.columns) == (data.y_train.size, len(data.schema.columns))


# --- the power of an attack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
def test_the_power_holds_for_the_noise_and_beats_no_bound(epsilon: float, delta: float) -> None:
    plan = Plan(1000, 5, 2, epsilon, delta)
    bound = min(math.exp(epsilon) * 0.01 + delta, 1.0 - math.exp(-epsilon) * (0.99 - delta))
    assert 0.01 < plan.power() <= bound * (1.0 + 1e-9)
    if delta:
        # The best test of N(0, 1) against N(μ, 1), by scipy's other road to the normal distribution.
        best = float(norm.sf(norm.isf(0.01) - plan.mu))
        assert plan.power() == pytest.approx(min(best, bound), rel=1e-6)
        assert plan.power() >= min(best, bound)


def test_a_simulated_attack_on_the_noise_finds_no_more() -> None:
    plan = Plan(1000, 5, 2, 1.0, 1e-6)
    rng = np.random.default_rng(0)
    without, present = rng.normal(size=400_000), rng.normal(size=400_000) + plan.mu
    found = float(np.mean(present > np.quantile(without, 0.99)))
    assert found == pytest.approx(plan.power(), abs=0.002)


@settings(max_examples=12)
@given(st.integers(10, 10**7), st.integers(1, 200), st.floats(0.05, 5.0))
def test_more_records_and_more_epsilon_never_promise_less(n: int, columns: int, epsilon: float) -> None:
    plan = Plan(n, columns, 2, epsilon, 1e-8)
    for better in (Plan(2 * n, columns, 2, epsilon, 1e-8), Plan(n, columns, 2, 1.1 * epsilon, 1e-8)):
        assert better.noise <= plan.noise
        before = {each.name: each.same for each in expected(plan)}
        assert all(each.same >= before[each.name] - 0.02 for each in expected(better))


def test_the_data_itself_is_expected_to_be_as_accurate_as_it_was() -> None:
    for data in public_figures():
        for measured in data["by_epsilon"]:
            plan = Plan(data["records"], data["columns"], 2, measured["epsilon"], data["delta"])
            found = next(each for each in expected(plan) if each.name == data["name"])
            assert found.at == pytest.approx(measured["accuracy"])
            assert found.same == pytest.approx(measured["accuracy"])


# --- what is printed ----------------------------------------------------------------------------------------------


def test_it_says_which_learner_what_noise_what_accuracy_and_what_epsilon_means() -> None:
    text = said(*ORDER, "--epsilon", "1")
    for part in ("private-boost:", "96 rounds", "Adult", "Cod-RNA", "Mushroom", "odds by at most 5.437", "an attack"):
        assert part in text
    record = json.loads(run(*ORDER, "--epsilon", "1", "--json").stdout)
    assert record["learner"] == "private-boost"
    assert record["power"] == pytest.approx(Plan(20000, 12, 2, 1.0, 1e-6).power())


def test_without_a_delta_and_for_numbers_it_names_others() -> None:
    pure = said(*ORDER, "--epsilon", "1", "--delta", "0")
    assert "lazy-boost:" in pure
    assert "What accuracy" not in pure
    numbers = said(*ORDER, "--epsilon", "1", "--numbers")
    assert "private-boost-regressor:" in numbers
    assert "needs one" in run(*ORDER, "--epsilon", "1", "--delta", "0", "--numbers").stderr


@pytest.mark.parametrize(
    ("order", "culprit"),
    [
        (("--n", "0", "--columns", "3", "--epsilon", "1"), "--n"),
        (("--n", "9", "--columns", "0", "--epsilon", "1"), "--columns"),
        (("--n", "9", "--columns", "3", "--epsilon", "0"), "--epsilon"),
        (("--n", "9", "--columns", "3", "--epsilon", "1", "--delta", "0.2"), "not below 1/n"),
        (("--n", "9", "--columns", "3", "--epsilon", "1", "--classes", "1"), "--classes"),
    ],
)
def test_what_cannot_be_is_named(order: tuple[str, ...], culprit: str) -> None:
    result = run("advise", *order)
    assert result.exit_code == 2
    assert culprit in result.stderr
    assert result.stderr.count("\n") == 1
