"""The certificate of the minimiser: gradients in sixty digits, and each bound on rounding from its derivation."""

import math

import attrs
import mpmath as mp
import numpy as np
import pytest

from accountant.arrays import FloatArray
from mechanisms.gradients.linear_losses import (
    COLUMNS,
    RECORDS_PER_SUM,
    ROUND_OFF,
    SAFETY,
    SLOPES,
    LinearRecords,
    LogCoshLosses,
    LogisticLosses,
    Losses,
    NotMinimised,
    Reach,
    ResidualRecords,
    certified_norm,
    gradient_error,
    minimiser,
)
from proofs_tests.support.mechanisms.just_above import just_above

SCORES = np.array([-800.0, -40.0, -3.3, -1e-9, 0.0, 0.1, 2.7, 36.0, 800.0])
UNITS = mp.mpf(2) ** -53


def _pull(losses: Losses, label: float, score: float) -> mp.mpf:
    """−φ′: of ln(1 + e^{−yz}), or of ln(2 cosh((z − o)/2))."""
    with mp.workdps(60):
        if isinstance(losses, LogisticLosses):
            return mp.mpf(label) / (1 + mp.exp(mp.mpf(label) * mp.mpf(score)))
        return -mp.tanh((mp.mpf(score) - mp.mpf(label)) / 2) / 2


def _bend(losses: Losses, label: float, score: float) -> mp.mpf:
    with mp.workdps(60):
        z = mp.mpf(score) * mp.mpf(label) if isinstance(losses, LogisticLosses) else mp.mpf(score) - mp.mpf(label)
        return mp.sech(z / 2) ** 2 / 4


LABELS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("losses", "labels"), [(LogisticLosses(LABELS), LABELS), (LogCoshLosses(3.0 * LABELS), 3.0 * LABELS)]
)
def test_slopes_and_bends_are_the_derivatives(losses: Losses, labels: FloatArray) -> None:
    pulls, bends = losses.residuals(SCORES).tolist(), losses.curvatures(SCORES).tolist()
    for label, score, pull, bend in zip(labels.tolist(), SCORES.tolist(), pulls, bends, strict=True):
        assert abs(_pull(losses, label, score) - pull) <= 4 * UNITS
        assert abs(_bend(losses, label, score) - bend) <= 4 * UNITS
        assert abs(pull) <= SLOPES[losses.name]
        assert 0.0 <= bend <= 0.25


def test_names_and_slopes() -> None:
    assert dict(SLOPES) == {"logistic": 1.0, "log-cosh": 0.5}
    assert (LogisticLosses.name, LogCoshLosses.name) == ("logistic", "log-cosh")
    assert (ROUND_OFF, SAFETY, RECORDS_PER_SUM, COLUMNS) == (2.0**-53, 1.01, 1024, 32)


def test_a_reach_is_within_another_in_both_norms() -> None:
    wide = Reach(2.0, 1.0)
    for inside in (wide, Reach(1.0, 1.0), Reach(2.0, 0.5)):
        assert inside.within(wide)
    for outside in (Reach(2.1, 1.0), Reach(2.0, 1.1), Reach(3.0, 0.1), Reach(0.1, 3.0)):
        assert not outside.within(wide)
    for l1, l2 in ((0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (1.0, math.inf)):
        with pytest.raises(ValueError, match="positive"):
            Reach(l1, l2)


Kind = type[LinearRecords] | type[ResidualRecords]
KINDS: tuple[Kind, ...] = (LinearRecords, ResidualRecords)


@pytest.mark.parametrize("kind", KINDS)
def test_records_outside_the_reach_are_refused(kind: Kind) -> None:
    ones = np.array([1.0, -1.0])
    kind(np.array([[3.0, 4.0], [0.0, 0.0]]), ones, Reach(7.0, 5.0))
    kind(np.array([[3.0, -4.0], [-3.0, 4.0]]), ones, Reach(7.0, 5.0))
    forgiven, refused = 1.0 + 0.9 * 2.0**-42, 1.0 + 1.1 * 2.0**-42
    kind(np.array([[0.0, 0.0], [3.0 * forgiven, 4.0 * forgiven]]), ones, Reach(7.0, 5.0))
    for factor_one, factor_two in ((1.0, 1.0 / refused), (1.0 / refused, 1.0)):
        for rows in ([[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0], [-3.0, 4.0]]):
            with pytest.raises(ValueError, match="a record lies outside"):
                kind(np.array(rows), ones, Reach(7.0 * factor_one, 5.0 * factor_two))
    with pytest.raises(ValueError, match="a record lies outside"):
        kind(np.array([[math.nan, 0.0], [0.0, 0.0]]), ones, Reach(7.0, 5.0))


@pytest.mark.parametrize("kind", KINDS)
def test_one_label_per_record(kind: Kind) -> None:
    for rows, labels in (
        (np.zeros((2, 2)), np.ones(3)),
        (np.zeros(2), np.ones(2)),
        (np.zeros((2, 2)), np.ones((2, 1))),
    ):
        with pytest.raises(ValueError, match=r"expected \(n, d\) and \(n,\)"):
            kind(rows, labels, Reach(1.0, 1.0))


def test_labels_are_signs_or_finite() -> None:
    for wrong in (0.5, 0.0, 2.0, math.nan):
        with pytest.raises(ValueError, match="must be -1 or"):
            LinearRecords(np.zeros((2, 1)), np.array([1.0, wrong]), Reach(1.0, 1.0))
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="must be finite"):
            ResidualRecords(np.zeros((2, 1)), np.array([1.0, wrong]), Reach(1.0, 1.0))


