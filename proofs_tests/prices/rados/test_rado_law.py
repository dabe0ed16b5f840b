"""The law of a column of rados: δ and ε by integers and by enumeration of outcomes, for every small window."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.fft import irfft, next_fast_len, rfft

from accountant.composition.loss_distribution import RELATIVE
from accountant.costs.rounding import SLACK
from mechanisms.rados import column_distribution
from mechanisms.rados.column_distribution import (
    EmptyWindow,
    RadoColumnLaw,
    beta_at,
    largest_low,
    rados_count,
    records_count,
    theorem6_printed,
    theorem7_bound,
    truncation_beta,
    whole_number,
    window_advice,
)
from proofs_tests.support.mechanisms.just_above import just_above

WINDOWS = [(m, low) for m in (1, 2, 3, 4, 5, 8, 9, 20, 41) for low in sorted({0, 1, 2, m // 3, m // 2}) if 2 * low <= m]
WIDE = [(m, low) for m, low in WINDOWS if 2 * low < m]


def _law(records: int, low: int) -> dict[int, Fraction]:
    weights = {k: Fraction(math.comb(records, k)) for k in range(low, records - low + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def _delta(records: int, low: int, epsilon: float, number: int = 1, *, upwards: bool = True) -> mp.mpf:
    """Σ (P − e^ε·Q)⁺ over every tuple of `number` counts, Q the law of K + 1."""
    first = _law(records, low)
    second = {k + 1: chance for k, chance in first.items()}
    if not upwards:
        first, second = second, first
    total = mp.mpf(0)
    for outcome in itertools.product(first, repeat=number):
        p = math.prod((first[k] for k in outcome), start=Fraction(1))
        q = math.prod((second.get(k, Fraction(0)) for k in outcome), start=Fraction(1))
        total += max(mp.mpf(0), _mp(p) - mp.exp(epsilon) * _mp(q))
    return total


def _mp(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(("records", "low"), WINDOWS)
def test_one_rado_costs_what_integers_say(records: int, low: int) -> None:
    law = RadoColumnLaw(records, low)
    chances = _law(records, low)
    just_above(law.boundary, min(mp.mpf(1), _mp(chances[low])), within=1e-11)
    for epsilon in (0.0, 0.01, 0.3, 1.0, 2.5, 8.0):
        truth = _delta(records, low, epsilon)
        assert mp.almosteq(truth, _delta(records, low, epsilon, upwards=False), rel_eps=mp.mpf(10) ** -40)
        just_above(law.delta(epsilon), truth, within=3e-9)
    if 2 * low < records:
        just_above(law.worst_loss, mp.log(mp.mpf(records - low) / (low + 1)), absolute=1e-300)
    else:
        assert law.worst_loss == 0.0
    plain = sum(math.comb(records, k) for k in range(low, records - low + 1))
    assert law.acceptance == pytest.approx(plain / 2**records, rel=1e-12)
    assert law.acceptance <= 1.0
    assert law.expected_draws(7) == pytest.approx(7 * 2**records / plain, rel=1e-12)
    for number in (1, 2, 100):
        just_above(law.certain(number), 1 - (1 - _mp(chances[low])) ** number, within=1e-11)


@pytest.mark.parametrize(("records", "low", "number"), [(12, 0, 2), (12, 3, 2), (9, 2, 3), (3, 1, 2), (4, 1, 3)])
def test_several_rados_cost_what_every_outcome_says(records: int, low: int, number: int) -> None:
    law = RadoColumnLaw(records, low)
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        truth = _delta(records, low, epsilon, number)
        just_above(law.delta(epsilon, number), truth, within=1e-3, absolute=1e-15)
        if law.certain(number) < (delta := min(1.3 * float(truth), 0.99)):
            smallest = law.epsilon(delta, number)
            assert _delta(records, low, smallest, number) <= delta
            assert smallest <= 1e-9 or _delta(records, low, 0.99 * smallest, number) > delta


@pytest.mark.parametrize(("records", "low"), [(12, 0), (12, 3), (9, 2), (41, 13)])
def test_the_epsilon_of_one_rado_is_the_smallest(records: int, low: int) -> None:
    law = RadoColumnLaw(records, low)
    for share in (1.1, 3.0, 10.0):
        delta = min(0.9, law.boundary * share)
        found = law.epsilon(delta)
        assert _delta(records, low, found) <= delta
        assert found <= 1e-9 or _delta(records, low, 0.999 * found) > delta
    assert law.epsilon(law.boundary * 0.999) == math.inf
    assert law.epsilon(law.boundary) == math.inf


def test_a_window_of_one_value_tells_neighbours_apart() -> None:
    law = RadoColumnLaw(2, 1)
    assert (law.boundary, law.delta(9.0), law.epsilon(0.999), law.certain(3)) == (1.0, 1.0, math.inf, 1.0)
    with pytest.raises(ValueError, match="nothing to compose"):
        law.composed(1)


def test_of_many_records_nothing_is_cut_optimistically() -> None:
    """What is too rare for a float counts as certain: at most (m + 1)·e^-690."""
    law = RadoColumnLaw(5000)
    assert law.boundary == pytest.approx(5001.0 * math.exp(-690.0), rel=1e-9)
    kept = law._weights
    assert -690.0 < math.log(float(kept.min())) < -689.0
    exact = mp.mpf(math.comb(5000, 2500))
    first = (5000 - kept.size) // 2 + 1
    assert kept.size % 2 == 1
    for place in (0, 1, 700, kept.size // 2, kept.size - 1):
        assert kept[place] == pytest.approx(float(mp.mpf(math.comb(5000, first + place)) / exact), rel=1e-9)
    assert law.acceptance == 1.0


@pytest.mark.parametrize(("records", "low"), [(1000, 450), (1001, 480), (5000, 2400), (10**6, 499_000), (10**6, 0)])
def test_laws_of_many_records_are_those_of_scipy(records: int, low: int) -> None:
    law = RadoColumnLaw(records, low)
    kept = stats.binom.cdf(records - low, records, 0.5) - stats.binom.cdf(low - 1, records, 0.5)
    assert law.acceptance == pytest.approx(float(kept), rel=1e-8)
    if low:
        assert law.boundary == pytest.approx(float(stats.binom.pmf(low, records, 0.5) / kept), rel=1e-7)
    for epsilon in (0.0, 0.001, 0.004):
        # Outcomes below k0 have a loss above ε: (m + 1 − k)/k > e^ε.
        edge = math.ceil((records + 1) / (1.0 + math.exp(epsilon))) - 1
        below, next_below = (
            stats.binom.cdf(k, records, 0.5) - stats.binom.cdf(low - 1, records, 0.5) for k in (edge, edge - 1)
        )
        truth = (below - math.exp(epsilon) * next_below) / kept
        if truth > 1e-9:
            assert law.delta(epsilon) == pytest.approx(float(truth), rel=1e-5)


@pytest.mark.parametrize(("records", "low", "number"), [(60, 20, 40), (9, 2, 60)])
def test_many_rados_against_convolution_of_losses(records: int, low: int, number: int) -> None:
    """On a grid of its own, losses rounded up and down: the truth lies between."""
    chances = _law(records, low)
    losses = {k: math.log((records + 1 - k) / k) for k in chances if k > low}
    step = 2.0**-12
    bounds = []
    for rounded in (math.floor, math.ceil):
        steps = {k: int(rounded(loss / step)) for k, loss in losses.items()}
        least = min(steps.values())
        atoms = np.zeros(max(steps.values()) - least + 1)
        for k, place in steps.items():
            atoms[place - least] += float(chances[k])
        size = (atoms.size - 1) * number + 1
        room = next_fast_len(size, real=True)
        whole = irfft(rfft(atoms, room) ** number, room)[:size]
        totals = (np.arange(size) + least * number) * step
        bounds.append((totals, whole))
    certain = 1.0 - float(1 - chances[low]) ** number
    law = RadoColumnLaw(records, low)
    spread = math.sqrt(number * sum(float(chances[k]) * loss**2 for k, loss in losses.items()))
    for epsilon in (0.3 * spread, spread, 2.0 * spread):
        below, above = (
            certain + float(whole @ -np.expm1(np.minimum(epsilon - totals, 0.0))) for totals, whole in bounds
        )
        assert below * (1.0 - 1e-6) <= law.delta(epsilon, number) <= above * 1.01


def test_windows_are_decided_exactly() -> None:
    for records, beta in itertools.product((10, 11, 999, 1000), (0.01, 0.1, 0.25, 0.3, 1 / 3, 0.45)):
        low = math.ceil(Fraction(beta) * (records + 1))
        if 2 * low <= records:
            assert RadoColumnLaw.truncated(records, beta) == RadoColumnLaw(records, low)
        else:
            with pytest.raises(EmptyWindow):
                RadoColumnLaw.truncated(records, beta)
    assert RadoColumnLaw(2, 1).low == 1
    with pytest.raises(EmptyWindow, match=r"no count lies in \[3, 2\] of 5 records"):
        RadoColumnLaw(5, 3)


def test_advice_names_a_beta_and_its_epsilon() -> None:
    assert "no beta has a window of two values for 1 records" in window_advice(1, 0)
    assert window_advice(9, 1).startswith("use beta <= 0.05 (epsilon >= ")
    assert float(window_advice(9, 1).split()[-1].strip(")")) == pytest.approx(2.0 * math.log(19.0))


def test_betas_are_those_of_the_paper() -> None:
    for epsilon in (1e-3, 0.5, 2.0, 30.0, 700.0):
        assert beta_at(epsilon) == pytest.approx(float(1 / (1 + mp.exp(mp.mpf(epsilon) / 2))), rel=1e-12)
    assert beta_at(5000.0) > 0.0
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="expected a"):
            beta_at(wrong)


def test_numbers_have_limits() -> None:
    assert (column_distribution.MAX_RECORDS, column_distribution.MAX_RADOS) == (10**8, 10**6)
    assert (rados_count(10**6), records_count(10**8), whole_number(0), truncation_beta(0.4)) == (10**6, 10**8, 0, 0.4)
    assert type(rados_count(np.int64(3))) is type(records_count(np.int64(3))) is int  # type: ignore[arg-type]  # as arrays have
    for wrong in (0, -1, 10**6 + 1, 1.5):
        with pytest.raises(ValueError, match="expected"):
            rados_count(wrong)  # type: ignore[arg-type]  # the point of the test
    for wrong in (0, -1, 10**8 + 1, 1.5):
        with pytest.raises(ValueError, match="expected"):
            records_count(wrong)  # type: ignore[arg-type]  # the point of the test
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="whole number"):
            whole_number(wrong)  # type: ignore[arg-type]  # the point of the test
    for wrong in (0.0, 0.5, 0.7, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match="expected"):
            truncation_beta(wrong)
    law = RadoColumnLaw(30, 3)
    with pytest.raises(ValueError, match="expected"):
        law.delta(-0.1)
    for delta in (0.0, 1.0):
        with pytest.raises(ValueError, match="expected"):
            law.epsilon(delta)
    with pytest.raises(ValueError, match="expected"):
        law.certain(0)
    with pytest.raises(ValueError, match="expected"):
        law.delta(0.5, 10**6 + 1)
    with pytest.raises(ValueError, match="expected"):
        law.composed(0)
    with pytest.raises(ValueError, match="expected"):
        law.expected_draws(0)


@pytest.mark.parametrize(
    ("records", "number", "delta"), [(30, 1, 0.01), (31, 5, 0.2), (4, 1, 0.3), (100, 10, 1e-6), (3, 1, 0.01)]
)
def test_the_narrowest_window_is_found(records: int, number: int, delta: float) -> None:
    fitting = [low for low in range(records // 2 + 1) if RadoColumnLaw(records, low).certain(number) < delta]
    assert largest_low(records, number, delta) == max(fitting, default=-1)


def test_the_printed_theorem_is_one_rado_times_the_number() -> None:
    law = RadoColumnLaw.truncated(1000, beta_at(0.5))
    assert theorem6_printed(1000, 7, 0.5) == pytest.approx((3.5, 7 * law.boundary), rel=1e-12)
    assert law.boundary == pytest.approx(1.4623e-5, rel=3e-4)
    with pytest.raises(EmptyWindow):
        theorem6_printed(1000, 7, 0.001)


def test_theorem_7_is_as_printed_where_it_is_true() -> None:
    for records, epsilon, number, eta in itertools.product((10, 100), (0.5, 1.0, 4.0), (1, 10, 500), (0.01, 0.9)):
        beta = 1 / (1 + mp.exp(mp.mpf(epsilon) / 2))
        divergence = mp.log(2) + beta * mp.log(beta) + (1 - beta) * mp.log(1 - beta)
        enough = eta * (1 - mp.exp(2 * beta - 1)) / (4 * beta)
        wanted = number * max(1, int(mp.ceil(mp.log(number / enough) / (records * divergence))))
        assert theorem7_bound(records, epsilon, number, eta) == wanted
        law = RadoColumnLaw.truncated(records, beta_at(epsilon))
        assert float(stats.nbinom.cdf(wanted - number, number, law.acceptance)) >= 1.0 - eta
    with pytest.raises(ValueError, match="false for large epsilon"):
        theorem7_bound(100, 4.1, 1, 0.05)
    with pytest.raises(EmptyWindow):
        theorem7_bound(1000, 0.001, 1, 0.05)
    for epsilon, number, eta in ((0.0, 1, 0.1), (1.0, 0, 0.1), (1.0, 1, 0.0), (1.0, 1, 1.0)):
        with pytest.raises(ValueError, match="expected"):
            theorem7_bound(100, epsilon, number, eta)


@pytest.mark.parametrize("records", [5_000, 20_000])
def test_what_is_cut_off_is_added_to_the_boundary(records: int) -> None:
    """(m + 1)·e^-690, beside which the last weight that is kept is small."""
    law = RadoColumnLaw(records)
    assert law._first > 0
    kept, cut = mp.mpf(float(law._probabilities[0])), (records + 1) * mp.exp(-690)
    just_above(law.boundary, kept + cut, within=3e-12)
    assert law.boundary > 100.0 * float(kept)


def test_one_rados_delta_has_its_head_room() -> None:
    """RELATIVE and SLACK of the exact sum."""
    for records, low in ((40, 0), (101, 20)):
        law = RadoColumnLaw(records, low)
        with mp.workdps(40):
            weights = {k: mp.binomial(records, k) for k in range(low, records - low + 1)}
            e = mp.exp(mp.mpf(0.1))
            exact = sum(max(w - e * weights.get(k - 1, mp.mpf(0)), mp.mpf(0)) for k, w in weights.items())
            exact /= sum(weights.values())
        head = float(mp.mpf(law.delta(0.1)) / exact - 1)
        assert head == pytest.approx(RELATIVE + SLACK, rel=0.02)
