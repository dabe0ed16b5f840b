"""The margin bound with its constants, and the records of 003's two theorems, each step at the n that is returned."""

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from accountant.costs import gaussian
from boosting.theory.generalisation import margin_error_bound, margin_sample_size
from boosting.theory.guarantees import rounds_for_margin
from boosting.theory.halfspaces import (
    centred_mean_length,
    fat_shattering_bound,
    halfspace_sample_size,
    noisy_centred_mean_advantage,
)
from boosting.theory.sample_sizes import (
    SHARES,
    HalfspaceTask,
    Route,
    SampleSize,
    best_sigma,
    by_margins,
    by_privacy,
)

ROUTES = [by_privacy, by_margins]
BRIEF = HalfspaceTask(margin=0.1, error=0.1, failure=0.05, epsilon=1.0, delta=1e-6, dimension=20)

# --- the margin bound -------------------------------------------------------------------------------------------------


def test_hand_computed_values() -> None:
    # n = 2^30, d = 16: 34en/d = 34e·2^26, so 3.5263605 + 1 + 26·0.6931472 = 22.5481873; log₂(578n) = 39.1749263
    # 16·22.5481873·39.1749263 + ln(80) = 14133.26 + 4.38; twice that over 2^30 is 2.63334e-5, its root 0.0051316
    bound = margin_error_bound(2**20, 2**30, 16.0, 0.05)
    assert bound.error == pytest.approx(2.0**-10 + 0.0051316, abs=1e-7)
    assert bound.failure == 0.05
    # d = 0: one dichotomy, √(2·ln(4/δ)/n)
    assert margin_error_bound(0, 800, 0.0, 4.0 * math.exp(-4.0)).error == pytest.approx(0.1)


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.floats(1e-9, 0.499))
def test_the_bound_is_what_the_covering_number_gives(n: int, d: int, failure: float) -> None:
    """2·N·exp(−n·slack²/2) = δ at log₂ N = 1 + d·log₂(34en/d)·log₂(578n): this is why one logarithm has base 2.

    N covers quantised hypotheses at γ/2 on 2n points: Alon et al. with 17 levels, 34 = 2·17 and 578 = 2·17².
    """
    slack = margin_error_bound(0, n, float(d), failure).error
    log_cover = math.log(2.0) * (1.0 + d * math.log2(34.0 * math.e * n / d) * math.log2(578.0 * n)) if d < n else 0.0
    if slack < 1.0:
        assert math.log(2.0) + log_cover - 0.5 * n * slack**2 == pytest.approx(math.log(failure), rel=1e-6, abs=1e-6)
    elif d < n:
        assert math.log(2.0) + log_cover - 0.5 * n >= math.log(failure) - 1e-6


@pytest.mark.parametrize("n", [1, 7, 10**3, 10**9])
def test_the_formula_says_nothing_from_d_equal_to_n_on(n: int) -> None:
    """It is above 1 from there to d = 34n, up to which the theorem is proved, so that a bound of 1 is right."""
    for times in (1.0, 2.0, 10.0, 34.0):
        d = times * n
        assert 2.0 / n * d * math.log(34.0 * math.e * n / d) * math.log2(578.0 * n) > 1.0
        assert margin_error_bound(0, n, d, 0.1).error == 1.0
    # Beyond, the printed formula falls back to 0, at d = 34en: with 003's brackets put right it would be false there.
    assert math.log(34.0 * math.e * n / (34.0 * math.e * n)) == 0.0
    assert margin_error_bound(0, n, 34.0 * math.e * n, 0.1).error == 1.0


@given(st.integers(1, 10**12), st.floats(0.0, 1e9), st.floats(1e-9, 0.499), st.floats(1.0, 4.0))
def test_the_bound_falls_with_n_and_rises_with_everything_else(n: int, d: float, failure: float, factor: float) -> None:
    error = margin_error_bound(0, n, d, failure).error
    assert margin_error_bound(0, math.ceil(n * factor), d, failure).error <= error * (1.0 + 1e-12)
    assert margin_error_bound(0, n, d * factor, failure).error >= error * (1.0 - 1e-12)
    assert margin_error_bound(0, n, d, failure / factor).error >= error * (1.0 - 1e-12)
    assert margin_error_bound(n, n, d, failure).error == 1.0


@given(st.floats(0.01, 1.0), st.floats(0.0, 0.9), st.floats(0.0, 1e5), st.floats(1e-9, 0.499))
def test_the_sample_size_is_the_smallest(error: float, part: float, d: float, failure: float) -> None:
    share = part * error
    n = margin_sample_size(share, error, d, failure)
    slack = margin_error_bound(0, n, d, failure).error
    assert share + slack <= error or slack == 1.0 <= error
    if n > 1:
        assert share + margin_error_bound(0, n - 1, d, failure).error > error
    assert margin_error_bound(math.floor(share * n), n, d, failure).error <= error + 1e-12


