"""The best of K runs by its own profile: each step of the bound against its definition in many digits."""

import math

import mpmath as mp
import numpy as np
import numpy.typing as npt
import pytest

from accountant import GDP, ZCDP, BoundedRange, LaplaceDP, PureDP
from accountant.arrays import FloatArray
from accountant.costs.rounding import SLACK
from mechanisms.selection import choice_profile as module
from mechanisms.selection.choice_profile import ChoiceProfile, _both_sides, _kinks, _tangents
from mechanisms.selection.private_selection import selection_cost
from mechanisms.selection.stopping import (
    NegativeBinomialStopping,
    PoissonStopping,
    RunPrivacy,
    Stopping,
    run_privacy,
)
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta

LAWS: list[Stopping] = [
    NegativeBinomialStopping(1.0, 0.1),
    NegativeBinomialStopping(-0.5, 0.03),
    NegativeBinomialStopping(0.0, 0.05),
    PoissonStopping(4.0),
]

RUNS = [GDP(0.3), GDP(2.0), PureDP(0.7), LaplaceDP(0.7), BoundedRange(0.7), ZCDP(0.1)]


def test_margins_are_what_the_proof_says() -> None:
    assert (module.ROUNDING, module.SMALLEST, module.FURTHEST) == (1e-12, 2.0**-900, 1e6)
    assert (module.CELLS, module.TANGENTS) == (1024, 257)


# --- one run --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_the_neighbours_chance_is_below_each_tangent(mu: float) -> None:
    """e^x·G + δ(x), x from 0 to where δ is nothing, and 1; all moved up."""
    run = run_privacy(GDP(mu))
    slopes, offsets = _tangents(run)
    losses = np.linspace(0.0, run.reach, 257)
    assert slopes.tolist() == pytest.approx([*np.exp(losses), 0.0], rel=1e-12)
    truth = [*(gaussian_delta(mu, x) for x in losses.tolist()), mp.mpf(1)]
    for found, real in zip(offsets.tolist(), truth, strict=True):
        assert real * (1 + mp.mpf(10) ** -12) <= found <= real * (1 + mp.mpf(10) ** -9) + 1e-290
    assert offsets[-1] == 1.0 + 1e-12


def test_tangents_end_where_they_would_overflow() -> None:
    slopes, _ = _tangents(run_privacy(GDP(100.0)))
    assert slopes[-2] == pytest.approx(math.exp(500.0), rel=1e-12)


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_a_runs_profile_at_losses_of_either_sign(mu: float) -> None:
    """δ(−x) = 1 − e^−x + e^−x·δ(x), which the two laws' own integrals give as well."""
    losses = np.array([-40.0, -3.0, -0.7, -1e-3, 0.0, 1e-3, 0.7, 3.0])
    found = _both_sides(run_privacy(GDP(mu)), losses)
    for x, each in zip(losses.tolist(), found.tolist(), strict=True):
        m, e = mp.mpf(mu), mp.mpf(x)
        truth = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
        assert truth * (1 - mp.mpf(2) ** -50) <= each <= truth * (1 + mp.mpf(10) ** -9) + 1e-280  # `delta` adds 2^-40


def test_losses_far_away_are_read_where_profiles_still_are_numbers() -> None:
    seen: list[FloatArray] = []

    def profile(losses: FloatArray) -> FloatArray:
        seen.append(losses)
        return np.zeros_like(losses)

    run = RunPrivacy(math.inf, np.zeros(1), profile, lambda _: 0.0, 1.0)
    assert _both_sides(run, np.array([-1e300, -2.0, 5.0, 1e300])).tolist() == [1.0, -math.expm1(-2.0), 0.0, 0.0]
    assert seen[0].tolist() == [1e6, 2.0, 5.0, 1e6]


# --- the largest of lines as a sum of kinks --------------------------------------------------------------------------


def _most(heights: FloatArray, moved: FloatArray, ratio: float) -> float:
    return max(0.0, float(np.max(heights * (ratio - np.exp(-moved)))))


