"""The command line, run for real on small files."""

import csv
import json
import random
from pathlib import Path
from typing import Never

import click
import numpy as np
import pytest
from click import UsageError
from click.testing import CliRunner, Result

from accountant import Statement
from exchequer.cli import main
from exchequer.commands.train import TrainingRequest, train
from exchequer.trainable import LEARNERS, OPTIONS, TrainableLearner
from learners import LazyBoostClassifier, Numeric, PrivateBoostRegressor, RandomFeatureRegressor, Schema, read_csv
from mechanisms.randomness.sources import SeededNoise
from proofs_tests.support.learners.histograms import HistogramClassifier
from proofs_tests.support.learners.people import SCHEMA

N = 300
Row = tuple[object, str, str]
TRAIN = ("train", "people.csv", "--schema", "people.toml", "--learner", "lazy-boost", "--out", "model.json")


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(main, arguments, env={"EXCHEQUER_DATA": None, "COLUMNS": "80", **(env or {})})


def fine(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    result = run(*arguments, env=env)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str) -> str:
    """The one line that a refused command leaves on standard error."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def words(text: str) -> str:
    return " ".join(text.split())


def records(seed: int = 0) -> list[Row]:
    draw = random.Random(seed)
    return [
        (age, draw.choice(["female", "male"]), "high" if age > 50 else "low")
        for age in (draw.randint(18, 90) for _ in range(N))
    ]


def write(path: Path, rows: list[Row], header: bool = True) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([("age", "sex", "income")] if header else []), *rows])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with people.csv and people.toml."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "people.csv", records())
    (tmp_path / "people.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


# --- train and predict ----------------------------------------------------------------------------------------


def test_train_then_predict(folder: Path) -> None:
    trained = fine(*TRAIN, "--epsilon", "2", "--rounds", "5")
    books = Statement.from_dict(json.loads((folder / "model.json").read_text(encoding="utf-8"))["statement"])
    assert books.private
    assert books.guarantee == "Everything released so far is together 2-differentially private under replace-one."
    assert books.guarantee in words(trained.stdout)
    assert books.head in words(trained.stdout)

    predicted = fine("predict", "people.csv", "--model", "model.json", "--out", "out.csv", "--proba")
    assert predicted.stdout == ""
    assert books.guarantee in predicted.stderr
    model, table, out = LazyBoostClassifier.load("model.json"), read_csv("people.csv"), read_csv("out.csv")
    assert list(out) == ["prediction", "score", "share low", "share high"]
    np.testing.assert_array_equal(out["prediction"], model.predict(table))
    np.testing.assert_allclose(out["score"].astype(float), model.decision_function(table), atol=1e-5)
    np.testing.assert_allclose(out["share high"].astype(float), model.predict_proba(table)[:, 1], atol=1e-5)


def test_an_option_goes_on_by_its_old_name(folder: Path) -> None:
    order = ("train", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--seed", "1", "--out", "model.json")
    old = fine(*order, "--sweeps", "2")
    assert "Warning: --sweeps is called --rounds-per-column now." in old.stderr
    before = (folder / "model.json").read_bytes()
    new = fine(*order, "--force", "--rounds-per-column", "2")
    assert "--sweeps" not in new.output + fine("train", "--help").output

    def plain(model: bytes) -> dict[str, object]:
        return {**json.loads(model), "statement": None}

    assert plain((folder / "model.json").read_bytes()) == plain(before)
    said = refused(*order, "--force", "--sweeps", "2", "--rounds-per-column", "2")
    assert "--rounds-per-column and --sweeps are one option" in said
    assert "--rounds-per-column: not for" in refused(*TRAIN, "--epsilon", "1", "--force", "--rounds-per-column", "2")


def test_predict_without_labels_goes_to_standard_output(folder: Path) -> None:
    fine(*TRAIN, "--epsilon", "1")
    (folder / "new.csv").write_text("sex,age\nmale,20\nfemale,80\n", encoding="utf-8")
    lines = fine("predict", "new.csv", "--model", "model.json").stdout.splitlines()
    assert lines[0] == "prediction,score"
    assert len(lines) == 3


@pytest.mark.parametrize("kind", [RandomFeatureRegressor, PrivateBoostRegressor])
def test_a_regression_predicts_numbers(
    folder: Path, kind: type[RandomFeatureRegressor] | type[PrivateBoostRegressor]
) -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.uniform(0.0, 1.0, 60), "b": rng.uniform(0.0, 1.0, 60)}
    schema = Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)))
    model = kind(1.0, 1e-5, label_bounds=(0.0, 9.0), schema=schema, random_state=0)
    model.fit(table, 9.0 * table["a"]).save(folder / "numbers.json")
    (folder / "new.csv").write_text("b,a,other\n0.5,0.25,x\n0.125,1,y\n", encoding="utf-8")
    lines = fine("predict", "new.csv", "--model", "numbers.json").stdout.splitlines()
    assert lines[0] == "prediction"
    expected = model.predict({"a": [0.25, 1.0], "b": [0.5, 0.125]})
    np.testing.assert_allclose([float(line) for line in lines[1:]], expected, rtol=1e-5)
    assert "only classes have" in refused("predict", "new.csv", "--model", "numbers.json", "--proba")


def test_score_is_the_accuracy_and_says_what_to_score(folder: Path) -> None:
    fine(*TRAIN, "--epsilon", "1", "--seed", "1")
    scored = fine("predict", "people.csv", "--model", "model.json", "--score")
    table = read_csv("people.csv")
    truth = table.pop("income")
    accuracy = np.mean(LazyBoostClassifier.load("model.json").predict(table) == truth)
    assert f"accuracy {accuracy:.4f} on {N} records" in scored.stderr
    names, counts = np.unique(truth, return_counts=True)
    most = f"{names[np.argmax(counts)]} for every record would be right on {counts.max() / N:.4f} of them"
    assert f"for comparison: {most}" in scored.stderr
    assert "should not be the training records" in scored.stderr
    assert "simulation: not private" in scored.stderr


@pytest.mark.parametrize("learner", [name for name, each in LEARNERS.items() if not each.numbers])
def test_every_learner_trains_and_predicts(folder: Path, learner: str) -> None:
    fine(*TRAIN, "--epsilon", "1", "--delta", "1e-6", "--learner", learner)
    assert json.loads(Path("model.json").read_text(encoding="utf-8"))["learner"] == LEARNERS[learner].estimator
    assert "accuracy" in fine("predict", "people.csv", "--model", "model.json", "--score").stderr


def test_an_option_of_another_learner_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="--density: not for --learner mine, which takes --learning-rate"):
        TrainableLearner("Mine", "", {"learning_rate": 1.0}).refuse_others(
            "mine", {"density": 0.5, "learning_rate": 2.0}
        )
    assert "--learner" in refused(*TRAIN, "--epsilon", "1", "--learner", "oracle")


def test_three_classes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No learner of the table takes them yet, so one of the tests' own does."""
    Path("people.toml").write_text(SCHEMA.replace('["low", "high"]', '["low", "mid", "high"]'), encoding="utf-8")
    write(folder / "people.csv", [(age, sex, "mid" if 40 < int(str(age)) < 60 else y) for age, sex, y in records()])
    assert "people.csv: Only binary classification is supported. There are 3 classes" in refused(
        *TRAIN, "--epsilon", "1"
    )
    monkeypatch.setattr("learners.HistogramClassifier", HistogramClassifier, raising=False)
    order = TrainingRequest(
        TrainableLearner("HistogramClassifier", "", {}), epsilon=50.0, delta=0.0, options={}, seed=0
    )
    train(Path("people.csv"), Path("people.toml"), Path("model.json"), order, header=True, force=False)
    scored = fine("predict", "people.csv", "--model", "model.json", "--out", "out.csv", "--score")
    out, table = read_csv("out.csv"), read_csv("people.csv")
    truth = table.pop("income")
    assert list(out) == ["prediction", "score low", "score mid", "score high"]
    best = np.argmax([out[f"score {name}"].astype(float) for name in ("low", "mid", "high")], axis=0)
    np.testing.assert_array_equal(out["prediction"], np.array(["low", "mid", "high"])[best])
    assert f"accuracy {np.mean(out['prediction'] == truth):.4f} on {N} records" in scored.stderr
    assert "--proba: model.json is of a HistogramClassifier" in refused(
        "predict", "people.csv", "--model", "model.json", "--proba"
    )
    write(folder / "people.csv", [(20, "male", "none")])
    assert "'none' is none of ['low', 'mid', 'high']" in refused(
        "predict", "people.csv", "--model", "model.json", "--score"
    )


