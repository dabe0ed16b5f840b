"""Paper 001, LazyBB: what is left beside its weak learners' sensitivities, which are tested with the mechanisms."""

import itertools
import math

import numpy as np
import pytest

from accountant.arrays import FloatArray, IntArray
from boosting import LazyBregman
from boosting.projection import capped_scaling
from learners import OneRule
from learners.votes.one_rules import one_rules


def distribution(margins: IntArray, rate: float, density: float) -> FloatArray:
    """μ̂ of LazyBregman for given margins, shape (n,)."""
    measure = capped_scaling(-rate * margins.astype(np.float64), np.ones(margins.size, dtype=np.intp), density)
    return np.asarray(measure / (density * margins.size))


def selection(scores: FloatArray, eta: float) -> FloatArray:
    """Log-probabilities of the exponential mechanism."""
    return np.asarray(eta * scores - np.logaddexp.reduce(eta * scores))


# --- Measures --------------------------------------------------------------------------------------------------------


def test_a_smooth_distribution_may_come_from_a_light_measure() -> None:
    """[001-footnote1] "density >= κ iff smooth": the constant measure .1 is 1-smooth and has density .1; => holds."""
    light = np.full(10, 0.1)
    assert np.max(light / light.sum()) == pytest.approx(1 / 10)
    assert light.mean() == pytest.approx(0.1)
    rng = np.random.default_rng(0)
    for _ in range(1000):
        measure = rng.random(int(rng.integers(1, 20)))
        density = measure.mean()  # κ up to it, and 2 % more would fail for a measure that reaches 1
        assert np.max(measure / measure.sum()) <= 1 / (density * measure.size) * (1 + 1e-12)
    reaching = np.array([1.0, 0.2, 0.3])
    assert np.max(reaching / reaching.sum()) > 1 / (1.02 * reaching.mean() * 3)


def test_without_the_projection_a_weight_is_up_to_kappa_exp_lambda_t() -> None:
    """[001-projection] One record always wrong, the others at margin 0: over 26.9/(κn), below κe^{λt}/(κn), near it."""
    n, density, rate, rounds = 10_000, 0.5, 0.5, 8
    margins = np.zeros(n)
    margins[0] = -rounds
    skipped = density * np.exp(-rate * margins)
    assert skipped.mean() >= density  # dense, so the authors' code leaves it as it is
    weight = float(skipped[0] / skipped.sum()) * density * n
    bound = density * math.exp(rate * rounds)
    assert 26.9 < 0.99 * bound < weight < bound
    assert distribution(margins.astype(np.intp), rate, density)[0] * density * n <= 1 + 1e-12


def test_the_real_projection_keeps_the_same_bound() -> None:
    """[001-real-projection] min(1, max(1, c)·μ̃): joint distance = the larger weight <= 1/(κn), attained."""
    rng, worst = np.random.default_rng(1), 0.0

    def real(raw: FloatArray, density: float) -> FloatArray:
        scaled = capped_scaling(np.log(raw), np.ones(raw.size, dtype=np.intp), density)
        measure = np.maximum(scaled, np.minimum(1.0, raw))
        return np.asarray(measure / measure.sum())

    for _ in range(2500):
        n, density = int(rng.integers(2, 12)), float(rng.uniform(0.2, 1.0))
        raw = density * np.exp(rng.normal(0.0, rng.choice([0.1, 1.0, 6.0]), n))
        other = raw.copy()
        other[0] = density * np.exp(rng.normal(0.0, 4.0))
        one, two = real(raw, density), real(other, density)
        joint = 0.5 * float(one[0] + two[0] + np.sum(np.abs(one[1:] - two[1:])))
        assert joint == pytest.approx(max(one[0], two[0]), abs=1e-9)
        worst = max(worst, joint * density * n)
    assert 0.9999 < worst <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("density", "rate", "rounds", "share"), [(0.25, 0.25, 99, 0.983), (0.5, 0.5, 5, 0.900), (0.5, 0.1, 25, 0.951)]
)
def test_what_the_per_round_certificate_saves(density: float, rate: float, rounds: int, share: float) -> None:
    """[001-per-round-zeta] Σζ_t over τ/(κn) at the paper's settings."""
    booster, n = LazyBregman(density, rate), 10_000
    total = sum(booster.slickness(n, number).zeta for number in range(1, rounds + 1))
    assert total * density * n / rounds == pytest.approx(share, abs=6e-4)


def votes(rules: list[OneRule], features: int) -> int:
    """Σ over features of |net votes| + |net constant|, from the public rules alone."""
    return sum(abs(sum(rule.sign for rule in rules if rule.feature == f)) for f in range(-1, features))


def total_votes(rules: list[OneRule], point: tuple[int, ...]) -> int:
    return sum(rule.sign * (point[rule.feature] if rule.feature >= 0 else 1) for rule in rules)


def test_public_votes_sharpen_the_certificate() -> None:
    """[001-public-votes] ζ <= r/(r + n − 1), r = exp(2λV), V = sup_x |Σh_j(x)|; attained, and below the other one."""
    rng, n, rate, density = np.random.default_rng(2), 6, 0.1, 0.05
    points, nearest = list(itertools.product((-1, 1), repeat=2)), 0.0
    for _ in range(150):
        rules = [one_rules(2)[i] for i in rng.integers(0, 6, int(rng.integers(0, 7)))]
        largest = max(abs(total_votes(rules, point)) for point in points)
        assert largest == votes(rules, 2)
        ratio = math.exp(2 * rate * largest)
        bound = ratio / (ratio + n - 1)
        assert bound <= LazyBregman(density, rate).slickness(n, len(rules) + 1).zeta
        reachable = np.array(sorted({y * total_votes(rules, point) for point in points for y in (-1, 1)}))
        for margins in [np.append(first, np.full(n - 1, rest)) for first in reachable for rest in reachable]:
            weights = distribution(margins, rate, density)
            assert weights[0] <= bound + 1e-12  # a joint distance is the largest weight of the replaced record
            nearest = max(nearest, float(weights[0]) / bound)
    assert nearest == pytest.approx(1.0)


