"""ARCHITECTURE.md, CONTRIBUTING.md, GLOSSARY.md and the hooks say what is true of the code."""

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import pytest

from accountant import ApproxDP, Ledger, ReplaceOne, ZCDPComposition
from learners import Numeric, PrivateBoostClassifier, Schema
from proofs_tests.support.programs.architecture import LAYERS, ROOT, first_sentence, page


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md")
ARCHITECTURE, CONTRIBUTING, GLOSSARY = map(read, PAGES)
PICTURE = ARCHITECTURE.partition("```mermaid\n")[2].partition("```")[0]
STEPS = re.findall(r'"(\d+) · ([a-z_]+(?:\.\w+)+)<br>', PICTURE)
QUESTIONS = re.findall(r"^\| ([^|]+\?) \| \[`([\w.]+)`\]\(([\w/.]+)\): [^|]+ \|$", ARCHITECTURE, re.MULTILINE)
TERMS = re.findall(r"^- \*\*(.+?)\*\* — (.+) \(([^()]+); code: `([\w.]+)`\)$", GLOSSARY, re.MULTILINE)


def resolved(name: str) -> object:
    """What a dotted name stands for. Raises AttributeError or ModuleNotFoundError."""
    parts = name.split(".")
    known = next(cut for cut in range(len(parts), -1, -1) if cut == 0 or _is_module(".".join(parts[:cut])))
    found: object = importlib.import_module(".".join(parts[:known]))
    for part in parts[known:]:
        found = getattr(found, part)
    return found


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def definitions(path: Path) -> set[str]:
    """Names that a module defines: those of functions, classes, their methods, and constants."""
    return set(_defined(ast.parse(path.read_text(encoding="utf-8")).body, ""))