@pytest.mark.parametrize("seed", range(20))
def test_kinks_are_the_largest_of_all_lines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    heights = np.sort(rng.uniform(0.1, 5.0, 30))[::-1]
    heights[10:12] = heights[10]  # two lines may be as steep
    heights[29] = heights[28]
    moved = rng.uniform(0.0, 3.0, 30) * (seed % 3)
    weights, shifts = _kinks(heights, moved)
    assert np.all(weights > 0.0)
    assert np.all(np.diff(shifts) > 0.0)
    assert weights.sum() == pytest.approx(heights[0], rel=1e-14)
    for ratio in (0.0, 0.03, 0.4, 0.9, 1.0, 1.5, 4.0, 100.0):
        found = float(weights @ np.maximum(ratio - np.exp(shifts), 0.0))
        wanted = max(_most(heights, moved, ratio), 0.0)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13)


def test_intercepts_below_all_floats_are_not_rounded_up() -> None:
    """1e-200·e^-283.6 is .6 of the smallest float, and would be rounded to it."""
    _, shifts = _kinks(np.array([1.0, 1e-200]), np.array([0.0, 283.6]))
    assert shifts[0] == pytest.approx(-283.6, rel=1e-14)


def test_lines_that_rounding_makes_one_are_one() -> None:
    weights, shifts = _kinks(np.array([2.0, 1.0]), np.array([0.5, 0.5]))
    assert weights.tolist() == [2.0]
    assert shifts == pytest.approx([-0.5], rel=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_no_line_is_lost_where_heights_and_intercepts_are_tiny(seed: int) -> None:
    """Down to e^-600 each, as with eta·ln(1/gamma) of 600; relative, in many digits."""
    rng = np.random.default_rng(seed)
    heights = np.exp(np.sort(rng.uniform(-600.0, 5.0, 40))[::-1])
    moved = np.sort(rng.uniform(0.0, 600.0, 40))[:: 1 if seed % 2 else -1]
    weights, shifts = _kinks(heights, moved)
    kinks = [(mp.mpf(w), mp.exp(mp.mpf(s))) for w, s in zip(weights.tolist(), shifts.tolist(), strict=True)]
    for power in np.linspace(-650.0, 700.0, 60).tolist():
        ratio = mp.exp(mp.mpf(power))
        lines = (
            mp.mpf(h) * (ratio - mp.exp(-mp.mpf(m))) for h, m in zip(heights.tolist(), moved.tolist(), strict=True)
        )
        most = max(mp.mpf(0), *lines)
        covered = mp.fsum(w * max(ratio - s, mp.mpf(0)) for w, s in kinks)
        assert covered >= most * (1 - mp.mpf(10) ** -12)


@pytest.mark.parametrize(("law", "cost", "delta"), [
    (NegativeBinomialStopping(260.0, 0.1), PureDP(2.0), 1e-86),
    (NegativeBinomialStopping(86.0, 1e-3), PureDP(0.1), 1e-234),
])  # fmt: skip
def test_a_price_at_an_extreme_delta_is_not_below_an_exact_law(
    law: NegativeBinomialStopping, cost: PureDP, delta: float
) -> None:
    """Randomized response: "no" ranks first, then a thousandth of "yes", then the rest of it; f′ is a power."""
    declared = selection_cost([cost] * 3, law, delta).epsilon
    with mp.workdps(700):
        truth = mp.exp(cost.epsilon) / (1 + mp.exp(cost.epsilon))

        def best(yes: mp.mpf) -> list[mp.mpf]:
            tops = [mp.mpf(1), yes, yes * mp.mpf(999) / 1000]
            g, eta = mp.mpf(law.gamma), mp.mpf(law.eta)
            f = [((1 - (1 - g) * x) ** -eta - 1) / (g**-eta - 1) for x in (*tops, mp.mpf(0))]
            return [f[0] - f[1], f[1] - f[2], f[2] - f[3]]

        one, other = best(truth), best(1 - truth)
        pairs = [list(zip(a, b, strict=True)) for a, b in ((one, other), (other, one))]
        exact = max(mp.fsum(max(p - mp.exp(mp.mpf(declared)) * q, mp.mpf(0)) for p, q in pair) for pair in pairs)
    assert exact <= delta


# --- the choice -------------------------------------------------------------------------------------------------------


def _fall(stopping: Stopping, chance: mp.mpf) -> mp.mpf:
    """ln f′(1)/f′(1 − G), from f′ as it is defined."""
    if isinstance(stopping, PoissonStopping):
        return mp.mpf(stopping.mean) * chance
    assert isinstance(stopping, NegativeBinomialStopping)
    gamma = mp.mpf(stopping.gamma)
    return (1 + mp.mpf(stopping.eta)) * mp.log((gamma + (1 - gamma) * chance) / gamma)


@pytest.mark.parametrize("stopping", LAWS, ids=str)
@pytest.mark.parametrize("cost", RUNS, ids=repr)
def test_each_cell_is_covered_and_by_hardly_more(
    cost: GDP | PureDP | LaplaceDP | BoundedRange | ZCDP, stopping: Stopping
) -> None:
    """w(G)·(L − e^{−r(G)}) with T(G) the least of 257 tangents, at the ends and in the middle of all cells.

    In long doubles, of 19 digits where the machine has them, and the seventh of these points in sixty as well.
    """
    run = run_privacy(cost)
    profile = ChoiceProfile.of(run, stopping)
    slopes, offsets = _tangents(run)
    ends = stopping.levels(1024)
    chances = np.sort(np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1])]))
    there = np.min(chances[:, None] * slopes + offsets, axis=1)
    falls, beyond = _long_falls(stopping, chances), _long_falls(stopping, there)
    heights, kinks = stopping.mean * np.exp(-falls), np.exp(-np.maximum(beyond - falls, 0.0))
    few = zip(chances[::7].tolist(), there[::7].tolist(), strict=True)
    lines = [_line(stopping, chance, other) for chance, other in few]
    for ratio in (0.3, 0.9, 1.0, 1.2, 2.0, 20.0):
        covered = float(profile.weights @ np.maximum(ratio - np.exp(profile.shifts), 0.0))
        most = max(mp.mpf(0), *(height * (ratio - there) for height, there in lines))
        assert most * (1 + mp.mpf(10) ** -13) <= covered
        assert max(0.0, float(np.max(heights * (ratio - kinks)))) * (1.0 + 1e-13) <= covered
        assert covered <= most * 1.01 + 0.005 * stopping.mean


