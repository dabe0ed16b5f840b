"""The kit's own checks: sound mechanisms pass, errors of a quarter are found, bounds cover, searches find."""

import math
import time
from collections.abc import Callable
from functools import partial

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    ApproxDP,
    BoundedRange,
    Cost,
    Description,
    FeatureValue,
    FeatureValues,
    LaplaceDP,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from mechanisms import (
    ExponentialChoice,
    FiniteRandomizer,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    NoiseSource,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
    PlainSelection,
    Query,
    RangeSensitivity,
    SecureNoise,
    SeededNoise,
)
from mechanisms.core.mechanism import Mechanism
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    Report,
    check_draws,
    check_mechanism,
    check_randomizer,
    check_sensitivity,
    composed_epsilon,
    exact_delta,
    exact_loss,
    neighbours,
    table,
)
from proofs_tests.harness.divergence import measured
from proofs_tests.harness.search import climbed, close_pair, worst_case
from proofs_tests.harness.statistical import clopper_pearson
from proofs_tests.harness.strategies import neighbouring, zeta_close

FINITE: list[FiniteRandomizer] = [
    ExponentialChoice(0.7),
    NoisyMaxChoice(0.7, candidates=2),
    NoisyMaxChoice(0.7),
    PermuteAndFlipChoice(0.7),
]


def counts(sensitivity: float = 2.0) -> Query[tuple[int, ...], FloatArray, RangeSensitivity]:
    return Query(
        "counts",
        lambda column: np.bincount(column, minlength=3).astype(np.float64),
        RangeSensitivity(sensitivity),
        ReplaceOne(),
    )


# --- exact -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("randomizer", FINITE, ids=repr)
def test_a_finite_randomizer_passes_and_a_quarter_less_is_found_exactly(randomizer: FiniteRandomizer) -> None:
    size = 2 if isinstance(randomizer, NoisyMaxChoice) and randomizer.candidates == 2 else 3
    report = check_randomizer(randomizer, RangeSensitivity(0.5), size=size)
    assert (report.method, report.verdict) == ("exact", "exact")
    assert report.ratio > 0.94

    def cheaper(sensitivity: RangeSensitivity) -> Cost:
        declared = randomizer.cost(sensitivity)
        assert isinstance(declared, LaplaceDP | BoundedRange)
        return type(declared)(declared.epsilon / 1.25)

    wrong = _Cheaper(randomizer, cheaper)
    with pytest.raises(ClaimViolated, match=": refuted;"):
        check_randomizer(wrong, RangeSensitivity(0.5), size=size)


@attrs.frozen
class _Cheaper(FiniteRandomizer):
    """A randomizer that declares less than another one costs."""

    inner: FiniteRandomizer
    declared: Callable[[RangeSensitivity], Cost]
    name = "Cheaper"
    claims = ()

    @property
    def parameters(self) -> tuple[tuple[str, float | int | str], ...]:
        return self.inner.parameters

    def cost(self, sensitivity: RangeSensitivity) -> Cost:
        return self.declared(sensitivity)

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return self.inner.draw(value, noise)

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        return self.inner.log_probabilities(scores)


@pytest.mark.parametrize(
    ("cost", "true"),
    [
        (lambda e: PureDP(e), lambda e: e),
        (lambda e: LaplaceDP(e), lambda e: 2.0 * math.log(0.5 + 0.5 * math.exp(e))),
        (lambda e: BoundedRange(e), lambda e: 2 * e),
        (lambda e: ZCDP(e), lambda e: e * math.tanh(e / 2)),
        (lambda e: ApproxDP(e, 0.0), lambda e: e),
    ],
    ids=["pure", "laplace", "range", "rho", "approx"],
)
def test_what_is_measured_of_randomized_response_is_known(
    cost: Callable[[float], Cost], true: Callable[[float], float]
) -> None:
    """ρ of randomized response is ε·tanh(ε/2) at α → 1; its width is 2ε."""
    for epsilon in (0.1, 1.0, 3.0):
        law = -np.logaddexp(0.0, np.array([-epsilon, epsilon]))
        _, _, found = measured(Pair(law, law[::-1]), cost(epsilon))
        assert found == pytest.approx(true(epsilon), rel=2e-3)
        assert found <= true(epsilon) * (1 + 1e-9)


def test_the_gaussian_shift_of_a_fine_gaussian_is_its_own() -> None:
    grid = np.linspace(-5.0, 6.0, 4001)
    law = [-0.5 * (grid - mu) ** 2 for mu in (1.0, 0.0)]
    both = Pair(*(each - np.logaddexp.reduce(each) for each in law))
    assert measured(both, GDP(1.0))[2] == pytest.approx(1.0, rel=1e-3)


