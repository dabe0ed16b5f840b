"""Private quantiles: the exact range, the exact law, the accuracy that is promised, and the edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_breast_cancer

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    BasicComposition,
    BoundedRange,
    BudgetExceeded,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from accountant.costs.cost_kinds import ZCDP, ApproxDP
from mechanisms import NoiseSource, SecureNoise, SeededNoise
from mechanisms.quantiles import Candidates, PrivateQuantile, PrivateQuantiles, Tally, target_rank, utility_range
from proofs_tests.harness import (
    ScriptedNoise,
    loss_width,
    max_loss,
    output_distribution,
    replace_one_neighbours,
    samples,
)

LEVELS = (0.0, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0)


def grid(size: int) -> Candidates:
    return Candidates(tuple(float(point) for point in range(size)))


def tally(size: int, sample: tuple[int, ...]) -> Tally:
    return grid(size).tally(np.array(sample, dtype=np.float64))


def quantile(level: float, size: int, n: int, eta: float = 0.7) -> PrivateQuantile:
    return PrivateQuantile(level, grid(size), n, eta, SeededNoise(0))


def law(mechanism: PrivateQuantile, sample: tuple[int, ...]) -> dict[int, float]:
    return dict(enumerate(mechanism.log_probabilities(tally(len(mechanism.candidates), sample)).tolist()))


def neighbours(size: int, n: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of neighbouring samples of n records on the grid."""
    cells = range(size)
    return [(one, other) for one in samples(cells, n) for other in replace_one_neighbours(one, cells)]


# --- what it costs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("size", "n"), list(itertools.product([1, 2, 3, 4], repeat=2)))
def test_the_declared_range_is_the_exact_one(level: float, size: int, n: int) -> None:
    """[private-quantile] Over all pairs of neighbours: never exceeded, and attained to the last digit."""
    ranges = [0.0]
    for one, other in neighbours(size, n):
        change = tally(size, other).utilities(level) - tally(size, one).utilities(level)
        ranges.append(float(np.max(change) - np.min(change)))
    assert max(ranges) == utility_range(level, n, size)


@pytest.mark.parametrize("level", LEVELS)
def test_the_declared_cost_is_attained_and_a_tenth_less_would_be_caught(level: float) -> None:
    """[private-quantile] The exact laws over all neighbours use ≥ 0.999 of the declared bounded range."""
    mechanism = quantile(level, 4, 4)
    width = max(loss_width(law(mechanism, one), law(mechanism, other)) for one, other in neighbours(4, 4))
    assert 0.999 * mechanism.cost.epsilon <= width <= mechanism.cost.epsilon
    assert width > 0.9 * mechanism.cost.epsilon


def test_a_single_output_can_lose_nearly_all_of_it() -> None:
    """All cells but two lose a rank and one gains a rank: ≥ 0.99 of 2η shows in the chance of that one."""
    mechanism = quantile(0.5, 4001, 4, 0.5)
    worst = max_loss(law(mechanism, (0, 1, 4000, 4000)), law(mechanism, (0, 0, 1, 4000)))
    assert 0.99 * mechanism.cost.epsilon <= worst <= mechanism.cost.epsilon


values = st.lists(st.floats(-3.0, 8.0), min_size=2, max_size=30).map(np.array)


@given(values, st.floats(-3.0, 8.0), st.integers(0, 29), st.floats(0.0, 1.0), st.floats(0.01, 5.0), st.data())
def test_no_replaced_record_costs_more_than_declared(
    sample: FloatArray, new: float, place: int, level: float, eta: float, data: st.DataObject
) -> None:
    points = data.draw(st.lists(st.floats(-5.0, 10.0), min_size=1, max_size=8, unique=True).map(sorted))
    candidates = Candidates(tuple(points))
    mechanism = PrivateQuantile(level, candidates, len(sample), eta, SeededNoise(0))
    replaced = sample.copy()
    replaced[place % len(sample)] = new
    laws = [dict(enumerate(mechanism.log_probabilities(candidates.tally(x)).tolist())) for x in (sample, replaced)]
    assert loss_width(laws[0], laws[1]) <= mechanism.cost.epsilon + 1e-9