def _long_falls(stopping: Stopping, chances: FloatArray) -> npt.NDArray[np.longdouble]:
    """`_fall` of many chances."""
    given = chances.astype(np.longdouble)
    if isinstance(stopping, PoissonStopping):
        return np.asarray(stopping.mean * given)
    assert isinstance(stopping, NegativeBinomialStopping)
    gamma = np.longdouble(stopping.gamma)
    return np.asarray((1 + np.longdouble(stopping.eta)) * np.log((gamma + (1 - gamma) * given) / gamma))


@pytest.mark.parametrize("stopping", LAWS, ids=str)
@pytest.mark.parametrize("cost", RUNS, ids=repr)
@pytest.mark.parametrize("cells", [1, 3, 10])
def test_wide_cells_are_covered_as_well(
    cells: int,
    cost: GDP | PureDP | LaplaceDP | BoundedRange | ZCDP,
    stopping: Stopping,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever their number; within a wide one, both ends of a tangent matter."""
    monkeypatch.setattr(module, "CELLS", cells)
    run = run_privacy(cost)
    profile = ChoiceProfile.of(run, stopping)
    slopes, offsets = _tangents(run)
    ends = stopping.levels(cells)
    middles = 0.5 * (ends[1:] + ends[:-1])
    best = np.argmin(middles[:, None] * slopes + offsets, axis=1)
    for cell, tangent in enumerate(best.tolist()):
        for chance in np.linspace(ends[cell], ends[cell + 1], 5).tolist():
            height, there = _line(stopping, chance, chance * float(slopes[tangent]) + float(offsets[tangent]))
            for ratio in (0.3, 0.9, 1.0, 1.2, 2.0, 20.0):
                covered = float(profile.weights @ np.maximum(ratio - np.exp(profile.shifts), 0.0))
                assert height * (ratio - there) * (1 + mp.mpf(10) ** -13) <= covered


def _line(stopping: Stopping, chance: float, there: float) -> tuple[mp.mpf, mp.mpf]:
    fall = _fall(stopping, mp.mpf(chance))
    moved = max(_fall(stopping, mp.mpf(there)) - fall, mp.mpf(0))
    return mp.mpf(stopping.mean) * mp.exp(-fall), mp.exp(-moved)


@pytest.mark.parametrize("stopping", LAWS, ids=str)
def test_weights_come_to_the_mean_from_above(stopping: Stopping) -> None:
    """By SLACK and ten times ROUNDING, as `fall` is known to a part of it only."""
    weights = ChoiceProfile.of(run_privacy(GDP(0.5)), stopping).weights
    mean = mp.mpf(stopping.mean)
    assert mean * (1 + 0.9 * SLACK + mp.mpf(9) * mp.mpf(10) ** -12) <= mp.fsum(weights.tolist())
    assert float(mp.fsum(weights.tolist()) / mean) <= 1.0 + 2.0 * SLACK + 1.2e-11


def test_a_profile_is_the_sum_over_its_kinks() -> None:
    """Each at a loss that is moved down by ROUNDING·(1 + ε + |loss|), the sum moved up, and SMALLEST on top."""
    run = run_privacy(GDP(0.8))
    profile = ChoiceProfile(np.array([0.5, 2.0]), np.array([-1.5, 0.25]), run)
    for epsilon in (0.0, 0.4, 1.0, 2.0, 5.0):
        truth = mp.mpf(0)
        for weight, shift in ((0.5, -1.5), (2.0, 0.25)):
            loss = mp.mpf(epsilon) + shift
            loss -= mp.mpf(10) ** -12 * (1 + epsilon + abs(loss))
            m = mp.mpf(0.8)
            truth += weight * (mp.ncdf(m / 2 - loss / m) - mp.exp(loss) * mp.ncdf(-m / 2 - loss / m))
        found = profile.delta(epsilon)
        assert truth * (1 + 0.9 * SLACK) <= found <= truth * (1 + mp.mpf(10) ** -10) + mp.mpf(10) ** -12
    assert ChoiceProfile(np.array([0.5]), np.array([0.0]), run_privacy(PureDP(1.0))).delta(2.0) >= 2.0**-900


def test_losses_far_below_nothing_are_moved_down_too() -> None:
    """By their size: a δ close to 1 shows it."""
    profile = ChoiceProfile(np.array([1.0]), np.array([-2.0]), run_privacy(PureDP(0.5)))
    moved = mp.mpf(2) + mp.mpf(10) ** -12 * 3
    assert (1 - mp.exp(-moved)) * (1 + 0.9 * SLACK) <= profile.delta(0.0)


@pytest.mark.parametrize("shift", [-3.0, 0.5, 2.0])
def test_losses_are_moved_down_by_what_is_said(shift: float) -> None:
    """Seen through a run whose profile is its argument, far from 0."""
    run = RunPrivacy(math.inf, np.zeros(1), lambda losses: losses, lambda _: 0.0, 1.0)
    for epsilon in (4.0, 1000.0):
        found = ChoiceProfile(np.array([1.0]), np.array([shift]), run).delta(epsilon)
        loss = mp.mpf(epsilon) + shift
        truth = (loss - mp.mpf(10) ** -12 * (1 + epsilon + abs(loss))) * (1 + mp.mpf(SLACK))
        assert abs(found - truth) <= 1e-15 * abs(truth) + 2e-16 * epsilon + 2.0**-52


def test_an_epsilon_is_the_least_that_keeps_a_delta() -> None:
    profile = ChoiceProfile.of(run_privacy(GDP(0.5)), NegativeBinomialStopping(1.0, 0.2))
    for delta in (1e-2, 1e-6, 1e-12):
        found = profile.epsilon(delta, 50.0)
        assert profile.delta(found) <= delta < profile.delta(found - 1.01e-9 * 50.0)
    at_0 = profile.delta(0.0)
    assert profile.epsilon(at_0, 50.0) == 0.0
    assert profile.epsilon(math.nextafter(at_0, 0.0), 50.0) > 0.0
    at_3 = profile.delta(3.0)
    assert profile.epsilon(math.nextafter(at_3, 0.0), 3.0) == 3.0
    assert profile.epsilon(1e-300, 3.0) == 3.0
