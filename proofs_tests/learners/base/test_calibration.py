"""Calibrated probabilities: what the histogram costs, what follows from it, and that it is worth its price."""

import json
import math
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    LaplaceDP,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from exchequer.datasets import DataSplit, adult, breast_cancer, data_folder
from learners import LazyBoostClassifier
from learners.base import score_calibration as c
from learners.base.score_calibration import BinCounts, Calibration, Calibrator, ScoreBins
from mechanisms import SeededNoise
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    check_fitted_surface,
    check_mechanism,
    check_sensitivity,
    neighbours,
)

Array = npt.NDArray[Any]
Cell = tuple[int, int]

EDGES = (-0.5, 0.5)
RELATIONS: list[Neighbours] = [ReplaceOne(), AddRemoveOne()]
every_relation = pytest.mark.parametrize("adjacency", RELATIONS, ids=str)


def scored(records: tuple[Cell, ...]) -> ScoreBins:
    bins, labels = np.array(records, dtype=np.intp).reshape(-1, 2).T
    return ScoreBins(bins, (2 * labels - 1).astype(np.int8), 3)


def pairs(adjacency: Neighbours) -> list[Pair[BinCounts]]:
    records = [(bin_, label) for bin_ in range(3) for label in (0, 1)]
    return [pair.map(scored) for pair in neighbours(adjacency, records, 2)]


def calibrator(adjacency: Neighbours = ReplaceOne(), gaussian: bool = True, share: float = 0.2) -> Calibrator:  # noqa: B008
    return Calibrator(share, EDGES, 4.0, adjacency, gaussian, SeededNoise(0))


# --- what it costs -----------------------------------------------------------------------------------------------


@every_relation
def test_counts_move_by_just_what_they_say(adjacency: Neighbours) -> None:
    """[score-histogram] Attained in both norms, and 10 % less is caught."""
    l1, l2 = c.histogram_l1(adjacency), c.histogram_l2(adjacency)
    assert check_sensitivity(l1, pairs(adjacency)).ratio == 1.0
    assert 1.0 - 1e-11 <= check_sensitivity(l2, pairs(adjacency)).ratio <= 1.0
    with pytest.raises(ClaimViolated):
        check_sensitivity(attrs.evolve(l1, sensitivity=L1Sensitivity(0.9 * l1.sensitivity.value)), pairs(adjacency))
    with pytest.raises(ClaimViolated):
        check_sensitivity(attrs.evolve(l2, sensitivity=L2Sensitivity(0.9 * l2.sensitivity.value)), pairs(adjacency))


@every_relation
@pytest.mark.parametrize("gaussian", [True, False])
def test_the_release_loses_no_more_than_it_declares(adjacency: Neighbours, gaussian: bool) -> None:
    plan = Plan.of(BoundedRange(1.0) if gaussian else PureDP(0.3), 4)
    mechanism = calibrator(adjacency, gaussian, 0.4).mechanism(plan)
    check_mechanism(mechanism, pairs(adjacency)[::7], samples=4000)


@every_relation
@given(share=st.floats(0.01, 0.9), width=st.floats(0.001, 1.0), rounds=st.integers(1, 50))
def test_it_takes_its_share_of_the_budget(adjacency: Neighbours, share: float, width: float, rounds: int) -> None:
    """Of Σρ with Gaussian noise, of Σε with Laplace noise."""
    for gaussian, rule in ((True, ZCDPComposition()), (False, BasicComposition())):
        plan = Plan.of(BoundedRange(width), rounds)
        whole = calibrator(adjacency, gaussian, share).added(plan)
        assert whole.rounds == rounds + 1
        kept = float(plan.amount(rule).loss) / float(whole.amount(rule).loss)
        assert kept == pytest.approx(1.0 - share, rel=1e-6)
        assert isinstance(whole.steps[-1].cost, GDP if gaussian else LaplaceDP)


X = np.random.default_rng(0).integers(0, 2, size=(600, 4))
Y = np.where(np.random.default_rng(1).random(600) < 0.15, 1 - X[:, 1], X[:, 1])


