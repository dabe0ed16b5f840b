"""Gradient boosting with private splits and leaves: DPBoost of Li, Wu, Wen and He (AAAI 2020), with the right bounds.

Trees are trained on disjoint shares of the records, so an ensemble costs what one tree costs. In a tree, every level
is one release (the splits of all its nodes) and all leaves are another.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, get_args

import attrs
import numpy as np
from scipy.special import expit

from accountant import (
    BoundedRange,
    Cost,
    Description,
    Ledger,
    Plan,
    Protected,
    PureDP,
    ReplaceOne,
    Step,
)
from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, down, open_probability, positive, up
from boosting import Spender
from learners.base import (
    Check,
    Domain,
    FitBudget,
    FitPlan,
    PrivateClassifier,
    Progress,
    RandomState,
    TablePlan,
    one_of,
    optional,
    public_seed,
    unweighted,
)
from learners.encoding import EncodedSample, Layout
from learners.tables import Classes, Table
from learners.trees.complete_trees import CodeSplit, CompleteTree, tree_depth
from learners.trees.gradient_trees import (
    LARGEST_VALUE,
    BoostedRecords,
    BoostedTreesModel,
    GradientTree,
    Growth,
    Large,
    Loss,
)
from mechanisms import (
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    Mechanism,
    PlainMechanism,
    Query,
    RangeSensitivity,
)
from mechanisms.core import Lane, Parallel, Partition, whole_plan
from mechanisms.gradients import (
    GAIN_ROUNDING,
    GRADIENT_UNIT,
    MOST_TREE_RECORDS,
    LevelChoice,
    gain_range,
    leaf_values_l1,
    leaf_values_l2,
)
from mechanisms.randomness import NoiseSource


@attrs.frozen
class TreeNoise:
    """How much noise a tree gets.

    level: width of the choice of a level's splits.  leaf: Δ/scale of all leaves, a μ where `gaussian`, else an ε.
    """

    level: float
    leaf: float
    gaussian: bool

    @staticmethod
    def of(strength: float, depth: int, leaf_share: float, *, gaussian: bool) -> "TreeNoise":
        """leaf_share of a tree's budget for leaves, the rest over its levels: of Σε, or of Σρ with Gaussian noise."""
        if gaussian:
            width = math.sqrt(8.0 * (1.0 - leaf_share) / depth)
            return TreeNoise(width * strength, math.sqrt(2.0 * leaf_share) * strength, gaussian=True)
        return TreeNoise((1.0 - leaf_share) * strength / depth, leaf_share * strength, gaussian=False)

    def plan(self, depth: int) -> Plan:
        """What one tree may cost. Its mechanisms round their scales towards more noise, so they stay within it."""
        leaves: Cost = (
            GaussianNoise(1.0 / self.leaf).cost(L2Sensitivity(1.0))
            if self.gaussian
            else LaplaceNoise(1.0 / self.leaf).cost(L1Sensitivity(1.0))
        )
        return Plan((Step(BoundedRange(up(self.level)), depth), Step(leaves, 1)))

    def splits(
        self, growth: Growth, above: tuple[CodeSplit, ...], n: int, noise: NoiseSource
    ) -> Mechanism[BoostedRecords, IntArray]:
        """The features of all nodes of the next level, shape (nodes,). above: splits so far.  n: of the lane."""
        bound = gain_range(n, growth.regularization)
        query: Query[BoostedRecords, FloatArray, RangeSensitivity] = Query(
            f"gradient-gains(n={n}, regularization={growth.regularization!r})",
            lambda records: growth.level_gains(records, above),
            bound,
            ReplaceOne(),
            ("dpboost-gain",),
        )
        # A lane of at most one record has no gains to tell apart, and a range of next to nothing.
        return PlainMechanism(query, LevelChoice(down(self.level / max(bound.value, GAIN_ROUNDING))), noise)

    def leaves(self, growth: Growth, tree: CompleteTree, noise: NoiseSource) -> Mechanism[BoostedRecords, FloatArray]:
        """The values of all leaves, shape (leaves,)."""
        name = f"gradient-leaves(regularization={growth.regularization!r}, bound={growth.bound!r})"
        regularization, bound = growth.regularization, growth.bound

        def values(records: BoostedRecords) -> FloatArray:
            return growth.leaf_values(records, tree)

        if self.gaussian:
            length = leaf_values_l2(regularization, bound)
            randomizer = GaussianNoise(up(length.value / self.leaf))
            return PlainMechanism(Query(name, values, length, ReplaceOne(), ("dpboost-leaf",)), randomizer, noise)
        sum_ = leaf_values_l1(regularization, bound)
        laplace = LaplaceNoise(up(sum_.value / self.leaf))
        return PlainMechanism(Query(name, values, sum_, ReplaceOne(), ("dpboost-leaf",)), laplace, noise)

    @property
    def spread(self) -> float:
        """Standard deviation of the noise on a leaf value, times 1 + λ, where nothing is clipped."""
        return 2.0 / self.leaf if self.gaussian else 2.0 * math.sqrt(2.0) / self.leaf

    @property
    def regularization(self) -> float:
        """The default λ: at least the paper's 0.1, and such that noise moves a leaf value by about a tenth."""
        return max(0.1, 10.0 * self.spread)


