"""Time stamps by RFC 3161: asking an authority for one, and checking it offline, later.

What is stamped is SHA-256 of `Head.message`. Needs `rfc3161-client` and `cryptography` (`exchequer[witnesses]`).

Whether an authority's certificate was revoked is not looked up, as that would need the network; and it must have been
valid at the time of the stamp, not today.
"""

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from accountant.witnesses.head_evidence import BadEvidence, Head, TimeStamp

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

QUERY: Final = "application/timestamp-query"
PATIENCE: Final = 30.0
"""Seconds that an authority may take to answer."""

LONGEST_REPLY: Final = 1 << 19
"""Bytes of a reply that is read."""

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@contextmanager
def _client() -> Iterator[None]:
    """Say what is missing when the library is."""
    try:
        yield
    except ImportError as error:
        raise ImportError("time stamps need rfc3161-client: pip install 'exchequer[witnesses]'") from error


@attrs.frozen
class StampRequest:
    """What is sent to an authority. content: DER.  nonce: what makes the reply one to this request."""

    head: Head
    nonce: int
    content: bytes

    @staticmethod
    def of(head: Head) -> "StampRequest":
        """A new request. Raises ImportError."""
        with _client():
            from rfc3161_client import HashAlgorithm, TimestampRequestBuilder
        made = TimestampRequestBuilder().data(head.message).hash_algorithm(HashAlgorithm.SHA256).build()
        if made.nonce is None:
            raise ValueError("the request has no nonce")
        return StampRequest(head, made.nonce, made.as_bytes())

    def answered(self, reply: bytes) -> TimeStamp:
        """The evidence that a reply is. Raises BadEvidence where it answers something else, or refuses."""
        stamp = TimeStamp(self.head, self.nonce, reply)
        _refuse_other(stamp, _parsed(reply))
        return stamp


def ask(url: str, request: StampRequest) -> TimeStamp:
    """Send a request to this URL over HTTP, and to no other. Raises ValueError, OSError, BadEvidence."""
    from accountant.witnesses.stamp_post import post  # it takes HTTP along, which readers of a ledger need not wait for

    reply = post(url, request.content, QUERY, PATIENCE, LONGEST_REPLY + 1)
    if len(reply) > LONGEST_REPLY:
        raise BadEvidence(f"{url} sent more than {LONGEST_REPLY} bytes")
    return request.answered(reply)


# --- checking --------------------------------------------------------------------------------------------------


@attrs.frozen
class Stamped:
    """A time stamp that holds. time: nanoseconds since 1970.  accuracy: it may be so many off.  authority: its name."""

    time: int
    accuracy: int
    authority: str

    @property
    def latest(self) -> int:
        """The entries existed by then."""
        return self.time + self.accuracy


def load_roots(path: str | Path) -> "tuple[Certificate, ...]":
    """Certificates in PEM that an auditor trusts: roots, and what lies between. Raises ValueError, ImportError."""
    with _client():
        from cryptography.x509 import load_pem_x509_certificates
    try:
        return tuple(load_pem_x509_certificates(Path(path).read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path}: no certificates in PEM: {error}") from None


def check_time_stamp(stamp: TimeStamp, roots: "Sequence[Certificate]") -> Stamped:
    """What a time stamp says, if it holds: digest, nonce, the authority's signature and its chain to a root.

    roots: not empty.  Raises BadEvidence, ImportError.
    """
    with _client():
        from rfc3161_client import VerificationError, VerifierBuilder
    reply = _parsed(stamp.reply)
    info = _refuse_other(stamp, reply).tst_info
    try:
        VerifierBuilder(roots=list(roots), nonce=stamp.nonce).build().verify_message(reply, stamp.head.message)
        accuracy = info.accuracy
        spread = 0 if accuracy is None else _spread(accuracy.seconds, accuracy.millis, accuracy.micros)
        return Stamped(_nanoseconds(info.gen_time), spread, _signer(reply))
    except (VerificationError, ValueError, TypeError, OverflowError) as error:
        raise BadEvidence(f"the time stamp does not hold: {error}"[:200]) from None


def _parsed(reply: bytes) -> "TimeStampResponse":
    with _client():
        from rfc3161_client import decode_timestamp_response
    try:
        return decode_timestamp_response(reply)
    except (ValueError, TypeError) as error:
        raise BadEvidence(f"this is no reply of a time stamping authority: {error}"[:200]) from None


def _refuse_other(stamp: TimeStamp, reply: "TimeStampResponse") -> "TimeStampResponse":
    """Raise BadEvidence for a reply to another request, or a refusal; whoever may have signed it."""
    try:
        if reply.status != 0:
            said = "; ".join(reply.status_string)
            raise BadEvidence(f"the authority refused to stamp, with status {reply.status}: {said}"[:200])
        if reply.tst_info.message_imprint.message != hashlib.sha256(stamp.head.message).digest():
            raise BadEvidence("the time stamp is of another head")
        if reply.tst_info.nonce != stamp.nonce:
            raise BadEvidence("the time stamp answers another request: its nonce is another")
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, BadEvidence) else BadEvidence(f"no time stamp: {error}"[:200]) from None
    return reply


def _signer(reply: "TimeStampResponse") -> str:
    for signer in reply.signed_data.signer_infos:
        return f"serial number {signer.serial_number} of {signer.issuer.rfc4514_string()}"
    return ""


def _spread(seconds: int, millis: int | None, micros: int | None) -> int:
    return seconds * 10**9 + (millis or 0) * 10**6 + (micros or 0) * 10**3


def _nanoseconds(when: datetime.datetime) -> int:
    since = (when if when.tzinfo else when.replace(tzinfo=datetime.UTC)) - _EPOCH
    return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000
