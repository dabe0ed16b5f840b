"""The weighted exponential mechanism: its law, its cost, its certificate, its noise sources."""

import math
from fractions import Fraction

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant import (
    AddRemoveOne,
    BasicComposition,
    BoundedRange,
    Ledger,
    NotSpendable,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from mechanisms import (
    CertificateMismatch,
    CertifiedSelection,
    L1Sensitivity,
    L2Sensitivity,
    LInfSensitivity,
    NoiseSource,
    SecureNoise,
    SeededNoise,
    Slickness,
    SlicknessTooWeak,
    WeightedExponential,
)
from mechanisms.randomness import sources as noise_module
from mechanisms.randomness.sources import noise_source
from proofs_tests.harness import loss_width, max_loss
from proofs_tests.support.mechanisms.weighted import Values as Scores
from proofs_tests.support.mechanisms.weighted import certificate
from proofs_tests.support.mechanisms.weighted import scores as query


def law(mechanism: WeightedExponential[Scores], values: FloatArray) -> dict[int, float]:
    data = Scores(values, certificate(mechanism.zeta))
    exact = mechanism.under(data.slickness).log_probabilities(data)
    return dict(enumerate(exact.tolist()))


vectors = st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=6).map(np.array)


@given(vectors, st.floats(0.1, 30.0), st.floats(0.01, 1.0), st.data())
def test_loss_stays_within_the_declared_range(values: FloatArray, eta: float, zeta: float, data: st.DataObject) -> None:
    """Any change of range 2ζ, however large its offset: only the range matters. [L2]"""
    mechanism = WeightedExponential(query(), eta, zeta, SeededNoise(0))
    offset = data.draw(st.floats(-5.0, 5.0))
    moves = np.array(data.draw(st.lists(st.floats(0.0, 2.0 * zeta), min_size=len(values), max_size=len(values))))
    before, after = law(mechanism, values), law(mechanism, values + moves + offset)
    assert loss_width(before, after) <= mechanism.width + 1e-9
    assert max_loss(before, after) <= mechanism.width + 1e-9


def test_the_declared_range_is_attained() -> None:
    """Two groups moving apart: ≥ 0.95 of the declaration is really lost, so 10 % less would be caught."""
    mechanism = WeightedExponential(query(), 5.0, 0.1, SeededNoise(0))
    moved = np.array([0.2] + [0.0] * 1000)
    found = max_loss(law(mechanism, np.zeros(1001)), law(mechanism, moved))
    assert 0.95 * mechanism.width <= found <= mechanism.width
    assert found > 0.9 * mechanism.width


def test_the_papers_closing_note_is_false_by_two() -> None:
    """[001-Thm3] η = 2ε/(2Δ): h0 gains Δ, 1000 others lose Δ, ε = 1: the exact ratio is 7.34 > e."""
    mechanism = WeightedExponential(query(), 1.0, 1.0, SeededNoise(0))
    assert mechanism.width == pytest.approx(2.0, rel=1e-9)
    after = np.array([1.0] + [-1.0] * 1000)
    ratio = math.exp(max_loss(law(mechanism, np.zeros(1001)), law(mechanism, after)))
    assert ratio == pytest.approx(math.e / (math.e + 1000 / math.e) * 1001, rel=1e-9)
    assert ratio == pytest.approx(7.34, abs=0.005)


def test_a_mechanism_of_zero_sensitivity_is_free_and_one_candidate_is_returned() -> None:
    free = WeightedExponential(query(0.0), 5.0, 0.1, SeededNoise(0))
    assert free.robust_cost.cost == BoundedRange(0.0)
    only = Scores(np.array([0.3]), certificate())
    assert free.under(certificate()).sample(only) == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)])
def test_scores_that_are_not_finite_are_refused(bad: float, noise: NoiseSource) -> None:
    with pytest.raises(ValueError, match="finite"):
        noise.exponential_choice(np.array([0.0, bad]), 1.0)
    with pytest.raises(ValueError, match="shape"):
        noise.exponential_choice(np.empty(0), 1.0)


# --- certificates -----------------------------------------------------------------------------------------------


def test_a_robust_mechanism_cannot_be_released_without_its_certificate() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    mechanism = WeightedExponential(query(), 1.0, 0.1, SeededNoise(0))
    data = ledger.protect(Scores(np.zeros(3), certificate()))
    with pytest.raises(NotSpendable, match=r"robust\.under\(slickness\)"):
        ledger.release(mechanism, data)  # type: ignore[arg-type]  # the mistake under test
    assert len(ledger.entries) == 1


def test_a_certificate_that_promises_too_little_is_refused() -> None:
    mechanism = WeightedExponential(query(), 1.0, 0.1, SeededNoise(0))
    assert mechanism.under(certificate(0.1)).cost == BoundedRange(mechanism.width)  # ζ itself is allowed
    with pytest.raises(SlicknessTooWeak, match=r"ζ <= 0.2.*only up to ζ = 0.1"):
        mechanism.under(certificate(0.2))
    with pytest.raises(CertificateMismatch, match="add-remove-one"):
        mechanism.under(attrs.evolve(certificate(), adjacency=AddRemoveOne()))


