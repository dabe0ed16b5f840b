"""The robust queries under real LazyBregman weightings: every small sample, every replacement, exact losses."""

import itertools
from collections.abc import Callable, Iterator
from functools import cached_property

import attrs
import mpmath
import numpy as np
import pytest

from accountant import BoundedRange, Cost, LaplaceDP
from accountant.arrays import FloatArray, IntArray, SignArray
from boosting import LazyBregman, Reweighted
from mechanisms import NoiseSource, PermuteAndFlip, Slickness, WeightedExponential, WeightedNoisyMax
from mechanisms.queries import weighted_queries as q
from mechanisms.selection.leaf_labels import LeafLabels
from proofs_tests.harness import output_distribution, replace_one_neighbours, samples
from proofs_tests.support.mechanisms.weighed import weighed

Record = tuple[int, int, int]
RECORDS: list[Record] = [(a, b, y) for a, b in itertools.product((0, 1), repeat=2) for y in (-1, 1)]


@attrs.frozen(slots=False, eq=False)
class Points:
    """Records over two Boolean features, label last."""

    records: tuple[Record, ...]

    @property
    def n(self) -> int:
        return len(self.records)

    @property
    def labels(self) -> SignArray:
        return np.array([y for _, _, y in self.records], dtype=np.int8)

    @property
    def features(self) -> IntArray:
        return np.array([record[:2] for record in self.records], dtype=np.intp)


@attrs.frozen
class Table:
    """h(a, b) looked up."""

    values: tuple[int, int, int, int]

    def predictions(self, sample: Points) -> SignArray:
        return np.array([self.values[2 * a + b] for a, b, _ in sample.records], dtype=np.int8)


TABLES = [Table((-1, -1, 1, 1)), Table((-1, 1, 1, -1)), Table((1, 1, 1, 1))]
HISTORIES = [chosen for rounds in range(3) for chosen in itertools.combinations_with_replacement(TABLES, rounds)]
BOOSTERS = [LazyBregman(1.0, 0.3), LazyBregman(0.7, 0.5), LazyBregman(0.4, 2.0)]


