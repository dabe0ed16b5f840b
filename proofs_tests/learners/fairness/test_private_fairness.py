"""Fairness estimates that are paid for: what is charged, what intervals hold, and what is refused."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import toeplitz

from accountant import (
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Composition,
    FeatureValue,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray, IntArray
from learners.fairness.group_measures import demographic_table, excess_risk_gaps, statistical_parity
from learners.fairness.private_measures import (
    PrivateParity,
    PrivateRisks,
    PrivateTable,
    _deviations,
    private_demographic_table,
    private_group_risks,
    private_statistical_parity,
)
from mechanisms.queries.group_queries import prefix_decoder
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import Pair, check_fitted_surface

Sample = tuple[FloatArray, IntArray]


def ledger(
    epsilon: float = 1.0, rule: Composition | None = None, adjacency: Neighbours | None = None, delta: float = 1e-5
) -> Ledger:
    return Ledger(ApproxDP(epsilon, delta), composition=rule or BasicComposition(), adjacency=adjacency or ReplaceOne())


def sample(n: int, shift: float, seed: int, share: float = 0.5) -> Sample:
    """Outputs N(shift·group, 1), so that Δ_SP is about 2Φ(shift/2) − 1."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < share).astype(np.intp)
    return rng.normal(size=n) + shift * groups, groups


def parity(data: Sample, seed: int, **settings: object) -> PrivateParity:
    asked = {
        "public_groups": (0, 1),
        "bounds": (-4.0, 5.0),
        "epsilon": 1.0,
        "delta": 1e-5,
        "ledger": ledger(),
        "random_state": seed,
    } | settings
    return private_statistical_parity(*data, **asked)  # type: ignore[arg-type]  # settings of many types


def risks(data: Sample, seed: int, **settings: object) -> PrivateRisks:
    asked = {
        "public_groups": (0, 1),
        "bound": 4.0,
        "epsilon": 1.0,
        "delta": 1e-5,
        "ledger": ledger(),
        "random_state": seed,
    } | settings
    return private_group_risks(data[0], np.zeros(data[0].size), data[1], **asked)  # type: ignore[arg-type]  # the same


def table(data: Sample, seed: int, **settings: object) -> PrivateTable:
    """Labels are the outputs' signs."""
    asked = {
        "public_groups": (0, 1),
        "bounds": (-4.0, 5.0),
        "threshold": 0.5,
        "epsilon": 1.0,
        "delta": 1e-5,
        "ledger": ledger(),
        "random_state": seed,
    } | settings
    return private_demographic_table(data[0], np.sign(data[0]), data[1], **asked)  # type: ignore[arg-type]  # the same


Asking = Callable[..., PrivateParity | PrivateRisks | PrivateTable]
ALL: list[Asking] = [parity, risks, table]


# --- what is charged -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", ALL)
@pytest.mark.parametrize("rule", [BasicComposition(), ZCDPComposition()])
@pytest.mark.parametrize("adjacency", [ReplaceOne(), AddRemoveOne()])
def test_at_most_what_was_asked_for_is_charged_once(ask: Asking, rule: Composition, adjacency: Neighbours) -> None:
    books = ledger(2.0, rule, adjacency)
    ask(sample(50, 0.0, 0), 0, ledger=books, epsilon=0.5, delta=1e-6, account="auditor")
    (row,) = books.statement().rows
    assert row[0] == "auditor"
    assert row[1].startswith("Gaussian(group-")
    if isinstance(rule, BasicComposition):
        assert isinstance(books.spent, ApproxDP)
        assert 0.499 < books.spent.epsilon <= 0.5
        assert books.spent.delta <= 1e-6


@pytest.mark.parametrize("ask", ALL)
@pytest.mark.parametrize("adjacency", [ReplaceOne(), AddRemoveOne()])
def test_the_deviation_that_is_told_is_that_in_the_books(ask: Asking, adjacency: Neighbours) -> None:
    books = ledger(adjacency=adjacency)
    found = ask(sample(50, 0.0, 0), 0, ledger=books)
    written = json.loads(books.entries[1].line)
    assert written["mechanism"]["parameters"] == {"sigma": found.deviation}
    (step,) = written["steps"]
    assert found.deviation * step["cost"]["mu"] == pytest.approx(written["mechanism"]["sensitivity"])