@pytest.mark.parametrize(
    ("delta", "composition"), [(0.0, "auto"), (1e-6, "auto"), (1e-6, "zcdp"), (1e-6, "advanced"), (1e-6, "basic")]
)
def test_a_fit_is_charged_for_its_rounds_and_the_histogram(delta: float, composition: Any) -> None:
    arguments: dict[str, Any] = {"rounds": 7, "composition": composition, "random_state": 0}
    model = LazyBoostClassifier(0.8, delta, calibration=0.2, **arguments).fit(X, Y)
    spent = model.ledger_.spent.as_dict()
    assert 0.8 * (1 - 1e-6) <= float(spent["epsilon"]) <= 0.8
    charged = next(json.loads(entry.line) for entry in model.ledger_.entries if entry.kind == "charged")
    assert sum(step["rounds"] for step in charged["steps"]) == 7 + 1
    assert charged["steps"][-1]["cost"]["kind"] == ("gdp" if delta else "laplace-dp")
    assert "score-histogram" in charged["mechanism"]["claims"]
    used = next(json.loads(entry.line) for entry in model.ledger_.entries if entry.kind == "released")["used"]
    assert max(each["rounds"] for each in used) <= 7
    assert sum(each["rounds"] for each in used) == 7 + 1
    plain = LazyBoostClassifier(0.8, delta, **arguments).fit(X, Y)
    assert model.eta_ < plain.eta_


