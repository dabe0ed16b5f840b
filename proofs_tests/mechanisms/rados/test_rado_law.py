"""The law of a column of rados: its cost, for one and for many, and how long rejection sampling takes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant.costs import gaussian
from mechanisms.rados.column_distribution import EmptyWindow, RadoColumnLaw, beta_at, theorem6_printed, theorem7_bound


def exact_delta(records: int, low: int, epsilon: float, *, upwards: bool = True, number: int = 1) -> float:
    """δ(ε) between K and K + 1 by their definition: integers, and every tuple of `number` values of K."""
    weights = {k: Fraction(math.comb(records, k)) for k in range(low, records - low + 1)}
    whole = sum(weights.values())
    p = {k: float(weight / whole) for k, weight in weights.items()}
    q = {k + 1: chance for k, chance in p.items()}
    first, second = (p, q) if upwards else (q, p)
    terms = []
    for outcome in itertools.product(first, repeat=number):
        reached = math.prod(second.get(k, 0.0) for k in outcome)
        terms.append(max(0.0, math.prod(first[k] for k in outcome) - math.exp(epsilon) * reached))
    return math.fsum(terms)


windows = st.integers(1, 40).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m // 2)))


# --- one rado -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "epsilon", "printed", "matched", "untruncated"),
    [
        (1000, 0.5, 1.4623e-5, 2.268e-15, 3.4885e-17),
        (1000, 0.1, 3.3143e-2, 9.077e-3, 1.6189e-3),
        (10_000, 0.01, 3.927e-2, 1.892e-2, 3.976e-3),
    ],
)
def test_the_delta_of_theorem_6(
    records: int, epsilon: float, printed: float, matched: float, untruncated: float
) -> None:
    """[000-DP-FEAT] δ of the printed window, of the window whose losses reach ε, and without truncation at ε.

    The last row has ε = 100/m, δ = 393/m: "δ = o(1/m) whenever ε = Ω(1/m)" is false.
    """

    def digits(value: float, reference: float) -> bool:
        return value == pytest.approx(reference, rel=3e-4)

    assert digits(RadoColumnLaw.truncated(records, beta_at(epsilon)).boundary, printed)
    assert digits(RadoColumnLaw.truncated(records, beta_at(2.0 * epsilon)).boundary, matched)
    assert digits(RadoColumnLaw(records).delta(epsilon), untruncated)
    assert theorem6_printed(records, 7, epsilon) == pytest.approx((7 * epsilon, 7 * printed), rel=3e-4)


@given(windows, st.floats(0.0, 5.0))
def test_the_closed_form_is_exact_and_the_pair_symmetric(window: tuple[int, int], epsilon: float) -> None:
    """[000-rado-column] Against integers, in both directions."""
    value = RadoColumnLaw(*window).delta(epsilon)
    for upwards in (True, False):
        true = exact_delta(*window, epsilon, upwards=upwards)
        assert true <= value <= true * (1.0 + 3e-9)


@given(windows, st.floats(0.0, 5.0))
def test_truncation_never_helps_at_equal_epsilon(window: tuple[int, int], epsilon: float) -> None:
    assert RadoColumnLaw(*window).delta(epsilon) >= RadoColumnLaw(window[0]).delta(epsilon) * (1.0 - 3e-9)


@given(st.integers(3, 60), st.floats(0.2, 6.0))
def test_a_truncated_rado_costs_half_the_printed_epsilon(records: int, epsilon: float) -> None:
    """[000-DP-FEAT] (ε/2, δ) with the same δ, attained: a tenth less of either would be false."""
    try:
        law = RadoColumnLaw.truncated(records, beta_at(epsilon))
    except EmptyWindow:
        return
    assert law.worst_loss <= epsilon / 2
    true = exact_delta(records, law.low, law.worst_loss)
    assert 0.999999 * law.boundary <= true <= law.boundary
    if law.worst_loss > 0.01:
        assert exact_delta(records, law.low, 0.9 * law.worst_loss) > law.boundary


@pytest.mark.parametrize(
    ("records", "threshold"),
    [(1000, 2 * math.log(1 + 2 / 1000)), (1001, 2 * math.log(1004 / 1000)), (3, 2 * math.log(3))],
)
def test_empty_windows_are_refused_with_what_would_do(records: int, threshold: float) -> None:
    """m even: ε < 2 ln(1 + 2/m); m odd: ε < 2 ln((m + 3)/(m − 1)). The advice in the message holds."""
    with pytest.raises(EmptyWindow, match="sampling would never end; use beta <= ") as refused:
        RadoColumnLaw.truncated(records, beta_at(threshold * 0.999))
    assert RadoColumnLaw.truncated(records, beta_at(threshold * 1.001)).acceptance > 0.0
    beta, epsilon = (float(word.strip("()")) for word in str(refused.value).split() if word[:2] == "0." or ")" in word)
    for advised in (beta, beta_at(epsilon * (1 + 1e-9))):
        assert RadoColumnLaw.truncated(records, advised).low == (records - 1) // 2


def test_no_window_exists_for_two_records_and_none_with_a_low_above_the_middle() -> None:
    with pytest.raises(EmptyWindow, match="no beta has a window of two values for 1 records"):
        RadoColumnLaw.truncated(1, 0.1)
    with pytest.raises(EmptyWindow, match=r"no count lies in \[3, 2\]"):
        RadoColumnLaw(5, 3)
    law = RadoColumnLaw(2, 1)
    assert (law.boundary, law.delta(9.0), law.epsilon(0.999), law.certain(3)) == (1.0, 1.0, math.inf, 1.0)
    with pytest.raises(ValueError, match="nothing to compose"):
        law.composed(1)


def test_large_samples_cut_nothing_optimistically() -> None:
    """2^−5000 is no float: what is cut counts as certain loss. Around it, the normal limit: δ(0) ≈ √(2/(πm))."""
    law = RadoColumnLaw(5000)
    assert 0.0 < law.boundary < 1e-290
    assert law.acceptance == 1.0
    for records in (10**6, 10**8):
        assert RadoColumnLaw(records).delta(0.0) == pytest.approx(math.sqrt(2 / (math.pi * records)), rel=1e-4)
    assert RadoColumnLaw(10**6).delta(0.004) == pytest.approx(
        float(stats.binom.cdf(499_000, 10**6, 0.5) - math.exp(0.004) * stats.binom.cdf(498_999, 10**6, 0.5)), rel=1e-6
    )


# --- several rados ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "low", "number"), [(30, 0, 2), (30, 6, 2), (9, 0, 3), (9, 2, 3), (12, 5, 2), (3, 1, 2)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
def test_composed_rados_against_every_outcome(records: int, low: int, number: int, epsilon: float) -> None:
    law, true = RadoColumnLaw(records, low), exact_delta(records, low, epsilon, number=number)
    assert true <= law.delta(epsilon, number) <= 1.001 * true
    assert exact_delta(records, low, epsilon, upwards=False, number=number) == pytest.approx(true, rel=1e-9)
    if law.certain(number) < (delta := min(1.3 * true, 0.99)):
        smallest = law.epsilon(delta, number)
        assert exact_delta(records, low, smallest, number=number) <= delta
        assert smallest <= 1e-9 or exact_delta(records, low, 0.99 * smallest, number=number) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 3.505e-4), (3.0, 5.56e-7), (5.0, 1.213e-15)])
def test_a_hundred_rados_of_a_thousand_records(epsilon: float, delta: float) -> None:
    """[000-rado-column] Printed at ε = .5: (50, 1.5e-3). Independently: 50,000 draws of the law tilted to ε."""
    law = RadoColumnLaw(1000)
    value = law.delta(epsilon, 100)
    assert value == pytest.approx(delta, rel=1e-3)
    assert law.epsilon(value, 100) == pytest.approx(epsilon, rel=1e-6)
    assert theorem6_printed(1000, 100, 0.5) == pytest.approx((50.0, 1.4623e-3), rel=1e-4)
    counts = np.arange(1, 1001)
    masses, losses = stats.binom.logpmf(counts, 1000, 0.5), np.log((1001 - counts) / counts)
    tilt = epsilon / (100 * 4 / 1000) + 0.5  # where a Gaussian of that variance would put it
    moment = float(np.logaddexp.reduce(masses + tilt * losses))
    drawn = np.random.default_rng(0).choice(losses, size=(50_000, 100), p=np.exp(masses + tilt * losses - moment))
    totals = drawn.sum(axis=1)
    terms = np.exp(100 * moment - tilt * totals) * np.maximum(0.0, -np.expm1(np.minimum(epsilon - totals, 0.0)))
    assert value == pytest.approx(float(terms.mean()), abs=5.0 * float(terms.std()) / math.sqrt(50_000))


@pytest.mark.parametrize(("records", "number"), [(1000, 100), (10_000, 10_000), (10**6, 10**6), (10**8, 10)])
def test_n_rados_are_nearly_gaussian(records: int, number: int) -> None:
    """[000-rado-column] Central limit: μ = 2·√(n/m)."""
    mu = 2.0 * math.sqrt(number / records)
    assert RadoColumnLaw(records).epsilon(1e-6, number) == pytest.approx(gaussian.epsilon(mu, 1e-6), rel=2e-3)


# --- Theorem 7 -------------------------------------------------------------------------------------------------------


def chance_of_enough(records: int, epsilon: float, number: int, draws: int) -> float:
    """P(n_R <= draws), exactly: negative binomial."""
    low = RadoColumnLaw.truncated(records, beta_at(epsilon)).low
    kept = stats.binom.cdf(records - low, records, 0.5) - stats.binom.cdf(low - 1, records, 0.5)
    assert RadoColumnLaw(records, low).acceptance == pytest.approx(kept, rel=1e-9)
    return float(stats.nbinom.cdf(draws - number, number, kept))


def test_theorem_7_holds_up_to_epsilon_4() -> None:
    """[000-Thm7] On a grid, against the exact law of n_R; the number it bounds is at least `number`."""
    checked = 0
    for records, epsilon, number, eta in itertools.product(
        (2, 3, 5, 10, 31, 100, 1000), (0.02, 0.1, 0.5, 1.0, 2.0, 4.0), (1, 2, 10, 500), (0.01, 0.2, 0.9)
    ):
        try:
            bound = theorem7_bound(records, epsilon, number, eta)
        except EmptyWindow:
            continue
        checked += 1
        assert bound >= number
        assert chance_of_enough(records, epsilon, number, bound) >= 1.0 - eta
    assert checked == 288


def test_theorem_7_is_false_outside_and_refused_there() -> None:
    """[000-Thm7] m = 2, ε = 6, n = 1, η = .05: the printed bound 2 is kept with probability .75 only."""
    beta = beta_at(6.0)
    divergence = math.log(2.0) + beta * math.log(beta) + (1.0 - beta) * math.log(1.0 - beta)
    few = 0.05 * -math.expm1(2.0 * beta - 1.0) / (4.0 * beta)
    assert math.ceil(math.log(1.0 / few) / (2 * divergence)) == 2
    assert chance_of_enough(2, 6.0, 1, 2) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="false for large epsilon"):
        theorem7_bound(2, 6.0, 1, 0.05)
    with pytest.raises(EmptyWindow, match="never end"):
        theorem7_bound(1000, 0.003, 1, 0.05)


def test_expected_draws_are_the_mean_of_the_negative_binomial() -> None:
    law = RadoColumnLaw(12, 5)
    kept = float(np.sum(stats.binom.pmf([5, 6, 7], 12, 0.5)))
    assert law.expected_draws(7) == pytest.approx(7 + stats.nbinom.mean(7, kept), rel=1e-12)
    assert RadoColumnLaw(12).expected_draws(7) == 7.0
