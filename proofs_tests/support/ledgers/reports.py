"""Ledgers for the tests of reports, and their reports."""

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from accountant import (
    GDP,
    Adjacency,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Description,
    Entry,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.report import ClaimText, report
from accountant.audit.verification import Verification, verify
from accountant.canonical_json import canonical
from accountant.costs.spendable import SECURE
from accountant.entries.chain import GENESIS, digest_of
from proofs_tests.claims.registry import CLAIMS
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.programs.markup import Element, parsed

KNOWN: Final = {claim.id: ClaimText(claim.id, claim.verdict, claim.statement, claim.source) for claim in CLAIMS}
MADE: Final = datetime.datetime(2026, 3, 1, 12, 30, tzinfo=datetime.UTC)
DAY: Final = 86400 * 10**9


@attrs.frozen(slots=False)
class Secure(RandomizedResponse):
    """Says that its noise is real, as a mechanism with a secure source does."""

    query: str = "bit"
    claims: tuple[str, ...] = ("basic",)

    @property
    def description(self) -> Description:
        numbers = (("epsilon", self.epsilon), ("rule", "<i>odds</i>"))
        return Description("Response", self.query, numbers, "linf", 1.0, 0.25, SECURE, True, self.claims)


def open_ledger(rule: Composition, budget: Budget, adjacency: Adjacency, releases: int = 3) -> Ledger:
    ledger = Ledger(budget, composition=rule, adjacency=adjacency)
    data = ledger.protect(True)
    kind = GDP if isinstance(rule, GDPComposition) else PureDP
    for number in range(releases):
        ledger.release(Secure(0.1, kind=kind, relation=adjacency), data, account=f"analyst-{number % 2}")
    return ledger


def zcdp_ledger(releases: int = 3) -> Ledger:
    return open_ledger(ZCDPComposition(), ApproxDP(1.0, 1e-5), ReplaceOne(), releases)


def html(entries: Sequence[Entry], checked: Verification | None = None, title: str = "A study") -> str:
    checked = verify(entries) if checked is None else checked
    return report(entries, verification=checked, claims=KNOWN, second_opinion=None, title=title, made=MADE)


def page(entries: Sequence[Entry], checked: Verification | None = None) -> Element:
    return parsed(html(entries, checked))


def notices(tree: Element) -> list[str]:
    return [each.text for each in tree.find("div") if "notice" in each.attributes.get("class", "").split()]


def sentence(tree: Element) -> str:
    return next(each.text for each in tree.find("p") if each.attributes.get("class") == "guarantee")


def rewritten(entries: Sequence[Entry], names: Mapping[str, str], time: int = DAY) -> list[Entry]:
    """The same books a day apart per entry, texts replaced, with digests that fit again."""
    before, found = GENESIS, []
    for entry in entries:
        record = json.loads(entry.line) | {"time": 20_000 * DAY + entry.number * time}
        line = canonical(record)
        for name, text in names.items():
            line = line.replace(json.dumps(name), json.dumps(text))
        before = digest_of(before, line)
        found.append(Entry(entry.number, entry.kind, line, before))
    return found


def team_ledger() -> Ledger:
    """Nested sub-budgets, one of them closed, with a priced plan, an open charge and rounds given back."""
    ledger = Ledger(ApproxDP(4.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    team, other = ledger.allocate("team", 0.5), ledger.allocate("other", 0.25)
    part = team.allocate("part", 0.5)
    for above, label in ((team, "work"), (team, "plan"), (ledger, "work")):
        above.announce(label)
    for books, epsilon in ((team, 0.2), (part, 0.3), (other, 0.1), (ledger, 0.4)):
        books.release(Secure(epsilon), books.protect(True), account="work")
    ledger.close_account("other")
    team.reserve(Plan.of(BoundedRange(0.01), 100), adjacency=ReplaceOne(), delta=1e-6, account="plan")
    with part.reserve(Plan.of(PureDP(0.01), 10), adjacency=ReplaceOne(), account="trial") as rounds:
        rounds.release(Secure(0.01), part.protect(True))
        rounds.give_back()
    return ledger
