"""Advice on the rule of composition that `exchequer ledger open` prints: a rule is fixed when a ledger is opened."""

from collections.abc import Sequence
from typing import Final

import attrs

from accountant import (
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Plan,
    Price,
    PureDP,
    ZCDPComposition,
)
from accountant.audit import Spending, in_symbols, left_text, rounded_up, spent_text
from accountant.audit.outlook import Advice, Releases, advise
from accountant.composition import UnsupportedCost
from accountant.costs import exact, float_down
from exchequer.commands.ledgers.open_ledger import reading, replayed
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from exchequer.console.rule_totals import print_totals
from exchequer.prices.price import few_enough, parse_step

CLEARLY: Final = 1.5
"""How many times as much as the best rule one must charge to be advised against."""

MOST_ENTRIES: Final = 20_000
"""Longer ledgers are not read for advice when they are opened again; `exchequer ledger advise` does."""

PARTS: Final = 100
"""Releases into which a budget is cut, to compare rules where nobody said what it is for."""


def plan_of(expected: Sequence[str]) -> Plan | None:
    """The plan that somebody expects; None without one. Raises ValueError."""
    if not expected:
        return None
    plan = Plan(tuple(parse_step(text, 1, "--expect") for text in expected))
    checked("--expect", few_enough, plan.rounds)
    return plan


@attrs.frozen
class Expected:
    """What a plan would cost a ledger. whole: charged as one thing, where the rule takes (ε, δ); else None."""

    advice: Advice
    whole: Price | None
    whole_amount: Amount | None

    def fits(self, left: Amount) -> bool:
        """Whether the ledger would pay for it, round by round or as one thing."""
        amounts = (self.advice.own.amount, self.whole_amount)
        return any(amount is not None and amount.within(left) for amount in amounts)


def expect(plan: Plan, rule: Composition, budget: Budget) -> Expected:
    """Price a plan under every rule, and as one thing at the budget's δ."""
    advice = advise(Releases.of_plan(plan), rule, budget, reading=False)
    if not isinstance(budget, ApproxDP) or not budget.delta:
        return Expected(advice, None, None)
    try:
        price = plan.cheapest(budget.delta)
        return Expected(advice, price, rule.amount(price.best))
    except UnsupportedCost:  # the rule takes no (ε, δ), or no theorem prices it
        return Expected(advice, None, None)


def refuse_unfit(plan: Plan, rule: Composition, budget: Budget) -> None:
    """Raise ValueError, with advice, where a new ledger would not pay for the plan."""
    with about("--expect"):
        found, ceiling = expect(plan, rule, budget), rule.ceiling(budget)
    if found.fits(ceiling):
        return
    own, best = found.advice.own, found.advice.best
    costs = own.why if own.total is None else f"{own.name} would charge {in_symbols(own.total)}"
    remedy = "give a larger budget, or plan less"
    if best is not None and best.fits and best.total is not None:
        remedy = f"{best.name} would charge {in_symbols(best.total)}, which fits: --composition {_option(best.rule)}"
    raise ValueError(f"--expect: the plan does not fit in {in_symbols(budget)}: {costs}; {remedy}. Nothing was opened")


def _option(rule: Composition | None) -> str:
    """How the rule is asked for."""
    name = "" if rule is None else rule.name
    return f"{name} --delta-prime {rule.delta_prime!r}" if isinstance(rule, AdvancedComposition) else name


def print_expected(plan: Plan, rule: Composition, budget: Budget, left: Amount) -> bool:
    """What each rule would charge for the plan, and whether this ledger still pays for it."""
    found = expect(plan, rule, budget)
    fits = found.fits(left)
    output.heading(f"The expected plan: it {'fits' if fits else 'DOES NOT FIT'}", "green" if fits else "red")
    print_totals(found.advice)
    if found.whole is not None and found.whole_amount is not None:
        whole = f"{in_symbols(found.whole.best)}, by {found.whole.route}"
        word = "fits" if found.whole_amount.within(left) else "does not fit"
        output.paragraph(f"Charged as one plan, fixed before its first release: {whole}; that {word}.")
    if (better := found.advice.saves(CLEARLY)) is not None and better.total is not None:
        output.paragraph(f"Advice: {_compared(found.advice)} A rule is fixed when a ledger is opened.")
    if not fits:
        amount = found.advice.own.amount
        costs = found.advice.own.why if amount is None else f"it costs {spent_text(amount, rule)}"
        output.paragraph(f"{costs}; left is {left_text(left, rule)}.")
    return fits


def print_of_rule(rule: Composition, budget: Budget) -> None:
    """A line where another rule pays for far more of the same small releases out of a new budget."""
    if not isinstance(rule, BasicComposition) or not isinstance(budget, ApproxDP) or not budget.delta:
        return
    cost, other = PureDP(float_down(exact(budget.epsilon) / PARTS)), ZCDPComposition()
    if not cost.epsilon or not other.amount(cost).loss_units:
        return
    ours, theirs = (each.ceiling(budget).loss_units // each.amount(cost).loss_units for each in (rule, other))
    if theirs >= CLEARLY * ours:
        output.paragraph(
            f"Advice: of releases of ε = {rounded_up(cost.epsilon)} each, basic pays for {ours} out of this budget, "
            f"zcdp for {theirs}, where none has a δ of its own. A rule is fixed once the ledger is opened; --expect "
            "prices a plan under every rule."
        )


def print_of_entries(location: str) -> None:
    """A line where another rule would have charged much less for the entries of a ledger that is there already."""
    with reading(location) as entries:
        if len(entries) > MOST_ENTRIES:
            return
        spending = Spending()
        replayed(entries, spending)
    found = advise(Releases.of(spending), spending.rule, spending.promise.budget, spent=spending.total, reading=False)
    if found.saves(CLEARLY) is not None:
        output.paragraph(
            f"Advice: {_compared(found)} A rule is fixed when a ledger is opened, so that is for the next one; see "
            "`exchequer ledger advise`."
        )


def _compared(found: Advice) -> str:
    own, best = found.own.total, found.best
    assert own is not None  # or `saves` would have found nothing
    assert best is not None
    assert best.total is not None
    return f"{found.own.name} charges {in_symbols(own)} where {best.name} would charge {in_symbols(best.total)}."
