"""What a new entry's line may say: only what anybody can read back, and read back as it was meant."""

import functools
import json

from accountant.costs import Adjacency, adjacency_record
from accountant.entries import (
    LONGEST_LINE,
    DamagedEntry,
    Entry,
    Kind,
    canonical,
    line_of,
    read,
    why_not_written,
    why_unreadable,
)
from accountant.exceptions import NotSpendable


def refuse_bad_texts(line: str) -> None:
    """Raise NotSpendable for canonical JSON with a text in it that only Python could read."""
    if (reason := why_not_written(line)) is not None:
        raise NotSpendable(f"{reason}. Nothing was written; leave it out")


def refuse_unreadable(number: int, kind: Kind, line: str) -> None:
    """Raise NotSpendable for what could not be read back, which would close the books to everybody."""
    if len(line) > LONGEST_LINE:
        raise NotSpendable(f"this would take a line of {len(line)} characters, more than anybody reads back")
    try:
        faithful = line_of(number, read(Entry(number, kind, line, ""))) == line
    except DamagedEntry as error:
        raise NotSpendable(f"the books cannot describe this, so nothing was written: {error}") from error
    if not faithful:
        raise NotSpendable("the books cannot describe this as it is, so nothing was written")


@functools.lru_cache(maxsize=4096)
def account_text(text: str) -> str:
    """An account as a line has it. Raises NotSpendable for a text that nobody could read."""
    if (reason := why_unreadable(text)) is not None:
        raise NotSpendable(f"account: {reason}. Nothing was charged; leave it out")
    return json.dumps(text)


@functools.lru_cache(maxsize=64)
def adjacency_text(adjacency: Adjacency) -> str:
    """An adjacency as a line has it."""
    return canonical(dict(adjacency_record(adjacency)))