def test_losses_deltas_and_compositions_of_a_known_pair() -> None:
    mechanism, pair = PlainSelection(counts(), ExponentialChoice(0.5)), Pair((0, 0, 1), (0, 2, 1))
    p, q = (np.exp(mechanism.log_probabilities(data)) for data in pair)
    assert exact_loss(mechanism, pair) == pytest.approx(np.max(np.abs(np.log(p / q))))
    assert exact_delta(mechanism, pair, 0.1) == pytest.approx(
        max(np.maximum(p - math.exp(0.1) * q, 0).sum(), np.maximum(q - math.exp(0.1) * p, 0).sum())
    )
    both = Pair(np.log(p), np.log(q))
    joint = Pair(*(np.add.outer(np.add.outer(law, law), law).ravel() for law in both))
    delta = exact_delta_of(joint, 0.6)
    assert composed_epsilon(both, 3, delta) == pytest.approx(0.6, rel=0.01)
    assert composed_epsilon(both, 3, delta) >= 0.6 * (1 - 1e-9)


def exact_delta_of(both: Pair[FloatArray], epsilon: float) -> float:
    p, q = (np.exp(law) for law in both)
    return float(max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum()))


def test_sensitivities_are_checked_in_their_own_norm() -> None:
    pairs = list(neighbours(ReplaceOne(), range(3), 3))
    assert check_sensitivity(counts(), pairs).ratio == 1.0
    with pytest.raises(ClaimViolated, match=r"ratio 1\.25"):
        check_sensitivity(counts(1.6), pairs)
    l1 = Query("counts", counts().evaluate, L1Sensitivity(2.0), ReplaceOne())
    l2 = Query("counts", counts().evaluate, L2Sensitivity(math.sqrt(2.0)), ReplaceOne())
    assert check_sensitivity(l1, pairs).ratio == 1.0
    assert check_sensitivity(l2, pairs).ratio == pytest.approx(1.0)


# --- neighbours ------------------------------------------------------------------------------------------------


def test_neighbours_follow_the_adjacency() -> None:
    assert all(len(pair.before) == len(pair.after) == 2 for pair in neighbours(ReplaceOne(), "ab", 2))
    sizes = {(len(pair.before), len(pair.after)) for pair in neighbours(AddRemoveOne(), "ab", 2)}
    assert sizes == {(2, 3), (3, 2)}
    records = [(0, 0), (0, 1), (1, 0), (1, 1)]
    for pair in neighbours(FeatureValue(1), records, 2):
        changed = [(a, b) for a, b in zip(pair.before, pair.after, strict=True) if a != b]
        assert len(changed) == 1
        assert changed[0][0][0] == changed[0][1][0]
    triples = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    pairs = list(neighbours(FeatureValues((0, 2)), triples, 1))
    assert len(pairs) == 8 * 3  # one of the two columns, the other, and both
    assert all(pair.before[0][1] == pair.after[0][1] for pair in pairs)


@given(st.data(), st.sampled_from([ReplaceOne(), AddRemoveOne(), FeatureValue(1), FeatureValues((0, 1))]))
def test_strategies_give_neighbours_too(data: st.DataObject, adjacency: ReplaceOne) -> None:
    records = st.tuples(st.integers(0, 2), st.integers(0, 2))
    pair = data.draw(neighbouring(adjacency, records, st.integers(1, 4)))
    first, second = sorted(pair, key=len)
    if isinstance(adjacency, AddRemoveOne):
        assert second[: len(first)] == first
        assert len(second) == len(first) + 1
    else:
        assert sum(a != b for a, b in zip(first, second, strict=True)) <= 1


@given(st.data(), st.integers(1, 6), st.floats(0.01, 1.0))
def test_close_weightings_are_close(data: st.DataObject, points: int, zeta: float) -> None:
    pair = data.draw(zeta_close(points, zeta))
    assert 0.5 * np.sum(np.abs(pair.before - pair.after)) <= zeta + 1e-12
    assert pair.before.sum() == pytest.approx(1.0)


# --- search ----------------------------------------------------------------------------------------------------


def test_the_search_finds_and_shrinks_the_worst_pair() -> None:
    mechanism = PlainSelection(counts(), PermuteAndFlipChoice(0.5))
    found = worst_case(
        lambda pair: exact_loss(mechanism, pair),
        neighbouring(ReplaceOne(), st.integers(0, 2), st.integers(1, 6)),
        examples=200,
    )
    assert found.value >= 0.9
    assert found.witness.count(",") < 16


# --- statistical -----------------------------------------------------------------------------------------------


