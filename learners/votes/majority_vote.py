"""A majority vote of released hypotheses over a public schema: what boosting amounts to, and all that it keeps."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any, cast

import attrs
import numpy as np

from accountant.arrays import CodeArray, FloatArray
from learners.base import Calibration, ScoreBins
from learners.encoding import EncodedSample, Layout
from learners.tables import Schema
from learners.votes.binary_trees import Tree
from learners.votes.one_rules import CONSTANT, OneRule
from learners.votes.weak_learners import sequence


@attrs.frozen
class Vote:
    """One line of the vote table: net votes of a feature, as in the paper's Table 4.

    votes: of 1-Rules, positive votes speak for the positive class where the feature holds, against it where not. Of
    trees, how many splits ask for the feature. Of other hypotheses, how many are equal to the one that is named.
    """

    votes: int
    feature: str
    value: str


def _in_order(rules: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(rules)


@attrs.frozen(slots=False)
class VoteModel:
    """Majority vote of hypotheses. Everything here is post-processing of releases.

    schema: public, or public but for released cuts.
    rules: 1-Rules, trees or hypotheses of your own (see `CodeHypothesis`), in order.
    calibration: a released histogram of the votes; None leaves them as they are.
    Raises ValueError for a 1-Rule or a tree that asks for a feature which the schema lacks.
    """

    schema: Schema
    rules: tuple[Any, ...] = attrs.field(converter=_in_order)
    calibration: Calibration | None = None

    def __attrs_post_init__(self) -> None:
        for rule in (rule for rule in self.rules if isinstance(rule, OneRule | Tree)):
            if not rule.largest < self.layout.d:
                raise ValueError(f"{rule} does not fit a schema of {self.layout.d} features")

    @cached_property
    def layout(self) -> Layout:
        """Where the schema's features live among the codes."""
        return Layout(self.schema)

    @cached_property
    def _distinct(self) -> list[tuple[Any, int]]:
        """Each hypothesis with how often it was chosen; one that does not hash counts as different from all others."""
        if all(isinstance(rule, Hashable) for rule in self.rules):
            return list(Counter(self.rules).items())
        return [(rule, 1) for rule in self.rules]

    def scores(self, codes: CodeArray) -> FloatArray:
        """Mean vote per record, or calibrated log-odds, shape (n,). codes: shape (columns, n)."""
        votes = self.votes(codes)
        return votes if self.calibration is None else self.calibration.log_odds(votes)

    def votes(self, codes: CodeArray) -> FloatArray:
        """Mean vote per record, shape (n,), in [−1, 1]. codes: shape (columns, n)."""
        total = np.zeros(codes.shape[1], dtype=np.intp)
        for rule, votes in self._distinct:
            total += votes * rule.on_codes(self.layout, codes).astype(np.intp)
        return total / max(1, len(self.rules))

    @cached_property
    def net_votes(self) -> Counter[int]:
        """Of 1-Rules: feature number to signed votes; CONSTANT for the constant rules."""
        votes: Counter[int] = Counter()
        for rule in self.rules:
            if isinstance(rule, OneRule):
                votes[rule.feature] += rule.sign
        return votes

    @cached_property
    def splits(self) -> Counter[int]:
        """Of trees: feature number to how many splits ask for it."""
        return Counter(split.feature for tree in self.rules if isinstance(tree, Tree) for split in tree.splits)

    def table(self) -> list[Vote]:
        """What votes, the most frequent first; features whose votes cancel are left out."""
        names = {CONSTANT: ("(constant)", ""), **dict(enumerate(self.schema.features))}
        votes = [Vote(votes, *names[feature]) for feature, votes in (*self.net_votes.items(), *self.splits.items())]
        votes += [Vote(times, repr(rule), "") for rule, times in self._distinct if not isinstance(rule, OneRule | Tree)]
        return sorted(
            (vote for vote in votes if vote.votes), key=lambda vote: (-abs(vote.votes), vote.feature, vote.value)
        )

    def text(self) -> str:
        """Every hypothesis in words, in the order in which they were learnt."""
        return "\n\n".join(f"round {number}\n{self._words(rule)}" for number, rule in enumerate(self.rules, 1))

    def _words(self, rule: object) -> str:
        return rule.text(self.schema) if isinstance(rule, OneRule | Tree) else repr(rule)

    def as_record(self) -> dict[str, object]:
        """For JSON. Raises TypeError where a hypothesis has no form there: 1-Rules and trees do."""
        record: dict[str, object] = {"schema": self.schema.as_dict(), "rules": [_record(rule) for rule in self.rules]}
        return record if self.calibration is None else {**record, "calibration": self.calibration.as_record()}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "VoteModel":
        """The inverse of `as_record`. Raises ValueError for a malformed record."""
        try:
            schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
            kept = cast("Mapping[str, object] | None", record.get("calibration"))
            calibration = None if kept is None else Calibration.from_record(kept)
            return VoteModel(schema, tuple(_restored(rule) for rule in sequence(record["rules"])), calibration)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"expected a schema and rules: {error!r}") from error


@attrs.frozen
class VoteBinning:
    """Records in the bins of a model's votes."""

    model: VoteModel
    edges: tuple[float, ...]

    def __call__(self, sample: EncodedSample) -> ScoreBins:
        """See above."""
        return ScoreBins.of(self.model.votes(sample.codes), sample.labels, self.edges)


def _record(rule: object) -> object:
    if isinstance(rule, OneRule | Tree):
        return rule.as_record()
    raise TypeError(
        f"a {type(rule).__name__} cannot be saved, because JSON has nothing for it but for 1-Rules and trees; pickle "
        "the fitted model instead"
    )


def _restored(rule: object) -> OneRule | Tree:
    return Tree.from_record(rule) if isinstance(rule, Mapping) else OneRule.from_record(rule)
