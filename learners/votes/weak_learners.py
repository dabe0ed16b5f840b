"""What a booster needs of a weak learner and of its hypotheses, and the part that all of them share.

A weak learner of your own is a class of a few lines, see `RobustLearner`; `LazyBoostClassifier(weak_learner=...)`
takes anything that is called as `(layout, eta, noise)` and returns one.
"""

import abc
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

import attrs
import numpy as np

from accountant import Cost, Description, Protected
from accountant.arrays import CodeArray, ExactArray, FloatArray, SignArray
from boosting import Reweighted, Spender
from boosting.measures import BoundedMeasure
from learners.encoding import CellIndex, EncodedSample, Layout, as_shares, cell_sums
from learners.tables import Schema
from mechanisms import NoiseSource, RobustMechanism, Slickness
from mechanisms.core import CertifiedMechanism

H_co = TypeVar("H_co", covariant=True)

Weighted: TypeAlias = Reweighted[EncodedSample]
"""What each round learns from: records, wherever they are, with the weights that released hypotheses give them."""

Robust: TypeAlias = RobustMechanism[Any, Any, Any, Any]


class CodeHypothesis(abc.ABC):
    """A classifier of encoded records. It must be a release, or follow from releases and public numbers."""

    @abc.abstractmethod
    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        """h(x) for unlabelled codes of shape (columns, n); shape (n,), each −1 or +1."""

    def predictions(self, sample: EncodedSample) -> SignArray:
        """h(xᵢ) for every record, shape (n,)."""
        return self.on_codes(sample.layout, sample.codes)


@attrs.frozen(slots=False, eq=False)
class WeightedPartition:
    """A weighted sample in the cells of a public partition: what `mechanisms.LEAF_GAPS` and its like ask for.

    cells: from records to the cell of each, shape (k,): of a record, and of what is public or released, alone.
    number: how many cells there are; public.
    """

    data: Weighted
    cells: Callable[[EncodedSample], CodeArray]
    number: int

    @property
    def slickness(self) -> Slickness:
        """The certificate of the weighting."""
        return self.data.slickness

    @cached_property
    def leaf(self) -> FloatArray:
        """Σ μ̂(i) per cell and label, shape (number, 2), label −1 first: exact sums of whole units, over any blocks."""
        cells, number = self.cells, self.number

        def summed(sample: EncodedSample, measure: BoundedMeasure) -> ExactArray:
            places = 2 * cells(sample).astype(np.int32) + (sample.labels > 0)
            return cell_sums(measure, CellIndex(places[:, None].astype(np.int32, copy=False), 2 * number))

        return as_shares(self.data.total(summed), self.data.n).reshape(-1, 2)


def two_classes(schema: Schema) -> tuple[str, str]:
    """What the signs −1 and +1 are called. Raises ValueError for a schema with more classes."""
    classes = ("−1", "+1") if schema.label is None else schema.label.classes
    if len(classes) != 2:
        raise ValueError(f"a hypothesis has two labels, the schema has the classes {classes}")
    return classes[0], classes[1]


def sequence(value: object) -> Sequence[object]:
    """A list, as JSON gives it. Raises ValueError."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected a list, got {value!r}")
    return value


def whole(value: object, size: int) -> list[int]:
    """A list of that many whole numbers. Raises ValueError."""
    numbers = sequence(value)
    if len(numbers) != size or any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
        raise ValueError(f"expected {size} whole numbers, got {value!r}")
    return cast("list[int]", list(numbers))


class RoundLearner(Protocol[H_co]):
    """Buys one hypothesis a round. `RobustLearner` writes two of the three methods."""

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """What one round under this certificate will cost, release by release."""

    def announced(self, slickness: Slickness) -> Description:
        """What the ledger's entry says about a plan of such rounds."""

    def learn(self, spender: Spender, data: Protected[Weighted], slickness: Slickness) -> H_co:
        """One hypothesis for the weighted sample, paid through `spender`."""


LearnerFactory: TypeAlias = Callable[[Layout, float, NoiseSource], RoundLearner[CodeHypothesis]]
"""Makes the weak learner of a fit: (public layout, inverse noise scale η > 0, noise source).

Costs must rise with η, as the booster looks for the largest η whose plan of all rounds keeps the budget; and they must
not depend on the layout, which is known only after the plan where cuts are released first.
"""


class RobustLearner(abc.ABC, Generic[H_co]):
    """A weak learner whose rounds are fixed lists of robust mechanisms.

    A subclass lists them in `releases` and draws from them in `learn`, in that order; what a round costs and what the
    ledger says about it follow.
    """

    @abc.abstractmethod
    def releases(self, zeta: float) -> Sequence[Robust]:
        """The mechanisms of one round in order, priced up to ζ. Must depend on public numbers only."""

    @abc.abstractmethod
    def learn(self, spender: Spender, data: Protected[Weighted], slickness: Slickness) -> H_co:
        """See `RoundLearner`. Each release is `spender.release(mechanism.under(slickness), data.map(view))`."""

    def certified(self, slickness: Slickness) -> Sequence[CertifiedMechanism[Any, Any, Any, Any]]:
        """The mechanisms of one round under its certificate, made once for all rounds that have the same."""
        if slickness not in self._certified:
            self._certified[slickness] = [robust.under(slickness) for robust in self.releases(slickness.zeta)]
        return self._certified[slickness]

    @cached_property
    def _certified(self) -> dict[Slickness, Sequence[CertifiedMechanism[Any, Any, Any, Any]]]:
        return {}

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """The declared costs of `releases`."""
        return tuple(robust.robust_cost.cost for robust in self.releases(slickness.zeta))

    def announced(self, slickness: Slickness) -> Description:
        """The first release, with names, queries and claims of those that differ from it."""
        said = list(dict.fromkeys(robust.under(slickness).description for robust in self.releases(slickness.zeta)))
        if len(said) == 1:
            return said[0]
        return attrs.evolve(
            said[0],
            mechanism=f"{type(self).__name__} of {', '.join(dict.fromkeys(each.mechanism for each in said))}",
            query=", ".join(dict.fromkeys(each.query for each in said)),
            claims=tuple(dict.fromkeys(claim for each in said for claim in each.claims)),
            private=all(each.private for each in said),
        )
