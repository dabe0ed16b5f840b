"""What tables in blocks promise, for every learner that takes them, on files and on a cluster of real processes."""

import contextlib
import os
import signal
import time
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from accountant import ApproxDP, BasicComposition, FeatureValue, Ledger, PureDP, ReplaceOne
from accountant.arrays import CodeArray, SignArray
from learners import LazyBoostClassifier, MappedTable, PrivateOneRule
from learners.encoding.encoder import Layout
from learners.votes.weak_learners import CodeHypothesis
from mechanisms import Slickness
from proofs_tests.support.learners.in_blocks import (
    LABEL,
    LEARNERS,
    WatchedTable,
    in_parquet,
    people,
    released,
    schema,
    watched_releases,
)
from proofs_tests.support.programs.clusters import PATIENCE, Cluster, ended_after, killed_when, started

every_learner = pytest.mark.parametrize("name", LEARNERS)


@cache
def in_memory(name: str) -> str:
    frame = people()
    return released(LEARNERS[name]().fit(frame.drop(columns=[LABEL]), frame[LABEL]))


def collection(frame: pd.DataFrame, partitions: int) -> Any:
    return dask.dataframe.from_pandas(frame, npartitions=partitions)  # type: ignore[no-untyped-call]  # Dask's


def from_collection(name: str, table: Any) -> str:
    return released(LEARNERS[name]().fit(table, LABEL))


@every_learner
@pytest.mark.parametrize(("sizes", "block"), [((), 1000), ((100, 1, 200), 50), ((300,), 7)])
def test_parquet_files_give_what_a_frame_in_memory_gives(
    name: str, sizes: tuple[int, ...], block: int, tmp_path: Path
) -> None:
    table = in_parquet(people(), tmp_path, sizes, block=block)
    assert released(LEARNERS[name]().fit(table, LABEL)) == in_memory(name)


@pytest.mark.parametrize("name", LEARNERS)
def test_arrays_on_disk_give_what_arrays_in_memory_give(name: str, tmp_path: Path) -> None:
    frame = people()
    X, y = frame.drop(columns=[LABEL]).to_numpy(), frame[LABEL].to_numpy(dtype=str)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    table, fits = MappedTable(tmp_path / "X.npy", block=50), [LEARNERS[name](), LEARNERS[name]()]
    for each in fits:
        if getattr(each, "sensitive", ()):
            each.sensitive = [3]  # "mean area", as arrays name no columns
    assert released(fits[0].fit(table, tmp_path / "y.npy")) == released(fits[1].fit(X, y))


@every_learner
def test_a_cluster_gives_the_same_with_two_workers_and_with_rows_partitioned_anew(
    name: str, computing: Cluster
) -> None:
    table = collection(people(), 5)
    assert from_collection(name, table) == in_memory(name)
    assert from_collection(name, table.repartition(npartitions=2)) == in_memory(name)


def test_one_worker_and_four_give_the_same(tmp_path: Path) -> None:
    names = ["boosted 1-Rules", "boosted trees", "halfspace", "random features by descent"]
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(started(tmp_path, 1))
        stack.enter_context(ended_after(3.0 * PATIENCE))
        stack.enter_context(cluster.client.as_current())
        assert all(from_collection(name, collection(people(), 8)) == in_memory(name) for name in names)
        for _ in range(3):
            stack.enter_context(cluster.worker())
        assert len(cluster.addresses()) == 4
        assert all(from_collection(name, collection(people(), 8)) == in_memory(name) for name in names)


# --- when records are looked at -------------------------------------------------------------------------------------

VISITS = {
    "additive boosting": 2 + 2 * (2 * 30) + 1,
    "additive boosting with pairs, settings chosen privately": 2 + 31 + 1,
    "boosted 1-Rules": 2 * 8 - 1,
    "boosted 1-Rules, calibrated, at private quantiles": 30 + 2 * 4 - 1 + 1,
    "boosted trees": (1 + 3) * 3 - 1,
    "halfspace": 1 + 2 * 5 - 1,
    "rados": 2,
    "boosting on rados of a protected column": 5,
    "random features by descent": 1 + 6,
    "random features by adassp": 1,
}
"""Inside releases: of additive boosting two for histograms, one in each round, which is made twice where pairs may be
chosen and do not pay, and one for the calibration or the count of what one run, with this seed, gets right; of 1-Rules
margins and sums in each round, of trees margins and a sum for each split, of halfspaces margins and the mean, after a
count of points; in the first round all margins are 0. Quantiles of a column take one, and so do moments, each
gradient, rados, and sizes, means and deviations of public columns beside protected ones."""


@every_learner
def test_records_are_visited_inside_releases_alone_and_as_often_as_rounds_need(name: str) -> None:
    """But for the checks, which come before anything is charged, and say nothing unless something is wrong."""
    table = WatchedTable(people(), (100, 1, 200))
    with watched_releases():
        found = released(LEARNERS[name]().fit(table, LABEL))
    assert found == in_memory(name)
    first = table.visits.index(True)
    assert all(table.visits[first:]), "records were looked at outside of a release, after the charge"
    assert len(table.visits) - first == VISITS[name]
    assert first <= 3


