"""Settings chosen privately: what the choice costs, that it chooses, and that a run cannot overspend."""

from pathlib import Path

import attrs
import numpy as np
import pytest
from scipy.special import ndtr

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    UnsupportedCost,
    ZCDPComposition,
)
from learners import DPLogisticRegression, PrivateBoostClassifier, Schema
from learners.base.tuning import (
    JUDGING_SHARE,
    ONE_RECORD,
    Judged,
    Run,
    affordable,
    candidate,
    judge,
    scaled,
)
from learners.encoding.encoder import EncodedSample, Layout
from mechanisms import NegativeBinomialStopping, SeededNoise, selection_cost
from proofs_tests.harness import replace_one_neighbours
from proofs_tests.support.ledgers.separate import separate

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, size=(3000, 4))
Y = X[:, 0] ^ X[:, 1]
SCHEMA = Schema.boolean(["a", "b", "c", "d"])
GRID = [{"interactions": ()}, {"interactions": (("a", "b"),)}]


def tuned(seed: int = 0, **parameters: object) -> PrivateBoostClassifier:
    settings: dict[str, object] = {"schema": SCHEMA, "random_state": seed, "tune": GRID, **parameters}
    return PrivateBoostClassifier(2.0, 1e-6, **settings)  # type: ignore[arg-type]  # mixed on purpose


def test_the_setting_that_works_is_chosen_and_the_budget_kept() -> None:
    model = tuned().fit(X, Y)
    assert model.tuned_ == GRID[1]
    assert model.score(X, Y) > 0.95
    spent = model.ledger_.spent
    assert isinstance(spent, ApproxDP)
    assert 2.0 * (1 - 1e-5) < spent.epsilon <= 2.0
    assert sum(entry.kind == "charged" for entry in model.ledger_.entries) == 1
    assert "random-stopping" in str(model.statement_)


@separate
def test_a_second_fit_without_tuning_forgets_the_choice() -> None:
    model = tuned().fit(X, Y)
    assert not hasattr(model.set_params(tune=None).fit(X, Y), "tuned_")


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("target", [PureDP(1.0), ApproxDP(1.0, 1e-6)])
def test_a_run_gets_the_most_that_the_choice_can_pay(target: PureDP | ApproxDP, gaussian: bool) -> None:
    stopping = NegativeBinomialStopping.with_mean(0.0, 6.0)
    each = affordable(target, 3, stopping, gaussian=gaussian)
    delta = target.delta if isinstance(target, ApproxDP) else None
    assert selection_cost([each] * 3, stopping, delta).epsilon <= target.epsilon
    more = scaled(each, 1.001)
    assert selection_cost([more] * 3, stopping, delta).epsilon > target.epsilon


def worst_epsilon(mu: float, gamma: float, delta: float) -> float:
    """The exact ε at δ of the best of K runs, K logarithmic, of N(μ, 1) against N(0, 1), for one bad way to rank.

    What speaks against μ most is ranked first, where the two laws of how many outputs rank higher come apart; then what
    speaks for it. The best output is y with density ∝ p(y)/(γ + (1 − γ)·P(a run ranks higher)).
    """
    ends = np.linspace(0.0, 12.0 + mu, 4001)
    found = 0.0
    for first in np.linspace(-5.0, -0.2, 49):
        laws = []
        for mean in (mu, 0.0):
            higher = ndtr(first - mean) + ndtr(mean - 0.5 * (ends[:-1] + ends[1:]))
            share = -np.diff(ndtr(mean - ends))
            laws.append(share * (1.0 - gamma) / -np.log(gamma) / (gamma + (1.0 - gamma) * higher))
        low, high = 0.0, 50.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            gained = np.max(np.cumsum((laws[0] - np.exp(middle) * laws[1])[::-1]))
            low, high = (middle, high) if gained > delta else (low, middle)
        found = max(found, low)
    return found