def test_noise_is_that_of_the_declared_sensitivity() -> None:
    """Prefixes of 500 points need √(1.25 + …) = 1.74 times the noise of one share; three shares need √3 times that of
    one; add-remove-one √2 times less."""
    data = sample(50, 0.0, 0)
    found = [ask(data, 0).deviation for ask in ALL]
    assert found[0] / found[1] == pytest.approx(1.745, abs=0.001)
    assert found[2] / found[1] == pytest.approx(math.sqrt(3))
    for ask, replaced in zip(ALL, found, strict=True):
        assert replaced / ask(data, 0, ledger=ledger(adjacency=AddRemoveOne())).deviation == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("ask", ALL)
def test_simulations_say_so(ask: Asking) -> None:
    assert not ask(sample(20, 0.0, 0), 0).private
    assert ask(sample(20, 0.0, 0), 0, random_state=None).private


def test_nothing_but_the_release_is_kept() -> None:
    pairs = [Pair(sample(40, 1.0, 0), sample(40, 1.0, 1))]

    def of(ask: Asking) -> set[str]:
        return set(check_fitted_surface(lambda data, noise: ask(data, 0, random_state=noise), pairs))

    assert {"deviation", "shares"} <= of(parity)
    assert {"deviation", "rows"} <= of(risks) & of(table)


# --- what is told ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shift", "confidence"), [(0.0, 0.5), (0.3, 0.5), (2.0, 0.95)])
def test_intervals_hold_the_exact_distance(shift: float, confidence: float) -> None:
    """60 draws: fails by chance below 1e-4, were the confidence just as stated; seen is all."""
    data = sample(400, shift, 3, 0.3)
    exact = statistical_parity(data[0], data[1])
    found = [
        parity(data, seed, epsilon=3.0, ledger=ledger(3.0, ZCDPComposition()), grid=60, confidence=confidence)
        for seed in range(60)
    ]
    held = sum(each.low <= exact <= each.high for each in found)
    assert held >= (45 if confidence < 0.9 else 48)
    assert all(0.0 <= each.low <= each.estimate <= each.high <= 1.0 for each in found)


@pytest.mark.parametrize("cells", [2, 3, 61])
def test_deviations_are_those_of_the_decoded_noise(cells: int) -> None:
    """Of numbers up to a cell and beyond it, by the matrix that decodes."""
    decode = toeplitz(prefix_decoder(cells), np.zeros(cells))
    inside, beyond = _deviations(cells)
    np.testing.assert_allclose(inside, np.linalg.norm(decode, axis=1), rtol=1e-9)
    np.testing.assert_allclose(beyond, np.linalg.norm(decode[-1] - decode, axis=1), rtol=1e-6, atol=1e-6)


def test_estimates_are_close_with_many_records_and_too_large_at_parity() -> None:
    """n = 20,000, ε = 1. Noise on a share is about σ√3/10⁴ = .0016; of 15 draws the mean error is within .004."""
    for shift in (0.0, 0.5, 2.0):
        data = sample(20_000, shift, 5)
        exact = statistical_parity(data[0], data[1])
        found = [parity(data, seed) for seed in range(15)]
        assert abs(np.mean([each.estimate for each in found]) - exact) < 0.004
        assert all(each.low <= exact <= each.high < each.low + 0.06 for each in found)
        counted = np.mean([each.counts for each in found], axis=0)
        np.testing.assert_allclose(counted, np.bincount(data[1]), atol=15.0)
    # Perfect parity: the same outputs in both groups.
    same = np.concatenate([data[0][:500]] * 2), np.repeat([0, 1], 500)
    found = [parity(same, seed) for seed in range(15)]
    assert statistical_parity(*same) == 0.0
    assert np.mean([each.estimate for each in found]) > 0.03
    assert [each.low for each in found] == [0.0] * 15


def test_what_lies_between_grid_points_is_in_the_upper_end_only() -> None:
    data = np.repeat([0.001, 0.002], 20_000), np.repeat([0, 1], 20_000)
    found = parity(data, 0, bounds=(0.0, 1.0), grid=50)
    assert statistical_parity(data[0], data[1]) == 1.0
    assert found.estimate < 0.02
    assert found.low < 0.01
    assert found.high == 1.0
    # A public range and grid that tell them apart.
    assert parity(data, 0, bounds=(0.0, 0.003), grid=4).low > 0.99
    # Beyond the bounds is at the bounds.
    assert parity(data, 0, bounds=(-3.0, -1.0), grid=4).high < 0.02
    assert parity(data, 0, bounds=(1.0, 3.0), grid=4).high < 0.02


