"""Private bagging: how far one record moves the teachers' votes, verdicts by enumeration, and the student."""

import json
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from accountant import (
    ZCDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    BudgetExceeded,
    Cost,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from learners import Boolean, Categorical, EncodedSample, Label, Numeric, Schema
from learners.base.budget import FitBudget
from learners.trees.bagging import DPBaggingClassifier, TeachingPlan, VoteCounts, decided, student
from mechanisms import RangeSensitivity
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    ScriptedNoise,
    check_fitted_surface,
    check_learner,
    check_mechanism,
    check_sensitivity,
    neighbours,
)
from proofs_tests.support.learners.tiny_learners import LAYOUT, RECORDS, Record
from proofs_tests.support.ledgers.settled import settled

Records = tuple[Record, ...]
POINTS = np.array([[0, 1, 1], [1, 0, 1]])
WIDE = Schema(
    (Numeric("age", 0, 100, bins=10, encoding="thresholds"), Categorical("job", tuple("abcd")), Boolean("member")),
    Label("rich", ("no", "yes")),
)


def encoded(records: Records) -> EncodedSample:
    table = np.array(records, dtype=np.intp)
    return EncodedSample(LAYOUT, np.ascontiguousarray(table[:, :2].T), np.where(table[:, 2], 1, -1).astype(np.int8))


def frame(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"age": rng.uniform(0, 100, n), "job": rng.choice(list("abcd"), n), "member": rng.integers(0, 2, n)}
    )
    rich = (table["age"] > 50) ^ (rng.random(n) < 0.05)
    return table, np.where(rich, "yes", "no")


def school(*shares: tuple[int, ...], teachers: int = 2) -> TeachingPlan:
    return TeachingPlan(LAYOUT, POINTS, np.array(shares), teachers, depth=2, seed=0)


SCHOOLS = [school((0, 1, 0)), school((0, 1, 0), (1, 0, 0)), school((0, 1, 2), (2, 1, 0), (1, 2, 0), teachers=3)]
PAIRS = list(neighbours(ReplaceOne(), RECORDS, 3))


# --- votes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", SCHOOLS, ids=lambda given: f"{given.partitions} partitions")
def test_votes_move_by_two_for_every_partition_and_no_further(which: TeachingPlan) -> None:
    """[bagging-votes] On all pairs of three records, and attained, so that any smaller constant is caught."""
    pairs = [pair.map(lambda records: which.votes(encoded(records))) for pair in PAIRS[:800:5]]
    for number in range(which.queries):
        query = which.query(number)
        assert query.sensitivity.value == 2.0 * which.partitions
        assert check_sensitivity(query, pairs).ratio == 1.0
        with pytest.raises(ClaimViolated):
            check_sensitivity(attrs.evolve(query, sensitivity=RangeSensitivity(0.9 * query.sensitivity.value)), pairs)


def test_more_divisions_cost_more_however_many_teachers_there_are() -> None:
    """Priced as one partition, two are found out: the paper's divisions are not free at a fixed noise."""
    pairs = [pair.map(lambda records: SCHOOLS[1].votes(encoded(records))) for pair in PAIRS[:800:5]]
    single = attrs.evolve(SCHOOLS[1].query(0), sensitivity=RangeSensitivity(2.0))
    with pytest.raises(ClaimViolated):
        check_sensitivity(single, pairs)


def test_votes_are_counted_teacher_by_teacher() -> None:
    """A teacher of one record says its label everywhere; the majority of a share is learnt where features tell."""
    sample = encoded(((0, 1, 1), (1, 0, 0), (1, 1, 1)))
    ballot = school((0, 1, 2), teachers=3).votes(sample)
    assert (ballot.votes.tolist(), ballot.voters, ballot.n) == ([2, 2, 2], 3, 3)
    assert school((0, 0, 0), teachers=1).votes(sample).votes.tolist() == [1, 0, 1]


def test_a_ballot_of_another_school_is_refused_and_shows_nothing() -> None:
    ballot = SCHOOLS[0].votes(encoded(((0, 1, 1), (1, 0, 0), (1, 1, 1))))
    with pytest.raises(ValueError, match="is not of these teachers"):
        SCHOOLS[1].query(0).check(ballot)
    assert repr(ballot) == "a ballot of 2 voters on 3 points by 3 records"


