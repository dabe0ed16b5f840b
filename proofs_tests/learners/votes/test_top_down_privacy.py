"""DP-TopDown by enumeration: the exact law of trees, and of boosted trees, against what ledgers charge for them.

Nothing is modelled: `boost` runs on a real ledger, with a noise source that plays every sequence of choices.
"""

import attrs
import pytest

from accountant import (
    ZCDP,
    BasicComposition,
    Cost,
    Ledger,
    NotSpendable,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from boosting import LazyBregman, boost, boosting_plan, certificates
from learners.base.selection_rules import Selection
from learners.votes import top_down
from learners.votes.top_down import Criterion, PrivateTopDown
from mechanisms import (
    ERROR_IMPROVEMENT,
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    L1Sensitivity,
    NoiseSource,
    RangeSensitivity,
    SeededNoise,
)
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    Report,
    ScriptedNoise,
    check_learner,
    neighbours,
    table,
)
from proofs_tests.support.learners.tiny_learners import (
    HUGE,
    LAYOUT,
    RECORDS,
    RULES,
    Output,
    Record,
    encoded,
)

Records = tuple[Record, ...]
PAIRS = list(neighbours(ReplaceOne(), RECORDS, 2))
WORST: list[Pair[Records]] = [
    Pair(((0, 0, 0), (0, 1, 1)), ((1, 1, 0), (0, 1, 1))),
    Pair(((0, 0, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1))),
    Pair(((0, 0, 0), (0, 0, 0)), ((0, 0, 1), (0, 0, 0))),
]
"""Where a search over all pairs of two records found the largest losses."""


@attrs.frozen
class Setting:
    """One boosted run of private trees; eta is the splits'."""

    splits: int
    eta: float
    label_width: float = 1.0
    rounds: int = 1
    density: float = 1.0
    depth: int | None = None
    selection: Selection = "exponential"
    criterion: Criterion = "gini"

    def learner(self, noise: NoiseSource) -> PrivateTopDown:
        return PrivateTopDown(
            LAYOUT, self.eta, self.splits, self.depth, self.criterion, self.selection, self.label_width, noise
        )  # fmt: skip

    @property
    def booster(self) -> LazyBregman:
        return LazyBregman(self.density, 0.4)

    def run(self, records: Records, noise: ScriptedNoise) -> Output:
        """What is released, on a ledger that can pay anything."""
        ledger, sample = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne()), encoded(records)
        return tuple(boost(ledger.protect(sample), sample.n, self.booster, self.learner(noise), self.rounds, ledger))

    def charges(self, n: int) -> dict[str, Cost]:
        """What ledgers with every rule charge for the plan, by a name for the report."""
        learner = self.learner(ScriptedNoise(()))
        plan = boosting_plan(learner, certificates(self.booster, self.rounds, n))
        found = {}
        for rule, delta in RULES:
            ledger = Ledger(HUGE, composition=rule, adjacency=ReplaceOne())
            with ledger.reserve(plan, adjacency=ReplaceOne(), delta=delta) as reserved:
                sample = encoded(tuple(RECORDS[:n]))
                boost(ledger.protect(sample), n, self.booster, learner, self.rounds, reserved)
            found[f"{self}, {rule.name}{', as a plan' * bool(delta)}"] = ledger.spent
        zcdp = Ledger(ZCDP(1e6), composition=ZCDPComposition(), adjacency=ReplaceOne())
        zcdp.reserve(plan, adjacency=ReplaceOne())
        return {**found, f"{self}, ρ": zcdp.spent}

    def check(self, pairs: list[Pair[Records]]) -> list[Report]:
        return check_learner(self.run, self.charges(2), pairs)


def some(every: int) -> list[Pair[Records]]:
    return [*WORST, *PAIRS[::every]]


CASES = [
    (Setting(splits=1, eta=3.0), some(2)),
    (Setting(splits=2, eta=1.0), some(9)),
    (Setting(splits=2, eta=20.0), some(9)),
    (Setting(splits=3, eta=2.0, depth=2), some(90)),
    (Setting(splits=2, eta=3.0, selection="permute-and-flip"), some(25)),
    (Setting(splits=2, eta=4.0, criterion="error"), some(9)),
    (Setting(splits=1, eta=2.0, rounds=2, density=0.75), some(25)),
    (Setting(splits=2, eta=2.0, rounds=2, density=0.75), WORST[:1]),
]


