"""Loss distributions against enumeration in sixty digits: laws on the grid, so that nothing but rounding differs."""

import itertools
import math
from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
import pytest

from accountant.arrays import FloatArray
from accountant.composition import loss_distribution
from accountant.composition.loss_distribution import (
    LARGEST_LOSS,
    MAX_POINTS,
    RELATIVE,
    ComposedLosses,
    LossDistribution,
    TooFine,
    from_atoms,
    from_profile,
)
from accountant.costs.curves import ABSOLUTE
from accountant.costs.rounding import SLACK, up
from proofs_tests.support.mechanisms.closed_forms import binomial_delta, delta_of, gaussian_delta, product
from proofs_tests.support.mechanisms.just_above import just_above

STEP = 0.125


def law(probabilities: dict[int, float], infinity: float = 0.0) -> LossDistribution:
    """Probabilities under P by grid point."""
    places = sorted(probabilities)
    masses = np.zeros(places[-1] - places[0] + 1)
    for place, probability in probabilities.items():
        masses[place - places[0]] = probability
    return LossDistribution(masses, places[0], STEP, infinity)


def atoms(distribution: LossDistribution) -> list[tuple[mp.mpf, mp.mpf]]:
    """The pair in sixty digits."""
    with mp.workdps(60):
        found = [
            (mp.mpf(mass), mp.mpf(mass) * mp.exp(-(distribution.first + place) * mp.mpf(distribution.step)))
            for place, mass in enumerate(distribution.masses.tolist())
            if mass
        ]
        return [*found, (mp.mpf(distribution.infinity), mp.mpf(0))]


