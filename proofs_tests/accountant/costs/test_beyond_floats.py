"""Costs of every size, under every rule and by every conversion: an answer, or a documented exception that says why.

Never OverflowError, ZeroDivisionError, a warning of numpy's, or NaN; and never a cost below what it is.
"""

import math
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

import attrs
import mpmath as mp
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    BeyondFloats,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Composition,
    Cost,
    GDPComposition,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    ReplaceOne,
    TextbookComposition,
    Unbounded,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.audit.displayed_numbers import in_symbols, left_text, spent_text
from accountant.audit.odometer import epsilon_at, odometer
from accountant.composition import fixed_plans
from accountant.composition.calibration import largest_eta
from accountant.composition.plans import ROUTES
from accountant.costs import gaussian
from exchequer.cli import main
from exchequer.prices.pricing_rules import RULES, DoesNotApply
from proofs_tests.support.ledgers.doubles import RandomizedResponse

T = TypeVar("T")

LARGEST = sys.float_info.max
EDGES = [0.0, 5e-324, 1e-310, 1e-200, 1e-154, 1e-9, 0.1, 1.0, 700.0, 745.0, 1e4, 1e8, 1e16, 1e77, 1e100, 1e154]
sizes = st.one_of(st.sampled_from([*EDGES, 1e155, 1e200, 1e300, 8.9e307, 1e308, LARGEST]), st.floats(0.0, LARGEST))
below_one = st.one_of(st.sampled_from([0.0, 5e-324, 1e-300, 1e-12, 0.5, 1.0 - 2**-53]), st.floats(0.0, 1.0 - 2**-53))
above_zero = below_one.filter(bool)
costs: st.SearchStrategy[Cost] = st.one_of(
    st.builds(PureDP, sizes),
    st.builds(ApproxDP, sizes, below_one),
    st.builds(ZCDP, sizes),
    st.builds(BoundedRange, sizes),
    st.builds(GDP, sizes),
    st.just(Unbounded()),
)
budgets: st.SearchStrategy[Budget] = st.one_of(
    st.builds(PureDP, sizes),
    st.builds(ApproxDP, sizes, below_one),
    st.builds(ZCDP, sizes),
    st.builds(GDP, sizes),
    st.just(Unbounded()),
)
rules: st.SearchStrategy[Composition] = st.one_of(
    st.sampled_from([BasicComposition(), ZCDPComposition(), GDPComposition(), NoBound()]),
    st.builds(AdvancedComposition, above_zero),
    st.builds(TextbookComposition, above_zero),
)
rounds = st.sampled_from([1, 2, 3, 50, 10**5, 10**6, 10**400])

DOCUMENTED = (BeyondFloats, BudgetExceeded, UnsupportedBudget, UnsupportedCost, DoesNotApply)


