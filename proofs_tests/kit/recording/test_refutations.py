"""A refutation is a proof: what only looks wrong on one transcript, or has only a bound, refutes nothing."""

import random
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
import pytest

from accountant import GDP, ApproxDP, Cost, PureDP
from proofs_tests.harness import ClaimViolated, Pair, check_recorded

Records = tuple[float, ...]
Program = Callable[[Records], object]

RNG = np.random.default_rng(7)
WIDE = Pair[Records]((0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 1.0))
FEWER = Pair[Records]((0.5,) * 9, (0.5,) * 10)


def randomised_response(data: Records) -> float:
    return data[3] if random.random() < 0.9 else 1.0 - data[3]


def a_draw_per_record(data: Records) -> float:
    return sum(data) + max([RNG.laplace(scale=1.0) for _ in data][:1])


def cut_off(data: Records) -> float:
    """Noise of two scales, but what would tell them apart is cut off."""
    return float(np.clip(sum(data) / len(data) + RNG.laplace(scale=1.0 / len(data)), 0.0, 1.0))


def mirrored(data: Records) -> float:
    return abs(sum(data) - 2.5 + RNG.laplace(scale=1.0))


def threshold_of_data(data: Records) -> bool:
    """Almost always True and almost always False, but not for sure."""
    noise = RNG.laplace(scale=1.0)
    return bool(noise + 2.0 > 4.0 * data[3])


def scarcely_another(data: Records) -> float:
    return float(sum(data[:3]) + RNG.normal(scale=1.0)) / (1000.0 + data[3])


SOUND: list[tuple[Program, Pair[Records], Cost]] = [
    (randomised_response, WIDE, PureDP(2.2)),
    (a_draw_per_record, Pair((0.0, 1.0), (0.0, 1.0, 1.0)), PureDP(1.0)),
    (cut_off, FEWER, PureDP(1.01)),
    (mirrored, Pair((0.0, 2.5), (1.0, 2.5)), PureDP(1.0)),
    (threshold_of_data, WIDE, PureDP(4.0)),
    (scarcely_another, WIDE, ApproxDP(1.0, 1e-5)),
]


@pytest.mark.parametrize(("program", "pair", "claimed"), SOUND)
def test_correct_claims_stand(program: Program, pair: Pair[Records], claimed: Cost) -> None:
    for _ in range(5):
        assert not check_recorded(program, [pair], claimed=claimed, seconds=0.2).refuted


def test_randomised_response_that_answers_truly_too_often_is_left_to_its_outputs() -> None:
    assert "random.random" in check_recorded(randomised_response, [WIDE], claimed=PureDP(0.5)).witness


def test_a_value_beside_draws_that_are_not_understood_is_seen_by_running_often() -> None:
    def beside(data: Records) -> tuple[float, float]:
        return random.random(), data[3]

    with pytest.raises(ClaimViolated, match="in each of 69 runs"):
        check_recorded(beside, [WIDE], claimed=PureDP(1.0))
    assert "may hide that" in check_recorded(beside, [WIDE], claimed=PureDP(15.0), seconds=0.2).witness


def test_another_scale_is_told_from_a_transcript_far_out() -> None:
    def scaled(data: Records) -> float:
        return sum(data) / len(data) + RNG.laplace(scale=1.0 / len(data))

    with pytest.raises(ClaimViolated) as caught:
        check_recorded(scaled, [FEWER], claimed=PureDP(1.01))
    assert 1.01 < caught.value.report.found < float("inf")


def test_each_element_of_a_pure_loss_is_added_up_where_the_later_ones_depend_on_the_first() -> None:
    def twice(data: Records) -> list[float]:
        first = float(sum(data) + RNG.laplace(scale=2.0))
        return [first, float(sum(data) * (2.0 if first > 10.0 else 1.0) + RNG.laplace(scale=2.0))]

    with pytest.raises(ClaimViolated) as caught:
        check_recorded(twice, [WIDE], claimed=PureDP(0.9))
    assert caught.value.report.found == pytest.approx(1.0)


# --- a library's own account -------------------------------------------------------------------------------------


dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
TOTAL = SPACE >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum()  # type: ignore[no-untyped-call]  # OpenDP leaves it open
MADE_BEFORE = TOTAL >> dp.m.then_laplace(1.0)


