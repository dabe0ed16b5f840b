"""Objective perturbation against its suprema and fixed points in sixty digits."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from accountant import GDP, AddRemoveOne, ApproxDP, Cost, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.rounding import SLACK, down, up
from mechanisms.additive import GammaNormNoise, GaussianNoise, LaplaceNoise
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity
from mechanisms.gradients import objective_perturbation
from mechanisms.gradients.linear_losses import LinearRecords, LossName, Reach, ResidualRecords
from mechanisms.gradients.objective_perturbation import (
    SHARE,
    STEEPEST,
    ObjectiveNoise,
    ObjectivePerturbation,
    TooLittleRegularization,
    calibrated,
    default_regularization,
    default_tolerance,
    deviation,
    gaussian_epsilon,
    gaussian_mu,
    pure_epsilon,
)
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

Relation = ReplaceOne | AddRemoveOne
RELATIONS: tuple[Relation, ...] = (ReplaceOne(), AddRemoveOne())
GRID = mp.mpf(2) ** -40


def _highest(value: Callable[[mp.mpf], mp.mpf]) -> mp.mpf:
    """The maximum over [0, 1] of a concave function, by thirds."""
    low, high = mp.mpf(0), mp.mpf(1)
    for _ in range(90):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if value(first) < value(second):
            low = first
        else:
            high = second
    return max(value(mp.mpf(1)), value((low + high) / 2))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", ["logistic", "log-cosh"])
@pytest.mark.parametrize("each", [1e-3, 0.5, 3.0])
@pytest.mark.parametrize("bend", [1e-6, 0.4999, 0.51, 2.0, 1e6])
def test_a_pure_price_is_the_supremum_over_slopes(relation: Relation, loss: LossName, each: float, bend: float) -> None:
    with mp.workdps(40):
        a, b = mp.mpf(each), mp.mpf(bend)
        slope = mp.mpf(1) if loss == "logistic" else mp.mpf(1) / 2
        # The other record's gradient moves the noise by at most its own slope; log-cosh: half of A, twice.
        other = a * slope if isinstance(relation, ReplaceOne) else mp.mpf(0)
        if loss == "log-cosh":
            other -= a / 2
        truth = _highest(lambda s: other + a * s + mp.log1p(b * s * (1 - s)))
        grid = mp.mpf(0) if isinstance(relation, ReplaceOne) and loss == "logistic" else GRID
        just_above(pure_epsilon(each, bend, relation, loss), truth + grid, within=5e-12)


def test_a_pure_price_by_default_is_of_the_logistic_loss() -> None:
    assert pure_epsilon(0.5, 0.1, ReplaceOne()) == pure_epsilon(0.5, 0.1, ReplaceOne(), "logistic")
    just_above(pure_epsilon(0.5, 0.5, ReplaceOne()), 1.0)


@pytest.mark.parametrize("mu", [0.01, 0.4, 1.0, 2.5])
@pytest.mark.parametrize("bend", [0.0, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3])
def test_a_gaussian_price_is_the_largest_of_its_three_bounds(mu: float, bend: float, delta: float) -> None:
    square = mp.mpf(mu) ** 2
    alone = gaussian_epsilon(mu, bend, delta, AddRemoveOne())
    linear = mp.mpf(bend) - square / 2
    assert gaussian_delta(mu, alone) <= delta
    assert alone >= linear
    tight = alone <= linear * (1 + mp.mpf(3e-12)) if alone < 1e-9 or linear > 0 else False
    assert tight or gaussian_delta(mu, alone * (1 - 1e-8) - 1e-9) > delta or alone < 1e-13
    both = gaussian_epsilon(mu, bend, delta, ReplaceOne())
    twice = max(2 * mp.mpf(bend) - 2 * square, square)
    assert gaussian_delta(2.0 * mu, both) <= delta
    assert both >= twice
    assert both <= twice * (1 + mp.mpf(3e-12)) or gaussian_delta(2.0 * mu, both * (1 - 1e-8) - 1e-9) > delta


def _fixed_point(mu: float, bend: float) -> mp.mpf:
    """The smallest m with m = μ + (κ²/6μ)·exp(m²/8), from below."""
    with mp.workdps(40):
        excess = max(mp.mpf(0), mp.mpf(bend) - mp.mpf(mu) ** 2 / 2)
        total = mp.mpf(mu)
        for _ in range(4000):
            following = mp.mpf(mu) + excess**2 / (6 * mp.mpf(mu)) * mp.exp(total**2 / 8)
            if following - total < mp.mpf(10) ** -30:
                break
            total = following
        return total


@pytest.mark.parametrize("mu", [0.05, 0.4, 1.0, 1.7])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_gaussian_privacy_is_the_smallest_fixed_point(mu: float, share: float) -> None:
    bend = 0.5 * mu * mu + share * mu
    truth = _fixed_point(mu, bend)
    just_above(gaussian_mu(mu, bend, AddRemoveOne()), truth, within=2e-9)
    just_above(gaussian_mu(mu, bend, ReplaceOne()), 2 * truth, within=2e-9)


def test_gaussian_privacy_without_an_excess_is_the_noise_alone() -> None:
    for mu in (0.3, 2.0, 9.0):
        just_above(gaussian_mu(mu, 0.0, AddRemoveOne()), mu)
        just_above(gaussian_mu(mu, 0.49 * mu * mu, ReplaceOne()), 2 * mp.mpf(mu))


def test_gaussian_privacy_is_refused_where_nothing_is_proved() -> None:
    assert STEEPEST == 4.0
    mu = 0.1
    for relation in RELATIONS:
        edge = 0.5 * mu * mu + 4.0 * mu
        with pytest.raises(TooLittleRegularization, match="<= 4 mu"):
            gaussian_mu(mu, edge * (1.0 + 1e-9), relation)
        found = gaussian_mu(mu, edge * (1.0 - 1e-9), relation)
        with mp.workdps(30):
            assert found >= _fixed_point(mu, edge * (1.0 - 1e-9)) * (2 if isinstance(relation, ReplaceOne) else 1)
    # κ = 2μ at μ = 1.5: m would have to be larger than μ + (κ²/6μ)·exp(m²/8) for no m.
    for mu, kappa in ((1.5, 3.0), (2.0, 3.0), (41.0, 1.0), (3.0, 11.9)):
        grid = np.linspace(mu, 60.0, 20_000)
        assert np.all(mu + kappa**2 / (6.0 * mu) * np.exp(np.minimum(grid**2 / 8.0, 600.0)) > grid)
        with pytest.raises(TooLittleRegularization, match="no mu' up to 40"):
            gaussian_mu(mu, 0.5 * mu * mu + kappa, ReplaceOne())


REACH = Reach(1.5, 0.8)
RANDOMIZERS: tuple[Callable[[float], ObjectiveNoise], ...] = (LaplaceNoise, GammaNormNoise, GaussianNoise)


def mechanism(
    randomizer: ObjectiveNoise, strength: float = 3.0, delta: float = 0.0, **others: object
) -> ObjectivePerturbation:
    return ObjectivePerturbation(randomizer, strength, REACH, 3, 1e-6, delta, **others)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", ["logistic", "log-cosh"])
@pytest.mark.parametrize("strength", [0.07, 3.0])
def test_pure_noise_pays_for_its_own_norm_and_the_determinant(
    relation: Relation, loss: LossName, strength: float
) -> None:
    bend = mp.mpf(0.8) ** 2 / mp.mpf(strength)
    for randomizer, norm in ((LaplaceNoise(0.7), 1.5), (GammaNormNoise(0.7), 0.8)):
        each = mp.mpf(norm) / mp.mpf(0.7) + GRID
        cost = mechanism(randomizer, strength, relation=relation, loss=loss).exact_cost
        assert isinstance(cost, PureDP)
        just_above(
            cost.epsilon, pure_epsilon(float(each), float(bend), relation, loss) * (1 - mp.mpf(1e-11)), within=3e-11
        )
        if each > bend:
            slopes = (1 if loss == "logistic" else mp.mpf(1) / 2) * (2 if isinstance(relation, ReplaceOne) else 1)
            just_above(cost.epsilon, each * slopes + (1 - slopes) * GRID if slopes < 1 else each * slopes, within=1e-11)


@pytest.mark.parametrize("relation", RELATIONS)
def test_gaussian_noise_pays_at_its_delta_or_as_gaussian_privacy(relation: Relation) -> None:
    mu, bend = float(mp.mpf(0.8) / 2 + GRID), float(mp.mpf(0.8) ** 2 / 3)
    at = mechanism(GaussianNoise(2.0), delta=1e-5, relation=relation).exact_cost
    assert isinstance(at, ApproxDP)
    assert at.delta == 1e-5
    assert at.epsilon == pytest.approx(gaussian_epsilon(mu, bend, 1e-5, relation), rel=1e-10)
    whole = mechanism(GaussianNoise(2.0), relation=relation).exact_cost
    assert isinstance(whole, GDP)
    assert whole.mu == pytest.approx(gaussian_mu(mu, bend, relation), rel=1e-10)


@pytest.mark.parametrize("randomizer", [LaplaceNoise(0.7), GammaNormNoise(0.7), GaussianNoise(0.7)])
def test_how_far_the_computed_minimiser_may_be_from_the_exact_one(randomizer: ObjectiveNoise) -> None:
    grid = mp.mpf(2) ** math.floor(math.log2(0.7 * 2.0**-40 / 3.0))
    with mp.workdps(60):
        truth = (mp.mpf(1e-6) + mp.sqrt(3) * grid / 2) / 3
        just_above(mechanism(randomizer).displacement, truth)
        wide = ObjectivePerturbation(randomizer, 2.0, REACH, 3, 1e-15, 0.0)  # where the grid is the larger part
        just_above(wide.displacement, (mp.mpf(1e-15) + mp.sqrt(3) * grid / 2) / 2)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_output_is_paid_for_from_a_share(relation: Relation, delta: float) -> None:
    assert SHARE == 2.0**-10
    for kind in RANDOMIZERS if not delta else RANDOMIZERS[2:]:
        found = mechanism(kind(1.1), delta=delta, relation=relation)
        exact, output, cost = found.exact_cost, found.output, found.cost
        with mp.workdps(60):
            moved = 2 * mp.mpf(found.displacement)
            if isinstance(exact, GDP):
                assert isinstance(output, GaussianNoise)
                assert isinstance(cost, GDP)
                noise = moved / mp.mpf(output.sigma) + GRID
                just_above(cost.mu, mp.sqrt(mp.mpf(exact.mu) ** 2 + noise**2), within=5e-12)
                assert float(noise) == pytest.approx(exact.mu / 32.0, rel=1e-9)
            else:
                assert isinstance(output, LaplaceNoise)
                assert isinstance(cost, PureDP if not delta else ApproxDP)
                noise = mp.sqrt(3) * moved / mp.mpf(output.scale) + GRID
                just_above(cost.epsilon, mp.mpf(exact.epsilon) + noise, within=5e-12)
                assert float(noise) == pytest.approx(exact.epsilon / 1024.0, rel=1e-7)
                if delta:
                    assert isinstance(cost, ApproxDP)
                    assert cost.delta == delta


def test_what_no_proof_covers_is_refused() -> None:
    with pytest.raises(TypeError, match="no cost is proved for Gaussian noise"):
        mechanism(GaussianNoise(1.0), loss="log-cosh")
    with pytest.raises(ValueError, match="expected one of logistic, log-cosh"):
        mechanism(LaplaceNoise(1.0), loss="hinge")
    for randomizer in (LaplaceNoise(1.0), GammaNormNoise(1.0)):
        with pytest.raises(ValueError, match="pure differential privacy; leave delta=0"):
            mechanism(randomizer, delta=1e-5)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            ObjectivePerturbation(LaplaceNoise(1.0), wrong, REACH, 3, 1e-6)
        with pytest.raises(ValueError, match="positive"):
            ObjectivePerturbation(LaplaceNoise(1.0), 1.0, REACH, 3, wrong)
    with pytest.raises(ValueError, match="whole number"):
        ObjectivePerturbation(LaplaceNoise(1.0), 1.0, REACH, 0, 1e-6)
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        mechanism(GaussianNoise(1.0), delta=1.0)
    assert mechanism(LaplaceNoise(1.0)).adjacency == ReplaceOne()
    assert mechanism(LaplaceNoise(1.0), relation=AddRemoveOne()).adjacency == AddRemoveOne()


def _rows(d: int = 3) -> FloatArray:
    return np.array([[0.3, -0.2, 0.1, 0.0][:d], [0.0, 0.5, 0.5, 0.0][:d]])


def test_data_of_another_reach_dimension_or_loss_are_refused() -> None:
    found = mechanism(LaplaceNoise(1.0))
    signs = np.array([1.0, -1.0])
    found.check(LinearRecords(_rows(), signs, REACH))
    found.check(LinearRecords(_rows(), signs, Reach(1.2, 0.8)))
    for reach in (Reach(1.5000001, 0.8), Reach(1.5, 0.8000001)):
        with pytest.raises(ValueError, match="expected 3 weights"):
            found.check(LinearRecords(_rows(), signs, reach))
    with pytest.raises(ValueError, match="expected 3 weights"):
        found.check(LinearRecords(_rows(4), signs, REACH))
    with pytest.raises(ValueError, match="this prices the logistic loss"):
        found.check(ResidualRecords(_rows(), signs, REACH))
    mechanism(LaplaceNoise(1.0), loss="log-cosh").check(ResidualRecords(_rows(), signs, REACH))


@pytest.mark.parametrize("kind", RANDOMIZERS)
@pytest.mark.parametrize("strength", [None, 50.0])
def test_the_least_noise_that_fits_is_found(kind: Callable[[float], ObjectiveNoise], strength: float | None) -> None:
    def fits(cost: Cost) -> bool:
        return (cost.mu if isinstance(cost, GDP) else cost.epsilon) <= 0.7  # type: ignore[union-attr]  # none else

    found = calibrated(kind, fits, reach=REACH, d=3, n=1000, regularization=strength)
    assert fits(found.cost)
    size = found.randomizer.sigma if isinstance(found.randomizer, GaussianNoise) else found.randomizer.scale
    less = kind(size * (1.0 - 1e-9))
    again = default_regularization(less, REACH, 3) if strength is None else strength
    assert not fits(ObjectivePerturbation(less, again, REACH, 3, default_tolerance(less, REACH, 3, 1000)).cost)
    assert found.regularization == (
        default_regularization(found.randomizer, REACH, 3) if strength is None else strength
    )
    assert found.tolerance == default_tolerance(found.randomizer, REACH, 3, 1000)
    assert (found.relation, found.reach, found.d, found.delta, found.loss) == (ReplaceOne(), REACH, 3, 0.0, "logistic")
    assert found.noise.private


def test_calibration_takes_the_loss_and_the_delta_that_it_is_given() -> None:
    halved = calibrated(LaplaceNoise, lambda cost: cost.epsilon <= 0.7, reach=REACH, d=3, n=10, loss="log-cosh")  # type: ignore[union-attr]  # pure
    assert halved.loss == "log-cosh"
    at = calibrated(GaussianNoise, lambda cost: cost.epsilon <= 0.7, reach=REACH, d=3, n=10, delta=1e-5)  # type: ignore[union-attr]  # at δ
    assert isinstance(at.cost, ApproxDP)
    assert (at.delta, at.cost.delta) == (1e-5, 1e-5)


def test_a_regularization_that_no_noise_makes_fit_is_refused() -> None:
    # B = 0.64/λ: the determinant alone costs ln(1 + B/4) and more.
    with pytest.raises(TooLittleRegularization, match="no noise makes a regularization of"):
        calibrated(LaplaceNoise, lambda cost: cost.epsilon <= 0.1, reach=REACH, d=3, n=10, regularization=0.01)  # type: ignore[union-attr]  # pure
    with pytest.raises(TooLittleRegularization, match="no noise makes a regularization of"):
        calibrated(GaussianNoise, lambda cost: True, reach=REACH, d=3, n=10, regularization=0.01)
    with pytest.raises(ArithmeticError):
        calibrated(LaplaceNoise, lambda cost: False, reach=REACH, d=3, n=10)


def test_deviations_are_those_of_the_laws() -> None:
    assert deviation(LaplaceNoise(0.7), 5) == pytest.approx(math.sqrt(2.0) * 0.7)
    assert deviation(GammaNormNoise(0.7), 5) == pytest.approx(math.sqrt(6.0) * 0.7)
    assert deviation(GaussianNoise(0.7), 5) == 0.7


# --- roundings ------------------------------------------------------------------------------------------------------


SLOPES: dict[LossName, float] = {"logistic": 1.0, "log-cosh": 0.5}


def _most(each: mp.mpf, bend: float, other: mp.mpf) -> mp.mpf:
    return _highest(lambda s: other + each * s + mp.log1p(bend * s * (1 - s)))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", ["logistic", "log-cosh"])
def test_pure_prices_are_rounded_up_at_each_step(relation: Relation, loss: LossName) -> None:
    """Once where the determinant costs nothing, else twice on each of two terms; to a tenth of SLACK."""
    slopes = SLOPES[loss] * (2.0 if isinstance(relation, ReplaceOne) else 1.0)
    for each, bend in ((0.9, 0.3), (0.3, 0.3), (0.1, 0.6), (0.05, 40.0), (1.0, 1.5)):
        exact, other = mp.mpf(each), mp.mpf(each) * (slopes - 1) + (GRID if slopes < 2.0 else 0)
        found = mp.mpf(pure_epsilon(each, bend, relation, loss))
        if each >= bend:
            assert abs(found / (exact + other) - 1 - SLACK) < 0.1 * SLACK
            continue
        most = _most(exact, bend, other)
        assert abs(found / most - 1 - 2 * mp.mpf(SLACK)) < 0.1 * SLACK


def test_gaussian_prices_are_rounded_up_at_each_step() -> None:
    for mu, bend, delta in (
        (0.3, 0.01, 1e-5),
        (0.03, 5.0, 1e-5),
        (0.7, 9.0, 1e-3),
        (3.0, 9.5, 0.99),
        (2.0, 1.0, 0.999),
    ):
        both = gaussian_epsilon(mu, bend, delta, ReplaceOne())
        low = down(mu * mu)
        assert both == max(gaussian.epsilon(up(2.0 * mu), delta), up(2.0 * bend - 2.0 * low), up(mu * mu))
        assert gaussian_epsilon(mu, bend, delta, AddRemoveOne()) == max(
            gaussian.epsilon(mu, delta), up(bend - 0.5 * low)
        )
    assert gaussian_epsilon(3.0, 1.0, 1.0 - 2.0**-50, ReplaceOne()) == up(9.0)


def test_gaussian_privacy_is_rounded_up_at_each_step() -> None:
    """The first sum of its fixed point is told, as the second one is not above it."""
    for mu, bend in ((0.3, 0.1), (0.3, 0.3), (1.0, 0.9), (1.0, 1.1)):
        excess = up(bend - 0.5 * down(mu * mu))
        factor, total = up(excess * excess / (6.0 * mu)), mu
        while (wanted := up(mu + up(factor * math.exp(0.125 * total * total)))) > total:
            total = up(wanted)
        assert gaussian_mu(mu, bend, AddRemoveOne()) == up(total)
        assert gaussian_mu(mu, bend, ReplaceOne()) == up(2.0 * total)
    assert gaussian_mu(0.5, 0.01, AddRemoveOne()) == up(0.5)


def test_sums_of_costs_are_rounded_up() -> None:
    for strength in (3.3, 9.7):
        bend = up(up(REACH.l2 * REACH.l2) / strength)
        pure = mechanism(LaplaceNoise(7.0), strength)
        each = LaplaceNoise(7.0).cost(L1Sensitivity(REACH.l1)).epsilon
        assert pure.exact_cost == PureDP(pure_epsilon(each, bend, pure.relation))
        moved = L1Sensitivity(up(2.0 * math.sqrt(pure.d) * pure.displacement))
        assert isinstance(pure.output, LaplaceNoise)
        assert pure.output.scale == moved.value / (pure_epsilon(each, bend, pure.relation) * SHARE)
        assert pure.cost == PureDP(up(pure.exact_cost.epsilon + pure.output.cost(moved).epsilon))
        normal = mechanism(GaussianNoise(7.0), strength)
        assert isinstance(normal.exact_cost, GDP)
        far = up(2.0 * normal.displacement)
        assert isinstance(normal.output, GaussianNoise)
        assert normal.output.sigma == far / (normal.exact_cost.mu * math.sqrt(SHARE))
        assert normal.cost == GDP(up(math.hypot(normal.exact_cost.mu, normal.output.cost(L2Sensitivity(far)).mu)))


@pytest.mark.parametrize("strength", [0.3, 0.31, 0.37, 0.4])
def test_what_the_determinant_may_change_is_rounded_up_twice(strength: float) -> None:
    """‖x‖₂²/λ, where it is what decides the price."""
    bend = up(up(REACH.l2 * REACH.l2) / strength)
    pure = mechanism(LaplaceNoise(7.0), strength)
    each = LaplaceNoise(7.0).cost(L1Sensitivity(REACH.l1)).epsilon
    assert each < bend
    assert pure.exact_cost == PureDP(pure_epsilon(each, bend, pure.relation))
    normal = mechanism(GaussianNoise(0.5), strength)
    mu = GaussianNoise(0.5).cost(L2Sensitivity(REACH.l2)).mu
    assert 2.0 * bend > mu * mu
    assert normal.exact_cost == GDP(gaussian_mu(mu, bend, normal.relation))
    at = mechanism(GaussianNoise(7.0), strength, delta=1e-5)
    weak = GaussianNoise(7.0).cost(L2Sensitivity(REACH.l2)).mu
    assert at.exact_cost == ApproxDP(up(2.0 * bend - 2.0 * down(weak * weak)), 1e-5)


def _pure_fits(cost: Cost) -> bool:
    return isinstance(cost, PureDP) and cost.epsilon <= 1.0


def _approx_fits(cost: Cost) -> bool:
    return isinstance(cost, ApproxDP) and cost.epsilon <= 0.5


def test_noise_is_calibrated_with_its_source_and_its_delta() -> None:
    assert (objective_perturbation.PULL, objective_perturbation.STEEPEST) == (2.0, 4.0)
    source = SeededNoise(3)
    found = calibrated(LaplaceNoise, _pure_fits, reach=REACH, d=3, n=100, noise=source)
    assert found.noise is source
    default = calibrated(LaplaceNoise, _pure_fits, reach=REACH, d=3, n=100)
    assert isinstance(default.noise, SecureNoise)
    normal = calibrated(GaussianNoise, _approx_fits, reach=REACH, d=3, n=100, delta=1e-4)
    assert normal.regularization == default_regularization(normal.randomizer, REACH, 3, 1e-4)
