"""What a draft of a schema takes from the records is named, and what it writes can be read again."""

import errno
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.commands.schemas.column_facts import ColumnFacts
from exchequer.commands.schemas.schema_text import Draft
from exchequer.commands.schemas.seen_values import declared_types
from learners.tables import FileFormat, open_questions


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXCHEQUER_LEDGER", raising=False)


def draft(*arguments: str) -> Result:
    return CliRunner().invoke(main, ("schema", "draft", *arguments), env={"COLUMNS": "400"})


# --- guesses are named --------------------------------------------------------------------------------------------


def test_how_dates_are_written_is_named_where_it_was_guessed() -> None:
    Path("visits.csv").write_text("day,left,ward\n" + "01.02.2024,31/01/2024,a\n" * 20)
    Path("codebook.csv").write_text("name,type\nday,date\n")
    found = draft("visits.csv", "--dictionary", "codebook.csv")
    assert 'form = "%d.%m.%Y"' in found.stdout
    for said in (found.stderr, " ".join(found.stdout.replace("\n#  ", "").split())):
        assert "left date as %d/%m/%Y, ward text" in said
        assert "how dates are written, as most of the first records have them: day as %d.%m.%Y" in said


DECLARED: Mapping[str, tuple[object, Sequence[object], str | None]] = {
    "flag": (pyarrow.bool_(), [True, False], "boolean"),
    "count": (pyarrow.int64(), [3, 4], "integer"),
    "share": (pyarrow.float32(), [0.5, 1.0], "number"),
    "price": (pyarrow.decimal128(8, 2), [1, 2], "number"),
    "day": (pyarrow.date32(), [0, 1], "date"),
    "moment": (pyarrow.timestamp("us"), [0, 1], "date"),
    "word": (pyarrow.string(), ["a", "b"], "text"),
    "code": (pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), ["a", "b"], "text"),
    "nothing": (pyarrow.null(), [None, None], None),
    "several": (pyarrow.list_(pyarrow.int64()), [[1], [2]], None),
}


@pytest.mark.parametrize("gaps", ["none", "one", "all"])
def test_types_of_parquet_are_what_its_schema_declares_whatever_the_records_are(gaps: str) -> None:
    kept = {"none": (0, 1), "one": (0,), "all": ()}[gaps]
    columns = {
        name: pyarrow.array([value if place in kept else None for place, value in enumerate(values)], kind)
        for name, (kind, values, _) in DECLARED.items()
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), "t.parquet")
    assert declared_types(Path("t.parquet")) == {name: said for name, (_, _, said) in DECLARED.items()}
    found = draft("t.parquet")
    assert (found.exit_code, 'kind = "boolean"' in found.stdout) == (0, True)


# --- what is a question, and what is not --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ('name = "TODO: a column"', False),
        ('name = "TODO"', False),
        ('categories = ["TODO", "DONE"]', False),
        ('classes = ["TODOS", "NADA"]', False),
        ('lower = "TODO: the least"', True),
        ("categories = ['TODO: all of them']", True),
        ('kind = "TODO:"', True),
    ],
)
def test_only_what_begins_as_drafts_write_it_is_open(line: str, asked: bool) -> None:
    assert bool(open_questions(f"[[columns]]\n{line}\n")) == asked


# --- what was paid for can be read --------------------------------------------------------------------------------

ODD = "a\x7fb\x01\x85\u2028\"\\'"


@pytest.mark.parametrize("classes", [(), (ODD,), (ODD, "c")])
def test_no_category_makes_a_draft_unreadable_and_a_single_class_leaves_a_question(classes: tuple[str, ...]) -> None:
    columns = [
        ColumnFacts(f"{ODD} c", "text", categories=(ODD,), unit=ODD, said=ODD, source=ODD),
        ColumnFacts(f"{ODD} n", "number"),
        ColumnFacts(ODD, "text", categories=classes),
    ]
    text = Draft("t.csv", columns, ODD, False, FileFormat(), [ODD], ODD).text()
    said = tomllib.loads(text)
    assert [each["name"] for each in said["columns"]] == [f"{ODD} c", f"{ODD} n"]
    assert said["columns"][0]["categories"] == [ODD]
    asked = [question.key for question in open_questions(text)]
    assert asked == ["lower", "upper"] + ["classes"] * (len(classes) < 2)
    assert len(classes) < 2 or said["label"] == {"name": ODD, "classes": list(classes)}


def test_what_was_paid_for_is_printed_where_it_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("t.csv").write_text("age,y\n" + "33,a\n44,b\n" * 500)
    asked = ("t.csv", "--label", "y", "--out", "t.toml")

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    paid = draft(*asked, "--paid", "--epsilon", "2")
    assert paid.exit_code == 2
    assert "what it cost is charged all the same" in paid.stderr
    assert tomllib.loads(paid.stdout)["label"] == {"name": "y", "classes": ["a", "b"]}
    free = draft(*asked)
    assert (free.exit_code, free.stdout, "charged" in free.stderr) == (2, "", False)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--epsilon", value) for value in ("0", "-1", "inf", "nan")),
        *(("--delta", value) for value in ("-0.1", "nan", "0.5", "2", "0.01")),
    ],
)
def test_a_price_that_cannot_be_is_refused_by_its_option(option: str, value: str) -> None:
    Path("t.csv").write_text("age,y\n" + "33,a\n44,b\n" * 50)
    said = {"--epsilon": "1", "--delta": "1e-6"} | {option: value}
    found = draft("t.csv", "--label", "y", "--paid", *(part for pair in said.items() for part in pair))
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"{option}: " in found.stderr
    assert found.stderr.count("\n") == 1


# --- files that are not what they seem ----------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["Ada,Oslo,3.5", "Ada,Ada,Oslo", '"3,5",Ada,Oslo'])
def test_a_first_line_that_is_a_record_is_refused_and_not_quoted(first: str) -> None:
    Path("raw.csv").write_text(f"{first}\nEve,Rome,4.5\n")
    found = draft("raw.csv")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "--no-header" in found.stderr
    assert not any(part in found.stderr for part in ("Ada", "Oslo", "3.5", "3,5"))
    assert draft("raw.csv", "--no-header", "--names", "a,b,c").exit_code == 0


@pytest.mark.parametrize("public", [(), ("--values-are-public",)])
def test_decimal_commas_are_pointed_out_and_named_as_guessed(public: tuple[str, ...]) -> None:
    Path("paid.csv").write_text("who;price;tags\n" + "a;3,5;1,2,3\nb;4;x\n" * 20)
    found = draft("paid.csv", *public)
    assert "numbers with a decimal comma in price: draft again with --decimal ," in found.stderr
    for said in (found.stderr, found.stdout):
        assert ("that most of the first records have a decimal comma in price" in said) == (not public)
    if not public:
        vain = draft("paid.csv", "--paid", "--epsilon", "1")
        assert (vain.exit_code, "nothing was charged" in vain.stderr, vain.stdout) == (2, True, "")
    again = draft("paid.csv", "--decimal", ",", *public)
    assert ("draft again" in again.stderr, 'kind = "numeric"' in again.stdout) == (False, True)
