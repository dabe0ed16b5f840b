"""DP-TopDown: its cells against slow sums, its splits against a greedy learner, its limits, its costs."""

from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import BasicComposition, BoundedRange, LaplaceDP, Ledger, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from boosting import LazyBregman, Reweighted, boost
from learners.base.selection_rules import Selection
from learners.encoding.encoder import EncodedSample, Layout
from learners.tables.schema import Boolean, Categorical, Numeric, Schema
from learners.votes import top_down
from learners.votes.binary_trees import LeafSplit, Tree
from learners.votes.majority_vote import VoteModel
from learners.votes.one_rules import one_rules
from learners.votes.top_down import Criterion, Leaf, OpenLeaves, PrivateTopDown, WeightedTree, open_leaves
from mechanisms import SecureNoise, SeededNoise
from mechanisms.queries.weighted_queries import WEIGHT_ROUNDING, entropy, error, gini
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface

Record = tuple[int, int, int, int]

LAYOUT = Layout(
    Schema((Categorical("job", ("a", "b", "c")), Numeric("age", 0, 8, bins=4, encoding="thresholds"), Boolean("x")))
)
D = LAYOUT.d
RULES: tuple[Selection, ...] = ("exponential", "permute-and-flip")

records = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=25
)


def encoded(table: list[Record]) -> EncodedSample:
    columns = np.array(table, dtype=np.intp).T
    return EncodedSample(LAYOUT, np.ascontiguousarray(columns[:3]), np.where(columns[3] > 0, 1, -1).astype(np.int8))


def holds(record: Record, feature: int) -> bool:
    """The seven features, written out."""
    job, age, x, _ = record
    return [job == 0, job == 1, job == 2, age >= 1, age >= 2, age >= 3, x == 1][feature]


def reaches(record: Record, splits: tuple[LeafSplit, ...]) -> int:
    """A record's leaf, split by split."""
    leaf = 0
    for number, split in enumerate(splits, 1):
        if leaf == split.leaf and holds(record, split.feature):
            leaf = number
    return leaf


@st.composite
def paths(draw: st.DrawFn, largest: int = 5) -> tuple[LeafSplit, ...]:
    size = draw(st.integers(0, largest))
    return tuple(LeafSplit(draw(st.integers(0, number)), draw(st.integers(0, D - 1))) for number in range(size))


def weighted(table: list[Record], history: list[int], booster: LazyBregman) -> Reweighted[EncodedSample]:
    state = booster.start(encoded(table))
    for number in history:
        state = booster.step(state, one_rules(D)[number])
    return state


def grown(data: Reweighted[EncodedSample], splits: tuple[LeafSplit, ...]) -> WeightedTree:
    tree = WeightedTree.planted(data)
    for split in splits:
        tree = tree.after(split)
    return tree


def slow_cells(
    table: list[Record], shares: list[float], splits: tuple[LeafSplit, ...]
) -> tuple[FloatArray, FloatArray]:
    """Label weights per leaf, and per leaf and feature, record by record."""
    leaf, inside = np.zeros((len(splits) + 1, 2)), np.zeros((len(splits) + 1, D, 2))
    for record, share in zip(table, shares, strict=True):
        place = reaches(record, splits)
        leaf[place, record[3]] += share
        for feature in range(D):
            inside[place, feature, record[3]] += share * holds(record, feature)
    return leaf, inside


# --- cells -----------------------------------------------------------------------------------------------------------


