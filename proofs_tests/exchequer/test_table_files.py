"""One table in many files: whatever it is written in, commands make the same model and the same predictions of it."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from exchequer.cli import main
from exchequer.console import output, table_files
from learners import LazyBoostClassifier, ParquetTable, Schema, read_csv

N = 300
SCHEMA = """
[label]
name = "y"
classes = ["no", "yes"]
[[columns]]
name = "age"
kind = "integer"
lower = 0
upper = 99
missing = "own"
[[columns]]
name = "size"
kind = "numeric"
lower = 0
upper = 10
[[columns]]
name = "city"
kind = "categorical"
categories = ["Köln", "Rome"]
other = "own"
"""
Rows = list[tuple[str, str, str, str]]


def rows() -> Rows:
    draw = random.Random(0)
    ages = [draw.choice(["", str(draw.randrange(100))]) for _ in range(N)]
    return [
        (age, f"{draw.uniform(0, 10):.3f}", draw.choice(["Köln", "Rome", "Oslo"]), "yes" if age > "5" else "no")
        for age in ages
    ]


def text(separator: str, quote: str = "", decimal: str = ".") -> str:
    lines = [("age", "size", "city", "y"), *((a, s.replace(".", decimal), c, y) for a, s, c, y in rows())]
    return "\n".join(separator.join(f"{quote}{field}{quote}" for field in line) for line in lines) + "\n"


def plain() -> str:
    Path("t.csv").write_text(text(","), encoding="utf-8")
    return "t.csv"


def packed() -> str:
    with gzip.open("t.csv.gz", "wt", encoding="utf-8") as file:
        file.write(text(","))
    return "t.csv.gz"


def german() -> str:
    Path("t.txt").write_text(text(";", "'", ","), encoding="latin-1")
    return "t.txt"


def wide() -> str:
    Path("t.tsv").write_text(text("\t"), encoding="utf-16")
    return "t.tsv"


def parquet() -> str:
    table = pyarrow.csv.read_csv(plain(), convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=False))
    pyarrow.parquet.write_table(table, "t.parquet", row_group_size=70)
    return "t.parquet"


GERMAN = ("--quote", "'", "--decimal", ",", "--encoding", "latin-1")
FILES: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {
    "gzip": (packed, ()),
    "german": (german, GERMAN),
    "utf-16": (wide, ()),
    "parquet": (parquet, ()),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXCHEQUER_LEDGER", raising=False)
    Path("s.toml").write_text(SCHEMA, encoding="utf-8")


def fine(*arguments: str) -> Result:
    found = CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})
    assert found.exit_code == 0, found.output
    return found


def fitted(file: str, *options: str) -> tuple[object, str, object]:
    """The model, its predictions, and rados, by files written so."""
    price = ("--schema", "s.toml", "--epsilon", "2", "--seed", "0", "--force")
    fine("train", file, *price, "--learner", "lazy-boost", "--out", "m.json", *options)
    said = fine("predict", file, "--model", "m.json", *options).stdout
    fine("rados", "release", file, *price, "--number", "20", "--out", "r.json", *options)
    return LazyBoostClassifier.load("m.json").model_.as_record(), said, json.loads(Path("r.json").read_text())["model"]


@pytest.mark.parametrize("name", FILES)
def test_the_file_makes_no_difference(name: str) -> None:
    make, options = FILES[name]
    assert fitted(make(), *options) == fitted(plain())


@pytest.mark.parametrize("name", FILES)
def test_nor_do_its_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, options = FILES[name]
    expected = fitted(plain())
    monkeypatch.setattr(table_files, "RECORDS", 64)
    assert fitted(make(), *options) == expected
    fine("schema", "check", make(), "--schema", "s.toml", *options)


def test_a_schema_says_how_its_files_are_written() -> None:
    expected, how = fitted(plain()), '[file]\nquote = "\'"\ndecimal = ","\nencoding = "latin-1"\n'
    Path("s.toml").write_text(how + SCHEMA, encoding="utf-8")
    schema = Schema.from_toml("s.toml")
    assert Schema.from_dict(schema.as_dict()) == schema
    assert fitted(german())[1] == expected[1]
    usual = ("--quote", '"', "--decimal", ".", "--encoding", "utf-8")
    assert fitted(plain(), *usual)[1] == expected[1]  # what is typed goes before it


def test_the_columns_that_a_schema_names_stand_whatever_the_command_says() -> None:
    """Their order is that of the file, which need not be that of the schema."""
    expected = fitted(plain())
    lines = Path("t.csv").read_text(encoding="utf-8").splitlines()[1:]
    turned = [",".join(reversed(line.split(","))) for line in lines]
    Path("t.csv").write_text("\n".join(turned), encoding="utf-8")
    Path("s.toml").write_text('[file]\ncolumns = ["y", "city", "size", "age"]\n' + SCHEMA, encoding="utf-8")
    assert fitted("t.csv")[1] == expected[1]
    assert fitted("t.csv", "--no-header")[1] == expected[1]
    fine("schema", "check", "t.csv", "--schema", "s.toml", "--no-header")


def test_what_is_wrong_in_a_later_block_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(plain())
    monkeypatch.setattr(table_files, "RECORDS", 100)
    lines = text(",").splitlines()
    lines[250] = "1,77,Rome,no"
    Path("t.csv").write_text("\n".join(lines), encoding="utf-8")
    found = CliRunner().invoke(main, ("schema", "check", "t.csv", "--schema", "s.toml"), env={"COLUMNS": "160"})
    assert found.exit_code == 1
    assert "249" in found.stdout
    refused = CliRunner().invoke(main, ("predict", "t.csv", "--model", "m.json", "--out", "p.csv"))
    assert refused.exit_code == 2
    assert "row 49: 77.0 is outside [0.0, 10.0]" in refused.stderr
    assert "rows are counted from record 200 of the file" in refused.stderr
    assert not Path("p.csv").exists()
    assert read_csv("t.csv")["size"][249] == "77"


def test_a_large_file_has_a_bar_where_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[bool]()
    terminal = Console(stderr=True, force_terminal=True, width=80)
    monkeypatch.setattr(output, "Console", lambda **_: terminal)
    for size in (10, output.LARGE_FILE):
        with terminal.capture() as capture, output.file_bar("t.csv", 10, size) as done:
            done(5)
        seen.append("reading t.csv" in capture.get())
    assert seen == [False, True]


def test_an_index_that_has_a_name_is_a_column_of_a_parquet_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [3, 9, 5], "age": [3, 1, 2]})
    frame.set_index("id").to_parquet(tmp_path / "named.parquet")
    frame[frame["age"] > 1].to_parquet(tmp_path / "unnamed.parquet")
    assert sorted(ParquetTable(tmp_path / "named.parquet").names) == ["age", "id"]
    assert sorted(ParquetTable(tmp_path / "unnamed.parquet").names) == ["age", "id"]