@given(st.integers(1, 400), st.just(0.0) | st.floats(1e-9, 1.0), st.sampled_from([1e-2, 1e-4]))
def test_clopper_pearson_bounds_fail_as_seldom_as_they_say(trials: int, p: float, failure: float) -> None:
    """Exactly: the binomial mass of counts whose bound excludes the truth."""
    hits = np.arange(trials + 1)
    mass = stats.binom.pmf(hits, trials, p)
    bounds = [clopper_pearson(int(hit), trials, failure) for hit in hits]
    assert mass[[low > p for low, _ in bounds]].sum() <= failure * (1 + 1e-9)
    assert mass[[high < p for _, high in bounds]].sum() <= failure * (1 + 1e-9)


SAMPLED: list[tuple[LaplaceNoise, L1Sensitivity] | tuple[GaussianNoise | GammaNormNoise, L2Sensitivity]] = [
    (LaplaceNoise(2.0), L1Sensitivity(3.0)),
    (GaussianNoise(2.0), L2Sensitivity(3.0)),
    (GammaNormNoise(2.0), L2Sensitivity(3.0)),
]


def declared(index: int, factor: float, noise: NoiseSource, samples: int) -> Report:
    """The randomizer's report for a sensitivity that is understated by a factor, on values that move by all of it."""
    randomizer, sensitivity = SAMPLED[index]
    if isinstance(randomizer, LaplaceNoise):
        assert isinstance(sensitivity, L1Sensitivity)
        sharper = LaplaceNoise(randomizer.scale / factor)
        less = L1Sensitivity(sensitivity.value / factor)
        return check_randomizer(sharper, less, size=2, noise=_Stretched(noise, factor), samples=samples)
    assert isinstance(sensitivity, L2Sensitivity)
    smaller = L2Sensitivity(sensitivity.value / factor)
    if isinstance(randomizer, GaussianNoise):
        return check_randomizer(
            GaussianNoise(randomizer.sigma / factor), smaller, size=2, noise=_Stretched(noise, factor), samples=samples
        )
    return check_randomizer(
        GammaNormNoise(randomizer.scale / factor), smaller, size=2, noise=_Stretched(noise, factor), samples=samples
    )


