"""Rados: what the mechanisms declare against enumeration, what they refuse, and what they draw."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant import (
    GDP,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    Ledger,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.costs.adjacency import FeatureValue
from mechanisms import NoiseSource, SecureNoise, SeededNoise
from mechanisms.rados import sampling
from mechanisms.rados.column_distribution import RadoColumnLaw, beta_at, largest_low
from mechanisms.rados.edge_vectors import (
    NotPrivate,
    RadoColumn,
    RadoTailTruncation,
    RandomRados,
    clipped,
    edge_vectors,
    joint_rados,
    noised_edges,
)
from mechanisms.rados.public_supports import sample_rados, support_sizes
from mechanisms.rados.sampling import (
    EdgeVectors,
    NotBoolean,
    rados_of,
    sample_fixed_support_rados,
    sample_truncated_rados,
)
from mechanisms.randomness.sources import BitArray
from proofs_tests.harness import ScriptedNoise, approx_delta, output_distribution
from proofs_tests.support.ledgers.settled import settled

FALSE_ALARM = 1e-9
Law = dict[tuple[float, ...], float]


# --- the mechanisms against enumeration -------------------------------------------------------------------------------


def edges_with(positives: int, records: int) -> EdgeVectors:
    column = np.where(np.arange(records) < positives, 1.0, -1.0)
    return EdgeVectors(np.stack([np.full(records, 7.0), column], axis=1))


def declared(number: int, records: int, low: int, delta: float, noise: NoiseSource | None = None) -> RadoColumn:
    source = SeededNoise(0) if noise is None else noise
    if low == 0:
        return RandomRados(number, 1, records, delta, source)
    return RadoTailTruncation(number, 1, records, (low - 0.5) / (records + 1), delta, source)


def column_law(edges: EdgeVectors, low: int, number: int) -> Law:
    """The law of the released columns, from all 2^m supports, each as likely."""
    m = edges.records
    supports = np.array(list(itertools.product((0.0, 1.0), repeat=m)))
    values = rados_of(edges, supports)[:, 1]
    counts = values + np.sum(edges.edges[:, 1] < 0)
    kept = values[(counts >= low) & (counts <= m - low)].tolist()
    one = {value: kept.count(value) / len(kept) for value in set(kept)}
    return {
        outcome: math.log(math.prod(one[value] for value in outcome))
        for outcome in itertools.product(one, repeat=number)
    }


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("share", [0.1, 0.6])
@pytest.mark.parametrize(("records", "low"), [(8, 0), (9, 0), (9, 2), (9, 3), (7, 1), (8, 2)])
def test_the_declared_cost_is_what_enumeration_finds(records: int, low: int, share: float, number: int) -> None:
    """Whatever the column holds: at least the exact δ, at most 5 % more; a tenth less of ε or δ would be false."""
    law = RadoColumnLaw(records, low)
    delta = (1.0 - share) * law.certain(number) + share * law.delta(0.0, number)
    cost = declared(number, records, low, delta).cost
    for positives in (0, records // 2, records - 1):
        laws = [column_law(edges_with(count, records), low, number) for count in (positives, positives + 1)]
        true = approx_delta(laws[0], laws[1], cost.epsilon)
        assert true <= cost.delta <= 1.05 * true
        assert approx_delta(laws[0], laws[1], 0.9 * cost.epsilon) > cost.delta
        assert true > 0.9 * cost.delta


class FirstBlock(SeededNoise):
    """Plays a script for the first block of bits and stops where a second one is wanted."""

    class Another(Exception):
        """The whole first block was rejected."""

    def __init__(self, script: ScriptedNoise) -> None:
        super().__init__(0)
        self.script, self.used = script, False

    def bits(self, number: int) -> BitArray:
        if self.used:
            raise FirstBlock.Another
        self.used = True
        return self.script.bits(number)


def run(build: Callable[[NoiseSource], RadoColumn], edges: EdgeVectors) -> Law:
    """The mechanism's own law over its first block, given that the block was enough."""

    def program(noise: ScriptedNoise) -> tuple[float, ...] | None:
        try:
            return tuple(build(FirstBlock(noise)).sample(edges).tolist())
        except FirstBlock.Another:
            return None

    law = output_distribution(program)
    enough = math.log(-math.expm1(law[None])) if None in law else 0.0
    return {output: chance - enough for output, chance in law.items() if output is not None}


