"""`check_function`: what programs of foreign style lose is found from their outputs, and nothing in correct ones."""

import json
import math
import os
import secrets
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import GDP, ZCDP, AddRemoveOne, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP, ReplaceOne, Unbounded
from proofs_tests.harness import ClaimViolated, NotIndependent, Pair, Report, TooLittleTime, check_function, neighbours
from proofs_tests.harness.draws import Draws
from proofs_tests.harness.outcomes import as_rows, text_of

RNG = np.random.default_rng()
BITS = list(neighbours(ReplaceOne(), (0, 1), 3))
SIZES = list(neighbours(AddRemoveOne(), (0, 1), 3))
WORST = [Pair((0, 0, 0), (0, 0, 1))]


def laplace(scale: float) -> float:
    """Rounded to a grid far below the noise, which no bit of the value survives."""
    return float(round(RNG.laplace(scale=scale) * 2**20) * 2.0**-20)


def on_grid(value: float) -> float:
    return float(round(value * 2**20) * 2.0**-20)


def noisy_sum(data: tuple[int, ...]) -> float:
    return sum(data) + laplace(1.0)


def found(function: Callable[[Any], object], pairs: Sequence[Pair[Any]], claimed: Cost, **options: Any) -> Report:
    try:
        return check_function(function, pairs, claimed, **options)
    except ClaimViolated as violated:
        return violated.report


# --- what is correct -------------------------------------------------------------------------------------------------


@attrs.frozen
class Told:
    mean: float
    names: tuple[str, ...]


# ruff: noqa: E501  # a program a line