def test_predictions_of_classes_need_two_points() -> None:
    """The interval is as narrow as the noise: nothing lies between the classes, nor is it taken to."""
    outputs, groups = np.repeat([0, 1, 0, 1], [3000, 7000, 6000, 4000]), np.repeat([0, 1], 10_000)
    found = parity((outputs, groups), 0, bounds=(0.0, 1.0), grid=2)
    assert statistical_parity(outputs, groups) == pytest.approx(0.3)
    assert found.low <= 0.3 <= found.high < found.low + 0.02
    assert found.shares[:, 0] == pytest.approx([0.3, 0.6], abs=0.01)


def test_a_group_that_nobody_is_in_says_nothing() -> None:
    found = parity(sample(5000, 0.0, 0), 1, public_groups=(0, 1, 2), grid=20)
    assert found.groups == (0, 1, 2)
    assert abs(found.counts[2]) < 100.0
    assert found.high == 1.0
    empty = risks(sample(5000, 0.0, 0), 1, public_groups=(0, 1, 2)).rows[2]
    assert (empty.low, empty.high) == (0.0, 4.0)


def clipped_means(data: Sample) -> FloatArray:
    losses = np.minimum(data[0] ** 2, 4.0)
    return np.array([losses[data[1] == 0].mean(), losses[data[1] == 1].mean(), losses.mean()])


def test_intervals_hold_the_risks_and_the_gaps() -> None:
    """60 draws at .8: the five intervals fail together 12 times at most on average; 26 has chance below 1e-4."""
    data = sample(600, 0.7, 4, 0.2)
    truth, missed = clipped_means(data), 0
    for seed in range(60):
        found = risks(data, seed, confidence=0.8, ledger=ledger(1.0, ZCDPComposition()))
        intervals = [*((row.low, row.high) for row in found.rows), (found.low, found.high)]
        gaps = [(row.gap_low, row.gap_high) for row in found.rows]
        wanted = [*truth, *np.abs(truth[:2] - truth[2])]
        missed += any(not low <= value <= high for (low, high), value in zip([*intervals, *gaps], wanted, strict=True))
        assert all(row.gap_low <= row.gap <= row.gap_high and row.low <= row.risk <= row.high for row in found.rows)
    assert missed < 26


def test_risks_are_close_with_many_records() -> None:
    """n = 20,000, ε = 1: σ = 5.3 on sums in units of 4, so a mean over 2,000 records is off by about .01."""
    data = sample(20_000, 1.0, 5, 0.1)
    truth, found = clipped_means(data), risks(data, 0)
    assert [row.risk for row in found.rows] == pytest.approx(truth[:2], abs=0.06)
    assert found.risk == pytest.approx(truth[2], abs=0.01)
    assert found.rows[1].gap_low > 0.3
    assert [row.n for row in found.rows] == pytest.approx(np.bincount(data[1]), abs=40.0)


def test_excess_over_a_released_reference() -> None:
    data = sample(20_000, 1.0, 6)
    labels = np.zeros(20_000)
    found = risks(data, 0, reference=0.5 * data[0], bound=100.0)
    told = excess_risk_gaps(data[0], 0.5 * data[0], labels, data[1])
    for row, exact in zip(found.rows, told, strict=True):
        assert row.low <= exact.excess <= row.high
        assert row.gap_low <= exact.gap <= row.gap_high
    assert risks(data, 0, reference=np.zeros(20_000), bound=100.0).risk == pytest.approx(np.mean(data[0] ** 2), abs=0.2)


@pytest.mark.parametrize(("output", "reference", "excess"), [(0.0, 9.0, -4.0), (9.0, 0.0, 4.0), (0.0, 1.8, -3.24)])
def test_excess_is_cut_at_the_bound_on_both_sides(output: float, reference: float, excess: float) -> None:
    """4000 records, σ = 5.3 in units of 8: off by .01."""
    data = np.full(4000, output), np.repeat([0, 1], 2000)
    assert risks(data, 0, reference=np.full(4000, reference)).risk == pytest.approx(excess, abs=0.05)


