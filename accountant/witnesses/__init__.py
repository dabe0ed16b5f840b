"""Witnesses: signatures of writers on entries, and evidence on heads that others keep, sign or time-stamp."""

from accountant.witnesses.writer_signatures import (
    SIGN_EVERY,
    KeyRequest,
    WriterSignatures,
    WriterSigning,
    key_change,
)

__all__ = [
    "SIGN_EVERY",
    "KeyRequest",
    "WriterSignatures",
    "WriterSigning",
    "key_change",
]
