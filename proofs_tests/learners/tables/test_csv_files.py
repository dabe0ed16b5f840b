"""CSV files of any separator, quote and encoding: read as they were written, whole or in blocks; nothing is guessed."""

import csv
import gzip
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant.arrays import ExactArray, IntArray
from learners import CsvTable, Numeric, PrivateBoostClassifier, Schema, predict_in_blocks, read_csv
from learners.blocks import Source
from learners.blocks.unchanged_files import ChangedFile
from learners.tables import CsvFile, FileFormat, Label, csv_files, encode
from learners.tables.file_format import UnclosedQuote
from learners.tables.plain_text import plain
from mechanisms.core import Block

FIELDS = st.text(
    st.characters(codec="latin-1", exclude_categories=["Cc", "Zs"]) | st.sampled_from(',;"| \n'), max_size=8
)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1, max_size=9)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ROWS,
    st.sampled_from(",;\t|:"),
    st.sampled_from("\"'"),
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
    st.sampled_from([False, True]),
    st.integers(1, 4),
)
def test_what_was_written_is_read_whole_and_in_blocks(
    tmp_path: Path, rows: list[list[str]], separator: str, quote: str, encoding: str, packed: bool, block: int
) -> None:
    path, names = tmp_path / "data.csv", [f"c{number}" for number in range(len(rows[0]))]
    opener = gzip.open if packed else open
    with opener(path, "wt", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=separator, quotechar=quote, quoting=csv.QUOTE_ALL)
        writer.writerows([names, *rows])
    marked = encoding in ("utf-8-sig", "utf-16")
    format = FileFormat(separator, quote, None if marked else encoding)
    expected = {name: [row[place].strip() for row in rows] for place, name in enumerate(names)}
    assert {name: values.tolist() for name, values in read_csv(path, format=format).items()} == expected
    blocks = list(CsvFile(path, format).blocks(block))
    assert {name: np.concatenate([part[name] for part in blocks]).tolist() for name in names} == expected
    assert [len(part["c0"]) for part in blocks[:-1]] == [block] * (len(blocks) - 1)
    assert CsvFile(path, format).records() == len(rows)


LINES = st.lists(
    st.sampled_from(["a", "b1", ",", ",", '"', '""', "\n", "\n", "\r\n", "\r", " ", "\t", "é", "\u2028", "'"])
)


@settings(max_examples=300)
@given(LINES, st.integers(1, 3), st.sampled_from([",", "\t", "b", " "]), st.sampled_from(['"', "'", ""]))
def test_text_that_is_taken_apart_at_once_says_what_the_csv_module_makes_of_it(
    parts: list[str], columns: int, separator: str, quote: str
) -> None:
    text = "".join(parts) + "\n"
    found = plain(text, columns, separator, quote)
    if found is None:
        return
    format = FileFormat(separator, quote)
    rows = [[field.strip() for field in row] for row in format.reader(io.StringIO(text, newline="")) if row]
    assert found.lines == len(rows)
    assert [[field.strip() for field in column] for column in found.fields()] == [
        [row[place] for row in rows] for place in range(columns)
    ]
    if not found.blank:
        assert all(field == field.strip() for column in found.fields() for field in column)


def test_plain_text_is_taken_for_what_it_is() -> None:
    for text, columns in (("a,b\n", 2), ('"a",b\r\n"","c c"\n', 2), ("a\n\nb\n", 1), ("", 3)):
        assert plain(text, columns, ",", '"') is not None
    for text in ('"a,b",c\n', 'a"b,c\n', '"a""b",c\n', "a,b,c\n", 'a, "b"\n', "a\rb,c\n"):
        assert plain(text, 2, ",", '"') is None


@pytest.mark.parametrize("characters", [1, 40, 4096])
@pytest.mark.parametrize("where", [0, 3, 250, 299])
def test_from_text_that_is_not_plain_on_the_csv_module_reads(
    tmp_path: Path, where: int, characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it comes, and however much is looked at together."""
    monkeypatch.setattr(csv_files, "_CHARACTERS", characters)
    lines = [f"{number},x{number}" for number in range(300)]
    lines[where] = '"1,5","a\n\n""b"""'
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["n,t", *lines]))
    table = read_csv(path)
    assert table["n"].size == CsvFile(path).records() == 300
    assert (table["n"][where], table["t"][where]) == ("1,5", 'a\n\n"b"')
    assert table["n"].tolist() == [*map(str, range(where)), "1,5", *map(str, range(where + 1, 300))]


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        *(("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a|b", "|"), ("alone", ","), ('"a,x";b', ";")),
        *(("a;b;c,d", ","), ("id,a|b|c|d", ","), ('"a,x"|b;c;d', ";"), ("a,b;c", ",")),
    ],
)
def test_the_header_line_says_what_separates(tmp_path: Path, header: str, separator: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"\n{header}\n")
    assert CsvFile(path).separator() == separator


