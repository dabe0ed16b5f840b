"""The questions of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees, asked of the ledger.

The publication sets them as a pyramid: a promise at its top is worth no more than what is below it. The ledger answers
those about the promise; most of what is below happened outside of it, and only people can answer for it.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import attrs

from accountant.audit import in_symbols, unit
from accountant.composition import Composition
from accountant.costs import GDP, ZCDP, AddRemoveOne, ApproxDP, Budget, FeatureValue, FeatureValues
from accountant.entries import Opened

Who: TypeAlias = Literal["the ledger", "in part", "people"]
"""Who can answer a question."""


@attrs.frozen
class Question:
    """One question. answer: from the ledger.  left: what only people can answer, "" for nothing."""

    level: str
    name: str
    question: str
    answer: str
    left: str = ""

    @property
    def who(self) -> Who:
        """Who can answer it."""
        return "people" if not self.answer else "in part" if self.left else "the ledger"


@attrs.frozen
class LedgerFacts:
    """What the ledger says that the answers need.

    spent: so far.  claims: how many results the costs depend on, and how many of these were found to hold (in whole, in
    part, or with a better constant); None where no registry was given.
    own_sources: those of the noise sources that are not this library's.
    """

    opened: Opened
    spent: Budget
    sound: bool
    private: bool
    sources: tuple[str, ...]
    charges: int
    claims: int
    unknown_claims: int | None
    own_sources: tuple[str, ...] = ()


TOP: Final = "The promise"
MIDDLE: Final = "The algorithms"
BASE: Final = "The deployment"


def questions(known: LedgerFacts) -> Iterator[Question]:
    """All of them, from the top of the pyramid to its base."""
    yield from _promise(known)
    yield from _algorithms(known)
    yield from _deployment(known)


def _promise(known: LedgerFacts) -> Iterator[Question]:
    opened = known.opened
    yield Question(
        TOP,
        "Privacy parameters",
        "How strong is the promise?",
        f"The budget is {in_symbols(opened.budget)}; spent so far is {in_symbols(known.spent)}.",
        _delta_left(opened.budget),
    )
    yield Question(
        TOP,
        "Variant",
        "Which definition of differential privacy is meant?",
        f"{_variant(opened.budget)}, added up by {_rule(opened.composition)}.",
    )
    yield Question(
        TOP,
        "Unit of privacy",
        "Whom or what does the promise protect?",
        f"{unit(opened.adjacency).neighbours} {unit(opened.adjacency).hides}",
        "Whether one person is one record. If a person, a household or a device has several, the promise for it is the "
        "weaker one of the table for several records.",
    )
    yield Question(
        TOP,
        "Bounded or unbounded",
        "Is the number of records hidden?",
        _bounded(opened),
    )
    yield Question(
        TOP,
        "Composition",
        "Are all releases counted together?",
        f"All {known.charges:,} charges of this ledger are added up, whether their results were released or not.",
        "Whether other ledgers, other software, or releases without differential privacy exist for the same people. "
        "What was not charged to this ledger is not in this promise.",
    )


def _delta_left(budget: Budget) -> str:
    strong = "Whether that is strong enough for this data and this audience is a judgement."
    if isinstance(budget, ApproxDP) and budget.delta:
        return f"{strong} δ should be far below one over the number of people; the ledger does not hold that number."
    return strong


def _variant(budget: Budget) -> str:
    if isinstance(budget, ZCDP):
        return "Zero-concentrated differential privacy"
    if isinstance(budget, GDP):
        return "Gaussian differential privacy"
    if isinstance(budget, ApproxDP) and budget.delta:
        return "Approximate differential privacy, (ε, δ)"
    return "Pure differential privacy, ε"


def _rule(rule: Composition) -> str:
    return {
        "basic": "basic composition (sums of ε and of δ)",
        "advanced": "advanced composition (a bound on the sum of ρ, and the sum of δ)",
        "advanced-textbook": "advanced composition by the textbooks' formula (a bound on the sum of squares of ε)",
        "zcdp": "composition of zero-concentrated costs (the sum of ρ)",
        "gdp": "composition of Gaussian costs (the sum of squares of μ)",
    }.get(rule.name, rule.name)


def _bounded(opened: Opened) -> str:
    match opened.adjacency:
        case FeatureValue():
            return "No: only one value of one column is hidden."
        case FeatureValues():
            return "No: only the values of one record in some columns are hidden."
        case AddRemoveOne():
            return "Yes: the promise is of the unbounded kind, a record may be there or not."
        case _:
            return "No: the promise is of the bounded kind, the number of records is public."


def _algorithms(known: LedgerFacts) -> Iterator[Question]:
    missing = known.unknown_claims
    registry = (
        "No registry of claims was at hand for this report, so their verdicts are not shown."
        if missing is None
        else "Each is listed in this report with its verdict."
        if not missing
        else f"{missing} of them are not in this version's registry; their charges should be questioned."
    )
    yield Question(
        MIDDLE,
        "Mechanisms",
        "Is it argued why each mechanism costs what it costs?",
        "What was released is named with its mechanism, query and parameters, and with the results that its cost "
        f"depends on: {known.claims} in all. {registry}",
        "Whether the programs that ran are those that the ledger names.",
    )
    yield Question(
        MIDDLE,
        "Sensitivity",
        "How is one record's influence bounded, and is the bound free of the data?",
        "Every charge names its sensitivity and the norm it was proved in.",
        "Whether column names, categories, bounds and settings were fixed without looking at the protected data. If "
        "not, that was a release which nobody paid for.",
    )
    yield Question(
        MIDDLE,
        "Noise",
        "Is the noise unpredictable, and safe from the leaks of floating-point numbers?",
        _noise(known),
        "Whether the machine's source of randomness is sound.",
    )
    yield Question(
        MIDDLE,
        "Usefulness and bias",
        "Are the results accurate enough, and for small groups too?",
        "",
        "Noise hits small groups hardest, and accuracy measured on protected records is a release of its own. The "
        "ledger says what was spent, not what it was good for.",
    )


def _noise(known: LedgerFacts) -> str:
    if not known.sources:
        return "No charge of this ledger has named a noise source yet."
    names = ", ".join(known.sources)
    if known.private:
        own = ", ".join(known.own_sources)
        word = f" Nobody but their owners vouches for: {own}." if own else ""
        return f"All noise came from: {names}. No source that says it is a simulation was used.{word}"
    return f"The noise came from: {names}. At least one of these is a simulation, so nothing here is private."


def _deployment(known: LedgerFacts) -> Iterator[Question]:
    yield Question(
        BASE,
        "Trust model",
        "Who sees the raw data, and who sees only the releases?",
        "The central model: the curator's process holds the data and is trusted; whoever sees releases is not.",
        "Who the curator is, who else can reach that process, and whether it deserves that trust.",
    )
    yield Question(
        BASE,
        "Query model",
        "Who may ask, how often, and what happens when the budget is used up?",
        "Every charge was checked against the budget before anything was drawn; what does not fit is refused. Costs "
        "and queries may depend on earlier results."
        if known.sound
        else "The ledger is not sound, so it does not show that the budget was kept.",
        "Who may charge this ledger, and who decides that a new budget is opened for the same people.",
    )
    yield Question(
        BASE,
        "Side channels",
        "What leaks besides the results: running time, memory, error messages, logs?",
        "",
        "None of this is covered by the promise. Timing is not protected, error messages are for the curator only, and "
        "the times in this ledger are part of what a reader of them sees.",
    )
    yield Question(
        BASE,
        "Security and access",
        "Who can read or change the data, the releases and this ledger?",
        "The ledger is a chain of digests: with the head digest kept elsewhere, any change, cut or roll-back shows.",
        "Who has access, how it is controlled and logged, and where the head digest is kept. A curator who opens a "
        "second ledger is not seen by this one.",
    )
    yield Question(
        BASE,
        "Data collection",
        "How did the data come in, who consented, how long is it kept, and who may still see the raw records?",
        "",
        "Differential privacy protects results, not the collection. Raw data that is lost, sold or kept for too long "
        "is outside of everything above.",
    )