def test_classes_and_names() -> None:
    outputs, labels = np.repeat([0, 1], 5000), np.repeat([0, 1, 0, 1], 2500)
    found = private_group_risks(
        outputs,
        labels,
        np.where(outputs > 0, "old", "young"),
        public_groups=["young", "old"],
        bound=1.0,
        loss="classes",
        epsilon=1.0,
        delta=1e-5,
        ledger=ledger(),
        random_state=0,
    )
    assert [row.group for row in found.rows] == ["young", "old"]
    assert [row.risk for row in found.rows] == pytest.approx([0.5, 0.5], abs=0.02)


def test_errors_too_large_to_square_count_as_the_bound() -> None:
    data = np.array([1.7e308, -1.7e308] * 2000), np.repeat([0, 1], 2000)
    assert risks(data, 0).risk == pytest.approx(4.0, abs=0.05)
    assert risks(data, 0, reference=np.zeros(4000)).risk == pytest.approx(4.0, abs=0.1)
    assert risks(data, 0, reference=-data[0]).risk == pytest.approx(0.0, abs=0.1)


def test_tables_are_close_with_many_records_and_their_intervals_hold() -> None:
    """n = 20,000, ε = 1: σ = 9.2 on sums, so a mean over 2,000 records is off by about .004 of the width."""
    data = sample(20_000, 1.0, 5, 0.1)
    told = demographic_table(data[0], np.sign(data[0]), data[1], threshold=0.5)
    for row, exact in zip(table(data, 0).rows, told, strict=True):
        assert row.group == exact.group
        assert row.n == pytest.approx(exact.n, abs=40.0)
        wanted = {
            row.share: exact.n / 20_000,
            row.mean_label: exact.mean_label,
            row.mean_prediction: exact.mean_prediction,
            row.above: exact.above,
        }
        for found, value in wanted.items():
            assert found.low <= value <= found.high
        assert row.share.value == pytest.approx(exact.n / 20_000, abs=0.002)
        assert row.mean_label.value == pytest.approx(exact.mean_label, abs=0.15)
        assert row.mean_prediction.value == pytest.approx(exact.mean_prediction, abs=0.15)
        assert row.above.value == pytest.approx(exact.above, abs=0.02)


def test_intervals_of_tables_hold_together() -> None:
    """60 draws at .5: in at most 30 on average is some interval wrong; 48 has chance below 1e-5."""
    data = sample(300, 0.7, 4, 0.3)
    told = demographic_table(data[0], np.sign(data[0]), data[1], threshold=0.5)
    missed = 0
    for seed in range(60):
        found = table(data, seed, confidence=0.5, ledger=ledger(1.0, ZCDPComposition())).rows
        exact = [(row.n / 300, row.mean_label, row.mean_prediction, row.above) for row in told]
        shown = [(row.share, row.mean_label, row.mean_prediction, row.above) for row in found]
        pairs = list(zip(np.ravel(np.array(shown, dtype=object)), np.ravel(exact), strict=True))
        missed += any(not each.low <= value <= each.high for each, value in pairs)
        assert all(each.low <= each.value <= each.high for each, _ in pairs)
    assert missed < 48


def test_labels_and_predictions_count_as_the_bounds_and_thresholds_do_not() -> None:
    data = np.repeat([-100.0, 100.0, 2.0], 4000), np.tile([0, 1], 6000)
    (row, _) = table(data, 0, bounds=(0.0, 3.0), threshold=50.0).rows
    assert row.mean_prediction.value == pytest.approx(5.0 / 3.0, abs=0.02)
    assert row.mean_label.value == pytest.approx(2.0 / 3.0, abs=0.02)
    assert row.above.value == pytest.approx(1.0 / 3.0, abs=0.01)
    # At the threshold is not above it.
    assert table(data, 0, threshold=2.0).rows[0].above.high < 0.4
    assert table(data, 0, threshold=1.9).rows[0].above.low > 0.6


# --- what is refused, before anything is charged ---------------------------------------------------------------

