"""What a draft of a schema takes from the records is named, and what it writes can be read again."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.commands.schemas.seen_values import declared_types
from learners.tables import open_questions


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


DECLARED = {
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
