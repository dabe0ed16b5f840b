"""Whether an output shows what was noised, and all that this depends on."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from accountant import GDP, Cost, PureDP
from accountant.arrays import FloatArray
from mechanisms import SecureNoise
from proofs_tests.harness import ClaimViolated, Pair, check_recorded
from proofs_tests.harness.recording.comparison import compared
from proofs_tests.harness.recording.elsewhere import used_otherwise
from proofs_tests.harness.recording.exposure import hidden, placed
from proofs_tests.harness.recording.runs import chosen_by, run

RNG = np.random.default_rng(3)
PAIR = Pair(2.0, 3.0)


def noisy(value: float, scale: float = 1.0) -> float:
    return float(value + RNG.laplace(scale=scale))


def told(program: Callable[[float], object]) -> str | None:
    """What `hidden` says on this pair."""
    first = run(program, PAIR.before)
    by_choice = chosen_by(first.calls)
    second = run(program, PAIR.after, first.calls, None, by_choice)
    return hidden(program, PAIR.before, first, compared(first.calls, second.calls, by_choice).changes, by_choice)


def twice_as_large(value: float) -> float:
    return 2.0 * noisy(value) - 1.0


def turned(value: float) -> list[float]:
    one, other = noisy(value), noisy(2.0 * value)
    return [one + other, one - other]


def beside_another(value: float) -> list[float]:
    return [noisy(value) + noisy(1.0), noisy(5.0)]


def in_order(value: float) -> list[float]:
    first = noisy(value)
    return [first, noisy(value * first)]


def chosen(value: float) -> int:
    return int(np.argmax(np.array([value, 2.0]) + RNG.gumbel(size=2)))


@pytest.mark.parametrize("program", [noisy, twice_as_large, turned, in_order, chosen])
def test_what_stands_in_the_output_or_moves_it_is_seen(program: Callable[[float], object]) -> None:
    assert told(program) is None


def summed(value: float) -> float:
    return noisy(value) + noisy(2.0 * value)


def compared_to(value: float) -> bool:
    return noisy(value) > -1e9


def cut(value: float) -> float:
    return float(np.clip(noisy(value), 1e6, 2e6))


def the_last_alone(value: float) -> float:
    return noisy(value * noisy(value), 1e-6)


def unseen_choice(value: float) -> float:
    place = int(np.argmax(np.array([value, 2.0]) + RNG.gumbel(size=2)))
    return noisy(value + 0 * place)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (summed, "shows less"),
        (compared_to, "shows less"),
        (cut, "shows less"),
        (beside_another, "shows less"),
        (the_last_alone, "shows less"),
        (unseen_choice, "does not show"),
    ],
)
def test_what_is_added_up_compared_or_cut_off_is_not(program: Callable[[float], object], reason: str) -> None:
    assert reason in str(told(program))


def test_noise_that_a_hidden_draw_decides_proves_nothing() -> None:
    """As in objective perturbation: what comes after the hidden noise moves far, against almost none of its own."""

    def minimised(value: float) -> FloatArray:
        source = SecureNoise()
        slope = float(source.laplace(np.zeros(1), 1.0, -40)[0])
        return source.laplace(np.array([value + slope]), 1e-6, -60)

    report = check_recorded(minimised, [PAIR], claimed=PureDP(1.1), seconds=0.3)
    assert "shows less than was noised" in report.witness
    with pytest.raises(ClaimViolated):
        check_recorded(minimised, [PAIR], claimed=PureDP(0.5), seconds=60.0)


@pytest.mark.parametrize("output", [np.arange(3.0), [0.0, 1.0, 2.0], (0.0, 1.0, 2.0)])
def test_numbers_are_placed_in_outputs_of_any_form(output: object) -> None:
    found = placed(output, {1: 9.0})
    assert type(found) is type(output)
    assert np.asarray(found).tolist() == [0.0, 9.0, 2.0]
    assert np.asarray(output).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("claimed", [PureDP(0.1), GDP(0.1)])
def test_what_cannot_be_looked_at_in_time_is_not_refuted(claimed: Cost) -> None:
    runs = list[float]()

    def slow(value: float) -> list[float]:
        runs.append(value)
        time.sleep(0.01)
        return [turn for each in range(10) for turn in turned(value + each)]

    report = check_recorded(slow, [PAIR], claimed=claimed, seconds=0.1)
    assert report.verdict == "not understood"
    assert "was not seen in 0.4 s" in report.not_understood
    # As many as there is time for, whatever the machine has to do besides; in ten times as many seconds there are 260.
    assert len(runs) < 130


def test_a_refutation_in_time_stands() -> None:
    with pytest.raises(ClaimViolated):
        check_recorded(noisy, [PAIR], claimed=PureDP(0.9), seconds=5.0)


def by_the_difference(value: float) -> float:
    """Noise decides which of two sums comes out: neither is what another noise would have made of it."""
    one, other = RNG.laplace(), RNG.laplace()
    sums = value + one, 1.0 + other, 2.0 + RNG.laplace()
    return float(sums[0] if one > other else sums[2])


def by_the_product(value: float) -> float:
    one, other = RNG.laplace(), RNG.laplace()
    sums = value + one, 1.0 + other, 2.0 + RNG.laplace()
    return float(sums[0] if one * other > 0.0 else sums[2])


@pytest.mark.parametrize("program", [by_the_difference, by_the_product])
def test_draws_that_decide_something_together_are_used_otherwise(program: Callable[[float], object]) -> None:
    for _ in range(3):
        first = run(program, PAIR.before)
        assert "used otherwise" in used_otherwise(program, PAIR.before, first, chosen_by(first.calls))