def test_two_candidates_are_bounded_range_at_eta_times_two_for_each_partition() -> None:
    """Exactly, for votes as far from even as can be: the width is used up when a landslide becomes a tie."""
    for which in SCHOOLS:
        k, total = which.partitions, which.partitions * which.teachers
        pairs = [
            Pair(VoteCounts(np.array([votes] * 3), total, 3), VoteCounts(np.array([votes + moved] * 3), total, 3))
            for votes in range(total)
            for moved in range(1, k + 1)
            if votes + moved <= total
        ]
        mechanism = which.verdict(0, 0.6, ScriptedNoise(()))
        assert check_mechanism(mechanism, pairs).ratio == pytest.approx(1.0)


# --- the whole learner, exactly ------------------------------------------------------------------------------------


def fitted(
    records: Records, noise: ScriptedNoise | PinnedNoise, partitions: int, delta: float = 0.0, queries: int = 3
) -> DPBaggingClassifier:
    model = DPBaggingClassifier(
        1.0,
        delta,
        teachers=2,
        partitions=partitions,
        queries=queries,
        public={"a": POINTS[0], "b": POINTS[1]},
        schema=LAYOUT.schema,
        random_state=noise,
    )
    return model.fit_encoded(encoded(records))


@pytest.mark.parametrize(("partitions", "delta"), [(1, 0.0), (2, 0.0), (2, 1e-3)])
def test_verdicts_lose_at_most_what_the_ledger_charged(partitions: int, delta: float) -> None:
    """Every sequence of verdicts on samples of two and three records, by `fit_encoded` as it is."""
    pairs = PAIRS[7:9] if delta else [*list(neighbours(ReplaceOne(), RECORDS, 2))[::100], *PAIRS[:2520:900]]
    probe = fitted(tuple(RECORDS[:3]), ScriptedNoise(()), partitions, delta)
    charged: dict[str, Cost] = {"ledger": probe.ledger_.spent}
    width = 2.0 * partitions * probe.eta_ * 3

    def run(records: Records, noise: ScriptedNoise) -> tuple[int, ...]:
        return fitted(records, noise, partitions, delta).model_.verdicts

    reports = check_learner(run, {**charged, "width": BoundedRange(width * (1.0 + 1e-9))}, pairs)
    assert reports[0].ratio <= 1.0
    if not delta:
        # One record turns every verdict of its teachers, so the whole width is used and a tenth less is caught.
        assert reports[1].ratio == pytest.approx(1.0, abs=1e-6)
        with pytest.raises(ClaimViolated):
            check_learner(run, {"a tenth less": BoundedRange(0.9 * width)}, pairs)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_everything_public_on_a_fitted_student_was_released_or_is_public(delta: float) -> None:
    def fit(records: Records, noise: PinnedNoise) -> DPBaggingClassifier:
        return fitted(records * 4, noise, 2, delta)

    distant: list[Pair[Records]] = [Pair(((0, 1, 1), (1, 0, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 0), (0, 0, 1)))]
    compared = check_fitted_surface(fit, distant)
    assert {"model_", "ledger_", "statement_", "eta_"} <= set(compared)


# --- data-dependent accounting -------------------------------------------------------------------------------------


def test_data_dependent_accounting_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="accounting: the personalised moments accountant computes ε from the votes"):
        DPBaggingClassifier(accounting="data-dependent", schema=WIDE).fit(*frame(200))
    with pytest.raises(ValueError, match="accounting: expected 'worst-case'"):
        DPBaggingClassifier(accounting="exact", schema=WIDE).fit(*frame(200))


def test_an_epsilon_that_depends_on_the_votes_tells_neighbours_apart() -> None:
    """[bagging-data-driven] What the votes at hand lose to the worst neighbour differs between two neighbours.

    So whoever is told that number, exactly, tells the two samples apart with certainty: its δ is 1 at every ε.
    """
    five = school((0, 1, 2, 3, 4), teachers=5)

    def law(votes: int) -> FloatArray:
        ballot = VoteCounts(np.full(five.queries, votes), 5, 5)
        return five.verdict(0, 1.0, ScriptedNoise(())).log_probabilities(ballot)

    def seen(votes: int) -> float:
        return max(float(np.max(np.abs(law(votes) - law(other)))) for other in (votes - 1, votes + 1))

    assert seen(1) > 1.1 * seen(2)


# --- the estimator -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_it_learns_on_frames_and_survives_json(tmp_path: Path, own: bool) -> None:
    table, y = frame(3000)
    public = frame(60, seed=9)[0] if own else None
    model = DPBaggingClassifier(4.0, public=public, schema=WIDE, random_state=0).fit(table, y)
    assert np.mean(model.predict(table) == y) > 0.85
    shares = model.predict_proba(table)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(shares[:, 1] > 0.5, model.predict(table) == "yes")
    model.save(tmp_path / "student.json")
    loaded = DPBaggingClassifier.load(tmp_path / "student.json")
    assert loaded.model_ == model.model_
    assert np.array_equal(loaded.decision_function(table), model.decision_function(table))


