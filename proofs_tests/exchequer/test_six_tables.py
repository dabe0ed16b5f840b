"""Six public tables, from the file to a model: a draft, its TODOs, a check, a fit; nothing else is edited."""

import csv
import datetime
import gzip
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.datasets import data_folder, found_file
from learners import Schema
from learners.tables import open_questions

ABALONE = ("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings")
CODES = {1: "1234", 3: "01234", 6: "12345", 7: "12345", 9: "1234", 10: "123", 12: "1234", 14: "123", 15: "123"}
"""Of the German credit data, by number: which digits follow "A" and the number; the others are below."""


@attrs.frozen
class Case:
    """A table, and how a person answers what its draft asks.

    options: of `schema draft`.  answers: by column, what stands for its TODOs, each used as often as it is asked.
    learner: "" for the one that is recommended.  scored: how `predict --score` begins.
    """

    file: str
    options: tuple[str, ...]
    answers: Mapping[str, Sequence[str]]
    learner: str = "private-boost"
    scored: str = "accuracy 0."


def abalone(folder: Path) -> Case:
    """Three classes of age; some lengths are missing, as "?" or not at all."""
    draw = random.Random(0)
    with gzip.open(found_file(folder, "abalone", "abalone.data"), "rt") as source, Path("abalone.csv").open("w") as out:
        print(*ABALONE[:-1], "age", sep=",", file=out)
        for row in csv.reader(source):
            rings = int(row[-1])
            row[1] = draw.choice(["", "?"]) if draw.random() < 0.05 else row[1]
            print(*row[:-1], "young" if rings < 8 else "old" if rings > 11 else "middle", sep=",", file=out)
    answers = {"sex": ['["M", "F", "I"]'], "age": ['["young", "middle", "old"]']}
    bounds = {"length": 1, "diameter": 1, "height": 2, "whole": 4, "shucked": 3, "viscera": 2, "shell": 2}
    return Case("abalone.csv", ("--label", "age"), answers | {name: ["0", str(top)] for name, top in bounds.items()})


def medical(folder: Path) -> Case:
    """A regression: what treatment costs."""
    Path("insurance.csv").write_bytes(found_file(folder, "medical-cost", "insurance.csv").read_bytes())
    regions = '["northeast", "northwest", "southeast", "southwest"]'
    answers = {
        "age": ["18", "64"],
        "sex": ['["female", "male"]'],
        "bmi": ["10", "60"],
        "children": ["0", "5"],
        "region": [regions],
        "charges": ["0", "70000"],
    }
    return Case("insurance.csv", ("--label", "charges"), answers, "", "mean absolute error")


def german(folder: Path) -> Case:
    """Codes of a questionnaire, and no header line."""
    Path("german.csv").write_bytes(found_file(folder, "german-credit", "german.data").read_bytes())
    codes = {number: [f"A{number}{digit}" for digit in digits] for number, digits in CODES.items()}
    codes |= {4: [f"A4{k}" for k in range(11)], 9: [f"A9{k}" for k in range(1, 6)]}
    codes |= {17: ["A171", "A172", "A173", "A174"], 19: ["A191", "A192"], 20: ["A201", "A202"]}
    answers = {f"column{number}": [str(listed).replace("'", '"')] for number, listed in codes.items()}
    numbers = {2: (1, 120), 5: (0, 20000), 8: (1, 4), 11: (1, 4), 13: (18, 100), 16: (1, 6), 18: (1, 3)}
    answers |= {f"column{number}": [str(low), str(high)] for number, (low, high) in numbers.items()}
    answers |= {"column21": ['["1", "2"]']}
    return Case("german.csv", ("--no-header", "--label", "column21"), answers)


