"""Private choices: prices for a range, and that the laws drawn from never show more than they are charged for."""

import itertools
from collections.abc import Callable

import attrs
import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from accountant import BoundedRange, LaplaceDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.core.randomizers import FiniteRandomizer
from mechanisms.core.robust import RobustQuery, Slickness
from mechanisms.core.sensitivity import RangeSensitivity
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from mechanisms.selection.noisy_choice import (
    ExponentialChoice,
    NoisyMaxChoice,
    PermuteAndFlip,
    PermuteAndFlipChoice,
    WeightedExponential,
    WeightedNoisyMax,
)
from proofs_tests.support.mechanisms.just_above import just_above
from proofs_tests.support.mechanisms.scales import refuses_scales

GRID = mp.mpf(2) ** -40
PAIRS = [(1.0, 1.0), (0.3, 0.7), (2.0, 1e-9), (1e-5, 3.0)]


@pytest.mark.parametrize(("eta", "width"), PAIRS)
def test_a_price_is_the_range_in_units_of_the_noise(eta: float, width: float) -> None:
    sensitivity, truth = RangeSensitivity(width), mp.mpf(eta) * width
    exponential, flip = ExponentialChoice(eta).cost(sensitivity), PermuteAndFlipChoice(eta).cost(sensitivity)
    assert isinstance(exponential, BoundedRange)
    assert isinstance(flip, LaplaceDP)
    just_above(exponential.epsilon, truth)
    just_above(flip.epsilon, truth)
    for candidates in (None, 1, 2, 3, 10):
        noisy = NoisyMaxChoice(eta, candidates).cost(sensitivity)
        assert isinstance(noisy, BoundedRange if candidates in (1, 2) else LaplaceDP)
        # Two scores move by a step each; a step and a half-step's halfway point are within twice 2^-40.
        just_above(noisy.epsilon, truth + 2 * GRID)


def test_what_does_not_depend_on_the_data_is_free() -> None:
    nothing = RangeSensitivity(0.0)
    for randomizer in (ExponentialChoice(2.0), PermuteAndFlipChoice(2.0), NoisyMaxChoice(2.0), NoisyMaxChoice(2.0, 2)):
        assert randomizer.cost(nothing).epsilon == 0.0


def _losses(randomizer: FiniteRandomizer, before: FloatArray, after: FloatArray) -> FloatArray:
    return np.asarray(randomizer.log_probabilities(after) - randomizer.log_probabilities(before))


MOVES = [np.array(move) for move in itertools.product((0.0, 0.5, 1.0), repeat=3)]
SCORES = [np.array([0.0, *rest]) for rest in itertools.product((-9.0, -0.5, 0.0, 1.0), repeat=2)]


@pytest.mark.parametrize("eta", [0.4, 1.5])
def test_no_outcome_shows_more_than_its_price_and_one_shows_nearly_all(eta: float) -> None:
    """All changes of range 1 on a lattice; a bounded range is of the losses' spread, a pure price of each."""
    for randomizer in (ExponentialChoice(eta), NoisyMaxChoice(eta), PermuteAndFlipChoice(eta)):
        charged = randomizer.cost(RangeSensitivity(1.0))
        worst = 0.0
        for before, move in itertools.product(SCORES, MOVES):
            losses = _losses(randomizer, before, before + move)
            shown = float(np.ptp(losses)) if isinstance(charged, BoundedRange) else float(np.max(np.abs(losses)))
            worst = max(worst, shown)
        assert 0.99 * charged.epsilon < worst <= charged.epsilon * (1.0 + 1e-9)


