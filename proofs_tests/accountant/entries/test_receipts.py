"""Receipts: what an entry says, signed or not, and no change of one goes unnoticed."""

import copy
import json
import os
import pickle
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    ApproxDP,
    BasicComposition,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant.canonical_json import canonical
from accountant.entries.entry_kinds import DamagedEntry
from accountant.entries.receipts import DOMAIN, BadReceipt, PublicKey, Receipt, SigningKey, receipt
from proofs_tests.support.ledgers.doubles import RandomizedResponse


def written() -> Ledger:
    ledger = Ledger(ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    ledger.release(RandomizedResponse(0.1), data, account="Zoë")
    team = ledger.allocate("team", 0.5)
    with team.reserve(Plan.sequence([PureDP(0.25), PureDP(0.25), PureDP(0.5)]), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.25), data)
        charge.give_back()
    with ledger.announce("priced").reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne(), delta=1e-6):
        pass
    ledger.close_account("team")
    return ledger


LEDGER = written()
KEY, OTHER = SigningKey(Ed25519PrivateKey.generate()), SigningKey(Ed25519PrivateKey.generate())
SIGNED = receipt(LEDGER.entries[1], LEDGER.id, key=KEY)


# --- what it says --------------------------------------------------------------------------------------------------


def test_a_receipt_says_what_its_entry_says() -> None:
    for entry in LEDGER.entries:
        given = receipt(entry, LEDGER.id)
        assert (given.number, given.digest, given.kind) == (entry.number, entry.digest, entry.kind)
        assert (given.ledger, given.time, given.signed) == (LEDGER.id, entry.record["time"], False)
        assert given.account == entry.record.get("account", "")
        assert given == LEDGER.receipt(entry.number)
        assert given.differs(entry, LEDGER.id) == ()


def test_costs_are_in_words_and_exact_numbers() -> None:
    price = Plan.of(PureDP(0.1), 2).price(1e-6)
    assert [(entry.kind, receipt(entry, LEDGER.id).cost) for entry in LEDGER.entries] == [
        ("opened", "budget approx-dp epsilon=9.0 delta=1e-05"),
        ("charged", "1 x pure-dp epsilon=0.1"),
        ("released", "value of charge 1 drawn"),
        ("allocated", "set aside, loss 9p-1, delta 14f8b588e368f1p-70"),
        ("charged", "2 x pure-dp epsilon=0.25 + 1 x pure-dp epsilon=0.5"),
        ("returned", "2 rounds of charge 4 given back, loss 3p-2, delta 0p0"),
        ("released", "value of charge 4 drawn"),
        ("announced", "a label"),
        (
            "charged",
            f"2 x pure-dp epsilon=0.1, together approx-dp epsilon={price.best.epsilon!r} delta=1e-06 by {price.route}",
        ),
        ("closed", "not spent, loss 11p-2, delta 14f8b588e368f1p-70"),
    ]


def test_a_receipt_names_the_parts_that_are_not_as_in_the_books() -> None:
    entry = LEDGER.entries[1]
    for name, value in (("ledger", "0" * 32), ("number", 9), ("digest", "0" * 64), ("cost", "nothing"), ("time", 0)):
        changed = Receipt.from_dict({**SIGNED.as_dict(), name: value})
        assert changed.differs(entry, LEDGER.id) == (name,)
    assert SIGNED.differs(entry, LEDGER.id) == ()
    assert SIGNED.differs(LEDGER.entries[8], LEDGER.id) == ("number", "digest", "account", "cost", "time")


def test_an_entry_that_cannot_be_read_gets_no_receipt() -> None:
    with pytest.raises(DamagedEntry):
        receipt(Entry(1, "charged", "{}", "0" * 64), LEDGER.id)


def test_a_receipt_prints_whether_it_is_signed() -> None:
    assert f"signed with the key {KEY.public.hex}" in str(SIGNED)
    assert str(LEDGER.receipt(1)).endswith("; unsigned")


# --- signatures ----------------------------------------------------------------------------------------------------


