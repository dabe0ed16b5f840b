"""`exchequer help`: every term, every error and every page is a topic, and errors name the one that explains them."""

import importlib
import pickle
import traceback
import types
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner, Result

from accountant import AdjacencyMismatch
from accountant.explained import Explained
from exchequer.cli import main
from exchequer.commands.exports.zip_files import BadPack
from exchequer.topics import explained_by, known_topics, like, named, packed, read_topics
from exchequer.topics.reading import ERRORS, KINDS, key_of_class, unpacked
from learners import OutsideSchema
from proofs_tests.site.pages import ROOT
from proofs_tests.site.reference import public_names
from proofs_tests.support.learners.people import SCHEMA


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "80"})


def kinds_below(kind: type[Explained]) -> Iterator[type[Explained]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds_below(each)


def sections() -> list[str]:
    return [each.title for each in known_topics() if each.kind == "error"]


def public_errors() -> dict[str, type[BaseException]]:
    """What each face of a room offers, warnings among them."""
    things = (
        (name, getattr(importlib.import_module(face), name)) for face, names in public_names().items() for name in names
    )
    return {name: thing for name, thing in things if isinstance(thing, type) and issubclass(thing, BaseException)}


def test_every_public_exception_has_a_section_and_no_section_is_of_another_class() -> None:
    public = public_errors()
    assert len(public) >= 40
    assert issubclass(BadPack, Explained)  # of a module that only one command loads
    own = {kind.__name__ for kind in kinds_below(Explained) if not kind.__module__.startswith("proofs_tests.exchequer")}
    assert set(sections()) == own | set(public)
    assert sections() == sorted(sections(), key=str.casefold)
    for name, kind in public.items():
        assert issubclass(kind, Explained | Warning), name


def test_a_note_names_the_section_and_the_message_stays() -> None:
    error = OutsideSchema("column age: too much")
    assert str(error) == "column age: too much"
    assert "see: exchequer help outside-schema" in traceback.format_exception_only(error)[-1]
    for kind in kinds_below(Explained):
        if kind.__name__ in sections():
            assert kind._note == f"see: exchequer help {key_of_class(kind.__name__)}"


def test_a_class_of_others_has_the_section_of_ours_whatever_it_is_made_of() -> None:
    theirs = types.new_class("Mine", (OutsideSchema,), exec_body=lambda body: body.update(__module__="mine"))
    assert theirs("no").__notes__ == ["see: exchequer help outside-schema"]

    @attrs.frozen
    class Frozen(AdjacencyMismatch):
        which: int

    class Named(AdjacencyMismatch):
        def __init__(self, *, folder: str) -> None:
            super().__init__(f"nothing in {folder}")

    assert Frozen(3).which == 3
    assert str(Named(folder="there")) == "nothing in there"


def test_it_is_there_once_after_the_way_through_a_pickle() -> None:
    error = pickle.loads(pickle.dumps(AdjacencyMismatch("no")))  # noqa: S301  # our own
    assert (str(error), error.__notes__) == ("no", ["see: exchequer help adjacency-mismatch"])


def test_every_term_and_every_page_is_a_topic() -> None:
    topics = known_topics()
    lines = [line for line in (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").splitlines() if line[:4] == "- **"]
    assert sum(each.kind == "term" for each in topics) == len(lines)
    pages = {path.relative_to(ROOT).as_posix() for folder in KINDS for path in (ROOT / "docs" / folder).glob("*.md")}
    assert {each.place for each in topics if each.kind not in ("term", "error")} == {
        page for page in pages if not page.endswith("index.md")
    }
    assert ERRORS in pages
    assert all(each.key and each.title and each.text and each.place for each in topics)
    assert all(each.beginning for each in topics)


def test_the_file_of_a_wheel_has_them_all() -> None:
    assert unpacked(packed(read_topics(ROOT))) == list(known_topics())


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("zcdp", "zCDP (ρ)"),
        ("ε", "epsilon (ε)"),
        ("Privacy Loss", "privacy loss"),
        ("BudgetExceeded", "BudgetExceeded"),
        ("budget-exceeded", "BudgetExceeded"),
        ("LazyBoostClassifier", "LazyBB"),
        ("AdaBoost", "AdaBoost"),
        ("large-tables", "Train on more records than fit in memory"),
    ],
)
def test_topics_are_found_by_name_by_sign_and_by_name_in_code(words: str, title: str) -> None:
    assert title in [each.title for each in named(words)]
    result = run("help", *words.split())
    assert result.exit_code == 0, result.output
    assert title in result.stdout


def test_what_was_meant_is_said() -> None:
    assert like("zcpd")[0] == "zcdp"
    assert "sub-budget" in like("budget")
    result = run("help", "outsideschema")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "did you mean outside-schema" in result.stderr
    assert "train-in-python" in run("help", "PrivateBoostClassifier").stderr
    assert run("help", "qqqq").stderr == "Error: no topic 'qqqq'; exchequer help lists all of them\n"


def test_terms_lead_to_pages_errors_to_pages_and_pages_are_printed_whole() -> None:
    assert "exchequer help durable-ledger" in run("help", "ledger").stdout
    assert "Command: exchequer ledger --help" in run("help", "ledger").stdout
    assert "train is a command: exchequer train --help" in run("help", "train").stdout
    assert "exchequer help adjacency " in run("help", "adjacency-mismatch").stdout
    short, whole = run("help", "durable-ledger").stdout, run("help", "durable-ledger", "--whole").stdout
    assert "--whole" in short
    assert whole.count("\n") > 2 * short.count("\n")
    assert "](" not in whole


def test_all_are_listed() -> None:
    listed = " ".join(run("help").stdout.split())
    for topic in known_topics():
        assert topic.key in listed


def test_an_error_of_the_command_line_names_its_topic_even_where_it_was_told_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA, encoding="utf-8")
    Path("p.csv").write_text("age,sex,income\n30,unheard of,low\n", encoding="utf-8")
    result = run("train", "p.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "m.json")
    assert result.exit_code == 2
    assert result.stderr.endswith("see exchequer help outside-schema\n"), result.stderr
    told = ValueError("p.csv: too much")
    told.__cause__ = OutsideSchema("too much")
    assert explained_by(told) == "outside-schema"
    assert explained_by(ValueError("plain")) is None
    assert run("help", "outside-schema").exit_code == 0
