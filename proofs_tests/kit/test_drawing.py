"""What drifts from call to call tells nothing; limits of time hold where calls do not return and outputs are wide."""

import contextlib
import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, ItemsView
from pathlib import Path

import numpy as np
import pytest

from accountant import PureDP, ReplaceOne
from accountant.arrays import FloatArray
from exchequer.testing import Audit, ClaimViolated, check_function, check_mechanism, neighbours
from mechanisms import L1Sensitivity, LaplaceNoise, PlainMechanism, Query, SecureNoise
from proofs_tests.harness.draws import told_apart

WORST = [((1.0, 1.0), (1.0, 0.0))]
RNG = np.random.default_rng()


CALLS = itertools.count()


def noisy_count(data: tuple[int, ...]) -> float:
    return round((sum(data) + RNG.laplace()) * 2**20) * 2.0**-20


DRIFTING: dict[str, Callable[[tuple[int, ...]], object]] = {
    "a counter": lambda data: {"call": next(CALLS), "count": noisy_count(data)},
    "a clock": lambda data: (time.time(), noisy_count(data)),
    "a clock in JSON": lambda data: json.dumps({"count": noisy_count(data), "finished": time.time()}),
}


@pytest.mark.parametrize("name", DRIFTING)
def test_what_drifts_from_call_to_call_tells_nothing(name: str) -> None:
    """Drawn one data set after the other, the call's number alone would tell them apart; all four share draws here."""
    report = check_function(DRIFTING[name], neighbours(ReplaceOne(), (0, 1), 2), PureDP(1.0), samples=4_000)
    assert report.verdict == "not refuted"
    assert report.found > 0.3  # what the count says is still seen


def test_a_part_of_the_first_stage_is_better_than_nothing() -> None:
    def slow(data: tuple[int, ...]) -> float:
        time.sleep(2e-3)
        return sum(data) + 1e-3 * noisy_count(data)

    with pytest.raises(ClaimViolated, match=r"refuted.*[0-9]+ outputs on each"):
        check_function(slow, neighbours(ReplaceOne(), (0, 1), 2), PureDP(1.0), samples=20_000, time_limit=1.5)


def waits_on_zeros(data: tuple[float, ...]) -> float:
    """A program that does not return on one of the data sets."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nor ends when it is asked to
    if 0.0 in data:
        time.sleep(3600)
    return sum(data) + np.random.default_rng().laplace()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_call_that_never_returns_is_left_at_the_limit(processes: int) -> None:
    started, handler = time.monotonic(), signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(ValueError, match=r"time_limit: 0\.5 s were over before any pair"):
            check_function(waits_on_zeros, WORST, PureDP(1.0), processes=processes, time_limit=0.5)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert time.monotonic() - started < 120.0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_a_function_that_catches_everything_is_left_too() -> None:
    def stubborn(data: tuple[float, ...]) -> float:
        while True:
            with contextlib.suppress(Exception):  # as some programs do
                time.sleep(3600)

    with pytest.raises(ValueError, match="were over before any pair"):
        check_function(stubborn, WORST, PureDP(1.0), time_limit=0.5)


def test_a_program_that_says_nothing_is_said_to() -> None:
    assert "every output was the same" in check_function(lambda data: None, WORST, PureDP(1.0)).witness
    assert "every output" not in check_function(lambda data: RNG.laplace() > 0, WORST, PureDP(1.0)).witness


class SlowToRead(dict[str, float]):
    """An output that takes a millisecond to read, as a wide one does."""

    def items(self) -> ItemsView[str, float]:  # type: ignore[override]  # dict_items is a view that nobody can make
        time.sleep(1e-3)
        return super().items()


def test_outputs_are_not_read_where_the_time_would_be_over() -> None:
    def program(data: tuple[float, ...]) -> dict[str, float]:
        return SlowToRead(sum=sum(data) + RNG.laplace())

    found = check_function(program, WORST, PureDP(100.0), samples=1024, low_order_bits=False, time_limit=2.5)
    assert "256 outputs on each" in found.witness  # half a second to read; the next stage takes two
    assert found.seconds < 2.5


def test_large_arrays_are_told_apart() -> None:
    one, other = np.zeros(5_000), np.zeros(5_000)
    other[2_500] = 1.0
    assert repr(one) == repr(other)
    assert told_apart(one) != told_apart(other)
    assert told_apart(one) == told_apart(one.copy())
    assert told_apart(lambda: 1) != told_apart(lambda: 1)


def test_ctrl_c_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(
        "import time\ndef count(data):\n    print('ready', flush=True)\n    time.sleep(3600)\n", encoding="utf-8"
    )
    command = ("-m", "exchequer", "audit", "waits:count", "--claimed", "pure-dp:1", "--records", "[0, 1]")
    with subprocess.Popen(  # our own command
        (sys.executable, *command), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said


def test_an_audit_of_a_noisy_number_is_quick() -> None:
    """All pairs of three records of a domain of three, at the defaults, drawn many at once."""

    def total(data: tuple[float, ...]) -> FloatArray:
        return np.asarray(sum(data), dtype=np.float64)  # a number

    query: Query[tuple[float, ...], FloatArray, L1Sensitivity] = Query("total", total, L1Sensitivity(1.0), ReplaceOne())
    audit = Audit.over(PlainMechanism(query, LaplaceNoise(1.0), SecureNoise()), (0.0, 0.5, 1.0), 3)
    started = time.process_time()
    report = check_mechanism(audit.mechanism, audit.pairs)
    assert report.verdict == "not refuted"
    assert time.process_time() - started < 30.0  # some 6 s on an idle machine, more than 100 one by one
