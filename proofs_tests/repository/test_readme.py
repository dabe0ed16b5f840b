"""The README's Python runs as printed, top to bottom, and its promises about the command line exist."""

import re
from pathlib import Path

import pytest
from click import Group

from exchequer.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    namespace: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert (tmp_path / "model.json").is_file()


def test_the_schema_in_the_readme_is_one(tmp_path: Path) -> None:
    from learners import Schema

    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "schema.toml"
    path.write_text(block, encoding="utf-8")
    assert Schema.from_toml(path).names == ["age", "member", "job"]


def test_commands_in_the_readme_exist() -> None:
    named = set(re.findall(r"^exchequer (\w+)", README, re.MULTILINE))
    assert isinstance(main, Group)
    assert named == {"demo", "train", "predict", "price"} <= set(main.commands)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake (\w+)\b", README)) & {"demo", "test", "bench"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
