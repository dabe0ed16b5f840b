"""Which charges belong to a piece of work: those on its books, in its context, and none after it."""

import threading

from accountant import ApproxDP, Ledger, ReplaceOne
from accountant.composition.rules import BasicComposition
from accountant.ledger.charge_recorder import note, noted


def _ledger() -> Ledger:
    return Ledger(ApproxDP(1.0, 1e-6), adjacency=ReplaceOne(), composition=BasicComposition())


def test_charges_on_the_same_books_are_noted_until_the_block_ends() -> None:
    ledger, other = _ledger(), _ledger()
    with noted(ledger) as outer:
        note(ledger._writer, 1)
        with noted(ledger) as inner, noted(other) as elsewhere:
            note(ledger._writer, 2)
            note(other._writer, 7)
        note(ledger._writer, 3)
        thread = threading.Thread(target=note, args=(ledger._writer, 9))
        thread.start()
        thread.join()
    note(ledger._writer, 4)
    assert (outer, inner, elsewhere) == ([1, 2, 3], [2], [7])


def test_a_block_that_raises_ends_too() -> None:
    ledger = _ledger()
    heard: list[int] = []
    try:
        with noted(ledger) as heard:
            note(ledger._writer, 1)
            raise RuntimeError
    except RuntimeError:
        note(ledger._writer, 2)
    assert heard == [1]
