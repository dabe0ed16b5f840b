"""1-Rules: a signed literal over one Boolean feature, or a constant; and their private choice."""

from functools import cached_property
from typing import Final

import attrs
import numpy as np

from accountant import Protected, ReplaceOne
from accountant.arrays import CodeArray, FloatArray, SignArray
from accountant.costs import positive, up
from boosting import Reweighted, Spender
from learners.base import Selection, choosing, selection
from learners.encoding import EncodedSample, LabelSums, Layout, as_shares, literal_signs
from learners.tables import Schema
from learners.votes.weak_learners import CodeHypothesis, RobustLearner, two_classes, whole
from mechanisms import NoiseSource, RangeSensitivity, RobustQuery, RobustSelection, SecureNoise, Slickness

CONSTANT: Final = -1
"""The feature number of the constant rule."""

SCORE_ROUNDING: Final = 2.0**-35
"""Bound on how far rounding can widen the range of a change of scores (absolute, scores in [−1, 0]).

Sums are exact, see `learners.encoding.weighted_sums`, but for the weights in them: each is off by half of 2^-36 of the
mean weight, so all of them together by 2^-37 of the mass. A weight is exp of a number below 2^12, so off by at most
2^-41 of itself, and its scale by as much again: 2^-40 of the mass. A score is half of such a sum, off by less than
2^-37.8; twice for two samples, and twice for a range.
"""


@attrs.frozen
class OneRule(CodeHypothesis):
    """h(x) = sign·x_feature with x in {−1, +1}; the constant `sign` where feature is CONSTANT."""

    feature: int
    sign: int

    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        """See `CodeHypothesis`."""
        if self.feature == CONSTANT:
            return np.full(codes.shape[1], self.sign, dtype=np.int8)
        return literal_signs(layout, codes, self.feature, self.sign)

    def text(self, schema: Schema) -> str:
        """As a question and its two answers. Raises ValueError for a schema with other than two classes."""
        no, yes = two_classes(schema)[:: self.sign]
        if self.feature == CONSTANT:
            return yes
        column, value = schema.features[self.feature]
        return f"{column}: {value}?\n  no: {no}\n  yes: {yes}"

    def as_record(self) -> list[int]:
        """For JSON."""
        return [self.feature, self.sign]

    @staticmethod
    def from_record(record: object) -> "OneRule":
        """The inverse of `as_record`. Raises ValueError for a malformed record."""
        rule = OneRule(*whole(record, 2))
        if rule.feature < CONSTANT or rule.sign not in (-1, 1):
            raise ValueError(f"{rule} does not fit a schema: expected a feature number and a sign")
        return rule

    @property
    def largest(self) -> int:
        """The largest feature number that it asks for; CONSTANT for none."""
        return self.feature


def one_rules(d: int) -> list[OneRule]:
    """All candidates over d features: d literals, their negations, +1 and −1; 2d + 2 in this order."""
    literals = [OneRule(feature, sign) for sign in (1, -1) for feature in range(d)]
    return [*literals, OneRule(CONSTANT, 1), OneRule(CONSTANT, -1)]


def one_rule_scores(data: Reweighted[EncodedSample]) -> FloatArray:
    """−err of every candidate under the weighting, shape (2d + 2,), in the order of `one_rules`."""
    sums = as_shares(data.total(LabelSums()), data.n)
    inside, everything = sums[:-1], sums[-1]
    correlation = 2.0 * inside - everything
    both = np.concatenate([correlation, -correlation, [everything, -everything]])
    return 0.5 * (both - 1.0)


def one_rule_sensitivity(zeta: float) -> RangeSensitivity:
    """Range 2ζ, half of what the paper's linf bound of 2ζ gives. [001-Thm6]"""
    return RangeSensitivity(up(2.0 * zeta + SCORE_ROUNDING))


ONE_RULE_ERRORS: Final[RobustQuery[Reweighted[EncodedSample], FloatArray, RangeSensitivity]] = RobustQuery(
    "one-rule-errors", one_rule_scores, one_rule_sensitivity, ReplaceOne(), ("L1", "001-Thm6")
)


@attrs.frozen(slots=False)
class PrivateOneRule(RobustLearner[OneRule]):
    """DP-1R: a 1-Rule by a private selection. Source: 001, section 4.1.

    layout: public.  eta: inverse noise scale per unit of weighted error, positive.
    selection: see `learners.base.selection_rules.choosing`.
    Costs: one release a round, of ε = eta·(2ζ + rounding): BoundedRange, or LaplaceDP by permute-and-flip.
    """

    layout: Layout
    eta: float = attrs.field(converter=positive)
    noise: NoiseSource = attrs.field(factory=SecureNoise)
    selection: Selection = attrs.field(default="exponential", converter=selection)

    @cached_property
    def _candidates(self) -> list[OneRule]:
        return one_rules(self.layout.d)

    def mechanism(self, zeta: float) -> RobustSelection[Reweighted[EncodedSample]]:
        """What one round releases from, priced up to ζ."""
        return choosing(self.selection, ONE_RULE_ERRORS, self.eta, zeta, self.noise)

    def releases(self, zeta: float) -> tuple[RobustSelection[Reweighted[EncodedSample]]]:
        """The one that a round makes."""
        return (self.mechanism(zeta),)

    def learn(self, spender: Spender, data: Protected[Reweighted[EncodedSample]], slickness: Slickness) -> OneRule:
        """See `RoundLearner`."""
        (choice,) = self.certified(slickness)
        chosen: int = spender.release(choice, data)
        return self._candidates[chosen]