@every_learner
def test_blocks_of_one_class_are_learnt_from_as_in_memory(name: str) -> None:
    """[records-alone] Whether a second class occurs may depend on one record."""
    frame = people().assign(**{LABEL: "benign"})
    alone = released(LEARNERS[name]().fit(frame.drop(columns=[LABEL]), frame[LABEL]))
    assert released(LEARNERS[name]().fit(WatchedTable(frame, (100,)), LABEL)) == alone


def test_one_block_of_one_class_is_nothing_special() -> None:
    frame = people().sort_values(LABEL, ignore_index=True)
    model = LEARNERS["boosted trees"]()
    alone = released(model.fit(frame.drop(columns=[LABEL]), frame[LABEL]))
    assert released(LEARNERS["boosted trees"]().fit(WatchedTable(frame, (10, 20)), LABEL)) == alone


def ledger_for(learner: Any) -> Ledger:
    protected = getattr(learner, "sensitive", ())
    relation = FeatureValue(schema().names.index("mean area")) if protected else ReplaceOne()
    return Ledger(ApproxDP(5.0, 1e-4), composition=BasicComposition(), adjacency=relation)


# --- a worker that dies -------------------------------------------------------------------------------------------


@attrs.frozen
class Slow(CodeHypothesis):
    """A 1-Rule that takes its time and says where it is asked, so that somebody can kill whoever is at it."""

    rule: CodeHypothesis
    marker: str | None = None

    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        if self.marker is not None:
            Path(self.marker).touch()
            time.sleep(0.3)
        return self.rule.on_codes(layout, codes)


class SlowRules(PrivateOneRule):
    """1-Rules, of which the third is slow. `marker`: set by the test."""

    marker: str
    learnt: int

    def learn(self, spender: Any, data: Any, slickness: Slickness) -> Any:
        SlowRules.learnt += 1
        return Slow(super().learn(spender, data, slickness), SlowRules.marker if SlowRules.learnt == 3 else None)


def boosted() -> LazyBoostClassifier:
    SlowRules.learnt = 0
    return LazyBoostClassifier(
        1.0,
        1e-5,
        weak_learner=lambda layout, eta, noise: SlowRules(layout, eta, noise),
        rounds=6,
        schema=schema(),
        random_state=3,
    )


def rules_of(model: LazyBoostClassifier) -> list[object]:
    return [rule.rule for rule in model.model_.rules]


@pytest.mark.parametrize("nanny", [False, True], ids=["gone for good", "started again"])
def test_a_worker_killed_in_mid_round_changes_neither_the_model_nor_the_books(
    nanny: bool, cluster: Cluster, tmp_path: Path
) -> None:
    """Its blocks are made again, and their margins from the rules; nothing is drawn or charged a second time."""
    frame = people()
    SlowRules.marker = str(tmp_path / "before")
    alone = boosted().fit(frame.drop(columns=[LABEL]), frame[LABEL])
    SlowRules.marker = str(tmp_path / "now")
    table = collection(frame, 6)
    with (
        ended_after(2.0 * PATIENCE),
        cluster.worker(nanny=nanny) as address,
        cluster.client.as_current(),
        killed_when(tmp_path / "now", cluster.pid(address)),
    ):
        model = boosted().fit(table, LABEL)
    assert rules_of(model) == rules_of(alone)
    entries = [[{**each.record, "time": 0, "id": ""} for each in one.ledger_.entries] for one in (model, alone)]
    assert entries[0] == entries[1]
    assert model.eta_ == alone.eta_
    assert model.ledger_.spent == alone.ledger_.spent


@pytest.mark.parametrize("name", ["boosted trees", "halfspace"])
def test_whoever_loses_a_worker_gets_the_same(name: str, cluster: Cluster) -> None:
    with ended_after(2.0 * PATIENCE), cluster.worker() as address, cluster.client.as_current():

        def kill(number: int, hypothesis: object) -> None:
            if number == 2:
                os.kill(pid, signal.SIGKILL)

        pid, table = cluster.pid(address), collection(people(), 9)
        assert released(LEARNERS[name]().fit(table, LABEL, on_round=kill)) == in_memory(name)


def test_work_that_fails_for_good_ends_the_fit_and_leaves_its_charge(computing: Cluster) -> None:
    """What was drawn before stays drawn, nothing more is, and the reason is told."""

    class Failing(CodeHypothesis):
        def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
            raise RuntimeError("no space left")

    class FailingRules(PrivateOneRule):
        def learn(self, spender: Any, data: Any, slickness: Slickness) -> Any:
            super().learn(spender, data, slickness)
            return Failing()

    model = LazyBoostClassifier(
        1.0,
        weak_learner=lambda layout, eta, noise: FailingRules(layout, eta, noise),
        rounds=3,
        schema=schema(),
        random_state=0,
    )
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    model.ledger = ledger
    with pytest.raises(RuntimeError, match="no space left"):
        model.fit(collection(people(), 3), LABEL)
    kinds = [entry.record["kind"] for entry in ledger.entries]
    assert kinds == ["opened", "charged", "released"]
    assert PureDP(0.99) <= ledger.spent <= PureDP(1.0)  # type: ignore[operator]  # it is of the budget's kind
