"""What a policy says of a promise, of who opens, and of a charge: the rules that each breaks."""

from collections.abc import Iterator
from typing import Final, Protocol

import attrs

from accountant.audit import in_symbols
from accountant.composition import (
    NOTHING,
    Amount,
    BasicComposition,
    Composition,
    Plan,
    UnsupportedBudget,
    UnsupportedCost,
)
from accountant.costs import Adjacency, ApproxDP, exact, float_down
from accountant.entries import About, Account
from accountant.policies.policy import Limit, Policy, Violation
from accountant.policies.running_sums import DatasetSums, year_of


@attrs.frozen(eq=False)
class PolicyCharge:
    """A charge as a policy sees it.

    private: whether it announced noise of the secure source; None where it announced no mechanism.
    payer: the path of the sub-budget that pays.
    """

    about: About
    time: int
    amount: Amount
    plan: Plan
    price: ApproxDP | None
    private: bool | None
    payer: str


@attrs.frozen
class OtherLedgers:
    """What other ledgers may still come to over a data set: (ε, δ), by which limits on it are lowered.

    ledgers: how many.  why_not: why no number can be given, else "".
    """

    ledgers: int = 0
    epsilon: float = 0.0
    delta: float = 0.0
    why_not: str = ""


class Outside(Protocol):
    """Whoever knows of other ledgers."""

    def others_of(self, dataset: str) -> OtherLedgers:
        """The others over this data set, under this ledger's own relation."""


_LOWER: Final = "Lower the cost or the number of rounds, or ask whoever keeps the policy"


