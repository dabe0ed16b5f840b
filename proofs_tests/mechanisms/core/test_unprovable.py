"""A Gaussian on a Poisson sample holds under add-remove-one only, however it is dressed up."""

import numpy as np
import pytest

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    Ledger,
    Plan,
    ReplaceOne,
    SubsampledGaussian,
    ZCDPComposition,
)
from accountant.entries import Charged, decode
from mechanisms import at_delta
from mechanisms.core.parallel import one_cost
from mechanisms.foreign import DeclaredMechanism, declared_elsewhere

COST = SubsampledGaussian(1.0, 0.01)


def sampled(adjacency: AddRemoveOne | ReplaceOne) -> DeclaredMechanism[list[int], float]:
    return declared_elsewhere(
        lambda data: float(np.sum(data)), cost=COST, adjacency=adjacency, library="somebody's", name="a step"
    )


def test_no_declared_mechanism_has_it_under_replace_one() -> None:
    with pytest.raises(AdjacencyMismatch, match="add-remove-one only"):
        sampled(ReplaceOne())


def test_a_price_at_delta_does_not_hide_it_and_says_what_it_rests_on() -> None:
    inner = sampled(AddRemoveOne())
    object.__setattr__(inner, "_adjacency", ReplaceOne())  # as one that was not made by us could say
    with pytest.raises(AdjacencyMismatch, match="add-remove-one only"):
        at_delta(inner, 1e-6)
    ledger = Ledger(ApproxDP(9.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    ledger.release(at_delta(sampled(AddRemoveOne()), 1e-6), ledger.protect([1]))
    record = decode(ledger.entries[1])
    assert isinstance(record, Charged)
    assert record.mechanism is not None
    assert "subsampled-gaussian" in record.mechanism.claims


@pytest.mark.parametrize("rule", [BasicComposition(), ZCDPComposition()])
def test_lanes_do_not_take_it(rule: BasicComposition | ZCDPComposition) -> None:
    with pytest.raises(AdjacencyMismatch, match="add-remove-one only"):
        one_cost(Plan.of(COST, 3), rule, 1e-6)
