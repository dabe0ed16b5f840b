"""What the lights of a report depend on, read from a verification, the evidence, and whoever else was asked."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from accountant.audit import Verdict, as_approx, best_guess
from accountant.audit.report.chapters import ClaimText
from accountant.audit.report.evidence import Evidence, part_of
from accountant.audit.report.lights import ClaimsWord, HeadWord, LightFacts, SecondWord
from accountant.audit.report.page import shown
from accountant.composition import OwnRule
from accountant.costs import Unbounded, own_sources
from accountant.entries import Account

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion

MOST_OF_A_NAME: Final = 24
"""Characters of a name on this page: of a longer one its beginning and its end, as what differs is often there."""

MOST_OF_A_WORD: Final = 200
"""Characters of what a witness says."""


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


def light_facts(
    evidence: Evidence,
    verification: Checked,
    claims: Mapping[str, ClaimText] | None,
    second: "SecondOpinion | None",
    witness: Witness | None,
) -> LightFacts:
    """Of what one pass found. verification: what `verify` said in it.  claims, second, witness: None if not at hand."""
    opened, sources = evidence.opened, evidence.sources
    spent = None if opened is None else opened.composition.guarantee(evidence.state.total, opened.budget)
    promises = spent is not None and not isinstance(spent, Unbounded)
    fullest = max((account for account in sub_budgets(evidence) if not account.closed), key=used_part, default=None)
    return LightFacts(
        verdict=verification.verdict,
        errors=len(verification.errors),
        unreadable=evidence.unreadable,
        promises=promises,
        guess=best_guess(as_approx(spent)) if promises and spent is not None else 1.0,
        used=used_part(evidence.state.root) if promises else 0.0,
        fullest=0.0 if fullest is None else used_part(fullest),
        fullest_name="" if fullest is None else short_name(fullest.path),
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


def short_name(text: str) -> str:
    """A name from the ledger, short enough for one line."""
    if len(text) <= MOST_OF_A_NAME:
        return shown(text)
    return f"{shown(text[: 2 * MOST_OF_A_NAME // 3])}…{shown(text[-MOST_OF_A_NAME // 3 :])}"


def used_part(account: Account) -> float:
    """The share of a budget that was spent, of the loss or of the δ, whichever is larger; 0 of one without a limit."""
    return 0.0 if account.ceiling.endless else part_of(account.drawn, account.ceiling)


def sub_budgets(evidence: Evidence) -> list[Account]:
    """All accounts but the whole budget, closed ones among them."""
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
        yield f"the rule of composition {short_name(rule.name)}"
    for said in sorted(evidence.declared):
        yield f"the {shown(said, MOST_OF_A_WORD)}"
