"""LazyBregman's certificate, exhaustively on small samples and at random on larger ones."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import ReplaceOne
from accountant.arrays import SignArray
from boosting import LazyBregman, Reweighted, joint_distance
from boosting.reweighted_sample import MAX_ROUNDS, BoostingStep


@attrs.frozen(eq=False)
class Points:
    """Labelled points of a finite domain; hypotheses are tables over the domain."""

    points: tuple[int, ...]
    signs: tuple[int, ...]

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def labels(self) -> SignArray:
        return np.array(self.signs, dtype=np.int8)

    @property
    def keys(self) -> list[tuple[int, int]]:
        return list(zip(self.points, self.signs, strict=True))


@attrs.frozen
class Table:
    """h(x) looked up."""

    values: tuple[int, ...]

    def predictions(self, sample: Points) -> SignArray:
        return np.array([self.values[point] for point in sample.points], dtype=np.int8)


def reweighted(booster: LazyBregman, sample: Points, hypotheses: list[Table]) -> Reweighted[Points]:
    state = booster.start(sample)
    for hypothesis in hypotheses:
        state = booster.step(state, hypothesis)
    return state


def distance(booster: LazyBregman, one: Points, other: Points, hypotheses: list[Table]) -> float:
    first, second = (reweighted(booster, sample, hypotheses) for sample in (one, other))
    return joint_distance(one.keys, first.measure.distribution, other.keys, second.measure.distribution)


RECORDS = list(itertools.product(range(2), (-1, 1)))
TABLES = [Table(values) for values in itertools.product((-1, 1), repeat=2)]


@pytest.mark.parametrize("density", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_every_neighbouring_pair_of_three_records_stays_within_zeta(density: float, rate: float) -> None:
    """All samples of 3 records, all replacements, all hypothesis lists of up to 3: joint distance <= ζ_t."""
    booster, worst = LazyBregman(density, rate), [0.0] * 4
    for records in itertools.combinations_with_replacement(RECORDS, 3):
        one = Points(*zip(*records, strict=True))
        for place, new in itertools.product(range(3), RECORDS):
            other = Points(*zip(*(*records[:place], new, *records[place + 1 :]), strict=True))
            for rounds in range(4):
                for chosen in itertools.combinations_with_replacement(TABLES, rounds):
                    found = distance(booster, one, other, list(chosen))
                    worst[rounds] = max(worst[rounds], found)
    for rounds, found in enumerate(worst):
        assert found <= booster.slickness(3, rounds + 1).zeta + 1e-12
    # Round 1 is uniform, so 1/n is attained there; later rounds reach the certificate where 1/(κn) is it.
    assert worst[0] == pytest.approx(1 / 3)


def test_both_certificates_are_attained() -> None:
    """[L0] 1/(κn) by a capped record, [001-per-round-zeta] r/(r + n − 1) by one against the rest; no slack of 10 %."""
    wrong, right = Table((1, -1)), Table((-1, 1))
    sample = Points((1,) * 9 + (0,), (1,) * 10)
    other = Points((1,) * 10, (1,) * 10)
    capped = LazyBregman(0.5, 2.0)
    # Every record at point 1 is right and the one at 0 always wrong: it is capped at 1/(κn).
    found = distance(capped, sample, other, [right] * 3)
    assert found == pytest.approx(capped.slickness(10, 4).zeta, rel=1e-9) == pytest.approx(0.2)
    loose = LazyBregman(0.1, 0.05)
    found = distance(loose, sample, other, [right] * 3)
    ratio = math.exp(2 * 0.05 * 3)
    assert found == pytest.approx(loose.slickness(10, 4).zeta, rel=1e-9) == pytest.approx(ratio / (ratio + 9))
    assert distance(loose, sample, other, [wrong] * 3) < found


@given(st.integers(2, 60), st.floats(0.05, 1.0), st.floats(0.01, 1.5), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_larger_samples_stay_within_zeta(n: int, density: float, rate: float, rounds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, signs = rng.integers(0, 6, n), rng.choice((-1, 1), n)
    one = Points(tuple(points.tolist()), tuple(signs.tolist()))
    points[0], signs[0] = rng.integers(0, 6), rng.choice((-1, 1))
    other = Points(tuple(points.tolist()), tuple(signs.tolist()))
    chosen = [Table(tuple(rng.choice((-1, 1), 6).tolist())) for _ in range(rounds)]
    booster = LazyBregman(density, rate)
    certificate = booster.slickness(n, rounds + 1)
    assert distance(booster, one, other, chosen) <= certificate.zeta + 1e-12
    assert certificate.zeta <= booster.global_zeta(n)


def test_skipping_the_projection_breaks_the_certificate() -> None:
    """[001-projection] Scaling only when the measure is too light, as the authors' code does, loses smoothness."""
    n, density, rate = 200, 0.25, 0.5
    margins = np.zeros(n)
    margins[0] = -6.0
    skipped = density * np.exp(-rate * margins)
    assert skipped.mean() >= density  # dense already, so that code would leave it as it is
    assert skipped.max() / skipped.sum() > 4.0 / (density * n)
    sample = Points((0, *([1] * (n - 1))), (1,) * n)
    wrong_on_the_first = [Table((-1, sign)) for sign in (1, -1)] * 3
    ours = reweighted(LazyBregman(density, rate), sample, wrong_on_the_first)
    assert np.array_equal(ours.margins, margins)
    assert ours.measure.distribution.max() <= 1 / (density * n) + 1e-15