def test_records_say_nothing_about_how_they_are_read(tmp_path: Path) -> None:
    """One record of a file without a header line, and one byte of it, must not decide how the others are read."""
    path = tmp_path / "data.csv"
    path.write_text("1;2;3\n4;5;6\n")
    assert read_csv(path, names=["all"])["all"].tolist() == ["1;2;3", "4;5;6"]
    path.write_bytes("a,b\n1,Jörg\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"byte 0xf6 is no utf-8; .* \(--encoding\)"):
        read_csv(path)
    assert read_csv(path, format=FileFormat(encoding="latin-1"))["b"].tolist() == ["Jörg"]
    path.write_text("a;b\n1,5;2\n,5;1,2,3\n-3,;x,5\n")
    assert read_csv(path, format=FileFormat(decimal=","))["a"].tolist() == ["1.5", ".5", "-3."]
    assert read_csv(path, format=FileFormat(decimal=","))["b"].tolist() == ["2", "1,2,3", "x,5"]


def test_what_is_wrong_names_the_line_and_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('\na,b\n1,2\n\n"3\n3",4\n5\n')
    for read in (read_csv, lambda where: CsvFile(where).records()):
        with pytest.raises(ValueError, match=r"line 7: 1 fields, expected 2; .* \(--separator\)"):
            read(path)
    path.write_text("a,a\n")
    with pytest.raises(ValueError, match="a column name stands twice"):
        read_csv(path)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"separator": "ab"}, "separator: expected one character"),
        ({"quote": "''"}, "quote: expected one character"),
        ({"encoding": "utf-9"}, "encoding: 'utf-9' is unknown"),
        ({"encoding": "rot13"}, "encoding: 'rot13' is none of files of text"),
        ({"encoding": "base64"}, "encoding: 'base64' is none of files of text"),
        ({"decimal": ";"}, "decimal: expected"),
    ]
    for wrong, said in refused:
        with pytest.raises(ValueError, match=said):
            FileFormat(**wrong)
    assert (FileFormat("tab").separator, FileFormat("space").separator) == ("\t", " ")


@pytest.mark.parametrize("characters", [7, 2**22])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n\n1,2\n3,"4\n5,6\n7,8', 4),
        ('a,b\n"1\n1","2\n3,4', 3),
        ('a,b\n1,2\n3,"', 3),
        ('a,b\n1,2\n3,"4', 3),
        ('a,"b\n1,2', 1),
        ('a,b\n1,"2""\n3,4', 2),
    ],
)
def test_a_quote_that_is_never_closed_swallows_nothing(
    tmp_path: Path, text: str, line: int, end: str, characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "_CHARACTERS", characters)
    path = tmp_path / "data.csv"
    path.write_text(text + end, newline="")
    calls: list[Callable[[], object]] = [
        lambda: read_csv(path),
        lambda: CsvFile(path).records(),
        lambda: list(CsvFile(path).blocks(1)),
        lambda: list(CsvFile(path, comment="#").blocks(1)),
        lambda: CsvTable(path),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=rf"data.csv, line {line}: a quoted field begins, .* \(--quote \"\"\)"):
            call()


