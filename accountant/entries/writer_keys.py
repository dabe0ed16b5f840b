"""Keys of writers, as the entries of a ledger enrol, rotate and revoke them; and what each of them signs.

Who may do what is decided here from the entries alone, without any cryptography: whether a signature was really made
with the key that it names is for `verify` to find, with `accountant.witnesses`.

The first key of a ledger enrols itself, and is trusted on first use: compare it with the one that you know. It is an
administrator. Administrators enrol further keys, and revoke any; every key may be replaced by itself (rotated), and
revoke itself. A key that was replaced or revoked never comes back.
"""

import itertools
from collections.abc import Mapping
from typing import Final, cast, get_args

import attrs

from accountant.canonical_json import canonical
from accountant.entries.entry_kinds import KeyAction, KeyChange, Signed, hexadecimal
from accountant.entries.printable import is_visible, why_unreadable

DOMAIN: Final = b"exchequer ledger entry 1\n"
"""Before everything that a writer signs, so that no signature made for something else passes for one of an entry."""

LONGEST_NAME: Final = 200
"""Characters of a key's name."""


def signed_message(ledger: str, line: str) -> bytes:
    """What is signed. ledger: its id.  line: of the entry, as it is without any signature and proof."""
    return DOMAIN + canonical({"entry": line, "ledger": ledger}).encode("ascii")


@attrs.frozen
class EnrolledKey:
    """A key of a writer. since: the number of the entry that enrolled it.  until: that took it back; None for none."""

    key: str
    name: str
    administrator: bool
    since: int
    until: int | None = None

    def as_dict(self) -> dict[str, object]:
        """For JSON, in a checkpoint."""
        return attrs.asdict(self)


class KeyRing:
    """The keys of one ledger's writers, by their public key."""

    def __init__(self) -> None:
        self.keys: dict[str, EnrolledKey] = {}

    def __bool__(self) -> bool:
        """Whether any key was ever enrolled."""
        return bool(self.keys)

    def why_not_sign(self, key: str) -> str | None:
        """What speaks against a signature by this key now; None if nothing does."""
        found = self.keys.get(key)
        if found is None:
            return f"the key {key} is not enrolled in this ledger"
        if found.until is not None:
            return f"the key {key} of {found.name!r} was replaced or revoked by entry {found.until}"
        return None

    def why_not_change(self, change: KeyChange) -> str | None:
        """What speaks against this change; None if nothing does."""
        if change.action == "enrol" and not self.keys:
            fit = change.by == change.key and change.administrator
            return None if fit else "the first key of a ledger enrols itself, as an administrator"
        if (reason := self.why_not_sign(change.by)) is not None:
            return reason
        if change.action == "revoke":
            if (reason := self.why_not_sign(change.key)) is not None:
                return reason
        elif change.key in self.keys:
            return f"the key {change.key} is, or was, enrolled already"
        if change.action != "rotate" and change.by != change.key and not self.keys[change.by].administrator:
            return f"the key {change.by} of {self.keys[change.by].name!r} is no administrator"
        return None

    def change(self, number: int, change: KeyChange) -> None:
        """Entry `number` makes this change, against which nothing speaks."""
        gone = {"enrol": "", "rotate": change.by, "revoke": change.key}[change.action]
        if gone:
            self.keys[gone] = attrs.evolve(self.keys[gone], until=number)
        if change.action == "enrol":
            self.keys[change.key] = EnrolledKey(change.key, change.name, change.administrator, number)
        elif change.action == "rotate":
            old = self.keys[change.by]
            self.keys[change.key] = EnrolledKey(change.key, old.name, old.administrator, number)

    def as_list(self) -> list[dict[str, object]]:
        """For JSON, in a checkpoint."""
        return [key.as_dict() for key in self.keys.values()]

    @staticmethod
    def from_list(records: object) -> "KeyRing":
        """The inverse of `as_list`. Raises TypeError or ValueError; whether a checkpoint is right, `verify` says."""
        ring = KeyRing()
        if not isinstance(records, list):
            raise TypeError(f"expected a list of keys, got {records!r:.99}")
        for record in records:
            key = EnrolledKey(**record)
            ring.keys[key.key] = key
        return ring


def why_no_name(name: object) -> str | None:
    """What speaks against the name of a key; None if nothing does."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return f"expected a text of 1 to {LONGEST_NAME} characters, got {name!r:.99}"
    if name != name.strip() or not is_visible(name):
        return f"expected printable characters without spaces around them, got {name!r:.99}"
    return why_unreadable(name)


def key_change_from(record: Mapping[str, object], time: int) -> KeyChange:
    """A `key` entry, read. Raises TypeError and ValueError for anything that the ledger does not write."""
    action, name, administrator = record["action"], record["name"], record["administrator"]
    if action not in get_args(KeyAction):
        raise ValueError(f"{action!r} is none of {', '.join(get_args(KeyAction))}")
    if not isinstance(administrator, bool) or not isinstance(name, str):
        raise TypeError("a key has a name, and is an administrator or not")
    if action == "enrol":
        if (reason := why_no_name(name)) is not None:
            raise ValueError(f"name: {reason}")
    elif name or administrator:
        raise ValueError("only a key that is enrolled says what it is called, and whether it is an administrator")
    return KeyChange(
        time=time,
        action=cast("KeyAction", action),
        key=hexadecimal("key", record["key"], 64),
        name=name,
        administrator=administrator,
        by=hexadecimal("by", record["by"], 64),
        head=hexadecimal("head", record["head"], 64),
        proof=hexadecimal("proof", record["proof"], 0 if action == "revoke" else 128),
        signature=hexadecimal("signature", record["signature"], 128),
    )


def signed_from(record: Mapping[str, object], time: int) -> Signed:
    """A `signed` entry, read. Raises TypeError and ValueError for anything that the ledger does not write."""
    charges = record["charges"]
    if not isinstance(charges, list) or any(type(each) is not int or each < 0 for each in charges):
        raise TypeError("charges: expected numbers of entries")
    if any(left >= right for left, right in itertools.pairwise(charges)):
        raise ValueError("charges: expected each once, in their order")
    return Signed(
        time=time,
        key=hexadecimal("key", record["key"], 64),
        charges=tuple(charges),
        head=hexadecimal("head", record["head"], 64),
        signature=hexadecimal("signature", record["signature"], 128),
    )
