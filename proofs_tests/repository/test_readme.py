"""The README's Python runs as printed, top to bottom, and its promises about the command line exist."""

import re
from pathlib import Path

import click
import pytest
from click import Group

from exchequer.cli import main
from proofs_tests.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 15
    namespace: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert (tmp_path / "model.json").is_file()
    (schema,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "people.toml").write_text(schema, encoding="utf-8")
    (train,) = re.findall(r"^exchequer (train people.csv .* --out rich.json)$", README, re.MULTILINE)
    main.main(train.split(), standalone_mode=False)
    assert (tmp_path / "rich.json").is_file()


def test_the_schema_in_the_readme_is_one(tmp_path: Path) -> None:
    from learners import Schema

    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "schema.toml"
    path.write_text(block, encoding="utf-8")
    assert Schema.from_toml(path).names == ["age", "job"]


def test_the_table_of_mutants_is_the_zoo() -> None:
    """Every survivor is listed as one by the zoo, whose own tests see to it that the list is right."""
    rows = re.findall(r"^\| ([a-z ]+) \| (\d+) \| (\d+) \|$", README, re.MULTILINE)
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
    assert f"The kit is tested on {len(MUTANTS)} mutants" in README


def test_commands_in_the_readme_exist() -> None:
    assert not re.search(r"[A-Z]+_ROW", README)
    named = set(re.findall(r"^exchequer ([\w-]+)", README, re.MULTILINE))
    assert isinstance(main, Group)
    expected = {"audit", "demo", "explain", "ledger", "train", "predict", "price", "rados", "verify-model"}
    assert named == expected <= set(main.list_commands(click.Context(main)))
    ledger = main.get_command(click.Context(main), "ledger")
    assert isinstance(ledger, Group)
    below = set(re.findall(r"^exchequer ledger ([\w-]+)", README, re.MULTILINE))
    assert (
        {"open", "show", "verify", "report", "export", "price"}
        <= below
        <= set(ledger.list_commands(click.Context(ledger)))
    )
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake (\w+)\b", README)) & {"demo", "test", "bench", "proofs"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
