"""Costs that come to a single one: the second opinion reads them on their own curve, where convolutions give up too."""

import math

import pytest

from accountant import (
    GDP,
    ApproxDP,
    BoundedRange,
    Composition,
    Cost,
    LaplaceDP,
    PureDP,
)
from accountant.audit.odometer import epsilon_at
from accountant.audit.second_opinion import opinion as opinion_module
from accountant.audit.second_opinion import second_opinion
from accountant.costs import gaussian
from proofs_tests.support.ledgers.second_books import BASIC, GDP_RULE, ZCDP_RULE, books, of


@pytest.mark.parametrize("rule", [GDP_RULE, ZCDP_RULE], ids=str)
@pytest.mark.parametrize(
    ("mu", "delta"), [(0.05, 1e-12), (0.05, 1e-6), (35.0, 1e-6), (1e-4, 1e-30), (300.0, 1e-200)], ids=str
)
def test_a_read_out_of_half_what_gaussians_lose_is_found_out(
    rule: Composition, mu: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where convolutions give up too: below their smallest δ, and beyond their widest grid."""
    budget = ApproxDP(1e9, delta)
    entries = books(rule, [(GDP(mu), 10)], budget).entries
    opinion = second_opinion(entries)
    assert opinion.agrees, opinion
    assert of(opinion, "can lose") == pytest.approx(gaussian.epsilon(mu * math.sqrt(10), delta), rel=1e-6)
    right, share = epsilon_at, 0.5 if rule == GDP_RULE else 0.45
    monkeypatch.setattr(opinion_module, "epsilon_at", lambda *of: share * right(*of))
    assert any("what they can lose comes to" in text for text in second_opinion(entries).disagreements)


@pytest.mark.parametrize(
    "cost", [LaplaceDP(0.5), LaplaceDP(900.0), PureDP(0.5), BoundedRange(0.5), BoundedRange(700.0)], ids=repr
)
def test_one_round_of_anything_is_looked_at_on_its_own_curve(cost: Cost, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = books(BASIC, [(cost, 1)], ApproxDP(1e4, 1e-12)).entries
    assert second_opinion(entries).agrees
    right = epsilon_at
    monkeypatch.setattr(opinion_module, "epsilon_at", lambda *of: 0.9 * right(*of))
    assert any("what they can lose comes to" in text for text in second_opinion(entries).disagreements)
