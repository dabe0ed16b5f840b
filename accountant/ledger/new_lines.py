"""What a new entry's line may say: only what anybody can read back, and read back as it was meant."""

from accountant.entries import LONGEST_LINE, DamagedEntry, Entry, Kind, decode, encode, why_not_written
from accountant.exceptions import NotSpendable


def refuse_bad_texts(line: str) -> None:
    """Raise NotSpendable for canonical JSON with a text in it that only Python could read."""
    if (reason := why_not_written(line)) is not None:
        raise NotSpendable(f"{reason}. Nothing was written; leave it out")


def refuse_too_long(line: str) -> None:
    """Raise NotSpendable for a line that nobody reads back."""
    if len(line) > LONGEST_LINE:
        raise NotSpendable(f"this would take a line of {len(line)} characters, more than can be read back")


def refuse_unreadable(number: int, kind: Kind, line: str) -> None:
    """Raise NotSpendable for what could not be read back, which would close the ledger to everybody."""
    refuse_too_long(line)
    try:
        faithful = encode(number, decode(Entry(number, kind, line, ""))) == line
    except DamagedEntry as error:
        raise NotSpendable(f"the ledger cannot describe this, so nothing was written: {error}") from error
    if not faithful:
        raise NotSpendable("the ledger cannot describe this as it is, so nothing was written")