@attrs.frozen
class _Stretched:
    """A noise source that adds too little: scales divided by the factor."""

    inner: NoiseSource
    factor: float
    name = "stretched"
    private = False

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        return self.inner.exponential_choice(scores, eta)

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        return self.inner.noisy_max_choice(scores, eta)

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        return self.inner.permute_and_flip_choice(scores, eta)

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        return self.inner.laplace(values, scale / self.factor, grid)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        return self.inner.gaussian(values, sigma / self.factor, grid)

    def bits(self, number: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return np.asarray(self.inner.bits(number))


@pytest.mark.parametrize("index", range(3), ids=["laplace", "gaussian", "gamma-norm"])
def test_a_quarter_too_little_noise_is_found_within_a_minute(index: int) -> None:
    """At confidence 1 − 1e-6. These mechanisms lose on likelier events than the worst that a report speaks of."""
    started = time.process_time()
    with pytest.raises(ClaimViolated):
        declared(index, 1.25, SeededNoise(0), 20_000)
    assert time.process_time() - started < 60.0


@pytest.mark.parametrize("index", range(3), ids=["laplace", "gaussian", "gamma-norm"])
def test_no_false_alarm_over_twenty_seeds(index: int) -> None:
    """Family-wise error: 3 randomizers × 20 seeds × 1e-6 at most 6e-5."""
    for seed in range(20):
        assert declared(index, 1.0, SeededNoise(seed), 1500).verdict == "not refuted"


def test_the_secure_source_is_checked_by_the_same_call() -> None:
    report = check_randomizer(LaplaceNoise(1.0), L1Sensitivity(1.5), size=1, noise=SecureNoise(), samples=4000)
    assert report.verdict == "not refuted"
    assert report.ratio > 0.6


def test_a_report_prints_what_an_auditor_needs() -> None:
    report = check_mechanism(PlainSelection(counts(), ExponentialChoice(0.5)), neighbours(ReplaceOne(), range(3), 2))
    text = str(report)
    for part in ("Exponential(counts)", "BoundedRange", ": exact;", "ratio 1.0000", "exact", "against"):
        assert part in text
    assert table([report]).splitlines()[2].startswith("| Exponential(counts) | BoundedRange")
    with pytest.raises(ValueError, match="at least one pair"):
        check_mechanism(PlainSelection(counts(), ExponentialChoice(0.5)), [])


def test_the_optimiser_reaches_a_bound_that_random_examples_do_not() -> None:
    """ℓ1 of a change of a ζ-close weighting is 2ζ at most, and the optimiser gets there."""
    found = climbed(
        lambda pair: float(np.sum(np.abs(pair.after - pair.before))), partial(close_pair, zeta=0.1), 12, restarts=2
    )
    assert 0.199 <= found.value <= 0.2 + 1e-12
    assert "against" in found.witness


# --- what a hostile review got past the kit, once -----------------------------------------------------------------


@attrs.frozen(slots=False)
class _Drawn(Mechanism[int, object]):
    """Draws anything at all, at a declared cost."""

    draw: Callable[[int, np.random.Generator], object]
    declared: Cost
    generator: np.random.Generator = attrs.field(factory=lambda: np.random.default_rng(0))

    @property
    def cost(self) -> Cost:
        return self.declared

    @property
    def adjacency(self) -> ReplaceOne:
        return ReplaceOne()

    @property
    def description(self) -> Description:
        return Description("Drawn", "data", (), "none", 0.0, None, "seeded", False, ())

    def sample(self, data: int) -> object:
        return self.draw(data, self.generator)


def _many_way_response(data: int, rng: np.random.Generator) -> int:
    """100-way randomized response at ε = 3."""
    if rng.random() < math.exp(3.0) / (math.exp(3.0) + 99.0):
        return 49 + data
    other = int(rng.integers(99))
    return other + (other >= 49 + data)


@pytest.mark.parametrize(
    ("draw", "samples"),
    [
        (lambda data, rng: np.array([rng.laplace() + 1j * data]), 8000),
        (lambda data, rng: f"{rng.integers(2)}.0" if data else f"{rng.integers(2)}", 8000),
        (lambda data, rng: None if data else math.nan, 8000),
        (lambda data, rng: 2**60 + data, 8000),
        (lambda data, rng: (np.full(2000, 1.0) + data * (np.arange(2000) == 1000), "x"), 300),
        (_many_way_response, 8000),
        (lambda data, rng: int(2 * round(rng.laplace(scale=10.0)) + data), 8000),
    ],
    ids=["complex", "text", "none", "large integers", "long arrays", "many outcomes", "parity"],
)
def test_leaks_that_a_float_would_lose_are_found(
    draw: Callable[[int, np.random.Generator], object], samples: int
) -> None:
    with pytest.raises(ClaimViolated):
        check_mechanism(_Drawn(draw, PureDP(1.0)), [Pair(0, 1)], samples=samples)


def test_outputs_that_cannot_be_read_are_refused() -> None:
    class Plain:
        pass

    with pytest.raises(TypeError, match="cannot be compared"):
        check_mechanism(_Drawn(lambda data, rng: Plain(), PureDP(1.0)), [Pair(0, 1)], samples=200)


def test_extreme_laws_are_measured_in_logarithms() -> None:
    faint = Pair(np.array([0.0, -800.0]), np.array([0.0, -900.0]))
    assert math.isfinite(measured(faint, GDP(1.0))[2])
    sharp = Pair(np.array([-690.0, 0.0]), np.array([-10_000.0, 0.0]))
    assert measured(sharp, ZCDP(200.0))[2] > 5000.0
    grid = np.linspace(-40.0, 41.0, 4001)
    wide = [-0.5 * (grid - mu) ** 2 for mu in (1.0, 0.0)]
    both = Pair(*(each - np.logaddexp.reduce(each) for each in wide))
    assert measured(both, GDP(1.0))[2] == pytest.approx(1.0, rel=2e-3)


def test_a_delta_that_is_just_reached_is_no_alarm() -> None:
    for delta in np.random.default_rng(0).uniform(1e-6, 0.1, size=200).tolist():
        both = Pair(np.log([delta, 1.0 - delta, 1e-300]), np.log([1e-300, 1.0 - delta, delta]))
        assert measured(both, ApproxDP(0.0, delta))[2] <= 1e-9


def test_values_of_other_shapes_are_refused_and_later_pairs_count_at_sensitivity_zero() -> None:
    ragged: Query[int, FloatArray, L1Sensitivity] = Query("ragged", np.ones, L1Sensitivity(1.0), ReplaceOne())
    with pytest.raises(ValueError, match="shape of the value depends on the data"):
        check_sensitivity(ragged, [Pair(1, 5)])
    still: Query[float, FloatArray, L1Sensitivity] = Query(
        "still", lambda x: np.array([x]), L1Sensitivity(0.0), ReplaceOne()
    )
    with pytest.raises(ClaimViolated, match="change 5"):
        check_sensitivity(still, [Pair(0.0, 1e-17), Pair(0.0, 5.0)])


def test_an_outcome_that_cannot_come_but_does_is_a_violation() -> None:
    class Surprising(PlainSelection[int]):
        def log_probabilities(self, data: int) -> FloatArray:
            return np.array([0.0, -np.inf])

    mechanism = Surprising(
        Query("s", lambda x: np.array([5.0, 0.0]), RangeSensitivity(1.0), ReplaceOne()),
        ExponentialChoice(1.0),
        SeededNoise(0),
    )
    with pytest.raises(ClaimViolated, match="outcome 1 came"):
        check_draws(mechanism, 0, samples=2000)
