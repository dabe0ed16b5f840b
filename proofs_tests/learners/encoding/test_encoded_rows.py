"""Boosted 1-Rules and trees over records in blocks: the same releases, bit by bit, however the records are stored."""

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import cloudpickle  # type: ignore[import-untyped]  # ships no types
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne, Reservation
from accountant.arrays import CodeArray, SignArray
from boosting import LazyBregman
from boosting.reweighted_sample import GRID, BoostingStep, Reweighted, margins_of
from learners import Categorical, EncodedSample, Layout, LazyBoostClassifier, Numeric, Schema
from learners.blocks.files import FileRows, StoredBlock
from learners.encoding.encoded_rows import EncodedRows, check_rows
from learners.votes.majority_vote import VoteModel
from learners.votes.one_rules import OneRule
from learners.votes.weak_learners import CodeHypothesis
from mechanisms.core.rows import Block, MemoryRows, Rows, Sums
from proofs_tests.support.learners.bars import PrivateBars
from proofs_tests.support.ledgers.separate import separate

SCHEMA = Schema(
    (
        Numeric("age", 0, 8, bins=8, encoding="thresholds"),
        Categorical("job", ("a", "b", "c")),
        Categorical("s", ("f", "m")),
    )
)
LAYOUT = Layout(SCHEMA)
KINDS: dict[str, dict[str, Any]] = {
    "one-rule": {"rounds": 6},
    "one-rule, permute-and-flip": {"rounds": 4, "selection": "permute-and-flip"},
    "calibrated": {"rounds": 3, "calibration": 0.3},
    "trees": {"rounds": 2, "weak_learner": "top-down", "criterion": "gini"},
    "trees by error": {"rounds": 2, "weak_learner": "top-down", "criterion": "error", "splits": 4, "depth": 3},
    "a user's": {"rounds": 4, "weak_learner": PrivateBars},
}


def records(n: int, seed: int) -> EncodedSample:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, column.cells, n) for column in SCHEMA.columns]).astype(np.uint8)
    labels = np.where(codes[0] + 3 * codes[2] + rng.normal(0.0, 2.0, n) > 5, 1, -1).astype(np.int8)
    labels[:2] = -1, 1
    return EncodedSample(LAYOUT, codes, labels)


def part(sample: EncodedSample, start: int, end: int) -> EncodedSample:
    return EncodedSample(sample.layout, sample.codes[:, start:end], sample.labels[start:end])


def in_memory(sample: EncodedSample, cuts: list[int]) -> EncodedRows:
    ends = [0, *sorted(set(cuts) - {0, sample.n}), sample.n]
    parts = [part(sample, *pair) for pair in itertools.pairwise(ends)]
    return EncodedRows(sample.layout, MemoryRows.parts(parts, [each.n for each in parts]))


def in_files(sample: EncodedSample, cuts: list[int]) -> EncodedRows:
    ends = [0, *sorted(set(cuts) - {0, sample.n}), sample.n]
    blocks = [
        StoredBlock(lambda start=start, end=end: part(sample, start, end), start, end - start)  # type: ignore[misc]  # mypy cannot infer lambdas with defaults
        for start, end in itertools.pairwise(ends)
    ]
    return EncodedRows(sample.layout, FileRows(tuple(blocks)).kept())


def fitted(kind: str, sample: EncodedSample | EncodedRows, **settings: object) -> LazyBoostClassifier:
    chosen: dict[str, Any] = {"density": 0.4, "learning_rate": 0.3, **KINDS[kind], **settings}
    return LazyBoostClassifier(1.0, 1e-6, random_state=7, **chosen).fit_encoded(sample)


def said(model: LazyBoostClassifier) -> tuple[object, ...]:
    """Everything that was released."""
    kept: VoteModel = model.model_
    return kept.rules, kept.calibration, model.eta_, model.ledger_.spent


# --- equality ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.lists(st.integers(1, 59), max_size=6))
def test_however_the_records_are_cut_the_releases_are_the_same(kind: str, n: int, seed: int, cuts: list[int]) -> None:
    sample = records(n, seed)
    cuts = [cut for cut in cuts if cut < n]
    one = said(fitted(kind, sample))
    assert said(fitted(kind, in_memory(sample, cuts))) == one
    assert said(fitted(kind, in_files(sample, cuts))) == one


@pytest.mark.parametrize("kind", ["one-rule", "trees"])
def test_also_where_blocks_are_larger_than_those_that_sums_are_made_in(kind: str) -> None:
    sample = records(2**17 + 77, 3)
    one = said(fitted(kind, sample))
    assert said(fitted(kind, in_memory(sample, [1, 70_000, 70_001]))) == one
    assert said(fitted(kind, in_files(sample, [5, 100_000]))) == one


