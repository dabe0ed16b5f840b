"""The checkpoint that entries are read from: it is believed, so its entry and the first one must hold."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from accountant.entries.chain import GENESIS, Entry, digest_of
from accountant.entries.codec import decode
from accountant.entries.entry_kinds import Checkpoint, DamagedEntry, Opened
from accountant.entries.state import State
from accountant.exceptions import LedgerBroken

BELIEVED_FROM: Final = 50_000
"""Number from which on a checkpoint is believed, where nobody verifies; shorter ledgers are read whole, in a second."""


class Start(NamedTuple):
    """Where a state starts: what `State.resume` takes."""

    opened: Opened
    number: int
    checkpoint: Checkpoint


def read_start(read: Callable[[int], Iterator[Entry]], newest: Entry) -> Start:
    """The newest checkpoint, read. read: the entries from a number on.  Raises LedgerBroken where it cannot be used."""
    try:
        first, before, same = (next(read(number)) for number in (0, newest.number - 1, newest.number))
        opened, record = decode(first), decode(newest)
        linked = (digest_of(GENESIS, first.line), digest_of(before.digest, newest.line))
        if linked != (first.digest, same.digest) or not isinstance(opened, Opened):
            raise DamagedEntry("its chain does not hold")
        if not isinstance(record, Checkpoint) or newest.record["number"] != newest.number:
            raise DamagedEntry("it is no checkpoint, or has another number")
        start = Start(opened, newest.number, record)
        State().resume(*start)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RuntimeError) as error:
        raise LedgerBroken(f"the checkpoint in entry {newest.number} cannot be used: {error}") from error
    return start