def test_the_samplers_themselves_have_the_law_of_the_enumeration() -> None:
    """Every bit they can be given; only for a block that is not enough another is drawn, from the same law."""
    cases: Sequence[tuple[int, int, int]] = ((2, 4, 0), (1, 5, 1), (1, 5, 2))
    for number, records, low in cases:
        edges = edges_with(2, records)

        def build(noise: NoiseSource, number: int = number, records: int = records, low: int = low) -> RadoColumn:
            return declared(number, records, low, 0.9, noise)

        assert run(build, edges) == pytest.approx(column_law(edges, low, number), abs=1e-9)


def test_the_sign_of_a_zero_tells_nothing() -> None:
    """0·(−1) is −0.0, and a sum over an empty support must not say that the edge was negative."""
    for positives in (0, 1, 2):
        values = RandomRados(20, 1, 2, 0.9999, SeededNoise(0)).sample(edges_with(positives, 2))
        assert np.any(values == 0.0)
        assert not np.any(np.signbit(values[values == 0.0]))


@pytest.mark.parametrize(("epsilon", "low", "delta"), [(5.0, 1, 0.50098), (1.0, 5, 1.0)])
def test_whole_vectors_are_not_private(epsilon: float, low: int, delta: float) -> None:
    """[000-DP-FEAT] Ten records, another column with distinct subset sums, every support: δ >= 1/2 at the printed ε."""
    assert RadoColumnLaw.truncated(10, beta_at(epsilon)).low == low

    def law(positives: int) -> Law:
        edges = np.stack([2.0 ** np.arange(10), edges_with(positives, 10).edges[:, 1]], axis=1)
        rados = rados_of(EdgeVectors(edges), np.array(list(itertools.product((0.0, 1.0), repeat=10))))
        counts = rados[:, 1] + (10 - positives)
        kept = rados[(counts >= low) & (counts <= 10 - low)]
        return {tuple(rado): -math.log(len(kept)) for rado in kept.tolist()}

    assert approx_delta(law(5), law(6), epsilon) == pytest.approx(delta, abs=5e-6)
    assert approx_delta(law(5), law(6), 50.0) >= 0.5


def test_whole_vectors_are_refused() -> None:
    for ask in (joint_rados, RandomRados.whole_vectors, RadoTailTruncation.whole_vectors):
        with pytest.raises(NotPrivate, match=r"which records were summed\. Release one column"):
            ask()


# --- the mechanisms and the ledger ----------------------------------------------------------------------------------


def open_ledger(column: int = 1, epsilon: float = 10.0) -> Ledger:
    return Ledger(ApproxDP(epsilon, 0.2), composition=BasicComposition(), adjacency=FeatureValue(column))


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)], ids=["secure", "seeded"])
def test_a_column_is_paid_for_by_a_ledger_of_its_adjacency(noise: NoiseSource) -> None:
    ledger = open_ledger()
    data = ledger.protect(edges_with(40, 101))
    mechanisms: list[RadoColumn] = [
        RandomRados(5, 1, 101, 1e-3, noise),
        RadoTailTruncation(5, 1, 101, 0.3, 1e-2, noise),
    ]
    for mechanism in mechanisms:
        column = ledger.release(mechanism, data)
        assert column.shape == (5,)
        assert np.all(column == np.rint(column))
        assert np.all(np.abs(column + 61 - 50.5) <= 50.5)
    assert ledger.spent.epsilon >= sum(mechanism.cost.epsilon for mechanism in mechanisms)  # type: ignore[union-attr]  # ApproxDP
    assert settled(ledger)
    assert "the joint rado vector is not private" in ledger.entries[1].line


