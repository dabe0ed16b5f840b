"""The best of a random number of runs: the least of several proved prices, each held by itself; and what is drawn."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import attrs
import mpmath as mp
import numpy as np
import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    ReplaceOne,
    SubsampledGaussian,
    Unbounded,
    UnsupportedCost,
)
from accountant.arrays import FloatArray
from accountant.costs import curves, gaussian
from accountant.costs.curves import ORDERS
from accountant.costs.rounding import down, up
from mechanisms.randomness.sources import NoiseSource, SecureNoise, SeededNoise
from mechanisms.selection import private_selection
from mechanisms.selection.choice_profile import ChoiceProfile
from mechanisms.selection.private_selection import PrivateSelection, selection_cost, selection_divergences
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping, RunPrivacy, Stopping, run_privacy
from proofs_tests.support.mechanisms.just_above import just_above
from proofs_tests.support.mechanisms.tables import ROWS, Fixed, Table

LAWS: list[Stopping] = [NegativeBinomialStopping(1.0, 0.1), NegativeBinomialStopping(-0.5, 0.02), PoissonStopping(5.0)]
GEOMETRIC = NegativeBinomialStopping(1.0, 0.1)


def _tilt(law: Stopping, epsilon: float) -> mp.mpf:
    e = mp.exp(mp.mpf(epsilon))
    if isinstance(law, NegativeBinomialStopping):
        return (1 + mp.mpf(law.eta)) * mp.log((e + law.gamma) / (1 + law.gamma * e))
    return mp.mpf(law.mean) * mp.tanh(mp.mpf(epsilon) / 2)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_a_pure_price_is_a_run_and_a_tilt(law: Stopping, epsilon: float) -> None:
    found = selection_cost([PureDP(epsilon / 2), PureDP(epsilon)], law)
    assert isinstance(found, PureDP)
    just_above(found.epsilon, epsilon + _tilt(law, epsilon), within=1e-10)
    # Several bounded-range candidates as well: each output may come of another one.
    two = selection_cost([BoundedRange(epsilon)] * 2, law)
    run = run_privacy(BoundedRange(epsilon))
    just_above(two.epsilon, mp.mpf(epsilon) + mp.mpf(law.tilt(run)), within=1e-11)


@pytest.mark.parametrize("eta", [-0.5, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_one_bounded_range_mechanism_repeated(eta: float, epsilon: float) -> None:
    law = NegativeBinomialStopping(eta, 1e-6)
    tilt = law.tilt(run_privacy(BoundedRange(epsilon)))
    found = selection_cost([BoundedRange(epsilon)], law)
    just_above(found.epsilon, min((1 + mp.mpf(max(eta, 0.0))) * epsilon, epsilon + mp.mpf(tilt)), within=1e-11)
    # Of other kinds, and other laws, no such thing is known.
    for cost in (PureDP(epsilon), LaplaceDP(epsilon)):
        other = law.tilt(run_privacy(cost))
        just_above(selection_cost([cost], law).epsilon, mp.mpf(epsilon) + mp.mpf(other), within=1e-11)
    poisson = PoissonStopping(9.0)
    other = poisson.tilt(run_privacy(BoundedRange(epsilon)))
    just_above(selection_cost([BoundedRange(epsilon)], poisson).epsilon, mp.mpf(epsilon) + mp.mpf(other), within=1e-11)


Mixed = tuple[Sequence[Cost], Cost]
MIXED: list[Mixed] = [
    ([PureDP(0.3), PureDP(0.7)], PureDP(0.7)),
    ([LaplaceDP(0.7), LaplaceDP(0.3)], LaplaceDP(0.7)),
    ([BoundedRange(0.3), BoundedRange(0.7)], BoundedRange(0.7)),
    ([LaplaceDP(0.3), BoundedRange(0.7)], PureDP(0.7)),
    ([PureDP(0.9), LaplaceDP(0.3)], PureDP(0.9)),
    ([ApproxDP(0.9, 0.0), LaplaceDP(0.3)], PureDP(0.9)),
    ([GDP(0.3), GDP(0.7)], GDP(0.7)),
    ([GDP(0.3), ZCDP(0.7)], ZCDP(0.7)),
    ([GDP(0.0), PureDP(0.4)], PureDP(0.4)),
    ([PureDP(0.0), ZCDP(0.4)], ZCDP(0.4)),
    ([GDP(500.0)], GDP(500.0)),
    ([PureDP(0.0), GDP(0.0)], PureDP(0.0)),
]


@pytest.mark.parametrize(("costs", "worst"), MIXED)
def test_the_worst_counts_in_the_strongest_kind_that_all_have(costs: Sequence[Cost], worst: Cost) -> None:
    assert private_selection._common(costs) == worst


def test_kinds_that_meet_only_as_zcdp_are_priced_there() -> None:
    both = private_selection._common([GDP(2.0), PureDP(0.5)])
    assert isinstance(both, ZCDP)
    just_above(both.rho, mp.mpf(2), within=1e-11)
    other = private_selection._common([GDP(0.1), PureDP(3.0)])
    assert isinstance(other, ZCDP)
    just_above(other.rho, 3 * mp.tanh(mp.mpf(3) / 2), within=1e-11)


def test_candidates_without_a_price_are_refused() -> None:
    refused: list[Cost] = [ApproxDP(0.3, 1e-6), Unbounded(), PureDP(500.1), GDP(500.1), ZCDP(501.0), LaplaceDP(501.0)]
    for cost in refused:
        with pytest.raises(UnsupportedCost, match=r"not supported|promises nothing"):
            selection_cost([PureDP(0.1), cost], GEOMETRIC, 1e-6)
    with pytest.raises(UnsupportedCost, match="a candidate on a sample is not supported"):
        selection_cost([GDP(0.1), SubsampledGaussian(0.1, 0.5)], GEOMETRIC, 1e-6)
    for cost in (GDP(0.1), ZCDP(0.1)):
        with pytest.raises(UnsupportedCost, match="give delta"):
            selection_cost([cost], GEOMETRIC)
    with pytest.raises(ValueError, match="expected"):
        selection_cost([GDP(0.1)], GEOMETRIC, 0.0)
    assert selection_cost([PureDP(0.0), GDP(0.0)], GEOMETRIC, 1e-6) == PureDP(0.0)
    assert selection_cost([PureDP(0.0)], GEOMETRIC) == PureDP(0.0)


PRICED: list[GDP | ZCDP | PureDP | LaplaceDP | BoundedRange] = [
    GDP(0.4),
    GDP(1.5),
    ZCDP(0.05),
    PureDP(0.5),
    LaplaceDP(1.0),
    BoundedRange(1.0),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("delta", [1e-8, 1e-3])
def test_prices_at_a_delta_are_the_least_of_those_proved(law: Stopping, delta: float) -> None:
    for cost in PRICED:
        run = run_privacy(cost)
        share = min(delta / law.mean, 0.5)
        simple = private_selection._profile_epsilon(run, law, delta)
        assert simple == pytest.approx(run.epsilon(share) + law.tilt(run), rel=1e-9)
        assert simple >= run.epsilon(share) + law.tilt(run)
        curve = law.divergences(run)
        renyi = private_selection._renyi_epsilon(run, law, delta)
        orders = ORDERS
        each = np.maximum(curve, 0.0) + np.log1p(-1.0 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1.0)
        best = int(np.argmin(each))
        # What rounding near order 1 may add.
        share_ = 1e-12 * (1.0 + abs(math.log(law.mean))) * orders[best] / (orders[best] - 1.0)
        assert max(0.0, float(each[best])) <= renyi
        assert renyi == pytest.approx(max(0.0, float(each[best])) + share_, rel=1e-10, abs=1e-13)
        profile = ChoiceProfile.of(run, law).epsilon(delta, min(simple, renyi))
        found = selection_cost([cost] * 2, law, delta)
        pure = run.loss + law.tilt(run)
        assert found.epsilon == pytest.approx(min(profile, pure), rel=1e-9)
        assert isinstance(found, PureDP) == (pure <= profile)
        if isinstance(found, ApproxDP):
            assert found.delta == delta


def test_rounding_of_curves_is_added_where_they_are_steep() -> None:
    """Near order 1 two terms of ln E[K]/(λ − 1) cancel; a thousandth of a unit of them is what 1e-12 leaves."""
    law, run = NegativeBinomialStopping(1.0, 2.0**-30), run_privacy(GDP(0.5))
    curve = np.maximum(law.divergences(run), 0.0)
    delta = 0.9
    rounding = 1e-12 * (1.0 + math.log(law.mean)) * ORDERS / (ORDERS - 1.0)
    each = curve + rounding + np.log1p(-1.0 / ORDERS) - (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1.0)
    assert private_selection._renyi_epsilon(run, law, delta) == pytest.approx(
        max(0.0, float(each.min())), rel=1e-11, abs=1e-13
    )


@attrs.frozen
class Straight:
    """A law of which only the mean and the curve are asked."""

    mean: float

    def divergences(self, run: RunPrivacy) -> FloatArray:
        return np.linspace(-1e-6, 1e-6, ORDERS.size)


@pytest.mark.parametrize("mean", [0.02, 1.0, 50.0])
def test_curves_are_read_with_their_rounding_and_at_0_at_least(mean: float, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[FloatArray] = []

    def renyi_epsilon(curve: FloatArray, orders: FloatArray, delta: float) -> float:
        read.append(curve)
        return delta

    monkeypatch.setattr(curves, "renyi_epsilon", renyi_epsilon)
    law = Straight(mean)
    assert private_selection._renyi_epsilon(run_privacy(GDP(0.5)), law, 0.1) == 0.1  # type: ignore[arg-type]  # all that it asks
    added = read[0] - np.maximum(law.divergences(run_privacy(GDP(0.5))), 0.0)
    assert added == pytest.approx(1e-12 * (1.0 + abs(math.log(mean))) * ORDERS / (ORDERS - 1.0), rel=1e-6, abs=1e-21)


def test_a_runs_share_of_delta_is_rounded_down_and_what_it_loses_up() -> None:
    asked: list[float] = []

    def epsilon(delta: float) -> float:
        asked.append(delta)
        return 1.0

    run = attrs.evolve(run_privacy(PureDP(0.5)), epsilon=epsilon)
    for law in (GEOMETRIC, PoissonStopping(3.0)):
        assert private_selection._profile_epsilon(run, law, 1e-5) == up(1.0 + law.tilt(run))
        assert asked.pop() == down(1e-5 / law.mean)


def test_one_range_repeated_costs_the_smaller_of_two_bounds() -> None:
    for eta, gamma in ((2.0, 0.9), (2.0, 0.01), (-0.5, 0.01), (0.0, 0.5)):
        law, cost = NegativeBinomialStopping(eta, gamma), BoundedRange(0.7)
        run = run_privacy(cost)
        either = up(run.loss + law.tilt(run)), up((1.0 + max(eta, 0.0)) * 0.7)
        assert selection_cost([cost], law).epsilon == min(either)
        assert selection_cost([cost] * 2, law).epsilon == either[0]


def test_one_candidate_is_run_alone() -> None:
    noise = SeededNoise(1)
    selection: PrivateSelection[int, int] = PrivateSelection(
        (_table(noise, PureDP(0.3)),), float, NegativeBinomialStopping(1.0, 0.5), None, noise
    )
    for _ in range(20):
        found = selection.sample(0)
        assert found is not None
        assert found[0] == 0


def test_a_share_of_delta_above_a_half_counts_as_a_half() -> None:
    law, run = PoissonStopping(0.2), run_privacy(GDP(1.0))
    just_above(
        private_selection._profile_epsilon(run, law, 0.3),
        mp.mpf(gaussian.epsilon(1.0, 0.5)) + mp.mpf(law.tilt(run)),
        within=1e-9,
    )


def _delta(law: Stopping, mu: float, epsilon: float) -> float:
    """Of a run that ranks by its own Gaussian output, in one direction: ∫ (p·f'(F) − e^ε·q·f'(G))⁺, on a fine grid."""
    x = np.linspace(-9.0, 9.0 + mu, 40_001)
    cells = [
        law.generating_function(np.array([0.5 * math.erfc((shift - each) / math.sqrt(2.0)) for each in x.tolist()]))
        for shift in (mu, 0.0)
    ]
    p, q = (np.diff(each) for each in cells)
    return float(np.sum(np.maximum(0.0, p - math.exp(epsilon) * q)))


@pytest.mark.parametrize("law", LAWS)
def test_no_gaussian_choice_shows_more_and_much_less_would_be_seen(law: Stopping) -> None:
    for mu, delta in ((0.5, 1e-5), (1.0, 1e-3)):
        epsilon = selection_cost([GDP(mu)], law, delta).epsilon
        assert _delta(law, mu, epsilon) <= delta
        assert _delta(law, mu, 0.6 * epsilon) > delta


def test_divergences_are_those_of_the_law() -> None:
    for law, cost in itertools.product(LAWS, PRICED):
        found = selection_divergences([cost, cost], law)
        assert found.tolist() == law.divergences(run_privacy(cost)).tolist()
    assert selection_divergences([PureDP(0.0), GDP(0.0)], GEOMETRIC).tolist() == np.zeros_like(ORDERS).tolist()
    with pytest.raises(UnsupportedCost):
        selection_divergences([ApproxDP(0.1, 0.1)], GEOMETRIC)


# --- the mechanism --------------------------------------------------------------------------------------------------


def _table(noise: NoiseSource, cost: Cost, relation: Adjacency | None = None) -> Table:
    return Table(ROWS, cost, noise, ReplaceOne() if relation is None else relation)


def test_a_selection_costs_what_its_candidates_do() -> None:
    noise = SeededNoise(0)
    for costs, delta in (([PureDP(0.3), PureDP(0.9)], None), ([GDP(0.3), GDP(0.2)], 1e-6), ([BoundedRange(0.4)], None)):
        candidates = tuple(_table(noise, cost) for cost in costs)
        selection: PrivateSelection[int, int] = PrivateSelection(candidates, float, GEOMETRIC, delta, noise)
        assert selection.cost == selection_cost(list(costs), GEOMETRIC, delta)
        assert selection.adjacency == ReplaceOne()
    assert isinstance(PrivateSelection((_table(noise, PureDP(0.1)),), float, GEOMETRIC).noise, SecureNoise)
    assert PrivateSelection((_table(noise, PureDP(0.1)),), float, GEOMETRIC).delta is None


def test_selections_that_cannot_be_priced_are_refused_at_birth() -> None:
    noise = SeededNoise(0)
    with pytest.raises(ValueError, match="at least one mechanism"):
        PrivateSelection((), float, GEOMETRIC)
    with pytest.raises(ValueError, match="at least one mechanism"):
        PrivateSelection([_table(noise, PureDP(0.1))], float, GEOMETRIC)  # type: ignore[arg-type]  # the point of it
    pair = (_table(noise, PureDP(0.1)), _table(noise, PureDP(0.1), AddRemoveOne()))
    with pytest.raises(ValueError, match="different adjacencies"):
        PrivateSelection(pair, float, GEOMETRIC)
    one: Any = (_table(noise, PureDP(0.1)),)
    wrong: list[tuple[Any, Any]] = [(None, GEOMETRIC), (float, None), (float, GEOMETRIC.mean), (GEOMETRIC, float)]
    for key, stopping in wrong:
        with pytest.raises(ValueError, match="expected key= as a function and stopping= as a Stopping"):
            PrivateSelection(one, key, stopping)
    with pytest.raises(UnsupportedCost, match="give delta"):
        PrivateSelection((_table(noise, GDP(0.1)),), float, GEOMETRIC)
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="expected"):
            PrivateSelection((_table(noise, GDP(0.1)),), float, GEOMETRIC, delta)


@attrs.frozen(slots=False)
class Refusing(Table):
    """Its data must be 0."""

    def check(self, data: int) -> None:
        if data:
            raise ValueError("not these")


def test_every_candidate_checks_the_data() -> None:
    noise = SeededNoise(0)
    pair = (_table(noise, PureDP(0.1)), Refusing(ROWS, PureDP(0.1), noise))
    selection = PrivateSelection(pair, float, GEOMETRIC, None, noise)
    selection.check(0)
    with pytest.raises(ValueError, match="not these"):
        selection.check(1)


def _key(output: int) -> float:
    return (2.0, math.nan, 1.0)[output]


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_the_best_of_so_many_runs_has_its_law(runs: int) -> None:
    """Output 0 is best, 2 next, 1 has no rank; candidates are drawn evenly."""
    noise, draws = SeededNoise(7), 3000
    rows = ((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))
    candidates = (Table((rows[0],), PureDP(1.0), noise), Table((rows[1],), PureDP(1.0), noise))
    selection = PrivateSelection(candidates, _key, Fixed(5.0, runs), None, noise)
    drawn = [selection.sample(0) for _ in range(draws)]
    outputs = np.bincount([each[1] for each in drawn if each is not None], minlength=3) / draws
    best, least = 1.0 - 0.6**runs, 0.3**runs
    assert outputs.tolist() == pytest.approx([best, least, 1.0 - best - least], abs=0.03)
    firsts = [each[0] for each in drawn if each is not None and each[1] == 0]
    assert float(np.mean(firsts)) == pytest.approx(0.75, abs=0.04)


def test_of_no_run_nothing_comes_and_of_equals_the_first() -> None:
    noise = SeededNoise(1)
    only = Table(((1.0,),), PureDP(0.1), noise)
    assert PrivateSelection((only,), float, Fixed(5.0, 0), None, noise).sample(0) is None
    several = tuple(Table(((1.0,),), PureDP(0.1), noise) for _ in range(40))
    drawn = PrivateSelection(several, float, Fixed(5.0, 30), None, SeededNoise(2)).sample(0)
    first = PrivateSelection(several, float, Fixed(5.0, 1), None, SeededNoise(2)).sample(0)
    assert drawn is not None
    assert first == drawn