RESPONSE = law({4: 1.0 / (1.0 + math.exp(-0.5)), -4: 1.0 / (1.0 + math.exp(0.5))})
LOPSIDED = law({-3: 0.2, 0: 0.5, 1: 0.15, 9: 0.15 - 1e-4}, 1e-4)
LAWS = {
    "response": RESPONSE,
    "lopsided": LOPSIDED,
    "one point": law({2: 1.0}),
    "surely": law({0: 0.75, 1: 0.125}, 0.125),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_knows_its_grid_and_its_moments(name: str) -> None:
    distribution = LAWS[name]
    places = np.arange(distribution.masses.size) + distribution.first
    assert distribution.losses.tolist() == [place * STEP for place in places.tolist()]
    for tilt in (-0.7, 0.0, 0.3, 4.0, 60.0):
        with mp.workdps(60):
            terms = [
                mp.mpf(mass) * mp.exp(mp.mpf(tilt) * place * mp.mpf(STEP))
                for mass, place in zip(distribution.masses.tolist(), places.tolist(), strict=True)
            ]
            assert distribution.log_moment(tilt) == pytest.approx(float(mp.log(mp.fsum(terms))), rel=1e-13, abs=1e-13)
            tilted = [float(term / mp.fsum(terms)) for term in terms]
        assert distribution.tilted(tilt).tolist() == pytest.approx(tilted, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("infinity", [0.0, 0.01])
@pytest.mark.parametrize("losses", [[0.5, -0.5], [0.3], [0.0], [-0.51, 0.13, 0.13, 2.02], [0.125, 0.2, 0.25]])
def test_atoms_keep_their_masses_under_both_laws_and_go_to_their_neighbours(
    losses: list[float], infinity: float
) -> None:
    probabilities = np.array([(place + 1.0) / 20.0 for place in range(len(losses))])
    found = from_atoms(np.array(losses), probabilities, infinity, STEP)
    assert (found.step, found.infinity) == (STEP, infinity)
    assert float(np.sum(found.masses)) == pytest.approx(float(np.sum(probabilities)), rel=1e-14)
    under_q = float(np.sum(probabilities * np.exp(-np.array(losses))))
    assert float(np.sum(found.masses * np.exp(-found.losses))) == pytest.approx(under_q, rel=1e-13)
    assert np.all(found.masses >= 0.0)
    around = {place for loss in losses for place in (math.floor(loss / STEP), math.floor(loss / STEP) + 1)}
    assert {found.first + place for place in np.flatnonzero(found.masses > 1e-15).tolist()} <= around
    assert found.first == min(around)


def test_one_atom_between_two_grid_points_is_shared_by_hand() -> None:
    found = from_atoms(np.array([0.2]), np.array([1.0]), 0.0, STEP)
    upper = (1.0 - math.exp(0.125 - 0.2)) / (1.0 - math.exp(-0.125))
    assert found.first == 1
    assert found.masses.tolist() == pytest.approx([1.0 - upper, upper], rel=1e-13)


def test_atoms_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="as many losses as probabilities"):
        from_atoms(np.array([]), np.array([]), 0.0, STEP)
    with pytest.raises(ValueError, match="as many losses as probabilities"):
        from_atoms(np.array([0.1, 0.2]), np.array([1.0]), 0.0, STEP)


def test_a_grid_has_an_end() -> None:
    assert (MAX_POINTS, LARGEST_LOSS, RELATIVE) == (2**21, 700.0, 1e-9)
    one, ones = np.array([1.0]), np.array([0.5, 0.5])
    for loss in (700.0, -700.0):
        assert from_atoms(np.array([loss]), one, 0.0, 0.5).masses.sum() == 1.0
    for loss in (700.1, -700.1, 1e6, -1e6):
        with pytest.raises(TooFine, match="losses from"):
            from_atoms(np.array([loss]), one, 0.0, 0.5)
    step = 2.0**-21
    with pytest.raises(TooFine, match="in steps of"):
        from_atoms(np.array([-0.5, 0.5]), ones, 0.0, step)
    assert from_atoms(np.array([-0.5, 0.5 - step]), ones, 0.0, step).masses.size == 2**21 + 1


def _response_profile(epsilon: float) -> Callable[[FloatArray], FloatArray]:
    def profile(losses: FloatArray) -> FloatArray:
        return np.array([float(binomial_delta(epsilon, 1, loss)) for loss in losses.tolist()])

    return profile


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-1.01, 0.99), (-0.25, 0.26), (0.0, 0.0), (-2.0, 2.0)])
def test_a_profile_keeps_its_values_on_the_grid(low: float, high: float) -> None:
    found = from_profile(_response_profile(1.0), low, high, STEP)
    assert (found.first, found.step) == (math.floor(low / STEP), STEP)
    assert found.first + found.masses.size - 1 == math.ceil(high / STEP)
    pair = atoms(found)
    for loss in found.losses.tolist():
        assert float(delta_of(pair, loss)) == pytest.approx(float(binomial_delta(1.0, 1, loss)), abs=1e-14)
    assert float(mp.fsum(p for p, _ in pair)) == pytest.approx(1.0, abs=1e-13)
    assert float(mp.fsum(q for _, q in pair)) <= 1.0 + 1e-13


def test_a_profile_has_no_negative_mass() -> None:
    found = from_profile(lambda losses: np.where(losses < 0.1, 0.5, 0.0) + 0.0 * losses, -0.5, 0.5, STEP)
    assert np.all(found.masses >= 0.0)
    with pytest.raises(TooFine):
        from_profile(lambda losses: losses, -701.0, 1.0, 0.5)


def _pairs(parts: Sequence[tuple[LossDistribution, int]]) -> list[tuple[mp.mpf, mp.mpf]]:
    return product(*(atoms(part) for part, rounds in parts for _ in range(rounds)))


PARTS: dict[str, list[tuple[LossDistribution, int]]] = {
    "responses": [(RESPONSE, 6)],
    "one response": [(RESPONSE, 1)],
    "lopsided": [(LOPSIDED, 3)],
    "mixed": [(RESPONSE, 2), (LOPSIDED, 2), (LAWS["one point"], 3)],
    "almost sure": [(LAWS["surely"], 2)],
}