def test_two_candidates_of_a_noisy_maximum_have_a_bounded_range_and_three_have_not() -> None:
    for eta, gap in itertools.product((0.4, 1.5), (-30.0, -1.0, -0.3, 0.0, 0.7)):
        losses = _losses(NoisyMaxChoice(eta, 2), np.array([0.0, gap]), np.array([0.5, gap - 0.5]))
        assert float(np.ptp(losses)) <= eta * (1.0 + 1e-9)
    wide = _losses(NoisyMaxChoice(1.0), np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    three = _losses(NoisyMaxChoice(1.0), np.array([9.0, 9.0, 0.0]), np.array([9.0, 10.0, 0.0]))
    assert max(float(np.ptp(wide)), float(np.ptp(three))) > 1.02


@pytest.mark.parametrize(
    "randomizer", [ExponentialChoice(0.8), NoisyMaxChoice(0.8), NoisyMaxChoice(0.8, 3), PermuteAndFlipChoice(0.8)]
)
def test_choices_follow_the_law(randomizer: FiniteRandomizer) -> None:
    scores, draws = np.array([0.0, 1.0, 2.5]), 6000
    law = np.exp(randomizer.log_probabilities(scores))
    assert float(law.sum()) == pytest.approx(1.0, rel=1e-9)
    noise = SeededNoise(11)
    counts = np.bincount([randomizer.draw(scores, noise) for _ in range(draws)], minlength=3)
    assert stats.chisquare(counts, draws * law / law.sum()).pvalue > 0.001
    assert randomizer.draw(np.array([0.0, 0.0, 1e4]), SecureNoise()) == 2


def test_the_exponential_law_is_that_of_its_weights() -> None:
    weights = [mp.exp(mp.mpf("0.8") * score) for score in (0, 1, mp.mpf("2.5"))]
    law = np.exp(ExponentialChoice(0.8).log_probabilities(np.array([0.0, 1.0, 2.5])))
    assert law.tolist() == pytest.approx([float(weight / sum(weights)) for weight in weights], rel=1e-12)


def test_another_number_of_candidates_than_was_declared_is_refused() -> None:
    two = NoisyMaxChoice(1.0, 2)
    assert two.parameters == (("eta", 1.0), ("candidates", 2))
    assert NoisyMaxChoice(0.5).parameters == (("eta", 0.5),)
    assert ExponentialChoice(0.5).parameters == PermuteAndFlipChoice(0.5).parameters == (("eta", 0.5),)
    for size in (1, 3):
        with pytest.raises(ValueError, match="were declared"):
            two.draw(np.zeros(size), SeededNoise(0))
        with pytest.raises(ValueError, match="were declared"):
            two.log_probabilities(np.zeros(size))
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match="whole number"):
            NoisyMaxChoice(1.0, wrong)  # type: ignore[arg-type]  # the point of the test


@attrs.frozen(eq=False)
class _Data:
    slickness: Slickness
    value: FloatArray


def test_mechanisms_hand_their_scale_on() -> None:
    query: RobustQuery[_Data, FloatArray, RangeSensitivity] = RobustQuery(
        "x", lambda data: data.value, lambda zeta: RangeSensitivity(3.0 * zeta), ReplaceOne(), ()
    )
    wem, flip = WeightedExponential(query, 0.5, 0.25), PermuteAndFlip(query, 0.5, 0.25)
    assert (wem.randomizer, flip.randomizer) == (ExponentialChoice(0.5), PermuteAndFlipChoice(0.5))
    just_above(wem.width, mp.mpf("0.375"))
    noisy = WeightedNoisyMax(query, 0.5, 0.25, candidates=2)
    assert noisy.randomizer == NoisyMaxChoice(0.5, 2)
    assert WeightedNoisyMax(query, 0.5, 0.25).randomizer == NoisyMaxChoice(0.5, None)
    with pytest.raises(ValueError, match="whole number"):
        WeightedNoisyMax(query, 0.5, 0.25, candidates=0)
    for mechanism in (wem, flip, noisy):
        assert isinstance(mechanism.noise, SecureNoise)
        assert mechanism.robust_cost.zeta == 0.25
    makers: tuple[Callable[[float, float], object], ...] = (
        lambda eta, zeta: WeightedExponential(query, eta, zeta),
        lambda eta, zeta: WeightedNoisyMax(query, eta, zeta),
        lambda eta, zeta: PermuteAndFlip(query, eta, zeta),
        lambda eta, _: ExponentialChoice(eta),
        lambda eta, _: NoisyMaxChoice(eta),
        lambda eta, _: PermuteAndFlipChoice(eta),
    )
    refuses_scales(makers, certified=3)


def test_the_noise_that_is_given_is_the_noise_that_is_drawn() -> None:
    given, query = SeededNoise(0), RobustQuery("x", np.asarray, RangeSensitivity, ReplaceOne(), ())
    for kind in (WeightedExponential, WeightedNoisyMax, PermuteAndFlip):
        assert kind(query, 1.0, 0.1, noise=given).noise is given
