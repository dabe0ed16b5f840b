"""Chains that somebody with the whole database makes: entries changed, put in or left out, every digest made anew."""

from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accountant import Entry
from accountant.entries.chain import GENESIS, digest_of
from accountant.entries.codec import decode, encode, kind_of
from accountant.entries.entry_kinds import KeyChange, Opened, Record, Signed
from accountant.entries.receipts import SigningKey
from accountant.witnesses.writer_signatures import signed


def new_key() -> SigningKey:
    """A key that is in no file."""
    return SigningKey(Ed25519PrivateKey.generate())


def rechained(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The same lines, in this order, with the digests that they come to."""
    chain: list[Entry] = []
    for entry in entries:
        before = chain[-1].digest if chain else GENESIS
        chain.append(Entry(entry.number, entry.kind, entry.line, digest_of(before, entry.line)))
    return tuple(chain)


def said(entries: Sequence[Entry], record: Record) -> tuple[Entry, ...]:
    """The entries, and one more that says this."""
    number, before = len(entries), entries[-1].digest
    line = encode(number, record)
    return (*entries, Entry(number, kind_of(record), line, digest_of(before, line)))


def signed_by(entries: Sequence[Entry], key: SigningKey, charges: Sequence[int]) -> tuple[Entry, ...]:
    """The entries, and one that signs them with this key, whether it may or not."""
    plain = Signed(decode(entries[-1]).time, key.public.hex, tuple(charges), entries[-1].digest)
    return said(entries, signed(plain, len(entries), id_of(entries), key))


def changed_by(entries: Sequence[Entry], change: KeyChange, key: SigningKey) -> tuple[Entry, ...]:
    """The entries, and a change of keys signed with this key, whether it may or not."""
    return said(entries, signed(change, len(entries), id_of(entries), key))


def id_of(entries: Sequence[Entry]) -> str:
    opened = decode(entries[0])
    assert isinstance(opened, Opened)
    return opened.id


def dated(entries: Iterable[Entry], by: int) -> tuple[Entry, ...]:
    """The same entries, their times moved by so many nanoseconds, and the chain made anew."""
    moved = []
    for entry in entries:
        time = decode(entry).time
        line = entry.line.replace(f'"time":{time}', f'"time":{time + by}')
        moved.append(Entry(entry.number, entry.kind, line, ""))
    return rechained(moved)
