"""Private choice of a model: edges, refusals, and how it pays."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting import dp_event, rdp

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    BudgetExceeded,
    Cost,
    Ledger,
    PureDP,
    ReplaceOne,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from mechanisms import SecureNoise, SeededNoise
from mechanisms.randomness.sources import BitArray
from mechanisms.selection.private_selection import PrivateSelection, selection_cost
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping, Stopping
from proofs_tests.harness import ScriptedNoise, output_distribution
from proofs_tests.support.ledgers.doubles import Picky
from proofs_tests.support.mechanisms.tables import ROWS, Fixed, Table

LAWS: list[Stopping] = [
    *(NegativeBinomialStopping(eta, gamma) for eta in (-0.9, 0.0, 3.0) for gamma in (0.9, 0.01)),
    PoissonStopping(8.0),
]


def table(cost: Cost, relation: Adjacency | None = None) -> Table:
    return Table(ROWS, cost, SeededNoise(0), relation or ReplaceOne())


LOGARITHMIC = NegativeBinomialStopping.with_mean(0.0, 5.0)


def choice(*costs: Cost, stopping: Stopping = LOGARITHMIC, delta: float | None = None) -> PrivateSelection[int, int]:
    return PrivateSelection(tuple(table(cost) for cost in costs), float, stopping, delta, SeededNoise(1))


def test_candidates_it_cannot_price_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        choice()
    with pytest.raises(ValueError, match=r"different adjacencies.*add-remove-one.*replace-one"):
        PrivateSelection((table(PureDP(1.0)), table(PureDP(1.0), AddRemoveOne())), float, LOGARITHMIC)
    with pytest.raises(UnsupportedCost, match="δ > 0"):
        choice(ApproxDP(0.1, 1e-9), PureDP(0.1), delta=1e-6)
    with pytest.raises(UnsupportedCost, match="above 500"):
        choice(PureDP(501.0))
    for cost in (ZCDP(0.1), GDP(0.1)):
        with pytest.raises(UnsupportedCost, match="delta="):
            choice(cost)


@pytest.mark.parametrize("kind", [PureDP, BoundedRange, GDP, ZCDP])
@pytest.mark.parametrize("stopping", LAWS, ids=str)
def test_costs_of_every_size_are_priced(kind: type[PureDP], stopping: Stopping) -> None:
    """From the smallest float on, without overflow, underflow or a NaN (warnings are errors here)."""
    sizes = [5e-324, 1e-300, 1e-30, 1e-9, 1e-3, 1.0, 30.0, 500.0]
    for delta in (1e-300, 1e-9, 0.5):
        prices = [selection_cost([kind(size)] * 2, stopping, delta).epsilon for size in sizes]
        assert all(math.isfinite(price) for price in prices)
        assert all(low <= high * (1.0 + 1e-9) for low, high in itertools.pairwise(prices[3:]))


@pytest.mark.parametrize("eta", [-1.0, -2.0, math.nan, math.inf, True])
def test_shapes_that_are_no_law_are_refused(eta: float) -> None:
    with pytest.raises((ValueError, TypeError), match="expected a"):
        NegativeBinomialStopping(eta, 0.1)


@pytest.mark.parametrize("gamma", [0.0, 1.0, math.nan, 2.0**-41, -0.1])
def test_gammas_that_are_no_law_are_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        NegativeBinomialStopping(1.0, gamma)


def test_laws_nobody_can_draw_from_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 600"):
        NegativeBinomialStopping(600.0, 0.1)
    for mean in (0.0, math.nan, 701.0):
        with pytest.raises(ValueError, match="expected"):
            PoissonStopping(mean)
    for mean in (1.0, 0.5, math.nan, 1e300):
        with pytest.raises(ValueError, match=r"mean|expected"):
            NegativeBinomialStopping.with_mean(0.0, mean)
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            choice(PureDP(1.0), delta=delta)


@pytest.mark.parametrize("stopping", LAWS, ids=str)
def test_the_last_cell_of_the_unit_interval_is_drawn_too(stopping: Stopping) -> None:
    class Ones(SeededNoise):
        def bits(self, number: int) -> BitArray:
            return np.ones(number, dtype=np.uint8)

    assert stopping.mean < stopping.draw(Ones(0)) < 6_000


def test_a_key_of_nan_ranks_below_everything_and_none_means_no_run() -> None:
    keys = {0: math.nan, 1: -math.inf, 2: -1e300}

    def program(noise: ScriptedNoise) -> tuple[int, int] | None:
        return PrivateSelection((Table((ROWS[0],), PureDP(1.0), noise),), keys.__getitem__, Fixed(1.0, 2)).sample(0)

    law = output_distribution(program)
    assert math.exp(law[0, 2]) == pytest.approx(1 - 0.7**2)
    assert choice(PureDP(1.0), stopping=Fixed(1.0, 0)).sample(0) is None


def test_one_candidate_draws_no_candidate_and_free_ones_are_free() -> None:
    class Mute(SeededNoise):
        def exponential_choice(self, scores: FloatArray, eta: float) -> int:
            raise AssertionError("nothing to choose")

    alone = PrivateSelection((table(PureDP(0.0)),), float, LOGARITHMIC, noise=Mute(0))
    assert alone.sample(0) is not None
    assert alone.cost == PureDP(0.0)


def test_it_pays_through_the_ledger_or_is_refused_before_the_charge() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(0)
    cheap, dear = choice(PureDP(0.3), PureDP(0.4)), choice(PureDP(0.3), PureDP(0.6))
    assert ledger.release(cheap, data) is not None
    assert ledger.spent == cheap.cost
    assert 0.4 < cheap.cost.epsilon < 0.8
    with pytest.raises(BudgetExceeded):
        ledger.release(dear, data)
    with pytest.raises(BudgetExceeded):
        ledger.release(choice(PureDP(0.1), stopping=PoissonStopping(50.0)), data)
    assert len(ledger.entries) == 3
    zcdp = Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    with pytest.raises(UnsupportedCost):
        zcdp.release(choice(GDP(0.1), delta=1e-6), zcdp.protect(0))
    basic = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    basic.release(choice(GDP(0.1), delta=1e-6), basic.protect(0))
    assert len(basic.entries) == 3


def test_every_candidates_check_runs_before_the_charge() -> None:
    ledger = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match="does not fit"):
        ledger.release(PrivateSelection((Picky(0.1),), float, LOGARITHMIC), ledger.protect(True))
    assert len(ledger.entries) == 1


def test_the_entry_says_what_the_cost_rests_on() -> None:
    described = choice(GDP(0.1), GDP(0.2), delta=1e-6).description
    assert described.claims == ("random-stopping", "random-stopping-renyi", "random-stopping-profile", "L2")
    assert dict(described.parameters)["candidates"] == 2
    assert dict(described.parameters)["eta"] == 0.0
    assert described.query == "best of Table(row)"
    assert not described.private
    assert "seeded" in described.noise
    quiet = PrivateSelection((Table(ROWS, PureDP(1.0), SecureNoise()),), float, LOGARITHMIC)
    assert quiet.description.private


@pytest.mark.parametrize(("eta", "mean", "sigma"), [(0.0, 10.0, 2.0), (1.0, 20.0, 4.0), (0.5, 5.0, 1.0)])
def test_what_is_declared_stays_below_dp_accountings_renyi_bound(eta: float, mean: float, sigma: float) -> None:
    """They implement Papernot & Steinke's Theorem 2 on their own grid of orders; ours may not be looser."""
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(sigma), mean, eta))
    cost = selection_cost([GDP(1.0 / sigma)], NegativeBinomialStopping.with_mean(eta, mean), 1e-6)
    assert cost.epsilon <= accountant.get_epsilon(1e-6)
