"""Evidence on heads: what somebody outside of a ledger keeps, so that the ledger cannot be changed unnoticed.

A head is the digest of an entry, and fixes that entry and all before it. Three kinds of evidence on one:

- kept: the head itself. Whoever keeps it sees later that nothing before it was changed; it says nothing of time.
- time-stamp: the reply of a time stamping authority (RFC 3161) to a digest of ledger, number and head. The entries up
  to that head existed at the time that the authority signed.
- co-signature: the signature of a witness, who read the ledger and found that it grew from the head that it had signed
  before. The entries up to the head existed when the witness had read it, and nothing followed when it began to read.

A line of a file of evidence is canonical JSON. It ends with a checksum, so that a line that was changed by accident is
told from a forged one; forging is what the signatures are against.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Final, TypeAlias

import attrs

from accountant.canonical_json import canonical
from accountant.entries import GENESIS, hexadecimal
from accountant.explained import Explained

HEAD_DOMAIN: Final = b"exchequer head 1\n"
COSIGNATURE_DOMAIN: Final = b"exchequer co-signature 1\n"
"""Before what is time-stamped, and before what a witness signs, so that neither passes for anything else."""

LONGEST_LINE: Final = 1 << 20
"""Characters of a line of evidence: a token with its certificates takes some thousands."""

_LONGEST_ID: Final = 200


class BadEvidence(Explained, ValueError):
    """A piece of evidence that is malformed, or does not hold."""


@attrs.frozen
class Head:
    """The head of a ledger when it had `number` + 1 entries. ledger: its id.  digest: of entry `number`."""

    ledger: str
    number: int
    digest: str

    @property
    def message(self) -> bytes:
        """What a time stamp is of: all three, as a digest alone does not say of what it is the head."""
        return HEAD_DOMAIN + canonical(self.as_dict()).encode("ascii")

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"head": self.digest, "ledger": self.ledger, "number": self.number}


@attrs.frozen
class KeptHead:
    """A head that somebody keeps."""

    head: Head

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"evidence": "kept", **self.head.as_dict()}


@attrs.frozen
class TimeStamp:
    """The reply of an authority. nonce: of the request, which the reply must repeat.  reply: DER, as it was sent."""

    head: Head
    nonce: int
    reply: bytes

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        reply = base64.b64encode(self.reply).decode("ascii")
        return {"evidence": "time-stamp", "nonce": f"{self.nonce:x}", "reply": reply, **self.head.as_dict()}


@attrs.frozen
class CoSignature:
    """What a witness signs. Its statements on one ledger are a chain of their own.

    sequence: 0 for its first statement on this ledger, then 1, 2 and so on.
    previous: SHA-256 of what its statement before signed, 64 zeros where there is none.
    previous_number, previous_head: of that statement; None and 64 zeros where there is none.
    begun: before the witness looked at the ledger; the ledger ended with this head then, or had not come so far yet.
    time: after it had read; both in nanoseconds since 1970, by the witness's clock.
    key, signature: of the witness, in hexadecimal.
    """

    head: Head
    sequence: int
    previous: str
    previous_number: int | None
    previous_head: str
    begun: int
    time: int
    key: str
    signature: str = ""

    @property
    def message(self) -> bytes:
        """What is signed."""
        parts = {name: value for name, value in self.as_dict().items() if name != "signature"}
        return COSIGNATURE_DOMAIN + canonical(parts).encode("ascii")

    @property
    def digest(self) -> str:
        """SHA-256 of what is signed: what the next statement names as `previous`."""
        return hashlib.sha256(self.message).hexdigest()

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        plain = attrs.asdict(self, filter=attrs.filters.exclude("head"))
        return {"evidence": "co-signature", **plain, **self.head.as_dict()}


Evidence: TypeAlias = KeptHead | TimeStamp | CoSignature


# --- lines -----------------------------------------------------------------------------------------------------


def evidence_line(evidence: Evidence) -> str:
    """A line of a file of evidence, without its line feed."""
    parts = evidence.as_dict()
    return canonical({**parts, "checksum": _checksum(parts)})


def evidence_from_line(line: str) -> Evidence:
    """The inverse. Raises BadEvidence saying what is wrong; checks no signature."""
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"longer than {LONGEST_LINE} characters")
        record = json.loads(line)
        if not isinstance(record, dict):
            raise TypeError("expected an object")
        parts = {name: value for name, value in record.items() if name != "checksum"}
        if record.get("checksum") != _checksum(parts):
            raise ValueError("its checksum does not fit: it was changed")
        evidence = evidence_from_dict(parts)
        if evidence_line(evidence) != line:
            raise ValueError("it is not written as it should be")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadEvidence(f"no evidence: {type(error).__name__}: {error}"[:200]) from None
    return evidence


def evidence_from_dict(record: Mapping[str, object]) -> Evidence:
    """The inverse of `as_dict`. Raises KeyError, TypeError and ValueError."""
    ledger, number = record["ledger"], _whole(record, "number")
    if not isinstance(ledger, str) or not 0 < len(ledger) <= _LONGEST_ID:
        raise ValueError(f"ledger: expected an id, got {ledger!r:.99}")
    head = Head(ledger, number, hexadecimal("head", record["head"], 64))
    match record["evidence"]:
        case "kept":
            return KeptHead(head)
        case "time-stamp":
            nonce = _text(record, "nonce")
            return TimeStamp(head, int(hexadecimal("nonce", nonce, len(nonce)), 16), _bytes(record, "reply"))
        case "co-signature":
            return _co_signature(head, record)
        case kind:
            raise ValueError(f"{kind!r:.99} is no kind of evidence")


def _co_signature(head: Head, record: Mapping[str, object]) -> CoSignature:
    sequence, before = _whole(record, "sequence"), record["previous_number"]
    found = CoSignature(
        head=head,
        sequence=sequence,
        previous=hexadecimal("previous", record["previous"], 64),
        previous_number=None if before is None else _whole(record, "previous_number"),
        previous_head=hexadecimal("previous_head", record["previous_head"], 64),
        begun=_whole(record, "begun"),
        time=_whole(record, "time"),
        key=hexadecimal("key", record["key"], 64),
        signature=hexadecimal("signature", record["signature"], 128),
    )
    first = (sequence == 0, found.previous == GENESIS, found.previous_number is None, found.previous_head == GENESIS)
    if len(set(first)) != 1:
        raise ValueError("only the first statement of a witness follows none")
    if found.begun > found.time or (found.previous_number or 0) > head.number:
        raise ValueError("a witness begins before it signs, and what it signs grows")
    return found


def _checksum(parts: Mapping[str, object]) -> str:
    return hashlib.sha256(canonical(dict(parts)).encode("ascii")).hexdigest()


def _whole(record: Mapping[str, object], name: str) -> int:
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{name}: expected a whole number of at least 0, got {value!r:.99}")
    return value


def _text(record: Mapping[str, object], name: str) -> str:
    if not isinstance(value := record[name], str):
        raise TypeError(f"{name}: expected a text, got {value!r:.99}")
    return value


def _bytes(record: Mapping[str, object], name: str) -> bytes:
    return base64.b64decode(_text(record, name), validate=True)