def test_files_without_a_header(folder: Path) -> None:
    write(folder / "bare.csv", records(), header=False)
    bare = ("train", "bare.csv", "--no-header", "--schema", "people.toml", "--learner", "lazy-boost")
    fine(*bare, "--epsilon", "1", "--seed", "3", "--out", "bare.json")
    fine(*TRAIN, "--epsilon", "1", "--seed", "3")
    one, other = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("bare.json", "model.json"))
    assert one["model"] == other["model"]
    scored = fine("predict", "bare.csv", "--no-header", "--model", "bare.json", "--score")
    assert "accuracy" in scored.stderr


@pytest.mark.parametrize(
    ("extra", "heading"), [((), "privacy statement"), (("--seed", "0"), "simulation: not private")]
)
def test_a_seed_makes_it_a_simulation(folder: Path, extra: tuple[str, ...], heading: str) -> None:
    result = fine(*TRAIN, "--epsilon", "1", "--rounds", "2", *extra)
    assert heading in result.stdout
    assert json.loads(Path("model.json").read_text(encoding="utf-8"))["statement"]["heading"] == heading


def test_what_train_prints_depends_on_the_data_through_releases_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With every release fixed, two files that share no record must print the same, and save the same.
    monkeypatch.setattr(SeededNoise, "exponential_choice", lambda self, scores, eta: 1)
    seen = set()
    for seed in (0, 1):
        write(folder / "people.csv", [(age, sex, "low" if seed else label) for age, sex, label in records(seed)[:-1]])
        with (folder / "people.csv").open("a", encoding="utf-8") as file:
            file.write("99,male,high\n")
        result = fine(*TRAIN, "--epsilon", "1", "--rounds", "4", "--seed", "0", "--force")
        saved = json.loads(Path("model.json").read_text(encoding="utf-8"))
        for changing in ("opened", "head"):  # the time, and digests over it
            del saved["statement"][changing]
        printed = [line for line in result.output.splitlines() if not line.startswith(("opened", "head"))]
        seen.add((tuple(printed), json.dumps(saved)))
    assert len(seen) == 1


