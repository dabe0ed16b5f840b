"""What a policy says, as `policy_file` reads it."""

from collections.abc import Mapping

import attrs

from accountant.costs import ApproxDP
from accountant.exceptions import PolicyRefused


@attrs.frozen
class Limit:
    """A largest (ε, δ). where: the table of the file that sets it, as "limits.year"."""

    where: str
    most: ApproxDP

    def __str__(self) -> str:
        return f"[{self.where}] epsilon = {self.most.epsilon:g}, delta = {self.most.delta:g}"


@attrs.frozen
class DatasetLimits:
    """What the charges that concern a data set may come to: for good, and in each calendar year (UTC)."""

    total: Limit | None = None
    year: Limit | None = None

    def __bool__(self) -> bool:
        return self.total is not None or self.year is not None


@attrs.frozen
class Policy:
    """A policy. Where a field is None or empty, the file does not speak of it.

    source: where it stands, for messages.
    users, programs: who may open and charge, by what they say of themselves.
    adjacency, forbidden_adjacency, forbidden_composition: names of relations and rules.
    about: what each charge must say.  secure_noise: whether noise must come from the operating system's secure source.
    sub_budgets: that must be set aside before anything is charged.  sub_budgets_only: whether only they may pay.
    release: the most that one charge may cost.  each: limits of every data set.  named: of these, in their place.
    """

    source: str
    users: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    adjacency: tuple[str, ...] = ()
    forbidden_adjacency: tuple[str, ...] = ()
    forbidden_composition: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    secure_noise: bool = False
    sub_budgets: tuple[str, ...] = ()
    sub_budgets_only: bool = False
    release: Limit | None = None
    each: DatasetLimits = attrs.field(factory=DatasetLimits)
    named: Mapping[str, DatasetLimits] = attrs.field(factory=dict)

    @property
    def limits_datasets(self) -> bool:
        """Whether any data set has a limit, so that each charge must say which one it concerns."""
        return bool(self.each) or any(self.named.values())

    def limits_of(self, dataset: str) -> DatasetLimits:
        """What holds for a data set: its own limits, and those of every one where it has none of its own."""
        own = self.named.get(dataset)
        if own is None:
            return self.each
        return DatasetLimits(own.total or self.each.total, own.year or self.each.year)

    def dataset_limits(self) -> tuple[Limit, ...]:
        """All limits of data sets in the file."""
        pairs = (self.each, *self.named.values())
        return tuple(limit for pair in pairs for limit in (pair.total, pair.year) if limit is not None)


@attrs.frozen
class Violation:
    """A rule of a policy that is broken. rule: as it stands in the file.  found: what breaks it.  remedy: advice."""

    rule: str
    found: str
    remedy: str

    def refusal(self, policy: Policy) -> PolicyRefused:
        """The error, before anything is charged."""
        return PolicyRefused(policy.source, self.rule, self.found, self.remedy)
