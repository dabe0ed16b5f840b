"""`exchequer ledger open`, `allocate`, `label`, `close`, `price` and `key`: who may spend how much, beforehand."""

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import attrs
import click

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    FeatureValue,
    FeatureValues,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit import in_symbols, left_text, spent_text
from accountant.composition import NOTHING, distinct_texts, own_rule
from accountant.costs import open_probability, positive, probability_below_one
from accountant.entries import About, SigningKey, State
from accountant.exceptions import ONLY_ROUNDED, how_to_fit
from accountant.ledger import unknown_label
from accountant.registry import REGISTRY
from exchequer.commands.ledgers import rule_advice
from exchequer.commands.ledgers.amount_records import amount_record
from exchequer.commands.ledgers.open_ledger import (
    is_begun,
    reading,
    replayed,
    spending,
    url_to_begin,
    without_passwords,
)
from exchequer.commands.ledgers.registry_listing import print_together
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from exchequer.prices.price import few_enough, parse_step

KEEP_THE_HEAD: Final = (
    "Keep the head where nobody who can write to this ledger can change it: on paper, or in a mail. "
    "`exchequer ledger verify --expect-head` with it shows whether the ledger was cut off or rolled back since."
)

NOT_LISTED: Final = (
    "No data set was named, so the registry does not list this ledger yet. A charge that names one enters it; "
    "EXCHEQUER_DATASET with `exchequer ledger open` does so at once."
)

FITS, DOES_NOT_FIT = 0, 1
"""Exit codes."""


# --- what is asked for -----------------------------------------------------------------------------------------


def budget_of(epsilon: float | None, delta: float | None, rho: float | None, mu: float | None = None) -> Budget | None:
    """The budget that the options name, None where they name none."""
    for name, number, others in (("--rho", rho, (epsilon, delta, mu)), ("--mu", mu, (epsilon, delta, rho))):
        if number is not None and any(other is not None for other in others):
            raise click.UsageError(f"{name} is a budget of its own: give it without --epsilon, --delta and the like")
    if rho is not None:
        return ZCDP(checked("--rho", positive, rho))
    if mu is not None:
        return GDP(checked("--mu", positive, mu))
    if epsilon is None:
        if delta is not None:
            raise click.UsageError("--delta goes with --epsilon")
        return None
    epsilon = checked("--epsilon", positive, epsilon)
    return ApproxDP(epsilon, checked("--delta", probability_below_one, delta)) if delta else PureDP(epsilon)


def rule_of(name: str | None, delta_prime: float | None) -> Composition | None:
    """The rule that the options name, None where they name none."""
    if delta_prime is not None and name != "advanced":
        raise click.UsageError("--delta-prime goes with --composition advanced")
    match name:
        case "basic":
            return BasicComposition()
        case "zcdp":
            return ZCDPComposition()
        case "gdp":
            return GDPComposition()
        case "advanced":
            if delta_prime is None:
                raise click.UsageError("--composition advanced needs --delta-prime, the part of delta that it costs")
            return AdvancedComposition(checked("--delta-prime", open_probability, delta_prime))
    return None


def adjacency_of(text: str) -> Adjacency:
    """The relation of that name, feature-value:COLUMN or feature-values:COLUMN,COLUMN. Raises ValueError."""
    name, _, column = text.partition(":")
    if name == FeatureValue.name and column.isascii() and column.isdigit():
        return FeatureValue(int(column))
    numbers = column.split(",")
    if name == FeatureValues.name and all(each.isascii() and each.isdigit() for each in numbers):
        return FeatureValues(tuple(map(int, numbers)))
    for relation in (ReplaceOne(), AddRemoveOne()):
        if text == relation.name:
            return relation
    raise ValueError(
        f"--adjacency: {text!r} is none of {ReplaceOne.name}, {AddRemoveOne.name}, {FeatureValue.name}:COLUMN and "
        f"{FeatureValues.name}:COLUMN,COLUMN, with the numbers of the columns, from 0"
    )


def part_of(text: str | None, budget: Budget | None) -> Fraction | Budget:
    """What `Ledger.allocate` takes. text: a share, exactly: 0.1 is one tenth, and so is 1/10. Raises ValueError."""
    if (text is None) == (budget is None):
        raise click.UsageError("give either --share, or --epsilon (with --delta), or --rho, or --mu")
    if text is None:
        assert budget is not None
        return budget
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"--share: {text!r} is no number; try 0.25 or 1/3") from None


