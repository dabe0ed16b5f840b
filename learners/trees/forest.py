"""A private random forest: trees drawn without data, whose leaves alone are learned.

The splits come from the public schema and a public seed, as in extremely randomised trees, so they cost nothing.
What costs is how the labels fall into the leaves: label counts with noise, or one label per leaf.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias, cast, get_args

import attrs
import numpy as np
from scipy.special import expit

from accountant import Ledger, Plan, Protected, PureDP, ReplaceOne
from accountant.arrays import CodeArray, FloatArray, IntArray, SignArray
from accountant.costs import count
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
    public_seed,
    unweighted,
)
from learners.encoding import EncodedSample
from learners.tables import Classes, Schema, Table
from learners.trees.complete_trees import CompleteTree, random_tree, tree_depth
from mechanisms import GaussianNoise, LaplaceNoise, LeafLabelChoice, Mechanism, PlainMechanism, Query
from mechanisms.core import L1Sensitivity, L2Sensitivity
from mechanisms.queries import counts_l1, counts_l2
from mechanisms.randomness import NoiseSource

Leaves: TypeAlias = Literal["counts", "labels"]
Share: TypeAlias = Literal["all", "disjoint"]

LeafValues: TypeAlias = FloatArray | SignArray


@attrs.frozen(eq=False)
class ForestPlan:
    """Trees whose leaves are released together, and which records each of them sees; all of it public.

    trees: of one depth.  lanes: the tree of each record, shape (n,), by its place in the table; None shows every
    record to the one tree there is.
    """

    trees: tuple[CompleteTree, ...]
    lanes: IntArray | None = None

    @property
    def leaves(self) -> int:
        """Of all trees together."""
        return sum(tree.leaves for tree in self.trees)

    def check(self, sample: EncodedSample) -> None:
        """Raise ValueError where the lanes are of another number of records."""
        if self.lanes is not None and self.lanes.size != sample.n:
            raise ValueError(f"the records of this forest were shared out for n = {self.lanes.size}, got {sample.n}")

    def places(self, codes: CodeArray) -> IntArray:
        """The leaf of each record among all leaves, shape (n,): every record is in one leaf of one tree."""
        if self.lanes is None:
            return self.trees[0].leaf(codes)
        places = np.empty(codes.shape[1], dtype=np.intp)
        for number, tree in enumerate(self.trees):
            mine = np.flatnonzero(self.lanes == number)
            places[mine] = tree.leaf(codes[:, mine]) + number * tree.leaves
        return places

    def counts(self, sample: EncodedSample) -> FloatArray:
        """Records per leaf and label, shape (leaves, 2), label −1 first; integers."""
        slot = 2 * self.places(sample.codes) + (sample.labels > 0)
        return np.bincount(slot, minlength=2 * self.leaves).reshape(-1, 2).astype(np.float64)

    def gaps(self, sample: EncodedSample) -> FloatArray:
        """Records labelled +1 minus records labelled −1, shape (leaves,); integers."""
        counts = self.counts(sample)
        return np.asarray(counts[:, 1] - counts[:, 0])


def leaf_counts(grove: ForestPlan) -> Query[EncodedSample, FloatArray, L1Sensitivity]:
    """Label counts of all leaves: ℓ1 sensitivity 2 under replace-one, whatever the number of trees. [forest-leaves]

    A record is in one leaf of the grove, the tree given by its place in the table: replaced, it leaves one count and
    enters another of the same tree. Counts are integers, so no rounding adds to that.
    """
    moved = counts_l1(ReplaceOne())
    return Query("forest-leaf-counts", grove.counts, moved, ReplaceOne(), ("forest-leaves",), grove.check)


def leaf_counts_l2(grove: ForestPlan) -> Query[EncodedSample, FloatArray, L2Sensitivity]:
    """The same in ℓ2: √2, one count down and another up. [forest-leaves]"""
    moved = counts_l2(ReplaceOne())
    return Query("forest-leaf-counts", grove.counts, moved, ReplaceOne(), ("forest-leaves",), grove.check)


def leaf_gaps(grove: ForestPlan) -> Query[EncodedSample, FloatArray, L1Sensitivity]:
    """Label gaps of all leaves, ℓ1 sensitivity 2: a flipped label puts both on one leaf. [forest-leaves]"""
    moved = counts_l1(ReplaceOne())
    return Query("forest-leaf-gaps", grove.gaps, moved, ReplaceOne(), ("forest-leaves",), grove.check)


def _labels(eta: float, grove: ForestPlan, noise: NoiseSource) -> Mechanism[EncodedSample, LeafValues]:
    return PlainMechanism(leaf_gaps(grove), LeafLabelChoice(eta), noise)


def _laplace(eta: float, grove: ForestPlan, noise: NoiseSource) -> Mechanism[EncodedSample, LeafValues]:
    return PlainMechanism(leaf_counts(grove), LaplaceNoise(1.0 / eta), noise)


def _gaussian(eta: float, grove: ForestPlan, noise: NoiseSource) -> Mechanism[EncodedSample, LeafValues]:
    return PlainMechanism(leaf_counts_l2(grove), GaussianNoise(1.0 / eta), noise)


@attrs.frozen
class LeafNoise:
    """How leaves are released. eta: inverse noise scale.  deviation: of the noise on a count, 0 for labels."""

    build: Callable[[float, ForestPlan, NoiseSource], Mechanism[EncodedSample, LeafValues]]
    eta: float
    deviation: float


def _least_noise(leaves: Leaves, budget: FitBudget, groves: Sequence[ForestPlan], noise: NoiseSource) -> LeafNoise:
    """The least noise that the budget pays for, over the randomizers that there are for such leaves."""
    randomizers = [(_labels, 0.0)] if leaves == "labels" else [(_laplace, math.sqrt(2.0))]
    if leaves == "counts" and not isinstance(budget.target, PureDP):
        randomizers.append((_gaussian, 1.0))
    found = []
    for build, unit in randomizers:

        def plan(eta: float, build: Callable[..., Mechanism[EncodedSample, LeafValues]] = build) -> Plan:
            return Plan.of(build(eta, groves[0], noise).cost, len(groves))

        eta = budget.largest_eta(plan)
        found.append(LeafNoise(build, eta, unit / eta))
    return min(found, key=lambda each: each.deviation)


@attrs.frozen(slots=False)
class ForestModel:
    """Public trees with released leaves.

    released: noisy counts, shape (trees, leaves, 2), or labels −1 and +1, shape (trees, leaves).
    deviation: public standard deviation of the noise on a count; 0 for labels.
    """

    schema: Schema
    trees: tuple[CompleteTree, ...] = attrs.field(converter=tuple[CompleteTree, ...])
    released: FloatArray = attrs.field(eq=attrs.cmp_using(eq=np.array_equal))
    deviation: float

    def __attrs_post_init__(self) -> None:
        leaves = {tree.leaves for tree in self.trees}
        shape = (len(self.trees), *leaves)
        if len(leaves) != 1 or self.released.shape not in (shape, (*shape, 2)):
            raise ValueError(f"{self.released.shape} released values do not fit {len(self.trees)} trees")

    @property
    def counted(self) -> bool:
        """Whether counts were released."""
        return self.released.ndim == 3

    @cached_property
    def prior(self) -> float:
        """Log-odds of the second class over all leaves, from the noisy counts."""
        negative, positive = np.maximum(self.released.sum(axis=(0, 1)), 0.0) + self._pseudo
        return float(np.log(positive / negative))

    @property
    def _pseudo(self) -> float:
        return max(1.0, self.deviation)

    @cached_property
    def votes(self) -> FloatArray:
        """What each leaf says, shape (trees, leaves): its label, or its log-odds beyond the prior.

        Counts below 0 count as 0, and every leaf is given as many records as the noise may be off by, twice, labelled
        like the whole. A column appears in about trees·depth/columns of the splits, and evidence that is told so
        often is divided by that.
        """
        if not self.counted:
            return self.released
        share = expit(self.prior)
        counts = np.maximum(self.released, 0.0) + 2.0 * self._pseudo * np.array([1.0 - share, share])
        repeats = len(self.trees) * self.trees[0].depth / len(self.schema.columns)
        return np.asarray((np.log(counts[..., 1] / counts[..., 0]) - self.prior) / max(1.0, repeats))

    def scores(self, codes: CodeArray) -> FloatArray:
        """Log-odds of the second class, or the mean label where labels were released; shape (n,)."""
        total = np.zeros(codes.shape[1])
        for tree, votes in zip(self.trees, self.votes, strict=True):
            total += votes[tree.leaf(codes)]
        return total + self.prior if self.counted else total / len(self.trees)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "schema": self.schema.as_dict(),
            "trees": [tree.as_record() for tree in self.trees],
            "released": self.released.tolist(),
            "deviation": self.deviation,
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "ForestModel":
        """The inverse of `as_record`. Raises ValueError where trees, leaves and schema do not fit together."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        trees = cast("Sequence[Sequence[Sequence[object]]]", record["trees"])
        released = np.array(record["released"], dtype=np.float64)
        if not np.all(np.isfinite(released)):
            raise ValueError("released: expected finite numbers")
        grown = tuple(CompleteTree.from_record(tree, schema) for tree in trees)
        return ForestModel(schema, grown, released, float(cast("float", record["deviation"])))


