"""Random feature maps: public, of length at most 1, and close to the kernels they stand for."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.encoding.numeric_features import Scaling
from learners.random_features.feature_maps import (
    FEATURE_MAPS,
    FeatureMap,
    FrequencyDistribution,
    RandomFeatureMap,
    Reference,
)
from learners.random_features.feature_model import FARTHEST, PublicFeatures
from mechanisms.queries.weighted_queries import row_lengths

DISTRIBUTIONS: tuple[FrequencyDistribution, ...] = ("gaussian", "cauchy", "orthogonal")
RNG = np.random.default_rng(5)
POINTS = RNG.uniform(-1.0, 1.0, (40, 3))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("feature_map", ["fourier", "cosine"])
def test_products_are_the_kernel(distribution: FrequencyDistribution, feature_map: FeatureMap) -> None:
    """20,000 frequencies: an average of bounded terms is off by less than .05, seven standard deviations or more."""
    found = RandomFeatureMap(distribution, feature_map, 3, 20_000, 0.7, 1)
    rows = found.features(POINTS)
    apart = POINTS[:, None] - POINTS[None]
    if distribution == "cauchy":
        kernel = np.exp(-0.7 * np.abs(apart).sum(axis=2))
    else:
        kernel = np.exp(-0.5 * 0.49 * (apart**2).sum(axis=2))
    assert np.max(np.abs(rows @ rows.T / found.mean_square - kernel)) < 0.05


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_fourier_rows_have_length_one_and_cosines_at_most(distribution: FrequencyDistribution) -> None:
    for feature_map in ("fourier", "complex"):
        assert row_lengths(
            RandomFeatureMap(distribution, feature_map, 3, 50, 2.0, 0).features(POINTS)
        ) == pytest.approx(1.0)
    assert np.all(row_lengths(RandomFeatureMap(distribution, "cosine", 3, 50, 2.0, 0).features(POINTS)) <= 1.0)


def test_a_complex_model_is_kept_as_two_real_parts() -> None:
    """Σ c_k e^{iω_k·x}/√N in complex arithmetic, against both real products."""
    found = RandomFeatureMap("gaussian", "complex", 3, 6, 1.3, 2)
    parts = RNG.standard_normal(12)
    whole = np.exp(1j * POINTS @ found.frequencies.T) @ (parts[:6] + 1j * parts[6:]) / math.sqrt(6)
    assert found.features(POINTS) @ parts == pytest.approx(whole.real, abs=1e-6)  # as points and angles are rounded
    assert found.imaginary(POINTS) @ parts == pytest.approx(whole.imag, abs=1e-6)


def test_orthogonal_frequencies_are_orthogonal_and_long_as_normal_ones() -> None:
    found = RandomFeatureMap("orthogonal", "fourier", 8, 20, 1.0, 3).frequencies
    for start in range(0, 16, 8):
        gram = found[start : start + 8] @ found[start : start + 8].T
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12
    many = RandomFeatureMap("orthogonal", "fourier", 8, 8000, 1.0, 3).frequencies
    assert np.mean(np.sum(many**2, axis=1)) == pytest.approx(8.0, abs=0.25)  # five standard deviations: 4/√8000 each
    assert np.abs(many.mean(axis=0)).max() < 0.06


def test_orthogonal_frequencies_estimate_the_kernel_better() -> None:
    """Yu et al. 2016: less variance, here over 60 seeds; by a factor of 2 or more for points this close."""
    points = np.array([[0.4] * 8, [0.0] * 8])
    truth = math.exp(-0.5 * float(np.sum((points[0] - points[1]) ** 2)))

    def off(distribution: FrequencyDistribution) -> float:
        rows = [RandomFeatureMap(distribution, "fourier", 8, 32, 1.0, seed).features(points) for seed in range(60)]
        return float(np.mean([(row[0] @ row[1] - truth) ** 2 for row in rows]))

    assert off("orthogonal") < 0.5 * off("gaussian")


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("feature_map", ["fourier", "cosine"])
@pytest.mark.parametrize("reference", ["normal", "cube"])
def test_the_public_mean_is_the_mean(
    distribution: FrequencyDistribution, feature_map: FeatureMap, reference: Reference
) -> None:
    """[004-centring] By 200,000 points: every mean of bounded features is off by less than six deviations of it."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200_000, 2)) if reference == "normal" else rng.uniform(-1, 1, (200_000, 2))
    found = RandomFeatureMap(distribution, feature_map, 2, 30, 0.8, 4)
    drawn = found.features(points).mean(axis=0)
    assert np.abs(drawn - found.mean(reference)).max() < 6.0 / math.sqrt(200_000 * 30)


