"""Whole learners by enumeration against their ledgers, under every rule of composition."""

from collections import deque
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from accountant import BasicComposition, ReplaceOne
from learners import LazyBoostClassifier, PrivateOneRule
from mechanisms import NoiseSource
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    ScriptedNoise,
    check_fitted_surface,
    check_learner,
    neighbours,
    table,
)
from proofs_tests.support.learners.tiny_learners import (
    LAYOUT,
    LEARNERS,
    RECORDS,
    Learner,
    Output,
    Record,
    charge,
    charges,
    one_rule,
    output,
)

SOME = [pair for number, pair in enumerate(neighbours(ReplaceOne(), RECORDS, 2)) if number % 9 == 0]


@pytest.mark.parametrize("learner", LEARNERS, ids=["boosted 1-Rules", "boosted depth-1 trees"])
def test_a_boosted_learner_costs_what_its_ledger_says_under_every_rule(
    learner: Callable[[NoiseSource], Learner],
) -> None:
    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
        return output(learner(noise), records)

    reports = check_learner(run, charges(learner), SOME)
    assert all(0.1 < report.ratio <= 1.0 for report in reports), table(reports)


def test_a_learner_that_draws_more_sharply_than_it_pays_for_is_found() -> None:
    """Its η is a quarter above the one its ledger was told."""
    charged = charge(one_rule(ScriptedNoise(())), BasicComposition(), 0.0)

    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
        return output(PrivateOneRule(LAYOUT, 4.0, noise), records)

    with pytest.raises(ClaimViolated, match=r"sharper: ApproxDP.*: refuted;"):
        check_learner(run, {"sharper": charged}, SOME)


# --- what a fitted estimator shows -----------------------------------------------------------------------------


def fitted(records: tuple[Record, ...], noise: PinnedNoise) -> LazyBoostClassifier:
    model = LazyBoostClassifier(1.0, 1e-6, rounds=4, random_state=noise)
    table = np.array(records * 5)
    return model.fit(table[:, :2], table[:, 2])


DISTANT = [Pair(((0, 1, 1), (1, 0, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 0), (0, 0, 1)))]


def test_everything_public_on_a_fitted_estimator_was_released_or_is_public() -> None:
    compared = check_fitted_surface(fitted, DISTANT)
    assert {"model_", "ledger_", "statement_", "eta_", "classes_", "n_features_in_"} <= set(compared)


def test_an_attribute_that_nobody_paid_for_is_found() -> None:
    """LazyBB's `err_`, say: the exact weighted error of what was chosen."""

    def leaky(records: tuple[Record, ...], noise: PinnedNoise) -> LazyBoostClassifier:
        model = fitted(records, noise)
        model.err_ = float(np.mean([record[2] for record in records]))
        return model

    with pytest.raises(ClaimViolated, match=r"unpaid: err_"):
        check_fitted_surface(leaky, DISTANT)


class Slotted:
    """Shows its records through a slot."""

    __slots__ = ("kept",)

    def __init__(self, kept: object) -> None:
        self.kept = kept


@pytest.mark.parametrize(
    "hidden",
    [
        lambda records: pd.DataFrame(records),
        lambda records: Slotted(records),
        lambda records: DecisionTreeClassifier().fit(np.array(records)[:, :2], np.array(records)[:, 2]),
        lambda records: np.array([list(records), None], dtype=object),
        lambda records: deque(records),
        lambda records: lambda: records,
    ],
    ids=["frame", "slots", "nested estimator", "object array", "deque", "closure"],
)
def test_what_holds_the_records_is_seen_however_it_is_wrapped(hidden: Callable[[tuple[Record, ...]], object]) -> None:
    def leaky(records: tuple[Record, ...], noise: PinnedNoise) -> LazyBoostClassifier:
        model = fitted(records, noise)
        model.kept_ = {"deep": [hidden(records)]}
        return model

    with pytest.raises(ClaimViolated, match=r"unpaid: kept_"):
        check_fitted_surface(leaky, DISTANT, seeds=1)