@pytest.mark.parametrize("name", PARTS)
def test_delta_is_never_below_enumeration_and_hardly_above_on_the_grid(name: str) -> None:
    parts = PARTS[name]
    pair, whole = _pairs(parts), ComposedLosses(parts)
    for place in range(0, 26, 3):
        epsilon = place * STEP
        truth = delta_of(pair, epsilon)
        just_above(whole.delta(epsilon), truth, within=1.3e-9, absolute=1e-24 if truth > 1e-9 else 1e-15)


@pytest.mark.parametrize("name", PARTS)
def test_between_grid_points_delta_joins_the_dots(name: str) -> None:
    parts = PARTS[name]
    pair, whole = _pairs(parts), ComposedLosses(parts)
    for place, share in itertools.product(range(0, 12, 2), (0.2, 0.7)):
        x0, x1 = place * STEP, (place + 1) * STEP
        epsilon = x0 + share * STEP
        with mp.workdps(60):
            weight = mp.expm1(mp.mpf(epsilon) - x0) / mp.expm1(mp.mpf(STEP))
            joined = delta_of(pair, x0) * (1 - weight) + delta_of(pair, x1) * weight
        just_above(whole.delta(epsilon), joined, within=1.3e-9, absolute=1e-24 if joined > 1e-9 else 1e-15)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("at", [0.3, 0.05, 2e-3, 5e-4])
def test_epsilon_holds_and_a_little_less_does_not(name: str, at: float) -> None:
    parts = PARTS[name]
    pair, whole = _pairs(parts), ComposedLosses(parts)
    found = whole.epsilon(at)
    if found == math.inf:
        assert whole.infinity >= at
        return
    assert delta_of(pair, found) <= at
    grid = math.floor((found - 2.0 * ABSOLUTE) / STEP)
    with mp.workdps(60):  # where the line between the dots comes down to δ
        upper, lower = delta_of(pair, grid * STEP), delta_of(pair, (grid + 1) * STEP)
        crossing = (
            grid * STEP + mp.log1p((upper - at) / (upper - lower) * mp.expm1(mp.mpf(STEP))) if grid >= 0 else mp.mpf(0)
        )
        just_above(found, max(mp.mpf(0), crossing), within=1e-7, absolute=1e-7)


@pytest.mark.parametrize(("rounds", "at"), [(1, 1e-9), (10, 1e-9), (10, 0.1), (300, 1e-9), (300, 1e-25), (300, 0.1)])
def test_many_rounds_keep_their_digits(rounds: int, at: float) -> None:
    epsilon = 0.125
    law_of_one = from_atoms(
        np.array([epsilon, -epsilon]), np.array([1.0, math.exp(-epsilon)]) / (1.0 + math.exp(-epsilon)), 0.0, STEP
    )
    whole = ComposedLosses([(law_of_one, rounds)])
    found = whole.epsilon(at)
    # δ is exact on the grid; between its points the line is above it.
    assert binomial_delta(epsilon, rounds, found) <= at
    if found > STEP:
        assert binomial_delta(epsilon, rounds, math.floor(found / STEP - 1e-9) * STEP) > at
    place = 2 * STEP * math.floor(0.3 * math.sqrt(rounds))
    just_above(whole.delta(place), binomial_delta(epsilon, rounds, place), within=3e-9 + 2e-12 * rounds)


# --- one tilt at a time -----------------------------------------------------------------------------------------------

LONG = ComposedLosses([(RESPONSE, 300)])