CORRECT: dict[str, tuple[Callable[[Any], object], Cost]] = {
    "a sum": (noisy_sum, PureDP(1.0)),
    "its Laplace cost": (noisy_sum, LaplaceDP(1.0)),
    "Gaussian": (lambda data: on_grid(sum(data) + RNG.normal(scale=2.0)), GDP(0.5)),
    "Gaussian as zCDP": (lambda data: on_grid(sum(data) + RNG.normal(scale=2.0)), ZCDP(0.125)),
    "a histogram": (lambda data: np.array([on_grid(x + laplace(2.0)) for x in np.bincount(data, minlength=2)]), PureDP(1.0)),
    "a word": (lambda data: "many" if sum(data) + laplace(1.0) > 1.5 else "few", PureDP(1.0)),
    "JSON": (lambda data: {"n": len(data), "sum": noisy_sum(data), "big": None if noisy_sum(data) > 1 else "no"}, PureDP(2.0)),
    "attrs": (lambda data: Told(noisy_sum(data), ("a",) * int(noisy_sum(data) > 1)), PureDP(2.0)),
    "nothing at times": (lambda data: None if laplace(1.0) > 2 else noisy_sum(data), PureDP(1.0)),
    "at a δ": (lambda data: sum(data) if RNG.random() < 0.01 else noisy_sum(data), ApproxDP(1.0, 0.01)),
    "a choice": (lambda data: int(np.argmax(np.bincount(data, minlength=2) + RNG.gumbel(size=2))), BoundedRange(2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_correct_is_not_refuted_and_much_of_its_loss_is_seen(name: str) -> None:
    function, claimed = CORRECT[name]
    report = check_function(function, WORST if name != "at a δ" else BITS[:1], claimed, samples=8_000, name=name)
    assert report.verdict == "not refuted"
    assert report.subject == name
    assert report.factor is not None
    assert 1.0 < report.factor < 8.0
    assert report.confidence == 1.0 - 1e-6


# --- what is wrong ---------------------------------------------------------------------------------------------------


def _reused(data: tuple[int, ...]) -> tuple[float, float]:
    noise = laplace(2.0)
    return sum(data) + noise, len(set(data)) + noise


WRONG: dict[str, tuple[Callable[[Any], object], Sequence[Pair[Any]], Cost]] = {
    "a sensitivity of 2.3 declared as 2": (lambda data: 2.3 * sum(data) + laplace(2.0), WORST, PureDP(1.0)),
    "a scale too small by 1.25": (lambda data: sum(data) + laplace(0.8), WORST, PureDP(1.0)),
    "a Gaussian scale too small by 1.25": (lambda data: on_grid(sum(data) + RNG.normal(scale=1.6)), WORST, GDP(0.5)),
    "a mean that divides by the private n": (lambda data: on_grid((sum(data) + laplace(1.0)) / len(data)), SIZES, PureDP(1.0)),
    "a seed reused": (lambda data: sum(data) + np.random.default_rng(7).laplace(), WORST, PureDP(1.0)),
    "noise used twice": (_reused, BITS, PureDP(2.0)),
    "a float leak": (lambda data: sum(data) + RNG.laplace(), WORST, PureDP(1.0)),
    "a value behind the point": (lambda data: round(laplace(1.0)) + sum(data) / 8, WORST, PureDP(1.0)),
    "a key that only one has": (lambda data: {str(x): laplace(1.0) for x in set(data)}, WORST, PureDP(5.0)),
    "an output of another length": (lambda data: [laplace(1.0)] * sum(data), WORST, PureDP(5.0)),
    "a text that one can have": (lambda data: "none" if not sum(data) else "some", WORST, ApproxDP(1.0, 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refuted_with_a_pair(name: str) -> None:
    function, pairs, claimed = WRONG[name]
    with pytest.raises(ClaimViolated, match="against") as refuted:
        check_function(function, pairs, claimed, samples=60_000)
    assert refuted.value.report.ratio > 1.0


def test_low_order_bits_can_be_left_alone() -> None:
    report = check_function(lambda data: sum(data) + RNG.laplace(), WORST, PureDP(1.0), low_order_bits=False)
    assert report.verdict == "not refuted"


def test_the_chance_of_a_false_alarm_holds_at_a_small_confidence() -> None:
    """At 0.5 a correct function, whose loss is all it claims, may be refuted in half of the runs."""
    runs = [found(noisy_sum, WORST, PureDP(1.0), samples=1_000, confidence=0.5).refuted for _ in range(100)]
    assert sum(runs) <= 66  # 50 + 3.2 standard deviations, were the bounds exact


# --- what is easily overlooked ---------------------------------------------------------------------------------------


def _texts(data: tuple[int, ...]) -> str:
    return json.dumps({"n": len(data), "sum": 2.3 * sum(data) + laplace(2.0)})


def _ordered(data: tuple[int, ...]) -> dict[str, float]:
    return {name: laplace(2.0) for name in (("a", "b") if sum(data) else ("b", "a"))}


def _sorted_in_place(data: list[int]) -> float:
    """Forgets a record at each call: what comes later has nothing to hide."""
    noisy = 2.3 * sum(data) + laplace(2.0)
    data.clear()
    return noisy


def _table(data: tuple[int, ...]) -> object:
    return pd.DataFrame({"noisy": [laplace(2.0)]}, index=[sum(data)])


def _masked(data: tuple[int, ...]) -> object:
    return np.ma.MaskedArray([laplace(2.0)], mask=[bool(sum(data))])


OVERLOOKED: dict[str, tuple[Callable[[Any], object], Sequence[Pair[Any]], Cost]] = {
    "a number in a JSON text": (_texts, WORST, PureDP(1.0)),
    "a number in a text": (lambda data: f"sum: {2.3 * sum(data) + laplace(2.0):.3f}", WORST, PureDP(1.0)),
    "the order of keys": (_ordered, WORST, PureDP(1.0)),
    "data that are changed": (_sorted_in_place, [Pair([0, 0, 0], [0, 0, 1])], PureDP(1.0)),
    "the index of a table": (_table, WORST, PureDP(1.0)),
    "a mask": (_masked, WORST, PureDP(1.0)),
    "the fifth decimal": (lambda data: round(RNG.laplace(), 3) + sum(data) * 1e-5, WORST, PureDP(1.0)),
    "one of two fifth decimals": (lambda data: round(RNG.laplace(), 3) + (sum(data) + 2) * 1e-5, WORST, PureDP(1.0)),
    "bits of one of many": (lambda data: np.append(np.round(RNG.laplace(size=50) * 2**20) * 2.0**-20, sum(data) / 3 + RNG.laplace()), WORST, PureDP(1.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERLOOKED)
def test_what_is_easily_overlooked_is_seen(name: str) -> None:
    function, pairs, claimed = OVERLOOKED[name]
    with pytest.raises(ClaimViolated):
        check_function(function, pairs, claimed, samples=60_000)


def test_texts_that_never_repeat_are_said_not_to_have_been_looked_at() -> None:
    report = check_function(lambda data: secrets.token_urlsafe() + str(bool(sum(data))), WORST, PureDP(1.0))
    assert report.verdict == "not refuted"
    assert report.factor is None
    assert "texts in outputs never repeat" in report.witness
    read = check_function(lambda data: f"about {noisy_sum(data)}", WORST, PureDP(1.0))
    assert read.factor is not None
    assert read.ratio > 0.5


@pytest.mark.parametrize("output", [(), [], np.zeros(0), np.zeros((0, 3)), {}])
def test_outputs_without_numbers_are_alike(output: object) -> None:
    assert check_function(lambda data: output, WORST, PureDP(1.0)).found == 0.0


def test_large_numbers_are_compared_without_a_warning() -> None:
    def huge(data: tuple[int, ...]) -> list[float]:
        return [1e200 * noisy_sum(data), -1e300 * noisy_sum(data)]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_function(huge, WORST, PureDP(2.0), samples=2_000, low_order_bits=False).verdict == "not refuted"


def test_outputs_of_many_numbers_take_no_covariance() -> None:
    started = time.process_time()
    many = check_function(lambda data: RNG.laplace(size=2_000) + sum(data), WORST, PureDP(2_000.0), samples=300)
    assert many.verdict == "not refuted"
    assert time.process_time() - started < 20.0


@pytest.mark.parametrize(
    "usual",
    [
        lambda: np.where(RNG.random() < 0.5, "yes", "no"),
        lambda: np.array(RNG.laplace()),
        lambda: np.array([2**60 + 1], dtype=np.uint64),
        lambda: np.datetime64("2020-01-01"),
        lambda: RNG.laplace(size=2),
    ],
)
def test_outputs_read_the_same_beside_others_and_alone(usual: Callable[[], object]) -> None:
    """One side may be kept in an array, and the other, for one None among them, may not."""
    outputs = [usual() for _ in range(20)]
    alone = Draws[int, object](lambda data, number: outputs).of(0, 20)
    beside = Draws[int, object](lambda data, number: [*outputs, None]).of(0, 21)
    rows = as_rows([*alone, *beside])
    assert np.array_equal(rows[:20], rows[20:40])


@pytest.mark.parametrize(
    "told",
    [
        lambda noisy: {"a": noisy + 0j},
        lambda noisy: pd.Timestamp("2020-01-01") + pd.Timedelta(seconds=noisy),
        lambda noisy: {noisy: 1},
        lambda noisy: np.array([2**60 + int(1e15 * noisy)], dtype=np.uint64),
    ],
)
def test_no_factor_is_stated_where_nothing_was_looked_at(told: Callable[[float], object]) -> None:
    report = check_function(lambda data: told(sum(data) + laplace(0.05) + 1.0), WORST, PureDP(1.0), samples=500)
    assert report.factor is None


# --- how it is drawn -------------------------------------------------------------------------------------------------


def test_a_refutation_ends_the_check() -> None:
    drawn: list[int] = []

    def raw(data: tuple[int, ...]) -> int:
        drawn.append(1)
        return sum(data)

    assert found(raw, BITS, PureDP(1.0)).refuted
    assert len(drawn) < 4_000


def test_many_outputs_may_be_drawn_at_once() -> None:
    def many(data: tuple[int, ...], number: int) -> np.ndarray[Any, Any]:
        return np.round(sum(data) + RNG.laplace(size=number), 4)

    assert found(noisy_sum, WORST, PureDP(1.0), many=many).verdict == "not refuted"
    assert found(noisy_sum, WORST, PureDP(0.8), many=many).refuted
    with pytest.raises(ValueError, match="many: expected 1 outputs, got 2"):
        check_function(noisy_sum, WORST, PureDP(1.0), many=lambda data, number: [0.0, 1.0])


def test_a_time_limit_ends_the_check_with_what_was_found() -> None:
    def slow(data: tuple[int, ...]) -> float:
        time.sleep(0.0005)
        return noisy_sum(data)

    steps: list[tuple[int, int]] = []
    started = time.monotonic()
    report = check_function(
        slow, BITS, PureDP(1.0), time_limit=1.0, progress=lambda drawn, total: steps.append((drawn, total))
    )
    assert time.monotonic() - started < 60.0
    assert report.verdict == "not refuted"
    assert steps == sorted(steps)
    assert {total for _, total in steps} == {20_000 * 2 * len(BITS)}
    with pytest.raises(TooLittleTime, match=r"time_limit: 1e-09 s were over"):
        check_function(slow, BITS, PureDP(1.0), time_limit=1e-9)


def test_draws_in_processes_are_as_good_and_a_shared_generator_is_refused() -> None:
    report = found(lambda data: on_grid(sum(data) + np.random.default_rng().laplace()), WORST, PureDP(1.0), processes=2)
    assert 0.5 < report.ratio < 1.0
    shared = np.random.default_rng(0)
    with pytest.raises(NotIndependent, match="make it inside the function"):
        check_function(lambda data: on_grid(sum(data) + shared.laplace()), WORST, PureDP(1.0), processes=2)
    rare = np.random.default_rng(0)
    with pytest.raises(NotIndependent, match="make it inside the function"):
        check_function(lambda data: rare.random() < 0.01, WORST, PureDP(1.0), processes=3)
    with pytest.raises(ValueError, match="one of them ended while the function ran"):
        check_function(lambda data: os._exit(3), WORST, PureDP(1.0), processes=2)
    with pytest.raises(ValueError, match="in a process of its own: ZeroDivisionError"):
        check_function(lambda data: 1 / 0, WORST, PureDP(1.0), processes=2)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"pairs": []}, "pairs: expected at least one"),
        ({"samples": 10}, "samples: expected at least 64"),
        ({"failure": 1e-250}, "chance of error of one look must be at least 1e-200"),
        ({"confidence": 1.0}, r"expected a number in \(0, 1\)"),
        ({"time_limit": -1.0}, "positive"),
        ({"processes": 0}, "expected"),
        ({"function": lambda data: object()}, "outputs of type object cannot be compared"),
        ({"claimed": Unbounded()}, "nothing to check"),
        ({"claimed": 1.0}, r"claimed: expected a cost, as PureDP\(1.0\), got 1.0"),
        ({"pairs": WORST[0]}, "expected a list of pairs, got one"),
        ({"pairs": [(1, 2, 3)]}, "its neighbour"),
        ({"pairs": [(iter([1]), iter([2]))]}, "got an iterator; give a list"),
        ({"pairs": [((RNG, 1), (RNG, 2))]}, "expected no generator of random numbers"),
        ({"many": lambda data, number: (x for x in range(number))}, "many: expected a list .* got generator"),
        ({"pairs": [(lambda: 0, lambda: 1)], "processes": 2}, "do not pickle"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], match: str) -> None:
    given: dict[str, Any] = {"function": noisy_sum, "pairs": WORST, "claimed": PureDP(1.0), **options}
    with pytest.raises((ValueError, TypeError), match=match):
        check_function(given.pop("function"), given.pop("pairs"), given.pop("claimed"), **given)


# --- outputs as rows -------------------------------------------------------------------------------------------------

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 2**60), st.floats(allow_nan=False), st.text(max_size=2))
OUTPUTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3), st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@given(st.lists(OUTPUTS, min_size=2, max_size=6))
def test_rows_are_equal_just_where_outputs_are(outputs: list[object]) -> None:
    rows = as_rows(outputs)
    texts = [text_of(output) for output in outputs]
    for one in range(len(outputs)):
        for other in range(one):
            same = bool(np.array_equal(rows[one], rows[other]))
            if texts[one] == texts[other]:
                assert same
            elif _told_apart(outputs[one], outputs[other]):
                assert not same


def _told_apart(one: object, other: object) -> bool:
    """Whether two outputs differ by more than 1 and True and 1.0, which are one number in a row."""
    return one != other


def test_equal_outputs_of_all_kinds() -> None:
    both = [np.array([1.0, math.inf]), np.array([1.0, math.inf])]
    assert np.array_equal(*as_rows(both))
    assert as_rows([{1, 2}, {2, 1}, {3}]).shape[0] == 3
    assert np.array_equal(*as_rows([{1, 2}, {2, 1}]))
    one, other = as_rows([np.array(["a", "b"]), np.array(["a", "c"])])
    assert np.flatnonzero(one != other).tolist() == [4], "the second text alone"


@given(st.lists(OUTPUTS, min_size=1, max_size=4), OUTPUTS)
def test_a_row_is_of_its_output_alone(outputs: list[object], more: object) -> None:
    """But for how many columns there are, and for numbers in one shape, which stand alone."""
    text = ["a text, so that no numbers stand alone"]
    alone, together = as_rows([*text, *outputs]), as_rows([*text, *outputs, more])
    width = alone.shape[1]
    assert np.array_equal(alone, together[:-1, :width])
    assert not np.any(together[:-1, width:])


RARE: dict[str, Callable[[Any], object]] = {
    "nothing at times": lambda data: None if RNG.random() < 0.002 else 1.0,
    "a text at times": lambda data: "none" if RNG.random() < 0.002 else 1.0,
    "an array of no dimension": lambda data: "none" if RNG.random() < 0.002 else np.array(1.0),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_outputs_of_another_type_tell_nothing(name: str) -> None:
    """However outputs are kept, a row is of the output alone: 40 runs, refuted with chance 10^-6 each."""
    for _ in range(40):
        assert not found(RARE[name], WORST, PureDP(0.1), samples=2_000).refuted