def orders(folder: Path) -> Case:
    """Semicolons, decimal commas, dates as Germans write them, and letters of cp1252."""
    draw, lines = random.Random(1), ["Nummer;Straße;Datum;Betrag;bezahlt"]
    for number in range(600):
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=draw.randrange(730))
        amount = f"{draw.uniform(0, 900):.2f}".replace(".", ",")
        when = "" if draw.random() < 0.03 else day.strftime("%d.%m.%Y")
        lines.append(f"{number};{draw.choice(['Königsallee', 'Ring'])};{when};{amount};{draw.choice(['ja', 'nein'])}")
    Path("orders.csv").write_text("\n".join(lines), encoding="cp1252")
    answers = {
        "Nummer": ["0", "100000"],
        "Straße": ['["Königsallee", "Ring"]'],
        "Datum": ['"2020-01-01"', '"2025-12-31"'],
        "Betrag": ["0", "1000"],
        "bezahlt": ['["nein", "ja"]'],
    }
    return Case("orders.csv", ("--label", "bezahlt", "--encoding", "cp1252", "--decimal", ","), answers)


def skin(folder: Path) -> Case:
    """Parquet of 245,000 rows, whose metadata say what is in it."""
    with gzip.open(found_file(folder, "skin", "Skin_NonSkin.txt"), "rt") as source:
        rows = [[int(field) for field in line.split()] for line in source]
    columns = dict(zip(("blue", "green", "red", "skin"), zip(*rows, strict=True), strict=True))
    pyarrow.parquet.write_table(pyarrow.table({name: list(values) for name, values in columns.items()}), "skin.parquet")
    answers = {name: ["0", "255"] for name in ("blue", "green", "red")} | {"skin": ['["1", "2"]']}
    return Case("skin.parquet", ("--label", "skin"), answers)


def votes(folder: Path) -> Case:
    """No header line, the label first, and a dictionary that leaves nothing open."""
    Path("votes.csv").write_bytes(found_file(folder, "house-votes-84", "house-votes-84.data").read_bytes())
    lines = ["name,type,categories,role", "party,categorical,democrat|republican,label"]
    lines += [f"vote{number},categorical,y|n|?," for number in range(1, 17)]
    Path("votes-codebook.csv").write_text("\n".join(lines))
    return Case("votes.csv", ("--no-header", "--dictionary", "votes-codebook.csv"), {}, "lazy-boost")


CASES = {"abalone": abalone, "medical": medical, "german": german, "orders": orders, "skin": skin, "votes": votes}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "160"})


def filled_in(text: str, answers: Mapping[str, Sequence[str]]) -> str:
    """The draft with its TODOs answered, and no other character changed."""
    lines, left = text.splitlines(), {name: list(values) for name, values in answers.items()}
    for question in open_questions(text):
        key = lines[question.line - 1].partition("=")[0]
        lines[question.line - 1] = f"{key}= {left[question.column].pop(0)}"
    return "\n".join(lines) + "\n"


@pytest.mark.data
@pytest.mark.parametrize("name", CASES)
def test_from_a_file_to_a_model_with_nothing_edited_but_the_todos(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data_folder(None)
    if folder is None:
        pytest.skip("EXCHEQUER_DATA names no folder")
    monkeypatch.chdir(tmp_path)
    case = CASES[name](folder)
    drafted = run("schema", "draft", case.file, *case.options, "--out", "schema.toml")
    assert drafted.exit_code == 0, drafted.output
    assert "unpaid release from the data: the n" in drafted.stderr
    text = Path("schema.toml").read_text(encoding="utf-8")
    assert "# UNPAID RELEASE from the data" in text
    asked = open_questions(text)
    early = run("train", case.file, "--schema", "schema.toml", "--epsilon", "1", "--out", "model.json")
    assert (early.exit_code == 2) == bool(asked)
    for question in asked:
        assert f"line {question.line}: " in early.stderr
    Path("schema.toml").write_text(filled_in(text, case.answers), encoding="utf-8")
    checked = run("schema", "check", case.file, "--schema", "schema.toml")
    assert checked.exit_code == 0, checked.output
    assert "For the curator only" in checked.stdout
    assert Schema.from_dict(Schema.from_toml("schema.toml").as_dict()) == Schema.from_toml("schema.toml")
    arguments = (
        "--schema",
        "schema.toml",
        "--epsilon",
        "1",
        "--out",
        "model.json",
        "--force",
    )
    trained = run("train", case.file, *arguments, *(("--learner", case.learner) if case.learner else ()))
    assert trained.exit_code == 0, trained.output
    predicted = run("predict", case.file, "--model", "model.json", "--score", "--out", "said.csv")
    assert predicted.exit_code == 0, predicted.output
    assert case.scored in predicted.stderr