def _defined(body: list[ast.stmt], inside: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name):
                yield inside + name
            case ast.ClassDef(name=name, body=below):
                yield inside + name
                yield from _defined(below, f"{inside}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield inside + name


# --- ARCHITECTURE.md -----------------------------------------------------------------------------------------------


def test_the_table_of_rooms_is_fresh() -> None:
    assert page(ARCHITECTURE) == ARCHITECTURE, "run python -m proofs_tests.support.programs.architecture"


def test_a_first_sentence_ends_where_it_ends() -> None:
    assert first_sentence("Reads `a.b` of\n0.5 things. And more.") == "Reads `a.b` of 0.5 things."
    with pytest.raises(ValueError, match="expected a sentence"):
        first_sentence("TODO")


def test_the_layers_are_those_of_the_code() -> None:
    said = re.findall(r"[a-z_]+", ARCHITECTURE.partition("```\n")[2].partition("```")[0])
    assert tuple(said) == LAYERS


@pytest.mark.parametrize(("number", "name"), STEPS, ids=[name for _, name in STEPS])
def test_a_step_of_the_picture_exists(number: str, name: str) -> None:
    assert STEPS[int(number) - 1][1] == name, "steps are numbered from 1 on"
    assert callable(resolved(name))


def test_a_fit_takes_the_steps_of_the_picture_in_their_order(tmp_path: Path) -> None:
    wanted = {_code(name): int(number) for number, name in STEPS}
    rng = np.random.default_rng(0)
    table = {"age": rng.uniform(17.0, 90.0, 60)}
    labels = np.where(table["age"] > 40.0, 1, 0)
    schema = Schema((Numeric("age", 17.0, 90.0),))
    url = f"sqlite:///{tmp_path}/study.db"
    with Ledger.open(url, ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne()) as ledger:
        model = PrivateBoostClassifier(
            0.5, 1e-6, adjacency="replace-one", rounds_per_column=1, schema=schema, ledger=ledger
        )
        taken: dict[CodeType, None] = {}

        def look(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code in wanted:
                taken.setdefault(frame.f_code)

        before = sys.getprofile()
        sys.setprofile(look)
        try:
            model.fit(table, labels).save(tmp_path / "model.json")
        finally:
            sys.setprofile(before)
    assert [wanted[code] for code in taken] == list(range(1, len(STEPS) + 1))


def _code(name: str) -> CodeType:
    found: CodeType = resolved(name).__code__  # type: ignore[attr-defined]  # they are functions, or the test fails
    return found


def test_there_are_ten_questions() -> None:
    asked = ARCHITECTURE.partition("## Ten questions")[2]
    assert len(QUESTIONS) == asked.count("?") == asked.count("](") - 1 == 10  # and a link to CONTRIBUTING.md


@pytest.mark.parametrize(("question", "name", "path"), QUESTIONS, ids=[question for question, _, _ in QUESTIONS])
def test_an_answer_is_where_its_link_says(question: str, name: str, path: str) -> None:
    assert name in definitions(ROOT / path), f"{question} {path} does not define {name}"


# --- CONTRIBUTING.md and the hooks -----------------------------------------------------------------------------------

ITEMS = re.findall(r"^\d+\. (.+(?:\n   .+)*)", CONTRIBUTING, re.MULTILINE)
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+|[A-Z]+\.md)`")


def test_every_path_that_is_named_exists() -> None:
    named = PATH.findall(ARCHITECTURE) + PATH.findall(CONTRIBUTING)
    assert len(named) >= 30
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", read(name))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("item", ITEMS, ids=range(len(ITEMS)))
def test_a_constant_that_an_item_names_is_in_a_file_that_it_names(item: str) -> None:
    constants = set(re.findall(r"`([A-Z][A-Z_]+)`", item))
    places = [ROOT / path for path in PATH.findall(item)]
    files = [path for place in places for path in ([place] if place.is_file() else place.glob("*.py"))]
    found = {name for path in files if path.suffix == ".py" for name in definitions(path)}
    assert constants <= found, constants - found


def test_programs_that_are_named_exist() -> None:
    named = {
        name.rstrip(".") for text in (ARCHITECTURE, CONTRIBUTING) for name in re.findall(r"python -m ([\w.]+)", text)
    }
    assert len(named) >= 4
    assert all(_is_module(name) for name in named), named


def test_targets_of_make_exist() -> None:
    named = set(re.findall(r"`make (\w+)`", CONTRIBUTING))
    assert named >= {"quick", "test", "mutants", "bench"}
    assert named <= set(re.findall(r"^([\w-]+):", read("Makefile"), re.MULTILINE))


def test_markers_are_those_of_pytest() -> None:
    table = CONTRIBUTING.partition("| marker |")[2].partition("\n\n")[0]
    listed = read("pyproject.toml").partition("\nmarkers = [\n")[2].partition("\n]")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(re.findall(r'^  "(\w+):', listed, re.MULTILINE))


def test_categories_are_those_of_the_changelog() -> None:
    said = CONTRIBUTING.partition("in one of its categories:")[2].partition("\n\n")[0]
    assert re.findall(r"\*(\w+)\*", said) == re.findall(r"\*(\w+)\*", read("CHANGELOG.md").splitlines()[2])


@pytest.mark.parametrize("name", PAGES[:2])
def test_pages_stay_short(name: str) -> None:
    written = re.sub(r"<!-- rooms: .*?<!-- end of rooms -->", "", read(name), flags=re.DOTALL)
    assert written.count("\n") <= 160 if written == read(name) else written.count("\n") <= 90


def test_hooks_run_the_tools_of_this_environment() -> None:
    hooks = read(".pre-commit-config.yaml")
    assert set(re.findall(r"repo: (\S+)", hooks)) == {"local"}
    entries = re.findall(r"entry: (.+)", hooks)
    assert [entry.split(" --")[0] for entry in entries] == [
        ".venv/bin/ruff check",
        ".venv/bin/ruff format",
        ".venv/bin/mypy",
    ]


# --- GLOSSARY.md -----------------------------------------------------------------------------------------------------


def test_every_line_is_a_term_and_they_are_sorted() -> None:
    lines = [line for line in GLOSSARY.splitlines() if line.startswith("- ")]
    assert len(TERMS) == len(lines) >= 70
    terms = [term.casefold() for term, _, _, _ in TERMS]
    assert terms == sorted(set(terms))


def test_every_name_in_the_glossary_exists() -> None:
    for term, _, _, name in TERMS:
        try:
            resolved(name)
        except (AttributeError, ModuleNotFoundError) as error:
            pytest.fail(f"{term}: there is no {name}: {error}")
