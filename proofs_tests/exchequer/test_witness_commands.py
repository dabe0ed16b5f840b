"""`exchequer ledger anchor`, `writers`, and `verify` with what witnesses hold; run for real on small ledgers."""

import json
import shutil
from pathlib import Path
from typing import cast

import pytest

from accountant import BasicComposition, Ledger, PureDP, ReplaceOne
from accountant.entries.receipts import SigningKey
from proofs_tests.support.ledgers.authorities import Authority, authority, served
from proofs_tests.support.ledgers.durable import Places
from proofs_tests.support.ledgers.durable import places as places
from proofs_tests.support.ledgers.durable import quick_folder as quick_folder
from proofs_tests.support.ledgers.ledger_runs import CAVEATS, ended, record, refused, said, spend, words
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study

URL = "sqlite:///study.db"
SPENDS = {
    "format": "exchequer-spends-1",
    "spends": [
        {
            "cost": {"kind": "pure-dp", "epsilon": 0.125},
            "adjacency": "replace-one",
            "library": "theirs",
            "version": "1",
            "name": "a count",
        }
    ],
}


@pytest.fixture
def keys(study: str) -> None:
    """Keys of ada, bob and a witness, in the folder of study.db."""
    for name in ("ada", "bob", "witness"):
        ended(0, "key", f"{name}.key")


