"""Keys of writers and what they signed: Ed25519 (RFC 8032) and who may do what, by LEDGER.md, "Keys of writers".

For checking only: its time depends on its input, which is public; nothing here may touch a private key.
"""

import hashlib
from typing import Any

from exchequer_format import canonical, hexadecimal, need, whole

# fmt: off
Point = tuple[int, int, int, int]
"""X, Y, Z, T of x = X/Z, y = Y/Z, xy = T/Z, modulo P."""

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
ZERO: Point = (0, 1, 1, 0)

# --- Ed25519 ---

def add(p: Point, q: Point) -> Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def times(number: int, point: Point) -> Point:
    found = ZERO
    for bit in f"{number:b}":
        found = add(found, found)
        if bit == "1": found = add(found, point)
    return found

def decoded(text: bytes) -> Point | None:
    """The point that 32 bytes encode, if they do, and in the one way that there is."""
    sign, y = divmod(int.from_bytes(text, "little"), 1 << 255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT % P
    if y >= P or x * x % P != square or (x == 0 and sign): return None
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P

def encoded(point: Point) -> bytes:
    z = pow(point[2], -1, P)
    return (point[1] * z % P + (point[0] * z % P % 2 << 255)).to_bytes(32, "little")

def genuine(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the key's owner signed: S·B − k·A is R, S is reduced, and A is a point of no small order."""
    first, s, point = signature[:32], int.from_bytes(signature[32:], "little"), decoded(key)
    if len(signature) != 64 or s >= ORDER or point is None or encoded(times(8, point)) == encoded(ZERO): return False
    k = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little") % ORDER
    opposite = (P - point[0], point[1], 1, P - point[3])
    return encoded(add(times(s, BASE), times(k, opposite))) == first

BASE: Any = decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

# --- who may ---

def is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable() and name == name.strip()

class Writers:
    """The keys of a ledger's writers, and who signed which charges. ledger: its id."""

    def __init__(self, ledger: Any) -> None:
        need(isinstance(ledger, str), "its id is no text")
        self.ledger = ledger
        self.keys: dict[str, dict[str, Any]] = {}
        self.signed: dict[str, int] = {}
        self.unsigned: set[int] = set()

    def charged(self, number: int) -> None:
        """Entry `number` charges; before the first key nobody could sign it."""
        self.unsigned |= {number} if self.keys else set()

    def change(self, record: Any) -> None:
        """Take a `key` entry in. Raises Wrong."""
        action, key, by, name, administrator = (record[x] for x in ("action", "key", "by", "name", "administrator"))
        enrols, new = action == "enrol", action in ("enrol", "rotate")
        plain = is_name(name) and type(administrator) is bool if enrols else name == "" and administrator is False
        need(plain and (new or (action == "revoke" and record["proof"] == "")), "it changes no key like this")
        self._check(record, by, "signature")
        hexadecimal(key, 64)
        if new: self._check(record, key, "proof")
        if enrols and not self.keys:
            need(by == key and administrator, "the first key enrols itself, as an administrator")
        else:
            self._need_live(by)
            own = action == "rotate" or (action == "revoke" and by == key)
            need(own or self.keys[by]["administrator"], "it is signed with no administrator's key")
        if new: need(key not in self.keys, "its key is, or was, enrolled already")
        else: self._need_live(key)
        if action == "rotate": name, administrator = self.keys[by]["name"], self.keys[by]["administrator"]
        if not enrols: self.keys[by if new else key]["until"] = record["number"]
        said = {"administrator": administrator, "key": key, "name": name, "since": record["number"], "until": None}
        if new: self.keys[key] = said

    def sign(self, record: Any) -> None:
        """Take a `signed` entry in. Raises Wrong."""
        key, charges = record["key"], [whole(x) for x in record["charges"]]
        self._check(record, key, "signature")
        self._need_live(key)
        need(isinstance(record["charges"], list) and charges == sorted(set(charges)), "its charges are in no order")
        need(self.unsigned.issuperset(charges), "it lists what is no charge since the first key, or was listed before")
        self.unsigned.difference_update(charges)
        self.signed[key] = self.signed.get(key, 0) + len(charges)

    def _need_live(self, key: str) -> None:
        need(key in self.keys and self.keys[key]["until"] is None, "a key is not enrolled, or was taken back")

    def _check(self, record: Any, key: Any, part: str) -> None:
        bare = canonical(record | {x: "" for x in ("proof", "signature") if x in record})
        message = f"exchequer ledger entry 1\n{canonical({'entry': bare, 'ledger': self.ledger})}".encode("ascii")
        made = genuine(hexadecimal(key, 64), message, hexadecimal(record[part], 128))
        need(made, f"its {part} is forged")

    def notes(self) -> list[str]:
        """What is worth knowing, and nothing against the ledger."""
        found = [f"charges signed by {y['name']!r}, key {x}: {self.signed.get(x, 0)}" for x, y in self.keys.items()]
        found += [f"the first of these keys, {x}, enrolled itself: is it known?" for x in self.keys][:1]
        return found + [f"charges since then that nobody signed: {len(self.unsigned)}"] * bool(self.unsigned)
