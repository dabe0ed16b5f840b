"""Cuts at private quantiles: what they cost, that they are functions of codes, and that they follow the data."""

import itertools
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    BasicComposition,
    BoundedRange,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.composition.calibration import GRAINY
from learners import Boolean, Categorical, LazyBoostClassifier, Numeric, Schema
from learners.encoding import partitions
from learners.encoding.encoder import EncodedSample, Layout
from learners.encoding.quantile_cuts import Merged, QuantileCuts, finely_cut, is_fine
from mechanisms import SeededNoise
from proofs_tests.harness import Pair, PinnedNoise, ScriptedNoise, check_fitted_surface, check_learner

Array = npt.NDArray[Any]

SCHEMA = Schema(
    (
        Numeric("amount", 0, 1000),
        Categorical("job", ("clerk", "smith", "none")),
        Numeric("grade", 0, 10, cuts=(3, 7)),
        Boolean("member"),
        Numeric("change", -5, 5, outside="clip"),
    )
)
FINE = finely_cut(SCHEMA)


def people(n: int = 3000, seed: int = 0) -> tuple[dict[str, Array], Array]:
    draw = np.random.default_rng(seed)
    table = {
        "amount": np.minimum(draw.exponential(20.0, n), 1000.0),
        "job": draw.choice(["clerk", "smith", "none"], n),
        "grade": draw.uniform(0, 10, n),
        "member": draw.integers(0, 2, n),
        "change": draw.normal(0, 0.3, n),
    }
    return table, (table["amount"] > 20.0).astype(int)


X, Y = people()


def cuts(bins: int = 5, n: int = 3000, rho: bool = True, share: float = 0.1) -> QuantileCuts:
    return QuantileCuts(FINE, bins, n, share, rho, SeededNoise(0))


# --- which columns, and what becomes of their codes ----------------------------------------------------------------


def test_only_numeric_columns_without_cuts_of_their_own_are_cut() -> None:
    assert [is_fine(column) for column in FINE.columns] == [True, False, False, False, True]
    assert [is_fine(column) for column in SCHEMA.columns] == [False] * 5
    assert cuts().columns == [0, 4]
    assert cuts().releases == 2 * 4
    assert cuts().features == 3 + 3 + 1 + 2 * 4


@given(
    st.lists(st.floats(-7.0, 7.0), min_size=1, max_size=30),
    st.sets(st.integers(0, FINE.columns[4].cells - 2), min_size=1, max_size=20),
)
def test_merged_codes_are_those_of_the_chosen_cuts(values: list[float], chosen: set[int]) -> None:
    """So that encoding a new table by the model's schema gives what the model was learnt on."""
    n = len(values)
    fine = np.zeros((5, n), dtype=np.intp)
    fine[4] = FINE.columns[4].codes(np.array(values))
    merged = Merged(FINE, {4: np.array(sorted(chosen))})
    found = merged(EncodedSample(Layout(FINE), fine, np.ones(n, dtype=np.int8)))
    column = merged.layout.schema.columns[4]
    assert isinstance(column, Numeric)
    assert column.cumulative
    assert len(column.cuts) == len(chosen)
    assert found.codes[4].tolist() == column.codes(np.array(values)).tolist()
    assert found.layout.schema.columns[:4] == FINE.columns[:4]


def test_cuts_follow_the_data_with_little_noise() -> None:
    model = LazyBoostClassifier(50.0, 1e-5, quantile_bins=4, rounds=5, schema=SCHEMA, random_state=0).fit(X, Y)
    amount, _, grade, _, change = model.model_.schema.columns
    assert isinstance(amount, Numeric)
    assert isinstance(change, Numeric)
    for column in (amount, change):
        shares = [np.mean(X[column.name] < cut) for cut in column.cuts]
        assert shares == pytest.approx([0.25, 0.5, 0.75], abs=0.12)
        assert column.values()[0].startswith(">= ")
    assert grade == SCHEMA.columns[2]
    assert model.score(X, Y) > 0.85


def test_a_crowded_column_keeps_a_cut() -> None:
    table = {**X, "amount": np.full(Y.size, 1000.0), "change": np.zeros(Y.size)}
    model = LazyBoostClassifier(5.0, 1e-5, quantile_bins=10, rounds=3, schema=SCHEMA, random_state=0).fit(table, Y)
    assert all(column.cells >= 2 for column in model.model_.schema.columns)


# --- what they cost --------------------------------------------------------------------------------------------------