class Checks:
    """The checks of one policy on one ledger. rule, adjacency: of the ledger."""

    def __init__(self, policy: Policy, rule: Composition, adjacency: Adjacency) -> None:
        self.policy, self._rule, self._adjacency = policy, rule, adjacency
        self._ceilings: dict[ApproxDP, Amount | None] = {}

    # --- at opening -------------------------------------------------------------------------------------

    def promise(self) -> Iterator[Violation]:
        """What is wrong with the ledger's promise."""
        policy, relation, rule = self.policy, self._adjacency.name, self._rule.name
        if policy.adjacency and relation not in policy.adjacency:
            yield Violation(
                f"[promise] adjacency = {list(policy.adjacency)}",
                f"the ledger promises {relation}",
                "Open one that promises an allowed relation",
            )
        if relation in policy.forbidden_adjacency:
            yield Violation(
                f"[promise] forbidden_adjacency = {list(policy.forbidden_adjacency)}",
                f"the ledger promises {relation}",
                "Open one that promises another relation",
            )
        if rule in policy.forbidden_composition:
            yield Violation(
                f"[promise] forbidden_composition = {list(policy.forbidden_composition)}",
                f"the ledger adds up by {rule} composition",
                "Open one with another rule",
            )
        for limit in policy.dataset_limits():
            if self._ceiling(limit.most) is None:
                yield Violation(
                    str(limit),
                    f"{rule} composition cannot keep this (ε, δ), so every charge would be refused",
                    "Give the limit a larger delta, or open a ledger with another rule",
                )

    def person(self, about: About) -> Iterator[Violation]:
        """What is wrong with who opens or charges."""
        policy = self.policy
        program, *_ = about.program.split(", ")
        if policy.users and about.user not in policy.users:
            yield Violation(
                f"[open] users = {list(policy.users)}",
                f"the user is {about.user!r}" if about.user else "no user is said",
                "Open as one of these: About(user=...), or EXCHEQUER_RECORD=user",
            )
        if policy.programs and not {about.program, program} & {*policy.programs}:
            yield Violation(
                f"[open] programs = {list(policy.programs)}",
                f"the program is {about.program!r}" if about.program else "no program is said",
                "Use one of these: About(program=...), or EXCHEQUER_RECORD=program",
            )

    # --- at a charge --------------------------------------------------------------------------------------

    def charge(
        self, charge: PolicyCharge, sums: DatasetSums, accounts: dict[str, Account], outside: Outside | None = None
    ) -> Iterator[Violation]:
        """What is wrong with the next charge. sums, accounts: after all entries before it."""
        policy = self.policy
        if policy.users or policy.programs:
            yield from self.person(charge.about)
        if policy.about:
            yield from self._about(charge.about)
        if policy.secure_noise and charge.private is not True:
            yield self._noise(charge)
        if policy.sub_budgets or policy.sub_budgets_only:
            yield from self._sub_budgets(charge, accounts)
        if policy.release is not None and not self._costs_at_most(charge, policy.release.most):
            yield Violation(
                str(policy.release), f"this charge costs {self._said(charge.amount, policy.release)}", _LOWER
            )
        if policy.limits_datasets:
            yield from self._limits(charge, sums, outside)

    def _about(self, about: About) -> Iterator[Violation]:
        missing = [name for name in self.policy.about if not getattr(about, name)]
        if missing:
            yield Violation(
                f"[about] required = {list(self.policy.about)}",
                f"the charge does not say its {', '.join(missing)}",
                f"Say it: ledger.concerning(About({missing[0]}=...)), --about {missing[0]}=..., or the environment",
            )

    def _noise(self, charge: PolicyCharge) -> Violation:
        unsaid = charge.private is None
        return Violation(
            '[noise] source = "secure"',
            "no mechanism is announced, so its noise is unknown" if unsaid else "the noise is simulated",
            "Announce it: reserve(plan, mechanism=m.description)" if unsaid else "Use SecureNoise, without a seed",
        )

    def _sub_budgets(self, charge: PolicyCharge, accounts: dict[str, Account]) -> Iterator[Violation]:
        missing = [path for path in self.policy.sub_budgets if path not in accounts]
        if missing:
            yield Violation(
                f"[sub_budgets] required = {list(self.policy.sub_budgets)}",
                f"there is no sub-budget {missing[0]!r} yet",
                "Set it aside first: ledger.allocate, or `exchequer ledger allocate`",
            )
        if self.policy.sub_budgets_only and not charge.payer:
            yield Violation(
                "[sub_budgets] only = true",
                "what is not set aside would pay",
                "Charge a sub-budget: ledger.sub_budget, or --account",
            )

    def _costs_at_most(self, charge: PolicyCharge, most: ApproxDP) -> bool:
        """By the ledger's rule, or by its ε and δ as they stand: both bound the loss."""
        ceiling = self._ceiling(most)
        if ceiling is not None and charge.amount.within(ceiling):
            return True
        try:
            stand = _BASIC.amount(charge.price) if charge.price is not None else charge.plan.amount(_BASIC)
        except UnsupportedCost:
            return False
        return stand.within(_BASIC.ceiling(most))

    def _limits(self, charge: PolicyCharge, sums: DatasetSums, outside: Outside | None) -> Iterator[Violation]:
        dataset, year = charge.about.dataset, year_of(charge.time)
        if not dataset:
            first = self.policy.dataset_limits()[0]
            yield Violation(
                str(first),
                "the charge does not say which data set it concerns",
                "Say it: ledger.concerning(About(dataset=...)), --about dataset=..., or EXCHEQUER_DATASET",
            )
            return
        limits = self.policy.limits_of(dataset)
        others = OtherLedgers() if outside is None or not limits else outside.others_of(dataset)
        for limit, before, when in (
            (limits.total, sums.total(dataset), ""),
            (limits.year, sums.in_year(dataset, year), f" in {year}"),
        ):
            if limit is not None and (found := self._over(charge, limit, before, others)):
                yield Violation(str(limit), f"data set {dataset!r}{when}: {found}", _LOWER)

    def _over(self, charge: PolicyCharge, limit: Limit, before: Amount, others: OtherLedgers) -> str:
        """What the charge would take above the limit; "" where it stays within."""
        if others.why_not:
            return others.why_not
        ceiling = self._ceiling(limit.most) if not others.ledgers else self._lowered(limit.most, others)
        if ceiling is not None and before.plus(charge.amount).within(ceiling):
            return ""
        said = (
            f"it was charged {self._said(before, limit)}, and would be {self._said(before.plus(charge.amount), limit)}"
        )
        if not others.ledgers:
            return said
        rest = in_symbols(ApproxDP(others.epsilon, others.delta))
        return f"{said}; {others.ledgers} other ledger(s) over it count with their whole budgets, {rest}"

    def _lowered(self, most: ApproxDP, others: OtherLedgers) -> Amount | None:
        """What is left for this ledger, by basic composition with the others' whole budgets."""
        return self._ceiling(_less(most, others))

    def _ceiling(self, most: ApproxDP | None) -> Amount | None:
        """A limit in the rule's unit; None where the rule cannot keep it."""
        if most is None:
            return None
        if most not in self._ceilings:
            found: Amount | None
            try:
                found = self._rule.ceiling(most)
            except (UnsupportedBudget, ValueError, ArithmeticError):
                found = NOTHING if not most.epsilon else None
            self._ceilings[most] = found
        return self._ceilings[most]

    def _said(self, amount: Amount, limit: Limit) -> str:
        """An amount as (ε, δ), rounded up; where the rule has none at that δ, in its own unit."""
        if not amount.loss_units and not amount.delta_units:
            return "nothing"
        try:
            return in_symbols(self._rule.guarantee(amount, limit.most))
        except (UnsupportedBudget, ValueError, ArithmeticError):
            return f"{self._rule.unit} of {amount!r}"


_BASIC: Final = BasicComposition()


def _less(most: ApproxDP, others: OtherLedgers) -> ApproxDP | None:
    """The limit less what others may come to, rounded down; None where nothing is left."""
    epsilon, delta = exact(most.epsilon) - exact(others.epsilon), exact(most.delta) - exact(others.delta)
    if epsilon < 0 or delta < 0:
        return None
    return ApproxDP(float_down(epsilon), float_down(delta))
