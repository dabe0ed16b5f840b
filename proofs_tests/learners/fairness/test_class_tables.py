"""Tables of classes by group: exact ones against counting by hand, private ones against the exact ones."""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ApproxDP, BasicComposition, BudgetExceeded, Ledger, ReplaceOne
from learners import class_table, demographic_table, private_class_table, private_group_risks
from learners.fairness.private_classes import ConfusedRecords, PrivateClassTable
from mechanisms.queries import Neighbours, histogram_query, histograms

CLASSES: Final = ("a'", "b", "ç")
GROUPS: Final = ("f", "m")


def ledger(epsilon: float = 1.0, adjacency: Neighbours | None = None) -> Ledger:
    return Ledger(ApproxDP(epsilon, 1e-5), composition=BasicComposition(), adjacency=adjacency or ReplaceOne())


def sample(n: int, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    draw = np.random.default_rng(seed)
    groups = draw.choice(GROUPS, n)
    labels = np.where(groups == "f", draw.choice(CLASSES, n, p=[0.5, 0.3, 0.2]), draw.choice(CLASSES, n))
    noise = draw.choice(CLASSES, n)
    return np.where(draw.random(n) < np.where(groups == "f", 0.8, 0.6), labels, noise), labels, groups


records = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=8, max_size=30)


@given(records)
def test_shares_are_those_of_counting(found: list[tuple[int, int, int]]) -> None:
    found = [*found, *((k, k, g) for k in range(3) for g in range(2))]  # so that every share is of something
    told, truth, groups = (list(part) for part in zip(*found, strict=True))
    table = class_table(told, truth, groups)
    assert table.classes == (0, 1, 2)

    def share(part: list[bool], of: list[bool]) -> Fraction:
        return Fraction(sum(a and b for a, b in zip(part, of, strict=True)), sum(of))

    right = [a == b for a, b in zip(told, truth, strict=True)]
    rates: dict[tuple[str, int], list[Fraction]] = {}
    for row in table.rows:
        here = [each == row.group for each in groups]
        assert row.n == sum(here)
        for k in range(3):
            of_class = [inside and each == k for inside, each in zip(here, truth, strict=True)]
            predicted = share([each == k for each in told], here)
            assert row.labels[k] == pytest.approx(float(share([each == k for each in truth], here)), abs=1e-12)
            assert row.predictions[k] == pytest.approx(float(predicted), abs=1e-12)
            assert row.recalls[k] == pytest.approx(float(share(right, of_class)), abs=1e-12)
            rates.setdefault(("parity", 0), []).append(predicted)
            told_so = [share([each == j for each in told], of_class) for j in range(3)]
            rates.setdefault(("odds", k), []).extend(told_so)
    apart = {
        key: sum(abs(a - b) for a, b in zip(values[:3], values[3:], strict=True)) / 2 for key, values in rates.items()
    }
    assert table.parity == pytest.approx(float(apart["parity", 0]), abs=1e-12)
    assert table.odds == pytest.approx(float(max(apart["odds", k] for k in range(3))), abs=1e-12)
    assert table.error_gap == pytest.approx(abs(table.rows[0].error - table.rows[1].error), abs=1e-12)


def test_two_classes_by_text_are_those_by_number() -> None:
    told, truth, groups = sample(200)
    words = class_table(np.where(told == "b", "yes", "no"), np.where(truth == "b", "yes", "no"), groups)
    numbers = demographic_table(
        (told == "b").astype(int), (truth == "b").astype(int), groups, threshold=0.5, error="classes"
    )
    for word, number in zip(words.rows, numbers, strict=True):
        assert word.error == pytest.approx(number.error)
        assert (word.labels[1], word.predictions[1]) == pytest.approx((number.mean_label, number.above))
    assert words.parity == pytest.approx(abs(numbers[0].above - numbers[1].above))


def test_a_class_that_a_group_lacks_has_no_recall_and_no_odds_there() -> None:
    table = class_table(["x", "y", "x", "x"], ["x", "y", "x", "x"], [0, 0, 1, 1])
    assert table.rows[1].recalls[0] == 1.0
    assert math.isnan(table.rows[1].recalls[1])
    assert (table.parity, table.odds, table.error_gap) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize("adjacency", [ReplaceOne(), AddRemoveOne()], ids=["replace-one", "add-remove-one"])
def test_a_record_moves_the_histogram_by_just_what_is_charged(adjacency: Neighbours) -> None:
    """The worst neighbours: one cell loses a record and another gains one, or one record comes."""
    query = histogram_query(adjacency, 1)
    one, other = np.array([0, 5, 5]), np.array([3, 5, 5] if adjacency == ReplaceOne() else [5, 5])
    values = [histograms(ConfusedRecords(cells, 18)) for cells in (one, other)]
    assert np.linalg.norm(values[0] - values[1]) == pytest.approx(query.sensitivity.value, rel=1e-12)
    assert query.claims == ("histograms",)


