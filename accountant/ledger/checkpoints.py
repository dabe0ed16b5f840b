"""The checkpoint that a long ledger is read from: it is believed, so its entry and the first one must hold."""

from typing import NamedTuple

from accountant.entries import GENESIS, Checkpoint, DamagedEntry, Entry, EntryStore, Opened, State, decode, digest_of
from accountant.exceptions import LedgerBroken


class Start(NamedTuple):
    """Where a state starts: what `State.resume` takes."""

    opened: Opened
    number: int
    checkpoint: Checkpoint


def read_start(store: EntryStore, newest: Entry) -> Start:
    """The newest checkpoint, read. Raises LedgerBroken where it cannot be used."""
    try:
        first, before, same = _entry(store, 0), _entry(store, newest.number - 1), _entry(store, newest.number)
        opened, record = decode(first), decode(newest)
        linked = (digest_of(GENESIS, first.line), digest_of(before.digest, newest.line))
        if linked != (first.digest, same.digest) or not isinstance(opened, Opened):
            raise DamagedEntry("its chain does not hold")
        if not isinstance(record, Checkpoint):
            raise DamagedEntry("it is none")
        start = Start(opened, newest.number, record)
        State().resume(*start)
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise LedgerBroken(f"the checkpoint in entry {newest.number} cannot be used: {error}") from error
    return start


def _entry(store: EntryStore, number: int) -> Entry:
    return next(iter(store.read(number)))