# --- refusals -------------------------------------------------------------------------------------------------


def test_overwriting_is_refused_before_any_charge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.json").write_text("precious", encoding="utf-8")

    def never(*arguments: object, **named: object) -> Never:
        raise AssertionError("something was charged")

    with monkeypatch.context() as patched:
        patched.setattr("accountant.ledger.ledger.Ledger.reserve", never)
        assert "--out: model.json exists already" in refused(*TRAIN, "--epsilon", "1")
        assert "--out: there is no folder" in refused(*TRAIN[:-1], "nowhere/model.json", "--epsilon", "1")
    assert Path("model.json").read_text(encoding="utf-8") == "precious"
    fine(*TRAIN, "--epsilon", "1", "--force")
    assert "people.csv exists already" in refused(
        "predict", "people.csv", "--model", "model.json", "--out", "people.csv"
    )


@pytest.mark.parametrize(
    ("row", "culprit"),
    [
        ((200, "male", "low"), "people.csv: column 'age', row 2: "),
        (("nan", "male", "low"), "people.csv: column 'age', row 2: "),
        (("", "male", "low"), "people.csv: column 'age'"),
        ((20, "other", "low"), "people.csv: column 'sex', row 2: 'other'"),
        ((20, "male", "middle"), "people.csv: y holds 3 classes"),
        ((20, "male", ""), "people.csv: y holds 3 classes"),
    ],
)
def test_a_bad_record_is_named(folder: Path, row: Row, culprit: str) -> None:
    write(folder / "people.csv", [*records()[:2], row, *records()[3:]])
    assert culprit in refused(*TRAIN, "--epsilon", "1")
    assert not Path("model.json").exists()


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        ("age,sex\n20,male\n", "people.csv: no column 'income' for the label"),
        ("sex,income\nmale,low\n", "people.csv: the data lacks the columns ['age']"),
        ("age,sex,income\n20,male\n", "people.csv, line 2: 2 fields, expected 3"),
        ("age,sex,income\n", "people.csv: expected at least one record"),
        ("", "people.csv: "),
        ("\udcff\udcfe", "people.csv: "),
    ],
)
def test_a_bad_file_is_named(folder: Path, content: str, culprit: str) -> None:
    (folder / "people.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert culprit in refused(*TRAIN, "--epsilon", "1")


@pytest.mark.parametrize(
    ("old", "new", "culprit"),
    [
        ("[label]", "[label", "people.toml: "),
        ("upper = 100", "upper = -1", "people.toml: column 'age': lower 0.0 must be below upper -1.0"),
        ("upper = 100", 'upper = "x"', "people.toml: "),
        ('kind = "numeric"', 'kind = "number"', "people.toml: column 'age': kind 'number'"),
        ('"female", "male"', '"male", "male"', "people.toml: "),
        ('["low", "high"]', '["low"]', "people.toml: label: expected two classes"),
        (SCHEMA[: SCHEMA.index("[[")], "", "people.toml: the schema names no label"),
        ('name = "age"', 'name = "height"', "people.csv: the data lacks the columns ['height']"),
    ],
)
def test_a_bad_schema_is_named(folder: Path, old: str, new: str, culprit: str) -> None:
    assert old in SCHEMA
    (folder / "people.toml").write_text(SCHEMA.replace(old, new, 1), encoding="utf-8")
    assert culprit in refused(*TRAIN, "--epsilon", "1")


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--epsilon", ["0", "-1", "nan", "inf", "some", "1e-320", "1e307"]),
        ("--delta", ["-0.1", "nan", "1", str(1 / N)]),
        ("--rounds", ["0", "-3", "1.5"]),
        ("--learning-rate", ["0", "nan"]),
        ("--density", ["0", "1.5", "nan"]),
        ("--seed", ["-1"]),
    ],
)
def test_bad_numbers_are_named(folder: Path, option: str, values: list[str]) -> None:
    for value in values:
        message = refused(*TRAIN, *(() if option == "--epsilon" else ("--epsilon", "1")), option, value)
        assert option.strip("-").replace("-", "_") in message.replace("-", "_")


