"""DP-TopDown: a decision tree grown best-first by private splits, with private labels. Source: 001, Algorithm 2."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant import BoundedRange, Cost, Description, LaplaceDP, Protected
from accountant.arrays import ExactArray, FloatArray
from accountant.costs import count, positive
from boosting import Spender
from learners.base import Selection, choosing, selection
from learners.encoding import HeldWeights, Layout, Path, as_shares
from learners.votes.binary_trees import LeafSplit, Tree
from learners.votes.weak_learners import Robust, RobustLearner, Weighted
from mechanisms import (
    ENTROPY_IMPROVEMENT,
    ERROR_IMPROVEMENT,
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    LeafLabels,
    NoiseSource,
    RangeSensitivity,
    RobustQuery,
    RobustSelection,
    SecureNoise,
    Slickness,
)
from mechanisms.queries import WeightedCells, WeightedLeaves

Criterion: TypeAlias = Literal["gini", "entropy", "error"]


@attrs.frozen(slots=False, eq=False)
class Leaf:
    """The records of one leaf under a weighting. Sums are of `learners.encoding.weighted_sums`: whole, and so without
    order.

    path: how records get there.
    parent, sibling: where given, sums are the parent's less the (lighter) sibling's.
    """

    data: Weighted
    path: Path = ()
    parent: "Leaf | None" = None
    sibling: "Leaf | None" = None

    @cached_property
    def held(self) -> ExactArray:
        """Weight per feature and label, then that of all records, shape (d + 1, 2): a visit, or none."""
        if self.parent is not None and self.sibling is not None:
            return np.asarray(self.parent.held - self.sibling.held, dtype=np.int64)
        return self.data.total(HeldWeights(self.path))

    @cached_property
    def labels(self) -> FloatArray:
        """The weight of each label, shape (2,), label −1 first."""
        return as_shares(self._labels, self.data.n)

    @cached_property
    def _labels(self) -> ExactArray:
        if self.parent is None:
            return np.asarray(self.held[-1], dtype=np.int64)
        feature, inside = self.path[-1]
        having = self.parent.held[feature]
        return np.asarray(having if inside else self.parent._labels - having, dtype=np.int64)

    @cached_property
    def inside(self) -> FloatArray:
        """The same among the records that have a feature, shape (d, 2)."""
        return as_shares(self.held[:-1], self.data.n)

    def cut(self, feature: int) -> tuple["Leaf", "Leaf"]:
        """Its records without the feature and with it. Only the lighter ones are ever visited."""
        without, having = ((*self.path, (feature, wanted)) for wanted in (False, True))
        inside = self.held[feature]
        if 2 * int(inside.sum()) < int(self._labels.sum()):
            small = Leaf(self.data, having, self)
            return Leaf(self.data, without, self, small), small
        small = Leaf(self.data, without, self)
        return small, Leaf(self.data, having, self, small)


@attrs.frozen(slots=False, eq=False)
class WeightedTree:
    """A weighted sample in the leaves of a public tree, as `mechanisms.queries.weighted_queries.WeightedLeaves` asks
    for it."""

    leaves: tuple[Leaf, ...]

    @staticmethod
    def planted(data: Weighted) -> "WeightedTree":
        """All records in one leaf."""
        return WeightedTree((Leaf(data),))

    @property
    def slickness(self) -> Slickness:
        """The certificate of the weighting."""
        return self.leaves[0].data.slickness

    @property
    def leaf(self) -> FloatArray:
        """The weight of each label in each leaf, shape (leaves, 2), label −1 first."""
        return np.array([leaf.labels for leaf in self.leaves])

    def after(self, split: LeafSplit) -> "WeightedTree":
        """The same once a split is released."""
        leaves = list(self.leaves)
        leaves[split.leaf], new = leaves[split.leaf].cut(split.feature)
        return WeightedTree((*leaves, new))


@attrs.frozen(slots=False, eq=False)
class OpenLeaves:
    """Those leaves that may be split, each cut by every feature: `mechanisms.queries.weighted_queries.WeightedCells`
    without the rest.

    open: numbers of leaves, which must follow from the released splits alone. Scores of fewer leaves are some of the
    scores of all, so the range of their change is no larger.
    """

    tree: WeightedTree
    open: tuple[int, ...]

    @property
    def slickness(self) -> Slickness:
        """The certificate of the weighting."""
        return self.tree.slickness

    @property
    def leaf(self) -> FloatArray:
        """See `WeightedTree`, shape (open leaves, 2)."""
        return np.array([self.tree.leaves[number].labels for number in self.open])

    @property
    def inside(self) -> FloatArray:
        """The part where a feature holds, shape (open leaves, d, 2)."""
        return np.array([self.tree.leaves[number].inside for number in self.open])


def open_leaves(splits: Sequence[LeafSplit], depth: int | None) -> tuple[int, ...]:
    """The leaves with fewer than `depth` splits above them, or all. Empty ones included: that they are is private."""
    above = [0]
    for split in splits:
        above[split.leaf] += 1
        above.append(above[split.leaf])
    return tuple(number for number, splits_above in enumerate(above) if depth is None or splits_above < depth)


NOT_MORE: Final = 1.0 - 2.0**-48
"""Keeps rounding from making labels cost more than what they are planned at."""

CRITERIA: Final[dict[Criterion, RobustQuery[WeightedCells, FloatArray, RangeSensitivity]]] = {
    "gini": GINI_IMPROVEMENT,
    "entropy": ENTROPY_IMPROVEMENT,
    "error": ERROR_IMPROVEMENT,
}


def check_criterion(name: Criterion) -> Criterion:
    if name not in CRITERIA:
        raise ValueError(f"criterion: {name!r} is not one of {', '.join(map(repr, CRITERIA))}")
    return name


def check_depth(value: int | None) -> int | None:
    return None if value is None else count(value)


@attrs.frozen(slots=False)
class PrivateTopDown(RobustLearner[Tree]):
    """DP-TopDown: `splits` private choices of (leaf, feature), then all labels in one release. [001-Thm9]

    layout: public.  eta: inverse noise scale of a split, per unit of improvement; positive.
    splits: t >= 1; a tree has t + 1 leaves.
    depth: the most splits above any leaf; None for no limit. Raises ValueError where it does not allow t splits.
    criterion: "gini"; "entropy", whose sensitivity is about ¼·log₂(e/ζ) times as large; or "error", what a split adds
      to the accuracy of labelled leaves, with a quarter of Gini's sensitivity.
    selection: see `learners.base.selection_rules.choosing`.
    label_width: the width of the labels' release, in widths of one split. The paper's is t, which under zCDP costs t
      times as much as all splits together. On Adult at ε = 1, δ = 1e-5, values from 1/2 to 2 did not differ; where ε
      adds up, as for δ = 0, it has not been tuned.
    noise: where randomness comes from.

    Costs, for certificates up to ζ: η·8ζ(1 − ζ) per split for Gini [001-criterion-range], η·2ζ for errors
    [error-improvement], label_width times that for all labels [001-leaf-labels]; bounded range throughout, but splits
    by permute-and-flip are LaplaceDP.
    """

    layout: Layout
    eta: float = attrs.field(converter=positive)
    splits: int = attrs.field(default=3, converter=count)
    depth: int | None = attrs.field(default=None, converter=check_depth)
    criterion: Criterion = attrs.field(default="gini", converter=check_criterion)
    selection: Selection = attrs.field(default="exponential", converter=selection)
    label_width: float = attrs.field(default=1.0, converter=positive)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    def __attrs_post_init__(self) -> None:
        if self.depth is not None and self.splits.bit_length() > self.depth:
            raise ValueError(f"splits: depth {self.depth} allows at most {2**self.depth - 1}, got {self.splits}")

    def split_mechanism(self, zeta: float) -> RobustSelection[WeightedCells]:
        """What each split is released from, priced up to ζ."""
        return choosing(self.selection, CRITERIA[self.criterion], self.eta, zeta, self.noise)

    def label_mechanism(self, zeta: float) -> LeafLabels[WeightedLeaves]:
        """What all labels are released from, priced up to ζ at no more than label_width splits."""
        ratio = CRITERIA[self.criterion].sensitivity(zeta).value / LEAF_GAPS.sensitivity(zeta).value
        return LeafLabels(LEAF_GAPS, self.label_width * ratio * self.eta * NOT_MORE, zeta, self.noise)

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """splits + 1 releases a round. Labels as wide as a split cost just as much, so that plans have few steps."""
        *splits, labels = super().costs(slickness)
        same = BoundedRange(splits[0].epsilon) if isinstance(splits[0], BoundedRange | LaplaceDP) else labels
        return (*splits, same if self.label_width == 1.0 else labels)

    def releases(self, zeta: float) -> Sequence[Robust]:
        """All splits, then the labels."""
        return (*[self.split_mechanism(zeta)] * self.splits, self.label_mechanism(zeta))

    def announced(self, slickness: Slickness) -> Description:
        """What the ledger's entry says about a plan of such rounds: as a split, with the labels' query and claims."""
        said = super().announced(slickness)
        own = (("splits", self.splits), ("label_width", self.label_width))
        return attrs.evolve(said, parameters=(*said.parameters, *own))

    def learn(self, spender: Spender, data: Protected[Weighted], slickness: Slickness) -> Tree:
        """See `RoundLearner`."""
        *choices, label = self.certified(slickness)
        splits = list[LeafSplit]()
        state = data.map(WeightedTree.planted)
        for choose in choices:
            candidates = open_leaves(splits, self.depth)
            chosen = spender.release(choose, state.map(partial(OpenLeaves, open=candidates)))
            place, feature = divmod(chosen, self.layout.d)
            splits.append(LeafSplit(candidates[place], feature))
            state = state.map(partial(WeightedTree.after, split=splits[-1]))
        labels = spender.release(label, state)
        return Tree(tuple(splits), tuple(labels.tolist()))