# --- the commands ----------------------------------------------------------------------------------------------


def open_ledger(
    location: str,
    budget: Budget | None,
    rule: Composition | None,
    adjacency: Adjacency | None,
    expected: Sequence[str] = (),
) -> int:
    """Begin a ledger, or see whether the one that is there promises the same; the exit code.

    expected: a plan that is to fit, as `parse_step` reads it. Raises ValueError, before anything is written, where a
    new ledger would not pay for it.
    """
    plan = rule_advice.plan_of(expected)
    with without_passwords(location):
        location = url_to_begin(location)
    begun = is_begun(location)
    if not begun:
        if budget is None:
            raise ValueError("there is no ledger yet: give its budget, --epsilon (with --delta), --rho or --mu")
        rule = rule or own_rule(budget)
        adjacency = adjacency or AddRemoveOne()
        if plan is not None:
            rule_advice.refuse_unfit(plan, rule, budget)
    with (
        without_passwords(location),
        Ledger.open(location, budget, composition=rule, adjacency=adjacency) as ledger,
    ):
        output.title("There is a ledger already, and it promises this" if begun else "A new ledger")
        output.facts(
            [
                ("id", ledger.id),
                ("budget", in_symbols(ledger.budget)),
                ("rule", f"{ledger.composition.name} composition, which adds up {ledger.composition.unit}"),
                ("adjacency", str(ledger.adjacency)),
                ("head", ledger.head),
            ]
        )
        promised, kept, left, others = ledger.composition, ledger.budget, ledger.remaining, ledger.others()
    output.paragraph(KEEP_THE_HEAD)
    if others is not None:
        print_together([others])
    elif not begun and os.environ.get(REGISTRY) and not About.from_environment().dataset:
        output.paragraph(NOT_LISTED)
    if plan is not None:
        return FITS if rule_advice.print_expected(plan, promised, kept, left) else DOES_NOT_FIT
    if begun:
        rule_advice.print_of_entries(location)
    else:
        rule_advice.print_of_rule(promised, kept)
    return FITS


def allocate(location: str, name: str, share: Fraction | Budget, parent: str) -> None:
    """Set a part of a budget aside."""
    with spending(location) as ledger:
        above = ledger.sub_budget(parent) if parent else ledger
        own = above.allocate(name, share)
        output.title(f"A sub-budget {own.account!r}")
        output.facts(
            [
                ("may spend", f"{left_text(own.remaining, ledger.composition)}; that is {in_symbols(own.budget)}"),
                (f"left in {parent!r}" if parent else "left beside it", left_text(above.remaining, ledger.composition)),
                ("head", ledger.head),
            ]
        )


def announce(location: str, label: str) -> None:
    """Announce a label."""
    with spending(location) as ledger:
        ledger.announce(label)
        output.title(f"Announced the label {label!r}")
        output.facts([("head", ledger.head)])


def close(location: str, path: str) -> None:
    """Close a sub-budget; what it did not spend goes back."""
    with spending(location) as ledger:
        returned = ledger.close_account(path)
        above = path.rpartition("/")[0]
        output.title(f"Closed the sub-budget {path!r}")
        output.facts(
            [
                ("not spent", left_text(returned, ledger.composition)),
                ("goes back to", repr(above) if above else "the whole budget"),
                ("head", ledger.head),
            ]
        )


def make_key(path: Path) -> None:
    """A new signing key, and the public one beside it."""
    public = path.with_name(f"{path.name}.pub")
    if public.exists():
        raise FileExistsError(f"{public} exists already; give another name")
    try:
        key = SigningKey.create(path)
    except ImportError as error:
        raise ValueError(str(error)) from error
    key.public.save(public)
    output.title("A new key to sign receipts with")
    output.facts([("public key", key.public.hex), ("private", f"{path}: keep it to yourself"), ("public", str(public))])
    output.paragraph("Give the public key to whoever checks your models: exchequer verify-model --public-key.")


# --- what a plan would cost ------------------------------------------------------------------------------------