@given(records, st.lists(st.integers(0, 2 * D + 1), max_size=4), paths())
def test_cells_are_the_weights_that_slow_sums_give(
    table: list[Record], history: list[int], splits: tuple[LeafSplit, ...]
) -> None:
    data = weighted(table, history, LazyBregman(0.4, 0.3))
    tree = grown(data, splits)
    leaf, inside = slow_cells(table, data.measure.distribution.tolist(), splits)
    everything = OpenLeaves(tree, tuple(range(len(splits) + 1)))
    assert np.abs(tree.leaf - leaf).max() < WEIGHT_ROUNDING
    assert np.abs(everything.leaf - leaf).max() < WEIGHT_ROUNDING
    assert np.abs(everything.inside - inside).max() < WEIGHT_ROUNDING
    assert tree.leaf.sum() == pytest.approx(1.0, abs=WEIGHT_ROUNDING)
    # Of a column with one feature per category, the features together are the leaf.
    assert np.abs(everything.inside[:, :3].sum(axis=1) - tree.leaf).max() < 1e-12


@given(records, st.lists(st.integers(0, 2 * D + 1), max_size=4), paths())
def test_sums_by_subtraction_are_the_sums(
    table: list[Record], history: list[int], splits: tuple[LeafSplit, ...]
) -> None:
    tree = grown(weighted(table, history, LazyBregman(0.4, 0.3)), splits)
    for leaf in tree.leaves:
        counted = Leaf(leaf.data, leaf.path)
        assert np.issubdtype(leaf.held.dtype, np.integer)
        assert np.array_equal(leaf.held, counted.held)
        assert np.array_equal(leaf.labels, Leaf(leaf.data, leaf.path).labels)
        assert np.array_equal(leaf.labels, counted.labels)


def test_rounding_head_room_covers_a_thousand_rounds() -> None:
    """Cells in double precision against exact rationals: per split within what `WEIGHT_ROUNDING` leaves for sums."""
    rng = np.random.default_rng(0)
    table = [tuple(row) for row in rng.integers(0, (3, 4, 2, 2), (400, 4)).tolist()]
    data = weighted(table, rng.integers(0, 2 * D + 2, 1000).tolist(), LazyBregman(0.3, 0.05))
    splits = (LeafSplit(0, 1), LeafSplit(0, 4), LeafSplit(1, 6))
    view = OpenLeaves(grown(data, splits), (0, 1, 2, 3))
    mass = Fraction(0.3) * 400
    leaf = [[Fraction(0)] * 2 for _ in range(4)]
    inside = [[[Fraction(0)] * 2 for _ in range(D)] for _ in range(4)]
    for record, weight in zip(table, data.measure.weights.tolist(), strict=True):
        place = reaches(record, splits)
        leaf[place][record[3]] += Fraction(weight) / mass
        for feature in range(D):
            inside[place][feature][record[3]] += Fraction(weight) / mass * holds(record, feature)
    assert np.abs(view.leaf - np.array(leaf, dtype=float)).sum() < WEIGHT_ROUNDING
    per_split = np.abs(view.inside - np.array(inside, dtype=float)).sum(axis=(0, 2))
    assert per_split.max() < WEIGHT_ROUNDING


# --- what is learnt --------------------------------------------------------------------------------------------------


def ledger() -> Ledger:
    return Ledger(PureDP(1e300), composition=BasicComposition(), adjacency=ReplaceOne())


def learnt(learner: PrivateTopDown, data: Reweighted[EncodedSample]) -> Tree:
    books = ledger()
    return learner.learn(books, books.protect(data), data.slickness)


