"""1-Rules: scores against their definition, their sensitivity by search, and the private choice."""

import itertools
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import BasicComposition, BoundedRange, LaplaceDP, Ledger, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs.rounding import up
from boosting import LazyBregman, Reweighted
from learners import EncodedSample, Layout, OneRule, PrivateOneRule, Schema
from learners.base.selection_rules import Selection
from learners.votes.one_rules import CONSTANT, SCORE_ROUNDING, one_rule_scores, one_rule_sensitivity, one_rules
from proofs_tests.harness import ClaimViolated, ScriptedNoise, check_learner, neighbours

Record = tuple[int, ...]


def encoded(records: list[Record]) -> EncodedSample:
    """Boolean records, label last."""
    table = np.array(records)
    layout = Layout(Schema.boolean([f"x{i}" for i in range(table.shape[1] - 1)]))
    return EncodedSample(layout, table[:, :-1].T.astype(np.intp), np.where(table[:, -1] > 0, 1, -1).astype(np.int8))


def weighted(sample: EncodedSample, booster: LazyBregman, rules: list[OneRule]) -> Reweighted[EncodedSample]:
    state = booster.start(sample)
    for rule in rules:
        state = booster.step(state, rule)
    return state


def scores(records: list[Record], booster: LazyBregman, rules: list[OneRule]) -> FloatArray:
    return one_rule_scores(weighted(encoded(records), booster, rules))


RULES: tuple[Selection, ...] = ("exponential", "permute-and-flip")
DOMAIN: list[Record] = list(itertools.product((0, 1), repeat=2))
records = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=2, max_size=30)


@given(records, st.lists(st.integers(0, 7), max_size=5))
def test_scores_are_minus_the_weighted_error_of_every_candidate(table: list[Record], history: list[int]) -> None:
    candidates, booster = one_rules(3), LazyBregman(0.4, 0.3)
    sample = encoded(table)
    state = weighted(sample, booster, [candidates[i] for i in history])
    shares = state.measure.distribution
    errors = [float(shares @ (rule.predictions(sample) != sample.labels)) for rule in candidates]
    assert one_rule_scores(state) == pytest.approx([-error for error in errors], abs=SCORE_ROUNDING / 4)
    assert len(candidates) == 2 * 3 + 2


def test_candidates_are_literals_negations_and_constants() -> None:
    rules = one_rules(2)
    assert rules[:4] == [OneRule(0, 1), OneRule(1, 1), OneRule(0, -1), OneRule(1, -1)]
    assert rules[4:] == [OneRule(CONSTANT, 1), OneRule(CONSTANT, -1)]
    sample = encoded([(0, 1, 1), (1, 0, 0)])
    assert [rule.predictions(sample).tolist() for rule in rules] == [
        [-1, 1], [1, -1], [1, -1], [-1, 1], [1, 1], [-1, -1],
    ]  # fmt: skip


@given(records, st.tuples(*[st.integers(0, 1)] * 4), st.lists(st.integers(0, 7), max_size=6), st.data())
def test_the_range_of_the_change_is_at_most_two_zeta(
    table: list[Record], new: Record, history: list[int], data: st.DataObject
) -> None:
    """[001-Thm6] Replace any record, whatever was learnt before: max − min of the change <= 2ζ_t."""
    booster = LazyBregman(data.draw(st.floats(0.05, 1.0)), data.draw(st.floats(0.01, 1.0)))
    rules = [one_rules(3)[i] for i in history]
    change = scores([new, *table[1:]], booster, rules) - scores(table, booster, rules)
    zeta = booster.slickness(len(table), len(rules) + 1).zeta
    assert np.ptp(change) <= one_rule_sensitivity(zeta).value


def test_two_zeta_is_attained() -> None:
    """κ = 1, one label flipped: the range is exactly 2/n, so a constant 10 % smaller would be caught."""
    table: list[Record] = [(1, 0, 1)] * 10
    change = scores([(1, 0, 0), *table[1:]], LazyBregman(1.0, 0.1), []) - scores(table, LazyBregman(1.0, 0.1), [])
    zeta = LazyBregman(1.0, 0.1).slickness(10, 1).zeta
    assert np.ptp(change) == pytest.approx(2 * zeta, rel=1e-9)


def test_rounding_head_room_covers_a_thousand_rounds_on_many_cells() -> None:
    """Scores in double precision against exact rationals stay within a quarter of the declared rounding."""
    from fractions import Fraction

    rng = np.random.default_rng(0)
    table = [tuple(row) for row in rng.integers(0, 2, (400, 6)).tolist()]
    rules = [one_rules(5)[i] for i in rng.integers(0, 12, 1000)]
    state = weighted(encoded(table), LazyBregman(0.3, 0.05), rules)
    weights = [Fraction(w) for w in state.measure.weights.tolist()]
    mass = Fraction(0.3) * 400
    exact = [
        -sum((w for w, bad in zip(weights, rule.predictions(state.sample) != state.sample.labels, strict=True) if bad),
             Fraction(0)) / mass
        for rule in one_rules(5)
    ]  # fmt: skip
    # The measure's own total is off from κn by rounding; that too is inside the head-room.
    assert abs(sum(weights, Fraction(0)) / mass - 1) < SCORE_ROUNDING / 8
    assert np.abs(one_rule_scores(state) - np.array([float(e) for e in exact])).max() < SCORE_ROUNDING / 4


def test_all_small_samples_exhaustively() -> None:
    """Every sample of 2 records over one feature, every replacement, every first rule."""
    domain = list(itertools.product((0, 1), repeat=2))
    booster = LazyBregman(0.7, 0.8)
    for table in itertools.product(domain, repeat=2):
        for new, rule in itertools.product(domain, one_rules(1)):
            change = scores([new, table[1]], booster, [rule]) - scores(list(table), booster, [rule])
            assert np.ptp(change) <= one_rule_sensitivity(booster.slickness(2, 2).zeta).value


def test_each_selection_is_charged_its_own_kind_of_cost() -> None:
    """Permute-and-flip is no bounded-range mechanism; its exact law on neighbours stays within its pure ε."""
    certificate = LazyBregman(1.0, 0.1).slickness(2, 1)
    layout = encoded([(0, 0)]).layout
    sharp, flat = (PrivateOneRule(layout, 3.0, selection=rule).costs(certificate)[0] for rule in RULES)
    assert isinstance(sharp, BoundedRange)
    assert isinstance(flat, LaplaceDP)
    assert sharp.epsilon == flat.epsilon == up(3.0 * one_rule_sensitivity(certificate.zeta).value)

    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> OneRule:
        ledger = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
        data = ledger.protect(LazyBregman(1.0, 0.1).start(encoded(list(records))))
        return PrivateOneRule(layout, 3.0, noise, "permute-and-flip").learn(ledger, data, certificate)

    reports = check_learner(run, {"permute-and-flip": flat}, neighbours(ReplaceOne(), DOMAIN, 2))
    assert 0.5 < reports[0].ratio <= 1.0
    # Its loss is not a range: the same number as a width is too little.
    with pytest.raises(ClaimViolated, match=": refuted;"):
        check_learner(run, {"as a range": sharp}, neighbours(ReplaceOne(), DOMAIN, 2))


def test_an_unknown_selection_is_refused() -> None:
    with pytest.raises(ValueError, match="not one of 'exponential', 'permute-and-flip'"):
        PrivateOneRule(encoded([(0, 0)]).layout, 1.0, selection=cast("Selection", "noisy-max"))
