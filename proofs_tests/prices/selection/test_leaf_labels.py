"""All leaves' labels cost BoundedRange(η·Δ₁): attained by two leaves, whose law is written out here."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from accountant import BoundedRange, ReplaceOne
from mechanisms.core.robust import RobustQuery
from mechanisms.core.sensitivity import L1Sensitivity
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from mechanisms.selection.leaf_labels import LeafLabelChoice, LeafLabels
from proofs_tests.support.mechanisms.just_above import just_above


@pytest.mark.parametrize("eta", [0.1, 1.3, 40.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.02, 1.7])
def test_the_cost_is_eta_times_the_l1_sensitivity(eta: float, sensitivity: float) -> None:
    cost = LeafLabelChoice(eta).cost(L1Sensitivity(sensitivity))
    assert isinstance(cost, BoundedRange)
    just_above(cost.epsilon, Fraction(eta) * Fraction(sensitivity))
    assert LeafLabelChoice(eta).cost(L1Sensitivity(0.0)) == BoundedRange(0.0)


def test_the_range_of_losses_is_what_is_charged() -> None:
    eta, before, after = 0.8, (0.3, -0.1), (0.1, 0.25)

    def log_chance(gaps: tuple[float, ...], labels: tuple[int, ...]) -> float:
        return sum(-math.log1p(math.exp(-eta * label * gap)) for label, gap in zip(labels, gaps, strict=True))

    losses = [log_chance(before, labels) - log_chance(after, labels) for labels in itertools.product((-1, 1), repeat=2)]
    moved = sum(abs(a - b) for a, b in zip(before, after, strict=True))
    charged = LeafLabelChoice(eta).cost(L1Sensitivity(moved)).epsilon
    assert max(losses) - min(losses) == pytest.approx(charged, rel=1e-9)


def test_scales_are_checked() -> None:
    for wrong in (0.0, -1.0, math.inf, 2.0**1001):
        with pytest.raises(ValueError, match="expected a"):
            LeafLabelChoice(wrong)
    assert LeafLabelChoice(2.0).parameters == (("eta", 2.0),)
    assert LeafLabelChoice.claims == ("L2", "001-leaf-labels")


def test_on_weighted_leaves_it_is_that_choice_at_that_distance() -> None:
    given, query = SeededNoise(0), RobustQuery("gaps", np.asarray, L1Sensitivity, ReplaceOne(), ())
    made = LeafLabels(query, 0.7, 0.2, given)
    assert (made.query, made.randomizer, made.zeta, made.noise) == (query, LeafLabelChoice(0.7), 0.2, given)
    cost = made.robust_cost.cost
    assert isinstance(cost, BoundedRange)
    just_above(cost.epsilon, Fraction(0.7) * Fraction(0.2))
    assert isinstance(LeafLabels(query, 0.7, 0.2).noise, SecureNoise)
