"""What may stand in the ledger as a bound: positive and finite, or none at all."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from accountant import (
    BasicComposition,
    Description,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant.audit.verification import Verifier, verify
from accountant.entries.chain import MemoryStore
from accountant.ledger.writer import LedgerWriter
from proofs_tests.support.ledgers.books import Secure, rechained, rewritten

GOOD = Description("Laplace", "count", (), "l1", 1.0, 0.5, "secure", True, ("laplace",))
NO_BOUNDS = [0.0, -0.0, -1.0, -1, 0, math.nan, math.inf, -math.inf, 10**400, True]
NO_DISTANCES = [-0.1, 1.0000001, -1, 2, math.nan, math.inf]


@attrs.frozen(slots=False)
class Says(Secure):
    """A mechanism that describes itself as it likes."""

    bound: float = 1.0
    zeta: float | None = None

    @property
    def description(self) -> Description:
        return attrs.evolve(GOOD, sensitivity=self.bound, zeta=self.zeta)


@pytest.mark.parametrize("bound", NO_BOUNDS)
def test_a_sensitivity_that_is_no_bound_is_refused(bound: float) -> None:
    with pytest.raises(ValueError, match=r"Laplace\(count\): sensitivity: expected a positive finite number"):
        attrs.evolve(GOOD, sensitivity=bound)


@pytest.mark.parametrize("zeta", NO_DISTANCES)
def test_a_distance_that_is_none_is_refused(zeta: float) -> None:
    with pytest.raises(ValueError, match=r"zeta: expected a statistical distance in \[0, 1\]"):
        attrs.evolve(GOOD, zeta=zeta)


def test_what_looks_at_nothing_protected_has_no_norm() -> None:
    """As the columns beside a protected one, which `RadoRelease` publishes."""
    assert attrs.evolve(GOOD, norm="none", sensitivity=0.0).sensitivity == 0.0
    with pytest.raises(ValueError, match="sensitivity"):
        attrs.evolve(GOOD, norm="none", sensitivity=-1.0)
    for bound, zeta in ((5e-324, 0.0), (1.7e308, 1.0), (3, 1), (0.5, None)):
        assert Description.from_dict(json.loads(attrs.evolve(GOOD, sensitivity=bound, zeta=zeta).canonical)) == (
            attrs.evolve(GOOD, sensitivity=bound, zeta=zeta)
        )


@pytest.mark.parametrize("says", [Says(0.1, bound=0.0), Says(0.1, bound=-1.0), Says(0.1, zeta=1.5)])
def test_a_ledger_charges_nothing_for_it(says: Says) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match=r"sensitivity|zeta"):
        ledger.release(says, ledger.protect(True))
    with pytest.raises(ValueError, match=r"sensitivity|zeta"):
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne(), mechanism=says.description)
    assert len(ledger.entries) == 1


# --- books that hold one already -----------------------------------------------------------------------------------


def books(times: int = 3) -> list[Entry]:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for _ in range(times):
        ledger.release(Says(0.01), data)
    with ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne()) as charge:
        charge.release(Says(0.1), data)
    return list(ledger.entries)


OLD = {
    "sensitivity 0": ('"sensitivity":1.0', '"sensitivity":0.0', "got 0.0 in the norm 'l1'"),
    "sensitivity -1": ('"sensitivity":1.0', '"sensitivity":-1', "got -1 in the norm 'l1'"),
    "a huge one": ('"sensitivity":1.0', f'"sensitivity":{10**400}', "got one beyond any float"),
    "zeta 1.5": ('"zeta":null', '"zeta":1.5', "zeta: expected a statistical distance in [0, 1], got 1.5"),
    "zeta -1": ('"zeta":null', '"zeta":-1', "got -1"),
}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", OLD)
def test_verify_finds_it_in_charges_and_in_releases(name: str, fast: bool) -> None:
    old, new, finding = OLD[name]
    entries = books()
    assert verify(entries).errors == ()
    for place in (1, len(entries) - 1):  # a charge; a release of a plan that announced nothing
        audit = Verifier(fast=fast)
        audit.take(rewritten(entries, place, old, new))
        found = audit.verification()
        assert len(found.errors) == 1, found.errors
        assert f"entry {place}: Laplace: " in found.errors[0]
        assert finding in found.errors[0]


@pytest.mark.parametrize("fast", [True, False])
def test_each_of_many_equal_ones_is_found(fast: bool) -> None:
    """Entries that repeat are read by a template, which must not be made of a bad one."""
    entries = [
        attrs.evolve(entry, line=entry.line.replace('"sensitivity":1.0', '"sensitivity":0.0')) for entry in books(40)
    ]
    audit = Verifier(fast=fast)
    audit.take(rechained(entries))
    assert len(audit.verification().errors) == 41


def test_such_books_go_on(tmp_path: Path) -> None:
    """What was charged counts, and its ledger opens: it is for verify to say that it is not sound."""
    store = MemoryStore()
    for entry in rewritten(books(), 1, '"sensitivity":1.0', '"sensitivity":-1.0'):
        store.append(entry.kind, entry.line)
    again = LedgerWriter(store)
    again.resume(whole=True)
    assert float(again.state.total.loss) == pytest.approx(0.13)


def test_what_is_no_number_is_still_damage() -> None:
    entries = books()
    change: Callable[[str], list[Entry]] = lambda new: rewritten(entries, 1, '"sensitivity":1.0', new)  # noqa: E731
    for new in ('"sensitivity":"1"', '"sensitivity":null', '"sensitivity":NaN', '"sensitivity":Infinity'):
        assert any("entry 1:" in error for error in verify(change(new)).errors), new