def made_before(data: Records) -> float:
    return float(MADE_BEFORE(list(data)))


def made_within(data: Records) -> float:
    return float((TOTAL >> dp.m.then_laplace(1.0))(list(data)))


def test_a_privacy_map_is_an_upper_bound_and_refutes_nothing() -> None:
    """OpenDP's map of a sum of floats says 1.0000000093 where the loss is 1; of a replaced record it says 2."""
    for claimed in (PureDP(1.0), PureDP(0.1)):
        report = check_recorded(made_before, [WIDE], claimed=claimed)
        assert not report.refuted
        assert "at most" in report.witness


def test_a_pipeline_that_is_made_while_recorded_is_known_exactly() -> None:
    assert check_recorded(made_within, [WIDE], claimed=PureDP(1.0)).found == pytest.approx(1.0)
    with pytest.raises(ClaimViolated) as caught:
        check_recorded(made_within, [WIDE], claimed=PureDP(0.9))
    assert caught.value.report.found == pytest.approx(1.0)


def whole_counts(data: Records) -> int:
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)
    return int(measurement(int(sum(data))))


def gaussian_sum(data: Records) -> float:
    measurement = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=2.0)
    return float(measurement(sum(data)))


@pytest.mark.parametrize(("program", "claimed"), [(whole_counts, PureDP(0.5)), (gaussian_sum, GDP(0.5))])
def test_noise_of_opendp_costs_what_its_law_says(program: Program, claimed: Cost) -> None:
    found = check_recorded(program, [WIDE], claimed=claimed)
    assert found.found == pytest.approx(0.5)
    with pytest.raises(ClaimViolated):
        check_recorded(program, [WIDE], claimed=PureDP(0.45) if claimed == PureDP(0.5) else GDP(0.45))


# --- seeds -------------------------------------------------------------------------------------------------------


def seeded_by_a_number(data: Records) -> float:
    return sum(data) + np.random.default_rng(0).laplace(scale=1.0)


def seeded_by_the_data(data: Records) -> float:
    return sum(data) + np.random.default_rng(int(sum(data))).laplace(scale=1.0)


def seeded_globally(data: Records) -> float:
    random.seed(3)
    return sum(data) + random.gauss(0.0, 1.0)


def seeded_in_part(data: Records) -> tuple[float, float]:
    fresh = sum(data) + RNG.laplace(scale=4.0)
    return fresh, sum(data) + np.random.default_rng(1).laplace(scale=4.0)


def counted(data: Records) -> int:
    dp_like = np.random.default_rng(5)
    return int(sum(data)) + int(np.round(dp_like.laplace(scale=3.0)))


@pytest.mark.parametrize("program", [seeded_by_a_number, seeded_by_the_data, seeded_globally, seeded_in_part, counted])
def test_noise_from_a_seed_in_the_program_hides_nothing(program: Program) -> None:
    with pytest.raises(ClaimViolated, match="the same noise in every run"):
        check_recorded(program, [WIDE], claimed=ApproxDP(1.0, 1e-5) if program is seeded_globally else PureDP(1.0))


def test_runs_that_draw_the_same_from_a_secret_seed_show_nothing() -> None:
    """Neither a part that is always the same, nor outputs by frequency, which are two numbers."""

    def seeded(data: Records) -> list[float]:
        generator = np.random.default_rng(1)
        return [generator.random(), data[3] + generator.standard_gamma(2.0), sum(data) + generator.laplace(scale=1.0)]

    def hidden(data: Records) -> float:
        generator = np.random.default_rng(2)
        return float(sum(data) + generator.laplace(scale=2.0) + (sum(data) + generator.laplace(scale=2.0)))

    for program in (seeded, hidden):
        report = check_recorded(program, [WIDE], claimed=PureDP(0.9), secret_seeds=True, seconds=0.5)
        assert not report.refuted
        with pytest.raises(ClaimViolated):
            check_recorded(program, [WIDE], claimed=PureDP(0.9), seconds=0.5)


def test_a_seed_that_is_told_to_be_secret_is_as_good_as_any() -> None:
    assert check_recorded(seeded_by_a_number, [WIDE], claimed=PureDP(1.0), secret_seeds=True).found == 1.0
