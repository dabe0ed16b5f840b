"""`exchequer ledger overview`, `registry`, `policy` and `verify --policy`: many ledgers, and what binds them."""

import csv
import gzip
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from accountant import About, Ledger
from accountant.canonical_json import canonical
from accountant.policies import EXAMPLE
from exchequer.cli import main
from proofs_tests.support.ledgers.policed import HEADER, HOSPITAL, SIMULATED, pay, policed

OLD = Path(__file__).parents[1] / "old_files" / "files" / "ledgers"


def run(*arguments: object) -> Result:
    """The command `exchequer ledger` with these arguments."""
    return CliRunner().invoke(main, ["ledger", *map(str, arguments)])


def record(*arguments: object) -> Any:
    """What a command prints as JSON."""
    found = run(*arguments, "--json")
    assert found.exit_code in (0, 1), found.output
    return json.loads(found.stdout)


@pytest.fixture
def registry(tmp_path: Path) -> str:
    """A registry with two ledgers over one data set, and one over another."""
    url = f"sqlite:///{tmp_path}/registry.db"
    assert run("registry", url, "--create").exit_code == 0
    for name, about, budget in (("a", HOSPITAL, 2.0), ("b", HOSPITAL, 1.0), ("c", About(dataset="school"), 4.0)):
        with policed(f"sqlite:///{tmp_path}/{name}.db", None, about, url, budget) as ledger:
            pay(ledger, 0.25)
    return url


def test_the_overview_adds_up_by_data_set(registry: str, tmp_path: Path) -> None:
    by_registry, by_pattern = record("overview", "--registry", registry), record("overview", tmp_path / "[abc].db")
    for found in (by_registry, by_pattern):
        assert [row["spent"]["epsilon"] for row in found["ledgers"]] == [0.25] * 3
        hospital, school = found["datasets"]
        assert (hospital["dataset"], hospital["spent"]["epsilon"], hospital["budget"]["epsilon"]) == (
            "hospital",
            0.5,
            3.0,
        )
        assert (school["budget"]["epsilon"], len(school["ledgers"])) == (4.0, 1)
    text = run("overview", "--registry", registry).output
    assert "Data set hospital: 2 ledgers" in text
    rows = list(csv.DictReader(io.StringIO(run("overview", "--registry", registry, "--csv").stdout)))
    assert [row["data sets"] for row in rows] == ["hospital", "hospital", "school"]


def test_a_copy_that_goes_on_counts_where_only_the_registry_knows_of_it(registry: str, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "a.db", tmp_path / "copy.db")
    with policed(f"sqlite:///{tmp_path}/copy.db", None, HOSPITAL, registry, 2.0) as ledger:
        pay(ledger, 1.5)
    with policed(f"sqlite:///{tmp_path}/a.db", None, HOSPITAL, None, 2.0) as ledger:
        pay(ledger, 1.25)
    found = run("overview", "--registry", registry)
    assert found.exit_code == 1
    assert "goes on in two places" in " ".join(found.output.split())
    hospital, _ = record("overview", "--registry", registry)["datasets"]
    assert hospital["spent"]["epsilon"] == 0.25 + 1.75 + 1.5


def test_one_that_was_rolled_back_is_found_by_the_overview(registry: str, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "a.db", tmp_path / "kept.db")
    with policed(f"sqlite:///{tmp_path}/a.db", None, HOSPITAL, registry, 2.0) as ledger:
        pay(ledger, 1.5)
    shutil.copy(tmp_path / "kept.db", tmp_path / "a.db")
    found = run("overview", "--registry", registry)
    assert found.exit_code == 1
    assert "rolled back" in " ".join(found.output.split())
    hospital, _ = record("overview", "--registry", registry)["datasets"]
    assert hospital["spent"]["epsilon"] == 0.25 + 2.0 + 2.0


def test_one_that_was_moved_is_not_missed(registry: str, tmp_path: Path) -> None:
    (tmp_path / "a.db").rename(tmp_path / "moved.db")
    policed(f"sqlite:///{tmp_path}/moved.db", None, HOSPITAL, registry, 2.0).close()
    assert run("overview", "--registry", registry).exit_code == 0
    hospital, _ = record("overview", "--registry", registry)["datasets"]
    assert hospital["spent"]["epsilon"] == 0.5