@pytest.mark.parametrize("settings", [2, 5, 20])
@pytest.mark.parametrize("target", [ApproxDP(0.1, 1e-6), ApproxDP(1.0, 1e-5), ApproxDP(5.0, 1e-6)], ids=str)
def test_gaussian_runs_get_more_and_a_tenth_more_still_would_be_refuted(target: ApproxDP, settings: int) -> None:
    stopping = NegativeBinomialStopping.with_mean(0.0, 2.0 * settings)
    plain, each = affordable(target, settings, stopping), affordable(target, settings, stopping, gaussian=True)
    assert isinstance(plain, ZCDP)
    assert isinstance(each, GDP)
    assert 1.07 < each.mu / np.sqrt(2.0 * plain.rho) < 1.12
    assert 0.98 * target.epsilon < worst_epsilon(each.mu, stopping.gamma, target.delta) <= target.epsilon
    assert worst_epsilon(1.1 * each.mu, stopping.gamma, target.delta) > target.epsilon


def test_runs_of_gaussians_alone_are_paid_as_such_and_others_by_rho() -> None:
    sample = EncodedSample(Layout(SCHEMA), X.T.astype(np.intp), np.where(Y, 1, -1).astype(np.int8))
    for more in ({}, {"calibration": 0.1}, {"interactions": (("a", "b"),)}, {"adjacency": "replace-one"}):
        learner = candidate(PrivateBoostClassifier(schema=SCHEMA, **more), {})
        run = Run.of(learner, GDP(0.4), (0, 1), sample, SeededNoise(0))
        assert run.plan.gaussian_alone
        count, model = run.sample(sample)
        right = Judged(Y * 2 - 1, model.scores(sample.codes)).right()[0]
        assert abs(count - right) < 6 / (0.4 * np.sqrt(JUDGING_SHARE))
    other = candidate(DPLogisticRegression(schema=SCHEMA), {})
    for learner in (other, Mixed(schema=SCHEMA)):  # the second inherits the word that its noise is Gaussian
        assert not Run.of(learner, ZCDP(0.1), (0, 1), sample, SeededNoise(0)).plan.gaussian_alone
    with pytest.raises((UnsupportedCost, ValueError)):
        Run.of(other, GDP(0.4), (0, 1), sample, SeededNoise(0)).sample(sample)


def test_a_ledger_of_gaussians_pays_for_a_fit_exactly() -> None:
    """A fit without a choice; one with a choice costs an (ε, δ), which such a ledger does not add up."""
    ledger = Ledger(ApproxDP(2.0, 1e-6), composition=GDPComposition(), adjacency=AddRemoveOne())
    tuned(ledger=ledger, tune=None).fit(X, Y)
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    assert 2.0 * (1 - 1e-4) < spent.epsilon <= 2.0
    assert ledger.verify().errors == ()
    with pytest.raises(ValueError, match="tune"):
        tuned(ledger=ledger).fit(X, Y)


def test_a_run_spends_no_more_than_it_declares() -> None:
    """It runs on a ledger that holds just that, so a learner that wanted more would be refused."""
    sample = EncodedSample(Layout(SCHEMA), X.T.astype(np.intp), np.where(Y, 1, -1).astype(np.int8))
    for spent in (ZCDP(0.1), GDP(0.4)):
        greedy = Run.of(candidate(Greedy(schema=SCHEMA), {}), spent, (0, 1), sample, SeededNoise(0))
        with pytest.raises(Exception, match=r"budget|remaining|exceed"):
            greedy.sample(sample)
    honest = Run.of(candidate(PrivateBoostClassifier(schema=SCHEMA), {}), ZCDP(0.1), (0, 1), sample, SeededNoise(0))
    count, model = honest.sample(sample)
    assert honest.cost == ZCDP(0.1)
    assert abs(count - Judged(Y * 2 - 1, model.scores(sample.codes)).right()[0]) < 6 / np.sqrt(2 * 0.1 * JUDGING_SHARE)


class Greedy(PrivateBoostClassifier):
    """Asks for the whole of the run's ledger and a bit."""

    def _plan(self, records, budget, noise):  # type: ignore[no-untyped-def]  # as in the base class
        more = ZCDP(0.2) if isinstance(budget.target, ZCDP) else GDP(0.45)
        return super()._plan(records, attrs.evolve(budget, target=more), noise)