def private(seed: int, n: int = 3000, **given: object) -> PrivateClassTable:
    asked: dict[str, Any] = {
        "classes": CLASSES,
        "public_groups": GROUPS,
        "epsilon": 1.0,
        "delta": 1e-5,
        "ledger": ledger(),
        "random_state": seed,
        **given,
    }
    return private_class_table(*sample(n), **asked)


def test_intervals_hold_the_exact_table_and_are_not_idle() -> None:
    exact, held = class_table(*sample(3000)), 0
    for seed in range(60):
        table = private(seed, confidence=0.9)
        pairs = [(table.parity, exact.parity), (table.odds, exact.odds), (table.error_gap, exact.error_gap)]
        for row, known in zip(table.rows, exact.rows, strict=True):
            pairs.append((row.error, known.error))
            for name in ("labels", "predictions", "recalls"):
                pairs += zip(getattr(row, name), getattr(known, name), strict=True)
        held += all(each.low <= value <= each.high for each, value in pairs)
    assert held >= 50  # nine in ten at least, by the union bound nearly all
    assert table.rows[0].error.high - table.rows[0].error.low < 0.1
    assert table.parity.high < 0.5
    assert all(each.low <= each.value <= each.high for each in (table.parity, table.odds, table.error_gap))


def test_much_budget_gives_the_exact_table() -> None:
    exact = class_table(*sample(3000))
    table = private(0, epsilon=1e6, delta=1e-5, ledger=ledger(1e7))
    assert table.parity.value == pytest.approx(exact.parity, abs=1e-3)
    assert table.odds.value == pytest.approx(exact.odds, abs=1e-3)
    for row, known in zip(table.rows, exact.rows, strict=True):
        assert [each.value for each in row.recalls] == pytest.approx(known.recalls, abs=1e-3)


def test_it_is_charged_once_and_refused_before_anything_is() -> None:
    books = ledger()
    private(0, ledger=books)
    charged = [entry for entry in books.entries if entry.kind == "charged"]
    assert len(charged) == 1
    with pytest.raises(BudgetExceeded):
        private(0, ledger=books)
    faults: dict[str, tuple[dict[str, Any], str]] = {
        "class": ({"classes": CLASSES[:2]}, "'ç'"),
        "group": ({"public_groups": ("f", "x")}, "none of the public groups"),
        "one class": ({"classes": ("b",)}, "two distinct classes"),
        "too many": ({"classes": tuple(map(str, range(60))), "public_groups": ("f", "m")}, "labels"),
        "confidence": ({"confidence": 1.0}, "confidence"),
    }
    for given_, message in faults.values():
        fresh = ledger()
        with pytest.raises(ValueError, match=message):
            private(0, ledger=fresh, **given_)
        assert [entry.kind for entry in fresh.entries] == ["opened"]
    many = tuple(range(50))
    with pytest.raises(ValueError, match="more than 4096"):
        private_class_table(
            [0, 1], [1, 0], [0, 1], classes=many, public_groups=(0, 1), epsilon=1.0, delta=1e-5, ledger=ledger()
        )


def test_risks_take_classes_by_text_and_absolute_errors() -> None:
    told, truth, groups = sample(3000)
    books = ledger(2e6)
    asked: dict[str, Any] = {"public_groups": GROUPS, "epsilon": 1e6, "delta": 1e-6, "ledger": books, "random_state": 0}
    words = private_group_risks(told, truth, groups, bound=1.0, loss="classes", **asked)
    exact = class_table(told, truth, groups)
    assert [row.risk for row in words.rows] == pytest.approx([row.error for row in exact.rows], abs=1e-3)
    draw = np.random.default_rng(0)
    outputs, known = draw.normal(size=3000), draw.normal(size=3000)
    amounts = private_group_risks(outputs, known, groups, bound=9.0, loss="absolute", **asked)
    plain = demographic_table(outputs, known, groups, threshold=0.0, error="absolute")
    assert [row.risk for row in amounts.rows] == pytest.approx([row.error for row in plain], abs=1e-3)


def test_classes_of_several_kinds_must_be_named() -> None:
    mixed: Any = [1, "a"] * 2
    other: Any = ["a", 1] * 2
    with pytest.raises(ValueError, match=r"name them in order as classes="):
        class_table(mixed, other, [0, 1] * 2)
    assert class_table(mixed, other, [0, 0, 1, 1], classes=("a", 1)).rows[0].error == 1.0
    with pytest.raises(ValueError, match=r"predictions: .*undeclared class"):
        class_table(["c"] * 4, ["a", "b"] * 2, [0, 1] * 2, classes=("a", "b"))
