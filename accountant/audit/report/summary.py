"""The first page of a report, for people who are not mathematicians: one number, one sentence, one picture, lights."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import attrs

from accountant.audit import as_approx, best_guess, percent, rounded_up
from accountant.audit.report.burn_down import day
from accountant.audit.report.chapters import ClaimText
from accountant.audit.report.evidence import Evidence, part_of
from accountant.audit.report.light_facts import Checked, Witness, light_facts, short_name, sub_budgets, used_part
from accountant.audit.report.lights import (
    Headline,
    Light,
    LightFacts,
    headline,
    left_percent,
    lights,
    used_percent,
)
from accountant.audit.report.page import counted, shown
from accountant.audit.report.spent_on import SpentOn
from accountant.costs import AddRemoveOne, Adjacency, Budget, FeatureValue, FeatureValues
from accountant.entries import Account

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion

MOST_BARS: Final = 4
"""Sub-budgets of the picture."""

MOST_DATASETS: Final = 3
"""Data sets of the picture, and of the facts above it."""

DIGITS: Final = 4


@attrs.frozen
class BigNumber:
    """value: what is spent.  of: the budget.  at: the δ of both.  what: which number this is."""

    value: str
    of: str
    at: str
    what: str


@attrs.frozen
class Bar:
    """One bar. share: in [0, 1], of a budget that `caption` names.  text: for those who do not see it."""

    name: str
    share: float
    caption: str
    text: str


@attrs.frozen
class Picture:
    """Bars with a name and a caption each. note: how to read them."""

    name: str
    bars: tuple[Bar, ...]
    note: str


@attrs.frozen
class Summary:
    """The first page.

    holds: whether anything is promised.  number, sentence: what.  rest: what the sentence depends on.
    facts: which ledger.
    """

    holds: bool
    facts: tuple[tuple[str, str], ...]
    headline: Headline
    number: BigNumber
    sentence: str
    rest: str
    picture: Picture | None
    lights: tuple[Light, ...]


def summary_of(
    evidence: Evidence,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second: "SecondOpinion | None",
    witness: Witness | None,
) -> Summary:
    """Of what one pass found; a ledger that cannot be read gets one too."""
    known = light_facts(evidence, verification, claims, second, witness)
    shining = lights(known)
    number, rest = _number(evidence, known), ""
    if evidence.opened is not None and known.holds:
        rest = _rest(evidence.opened.budget)
    return Summary(
        known.holds,
        tuple(_facts(evidence, verification)),
        headline(shining),
        number,
        _sentence(evidence, known),
        rest,
        _doubted(_picture(evidence)) if known.doubtful else _picture(evidence),
        shining,
    )


# --- the number and the sentence --------------------------------------------------------------------------------


def _number(evidence: Evidence, known: LightFacts) -> BigNumber:
    opened = evidence.opened
    if opened is None:
        return BigNumber("none", "", "", "there is no first entry, so there is no budget")
    if not known.promises:
        return BigNumber("no bound", "", "", "nothing limits what releases may tell")
    spent, budget = (
        as_approx(opened.composition.guarantee(evidence.state.total, opened.budget)),
        as_approx(opened.budget),
    )
    one, other = rounded_up(spent.delta), rounded_up(budget.delta)
    at = f"at δ = {one}" if one == other else f"at δ = {one}, the budget at δ = {other}"
    what = "spent so far, of the whole privacy budget"
    if not known.holds:
        what = "is what the entries say was spent; it is no guarantee"
    return BigNumber(f"ε = {rounded_up(spent.epsilon, DIGITS)}", f"of {rounded_up(budget.epsilon, DIGITS)}", at, what)


def _sentence(evidence: Evidence, known: LightFacts) -> str:
    opened = evidence.opened
    if opened is None:
        return "This ledger cannot be read, so it promises nothing to anybody."
    if not known.sound:
        return "The entries of this ledger do not hold together, so it promises nothing to anybody."
    if not known.promises:
        return "Nothing is promised: what was released may tell everything about anybody in the data."
    if known.simulated:
        return "Some noise was simulated, so nobody in the data is protected: whoever knows the seed can undo it."
    if known.contradicted:
        return "What this ledger says is contradicted, so no number of it should be relied on until that is explained."
    said = _guess(opened.composition.guarantee(evidence.state.total, opened.budget), opened.adjacency)
    return f"If {' and '.join(known.conditions)}: {said[0].lower()}{said[1:]}" if known.conditions else said


def _guess(spent: Budget, adjacency: Adjacency) -> str:
    """The best guess between two neighbours that were equally likely before: (e^ε + δ)/(e^ε + 1)."""
    promise = as_approx(spent)
    included = f" (δ = {rounded_up(promise.delta)} included)" if promise.delta else ""
    return (
        "Shown everything that was released, even somebody who knows all the rest of the data can tell "
        f"{_what(adjacency)} with probability at most {percent(best_guess(promise))}{included}, where blind guessing "
        "has 50 %, if both were equally likely before."
    )


def _what(adjacency: Adjacency) -> str:
    match adjacency:
        case AddRemoveOne():
            return "whether the record of a person is in the data"
        case FeatureValue(column=column):
            return f"the true entry of a person in column {column} from a certain other one"
        case FeatureValues(columns=columns):
            several = ", ".join(map(str, columns))
            return f"the true entries of a person in columns {several} from certain other ones"
        case _:
            return "the true record of a person from a certain other one"


def _rest(budget: Budget) -> str:
    promise = as_approx(budget)
    delta = f" at δ = {rounded_up(promise.delta)}" if promise.delta else ""
    return (
        f"However the whole budget is spent, that stays at most {percent(best_guess(promise))} (ε = "
        f"{rounded_up(promise.epsilon, DIGITS)}{delta}): what would exceed it is refused. Where anything was chosen "
        "because of earlier results, this is the number to rely on. Both are about a person with one record, and about "
        "this ledger alone."
    )


# --- which ledger, and the picture ---------------------------------------------------------------------------------


def _facts(evidence: Evidence, verification: Checked) -> Iterator[tuple[str, str]]:
    opened = evidence.opened
    yield "Ledger", "no readable first entry" if opened is None else shown(opened.id, 40)
    waiting = f", {len(evidence.waiting):,} of them open" if evidence.waiting else ""
    entries = counted(verification.entries, "entry", "entries")
    yield "Entries", f"{entries}, {counted(evidence.kinds['charged'], 'charge')}{waiting}"
    if evidence.first_time:
        first, last = day(evidence.first_time), day(evidence.last_time)
        yield "Period", f"{first} to {last}" if first != last else first
    yield "Data", _datasets(evidence)


def _datasets(evidence: Evidence) -> str:
    groups = evidence.abouts.by("dataset")
    names = [short_name(group.said) for group in groups if group.is_said]
    if not names:
        return "no charge says which data it is about"
    rest = len(names) - MOST_DATASETS
    listed = ", ".join(names[:MOST_DATASETS]) + (f" and {rest:,} more" if rest > 0 else "")
    silent = sum(group.charges for group in groups if not group.is_said)
    return f"{listed}; not said by {counted(silent, 'charge')}" if silent else listed


def _picture(evidence: Evidence) -> Picture | None:
    """Of the sub-budgets; where there are none, of the data sets."""
    if evidence.opened is None or evidence.state.root.ceiling.endless:
        return None
    below = sorted(sub_budgets(evidence), key=lambda account: (-used_part(account), account.path))
    if not below and evidence.abouts.says("dataset"):
        return _of_datasets(evidence, evidence.state.root)
    kept = sorted(below[:MOST_BARS], key=lambda account: account.path.split("/"))
    note = f"A bar is what was spent of that budget, {_measure(evidence)}."
    if below:
        note += " What is left of one includes what it has set aside for budgets in it."
    if len(below) > MOST_BARS:
        note += f" Shown are the {MOST_BARS} of {len(below):,} sub-budgets that are used up most."
    return Picture("How much of each budget is used", tuple(map(_budget_bar, (evidence.state.root, *kept))), note)


def _doubted(picture: Picture | None) -> Picture | None:
    """The same of entries that may say what is false."""
    if picture is None:
        return None
    bars = (
        attrs.evolve(bar, caption=f"By these entries: {bar.caption}", text=f"By these entries: {bar.text}")
        for bar in picture.bars
    )
    return attrs.evolve(picture, name=f"In doubt: {picture.name[0].lower()}{picture.name[1:]}", bars=tuple(bars))


def _of_datasets(evidence: Evidence, root: Account) -> Picture:
    groups = evidence.abouts.by("dataset")
    rest = len(groups) - MOST_DATASETS
    more = f" {counted(rest, 'data set')} with less are not shown." if rest > 0 else ""
    bars = (_budget_bar(root), *(_dataset_bar(group, root) for group in groups[:MOST_DATASETS]))
    return Picture(
        "What was spent on which data", bars, f"A bar is a part of the whole budget, {_measure(evidence)}.{more}"
    )


def _measure(evidence: Evidence) -> str:
    """What shares are shares of: ε itself adds up under one rule only."""
    unit = evidence.state.rule.unit
    return f"in {unit}, which is what adds up" + ("" if unit == "Σε" else "; ε does not")


def _dataset_bar(group: SpentOn, root: Account) -> Bar:
    share = part_of(group.amount, root.ceiling)
    name = short_name(group.said) if group.is_said else "not said"
    text = f"{used_percent(share)} of the whole budget was spent "
    text += f"on {name}." if group.is_said else "without saying on which data."
    return Bar(name, min(share, 1.0), text, text)


def _budget_bar(account: Account) -> Bar:
    share = used_part(account)
    name = short_name(account.path) if account.path else "the whole budget"
    of = f"the budget of {name}" if account.path else name
    text = f"{used_percent(share)} of {of} is used."
    caption = f"{left_percent(share)} of {of} is left" if not account.closed else f"{text[:-1]}, and it is closed"
    return Bar(name, min(share, 1.0), f"{caption}.", text)
