"""A receipt: what one entry of the ledger says, in the hands of somebody who does not hold the ledger.

The digest of an entry commits to it and to everything before it, so a receipt that matches the ledger dates it: it
was not rewritten since. Signed with Ed25519 it also says who gave it. Signing and checking signatures needs the
package `cryptography` (`exchequer[receipts]`); an unsigned receipt needs nothing, and says that it is unsigned.

What is signed is the ASCII text "exchequer receipt 1", a line feed, and the canonical JSON of all parts but the
signature, the public key included.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Never, get_args

import attrs

from accountant.canonical_json import canonical
from accountant.composition import amount_text
from accountant.entries.about import NOTHING_SAID, About
from accountant.entries.atomic_files import whole_file
from accountant.entries.chain import Entry, Kind
from accountant.entries.codec import decode
from accountant.entries.entry_kinds import (
    Allocated,
    Announced,
    Charged,
    Closed,
    Opened,
    Record,
    Released,
    Returned,
    hexadecimal,
    whole,
)
from accountant.entries.printable import visible
from accountant.explained import Explained

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from accountant.composition import Amount
    from accountant.costs import Cost

VERSION: Final = 1
NEWEST_VERSION: Final = 2
"""Of receipts that say what their charge is about."""

DOMAIN: Final = b"exchequer receipt 1\n"
"""Before everything that is signed, so that no signature made for something else passes for a receipt's."""

_LONGEST_KEY: Final = 1 << 16

_WEAK: Final = {
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    *(number.to_bytes(32, "little").hex() for number in (0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18)),
}
"""The y of all points of order 1, 2, 4 and 8, in each way to write them: whoever likes can sign with these as keys."""


class BadReceipt(Explained, ValueError):
    """A receipt that is malformed, unsigned where a signature was asked for, or whose signature does not match."""


@contextmanager
def _cryptography() -> Iterator[None]:
    """Say what is missing when `cryptography` is."""
    try:
        yield
    except ImportError as error:
        raise ImportError("signatures need cryptography: pip install 'exchequer[receipts]'") from error


# --- keys ------------------------------------------------------------------------------------------------------


