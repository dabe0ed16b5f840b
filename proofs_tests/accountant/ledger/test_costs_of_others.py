"""Costs and descriptions that others wrote: what compares equal may differ, and what cannot be said is refused."""

import copy
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from accountant import (
    ZCDP,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Description,
    Ledger,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant import exceptions as all_exceptions
from accountant.composition import forget_prices
from accountant.costs import SEEDED
from accountant.exceptions import PolicyRefused
from mechanisms import L1Sensitivity, LaplaceNoise, PlainMechanism, Query
from proofs_tests.support.ledgers.doubles import RandomizedResponse


@attrs.frozen
class Hybrid(PureDP):
    """An ε with a ρ of its own, which takes no part in comparisons."""

    rho: float = attrs.field(default=0.0, eq=False)

    def to_zcdp(self) -> ZCDP:
        return ZCDP(self.rho)


def test_a_price_that_was_kept_is_of_that_very_cost() -> None:
    assert Hybrid(1.0, 0.001) == Hybrid(1.0, 0.4)
    cheap, dear = (Plan.of(Hybrid(1.0, rho), 10).price(1e-6, routes=["zcdp"]).best.epsilon for rho in (0.001, 0.4))
    assert cheap < 1.0
    assert dear > 10.0


def test_a_release_that_was_prepared_is_of_that_very_cost() -> None:
    @attrs.frozen(slots=False)
    class Other(RandomizedResponse):
        rho: float = 0.0

        @property
        def cost(self) -> Hybrid:
            return Hybrid(1.0, self.rho)

    ledger = Ledger(ZCDP(1.0), composition=ZCDPComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    ledger.release(Other(1.0, rho=0.001), data)
    ledger.release(Other(1.0, rho=0.4), data)
    spent = ledger.spent
    assert isinstance(spent, ZCDP)
    assert spent.rho == pytest.approx(0.401, rel=1e-12)


@attrs.frozen(slots=False)
class Extra(Description):
    """With a field that no reader knows."""

    dataset: str = "v1"


@attrs.frozen(slots=False)
class Told(RandomizedResponse):
    """Described by whatever it is given."""

    said: Any = None

    @property
    def description(self) -> Description:
        return self.said  # type: ignore[no-any-return]  # as somebody's code that nobody checks


ORDINARY = Description("m", "q", (), "l1", 1.0, None, SEEDED, False, ())
UNREADABLE = [
    Extra("m", "q", (), "l1", 1.0, None, SEEDED, False, ()),
    attrs.evolve(ORDINARY, query="a\ud800"),
]


@pytest.mark.parametrize("said", UNREADABLE, ids=["a further field", "no text"])
def test_what_cannot_be_read_back_is_refused_before_a_round_is_taken(said: Description, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Ledger.open(url, PureDP(9.0), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        data = ledger.protect(True)
        with ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne()) as charge:
            with pytest.raises(NotSpendable):
                charge.release(Told(0.1, said=said), data)
            charge.release(Told(0.1, said=ORDINARY), data)
            charge.release(Told(0.1, said=ORDINARY), data)
        assert ledger.verify().sound
    with Ledger.open(url) as again:
        assert again.spent == PureDP(0.2)


def _there_and_back(error: Exception) -> Exception:
    return copy.copy(error)  # by the same way as pickling


def _made(kind: type[Exception]) -> Exception:
    if kind is BudgetExceeded:
        ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
        with pytest.raises(BudgetExceeded) as found:
            ledger.reserve(Plan.of(PureDP(2.0)), adjacency=ReplaceOne())
        return found.value
    if kind is PolicyRefused:
        return PolicyRefused("policy.toml", "[open] users", "the user 'eve'", "Ask its curator")
    return kind("what is wrong")


@pytest.mark.parametrize(
    "kind",
    [
        each
        for each in vars(all_exceptions).values()
        if isinstance(each, type) and issubclass(each, Exception) and each.__module__ == all_exceptions.__name__
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_refusal_survives_the_way_back_from_a_worker(kind: type[Exception]) -> None:
    made = _made(kind)
    back = _there_and_back(made)
    assert (type(back), str(back)) == (type(made), str(made))


def test_a_refused_relation_names_what_it_was_proved_for_also_from_a_worker() -> None:
    back = _there_and_back(AdjacencyMismatch("no", ReplaceOne()))
    assert isinstance(back, AdjacencyMismatch)
    assert back.proved_for == ReplaceOne()


def test_prices_are_found_anew_where_somebody_asks_for_it() -> None:
    plan = Plan.of(PureDP(0.1), 7)
    before = plan.price(1e-6)
    forget_prices()
    assert plan.price(1e-6) == before


def test_what_is_no_mechanism_is_refused_by_what_it_lacks() -> None:
    class Half:
        cost = PureDP(0.1)
        adjacency = ReplaceOne()

    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    half: Any = Half()
    with pytest.raises(NotSpendable, match="Half has no description, check, sample; nothing was charged"):
        ledger.release(half, ledger.protect(True))
    assert ledger.spent == PureDP(0.0)


def test_the_grid_of_secure_noise_is_named_where_it_alone_is_too_much() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    query = Query("sum", np.asarray, L1Sensitivity(2.0), ReplaceOne(), ("laplace-dp",))
    with pytest.raises(BudgetExceeded, match=r"secure noise costs 2\^-40 more .*largest_eta finds it"):
        ledger.release(PlainMechanism(query, LaplaceNoise(2.0)), ledger.protect(np.zeros(1)))