@settings(max_examples=60)
@given(
    records,
    st.lists(st.integers(0, 2 * D + 1), max_size=3),
    st.sampled_from(["gini", "entropy", "error"]),
    st.sampled_from([(1, None), (3, None), (5, None), (3, 2), (5, 3)]),
    st.sampled_from(RULES),
)
def test_without_noise_it_is_greedy_top_down(
    table: list[Record],
    history: list[int],
    criterion: Criterion,
    limits: tuple[int, int | None],
    rule: Selection,
) -> None:
    """Every split improves as much as the best (leaf, feature) there is; every leaf gets its heavier label."""
    data = weighted(table, history, LazyBregman(0.4, 0.3))
    splits, depth = limits
    tree = learnt(PrivateTopDown(LAYOUT, 1e13, splits, depth, criterion, rule, noise=SeededNoise(0)), data)
    impurity = {"gini": gini, "entropy": entropy, "error": error}[criterion]
    shares = data.measure.distribution.tolist()
    for number, split in enumerate(tree.splits):
        leaf, inside = slow_cells(table, shares, tree.splits[:number])
        outside = np.maximum(leaf[:, None] - inside, 0.0)
        better = impurity(leaf)[:, None] - impurity(inside) - impurity(outside)
        assert better[split.leaf, split.feature] >= better[list(open_leaves(tree.splits[:number], depth))].max() - 1e-9
    gaps = np.diff(slow_cells(table, shares, tree.splits)[0], axis=1)[:, 0]
    assert all(label == np.sign(gap) for label, gap in zip(tree.labels, gaps.tolist(), strict=True) if abs(gap) > 1e-9)


def depths(splits: tuple[LeafSplit, ...]) -> list[int]:
    """Splits above each leaf, by walking up: a leaf's number was used by every split that it is below."""
    found = []
    for leaf in range(len(splits) + 1):
        number, above = leaf, 0
        for place in range(len(splits), 0, -1):
            split = splits[place - 1]
            if number == place:
                number, above = split.leaf, above + 1
            elif number == split.leaf:
                above += 1
        found.append(above)
    return found