@attrs.frozen
class PublicKey:
    """An Ed25519 public key. hex: its 32 bytes."""

    hex: str = attrs.field()

    @hex.validator
    def _whole_key(self, attribute: object, value: object) -> None:
        hexadecimal("public_key", value, 64)

    @staticmethod
    def load(path: str | Path) -> "PublicKey":
        """From a PEM file. Raises ValueError where it holds no Ed25519 public key, ImportError, OSError."""
        with _cryptography():
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from cryptography.hazmat.primitives.serialization import load_pem_public_key
        with Path(path).open("rb") as file:
            content = file.read(_LONGEST_KEY)
        if b"PRIVATE KEY" in content:
            raise ValueError(f"{path}: this is a private key; give the public one, and keep this one to yourself")
        try:
            key = load_pem_public_key(content)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise ValueError(f"{path}: not an Ed25519 public key in PEM")
        return PublicKey(key.public_bytes_raw().hex())

    def save(self, path: str | Path) -> None:
        """To a PEM file."""
        with _cryptography():
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.hex))
        with whole_file(path) as out:
            out.write(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii"))

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Whether this key's owner signed the message; never, where the key is one that anybody can sign with."""
        with _cryptography():
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        key = bytes.fromhex(self.hex)
        if bytes([*key[:31], key[31] & 0x7F]).hex() in _WEAK:
            return False
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


class SigningKey:
    """An Ed25519 private key, in a file that only its owner can read. Neither copied, pickled nor printed."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key

    @staticmethod
    def create(path: str | Path) -> "SigningKey":
        """A new key, kept in a new PEM file with mode 0600. Raises FileExistsError, ImportError, OSError."""
        with _cryptography():
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
        key = Ed25519PrivateKey.generate()
        content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        return SigningKey(key)

    @staticmethod
    def load(path: str | Path) -> "SigningKey":
        """From a PEM file without a password.

        Raises PermissionError where anybody but its owner may read or write the file, ValueError where it holds no
        such key, ImportError, OSError.
        """
        with _cryptography():
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            if os.name == "posix" and mode & 0o077:
                raise PermissionError(
                    f"{path}: others may open this private key (mode {mode:o}). chmod 600 it, or better make a new "
                    "one, as somebody may have read it"
                )
            content = file.read(_LONGEST_KEY)
        try:
            key = load_pem_private_key(content, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError(f"{path}: not an Ed25519 private key in PEM without a password")
        return SigningKey(key)

    @property
    def public(self) -> PublicKey:
        """What others check its signatures with."""
        return PublicKey(self._key.public_key().public_bytes_raw().hex())

    def sign(self, message: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"<SigningKey of the public key {self.public.hex}>"

    def __copy__(self) -> Never:
        raise TypeError("a signing key is neither copied nor pickled; load it from its file where it is needed")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> Never:
        self.__copy__()


# --- receipts --------------------------------------------------------------------------------------------------


@attrs.frozen
class Receipt:
    """What one entry says.

    ledger: the id of the ledger.  number, digest, kind, time: the entry's; time in nanoseconds since 1970.
    account: who or what was charged; "" for entries that name none.  cost: in words and exact numbers.
    bought: SHA-256 of what the charge was for, a model's content for one, by the word of whoever gave the receipt: the
      ledger does not hold it. None where nobody said.
    about: which data the charge was for, what for, by whom; receipts that say so are of version 2.
    public_key, signature: of who gave the receipt, in hexadecimal; None on an unsigned one.
    """

    ledger: str
    number: int
    digest: str
    kind: str
    account: str
    cost: str
    time: int
    bought: str | None = None
    public_key: str | None = None
    signature: str | None = None
    about: About = NOTHING_SAID

    @property
    def signed(self) -> bool:
        """Whether there is a signature. Whether it matches is what `verify` tells."""
        return self.signature is not None

    def verify(self, public_key: PublicKey) -> None:
        """Raise BadReceipt unless the owner of this key signed exactly this receipt; ImportError."""
        if self.signature is None or self.public_key is None:
            raise BadReceipt(f"the receipt for entry {self.number} is unsigned")
        if self.public_key != public_key.hex:
            raise BadReceipt(
                f"the receipt for entry {self.number} is signed with another key, {self.public_key}, "
                f"than the one expected, {public_key.hex}"
            )
        if not public_key.signed(self.message, bytes.fromhex(self.signature)):
            raise BadReceipt(f"the signature on the receipt for entry {self.number} does not match: it was changed")

    @property
    def message(self) -> bytes:
        """What is signed."""
        parts = {name: value for name, value in self.as_dict().items() if name != "signature"}
        return DOMAIN + canonical(parts).encode("ascii")

    def differs(self, entry: Entry, ledger: str) -> tuple[str, ...]:
        """The names of the parts that are not as this entry, in the ledger with this id, has them."""
        own = receipt(entry, ledger)
        parts = ("ledger", "number", "digest", "kind", "account", "cost", "time", "about")
        return tuple(name for name in parts if getattr(self, name) != getattr(own, name))

    def as_dict(self) -> dict[str, object]:
        """For JSON, beside a saved model."""
        plain: dict[str, object] = {"receipt": VERSION, **attrs.asdict(self, filter=attrs.filters.exclude("about"))}
        return {**plain, "receipt": NEWEST_VERSION, "about": self.about.as_dict()} if self.about else plain

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Receipt":
        """The inverse of `as_dict`; exactly its parts. Raises BadReceipt saying what is wrong; checks no signature."""
        try:
            return _checked(record)
        except (TypeError, ValueError, AttributeError) as error:
            raise BadReceipt(f"not a receipt: {error}"[:300]) from None

    def __str__(self) -> str:
        who = f" to {self.account!r}" if self.account else ""
        what = f" for {self.bought[:12]}…" if self.bought else ""
        what += "".join(f", {name.replace('_', ' ')} {text!r}" for name, text in self.about.as_dict().items())
        by = f"signed with the key {self.public_key}" if self.signed else "unsigned"
        return visible(
            f"entry {self.number} of the ledger {self.ledger}: {self.kind}{who}{what}, {self.cost}; {self.digest}; {by}"
        )


def receipt(entry: Entry, ledger: str, *, bought: str | None = None, key: SigningKey | None = None) -> Receipt:
    """The receipt for an entry of the ledger with this id, signed if a key is given. Raises DamagedEntry, ValueError.

    bought: SHA-256, in hexadecimal, of what the charge was for.
    """
    if bought is not None:
        hexadecimal("bought", bought, 64)
    record = decode(entry)
    account = record.account if isinstance(record, Charged | Allocated | Announced | Closed) else ""
    about = record.about if isinstance(record, Charged) else NOTHING_SAID
    cost = _cost(record)
    plain = Receipt(ledger, entry.number, entry.digest, entry.kind, account, cost, record.time, bought, about=about)
    if key is None:
        return plain
    named = attrs.evolve(plain, public_key=key.public.hex)
    return attrs.evolve(named, signature=key.sign(named.message).hex())


def _cost(record: Record) -> str:
    match record:
        case Charged(plan=plan, price=price, route=route):
            steps = " + ".join(f"{step.rounds} x {_numbers(step.cost)}" for step in plan.steps)
            return steps if price is None else f"{steps}, together {_numbers(price)} by {route}"
        case Returned(charge=charge, rounds=rounds, amount=amount):
            return f"{rounds} rounds of charge {charge} given back, {_exactly(amount)}"
        case Allocated(ceiling=ceiling):
            return f"set aside, {_exactly(ceiling)}"
        case Announced():
            return "a label"
        case Closed(returned=returned):
            return f"not spent, {_exactly(returned)}"
        case Opened(budget=budget):
            return f"budget {_numbers(budget)}"
        case Released(charge=charge):
            return f"value of charge {charge} drawn"
        case _:
            return "nothing"


def _numbers(cost: "Cost") -> str:
    """Exact: a float's shortest text reads back as the same float."""
    return " ".join([cost.kind, *(f"{name}={value!r}" for name, value in attrs.asdict(cost).items())])


def _exactly(amount: "Amount") -> str:
    return f"loss {amount_text(amount.loss_units)}, delta {amount_text(amount.delta_units)}"


def _checked(record: Mapping[str, object]) -> Receipt:
    names = {"receipt", *(field.name for field in attrs.fields(Receipt))}
    names -= {"about"} if record.get("receipt") == VERSION else set()
    if record.keys() != names:
        raise ValueError(f"missing {sorted(names - record.keys())}, unknown {sorted(map(str, record.keys() - names))}")
    if not VERSION <= whole(record["receipt"]) <= NEWEST_VERSION:
        raise ValueError(f"receipt: of version {record['receipt']!r}, this version reads {VERSION} to {NEWEST_VERSION}")
    kind, key, signature = _text(record, "kind"), record["public_key"], record["signature"]
    bought = record["bought"]
    if kind not in get_args(Kind):
        raise ValueError(f"kind: {kind!r} is no kind of entry")
    if (key is None) is not (signature is None):
        raise ValueError("a public key and a signature come together")
    return Receipt(
        ledger=_text(record, "ledger"),
        number=whole(record["number"]),
        digest=hexadecimal("digest", record["digest"], 64),
        kind=kind,
        account=_text(record, "account"),
        cost=_text(record, "cost"),
        time=whole(record["time"]),
        bought=None if bought is None else hexadecimal("bought", bought, 64),
        public_key=None if key is None else hexadecimal("public_key", key, 64),
        signature=None if signature is None else hexadecimal("signature", signature, 128),
        about=_about(record),
    )


def _about(record: Mapping[str, object]) -> About:
    """Raises ValueError where a receipt of version 2 says nothing, as it would not be one."""
    if record["receipt"] == VERSION:
        return NOTHING_SAID
    said = record["about"]
    if not isinstance(said, Mapping) or not said:
        raise ValueError("about: expected what the charge is about")
    return About.from_dict(said)


def _text(record: Mapping[str, object], name: str) -> str:
    if not isinstance(value := record[name], str):
        raise TypeError(f"{name}: expected a text, got {value!r}")
    return value