# --- the two theorems -------------------------------------------------------------------------------------------------


def test_the_numbers_of_one_task() -> None:
    """α = 0.1, β = 0.05, ε = 1, δ = 1e-6, τ = 0.1, d = 20: by margins a 185th of the records that privacy takes."""
    privacy, margins = (best_sigma(BRIEF, route) for route in ROUTES)
    assert privacy.records == pytest.approx(6.927e8, rel=1e-3)
    assert margins.records == margins.generalisation == 3_738_758
    assert (privacy.dominant, margins.dominant) == ("privacy", "generalisation")
    assert margins.privacy == pytest.approx(3.023e6, rel=1e-3)
    assert (privacy.label_noise, margins.label_noise) == (42_068, 39_306)  # 9600·ln 80 and 9600·ln 60
    assert (margins.fat_shattering, margins.margin) == (20.0, 0.0)


TASKS = [
    (BRIEF, 0.006),
    (HalfspaceTask(0.5, 0.3, 0.1, 0.5, 1e-5, 2000), 0.01),
    (HalfspaceTask(0.9, 1.0, 0.9, 5.0, 0.1, 1, noise_rate=0.0), 0.1),
    (HalfspaceTask(0.2, 0.1, 0.01, 1.0, 1e-9, 10**9, noise_rate=0.002), 1e-6),
]


@pytest.mark.parametrize(("task", "sigma"), TASKS)
def test_theorem_30_adds_up(task: HalfspaceTask, sigma: float) -> None:
    found = by_margins(task, sigma)
    n, rounds, density = found.records, found.rounds, task.error / 4.0
    third = task.failure / 3.0
    # Flips: no more than the share that the length is for, but for β/3.
    corrupted = 2.0 * task.planned_noise_rate
    if corrupted:
        assert binom.sf(math.ceil(corrupted * n) - 1, n, task.planned_noise_rate) <= third
        assert task.planned_noise_rate >= task.promised_noise_rate
    # A bad round: β/3 for all of them; and the rounds suffice for the margin.
    length = centred_mean_length(task.margin, density, corrupted)
    each = noisy_centred_mean_advantage(length, sigma, task.dimension, third / rounds)
    assert each >= found.advantage - 1e-15
    assert rounds_for_margin(found.advantage, density, found.margin) <= rounds
    assert any(found.margin == share * found.advantage for share in SHARES)
    # Privacy: T releases of GDP(2/(κnσ)) at the ε and δ of the task; one record fewer is not enough.
    per_record = 2.0 * math.sqrt(rounds) / (density * sigma)
    assert gaussian.delta(per_record / n, task.epsilon) <= task.delta
    assert gaussian.delta(per_record / found.privacy, task.epsilon) <= task.delta
    assert gaussian.delta(per_record / (found.privacy - 1), task.epsilon) >= task.delta * (1.0 - 1e-5)
    # New data: κn records and the flipped ones may have a low margin.
    assert found.fat_shattering is not None
    by_scale = fat_shattering_bound(found.margin / 16.0) if found.margin else math.inf
    assert found.fat_shattering == min(task.dimension, by_scale)
    low = math.floor((density + corrupted) * n)
    assert margin_error_bound(low, n, found.fat_shattering, third).error <= task.error + 1e-12


@pytest.mark.parametrize(("task", "sigma"), TASKS)
def test_theorem_33_is_halfspace_sample_size(task: HalfspaceTask, sigma: float) -> None:
    arguments = (task.margin, task.error, task.failure, task.epsilon, task.delta, sigma, task.dimension)
    told, found = halfspace_sample_size(*arguments, task.planned_noise_rate), by_privacy(task, sigma)
    assert (found.privacy, found.generalisation, found.label_noise) == (told.privacy, told.transfer, told.label_noise)
    assert (found.records, found.rounds, found.advantage) == (told.records, told.rounds, told.advantage)
    if task.noise_rate is None:
        assert told == halfspace_sample_size(*arguments)


def test_many_dimensions_go_by_the_margin_and_few_by_the_dimension() -> None:
    """256/θ² where d is more. Then the margin matters, and more rounds than for a margin of 0 are worth it."""
    few, many = (by_margins(HalfspaceTask(0.5, 0.2, 0.1, 1.0, 1e-6, d), 1e-5) for d in (50, 10**8))
    assert (few.fat_shattering, few.margin) == (50.0, 0.0)
    assert many.fat_shattering == (16.0 / many.margin) ** 2 < 1e8
    assert many.rounds > 4 * few.rounds
    assert many.generalisation > few.generalisation


