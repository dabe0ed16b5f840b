"""Witnesses: signatures of writers on entries, and evidence on heads that others keep, sign or time-stamp."""

from accountant.witnesses.cosigning import Witness, WitnessRefuses, is_fork, newest_head
from accountant.witnesses.evidence_files import SUFFIX, EvidenceLine, append_evidence, read_evidence
from accountant.witnesses.examination import TOLERANCE, EvidenceExaminer, Examination, Finding, Trust
from accountant.witnesses.head_evidence import (
    BadEvidence,
    CoSignature,
    Evidence,
    Head,
    KeptHead,
    TimeStamp,
    evidence_from_line,
    evidence_line,
)
from accountant.witnesses.time_stamps import Stamped, StampRequest, ask, check_time_stamp, load_roots
from accountant.witnesses.writer_signatures import (
    SIGN_EVERY,
    KeyRequest,
    WriterSignatures,
    WriterSigning,
    key_change,
)

__all__ = [
    "SIGN_EVERY",
    "SUFFIX",
    "TOLERANCE",
    "BadEvidence",
    "CoSignature",
    "Evidence",
    "EvidenceExaminer",
    "EvidenceLine",
    "Examination",
    "Finding",
    "Head",
    "KeptHead",
    "KeyRequest",
    "StampRequest",
    "Stamped",
    "TimeStamp",
    "Trust",
    "Witness",
    "WitnessRefuses",
    "WriterSignatures",
    "WriterSigning",
    "append_evidence",
    "ask",
    "check_time_stamp",
    "evidence_from_line",
    "evidence_line",
    "is_fork",
    "key_change",
    "load_roots",
    "newest_head",
    "read_evidence",
]