def test_an_epsilon_is_where_the_tails_come_down_to_what_is_left() -> None:
    """Moved up by SLACK and ABSOLUTE; at the first grid point where all fit, and nowhere where none does."""
    for tilt, room in ((0.05, 1e-3), (0.2, 1e-9), (0.4, 1e-20)):
        losses, tails = LONG._profile(tilt)
        place = int(np.argmax(tails <= room))
        assert place > 0
        with mp.workdps(60):
            share = (mp.mpf(tails[place - 1]) - room) / (mp.mpf(tails[place - 1]) - mp.mpf(tails[place]))
            crossing = losses[place - 1] + mp.log1p(share * mp.expm1(mp.mpf(STEP)))
            head = float(LONG._epsilon(room, tilt) - crossing)
        assert head == pytest.approx(ABSOLUTE + SLACK * float(crossing), rel=0.02, abs=0.0)
    losses, tails = LONG._profile(5.0)
    assert tails[0] <= 0.9999
    assert losses[0] > 1.0
    assert LONG._epsilon(0.9999, 5.0) == up(float(losses[0])) + ABSOLUTE
    assert ComposedLosses([(RESPONSE, 2)])._epsilon(0.9999, 0.01) == ABSOLUTE
    assert np.min(LONG._profile(0.01)[1]) > 1e-200
    assert LONG._epsilon(1e-200, 0.01) == math.inf


WHOLES = {
    "short": ComposedLosses([(RESPONSE, 6)]),
    "mixed": ComposedLosses([(RESPONSE, 40), (LOPSIDED, 3), (LAWS["one point"], 5)]),
    "long": LONG,
    "longer": ComposedLosses([(RESPONSE, 20_000)]),
}


@pytest.mark.parametrize("name", WHOLES)
@pytest.mark.parametrize("tilt", [0.01, 0.3, 1.5])
def test_tails_are_put_together_as_is_said(name: str, tilt: float) -> None:
    """e^{moment − tilt·x}·(tail + what the transform may lose), and Chernoff's bound beyond; the head-room on top."""
    whole = WHOLES[name]
    losses, found = whole._profile(tilt)
    size, rounds = losses.size, sum(each for _, each in whole.parts)
    total, counted = whole._convolved(tilt, round(float(losses[0]) / STEP), size)
    assert counted == rounds
    assert np.diff(losses) == pytest.approx(STEP, rel=1e-12)
    error = 2.0**-50 * math.log2(size) * math.sqrt(size) * rounds / (1.0 + tilt)
    tails = loss_distribution._excess(total, math.exp(-tilt * STEP), STEP)
    here = np.exp(np.minimum(whole.log_moment(tilt) - tilt * losses, 700.0)) * (tails + error)
    wanted = (here + whole._beyond(float(losses[-1]))) * (1.0 + RELATIVE + 1e-12 * rounds)
    assert found == pytest.approx(wanted, rel=1e-13, abs=0.0)


def test_the_mass_beyond_a_window_is_chernoffs() -> None:
    tilts = np.geomspace(1e-3, 50.0, 4000)
    for edge in (60.0, 110.0, 140.0):
        best = min(LONG.log_moment(tilt) - tilt * edge for tilt in tilts.tolist())
        assert math.exp(best) * 0.999 <= LONG._beyond(edge) <= math.exp(best) * 1.01
    assert LONG._beyond(LONG._support()[1]) == 0.0
    losses, _ = WHOLES["longer"]._profile(0.3)
    assert WHOLES["longer"]._beyond(float(losses[-1])) > 0.0


def test_a_delta_outside_the_window_is_bounded_all_the_same() -> None:
    losses, tails = LONG._profile(5.0)
    assert LONG._delta(float(losses[0]) - 0.01, 5.0) == 1.0
    assert LONG._delta(1e6, 5.0) == tails[-1]


def test_what_tells_for_sure_is_rounded_up() -> None:
    surely = LAWS["surely"].infinity
    for rounds in (1, 2, 7):
        exact = 1 - (1 - mp.mpf(surely)) ** rounds
        found = ComposedLosses([(LAWS["surely"], rounds)]).infinity
        assert float(found / exact - 1) == pytest.approx(SLACK, rel=0.02, abs=0.0)


