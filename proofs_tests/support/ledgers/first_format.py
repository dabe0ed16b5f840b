"""Ledgers of the first format, as earlier versions of this library opened them."""

import os
import time

import attrs

from accountant import Adjacency, Budget, Composition, Ledger
from accountant.entries import (
    FORMAT,
    NOTHING_SAID,
    ROOT,
    Charged,
    Entry,
    EntryStore,
    MemoryStore,
    Opened,
    decode,
    encode,
)
from accountant.ledger.writer import LedgerWriter
from accountant.storage import SqlStore


def begin_in_first_format(url: str, budget: Budget, *, composition: Composition, adjacency: Adjacency) -> None:
    """Write the first entry of a new ledger there; `Ledger.open` goes on with it."""
    store = SqlStore(url, "create")
    try:
        _begin(store, budget, composition, adjacency)
    finally:
        store.close()


def in_memory_in_first_format(budget: Budget, *, composition: Composition, adjacency: Adjacency) -> Ledger:
    """A new ledger that is kept nowhere."""
    store = MemoryStore()
    _begin(store, budget, composition, adjacency)
    writer = LedgerWriter(store)
    writer.resume()
    ledger = Ledger.__new__(Ledger)
    ledger._set_up(writer, ROOT, None, NOTHING_SAID)
    return ledger


def as_in_first_format(entry: Entry) -> str:
    """The line of an entry that says nothing new, as the first format has it."""
    match decode(entry):
        case Opened() as record:
            return encode(entry.number, attrs.evolve(record, format=FORMAT))
        case Charged() as record:
            return encode(entry.number, attrs.evolve(record, drawn=None))
        case record:
            return encode(entry.number, record)


def _begin(store: EntryStore, budget: Budget, composition: Composition, adjacency: Adjacency) -> None:
    opened = Opened(time.time_ns(), budget, composition, adjacency, os.urandom(16).hex(), FORMAT)
    assert list(store.begin(0)) == []
    store.append("opened", encode(0, opened))
    store.commit()
    store.abort()