@pytest.mark.parametrize("route", ROUTES)
def test_noisier_labels_never_take_fewer_records(route: Route) -> None:
    """0, then every rate up to the paper's alike, then more until nothing is left."""
    usual = 0.1 * 0.1 / 32.0
    rates = [0.0, 1e-9, 0.5 * usual, usual, 1.5 * usual, 3.0 * usual]
    tasks = [HalfspaceTask(0.1, 0.1, 0.05, 1.0, 1e-6, 20, rate) for rate in rates]
    records = [best_sigma(task, route).privacy for task in tasks]
    assert records[0] < records[1] == records[2] == records[3] < records[4] < records[5]
    assert route(tasks[0], 1e-3).label_noise == 0
    assert route(tasks[3], 1e-3) == route(BRIEF, 1e-3)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "task", [BRIEF, HalfspaceTask(0.5, 0.3, 0.1, 0.5, 1e-5, 1), HalfspaceTask(0.9, 1.0, 0.01, 0.1, 0.01, 2, 0.0)]
)
def test_no_sigma_does_better_than_the_best(route: Route, task: HalfspaceTask) -> None:
    best = best_sigma(task, route)
    assert best == route(task, best.sigma)
    tried = 0
    for place in range(-400, 1):
        try:
            other = route(task, task.margin * math.exp(place / 25.0))
        except ValueError:
            continue
        tried += 1
        assert other.records >= best.records * 0.99
        assert other.records > best.records or other.privacy >= best.privacy * 0.99
    assert tried > 100


@given(st.tuples(*[st.integers(0, 10**12)] * 3))
def test_the_largest_term_decides(terms: tuple[int, int, int]) -> None:
    size = SampleSize(0.1, 10, 0.1, 0.0, None, *terms)
    assert size.records == max(terms) == size.terms[size.dominant]


@given(*itertools.repeat(st.floats(0.01, 1.0), 2), st.floats(0.0, 0.999))
def test_every_noise_rate_that_is_taken_leaves_an_advantage(margin: float, error: float, part: float) -> None:
    most = error * margin / (8.0 * (1.0 + margin))
    task = HalfspaceTask(margin, error, 0.1, 1.0, 1e-6, 3, part * most)
    corrupted = 2.0 * task.planned_noise_rate
    assert centred_mean_length(margin, task.density, corrupted) > 0.0
    assert task.density + corrupted <= 0.5 * error  # so that both theorems have half the error or more for new data
    with pytest.raises(ValueError, match="noise rate"):
        HalfspaceTask(margin, error, 0.1, 1.0, 1e-6, 3, 1.001 * most)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: margin_error_bound(11, 10, 1.0, 0.1), "low margins"),
    (lambda: margin_error_bound(-1, 10, 1.0, 0.1), "low margins"),
    (lambda: margin_error_bound(True, 10, 1.0, 0.1), "low margins"),
    (lambda: margin_error_bound(0, 0, 1.0, 0.1), "whole number"),
    (lambda: margin_error_bound(0, 10, -1.0, 0.1), "non-negative"),
    (lambda: margin_error_bound(0, 10, math.inf, 0.1), "non-negative"),
    (lambda: margin_error_bound(0, 10, 1.0, 0.5), "1/2"),
    (lambda: margin_error_bound(0, 10, 1.0, math.nan), "1/2"),
    (lambda: margin_sample_size(0.1, 0.1, 1.0, 0.1), "low margins"),
    (lambda: margin_sample_size(math.nan, 0.1, 1.0, 0.1), "low margins"),
    (lambda: margin_sample_size(0.0, 1.1, 1.0, 0.1), r"\(0, 1\]"),
    (lambda: margin_sample_size(0.0, 0.1, 1.0, 0.0), "1/2"),
    (lambda: margin_sample_size(0.0, 1e-9, 1e9, 0.1), "records"),
    (lambda: HalfspaceTask(0.0, 0.1, 0.1, 1.0, 0.1, 1), r"\(0, 1\]"),
    (lambda: HalfspaceTask(0.1, 0.1, 1.0, 1.0, 0.1, 1), r"\(0, 1\)"),
    (lambda: HalfspaceTask(0.1, 0.1, 0.1, 1.0, 0.0, 1), r"\(0, 1\)"),
    (lambda: HalfspaceTask(0.1, 0.1, 0.1, 0.0, 0.1, 1), "positive"),
    (lambda: HalfspaceTask(0.1, 0.1, 0.1, 1.0, 0.1, 0), "whole number"),
    (lambda: HalfspaceTask(0.1, 0.1, 0.1, 1.0, 0.1, 1, -0.1), "noise rate"),
    (lambda: HalfspaceTask(0.1, 0.1, 0.1, 1.0, 0.1, 1, math.nan), "noise rate"),
    (lambda: by_margins(BRIEF, 0.1), "too much noise"),
    (lambda: by_privacy(BRIEF, 0.1), "too much noise"),
    (lambda: by_margins(BRIEF, 0.0), "positive"),
    (lambda: best_sigma(HalfspaceTask(1e-200, 0.1, 0.1, 1.0, 0.1, 1), by_margins), "no sigma will do"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_proved_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