def test_an_old_one_behind_a_checkpoint_may_concern_any_data_set(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it charged before the checkpoint is not read, and says of no data set that it is another."""
    (tmp_path / "old.db").write_bytes(gzip.decompress((OLD / "sound.db.gz").read_bytes()))
    with Ledger.open(f"sqlite:///{tmp_path}/old.db", policy="", registry="") as ledger:
        ledger._writer.write_checkpoint()
    monkeypatch.setattr(sys.modules["accountant.registry.quick_reading"], "BELIEVED_FROM", 0)
    found = record("overview", "--registry", registry, tmp_path / "old.db")
    assert all(each["perhaps_also"] == [f"sqlite:///{tmp_path}/old.db"] for each in found["datasets"])


def test_a_registry_is_no_ledger(registry: str, tmp_path: Path) -> None:
    for command in ("show", "verify", "spent"):
        found = run(command, tmp_path / "registry.db")
        assert (found.exit_code, "is a registry of ledgers, and no ledger" in found.output) == (2, True)
    assert "is a registry of ledgers" in str(record("overview", tmp_path / "*.db")["ledgers"])


def test_one_ledger_over_two_data_sets_is_one(registry: str, tmp_path: Path) -> None:
    assert "3 ledgers, by data set" in run("registry", registry).output
    with policed(f"sqlite:///{tmp_path}/a.db", None, About(dataset="school"), registry, 2.0) as ledger:
        pay(ledger, 0.25)
    found = run("registry", registry)
    assert "3 ledgers, by data set" in found.output
    assert len(record("registry", registry)["ledgers"]) == 4


def test_opening_says_what_the_registry_does_not_list(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXCHEQUER_REGISTRY", registry)
    said = "No data set was named"
    assert said in run("open", tmp_path / "unnamed.db", "--epsilon", 1).output
    monkeypatch.setenv("EXCHEQUER_DATASET", "school")
    assert said not in run("open", tmp_path / "named.db", "--epsilon", 1).output
    assert str(tmp_path / "named.db") in str(record("registry", registry))


def test_one_that_is_gone_counts_with_its_whole_budget(registry: str, tmp_path: Path) -> None:
    (tmp_path / "b.db").unlink()
    result = run("overview", "--registry", registry)
    assert result.exit_code == 1
    assert "CANNOT BE READ" in result.output
    hospital = record("overview", "--registry", registry)["datasets"][0]
    assert (hospital["spent"]["epsilon"], hospital["budget"]["epsilon"]) == (1.25, 3.0)


def test_a_copy_counts_once_and_a_fork_twice(registry: str, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "a.db", tmp_path / "copy.db")
    both = (tmp_path / "a.db", tmp_path / "copy.db")
    assert len(record("overview", *both)["ledgers"]) == 1
    with policed(f"sqlite:///{both[0]}", None, HOSPITAL, None, 2.0) as ledger:
        pay(ledger, 0.25)
    assert len(record("overview", *both)["ledgers"]) == 1
    with policed(f"sqlite:///{both[1]}", None, HOSPITAL, None, 2.0) as ledger:
        pay(ledger, 0.5)
    found = record("overview", *both)
    assert found["datasets"][0]["spent"]["epsilon"] == 0.5 + 0.75
    result = run("overview", *both)
    assert result.exit_code == 1
    assert "goes on in two places" in " ".join(result.output.split())


def test_charges_that_do_not_say_may_concern_any(tmp_path: Path) -> None:
    for name, about in (("a", HOSPITAL), ("b", About())):
        with policed(f"sqlite:///{tmp_path}/{name}.db", None, about) as ledger:
            pay(ledger, 0.25)
    found = record("overview", tmp_path / "*.db", "--verify")
    assert found["ledgers"][0]["reading"] == "with caveats"  # nothing was released
    assert found["datasets"][0]["perhaps_also"] == [found["ledgers"][1]["ledger"]]


def test_open_and_show_say_what_ledgers_come_to(registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCHEQUER_REGISTRY", registry)
    monkeypatch.setenv("EXCHEQUER_DATASET", "hospital")
    opened = run("open", f"sqlite:///{tmp_path}/d.db", "--epsilon", 1)
    assert opened.exit_code == 0, opened.output
    for text in (opened.output, run("show", tmp_path / "a.db").output):
        assert "Data set hospital: 3 ledgers" in text
        assert "ε = 4" in text
    assert record("show", tmp_path / "a.db")["registered"][0]["budget"]["epsilon"] == 4.0


def test_nothing_named_and_nothing_matched_are_said(tmp_path: Path) -> None:
    assert "no ledger is named" in run("overview").output
    assert "no file matches" in run("overview", tmp_path / "*.db").output
    assert run("registry", f"sqlite:///{tmp_path}/none.db").exit_code == 2


def test_verify_lists_what_broke_a_policy(registry: str, tmp_path: Path) -> None:
    (file := tmp_path / "p.toml").write_text(f'{HEADER}[noise]\nsource = "secure"\n', encoding="utf-8")
    assert run("verify", tmp_path / "a.db", "--policy", file).exit_code == 3  # nothing was released
    with policed(f"sqlite:///{tmp_path}/a.db", None, HOSPITAL, None, 2.0) as ledger:
        pay(ledger, 0.25, said=SIMULATED)
        number = max(entry.number for entry in ledger.entries if entry.kind == "charged")
    found = run("verify", tmp_path / "a.db", "--policy", file)
    assert found.exit_code == 1
    assert f"entry {number}" in found.output
    assert "BROKEN 1" in found.output
    said = record("verify", tmp_path / "a.db", "--policy", file)
    assert [each["entry"] for each in said["policy"]["breaches"]] == [number]
    assert run("verify", tmp_path / "a.db", "--policy", file, "--since", "0" * 64).exit_code == 2


def test_a_policy_does_not_hide_that_a_ledger_is_not_sound(registry: str, tmp_path: Path) -> None:
    """An entry that cannot be read is held against no policy; that the ledger is not sound is said all the same."""
    (file := tmp_path / "p.toml").write_text(f'{HEADER}[noise]\nsource = "secure"\n', encoding="utf-8")
    export = tmp_path / "a.jsonl"
    assert run("export", tmp_path / "a.db", "--out", export).exit_code == 0
    export.write_text(export.read_text().replace("epsilon", "epsilom"))
    assert run("verify", export).exit_code == 1
    found = run("verify", export, "--policy", file)
    assert found.exit_code == 1
    assert "NOT SOUND" in " ".join(found.output.split())
    assert "not held against the policy" in " ".join(found.output.split())
    assert "policy" not in record("verify", export, "--policy", file)
    file.write_text("policy = 5", encoding="utf-8")
    assert run("verify", export, "--policy", file).exit_code == 2


@pytest.mark.parametrize("line", ["null", "[1]", "7", "[" * 50_000])
def test_a_window_of_entries_that_are_none_is_refused_in_a_line(registry: str, tmp_path: Path, line: str) -> None:
    export = tmp_path / "a.jsonl"
    assert run("export", tmp_path / "a.db", "--out", export).exit_code == 0
    header, first, charge = export.read_text().splitlines()
    bad = canonical({**json.loads(charge), "line": line})
    export.write_text("".join(f"{each}\n" for each in (header, first, bad)))
    found = run("export", export, "--from", "2026", "--out", tmp_path / "part.jsonl")
    assert found.exit_code == 2
    assert "entry 1 does not say when it was written" in found.output
    assert not (tmp_path / "part.jsonl").exists()


def test_the_example_policy_is_printed_and_read(tmp_path: Path) -> None:
    assert run("policy").stdout == EXAMPLE
    (file := tmp_path / "policy.toml").write_text(EXAMPLE, encoding="utf-8")
    assert "5 limit(s)" in run("policy", file).output
    file.write_text("polcy = 1", encoding="utf-8")
    wrong = run("policy", file)
    assert wrong.exit_code == 2
    assert "did you mean 'policy'" in wrong.output
