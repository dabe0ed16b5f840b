"""`exchequer train` on a table in a database: the model is that of the same table in a file."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.ledgers.postgres import Server
from exchequer.cli import main
from exchequer.datasets import packaged_schema
from proofs_tests.support.learners.databases import as_columns, in_duckdb, in_postgresql
from proofs_tests.support.learners.in_blocks import people

SCHEMA = Path(__file__).parents[2] / "exchequer" / "schemas" / "breast_cancer.toml"


def trained(data: str, out: Path, *more: str) -> tuple[int, str, Any]:
    arguments = ["train", data, "--schema", str(SCHEMA), "--epsilon", "1", "--seed", "3", "--out", str(out), *more]
    found = CliRunner().invoke(main, [*arguments, "--set", "rounds_per_column=1", "--force"])
    return found.exit_code, " ".join(found.output.split()), json.loads(out.read_text()) if out.exists() else None


def said(model: Any) -> object:
    """Without times and random names of ledgers."""
    return model["model"], model["classes"], model["parameters"]


@pytest.mark.postgres
def test_from_a_file_and_from_two_databases(tmp_path: Path, postgresql_server: Server) -> None:
    assert packaged_schema("breast_cancer").label is not None
    people().to_csv(tmp_path / "people.csv", index=False)
    in_duckdb(as_columns(people()), "people", str(tmp_path / "people.db")).close()
    _, _, alone = trained(str(tmp_path / "people.csv"), tmp_path / "file.json")
    code, words, found = trained(f"duckdb:///{tmp_path}/people.db?threads=1#people", tmp_path / "duck.json")
    assert code == 0, words
    assert "how many records it holds is private" in words
    assert said(found) == said(alone)
    with postgresql_server.database() as url:
        in_postgresql(url, as_columns(people()), "people")
        code, words, found = trained(
            f"{url.replace('exchequer@', 'exchequer:hunter2@')}#people", tmp_path / "server.json"
        )
    assert code == 0, words
    assert "hunter2" not in words + (tmp_path / "server.json").read_text()
    assert said(found) == said(alone)


def test_what_is_refused_in_one_line(tmp_path: Path) -> None:
    in_duckdb({"a": people()["mean area"].to_numpy()}, "people", str(tmp_path / "people.db")).close()
    for address, words in (
        (f"duckdb:///{tmp_path}/people.db", "needs its table"),
        (f"duckdb:///{tmp_path}/people.db#people", "no column 'diagnosis' for the label"),
        (f"duckdb:///{tmp_path}/people.db#nobody", "does not exist"),
        ("postgresql://me:hunter2@127.0.0.1:1/x#people", "Nothing was charged"),
    ):
        code, said, model = trained(address, tmp_path / "none.json")
        assert (code, model) == (2, None)
        assert words in said
        assert "hunter2" not in said


NUMBERS = """
[label]
name = "cost"
lower = 0
upper = 10

[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 1
"""

CLASSES = NUMBERS.replace("lower = 0\nupper = 10", 'classes = ["no", "yes"]')

LEARNERS = {
    "lazy-boost": ("--learner", "lazy-boost", "--rounds", "3"),
    "private-boost, fetched": ("--set", "rounds_per_column=1", "--fetch"),
    "numbers": (),
    "numbers, fetched": ("--fetch",),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_other_learners_and_records_that_are_fetched(name: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    age = draw.random(120)
    schema, label = (
        (NUMBERS, (age * 9).round(1)) if name.startswith("numbers") else (CLASSES, np.where(age > 0.5, "yes", "no"))
    )
    table = pd.DataFrame({"age": age, "cost": label})
    (tmp_path / "schema.toml").write_text(schema)
    table.to_csv(tmp_path / "people.csv", index=False)
    in_duckdb(as_columns(table), "people", str(tmp_path / "people.db")).close()
    found = []
    for data in ("people.csv", f"duckdb:///{tmp_path}/people.db?threads=1#people"):
        options = [each for each in LEARNERS[name] if each != "--fetch" or data != "people.csv"]
        fixed = ["--schema", "schema.toml", "--epsilon", "1", "--delta", "1e-6", "--seed", "3", "--out", "m.json"]
        with contextlib.chdir(tmp_path):
            done = CliRunner().invoke(main, ["train", data, *fixed, "--force", *options])
        assert done.exit_code == 0, done.output
        found.append(said(json.loads((tmp_path / "m.json").read_text())))
    assert found[0] == found[1]


def test_fetching_is_offered_where_it_helps(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(CLASSES)
    columns = {"age": np.array(["0.5", "0.7"], dtype=object), "cost": np.array(["no", "yes"], dtype=object)}
    in_duckdb(columns, "people", str(tmp_path / "people.db")).close()
    address, out = f"duckdb:///{tmp_path}/people.db#people", str(tmp_path / "m.json")
    arguments = ["--schema", str(tmp_path / "schema.toml"), "--epsilon", "1", "--delta", "1e-6", "--out", out]
    said = " ".join(CliRunner().invoke(main, ["train", address, *arguments]).output.split())
    assert "--fetch takes the records out" in said
    assert "SqlTable" not in said
    done = CliRunner().invoke(main, ["train", str(tmp_path / "schema.toml"), *arguments, "--fetch"])
    assert done.exit_code == 2
    assert "tables in databases" in " ".join(done.output.split())