def test_a_ledger_that_cannot_pay_for_both_refuses() -> None:
    ledger = Ledger(ApproxDP(0.5, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    model = LazyBoostClassifier(0.6, 1e-6, rounds=3, calibration=0.1, ledger=ledger, random_state=0)
    with pytest.raises(ValueError, match="requested"):
        model.fit(X, Y)
    assert [entry.kind for entry in ledger.entries] == ["opened"]


# --- what follows from it ------------------------------------------------------------------------------------------


def made(counts: FloatArray, deviation: float, edges: FloatArray, unit: float = 4.0) -> Calibration:
    return Calibration(tuple(edges.tolist()), counts.tolist(), deviation, unit)


def test_with_many_records_and_no_noise_it_is_what_was_counted() -> None:
    edges = np.linspace(-1, 1, 9)
    share = np.array([0.05, 0.1, 0.1, 0.2, 0.35, 0.45, 0.6, 0.7, 0.7, 0.95])
    counts = 1e6 * np.column_stack([1 - share, share])
    found = made(counts, 1.0, edges)
    centres = np.concatenate([[-1.125], 0.5 * (edges[1:] + edges[:-1]), [1.125]])
    assert found.probabilities(centres) == pytest.approx(share, abs=1e-4)
    assert found.log_odds(centres) == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


@given(st.lists(st.tuples(st.integers(-50, 5000), st.integers(-50, 5000)), min_size=2, max_size=30), st.floats(1, 100))
def test_curves_rise_and_stay_probabilities(counts: list[Cell], deviation: float) -> None:
    found = made(np.array(counts, dtype=np.float64), deviation, np.linspace(-1, 1, len(counts) - 1))
    scores = np.linspace(-2, 2, 401)
    curve = found.probabilities(scores)
    assert np.all(np.diff(curve) >= 0.0)
    # No two scores are alike, beyond the bins neither, so records keep their ranks.
    assert np.all(np.diff(curve) > 0.0)
    assert curve.min() > 0.0
    assert curve.max() < 1.0
    assert np.array_equal(found.log_odds(scores) > 0, curve > 0.5)
    beyond = (scores > found.threshold) != (found.log_odds(scores) > 0)
    assert np.all(np.abs(scores[beyond] - found.threshold) < 1e-9)


@given(st.integers(2, 60), st.integers(0, 2**32))
def test_the_threshold_is_the_most_accurate_one(size: int, seed: int) -> None:
    """Pooled adjacent violators cross ½ where the counted accuracy is largest: no cut between bins beats it."""
    counts = np.random.default_rng(seed).gamma(0.5, 100.0, (size, 2))
    found = made(counts, 1e-6, np.linspace(-1, 1, size - 1))
    curve = found.curve[1][1:-1]
    right = [counts[:cut, 0].sum() + counts[cut:, 1].sum() for cut in range(size + 1)]
    chosen = int(np.searchsorted(curve, 0.5, side="right"))
    assert right[chosen] >= max(right) - 1e-3 * counts.max()


def test_where_noise_hides_everything_it_is_the_logistic_curve() -> None:
    edges = np.linspace(-1, 1, 21)
    found = made(np.random.default_rng(0).normal(50, 1.0, (22, 2)), 1e9, edges)
    assert found.probabilities(np.array([-0.5, 0.0, 0.5])) == pytest.approx([0.119, 0.5, 0.881], abs=0.02)


@given(st.integers(1, 300), st.floats(0.01, 5.0))
def test_no_vote_lies_on_an_edge(rounds: int, rate: float) -> None:
    edges = np.array(c.vote_edges(rounds, 2.0 * rate * rounds))
    votes = np.arange(-rounds, rounds + 1, 2) / rounds
    assert np.abs(edges[:, None] - votes).min() > 0.9 / rounds
    assert np.all(np.diff(edges) > 0)
    assert 1 <= edges.size < c.BINS
    assert np.abs(edges).max() < 1.0


# --- what it keeps ---------------------------------------------------------------------------------------------------


def test_a_calibrated_model_survives_json(tmp_path: Path) -> None:
    model = LazyBoostClassifier(1.0, 1e-6, rounds=9, calibration=0.2, random_state=0).fit(X, Y)
    model.save(tmp_path / "model.json")
    loaded = LazyBoostClassifier.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    kept = json.loads((tmp_path / "model.json").read_text())["model"]["calibration"]
    assert len(kept["counts"]) == len(kept["edges"]) + 1
    assert Calibration.from_record(kept) == model.model_.calibration
    assert loaded.calibration == 0.2


GOOD: dict[str, object] = {"edges": [0.0], "counts": [[1, 2], [3, 4]], "deviation": 1.0, "unit": 2.0}


@pytest.mark.parametrize(
    "damage",
    [
        {"edges": []}, {"edges": [0.0, 0.0]}, {"edges": 3}, {"counts": [[1, 2]]}, {"counts": [[1, 2], [3]]},
        {"counts": [[1, 2], [3, math.nan]]}, {"deviation": 0.0}, {"deviation": -1.0}, {"unit": math.inf},
    ],
    ids=str,
)  # fmt: skip
def test_a_malformed_calibration_is_refused(damage: dict[str, object]) -> None:
    assert Calibration.from_record(GOOD).threshold < 0.0
    with pytest.raises(ValueError, match=r"expected|could not|unpack"):
        Calibration.from_record({**GOOD, **damage})
    with pytest.raises(ValueError, match="expected edges"):
        Calibration.from_record({name: value for name, value in GOOD.items() if name not in damage})


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_nothing_but_releases_is_kept(delta: float) -> None:
    def fit(data: tuple[Array, Array], noise: PinnedNoise) -> LazyBoostClassifier:
        return LazyBoostClassifier(1.0, delta, rounds=5, calibration=0.3, random_state=noise).fit(*data)

    names = check_fitted_surface(fit, [Pair((X[:50], Y[:50]), (1 - X[:50], Y[50:100]))], seeds=2)
    assert "model_" in names


@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_a_share_outside_its_range_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="calibration"):
        LazyBoostClassifier(calibration=value).fit(X, Y)


def test_probabilities_and_predictions_agree() -> None:
    model = LazyBoostClassifier(2.0, 1e-6, rounds=9, calibration=0.2, random_state=0).fit(X, Y)
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(model.predict(X), (shares[:, 1] > 0.5).astype(int))
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    calibration = model.model_.calibration
    assert calibration is not None
    votes = model.model_.votes(X.T.astype(np.intp))
    assert np.array_equal(votes > calibration.threshold, model.predict(X) == 1)


# --- that it is worth its price ----------------------------------------------------------------------------------


def calibration_error(shares: FloatArray, positive: Array) -> float:
    """Mean gap between what is said and what is so, over groups of at least fifty records, at most fifteen."""
    groups = np.array_split(np.argsort(shares), min(15, positive.size // 50))
    return float(sum(abs(shares[rows].mean() - positive[rows].mean()) * rows.size for rows in groups) / shares.size)


def compared(data: DataSplit, seeds: int, **arguments: Any) -> tuple[FloatArray, FloatArray]:
    """Calibration error and accuracy on held-out records, without and with a tenth for calibration, shapes (2,)."""
    assert data.schema.label is not None
    positive = data.y_test == data.schema.label.classes[1]
    found = np.zeros((2, 2))
    for seed in range(seeds):
        for place, share in enumerate((0.0, 0.1)):
            model = LazyBoostClassifier(**arguments, calibration=share, schema=data.schema, random_state=seed)
            shares = model.fit(data.train, data.y_train).predict_proba(data.test)[:, 1]
            found[:, place] += (calibration_error(shares, positive), np.mean((shares > 0.5) == positive))
    return cast("FloatArray", found[0] / seeds), cast("FloatArray", found[1] / seeds)


@pytest.mark.data
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (1.0, 0.0)])
def test_adult_is_calibrated_at_no_loss_of_accuracy(epsilon: float, delta: float) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("EXCHEQUER_DATA is not set")
    error, accuracy = compared(adult(folder), 3, epsilon=epsilon, delta=delta)
    assert error[1] < 0.04 < 0.1 < error[0]
    assert accuracy[1] > accuracy[0] - 0.006


def test_breast_cancer_is_calibrated_at_no_loss_of_accuracy() -> None:
    """427 records, so a large ε; more rounds than by default make shares of the vote timid."""
    error, accuracy = compared(breast_cancer(), 5, epsilon=8.0, delta=1e-5, rounds=60)
    assert error[1] < 0.7 * error[0]
    assert accuracy[1] > accuracy[0] - 0.02
