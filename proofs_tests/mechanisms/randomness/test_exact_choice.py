"""The exponential mechanism drawn exactly: which index each number in [0, 1) means, digit by digit. [exact-choice]"""

import decimal
import itertools
import math
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from mechanisms.randomness import exact_choice as module
from mechanisms.randomness.choice_probabilities import exponential, finite_scores
from mechanisms.randomness.exact_choice import exact_choice, running_sums

DIGITS = 150
WORD = mpmath.mpf(2) ** 64


def boundaries(scores: list[float], eta: float) -> list[mpmath.mpf]:
    """Running sums of the exact law, to 150 digits."""
    with mpmath.workdps(DIGITS):
        weights = [mpmath.exp(mpmath.mpf(eta) * (mpmath.mpf(s) - mpmath.mpf(max(scores)))) for s in scores]
        whole = mpmath.fsum(weights)
        return [part / whole for part in itertools.accumulate(weights)]


def meant(words: list[int], scores: list[float], eta: float) -> int:
    """The first index whose running sum exceeds the number that the words spell."""
    with mpmath.workdps(DIGITS):
        number = mpmath.fsum(mpmath.mpf(word) / WORD ** (place + 1) for place, word in enumerate(words))
        return next((i for i, upto in enumerate(boundaries(scores, eta)) if upto > number), len(scores) - 1)


def words_of(number: mpmath.mpf, count: int) -> list[int]:
    """The binary digits of a number in [0, 1], 64 at a time."""
    words = []
    with mpmath.workdps(DIGITS):
        for _ in range(count):
            number *= WORD
            words.append(min(int(mpmath.floor(number)), 2**64 - 1))
            number -= words[-1]
    return words


scores_lists = st.lists(st.floats(-50.0, 50.0) | st.sampled_from([0.0, -1e-300, 1e-9, 700.0]), min_size=1, max_size=9)
etas = st.floats(1e-3, 1e3)
word_lists = st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=12)


@given(scores_lists, etas, word_lists)
def test_every_number_means_the_index_of_the_exact_law(scores: list[float], eta: float, words: list[int]) -> None:
    assert exact_choice(np.array(scores), eta, iter([*words, *[1] * 500]).__next__) == meant(words, scores, eta)


@given(scores_lists.filter(lambda scores: len(scores) > 1), etas, st.data())
def test_numbers_at_a_boundary_are_told_apart_by_more_digits(
    scores: list[float], eta: float, data: st.DataObject
) -> None:
    """Numbers that agree with a boundary in the first 64, 128 or 192 bits: floating point says nothing here."""
    edge = data.draw(st.sampled_from(boundaries(scores, eta)[:-1]))
    words = words_of(edge, 3)[: data.draw(st.integers(1, 3))]
    words += data.draw(st.lists(st.integers(1, 2**64 - 2), min_size=8, max_size=8))
    assert exact_choice(np.array(scores), eta, iter([*words, *[1] * 500]).__next__) == meant(words, scores, eta)


def test_the_slow_way_is_taken_at_a_boundary_and_hardly_ever_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    slow: list[int] = []
    settled = module._settled

    def counted(scores: FloatArray, eta: float, first: int, words: module.Words) -> int:
        slow.append(1)
        return settled(scores, eta, first, words)

    monkeypatch.setattr(module, "_settled", counted)
    rng = np.random.default_rng(0)
    scores = -rng.random(326)

    def words() -> Iterator[int]:
        return iter(int(word) for word in rng.integers(0, 2**63, 100, dtype=np.uint64) * np.uint64(2))

    for _ in range(1000):
        exact_choice(scores, 50.0, words().__next__)
    assert not slow  # the chance of one is below 1000 · 2^-28
    exact_choice(np.zeros(2), 1.0, iter([2**63 - 1, *[7] * 100]).__next__)
    assert slow


def test_halves_are_halves_to_the_last_bit() -> None:
    """Two equal scores: everything below 1/2 is the first, 1/2 itself the second."""
    below = iter([2**63 - 1, *[2**64 - 1] * 3, 5, *[1] * 100])
    assert exact_choice(np.zeros(2), 1.0, below.__next__) == 0
    assert exact_choice(np.zeros(2), 1.0, iter([2**63, *[0] * 3, 5, *[1] * 100]).__next__) == 1


@pytest.mark.parametrize("eta", [2.0**-1000, 1.0, 2.0**1000])
def test_extreme_scales_and_scores_come_to_an_end(eta: float) -> None:
    rng = np.random.default_rng(1)
    words = (int(word) for word in rng.integers(1, 2**63, 10_000, dtype=np.int64))
    for scores in ([0.0], [0.0, -1e308, 1e308], [1e-320, 0.0], [-1e300, -1e300]):
        assert exact_choice(np.array(scores), eta, words.__next__) < len(scores)


