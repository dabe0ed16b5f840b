"""The durable ledger where no two charges race and nobody is killed: it is found again as it was, and exists once."""

import copy
import functools
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from accountant import (
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    LedgerCopyRefused,
    LedgerMismatch,
    Plan,
    PureDP,
    ReplaceOne,
    TextbookComposition,
    UnsupportedBudget,
    ZCDPComposition,
)
from accountant.ledger.writer import LedgerWriter
from accountant.storage import sql_store
from proofs_tests.support.ledgers.durable import (
    BUDGET,
    SIXTEENTH,
    Telling,
    opened,
    sound,
    spend,
    written,
)
from proofs_tests.support.ledgers.killed import Forked, Tell

# --- opening again --------------------------------------------------------------------------------------------


def test_a_reopened_ledger_goes_on_where_it_was(spent: str) -> None:
    with Ledger.open(spent) as ledger:
        assert ledger.spent == PureDP(3 / 16)
        assert (ledger.budget, ledger.composition, ledger.adjacency) == (BUDGET, BasicComposition(), ReplaceOne())
        spend(ledger, 13)
        with pytest.raises(BudgetExceeded):
            spend(ledger)
    assert len(sound(spent)) == 1 + 2 * 16


@pytest.mark.parametrize(
    "other",
    [
        {"budget": PureDP(2.0)},
        {"budget": PureDP(0.5)},
        {"budget": ApproxDP(1.0, 0.0)},
        {"composition": AdvancedComposition(1e-6)},
        {"composition": ZCDPComposition()},
        {"adjacency": AddRemoveOne()},
    ],
)
def test_another_promise_is_refused(spent: str, other: dict[str, Any]) -> None:
    promise = {"budget": BUDGET, "composition": BasicComposition(), "adjacency": ReplaceOne(), **other}
    before = written(spent)
    with pytest.raises(LedgerMismatch, match=f"{next(iter(other))}: this ledger was opened with"):
        Ledger.open(spent, **other)
    with pytest.raises((LedgerMismatch, UnsupportedBudget)):
        Ledger.open(spent, **promise)
    assert written(spent) == before


def test_a_ledger_of_the_textbooks_formula_says_what_it_was_called(url: str) -> None:
    """As earlier versions wrote it; its own claims, and the way on, are told."""
    budget, rule = ApproxDP(1.0, 1e-5), TextbookComposition(1e-6)
    with Ledger.open(url, budget, composition=rule, adjacency=ReplaceOne()) as ledger:
        assert ledger.statement().claims == ("advanced-filter",)
    with pytest.raises(LedgerMismatch, match=r"Leave it out.*was AdvancedComposition in earlier versions"):
        Ledger.open(url, composition=AdvancedComposition(1e-6))
    with Ledger.open(url) as again:
        assert again.composition == rule


def test_nothing_is_opened_without_a_promise(url: str) -> None:
    with pytest.raises(LedgerMismatch, match="there is no ledger"):
        Ledger.open(url)
    with pytest.raises(LedgerMismatch, match="there is no ledger"):
        Ledger.open(url, BUDGET, composition=BasicComposition())


def test_two_that_begin_the_same_books_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that comes second goes on with the ledger of the first, and does not keep it waiting."""
    first: list[Ledger] = []
    real = LedgerWriter.resume

    def overtaken(books: LedgerWriter, **options: bool) -> None:
        real(books, **options)
        monkeypatch.setattr(LedgerWriter, "resume", real)  # the other one is not overtaken
        first.append(opened(url))

    monkeypatch.setattr(sql_store, "PATIENCE", 2.0)
    monkeypatch.setattr(LedgerWriter, "resume", overtaken)
    with opened(url) as second, first[0]:
        spend(first[0])
        spend(second)
        assert first[0].id == second.id
    assert [entry.kind for entry in sound(url)] == ["opened", *("charged", "released") * 2]


def test_two_handles_see_each_others_charges(url: str) -> None:
    with opened(url) as first, opened(url) as second:
        for ledger, other in ((first, second), (second, first)) * 8:
            spend(ledger)
            assert other.head == ledger.head
            assert other.spent == ledger.spent
            assert other.remaining == ledger.remaining
            assert list(other.entries) == list(ledger.entries)
        for ledger in (first, second):
            with pytest.raises(BudgetExceeded):
                spend(ledger)
    assert sum(entry.kind == "charged" for entry in sound(url)) == 16


def test_two_handles_share_a_sub_budget(url: str) -> None:
    with opened(url) as first, opened(url) as second:
        first.allocate("team", 0.125)
        spend(second.sub_budget("team"))
        spend(first.sub_budget("team"))
        with pytest.raises(BudgetExceeded):
            spend(second.sub_budget("team"))


def test_a_head_that_an_auditor_kept(spent: str) -> None:
    kept = written(spent)[3].digest
    with Ledger.open(spent, expect_head=kept) as ledger:
        assert ledger.spent == PureDP(3 / 16)
    with pytest.raises(LedgerMismatch, match="nowhere in this ledger"):
        Ledger.open(spent, expect_head="ab" * 32)


# --- a ledger exists once ---------------------------------------------------------------------------------------


def test_a_durable_ledger_is_not_copied(url: str) -> None:
    with opened(url) as ledger, ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne()) as reservation:
        for thing in (ledger, ledger.allocate("team", 0.1), reservation):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(LedgerCopyRefused):
                    copied(thing)
        with pytest.raises(LedgerCopyRefused, match="open it there by its URL"):
            pickle.dumps(ledger)


def spend_in_a_fork(url: str) -> dict[str, str]:
    """What a child hears that goes on with the ledger, the sub-budget or the reservation of its parent."""
    heard: dict[str, str] = {}
    with opened(url) as ledger:
        data, team = ledger.protect(7), ledger.allocate("team", 0.5)
        with ledger.reserve(Plan.of(SIXTEENTH, 2), adjacency=ReplaceOne()) as reservation:
            doings: dict[str, Callable[[], object]] = {
                "release": lambda: ledger.release(Telling(cost=SIXTEENTH), data),
                "reserve": lambda: ledger.reserve(Plan.of(SIXTEENTH), adjacency=ReplaceOne()),
                "sub-budget": lambda: team.release(Telling(cost=SIXTEENTH), data),
                "round": lambda: reservation.release(Telling(cost=SIXTEENTH), data),
                "give back": reservation.give_back,
                "allocate": lambda: ledger.allocate("other", 0.1),
                "close": lambda: ledger.close_account("team"),
            }
            for name, doing in doings.items():
                heard[name] = Forked.of(0, functools.partial(_try, doing)).wait().lines[0]
            reservation.release(Telling(cost=SIXTEENTH), data)
        spend(ledger)
    return heard


def _try(doing: Callable[[], object], tell: Tell) -> None:
    try:
        doing()
        tell("went through")
    except LedgerCopyRefused as error:
        tell(error)


def test_a_fork_is_refused_and_its_parent_goes_on(url: str, nursery: ProcessPoolExecutor) -> None:
    heard = nursery.submit(spend_in_a_fork, url).result()
    assert len(heard) == 7
    for name, message in heard.items():
        assert "a fork copied this ledger into another process: open it again by its URL" in message, name
    assert [entry.kind for entry in sound(url)] == [
        *("opened", "allocated", "charged", "released"),
        *("charged", "released"),
    ]
