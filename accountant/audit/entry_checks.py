"""What `verify` checks of an entry beyond `accountant.entries.state.State`: plans, prices, noise sources and claims.

The state knows sums; here is kept, for each charge that is open, what it was charged for.
"""

import functools
from collections.abc import Collection, Iterable
from typing import Final

import attrs
import numpy as np

from accountant.composition import ROUTE_CLAIMS, Amount, Composition, Plan
from accountant.costs import CLAIM_OF_KIND, DECLARED_BY, TRUST, ApproxDP, Description, why_not_under
from accountant.entries import Charged, OpenCharge, Opened, Record, Released, Returned, State

TOLERANCE: Final = 1e-9
"""Relative difference between two computations of one price, on two machines, that means nothing."""

MOST_STEPS: Final = 4096
"""Of a plan that is kept with its price: many longer ones would fill the memory."""


@attrs.frozen(eq=False)
class Terms:
    """What a charge was made for: everything in its entry but its place in the ledger.

    announced: whether the noise is secure, None where the charge did not say.
    single: whether `Ledger.release` can have made it, whose release does not repeat the mechanism.
    """

    account: str
    amount: Amount
    plan: Plan
    priced: bool
    rounds: int
    announced: bool | None
    single: bool

    @staticmethod
    def of(record: Charged, amount: Amount) -> "Terms":
        """The terms of one charge, which comes to this amount."""
        announced = None if record.mechanism is None else record.mechanism.private
        priced, rounds = record.price is not None, record.plan.rounds
        single = rounds == 1 and not priced and announced is not None
        return Terms(record.account, amount, record.plan, priced, rounds, announced, single)

    def why_not_release(self, rounds: int, left: int, simulated: bool) -> str | None:
        """What speaks against a release of `rounds` (0: it does not say) of the rounds that are left."""
        if rounds > left:
            return f"it releases {rounds} rounds of {left} that were charged"
        if not rounds and not self.single:
            return "it does not say what was released of a plan"
        if simulated and self.announced:
            return "it releases simulated noise where secure noise was charged for"
        return None

    def why_not_return(self, record: Returned, left: int, rule: Composition) -> str | None:
        """What speaks against giving back so many of the rounds that are left, for this amount."""
        if left != self.rounds:
            return "it gives rounds of this charge back a second time"
        if self.priced and record.rounds != self.rounds:
            return "it gives back a part of a plan that was charged at one price for all of it"
        rest = self.amount if self.priced else self.plan.last(record.rounds).amount(rule)
        return None if record.amount == rest else "it gives back another amount than these rounds were charged at"