def test_the_books_say_what_was_released() -> None:
    described = RadoTailTruncation(5, 3, 101, 0.3, 1e-2, SeededNoise(0)).description
    assert dict(described.parameters) == {
        "number": 5,
        "feature": 3,
        "records": 101,
        "beta": 0.3,
        "scope": "column 3 of the rados only; the joint rado vector is not private",
    }
    assert described.claims == ("000-rado-column", "000-DP-FEAT")
    assert not described.private
    assert RandomRados(5, 3, 101, 1e-2).description.private
    assert RandomRados(5, 3, 101, 1e-2).description.claims == ("000-rado-column",)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (edges_with(3, 100), ValueError, "built for 101 records, the data has 100"),
        (EdgeVectors(np.ones((101, 1))), IndexError, "feature 1 is out of range: these edge vectors have 1 columns"),
        (EdgeVectors(np.zeros((101, 2))), NotBoolean, "column 1 must hold edge values -1 and \\+1 only.*noised_edges"),
    ],
)
@pytest.mark.parametrize("low", [0, 20])
def test_data_that_does_not_fit_is_refused_before_the_charge(
    content: EdgeVectors, error: type[Exception], message: str, low: int
) -> None:
    ledger = open_ledger()
    with pytest.raises(error, match=message):
        ledger.release(declared(2, 101, low, 0.1), ledger.protect(content))
    assert len(ledger.entries) == 1


def test_another_adjacency_is_refused_before_the_charge() -> None:
    ledger = open_ledger(column=0)
    with pytest.raises(AdjacencyMismatch, match=r"column 1 .* column 0"):
        ledger.release(declared(2, 101, 0, 0.1), ledger.protect(edges_with(3, 101)))
    assert len(ledger.entries) == 1


