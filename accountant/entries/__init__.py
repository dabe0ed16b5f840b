"""What a ledger writes: kinds of entries, their canonical JSON, the hash chain, and the state they add up to."""

from accountant.entries.about import NOTHING_SAID, About, keyed_digest
from accountant.entries.accounts import LONGEST_LABEL, MAIN, ROOT, Account, OpenCharge
from accountant.entries.atomic_files import whole_binary_file, whole_file
from accountant.entries.chain import GENESIS, Entry, EntryStore, Kind, MemoryStore, digest_of, follows
from accountant.entries.charge_lines import ChargeLine, ReleaseLine, decode_charge
from accountant.entries.checkpoints import BELIEVED_FROM, Start, read_start
from accountant.entries.codec import decode, encode, kind_of
from accountant.entries.entry_kinds import (
    FORMAT,
    LATEST,
    LONGEST_LINE,
    NEWEST_FORMAT,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    DamagedEntry,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    Upgraded,
    hexadecimal,
)
from accountant.entries.export import LONGEST, open_export, write_export
from accountant.entries.printable import visible, visible_lines, why_not_written, why_unreadable
from accountant.entries.receipts import BadReceipt, PublicKey, Receipt, SigningKey, receipt
from accountant.entries.state import State

__all__ = [
    "BELIEVED_FROM",
    "FORMAT",
    "GENESIS",
    "LATEST",
    "LONGEST",
    "LONGEST_LABEL",
    "LONGEST_LINE",
    "MAIN",
    "NEWEST_FORMAT",
    "NOTHING_SAID",
    "ROOT",
    "About",
    "Account",
    "Allocated",
    "Announced",
    "BadReceipt",
    "ChargeLine",
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
    "Produced",
    "PublicKey",
    "Receipt",
    "Record",
    "ReleaseLine",
    "Released",
    "Returned",
    "SigningKey",
    "Start",
    "State",
    "Upgraded",
    "decode",
    "decode_charge",
    "digest_of",
    "encode",
    "follows",
    "hexadecimal",
    "keyed_digest",
    "kind_of",
    "open_export",
    "read_start",
    "receipt",
    "visible",
    "visible_lines",
    "whole_binary_file",
    "whole_file",
    "why_not_written",
    "why_unreadable",
    "write_export",
]
