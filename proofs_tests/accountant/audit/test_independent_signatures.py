"""Ed25519 in the independent verifier: the RFC's signatures, and of one mind with `cryptography` about others."""

import hashlib
import random
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Final

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import example, given
from hypothesis import strategies as st

from accountant import AddRemoveOne, BasicComposition, Ledger, PureDP
from accountant.entries import PublicKey
from proofs_tests.support.ledgers.forged_signatures import ORDER, spoilt
from proofs_tests.support.ledgers.random_writers import begin_to_sign
from proofs_tests.support.programs.two_verifiers import independent, ours, theirs
from proofs_tests.support.programs.vector_entries import spend

P: Final = 2**255 - 19
SEEDS: Final = st.binary(min_size=32, max_size=32)

RFC_8032: Final = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
        "655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
        "b00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28d"
        "c027beceea1ec40a",
    ),
)


def module() -> ModuleType:
    independent()
    return sys.modules["exchequer_signatures"]


def by_cryptography(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def agreed(key: bytes, message: bytes, signature: bytes) -> bool:
    """What the independent verifier says, and cryptography and we say as well."""
    found = bool(module().genuine(key, message, signature))
    assert found == by_cryptography(key, message, signature) == PublicKey(key.hex()).signed(message, signature)
    return found


def made(seed: bytes, message: bytes) -> tuple[bytes, bytes]:
    """A public key and a signature."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.public_key().public_bytes_raw(), key.sign(message)


@pytest.mark.parametrize(("key", "message", "signature"), RFC_8032)
def test_signatures_of_the_rfc_are_genuine(key: str, message: str, signature: str) -> None:
    assert agreed(bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature))


@given(SEEDS, st.binary(max_size=200))
def test_what_the_owner_signed_is_genuine(seed: bytes, message: bytes) -> None:
    key, signature = made(seed, message)
    assert agreed(key, message, signature)
    assert not agreed(key, message + b"\0", signature)


@given(SEEDS, st.binary(max_size=20), st.integers(0, 511), st.sampled_from(("key", "signature")))
def test_one_bit_of_a_key_or_a_signature_makes_it_none(seed: bytes, message: bytes, bit: int, where: str) -> None:
    key, signature = made(seed, message)
    if where == "key":
        key = flipped(key, bit % 256)
    else:
        signature = flipped(signature, bit)
    assert not agreed(key, message, signature)


def flipped(text: bytes, bit: int) -> bytes:
    return (int.from_bytes(text, "little") ^ (1 << bit)).to_bytes(len(text), "little")


@given(SEEDS, st.binary(max_size=20), st.integers(1, 15))
def test_a_second_way_to_write_a_signature_is_none(seed: bytes, message: bytes, times: int) -> None:
    """S with the order added: its equation holds, and it is another text."""
    key, signature = made(seed, message)
    s = int.from_bytes(signature[32:], "little") + times * ORDER
    if s < 1 << 256:
        assert not agreed(key, message, signature[:32] + s.to_bytes(32, "little"))


@given(SEEDS, st.integers(0, 2**32))
def test_forgers_signatures_are_none(seed: bytes, number: int) -> None:
    key, signature = made(seed, b"message")
    forged = bytes.fromhex(spoilt(signature.hex(), random.Random(number)))
    assert not agreed(key, b"message", forged)


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=64, max_size=64))
@example(bytes(32), bytes(64))
def test_anything_else_is_none(key: bytes, signature: bytes) -> None:
    assert not module().genuine(key, b"message", signature)
    assert not PublicKey(key.hex()).signed(b"message", signature)


@pytest.mark.parametrize("length", [0, 32, 63, 65, 128])
def test_a_signature_has_64_bytes(length: int) -> None:
    key, signature = made(bytes(32), b"message")
    assert not agreed(key, b"message", (signature * 2)[:length])


# --- points that are special ------------------------------------------------------------------------------------


def of_small_order() -> list[bytes]:
    """The eight points whose multiple by 8 is neutral, each in every way to write it."""
    form = module()
    y = next(y for y in range(2, 99) if (found := torsion(y)) is not None and len(multiples(found)) == 8)
    points = multiples(torsion(y))
    ys = {int.from_bytes(point, "little") % (1 << 255) for point in points}
    ys |= {each + P for each in ys if each + P < 1 << 255}
    assert form.encoded(form.ZERO) in points
    return [(each + (sign << 255)).to_bytes(32, "little") for each in sorted(ys) for sign in (0, 1)]


def torsion(y: int) -> object | None:
    """The part of small order of a point."""
    point = module().decoded(y.to_bytes(32, "little"))
    return None if point is None else module().times(ORDER, point)


def multiples(point: object) -> set[bytes]:
    return {module().encoded(module().times(number, point)) for number in range(8)}


def test_anybody_can_sign_by_a_key_of_small_order_and_so_nobody_does() -> None:
    """Many libraries, this one of cryptography too, take such signatures."""
    keys, taken = of_small_order(), set[bytes]()
    assert len(keys) == 14
    for key in keys:
        for first in keys:
            for message in (b"one", b"two", b"three", b"four"):
                signature = first + bytes(32)
                if by_cryptography(key, message, signature):
                    taken.add(key)
                assert not module().genuine(key, message, signature)
                assert not PublicKey(key.hex()).signed(message, signature)
    assert taken


def test_points_are_written_in_one_way() -> None:
    for y in range(P, 1 << 255):
        assert module().decoded(y.to_bytes(32, "little")) is None
    for y in (1, P - 1):  # where x is 0, which has no sign
        assert module().decoded(y.to_bytes(32, "little")) is not None
        assert module().decoded((y + (1 << 255)).to_bytes(32, "little")) is None


def owner_signs(secret: int, small: bytes, message: bytes, nonce: int) -> tuple[bytes, bytes]:
    """By a key that is the sum of a good point and one of small order: it holds as it is, or only when times 8."""
    form = module()
    point = form.add(form.times(secret, form.BASE), form.decoded(small))
    key, first = form.encoded(point), form.encoded(form.times(nonce, form.BASE))
    k = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little") % ORDER
    return key, first + ((nonce + k * secret) % ORDER).to_bytes(32, "little")


def test_what_holds_only_when_multiplied_by_8_is_none_here_and_there() -> None:
    """By a key that is no multiple of the base point: most of its owner's signatures are none, some are."""
    small, found = max(multiples(torsion(3)) | multiples(torsion(4))), set[bool]()
    for nonce in range(1, 40):
        key, signature = owner_signs(12345, small, b"message", nonce)
        found.add(agreed(key, b"message", signature))
    assert found == {True, False}


@given(SEEDS, st.integers(0, 13))
def test_an_owner_may_sign_with_an_r_of_small_order_that_is_written_well(seed: bytes, which: int) -> None:
    """S = k·a and R neutral holds: it tells the private key, and fools nobody."""
    first, message = of_small_order_once()[which], b"message"
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0], digest[31] = digest[0] & 248, digest[31] & 63 | 64
    key, _ = made(seed, message)
    k = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little")
    signature = first + (k * int.from_bytes(digest, "little") % ORDER).to_bytes(32, "little")
    assert agreed(key, message, signature) == (first == module().encoded(module().ZERO))


_SMALL: list[bytes] = []


def of_small_order_once() -> Sequence[bytes]:
    _SMALL.extend(of_small_order() if not _SMALL else ())
    return _SMALL


# --- ledgers ---------------------------------------------------------------------------------------------------


def test_a_hundred_signatures_take_a_second_or_two() -> None:
    ledger = Ledger(PureDP(64.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    begin_to_sign(ledger)
    for _ in range(100):
        spend(ledger, PureDP(0.125))
        ledger.sign()
    entries = list(ledger.entries)
    begun = time.process_time()
    assert theirs(entries)[0] == ours(entries)[0] == "sound"
    assert time.process_time() - begun < 5.0