# --- Weak learners and settings --------------------------------------------------------------------------------------


def errors(table: IntArray, labels: IntArray) -> FloatArray:
    """−err of ±literals and ±constant under the uniform distribution, shape (2d + 2,)."""
    predictions = np.hstack([table, -table, np.ones((len(table), 1)), -np.ones((len(table), 1))])
    return np.asarray(-np.mean(predictions != labels[:, None], axis=0))


def test_private_1_rules_reach_two_eta_zeta_and_not_more() -> None:
    """[001-Thm11] Exact ratios on tiny samples, κ = 1, η up to 60: within 1e-3 of 2ηζ, half of the printed 4ηζ."""
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(2500):
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 3))
        table, labels = rng.choice([-1, 1], (n, d)), rng.choice([-1, 1], n)
        others, changed = table.copy(), labels.copy()
        others[0], changed[0] = rng.choice([-1, 1], d), rng.choice([-1, 1])
        eta = float(rng.uniform(0.1, 60.0))
        one, other = (selection(errors(t, y), eta) for t, y in ((table, labels), (others, changed)))
        worst = max(worst, float(np.max(np.abs(one - other))) / (2 * eta / n))
    assert 0.999 < worst <= 1.0 + 1e-9


def test_at_index_distance_zero_a_learner_would_have_to_be_blind() -> None:
    """[001-Def-learner] n = 2, one label replaced: index distance 0 < ζ for every ζ, yet DP-1R loses η − ln 2.

    Its joint distance is 1/2, so the joint reading charges 2η/2 = η; "4ηd" at index distance d = 0 would be 0.
    """
    table, eta = np.ones((2, 1), dtype=np.intp), 30.0
    one, other = (selection(errors(table, np.array(labels)), eta) for labels in ([1, 1], [1, -1]))
    back = selection(errors(table, np.array([-1, -1])), eta)
    assert np.max(np.abs(one - other)) == pytest.approx(eta - math.log(2), rel=1e-9)
    assert np.max(np.abs(other - back)) <= 2 * eta * 0.5


def gini(weights: FloatArray) -> float:
    """w·4q(1 − q) of the weights of both labels."""
    return float(4 * weights[0] * weights[1] / weights.sum()) if weights.sum() else 0.0


def improvements(atoms: FloatArray) -> FloatArray:
    """Of two splits of one leaf; atoms: shape (split 0, split 1, label)."""
    cuts = [atoms.sum(axis=1 - split) for split in (0, 1)]
    return np.array([gini(atoms.sum(axis=(0, 1))) - gini(cut[0]) - gini(cut[1]) for cut in cuts])


def test_a_tree_costs_sixteen_t_eta_zeta() -> None:
    """[001-Thm10] t = 1, n = 1000: the width of the split is 8ηζ(1 − ζ), the labels cost 2η′ζ, η′ = 4tη; .9995 in all.

    So η = εκn/(16τt) is ε-DP over τ rounds, and 2 % less than 16tηζ would fail as a width.
    """
    n, eta = 1000, 0.3
    zeta, eta_labels = 1 / n, 4 * eta
    before = np.zeros((2, 2, 2))
    before[1, 1, 0] = 1 - zeta
    after = before.copy()
    before[1, 0, 1] = after[0, 1, 1] = zeta
    split = float(np.ptp(eta * (improvements(after) - improvements(before))))
    labels = eta_labels * float(np.sum(np.abs(before.sum(axis=1) - after.sum(axis=1))))
    assert split == pytest.approx(8 * eta * zeta * (1 - zeta), rel=1e-6)
    assert labels == pytest.approx(2 * eta_labels * zeta)
    assert 0.98 * 16 * eta * zeta < split + labels <= 16 * eta * zeta
    epsilon, tau, density = 1.0, 9, 0.25
    printed = epsilon * density * n / (16 * tau)
    assert tau * 16 * printed / (density * n) == pytest.approx(epsilon)


@pytest.mark.parametrize("splits", [1, 4, 16])
def test_the_printed_division_is_bad_for_zcdp(splits: int) -> None:
    """[001-Thm10] With η′ = 4tη the labels' ρ is t times that of all splits together."""
    eta_zeta = 0.01
    rho_splits = splits * (8 * eta_zeta) ** 2 / 8
    rho_labels = (2 * 4 * splits * eta_zeta) ** 2 / 8
    assert rho_labels == pytest.approx(splits * rho_splits)


def test_settings_chosen_on_private_data_are_a_release() -> None:
    """[001-experiments] Two learners that look at nothing, 0-DP each; choosing the better one tells a record apart."""
    answers = np.array([-1, 1])

    def chosen(labels: IntArray) -> int:
        return int(answers[np.argmax([np.mean(labels == answer) for answer in answers])])

    sample = np.array([1, 1, -1])
    neighbour = np.array([1, -1, -1])
    assert chosen(sample) != chosen(neighbour)  # deterministic, so no ε covers it: the choice has to be paid for
