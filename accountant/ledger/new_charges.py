"""A charge before its turn: what it says and what it costs, found fit to be written. Made once for charges alike."""

import attrs

from accountant.composition import NOTHING, Amount, Composition, Plan, Price
from accountant.costs import Adjacency, ApproxDP, Cost
from accountant.entries import LONGEST_LABEL, NOTHING_SAID, About, ChargeLine, EntryStore, why_unreadable
from accountant.exceptions import NotSpendable
from accountant.ledger.amounts import amount_of_release
from accountant.ledger.new_lines import refuse_bad_texts, refuse_unreadable
from accountant.ledger.promises import refuse_plan

LONGEST_ACCOUNT = LONGEST_LABEL
"""Characters of an account's path."""


@attrs.frozen(eq=False)
class NewCharge:
    """What is charged to an account, and how often something may be released for it.

    plan, price, about, announced: what its line says, for policies.
    """

    account: str
    amount: Amount
    rounds: int
    line: ChargeLine
    """As the newest format has it."""
    upgrades: bool
    """Whether its entry needs the newest format."""
    plan: Plan
    price: ApproxDP | None
    about: About
    announced: str


@attrs.frozen(eq=False)
class NewCharges:
    """Prepares charges to one ledger.

    shared: whether others will read what is written, so that all of it must be fit to be read back.
    about: what all of them are about.
    """

    rule: Composition
    adjacency: Adjacency
    shared: bool
    about: About = NOTHING_SAID

    @staticmethod
    def to(store: EntryStore, rule: Composition, adjacency: Adjacency, about: About = NOTHING_SAID) -> "NewCharges":
        """For the ledger whose entries are there."""
        return NewCharges(rule, adjacency, store.shared, about)

    def of_release(self, cost: Cost, announced: str, account: str) -> NewCharge:
        """One release. announced: `Description.canonical`.

        Raises NotSpendable for what no ledger can say, BeyondFloats, and UnsupportedCost.
        """
        return self.of_plan(Plan.of(cost, 1), amount_of_release(self.rule, cost), None, announced, account)

    def of_plan(self, plan: Plan, amount: Amount, price: Price | None, announced: str, account: str) -> NewCharge:
        """A whole plan, as the sum of its costs or at a price.

        Raises NotSpendable for what no ledger can say, AdjacencyMismatch for a cost that its promise does not allow.
        """
        refuse_account(account)
        if min(amount) < 0:
            raise NotSpendable(f"{self.rule.name} composition counts less than 0: {amount!r}; nothing was charged")
        refuse_plan(plan, self.adjacency)
        best, route = (None, None) if price is None else (price.best, price.route)
        line = ChargeLine.of(
            account,
            self.adjacency,
            plan,
            announced=announced,
            price=best,
            route=route,
            about=self.about,
            amount=amount,
        )
        sample = line.at(0, 0, NOTHING)  # the rest of a line are numbers, which are fit for it
        refuse_bad_texts(sample)
        if self.shared:
            refuse_unreadable(0, "charged", sample)
        return NewCharge(account, amount, plan.rounds, line, bool(self.about), plan, best, self.about, announced)


def refuse_account(account: object) -> None:
    """Raise NotSpendable for what is no account's path."""
    if not isinstance(account, str) or not 0 < len(account) <= LONGEST_ACCOUNT:
        raise NotSpendable(f"account: expected a short text that says who or what is charged, got {account!r:.99}")
    if (reason := why_unreadable(account)) is not None:
        raise NotSpendable(f"account: {reason}. Nothing was charged; leave it out")
