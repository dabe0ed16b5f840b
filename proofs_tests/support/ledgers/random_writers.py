"""Writers of random ledgers: keys that are the same whenever they are made, and what happens to them."""

import random
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accountant import Ledger
from accountant.entries import SigningKey
from accountant.entries.entry_kinds import KeyAction
from accountant.witnesses import key_change

KEYS: Final = tuple(SigningKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)) for number in range(1, 6))
BY_HEX: Final = {key.public.hex: key for key in KEYS}
ACTIONS: Final[tuple[KeyAction, ...]] = ("enrol", "enrol", "enrol", "rotate", "revoke")
NAMES: Final = ("bob", "Zoë", "team a")


def begin_to_sign(ledger: Ledger) -> None:
    """The first key enrols itself, and signs from here on."""
    ledger.change_key(key_change("enrol", KEYS[0], by=KEYS[0], name="ada", administrator=True))
    ledger.sign_with(KEYS[0])


def event_of_writers(draw: random.Random, ledger: Ledger) -> None:
    """A key is enrolled, replaced or revoked, somebody else signs, or what is pending is signed. Raises KeyRefused."""
    if not ledger._writer.state.writers:
        begin_to_sign(ledger)
        return
    chance, one, other = draw.random(), draw.choice(KEYS), draw.choice(KEYS)
    if chance < 0.3:
        ledger.sign()
    elif chance < 0.55:
        ledger.sign_with(one, every=draw.choice((1, 2, 64)))
    else:
        action = draw.choice(ACTIONS)
        by = draw.choice((KEYS[0], other))
        enrols = action == "enrol"
        name, administrator = draw.choice(NAMES) if enrols else "", enrols and draw.random() < 0.3
        ledger.change_key(key_change(action, one, by=by, name=name, administrator=administrator))
