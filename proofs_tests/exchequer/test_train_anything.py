"""`exchequer train` for numbers, for every learner by name, with tuning, pairs and orders; and what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from accountant import Ledger
from exchequer.cli import main
from exchequer.commands.learner_list import LearnerFacts, elsewhere
from exchequer.trainable import DEFAULT_FOR_NUMBERS, LEARNERS
from learners import PrivateBoostClassifier, PrivateBoostRegressor, read_csv
from learners.tables import NumberLabel, Schema, as_numbers

SCHEMA = """
[label]
name = "cost"
lower = 0
upper = 100
[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[columns]]
name = "sex"
kind = "categorical"
categories = ["female", "male"]
"""
CLASSES = SCHEMA.replace("lower = 0\nupper = 100", 'classes = ["low", "high"]', 1)
N = 400


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100"})


def fine(*arguments: str) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str) -> str:
    """The one line on standard error of a command that did nothing."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table whose label is a number, and one whose label is a class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ages, sexes = rng.integers(0, 101, N), rng.choice(["female", "male"], N)
    costs = 0.6 * ages + 20.0 * (sexes == "male")
    labels = np.where(costs > 40.0, "high", "low")
    for name, label in (("costs", np.round(costs, 1)), ("classes", labels)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["age", "sex", "cost"])
            writer.writerows(zip(ages.tolist(), sexes.tolist(), label.tolist(), strict=True))
    (tmp_path / "costs.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "classes.toml").write_text(CLASSES, encoding="utf-8")
    return tmp_path


def trained(name: str, *options: str, epsilon: str = "2") -> tuple[str, ...]:
    return ("train", f"{name}.csv", "--schema", f"{name}.toml", "--epsilon", epsilon, "--out", "model.json", *options)


# --- numbers -----------------------------------------------------------------------------------------------------


def test_a_label_with_bounds_gets_a_regression_and_its_score(folder: Path) -> None:
    said = " ".join(fine(*trained("costs", "--intervals", "0.1", "--seed", "1")).stdout.split())
    assert "moves the label by up to" in said
    model = PrivateBoostRegressor.load("model.json")
    assert model.label_bounds == [0.0, 100.0]
    assert model.model_.schema.number_label == NumberLabel("cost", 0.0, 100.0)

    scored = fine("predict", "costs.csv", "--model", "model.json", "--score", "--intervals", "0.9", "--out", "out.csv")
    table, out = read_csv("costs.csv"), read_csv("out.csv")
    truth = as_numbers(table.pop("cost"), "cost")
    predicted, ends = model.predict(table), model.predict_interval(table, 0.9)
    np.testing.assert_allclose(as_numbers(out["prediction"], ""), predicted, rtol=1e-5)
    np.testing.assert_allclose(as_numbers(out["upper"], ""), ends[:, 1], rtol=1e-5)
    explained = 1.0 - np.mean((truth - predicted) ** 2) / np.var(truth)
    assert explained > 0.7
    assert f"R² {explained:.4f} on {N} records of costs.csv" in scored.stderr
    assert f"mean absolute error {np.mean(np.abs(truth - predicted)):.6g}" in scored.stderr
    inside = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    assert f"{inside:.1%} lie within their intervals" in scored.stderr


def test_intervals_that_nobody_paid_for_are_refused(folder: Path) -> None:
    fine(*trained("costs", "--seed", "1"))
    said = refused("predict", "costs.csv", "--model", "model.json", "--intervals", "0.9")
    assert "released no histogram of residuals" in said
    fine(*trained("classes", "--force", "--seed", "1"))
    said = refused("predict", "classes.csv", "--model", "model.json", "--intervals", "0.9")
    assert "private-boost-regressor has" in said


@pytest.mark.parametrize("learner", [name for name, each in LEARNERS.items() if each.numbers])
def test_every_learner_of_numbers_is_charged_and_predicts(folder: Path, learner: str) -> None:
    relation = "add-remove-one" if learner == DEFAULT_FOR_NUMBERS else "replace-one"
    fine("ledger", "open", "sqlite:///study.db", "--epsilon", "3", "--delta", "1e-5", "--adjacency", relation)
    fine(*trained("costs", "--learner", learner, "--ledger", "study.db"))
    with Ledger.open("sqlite:///study.db") as ledger:
        assert [entry.kind for entry in ledger.entries].count("charged") == 1
    assert "R² " in fine("predict", "costs.csv", "--model", "model.json", "--score").stderr


def test_a_learner_of_the_other_kind_is_refused_with_those_that_fit(folder: Path) -> None:
    said = refused(*trained("costs", "--learner", "forest"))
    assert "forest learns classes, and the label has bounds; try private-boost-regressor or" in said
    assert "learns numbers with bounds" in refused(*trained("classes", "--learner", "private-boost-regressor"))
    assert "--rounds-per-column: not for" in refused(*trained("costs", "--rounds-per-column", "3"))


def test_two_classes_have_an_area_under_the_curve(folder: Path) -> None:
    fine(*trained("classes", "--seed", "1"))
    scored = fine("predict", "classes.csv", "--model", "model.json", "--score").stderr
    assert float(scored.split("AUC ")[1]) > 0.9
    Path("one.csv").write_text("age,sex,cost\n90,male,high\n", encoding="utf-8")
    assert "no AUC, as all" in fine("predict", "one.csv", "--model", "model.json", "--score").stderr


# --- options ------------------------------------------------------------------------------------------------------


def test_pairs_and_orders(folder: Path) -> None:
    fine(*trained("classes", "--interactions", "age:sex", "--seed", "1"))
    assert ("age", "sex") in [curve.columns for curve in PrivateBoostClassifier.load("model.json").explain()]
    fine(*trained("classes", "--monotone", "age=+1", "--seed", "1", "--force", epsilon="0.2"))
    model = PrivateBoostClassifier.load("model.json")
    assert model.monotonic_cst == {"age": 1}
    curve = next(curve for curve in model.explain() if curve.columns == ("age",))
    assert np.all(np.diff(curve.effects) >= 0.0)
    fine(*trained("costs", "--interactions", "none", "--seed", "1", "--force"))
    assert {len(curve.columns) for curve in PrivateBoostRegressor.load("model.json").explain()} == {1}


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (("--interactions", "age"), "neither auto nor none nor pairs"),
        (("--interactions", "age:height"), "height"),
        (("--monotone", "age"), "COLUMN=+1"),
        (("--monotone", "height=+1"), "there is no column 'height'"),
        (("--monotone", "sex=+1"), "only columns of numbers have an order"),
        (("--set", "oracle=1"), "PrivateBoostClassifier has no such parameter; it has adjacency, calibration"),
        (("--set", "epsilon=9"), "--set epsilon: it is given by --epsilon"),
        (("--set", "rounds_per_column=many"), "rounds_per_column"),
        (("--set", "calibration"), "expected NAME=VALUE"),
        (("--tune", "classes.toml"), "expected a [[settings]] table"),
    ],
)
def test_bad_options_are_named_before_anything_is_charged(folder: Path, options: tuple[str, ...], culprit: str) -> None:
    assert culprit in refused(*trained("classes", *options))
    assert not Path("model.json").exists()