def test_the_other_columns_are_never_looked_at() -> None:
    column = edges_with(3, 11).edges[:, 1]
    others = [EdgeVectors(np.stack([np.full(11, value), column], axis=1)) for value in (0.0, 1e300)]
    drawn = [RandomRados(4, 1, 11, 0.1, SeededNoise(5)).sample(edges) for edges in others]
    assert np.array_equal(drawn[0], drawn[1])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RandomRados(1, 0, 10, 0.0), r"\(0, 1\)"),
        (lambda: RandomRados(1, 0, 10, math.nan), r"\(0, 1\)"),
        (lambda: RandomRados(1, 0, 1, 0.5), r"delta=0.5 is too small: .* with probability 0\.5;.* use more records"),
        (lambda: RandomRados(3, 0, 5, 0.09), r"with probability 0\.090850.*use more records"),
        (lambda: RandomRados(0, 0, 10, 0.1), "at least 1"),
        (lambda: RandomRados(10**7, 0, 10, 0.1), "at most 1000000 rados"),
        (lambda: RandomRados(1, -1, 10, 0.1), "at least 0"),
        (lambda: RandomRados(1, 0, 10**9, 0.1), "at most 100000000 records"),
        (lambda: RadoTailTruncation(1, 0, 10, 0.0, 0.1), r"\(0, 1\)"),
        (lambda: RadoTailTruncation(1, 0, 10, 0.5, 0.1), r"beta in \(0, 1/2\)"),
        (lambda: RadoTailTruncation(1, 0, 10, 0.49, 0.1), "never end; use beta <= 0.318"),
        (
            lambda: RadoTailTruncation(1, 0, 10, 0.41, 0.1),
            r"with probability 1;.*use beta <= 0\.136.* \(epsilon >= 3\.69",
        ),
        (lambda: RadoTailTruncation(9, 0, 1000, 0.45, 1e-3), r"with probability 0\.00.*use beta <= 0\.4"),
        (lambda: RadoTailTruncation(1, 0, 6, 0.1, 0.02), r"do not truncate \(RandomRados\)"),
    ],
)
def test_what_has_no_cost_is_refused_at_birth(build: Callable[[], RadoColumn], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_the_advice_on_beta_is_the_narrowest_window_that_has_a_cost() -> None:
    low = largest_low(1000, 9, 1e-3)
    assert RadoTailTruncation(9, 0, 1000, low / 1001 - 1e-6, 1e-3).cost.delta == 1e-3
    with pytest.raises(ValueError, match="too small"):
        RadoTailTruncation(9, 0, 1000, low / 1001 + 1e-6, 1e-3)
    assert largest_low(4, 1, 0.01) == -1


def test_one_record_and_the_windows_of_the_paper() -> None:
    assert RandomRados(1, 0, 1, 0.51).cost.epsilon < 1e-12
    mechanism = RadoTailTruncation.at_epsilon(0.5, number=2, feature=0, records=1000, delta=1e-4)
    assert mechanism.beta == beta_at(0.5)
    assert mechanism.noise.private
    assert mechanism.cost.epsilon < 0.5  # printed: 1
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            beta_at(bad)


# --- sampling --------------------------------------------------------------------------------------------------------

DRAWS = 20_000


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(0)], ids=["secure", "seeded"])
@pytest.mark.parametrize("low", [0, 3])
def test_released_columns_follow_the_law_and_a_shift_by_one_would_show(noise: NoiseSource, low: int) -> None:
    """Statistical: 20,000 rados of 12 records; a law that is off by one record has p < 1e-9, surely.

    (Its χ²-distance is at least 1/12, so the non-centrality is above 1,600 against the 1e-9 quantile of χ²(12), 68.)
    """
    mechanism, edges = declared(10, 12, low, 0.9, noise), edges_with(5, 12)
    values = np.concatenate([mechanism.sample(edges) for _ in range(DRAWS // 10)])
    seen = np.bincount((values + 7).astype(int), minlength=14)
    for shift, fits in ((0, True), (1, False)):
        support = np.arange(low, 13 - low) + shift
        chances = stats.binom.pmf(support - shift, 12, 0.5)
        inside = seen[support]
        outside = DRAWS - inside.sum()
        p_value = stats.chisquare(inside, inside.sum() * chances / chances.sum()).pvalue if outside == 0 else 0.0
        assert (p_value > FALSE_ALARM) == fits


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**20))
def test_rados_are_definition_1(records: int, features: int, seed: int) -> None:
    """π = ½·Σ(σ_i + y_i)·x_i is the sum of the edges with σ_i = y_i. 000, Definition 1."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(records, features)), rng.choice([-1.0, 1.0], size=records)
    signs = rng.choice([-1.0, 1.0], size=(5, records))
    expected = 0.5 * (signs + y) @ x
    assert rados_of(EdgeVectors.of(x, y), (signs == y).astype(np.float64)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("step", [64, 4096])
@pytest.mark.parametrize("block", [1, 64, 2**21])
def test_no_more_than_a_block_of_supports_is_held(block: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of ten records each: blocks of 1, 6 and all rows, in one piece and two, give rados of the right kind."""
    for name in ("HELD", "DRAWN"):
        monkeypatch.setattr(sampling, name, block)
    monkeypatch.setattr(sampling, "STEP", step)
    asked: list[int] = []

    class Counting(SeededNoise):
        def bits(self, number: int) -> BitArray:
            asked.append(number)
            return super().bits(number)

    edges = EdgeVectors(np.stack([2.0 ** np.arange(10), np.where(np.arange(10) < 4, 1.0, -1.0)], axis=1))
    plain = sample_rados(edges, 50, Counting(0))
    truncated = sample_truncated_rados(edges, 50, 1, RadoColumnLaw(10, 4), Counting(0))
    assert max(asked) <= max(32, block)  # a seed has 32 bits
    fixed = sample_fixed_support_rados(edges, 50, 3, Counting(0))
    for rados in (plain, truncated, fixed):
        assert rados.shape == (50, 2)
        supports = (rados[:, :1].astype(int) >> np.arange(10)) & 1
        assert np.array_equal(supports @ edges.edges, rados)
    assert np.all(np.abs(truncated[:, 1] + 6 - 5) <= 1)
    assert np.all(supports.sum(axis=1) == 3)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_fixed_supports_are_uniform(size: int) -> None:
    """Statistical: 20,000 supports of 5 records: each of those of that size. 10 % too often for one gives p < 1e-3."""
    edges = EdgeVectors(2.0 ** np.arange(5)[:, None])
    values = sample_fixed_support_rados(edges, DRAWS, size, SeededNoise(0))[:, 0].astype(int)
    seen = np.bincount(values, minlength=32)
    sets = [sum(1 << place for place in places) for places in itertools.combinations(range(5), size)]
    assert seen[sets].sum() == DRAWS
    assert stats.chisquare(seen[sets]).pvalue > 1e-3


def test_large_fixed_supports_are_uniform_over_records_and_pairs() -> None:
    """Statistical: 4,000 supports of 3,000 of 10,000 records; what is put right after the guess must not be biased.

    Counts of the first and the last fifty records, and of the pairs that they make, at p > 1e-6 each.
    """
    records, size, number = 10_000, 3_000, 4_000
    looked = np.zeros((records, 100))
    looked[np.r_[:50, records - 50 : records], np.arange(100)] = 1.0
    inside = sample_fixed_support_rados(EdgeVectors(looked), number, size, SeededNoise(3))
    share = size / records
    each = (inside.sum(axis=0) - number * share) / math.sqrt(number * share * (1 - share))
    assert np.sum(each**2) < stats.chi2.ppf(1 - 1e-6, 100)
    both = share * (size - 1) / (records - 1)
    pairs = (inside.T @ inside)[np.triu_indices(100, 1)]
    assert np.max(np.abs(pairs - number * both)) < 6.5 * math.sqrt(number * both * (1 - both))


def test_sums_of_single_precision_edges_are_good_to_six_digits() -> None:
    rng = np.random.default_rng(0)
    edges = rng.normal(size=(20_000, 3))
    exact = sample_rados(EdgeVectors(edges), 20, SeededNoise(1))
    single = sample_rados(EdgeVectors(edges.astype(np.float32)), 20, SeededNoise(1))
    assert single.dtype == np.float64
    assert np.max(np.abs(single - exact)) < 1e-6 * np.sum(np.abs(edges))


def test_support_sizes_are_binomial() -> None:
    """Statistical: 20,000 sizes of 12 records; a coin of 0.51 would give p < 1e-9 (its χ² is above 90)."""
    seen = np.bincount(support_sizes(DRAWS, 12, SeededNoise(0)).astype(int), minlength=13)
    assert stats.chisquare(seen, DRAWS * stats.binom.pmf(np.arange(13), 12, 0.5)).pvalue > 1e-6
    many = (support_sizes(DRAWS, 10**8, SeededNoise(0)) - 5e7) / 5e3  # of which not a coin is drawn
    assert stats.kstest(many, "norm").pvalue > 1e-6
    assert len(set(many.tolist())) > 0.5 * DRAWS


def test_a_whole_support_is_the_sum_of_all() -> None:
    edges = EdgeVectors(2.0 ** np.arange(5)[:, None])
    whole = sample_fixed_support_rados(edges, 3, 5, SeededNoise(0))
    assert np.array_equal(whole, np.full((3, 1), 31.0))
    with pytest.raises(ValueError, match="needs that many"):
        sample_fixed_support_rados(edges, 3, 6, SeededNoise(0))


def test_edge_vectors_are_checked_and_stay_sealed() -> None:
    edges = EdgeVectors.of([[1, -1], [-1, 1], [1, 1]], [1, -1, 1])
    assert edges.edges.tolist() == [[1, -1], [1, -1], [1, 1]]
    assert (edges.records, edges.features) == (3, 2)
    assert "1." not in repr(edges)
    with pytest.raises(ValueError, match="read-only"):
        edges.edges[0, 0] = 5.0
    bad: list[tuple[Callable[[], EdgeVectors], str]] = [
        (lambda: EdgeVectors([1.0]), "shape"),
        (lambda: EdgeVectors(np.empty((0, 2))), "shape"),
        (lambda: EdgeVectors([[math.nan]]), "finite"),
        (lambda: EdgeVectors.of([[1.0]], [0.0]), "labels must be -1 or"),
        (lambda: EdgeVectors.of([[1.0]], [1.0, 1.0]), "expected features"),
    ]
    for build, message in bad:
        with pytest.raises(ValueError, match=message):
            build()
    with pytest.raises(ValueError, match="the distribution is of 4 records"):
        sample_truncated_rados(edges, 1, 0, RadoColumnLaw(4), SeededNoise(0))


# --- Gaussian edge vectors ------------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.floats(-1e200, 1e200), min_size=2, max_size=2), min_size=2, max_size=4), st.floats(1e-3, 1e3)
)
def test_rows_are_clipped_to_the_ball_and_else_untouched(rows: list[list[float]], radius: float) -> None:
    """[000-edges] So two rows are at most 2R apart, whatever they were; as close to that as you like."""
    edges = np.array(rows)
    after = clipped(edges, radius)
    for row, short in zip(rows, after.tolist(), strict=True):
        assert sum(Fraction(value) ** 2 for value in short) <= Fraction(radius) ** 2
        if math.hypot(*row) <= radius * (1 - 1e-9):
            assert short == row
        else:
            assert math.hypot(*short) == pytest.approx(radius, rel=1e-9)
            assert math.atan2(short[1], short[0]) == pytest.approx(math.atan2(row[1], row[0]), abs=1e-9)
    bound = edge_vectors(radius).sensitivity.value
    assert np.linalg.norm(after[0] - after[1]) <= bound
    opposite = clipped(np.array([[1e9, 0.0], [-1e9, 0.0]]), radius)
    assert np.linalg.norm(opposite[0] - opposite[1]) >= 0.999999 * bound