@pytest.mark.parametrize(
    ("setting", "pairs"), CASES, ids=lambda value: str(value) if isinstance(value, Setting) else "pairs"
)
def test_trees_lose_at_most_what_is_charged(setting: Setting, pairs: list[Pair[Records]]) -> None:
    """[001-Thm9] Splits and labels of one tree or of two boosted ones, under every rule of composition."""
    reports = setting.check(pairs)
    assert all(report.ratio <= 1.0 for report in reports)
    # The sums of ρ and of ε; at a δ of 1e-5 what one release loses in every case is far below the bounds.
    sums = [report.ratio for report in reports if report.subject.endswith(("ρ", "basic"))]
    assert len(sums) == 2
    assert all(ratio > 0.3 for ratio in sums), table(reports)


# --- a constant 10 % smaller is caught -------------------------------------------------------------------------------

SPLIT_ONLY = Setting(splits=1, eta=0.05, label_width=0.02)
ERRORS_ONLY = attrs.evolve(SPLIT_ONLY, eta=0.2, criterion="error")
LABELS_ONLY = Setting(splits=1, eta=0.002, label_width=50.0)


@pytest.mark.parametrize("setting", [SPLIT_ONLY, ERRORS_ONLY, LABELS_ONLY], ids=["split", "split by error", "labels"])
def test_both_constants_are_attained(setting: Setting) -> None:
    """With little noise on one of them the whole ρ is lost, so that the next test can fail."""
    worst = next(report for report in setting.check(PAIRS) if report.subject.endswith("ρ"))
    assert 0.98 < worst.ratio <= 1.0


def test_a_split_priced_ten_percent_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """[001-Thm9] 7.2ζ for 8ζ(1 − ζ), roughly: 0.9 of the range of the change of improvements."""
    monkeypatch.setitem(top_down.CRITERIA, "gini", attrs.evolve(GINI_IMPROVEMENT, sensitivity=_smaller_range))
    with pytest.raises(ClaimViolated, match=": refuted;"):
        SPLIT_ONLY.check(PAIRS)


def test_a_split_by_error_priced_ten_percent_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """[error-improvement] 1.8ζ for 2ζ."""

    def smaller(zeta: float) -> RangeSensitivity:
        return RangeSensitivity(0.9 * ERROR_IMPROVEMENT.sensitivity(zeta).value)

    monkeypatch.setitem(top_down.CRITERIA, "error", attrs.evolve(ERROR_IMPROVEMENT, sensitivity=smaller))
    with pytest.raises(ClaimViolated, match=": refuted;"):
        ERRORS_ONLY.check(PAIRS)


def _smaller_range(zeta: float) -> RangeSensitivity:
    return RangeSensitivity(0.9 * GINI_IMPROVEMENT.sensitivity(zeta).value)


def test_labels_priced_ten_percent_too_low_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """[001-leaf-labels] 1.8ζ for 2ζ."""
    honest = LABELS_ONLY.learner(SeededNoise(0)).label_mechanism(0.5).randomizer.eta
    monkeypatch.setattr(top_down, "LEAF_GAPS", attrs.evolve(LEAF_GAPS, sensitivity=_smaller_l1))
    # Widths are kept by noise scales, so the labels' η rises instead: by a ninth.
    assert LABELS_ONLY.learner(SeededNoise(0)).label_mechanism(0.5).randomizer.eta == pytest.approx(honest / 0.9)
    with pytest.raises(ClaimViolated, match=": refuted;"):
        LABELS_ONLY.check(PAIRS)


def _smaller_l1(zeta: float) -> L1Sensitivity:
    return L1Sensitivity(0.9 * LEAF_GAPS.sensitivity(zeta).value)


def test_a_release_that_is_not_announced_is_refused() -> None:
    """A tree with one split more than its plan: the split arrives where the labels were reserved, and costs more."""
    ledger, told, done = (
        Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne()),
        Setting(splits=1, eta=1.0, label_width=0.5),
        Setting(splits=2, eta=1.0, label_width=0.5),
    )
    data = ledger.protect(told.booster.start(encoded(tuple(RECORDS[:2]))))
    runs = certificates(told.booster, 1, 2)
    noise = SeededNoise(0)
    with (
        ledger.reserve(boosting_plan(told.learner(noise), runs), adjacency=ReplaceOne()) as reserved,
        pytest.raises(NotSpendable, match="round 2 was reserved at"),
    ):
        done.learner(noise).learn(reserved, data, runs[0][0])
