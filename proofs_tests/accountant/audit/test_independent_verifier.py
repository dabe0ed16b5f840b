"""The independent verifier of `verifier/`: small, alone, and of one mind with `verify` about ledgers and forgeries."""

import ast
import json
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from accountant import Entry, Ledger, PureDP, ReplaceOne, verify
from accountant.composition import BasicComposition
from accountant.entries import open_export, write_export
from proofs_tests.old_files.frozen import kept, names_in
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.programs import two_verifiers, vectors
from proofs_tests.support.programs.two_verifiers import VERIFIER, compare, disagreement, ours, theirs
from proofs_tests.support.programs.vector_entries import spend

MOST_LINES = 200
FILES = sorted(VERIFIER.parent.glob("*.py"))
VECTORS: dict[str, Any] = json.loads(vectors.FILE.read_text(encoding="ascii"))
LEDGERS = {each["name"]: each for each in VECTORS["ledgers"]}
DOCTORED = {each["name"]: each for each in VECTORS["doctored"]}
SOUND = ("sound", "with caveats")


def entries(vector: dict[str, Any]) -> list[Entry]:
    """Those of a test vector."""
    return [Entry(**row) for row in vector["entries"]]


# --- what it is ----------------------------------------------------------------------------------------------


def test_it_imports_the_standard_library_alone() -> None:
    nodes = [node for file in FILES for node in ast.walk(ast.parse(file.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - {file.stem for file in FILES} <= sys.stdlib_module_names


def test_it_is_short_enough_to_be_read() -> None:
    """Lines of code: without blank ones, comments and docstrings."""
    for file in FILES:
        assert code_lines(file) <= MOST_LINES, file.name


def test_all_of_its_files_are_installed_and_are_as_long_as_it_says() -> None:
    project = tomllib.loads(VERIFIER.with_name("pyproject.toml").read_text())
    assert sorted(project["tool"]["setuptools"]["py-modules"]) == [file.stem for file in FILES]
    readme = VERIFIER.with_name("README.md").read_text()
    for file in FILES:
        (lines,) = re.findall(rf"`{file.name}`\s+\((\d+)\s+lines\)", readme)
        assert int(lines) - 10 < code_lines(file) <= int(lines), file.name


def code_lines(file: Path) -> int:
    tree, texts = ast.parse(file.read_text()), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = enumerate(file.read_text().splitlines(), start=1)
    return sum(bool(line.strip()) and number not in texts and line.strip()[0] != "#" for number, line in lines)


def test_it_runs_where_nothing_is_installed(tmp_path: Path) -> None:
    """Without site-packages: neither this library nor numpy can be imported there."""
    ledger = small_ledger()
    with (tmp_path / "study.jsonl").open("w") as out:
        write_export(ledger, out)
    found = run(tmp_path / "study.jsonl")
    assert found.returncode == 0, found.stdout
    assert ledger[-1].digest in found.stdout
    assert "'epsilon': 0.375" in found.stdout


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Its command."""
    order = [sys.executable, "-E", "-S", str(VERIFIER), *map(str, arguments)]
    return subprocess.run(order, capture_output=True, text=True, check=False, timeout=60)


def small_ledger(url: str | None = None) -> list[Entry]:
    """Two releases, without a caveat."""
    options: dict[str, Any] = {"composition": BasicComposition(), "adjacency": ReplaceOne()}
    ledger = Ledger(PureDP(1.0), **options) if url is None else Ledger.open(url, PureDP(1.0), **options)
    for epsilon in (0.25, 0.125):
        spend(ledger, PureDP(epsilon))
    found = list(ledger.entries)
    ledger.close()
    return found


def test_it_says_who_signed_and_finds_a_forged_signature_where_nothing_is_installed(tmp_path: Path) -> None:
    signed, forged = entries(LEDGERS["signed"]), entries(DOCTORED["one bit of S of a signature"])
    for name, each in (("signed", signed), ("forged", forged)):
        with (tmp_path / f"{name}.jsonl").open("w") as out:
            write_export(each, out)
    found = run(tmp_path / "signed.jsonl")
    assert found.returncode == 0
    lines = [re.sub("key, [0-9a-f]{64}|[0-9a-f]{64}", "KEY", line).strip() for line in found.stdout.splitlines()[2:]]
    assert lines == [
        "charges signed by 'ada', key KEY: 1",
        "charges signed by 'Zoë', key KEY: 2",
        "charges signed by 'eve', key KEY: 0",
        "charges signed by 'Zoë', key KEY: 1",
        "the first of these keys, KEY, enrolled itself: is it known?",
        "charges since then that nobody signed: 1",
    ]
    assert str(signed[3].record["key"]) in found.stdout
    found = run(tmp_path / "forged.jsonl")
    assert found.returncode == 1
    assert "its signature is forged" in found.stdout


def test_its_exit_codes_are_those_of_verify(tmp_path: Path) -> None:
    sound = small_ledger(f"sqlite:///{tmp_path / 'study.db'}")
    before = (tmp_path / "study.db").read_bytes()
    assert run(tmp_path / "study.db").returncode == 0
    assert run(tmp_path / "study.db", sound[2].digest).returncode == 0
    assert run(tmp_path / "study.db", "f" * 64).returncode == 1
    assert (tmp_path / "study.db").read_bytes() == before
    forged = [*sound[:3], attrs.evolve(sound[3], line=sound[3].line.replace("0.125", "0.0625")), *sound[4:]]
    waiting = sound[:-1]
    for name, each, code in (("forged", forged, 1), ("waiting", waiting, 3), ("sound", sound, 0)):
        with (tmp_path / f"{name}.jsonl").open("w") as out:
            write_export(each, out)
        assert run(tmp_path / f"{name}.jsonl").returncode == code, name
    text = (tmp_path / "sound.jsonl").read_text()
    (tmp_path / "cut.jsonl").write_text("".join(text.splitlines(keepends=True)[:-1]))
    (tmp_path / "no.jsonl").write_text("nothing")
    for name in ("cut.jsonl", "no.jsonl", "missing.jsonl"):
        assert run(tmp_path / name).returncode == 2, name


# --- test vectors --------------------------------------------------------------------------------------------


def test_the_vectors_are_those_that_the_program_writes() -> None:
    written = json.loads(vectors.text())
    for before, new in zip(VECTORS["ledgers"], written["ledgers"], strict=True):
        assert before["spent"].pop("kind") == new["spent"].pop("kind")
        assert new["spent"] == pytest.approx(before["spent"], rel=1e-11, abs=1e-13)
        new["spent"] = before["spent"]
    assert written == VECTORS


@pytest.mark.parametrize("name", LEDGERS)
def test_both_find_in_a_vector_what_it_says(name: str) -> None:
    vector, found = LEDGERS[name], entries(LEDGERS[name])
    assert disagreement(found) is None
    assert ours(found)[0] == theirs(found)[0] == vector["verdict"]
    module = two_verifiers.independent()
    _, _, ledger = module.verify([(e.number, e.kind, e.line, e.digest) for e in found])
    assert module.in_text(ledger.accounts[""].drawn) == vector["total"]
    for number, amount in vector["amounts"].items():
        record = found[int(number)].record
        assert record.get("amount", amount) == amount


@pytest.mark.parametrize("name", DOCTORED)
def test_both_find_what_was_doctored(name: str) -> None:
    vector, found = DOCTORED[name], entries(DOCTORED[name])
    errors = verify(found).errors
    assert any(error.startswith(f"entry {vector['entry']}: {vector['finding']}") for error in errors), errors
    verdict, why, _ = theirs(found)
    assert (verdict, why.partition(":")[0]) == ("not sound", f"entry {vector['entry']}")


def test_amounts_and_floats_are_written_as_the_vectors_say() -> None:
    form = two_verifiers.independent().form
    for each in VECTORS["numbers"]:
        assert form.text(form.of(float(each["float"]))) == each["amount"]
        assert repr(float(each["float"])) == each["float"]
    for value, text in VECTORS["canonical"]:
        assert form.canonical(value) == text


# --- random ledgers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_it_agrees_on_random_ledgers_and_forgeries(start: int) -> None:
    """The long form, of ten thousand: `python -m proofs_tests.support.programs.two_verifiers 10000`."""
    assert [wrong for seed in range(start, start + 50) for wrong in compare(seed)[1]] == []


@pytest.mark.parametrize("name", names_in("ledgers", ".db"))
def test_it_agrees_on_files_of_earlier_versions(name: str, tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes(kept(f"ledgers/{name}.db"))
    module = two_verifiers.independent()
    found = [Entry(*row) for row in module.form.entries_of(tmp_path / "old.db")]
    assert disagreement(found) is None
    assert theirs(found)[0] in SOUND


# --- every change of a small ledger --------------------------------------------------------------------------


def found_by_both(forged: list[Entry], head: str = "") -> bool:
    return ours(forged, head)[0] not in SOUND and theirs(forged, head)[0] not in SOUND


def short_ledger() -> list[Entry]:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(RandomizedResponse(0.25), ledger.protect(True))
    ledger.allocate("team", 0.5)
    return list(ledger.entries)


def every_change(text: str, draw: random.Random) -> Iterator[str]:
    """Each byte as three others: its neighbour, the blank or the zero, and any."""
    for place, old in enumerate(text):
        for new in {chr(ord(old) ^ 1), "0" if old != "0" else " ", chr(draw.randrange(32, 127))} - {old}:
            yield text[:place] + new + text[place + 1 :]


@pytest.mark.parametrize("number", range(4))
def test_every_changed_byte_is_found_by_both(number: int) -> None:
    sound, draw = short_ledger(), random.Random(number)
    assert theirs(sound)[0] == ours(sound)[0] == "with caveats"
    for column in ("line", "digest", "kind"):
        for text in every_change(getattr(sound[number], column), draw):
            changed = Entry(**{**attrs.asdict(sound[number]), column: text})
            assert found_by_both([*sound[:number], changed, *sound[number + 1 :]]), (column, text)


def test_every_deletion_swap_and_replayed_prefix_is_found_by_both() -> None:
    sound = entries(LEDGERS["shared out"])
    head = sound[-1].digest
    assert not found_by_both(sound, head)
    for place in range(len(sound)):
        assert found_by_both([*sound[:place], *sound[place + 1 :]], head), place
        assert found_by_both(sound[:place], head), place
        assert found_by_both([*sound, *sound[place:]], head), place
        for other in range(place + 1, len(sound)):
            swapped = list(sound)
            swapped[place], swapped[other] = swapped[other], swapped[place]
            assert found_by_both(swapped, head), (place, other)


def test_every_changed_byte_of_an_export_is_found_by_both(tmp_path: Path) -> None:
    path, draw = tmp_path / "study.jsonl", random.Random(9)
    with path.open("w") as out:
        write_export(short_ledger()[:3], out)
    sound = path.read_text()
    assert file_verdicts(path) == ("with caveats", "with caveats")
    for text in every_change(sound, draw):
        if draw.random() < 0.15:  # all of them would take half a minute
            path.write_text(text)
            assert not {*file_verdicts(path)} & {*SOUND}, text


def file_verdicts(path: Path) -> tuple[str, str]:
    """Ours and theirs of an export."""
    found = []
    for read in (our_verdict, their_verdict):
        try:
            found.append(read(path))
        except (ValueError, TypeError, LookupError, two_verifiers.independent().Wrong):
            found.append("unreadable")
    return found[0], found[1]


def our_verdict(path: Path) -> str:
    with open_export(path) as (_, read):
        return verify(read).verdict


def their_verdict(path: Path) -> str:
    module = two_verifiers.independent()
    return str(module.verify(module.form.entries_of(path))[0])