def test_all_levels_together_cost_no_more_than_their_plan() -> None:
    """The law of a whole release through a ledger, by enumeration, against what the ledger charged."""
    quantiles = [0.25, 0.75]
    laws: dict[tuple[int, ...], dict[tuple[float, ...], float]] = {}
    charged = 0.0
    for sample in samples(range(3), 3):

        def program(noise: ScriptedNoise, sample: tuple[int, ...] = sample) -> tuple[float, ...]:
            nonlocal charged
            ledger = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=ReplaceOne())
            chosen = PrivateQuantiles(quantiles, grid(3), 3, 0.4, noise)
            found = chosen.release(ledger, ledger.protect(np.array(sample, dtype=np.float64)))
            assert isinstance(ledger.spent, PureDP)
            charged = ledger.spent.epsilon
            return tuple(found.tolist())

        laws[sample] = output_distribution(program)
    pairs = neighbours(3, 3)
    worst = max(max_loss(laws[one], laws[tuple(sorted(other))]) for one, other in pairs)
    assert charged == pytest.approx(sum(0.4 * utility_range(level, 3, 3) for level in quantiles), rel=1e-9)
    assert 0.3 * charged <= worst <= charged


# --- what it finds ----------------------------------------------------------------------------------------------


def test_utilities_count_ranks_from_the_target() -> None:
    found = tally(4, (0, 1, 1, 1, 1, 3)).utilities(0.5)  # the target rank is 3; cell 1 covers ranks 1 to 5
    assert found.tolist() == [-2.0, 0.0, -2.0, -2.0]


def test_values_count_as_the_nearest_candidate_and_outside_as_the_last() -> None:
    points = Candidates((0.0, 1.0, 10.0))
    counts = points.tally(np.array([-7.0, 0.5, 0.51, 5.4, 5.6, 99.0])).counts
    assert counts.tolist() == [2, 2, 2]


def test_the_grid_has_one_candidate_a_cell() -> None:
    assert Candidates.between(0.0, 4.0, 4).points == (0.5, 1.5, 2.5, 3.5)
    assert len(Candidates.between(-1.0, 1.0)) == 1024
    assert Candidates.between(-1e308, 1e308, 2).tally(np.array([-1e308, 1e308])).counts.tolist() == [1, 1]


@given(values, st.floats(0.0, 1.0), st.floats(0.01, 20.0), st.floats(0.001, 0.999))
def test_the_rank_error_is_exceeded_no_more_often_than_promised(
    sample: FloatArray, level: float, eta: float, beta: float
) -> None:
    candidates = Candidates.between(-3.0, 8.0, 40)
    mechanism = PrivateQuantile(level, candidates, len(sample), eta, SeededNoise(0))
    data = candidates.tally(sample)
    far = data.utilities(level) < -mechanism.rank_error(beta)
    assert float(np.sum(np.exp(mechanism.log_probabilities(data))[far])) <= beta * (1.0 + 1e-9)


def test_the_rank_error_is_not_idle() -> None:
    """Everything at one point: all other candidates err by n/2, and do so with almost the promised chance."""
    mechanism = PrivateQuantile(0.5, Candidates.between(0.0, 1.0, 500), 40, 1.0, SeededNoise(0))
    data = mechanism.candidates.tally(np.full(40, 0.3))
    beta = 499.0 * math.exp(-19.999)
    assert mechanism.rank_error(beta) == pytest.approx(19.999)
    far = data.utilities(0.5) < -mechanism.rank_error(beta)
    assert float(np.sum(np.exp(mechanism.log_probabilities(data))[far])) > 0.99 * beta


