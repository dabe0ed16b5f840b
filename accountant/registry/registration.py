"""A line of the registry: a ledger over a data set, with what it promised and what was last known of it."""

import json
from collections.abc import Mapping
from typing import cast

import attrs

from accountant.canonical_json import canonical
from accountant.composition import Amount, Composition, amount_from_record, amount_record, composition_from_record
from accountant.costs import (
    GDP,
    ZCDP,
    Adjacency,
    ApproxDP,
    Budget,
    PureDP,
    Unbounded,
    adjacency_from_record,
    adjacency_record,
    cost_from_dict,
)


@attrs.frozen
class Registration:
    """A ledger that was opened for a data set.

    ledger: its id.  location: where it is, without a password.  budget, rule, adjacency: its promise; the rule as it
    describes itself, since it may not be installed where the registry is read.
    time: when this was written; first: when the ledger was first opened for this data set; in nanoseconds since 1970.
    head, entries, drawn: of the ledger at `time`; the digest of its newest entry, their number, and their total.
    """

    ledger: str
    location: str
    dataset: str
    budget: Budget
    rule: Mapping[str, str | float] = attrs.field(eq=canonical)
    adjacency: Adjacency
    time: int
    head: str
    entries: int
    drawn: Amount
    first: int = 0

    @property
    def spent(self) -> Budget:
        """What it had spent at `time`, rounded up; the whole budget where its rule is not installed here."""
        try:
            composition: Composition = composition_from_record(self.rule)
        except ValueError:
            return self.budget
        return composition.guarantee(self.drawn, self.budget)

    def line(self, number: int) -> str:
        """As entry `number` of a registry."""
        return canonical(
            {
                "adjacency": adjacency_record(self.adjacency),
                "budget": self.budget.as_dict(),
                "dataset": self.dataset,
                "drawn": amount_record(self.drawn),
                "entries": self.entries,
                "head": self.head,
                "kind": "registered",
                "ledger": self.ledger,
                "location": self.location,
                "number": number,
                "rule": dict(self.rule),
                "time": self.time,
            }
        )

    @staticmethod
    def from_line(line: str) -> "Registration":
        """The inverse. Raises KeyError, TypeError or ValueError for anything else."""
        record = json.loads(line)
        budget = cost_from_dict(record["budget"])
        if not isinstance(budget, PureDP | ApproxDP | ZCDP | GDP | Unbounded):
            raise ValueError(f"{budget!r} is no budget")
        found = Registration(
            ledger=str(record["ledger"]),
            location=str(record["location"]),
            dataset=str(record["dataset"]),
            budget=budget,
            rule=cast("Mapping[str, str | float]", record["rule"]),
            adjacency=adjacency_from_record(record["adjacency"]),
            time=int(record["time"]),
            head=str(record["head"]),
            entries=int(record["entries"]),
            drawn=amount_from_record(record["drawn"]),
        )
        if found.line(record["number"]) != line:
            raise ValueError("it is written otherwise than a registry writes it")
        return found