@attrs.frozen
class Quote:
    """What a plan would be charged. payer: the path of the sub-budget that would pay.  route: of a plan at a price."""

    state: State
    payer: str
    plan: Plan
    amount: Amount
    route: str | None

    @property
    def fits(self) -> bool:
        """Whether it would be charged, and not refused."""
        return self.state.accounts[self.payer].affords(self.amount)

    @property
    def left(self) -> Amount:
        """What the payer has left before."""
        return self.state.accounts[self.payer].left

    @property
    def rule(self) -> Composition:
        """The ledger's."""
        return self.state.rule

    @property
    def after(self) -> Budget:
        """What all of the ledger would have spent afterwards."""
        return self._read_out(self.state.total.plus(self.amount))

    @property
    def before(self) -> Budget:
        """What all of the ledger has spent."""
        return self._read_out(self.state.total)

    def _read_out(self, amount: Amount) -> Budget:
        return self.rule.guarantee(amount, self.state.budget)


def quote(state: State, plan: Plan, delta: float, account: str) -> Quote:
    """Price a plan as `Ledger.reserve` does. Raises UnsupportedCost, UnknownLabel."""
    paying = state.payer(account)
    if account and not state.lists(account, paying):
        raise unknown_label(state, account, paying)
    payer = paying.path
    if delta == 0.0:
        return Quote(state, payer, plan, plan.amount(state.rule), None)
    price = plan.cheapest(delta)
    return Quote(state, payer, plan, state.rule.amount(price.best), price.route)


def price(location: str, mechanisms: Sequence[str], rounds: int, delta: float, account: str, *, as_json: bool) -> int:
    """Print what a plan would cost on this ledger, and whether it fits; the exit code. Spends nothing."""
    plan = Plan(tuple(parse_step(text, rounds) for text in mechanisms))
    checked("--rounds", few_enough, plan.rounds)
    delta = checked("--delta", probability_below_one, delta)
    with reading(location) as entries, output.entries_bar("reading", len(entries)) as progress:
        state = replayed(entries, progress=progress).state
        with about("--mechanism"):
            found = quote(state, plan, delta, account)
    if as_json:
        click.echo(json.dumps({"ledger": entries.name, **as_dict(found, delta)}, indent=1, allow_nan=False))
    else:
        _print(found)
    return FITS if found.fits else DOES_NOT_FIT


def as_dict(found: Quote, delta: float) -> dict[str, object]:
    """For JSON; what would be left and spent is None where it does not fit."""
    fits = found.fits
    return {
        "account": found.payer,
        "composition": found.rule.describe(),
        "unit": found.rule.unit,
        "plan": [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in found.plan.steps],
        "delta": delta,
        "route": found.route,
        "requested": amount_record(found.amount, up=True),
        "left_before": amount_record(found.left),
        "left_after": amount_record(found.left.minus(found.amount)) if fits else None,
        "spent_before": found.before.as_dict(),
        "spent_after": found.after.as_dict() if fits else None,
        "fits": fits,
    }


def _print(found: Quote) -> None:
    rule, fits, short = found.rule, found.fits, found.amount.minus(found.left)
    payer = f"the sub-budget {found.payer!r}" if found.payer else "the whole budget"
    rounds = "1 round" if found.plan.rounds == 1 else f"{found.plan.rounds} rounds"
    if fits:
        costs, now = spent_text(found.amount, rule), left_text(found.left, rule)
        then = ("left then", left_text(found.left.minus(found.amount), rule))
    else:
        costs, now = distinct_texts(found.amount, found.left, rule, " = ")
        then = ("short by", distinct_texts(short, NOTHING, rule, " = ")[0])
    output.title(f"{rounds} under {rule.name} composition, paid by {payer}")
    by = f", as one plan, by {found.route}" if found.route else ""
    output.facts(
        [
            ("it costs", costs + by),
            ("left now", now),
            then,
            ("spent now", in_symbols(found.before)),
            ("spent then", in_symbols(found.after) if fits else "it does not fit"),
        ]
    )
    if fits:
        output.paragraph("It fits. Nothing was spent.")
    elif found.state.accounts[found.payer].closed:
        output.paragraph("It does not fit: this sub-budget is closed.")
    else:
        output.paragraph("It does not fit: it would be refused.")
        if (remedy := how_to_fit(found.amount, found.left)) == ONLY_ROUNDED:
            output.paragraph(f"{remedy}.")
