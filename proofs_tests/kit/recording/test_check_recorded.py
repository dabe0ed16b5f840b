"""Programs of a few lines, each with an error that must be found, beside its correct twin."""

import random
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
import pytest

from accountant import GDP, ApproxDP, Cost, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import (
    ExponentialChoice,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    PlainMechanism,
    PlainSelection,
    Query,
    RangeSensitivity,
    SecureNoise,
)
from proofs_tests.harness import ClaimViolated, Pair, Report, check_recorded, recorded
from proofs_tests.harness.checks import declared_number

Records = tuple[float, ...]
Program = Callable[[Records], object]

RNG = np.random.default_rng(5)
ONE = Pair[Records]((0.0, 1.0, 1.0, 0.5), (0.0, 1.0, 1.0, 1.0))
WIDE = Pair[Records]((0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 1.0))
MORE = Pair[Records]((0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0))
PUBLIC_N = 4


def histogram(data: Records) -> FloatArray:
    counts = np.histogram(data, bins=[0.0, 0.4, 0.8, 1.2])[0]
    return np.asarray(counts + RNG.laplace(scale=2.0, size=3))


def histogram_by_bins(data: Records) -> list[float]:
    counts = np.histogram(data, bins=[0.0, 0.4, 0.8, 1.2])[0]
    return [count + noise for count, noise in zip(counts, np.random.laplace(0.0, 2.0, 3), strict=True)]  # noqa: NPY002  # what old programs call


def mean(data: Records) -> float:
    return float((sum(data) + RNG.laplace(0.0, 1.0)) / PUBLIC_N)


def located(data: Records) -> float:
    return float(np.random.laplace(loc=sum(data), scale=1.0))  # noqa: NPY002  # the same


def scaled_noise(data: Records) -> float:
    return float(np.sum(data) - 2.0 * RNG.standard_normal())


def by_python(data: Records) -> float:
    return random.gauss(0.0, 2.0) + sum(data)


def adaptive(data: Records) -> list[float]:
    first = sum(data) + RNG.laplace(scale=2.0)
    second = sum(x > first for x in data) + RNG.laplace(scale=2.0)
    return [first, second]


def largest(data: Records) -> int:
    scores = np.array([sum(data), len(data) - sum(data), 1.0])
    return int(np.argmax(scores + RNG.gumbel(scale=2.0, size=3)))


def in_place(data: Records) -> FloatArray:
    values = np.array([sum(data), 2.0])
    values += RNG.laplace(scale=1.0, size=2)
    return values


def measured_by_opendp(data: Records) -> float:
    dp.enable_features("contrib")
    domain = dp.atom_domain(T=float, nan=False)
    return float(dp.m.make_laplace(domain, dp.absolute_distance(T=float), scale=1.0)(sum(data)))


def _total(data: Records) -> FloatArray:
    return np.array([sum(data)])


def by_our_laplace(data: Records) -> FloatArray:
    query = Query("sum", _total, L1Sensitivity(1.0), ReplaceOne())
    return PlainMechanism(query, LaplaceNoise(1.0), SecureNoise()).sample(data)


def by_our_gaussian(data: Records) -> FloatArray:
    query = Query("sum", _total, L2Sensitivity(1.0), ReplaceOne())
    return PlainMechanism(query, GaussianNoise(2.0), SecureNoise()).sample(data)


def by_our_choice(data: Records) -> int:
    def scores(records: Records) -> FloatArray:
        return np.array([sum(records), 1.0])

    return PlainSelection(
        Query("scores", scores, RangeSensitivity(1.0), ReplaceOne()), ExponentialChoice(1.0), SecureNoise()
    ).sample(data)


SOUND: list[tuple[Program, Cost]] = [
    (histogram, PureDP(1.0)),
    (histogram_by_bins, PureDP(1.0)),
    (mean, PureDP(1.0)),
    (located, PureDP(1.0)),
    (scaled_noise, GDP(0.5)),
    (by_python, GDP(0.5)),
    (by_python, ApproxDP(2.1, 1e-5)),
    (adaptive, PureDP(1.0)),
    (largest, PureDP(1.0)),
    (in_place, PureDP(1.0)),
    (measured_by_opendp, PureDP(1.000001)),
    (by_our_laplace, PureDP(1.000001)),
    (by_our_gaussian, GDP(0.500001)),
    (by_our_choice, PureDP(1.000001)),
]


@pytest.mark.parametrize(("program", "claimed"), SOUND)
def test_sound_programs_are_not_refuted_and_are_understood(program: Program, claimed: Cost) -> None:
    report = check_recorded(program, [ONE, WIDE], claimed=claimed)
    assert not report.refuted
    assert "not understood" not in report.witness, report