class Mixed(PrivateBoostClassifier):
    """Plans a release that is not Gaussian, beside those of its base."""

    def _plan(self, records, budget, noise):  # type: ignore[no-untyped-def]  # as in the base class
        plan = super()._plan(records, budget, noise)
        return attrs.evolve(plan, cost=Plan((*plan.cost.steps, Step(PureDP(0.01), 1))))


def test_the_number_of_right_records_moves_by_at_most_one() -> None:
    """Exactly, over all neighbours of three records, for two classes and for three."""
    for classes, scores in ((2, np.array([-1.0, 2.0])), (3, np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]]))):
        labels = (-1, 1) if classes == 2 else (0, 1, 2)
        records = [(x, label) for x in range(2) for label in labels]

        def right(rows: tuple[tuple[int, int], ...], scores: np.ndarray = scores) -> float:
            codes, truth = np.array(rows).T
            return float(Judged(truth, scores[codes]).right()[0])

        before = (records[0], records[1], records[-1])
        moves = [abs(right(before) - right(after)) for after in replace_one_neighbours(before, records)]
        assert max(moves) == ONE_RECORD
        for share in (PureDP(0.5), ZCDP(0.5), GDP(0.5)):
            for relation in (ReplaceOne(), AddRemoveOne()):
                assert judge(share, relation, SeededNoise(0)).query.sensitivity.value == max(moves)
        assert abs(right(before) - right(before[:2])) <= 1.0


def test_a_ledger_that_cannot_add_the_choice_is_refused_before_it_is_charged() -> None:
    ledger = Ledger(ApproxDP(5.0, 1e-5), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="tune"):
        tuned(ledger=ledger).fit(X, Y)
    assert ledger.spent == Ledger(ApproxDP(5.0, 1e-5), composition=ZCDPComposition(), adjacency=AddRemoveOne()).spent


def test_a_shared_ledger_pays_once_for_the_choice() -> None:
    ledger = Ledger(ApproxDP(5.0, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne())
    tuned(ledger=ledger).fit(X, Y)
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    assert spent.epsilon == pytest.approx(2.0, rel=1e-5)


def test_other_learners_fit_inside_a_choice_too() -> None:
    """Objective perturbation on a ledger that adds up ρ, and under pure differential privacy."""
    sample = EncodedSample(Layout(SCHEMA), X.T.astype(np.intp), np.where(X[:, 2], 1, -1).astype(np.int8))
    for budget in (ZCDP(0.5), PureDP(2.0)):
        learner = candidate(DPLogisticRegression(schema=SCHEMA), {})
        run = Run.of(learner, budget, (0, 1), sample, SeededNoise(0))
        count, _ = run.sample(sample)
        assert count > 2500


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"interactions": (("a", "zz"),)}, "zz"),
        ({"weight_cap": 1.0}, "weight_cap"),
        ({"calibration": 2.0}, "calibration"),
    ],
)
def test_settings_that_cannot_run_are_refused_before_the_charge(setting: dict[str, object], said: str) -> None:
    """Else the fit would fail by chance, after it was paid for, and tell how many runs there were."""
    ledger = Ledger(ApproxDP(5.0, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match=said):
        tuned(ledger=ledger, tune=[{"rounds_per_column": 1}, setting]).fit(X, Y)
    assert ledger.spent == ApproxDP(0.0, 0.0)


def test_numbers_of_numpy_in_a_setting_survive_saving(tmp_path: Path) -> None:
    model = tuned(tune=[{"rounds_per_column": np.int64(3)}]).fit(X, Y)
    model.save(tmp_path / "model.json")
    assert PrivateBoostClassifier.load(tmp_path / "model.json").rounds_per_column == 3
    assert '"tuned"' in (tmp_path / "model.json").read_text()


def test_the_entry_names_budget_settings_and_claims_of_the_runs() -> None:
    model = tuned().fit(X, Y)
    entry = next(str(entry.record) for entry in model.ledger_.entries if entry.kind == "charged")
    for said in ("each run GDP", "gdp-filter", "interactions", "clipped-gradients", "records-right", "candidate 1"):
        assert said in entry
    assert not hasattr(model, "eta_")
