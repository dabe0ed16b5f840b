"""Which charges a piece of work was charged with, also while other threads charge the same ledger.

Whoever wants to know listens in its own context: a thread, or a task, has one of its own, so it hears of its own
charges only. Work that hands its charges to threads of its own must run them in a copy of its context.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from accountant.ledger.ledger import Ledger

Listener: TypeAlias = tuple[object, list[int]]

_LISTENING: Final[ContextVar[tuple[Listener, ...]]] = ContextVar("exchequer_charges", default=())


def note(writer: object, number: int) -> None:
    """Entry `number` is a charge that was just made, in this context. Called by the ledger's writer, which it names."""
    for heard, numbers in _LISTENING.get():
        if heard is writer:
            numbers.append(number)


@contextmanager
def noted(ledger: "Ledger") -> Iterator[list[int]]:
    """A list that fills up with the numbers of the charges made on this ledger inside the block.

    Charges to any account of this ledger count, also where they are made through a sub-budget's ledger.
    """
    numbers: list[int] = []
    token = _LISTENING.set((*_LISTENING.get(), (ledger._writer, numbers)))
    try:
        yield numbers
    finally:
        _LISTENING.reset(token)
