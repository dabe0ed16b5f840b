"""Time stamps by RFC 3161, of a real authority: they hold, and no other token passes for one of this head."""

import datetime
import random
import time
from pathlib import Path

import attrs
import pytest

from accountant.witnesses.head_evidence import BadEvidence, Head, TimeStamp, evidence_from_line, evidence_line
from accountant.witnesses.time_stamps import LONGEST_REPLY, StampRequest, ask, check_time_stamp, load_roots
from proofs_tests.support.ledgers.authorities import YEAR, Authority, authority, served

HEAD = Head("0123456789abcdef" * 2, 41, "ab" * 32)


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authorities") / "trusted")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def stamped(by: Authority, head: Head = HEAD) -> TimeStamp:
    request = StampRequest.of(head)
    return request.answered(by.stamp(request.content))


def test_a_stamp_over_http_holds_and_says_when(trusted: Authority) -> None:
    before = time.time_ns()
    with served(trusted) as service:
        stamp = ask(service.url, StampRequest.of(HEAD))
    found = check_time_stamp(stamp, load_roots(trusted.root))
    assert before - 10**9 <= found.time <= time.time_ns()  # whole seconds
    assert found.latest == found.time + 1_500_000_000
    assert "A test authority" in found.authority
    assert evidence_from_line(evidence_line(stamp)) == stamp


@pytest.mark.parametrize(
    "other",
    [attrs.evolve(HEAD, ledger="f" * 32), attrs.evolve(HEAD, number=42), attrs.evolve(HEAD, digest="ba" * 32)],
    ids=["ledger", "number", "digest"],
)
def test_a_stamp_of_another_head_is_none(trusted: Authority, other: Head) -> None:
    stamp = attrs.evolve(stamped(trusted), head=other)
    with pytest.raises(BadEvidence, match="of another head"):
        check_time_stamp(stamp, load_roots(trusted.root))


def test_a_reply_to_another_request_is_none(trusted: Authority) -> None:
    asked, other = StampRequest.of(HEAD), StampRequest.of(HEAD)
    reply = trusted.stamp(other.content)
    with pytest.raises(BadEvidence, match="its nonce is another"):
        asked.answered(reply)
    with pytest.raises(BadEvidence, match="its nonce is another"):
        check_time_stamp(TimeStamp(HEAD, asked.nonce, reply), load_roots(trusted.root))


def test_another_authority_is_not_believed(trusted: Authority, tmp_path: Path) -> None:
    other = authority(tmp_path / "other", called="Another authority")
    with pytest.raises(BadEvidence, match="does not hold"):
        check_time_stamp(stamped(other), load_roots(trusted.root))
    both = (*load_roots(trusted.root), *load_roots(other.root))
    assert "Another authority" in check_time_stamp(stamped(other), both).authority


def test_a_self_made_chain_with_the_root_s_name_is_not_believed(trusted: Authority, tmp_path: Path) -> None:
    forged = authority(tmp_path / "forged", issuer=trusted)
    with pytest.raises(BadEvidence, match="does not hold"):
        check_time_stamp(stamped(forged), load_roots(trusted.root))


@pytest.mark.parametrize("valid", [(-YEAR, -YEAR / 2), (YEAR / 2, YEAR)])
def test_a_certificate_that_was_not_valid_at_the_time_is_none(
    tmp_path: Path, valid: tuple[datetime.timedelta, datetime.timedelta]
) -> None:
    expired = authority(tmp_path / "expired", valid=valid)
    with pytest.raises(BadEvidence, match="does not hold"):
        check_time_stamp(stamped(expired), load_roots(expired.root))


def test_a_refusal_is_no_stamp(tmp_path: Path) -> None:
    strict = authority(tmp_path / "strict", digests="sha512")
    with pytest.raises(BadEvidence, match="refused to stamp, with status 2"):
        stamped(strict)


def test_what_is_no_reply_is_none(trusted: Authority) -> None:
    for reply in (b"", b"no", b"\x30\x03\x02\x01\x00", trusted.stamp(StampRequest.of(HEAD).content)[:-7]):
        with pytest.raises(BadEvidence):
            StampRequest.of(HEAD).answered(reply)


def test_any_bit_of_a_reply_means_the_same_or_breaks_it(trusted: Authority) -> None:
    """Of the token alone, its checksum left out: some bytes of it are not signed, and none of them says anything."""
    stamp, roots, generator = stamped(trusted), load_roots(trusted.root), random.Random(4)
    meant = check_time_stamp(stamp, roots)
    kept = 0
    for bit in generator.sample(range(8 * len(stamp.reply)), 800):
        changed = bytearray(stamp.reply)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            assert check_time_stamp(attrs.evolve(stamp, reply=bytes(changed)), roots) == meant
            kept += 1
        except BadEvidence:
            pass
    assert kept < 80


# --- over the network, whatever answers ------------------------------------------------------------------------


def test_a_redirect_is_not_followed(trusted: Authority) -> None:
    with (
        served(trusted) as elsewhere,
        served(None, status=307, headers={"Location": elsewhere.url}) as service,
        pytest.raises(OSError, match="refused to stamp: 307"),
    ):
        ask(service.url, StampRequest.of(HEAD))
    assert len(service.seen) == 1
    assert elsewhere.seen == []


def test_an_error_is_said_and_so_is_silence(trusted: Authority) -> None:
    with served(None, status=503) as service, pytest.raises(OSError, match="refused to stamp: 503"):
        ask(service.url, StampRequest.of(HEAD))
    with pytest.raises(OSError, match="does not answer"):
        ask(service.url, StampRequest.of(HEAD))


def test_a_reply_without_end_is_not_read(trusted: Authority) -> None:
    with served(trusted, padding=bytes(LONGEST_REPLY)) as service, pytest.raises(BadEvidence, match="sent more than"):
        ask(service.url, StampRequest.of(HEAD))


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "study.db"])
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(ValueError, match="over http or https"):
        ask(url, StampRequest.of(HEAD))


def test_what_is_sent_holds_a_digest_and_no_more(trusted: Authority) -> None:
    with served(trusted) as service:
        ask(service.url, StampRequest.of(HEAD))
    (sent,) = service.seen
    assert HEAD.ledger.encode() not in sent
    assert HEAD.digest.encode() not in sent
    assert len(sent) < 100


def test_roots_are_certificates(tmp_path: Path) -> None:
    (tmp_path / "root.pem").write_text("no certificate")
    with pytest.raises(ValueError, match="no certificates in PEM"):
        load_roots(tmp_path / "root.pem")
