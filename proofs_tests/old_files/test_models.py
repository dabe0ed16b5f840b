"""Models of every learner that an earlier version saved: loaded, asked, saved again; and fitted again from the records.

exp, log and BLAS round otherwise from one processor to another, so that 1e-12 of a number is let pass.
"""

import inspect
from pathlib import Path
from typing import Any, Final

import pytest

from proofs_tests.old_files import readouts, write
from proofs_tests.old_files.cases import CASES, NEW
from proofs_tests.old_files.doors import exported_learners
from proofs_tests.old_files.frozen import (
    LATER,
    assert_same,
    kept,
    kept_json,
    names_in,
    newest,
    newest_json,
    without_later,
)

MODELS: Final = [f"models/{name}" for name in names_in("models", ".json")]
LATER_MODELS: Final = [f"{each}/models/{name}" for each in LATER for name in names_in(f"{each}/models", ".json")]
SECURE: Final = [f"secure_models/{name}" for name in names_in("secure_models", ".json")]

REFITTED: Final = 1e-9
"""Relative: a fit goes through many sums of products."""

ROUNDED: Final = 1e-3
"""The same where sums are of single precision, or equations are solved that are nearly dependent; of 1 at least."""


def told(model: str) -> Any:
    """What was read from it then."""
    folder, _, name = model.rpartition("/")
    return kept_json(f"{folder}.said")[name]


def put(model: str, folder: Path) -> Path:
    """Its file as it was."""
    path = folder / "model.json"
    path.write_bytes(kept(f"{model}.json"))
    return path


@pytest.mark.parametrize("model", [*MODELS, *LATER_MODELS, *SECURE])
def test_a_model_loads_and_says_what_it_said(model: str, tmp_path: Path) -> None:
    old = told(model)
    found = readouts.loaded(put(model, tmp_path))
    table = readouts.as_table(kept_json("tables")[old["table"]])
    assert_same(readouts.of_model(found, table), old["python"])


@pytest.mark.parametrize("model", [*MODELS, *LATER_MODELS, *SECURE])
def test_its_own_class_loads_it_and_saves_the_same_file(model: str, tmp_path: Path) -> None:
    path = put(model, tmp_path)
    own = type(readouts.loaded(path))
    assert own.__name__ == told(model)["python"]["learner"]
    own.load(path).save(tmp_path / "again.json")
    assert_same((tmp_path / "again.json").read_text(encoding="utf-8"), kept(f"{model}.json").decode())


@pytest.mark.parametrize("model", [*MODELS, *LATER_MODELS, *SECURE])
def test_the_command_line_says_what_it_said(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    old = told(model)
    table = readouts.as_table(kept_json("tables")[old["table"]])
    assert_same(readouts.of_model_file(kept(f"{model}.json"), table, tmp_path), old["shell"])


@pytest.mark.parametrize("name", CASES)
def test_the_same_fit_writes_the_same_file_and_entries(name: str, tmp_path: Path) -> None:
    found = write.fitted_model(name, tmp_path / "model.json")
    lines = newest_json("models.said")[name]["lines"]
    assert_same("\n".join(write.lines_of(found)), "\n".join(lines), REFITTED)
    written = without_later((tmp_path / "model.json").read_text(encoding="utf-8"))
    rounded = name.startswith(("bagging", "random-features"))
    tolerance, least = (ROUNDED, 1.0) if rounded else (REFITTED, 0.0)
    assert_same(written, without_later(newest(f"models/{name}.json").decode()), tolerance, digests=False, least=least)


def test_the_tables_are_those_of_then() -> None:
    assert {name: write.plain_table(table()) for name, table in NEW.items()} == kept_json("tables")


def test_no_learner_and_no_fit_is_left_out() -> None:
    kinds = {told(model)["python"]["learner"] for model in [*MODELS, *LATER_MODELS]}
    assert kinds == {kind.__name__ for kind in exported_learners() if not inspect.isabstract(kind)}
    assert set(CASES) <= set(newest_json("models.said"))
    assert len(MODELS) >= 58
