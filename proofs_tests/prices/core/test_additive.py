"""Laplace, Gaussian and ℓ2-Laplace noise: prices, the law that is drawn, and the grid it is drawn on."""

import math
from collections.abc import Callable

import attrs
import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from accountant import GDP, LaplaceDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.additive import (
    GammaNorm,
    GammaNormNoise,
    GaussianNoise,
    LaplaceNoise,
    RobustGaussian,
    RobustLaplace,
)
from mechanisms.core.robust import RobustQuery, Slickness
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from proofs_tests.support.mechanisms.just_above import just_above, spread
from proofs_tests.support.mechanisms.scales import refuses_scales

GRID = mp.mpf(2) ** -40
SIZES = (1, 2, 3, 4, 7, 8)


@pytest.mark.parametrize(("sensitivity", "scale"), [(1.0, 1.0), (0.3, 0.7), (2.0, 1e9), (1e-5, 3.0), (7.0, 0.1)])
def test_a_price_is_the_sensitivity_over_the_scale_and_the_grids_share(sensitivity: float, scale: float) -> None:
    truth = mp.mpf(sensitivity) / scale + GRID
    one, two = L1Sensitivity(sensitivity), L2Sensitivity(sensitivity)
    laplace, gaussian, gamma = LaplaceNoise(scale), GaussianNoise(scale), GammaNormNoise(scale)
    assert isinstance(laplace.cost(one), LaplaceDP)
    assert isinstance(gaussian.cost(two), GDP)
    assert isinstance(gamma.cost(two), LaplaceDP)
    just_above(laplace.cost(one).epsilon, truth)
    just_above(gaussian.cost(two).mu, truth)
    just_above(gamma.cost(two).epsilon, truth)


def test_prices_are_rounded_up() -> None:
    for sensitivity in spread(0.01, 50.0, 200):
        truth = mp.mpf(sensitivity) / 0.7 + GRID
        just_above(LaplaceNoise(0.7).cost(L1Sensitivity(sensitivity)).epsilon, truth)


def test_what_does_not_depend_on_the_data_is_free() -> None:
    assert LaplaceNoise(2.0).cost(L1Sensitivity(0.0)).epsilon == 0.0
    assert GaussianNoise(2.0).cost(L2Sensitivity(0.0)).mu == 0.0
    assert GammaNormNoise(2.0).cost(L2Sensitivity(0.0)).epsilon == 0.0


def test_books_say_the_scale() -> None:
    assert LaplaceNoise(0.5).parameters == (("scale", 0.5),)
    assert GaussianNoise(0.5).parameters == (("sigma", 0.5),)
    assert GammaNormNoise(0.5).parameters == (("scale", 0.5),)
    assert LaplaceNoise(0.5).claims == ("laplace-dp",)


def _steps(drawn: list[FloatArray], log2_step: int) -> list[float]:
    return [value / 2.0**log2_step for value in np.concatenate(drawn).tolist()]


def _lies_on(drawn: list[FloatArray], share: float) -> None:
    """Of multiples of the largest power of two up to this, and not all of the next one."""
    log2_step = math.floor(math.log2(share))
    steps = _steps(drawn, log2_step)
    assert all(step == math.floor(step) for step in steps)
    assert any(step % 2.0 for step in steps)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1.0, 0.75])
def test_the_grid_adds_no_more_than_is_charged(size: int, scale: float) -> None:
    """Each of k values moves by a step at most, one more on the way to the halfway point of a Laplace law."""
    value, noise = np.full(size, 0.3), SecureNoise()
    grid = scale * 2.0**-40
    _lies_on([LaplaceNoise(scale).draw(value, noise) for _ in range(40)], grid / (size + 1))
    _lies_on([GaussianNoise(scale).draw(value, noise) for _ in range(40)], grid / size)
    _lies_on([GammaNormNoise(scale).draw(value, noise) for _ in range(40)], grid / (2 * size + 1))


class Noted(SeededNoise):
    """Keeps the grids that it was asked for."""

    def __init__(self) -> None:
        super().__init__(1)
        self.grids: list[int] = []

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        self.grids.append(grid)
        return super().gaussian(values, sigma, grid)


@pytest.mark.parametrize("size", SIZES)
def test_the_grid_of_a_length_is_as_fine(size: int) -> None:
    """χ²(d + 1) is drawn as d + 1 squares: at 2^-40 of their unit, all together."""
    noise = Noted()
    GammaNormNoise(0.75).draw(np.zeros(size), noise)
    assert noise.grids[0] == math.floor(-40.0 - math.log2(size + 1))


