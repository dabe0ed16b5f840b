"""Programs that keep something from run to run, look at a clock, raise or fork: what comes out is no fresh draw."""

import functools
import multiprocessing
import random
import time
from collections.abc import Callable

import numpy as np
import pytest

from accountant import ApproxDP, PureDP
from proofs_tests.harness import ClaimViolated, Pair, check_recorded, recorded
from proofs_tests.harness.recording.calls import Diverged

Records = tuple[float, ...]
Program = Callable[[Records], object]

RNG = np.random.default_rng(11)
WIDE = Pair[Records]((0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 1.0))
OTHER = Pair[Records](WIDE.before, (0.0, 1.0, 1.0, 0.5))


def noisy(data: Records) -> float:
    return float(sum(data) + RNG.laplace(scale=1.0))


def answered_once() -> Program:
    return functools.lru_cache(noisy)


def noise_made_once() -> Program:
    kept = list[float]()

    def program(data: Records) -> float:
        if not kept:
            kept.append(float(RNG.laplace(scale=1.0)))
        return sum(data) + kept[0]

    return program


def one_of_two_kept() -> Program:
    kept = functools.lru_cache(noisy)
    return lambda data: (kept(data), noisy(data))


@pytest.mark.parametrize("made", [answered_once, noise_made_once, one_of_two_kept])
def test_what_is_kept_from_run_to_run_is_no_leak(made: Callable[[], Program]) -> None:
    report = check_recorded(made(), [WIDE, OTHER], claimed=PureDP(2.0), seconds=0.2)
    assert not report.refuted
    assert "keeps something from run to run" in report.witness


def counted() -> Program:
    runs = list[int]()

    def program(data: Records) -> object:
        runs.append(1)
        return {"run": len(runs), "sum": noisy(data)}

    return program


def stamped() -> Program:
    return lambda data: (time.time(), noisy(data))


@pytest.mark.parametrize("made", [counted, stamped])
def test_a_counter_and_a_clock_are_on_no_side(made: Callable[[], Program]) -> None:
    report = check_recorded(made(), [WIDE], claimed=PureDP(1.0), seconds=0.3)
    assert not report.refuted
    assert "not understood" in report.witness


def test_an_error_on_the_first_of_a_pair_shows_as_much_as_on_the_second() -> None:
    def program(data: Records) -> float:
        if data[3] > 0.5:
            raise ZeroDivisionError("a record")
        return noisy(data)

    for pair in (WIDE, Pair(WIDE.after, WIDE.before)):
        with pytest.raises(ClaimViolated, match=r"ZeroDivisionError|not reached on the neighbour"):
            check_recorded(program, [pair], claimed=PureDP(1.0), seconds=60.0)


def test_an_error_on_both_sides_is_the_programs_own() -> None:
    def program(data: Records) -> float:
        raise ZeroDivisionError(len(data))

    with pytest.raises(ZeroDivisionError):
        check_recorded(program, [WIDE], claimed=PureDP(1.0))


def test_a_program_that_catches_anything_cannot_hide_that_it_draws_something_else() -> None:
    with recorded() as tape:
        RNG.laplace()

    def replay() -> None:
        with recorded(tape.calls) as again:
            try:
                RNG.normal()
            except BaseException:  # as such programs do
                RNG.laplace()
            again.finished()

    with pytest.raises(Diverged):
        replay()


def _drawn() -> float:
    return float(RNG.laplace())


def test_a_process_that_is_forked_draws_by_itself() -> None:
    with recorded() as tape:
        RNG.normal()
    with recorded(tape.calls), multiprocessing.get_context("fork").Pool(1) as pool:
        assert np.isfinite(pool.apply_async(_drawn).get(timeout=30))


def test_programs_run_under_recording_as_they_do_without() -> None:
    with recorded():
        assert RNG.laplace(size=3)[0].item() == pytest.approx(0.0, abs=100.0)
        assert RNG.choice(np.arange(6).reshape(2, 3), 2, axis=1).shape == (2, 2)
        assert random.choices(population=["a"], k=2) == ["a", "a"]
        assert random.choice(seq=["a"]) == "a"
        assert len(random.sample(range(10**12), 3)) == 3


def test_everything_is_put_back_after_an_interruption() -> None:
    old = random.random, np.random.Generator.normal
    with pytest.raises(KeyboardInterrupt), recorded():
        raise KeyboardInterrupt
    assert (random.random, np.random.Generator.normal) == old
    assert not check_recorded(noisy, [WIDE], claimed=ApproxDP(1.0, 0.0)).refuted
