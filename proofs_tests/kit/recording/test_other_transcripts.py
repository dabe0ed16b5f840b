"""One transcript is not all: sound programs that lose less than it says, and unsound ones that lose more."""

import math
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
import pytest

from accountant import GDP, ApproxDP, Cost, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import GaussianNoise, L2Sensitivity, PlainMechanism, Query, SecureNoise
from proofs_tests.harness import ClaimViolated, Pair, check_recorded

Records = tuple[float, ...]
Program = Callable[[Records], object]

RNG = np.random.default_rng(13)
WIDE = Pair[Records]((0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 1.0))
MOVED = Pair[Records]((0.0, 1.0, 1.0), (0.0, 0.0, 1.0))
FEWER = Pair[Records]((0.5,) * 9, (0.5,) * 10)


def _counts(data: Records) -> FloatArray:
    return np.histogram(data, bins=[-0.5, 0.5, 1.5])[0].astype(np.float64)


def in_order(data: Records) -> FloatArray:
    """Two counts that change places look the same when sorted."""
    return np.sort(_counts(data) + RNG.laplace(scale=2.0, size=2))


def in_order_listed(data: Records) -> list[float]:
    return sorted(float(count + RNG.normal(scale=2.0)) for count in _counts(data))


def hour(data: Records) -> float:
    return float((sum(data) + RNG.laplace(scale=24.0)) % 24.0)


def angle(data: Records) -> float:
    return float((sum(data) + RNG.normal(scale=24.0)) % 24.0)


def accuracy_by_chance(data: Records) -> tuple[float, float]:
    scale = RNG.choice([1.0, 10.0], p=[0.9, 0.1])
    return float(scale), float(sum(data) + RNG.normal(scale=scale))


def accuracy_by_a_release(data: Records) -> tuple[float, float]:
    first = float(0.0 + RNG.normal())
    return first, float(sum(data) + RNG.normal(scale=1.0 if first > -1.28 else 10.0))


def answer_by_what_is_left_of_noise(data: Records) -> float:
    left = (0.5 + RNG.normal(scale=4.0)) % 1.0
    return data[3] if left < 0.75 else 1.0 - data[3]


def _whole(value: int, scale: float) -> int:
    return int(dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)(value))


def count_with_its_own_scale(data: Records) -> int:
    return _whole(len(data), 10.0 + 0.1 * len(data))


def largest_beside_whole_numbers(data: Records) -> tuple[int, list[int]]:
    scores = [_whole(int(sum(data)) + more, 2.0) for more in range(4)]
    return int(np.argmax(scores)), list(range(-50, 50))


def total_and_mean(data: Records) -> tuple[float, float]:
    """The same noise, of which sums and quotients of large numbers lose the last digits."""
    noise, total = RNG.laplace(scale=1.0), math.fsum([1e9 / 3.0, *data]) / 0.7
    return total + noise / 0.7, total / 7.1 + noise / 7.1 / 0.7


def short_floats(data: Records) -> FloatArray:
    return sum(data) * DIRECTION + RNG.standard_normal(DIRECTION.size, dtype=np.float32)


def beside_large_values(data: Records) -> FloatArray:
    def values(records: Records) -> FloatArray:
        return 1e9 + sum(records) * DIRECTION[:3000] / np.linalg.norm(DIRECTION[:3000])

    query = Query("sums", values, L2Sensitivity(1.0), ReplaceOne())
    return PlainMechanism(query, GaussianNoise(1.0), SecureNoise()).sample(data)


def cut_at_both_ends(data: Records) -> float:
    """What is lost in tails is cut off: it is 2.83-DP."""
    return float(np.clip(sum(data) + RNG.normal(), 0.0, 4.0))


DIRECTION = np.random.default_rng(1).normal(size=20_000)
DIRECTION /= np.linalg.norm(DIRECTION)