DRAWS = 4000


@pytest.mark.parametrize("size", [1, 2, 5])
def test_drawn_lengths_have_their_law(size: int) -> None:
    noise, scale = SeededNoise(5), 2.5
    value = np.full(size, 100.0)
    drawn = np.stack([GammaNormNoise(scale).draw(value, noise) for _ in range(DRAWS)]) - value
    assert stats.kstest(np.linalg.norm(drawn, axis=1) / scale, stats.gamma(size).cdf).pvalue > 0.001
    assert abs(float(np.mean(np.sign(drawn)))) < 0.06


@pytest.mark.parametrize(("randomizer", "law"), [(LaplaceNoise(2.5), "laplace"), (GaussianNoise(2.5), "norm")])
def test_drawn_values_have_their_law(randomizer: LaplaceNoise | GaussianNoise, law: str) -> None:
    drawn = randomizer.draw(np.full(DRAWS, 100.0), SeededNoise(6))
    assert stats.kstest((drawn - 100.0) / 2.5, law).pvalue > 0.001


def test_of_no_values_nothing_is_drawn() -> None:
    for randomizer in (LaplaceNoise(1.0), GaussianNoise(1.0), GammaNormNoise(1.0)):
        for noise in (SecureNoise(), SeededNoise(0)):
            assert randomizer.draw(np.empty(0), noise).shape == (0,)
    assert GammaNormNoise(1.0).draw(np.zeros((2, 3)), SeededNoise(0)).shape == (2, 3)


@attrs.frozen(eq=False)
class _Data:
    slickness: Slickness
    value: FloatArray


def test_mechanisms_hand_their_scale_on() -> None:
    one: RobustQuery[_Data, FloatArray, L1Sensitivity] = RobustQuery(
        "x", lambda data: data.value, lambda zeta: L1Sensitivity(3.0 * zeta), ReplaceOne(), ()
    )
    two: RobustQuery[_Data, FloatArray, L2Sensitivity] = RobustQuery(
        "x", lambda data: data.value, lambda zeta: L2Sensitivity(3.0 * zeta), ReplaceOne(), ()
    )
    laplace, gaussian, gamma = RobustLaplace(one, 0.5, 0.25), RobustGaussian(two, 0.5, 0.25), GammaNorm(two, 0.5, 0.25)
    assert (laplace.randomizer, gaussian.randomizer, gamma.randomizer) == (
        LaplaceNoise(0.5),
        GaussianNoise(0.5),
        GammaNormNoise(0.5),
    )
    for mechanism in (laplace, gaussian, gamma):
        assert isinstance(mechanism.noise, SecureNoise)
        assert mechanism.robust_cost.zeta == 0.25
    makers: tuple[Callable[[float, float], object], ...] = (
        lambda scale, zeta: RobustLaplace(one, scale, zeta),
        lambda scale, zeta: RobustGaussian(two, scale, zeta),
        lambda scale, zeta: GammaNorm(two, scale, zeta),
        lambda scale, _: LaplaceNoise(scale),
        lambda scale, _: GaussianNoise(scale),
        lambda scale, _: GammaNormNoise(scale),
    )
    refuses_scales(makers, certified=3)


def test_the_noise_that_is_given_is_the_noise_that_is_drawn() -> None:
    given = SeededNoise(0)
    one = RobustQuery("x", np.asarray, L1Sensitivity, ReplaceOne(), ())
    two = RobustQuery("x", np.asarray, L2Sensitivity, ReplaceOne(), ())
    for made in (
        RobustLaplace(one, 1.0, 0.1, given),
        RobustGaussian(two, 1.0, 0.1, given),
        GammaNorm(two, 1.0, 0.1, given),
    ):
        assert made.noise is given
    assert isinstance(RobustLaplace(one, 1.0, 0.1).noise, SecureNoise)


def test_a_value_is_noised_exactly_or_not_at_all() -> None:
    """2^53 + 1 and 2^53 + 2 are 1 apart; as floats they are 2 apart."""
    for randomizer in (LaplaceNoise(1.0), GaussianNoise(1.0), GammaNormNoise(1.0)):
        for noise in (SecureNoise(), SeededNoise(0)):
            assert randomizer.draw(np.array([1, 2]), noise).shape == (2,)
            with pytest.raises(ValueError, match=r"beyond 2\^53"):
                randomizer.draw(np.array([2**53 + 1]), noise)
