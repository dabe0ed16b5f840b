"""What a ledger writes: kinds of entries, their canonical JSON, the hash chain, and the state they add up to."""

from accountant.entries.accounts import (
    LONGEST_LABEL,
    MAIN,
    ROOT,
    Account,
    OpenCharge,
)
from accountant.entries.atomic_files import (
    whole_file,
)
from accountant.entries.chain import (
    GENESIS,
    Entry,
    EntryStore,
    Kind,
    MemoryStore,
    canonical,
    digest_of,
    follows,
)
from accountant.entries.entry_kinds import (
    FORMAT,
    LATEST,
    LONGEST_LINE,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    DamagedEntry,
    Opened,
    Record,
    Released,
    Returned,
    read,
)
from accountant.entries.entry_lines import (
    kind_of,
    line_of,
    parts_of,
    used_of,
)
from accountant.entries.export import (
    LONGEST,
    open_export,
    write_export,
)
from accountant.entries.printable import (
    visible,
    visible_lines,
    why_not_written,
    why_unreadable,
)
from accountant.entries.receipts import (
    BadReceipt,
    PublicKey,
    Receipt,
    SigningKey,
    receipt,
)
from accountant.entries.state import (
    State,
)

__all__ = [
    "FORMAT",
    "GENESIS",
    "LATEST",
    "LONGEST",
    "LONGEST_LABEL",
    "LONGEST_LINE",
    "MAIN",
    "ROOT",
    "Account",
    "Allocated",
    "Announced",
    "BadReceipt",
    "Charged",
    "Checkpoint",
    "Closed",
    "DamagedEntry",
    "Entry",
    "EntryStore",
    "Kind",
    "MemoryStore",
    "OpenCharge",
    "Opened",
    "PublicKey",
    "Receipt",
    "Record",
    "Released",
    "Returned",
    "SigningKey",
    "State",
    "canonical",
    "digest_of",
    "follows",
    "kind_of",
    "line_of",
    "open_export",
    "parts_of",
    "read",
    "receipt",
    "used_of",
    "visible",
    "visible_lines",
    "whole_file",
    "why_not_written",
    "why_unreadable",
    "write_export",
]