@given(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=5), st.floats(0.1, 5.0))
def test_shares_of_an_even_grid_are_the_law(scores: list[float], eta: float) -> None:
    """4096 equally spaced numbers: each index gets its probability, off by one number at most."""
    spaced = [exact_choice(np.array(scores), eta, iter([k << 52, *[3] * 100]).__next__) for k in range(4096)]
    shares = np.bincount(spaced, minlength=len(scores)) / 4096
    assert np.abs(shares - np.exp(exponential(np.array(scores), eta))).max() <= 1.001 / 4096


@pytest.mark.parametrize("scores", [[math.nan], [math.inf, 0.0], [-math.inf]])
def test_scores_that_are_not_finite_are_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        exact_choice(np.array(scores), 1.0, lambda: 1)


@given(scores_lists, etas)
def test_sums_in_floating_point_are_as_near_as_is_said(scores: list[float], eta: float) -> None:
    sums, off = running_sums(np.array(scores), eta)
    assert farthest(sums, scores, eta) <= off


def test_the_bound_on_rounding_is_not_idle() -> None:
    """Real errors come within a factor of 30 of it, so one that is off by more than that would be found out."""
    rng, nearest = np.random.default_rng(0), 0.0
    for _ in range(300):
        scores = np.concatenate([[0.0], -rng.uniform(0.5, 2.0, 4)])
        sums, off = running_sums(scores, 1.0)
        nearest = max(nearest, float(farthest(sums, scores.tolist(), 1.0)) / off)
    assert 1 / 30 < nearest <= 1


def farthest(sums: FloatArray, scores: list[float], eta: float) -> mpmath.mpf:
    """The largest error of a running sum."""
    with mpmath.workdps(DIGITS):
        weights = [mpmath.exp(mpmath.mpf(eta) * (mpmath.mpf(s) - mpmath.mpf(max(scores)))) for s in scores]
        return max(abs(mpmath.mpf(a) - b) for a, b in zip(sums.tolist(), itertools.accumulate(weights), strict=True))


def test_adding_up_many_weights_loses_more_than_the_weights_do() -> None:
    """So that the bound has a part for the additions: 10^5 of them, against an exact sum of the same floats."""
    scores = -np.random.default_rng(0).random(100_000)
    sums, off = running_sums(scores, 1.0)
    lost = abs(math.fsum(np.exp(scores - scores.max()).tolist()) - float(sums[-1]))
    only_weights = module.PER_WEIGHT * 2.0 * float(sums[-1])
    assert lost <= off - only_weights / 2
    assert lost > 0
    small = -np.random.default_rng(1).random(2**20)
    sums, off = running_sums(small, 30.0)
    lost = abs(math.fsum(np.exp((small - small.max()) * 30.0).tolist()) - float(sums[-1]))
    assert only_weights < off
    assert lost <= module.PER_SUM * small.size * float(sums[-1])


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float32, np.float16, np.bool_])
def test_scores_of_any_type_have_the_law_of_their_numbers(kind: type[np.generic]) -> None:
    """Differences of small integers wrap, and single precision is no double: both are brought to doubles first."""
    scores = np.array([1, 100, 0] if kind is not np.bool_ else [True, False, True]).astype(kind)
    if kind is np.int8:
        scores = np.array([-100, 100, 0], dtype=np.int8)
    doubles = scores.astype(np.float64)
    assert np.allclose(exponential(scores, 0.02), exponential(doubles, 0.02), rtol=0, atol=1e-15)
    sums, _ = running_sums(finite_scores(scores), 0.02)
    assert farthest(sums, doubles.tolist(), 0.02) < 1e-12
    for first in range(0, 2**64, 2**58):
        words = [first + 12345, *[7] * 200]
        drawn = exact_choice(scores, 0.02, iter(words).__next__)
        assert drawn == exact_choice(doubles, 0.02, iter(words).__next__)


def test_complex_scores_and_objects_are_refused() -> None:
    for scores in (np.array([1j]), np.array([None]), np.array(["a"])):
        with pytest.raises(ValueError, match="real numbers"):
            exact_choice(scores, 1.0, lambda: 1)


def test_the_callers_decimal_context_changes_nothing() -> None:
    scores = np.array([0.0, -205.0, 0.0])
    words = [2**63 - 1, *[2**64 - 1] * 3, 5, *[1] * 100]
    expected = exact_choice(scores, 1.0, iter(words).__next__)
    with decimal.localcontext(decimal.Context(prec=1, traps=[decimal.FloatOperation])):
        assert exact_choice(scores, 1.0, iter(words).__next__) == expected


def test_tiny_scales_and_huge_scores_do_not_overflow() -> None:
    """η·(score − max) is about −1e-15 here, though the difference is no float."""
    shares = [exact_choice(np.array([1e308, -1e308]), 5e-324, iter([k << 60, *[3] * 99]).__next__) for k in range(16)]
    assert sum(shares) == 7  # 8/16 itself is below the boundary, by 2^-52
