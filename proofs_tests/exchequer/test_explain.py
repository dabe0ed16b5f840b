"""`exchequer explain`, run for real on small models."""

import json
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.datasets import breast_cancer
from learners import Boolean, LazyBoostClassifier, NumberLabel, Numeric, PrivateBoostRegressor, Schema
from learners.additive.private_boost import PrivateBoostClassifier
from learners.inspection.scorecards import scorecard
from learners.linear.logistic import DPLogisticRegression
from proofs_tests.support.learners.histograms import HistogramClassifier


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})


def fine(*arguments: str) -> Result:
    result = run("explain", *arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str) -> str:
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each kind."""
    folder, data = tmp_path_factory.mktemp("models"), breast_cancer()
    few = attrs.evolve(data.schema, columns=data.schema.columns[:4])
    for name, model in (
        ("few", PrivateBoostClassifier(1.0, 1e-5, schema=few, random_state=0)),
        ("points", PrivateBoostClassifier(1.0, 1e-5, schema=data.schema, random_state=0)),
        ("linear", DPLogisticRegression(1.0, 1e-5, schema=data.schema)),
        ("votes", LazyBoostClassifier(1.0, schema=data.schema, random_state=0)),
        ("other", HistogramClassifier(1.0, schema=data.schema, random_state=0)),
    ):
        model.fit(data.train, data.y_train).save(folder / f"{name}.json")
    return folder


def test_statement_and_card_for_the_terminal(saved: Path) -> None:
    said = fine(str(saved / "points.json")).stdout
    assert said.index("simulation: not private") < said.index("add-remove-one") < said.index("How to read it")
    assert said.index("How to read it") < said.index("\nadjacency "), "the ledger comes after the model"
    card = scorecard(PrivateBoostClassifier.load(saved / "points.json"), lines=None)
    assert all(section.heading in said for section in card.sections())
    squeezed = {" ".join(line.split()) for line in said.splitlines()}
    for section in card.sections():
        for row in section.rows[:3]:
            assert " ".join(row) in squeezed
    linear = fine(str(saved / "linear.json")).stdout
    assert linear.startswith("privacy statement: ")
    assert "The ledger's privacy statement" in linear


def test_a_larger_tolerance_says_less(saved: Path) -> None:
    every = (str(saved / "points.json"), "--lines", "all")
    short = fine(*every, "--tolerance", "6").stdout
    assert "none is more than 6 off" in " ".join(short.split())
    assert short.count("\n") < 0.5 * fine(*every).stdout.count("\n")


def test_a_column_has_a_dozen_lines_unless_somebody_asks_for_more(saved: Path) -> None:
    path = str(saved / "points.json")
    tables = json.loads(fine(path, "--format", "json").stdout)["scorecard"]["tables"]
    assert max(len(table["lines"]) for table in tables) <= 10, "the schema's bins"
    assert all(line["unsure"] > 0 for table in tables for line in table["lines"])
    every = json.loads(fine(path, "--lines", "all", "--format", "json").stdout)["scorecard"]["tables"]
    assert max(len(table["lines"]) for table in every) > 12
    assert "±" in fine(path).stdout
    assert "neither all nor a whole number" in refused(path, "--lines", "1")


def test_a_regression_is_read_in_the_unit_of_its_label(saved: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.uniform(0.0, 1.0, 900), "b": rng.integers(0, 2, 900)}
    schema = Schema((Numeric("a", 0.0, 1.0), Boolean("b")), None, NumberLabel("cost", 0.0, 1000.0))
    model = PrivateBoostRegressor(2.0, 1e-5, label_bounds=(0.0, 1000.0), schema=schema, random_state=0)
    model.fit(table, 500.0 * table["a"] + 300.0 * table["b"]).save(tmp_path / "cost.json")
    said = fine(str(tmp_path / "cost.json"), "--format", "json").stdout
    card = json.loads(said)["scorecard"]
    assert (card["kind"], card["label"], card["step"]) == ("numbers", "cost", 2.0)
    single = [table for table in card["tables"] if len(table["columns"]) == 1]
    effects = {table["columns"][0]: [line["points"] for line in table["lines"]] for table in single}
    assert effects["a"] == sorted(effects["a"])
    assert 100.0 < card["step"] * (max(effects["b"]) - min(effects["b"])) < 500.0
    assert "The total is cost" in " ".join(fine(str(tmp_path / "cost.json")).stdout.split())


def test_votes_and_their_sparsity(saved: Path) -> None:
    said = fine(str(saved / "votes.json")).stdout
    assert "features are used" in said
    model = LazyBoostClassifier.load(saved / "votes.json")
    assert all(vote.feature in said for vote in model.explain())


def test_markdown(saved: Path) -> None:
    said = fine(str(saved / "votes.json"), "--format", "markdown").stdout
    assert said.startswith("# LazyBoostClassifier\n\n## simulation: not private\n")
    assert scorecard(LazyBoostClassifier.load(saved / "votes.json")).markdown() in said
    assert "| head | " in said


def test_json(saved: Path) -> None:
    for name in ("points", "votes", "linear"):
        record = json.loads(fine(str(saved / f"{name}.json"), "--format", "json").stdout)
        assert record["scorecard"]["classes"] == ["benign", "malignant"]
        assert record["statement"] == json.loads((saved / f"{name}.json").read_text(encoding="utf-8"))["statement"]
        assert record["plots"] == []
    assert record["learner"] == "DPLogisticRegression"


def test_pictures(saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'exchequer[plots]'")
    folder = tmp_path / "new" / "pictures"
    result = fine(str(saved / "few.json"), "--plots", str(folder), "--format", "json")
    files = [Path(name) for name in json.loads(result.stdout)["plots"]]
    assert "5 pictures" in result.stderr
    assert sorted(folder.iterdir()) == sorted(files)
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    first = PrivateBoostClassifier.load(saved / "few.json").explain()[0].columns[0]
    assert [file.name for file in files[:2]] == ["curves.png", f"01-{first.replace(' ', '_')}.png"]

    before = files[0].stat().st_mtime_ns
    assert "--force" in refused(str(saved / "few.json"), "--plots", str(folder))
    assert files[0].stat().st_mtime_ns == before
    fine(str(saved / "few.json"), "--plots", str(folder), "--force")
    fine(str(saved / "votes.json"), "--plots", str(folder))
    assert (folder / "votes.png").is_file()


def test_without_matplotlib_one_line_names_the_extra(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "exchequer[plots]" in refused(str(saved / "points.json"), "--plots", str(tmp_path / "pictures"))
    assert not (tmp_path / "pictures").exists()
    fine(str(saved / "points.json"))


def test_bad_input_is_one_line(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text('{"format": "other"}', encoding="utf-8")
    assert "not an exchequer model" in refused(str(tmp_path / "wrong.json"))
    assert "no scorecard for a Histograms" in refused(str(saved / "other.json"))
    for wrong in ("0.1", "nan", "-1"):
        assert "--tolerance" in refused(str(saved / "points.json"), "--tolerance", wrong)
    assert "missing.json" in refused(str(tmp_path / "missing.json"))
    assert "--format" in refused(str(saved / "points.json"), "--format", "pdf")


def test_a_folder_that_is_a_file_is_refused(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "--plots" in refused(str(saved / "votes.json"), "--plots", str(tmp_path / "file"))


def test_the_help_says_what_it_is_for() -> None:
    said = run("explain", "--help")
    assert said.exit_code == 0
    assert np.all([word in said.output for word in ("--plots", "--format", "--tolerance", "privacy statement")])


@pytest.mark.parametrize(
    "text", ["x\nThe whole is 0.001-differentially private.\x1b[8m", "a\u2028b\x9b\u202e", "a\ud800b"]
)
def test_a_statement_that_somebody_forged_stays_on_its_lines(saved: Path, tmp_path: Path, text: str) -> None:
    record = json.loads((saved / "few.json").read_text(encoding="utf-8"))
    honest = fine(str(saved / "few.json")).stdout
    statement = record["statement"]
    statement["guarantee"] = f"{text} {statement['guarantee']}"
    statement["claims"] = [text]
    statement["rows"] = [[text, text, text, 1, text]]
    (tmp_path / "forged.json").write_text(json.dumps(record), encoding="utf-8")
    for form in ("text", "markdown", "json"):
        said = fine(str(tmp_path / "forged.json"), "--format", form).stdout
        assert said.encode("utf-8")
        assert all(line.isprintable() for line in said.split("\n")), form
        assert not any(line.lstrip("# >").startswith("The whole is") for line in said.splitlines()), form
    assert honest.splitlines()[-1] == fine(str(tmp_path / "forged.json")).stdout.splitlines()[-1]
    assert str(PrivateBoostClassifier.load(tmp_path / "forged.json").statement_).encode("utf-8")


def test_a_model_is_saved_whatever_its_books_hold(saved: Path, tmp_path: Path) -> None:
    """Books of older versions may hold half a character: their models are written, and read back as they were."""
    model = PrivateBoostClassifier.load(saved / "few.json")
    model.statement_ = attrs.evolve(model.statement_, claims=("a\ud800b", "é😀"))
    model.save(tmp_path / "half.json")
    assert "é😀" in (tmp_path / "half.json").read_text(encoding="utf-8")
    assert PrivateBoostClassifier.load(tmp_path / "half.json").statement_ == model.statement_
