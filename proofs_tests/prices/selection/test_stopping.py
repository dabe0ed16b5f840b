"""How many runs: laws by their definition, and what all costs depend on, tilts, falls and curves, from mpmath."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from accountant import GDP, ZCDP, BoundedRange, LaplaceDP, PureDP
from accountant.composition.dominating_pairs import bounded_range_profile
from accountant.costs import curves, gaussian
from accountant.costs.curves import ORDERS
from mechanisms.randomness.sources import SeededNoise
from mechanisms.selection import stopping as module
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping, Stopping, run_privacy
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

NEGATIVE = [(1.0, 0.1), (0.0, 0.05), (-0.5, 0.03), (2.5, 0.4), (1e-19, 0.3), (1e-9, 0.3), (-0.99, 0.1)]
MEANS = [0.3, 4.0, 60.0]
POINTS = [0.0, 0.01, 0.4, 0.9, 0.999]


def test_limits_are_what_the_claims_say() -> None:
    assert (module.SMALLEST_GAMMA, module.LARGEST_MEAN, module.SMALLEST_COST) == (2.0**-40, 700.0, 2.0**-100)
    assert (module.LARGEST_TANGENT, module.TANGENTS) == (500.0, 513)


def _negative(eta: float, gamma: float) -> list[mp.mpf]:
    """P(K = k), k = 1 …, from the product of its definition, divided by its sum."""
    weights, weight = [], mp.mpf(1)
    for k in range(1, 20_000):
        weights.append(weight)
        weight *= (1 - mp.mpf(gamma)) * (k + mp.mpf(eta)) / (k + 1)
        if weight < mp.mpf(10) ** -25 * weights[0]:
            break
    whole = mp.fsum(weights)
    return [each / whole for each in weights]


@pytest.mark.parametrize(("eta", "gamma"), NEGATIVE)
def test_a_negative_binomial_law_is_that_of_its_definition(eta: float, gamma: float) -> None:
    law, truth = NegativeBinomialStopping(eta, gamma), _negative(eta, gamma)
    found = list(itertools.islice(law.terms(), 30))
    assert [k for k, _ in found] == list(range(1, 31))
    assert [p for _, p in found] == pytest.approx([float(each) for each in truth[:30]], rel=1e-9)
    assert law.mean == pytest.approx(float(mp.fsum(k * p for k, p in enumerate(truth, 1))), rel=1e-9)
    for x in (0.0, 0.3, 0.9, 1.0):
        series = mp.fsum(p * mp.mpf(x) ** k for k, p in enumerate(truth, 1))
        assert float(law.generating_function(np.array([x]))[0]) == pytest.approx(float(series), rel=1e-9)
    # How much less a weight is where others rank higher: f'(1)/f'(1 − G), term by term.
    whole = mp.fsum(k * p for k, p in enumerate(truth, 1))
    for point in POINTS:
        slope = mp.fsum(k * p * (1 - mp.mpf(point)) ** (k - 1) for k, p in enumerate(truth, 1))
        assert float(law.fall(np.array([point]))[0]) == pytest.approx(float(mp.log(whole / slope)), rel=1e-8, abs=1e-12)
    levels = law.levels(16)
    assert (levels.shape, levels[0], levels[-1]) == ((17,), 0.0, 1.0)
    assert np.diff(law.fall(levels)) == pytest.approx(float(law.fall(np.ones(1))[0]) / 16, rel=1e-9)
    assert law.parameters == (("eta", eta), ("gamma", gamma))


@pytest.mark.parametrize("mean", MEANS)
def test_a_poisson_law_is_that_of_its_definition(mean: float) -> None:
    law = PoissonStopping(mean)
    found = list(itertools.islice(law.terms(), 60))
    assert [k for k, _ in found] == list(range(60))
    assert [p for _, p in found] == pytest.approx(stats.poisson(mean).pmf(range(60)).tolist(), rel=1e-9)
    for x in (0.0, 0.3, 1.0):
        wanted = float(mp.exp(mp.mpf(mean) * (mp.mpf(x) - 1)))
        assert float(law.generating_function(np.array([x]))[0]) == pytest.approx(wanted, rel=1e-12)
    assert law.fall(np.array(POINTS)).tolist() == pytest.approx([mean * point for point in POINTS], rel=1e-12)
    assert law.levels(4).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert law.parameters == (("mean", mean),)


@pytest.mark.parametrize(
    "law", [NegativeBinomialStopping(1.0, 0.3), NegativeBinomialStopping(-0.5, 0.1), PoissonStopping(2.0)]
)
def test_numbers_of_runs_follow_their_law(law: Stopping) -> None:
    noise, draws = SeededNoise(3), 4000
    counts = np.bincount([law.draw(noise) for _ in range(draws)])
    chances = np.zeros(6)
    for k, p in itertools.islice(law.terms(), 8):
        if k < 6:
            chances[k] = p
    seen = np.append(counts[:6], counts[6:].sum())
    wanted = np.append(chances, 1.0 - chances.sum()) * draws
    assert stats.chisquare(seen[wanted > 0], wanted[wanted > 0]).pvalue > 0.001
    assert seen[wanted == 0].sum() == 0


def test_means_can_be_asked_for() -> None:
    for eta, mean in ((1.0, 10.0), (0.0, 3.0), (-0.5, 100.0), (3.0, 1.01)):
        law = NegativeBinomialStopping.with_mean(eta, mean)
        assert law.eta == eta
        assert law.mean == pytest.approx(mean, rel=1e-9)
    assert NegativeBinomialStopping.with_mean(1.0, 10.0).gamma == pytest.approx(0.1, rel=1e-9)
    for mean in (1.0, 0.5, 1e30):
        with pytest.raises(ValueError, match="no gamma in"):
            NegativeBinomialStopping.with_mean(1.0, mean)
    with pytest.raises(ValueError, match="expected a"):
        NegativeBinomialStopping.with_mean(1.0, -3.0)


def test_laws_that_are_none_are_refused() -> None:
    for eta in (-1.0, -2.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="expected"):
            NegativeBinomialStopping(eta, 0.5)
    with pytest.raises(TypeError, match="expected a number above -1"):
        NegativeBinomialStopping(True, 0.5)
    for gamma in (0.0, 1.0, 2.0**-40 * 0.999, -0.1, math.nan):
        with pytest.raises(ValueError, match="expected"):
            NegativeBinomialStopping(1.0, gamma)
    assert NegativeBinomialStopping(1.0, 2.0**-40).gamma == 2.0**-40
    with pytest.raises(ValueError, match="at most 600"):
        NegativeBinomialStopping(601.0, math.exp(-1.0))
    assert NegativeBinomialStopping(599.9, math.exp(-1.0)).eta == 599.9
    with pytest.raises(ValueError, match="at most 600"):
        NegativeBinomialStopping(300.0, math.exp(-3.0))
    for mean in (0.0, -1.0, 700.1, math.nan):
        with pytest.raises(ValueError, match="expected"):
            PoissonStopping(mean)
    assert PoissonStopping(700.0).mean == 700.0


# --- one run --------------------------------------------------------------------------------------------------------

LOSSES = np.array([0.0, 0.05, 0.3, 0.9, 2.0, 7.0])


def _zcdp(rho: float, loss: float) -> float:
    """Over a fine grid of orders of its own."""
    orders = 1.0 + np.geomspace(1e-3, 1e6, 100_001)
    logs = (
        (orders - 1.0) * (rho * orders - loss) + special.xlogy(orders, (orders - 1.0) / orders) - np.log(orders - 1.0)
    )
    return float(min(np.exp(min(logs.min(), 0.0)), math.sqrt(0.5 * rho)))


@pytest.mark.parametrize("size", [0.2, 1.0, 3.0])
def test_what_is_known_of_one_run(size: float) -> None:
    pure, laplace, width = run_privacy(PureDP(size)), run_privacy(LaplaceDP(size)), run_privacy(BoundedRange(size))
    for run in (pure, laplace, width):
        assert (run.loss, run.reach) == (size, size)
    truth = [max(0.0, float((mp.exp(size) - mp.exp(x)) / (1 + mp.exp(size)))) for x in LOSSES.tolist()]
    assert pure.profile(LOSSES).tolist() == pytest.approx(truth, rel=1e-12)
    rho = float(size * mp.tanh(mp.mpf(size) / 2))
    assert pure.divergences == pytest.approx(np.minimum(rho * ORDERS, size), rel=1e-11)
    assert pure.epsilon(1e-3) == size
    assert laplace.divergences.tolist() == curves.laplace_divergence(size, ORDERS).tolist()
    assert laplace.profile(LOSSES).tolist() == curves.laplace_profile(size, LOSSES).tolist()
    assert laplace.epsilon(1e-3) == curves.laplace_epsilon(size, 1e-3)
    assert width.divergences.tolist() == curves.bounded_range_divergence(size, ORDERS).tolist()
    assert width.profile(LOSSES).tolist() == bounded_range_profile(size, LOSSES).tolist()
    assert width.epsilon(1e-3) == curves.bounded_range_epsilon(size, 1e-3)
    normal = run_privacy(GDP(size))
    assert normal.loss == math.inf
    assert normal.divergences == pytest.approx(size**2 / 2 * ORDERS, rel=1e-11)
    assert np.all(normal.divergences >= size**2 / 2 * ORDERS)
    for x in LOSSES.tolist():
        just_above(float(normal.profile(np.array([x]))[0]), gaussian_delta(size, x), within=1e-9, absolute=1e-30)
    assert normal.epsilon(1e-5) == gaussian.epsilon(size, 1e-5)
    assert normal.reach == curves.bun_steinke_epsilon(normal.divergences[0] / ORDERS[0], math.exp(-50.0))
    concentrated = run_privacy(ZCDP(size))
    assert concentrated.loss == math.inf
    assert concentrated.divergences == pytest.approx(size * ORDERS, rel=1e-12)
    assert concentrated.reach == curves.bun_steinke_epsilon(size, math.exp(-50.0))
    assert concentrated.epsilon(1e-5) == curves.zcdp_epsilon(size, 1e-5)
    assert concentrated.profile(LOSSES).tolist() == pytest.approx([_zcdp(size, x) for x in LOSSES.tolist()], rel=2e-3)
    assert np.all(concentrated.profile(LOSSES) >= [_zcdp(size, x) * (1.0 - 1e-12) for x in LOSSES.tolist()])


def test_no_run_is_cheaper_than_the_smallest() -> None:
    tiny = 2.0**-100
    for cost in (PureDP(1e-40), LaplaceDP(1e-40), BoundedRange(1e-40)):
        assert run_privacy(cost).loss == tiny
    assert run_privacy(GDP(1e-40)).divergences[0] >= tiny**2 / 2
    assert run_privacy(ZCDP(1e-40)).divergences == pytest.approx(tiny * ORDERS, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("mu", [0.01, 0.7, 30.0])
def test_the_head_room_of_a_gaussian_profile_is_what_is_said(mu: float) -> None:
    """1e-11·(1 + 1/μ) of the curve, which keeps ten digits, and 2^-1000; never above 1."""
    losses = np.array([0.0, 0.3 * mu])
    found = run_privacy(GDP(mu)).profile(losses)
    moved = found / gaussian.profile(mu, losses) - 1.0
    if mu < 10.0:
        assert moved == pytest.approx(1e-11 * (1.0 + 1.0 / mu), rel=1e-3)
    assert run_privacy(GDP(mu)).profile(np.array([1e6])).tolist() == [2.0**-1000]
    assert run_privacy(GDP(100.0)).profile(np.zeros(1)).tolist() == [1.0]


def test_the_head_room_of_a_zcdp_profile_is_what_is_said() -> None:
    """1e-9 of the least over orders, which is cut to 1 before."""
    excess = ORDERS - 1.0
    for rho, loss in ((0.1, 2.0), (0.4, 3.0)):
        logs = excess * (rho * ORDERS - loss) + ORDERS * np.log(excess / ORDERS) - np.log(excess)
        found = float(run_privacy(ZCDP(rho)).profile(np.array([loss]))[0])
        assert found / math.exp(float(logs.min())) - 1.0 == pytest.approx(1e-9, rel=1e-3)
    assert run_privacy(ZCDP(100.0)).profile(np.zeros(1)).tolist() == [1.0 + 1e-9]


def test_curves_of_runs_that_lose_much_are_numbers() -> None:
    found = NegativeBinomialStopping(1.0, 0.1).divergences(run_privacy(GDP(100.0)))
    assert np.all(np.isfinite(found))


# --- what the choice costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("eta", "gamma"), NEGATIVE)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_tilts_of_pure_runs_have_their_closed_form(eta: float, gamma: float, epsilon: float) -> None:
    run, law = run_privacy(PureDP(epsilon)), NegativeBinomialStopping(eta, gamma)
    e, g = mp.exp(epsilon), mp.mpf(gamma)
    just_above(law.tilt(run), (1 + mp.mpf(eta)) * mp.log((e + g) / (1 + g * e)), within=1e-10)
    just_above(PoissonStopping(7.0).tilt(run), 7 * mp.tanh(mp.mpf(epsilon) / 2), within=1e-11)


@pytest.mark.parametrize(("eta", "gamma"), NEGATIVE)
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_tilts_of_gaussian_runs_are_where_loss_and_profile_meet(eta: float, gamma: float, mu: float) -> None:
    low, high, rate = mp.mpf(0), mp.mpf(100), 1 / mp.mpf(gamma) - 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if mp.log1p(rate * gaussian_delta(mu, middle)) > middle else (low, middle)
    law, run = NegativeBinomialStopping(eta, gamma), run_privacy(GDP(mu))
    just_above(law.tilt(run), (1 + mp.mpf(eta)) * high, within=1e-9)
    just_above(PoissonStopping(7.0).tilt(run), 7 * gaussian_delta(mu, 0.0), within=1e-9)


RUNS = [PureDP(0.5), LaplaceDP(1.0), BoundedRange(2.0), GDP(0.8), ZCDP(0.1)]
SOME = [0, 60, 150, 199, 260, 330, 399]


@pytest.mark.parametrize("cost", RUNS)
@pytest.mark.parametrize(("eta", "gamma"), NEGATIVE[:4])
def test_curves_of_negative_binomial_choices_are_the_least_over_tangents(
    cost: PureDP | LaplaceDP | BoundedRange | GDP | ZCDP, eta: float, gamma: float
) -> None:
    """The largest over chances P on a dense grid, least over tangents: between its points it is hardly larger."""
    run, law = run_privacy(cost), NegativeBinomialStopping(eta, gamma)
    chances = np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 500)])
    losses = np.linspace(0.0, min(run.reach, 500.0), 513)
    moved = np.exp(losses)[:, None] * chances + run.profile(losses)[:, None]
    mean = math.fsum(k * float(p) for k, p in enumerate(_negative(eta, gamma), 1))
    found = law.divergences(run)
    for place in SOME:
        order = float(ORDERS[place])
        here, there = (np.log(gamma + (1.0 - gamma) * each) - math.log(gamma) for each in (chances, moved))
        worst = np.max(there - order / (order - 1.0) * here, axis=1)
        truth = float(run.divergences[place]) + (1.0 + eta) * float(worst.min()) + math.log(mean) / (order - 1.0)
        assert (
            truth * (1.0 - 1e-9) - 1e-12 <= found[place] <= truth + 2e-3 * abs(truth - math.log(mean) / (order - 1.0))
        )


@pytest.mark.parametrize("cost", RUNS)
@pytest.mark.parametrize("mean", MEANS)
def test_curves_of_poisson_choices_are_those_of_the_theorem(
    cost: PureDP | LaplaceDP | BoundedRange | GDP | ZCDP, mean: float
) -> None:
    run = run_privacy(cost)
    found = PoissonStopping(mean).divergences(run)
    for place in SOME:
        order = mp.mpf(float(ORDERS[place]))
        share = mp.mpf(float(run.profile(np.array([float(mp.log(order / (order - 1)))]))[0]))
        some = (order - 1) * (mp.mpf(float(run.divergences[place])) + mean * share) + mp.log(mean)
        truth = mp.log(mp.exp(-mp.mpf(mean)) + mp.exp(some)) / (order - 1)
        assert float(found[place]) == pytest.approx(float(truth), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("law", [*(NegativeBinomialStopping(*each) for each in NEGATIVE[:4]), PoissonStopping(4.0)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_choice_among_two_outputs_shows_more(law: Stopping, epsilon: float) -> None:
    """Randomized response with a better and a worse output: laws of the best of K, and None, by the series of f."""
    run = run_privacy(PureDP(epsilon))
    lie = 1.0 / (1.0 + math.exp(epsilon))
    tilt, curve = law.tilt(run), law.divergences(run)
    laws = []
    for worse in (lie, 1.0 - lie):
        none, low = law.generating_function(np.array([0.0, worse])).tolist()
        laws.append(np.array([none, low - none, 1.0 - low]))
    for p, q in itertools.permutations(laws):
        kept = p > 0.0
        assert float(np.max(np.abs(np.log(p[kept] / q[kept])))) <= epsilon + tilt + 1e-12
        for place in SOME[1:-1]:
            order = float(ORDERS[place])
            shown = special.logsumexp(order * np.log(p[kept]) + (1.0 - order) * np.log(q[kept])) / (order - 1.0)
            assert float(shown) <= curve[place] + 1e-9
