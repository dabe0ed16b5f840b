"""Comparisons: laws that hold for any scores, and figures that are known."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.leaderboard.adapters import every
from benchmarks.leaderboard.comparison import (
    critical_difference,
    friedman_p,
    mean_ranks,
    needed_epsilon,
    paired,
    strongest,
)
from benchmarks.leaderboard.promises import asked, marked

SCORES = st.floats(0.0, 1.0)


@given(st.lists(SCORES, min_size=2, max_size=12), st.floats(-0.5, 0.5))
def test_what_all_seeds_share_has_no_error(values: list[float], lead: float) -> None:
    ours = dict(enumerate(values))
    mean, error = paired(ours, {seed: value + lead for seed, value in ours.items()})
    assert mean == pytest.approx(lead, abs=1e-12)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_the_error_is_that_of_a_mean_of_differences() -> None:
    mean, error = paired({0: 0.0, 1: 0.0, 2: 0.0, 9: 5.0}, {0: 1.0, 1: 2.0, 2: 3.0, 7: 100.0})
    assert mean == pytest.approx(2.0)
    assert error == pytest.approx(1.0 / math.sqrt(3.0))


def test_nothing_to_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="no seed in both"):
        paired({0: 1.0}, {1: 1.0})


def test_first_even_and_behind() -> None:
    ours = {0: 0.80, 1: 0.82}
    name, lead, error = strongest(ours, {"a": {0: 0.7, 1: 0.7}})
    assert (name, lead <= error) == ("a", True)
    name, lead, error = strongest(ours, {"a": {0: 0.7, 1: 0.7}, "b": {0: 0.83, 1: 0.81}})
    assert name == "b"
    assert lead == pytest.approx(0.01)
    assert error == pytest.approx(0.02)
    name, lead, error = strongest(ours, {"b": {0: 0.83, 1: 0.84}})
    assert lead > error


def test_a_noisy_first_does_not_hide_a_steady_second() -> None:
    ours = dict.fromkeys(range(10), 0.8)
    noisy = {seed: 0.85 + 0.3 * (-1) ** seed for seed in range(10)}
    steady = {seed: 0.84 + 0.01 * (-1) ** seed for seed in range(10)}
    name, lead, error = strongest(ours, {"noisy": noisy, "steady": steady})
    assert name == "steady"
    assert lead > error


def test_one_lucky_seed_is_paired_with_ours_of_that_seed() -> None:
    ours = {seed: 0.95 if seed == 0 else 0.8 for seed in range(10)}
    name, lead, error = strongest(ours, {"lucky": {0: 0.94}, "steady": dict.fromkeys(range(10), 0.85)})
    assert name == "steady"
    assert lead > error


@given(st.integers(2, 6), st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_ranks_add_up_and_follow_scores(systems: int, tables: int, seed: int) -> None:
    scores = np.round(np.random.default_rng(seed).uniform(size=(tables, systems)), 1)
    ranks = mean_ranks(scores)
    assert ranks.sum() == pytest.approx(0.5 * systems * (systems + 1))
    better = np.hstack([scores, np.full((tables, 1), 2.0)])
    assert mean_ranks(better)[-1] == 1.0


def test_critical_differences_are_those_of_demsar() -> None:
    # Demšar 2006, Table 5a: q = 2.569 for four classifiers at 5 %; his example has 14 data sets and CD = 1.25.
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(10, 30) == pytest.approx(3.164 * math.sqrt(10 * 11 / 180.0), rel=1e-3)


def test_even_systems_are_not_told_apart() -> None:
    rng = np.random.default_rng(0)
    assert friedman_p(rng.uniform(size=(40, 4))) > 0.01
    assert friedman_p(np.tile([0.1, 0.2, 0.3], (10, 1))) < 1e-3


def test_epsilon_for_a_level_lies_between_its_neighbours() -> None:
    epsilons = (0.1, 1.0, 10.0)
    assert needed_epsilon(epsilons, (0.9, 0.9, 0.9), 0.8) == 0.1
    assert needed_epsilon(epsilons, (0.5, 0.7, 0.9), 0.8) == pytest.approx(math.sqrt(10.0))
    assert needed_epsilon(epsilons, (0.5, 0.7, 0.7), 0.8) == math.inf
    assert math.isnan(needed_epsilon((), (), 0.8))
    # What is reached and lost again is not reached.
    assert needed_epsilon(epsilons, (0.85, 0.7, 0.9), 0.8) == pytest.approx(math.sqrt(10.0))


@given(st.floats(0.01, 10.0), st.floats(1e-9, 1e-2))
def test_what_is_asked_for_two_steps_gives_what_was_promised(epsilon: float, delta: float) -> None:
    """P <= e^a·R + d and R <= e^a·Q + d give P <= e^(2a)·Q + (1 + e^a)·d."""
    both = next(each for each in every() if each.path.stem == "constant")
    assert asked(both, "replace-one", epsilon, delta) == ("replace-one", epsilon, delta)
    only_adds = attrs.evolve(both, neighbours=("add-remove-one",))
    near, each_step, slack = asked(only_adds, "replace-one", epsilon, delta)
    assert near == "add-remove-one"
    assert 2.0 * each_step == pytest.approx(epsilon)
    assert (1.0 + math.exp(each_step)) * slack <= delta * (1.0 + 1e-12)
    assert (1.0 + math.exp(each_step)) * slack >= delta * (1.0 - 1e-12)


def test_who_promises_replace_one_only_is_marked() -> None:
    only_replaces = next(each for each in every() if each.private and each.neighbours == ("replace-one",))
    assert marked(only_replaces, "add-remove-one")
    assert not marked(only_replaces, "replace-one")
    counts = attrs.evolve(only_replaces, neighbours=("add-remove-one",), counts=True)
    assert marked(counts, "add-remove-one")
    assert not marked(attrs.evolve(counts, counts=False), "add-remove-one")
    assert asked(only_replaces, "add-remove-one", 1.0, 1e-5) == ("replace-one", 1.0, 1e-5)