class StateReplay:
    """The ledger so far, entry by entry: its state, and for each charge that is open what it was made for."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self.terms: dict[int, Terms] = {}
        self.charges, self.simulated = 0, 0

    def note_account(self, account: str, charges: int) -> None:
        """So many charges to this account were taken in."""

    def apply(self, number: int, record: Record) -> list[str]:
        """Take the next entry in; what is wrong with the sums. Raises UnsupportedCost, and what nonsense may raise."""
        wrong = self.state.apply(number, record)
        match record:
            case Charged() if number in self.state.open:
                self.terms[number] = Terms.of(record, self.state.open[number].amount)
            case Released() | Returned() if record.charge not in self.state.open:
                self.terms.pop(record.charge, None)
            case _:
                pass
        return wrong


class EntryChecker(StateReplay):
    """The same, with everything that `verify` checks.

    claims: the ids that are known, None where nobody asks.
    older: of the charges that entries name and nobody has seen, as they stand before the first entry, the first.
    """

    def __init__(self, claims: Collection[str] | None) -> None:
        super().__init__()
        self.older: int | None = None
        self.sources = set[str]()  # names of noise sources that say they are secure
        self.declared = set[str]()  # what entries say of costs that are somebody's word
        self.unlisted, self.first_unlisted = 0, ""
        self._claims = None if claims is None else frozenset(claims)
        self._unknown = set[str]()

    def note_account(self, account: str, charges: int) -> None:
        """Count charges to an account that none of the sub-budgets and labels there are now accounts for."""
        if not self.state.lists(account, self.state.payer(account)):
            self.first_unlisted = self.first_unlisted if self.unlisted else account
            self.unlisted += charges

    def apply(self, number: int, record: Record) -> list[str]:
        """Take the next entry in; what is wrong with it, nothing if all is well. Raises UnsupportedCost."""
        match record:
            case Opened():
                return self.state.apply(number, record) + self._rests_on(record.composition.claims)
            case Charged():
                return self._charged(number, record)
            case Released():
                return self._released(number, record)
            case Returned():
                return self._returned(number, record)
            case _:
                return self.state.apply(number, record)

    def _charged(self, number: int, record: Charged) -> list[str]:
        wrong = self.state.apply(number, record)
        if self.state.opened is None:
            return wrong
        self.terms[number] = terms = Terms.of(record, self.state.open[number].amount)
        self.charges += 1
        self.note_account(record.account, 1)
        self.simulated += terms.announced is False
        self._takes_from(() if record.mechanism is None else (record.mechanism,))
        wrong += _unsound([] if record.mechanism is None else [record.mechanism])
        adjacency = self.state.adjacency
        strange = dict.fromkeys(why_not_under(step.cost, adjacency) for step in record.plan.steps)
        wrong += [f"its cost holds under another relation: {each}" for each in strange if each is not None]
        claims = [] if record.mechanism is None else [*record.mechanism.claims]
        claims += {CLAIM_OF_KIND[step.cost.kind] for step in record.plan.steps if step.cost.kind in CLAIM_OF_KIND}
        if record.price is not None:
            route = str(record.route)
            if route not in ROUTE_CLAIMS:
                return [*wrong, f"its plan was priced by {route!r}, which is no theorem known here"]
            worth = _worth if len(record.plan.steps) <= MOST_STEPS else _worth.__wrapped__
            if not worth(record.plan, record.price, route):
                wrong.append("its plan costs more than the price it was charged at")
            claims.append(ROUTE_CLAIMS[route])
        return wrong + self._rests_on(claims)

    def _released(self, number: int, record: Released) -> list[str]:
        charge, terms = self._made(record.charge)
        self.terms.pop(record.charge, None)
        self._takes_from([mechanism for mechanism, _ in record.used])
        wrong = self.state.apply(number, record)
        simulated = any(not mechanism.private for mechanism, _ in record.used)
        if charge is not None and terms is not None:
            reason = terms.why_not_release(sum(rounds for _, rounds in record.used), charge.rounds, simulated)
            wrong += [] if reason is None or reason in wrong else [reason]
        if charge is not None:  # of one from before the start nobody knows what it announced: this is seen all the same
            self.simulated += simulated and (terms is None or terms.announced is not False)
        wrong += _unsound(mechanism for mechanism, _ in record.used)
        return wrong + self._rests_on(claim for mechanism, _ in record.used for claim in mechanism.claims)

    def _returned(self, number: int, record: Returned) -> list[str]:
        charge, terms = self._made(record.charge)
        wrong = self.state.apply(number, record)
        if record.charge not in self.state.open:
            self.terms.pop(record.charge, None)
        if charge is not None and terms is not None and record.rounds <= charge.rounds:
            reason = terms.why_not_return(record, charge.rounds, self.state.rule)
            wrong += [] if reason is None else [reason]
        return wrong

    def _made(self, number: int) -> tuple[OpenCharge | None, Terms | None]:
        """An open charge, and what it was made for; a checkpoint says the first alone."""
        charge, terms = self.state.open.get(number), self.terms.get(number)
        if charge is not None and terms is None:
            self.older = number if self.older is None else min(self.older, number)
        return charge, terms

    def _takes_from(self, mechanisms: Collection[Description]) -> None:
        """Note whose noise they draw, and whose word their costs are."""
        self.sources.update(each.noise for each in mechanisms if each.private)
        self.declared.update(said for each in mechanisms for said in declared_elsewhere(each))

    def _rests_on(self, claims: Iterable[str]) -> list[str]:
        """A sentence for each claim that is not known, the first time that it is met."""
        if self._claims is None:
            return []
        strange = [claim for claim in dict.fromkeys(claims) if claim not in self._claims and claim not in self._unknown]
        self._unknown.update(strange)
        return [f"it depends on the claim {claim!r}, which is not known" for claim in strange]


def declared_elsewhere(mechanism: Description) -> list[str]:
    """What an entry says of a cost that this library took from somebody; at most one sentence."""
    said = dict(mechanism.parameters).get(TRUST)
    return [said] if isinstance(said, str) and said.startswith(DECLARED_BY) else []


def _unsound(mechanisms: Iterable[Description]) -> list[str]:
    """A sentence for each bound that can be none, and that the cost depends on all the same."""
    return [f"{each.mechanism}: {reason}" for each in mechanisms if (reason := each.why_unsound())]


@functools.lru_cache(maxsize=256)
def _worth(plan: Plan, price: ApproxDP, route: str) -> bool:
    """Whether the plan costs no more than its price: by the theorem that it names, else by the best one."""
    most = price.epsilon * (1.0 + TOLERANCE)
    with np.errstate(all="ignore"):  # nonsense overflows, and then is not worth its price
        named = plan.route(route, price.delta)
        return (named is not None and named <= most) or plan.price(price.delta).best.epsilon <= most