@given(st.integers(0, 2**32), st.sampled_from([(1, 1), (3, 2), (2, 2), (7, 3), (6, 3), (6, None)]))
def test_split_and_depth_limits_hold_whatever_is_drawn(seed: int, limits: tuple[int, int | None]) -> None:
    splits, depth = limits
    learner = PrivateTopDown(LAYOUT, 1.0, splits, depth, noise=PinnedNoise(seed))
    tree = learnt(learner, LazyBregman(0.5, 0.5).start(encoded([(0, 0, 0, 0), (1, 2, 1, 1), (2, 3, 0, 1)])))
    assert len(tree.splits) == splits
    assert depth is None or max(depths(tree.splits)) <= depth
    assert open_leaves(tree.splits, depth) == tuple(
        leaf for leaf, above in enumerate(depths(tree.splits)) if depth is None or above < depth
    )
    if (splits, depth) in [(3, 2), (7, 3)]:
        assert open_leaves(tree.splits, depth) == ()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"splits": 0}, "at least 1"),
        ({"splits": 2, "depth": 1}, "allows at most 1, got 2"),
        ({"splits": 8, "depth": 3}, "allows at most 7, got 8"),
        ({"depth": 0}, "at least 1"),
        ({"depth": True}, "at least 1"),
        ({"eta": 0.0}, "positive"),
        ({"label_width": 0.0}, "positive"),
        ({"label_width": float("inf")}, "positive"),
        ({"criterion": "errors"}, "not one of 'gini', 'entropy', 'error'"),
        ({"selection": "noisy-max"}, "not one of 'exponential', 'permute-and-flip'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_at_birth(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        attrs.evolve(PrivateTopDown(LAYOUT, 1.0), **arguments)


class Sized(PinnedNoise):
    """Remembers among how many candidates each choice was."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.sizes: list[int] = []

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        self.sizes.append(scores.size)
        return super().exponential_choice(scores, eta)


@given(records, st.integers(0, 2**32), st.sampled_from([None, 3]))
def test_how_many_candidates_there_are_does_not_depend_on_the_data(
    table: list[Record], seed: int, depth: int | None
) -> None:
    """Empty leaves stay: all records alike leave most of them empty."""
    sizes = []
    for sample in (table, [table[0]] * len(table)):
        noise = Sized(seed)
        tree = learnt(PrivateTopDown(LAYOUT, 1.0, 5, depth, noise=noise), LazyBregman(0.5, 0.5).start(encoded(sample)))
        expected = [D * len(open_leaves(tree.splits[:number], depth)) for number in range(5)] + [2] * 6
        assert noise.sizes == expected
        sizes.append(noise.sizes)
    assert sizes[0] == sizes[1]


def test_boosted_trees_show_nothing_but_releases() -> None:
    def fit(table: tuple[Record, ...], noise: PinnedNoise) -> VoteModel:
        books, booster, learner = ledger(), LazyBregman(0.5, 0.5), PrivateTopDown(LAYOUT, 1.0, 4, 3, noise=noise)
        sample = encoded(list(table))
        return VoteModel(LAYOUT.schema, boost(books.protect(sample), sample.n, booster, learner, 3, books))

    distant = [Pair(((0, 0, 0, 0), (1, 2, 1, 1), (2, 3, 0, 1)), ((2, 3, 1, 1), (0, 1, 1, 0), (0, 1, 1, 0)))]
    assert {"rules", "schema", "layout"} <= set(check_fitted_surface(fit, distant))


def test_it_boosts_with_secure_noise() -> None:
    table: list[Record] = [(0, 0, 0, 0), (1, 2, 1, 1), (2, 3, 0, 1)] * 5
    books, booster, learner = ledger(), LazyBregman(0.5, 0.5), PrivateTopDown(LAYOUT, 500.0)
    assert isinstance(learner.noise, SecureNoise)
    trees = boost(books.protect(encoded(table)), 15, booster, learner, 3, books)
    found = VoteModel(LAYOUT.schema, trees).scores(encoded(table).codes)
    assert np.array_equal(np.sign(found), encoded(table).labels)


# --- costs -----------------------------------------------------------------------------------------------------------

CERTIFICATE = LazyBregman(0.5, 0.5).slickness(1000, 5)


def test_splits_cost_eight_eta_zeta_and_all_labels_as_much_as_one_split() -> None:
    """[001-criterion-range], [001-leaf-labels]; half of the paper's 16tηζ, whose labels cost as much as all splits."""
    zeta = CERTIFICATE.zeta
    costs = PrivateTopDown(LAYOUT, 3.0, splits=4).costs(CERTIFICATE)
    assert all(isinstance(cost, BoundedRange) for cost in costs)
    assert [cost.epsilon for cost in costs if isinstance(cost, BoundedRange)] == pytest.approx(
        [3.0 * 8 * zeta * (1 - zeta)] * 5, rel=1e-6
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("label_width", [0.25, 1.0, 4.0])
def test_label_width_is_in_widths_of_one_split(criterion: Criterion, label_width: float) -> None:
    learner = PrivateTopDown(LAYOUT, 3.0, 2, criterion=criterion, label_width=label_width)
    split, other, labels = learner.costs(CERTIFICATE)
    assert split == other
    assert isinstance(split, BoundedRange)
    assert isinstance(labels, BoundedRange)
    assert labels.epsilon == pytest.approx(label_width * split.epsilon, rel=1e-12)
    query = top_down.CRITERIA[criterion]
    assert split.epsilon == pytest.approx(3.0 * query.sensitivity(CERTIFICATE.zeta).value, rel=1e-12)


def test_permute_and_flip_is_not_charged_as_bounded_range() -> None:
    sharp, flat = (PrivateTopDown(LAYOUT, 3.0, 1, selection=rule).costs(CERTIFICATE) for rule in RULES)
    assert isinstance(sharp[0], BoundedRange)
    assert isinstance(flat[0], LaplaceDP)
    assert flat[0].epsilon == sharp[0].epsilon
    assert flat[1] == sharp[1]


def test_the_books_name_both_queries_and_their_claims() -> None:
    said = PrivateTopDown(LAYOUT, 3.0, splits=4).announced(CERTIFICATE)
    assert said.query == "gini-improvement, leaf-gaps"
    assert dict(said.parameters)["splits"] == 4
    assert {"001-Thm9", "001-criterion-range", "001-leaf-labels", "L0"} <= set(said.claims)
    assert said.private
    assert '"splits":4' in said.canonical