def test_signing_is_ed25519() -> None:
    """The third vector of RFC 8032, section 7.1."""
    public = PublicKey("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
    signature = bytes.fromhex(
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    )
    assert public.signed(b"\xaf\x82", signature)
    assert not public.signed(b"\xaf\x83", signature)


def test_a_signed_receipt_is_verified_with_its_key_and_no_other() -> None:
    SIGNED.verify(KEY.public)
    with pytest.raises(BadReceipt, match=f"another key, {KEY.public.hex}, than the one expected"):
        SIGNED.verify(OTHER.public)
    with pytest.raises(BadReceipt, match="unsigned"):
        LEDGER.receipt(1).verify(KEY.public)
    posed = attrs.evolve(SIGNED, public_key=OTHER.public.hex)
    with pytest.raises(BadReceipt, match="does not match"):
        posed.verify(OTHER.public)


def test_a_ledger_signs_with_its_key() -> None:
    ledger = written()
    ledger.signing_key = KEY
    ledger.receipt(1).verify(KEY.public)
    ledger.sub_budget("team").receipt(1).verify(KEY.public)
    for number in (-1, 99):
        with pytest.raises(ValueError, match="no entry"):
            ledger.receipt(number)


def test_the_signature_vouches_for_what_was_bought() -> None:
    ledger = written()
    ledger.signing_key = KEY
    given = ledger.receipt(1, bought="ab" * 32)
    given.verify(KEY.public)
    assert f" for {'ab' * 6}…" in str(given)
    assert given.differs(ledger.entries[1], ledger.id) == ()  # the ledger knows nothing of it
    for other in (None, "ab" * 31 + "ac"):
        with pytest.raises(BadReceipt, match="does not match"):
            attrs.evolve(given, bought=other).verify(KEY.public)
    for wrong in ("", "AB" * 32, "ab" * 31):
        with pytest.raises(ValueError, match="bought: expected 64 digits"):
            ledger.receipt(1, bought=wrong)


def test_what_is_signed_is_the_domain_and_all_parts_but_the_signature() -> None:
    parts = SIGNED.as_dict()
    assert parts.pop("signature") == KEY.sign(DOMAIN + canonical(parts).encode("ascii")).hex()
    assert parts.keys() == {
        "account", "bought", "cost", "digest", "kind", "ledger", "number", "public_key", "receipt", "time",
    }  # fmt: skip
    for message in (canonical(parts).encode("ascii"), b"exchequer receipt 2\n" + canonical(parts).encode("ascii")):
        forged = attrs.evolve(SIGNED, signature=KEY.sign(message).hex())
        with pytest.raises(BadReceipt, match="does not match"):
            forged.verify(KEY.public)


# --- there and back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, KEY], ids=["unsigned", "signed"])
def test_receipts_come_back_from_json(key: SigningKey | None) -> None:
    for entry in LEDGER.entries:
        given = receipt(entry, LEDGER.id, key=key)
        assert Receipt.from_dict(json.loads(json.dumps(given.as_dict()))) == given


def unnoticed(text: str) -> bool:
    """Whether a changed receipt passes for one that the key's owner signed."""
    try:
        Receipt.from_dict(json.loads(text)).verify(KEY.public)
    except ValueError:
        return False
    return True


TEXT = canonical(SIGNED.as_dict())


def test_every_changed_or_lost_character_of_a_signed_receipt_is_noticed() -> None:
    assert unnoticed(TEXT)
    for place, old in enumerate(TEXT):
        for new in {"0", "1", "f", " ", chr(32 + (ord(old) * 7 + place) % 95), ""} - {old}:
            assert not unnoticed(TEXT[:place] + new + TEXT[place + 1 :]), (place, new)


@given(st.integers(0, len(TEXT) - 1), st.characters())
def test_any_other_character_in_a_signed_receipt_is_noticed(place: int, new: str) -> None:
    text = TEXT[:place] + new + TEXT[place + 1 :]
    assert unnoticed(text) == (text == TEXT)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(name=st.sampled_from(sorted(SIGNED.as_dict())), value=ODD)
def test_a_part_of_another_kind_is_refused_or_no_longer_signed(name: str, value: object) -> None:
    changed = {**SIGNED.as_dict(), name: value}
    try:
        Receipt.from_dict(changed).verify(KEY.public)
    except BadReceipt:
        return
    assert changed == SIGNED.as_dict()
    assert type(value) is type(SIGNED.as_dict()[name])


REFUSED: dict[str, tuple[object, str]] = {
    "a list": ([], "not a receipt"),
    "a part missing": ({"receipt": 1}, "missing"),
    "a part too many": ({**SIGNED.as_dict(), "note": ""}, r"unknown \['note'\]"),
    "another version": ({**SIGNED.as_dict(), "receipt": 3, "about": {}}, "of version 3, this version reads 1 to 2"),
    "a version that says more": ({**SIGNED.as_dict(), "receipt": 2}, "missing .'about'"),
    "a version that says less": ({**SIGNED.as_dict(), "about": {"user": "ada"}}, "unknown .'about'"),
    "true for a version": ({**SIGNED.as_dict(), "receipt": True}, "expected a whole number"),
    "a negative number": ({**SIGNED.as_dict(), "number": -1}, "at least 0"),
    "another kind of entry": ({**SIGNED.as_dict(), "kind": "spent"}, "'spent' is no kind of entry"),
    "a short digest": ({**SIGNED.as_dict(), "digest": "00"}, "digest: expected 64 digits"),
    "capitals": ({**SIGNED.as_dict(), "digest": "A" * 64}, "lower-case hexadecimal"),
    "other digits": ({**SIGNED.as_dict(), "digest": "٣" * 64}, "lower-case hexadecimal"),
    "a key without a signature": ({**SIGNED.as_dict(), "signature": None}, "come together"),
    "a signature without a key": ({**SIGNED.as_dict(), "public_key": None}, "come together"),
    "a long signature": ({**SIGNED.as_dict(), "signature": "0" * 130}, "signature: expected 128 digits"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_is_no_receipt_is_refused(fault: str) -> None:
    record, message = REFUSED[fault]
    with pytest.raises(BadReceipt, match=message):
        Receipt.from_dict(record)  # type: ignore[arg-type]  # what a file may hold


# --- keys ----------------------------------------------------------------------------------------------------------


def test_a_key_is_kept_in_a_file_for_its_owner_only(tmp_path: Path) -> None:
    place = tmp_path / "key.pem"
    made = SigningKey.create(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert SigningKey.load(place).public == made.public
    with pytest.raises(FileExistsError):
        SigningKey.create(place)
    assert SigningKey.load(place).public == made.public
    made.public.save(tmp_path / "key.pub")
    assert PublicKey.load(tmp_path / "key.pub") == made.public
    receipt(LEDGER.entries[1], LEDGER.id, key=SigningKey.load(place)).verify(PublicKey.load(tmp_path / "key.pub"))


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o602, 0o666, 0o610])
def test_a_key_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "key.pem"
    SigningKey.create(place)
    place.chmod(mode)
    with pytest.raises(PermissionError, match=f"mode {mode:o}.*chmod 600"):
        SigningKey.load(place)
    place.chmod(0o400)
    SigningKey.load(place)


def private_pem(key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey, how: KeySerializationEncryption) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)


def public_pem(key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


ED, EC = Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
NO_KEYS: dict[str, bytes] = {
    "nothing": b"",
    "garbage": b"\x00\xff" * 99,
    "half": private_pem(ED, NoEncryption())[:50],
    "another kind of key": private_pem(EC, NoEncryption()),
    "a key with a password": private_pem(ED, BestAvailableEncryption(b"secret")),
    "a public key": public_pem(ED),
}


@pytest.mark.parametrize("content", NO_KEYS.values(), ids=NO_KEYS)
def test_a_file_without_a_private_key_is_refused(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "key.pem"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(ValueError, match=r"key\.pem: not an Ed25519 private key in PEM without a password"):
        SigningKey.load(place)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"garbage", "not an Ed25519 public key"),
        (public_pem(EC), "not an Ed25519 public key"),
        (private_pem(ED, NoEncryption()), "this is a private key; give the public one"),
    ],
    ids=["garbage", "another kind of key", "a private key"],
)
def test_a_file_without_a_public_key_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    place = tmp_path / "key.pub"
    place.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        PublicKey.load(place)


@pytest.mark.parametrize("wrong", ["", "0" * 63, "G" * 64, 7])
def test_a_public_key_is_32_bytes(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected 64 digits"):
        PublicKey(wrong)


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_signing_key_stays_where_it_is(take: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        take(KEY)
    assert repr(KEY) == f"<SigningKey of the public key {KEY.public.hex}>"


def test_without_cryptography_receipts_are_unsigned_and_signing_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"] + ["cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    plain = LEDGER.receipt(1)
    assert Receipt.from_dict(plain.as_dict()) == plain
    with pytest.raises(BadReceipt, match="unsigned"):
        plain.verify(KEY.public)
    place = tmp_path / "key.pem"
    for signing in (
        lambda: SigningKey.create(place),
        lambda: SigningKey.load(place),
        lambda: PublicKey.load(place),
        lambda: KEY.public.save(place),
        lambda: SIGNED.verify(KEY.public),
    ):
        with pytest.raises(ImportError, match=r"pip install 'exchequer\[receipts\]'"):
            signing()
