"""Sensitivities of gradient boosting: ours exhaustively and in the limit, and what is wrong with the printed ones."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import ExponentialChoice, L1Sensitivity, LaplaceNoise, LInfSensitivity, PlainSelection, Query
from mechanisms.core.sensitivity import L2Sensitivity, RangeSensitivity
from mechanisms.gradients.tree_gradients import (
    LARGEST,
    LevelChoice,
    gain_range,
    gains,
    leaf_values,
    leaf_values_l1,
    leaf_values_l2,
)
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    ScriptedNoise,
    check_learner,
    check_mechanism,
    check_sensitivity,
    neighbours,
)

Record = tuple[int, int, int, float]
"""Node, two features, and a gradient; a gradient of NaN is a record that the filter leaves out."""
Records = tuple[Record, ...]
OUT = math.nan


def gains_of(records: Records, regularization: float, nodes: int = 1) -> FloatArray:
    """Gains by `gains`, shape (nodes, 2)."""
    totals, inside = np.zeros((nodes, 2)), np.zeros((nodes, 2, 2))
    for node, *features, gradient in records:
        if not math.isnan(gradient):
            cell = np.array([1.0, round(gradient * LARGEST)])
            totals[node] += cell
            inside[node] += np.outer(features, cell)
    return gains(totals, inside, regularization)


def choices(table: FloatArray) -> FloatArray:
    """Σ over nodes for every way to choose one candidate a node: what the joint release scores."""
    return np.array([sum(ways) for ways in itertools.product(*table.tolist())])


def gain_query(n: int, regularization: float, nodes: int = 1) -> Query[Records, FloatArray, RangeSensitivity]:
    return Query(
        "gains",
        lambda records: choices(gains_of(records, regularization, nodes)),
        gain_range(n, regularization),
        ReplaceOne(),
    )


# --- gains -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularization", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(("n", "nodes"), [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2)])
def test_no_replacement_widens_gains_beyond_the_bound(n: int, nodes: int, regularization: float) -> None:
    """[dpboost-gain] Every sample of n records, two features, gradients −1, 0.4, 1 or left out, on one or two nodes."""
    gradients = (-1.0, 0.4, 1.0, OUT) if n < 3 else (-1.0, 1.0)
    features = [(0, 0), (0, 1), (1, 0), (1, 1)] if nodes == 1 else [(0, 1), (1, 0), (1, 1)]
    records = [(node, a, b, g) for node in range(nodes) for a, b in features for g in gradients]
    report = check_sensitivity(gain_query(n, regularization, nodes), neighbours(ReplaceOne(), records, n))
    assert report.ratio <= 1.0


def limit(half: int) -> Pair[Records]:
    """Both features tell signs apart; a record agrees with the second, and then with the first."""
    base: Records = ((0, 1, 1, 1.0),) * half + ((0, 0, 0, -1.0),) * half
    return Pair((*base, (0, 0, 1, 1.0)), (*base, (0, 1, 0, 1.0)))


def farthest(positive: int, negative: int) -> Pair[Records]:
    """As `limit`, with as many others of either sign as one likes."""
    base: Records = ((0, 1, 1, 1.0),) * positive + ((0, 0, 0, -1.0),) * negative
    return Pair((*base, (0, 0, 1, 1.0)), (*base, (0, 1, 0, 1.0)))


@pytest.mark.parametrize("regularization", [0.1, 1.0, 7.5, 200.0, 3000.0])
@pytest.mark.parametrize("n", [2, 3, 5, 24, 200])
def test_the_range_of_gains_is_attained(n: int, regularization: float) -> None:
    """[dpboost-gain] By the best of all ways to divide the others, so 10 % less fails."""
    query = gain_query(n, regularization)
    ratios = [check_sensitivity(query, [farthest(p, n - 1 - p)]).ratio for p in range(n)]
    assert 0.99999 < max(ratios) <= 1.0
    less = attrs.evolve(query, sensitivity=RangeSensitivity(0.9 * query.sensitivity.value))
    with pytest.raises(ClaimViolated):
        check_sensitivity(less, [farthest(int(np.argmax(ratios)), n - 1 - int(np.argmax(ratios)))])


Divided = tuple[int, int, int, float, float, float, float]


@given(
    st.tuples(
        *[st.integers(0, 30)] * 3, st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)
    ),
    st.floats(0.05, 500.0),
)
def test_no_others_in_both_children_widen_the_range(divided: Divided, regularization: float) -> None:
    """[dpboost-gain] u others in both children, p and q in one only, of any gradients: real sums, any a."""
    u, p, q, a, both, one, other = divided
    v, w = u + p + regularization, u + q + regularization

    def change(total: float, weight: float) -> float:
        return (a * a + 2.0 * a * total - total * total / weight) / (weight + 1.0)

    told = change(u * both + p * one, v) - change(u * both + q * other, w)
    target(told / max(0.5 * gain_range(u + p + q + 1, regularization).value, 1e-9))
    assert told <= 0.5 * gain_range(u + p + q + 1, regularization).value + 1e-12


@pytest.mark.parametrize("regularization", [1e-3, 0.1, 1.0, 30.0, 1e3, 1e6])
def test_the_best_division_of_others_is_found(regularization: float) -> None:
    """[dpboost-gain] Against all of them; and it is at most the sum of both extremes."""
    for n in (2, 3, 4, 10, 1000):
        p = np.arange(n - 1.0)
        w, v = p + regularization, n - 1 - p + regularization
        rise = 1.0 - regularization**2 / (w * (w + 1.0))
        fall = 3.0 - (4.0 + 4.0 * regularization - regularization**2 / v) / (v + 1.0)
        found, best = gain_range(n, regularization).value, float(np.max(2.0 * (rise + fall)))
        assert best <= found <= best * (1.0 + 1e-9) + 1e-9
        assert found <= 8.0 * (n - 1) / (n + regularization) + 1e-9
    assert gain_range(2**32, regularization).value <= 8.0 + 2.0**-13


@pytest.mark.parametrize("half", [200, 5000])
def test_eight_is_approached_so_a_tenth_less_is_caught(half: int) -> None:
    query = gain_query(2 * half + 1, 0.1)
    assert check_sensitivity(query, [limit(half)]).ratio > 0.985
    with pytest.raises(ClaimViolated):
        check_sensitivity(
            attrs.evolve(query, sensitivity=RangeSensitivity(0.9 * query.sensitivity.value)), [limit(half)]
        )


def test_one_record_in_two_nodes_widens_both() -> None:
    """Why a level is not charged by parallel composition: the record leaves one node and enters another."""
    base: Records = tuple((node, *side, g) for node in (0, 1) for side, g in (((1, 1), 1.0), ((0, 0), -1.0))) * 300
    pair = Pair((*base, (0, 0, 1, 1.0)), (*base, (1, 1, 0, 1.0)))
    query = gain_query(1201, 0.1, nodes=2)
    assert check_sensitivity(query, [pair]).ratio > 0.98

    def one(records: Records, node: int) -> float:
        return float(np.diff(gains_of(records, 0.1, 2)[node])[0])

    for node in (0, 1):
        assert abs(one(pair.after, node) - one(pair.before, node)) < 4.0


def test_the_bound_is_at_most_what_every_n_shares_and_nothing_for_one_record() -> None:
    values = [gain_range(n, 0.1).value for n in (0, 1, 2, 10, 10**6)]
    assert values[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert values == sorted(values)
    assert values[-1] < 8.0 + 1e-6


def absolute(records: Records) -> FloatArray:
    return gains_of(records, 0.1).ravel()


def test_the_printed_gain_sensitivity_holds_for_adding_a_record_and_not_for_replacing_one() -> None:
    """[dpboost-3g2] Lemma 1 says 3g². Adding or removing: the supremum. Replacing: 4(m − 1)/(m + λ), up to 4."""
    records = [(0, a, b, g) for a, b in ((0, 1), (1, 0)) for g in (-1.0, 0.3, 1.0)]
    printed = LInfSensitivity(3.0)
    added = Query("gains", absolute, printed, AddRemoveOne())
    assert check_sensitivity(added, neighbours(AddRemoveOne(), records, 3)).ratio < 1.0
    many: Records = ((0, 1, 1, 1.0),) * 500
    assert 0.98 < check_sensitivity(added, [Pair(many, (*many, (0, 1, 1, -1.0)))]).ratio < 1.0
    six: Records = ((0, 1, 1, 1.0),) * 6
    replaced = Query("gains", absolute, printed, ReplaceOne())
    with pytest.raises(ClaimViolated):
        check_sensitivity(replaced, [Pair((*six, (0, 1, 1, 1.0)), (*six, (0, 1, 1, -1.0)))])


def test_the_printed_split_costs_a_third_more_than_its_budget_under_replace_one() -> None:
    """[dpboost-3g2] exp(ε·G/(2·3g²)): many copies of one candidate against its opposite lose up to 4ε/3."""
    epsilon, pair = 1.0, limit(2000)

    def copies(records: Records) -> FloatArray:
        first, second = gains_of(records, 0.1)[0].tolist()
        return np.array([first, *[second] * 60])

    query = Query("gains", copies, RangeSensitivity(6.0), ReplaceOne())
    printed = PlainSelection(query, ExponentialChoice(epsilon / 6.0))
    with pytest.raises(ClaimViolated):
        check_mechanism(printed, [pair])
    laws = pair.map(printed.log_probabilities)
    assert float(np.max(np.abs(laws.after - laws.before))) > 1.25 * epsilon
    ours = PlainSelection(attrs.evolve(query, sensitivity=gain_range(4001, 0.1)), ExponentialChoice(epsilon / 8.0))
    assert 0.95 < check_mechanism(ours, [pair]).ratio <= 1.0


def test_a_level_is_drawn_node_by_node_at_one_joint_cost() -> None:
    randomizer = LevelChoice(0.7)
    tables = Pair(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.5, 0.0], [2.0, 1.0]]))
    moved = float(np.ptp(choices(tables.after) - choices(tables.before)))

    def run(which: int, noise: ScriptedNoise) -> tuple[int, ...]:
        return tuple(randomizer.draw(tables[which], noise).tolist())

    cost = randomizer.cost(RangeSensitivity(moved))
    assert check_learner(run, {"level": cost}, [Pair(0, 1)])[0].ratio == pytest.approx(1.0)


# --- leaves --------------------------------------------------------------------------------------------------------


Rows = tuple[tuple[int, float], ...]
L1Query = Query[Rows, FloatArray, L1Sensitivity]


def values_of(records: Rows, regularization: float, bound: float) -> FloatArray:
    cells = np.zeros((2, 2))
    for leaf, gradient in records:
        if not math.isnan(gradient):
            cells[leaf] += (1.0, round(gradient * LARGEST))
    return leaf_values(cells, regularization, bound)


@pytest.mark.parametrize("bound", [1.0, 0.7, 0.45, 0.2, 0.05])
@pytest.mark.parametrize("regularization", [0.1, 1.0, 5.0])
def test_leaves_move_by_their_sensitivity_and_no_further(regularization: float, bound: float) -> None:
    """[dpboost-leaf] Samples of up to three records in two leaves; attained, so that a tenth less is caught."""
    corner = min(1.0, bound * (1.0 + regularization))
    records = [(leaf, g) for leaf in (0, 1) for g in (-1.0, -corner, corner, 1.0, OUT)]
    pairs = [pair for n in (1, 2, 3) for pair in neighbours(ReplaceOne(), records, n)]

    def values(rows: Rows) -> FloatArray:
        return values_of(rows, regularization, bound)

    one: L1Query = Query("leaves", values, leaf_values_l1(regularization, bound), ReplaceOne())
    two: Query[Rows, FloatArray, L2Sensitivity]
    two = Query("leaves", values, leaf_values_l2(regularization, bound), ReplaceOne())
    assert check_sensitivity(one, pairs).ratio > 0.99
    assert check_sensitivity(two, pairs).ratio > 0.99
    with pytest.raises(ClaimViolated):
        check_sensitivity(attrs.evolve(one, sensitivity=L1Sensitivity(0.9 * one.sensitivity.value)), pairs)
    with pytest.raises(ClaimViolated):
        check_sensitivity(attrs.evolve(two, sensitivity=L2Sensitivity(0.9 * two.sensitivity.value)), pairs)


def test_our_leaf_bound_is_the_printed_one_doubled_or_less() -> None:
    """[dpboost-leaf] Twice min(g/(1 + λ), 2c) for two leaves; below that where clipping bites."""
    for bound in (1.0, 0.8, 0.6, 0.4, 0.1):
        printed = min(1.0 / 1.1, 2.0 * bound)
        ours = leaf_values_l1(0.1, bound).value
        assert ours <= 2.0 * printed + 1e-9
    assert leaf_values_l1(0.1, 0.6).value < 0.85 * 2.0 / 1.1


def test_the_printed_leaf_sensitivity_is_half_of_what_one_flipped_label_moves() -> None:
    """[dpboost-g-lambda] A leaf of one record: −1/(1 + λ) becomes 1/(1 + λ), so Laplace noise costs 2ε."""
    query: L1Query = Query("leaves", lambda rows: values_of(rows, 0.1, 1.0), L1Sensitivity(1.0 / 1.1), ReplaceOne())
    flip: Pair[Rows] = Pair(((0, 1.0),), ((0, -1.0),))
    with pytest.raises(ClaimViolated):
        check_sensitivity(query, [flip])
    added: L1Query = attrs.evolve(query, adjacency=AddRemoveOne())
    rows = [(0, g) for g in (-1.0, 0.5, 1.0)]
    pairs = [pair for n in (0, 1, 2) for pair in neighbours(AddRemoveOne(), rows, n)]
    assert check_sensitivity(added, pairs).ratio == pytest.approx(1.0)
    epsilon = 0.5
    scale = (1.0 / 1.1) / epsilon
    ratio = abs(float(np.diff([values_of(rows, 0.1, 1.0)[0] for rows in flip])[0])) / scale
    assert ratio == pytest.approx(2.0 * epsilon)
    assert LaplaceNoise(scale).cost(leaf_values_l1(0.1, 1.0)).epsilon >= 2.0 * epsilon