def test_more_privacy_theory_buys_more_queries_and_more_odds() -> None:
    def asked(epsilon: float, delta: float) -> int:
        target = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
        return decided(FitBudget(target, BasicComposition(), "test"), 400)

    assert asked(0.1, 0.0) == 10
    assert asked(1.0, 0.0) in (49, 50)
    assert asked(1.0, 1e-5) > 3 * asked(1.0, 0.0)
    assert asked(50.0, 0.0) == 1000
    assert 300 < decided(FitBudget(ZCDP(0.02), ZCDPComposition(), "test"), 400) < 500
    table, y = frame(400)
    eta = [
        DPBaggingClassifier(1.0, delta, queries=40, schema=WIDE, random_state=0).fit(table, y).eta_
        for delta in (0.0, 1e-5)
    ]
    assert eta[1] > 1.3 * eta[0]


def test_one_fit_is_one_charge_for_all_queries() -> None:
    ledger = Ledger(PureDP(1.5), composition=BasicComposition(), adjacency=ReplaceOne())
    model = DPBaggingClassifier(1.0, teachers=4, queries=7, schema=WIDE, ledger=ledger, random_state=0)
    seen: list[int] = []
    clone(model).fit(*frame(100), on_round=lambda number, verdict: seen.append(number))
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert settled(ledger)
    with pytest.raises(BudgetExceeded):
        clone(model).fit(*frame(100))


def test_public_points_do_not_depend_on_the_records_and_only_the_first_are_asked() -> None:
    table, y = frame(100)
    public = frame(30, seed=1)[0]
    model = DPBaggingClassifier(1.0, queries=12, public=public, schema=WIDE, random_state=0).fit(table, y)
    assert len(model.model_.verdicts) == 12
    assert len(DPBaggingClassifier(1.0, queries=12, schema=WIDE, random_state=0).fit(table, y).model_.verdicts) == 12


def test_one_sided_verdicts_teach_a_constant() -> None:
    taught = student(LAYOUT, POINTS, [1, 1, 1], 1.0)
    assert taught.scores(POINTS) == pytest.approx(np.log(4.0))
    assert student(LAYOUT, POINTS, [-1, -1, -1], 1.0).scores(POINTS) == pytest.approx(-np.log(4.0))


def test_a_student_learns_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS raises "invalid" at random for five float32 columns; where warnings are errors, a fit once failed by it.

    Shown by filling the stack with signalling numbers before X @ w, on AVX-512; the products themselves are right.
    """
    seen = list[np.dtype]()
    fit = LogisticRegression.fit

    def watched(self: LogisticRegression, X: FloatArray, y: FloatArray) -> LogisticRegression:
        seen.append(X.dtype)
        return fit(self, X, y)

    monkeypatch.setattr(LogisticRegression, "fit", watched)
    taught = student(LAYOUT, POINTS, [1, -1, 1], 1.0)
    assert seen == [np.float64]
    assert float(np.float32(taught.weights[-1])) != taught.weights[-1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"teachers": 0}, "teachers: expected a whole number"),
        ({"teachers": 101}, "teachers: 101 of them cannot share 100 records"),
        ({"queries": 0}, "queries: expected a whole number"),
        ({"partitions": 0}, "partitions: expected a whole number"),
        ({"teacher_depth": 17}, "teacher_depth: expected a depth"),
        ({"penalty": 0.0}, "penalty: expected a positive"),
        ({"public": {"age": [3.0]}}, "lacks the columns"),
        ({"public": {"age": [300.0], "job": ["a"], "member": [1]}}, "column 'age', row 0"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_charged(parameters: dict[str, object], message: str) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises((ValueError, TypeError), match=message):
        DPBaggingClassifier(schema=WIDE, ledger=ledger, random_state=0).set_params(**parameters).fit(*frame(100))
    assert len(ledger.entries) == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda model: model["weights"].pop(), "do not fit a schema"),
        (lambda model: model["weights"].__setitem__(0, float("nan")), "do not fit a schema"),
        (lambda model: model["verdicts"].__setitem__(0, 3), "verdicts: expected labels"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "student.json"
    DPBaggingClassifier(queries=10, schema=WIDE, random_state=0).fit(*frame(60)).save(path)
    record = json.loads(path.read_text())
    assert callable(damage)
    damage(record["model"])
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=message):
        DPBaggingClassifier.load(path)