def _random(kind: Kind, n: int, d: int, seed: int = 0) -> LinearRecords | ResidualRecords:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, d))
    rows /= np.abs(rows).sum(axis=1, keepdims=True) * (1.0 + 1e-9)
    labels = np.where(random.random(n) < 0.5, 1.0, -1.0)
    return kind(rows, labels if kind is LinearRecords else 5.0 * labels, Reach(1.0, 1.0))


def _exact(value: object) -> mp.mpf:
    with mp.workdps(60):
        return mp.mpf(value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 33), (2050, 2), (40, 70)])
def test_scores_and_sums_are_within_their_rounding(kind: Kind, n: int, d: int) -> None:
    sample = _random(kind, n, d)
    random = np.random.default_rng(1)
    weights, residuals = random.normal(size=d), random.normal(size=n)
    scores, pulled = sample.scores(weights), sample.feature_sum(residuals)
    assert scores == pytest.approx(sample.features @ weights, abs=1e-13)
    assert pulled == pytest.approx(sample.features.T @ residuals, abs=1e-12)
    rows = sample.features[:40]
    with mp.workdps(40):
        for row, score in zip(rows.tolist(), scores[:40].tolist(), strict=True):
            truth = mp.fsum(mp.mpf(x) * mp.mpf(w) for x, w in zip(row, weights.tolist(), strict=True))
            assert abs(truth - score) <= sample.score_rounding * float(np.max(np.abs(weights)))
    truth_sums = [math.fsum((sample.features[:, column] * residuals).tolist()) for column in range(d)]
    error = float(np.linalg.norm(pulled - truth_sums))
    assert error <= sample.sum_rounding * float(np.abs(residuals).sum())


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 33), (5000, 3), (1024, 32), (1025, 100)])
def test_bounds_on_rounding_are_those_of_sums_in_blocks(n: int, d: int) -> None:
    zeros = np.zeros((n, d))
    dense = LinearRecords(zeros, np.ones(n), Reach(1.0, 1.0))
    blocks = ResidualRecords(zeros, np.ones(n), Reach(1.0, 1.0))
    assert (dense.n, dense.d) == (n, d)
    # Twice γ of as many operations as there are on a term's way: products, sums within a block, sums of blocks.
    assert _exact(dense.score_rounding) == pytest.approx(float(2 * (d + 2) * UNITS), rel=1e-14, abs=0.0)
    for each in (dense, blocks):
        assert float(each.sum_rounding) == pytest.approx(
            float(2 * (min(n, 1024) + mp.mpf(n) / 1024 + 4) * UNITS), rel=1e-14, abs=0.0
        )
    assert float(blocks.score_rounding) == pytest.approx(
        float(2 * (min(d, 32) + mp.mpf(d) / 32 + 4) * UNITS), rel=1e-14, abs=0.0
    )


@attrs.frozen(eq=False)
class Rounded:
    """A sample of which only the bounds on its rounding are asked."""

    n: int
    reach: Reach
    score_rounding: float
    sum_rounding: float


def _error(sample: Rounded, strength: float, weights: FloatArray, noise: FloatArray, bent: float) -> mp.mpf:
    """The bound from its derivation: scores move slopes, slopes are summed, sums are added to λw and b."""
    with mp.workdps(60):
        n, u = sample.n, UNITS
        moved = (
            mp.mpf(sample.score_rounding)
            * mp.mpf(sample.reach.l1)
            * mp.mpf(float(np.max(np.abs(weights), initial=0.0)))
        )
        slopes = min(mp.mpf(n) / 4, mp.exp(moved) * (mp.mpf(bent) + 16 * u * n)) if moved <= 1 else mp.mpf(n) / 4
        pulls = moved * slopes + 16 * u * n
        sums = mp.mpf(sample.reach.l2) * (pulls + n * mp.mpf(sample.sum_rounding))
        length = mp.sqrt(mp.fsum(mp.mpf(w) ** 2 for w in weights.tolist()))
        drawn = mp.sqrt(mp.fsum(mp.mpf(b) ** 2 for b in noise.tolist()))
        parts = n * mp.mpf(sample.reach.l2) + mp.mpf(strength) * length + drawn
        return mp.mpf("1.01") * (sums + 4 * u * parts)


