"""Signatures of writers on entries: made by a handle that has a key, and checked by `verify`.

What a signature covers is `accountant.entries.signed_message`: the whole entry, with its number, its time, the digest
of the entry before it, and the id of the ledger. So it covers every entry before it, too, and fits nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

import attrs

from accountant.entries import (
    Entry,
    KeyAction,
    KeyChange,
    PublicKey,
    Signed,
    SigningKey,
    State,
    digest_of,
    encode,
    signed_message,
    visible,
    why_no_name,
)

SIGN_EVERY: Final = 64
"""Charges after which a writer signs, unless it says otherwise; it also signs after a fit, and on closing."""

NOT_CHECKED: Final = "signatures were not checked: that needs cryptography, pip install 'exchequer[witnesses]'"

MOST_KEYS: Final = 5
"""Keys that notes name; of any more, their number."""

S = TypeVar("S", Signed, KeyChange)


# --- making them -----------------------------------------------------------------------------------------------


def signed(record: S, number: int, ledger: str, key: SigningKey) -> S:
    """Entry `number` of this ledger, signed. Of a change of keys, `key` is the one that allows it."""
    return attrs.evolve(record, signature=key.sign(_message(record, number, ledger)).hex())


def key_change(
    action: KeyAction, key: SigningKey | str, *, by: SigningKey, name: str = "", administrator: bool = False
) -> "KeyRequest":
    """A change of a ledger's keys, to be written by `Ledger.change_key`.

    enrol: `key` under this name, allowed by an administrator, or by itself where the ledger has none yet.
    rotate: `key` takes the place of `by`.  revoke: the public key `key`, 64 hexadecimal digits, by itself or an
    administrator.  Raises TypeError for a public key where somebody must show that the private one is there, and
    ValueError for a name that is none, or for one where the key has a name already.
    """
    if action == "enrol" and (reason := why_no_name(name)) is not None:
        raise ValueError(f"name: {reason}")
    if action != "enrol" and (name or administrator):
        raise ValueError(f"{action}: a key keeps its name and its rights; leave them out")
    if action != "revoke" and not isinstance(key, SigningKey):
        raise TypeError(f"{action}: give the private key, which signs that it agrees")
    return KeyRequest(action, key, by, name, administrator)


@attrs.frozen(eq=False)
class KeyRequest:
    """A change of keys that has no place among the entries yet."""

    action: KeyAction
    key: SigningKey | str
    by: SigningKey
    name: str
    administrator: bool

    def at(self, number: int, time: int, head: str, ledger: str) -> KeyChange:
        """The entry of this number, after the one with the digest `head`, with its signatures."""
        public = self.key if isinstance(self.key, str) else self.key.public.hex
        plain = KeyChange(time, self.action, public, self.name, self.administrator, self.by.public.hex, head)
        proof = "" if isinstance(self.key, str) or self.action == "revoke" else _proof(self.key, plain, number, ledger)
        return signed(attrs.evolve(plain, proof=proof), number, ledger, self.by)


def _proof(key: SigningKey, change: KeyChange, number: int, ledger: str) -> str:
    return key.sign(_message(change, number, ledger)).hex()


def _message(record: Signed | KeyChange, number: int, ledger: str) -> bytes:
    plain: Signed | KeyChange
    match record:
        case KeyChange():
            plain = attrs.evolve(record, signature="", proof="")
        case Signed():
            plain = attrs.evolve(record, signature="")
    return signed_message(ledger, encode(number, plain))


@attrs.define(eq=False)
class WriterSigning:
    """What one handle has charged and not signed yet. every: charges after which it signs by itself, at least 1."""

    key: SigningKey
    every: int = attrs.field(default=SIGN_EVERY)
    pending: list[int] = attrs.field(factory=list)
    attempt: tuple[int, str, int] | None = None
    """Number and line of an entry that may have been written, and how many charges it signs."""

    @every.validator
    def _at_least_one(self, attribute: object, value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"sign_every: expected a whole number of at least 1, got {value!r}")

    def why_not(self, state: State) -> str | None:
        """Why this key may not sign now; None if it may."""
        return state.writers.why_not_sign(self.key.public.hex)

    def at(self, number: int, time: int, head: str, ledger: str) -> Signed:
        """The entry of this number, which signs what is pending; it is about to be written."""
        charges = tuple(self.pending)
        record = signed(Signed(time, self.key.public.hex, tuple(sorted(charges)), head), number, ledger, self.key)
        self.attempt = (number, encode(number, record), len(charges))
        return record

    def settle(self, read: Callable[[int], Iterator[Entry]]) -> None:
        """Find out whether the last attempt was written: an interrupt may have come before anybody could say so.

        read: the entries from a number on. Charges that were signed must not be signed again.
        """
        if self.attempt is not None:
            number, line, charges = self.attempt
            entry = next(iter(read(number)), None)
            if entry is not None and entry.line == line:
                del self.pending[:charges]
            self.attempt = None


# --- checking them ---------------------------------------------------------------------------------------------


def _can_check() -> bool:
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401  # whether it is there
    except ImportError:
        return False
    return True


class SignatureMade(NamedTuple):
    """What one `signed` entry covers: all before it, and so many charges as its own, the first and the last."""

    entry: int
    key: str
    name: str
    charges: int
    first: int | None
    last: int | None


class WriterSignatures:
    """Who signed which charges, as `verify` finds it in one pass.

    required: whether a charge that nobody signed is an error; before the first key is enrolled, too.
    first_key: the key that must have enrolled itself first; else whichever did is trusted.
    signed: by public key, how many charges it signed as its own.  unsigned: numbers of charges that nobody did, since
    the first key was enrolled.  entries: how many entries with signatures were found.
    made: where `listed`, each `signed` entry.
    """

    def __init__(self, *, required: bool = False, first_key: PublicKey | None = None, listed: bool = False) -> None:
        self.required, self.first_key, self._listed = required, first_key, listed
        self.made: list[SignatureMade] = []
        self.signed: dict[str, int] = {}
        self.unsigned: dict[int, None] = {}
        self.entries = 0
        self._watching, self._start, self._charges = False, 0, 0
        self._names: dict[str, str] = {}
        self._first: tuple[int, str] | None = None
        self._checks = _can_check()

    def go_on_from(self, number: int, state: State) -> None:
        """Start after a checkpoint: what was charged before it, and who signed that, is not known."""
        self._start = number + 1
        for key in state.writers.keys.values():
            self._names[key.key] = key.name
            self._first = (key.since, key.key) if self._first is None else self._first
        self._watching = bool(state.writers)

    def watch(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries; numbers of charges are kept as they pass by."""
        for entry in entries:
            if self._watching and entry.kind == "charged":
                self.unsigned[entry.number] = None
            yield entry

    def check(self, entry: Entry, record: Signed | KeyChange, state: State) -> list[str]:
        """What is wrong with the signatures in an entry whose digest fits, and that was taken into the state."""
        if state.opened is None:
            return []
        self.entries += 1
        wrong = [] if digest_of(record.head, entry.line) == entry.digest else ["it signs another head than that before"]
        if self._checks:
            message = _message(record, entry.number, state.opened.id)
            wrong += [f"its {what} is forged" for what, key, by in _made(record) if not _holds(key, message, by)]
        if isinstance(record, Signed):
            if self._listed:
                own = (record.charges[0], record.charges[-1]) if record.charges else (None, None)
                name = self._names.get(record.key, "")
                self.made.append(SignatureMade(entry.number, record.key, name, len(record.charges), *own))
            return wrong + self._claimed(record)
        self._note_change(entry.number, record)
        return wrong

    def _note_change(self, number: int, record: KeyChange) -> None:
        self._watching = True
        self._names.setdefault(record.key, record.name or self._names.get(record.by, ""))
        if self._first is None:
            self._first = (number, record.key)

    def _claimed(self, record: Signed) -> list[str]:
        strange = [each for each in record.charges if each >= self._start and each not in self.unsigned]
        for each in record.charges:
            self.unsigned.pop(each, None)
        self.signed[record.key] = self.signed.get(record.key, 0) + len(record.charges) - len(strange)
        if not strange:
            return []
        return [f"it signs entry {strange[0]} as a charge of its own, which is none, or was signed before"]

    # --- what came of it ----------------------------------------------------------------------------------

    def errors(self, charges: int) -> Iterator[str]:
        """What must not be, after all entries. charges: how many there were."""
        if self.first_key is not None and self._first is None:
            yield f"no key was ever enrolled, and {self.first_key.hex} was expected to be the first"
        elif self.first_key is not None and self._first is not None and self._first[1] != self.first_key.hex:
            yield f"the first key is {self._first[1]}, and not {self.first_key.hex}, which was expected"
        if not self.required:
            return
        if not self._checks:
            yield NOT_CHECKED
        if self._first is None and charges:
            yield f"none of {charges} charges is signed: no writer's key was ever enrolled"
        if self.unsigned:
            yield self._unsigned()

    def caveats(self) -> Iterator[str]:
        """Why a sound ledger is worth less than it looks."""
        if self.entries and not self._checks:
            yield NOT_CHECKED

    def notes(self, charges: int) -> Iterator[str]:
        """What is worth knowing. charges: how many there were."""
        if self._first is None:
            return
        number, key = self._first
        if self.first_key is None:
            yield f"the first key, {key}, enrolled itself in entry {number}: compare it with the one that you know"
        early = 0 if self._start else charges - sum(self.signed.values()) - len(self.unsigned)
        if early > 0:
            yield f"charges from before the first key was enrolled, by entry {number}: {early}"
        for key, count in list(self.signed.items())[:MOST_KEYS]:
            yield visible(f"charges signed by {self._names.get(key, '')!r}, key {key}: {count}")
        if len(self.signed) > MOST_KEYS:
            yield f"{len(self.signed) - MOST_KEYS} more keys signed charges"
        if self.unsigned and not self.required:
            yield self._unsigned()

    def _unsigned(self) -> str:
        many, first = len(self.unsigned), min(self.unsigned)
        return f"charges signed by nobody, since the first key was enrolled: {many}, the first is entry {first}"


def _made(record: Signed | KeyChange) -> list[tuple[str, str, str]]:
    """The signatures in an entry: what each is called, whose it must be, and itself."""
    if isinstance(record, Signed):
        return [("signature", record.key, record.signature)]
    proof = [("proof", record.key, record.proof)] if record.proof else []
    return [("signature", record.by, record.signature), *proof]


def _holds(key: str, message: bytes, signature: str) -> bool:
    return PublicKey(key).signed(message, bytes.fromhex(signature))