def test_any_further_parameter_is_set_by_its_name(folder: Path) -> None:
    fine(*trained("classes", "--learner", "forest", "--set", "n_estimators=3", "--set", "leaves=labels"))
    saved = json.loads(Path("model.json").read_text(encoding="utf-8"))
    assert (saved["parameters"]["trees"], saved["parameters"]["leaves"]) == (3, "labels")


def test_tuning_chooses_among_the_settings_of_a_file_on_the_same_budget(folder: Path) -> None:
    Path("tune.toml").write_text("[[settings]]\nrounds_per_column = 2\n[[settings]]\nrounds_per_column = 4\n")
    said = " ".join(fine(*trained("classes", "--tune", "tune.toml", "--seed", "1")).stdout.split())
    model = PrivateBoostClassifier.load("model.json")
    assert model.tuned_ in ({"rounds_per_column": 2}, {"rounds_per_column": 4})
    assert f"Chosen among the settings of tune.toml: {model.tuned_}." in said
    assert model.statement_.spent.startswith("(2.0, 1e-06)") or "2" in model.statement_.spent
    Path("wrong.toml").write_text("[[settings]]\nrounds_per_column = 2\nrounds = 3\n[[settings]]\nepsilon = 9\n")
    wrong = refused(*trained("classes", "--tune", "wrong.toml", "--force"))
    assert "wrong.toml: 'rounds' in setting 1, 'epsilon' in setting 2: PrivateBoostClassifier takes adjacency" in wrong
    other = refused(*trained("classes", "--tune", "tune.toml", "--learner", "forest", "--force"))
    assert "--tune: DPRandomForestClassifier has no private tuning; try --learner private-boost" in other


