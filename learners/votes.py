"""An integral vote over Boolean features: what boosted 1-Rules amount to, and all that is ever released."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

import attrs
import numpy as np

from boosting.measures import FloatArray
from learners.encoding import Layout
from learners.one_rule import CONSTANT, OneRule
from learners.schema import IntArray, Schema


@attrs.frozen
class Vote:
    """One line of the vote table: net votes of a feature, as in the paper's Table 4.

    votes: positive votes speak for the positive class where the feature holds, against it where not.
    """

    votes: int
    feature: str
    value: str


@attrs.frozen(slots=False)
class VoteModel:
    """Majority vote of 1-Rules over a public schema. Everything here is post-processing of releases."""

    schema: Schema
    rules: tuple[OneRule, ...] = attrs.field(converter=tuple[OneRule, ...])

    @cached_property
    def layout(self) -> Layout:
        """Where the schema's features live among the codes."""
        return Layout(self.schema)

    @cached_property
    def net_votes(self) -> Counter[int]:
        """Feature number to signed votes; CONSTANT for the constant rules."""
        votes: Counter[int] = Counter()
        for rule in self.rules:
            votes[rule.feature] += rule.sign
        return votes

    @cached_property
    def _tables(self) -> tuple[int, list[IntArray]]:
        """The constant votes, and for each column the votes that each of its codes collects."""
        tables = [np.zeros(column.cells, dtype=np.intp) for column in self.schema.columns]
        for feature, votes in self.net_votes.items():
            if feature != CONSTANT:
                column, members = self.layout.feature(feature)
                tables[column] += np.where(members, votes, -votes)
        return self.net_votes[CONSTANT], tables

    def scores(self, codes: IntArray) -> FloatArray:
        """Mean vote per record, shape (n,), in [−1, 1]. codes: shape (columns, n)."""
        constant, tables = self._tables
        total = np.full(codes.shape[1], constant, dtype=np.intp)
        for table, column in zip(tables, codes, strict=True):
            if table.any():
                total += table[column]
        return total / max(1, len(self.rules))

    def table(self) -> list[Vote]:
        """Features with a net vote, most votes first."""
        features = self.schema.features
        named = [
            Vote(votes, *(features[feature] if feature != CONSTANT else ("(constant)", "")))
            for feature, votes in self.net_votes.items()
            if votes
        ]
        return sorted(named, key=lambda vote: (-abs(vote.votes), vote.feature, vote.value))

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"schema": self.schema.as_dict(), "rules": [[rule.feature, rule.sign] for rule in self.rules]}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "VoteModel":
        """The inverse of `as_record`. Raises ValueError for a rule that the schema has no feature for."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        rules = cast("Sequence[Sequence[int]]", record["rules"])
        model = VoteModel(schema, tuple(OneRule(int(feature), int(sign)) for feature, sign in rules))
        for rule in model.rules:
            if not CONSTANT <= rule.feature < model.layout.d or rule.sign not in (-1, 1):
                raise ValueError(f"{rule} does not fit a schema of {model.layout.d} features")
        return model