@attrs.frozen(slots=False, eq=False)
class Weighted:
    """A weighted sample as every query wants it: edges, and the cells of a tree that is a root or a stump.

    stump: whether the tree has been split on feature 0.
    """

    state: Reweighted[Points]
    stump: bool

    @property
    def slickness(self) -> Slickness:
        return self.state.slickness

    @property
    def distribution(self) -> FloatArray:
        return self.state.measure.distribution

    @property
    def edges(self) -> FloatArray:
        sample = self.state.sample
        return np.asarray(sample.labels[:, None] * (2.0 * sample.features - 1.0))

    def sums(self, held: FloatArray) -> FloatArray:
        """Weights of the records with held = 1, per leaf and label."""
        sample = self.state.sample
        leaves = sample.features[:, 0] if self.stump else np.zeros(sample.n, dtype=np.intp)
        slots = 2 * leaves + (sample.labels > 0)
        summed = np.bincount(slots, self.distribution * held, 2 * (1 + self.stump))
        return np.asarray(summed, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def leaf(self) -> FloatArray:
        return self.sums(np.ones(self.state.sample.n))

    @cached_property
    def inside(self) -> FloatArray:
        return np.stack([self.sums(column.astype(np.float64)) for column in self.state.sample.features.T], axis=1)


def weighted(records: tuple[Record, ...], booster: LazyBregman, history: tuple[Table, ...], *, stump: bool) -> Weighted:
    state = booster.start(Points(records))
    for hypothesis in history:
        state = booster.step(state, hypothesis)
    return Weighted(state, stump)


def settings_of(n: int) -> Iterator[tuple[list[Weighted], Slickness]]:
    """Every sample of n records under each booster, history and tree, in the order of `pairs`, with its certificate."""
    for booster, history, stump in itertools.product(BOOSTERS, HISTORIES, (False, True)):
        slickness = booster.slickness(n, len(history) + 1)
        yield [weighted(records, booster, history, stump=stump) for records in samples(RECORDS, n)], slickness


def pairs(n: int) -> IntArray:
    """All pairs of neighbouring samples as two rows of numbers; samples are multisets, as no query sees an order."""
    number = {records: place for place, records in enumerate(samples(RECORDS, n))}
    found = {
        (here, number[tuple(sorted(other))])
        for records, here in number.items()
        for other in replace_one_neighbours(records, RECORDS)
    }
    return np.array(sorted(found), dtype=np.intp).T


def changes(evaluate: Callable[[Weighted], FloatArray], data: list[Weighted], between: IntArray) -> FloatArray:
    """Value on the second sample minus value on the first, one row per pair."""
    values = np.stack([evaluate(each).ravel() for each in data])
    return np.asarray(values[between[1]] - values[between[0]])


def widths(rows: FloatArray) -> float:
    return float(np.ptp(rows, axis=1).max())


@pytest.mark.parametrize("n", [3, 4])
def test_no_replacement_moves_a_query_further_than_declared(n: int) -> None:
    """[001-Thm9] [001-leaf-labels] [003-Thm27] Every norm that is declared, with the certificate's own ζ."""
    between, mean = pairs(n), q.centred_mean(2.0**0.5)
    nearest = dict.fromkeys(["gini", "entropy", "weights l1", "weights l2", "gaps l1", "gaps l2", "mean"], 0.0)
    for data, slickness in settings_of(n):
        zeta = slickness.zeta
        weights, gaps = (changes(each, data, between) for each in (q.leaf_label_weights, q.leaf_gaps))
        shares = {
            "gini": widths(changes(q.gini_improvements, data, between)) / q.gini_sensitivity(zeta).value,
            "entropy": widths(changes(q.entropy_improvements, data, between)) / q.entropy_sensitivity(zeta).value,
            "weights l1": np.abs(weights).sum(axis=1).max() / q.leaf_weights_l1(zeta).value,
            "weights l2": np.linalg.norm(weights, axis=1).max() / q.leaf_weights_l2(zeta).value,
            "gaps l1": np.abs(gaps).sum(axis=1).max() / q.leaf_weights_l1(zeta).value,
            "gaps l2": np.linalg.norm(gaps, axis=1).max() / q.leaf_gaps_l2(zeta).value,
            "mean": np.linalg.norm(changes(mean.evaluate, data, between), axis=1).max() / mean.sensitivity(zeta).value,
        }
        assert max(shares.values()) <= 1.0, shares
        nearest = {name: max(share, nearest[name]) for name, share in shares.items()}
    assert min(nearest.values()) > 0.999, nearest


def epsilon(cost: Cost) -> float:
    assert isinstance(cost, LaplaceDP | BoundedRange)
    return cost.epsilon


@pytest.mark.parametrize("n", [3, 4])
def test_no_replacement_costs_a_selection_more_than_declared(n: int) -> None:
    """[001-Thm9] Exact laws over all candidates (leaf, split): width of the exponential rule, loss of the others."""
    between, eta, nearest = pairs(n), 0.5, 0.0
    for data, slickness in itertools.islice(settings_of(n), 0, None, 7):
        zeta = slickness.zeta
        exponential = WeightedExponential(q.GINI_IMPROVEMENT, eta, zeta).under(slickness)
        width = widths(changes(exponential.log_probabilities, data, between))
        assert width <= epsilon(exponential.cost)
        nearest = max(nearest, width / epsilon(exponential.cost))
        for rule in (PermuteAndFlip, WeightedNoisyMax):
            mechanism = rule(q.ENTROPY_IMPROVEMENT, eta, zeta).under(slickness)
            losses = changes(mechanism.log_probabilities, data, between)
            assert np.abs(losses).max() <= epsilon(mechanism.cost)
    assert nearest > 0.999


def test_no_replacement_costs_leaf_labels_more_than_declared() -> None:
    """[001-leaf-labels] Exact laws over all labelled stumps, three records: width at most 2ηζ, and attained."""
    between, nearest = pairs(3), 0.0
    for data, slickness in itertools.islice(settings_of(3), 1, None, 6):
        declared = epsilon(LeafLabels(q.LEAF_GAPS, 3.0, slickness.zeta).under(slickness).cost)
        width = widths(changes(log_law, data, between))
        assert width <= declared
        nearest = max(nearest, width / declared)
    assert nearest > 0.999


def log_law(data: Weighted) -> FloatArray:
    """Log-probabilities of the four labelled stumps, by running the mechanism on every script."""

    def program(noise: NoiseSource) -> tuple[int, ...]:
        mechanism = LeafLabels(q.LEAF_GAPS, 3.0, data.slickness.zeta, noise).under(data.slickness)
        mechanism.check(data)
        return tuple(mechanism.sample(data).tolist())

    law = output_distribution(program)
    assert len(law) == 4
    return np.array([law[labels] for labels in itertools.product((-1, 1), repeat=2)])


def exact_distribution(margins: list[int], booster: LazyBregman) -> list[mpmath.mpf]:
    """μ̂ by definition, in 60 digits: exp(−λ·margin) scaled and capped to density κ."""
    n = len(margins)
    density, rate = mpmath.mpf(booster.density), mpmath.mpf(booster.learning_rate)
    raw = {level: mpmath.exp(-rate * level) for level in set(margins)}
    for level in sorted(raw):
        capped = sum(margin < level for margin in margins)
        scale = (density * n - capped) / sum(raw[margin] for margin in margins if margin >= level)
        if scale * raw[level] <= 1:
            break
    return [min(mpmath.mpf(1), scale * raw[margin]) / (density * n) for margin in margins]


@pytest.mark.parametrize(("density", "rate"), [(0.3, 0.05), (0.5, 4.0), (1.0, 0.1)])
def test_weights_of_a_thousand_rounds_stay_inside_the_rounding_that_queries_assume(density: float, rate: float) -> None:
    """Σ |μ̂ in double precision − μ̂ in 60 digits| is at most a quarter of WEIGHT_ROUNDING."""
    rng, rounds, booster = np.random.default_rng(0), 1000, LazyBregman(density, rate)
    margins = 2 * rng.binomial(rounds, rng.uniform(0.3, 0.9, 300)) - rounds
    measure = weighed(booster, margins.astype(np.intp), rounds)
    with mpmath.workdps(60):
        exact = exact_distribution(margins.tolist(), booster)
        error = sum(abs(mpmath.mpf(w) - e) for w, e in zip(measure.distribution.tolist(), exact, strict=True))
    assert error <= q.WEIGHT_ROUNDING / 4