def test_gaussian_rounds_add_up_on_a_fine_grid() -> None:
    one = from_profile(lambda losses: loss_profile(0.3, losses), -3.0, 3.0, 0.01)
    whole = ComposedLosses([(one, 20)])
    mu = 0.3 * math.sqrt(20.0)
    for epsilon in (0.5, 2.0, 5.0):
        just_above(whole.delta(epsilon), gaussian_delta(mu, epsilon), within=3e-3)
    found = whole.epsilon(1e-6)
    assert gaussian_delta(mu, found) <= 1e-6
    assert gaussian_delta(mu, found - 4e-3) > 1e-6


def loss_profile(mu: float, losses: FloatArray) -> FloatArray:
    """The curve of Gaussian noise at every loss."""
    return np.array([float(gaussian_delta(mu, loss)) for loss in losses.tolist()])


def test_one_grid_for_all_parts() -> None:
    other = LossDistribution(np.ones(1), 0, 0.25, 0.0)
    with pytest.raises(ValueError, match="all on one grid"):
        ComposedLosses([(RESPONSE, 1), (other, 1)])
    with pytest.raises(ValueError, match="at least one"):
        ComposedLosses([])


def test_a_round_that_tells_for_certain() -> None:
    sure = law({0: 0.0, 1: 0.0}, 1.0)
    nothing = law({0: 0.0}, 0.5)
    for distribution in (sure, nothing, law({0: 0.5}, 1.0)):
        whole = ComposedLosses([(RESPONSE, 1), (distribution, 1)])
        assert whole.certain
        assert (whole.infinity, whole.delta(3.0), whole.epsilon(0.5)) == (1.0, 1.0, math.inf)
    assert not ComposedLosses([(RESPONSE, 1)]).certain
    assert not ComposedLosses([(LOPSIDED, 7)]).certain
    assert not ComposedLosses([(law({0: 0.5}, math.nextafter(1.0, 0.0)), 1)]).certain


def test_the_chance_of_certainty_adds_up() -> None:
    assert ComposedLosses([(RESPONSE, 9)]).infinity == 0.0
    with mp.workdps(60):
        kept = (1 - mp.mpf(1e-4)) ** 3 * (1 - mp.mpf(0.125)) ** 2
        just_above(ComposedLosses([(LOPSIDED, 3), (LAWS["surely"], 2), (RESPONSE, 4)]).infinity, 1 - kept)


def test_epsilon_is_infinite_where_certainty_is_as_likely_as_delta() -> None:
    whole = ComposedLosses([(LAWS["surely"], 1)])
    assert whole.epsilon(0.125) == math.inf
    assert whole.epsilon(whole.infinity) == math.inf
    assert whole.epsilon(0.1251) < 1.0
    assert whole.epsilon(0.12) == math.inf
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            whole.epsilon(wrong)


def test_moments_and_ends_of_the_total() -> None:
    whole = ComposedLosses([(RESPONSE, 2), (LOPSIDED, 3)])
    for tilt in (0.0, 0.4, 3.0):
        wanted = 2.0 * RESPONSE.log_moment(tilt) + 3.0 * LOPSIDED.log_moment(tilt)
        assert whole.log_moment(tilt) == pytest.approx(wanted, rel=1e-14)
    assert whole._support() == (2 * -0.5 + 3 * -0.375, 2 * 0.5 + 3 * 1.125)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("tilt", [0.05, 1.0, 6.0])
def test_the_window_holds_all_of_the_tilted_mass_and_is_no_wider_than_chernoff_asks(name: str, tilt: float) -> None:
    whole = ComposedLosses(PARTS[name])
    low, high = whole._window(tilt)
    assert whole._support()[0] <= low < high or name == "one point"
    assert high <= whole._support()[1]
    with mp.workdps(40):
        outside = mp.mpf(0)
        norm = mp.exp(mp.mpf(whole.log_moment(tilt)))
        for p, q in _pairs(PARTS[name]):
            if q and p:
                loss = mp.log(p / q)
                if not low - 1e-9 <= loss <= high + 1e-9:
                    outside += p * mp.exp(tilt * loss) / norm
    assert outside <= 2.2 * math.exp(-41.0)