def shares(n: int, trees: int, learning_rate: float, generator: np.random.Generator) -> Partition:
    """Records shared out among the trees of an ensemble, the j-th in proportion to (1 − learning_rate)^j.

    By place in the table and public randomness: a replaced record stays in its share. Source: Li et al. 2020, Alg. 2.
    """
    weights = (1.0 - learning_rate) ** np.arange(trees)
    ends = np.floor(n * np.cumsum(weights) / np.sum(weights))
    ends[-1] = n
    order = np.searchsorted(ends, np.arange(n), side="right")
    return Partition(trees, generator.permutation(order))


@attrs.frozen(slots=False, eq=False)
class Grower:
    """Everything about a fit that is public: how its trees are grown, lane by lane.

    regularization: λ.
    """

    layout: Layout
    partitions: tuple[Partition, ...]
    amount: TreeNoise
    depth: int
    learning_rate: float
    regularization: float
    loss: Loss
    large: Large
    noise: NoiseSource
    on_round: Progress

    def growth(self, trees: tuple[GradientTree, ...]) -> Growth:
        """What the next tree is grown for."""
        bound = (1.0 - self.learning_rate) ** len(trees)
        return Growth(self.layout, trees, self.loss, self.large, self.regularization, bound)

    def forest(self, lanes: Sequence[Sequence[Lane[BoostedRecords]]]) -> tuple[GradientTree, ...]:
        """All trees, one after another, each from its own lane."""
        trees: tuple[GradientTree, ...] = ()
        for partition, members in zip(self.partitions, lanes, strict=True):
            sizes = np.bincount(partition.lanes, minlength=partition.number).tolist()
            for n, lane in zip(sizes, members, strict=True):
                trees = (*trees, self.tree(lane, trees, n))
                self.on_round(len(trees), trees[-1])
        return trees

    def tree(self, lane: Lane[BoostedRecords], before: tuple[GradientTree, ...], n: int) -> GradientTree:
        """The next tree: its levels from the root down, then its leaves."""
        growth, splits = self.growth(before), tuple[CodeSplit, ...]()
        for _ in range(self.depth):
            features = lane.release(self.amount.splits(growth, splits, n, self.noise))
            splits = (*splits, *(self._split(feature) for feature in features.tolist()))
        tree = CompleteTree(splits)
        noisy = self.learning_rate * lane.release(self.amount.leaves(growth, tree, self.noise)) / GRADIENT_UNIT
        values = np.rint(np.clip(noisy, -LARGEST_VALUE, LARGEST_VALUE)).astype(np.int64)
        return GradientTree(tree, tuple(values.tolist()))

    def _split(self, feature: int) -> CodeSplit:
        column, members = self.layout.feature(feature)
        return CodeSplit(column, tuple(np.flatnonzero(members).tolist()))

    def mechanism(self, budget: FitBudget) -> Parallel[BoostedRecords, tuple[GradientTree, ...]]:
        """All of it as one release, at the price of one lane per partition."""
        plan = self.amount.plan(self.depth)
        rule, delta = budget.composition, budget.plan_delta
        level = self.amount.level
        announced = Description(
            mechanism="DPBoost",
            query="gradient-boosting",
            parameters=(("depth", self.depth), ("level", level), ("leaf", self.amount.leaf)),
            norm="range",
            sensitivity=8.0,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("L2", "gdp" if self.amount.gaussian else "laplace", "dpboost-gain", "dpboost-leaf"),
        )
        return Parallel(self.partitions, plan, BoostedRecords.subset, _size, self.forest, announced, rule, delta)


def _size(records: BoostedRecords) -> int:
    return records.sample.n