def test_where_nothing_quotes_no_quote_is_open(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('a,b\n1,"2\n3,4\n')
    assert read_csv(path, format=FileFormat(quote=""))["b"].tolist() == ['"2', "4"]


@settings(max_examples=300)
@given(LINES, st.sampled_from([",", "\t", "b", " "]), st.sampled_from(['"', "'"]))
def test_what_ends_properly_is_read_as_the_csv_module_reads_it(parts: list[str], separator: str, quote: str) -> None:
    text, how = "".join(parts), {"delimiter": separator, "quotechar": quote, "skipinitialspace": True}
    expected = list(csv.reader(io.StringIO(text, newline=""), **cast("Any", how)))
    try:
        found = list(FileFormat(separator, quote).reader(io.StringIO(text, newline="")))
    except UnclosedQuote:  # a line more is then part of the last field, and else a row
        more = list(csv.reader([*io.StringIO(text, newline=""), "more\n"], **cast("Any", how)))
        assert len(more) == len(expected)
        assert "more" in more[-1][-1]
    else:
        assert found == expected


def test_a_format_is_written_where_it_is_not_the_usual() -> None:
    format = FileFormat(";", encoding="cp1252", columns=("a", "b"))
    assert format.as_dict() == {"separator": ";", "encoding": "cp1252", "columns": ["a", "b"]}
    again: dict[str, Any] = format.as_dict()
    assert FileFormat(**again) == format
    assert FileFormat().as_dict() == {}


# --- in blocks ----------------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("x", 0.0, 1.0), Numeric("z", 0.0, 10.0, missing="own")), Label("y", ("no", "yes")))


def people(path: Path, n: int, first: int = 0) -> Path:
    random = np.random.default_rng(first)
    rows = zip(random.random(n), random.integers(0, 11, n), random.random(n) < 0.5, strict=True)
    lines = [f"{x},{'' if z > 9 else z},{'yes' if y else 'no'},{k}" for k, (x, z, y) in enumerate(rows)]
    path.write_text("\n".join(["x,z,y,id", *lines]))
    return path


@pytest.mark.parametrize("block", [1, 7, 100])
def test_a_table_in_blocks_is_the_table_in_memory(tmp_path: Path, block: int) -> None:
    paths = [people(tmp_path / "a.csv", 20), people(tmp_path / "b.csv", 3, 1)]
    parts = [read_csv(path) for path in paths]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table = CsvTable(paths, "y", block=block)
    source = Source.of(table, None)
    assert (table.n, source.rows.n, source.names) == (23, 23, ("x", "z", "id"))
    codes = source.rows.map(lambda part: encode(part.table, SCHEMA)).kept()
    found = np.zeros((2, 23), dtype=np.int64)

    def put(block: Block[IntArray]) -> ExactArray:
        found[:, block.first : block.first + block.size] = block.data
        return np.array([block.size])

    assert codes.total(put).tolist() == [23]
    assert found.tolist() == encode(whole, SCHEMA).tolist()


def test_a_fit_on_blocks_is_the_fit_in_memory_bit_by_bit(tmp_path: Path) -> None:
    path = people(tmp_path / "people.csv", 300)
    table = read_csv(path)
    labels = table.pop("y")

    def learner() -> PrivateBoostClassifier:
        return PrivateBoostClassifier(1.0, 1e-6, schema=SCHEMA, random_state=0)

    small = learner().fit(CsvTable(path, "y", block=64), None)
    large = learner().fit(table, labels)
    answers = list(predict_in_blocks(small, CsvTable(path, "y", block=50), "decision_function"))
    assert [part.size for part in answers] == [50] * 6
    assert np.concatenate(answers).tobytes() == large.decision_function(table).tobytes()


def test_blocks_in_any_order_and_files_that_change(tmp_path: Path) -> None:
    path = people(tmp_path / "people.csv", 10)
    whole = read_csv(path)["id"].tolist()
    (leaf,) = CsvTable(path, block=3)._leaves
    for order in itertools.permutations(range(4)):
        found = {number: leaf.load(number)["id"].tolist() for number in order}
        assert [text for number in range(4) for text in found[number]] == whole
    rows = Source.of(CsvTable(path, "y", block=3), None).rows
    people(path, 11)
    with pytest.raises(ChangedFile, match="was changed while it was in use"):
        rows.total(lambda block: np.array([block.size]))
    path.write_text("x,y\n")
    with pytest.raises(ValueError, match="at least one record"):
        CsvTable(path)
    with pytest.raises(ValueError, match="no CSV files"):
        CsvTable([])
    with pytest.raises(ValueError, match=r"one of \['x', 'z', 'y', 'id'\], got 'w'"):
        CsvTable(people(path, 2)).block_rows("w")


def test_a_field_that_never_ends_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "open.csv").write_text('a,b\n1,"' + "x\n" * 100_000, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"open.csv, line \d+: a field of more than 131,072 characters, as where a quote"
    ):
        read_csv(tmp_path / "open.csv")
