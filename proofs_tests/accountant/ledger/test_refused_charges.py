"""What a refusal prints: numbers that differ, why they do, and what to do."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    Budget,
    BudgetExceeded,
    Composition,
    Cost,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.composition.rules import NOTHING, digits_of, distinct_texts, readable
from proofs_tests.support.ledgers.doubles import RandomizedResponse

UNIT = Fraction(1, 1 << 1074)
amounts = st.one_of(st.integers(0, 1 << 2200), st.integers(0, 1 << 1074), st.integers(0, 1 << 40))


def test_ten_releases_of_a_tenth() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for _ in range(9):
        ledger.release(RandomizedResponse(0.1), data)
    with pytest.raises(BudgetExceeded) as refused:
        ledger.release(RandomizedResponse(0.1), data)
    said = str(refused.value)
    assert said.startswith("requested Σε 0.1, only Σε 0.09999999999999995 remains under basic composition; nothing was")
    assert "nearest binary one" in said
    assert "budget.split(k)" in said
    assert "Lower the cost" not in said

    whole = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    for _ in range(10):
        whole.release(RandomizedResponse(PureDP(1.0).split(10).epsilon), whole.protect(True))
    with pytest.raises(BudgetExceeded, match="Lower the cost or the number of rounds"):
        whole.release(RandomizedResponse(0.1), whole.protect(True))


@pytest.mark.parametrize(
    ("rule", "budget", "cost"),
    [
        (BasicComposition(), PureDP(0.3), PureDP(0.1)),
        (BasicComposition(), ApproxDP(1.0, 1e-6), ApproxDP(0.01, 1e-7)),
        (BasicComposition(), ApproxDP(1.0, 3e-7), ApproxDP(0.01, 1e-7)),
        (ZCDPComposition(), ZCDP(0.3), ZCDP(0.1)),
        (GDPComposition(), GDP(0.3), GDP(0.1)),
        (AdvancedComposition(1e-7), ApproxDP(1.0, 2e-6), ApproxDP(0.01, 1e-6)),
    ],
)
def test_every_rule_says_two_different_numbers(rule: Composition, budget: Budget, cost: Cost) -> None:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    while ledger.affords(Plan.of(cost)):
        ledger.reserve(Plan.of(cost), adjacency=ReplaceOne())
    with pytest.raises(BudgetExceeded) as refused:
        ledger.reserve(Plan.of(cost), adjacency=ReplaceOne())
    asked, left = str(refused.value).removeprefix("requested ").split(" remains")[0].split(", only ")
    assert asked != left


@given(amounts, amounts, amounts, amounts)
@example((1 << 1074) + 1, 1 << 1074, 0, 0)
@example(1, 0, 0, 0)
@example(5, 5, 1 << 1000, (1 << 1000) + 1)
def test_two_amounts_are_told_apart(loss: int, left: int, delta: int, delta_left: int) -> None:
    asked, remaining = distinct_texts(Amount(loss, delta), Amount(left, delta_left), BasicComposition())
    parts = list(zip(asked.split(", "), remaining.split(", "), strict=True))
    assert len(parts) == (2 if delta or delta_left else 1)
    for (first, second), more, less in zip(parts, (loss, delta), (left, delta_left), strict=False):
        assert (first != second) == (more != less)


@given(amounts, st.integers(1, 40))
def test_digits_are_the_nearest(units: int, digits: int) -> None:
    text = digits_of(units, digits)
    assert abs(Fraction(text) - units * UNIT) * 2 * 10 ** (digits - 1) <= units * UNIT * (1 + Fraction(1, 10**30))
    assert len(text.partition("e")[0].replace(".", "").strip("0")) <= digits


def test_amounts_read_as_before() -> None:
    for value, text in ((0.1, "0.1"), (1e-6, "1e-06"), (2.5, "2.5"), (100.0, "100"), (3e200, "3e+200"), (0.0, "0")):
        assert readable(Amount.of(value), BasicComposition()) == f"Σε {text}"
    assert readable(Amount.of(1.0, 1e-5), BasicComposition()) == "Σε 1, Σδ 1e-05"
    assert distinct_texts(Amount.of(0.3), NOTHING, ZCDPComposition(), " = ") == ("Σρ = 0.3", "Σρ = 0")