def answer(ask: Callable[[], T]) -> T | None:
    """What is answered, without NaN; None for a documented refusal that says something. All else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = ask()
        except DOCUMENTED as refusal:
            assert len(str(refusal)) > 10  # noqa: PT017  # what is refused depends on the example
            return None
    assert not _holds_nan(found), found
    return found


def _holds_nan(value: object) -> bool:
    if attrs.has(type(value)):
        return any(map(_holds_nan, attrs.astuple(value, recurse=False)))  # type: ignore[arg-type]  # a class of attrs
    return any(map(_holds_nan, value)) if isinstance(value, tuple) else isinstance(value, float) and math.isnan(value)


# --- conversions ---------------------------------------------------------------------------------------------------


@given(sizes, above_zero)
@example(1e200, 1e-6)
@example(LARGEST, 5e-324)
@example(1e16, 1e-300)
def test_every_conversion_answers(size: float, delta: float) -> None:
    for cost in (PureDP(size), BoundedRange(size), GDP(size)):
        answer(cost.to_zcdp)
        answer(lambda cost=cost: cost.to_approx(delta=delta))  # type: ignore[misc]  # bound at once
    answer(BoundedRange(size).to_pure)
    answer(lambda: ZCDP(size).to_approx(delta=delta))
    answer(lambda: ZCDP(size).to_approx_bun_steinke(delta=delta))
    for parts in (PureDP(size), ZCDP(size), ApproxDP(size, delta)):
        answer(lambda parts=parts: parts.split(3))  # type: ignore[misc]  # bound at once
    for epsilon in (0.0, 0.5 * size, size):
        answer(lambda epsilon=epsilon: gaussian.delta(size, epsilon))  # type: ignore[misc]  # bound at once


@given(sizes, below_one, st.sampled_from([1, 2, 50, 10**5]), above_zero)
def test_every_formula_for_fixed_plans_answers(size: float, delta: float, many: int, slack: float) -> None:
    for formula in (fixed_plans.drv, fixed_plans.drv_tight):
        try:
            answer(lambda formula=formula: formula(size, delta, many, slack))  # type: ignore[misc]  # bound at once
        except ValueError as refusal:
            assert "promise nothing" in str(refusal)  # noqa: PT017  # what is refused depends on the example
            assert many * delta + slack > 0.999


@pytest.mark.parametrize("mu", [1e3, 9e3, 1.1e4, 1e6, 1e8, 1e10, 1e16, 1e100])
@pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.4])
def test_a_large_gaussian_is_never_told_too_cheap(mu: float, delta: float) -> None:
    """Against the exact quantile: Φ(μ/2 − ε/μ) is within a factor of 2 of δ there, so ε is within μ of μ²/2 + zμ."""
    with mp.workdps(60 + int(2 * math.log10(mu))):
        found = mp.mpf(GDP(mu).to_approx(delta=delta).epsilon)
        a = mp.mpf(mu) / 2 - found / mu
        exact = mp.ncdf(a) - mp.exp(found) * mp.ncdf(-mp.mpf(mu) / 2 - found / mu)
        assert exact <= mp.mpf(delta)
    assert float(found) <= (0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(delta))) * (1 + 1e-9)


# --- rules ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(rules, budgets, costs, rounds, below_one)
@example(AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5), PureDP(1e200), 1, 1e-5)
@example(AdvancedComposition(1e-6), ApproxDP(LARGEST, 1e-5), PureDP(1e200), 10**400, 1e-5)
@example(ZCDPComposition(), ApproxDP(LARGEST, 1e-5), GDP(1e200), 1, 1e-5)
@example(BasicComposition(), PureDP(LARGEST), PureDP(LARGEST), 2, 0.0)
def test_every_rule_answers(rule: Composition, budget: Budget, cost: Cost, many: int, delta: float) -> None:
    plan = Plan.of(cost, many)
    amount = answer(lambda: plan.amount(rule))
    ceiling = answer(lambda: rule.ceiling(budget))
    if amount is not None:
        answer(lambda: epsilon_at(rule, amount, delta))
        assert repr(amount)
        assert spent_text(Amount.of(0.0), rule)
    if ceiling is None:
        return
    answer(lambda: rule.guarantee(ceiling, budget))
    assert left_text(ceiling, rule)
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    before = len(ledger.entries)
    charge = answer(lambda: ledger.reserve(plan, adjacency=ReplaceOne()))
    assert len(ledger.entries) == before + (charge is not None)
    assert answer(lambda: ledger.affords(plan)) in (True, False, None)
    for read in (lambda: ledger.spent, ledger.statement, lambda: repr(ledger), ledger.verify, lambda: ledger.remaining):
        answer(read)
    assert ledger.verify().sound
    answer(lambda: in_symbols(ledger.spent))
    assert answer(lambda: odometer(ledger.entries)) is not None


@settings(max_examples=30)
@given(costs, costs, st.sampled_from([1, 2, 50, 10**6, 10**400]), below_one)
@example(ApproxDP(5e-324, 1.0 - 2**-53), PureDP(0.0), 50, 5e-324)
@example(ZCDP(1e308), ZCDP(1e308), 1, 1e-5)
@example(BoundedRange(1e300), BoundedRange(5e-324), 2, 1e-5)
@example(BoundedRange(5e-324), BoundedRange(5e-324), 2, 1e-5)
@example(BoundedRange(745.0), BoundedRange(745.0), 2, 1e-5)
@example(PureDP(1e200), GDP(1e200), 10**400, 1e-5)
def test_every_theorem_prices_every_plan(cost: Cost, other: Cost, many: int, delta: float) -> None:
    for costs_of in ([cost], [cost, other]):
        plan = Plan(tuple(Plan.of(each, many).steps[0] for each in costs_of))
        for name in ROUTES:
            found = answer(lambda name=name, plan=plan: plan.route(name, delta))  # type: ignore[misc]  # bound at once
            assert found is None or 0.0 <= found < math.inf
        answer(lambda plan=plan: plan.price(delta))  # type: ignore[misc]  # bound at once
        if many < 1000:
            for rule in RULES:
                answer(lambda rule=rule, plan=plan: rule.epsilon(plan, delta))  # type: ignore[misc]  # bound at once


@settings(max_examples=40)
@given(budgets.filter(lambda budget: not isinstance(budget, Unbounded)), st.sampled_from([1, 100]))
def test_calibration_answers_or_says_that_no_noise_will_do(budget: Budget, many: int) -> None:
    rule = ZCDPComposition() if isinstance(budget, ZCDP) else BasicComposition()
    kind = ZCDP if isinstance(budget, ZCDP) else PureDP
    try:
        eta = answer(lambda: largest_eta(lambda eta: Plan.of(kind(eta), many), budget, rule))  # type: ignore[arg-type]  # filtered
    except ArithmeticError as refusal:
        assert (type(refusal), "fit" in str(refusal)) == (ArithmeticError, True)  # noqa: PT017  # as above
    else:
        assert eta is None or eta > 0.0


def test_pure_costs_beyond_all_squares_charge_nothing_under_the_textbooks_rule() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=TextbookComposition(1e-6), adjacency=ReplaceOne())
    with pytest.raises(
        BeyondFloats, match=r"PureDP\(epsilon=1e\+200\) .* no finite budget pays .* nothing was charged"
    ):
        ledger.release(RandomizedResponse(1e200), ledger.protect(True))
    assert len(ledger.entries) == 1


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["pure-dp:{}", "laplace-dp:{}", "approx-dp:{},1e-9", "zcdp:{}", "bounded-range:{}", "gdp:{}"]
)
@pytest.mark.parametrize("size", ["1e200", "1e308", "1.7976931348623157e308", "5e-324", "745"])
@pytest.mark.parametrize("delta", ["0", "1e-5", "0.9999999999999999"])
def test_price_answers(kind: str, size: str, delta: str) -> None:
    for extra in ((), ("--json",)):
        result = CliRunner().invoke(
            main, ["price", "--mechanism", kind.format(size), "--rounds", "3", "--delta", delta, *extra]
        )
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == 0, result.output
        assert "nan" not in result.output.lower()
        assert "Infinity" not in result.output


@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(LARGEST, 1e-5), ZCDP(1.0)])
@pytest.mark.parametrize("size", ["1e200", "1.7976931348623157e308", "5e-324"])
def test_price_on_a_ledger_answers(budget: Budget, size: str, tmp_path: object) -> None:
    rule = ZCDPComposition() if isinstance(budget, ZCDP) else BasicComposition()
    Ledger.open(f"sqlite:///{tmp_path}/study.db", budget, composition=rule, adjacency=ReplaceOne()).close()
    for kind in ("pure-dp:{}", "zcdp:{}", "gdp:{}"):
        for extra in ((), ("--json",), ("--delta", "1e-6")):
            arguments = ["ledger", "price", f"{tmp_path}/study.db", "--mechanism", f"{kind.format(size)}@3", *extra]
            result = CliRunner().invoke(main, arguments)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
            assert result.exit_code in (0, 1, 2)
            assert "nan" not in result.output.lower()
