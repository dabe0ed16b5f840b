"""What an auditor holds against a ledger from outside of it: evidence on heads, and what is expected of signatures."""

from pathlib import Path

import attrs

from accountant.audit import Verification
from accountant.entries import PublicKey
from accountant.witnesses import EvidenceExaminer, Examination, Trust, WriterSignatures, load_roots, read_evidence


@attrs.frozen
class Outside:
    """As the options of `verify` have it. tolerance: seconds.  listed: whether each signature is wanted, for JSON."""

    anchors: tuple[Path, ...] = ()
    witness_keys: tuple[Path, ...] = ()
    roots: tuple[Path, ...] = ()
    tolerance: float = 300.0
    require_signed: bool = False
    first_key: Path | None = None
    listed: bool = False

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        given = (self.anchors, self.witness_keys, self.roots, self.require_signed, self.first_key)
        return any(given)

    def examiner(self) -> EvidenceExaminer | None:
        """What compares the evidence with the ledger; None without any. Raises ValueError, OSError."""
        if not self.anchors:
            if self.witness_keys or self.roots:
                raise ValueError("--witness-key and --authority-root go with --anchors, the evidence that they check")
            return None
        try:
            keys = tuple(PublicKey.load(path) for path in self.witness_keys)
            roots = tuple(root for path in self.roots for root in load_roots(path))
        except ImportError as error:
            raise ValueError(str(error)) from error
        lines = (line for path in self.anchors for line in read_evidence(path))
        return EvidenceExaminer(lines, Trust(keys, roots, round(self.tolerance * 10**9)))

    def writers(self) -> WriterSignatures:
        """What is expected of writers' signatures. Raises ValueError, OSError."""
        try:
            first = None if self.first_key is None else PublicKey.load(self.first_key)
        except ImportError as error:
            raise ValueError(str(error)) from error
        return WriterSignatures(required=self.require_signed, first_key=first, listed=self.listed)


def with_evidence(found: Verification, examination: Examination) -> Verification:
    """A verification, with what the evidence says."""
    return attrs.evolve(
        found,
        errors=(*found.errors, *examination.errors),
        caveats=(*found.caveats, *examination.caveats),
        notes=(*found.notes, *examination.caveats, *examination.notes),
    )


def signature_record(writers: WriterSignatures) -> dict[str, object]:
    """For JSON: charges signed, by key; how many are not, since the first key was enrolled; and each signature."""
    made = [each._asdict() for each in writers.made]
    return {"signed": dict(writers.signed), "unsigned": len(writers.unsigned), "made": made}