@pytest.mark.parametrize("score_rounding", [1e-15, 0.3, 0.9, 1.5, 7.0])
@pytest.mark.parametrize("bent", [0.0, 2.0, 24.0])
@pytest.mark.parametrize("sum_rounding", [2e-13, 1e-20])
def test_the_error_of_a_gradient_is_its_derivation(score_rounding: float, bent: float, sum_rounding: float) -> None:
    sample = Rounded(100, Reach(1.7, 0.6), score_rounding, sum_rounding)
    noise = np.array([300.0, -40.0])
    for weights in (np.array([0.5, -0.55]), np.zeros(2)):
        found = gradient_error(sample, 2e4, weights, noise, bent)  # type: ignore[arg-type]  # as much as it asks
        assert found == pytest.approx(float(_error(sample, 2e4, weights, noise, bent)), rel=1e-12, abs=0.0)
    for bare, strength in (
        (Rounded(100, Reach(1.7, 0.6), 1.0, 0.0), 0.0),
        (Rounded(100, Reach(1.7, 0.6), 0.0, 0.0), 2.0),
    ):
        for drawn in (np.zeros(2), noise):
            found = gradient_error(bare, strength, np.array([0.5, -0.5]), drawn, 0.0)  # type: ignore[arg-type]  # the same
            assert found == pytest.approx(
                float(_error(bare, strength, np.array([0.5, -0.5]), drawn, 0.0)), rel=1e-12, abs=0.0
            )
    none = gradient_error(Rounded(0, Reach(1.7, 0.6), 1e-15, 1e-15), 1.0, np.zeros(0), np.zeros(0), 0.0)  # type: ignore[arg-type]  # the same
    assert none == 0.0


def test_a_certified_norm_has_its_head_room() -> None:
    for size in (1, 2, 3, 10, 50, 400):
        gradient = np.linspace(0.3, 1.0, size)
        room = 1.0 + 2.0 * (size + 2) * 2.0**-53
        assert certified_norm(gradient, 0.0) == float(np.linalg.norm(gradient)) * room


def test_a_certified_norm_is_above_the_true_one() -> None:
    for gradient in (np.array([3.0, 4.0]), np.array([0.1] * 77), np.zeros(3)):
        with mp.workdps(60):
            length = mp.sqrt(mp.fsum(mp.mpf(each) ** 2 for each in gradient.tolist()))
            wanted = length * (1 + 2 * (gradient.size + 2) * UNITS) + mp.mpf(0.25)
            assert abs(certified_norm(gradient, 0.25) - wanted) <= wanted * 4 * UNITS
            just_above(certified_norm(gradient, 0.0), length, within=1e-13)


def _gradient_norm(
    sample: LinearRecords | ResidualRecords, strength: float, noise: FloatArray, weights: FloatArray
) -> mp.mpf:
    with mp.workdps(40):
        labels = (sample.signed if isinstance(sample, LinearRecords) else sample.offsets).tolist()
        gradient = [
            mp.mpf(strength) * mp.mpf(w) + mp.mpf(b) for w, b in zip(weights.tolist(), noise.tolist(), strict=True)
        ]
        for row, label in zip(sample.features.tolist(), labels, strict=True):
            score = mp.fsum(mp.mpf(x) * mp.mpf(w) for x, w in zip(row, weights.tolist(), strict=True))
            pull = _pull(sample.losses, label, score)
            gradient = [g - pull * mp.mpf(x) for g, x in zip(gradient, row, strict=True)]
        return mp.sqrt(mp.fsum(g**2 for g in gradient))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [1e-3, 3e-11])
def test_the_minimiser_is_as_close_as_it_says(kind: Kind, tolerance: float) -> None:
    sample, noise = _random(kind, 60, 3), np.array([2.0, -7.0, 0.1])
    weights = minimiser(sample, 0.3, noise, tolerance)
    assert _gradient_norm(sample, 0.3, noise, weights) <= tolerance
    assert sample.gram(np.ones(60)) == pytest.approx(sample.features.T @ sample.features)


def test_what_rounding_does_not_allow_is_not_promised() -> None:
    for kind in KINDS:
        with pytest.raises(NotMinimised, match="no gradient below"):
            minimiser(_random(kind, 60, 3), 0.3, np.array([2.0, -7.0, 0.1]), 1e-17)