@pytest.mark.parametrize("rounds", [2000, 50_000])
@pytest.mark.parametrize("tilt", [0.02, 0.5])
def test_the_window_of_many_rounds_is_about_nine_deviations_to_either_side(rounds: int, tilt: float) -> None:
    whole = ComposedLosses([(RESPONSE, rounds)])
    low, high = whole._window(tilt)
    truth = 1.0 / (1.0 + math.exp(-0.5 - 2.0 * 0.5 * tilt))
    mean, deviation = rounds * 0.5 * (2.0 * truth - 1.0), math.sqrt(rounds * truth * (1.0 - truth))
    for end in ((mean - low) / deviation, (high - mean) / deviation):
        assert math.sqrt(2.0 * 41.0) - 0.4 <= end <= math.sqrt(2.0 * 41.0) * 1.08


def test_chernoff_bounds_what_is_beyond_the_window() -> None:
    whole = ComposedLosses([(RESPONSE, 40)])
    support = whole._support()[1]
    assert whole._beyond(support) == whole._beyond(support + 1.0) == 0.0
    for edge in (4.0, 10.0, 15.0):
        truths = (edge / 0.5 + 40) / 2
        share, chance = truths / 40, 1.0 / (1.0 + math.exp(-0.5))
        divergence = share * math.log(share / chance) + (1 - share) * math.log((1 - share) / (1 - chance))
        wanted = math.exp(-40 * divergence) if share > chance else 1.0
        assert wanted * (1.0 - 1e-9) <= whole._beyond(edge) <= wanted * (1.0 + 1e-3)
    assert whole._beyond(-5.0) == pytest.approx(1.0, abs=1e-3)
    assert whole._beyond(-5.0) <= 1.0


def test_a_composition_that_needs_too_long_a_transform_is_refused() -> None:
    wide = from_atoms(np.array([5.0, -5.0]), np.array([0.99330715, 0.00669285]), 0.0, 5e-5)
    with pytest.raises(TooFine, match="grid points"):
        ComposedLosses([(wide, 2000)]).epsilon(1e-6)


def test_sums_of_tails_are_their_definitions() -> None:
    masses, decay = np.array([0.1, 0.0, 0.4, 0.2, 0.3]), 0.7
    plain = [sum(masses[j] * decay ** (j - i) for j in range(i, 5)) for i in range(5)]
    assert loss_distribution._geometric_tail(masses, decay).tolist() == pytest.approx(plain, rel=1e-14)
    excess = [sum(masses[j] * decay ** (j - i) * -math.expm1(-(j - i) * STEP) for j in range(i, 5)) for i in range(5)]
    assert loss_distribution._excess(masses, decay, STEP).tolist() == pytest.approx(excess, rel=1e-13, abs=1e-17)


def test_a_line_in_e_to_the_x_is_crossed_where_it_is() -> None:
    found = loss_distribution._crossing(1.0, 1.5, 0.4, 0.1, 0.2)
    share = (math.exp(found) - math.exp(1.0)) / (math.exp(1.5) - math.exp(1.0))
    assert 0.4 + share * (0.1 - 0.4) == pytest.approx(0.2, rel=1e-13)
    assert loss_distribution._crossing(1.0, 1.5, 0.4, 0.1, 0.1) == pytest.approx(1.5)
    assert loss_distribution._crossing(1.0, 1.5, 0.4, 0.1, 0.4) == 1.0


def test_tilts_to_try() -> None:
    assert loss_distribution._tilts(8.0, 1e-6) == [8.0, 2.0, 0.05]
    assert loss_distribution._tilts(0.01, 1e-6) == [0.01, 0.0025, 0.01]
    assert loss_distribution._tilts(8.0, 1e-10) == [8.0, 2.0]
    assert loss_distribution._tilts(8.0, 1.1e-10) == [8.0, 2.0, 0.05]