class DPRandomForestClassifier(PrivateClassifier[ForestModel]):
    """Random trees with private leaves. [forest-leaves]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most (epsilon, delta),
    charged to the ledger in one entry before the first release. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    n_estimators: how many trees.  depth: splits on every path, at most 16.
    leaves: "counts" releases label counts with Laplace or (where that is less, and delta > 0) Gaussian noise and adds
      up log-odds; "labels" releases one label a leaf by the exponential mechanism, for a majority vote.
    share: "all" shows every record to every tree and charges every tree; "disjoint" gives each record to one tree, by
      its place in the table, and charges one. At equal cost counts of "all" are never noisier for the whole forest.
    seed: of the public draws: splits, and which records go where. No privacy depends on it.
    schema, classes, ledger, random_state: see `PrivateClassifier`.

    >>> import numpy as np
    >>> from learners.trees.forest import DPRandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 5))
    >>> model = DPRandomForestClassifier(epsilon=1.0, n_estimators=8, depth=3, random_state=0).fit(X, X[:, 2])
    >>> float(np.mean(model.predict(X) == X[:, 2])) > 0.9
    True
    """

    _keeps = ForestModel
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateClassifier._checks,
        "n_estimators": count,
        "depth": tree_depth,
        "leaves": one_of(*get_args(Leaves)),
        "share": one_of(*get_args(Share)),
        "seed": public_seed,
    }
    _renamed: ClassVar[Mapping[str, str]] = {"trees": "n_estimators"}

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        n_estimators: int = 20,
        depth: int = 6,
        leaves: Leaves = "counts",
        share: Share = "all",
        seed: int = 0,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.n_estimators = n_estimators
        self.depth = depth
        self.leaves = leaves
        self.share = share
        self.seed = seed
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> TablePlan[ForestModel]:
        schema = unweighted(records).layout.schema
        groves = self._groves(schema, records.n)
        chosen = _least_noise(self.leaves, budget, groves, noise)
        mechanisms = [chosen.build(chosen.eta, grove, noise) for grove in groves]

        def run(charge: Spender, data: Protected[EncodedSample], on_round: Progress) -> ForestModel:
            found = []
            for number, mechanism in enumerate(mechanisms, 1):
                found.append(charge.release(mechanism, data))
                on_round(number, found[-1])
            trees = tuple(tree for grove in groves for tree in grove.trees)
            values = np.concatenate(found).astype(np.float64)
            released = values.reshape(len(trees), trees[0].leaves, *values.shape[1:])
            return ForestModel(schema, trees, released, chosen.deviation)

        plan = Plan.of(mechanisms[0].cost, len(mechanisms))
        return FitPlan(plan, ReplaceOne(), mechanisms[0].description, run, shown={"eta_": chosen.eta})

    def _groves(self, schema: Schema, n: int) -> list[ForestPlan]:
        """What is released together: the whole forest where each record has one tree, else tree by tree."""
        generator = np.random.default_rng(self.seed)
        trees = tuple(random_tree(schema, self.depth, generator) for _ in range(self.n_estimators))
        if self.share == "all":
            return [ForestPlan((tree,)) for tree in trees]
        return [ForestPlan(trees, generator.permutation(np.arange(n) % self.n_estimators))]

    def predict_proba(self, X: Table) -> FloatArray:
        """Probabilities from the log-odds, or shares of the labels; shape (n, 2). Neither is calibrated."""
        scores = self.decision_function(X)
        share = expit(scores) if self._fitted().counted else 0.5 * (1.0 + scores)
        return np.column_stack([1.0 - share, share])
