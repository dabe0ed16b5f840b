"""Commands on tables in databases: they say what they say of the same table in a file, and never a password."""

import contextlib
import csv
import io
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pytest
from click.testing import CliRunner

from benchmarks.ledgers.postgres import Server
from exchequer.cli import main
from proofs_tests.support.learners.databases import as_columns, connected, in_duckdb, in_postgresql, in_sqlite

SCHEMA: Final = """
[label]
name = "income"
classes = ["low", "high"]

[[columns]]
name = "age"
kind = "numeric"
lower = 18
upper = 90

[[columns]]
name = "job"
kind = "categorical"
categories = ["clerk", "smith"]
other = "own"
"""

PASSWORD: Final = "hunter2%40%23"
"""With an @ and a #, as a URL spells them."""

SECRETS: Final = ("hunter2", "letmein9")


def frame() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age = draw.integers(18, 91, 200)
    return pd.DataFrame(
        {
            "id": np.arange(200),
            "age": age.astype(np.float64),
            "job": np.array(["clerk", "smith", "baker"], dtype=object)[draw.integers(0, 3, 200)],
            "income": np.where(age > 50, "high", "low").astype(object),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A schema, a table in two kinds of files, and a model of it."""
    found = tmp_path_factory.mktemp("tables")
    (found / "people.toml").write_text(SCHEMA)
    frame().to_csv(found / "people.csv", index=False)
    in_duckdb(as_columns(frame()), "people", str(found / "people.db")).close()
    code, said, _ = run("train", found / "people.csv", *TRAIN, "--schema", found / "people.toml", "--out", found / "m")
    assert code == 0, said
    return found


TRAIN: Final = ("--epsilon", "1", "--delta", "1e-6", "--seed", "3", "--set", "rounds_per_column=2")


def run(*arguments: object) -> tuple[int, str, str]:
    """The exit code, what was said on standard error, and standard output."""
    found = CliRunner().invoke(main, list(map(str, arguments)))
    return found.exit_code, " ".join(found.stderr.split()), found.stdout


def by_key(text: str) -> list[tuple[str, ...]]:
    """The lines of a CSV whose first column is a number, in its order."""
    header, *lines = csv.reader(io.StringIO(text))
    return [tuple(header), *map(tuple, sorted(lines, key=lambda line: int(line[0])))]


@pytest.fixture(scope="module")
def keeper(postgresql_server: Server) -> Iterator[str]:
    """The URL of a table of a server that asks its reader for a password."""
    with postgresql_server.database() as url, connected(url) as owner:
        in_postgresql(url, as_columns(frame()), "people")
        owner.execute("CREATE ROLE keeper LOGIN PASSWORD 'hunter2@#'")
        owner.execute("GRANT USAGE, CREATE ON SCHEMA public TO keeper")
        owner.execute("GRANT SELECT ON people TO keeper")
        ((hba,),) = owner.execute("SHOW hba_file").fetchall()
        before = Path(hba).read_text()
        Path(hba).write_text(f"local all keeper scram-sha-256\n{before}")
        try:
            _reloaded(owner, url.replace("exchequer@", "keeper:wrong@"))
            yield url.replace("exchequer@", f"keeper:{PASSWORD}@") + "#people"
        finally:
            Path(hba).write_text(before)
            owner.execute("SELECT pg_reload_conf()")
            owner.execute("DROP OWNED BY keeper")
            owner.execute("DROP ROLE keeper")


def _reloaded(owner: "psycopg.Connection[Any]", refused: str) -> None:
    owner.execute("SELECT pg_reload_conf()")
    for _ in range(100):
        try:
            connected(refused).close()
        except psycopg.OperationalError:
            return
        time.sleep(0.05)
    pytest.fail("the server never asked for a password")


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def address(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "duckdb":
        return f"duckdb:///{folder}/people.db?threads=1#people"
    if request.param == "sqlite":
        if not (folder / "people.sqlite").exists():
            in_sqlite(folder / "people.sqlite", as_columns(frame()), "people")
        return f"sqlite:///{folder}/people.sqlite#people"
    found: str = request.getfixturevalue("keeper")
    return found


def silent(*texts: str) -> None:
    """No password in any of them."""
    assert not [secret for secret in SECRETS for text in texts if secret in text]


def test_predictions_are_those_of_the_file(folder: Path, address: str) -> None:
    for more in ([], ["--proba"], ["--score"]):
        arguments = ["--model", folder / "m", "--key", "id", *more]
        _, told, alone = run("predict", folder / "people.csv", *arguments)
        code, said, found = run("predict", address, *arguments)
        assert code == 0, said
        silent(said, found)
        if more == ["--proba"]:
            parts = [np.array([line[2:] for line in by_key(text)[1:]], dtype=np.float64) for text in (alone, found)]
            assert np.abs(parts[0] - parts[1]).max() <= 4 * np.finfo(np.float64).eps
        else:
            assert by_key(found) == by_key(alone)
        assert said.replace("duckdb:", "").partition(" on ")[0] == told.partition(" on ")[0]


def test_predictions_that_stay(folder: Path, address: str) -> None:
    code, said, out = run("predict", address, "--model", folder / "m", "--key", "id", "--into", "told")
    assert (code, out) == (0, ""), said
    assert "200 records are answered in the table told" in said
    code, again, _ = run("predict", address, "--model", folder / "m", "--into", "told")
    assert code == 2
    assert "already exists" in again
    silent(said, again)
    _, _, alone = run("predict", folder / "people.csv", "--model", folder / "m", "--key", "id")
    _, told, _ = run("predict", address.replace("#people", "#told"), "--model", folder / "m")
    assert "lacks the columns" in told
    if address.startswith("duckdb"):
        with duckdb.connect(str(folder / "people.db")) as connection:
            made = connection.execute("SELECT id, prediction, score FROM told ORDER BY id").fetchall()
    elif address.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(folder / "people.sqlite")) as file:
            made = file.execute("SELECT id, prediction, score FROM told ORDER BY id").fetchall()
    else:
        with psycopg.connect(address.partition("#")[0].replace("+psycopg", "")) as server:
            made = server.execute("SELECT id, prediction, score FROM told ORDER BY id").fetchall()
            server.execute("DROP TABLE told")
    assert [(str(key), name, repr(score)) for key, name, score in made] == by_key(alone)[1:]


def test_a_model_without_sql_fetches_the_records(folder: Path, address: str) -> None:
    out = folder / "waves"
    arguments = ("--schema", folder / "people.toml", "--out", out, "--force", "--learner", "random-features")
    code, said, _ = run("train", folder / "people.csv", "--epsilon", "1", "--delta", "1e-6", "--seed", "3", *arguments)
    assert code == 0, said
    _, _, alone = run("predict", folder / "people.csv", "--model", out, "--key", "id")
    code, said, found = run("predict", address, "--model", out, "--key", "id")
    assert code == 0, said
    assert "records are fetched from the database" in said
    assert by_key(found) == by_key(alone)
    code, said, _ = run("predict", address, "--model", out, "--into", "waves")
    assert code == 2
    assert "random waves" in said


def test_a_schema_from_a_database(folder: Path, address: str, tmp_path: Path) -> None:
    out = tmp_path / "drafted.toml"
    code, said, _ = run("schema", "draft", address, "--label", "income", "--out", out)
    assert code == 0, said
    what = "the names" if address.startswith("sqlite") else "the names and the types"
    assert f"{what} of 4 columns, as the database declares them" in said
    silent(said, out.read_text())
    public = ("--label", "income", "--values-are-public")
    _, _, alone = run("schema", "draft", folder / "people.csv", *public)
    code, said, found = run("schema", "draft", address, *public)
    assert code == 0, said
    assert found.splitlines()[1:] == alone.splitlines()[1:]
    code, said, found = run("schema", "check", address, "--schema", folder / "people.toml")
    _, _, alone = run("schema", "check", folder / "people.csv", "--schema", folder / "people.toml")
    assert code == 0, said
    assert "The file fits the schema." in found
    assert found.split("records\n", 1)[1] == alone.split("records\n", 1)[1]
    silent(said, found)


def test_rados_of_a_table_in_a_database(folder: Path, address: str, tmp_path: Path) -> None:
    more = ("--schema", folder / "people.toml", "--epsilon", "1", "--seed", "3", "--number", "20")
    run("rados", "release", folder / "people.csv", *more, "--out", tmp_path / "file")
    code, said, found = run("rados", "release", address, *more, "--out", tmp_path / "database")
    assert code == 0, said
    texts = [(tmp_path / name).read_text() for name in ("file", "database")]
    vectors = [text.partition('"vectors"')[2][:2000] for text in texts]
    assert vectors[0] == vectors[1] != ""
    silent(said, found, (tmp_path / "database").read_text())


def test_a_password_is_nowhere(folder: Path, keeper: str, tmp_path: Path) -> None:
    """In no book, model or answer, and in no error where it is right, wrong, or where a file was meant."""
    book, model = tmp_path / "book.db", tmp_path / "model.json"
    run("ledger", "open", book, "--epsilon", "9", "--delta", "1e-3")
    schema = ("--schema", folder / "people.toml")
    code, said, out = run(
        "train", keeper, *schema, "--epsilon", "1", "--delta", "1e-6", "--ledger", book, "--out", model
    )
    assert code == 0, said
    silent(said, out, model.read_text(), book.read_bytes().decode("latin-1"))
    wrong = keeper.replace(PASSWORD, "letmein9")
    commands: list[tuple[object, ...]] = [
        ("predict", "--model", model),
        ("predict", "--model", model, "--into", "told"),
        ("predict", "--model", model, "--score"),
        ("schema", "draft"),
        ("schema", "check", *schema),
        ("rados", "release", *schema, "--epsilon", "1", "--out", tmp_path / "rados"),
        ("train", *schema, "--epsilon", "1", "--out", tmp_path / "none"),
    ]
    for command in commands:
        for given, words in (
            (wrong, "password authentication failed"),
            (keeper.replace("#people", "#nobody"), "does not exist"),
            (keeper.replace("#people", ""), "needs its table"),
            (keeper.replace(PASSWORD, "letmein9@hunter2"), "spelt %40"),
            (keeper.replace("postgresql+psycopg", "mysql"), "no database of ours"),
        ):
            code, said, out = run(*command, given)
            assert code == 2, (command, given, said)
            assert words in said
            silent(said, out)
    for command in (("export", keeper), ("predict", folder / "people.csv", "--model", keeper), ("card", keeper)):
        code, said, out = run(*command)
        assert code == 2
        assert "this is a URL" in said
        silent(said, out)


def test_what_is_refused(folder: Path) -> None:
    address, model = f"duckdb:///{folder}/people.db#people", ("--model", folder / "m")
    for arguments, words in (
        (("predict", address, *model, "--no-header"), "--no-header: said of CSV files only"),
        (("predict", address, *model, "--decimal", ","), "--decimal: said of CSV files only"),
        (("schema", "draft", address, "--separator", ";"), "--separator: said of CSV files only"),
        (("predict", address, *model, "--key", "number"), "--key: no columns ['number']"),
        (("predict", folder / "people.csv", *model, "--key", "number"), "--key: no columns ['number']"),
        (("predict", folder / "people.csv", *model, "--into", "told"), "must be the address"),
        (("predict", address, *model, "--into", "told", "--score"), "leave out"),
        (("predict", address, *model, "--keep-refused", "--score"), "only where the database answers"),
    ):
        code, said, _ = run(*arguments)
        assert code == 2
        assert words in said


def test_records_that_are_refused(folder: Path, tmp_path: Path) -> None:
    given = frame()
    given.loc[[3, 5], "age"] = 7.0
    in_duckdb(as_columns(given), "people", str(tmp_path / "odd.db")).close()
    address, model = f"duckdb:///{tmp_path}/odd.db#people", ("--model", folder / "m", "--key", "id")
    code, said, out = run("predict", address, *model)
    assert (code, out) == (2, "")
    assert "column 'age': 2 of the records" in said
    assert "--keep-refused" in said
    code, said, out = run("predict", address, *model, "--keep-refused")
    assert code == 0, said
    found = by_key(out)
    assert found[0] == ("id", "prediction", "score", "refused")
    assert found[4] == ("3", "", "", "column 'age'")
    _, _, alone = run("predict", folder / "people.csv", *model)
    assert [line[:3] for line in found if not line[3]] == [
        line for line in by_key(alone)[1:] if line[0] not in ("3", "5")
    ]