@pytest.mark.parametrize("noise", [None, SeededNoise(0)], ids=["secure", "seeded"])
def test_noised_edges_are_paid_for_and_their_rados_are_free(noise: NoiseSource | None) -> None:
    ledger = Ledger(ApproxDP(3.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    mechanism = noised_edges(1.0, 10.0, noise)
    assert isinstance(mechanism.cost, GDP)
    assert mechanism.cost.mu == pytest.approx(0.2, rel=1e-9)
    assert mechanism.cost.mu >= 0.2
    released = ledger.release(
        mechanism, ledger.protect(EdgeVectors(np.vstack([np.zeros(3), np.full((50, 3), 9.0)])).rows)
    )
    assert released.shape == (51, 3)
    assert 5.0 < float(np.std(released)) < 20.0
    entries = len(ledger.entries)
    assert sample_fixed_support_rados(EdgeVectors(released), 1000, 20, SeededNoise(1)).shape == (1000, 3)
    assert len(ledger.entries) == entries


def test_a_row_of_zeros_stays_and_radii_must_be_public_numbers() -> None:
    assert np.array_equal(clipped(np.zeros((2, 3)), 1.0), np.zeros((2, 3)))
    for radius, sigma in ((0.0, 1.0), (math.inf, 1.0), (math.nan, 1.0), (1.0, 0.0), (1.0, math.inf)):
        with pytest.raises(ValueError, match="positive"):
            noised_edges(radius, sigma)


def test_costs_are_quick() -> None:
    """Also the largest that is accepted."""
    assert RandomRados(10**6, 0, 10**8, 1e-6).cost.epsilon == pytest.approx(0.834, rel=2e-3)