@separate
def test_quantile_cuts_are_the_same_too() -> None:
    rng = np.random.default_rng(0)
    X = {"age": rng.exponential(2.0, 500).clip(0.0, 50.0), "s": rng.choice(np.array(["f", "m"]), 500)}
    y = np.where(X["age"] > 1.5, 1, 0)
    schema = Schema((Numeric("age", 0.0, 50.0), Categorical("s", ("f", "m"))))
    model = LazyBoostClassifier(2.0, 1e-6, rounds=3, quantile_bins=4, schema=schema, random_state=1)
    sample = model.encoded(X, y)
    one = model.fit_encoded(sample).model_
    again = model.fit_encoded(in_memory(sample, [1, 333])).model_
    assert (again.rules, again.schema) == (one.rules, one.schema)


@attrs.frozen
class Leaning(CodeHypothesis):
    """Real-valued: how old somebody is."""

    def on_codes(self, layout: Layout, codes: CodeArray) -> Any:
        return codes[0] / 7.0 - 0.5


def test_real_predictions_are_whole_numbers_of_the_grid_in_every_block() -> None:
    sample, booster = records(50, 1), LazyBregman(0.4, 0.3)
    rules = [OneRule(1, 1), Leaning(), Leaning()]

    def weighted(rows: Rows[EncodedSample]) -> Reweighted[EncodedSample]:
        state = booster.start(rows)
        for rule in rules:
            state = booster.step(state, rule)
        return state

    whole, cut = weighted(MemoryRows.of(sample, 50)), weighted(in_memory(sample, [3, 20]).rows)
    assert np.array_equal(whole.total(EncodedSample.label_sums), cut.total(EncodedSample.label_sums))
    exact = sample.labels * sum(np.asarray(rule.on_codes(LAYOUT, sample.codes), dtype=np.float64) for rule in rules)
    assert np.max(np.abs(whole.margins - exact)) <= len(rules) / (2.0 * GRID)
    assert np.array_equal(whole.margins * GRID, np.rint(whole.margins * GRID))


# --- where margins are, and when records are looked at ------------------------------------------------------------


class Watched(MemoryRows[EncodedSample]):
    """Counts visits, and which of them happened while nothing was being released."""

    inside = False
    visits: list[bool] = []

    def total(self, work: Callable[[Block[EncodedSample]], Sums]) -> Sums:
        cloudpickle.loads(cloudpickle.dumps(work))  # whatever it is, it can be sent
        Watched.visits.append(Watched.inside)
        return super().total(work)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    real = Reservation.release

    def release(self: Reservation, mechanism: Any, data: Any) -> Any:
        Watched.inside = True
        try:
            return real(self, mechanism, data)
        finally:
            Watched.inside = False

    monkeypatch.setattr(Reservation, "release", release)
    Watched.visits = []
    yield Watched.visits
    Watched.inside = False


@pytest.mark.parametrize(
    ("kind", "most"), [("one-rule", 2), ("one-rule, permute-and-flip", 2), ("trees", 4), ("a user's", 2)]
)
def test_records_are_visited_inside_releases_alone_and_as_often_as_rounds_need(
    kind: str, most: int, watched: list[bool]
) -> None:
    """A round counts margins once, and adds up weights once for each split; the check before the charge is a visit."""
    sample = records(300, 0)
    cut = in_memory(sample, [100, 101]).rows
    assert isinstance(cut, MemoryRows)
    fitted(kind, EncodedRows(LAYOUT, Watched(cut.blocks)))
    assert watched[0] is False
    assert all(watched[1:])
    assert len(watched) - 1 == most * KINDS[kind]["rounds"] - 1  # all margins are 0 in the first round


def test_margins_stay_with_their_block_and_are_found_again_when_lost() -> None:
    sample, rules = records(40, 2), tuple(map(BoostingStep, (OneRule(1, 1), OneRule(3, -1), OneRule(-1, 1))))
    block = Block(sample, 0, 40)
    kept = margins_of(block, rules).values
    first = margins_of(Block(sample, 0, 40), rules[:1]).values
    assert np.array_equal(margins_of(block, rules[:1]).values, first)  # an older state
    assert np.array_equal(margins_of(block, rules).values, kept)
    again = pickle.loads(pickle.dumps(block))  # noqa: S301  # what Dask does where a block moves to another worker
    assert not again.scratch
    assert np.array_equal(margins_of(again, rules).values, kept)


