"""The first page of a report, for people who are not mathematicians: one number, one sentence, one picture, lights."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from accountant.audit import Verdict, as_approx, best_guess, percent, rounded_up
from accountant.audit.report.burn_down import day
from accountant.audit.report.chapters import ClaimText
from accountant.audit.report.evidence import Evidence, part_of
from accountant.audit.report.lights import (
    ClaimsWord,
    Headline,
    HeadWord,
    Light,
    LightFacts,
    SecondWord,
    headline,
    left_percent,
    lights,
    used_percent,
)
from accountant.audit.report.page import counted, shown
from accountant.audit.report.spent_on import SpentOn
from accountant.composition import OwnRule
from accountant.costs import AddRemoveOne, Adjacency, Budget, FeatureValue, FeatureValues, Unbounded, own_sources
from accountant.entries import Account

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion

MOST_BARS: Final = 4
"""Sub-budgets of the picture."""

MOST_DATASETS: Final = 3
"""Data sets of the picture, and of the facts above it."""

MOST_OF_A_NAME: Final = 24
"""Characters of a name on this page: of a longer one its beginning and its end, as what differs is often there."""

MOST_OF_A_WORD: Final = 200
"""Characters of what a witness says."""

DIGITS: Final = 4


class Checked(Protocol):
    """What `accountant.audit.verification.verify` found."""

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with the ledger."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What somebody should know."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why a ledger that adds up is not plainly sound."""

    @property
    def entries(self) -> int:
        """How many entries were read."""

    @property
    def head(self) -> str:
        """The digest of the last of them."""

    @property
    def sound(self) -> bool:
        """Whether there are no errors."""

    @property
    def verdict(self) -> Verdict:
        """In a word."""

    @property
    def expected(self) -> str:
        """The digest that had to be among the entries', "" if none was asked for."""


@attrs.frozen
class Witness:
    """What a witness outside of the ledger says of its head. agrees: whether that speaks for the ledger."""

    agrees: bool
    text: str


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
    """The first page. number, sentence: what is promised.  rest: what the sentence rests on.  facts: which ledger."""

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
    known = _light_facts(evidence, verification, claims, second, witness)
    shining = lights(known)
    number, rest = _number(evidence, known), ""
    if evidence.opened is not None and known.holds:
        rest = _rest(evidence.opened.budget)
    return Summary(
        tuple(_facts(evidence, verification)),
        headline(shining),
        number,
        _sentence(evidence, known),
        rest,
        _picture(evidence),
        shining,
    )


# --- what the lights depend on --------------------------------------------------------------------------------


def _light_facts(
    evidence: Evidence,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second: "SecondOpinion | None",
    witness: Witness | None,
) -> LightFacts:
    opened, sources = evidence.opened, evidence.sources
    spent = None if opened is None else opened.composition.guarantee(evidence.state.total, opened.budget)
    promises = spent is not None and not isinstance(spent, Unbounded)
    fullest = max((account for account in _sub_budgets(evidence) if not account.closed), key=_used, default=None)
    return LightFacts(
        verdict=verification.verdict,
        errors=len(verification.errors),
        unreadable=evidence.unreadable,
        promises=promises,
        guess=best_guess(as_approx(spent)) if promises and spent is not None else 1.0,
        used=_used(evidence.state.root) if promises else 0.0,
        fullest=0.0 if fullest is None else _used(fullest),
        fullest_name="" if fullest is None else _name(fullest.path),
        charges=evidence.kinds["charged"],
        waiting=len(evidence.waiting),
        drawn=bool(sources),
        simulated=not evidence.private,
        silent=evidence.unknown,
        foreign=tuple(own_sources(sources)),
        second=_second_word(second),
        head=_head_word(verification),
        claims=_claims_word(evidence, claims),
        on_trust=tuple(_on_trust(evidence)),
        witness="" if witness is None else shown(witness.text, MOST_OF_A_WORD),
        witness_agrees=witness is not None and witness.agrees,
    )


def _name(text: str) -> str:
    """A name from the ledger, short enough for one line."""
    if len(text) <= MOST_OF_A_NAME:
        return shown(text)
    return f"{shown(text[: 2 * MOST_OF_A_NAME // 3])}…{shown(text[-MOST_OF_A_NAME // 3 :])}"


def _used(account: Account) -> float:
    return 0.0 if account.ceiling.endless else part_of(account.drawn, account.ceiling)


def _sub_budgets(evidence: Evidence) -> list[Account]:
    return [account for path, account in evidence.state.accounts.items() if path]


def _second_word(second: "SecondOpinion | None") -> SecondWord:
    if second is None:
        return "not asked"
    if not second.agrees:
        return "disagrees"
    compared = any(total.epsilon is not None for total in second.theirs)
    short = any(total.left_out or total.epsilon is None for total in second.theirs)
    return "agrees" if compared and not short and not second.unknown else "agrees in part"


def _head_word(verification: Checked) -> HeadWord:
    if not verification.expected:
        return "not given"
    return "found" if verification.sound else "not found"


def _claims_word(evidence: Evidence, claims: Mapping[str, ClaimText] | None) -> ClaimsWord:
    if claims is None:
        return "no registry"
    rule = () if evidence.opened is None else evidence.opened.composition.claims
    return "all known" if {*evidence.claims, *rule} <= set(claims) else "some unknown"


def _on_trust(evidence: Evidence) -> Iterator[str]:
    if evidence.opened is not None and isinstance(rule := evidence.opened.composition, OwnRule):
        yield f"the rule of composition {_name(rule.name)}"
    for said in sorted(evidence.declared):
        yield f"costs {shown(said, MOST_OF_A_WORD)}"


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
    names = [_name(group.said) for group in groups if group.is_said]
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
    below = sorted(_sub_budgets(evidence), key=lambda account: (-_used(account), account.path))
    if not below and evidence.abouts.says("dataset"):
        return _of_datasets(evidence, evidence.state.root)
    kept = sorted(below[:MOST_BARS], key=lambda account: account.path.split("/"))
    note = f"A bar is what was spent of that budget, {_measure(evidence)}."
    if below:
        note += " What is left of one includes what it has set aside for budgets in it."
    if len(below) > MOST_BARS:
        note += f" Shown are the {MOST_BARS} of {len(below):,} sub-budgets that are used up most."
    return Picture("How much of each budget is used", tuple(map(_budget_bar, (evidence.state.root, *kept))), note)


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
    name = _name(group.said) if group.is_said else "not said"
    text = f"{used_percent(share)} of the whole budget was spent "
    text += f"on {name}." if group.is_said else "without saying on which data."
    return Bar(name, min(share, 1.0), text, text)


def _budget_bar(account: Account) -> Bar:
    share = _used(account)
    name = _name(account.path) if account.path else "the whole budget"
    of = f"the budget of {name}" if account.path else name
    text = f"{used_percent(share)} of {of} is used."
    caption = f"{left_percent(share)} of {of} is left" if not account.closed else f"{text[:-1]}, and it is closed"
    return Bar(name, min(share, 1.0), f"{caption}.", text)