@pytest.mark.parametrize("n", [40, 40_000])
def test_the_steepest_weights_that_are_certified_keep_their_density(n: int) -> None:
    """λ·t at its limit: one record wrong, all others right; without a limit the mass goes wrong silently."""
    sample = Points((0,) + (1,) * (n - 1), (1,) * n)
    state = reweighted(LazyBregman(0.25, 4096.0 / 9), sample, [Table((-1, 1))] * 9)
    assert state.measure.density == pytest.approx(0.25, rel=1e-12)
    assert state.slickness.zeta == pytest.approx(4 / n)


def test_margins_carried_along_equal_margins_from_scratch() -> None:
    rng = np.random.default_rng(3)
    sample = Points(tuple(rng.integers(0, 4, 30).tolist()), tuple(rng.choice((-1, 1), 30).tolist()))
    chosen = [Table(tuple(rng.choice((-1, 1), 4).tolist())) for _ in range(7)]
    state = reweighted(LazyBregman(0.4, 0.3), sample, chosen)
    scratch = sum((sample.labels.astype(int) * h.predictions(sample) for h in chosen), np.zeros(30, dtype=int))
    assert np.array_equal(state.margins, scratch)
    expected = np.exp(-0.3 * scratch)
    ratio = state.measure.weights / expected
    free = state.measure.weights < 1.0
    assert np.ptp(ratio[free]) < 1e-12 * ratio[free].max()
    assert state.measure.density == pytest.approx(0.4, rel=1e-13)
    assert state.measure.values.size == 8


def test_bad_parameters_are_refused() -> None:
    for density in (0.0, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\]"):
            LazyBregman(density, 0.1)
    for rate in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            LazyBregman(0.5, rate)
    with pytest.raises(ValueError, match="whole number"):
        LazyBregman(0.5, 0.5).slickness(0, 1)
    with pytest.raises(ValueError, match=r"at least 2\^-30"):
        LazyBregman(1e-12, 0.5)
    with pytest.raises(ValueError, match="exceeds 4096"):
        LazyBregman(0.5, 1e6).slickness(10, 2)
    with pytest.raises(ValueError, match="beyond round 4096"):
        LazyBregman(0.5, 0.1).slickness(10, 4097)
    assert LazyBregman(0.01, 0.5).global_zeta(10) == 1.0  # κn < 1: nothing is promised
    assert LazyBregman(0.5, 0.5).slickness(10, 3).adjacency == ReplaceOne()


def test_margins_of_more_rounds_than_are_certified_do_not_overflow() -> None:
    """A replay may be longer than any certificate; two bytes would wrap at 2^15."""
    sample = ToyLabels(np.array([1, -1], dtype=np.int8))
    state = attrs.evolve(LazyBregman(0.5, 0.001).start(sample), steps=(BoostingStep(AlwaysRight()),) * MAX_ROUNDS)
    assert state.margins.dtype == np.int16
    after = LazyBregman(0.5, 0.001).step(state, AlwaysRight())
    assert after.margins.dtype == np.int64
    assert after.margins.tolist() == [MAX_ROUNDS + 1] * 2


@attrs.frozen(eq=False)
class ToyLabels:
    labels: SignArray

    @property
    def n(self) -> int:
        return int(self.labels.size)


class AlwaysRight:
    def predictions(self, sample: ToyLabels) -> SignArray:
        return sample.labels
