"""Rados that protect some columns: what common supports tell, and that supports of their own tell no more than is paid.

Laws are enumerated where that can be done; the declared cost is compared with the exact δ of the joint law.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    FeatureValue,
    FeatureValues,
    Ledger,
    Plan,
    ZCDPComposition,
)
from accountant.arrays import FloatArray, IntArray
from boosting.rados.losses import logistic_loss
from learners import Bounds, Categorical, Numeric, RadoRelease, Schema
from learners.base.gaussian_budget import GaussianQuery
from learners.encoding.numeric_features import Coding, Scaling
from learners.rados.protected_columns import NoisySums, PublicColumns, PublicPart, class_moments, most_rados
from learners.rados.rado_records import RadoSample, RadoTable
from mechanisms import EmptyWindow, SeededNoise, exact_steps
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface

Law = dict[tuple[float, ...], float]
X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(400, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0.0, 1, 0)
BITS = np.where(X > 0.0, 1, 0)
BOX = Bounds(-1.0, 1.0)


def supports(records: int) -> FloatArray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=records)))


def law(values: FloatArray) -> Law:
    counts = Counter(map(tuple, np.round(values, 9).tolist()))
    return {value: count / len(values) for value, count in counts.items()}


def exact_delta(laws: Sequence[Law], epsilon: float) -> float:
    factor, (one, other) = math.exp(epsilon), laws
    both = ((one, other), (other, one))
    return max(sum(max(0.0, p[value] - factor * q.get(value, 0.0)) for value in p) for p, q in both)


# --- what the published vectors tell ----------------------------------------------------------------------------------


@pytest.mark.parametrize("records", [4, 8])
def test_common_supports_tell_two_columns_apart_in_every_second_rado(records: int) -> None:
    """[000-decoupled] Two Boolean columns over the same supports, nothing else released: δ >= 1/2 at ε = 5."""
    edges = np.ones((records, 2))
    other = edges.copy()
    other[0, 1] = -1.0
    laws = [law(supports(records) @ each) for each in (edges, other)]
    assert exact_delta(laws, 5.0) >= 0.5


@pytest.mark.parametrize("records", [4, 8])
def test_a_real_column_tells_its_values_apart_in_every_second_rado(records: int) -> None:
    """Truncation of tails does not help: all values of the law lie next to its middle."""
    edges = np.zeros((records, 1))
    laws = []
    for value in (1.0, 0.5):
        edges[0] = value
        laws.append(law(supports(records) @ edges))
    assert exact_delta(laws, 5.0) == 0.5


@pytest.mark.parametrize("positives", [0, 2, 3])
def test_over_supports_of_its_own_a_column_costs_what_it_costs_alone(positives: int) -> None:
    """The joint law of all columns, by enumeration: δ is that of the column at any ε; over common supports 1/2."""
    rng, records = np.random.default_rng(1), 5
    public = rng.normal(size=(records, 2))
    columns = [np.where(np.arange(records) < each, 1.0, -1.0)[:, None] for each in (positives, positives + 1)]
    alone = [law(supports(records) @ each) for each in columns]
    apart = [
        law(np.array([[*a, *b] for a in supports(records) @ public for b in supports(records) @ each]))
        for each in columns
    ]
    common = [law(supports(records) @ np.hstack([public, each])) for each in columns]
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert exact_delta(apart, epsilon) == pytest.approx(exact_delta(alone, epsilon), abs=1e-12)
    assert exact_delta(common, 2.0) == 0.5


def test_what_supports_of_their_own_lose() -> None:
    """[000-decoupled] The mean exponential loss is a product: each part has its own logistic loss."""
    rng = np.random.default_rng(0)
    edges, theta = rng.normal(size=(6, 3)), rng.normal(size=3)
    one, other = supports(6) @ edges[:, :1] @ theta[:1], supports(6) @ edges[:, 1:] @ theta[1:]
    joint = np.mean(np.exp(-np.add.outer(one, other)))
    parts = logistic_loss(edges[:, :1], theta[:1]) + logistic_loss(edges[:, 1:], theta[1:])
    assert 2.0 * math.log(2.0) + math.log(joint) / 6 == pytest.approx(parts, rel=1e-12)


# --- sums by label ----------------------------------------------------------------------------------------------------

UNIT = st.floats(-1.0, 1.0)


def records_of(table: RadoTable) -> RadoSample:
    found = table.sample()
    assert found is not None
    return found


def sample_of(features: FloatArray, labels: FloatArray) -> RadoTable:
    names = tuple(f"x{number}" for number in range(features.shape[1]))
    return RadoTable.of(features, labels.astype(np.int8), Coding(None, names, False))


@given(st.lists(UNIT, min_size=10, max_size=10), UNIT, UNIT, st.sampled_from([-1.0, 1.0]))
def test_one_record_moves_sums_by_label_by_no_more_than_declared(
    values: list[float], first: float, second: float, label: float
) -> None:
    """[000-moments] Both sensitive values of a record changed, its label kept."""
    features, labels = np.array(values).reshape(5, 2), np.array([label, 1.0, -1.0, 1.0, -1.0])
    query = class_moments(sample_of(np.array(values).reshape(5, 2), np.ones(5)).coding, 5, FeatureValues((0, 1)))
    other = features.copy()
    other[0] = first, second
    moved = query.evaluate(sample_of(other, labels)) - query.evaluate(sample_of(features, labels))
    size = float(np.linalg.norm(moved))
    target(size)
    assert size <= query.sensitivity.value
    ends = [np.vstack([np.full((1, 2), end), features[1:]]) for end in (-1.0, 1.0)]
    far = query.evaluate(sample_of(ends[0], labels)) - query.evaluate(sample_of(ends[1], labels))
    assert float(np.linalg.norm(far)) == pytest.approx(query.sensitivity.value, rel=1e-11)


def test_without_noise_a_column_of_two_values_has_the_law_of_random_rados() -> None:
    """Means and deviations of 40,000 draws, to five standard errors."""
    labels = np.where(np.arange(60) < 35, 1.0, -1.0)
    features = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)[:, None]
    query = class_moments(sample_of(features, labels).coding, 60, FeatureValue(0))
    source = NoisySums(GaussianQuery(query, 1e-9, SeededNoise(0)), 60)
    nothing = PublicPart([], np.empty((40_000, 0)), Scaling.none(0), float(labels.sum()))
    drawn, scaling = source.rados(query.evaluate(sample_of(features, labels)), nothing, 40_000)
    edges = labels[:, None] * scaling.apply(features)
    assert scaling.centre[0] == pytest.approx(float(features.mean()), rel=1e-6)
    assert float(drawn.mean()) == pytest.approx(0.5 * float(edges.sum()), abs=5 * math.sqrt(15 / 40_000))
    assert float(drawn.var()) == pytest.approx(0.25 * float((edges**2).sum()), rel=0.04)


# --- releases ---------------------------------------------------------------------------------------------------------


def release(**given: Any) -> RadoRelease:
    schema = None if given.get("route") == "own-supports" else BOX
    return RadoRelease("feature", **{"epsilon": 1.0, "delta": 1e-6, "schema": schema, "random_state": 0, **given})


def spent(ledger: Ledger) -> float:
    assert isinstance(ledger.spent, ApproxDP)
    return ledger.spent.epsilon


def test_noisy_sums_cost_what_they_declare_and_the_rest_nothing() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=FeatureValue(1))
    found = release(sensitive="x1", ledger=ledger).fit(X, Y)
    assert spent(ledger) == pytest.approx(1.0, rel=1e-6)
    assert [receipt.number for receipt in found.receipts_] == [1, 2]
    assert "column 1" in str(found.statement_)
    assert found.rados_.scope.startswith("of a record its x1 (number 1) only")
    assert found.rados_.vectors.shape == (200, 4)
    steps = ledger.entries[1].record["steps"]
    sigma = 2.0 / steps[0]["cost"]["mu"]  # type: ignore[index]  # as the ledger has it
    assert GDP(2.0 / sigma).to_approx(delta=1e-6).epsilon == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("route", ["sums", "own-supports"])
@pytest.mark.parametrize("standardise", [True, False])
def test_nothing_that_was_not_paid_for_shows(route: str, standardise: bool) -> None:
    """One entry of the sensitive column changed; releases pinned, so all that is kept must be the same."""
    other = BITS.copy()
    other[7, 1] = 1 - other[7, 1]

    def fitted(points: IntArray, noise: PinnedNoise) -> RadoRelease:
        given = {"route": route, "standardise": standardise, "random_state": noise, "schema": None}
        return release(sensitive=1, number=10, epsilon=50.0, **given).fit(points, Y)

    if route == "sums":
        check_fitted_surface(fitted, [Pair(BITS, other)])
        return
    one, changed = (fitted(points, PinnedNoise()).rados_.vectors for points in (BITS, other))
    assert np.array_equal(np.delete(one, 1, axis=1), np.delete(changed, 1, axis=1))


def test_several_columns_and_categories_of_one() -> None:
    schema = Schema((Numeric("age", 0.0, 100.0), Categorical("sort", ("a", "b", "c")), Categorical("sex", ("f", "m"))))
    rng = np.random.default_rng(0)
    table = {
        "age": rng.uniform(0, 100, 300),
        "sort": rng.choice(["a", "b", "c"], 300),
        "sex": rng.choice(["f", "m"], 300),
    }
    y = rng.integers(0, 2, 300)
    found = release(sensitive=["sex", "sort"], schema=schema, classes=(0, 1)).fit(table, y)
    rados = found.rados_
    assert rados.coding.feature_names == ("age", "sort=a", "sex", "sort=b", "sort=c", "(constant)")
    assert rados.coding.groups == ((0,), (1, 3, 4), (2,))
    assert found.ledger_.adjacency == FeatureValues((1, 2))
    assert "feature-values" in found.statement_.adjacency
    with pytest.raises(ValueError, match="has two values by its schema"):
        release(sensitive=["sort"], route="own-supports", schema=schema).fit(table, y)


def test_supports_of_their_own_cost_what_their_number_costs() -> None:
    """[000-rado-column] About μ = 2√(n/m); the refusal names how many rados do."""
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=FeatureValue(0))
    with pytest.raises(
        ValueError, match=r"number: 50 rados of 400 records cost epsilon .* at most (\d+) do not"
    ) as refused:
        release(sensitive=0, route="own-supports", number=50, ledger=ledger).fit(BITS, Y)
    assert len(ledger.entries) == 1
    most = int(str(refused.value).split("at most ")[1].split()[0])
    kept = release(sensitive=0, route="own-supports", number=most, ledger=ledger).fit(BITS, Y)
    assert spent(ledger) <= 1.0
    assert kept.rados_.vectors.shape == (most, 4)
    with pytest.raises(ValueError, match="at most"):
        release(sensitive=0, route="own-supports", number=most + 1).fit(BITS, Y)
    unasked = release(sensitive=0, route="own-supports").fit(BITS, Y)
    assert unasked.rados_.vectors.shape == (most, 4)
    with pytest.raises(ValueError, match="even one does"):
        release(sensitive=0, route="own-supports", epsilon=1e-3).fit(BITS, Y)


def test_dp_feat_is_released_at_its_exact_cost_and_refused_where_it_has_none() -> None:
    found = release(sensitive=0, route="own-supports", number=4, truncation=2.0, delta=1e-3).fit(BITS, Y)
    assert "RadoTailTruncation" in str(found.statement_)
    column = found.rados_.vectors[:, 0]
    assert np.all(column == np.round(column))
    with pytest.raises(EmptyWindow):
        release(sensitive=0, route="own-supports", number=4, truncation=1e-3).fit(BITS, Y)
    for spread_out in (X, np.where(X > 0.0, 1.0, -1.0)):  # the schema says what may occur, not what does
        with pytest.raises(ValueError, match="has two values by its schema"):
            release(sensitive=0, route="own-supports", number=4, schema=BOX).fit(spread_out, Y)
    with pytest.raises(ValueError, match="truncation: only for"):
        release(sensitive=0, truncation=1.0).fit(X, Y)


def test_a_zcdp_ledger_takes_sums_and_refuses_columns_before_any_charge() -> None:
    ledger = Ledger(ApproxDP(3.0, 1e-6), composition=ZCDPComposition(), adjacency=FeatureValue(0))
    release(sensitive=0, ledger=ledger).fit(BITS, Y)
    entries = len(ledger.entries)
    with pytest.raises(Exception, match="implies no"):
        release(sensitive=0, route="own-supports", number=2, epsilon=3.0, ledger=ledger).fit(BITS, Y)
    assert len(ledger.entries) == entries


@given(st.integers(0, 30), st.integers(1, 40))
def test_most_rados_is_a_search(limit: int, above: int) -> None:
    def fits(number: int) -> bool:
        if number > limit + 5:
            raise ValueError("no epsilon")
        return number <= limit

    assert most_rados(fits, above) == min(limit, above - 1)


# --- which column it is -----------------------------------------------------------------------------------------------


def test_a_number_is_refused_where_the_table_names_its_columns() -> None:
    """A label, a place in the table and a place in the schema may be three columns, and two would be published."""
    frame = pd.DataFrame(BITS).drop(columns=[0])
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=FeatureValue(0))
    with pytest.raises(ValueError, match="so name 1 too"):
        release(sensitive=1, schema=None, ledger=ledger).fit(frame, Y)
    assert len(ledger.entries) == 1
    found = release(sensitive="1", schema=None, ledger=ledger).fit(frame, Y)
    assert "1 (number 0)" in found.rados_.scope
    for number in (np.int64(0), np.array([0])):
        assert release(sensitive=number).fit(X, Y).rados_.scope.startswith("of a record its x0")


def test_books_that_published_a_column_do_not_protect_it_afterwards() -> None:
    """[000-decoupled] Both columns are number 2 of their tables; together the releases would publish either."""
    frame = pd.DataFrame(BITS, columns=["a", "b", "secret"])
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=FeatureValue(2))
    release(sensitive="secret", schema=None, epsilon=0.1, ledger=ledger).fit(frame, Y)
    entries = len(ledger.entries)
    with pytest.raises(ValueError, match=r'this ledger protects \["secret"\], and publishes everything else'):
        release(sensitive="a", schema=None, epsilon=0.1, ledger=ledger).fit(frame[["b", "secret", "a"]], Y)
    assert len(ledger.entries) == entries
    release(sensitive="secret", schema=None, epsilon=0.1, ledger=ledger).fit(frame, Y)
    assert "secret" in str(ledger.entries[2].record)


def test_what_costs_nothing_leaves_out_what_its_relation_changes() -> None:
    """Whoever builds it cannot say otherwise: the columns are those of the relation."""
    table = release(sensitive=1).encoded(X, Y)
    sample = records_of(table)
    other = RadoTable.of(sample.features * np.array([1.0, -0.5, 1.0, 1.0]), sample.labels, table.coding)
    for standardise in (True, False):
        first, second = (
            PublicColumns(FeatureValue(1), ("x1",), 3, standardise, SeededNoise(0)).sample(each)
            for each in (table, other)
        )
        assert np.array_equal(first.rados, second.rados)
        assert np.array_equal(first.scaling.centre, second.scaling.centre)
        assert first.places == [0, 2, 3]
    with pytest.raises(ValueError, match="the relation is about columns"):
        PublicColumns(FeatureValue(3), ("x3",), 3, True, SeededNoise(0)).sample(table)
    with pytest.raises(ValueError, match="for no other table"):
        class_moments(table.coding, 7, FeatureValue(1)).check(table)


def test_sums_by_label_are_exact_in_any_order() -> None:
    """Against fractions of what was kept, so that no order of records moves them."""
    rng = np.random.default_rng(0)
    table = release(sensitive=1).encoded(rng.uniform(-1.0, 1.0, size=(300, 3)), rng.integers(0, 2, 300))
    query, sample = class_moments(table.coding, 300, FeatureValue(1)), records_of(table)
    found = query.evaluate(table)
    kept = exact_steps(sample.features[:, 1], 1.0, 300)
    for row, sign in enumerate((-1, 1)):
        exact = sum(Fraction(value) for value, label in zip(kept.tolist(), sample.labels, strict=True) if label == sign)
        assert Fraction(float(found[row, 0])) == exact
    order = rng.permutation(300)
    again = RadoTable.of(sample.features[order], sample.labels[order], table.coding)
    assert np.array_equal(query.evaluate(again), found)


def test_two_that_come_at_the_same_time_do_not_publish_each_others_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process checks, the other charges and releases, then the first one charges: it sees that, and gives back."""
    url = f"sqlite:///{tmp_path / 'books.db'}"
    frame = pd.DataFrame(BITS, columns=["a", "b", "secret"])
    given = {"schema": None, "epsilon": 0.1, "random_state": SeededNoise(0)}
    with (
        Ledger.open(
            url, budget=ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=FeatureValue(2)
        ) as ledger,
        Ledger.open(url) as other,
    ):
        reserve = ledger.reserve
        came: list[RadoRelease] = []

        def late(*arguments: Any, **named: Any) -> Any:
            if not came:
                came.append(release(sensitive="secret", ledger=other, **given).fit(frame, Y))
            return reserve(*arguments, **named)

        monkeypatch.setattr(ledger, "reserve", late)
        with pytest.raises(ValueError, match="this ledger protects"):
            release(sensitive="a", ledger=ledger, **given).fit(frame[["b", "secret", "a"]], Y)
        assert isinstance(ledger.spent, ApproxDP)
        assert ledger.spent.epsilon == pytest.approx(0.1, rel=1e-6)


