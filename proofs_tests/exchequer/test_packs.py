"""`exchequer ledger pack` and `check-pack`: the same bytes each time, and every change is found."""

import csv
import gzip
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accountant import ApproxDP, BasicComposition, Ledger, ReplaceOne
from accountant.entries import SigningKey
from exchequer.commands.exports import packs
from exchequer.commands.exports.pack_parts import as_json
from exchequer.commands.exports.packs import MANIFEST, SUMS, check_pack
from exchequer.commands.exports.zip_files import MOST_RATIO, SMALL, write_zip
from proofs_tests.support.learners.paid_models import X, Y, build
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import ended, refused, run, said, tampered
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study

Files = dict[str, bytes]
NOON = "1793880000"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger, two models with signed receipts, their key, and a pack of all of it."""
    folder = tmp_path_factory.mktemp("made")
    key = SigningKey.create(folder / "key.pem")
    key.public.save(folder / "key.pub")
    with Ledger.open(
        f"sqlite:///{folder}/s.db", ApproxDP(8.0, 1e-4), composition=BasicComposition(), adjacency=ReplaceOne()
    ) as ledger:
        ledger.signing_key = key
        for name in ("logistic", "lazy boost"):
            build(name, ledger=ledger, random_state=None).fit(X, Y).save(folder / f"{name}.json")
    ended(0, *packing(folder, "pack.zip"))
    return folder


def packing(folder: Path, out: str, *more: str) -> list[str]:
    models = [f"--model={folder / name}.json" for name in ("logistic", "lazy boost")]
    return ["pack", str(folder / "s.db"), f"--out={folder / out}", f"--public-key={folder / 'key.pub'}", *models, *more]


def files_of(pack: Path) -> Files:
    with zipfile.ZipFile(pack) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(files: Mapping[str, bytes], place: Path, *, sums: bool) -> Path:
    """A pack of these files. sums: as somebody makes it who knows how, with sums that are right."""
    files = dict(files)
    if sums:
        manifest = json.loads(files[MANIFEST])
        listed = sorted(files.keys() - {SUMS, MANIFEST})
        manifest["files"] = {
            name: {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in listed
        }
        files[MANIFEST] = as_json(manifest)
        lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in (MANIFEST, *listed)]
        files[SUMS] = "".join(lines).encode()
    folder = place.with_suffix(".d")
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    write_zip(place, {name: folder / name for name in files})
    return place


# --- what is in it ---------------------------------------------------------------------------------------------


def test_a_pack_is_as_it_was_made(made: Path) -> None:
    with Ledger.open(f"sqlite:///{made}/s.db") as ledger:
        head, statement = ledger.head, ledger.statement()
    files = files_of(made / "pack.zip")
    found = check_pack(made / "pack.zip", head)
    assert (found.errors, found.code) == ((), 0)
    assert files["statement.txt"].decode() == f"{statement}\n"
    assert json.loads(files["statement.json"]) == json.loads(json.dumps(statement.as_dict()))
    assert files["models/0002-lazy_boost.json"] == (made / "lazy boost.json").read_bytes()
    for name, receipts in (("logistic", "0001-logistic"), ("lazy boost", "0002-lazy_boost")):
        model = json.loads((made / f"{name}.json").read_bytes())
        assert json.loads(files[f"receipts/{receipts}.json"]) == model["receipts"]
    for line in files[SUMS].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(files[name]).hexdigest() == digest
    assert len(files[SUMS].decode().splitlines()) == len(files) - 1
    disclosure = json.loads(files["disclosure.json"])
    assert [each["met"] for each in disclosure["criteria"]] == [True, True, True, True, None]
    assert [each["signed_for_this_model"] for each in disclosure["outputs"]] == [True, True]
    assert disclosure["tools"] == json.loads(files["versions.json"])
    key = str(made / "key.pub")
    printed = said("check-pack", str(made / "pack.zip"), "--public-key", key, "--expect-head", head)
    assert "as it was made, and its ledger is sound" in printed
    assert "nobody vouches" not in printed


def test_the_same_input_makes_the_same_bytes(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", NOON)
    for name in ("one.zip", "two.zip"):
        ended(0, *packing(made, name, "--second-opinion"))
    one, two = ((made / name).read_bytes() for name in ("one.zip", "two.zip"))
    assert one == two
    assert check_pack(made / "one.zip").code == 0
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(NOON) + 3600))
    ended(0, *packing(made, "three.zip", "--second-opinion"))
    first, third = files_of(made / "one.zip"), files_of(made / "three.zip")
    different = {name for name in first if first[name] != third[name]}
    assert different == {"README.txt", "report.html", MANIFEST, SUMS}
    assert first["README.txt"].replace(b"T12:", b"T13:") == third["README.txt"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "noon")
    assert "SOURCE_DATE_EPOCH" in refused(*packing(made, "four.zip"))


# --- what was done to it ---------------------------------------------------------------------------------------

NAMES = [
    "README.txt",
    "SHA256SUMS",
    "disclosure.json",
    "entries.jsonl",
    "manifest.json",
    "models/0001-logistic.json",
    "models/0002-lazy_boost.json",
    "public-key.pem",
    "receipts/0001-logistic.json",
    "receipts/0002-lazy_boost.json",
    "report.html",
    "statement.json",
    "statement.txt",
    "verification.json",
    "verification.txt",
    "versions.json",
]


def test_these_are_all_files(made: Path) -> None:
    assert sorted(files_of(made / "pack.zip")) == NAMES


@pytest.mark.parametrize("sums", [False, True], ids=["as it is", "with new sums"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_changed_is_found(made: Path, tmp_path: Path, name: str, sums: bool) -> None:
    files = files_of(made / "pack.zip")
    for content in (files[name] + b"\n", files[name][:-2] + b" " + files[name][-2:], files[name][:-1], b""):
        changed = packed({**files, name: content}, tmp_path / "changed.zip", sums=sums and name not in (SUMS, MANIFEST))
        found = check_pack(changed)
        if name == "versions.json" and sums and content.strip():
            assert found.code == 1  # the disclosure record, or the form of the file, gives it away
        assert found.errors
        assert found.code == 1


@pytest.mark.parametrize("sums", [False, True], ids=["as it is", "with new sums"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_removed_is_found(made: Path, tmp_path: Path, name: str, sums: bool) -> None:
    files = files_of(made / "pack.zip")
    del files[name]
    found = check_pack(packed(files, tmp_path / "changed.zip", sums=sums and name not in (SUMS, MANIFEST)))
    assert found.code == 1
    assert found.errors


@pytest.mark.parametrize("sums", [False, True], ids=["as it is", "with new sums"])
@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("receipts/0003-x.json", "receipts/0001-logistic.json"),
        ("models/0003-x.json", "models/0001-logistic.json"),
        ("models/0003-x.json", "statement.json"),
        ("notes.txt", "README.txt"),
        ("readme.txt", "README.txt"),
        ("models/readme.html", "report.html"),
    ],
)
def test_a_file_that_was_added_is_found(made: Path, tmp_path: Path, name: str, like: str, sums: bool) -> None:
    files = files_of(made / "pack.zip")
    found = check_pack(packed({**files, name: files[like]}, tmp_path / "changed.zip", sums=sums))
    assert found.code == 1
    assert found.errors


def test_two_models_that_changed_places_are_found(made: Path, tmp_path: Path) -> None:
    files = files_of(made / "pack.zip")
    one, two = "models/0001-logistic.json", "models/0002-lazy_boost.json"
    files[one], files[two] = files[two], files[one]
    assert check_pack(packed(files, tmp_path / "changed.zip", sums=True)).code == 1


def test_a_statement_of_less_is_found_whatever_version_is_claimed(made: Path, tmp_path: Path) -> None:
    files = files_of(made / "pack.zip")
    versions = json.loads(files["versions.json"])
    claimed = {**files, "versions.json": as_json({**versions, "numpy": "9.9"})}
    found = check_pack(packed(claimed, tmp_path / "claimed.zip", sums=True))
    assert (found.errors, found.code) == ((), 3)
    assert "made by other versions" in " ".join(found.notes)
    statement = json.loads(files["statement.json"])
    claimed["statement.json"] = as_json({**statement, "spent": "pure-dp epsilon 0.1"})
    found = check_pack(packed(claimed, tmp_path / "claimed.zip", sums=True))
    assert found.errors == ("statement.json: it is not what the entries and the models say",)


def test_one_byte_that_changed_is_found_or_changes_no_file(made: Path, tmp_path: Path) -> None:
    content = (made / "pack.zip").read_bytes()
    before = files_of(made / "pack.zip")
    changed = tmp_path / "changed.zip"
    for place in range(0, len(content), max(1, len(content) // 60)):
        changed.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        if check_pack(changed).code == 0:
            assert files_of(changed) == before


# --- who made it -----------------------------------------------------------------------------------------------


def test_a_pack_of_another_ledger_is_told_by_a_head_or_a_key(made: Path, tmp_path: Path) -> None:
    with Ledger.open(f"sqlite:///{made}/s.db") as ledger:
        head = ledger.head
    with Ledger.open(
        f"sqlite:///{tmp_path}/o.db", ApproxDP(8.0, 1e-4), composition=BasicComposition(), adjacency=ReplaceOne()
    ) as other:
        build("logistic", ledger=other, random_state=None).fit(X, Y).save(tmp_path / "m.json")
        own = other.head
    pack = tmp_path / "o.zip"
    ended(0, "pack", str(tmp_path / "o.db"), "--out", str(pack), "--model", str(tmp_path / "m.json"))
    assert check_pack(pack, own).code == 0
    found = check_pack(pack, head)
    assert (found.code, "never had the head" in found.errors[0]) == (1, True)
    assert check_pack(pack, own, made / "key.pub").code == 1  # its receipts are not signed
    SigningKey(Ed25519PrivateKey.generate()).public.save(tmp_path / "other.pub")
    assert "another key" in check_pack(made / "pack.zip", head, tmp_path / "other.pub").errors[0]


def test_what_is_not_sound_is_not_packed(study: str, made: Path, folder: Path) -> None:
    bad = tampered("DELETE FROM exchequer_entries WHERE number = 5")
    assert "No pack was written" in said("pack", bad, "--out", "p.zip", code=1)
    model = str(made / "logistic.json")
    assert "NOT CONFIRMED" in said("pack", "study.db", "--out", "p.zip", "--model", model, code=1)
    assert "private key" in refused("pack", "study.db", "--out", "p.zip", "--public-key", str(made / "key.pem"))
    assert not (folder / "p.zip").exists()
    said("pack", "study.db", "--out", "p.zip", code=3)  # its noise is simulated
    assert "WITH CAVEATS" in said("check-pack", "p.zip", "--expect-head", study, code=3)
    noise = json.loads(files_of(Path("p.zip"))["disclosure.json"])["criteria"][2]
    assert (noise["id"], noise["met"]) == ("noise", False)
    with Ledger.open("sqlite:///study.db") as ledger:  # whose head in the pack is then one of its own
        ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    said("pack", "study.db", "--out", "q.zip", code=3)
    said("check-pack", "q.zip", "--expect-head", study, code=3)


# --- what others may hand in -----------------------------------------------------------------------------------


def written(place: Path, build: Callable[[zipfile.ZipFile], None]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        build(file)
    return place


@pytest.mark.parametrize(
    "name",
    ["../out.txt", "/etc/x", "models/../../x.json", "C:\\x", "models\\x.json", "models/", "models/.x.json", "a" * 300],
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    found = check_pack(written(outer / "p.zip", lambda file: file.writestr(name, b"x")))
    assert found.code == 1
    assert "which no pack has" in found.errors[0]
    assert [path.name for path in tmp_path.rglob("*")] == ["outer", "p.zip"]


def info(name: str, mode: int = 0o644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr, made.compress_type, made.create_system = mode << 16, zipfile.ZIP_DEFLATED, 3
    return made


def test_links_and_names_given_twice_are_refused(tmp_path: Path) -> None:
    link = written(tmp_path / "l.zip", lambda file: file.writestr(info("README.txt", 0o120777), b"/etc/passwd"))
    assert "no plain file" in check_pack(link).errors[0]

    def twice(file: zipfile.ZipFile) -> None:
        file.writestr(info("README.txt"), b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr(info("README.txt"), b"two")

    assert "twice" in check_pack(written(tmp_path / "t.zip", twice)).errors[0]


def test_what_unpacks_to_too_much_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchequer.commands.exports.zip_files.SMALL", 1 << 20)
    zeros = io.BytesIO(bytes(4 << 20))
    pack = written(tmp_path / "b.zip", lambda file: file.writestr(info("README.txt"), zeros.getvalue()))
    assert "unpacks to more than" in check_pack(pack).errors[0]
    assert MOST_RATIO * 1000 < 1 << 20 < SMALL


@pytest.mark.parametrize("where", ["before", "after", "between", "comment"])
def test_nothing_hides_between_the_files(made: Path, tmp_path: Path, where: str) -> None:
    content, place = (made / "pack.zip").read_bytes(), tmp_path / "h.zip"
    if where == "before":
        place.write_bytes(b"hidden" + content)
    elif where == "after":
        place.write_bytes(content + b"hidden")
    elif where == "comment":
        shutil.copy(made / "pack.zip", place)
        with zipfile.ZipFile(place, "a") as file:
            file.comment = b"hidden"
    else:  # a file whose line in the list was taken out
        shutil.copy(made / "pack.zip", place)
        with zipfile.ZipFile(place, "a") as file:
            file.writestr(info("models/0009-x.json"), b"hidden")
            del file.NameToInfo["models/0009-x.json"]
            file.filelist.pop()
    assert check_pack(place).code == 1


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_pack_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "n.zip").write_bytes(content)
    printed: dict[str, Any] = json.loads(ended(1, "check-pack", str(tmp_path / "n.zip"), "--json").stdout)
    assert printed["intact"] is False
    assert str(tmp_path) not in "".join(printed["errors"]).replace(str(tmp_path / "n.zip"), "")


def test_names_in_a_pack_fit_every_system(tmp_path: Path) -> None:
    for name in ("ü ..json", "CON.json", "a" * 200 + ".json"):
        (tmp_path / name).write_bytes(b"{}")
    given = packs.copied([tmp_path / "ü ..json", tmp_path / "CON.json"], None, tmp_path / "d")
    assert list(given) == ["models/0001-___.json", "models/0002-CON.json"]


OLD = sorted((Path(__file__).parents[1] / "old_files" / "files" / "ledgers").glob("*.db.gz"))


@pytest.mark.parametrize("name", [path.name for path in OLD[::4]])
def test_ledgers_of_earlier_versions_are_packed_and_written_as_rows(tmp_path: Path, name: str) -> None:
    ledger, pack = tmp_path / "old.db", tmp_path / "p.zip"
    (old,) = (path for path in OLD if path.name == name)
    ledger.write_bytes(gzip.decompress(old.read_bytes()))
    code = run("ledger", "verify", str(ledger)).exit_code
    assert run("ledger", "pack", str(ledger), "--out", str(pack)).exit_code == code
    if code == 1:  # it depends on a claim that nobody here has registered
        assert not pack.exists()
        return
    assert check_pack(pack).code == code
    charges = sum(json.loads(line)["kind"] == "charged" for line in files_of(pack)["entries.jsonl"].splitlines()[1:])
    rows = run("ledger", "entries", str(ledger), "--csv").stdout
    assert len(list(csv.reader(io.StringIO(rows)))) == charges + 1