SOUND: list[tuple[Program, Pair[Records], Cost]] = [
    (in_order, MOVED, PureDP(0.5)),
    (in_order_listed, MOVED, GDP(0.3)),
    (hour, WIDE, PureDP(0.025)),
    (angle, WIDE, GDP(0.02)),
    (accuracy_by_chance, WIDE, ApproxDP(1.0, 0.12)),
    (accuracy_by_a_release, WIDE, ApproxDP(1.0, 0.12)),
    (answer_by_what_is_left_of_noise, WIDE, PureDP(1.1)),
    (count_with_its_own_scale, FEWER, ApproxDP(1.0, 1e-3)),
    (largest_beside_whole_numbers, WIDE, ApproxDP(1.0, 1e-6)),
    (total_and_mean, WIDE, PureDP(1.001)),
    (cut_at_both_ends, WIDE, ApproxDP(3.0, 1e-5)),
    (short_floats, WIDE, GDP(1.01)),
    (beside_large_values, WIDE, GDP(1.01)),
]


@pytest.mark.parametrize(("program", "pair", "claimed"), SOUND)
def test_what_looks_worse_on_one_transcript_is_not_refuted(
    program: Program, pair: Pair[Records], claimed: Cost
) -> None:
    dp.enable_features("contrib")
    for _ in range(1 if program in (short_floats, beside_large_values) else 6):
        assert not check_recorded(program, [pair], claimed=claimed, seconds=0.2).refuted


def shown_beside(data: Records) -> tuple[float, float]:
    noise = RNG.laplace()
    return sum(data) + noise, float(noise)


def sign_beside(data: Records) -> tuple[float, bool]:
    noise = RNG.laplace()
    return sum(data) + noise, bool(noise > 0.0)


def mean_beside(data: Records) -> tuple[FloatArray, float]:
    noise = RNG.laplace(size=4)
    return np.array(data) + noise, float(noise.mean())


def drawn_again(data: Records) -> float:
    noise = RNG.laplace()
    while abs(noise) > 3.0:
        noise = RNG.laplace()
    return sum(data) + noise


def never_below(data: Records) -> float:
    return sum(data) + max(RNG.laplace(), -8.0)


def drawn_again_by_the_sum(data: Records) -> float:
    noisy = sum(data) + RNG.laplace()
    while noisy < 0.0:
        noisy = sum(data) + RNG.laplace()
    return noisy


def by_chances_in_rows(data: Records) -> int:
    """The exponential mechanism by one uniform number, which mostly falls into the same row on both sides."""
    chances = np.exp(0.01 * np.array([sum(data), 1.0]))
    return int(np.searchsorted(np.cumsum(chances / chances.sum()), RNG.random()))


@pytest.mark.parametrize(
    "program",
    [shown_beside, sign_beside, mean_beside, drawn_again, never_below, drawn_again_by_the_sum, by_chances_in_rows],
)
def test_a_loss_that_is_not_all_is_not_told_as_if_it_were(program: Program) -> None:
    for _ in range(3):
        try:
            report = check_recorded(program, [WIDE], claimed=PureDP(1.0), seconds=0.2)
        except ClaimViolated:
            continue
        assert "not understood" in report.witness, report


def test_what_is_lost_more_at_other_outputs_is_found_there() -> None:
    def seldom(data: Records) -> tuple[float, float]:
        first = float(0.0 + RNG.normal())
        return first, sum(data) + RNG.laplace(scale=1.0 if first < 3.0 else 0.1)

    with pytest.raises(ClaimViolated) as caught:
        check_recorded(seldom, [WIDE], claimed=PureDP(1.0))
    assert caught.value.report.found == pytest.approx(10.0)


def test_a_value_at_the_location_of_its_noise_counts_among_sensitivities() -> None:
    def located(data: Records) -> float:
        return float(RNG.laplace(2.3 * sum(data), 2.0))

    with pytest.raises(ClaimViolated, match="change of call 1"):
        check_recorded(located, [WIDE], claimed=PureDP(5.0), sensitivities=2.0)
