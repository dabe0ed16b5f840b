"""README.md: short, each of its blocks runs alone, and what it says of numbers and commands is so."""

import re
from pathlib import Path

import click
import pytest
from click import Group

from benchmarks.runner.readme import table
from benchmarks.runner.report import Measured
from benchmarks.runner.results import outcomes
from exchequer.cli import main
from proofs_tests.claims.registry import CLAIMS
from proofs_tests.mutants import MUTANTS
from proofs_tests.site.blocks import blocks, run_page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KIT = (ROOT / "docs/reference/verification-kit.md").read_text(encoding="utf-8")
RUN = [block for block in blocks(README) if block.kind in ("python", "sh")]


def test_it_is_short() -> None:
    assert README.count("\n") <= 200


@pytest.mark.parametrize("block", RUN, ids=[f"line {block.line}" for block in RUN])
def test_each_block_runs_alone(block: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = RUN.index(block)  # type: ignore[arg-type]  # it is one of them
    run_page(f"```{RUN[place].kind}\n{RUN[place].text}```\n", "README.md")
    assert (tmp_path / "model.json").is_file()


def test_links_and_pictures_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(links) >= 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_commands_that_it_names_exist() -> None:
    named = set(re.findall(r"^exchequer ([\w-]+)", README, re.MULTILINE))
    assert isinstance(main, Group)
    assert named == {"explain", "ledger", "train", "verify-model"} <= set(main.list_commands(click.Context(main)))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:^\$ |`)make (\w+)", README, re.MULTILINE))
    assert targets == {"demo", "test", "docs"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_its_counts_are_those_of_the_registry_and_of_the_mutants() -> None:
    false = sum(claim.verdict == "false as printed" for claim in CLAIMS)
    killed = sum(not mutant.survives for mutant in MUTANTS)
    assert f"Each of {len(CLAIMS)} claims" in README
    assert f"; {false} are false as the papers print them" in README
    assert f"Of {len(MUTANTS)} wrong mechanisms it refutes {killed}" in README


def test_on_adult_ours_is_the_most_accurate_at_every_epsilon() -> None:
    """As the front page says, by the file of the last full run; rows of other libraries name them in parentheses."""
    assert "on Adult more accurate at every ε that we tried" in README
    accuracy: dict[str, dict[str, float]] = {}
    for each in table(outcomes(), "peers", "accuracy: Adult,").cells():
        if isinstance(each.cell, Measured):
            accuracy.setdefault(each.row, {})[each.column] = each.cell.value
    ours = accuracy["PrivateBoost, add-remove-one"]
    others = [values for row, values in accuracy.items() if row.endswith(")")]
    assert len(others) >= 6
    assert all(ours[at] > value for values in others for at, value in values.items())


def test_the_table_of_mutants_is_the_zoo() -> None:
    """Every survivor is listed as one by the zoo, whose own tests see to it that the list is right."""
    rows = re.findall(r"^\| ([a-z ]+) \| (\d+) \| (\d+) \|$", KIT, re.MULTILINE)
    printed = {name: (int(all_of), int(killed)) for name, all_of, killed in rows}
    methods = {mutant.method for mutant in MUTANTS}
    counted = {
        {"surface": "fitted surface"}.get(method, method): (
            sum(mutant.method == method for mutant in MUTANTS),
            sum(mutant.method == method and not mutant.survives for mutant in MUTANTS),
        )
        for method in methods
    }
    assert printed == counted
    assert f"The kit is tested on {len(MUTANTS)} mutants" in KIT