def _less(claimed: Cost) -> Cost:
    match claimed:
        case PureDP(epsilon=epsilon):
            return PureDP(0.9 * epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(0.9 * epsilon, delta)
        case GDP(mu=mu):
            return GDP(0.9 * mu)
        case _:
            raise TypeError(claimed)


def _number(claimed: Cost) -> float:
    return declared_number(claimed)[1]


TIGHT = [(program, claimed) for program, claimed in SOUND if program not in (adaptive, largest, by_our_choice)]


@pytest.mark.parametrize(("program", "claimed"), TIGHT)
def test_nine_tenths_of_the_truth_are_refuted(program: Program, claimed: Cost) -> None:
    report = refuted(program, WIDE, _less(claimed))
    assert report.bound < report.found <= _number(claimed) * (1.0 + 1e-9)


def refuted(program: Program, pair: Pair[Records], claimed: Cost) -> Report:
    with pytest.raises(ClaimViolated) as caught:
        check_recorded(program, [pair], claimed=claimed, seconds=60.0)  # a busy machine draws slowly
    assert any(said in str(caught.value) for said in ("test_check_recorded.py", "value without noise", "the output is"))
    return caught.value.report


def wrong_sensitivity(data: Records) -> float:
    return 2.3 * sum(data) + RNG.laplace(scale=2.0)


def small_scale(data: Records) -> float:
    return sum(data) + RNG.laplace(scale=1.0 / 1.25)


def private_n(data: Records) -> float:
    return float((sum(data) + RNG.laplace(scale=1.0)) / len(data))


def scale_of_data(data: Records) -> float:
    return sum(data) + RNG.laplace(scale=1.0 + sum(data))


def reused_seed(data: Records) -> list[float]:
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    return [sum(data) + one.laplace(scale=2.0), 1.0 + other.laplace(scale=2.0)]


def raw_value(data: Records) -> tuple[float, float]:
    return sum(data) + RNG.laplace(scale=1.0), max(data[3:], default=0.0)


def branch(data: Records) -> float:
    total = sum(data) + RNG.laplace(scale=1.0)
    return total if sum(data) < 2.5 else total + RNG.laplace(scale=1.0)


def clipped_at_the_largest(data: Records) -> float:
    bound = max(data[2:])
    return sum(min(x, bound) for x in data) + RNG.laplace(scale=bound)


def overflowing(data: Records) -> FloatArray:
    counts = np.array([100 + 27 * (sum(data) >= 2.0), 0]).astype(np.int8) + np.int8(sum(data) > 2.5)
    return np.asarray(counts + RNG.laplace(scale=1.0, size=2))


CLIPPED = Pair[Records]((0.5, 1.0, 0.2, 0.5), (0.5, 1.0, 0.2, 1.0))


@pytest.mark.parametrize(
    ("program", "pair"),
    [
        (wrong_sensitivity, WIDE),
        (small_scale, WIDE),
        (private_n, MORE),
        (scale_of_data, WIDE),
        (reused_seed, WIDE),
        (raw_value, WIDE),
        (branch, WIDE),
        (clipped_at_the_largest, CLIPPED),
        (overflowing, WIDE),
    ],
)
def test_errors_are_found(program: Program, pair: Pair[Records]) -> None:
    refuted(program, pair, PureDP(1.0))


def test_a_declared_sensitivity_is_compared_with_the_change() -> None:
    with pytest.raises(ClaimViolated, match="change of call 2"):
        check_recorded(wrong_sensitivity, [WIDE], claimed=PureDP(5.0), sensitivities=2.0)
    check_recorded(wrong_sensitivity, [WIDE], claimed=PureDP(5.0), sensitivities=[2.3])


def by_inversion(data: Records) -> float:
    u = RNG.random() - 0.5
    return float(sum(data) - np.sign(u) * np.log(1.0 - 2.0 * abs(u)))


def sampled(data: Records) -> float:
    kept = [x for x in data if RNG.random() < 2.0]
    return sum(kept) + RNG.laplace(scale=0.5)


def compared_only(data: Records) -> bool:
    return bool(sum(data) + RNG.laplace(scale=0.5) > 2.0 + RNG.laplace(scale=1.0))


def in_parts(data: Records) -> float:
    total = RNG.normal(0.0, 1.0)
    for x in data:
        total = total + x
    return float(total)


def test_a_sum_that_is_not_seen_is_judged_by_its_outputs() -> None:
    report = check_recorded(in_parts, [WIDE], claimed=GDP(1.0), seconds=0.2)
    assert not report.refuted
    assert "not understood" in report.witness
    assert "confidence" in refuted(in_parts, WIDE, GDP(0.5)).witness


@pytest.mark.parametrize(("program", "epsilon"), [(by_inversion, 0.1), (sampled, 0.1), (compared_only, 1.5)])
def test_what_is_not_understood_refutes_nothing_and_is_said(program: Program, epsilon: float) -> None:
    report = check_recorded(program, [WIDE], claimed=PureDP(epsilon), seconds=0.2)
    assert not report.refuted
    assert "not understood" in report.witness


def test_public_draws_hide_nothing() -> None:
    with pytest.raises(ClaimViolated):
        check_recorded(sampled, [WIDE], claimed=PureDP(1.0), public_draws=True)


def _stopped() -> None:
    with recorded() as tape:
        RNG.laplace()
        with pytest.raises(RuntimeError, match="another recording"), recorded():
            pass
        assert [call.law for call in tape.calls] == ["laplace"]
        raise ZeroDivisionError


def test_recordings_do_not_overlap_and_everything_is_put_back() -> None:
    old = np.random.Generator.laplace, np.random.laplace, random.gauss, SecureNoise.laplace
    with pytest.raises(ZeroDivisionError):
        _stopped()
    assert (np.random.Generator.laplace, np.random.laplace, random.gauss, SecureNoise.laplace) == old


def test_no_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        check_recorded(mean, [], claimed=PureDP(1.0))