@pytest.mark.parametrize("content", ["[]", "{}", "no JSON", SCHEMA])
def test_a_bad_model_is_named(folder: Path, content: str) -> None:
    Path("model.json").write_text(content, encoding="utf-8")
    assert "model.json: " in refused("predict", "people.csv", "--model", "model.json")


def test_score_needs_known_labels(folder: Path) -> None:
    fine(*TRAIN, "--epsilon", "1")
    (folder / "new.csv").write_text("age,sex,income\n20,male,middle\n", encoding="utf-8")
    assert "'middle' is neither 'low' nor 'high'" in refused("predict", "new.csv", "--model", "model.json", "--score")


# --- the commands themselves ------------------------------------------------------------------------------------


def test_every_option_is_explained() -> None:
    assert "exchequer demo" in fine().output
    assert fine("--version").output.startswith("exchequer, version ")
    for name, command in main.commands.items():
        text = fine(name, "--help").output
        assert f"exchequer {name}" in text.split("Options:")[0].split("\n", 1)[1], "an example"
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{name}: {option.name}"


def test_defaults_are_the_estimators() -> None:
    for learner in LEARNERS.values():
        parameters = learner.build().get_params()
        given = {name: parameters[OPTIONS[name].parameter or name] for name in learner.defaults}
        assert given == learner.defaults
        assert learner.steps in (*learner.defaults, "")
    options = {option.name: option for option in main.commands["train"].params}
    assert set(OPTIONS) == {name for learner in LEARNERS.values() for name in learner.defaults}
    for name in OPTIONS:
        assert options[name].default in (options["seed"].default, ()), "none: the learner's own counts"
        told = str(getattr(options[name], "help", ""))
        for key, learner in LEARNERS.items():
            default = learner.defaults.get(name)
            unset = "none" if OPTIONS[name].multiple or default == () else "by epsilon"
            said = unset if default is None or default == () else default
            assert (f"{key}: {said}" in told) == (name in learner.defaults)