WRONG: list[tuple[dict[str, object], str]] = [
    ({"public_groups": (1, 2)}, r"groups: row \d+ is 0, none of the public groups \(1, 2\)"),
    ({"public_groups": ()}, "at least two different public groups"),
    ({"public_groups": (0,)}, "at least two different public groups"),
    ({"public_groups": (0, 0)}, "at least two different public groups"),
    ({"public_groups": None}, "at least two different public groups"),
    ({"public_groups": "01"}, "at least two different public groups"),
    ({"epsilon": 0.0}, "epsilon: expected a positive"),
    ({"epsilon": math.nan}, "epsilon: expected a positive"),
    ({"delta": 0.0}, r"delta: expected a number in \(0, 1\)"),
    ({"confidence": 1.0}, "confidence: expected a number"),
]
WRONG_BOUNDS: list[tuple[dict[str, object], str]] = [
    ({"bounds": None}, r"bounds: expected public \(lower, upper\)"),
    ({"bounds": (1.0, 0.0)}, "finite lower < upper"),
    ({"bounds": (0.0, math.nan)}, "finite lower < upper"),
    ({"bounds": (0.0, math.inf)}, "finite lower < upper"),
]
WRONG_PARITY: list[tuple[dict[str, object], str]] = [
    ({"grid": 1}, "grid: expected 2 to 4095"),
    ({"grid": 4096}, "grid: expected 2 to 4095"),
    ({"grid": 2.5}, "grid: expected a whole number"),
]
WRONG_RISKS: list[tuple[dict[str, object], str]] = [
    ({"bound": 0.0}, "bound: expected a positive"),
    ({"bound": 1e200}, "bound: expected less than"),
    ({"loss": "cubed"}, "loss: expected"),
    ({"reference": np.zeros(3)}, "reference: expected one for each of 60"),
]
WRONG_TABLE: list[tuple[dict[str, object], str]] = [
    ({"threshold": math.nan}, "threshold: expected a finite number"),
    ({"threshold": math.inf}, "threshold: expected a finite number"),
]
CASES = [
    *((ask, *case) for ask in ALL for case in WRONG),
    *((parity, *case) for case in WRONG_BOUNDS + WRONG_PARITY),
    *((risks, *case) for case in WRONG_RISKS),
    *((table, *case) for case in WRONG_BOUNDS + WRONG_TABLE),
]


@pytest.mark.parametrize(("ask", "change", "said"), CASES)
def test_bad_settings_charge_nothing(ask: Asking, change: dict[str, object], said: str) -> None:
    books = ledger()
    with pytest.raises(ValueError, match=said):
        ask(sample(60, 0.0, 0), 0, ledger=books, **change)
    assert not books.statement().rows


@pytest.mark.parametrize("ask", ALL)
def test_bad_records_and_ledgers_charge_nothing(ask: Asking) -> None:
    outputs, groups = sample(60, 0.0, 0)
    broken = outputs.copy()
    broken[3] = math.nan
    books = ledger()
    for data, said in (((outputs, groups[1:]), "groups: expected one"), ((broken, groups), "NaN or infinity")):
        with pytest.raises(ValueError, match=said):
            ask(data, 0, ledger=books)
    with pytest.raises(BudgetExceeded):
        ask((outputs, groups), 0, ledger=books, epsilon=2.0)
    with pytest.raises(TypeError, match="random_state"):
        ask((outputs, groups), 0, ledger=books, random_state="seed")
    assert not books.statement().rows
    pure = Ledger(PureDP(5.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(BudgetExceeded):
        ask((outputs, groups), 0, ledger=pure)
    assert not pure.statement().rows
    other = Ledger(ApproxDP(5.0, 1e-3), composition=BasicComposition(), adjacency=FeatureValue(0))
    with pytest.raises(TypeError, match="expected add-remove-one or replace-one"):
        ask((outputs, groups), 0, ledger=other)
    assert not other.statement().rows


def test_labels_of_another_length_charge_nothing() -> None:
    books = ledger()
    with pytest.raises(ValueError, match="labels: expected one for each of 4 records, got 3"):
        private_demographic_table(
            np.zeros(4),
            np.zeros(3),
            [0, 1, 1, 0],
            public_groups=(0, 1),
            bounds=(0.0, 1.0),
            threshold=0.5,
            epsilon=1.0,
            delta=1e-5,
            ledger=books,
        )
    with pytest.raises(ValueError, match="predictions: expected one for each of 3 records, got 4"):
        private_group_risks(
            np.zeros(4),
            np.zeros(3),
            [0, 1, 1],
            public_groups=(0, 1),
            bound=1.0,
            epsilon=1.0,
            delta=1e-5,
            ledger=books,
        )
    assert not books.statement().rows
