"""Ctrl-C at any line: the ledger holds, what was told is charged, and the ledger goes on or refuses; nobody hangs."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest

from accountant import BasicComposition, Ledger, LedgerBroken, ReplaceOne
from accountant.audit.verification import verify
from accountant.storage import sql_store
from proofs_tests.support.ledgers.durable import BUDGET, CHEAP, Places, Telling, opened, spend
from proofs_tests.support.ledgers.killed import ACTS, at_line

PATIENCE = 60.0
"""Seconds after which whoever waits for a turn that nobody ends gives up."""


def interrupt() -> None:
    raise KeyboardInterrupt


def interrupted(ledger: Ledger, act: str, line: int) -> bool:
    """Whether the act was interrupted before it was through; what it told by then is in the ledger."""
    told: list[int] = []
    try:
        with at_line(line, interrupt):
            ACTS[act][0](ledger, lambda what: told.append(int(str(what))), f"line-{line}")
        return False
    except (KeyboardInterrupt, LedgerBroken):  # the second where the first came in the middle of a turn
        found = verify(ledger.entries)
        assert found.errors == ()
        assert found.entries - 1 >= max(told, default=0)
        return True


def elsewhere(do: Callable[[], object]) -> str:
    """What comes of it in another thread, which must not wait for ever."""
    outcome: list[str] = []

    def run() -> None:
        try:
            do()
            outcome.append("goes on")
        except LedgerBroken:
            outcome.append("refuses")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return outcome[0] if outcome else "hangs"


def agrees(ledger: Ledger) -> None:
    """What this ledger says was spent is what its entries say; and it goes on."""
    charges: dict[object, int] = {}
    for entry in ledger.entries:
        record = entry.record
        if entry.kind == "charged":
            steps = record["steps"]
            assert isinstance(steps, list)
            charges[entry.number] = sum(step["rounds"] for step in steps)
        elif entry.kind == "returned":
            rounds = record["rounds"]
            assert isinstance(rounds, int)
            charges[record["charge"]] -= rounds
    spent = ledger.spent
    assert spent == type(BUDGET)(sum(charges.values()) * CHEAP.epsilon)
    ledger.release(Telling(), ledger.protect(1))


@pytest.mark.parametrize("act", ACTS)
def test_an_interrupt_at_every_line_in_memory(act: str) -> None:
    after = Counter[str]()
    line, going = 0, True
    while going:
        ledger = Ledger(BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())
        going = interrupted(ledger, act, line)
        after[elsewhere(lambda ledger=ledger: agrees(ledger))] += 1  # type: ignore[misc]  # bound now, called now
        line += 1
    assert set(after) <= {"goes on", "refuses"}
    assert after["refuses"] <= 0.05 * line


def test_a_signal_handlers_exception_is_neither_swallowed_nor_charged_twice() -> None:
    """Time limits of job queues raise ordinary exceptions, at any line: one release is one charge, or none."""
    raised: list[int] = []

    def time_is_up() -> None:
        raised.append(line)
        raise TimeoutError

    for line in range(10**6):
        ledger = Ledger(BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())
        try:
            with at_line(line, time_is_up):
                ledger.release(Telling(), ledger.protect(1))
            break
        except TimeoutError:
            assert [entry.kind for entry in ledger.entries].count("charged") <= 1
    assert raised == list(range(line))
    assert line > 100


def test_an_interrupt_at_some_lines_of_a_durable_ledger(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_store, "PATIENCE", 0.8 * PATIENCE)
    after = Counter[str]()
    for act in ACTS:
        line, going = 0, True
        while going:
            with places() as url, opened(url) as ledger:
                going = interrupted(ledger, act, line)
                after[elsewhere(lambda ledger=ledger: agrees(ledger))] += 1  # type: ignore[misc]  # as above
                with opened(url) as other:  # the one that was interrupted holds nothing back
                    spend(other)
            line += 13 if url.startswith("sqlite") else 61
    assert set(after) <= {"goes on", "refuses"}
    assert after["refuses"] <= 0.05 * after.total()