def test_a_visit_adds_new_hypotheses_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a run of T rounds would take T² predictions."""
    asked: list[int] = []
    real = OneRule.on_codes

    def counted(self: OneRule, layout: Layout, codes: CodeArray) -> Any:
        asked.append(codes.shape[1])
        return real(self, layout, codes)

    monkeypatch.setattr(OneRule, "on_codes", counted)
    fitted("one-rule", in_memory(records(60, 0), [20]), rounds=30)
    assert sum(asked) == 60 * 29


def test_nothing_that_there_is_one_of_for_each_record_comes_back() -> None:
    sizes: list[int] = []

    class Measured(MemoryRows[EncodedSample]):
        def total(self, work: Callable[[Block[EncodedSample]], Sums]) -> Sums:
            found = super().total(work)
            sizes.append(found.size)
            return found

    for n in (200, 3000):
        cut = in_memory(records(n, 0), [50]).rows
        assert isinstance(cut, MemoryRows)
        fitted("trees", EncodedRows(LAYOUT, Measured(cut.blocks)))
    half = len(sizes) // 2
    assert sizes[:half] == sizes[half:]
    assert max(sizes) == 2 * (LAYOUT.d + 1)


# --- what is refused, before anything is charged ------------------------------------------------------------------


def unpaid(sample: EncodedRows, match: str) -> None:
    ledger = Ledger(PureDP(5.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match=match):
        LazyBoostClassifier(0.5, rounds=2, ledger=ledger).fit_encoded(sample)
    assert len(ledger.entries) == 1


def test_blocks_that_are_not_what_they_say_are_refused_before_the_charge() -> None:
    sample = records(30, 0)
    wrong: npt.NDArray[np.uint8] = sample.codes.astype(np.uint8)
    wrong[1, 25] = 3
    unpaid(in_memory(EncodedSample(LAYOUT, wrong, sample.labels), [20]), "column 'job': a code is outside 0 to 2")
    labels = sample.labels.copy()
    labels[-1] = 0
    unpaid(in_memory(EncodedSample(LAYOUT, sample.codes, labels), [20]), "a label is not among -1 and 1")
    unpaid(EncodedRows(LAYOUT, MemoryRows.parts([sample], [31])), "a block of 31 records holds 30")
    other = Layout(Schema(SCHEMA.columns[:2]))
    mixed = MemoryRows.parts([sample, EncodedSample(other, sample.codes[:2], sample.labels)], [30, 30])
    unpaid(EncodedRows(LAYOUT, mixed), "the blocks are encoded by different schemas")


def test_records_in_several_blocks_are_not_looked_at_one_by_one() -> None:
    state = LazyBregman(0.5, 0.3).start(in_memory(records(10, 0), [4]).rows)
    for look in (lambda: state.sample, lambda: state.margins, lambda: state.measure):
        with pytest.raises(ValueError, match="several blocks"):
            look()
    assert "sealed" in repr(in_memory(records(10, 0), [4]))
    check_rows(in_memory(records(10, 0), [4]), 2)


@attrs.frozen
class Sure(CodeHypothesis):
    """±1 in another type than usual."""

    kind: str

    def on_codes(self, layout: Layout, codes: CodeArray) -> Any:
        return np.where(codes[0] > 3, 1, -1).astype(self.kind)


@pytest.mark.parametrize("kind", ["int16", "int32", "int64"])
def test_types_of_labels_and_predictions_do_not_show(kind: str) -> None:
    """32-bit integers once marked margins on the grid, and wide ones after a real hypothesis lost that mark."""
    sample, booster = records(60, 4), LazyBregman(0.4, 0.3)
    wide = EncodedSample(LAYOUT, sample.codes, sample.labels.astype(kind))
    for rules in ([Sure(kind), OneRule(1, 1)], [Leaning(), Sure(kind)], [Sure(kind), Leaning(), Sure(kind)]):
        plain = [Sure("int8") if isinstance(rule, Sure) else rule for rule in rules]
        found = []
        for each, steps in ((sample, plain), (wide, rules)):
            state = booster.start(each)
            for rule in steps:
                state = booster.step(state, rule)
            found.append(state.total(EncodedSample.label_sums))
        assert np.array_equal(found[0], found[1])
    assert said(fitted("one-rule", wide)) == said(fitted("one-rule", sample))
    assert said(fitted("one-rule", in_files(wide, [20]))) == said(fitted("one-rule", sample))


@attrs.frozen(eq=False)
class Apart(CodeHypothesis):
    """No two of these are equal, and no copy of one is equal to it."""

    rule: OneRule
    asked: list[int] = attrs.field(factory=list)

    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        self.asked.append(codes.shape[1])
        return self.rule.on_codes(layout, codes)


def test_hypotheses_without_equality_are_asked_once_too_where_they_travel() -> None:
    """Copies of them come to a worker with each visit; told apart by ==, all of them would be asked again."""
    block, state = Block(records(30, 0), 0, 30), LazyBregman(0.4, 0.3).start(records(30, 0))
    asked = 0
    for feature in range(6):
        state = LazyBregman(0.4, 0.3).step(state, Apart(OneRule(feature, 1)))
        sent = cloudpickle.loads(cloudpickle.dumps(state.steps))
        margins_of(block, sent)
        margins_of(block, cloudpickle.loads(cloudpickle.dumps(state.steps)))
        asked += sum(len(step.hypothesis.asked) for step in sent)
    assert asked == 6
