"""The lines of charges and releases: canonical JSON, read back as they were meant, and made once for charges alike."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Cost,
    Description,
    LaplaceDP,
    Ledger,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
)
from accountant.canonical_json import canonical
from accountant.composition import Amount
from accountant.entries import Charged, ChargeLine, Entry, Released, ReleaseLine, decode, encode
from proofs_tests.support.ledgers.doubles import RandomizedResponse

NUMBERS = st.floats(0.0, 1e6)
COSTS: st.SearchStrategy[Cost] = st.one_of(
    *(st.builds(kind, NUMBERS) for kind in (PureDP, LaplaceDP, BoundedRange, ZCDP, GDP)),
    st.builds(ApproxDP, NUMBERS, st.floats(0.0, 0.5)),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
PLANS = st.lists(st.builds(Step, COSTS, st.integers(1, 2**40)), min_size=1, max_size=4).map(Plan)
DESCRIPTIONS = st.builds(
    Description,
    mechanism=TEXTS,
    query=TEXTS,
    parameters=st.lists(st.tuples(TEXTS, st.floats(-1e9, 1e9) | st.integers(-9, 9) | TEXTS), max_size=1).map(tuple),
    norm=TEXTS,
    sensitivity=st.floats(1e-9, 1e6),
    zeta=st.none() | st.floats(0.01, 1.0),
    noise=TEXTS,
    private=st.booleans(),
    claims=st.lists(TEXTS, max_size=2).map(tuple),
)
UNITS = st.integers(0, 2**1200)


@given(TEXTS, PLANS, DESCRIPTIONS, st.integers(1, 2**60), st.integers(0, 2**60), UNITS, UNITS)
def test_a_charge_is_canonical_and_is_read_as_it_was_meant(
    account: str, plan: Plan, about: Description, number: int, time: int, loss: int, delta: int
) -> None:
    line = ChargeLine.of(account, AddRemoveOne(), plan, announced=about.canonical).at(number, time, Amount(loss, delta))
    assert canonical(json.loads(line)) == line
    record = decode(Entry(number, "charged", line, ""))
    assert encode(number, record) == line
    assert isinstance(record, Charged)
    assert (record.account, record.plan, record.mechanism, record.time) == (account, plan, about, time)
    assert (record.after.loss_units, record.after.delta_units) == (loss, delta)


@given(st.lists(st.tuples(DESCRIPTIONS, st.integers(1, 99)), max_size=3), st.integers(1, 2**60), st.integers(0, 2**60))
def test_a_release_is_canonical_and_is_read_as_it_was_meant(
    used: list[tuple[Description, int]], number: int, time: int
) -> None:
    line = ReleaseLine.of((each.canonical, rounds) for each, rounds in used).at(number, time, 1)
    assert canonical(json.loads(line)) == line
    record = decode(Entry(number, "released", line, ""))
    assert encode(number, record) == line
    assert isinstance(record, Released)
    assert (record.charge, list(record.used), record.time) == (1, used, time)


@given(st.lists(st.tuples(st.floats(0.1, 2.0), st.sampled_from([PureDP, BoundedRange]), TEXTS), min_size=1, max_size=6))
def test_what_one_release_left_behind_is_in_no_other(
    releases: list[tuple[float, type[PureDP] | type[BoundedRange], str]],
) -> None:
    """The ledger keeps what releases alike share: two kinds of cost with one number are not alike."""
    ledger = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for epsilon, kind, account in releases * 2:
        ledger.release(RandomizedResponse(epsilon, kind=kind), data, account=account)
    charged = [record for record in map(decode, ledger.entries) if isinstance(record, Charged)]
    asked = [(Plan.of(kind(epsilon)), account) for epsilon, kind, account in releases * 2]
    assert [(each.plan, each.account) for each in charged] == asked
    assert [each.mechanism for each in charged] == [RandomizedResponse(e).description for e, _, _ in releases * 2]


@pytest.mark.parametrize("account", [None, 7, "", "a" * 10_000, ["a"], {}])
def test_an_account_that_is_none_is_refused_before_the_charge(account: Any) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    with pytest.raises(NotSpendable, match="account: expected a short text"):
        ledger.release(RandomizedResponse(0.1), data, account=account)
    with pytest.raises(NotSpendable, match="account: expected a short text"):
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne(), account=account)
    assert ledger.spent == PureDP(0.0)