def test_linear_features_are_the_inputs_and_a_constant() -> None:
    rows = RandomFeatureMap("linear", "fourier", 3, 1, 1.0, 0).features(POINTS)
    assert rows == pytest.approx(np.column_stack([POINTS, np.ones(40)]) / 2.0)


# --- what a fit works on ----------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.sampled_from([*DISTRIBUTIONS, "linear"]),
    st.sampled_from(["fourier", "cosine"]),
    st.sampled_from([None, "normal", "cube"]),
    st.floats(1e-6, 1e6),
    st.sampled_from([0.0, 1.0, 1e9, 1e300]),
)
def test_rows_have_length_at_most_one_for_all_inputs(
    distribution: FrequencyDistribution, feature_map: FeatureMap, reference: Reference | None, scale: float, size: float
) -> None:
    """[exact-sums] Also far away, on top of each other, and beyond where angles could be told apart."""
    features = PublicFeatures(RandomFeatureMap(distribution, feature_map, 3, 7, scale, 1), Scaling.none(3), reference)
    points = np.vstack([POINTS * size, np.zeros((2, 3)), np.full((1, 3), size)])
    rows = features.rows(points, 1000)
    assert np.all(np.isfinite(rows))
    assert np.all(np.sum(rows.astype(np.longdouble) ** 2, axis=1) <= 1.0)


def test_centred_rows_are_brought_to_length_one() -> None:
    features = PublicFeatures(RandomFeatureMap("gaussian", "fourier", 3, 30, 0.3, 1), Scaling.none(3), "cube")
    assert row_lengths(features.rows(POINTS)) == pytest.approx(1.0, abs=1e-6)
    plain = PublicFeatures(features.map, Scaling.none(3))
    close = np.mean(plain.rows(POINTS) @ plain.rows(POINTS).T)
    assert np.mean(features.rows(POINTS) @ features.rows(POINTS).T) < 0.8 * close  # what all share is mostly gone


def test_a_row_does_not_depend_on_its_company() -> None:
    """Or the sensitivity of a sum would be that of many rows."""
    features = PublicFeatures(RandomFeatureMap("gaussian", "fourier", 3, 30, 1.0, 1), Scaling.none(3), "normal")
    rows = features.rows(POINTS, 40)
    changed = POINTS.copy()
    changed[7] = 9.0
    others = np.arange(40) != 7
    assert np.array_equal(features.rows(changed, 40)[others], rows[others])


def test_far_inputs_are_moved_to_the_farthest() -> None:
    features = PublicFeatures(RandomFeatureMap("gaussian", "fourier", 1, 4, 1.0, 1), Scaling.none(1))
    assert np.array_equal(features.rows(np.array([[1e300]])), features.rows(np.array([[FARTHEST]])))


# --- files and bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", [*DISTRIBUTIONS, "linear"])
@pytest.mark.parametrize("feature_map", FEATURE_MAPS)
def test_a_map_comes_back_from_its_record(distribution: FrequencyDistribution, feature_map: FeatureMap) -> None:
    if (distribution, feature_map) == ("linear", "complex"):
        return
    found = RandomFeatureMap(distribution, feature_map, 3, 9, 0.7, 11)
    again = RandomFeatureMap.from_record(json.loads(json.dumps(found.as_record())))
    assert again == found
    assert np.array_equal(again.features(POINTS), found.features(POINTS))


def test_a_map_that_draws_otherwise_is_refused() -> None:
    """As another version of numpy may."""
    record = RandomFeatureMap("gaussian", "fourier", 3, 9, 0.7, 11).as_record()
    record["last"] = [0.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="other frequencies"):
        RandomFeatureMap.from_record(record)


@pytest.mark.parametrize(
    ("name", "value"),
    [("distribution", "poisson"), ("feature_map", "real"), ("inputs", 0), ("n_components", 0),
     ("n_components", 2**18), ("scale", 0.0), ("scale", math.nan), ("seed", -1), ("seed", 1.5)],
)  # fmt: skip
def test_bad_maps_are_refused(name: str, value: object) -> None:
    settings = {
        "distribution": "gaussian",
        "feature_map": "fourier",
        "inputs": 3,
        "n_components": 9,
        "scale": 1.0,
        "seed": 0,
        name: value,
    }
    with pytest.raises((ValueError, TypeError)):
        RandomFeatureMap(**settings)  # type: ignore[arg-type]  # wrong on purpose
