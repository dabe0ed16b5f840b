"""`exchequer export`, run for real: what it writes runs, and gives what `exchequer predict` gives."""

import csv
import json
import random
import subprocess
import sys
from pathlib import Path

import duckdb
import onnx
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.commands.model_exports import SQL
from exchequer.datasets import breast_cancer
from learners import (
    Boolean,
    HalfspaceBoostClassifier,
    Label,
    Numeric,
    PrivateBoostClassifier,
    RandomFeatureClassifier,
    Schema,
    read_csv,
)
from learners.exports import DIALECTS
from learners.tables import Date, FileFormat, Ordered


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["export", *arguments])


def refused(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a model, a table, and its predictions by `exchequer predict`."""
    found, data = tmp_path_factory.mktemp("export"), breast_cancer()
    model = PrivateBoostClassifier(5.0, 1e-5, schema=data.schema, random_state=0).fit(data.train, data.y_train)
    model.save(found / "model.json")
    with (found / "new.csv").open("w", newline="") as out:
        csv.writer(out).writerows([list(data.test), *zip(*(v.tolist() for v in data.test.values()), strict=True)])
    arguments = ["predict", str(found / "new.csv"), "--model", str(found / "model.json"), "--proba"]
    (found / "predicted.csv").write_text(CliRunner().invoke(main, arguments).stdout)
    return found


def predicted(folder: Path) -> list[dict[str, str]]:
    with (folder / "predicted.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_choices_are_the_dialects() -> None:
    assert tuple(DIALECTS) == SQL


def test_sql_over_a_file_gives_what_predict_gives(folder: Path) -> None:
    statement = run(str(folder / "model.json"), "--sql", "duckdb", "--table", str(folder / "new.csv")).stdout
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW told AS {statement}")
        found = connection.execute('SELECT prediction, score, "share benign", refused FROM told').fetchall()
    expected = [(row["prediction"], row["score"], row["share benign"]) for row in predicted(folder)]
    assert sorted((said, repr(score), repr(share)) for said, score, share, _ in found) == sorted(expected)
    assert {row[3] for row in found} == {None}


@pytest.mark.parametrize("header", [True, False])
def test_a_csv_is_read_as_the_schema_says_it_is_written(header: bool, tmp_path: Path) -> None:
    """Semicolons, decimal commas, dates, gaps and no names of columns: field by field, with no type of a column."""
    draw = random.Random(0)
    ways, days = ["post", " card", "", "01"], ["1.2.2024", "29.02.2024", "30.02.2024", "", "?", "17.11.2020"]
    amounts = ["12,5", "900", ",25", "7,", "?", "", "1e2", "-3,5"]
    rows = [
        [draw.choice(ways), draw.choice(days), draw.choice(amounts), draw.choice(["yes", "No", "1"]), draw.choice("ab")]
        for _ in range(400)
    ]
    names = ["way", "day", "amount", "member", "kind"]
    with (tmp_path / "o.csv").open("w", newline="") as out:
        csv.writer(out, delimiter=";").writerows([names, *rows] if header else rows)
    columns = (
        Ordered("way", ("post", "card", "01"), missing="own", other="missing"),
        Date("day", "2020-01-01", "2025-12-31", outside="clip", missing="own", other="missing", form="%d.%m.%Y"),
        Numeric("amount", 0, 1000, outside="clip", missing="own", other="missing"),
        Boolean("member"),
    )
    file = FileFormat(separator=";", decimal=",", columns=() if header else names)
    schema = Schema(columns, Label("kind", ("a", "b")), file=file)
    table = read_csv(tmp_path / "o.csv", format=file)
    model = PrivateBoostClassifier(50.0, 1e-5, schema=schema, random_state=0)
    model.fit({name: table[name] for name in names[:4]}, table["kind"]).save(tmp_path / "m.json")
    statement = run(str(tmp_path / "m.json"), "--sql", "duckdb", "--table", str(tmp_path / "o.csv")).stdout
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW told AS {statement}")
        found = connection.execute("SELECT score, refused FROM told").fetchall()
    assert {row[1] for row in found} == {None}
    assert sorted(row[0] for row in found) == sorted(model.decision_function(table).tolist())


def test_python_runs_without_us(folder: Path) -> None:
    target = folder / "exported.py"
    assert run(str(folder / "model.json"), "--python", str(target)).exit_code == 0
    program = (
        "import csv, json, sys, exported\n"
        "found = [exported.predict(row) for row in csv.DictReader(open('new.csv'))]\n"
        "print(json.dumps([found, [m for m in ('numpy', 'learners', 'accountant') if m in sys.modules]]))"
    )
    alone = [sys.executable, "-S", "-c", program]  # without what pip has installed
    told = subprocess.run(alone, cwd=folder, env={}, capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == [[row["prediction"] for row in predicted(folder)], []]


def test_onnx_is_written_and_says_what_it_is(folder: Path) -> None:
    assert run(str(folder / "model.json"), "--onnx", str(folder / "model.onnx")).exit_code == 0
    loaded = onnx.load(folder / "model.onnx")
    assert "PrivateBoostClassifier" in loaded.doc_string
    assert len(loaded.graph.input) == 30


def test_keys_come_first_and_files_are_not_replaced_unasked(folder: Path) -> None:
    target = folder / "q.sql"
    arguments = (str(folder / "model.json"), "--sql", "sqlite", "--table", "p", "--key", "id", "--out", str(target))
    assert run(*arguments).exit_code == 0
    assert 't."id" AS exchequer_kept_0' in target.read_text()
    assert "--out" in refused(*arguments)
    assert run(*arguments, "--force").exit_code == 0
    (folder / "there.py").touch()
    assert "--python: " in refused(str(folder / "model.json"), "--python", str(folder / "there.py"))


def test_what_is_asked_in_vain_is_said(folder: Path, tmp_path: Path) -> None:
    model = str(folder / "model.json")
    assert "give --sql, --onnx or --python" in refused(model)
    assert "--sql needs --table" in refused(model, "--sql", "duckdb")
    assert "--table is for --sql" in refused(model, "--table", "people", "--python", "model.py")
    assert "--out and --key are for --sql" in refused(model, "--python", str(tmp_path / "m.py"), "--key", "a")
    (tmp_path / "broken.json").write_text("{}")
    assert "broken.json" in refused(str(tmp_path / "broken.json"), "--python", str(tmp_path / "m.py"))
    data = breast_cancer()
    waves = RandomFeatureClassifier(1.0, 1e-6, schema=data.schema, random_state=0).fit(data.train, data.y_train)
    waves.save(tmp_path / "waves.json")
    assert "random waves" in refused(str(tmp_path / "waves.json"), "--python", str(tmp_path / "m.py"))
    assert not (tmp_path / "m.py").exists()


def test_a_halfspace_without_a_schema_is_exported_too(tmp_path: Path) -> None:
    X = breast_cancer().train
    points = {name: X[name] / X[name].max() for name in list(X)[:3]}
    model = HalfspaceBoostClassifier(5.0, 1e-6, radius=2.0, rounds=3, density=0.5, classes=(0, 1), random_state=0)
    import pandas as pd

    model.fit(pd.DataFrame(points), (points["mean radius"] > 0.5).astype(int)).save(tmp_path / "h.json")
    assert '"mean radius" AS DOUBLE' in run(str(tmp_path / "h.json"), "--sql", "duckdb", "--table", "t").stdout