@given(share=st.floats(0.01, 0.9), width=st.floats(0.001, 0.5), rounds=st.integers(1, 40), bins=st.integers(2, 20))
def test_they_take_their_share_of_the_budget(share: float, width: float, rounds: int, bins: int) -> None:
    for rho, rule in ((True, ZCDPComposition()), (False, BasicComposition())):
        others, some = Plan.of(BoundedRange(width), rounds), cuts(bins, rho=rho, share=share)
        own = some.plan(others)
        assert own.rounds == some.releases == 2 * (bins - 1)
        taken = float(own.amount(rule).loss)
        # ρ of a wide release is a little below ε²/8, which the shares are made of.
        assert 0.8 * share <= taken / (taken + float(others.amount(rule).loss)) <= share * (1 + 1e-6)


@pytest.mark.parametrize(("delta", "calibration"), [(0.0, 0.0), (1e-6, 0.0), (1e-6, 0.2)])
def test_a_fit_is_charged_for_quantiles_rounds_and_histogram(delta: float, calibration: float) -> None:
    model = LazyBoostClassifier(
        0.8, delta, quantile_bins=5, rounds=6, calibration=calibration, schema=SCHEMA, random_state=0
    ).fit(X, Y)
    assert 0.8 * (1 - GRAINY) <= float(model.ledger_.spent.as_dict()["epsilon"]) <= 0.8
    charged = next(json.loads(entry.line) for entry in model.ledger_.entries if entry.kind == "charged")
    assert sum(step["rounds"] for step in charged["steps"]) == 2 * 4 + 6 + (calibration > 0)
    assert "private-quantile" in charged["mechanism"]["claims"]
    used = next(json.loads(entry.line) for entry in model.ledger_.entries if entry.kind == "released")["used"]
    assert sum(each["rounds"] for each in used) == 2 * 4 + 6 + (calibration > 0)
    assert len(model.ledger_.entries) == 3


def test_without_a_column_to_cut_nothing_is_charged_for_it() -> None:
    schema = Schema(SCHEMA.columns[1:4])
    both = [
        LazyBoostClassifier(0.8, 1e-6, rounds=3, quantile_bins=bins, schema=schema, random_state=0).fit(X, Y)
        for bins in (None, 5)
    ]
    assert both[0].eta_ == both[1].eta_
    assert both[0].model_ == both[1].model_


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_quantiles_and_rounds_lose_at_most_what_is_charged(delta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """[private-quantile] Every run of the estimator on two records, a column of four fine cells cut once."""
    monkeypatch.setattr(partitions, "FINE", 4)
    schema = finely_cut(Schema((Numeric("x", 0, 1),)))
    assert schema.columns[0].cells == 4

    def model(records: tuple[tuple[int, int], ...], noise: ScriptedNoise) -> LazyBoostClassifier:
        table = np.array(records, dtype=np.intp)
        sample = EncodedSample(Layout(schema), table[:, :1].T.copy(), (2 * table[:, 1] - 1).astype(np.int8))
        ledger = Ledger(PureDP(50.0), composition=BasicComposition(), adjacency=ReplaceOne())
        if delta:
            ledger = Ledger(PureDP(50.0).to_zcdp(), composition=ZCDPComposition(), adjacency=ReplaceOne())
        return LazyBoostClassifier(
            2.0, rounds=2, density=0.9, learning_rate=0.3, quantile_bins=2, ledger=ledger, random_state=noise
        ).fit_encoded(sample)

    records = list(itertools.product((0, 1, 3), (0, 1)))
    pairs = [Pair(((0, 0), one), ((0, 0), other)) for one, other in itertools.combinations(records, 2)]
    charged = {"charged": model(pairs[0].before, ScriptedNoise(())).ledger_.spent}
    (report,) = check_learner(lambda data, noise: _released(model(data, noise)), charged, pairs)
    assert 0.2 < report.ratio <= 1.0


def _released(model: LazyBoostClassifier) -> tuple[object, ...]:
    return model.model_.schema, *model.model_.rules


def test_nothing_but_releases_is_kept() -> None:
    def fit(data: tuple[dict[str, Array], Array], noise: PinnedNoise) -> LazyBoostClassifier:
        return LazyBoostClassifier(1.0, 1e-6, rounds=4, quantile_bins=4, schema=SCHEMA, random_state=noise).fit(*data)

    first, second = people(80, 1), people(80, 2)
    assert "model_" in check_fitted_surface(fit, [Pair(first, (second[0], 1 - second[1]))], seeds=2)


@pytest.mark.parametrize("bins", [0, 1, -3, 2.5])
def test_too_few_bins_are_refused(bins: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="quantile_bins"):
        LazyBoostClassifier(quantile_bins=bins, schema=SCHEMA).fit(X, Y)