def test_what_was_released_counts_also_where_it_was_not_announced() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=FeatureValue(2))
    frame = pd.DataFrame(BITS, columns=["a", "b", "secret"])
    sample = release(sensitive="secret", schema=None).encoded(frame, Y)
    hidden = PublicColumns(FeatureValue(2), ("secret",), 3, True, SeededNoise(0))
    with ledger.reserve(Plan.of(hidden.cost), adjacency=FeatureValue(2)) as charge:
        charge.release(hidden, ledger.protect(sample))
    with pytest.raises(ValueError, match="this ledger protects"):
        release(sensitive="a", schema=None, epsilon=0.1, ledger=ledger).fit(frame[["b", "secret", "a"]], Y)


def test_columns_are_the_same_in_any_order_and_never_for_the_commas_in_their_names() -> None:
    one, two, three = (
        PublicColumns(FeatureValues((0, 1)), names, 3, True, SeededNoise(0)).description.canonical
        for names in (("a", "b, c"), ("b, c", "a"), ("a, b", "c"))
    )
    assert one == two != three


@pytest.mark.parametrize("wrong", [[1.5], [None], [np.True_], [True], np.array([1.0, 2.0])], ids=str)
def test_sensitive_columns_are_named_or_numbered(wrong: Any) -> None:
    with pytest.raises(TypeError, match="sensitive: expected names or whole numbers"):
        release(sensitive=wrong).fit(X, Y)
