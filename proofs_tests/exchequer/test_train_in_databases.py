"""`exchequer train` on a table in a database: the model is that of the same table in a file."""

import json
from pathlib import Path
from typing import Any

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