def test_no_way_of_making_a_certified_mechanism_skips_the_check() -> None:
    weak, strong = WeightedExponential(query(), 100.0, 1e-6, SeededNoise(0)), certificate(1.0)
    with pytest.raises(SlicknessTooWeak):
        CertifiedSelection(weak, strong)
    with pytest.raises(SlicknessTooWeak):
        attrs.evolve(weak.under(certificate(1e-6)), slickness=strong)


@pytest.mark.parametrize(
    ("actual", "message"),
    [(certificate(n=11), "for n = 10, the data has n = 11"), (certificate(producer="other"), "of test, .* of other")],
)
def test_data_weighted_under_another_certificate_is_refused_before_the_charge(actual: Slickness, message: str) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    mechanism = WeightedExponential(query(), 1.0, 0.1, SeededNoise(0)).under(certificate())
    with pytest.raises(CertificateMismatch, match=message):
        ledger.release(mechanism, ledger.protect(Scores(np.zeros(3), actual)))
    assert len(ledger.entries) == 1


def test_the_entry_says_what_the_cost_rests_on() -> None:
    mechanism = WeightedExponential(query(), 1.0, 0.1, SeededNoise(0)).under(certificate())
    described = mechanism.description
    assert (described.norm, described.sensitivity, described.zeta) == ("range", 0.2, 0.1)
    assert described.claims == ("L2", "L1", "L0")
    assert not described.private
    assert "seeded" in described.noise


def test_norms_convert_by_name_only_where_that_is_true() -> None:
    assert LInfSensitivity(0.5).to_range().value == pytest.approx(1.0)
    assert L1Sensitivity(0.5).to_l2() == L2Sensitivity(0.5)
    assert L2Sensitivity(0.5).to_linf() == LInfSensitivity(0.5)
    assert not hasattr(L2Sensitivity(0.5), "to_l1")
    assert L1Sensitivity(0.5).to_linf() == LInfSensitivity(0.5)


# --- sampling ----------------------------------------------------------------------------------------------------

DRAWS = 20_000
FALSE_ALARM = 1e-9
"""A right sampler fails a test with this probability; the source is not seeded, so it must be tiny."""


def chi_squared(noise: NoiseSource, eta: float, claimed_eta: float) -> float:
    """p-value of DRAWS choices at `eta` against the law at `claimed_eta`."""
    scores = np.array([0.0, 0.5, 1.0, 1.7])
    seen = np.bincount([noise.exponential_choice(scores, eta) for _ in range(DRAWS)], minlength=4)
    weights = np.exp(claimed_eta * scores)
    return float(stats.chisquare(seen, DRAWS * weights / weights.sum()).pvalue)


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)], ids=["secure", "seeded"])
def test_samplers_follow_the_declared_law_and_a_tenth_off_would_show(noise: NoiseSource) -> None:
    """Statistical: 20,000 draws. Power: an η that is 10 % larger gives p < 1e-9 with probability > 0.999.

    (Non-centrality 20,000·χ²-distance(η, 1.1η) ≈ 130 against the 1e-9 quantile of χ²(3), 45.)
    """
    assert chi_squared(noise, 2.0, 2.0) > FALSE_ALARM
    assert chi_squared(noise, 2.2, 2.0) < FALSE_ALARM


@given(st.floats(1e-6, 1e6))
def test_secure_noise_is_never_sharper_than_declared(eta: float) -> None:
    """The scale that OpenDP is given for permute-and-flip, against 1/η: not below, and above by a billionth at most."""
    given_scales: list[float] = []

    class Recorded:
        def __call__(self, scores: list[float]) -> int:
            return 0

    def record(scale: float) -> Recorded:
        given_scales.append(scale)
        return Recorded()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise_module, "_permute_and_flip", record)
        SecureNoise().permute_and_flip_choice(np.zeros(3), eta)
    assert Fraction(given_scales[0]) * Fraction(eta) >= 1
    assert given_scales[0] * eta <= 1 + 1e-9


def test_the_default_source_is_secure_and_says_so() -> None:
    assert isinstance(noise_source(None, None), SecureNoise)
    assert noise_source(None, None).private
    assert not noise_source(3, None).private
    own = SeededNoise(1)
    assert noise_source(own, "sqlite:///study.db") is own
    with pytest.raises(TypeError, match="random_state"):
        noise_source("seed", None)  # type: ignore[arg-type]  # the mistake under test


def test_a_seed_reproduces_and_secure_noise_does_not() -> None:
    scores = np.zeros(1000)
    assert [SeededNoise(5).exponential_choice(scores, 1.0) for _ in range(3)] == [
        SeededNoise(5).exponential_choice(scores, 1.0)
    ] * 3
    assert len({SecureNoise().exponential_choice(scores, 1.0) for _ in range(20)}) > 1