class DPGradientBoostingClassifier(PrivateClassifier[BoostedTreesModel]):
    """DPBoost: gradient boosted trees on disjoint shares of the records. [dpboost-gain], [dpboost-leaf]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most (epsilon, delta),
    charged to the ledger in one entry before the first tree. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    n_estimators: how many trees (the paper takes 50, which needs a large epsilon).  ensemble: how many of them share
      out the records; an ensemble costs what one tree costs, and ensembles add up.
    depth: splits on every path, at most 16.
    learning_rate: in (0, 1). Tree t's leaves are clipped to (1 − learning_rate)^(t − 1) and scaled by it.
    regularization: λ > 0, added to the number of records of a leaf, so that noise on its value falls as 1/(1 + λ). None
      takes one for which that noise is about 0.1; the paper's is 0.1.
    leaf_share: of a tree's budget, in (0, 1); the rest is for its splits.
    loss: "square" or "logistic", from a score of 0: the paper's code starts from an average that nobody paid for.
    large: what happens to records whose gradient is above the one at score 0: "filter" leaves them out of a tree, as
      the paper does, "clip" keeps them at that gradient. Privacy is the same.
    seed: of the public draw of shares. No privacy depends on it.
    schema, classes, ledger, random_state: see `PrivateClassifier`.

    >>> import numpy as np
    >>> from learners.trees.gradient_boosting import DPGradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(4000, 5))
    >>> model = DPGradientBoostingClassifier(epsilon=2.0, n_estimators=4, ensemble=4, depth=2, random_state=0)
    >>> float(np.mean(model.fit(X, X[:, 2]).predict(X) == X[:, 2])) > 0.9
    True
    """

    _keeps = BoostedTreesModel
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateClassifier._checks,
        "n_estimators": count,
        "ensemble": count,
        "depth": tree_depth,
        "learning_rate": open_probability,
        "regularization": optional(positive),
        "leaf_share": open_probability,
        "loss": one_of(*get_args(Loss)),
        "large": one_of(*get_args(Large)),
        "seed": public_seed,
    }
    _renamed: ClassVar[Mapping[str, str]] = {"trees": "n_estimators"}

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        n_estimators: int = 5,
        ensemble: int = 5,
        depth: int = 3,
        learning_rate: float = 0.5,
        regularization: float | None = None,
        leaf_share: float = 0.5,
        loss: Loss = "square",
        large: Large = "filter",
        seed: int = 0,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.n_estimators = n_estimators
        self.ensemble = ensemble
        self.depth = depth
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.leaf_share = leaf_share
        self.loss = loss
        self.large = large
        self.seed = seed
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> TablePlan[BoostedTreesModel]:
        if unweighted(records).n > MOST_TREE_RECORDS:
            raise ValueError(f"expected at most 2^32 records, got {records.n}")
        schema, loss = records.layout.schema, self.loss
        listeners: list[Progress] = []  # all trees are one release, which is priced before anybody listens
        grower = self._grower(
            records.layout, records.n, budget, noise, lambda number, tree: listeners[-1](number, tree)
        )
        mechanism = grower.mechanism(budget)

        def run(charge: Spender, data: Protected[BoostedRecords], on_round: Progress) -> BoostedTreesModel:
            listeners.append(on_round)
            return BoostedTreesModel(schema, charge.release(mechanism, data), loss)

        shown = {"eta_": grower.amount.leaf}
        plan = FitPlan(Plan.of(mechanism.cost), ReplaceOne(), mechanism.description, run, shown=shown)
        return plan.of(BoostedRecords)

    def _grower(self, layout: Layout, n: int, budget: FitBudget, noise: NoiseSource, on_round: Progress) -> Grower:
        generator = np.random.default_rng(self.seed)
        sizes = [min(self.ensemble, self.n_estimators - start) for start in range(0, self.n_estimators, self.ensemble)]
        partitions = tuple(shares(n, size, self.learning_rate, generator) for size in sizes)
        amounts = []
        for gaussian in (False,) if isinstance(budget.target, PureDP) else (False, True):

            def plan(strength: float, gaussian: bool = gaussian) -> Plan:
                amount = TreeNoise.of(strength, self.depth, self.leaf_share, gaussian=gaussian)
                return whole_plan(amount.plan(self.depth), len(sizes))

            strength = budget.largest_eta(plan)
            amounts.append(TreeNoise.of(strength, self.depth, self.leaf_share, gaussian=gaussian))
        chosen = min(amounts, key=lambda each: each.spread)
        regularization = chosen.regularization if self.regularization is None else float(self.regularization)
        public = (self.depth, self.learning_rate, regularization, self.loss, self.large)
        return Grower(layout, partitions, chosen, *public, noise, on_round)

    def predict_proba(self, X: Table) -> FloatArray:
        """σ(score) for the logistic loss, the clipped estimate for the square one; shape (n, 2). Not calibrated."""
        scores = self.decision_function(X)
        share = expit(scores) if self._fitted().loss == "logistic" else np.clip(0.5 * (1.0 + scores), 0.0, 1.0)
        return np.column_stack([1.0 - share, share])