@pytest.fixture
def tsa(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return authority(folder / "authority")


def evidence_of(*arguments: str, code: int = CAVEATS) -> list[dict[str, object]]:
    found = record("verify", "study.db", "--anchors", "study.db.anchors.jsonl", *arguments, code=code)
    return cast("list[dict[str, object]]", found["evidence"])


# --- anchors ---------------------------------------------------------------------------------------------------


def test_a_head_is_kept_beside_the_ledger_and_compared(study: str) -> None:
    assert "its head is kept in study.db.anchors.jsonl" in said("anchor", "study.db")
    spend(URL, 0.125)
    assert record("anchor", "study.db")["number"] == 9
    found = evidence_of()
    assert [(each["kind"], each["number"], each["trusted"]) for each in found] == [
        ("kept", 7, "proved"),
        ("kept", 9, "proved"),
    ]
    assert found[0]["head"] == study


def test_a_ledger_that_was_rolled_back_is_not_sound(study: str) -> None:
    shutil.copy("study.db", "march.db")
    spend(URL, 0.125)
    ended(0, "anchor", "study.db", "--out", "auditor.jsonl")
    shutil.copy("march.db", "study.db")
    spend(URL, 0.0625, times=4)
    ended(CAVEATS, "verify", "study.db")
    found = record("verify", "study.db", "--anchors", "auditor.jsonl", code=1)
    assert "another entry 9 than the one that it is on: rewritten, or forked" in words(found["errors"])


def test_an_export_is_anchored_and_verified_as_well(study: str) -> None:
    ended(0, "export", "study.db", "--out", "study.jsonl")
    ended(0, "anchor", "study.jsonl")
    assert record("verify", "study.jsonl", "--anchors", "study.jsonl.anchors.jsonl", code=CAVEATS)["evidence"]


def test_a_ledger_that_is_not_sound_is_not_anchored(study: str) -> None:
    ended(0, "export", "study.db", "--out", "study.jsonl")
    text = Path("study.jsonl").read_text()
    Path("study.jsonl").write_text(text.replace("first look", "first hook"))
    assert "its digest does not fit" in refused("anchor", "study.jsonl")
    assert not Path("study.jsonl.anchors.jsonl").exists()


def test_a_witness_signs_and_refuses(keys: None) -> None:
    shutil.copy("study.db", "march.db")
    ended(0, "anchor", "study.db", "--witness", "witness.key")
    spend(URL, 0.125)
    assert record("anchor", "study.db", "--witness", "witness.key")["sequence"] == 1
    (first, second) = evidence_of("--witness-key", "witness.key.pub")
    assert first["trusted"] == second["trusted"] == "proved"
    assert cast("int", first["latest"]) <= cast("int", second["earliest"])
    shutil.copy("march.db", "study.db")
    assert "cut off, or rolled back" in said("anchor", "study.db", "--witness", "witness.key", code=1)
    spend(URL, 0.0625, times=4)
    proof = record("anchor", "study.db", "--witness", "witness.key", code=1)
    assert "rewritten, or forked" in words(proof["refused"])
    assert len(Path("study.db.anchors.jsonl").read_text().splitlines()) == 2
    memory = json.loads(Path("witness.key.memory").read_text())
    assert len(memory["refused"]) == 2
    errors = words(
        record("verify", "study.db", "--anchors", "study.db.anchors.jsonl", "--witness-key", "witness.key.pub", code=1)[
            "errors"
        ]
    )
    assert "study.db.anchors.jsonl, line 2: the ledger has another entry 9" in errors


def test_a_witness_whose_memory_was_rolled_back_signs_nothing(keys: None) -> None:
    ended(0, "anchor", "study.db", "--witness", "witness.key")
    shutil.copy("witness.key.memory", "old")
    ended(0, "anchor", "study.db", "--witness", "witness.key")
    shutil.copy("old", "witness.key.memory")
    assert "an older copy of the memory was put back" in refused("anchor", "study.db", "--witness", "witness.key")


def test_evidence_without_a_key_or_a_root_is_a_caveat(keys: None, tsa: Authority) -> None:
    ended(0, "anchor", "study.db", "--witness", "witness.key")
    with served(tsa) as service:
        ended(0, "anchor", "study.db", "--authority", service.url, "--authority-root", str(tsa.root))
    found = record("verify", "study.db", "--anchors", "study.db.anchors.jsonl", code=CAVEATS)
    assert "1 of the kind time-stamp; give --authority-root" in words(found["caveats"])
    assert "1 of the kind co-signature; give --witness-key" in words(found["caveats"])
    (signed, stamped) = evidence_of("--witness-key", "witness.key.pub", "--authority-root", str(tsa.root))
    assert signed["trusted"] == stamped["trusted"] == "proved"
    assert stamped["earliest"] is None
    (signed, stamped) = evidence_of("--witness-key", "ada.key.pub", "--authority-root", str(tsa.root), code=1)
    assert signed["trusted"] == "wrong"


def test_a_request_goes_by_other_means(study: str, tsa: Authority) -> None:
    ended(0, "anchor", "study.db", "--request", "head.tsq")
    spend(URL, 0.125)  # the ledger grows meanwhile
    Path("head.tsr").write_bytes(tsa.stamp(Path("head.tsq").read_bytes()))
    root = str(tsa.root)
    ended(0, "anchor", "study.db", "--request", "head.tsq", "--reply", "head.tsr", "--authority-root", root)
    (found,) = evidence_of("--authority-root", root)
    assert (found["number"], found["head"], found["trusted"]) == (7, study, "proved")
    assert "exists already" in refused("anchor", "study.db", "--request", "head.tsq")
    Path("other.tsr").write_bytes(b"no")
    assert "no reply of a time stamping" in refused(
        "anchor", "study.db", "--request", "head.tsq", "--reply", "other.tsr"
    )


def test_an_authority_that_is_not_trusted_leaves_no_line(study: str, tsa: Authority, folder: Path) -> None:
    other = authority(folder / "other", called="Another authority")
    with served(tsa) as service:
        line = refused("anchor", "study.db", "--authority", service.url, "--authority-root", str(other.root))
    assert "the time stamp does not hold" in line
    assert not Path("study.db.anchors.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--authority", "http://127.0.0.1:9/", "--witness", "ada.key"), "give one of them at a time"),
        (("--reply", "ada.key"), "--reply goes with --request"),
        (("--memory", "m"), "--memory goes with --witness"),
        (("--authority-root", "ada.key.pub"), "--authority-root goes with"),
        (("--authority", "file:///etc/passwd"), "over http or https"),
        (("--authority", "http://127.0.0.1:9/"), "does not answer"),
        (("--witness", "ada.key.pub"), "may open this private key"),
    ],
)
def test_what_does_not_go_together_is_refused(
    keys: None, arguments: tuple[str, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert why in refused("anchor", "study.db", *arguments)


def test_evidence_is_asked_for_with_its_options(keys: None) -> None:
    ended(0, "anchor", "study.db")
    assert "go with --anchors" in refused("verify", "study.db", "--witness-key", "witness.key.pub")
    assert "--since" in refused("verify", "study.db", "--since", "0" * 64, "--anchors", "study.db.anchors.jsonl")
    assert "this is a private key" in refused("verify", "study.db", "--first-key", "ada.key")
    Path("empty.jsonl").write_text("")
    found = record("verify", "study.db", "--anchors", "empty.jsonl", code=1)
    assert "there is no evidence on this ledger" in words(found["errors"])


def test_a_ledger_in_postgresql_is_witnessed_like_any_other(keys: None, places: Places) -> None:
    with places() as url:
        with Ledger.open(url, PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne()):
            pass
        for sequence in range(3):
            spend(url, 0.125)
            anchored = record("anchor", url, "--witness", "witness.key", "--out", "auditor.jsonl")
            assert (anchored["sequence"], anchored["number"]) == (sequence, 2 * sequence + 2)
        found = record("verify", url, "--anchors", "auditor.jsonl", "--witness-key", "witness.key.pub", code=CAVEATS)[
            "evidence"
        ]
        assert [each["trusted"] for each in cast("list[dict[str, object]]", found)] == ["proved"] * 3
        if not url.startswith("sqlite"):
            assert "--out is missing" in refused("anchor", url)


# --- writers ---------------------------------------------------------------------------------------------------


def enrolled() -> None:
    ended(0, "writers", "enrol", "study.db", "--key", "ada.key", "--name", "ada")
    ended(0, "writers", "enrol", "study.db", "--key", "bob.key", "--name", "bob", "--by", "ada.key")


def test_writers_are_enrolled_listed_replaced_and_revoked(keys: None) -> None:
    enrolled()
    ended(0, "key", "new.key")
    ended(0, "writers", "rotate", "study.db", "--key", "ada.key", "--new", "new.key")
    ended(0, "writers", "revoke", "study.db", "--key", "bob.key.pub", "--by", "new.key")
    listed = cast("list[dict[str, object]]", record("writers", "list", "study.db")["keys"])
    first = cast("int", listed[0]["since"])
    assert [(each["name"], each["administrator"], each["since"], each["until"]) for each in listed] == [
        ("ada", True, first, first + 2),
        ("bob", False, first + 1, first + 3),
        ("ada", True, first + 2, None),
    ]
    assert "in use" in said("writers", "list", "study.db")
    assert "was replaced or revoked" in refused(
        "writers", "enrol", "study.db", "--key", "witness.key", "--name", "eve", "--by", "ada.key"
    )
    ended(CAVEATS, "verify", "study.db", "--first-key", "ada.key.pub")
    ended(1, "verify", "study.db", "--first-key", "new.key.pub")


def test_what_is_imported_is_signed(keys: None) -> None:
    enrolled()
    charge = cast("int", record("verify", "study.db", code=CAVEATS)["entries"])
    Path("spends.json").write_text(json.dumps(SPENDS))
    ended(0, "import", "study.db", "spends.json", "--declared-by", "bob", "--writer-key", "bob.key")
    found = record("verify", "study.db", "--require-signed", code=CAVEATS)
    public = SigningKey.load("bob.key").public.hex
    made = {"entry": charge + 2, "key": public, "name": "bob", "charges": 1, "first": charge, "last": charge}
    assert found["signatures"] == {"signed": {public: 1}, "unsigned": 0, "made": [made]}
    assert f"charges signed by 'bob', key {public}: 1" in words(found["notes"])
    assert f"charges from before the first key was enrolled, by entry {charge - 2}: 3" in words(found["notes"])
    assert "signed" in said("show", "study.db")


def test_an_unsigned_charge_is_an_error_where_it_is_asked_for(keys: None) -> None:
    enrolled()
    spend(URL, 0.125)
    found = record("verify", "study.db", code=CAVEATS)
    assert "charges signed by nobody, since the first key was enrolled: 1" in words(found["notes"])
    found = record("verify", "study.db", "--require-signed", code=1)
    assert "charges signed by nobody, since the first key was enrolled: 1" in words(found["errors"])


def test_a_key_that_is_not_enrolled_charges_nothing(keys: None) -> None:
    enrolled()
    before = record("verify", "study.db", code=CAVEATS)["entries"]
    Path("spends.json").write_text(json.dumps(SPENDS))
    line = refused("import", "study.db", "spends.json", "--declared-by", "eve", "--writer-key", "witness.key")
    assert "is not enrolled in this ledger" in line
    assert record("verify", "study.db", code=CAVEATS)["entries"] == before


def test_an_auditor_reads_all_of_it_at_once(keys: None, tsa: Authority) -> None:
    """Keys, signatures, a witness and an authority over one ledger that is sound without any caveat."""
    with Ledger.open("sqlite:///clean.db", PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne()):
        pass
    ended(0, "writers", "enrol", "clean.db", "--key", "ada.key", "--name", "ada")
    Path("spends.json").write_text(json.dumps(SPENDS))
    first = cast("int", record("anchor", "clean.db", "--witness", "witness.key", "--out", "auditor.jsonl")["number"])
    ended(0, "import", "clean.db", "spends.json", "--declared-by", "ada", "--writer-key", "ada.key")
    ended(0, "anchor", "clean.db", "--witness", "witness.key", "--out", "auditor.jsonl")
    with served(tsa) as service:
        ended(0, "anchor", "clean.db", "--authority", service.url, "--out", "auditor.jsonl")
    text = said(
        "verify", "clean.db", "--anchors", "auditor.jsonl", "--witness-key", "witness.key.pub", "--authority-root",
        str(tsa.root), "--require-signed", "--first-key", "ada.key.pub",
    )  # fmt: skip
    assert f"sound, {first + 4} entries" in text
    assert f"entries up to {first + 3} existed by" in text
    assert f"entries after {first} were written after" in text