# --- schemas ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "culprit"),
    [
        ('name = "cost"', "label: 'lower' and 'upper' missing; it needs a name, and either classes"),
        ('name = "cost"\nlower = 0', "label: 'upper' missing"),
        ("lower = 0\nupper = 1", "label: 'name' missing"),
        ('name = "cost"\nlower = 0\nupper = 1\nclasses = ["a", "b"]', "label: it has classes, or lower and upper"),
        ('name = "cost"\nlower = 2\nupper = 1', "label 'cost': lower 2.0 must be below upper 1.0"),
        ('name = "cost"\nlower = "x"\nupper = 1', "label: could not convert"),
        ("name = 3\nclasses = 4", "label: expected two classes"),
    ],
)
def test_a_bad_label_is_no_bare_key(folder: Path, label: str, culprit: str) -> None:
    columns = SCHEMA[SCHEMA.index("[[") :]
    Path("costs.toml").write_text(f"[label]\n{label}\n{columns}", encoding="utf-8")
    assert f"costs.toml: {culprit}" in refused(*trained("costs"))


def test_all_that_is_wrong_with_a_schema_and_a_header_is_said_at_once(folder: Path) -> None:
    wrong = SCHEMA.replace("upper = 100\n[[", "[[", 1).replace("categories = ", "foo = ")
    Path("costs.toml").write_text(wrong + '[[columns]]\nname = "height"\nkind = "numbers"\n', encoding="utf-8")
    Path("costs.csv").write_text("age,gender\n1,male\n", encoding="utf-8")
    said = refused(*trained("costs"))
    for culprit in (
        "label: 'upper' missing",
        "column 'sex': unknown key 'foo'",
        "column 'height': kind 'numbers' is not one of",
        "costs.csv: no column 'cost' for the label",
        "the data lacks the columns ['sex', 'height']",
    ):
        assert culprit in said
    assert "costs.csv" not in refused(*trained("costs", "--no-header"))


def test_what_was_meant_by_a_name_that_is_not_there_is_said(folder: Path) -> None:
    Path("costs.toml").write_text(SCHEMA.replace("kind = ", "knid = ", 1), encoding="utf-8")
    Path("costs.csv").write_text("agee,sex,cots\n1,male,2\n", encoding="utf-8")
    said = refused(*trained("costs"))
    assert "column 'age': unknown key 'knid'; did you mean 'kind'?" in said
    Path("costs.toml").write_text(SCHEMA, encoding="utf-8")
    assert "did you mean 'agee' for 'age', 'cots' for 'cost'?" in refused(*trained("costs"))


def test_a_schema_with_a_number_for_a_label_is_written_and_read() -> None:
    schema = Schema.from_dict(
        {"columns": [{"name": "a", "kind": "boolean"}], "label": {"name": "b", "lower": 0, "upper": 2}}
    )
    assert schema.label is None
    assert schema.number_label is not None
    assert schema.number_label.bounds == (0.0, 2.0)
    assert Schema.from_dict(schema.as_dict()) == schema


def test_rados_are_of_classes(folder: Path) -> None:
    said = refused("rados", "release", "costs.csv", "--schema", "costs.toml", "--epsilon", "1", "--out", "rados.json")
    assert "rados are of classes" in said


# --- the list -----------------------------------------------------------------------------------------------------


def test_the_list_says_what_each_learner_is_for(folder: Path) -> None:
    said = fine("learners").stdout
    for name, learner in LEARNERS.items():
        assert name in said
        assert LearnerFacts.of(learner.kind).words() in said
        assert (LearnerFacts.of(learner.kind).learns == "numbers") == learner.numbers
    assert elsewhere() == []
    record = json.loads(fine("learners", "--json").stdout)
    assert set(record) == set(LEARNERS)
    assert record["private-boost"]["weights"] is True
    one = fine("learners", "forest").stdout
    assert "n_estimators" in one
    assert ">>>" not in one
    assert "Invalid value" in refused("learners", "oracle")


def test_force_never_replaces_what_is_read(folder: Path) -> None:
    Path("t.toml").write_text("[[settings]]\n")
    fine(*trained("classes", "--seed", "1"))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for name in ("classes.csv", "classes.toml", "t.toml", "../" + folder.name + "/classes.csv"):
        said = refused(*trained("classes", "--tune", "t.toml", "--force", "--out", name))
        assert f"--out: {name} is what this reads" in said
    for name in ("classes.csv", "model.json"):
        said = refused("predict", "classes.csv", "--model", "model.json", "--force", "--out", name)
        assert f"--out: {name} is what this reads" in said
    for option in ("--python", "--onnx"):
        said = refused("export", "model.json", option, "model.json", "--force")
        assert f"{option}: model.json is what this reads" in said
    said = refused("export", "model.json", "--python", "a", "--onnx", "./a")
    assert "--python and --onnx name the same file" in said
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