def test_on_real_measurements_most_cut_points_are_close() -> None:
    """Breast cancer, mean radius, n = 569, 15 levels for a total of ε = 3 at δ = 1e-6."""
    radius = load_breast_cancer().data[:, 0]
    quantiles = PrivateQuantiles(np.arange(1, 16) / 16, Candidates.between(0.0, 50.0), 569, 0.16, SeededNoise(1))
    assert quantiles.plan().price(1e-6).best.epsilon < 3.0
    ledger = Ledger(ApproxDP(3.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    with ledger.reserve(quantiles.plan(), adjacency=ReplaceOne(), delta=1e-6) as charge:
        edges = quantiles.release(charge, ledger.protect(radius))
    assert len(edges) >= 8
    assert np.all(np.diff(edges) > 0.0)
    promised = quantiles.rank_error(0.01)
    nearest = [np.min(np.abs(np.searchsorted(np.sort(radius), edges) - level * 569)) for level in quantiles.levels]
    assert np.max(nearest) <= promised + 6.0  # a cell of the grid holds up to six records
    assert promised < 90.0


@pytest.mark.parametrize(
    ("noise", "draws", "factor"), [(SecureNoise(), 8_000, 1.2), (SeededNoise(0), 30_000, 1.1)], ids=["secure", "seeded"]
)
def test_samples_follow_the_exact_law(noise: NoiseSource, draws: int, factor: float) -> None:
    """Statistical. Power: an η larger by the factor gives p < 1e-9 with probability > 0.99.

    (Non-centrality draws·χ²-distance(η, factor·η) ≈ 115 against the 1e-9 quantile of χ²(4), 48. The secure
    sampler is tested for a tenth in test_selection.)
    """
    data = tally(5, (0, 2, 3, 4))

    def chi_squared(eta: float) -> float:
        mechanism = PrivateQuantile(0.5, grid(5), 4, eta, noise)
        seen = np.bincount([mechanism.sample(data) for _ in range(draws)], minlength=5)
        claimed = PrivateQuantile(0.5, grid(5), 4, 1.5, noise).log_probabilities(data)
        return float(stats.chisquare(seen, draws * np.exp(claimed)).pvalue)

    assert chi_squared(1.5) > 1e-9
    assert chi_squared(1.5 * factor) < 1e-9


# --- edges, and the ledger ------------------------------------------------------------------------------------


def test_one_candidate_is_returned_for_nothing() -> None:
    mechanism = quantile(0.5, 1, 2)
    assert mechanism.cost == BoundedRange(0.0)
    assert mechanism.sample(tally(1, (0, 0))) == 0
    assert mechanism.rank_error(0.1) == 0.0


def test_ties_are_equally_likely() -> None:
    probabilities = np.exp(quantile(0.5, 4, 2).log_probabilities(tally(4, (0, 3))))
    assert np.allclose(probabilities, 0.25)


@pytest.mark.parametrize("level", LEVELS)
def test_equal_values_are_found_at_every_level(level: float) -> None:
    utilities = tally(5, (2, 2, 2, 2)).utilities(level)
    assert utilities[2] == 0.0
    assert int(np.argmax(quantile(level, 5, 4, 30.0).log_probabilities(tally(5, (2,) * 4)))) in np.flatnonzero(
        utilities == 0.0
    )


def test_extreme_levels_cost_half() -> None:
    costs = [quantile(level, 5, 10, 1.0).cost.epsilon for level in (0.0, 0.5, 1.0)]
    assert costs == pytest.approx([1.0, 2.0, 1.0], rel=1e-9)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf)])
def test_bounds_without_room_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="lower < upper"):
        Candidates.between(*bounds)


@pytest.mark.parametrize("points", [(), (1.0, 1.0), (2.0, 1.0), (math.nan,), (0.0, math.inf)])
def test_candidates_that_are_no_list_of_cut_points_are_refused(points: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="candidates"):
        Candidates(points)


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan, True])
def test_levels_outside_the_unit_interval_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        quantile(level, 3, 3)
    with pytest.raises(ValueError, match="level"):
        PrivateQuantiles([level], grid(3), 3, 1.0)
    with pytest.raises(ValueError, match="strictly increasing"):
        PrivateQuantiles([0.5, 0.5], grid(3), 3, 1.0)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([0.0, math.nan, 1.0], "finite"),
        ([0.0, math.inf, 1.0], "finite"),
        ([[0.0, 1.0, 2.0]], "shape"),
        ([0.0, 1.0], "n = 3"),
    ],
)
def test_data_that_does_not_fit_is_refused_before_the_charge(sample: list[float], message: str) -> None:
    ledger = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=ReplaceOne())
    quantiles = PrivateQuantiles([0.5], grid(3), 3, 1.0)
    with pytest.raises(ValueError, match=message):
        quantiles.release(ledger, ledger.protect(np.array(sample)))
    assert len(ledger.entries) == 1


def test_a_tally_for_other_candidates_is_refused() -> None:
    ledger = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match="other candidates"):
        ledger.release(quantile(0.5, 3, 2), ledger.protect(tally(4, (0, 1))))
    assert len(ledger.entries) == 1


def test_it_pays_through_the_ledger_or_is_refused() -> None:
    quantiles = PrivateQuantiles([0.25, 0.5, 0.75], grid(9), 8, 0.5)
    values = np.arange(8, dtype=np.float64)
    rich = Ledger(ZCDP(1.0), composition=ZCDPComposition(), adjacency=ReplaceOne())
    edges = quantiles.release(rich, rich.protect(values))
    assert set(edges) <= set(range(9))
    assert len(rich.entries) == 1 + 2 * 3
    poor = Ledger(PureDP(2.5), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(BudgetExceeded):
        poor.reserve(quantiles.plan(), adjacency=ReplaceOne())
    other = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(AdjacencyMismatch):
        quantiles.release(other, other.protect(values))


def test_the_entry_says_what_the_cost_rests_on() -> None:
    described = quantile(0.5, 3, 10).description
    assert (described.norm, described.sensitivity, described.zeta) == ("range", 2.0, None)
    assert described.claims == ("private-quantile", "L2")
    assert not described.private
    assert SecureNoise().private
    assert PrivateQuantile(0.5, grid(3), 10, 1.0).description.private


def test_targets_are_exact_multiples() -> None:
    assert target_rank(0.1, 3) * 1024 == round(0.3 * 1024)
    assert target_rank(1.0, 10**9) == 10**9
