"""Every block of every page of the site runs as printed, and what pages show without running it exists."""

import re
from pathlib import Path

import click
import pytest

from exchequer.cli import main
from learners import Schema
from proofs_tests.site.blocks import DiffersFromPage, blocks, run_page
from proofs_tests.site.pages import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = [path.relative_to(ROOT / "docs").as_posix() for path in PAGES]
WITH_DATA = ["how-to/six-tables.md"]
"""Run in proofs_tests/exchequer/test_six_tables.py, where the data are."""

WITH_BLOCKS = [
    name
    for name, path in zip(NAMES, PAGES, strict=True)
    if name not in WITH_DATA and blocks(path.read_text(encoding="utf-8"))
]


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_all_blocks_of_a_page_run_in_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run_page(text_of(name), name)


def shown() -> list[str]:
    """The commands that are shown and not run."""
    texts = [block.text for name in NAMES for block in blocks(text_of(name)) if block.kind == "console"]
    return [line for text in texts for line in text.splitlines() if line.strip()]


def test_commands_that_are_only_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert isinstance(main, click.Group)
    for line in shown():
        command = line.removeprefix("$ ").partition("  #")[0].split()
        assert line.startswith("$ "), line
        match command:
            case ["make", target, *_]:
                assert re.search(rf"^{target}:|^[\w ]*\b{target}\b[\w ]*:", makefile, re.MULTILINE), line
            case ["pip", "install", what, *_]:
                for extra in re.findall(r"exchequer\[([\w,]+)\]", what):
                    assert all(re.search(rf"^{each} = \[", project, re.MULTILINE) for each in extra.split(",")), line
            case ["exchequer", name, *_]:
                assert name in main.list_commands(click.Context(main)), line
            case ["python", "-m", name, *_]:
                assert (
                    (ROOT / name.replace(".", "/")).exists()
                    or (ROOT / f"{name.replace('.', '/')}.py").is_file()
                    or name == "venv"
                )
            case _:
                assert command[0] in {"git", "cd", "source", "."}, line


def test_languages_without_a_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="fortran"):
        blocks("```fortran\nEND\n```\n")


def test_a_block_that_says_something_else_than_what_happens_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the tests above can fail."""
    monkeypatch.chdir(tmp_path)
    price = "```sh\nexchequer price --mechanism pure-dp:0.1@10 --delta 0\n```\n"
    run_page(price + "```text\n10 … 0.1\n```\n", "good")
    with pytest.raises(DiffersFromPage, match="line 5"):
        run_page(price + "```text\nno such words\n```\n", "bad")
    with pytest.raises(DiffersFromPage, match="ended with 2, not 0"):
        run_page("```sh\nexchequer price --mechanism nonsense\n```\n", "bad")
    with pytest.raises(DiffersFromPage, match=r"0\.1 was printed, not about 0\.2"):
        run_page(price + '```text varies="0.3"\n10 … 0.2\n```\n', "bad")
    with pytest.raises(ZeroDivisionError):
        run_page("```python\n1 / 0\n```\n", "bad")
    run_page('```text title="kept/note.txt"\nwords\n```\n', "good")
    assert Path("kept/note.txt").read_text(encoding="utf-8") == "words\n"


def test_a_draft_is_answered_in_full_and_edited_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draft = '```toml title="s.toml"\n# as drafted\nname = "age"\nlower = "TODO: the least age?"\n```\n'
    fill = '```toml answers="s.toml"\n{}\n```\n'
    run_page(draft + fill.format("age = {lower = 18.5}"), "good")
    assert Path("s.toml").read_text(encoding="utf-8") == '# as drafted\nname = "age"\nlower = 18.5\n'
    with pytest.raises(DiffersFromPage, match="no answer to line 3: age, lower"):
        run_page(draft + fill.format("age = {upper = 18}"), "bad")
    with pytest.raises(DiffersFromPage, match=r"asks nothing that .*old"):
        run_page(draft + fill.format('age = {lower = 1, name = "old"}'), "bad")


def test_pages_show_the_commands_that_users_need() -> None:
    texts = [(ROOT / "README.md").read_text(encoding="utf-8"), *map(text_of, NAMES)]
    named = {name for text in texts for name in re.findall(r"\bexchequer (\w[\w-]+)", text)}
    assert isinstance(main, click.Group)
    known = set(main.list_commands(click.Context(main)))
    assert {"audit", "demo", "explain", "ledger", "train", "predict", "price", "rados", "verify-model"} <= named & known
    below = {name for text in texts for name in re.findall(r"^exchequer ledger ([\w-]+)", text, re.MULTILINE)}
    ledger = main.get_command(click.Context(main), "ledger")
    assert isinstance(ledger, click.Group)
    assert {"open", "show", "verify", "report", "export", "price"} <= below
    assert below <= set(ledger.list_commands(click.Context(ledger)))


def test_the_schema_of_the_command_line_is_one(tmp_path: Path) -> None:
    (block,) = (block for block in blocks(text_of("how-to/command-line.md")) if block.title == "people.toml")
    path = tmp_path / "schema.toml"
    path.write_text(block.text, encoding="utf-8")
    assert Schema.from_toml(path).names == ["age", "job"]
